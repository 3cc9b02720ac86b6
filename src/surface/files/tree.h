/* tree.h - the files of a space as a tree, their paths, and what the memory tool shows of them. */
#pragma once

#include "engine/engine.h"

#define FILES_ROOT "/memories"
enum { PATH_MAX_BYTES = 512 };

/* The path without empty parts, "." and "..", or false with the words for the model: it is not
 * under the root, leaves it, or tries to in an encoded form. */
bool path_read(struct arena *a, str given, str *out, str *why);

/* Whether path has a name behind folder and a slash. */
bool path_is_below(str path, str folder);

struct tree {
    struct file *v; /* in the order of a listing */
    size_t n;
};

/* Memories whose key is no path of the tool are left out. */
MUST_USE enum status tree_read(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               struct tree *out);
/* NULL when there is no file of that path. */
const struct file *tree_file(const struct tree *t, str path);
/* A folder is there as long as it has a file; the root always is. */
bool tree_has_folder(const struct tree *t, str path);
/* A folder above the path that is a file, or NULL. */
const struct file *tree_blocks(const struct tree *t, str path);

/* A folder: sizes and paths, two levels deep. */
str tree_list(struct arena *a, const struct tree *t, str folder);
/* Lines of a text from the one of that number on, counted from 1, up to and with another. */
str numbered_lines(struct arena *a, str text, int64_t from, int64_t to);
int64_t lines_in(str text);
