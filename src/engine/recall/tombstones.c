/* tombstones.c - Statements that were forgotten, corrected or have expired stay out of recall. */
#include "engine/recall/tombstones.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "engine/judge/plain.h"
#include "engine/questions/relatives.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "words/language.h"
#include "words/words.h"

/*
 * Example: "My locksmith Otto Brandt charges 90 euros" was forgotten. Its statement is the set of
 * telling words, of which names and numbers are particular. An older message, imported later, holds
 * "Otto Brandt, the locksmith, charges 90 an hour": a particular word and most others are there, so
 * the sentence is cut. "Otto came to dinner" shares only the name and stays. Erased texts are never
 * stored for this: tombstones hold hashes of words and sentences alone.
 */

enum { WORDS_MAX = 4000, LONG = 5 };

/* The shares of a statement's telling words that a sentence with the same statement has: of a long
 * one with a name or number that is in both, and of others, as "I prefer the aisle on trains" does
 * not say what "I prefer the aisle on planes" does. And the share that a part of it has. */
static const double same_share = 0.7, same_beside = 0.8, part_share = 0.5;

/* --- statements --- */

/* A statement with a name or a number is barred only where one of these is repeated. Behind a
 * number a German noun is what is counted. */
struct statement statement_of(struct arena *a, str text)
{
    struct words w = words_of(a, text, WORDS_MAX);
    struct statement s = {terms_with_room(a, w.n), terms_with_room(a, w.n),
                          language_of(a, text, true) == GERMAN};
    for (const struct word *x = w.v; x < w.v + w.n; x++) {
        if (x->is_stop || lexicon_is(x->text, LEX_USER | LEX_STRESS))
            continue;
        terms_add(a, &s.terms, str_hash(x->stem));
        bool is_counted = s.has_nouns && x > w.v && x[-1].is_number;
        if ((x->is_name && !is_counted) || x->is_number || lexicon_is(x->text, LEX_NUMBER))
            terms_add(a, &s.particular, str_hash(x->stem));
    }
    terms_sort(&s.terms);
    terms_sort(&s.particular);
    return s;
}

/* Words that carry no content never decide, so an empty statement states nothing. With a name or
 * number in another's place it is another one: "Ben swims on Tuesday", for "Ida swims …"; where
 * nouns look like names, only if the rest is the same. */
enum stating stating_of(const struct statement *s, const struct statement *sentence)
{
    size_t shared = terms_shared(&s->terms, &sentence->terms), all = s->terms.n;
    size_t sure = terms_shared(&s->particular, &sentence->terms);
    size_t lost = s->particular.n - sure,
           added = sentence->particular.n - terms_shared(&sentence->particular, &s->terms);
    bool is_sure = sure > 0,
         is_rest_same = shared + lost == all && shared + added == sentence->terms.n,
         is_exchanged = lost && added && (is_rest_same || !sentence->has_nouns);
    double share = (double)shared, whole = (double)all;
    if (!shared || (s->particular.n && !is_sure))
        return STATES_NOTHING;
    bool is_part = is_sure || share >= part_share * whole;
    bool adds_nothing = shared == sentence->terms.n;
    double least = is_sure && all >= LONG ? same_share : same_beside;
    if (!is_exchanged && (share >= least * whole || (adds_nothing && is_part)))
        return STATES;
    return is_part ? MENTIONS : STATES_NOTHING;
}

bool is_of_another(const struct statement *s, struct arena *a, str sentence)
{
    struct words w = words_of(a, sentence, WORDS_MAX);
    return is_said_of_relative(&w, &s->terms);
}

/* Of letters and digits alone: marks, capitals and blanks make no other sentence. 0 for a sentence
 * of marks. */
static uint64_t letters_hash(struct arena *a, str plain)
{
    char *to = arena_alloc(a, plain.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < plain.n; i++) {
        char c = plain.p[i];
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80)
            to[n++] = c;
    }
    return n ? str_hash((str){to, n}) : 0;
}

uint64_t sentence_hash(struct arena *a, str sentence)
{
    return letters_hash(a, text_plain(a, sentence));
}

uint64_t tombstones_message(str id)
{
    return hash64(&id, 1);
}

/* --- loading --- */

/* A view of the row's array, not a copy; the row must outlive it. */
static struct term_set term_set_of(const uint64_t *v, size_t n)
{
    return (struct term_set){(uint64_t *)v, n, n};
}

/* A statement's first number counts its particular terms; a damaged one bars nothing. */
static struct barred barred_of(const struct bar *bar)
{
    struct barred out = {.kind = bar->kind,
                         .reason = bar->reason,
                         .at = bar->at,
                         .message = bar->message};
    if (bar->kind == BAR_SENTENCES)
        out.sentences = term_set_of(bar->terms, bar->n);
    if (bar->kind == BAR_STATEMENT && bar->n && bar->terms[0] < bar->n) {
        size_t particular = bar->terms[0];
        out.statement.particular = term_set_of(bar->terms + 1, particular);
        out.statement.terms = term_set_of(bar->terms + 1 + particular, bar->n - 1 - particular);
    }
    return out;
}

int64_t tombstones_end_of(const struct memory *m)
{
    return m->expires > m->updated ? m->expires : m->updated;
}

static struct bar_key **chain_of(const struct tombstones *b, uint64_t term)
{
    return &b->chains[term % TOMBSTONE_CHAINS];
}

/* `all` and `newest` let most texts pass without a look at each bar: what was said after the newest
 * bar is free of them. A statement with names or numbers is found by these: one must be there. */
static void add_barred(struct tombstones *b, struct arena *a, struct barred one)
{
    const struct term_set *terms = one.kind == BAR_SENTENCES    ? &one.sentences
                                   : one.statement.particular.n ? &one.statement.particular
                                                                : &one.statement.terms;
    if (one.kind == BAR_ALL)
        b->all = one.at > b->all ? one.at : b->all;
    b->newest = one.at > b->newest ? one.at : b->newest;
    for (size_t i = 0; i < terms->n; i++) {
        struct bar_key *key = NEW(a, struct bar_key), **chain = chain_of(b, terms->v[i]);
        *key = (struct bar_key){terms->v[i], &b->v[b->n], *chain};
        *chain = key;
    }
    b->v[b->n++] = one;
}

/* Read for each recall. Expired memories bar their statements as forgotten ones do, until they are
 * pruned; then tombstones of their own are written (engine_prune). */
enum status tombstones_load(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            struct tombstones *out)
{
    struct arena *a = &ctx->arena;
    struct bars_read read;
    *out = (struct tombstones){0};
    TRY(store_bars(ctx, e->store, pool, clock_ms(), &read));
    size_t n = read.n + read.n_expired;
    out->v = NEW_N(a, struct barred, n);
    out->chains = NEW_N(a, struct bar_key *, n ? TOMBSTONE_CHAINS : 0);
    for (size_t i = 0; i < read.n; i++)
        add_barred(out, a, barred_of(&read.bars[i]));
    for (size_t i = 0; i < read.n_expired; i++) {
        const struct memory *m = &read.expired[i];
        add_barred(out, a,
                   (struct barred){.kind = BAR_STATEMENT,
                                   .reason = BAR_EXPIRED,
                                   .at = tombstones_end_of(m),
                                   .message = m->source.n ? tombstones_message(m->source) : 0,
                                   .statement = statement_of(a, m->content)});
    }
    return OK;
}

/* What is lifted keeps its place in the chains, and bars nothing. */
void tombstones_lift(struct tombstones *b, unsigned reasons, int64_t after)
{
    for (struct barred *one = b->v; one < b->v + b->n; one++)
        if (one->at > after && (reasons >> one->reason & 1))
            *one = (struct barred){.kind = BAR_ALL};
}

/* --- applying --- */

/* A text under the tombstones: of which message (0: none), and when it was said. */
struct judged {
    const struct tombstones *tombstones;
    struct arena *a;
    uint64_t message;
    int64_t created;
};

static bool names_message(const struct tombstones *b, uint64_t message)
{
    return message && SOME(i, b->n, b->v[i].message == message);
}

bool tombstones_touch(const struct tombstones *b, str message)
{
    return b->n && message.n && names_message(b, tombstones_message(message));
}

/* Whether a bar of this kind that has the term holds for the sentence. */
static bool has_bar(const struct judged *j, enum bar_kind kind, uint64_t term, str sentence,
                    const struct statement *telling)
{
    for (const struct bar_key *k = *chain_of(j->tombstones, term); k; k = k->next) {
        const struct barred *b = k->bar;
        bool is_named = j->message && b->message == j->message;
        if (k->term == term && b->kind == kind && (is_named || j->created < b->at) &&
            (kind == BAR_SENTENCES ||
             (stating_of(&b->statement, telling) >= (is_named ? MENTIONS : STATES) &&
              (is_named || !is_of_another(&b->statement, j->a, sentence)))))
            return true;
    }
    return false;
}

/* Tombstones of before text_plain know a sentence by the hash of its own letters. */
static bool is_barred(const struct judged *j, str sentence)
{
    uint64_t first = letters_hash(j->a, utf8_lower(j->a, sentence));
    const struct statement telling = statement_of(j->a, sentence);
    return has_bar(j, BAR_SENTENCES, sentence_hash(j->a, sentence), sentence, &telling) ||
           has_bar(j, BAR_SENTENCES, first, sentence, &telling) ||
           SOME(i, telling.terms.n,
                has_bar(j, BAR_STATEMENT, telling.terms.v[i], sentence, &telling));
}

/* The text itself when no sentence of it is barred: at once for most, which are younger than every
 * bar, and of which none names the message. */
static str left_of(const struct judged *j, str text)
{
    struct sentence s;
    bool is_cut = false;
    const struct tombstones *b = j->tombstones;
    if (!b->n || (j->created >= b->newest && !names_message(b, j->message)))
        return text;
    struct buf out = buf_make(j->a, text.n + 1);
    for (str rest = text; sentence_cut(&rest, &s);) {
        bool goes = is_barred(j, s.text);
        is_cut |= goes;
        if (!goes)
            buf_add(&out, s.text);
    }
    return is_cut ? str_trim(buf_str(&out)) : text;
}

str tombstones_left(const struct tombstones *b, struct arena *a, const struct message *m)
{
    str text = m->is_echo ? m->says : m->text;
    const struct judged j = {b, a, b->n && m->id.n ? tombstones_message(m->id) : 0, m->created};
    if (b->all && m->created <= b->all) /* in a tie it was said before: clearing takes longer */
        return S("");
    return left_of(&j, text);
}

bool tombstones_keep(const struct tombstones *b, struct arena *a, struct recalled *r)
{
    str *text = r->is_memory         ? &r->memory.content
                : r->message.is_echo ? &r->message.says
                                     : &r->message.text;
    const struct judged memory = {b, a, 0, r->memory.updated};
    if (!b->n)
        return true;
    str left = r->is_memory ? left_of(&memory, *text) : tombstones_left(b, a, &r->message);
    r->part.is_cut = left.n != text->n;
    *text = left;
    return !r->part.is_cut || str_trim(left).n > 0;
}

void tombstones_date_back(const struct tombstones *b, struct arena *a, struct message *m)
{
    struct sentence s;
    for (str rest = b->n ? m->text : S(""); sentence_cut(&rest, &s);) {
        uint64_t hash = sentence_hash(a, s.text);
        for (const struct bar_key *k = *chain_of(b, hash); k; k = k->next)
            if (k->term == hash && k->bar->kind == BAR_SENTENCES && m->created >= k->bar->at)
                m->created = k->bar->at - 1;
    }
}
