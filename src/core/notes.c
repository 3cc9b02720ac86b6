/* notes.c - a note belongs to one text: what is shown of a message may be cut. */
#include "core/notes.h"


static uint64_t hash_of(str text)
{
    uint64_t hash = str_hash(text);
    return hash ? hash : 1;
}

const void *note_find(const struct message_notes *notes, enum note_kind kind, str text)
{
    if (!notes || !notes->v[kind].of || notes->v[kind].of != hash_of(text))
        return NULL;
    return notes->v[kind].bytes.p;
}

void note_add(struct message_notes *notes, enum note_kind kind, str text, str bytes)
{
    if (!notes)
        return;
    notes->v[kind] = (struct note){hash_of(text), bytes};
    notes->is_new = true;
}
