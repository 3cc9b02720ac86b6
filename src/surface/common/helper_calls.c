/* helper_calls.c - requests that a client's program makes for itself: titles, tags, sub-agents. */
#include "surface/common/helper_calls.h"

#include "surface/common/said.h"
#include "surface/common/switches.h"

/*
 * Chat programs and coding agents send requests of their own over the same endpoint, often in the
 * same conversation: for a title, tags, a summary, the user's next prompt. Nobody has said these,
 * so they must neither be answered with memories nor teach any. The first row that fits decides.
 * Headers come first, since there the client itself says what it asks for; then the words of its
 * templates; then what no person would ask for. Prompts that users have reworded are recognized by
 * their form, in the engine (helper_prompt.h).
 */

enum { OPENING_MAX = 400 };

enum where {
    HEADER,        /* a header of this name has the value `also`; NULL: any */
    HEADER_EMPTY,  /* a header of this name is there, without a value */
    SYSTEM_BEGINS, /* a system text begins so */
    SYSTEM_HAS,    /* a system text has this anywhere */
    LAST_BEGINS,   /* the user's last message begins so */
    LAST_LINE,     /* a line of it does: programs add theirs to the user's */
    ONLY_BEGINS,   /* it is the only message, without tools, and begins so */
    ALONE_BEGINS,  /* the same, and there is no system text */
    OPENING_HAS,   /* a system text or the last message has this near its beginning */
    OFFERS_TOOL,   /* the model may call a tool of this name */
    FORCES_TOOL,   /* it must */
    ONE_TOKEN,     /* the answer has at most one token */
    WANTS_FORM     /* Anthropic's output format, without tools: the answer is for a program */
};

/* What memory does for a row. A chat's row is one that says for certain: this is the user. */
enum effect { NOTHING, READS, CHAT };

struct helper_call {
    const char *client, *purpose; /* "title of Open WebUI" */
    enum where where;
    const char *text;
    const char *also; /* of words: must be somewhere in the same text; NULL: nothing more */
    enum effect effect;
};

#define WEBUI "Open WebUI"
#define WEBUI_TASK(PURPOSE, VALUE)                                                                 \
    {                                                                                              \
        WEBUI, PURPOSE, HEADER, "X-OpenWebUI-Task", VALUE, NOTHING                                 \
    }
#define WEBUI_PROMPT(PURPOSE, ORDER)                                                               \
    {                                                                                              \
        WEBUI, PURPOSE, ONLY_BEGINS, "### Task:" ORDER, "<chat_history>", NOTHING                  \
    }
#define CLAUDE "Claude Code"

static const struct helper_call calls[] = {
    {WEBUI, "chat", HEADER_EMPTY, "X-OpenWebUI-Task", .effect = CHAT},
    WEBUI_TASK("title", "title_generation"),
    WEBUI_TASK("follow-up questions", "follow_up_generation"),
    WEBUI_TASK("tags", "tags_generation"),
    WEBUI_TASK("emoji", "emoji_generation"),
    WEBUI_TASK("search queries", "query_generation"),
    WEBUI_TASK("image prompt", "image_prompt_generation"),
    WEBUI_TASK("autocompletion", "autocomplete_generation"),
    WEBUI_TASK("choice of tools", "function_calling"),
    WEBUI_TASK("merged answer", "moa_response_generation"),
    WEBUI_TASK("document suggestions", "document_suggestions_generation"),
    WEBUI_TASK("task", NULL),
    {CLAUDE, "sub-agent", HEADER, "X-Claude-Code-Agent-Id", .effect = READS},
    {CLAUDE, "sub-agent", SYSTEM_HAS, "cc_is_subagent=true", .effect = READS},
    {"Codex", "sub-agent", HEADER, "X-OpenAI-Subagent", .effect = READS},

    WEBUI_PROMPT("title", "\nGenerate a concise, 3-5 word title"),
    WEBUI_PROMPT("title", "\nGenerate a concise title"),
    WEBUI_PROMPT("tags", "\nGenerate 1-3 broad tags"),
    WEBUI_PROMPT("follow-up questions", "\nSuggest 3-5 relevant follow-up"),
    WEBUI_PROMPT("search queries", "\nAnalyze the chat history"),
    WEBUI_PROMPT("image prompt", "\nGenerate a detailed prompt"),
    WEBUI_PROMPT("autocompletion", "\nYou are an autocompletion system"),
    WEBUI_PROMPT("task", ""),
    {WEBUI, "emoji", LAST_BEGINS, "Your task is to reflect the speaker's likely facial expression"},
    {WEBUI, "merged answer", LAST_BEGINS,
     "You have been provided with a set of responses from various models"},
    {WEBUI, "choice of tools", SYSTEM_BEGINS,
     "Available Tools:", "Your task is to choose and return the correct tool"},

    {"LibreChat", "title", ONLY_BEGINS, "Provide a concise, 5-word-or-less title"},
    {"LibreChat", "title", LAST_BEGINS,
     "Analyze this conversation and provide:\n1. The detected language"},
    {"LibreChat", "memory", OFFERS_TOOL, "set_memory", "delete_memory"},
    {"LobeChat", "title", SYSTEM_BEGINS, "You are a professional conversation summarizer"},
    {"LobeChat", "title", SYSTEM_BEGINS, "你是一名擅长会话的助理", "标题"},
    {"LobeChat", "summary", SYSTEM_BEGINS, "你是一名擅长从 chunk 中提取摘要的助理"},
    {"Continue", "title", ONLY_BEGINS, "Given the following... please reply with a title"},
    {"Jan", "title", ONLY_BEGINS, "Summarize in a 10-word Title"},
    {"n8n", "title", OPENING_HAS, "Generate a concise, descriptive title for this conversation"},
    {"opencode", "title", SYSTEM_BEGINS, "You are a title generator"},
    {"opencode", "title", LAST_BEGINS, "Generate a title for this conversation"},
    {"opencode", "compaction", OPENING_HAS, "anchored summary", "Do not continue the conversation"},
    {"Cline", "compaction", OPENING_HAS, "Summarize the provided coding session"},
    {"Roo Code", "compaction", OPENING_HAS, "CRITICAL: This is a summarization-only request"},
    {"Roo Code", "better prompt", OPENING_HAS, "Generate an enhanced version of this prompt"},

    {CLAUDE, "title", SYSTEM_BEGINS, "Generate a concise, sentence-case title"},
    {CLAUDE, "session name", SYSTEM_BEGINS, "Generate a short kebab-case name"},
    {CLAUDE, "label", SYSTEM_BEGINS,
     "Write a short summary label describing what these tool calls"},
    {CLAUDE, "label", LAST_LINE, "Write a short summary label describing what these tool calls"},
    {CLAUDE, "choice of memories", SYSTEM_BEGINS,
     "You are selecting memories that will be useful to Claude Code"},
    {CLAUDE, "hook", SYSTEM_BEGINS, "You are evaluating a hook condition in Claude Code"},
    {CLAUDE, "compaction", LAST_LINE, "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."},
    {CLAUDE, "compaction", LAST_LINE,
     "Your task is to create a detailed summary of the conversation so far"},
    {CLAUDE, "next prompt", LAST_LINE, "[SUGGESTION MODE: Suggest what the user might"},
    {CLAUDE, "recap", LAST_LINE, "The user stepped away and is coming back. Recap"},
    {CLAUDE, "memory", LAST_LINE, "# Dream: Memory Consolidation"},
    {CLAUDE, "memory", LAST_LINE, "You are now acting as the memory extraction"},
    {CLAUDE, "page", ALONE_BEGINS, "Web page content:"},
    {CLAUDE, "explanation", FORCES_TOOL, "explain_command"},

    {"the client", "probe", ONE_TOKEN, NULL},
    {"the client", "structured answer", WANTS_FORM, NULL},
};
const struct helper_call helper_note = {"the client", "note"};
const struct helper_call helper_own = {"the client", "own call"};
const struct helper_call helper_agent = {"the client", "sub-agent", .effect = READS};

/* --- what a row looks at --- */

/* A front end too old to fill in its template sends the template, which is no value. */
static bool has_header(const struct request *in, const struct helper_call *call)
{
    for (size_t i = 0; i < in->n_headers; i++) {
        if (!str_eq_nocase(in->headers[i].name, str_of(call->text)))
            continue;
        str value = str_trim(in->headers[i].value);
        if (call->where == HEADER_EMPTY)
            return !value.n;
        return value.n && !str_starts(value, S("{{")) && (!call->also || str_is(value, call->also));
    }
    return false;
}

static bool text_has(str text, const char *part)
{
    return str_find(text, str_of(part)) < text.n;
}

static bool words_fit(const struct helper_call *call, str text)
{
    bool is_there = false;
    text = str_trim(text);
    if (call->where == SYSTEM_HAS)
        is_there = text_has(text, call->text);
    else if (call->where == OPENING_HAS)
        is_there =
            text_has(str_sub(text, 0, text.n < OPENING_MAX ? text.n : OPENING_MAX), call->text);
    else if (call->where == LAST_LINE)
        for (str rest = text; rest.n && !is_there;)
            is_there = str_starts(str_trim(str_cut(&rest, '\n')), str_of(call->text));
    else
        is_there = str_starts(text, str_of(call->text));
    return is_there && (!call->also || text_has(text, call->also));
}

static bool system_fits(const struct helper_call *call, const struct helper_facts *f)
{
    return SOME(i, f->n_system, words_fit(call, f->system[i]));
}

static bool has_tools(const struct json *root)
{
    const struct json *tools = json_get(root, "tools");
    return tools && tools->n > 0;
}

/* The last one is Ollama's. A negative number means that there is no limit. */
static bool wants_one_token(const struct json *root)
{
    static const char *const members[] = {"max_tokens", "max_completion_tokens",
                                          "options.num_predict", NULL};
    for (const char *const *m = members; *m; m++) {
        int64_t most = json_int_or(json_at(root, *m), 2);
        if (most == 0 || most == 1)
            return true;
    }
    return false;
}

static bool call_fits(const struct helper_call *call, const struct helper_facts *f)
{
    const struct json *form;
    switch (call->where) {
    case HEADER:
    case HEADER_EMPTY:
        return has_header(f->in, call);
    case SYSTEM_BEGINS:
    case SYSTEM_HAS:
        return system_fits(call, f);
    case LAST_BEGINS:
    case LAST_LINE:
        return words_fit(call, f->last);
    case ALONE_BEGINS:
    case ONLY_BEGINS:
        return f->messages == 1 && !has_tools(f->root) && words_fit(call, f->last) &&
               (call->where == ONLY_BEGINS || !SOME(i, f->n_system, str_trim(f->system[i]).n));
    case OPENING_HAS:
        return words_fit(call, f->last) || system_fits(call, f);
    case OFFERS_TOOL:
        return offers_tool(f->root, call->text) && offers_tool(f->root, call->also);
    case FORCES_TOOL:
        return json_says(f->root, "tool_choice.name", call->text) ||
               json_says(f->root, "tool_choice.function.name", call->text);
    case ONE_TOKEN:
        return wants_one_token(f->root);
    case WANTS_FORM:
        form = json_at(f->root, "output_config.format");
        return form && form->type == JSON_OBJECT && !has_tools(f->root);
    }
    return false;
}

const struct helper_call *helper_call_find(const struct helper_facts *f)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (call_fits(&calls[i], f))
            return &calls[i];
    return NULL;
}

/* --- what follows from it --- */

static struct helper_facts facts_of(struct arena *a, const struct request *in,
                                    const struct json *root, const struct said *said, size_t n)
{
    str *system = NEW_N(a, str, n + 1);
    struct helper_facts f = {.in = in, .root = root, .system = system};
    for (size_t i = 0; i < n; i++) {
        if (role_is_system(said[i].role))
            system[f.n_system++] = said[i].text;
        else
            f.messages++;
        if (str_is(said[i].role, "user"))
            f.last = said[i].text;
    }
    return f;
}

/* A sub-agent sees what the chat sees and teaches nothing: its user is a model. Any other call gets
 * only the blocks that its conversation has had, so that a provider's cache still fits. */
void helper_call_apply(struct arena *a, const struct helper_call *call, struct turn_in *turn)
{
    if (!call)
        return;
    turn->has_helpers = false;
    if (call->effect == CHAT || turn->mode == MODE_OFF)
        return;
    turn->helper = str_printf(a, "%s of %s", call->purpose, call->client);
    turn->mode = mode_without_keeping(turn->mode);
    turn->is_aside = call->effect == NOTHING && turn->mode == MODE_READONLY;
}

void helper_call_read(struct arena *a, const struct request *in, const struct json *root,
                      struct turn_in *turn)
{
    const struct helper_facts facts = facts_of(a, in, root, turn->said, turn->n_said);
    helper_call_apply(a, helper_call_find(&facts), turn);
    if (!turn->is_aside)
        return;
    while (turn->n_said && !str_is(turn->said[--turn->n_said].role, "user"))
        ;
}
