/* embedder.c - a fake server of embeddings and model files, with every way in which it can fail. */
#include "lib/embedder.h"

#include "base/files.h"
#include "lib/clock.h"

/* A text's vector follows from its bytes; its length is not 1. */
static void write_vector(struct json_out *w, str text, int dimensions, enum mode mode)
{
    json_open(w, '[');
    for (int i = 0; i < dimensions; i++) {
        uint64_t h = str_hash(text) >> (i % 32) & 255;
        if (mode == GIVES_WORDS)
            json_str(w, S("much"));
        else
            json_num(w, mode == GIVES_ZEROS ? 0 : (double)h + 1);
    }
    json_close(w, ']');
}

static void write_item(struct json_out *w, const struct app *app, str text, size_t index)
{
    json_open(w, '{');
    json_key(w, "object");
    json_str(w, S("embedding"));
    json_key(w, "index");
    json_int(w, app->mode == GIVES_TWICE ? 0 : (int64_t)index);
    json_key(w, "embedding");
    write_vector(w, text, app->dimensions, app->mode);
    json_close(w, '}');
}

static void write_answer(struct app *app, const struct request *in, struct reply *out)
{
    const struct json *input = json_get(in->json, "input");
    str texts[128];
    size_t n = 0;
    if (input->type == JSON_STRING)
        texts[n++] = json_string(input);
    for (const struct json *t = input->type == JSON_ARRAY ? input->first : NULL; t; t = t->next)
        texts[n++] = json_string(t);
    atomic_fetch_add(&app->texts, (int)n);
    size_t given = app->mode == GIVES_TOO_FEW ? n - 1 : n;
    struct json_out w = json_to(&out->body);
    json_open(&w, '{');
    json_key(&w, "data");
    json_open(&w, '[');
    for (size_t i = 0; i < given; i++) {
        size_t which = app->mode == TURNS_AROUND ? given - 1 - i : i;
        write_item(&w, app, texts[which], which);
    }
    json_close(&w, ']');
    json_close(&w, '}');
}

static enum status answer_embeddings(__attribute__((unused)) struct ctx *ctx, struct app *app,
                                     const struct request *in, struct reply *out)
{
    static const int codes[] = {
        [REFUSES_KEY] = 401, [LIMITS] = 429, [BREAKS] = 500, [CHOKES] = 400};
    atomic_fetch_add(&app->calls, 1);
    if (app->mode == STALLS)
        (void)COMES_TRUE(app->let_go || app->mode != STALLS);
    bool chokes = app->mode == CHOKES && str_find(in->body, S("poison")) < in->body.n;
    bool is_strict = str_is(request_header(in, "Authorization"), "Bearer secret") &&
                     str_is(json_string(json_get(in->json, "model")), "tiny/model");
    if (!is_strict || app->mode == REFUSES_KEY || app->mode == LIMITS || app->mode == BREAKS ||
        chokes) {
        out->code = is_strict ? codes[app->mode] : 400;
        buf_add(&out->body, S("{\"error\":{\"message\":\"not today\"}}"));
    } else if (app->mode == SPEAKS_NO_JSON) {
        buf_add(&out->body, S("<html>"));
    } else {
        write_answer(app, in, out);
    }
    return OK;
}

/* A model hub answers a file's name with a redirect to its bytes. */
static enum status redirect_file(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    (void)app;
    out->code = 302;
    reply_header(out, "Location",
                 str_printf(&ctx->arena, "/blob/" S_FMT "?at=" S_FMT, S_ARG(in->params[3]),
                            S_ARG(in->params[2])));
    buf_add(&out->body, S("moved"));
    return OK;
}

static enum status send_file(struct ctx *ctx, struct app *app, const struct request *in,
                             struct reply *out)
{
    str bytes;
    const char *path =
        str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(app->folder), S_ARG(in->params[0])).p;
    out->type = S("application/octet-stream");
    if (file_read(ctx, path, 256 << 20, &bytes) != OK) {
        ctx_clear_failure(ctx);
        out->code = 404;
        return OK;
    }
    buf_add(&out->body, bytes);
    if (app->damages && bytes.n)
        out->body.p[bytes.n / 2] ^= 1;
    return OK;
}

static const struct route routes[] = {
    {.method = "POST", .path = "/v1/embeddings", .run = answer_embeddings, .wants_json = true},
    {.method = "GET", .path = "/{owner}/{name}/resolve/{revision}/{file}", .run = redirect_file},
    {.method = "GET", .path = "/blob/{file}", .run = send_file},
    {0},
};

struct server *embedder_open(struct ctx *ctx, struct app *app)
{
    return fake_server_open(ctx, routes, app);
}

struct settings embedder_settings(struct ctx *ctx, const struct server *s)
{
    struct settings out = {0};
    settings_defaults(&out);
    if (s) {
        out.upstreams[0] = fake_server_upstream(ctx, s);
        out.n_upstreams = 1;
    }
    return out;
}
