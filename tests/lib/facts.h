/* facts.h - the facts that are found in a text, and tables of texts with the facts wanted. */
#pragma once

#include "engine/engine.h"

/* "key > content | key > content", in the order of the text. */
str facts_of(struct ctx *ctx, enum extract_rules rules, str text);

struct told {
    const char *text, *facts;
};

/* Fails with the text whose facts are others. */
void check_facts(struct ctx *ctx, enum extract_rules rules, const struct told *rows, size_t n);
/* The same for texts of users that hold no fact. */
void check_no_facts(struct ctx *ctx, const char *const *texts, size_t n);
