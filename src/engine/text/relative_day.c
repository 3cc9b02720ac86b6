/* relative_day.c - texts that name a day by its distance get the day on which they were said. */
#include "engine/text/relative_day.h"

#include "base/time_text.h"
#include "engine/text/phrases.h"
#include "engine/text/regex.h"
#include "lang/relative_day_lists.h"

/* A text that names a year, four digits that begin as those of our time do, has a date of its own.
 * The word itself stays: a rule that put a date in its place would have to know what "mañana" or
 * "next Friday" means in each case. */
str text_with_day(struct arena *a, str text, int64_t said_ms)
{
    struct pattern *year = PATTERN("(?<!\\d)(?:2\\d|19)\\d\\d(?!\\d)");
    if (said_ms <= 0 || pattern_find(year, text, 0, NULL))
        return text;
    struct phrase_words words = phrase_words_of(a, phrase_fold(a, text));
    str day = time_write(a, said_ms, "%Y-%m-%d");
    if (!day.n || !phrase_find_any(&words, relative_days))
        return text;
    return str_printf(a, S_FMT " (said " S_FMT ")", S_ARG(text), S_ARG(day));
}
