/* rag.h - what the files of the RAG backend's dialect share: a memory as shown, handlers. */
#pragma once

#include "surface/dialect.h"

enum { RAG_CONTENT_MAX = 65536 };

/* Every token of a user reaches the same memories here, whatever space it has elsewhere. */
struct pool_ref rag_pool(const struct request *in);
/* What a priority means when it is set. */
double rag_importance(str priority);

struct rag_shown {
    str id, user, content, memory_type, priority, source;
    struct strs entities;
    double decay_score;
    int64_t created_at, last_accessed, access_count;
    const struct json *metadata;
};
extern const struct field rag_shown_fields[];
struct rag_shown rag_show(struct ctx *ctx, const struct memory *m, int64_t now);
/* The object of a text; an empty one when it holds none. */
struct json *rag_object(struct ctx *ctx, str text);

/* --- rag_add.c --- */

struct rag_create_in {
    str content, memory_type, priority, source;
    const struct json *metadata;
};
extern const struct field rag_create_in_fields[], rag_create_out_fields[];
handler rag_create;

struct rag_search_in {
    str query, memory_type;
    int64_t top_k;
    double least;
    bool graph;
};
extern const struct field rag_search_in_fields[], rag_search_out_fields[];
handler rag_search;
