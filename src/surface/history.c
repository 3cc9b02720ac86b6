/* history.c - a session's earlier messages, as a request to a model holds them. */
#include "surface/history.h"

enum { HISTORY_MAX = 256 << 20 };

static bool is_system(str role)
{
    return str_is(role, "system") || str_is(role, "developer");
}

bool history_is_wanted(const struct said *said, size_t n)
{
    size_t users = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_system(said[i].role) && !str_is(said[i].role, "user"))
            return false;
        users += str_is(said[i].role, "user");
    }
    return users > 0;
}

enum status history_of(struct ctx *ctx, struct app *app, struct turn *t, int64_t system_tokens,
                       str asked, struct window *out)
{
    const struct window_in in = {.pool = t->pool,
                                 .session = t->session,
                                 .model = t->model,
                                 .system_tokens = system_tokens,
                                 .asked = asked};
    TRY(engine_window(ctx, app->engine, &in, out));
    t->window = out->v;
    t->n_window = out->n;
    return OK;
}

void history_message(struct json_out *w, str role, str text)
{
    json_open(w, '{');
    json_key(w, "role");
    json_str(w, role);
    json_key(w, "content");
    json_str(w, text);
    json_close(w, '}');
}

void history_write(struct json_out *w, const struct window *window)
{
    for (size_t i = 0; i < window->n; i++)
        history_message(w, window->v[i].role, window->v[i].text);
}

void history_splice(struct arena *a, struct splice *body, const struct json *messages,
                    const struct window *window)
{
    struct buf b = buf_make(a, HISTORY_MAX);
    struct json_out w = json_to(&b);
    const struct json *at = messages->first;
    while (at->next && is_system(json_string(json_get(at, "role"))))
        at = at->next;
    history_write(&w, window);
    buf_byte(&b, ',');
    if (window->n)
        splice_at(body, at->source.p, 0, buf_str(&b));
}
