/* next_message.c - The next message of a user, which puts a given line right or completes it. */
#include "engine/recall/next_message.h"

/* Bytes of a message that goes with the one in front of it; how far behind an answer it stands. */
enum { SHORT = 120, AHEAD = 3 };

/* A chosen line of what the user said in this space. */
static bool leads_on(const struct finder *f, const struct recalled *r, const struct finder *space)
{
    return r->state == LINE_CHOSEN && !r->is_memory && !r->message.speaker.n &&
           str_is(r->message.role, "user") &&
           (f->n_spaces == 1 || str_eq(r->space, space->in->pool.space));
}

/* Of the messages behind it the first that the user said, if it is short and states something. */
static bool next_of(const struct finder *space, const struct recalled *r, const struct message *v,
                    struct recalled *out)
{
    for (size_t i = 0; i < AHEAD; i++) {
        if (!v[i].id.n || !str_is(v[i].role, "user"))
            continue;
        *out = (struct recalled){.message = v[i],
                                 .space = r->space,
                                 .score = r->score,
                                 .measured.worth = r->measured.worth,
                                 .state = LINE_CHOSEN,
                                 .origin = LINE_BY_NEXT,
                                 .why = S("the user's next message")};
        return v[i].text.n <= SHORT && find_shows(space, out) && found_stated(space, out).n;
    }
    return false;
}

static enum status add_of_space(struct finder *f, const struct finder *space)
{
    struct arena *a = &f->ctx->arena;
    doc_id *docs = NEW_N(a, doc_id, AHEAD * f->n + 1);
    size_t n_docs = 0, n = 0, leading = 0;
    struct recalled *all = NEW_N(a, struct recalled, 2 * f->n + 1), next;
    for (size_t i = 0; i < f->n; i++) /* AHEAD of one line, then of the next one */
        for (int k = 1; k <= AHEAD && leads_on(f, &f->found[i], space); k++)
            docs[n_docs++] = f->found[i].message.doc + k;
    struct message *v = NEW_N(a, struct message, n_docs + 1);
    if (!n_docs)
        return OK;
    TRY(store_messages(f->ctx, f->e->store, space->in->pool, docs, n_docs, v));
    for (size_t i = 0; i < f->n; i++) {
        const struct recalled *r = &f->found[i];
        if (!recalled_find(all, n, r))
            all[n++] = *r;
        if (!leads_on(f, r, space) || !next_of(space, r, &v[AHEAD * leading++], &next))
            continue;
        const struct recalled *there = recalled_find(all, n, &next);
        if (!there)
            all[n++] = next;
        else if (there->state == LINE_FOUND)
            all[there - all] = next;
    }
    f->found = all;
    f->n = n;
    return OK;
}

enum status next_messages(struct finder *f)
{
    for (size_t i = 0; f->in->gate && !f->asked.aggregation && i < f->n_spaces; i++)
        TRY(add_of_space(f, &f->spaces[i]));
    return OK;
}
