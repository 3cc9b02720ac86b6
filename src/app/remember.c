/* remember.c - add, search, list, forget and review on the command line. */
#include "base/clock.h"

#include "app/ask.h"
#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "surface/surface.h"

/*
 * The everyday commands over the engine, without a server in between. Each opens an instance, asks
 * the engine once, and prints text for people or, with --json, what the REST API would answer
 * (surface_…_json). Texts of memories go through print_line.
 */

/* REVIEWS_LISTED is what the REST API gives on one page at most. */
enum { REVIEWS_LISTED = 500 };

/* Before anything is opened, as a wrong word should not create a database. */
enum status command_add_check(struct ctx *ctx, const struct options *o)
{
    if (!str_trim(options_text(ctx, o, 1)).n)
        return fail_field(ctx, "TEXT", "must say what to remember");
    if (o->type.n && name_index(type_names, o->type, -1) < 0)
        return fail(ctx, BAD_INPUT,
                    "--type must be one of: factual, episodic, procedural, semantic");
    return OK;
}

enum status command_add(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct memory m = {
        .content = options_text(ctx, o, 1),
        .key = o->key,
        .type = (enum memory_type)name_index(type_names, o->type, TYPE_FACTUAL),
        .category = o->category,
        .importance = o->importance,
        .origin = ORIGIN_API,
    };
    TRY(instance_open(ctx, o, TO_ADD, &instance));
    TRY(engine_add(ctx, instance.engine, pool_of(o), &m));
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    if (o->json)
        surface_memory_json(&m, &b);
    else
        buf_printf(&b, "remembered " S_FMT, S_ARG(m.id));
    return print_buf(&b);
}

/* A memory and a message are printed alike, a long one by the part that was found; the id on the
 * second line is what forget takes. */
static void print_found(struct ctx *ctx, const struct recalled *r, bool explain)
{
    const struct memory *m = &r->memory;
    const struct message *said = &r->message;
    str score = r->score < 0.005 ? S("<.01") : str_printf(&ctx->arena, "%.2f", r->score);
    str date = date_of(&ctx->arena, r->is_memory ? m->created : said->created);
    str who = r->is_memory ? S("memory") : said->speaker.n ? said->speaker : said->role;
    const char *faint = style_code(STYLE_FAINT), *end = style_code(STYLE_END);
    printf("%s" S_FMT "%s  %s" S_FMT "%s  ", style_code(STYLE_GOOD), S_ARG(score), end, faint,
           S_ARG(date), end);
    print_line(str_printf(&ctx->arena, S_FMT ": " S_FMT, S_ARG(who), S_ARG(r->text)));
    printf("      %s" S_FMT "%s\n", faint, S_ARG(r->is_memory ? m->id : said->id), end);
    if (explain) {
        fputs("      ", stdout);
        print_line(r->why);
    }
}

/* The best first by the score that is printed; of equal ones in the order of the search. */
static void sort_by_score(struct recalled *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct recalled one = v[i];
        size_t at = i;
        for (; at > 0 && v[at - 1].score < one.score; at--)
            v[at] = v[at - 1];
        v[at] = one;
    }
}

/* Finds what the REST API finds. Nothing is noted, as the database is opened to be read. */
enum status command_search(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct recall_in in = {.pool = pool_of(o),
                           .question = options_text(ctx, o, 1),
                           .limit = (size_t)o->limit,
                           .is_preview = true};
    struct recall_out found;
    if (!str_trim(in.question).n)
        return fail_field(ctx, "words", "must say what to search for");
    TRY(instance_open(ctx, o, TO_READ, &instance));
    TRY(engine_search(ctx, instance.engine, &in, &found));
    if (o->json) {
        struct buf b = buf_make(&ctx->arena, PRINT_MAX);
        TRY(surface_found_json(ctx, &found, o->explain, &b));
        return print_buf(&b);
    }
    sort_by_score(found.v, found.n);
    for (size_t i = 0; i < found.n; i++)
        print_found(ctx, &found.v[i], o->explain);
    if (!found.n)
        puts("nothing found");
    if (o->explain && found.vectors.n)
        printf("searched by words and by vectors of " S_FMT "\n", S_ARG(found.vectors));
    if (o->explain && found.without.n)
        printf("searched by words only: " S_FMT "\n", S_ARG(found.without));
    return OK;
}

/* What --closed adds is marked in front of its text, so that nothing closed is taken for true. */
static str mark_of(struct ctx *ctx, const struct memory *m)
{
    struct arena *a = &ctx->arena;
    if (m->valid_to && m->superseded_by.n)
        return str_printf(a, "[superseded " S_FMT " by " S_FMT "] ", S_ARG(date_of(a, m->valid_to)),
                          S_ARG(m->superseded_by));
    if (m->valid_to)
        return str_printf(a, "[archived " S_FMT "] ", S_ARG(date_of(a, m->valid_to)));
    if (m->expires && m->expires <= clock_ms())
        return str_printf(a, "[expired " S_FMT "] ", S_ARG(date_of(a, m->expires)));
    return S("");
}

/* The last line has the count of all that match, so that one sees what --limit left out. */
enum status command_list(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct memory_filter f = {
        .pool = pool_of(o),
        .type = o->type,
        .category = o->category,
        .session = o->session,
        .contains = o->contains,
        .with_closed = o->closed,
        .offset = (size_t)o->offset,
        .limit = (size_t)o->limit,
    };
    struct memory *m;
    size_t n;
    int64_t total;
    TRY(instance_open(ctx, o, TO_READ, &instance));
    TRY(engine_list(ctx, instance.engine, &f, &m, &n, &total));
    if (o->json) {
        struct buf b = buf_make(&ctx->arena, PRINT_MAX);
        TRY(surface_memories_json(ctx, m, n, total, &b));
        return print_buf(&b);
    }
    for (size_t i = 0; i < n; i++) {
        printf(S_FMT "  " S_FMT "  " S_FMT, S_ARG(m[i].id),
               S_ARG(date_of(&ctx->arena, m[i].created)), S_ARG(mark_of(ctx, &m[i])));
        print_line(m[i].content);
    }
    printf("%zu of %lld\n", n, (long long)total);
    return OK;
}

/* Exactly one way, so that a typing error never deletes more than was meant. */
enum status command_forget_check(struct ctx *ctx, const struct options *o)
{
    size_t ways = (o->words.n > 1) + (o->session.n > 0) + o->everything;
    if (ways != 1)
        return fail(ctx, BAD_INPUT, "must be one of: ID, --session ID, --everything");
    if (o->all_spaces && !o->everything)
        return fail(ctx, BAD_INPUT, "--all-spaces needs --everything");
    return o->everything ? ask_is_possible(ctx, o) : OK;
}

/* "a, b" for the message about a space that the user does not have. */
static str space_names(struct arena *a, const struct pool_info *v, size_t n)
{
    enum { SHOWN = 8 };
    str list = S("");
    for (size_t i = 0; i < n && i < SHOWN; i++)
        list = str_printf(a, S_FMT "%s" S_FMT, S_ARG(list), i ? ", " : "", S_ARG(v[i].pool.space));
    return n > SHOWN ? str_printf(a, S_FMT " and %zu more", S_ARG(list), n - SHOWN) : list;
}

/* A mistyped name must not look like a space that was empty. */
static enum status check_space(struct ctx *ctx, const struct options *o, struct engine *e,
                               size_t *n_spaces)
{
    struct pool_info *v;
    TRY(engine_spaces(ctx, e, o->user, &v, n_spaces));
    if (!*n_spaces)
        return fail(ctx, NOT_FOUND, "the user '" S_FMT "' has no space; nothing was erased",
                    S_ARG(o->user));
    if (o->all_spaces || SOME(i, *n_spaces, str_eq(v[i].pool.space, o->space)))
        return OK;
    return fail(ctx, NOT_FOUND,
                "the user '" S_FMT "' has no space '" S_FMT "'; nothing was erased. Spaces of this "
                "user: " S_FMT,
                S_ARG(o->user), S_ARG(o->space), S_ARG(space_names(&ctx->arena, v, *n_spaces)));
}

static enum status check_everything(struct ctx *ctx, const struct options *o, struct engine *e)
{
    struct pool_ref pool = {o->user, o->all_spaces ? S("") : o->space};
    struct erasure sum = {0};
    size_t n;
    TRY(check_space(ctx, o, e, &n));
    if (o->yes)
        return OK;
    TRY(erasure_add(ctx, e, pool, &sum));
    str what = o->all_spaces
                   ? str_printf(&ctx->arena, "everything in " S_FMT,
                                S_ARG(counted(&ctx->arena, (int64_t)n, "space", "spaces")))
                   : str_printf(&ctx->arena, "the space '" S_FMT "'", S_ARG(o->space));
    return ask_to_erase(ctx,
                        str_printf(&ctx->arena, S_FMT " of the user '" S_FMT "'", S_ARG(what),
                                   S_ARG(o->user)),
                        &sum);
}

enum status command_forget(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    int64_t erased, barred = 0;
    str erasure = S("");
    struct forget what = {
        .barred = &barred,
        .erasure = &erasure,
        .pool = pool_of(o),
        .id = o->words.n > 1 ? o->words.v[1] : S(""),
        .session = o->session,
        .everything = o->everything,
        .all_spaces = o->all_spaces,
    };
    TRY(instance_open(ctx, o, TO_CHANGE, &instance));
    if (o->everything)
        TRY(check_everything(ctx, o, instance.engine));
    enum status s = engine_forget(ctx, instance.engine, &what, &erased);
    if (what.id.n && soft_if(ctx, s, NOT_FOUND)) {
        TRY(engine_whole_id(ctx, instance.engine, &what.pool, 1, what.id, &what.id));
        s = engine_forget(ctx, instance.engine, &what, &erased);
    }
    TRY(s);
    if (o->json)
        printf("{\"erased\":%lld,\"barred\":%lld,\"erasure\":\"" S_FMT "\"}\n", (long long)erased,
               (long long)barred, S_ARG(erasure));
    else
        printf("erased " S_FMT "\n",
               S_ARG(counted(&ctx->arena, erased, "memory or message", "memories and messages")));
    if (barred && !o->json)
        printf("suppressed " S_FMT " in the history of conversations: not recalled any more\n",
               S_ARG(counted(&ctx->arena, barred, "statement", "statements")));
    return OK;
}

/* --- what is held back from chats --- */

enum status command_review_check(struct ctx *ctx, const struct options *o)
{
    if (o->words.n == 1)
        return OK;
    if (o->words.n == 2 || name_index(review_decisions, o->words.v[1], -1) < 0)
        return fail(ctx, BAD_INPUT,
                    "must be one of: review, review allow ID, review forget ID, review hold ID");
    return OK;
}

/* The space is that of --space: a review belongs to one space, like its memory or message. */
static enum status decide_review(struct ctx *ctx, const struct options *o, struct engine *e)
{
    int to = name_index(review_decisions, o->words.v[1], -1);
    int64_t barred;
    TRY(engine_decide(ctx, e, pool_of(o), o->words.v[2], (enum review_state)to, &barred));
    if (o->json)
        printf("{\"id\":\"" S_FMT "\",\"decision\":\"%s\",\"barred\":%lld}\n", S_ARG(o->words.v[2]),
               review_decisions[to], (long long)barred);
    else
        printf("%s: " S_FMT "\n", review_decisions[to], S_ARG(o->words.v[2]));
    return OK;
}

/* The date is when a chat was last not given it. */
static void print_reviews(struct ctx *ctx, const struct review *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        printf(S_FMT "  " S_FMT "  " S_FMT ", " S_FMT "\n", S_ARG(v[i].id),
               S_ARG(date_of(&ctx->arena, v[i].last)), S_ARG(v[i].kind), S_ARG(v[i].origin));
        print_line(str_printf(&ctx->arena, "      " S_FMT, S_ARG(v[i].text)));
    }
    if (!n)
        puts("nothing is quarantined");
}

enum status command_review(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct review *v;
    size_t n;
    int64_t total;
    TRY(instance_open(ctx, o, o->words.n > 1 ? TO_CHANGE : TO_READ, &instance));
    if (o->words.n > 1)
        return decide_review(ctx, o, instance.engine);
    TRY(engine_review(ctx, instance.engine, pool_of(o), o->allowed ? REVIEW_ALLOWED : REVIEW_HELD,
                      0, REVIEWS_LISTED, &v, &n, &total));
    if (!o->json) {
        print_reviews(ctx, v, n);
        return OK;
    }
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    TRY(surface_review_json(ctx, v, n, total, &b));
    return print_buf(&b);
}
