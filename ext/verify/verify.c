/* verify.c - the command verify: runs the tests against a server and prints a table. */
#include "ext/verify/verify.h"

#include "base/clock.h"
#include "base/id.h"
#include "core/url.h"

#include "app/print.h"

/*
 * The server is used as any client uses it. What is written stays in two spaces of its own, whose
 * names begin with "verify-", for the operator to erase. A presence, and an absence that follows an
 * erasure, may take a server some seconds; an absence that must always hold is looked at once.
 */
#define TOKEN_VARIABLE "REMEMBERD_TOKEN"
#define OTHER_VARIABLE "REMEMBERD_OTHER_TOKEN"
enum { PATIENCE_MS = 10000 };
static const struct timespec again = {.tv_nsec = 200000000};

enum outcome { PASSES, FAILS, NOT_RUN };
static const char *const outcome_names[] = {"pass", "FAIL", "not run", NULL};

SHAPE(verify_row, (STR, test), (ENUM, result, .one_of = outcome_names), (STR, why));

/* --- what is wanted --- */

static size_t times_in(str text, str mark)
{
    size_t n = 0;
    for (size_t at; (at = str_find(text, mark)) < text.n; n++)
        text = str_sub(text, at + mark.n, text.n);
    return n;
}

static bool has(str text, str mark)
{
    return times_in(text, mark) > 0;
}

/* The mark stands behind the opening and before the closing, which is there once. */
static bool is_fenced(const struct target *t, str text, str mark)
{
    str from = json_string(json_at(t->adapter, "fence.0")),
        to = json_string(json_at(t->adapter, "fence.1"));
    size_t begin = str_find(text, from), end = str_find(text, to), at = str_find(text, mark);
    return at < text.n && begin < at && at < end && times_in(text, to) == 1;
}

static bool is_as_wanted(const struct target *t, const struct step *step, str text)
{
    str mark = t->marks[step->mark];
    size_t most = (size_t)json_int_or(json_get(t->adapter, "k"), 0);
    switch (step->wanted) {
    case W_DONE:
        return true;
    case W_HAS:
        return has(text, mark);
    case W_LACKS:
    case W_NEVER:
        return !has(text, mark);
    case W_AT_MOST:
        return has(text, mark) && times_in(text, mark) <= most;
    case W_FENCED:
        return is_fenced(t, text, mark);
    }
    return false;
}

static const char *const unmet[] = {
    [W_HAS] = "the answer lacks what must be there",
    [W_LACKS] = "the answer still has what must be gone",
    [W_NEVER] = "the answer has what is another's",
    [W_AT_MOST] = "the prompt has none of the records, or more than k",
    [W_FENCED] = "the memory is not inside the fence, or the fence closes twice",
};

static enum status run_step(struct ctx *ctx, struct target *t, const struct step *step)
{
    int64_t end = clock_mono_us() + (step->wanted == W_NEVER ? 0 : (int64_t)PATIENCE_MS * 1000);
    for (;;) {
        str text;
        TRY(target_call(ctx, t, step, &text));
        if (is_as_wanted(t, step, text))
            return OK;
        if (clock_mono_us() >= end)
            return fail(ctx, CONFLICT, "%s: %s", verb_names[step->verb], unmet[step->wanted]);
        nanosleep(&again, NULL);
    }
}

/* --- a test --- */

/* Why it cannot be run against this server, or NULL. */
static const char *why_not(struct arena *a, const struct target *t, const struct acceptance *test)
{
    if (test->unmeasured)
        return test->unmeasured;
    if (test->needs_two && !(t->tokens[0].n && t->tokens[1].n))
        return "needs tokens of two people: " TOKEN_VARIABLE " and " OTHER_VARIABLE;
    for (size_t i = 0; i < STEPS_MAX && test->steps[i].text; i++) {
        const struct step *step = &test->steps[i];
        if (!target_has(t, step->verb))
            return str_printf(a, "the adapter has no call '%s'", verb_names[step->verb]).p;
        if (step->wanted == W_FENCED && !json_at(t->adapter, "fence.1"))
            return "the adapter names no fence";
    }
    return NULL;
}

/* Each test has spaces and words of its own. With two tokens each keeps its token's space. */
static struct verify_row run_test(struct ctx *ctx, struct target *t, const struct acceptance *test)
{
    struct arena *a = &ctx->arena;
    str run = str_sub(id_random(a), 0, 8);
    const char *why = why_not(&ctx->arena, t, test);
    struct verify_row row = {str_of(test->id), why ? NOT_RUN : PASSES, str_of(why ? why : "")};
    for (int i = 0; i < 2; i++)
        t->spaces[i] = str_printf(a, "verify-" S_FMT "-%d", S_ARG(run), i);
    for (int i = 0; i < MARKS; i++)
        t->marks[i] =
            str_printf(a, "Qu" S_FMT "%s", S_ARG(str_sub(id_random(a), 0, 8)), i ? "vel" : "zor");
    t->id = t->exported = S("");
    for (size_t i = 0; row.result == PASSES && i < STEPS_MAX && test->steps[i].text; i++) {
        if (run_step(ctx, t, &test->steps[i]) == OK)
            continue;
        row.result = FAILS;
        str failure = ctx_take_why(ctx);
        row.why = str_printf(&ctx->arena, "step %zu: " S_FMT, i + 1, S_ARG(failure));
    }
    return row;
}

/* --- the command --- */

static void print_row(const struct options *o, struct arena *a, const struct verify_row *row)
{
    struct json_out w = json_in(a, 1 << 12);
    if (o->json)
        fields_write(&w, verify_row_fields, row);
    else
        buf_printf(w.b, "%-8s %-44.*s " S_FMT, outcome_names[row->result], (int)row->test.n,
                   row->test.p, S_ARG(row->why));
    print_line(str_trim(buf_str(w.b)));
}

static enum status command_verify(struct ctx *ctx, const struct options *o)
{
    struct target t = {.url = str_trim_end(o->words.v[1], "/"),
                       .tokens = {str_trim(str_of(getenv(TOKEN_VARIABLE))),
                                  str_trim(str_of(getenv(OTHER_VARIABLE)))}};
    struct url parts;
    size_t counts[NOT_RUN + 1] = {0};
    TRY(url_read(ctx, "URL", o->words.v[1], true, &parts));
    TRY(adapter_read(ctx, o->words.n > 2 ? o->words.v[2] : S(""), &t.adapter));
    for (const struct acceptance *test = acceptance_tests; test->id; test++) {
        struct verify_row row = run_test(ctx, &t, test);
        counts[row.result]++;
        print_row(o, &ctx->arena, &row);
    }
    if (!o->json)
        print_line(str_printf(&ctx->arena, "%zu pass, %zu fail, %zu not run over an API",
                              counts[PASSES], counts[FAILS], counts[NOT_RUN]));
    return counts[FAILS] ? fail(ctx, CONFLICT, "%zu of the tests fail", counts[FAILS]) : OK;
}

const struct command verify_commands[] = {
    {"verify", "verify URL [ADAPTER]",
     "Run acceptance tests against a memory server, this one or another whose API a file "
     "describes, and print a table",
     "verify http://127.0.0.1:7077", " json ", 1, 2, NULL, command_verify},
    {0},
};
