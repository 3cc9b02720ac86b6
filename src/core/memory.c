/* memory.c - the names of the enums, and a memory that outlives where it was read. */
#include "core/memory.h"
#include "core/event.h"

const char *const origin_names[] = {"user", "assistant", "tool", "import",
                                    "api",  "distilled", "mcp",  NULL};
const char *const layer_names[] = {"fact", "episode", "identity", "summary", "file", NULL};
const char *const type_names[] = {"factual", "episodic", "procedural", "semantic", NULL};
#define EVENT_NAME(id, name) [id] = name,
const char *const event_names[] = {EVENTS(EVENT_NAME) NULL};
#undef EVENT_NAME

const char *const kind_names[] = {"fact",   "preference",   "context", "procedure",
                                  "entity", "relationship", NULL};
const char *const priority_names[] = {"critical", "high", "medium", "low", NULL};
const double priority_least[PRIORITY_COUNT] = {0.9, 0.7, 0.4, 0};

/* What someone sorted it under wins over how it was learnt. A category that is not the name of a
 * kind is a free word and does not count here. */
enum memory_kind kind_of(const struct memory *m)
{
    int named = name_index(kind_names, m->category, -1);
    if (named >= 0)
        return (enum memory_kind)named;
    if (m->layer == LAYER_EPISODE || m->layer == LAYER_SUMMARY || m->type == TYPE_EPISODIC)
        return KIND_CONTEXT;
    return m->type == TYPE_PROCEDURAL ? KIND_PROCEDURE : KIND_FACT;
}

enum priority priority_of(double importance)
{
    int p = PRIORITY_CRITICAL;
    while (p < PRIORITY_COUNT - 1 && importance < priority_least[p])
        p++;
    return (enum priority)p;
}

bool memory_is_stored(const struct memory *m)
{
    return m->origin == ORIGIN_API || m->origin == ORIGIN_MCP;
}

/* Looked for as text, as this server writes it, which saves parsing the metadata. */
bool memory_is_unconfirmed(const struct memory *m)
{
    return m->origin == ORIGIN_DISTILLED &&
           str_find(m->metadata, S("\"unconfirmed\":true")) < m->metadata.n;
}

size_t doc_place(const void *v, size_t n, size_t size, doc_id least)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (*(const doc_id *)((const char *)v + middle * size) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct message message_copy(struct arena *a, const struct message *m)
{
    struct message out = *m;
    STRS_DUP(a, &out.id, &out.session, &out.role, &out.speaker, &out.text, &out.ref, &out.says);
    return out;
}

/* Empty texts, too, so that the copy does not point into the arena of a reader's call. */
struct memory memory_copy(struct arena *a, const struct memory *m)
{
    struct memory out = *m;
    STRS_DUP(a, &out.id, &out.space, &out.session, &out.category, &out.key, &out.content,
             &out.metadata, &out.source, &out.superseded_by);
    out.tags.v = NEW_N(a, str, m->tags.n);
    for (size_t i = 0; i < m->tags.n; i++)
        out.tags.v[i] = str_dup(a, m->tags.v[i]);
    return out;
}

/* Room is made at each power of two, so that no capacity needs to be kept beside the array. */
struct memory *memories_add(struct arena *a, struct memory **v, size_t *n, struct memory m)
{
    assert(*v || !*n);
    if (!(*n & (*n - 1)))
        *v = DUP_N(a, *v, *n, *n ? *n * 2 : 1);
    (*v)[*n] = m;
    return &(*v)[(*n)++];
}
