/* postgres.c - the store in PostgreSQL: its table of operations, and which of them are missing. */
#include "store/sql/state/reader.h"

/*
 * The operations are the functions of the SQLite backend: they speak to a database through the
 * verbs of db/query.h, which know both. What is missing fails in words, and does nothing.
 */

enum op {
#define OP(name, params, args, check) OP_##name,
#include "store/ops.def"
#undef OP
    OP_COUNT
};

static const char *const missing[OP_COUNT] = {
    [OP_backup] = "use pg_dump",
    [OP_backup_check] = "use pg_restore",
    [OP_check_pages] = "use pg_amcheck",
};

static enum status refuse_missing(struct ctx *ctx, const char *name, const char *instead)
{
    return fail(ctx, UNSUPPORTED, "the store in PostgreSQL has no '%s' yet: %s", name, instead);
}

#define OP(name, params, args, check)                                                              \
    static enum status postgres_##name(struct ctx *ctx, struct store *s OP_MORE params)            \
    {                                                                                              \
        if (missing[OP_##name])                                                                    \
            return refuse_missing(ctx, #name, missing[OP_##name]);                                 \
        return sql_##name(ctx, s OP_MORE args);                                                    \
    }
#include "store/ops.def"
#undef OP

static enum status open_postgres(struct ctx *ctx, const struct store_settings *settings,
                                 struct store **out)
{
    if (settings->key)
        return fail(ctx, UNSUPPORTED,
                    "a store in PostgreSQL is not encrypted by rememberd; its disk can be");
    return sql_open_as(ctx, settings, &postgres_ops, out);
}

static void close_postgres(struct store *s)
{
    sql_ops.close(s);
}

static uint64_t wait_written(struct store *s, uint64_t seen, int64_t ms)
{
    return sql_ops.wait(s, seen, ms);
}

static void wake_waiters(struct store *s)
{
    sql_ops.wake(s);
}

const struct store_ops postgres_ops = {
    .scheme = "postgres",
    .open = open_postgres,
    .close = close_postgres,
    .wait = wait_written,
    .wake = wake_waiters,
    .view_begin = reader_view_begin,
    .view_rest = reader_view_rest,
    .view_end = reader_view_end,
#define OP(name, params, args, check) .name = postgres_##name,
#include "store/ops.def"
#undef OP
};
