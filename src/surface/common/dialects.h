/* dialects.h - the dialects that are served, each defined in its own folder. */
#pragma once

#include "http/http.h"

extern const struct surface surface_openai;
extern const struct surface surface_anthropic;
extern const struct surface surface_responses;
extern const struct surface surface_ollama;
extern const struct surface surface_memories;
extern const struct surface surface_hooks;
extern const struct surface surface_files;
extern const struct surface surface_review;
extern const struct surface surface_preview;
extern const struct surface surface_receipts;
extern const struct surface surface_messages;
extern const struct surface surface_conversations;
extern const struct surface surface_stats;
extern const struct surface surface_doctors;
extern const struct surface surface_events;
extern const struct surface surface_jobs;
extern const struct surface surface_parts;
extern const struct surface surface_settings;
extern const struct surface surface_tokens;
extern const struct surface surface_sign_in;
extern const struct surface surface_studio;
extern const struct surface surface_users;
extern const struct surface surface_mcp;
extern const struct surface surface_omniroute_memory;
extern const struct surface surface_omniroute_engine;
extern const struct surface surface_omniroute_compact;
extern const struct surface surface_omniroute_settings;
extern const struct surface surface_osaurus;
extern const struct surface surface_osaurus_memory;
extern const struct surface surface_cortex_users;
extern const struct surface surface_cortex_sessions;
extern const struct surface surface_cortex_profile;
extern const struct surface surface_cortex_memory;
extern const struct surface surface_cortex_chat;
extern const struct surface surface_cortex_a2a;
extern const struct surface surface_rag;
extern const struct surface surface_mem0;
extern const struct surface surface_mem0_server;
extern const struct surface surface_admin;
