/* words.c - writing the words index: one FTS5 table in which every word carries its pool. */
#include "store/sql/index/words.h"

#include "store/sql/db/query.h"
#include "store/sql/index/posting_cache.h"

/* A token is the pool's number, a middle dot and the stem: "42·postgr". So every pool has words of
 * its own, and a search reads nothing of another pool. The tokenizer (ascii) ends a token at any
 * byte below 0x80 that is no letter or digit, so such bytes are written as two above it. TEXT_MAX
 * is never reached: core/index.c limits the words of a document. */
enum { TEXT_MAX = 64 << 20 };

/* The tokenizer folds upper case; folded here, too, a search and the check see the same token. */
static size_t add_byte(char *out, unsigned char c)
{
    c = (unsigned char)ascii_lower((char)c);
    if (c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
        out[0] = (char)c;
        return 1;
    }
    out[0] = (char)(c < 0x40 ? 0xC2 : 0xC3);
    out[1] = (char)(0x80 | (c & 0x3F));
    return 2;
}

struct word_prefix word_prefix_of(int64_t pool, int64_t generation)
{
    struct word_prefix out;
    const long long no = pool, of = generation;
    int n = of ? snprintf(out.text, sizeof out.text, "%llx.%llx\xC2\xB7", no, of)
               : snprintf(out.text, sizeof out.text, "%lld\xC2\xB7", no);
    out.n = (size_t)n;
    return out;
}

/* out is not ended with a NUL. A byte becomes at most two, hence TOKEN_MAX. */
size_t word_token(char out[TOKEN_MAX], const struct word_prefix *prefix, str stem)
{
    size_t n = prefix->n;
    assert(n && n < sizeof prefix->text);
    memcpy(out, prefix->text, n);
    for (size_t i = 0; i < stem.n && i < STEM_MAX; i++)
        n += add_byte(out + n, (unsigned char)stem.p[i]);
    return n;
}

/* As a token of FTS5 has it behind the pool. */
str word_of_stem(struct arena *a, str stem)
{
    static const struct word_prefix none = {"\xC2\xB7", 2};
    char token[TOKEN_MAX];
    size_t n = word_token(token, &none, stem);
    return str_dup(a, (str){token + none.n, n - none.n});
}

/* Stop words are not indexed, except in a label, where each word counts ("May"). */
bool word_is_indexed(const struct word *word, bool in_label)
{
    return word->stem.n && (in_label || !word->is_stop);
}

/* What is added or removed. */
struct words_change {
    struct word_prefix prefix;
    doc_id doc;
    bool is_removal;
};

/* The tokens of the words; the lists get the same change. */
static str text_of(struct arena *a, struct word_lists *lists, const struct words_change *change,
                   const struct words *words, enum word_column at)
{
    char token[TOKEN_MAX];
    struct buf b = buf_make(a, TEXT_MAX);
    for (size_t i = 0; i < words->n; i++) {
        if (!word_is_indexed(&words->v[i], at == IN_LABEL))
            continue;
        str added = {token, word_token(token, &change->prefix, words->v[i].stem)};
        if (lists)
            word_lists_change(lists, added, change->doc, at, change->is_removal);
        buf_add(&b, added);
        buf_byte(&b, ' ');
    }
    return buf_str(&b);
}

/* On PostgreSQL each pool has a generation, which is a part of what is asked for. */
enum status words_view(struct ctx *ctx, struct db *db, uint64_t *out)
{
    *out = 1;
    if (is_postgres(db))
        return OK;
    *out = db->seen ? db->seen->words : 0;
    if (*out)
        return OK;
    SQL_RUN(q, ctx, db, SQL_WORDS_VIEW);
    *out = sql_row(&q) ? str_hash(sql_see_blob(&q)) | 1 : 1;
    TRY(sql_end(&q));
    if (db->seen)
        db->seen->words = *out;
    return OK;
}

/* Before the first change of a transaction. */
static enum status begin_change(struct ctx *ctx, struct db *db)
{
    uint64_t view;
    if (!db->lists || word_lists_is_changing(db->lists))
        return OK;
    TRY(words_view(ctx, db, &view));
    word_lists_begin(db->lists, view);
    db->words_before = view;
    return OK;
}

/* FTS5 writes what it holds in memory when the transaction is committed; the view must be known
 * before, since another process may write behind it. Removing words may leave FTS5's record as it
 * was: then the settings of the table are written again, which changes a number in the record. */
enum status words_seal(struct ctx *ctx, struct db *db)
{
    uint64_t view;
    if (!db->lists || is_postgres(db) || !word_lists_is_changing(db->lists))
        return OK;
    TRY(SQL_DO(ctx, db, SQL_WORDS_FLUSH));
    TRY(words_view(ctx, db, &view));
    if (view == db->words_before) {
        TRY(SQL_DO(ctx, db, SQL_WORDS_REMOVAL, true));
        TRY(words_view(ctx, db, &view));
    }
    assert(view != db->words_before);
    word_lists_seal(db->lists, view);
    return OK;
}

enum status words_follow(struct ctx *ctx, struct db *db, int64_t pool, doc_id doc,
                         const struct index_text *words, bool is_removal)
{
    assert(pool && doc && db_in_transaction(db) && !is_postgres(db));
    struct words_change change = {word_prefix_of(pool, 0), doc, is_removal};
    TRY(begin_change(ctx, db));
    if (db->lists)
        word_lists_drop_document(db->lists, doc);
    return SQL_DO(ctx, db, is_removal ? SQL_WORDS_REMOVE : SQL_WORDS_ADD, doc,
                  text_of(&ctx->arena, db->lists, &change, &words->own, IN_TEXT),
                  text_of(&ctx->arena, db->lists, &change, &words->label, IN_LABEL));
}
