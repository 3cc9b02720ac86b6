/* own_words.c - the part of a message that its writer wrote, without what was pasted and quoted. */
#include "base/buf.h"
#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "engine/text/form.h"
#include "engine/text/regex.h"
#include "engine/text/utterance.h"
#include "lang/own_words_lists.h"
#include "words/words.h"

/* Words of a quote that is a text and not a name; bytes of it, and of a document between tags. */
enum { QUOTE_WORDS = 8, QUOTE_MAX = 4000, TAGGED_MIN = 40 };

/* From these log odds on a head may tell something, and one that may gives a text (trial 103). */
static const double telling = -2, surely_given = 2;

/*
 * Removed in one pass: code fences, text between tags, quotes of QUOTE_WORDS words and more, what
 * stands between rules ("---"), quoted lines (">"), mails from their greeting to their signature,
 * and examples of a prompt. When nothing was removed, a head that asks for work on a text, as
 * weights judge it, goes with that text. A page of many lines keeps only what introduces it and
 * what follows it. What is left is what the writer said.
 */

static str rest_from(str text, size_t at)
{
    return str_sub(text, at, text.n);
}

static str line_at(str text, size_t at)
{
    str rest = rest_from(text, at);
    return str_sub(rest, 0, str_find(rest, S("\n")));
}

/* By blanks: a quote is measured, not read. */
static size_t word_count(str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += !char_is_one_of(text.p[i], " \n") && (!i || char_is_one_of(text.p[i - 1], " \n"));
    return n;
}

/* --- documents between marks: each behind_… gives the place behind one at `at`, or 0 --- */

/* A message that is read. Whoever opens this many quotes and tags without an end has pasted them:
 * no further end is looked for, which would take the square of the text's length. */
struct reader {
    struct arena *a;
    str text;
    size_t endless, fences, squares; /* fences and square tags: those without an end */
};
enum { ENDLESS_MAX = 32, LABEL_MAX = 16 };

/* How many of the byte stand there. */
static size_t run_at(str text, size_t at)
{
    size_t n = 0;
    while (at + n < text.n && text.p[at + n] == text.p[at])
        n++;
    return n;
}

/* In front of it in its line: nothing, or marks of lists and quotes. */
static bool begins_line(str text, size_t at)
{
    while (at && char_is_one_of(text.p[at - 1], " \t>-*+0123456789.)"))
        at--;
    return !at || text.p[at - 1] == '\n';
}

/* Where the last paragraphs that read like sentences begin: no code, behind a fence without end. */
static size_t last_prose(str text, size_t from)
{
    size_t prose = text.n;
    for (size_t end = text.n; end > from;) {
        size_t at = end;
        while (at > from && !str_ends(str_sub(text, 0, at), S("\n\n")))
            at--;
        str said = str_trim(str_sub(text, at, end));
        bool is_prose = said.n && is_letter(said.p[0]) &&
                        char_is_one_of(said.p[said.n - 1], ".!?") &&
                        EVERY(i, said.n, !char_is_one_of(said.p[i], "{};="));
        if (at == from || (said.n && !is_prose))
            break;
        prose = said.n ? at : prose;
        end = at - 1;
    }
    return prose;
}

/* The end of a fence is as long as its beginning or longer, and begins a line where that did. Else
 * it ends a line, or a word of the same paragraph; quotation marks end anywhere. */
size_t text_behind_fence(str text, size_t at, size_t *endless)
{
    enum { LEAST = 3 };
    size_t n = at && text.p[at - 1] == text.p[at] ? 0 : run_at(text, at), anywhere = 0;
    bool is_line = begins_line(text, at), is_code = char_is_one_of(text.p[at], "`~");
    if (n < LEAST || (text.p[at] == '~' && !is_line) || *endless >= ENDLESS_MAX)
        return 0;
    bool is_near = true, is_same = true; /* paragraph, line */
    for (size_t i = at + n, more; i < text.n; i += more) {
        more = text.p[i] == text.p[at] ? run_at(text, i) : 1;
        is_near &= text.p[i] != '\n' || text.p[i - 1] != '\n';
        is_same &= text.p[i] != '\n';
        if (text.p[i] != text.p[at] || more < n)
            continue;
        if (!is_line || !is_code || is_same || begins_line(text, i))
            return i + more;
        size_t end = i + more, behind = end;
        while (behind < text.n && char_is_one_of(text.p[behind], " \t\r"))
            behind++;
        bool ends_line = behind == text.n || text.p[behind] == '\n';
        if (!anywhere && (ends_line || (is_near && behind > end)))
            anywhere = end;
    }
    ++*endless;
    return anywhere;
}

/* A fence without an end has at most a word behind it in its line. */
static size_t behind_fence(struct reader *r, size_t at)
{
    size_t before = r->fences, to = text_behind_fence(r->text, at, &r->fences);
    if (to || r->fences == before || !char_is_one_of(r->text.p[at], "`~"))
        return to;
    str line = line_at(r->text, at);
    size_t n = run_at(r->text, at);
    return word_count(rest_from(line, n)) <= 1 ? last_prose(r->text, at + n) : 0;
}

/* "<page url=…>…</page>"; short tags are mark-up. In a line of its own "[page]…[/page]" and "[page
 * 1 begin]…[page 1 end]", too. */
static size_t behind_tag(struct reader *r, size_t at)
{
    str text = r->text, begin = S(" begin");
    size_t end = at + 1, *endless = text.p[at] == '[' ? &r->squares : &r->endless;
    bool is_square = text.p[at] == '[' && (!at || text.p[at - 1] == '\n');
    if ((!is_square && text.p[at] != '<') || end == text.n || !is_letter(text.p[end]))
        return 0;
    while (end < text.n &&
           (is_ascii_word(text.p[end]) || char_is_one_of(text.p[end], is_square ? "_- " : "_-")))
        end++;
    str open = str_sub(text, at + 1, end), rest = rest_from(text, end), close;
    bool is_begin = is_square && str_ends(open, begin) && str_starts(rest, S("]"));
    bool is_open = is_begin || str_starts(rest, S("]\n")) || str_starts(rest, S("]\r\n"));
    if (*endless >= ENDLESS_MAX || (is_square && !is_open))
        return 0;
    if (is_begin)
        close = str_printf(r->a, "[" S_FMT " end]", S_ARG(str_sub(open, 0, open.n - begin.n)));
    else
        close = str_printf(r->a, "%c/" S_FMT "%c", text.p[at], S_ARG(open), is_square ? ']' : '>');
    size_t to = str_find(rest, close);
    *endless += to == rest.n;
    return to < rest.n && to >= TAGGED_MIN ? end + to + close.n : 0;
}

/* A quote of several words is somebody's text; a client may put a whole message into quotes. */
static size_t behind_quote(struct reader *r, size_t at)
{
    str text = utf8_cut(r->text, at + QUOTE_MAX);
    static const char *const pairs[][2] = {{"\"", "\""}, {"“", "”"}, {"„", "“"},
                                           {"«", "»"},   {"‘", "’"}, {"'", "'"}};
    if (at && !char_is_one_of(text.p[at - 1], " \n:(["))
        return 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        str open = str_of(pairs[i][0]), close = str_of(pairs[i][1]);
        if (!str_starts(rest_from(text, at), open))
            continue;
        size_t from = at + open.n, to = from;
        do {
            to += str_find(rest_from(text, to), close) + close.n;
        } while (to < text.n && !char_is_one_of(text.p[to], " \n.,;:!?)]-"));
        bool is_closed = to <= text.n;
        r->endless += !is_closed;
        to = to < text.n ? to : text.n;
        bool is_all = !str_trim(str_sub(text, 0, at)).n && !str_trim(rest_from(r->text, to)).n;
        return is_closed && !is_all && word_count(str_sub(text, from, to)) >= QUOTE_WORDS ? to : 0;
    }
    return 0;
}

/* --- documents that begin with a line --- */

/* Three or more of one mark and nothing else. */
static bool is_rule(str line)
{
    line = str_trim(line);
    return line.n >= 3 && char_is_one_of(line.p[0], "-=*_<>") &&
           EVERY(i, line.n, line.p[i] == line.p[0]);
}

/* Between two rules ("---"), or behind the only one. */
static size_t behind_rules(str text, size_t at)
{
    if (!at || !is_rule(line_at(text, at)))
        return 0;
    for (size_t i = next_line(text, at); i < text.n; i = next_line(text, i))
        if (is_rule(line_at(text, i)))
            return next_line(text, i);
    return text.n;
}

/* The first word of a line in lower case. */
static str first_word(struct arena *a, str line)
{
    struct words w = words_as_written(a, line, 1);
    return w.n ? utf8_lower(a, w.v[0].text) : S("");
}

/* "Dear Ms Ferrand," behind the first line: a mail, up to its signature. A greeting and a name. */
static size_t behind_mail(struct arena *a, str text, size_t at)
{
    enum { GREETING_MAX = 60, SIGNATURE_MAX = 40 };
    str line = str_trim(line_at(text, at));
    if (!at || line.n > GREETING_MAX || !str_ends(line, S(",")) || word_count(line) < 2 ||
        !str_is_one_of(first_word(a, line), letter_greetings))
        return 0;
    for (size_t i = next_line(text, at); i < text.n; i = next_line(text, i)) {
        str end = str_trim(line_at(text, i));
        if (end.n && end.n < SIGNATURE_MAX && str_is_one_of(first_word(a, end), letter_closings))
            return next_line(text, next_line(text, i));
    }
    return text.n;
}

/* "Answer:": at most so many words in front of a line's colon. */
static bool has_label(str line, size_t words)
{
    size_t n = str_find(line, S(":"));
    return n && n < line.n && n <= LABEL_MAX && word_count(str_sub(line, 0, n)) <= words;
}

/* "Example: 'I hate my boss' -> work", "Review: …": what a prompt is about. */
static bool is_example(struct arena *a, str line)
{
    static const char *const arrows[] = {" -> ", " => ", " \xE2\x86\x92 ", "' ->", "\" ->", NULL};
    if (has_label(line, 2) && str_is_one_of(first_word(a, line), sample_labels))
        return true;
    str code = str_trim(line);
    return code.n && char_is_one_of(code.p[0], "'\"") && text_holds_any(line, arrows);
}

static size_t behind_line(struct arena *a, str text, size_t at)
{
    str line = line_at(text, at);
    size_t to = behind_rules(text, at);
    to = to ? to : behind_mail(a, text, at);
    /* "From: …" and "Subject: …" head a mail. */
    if (!to && text_starts_with_any(line, mail_from) &&
        text_starts_with_any(line_at(text, next_line(text, at)), mail_fields))
        return text.n;
    return !to && (str_starts(line, S(">")) || is_example(a, line)) ? at + line.n : to;
}

/* --- a head and the text that it gives --- */

size_t text_behind_head(str text)
{
    static const char *const ends[] = {". ", "! ", "? ", ": ", "\uFF1A"};
    enum { COLON = 3 }; /* from there on; the end that comes first counts */
    str line = line_at(text, 0), said = str_trim(line);
    size_t to = line.n;
    bool is_head =
        (str_ends(said, S(":")) || str_ends(said, S("?"))) && str_trim(rest_from(text, to)).n;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t at = str_find(str_sub(line, 0, to), str_of(ends[i]));
        is_head = at < to ? i >= COLON : is_head;
        to = at < to ? at + strlen(ends[i]) : to;
    }
    return is_head ? to : 0;
}

/* "Make it shorter: …" gives all that stands behind it, "Why does this fail?" the paragraph. */
static size_t behind_given(str text, size_t *head)
{
    size_t from = text_behind_head(text);
    str said = str_trim(str_sub(text, 0, from));
    double least = form_odds_of(FORM_TELLS, said).by[0] > telling ? surely_given : 0;
    *head = said.n;
    if (!from || form_odds_of(FORM_GIVEN, said).by[0] < least)
        return 0;
    if (str_ends(said, S(":")) || str_ends(said, S("\uFF1A")))
        return text.n;
    while (from < text.n && char_is_one_of(text.p[from], " \r\n"))
        from++;
    return from + str_find(rest_from(text, from), S("\n\n"));
}

/* --- pages --- */

/* Text that somebody typed in a chat has few lines; a page of many is pasted. */
static bool is_page(str text)
{
    enum { LINES = 25, BYTES = 4000 };
    size_t lines = 1;
    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    return lines > LINES || text.n > BYTES;
}

/* Of a page without paragraphs only a first and a last line that ask to remember something:
 * "Remember that I hate olives." */
static str around_lines(struct arena *a, str page)
{
    str first = line_at(page, 0), last = rest_from(page, str_behind_last(page, '\n'));
    first = str_is_one_of(first_word(a, first), note_openings) ? first : S("");
    last = str_is_one_of(first_word(a, last), note_openings) ? last : S("");
    return str_trim(str_printf(a, S_FMT "\n" S_FMT, S_ARG(first), S_ARG(last)));
}

/* Of a page only the paragraph that introduces it, and the one behind it, can be the writer's. */
static str around_page(struct arena *a, str text)
{
    enum { OWN = 400 };
    str page = str_trim(text);
    size_t first = str_find(page, S("\n\n")), last = page.n;
    if (first == page.n)
        return utf8_cut(around_lines(a, page), OWN);
    while (last > first && !(page.p[last - 1] == '\n' && page.p[last - 2] == '\n'))
        last--;
    str head = str_sub(page, 0, first), tail = str_trim(rest_from(page, last));
    head = head.n <= OWN ? head : S("");
    tail = tail.n <= OWN && last > first ? tail : S("");
    return str_trim(str_printf(a, S_FMT "\n" S_FMT, S_ARG(head), S_ARG(tail)));
}

/* --- all --- */

static size_t behind_document(struct reader *r, size_t at)
{
    str text = r->text;
    char c = text.p[at];
    bool may_end = r->endless < ENDLESS_MAX;
    size_t to = char_is_one_of(c, "`~\"'") ? behind_fence(r, at) : 0;
    if (!to && (c == '<' || c == '['))
        to = behind_tag(r, at);
    if (!to && may_end && (c == '"' || c == '\'' || (unsigned char)c >= 0xC2))
        to = behind_quote(r, at);
    return !to && (at == 0 || text.p[at - 1] == '\n') ? behind_line(r->a, text, at) : to;
}

/* The text without its documents; itself when it has none. */
static str without_documents(struct reader *r)
{
    str text = r->text;
    struct buf b = buf_make(r->a, text.n + 1);
    size_t copied = 0;
    for (size_t i = 0; i < text.n; i++) {
        size_t to = behind_document(r, i);
        if (to <= i)
            continue;
        buf_add(&b, str_sub(text, copied, i));
        copied = to;
        i = to - 1;
    }
    if (!copied)
        return text;
    buf_add(&b, rest_from(text, copied));
    return str_trim(buf_str(&b));
}

/* A prompt that a program made has labels, and ends where the model's words shall begin: "Context:
 * …", "Answer:". */
static bool is_prompt(str text)
{
    bool has_other = false;
    str line = {0};
    for (text = str_trim(text); text.n; has_other |= text.n && has_label(line, 1))
        line = str_trim(str_cut(&text, '\n'));
    return has_other && has_label(line, 1) && str_find(line, S(":")) + 1 == line.n;
}

/* May give "". Linear in the text, but for ENDLESS_MAX searches for an end that is not there. */
str utterance_own_words(struct arena *a, str text)
{
    struct reader r = {a, text, 0, 0, 0};
    if (is_prompt(text))
        return S("");
    str left = without_documents(&r);
    bool is_whole = left.p == text.p && left.n == text.n;
    size_t head, given = is_whole ? behind_given(text, &head) : 0;
    str own = given ? str_trim(rest_from(text, given)) : left;
    return is_page(own) ? around_page(a, own) : own;
}

/* --- output of a failing program --- */

/* A pasted stack trace would fill the question with names of files and classes that find other
 * traces. Only two lines or more that look like a trace are one; then these go, with the code that
 * they quote, and what the user asked about them stays. */

/* A failure ("Caused by", "error[E0382]", "java.lang.NullPointerException"), a frame ("at f(…)"),
 * or a place ("main.c:41", "load.py\", line 17"). Before "Error" stands a name, no "E". */
static bool is_trace(str line)
{
    struct pattern *printed =
        PATTERN("(?-i)\\A(?:Traceback|Caused by|Exception in|panic:|fatal:|goroutine |Segmentation|"
                "error[\\[:]|Error:|Uncaught |at [^(]*+\\(|"
                "(?!E)[^ ]{6,}+(?<=Error|Exception|Warning|Error:|Exception:|Warning:))|"
                "[^\\d ]:\\d|\", line |, in <");
    return pattern_find(printed, str_trim(line), 0, NULL);
}

/* A line of code that a trace quotes: indented, or with brackets and no blank before them. */
static bool is_quoted(str line)
{
    return str_starts(line, S("    ")) || str_starts(line, S("\t")) ||
           str_starts(str_trim(line), S("^")) || str_starts(str_trim(line), S("~"));
}

static str without_traces(struct arena *a, str text)
{
    enum { LEAST = 2 }; /* lines of a trace */
    size_t traces = 0;
    for (str rest = text; rest.n;)
        traces += is_trace(str_cut(&rest, '\n'));
    if (traces < LEAST)
        return text;
    struct buf b = buf_make(a, text.n + 1);
    bool is_in = false;
    for (str rest = text, line; rest.n;) {
        line = str_cut(&rest, '\n');
        is_in = is_trace(line) || (is_in && is_quoted(line));
        if (is_in)
            continue;
        buf_add(&b, line);
        buf_byte(&b, '\n');
    }
    return str_trim(buf_str(&b));
}

str text_without_material(struct arena *a, str text)
{
    str left = without_traces(a, text);
    size_t head, to = behind_given(left, &head);
    str own = str_sub(left, 0, to ? head : left.n), rest = rest_from(left, to);
    return to ? str_trim(str_printf(a, S_FMT S_FMT, S_ARG(own), S_ARG(rest))) : left;
}
