/* mcp.h - the tools that the MCP surface offers. */
#pragma once

#include "surface/common/tool.h"

/* Ends with an all-zero row. */
extern const struct tool memory_tools[];
