/* files.c - Claude's memory tool: over REST for programs that run it, and over MCP. */
#include "surface/files/files.h"

#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/files/commands.h"

/* POST /v1/memory_tool: the input of a call as the model gave it, so that a program has nothing to
 * translate. */
static HANDLER(memory_tool)
{
    struct file_command_out done;
    TRY(file_command(ctx, app, in->who.pool, in->json, in->in, &done));
    return reply_fields(out, file_command_out_fields, &done);
}

static enum status tool_files(struct tool_call *c)
{
    const struct file_command_in *in = c->in;
    struct file_command_out *out = NEW(&c->ctx->arena, struct file_command_out);
    TRY(tool_space(c, in->space));
    TRY(file_command(c->ctx, c->app, c->pool, c->arguments, in, out));
    c->text = out->content;
    c->is_refused = out->is_error;
    c->out = out;
    return OK;
}

const struct tool file_tools[] = {
    {"memory", "Claude's memory tool",
     "Files of your own under /memories, which stay from one conversation to the next. Commands: "
     "view, create, str_replace, insert, delete, rename. View /memories before you begin.",
     "claude", tool_files, TAKES(file_command_in), .gives = file_command_out_fields,
     .destroys = true},
    {0},
};

static const struct route routes[] = {
    {ROUTE("POST", "/v1/memory_tool", memory_tool), READS(file_command_in), .strict = true,
     ANSWERS(file_command_out), .help = "a command of Claude's memory tool"},
    {0},
};

const struct surface surface_files = PROBLEM_SURFACE("files", routes);
