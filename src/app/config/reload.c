/* reload.c - settings that are read again while the server runs. */
#include "app/instance.h"

enum { NAMES_MAX = 8000 };

/* Takes what can act now into *own, and names it; what needs a start is named as well. */
static void take_changes(const struct settings *fresh, struct settings *own, struct buf *now,
                         struct buf *later)
{
    for (const struct setting_row *row = settings_rows; row->name; row++) {
        size_t i = (size_t)(row - settings_rows);
        if (!row->field || i == SETTING_upstream || i == SETTING_config)
            continue;
        struct buf *names = row->live ? now : later;
        if (setting_differs(row->field, fresh, own))
            buf_printf(names, "%s%s", names->n ? "," : "", row->name);
        if (row->live)
            own->from[i] = fresh->from[i];
    }
    if (upstreams_differ(fresh, own))
        buf_printf(later, "%supstreams", later->n ? "," : "");
#define START(...)
#define LIVE(TYPE, NAME, ...) own->NAME = fresh->NAME;
#define API(...)
#include "core/settings.def"
}

static enum status read_again(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    struct settings *fresh = NEW(&ctx->arena, struct settings);
    struct settings *own = NEW(&ctx->arena, struct settings);
    struct buf now = buf_make(&ctx->arena, NAMES_MAX), later = buf_make(&ctx->arena, NAMES_MAX);
    TRY(settings_load(ctx, o->flags, o->n_flags, fresh));
    if (fresh->complaint.n)
        return fail(ctx, BAD_INPUT, S_FMT, S_ARG(fresh->complaint));
    const struct settings *before = engine_own_settings(instance->engine);
    *own = *before;
    if (!fresh->data.n)
        fresh->data = own->data; /* the folder that stands for "not set" */
    take_changes(fresh, own, &now, &later);
    if (now.n || memcmp(own->from, before->from, sizeof own->from) != 0)
        TRY(engine_renew_settings(ctx, instance->engine, own));
    log_event(LOG_INFO, "settings.reloaded", "file=\"" S_FMT "\" changed=" S_FMT,
              S_ARG(fresh->config), S_ARG(buf_str(&now)));
    if (later.n)
        log_event(LOG_WARN, "settings.need_restart", "what=" S_FMT, S_ARG(buf_str(&later)));
    return OK;
}

void reload_settings(const struct options *o, struct instance *instance)
{
    CLEANUP(ctx_free) struct ctx ctx = {0};
    if (read_again(&ctx, o, instance) != OK)
        log_event(LOG_ERROR, "settings.not_reloaded", "why=\"%s%s%s\"", ctx.field,
                  ctx.field[0] ? ": " : "", ctx.why);
}
