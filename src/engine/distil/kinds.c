/* kinds.c - the kind of a distilled fact: the model's word for it, or a rule's. */
#include "engine/distil/kinds.h"
#include "engine/text/importance.h"
#include "lang/kinds_lists.h"
#include "words/words.h"

enum { WORDS_MAX = 64 };

/* What models write instead of a kind's name. */
static const struct {
    const char *word;
    enum memory_kind kind;
} synonyms[] = {
#define SYNONYM(word, kind) {word, kind},
#include "lang/kinds.def"
};

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
        is_relation |= str_is_one_of(w.v[i].stem, relation_stems);
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
