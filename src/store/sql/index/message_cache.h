/* message_cache.h - messages that were read, in bounded memory. */
#pragma once

#include "core/memory.h"
#include "core/text_annotations.h"

struct kept_message;

/* It has no lock: posting_cache.c, whose view they are of, has one. */
struct kept_messages {
    struct kept_message **places;
    size_t n_places;
    size_t n, bytes, most, hand; /* hand: the place that is emptied next */
};

void kept_messages_open(struct kept_messages *k, size_t most);
/* The content is overwritten before it is freed. */
void kept_messages_empty(struct kept_messages *k);
void kept_messages_close(struct kept_messages *k);

/* A copy in the arena; false: it is not kept. */
bool kept_messages_find(const struct kept_messages *k, struct arena *a, int64_t pool, doc_id doc,
                        struct message *out);
/* Copied. A long one is not kept. */
void kept_messages_add(struct kept_messages *k, int64_t pool, const struct message *m);
/* What is noted of a message, if it is kept; in place of what was. Too much is not kept. */
void kept_messages_note(struct kept_messages *k, const struct text_annotations *notes);
void kept_messages_drop(struct kept_messages *k, doc_id doc);
