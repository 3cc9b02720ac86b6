/* tombstone_writer.c - Writes tombstones of what is forgotten, in the messages that state it. */
#include "engine/recall/tombstone_writer.h"

#include "base/clock.h"
#include "core/session_title.h"
#include "engine/text/lexicon.h"
#include "engine/text/sentences.h"
#include "words/words.h"

/*
 * A statement is barred as such, so that it is found in messages that come later and are older. The
 * messages that hold it now are looked for at once: the one a memory came from, others that say the
 * same, and the assistant's answers to these, which repeat it in words of their own. All tombstones
 * are one write, and titles made of barred messages are made again. Superseding (a new value under
 * the same key) bars only as history: nothing is hidden from a question about the past, and titles
 * stay.
 *
 * SEARCHED bounds the work of forgetting thousands at once: beyond it no other messages are
 * searched, and the barred statements hide what those say.
 */

/* Memories for which others' messages are searched; documents of a search, and those read of them;
 * messages behind one that are looked at for echoes; titles are of one of the first messages. */
enum { SEARCHED = 200, HITS_MAX = 5000, READ_MAX = 60, ECHOES = 200, TITLE_AMONG = 20 };

/* A message with the sentences of it that are barred. */
struct target {
    struct message message;
    struct term_set sentences;
};

struct finding {
    struct ctx *ctx;
    struct engine *e;
    const struct barring_in *in;
    int64_t now;
    struct bar *tombstones;
    size_t n_bars, bars_cap;
    struct target *v;
    size_t n, cap;
};

/* --- tombstones --- */

static void add_bar(struct finding *f, struct bar bar)
{
    bar.reason = f->in->reason;
    bar.at = f->now;
    ARENA_ADD(&f->ctx->arena, f->tombstones, f->n_bars, f->bars_cap) = bar;
}

/* The row's format: the number of particular terms, these, then all terms (barred_of reads it). */
static void add_statement(struct finding *f, const struct statement *s)
{
    size_t particular = s->particular.n, n = 1 + particular + s->terms.n;
    uint64_t *terms = NEW_N(&f->ctx->arena, uint64_t, n);
    if (!s->terms.n)
        return;
    terms[0] = particular;
    memcpy(terms + 1, s->particular.v, particular * sizeof *terms);
    memcpy(terms + 1 + particular, s->terms.v, s->terms.n * sizeof *terms);
    add_bar(f, (struct bar){.kind = BAR_STATEMENT, .terms = terms, .n = n});
}

/* --- messages --- */

/* Of an echo only what was new in it. */
static str text_of(const struct message *m)
{
    return m->is_echo ? m->says : m->text;
}

/* One target for each message, however many statements it holds. */
static struct target *target_of(struct finding *f, const struct message *m)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].message.doc == m->doc)
            return &f->v[i];
    struct arena *a = &f->ctx->arena;
    ARENA_ADD(a, f->v, f->n, f->cap) = (struct target){.message = message_copy(a, m)};
    return &f->v[f->n - 1];
}

/* Bars the sentences that say at least so much of it; how many. is_source: the memory came from
 * this message, whomever it names. */
static size_t bar_sentences(struct finding *f, const struct message *m, const struct statement *s,
                            enum stating least, bool is_source)
{
    struct arena *a = &f->ctx->arena;
    struct sentence one;
    struct target *t = NULL;
    size_t n = 0;
    for (str rest = text_of(m); sentence_cut(&rest, &one);) {
        struct statement telling = statement_of(a, one.text);
        uint64_t hash = sentence_hash(a, one.text);
        if (!hash || stating_of(s, &telling) < least ||
            (!is_source && is_of_another(s, a, one.text)))
            continue;
        t = target_of(f, m);
        terms_add(a, &t->sentences, hash);
        n++;
    }
    if (t)
        terms_sort(&t->sentences);
    return n;
}

/* Whether every sentence of it is barred by now. */
static bool is_whole(struct finding *f, const struct message *m)
{
    struct sentence one;
    const struct target *t = target_of(f, m);
    for (str rest = text_of(m); sentence_cut(&rest, &one);) {
        uint64_t hash = sentence_hash(&f->ctx->arena, one.text);
        if (hash && !terms_have(&t->sentences, hash))
            return false;
    }
    return true;
}

static void bar_whole(struct finding *f, const struct message *m)
{
    static const struct statement anything;
    (void)bar_sentences(f, m, &anything, STATES_NOTHING, true);
}

/* An answer to a message of which nothing is left is about nothing else. In other answers of the
 * session the sentences that mention it repeat it. */
static enum status bar_echoes(struct finding *f, const struct message *m, const struct statement *s)
{
    struct message *v;
    size_t n = 0;
    bool is_answer = str_is(m->role, "user") && is_whole(f, m);
    enum status found = store_session_messages(f->ctx, f->e->store, f->in->pool, m->session,
                                               doc_position(m->doc) + 1, ECHOES, &v, &n);
    TRY(soft_or(f->ctx, found, NOT_FOUND));
    for (size_t i = 0; i < n; i++) {
        if (str_is(v[i].role, "user"))
            is_answer = false;
        else if (is_answer)
            bar_whole(f, &v[i]);
        else
            (void)bar_sentences(f, &v[i], s, MENTIONS, true);
    }
    return OK;
}

/* --- others that say the same --- */

/* The low four bits count occurrences in the text. */
static int words_held(const struct word_hit *hit)
{
    int n = 0;
    for (size_t w = 0; w < QUERY_WORDS_MAX; w++)
        n += (hit->counts[w] & 15) > 0;
    return n;
}

/* Of equals the newest first. */
ORDER(most_words_first, struct word_hit, words_held(y) - words_held(x) ?: DOWN(doc));

static size_t stems_of(struct arena *a, str text, str *out)
{
    struct words w = words_of(a, text, 256);
    size_t n = 0;
    for (size_t i = 0; i < w.n && n < QUERY_WORDS_MAX; i++) {
        bool is_telling = !w.v[i].is_stop && !lexicon_is(w.v[i].text, LEX_USER | LEX_STRESS);
        if (is_telling && !SOME(k, n, str_eq(out[k], w.v[i].stem)))
            out[n++] = w.v[i].stem;
    }
    return n;
}

/* Only sentences that state it are barred here; those that mention it stay. */
static enum status bar_others(struct finding *f, const struct memory *m, const struct statement *s)
{
    str stems[QUERY_WORDS_MAX];
    struct word_hits hits = {0};
    doc_id docs[READ_MAX];
    struct message v[READ_MAX];
    size_t n = 0, asked = stems_of(&f->ctx->arena, m->content, stems);
    if (!asked)
        return OK;
    TRY(store_search_words(f->ctx, f->e->store, f->in->pool, stems, asked, false, HITS_MAX, &hits));
    SORT(hits.v, hits.n, most_words_first);
    for (size_t i = 0; i < hits.n && n < READ_MAX; i++)
        if (!doc_is_memory(hits.v[i].doc))
            docs[n++] = hits.v[i].doc;
    TRY(store_messages(f->ctx, f->e->store, f->in->pool, docs, n, v));
    for (size_t i = 0; i < n; i++)
        if (v[i].id.n && bar_sentences(f, &v[i], s, STATES, false))
            TRY(bar_echoes(f, &v[i], s));
    return OK;
}

/* A source that is gone is no failure: the memory may be an import or its conversation erased. A
 * memory in a model's own words may share none with its source, which then says nothing else. */
static enum status bar_memory(struct finding *f, const struct memory *m, bool searches)
{
    struct message source = {0};
    struct statement s = statement_of(&f->ctx->arena, m->content);
    add_statement(f, &s);
    enum status found = m->source.n
                            ? store_message(f->ctx, f->e->store, f->in->pool, m->source, &source)
                            : NOT_FOUND;
    TRY(soft_or(f->ctx, found, NOT_FOUND));
    if (found == OK) {
        if (!bar_sentences(f, &source, &s, STATES, true) &&
            !bar_sentences(f, &source, &s, MENTIONS, true))
            bar_whole(f, &source);
        TRY(bar_echoes(f, &source, &s));
    }
    return searches ? bar_others(f, m, &s) : OK;
}

/* --- titles --- */

/* The first line of what is left of what the user said. */
static str title_left(struct finding *f, const struct tombstones *tombstones,
                      const struct message *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        str left = tombstones_left(tombstones, &f->ctx->arena, &v[i]);
        bool is_erased = f->in->erased && f->in->erased->doc == v[i].doc;
        if (str_is(v[i].role, "user") && left.n && !is_erased)
            return session_title(left);
    }
    return S("");
}

/* A title that was made of a barred message shows it. One that someone has chosen stays. */
static enum status change_title(struct finding *f, const struct tombstones *tombstones,
                                const struct target *t)
{
    struct session session = {0};
    struct message *v;
    size_t n = 0;
    const str id = t->message.session;
    if (!str_is(t->message.role, "user"))
        return OK;
    TRY(soft_or(f->ctx, store_session(f->ctx, f->e->store, f->in->pool, id, &session), NOT_FOUND));
    if (!is_title_of(session.title, t->message.text))
        return OK;
    TRY(store_session_messages(f->ctx, f->e->store, f->in->pool, id, 0, TITLE_AMONG, &v, &n));
    const struct session_change to = {.sets_title = true,
                                      .title = title_left(f, tombstones, v, n),
                                      .undo = f->in->undo};
    enum status found = store_change_session(f->ctx, f->e->store, f->in->pool, id, &to, &session);
    return soft_or(f->ctx, found, NOT_FOUND);
}

/* With the new bars in force, so that no title is made of what they cut. */
static enum status change_titles(struct finding *f)
{
    struct tombstones tombstones;
    if (!f->n)
        return OK;
    TRY(tombstones_load(f->ctx, f->e, f->in->pool, &tombstones));
    for (size_t i = 0; i < f->n; i++)
        TRY(change_title(f, &tombstones, &f->v[i]));
    return OK;
}

/* --- the whole of it --- */

static enum status write_bars(struct finding *f, int64_t *barred)
{
    str *messages = NEW_N(&f->ctx->arena, str, f->n + 1);
    str *sessions = NEW_N(&f->ctx->arena, str, f->n + 1);
    struct barring b = {.pool = f->in->pool,
                        .messages = messages,
                        .sessions = sessions,
                        .undo = f->in->undo};
    *barred = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct target *t = &f->v[i];
        *barred += (int64_t)t->sentences.n;
        add_bar(f, (struct bar){.kind = BAR_SENTENCES,
                                .message = tombstones_message(t->message.id),
                                .terms = t->sentences.v,
                                .n = t->sentences.n});
        if (f->in->reason == BAR_SUPERSEDED)
            continue;
        messages[b.n_messages++] = t->message.id;
        if (!SOME(k, b.n_sessions, str_eq(sessions[k], t->message.session)))
            sessions[b.n_sessions++] = t->message.session;
    }
    assert(b.n_messages <= f->n && b.n_sessions <= b.n_messages);
    b.bars = f->tombstones;
    b.n = f->n_bars;
    if (b.n)
        TRY(store_bar(f->ctx, f->e->store, &b));
    return f->in->reason == BAR_SUPERSEDED ? OK : change_titles(f);
}

/* Forgetting calls this before it erases: when erasing then fails, nothing is given that should be
 * gone, and the call may be repeated. *barred counts sentences. */
enum status bar_statements(struct ctx *ctx, struct engine *e, const struct barring_in *in,
                           int64_t *barred)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct finding f = {.ctx = &own, .e = e, .in = in, .now = in->at ? in->at : clock_ms()};
    int64_t n = 0;
    enum status s = OK;
    for (size_t i = 0; i < in->n && s == OK; i++)
        s = bar_memory(&f, &in->memories[i], in->n <= SEARCHED);
    if (s == OK && in->erased) { /* its own sentences, and what answers made of them */
        struct statement says = statement_of(&own.arena, text_of(in->erased));
        bar_whole(&f, in->erased);
        s = bar_echoes(&f, in->erased, &says);
    }
    if (s == OK)
        s = write_bars(&f, &n);
    if (barred)
        *barred = n;
    return ctx_pass(ctx, &own, s);
}

enum status bar_superseded(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           const struct memory *old, const struct memory *by)
{
    const struct barring_in in = {
        .pool = pool, .reason = BAR_SUPERSEDED, .at = by->updated, .memories = old, .n = 1};
    if (!old->id.n || str_eq(old->content, by->content))
        return OK;
    return bar_statements(ctx, e, &in, NULL);
}

/* One bar for all that was said until now, instead of one for each statement. */
enum status bar_everything(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    const struct bar all = {.kind = BAR_ALL, .reason = BAR_CLEARED, .at = clock_ms()};
    const struct barring b = {.pool = pool, .bars = &all, .n = 1};
    return store_bar(ctx, e->store, &b);
}
