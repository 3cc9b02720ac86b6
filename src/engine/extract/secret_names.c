/* secret_names.c - finds the beginnings of keys and the names of secrets in a text. */
#include "engine/extract/secret_names.h"

#include "engine/extract/secret_numbers.h"

/*
 * All literals of all rows by their first two bytes in small letters: a bit for each pair tells
 * whether a row begins so, and a chain has those that share a bucket.
 */
enum { PAIRS = 1 << 16, BUCKETS = 1024 };

static const struct secret_row rows[] = {
#define KEYS(LITERALS, LEAST) {LITERALS, SECRET_KEYS, LEAST, NULL},
#include "engine/extract/secrets.def"
#define SHAPE(LITERALS, REGEX) {LITERALS, SECRET_SHAPE, 0, "\\G" REGEX},
#include "engine/extract/secrets.def"
#define PASSWORD(LITERALS) {LITERALS, SECRET_PASSWORD, 0, NULL},
#define DIGITS(LITERALS, LEAST) {LITERALS, SECRET_DIGITS, LEAST, NULL},
#define CODES(LITERALS) {LITERALS, SECRET_CODES, 0, NULL},
#define SEED(LITERALS) {LITERALS, SECRET_SEED, 0, NULL},
#define NAMED_KEY(LITERALS) {LITERALS, SECRET_NAMED_KEY, 0, NULL},
#define WEAK_KEY(LITERALS) {LITERALS, SECRET_WEAK_KEY, 0, NULL},
#define PERSONAL(LITERALS) {LITERALS, SECRET_PERSONAL, 0, NULL},
#define NUMBERED(LITERALS, NUMBER) {LITERALS, SECRET_NUMBERED, SECRET_##NUMBER, NULL},
#include "lang/secret_names.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

struct literal {
    str text;
    uint32_t next; /* of the same bucket, plus one */
    uint32_t row;
};

struct secret_table {
    struct literal *v;
    uint64_t pairs[PAIRS / 64];
    uint32_t buckets[BUCKETS]; /* the first literal, plus one */
    struct pattern *patterns[ROWS];
};

static unsigned char lower_of(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 'a' - 'A') : c;
}

static uint32_t pair_of(unsigned char first, unsigned char second)
{
    return (uint32_t)lower_of(first) << 8 | lower_of(second);
}

static uint32_t bucket_of(uint32_t pair)
{
    return (pair * 2654435761u >> 16) % BUCKETS;
}

static void literal_add(struct secret_table *t, uint32_t i, str text, uint32_t row)
{
    uint32_t pair = pair_of((unsigned char)text.p[0], (unsigned char)text.p[1]);
    uint32_t *bucket = &t->buckets[bucket_of(pair)];
    t->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
    t->v[i] = (struct literal){text, *bucket, row};
    *bucket = i + 1;
}

struct secret_table *secret_table_new(void)
{
    struct secret_table *t = heap_alloc(sizeof *t);
    size_t n = 0;
    *t = (struct secret_table){0};
    for (size_t i = 0; i < ROWS; i++)
        for (str rest = str_of(rows[i].literals); rest.n; n++)
            str_cut(&rest, '|');
    t->v = heap_alloc(n * sizeof *t->v);
    n = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        t->patterns[i] = rows[i].regex ? pattern_new(rows[i].regex) : NULL;
        for (str rest = str_of(rows[i].literals); rest.n;)
            literal_add(t, (uint32_t)n++, str_trim(str_cut(&rest, '|')), i);
    }
    return t;
}

void secret_table_free(struct secret_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < ROWS; i++)
        pattern_free(t->patterns[i]);
    free(t->v);
    free(t);
}

bool secret_may_begin(const struct secret_table *t, unsigned char first, unsigned char second)
{
    uint32_t pair = pair_of(first, second);
    return t->pairs[pair / 64] >> pair % 64 & 1;
}

/* Bytes of the text that the literal takes; 0: it is another one. Keys are compared as they are. */
static size_t literal_length(str text, size_t at, str literal, bool is_exact)
{
    size_t i = at;
    for (size_t k = 0; k < literal.n; k++) {
        char c = literal.p[k];
        bool is_there = i < text.n;
        if (c == ' ' && is_there && char_is_one_of(text.p[i], " _-"))
            i++;
        else if (is_there && (text.p[i] == c || (!is_exact && lower_of((unsigned char)text.p[i]) ==
                                                                  lower_of((unsigned char)c))))
            i++;
        else if (c != ' ')
            return 0;
    }
    return i - at;
}

bool secret_name_at(const struct secret_table *t, str text, size_t at, uint32_t *state,
                    struct secret_name *out)
{
    if (at + 1 >= text.n)
        return false;
    uint32_t pair = pair_of((unsigned char)text.p[at], (unsigned char)text.p[at + 1]);
    for (uint32_t i = *state ? t->v[*state - 1].next : t->buckets[bucket_of(pair)]; i;
         i = t->v[i - 1].next) {
        const struct literal *l = &t->v[i - 1];
        const struct secret_row *row = &rows[l->row];
        size_t n = literal_length(text, at, l->text, row->kind == SECRET_KEYS);
        if (!n)
            continue;
        *state = i;
        *out = (struct secret_name){row, t->patterns[l->row], at, at + n};
        return true;
    }
    return false;
}
