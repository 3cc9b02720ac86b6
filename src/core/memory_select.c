/* memory_select.c - the values that a list of memories is sorted by. */
#include "core/memory_select.h"

const char *const sort_names[] = {"created", "updated", "importance", "last_used", "uses", NULL};

double memory_sort_value(const struct memory *m, enum memory_sort sort)
{
    switch (sort) {
    case SORT_UPDATED:
        return (double)m->updated;
    case SORT_IMPORTANCE:
        return m->importance;
    case SORT_LAST_USED:
        return (double)m->last_used;
    case SORT_ACTIVE:
        return (double)(m->last_used > m->created ? m->last_used : m->created);
    case SORT_USES:
        return (double)m->uses;
    default:
        return (double)m->created;
    }
}

int64_t memory_row(const struct memory *m)
{
    assert(doc_is_memory(m->doc));
    return m->doc & ~DOC_MEMORY;
}
