/* repair.c - finds the JSON object in the text of a model, and repairs it if needed. */

#include "llm/llm.h"

/*
 * Valid JSON is used unchanged. Otherwise one pass reads the text as a damaged object and writes a
 * valid one. A value that the end of the text cuts is dropped, since half a fact may say something
 * else than the whole one.
 *
 * The pass is a small state machine: a stack of open brackets, a place in the input, and the output
 * so far. Each round skips what may stand between values and then copies one item or closes one
 * bracket. Look-ahead stops at the next quote (ends_there), so the time is linear in the text, also
 * for hostile input. The output is parsed again by the strict reader: an error in the repair can
 * lose an answer but cannot let invalid JSON through.
 */
struct mend {
    str in;
    size_t at;
    struct json_out w;
    char open[JSON_DEPTH_MAX]; /* open brackets */
    size_t depth, members;
    bool is_empty; /* nothing was between the brackets */
    bool too_deep;
};

static char next_char(const struct mend *m)
{
    return m->at < m->in.n ? m->in.p[m->at] : 0;
}

static bool text_is_at(str in, size_t at, str what)
{
    return str_starts(str_sub(in, at, in.n), what);
}

/* --- between the values --- */

/* Behind the first occurrence of what, or the end of the text. */
static size_t find_past(str in, size_t at, str what)
{
    size_t found = str_find(str_sub(in, at, in.n), what);
    return at + found + what.n < in.n ? at + found + what.n : in.n;
}

/* The place after spaces, control characters and no-break spaces; breaks: a newline was there. */
static size_t past_space(str in, size_t at, bool *breaks)
{
    static const str odd[] = {S("\xC2\xA0"), S("\xE2\x80\x8B"), S("\xEF\xBB\xBF")};
    while (at < in.n) {
        size_t n = (unsigned char)in.p[at] <= ' ';
        *breaks |= in.p[at] == '\n';
        for (size_t i = 0; !n && i < sizeof odd / sizeof *odd; i++)
            n = text_is_at(in, at, odd[i]) ? odd[i].n : 0;
        if (!n)
            break;
        at += n;
    }
    return at;
}

/* Skips white space, comments and characters of also. Models add comments to JSON. */
static void skip_space(struct mend *m, const char *also)
{
    bool breaks = false;
    for (;;) {
        m->at = past_space(m->in, m->at, &breaks);
        if (text_is_at(m->in, m->at, S("/*")))
            m->at = find_past(m->in, m->at + 2, S("*/"));
        else if (text_is_at(m->in, m->at, S("//")) || next_char(m) == '#')
            m->at = find_past(m->in, m->at, S("\n"));
        else if (char_is_one_of(next_char(m), also))
            m->at++;
        else
            return;
    }
}

/* --- strings --- */

struct quote {
    char kind; /* typographic quotes: d for double, s for single; 0: not a quote */
    size_t n;
};

static struct quote quote_at(str in, size_t at)
{
    static const struct {
        str text;
        char kind;
    } quotes[] = {
        {S("\""), '"'},           {S("'"), '\''},           {S("`"), '`'},
        {S("\xE2\x80\x9C"), 'd'}, {S("\xE2\x80\x9D"), 'd'}, {S("\xE2\x80\x9E"), 'd'},
        {S("\xE2\x80\x9F"), 'd'}, {S("\xC2\xAB"), 'd'},     {S("\xC2\xBB"), 'd'},
        {S("\xE2\x80\x98"), 's'}, {S("\xE2\x80\x99"), 's'}, {S("\xE2\x80\x9A"), 's'},
        {S("\xE2\x80\x9B"), 's'},
    };
    bool may_be = at < in.n && char_is_one_of(in.p[at], "\"'`\xE2\xC2");
    for (size_t i = 0; may_be && i < sizeof quotes / sizeof *quotes; i++)
        if (text_is_at(in, at, quotes[i].text))
            return (struct quote){quotes[i].kind, quotes[i].text.n};
    return (struct quote){0};
}

/* Models open with a typographic quote and close with a plain one, or with its counterpart. */
static bool quotes_match(char opening, char closing)
{
    return closing == opening || (opening == 'd' && closing == '"') ||
           (opening == 's' && closing == '\'') || (opening == '`' && closing == '\'');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static bool is_name_char(char c)
{
    return is_letter(c) || char_is_one_of(c, "_-$");
}

enum { WORD_MAX = 64 }; /* bytes of a name that is looked for */

/* Whether a name in quotes and its ":" stand at at. */
static bool name_stands(const struct mend *m, size_t at)
{
    bool breaks = false;
    size_t opening = quote_at(m->in, at).n, from = at + opening;
    for (at = from; opening && at < m->in.n && at - from < WORD_MAX; at++)
        if (quote_at(m->in, at).n)
            break;
    size_t closing = at > from ? quote_at(m->in, at).n : 0;
    at = past_space(m->in, at + closing, &breaks);
    return opening && closing && at < m->in.n && char_is_one_of(m->in.p[at], ":=");
}

/*
 * Whether the quote before at ends its string, judged by what follows; otherwise the quote should
 * have been escaped. So it is with the comma at at and a value without quotes. The look-ahead stops
 * behind the next two quotes, so the whole pass stays linear.
 */
static bool ends_there(const struct mend *m, size_t at)
{
    assert(m->depth > 0);
    bool is_list = m->open[m->depth - 1] == '[', breaks = false;
    at = past_space(m->in, at, &breaks);
    if (at == m->in.n || breaks || char_is_one_of(m->in.p[at], "}]#") ||
        text_is_at(m->in, at, S("//")) || text_is_at(m->in, at, S("/*")))
        return true;
    if (m->in.p[at] != ',')
        return !is_list && name_stands(m, at); /* the comma is missing */
    at = past_space(m->in, at + 1, &breaks);
    if (at == m->in.n || breaks ||
        char_is_one_of(m->in.p[at], is_list ? "}],#/.{[-0123456789" : "},#/.") ||
        quote_at(m->in, at).n)
        return true;
    size_t from = at;
    while (at < m->in.n && at - from < WORD_MAX && is_name_char(m->in.p[at]))
        at++;
    bool is_word = at > from;
    at = past_space(m->in, at, &breaks);
    return at == m->in.n || (is_word && char_is_one_of(m->in.p[at], is_list ? ",]" : ":="));
}

static bool is_hex(str s)
{
    return EVERY(i, s.n, hex_digit(s.p[i]) >= 0);
}

/*
 * Writes the escape at the backslash as valid JSON. After an escape that JSON lacks, a mark loses
 * the backslash, and a letter keeps it as text (a path, a regex). Returns the length of an escaped
 * quote, which is text then.
 */
static size_t mend_escape(struct mend *m)
{
    struct buf *b = m->w.b;
    str rest = str_sub(m->in, m->at, m->in.n);
    char c = rest.n > 1 ? rest.p[1] : 0;
    size_t n = 2, quoted = 0;
    if (c == 'u' && rest.n >= 6 && is_hex(str_sub(rest, 2, 6))) {
        n = 6;
        buf_add(b, str_sub(rest, 0, n));
    } else if (c == 'x' && rest.n >= 4 && is_hex(str_sub(rest, 2, 4))) {
        n = 4;
        buf_add(b, S("\\u00"));
        buf_add(b, str_sub(rest, 2, n));
    } else if (char_is_one_of(c, "\"\\/bfnrt")) {
        buf_add(b, str_sub(rest, 0, n));
    } else {
        n = 1;
        quoted = quote_at(m->in, m->at + 1).n;
        if (is_letter(c) && !quoted)
            buf_add(b, S("\\\\"));
    }
    m->at += n;
    return quoted;
}

/* A string without its end. When the text ends with a bracket, only the quote is missing, so the
 * string is whole. */
static bool lacks_quote(struct mend *m, size_t from)
{
    size_t end = m->in.n;
    while (end > from &&
           ((unsigned char)m->in.p[end - 1] <= ' ' || char_is_one_of(m->in.p[end - 1], "}]")))
        end--;
    m->at = end;
    str tail = str_trim(str_sub(m->in, end, m->in.n));
    json_escape(m->w.b, str_sub(m->in, from, end));
    buf_byte(m->w.b, '"');
    if (!tail.n)
        m->at = m->in.n;
    return tail.n > 0;
}

/* Writes the string that begins here. False: the end of the text cuts it. */
static bool mend_string(struct mend *m, bool is_name)
{
    char opening = quote_at(m->in, m->at).kind;
    size_t from = m->at += quote_at(m->in, m->at).n;
    if (m->w.comma)
        buf_byte(m->w.b, ',');
    m->w.comma = true;
    buf_byte(m->w.b, '"');
    while (m->at < m->in.n) {
        struct quote now = quote_at(m->in, m->at);
        if (now.n && quotes_match(opening, now.kind) && (is_name || ends_there(m, m->at + now.n))) {
            json_escape(m->w.b, str_sub(m->in, from, m->at));
            buf_byte(m->w.b, '"');
            m->at += now.n;
            return true;
        }
        if (next_char(m) == '\\') {
            json_escape(m->w.b, str_sub(m->in, from, m->at));
            size_t quoted = mend_escape(m);
            from = m->at;
            m->at += quoted;
        } else {
            m->at += now.n ? now.n : 1;
        }
    }
    return lacks_quote(m, from);
}

/* --- words without quotes --- */

/* A comma belongs to the value of a member where no other member follows it: "0,8", "cats, dogs and
 * birds". Half of a number is another number. */
static str bare_word(struct mend *m, bool is_name)
{
    bool is_member = !is_name && m->open[m->depth - 1] == '{';
    size_t from = m->at;
    for (; m->at < m->in.n; m->at++) {
        char c = next_char(m);
        if (c == ',' && is_member && !ends_there(m, m->at))
            continue;
        if (char_is_one_of(c, ",{}[]\"\n\r") ||
            (is_name && (char_is_one_of(c, ":=") || (unsigned char)c <= ' ')))
            break;
        bool is_apart = m->at > from && char_is_one_of(m->in.p[m->at - 1], " \t");
        if (is_apart &&
            (c == '#' || text_is_at(m->in, m->at, S("//")) || text_is_at(m->in, m->at, S("/*"))))
            break;
    }
    str word = str_trim(str_sub(m->in, from, m->at));
    while (is_member && str_ends(word, S(",")))
        word = str_trim(str_sub(word, 0, word.n - 1));
    return word;
}

static size_t count_digits(str s, size_t at)
{
    size_t from = at;
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
        at++;
    return at - from;
}

/* A number, also in forms that JSON lacks: +1, .5, 5. But 007 is text, such as a code. */
static bool mend_number(struct mend *m, str s)
{
    bool is_less = s.n && s.p[0] == '-';
    size_t at = is_less || (s.n && s.p[0] == '+');
    size_t whole = count_digits(s, at), from = at, part = 0;
    at += whole;
    if (at < s.n && s.p[at] == '.') {
        part = count_digits(s, at + 1);
        at += 1 + part;
    }
    size_t end = at;
    if (at < s.n && char_is_one_of(s.p[at], "eE")) {
        at += 1 + (at + 1 < s.n && char_is_one_of(s.p[at + 1], "+-"));
        if (!count_digits(s, at))
            return false;
        at += count_digits(s, at);
    }
    if (at != s.n || (!whole && !part) || (whole > 1 && s.p[from] == '0'))
        return false;
    json_raw(&m->w, is_less ? S("-") : S(""));
    buf_add(m->w.b, whole ? str_sub(s, from, from + whole) : S("0"));
    if (part)
        buf_add(m->w.b, str_sub(s, end - part - 1, end));
    buf_add(m->w.b, str_sub(s, end, s.n));
    return true;
}

/* A word at the very end may be cut, so it is dropped; "..." is how a model abbreviates a list. */
static bool mend_bare(struct mend *m)
{
    /* What is written for null, behind the two truths. */
    static const char *const words[] = {"true",      "false",     "null",      "none", "nil",
                                        "undefined", "nan",       "inf",       "-inf", "+inf",
                                        "infinity",  "-infinity", "+infinity", NULL};
    str s = bare_word(m, false);
    if (str_is_one_of(s, words)) {
        bool is_truth = str_eq_nocase(s, S("true")) || str_eq_nocase(s, S("false"));
        json_raw(&m->w, is_truth ? str_lower(m->w.b->arena, s) : S("null"));
        return true;
    }
    if (mend_number(m, s))
        return true;
    if (m->at == m->in.n || str_starts(s, S("...")) || str_starts(s, S("\xE2\x80\xA6")))
        return false;
    json_str(&m->w, s);
    return true;
}

/* --- the whole --- */

/* The limit is that of the parser, which would refuse deeper nesting anyway. */
static bool push_bracket(struct mend *m, char bracket)
{
    m->too_deep = m->depth == JSON_DEPTH_MAX;
    if (m->too_deep)
        return false;
    json_open(&m->w, bracket);
    m->open[m->depth++] = bracket;
    m->at++;
    return true;
}

static void pop_bracket(struct mend *m)
{
    assert(m->depth > 0);
    json_close(&m->w, m->open[--m->depth] == '{' ? '}' : ']');
}

/* Closes the matching bracket, and inner ones that the model forgot to close. */
static void close_bracket(struct mend *m)
{
    char opening = next_char(m) == '}' ? '{' : '[';
    size_t k = m->depth;
    m->at++;
    while (k && m->open[k - 1] != opening)
        k--;
    while (k && m->depth >= k)
        pop_bracket(m);
}

/* False: no value, or one that is cut. */
static bool mend_value(struct mend *m)
{
    skip_space(m, "");
    char c = next_char(m);
    if (m->at >= m->in.n)
        return false;
    if (char_is_one_of(c, "{["))
        return push_bracket(m, c);
    if (quote_at(m->in, m->at).n)
        return mend_string(m, false);
    if (char_is_one_of(c, ",}]")) {
        json_null(&m->w);
        return true;
    }
    return mend_bare(m);
}

/* A member's name and its separator. */
static bool mend_name(struct mend *m)
{
    if (quote_at(m->in, m->at).n) {
        if (!mend_string(m, true))
            return false;
    } else {
        str name = bare_word(m, true);
        m->at += !name.n;
        json_str(&m->w, name);
        if (!name.n)
            return false;
    }
    skip_space(m, "");
    if (!char_is_one_of(next_char(m), ":="))
        return false;
    m->at += 1 + text_is_at(m->in, m->at, S("=>"));
    buf_byte(m->w.b, ':');
    m->w.comma = false;
    return true;
}

/* A member or element. One that turns out to be invalid is removed from the output again. */
static void mend_item(struct mend *m)
{
    size_t n = m->w.b->n;
    bool comma = m->w.comma, is_member = m->open[m->depth - 1] == '{';
    m->is_empty = false;
    if ((!is_member || mend_name(m)) && mend_value(m)) {
        m->members += is_member;
        return;
    }
    m->w.b->n = n;
    m->w.comma = comma;
}

/* Repairs the object at the brace at *at, and moves *at behind it. False: not an object. */
static bool mend_object(struct ctx *ctx, str text, size_t *at, str *out)
{
    /* The longest a byte can become is an escape of six bytes; brackets and commas that were
     * missing are added. */
    struct buf b = buf_make(&ctx->arena, text.n * 8 + 1024);
    struct mend m = {.in = text, .at = *at, .w = json_to(&b), .is_empty = true};
    bool is_closed = false;
    assert(text.p[*at] == '{');
    push_bracket(&m, '{');
    while (m.depth && !m.too_deep) {
        skip_space(&m, ",");
        if (m.at >= text.n) {
            while (m.depth)
                pop_bracket(&m);
        } else if (char_is_one_of(next_char(&m), "}]")) {
            close_bracket(&m);
            is_closed = !m.depth;
        } else {
            mend_item(&m);
        }
    }
    *at = m.too_deep ? text.n : m.at;
    *out = buf_str(&b);
    return !m.too_deep && !b.full && (m.members || (m.is_empty && is_closed));
}

/* --- finding the object --- */

/* The text as a value of that type, or NULL. */
static struct json *parse_as(struct ctx *ctx, str text, enum json_type type)
{
    struct json *v = NULL;
    soft(ctx, json_parse(ctx, text, &v));
    return v && v->type == type ? v : NULL;
}

/* The next line from at on that begins with a fence; text.n: none. */
static size_t find_fence(str text, size_t at)
{
    while (at < text.n) {
        size_t line = at;
        while (at < text.n && char_is_one_of(text.p[at], " \t"))
            at++;
        if (text_is_at(text, at, S("```")))
            return at;
        at = find_past(text, line, S("\n"));
    }
    return text.n;
}

/* The text between the first two fences, without the name of the language. */
static str fenced_text(str text)
{
    size_t at = find_fence(text, 0), end = text.n;
    if (at == text.n)
        return S("");
    at += 3;
    while (at < text.n && is_name_char(text.p[at]))
        at++;
    size_t line = find_past(text, at, S("\n"));
    if (line < text.n || text.p[text.n - 1] == '\n')
        end = find_fence(text, line);
    return str_trim(str_sub(text, at, end));
}

/* The place after the brace that closes the one at at, by the rules of JSON; 0: none. */
static size_t find_closing(str text, size_t at)
{
    size_t depth = 0;
    bool is_string = false;
    for (; at < text.n; at++) {
        char c = text.p[at];
        if (c == '"')
            is_string = !is_string;
        else if (is_string)
            at += c == '\\';
        else if (c == '{')
            depth++;
        else if (c == '}' && --depth == 0)
            return at + 1;
    }
    return 0;
}

/* Tries each brace. The text before seen was read already, so that the search stays linear. A model
 * may write prose with braces before its answer: a brace that leads to no object is passed over. */
static struct json *find_object(struct ctx *ctx, str text)
{
    size_t at = 0, seen = 0;
    while ((at += str_find(str_sub(text, at, text.n), S("{"))) < text.n) {
        struct json *v = NULL;
        str mended;
        if (at >= seen) {
            size_t end = find_closing(text, at);
            seen = end ? end : text.n;
            v = end ? parse_as(ctx, str_sub(text, at, end), JSON_OBJECT) : NULL;
        }
        if (!v && mend_object(ctx, text, &at, &mended))
            v = parse_as(ctx, mended, JSON_OBJECT);
        if (v)
            return v;
    }
    return NULL;
}

/* A missing last bracket alone cuts nothing. */
bool llm_breaks_off(str text)
{
    text = str_trim(text);
    size_t at = str_find(text, S("{"));
    return at < text.n && !find_closing(text, at) && !char_is_one_of(text.p[text.n - 1], "}]`");
}

/* From the cheapest to the most tolerant: the text as it is, a JSON string that holds JSON, the
 * fenced block, any brace. */
enum status llm_object(struct ctx *ctx, str text, struct json **out)
{
    if (str_starts(text, S("\xEF\xBB\xBF")))
        text = str_sub(text, 3, text.n);
    struct json *v = parse_as(ctx, text, JSON_OBJECT);
    if (!v) {
        const struct json *quoted = parse_as(ctx, text, JSON_STRING);
        text = quoted ? json_string(quoted) : text;
        str inside = text.n ? fenced_text(text) : S("");
        v = parse_as(ctx, inside, JSON_OBJECT);
        v = v ? v : find_object(ctx, inside);
        v = v || !text.n ? v : find_object(ctx, text);
    }
    if (!v)
        return fail(ctx, BAD_INPUT, "the answer has no JSON object");
    *out = v;
    return OK;
}
