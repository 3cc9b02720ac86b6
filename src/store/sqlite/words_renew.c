/* words_renew.c - makes the words index anew when words are no longer split as they were. */
#include "base/id.h"
#include "base/log.h"
#include "store/sqlite/sqlite_store.h"

/*
 * Removing a document needs the very words it was added with, and a search finds only what is
 * stemmed as the question is. Both change with the stemmer's or Unicode's version and with our own
 * code, so the file remembers what this sample came to: every stop word and irregular form, and a
 * bit of everything.
 */
static const char sample[] =
#define STOP(w) w " "
#include "base/stop.def"
#undef STOP
#define IRREGULAR(form, base) form " "
#include "base/irregular.def"
#undef IRREGULAR
    "running generalization universities happily Node.js Python 3.12 caf\u00E9 STRASSE stra\u00DFe "
    "\u0130stanbul \u00C5ngstr\u00F6m \u041C\u043E\u0441\u043A\u0432\u0430 "
    "\u6211\u559C\u6B22\u732B "
    "\u3053\u3093\u306B\u3061\u306F \u0E2A\u0E27\u0E31\u0E2A\u0E14\u0E35 don't it\u2019s e-mail "
    "x86_64 "
    "1,000 \u00BD \uFB01ne na\u00EFve \u0928\u092E\u0938\u094D\u0924\u0947";

static str fingerprint(struct arena *a)
{
    struct buf b = buf_make(a, 1 << 20);
    struct message m = {.text = {sample, sizeof sample - 1}, .created = 1683553000000};
    struct index_text text = index_of_message(a, &m);
    struct words *both[] = {&text.own, &text.label};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->n; i++)
            if (word_is_indexed(&both[k]->v[i], k == 1))
                buf_printf(&b, S_FMT "\n", S_ARG(both[k]->v[i].stem));
    str parts[] = {buf_str(&b)};
    return id_of(a, parts, 1);
}

static enum status known_fingerprint(struct ctx *ctx, struct db *db, str *out)
{
    *out = S("");
    SQL_RUN(q, ctx, db, SQL_FACT_GET);
    sql_text(&q, S("words"));
    if (sql_row(&q))
        *out = sql_get_text(&q);
    return sql_end(&q);
}

static enum status add_rows(struct ctx *ctx, struct db *db, enum sql which)
{
    CLEANUP(ctx_free) struct ctx row = {0};
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
        status = words_add(&row, db, pool, doc, &words);
        arena_reset(&row.arena);
    }
    if (status == OK)
        status = sql_end(&q);
    return status == OK ? OK : fail(ctx, status, "%s", row.why);
}

static enum status clear(struct ctx *ctx, struct db *db)
{
    SQL_RUN(q, ctx, db, SQL_WORDS_CLEAR);
    return sql_do(&q);
}

static enum status remember(struct ctx *ctx, struct db *db, str value)
{
    SQL_RUN(q, ctx, db, SQL_FACT_PUT);
    sql_text(&q, S("words"));
    sql_text(&q, value);
    return sql_do(&q);
}

enum status words_renew(struct ctx *ctx, struct db *db)
{
    str is = fingerprint(&ctx->arena), was;
    TRY(known_fingerprint(ctx, db, &was));
    if (str_eq(is, was))
        return OK;
    if (was.n)
        log_event(LOG_WARN, "store.words_renewed", "why=\"words are split in another way now\"");
    TXN(t);
    TRY(txn_begin(ctx, db, &t));
    TRY(clear(ctx, db));
    TRY(add_rows(ctx, db, SQL_EACH_MESSAGE));
    TRY(add_rows(ctx, db, SQL_EACH_MEMORY));
    TRY(remember(ctx, db, is));
    return txn_commit(&t);
}
