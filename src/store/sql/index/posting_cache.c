/* posting_cache.c - documents of searched words, and messages that were read, until a write. */
#include "store/sql/index/posting_cache.h"

#include <sodium.h>

#include "base/workers.h"
#include "store/sql/index/kept_list.h"
#include "store/sql/index/message_cache.h"

/*
 * FTS5 looks for a word in each piece (segment) of the index, and a store that grew by many small
 * writes has a dozen of them. A question about an attribute searches some hundred words that tell
 * of it, of which nobody ever said most. So what the index answered is kept: short lists of
 * document numbers, and "none".
 *
 * All lists are of one view: the state of the index as one transaction sees it. A reader of another
 * view neither finds nor adds anything; if nobody writes, its first list replaces all that is kept.
 * So a change by another process drops everything. Our own writer notes which words of
 * which documents it changes, and names the view that its transaction made; when that is committed,
 * the lists get the same changes. While it changes the index nothing is kept: a reader of the old
 * view would bring what the changes do not know.
 *
 * The table is as large as `most` says, a word is in one of the ROW places of its row, and the
 * lists have at most `most` bytes together: then the rows are emptied one by one, round and round.
 * Words are known by a hash with a random key, so that nobody can choose a word that is taken for
 * another.
 *
 * A search reads a list without a copy and without the lock. So a list counts who has it, and is
 * freed with the last of them; its bytes are counted until then.
 *
 * The lock is held for microseconds, since all users wait for it. The writer works out what the
 * lists become without it: while it changes the index, nobody else changes the table.
 *
 * Messages that were read are of the same view, since whatever adds or removes a message changes
 * the index, too. They have a lock of their own, which many may hold to copy them. Who changes the
 * view or is_changing holds both, in this order, and who reads them one.
 */
enum {
    ROW = 4,
    ROW_BYTES = 2048, /* of lists, for which there is a row */
    ROWS_LEAST = 1024,
    LIST_MAX = 20000,
    PAST = 16,
    CHANGES_MAX = 20000 /* of one transaction; what it changes beyond them is dropped */
};

struct place {
    uint64_t word;          /* 0: none */
    struct kept_list *list; /* of n, unless is_long; NULL: the word has no documents */
    uint32_t n;             /* documents; of a long list at least so many */
    bool is_long;
};

struct word_lists {
    pthread_mutex_t lock;
    pthread_rwlock_t messages_lock;
    uint64_t view, sealed; /* 0: none */
    uint64_t past[PAST];   /* the last views that our writer replaced */
    size_t n_past;
    bool is_changing;
    size_t bytes, n, most;
    uint64_t turn; /* whose place in a full row is taken next */
    size_t hand;   /* the row that is emptied next */
    size_t n_rows;
    struct place (*rows)[ROW];
    struct word_change *changes; /* of the writer's transaction, in its order */
    size_t n_changes, changes_cap;
    struct kept_messages messages;
    uint8_t key[crypto_shorthash_KEYBYTES];
};

struct word_lists *word_lists_new(size_t most)
{
    struct word_lists *lists = heap_alloc(sizeof *lists);
    lists->most = most;
    lists->n_rows = most / ROW_BYTES > ROWS_LEAST ? most / ROW_BYTES : ROWS_LEAST;
    lists->rows = heap_alloc(lists->n_rows * sizeof *lists->rows);
    pthread_rwlockattr_t fair; /* else readers that follow each other keep a writer out */
    pthread_mutex_init(&lists->lock, NULL);
    pthread_rwlockattr_init(&fair);
    pthread_rwlockattr_setkind_np(&fair, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lists->messages_lock, &fair);
    pthread_rwlockattr_destroy(&fair);
    randombytes_buf(lists->key, sizeof lists->key);
    kept_messages_open(&lists->messages, most);
    return lists;
}

static void lock_all(struct word_lists *lists)
{
    pthread_mutex_lock(&lists->lock);
    pthread_rwlock_wrlock(&lists->messages_lock);
}

static void unlock_all(struct word_lists *lists)
{
    pthread_rwlock_unlock(&lists->messages_lock);
    pthread_mutex_unlock(&lists->lock);
}

/* The list when nobody has it any more, to be freed; else NULL. The lock is held. */
static struct kept_list *leave_list(struct kept_list *list)
{
    assert(list->users);
    if (--list->users)
        return NULL;
    list->of->bytes -= kept_list_bytes(list->room);
    return list;
}

static void empty_place(struct word_lists *lists, struct place *p)
{
    if (!p->word)
        return;
    lists->n--;
    if (p->list)
        free(leave_list(p->list));
    *p = (struct place){0};
}

static void empty_row(struct word_lists *lists, size_t row)
{
    for (size_t k = 0; k < ROW; k++)
        empty_place(lists, &lists->rows[row][k]);
}

/* Bulk imports drop nothing, since nothing is kept then. */
static void empty_all(struct word_lists *lists)
{
    for (size_t i = 0; i < lists->n_rows && lists->n; i++)
        empty_row(lists, i);
    assert(!lists->n);
    kept_messages_empty(&lists->messages);
}

void word_lists_free(struct word_lists *lists)
{
    if (!lists)
        return;
    empty_all(lists);
    assert(!lists->bytes);
    kept_messages_close(&lists->messages);
    free(lists->changes);
    free(lists->rows);
    pthread_rwlock_destroy(&lists->messages_lock);
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

/* The list of its memories alone has a place of its own, as the whole one may be too long. */
static uint64_t of_memories(uint64_t word)
{
    uint64_t other = ~word;
    return other ? other : 1;
}

/* Where the word is; NULL when it is nowhere. The lock is held. */
static struct place *find_place(struct word_lists *lists, uint64_t word)
{
    struct place *row = lists->rows[word % lists->n_rows];
    for (size_t k = 0; k < ROW; k++)
        if (row[k].word == word)
            return &row[k];
    return NULL;
}

/* --- readers --- */

/* A long list only answers that there are too many. */
static bool read_place(const struct place *p, doc_id least, size_t max, struct word_docs *out)
{
    *out = (struct word_docs){.is_over = p->is_long};
    if (p->is_long)
        return !least && p->n > max;
    if (!p->list)
        return true;
    size_t from = least ? doc_place(p->list->v, p->list->n, sizeof *p->list->v, least) : 0,
           n = p->list->n - from;
    out->is_over = n > max;
    if (!n || out->is_over)
        return true;
    out->v = p->list->v + from;
    out->n = n;
    out->kept = p->list;
    out->kept->users++;
    return true;
}

bool word_lists_find(struct word_lists *lists, uint64_t view, str token, doc_id least, size_t max,
                     struct word_docs *out)
{
    uint64_t word = hash_token(lists, token);
    HOLD(&lists->lock);
    if (lists->view != view)
        return false;
    const struct place *p = find_place(lists, word);
    if (p && read_place(p, least, max, out))
        return true;
    p = least == DOC_MEMORY ? find_place(lists, of_memories(word)) : NULL;
    return p && read_place(p, 0, max, out);
}

void word_docs_end(struct word_docs *docs)
{
    if (!docs->kept)
        return;
    struct word_lists *lists = docs->kept->of;
    pthread_mutex_lock(&lists->lock);
    struct kept_list *last = leave_list(docs->kept);
    pthread_mutex_unlock(&lists->lock);
    free(last);
    *docs = (struct word_docs){0};
}

size_t word_lists_bytes(struct word_lists *lists)
{
    pthread_mutex_lock(&lists->lock);
    pthread_rwlock_rdlock(&lists->messages_lock);
    size_t bytes = lists->bytes + lists->messages.bytes;
    unlock_all(lists);
    return bytes;
}

/* The place of the word, else an empty one of its row, else the next in turn. */
static struct place *take_place(struct word_lists *lists, uint64_t word)
{
    struct place *row = lists->rows[word % lists->n_rows];
    struct place *p = find_place(lists, word);
    for (size_t k = 0; k < ROW && !p; k++)
        p = row[k].word ? NULL : &row[k];
    return p ? p : &row[lists->turn++ % ROW];
}

/* Lists that searches have may keep the bytes above the limit for a while. */
static void make_room(struct word_lists *lists, size_t bytes)
{
    while (lists->n && lists->bytes + bytes > lists->most)
        empty_row(lists, lists->hand++ % lists->n_rows);
}

/* The lock is held. */
static void fill_place(struct word_lists *lists, const struct place *kept)
{
    size_t bytes = kept->list ? kept_list_bytes(kept->list->room) : 0;
    make_room(lists, bytes);
    struct place *p = take_place(lists, kept->word);
    empty_place(lists, p);
    *p = *kept;
    lists->n++;
    lists->bytes += bytes;
}

/* Whether something of this view may be kept now. The first of another view replaces all, unless
 * it is of a reader that began before our writer's last changes. The lock is held. */
static bool take_view(struct word_lists *lists, uint64_t view)
{
    if (lists->is_changing || SOME(i, PAST, lists->past[i] == view))
        return false;
    if (lists->view == view)
        return true;
    pthread_rwlock_wrlock(&lists->messages_lock);
    empty_all(lists);
    lists->view = view;
    pthread_rwlock_unlock(&lists->messages_lock);
    return true;
}

void word_lists_keep(struct word_lists *lists, uint64_t view, str token, doc_id least,
                     const struct word_docs *docs, size_t max)
{
    uint64_t word = hash_token(lists, token);
    bool is_long = docs->is_over || docs->n > LIST_MAX;
    assert(!least || least == DOC_MEMORY);
    const struct place kept = {.word = least ? of_memories(word) : word,
                               .n = (uint32_t)(docs->is_over ? max + 1 : docs->n),
                               .is_long = is_long,
                               .list = docs->n && !is_long
                                           ? kept_list_new(lists, docs->v, docs->n, docs->n)
                                           : NULL};
    HOLD(&lists->lock);
    if (take_view(lists, view))
        fill_place(lists, &kept);
    else
        free(kept.list);
}

size_t word_lists_messages(struct word_lists *lists, uint64_t view, struct arena *a,
                           const int64_t pools[2], const doc_id *docs, size_t n,
                           struct message *out, doc_id *missing, size_t *places)
{
    size_t n_missing = 0;
    pthread_rwlock_rdlock(&lists->messages_lock);
    bool is_ours = lists->view == view;
    for (size_t i = 0; i < n; i++) {
        if (is_ours && kept_messages_find(&lists->messages, a, pools[0], docs[i], &out[i]))
            continue;
        if (is_ours && kept_messages_find(&lists->messages, a, pools[1], docs[i], &out[i])) {
            out[i] = (struct message){0};
            continue;
        }
        missing[n_missing] = docs[i];
        places[n_missing++] = i;
    }
    pthread_rwlock_unlock(&lists->messages_lock);
    return n_missing;
}

void word_lists_keep_message(struct word_lists *lists, uint64_t view, int64_t pool,
                             const struct message *m)
{
    HOLD(&lists->lock);
    if (take_view(lists, view)) {
        pthread_rwlock_wrlock(&lists->messages_lock);
        kept_messages_add(&lists->messages, pool, m);
        pthread_rwlock_unlock(&lists->messages_lock);
    }
}

/* Of another view the number of a message may be that of another one. */
void word_lists_keep_notes(struct word_lists *lists, const struct text_annotations *first)
{
    pthread_rwlock_wrlock(&lists->messages_lock);
    for (const struct text_annotations *n = first; n && !lists->is_changing; n = n->next)
        if (n->is_new && n->view == lists->view)
            kept_messages_note(&lists->messages, n);
    pthread_rwlock_unlock(&lists->messages_lock);
}

/* --- the writer --- */

void word_lists_begin(struct word_lists *lists, uint64_t view)
{
    lock_all(lists);
    assert(!lists->is_changing);
    if (lists->view != view)
        empty_all(lists);
    lists->view = view;
    lists->sealed = 0;
    lists->is_changing = true;
    unlock_all(lists);
}

bool word_lists_is_changing(struct word_lists *lists)
{
    HOLD(&lists->lock);
    return lists->is_changing;
}

/* Words of which nothing is kept need no change: nothing is added meanwhile. The lock is held. */
static void note_change(struct word_lists *lists, struct word_change change)
{
    struct place *own = find_place(lists, change.word);
    struct place *memories = find_place(lists, of_memories(change.word));
    if (!own && !memories)
        return;
    if (lists->n_changes == CHANGES_MAX) {
        if (own)
            empty_place(lists, own);
        if (memories)
            empty_place(lists, memories);
        return;
    }
    if (lists->n_changes == lists->changes_cap) {
        lists->changes_cap = lists->changes_cap ? 2 * lists->changes_cap : 256;
        lists->changes = heap_grow(lists->changes, lists->changes_cap * sizeof *lists->changes);
    }
    change.no = (uint32_t)lists->n_changes;
    lists->changes[lists->n_changes++] = change;
}

void word_lists_change(struct word_lists *lists, str token, doc_id doc, enum word_column at,
                       bool is_removal)
{
    HOLD(&lists->lock);
    assert(lists->is_changing);
    if (lists->n)
        note_change(lists, (struct word_change){.word = hash_token(lists, token),
                                                .doc = doc,
                                                .at = (uint8_t)at,
                                                .is_removal = is_removal});
}

size_t word_lists_noted(struct word_lists *lists, size_t most)
{
    lists->n_changes = lists->n_changes < most ? lists->n_changes : most;
    return lists->n_changes;
}

/* What a place becomes. */
struct next_place {
    struct place *p;
    struct kept_list *list, *left; /* left: its list before, to be freed */
    size_t n;
    bool is_unknown;
};

struct next_places {
    struct next_place *v;
    size_t n;
};

/* Of a long list only a lower bound is known, which a removal may break. Without the lock, which
 * the writer needs for what it changes only. */
static void plan_place(struct word_lists *lists, uint64_t word, const struct word_change *v,
                       size_t n, struct next_places *out)
{
    struct next_place next = {.p = n ? find_place(lists, word) : NULL};
    if (!next.p)
        return;
    next.is_unknown = next.p->is_long && SOME(i, n, v[i].is_removal);
    if (next.p->is_long && !next.is_unknown)
        return;
    if (!next.is_unknown)
        next.list = kept_list_changed(next.p->list, lists, v, n, &next.n);
    out->v[out->n++] = next;
}

ORDER(by_word, struct word_change, UP(word) ?: UP(doc) ?: UP(no));

/* The lists of the view before become those of the view behind. The changes of memories stand last
 * among those of a word. */
static struct next_places plan_places(struct word_lists *lists, struct arena *a)
{
    struct word_change *v = lists->changes;
    size_t n = lists->n_changes;
    struct next_places out = {ROOM_N(a, struct next_place, 2 * n), 0};
    SORT(v, n, by_word);
    for (size_t from = 0, to; from < n; from = to) {
        size_t memories = from;
        for (to = from; to < n && v[to].word == v[from].word; to++)
            memories += !doc_is_memory(v[to].doc);
        plan_place(lists, v[from].word, v + from, to - from, &out);
        plan_place(lists, of_memories(v[from].word), v + memories, to - memories, &out);
    }
    return out;
}

/* The lock is held. */
static void change_place(struct word_lists *lists, struct next_place *next)
{
    struct place *p = next->p;
    if (next->is_unknown) {
        empty_place(lists, p);
        return;
    }
    if (p->list != next->list) {
        lists->bytes += next->list ? kept_list_bytes(next->list->room) : 0;
        next->left = p->list ? leave_list(p->list) : NULL;
        p->list = next->list;
    }
    if (p->list)
        p->list->n = next->n;
    p->n = (uint32_t)next->n;
    if (next->n <= LIST_MAX)
        return;
    free(leave_list(p->list));
    p->list = NULL;
    p->is_long = true;
}

void word_lists_drop_document(struct word_lists *lists, doc_id doc)
{
    pthread_rwlock_wrlock(&lists->messages_lock);
    assert(lists->is_changing);
    kept_messages_drop(&lists->messages, doc);
    pthread_rwlock_unlock(&lists->messages_lock);
}

void word_lists_seal(struct word_lists *lists, uint64_t view)
{
    HOLD(&lists->lock);
    assert(lists->is_changing);
    lists->sealed = view;
}

/* Of what was planned, and from now on. */
static void begin_view(struct word_lists *lists, struct next_places *next, uint64_t view,
                       bool is_committed)
{
    lock_all(lists);
    for (size_t i = 0; i < next->n; i++)
        change_place(lists, &next->v[i]);
    make_room(lists, 0);
    if (!view)
        empty_all(lists);
    if (is_committed)
        lists->past[lists->n_past++ % PAST] = lists->view;
    lists->view = view;
    lists->is_changing = false;
    lists->sealed = 0;
    unlock_all(lists);
}

void word_lists_end(struct word_lists *lists, bool is_committed)
{
    if (!word_lists_is_changing(lists))
        return;
    CLEANUP(arena_free) struct arena a = {0};
    uint64_t view = is_committed ? lists->sealed : 0; /* the caller's thread has set it */
    struct next_places next = {0};
    if (view)
        next = plan_places(lists, &a);
    lists->n_changes = 0;
    begin_view(lists, &next, view, is_committed);
    for (size_t i = 0; i < next.n; i++)
        free(next.v[i].left);
}
