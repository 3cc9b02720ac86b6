/* audit.c - the command audit: proves the log of what was done, and lists it. */
#include "base/audit.h"

#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "base/time_text.h"

static FIELDS(audit_line, (INT, no), (TIME, at), (STR, kind), (STR, by), (STR, who), (STR, what));

static enum status print_json(struct ctx *ctx, UNUSED void *own, const struct audit_line *line)
{
    return print_fields(ctx, audit_line_fields, line);
}

static enum status print_plain(struct ctx *ctx, UNUSED void *own, const struct audit_line *line)
{
    print_line(str_printf(&ctx->arena, "%6lld  " S_FMT "  %-18.*s " S_FMT "  " S_FMT "  " S_FMT,
                          (long long)line->no,
                          S_ARG(time_utc(&ctx->arena, line->at, "%Y-%m-%d %H:%M:%S")),
                          S_ARG(line->kind), S_ARG(line->by), S_ARG(line->who), S_ARG(line->what)));
    return OK;
}

enum status command_audit_check(struct ctx *ctx, const struct options *o)
{
    static const char *const actions[] = {"verify", "show", NULL};
    return name_one_of(ctx, "", actions, o->words.v[1]);
}

/* Needs no database: it may be read where that is away. */
enum status command_audit(struct ctx *ctx, const struct options *o)
{
    struct instance instance;
    int64_t lines = 0;
    bool shows = str_is(o->words.v[1], "show");
    TRY(instance_find(ctx, &o->settings, &instance));
    TRY(audit_read(ctx, str_c(&ctx->arena, instance.folder),
                   !shows    ? NULL
                   : o->json ? print_json
                             : print_plain,
                   NULL, &lines));
    if (!shows)
        printf(o->json ? "{\"lines\":%lld}\n" : "%lld line%s, all as written\n", (long long)lines,
               lines == 1 ? "" : "s");
    return OK;
}
