/* cross_reference.h - what cross_reference.py prints: the logits of tiny_cross. */
#pragma once

/* clang-format off */
static const struct {
    const char *question, *passage;
    double logit;
} cross_reference[] = {
    {"where does the cat sleep\?",
     "The cat sleeps on the mat.",
     -4.884575956},
    {"The cat sleeps on the mat.",
     "where does the cat sleep\?",
     -13.103761932},
    {"where does the cat sleep\?",
     "i live in lisbon since may.",
     -13.141483415},
    {"where does the cat sleep\?",
     "",
     -9.722075614},
    {"",
     "the cat sleeps on the mat.",
     -4.802766499},
    {"what is my name\?",
     "M\303\275 n\303\241me is ... unheard of, DOG!",
     -0.467605014},
    {"what is my name\?",
     "every day we walk near the old harbour , and the cat sleeps on the mat . i live in lisbon since may .",
     -3.678164724},
    {"every day we walk near the old harbour , and the cat sleeps on the mat . i live in lisbon since may .",
     "the old green door, near paris",
     -8.956184113},
    {"every day we walk near the old harbour , and the cat sleeps on the mat . i live in lisbon since may .",
     "every day we walk near the old harbour , and the cat sleeps on the mat . i live in lisbon since may .",
     -10.394692775},
};
/* clang-format on */
