/* excerpt.c - the part of a long text that a question is about. */
#include "engine/excerpt.h"

/* Words of a text that are looked at; what stands behind them is not shown. */
enum { LOOKED_AT = 4000, DOTS = 3 };

struct mark {
    size_t from, to;
    size_t word; /* of the question */
};

static size_t marks_of(struct arena *a, str text, const struct query *q, struct mark **out)
{
    struct words w = words_of(a, text, LOOKED_AT);
    struct mark *marks = NEW_N(a, struct mark, w.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < w.n; i++)
        for (size_t k = 0; k < q->n; k++)
            if (str_eq(w.v[i].stem, q->stems[k]))
                marks[n++] = (struct mark){w.v[i].at, w.v[i].at + w.v[i].text.n, k};
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
        weight += held[m[to].word]++ ? 0 : weights[m[to].word];
        while (m[to].to - m[from].from > most) {
            weight -= --held[m[from].word] ? 0 : weights[m[from].word];
            from++;
        }
        if (weight > best) {
            best = weight;
            *first = from;
            *last = to;
        }
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Moved to the next place between words, if there is one near. */
static size_t between_words(str text, size_t at, size_t near)
{
    for (size_t i = at; i < text.n && i < at + near; i++)
        if (is_space(text.p[i]))
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
    for (size_t cut = part.n; !is_end && cut > part.n - part.n / 8; cut--)
        if (is_space(part.p[cut - 1])) {
            part.n = cut;
            break;
        }
    return str_printf(a, "%s" S_FMT "%s", from ? "…" : "", S_ARG(str_trim(part)),
                      is_end ? "" : "…");
}
