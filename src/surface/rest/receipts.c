/* receipts.c - receipts of chats, with reasons: listed, one by one, and by what they gave. */
#include "core/days.h"
#include "surface/common/error_body.h"
#include "surface/common/found.h"
#include "surface/common/memory_json.h"
#include "surface/rest/inspect.h"

/*
 * A receipt shows what one chat was given. The list leaves out the block and the candidates, which
 * may be long; the receipt itself has them. "Gave" means that the model read it: a candidate that
 * was left out is in the receipt and not in these lists.
 */

/* One receipt in a list, without its block and lines. */
struct receipt_item {
    struct receipt r;
    int64_t given, considered;
    double score;
    str why;
};
static FIELDS(receipt_item, (AS_STR, r.id, "id", .help = "as in the header X-Rememberd-Receipt"),
              (AS_STR, r.space, "space", .help = "the space it is in"),
              (AS_STR, r.session, "session", .help = "the conversation"),
              (AS_TIME, r.created, "created", .help = "when the recall ran"),
              (AS_STR, r.question, "question", .help = "the query that was searched"),
              (AS_STR, r.decision, "decision", .help = "the decision of the relevance gate"),
              (AS_STR, r.reason, "reason", .help = "why"),
              (AS_INT, r.tokens, "tokens", .help = "tokens of the block"),
              (INT, given, .help = "how many lines the model received"),
              (INT, considered, .help = "how many candidates there were"),
              (AS_INT, r.took_us, "took_us", .help = "duration of the recall in microseconds"));

FIELDS_OF(receipt_item, use_item, (AS_STR, r.id, "id", .help = "of the receipt"),
          (AS_STR, r.space, "space", .help = "the space it is in"),
          (AS_STR, r.session, "session", .help = "the conversation that received it"),
          (AS_TIME, r.created, "created", .help = "when"),
          (AS_STR, r.question, "question", .help = "the query that was searched"),
          (AS_STR, r.decision, "decision", .help = "the decision of the relevance gate"),
          (AS_STR, r.reason, "reason", .help = "why"),
          (NUM, score, .help = "what it was ranked by"),
          (STR, why, .help = "its features in words"),
          (AS_INT, r.tokens, "tokens", .help = "tokens of the whole block"),
          (AS_INT, r.took_us, "took_us", .help = "duration of the recall in microseconds"));

/* of: the id whose score and why are shown; "" for none. */
static struct receipt_item item_of(const struct receipt *r, str of)
{
    struct receipt_item item = {.r = *r, .considered = (int64_t)r->n};
    for (size_t i = 0; i < r->n; i++) {
        item.given += r->lines[i].injected;
        if (of.n && str_eq(r->lines[i].id, of)) {
            item.score = r->lines[i].score;
            item.why = r->lines[i].why;
        }
    }
    return item;
}

enum status receipts_page(struct ctx *ctx, struct app *app, const struct field *fields,
                          struct receipts_in *in, str of, str cursor, struct list_page *out)
{
    struct receipts_out found;
    struct list_place place = {0};
    TRY(cursor_read(ctx, of, cursor, &place));
    in->at = (int64_t)place.value;
    in->no = place.row;
    TRY(engine_receipts(ctx, app->engine, in, &found));
    struct receipt_item *items = NEW_N(&ctx->arena, struct receipt_item, found.n + 1);
    for (size_t i = 0; i < found.n; i++)
        items[i] = item_of(&found.v[i], in->of);
    *out = (struct list_page){.total = found.total};
    TRY(json_list(ctx, fields, items, found.n, sizeof *items, &out->items));
    assert(found.n <= in->limit && (found.n || !found.has_more));
    if (found.has_more) {
        const struct receipt *last = &found.v[found.n - 1];
        place = (struct list_place){.value = (double)last->created, .row = last->no};
        out->next = cursor_write(ctx, of, &place);
    }
    return OK;
}

/* --- the list --- */

SHAPE(receipt_list_in,
      (STR, decision, .one_of = day_decisions, .help = "only with this decision of the gate"),
      (STR, session, .max = 256, .help = "only of this conversation"),
      (STR, memory, .max = 256, .help = "only those that gave this memory or message to a model"),
      (TIME, after, .help = "only made at this time or later"),
      (TIME, before, .help = "only made before this time"), LIST_CURSOR, LIST_LIMIT);

LIST_PAGE(receipt_list_out, receipt_item_fields, "newest first");

static HANDLER(receipt_list)
{
    const struct receipt_list_in *l = in->in;
    struct list_page page;
    struct receipts_in ask = {.decision = l->decision,
                              .session = l->session,
                              .of = l->memory,
                              .after = l->after,
                              .before = l->before,
                              .limit = (size_t)l->limit};
    TRY(auth_listed(ctx, app, &in->who, &ask.pools));
    str of =
        str_printf(&ctx->arena, "receipts " S_FMT "|" S_FMT "|" S_FMT "|%lld|%lld|" S_FMT,
                   S_ARG(l->decision), S_ARG(l->session), S_ARG(l->memory), (long long)l->after,
                   (long long)l->before, S_ARG(pools_text(ctx, ask.pools)));
    TRY(receipts_page(ctx, app, receipt_item_fields, &ask, of, l->cursor, &page));
    return reply_fields(out, receipt_list_out_fields, &page);
}

/* It belongs to one space, and the client may have named another one since. */
static HANDLER(receipt_get)
{
    struct receipt r;
    struct receipt_out shape;
    struct pool_ref pool;
    TRY(AUTH_FIND(ctx, app, &in->who, pool,
                  engine_receipt(ctx, app->engine, pool, in->params[0], &r)));
    r.space = pool.space;
    TRY(receipt_shape(ctx, &r, &shape));
    return reply_fields(out, receipt_out_fields, &shape);
}

/* --- by what they gave --- */

SHAPE(uses_in, LIST_CURSOR, LIST_LIMIT);

LIST_PAGE(uses_out, use_item_fields, "receipts whose chat received it, newest first");

/* Of the memory, message or session that the path names, which is in that pool. */
static enum status reply_uses(struct ctx *ctx, struct app *app, const struct request *in,
                              struct pool_ref pool, bool of_session, struct reply *out)
{
    const struct uses_in *u = in->in;
    const struct field *table = of_session ? receipt_list_out_fields : uses_out_fields;
    struct list_page page;
    struct receipts_in ask = {.pools = {&pool, 1}, .limit = (size_t)u->limit};
    *(of_session ? &ask.session : &ask.of) = in->params[0];
    str of = str_printf(&ctx->arena, "%s " S_FMT " " S_FMT "/" S_FMT,
                        of_session ? "session receipts" : "uses", S_ARG(in->params[0]),
                        S_ARG(pool.user), S_ARG(pool.space));
    TRY(receipts_page(ctx, app, table[0].inside, &ask, of, u->cursor, &page));
    return reply_fields(out, table, &page);
}

static HANDLER(memory_uses)
{
    struct memory m;
    TRY(auth_find_memory(ctx, app, &in->who, in->params[0], &m));
    return reply_uses(ctx, app, in, (struct pool_ref){in->who.pool.user, m.space}, false, out);
}

static HANDLER(message_uses)
{
    struct message_around around;
    struct pool_ref pool;
    TRY(AUTH_FIND(ctx, app, &in->who, pool,
                  engine_message(ctx, app->engine, pool, in->params[0], 0, &around)));
    return reply_uses(ctx, app, in, pool, false, out);
}

static HANDLER(session_receipts)
{
    struct session session;
    struct pool_ref pool;
    TRY(session_at(ctx, app, in, &session, &pool));
    return reply_uses(ctx, app, in, pool, true, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/receipts", receipt_list), READS(receipt_list_in), ANSWERS(receipt_list_out),
     .help = "what was inserted into chats, newest first"},
    {ROUTE("GET", "/v1/receipts/{id}", receipt_get), ANSWERS(receipt_out),
     .help = "what memory a chat got, and why; available once written to disk"},
    {ROUTE("GET", "/v1/memories/{id}/uses", memory_uses), READS(uses_in), ANSWERS(uses_out),
     .help = "the chats that got a memory"},
    {ROUTE("GET", "/v1/messages/{id}/uses", message_uses), READS(uses_in), ANSWERS(uses_out),
     .help = "the chats that got a message"},
    {ROUTE("GET", "/v1/sessions/{id}/receipts", session_receipts), READS(uses_in),
     ANSWERS(receipt_list_out), .help = "what was inserted into a conversation's chats"},
    {0},
};

const struct surface surface_receipts = STRICT_SURFACE("receipts", routes);
