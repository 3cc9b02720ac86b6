/* text.h - a part of the engine's face: pure functions of a text: no store, no engine. */
#pragma once

#include "core/memory.h"

/* A text as one line for a model: visible characters only, without the markers of any block, cut to
 * `most` characters with an ellipsis. */
str engine_line(struct arena *a, str text, size_t most);

/* Bytes of an id in the lines of a block. */
enum { SHORT_ID = 8 };

/* The text without any injected block (ours, or the forms of other memory servers) and without the
 * blank line between our block and the text; every other byte is unchanged. */
str engine_strip_block(struct arena *a, str text);

/* What a person typed while an agent worked, out of its program's note; "" when that is none. */
str engine_sent_meanwhile(str note);

/* The importance of a user's words, by rule: 0.9 health and safety, 0.85 identity, 0.75 summaries,
 * 0.7 preferences, 0.65 decisions, else 0.5. The user's people and things count as preferences. */
double importance_by_rule(struct arena *a, const struct memory *m);

/* Whether a sentence speaks of likings, of plans, or else states a fact. */
enum memory_kind kind_by_rule(struct arena *a, const struct memory *m);

/* --- how large a model is --- */

enum model_tier { TIER_TINY, TIER_SMALL, TIER_MEDIUM, TIER_LARGE, TIER_COUNT };
extern const char *const tier_names[]; /* tiny, small, medium, large */

/* Thousand millions of parameters, from the model's name; 3 when it does not tell. The names that
 * do not are in models.def. */
double model_billions(str model);
/* Below 3, 9 and 34, and from there on. */
enum model_tier tier_of_model(str model);

/* --- what a memory weighs as time passes; computed at read, never written back --- */

/* 0.5^(age / half-life); 1 for what lies in the future. */
double age_decay(int64_t age_ms, double half_life_days);

/* Salience · e^(-(days since the last use) / 30), at most 1. */
double salience_now(const struct memory *m, int64_t now);

/* Importance · e^(-per_day · days). */
double importance_after(double importance, double per_day, int64_t days);

/* (similarity + by priority) · 0.5^(days / 30) · use, at most 1: relevance of the RAG backend's
 * rule. */
double relevance_of(double similarity, enum priority priority, int64_t days, int64_t uses);
