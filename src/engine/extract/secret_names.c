/* secret_names.c - finds the beginnings of keys and the names of secrets in a text. */
#include "engine/extract/secret_names.h"

#include <limits.h>

#include "base/once.h"
#include "engine/text/bytes.h"

/* All literals of all rows by their first bytes in small letters: a bit for each hash of three
 * tells whether a row may begin so, and a chain has those that share a bucket of two. */
enum { TRIPLE_BITS = 16, BUCKETS = 1024 };

/* What stands behind a name in the same sentence, some words away at most. */
#define REACH_WITHOUT(WHAT)                                                                        \
    "\\G(?:" WHAT "[^\\n.!?]|(?<=no|nr)\\.|\\.(?!\\s)){0,40}?(?<![A-Za-z0-9])"
#define REACH REACH_WITHOUT("")
#define NO_DATE "(?!\\d{4}-\\d\\d-\\d\\d|\\d\\d?[./-]\\d\\d?[./-]\\d{4}|\\d\\d?/\\d{4})"
#define WORD_ENDS "(?![A-Za-z0-9])"
#define PAPER_REGEX                                                                                \
    REACH NO_DATE                                                                                  \
        "((?-i:(?=(?:[A-Z -]*\\d){4})[A-Z0-9](?:(?:[ -](?=\\d|[A-Z]\\b)|[A-Z0-9]){5,12}|"          \
        "[A-Z0-9]{13,20})))" WORD_ENDS
/* An IBAN is found by itself, and whole. */
#define NUMBER_REGEX                                                                               \
    REACH_WITHOUT("(?!(?-i:[A-Z]{2}\\d\\d [A-Z\\d]{4} [A-Z\\d]{4} ))")                             \
    NO_DATE "(\\d(?:[ ./-]?\\d){7,17})" WORD_ENDS
#define DNI_REGEX REACH "((?-i:(?:\\d\\d\\.?\\d{3}\\.?\\d{3}|[XYZ]-?\\d{7})[ -]?[A-Z]))" WORD_ENDS
/* The words of all lists for these have 3 to 8 letters. */
#define SEED_REGEX                                                                                 \
    "\\G[^!?]{0,40}?(?<![a-z])((?-i:(?:(?!(?:the|and|for|are|was|has|not|with|from)\\b)"           \
    "[a-z]{3,8}(?![a-z])[\\s\\d,;.)*-]+){11,23}[a-z]{3,8}))" WORD_ENDS
/* One of several: bullets, numbers and commas are between them. */
#define CODES_REGEX                                                                                \
    "\\G[\\s,;*•.)(\"'`-]*(?:\\d{1,2}[.)]?\\s+)?((?=[\\w-]*\\d|\\w+-\\w)\\w[\\w-]{4,})"

static const struct secret_row rows[] = {
#define NUMBERS(REGEX) {"", SECRET_NUMBERS, 0, "\\G" REGEX},
#include "engine/extract/secrets.def"
#define KEYS(LITERALS, LEAST) {LITERALS, SECRET_KEYS, LEAST, NULL},
#define BLOCK(LITERALS, REGEX) {LITERALS, SECRET_BLOCK, 0, "\\G" REGEX},
#define SHAPE(LITERALS, REGEX) {LITERALS, SECRET_SHAPE, 0, "\\G" REGEX},
#include "engine/extract/secrets.def"
#define PASSWORD(LITERALS) {LITERALS, SECRET_PASSWORD, 0, NULL},
#define PIN(LITERALS, LEAST) {LITERALS, SECRET_PIN, LEAST, NULL},
#define SEED(LITERALS)                                                                             \
    {LITERALS, SECRET_NAMED, 0, SEED_REGEX}, {LITERALS, SECRET_PASSWORD, 0, NULL},
#define NAMED_KEY(LITERALS) {LITERALS, SECRET_NAMED_KEY, 0, NULL},
#define WEAK_KEY(LITERALS) {LITERALS, SECRET_WEAK_KEY, 0, NULL},
#define CODES(LITERALS) {LITERALS, SECRET_CODES, 0, CODES_REGEX},
#define PAPER(LITERALS) {LITERALS, SECRET_NAMED, 0, PAPER_REGEX},
#define NUMBER(LITERALS) {LITERALS, SECRET_NAMED, 0, NUMBER_REGEX},
#define DNI(LITERALS) {LITERALS, SECRET_NAMED, 0, DNI_REGEX},
#include "lang/secret_names.def"
};

enum { NUMBERS_ROW, ROWS = sizeof rows / sizeof *rows };

struct literal {
    str text;
    uint32_t next; /* of the same bucket, plus one */
    uint32_t row;
};

struct secret_table {
    struct literal *v;
    uint64_t triples[(1 << TRIPLE_BITS) / 64];
    uint32_t buckets[BUCKETS];       /* the first literal, plus one */
    struct pattern *const *patterns; /* of the rows */
};

static uint32_t pair_of(char first, char second)
{
    return (uint32_t)(unsigned char)ascii_lower(first) << 8 | (unsigned char)ascii_lower(second);
}

static uint32_t bucket_of(uint32_t pair)
{
    return (pair * 2654435761u >> 16) % BUCKETS;
}

static uint32_t triple_of(uint32_t pair, char third)
{
    return ((pair << 8 | (unsigned char)ascii_lower(third)) * 2654435761u) >> (32 - TRIPLE_BITS);
}

static bool may_begin(const struct secret_table *t, str text, size_t at)
{
    uint32_t triple =
        triple_of(pair_of(text.p[at], text.p[at + 1]), at + 2 < text.n ? text.p[at + 2] : '\0');
    return t->triples[triple / 64] >> triple % 64 & 1;
}

/* A blank stands for nothing, too, so that any byte may be the third. */
static void literal_add(struct secret_table *t, uint32_t i, str text, uint32_t row)
{
    uint32_t pair = pair_of(text.p[0], text.p[1]);
    uint32_t *bucket = &t->buckets[bucket_of(pair)];
    bool is_any = text.n == 2 || text.p[2] == ' ';
    for (int third = is_any ? 0 : (unsigned char)text.p[2];
         third <= (is_any ? UCHAR_MAX : (unsigned char)text.p[2]); third++) {
        uint32_t triple = triple_of(pair, (char)third);
        t->triples[triple / 64] |= UINT64_C(1) << triple % 64;
    }
    t->v[i] = (struct literal){text, *bucket, row};
    *bucket = i + 1;
}

static void *make_table(const void *key, size_t n_rows, size_t size)
{
    struct secret_table *t = heap_alloc(sizeof *t);
    size_t n = 0;
    assert(key == rows && size == sizeof *rows);
    for (size_t i = 0; i < n_rows; i++)
        for (str rest = str_of(rows[i].literals); rest.n; n++)
            str_cut(&rest, '|');
    t->v = heap_alloc(n * sizeof *t->v);
    t->patterns = PATTERNS(rows, regex);
    n = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        for (str rest = str_of(rows[i].literals); rest.n;)
            literal_add(t, (uint32_t)n++, str_trim(str_cut(&rest, '|')), i);
    return t;
}

const struct secret_table *secret_table(void)
{
    return once_of(rows, ROWS, sizeof *rows, make_table);
}

struct pattern *secret_numbers(const struct secret_table *t)
{
    return t->patterns[NUMBERS_ROW];
}

/* Bytes of the text that the literal takes; 0: it is another one. Keys are compared as they are. */
static size_t literal_length(str text, size_t at, str literal, bool is_exact)
{
    size_t i = at;
    for (size_t k = 0; k < literal.n; k++) {
        char c = literal.p[k], there = i < text.n ? text.p[i] : '\0';
        bool fits = c == ' ' ? char_is_one_of(there, " _-")
                             : there == c || (!is_exact && ascii_lower(there) == ascii_lower(c));
        if (!fits && c != ' ')
            return 0;
        i += fits;
    }
    return i - at;
}

enum kind { OTHER, INSIDE, DIGIT, UPPER, LOWER, KINDS };

static enum kind kind_of(char c)
{
    static const unsigned char kinds[UCHAR_MAX + 1] = {['0' ... '9'] = DIGIT,
                                                       ['A' ... 'Z'] = UPPER,
                                                       ['a' ... 'z'] = LOWER,
                                                       [0x80 ... 0xBF] = INSIDE};
    return (enum kind)kinds[(unsigned char)c];
}

/* Secrets begin where a word or a part of an identifier does, and at signs and wide characters. */
size_t secret_next(const struct secret_table *t, str text, size_t from)
{
    static const bool starts[KINDS][KINDS] = {
        [OTHER] = {[OTHER] = true, [DIGIT] = true, [UPPER] = true, [LOWER] = true},
        [INSIDE] = {[OTHER] = true, [DIGIT] = true, [UPPER] = true, [LOWER] = true},
        [DIGIT] = {[OTHER] = true},
        [UPPER] = {[OTHER] = true},
        [LOWER] = {[OTHER] = true, [UPPER] = true},
    };
    enum kind before = from ? kind_of(text.p[from - 1]) : OTHER;
    for (size_t i = from; i + 1 < text.n; i++) {
        enum kind kind = kind_of(text.p[i]);
        if (starts[before][kind] && (kind == DIGIT || kind == UPPER || may_begin(t, text, i)))
            return i;
        before = kind;
    }
    return text.n;
}

bool secret_name_at(const struct secret_table *t, str text, size_t at, uint32_t *state,
                    struct secret_name *out)
{
    if (at + 1 >= text.n || !may_begin(t, text, at))
        return false;
    uint32_t bucket = bucket_of(pair_of(text.p[at], text.p[at + 1]));
    for (uint32_t i = *state ? t->v[*state - 1].next : t->buckets[bucket]; i;
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
