/* address.c - a URL of PostgreSQL: what libpq takes of it, and the schema. */
#include "store/postgres/connection.h"
#include "store/postgres/libpq.h"

/* A password with one of these in it would be taken for a host or a port, which libpq names in its
 * words. They also hold a part of a URL that it cannot read. */
enum status pg_address_check(struct ctx *ctx, const char *url)
{
    const char *begin = strstr(url, "://"), *last = strrchr(url, '@');
    char *why = NULL;
    if (begin && last && begin + 3 + strcspn(begin + 3, "@/?#") < last)
        return fail(
            ctx, BAD_INPUT,
            "the URL of the store has an @ behind another one or behind / ? #; in a name, a "
            "password or a parameter write these as %%40, %%2F, %%3F and %%23");
    struct pq_option *options = libpq.conninfoParse(url, &why);
    libpq.freemem(why);
    if (!options)
        return fail(ctx, BAD_INPUT,
                    "the URL of the store cannot be read; it is "
                    "postgres://USER@HOST/DATABASE?schema=NAME with libpq's parameters");
    libpq.conninfoFree(options);
    return OK;
}

static bool is_name(str s)
{
    bool is_fine = s.n > 0 && s.n < 64;
    for (size_t i = 0; i < s.n; i++)
        is_fine &=
            (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_';
    return is_fine;
}

/* The parameter is taken out, since libpq refuses what it does not know. */
enum status pg_address_of(struct ctx *ctx, str url, struct pg_address *out)
{
    static const str name = {"schema=", 7};
    str schema = S("rememberd"), rest = url;
    struct buf b = buf_make(&ctx->arena, url.n + 2);
    buf_add(&b, str_cut(&rest, '?'));
    for (char before = '?'; rest.n;) {
        str one = str_cut(&rest, '&');
        if (str_starts(one, name)) {
            schema = str_sub(one, name.n, one.n);
            continue;
        }
        buf_byte(&b, before);
        buf_add(&b, one);
        before = '&';
    }
    if (!is_name(schema))
        return fail(ctx, BAD_INPUT,
                    "schema in the URL of the store must be 1 to 63 of a-z, 0-9 and _");
    *out = (struct pg_address){str_c(&ctx->arena, buf_str(&b)), str_c(&ctx->arena, schema)};
    return OK;
}
