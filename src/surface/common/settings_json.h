/* settings_json.h - runtime settings under a dialect's names. */
#pragma once

#include "surface/surface.h"

/* Changes the settings that the object names by a table whose rows are like those of
 * runtime_fields; in->json has passed the table. The field of a failure has the dialect's name. */
MUST_USE enum status change_settings(struct ctx *ctx, struct app *app, const struct field *table,
                                     const struct json *object);
