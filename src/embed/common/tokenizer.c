/* tokenizer.c - BERT's normaliser and pre-tokeniser, and WordPiece over a hash table. */
#include "embed/common/tokenizer.h"

#include <utf8proc.h>

#include "base/files.h"
#include "base/json.h"
#include "base/utf8.h"

/*
 * Each rule here is one of the reference implementation, also where it seems odd (accents, Chinese
 * characters, the limit of a word's characters): other ids give other vectors, without an error.
 *
 * WordPiece (used by BERT) takes the longest known piece from the front of a word, then the longest
 * inner piece from the rest, and so on. A word costs at most its length times the longest piece;
 * the vocabulary is a hash table that never changes after reading, so any thread may use it.
 *
 * WORD_CHARS_MAX bounds what a file may claim and the buffer of a word; 100 is the usual value. A
 * piece's length is stored in one byte.
 */
enum { FILE_MAX = 8 << 20, WORD_CHARS_MAX = 1000, PIECE_MAX = 255 };

/* A token of the vocabulary. An inner token continues a word ("##ing"), here without the marks. */
struct piece {
    uint32_t at; /* in bytes */
    uint32_t id;
    uint8_t n; /* 0: a free slot */
    bool inner;
};

struct tokenizer {
    struct piece *pieces; /* open addressing with linear probing */
    size_t mask;
    char *bytes;    /* of all pieces */
    size_t longest; /* piece, in bytes */
    uint32_t unknown, greatest;
    size_t word_chars; /* a longer word is unknown */
    bool clean, spaced_han, bare, lower;
};

/* --- the table of pieces --- */

/* FNV-1a, since one pass over a word gives the hash of each of its prefixes. */
static const uint64_t outer_seed = 0xcbf29ce484222325, inner_seed = 0x9e3779b97f4a7c15;

static uint64_t hash_on(uint64_t h, char c)
{
    return (h ^ (unsigned char)c) * 0x100000001b3;
}

static uint64_t hash_of(str s, bool inner)
{
    uint64_t h = inner ? inner_seed : outer_seed;
    for (size_t i = 0; i < s.n; i++)
        h = hash_on(h, s.p[i]);
    return h;
}

/* The slot of the piece, or the free slot for it. */
static struct piece *place_of(const struct tokenizer *t, str s, bool inner, uint64_t hash)
{
    for (size_t i = (hash ^ hash >> 32) & t->mask;; i = (i + 1) & t->mask) {
        struct piece *p = &t->pieces[i];
        if (!p->n || (p->n == s.n && p->inner == inner && !memcmp(t->bytes + p->at, s.p, s.n)))
            return p;
    }
}

uint32_t tokenizer_id(const struct tokenizer *t, str token)
{
    if (!token.n || token.n > PIECE_MAX)
        return TOKEN_NONE;
    const struct piece *p = place_of(t, token, false, hash_of(token, false));
    return p->n ? p->id : TOKEN_NONE;
}

/* For callers to check against the rows of their table: no id may lead out of it. */
uint32_t tokenizer_greatest(const struct tokenizer *t)
{
    return t->greatest;
}

/* --- reading a vocabulary --- */

/* Room for n pieces with so many bytes in all. */
static void make_table(struct tokenizer *t, size_t n, size_t bytes)
{
    size_t places = 64;
    while (places < n * 2)
        places *= 2;
    t->mask = places - 1;
    t->pieces = heap_alloc(places * sizeof *t->pieces);
    t->bytes = heap_alloc(bytes + 1);
    assert(n <= t->mask); /* a free slot ends every search */
}

/* Empty and over-long pieces cannot match a word, so they only count for the greatest id. */
static void add_piece(struct tokenizer *t, str s, uint32_t id, str prefix, uint32_t *at)
{
    bool inner = prefix.n && s.n > prefix.n && str_starts(s, prefix);
    if (inner)
        s = str_sub(s, prefix.n, s.n);
    t->greatest = id > t->greatest ? id : t->greatest;
    if (!s.n || s.n > PIECE_MAX)
        return;
    struct piece *p = place_of(t, s, inner, hash_of(s, inner));
    if (!p->n) {
        memcpy(t->bytes + *at, s.p, s.n);
        *p = (struct piece){.at = *at, .n = (uint8_t)s.n, .inner = inner};
        *at += (uint32_t)s.n;
    }
    p->id = id;
    t->longest = s.n > t->longest ? s.n : t->longest;
}

static enum status find_unknown(struct ctx *ctx, struct tokenizer *t, str token)
{
    t->unknown = tokenizer_id(t, token);
    if (t->unknown == TOKEN_NONE)
        return fail(ctx, BAD_INPUT, "the tokenizer has no token for unknown words");
    return OK;
}

static enum status read_vocabulary(struct ctx *ctx, struct tokenizer *t, const struct json *model)
{
    const struct json *vocab = json_get(model, "vocab");
    str prefix = json_string(json_get(model, "continuing_subword_prefix"));
    if (!vocab || vocab->type != JSON_OBJECT || !vocab->n)
        return fail(ctx, BAD_INPUT, "the tokenizer has no vocabulary");
    make_table(t, (size_t)vocab->n, vocab->source.n);
    uint32_t at = 0;
    for (const struct json *entry = vocab->first; entry; entry = entry->next) {
        int64_t id = entry->type == JSON_NUMBER ? json_int_or(entry, -1) : -1;
        if (id < 0 || id >= INT32_MAX)
            return fail(ctx, BAD_INPUT, "the token '" S_FMT "' has no valid id",
                        S_ARG(json_name(entry)));
        add_piece(t, json_name(entry), (uint32_t)id, prefix, &at);
    }
    return find_unknown(ctx, t, json_string(json_get(model, "unk_token")));
}

/* --- reading tokenizer.json --- */

/* Other kinds of tokenizers would silently give other ids, and so wrong vectors. */
static enum status check_kind(struct ctx *ctx, const struct json *root, const char *part,
                              const char *want)
{
    str kind = json_string(json_get(json_get(root, part), "type"));
    if (str_is(kind, want))
        return OK;
    return fail(ctx, UNSUPPORTED, "the tokenizer's %s is '" S_FMT "'; only %s is supported", part,
                S_ARG(kind), want);
}

static enum status read_all(struct ctx *ctx, struct tokenizer *t, str text)
{
    struct json *root;
    TRY(json_parse(ctx, text, &root));
    TRY(check_kind(ctx, root, "normalizer", "BertNormalizer"));
    TRY(check_kind(ctx, root, "pre_tokenizer", "BertPreTokenizer"));
    TRY(check_kind(ctx, root, "model", "WordPiece"));
    const struct json *n = json_get(root, "normalizer"), *model = json_get(root, "model");
    const struct json *accents = json_get(n, "strip_accents");
    int64_t chars = json_int_or(json_get(model, "max_input_chars_per_word"), 100);
    if (chars < 1 || chars > WORD_CHARS_MAX)
        return fail(ctx, BAD_INPUT, "max_input_chars_per_word must be 1 to %d", WORD_CHARS_MAX);
    t->word_chars = (size_t)chars;
    t->clean = json_is_true(json_get(n, "clean_text"));
    t->spaced_han = json_is_true(json_get(n, "handle_chinese_chars"));
    t->lower = json_is_true(json_get(n, "lowercase"));
    t->bare = accents && accents->type == JSON_BOOL ? accents->truth : t->lower;
    return read_vocabulary(ctx, t, model);
}

void tokenizer_free(struct tokenizer *t)
{
    if (!t)
        return;
    free(t->pieces);
    free(t->bytes);
    free(t);
}

static enum status end_reading(struct tokenizer *t, enum status s, struct tokenizer **out)
{
    if (s == OK)
        *out = t;
    else
        tokenizer_free(t);
    return s;
}

enum status tokenizer_read(struct ctx *ctx, str json, struct tokenizer **out)
{
    struct tokenizer *t = heap_alloc(sizeof *t);
    return end_reading(t, read_all(ctx, t, json), out);
}

enum status tokenizer_open(struct ctx *ctx, const char *path, struct tokenizer **out)
{
    str text;
    TRY(file_read(ctx, path, FILE_MAX, &text));
    return tokenizer_read(ctx, text, out);
}

enum status tokenizer_of_lines(struct ctx *ctx, str lines, struct tokenizer **out)
{
    struct tokenizer *t = heap_alloc(sizeof *t);
    uint32_t at = 0, id = 0;
    size_t n = 0;
    for (size_t i = 0; i < lines.n; i++)
        n += lines.p[i] == '\n';
    t->word_chars = 100;
    t->clean = t->spaced_han = t->bare = t->lower = true;
    make_table(t, n + 1, lines.n);
    while (lines.n)
        add_piece(t, str_cut(&lines, '\n'), id++, S("##"), &at);
    return end_reading(t, find_unknown(ctx, t, S("[UNK]")), out);
}

/* --- characters --- */

/* Chinese characters, each a word. The ranges are BERT's. */
static bool is_han(int32_t c)
{
    static const struct {
        int32_t from, to;
    } ranges[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                  {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
    if (c < 0x3400)
        return false;
    return SOME(i, sizeof ranges / sizeof *ranges, c >= ranges[i].from && c <= ranges[i].to);
}

enum kind { KIND_WORD, KIND_SPACE, KIND_MARK, KIND_PUNCTUATION, KIND_CONTROL };

/* ASCII has a fast path, as it is most of every text. */
static enum kind kind_of_ascii(int32_t c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        return KIND_WORD;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return KIND_SPACE;
    return c < ' ' || c == 0x7F ? KIND_CONTROL : KIND_PUNCTUATION;
}

/* By Unicode's general categories, as BERT sorts them. A symbol is punctuation in ASCII ("$", "+")
 * and a letter elsewhere ("€"). */
static enum kind kind_of(int32_t c)
{
    if (c < 0x80)
        return kind_of_ascii(c);
    utf8proc_category_t of = utf8proc_category(c);
    if (of >= UTF8PROC_CATEGORY_ZS && of <= UTF8PROC_CATEGORY_ZP)
        return KIND_SPACE;
    if (of >= UTF8PROC_CATEGORY_PC && of <= UTF8PROC_CATEGORY_PO)
        return KIND_PUNCTUATION;
    if (of >= UTF8PROC_CATEGORY_CC || of == UTF8PROC_CATEGORY_CN)
        return KIND_CONTROL;
    return of == UTF8PROC_CATEGORY_MN ? KIND_MARK : KIND_WORD;
}

/* --- words and their pieces --- */

struct reading {
    const struct tokenizer *t;
    uint32_t *out;
    size_t n, max;
    bool with_unknown;
    size_t bytes, chars; /* of the word so far, up to word_chars */
    char word[WORD_CHARS_MAX * 4];
};

/* Ids beyond max are dropped; the caller's loop ends soon after. */
static void push_id(struct reading *r, uint32_t id)
{
    if (r->n < r->max && (r->with_unknown || id != r->t->unknown))
        r->out[r->n++] = id;
}

/* The length of the longest piece that is a prefix of rest; 0: no piece. A prefix that would cut a
 * UTF-8 character is skipped. */
static size_t longest_piece(const struct tokenizer *t, str rest, bool inner, uint32_t *id)
{
    uint64_t hashes[PIECE_MAX], h = inner ? inner_seed : outer_seed;
    size_t n = rest.n < t->longest ? rest.n : t->longest;
    for (size_t i = 0; i < n; i++)
        hashes[i] = h = hash_on(h, rest.p[i]);
    for (; n; n--) {
        if (n < rest.n && ((unsigned char)rest.p[n] & 0xC0) == 0x80)
            continue;
        const struct piece *p = place_of(t, str_sub(rest, 0, n), inner, hashes[n - 1]);
        if (p->n) {
            *id = p->id;
            return n;
        }
    }
    return 0;
}

/* A word that cannot be split into known pieces is unknown as a whole. */
static void end_word(struct reading *r)
{
    str rest = {r->word, r->bytes};
    size_t before = r->n;
    bool is_known = r->chars <= r->t->word_chars;
    for (bool inner = false; is_known && rest.n; inner = true) {
        uint32_t id = 0;
        size_t n = longest_piece(r->t, rest, inner, &id);
        is_known = n > 0;
        push_id(r, id);
        rest = str_sub(rest, n, rest.n);
    }
    if (!is_known) {
        r->n = before;
        push_id(r, r->t->unknown);
    }
    r->bytes = r->chars = 0;
}

/* Characters over the limit are counted but not kept: the word is unknown then. */
static void add_to_word(struct reading *r, int32_t c)
{
    if (++r->chars > r->t->word_chars)
        return;
    assert(r->bytes + 4 <= sizeof r->word);
    if (c < 0x80)
        r->word[r->bytes++] = (char)c;
    else
        r->bytes += (size_t)utf8proc_encode_char(c, (utf8proc_uint8_t *)r->word + r->bytes);
}

/* One normalised character: white space ends a word, punctuation is a word. */
static void split_character(struct reading *r, int32_t c, enum kind kind)
{
    if (kind == KIND_SPACE) {
        end_word(r);
    } else if (kind == KIND_PUNCTUATION) {
        end_word(r);
        add_to_word(r, c);
        end_word(r);
    } else {
        add_to_word(r, c);
    }
}

/* A character outside ASCII: decomposed, without accents, in lower case. A canonical decomposition
 * has at most four parts. */
static void normalise_character(struct reading *r, int32_t c)
{
    enum { PARTS_MAX = 8 };
    utf8proc_int32_t parts[PARTS_MAX] = {c};
    utf8proc_ssize_t n = 1;
    if (r->t->bare) {
        int boundary = 0;
        n = utf8proc_decompose_char(c, parts, PARTS_MAX, UTF8PROC_DECOMPOSE, &boundary);
        n = n > PARTS_MAX || n < 0 ? 0 : n;
    }
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        enum kind kind = kind_of(parts[i]);
        if (r->t->bare && kind == KIND_MARK)
            continue;
        split_character(r, r->t->lower ? utf8proc_tolower(parts[i]) : parts[i], kind);
    }
}

static void take_ascii(struct reading *r, int32_t c)
{
    enum kind kind = kind_of_ascii(c);
    if (kind == KIND_CONTROL && r->t->clean)
        return;
    if (r->t->lower && c >= 'A' && c <= 'Z')
        c += 'a' - 'A';
    split_character(r, c, kind);
}

/* clean drops control characters and U+FFFD, as the reference does. Other programs mark undecodable
 * bytes with the latter. */
static void take_character(struct reading *r, int32_t c)
{
    if (r->t->clean && (c == 0xFFFD || kind_of(c) == KIND_CONTROL))
        return;
    bool alone = r->t->spaced_han && is_han(c);
    if (alone)
        end_word(r);
    normalise_character(r, c);
    if (alone)
        end_word(r);
}

/* The struct is set member by member: zeroing its word buffer would cost more than a short text. */
size_t tokenizer_ids(const struct tokenizer *t, str text, bool with_unknown, uint32_t *out,
                     size_t max)
{
    struct reading r;
    r.t = t;
    r.out = out;
    r.max = max;
    r.with_unknown = with_unknown;
    r.n = r.bytes = r.chars = 0;
    for (size_t i = 0, n; i < text.n && r.n < max; i += n) {
        int32_t c = utf8_at(text, i, &n);
        if (c >= 0x80)
            take_character(&r, c);
        else if (c >= 0)
            take_ascii(&r, c);
    }
    end_word(&r);
    return r.n;
}
