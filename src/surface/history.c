/* history.c - a session's earlier messages, as a request to a model holds them. */
#include "surface/history.h"

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
