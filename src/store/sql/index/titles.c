/* titles.c - the titles of a pool packed into few rows, so that a search looks at all of them. */
#include "store/sql/index/titles.h"

#include "base/utf8.h"
#include "store/sql/db/query.h"

/*
 * Stepping to a row costs more than searching a title: 100,000 rows take 25 ms. An index of
 * trigrams is slower for words that are in many titles, and finds no word of two letters. So titles
 * are kept together, folded, in blocks about the size of a page, and one search runs over a block.
 *
 * A block begins with a session's number and holds the sessions up to the next block. Each entry is
 * the distance from the first number, as digits of base 32 (the bytes below a blank), then the
 * title, in which those bytes are blanks. So a match never begins in a number, and the number
 * before it is its session's.
 *
 * A block of 3,800 bytes and its row fit one page of 4,096; a longer title has a block of its own.
 */
enum { BLOCK_BYTES = 3800, DIGIT = 32 };

static bool is_digit(char c)
{
    return (unsigned char)c < DIGIT;
}

str title_folded(struct arena *a, str title)
{
    str lower = utf8_lower(a, title);
    char *p = arena_alloc(a, lower.n + 1);
    for (size_t i = 0; i < lower.n; i++)
        p[i] = is_digit(lower.p[i]) ? ' ' : lower.p[i];
    return (str){p, lower.n};
}

/* --- blocks --- */

struct entry {
    int64_t no;
    str title;
};

struct block {
    int64_t first; /* number of its row; 0: there is none yet */
    struct entry *v;
    size_t n, bytes;
};

/* Takes the next entry off a block. The title ends where the digits of the next entry begin, so no
 * length is stored. */
static struct entry cut_entry(str *rest, int64_t first)
{
    int64_t distance = 0;
    size_t n = 0;
    for (; rest->n && is_digit(*rest->p); *rest = str_sub(*rest, 1, rest->n))
        distance = distance * DIGIT + *rest->p;
    while (n < rest->n && !is_digit(rest->p[n]))
        n++;
    struct entry e = {first + distance, str_sub(*rest, 0, n)};
    *rest = str_sub(*rest, n, rest->n);
    return e;
}

/* Entries of a block, with room for one more. */
static void parse_block(struct arena *a, str text, struct block *b)
{
    size_t cap = 0;
    b->bytes = text.n;
    while (text.n)
        ARENA_ADD(a, b->v, b->n, cap) = cut_entry(&text, b->first);
    b->v = arena_more(a, b->v, b->n, &cap, sizeof *b->v);
}

static enum status read_block(struct ctx *ctx, struct db *db, int64_t pool, int64_t no,
                              struct block *out)
{
    *out = (struct block){0};
    SQL_RUN(q, ctx, db, SQL_TITLE_BLOCK, pool, no);
    str text = S("");
    if (sql_row(&q)) {
        out->first = sql_get_int(&q);
        text = str_dup(&ctx->arena, sql_see_blob(&q));
    }
    parse_block(&ctx->arena, text, out);
    return sql_end(&q);
}

static void write_entry(struct buf *b, int64_t distance, str title)
{
    char digits[16];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)(distance % DIGIT);
        distance /= DIGIT;
    } while (distance);
    buf_add(b, (str){digits + n, sizeof digits - n});
    buf_add(b, title);
}

/* Writes the entries as the block that begins with first; without entries the block is deleted. */
static enum status write_block(struct ctx *ctx, struct db *db, int64_t pool, int64_t first,
                               const struct entry *v, size_t n)
{
    struct buf b = buf_make(&ctx->arena, SIZE_MAX); /* as long as its titles */
    for (size_t i = 0; i < n; i++)
        write_entry(&b, v[i].no - first, v[i].title);
    return n ? SQL_LATER(ctx, db, SQL_TITLE_PUT, pool, first, blob_of(buf_str(&b)))
             : SQL_LATER(ctx, db, SQL_TITLE_DELETE, pool, first);
}

/* --- one title --- */

/* A title that does not fit begins a new block, together with those behind it. A split leaves
 * blocks short at times; they fill up again or stay, as titles arrive mostly at the end. */
static enum status put_in(struct ctx *ctx, struct db *db, int64_t pool, struct block *b, size_t i,
                          struct entry e)
{
    assert(i <= b->n);
    bool fits = b->n && b->bytes + e.title.n < BLOCK_BYTES;
    memmove(&b->v[i + 1], &b->v[i], (b->n - i) * sizeof *b->v);
    b->v[i] = e;
    b->n++;
    if (fits)
        return write_block(ctx, db, pool, b->first, b->v, b->n);
    if (i + 1 < b->n && e.no != b->first)
        TRY(write_block(ctx, db, pool, b->first, b->v, i));
    return write_block(ctx, db, pool, e.no, b->v + i, b->n - i);
}

enum status title_put(struct ctx *ctx, struct db *db, int64_t pool, int64_t no, str title)
{
    struct block b;
    size_t i = 0;
    TRY(read_block(ctx, db, pool, no, &b));
    while (i < b.n && b.v[i].no < no)
        i++;
    bool is_there = i < b.n && b.v[i].no == no;
    struct entry e = {no, title_folded(&ctx->arena, title)};
    if (!is_there)
        return title.n ? put_in(ctx, db, pool, &b, i, e) : OK;
    if (title.n)
        b.v[i] = e;
    else
        memmove(&b.v[i], &b.v[i + 1], (--b.n - i) * sizeof *b.v);
    return write_block(ctx, db, pool, b.first, b.v, b.n);
}

/* --- all of them --- */

/* The session number in front of a match. */
static int64_t number_before(const char *begin, const char *p, int64_t first)
{
    int64_t distance = 0, worth = 1;
    while (p > begin && !is_digit(p[-1]))
        p--;
    for (; p > begin && is_digit(p[-1]); p--, worth *= DIGIT)
        distance += worth * p[-1];
    return first + distance;
}

/* A title counts once, so the search goes on behind it. */
static void search_block(struct arena *a, str text, int64_t first, str part,
                         struct session_nos *out)
{
    const char *end = text.p + text.n;
    for (const char *p = text.p; (p = memmem(p, (size_t)(end - p), part.p, part.n)) != NULL;) {
        ARENA_ADD(a, out->v, out->n, out->cap) = number_before(text.p, p, first);
        while (p < end && !is_digit(*p))
            p++;
    }
}

/* O(bytes of all titles of the pool); a block holds about 100 titles of 35 bytes. Numbers come out
 * ascending, since blocks are read in the order of their first number. */
enum status titles_find(struct ctx *ctx, struct db *db, int64_t pool, str folded,
                        struct session_nos *out)
{
    assert(folded.n);
    *out = (struct session_nos){0};
    SQL_RUN(q, ctx, db, SQL_TITLE_BLOCKS, pool);
    while (sql_row(&q)) {
        int64_t first = sql_get_int(&q);
        search_block(&ctx->arena, sql_see_blob(&q), first, folded, out);
    }
    return sql_end(&q);
}

/* --- the check --- */

/* Compares each title of a block with its session. */
static enum status check_block(struct ctx *parent, struct db *db, int64_t pool, struct block *b,
                               struct buf *findings)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(parent, 0);
    int64_t before = b->first - 1;
    for (size_t i = 0; i < b->n; before = b->v[i++].no) {
        SQL_RUN(q, &ctx, db, SQL_SESSION_TITLE, pool, b->v[i].no);
        str title = sql_row(&q) ? title_folded(&ctx.arena, sql_get_text(&q)) : S("");
        TRY(sql_end(&q));
        if (b->v[i].no <= before || !str_eq(title, b->v[i].title))
            buf_printf(findings, "title of session %lld is not found as it is\n",
                       (long long)b->v[i].no);
    }
    return OK;
}

enum status titles_check(struct ctx *ctx, struct db *db, struct buf *findings)
{
    int64_t titled = 0, found = 0;
    TRY(db_int(ctx, db, "SELECT count(*) FROM session WHERE title <> ''", &titled));
    SQL_RUN(q, ctx, db, SQL_TITLE_ALL);
    while (sql_row(&q)) {
        CLEANUP(ctx_free) struct ctx mine = ctx_child(ctx, 0);
        int64_t pool = sql_get_int(&q);
        struct block b = {.first = sql_get_int(&q)};
        parse_block(&mine.arena, sql_see_blob(&q), &b);
        TRY(check_block(&mine, db, pool, &b, findings));
        found += (int64_t)b.n;
    }
    if (found != titled)
        buf_printf(findings, "titles: %lld of %lld can be found\n", (long long)found,
                   (long long)titled);
    return sql_end(&q);
}
