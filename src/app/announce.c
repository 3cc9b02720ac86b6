/* announce.c - the lines of a server that is ready: where, what, for whom, and one to try. */
#include "app/announce.h"

#include "app/command.h"
#include "app/print.h"
#include "store/store.h"

static void announce_data(struct ctx *ctx, const struct instance *instance)
{
    struct store_stats stats;
    const char *kind = instance->key_from.n ? ", encrypted" : "";
    if (store_stats(ctx, instance->store, &stats) != OK) {
        printf("data: " S_FMT "%s, which cannot be counted: %s\n", S_ARG(instance->folder), kind,
               ctx->why);
        ctx_clear_failure(ctx);
        return;
    }
    printf("data: " S_FMT "%s, %lld memor%s\n", S_ARG(instance->folder), kind,
           (long long)stats.memories, stats.memories == 1 ? "y" : "ies");
    if (stats.is_shared)
        puts("shared: another rememberd (a server or a command) has this database open, too; each "
             "sees what the other writes");
}

/* "URL" is the default upstream, "NAME=URL" a named one, as on the command line, so that a line
 * can be copied into a flag. */
static void announce_upstreams(const struct settings *s)
{
    fputs("upstreams: ", stdout);
    if (!s->n_upstreams)
        fputs("none; only the built-in model rememberd/demo answers", stdout);
    for (size_t i = 0; i < s->n_upstreams; i++) {
        const struct upstream *up = &s->upstreams[i];
        printf("%s" S_FMT "%s" S_FMT, i ? ", " : "", S_ARG(up->name), up->name.n ? "=" : "",
               S_ARG(up->url));
    }
    putchar('\n');
}

/* An address beyond this machine needs an admin token before the server starts, so without tokens
 * only local requests can arrive. */
static void announce_access(bool needs_token)
{
    puts(needs_token ? "access: with a token; 'rememberd token create' makes one"
                     : "access: anyone on this machine, without a token");
}

/* Only the upstream knows its models, so with one the line asks for their list; the built-in model
 * answers a chat as it is. A key of the client's own is needed where no upstream_key is set. */
static void announce_try(struct ctx *ctx, const struct settings *s, str url, bool needs_token)
{
    const struct upstream *up = settings_upstream(s, &S("")); /* of a model without a prefix */
    const char *secret = needs_token ? "YOUR_TOKEN" : up && !up->key.n ? "YOUR_API_KEY" : NULL;
    printf("try: curl " S_FMT "%s", S_ARG(curl_target(&ctx->arena, url)),
           up ? "/v1/models" : "/v1/chat/completions");
    if (secret)
        printf(" -H 'Authorization: Bearer %s'", secret);
    if (!up)
        fputs(" -H 'Content-Type: application/json' -d "
              "'{\"model\":\"rememberd/demo\",\"messages\":[{\"role\":\"user\",\"content\":"
              "\"My favourite tea is lapsang souchong.\"}]}'",
              stdout);
    putchar('\n');
}

/* Whoever lists an origin should see what its pages may do. */
static void announce_origins(const struct settings *s, bool needs_token)
{
    if (str_trim(s->origins).n)
        printf("web pages: " S_FMT " (%s)\n", S_ARG(s->origins),
               needs_token ? "with a token"
                           : "without a token they can read and change everything");
}

/* The first line goes out at once: programs that start a server wait for it to learn the port. */
void announce(struct ctx *ctx, struct instance *instance, str url)
{
    bool needs_token = true;
    printf("listening on " S_FMT "\n", S_ARG(url));
    fflush(stdout);
    if (!instance->settings.require_token)
        soft(ctx, engine_needs_token(ctx, instance->engine, &needs_token));
    if (instance->settings.config.n)
        printf("settings: " S_FMT "\n", S_ARG(instance->settings.config));
    announce_data(ctx, instance);
    announce_upstreams(&instance->settings);
    printf("memory: %s\n", engine_remembers(instance->engine) ? "on" : "off");
    announce_access(needs_token);
    announce_origins(&instance->settings, needs_token);
    announce_try(ctx, &instance->settings, url, needs_token);
    fflush(stdout);
}
