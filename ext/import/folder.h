/* folder.h - the files of a folder, for an import. */
#pragma once

#include "base/ctx.h"

struct folder_file {
    str path, name;   /* as it is opened, and inside the folder */
    int64_t modified; /* unix ms */
    int64_t bytes;
};

/*
 * A file is itself. A folder is everything below it, by name: no hidden files, no links to folders,
 * and none of the folders that archives and editors add.
 */
MUST_USE enum status folder_files(struct ctx *ctx, str path, struct folder_file **out, size_t *n,
                                  bool *is_folder);

/* What stands behind the last slash. */
str path_name(str path);
