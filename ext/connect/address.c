/* address.c - the server that a command talks to, and the token for it. */
#include "app/print.h"
#include "core/url.h"
#include "ext/connect/connect.h"

enum status server_address(struct ctx *ctx, const struct options *o, str *out)
{
    static const char *const ends[] = {"/v1", "/mcp", NULL}; /* as clients name the same server */
    struct url parts;
    str url = o->url, listen = o->settings.listen;
    if (!url.n && str_starts(listen, S("unix:")))
        return fail(ctx, BAD_INPUT, "the server listens on a unix socket; name a URL with --url");
    if (!url.n)
        url = str_printf(&ctx->arena, "http://" S_FMT, S_ARG(host_called(&ctx->arena, listen)));
    TRY(url_read(ctx, "--url", url, true, &parts));
    size_t path = url.n - parts.path.n; /* its begin: a host may be called mcp */
    *out = str_trim_end(url, "/");
    for (const char *const *end = ends; *end; end++)
        if (str_ends(str_sub(*out, path, out->n), str_of(*end)))
            *out = str_trim_end(str_sub(*out, 0, out->n - strlen(*end)), "/");
    return OK;
}

str server_token(void)
{
    return str_trim(str_of(getenv(TOKEN_VARIABLE)));
}

enum status server_find(struct ctx *ctx, const struct options *o, str token,
                        struct called_server *out)
{
    *out = (struct called_server){.headers = {{S("Content-Type"), S("application/json")}},
                                  .n_headers = 1};
    if (options_has(o, "space"))
        out->headers[out->n_headers++] = (struct header){S("X-Memory-Space"), o->space};
    if (token.n)
        out->headers[out->n_headers++] =
            (struct header){S("Authorization"),
                            str_printf(&ctx->arena, "Bearer " S_FMT, S_ARG(token))};
    return server_address(ctx, o, &out->url);
}
