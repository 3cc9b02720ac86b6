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
    struct strs out = {0};
    size_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    out.v = NEW_N(a, str, n);
    while (text.n)
        out.v[out.n++] = str_cut(&text, '\n');
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

static void add_step(struct steps *s, char sign, str line)
{
    s->v[s->n++] = (struct step){sign, line};
}

/* lengths[i][j]: of what is common from line i and line j on. */
static void add_middle(struct arena *a, struct steps *s, struct strs x, struct strs y)
{
    size_t wide = y.n + 1, i = 0, j = 0;
    bool is_small = x.n <= LINES_MAX && y.n <= LINES_MAX;
    unsigned short *lengths = is_small ? NEW_N(a, unsigned short, (x.n + 1) * wide) : NULL;
    for (size_t k = x.n; is_small && k-- > 0;)
        for (size_t m = y.n; m-- > 0;) {
            unsigned short down = lengths[(k + 1) * wide + m], right = lengths[k * wide + m + 1];
            lengths[k * wide + m] = str_eq(x.v[k], y.v[m])
                                        ? (unsigned short)(lengths[(k + 1) * wide + m + 1] + 1)
                                        : (down > right ? down : right);
        }
    while (i < x.n || j < y.n) {
        bool has_both = i < x.n && j < y.n;
        if (has_both && is_small && str_eq(x.v[i], y.v[j])) {
            add_step(s, ' ', x.v[i++]);
            j++;
        } else if (i < x.n && (j == y.n || !is_small ||
                               lengths[(i + 1) * wide + j] >= lengths[i * wide + j + 1]))
            add_step(s, '-', x.v[i++]);
        else
            add_step(s, '+', y.v[j++]);
    }
}

static struct steps steps_of(struct arena *a, struct strs x, struct strs y)
{
    struct steps s = {NEW_N(a, struct step, x.n + y.n + 1), 0};
    size_t front = 0, back = 0;
    while (front < x.n && front < y.n && str_eq(x.v[front], y.v[front]))
        front++;
    while (back < x.n - front && back < y.n - front &&
           str_eq(x.v[x.n - 1 - back], y.v[y.n - 1 - back]))
        back++;
    for (size_t i = 0; i < front; i++)
        add_step(&s, ' ', x.v[i]);
    add_middle(a, &s, (struct strs){x.v + front, x.n - front - back},
               (struct strs){y.v + front, y.n - front - back});
    for (size_t i = x.n - back; i < x.n; i++)
        add_step(&s, ' ', x.v[i]);
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
    bool has_gap = false;
    for (size_t i = 0; i < s.n; i++) {
        if (!is_near_change(&s, i)) {
            has_gap = true;
            continue;
        }
        if (has_gap)
            buf_add(&b, S("  ...\n"));
        has_gap = false;
        buf_printf(&b, "%c " S_FMT "\n", s.v[i].sign, S_ARG(s.v[i].line));
    }
    return buf_str(&b);
}
