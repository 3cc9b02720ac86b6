/* block_strip.c - finding a block of memory again in a text, and lines that look like none. */
#include "engine/text/block_strip.h"

#include <utf8proc.h>

#include "base/utf8.h"

#include "engine/text/bytes.h"

/*
 * Clients send back what they were given. If it were kept as the user's words, memory would
 * remember itself. Two forms are known: our own (BLOCK_OPENING to BLOCK_CLOSING, also without its
 * end) and "[Memory] … [/Memory]", which is cut only when it is whole, as a person may type it.
 */

/* Its length at from, line breaks of either kind, or 0. */
static size_t starts_at(str text, size_t from, const char *opening)
{
    size_t at = from;
    for (const char *c = opening; *c; c++) {
        if (*c == '\n' && at < text.n && text.p[at] == '\r')
            at++;
        if (at == text.n || text.p[at] != *c)
            return 0;
        at++;
    }
    return at - from;
}

/* Length of the opening at from, or 0. */
static size_t opening_at(str text, size_t from)
{
    size_t n = starts_at(text, from, BLOCK_OPENING);
    return n ? n : starts_at(text, from, BLOCK_OPENING_BEFORE);
}

struct cut {
    size_t from, to;
};

/* Our block at from, as far as it is whole: a client may have cut its end off. */
static bool own_block(str text, size_t from, struct cut *out)
{
    size_t opening = opening_at(text, from), to = from + opening;
    if (!opening)
        return false;
    while (to < text.n && str_starts(str_sub(text, to, text.n), S("- ")))
        to = next_line(text, to);
    if (str_starts(str_sub(text, to, text.n), S(BLOCK_CLOSING)))
        to += sizeof BLOCK_CLOSING - 1;
    *out = (struct cut){from, to};
    return true;
}

/* "[Memory]\n…\n[/Memory]\n\n", the bracket form: other clients put it before a message. */
static bool bracket_block(str text, size_t from, struct cut *out)
{
    str rest = str_sub(text, from, text.n);
    if (!str_starts(rest, S("[Memory]\n")))
        return false;
    size_t to = str_find(rest, S("\n[/Memory]")) + sizeof "\n[/Memory]" - 1;
    for (int i = 0; i < 2 && to < rest.n && rest.p[to] == '\n'; i++)
        to++;
    *out = (struct cut){from, from + to};
    return to <= rest.n;
}

/* A text being stripped: what is kept of it, and how far it has been looked at. */
struct strip {
    str text;
    size_t at;      /* all before it is kept or gone */
    size_t closing; /* where the last [/Memory] stands: behind it none need be looked for */
    struct buf kept;
};

/* The blank line that parts our block from the text around it goes with it. */
static struct cut with_gap(const struct strip *s, struct cut c)
{
    if (str_ends(str_sub(s->text, s->at, c.from), S("\n\n")))
        c.from -= 2;
    else if (c.from == s->at && !s->kept.n &&
             str_starts(str_sub(s->text, c.to, s->text.n), S("\n\n")))
        c.to += 2;
    return c;
}

/* Candidates begin with "<" or "["; all other bytes cost one comparison. */
static bool next_block(const struct strip *s, struct cut *out)
{
    for (size_t i = s->at; i < s->text.n; i++) {
        if (s->text.p[i] == '<' && own_block(s->text, i, out)) {
            *out = with_gap(s, *out);
            return true;
        }
        if (s->text.p[i] == '[' && i < s->closing && bracket_block(s->text, i, out))
            return true;
    }
    return false;
}

/* Looked for once, from the end: a text of many "[Memory]" without an end costs no square. */
static size_t last_closing(str text)
{
    str mark = S("\n[/Memory]");
    for (size_t at = text.n; at-- > 0;)
        if (text.p[at] == '\n' && str_starts(str_sub(text, at, text.n), mark))
            return at;
    return 0;
}

/* The text itself when there is no block. A whole "Memory context: …" message is dropped. */
str engine_strip_block(struct arena *a, str text)
{
    struct cut cut;
    if (str_starts(text, S("Memory context: ")))
        return S("");
    /* Nearly every text of nearly every request ends here. */
    if (!text_holds(text, "<remembered>") && !text_holds(text, "[Memory]\n"))
        return text;
    struct strip s = {.text = text, .closing = last_closing(text), .kept = buf_make(a, text.n + 1)};
    while (next_block(&s, &cut)) {
        buf_add(&s.kept, str_sub(text, s.at, cut.from));
        s.at = cut.to;
    }
    if (!s.at)
        return text;
    buf_add(&s.kept, str_sub(text, s.at, text.n));
    return buf_str(&s.kept);
}

/* "- 2026-05-08 (today), Anna [9f8e7d6c]: text", "- [9f8e7d6c]: text"; of the bracket form
 * "- [2026-05-08] text" or "- text". */
static str text_of_line(str line, bool is_own)
{
    str mark = is_own ? S("]: ") : S("] ");
    size_t text = str_find(line, mark);
    bool is_marked = text < line.n && (is_own || str_starts(line, S("- [")));
    if (!str_starts(line, S("- ")) || (is_own && !is_marked))
        return S("");
    return str_trim(str_sub(line, is_marked ? text + mark.n : 2, line.n));
}

struct strs block_texts(struct arena *a, str block)
{
    struct strs out = {NEW_N(a, str, block.n / 2 + 1), 0};
    struct cut cut;
    size_t at = 0;
    while (at < block.n && !own_block(block, at, &cut) && !bracket_block(block, at, &cut))
        at++;
    if (at == block.n)
        return out;
    bool is_own = block.p[at] == '<';
    for (at += is_own ? opening_at(block, at) : 0; at < cut.to; at = next_line(block, at)) {
        str text = text_of_line(str_sub(block, at, next_line(block, at)), is_own);
        if (text.n)
            out.v[out.n++] = text;
    }
    return out;
}

/* --- a text as one visible line --- */

/* What is remembered goes into a block of lines, so a text must not be able to end its line, close
 * the block or hide words from the person who reads the receipt. Line breaks become blanks,
 * characters without width and marks of direction go, and a marker of a block loses its bracket. */

/* Controls, marks of direction and what has no width: they hide text from people. Categories are
 * numbered by kind: Cn, …, Zs, Zl, Zp, Cc, Cf, Cs, Co. */
static bool is_hidden(int32_t c)
{
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_CN || category >= UTF8PROC_CATEGORY_CC ||
           utf8proc_get_property(c)->ignorable;
}

static bool is_blank(int32_t c)
{
    enum { NEXT_LINE = 0x85 };
    if (c <= 0x7F)
        return char_is_space((char)c);
    utf8proc_category_t category = utf8proc_category(c);
    static const int32_t fillers[] = {0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800}; /* Hangul, Braille */
    return c == NEXT_LINE || SOME(i, sizeof fillers / sizeof *fillers, c == fillers[i]) ||
           (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
}

/* A small letter or sign, also of one of another width or with marks; 0 for a mark alone. */
static int32_t plain_sign(int32_t c)
{
    int32_t parts[20] = {0};
    int class = 0, how = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD;
    if (c < 0x80)
        return ascii_lower((char)c);
    utf8proc_decompose_char(c, parts, 20, how | UTF8PROC_STRIPMARK, &class);
    return parts[0];
}

/* Whether the name stands there, behind blanks and slashes or not. Half of its letters may be of
 * another alphabet, as such may look the same. */
static bool is_marker(str rest, const char *name)
{
    size_t other = 0, n = 0, step;
    for (size_t i = 0; i < rest.n && name[n]; i += step) {
        int32_t c = plain_sign(utf8_at(rest, i, &step));
        if (!c || (!n && c < 0x80 && char_is_one_of((char)c, " /\\_")))
            continue;
        if (c != name[n++] && (c < 0x80 || !utf8_is_letter(c)))
            return false;
        other += c >= 0x80;
    }
    return !name[n] && 2 * other <= n;
}

/* The first bracket of a marker becomes one that opens nothing: of our block and the bracket form,
 * of what clients put around it ("<system-reminder>") and of models' own signs ("<|"). */
static str without_markers(struct arena *a, str text)
{
    struct buf b = buf_make(a, text.n * 3 + 1);
    for (size_t i = 0, n; i < text.n; i += n) {
        int32_t c = plain_sign(utf8_at(text, i, &n));
        str one = str_sub(text, i, i + n), rest = str_sub(text, i + n, text.n);
        if (c == '<' &&
            (is_marker(rest, "remembered") || is_marker(rest, "system") || is_marker(rest, "|")))
            one = S("\xE2\x80\xB9");
        buf_add(&b, c == '[' && is_marker(rest, "memory") ? S("(") : one);
    }
    return buf_str(&b);
}

str engine_line(struct arena *a, str text, size_t most)
{
    struct buf b = buf_make(a, text.n * 3 + 8);
    bool blank = true;
    for (size_t i = 0, n; i < text.n; i += n) {
        int32_t c = utf8_at(text, i, &n);
        if (is_blank(c)) {
            if (!blank && most) {
                buf_byte(&b, ' ');
                most--;
            }
            blank = true;
            continue;
        }
        if (c < 0 || is_hidden(c))
            continue;
        if (most-- == 0) {
            buf_add(&b, S("\xE2\x80\xA6"));
            break;
        }
        blank = false;
        utf8_add(&b, c);
    }
    return without_markers(a, str_trim(buf_str(&b)));
}
