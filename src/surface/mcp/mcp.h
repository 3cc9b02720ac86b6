/* mcp.h - the tools that the MCP surface offers, and which of them it lists. */
#pragma once

#include "surface/common/tool.h"

/* The tools that are listed unless a client asks for others. */
#define USUAL_TOOLS "default"

/* Ends with an all-zero row. */
extern const struct tool memory_tools[];

/* All tables of tools, those of satellites too (ext/tables.c): NULL-ended. */
extern const struct tool *const tool_tables[];

/* The tool of that name, listed or not, or NULL. */
const struct tool *tool_find(str name);
/* Writes the array of the descriptions of those that a client wants (surface_mcp_tools). */
void tools_write(struct json_out *w, str wanted);
