/* keep.c - turns the model's answer about a session into the memories that are kept. */
#include "engine/distil/keep.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/utf8.h"
#include "engine/distil/known.h"
#include "engine/extract/extract.h"
#include "engine/extract/secrets.h"
#include "engine/text.h"
#include "engine/text/relative_day.h"
#include "engine/text/sentences.h"
#include "llm/llm.h"

/*
 * The model's answer is read leniently, line by line, and each line must pass: it is no secret, the
 * user's words support it (grounding.c), and it is not known already (facts.c). The episode comes
 * first: without a usable summary nothing of the answer is kept, except that a second copied
 * summary leaves the facts. Everything goes into the bundle of one write, which the caller makes.
 *
 * PINNED_MAX and IDENTITY_MAX bound what a talkative model adds in one session, QUESTIONS the
 * questions about doubtful duplicates.
 */

enum { PINNED_MAX = 16, IDENTITY_MAX = 16, LIST_MAX = 32, ITEM_MAX = 300, QUESTIONS = 4 };

/* The id is derived from session and text, so that the same answer again adds nothing. The pointer
 * is valid until the next keeper_add. */
struct memory *keeper_add(struct keeper *k, enum layer layer, str content)
{
    struct memory m = {.id = ID_OF(&k->ctx->arena, k->d->session, S("distilled"), content),
                       .session = k->d->session,
                       .layer = layer,
                       .type = layer == LAYER_EPISODE ? TYPE_EPISODIC : TYPE_FACTUAL,
                       .content = content,
                       .origin = ORIGIN_DISTILLED,
                       .created = k->d->date,
                       .updated = k->now,
                       .last_used = k->now,
                       .valid_from = k->d->date};
    return memories_add(&k->ctx->arena, &k->b->memories, &k->b->n_memories, m);
}

/* Health and safety never weigh less than the rule says: small models take an allergy for small
 * talk. What nothing confirms weighs little, whatever it says. */
void keeper_weigh(struct keeper *k, struct memory *m, double said, bool is_confirmed)
{
    double rule = importance_by_rule(&k->ctx->arena, m);
    bool is_critical = rule >= priority_least[PRIORITY_CRITICAL];
    double weight = said < 0 || (is_critical && said < rule) ? rule : said > 1 ? 1 : said;
    if (!is_confirmed && weight > UNCONFIRMED_MOST)
        weight = UNCONFIRMED_MOST;
    m->importance = m->salience = weight;
}

/* --- the episode --- */

void keeper_add_item(struct keeper *k, struct strs *list, str text)
{
    str item = utf8_cut(one_line(&k->ctx->arena, text), ITEM_MAX);
    bool is_left_out = !item.n || list->n == LIST_MAX || secrets_are_in(item) ||
                       SOME(i, list->n, str_eq_nocase(list->v[i], item));
    if (!is_left_out)
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
        keeper_add_item(k, &list, json_string(v));
    for (size_t i = 0; i < now.n; i++)
        keeper_add_item(k, &list, now.v[i]);
    json_member_open(w, name, '[');
    for (size_t i = 0; i < list.n; i++)
        json_str(w, list.v[i]);
    json_close(w, ']');
}

static str metadata_of(struct keeper *k, const struct said_of_session *said, bool is_confirmed)
{
    struct json_out w = json_in(&k->ctx->arena, 1 << 20);
    const struct memory *old = k->d->before;
    const struct json *before = old ? json_of_text(k->ctx, old->metadata) : NULL;
    json_open(&w, '{');
    write_list(k, &w, before, "topics", said->episode.topics);
    write_list(k, &w, before, "entities", said->entities);
    write_list(k, &w, before, "decisions", said->episode.decisions);
    write_list(k, &w, before, "action_items", said->episode.action_items);
    if (!is_confirmed || (old && memory_is_unconfirmed(old)))
        json_member_bool(&w, "unconfirmed", !is_confirmed);
    json_close(&w, '}');
    return buf_str(w.b);
}

/* Sentence by sentence, so that one secret does not cost the whole summary. The rest is checked
 * again as a whole, as a secret may be spread over two sentences. */
static str without_secrets(struct keeper *k, str text)
{
    if (!secrets_are_in(text))
        return text;
    struct buf b = buf_make(&k->ctx->arena, text.n + 1);
    k->kept->secret++;
    while (text.n) {
        str first = first_sentences(text, 1);
        if (first.n && !secrets_are_in(first)) {
            if (b.n)
                buf_byte(&b, ' ');
            buf_add(&b, first);
        }
        text = str_trim(str_sub(text, (size_t)(first.p + first.n - text.p), text.n));
    }
    return secrets_are_in(buf_str(&b)) ? S("") : buf_str(&b);
}

/* Small models copy one of the earlier episodes, which are part of the question. A copied summary
 * is asked for once more. When it comes again, the session has no episode. */
static enum status keep_episode(struct keeper *k, const struct said_of_session *said)
{
    struct arena *a = &k->ctx->arena;
    str summary = without_secrets(k, distil_summary(a, said->episode.summary));
    if (!summary.n)
        return NOT_FOUND;
    enum summary_fit how = summary_fit(a, k->d, summary);
    bool is_copied =
        how == SUMMARY_COPIED ||
        (SOME(i, k->d->n_episodes, str_eq_nocase(k->d->episodes[i].content, summary)) &&
         support_of(a, &k->told, summary, S("")) != SUPPORT_FULL);
    if (is_copied && k->d->was_asked)
        return NOT_FOUND;
    if (is_copied)
        return fail(k->ctx, BAD_INPUT,
                    how == SUMMARY_COPIED ? "the summary repeats the instructions"
                                          : "the summary describes another conversation");
    bool is_confirmed = how == SUMMARY_FITS;
    struct memory *m = keeper_add(k, LAYER_EPISODE, text_with_day(a, summary, k->d->date));
    m->id = episode_id(a, k->d->session);
    m->key = str_printf(a, "episode:" S_FMT, S_ARG(k->d->session));
    m->metadata = metadata_of(k, said, is_confirmed);
    keeper_weigh(k, m, said->episode.salience, is_confirmed);
    k->kept->unconfirmed += !is_confirmed;
    return OK;
}

/* --- the whole answer --- */

/* A fact of the wrong shape is skipped and does not cost the others. */
static enum status keep_facts(struct keeper *k, const struct json *list, enum layer layer,
                              size_t most)
{
    const struct json *v = list && list->type == JSON_ARRAY ? list->first : NULL;
    for (size_t i = 0; v && i < most; v = v->next) {
        struct said_fact fact;
        if (soft(k->ctx, llm_read(k->ctx, said_fact_fields, v, true, &fact))) {
            TRY(keep_fact(k, &fact, layer));
            i++;
        }
    }
    return OK;
}

/* The time for duplicates ends with core_timeout_ms; later lines are compared by words alone. After
 * a second copied summary there are facts, or nothing. */
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
    enum status s = keep_episode(&k, said);
    bool has_copy = s == NOT_FOUND && distil_summary(&ctx->arena, said->episode.summary).n;
    if (s != OK && !has_copy)
        return s;
    TRY(keep_facts(&k, said->pinned_candidates, LAYER_FACT, PINNED_MAX));
    TRY(keep_facts(&k, said->identity_facts, LAYER_IDENTITY, IDENTITY_MAX));
    return b->n_memories ? OK : NOT_FOUND;
}
