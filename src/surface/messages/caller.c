/* caller.c - which program asks, and what for: a chat of its user's, or something of its own. */
#include "surface/messages/caller.h"

#include "surface/messages/talk.h"

/*
 * Claude Code and others send their own questions over the same endpoint, in the same conversation:
 * for a title, a summary of what was said, the user's next prompt. Nobody has said these, so they
 * must neither be answered with memories nor teach any. They are told by marks, of which the first
 * that fits counts. Titles and the like in other words are told by their form, in the engine
 * (helper_prompt.h).
 */

enum where {
    IN_HEADER,      /* a header of that name has a value */
    IN_SYSTEM,      /* anywhere in the system text */
    BEGINS_SYSTEM,  /* a block of the system text begins so */
    BEGINS_WORDS,   /* a line of the last message begins so: programs add theirs to the user's */
    BEGINS_REQUEST, /* the only message, without system text and tools, begins so */
    FORCES_TOOL     /* the model must call a tool of that name */
};

static const struct mark {
    const char *text;
    enum where where;
    enum caller what;
} marks[] = {
    {"x-claude-code-agent-id", IN_HEADER, CALLER_AGENT},
    {"cc_is_subagent=true", IN_SYSTEM, CALLER_AGENT},
    {"X-OpenWebUI-Task", IN_HEADER, CALLER_ASIDE},
    {"Generate a concise, sentence-case title", BEGINS_SYSTEM, CALLER_ASIDE},
    {"Generate a short kebab-case name", BEGINS_SYSTEM, CALLER_ASIDE},
    {"Write a short summary label describing what these tool calls", BEGINS_SYSTEM, CALLER_ASIDE},
    {"You are selecting memories that will be useful to Claude Code", BEGINS_SYSTEM, CALLER_ASIDE},
    {"You are evaluating a hook condition in Claude Code", BEGINS_SYSTEM, CALLER_ASIDE},
    {"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.", BEGINS_WORDS, CALLER_ASIDE},
    {"Your task is to create a detailed summary of the conversation so far", BEGINS_WORDS,
     CALLER_ASIDE},
    {"[SUGGESTION MODE: Suggest what the user might", BEGINS_WORDS, CALLER_ASIDE},
    {"The user stepped away and is coming back. Recap", BEGINS_WORDS, CALLER_ASIDE},
    {"Write a short summary label describing what these tool calls", BEGINS_WORDS, CALLER_ASIDE},
    {"# Dream: Memory Consolidation", BEGINS_WORDS, CALLER_ASIDE},
    {"You are now acting as the memory extraction", BEGINS_WORDS, CALLER_ASIDE},
    {"Web page content:", BEGINS_REQUEST, CALLER_ASIDE},
    {"explain_command", FORCES_TOOL, CALLER_ASIDE},
    {0},
};

static bool begins_block(const struct json *content, str text)
{
    if (!content || content->type != JSON_ARRAY)
        return str_starts(str_trim(json_string(content)), text);
    for (const struct json *block = content->first; block; block = block->next)
        if (str_starts(str_trim(json_string(json_get(block, "text"))), text))
            return true;
    return false;
}

static bool begins_line(str words, str text)
{
    while (words.n)
        if (str_starts(str_trim(str_cut(&words, '\n')), text))
            return true;
    return false;
}

static bool has_tools(const struct json *root)
{
    const struct json *tools = json_get(root, "tools");
    return tools && tools->n > 0;
}

static bool mark_fits(struct arena *a, const struct mark *m, const struct request *in,
                      const struct json *root, str words)
{
    const struct json *system = json_get(root, "system"), *messages = json_get(root, "messages");
    str text = str_of(m->text);
    switch (m->where) {
    case IN_HEADER:
        return str_trim(request_header(in, m->text)).n > 0;
    case IN_SYSTEM: {
        str all = talk_text(a, system);
        return str_find(all, text) < all.n;
    }
    case BEGINS_SYSTEM:
        return begins_block(system, text);
    case BEGINS_WORDS:
        return begins_line(words, text);
    case BEGINS_REQUEST:
        return messages && messages->n == 1 && !talk_text(a, system).n && !has_tools(root) &&
               str_starts(str_trim(words), text);
    case FORCES_TOOL:
        return str_eq(json_string(json_at(root, "tool_choice.name")), text);
    }
    return false;
}

/* No answer of one token is for a person: it warms a cache or tries a key. An answer in a form,
 * without tools, is for a program. */
static bool is_for_program(const struct json *root)
{
    const struct json *format = json_at(root, "output_config.format");
    bool has_format = format && format->type == JSON_OBJECT;
    return json_int_or(json_get(root, "max_tokens"), 2) < 2 || (has_format && !has_tools(root));
}

enum caller caller_of(struct arena *a, const struct request *in, const struct json *root, str words)
{
    for (const struct mark *m = marks; m->text; m++)
        if (mark_fits(a, m, in, root, words))
            return m->what;
    return is_for_program(root) ? CALLER_ASIDE : CALLER_CHAT;
}
