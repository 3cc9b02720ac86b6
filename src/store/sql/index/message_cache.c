/* message_cache.c - a table of messages, each in one block. */
#include "store/sql/index/message_cache.h"

/*
 * A recall reads some fifty messages, and those of a session that is asked about are read again and
 * again. After each write SQLite has to read their pages from the file once more. So they are kept,
 * each in the place that its number says, or in one beside it. A row of the table message is
 * never changed, only removed.
 */
enum { EACH = 512, PLACES_LEAST = 64, WAYS = 4, LONG = 4096, ALIGN = 16 };

/* The bytes of the notes stand behind them, in their order, each at a multiple of ALIGN. */
struct kept_notes {
    uint64_t of[NOTE_KINDS];
    uint32_t n[NOTE_KINDS];
    size_t bytes;
    _Alignas(ALIGN) char v[];
};

/* Its texts stand behind it, each with a NUL. */
struct kept_message {
    int64_t pool;
    size_t bytes; /* of the texts */
    struct message m;
    struct kept_notes *notes; /* or NULL */
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

static size_t bytes_of(struct message m)
{
    str *texts[TEXTS];
    size_t bytes = 0;
    texts_of(&m, texts);
    for (size_t i = 0; i < TEXTS; i++)
        bytes += texts[i]->n + 1;
    return bytes;
}

void kept_messages_open(struct kept_messages *k, size_t most)
{
    size_t n = PLACES_LEAST; /* WAYS needs a power of two */
    while (n < most / EACH)
        n *= 2;
    *k = (struct kept_messages){.places = heap_alloc(n * sizeof(struct kept_message *)),
                                .n_places = n,
                                .most = most};
}

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void drop_notes(struct kept_messages *k, struct kept_message *m)
{
    if (!m->notes)
        return;
    size_t bytes = sizeof *m->notes + m->notes->bytes;
    k->bytes -= bytes;
    explicit_bzero(m->notes, bytes);
    free(m->notes);
    m->notes = NULL;
}

static void empty_place(struct kept_messages *k, size_t at)
{
    struct kept_message *m = k->places[at];
    if (!m)
        return;
    drop_notes(k, m);
    size_t bytes = sizeof *m + m->bytes;
    k->n--;
    k->bytes -= bytes;
    explicit_bzero(m, bytes);
    free(m);
    k->places[at] = NULL;
}

void kept_messages_empty(struct kept_messages *k)
{
    for (size_t i = 0; i < k->n_places && k->n; i++)
        empty_place(k, i);
    assert(!k->n && !k->bytes);
}

void kept_messages_close(struct kept_messages *k)
{
    kept_messages_empty(k);
    free(k->places);
}

/* The first place of a document. The numbers are a grid of sessions and positions, which one
 * multiplication would map to a grid again, in which many share a place. */
static size_t place_of(const struct kept_messages *k, doc_id doc)
{
    uint64_t h = (uint64_t)doc * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 29) * 0xD6E8FEB86659FD93u;
    return (size_t)(h >> 32) % k->n_places;
}

/* Where it is; n_places: nowhere. */
static size_t find_place(const struct kept_messages *k, doc_id doc)
{
    for (size_t way = 0; way < WAYS; way++) {
        size_t at = place_of(k, doc) ^ way;
        if (k->places[at] && k->places[at]->m.doc == doc)
            return at;
    }
    return k->n_places;
}

static struct text_annotations *copy_notes(struct arena *a, const struct kept_notes *kept)
{
    struct text_annotations *out = NEW(a, struct text_annotations);
    const char *at = arena_dup(a, kept->v, kept->bytes, kept->bytes);
    for (int i = 0; i < NOTE_KINDS; i++) {
        out->v[i] = (struct note){kept->of[i], {at, kept->n[i]}};
        at += aligned(kept->n[i]);
    }
    return out;
}

bool kept_messages_find(const struct kept_messages *k, struct arena *a, int64_t pool, doc_id doc,
                        struct message *out)
{
    size_t at = find_place(k, doc);
    if (at == k->n_places || k->places[at]->pool != pool)
        return false;
    const struct kept_message *m = k->places[at];
    *out = message_copy(a, &m->m);
    out->notes = m->notes ? copy_notes(a, m->notes) : NULL;
    return true;
}

static struct kept_message *copy_message(int64_t pool, const struct message *m, size_t bytes)
{
    struct kept_message *copy = heap_alloc(sizeof *copy + bytes);
    str *texts[TEXTS];
    char *to = copy->texts;
    *copy = (struct kept_message){.pool = pool, .bytes = bytes, .m = *m};
    copy->m.notes = NULL;
    texts_of(&copy->m, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i]->n)
            memcpy(to, texts[i]->p, texts[i]->n);
        texts[i]->p = to;
        to += texts[i]->n + 1;
    }
    return copy;
}

/* Empties places until so many bytes more have room. */
static void make_room(struct kept_messages *k, size_t bytes)
{
    while (k->n && k->bytes + bytes > k->most)
        empty_place(k, k->hand++ % k->n_places);
}

/* In an empty place of its own, else in the first. */
void kept_messages_add(struct kept_messages *k, int64_t pool, const struct message *m)
{
    size_t bytes = bytes_of(*m), at = find_place(k, m->doc);
    if (bytes > LONG)
        return;
    for (size_t way = 0; way < WAYS && at == k->n_places; way++)
        at = k->places[place_of(k, m->doc) ^ way] ? k->n_places : place_of(k, m->doc) ^ way;
    if (at == k->n_places)
        at = place_of(k, m->doc);
    empty_place(k, at);
    make_room(k, sizeof(struct kept_message) + bytes);
    k->places[at] = copy_message(pool, m, bytes);
    k->n++;
    k->bytes += sizeof(struct kept_message) + bytes;
}

static struct kept_notes *join_notes(const struct text_annotations *notes, size_t bytes)
{
    struct kept_notes *out = heap_alloc(sizeof *out + bytes);
    char *to = out->v;
    out->bytes = bytes;
    for (int i = 0; i < NOTE_KINDS; i++) {
        const struct note *note = &notes->v[i];
        out->of[i] = note->of;
        out->n[i] = (uint32_t)note->bytes.n;
        if (note->bytes.n)
            memcpy(to, note->bytes.p, note->bytes.n);
        to += aligned(note->bytes.n);
    }
    return out;
}

/* Room is made first, which may empty the place of the message itself. */
void kept_messages_note(struct kept_messages *k, const struct text_annotations *notes)
{
    size_t bytes = 0;
    for (int i = 0; i < NOTE_KINDS; i++)
        bytes += aligned(notes->v[i].bytes.n);
    if (bytes > LONG)
        return;
    make_room(k, sizeof(struct kept_notes) + bytes);
    size_t at = find_place(k, notes->doc);
    if (at == k->n_places || k->places[at]->pool != notes->pool)
        return;
    drop_notes(k, k->places[at]);
    k->places[at]->notes = join_notes(notes, bytes);
    k->bytes += sizeof(struct kept_notes) + bytes;
}

void kept_messages_drop(struct kept_messages *k, doc_id doc)
{
    size_t at = find_place(k, doc);
    if (at != k->n_places)
        empty_place(k, at);
}
