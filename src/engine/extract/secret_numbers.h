/* secret_numbers.h - numbers that stand for a person or an account, told by their check digits. */
#pragma once

#include "base/str.h"

/* Those that a name must stand beside: too many other numbers have fitting digits. */
enum secret_number {
#define NUMBER(NAME, ...) SECRET_##NAME,
#include "engine/extract/secret_numbers.def"
    SECRET_NUMBERS
};

/* The end of a number that needs no name and begins at `at`, which is the start of a word; 0: there
 * is none. */
size_t secret_number_end(str text, size_t at);

/* The same for the first number of this kind behind its name, at most some words on; *from is where
 * it begins. */
size_t secret_number_named(str text, size_t at, enum secret_number which, size_t *from);
