/* unspaced.h - lines that a later one replaces in Chinese and Japanese, which part no words. */
#pragma once

#include "engine/recall/supersession.h"

/* Whether most of a text is written so. */
bool text_is_unspaced(str text);

/* Both lines are. By cues within the text ("搬到", "不再", "引っ越"), as there are no words. */
enum supersession unspaced_supersession(struct arena *a, str older, str newer);

/* "我以前住在哪里？" */
bool unspaced_asks_past(str question);

/* Whether a statement is about the one whom a question is about: by kin, else the speaker. */
bool unspaced_subject_fits(str question, str statement);
