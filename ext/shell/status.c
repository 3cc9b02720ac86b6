/* status.c - the command status: what the running server says about itself. */
#include "app/print.h"
#include "ext/shell/call.h"
#include "ext/shell/command.h"

static str duration_text(struct arena *a, int64_t s)
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };
    if (s < MINUTE)
        return str_printf(a, "%lld s", (long long)s);
    if (s < HOUR)
        return str_printf(a, "%lld min", (long long)(s / MINUTE));
    if (s < DAY)
        return str_printf(a, "%lld h %lld min", (long long)(s / HOUR),
                          (long long)(s % HOUR / MINUTE));
    return str_printf(a, "%lld d %lld h", (long long)(s / DAY), (long long)(s % DAY / HOUR));
}

static void print_pair(const char *name, str text)
{
    printf("%-10s ", name);
    print_line(text);
}

static int64_t count_at(const struct json *root, const char *path)
{
    return json_int_or(json_at(root, path), 0);
}

static void print_counts(struct ctx *ctx, const struct json *stats, const struct json *engine)
{
    struct arena *a = &ctx->arena;
    print_pair("memories", str_printf(a, "%lld active, %lld archived",
                                      (long long)count_at(stats, "memories.open"),
                                      (long long)count_at(stats, "memories.closed")));
    print_pair("messages",
               str_printf(a, S_FMT " in " S_FMT,
                          S_ARG(counted(a, count_at(stats, "messages"), "message", "messages")),
                          S_ARG(counted(a, count_at(stats, "sessions"), "conversation",
                                        "conversations"))));
    print_pair("today",
               str_printf(a, S_FMT ", %lld tokens of memory added",
                          S_ARG(counted(a, count_at(stats, "today.recalls"), "recall", "recalls")),
                          (long long)count_at(stats, "today.tokens_injected")));
    str reason = json_string(json_at(engine, "embedding.reason"));
    print_pair("vectors", reason.n
                              ? reason
                              : str_printf(a, S_FMT " " S_FMT ", %lld waiting",
                                           S_ARG(json_string(json_at(engine, "embedding.source"))),
                                           S_ARG(json_string(json_at(engine, "embedding.model"))),
                                           (long long)count_at(engine, "vectors.waiting")));
}

/* A server that is not well answers 503 with the same members. */
static enum status ask_health(struct ctx *ctx, const struct called_server *s, struct json **out)
{
    struct answer answer;
    TRY(shell_call(ctx, s, "GET", S("/health"), S(""), NULL, &answer));
    if (answer.code != 503)
        TRY(shell_check(ctx, &answer));
    TRY(json_parse(ctx, answer.body, out));
    if (json_get(*out, "version"))
        return OK;
    return fail(ctx, UPSTREAM, "another program answers at " S_FMT, S_ARG(s->url));
}

SHAPE(status_out, (STR, url), (JSON, health), (JSON, stats), (JSON, engine));

enum status shell_url_check(struct ctx *ctx, const struct options *o)
{
    str url;
    return server_address(ctx, o, &url);
}

/* Counts belong to a user, so they need the token that health does not. Exit status 1 for a server
 * that is not well. */
enum status command_status(struct ctx *ctx, const struct options *o)
{
    struct called_server s;
    struct json *health, *stats = NULL, *engine = NULL;
    TRY(server_find(ctx, o, shell_credential(), &s));
    TRY(ask_health(ctx, &s, &health));
    str state = json_string(json_get(health, "status"));
    bool is_well = str_is(state, "ok");
    enum status counts = is_well ? shell_get(ctx, &s, S("/v1/stats"), &stats) : OK;
    TRY(soft_or(ctx, counts, FORBIDDEN));
    if (stats)
        TRY(shell_get(ctx, &s, S("/v1/engine"), &engine));
    if (o->json) {
        const struct status_out shape = {s.url, health, stats, engine};
        TRY(print_fields(ctx, status_out_fields, &shape));
    } else {
        printf("rememberd " S_FMT " at " S_FMT ": ",
               S_ARG(json_string(json_get(health, "version"))), S_ARG(s.url));
        print_line(state);
        print_pair("uptime", duration_text(&ctx->arena, count_at(health, "uptime_s")));
        print_pair("database", json_string(json_get(health, "store")));
        if (stats)
            print_counts(ctx, stats, engine);
        else if (is_well)
            print_pair("counts", S("need the access token, in the variable REMEMBERD_TOKEN"));
    }
    return is_well ? OK : fail(ctx, UPSTREAM, "the server is not well");
}
