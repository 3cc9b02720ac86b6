/* controls.c - a request's wishes about memory besides its messages: alike at every model API. */
#include "surface/proxy/controls.h"

#include "surface/common/auth.h"
#include "surface/common/person.h"
#include "surface/common/switches.h"

static const char *const chat_scopes[] = {"space", "session", NULL};
#define CHAT_HEADER_ROWS                                                                           \
    SWITCH_ROWS,                                                                                   \
        HEADER_ROW("X-Memory-Scope", STR, .one_of = chat_scopes,                                   \
                   .help = "what is recalled: the space, or only this conversation"),              \
        HEADER_ROW("X-Session-Id", STR, .help = "the conversation"),                               \
        HEADER_ROW(AGENT_HEADER, STR, .help = "an agent, whose space is used")
const struct field chat_header_fields[] = {CHAT_HEADER_ROWS, {0}};
const struct field completion_header_fields[] = {
    CHAT_HEADER_ROWS,
    HEADER_ROW("X-Memory-Tools", SWITCH, .one_of = on_off_names,
               .help = "let the model search the memory itself"),
    HEADER_ROW("X-Session-History", SWITCH, .one_of = on_off_names,
               .help = "the server keeps the conversation; the request has only new messages"),
    {0},
};
const struct field completion_shown_fields[] = {
    HEADER_ROW("X-Rememberd-Receipt", STR,
               .help = "id of the record of what was recalled: /v1/receipts/{id}"),
    HEADER_ROW("X-OmniRoute-Session-Id", STR, .help = "the conversation"),
    HEADER_ROW("X-Memory", STR,
               .help = "why there is no memory, or which background request of the client this is"),
    {0},
};

/* Not every space of the user: a receipt belongs to one space, and what is forgotten in another
 * would stay in it. */
static enum status read_scope(struct ctx *ctx, const struct request *in, struct turn_in *out)
{
    static const char header[] = "X-Memory-Scope";
    str wish = str_trim(request_header(in, header));
    bool is_session = str_eq_nocase(wish, str_of(scope_names[SCOPE_SESSION]));
    if (wish.n && !is_session && !str_eq_nocase(wish, str_of(scope_names[SCOPE_SPACE])))
        return fail_field(ctx, header, "must be one of: space, session");
    if (is_session && out->is_planned)
        return fail_field(ctx, header, "must not be session for an agent's chat");
    out->scope = is_session ? SCOPE_SESSION : SCOPE_SPACE;
    return OK;
}

enum status session_name_check(struct ctx *ctx, str name, const char *field)
{
    if (name.n > SESSION_NAME_MAX)
        return fail_field(ctx, field, "must have at most %d bytes", SESSION_NAME_MAX);
    return name_check(ctx, field, name);
}

/* Ours, and those in which other programs name a conversation; the first that is there. */
static enum status read_session(struct ctx *ctx, const struct request *in, str *out)
{
    static const char *const headers[] = {"X-Session-Id",
                                          "X-OmniRoute-Session-Id",
                                          "X-OpenWebUI-Chat-Id",
                                          "X-Claude-Code-Session-Id",
                                          "X-Chat-Id",
                                          "X-Conversation-Id",
                                          "X-LiteLLM-Session-Id",
                                          "X-Session-Affinity",
                                          "Thread-Id",
                                          "Session-Id",
                                          NULL};
    for (const char *const *h = headers; *h; h++) {
        *out = str_trim(request_header(in, *h));
        TRY(session_name_check(ctx, *out, *h));
        if (out->n)
            return OK;
    }
    return OK;
}

enum status controls_read(struct ctx *ctx, const struct request *in, struct turn_in *out)
{
    assert(in->who.pool.user.n);
    *out = (struct turn_in){.pool = in->who.pool,
                            .has_helpers = true,
                            .is_planned = str_trim(request_header(in, AGENT_HEADER)).n > 0};
    TRY(read_session(ctx, in, &out->session));
    TRY(switches_mode(ctx, in, &out->mode));
    return read_scope(ctx, in, out);
}

enum status controls_name_session(struct ctx *ctx, const struct json *root, struct turn_in *out)
{
    if (!out->session.n)
        out->session = person_session(ctx, root);
    return session_name_check(ctx, out->session, "session_id");
}

void controls_add_headers(struct ctx *ctx, struct app *app, const struct turn_in *in,
                          const struct turn *turn, enum without_memory without, struct reply *out)
{
    const struct turn_out *t = turn ? turn_out_of(turn) : NULL;
    str session = t && t->session.n ? t->session : in->session;
    if (t && t->receipt.n)
        reply_header(out, "X-Rememberd-Receipt", t->receipt);
    if (session.n)
        reply_header(out, "X-OmniRoute-Session-Id", session);
    if (t && t->helper.n && without == WITH_MEMORY)
        without_memory_helper(app, ctx, memory_mode_names[in->is_aside ? MODE_OFF : t->mode],
                              t->helper, out);
    else
        without_memory_note(app, without, out);
}
