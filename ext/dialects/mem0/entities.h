/* entities.h - mem0's users, agents, apps and runs: listed, and erased with all they hold. */
#pragma once

#include "ext/dialects/mem0/read.h"

extern const struct field mem0_entity_page_fields[];
extern const struct field mem0_ids_fields[];
handler mem0_entity_list, mem0_erase_all, mem0_erase_entity;
