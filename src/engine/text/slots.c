/* slots.c - the attribute that a line about the user is of: name, employer, home. */
#include "engine/text/slots.h"

#include "lang/slots_lists.h"

/*
 * For distilled lines, which models write in few forms ("User's name is Ana", "Works at Equinor"):
 * two lines with the same slot and another value are a change, whatever their words share. claims.c
 * reads what people write themselves, in more forms and languages.
 */

static bool cut_front(str *line, str with)
{
    if (line->n < with.n || !str_eq_nocase(str_sub(*line, 0, with.n), with))
        return false;
    *line = str_sub(*line, with.n, line->n);
    return true;
}

static str without_subject(str line)
{
    line = str_trim(line);
    for (const char *const *s = slot_subjects; *s; s++)
        if (cut_front(&line, str_of(*s)))
            return str_trim(line);
    return line;
}

/* The slot's name, or "" with the whole line as *value. */
str slot_of(str line, str *value)
{
    static const struct {
        const char *begins, *slot;
    } slots[] = {
#define BEGINS(begins, slot) {begins, #slot},
#include "lang/slots.def"
    };
    str rest = without_subject(line);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        *value = rest;
        if (!cut_front(value, str_of(slots[i].begins)))
            continue;
        *value = str_trim(*value);
        while (value->n && strchr(".!,", value->p[value->n - 1]))
            value->n--;
        return value->n ? str_of(slots[i].slot) : S("");
    }
    *value = rest;
    return S("");
}
