/* commands.h - Claude's memory tool: one command on the files of a space. */
#pragma once

#include "surface/surface.h"

/* As Claude calls the tool; which members a command needs depends on the command. */
struct file_command_in {
    str command, path, file_text, old_str, new_str, insert_text, old_path, new_path, space;
    const struct json *view_range;
    int64_t insert_line;
};
extern const struct field file_command_in_fields[];

/* content is what the model reads; with is_error it says why nothing was done. */
struct file_command_out {
    str content;
    bool is_error;
};
extern const struct field file_command_out_fields[];

/* given: the object that *in was read from, as an empty text differs from none. BAD_INPUT: the
 * command lacks a member. */
MUST_USE enum status file_command(struct ctx *ctx, struct app *app, struct pool_ref pool,
                                  const struct json *given, const struct file_command_in *in,
                                  struct file_command_out *out);
