/* schema_check.c - the tables, indexes and triggers of a file against those that we make. */
#include <ctype.h>

#include "store/sql/db/schema.h"

/*
 * A trigger, a view or a changed table of a file runs with our statements: a backup with a trigger
 * on its tokens could make everyone an operator. So what a file holds is compared, as text, with
 * what the same steps make in memory. Reading sqlite_schema runs nothing of the file.
 */

struct list {
    sqlite3_stmt *rows; /* type, name, table and text, in the order of type and name */
    bool has_row;
};

enum column { TYPE, NAME, TABLE, TEXT };

static str column_of(const struct list *l, enum column c)
{
    return (str){(const char *)sqlite3_column_text(l->rows, (int)c),
                 (size_t)sqlite3_column_bytes(l->rows, (int)c)};
}

static enum status next_row(struct ctx *ctx, struct db *db, struct list *l)
{
    int rc = sqlite3_step(l->rows);
    l->has_row = rc == SQLITE_ROW;
    return l->has_row || rc == SQLITE_DONE ? OK : db_failed(ctx, db, rc);
}

static enum status list_begin(struct ctx *ctx, struct db *db, struct list *out)
{
    static const char rows[] =
        "SELECT coalesce(type, ''), coalesce(name, ''), coalesce(tbl_name, ''), coalesce(sql, '')"
        " FROM sqlite_schema ORDER BY 1, 2";
    int rc = sqlite3_prepare_v2(db->handle, rows, -1, &out->rows, NULL);
    return rc == SQLITE_OK ? next_row(ctx, db, out) : db_failed(ctx, db, rc);
}

static void list_end(struct list *l)
{
    sqlite3_finalize(l->rows);
}

/* As a word of the file's own in a message: short and printable. */
static str shown_name(struct ctx *ctx, str name)
{
    enum { SHOWN_MAX = 64 };
    struct buf b = buf_make(&ctx->arena, SHOWN_MAX + 1);
    for (size_t i = 0; i < name.n && i < SHOWN_MAX; i++)
        buf_byte(&b, isprint((unsigned char)name.p[i]) ? name.p[i] : '?');
    return buf_str(&b);
}

static enum status refuse_row(struct ctx *ctx, const char *has, const struct list *l,
                              const char *what)
{
    return fail(ctx, STORAGE,
                "the database %s the %s '" S_FMT "'%s, so it is not opened; use a backup that "
                "rememberd made",
                has, shown_name(ctx, column_of(l, TYPE)).p,
                S_ARG(shown_name(ctx, column_of(l, NAME))), what);
}

/* SQLite makes these itself, for ANALYZE. */
static bool is_of_sqlite(const struct list *l)
{
    static const char *const tables[][2] = {
        {"sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"},
        {"sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"},
    };
    return str_is(column_of(l, TYPE), "table") &&
           SOME(i, sizeof tables / sizeof *tables,
                str_is(column_of(l, NAME), tables[i][0]) &&
                    str_is(column_of(l, TABLE), tables[i][0]) &&
                    str_is(column_of(l, TEXT), tables[i][1]));
}

/* Below 0: a row of ours that the file lacks; above 0: one of the file that we do not make. */
static int order_of(const struct list *ours, const struct list *theirs)
{
    if (!ours->has_row || !theirs->has_row)
        return theirs->has_row - ours->has_row;
    int order = str_cmp(column_of(ours, TYPE), column_of(theirs, TYPE));
    return order ? order : str_cmp(column_of(ours, NAME), column_of(theirs, NAME));
}

static enum status compare_lists(struct ctx *ctx, struct db *model, struct list *ours,
                                 struct db *db, struct list *theirs)
{
    while (ours->has_row || theirs->has_row) {
        int order = order_of(ours, theirs);
        if (order < 0)
            return refuse_row(ctx, "lacks", ours, " of rememberd");
        if (order > 0 && !is_of_sqlite(theirs))
            return refuse_row(ctx, "has", theirs, ", which rememberd does not make");
        if (order == 0 && !(str_eq(column_of(ours, TABLE), column_of(theirs, TABLE)) &&
                            str_eq(column_of(ours, TEXT), column_of(theirs, TEXT))))
            return refuse_row(ctx, "has changed", theirs, " of rememberd");
        TRY(next_row(ctx, db, theirs));
        if (order == 0)
            TRY(next_row(ctx, model, ours));
    }
    return OK;
}

enum status schema_compare(struct ctx *ctx, struct db *db, int64_t version)
{
    CLEANUP(db_close) struct db model = {0};
    CLEANUP(list_end) struct list ours = {0};
    CLEANUP(list_end) struct list theirs = {0};
    int rc = sqlite3_open(":memory:", &model.handle);
    if (rc != SQLITE_OK)
        return db_failed(ctx, &model, rc);
    TRY(schema_run(ctx, &model, 0, version));
    TRY(list_begin(ctx, &model, &ours));
    TRY(list_begin(ctx, db, &theirs));
    return compare_lists(ctx, &model, &ours, db, &theirs);
}
