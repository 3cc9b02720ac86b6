/* envelope.c - the words that a person typed, out of a coding agent's message. */
#include "engine/text/envelope.h"

#include "base/buf.h"
#include "engine/text.h"
#include "engine/text/bytes.h"

/*
 * Cursor writes <user_query>, Cline and Roo Code <task>, <feedback>, <answer> and <user_message>
 * around the typed words, with their own tags beside; newer versions only add their tags. A tag
 * begins a line or stands behind another tag, as people who write about tags do not. Names that
 * anybody might use make no envelope alone, unless one is all of the message. In this order: SURE
 * tags of the typed words, others of them up to TYPED, the agents' own.
 */
static const char *const tags[] = {
    "user_query",      "user_message",    "task",
    "feedback",        "answer",          "environment_details",
    "git_status",      "system-reminder", "project_layout",
    "ide_selection",   "ide_opened_file", "environment_context",
    "attached_files",  "file_content",    "open_and_recently_viewed_files",
    "additional_data", "system_reminder", NULL};
enum { SURE = 2, TYPED = 5, TAGS = sizeof tags / sizeof *tags - 1 };

struct opened {
    struct arena *a;
    str text;
    struct buf typed, rest;
    bool has_typed, is_sure;
    bool is_endless[TAGS]; /* no end of it follows: none is looked for again */
};

/* The number of the tag that opens at `at`, and what stands in it; TAGS: none does. */
static size_t tag_at(struct opened *o, size_t at, str *inside, size_t *end)
{
    str rest = str_sub(o->text, at + 1, o->text.n);
    size_t n = 0;
    if (o->text.p[at] != '<' || (at && !char_is_one_of(o->text.p[at - 1], "\n>")))
        return TAGS;
    while (n < rest.n && (is_lower(rest.p[n]) || char_is_one_of(rest.p[n], "_-")))
        n++;
    int tag = name_index(tags, str_sub(rest, 0, n), -1);
    if (tag < 0 || o->is_endless[tag] || n == rest.n || !char_is_one_of(rest.p[n], "> "))
        return TAGS;
    size_t from = str_find(rest, S(">"));
    str close = str_printf(o->a, "</%s>", tags[tag]);
    size_t to = from + str_find(str_sub(rest, from, rest.n), close);
    o->is_endless[tag] = to == rest.n;
    if (to == rest.n)
        return TAGS;
    *inside = str_trim(str_sub(rest, from + 1, to));
    *end = at + 1 + to + close.n;
    return (size_t)tag;
}

/* Up to the last paragraph that begins no tag: the program's own. */
str engine_sent_meanwhile(str note)
{
    str words = str_trim(note);
    if (str_starts(words, S("<system-reminder>")))
        words = str_trim(str_sub(words, str_find(words, S("\n")), words.n));
    str head = str_cut(&words, '\n');
    size_t end = words.n;
    for (size_t at = 0; at + 2 < words.n; at++)
        if (words.p[at] == '\n' && words.p[at + 1] == '\n' && words.p[at + 2] != '<')
            end = at;
    bool is_sent = str_starts(head, S("The user sent ")) && str_ends(head, S(":"));
    return is_sent ? str_trim(str_sub(words, 0, end)) : S("");
}

static void open_tags(struct opened *o)
{
    size_t copied = 0;
    for (size_t i = 0, end; i < o->text.n; i++) {
        str inside;
        size_t tag = tag_at(o, i, &inside, &end);
        if (tag == TAGS)
            continue;
        buf_add(&o->rest, str_sub(o->text, copied, i));
        if (tag < TYPED) {
            buf_add(&o->typed, inside);
            buf_byte(&o->typed, '\n');
        } else if (str_starts(str_of(tags[tag]), S("system"))) {
            buf_add(&o->rest, engine_sent_meanwhile(inside));
        }
        o->has_typed |= tag < TYPED;
        o->is_sure |= tag < SURE || tag >= TYPED;
        copied = end;
        i = end - 1;
    }
    buf_add(&o->rest, str_sub(o->text, copied, o->text.n));
}

/* "[read_file for 'a.c'] Result:", "[ERROR] You did not use a tool …"; "EXECUTION RESULT of [run]:"
 * of OpenHands, "Observation:" in a line of its own. */
static bool is_result(str rest)
{
    str line = str_trim(str_cut(&rest, '\n'));
    return str_starts(line, S("[ERROR] You did not use a tool")) ||
           str_starts(line, S("EXECUTION RESULT of [")) ||
           (str_is(line, "Observation:") && rest.n) ||
           (str_starts(line, S("[")) && str_ends(line, S("] Result:")));
}

/* Behind Codex's last heading, as a selection may hold another one; false: there is none. */
static bool find_request(str text, str *out)
{
    static const char *const headings[] = {"\n## My request for Codex:", "\n## My request:", NULL};
    bool is_setup = str_starts(text, S("# Context from my IDE setup:"));
    bool may_be = str_starts(text, S("#")) || str_starts(text, S("<in-app-browser"));
    *out = S("");
    for (size_t k = 0; may_be && k < 1 + (size_t)is_setup && !out->n; k++) {
        str mark = str_of(headings[k]);
        size_t at;
        for (str rest = text; (at = str_find(rest, mark)) < rest.n; *out = rest)
            rest = str_sub(rest, at + mark.n, rest.n);
    }
    return is_setup || out->n;
}

str envelope_typed(struct arena *a, str text)
{
    str trimmed = str_trim(text), request;
    /* LangChain's and Claude Code's summary, in place of what was said. */
    if (str_starts(trimmed, S("Here is a summary of the conversation to date:")) ||
        str_starts(trimmed, S("This session is being continued from a previous conversation")))
        return S("");
    if (find_request(trimmed, &request))
        return str_trim(request);
    if (!text_holds(text, "<"))
        return is_result(trimmed) ? S("") : text;
    struct opened o = {a, text, buf_make(a, text.n + TAGS), buf_make(a, text.n + 1)};
    open_tags(&o);
    str rest = str_trim(buf_str(&o.rest));
    if (!o.is_sure && (!o.has_typed || rest.n))
        return text;
    return o.has_typed ? str_trim(buf_str(&o.typed)) : is_result(rest) ? S("") : rest;
}
