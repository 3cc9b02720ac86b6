/* mcp.h - the tools that the MCP surface offers, and which of them it lists. */
#pragma once

#include "surface/common/tool.h"

/* The tools that are listed unless a client asks for others. */
#define USUAL_TOOLS "default"

/* Ends with an all-zero row. */
extern const struct tool memory_tools[];

/* All tables of tools, those of satellites too (ext/tables.c): NULL-ended. */
extern const struct tool *const tool_tables[];

/* --- tool_list.c --- */

/* The tool of that name, listed or not, or NULL. */
const struct tool *tool_find(str name);
/* Checks which tools a client wants listed: groups and names, separated by commas; "" is
 * USUAL_TOOLS. BAD_INPUT names the field tools. */
MUST_USE enum status tools_check(struct ctx *ctx, str wanted);
/* Writes the array of their descriptions. */
void tools_write(struct json_out *w, str wanted);
