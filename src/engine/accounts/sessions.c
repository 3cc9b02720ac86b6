/* sessions.c - sessions without a chat: made, changed, listed, read whole. */
#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "engine/accounts/credentials.h"
#include "engine/extract/secrets.h"
#include "engine/state/state.h"

/*
 * Changes of metadata are merged by JSON merge patch: a member of the patch replaces or, as null,
 * removes; all others stay. The store compares the old text when it writes, so two clients that
 * change different members at once both succeed.
 */

enum { TITLE_MAX_CHARACTERS = 200, PIECE = 1000, TRIES = 20 };

static enum status check_title(struct ctx *ctx, str title)
{
    if (utf8_length(title) <= TITLE_MAX_CHARACTERS)
        return OK;
    return fail_field(ctx, "title", "must have at most %d characters", TITLE_MAX_CHARACTERS);
}

enum status object_read(struct ctx *ctx, const char *field, str text, struct json **out)
{
    *out = NULL;
    if (!text.n)
        return OK;
    if (text.n > METADATA_MAX)
        return fail_field(ctx, field, "must have at most %d bytes", METADATA_MAX);
    TRY(json_parse(ctx, text, out));
    return (*out)->type == JSON_OBJECT ? OK : fail_field(ctx, field, "must be an object");
}

enum status engine_make_session(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                struct session *s)
{
    struct session made = *s;
    struct json *metadata;
    TRY(check_title(ctx, made.title));
    TRY(object_read(ctx, "metadata", made.metadata, &metadata));
    made.title = secrets_kept(e, &ctx->arena, made.title);
    made.metadata = secrets_kept_json(e, &ctx->arena, made.metadata);
    if (!made.id.n)
        made.id = id_random(&ctx->arena);
    assert(pool.user.n && pool.space.n);
    TRY(engine_check_quota(ctx, e, pool,
                           (struct quota){.bytes = (int64_t)(made.title.n + made.metadata.n)}));
    made.space = pool.space;
    made.created = made.updated = clock_ms();
    TRY(store_put_session(ctx, e->store, pool, &made));
    *s = made;
    return OK;
}

enum status engine_session(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                           struct session *out)
{
    engine_catch_up(ctx, e, pool);
    return store_session(ctx, e->store, pool, id, out);
}

/* --- metadata, merged by RFC 7396 --- */

/* An object's members by name, the last of each name, as JSON parsers do. Sorted, as an object of
 * 64 KB may have thousands, and each is looked up. */
struct members {
    const struct json **v;
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a, *y = *(const struct json *const *)b;
    int order = str_cmp(json_name(x), json_name(y));
    return order ? order : (x->source.p > y->source.p) - (x->source.p < y->source.p);
}

static struct members members_of(struct arena *a, const struct json *object)
{
    struct members m = {0};
    size_t n = 0;
    if (!object || object->type != JSON_OBJECT)
        return m;
    m.v = NEW_N(a, const struct json *, object->n + 1);
    for (const struct json *one = object->first; one; one = one->next)
        m.v[n++] = one;
    qsort(m.v, n, sizeof *m.v, by_name);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(json_name(m.v[i]), json_name(m.v[i + 1])))
            m.v[m.n++] = m.v[i];
    return m;
}

static int to_name(const void *name, const void *member)
{
    return str_cmp(*(const str *)name, json_name(*(const struct json *const *)member));
}

/* NULL when there is none. */
static const struct json *find_member(const struct members *m, str name)
{
    const struct json **at = m->n ? bsearch(&name, m->v, m->n, sizeof *m->v, to_name) : NULL;
    return at ? *at : NULL;
}

/* Keeps the order of the old object and puts new members behind. Recursive; the depth is bounded by
 * the JSON parser. */
static void merge_members(struct arena *a, struct json_out *w, const struct json *old,
                          const struct json *patch)
{
    if (patch->type != JSON_OBJECT) {
        json_raw(w, patch->source);
        return;
    }
    struct members olds = members_of(a, old), news = members_of(a, patch);
    json_open(w, '{');
    for (const struct json *m = olds.n ? old->first : NULL; m; m = m->next) {
        const struct json *with = find_member(&news, json_name(m));
        if (find_member(&olds, json_name(m)) != m || (with && with->type == JSON_NULL))
            continue;
        json_key(w, str_c(a, json_name(m)));
        if (with)
            merge_members(a, w, m, with);
        else
            json_raw(w, m->source);
    }
    for (const struct json *m = patch->first; m; m = m->next) {
        if (find_member(&news, json_name(m)) != m || m->type == JSON_NULL ||
            find_member(&olds, json_name(m)))
            continue;
        json_key(w, str_c(a, json_name(m)));
        merge_members(a, w, NULL, m);
    }
    json_close(w, '}');
}

static enum status merged_text(struct ctx *ctx, str old_text, str patch_text, str *out)
{
    struct json *old, *patch;
    struct json_out w = json_in(&ctx->arena, 4 * METADATA_MAX);
    TRY(object_read(ctx, "metadata", old_text, &old));
    TRY(object_read(ctx, "metadata", patch_text, &patch));
    if (!patch) {
        *out = old_text;
        return OK;
    }
    merge_members(&ctx->arena, &w, old, patch);
    if (w.b->full || w.b->n > METADATA_MAX)
        return fail_field(ctx, "metadata", "must have at most %d bytes", METADATA_MAX);
    *out = buf_str(w.b);
    return OK;
}

/* A change that finds other metadata than it has read is tried again. Of several changes at once
 * one always succeeds, so each succeeds after as many tries as there are changes. */
enum status engine_change_session(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                  const struct session_change *change, struct session *out)
{
    struct session_change to = *change;
    struct session now;
    enum status s = CONFLICT;
    assert(pool.user.n && id.n);
    if (to.sets_title)
        TRY(check_title(ctx, to.title));
    to.title = secrets_kept(e, &ctx->arena, to.title);
    engine_catch_up(ctx, e, pool); /* a chat of the last moments may have begun it */
    for (int i = 0; i < TRIES && s == CONFLICT; i++) {
        TRY(store_session(ctx, e->store, pool, id, &now));
        pool.space = now.space;
        int64_t more = to.sets_title ? (int64_t)to.title.n - (int64_t)now.title.n : 0;
        if (to.sets_metadata) {
            TRY(merged_text(ctx, now.metadata, change->metadata, &to.metadata));
            to.metadata = secrets_kept_json(e, &ctx->arena, to.metadata);
            to.was = &now.metadata;
            more += (int64_t)to.metadata.n - (int64_t)now.metadata.n;
        }
        TRY(engine_check_quota(ctx, e, pool, (struct quota){.bytes = more}));
        s = store_change_session(ctx, e->store, pool, id, &to, out);
    }
    return s == CONFLICT ? fail(ctx, TOO_BUSY, "the session is being changed by others") : s;
}

/* --- reading --- */

enum status engine_session_messages(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    str session, struct message **out, size_t *n)
{
    struct message *all = NULL, *v;
    size_t have = 0, cap = 0, got = PIECE;
    engine_catch_up(ctx, e, pool);
    for (int64_t from = 0; got == PIECE;) {
        TRY(store_session_messages(ctx, e->store, pool, session, from, PIECE, &v, &got));
        for (size_t i = 0; i < got; i++) {
            /* Their order is that of the conversation. Two turns at once, or a clock that was set
             * back, may have dated one before the message in front of it. */
            if (have && v[i].created < all[have - 1].created)
                v[i].created = all[have - 1].created;
            ARENA_ADD(&ctx->arena, all, have, cap) = v[i];
            from = doc_position(v[i].doc) + 1;
        }
    }
    *out = all;
    *n = have;
    return OK;
}
