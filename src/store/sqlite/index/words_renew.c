/* words_renew.c - makes the words index anew when words are no longer split as they were. */
#include "store/sqlite/index/words.h"

#include "base/id.h"
#include "base/log.h"
#include "store/sqlite/db/rows.h"

/*
 * FTS5 removes a document only with the words that it was added with, and a search finds only words
 * that are stemmed like the query. Stemming changes with the version of the stemmer, of Unicode and
 * of our code. So the file keeps a fingerprint of how this sample is split: every stop word, every
 * irregular form, and examples of many scripts; and of how much of a long text is indexed.
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

/* What of an episode is indexed beside its summary counts, too. */
static const char sample_metadata[] = "{\"topics\":[\"boats\"],\"entities\":[\"Ada\"],"
                                      "\"decisions\":[\"paint\"]}";

/* The date is fixed, since labels hold it. */
static str sample_print(struct arena *a)
{
    struct buf b = buf_make(a, 1 << 20);
    struct message m = {.text = {sample, sizeof sample - 1}, .created = 1683553000000};
    struct memory e = {.layer = LAYER_EPISODE, .metadata = str_of(sample_metadata)};
    struct index_text text = index_of_message(a, &m), lists = index_of_memory(a, &e);
    struct words *both[] = {&text.own, &text.label, &lists.own};
    for (size_t k = 0; k < sizeof both / sizeof *both; k++)
        for (size_t i = 0; i < both[k]->n; i++)
            if (word_is_indexed(&both[k]->v[i], k == 1))
                buf_printf(&b, S_FMT "\n", S_ARG(both[k]->v[i].stem));
    str parts[] = {buf_str(&b), str_printf(a, "%d", LONG_TEXT_END)};
    return id_of(a, parts, 2);
}

static enum status known_fingerprint(struct ctx *ctx, struct db *db, str *out)
{
    *out = S("");
    SQL_RUN(q, ctx, db, SQL_FACT_GET, S("words"));
    if (sql_row(&q))
        *out = sql_get_text(&q);
    return sql_end(&q);
}

static enum status add_rows(struct ctx *ctx, struct db *db, enum sql which)
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
        status = words_add(&row, db, pool, doc, &words);
        arena_reset(&row.arena);
    }
    if (status == OK)
        status = sql_end(&q);
    return status == OK ? OK : fail_as(ctx, status, row.detail, "%s", row.why);
}

/* Runs when the store is opened, before any search. All in one transaction: a crash leaves the old
 * index and the old fingerprint, and the next open begins again. The time grows with the texts of
 * the whole store. */
enum status words_renew(struct ctx *ctx, struct db *db)
{
    str is = sample_print(&ctx->arena), was;
    TRY(known_fingerprint(ctx, db, &was));
    if (str_eq(is, was))
        return OK;
    if (was.n)
        log_event(LOG_WARN, "store.words_renewed", "why=\"words are split in another way now\"");
    TXN(t);
    TRY(txn_begin(ctx, db, &t));
    TRY(SQL_DO(ctx, db, SQL_WORDS_CLEAR));
    TRY(add_rows(ctx, db, SQL_EACH_MESSAGE));
    TRY(add_rows(ctx, db, SQL_EACH_MEMORY));
    TRY(SQL_DO(ctx, db, SQL_FACT_PUT, S("words"), is));
    return txn_commit(&t);
}
