/* settings_json.c - a dialect's change of the runtime settings, brought to their neutral names. */
#include "surface/common/settings_json.h"

/*
 * Settings have one set of names and limits (live_fields in core); a dialect's table maps its
 * own names to them by .like. A change is translated to the neutral names, given to the engine, and
 * a refusal is translated back, so that the client reads the name that it sent.
 */

/* The neutral names may be longer than the dialect's; this is room for all of them. */
enum { GROWTH_MAX = 64 << 10 };

enum status change_settings(struct ctx *ctx, struct app *app, const struct field *table,
                            const struct json *object)
{
    assert(object && object->type == JSON_OBJECT);
    struct json_out w = json_in(&ctx->arena, object->source.n + GROWTH_MAX);
    struct json *neutral;
    fields_translate(&w, table, object);
    TRY(json_parse(ctx, buf_str(w.b), &neutral));
    enum status s = engine_change_settings(ctx, app->engine, neutral, NULL_EMPTIES);
    const struct field *f = table;
    while (s == BAD_INPUT && f->name && strcmp(ctx->field, f->like->name) != 0)
        f++;
    if (s == BAD_INPUT && f->name)
        snprintf(ctx->field, sizeof ctx->field, "%s", f->name);
    return s;
}
