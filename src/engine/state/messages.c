/* messages.c - a session read backwards, page by page. */
#include "engine/state/state.h"

/* Of a page in which messages were erased, the store gives as many of those behind it. */
enum status messages_before(struct ctx *ctx, struct engine *e, struct pool_ref pool, str session,
                            size_t most, int64_t *end, struct message **v, size_t *n)
{
    int64_t last = *end, page = (int64_t)most;
    int64_t from = last < 0 ? -page : last > page ? last - page : 0;
    assert(page > 0);
    size_t limit = last < 0 ? most : (size_t)(last - from);
    TRY(store_session_messages(ctx, e->store, pool, session, from, limit, v, n));
    while (last >= 0 && *n && doc_position((*v)[*n - 1].doc) >= last)
        --*n;
    *end = from >= 0 ? from : *n ? doc_position((*v)[0].doc) : 0;
    return OK;
}
