/* word_lists.c - the documents of words that were searched, kept until a write changes them. */
#include "store/sqlite/index/word_lists.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

/*
 * FTS5 looks for a word in each piece (segment) of the index, and a store that grew by many small
 * writes has a dozen of them. A question about an attribute searches some hundred words that tell
 * of it, of which nobody ever said most; and what replaces a line is searched by words that the
 * question had, too. So what the index answered is kept: short lists of document numbers, and
 * "none".
 *
 * All lists are of one view: the state of the index as one transaction sees it. A reader of another
 * view neither finds nor adds anything; if nobody writes, its first list replaces all that is kept.
 * So a change by another process drops everything. Our own writer drops only the words that it
 * changes, before it commits, and then names the view that its transaction made. While it changes
 * the index nothing is added: a reader of the old view could bring back what was dropped.
 *
 * The table is of fixed size, a word is in one of the ROW places of its row, and the lists have at
 * most BYTES_MAX together: when that is reached, all go. Words are known by a hash with a random
 * key, so that nobody can choose a word that is taken for another.
 */
enum { ROWS = 2048, ROW = 4, LIST_MAX = 512, BYTES_MAX = 1 << 20 };

struct place {
    uint64_t word;     /* 0: none */
    struct posting *v; /* n of them, unless is_long */
    uint32_t n;        /* documents; of a long list at least so many */
    bool is_long;
};

struct word_lists {
    pthread_mutex_t lock;
    uint64_t view, sealed; /* 0: none */
    bool is_changing;
    size_t bytes, n;
    uint64_t turn; /* whose place in a full row is taken next */
    struct place places[ROWS][ROW];
    uint8_t key[crypto_shorthash_KEYBYTES];
};

struct word_lists *word_lists_new(void)
{
    struct word_lists *lists = heap_alloc(sizeof *lists);
    pthread_mutex_init(&lists->lock, NULL);
    randombytes_buf(lists->key, sizeof lists->key);
    return lists;
}

static void empty_place(struct word_lists *lists, struct place *p)
{
    if (!p->word)
        return;
    if (!p->is_long)
        lists->bytes -= p->n * sizeof *p->v;
    lists->n--;
    free(p->v);
    *p = (struct place){0};
}

/* Bulk imports drop nothing, since nothing is kept then. */
static void empty_all(struct word_lists *lists)
{
    for (size_t i = 0; i < ROWS && lists->n; i++)
        for (size_t k = 0; k < ROW; k++)
            empty_place(lists, &lists->places[i][k]);
    assert(!lists->n && !lists->bytes);
}

void word_lists_free(struct word_lists *lists)
{
    if (!lists)
        return;
    empty_all(lists);
    pthread_mutex_destroy(&lists->lock);
    free(lists);
}

static uint64_t hash_token(const struct word_lists *lists, str token)
{
    uint64_t hash;
    static_assert(sizeof hash == crypto_shorthash_BYTES, "a hash fills it");
    crypto_shorthash((uint8_t *)&hash, (const uint8_t *)token.p, token.n, lists->key);
    return hash ? hash : 1;
}

/* Where the word is; NULL when it is nowhere. The lock is held. */
static struct place *find_place(struct word_lists *lists, uint64_t word)
{
    struct place *row = lists->places[word % ROWS];
    for (size_t k = 0; k < ROW; k++)
        if (row[k].word == word)
            return &row[k];
    return NULL;
}

/* --- readers --- */

/* A long list only answers that there are too many. */
static bool read_place(const struct place *p, struct arena *a, doc_id least, size_t max,
                       struct word_docs *out)
{
    size_t from = 0;
    if (p->is_long) {
        *out = (struct word_docs){.is_over = true};
        return !least && p->n > max;
    }
    while (from < p->n && p->v[from].doc < least)
        from++;
    *out = (struct word_docs){.n = p->n - from, .is_over = p->n - from > max};
    if (out->n && !out->is_over) {
        out->v = NEW_N(a, struct posting, out->n);
        memcpy(out->v, p->v + from, out->n * sizeof *out->v);
    }
    return true;
}

bool word_lists_find(struct word_lists *lists, struct arena *a, uint64_t view, str token,
                     doc_id least, size_t max, struct word_docs *out)
{
    uint64_t word = hash_token(lists, token);
    pthread_mutex_lock(&lists->lock);
    const struct place *p = lists->view == view ? find_place(lists, word) : NULL;
    bool is_there = p && read_place(p, a, least, max, out);
    pthread_mutex_unlock(&lists->lock);
    return is_there;
}

/* The place of the word, else an empty one of its row, else the next in turn. */
static struct place *take_place(struct word_lists *lists, uint64_t word)
{
    struct place *row = lists->places[word % ROWS];
    struct place *p = find_place(lists, word);
    for (size_t k = 0; k < ROW && !p; k++)
        p = row[k].word ? NULL : &row[k];
    return p ? p : &row[lists->turn++ % ROW];
}

/* The lock is held. */
static void fill_place(struct word_lists *lists, uint64_t word, const struct word_docs *docs,
                       size_t max)
{
    struct place *p = take_place(lists, word);
    bool is_long = docs->is_over || docs->n > LIST_MAX;
    size_t bytes = is_long ? 0 : docs->n * sizeof *docs->v;
    empty_place(lists, p);
    if (lists->bytes + bytes > BYTES_MAX)
        empty_all(lists);
    *p = (struct place){.word = word,
                        .n = (uint32_t)(docs->is_over ? max + 1 : docs->n),
                        .is_long = is_long};
    if (bytes)
        p->v = memcpy(heap_alloc(bytes), docs->v, bytes);
    lists->bytes += bytes;
    lists->n++;
}

void word_lists_keep(struct word_lists *lists, uint64_t view, str token,
                     const struct word_docs *docs, size_t max)
{
    uint64_t word = hash_token(lists, token);
    pthread_mutex_lock(&lists->lock);
    if (!lists->is_changing && lists->view != view) {
        empty_all(lists);
        lists->view = view;
    }
    if (!lists->is_changing)
        fill_place(lists, word, docs, max);
    pthread_mutex_unlock(&lists->lock);
}

/* --- the writer --- */

void word_lists_begin(struct word_lists *lists, uint64_t view)
{
    pthread_mutex_lock(&lists->lock);
    assert(!lists->is_changing);
    if (lists->view != view)
        empty_all(lists);
    lists->view = view;
    lists->sealed = 0;
    lists->is_changing = true;
    pthread_mutex_unlock(&lists->lock);
}

bool word_lists_is_changing(struct word_lists *lists)
{
    pthread_mutex_lock(&lists->lock);
    bool is_changing = lists->is_changing;
    pthread_mutex_unlock(&lists->lock);
    return is_changing;
}

void word_lists_drop(struct word_lists *lists, str token)
{
    pthread_mutex_lock(&lists->lock);
    assert(lists->is_changing);
    if (lists->n) {
        struct place *p = find_place(lists, hash_token(lists, token));
        if (p)
            empty_place(lists, p);
    }
    pthread_mutex_unlock(&lists->lock);
}

void word_lists_seal(struct word_lists *lists, uint64_t view)
{
    pthread_mutex_lock(&lists->lock);
    assert(lists->is_changing);
    lists->sealed = view;
    pthread_mutex_unlock(&lists->lock);
}

void word_lists_end(struct word_lists *lists, bool is_committed)
{
    pthread_mutex_lock(&lists->lock);
    uint64_t view = is_committed ? lists->sealed : 0;
    if (lists->is_changing && !view)
        empty_all(lists);
    if (lists->is_changing)
        lists->view = view;
    lists->is_changing = false;
    lists->sealed = 0;
    pthread_mutex_unlock(&lists->lock);
}
