/* text_annotations.c - Findings about a message's text, kept beside the message in memory. */
#include "core/text_annotations.h"

/* Eight bytes at a time: it only tells apart what is shown of one message. */
static uint64_t hash_of(str text)
{
    static const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t hash = (text.n + 1) * odd, eight;
    size_t i = 0;
    for (; i + sizeof eight <= text.n; i += sizeof eight) {
        memcpy(&eight, text.p + i, sizeof eight);
        hash = (hash ^ eight) * odd;
        hash ^= hash >> 32;
    }
    for (; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.p[i]) * odd;
    return hash ? hash : 1;
}

const void *annotation_find(const struct text_annotations *notes, enum note_kind kind, str text)
{
    if (!notes || !notes->v[kind].of || notes->v[kind].of != hash_of(text))
        return NULL;
    return notes->v[kind].bytes.p;
}

void annotation_add(struct text_annotations *notes, enum note_kind kind, str text, str bytes)
{
    if (!notes)
        return;
    notes->v[kind] = (struct note){hash_of(text), bytes};
    notes->is_new = true;
}
