/* talk.c - a Messages body as a conversation: who said what, where a block of memory may stand. */
#include "surface/messages/talk.h"

#include "engine/text.h"
#include "surface/common/said.h"

/*
 * A message of the user may hold results of tools, words of the user and notes of the client's
 * program, as blocks one after another. So one message may become two said ones, or none. A string
 * and one text block say the same, and cache_control says nothing: clients change both from one
 * request to the next.
 *
 * The block of memory goes into the message of the user, at its end, because results of tools must
 * come first. Claude Code sends its own notes in messages of the role system behind the user's:
 * where they follow, the block goes into the last of them, behind the user's cache mark.
 */

/* What programs put in front of the user's words or in their place, by how it begins. */
static const char *const notes[] = {
    "<system-reminder>",
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<task-notification>",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below",
    NULL,
};

bool talk_is_note(str text)
{
    text = str_trim(text);
    for (const char *const *n = notes; *n; n++)
        if (str_starts(text, str_of(*n)))
            return !engine_sent_meanwhile(text).n;
    return false;
}

str talk_text(struct arena *a, const struct json *content, bool with_notes)
{
    if (!content || content->type != JSON_ARRAY) {
        str text = json_string(content);
        return with_notes || !talk_is_note(text) ? text : S("");
    }
    struct buf b = buf_make(a, content->source.n + 1);
    for (const struct json *block = content->first; block; block = block->next) {
        str text = json_string(json_get(block, "text"));
        if (!json_says(block, "type", "text") || !str_trim(text).n ||
            (!with_notes && talk_is_note(text)))
            continue;
        buf_add(&b, b.n ? S("\n") : S(""));
        buf_add(&b, text);
    }
    return buf_str(&b);
}

/* What a message of the user holds. */
struct parts {
    str words;
    bool has_result; /* of a tool */
    bool has_other;  /* an image, a document: the user has said something without words */
};

static struct parts parts_of(struct arena *a, const struct json *content)
{
    struct parts p = {.words = talk_text(a, content, false)};
    if (!content || content->type != JSON_ARRAY)
        return p;
    for (const struct json *block = content->first; block; block = block->next) {
        bool is_result = str_ends(json_string(json_get(block, "type")), S("tool_result"));
        p.has_result |= is_result;
        p.has_other |= !is_result && !json_says(block, "type", "text");
    }
    return p;
}

static bool is_said(const struct parts *p)
{
    return str_trim(p->words).n || (p->has_other && !p->has_result);
}

/* --- the program's own questions --- */

size_t talk_aside(struct arena *a, const struct json *root)
{
    const struct json *messages = json_get(root, "messages");
    bool has_note = false;
    size_t n = 0;
    for (const struct json *m = messages ? messages->first : NULL; m; m = m->next) {
        bool is_user = json_says(m, "role", "user"), is_of_chat = json_says(m, "role", "assistant");
        if (is_user) {
            struct parts p = parts_of(a, json_get(m, "content"));
            is_of_chat = is_said(&p) || p.has_result;
        }
        if (json_says(m, "role", "system"))
            is_of_chat = engine_sent_meanwhile(talk_text(a, json_get(m, "content"), true)).n > 0;
        n = is_of_chat ? 0 : n + 1;
        has_note = !is_of_chat && (has_note || is_user);
    }
    return has_note ? n : 0;
}

/* --- all of it --- */

/* Behind the user's words: the block moves into it. */
static void move_place(struct talk *t, size_t last, const struct json *message)
{
    const struct json *content = json_get(message, "content");
    bool is_sound = content && (content->type == JSON_STRING || content->type == JSON_ARRAY);
    if (last < t->n && is_sound)
        t->places[last] = message;
}

bool talk_read(struct arena *a, const struct json *root, size_t aside, struct talk *out)
{
    const struct json *messages = json_get(root, "messages");
    if (!messages || messages->type != JSON_ARRAY || messages->n < aside ||
        (!messages->n && !json_at(root, "thread." THREAD_ID))) /* else where the model paused */
        return false;
    size_t n = messages->n - aside, most = 2 * n + 2, last = most;
    *out = (struct talk){.said = NEW_N(a, struct said, most),
                         .places = NEW_N(a, const struct json *, most)};
    if (json_get(root, "system"))
        talk_add(out, S("system"), talk_text(a, json_get(root, "system"), true), NULL);
    if (!messages->n)
        talk_add(out, S("tool"), S(""), NULL);
    for (const struct json *m = messages->first; n--; m = m->next) {
        const struct json *content = json_get(m, "content");
        if (!json_string(json_get(m, "role")).n)
            return false;
        bool is_system = json_says(m, "role", "system");
        str sent = engine_sent_meanwhile(is_system ? talk_text(a, content, true) : S(""));
        if (is_system && !sent.n) {
            move_place(out, last, m);
            continue;
        }
        last = most;
        if (json_says(m, "role", "assistant")) {
            talk_add(out, S("assistant"), talk_text(a, content, true), NULL);
            continue;
        }
        struct parts p = parts_of(a, content);
        p.words = is_system ? sent : p.words;
        if (p.has_result)
            talk_add(out, S("tool"), S(""), NULL);
        if (is_said(&p)) {
            last = out->n;
            talk_add(out, S("user"), p.words, m);
        }
    }
    return true;
}
