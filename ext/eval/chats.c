/* chats.c - a conversation as a user would have had it: run as chats, or imported. */
#include "ext/eval/chats.h"
#include "ext/eval/measure.h"
#include "ext/import/import.h"

#include <assert.h>

#include "base/clock.h"
#include "base/id.h"
#include "ext/import/ingest.h"

enum { SECOND_MS = 1000, MESSAGES_MAX = 100000 };

/* One session: what the client holds so far, and which message of the file each line is. */
struct chat {
    struct ctx *ctx;
    struct engine *e;
    struct pool_ref pool;
    const struct exam_session *s;
    str *ids;
    struct said *said;
    size_t *of;
    size_t n;
};

static bool has_names(const struct exam *c)
{
    return c->speakers[0].n || c->speakers[1].n;
}

static bool is_users(const struct message *m)
{
    return str_is(m->role, "user");
}

/* An empty message is none: clients do not send it. */
static void hold_line(struct chat *t, size_t at, str text)
{
    if (!str_trim(text).n)
        return;
    t->of[t->n] = at;
    t->said[t->n++] = (struct said){.role = t->s->messages[at].role, .text = text};
}

/* What the assistant says from message at on, up to the user's next one: one answer, since an
 * assistant answers once. */
static str answer_at(struct chat *t, size_t at, size_t *end)
{
    str text = S("");
    for (*end = at; *end < t->s->n && !is_users(&t->s->messages[*end]); ++*end) {
        str more = t->s->messages[*end].text;
        text = text.n ? str_printf(&t->ctx->arena, S_FMT "\n\n" S_FMT, S_ARG(text), S_ARG(more))
                      : more;
    }
    return text;
}

/* The user has spoken; the model's answer is the text, "" when the chat ended there. */
static enum status take_turn(struct chat *t, str answer, size_t answer_at, size_t answer_end)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(t->ctx, 0);
    char no[32];
    snprintf(no, sizeof no, "%zu", answer_at);
    const str parts[] = {t->s->id, S("answer"), str_of(no)};
    const struct turn_in in = {.pool = t->pool,
                               .said = t->said,
                               .n_said = t->n,
                               .model = S("scripted"),
                               .answer_id = id_of(&t->ctx->arena, parts, 3)};
    clock_pretend(
        t->s->messages[0].created ? t->s->messages[0].created + (int64_t)answer_at * SECOND_MS : 0);
    struct turn *turn = engine_begin_turn(&own, t->e, &in);
    const struct turn_out *out = turn_out_of(turn);
    assert(out->ids.n <= t->n);
    size_t before = t->n - out->ids.n; /* of a very long chat only the last messages count */
    for (size_t i = before; i < t->n; i++)
        t->ids[t->of[i]] = str_dup(&t->ctx->arena, out->ids.v[i - before]);
    for (size_t i = answer_at; i < answer_end; i++)
        t->ids[i] = in.answer_id;
    if (engine_end_turn(&own, t->e, turn, answer) != OK)
        return fail(t->ctx, own.failed, "%s", own.why);
    return store_settle(t->ctx, t->e->store);
}

static enum status lead_session(struct chat *t)
{
    for (size_t i = 0; i < t->s->n;) {
        size_t end = i;
        if (is_users(&t->s->messages[i])) {
            hold_line(t, i, t->s->messages[i].text);
            i++;
            if (i < t->s->n && is_users(&t->s->messages[i]))
                continue;
        }
        str answer = answer_at(t, i, &end);
        if (t->n)
            TRY(take_turn(t, answer, i, end));
        if (end > i)
            hold_line(t, i, answer);
        i = end;
    }
    return OK;
}

/* An import keeps the refs, so the ids are looked up by them. */
static enum status find_ids(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct exam_session *s, str *ids)
{
    struct message *v;
    size_t n;
    TRY(store_session_messages(ctx, e->store, pool, s->id, 0, MESSAGES_MAX, &v, &n));
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < n; k++)
            if (s->messages[i].ref.n && str_eq(v[k].ref, s->messages[i].ref))
                ids[i] = v[k].id;
    return OK;
}

enum status chats_lead(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                       const struct exam *c, struct led *out)
{
    struct arena *a = &ctx->arena;
    struct ingest_report report = {0};
    *out = (struct led){.ids = NEW_N(a, str *, c->n_sessions + 1), .is_imported = has_names(c)};
    clock_pretend(c->until);
    if (out->is_imported) {
        TRY(ingest_conversation(ctx, e, pool, c, true, &report));
        TRY(store_flush(ctx, e->store));
    }
    for (size_t i = 0; i < c->n_sessions; i++) {
        const struct exam_session *s = &c->sessions[i];
        struct chat t = {.ctx = ctx, .e = e, .pool = pool, .s = s};
        t.ids = out->ids[i] = NEW_N(a, str, s->n + 1);
        t.said = NEW_N(a, struct said, s->n + 1);
        t.of = NEW_N(a, size_t, s->n + 1);
        TRY(out->is_imported ? find_ids(ctx, e, pool, s, t.ids) : lead_session(&t));
    }
    return store_flush(ctx, e->store);
}
