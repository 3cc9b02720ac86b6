/* repair.c - the JSON object in what a model wrote, mended where it is not quite JSON. */
#include "base/words.h"
#include "llm/llm.h"

/*
 * What is valid JSON is taken as it stands. The rest is read once from front to back by a reader
 * that expects an object and never gives up, and is written anew. What the end of the text cuts
 * through is left out, for half a fact may say something else than the whole one.
 */
struct mend {
    str in;
    size_t at;
    struct json_out w;
    char open[JSON_DEPTH_MAX]; /* the brackets that are open */
    size_t depth, members;
    bool is_empty; /* nothing stood between the brackets */
    bool too_deep;
};

static bool is_any(char c, const char *of)
{
    return c && strchr(of, c) != NULL;
}

static char peek(const struct mend *m)
{
    return m->at < m->in.n ? m->in.p[m->at] : 0;
}

static bool stands(str in, size_t at, str what)
{
    return str_starts(str_sub(in, at, in.n), what);
}

/* --- between the values --- */

static size_t past(str in, size_t at, str what)
{
    size_t found = str_find(str_sub(in, at, in.n), what);
    return at + found + what.n < in.n ? at + found + what.n : in.n;
}

/* Behind white space, control characters and the marks that look like white space. */
static size_t past_space(str in, size_t at, bool *breaks)
{
    static const str odd[] = {S("\xC2\xA0"), S("\xE2\x80\x8B"), S("\xEF\xBB\xBF")};
    while (at < in.n) {
        size_t n = (unsigned char)in.p[at] <= ' ';
        *breaks |= in.p[at] == '\n';
        for (size_t i = 0; !n && i < sizeof odd / sizeof *odd; i++)
            n = stands(in, at, odd[i]) ? odd[i].n : 0;
        if (!n)
            break;
        at += n;
    }
    return at;
}

/* Behind space and comments, and whatever of also stands there. */
static void skip(struct mend *m, const char *also)
{
    bool breaks = false;
    for (;;) {
        m->at = past_space(m->in, m->at, &breaks);
        if (stands(m->in, m->at, S("/*")))
            m->at = past(m->in, m->at + 2, S("*/"));
        else if (stands(m->in, m->at, S("//")) || peek(m) == '#')
            m->at = past(m->in, m->at, S("\n"));
        else if (is_any(peek(m), also))
            m->at++;
        else
            return;
    }
}

/* --- strings --- */

struct quote {
    char kind; /* of the typographic ones: d for double, s for single; 0: it is none */
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
    bool may_be = at < in.n && is_any(in.p[at], "\"'`\xE2\xC2");
    for (size_t i = 0; may_be && i < sizeof quotes / sizeof *quotes; i++)
        if (stands(in, at, quotes[i].text))
            return (struct quote){quotes[i].kind, quotes[i].text.n};
    return (struct quote){0};
}

static bool fits(char opening, char closing)
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
    return is_letter(c) || is_any(c, "_-$");
}

/*
 * Whether a quote before at ends its string, or is one that should have been escaped: what follows
 * tells. No look ahead goes beyond the next quote, so that the whole stays linear.
 */
static bool ends_there(const struct mend *m, size_t at)
{
    enum { WORD_MAX = 64 };
    bool is_list = m->open[m->depth - 1] == '[', breaks = false;
    at = past_space(m->in, at, &breaks);
    if (at == m->in.n || breaks || is_any(m->in.p[at], "}]#") || stands(m->in, at, S("//")) ||
        stands(m->in, at, S("/*")))
        return true;
    if (m->in.p[at] != ',')
        return false;
    at = past_space(m->in, at + 1, &breaks);
    if (at == m->in.n || breaks || is_any(m->in.p[at], is_list ? "}],#/.{[-0123456789" : "},#/.") ||
        quote_at(m->in, at).n)
        return true;
    size_t from = at;
    while (at < m->in.n && at - from < WORD_MAX && is_name_char(m->in.p[at]))
        at++;
    bool is_word = at > from;
    at = past_space(m->in, at, &breaks);
    return at == m->in.n || (is_word && is_any(m->in.p[at], is_list ? ",]" : ":="));
}

static bool is_hex(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_any(s.p[i], "0123456789abcdefABCDEF"))
            return false;
    return true;
}

/*
 * The escape that starts at the backslash, as JSON has it. What JSON does not know is text: a mark
 * loses its backslash and a letter keeps it (a folder's name, a pattern). Gives the length of the
 * quote that is text for that reason.
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
    } else if (is_any(c, "\"\\/bfnrt")) {
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

/* A string that is still open at the end: a bracket there tells that only its quote is missing. */
static bool lacks_quote(struct mend *m, size_t from)
{
    size_t end = m->in.n;
    while (end > from && ((unsigned char)m->in.p[end - 1] <= ' ' || is_any(m->in.p[end - 1], "}]")))
        end--;
    m->at = end;
    str tail = str_trim(str_sub(m->in, end, m->in.n));
    json_escape(m->w.b, str_sub(m->in, from, end));
    buf_byte(m->w.b, '"');
    if (!tail.n)
        m->at = m->in.n;
    return tail.n > 0;
}

/* The string whose quote stands here; false when the end cuts it. */
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
        if (now.n && fits(opening, now.kind) && (is_name || ends_there(m, m->at + now.n))) {
            json_escape(m->w.b, str_sub(m->in, from, m->at));
            buf_byte(m->w.b, '"');
            m->at += now.n;
            return true;
        }
        if (peek(m) == '\\') {
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

static str bare(struct mend *m, bool is_name)
{
    size_t from = m->at;
    for (; m->at < m->in.n; m->at++) {
        char c = peek(m);
        if (is_any(c, ",{}[]\"\n\r") || (is_name && (is_any(c, ":=") || (unsigned char)c <= ' ')))
            break;
        bool is_apart = m->at > from && is_any(m->in.p[m->at - 1], " \t");
        if (is_apart &&
            (c == '#' || stands(m->in, m->at, S("//")) || stands(m->in, m->at, S("/*"))))
            break;
    }
    return str_trim(str_sub(m->in, from, m->at));
}

static size_t digits(str s, size_t at)
{
    size_t from = at;
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
        at++;
    return at - from;
}

/* A number, also as others write it: +1, .5, 5. - but 007 is none. */
static bool mend_number(struct mend *m, str s)
{
    bool is_less = s.n && s.p[0] == '-';
    size_t at = is_less || (s.n && s.p[0] == '+');
    size_t whole = digits(s, at), from = at, part = 0;
    at += whole;
    if (at < s.n && s.p[at] == '.') {
        part = digits(s, at + 1);
        at += 1 + part;
    }
    size_t end = at;
    if (at < s.n && is_any(s.p[at], "eE")) {
        at += 1 + (at + 1 < s.n && is_any(s.p[at + 1], "+-"));
        if (!digits(s, at))
            return false;
        at += digits(s, at);
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

static bool mend_bare(struct mend *m)
{
    static const struct {
        const char *word, *json;
    } words[] = {{"true", "true"},     {"false", "false"},   {"null", "null"},
                 {"none", "null"},     {"nil", "null"},      {"undefined", "null"},
                 {"nan", "null"},      {"inf", "null"},      {"-inf", "null"},
                 {"+inf", "null"},     {"infinity", "null"}, {"-infinity", "null"},
                 {"+infinity", "null"}};
    str s = bare(m, false);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_eq_nocase(s, str_of(words[i].word))) {
            json_raw(&m->w, str_of(words[i].json));
            return true;
        }
    }
    if (mend_number(m, s))
        return true;
    if (m->at == m->in.n || str_starts(s, S("...")) || str_starts(s, S("\xE2\x80\xA6")))
        return false;
    json_str(&m->w, s);
    return true;
}

/* --- the whole --- */

static bool push(struct mend *m, char bracket)
{
    m->too_deep = m->depth == JSON_DEPTH_MAX;
    if (m->too_deep)
        return false;
    json_open(&m->w, bracket);
    m->open[m->depth++] = bracket;
    m->at++;
    return true;
}

static void pop(struct mend *m)
{
    json_close(&m->w, m->open[--m->depth] == '{' ? '}' : ']');
}

/* Closes what the bracket closes, and what should have been closed before it. */
static void close_bracket(struct mend *m)
{
    char opening = peek(m) == '}' ? '{' : '[';
    size_t k = m->depth;
    m->at++;
    while (k && m->open[k - 1] != opening)
        k--;
    while (k && m->depth >= k)
        pop(m);
}

/* False when there is none, or only a part of one. */
static bool mend_value(struct mend *m)
{
    skip(m, "");
    char c = peek(m);
    if (m->at >= m->in.n)
        return false;
    if (is_any(c, "{["))
        return push(m, c);
    if (quote_at(m->in, m->at).n)
        return mend_string(m, false);
    if (is_any(c, ",}]")) {
        json_null(&m->w);
        return true;
    }
    return mend_bare(m);
}

/* A name and what separates it from its value. */
static bool mend_name(struct mend *m)
{
    if (quote_at(m->in, m->at).n) {
        if (!mend_string(m, true))
            return false;
    } else {
        str name = bare(m, true);
        m->at += !name.n;
        json_str(&m->w, name);
        if (!name.n)
            return false;
    }
    skip(m, "");
    if (!is_any(peek(m), ":="))
        return false;
    m->at += 1 + stands(m->in, m->at, S("=>"));
    buf_byte(m->w.b, ':');
    m->w.comma = false;
    return true;
}

/* What turns out to be no member or element is taken back. */
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

/* From the brace at *at on; *at goes behind what was read. False when it is no object. */
static bool mend(struct ctx *ctx, str text, size_t *at, str *out)
{
    struct buf b = buf_make(&ctx->arena, text.n * 8 + 1024);
    struct mend m = {.in = text, .at = *at, .w = json_to(&b), .is_empty = true};
    bool is_closed = false;
    push(&m, '{');
    while (m.depth && !m.too_deep) {
        skip(&m, ",");
        if (m.at >= text.n) {
            while (m.depth)
                pop(&m);
        } else if (is_any(peek(&m), "}]")) {
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

/* --- where it stands --- */

/* The value when the text is one of that type, else NULL. */
static struct json *parse(struct ctx *ctx, str text, enum json_type type)
{
    struct json *v = NULL;
    if (json_parse(ctx, text, &v) != OK)
        ctx_clear_failure(ctx);
    return v && v->type == type ? v : NULL;
}

/* Where a line begins with a fence, from at on; its end when none does. */
static size_t fence(str text, size_t at)
{
    while (at < text.n) {
        size_t line = at;
        while (at < text.n && is_any(text.p[at], " \t"))
            at++;
        if (stands(text, at, S("```")))
            return at;
        at = past(text, line, S("\n"));
    }
    return text.n;
}

/* What stands between the first two, without the word that names the language. */
static str fenced(str text)
{
    size_t at = fence(text, 0), end = text.n;
    if (at == text.n)
        return S("");
    at += 3;
    while (at < text.n && is_name_char(text.p[at]))
        at++;
    size_t line = past(text, at, S("\n"));
    if (line < text.n || text.p[text.n - 1] == '\n')
        end = fence(text, line);
    return str_trim(str_sub(text, at, end));
}

/* Behind the brace that closes the one at at, by the rules of JSON; 0 when none does. */
static size_t closing(str text, size_t at)
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

/* From the first brace that begins an object. Neither reader looks at a byte twice. */
static struct json *find(struct ctx *ctx, str text)
{
    size_t at = 0, seen = 0;
    while ((at += str_find(str_sub(text, at, text.n), S("{"))) < text.n) {
        struct json *v = NULL;
        str mended;
        if (at >= seen) {
            size_t end = closing(text, at);
            seen = end ? end : text.n;
            v = end ? parse(ctx, str_sub(text, at, end), JSON_OBJECT) : NULL;
        }
        if (!v && mend(ctx, text, &at, &mended))
            v = parse(ctx, mended, JSON_OBJECT);
        if (v)
            return v;
    }
    return NULL;
}

enum status llm_object(struct ctx *ctx, str text, struct json **out)
{
    if (str_starts(text, S("\xEF\xBB\xBF")))
        text = str_sub(text, 3, text.n);
    struct json *v = parse(ctx, text, JSON_OBJECT);
    if (!v) {
        const struct json *quoted = parse(ctx, text, JSON_STRING);
        text = quoted ? quoted->string : text;
        str inside = text.n ? fenced(text) : S("");
        v = parse(ctx, inside, JSON_OBJECT);
        v = v ? v : find(ctx, inside);
        v = v || !text.n ? v : find(ctx, text);
    }
    if (!v)
        return fail(ctx, BAD_INPUT, "there is no JSON object in it");
    *out = v;
    return OK;
}
