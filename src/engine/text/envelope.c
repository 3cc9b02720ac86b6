/* envelope.c - the words that a person typed, out of a coding agent's message. */
#include "engine/text/envelope.h"

#include "base/buf.h"
#include "engine/text/bytes.h"

/*
 * Cursor writes <user_query>, Cline and Roo Code <task>, <feedback>, <answer> and <user_message>
 * around the typed words, with their own tags beside; newer versions only add their tags. A tag
 * begins a line or stands behind another tag, as people who write about tags do not. Names that
 * anybody might use make no envelope alone, unless one is all of the message.
 */
static const char *const tag_names[] = {"user_query",
                                        "user_message", /* of the typed words, surely */
                                        "task",
                                        "feedback",
                                        "answer", /* of the typed words, beside others */
                                        "environment_details",
                                        "environment_context",
                                        "open_and_recently_viewed_files",
                                        "attached_files",
                                        "additional_data",
                                        "ide_opened_file",
                                        "ide_selection",
                                        "system_reminder",
                                        "system-reminder",
                                        "file_content",
                                        "git_status",
                                        "project_layout",
                                        NULL};
enum { SURE = 2, TYPED = 5, TAGS = sizeof tag_names / sizeof *tag_names - 1 };

struct opened {
    struct arena *a;
    str text;
    struct buf typed, rest;
    bool has_typed, is_sure;
    bool is_endless[TAGS]; /* no closing tag follows: none is looked for again */
};

/* The number of the tag that opens at `at`, and what stands in it; TAGS: none does. */
static size_t tag_at(struct opened *o, size_t at, str *inside, size_t *end)
{
    str rest = str_sub(o->text, at + 1, o->text.n);
    size_t n = 0;
    if (at && !char_is_one_of(o->text.p[at - 1], "\n>"))
        return TAGS;
    while (n < rest.n && (is_lower(rest.p[n]) || char_is_one_of(rest.p[n], "_-")))
        n++;
    int tag = name_index(tag_names, str_sub(rest, 0, n), -1);
    size_t from = str_find(rest, S(">")) + 1;
    if (tag < 0 || o->is_endless[tag] || from > rest.n || !char_is_one_of(rest.p[n], "> "))
        return TAGS;
    str close = str_printf(o->a, "</%s>", tag_names[tag]);
    rest = str_sub(rest, from, rest.n);
    size_t to = str_find(rest, close);
    o->is_endless[tag] = to == rest.n;
    *inside = str_trim(str_sub(rest, 0, to));
    *end = at + 1 + from + to + close.n;
    return to == rest.n ? TAGS : (size_t)tag;
}

static void open_tags(struct opened *o)
{
    size_t copied = 0;
    for (size_t i = 0, end; i < o->text.n; i++) {
        str inside;
        size_t tag = o->text.p[i] == '<' ? tag_at(o, i, &inside, &end) : TAGS;
        if (tag == TAGS)
            continue;
        buf_add(&o->rest, str_sub(o->text, copied, i));
        if (tag < TYPED) {
            buf_add(&o->typed, inside);
            buf_byte(&o->typed, '\n');
        }
        o->has_typed |= tag < TYPED;
        o->is_sure |= tag < SURE || tag >= TYPED;
        copied = end;
        i = end - 1;
    }
    buf_add(&o->rest, str_sub(o->text, copied, o->text.n));
}

/* "[read_file for 'a.c'] Result:", "[ERROR] You did not use a tool …". */
static bool is_result(str rest)
{
    str line = str_sub(rest, 0, str_find(rest, S("\n")));
    return str_starts(line, S("[ERROR]")) ||
           (str_starts(line, S("[")) && text_holds(line, "] Result:"));
}

/* Behind Codex's last heading, as a selection may hold another one; false: there is none. */
static bool find_request(str text, str *out)
{
    static const char *const headings[] = {"\n## My request for Codex:", "\n## My request:", NULL};
    bool is_setup = str_starts(text, S("# Context from my IDE setup:"));
    bool may_be = is_setup || str_starts(text, S("#")) || str_starts(text, S("<in-app-browser"));
    *out = S("");
    for (size_t k = 0; may_be && k < 1 + (size_t)is_setup && !out->n; k++) {
        str mark = str_of(headings[k]);
        for (size_t at = 0; (at += str_find(str_sub(text, at, text.n), mark)) < text.n;) {
            at += mark.n;
            *out = str_sub(text, at, text.n);
        }
    }
    return is_setup || out->n;
}

str envelope_typed(struct arena *a, str text)
{
    str trimmed = str_trim(text), request;
    if (find_request(trimmed, &request))
        return str_trim(request);
    if (!memchr(text.p ? text.p : "", '<', text.n))
        return text;
    struct opened o = {a, text, buf_make(a, text.n + TAGS), buf_make(a, text.n + 1)};
    open_tags(&o);
    str rest = str_trim(buf_str(&o.rest));
    if (!o.is_sure && (!o.has_typed || rest.n))
        return text;
    return o.has_typed ? str_trim(buf_str(&o.typed)) : is_result(rest) ? S("") : rest;
}
