/* runtime.h - a part of the engine's face: runtime settings, vectors, status, counters. */
#pragma once

#include "core/memory.h"
#include "core/settings.h"
#include "core/work.h"
#include "embed/embed.h"
#include "store/vectors.h"

struct engine;

/* --- settings --- */

/* What acts now. It stays as it is for as long as the caller's request lives. */
const struct settings *engine_runtime(struct engine *e);

/* Whether chats have memory now. Never waits, so an event loop may ask. */
bool engine_remembers(struct engine *e);

/* What null does to a member: sets it to an empty value, or takes back that it was set, so that the
 * server's own setting acts again. */
enum null_means { NULL_EMPTIES, NULL_TAKES_BACK };
/* Changes the settings of live_fields that the object names; the whole change is checked first
 * (strict: an unknown member is BAD_INPUT). It acts at once and is stored. */
MUST_USE enum status engine_change_settings(struct ctx *ctx, struct engine *e,
                                            const struct json *object, enum null_means null);

/* The server's own settings: without what someone has set while it ran. */
const struct settings *engine_own_settings(struct engine *e);
/* A copy of others takes their place. Of them, those of live_fields act. */
MUST_USE enum status engine_renew_settings(struct ctx *ctx, struct engine *e,
                                           const struct settings *own);

/* --- vectors, and how the tiers are --- */

struct engine_status {
    bool words_ok;
    const char *embedding_source; /* remote, static, transformers, encoder; NULL: none */
    struct embed_status embedding;
    struct {
        const char *backend; /* sqlite-vec, qdrant, none */
        bool available;
        int64_t rows, waiting, failed;
        str reason;
    } vectors;
    struct {
        bool enabled, probed, healthy;
        int64_t took_us, waiting; /* waiting: memories it does not know yet */
        str error;
        str note; /* what is otherwise than its settings say, and works; or "" */
    } qdrant;
    struct {
        bool enabled, available;
        str model, reason;
    } rerank;
};
/* Of one pool, or (space "") of all of the user's. probe: asks Qdrant and the reranker. */
MUST_USE enum status engine_status(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   bool probe, struct engine_status *out);

/* Of everyone. */
MUST_USE enum status engine_vectors(struct ctx *ctx, struct engine *e, struct vector_stats *out);
/* Makes a vector of a short text by the source that is chosen now. */
MUST_USE enum status engine_try_vectors(struct ctx *ctx, struct engine *e, int64_t *dimensions);

/* Servers, and last the local sources: has_key tells that their model is installed. */
struct embed_providers engine_embedding_providers(struct ctx *ctx, struct engine *e);

/* Queues all texts for a new vector (anew), or only texts without one; *waiting counts them. The
 * background makes the vectors. */
MUST_USE enum status engine_reindex(struct ctx *ctx, struct engine *e, bool anew, int64_t *waiting);

/* Background work: a thread calls each in a loop. Each does some work and says whether there is
 * more. Failures are kept, retried later and reported by engine_status. */
MUST_USE enum status engine_embed_some(struct ctx *ctx, struct engine *e, bool *more);
MUST_USE enum status engine_mirror_some(struct ctx *ctx, struct engine *e, bool *more);
/* Whether the settings name a Qdrant, for engine_mirror_some. */
bool engine_mirrors(struct engine *e);
/* Loads the reranking model when the settings choose one of this machine, and drops one that they
 * choose no more. OK when there is nothing to load. */
MUST_USE enum status engine_load_reranker(struct ctx *ctx, struct engine *e);

/* Qdrant alone, for its own endpoints. */
MUST_USE enum status engine_qdrant_health(struct ctx *ctx, struct engine *e, int64_t *took_us);
MUST_USE enum status engine_qdrant_search(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                          str query, size_t limit, struct qdrant_hit **out,
                                          size_t *n);
MUST_USE enum status engine_qdrant_cleanup(struct ctx *ctx, struct engine *e, str user,
                                           int64_t *deleted);

/* --- counters --- */

/* Recalls are counted by their time: bucket i holds those under recall_bucket_us[i], the last one
 * the rest. */
enum { RECALL_BUCKETS = 12 };
extern const int64_t recall_bucket_us[RECALL_BUCKETS - 1];

/* clang-format off */
#define ENGINE_COUNTERS(X) /* distilled are sessions */ \
    X(recalls) X(recalled) X(injected_tokens) X(silent) X(timed_out) X(failed) X(turns) X(facts) \
    X(dropped_turns) X(helpers) X(instructions) X(distilled) X(distil_failed) X(recall_us_sum)
/* clang-format on */
#define COUNTER(name) uint64_t name;
struct engine_stats {
    ENGINE_COUNTERS(COUNTER)
    uint64_t rerank_failed, core_tokens;
    uint64_t recall_buckets[RECALL_BUCKETS];
    struct store_stats store;
};
#undef COUNTER
MUST_USE enum status engine_stats(struct ctx *ctx, struct engine *e, struct engine_stats *out);
MUST_USE enum status engine_ping(struct ctx *ctx, struct engine *e);
/* Checks the database's invariants; findings come as lines, "" means healthy. Reads all of it; deep
 * compares its indexes with its tables, too. */
MUST_USE enum status engine_check(struct ctx *ctx, struct engine *e, bool is_deep, str *findings);
/* As store_check_erasures. */
MUST_USE enum status engine_check_erasures(struct ctx *ctx, struct engine *e);
/* Which model is the core model, and where. BAD_INPUT or UNSUPPORTED when the settings do not fit
 * together; needs no engine. */
MUST_USE enum status engine_find_core(struct ctx *ctx, const struct settings *settings, str *model,
                                      str *url);
