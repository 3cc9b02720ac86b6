/* forget_request.c - messages that ask to forget something. */
#include "engine/text/forget_request.h"

#include "engine/text/form.h"

/*
 * By the wording alone, in any language that people wrote examples in. Phrases, and rules for what
 * may follow them, recognised the examples that they were made for, and three in a hundred of what
 * strangers wrote (docs/research/trials/080, 104). A message that asks is answered truly. Only one
 * that does nothing else is not remembered, so that takes more.
 */

enum { MESSAGE_MAX = 400, COLUMN_ASKS = 0, COLUMN_MERELY = 1 };
/* The log odds from which on what says no more is not remembered. */
static const double sure = 1.4;

/* A quote, a list or a piece of code begins so. */
static const char quoted[] = "\"'>-*#`([{0123456789";

enum forget_request forget_request_of(str message)
{
    str text = str_trim(message);
    if (!text.n || text.n > MESSAGE_MAX || char_is_one_of(text.p[0], quoted))
        return FORGET_NOTHING;
    struct form_odds odds = form_odds_of(FORM_FORGET, text);
    bool is_mere = odds.by[COLUMN_ASKS] >= sure && odds.by[COLUMN_MERELY] >= 0;
    return odds.by[COLUMN_ASKS] < 0 ? FORGET_NOTHING : is_mere ? FORGET_ASKED : FORGET_UNCLEAR;
}

void forget_requests_leave(str question, struct message *v, size_t n)
{
    enum forget_request asked = forget_request_of(question);
    for (struct message *m = v; m < v + n; m++) {
        bool is_user = str_is(m->role, "user");
        asked = m->speaker.n ? FORGET_NOTHING : is_user ? forget_request_of(m->text) : asked;
        if (asked == FORGET_ASKED || (asked && !is_user)) {
            m->is_echo = true;
            m->says = S("");
        }
    }
}
