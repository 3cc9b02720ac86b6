/* auto_backup.h - backups that a server makes by the clock, in a folder and in an S3 storage. */
#pragma once

#include "app/instance.h"

/* The jobs of both places: make a backup when one is due, and delete the oldest. */
MUST_USE enum status backup_when_due(struct ctx *ctx, struct instance *instance);
MUST_USE enum status backup_remote_when_due(struct ctx *ctx, struct instance *instance);

/* The file, or the object's address. */
str auto_backup_path(struct ctx *ctx, const struct settings *s, const struct backup_file *f);
