/* dependency.c - the circuit of a server that fails: when it opens, for how long, and in what
 * words. */
#include "engine/state/dependency.h"

#include "t.h"

static enum status fail_once(struct ctx *ctx, struct dependency *d, enum status s)
{
    int64_t ticket = dependency_begin_now(d);
    dependency_end(ctx, d, ticket, s);
    return s;
}

TEST(a_failure_opens_the_circuit_and_each_one_doubles_the_wait)
{
    struct dependency d = {.kind = DEPENDENCY_QDRANT};
    int64_t ticket;
    CHECK_OK(dependency_begin(ctx, &d, &ticket));
    CHECK(!dependency_is_open(&d) && !dependency_is_failing(&d) && !dependency_seconds(&d));
    dependency_end(ctx, &d, ticket, TIMED_OUT);
    CHECK(dependency_is_open(&d) && dependency_is_failing(&d));
    CHECK_INT(dependency_seconds(&d), 1);
    CHECK_STATUS(dependency_begin(ctx, &d, &ticket), UPSTREAM);
    CHECK_STR(ctx_take_why(ctx), S("Qdrant timed out: circuit open, not retried for 1 s"));
    for (int64_t ms = 2000; ms < DEPENDENCY_MOST_MS; ms *= 2) {
        fail_once(ctx, &d, UPSTREAM);
        CHECK_INT(d.wait_ms, ms);
    }
    fail_once(ctx, &d, NO_AUTH);
    fail_once(ctx, &d, NO_AUTH);
    CHECK_INT(d.wait_ms, DEPENDENCY_MOST_MS);
    CHECK_STR(dependency_last(&ctx->arena, &d), S("Qdrant refused the key"));
    CHECK_INT(d.failures, 8);
    fail_once(ctx, &d, OK);
    CHECK(!dependency_is_failing(&d) && !d.wait_ms);
    CHECK_STR(dependency_last(&ctx->arena, &d), S("Qdrant answered"));
}

/* Of several that failed together one counts: their tickets are the same. */
TEST(failures_at_once_count_as_one)
{
    struct dependency d = {.kind = DEPENDENCY_RERANK};
    int64_t a, b;
    CHECK_OK(dependency_begin(ctx, &d, &a));
    CHECK_OK(dependency_begin(ctx, &d, &b));
    dependency_end(ctx, &d, a, UPSTREAM);
    dependency_end(ctx, &d, b, UPSTREAM);
    CHECK_INT(d.wait_ms, DEPENDENCY_FIRST_MS);
}

TEST(what_is_not_the_servers_fault_opens_nothing)
{
    static const struct {
        enum dependency_kind kind;
        enum status harmless, failure;
    } cases[] = {{DEPENDENCY_CORE_MODEL, BAD_INPUT, UPSTREAM},
                 {DEPENDENCY_SECTIONS, UPSTREAM, TIMED_OUT},
                 {DEPENDENCY_REWRITE, NO_AUTH, TIMED_OUT},
                 {DEPENDENCY_QDRANT, STORAGE, BAD_INPUT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dependency d = {.kind = cases[i].kind};
        fail_once(ctx, &d, cases[i].harmless);
        CHECK(!dependency_is_failing(&d));
        fail_once(ctx, &d, cases[i].failure);
        CHECK(dependency_is_failing(&d));
        fail_once(ctx, &d, cases[i].harmless);
        CHECK(!dependency_is_failing(&d));
    }
}

/* A shutdown, or a client that left. */
TEST(a_cancelled_call_says_nothing_about_the_server)
{
    struct dependency d = {.kind = DEPENDENCY_EMBED_QUESTIONS};
    atomic_bool is_cut = true;
    ctx->is_cut = &is_cut;
    fail_once(ctx, &d, UPSTREAM);
    CHECK(!dependency_is_failing(&d) && !d.failures);
    ctx->is_cut = NULL;
    fail_once(ctx, &d, UPSTREAM);
    CHECK(dependency_is_failing(&d));
    dependency_reset(&d);
    CHECK(!dependency_is_failing(&d) && !d.tried_us);
}
