/* lines.c - a text whose lines are memories: pasted lists, notes that a program keeps of a user. */
#include "base/time_text.h"
#include "engine/text/bytes.h"
#include "ext/import/foreign.h"

/* A "#" heading, or a line that is bold as a whole; "" for another line. */
static str heading_of(str line)
{
    str inner = line;
    if (str_starts(line, S("#"))) {
        while (str_starts(inner, S("#")))
            inner = str_sub(inner, 1, inner.n);
        return str_starts(inner, S(" ")) ? str_trim(inner) : S("");
    }
    if (str_ends(inner, S(":")))
        inner = str_sub(inner, 0, inner.n - 1);
    if (inner.n < 5 || !str_starts(inner, S("**")) || !str_ends(inner, S("**")))
        return S("");
    inner = str_sub(inner, 2, inner.n - 2);
    return str_find(inner, S("**")) < inner.n ? S("") : str_trim(inner);
}

/* The bytes of "- ", "* ", "• ", "12. " or "12) " in front. */
static size_t bullet_bytes(str line)
{
    static const char *const bullets[] = {"- ", "* ", "+ ", "• ", NULL};
    size_t n = text_starts_with_any(line, bullets);
    if (n)
        return n;
    while (n < line.n && n < 4 && is_digit(line.p[n]))
        n++;
    bool is_number = n && n + 1 < line.n && (line.p[n] == '.' || line.p[n] == ')');
    return is_number && line.p[n + 1] == ' ' ? n + 2 : 0;
}

/* "[2026-05-02] - ", with any of the marks that stand behind a date; the time is 0 without one. */
static str without_date(str line, int64_t *at)
{
    static const char *const marks[] = {" ", "-", "–", "—", ".", ":", NULL};
    size_t end = str_find(line, S("]"));
    *at = 0;
    if (!str_starts(line, S("[")) || end == line.n || !time_read(str_sub(line, 1, end), at))
        return line;
    line = str_sub(line, end + 1, line.n);
    for (size_t n; (n = text_starts_with_any(line, marks)) > 0;)
        line = str_sub(line, n, line.n);
    return line;
}

enum status foreign_lines(struct foreign *f, str text, const struct memory *like)
{
    static const char *const rules[] = {"```", "~~~", "---", "***", NULL}; /* and fences */
    static const char *const fences[] = {"```", "~~~", NULL};
    str heading = S("");
    while (text.n) {
        struct memory m = *like;
        int64_t at;
        str line = str_trim(str_cut(&text, '\n')), found = heading_of(line);
        heading = found.n ? found : heading;
        if (found.n || text_starts_with_any(line, rules))
            continue;
        line = str_trim(str_sub(line, bullet_bytes(line), line.n));
        m.content = str_trim(without_date(line, &at));
        m.created = at ? at : like->created;
        m.tags = (struct strs){&heading, heading.n > 0};
        bool is_fence = text_starts_with_any(line, fences) && str_find(line, S(" ")) == line.n;
        if (m.content.n && !is_fence)
            TRY(foreign_memory(f, &m));
    }
    return OK;
}

enum status list_lines(struct foreign *f, str text)
{
    return foreign_lines(f, text, &(struct memory){0});
}
