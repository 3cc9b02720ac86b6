/* subject.h - whether a statement is about the one whom a question is about. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/*
 * A question about the asker ("my job") fits statements in the first person that name no one else
 * in front; one about "my brother" or Otto fits those that name him. requests: a request fits
 * whatever the asker tells of themselves and of their own people.
 */
bool subject_fits(struct arena *a, str question, str statement, bool requests);
