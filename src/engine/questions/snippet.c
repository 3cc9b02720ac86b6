/* snippet.c - the part of a long text that a question is about. */
#include "engine/questions/snippet.h"

#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "engine/text/sentences.h"

/*
 * A text longer than `most` bytes is cut to the stretch that holds most of the question's weight:
 * the marks of all words of the question are collected, and a window slides over them, as in the
 * search for the shortest substring that holds a set: one pass over the text for each word.
 */

enum { DOTS = 3, ENDING_MOST = 5 };

struct mark {
    size_t from, to;
    size_t word; /* of the question */
};

/* Stemming a whole document would cost more than the recall. */
bool word_goes_on(str word, str stem, size_t ending_most)
{
    size_t sure = stem.n > 3 ? stem.n - 1 : stem.n;
    if (!sure || (word.p[0] ^ stem.p[0]) & ~0x20) /* most words begin with another letter */
        return false;
    return word.n >= sure && word.n <= stem.n + ending_most &&
           str_eq_nocase(str_sub(word, 0, sure), str_sub(stem, 0, sure));
}

/* Scripts without spaces and accented words are looked for as they stand, anywhere. */
static bool find_in(str word, str stem, struct mark *m)
{
    if ((unsigned char)stem.p[0] < 0x80)
        return word_goes_on(word, stem, ENDING_MOST);
    size_t at = str_find(word, stem);
    if (at == word.n)
        return false;
    m->from += at;
    m->to = m->from + stem.n;
    return true;
}

static size_t marks_of(struct arena *a, str text, const struct query *q, struct mark **out)
{
    size_t n = 0, cap = 0;
    struct mark *marks = NULL;
    str word;
    for (size_t at = 0; (word = next_word(text, &at)).n;)
        for (size_t k = 0; k < q->n; k++) {
            struct mark m = {at - word.n, at, k};
            if (find_in(word, q->stems[k], &m))
                ARENA_ADD(a, marks, n, cap) = m;
        }
    *out = marks;
    return n;
}

/* The first and last mark of the stretch of at most `most` bytes that weighs most; each word of the
 * question counts once. The earliest of equals. */
static void best_stretch(const struct mark *m, size_t n, const float *weights, size_t most,
                         size_t *first, size_t *last)
{
    size_t held[QUERY_WORDS_MAX] = {0};
    float weight = 0, best = 0;
    for (size_t from = 0, to = 0; to < n; to++) {
        assert(m[to].word < QUERY_WORDS_MAX);
        weight += held[m[to].word]++ ? 0 : weights[m[to].word];
        while (from < to && m[to].to > m[from].from + most) {
            weight -= --held[m[from].word] ? 0 : weights[m[from].word];
            from++;
        }
        /* What stands again further on need not be shown: it would cost the answer its place. */
        while (held[m[from].word] > 1)
            held[m[from++].word]--;
        if (weight > best) {
            best = weight;
            *first = from;
            *last = to;
        }
    }
}

/* White space of ASCII: a cut needs a place that any reader sees. */
static const char blanks[] = " \n\t\r";

/* Moved to the next place between words, if there is one near. */
static size_t between_words(str text, size_t at, size_t near)
{
    for (size_t i = at; i < text.n && i < at + near; i++)
        if (char_is_one_of(text.p[i], blanks))
            return i;
    while (at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80)
        at++;
    return at;
}

str excerpt_of(struct arena *a, str text, const struct query *q, const float *weights, size_t most)
{
    struct mark *marks;
    size_t first = 0, last = 0, room = most - 2 * DOTS;
    if (text.n <= most)
        return text;
    size_t n = marks_of(a, text, q, &marks);
    best_stretch(marks, n, weights, room, &first, &last);
    size_t held = n ? marks[last].to - marks[first].from : 0;
    /* A third of what is left stands before the first word, the rest behind. */
    size_t lead = held < room ? (room - held) / 3 : 0;
    size_t from = n && marks[first].from > lead ? marks[first].from - lead : 0;
    if (from + room > text.n)
        from = text.n - room;
    if (from)
        from = between_words(text, from, lead);
    str part = utf8_cut(str_sub(text, from, text.n), room);
    bool is_end = from + part.n == text.n;
    size_t cut = part.n, least = part.n - part.n / 8;
    while (cut > least && !char_is_one_of(part.p[cut - 1], blanks))
        cut--;
    part.n = !is_end && cut > least ? cut : part.n;
    return str_printf(a, "%s" S_FMT "%s", from ? "…" : "", S_ARG(str_trim(part)),
                      is_end ? "" : "…");
}

/* --- passages --- */

enum { PIECES_MAX = 512 };

/* A sentence, a line, or a part of a long sentence; all pieces together are the text. */
struct piece {
    size_t from, to;
    bool opens;    /* a sentence or a line begins here */
    uint32_t said; /* one bit of each word of the question */
};
static_assert(QUERY_WORDS_MAX <= 32, "struct piece has a bit for each word");

/* Where the piece at `from` ends: with its line, or behind a comma of too long a sentence. */
static size_t piece_end(str text, size_t from, size_t sentence_end, bool is_long)
{
    size_t end = from;
    while (end < sentence_end && char_is_one_of(text.p[end], blanks))
        end++;
    for (; end < sentence_end && text.p[end] != '\n'; end++)
        if (is_long && char_is_one_of(text.p[end], ",;:") && end + 1 < sentence_end &&
            char_is_one_of(text.p[end + 1], blanks))
            return end + 1;
    return end;
}

static size_t pieces_of(str text, size_t most, struct piece *out)
{
    struct sentence s;
    size_t n = 0, at = 0, end = 0;
    for (str rest = text; sentence_cut(&rest, &s);) {
        bool is_first = true;
        for (end += s.text.n; at < end && n < PIECES_MAX; n++) {
            size_t to = n + 1 == PIECES_MAX ? text.n : piece_end(text, at, end, s.text.n > most);
            out[n] = (struct piece){.from = at, .to = to, .opens = is_first};
            is_first = text.p[to - 1] == '\n';
            at = to;
        }
    }
    return n;
}

/* The run of pieces of at most `most` bytes that holds most of the question's weight, each word
 * once; the shortest, then the earliest of equals. */
static void best_run(const struct piece *v, size_t n, const float *weights, size_t most,
                     size_t *first, size_t *last)
{
    float best = -1;
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t said = 0;
        float weight = 0;
        for (size_t k = i; k < n && (k == i || v[k].to - v[i].from <= most); k++) {
            for (uint32_t more = v[k].said & ~said; more; more &= more - 1)
                weight += weights[__builtin_ctz(more)];
            said |= v[k].said;
            size_t bytes = v[k].to - v[i].from;
            if (weight > best || (weight >= best && bytes < size)) {
                best = weight;
                size = bytes;
                *first = i;
                *last = k;
            }
        }
    }
}

/* The pieces on both sides that fit: up to the begin of the sentence, then what follows. */
static void widen_run(const struct piece *v, size_t n, size_t most, size_t *first, size_t *last)
{
    for (bool more = true; more;) {
        bool fits_before = *first > 0 && v[*last].to - v[*first - 1].from <= most;
        bool fits_behind = *last + 1 < n && v[*last + 1].to - v[*first].from <= most;
        bool takes_before = fits_before && (!v[*first].opens || !fits_behind);
        more = fits_before || fits_behind;
        *first -= takes_before;
        *last += more && !takes_before;
    }
}

str passage_of(struct arena *a, str text, const struct query *q, const float *weights, size_t most)
{
    size_t first = 0, last = 0, at = 0;
    if (text.n <= most || most <= 2 * DOTS)
        return text;
    struct mark *marks;
    size_t n_marks = marks_of(a, text, q, &marks);
    struct piece *v = ROOM_N(a, struct piece, PIECES_MAX);
    size_t room = most - 2 * DOTS, n = pieces_of(text, room, v);
    for (size_t i = 0; i < n_marks; i++) {
        while (at + 1 < n && marks[i].from >= v[at].to)
            at++;
        v[at].said |= (uint32_t)1 << marks[i].word;
    }
    best_run(v, n, weights, room, &first, &last);
    widen_run(v, n, room, &first, &last);
    str part = str_trim(str_sub(text, v[first].from, v[last].to));
    /* What stands beside it is longer than the room: a part of it says more than nothing. */
    if (part.n < room / 3)
        return excerpt_of(a, text, q, weights, most);
    if (part.n > room)
        part = excerpt_of(a, part, q, weights, room);
    return str_printf(a, "%s" S_FMT "%s", first && !str_starts(part, S("…")) ? "…" : "",
                      S_ARG(part), last + 1 < n && !str_ends(part, S("…")) ? "…" : "");
}

str passage_around(struct arena *a, str text, str part, size_t most)
{
    size_t from = (size_t)(part.p - text.p), to = from + part.n, first = 0;
    if (text.n <= most || most <= 2 * DOTS)
        return text;
    struct piece *v = ROOM_N(a, struct piece, PIECES_MAX);
    size_t room = most - 2 * DOTS, n = pieces_of(text, room, v);
    while (first + 1 < n && v[first].to <= from)
        first++;
    size_t last = first;
    while (last + 1 < n && v[last].to < to && v[last + 1].to - v[first].from <= room)
        last++;
    widen_run(v, n, room, &first, &last);
    str run = str_trim(str_sub(text, v[first].from, v[last].to));
    if (run.n < room / 3) /* "Sure," before a piece that is longer than the room */
        run = str_trim(str_sub(text, v[first].from, text.n));
    str shown = utf8_cut(run, room);
    return str_printf(a, "%s" S_FMT "%s", first ? "…" : "", S_ARG(shown),
                      last + 1 < n || shown.n < run.n ? "…" : "");
}
