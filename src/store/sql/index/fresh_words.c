/* fresh_words.c - documents whose words are in a row of their own, not yet in blocks. */
#include "store/sql/index/fresh_words.h"

#include "store/sql/index/words.h"

/* --- the words of a document --- */

struct place {
    str word;
    enum word_column at;
};

static size_t note_places(struct arena *a, struct place *v, const struct words *words,
                          enum word_column at)
{
    size_t n = 0;
    for (size_t i = 0; i < words->n; i++)
        if (word_is_indexed(&words->v[i], at == IN_LABEL))
            v[n++] = (struct place){word_of_stem(a, words->v[i].stem), at};
    return n;
}

ORDER(by_word, struct place, BY_TEXT(word));

struct doc_words doc_words_of(struct arena *a, const struct index_text *text)
{
    struct place *v = ROOM_N(a, struct place, text->own.n + text->label.n + 1);
    size_t n = note_places(a, v, &text->own, IN_TEXT);
    n += note_places(a, v + n, &text->label, IN_LABEL);
    struct doc_words out = {.v = ROOM_N(a, struct block_word, n + 1)};
    qsort(v, n, sizeof *v, by_word);
    for (size_t from = 0, to; from < n; from = to) {
        struct posting p = {.doc = 0};
        for (to = from; to < n && str_eq(v[to].word, v[from].word); to++)
            posting_count(&p, v[to].at);
        out.v[out.n++] = (struct block_word){v[from].word, p.counts};
    }
    return out;
}

/* --- searching --- */

struct fresh_search fresh_search_of(struct arena *a, const str *words, size_t n)
{
    size_t slots = 8;
    while (slots < 4 * n)
        slots *= 2;
    assert(n < UINT16_MAX);
    struct fresh_search s = {.words = words,
                             .found = NEW_N(a, struct found_docs, n),
                             .slots = NEW_N(a, uint16_t, slots),
                             .mask = slots - 1};
    for (size_t i = 0; i < n; i++) {
        size_t at = str_hash(words[i]) & s.mask;
        while (s.slots[at])
            at = (at + 1) & s.mask;
        s.slots[at] = (uint16_t)(i + 1);
    }
    return s;
}

enum status fresh_search_row(struct ctx *ctx, struct fresh_search *s, doc_id doc, str packed)
{
    struct block_word w;
    while (block_next_word(&packed, &w))
        for (size_t at = str_hash(w.word) & s->mask; s->slots[at]; at = (at + 1) & s->mask) {
            size_t word = s->slots[at] - 1u;
            struct found_docs *f = &s->found[word];
            if (!str_eq(s->words[word], w.word))
                continue;
            ARENA_ADD(&ctx->arena, f->v, f->n, f->cap) =
                (struct posting){.doc = doc, .counts = w.counts};
        }
    return packed.n ? refuse_posting(ctx) : OK;
}

struct word_docs fresh_search_join(struct arena *a, const struct found_docs *fresh,
                                   const struct posting *v, size_t n)
{
    if (!fresh->n || !n)
        return fresh->n ? (struct word_docs){.v = fresh->v, .n = fresh->n}
                        : (struct word_docs){.v = v, .n = n};
    struct posting *out = ROOM_N(a, struct posting, n + fresh->n);
    size_t i = 0, k = 0;
    while (i < n || k < fresh->n) {
        bool is_block = k == fresh->n || (i < n && v[i].doc < fresh->v[k].doc);
        out[i + k] = is_block ? v[i] : fresh->v[k];
        i += is_block;
        k += !is_block;
    }
    return (struct word_docs){.v = out, .n = n + fresh->n};
}

enum status refuse_posting(struct ctx *ctx)
{
    return fail(ctx, STORAGE, "a row of the words index is damaged");
}
