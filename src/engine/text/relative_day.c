/* relative_day.c - texts that name a day by its distance get the day on which they were said. */
#include "engine/text/relative_day.h"

#include "base/time_text.h"
#include "engine/text/bytes.h"
#include "engine/text/phrases.h"
#include "lang/relative_day_lists.h"

/* Four digits that begin as years of our time do. */
static bool has_year(str text)
{
    for (size_t i = 0, digits = 0; i <= text.n; i++) {
        bool is_more = i < text.n && is_digit(text.p[i]);
        const char *from = text.p + i - digits;
        if (!is_more && digits == 4 && (from[0] == '2' || (from[0] == '1' && from[1] == '9')))
            return true;
        digits = is_more ? digits + 1 : 0;
    }
    return false;
}

/* A text that names a year has a date of its own. The word itself stays: a rule
 * that put a date in its place would have to know what "mañana" or "next Friday" means in each
 * case. */
str text_with_day(struct arena *a, str text, int64_t said_ms)
{
    if (said_ms <= 0 || has_year(text))
        return text;
    struct phrase_words words = phrase_words_of(a, phrase_fold(a, text));
    str day = time_write(a, said_ms, "%Y-%m-%d");
    if (!day.n || !phrase_find_any(&words, relative_days))
        return text;
    return str_printf(a, S_FMT " (said " S_FMT ")", S_ARG(text), S_ARG(day));
}
