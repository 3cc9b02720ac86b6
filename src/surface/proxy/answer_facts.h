/* answer_facts.h - model, id and tokens of a model's answer, for the trace of a chat. */
#pragma once

#include "surface/surface.h"

enum { FACT_BYTES = 96 };

/* The texts of the facts; they live as long as the exchange. */
struct answer_facts {
    char model[FACT_BYTES], id[FACT_BYTES];
};

/* From a whole answer, or an event of a stream: whatever it has, in any of the APIs. */
void answer_facts_note(struct answer_facts *f, const struct json *piece, struct chat_facts *out);
