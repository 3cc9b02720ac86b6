/* kept_list.c - a list of documents, and what a transaction makes of it in one pass. */
#include "store/sql/index/kept_list.h"

struct kept_list *kept_list_new(struct word_lists *of, const struct posting *v, size_t n,
                                size_t room)
{
    assert(room >= n);
    struct kept_list *list = heap_grow(NULL, kept_list_bytes(room));
    *list = (struct kept_list){.users = 1, .n = n, .room = room, .of = of};
    if (n)
        memcpy(list->v, v, n * sizeof *v);
    return list;
}

/* All changes of the document that stands first; how many those are. */
static size_t change_document(const struct word_change *v, size_t n, struct posting *one,
                              bool *is_there)
{
    size_t i = 0;
    for (doc_id doc = v->doc; i < n && v[i].doc == doc; i++) {
        if (!*is_there)
            *one = (struct posting){.doc = doc};
        *is_there = !v[i].is_removal;
        if (*is_there)
            posting_count(one, v[i].at);
    }
    return i;
}

/* Writes what the list becomes to `to`, which is the list's own end when only new documents come;
 * how many postings that are. */
static size_t merge_changes(const struct kept_list *list, size_t from, const struct word_change *v,
                            size_t n, struct posting *to)
{
    size_t at = from, end = list ? list->n : 0, out = 0;
    for (size_t i = 0; i < n;) {
        size_t place = list ? doc_place(list->v, list->n, sizeof *list->v, v[i].doc) : 0;
        if (place > at)
            memcpy(to + out, list->v + at, (place - at) * sizeof *to);
        out += place - at;
        at = place;
        bool is_there = at < end && list->v[at].doc == v[i].doc;
        struct posting one = is_there ? list->v[at++] : (struct posting){0};
        i += change_document(v + i, n - i, &one, &is_there);
        if (is_there)
            to[out++] = one;
    }
    if (at < end)
        memcpy(to + out, list->v + at, (end - at) * sizeof *to);
    return out + end - at;
}

/* The documents that are changed, each counted once. */
static size_t count_documents(const struct word_change *v, size_t n)
{
    size_t documents = 0;
    for (size_t i = 0; i < n; i++)
        documents += !i || v[i].doc != v[i - 1].doc;
    return documents;
}

struct kept_list *kept_list_changed(struct kept_list *list, struct word_lists *of,
                                    const struct word_change *v, size_t n_changes, size_t *n)
{
    enum { SPARE = 4 };
    assert(n_changes);
    size_t had = list ? list->n : 0, most = had + count_documents(v, n_changes);
    if (had && v->doc > list->v[had - 1].doc && most <= list->room) {
        *n = had + merge_changes(list, had, v, n_changes, list->v + had);
        return list;
    }
    struct kept_list *out = kept_list_new(of, NULL, 0, most + most / 8 + SPARE);
    *n = merge_changes(list, 0, v, n_changes, out->v);
    if (*n)
        return out;
    free(out);
    return NULL;
}
