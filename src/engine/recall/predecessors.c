/* successors.c - memories that replace a given line, and those that it replaced under its key. */
#include "engine/recall/successors.h"

#include <assert.h>

#include "base/rule.h"
#include "engine/recall/clause_parse.h"
#include "engine/recall/stem_search.h"
#include "engine/recall/unspaced.h"
#include "engine/text/claims.h"
#include "engine/text/content_key.h"
#include "engine/text/lexicon.h"

/*
 * Example: the question "Who does Idris go out with?" finds "Idris is going out with Maelle". What
 * ended it, "Idris and Maelle have split up", may hold few words of the question. So the names and
 * telling words of the best lines are searched, and what supersession.c says replaces one of them
 * goes in with it. What replaces nothing, or surely but a part, is never given: in a long memory
 * most of it would be of something else (decisions/054).
 *
 * Cost: one search of at most STEMS_ALL stems and READ texts, whenever a chat is given something.
 */

/* Lines whose successors are looked for, documents taken and read for them, stems of a line and in
 * all (one search), words and bytes of a line. */
enum { LINES = 3, HITS_MAX = 60, READ = 8, STEMS = 4, STEMS_ALL = 8, LINE_WORDS = 40, LONG = 600 };

/* The key that who stored a memory gave it: it is true until another is stored under that key. */
static str name_of(struct arena *a, const struct recalled *r)
{
    bool is_named = r->is_memory && memory_is_stored(&r->memory) &&
                    !str_eq(r->memory.key, content_key(a, str_trim(r->memory.content)));
    return is_named ? r->memory.key : S("");
}

struct dated_line dated_line_of(struct arena *a, const struct recalled *r)
{
    bool is_users = r->is_memory || (str_is(r->message.role, "user") && !r->message.speaker.n);
    return (struct dated_line){.text = is_users ? found_text(r) : S(""),
                               .created = recalled_created(r),
                               .place = r->is_memory ? r->memory.doc : r->message.doc,
                               .id = recalled_id(r),
                               .source = r->is_memory ? r->memory.source : S(""),
                               .space = r->space,
                               .notes = r->is_memory ? NULL : r->message.notes,
                               .name = name_of(a, r)};
}

/* --- what is searched --- */

struct stems {
    str v[STEMS_ALL + STEMS];
    size_t n;
};

/* Each stem once; what has no room any more is dropped. */
static void add_stem(struct stems *s, str stem, size_t most)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(s->v[i], stem))
            return;
    if (s->n < most)
        s->v[s->n++] = stem;
}

/* Names first, which are rare; then what the line tells. Each stem has a blank behind it. There are
 * more than one line gives, as lines before it may have given some of them. */
static str stems_of(struct arena *a, struct text_annotations *notes, str text)
{
    enum { ROOM = 4000 };
    const char *noted = annotation_find(notes, NOTE_STEMS, text);
    if (noted)
        return str_of(noted);
    struct words w = words_of(a, text, LINE_WORDS);
    struct stems s = {.n = 0};
    struct buf out = buf_make(a, ROOM);
    for (size_t i = 0; i < w.n; i++)
        if (w.v[i].is_name && !w.v[i].is_stop)
            add_stem(&s, w.v[i].stem, STEMS_ALL + STEMS);
    for (size_t i = 0; i < w.n; i++)
        if (!w.v[i].is_stop && !w.v[i].is_number)
            add_stem(&s, w.v[i].stem, STEMS_ALL + STEMS);
    for (size_t i = 0; i < s.n; i++)
        buf_printf(&out, S_FMT " ", S_ARG(s.v[i]));
    buf_byte(&out, '\0');
    annotation_add(notes, NOTE_STEMS, text, buf_str(&out));
    return str_of(out.p);
}

static void add_line(struct arena *a, struct stems *s, const struct dated_line *line)
{
    size_t most = s->n + STEMS < STEMS_ALL ? s->n + STEMS : STEMS_ALL;
    if (text_is_unspaced(line->text)) {
        unspaced_stems(a, line->text, s->v, &s->n, most);
        most = s->n + STEMS < STEMS_ALL ? s->n + STEMS : STEMS_ALL;
    }
    for (str rest = stems_of(a, line->notes, line->text); rest.n;)
        add_stem(s, str_cut(&rest, ' '), most);
}

/* --- what is taken --- */

static bool is_given(const struct finder *f, const struct recalled *r)
{
    const struct recalled *same = recalled_find(f->found, f->n, r);
    return same && same->state == LINE_CHOSEN;
}

static bool is_statement(struct finder *f, struct recalled *r)
{
    if (r->is_memory)
        return r->memory.layer != LAYER_EPISODE && r->memory.content.n <= LONG && find_shows(f, r);
    str stated = found_stated(f, r);
    return stated.n && stated.n <= LONG;
}

/* The user's best lines. */
static size_t take_best(struct finder *f, struct dated_line *v, struct stems *stems)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n && n < LINES; i++) {
        v[n] = dated_line_of(&f->ctx->arena, &f->found[i]);
        if (f->found[i].state != LINE_CHOSEN || !v[n].text.n || v[n].text.n > LONG)
            continue;
        add_line(&f->ctx->arena, stems, &v[n++]);
    }
    return n;
}

/* Only something later can replace; document numbers decide where the times are equal. */
static bool is_later_than_one(const struct dated_line *line, const struct dated_line *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (line->created != v[i].created ? line->created > v[i].created : line->place > v[i].place)
            return true;
    return false;
}

/* A few look-ups, before it is read closely. */
static bool has_change(struct arena *a, str text)
{
    struct words w = words_of(a, text, LONG);
    if (clause_parse_holds_cue(&w))
        return true;
    w.n = w.n < LINE_WORDS ? w.n : LINE_WORDS;
    return claim_of(&w).slot != SLOT_COUNT;
}

static bool may_replace(struct arena *a, const struct dated_line *line)
{
    if (text_is_unspaced(line->text))
        return true;
    const bool *noted = annotation_find(line->notes, NOTE_REPLACES, line->text);
    if (noted)
        return *noted;
    bool *may = NEW(a, bool);
    *may = has_change(a, line->text);
    annotation_add(line->notes, NOTE_REPLACES, line->text, (str){(char *)may, sizeof *may});
    return *may;
}

static enum status find_successors(struct finder *f, struct added_lines *out)
{
    struct arena *a = &f->ctx->arena;
    struct dated_line *lines = NEW_N(a, struct dated_line, LINES + READ);
    size_t of[LINES + READ], n_hits;
    struct stems stems = {.n = 0};
    struct stem_hit *hits;
    struct recalled *read;
    size_t n_best = take_best(f, lines, &stems), n = n_best;
    if (!n || !stems.n)
        return OK;
    TRY(stems_search(f, stems.v, stems.n, (struct stem_bounds){HITS_MAX, READ}, &hits, &n_hits));
    TRY(stems_read(f, hits, n_hits, &read));
    find_name_space(f, read, n_hits); /* only lines of one space are compared */
    assert(n_best <= LINES && n_hits <= READ && stems.n <= STEMS_ALL);
    bool asks_past = supersession_asks_past(a, f->in->question);
    for (size_t i = 0; i < n_hits; i++) {
        if (is_given(f, &read[i]) || !is_statement(f, &read[i]))
            continue;
        of[n] = i;
        lines[n] = dated_line_of(a, &read[i]);
        n +=
            asks_past || (is_later_than_one(&lines[n], lines, n_best) && may_replace(a, &lines[n]));
    }
    assert(n >= n_best && n <= LINES + READ);
    if (n == n_best)
        return OK;
    supersession_judge_beside(a, f->in->question, lines, n_best, n);
    for (size_t i = n_best; i < n; i++) {
        bool replaces = false, is_replaced = lines[i].is != CURRENT;
        for (size_t k = 0; k < n_best; k++)
            replaces |= lines[k].is == REPLACED && lines[k].by == i;
        if (!replaces && !(is_replaced && asks_past))
            continue;
        read[of[i]].score = f->e->settings->gate_threshold;
        read[of[i]].why = replaces ? S("it replaces a line that was found")
                                   : S("a line that was found replaced it");
        out->v[out->n++] = read[of[i]];
    }
    return OK;
}

/* --- what was stored under a key before --- */

enum { HISTORY = 6 }; /* old values that are given */

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
static enum status take_replaced(struct finder *f, const struct recalled *by, size_t most,
                                 struct added_lines *out)
{
    struct memory *v;
    size_t n;
    str name = name_of(&f->ctx->arena, by);
    if (!name.n || !str_eq(by->space, f->in->pool.space))
        return OK;
    TRY(store_replaced(f->ctx, f->e->store, f->in->pool, by->memory.id, &v, &n));
    for (size_t i = 0; i < n && out->n < most; i++) {
        struct recalled old = {.is_memory = true,
                               .memory = v[i],
                               .space = by->space,
                               .score = f->e->settings->gate_threshold,
                               .why = S("the memory that was found replaced it under its key")};
        if (str_eq(name_of(&f->ctx->arena, &old), name) && may_show(f, &old) &&
            !is_stated(f, out, &old))
            out->v[out->n++] = old;
    }
    return OK;
}

/* Each old value leads to the one before it, as out->n grows. */
static enum status find_predecessors(struct finder *f, struct added_lines *out)
{
    size_t first = out->n, most = first + HISTORY;
    if (f->in->by.is_patient || !supersession_asks_past(&f->ctx->arena, f->in->question))
        return OK;
    for (size_t i = 0; i < f->n; i++)
        if (f->found[i].state == LINE_CHOSEN)
            TRY(take_replaced(f, &f->found[i], most, out));
    for (size_t i = first; i < out->n; i++)
        TRY(take_replaced(f, &out->v[i], most, out));
    return OK;
}

enum status replacing_find(struct finder *f, struct added_lines *out)
{
    out->v = NEW_N(&f->ctx->arena, struct recalled, READ + HISTORY);
    if (RULE("successors"))
        TRY(find_successors(f, out));
    return RULE("predecessors") ? find_predecessors(f, out) : OK;
}
