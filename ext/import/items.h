/* items.h - the values of a JSON text one after the other, so that a large file is never a tree. */
#pragma once

#include "base/ctx.h"

/* One value of an array or object. */
struct item {
    str key;   /* of a member: the bytes between the quotes, not decoded */
    str value; /* its bytes; json_parse checks them. n is 0 behind the last one */
};

struct items {
    str rest, text;
    char close;
    bool has_begun;
};

/* False when the text is neither an array nor an object. */
bool items_open(str text, struct items *out);

/*
 * The next value. Only brackets, quotes and commas are looked at, so a value that is not JSON
 * inside is passed over like any other. BAD_INPUT: the rest cannot be cut into values, as in a file
 * that was cut off.
 */
MUST_USE enum status items_next(struct ctx *ctx, struct items *it, struct item *out);

/* The value of an object's member as it is written; n is 0 without one. */
str items_member(str object, str key);

/* The next line of *rest that is not empty, without white space at its ends; *no counts lines.
 * False when there is none. */
bool take_line(str *rest, int64_t *no, str *out);
