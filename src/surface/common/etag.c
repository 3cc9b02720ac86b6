/* etag.c - answers that a client has already. */
#include "surface/common/etag.h"

/* Forms of one file have one ETag, so the mark of a weak one makes no difference. */
static str opaque_of(str tag)
{
    return str_starts(tag, S("W/")) ? str_sub(tag, 2, tag.n) : tag;
}

bool etag_reply(const struct request *in, str tag, struct reply *out)
{
    str list = request_header(in, "If-None-Match");
    reply_header(out, "ETag", tag);
    while (list.n) {
        str one = str_trim(str_cut(&list, ','));
        if (str_is(one, "*") || str_eq(opaque_of(one), opaque_of(tag))) {
            out->code = 304;
            return true;
        }
    }
    return false;
}
