/* secret_shape.c - shapes of values, by the characters that they have. */
#include "engine/extract/secret_shape.h"

bool shape_is_plain(str v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!is_letter(v.p[i]) && !char_is_one_of(v.p[i], "-_'."))
            return false;
    return v.n > 0;
}

bool shape_is_reference(str v)
{
    bool names_variable = v.p[0] == '$' && v.n > 1 && !is_digit(v.p[1]);
    return names_variable || char_is_one_of(v.p[0], "<>{[(/~@%#*") || str_find(v, S("(")) < v.n ||
           str_find(v, S("['")) < v.n || str_find(v, S("${")) < v.n || str_find(v, S("{{")) < v.n ||
           str_starts(v, S("http")) || str_starts(v, S("./"));
}

bool shape_is_identifier(str v)
{
    size_t i = 0;
    while (i < v.n && (is_letter(v.p[i]) || char_is_one_of(v.p[i], "_.")))
        i++;
    return v.n && i == v.n;
}

struct shape shape_of(str v)
{
    struct shape s = {.parts = 1};
    for (size_t i = 0; i < v.n; i++) {
        s.digits += is_digit(v.p[i]);
        s.letters += is_letter(v.p[i]);
        s.upper += is_upper(v.p[i]);
        s.signs += char_is_one_of(v.p[i], "!@#$%^&*+=~?<>|\\") && i;
        s.parts += v.p[i] == '-';
    }
    return s;
}

bool shape_is_random(str v)
{
    struct shape s = shape_of(v);
    if (v.n < 4 || shape_is_reference(v))
        return false;
    /* "12-character": how a password is. */
    bool is_measure = is_digit(v.p[0]) && is_lower(v.p[v.n - 1]) && s.digits < 3 && !s.upper;
    return s.signs || s.parts > 3 || s.digits == v.n || (s.digits && s.letters && !is_measure) ||
           (s.digits > 3 && !s.letters);
}

bool shape_is_key(str v, size_t least)
{
    struct shape s = shape_of(v);
    return v.n >= least && !shape_is_reference(v) && s.digits && s.letters;
}
