/* target.c - the server under test: its adapter, and calls by it. */
#include "ext/verify/verify.h"

#include "base/files.h"
#include "base/id.h"
#include "http/http.h"

/*
 * An adapter is JSON: headers of every call, and for each verb a call with method, path and body.
 * In them {text}, {id}, {token}, {space} and {other}, the space of the other person, and {fresh}, a
 * new name, stand for values; {export} as the whole body is what was exported. id and text are
 * paths in the answer: where the id is, and what counts of it. A body is JSON, so values are
 * escaped as in its strings.
 */
enum { ADAPTER_MAX = 1 << 16, BODY_MAX = 16 << 20, ANSWER_MAX = 64 << 20, TIMEOUT_MS = 30000 };

const char *const verb_names[VERB_COUNT] = {"add",     "tell",   "find",   "replay",
                                            "correct", "forget", "search", "prompt",
                                            "export",  "import", "widen"};

static enum status read_file(struct ctx *ctx, str file, str *out)
{
    enum status s = file_read(ctx, str_c(&ctx->arena, file), ADAPTER_MAX, out);
    if (soft_if(ctx, s, TOO_LARGE))
        return fail(ctx, s, "the adapter '" S_FMT "' has more than %d bytes", S_ARG(file),
                    ADAPTER_MAX);
    return soft(ctx, s) ? OK
                        : fail(ctx, NOT_FOUND, "cannot open the adapter '" S_FMT "'", S_ARG(file));
}

/* Each call has a method and a path; of widen there are several. */
enum status adapter_read(struct ctx *ctx, str file, const struct json **out)
{
    str text = {(char *)own_adapter, (size_t)(own_adapter_end - own_adapter)};
    struct json *root;
    if (file.n)
        TRY(read_file(ctx, file, &text));
    TRY(json_parse(ctx, text, &root));
    for (int i = 0; i < VERB_COUNT; i++) {
        const struct json *call = json_get(json_get(root, "calls"), verb_names[i]);
        bool is_list = call && call->type == JSON_ARRAY;
        for (const struct json *one = is_list ? call->first : call; one;
             one = is_list ? one->next : NULL)
            if (!json_string(json_get(one, "method")).n || !json_string(json_get(one, "path")).n)
                return fail(ctx, BAD_INPUT, "the adapter: calls.%s needs a method and a path",
                            verb_names[i]);
    }
    if (!json_get(json_get(root, "calls"), "add") || !json_get(json_get(root, "calls"), "search"))
        return fail(ctx, BAD_INPUT, "the adapter: calls needs add and search at least");
    *out = root;
    return OK;
}

bool target_has(const struct target *t, enum verb verb)
{
    return json_get(json_get(t->adapter, "calls"), verb_names[verb]) != NULL;
}

/* --- what stands for values --- */

/* In a list that ends with a row without a name. */
struct value {
    const char *name;
    str value;
};

static void add_percent(struct buf *b, str s)
{
    for (size_t i = 0; i < s.n; i++)
        buf_printf(b, "%%%02X", (unsigned char)s.p[i]);
}

/* escape writes a value as the place needs it. */
static str filled(struct arena *a, str form, const struct value *all,
                  void (*escape)(struct buf *b, str s))
{
    struct buf b = buf_make(a, BODY_MAX);
    while (form.n) {
        const struct value *v = all;
        while (v->name && !str_starts(form, str_of(v->name)))
            v++;
        if (v->name)
            escape(&b, v->value);
        else
            buf_byte(&b, *form.p);
        form = str_sub(form, v->name ? strlen(v->name) : 1, form.n);
    }
    return buf_str(&b);
}

/* "%0" and "%1" are marks, "%#" counts. */
static str step_text(struct arena *a, const struct target *t, const struct step *step, int count)
{
    const struct value v[] = {{"%0", t->marks[0]},
                              {"%1", t->marks[1]},
                              {"%#", str_printf(a, "%d", count)},
                              {NULL}};
    return filled(a, str_of(step->text), v, buf_add);
}

/* --- calls --- */

static size_t headers_of(struct arena *a, const struct target *t, const struct value *v,
                         bool has_token, struct header *out, size_t max)
{
    size_t n = 0;
    out[n++] = (struct header){S("Content-Type"), S("application/json")};
    const struct json *all = json_get(t->adapter, "headers");
    for (const struct json *one = all ? all->first : NULL; one && n < max; one = one->next) {
        str form = json_string(one);
        if (!has_token && str_find(form, S("{token}")) < form.n)
            continue;
        out[n++] = (struct header){json_name(one), filled(a, form, v, buf_add)};
    }
    return n;
}

static str body_of(struct arena *a, const struct target *t, const struct json *call,
                   const struct value *v)
{
    const struct json *body = json_get(call, "body");
    if (!body)
        return S("");
    return str_is(json_string(body), "{export}") ? t->exported
                                                 : filled(a, body->source, v, json_escape);
}

static enum status call_once(struct ctx *ctx, struct target *t, const struct json *call, int who,
                             str text, struct answer *out)
{
    enum { HEADERS_MAX = 16 };
    struct header headers[HEADERS_MAX];
    const struct value v[] = {{"{text}", text},
                              {"{id}", t->id},
                              {"{token}", t->tokens[who]},
                              {"{space}", t->spaces[who]},
                              {"{other}", t->spaces[1 - who]},
                              {"{fresh}", id_random(&ctx->arena)},
                              {NULL}};
    size_t n = headers_of(&ctx->arena, t, v, t->tokens[who].n > 0, headers, HEADERS_MAX);
    str path = filled(&ctx->arena, json_string(json_get(call, "path")), v, add_percent);
    const struct call one = {.url =
                                 str_printf(&ctx->arena, S_FMT S_FMT, S_ARG(t->url), S_ARG(path)),
                             .method = json_string(json_get(call, "method")),
                             .headers = headers,
                             .n_headers = n,
                             .body = body_of(&ctx->arena, t, call, v),
                             .timeout_ms = TIMEOUT_MS,
                             .answer_max = ANSWER_MAX};
    return http_call(ctx, &one, out);
}

/* The part of the answer that the adapter names, or all of it; its id, too. */
static enum status take_answer(struct ctx *ctx, struct target *t, const struct json *call, str body,
                               str *text)
{
    struct json *root;
    str at = json_string(json_get(call, "text")), id = json_string(json_get(call, "id"));
    *text = body;
    if (!at.n && !id.n)
        return OK;
    TRY(json_parse(ctx, body, &root));
    if (at.n)
        *text = json_string(json_at(root, str_c(&ctx->arena, at)));
    if (id.n)
        t->id = json_string(json_at(root, str_c(&ctx->arena, id)));
    return OK;
}

/* A refusal is what widening should meet; elsewhere it is a failure. */
static enum status call_all(struct ctx *ctx, struct target *t, const struct json *call,
                            const struct step *step, str said, str *text)
{
    struct answer answer;
    bool is_list = call->type == JSON_ARRAY;
    struct buf all = buf_make(&ctx->arena, ANSWER_MAX);
    for (const struct json *one = is_list ? call->first : call; one;
         one = is_list ? one->next : NULL) {
        TRY(call_once(ctx, t, one, step->who, said, &answer));
        if (answer.code / 100 != 2 && step->verb != V_WIDEN)
            return fail(ctx, UPSTREAM, "%s: the server answered %d: " S_FMT, verb_names[step->verb],
                        answer.code,
                        S_ARG(http_complaint(&ctx->arena, answer.body, 200, t->tokens[step->who],
                                             &said, 1)));
        buf_add(&all, answer.body);
        if (!is_list)
            return take_answer(ctx, t, one, answer.body, text);
    }
    *text = buf_str(&all);
    return OK;
}

enum status target_call(struct ctx *ctx, struct target *t, const struct step *step, str *text)
{
    const struct json *call = json_get(json_get(t->adapter, "calls"), verb_names[step->verb]);
    for (int i = 0; i < (step->times ? step->times : 1); i++)
        TRY(call_all(ctx, t, call, step, step_text(&ctx->arena, t, step, i), text));
    if (step->verb == V_EXPORT)
        t->exported = *text;
    return OK;
}
