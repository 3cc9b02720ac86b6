/* names.c - names that a statement gives to someone or something. */
#include "engine/questions/names.h"

#include "lang/names_lists.h"

/*
 * "my wife is called Anna" and "Rob is short for Robert", as extraction keeps them: a thing or a
 * name in front, words that give a name, and the name. Of the front the last word counts ("older
 * sister": sister), of the name the first ("Anna Maria": Anna).
 */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static str first_word(str text)
{
    size_t n = 0;
    text = str_trim(text);
    while (n < text.n && (is_letter(text.p[n]) || (n && text.p[n] == '-')))
        n++;
    return str_sub(text, 0, n);
}

static str last_word(str text)
{
    text = str_trim(text);
    size_t from = text.n;
    while (from > 0 && (is_letter(text.p[from - 1]) || text.p[from - 1] == '-'))
        from--;
    return str_sub(text, from, text.n);
}

static bool is_name(str word)
{
    return word.n > 1 &&
           ((word.p[0] >= 'A' && word.p[0] <= 'Z') || (unsigned char)word.p[0] >= 0x80);
}

static bool is_owned(str front)
{
    while (front.n)
        if (str_is_one_of(str_cut(&front, ' '), owners))
            return true;
    return false;
}

bool naming_of(str statement, struct naming *out)
{
    for (const char *const *j = name_joints; *j; j++) {
        size_t at = str_find(statement, str_of(*j));
        if (at == statement.n)
            continue;
        str front = str_sub(statement, 0, at);
        str behind = str_sub(statement, at + strlen(*j), statement.n);
        *out = (struct naming){last_word(front), first_word(behind), is_owned(front)};
        return out->thing.n > 1 && is_name(out->name) && (out->is_of_user || is_name(out->thing));
    }
    return false;
}
