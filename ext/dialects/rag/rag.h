/* rag.h - the common part of the RAG backend's dialect: a memory as shown, handlers. */
#pragma once

#include "surface/common/error_body.h"

enum { RAG_CONTENT_MAX = 65536 };

/* All tokens of a user share the same memories here, whatever their own spaces are, unless the
 * request names a space. */
struct pool_ref rag_pool(const struct request *in);
/* The importance that a priority stands for. */
double rag_importance(enum priority priority);

struct rag_shown {
    struct memory of;
    str user, source;
    enum memory_kind memory_type;
    enum priority priority;
    struct strs entities;
    double decay_score;
    int64_t last_accessed;
    const struct json *metadata;
};
extern const struct field rag_shown_fields[];
struct rag_shown rag_show(struct ctx *ctx, const struct memory *m);
/* The JSON object in a text, or {} to be written, without a type. */
const struct json *rag_object(struct ctx *ctx, str text);

/* --- add.c --- */

struct rag_create_in {
    str content, source;
    enum memory_kind memory_type;
    enum priority priority; /* PRIORITY_COUNT: by type */
    const struct json *metadata;
};
extern const struct field rag_create_in_fields[], rag_create_out_fields[];
handler rag_create;
