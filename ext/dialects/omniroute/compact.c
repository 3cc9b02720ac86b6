/* compact.c - OmniRoute's compaction, and the way back: what a summary replaced, and reopening. */
#include "ext/dialects/omniroute/common.h"
#include "surface/common/memory_json.h"

/*
 * Compaction puts short summaries in the place of old memories where that saves tokens. What is
 * replaced is closed, not erased, so there is a way back: /replaced lists what a summary stands
 * for, and /reopen opens it again and erases the summary. The report counts tokens before and
 * after, and tells by reason what was left alone. The command line prints the same report.
 */

/* --- summarize --- */

/* Without apiKeyId each space is summarized by itself: what is said in one must not appear in
 * another. */
SHAPE(summarize_in,
      (AS_INT, days, "olderThanDays", .otherwise = 30, .min = 1, .max = 365,
       .help = "older memories are summarized"),
      (AS_STR, api_key, "apiKeyId", .max = SPACE_NAME_MAX,
       .help = "id of one of your keys, or the name of a space; default: each space separately"),
      (AS_BOOL, dry_run, "dryRun", .help = "report without changing anything"));

SHAPE(skipped_out, (STR, reason, .help = "why they stay as they are"),
      (INT, count, .help = "how many"));

struct summarize_out {
    struct condense_out done;
    int64_t saved, deleted;
    str first;
    bool is_complete;
    const struct json *candidates, *skipped;
};
static FIELDS(
    summarize_out,
    (JSON, candidates, .inside = memory_shown_fields,
     .help = "memories that a summary replaces, or in a dry run would replace; at most 1000"),
    (AS_INT, done.replaced, "candidateCount", .help = "how many there are"),
    (AS_INT, done.before, "totalTokens",
     .help = "tokens of the candidates, without those of askedModelCount"),
    (AS_INT, done.after, "summaryTokens", .help = "tokens of the summaries"),
    (AS_INT, saved, "tokensSaved", .help = "the difference of the two, also in a dry run"),
    (AS_INT, deleted, "deletedCount", .help = "memories replaced by a summary; 0 in a dry run"),
    (AS_STR, first, "summaryId", .empty = EMPTY_NULL, .help = "id of the first summary"),
    (AS_STRS, done.summaries, "summaryIds", .help = "ids of all summaries"),
    (AS_INT, done.n_summaries, "summaryCount",
     .help = "summaries written, or in a dry run those that rules would write"),
    (AS_INT, done.considered, "consideredCount", .help = "old memories that were looked at"),
    (JSON, skipped, .inside = skipped_out_fields,
     .help = "old memories that stay as they are, by reason"),
    (AS_INT, done.asks_model, "askedModelCount",
     .help = "in a dry run: candidates of which only the core model's answer will show whether a "
             "summary saves tokens"),
    (AS_STR, done.why, "fallbackReason", .empty = EMPTY_NULL,
     .help = "why rules wrote summaries in place of the core model"),
    (AS_BOOL, is_complete, "complete",
     .help = "false when the run was cut short; another run goes on from there"),
    (AS_BOOL, done.dry_run, "dryRun", .help = "whether this was a dry run"));

/* As many as fit into an answer: work that is done must not fail for lack of space. */
static enum status show_first(struct ctx *ctx, const struct memory *v, size_t n,
                              const struct json **out)
{
    for (;; n /= 2) {
        enum status s = json_list(ctx, memory_shown_fields, v, n, sizeof *v, out);
        if (!n || !soft_if(ctx, s, TOO_LARGE))
            return s;
    }
}

enum status condensed_json(struct ctx *ctx, const struct condense_out *done, struct buf *out)
{
    struct skipped_out skipped[SKIP_COUNT];
    size_t n = 0;
    struct summarize_out shape = {.done = *done,
                                  .saved = done->before - done->after,
                                  .deleted = done->dry_run ? 0 : done->replaced,
                                  .first = done->summaries.n ? done->summaries.v[0] : S(""),
                                  .is_complete = !done->is_cut};
    struct json_out w = json_to(out);
    assert(done->n <= (size_t)done->considered && done->replaced <= done->considered);
    for (size_t i = 0; i < SKIP_COUNT; i++)
        if (done->skipped[i])
            skipped[n++] = (struct skipped_out){str_of(condense_skip_names[i]), done->skipped[i]};
    TRY(json_list(ctx, skipped_out_fields, skipped, n, sizeof *skipped, &shape.skipped));
    TRY(show_first(ctx, done->candidates, done->n, &shape.candidates));
    fields_write(&w, summarize_out_fields, &shape);
    return OK;
}

/* Runs within the request. A run that is cut short (complete: false) has done what it reports, and
 * the next one goes on. */
static HANDLER(summarize_memories)
{
    const struct summarize_in *s = in->in;
    struct condense_in ask = {.older_than_days = s->days, .dry_run = s->dry_run};
    struct condense_out done;
    TRY(managed_pool(ctx, app, in, s->api_key, &ask.pool));
    TRY(engine_condense(ctx, app->engine, &ask, &done));
    return condensed_json(ctx, &done, &out->body);
}

/* --- the way back --- */

SHAPE(replaced_out,
      (JSON, data, .inside = memory_shown_fields,
       .help = "memories that the summary replaced, oldest first"),
      (INT, total, .help = "how many there are"));

/* Of the space in reach that has the summary; the request's own when none has, for the words of the
 * failure. */
static enum status summary_pool(struct ctx *ctx, struct app *app, const struct request *in,
                                struct pool_ref *out)
{
    struct memory m;
    enum status s = auth_find_memory(ctx, app, &in->who, in->params[0], &m);
    *out = in->who.pool;
    if (s == OK)
        out->space = m.space;
    return soft_or(ctx, s, NOT_FOUND);
}

/* Oldest first. A memory that is no summary is a mistake of the caller's, not an empty list. */
static HANDLER(list_replaced)
{
    struct pool_ref pool;
    struct memory *v;
    size_t n;
    TRY(summary_pool(ctx, app, in, &pool));
    TRY(engine_replaced(ctx, app->engine, pool, in->params[0], &v, &n));
    struct replaced_out shape = {.total = (int64_t)n};
    TRY(show_first(ctx, v, n, &shape.data));
    return reply_fields(out, replaced_out_fields, &shape);
}

SHAPE(
    reopen_out, (BOOL, success),
    (AS_INT, reopened, "reopenedCount",
     .help =
         "memories that are active again; one whose key another memory has by now stays archived"));

/* All or nothing. 409 when the summary is archived. */
static HANDLER(reopen_summary)
{
    struct pool_ref pool;
    struct reopen_out shape = {.success = true};
    TRY(summary_pool(ctx, app, in, &pool));
    TRY(engine_reopen(ctx, app->engine, pool, in->params[0], &shape.reopened));
    return reply_fields(out, reopen_out_fields, &shape);
}

static const struct route routes[] = {
    {ROUTE("POST", "/api/memory/summarize", summarize_memories), READS(summarize_in),
     .strict = true, ANSWERS(summarize_out),
     .help = "replace old memories by short summaries where that saves tokens"},
    {ROUTE("GET", "/api/memory/{id}/replaced", list_replaced), ANSWERS(replaced_out),
     .help = "the memories that a summary replaced"},
    {ROUTE("POST", "/api/memory/{id}/reopen", reopen_summary), ANSWERS(reopen_out),
     .help = "open the memories again that a summary replaced, and erase the summary"},
    {0},
};

const struct surface surface_omniroute_compact = OMNIROUTE_SURFACE(routes);
