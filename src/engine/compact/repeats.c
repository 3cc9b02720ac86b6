/* repeats.c - one line in place of several memories that repeat each other. */
#include "base/utf8.h"
#include "core/tokens.h"
#include "engine/compact/compact.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "lang/repeats_lists.h"
#include "words/words.h"

/*
 * A sentence goes when another one is the same word by word, or begins with all of it and adds to
 * it: "I take the tram." beside "I take the tram to work." Articles and stress do not count, and
 * "I" is the same as "the user". Every other sentence stays, so no name, number or wish is lost.
 *
 * Data: each memory is cut into lines (sentences). Two sorted lists lead from wording to line:
 * `whole` by all words of a line, `opening` by each beginning of it. A line whose hash is in one of
 * them is said by another line and goes; its memory and the other's join one group (union-find in
 * parent[]), which becomes one summary. Cost: the words are sorted once, so 20,000 memories take no
 * quadratic time.
 *
 * WORDS_LEAST: "I agree." twice is no repetition of a fact. WORDS_MAX: long lines are kept without
 * comparing. KEY_LEAST: letters of a part of a key that must be in the text.
 */
enum { WORDS_MAX = 60, WORDS_LEAST = 3, TOKEN_BYTES = 4, KEY_LEAST = 3 };

#define NOWHERE SIZE_MAX

struct line {
    str text;
    size_t owner; /* its memory */
    size_t said;  /* the line that says the same and stays, or NOWHERE */
    struct words words;
    uint64_t hash; /* of all that counts; 0: too short or long to be compared */
};

/* From the hash of a line, or of the words it begins with, to the line. */
struct wording {
    int64_t hash; /* sought by doc_place */
    size_t line, words;
};
struct wordings {
    struct wording *v;
    size_t n, cap;
};

struct repeats {
    struct arena *a;
    const struct memory *v;
    size_t n;
    struct line *lines;
    size_t n_lines, cap;
    size_t *parent, *bytes, *members; /* of each memory; the last two count at the root */
    struct wordings whole, opening;
};

/* --- lines --- */

/* "the", "really" and the like change no fact. */
static bool counts(const struct word *w)
{
    return !lexicon_is(w->text, LEX_ARTICLE | LEX_STRESS);
}

/* Order counts: "Ana likes Ben" is not "Ben likes Ana". */
static uint64_t mix(uint64_t hash, const struct word *w)
{
    uint64_t term =
        lexicon_is(w->text, LEX_USER) || str_eq_nocase(w->text, S("i")) ? 1 : str_hash(w->stem);
    return (hash ^ term) * 0x9E3779B97F4A7C15u + (hash >> 29) + 1;
}

/* Also counts the bytes of its memory, which decide whether a group still fits into a summary. */
static void add_line(struct repeats *r, size_t owner, str text)
{
    struct line line = {.text = str_trim(text), .owner = owner, .said = NOWHERE};
    size_t n = 0;
    if (!line.text.n)
        return;
    line.words = words_of(r->a, line.text, WORDS_MAX + 1);
    for (size_t i = 0; i < line.words.n; i++) {
        n += counts(&line.words.v[i]);
        line.hash = counts(&line.words.v[i]) ? mix(line.hash, &line.words.v[i]) : line.hash;
    }
    if (n < WORDS_LEAST || line.words.n > WORDS_MAX)
        line.hash = 0;
    ARENA_ADD(r->a, r->lines, r->n_lines, r->cap) = line;
    r->bytes[owner] += line.text.n + 1;
}

/* What is found of a hash: of all words the first line, of an opening the longest. */
ORDER(by_hash, struct wording, UP(hash) ?: DOWN(words) ?: UP(line));

/* Every line that is compared is in both lists. */
static struct wording *wording_of(const struct wordings *list, uint64_t hash)
{
    return &list->v[doc_place(list->v, list->n, sizeof *list->v, (int64_t)hash)];
}

static void enter_line(struct repeats *r, size_t at)
{
    const struct words *w = &r->lines[at].words;
    uint64_t hash = 0;
    for (size_t i = 0; r->lines[at].hash && i < w->n; i++)
        if (counts(&w->v[i])) {
            hash = mix(hash, &w->v[i]);
            ARENA_ADD(r->a, r->opening.v, r->opening.n, r->opening.cap) =
                (struct wording){(int64_t)hash, at, w->n};
        }
    if (hash)
        ARENA_ADD(r->a, r->whole.v, r->whole.n, r->whole.cap) =
            (struct wording){(int64_t)hash, at, 0};
}

/* --- which line says another --- */

/* "I live in Bonn" is not in "I live in Bonn no longer", nor in "I live in Bonn until May". */
static bool only_adds(const struct line *more, const struct line *less)
{
    const struct word *v = more->words.v + less->words.n;
    return !SOME(i, more->words.n - less->words.n,
                 lexicon_is(v[i].text, LEX_NEGATION | LEX_NEGATED) ||
                     str_is_one_of(v[i].text, turning_words));
}

/* The same wording first, then a longer line that begins so. The longest of these stays. */
static size_t said_by(const struct repeats *r, size_t at)
{
    const struct line *line = &r->lines[at];
    if (!line->hash)
        return NOWHERE;
    size_t same = wording_of(&r->whole, line->hash)->line;
    if (same != at)
        return same;
    size_t more = wording_of(&r->opening, line->hash)->line;
    bool is_more = more != at && r->lines[more].words.n > line->words.n;
    return is_more && only_adds(&r->lines[more], line) ? more : NOWHERE;
}

/* --- groups of memories --- */

/* Union-find with halving of the path. */
static size_t root_of(struct repeats *r, size_t i)
{
    while (r->parent[i] != i)
        i = r->parent[i] = r->parent[r->parent[i]];
    return i;
}

bool are_alike(const struct memory *x, const struct memory *y)
{
    return x->type == y->type && str_eq(x->category, y->category);
}

/* The line goes when both memories may be in one summary. When that is full, or the memories are of
 * different kinds, the line stays, and later ones go for this one. */
static void drop_line(struct repeats *r, size_t at, size_t for_line)
{
    struct line *line = &r->lines[at];
    size_t x = root_of(r, line->owner), y = root_of(r, r->lines[for_line].owner);
    size_t bytes = r->bytes[x] + (x == y ? 0 : r->bytes[y]) - (line->text.n + 1);
    size_t members = r->members[x] + (x == y ? 0 : r->members[y]);
    bool fits = members <= SUMMARY_MEMBERS && bytes <= (size_t)SUMMARY_TOKENS * TOKEN_BYTES;
    if (x != y && (!fits || !are_alike(&r->v[x], &r->v[y]))) {
        wording_of(&r->whole, line->hash)->line = at;
        return;
    }
    line->said = for_line;
    r->parent[x] = y;
    r->bytes[y] = bytes;
    r->members[y] = members;
}

/* --- the text --- */

/* One line, whatever breaks are in it. */
static str in_one_line(struct arena *a, str text)
{
    char *p = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i] == '\n' || text.p[i] == '\r' || text.p[i] == '\t' ? ' ' : text.p[i];
        if (c != ' ' || (n && p[n - 1] != ' '))
            p[n++] = c;
    }
    return str_trim((str){p, n});
}

/* A key such as "wifi" that a caller chose may be the only place where the topic stands. */
static bool needs_key(struct arena *a, const struct memory *m)
{
    str lower = utf8_lower(a, m->content);
    size_t known = 0, all = 0, i = 0;
    str sort = str_printf(a, S_FMT ":", S_ARG(m->category)); /* rules begin their keys with it */
    if (m->origin == ORIGIN_USER || m->origin == ORIGIN_DISTILLED ||
        (m->category.n && str_starts(m->key, sort)))
        return false;
    str key = utf8_lower(a, m->key);
    while (i < key.n) {
        size_t from = i;
        while (i < key.n && !char_is_one_of(key.p[i], "_-.:/ "))
            i++;
        str word = str_sub(key, from, i++);
        if (word.n < KEY_LEAST)
            continue;
        all++;
        known += str_find(lower, word) < lower.n;
    }
    return all > 0 && known * 2 < all;
}

/* What is left of one memory; *at goes behind its lines. */
static str left_of(struct repeats *r, size_t owner, size_t *at)
{
    const struct memory *m = &r->v[owner];
    struct buf b = buf_make(r->a, m->content.n + 256);
    for (; *at < r->n_lines && r->lines[*at].owner == owner; (*at)++) {
        if (r->lines[*at].said != NOWHERE)
            continue;
        if (b.n)
            buf_byte(&b, ' ');
        buf_add(&b, in_one_line(r->a, r->lines[*at].text));
    }
    if (!b.n || !needs_key(r->a, m))
        return buf_str(&b);
    return str_printf(r->a, S_FMT ": " S_FMT, S_ARG(in_one_line(r->a, m->key)), S_ARG(buf_str(&b)));
}

static void add_member(struct repeats *r, struct condensed *c, size_t owner, str left)
{
    const struct memory *m = &r->v[owner];
    if (!c->v)
        c->v = NEW_N(r->a, const struct memory *, r->members[root_of(r, owner)]);
    c->v[c->n++] = m;
    c->before += tokens_of(m->content);
    if (left.n)
        c->text =
            c->text.n ? str_printf(r->a, S_FMT "\n" S_FMT, S_ARG(c->text), S_ARG(left)) : left;
}

/* Groups in the order of their oldest memory; those that save nothing are left out. */
static void write_groups(struct repeats *r, struct condensed **out, size_t *n_out)
{
    struct condensed *groups = NEW_N(r->a, struct condensed, r->n + 1);
    bool *drops = NEW_N(r->a, bool, r->n + 1);
    size_t at = 0, kept = 0;
    for (size_t i = 0; i < r->n_lines; i++)
        drops[root_of(r, r->lines[i].owner)] |= r->lines[i].said != NOWHERE;
    for (size_t i = 0; i < r->n; i++) {
        str left = left_of(r, i, &at);
        if (drops[root_of(r, i)])
            add_member(r, &groups[root_of(r, i)], i, left);
    }
    for (size_t i = 0; i < r->n; i++) {
        groups[i].after = tokens_of(groups[i].text);
        groups[i].by = S("rule");
        if (groups[i].n && groups[i].after < groups[i].before)
            groups[kept++] = groups[i];
    }
    *out = groups;
    *n_out = kept;
}

/* Pure text work in the arena; v must outlive the groups, which point into it. */
void condense_repeats(struct arena *a, const struct memory *v, size_t n, struct condensed **out,
                      size_t *n_out)
{
    struct repeats r = {.a = a, .v = v, .n = n};
    struct sentence s;
    r.parent = NEW_N(a, size_t, n + 1);
    r.bytes = NEW_N(a, size_t, n + 1);
    r.members = NEW_N(a, size_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        r.parent[i] = i;
        r.members[i] = 1;
        for (str rest = v[i].content; sentence_cut(&rest, &s);)
            add_line(&r, i, s.text);
    }
    for (size_t i = 0; i < r.n_lines; i++)
        enter_line(&r, i);
    SORT(r.whole.v, r.whole.n, by_hash);
    SORT(r.opening.v, r.opening.n, by_hash);
    for (size_t i = 0; i < r.n_lines; i++) {
        size_t by = said_by(&r, i);
        if (by != NOWHERE)
            drop_line(&r, i, by);
    }
    write_groups(&r, out, n_out);
}
