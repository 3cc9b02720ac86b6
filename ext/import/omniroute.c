/* omniroute.c - the memories of OmniRoute's database into pools, again without harm. */
#include "base/clock.h"
#include "base/id.h"
#include "engine/extract/secrets.h"
#include "ext/import/importer.h"
#include "ext/import/omniroute_db.h"
#include "surface/common/auth.h"

enum { GROUP_MAX = 2000, GROUP_BYTES_MAX = 2 << 20 }; /* of one write */
#define IMPORTANCE 0.5                                /* the source does not store any */

struct gathering {
    struct ctx *ctx;
    struct ctx *work; /* of the group that is being filled */
    struct engine *e;
    struct import_in in; /* with space "" each owner has a space of its own */
    str path;
    str owner; /* of the group; report.owners: there is one */
    struct memory *memories;
    size_t n, bytes;
    int64_t now;
    struct omniroute_report report;
};

/* Without a time of its own it has that of the import. */
static enum status leave_erased(struct gathering *im, struct pool_ref pool)
{
    struct erased_ask *v = NEW_N(&im->work->arena, struct erased_ask, im->n);
    bool *is_erased = NEW_N(&im->work->arena, bool, im->n);
    size_t kept = 0;
    for (size_t i = 0; i < im->n; i++) {
        const struct memory *m = &im->memories[i];
        v[i] = (struct erased_ask){.memory = m, .created = m->created < im->now ? m->created : 0};
    }
    TRY(import_erased(im->work, im->e, pool, &im->in, v, im->n, is_erased, &im->report.erased));
    for (size_t i = 0; i < im->n; i++)
        if (!is_erased[i])
            im->memories[kept++] = im->memories[i];
    im->n = kept;
    return OK;
}

/* The key comes last, as nothing limits its length. */
static enum status owner_failed(struct gathering *im, enum status s, const char *why)
{
    return fail(im->ctx, s, "'" S_FMT "': %s (key " S_FMT ")", S_ARG(im->path), why,
                S_ARG(im->owner));
}

/* One owner's memories in one transaction. */
static enum status write_group(struct gathering *im)
{
    if (!im->n)
        return OK;
    struct pool_ref pool = im->in.pool;
    struct bundle b = {0};
    if (!pool.space.n)
        pool.space = im->owner.n ? im->owner : S(DEFAULT_SPACE);
    enum status s = leave_erased(im, pool);
    if (s == OK)
        s = import_memories(im->work, im->e, pool, im->memories, im->n, &b);
    if (s != OK)
        return owner_failed(im, s, im->work->why);
    im->report.memories += (int64_t)b.added;
    im->report.updated += (int64_t)b.replaced;
    im->memories = NULL;
    im->n = im->bytes = 0;
    arena_reset(&im->work->arena);
    return ctx_has_time(im->ctx) ? OK : fail(im->ctx, TIMED_OUT, "the import took too long");
}

static enum status begin_owner(struct gathering *im, str owner)
{
    if (im->report.owners && str_eq(im->owner, owner))
        return OK;
    TRY(write_group(im));
    im->owner = str_dup(&im->ctx->arena, owner);
    im->report.owners++;
    if (im->in.pool.space.n || (owner.n <= SPACE_NAME_MAX && !str_is(owner, SPACE_ALL)))
        return OK;
    return owner_failed(im, BAD_INPUT, "a key is not the name of a space; use --space NAME");
}

/* An id that is not a UUID gives a UUID that is the same in each import. */
static void import_memory(struct gathering *im, const struct memory *from)
{
    assert(im->n < GROUP_MAX);
    struct arena *a = &im->work->arena;
    struct memory *m = memories_add(a, &im->memories, &im->n, memory_copy(a, from));
    str owner = im->owner, created = str_printf(a, "%lld", (long long)m->created);
    m->id = id_is_uuid(m->id) ? str_lower(a, m->id)
            : m->id.n         ? ID_OF(a, S("omniroute"), owner, m->id)
                              : ID_OF(a, S("omniroute"), owner, m->key, m->content, created);
    m->content = str_trim(m->content);
    secrets_leave(im->e, a, m);
    m->origin = ORIGIN_IMPORT;
    m->importance = m->salience = IMPORTANCE;
    m->created = m->created ? m->created : im->now;
    m->updated = m->updated > m->created ? m->updated : m->created;
    m->last_used = m->last_used ? m->last_used : m->updated;
    im->bytes += sizeof *m + m->content.n + m->metadata.n;
}

static enum status take_row(UNUSED struct ctx *ctx, void *own, const struct omniroute_row *row,
                            int64_t done, int64_t all)
{
    struct gathering *im = own;
    TRY(begin_owner(im, row->owner));
    if (str_trim(row->memory.content).n)
        import_memory(im, &row->memory);
    else
        im->report.skipped++;
    if (im->n == GROUP_MAX || im->bytes > GROUP_BYTES_MAX || done == all)
        TRY(write_group(im));
    if (im->in.progress)
        im->in.progress(done, all);
    return OK;
}

/* May be repeated: ids are kept or derived, so nothing is stored twice. */
enum status engine_import_omniroute(struct ctx *ctx, struct engine *e, str user, str space,
                                    str path, bool again,
                                    void (*progress)(int64_t done, int64_t all),
                                    struct omniroute_report *out)
{
    CLEANUP(ctx_free) struct ctx work = ctx_child(ctx, 0);
    struct gathering im = {.ctx = ctx,
                           .work = &work,
                           .e = e,
                           .in = {.pool = {user, space}, .again = again, .progress = progress},
                           .path = path,
                           .now = clock_ms()};
    TRY(omniroute_db_read(ctx, path, take_row, &im));
    TRY(write_group(&im));
    *out = im.report;
    return OK;
}
