/* toml_words.h - the words of TOML: white space, strings, numbers and truths. */
#pragma once

#include "base/json.h"

/* What all parts of the reader know: where it is. */
struct toml_at {
    struct ctx *ctx;
    const char *start, *p, *end;
};

/* Of the form "not valid TOML: line 3: WHAT". */
enum status toml_fail(struct toml_at *r, const char *what);

/* The byte so many bytes ahead; NUL behind the end. */
char toml_look(const struct toml_at *r, size_t ahead);
/* Goes behind the word, if it is next. */
bool toml_take(struct toml_at *r, const char *word);

void toml_skip_blanks(struct toml_at *r);
/* Blanks, comments and empty lines. */
MUST_USE enum status toml_skip_lines(struct toml_at *r);
/* The rest of a line, which may only be a comment. */
MUST_USE enum status toml_end_line(struct toml_at *r);

/* A bare or quoted part of a key. */
MUST_USE enum status toml_read_name(struct toml_at *r, str *out);
/* A string, a number or a truth into a value that is all zero but for its name. text: of a string;
 * source is set of a number or truth alone, as JSON writes it. */
MUST_USE enum status toml_read_word(struct toml_at *r, struct json *out, str *text);
