/* store_int.h - what a backend of the store is: a const table of functions. */
#pragma once

#include "store/store.h"

/* One backend. Every op has the promise of the store_… function of its name; the face has checked
 * the inputs. */
struct store_ops {
    const char *scheme; /* before "://" in the path; "" is the default */
    enum status (*open)(struct ctx *ctx, const struct store_settings *settings, struct store **out);
    void (*close)(struct store *s);
    enum status (*write)(struct ctx *ctx, struct store *s, struct bundle *b);
    enum status (*write_later)(struct ctx *ctx, struct store *s, const struct bundle *b);
    enum status (*flush)(struct ctx *ctx, struct store *s);
    enum status (*settle)(struct ctx *ctx, struct store *s);
    enum status (*forget)(struct ctx *ctx, struct store *s, const struct forget *what,
                          int64_t *erased);
    enum status (*change)(struct ctx *ctx, struct store *s, const struct change *change,
                          struct memory *out);
    enum status (*condense)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            struct memory *summary, const str *ids, size_t n);
    enum status (*find_chain)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              uint64_t chain, uint64_t tail, struct message *out);
    enum status (*messages)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            const doc_id *docs, size_t n, struct message *out);
    enum status (*memories)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                            const doc_id *docs, size_t n, struct memory *out);
    enum status (*memory)(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                          struct memory *out);
    enum status (*session_messages)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                    str session, int64_t from, size_t limit, struct message **out,
                                    size_t *n);
    enum status (*sessions)(struct ctx *ctx, struct store *s, const struct session_filter *f,
                            struct session **out, size_t *n, int64_t *total);
    enum status (*list_memories)(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory **out, size_t *n, int64_t *total);
    enum status (*memory_totals)(struct ctx *ctx, struct store *s, const struct memory_filter *f,
                                 struct memory_totals *out);
    enum status (*users)(struct ctx *ctx, struct store *s, struct strs *out);
    enum status (*pool_sums)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                             struct pool_sum **out, size_t *n);
    enum status (*pools)(struct ctx *ctx, struct store *s, str user, struct pool_info **out,
                         size_t *n);
    enum status (*setting)(struct ctx *ctx, struct store *s, str name, str *out);
    enum status (*put_setting)(struct ctx *ctx, struct store *s, str name, str value);
    enum status (*mirror)(struct ctx *ctx, struct store *s, bool on);
    enum status (*mirror_all)(struct ctx *ctx, struct store *s);
    enum status (*mirror_waiting)(struct ctx *ctx, struct store *s, size_t limit,
                                  struct mirrored **out, size_t *n, int64_t *all);
    enum status (*mirror_done)(struct ctx *ctx, struct store *s, const int64_t *no, size_t n,
                               int64_t again_at);
    enum status (*search_words)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const str *stems, size_t n, doc_id least, size_t max,
                                struct word_hits *out);
    enum status (*vector_set)(struct ctx *ctx, struct store *s, struct vector_set *out);
    enum status (*begin_vectors)(struct ctx *ctx, struct store *s, const struct vector_set *set,
                                 bool anew);
    enum status (*unembedded)(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                              size_t limit, struct unembedded **out, size_t *n);
    enum status (*put_vectors)(struct ctx *ctx, struct store *s, str signature,
                               const struct vector_put *v, size_t n);
    enum status (*search_vectors)(struct ctx *ctx, struct store *s, const struct vector_find *f,
                                  struct vector_hits *out);
    enum status (*vector_pairs)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                const doc_id *docs, size_t n, float least, size_t each,
                                struct vector_pairs *out);
    enum status (*vector_stats)(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                struct vector_stats *out);
    uint64_t (*wait)(struct store *s, uint64_t seen, int64_t ms);
    void (*wake)(struct store *s);
    enum status (*due_sessions)(struct ctx *ctx, struct store *s, int64_t lease_ms, size_t limit,
                                struct waiting_session **out, size_t *n);
    enum status (*signals)(struct ctx *ctx, struct store *s, struct pool_ref pool, str session,
                           size_t limit, struct pending_signal **out, size_t *n);
    enum status (*end_distil)(struct ctx *ctx, struct store *s, const struct distil_end *end);
    enum status (*flush_signals)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                                 str session, int64_t *n);
    enum status (*signal_stats)(struct ctx *ctx, struct store *s, const struct pool_ref *pool,
                                struct signal_stats *out);
    enum status (*log_work)(struct ctx *ctx, struct store *s, const struct work *work);
    enum status (*work_log)(struct ctx *ctx, struct store *s, const struct pool_ref *pool, str kind,
                            size_t limit, struct work **out, size_t *n);
    enum status (*work_sum)(struct ctx *ctx, struct store *s, int64_t since, struct work_sum *out);
    enum status (*touch)(struct ctx *ctx, struct store *s, struct pool_ref pool, const doc_id *docs,
                         size_t n, int64_t now);
    enum status (*consolidate)(struct ctx *ctx, struct store *s, const struct consolidation *c,
                               int64_t *changed);
    enum status (*receipt)(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                           struct receipt *out);
    enum status (*receipt_of)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                              uint64_t chain, struct receipt *out);
    enum status (*session)(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                           struct session *out);
    enum status (*put_session)(struct ctx *ctx, struct store *s, struct pool_ref pool,
                               const struct session *session);
    enum status (*change_session)(struct ctx *ctx, struct store *s, struct pool_ref pool, str id,
                                  const struct session_change *change, struct session *out);
    enum status (*user)(struct ctx *ctx, struct store *s, str id, struct user *out);
    enum status (*user_by_email)(struct ctx *ctx, struct store *s, str email, struct user *out);
    enum status (*sealed_users)(struct ctx *ctx, struct store *s, struct user **out, size_t *n);
    enum status (*put_user)(struct ctx *ctx, struct store *s, const struct user *u, bool may_change,
                            const struct token *token);
    enum status (*put_token)(struct ctx *ctx, struct store *s, const struct token *t);
    enum status (*find_token)(struct ctx *ctx, struct store *s, str hash, struct token *out);
    enum status (*tokens)(struct ctx *ctx, struct store *s, str user, struct token **out,
                          size_t *n);
    enum status (*revoke_token)(struct ctx *ctx, struct store *s, str user, str id);
    enum status (*has_tokens)(struct ctx *ctx, struct store *s, bool *out);
    enum status (*token_used)(struct ctx *ctx, struct store *s, str id, int64_t at);
    enum status (*stats)(struct ctx *ctx, struct store *s, struct store_stats *out);
    enum status (*ping)(struct ctx *ctx, struct store *s);
    enum status (*check)(struct ctx *ctx, struct store *s, str *findings);
    enum status (*prune)(struct ctx *ctx, struct store *s, int64_t receipts_before,
                         int64_t expired_before, int64_t *removed);
};

/* A backend's own struct begins with this. */
struct store {
    const struct store_ops *ops;
};

extern const struct store_ops sqlite_ops;
