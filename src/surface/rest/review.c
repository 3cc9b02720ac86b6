/* review.c - memories held back because they instruct a model: listed, allowed or forgotten. */
#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/memory_json.h"
#include "surface/surface.h"

/*
 * Texts that read as instructions to a model are kept but not given to chats, so that a web page or
 * a file cannot plant a command in later conversations. Here their owner sees them and decides:
 * allow, forget, or hold again. The list shows only the sentences that are the reason.
 */

/* held_first, held_last and held_times tell how often a chat would have had the text, which is how
 * urgent a decision is. */
static const struct field review_fields[] = {
    {STR(struct review, id), .help = "id of the message or memory"},
    {STR(struct review, kind), .help = "message or memory"},
    {STR(struct review, text), .help = "its sentences that read as instructions, one a line"},
    {STR(struct review, role), .empty = EMPTY_OUT, .help = "who said it; of a message only"},
    {STR(struct review, origin), .help = "where it came from: user, assistant, api, mcp, …"},
    {STR(struct review, space), .help = "the space it is in"},
    {STR(struct review, session), .empty = EMPTY_OUT, .help = "the conversation it came from"},
    {TIME(struct review, created), .help = "when it was said or learnt"},
    {AS_TIME(struct review, first, "held_first"), .help = "when a chat was first not given it"},
    {AS_TIME(struct review, last, "held_last"), .help = "when a chat was last not given it"},
    {AS_INT(struct review, times, "held_times"), .help = "how often a chat was not given it"},
    {STR(struct review, state), .help = "held, or allowed"},
    {STR(struct review, why), .help = "why it is held back"},
    {0},
};

struct review_in {
    enum review_state state;
    int64_t limit, offset;
};
static const struct field review_in_fields[] = {
    {ENUM(struct review_in, state), .otherwise_str = "held", .one_of = review_states,
     .help = "held: waits for a decision; allowed: may be given"},
    {INT(struct review_in, limit), .otherwise = 50, .min = 1, .max = 500, .help = "most results"},
    {INT(struct review_in, offset), .max = 1e9, .help = "results to skip"},
    {0},
};

struct review_out {
    const struct json *held;
    int64_t total;
};
static const struct field review_out_fields[] = {
    {JSON(struct review_out, held), .inside = review_fields, .help = "held back last first"},
    {INT(struct review_out, total), .help = "how many there are"},
    {0},
};

enum status surface_review_json(struct ctx *ctx, const struct review *v, size_t n, int64_t total,
                                struct buf *out)
{
    struct review_out shape = {.total = total};
    struct json_out w = json_to(out);
    TRY(json_list(ctx, review_fields, v, n, sizeof *v, &shape.held));
    fields_write(&w, review_out_fields, &shape);
    return OK;
}

/* Of the request's space. Without a state what is held, since that is what waits for someone. */
static enum status review_list(struct ctx *ctx, struct app *app, const struct request *in,
                               struct reply *out)
{
    const struct review_in *r = in->in;
    struct review *v;
    size_t n;
    int64_t total;
    TRY(engine_review(ctx, app->engine, in->who.pool, r->state, (size_t)r->offset, (size_t)r->limit,
                      &v, &n, &total));
    return surface_review_json(ctx, v, n, total, &out->body);
}

/* hold takes an earlier allow back. */
struct decide_in {
    enum review_state decision;
};
static const struct field decide_in_fields[] = {
    {ENUM(struct decide_in, decision), .required = true, .one_of = review_decisions,
     .help = "allow: chats may be given it; forget: it is barred; hold: an allowed one is held "
             "again"},
    {0},
};

struct decide_out {
    str id, decision;
    int64_t barred;
};
static const struct field decide_out_fields[] = {
    {STR(struct decide_out, id), .help = "id of the message or memory"},
    {STR(struct decide_out, decision), .help = "as it was asked for"},
    {INT(struct decide_out, barred),
     .help = "number of statements in messages that recall no longer gives"},
    {0},
};

/* forget erases a memory; of a message the sentences are barred from recall, and it stays in its
 * conversation. */
static enum status review_decide(struct ctx *ctx, struct app *app, const struct request *in,
                                 struct reply *out)
{
    const struct decide_in *d = in->in;
    struct decide_out shape = {.id = in->params[0],
                               .decision = str_of(review_decisions[d->decision])};
    TRY(engine_decide(ctx, app->engine, in->who.pool, shape.id, d->decision, &shape.barred));
    reply_fields(out, decide_out_fields, &shape);
    return OK;
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/review", review_list), READS(review_in), .strict = true, ANSWERS(review_out),
     .help = "messages and memories that are held back from chats"},
    {ROUTE("POST", "/v1/review/{id}", review_decide), READS(decide_in), .strict = true,
     ANSWERS(decide_out), .help = "allow or forget what is held back"},
    {0},
};

const struct surface surface_review = {"memories",      routes,
                                       word_problem,    auth_agent_request,
                                       SURFACE_SETTLES, .errors = &problem_errors};
