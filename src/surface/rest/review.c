/* review.c - memories held back because they instruct a model: listed, allowed or forgotten. */
#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * Texts that read as instructions to a model are kept but not given to chats, so that a web page or
 * a file cannot plant a command in later conversations. Here their owner sees them and decides:
 * allow, forget, or hold again. The list shows only the sentences that are the reason.
 */

/* held_first, held_last and held_times tell how often a chat would have had the text, which is how
 * urgent a decision is. */
static FIELDS(review, (STR, id, .help = "id of the message or memory"),
              (STR, kind, .help = "message or memory"),
              (STR, text, .help = "its sentences that read as instructions, one a line"),
              (STR, role, .empty = EMPTY_OUT, .help = "who said it; of a message only"),
              (STR, origin, .help = "where it came from: user, assistant, api, mcp, …"),
              (STR, space, .help = "the space it is in"),
              (STR, session, .empty = EMPTY_OUT, .help = "the conversation it came from"),
              (TIME, created, .help = "when it was said or learnt"),
              (AS_TIME, first, "held_first", .help = "when a chat was first not given it"),
              (AS_TIME, last, "held_last", .help = "when a chat was last not given it"),
              (AS_INT, times, "held_times", .help = "how often a chat was not given it"),
              (STR, state, .help = "held, or allowed"),
              (STR, why, .help = "why it is quarantined"));

SHAPE(review_in,
      (ENUM_OF, state, enum review_state, .otherwise_str = "held", .one_of = review_states,
       .help = "held: quarantined until a decision; allowed: may be inserted"),
      LIST_LIMIT, (INT, offset, .max = 1e9, .help = "results to skip"));

SHAPE(review_out, (JSON, held, .inside = review_fields, .help = "quarantined last first"),
      (INT, total, .help = "how many there are"));

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
static HANDLER(review_list)
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
SHAPE(decide_in,
      (ENUM_OF, decision, enum review_state, .required = true, .one_of = review_decisions,
       .help = "allow: it may be inserted; forget: it is erased and suppressed; hold: an allowed "
               "one is quarantined again"));

SHAPE(decide_out, (STR, id, .help = "id of the message or memory"),
      (STR, decision, .help = "as it was asked for"),
      (INT, barred, .help = "number of statements in messages that recall no longer gives"));

/* forget erases a memory; of a message the sentences are barred from recall, and it stays in its
 * conversation. */
static HANDLER(review_decide)
{
    const struct decide_in *d = in->in;
    struct decide_out shape = {.id = in->params[0],
                               .decision = str_of(review_decisions[d->decision])};
    TRY(engine_decide(ctx, app->engine, in->who.pool, shape.id, d->decision, &shape.barred));
    return reply_fields(out, decide_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/review", review_list), READS(review_in), ANSWERS(review_out),
     .help = "quarantined messages and memories"},
    {ROUTE("POST", "/v1/review/{id}", review_decide), READS(decide_in), ANSWERS(decide_out),
     .help = "allow or forget a quarantined text"},
    {0},
};

const struct surface surface_review = STRICT_SURFACE("memories", routes);
