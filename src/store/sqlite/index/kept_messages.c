/* kept_messages.c - a table of fixed size, each message in one block. */
#include "store/sqlite/index/kept_messages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/*
 * A recall reads some fifty messages, and those of a session that is asked about are read again and
 * again. After each write SQLite has to read their pages from the file once more. So they are kept,
 * each in the place that its number says, or in the one beside it. A row of the table message is
 * never changed, only removed.
 */
enum { PLACES = 1 << 15, WAYS = 2, LONG = 4096, BYTES_MAX = 16 << 20 };

/* Its texts stand behind it, each with a NUL. */
struct kept_message {
    int64_t pool;
    size_t bytes; /* of the texts */
    struct message m;
    char texts[];
};

/* The texts of a message, in the order of a block. */
enum { TEXTS = 7 };
static void texts_of(struct message *m, str *out[TEXTS])
{
    out[0] = &m->id;
    out[1] = &m->session;
    out[2] = &m->role;
    out[3] = &m->speaker;
    out[4] = &m->text;
    out[5] = &m->ref;
    out[6] = &m->says;
}

/* Points them into a block that holds them. */
static void point_texts(struct message *m, const char *block)
{
    str *texts[TEXTS];
    texts_of(m, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i]->p = block;
        block += texts[i]->n + 1;
    }
}

static size_t bytes_of(struct message m)
{
    str *texts[TEXTS];
    size_t bytes = 0;
    texts_of(&m, texts);
    for (size_t i = 0; i < TEXTS; i++)
        bytes += texts[i]->n + 1;
    return bytes;
}

void kept_messages_open(struct kept_messages *k)
{
    *k = (struct kept_messages){.places = heap_alloc(PLACES * sizeof(struct kept_message *))};
}

static void empty_place(struct kept_messages *k, size_t at)
{
    struct kept_message *m = k->places[at];
    if (!m)
        return;
    size_t bytes = sizeof *m + m->bytes;
    k->n--;
    k->bytes -= bytes;
    explicit_bzero(m, bytes);
    free(m);
    k->places[at] = NULL;
}

void kept_messages_empty(struct kept_messages *k)
{
    for (size_t i = 0; i < PLACES && k->n; i++)
        empty_place(k, i);
    assert(!k->n && !k->bytes);
}

void kept_messages_close(struct kept_messages *k)
{
    kept_messages_empty(k);
    free(k->places);
}

/* The first place of a document. Neighbours of a session have neighbouring numbers. */
static size_t place_of(doc_id doc)
{
    return (size_t)(((uint64_t)doc * 0x9E3779B97F4A7C15u) >> 32) % PLACES;
}

/* Where it is; PLACES: nowhere. */
static size_t find_place(const struct kept_messages *k, doc_id doc)
{
    for (size_t way = 0; way < WAYS; way++) {
        size_t at = place_of(doc) ^ way;
        if (k->places[at] && k->places[at]->m.doc == doc)
            return at;
    }
    return PLACES;
}

bool kept_messages_find(const struct kept_messages *k, struct arena *a, int64_t pool, doc_id doc,
                        struct message *out)
{
    size_t at = find_place(k, doc);
    if (at == PLACES || k->places[at]->pool != pool)
        return false;
    const struct kept_message *m = k->places[at];
    *out = m->m;
    point_texts(out, memcpy(arena_alloc(a, m->bytes), m->texts, m->bytes));
    return true;
}

static struct kept_message *copy_message(int64_t pool, const struct message *m, size_t bytes)
{
    struct kept_message *copy = heap_alloc(sizeof *copy + bytes);
    struct message from = *m;
    str *texts[TEXTS];
    char *to = copy->texts;
    texts_of(&from, texts);
    for (size_t i = 0; i < TEXTS; i++, to++) {
        if (texts[i]->n)
            memcpy(to, texts[i]->p, texts[i]->n);
        to += texts[i]->n;
    }
    *copy = (struct kept_message){.pool = pool, .bytes = bytes, .m = *m};
    point_texts(&copy->m, copy->texts);
    return copy;
}

/* In an empty place of its two, else in the first. */
void kept_messages_add(struct kept_messages *k, int64_t pool, const struct message *m)
{
    size_t bytes = bytes_of(*m), at = find_place(k, m->doc);
    if (bytes > LONG)
        return;
    for (size_t way = 0; way < WAYS && at == PLACES; way++)
        at = k->places[place_of(m->doc) ^ way] ? PLACES : place_of(m->doc) ^ way;
    if (at == PLACES)
        at = place_of(m->doc);
    empty_place(k, at);
    while (k->n && k->bytes + sizeof(struct kept_message) + bytes > BYTES_MAX)
        empty_place(k, k->hand++ % PLACES);
    k->places[at] = copy_message(pool, m, bytes);
    k->n++;
    k->bytes += sizeof(struct kept_message) + bytes;
}

void kept_messages_drop(struct kept_messages *k, doc_id doc)
{
    size_t at = find_place(k, doc);
    if (at != PLACES)
        empty_place(k, at);
}
