/* session_title.c - a title for a session that nobody has given one. */
#include "core/session_title.h"

#include <utf8proc.h>

#include "base/utf8.h"

enum { TITLE_CHARACTERS = 80, OLD_TITLE_BYTES = 76 /* at least, where a text was cut */ };

static str first_line(str text)
{
    text = str_trim(text);
    return str_trim(str_cut(&text, '\n'));
}

/* A character is what a reader takes for one: a letter with its marks, a whole emoji. */
str session_title(str text)
{
    str line = first_line(text);
    int32_t before = 0, state = 0;
    size_t shown = 0;
    for (size_t i = 0, n; i < line.n; i += n) {
        int32_t c = utf8_at(line, i, &n);
        shown += !i || utf8proc_grapheme_break_stateful(before, c, &state);
        if (c < 0 || shown > TITLE_CHARACTERS)
            return str_trim(str_sub(line, 0, i));
        before = c;
    }
    return line;
}

/* Decides whether a title was made of a message that is to be forgotten. */
bool is_title_of(str title, str text)
{
    return title.n && (str_eq(title, session_title(text)) ||
                       (title.n >= OLD_TITLE_BYTES && str_starts(first_line(text), title)));
}
