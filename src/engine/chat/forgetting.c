/* forgetting.c - does what a user asks to forget, and keeps the request from being found. */
#include "engine/chat/forgetting.h"

#include "base/log.h"
#include "core/tokens.h"
#include "engine/recall/barring.h"
#include "engine/text/block_strip.h"
#include "engine/text/sentences.h"

/*
 * It happens before anything is recalled, so that the model is not given what it is told to forget,
 * and is on the disk before the model answers. Memories that state it are erased, and the sentences
 * that do are barred, as when a memory is deleted by any API. The request would state it again:
 * it stays in its conversation, and is not found, nor are the answers' words about it.
 *
 * The model is told what was done, since it would say "I have forgotten it" in any case.
 */

enum { REQUESTS_MAX = 8, LOOKED_AT = 40 };

/* A failure must be told, too: the user would take it for done. */
static str note_of(struct ctx *ctx, enum status s, const struct asked_done *done)
{
    if (s != OK) {
        log_event(LOG_WARN, "forget.failed", "id=%s status=%s why=\"%s\"", ctx->id, status_name(s),
                  ctx->why);
        soft(ctx, s);
        return S("Asked to forget something. That failed, at least in part. It can be asked for "
                 "again.");
    }
    if (!done->sentences && !done->memories)
        return S("Asked to forget something. Nothing was found that says it in these words, so "
                 "nothing was forgotten. Memory Studio and `rememberd list` show what is kept.");
    return str_printf(&ctx->arena,
                      "Asked to forget something. Done: %lld sentence%s of earlier messages will "
                      "not be given again in this space, and %lld noted memor%s erased.",
                      (long long)done->sentences, done->sentences == 1 ? "" : "s",
                      (long long)done->memories, done->memories == 1 ? "y was" : "ies were");
}

void forgetting_do(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct forgetting *f)
{
    struct asked_done done;
    f->done = S("");
    if (f->asked.kind == FORGET_EVERYTHING)
        f->done = S("Asked to forget everything. That was not done, as one sentence may be a "
                    "mistake. Memory Studio does it, and `rememberd forget --everything`.");
    if (f->asked.kind == FORGET_UNCLEAR)
        f->done = S("Perhaps asked to forget something. It was not clear what, so nothing was "
                    "forgotten. One statement can be (\"forget that I live in Leeds\"), or a name "
                    "(\"forget everything I said about Tom\").");
    if (!forgets_this(&f->asked))
        return;
    enum status s = bar_asked(ctx, e, pool, &f->asked, &done);
    f->done = note_of(ctx, s, &done);
}

str forgetting_block(struct arena *a, const struct forgetting *f, str block, int64_t budget_tokens)
{
    const str end = S(BLOCK_CLOSING), begin = S(BLOCK_OPENING);
    if (!f->done.n || (block.n && !str_ends(block, end)))
        return block;
    str front = block.n ? str_sub(block, 0, block.n - end.n) : begin;
    str whole = str_printf(a, S_FMT "- " S_FMT "\n" BLOCK_CLOSING, S_ARG(front), S_ARG(f->done));
    return tokens_of(whole) <= budget_tokens ? whole : block;
}

/* --- what is kept --- */

/* Without the sentences that say it; of an answer, without those that mention it. */
static str left_of(struct arena *a, const struct forgotten *f, str text, bool is_answer)
{
    struct sentence one;
    struct buf left = buf_make(a, text.n + 1);
    for (str rest = text; sentence_cut(&rest, &one);) {
        struct term_set telling = telling_of(a, one.text);
        bool goes = is_answer ? stating_of(&f->what, &telling) != STATES_NOTHING
                              : forgotten_says(f, a, one.text, false);
        if (!goes)
            buf_add(&left, one.text);
    }
    return left.n == text.n ? text : str_trim(buf_str(&left));
}

static void leave_out(struct arena *a, const struct forgotten *f, struct message *m)
{
    str text = m->is_echo ? m->says : m->text;
    str left = left_of(a, f, text, !str_is(m->role, "user"));
    if (left.n == text.n)
        return;
    m->says = left;
    m->is_echo = true;
}

/* Most messages are none: the words are looked for before the phrases are. */
static bool may_request(str text)
{
    static const char *const stems[] = {"orget",   "elete",  "rase",  "emove",   "lear",  "emory",
                                        "ergiss",  "ergess", "ublie", "lvid",    "squec", "squeç",
                                        "imentic", "ipe",    "mpty",  "emember", "ton't", NULL};
    for (const char *const *s = stems; *s && text.n <= 1000; s++)
        if (str_find(text, str_of(*s)) < text.n)
            return true;
    return false;
}

static bool requests(struct arena *a, str role, str text, struct forgotten *out)
{
    if (!str_is(role, "user") || !may_request(text))
        return false;
    struct forget_request r = forget_request_of(a, engine_strip_block(a, text));
    if (forgets_this(&r))
        *out = forgotten_of(a, r.what, r.kind);
    return forgets_this(&r);
}

void forgetting_leave(struct arena *a, const struct said *said, size_t n_said, struct message *v,
                      size_t n)
{
    struct forgotten f;
    for (size_t i = n; i-- > 0;)
        if (requests(a, v[i].role, v[i].text, &f)) {
            v[i].is_echo = true;
            v[i].says = S("");
            for (size_t k = 0; k < i; k++)
                leave_out(a, &f, &v[k]);
        }
    size_t found = 0, from = n_said > LOOKED_AT ? n_said - LOOKED_AT : 0;
    for (size_t i = n_said; i-- > from && found < REQUESTS_MAX;)
        if (requests(a, said[i].role, said[i].text, &f)) {
            found++;
            for (size_t k = 0; k < n; k++)
                if (!str_is(v[k].role, "user"))
                    leave_out(a, &f, &v[k]);
        }
}
