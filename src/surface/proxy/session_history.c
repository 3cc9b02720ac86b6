/* session_history.c - a session's earlier messages, as a request to a model holds them. */
#include "surface/proxy/session_history.h"

#include "surface/common/said.h"

/*
 * With X-Session-History a client sends only what is new, and the server adds the earlier messages
 * of the session, as many as the model's window has room for (engine_window). Cortex's chat uses
 * the same functions, since there every request is of this kind.
 */

/* Far above any model's window; the window itself decides how much there is. */
enum { HISTORY_MAX = 256 << 20 };

/* The window becomes part of the turn, so that recall leaves out what the model reads anyway. */
enum status history_of(struct ctx *ctx, struct app *app, struct turn_in *t, int64_t system_tokens,
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
    json_member_str(w, "role", role);
    json_member_str(w, "content", text);
    json_close(w, '}');
}

/* The texts of the messages from `from` to `to`, with a blank line between two. */
static str joined_texts(struct arena *a, const struct message *v, size_t from, size_t to)
{
    struct buf b = buf_make(a, HISTORY_MAX);
    for (size_t i = from; i < to; i++) {
        buf_add(&b, i > from ? S("\n\n") : S(""));
        buf_add(&b, v[i].text);
    }
    return buf_str(&b);
}

/* Where the messages of the user begin that nobody has answered: after a failed answer. */
static size_t answered_of(const struct window *w)
{
    size_t n = w->n;
    while (n && str_is(w->v[n - 1].role, "user"))
        n--;
    return n;
}

str history_unanswered(struct arena *a, const struct window *window)
{
    return joined_texts(a, window->v, answered_of(window), window->n);
}

void history_write(struct arena *a, struct json_out *w, const struct window *window)
{
    size_t n = answered_of(window);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && str_eq(window->v[to].role, window->v[from].role);)
            to++;
        history_message(w, window->v[from].role, joined_texts(a, window->v, from, to));
    }
}

void history_put_earlier(struct arena *a, struct window *window, const struct turn_out *turn,
                         bool is_front)
{
    struct message *v = DUP_N(a, window->v, window->n, window->n + 1);
    for (size_t i = 0; i < turn->n_earlier; i++) {
        const struct earlier_block *b = &turn->earlier[i];
        if (!b->in_window)
            continue;
        assert(b->at < window->n);
        str text = v[b->at].text;
        v[b->at].text = str_printf(a, S_FMT "\n\n" S_FMT, S_ARG(is_front ? b->block : text),
                                   S_ARG(is_front ? text : b->block));
    }
    window->v = v;
}

/* Before the first message that is not a system message, or the last message when all are. The
 * client's own bytes are not touched but for the prefix of unanswered messages. */
void history_splice(struct splice *body, const struct json *messages, const struct window *window)
{
    struct arena *a = body->arena;
    struct json_out w = json_in(a, HISTORY_MAX);
    const struct json *at = messages->first;
    while (at->next && role_is_system(json_string(json_get(at, "role"))))
        at = at->next;
    str unanswered = history_unanswered(a, window);
    bool is_joined =
        unanswered.n && json_says(at, "role", "user") && splice_beside(body, at, true, unanswered);
    history_write(a, &w, window);
    if (unanswered.n && !is_joined)
        history_message(&w, S("user"), unanswered);
    if (!w.b->n)
        return;
    buf_byte(w.b, ',');
    splice_at(body, at->source.p, 0, buf_str(w.b));
}
