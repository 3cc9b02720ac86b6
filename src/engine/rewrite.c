/* rewrite.c - a question that needs what was said before becomes one that stands alone. */
#include "engine/rewrite.h"

#include "engine/query.h"

/* The last messages of the user and the assistant, without what was put beside them. */
static struct history history_of(struct arena *a, const struct rewrite_in *in)
{
    struct history h = {.n = 0};
    struct said last[HISTORY_MAX];
    size_t n = 0;
    for (size_t i = in->n; i-- > 0 && n < HISTORY_MAX;) {
        struct said s = in->before[i];
        s.text = str_trim(engine_strip_block(a, s.text));
        if ((str_is(s.role, "user") || str_is(s.role, "assistant")) && s.text.n)
            last[n++] = s;
    }
    while (n)
        h.v[h.n++] = last[--n];
    return h;
}

void engine_rewrite(struct ctx *ctx, struct engine *e, const struct rewrite_in *in,
                    struct rewritten *out)
{
    struct arena *a = &ctx->arena;
    struct history h = history_of(a, in);
    *out = (struct rewritten){in->question, in->question, S("none"), S("")};
    if (!h.n || str_is(e->settings->query_rewriting, "off"))
        return;
    struct words w = words_of(a, in->question, FOLLOW_WORDS_MAX + 1);
    struct follow f = follow_of(&w, in->question);
    if (!f.lacks_person && !f.lacks_thing)
        return;
    struct rewritten found = rewrite_by_rules(a, in->question, &w, &h, &f);
    if (str_eq(found.search, in->question))
        return;
    *out = found;
    out->why = str_printf(a, "\"" S_FMT "\" needs what was said before", S_ARG(f.because));
}
