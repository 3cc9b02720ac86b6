/* judged.h - texts of tests/judge, each with what it is, and how many a judge takes for what. */
#pragma once

#include "base/json.h"
#include "t.h"

/* A file of tests/judge: mostly a list of {"ask", "is", "writer"}. */
const struct json *judged_file(struct ctx *ctx, const char *name);

/* Of the list's texts that are `is`, by that writer or (-1) anybody: how many there are, and how
 * many the judge gives each verdict. */
enum { VERDICTS = 3, ANY_WRITER = -1 };
struct judged {
    int of, verdicts[VERDICTS];
};
struct judged judged_count(const struct json *list, const char *is, int writer,
                           int (*judge)(void *own, str text), void *own);
