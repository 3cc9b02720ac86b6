/* claims.h - slots of a person or thing that clauses fill ("works for", "moved to"). */
#pragma once

#include "words/words.h"

enum slot {
#define SLOT(name, is_single, is_kept) SLOT_##name,
#include "engine/text/claims.def"
    SLOT_COUNT
};

struct claim {
    enum slot slot;    /* SLOT_COUNT: the clause fills none that is known */
    size_t at;         /* the word of the clause that shows it */
    size_t value, end; /* the words of the value; equal: it has none */
    bool ends;         /* it is not so: "retired", "used to work for", "plans to move" */
    bool is_supposed;  /* "might", "if", "vielleicht": nothing is so yet */
};

/* Of the words of one clause, in English, German, French, Spanish, Portuguese, Italian and Dutch.
 * Most clauses hold no word that a slot begins with and cost one look-up a word. */
struct claim claim_of(const struct words *w);

/* "Choir has moved": the word for what moves, where that is not the speaker; else w->n. */
size_t claim_moved_thing(const struct words *w);

/* "city: Porto": a line with a label, as profiles have it; its slot, or SLOT_COUNT. */
enum slot slot_of_label(str label);

extern const struct slot_row {
    const char *name;
    bool is_single; /* one value at a time, whatever the sentence: a home, an employer */
    bool is_kept;   /* a statement of it is worth a memory of its own */
} slot_rows[];

/* The attribute that a line about the user is of ("name", "employer", "home"), with its value; or
 * "" with the whole line as *value. */
str slot_of(str line, str *value);
