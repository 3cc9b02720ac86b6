/* mask.h - a secret that another server repeats, replaced by stars of the same length. */
#pragma once

#include "base/buf.h"

/* Shorter keys are words, such as "none" or "ollama", which servers without keys are given. */
enum { SECRET_MIN = 8 };

/* For bytes that come in pieces. All zero but for the secret, which must outlive it. */
struct mask {
    str secret;
    struct buf held, out; /* made with the first piece, in the arena of the first call */
};

/* The piece that may go on; what may be the beginning of the secret waits for the next one. It
 * lives until the next call. is_last: nothing waits. */
str mask_pass(struct arena *a, struct mask *m, str bytes, bool is_last);
