/* sentences.h - where a text's sentences end. */
#pragma once

#include "base/str.h"

/*
 * The text up to the end of its nth sentence, with the punctuation it has. A sentence ends at . ! ?
 * (also full width) before a blank or the end, and at an empty line; not in "3.14", behind "e.g."
 * or an initial, nor where the text goes on in lower case behind a quote or dots.
 */
str first_sentences(str text, size_t n);
