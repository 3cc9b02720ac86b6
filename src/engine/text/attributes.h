/* attributes.h - attributes of a person or thing that a question asks for and a statement tells. */
#pragma once

#include "base/fields.h"
#include "words/words.h"

enum attribute {
#define ATTRIBUTE(name) ATTRIBUTE_##name,
#include "engine/text/attributes.def"
    ATTRIBUTE_COUNT
};

/* Attributes are the bits 1 << ATTRIBUTE_… of a mask. */
#define ATTRIBUTE_BIT(name) (1u << ATTRIBUTE_##name)

extern const char *const attribute_names[];

uint32_t attributes_asked(struct arena *a, str question);

/* Those that the words of a statement may tell of. */
uint32_t attributes_told(const struct words *w);

/* Those that a statement tells of by its form: "I run a small dairy". */
uint32_t attributes_told_so(struct arena *a, str line);

/* "city: Porto": those that the label of a line names; 0 without one. */
uint32_t attributes_labelled(struct arena *a, str line);

/* The stems of the words that tell of these, and of labels. */
struct strs attributes_stems(struct arena *a, uint32_t attributes);

/* Stems by which statements are looked for that tell of them by their form. */
struct strs attributes_sought(struct arena *a, uint32_t attributes);

/* What of a person bears on a request, whatever words it has. */
struct bearing {
    bool on_health; /* food, medicine, sport, travel: health and safety matter */
    bool on_food;   /* … food alone */
    bool on_advice; /* a suggestion or a plan: home, family and work */
    bool on_taste;  /* … of something to read, watch, hear or play */
};
struct bearing bearing_of(struct arena *a, str request);

/* Of a statement about health: whether it says what one may eat and drink. */
bool attributes_of_food(const struct words *w);
