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
 * it stays in its conversation, and is not found, nor are the answer's words about it.
 *
 * The model is told what was done, since it would say "I have forgotten it" in any case.
 */

/* A failure must be told, too: the user would take it for done. */
static str note_of(struct ctx *ctx, enum status s, bool has_some)
{
    if (s != OK) {
        log_event(LOG_WARN, "forget.failed", "id=%s status=%s why=\"%s\"", ctx->id, status_name(s),
                  ctx->why);
        soft(ctx, s);
        return S("Asked to forget something. That failed, and nothing was forgotten. It can be "
                 "asked for again.");
    }
    return has_some ? S("Asked to forget something. Done: no chat will be given it again.")
                    : S("Asked to forget something. Nothing was found that says it in these words, "
                        "so nothing was forgotten. Memory Studio and `rememberd list` show what is "
                        "kept.");
}

void forgetting_do(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct forgetting *f)
{
    bool has_some = false;
    f->done = S("");
    if (f->asked.kind == FORGET_EVERYTHING)
        f->done = S("Asked to forget everything. That was not done, as one sentence may be a "
                    "mistake. Memory Studio does it, and `rememberd forget --everything`.");
    if (f->asked.kind != FORGET_THIS)
        return;
    enum status s = forget_stated(ctx, e, pool, f->asked.what, &has_some);
    f->done = note_of(ctx, s, has_some);
}

str forgetting_block(struct arena *a, const struct forgetting *f, int64_t budget_tokens)
{
    str block = str_printf(a, BLOCK_OPENING "- " S_FMT "\n" BLOCK_CLOSING, S_ARG(f->done));
    return tokens_of(block) <= budget_tokens ? block : S("");
}

bool forgetting_asks(const struct forgetting *f, uint64_t last, const struct message *m)
{
    return f->asked.kind == FORGET_THIS && last && m->chain == last && str_is(m->role, "user");
}

/* Without the sentences that mention it. */
static str without_forgotten(struct arena *a, const struct statement *s, str text)
{
    struct sentence one;
    struct buf left = buf_make(a, text.n + 1);
    for (str rest = text; sentence_cut(&rest, &one);) {
        struct term_set telling = telling_of(a, one.text);
        if (stating_of(s, &telling) == STATES_NOTHING)
            buf_add(&left, one.text);
    }
    return str_trim(buf_str(&left));
}

void forgetting_leave(struct arena *a, const struct forgetting *f, uint64_t last, struct message *v,
                      size_t n)
{
    size_t at = 0;
    struct statement s = statement_of(a, f->asked.what);
    if (f->asked.kind != FORGET_THIS)
        return;
    while (at < n && !forgetting_asks(f, last, &v[at]))
        at++;
    /* After a tool's answer it may be kept already: then all of these come after it. */
    for (size_t i = at < n ? at : 0; i < n; i++) {
        str text = v[i].is_echo ? v[i].says : v[i].text;
        v[i].says = i == at ? f->asked.rest : without_forgotten(a, &s, text);
        v[i].is_echo = true;
    }
}
