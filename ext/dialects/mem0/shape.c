/* shape.c - memories and failures as mem0's API shows them. */
#include <math.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/time_text.h"
#include "ext/dialects/mem0/mem0.h"

/*
 * Both servers of mem0 show a memory under nearly the same names, so one table has all of them.
 * Failures are {"detail": sentence}: mem0's clients show the whole body, and choose the class of
 * their exception by the code alone.
 */

/* --- a memory --- */

FIELDS(mem0_memory, (AS_STR, of.id, "id", .help = "UUID"),
       (AS_STR, of.content, "memory", .help = "what is remembered"),
       (STR, hash, .help = "of the text"), (AS_STR, ids.user_id, "user_id", .empty = EMPTY_NULL),
       (AS_STR, ids.agent_id, "agent_id", .empty = EMPTY_NULL),
       (AS_STR, ids.app_id, "app_id", .empty = EMPTY_NULL),
       (AS_STR, ids.run_id, "run_id", .empty = EMPTY_NULL),
       (AS_RAW, of.metadata, "metadata", .help = "an object, or null"),
       (STRS, categories, .help = "its category and its tags"),
       (STR, expiration_date, .empty = EMPTY_NULL, .help = "the last day on which it counts"),
       (AS_TIME, of.created, "created_at", .required = true),
       (AS_TIME, of.updated, "updated_at", .required = true),
       (NUM, score, .empty = EMPTY_OUT, .help = "0 to 1, of a search"));

static struct strs categories_of(struct ctx *ctx, const struct memory *m)
{
    struct strs out = {NEW_N(&ctx->arena, str, m->tags.n + 1), 0};
    if (m->category.n)
        out.v[out.n++] = m->category;
    for (size_t i = 0; i < m->tags.n; i++)
        if (!str_eq(m->tags.v[i], m->category))
            out.v[out.n++] = m->tags.v[i];
    return out;
}

struct mem0_memory mem0_shape(struct ctx *ctx, const struct mem0_who *who, const struct memory *m)
{
    int64_t last = m->expires ? m->expires - 1 : 0;
    return (struct mem0_memory){.of = *m,
                                .hash = sha256_hex(&ctx->arena, m->content),
                                .ids = mem0_ids_of(ctx, who, m->space, m->session),
                                .categories = categories_of(ctx, m),
                                .expiration_date = time_write(&ctx->arena, last, "%04Y-%m-%d"),
                                .score = NAN};
}

enum status mem0_expires(struct ctx *ctx, str date, int64_t *out)
{
    enum { DATE = 10 };
    *out = 0;
    if (!date.n)
        return OK;
    if (date.n != DATE || !time_read(date, out))
        return fail_field(ctx, "expiration_date", "must be a date, as 2026-12-31");
    *out = time_not_none(*out < TIME_LATEST_MS - DAY_MS ? *out + DAY_MS : TIME_LATEST_MS);
    return OK;
}

enum status mem0_show(struct ctx *ctx, const struct mem0_found *found, struct reply *out)
{
    struct mem0_memory shape = mem0_shape(ctx, &found->who, &found->memory);
    return reply_fields(out, mem0_memory_fields, &shape);
}

/* --- messages --- */

FIELDS(mem0_said, (STR, message));

enum status mem0_say(struct reply *out, str message)
{
    return reply_fields(out, mem0_said_fields, &(struct mem0_said){message});
}

/* --- failures --- */

static FIELDS_OF(error_body, error, (AS_STR, message, "detail"));
const struct error_shape mem0_errors = {"Mem0Error", "application/json", error_fields};

void word_mem0_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out)
{
    static const struct error_rule rules[] = {{0}};
    struct error_body body = error_body_of(ctx, s, in, rules, "", out);
    error_body_write(out, error_fields, &body);
}
