/* consolidate.c - tidies memories now, or shows what would change. */
#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"

/* The engine lists only the first changes; the counts at the end are of all. */

static FIELDS_OF(consolidate_report, report, (BOOL, dry_run), (INT, looked_at), (INT, merged),
                 (INT, promoted), (INT, evicted), (INT, pruned), (TIME, began), (INT, took_ms));
static FIELDS_OF(consolidate_line, line, (STR, what), (STR, id), (STR, text), (STR, why));

static void print_json(struct ctx *ctx, const struct consolidate_report *r)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    consolidate_write(&b, r, report_fields, line_fields);
    print_buf(&b);
}

static void print_text(struct ctx *ctx, const struct consolidate_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct consolidate_line *l = &r->lines[i];
        printf("%-8.*s " S_FMT "  ", S_ARG(l->what), S_ARG(l->id));
        print_line(l->text);
        print_line(str_printf(&ctx->arena, "         " S_FMT, S_ARG(l->why)));
    }
    int64_t all = r->merged + r->promoted + r->evicted + r->pruned;
    if (all > (int64_t)r->n)
        printf("and %lld more\n", (long long)(all - (int64_t)r->n));
    printf("%s%lld merged, %lld promoted, %lld evicted, %lld pruned, of %lld memories, %lld ms\n",
           r->dry_run ? "would be: " : "", (long long)r->merged, (long long)r->promoted,
           (long long)r->evicted, (long long)r->pruned, (long long)r->looked_at,
           (long long)r->took_ms);
}

/* Without --space in every space of the user. */
enum status command_consolidate(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct pool_ref pool = {o->user, options_has(o, "space") ? o->space : S("")};
    struct consolidate_report report;
    TRY(instance_open(ctx, o, o->dry_run ? TO_READ : TO_CHANGE, &instance));
    TRY(engine_consolidate(ctx, instance.engine, pool, o->dry_run, &report));
    (o->json ? print_json : print_text)(ctx, &report);
    return OK;
}
