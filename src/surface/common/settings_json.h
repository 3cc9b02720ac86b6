/* settings_json.h - runtime settings under a dialect's names. */
#pragma once

#include "surface/surface.h"

/* A row with a dialect's name for a setting that the API changes. Limits, help and the check of a
 * value are those of the setting. */
#define WIRE(KIND, SETTING, NAME)                                                                  \
    AS_##KIND(struct settings, SETTING, NAME), .like = &live_fields[LIVE_##SETTING]

/* Changes the settings that the object names by a table of WIRE; in->json has passed the table. The
 * field of a failure has the dialect's name. */
MUST_USE enum status change_settings(struct ctx *ctx, struct app *app, const struct field *table,
                                     const struct json *object);
