/* importer.c - messages from elsewhere on their way into a pool: masked, dated, in bundles. */
#include "ext/import/importer.h"

#include "base/clock.h"
#include "base/id.h"
#include "engine/chat.h"
#include "engine/extract/secrets.h"
#include "engine/text/forget_request.h"

enum { BUNDLE_MAX = 2000 }; /* messages; a longer session is written in parts */

/*
 * Messages are written in bundles that nobody waits for, and a full queue makes the import wait for
 * the disk: so it runs as fast as the store writes. A message and what it taught are one
 * transaction, so an import that was cut can be run again.
 */
enum status importer_begin(struct importer *im, struct ctx *ctx, struct engine *e,
                           const struct import_in *in, struct import_report *report)
{
    *im = (struct importer){.ctx = ctx,
                            .work = ctx_child(ctx, 0),
                            .e = e,
                            .in = in,
                            .b = {.pool = in->pool, .rule = PUT_SUPERSEDE},
                            .now = clock_ms(),
                            .report = report};
    return tombstones_load(ctx, e, in->pool, &im->bars);
}

void importer_end(struct importer *im)
{
    seen_free(&im->seen.ids);
    seen_free(&im->seen.turns);
    ctx_free(&im->work);
}

enum status importer_pass(struct ctx *to, struct ctx *from, enum status s)
{
    if (s == OK)
        return OK;
    (void)fail_as(to, s, from->detail, "%s%s%s", from->field, from->field[0] ? " " : "", from->why);
    ctx_clear_failure(from);
    return s;
}

/*
 * The same turn gives the same id, so that an import may be repeated. A turn without an id of its
 * own is distinguished from equal turns of its session by how many came before in its file.
 */
static str id_for(struct importer *im, const struct message *m, int64_t created)
{
    struct arena *a = &im->work.arena;
    struct pool_ref pool = im->in->pool;
    if (m->ref.n)
        return ID_OF(a, pool.user, pool.space, m->session, m->ref);
    int64_t same = seen_before(&im->seen.turns, hash64(STR_LIST(m->session, m->role, m->text)));
    str said = str_printf(a, "%lld %lld", (long long)created, (long long)same);
    return ID_OF(a, pool.user, pool.space, m->session, m->role, m->speaker, m->text, said);
}

/* Whether it was erased here, and stays so. */
static enum status stays_erased(struct importer *im, const struct erased_ask *ask, bool *out)
{
    return import_erased(&im->work, im->e, im->in->pool, im->in, ask, 1, out, &im->report->erased);
}

/* Facts of an import are as old as their messages, so that they do not replace newer ones. */
static enum status extract_from(struct importer *im, const struct message *m)
{
    size_t n;
    str text = tombstones_left(&im->bars, &im->work.arena, m);
    struct memory *found = engine_extract(&im->work, im->e, EXTRACT_USER, m, text, &n);
    for (size_t i = 0; i < n; i++) {
        found[i].session = m->session;
        found[i].source = m->id;
        found[i].origin = ORIGIN_IMPORT;
        found[i].created = found[i].updated = found[i].last_used = m->created;
        found[i].valid_from = m->created;
        const struct erased_ask ask = {.memory = &found[i], .created = m->created};
        bool is_erased;
        TRY(stays_erased(im, &ask, &is_erased));
        if (!is_erased)
            memories_add(&im->work.arena, &im->b.memories, &im->b.n_memories, found[i]);
    }
    return OK;
}

static enum status queue_bundle(struct importer *im)
{
    struct bundle b = im->b;
    struct ctx *work = &im->work;
    if (!b.session.title.n) /* for a session that has none yet: the store keeps the first */
        b.session.title = engine_title_of(b.messages, b.n_messages);
    b.session.created = b.session.created ? b.session.created : b.messages[0].created;
    forget_requests_leave(S(""), b.messages, b.n_messages);
    struct quota more = im->more;
    more.memories = (int64_t)b.n_memories;
    more.bytes += quota_bytes(NULL, 0, b.memories, b.n_memories);
    if (im->once)
        TRY(engine_check_quota(work, im->e, b.pool, more));
    enum status s = store_write_later(work, im->e->store, &b);
    if (soft_if(work, s, TOO_BUSY)) {
        TRY(store_flush(work, im->e->store));
        s = store_write_later(work, im->e->store, &b);
    }
    return s;
}

enum status importer_write(struct importer *im)
{
    if (!im->b.n_messages)
        return OK;
    assert(im->b.n_messages <= BUNDLE_MAX && im->b.session.id.n);
    bool is_written = !im->in->dry_run && (!im->once || im->more.messages);
    enum status s = is_written ? importer_pass(im->ctx, &im->work, queue_bundle(im)) : OK;
    if (s == OK) {
        im->report->messages += (int64_t)im->b.n_messages;
        im->report->facts += (int64_t)im->b.n_memories;
        im->report->new_messages += im->more.messages;
        im->report->new_sessions += im->seen.is_new && im->more.messages;
        im->seen.is_new &= !im->more.messages;
    }
    im->b = (struct bundle){.pool = im->b.pool, .session = im->b.session, .rule = im->b.rule};
    im->more = (struct quota){0};
    im->secrets = (struct strs){0};
    arena_reset(&im->work.arena);
    TRY(s);
    return ctx_has_time(im->ctx) ? OK : fail(im->ctx, TIMED_OUT, "the import took too long");
}

/* A message that is kept already has the time that it is kept with; one without a time that says
 * what was forgotten was said before that. */
static enum status date_known(struct importer *im, struct message *m, int64_t created, bool *is_new)
{
    struct message kept;
    *is_new = true;
    if (!im->once && (created || !im->bars.n))
        return OK;
    enum status s = store_message(&im->work, im->e->store, im->in->pool, m->id, &kept);
    /* A dry run finds nothing of itself in the store. */
    *is_new =
        s == NOT_FOUND && (!im->in->dry_run || !seen_before(&im->seen.ids, hash64(&m->id, 1)));
    if (s == OK && !created)
        m->created = kept.created;
    TRY(importer_pass(im->ctx, &im->work, soft_or(&im->work, s, NOT_FOUND)));
    if (!created && im->bars.n)
        tombstones_date_back(&im->bars, &im->work.arena, m);
    return OK;
}

/* A session that comes again, as files may hold one twice: what was queued of it must be found by
 * the next look-up. */
enum status importer_session(struct importer *im, const struct session *session)
{
    struct session there;
    assert(session->id.n);
    TRY(importer_write(im));
    im->report->sessions += !str_eq(im->b.session.id, session->id);
    im->b.session = *session;
    if (!im->once)
        return OK;
    bool is_first = !seen_before(&im->seen.ids, hash64(&im->b.session.id, 1));
    if (!is_first && !im->in->dry_run)
        TRY(importer_pass(im->ctx, &im->work, store_settle(&im->work, im->e->store)));
    enum status s = store_session(&im->work, im->e->store, im->in->pool, im->b.session.id, &there);
    im->seen.is_new = s == NOT_FOUND && is_first;
    return importer_pass(im->ctx, &im->work, soft_or(&im->work, s, NOT_FOUND));
}

enum status importer_message(struct importer *im, const struct message *said)
{
    bool is_new, is_erased;
    assert(im->b.n_messages < BUNDLE_MAX && im->in->pool.user.n && im->b.session.id.n);
    if (!str_trim(said->text).n) {
        im->report->skipped++;
        return OK;
    }
    if (!im->b.messages)
        im->b.messages = NEW_N(&im->work.arena, struct message, BUNDLE_MAX);
    struct message *m = &im->b.messages[im->b.n_messages];
    *m = *said;
    m->session = im->b.session.id;
    if (!im->e->settings->keep_secrets) {
        /* As in a chat: a secret is one wherever it appears again in its conversation. */
        secrets_add(&im->work.arena, m->text, &im->secrets);
        m->text = secrets_masked(&im->work.arena, m->text, &im->secrets);
    }
    m->id = id_for(im, m, said->created);
    m->created = said->created ? said->created : im->now;
    const struct erased_ask ask = {.message = m, .created = said->created};
    TRY(importer_pass(im->ctx, &im->work, stays_erased(im, &ask, &is_erased)));
    if (is_erased)
        return OK;
    TRY(date_known(im, m, said->created, &is_new));
    im->b.n_messages++;
    im->more.messages += is_new;
    im->more.bytes += is_new ? quota_bytes(m, 1, NULL, 0) : 0;
    if (im->in->extract && is_new && str_is(m->role, "user"))
        TRY(importer_pass(im->ctx, &im->work, extract_from(im, m)));
    return im->b.n_messages == BUNDLE_MAX ? importer_write(im) : OK;
}

/* --- rows that may come in --- */

enum status import_erased(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                          const struct import_in *in, const struct erased_ask *v, size_t n,
                          bool *out, int64_t *erased)
{
    bool again = in->again && !in->dry_run;
    struct erased_ask *back = NEW_N(&ctx->arena, struct erased_ask, n + 1);
    size_t n_back = 0;
    TRY(store_was_erased(ctx, e->store, pool, v, n, out));
    for (size_t i = 0; i < n; i++)
        if (out[i])
            back[n_back++] = v[i];
    *erased += again ? 0 : (int64_t)n_back;
    for (size_t i = 0; i < n && again; i++)
        out[i] = false;
    return again ? store_bring_again(ctx, e->store, pool, back, n_back) : OK;
}

enum status import_memories(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            struct memory *v, size_t n, struct bundle *out)
{
    struct quota more = {0};
    *out = (struct bundle){.pool = pool, .memories = v, .n_memories = n, .rule = PUT_IMPORT};
    for (size_t i = 0; i < n; i++) {
        struct memory there = {0};
        enum status s = store_memory(ctx, e->store, pool, v[i].id, &there);
        TRY(soft_or(ctx, s, NOT_FOUND));
        more.memories += s == NOT_FOUND && !v[i].valid_to;
        more.bytes += quota_bytes(NULL, 0, &v[i], 1) - quota_bytes(NULL, 0, &there, 1);
    }
    TRY(engine_check_quota(ctx, e, pool, more));
    return store_write(ctx, e->store, out);
}
