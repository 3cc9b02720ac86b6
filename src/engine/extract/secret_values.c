/* secret_values.c - the value that a text gives for the name of a secret, if any. */
#include "engine/extract/secret_values.h"

#include "engine/extract/secret_numbers.h"
#include "engine/extract/secret_shape.h"
#include "engine/extract/spans.h"
#include "lang/secret_values_lists.h"
#include "words/language.h"

/*
 * "The password for the router is Walrus77x" is a name, some words, a link, a value. "The password
 * is safe", "must have 12 characters" and "was changed" have the same beginning, so the value
 * decides: quotes around it, or a shape that no word has (digits among letters, signs). A plain
 * word counts when a link is before it, nothing follows, and people do not say it of passwords
 * (not_secret). Without a link only a shape counts.
 */

/* Words between a name and its link; bytes of the longest quoted value; of a word in lower case. */
enum { WORDS_BETWEEN = 7, FILLERS = 3, QUOTED_MAX = 128, WORD_MAX = 48 };
enum { LISTED_MAX = 40, SEED_LEAST = 12, SEED_MOST = 24, PHRASE_LEAST = 3 };

enum link {
    LINK_NONE, /* the value is directly behind the name */
    LINK_WEAK, /* a name within another: "password manager is"; a link with other meanings */
    LINK_WORD, /* is, lautet, es, 是 */
    LINK_SIGN  /* ":" or "=" */
};

struct value {
    size_t from, to;
    bool is_quoted;
    bool ends; /* a sentence, a line or the text */
};

static char at_or_end(str text, size_t i)
{
    return i < text.n ? text.p[i] : '\n';
}

static size_t skip(str text, size_t i, const char *what)
{
    while (i < text.n && char_is_one_of(text.p[i], what))
        i++;
    return i;
}

/* --- words --- */

/* The word in small letters (ASCII); a longer one is cut. */
static str lower_word(str word, char room[WORD_MAX])
{
    size_t n = word.n < WORD_MAX ? word.n : WORD_MAX;
    for (size_t i = 0; i < n; i++)
        room[i] = is_upper(word.p[i]) ? (char)(word.p[i] + 'a' - 'A') : word.p[i];
    return (str){room, n};
}

/* A row "*ed" stands for all words that end so, and "ge*" for all that begin so. */
static bool is_in_list(str word, const char *const *list)
{
    char room[WORD_MAX];
    str low = lower_word(word, room);
    for (; *list; list++) {
        str row = str_of(*list);
        bool fits = row.p[0] == '*' ? low.n > row.n && str_ends(low, str_sub(row, 1, row.n))
                    : row.p[row.n - 1] == '*'
                        ? low.n > row.n + 2 && str_starts(low, str_sub(row, 0, row.n - 1))
                        : str_eq(low, row);
        if (fits)
            return true;
    }
    return false;
}

static bool is_function_word(str word)
{
    char room[WORD_MAX];
    str low = lower_word(word, room);
    for (int i = 0; i < LANGUAGES; i++)
        if (language_is_function_word((enum language)i, low))
            return true;
    return false;
}

static size_t word_end(str text, size_t i)
{
    while (i < text.n && !char_is_one_of(text.p[i], " \t\r\n:=,;!?()\"`*") && !is_dense(text.p[i]))
        i++;
    while (i && char_is_one_of(text.p[i - 1], ".'"))
        i--;
    return i;
}

/* --- the way from the name to its value --- */

/* Signs that link, the longest first. */
static size_t sign_at(str text, size_t i)
{
    static const char *const signs[] = {":=", "=>", "->",  "==",  "=",   ":", "：",
                                        "＝", "→",  " - ", " – ", " — ", NULL};
    for (const char *const *s = signs; *s; s++)
        if (str_starts(str_sub(text, i, text.n), str_of(*s)))
            return strlen(*s);
    return 0;
}

/* A link of a script without blanks stands in front of anything, others are words. */
static size_t link_word_at(str text, size_t i)
{
    for (const char *const *s = secret_links; *s && i < text.n; s++)
        if (is_dense((*s)[0]) && str_starts(str_sub(text, i, text.n), str_of(*s)))
            return strlen(*s);
    size_t end = word_end(text, i);
    return end > i && is_in_list(str_sub(text, i, end), secret_links) ? end - i : 0;
}

/* Behind the words "now", "still" and the sign in "is: …". */
static size_t skip_fillers(str text, size_t i)
{
    for (int k = 0; k < FILLERS; k++) {
        i = skip(text, i, " \t");
        size_t end = word_end(text, i);
        i = end > i && is_in_list(str_sub(text, i, end), secret_fillers) ? end : i;
        i += sign_at(text, i);
    }
    return i;
}

/* The rest of the word that the name begins: "şifrem", "API_KEY_PROD", "passwords". */
static size_t name_end(str text, size_t i)
{
    while (i < text.n && !is_dense(text.p[i]) &&
           (is_letter(text.p[i]) || is_digit(text.p[i]) || text.p[i] == '_') &&
           (unsigned char)text.p[i] < 0xE0)
        i++;
    return i;
}

/* A link at `at`, and where what it links begins. */
static bool link_at(str text, size_t at, size_t *to, enum link *link)
{
    size_t bare = skip(text, at, "\"'`*_])"), word = skip(text, bare, " \t");
    size_t from = sign_at(text, bare) ? bare : word, n = sign_at(text, from);
    *link = LINK_SIGN;
    if (!n) {
        from = skip(text, word, "(");
        n = link_word_at(text, from);
        bool is_weak = n && is_in_list(str_sub(text, from, from + n), weak_links);
        *link = is_weak ? LINK_WEAK : LINK_WORD;
    }
    *to = skip_fillers(text, from + n);
    return n > 0;
}

/* Where the value begins. With LINK_NONE, directly behind the name. "password for the router is"
 * has the password's link, "password manager is" has the manager's. */
static size_t find_link(str text, const struct secret_name *name, enum link *link)
{
    enum { ENDING = 4 }; /* bytes of an ending, longer ones make another word */
    size_t begin = name_end(text, name->to), at = begin, to;
    bool is_other = begin > name->to + ENDING || str_is(str_sub(text, name->to, begin), "s");
    for (int words = 0; words <= WORDS_BETWEEN && at < text.n; words++) {
        if (link_at(text, at, &to, link)) {
            *link = is_other && *link == LINK_WORD ? LINK_WEAK : *link;
            return to;
        }
        at = skip(text, at, " \t(\"'`*_])");
        size_t end = word_end(text, at);
        if (end == at || (end < text.n && char_is_one_of(text.p[end], ".,;!?\n\r")))
            break;
        is_other |= !words && !is_function_word(str_sub(text, at, end));
        at = end;
    }
    *link = LINK_NONE;
    return skip(text, begin, " \t");
}

static bool quoted_at(str text, size_t i, struct value *out)
{
    static const char *const quotes[][2] = {{"\"", "\""}, {"'", "'"},      {"`", "`"}, {"“", "”"},
                                            {"„", "“"},   {"„", "”"},      {"«", "»"}, {"»", "«"},
                                            {"「", "」"}, {"『", "』"},    {"‘", "’"}, {"**", "**"},
                                            {"‚", "‘"},   {"\\\"", "\\\""}};
    str rest = str_sub(text, i, text.n);
    for (size_t k = 0; k < sizeof quotes / sizeof *quotes; k++) {
        str open = str_of(quotes[k][0]);
        if (!str_starts(rest, open))
            continue;
        size_t most = rest.n < open.n + QUOTED_MAX ? rest.n : open.n + QUOTED_MAX;
        str inside = str_sub(rest, open.n, most);
        size_t n = str_find(inside, str_of(quotes[k][1]));
        if (n && n < inside.n && str_find(str_sub(inside, 0, n), S("\n")) == n) {
            *out = (struct value){i + open.n, i + open.n + n, true, true};
            return true;
        }
    }
    return false;
}

static size_t token_end(str text, size_t i)
{
    bool is_dense_word = is_dense(at_or_end(text, i));
    for (; i < text.n && !char_is_one_of(text.p[i], " \t\r\n\"`<"); i++) {
        bool next_field =
            text.p[i] == ';' || (text.p[i] == '&' && i + 1 < text.n && is_lower(text.p[i + 1]) &&
                                 str_find(str_sub(text, i, text.n), S("=")) < 24);
        if (next_field || is_dense(text.p[i]) != is_dense_word)
            break;
    }
    return i;
}

static struct value value_at(str text, size_t at)
{
    struct value v;
    size_t i = skip(text, at, " \t");
    if (at_or_end(text, i) == '\n')
        i = skip(text, i, " \t\r\n");
    if (quoted_at(text, i, &v))
        return v;
    i = skip(text, i, "\"'`*_(");
    size_t end = token_end(text, i), to = end;
    while (to > i && char_is_one_of(text.p[to - 1], ".,;:!?)]}'*_"))
        to--;
    size_t next = skip(text, end, " \t");
    bool stops = to < end && !char_is_one_of(text.p[to], "'*_");
    return (struct value){i, to, false,
                          stops || char_is_one_of(at_or_end(text, next), "\r\n;<\"`")};
}

/* --- which values count --- */

static bool is_password(str text, struct value v, enum link link)
{
    str word = str_sub(text, v.from, v.to);
    if (!word.n || shape_is_reference(word) || is_in_list(word, not_secret))
        return false;
    if (v.is_quoted && link >= LINK_WORD)
        return true;
    if (shape_is_random(word)) {
        struct shape s = shape_of(word);
        return link >= LINK_WORD || (word.n >= 6 && s.letters && (s.digits || s.signs));
    }
    return link >= LINK_WORD && v.ends && shape_is_plain(word) && !is_dense(word.p[0]) &&
           !is_function_word(word);
}

/* Words that make no sentence: "correct horse battery staple". */
static size_t phrase_end(str text, size_t at)
{
    size_t i = skip(text, at, " \t"), words = 0, listed = 0;
    while (i < text.n && is_lower(text.p[i])) {
        size_t end = word_end(text, i);
        str word = str_sub(text, i, end);
        if (!shape_is_plain(word) || is_function_word(word))
            return 0;
        words++;
        listed += is_in_list(word, not_secret);
        i = end;
        if (char_is_one_of(at_or_end(text, i), "\r\n.,;!?"))
            break;
        i = skip(text, i, " \t");
    }
    bool ends = char_is_one_of(at_or_end(text, i), "\r\n.,;!?");
    return ends && words >= PHRASE_LEAST && listed * 3 < words ? i : 0;
}

/* "482913", "482-913", "G-482913", "4711#": digits, and little else. */
static bool is_code(str v, size_t least, size_t most)
{
    struct shape s = shape_of(v);
    size_t others = v.n - s.digits;
    return s.digits >= least && s.digits <= most && others <= 3 && s.letters == s.upper &&
           str_find(v, S(":")) == v.n && str_find(v, S(".")) == v.n;
}

/* "Walrus77x is my password": two words at most between the link and the name. */
static bool said_before(str text, const struct secret_name *name, struct value *out)
{
    size_t words[5], n = 0, i = name->from;
    while (n < 5 && i) {
        size_t end = i;
        while (end && is_blank(text.p[end - 1]))
            end--;
        if (end == i && n)
            break;
        for (i = end; i && !char_is_one_of(text.p[i - 1], " \t\r\n");)
            i--;
        if (i == end)
            break;
        words[n++] = i;
        if (n > 1 &&
            is_in_list(str_sub(text, words[n - 2], word_end(text, words[n - 2])), secret_links)) {
            *out = value_at(text, i);
            return out->to <= end;
        }
    }
    return false;
}

static size_t add_value(struct value v, struct spans *out)
{
    span_add(out, v.from, v.to);
    return v.to;
}

/* The value behind the name's link, or directly behind the name: in Hindi the link follows. */
static bool password_at(str text, const struct secret_name *name, struct value *out)
{
    enum link link = LINK_WEAK;
    bool has_sign = char_is_one_of(text.p[name->to - 1], ":="); /* the literal's own */
    size_t behind = has_sign ? name->to : name_end(text, name->to);
    *out = value_at(text, has_sign ? behind : find_link(text, name, &link));
    if (is_password(text, *out, link))
        return true;
    size_t end = link < LINK_WORD ? 0 : phrase_end(text, out->from);
    *out = end ? (struct value){out->from, end, true, true} : value_at(text, behind);
    return end || is_password(text, *out, LINK_NONE);
}

static size_t password_add(str text, const struct secret_name *name, struct spans *out)
{
    struct value v;
    if (password_at(text, name, &v))
        return add_value(v, out);
    if (said_before(text, name, &v) && shape_is_random(str_sub(text, v.from, v.to)))
        add_value(v, out);
    return name->to;
}

/* "1200 lines" is a count, and "7719 for the back door" is none. */
static bool is_counted(str text, struct value v)
{
    size_t next = skip(text, v.to, " ");
    return !v.ends && v.to - v.from < 5 && next > v.to && is_letter(at_or_end(text, next)) &&
           !is_function_word(str_sub(text, next, word_end(text, next)));
}

static size_t digits_add(str text, const struct secret_name *name, struct spans *out)
{
    enum { MOST = 12 };
    enum link link;
    struct value before, v = value_at(text, find_link(text, name, &link));
    size_t next = v.to + 1; /* "482 913" */
    str word = str_sub(text, v.from, v.to);
    bool is_linked = link != LINK_NONE;
    if (is_code(word, 3, 4) && next < text.n && text.p[v.to] == ' ' && is_digit(text.p[next]) &&
        is_code(str_sub(text, next, word_end(text, next)), 3, 4))
        v.to = word_end(text, next);
    if ((is_code(word, is_linked ? 3 : (size_t)name->row->least, MOST) && !is_counted(text, v)) ||
        (is_linked && v.is_quoted && shape_is_random(word)) ||
        (is_linked && shape_is_key(word, 6) && shape_of(word).letters == shape_of(word).upper))
        return add_value(v, out);
    if (said_before(text, name, &before) && is_code(str_sub(text, before.from, before.to), 4, MOST))
        add_value(before, out);
    return name->to;
}

/* Codes in rows: bullets, numbers and commas between them. */
static size_t codes_add(str text, const struct secret_name *name, struct spans *out)
{
    enum { CODE_LEAST = 5 };
    enum link link;
    size_t i = find_link(text, name, &link), to = name->to;
    for (int k = 0; k < LISTED_MAX; k++) {
        i = skip(text, i, " \t\r\n,;-*•.)(\"'`");
        size_t end = word_end(text, i);
        str word = str_sub(text, i, end);
        struct shape s = shape_of(word);
        bool is_number = s.digits == word.n && word.n < 3; /* of a row */
        bool is_one = word.n >= CODE_LEAST && (s.digits || s.parts > 1) &&
                      !shape_is_reference(word) && !is_in_list(word, not_secret) && !s.signs;
        if (!word.n || (!is_one && !is_number))
            break;
        if (is_one) {
            span_add(out, i, end);
            to = end;
        }
        i = end;
    }
    return to;
}

static size_t seed_add(str text, const struct secret_name *name, struct spans *out)
{
    enum link link;
    size_t from = find_link(text, name, &link), words = 0, to = from;
    for (size_t i = from; words < SEED_MOST;) {
        i = skip(text, i, " \t\r\n,;.)\"'`0123456789-*");
        size_t end = i;
        while (end < text.n && is_lower(text.p[end]))
            end++;
        if (end - i < 3 || end - i > 8)
            break;
        from = words++ ? from : i;
        to = i = end;
    }
    if (words < SEED_LEAST)
        return link == LINK_NONE ? name->to : password_add(text, name, out);
    return add_value((struct value){from, to, false, false}, out);
}

static bool is_all_upper(str name)
{
    struct shape s = shape_of(name);
    return s.letters > 2 && s.upper == s.letters;
}

/* "API_KEY=abcdef" names a key in capitals, so that little is asked of its value. */
static size_t key_add(str text, const struct secret_name *name, struct spans *out)
{
    enum { CAPITAL = 6, STRONG = 8, WEAK = 20 };
    enum link link;
    bool is_weak = name->row->kind == SECRET_WEAK_KEY;
    size_t end = name_end(text, name->to), at = find_link(text, name, &link);
    struct value v = value_at(text, at);
    str word = str_sub(text, v.from, v.to);
    struct shape s = shape_of(word);
    if (!word.n || is_in_list(word, not_secret) || shape_is_reference(word))
        return name->to;
    bool is_capital =
        link == LINK_SIGN && is_all_upper(str_sub(text, name->from, end)) && word.n >= CAPITAL;
    bool is_strong = !is_weak && (shape_is_key(word, link == LINK_NONE ? WEAK : STRONG) ||
                                  (link != LINK_NONE && word.n >= WEAK && s.upper) ||
                                  is_password(text, v, link));
    bool is_long = link != LINK_NONE && shape_is_key(word, WEAK) && s.upper && s.upper < s.letters;
    bool is_hex = link == LINK_SIGN && shape_is_key(word, 32) && s.digits + s.letters == word.n;
    return is_capital || is_strong || is_long || (is_hex && is_weak) ? add_value(v, out) : name->to;
}

/* "passport number is C01X00T47", "AB 1234567". */
static size_t personal_add(str text, const struct secret_name *name, struct spans *out)
{
    enum { REACH = 40, LEAST = 6, MOST = 12, DIGITS = 4 };
    size_t last = name->to + REACH < text.n ? name->to + REACH : text.n;
    for (size_t i = name_end(text, name->to); i < last; i++) {
        bool begins = (is_digit(text.p[i]) || is_upper(text.p[i])) && !is_letter(text.p[i - 1]) &&
                      !is_digit(text.p[i - 1]);
        if (char_is_one_of(text.p[i], ".!?\n") && is_blank(at_or_end(text, i + 1)) &&
            str_find(str_sub(text, name->to, i), S(" ")) + 3 < i - name->to)
            break;
        if (!begins)
            continue;
        size_t end = i;
        while (end < text.n &&
               (is_digit(text.p[end]) || is_upper(text.p[end]) ||
                (char_is_one_of(text.p[end], " -") && is_digit(at_or_end(text, end + 1)))))
            end++;
        struct shape s = shape_of(str_sub(text, i, end));
        if (s.digits >= DIGITS && end - i >= LEAST && end - i <= MOST &&
            !is_letter(at_or_end(text, end)))
            return add_value((struct value){i, end, false, false}, out);
        i = end;
    }
    return name->to;
}

static size_t numbered_add(str text, const struct secret_name *name, struct spans *out)
{
    size_t from;
    size_t end = secret_number_named(text, name->to, (enum secret_number)name->row->least, &from);
    span_add(out, from, end);
    return end ? end : name->to;
}

static size_t keys_add(str text, const struct secret_name *name, struct spans *out)
{
    size_t i = name->to;
    while (i < text.n && (is_digit(text.p[i]) || is_upper(text.p[i]) || is_lower(text.p[i]) ||
                          char_is_one_of(text.p[i], "_-")))
        i++;
    str key = str_sub(text, name->to, i);
    struct shape s = shape_of(key);
    bool is_one_word = s.parts == 1 && str_find(key, S("_")) == key.n;
    if (key.n < (size_t)name->row->least ||
        !(s.digits || is_one_word || (s.upper && s.upper < s.letters)))
        return name->to;
    return add_value((struct value){name->from, i, false, false}, out);
}

static size_t shape_add(str text, const struct secret_name *name, struct spans *out)
{
    struct match m;
    if (!pattern_find(name->pattern, text, name->from, &m))
        return name->to;
    size_t from = m.group[1].p ? (size_t)(m.group[1].p - text.p) : m.from;
    span_add(out, from, m.group[1].p ? from + m.group[1].n : m.to);
    return m.to;
}

size_t secret_values_add(str text, const struct secret_name *name, struct spans *out)
{
    static size_t (*const by_kind[])(str, const struct secret_name *, struct spans *) = {
        [SECRET_KEYS] = keys_add,         [SECRET_SHAPE] = shape_add,
        [SECRET_PASSWORD] = password_add, [SECRET_DIGITS] = digits_add,
        [SECRET_CODES] = codes_add,       [SECRET_SEED] = seed_add,
        [SECRET_NAMED_KEY] = key_add,     [SECRET_WEAK_KEY] = key_add,
        [SECRET_PERSONAL] = personal_add, [SECRET_NUMBERED] = numbered_add};
    enum { SHORT = 4 }; /* bytes of a name that may begin other words: "pin", "pink" */
    bool is_short = name->row->kind > SECRET_SHAPE && name->to - name->from <= SHORT;
    if (is_short && is_ascii_word(text.p[name->to - 1]) && name->to < text.n &&
        is_ascii_word(text.p[name->to]))
        return name->to;
    return by_kind[name->row->kind](text, name, out);
}
