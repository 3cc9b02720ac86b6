/* clause_parse.h - Parses a line into clauses: whom they are about and what they say. */
#pragma once

#include "core/text_annotations.h"
#include "engine/text/claims.h"
#include "engine/text/term_set.h"

/* Clauses of a line, and words of a clause. */
enum { CLAUSES = 8, WORDS = 40 };

/* The speaker, also where nobody is named; someone or something else. */
enum subject { OWN, OTHER };

struct clause {
    struct words w;      /* of one that was kept only their number */
    uint64_t *terms;     /* stems */
    bool *tells;         /* words with a topic */
    bool *dates;         /* dates, times and numbers */
    bool *names;         /* names, of whatever kind */
    struct term_set all; /* stems, each once */
    uint64_t marks; /* one bit of each: most stems that are no part of it are ruled out by it */
    struct term_set telling;
    uint32_t told; /* attributes */
    enum subject subject;
    uint64_t who;  /* of another subject */
    uint64_t name; /* of one who is named by kin: "my cousin Jorun"; or 0 */
    bool joined;   /* "… and I live …": beside another that says something by itself */
    bool is_label; /* "city: Porto": a setting, which is explicit */
    struct claim claim;
    struct term_set value; /* of the claim */
    uint64_t ended;        /* the topic that it ends, or 0 */
    bool ends_name;        /* that is one who is named */
    bool is_list;          /* its verb takes several values */
    bool is_list_of_one;   /* … where a person does it */
    bool is_thing;         /* "the bins …": no person is spoken of */
    bool denies;           /* "not", "kein" */
    bool has_date;         /* a date, a time or a number */
    bool has_name;         /* a name that is no date */
    bool has_several;      /* "Ana and Ben …" */
    bool owns_subject;     /* "my phone is …" */
};

struct clause_parse {
    size_t n;
    struct term_set telling; /* of all of them */
    bool changes, is_present, adds, has_date, has_name;
    bool is_supposed; /* "might": it replaces nothing */
    bool passes;      /* a clause of it is so in its talk alone, and is left out */
    struct clause v[CLAUSES];
};

void clause_parse_of(struct arena *a, str text, struct clause_parse *r);
/* The same from what is noted of a message's text, where it is; what was read is noted. notes may
 * be NULL. */
void clause_parse_noted(struct arena *a, struct text_annotations *notes, str text,
                        struct clause_parse *r);

static inline uint64_t term_mark(uint64_t term)
{
    return (uint64_t)1 << term % 64;
}

/* "I", "wir"; not "my". */
bool word_is_speaker(str word);
/* "She", "it", "sie", "elle": of another one than the speaker. */
bool word_is_pronoun(str word);
