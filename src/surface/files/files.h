/* files.h - Claude's memory tool as a tool of MCP. */
#pragma once

#include "surface/common/tool.h"

/* Ends with an all-zero row. */
extern const struct tool file_tools[];
