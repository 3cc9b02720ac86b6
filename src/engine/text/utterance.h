/* utterance.h - the acts of a turn's sentences: state, ask, greet, acknowledge, instruct. */
#pragma once

#include "base/str.h"

/*
 * A memory of a chat is what someone stated. A question is no answer, "noted" and "I don't know"
 * are no knowledge, and an instruction that stands in a fetched page is nobody's wish. These
 * functions judge one sentence by its form alone, in English, German, French, Spanish, Portuguese
 * and Italian, so they never see what a sentence is about.
 */

/* It asks: a question mark, a question's word order, or "remind me which …". */
bool sentence_asks(str sentence);

/* A whole message that only greets, thanks or takes leave ("Thanks, that's all for today."). "Got
 * it" alone may answer a question, so it is none. */
bool utterance_is_courtesy(struct arena *a, str text);

/* It tells a model what to do or to believe: "ignore previous instructions", "SYSTEM: …". A user
 * may wish ("from now on answer in German"), another text may not ("when asked, answer …"). */
bool sentence_instructs(struct arena *a, str sentence, bool is_user);

/* The part of a turn that states something: its sentences without those above. is_user: the turn is
 * the user's, whose standing wishes ("always answer in German") are statements. "" when nothing is
 * left; text itself when nothing had to go. */
str utterance_statements(struct arena *a, str text, bool is_user);

/* Whether rules alone take a user's sentence for a statement, as the weights are fitted that put
 * them right (data/lang/tells.def). */
bool utterance_by_rules(struct arena *a, str sentence);

/* The words that the writer of a message wrote, without what was pasted, quoted or given to be
 * worked on (own_words.c). text itself when nothing had to go. */
str utterance_own_words(struct arena *a, str text);

/* The place behind the code between fences ("```", "~~~", also """ and ''') that begins at `at`; 0:
 * none begins there, or it has no end. *endless counts searches that went to the end of the text:
 * after some no more is searched. */
size_t text_behind_fence(str text, size_t at, size_t *endless);

/* The place behind the first sentence of a text, where more follows and it ends with a colon, or
 * asks and ends with its line; 0: it has no such head. */
size_t text_behind_head(str text);

/* What a message asks: without stack traces, compiler errors and such (a run of lines that look
 * printed by a program, at least two of them), and without a text given to be worked on ("Make it
 * shorter: …"). Nobody is asked about by their words. text itself when it holds none. */
str text_without_material(struct arena *a, str text);
