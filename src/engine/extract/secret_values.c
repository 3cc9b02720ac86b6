/* secret_values.c - the value that a text gives for the name of a secret, if any. */
#include "engine/extract/secret_values.h"

#include "engine/text/bytes.h"
#include "lang/secret_values_lists.h"
#include "words/language.h"

/*
 * "The password for the router is Walrus77x" is a name, some words, a link, a value. "The password
 * is safe", "must have 12 characters" and "was changed" have the same beginning, so the value
 * decides: quotes around it, or a shape that no word has (digits among letters, signs). A plain
 * word counts when a link is before it, nothing follows, and people do not say it of passwords
 * (not_secret). Without a link only a shape counts.
 *
 * A text may have a name at every few bytes, so each looks at a bounded piece of it.
 */

enum {
    WORDS_BETWEEN = 7, /* a name and its link */
    FILLERS = 3,       /* words between a link and its value */
    QUOTED_MAX = 128,  /* bytes of a quoted value */
    TOKEN_MAX = 1024,  /* of one that is judged by its shape; all of it is masked */
    WORD_MAX = 48,     /* bytes of a word that is looked up */
    RUN_MAX = 64,      /* of a word or identifier that is gone through */
    KEY_MAX = 256,     /* of a key that is judged */
    NEAR = 8192,       /* bytes in which a pattern matches; one that fills them is tried in FAR */
    FAR = 65536,
    PHRASE_LEAST = 3, /* words of a passphrase */
    PHRASE_MOST = 32
};

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

/* --- shapes of values, by the characters that they have --- */

/* The first byte of a character of a script without blanks: Chinese, Japanese, Thai, Korean. */
static bool is_dense(char c)
{
    return (unsigned char)c >= 0xE3 && (unsigned char)c <= 0xED;
}

/* How many characters of each kind a value has; parts are parted by hyphens. */
struct shape {
    size_t digits, letters, upper, signs, parts;
};

static struct shape shape_of(str v)
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

/* A word, a name, an address. */
#define PLAIN "-_'."
static bool is_letters_and(str v, const char *others)
{
    return v.n && EVERY(i, v.n, is_letter(v.p[i]) || char_is_one_of(v.p[i], others));
}

/* Code and addresses in the place of a value: a call, a variable, a path, a template. */
static bool shape_is_reference(str v)
{
    bool names_variable = v.p[0] == '$' && v.n > 1 && !is_digit(v.p[1]);
    return names_variable || char_is_one_of(v.p[0], "<>{[(/~@%#*") || text_holds(v, "(") ||
           text_holds(v, "['") || text_holds(v, "${") || text_holds(v, "{{") ||
           str_starts(v, S("http")) || str_starts(v, S("./"));
}

/* Nobody says such a word. */
static bool shape_is_random(str v)
{
    struct shape s = shape_of(v);
    if (v.n < 4 || shape_is_reference(v))
        return false;
    /* "12-character": how a password is. */
    bool is_measure = is_digit(v.p[0]) && is_lower(v.p[v.n - 1]) && s.digits < 3 && !s.upper;
    return s.signs || s.parts > 3 || s.digits == v.n || (s.digits && s.letters && !is_measure) ||
           (s.digits > 3 && !s.letters);
}

/* Like a key: at least so long, of letters and digits. */
static bool shape_is_key(str v, size_t least)
{
    struct shape s = shape_of(v);
    return v.n >= least && !shape_is_reference(v) && s.digits && s.letters;
}

/* --- places --- */

static char at_or_end(str text, size_t i)
{
    return i < text.n ? text.p[i] : '\n';
}

/* The text, ended at most so many bytes behind a place. */
static str ended_behind(str text, size_t i, size_t most)
{
    return (str){text.p, i < text.n && text.n - i > most ? i + most : text.n};
}

static size_t skip(str text, size_t i, const char *what)
{
    while (i < text.n && char_is_one_of(text.p[i], what))
        i++;
    return i;
}

/* --- words --- */

/* A row "*ed" stands for all words of letters that end so, and "ge*" for all that begin so. */
static bool row_fits(str word, str row)
{
    enum { MORE = 2 };
    if (row.p[0] == '*')
        return word.n > row.n &&
               str_eq_nocase(str_sub(word, word.n - row.n + 1, word.n), str_sub(row, 1, row.n));
    if (row.p[row.n - 1] == '*')
        return word.n > row.n + MORE && is_letters_and(word, PLAIN) &&
               text_starts_nocase(word, str_sub(row, 0, row.n - 1));
    return str_eq_nocase(word, row);
}

static bool is_in_list(str word, const char *const *list)
{
    char first = word.n ? ascii_lower(word.p[0]) : '\0'; /* most rows need no more than that */
    while (*list &&
           !((**list == '*' || ascii_lower(**list) == first) && row_fits(word, str_of(*list))))
        list++;
    return *list;
}

static bool is_function_word(str word)
{
    char low[WORD_MAX];
    size_t n = word.n < WORD_MAX ? word.n : WORD_MAX;
    for (size_t i = 0; i < n; i++)
        low[i] = ascii_lower(word.p[i]);
    return SOME(i, LANGUAGES, language_is_function_word((enum language)i, (str){low, n}));
}

static size_t word_end(str text, size_t from)
{
    size_t i = from;
    text = ended_behind(text, from, RUN_MAX);
    while (i < text.n && !char_is_one_of(text.p[i], " \t\r\n:=,;!?()\"`*") && !is_dense(text.p[i]))
        i++;
    while (i > from && char_is_one_of(text.p[i - 1], ".'"))
        i--;
    return i;
}

/* --- the way from the name to its value --- */

/* Signs that link, the longest first. */
static size_t sign_at(str text, size_t i)
{
    static const char *const signs[] = {":=", "=>", "->",  "==",  "=",   ":", "：",
                                        "＝", "→",  " - ", " – ", " — ", NULL};
    return text_starts_with_any(str_sub(text, i, text.n), signs);
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
    text = ended_behind(text, i, RUN_MAX);
    while (i < text.n && (unsigned char)text.p[i] < 0xE0 &&
           (in_word(text.p[i]) || text.p[i] == '_'))
        i++;
    return i;
}

/* A link at `at`, and where what it links begins. */
static bool link_at(str text, size_t at, size_t *to, enum link *link)
{
    size_t bare = link_word_at(text, at) ? at : skip(text, at, "\"'`*_])");
    size_t word = skip(text, bare, " \t");
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

static bool quoted_at(str text, size_t i, struct value *out)
{
    static const char *const quotes[][2] = {{"\"", "\""}, {"'", "'"},      {"`", "`"}, {"“", "”"},
                                            {"„", "“"},   {"„", "”"},      {"«", "»"}, {"»", "«"},
                                            {"「", "」"}, {"『", "』"},    {"‘", "’"}, {"**", "**"},
                                            {"‚", "‘"},   {"\\\"", "\\\""}};
    for (size_t k = 0; k < sizeof quotes / sizeof *quotes; k++) {
        size_t from = i + strlen(quotes[k][0]);
        size_t last = from + QUOTED_MAX < text.n ? from + QUOTED_MAX : text.n;
        if (!str_starts(str_sub(text, i, text.n), str_of(quotes[k][0])))
            continue;
        str rest = str_sub(text, from, last), line = str_cut(&rest, '\n');
        size_t n = str_find(line, str_of(quotes[k][1]));
        *out = (struct value){from, from + n, true, true};
        if (n && n < line.n)
            return true;
    }
    return false;
}

/* "&lang=de" */
static bool is_parameter(str rest)
{
    size_t i = rest.p[0] == '&';
    while (i && i < RUN_MAX && is_ascii_word(at_or_end(rest, i)))
        i++;
    return i > 1 && at_or_end(rest, i) == '=';
}

/* At most so many bytes, and whole characters. */
static size_t token_end(str text, size_t from, size_t most)
{
    size_t i = from;
    bool is_dense_word = is_dense(at_or_end(text, from));
    for (; i < text.n && !char_is_one_of(text.p[i], " \t\r\n\"`<;"); i++) {
        bool is_inside = ((unsigned char)text.p[i] & 0xC0) == 0x80;
        bool is_end = is_dense(text.p[i]) != is_dense_word || i - from >= most;
        if ((is_end && !is_inside) || is_parameter(str_sub(text, i, text.n)))
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
    if (str_starts(str_sub(text, i, text.n), S("```"))) /* what follows is the block's language */
        return (struct value){i, i, false, true};
    i = skip(text, i, "\"'`*_(");
    size_t end = token_end(text, i, TOKEN_MAX), to = end;
    while (to > i && char_is_one_of(text.p[to - 1], ".,;:!?)]}'*_"))
        to--;
    size_t next = skip(text, end, " \t");
    bool stops = to < end && !char_is_one_of(text.p[to], "'*_");
    return (struct value){i, to, false,
                          stops || char_is_one_of(at_or_end(text, next), "\r\n;<\"`")};
}

static bool value_fits(str text, const struct secret_name *name, size_t at, enum link link,
                       struct value *v);

/* Not of "to OpenWeatherMapProduction is": a link behind a word of letters makes it a name. */
static bool is_value_at(str text, const struct secret_name *name, size_t at)
{
    enum { CODE = 5 }; /* bytes of one of several codes */
    struct value v;
    enum link next;
    size_t to;
    bool fits = value_fits(text, name, at, LINK_WEAK, &v);
    struct shape s = shape_of(str_sub(text, v.from, v.to));
    if (name->row->kind == SECRET_CODES)
        return s.digits && v.to - v.from >= CODE;
    return fits && (s.digits || s.signs || !link_at(text, v.to, &to, &next));
}

/* Where the value begins. With LINK_NONE, directly behind the name. "password for the router is"
 * has the password's link, "password manager is" has the manager's. A weak link, as in "password to
 * the router is", is passed where no value follows it, and another link does. */
static size_t find_link(str text, const struct secret_name *name, enum link *link)
{
    enum { ENDING = 4 }; /* bytes of an ending, longer ones make another word */
    size_t begin = name_end(text, name->to), at = begin, weak = 0, to;
    bool is_other = begin > name->to + ENDING || str_is(str_sub(text, name->to, begin), "s");
    for (int words = 0; words <= WORDS_BETWEEN && at < text.n; words++) {
        bool is_linked = link_at(text, at, &to, link);
        if (is_linked && (*link != LINK_WEAK || is_value_at(text, name, to))) {
            *link = is_other && *link == LINK_WORD ? LINK_WEAK : *link;
            return to;
        }
        weak = weak || !is_linked ? weak : to;
        at = skip(text, at, " \t(\"'`*_])");
        size_t end = word_end(text, at);
        /* Another name, as in class="…", or another column. */
        bool is_other_name = at_or_end(text, end) == '=' || at_or_end(text, at) == '|';
        if (end == at || is_other_name || char_is_one_of(at_or_end(text, end), ".,;!?\n\r"))
            break;
        is_other |= !words && !is_function_word(str_sub(text, at, end));
        at = end;
    }
    *link = weak ? LINK_WEAK : LINK_NONE;
    return weak ? weak : skip(text, begin, " \t");
}

/* --- which values count --- */

static bool is_password(str word, struct value v, enum link link)
{
    struct shape s = shape_of(word);
    if (v.is_quoted && link >= LINK_WORD)
        return true;
    if (shape_is_random(word))
        return link >= LINK_WORD ||
               (word.n >= 6 && s.letters && (s.digits || s.signs) && !text_holds(word, ":"));
    return link >= LINK_WORD && v.ends && is_letters_and(word, PLAIN) && !is_dense(word.p[0]) &&
           !is_function_word(word);
}

/* "482913", "482-913", "G-482913", "4711#": digits, and little else. */
static bool is_code(str v, size_t least)
{
    enum { MOST = 12, OTHERS = 3 };
    struct shape s = shape_of(v);
    return s.digits >= least && s.digits <= MOST && v.n - s.digits <= OTHERS &&
           s.letters == s.upper && !text_holds(v, ":") && !text_holds(v, ".");
}

/* "1200 lines" is a count, and "7719 for the card" is not. */
static bool is_counted(str text, struct value v)
{
    size_t next = skip(text, v.to, " ");
    return !v.ends && v.to - v.from < 5 && next > v.to && is_letter(at_or_end(text, next)) &&
           !is_function_word(str_sub(text, next, word_end(text, next)));
}

static bool is_pin(str text, struct value *v, size_t least, enum link link)
{
    enum { HALF = 3 }; /* "482 913": digits of each, or one more */
    str word = str_sub(text, v->from, v->to);
    bool is_half = is_code(word, HALF) && word.n <= HALF + 1 && at_or_end(text, v->to) == ' ';
    size_t next = v->to + is_half, end = is_half ? word_end(text, next) : next;
    if (end - next <= HALF + 1 && is_code(str_sub(text, next, end), HALF))
        v->to = end;
    struct shape s = shape_of(word);
    bool is_named = link && ((v->is_quoted && shape_is_random(word)) ||
                             (shape_is_key(word, 6) && s.letters == s.upper));
    return is_named || (is_code(word, link ? HALF : least) && !is_counted(text, *v));
}

/* "API_KEY=abcdef" names a key in capitals, so that little is asked of its value. */
static bool is_key(str word, struct value v, const struct secret_name *name, str named,
                   enum link link)
{
    enum { CAPITAL = 6, STRONG = 8, LONG = 20, HEX = 32 };
    struct shape s = shape_of(word), n = shape_of(named);
    if (link == LINK_SIGN && n.letters > 2 && n.upper == n.letters && word.n >= CAPITAL)
        return true;
    if (name->row->kind == SECRET_WEAK_KEY)
        return (link && shape_is_key(word, LONG) && s.upper && s.upper < s.letters) ||
               (link == LINK_SIGN && shape_is_key(word, HEX) && s.digits + s.letters == word.n);
    return shape_is_key(word, link ? STRONG : LONG) || (link && word.n >= LONG && s.upper) ||
           is_password(word, v, link);
}

/* "password_hash" and "testpassword"; also "user.id", but where a sentence says it. */
static bool is_code_name(str word, enum link link)
{
    bool is_joined = text_holds(word, "_") || text_holds(word, ".");
    if (!is_letters_and(word, "_."))
        return false;
    word = ended_behind(word, 0, RUN_MAX);
    for (const char *const *k = code_names; *k; k++)
        if (SOME(i, word.n, text_starts_nocase(str_sub(word, i, word.n), str_of(*k))))
            return true;
    return is_joined && link != LINK_WORD;
}

/* Whether this place has a value for the name, by such a link. */
static bool value_fits(str text, const struct secret_name *name, size_t at, enum link link,
                       struct value *v)
{
    *v = value_at(text, at);
    str word = str_sub(text, v->from, v->to);
    if (!word.n || shape_is_reference(word) || is_in_list(word, not_secret) ||
        is_code_name(word, link) || (link == LINK_NONE && !in_word(word.p[0])))
        return false;
    if (name->row->kind == SECRET_PASSWORD)
        return is_password(word, *v, link);
    if (name->row->kind == SECRET_PIN)
        return is_pin(text, v, (size_t)name->row->least, link);
    return is_key(word, *v, name, str_sub(text, name->from, name_end(text, name->to)), link);
}

/* Words that make no sentence: "correct horse battery staple". */
static bool is_phrase(str text, struct value *v)
{
    static const char ends[] = "\r\n.,;!?";
    size_t i = v->from, words = 0, listed = 0;
    for (bool is_end = false; !is_end; words++) {
        size_t end = word_end(text, i);
        str word = str_sub(text, i, end);
        if (!word.n || word.n == RUN_MAX || words == PHRASE_MOST || !is_lower(word.p[0]) ||
            !is_letters_and(word, PLAIN) || is_function_word(word))
            return false;
        listed += is_in_list(word, not_secret);
        v->to = end;
        i = skip(text, end, " \t");
        is_end = char_is_one_of(at_or_end(text, i), ends);
    }
    return words >= PHRASE_LEAST && listed * 3 < words;
}

static bool is_begin(str text, size_t i)
{
    return !i || char_is_one_of(text.p[i - 1], " \t\r\n");
}

/* "Walrus77x is my password": a link, and two words at most between it and the name. Of a long
 * value its end is judged. */
static bool said_before(str text, const struct secret_name *name, size_t *at)
{
    enum { WORDS = 5 };
    bool is_linked = false;
    for (size_t words = 0, from = name->from; words < WORDS; words++) {
        size_t end = from;
        while (end && char_is_one_of(text.p[end - 1], " \t"))
            end--;
        const size_t most = is_linked ? TOKEN_MAX : KEY_MAX;
        for (from = end; end - from < most && !is_begin(text, from);)
            from--;
        if (end - from == most && !is_linked)
            return false;
        *at = from;
        if (from == end || is_linked)
            return from < end;
        is_linked = is_in_list(str_sub(text, from, word_end(text, from)), secret_links);
    }
    return false;
}

/* "…, and the one for work is Lion77x": words of such a shape beside one, in its sentence. */
static void beside_add(str text, size_t i, struct spans *out)
{
    enum { WORDS = 16 };
    for (int k = 0; k < WORDS; k++) {
        struct value v = value_at(text, i);
        str word = str_sub(text, v.from, v.to);
        if (is_password(word, v, LINK_NONE) && !text_holds(word, ".")) /* no host */
            span_add(out, v.from, v.to);
        size_t end = v.is_quoted ? v.to : token_end(text, v.from, TOKEN_MAX);
        size_t next = skip(text, end, " \t");
        bool stops = end > i && char_is_one_of(text.p[end - 1], ".!?");
        if (at_or_end(text, next) == '\n' || (stops && !is_lower(text.p[next])))
            return;
        i = next > i ? next : i + 1;
    }
}

/* Behind the name's link, directly behind the name (in Hindi the link follows), or in front. */
static size_t word_add(str text, const struct secret_name *name, struct spans *out)
{
    bool has_sign = char_is_one_of(text.p[name->to - 1], ":="); /* the literal's own */
    size_t behind = has_sign ? name->to : name_end(text, name->to), before = text.n;
    enum link link = LINK_WEAK;
    size_t linked = has_sign ? behind : find_link(text, name, &link);
    struct value v;
    enum secret_kind kind = name->row->kind;
    bool is_found = value_fits(text, name, linked, link, &v) ||
                    (kind == SECRET_PASSWORD && link >= LINK_WORD && is_phrase(text, &v)) ||
                    (kind < SECRET_NAMED_KEY && value_fits(text, name, behind, LINK_NONE, &v)) ||
                    (said_before(text, name, &before) &&
                     value_fits(text, name, before, LINK_WORD, &v) && v.to <= name->from);
    if (!is_found)
        return name->to;
    while (before < text.n && !is_begin(text, before))
        v.from = --before;
    if (before < text.n && shape_is_reference(str_sub(text, v.from, v.to))) /* by its begin */
        return name->to;
    size_t end = v.to - v.from < TOKEN_MAX ? v.to : token_end(text, v.to, text.n);
    span_add(out, v.from, end);
    if (kind == SECRET_PASSWORD && link != LINK_SIGN)
        beside_add(text, end, out);
    return end > name->to ? end : name->to;
}

/* A match that fills the piece may go on behind it. */
static bool pattern_near(str text, const struct secret_name *name, size_t from, struct match *out)
{
    str near = name->row->kind == SECRET_BLOCK ? text : ended_behind(text, from, NEAR);
    bool is_found = pattern_find(name->pattern, near, from, out);
    if (!is_found || out->to < near.n || near.n == text.n)
        return is_found;
    return pattern_find(name->pattern, ended_behind(text, from, FAR), from, out);
}

static size_t codes_add(str text, const struct secret_name *name, struct spans *out)
{
    enum link link;
    struct match m;
    size_t i = find_link(text, name, &link);
    for (; pattern_near(text, name, i, &m); i = m.to)
        span_add(out, m.to - m.group[1].n, m.to);
    return i;
}

/* Behind the letters, digits, "_" and "-" there. */
static size_t key_end(str text, size_t i)
{
    while (is_ascii_word(at_or_end(text, i)) || char_is_one_of(at_or_end(text, i), "_-"))
        i++;
    return i;
}

/* Judged by its beginning, all of it is masked. */
static size_t keys_add(str text, const struct secret_name *name, struct spans *out)
{
    size_t i = key_end(ended_behind(text, name->to, KEY_MAX), name->to);
    str key = str_sub(text, name->to, i);
    struct shape s = shape_of(key);
    bool is_one_word = s.parts == 1 && !text_holds(key, "_");
    bool is_key = key.n >= (size_t)name->row->least &&
                  (s.digits || is_one_word || (s.upper && s.upper < s.letters));
    if (!is_key)
        return name->to;
    i = key_end(text, i);
    span_add(out, name->from, i);
    return i;
}

static size_t pattern_add(str text, const struct secret_name *name, struct spans *out)
{
    struct match m;
    size_t from = name->row->kind == SECRET_NAMED ? name->to : name->from;
    if (!pattern_near(text, name, from, &m))
        return name->to;
    from = m.group[1].p ? (size_t)(m.group[1].p - text.p) : m.from;
    span_add(out, from, m.group[1].p ? from + m.group[1].n : m.to);
    return m.to;
}

size_t secret_values_add(str text, const struct secret_name *name, struct spans *out)
{
    enum { SHORT = 4 }; /* bytes of a name that may begin other words: "pin", "pink" */
    enum secret_kind kind = name->row->kind;
    bool is_short = kind > SECRET_SHAPE && name->to - name->from <= SHORT;
    if (is_short && is_ascii_word(text.p[name->to - 1]) && is_ascii_word(at_or_end(text, name->to)))
        return name->to;
    return kind == SECRET_KEYS    ? keys_add(text, name, out)
           : kind == SECRET_CODES ? codes_add(text, name, out)
           : name->row->regex     ? pattern_add(text, name, out)
                                  : word_add(text, name, out);
}
