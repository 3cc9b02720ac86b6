/* keep.c - turns the model's answer about a session into the memories that are kept. */
#include <assert.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/words.h"
#include "engine/dedup/equivalence.h"
#include "engine/distil/distil.h"
#include "engine/extract/extract.h"
#include "engine/extract/secrets.h"
#include "engine/text/importance.h"
#include "engine/text/sentences.h"

enum { PINNED_MAX = 4, IDENTITY_MAX = 8, LIST_MAX = 32, ITEM_MAX = 300, LINE_MAX = 500 };
enum { PINNED_LEAST = 5, SIMILAR_MAX = 32, HITS_MAX = 2000, QUESTIONS = 4 };

struct keeper {
    struct ctx *ctx;
    const struct distilling *d;
    struct bundle *b;
    struct kept *kept;
    struct told_words told;
    struct same_seeker seeker;
    int64_t now;
};

str episode_id(struct arena *a, str session)
{
    const str parts[] = {S("episode"), session};
    return id_of(a, parts, 2);
}

static bool is_secret(const struct keeper *k, str text)
{
    return secrets_are_in(k->d->e->extractor, text);
}

static struct memory *add_memory(struct keeper *k, enum layer layer, str key, str content)
{
    struct bundle *b = k->b;
    const str parts[] = {k->d->session, S("distilled"), content};
    b->memories = memories_with_room(&k->ctx->arena, b->memories, b->n_memories);
    struct memory *m = &b->memories[b->n_memories++];
    *m = (struct memory){.id = id_of(&k->ctx->arena, parts, 3),
                         .session = k->d->session,
                         .layer = layer,
                         .type = layer == LAYER_EPISODE ? TYPE_EPISODIC : TYPE_FACTUAL,
                         .key = key,
                         .content = content,
                         .origin = ORIGIN_DISTILLED,
                         .created = k->d->date,
                         .updated = k->now,
                         .last_used = k->now,
                         .valid_from = k->d->date};
    return m;
}

/* The model's weight, or the rule's without one. Health and safety never weigh less than the rule
 * says: small models take an allergy for small talk. */
static double weight_of(struct keeper *k, const struct memory *m, double said)
{
    double rule = importance_by_rule(&k->ctx->arena, m);
    bool is_critical = rule >= priority_least[PRIORITY_CRITICAL];
    return said < 0 || (is_critical && said < rule) ? rule : said > 1 ? 1 : said;
}

static void weigh_fact(struct keeper *k, struct memory *m, double said)
{
    m->importance = m->salience = weight_of(k, m, said);
}

static bool is_slight(struct keeper *k, const struct memory *m, double said)
{
    bool is = weight_of(k, m, said) < k->d->e->settings->importance_min;
    k->kept->slight += is;
    return is;
}

/* --- the episode --- */

static void add_item(struct keeper *k, struct strs *list, str text)
{
    str item = utf8_cut(one_line(&k->ctx->arena, text), ITEM_MAX);
    bool is_there = !item.n || list->n == LIST_MAX || is_secret(k, item);
    for (size_t i = 0; i < list->n && !is_there; i++)
        is_there = str_eq_nocase(list->v[i], item);
    if (!is_there)
        list->v[list->n++] = item;
}

/* Items of the earlier episode of this session come first: its turns are no longer pending, so the
 * model did not see them. */
static void write_list(struct keeper *k, struct json_out *w, const struct json *before,
                       const char *name, struct strs now)
{
    const struct json *old = json_get(before, name);
    struct strs list = {NEW_N(&k->ctx->arena, str, LIST_MAX), 0};
    for (const struct json *v = old && old->type == JSON_ARRAY ? old->first : NULL; v; v = v->next)
        add_item(k, &list, v->string);
    for (size_t i = 0; i < now.n; i++)
        add_item(k, &list, now.v[i]);
    json_member_open(w, name, '[');
    for (size_t i = 0; i < list.n; i++)
        json_str(w, list.v[i]);
    json_close(w, ']');
}

static str metadata_of(struct keeper *k, const struct said_of_session *said)
{
    struct buf b = buf_make(&k->ctx->arena, 1 << 20);
    struct json_out w = json_to(&b);
    struct json *before = NULL;
    const struct memory *old = k->d->before;
    if (old && old->metadata.n)
        soft(k->ctx, json_parse(k->ctx, old->metadata, &before));
    json_open(&w, '{');
    write_list(k, &w, before, "topics", said->episode.topics);
    write_list(k, &w, before, "entities", said->entities);
    write_list(k, &w, before, "decisions", said->episode.decisions);
    write_list(k, &w, before, "action_items", said->episode.action_items);
    json_close(&w, '}');
    return buf_str(&b);
}

/* Sentence by sentence, so that one secret does not cost the whole summary. The rest is checked
 * again as a whole, as a secret may be spread over two sentences. */
static str without_secrets(struct keeper *k, str text)
{
    if (!is_secret(k, text))
        return text;
    struct buf b = buf_make(&k->ctx->arena, text.n + 1);
    k->kept->secret++;
    while (text.n) {
        str first = first_sentences(text, 1);
        size_t took = first.n ? (size_t)(first.p + first.n - text.p) : text.n;
        if (first.n && !is_secret(k, first)) {
            if (b.n)
                buf_byte(&b, ' ');
            buf_add(&b, first);
        }
        text = str_trim(str_sub(text, took, text.n));
    }
    return is_secret(k, buf_str(&b)) ? S("") : buf_str(&b);
}

/* Small models copy one of the earlier episodes, which are part of the question. */
static bool is_anothers(const struct keeper *k, str summary)
{
    for (size_t i = 0; i < k->d->n_episodes; i++)
        if (str_eq_nocase(k->d->episodes[i].content, summary))
            return !is_told(&k->ctx->arena, &k->told, summary);
    return false;
}

static enum status keep_episode(struct keeper *k, const struct said_of_session *said)
{
    str summary = distil_summary(&k->ctx->arena, said->episode.summary);
    summary = without_secrets(k, summary);
    if (!summary.n)
        return NOT_FOUND;
    if (is_anothers(k, summary))
        return fail(k->ctx, BAD_INPUT, "the summary describes another conversation");
    if (!is_of_conversation(&k->ctx->arena, k->d, summary))
        return fail(k->ctx, BAD_INPUT, "the summary has too few words of the conversation");
    str key = str_printf(&k->ctx->arena, "episode:" S_FMT, S_ARG(k->d->session));
    struct memory *m = add_memory(k, LAYER_EPISODE, key, summary);
    m->id = episode_id(&k->ctx->arena, k->d->session);
    m->metadata = metadata_of(k, said);
    weigh_fact(k, m, said->episode.salience);
    return OK;
}

/* --- facts --- */

/* The facts of the pool that share words with the line, those with the most shared words first. */
static enum status similar_facts(struct keeper *k, str line, struct memory **out, size_t *n)
{
    struct arena *a = &k->ctx->arena;
    struct words w = words_of(a, line, 64);
    struct word_hits hits;
    str stems[QUERY_WORDS_MAX];
    doc_id docs[SIMILAR_MAX];
    size_t asked = 0, found = 0;
    for (size_t i = 0; i < w.n && asked < QUERY_WORDS_MAX; i++)
        if (!w.v[i].is_stop)
            stems[asked++] = w.v[i].stem;
    *out = NEW_N(a, struct memory, SIMILAR_MAX);
    *n = 0;
    if (!asked)
        return OK;
    TRY(store_search_memory_words(k->ctx, k->d->e->store, k->d->pool, stems, asked, HITS_MAX,
                                  &hits));
    for (size_t least = asked; least > 0 && found < SIMILAR_MAX; least--) {
        for (size_t i = 0; i < hits.n && found < SIMILAR_MAX; i++) {
            size_t held = 0;
            for (size_t s = 0; s < asked; s++)
                held += (hits.v[i].counts[s] & 15) != 0;
            if (held == least)
                docs[found++] = hits.v[i].doc;
        }
    }
    TRY(store_memories(k->ctx, k->d->e->store, k->d->pool, docs, found, *out));
    *n = found;
    return OK;
}

static enum relation relation_by_line(struct keeper *k, const struct saying *line, str there)
{
    struct saying says = saying_of(&k->ctx->arena, there);
    return relation_of(line, &says, &(struct likeness){BY_LINE});
}

/* The memory that the line is the same as, or newer than: of the store, or of this bundle. */
static enum status find_relation(struct keeper *k, str line, enum relation *out,
                                 struct memory *like)
{
    struct saying says = saying_of(&k->ctx->arena, line);
    struct memory *v;
    size_t n;
    *out = DIFFERENT;
    for (size_t i = 0; i < k->b->n_memories && *out == DIFFERENT; i++) {
        *like = k->b->memories[i];
        if (like->layer == LAYER_FACT)
            *out = relation_by_line(k, &says, like->content);
    }
    if (*out != DIFFERENT)
        return OK;
    TRY(similar_facts(k, line, &v, &n));
    for (size_t i = 0; i < n && *out == DIFFERENT; i++) {
        *like = v[i];
        if (like->id.n && like->layer == LAYER_FACT && !like->valid_to)
            *out = relation_by_line(k, &says, like->content);
    }
    if (*out == DIFFERENT)
        *out = same_seek(k->ctx, &k->seeker, line, LAYER_FACT, like);
    return OK;
}

/* A known fact counts as used, so that consolidation keeps what the user repeats. */
static void see_again(struct keeper *k, const struct memory *like)
{
    k->kept->known++;
    if (like->doc)
        soft(k->ctx, store_touch(k->ctx, k->d->e->store, k->d->pool, &like->doc, 1, k->now));
}

static bool may_be_kept(struct keeper *k, str line)
{
    if (is_secret(k, line)) {
        k->kept->secret++;
        return false;
    }
    if (str_ends(line, S("?")) || !is_told(&k->ctx->arena, &k->told, line)) {
        k->kept->unsaid++;
        return false;
    }
    return true;
}

static void set_source(struct keeper *k, struct memory *m)
{
    size_t teller = teller_of(&k->ctx->arena, &k->told, k->d->n, m->content);
    assert(teller < k->d->n);
    m->source = k->d->signals[teller].message.id;
}

/* Of two alike in one answer the fuller one. */
static bool replace_in_bundle(struct keeper *k, const struct memory *like, str content)
{
    for (size_t i = 0; i < k->b->n_memories; i++) {
        struct memory *m = &k->b->memories[i];
        if (!str_eq(m->id, like->id))
            continue;
        m->content = content;
        set_source(k, m);
        k->kept->known++;
        return true;
    }
    return false;
}

/* The model's kind, or the rule's when the model names an unknown one. */
static void sort_fact(struct keeper *k, struct memory *m, str said)
{
    struct arena *a = &k->ctx->arena;
    int kind = name_index(kind_names, str_lower(a, str_trim(said)), (int)kind_by_rule(a, m));
    m->category = str_of(kind_names[kind]);
    if (kind == KIND_PROCEDURE)
        m->type = TYPE_PROCEDURAL;
}

/* A fact that replaces a distilled one takes over its key, which closes the old one. Memories that
 * a user or an application added are never replaced. */
static enum status keep_pinned(struct keeper *k, const struct said_pinned *said)
{
    struct arena *a = &k->ctx->arena;
    str content = utf8_cut(one_line(a, said->content), LINE_MAX);
    enum relation relation;
    struct memory like;
    if (utf16_length(content) <= PINNED_LEAST || !may_be_kept(k, content) ||
        is_slight(k, &(struct memory){.content = content}, said->salience))
        return OK;
    TRY(find_relation(k, content, &relation, &like));
    if (relation == SAME) {
        see_again(k, &like);
        return OK;
    }
    if (relation_replaces(relation) && replace_in_bundle(k, &like, content))
        return OK;
    struct memory *m = add_memory(k, LAYER_FACT, S(""), content);
    bool takes_place = relation_replaces(relation) && like.origin == ORIGIN_DISTILLED && like.key.n;
    m->key = takes_place ? like.key : str_printf(a, "pinned:" S_FMT, S_ARG(m->id));
    sort_fact(k, m, said->type);
    m->tags = (struct strs){NEW_N(a, str, LIST_MAX), 0};
    for (size_t i = 0; i < said->tags.n; i++)
        add_item(k, &m->tags, said->tags.v[i]);
    set_source(k, m);
    weigh_fact(k, m, said->salience);
    k->kept->pinned++;
    return OK;
}

/* --- identity --- */

/* Whether the line is known, or gives the known value of its slot ("name", "home"). */
static bool is_known(struct keeper *k, str line)
{
    struct saying says = saying_of(&k->ctx->arena, line);
    str value, there, slot = slot_of(line, &value);
    for (size_t i = 0; i < k->d->n_identity; i++) {
        str old = k->d->identity[i].content, old_slot = slot_of(old, &there);
        if (slot.n && str_eq(slot, old_slot) ? str_eq_nocase(value, there)
                                             : relation_by_line(k, &says, old) == SAME)
            return true;
    }
    for (size_t i = 0; i < k->b->n_memories; i++)
        if (k->b->memories[i].layer == LAYER_IDENTITY &&
            (str_eq_nocase(k->b->memories[i].content, line) ||
             (slot.n && str_ends(k->b->memories[i].key, slot))))
            return true;
    return false;
}

static void keep_identity(struct keeper *k, str text)
{
    str value, line = utf8_cut(one_line(&k->ctx->arena, text), LINE_MAX);
    if (utf16_length(line) <= PINNED_LEAST || !may_be_kept(k, line))
        return;
    if (is_known(k, line)) {
        k->kept->known++;
        return;
    }
    struct memory like;
    str slot = slot_of(line, &value);
    enum relation relation =
        slot.n ? DIFFERENT : same_seek(k->ctx, &k->seeker, line, LAYER_IDENTITY, &like);
    if (relation == SAME) {
        see_again(k, &like);
        return;
    }
    struct memory *m = add_memory(k, LAYER_IDENTITY, S(""), line);
    bool takes_place = relation_replaces(relation) && like.origin == ORIGIN_DISTILLED && like.key.n;
    m->key = takes_place ? like.key
             : slot.n    ? str_printf(&k->ctx->arena, "who:" S_FMT, S_ARG(slot))
                         : str_printf(&k->ctx->arena, "who:" S_FMT, S_ARG(m->id));
    m->category = S("identity");
    set_source(k, m);
    weigh_fact(k, m, SALIENCE_UNSAID);
    k->kept->identity++;
}

enum status distil_keep(struct ctx *ctx, const struct distilling *d,
                        const struct said_of_session *said, struct bundle *b, struct kept *kept)
{
    struct keeper k = {.ctx = ctx, .d = d, .b = b, .kept = kept, .now = clock_ms()};
    *kept = (struct kept){0};
    assert(d->n > 0 && d->pool.user.n);
    k.seeker =
        (struct same_seeker){.e = d->e,
                             .pool = d->pool,
                             .until_us = clock_mono_us() + d->e->settings->core_timeout_ms * 1000,
                             .questions = QUESTIONS};
    k.told = told_words_of(&ctx->arena, d);
    TRY(keep_episode(&k, said));
    const struct json *list = said->pinned_candidates;
    const struct json *v = list && list->type == JSON_ARRAY ? list->first : NULL;
    for (size_t i = 0; v && i < PINNED_MAX; v = v->next) {
        struct said_pinned pinned;
        if (soft(ctx, fields_read(ctx, said_pinned_fields, v, false, &pinned))) {
            TRY(keep_pinned(&k, &pinned));
            i++;
        }
    }
    for (size_t i = 0; i < said->identity_facts.n && i < IDENTITY_MAX; i++)
        keep_identity(&k, said->identity_facts.v[i]);
    return OK;
}
