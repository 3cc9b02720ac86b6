/* quotable.c - Decides what of a message a chat may be given: statements, and nothing else. */
#include "engine/recall/quotable.h"

#include "base/rule.h"
#include "core/text_annotations.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"

/* An address, with its scheme or as "www.". */
static bool is_link(str sentence)
{
    return str_find(sentence, S("http://")) < sentence.n ||
           str_find(sentence, S("https://")) < sentence.n ||
           str_find(sentence, S("www.")) < sentence.n;
}

/* What a model said with a link in it may come from a page that it read. */
static str without_links(struct arena *a, str text)
{
    struct sentence s;
    struct buf b = buf_make(a, text.n + 1);
    if (!is_link(text))
        return text;
    for (str rest = text; sentence_cut(&rest, &s);)
        if (!is_link(s.text))
            buf_add(&b, s.text);
    return str_trim(buf_str(&b));
}

static struct quotable work_out(struct arena *a, str text, bool is_user)
{
    str own = !RULE("own_words") ? text
              : is_user          ? utterance_own_words(a, text)
                                 : without_links(a, text);
    str states = RULE("statements") ? utterance_statements(a, own, is_user) : own;
    if (!str_trim(states).n)
        return (struct quotable){S(""), !own.n    ? "it was pasted or holds links only"
                                        : is_user ? "it only asks"
                                                  : "it states nothing"};
    return (struct quotable){states, states.n == text.n ? NULL : "shortened to what it states"};
}

/* As a note: mostly a part of the text; else its bytes stand behind it. */
struct noted {
    const char *why;
    size_t from, n;
    bool is_part;
    char own[];
};

static void note_given(struct arena *a, const struct message *m, str text, const struct quotable *g)
{
    bool is_part = g->text.p >= text.p && g->text.p + g->text.n <= text.p + text.n;
    size_t bytes = sizeof(struct noted) + (is_part ? 0 : g->text.n);
    struct noted *noted = arena_alloc(a, bytes);
    *noted = (struct noted){g->why, is_part ? (size_t)(g->text.p - text.p) : 0, g->text.n, is_part};
    if (!is_part && g->text.n)
        memcpy(noted->own, g->text.p, g->text.n);
    annotation_add(m->notes, NOTE_GIVEN, text, (str){(char *)noted, bytes});
}

/* Of another text with the same hash a note is no part of this one. */
static struct quotable given_of_text(struct arena *a, const struct message *m, str text)
{
    const struct noted *noted = annotation_find(m->notes, NOTE_GIVEN, text);
    if (noted && (!noted->is_part || (noted->from <= text.n && noted->n <= text.n - noted->from)))
        return (struct quotable){{(noted->is_part ? text.p + noted->from : noted->own), noted->n},
                                 noted->why};
    struct quotable given = work_out(a, text, str_is(m->role, "user"));
    if (m->notes)
        note_given(a, m, text, &given);
    return given;
}

/* Examples: "I moved to Bergen. Can you suggest a gym?" gives its first sentence. "What time is
 * it?" gives nothing. An answer "Noted, you live in Bergen. See https://…" loses the sentence with
 * the link. Between people a question is part of what was said (decisions/008). */
struct quotable quotable_of(struct arena *a, const struct message *m)
{
    str text = m->is_echo ? str_trim(m->says) : m->text;
    if (m->origin == ORIGIN_TOOL || str_is(m->role, "tool") || str_is(m->role, "function"))
        return (struct quotable){S(""), "it is a tool's result"};
    if (m->speaker.n)
        return (struct quotable){text, NULL};
    return given_of_text(a, m, text);
}
