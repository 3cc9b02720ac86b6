/* kinds.c - the kind of a distilled fact: the model's word for it, or a rule's. */
#include "engine/distil/kinds.h"
#include "engine/text/importance.h"
#include "words/words.h"

enum { WORDS_MAX = 64 };

/* What models write instead of a kind's name. */
static const struct {
    const char *word;
    enum memory_kind kind;
} synonyms[] = {
    {"liking", KIND_PREFERENCE}, {"dislike", KIND_PREFERENCE},    {"opinion", KIND_PREFERENCE},
    {"taste", KIND_PREFERENCE},  {"plan", KIND_CONTEXT},          {"goal", KIND_CONTEXT},
    {"project", KIND_CONTEXT},   {"task", KIND_CONTEXT},          {"situation", KIND_CONTEXT},
    {"event", KIND_CONTEXT},     {"episodic", KIND_CONTEXT},      {"procedural", KIND_PROCEDURE},
    {"process", KIND_PROCEDURE}, {"workflow", KIND_PROCEDURE},    {"instruction", KIND_PROCEDURE},
    {"howto", KIND_PROCEDURE},   {"how-to", KIND_PROCEDURE},      {"routine", KIND_PROCEDURE},
    {"person", KIND_ENTITY},     {"people", KIND_ENTITY},         {"place", KIND_ENTITY},
    {"pet", KIND_ENTITY},        {"organization", KIND_ENTITY},   {"organisation", KIND_ENTITY},
    {"thing", KIND_ENTITY},      {"relation", KIND_RELATIONSHIP}, {"family", KIND_RELATIONSHIP},
    {"identity", KIND_FACT},     {"attribute", KIND_FACT},        {"factual", KIND_FACT},
};

/* Who someone is to someone, by its stem. */
static const char *const relations[] = {
    "wife",   "husband", "spous",     "partner", "girlfriend", "boyfriend", "sister",  "brother",
    "mother", "father",  "parent",    "son",     "daughter",   "child",     "cousin",  "uncl",
    "aunt",   "nephew",  "niec",      "boss",    "colleagu",   "friend",    "marri",   "roommat",
    "frau",   "mann",    "schwester", "bruder",  "mutter",     "vater",     "tochter", "sohn",
    "chefin", "freund",  "freundin",  "esposa",  "marido",     "hermana",   "hermano", "madr",
    "padr",   "hija",    "hijo",      "jefa",    "jefe",       "amiga",     "amigo",   NULL};

/* -1 when the word is neither a kind nor a known synonym, in the singular or the plural. */
static int kind_of_word(struct arena *a, str said)
{
    str word = str_lower(a, str_trim(said));
    str single = word.n > 3 && str_ends(word, S("s")) ? str_sub(word, 0, word.n - 1) : word;
    int kind = name_index(kind_names, word, -1);
    kind = kind >= 0 ? kind : name_index(kind_names, single, -1);
    for (size_t i = 0; kind < 0 && i < sizeof synonyms / sizeof *synonyms; i++)
        if (str_is(word, synonyms[i].word) || str_is(single, synonyms[i].word))
            kind = (int)synonyms[i].kind;
    return kind;
}

/* "User's sister is Anna", and not "User met a friend". */
static bool names_relation(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS_MAX);
    bool is_relation = false, has_name = false;
    for (size_t i = 0; i < w.n; i++) {
        is_relation |= str_is_one_of(w.v[i].stem, relations);
        has_name |= w.v[i].is_name;
    }
    return is_relation && has_name;
}

/* The model's word first, as it has seen the conversation; then importance's phrases; then kinship
 * with a name. */
enum memory_kind distil_kind(struct arena *a, const struct memory *m, str said)
{
    int kind = kind_of_word(a, said);
    if (kind >= 0)
        return (enum memory_kind)kind;
    enum memory_kind rule = kind_by_rule(a, m);
    return rule == KIND_FACT && names_relation(a, m->content) ? KIND_RELATIONSHIP : rule;
}
