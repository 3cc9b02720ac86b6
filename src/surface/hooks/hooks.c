/* hooks.c - reports of a coding agent at work: a prompt, an answer, a compaction. */
#include <ctype.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "surface/common/error_body.h"
#include "surface/common/memory_json.h"
#include "surface/common/switches.h"
#include "surface/messages/talk.h"
#include "surface/proxy/answer_capture.h"
#include "surface/proxy/controls.h"

/*
 * A coding agent runs hooks at certain moments and sends them JSON: Claude Code by HTTP, others by
 * `rememberd hook`. One turn of its chat is two requests here: the prompt, which is answered with
 * memories, and the answer, which is kept. In between nothing waits. The prompt is kept when it
 * comes, and the answer continues the conversation that ends with it.
 *
 * Two spaces are asked: the project's, where the conversation is kept, and the user's own, which is
 * only read. Each is a turn of its own with its own receipt, so that forgetting in one space needs
 * to know of no other. A request that names a space has that one alone, and so has a token whose
 * own space is private or that is bound to spaces: a folder's name must not lead out of them.
 *
 * An agent that keeps what a hook has added sends it again, so nothing is put back here, and no
 * memory is given twice (turn_in.replays finds what was given). After a compaction the agent has
 * only a summary: what was said before may be recalled again, and what was given before may be
 * given again. The time of the last compaction is in the session's metadata.
 */

/* An agent shows its model 10,000 characters of a hook's text; four are a token. */
enum { TOKENS_MAX = 2400, MESSAGE_MAX = 4 << 20 };

/* --- shapes --- */

SHAPE(hook_in,
      (STR, hook_event_name, .required = true, .min = 1, .max = 100,
       .help = "UserPromptSubmit or BeforeAgent recalls, Stop or AfterAgent keeps, PreCompact or "
               "PreCompress flushes. Others do nothing"),
      (STR, session_id, .required = true, .min = 1, .max = SESSION_NAME_MAX,
       .help = "the agent's session"),
      (STR, cwd, .max = 4096, .help = "the folder that the agent works in"),
      (STR, project, .max = 4096,
       .help = "the root of the project, in place of cwd; rememberd hook adds it"),
      (STR, prompt, .help = "what the user has typed"),
      (STR, last_assistant_message, .help = "the answer, at Stop"),
      (STR, prompt_response, .help = "the answer, at AfterAgent"));

SHAPE(context_out, (AS_STR, event, "hookEventName", .required = true),
      (AS_STR, context, "additionalContext", .required = true,
       .help = "memories, as text for the model"));

SHAPE(hook_out,
      (AS_JSON, specific, "hookSpecificOutput", .empty = EMPTY_OUT,
       .help = "hookEventName and additionalContext; absent when there is nothing to add"));

/* --- the space of a project: one for each folder of code --- */

/* What the name of every project's space begins with. */
#define PROJECT_PREFIX "project:"
enum { NAME_MAX_BYTES = 60, HASH_DIGITS = 8 };

/* Of the last folder in the path, as far as a header may hold it. */
static str folder_name(struct arena *a, str path)
{
    size_t from = path.n;
    while (from && !char_is_one_of(path.p[from - 1], "/\\"))
        from--;
    str name = utf8_cut(str_sub(path, from, path.n), NAME_MAX_BYTES);
    char *p = arena_alloc(a, name.n + 1);
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        p[i] = (char)(isalnum(c) || char_is_one_of((char)c, "._-") || c >= 0x80 ? c : '-');
    }
    return (str){p, name.n};
}

/*
 * "project:NAME-HASH" of a path: the last folder's name, and 8 digits that tell two folders of one
 * name apart; "" for a path without a folder. The name follows from the path alone, so that nothing
 * has to be set up and nothing is read from the disk: a path in a request is the client's, whose
 * machine may be another one. A folder that moves is another project.
 */
static str project_space(struct arena *a, str path)
{
    path = str_trim_end(str_trim(path), "/\\");
    if (!path.n)
        return S("");
    uint64_t hash = hash64(&path, 1);
    return str_printf(a, PROJECT_PREFIX S_FMT "-%.*s", S_ARG(folder_name(a, path)), HASH_DIGITS,
                      hex_of(a, &hash, sizeof hash).p);
}

static enum status has_session(struct ctx *ctx, struct app *app, struct pool_ref pool, str id,
                               bool *out)
{
    struct session found;
    enum status s = engine_session(ctx, app->engine, pool, id, &found);
    *out = s == OK;
    return soft_or(ctx, s, NOT_FOUND);
}

/* The pool of the project that a session works in: where the session is kept already, else that of
 * the path. So a session stays in its project when it changes its folder. The path's own space is
 * asked first: nearly always the session is there. */
static enum status project_pool(struct ctx *ctx, struct app *app, str user, str session, str path,
                                struct pool_ref *out)
{
    struct pool_info *all;
    size_t n;
    bool is_there = false;
    const struct pool_ref own = {user, project_space(&ctx->arena, path)};
    *out = own;
    if (own.space.n)
        TRY(has_session(ctx, app, own, session, &is_there));
    if (is_there)
        return OK;
    TRY(engine_spaces(ctx, app->engine, user, &all, &n));
    for (size_t i = 0; i < n && !is_there; i++) {
        if (!str_starts(all[i].pool.space, S(PROJECT_PREFIX)))
            continue;
        TRY(has_session(ctx, app, all[i].pool, session, &is_there));
        if (is_there)
            *out = all[i].pool;
    }
    return OK;
}

/* --- what a hook is about --- */

struct hook {
    const struct hook_in *in;
    const struct hook_event *event;
    struct turn_in turn;  /* where the conversation is kept, its session and mode */
    struct pool_ref own;  /* the user's, which is only read; user "": there is none beside */
    struct message *said; /* the conversation, as it is kept */
    size_t n_said;
    size_t since; /* the first that the agent still shows its model */
    str context;  /* the answer: memories, or "" */
};

struct hook_event {
    const char *name;
    enum status (*run)(struct ctx *ctx, struct app *app, struct hook *h, struct reply *out);
    bool keeps_context; /* the agent shows its model a prompt's context with later prompts, too */
};

/* 0: never. */
static int64_t compacted_at(struct ctx *ctx, const struct session *s)
{
    str text = json_string(json_get(json_of_text(ctx, s->metadata), "compacted_at"));
    int64_t at;
    return time_read(text, &at) ? at : 0;
}

static enum status read_conversation(struct ctx *ctx, struct app *app, struct hook *h)
{
    struct session session;
    TRY(engine_session_messages(ctx, app->engine, h->turn.pool, h->turn.session, &h->said,
                                &h->n_said));
    if (!h->n_said)
        return OK;
    enum status s = engine_session(ctx, app->engine, h->turn.pool, h->turn.session, &session);
    int64_t at = s == OK ? compacted_at(ctx, &session) : 0;
    while (h->since < h->n_said && h->said[h->since].created <= at)
        h->since++;
    return soft_or(ctx, s, NOT_FOUND);
}

static enum status read_hook(struct ctx *ctx, struct app *app, const struct request *in,
                             struct hook *h)
{
    str path = h->in->project.n ? h->in->project : h->in->cwd;
    assert(in->who.pool.user.n);
    h->turn.session = h->in->session_id;
    h->turn.pool = in->who.pool;
    bool is_private = false;
    if (!in->who.space_from)
        TRY(auth_is_private(ctx, app, &in->who, &is_private));
    if (!in->who.space_from && !in->who.spaces.n && !is_private) {
        struct pool_ref project;
        TRY(project_pool(ctx, app, in->who.pool.user, h->turn.session, path, &project));
        if (project.space.n && !str_eq(project.space, h->turn.pool.space)) {
            h->own = in->who.pool;
            h->turn.pool = project;
        }
    }
    return read_conversation(ctx, app, h);
}

/* Makes the messages from `from` to `end` and one more what the turn's request says. */
static void say_messages(struct arena *a, const struct hook *h, size_t from, size_t end,
                         struct said last, struct turn_in *t)
{
    struct said *v = NEW_N(a, struct said, h->n_said + 1);
    t->n_said = 0;
    for (size_t i = from; i < end; i++)
        v[t->n_said++] = (struct said){.role = h->said[i].role, .text = h->said[i].text};
    v[t->n_said++] = last;
    t->said = v;
}

/* The turn in the user's own space: what the agent shows its model, up to the message `end`, and
 * the prompt. It keeps no conversation, so the whole of it is what finds what was given before. */
static struct turn_in own_turn(struct arena *a, const struct hook *h, size_t end, str prompt)
{
    struct turn_in t = {.pool = h->own,
                        .session = h->turn.session,
                        .mode = MODE_READONLY,
                        .brings_all = true,
                        .replays = h->event->keeps_context,
                        .budget_tokens = TOKENS_MAX / 2};
    assert(h->own.user.n && end <= h->n_said);
    say_messages(a, h, h->since, end, (struct said){.role = S("user"), .text = prompt}, &t);
    return t;
}

static str own_block(struct ctx *ctx, struct app *app, const struct hook *h, str prompt)
{
    if (!h->own.user.n || h->turn.mode == MODE_AFTER)
        return S("");
    const struct turn_in in = own_turn(&ctx->arena, h, h->n_said, prompt);
    struct turn *t = engine_begin_turn(ctx, app->engine, &in);
    turn_keep(ctx, app, t, S("")); /* the receipt */
    return turn_out_of(t)->block;
}

/* A tool finds in the project's space by its name. */
static str join_blocks(struct arena *a, const struct hook *h, str project, str own)
{
    if (!h->own.user.n || (!project.n && !own.n))
        return project;
    if (project.n)
        project = str_printf(a, "From work on this project (space " S_FMT "):\n" S_FMT "%s",
                             S_ARG(h->turn.pool.space), S_ARG(project), own.n ? "\n\n" : "");
    return str_printf(a, S_FMT "%s" S_FMT, S_ARG(project),
                      own.n ? "From all conversations of the user:\n" : "", S_ARG(own));
}

static enum status answer_context(struct ctx *ctx, const struct hook *h, struct reply *out)
{
    const struct context_out shape = {h->in->hook_event_name, h->context};
    const struct hook_out whole = {
        .specific = h->context.n ? json_object_of(ctx, context_out_fields, &shape) : NULL};
    return reply_fields(out, hook_out_fields, &whole);
}

/* The prompt is kept at once: an agent that is stopped reports no answer. */
static enum status recall_prompt(struct ctx *ctx, struct app *app, struct hook *h,
                                 struct reply *out)
{
    struct said said = {.role = S("user"), .text = h->in->prompt};
    struct turn_in *t = &h->turn;
    if (str_trim(said.text).n && !talk_is_note(said.text)) {
        t->said = &said;
        t->n_said = 1;
        t->window = h->said + h->since;
        t->n_window = h->n_said - h->since;
        t->replays = h->event->keeps_context;
        t->budget_tokens = h->own.user.n ? TOKENS_MAX / 2 : TOKENS_MAX;
        struct turn *turn = engine_begin_turn(ctx, app->engine, t);
        str own = own_block(ctx, app, h, said.text);
        controls_add_headers(ctx, app, t, turn, WITH_MEMORY, out);
        turn_keep(ctx, app, turn, S(""));
        h->context = join_blocks(&ctx->arena, h, turn_out_of(turn)->block, own);
    }
    return OK;
}

/* The user's last message; n_said: there is none. */
static size_t last_prompt(const struct hook *h)
{
    size_t i = h->n_said;
    while (i && !str_is(h->said[i - 1].role, "user"))
        i--;
    return i ? i - 1 : h->n_said;
}

/* What the user's own space gave with the prompt. */
static str block_beside(struct ctx *ctx, struct app *app, const struct hook *h, size_t asked)
{
    if (!h->own.user.n || h->turn.mode == MODE_AFTER || asked < h->since)
        return S("");
    struct turn_in in = own_turn(&ctx->arena, h, asked, h->said[asked].text);
    in.is_aside = true;
    in.helper = S("the end of the turn");
    return turn_out_of(engine_begin_turn(ctx, app->engine, &in))->block;
}

/*
 * The answer continues the conversation behind its last prompt, which finds its block again as at a
 * model's tool call. The same prompt may be answered more than once: other hooks and the agent's
 * background work make it go on. An answer that comes twice is kept once.
 */
static enum status keep_answer(struct ctx *ctx, struct app *app, struct hook *h, struct reply *out)
{
    str answer = str_trim(h->in->last_assistant_message.n ? h->in->last_assistant_message
                                                          : h->in->prompt_response);
    size_t asked = last_prompt(h);
    struct turn_in *t = &h->turn;
    const struct message *last = h->n_said ? &h->said[h->n_said - 1] : NULL;
    bool is_kept = last && str_is(last->role, "assistant") &&
                   str_eq(str_trim(last->text), str_trim(engine_kept_answer(&ctx->arena, answer)));
    if (t->mode == MODE_READONLY || asked == h->n_said || !answer.n || is_kept)
        return OK;
    say_messages(&ctx->arena, h, asked, h->n_said, (struct said){.role = S("tool"), .text = S("")},
                 t);
    t->window = h->said;
    t->n_window = h->n_said;
    t->beside = block_beside(ctx, app, h, asked);
    struct turn *turn = engine_begin_turn(ctx, app->engine, t);
    controls_add_headers(ctx, app, t, turn, WITH_MEMORY, out);
    turn_keep(ctx, app, turn, answer);
    return OK;
}

/* What waits to be distilled is due now, and the conversation counts as said from here on. */
static enum status flush_session(struct ctx *ctx, struct app *app, struct hook *h,
                                 UNUSED struct reply *out)
{
    struct session session;
    struct session_change to = {.sets_metadata = true};
    char now[TIME_ISO_ROOM];
    int64_t sessions;
    time_iso(clock_ms(), now);
    to.metadata = str_printf(&ctx->arena, "{\"compacted_at\":\"%s\"}", now);
    if (!h->n_said || h->turn.mode == MODE_READONLY)
        return OK;
    TRY(soft_or(ctx,
                engine_change_session(ctx, app->engine, h->turn.pool, h->turn.session, &to,
                                      &session),
                NOT_FOUND));
    return engine_sync(ctx, app->engine, h->turn.pool, &sessions);
}

/* Names of the same moment in Claude Code and Codex, and in Gemini CLI. */
static const struct hook_event events[] = {
    {"UserPromptSubmit", recall_prompt, true},
    {"BeforeAgent", recall_prompt, false},
    {"Stop", keep_answer, true},
    {"AfterAgent", keep_answer, false},
    {"PreCompact", flush_session, true},
    {"PreCompress", flush_session, false},
};

static HANDLER(take_hook)
{
    const struct hook_in *a = in->in;
    struct hook h = {.in = a}; /* without an event nothing is to be done */
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (str_is(a->hook_event_name, events[i].name))
            h.event = &events[i];
    TRY(switches_mode(ctx, in, &h.turn.mode));
    TRY(session_name_check(ctx, a->session_id, "session_id"));
    if (!engine_remembers(app->engine)) {
        h.turn.mode = MODE_OFF;
        without_memory_note(app, WITHOUT_FOR_SETTING, out);
    }
    if (h.event && h.turn.mode != MODE_OFF) {
        TRY(read_hook(ctx, app, in, &h));
        TRY(h.event->run(ctx, app, &h, out));
    }
    return answer_context(ctx, &h, out);
}

static const struct route routes[] = {
    {ROUTE("POST", "/v1/hooks", take_hook), .scope = MAY_CHAT, HEADERS(switch),
     SHOWS(completion_shown), READS(hook_in), ANSWERS(hook_out),
     .help = "a hook of a coding agent: a prompt gets memories, an answer is kept"},
    {0},
};

const struct surface surface_hooks = PROBLEM_SURFACE("hooks", routes);
