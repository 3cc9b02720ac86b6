/* secret_shape.h - shapes of values: words, keys, codes, and code in their place. */
#pragma once

#include "engine/text/bytes.h"

/* The first byte of a character of a script without blanks: Chinese, Japanese, Thai, Korean. */
static inline bool is_dense(char c)
{
    return (unsigned char)c >= 0xE3 && (unsigned char)c <= 0xED;
}

/* How many characters of each kind a value has; parts are parted by hyphens. */
struct shape {
    size_t digits, letters, upper, signs, parts;
};

struct shape shape_of(str v);

/* Letters alone, with hyphens, apostrophes and dots between them: a word, a name, an address. */
bool shape_is_plain(str v);
/* Code and addresses in the place of a value: a call, a variable, a path, a template. */
bool shape_is_reference(str v);
/* As names in code are: letters, dots and underscores. */
bool shape_is_identifier(str v);
/* Nobody says such a word. */
bool shape_is_random(str v);
/* Like a key: at least so long, of letters and digits. */
bool shape_is_key(str v, size_t least);
