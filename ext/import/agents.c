/* agents.c - transcripts of coding agents and agents in files: Claude Code, Codex, Letta. */
#include "engine/text/bytes.h"
#include "ext/import/foreign.h"

/* What the program put in the user's place, or beside what the user typed. A text in angle brackets
 * is its, too. */
static bool is_own_text(str text)
{
    static const char *const begins[] = {
        "<",
        "[Request interrupted",
        "Caveat: The messages below",
        "This session is being continued from a previous conversation",
        "Another language model started to solve this problem",
        "# AGENTS.md instructions",
        NULL,
    };
    text = str_trim(text);
    return !text.n || text_starts_with_any(text, begins);
}

/* One message with its text, unless nobody has said it. */
static enum status give_said(struct foreign *f, str session, const struct json *time,
                             const struct json *content, const char *type, struct message *m)
{
    m->text = foreign_text_of(&f->ctx->arena, content, type,
                              str_is(m->role, "user") ? is_own_text : NULL);
    const struct session s = {.id = foreign_session_id(f, session)};
    TRY(foreign_time(f->ctx, time, "timestamp", &m->created));
    return str_trim(m->text).n ? foreign_session(f, &s, m, 1) : OK;
}

/* --- Claude Code: ~/.claude/projects/DIR/SESSION.jsonl --- */

SHAPE(code_line, (STR, type, .required = true), (STR, uuid), (STR, sessionId), (JSON, message),
      (JSON, timestamp), (JSON, origin), (BOOL, isSidechain), (BOOL, isMeta));

/* What a person or the model said in the main conversation; not tools, hooks and sub-agents, nor
 * what the program says in the model's place. */
static bool is_talk(const struct code_line *l)
{
    str kind = json_string(json_get(l->origin, "kind"));
    return (str_is(l->type, "user") || str_is(l->type, "assistant")) && !l->isSidechain &&
           !l->isMeta && (!kind.n || str_is(kind, "human")) &&
           !str_is(json_string(json_get(l->message, "model")), "<synthetic>");
}

enum status claude_code_line(struct foreign *f, const struct json *record)
{
    struct code_line l;
    TRY(fields_read(f->ctx, code_line_fields, record, false, &l));
    if (!is_talk(&l))
        return OK;
    if (!l.sessionId.n)
        return fail_missing(f->ctx, "sessionId");
    if (!l.message)
        return fail_missing(f->ctx, "message");
    struct message m = {.role = l.type, .ref = l.uuid};
    return give_said(f, l.sessionId, l.timestamp, json_get(l.message, "content"), "text", &m);
}

/* --- Codex: ~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl --- */

/* The first line names the session, and whether a sub-agent had it. */
enum status codex_line(struct foreign *f, const struct json *record)
{
    const struct json *payload = json_get(record, "payload");
    str type = json_string(json_get(record, "type"));
    struct message m = {.role = json_string(json_get(payload, "role")),
                        .ref = json_string(json_get(payload, "id"))};
    if (!payload || payload->type != JSON_OBJECT)
        return fail_field(f->ctx, "payload", "must be an object");
    if (str_is(type, "session_meta")) {
        f->state.session = foreign_keep(f, json_string(json_get(payload, "id")));
        f->state.is_left_out = json_at(payload, "source.subagent") ||
                               json_get(payload, "parent_thread_id") ||
                               str_is(json_string(json_get(payload, "thread_source")), "subagent");
    }
    if (!str_is(type, "response_item") || f->state.is_left_out ||
        !str_is(json_string(json_get(payload, "type")), "message") ||
        (!str_is(m.role, "user") && !str_is(m.role, "assistant")))
        return OK;
    return give_said(f, f->state.session.n ? f->state.session : f->path,
                     json_get(record, "timestamp"), json_get(payload, "content"), NULL, &m);
}

/* --- Letta: NAME.af --- */

/* An answer is the call of send_message where there is one; the text beside it is thought. */
static str answer_of(struct foreign *f, const struct json *m)
{
    const struct json *calls = json_get(m, "tool_calls");
    for (const struct json *c = calls ? calls->first : NULL; c; c = c->next) {
        struct json *arguments;
        str text = json_string(json_at(c, "function.arguments"));
        if (str_is(json_string(json_at(c, "function.name")), "send_message") &&
            soft(f->ctx, json_parse(f->ctx, text, &arguments)))
            return json_string(json_get(arguments, "message"));
    }
    return calls && calls->n ? S("")
                             : foreign_text_of(&f->ctx->arena, json_get(m, "content"), NULL, NULL);
}

/* The user's text may be in an envelope, as are events that no one wrote. */
static str user_text(struct foreign *f, const struct json *m)
{
    struct json *v;
    str text = foreign_text_of(&f->ctx->arena, json_get(m, "content"), NULL, NULL);
    if (!str_starts(str_trim(text), S("{")) || !soft(f->ctx, json_parse(f->ctx, text, &v)) ||
        !json_get(v, "type"))
        return text;
    return str_is(json_string(json_get(v, "type")), "user_message")
               ? json_string(json_get(v, "message"))
               : S("");
}

static enum status give_agent(struct foreign *f, const struct json *agent)
{
    const struct json *list = json_get(agent, "messages");
    str name = json_string(json_get(agent, "name")), id = json_string(json_get(agent, "id"));
    struct session s = {.id = foreign_session_id(f, id.n     ? id
                                                    : name.n ? name
                                                             : f->path),
                        .title = name};
    struct message *v = NEW_N(&f->ctx->arena, struct message, (list ? list->n : 0) + 1);
    size_t n = 0;
    for (const struct json *m = list ? list->first : NULL; m; m = m->next) {
        struct message *to = &v[n];
        str role = json_string(json_get(m, "role")), ref = json_string(json_get(m, "id"));
        bool is_user = str_is(role, "user");
        if (!is_user && !str_is(role, "assistant"))
            continue;
        *to = (struct message){.role = role,
                               .ref = ref,
                               .text = is_user ? user_text(f, m) : answer_of(f, m)};
        TRY(foreign_time(f->ctx, json_get(m, "created_at"), "created_at", &to->created));
        n += to->text.n > 0;
    }
    return n ? foreign_session(f, &s, v, n) : OK;
}

/* Two generations: everything in lists, or one agent at the top. */
enum status letta_agent(struct foreign *f, const struct json *record)
{
    const struct json *agents = json_get(record, "agents");
    const struct json *blocks = json_get(record, agents ? "blocks" : "core_memory");
    if (!blocks || blocks->type != JSON_ARRAY)
        return fail_field(f->ctx, agents ? "blocks" : "core_memory", "must be an array");
    for (const struct json *b = blocks->first; b; b = b->next) {
        /* The agent's own character is no memory of the user. */
        const struct memory like = {.category = json_string(json_get(b, "label"))};
        TRY(str_is(like.category, "persona")
                ? foreign_skip(f)
                : foreign_lines(f, json_string(json_get(b, "value")), &like));
    }
    if (!agents)
        return give_agent(f, record);
    for (const struct json *agent = agents->first; agent; agent = agent->next)
        TRY(give_agent(f, agent));
    return OK;
}
