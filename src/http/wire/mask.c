/* mask.c - a secret that another server repeats, replaced by stars of the same length. */
#include "http/wire/mask.h"

/*
 * Some servers repeat the key in the error that refuses it. The length stays, so that the answer's
 * announced length is still right.
 */

/* How many bytes at the end may be the beginning of the secret. */
static size_t begun_at_end(str text, str secret)
{
    size_t n = text.n < secret.n ? text.n : secret.n - 1;
    while (n && memcmp(text.p + text.n - n, secret.p, n) != 0)
        n--;
    return n;
}

str mask_pass(struct arena *a, struct mask *m, str bytes, bool is_last)
{
    if (m->secret.n < SECRET_MIN)
        return bytes;
    if (!m->held.arena) {
        m->held = buf_make(a, SIZE_MAX / 4);
        m->out = buf_make(a, SIZE_MAX / 4);
    }
    buf_clear(&m->out);
    buf_add(&m->out, buf_str(&m->held));
    buf_add(&m->out, bytes);
    buf_clear(&m->held);
    if (!m->out.n)
        return S("");
    for (size_t at = 0; at + m->secret.n <= m->out.n; at++)
        if (!memcmp(m->out.p + at, m->secret.p, m->secret.n))
            memset(m->out.p + at, '*', m->secret.n);
    str text = buf_str(&m->out);
    size_t waits = is_last ? 0 : begun_at_end(text, m->secret);
    buf_add(&m->held, str_sub(text, text.n - waits, text.n));
    return str_sub(text, 0, text.n - waits);
}
