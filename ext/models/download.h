/* download.h - installing, checking and removing a local model. */
#pragma once

#include "embed/embed.h"

/* Called during a download, with the bytes of all files of the model. */
struct model_progress {
    void (*say)(struct model_progress *p, const char *file, int64_t done, int64_t total);
};

/* Checks all files, then puts them in place in one step; after a failure the old files are still
 * there. progress may be NULL. */
MUST_USE enum status model_install(struct ctx *ctx, str folder, const struct model_card *card,
                                   str from, struct model_progress *progress);
/* From base/REPO/resolve/REVISION/FILE. */
MUST_USE enum status model_pull(struct ctx *ctx, str folder, const struct model_card *card,
                                str base, struct model_progress *progress);
/* Checks every size and checksum. NOT_FOUND: not installed. STORAGE: a file differs. */
MUST_USE enum status model_check(struct ctx *ctx, str folder, const struct model_card *card);
MUST_USE enum status model_remove(struct ctx *ctx, str folder, const struct model_card *card);
