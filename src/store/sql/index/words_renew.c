/* words_renew.c - makes the words index anew when words are no longer split as they were. */
#include "store/sql/index/words.h"

#include "base/id.h"
#include "base/log.h"
#include "store/sql/db/rows.h"
#include "store/sql/index/word_blocks.h"

/*
 * FTS5 removes a document only with the words that it was added with, and a search finds only words
 * that are stemmed like the query. Stemming changes with the version of the stemmer, of Unicode and
 * of our code. So the file keeps a fingerprint of how these samples are split: every stop word,
 * every irregular form, and examples of many scripts and languages; of the tables of other
 * languages; and of how much of a long text is indexed.
 */
static const char sample[] =
#define STOP(w) w " "
#include "lang/stop.def"
#define IRREGULAR(form, base) form " "
#include "lang/irregular.def"
    "running generalization universities happily Node.js Python 3.12 caf\u00E9 STRASSE stra\u00DFe "
    "\u0130stanbul \u00C5ngstr\u00F6m \u041C\u043E\u0441\u043A\u0432\u0430 "
    "\u6211\u559C\u6B22\u732B "
    "\u3053\u3093\u306B\u3061\u306F \u0E2A\u0E27\u0E31\u0E2A\u0E14\u0E35 don't it\u2019s e-mail "
    "x86_64 \u2764\uFE0F \u0301a "
    "1,000 \u00BD \uFB01ne na\u00EFve \u0928\u092E\u0938\u094D\u0924\u0947";

/* Each in one language, which its words tell. */
static const char *const samples[] = {
    sample,
    "Ich habe mich gestern angemeldet und die Autos der Nachbarn vor der Haust\u00FCr gekauft",
    "Nous avons mang\u00E9 les derni\u00E8res pommes et je suis all\u00E9e chez mes voisines",
    "Mi hermana se cas\u00F3 y la operacion de los ni\u00F1os fue muy larga",
    "Meus pais compraram p\u00E3es e as minhas irm\u00E3s n\u00E3o foram \u00E0s aulas de "
    "nata\u00E7\u00E3o",
    "\u041C\u043E\u0438 \u0434\u0435\u0442\u0438 "
    "\u043D\u0430\u0443\u0447\u0438\u043B\u0438\u0441\u044C "
    "\u0438\u0433\u0440\u0430\u0442\u044C \u0438 \u0435\u0449\u0451 "
    "\u043B\u0435\u0436\u0430\u043B\u0438",
    "\u0648\u0627\u0644\u062D\u0642\u0627\u0626\u0628 \u0633\u064A\u0627\u0631\u062A\u0646\u0627 "
    "\u0627\u0634\u062A\u0631\u064A\u062A \u0645\u0640\u0640\u0641\u062A\u0627\u062D\u0627\u064B "
    "\u0621",
    "\u0939\u093F\u0928\u094D\u0926\u0940 \u0915\u093F\u0924\u093E\u092C\u0947\u0902 "
    "\u092A\u0922\u093C\u093E\u0924\u0940 \u0939\u0942\u0901",
    "\u4E09\u6BDB\u732B\u3092\u98FC\u3046 \uFF8A\uFF9F\uFF9D",
    "\uACE0\uC591\uC774\uB294 \uCC28\uB97C \uC0C0\uC5B4\uC694",
    "\u0E40\u0E25\u0E35\u0E49\u0E22\u0E07\u0E41\u0E21\u0E27\u0E2A\u0E35\u0E2A\u0E49\u0E21",
};

/* A change of any row is a change of the words. */
static const char tables[] =
#define FUNCTION(language, words) #language " " words " "
#define BASE(language, base, forms) #language " " base " " forms " "
#define HEAD(words) words " "
#include "lang/language.def"
#define TAIL(words) words " "
#include "lang/unspaced_words.def"
    ;

/* What of an episode is indexed beside its summary counts, too. */
static const char sample_metadata[] = "{\"topics\":[\"boats\"],\"entities\":[\"Ada\"],"
                                      "\"decisions\":[\"paint\"]}";

static void print_words(struct buf *b, const struct words *w, bool is_label)
{
    for (size_t i = 0; i < w->n; i++)
        if (word_is_indexed(&w->v[i], is_label))
            buf_printf(b, S_FMT "\n", S_ARG(w->v[i].stem));
}

/* The date is fixed, since labels hold it. */
static str sample_print(struct arena *a)
{
    struct buf b = buf_make(a, 1 << 20);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct message m = {.text = str_of(samples[i]), .created = 1683553000000};
        struct index_text text = index_of_message(a, &m);
        print_words(&b, &text.own, false);
        print_words(&b, &text.label, true);
    }
    struct memory e = {.layer = LAYER_EPISODE, .metadata = str_of(sample_metadata)};
    struct index_text lists = index_of_memory(a, &e);
    print_words(&b, &lists.own, false);
    return ID_OF(a, buf_str(&b), str_of(tables), str_printf(a, "%d", LONG_TEXT_END));
}

static enum status add_document(struct ctx *ctx, void *own, int64_t pool, doc_id doc,
                                const struct index_text *words)
{
    return words_follow(ctx, own, pool, doc, words, false);
}

/* Runs when the store is opened, before any search. All in one transaction: a crash leaves the old
 * index and the old fingerprint, and the next open begins again. The time grows with the texts of
 * the whole store. is_mixed: pages of the file may be of different times. FTS5 knows its pages by
 * one list, and a key of a page that is not in it makes the next write fail (constraint failed),
 * which no check of SQLite finds. */
enum status words_renew(struct ctx *ctx, struct db *db, bool is_mixed)
{
    str is = sample_print(&ctx->arena), was;
    TRY(SQL_WORD(ctx, db, &was, SQL_FACT_GET, S("words")));
    if (str_eq(is, was) && !is_mixed)
        return OK;
    if (was.n)
        log_event(LOG_WARN, "store.words_renewed", "why=\"%s\"",
                  is_mixed ? "a loss was accepted" : "words are split in another way now");
    TXN(t);
    TRY(txn_begin(ctx, db, &t));
    TRY(SQL_DO(ctx, db, SQL_WORDS_CLEAR));
    TRY(is_postgres(db) ? word_blocks_fill(ctx, db) : words_each(ctx, db, add_document, db));
    TRY(SQL_DO(ctx, db, SQL_FACT_PUT, S("words"), is));
    return txn_commit(&t);
}
