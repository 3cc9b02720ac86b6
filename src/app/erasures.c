/* erasures.c - the commands erasures and verify-erasure: certificates, listed, made and checked. */
#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "base/files.h"

enum { FILE_MAX = 64 << 20 };

static const struct pool_ref everyone;

static void print_erasure(struct ctx *ctx, const struct certificate *c)
{
    struct arena *a = &ctx->arena;
    print_line(str_printf(a, S_FMT "  " S_FMT "  %-8.*s  " S_FMT ", " S_FMT, S_ARG(c->id),
                          S_ARG(date_of(a, c->at)), S_ARG(c->what),
                          S_ARG(counted(a, c->memories, "memory", "memories")),
                          S_ARG(counted(a, c->messages, "message", "messages"))));
}

static enum status list_erasures(struct ctx *ctx, const struct options *o, struct engine *e)
{
    struct certificate *v;
    size_t n;
    int64_t total;
    TRY(engine_erasures(ctx, e, everyone, 0, (size_t)o->limit, &v, &n, &total));
    for (size_t i = 0; i < n; i++)
        if (o->json)
            print_fields(ctx, erasure_fields, &v[i]);
        else
            print_erasure(ctx, &v[i]);
    if (!o->json)
        printf("%zu of %lld\n", n, (long long)total);
    return OK;
}

/* A certificate is JSON in any case: it is kept as a file. */
enum status command_erasures(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct certificate c;
    TRY(instance_open(ctx, o, TO_READ, &instance));
    if (o->words.n == 1)
        return list_erasures(ctx, o, instance.engine);
    TRY(engine_certificate(ctx, instance.engine, everyone, o->user, o->words.v[1], &c));
    return print_fields(ctx, certificate_fields, &c);
}

SHAPE(verified_out, (STR, id), (TIME, at), (STR, what), (INT, memories), (INT, messages),
      (STR, state), (TIME, signed_at), (STR, public_key), (STR, covered_by, .empty = EMPTY_OUT));

static void print_verified(struct ctx *ctx, const struct verified_out *v, bool is_key_known)
{
    printf("the signature is right, and nothing was changed\n"
           "erased on " S_FMT " (" S_FMT "): " S_FMT " and " S_FMT "\n"
           "state when it was signed on " S_FMT ": " S_FMT "\npublic key " S_FMT "%s\n",
           S_ARG(date_of(&ctx->arena, v->at)), S_ARG(v->what),
           S_ARG(counted(&ctx->arena, v->memories, "memory", "memories")),
           S_ARG(counted(&ctx->arena, v->messages, "message", "messages")),
           S_ARG(date_of(&ctx->arena, v->signed_at)), S_ARG(v->state), S_ARG(v->public_key),
           is_key_known ? ", as given" : ": compare it with the server's (--key)");
    if (v->covered_by.n)
        printf("the text is covered: its hash, or its space's or user's, is there (" S_FMT ")\n",
               S_ARG(v->covered_by));
}

/* Opens no database: whoever checks may have none. */
enum status command_verify_erasure(struct ctx *ctx, const struct options *o)
{
    struct certificate c;
    str text, covered_by = S("");
    TRY(file_read(ctx, str_c(&ctx->arena, o->words.v[1]), FILE_MAX, &text));
    TRY(certificate_read(ctx, text, &c));
    if (o->key.n && !str_eq(o->key, c.public_key))
        return fail(ctx, CONFLICT, "it was signed with another key: " S_FMT, S_ARG(c.public_key));
    if (o->text.n)
        TRY(certificate_covers(ctx, &c, pool_of(o), o->text, &covered_by));
    if (o->text.n && !covered_by.n)
        return fail(ctx, NOT_FOUND,
                    "the text is not among what was erased of this --user and --space");
    const struct verified_out out = {c.id,    c.at,        c.what,       c.memories, c.messages,
                                     c.state, c.signed_at, c.public_key, covered_by};
    if (o->json)
        return print_fields(ctx, verified_out_fields, &out);
    print_verified(ctx, &out, o->key.n > 0);
    return OK;
}
