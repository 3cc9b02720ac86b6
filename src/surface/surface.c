/* surface.c - the list of dialects. */
#include "surface/surface.h"

#include "surface/common/dialects.h"

/* The first one words failures that belong to no path, such as bytes that are no HTTP. Where
 * several could word a 404, the earlier one does. For the rest the order means nothing: the router
 * finds the most literal path. */
const struct surface *const surfaces[] = {&surface_openai,
                                          &surface_anthropic,
                                          &surface_responses,
                                          &surface_memories,
                                          &surface_hooks,
                                          &surface_files,
                                          &surface_review,
                                          &surface_preview,
                                          &surface_receipts,
                                          &surface_messages,
                                          &surface_conversations,
                                          &surface_stats,
                                          &surface_doctors,
                                          &surface_events,
                                          &surface_jobs,
                                          &surface_parts,
                                          &surface_settings,
                                          &surface_tokens,
                                          &surface_sign_in,
                                          &surface_studio,
                                          &surface_users,
                                          &surface_mcp,
                                          &surface_omniroute_memory,
                                          &surface_omniroute_engine,
                                          &surface_omniroute_compact,
                                          &surface_omniroute_settings,
                                          &surface_ollama,
                                          &surface_osaurus,
                                          &surface_osaurus_memory,
                                          &surface_cortex_users,
                                          &surface_cortex_sessions,
                                          &surface_cortex_profile,
                                          &surface_cortex_memory,
                                          &surface_cortex_chat,
                                          &surface_cortex_a2a,
                                          &surface_rag,
                                          &surface_mem0,
                                          &surface_mem0_server,
                                          &surface_admin,
                                          NULL};
