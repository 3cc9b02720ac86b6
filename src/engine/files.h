/* files.h - a part of the engine's face: files that a model keeps for itself, as memories. */
#pragma once

#include "core/memory.h"

struct engine;

/* FILES_MAX: of a space; the caller counts. */
enum { FILE_TEXT_MAX = 64 << 10, FILES_MAX = 1000 };

/* A memory of the layer file, whose key is the path: searched, listed and erased like others. */
struct file {
    str path, text;
    str id;          /* of the memory; set by the engine */
    int64_t updated; /* unix ms */
};

/* The files of a space, in no order; a path is any text. */
MUST_USE enum status engine_files(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  struct file **out, size_t *n);
/* Whether the text holds a password, a key or a number of the kind, which may not be stored. */
bool engine_file_is_secret(const struct engine *e, str text);
/* Whether it tries to take over the model that reads it, and nobody has allowed it. A model's notes
 * to itself are orders, too: they are judged as the user's own words are. */
bool engine_file_is_held(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         const struct file *file);
/* CONFLICT: the path is taken. */
MUST_USE enum status engine_file_add(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                     const struct file *file);
/* NOT_FOUND when the file is gone. Of a text: CONFLICT when someone has changed the file since it
 * was read. Of a path: CONFLICT when that one is taken. */
MUST_USE enum status engine_file_write(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                       const struct file *file, str text);
MUST_USE enum status engine_file_move(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                      const struct file *file, str path);
/* All or nothing. The user's own words that say the same stay in use: a model that tidies up does
 * not forget for its user. */
MUST_USE enum status engine_files_erase(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        const struct file *v, size_t n);
