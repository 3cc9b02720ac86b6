/* unspaced.h - whom and when a line of Chinese or Japanese is about: they part no words. */
#pragma once

#include "base/str.h"

/* Whether most of a text is written so. */
bool text_is_unspaced(str text);

/* "我以前住在哪里？" */
bool unspaced_asks_past(str question);

/* Whether a statement is about the one whom a question is about: by kin, else the speaker. */
bool unspaced_subject_fits(str question, str statement);
