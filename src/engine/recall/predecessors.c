/* predecessors.c - old values that were stored under the keys of the memories that are chosen. */
#include "engine/recall/predecessors.h"

#include "base/rule.h"
#include "engine/recall/supersession.h"
#include "engine/text/content_key.h"

/* Old values that are given; bytes of a text that is read for whether it states one. */
enum { HISTORY = 6, LONG = 600 };

/* The key that who stored a memory gave it: it is true until another is stored under that key. */
str recalled_name(struct arena *a, const struct recalled *r)
{
    bool is_named = r->is_memory && memory_is_stored(&r->memory) &&
                    !str_eq(r->memory.key, content_key(a, str_trim(r->memory.content)));
    return is_named ? r->memory.key : S("");
}

/* As if it were still true: not erased, expired, barred, of another layer … Its text is cut to what
 * the tombstones leave. */
static bool may_show(const struct finder *f, struct recalled *old)
{
    struct recalled open = *old;
    open.memory.valid_to = 0;
    open.memory.superseded_by = S("");
    if (!find_shows(f, &open))
        return false;
    old->memory.content = open.memory.content;
    old->part.is_cut = open.part.is_cut;
    return true;
}

/* By what was found, or by an old value that is as old as the key's first. */
static bool is_stated(struct finder *f, const struct added_lines *out, const struct recalled *old)
{
    struct arena *a = &f->ctx->arena;
    struct statement s = statement_of(a, old->memory.content);
    for (size_t i = 0; i < f->n + out->n; i++) {
        str text = found_text(i < f->n ? &f->found[i] : &out->v[i - f->n]);
        struct term_set telling = telling_of(a, text);
        if (text.n <= LONG && stating_of(&s, &telling) == STATES)
            return true;
    }
    return false;
}

/* What the memory closed by its key. What was merged into it, summarized or distilled has another
 * key, or none of the caller's own. */
static enum status take_replaced(struct finder *f, const struct recalled *by,
                                 struct added_lines *out)
{
    struct memory *v;
    size_t n;
    str name = recalled_name(&f->ctx->arena, by);
    if (!name.n || !str_eq(by->space, f->in->pool.space))
        return OK;
    TRY(store_replaced(f->ctx, f->e->store, f->in->pool, by->memory.id, &v, &n));
    for (size_t i = 0; i < n && out->n < HISTORY; i++) {
        struct recalled old = {.is_memory = true,
                               .memory = v[i],
                               .space = by->space,
                               .score = f->e->settings->gate_threshold,
                               .why = S("the memory that was found replaced it under its key")};
        if (str_eq(recalled_name(&f->ctx->arena, &old), name) && may_show(f, &old) &&
            !is_stated(f, out, &old))
            out->v[out->n++] = old;
    }
    return OK;
}

/* Each old value leads to the one before it, as out->n grows. */
enum status predecessors_find(struct finder *f, struct added_lines *out)
{
    bool asks = !f->in->by.is_patient && supersession_asks_past(&f->ctx->arena, f->in->question);
    if (!asks || !RULE("predecessors"))
        return OK;
    out->v = NEW_N(&f->ctx->arena, struct recalled, HISTORY);
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].state == LINE_CHOSEN)
            TRY(take_replaced(f, &f->found[i], out));
    for (size_t i = 0; i < out->n; i++)
        TRY(take_replaced(f, &out->v[i], out));
    return OK;
}
