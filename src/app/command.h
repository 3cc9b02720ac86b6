/* command.h - what a command is, its function, and the table of all commands in commands.c. */
#pragma once

#include "app/options.h"

struct command {
    const char *name, *usage;    /* usage without the program's name */
    const char *help;            /* one sentence without its full stop */
    const char *example;         /* a whole command line without the program's name */
    const char *flags;           /* names of options_table that it takes, between spaces */
    size_t words_min, words_max; /* behind the command's name */
    /* What counting words cannot check; a failure is a wrong usage. May be NULL. */
    enum status (*check)(struct ctx *ctx, const struct options *o);
    enum status (*run)(struct ctx *ctx, const struct options *o);
    bool is_server;            /* logs as the settings say; the other commands log warnings only */
    const char *without_space; /* what no --space means; NULL: the space default */
    bool always_ok; /* who runs it takes a failure for an order: the exit status is always 0 */
};

extern const struct command commands[];

enum status command_serve(struct ctx *ctx, const struct options *o);
enum status command_add(struct ctx *ctx, const struct options *o);
enum status command_search(struct ctx *ctx, const struct options *o);
enum status command_list(struct ctx *ctx, const struct options *o);
enum status command_forget_check(struct ctx *ctx, const struct options *o);
enum status command_forget(struct ctx *ctx, const struct options *o);
enum status command_mcp_check(struct ctx *ctx, const struct options *o);
enum status command_mcp(struct ctx *ctx, const struct options *o);
enum status command_ingest(struct ctx *ctx, const struct options *o);
enum status command_import_check(struct ctx *ctx, const struct options *o);
enum status command_import(struct ctx *ctx, const struct options *o);
enum status command_export_check(struct ctx *ctx, const struct options *o);
enum status command_export(struct ctx *ctx, const struct options *o);
enum status command_eval_check(struct ctx *ctx, const struct options *o);
enum status command_eval(struct ctx *ctx, const struct options *o);
enum status command_token_check(struct ctx *ctx, const struct options *o);
enum status command_token(struct ctx *ctx, const struct options *o);
enum status command_user_check(struct ctx *ctx, const struct options *o);
enum status command_user(struct ctx *ctx, const struct options *o);
enum status command_reindex(struct ctx *ctx, const struct options *o);
enum status command_model_check(struct ctx *ctx, const struct options *o);
enum status command_model(struct ctx *ctx, const struct options *o);
enum status command_encrypt(struct ctx *ctx, const struct options *o);
enum status command_decrypt(struct ctx *ctx, const struct options *o);
enum status command_rekey(struct ctx *ctx, const struct options *o);
enum status command_key_check(struct ctx *ctx, const struct options *o);
enum status command_key(struct ctx *ctx, const struct options *o);
enum status command_backup(struct ctx *ctx, const struct options *o);
enum status command_restore(struct ctx *ctx, const struct options *o);
enum status command_consolidate(struct ctx *ctx, const struct options *o);
enum status command_review_check(struct ctx *ctx, const struct options *o);
enum status command_review(struct ctx *ctx, const struct options *o);
enum status command_compact(struct ctx *ctx, const struct options *o);
enum status command_reopen(struct ctx *ctx, const struct options *o);
enum status command_connect_check(struct ctx *ctx, const struct options *o);
enum status command_connect(struct ctx *ctx, const struct options *o);
enum status command_hook(struct ctx *ctx, const struct options *o);
enum status command_doctor(struct ctx *ctx, const struct options *o);
