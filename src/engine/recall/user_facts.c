/* user_facts.c - lines about the user for every chat: facts, standing instructions. */
#include "engine/recall/user_facts.h"

#include "core/tokens.h"
#include "engine/questions/standing.h"
#include "engine/text/lexicon.h"
#include "engine/vectors/embed_queue.h"

/* Among the newest so many the important ones are looked for. */
enum { LOOKED_AT = 500, LEAST = 3, MOST = 15, TOKENS_EACH = 60, QUESTION_WORDS = 60 };

/* Standing instructions that are read, of so many memories with their word; of how many the topic
 * is compared with the question; their share of the budget, and tokens they always have. */
enum {
    STANDING_READ = 64,
    STANDING_AMONG = 5000,
    STANDING_COMPARED = 8,
    STANDING_SHARE = 8,
    STANDING_TOKENS = 60
};

/* "How far away did I say my parents live?" asks for one thing, and not for whatever is known. "Do
 * you remember my pet?" may be content with it. */
static bool asks_one_thing(const struct finder *f, struct gate gate)
{
    const struct query *q = &f->asked.query;
    struct words w = words_of(&f->ctx->arena, f->in->question, QUESTION_WORDS);
    bool has_topic = SOME(i, q->n, !lexicon_is(q->stems[i], LEX_ASKING));
    bool asks = false;
    str phrase = gate.phrase, first = str_cut(&phrase, ' ');
    for (size_t i = 0; i < w.n && !str_eq_nocase(w.v[i].text, first); i++)
        asks |= lexicon_is(w.v[i].text, LEX_QUESTION);
    return has_topic && asks;
}

bool known_is_asked(const struct finder *f, struct gate gate)
{
    return !gate.is_weak && (gate.section == GATE_IDENTITY ||
                             (gate.section == GATE_PINNED && !asks_one_thing(f, gate)));
}

/* Identity before facts, then the most important, then the newest. */
ORDER(first, struct memory, (y->layer == LAYER_IDENTITY) - (x->layer == LAYER_IDENTITY)
      ?: DOWN(importance) ?: DOWN(created) ?: DOWN(doc));

/* One that may not be shown takes a place and is left out. */
enum status known_of(const struct finder *f, int64_t after, int64_t budget_tokens,
                     struct recalled **out, size_t *n)
{
    struct memory *v;
    size_t found = 0, taken = 0;
    const struct memory_filter newest = {.after = after, .limit = LOOKED_AT};
    TRY(past_list(&f->past, &newest, &v, &found));
    SORT(v, found, first);
    int64_t most = budget_tokens < 0 ? MOST : budget_tokens / TOKENS_EACH;
    most = most < LEAST ? LEAST : most > MOST ? MOST : most;
    *out = NEW_N(&f->ctx->arena, struct recalled, (size_t)most + 1);
    *n = 0;
    for (size_t i = 0; i < found && taken < (size_t)most; i++) {
        if (v[i].layer != LAYER_FACT && v[i].layer != LAYER_IDENTITY)
            continue;
        struct recalled *r = &(*out)[*n];
        *r = (struct recalled){.is_memory = true,
                               .memory = v[i],
                               .score = v[i].importance,
                               .why = S("the question asks what is known about the user")};
        taken++;
        *n += find_shows(f, r);
    }
    return OK;
}

/* --- standing instructions --- */

ORDER(newest_first, struct memory, DOWN(created) ?: DOWN(doc));

/* They are found by the word that their keys begin with. */
enum status standing_ask(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    struct words w = words_of(&ctx->arena, S(STANDING_CATEGORY), 1);
    assert(w.n == 1);
    return store_ask_words(ctx, e->store, pool, &w.v[0].stem, 1, true, STANDING_AMONG);
}

/* Those that may be shown, newest first. */
static enum status read_standing(const struct finder *f, struct memory **out, size_t *n)
{
    struct arena *a = &f->ctx->arena;
    struct words w = words_of(a, S(STANDING_CATEGORY), 1);
    struct word_hits hits;
    doc_id docs[STANDING_READ];
    size_t read = 0;
    TRY(past_words(&f->past, true, &w.v[0].stem, 1, STANDING_AMONG, &hits));
    for (size_t i = hits.n; i-- > 0 && read < STANDING_READ;)
        if (hits.v[i].counts[0] >> 4) /* in its key */
            docs[read++] = hits.v[i].doc;
    struct memory *v = NEW_N(a, struct memory, read + 1);
    TRY(past_memories(&f->past, docs, read, v));
    *n = 0;
    for (size_t i = 0; i < read; i++) {
        struct recalled r = {.is_memory = true, .memory = v[i]};
        bool is_own = v[i].origin != ORIGIN_TOOL && v[i].origin != ORIGIN_ASSISTANT;
        if (is_own && str_is(v[i].category, STANDING_CATEGORY) && find_shows(f, &r) &&
            !r.part.is_cut)
            v[(*n)++] = v[i];
    }
    qsort(v, *n, sizeof *v, newest_first);
    *out = v;
    return OK;
}

/* Whether the encoder finds that the question is of the topic that an instruction is for. Each
 * takes its time: of many wishes those that are compared first. */
static bool is_of_topic(const struct finder *f, const struct standing *s, size_t *compared)
{
    struct question_vector q;
    float cosine = 0;
    if ((*compared)++ >= STANDING_COMPARED)
        return false;
    vectors_of_question(f->ctx, f->e, f->in->pool, s->topic_text, &q);
    for (size_t i = 0; q.v && i < q.dimensions; i++)
        cosine += f->asked.vector[i] * q.v[i];
    return cosine >= s->near;
}

enum status standing_of(const struct finder *f, bool speaks, int64_t budget_tokens,
                        struct recalled **out, size_t *n)
{
    static const char *const why[] = {[STANDING_OTHER] = "a standing instruction of the user",
                                      [STANDING_HERE] =
                                          "a standing instruction of the user for what is asked",
                                      [STANDING_ALWAYS] =
                                          "a standing instruction of the user for every chat"};
    enum { WORDS_MAX = 200 };
    struct arena *a = &f->ctx->arena;
    struct memory *v;
    size_t found, compared = 0;
    int64_t room = budget_tokens / STANDING_SHARE;
    TRY(read_standing(f, &v, &found));
    struct words q = words_of(a, f->in->question, found ? WORDS_MAX : 0);
    struct standing *read = NEW_N(a, struct standing, found + 1);
    *out = NEW_N(a, struct recalled, found + 1);
    bool *is_over = NEW_N(a, bool, found + 1);
    for (size_t i = 0; i < found; i++) {
        read[i] = standing_of_text(a, v[i].content);
        /* The later ones stand in front. */
        is_over[i] = read[i].takes_back || SOME(k, i, standing_ends(&read[k], &read[i]));
    }
    *n = 0;
    room = budget_tokens < 0 ? INT64_MAX : room < STANDING_TOKENS ? STANDING_TOKENS : room;
    for (int reach = STANDING_ALWAYS; reach >= STANDING_OTHER; reach--)
        for (size_t i = 0; i < found; i++) {
            if ((int)standing_reach(&read[i], &q) != reach || is_over[i] ||
                tokens_of(v[i].content) > room ||
                (reach == STANDING_OTHER &&
                 !(f->asked.vector ? is_of_topic(f, &read[i], &compared) : speaks)))
                continue;
            room -= tokens_of(v[i].content);
            (*out)[(*n)++] = (struct recalled){.is_memory = true,
                                               .origin = LINE_STANDING,
                                               .memory = v[i],
                                               .score = 1,
                                               .why = str_of(why[reach])};
        }
    return OK;
}
