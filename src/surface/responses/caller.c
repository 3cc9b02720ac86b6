/* caller.c - the program that asks for a response, and its purpose. */
#include "surface/responses/caller.h"

/*
 * Programs send questions of their own to the same endpoint, often in the user's conversation: for
 * a title, for a summary in place of what was said, to fill the cache. Nobody has said these, so
 * they must neither be answered with new memories nor teach any. The first mark that fits counts.
 * Titles and the like in other words are told by their form, in the engine (helper_prompt.h).
 */

#define TURN_HEADER "X-Codex-Turn-Metadata" /* a JSON object */
#define TASK_HEADER "X-OpenWebUI-Task"
#define SUMMARY_ORDER "You are performing a CONTEXT CHECKPOINT COMPACTION"

enum where {
    HEADER_HAS,   /* a header of that name has the text, or with "" any */
    TURN_HAS,     /* the same of a member of TURN_HEADER */
    TURN_DIFFERS, /* that member is there and has another text */
    BEGINS_WORDS, /* the user's last message begins so */
    ENDS_ITEMS    /* the last item has this type */
};

static const struct mark {
    enum where where;
    const char *name, *text;
    enum caller what;
} marks[] = {
    {HEADER_HAS, TASK_HEADER, "", CALLER_ASIDE},
    {HEADER_HAS, "X-OpenAI-Subagent", "compact", CALLER_ASIDE},
    {HEADER_HAS, "X-OpenAI-Subagent", "memory_consolidation", CALLER_ASIDE},
    {TURN_DIFFERS, "request_kind", "turn", CALLER_ASIDE},
    {ENDS_ITEMS, NULL, "compaction_trigger", CALLER_ASIDE},
    {BEGINS_WORDS, NULL, SUMMARY_ORDER, CALLER_ASIDE},
    {HEADER_HAS, "X-OpenAI-Subagent", "", CALLER_AGENT},
    {HEADER_HAS, "X-Codex-Parent-Thread-Id", "", CALLER_AGENT},
    {TURN_HAS, "parent_thread_id", "", CALLER_AGENT},
};

bool caller_is_codex(const struct request *in)
{
    return request_header(in, TURN_HEADER).n ||
           str_starts(request_header(in, "Originator"), S("codex"));
}

static bool text_fits(str is, const char *wanted)
{
    is = str_trim(is);
    return *wanted ? str_eq_nocase(is, str_of(wanted)) : is.n > 0;
}

/* The number of items in front of the last message of the user; all of them without one. */
static size_t before_words(const struct items *items)
{
    for (size_t i = items->n; i-- > 0;)
        if (str_is(items->said[i].role, "user"))
            return i;
    return items->n;
}

static str member_of(const struct json *turn, const char *name)
{
    return json_string(json_get(turn, name));
}

static bool mark_fits(const struct mark *m, const struct request *in, const struct json *turn,
                      const struct items *items)
{
    size_t words = before_words(items);
    const struct json *last = items->n ? items->places[items->n - 1] : NULL;
    switch (m->where) {
    case HEADER_HAS:
        return text_fits(request_header(in, m->name), m->text);
    case TURN_HAS:
        return text_fits(member_of(turn, m->name), m->text);
    case TURN_DIFFERS:
        return member_of(turn, m->name).n && !text_fits(member_of(turn, m->name), m->text);
    case BEGINS_WORDS:
        return words < items->n && str_starts(str_trim(items->said[words].text), str_of(m->text));
    case ENDS_ITEMS:
        return last && last != items->input && str_is(item_type(last), m->text);
    }
    return false;
}

/* The program's question is the user's last message here; the other asides have none. */
static bool asks_in_words(const struct items *items, const struct request *in, size_t words)
{
    return request_header(in, TASK_HEADER).n ||
           (words < items->n && str_starts(str_trim(items->said[words].text), S(SUMMARY_ORDER)));
}

enum caller response_caller(struct ctx *ctx, const struct request *in, const struct items *items,
                            size_t *own)
{
    struct json *turn = NULL;
    str header = request_header(in, TURN_HEADER);
    size_t words = before_words(items);
    *own = items->n;
    if (header.n && !soft(ctx, json_parse(ctx, header, &turn)))
        turn = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!mark_fits(&marks[i], in, turn, items))
            continue;
        if (marks[i].what == CALLER_ASIDE && asks_in_words(items, in, words))
            *own = words;
        return marks[i].what;
    }
    return CALLER_CHAT;
}
