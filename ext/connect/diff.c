/* diff.c - the lines in which two texts differ. */

#include "ext/connect/edit.h"

/*
 * The longest common subsequence of lines, by the table of its lengths. What both begin and end
 * with is left out first, so the table is small; texts that differ in more than LINES_MAX lines are
 * shown as one change.
 */

enum { LINES_MAX = 2000, AROUND = 3, TEXT_MAX = 64 << 20 };

static struct strs lines_of(struct arena *a, str text)
{
    struct strs out = {NEW(a, str), 0};
    size_t cap = 1;
    while (text.n)
        ARENA_ADD(a, out.v, out.n, cap) = str_cut(&text, '\n');
    return out;
}

/* One line of the result: from the first text, the second, or both. */
struct step {
    char sign;
    str line;
};

struct steps {
    struct step *v;
    size_t n;
};

/* lengths[i][j]: of what is common from line i and line j on. NULL: more than LINES_MAX differ. */
static unsigned short *lengths_of(struct arena *a, struct strs x, struct strs y)
{
    size_t wide = y.n + 1;
    if (x.n > LINES_MAX || y.n > LINES_MAX)
        return NULL;
    unsigned short *lengths = NEW_N(a, unsigned short, (x.n + 1) * wide);
    for (size_t k = x.n; k-- > 0;)
        for (size_t m = y.n; m-- > 0;) {
            unsigned short down = lengths[(k + 1) * wide + m], right = lengths[k * wide + m + 1];
            lengths[k * wide + m] = str_eq(x.v[k], y.v[m])
                                        ? (unsigned short)(lengths[(k + 1) * wide + m + 1] + 1)
                                        : (down > right ? down : right);
        }
    return lengths;
}

static struct steps steps_of(struct arena *a, struct strs x, struct strs y)
{
    struct steps s = {NEW_N(a, struct step, x.n + y.n + 1), 0};
    size_t front = 0, x_end = x.n, y_end = y.n;
    while (front < x.n && front < y.n && str_eq(x.v[front], y.v[front]))
        front++;
    while (x_end > front && y_end > front && str_eq(x.v[x_end - 1], y.v[y_end - 1])) {
        x_end--;
        y_end--;
    }
    size_t wide = y_end - front + 1;
    const unsigned short *lengths = lengths_of(a, (struct strs){x.v + front, x_end - front},
                                               (struct strs){y.v + front, y_end - front});
    for (size_t i = 0, j = 0; i < x.n || j < y.n;) {
        size_t at = (i - front) * wide + j - front; /* in the middle */
        bool is_end = i >= x_end && j >= y_end, has_both = i < x_end && j < y_end;
        bool is_same = i < front || is_end || (lengths && has_both && str_eq(x.v[i], y.v[j]));
        bool is_old = is_same || (i < x_end &&
                                  (!has_both || !lengths || lengths[at + wide] >= lengths[at + 1]));
        s.v[s.n++] = (struct step){is_same ? ' ' : is_old ? '-' : '+', is_old ? x.v[i] : y.v[j]};
        i += is_old;
        j += is_same || !is_old;
    }
    return s;
}

static bool is_near_change(const struct steps *s, size_t i)
{
    size_t from = i < AROUND ? 0 : i - AROUND, to = i + AROUND < s->n ? i + AROUND : s->n - 1;
    return SOME(k, to - from + 1, s->v[from + k].sign != ' ');
}

str diff_lines(struct arena *a, str before, str after)
{
    struct steps s = steps_of(a, lines_of(a, before), lines_of(a, after));
    struct buf b = buf_make(a, TEXT_MAX);
    bool is_near = true;
    for (size_t i = 0; i < s.n; i++) {
        bool is_gap = !is_near;
        is_near = is_near_change(&s, i);
        if (is_near)
            buf_printf(&b, "%s%c " S_FMT "\n", is_gap ? "  ...\n" : "", s.v[i].sign,
                       S_ARG(s.v[i].line));
    }
    return buf_str(&b);
}
