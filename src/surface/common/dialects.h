/* dialects.h - the surfaces that are part of the product, each defined in its own folder. */
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
extern const struct surface surface_erasures;
extern const struct surface surface_preview;
extern const struct surface surface_receipts;
extern const struct surface surface_messages;
extern const struct surface surface_conversations;
extern const struct surface surface_stats;
extern const struct surface surface_doctors;
extern const struct surface surface_events;
extern const struct surface surface_jobs;
extern const struct surface surface_parts;
extern const struct surface surface_records;
extern const struct surface surface_settings;
extern const struct surface surface_tokens;
extern const struct surface surface_sign_in;
extern const struct surface surface_studio;
extern const struct surface surface_users;
extern const struct surface surface_mcp;
extern const struct surface surface_admin;
extern const struct surface surface_metrics;

/* In the order they are asked. */
#define CORE_SURFACES                                                                              \
    &surface_openai, &surface_anthropic, &surface_responses, &surface_memories, &surface_hooks,    \
        &surface_files, &surface_review, &surface_erasures, &surface_preview, &surface_receipts,   \
        &surface_messages, &surface_conversations, &surface_stats, &surface_doctors,               \
        &surface_events, &surface_jobs, &surface_parts, &surface_records, &surface_settings,       \
        &surface_tokens, &surface_sign_in, &surface_studio, &surface_users, &surface_mcp,          \
        &surface_ollama, &surface_metrics, &surface_admin,
