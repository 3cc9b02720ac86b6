/* extract.h - the common part of all tables of patterns: making a fact. */
#pragma once

#include "engine/state/state.h"
#include "engine/text/regex.h"

enum {
    FACTS_PER_TEXT = 64, /* most facts of one text by our own table */
    SEED_FACTS_PER_TEXT = 1024,
    EXTRACT_TEXT_MAX = 65536, /* UTF-16 units of a text that are looked at: the last ones */
    FACT_TEXT_MAX = 500       /* UTF-16 units of a fact */
};

/* What someone asks to be kept matters at least so much. */
#define ASKED_FOR 0.8

/* Facts as they are found. */
struct found {
    struct ctx *ctx;
    struct memory *v;
    size_t n, room, added; /* added: also in place of another */
    size_t n_before;       /* what was found before the last sentence */
    bool by_seed;          /* by the compatible table: of two with one key the first wins */
    bool takes_notes;      /* what asks to be remembered is, here */
    bool takes_wishes;     /* and what is wished of every answer */
    bool opens;            /* this sentence is the first of the text, or of its last line */
};

/* Adds a fact. NULL: there is no room, it holds a secret, or an earlier fact with its key wins. */
struct memory *found_add(struct found *f, const char *category, enum memory_type type, str key,
                         str content);

/* White space runs become one blank, none at the ends. */
str one_line(struct arena *a, str text);
/* The same, at most FACT_TEXT_MAX units. */
str fact_text(struct arena *a, str text);

/* What people state about themselves, clause by clause, by our own table. The text has blanks
 * and apostrophes of ASCII only. */
void statements_find(struct found *f, str text);

/* The facts of a sentence in another language than English; false when it has none. mask is the
 * text with what is quoted blanked out. */
bool languages_find(struct found *f, str text, str mask, bool asks);

/* Letters and digits of every script in lower case, all other characters between them as one
 * underscore. */
str fact_slug(struct arena *a, str text);
/* Without the words at both ends that do not say which thing is meant; those of the end begin at
 * `from` or later. */
str fact_thing(struct pattern *head, struct pattern *tail, size_t from, str text);
/* A template's {0}, {1}, {2} and {x} filled in. */
str fact_filled(struct arena *a, const char *template, const str groups[PATTERN_GROUPS], str x);
