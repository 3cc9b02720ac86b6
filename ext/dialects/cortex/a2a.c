/* a2a.c - Cortex for agents: a conversation in envelopes, for the token's user. */
#include "base/id.h"
#include "base/time_text.h"
#include "ext/dialects/cortex/chat.h"

/*
 * The two endpoints for agents carry the same chat as /v1/chat in an envelope: who sends, which
 * message, and when. The envelope is checked and answered, and otherwise has no effect: the token
 * says who asks, and user_id must agree with it. An agent's answer is always whole, never a stream.
 */

#define A2A_TYPE "application/vnd.traylinx.a2a+json"
enum { KEY_MAX = 256 };

/* --- shapes --- */

/* message_id comes back as in_reply_to. */
SHAPE(envelope_in, (STR, message_id, .required = true, .min = 1, .max = KEY_MAX),
      (STR, sender_agent_key, .required = true, .min = 1, .max = KEY_MAX),
      (STR, timestamp, .required = true, .help = "ISO 8601"));

SHAPE(create_in,
      (OBJECT, envelope, struct envelope_in, .required = true, .inside = envelope_in_fields),
      (STR, user_id, .required = true, .help = "the token's user"),
      (STR, app_id, .otherwise_str = "", .max = SPACE_NAME_MAX));
SHAPE(create_out, (JSON, envelope), (STR, session_id), (TIME, created_at, .required = true));

static const char *const actions[] = {"chat", NULL};
SHAPE(say_in,
      (OBJECT, envelope, struct envelope_in, .required = true, .inside = envelope_in_fields),
      (STR, action, .required = true, .one_of = actions),
      (STR, session_id, .required = true, .min = 1, .max = 256),
      (STR, message, .required = true, .min = 1),
      (STR, user_id, .required = true, .help = "the token's user"));

/* --- what both check --- */

/* An agent acts for the user whose token it shows, and for no other. Registered users have
 * lower-case UUIDs, whatever case they registered with. A person behind a token is called as the
 * client calls it. */
static enum status check_health(struct ctx *ctx, const struct request *in,
                                const struct envelope_in *envelope, str said)
{
    str user = in->who.pool.user;
    bool is_user =
        (id_is_uuid(said) && str_eq_nocase(said, user)) || person_is_owner(&ctx->arena, user, said);
    int64_t ms;
    if (!time_read(envelope->timestamp, &ms))
        return fail_field(ctx, "timestamp", "must be a time in ISO 8601");
    if (!is_user)
        return fail(ctx, FORBIDDEN, "user_id: the token belongs to another user");
    return OK;
}

/* As the request came, so goes the answer. */
static str type_of(const struct request *in)
{
    str value = request_header(in, "Content-Type"), name = str_trim(str_cut(&value, ';'));
    return str_eq_nocase(name, S(A2A_TYPE)) ? S(A2A_TYPE "; version=1") : S("application/json");
}

/* --- answering --- */

static HANDLER(create_session)
{
    const struct create_in *c = in->in;
    struct pool_ref pool;
    struct session session = {0};
    TRY(check_health(ctx, in, &c->envelope, c->user_id));
    TRY(auth_pool(ctx, app, &in->who, c->app_id, "app_id", &pool));
    TRY(engine_make_session(ctx, app->engine, pool, &session));
    const struct create_out shape = {.envelope = chat_envelope(ctx, c->envelope.message_id),
                                     .session_id = session.id,
                                     .created_at = session.created};
    out->code = 201;
    out->type = type_of(in);
    return reply_fields(out, create_out_fields, &shape);
}

/* balanced is the default of /v1/chat as well; an envelope has no place for another choice. */
static HANDLER(say_message)
{
    const struct say_in *s = in->in;
    TRY(check_health(ctx, in, &s->envelope, s->user_id));
    const struct chat_wish wish = {.session = s->session_id,
                                   .message = s->message,
                                   .preference = S("balanced"),
                                   .in_reply_to = s->envelope.message_id,
                                   .type = type_of(in)};
    return chat_say(ctx, app, in, &wish, out);
}

static const struct route routes[] = {
    {ROUTE("POST", "/a2a/conversation/create", create_session), .scope = MAY_CHAT,
     .words.code = 201, READS(create_in), ANSWERS(create_out),
     .help = "a session for an agent, in an envelope"},
    {ROUTE("POST", "/a2a/conversation/chat", say_message), .scope = MAY_CHAT, READS(say_in),
     ANSWERS(chat_out), .help = "an agent's message in a session; the answer in an envelope"},
    {0},
};

const struct surface surface_cortex_a2a = CORTEX_SURFACE(routes);
