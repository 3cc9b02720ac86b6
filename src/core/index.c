/* index.c - a message's own words, and who said it and when. */
#include "core/index.h"

#include "base/time_text.h"
#include "base/utf8.h"

/*
 * The search counts words and ignores lengths, which is right for turns of a conversation: a longer
 * turn says more. A pasted document or a long answer would match everything, though. So a text of
 * more than SHORT words keeps each word as often as a text of SHORT words would have it. A word
 * that comes to zero is moved to the label, where it counts little.
 */
enum {
    INDEX_WORDS_MAX = LONG_TEXT_END, /* more than two ends of a text hold */
    LABEL_WORDS_MAX = 64,
    SHORT = 25
};

/* Then by position, so that the words kept of a long text are the first ones, in any run. */
ORDER(by_stem, struct word, BY_TEXT(stem) ?: UP(at));

/* Of a compound or of a script without spaces a word gives several tokens: how many they are. */
static size_t count_words(const struct words *w)
{
    enum { PAIRS_OF_WORD = 2 };
    size_t words = 0, pairs = 0;
    for (size_t i = 0; i < w->n; i++)
        *(w->v[i].is_unspaced ? &pairs : &words) += !w->v[i].is_part;
    return words + (pairs + 1) / PAIRS_OF_WORD;
}

/* Thins the words of a long text; what would be lost goes behind the label. The order of the words
 * is lost: the search counts words and knows no phrases. */
static void thin_words(struct arena *a, struct index_text *t)
{
    struct words all = {NEW_N(a, struct word, t->own.n), 0};
    for (size_t i = 0; i < t->own.n; i++)
        if (!t->own.v[i].is_stop)
            all.v[all.n++] = t->own.v[i];
    size_t n_words = count_words(&all);
    if (n_words <= SHORT)
        return;
    qsort(all.v, all.n, sizeof *all.v, by_stem);
    struct words own = {NEW_N(a, struct word, all.n), 0};
    struct words label = {DUP_N(a, t->label.v, t->label.n, t->label.n + all.n), t->label.n};
    for (size_t from = 0, to; from < all.n; from = to) {
        for (to = from + 1; to < all.n && str_eq(all.v[to].stem, all.v[from].stem);)
            to++;
        /* The share of this stem among all words, times SHORT, rounded to the nearest whole
         * number. */
        size_t kept = ((to - from) * SHORT + n_words / 2) / n_words;
        for (size_t i = 0; i < kept; i++)
            own.v[own.n++] = all.v[from + i];
        if (!kept)
            label.v[label.n++] = all.v[from];
    }
    assert(own.n <= all.n && label.n <= t->label.n + all.n);
    t->own = own;
    t->label = label;
}

/* What an episode says beside its summary. Metadata that is not JSON has no lists. */
static str lists_of(struct arena *a, const struct memory *m)
{
    static const char *const lists[] = {"topics", "entities", "decisions"};
    CLEANUP(ctx_free) struct ctx own = {0};
    const struct json *root = m->layer == LAYER_EPISODE ? json_of_text(&own, m->metadata) : NULL;
    if (!root)
        return S("");
    struct buf b = buf_make(a, m->metadata.n + 1);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct json *list = json_get(root, lists[i]);
        const struct json *v = list && list->type == JSON_ARRAY ? list->first : NULL;
        for (; v; v = v->next)
            if (v->type == JSON_STRING)
                buf_printf(&b, "\n" S_FMT, S_ARG(json_string(v)));
    }
    return buf_str(&b);
}

/* The date is indexed in words ("3 May 2024"), so that a question which names a month finds what
 * was said then. created is unix ms; 0 gives no date. */
static struct index_text index_of(struct arena *a, str text, str about, int64_t created)
{
    str date = time_write(a, created, "%-d %B %Y");
    str label = str_printf(a, S_FMT " " S_FMT, S_ARG(about), S_ARG(date));
    text = utf8_ends(a, text, LONG_TEXT_END);
    struct index_text t = {words_for(a, text, INDEX_WORDS_MAX, TO_INDEX),
                           words_of(a, label, LABEL_WORDS_MAX)};
    thin_words(a, &t);
    return t;
}

struct index_text index_of_message(struct arena *a, const struct message *m)
{
    /* Of an echo (said with memory beside it) only the new part is indexed, or a recalled memory
     * would be found twice. */
    return index_of(a, m->is_echo ? m->says : m->text, m->speaker, m->created);
}

/* The key goes into the label, where it counts less than what the memory says. */
struct index_text index_of_memory(struct arena *a, const struct memory *m)
{
    str lists = lists_of(a, m);
    str text = lists.n ? str_printf(a, S_FMT S_FMT, S_ARG(m->content), S_ARG(lists)) : m->content;
    return index_of(a, text, m->key, m->created);
}
