/* words_each.c - all documents of the store, one by one, with their words. */
#include "store/sql/db/query.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/words.h"

static enum status each_row(struct ctx *ctx, struct db *db, enum sql which, take_document *take,
                            void *own)
{
    CLEANUP(ctx_free) struct ctx row = ctx_child(ctx, 0);
    SQL_RUN(q, &row, db, which);
    enum status status = OK;
    while (status == OK && sql_row(&q)) {
        int64_t pool = sql_get_int(&q);
        struct message message;
        struct memory memory;
        struct index_text words;
        doc_id doc;
        if (which == SQL_EACH_MESSAGE) {
            read_message(&q, &message);
            doc = message.doc;
            words = index_of_message(&row.arena, &message);
        } else {
            read_memory(&q, &memory);
            doc = memory.doc;
            words = index_of_memory(&row.arena, &memory);
        }
        status = take(&row, own, pool, doc, &words);
        arena_reset(&row.arena);
    }
    status = status == OK ? sql_end(&q) : status;
    return ctx_pass(ctx, &row, status);
}

enum status words_each(struct ctx *ctx, struct db *db, take_document *take, void *own)
{
    TRY(each_row(ctx, db, SQL_EACH_MESSAGE, take, own));
    return each_row(ctx, db, SQL_EACH_MEMORY, take, own);
}
