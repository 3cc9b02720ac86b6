/* turn_secrets.c - the secrets of a conversation, masked in all that is kept of a turn. */
#include "engine/chat/turn.h"
#include "engine/extract/secrets.h"

/*
 * A secret is one wherever it appears again in its conversation: a model repeats what its user has
 * typed, and a user what a model has made up, without the words that give it away. Answers are long
 * and texts of tools longer, so only the latest of them are looked at.
 */

/* Latest messages that are looked at. */
enum { FROM_USER = 32, FROM_OTHERS = 4 };

void turn_find_secrets(const struct engine *e, struct turn *t)
{
    size_t by_user = 0, by_others = 0;
    if (e->settings->keep_secrets)
        return;
    for (size_t i = t->in.n_said; i-- > 0 && by_user < FROM_USER;) {
        const struct said *said = &t->in.said[i];
        bool is_user = said_by_user(said);
        size_t *looked = is_user ? &by_user : &by_others;
        if (++*looked <= (is_user ? (size_t)FROM_USER : (size_t)FROM_OTHERS))
            secrets_add(t->arena, said->text, &t->secrets);
    }
}

str turn_masked(const struct engine *e, const struct turn *t, struct arena *a, str text)
{
    return e->settings->keep_secrets ? text : secrets_masked_with(a, text, &t->secrets);
}
