/* agents.c - transcripts of coding agents and agents in files: Claude Code, Codex, Letta. */
#include "base/clock.h"
#include "engine/text/bytes.h"
#include "engine/text/envelope.h"
#include "ext/import/foreign.h"
#include "ext/import/importer.h"

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

/* One message, unless nobody has said it. */
static enum status give_said(struct foreign *f, str session, const struct message *m)
{
    const struct session s = {.id = foreign_session_id(f, session)};
    return str_trim(m->text).n ? foreign_session(f, &s, m, 1) : OK;
}

static str said_text(struct foreign *f, str role, const struct json *content, const char *type)
{
    bool is_user = str_is(role, "user");
    str text = foreign_text_of(&f->ctx->arena, content, type, is_user ? is_own_text : NULL);
    return is_user ? envelope_typed(&f->ctx->arena, text) : text;
}

/* --- Claude Code: ~/.claude/projects/DIR/SESSION.jsonl --- */

SHAPE(code_line, (STR, type, .required = true), (STR, uuid), (STR, sessionId), (JSON, message),
      (JSON, timestamp), (JSON, origin), (JSON, attachment), (JSON, forkedFrom), (STR, operation),
      (JSON, content), (BOOL, isSidechain), (BOOL, isMeta));

static bool is_human(const struct json *origin)
{
    str kind = text_in(origin, "kind");
    return !kind.n || str_is(kind, "human");
}

/* What a person or the model said in the main conversation; not tools, hooks and sub-agents, nor
 * what the program says in the model's place. */
static bool is_talk(const struct code_line *l)
{
    return (str_is(l->type, "user") || str_is(l->type, "assistant")) && !l->isMeta &&
           is_human(l->origin) && !str_is(text_in(l->message, "model"), "<synthetic>");
}

/* A prompt that was typed while the model worked, and that the turn has taken. */
static bool is_queued(const struct code_line *l)
{
    str mode = text_in(l->attachment, "commandMode");
    return str_is(l->type, "attachment") &&
           str_is(text_in(l->attachment, "type"), "queued_command") &&
           (!mode.n || str_is(mode, "prompt")) && is_human(json_get(l->attachment, "origin")) &&
           !json_is_true(json_get(l->attachment, "isMeta"));
}

/*
 * A prompt waits in a queue, and comes again as a line of the user when its turn begins (dequeue),
 * or as an attachment when the running turn takes it (remove), which older versions do not write.
 */
static enum status give_waiting(struct foreign *f, size_t at)
{
    struct waiting *w = &f->state.waiting[at];
    bool is_given = w->is_given;
    w->is_given = true;
    return is_given ? OK : give_said(f, w->m.session, &w->m);
}

/* The place of the prompt in the queue, whose end is n: it is not there. */
static size_t find_waiting(const struct foreign *f, str text)
{
    size_t i = 0;
    while (i < f->state.n_waiting && !str_eq(f->state.waiting[i].m.text, text))
        i++;
    return i;
}

static void drop_waiting(struct foreign *f, size_t at)
{
    if (at < f->state.n_waiting)
        memmove(&f->state.waiting[at], &f->state.waiting[at + 1],
                (--f->state.n_waiting - at) * sizeof *f->state.waiting);
}

/* An attachment stands beside its operation: with the next answer none is expected any more. */
static void drop_given(struct foreign *f)
{
    for (size_t i = f->state.n_waiting; i-- > 0;)
        if (f->state.waiting[i].is_given && f->state.waiting[i].m.text.n)
            drop_waiting(f, i);
}

/* Notes and commands of the program wait as well, without a text. */
static enum status take_enqueued(struct foreign *f, const struct code_line *l, str text)
{
    struct arena *a = &f->run->ctx->arena; /* it outlives the record */
    struct waiting w = {.m = {.role = S("user"), .session = str_dup(a, l->sessionId)}};
    w.m.text = str_dup(a, str_starts(text, S("/")) ? S("") : text);
    w.is_given = !w.m.text.n;
    TRY(foreign_time(f->ctx, l->timestamp, "timestamp", &w.m.created));
    if (f->state.n_waiting == WAITING_MAX) {
        TRY(give_waiting(f, 0));
        drop_waiting(f, 0);
    }
    f->state.waiting[f->state.n_waiting++] = w;
    return OK;
}

static enum status take_operation(struct foreign *f, const struct code_line *l)
{
    str text = str_trim(said_text(f, S("user"), l->content, "text"));
    size_t at = find_waiting(f, text);
    bool is_removed = str_is(l->operation, "remove");
    if (str_is(l->operation, "enqueue"))
        return take_enqueued(f, l, text);
    if (is_removed && text.n && at < f->state.n_waiting)
        return give_waiting(f, at);
    if (str_is(l->operation, "popAll")) /* back into the input line */
        f->state.n_waiting = 0;
    if (is_removed || str_is(l->operation, "dequeue"))
        drop_waiting(f, is_removed || text.n ? at : 0);
    return OK;
}

/* Those that nothing was heard of again. The turn of a late one may yet begin, with its own id. */
enum status claude_code_end(struct foreign *f)
{
    for (; f->state.n_waiting; drop_waiting(f, 0))
        if (f->run->now - f->state.waiting[0].m.created > DAY_MS)
            TRY(give_waiting(f, 0));
    return OK;
}

/* Lines of a branch that was begun in another session say so; a session that goes on in another
 * file may be copied there without a word. */
static enum status give_line(struct foreign *f, const struct code_line *l, struct message *m)
{
    bool is_user = str_is(m->role, "user");
    str origin = text_in(l->forkedFrom, "sessionId"), session = origin.n ? origin : l->sessionId;
    str text = str_trim(m->text);
    if (!is_user)
        drop_given(f);
    size_t at = is_user && text.n ? find_waiting(f, text) : f->state.n_waiting;
    bool is_given = at < f->state.n_waiting && f->state.waiting[at].is_given;
    drop_waiting(f, at);
    if (is_given)
        return OK;
    if (foreign_has_elsewhere(f, session, m->ref))
        return foreign_skip(f);
    TRY(foreign_time(f->ctx, l->timestamp, "timestamp", &m->created));
    return give_said(f, session, m);
}

enum status claude_code_line(struct foreign *f, const struct json *record)
{
    struct code_line l;
    TRY(fields_read(f->ctx, code_line_fields, record, false, &l));
    bool queued = is_queued(&l);
    if (str_is(l.type, "queue-operation") && l.sessionId.n)
        return take_operation(f, &l);
    if (!queued && !is_talk(&l))
        return OK;
    if (l.isSidechain)
        return foreign_skip(f);
    if (!l.sessionId.n)
        return fail_missing(f->ctx, "sessionId");
    if (!l.message && !queued)
        return fail_missing(f->ctx, "message");
    const struct json *content =
        queued ? json_get(l.attachment, "prompt") : json_get(l.message, "content");
    struct message m = {.role = queued ? S("user") : l.type, .ref = l.uuid};
    m.text = said_text(f, m.role, content, "text");
    return give_line(f, &l, &m);
}

/* --- Codex: ~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl --- */

/* The first names the session, and whether a sub-agent had it. A fork begins with the lines of its
 * parent, in which the parent is named. */
static enum status take_meta(struct foreign *f, const struct json *meta)
{
    str id = text_in(meta, "id");
    if (f->state.session.n)
        return str_eq(id, f->state.session) ? OK : foreign_fork(f, f->state.session, id);
    f->state.session = str_dup(&f->run->ctx->arena, id);
    f->state.is_left_out = json_at(meta, "source.subagent") || json_get(meta, "parent_thread_id") ||
                           str_is(text_in(meta, "thread_source"), "subagent");
    return foreign_fork(f, f->state.session, text_in(meta, "forked_from_id"));
}

enum status codex_line(struct foreign *f, const struct json *record)
{
    const struct json *payload = json_get(record, "payload");
    str type = text_in(record, "type");
    struct message m = {.role = text_in(payload, "role"), .ref = text_in(payload, "id")};
    if (!payload || payload->type != JSON_OBJECT)
        return fail_field(f->ctx, "payload", "must be an object");
    if (str_is(type, "session_meta"))
        return take_meta(f, payload);
    if (!str_is(type, "response_item") || !str_is(text_in(payload, "type"), "message") ||
        (!str_is(m.role, "user") && !str_is(m.role, "assistant")))
        return OK;
    if (f->state.is_left_out)
        return foreign_skip(f);
    m.text = said_text(f, m.role, json_get(payload, "content"), NULL);
    str session = f->state.session.n ? f->state.session : f->path;
    if (str_trim(m.text).n && foreign_is_copied(f, session, &m))
        return foreign_skip(f);
    TRY(foreign_time(f->ctx, json_get(record, "timestamp"), "timestamp", &m.created));
    return give_said(f, session, &m);
}

/* --- Letta: NAME.af --- */

/* An answer is the call of send_message where there is one; the text beside it is thought. */
static str answer_of(struct foreign *f, const struct json *m)
{
    const struct json *calls = json_get(m, "tool_calls");
    for (const struct json *c = calls ? calls->first : NULL; c; c = c->next) {
        struct json *arguments;
        str text = text_in(c, "function.arguments");
        if (str_is(text_in(c, "function.name"), "send_message") &&
            soft(f->ctx, json_parse(f->ctx, text, &arguments)))
            return text_in(arguments, "message");
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
    return str_is(text_in(v, "type"), "user_message") ? text_in(v, "message") : S("");
}

static enum status give_agent(struct foreign *f, const struct json *agent)
{
    const struct json *list = json_get(agent, "messages");
    str name = text_in(agent, "name"), id = text_in(agent, "id");
    if (!id.n)
        id = name.n ? name : f->path;
    const struct session s = {.id = foreign_session_id(f, id), .title = name};
    struct message *v = NEW_N(&f->ctx->arena, struct message, (list ? list->n : 0) + 1);
    size_t n = 0;
    for (const struct json *m = list ? list->first : NULL; m; m = m->next) {
        str role = text_in(m, "role");
        bool is_user = str_is(role, "user");
        if (!is_user && !str_is(role, "assistant"))
            continue;
        v[n] = (struct message){.role = role, .ref = text_in(m, "id")};
        v[n].text = is_user ? user_text(f, m) : answer_of(f, m);
        TRY(foreign_time(f->ctx, json_get(m, "created_at"), "created_at", &v[n].created));
        n += v[n].text.n > 0;
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
        const struct memory like = {.category = text_in(b, "label")};
        TRY(str_is(like.category, "persona") ? foreign_skip(f)
                                             : foreign_lines(f, text_in(b, "value"), &like));
    }
    if (!agents)
        return give_agent(f, record);
    for (const struct json *agent = agents->first; agent; agent = agent->next)
        TRY(give_agent(f, agent));
    return OK;
}
