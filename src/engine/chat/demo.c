/* demo.c - answers of the built-in model: the recalled lines, and the user's earlier words. */
#include "base/log.h"
#include "base/utf8.h"
#include "engine/chat/turn.h"
#include "engine/recall/quotable.h"
#include "engine/recall/supersession.h"
#include "engine/text/block_strip.h"
#include "engine/text/lexicon.h"
#include "engine/text/utterance.h"
#include "llm/llm.h"

/* Lets a new user see memory work before any model server is set up. It is no language model: it
 * quotes lines and never invents one. */

enum { LINE_MAX_BYTES = 300, LINE_WORDS_MAX = 200 };

static bool share_a_word(struct words a, struct words b)
{
    return SOME(i, a.n, !a.v[i].is_stop && words_have_stem(&b, a.v[i].stem));
}

/* Whether a statement is remembered, or why not, as a sentence; "" for a question. */
static str noted_of(struct arena *a, str question, const struct turn_out *turn)
{
    const struct message said = {.role = S("user"), .text = question};
    if (str_find(question, S("?")) < question.n || turn->forgot.n || !quotable_of(a, &said).text.n)
        return turn->forgot;
    if (turn->helper.n || (turn->mode != MODE_FULL && turn->mode != MODE_AFTER))
        return S("I will not keep this: memory is off for this chat.");
    return turn->unkept.n ? str_printf(a, "I could not keep this: " S_FMT ".", S_ARG(turn->unkept))
                          : S("Noted, I will have it in mind for later conversations.");
}

/* Lines of the block were recalled for this question; earlier messages have to share a word. */
str engine_demo_answer(struct ctx *ctx, str question, const struct turn_out *turn,
                       const struct message *window, size_t n_window)
{
    struct arena *a = &ctx->arena;
    struct strs known = block_texts(a, turn->block);
    struct demo_line *lines = NEW_N(a, struct demo_line, known.n + n_window + 1);
    size_t n = 0;
    struct words asked = words_of(a, question, LINE_WORDS_MAX);
    for (size_t i = 0; i < n_window; i++) {
        str line = utf8_cut(str_trim(window[i].text), LINE_MAX_BYTES);
        if (str_is(window[i].role, "user") && utterance_statements(a, line, true).n &&
            share_a_word(asked, words_of(a, line, LINE_WORDS_MAX)))
            lines[n++] = (struct demo_line){line, false};
    }
    for (size_t i = 0; i < known.n; i++) {
        bool is_old = str_starts(known.v[i], S(OUTDATED_MARK)); /* it is given with this mark */
        str line = str_sub(known.v[i], is_old ? strlen(OUTDATED_MARK) : 0, known.v[i].n);
        if (!str_ends(line, S("?")) || utterance_statements(a, line, true).n)
            lines[n++] = (struct demo_line){line, is_old};
    }
    return llm_demo_answer(a, question, lines, n, noted_of(a, question, turn));
}

/* The answer is kept with the turn, so it is made before one knows whether that goes well. */
enum status engine_answer_demo(struct ctx *ctx, struct engine *e, struct turn *t, str question,
                               str *answer)
{
    question = engine_strip_block(&ctx->arena, question);
    *answer = engine_demo_answer(ctx, question, &t->out, t->in.window, t->in.n_window);
    ctx_clear_failure(ctx);
    bool says_so = noted_of(&ctx->arena, question, &t->out).n;
    enum status s = (says_so ? turn_end_now : engine_end_turn)(ctx, e, t, *answer);
    TRY(t->in.is_durable ? s : OK);
    if (s != OK) {
        log_event(LOG_WARN, "turn.lost", "id=%s why=\"%s\"", ctx->id, ctx->why);
        t->out.unkept = ctx_take_why(ctx);
    }
    if (t->out.unkept.n)
        *answer = engine_demo_answer(ctx, question, &t->out, t->in.window, t->in.n_window);
    return OK;
}
