/* followups.c - measures recall on follow-up questions, made from LoCoMo's. */
#include "ext/eval/followups.h"

#include "ext/eval/eval.h"
#include "words/words.h"

/*
 * Two questions about the same session in a row; in the second one, names and things that the first
 * one or its answer mentioned become pronouns ("What did she paint?"). Then each way of searching
 * it is measured: raw, with the first question in front, rewritten as in a chat, and the original
 * as the upper limit. Rewriting the original shows what rewriting costs where nothing is lacking.
 */

enum { ADVERSARIAL = 5, AT = 10, WORDS_MAX = 500, QUESTION_MAX = 4000 };

/* How the second question is searched. */
enum way { WAY_RAW, WAY_BEFORE, WAY_NOW, WAY_ORIGINAL, WAY_ALONE, WAY_COUNT };
static const struct {
    const char *name, *help;
} ways[WAY_COUNT] = {
    {"raw", "the follow-up, not rewritten"},
    {"before", "after the first question, unchanged"},
    {"now", "rewritten, as in a chat"},
    {"original", "the original question: the upper limit"},
    {"alone", "the original question, rewritten: what rewriting loses"},
};

/* Sums, not shares: shares are made at the end. */
struct sum {
    double any, frac; /* of the first ten */
    double told;      /* something of what answers it goes into the chat */
    double foreign; /* something goes in from another conversation's pool, where nothing belongs */
};
struct pairs {
    double n, rewritten, alone_rewritten;
    struct sum by[WAY_COUNT];
};

struct follow {
    struct ctx *ctx;
    struct engine *e;
    struct pairs all, things; /* things: those that lack more than a name */
    struct pairs *each;       /* of each conversation */
    const struct exam *conversations;
    size_t n;
};

/* --- making a follow-up --- */

struct text {
    str from;
    struct words words, before;
    const struct person *people; /* the two who talk */
};

static bool was_said(const struct text *t, const struct word *w)
{
    return SOME(i, t->before.n, str_eq(t->before.v[i].stem, w->stem));
}

/* The person whose name the word is, or NULL. */
static const struct person *person_at(const struct text *t, size_t i)
{
    for (size_t p = 0; i < t->words.n && p < 2; p++)
        if (str_eq(t->words.v[i].text, t->people[p].name))
            return &t->people[p];
    return NULL;
}

static size_t end_of(const struct word *w)
{
    return w->at + w->text.n;
}

/* Whether only this one character is between word i and the next one. */
static bool is_next(const struct text *t, size_t i, char between)
{
    return i + 1 < t->words.n && end_of(&t->words.v[i]) + 1 == t->words.v[i + 1].at &&
           t->from.p[end_of(&t->words.v[i])] == between;
}

static bool is_possessive(const struct text *t, size_t i)
{
    return is_next(t, i, '\'') && str_is(t->words.v[i + 1].text, "s");
}

static const char *pronoun_of(const struct text *t, size_t i, const struct person *p)
{
    static const char *const to[] = {"of", "to", "for",   "with", "from", "by",   "at",
                                     "in", "on", "about", "and",  "than", "like", NULL};
    bool is_object = i && str_is_one_of(t->words.v[i - 1].text, to);
    if (is_possessive(t, i))
        return p->is_she ? "her" : "his";
    return p->is_she ? is_object ? "her" : "she" : is_object ? "him" : "he";
}

/* The pronoun for the words from i on, when they name persons who were mentioned before; *end is
 * behind them. NULL when one of two was mentioned: "Ann and Bo" does not become "she and Bo". */
static const char *person_as(const struct text *t, size_t i, size_t *end)
{
    static const char *const and[] = {"and", "or", NULL};
    const struct person *p = person_at(t, i);
    bool joined = i + 1 < t->words.n && str_is_one_of(t->words.v[i + 1].text, and);
    bool is_second = i && str_is_one_of(t->words.v[i - 1].text, and);
    if (!p || !was_said(t, &t->words.v[i]) || is_second)
        return NULL;
    *end = i + (is_possessive(t, i) ? 2 : 1);
    if (!joined)
        return pronoun_of(t, i, p);
    *end = i + 3;
    bool both = person_at(t, i + 2) && was_said(t, &t->words.v[i + 2]);
    return both && !is_possessive(t, i + 2) ? "they" : NULL;
}

/* Whether the text ends behind the word, or a punctuation mark follows; "'s" and "-free" do not end
 * a word. */
static bool word_ends(const struct text *t, size_t i)
{
    size_t end = end_of(&t->words.v[i]);
    return end == t->from.n || char_is_one_of(t->from.p[end], "?.,!;:");
}

/* The end of the words from i on that name a thing that was named before, or i. */
static size_t thing_end(const struct text *t, size_t i)
{
    size_t end = i;
    while (end < t->words.n && !t->words.v[end].is_stop && !t->words.v[end].is_number &&
           !person_at(t, end) && was_said(t, &t->words.v[end])) {
        end++;
        if (!is_next(t, end - 1, ' '))
            return word_ends(t, end - 1) ? end : i;
    }
    return end < t->words.n && t->words.v[end].is_stop ? end : i;
}

/* The same for a thing: "the support group", or "art" in "for art". */
static const char *thing_as(const struct text *t, size_t i, size_t *end)
{
    static const char *const articles[] = {"the", "a",    "an",   "her",   "his",   "their",
                                           "its", "this", "that", "these", "those", NULL};
    static const char *const before[] = {"in", "for", "with", "about",  "at",    "from",
                                         "on", "by",  "of",   "during", "after", NULL};
    static const char *const sorts[] = {"kind", "kinds", "type", "types", "sort", NULL};
    bool has_article = str_is_one_of(t->words.v[i].text, articles) && is_next(t, i, ' ');
    bool is_behind = i && str_is_one_of(t->words.v[i - 1].text, before) && is_next(t, i - 1, ' ') &&
                     !(i > 1 && str_is_one_of(t->words.v[i - 2].text, sorts)) &&
                     !str_ends(t->words.v[i].text, S("ing"));
    size_t from = has_article ? i + 1 : i;
    if (!has_article && !is_behind)
        return NULL;
    *end = thing_end(t, from);
    str last = *end > from ? t->words.v[*end - 1].text : S("");
    if (*end == from)
        return NULL;
    return str_ends(last, S("s")) && !str_ends(last, S("ss")) ? "them" : "it";
}

struct follow_up follow_up_of(struct arena *a, str question, str before,
                              const struct person people[2])
{
    struct text t = {question, words_of(a, question, WORDS_MAX), words_of(a, before, WORDS_MAX),
                     people};
    struct follow_up out = {0};
    struct buf b = buf_make(a, QUESTION_MAX);
    size_t copied = 0, end = 0;
    for (size_t i = 0; i < t.words.n; i++) {
        const char *person = person_as(&t, i, &end);
        const char *thing = person ? NULL : thing_as(&t, i, &end);
        if (!person && !thing)
            continue;
        buf_add(&b, str_sub(question, copied, t.words.v[i].at));
        buf_add(&b, str_of(person ? person : thing));
        copied = end_of(&t.words.v[end - 1]);
        i = end - 1;
        out.persons += person != NULL;
        out.things += thing != NULL;
    }
    buf_add(&b, str_sub(question, copied, question.n));
    out.question = buf_str(&b);
    return out;
}

/* How the others speak of the two: by the questions that name only one of them. */
static void know_people(struct arena *a, const struct exam *c, struct person people[2])
{
    static const char *const hers[] = {"she", "her", "hers", NULL}, *const his[] = {"he", "him",
                                                                                    "his", NULL};
    int she[2] = {0}, who;
    for (size_t q = 0; q < c->n_questions; q++) {
        str text = c->questions[q].text;
        bool named[2];
        for (int p = 0; p < 2; p++)
            named[p] = str_find(text, c->speakers[p]) < text.n;
        who = named[1];
        struct words w = words_of(a, text, WORDS_MAX);
        for (size_t i = 0; i < w.n && named[0] != named[1]; i++)
            she[who] += str_is_one_of(w.v[i].text, hers) - str_is_one_of(w.v[i].text, his);
    }
    for (int p = 0; p < 2; p++)
        people[p] = (struct person){c->speakers[p], she[p] > 0};
}

/* --- asking --- */

/* What a chat would be given from a pool. */
static enum status speak_question(struct follow *f, str space, str text,
                                  const struct exam_question *q, int64_t asked, bool *spoke,
                                  bool *told)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(f->ctx, 0);
    const struct recall_in in = {.pool = {S("eval"), space},
                                 .question = text,
                                 .asked = asked,
                                 .gate = true,
                                 .only.turns = true};
    struct recall_out found;
    TRY(ctx_pass(f->ctx, &ctx, engine_recall(&ctx, f->e, &in, &found)));
    *spoke = *told = false;
    for (size_t i = 0; i < found.n; i++) {
        *spoke |= found.v[i].state == LINE_INJECTED;
        *told |=
            found.v[i].state == LINE_INJECTED && strs_have(&q->evidence, found.v[i].message.ref);
    }
    return OK;
}

static enum status search_text(struct follow *f, const struct exam *c,
                               const struct exam_question *q, str text, struct sum *sum)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(f->ctx, 0);
    const struct recall_in in = {.pool = {S("eval"), c->id},
                                 .question = text,
                                 .asked = c->until,
                                 .limit = AT,
                                 .budget_tokens = -1,
                                 .only.turns = true};
    struct recall_out found;
    size_t hits = 0;
    bool spoke, told, is_wrong = false;
    TRY(ctx_pass(f->ctx, &ctx, engine_recall(&ctx, f->e, &in, &found)));
    for (size_t i = 0; i < found.n; i++)
        hits += strs_have(&q->evidence, found.v[i].message.ref);
    TRY(speak_question(f, c->id, text, q, c->until, &spoke, &told));
    const struct exam *other = &f->conversations[((size_t)(c - f->conversations) + 1) % f->n];
    if (other != c)
        TRY(speak_question(f, other->id, text, q, other->until, &is_wrong, &spoke));
    sum->any += hits > 0;
    sum->frac += (double)hits / (double)q->evidence.n;
    sum->told += told;
    sum->foreign += is_wrong;
    return OK;
}

static str as_chat(struct follow *f, struct arena *a, const struct exam_question *before,
                   str question, double *rewritten)
{
    CLEANUP(ctx_free) struct ctx ctx = ctx_child(f->ctx, 0);
    const struct said said[] = {{.role = S("user"), .text = before->text},
                                {.role = S("assistant"), .text = before->answer}};
    const struct rewrite_in in = {.question = question, .before = said, .n = 2};
    struct rewritten out;
    engine_rewrite(&ctx, f->e, &in, &out);
    *rewritten += !str_is(out.how, "none");
    return str_dup(a, out.search);
}

static enum status ask_pair(struct follow *f, const struct exam *c, const struct person people[2],
                            const struct exam_question *before, const struct exam_question *q,
                            struct pairs *sum)
{
    struct arena *a = &f->ctx->arena;
    struct pairs one = {.n = 1};
    str said = str_printf(a, S_FMT "\n" S_FMT, S_ARG(before->text), S_ARG(before->answer));
    struct follow_up follow = follow_up_of(a, q->text, said, people);
    if (!follow.persons && !follow.things)
        return OK;
    const str texts[WAY_COUNT] = {
        [WAY_RAW] = follow.question,
        [WAY_BEFORE] = str_printf(a, S_FMT "\n" S_FMT, S_ARG(before->text), S_ARG(follow.question)),
        [WAY_NOW] = as_chat(f, a, before, follow.question, &one.rewritten),
        [WAY_ORIGINAL] = q->text,
        [WAY_ALONE] = as_chat(f, a, before, q->text, &one.alone_rewritten),
    };
    for (int way = 0; way < WAY_COUNT; way++)
        TRY(search_text(f, c, q, texts[way], &one.by[way]));
    eval_add(sum, &one, sizeof one);
    if (follow.things)
        eval_add(&f->things, &one, sizeof one);
    return OK;
}

/* --- pairs --- */

static str session_of(const struct exam_question *q)
{
    str ref = q->evidence.v[0];
    return str_cut(&ref, ':');
}

/* What was asked last about the same session; not what has no answer there. */
static const struct exam_question *question_before(const struct exam *c, size_t at)
{
    const struct exam_question *asked = &c->questions[at];
    for (size_t i = at; i-- > 0;) {
        const struct exam_question *q = &c->questions[i];
        if (q->category == ADVERSARIAL || !str_eq(session_of(q), session_of(asked)))
            continue;
        /* The first question would find all that answers the second. */
        return EVERY(k, asked->evidence.n, strs_have(&q->evidence, asked->evidence.v[k])) ? NULL
                                                                                          : q;
    }
    return NULL;
}

/* --- the report --- */

static void write_pairs(struct buf *b, str name, const struct pairs *p)
{
    buf_printf(b, S_FMT ": %lld follow-ups, %lld rewritten; %lld of the originals\n", S_ARG(name),
               (long long)p->n, (long long)p->rewritten, (long long)p->alone_rewritten);
    for (int way = 0; way < WAY_COUNT; way++)
        buf_printf(b, "  %-9s any@10 %5.1f  frac@10 %5.1f  added %5.1f  off-topic %5.1f  (%s)\n",
                   ways[way].name, eval_percent(p->by[way].any, p->n),
                   eval_percent(p->by[way].frac, p->n), eval_percent(p->by[way].told, p->n),
                   eval_percent(p->by[way].foreign, p->n), ways[way].help);
}

static void put_pairs(struct json_out *w, const char *name, const struct pairs *p)
{
    json_member_open(w, name, '{');
    json_member_int(w, "n", (int64_t)p->n);
    json_member_num(w, "rewritten", eval_percent(p->rewritten, p->n));
    json_member_num(w, "alone_rewritten", eval_percent(p->alone_rewritten, p->n));
    for (int way = 0; way < WAY_COUNT; way++) {
        json_member_open(w, ways[way].name, '{');
        json_member_num(w, "any@10", eval_percent(p->by[way].any, p->n));
        json_member_num(w, "frac@10", eval_percent(p->by[way].frac, p->n));
        json_member_num(w, "told", eval_percent(p->by[way].told, p->n));
        json_member_num(w, "foreign", eval_percent(p->by[way].foreign, p->n));
        json_close(w, '}');
    }
    json_close(w, '}');
}

static void write_report(struct follow *f, bool as_json, struct buf *out)
{
    const struct exam *all = f->conversations;
    struct json_out w = json_to(out);
    for (size_t c = 0; c < f->n && !as_json; c++)
        write_pairs(out, all[c].id, &f->each[c]);
    if (!as_json) {
        write_pairs(out, S("things"), &f->things);
        write_pairs(out, S("all"), &f->all);
        return;
    }
    json_open(&w, '{');
    put_pairs(&w, "overall", &f->all);
    put_pairs(&w, "things", &f->things);
    for (size_t c = 0; c < f->n; c++)
        put_pairs(&w, str_c(&f->ctx->arena, all[c].id), &f->each[c]);
    json_close(&w, '}');
    buf_byte(out, '\n');
}

enum status eval_follow_ups(struct ctx *ctx, struct engine *e, const struct exam *all, size_t n,
                            bool as_json, struct buf *out)
{
    struct follow f = {.ctx = ctx,
                       .e = e,
                       .each = NEW_N(&ctx->arena, struct pairs, n + 1),
                       .conversations = all,
                       .n = n};
    for (size_t c = 0; c < n; c++) {
        struct person people[2];
        know_people(&ctx->arena, &all[c], people);
        for (size_t i = 0; i < all[c].n_questions; i++) {
            const struct exam_question *before = question_before(&all[c], i);
            if (before)
                TRY(ask_pair(&f, &all[c], people, before, &all[c].questions[i], &f.each[c]));
        }
        eval_add(&f.all, &f.each[c], sizeof f.all);
    }
    write_report(&f, as_json, out);
    return OK;
}
