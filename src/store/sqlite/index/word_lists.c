/* word_lists.c - documents of searched words, and messages that were read, until a write. */
#include "store/sqlite/index/word_lists.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/arena.h"
#include "store/sqlite/index/kept_messages.h"

/*
 * FTS5 looks for a word in each piece (segment) of the index, and a store that grew by many small
 * writes has a dozen of them. A question about an attribute searches some hundred words that tell
 * of it, of which nobody ever said most; and what replaces a line is searched by words that the
 * question had, too. So what the index answered is kept: short lists of document numbers, and
 * "none".
 *
 * All lists are of one view: the state of the index as one transaction sees it. A reader of another
 * view neither finds nor adds anything; if nobody writes, its first list replaces all that is kept.
 * So a change by another process drops everything. Our own writer notes which words of
 * which documents it changes, and names the view that its transaction made; when that is committed,
 * the lists get the same changes. While it changes the index nothing is kept: a reader of the old
 * view would bring what the changes do not know.
 *
 * The table is of fixed size, a word is in one of the ROW places of its row, and the lists have at
 * most BYTES_MAX together: then the rows are emptied one by one, round and round. Words are known
 * by a hash with a random key, so that nobody can choose a word that is taken for another.
 *
 * A search reads a list without a copy and without the lock. So a list counts who has it, and is
 * freed with the last of them; its bytes are counted until then.
 *
 * Messages that were read are of the same view, since whatever adds or removes a message changes
 * the index, too.
 */
enum {
    ROWS = 8192,
    ROW = 4,
    LIST_MAX = 20000,
    BYTES_MAX = 16 << 20,
    PAST = 16,
    CHANGES_MAX = 20000 /* of one transaction; what it changes beyond them is dropped */
};

struct kept_list {
    size_t users; /* the table is one; under the lock of lists */
    size_t n, room;
    struct word_lists *of;
    struct posting v[];
};

struct place {
    uint64_t word;          /* 0: none */
    struct kept_list *list; /* of n, unless is_long; NULL: the word has no documents */
    uint32_t n;             /* documents; of a long list at least so many */
    bool is_long;
};

/* One word of a document that our writer adds or removes. */
struct word_change {
    uint64_t word;
    doc_id doc;
    enum word_column at;
    bool is_removal;
};

struct word_lists {
    pthread_mutex_t lock;
    uint64_t view, sealed; /* 0: none */
    uint64_t past[PAST];   /* the last views that our writer replaced */
    size_t n_past;
    bool is_changing;
    size_t bytes, n;
    uint64_t turn; /* whose place in a full row is taken next */
    size_t hand;   /* the row that is emptied next */
    struct place places[ROWS][ROW];
    struct word_change *changes; /* of the writer's transaction, in its order */
    size_t n_changes, changes_cap;
    struct kept_messages messages;
    uint8_t key[crypto_shorthash_KEYBYTES];
};

struct word_lists *word_lists_new(void)
{
    struct word_lists *lists = heap_alloc(sizeof *lists);
    pthread_mutex_init(&lists->lock, NULL);
    randombytes_buf(lists->key, sizeof lists->key);
    kept_messages_open(&lists->messages);
    return lists;
}

static size_t bytes_of(size_t room)
{
    return sizeof(struct kept_list) + room * sizeof(struct posting);
}

/* The lock is held. */
static void leave_list(struct kept_list *list)
{
    assert(list->users);
    if (--list->users)
        return;
    list->of->bytes -= bytes_of(list->room);
    free(list);
}

static void empty_place(struct word_lists *lists, struct place *p)
{
    if (!p->word)
        return;
    lists->n--;
    if (p->list)
        leave_list(p->list);
    *p = (struct place){0};
}

static void empty_row(struct word_lists *lists, size_t row)
{
    for (size_t k = 0; k < ROW; k++)
        empty_place(lists, &lists->places[row][k]);
}

/* Bulk imports drop nothing, since nothing is kept then. */
static void empty_all(struct word_lists *lists)
{
    for (size_t i = 0; i < ROWS && lists->n; i++)
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
    struct place *row = lists->places[word % ROWS];
    for (size_t k = 0; k < ROW; k++)
        if (row[k].word == word)
            return &row[k];
    return NULL;
}

/* --- readers --- */

/* The first document from `least` on. */
static size_t place_of(const struct kept_list *list, doc_id least)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->v[middle].doc < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A long list only answers that there are too many. */
static bool read_place(const struct place *p, doc_id least, size_t max, struct word_docs *out)
{
    *out = (struct word_docs){.is_over = p->is_long};
    if (p->is_long)
        return !least && p->n > max;
    if (!p->list)
        return true;
    size_t from = least ? place_of(p->list, least) : 0, n = p->list->n - from;
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
    pthread_mutex_lock(&lists->lock);
    bool is_ours = lists->view == view;
    const struct place *p = is_ours ? find_place(lists, word) : NULL;
    bool is_there = p && read_place(p, least, max, out);
    if (!is_there && is_ours && least == DOC_MEMORY) {
        p = find_place(lists, of_memories(word));
        is_there = p && read_place(p, 0, max, out);
    }
    pthread_mutex_unlock(&lists->lock);
    return is_there;
}

void word_docs_end(struct word_docs *docs)
{
    if (!docs->kept)
        return;
    struct word_lists *lists = docs->kept->of;
    pthread_mutex_lock(&lists->lock);
    leave_list(docs->kept);
    pthread_mutex_unlock(&lists->lock);
    *docs = (struct word_docs){0};
}

size_t word_lists_bytes(struct word_lists *lists)
{
    pthread_mutex_lock(&lists->lock);
    size_t bytes = lists->bytes;
    pthread_mutex_unlock(&lists->lock);
    return bytes;
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

/* Lists that searches have may keep the bytes above the limit for a while. */
static void make_room(struct word_lists *lists, size_t bytes)
{
    while (lists->n && lists->bytes + bytes > BYTES_MAX)
        empty_row(lists, lists->hand++ % ROWS);
}

static struct kept_list *copy_list(struct word_lists *lists, const struct posting *v, size_t n,
                                   size_t room)
{
    assert(room >= n);
    struct kept_list *list = heap_alloc(bytes_of(room));
    *list = (struct kept_list){.users = 1, .n = n, .room = room, .of = lists};
    if (n)
        memcpy(list->v, v, n * sizeof *v);
    lists->bytes += bytes_of(room);
    return list;
}

/* The lock is held. */
static void fill_place(struct word_lists *lists, uint64_t word, const struct word_docs *docs,
                       size_t max)
{
    bool is_long = docs->is_over || docs->n > LIST_MAX, has_list = docs->n && !is_long;
    if (has_list)
        make_room(lists, bytes_of(docs->n));
    struct place *p = take_place(lists, word);
    empty_place(lists, p);
    *p = (struct place){.word = word,
                        .n = (uint32_t)(docs->is_over ? max + 1 : docs->n),
                        .is_long = is_long,
                        .list = has_list ? copy_list(lists, docs->v, docs->n, docs->n) : NULL};
    lists->n++;
}

static bool is_past(const struct word_lists *lists, uint64_t view)
{
    for (size_t i = 0; i < PAST; i++)
        if (lists->past[i] == view)
            return true;
    return false;
}

/* Whether something of this view may be kept now. The first of another view replaces all, unless
 * it is of a reader that began before our writer's last changes. The lock is held. */
static bool take_view(struct word_lists *lists, uint64_t view)
{
    if (lists->is_changing || is_past(lists, view))
        return false;
    if (lists->view != view)
        empty_all(lists);
    lists->view = view;
    return true;
}

void word_lists_keep(struct word_lists *lists, uint64_t view, str token, doc_id least,
                     const struct word_docs *docs, size_t max)
{
    uint64_t word = hash_token(lists, token);
    assert(!least || least == DOC_MEMORY);
    word = least ? of_memories(word) : word;
    pthread_mutex_lock(&lists->lock);
    if (take_view(lists, view))
        fill_place(lists, word, docs, max);
    pthread_mutex_unlock(&lists->lock);
}

size_t word_lists_messages(struct word_lists *lists, uint64_t view, struct arena *a, int64_t pool,
                           const doc_id *docs, size_t n, struct message *out, doc_id *missing,
                           size_t *places)
{
    size_t n_missing = 0;
    pthread_mutex_lock(&lists->lock);
    bool is_ours = lists->view == view;
    for (size_t i = 0; i < n; i++) {
        if (is_ours && kept_messages_find(&lists->messages, a, pool, docs[i], &out[i]))
            continue;
        missing[n_missing] = docs[i];
        places[n_missing++] = i;
    }
    pthread_mutex_unlock(&lists->lock);
    return n_missing;
}

void word_lists_keep_message(struct word_lists *lists, uint64_t view, int64_t pool,
                             const struct message *m)
{
    pthread_mutex_lock(&lists->lock);
    if (take_view(lists, view))
        kept_messages_add(&lists->messages, pool, m);
    pthread_mutex_unlock(&lists->lock);
}

/* Of another view the number of a message may be that of another one. */
void word_lists_keep_notes(struct word_lists *lists, const struct message_notes *first)
{
    pthread_mutex_lock(&lists->lock);
    for (const struct message_notes *n = first; n && !lists->is_changing; n = n->next)
        if (n->is_new && n->view == lists->view)
            kept_messages_note(&lists->messages, n);
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
    lists->changes[lists->n_changes++] = change;
}

void word_lists_change(struct word_lists *lists, str token, doc_id doc, enum word_column at,
                       bool is_removal)
{
    pthread_mutex_lock(&lists->lock);
    assert(lists->is_changing);
    if (lists->n)
        note_change(lists, (struct word_change){hash_token(lists, token), doc, at, is_removal});
    pthread_mutex_unlock(&lists->lock);
}

/* Makes the list the table's alone, with room for one more: searches keep the one they have. */
static struct kept_list *own_list(struct word_lists *lists, struct place *p)
{
    enum { SPARE = 4 };
    struct kept_list *list = p->list;
    size_t n = list ? list->n : 0;
    if (list && list->users == 1 && n < list->room)
        return list;
    p->list = copy_list(lists, list ? list->v : NULL, n, n + n / 8 + SPARE);
    if (list)
        leave_list(list);
    return p->list;
}

static void add_posting(struct word_lists *lists, struct place *p, doc_id doc, enum word_column at)
{
    struct kept_list *list = own_list(lists, p);
    size_t i = place_of(list, doc);
    if (i == list->n || list->v[i].doc != doc) {
        memmove(list->v + i + 1, list->v + i, (list->n++ - i) * sizeof *list->v);
        list->v[i] = (struct posting){.doc = doc};
    }
    posting_count(&list->v[i], at);
    p->n = (uint32_t)list->n;
    if (list->n <= LIST_MAX)
        return;
    leave_list(list);
    p->list = NULL;
    p->is_long = true;
}

static void remove_posting(struct word_lists *lists, struct place *p, doc_id doc)
{
    size_t i = p->list ? place_of(p->list, doc) : 0;
    if (!p->list || i == p->list->n || p->list->v[i].doc != doc)
        return;
    struct kept_list *list = own_list(lists, p);
    memmove(list->v + i, list->v + i + 1, (list->n - i - 1) * sizeof *list->v);
    p->n = (uint32_t)--list->n;
    if (list->n)
        return;
    leave_list(list);
    p->list = NULL;
}

/* Of a long list only a lower bound is known, which a removal may break. */
static void change_place(struct word_lists *lists, struct place *p, const struct word_change *c)
{
    if (!p || (p->is_long && !c->is_removal))
        return;
    if (p->is_long)
        empty_place(lists, p);
    else if (c->is_removal)
        remove_posting(lists, p, c->doc);
    else
        add_posting(lists, p, c->doc, c->at);
}

/* The lists of the view before become those of the view behind. The lock is held. */
static void change_lists(struct word_lists *lists)
{
    for (size_t i = 0; i < lists->n_changes; i++) {
        const struct word_change *c = &lists->changes[i];
        change_place(lists, find_place(lists, c->word), c);
        if (doc_is_memory(c->doc))
            change_place(lists, find_place(lists, of_memories(c->word)), c);
    }
    make_room(lists, 0);
}

void word_lists_drop_document(struct word_lists *lists, doc_id doc)
{
    pthread_mutex_lock(&lists->lock);
    assert(lists->is_changing);
    kept_messages_drop(&lists->messages, doc);
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
    else
        change_lists(lists);
    lists->n_changes = 0;
    if (lists->is_changing && is_committed)
        lists->past[lists->n_past++ % PAST] = lists->view;
    if (lists->is_changing)
        lists->view = view;
    lists->is_changing = false;
    lists->sealed = 0;
    pthread_mutex_unlock(&lists->lock);
}
