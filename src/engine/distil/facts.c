/* facts.c - a fact of the model's answer: new, known, fuller than a known one, or in its place. */
#include "base/utf8.h"
#include "engine/distil/keep.h"
#include "engine/distil/known.h"
#include "engine/extract/extract.h"
#include "engine/extract/secrets.h"
#include "engine/text.h"
#include "engine/text/claims.h"
#include "engine/text/relative_day.h"
#include "lang/kinds_lists.h"
#include "words/words.h"

/*
 * What becomes of a fact, by its relation to what is stored and its support:
 *   new                      added; its key is "pinned:…", "who:…" or "unconfirmed:…"
 *   known                    the stored one counts as used, and newer if it was said now
 *   known by a pattern       in this conversation: one row, with the text that says more
 *   fuller or changed        takes the stored one's key, so the store closes that one
 *   replaces[] of the model  what it names by a shown id is closed, unless a person added it
 * Doubtful facts never replace a confirmed one; when a doubtful one is said by the user later, the
 * confirmed line takes its place (decisions/014).
 */

enum { LINE_MAX = 500, LINE_LEAST = 5, TAGS_MAX = 32, KIND_WORDS = 64 };

/* A fact on its way. */
struct fact {
    const struct said_fact *said;
    str content;
    enum layer layer;
    bool is_confirmed;
    str slot; /* of an identity line: what it is about, or "" */
    enum relation relation;
    struct memory like; /* what it is the same as, or newer than */
};

/* --- its kind --- */

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
    int kind = name_index(kind_names, word, name_index(kind_names, single, -1));
    for (size_t i = 0; kind < 0 && i < sizeof synonyms / sizeof *synonyms; i++)
        if (str_is(word, synonyms[i].word) || str_is(single, synonyms[i].word))
            kind = (int)synonyms[i].kind;
    return kind;
}

/* "User's sister is Anna", and not "User met a friend". */
static bool names_relation(struct arena *a, str text)
{
    struct words w = words_of(a, text, KIND_WORDS);
    return SOME(i, w.n, str_is_one_of(w.v[i].stem, relation_stems)) && SOME(i, w.n, w.v[i].is_name);
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

/* --- what is known --- */

static bool is_by_pattern(const struct memory *m)
{
    return m->origin == ORIGIN_USER;
}

/* A pattern keeps the user's own words ("my dog is called Rex"), so its facts are also compared by
 * what tells in them; only what says the same, or all of it and more, counts. */
static enum relation relation_to(struct keeper *k, const struct saying *line,
                                 const struct memory *there)
{
    struct saying says = saying_of(&k->ctx->arena, there->content);
    enum relation by_line = relation_of(line, &says, &(struct likeness){BY_LINE});
    if (by_line != DIFFERENT || !is_by_pattern(there))
        return by_line;
    enum relation by_words =
        relation_of(line, &says, &(struct likeness){BY_WORDS, k->d->e->settings});
    return by_words == SAME || by_words == FULLER ? by_words : DIFFERENT;
}

/* The memory of that id, if it is of this same answer: then it is in no store yet. */
static struct memory *in_bundle(const struct keeper *k, str id)
{
    for (size_t i = 0; i < k->b->n_memories; i++)
        if (str_eq(k->b->memories[i].id, id))
            return &k->b->memories[i];
    return NULL;
}

static bool find_among(struct keeper *k, struct fact *f, const struct saying *says,
                       const struct memory *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!v[i].id.n || v[i].valid_to ||
            (v[i].layer != LAYER_FACT && v[i].layer != LAYER_IDENTITY))
            continue;
        f->relation = relation_to(k, says, &v[i]);
        /* Of the other layer only what says the same: a change must not move it. */
        if (f->relation == DIFFERENT || (v[i].layer != f->layer && f->relation != SAME))
            continue;
        f->like = v[i];
        return true;
    }
    f->relation = DIFFERENT;
    return false;
}

/* "User lives in Berlin": there is one home. The newest line about it is first. */
static bool find_slot(struct fact *f, const struct memory *v, size_t n)
{
    str value, there;
    f->slot = slot_of(f->content, &value);
    for (size_t i = 0; f->slot.n && i < n; i++) {
        if (v[i].layer != LAYER_IDENTITY || v[i].valid_to ||
            !str_eq(slot_of(v[i].content, &there), f->slot))
            continue;
        f->like = v[i];
        f->relation = str_eq_nocase(value, there) ? SAME : CHANGED;
        return true;
    }
    return false;
}

/* In this answer, then among who the user is, then among the facts, and last by vectors. */
static enum status find_relation(struct keeper *k, struct fact *f)
{
    struct saying says = saying_of(&k->ctx->arena, f->content);
    struct memory *v;
    size_t n;
    if (f->layer == LAYER_IDENTITY && (find_slot(f, k->b->memories, k->b->n_memories) ||
                                       find_slot(f, k->d->identity, k->d->n_identity)))
        return OK;
    if (find_among(k, f, &says, k->b->memories, k->b->n_memories) ||
        find_among(k, f, &says, k->d->identity, k->d->n_identity))
        return OK;
    TRY(similar_facts(k->ctx, k->d, f->content, &v, &n));
    if (!find_among(k, f, &says, v, n) && !f->slot.n)
        f->relation = same_seek(k->ctx, &k->seeker, f->content, f->layer, &f->like);
    return OK;
}

/* --- what becomes of it --- */

static void set_source(struct keeper *k, struct memory *m)
{
    size_t teller = teller_of(&k->ctx->arena, &k->told, m->content);
    assert(teller < k->d->n);
    m->source = k->d->signals[teller].message.id;
}

/* What a person or a program added is never closed. */
static bool may_be_replaced(const struct keeper *k, const struct memory *m)
{
    return (m->origin == ORIGIN_DISTILLED || is_by_pattern(m)) && m->created <= k->d->date;
}

/* Noted in the bundle: the store closes old in favour of memory `by` of the bundle when it is
 * written. */
static void close_for(struct keeper *k, const struct memory *old, size_t by)
{
    struct bundle *b = k->b;
    struct closing *v = DUP_N(&k->ctx->arena, b->closes, b->n_closes, b->n_closes + 1);
    v[b->n_closes++] = (struct closing){old->id, by};
    b->closes = v;
    k->kept->replaced++;
}

/* Closes what the model names as replaced. Only what was shown to it, and is older, can be. */
static void close_named(struct keeper *k, const struct fact *f, size_t at)
{
    for (size_t i = 0; f->is_confirmed && i < f->said->replaces.n; i++) {
        const struct memory *old = shown_memory(k->d, f->said->replaces.v[i]);
        if (old && may_be_replaced(k, old) && !str_eq(old->id, k->b->memories[at].id))
            close_for(k, old, at);
    }
}

/* What is said again is used, and as old as today: consolidation keeps what the user repeats.
 * Models also repeat what they were shown, which makes nothing newer. */
static void say_again(struct keeper *k, const struct fact *f)
{
    k->kept->known++;
    if (!f->is_confirmed || in_bundle(k, f->like.id))
        return;
    struct memory *m = memories_add(&k->ctx->arena, &k->b->memories, &k->b->n_memories, f->like);
    if (is_said_now(&k->ctx->arena, &k->told, f->said->content))
        m->created = k->d->date;
    m->last_used = m->updated = k->now;
    close_named(k, f, k->b->n_memories - 1);
}

/* Found by a pattern in the same conversation: one row, with the text that says more, which knows
 * that both have found it. */
static void merge_fact(struct keeper *k, const struct fact *f)
{
    struct memory *m = memories_add(&k->ctx->arena, &k->b->memories, &k->b->n_memories, f->like);
    if (f->relation == FULLER)
        m->content = f->content;
    m->metadata = S("{\"origins\":[\"user\",\"distilled\"]}");
    m->origin = ORIGIN_DISTILLED; /* as which it is written; the row's origin stays */
    m->last_used = m->updated = k->now;
    if (f->said->salience > m->salience)
        m->salience = f->said->salience;
    k->kept->known++;
    close_named(k, f, k->b->n_memories - 1);
}

/* Of two alike in one answer the fuller one. */
static void replace_in_bundle(struct keeper *k, const struct fact *f, struct memory *m)
{
    if (f->is_confirmed || memory_is_unconfirmed(m)) {
        m->content = f->content;
        set_source(k, m);
    }
    k->kept->known++;
}

/* The key of what the model names as replaced: what is said by the same pattern later then finds
 * this one. */
static str key_of_named(struct keeper *k, const struct fact *f)
{
    for (size_t i = 0; f->is_confirmed && i < f->said->replaces.n; i++) {
        const struct memory *old = shown_memory(k->d, f->said->replaces.v[i]);
        if (old && may_be_replaced(k, old) && old->layer == f->layer && old->key.n)
            return old->key;
    }
    return S("");
}

static str key_of(struct keeper *k, const struct fact *f, const struct memory *m, bool takes_place)
{
    struct arena *a = &k->ctx->arena;
    str named = takes_place ? f->like.key : key_of_named(k, f);
    if (named.n)
        return named;
    if (!f->is_confirmed)
        return str_printf(a, "unconfirmed:" S_FMT, S_ARG(m->id));
    if (f->layer == LAYER_IDENTITY)
        return str_printf(a, "who:" S_FMT, S_ARG(f->slot.n ? f->slot : m->id));
    return str_printf(a, "pinned:" S_FMT, S_ARG(m->id));
}

/* Category, type and tags; the category is what clients filter by. */
static void sort_fact(struct keeper *k, struct memory *m, const struct fact *f)
{
    struct arena *a = &k->ctx->arena;
    m->category = S("identity");
    if (f->layer != LAYER_IDENTITY) {
        enum memory_kind kind = distil_kind(a, m, f->said->type);
        m->category = str_of(kind_names[kind]);
        m->type = kind == KIND_PROCEDURE ? TYPE_PROCEDURAL : TYPE_FACTUAL;
    }
    m->tags = (struct strs){NEW_N(a, str, TAGS_MAX), 0};
    for (size_t i = 0; i < f->said->tags.n; i++)
        keeper_add_item(k, &m->tags, f->said->tags.v[i]);
}

static void add_fact(struct keeper *k, const struct fact *f)
{
    bool replaces = relation_replaces(f->relation), was_doubtful = memory_is_unconfirmed(&f->like);
    bool takes_place = replaces && f->is_confirmed && f->like.key.n && f->like.layer == f->layer &&
                       (f->like.origin == ORIGIN_DISTILLED || is_by_pattern(&f->like)) &&
                       !was_doubtful;
    struct memory *m = keeper_add(k, f->layer, f->content);
    size_t at = k->b->n_memories - 1;
    m->key = key_of(k, f, m, takes_place);
    sort_fact(k, m, f);
    set_source(k, m);
    keeper_weigh(k, m, f->said->salience, f->is_confirmed);
    if (!f->is_confirmed)
        m->metadata = S("{\"unconfirmed\":true}");
    k->kept->unconfirmed += !f->is_confirmed;
    if (was_doubtful && (replaces || f->relation == SAME))
        close_for(k, &f->like, at);
    f->layer == LAYER_IDENTITY ? k->kept->identity++ : k->kept->pinned++;
    close_named(k, f, at);
}

/* --- the face --- */

/* The tests that need no store come first. */
static bool may_be_kept(struct keeper *k, struct fact *f)
{
    struct arena *a = &k->ctx->arena;
    str line = utf8_cut(one_line(a, f->said->content), LINE_MAX);
    if (utf16_length(line) <= LINE_LEAST)
        return false;
    if (secrets_are_in(line)) {
        k->kept->secret++;
        return false;
    }
    enum support support = support_of(a, &k->told, line, f->said->from);
    if (support == SUPPORT_NONE) {
        k->kept->unsaid++;
        return false;
    }
    f->is_confirmed = support == SUPPORT_FULL;
    f->content = text_with_day(a, line, k->d->date);
    /* An identity line is in every chat, so a doubtful one is a fact like others. */
    f->layer = f->is_confirmed ? f->layer : LAYER_FACT;
    return true;
}

/* One fact of the answer; layer is where the model put it, which holds only for confirmed facts. */
enum status keep_fact(struct keeper *k, const struct said_fact *said, enum layer layer)
{
    struct fact f = {.said = said, .layer = layer, .slot = S("")};
    if (!may_be_kept(k, &f))
        return OK;
    TRY(find_relation(k, &f));
    struct memory *twin = f.relation == DIFFERENT ? NULL : in_bundle(k, f.like.id);
    bool is_own = is_by_pattern(&f.like) && str_eq(f.like.session, k->d->session);
    if (relation_replaces(f.relation) && twin && may_be_replaced(k, twin))
        replace_in_bundle(k, &f, twin);
    else if (f.is_confirmed && is_own && !twin && (f.relation == SAME || f.relation == FULLER))
        merge_fact(k, &f);
    else if (f.relation == SAME && !(f.is_confirmed && !twin && memory_is_unconfirmed(&f.like)))
        say_again(k, &f);
    else
        add_fact(k, &f);
    return OK;
}
