/* owners.c - whose the things are that a model's server keeps for all users in one account. */
#include "store/sql/state/reader.h"
#include "store/sql/state/writer.h"

/* Facts "owner:NAME": the time from which nobody needs the row, or 0, and the owner. */

struct owned {
    const str *names;
    size_t n;
    str value;
};

static enum status note_owners(struct ctx *ctx, struct db *db, const void *what)
{
    const struct owned *o = what;
    for (size_t i = 0; i < o->n; i++)
        TRY(SQL_DO(ctx, db, SQL_OWNER_PUT, o->names[i], o->value));
    return OK;
}

/* Nobody waits for the disk; who reads it settles the queue first. */
enum status store_note_owners(struct ctx *ctx, struct store *s, const str *names, size_t n,
                              str owner, int64_t until)
{
    struct later *later;
    size_t bytes = sizeof(struct owned) + owner.n + 32;
    for (size_t i = 0; i < n; i++)
        bytes += sizeof *names + names[i].n;
    TRY(writer_reserve(ctx, s->writer, bytes, &later));
    struct arena *a = &later->ctx.arena;
    struct owned *o = NEW(a, struct owned);
    str *own = NEW_N(a, str, n + 1);
    for (size_t i = 0; i < n; i++)
        own[i] = str_dup(a, names[i]);
    *o = (struct owned){own, n, str_printf(a, "%lld " S_FMT, (long long)until, S_ARG(owner))};
    writer_queue(s->writer, later, note_owners, o);
    return OK;
}

enum status store_owner(struct ctx *ctx, struct store *s, str name, str *out)
{
    READER(r, ctx, s);
    TRY(SQL_WORD(ctx, r.db, out, SQL_OWNER_GET, name));
    str_cut(out, ' ');
    return OK;
}
