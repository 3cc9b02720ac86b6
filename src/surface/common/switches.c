/* switches.c - a request's headers about memory itself: the same at every door to a chat. */
#include "surface/common/switches.h"

const struct field switch_fields[] = {SWITCH_ROWS, {0}};

/* False when the header names no mode. */
static bool read_mode(const struct request *in, enum memory_mode *out)
{
    static const char *const yes[] = {"true", "1", "yes", NULL};
    str wish = str_trim(request_header(in, MODE_HEADER));
    int mode = MODE_FULL;
    if (wish.n)
        for (mode = 0; memory_mode_names[mode]; mode++)
            if (str_eq_nocase(wish, str_of(memory_mode_names[mode])))
                break;
    *out = memory_mode_names[mode] ? (enum memory_mode)mode : MODE_FULL;
    if (str_is_one_of(str_trim(request_header(in, NO_MEMORY_HEADER)), yes))
        *out = MODE_OFF;
    return memory_mode_names[mode] != NULL;
}

enum status switches_mode(struct ctx *ctx, const struct request *in, enum memory_mode *out)
{
    if (!read_mode(in, out))
        return fail_field(ctx, MODE_HEADER, "must be one of: full, readonly, after, off");
    if ((in->who.scopes & (MAY_READ | MAY_WRITE)) == MAY_READ)
        *out = mode_without_keeping(*out);
    return OK;
}

enum memory_mode mode_without_keeping(enum memory_mode mode)
{
    return mode == MODE_AFTER ? MODE_OFF : mode == MODE_FULL ? MODE_READONLY : mode;
}

/* For quick_if, which must decide before admit and cannot answer: the handler refuses the header
 * later. */
enum memory_mode switches_mode_or_full(const struct request *in)
{
    enum memory_mode mode;
    read_mode(in, &mode);
    return mode;
}
