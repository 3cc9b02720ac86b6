/* grounding.h - the support of a line in the user's words, and of a summary in the talk. */
#pragma once

#include "engine/distil/known.h"
#include "engine/text/term_set.h"

/* How many words of each kind of language a text has. */
struct tongue {
    size_t english, german, romance;
};
/* The words of the user; those of questions to someone else, and of the assistant, apart. */
struct told_words {
    struct term_set said, asked, heard;
    struct term_set *each; /* said in each pending turn */
    str *plain;            /* each pending turn as " word word " */
    size_t n;
    struct strs stems; /* said; sorted */
    size_t cap;
    struct tongue tongue;
};
struct told_words told_words_of(struct arena *a, const struct distilling *d);
/* How far the user's words support a line. */
enum support {
    SUPPORT_NONE, /* it is a question, or others said it and not the user */
    SUPPORT_WEAK, /* nothing shows that it is wrong, and too little that it is right */
    SUPPORT_FULL /* half of what tells in it is the user's, or a quote of the user; all names are */
};
enum support support_of(struct arena *a, const struct told_words *told, str line, str quote);
/* Whether half of what tells in a line is in one turn: it was said now, and not only known. */
bool is_said_now(struct arena *a, const struct told_words *told, str line);
/* The index of the pending turn whose text shares most words with the line. */
size_t teller_of(struct arena *a, const struct told_words *told, str line);
enum summary_fit {
    SUMMARY_FITS,
    SUMMARY_DOUBTFUL, /* it has hardly a word of the conversation */
    SUMMARY_COPIED    /* from the instructions */
};
enum summary_fit summary_fit(struct arena *a, const struct distilling *d, str summary);
