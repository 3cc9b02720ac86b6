/* helper_prompt.c - requests that are the front end's own and not its user's. */
#include "engine/text/helper_prompt.h"

#include "base/utf8.h"
#include "engine/text/lexicon.h"
#include "engine/text/phrases.h"
#include "lang/helper_prompt_lists.h"

/*
 * Nobody said these prompts, so they must neither be recalled for nor remembered. The templates of
 * known programs are recognized before (surface/common/helper_calls.c). The error to avoid is the
 * other one, a user's message taken for a program's: "I" outside the conversation lets it pass.
 */

/* Bytes that are looked at: templates are long, and a long system prompt is an application's. */
enum { ORDER_MAX = 1500, SYSTEM_MAX = 1000, OPENING_MAX = 400, LABEL_MAX = 24 };

/* --- a conversation inside the prompt --- */

enum party { NOBODY, USER_SIDE, MODEL_SIDE };

/* Whose line it is: "USER: …", "[assistant] …", "**Human**: …", "- ai: …", {"role": "user", …}. */
static enum party party_of(struct arena *a, str line)
{
    line = str_trim(line);
    while (line.n && char_is_one_of(line.p[0], "-*[(<{\"'# >0123456789."))
        line = str_sub(line, 1, line.n);
    if (str_starts(line, S("role\"")))
        (void)str_cut(&line, ':');
    line = str_trim(line);
    while (line.n && char_is_one_of(line.p[0], "\"' "))
        line = str_sub(line, 1, line.n);
    size_t end = 0;
    while (end < line.n && end < LABEL_MAX && !char_is_one_of(line.p[end], ":]>)*\"'"))
        end++;
    bool is_label = end < line.n && end < LABEL_MAX;
    str label = is_label ? utf8_lower(a, str_trim(str_sub(line, 0, end))) : S("");
    return str_is_one_of(label, user_labels)    ? USER_SIDE
           : str_is_one_of(label, model_labels) ? MODEL_SIDE
                                                : NOBODY;
}

struct dialogue {
    bool has_user, has_model;
    size_t from; /* where its first line begins; the prompt's length without one */
};

/* Who speaks in lines of the prompt, and where they begin. */
static struct dialogue dialogue_in(struct arena *a, str text)
{
    struct dialogue d = {.from = text.n};
    for (str rest = text; rest.n;) {
        str line = str_cut(&rest, '\n');
        enum party who = party_of(a, line);
        if (who && d.from == text.n)
            d.from = (size_t)(line.p - text.p);
        d.has_user |= who == USER_SIDE;
        d.has_model |= who == MODEL_SIDE;
    }
    return d;
}

/* --- an order without anybody in it --- */

/* A program has no "I" and no "my"; a person who asks nearly always has. */
static bool has_self(const struct phrase_words *w)
{
    return SOME(i, w->n, lexicon_is(w->v[i].text, LEX_SELF | LEX_SELF_TOO));
}

/* At most ORDER_MAX bytes around the dialogue are folded. */
bool is_helper_prompt(struct arena *a, str system, str user)
{
    user = str_trim(user);
    system = system.n <= SYSTEM_MAX ? str_trim(system) : S("");
    struct dialogue d = dialogue_in(a, user);
    str own = str_sub(user, 0, d.from);
    str order = str_printf(a, S_FMT "\n" S_FMT, S_ARG(system), S_ARG(utf8_cut(own, ORDER_MAX)));
    str openings[] = {utf8_cut(system, OPENING_MAX), utf8_cut(user, OPENING_MAX)};
    bool has_history = str_find(user, S("<chat_history>")) < user.n;
    /* "Write a concise title of at most 5 words for this conversation": no conversation inside, as
     * it is in the messages before or is the user's message itself. */
    for (size_t i = 0; i < 2; i++) {
        struct phrase_words opening = phrase_words_of(a, phrase_fold(a, openings[i]));
        if (phrase_find_any(&opening, title_orders) && phrase_find_any(&opening, title_limits) &&
            !has_self(&opening))
            return true;
    }
    struct phrase_words w = phrase_words_of(a, phrase_fold(a, order));
    if (d.has_user && (d.has_model || has_history))
        return w.n > 1 && !has_self(&w) &&
               (phrase_find_any(&w, form_demands) || phrase_find_any(&w, helper_products));
    /* The text behind the last colon has an "I" that is the user's. */
    size_t behind = str_behind_last(order, ':');
    order.n = behind ? behind - 1 : order.n;
    w = phrase_words_of(a, phrase_fold(a, order));
    return !has_self(&w) && phrase_find_any(&w, unfinished_texts) &&
           phrase_find_any(&w, finish_orders) && phrase_find_any(&w, form_demands);
}
