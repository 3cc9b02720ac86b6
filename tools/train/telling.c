/* telling.c - sentences of people, and whether they tell something. */
#include "telling.h"

#include "base/utf8.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"

static void add(struct arena *a, struct tellings *out, struct telling t)
{
    out->v = arena_more(a, out->v, out->n, &out->cap, sizeof *out->v);
    out->v[out->n++] = t;
}

static size_t sentences_in(str text)
{
    size_t n = 0;
    struct sentence s;
    while (sentence_cut(&text, &s))
        n += str_trim(s.text).n > 0;
    return n;
}

bool telling_is_in(str language)
{
    static const char *const languages[] = {"en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv",
                                            "tr", "ru", "ar", "hi", "zh", "ja", "ko", "th", NULL};
    return str_is_one_of(language, languages);
}

/* Of several sentences one may tell something, so those that are accepted are left out. */
void telling_of_ask(struct arena *a, str ask, str language, bool tells, struct tellings *out)
{
    size_t n = sentences_in(ask);
    struct sentence s;
    while (sentence_cut(&ask, &s)) {
        str text = str_trim(s.text);
        bool is_accepted = utterance_by_rules(a, text);
        if (text.n && (n == 1 || (!tells && !is_accepted)))
            add(a, out, (struct telling){text, language, is_accepted, tells});
    }
}

void telling_of_head(struct arena *a, str head, str language, bool tells, struct tellings *out)
{
    add(a, out, (struct telling){head, language, utterance_by_rules(a, head), tells});
}

static bool has_number(const struct json *list, int64_t n)
{
    for (const struct json *j = list->first; j; j = j->next)
        if (json_int_or(j, -1) == n)
            return true;
    return false;
}

/* A line, and the questions of its person. */
struct line {
    const struct json *questions;
    int64_t n;
    str language;
    bool is_needed, may_help;
};

/* Words of an answer stand in the text. */
static bool answers(struct arena *a, const struct line *l, str text)
{
    for (const struct json *q = l->questions->first; q; q = q->next) {
        const struct json *list = json_get(q, "answer");
        if (!list || !has_number(json_get(q, "needs"), l->n))
            continue;
        for (const struct json *w = list->first; w; w = w->next) {
            str words = utf8_lower(a, json_string(w));
            if (str_find(utf8_lower(a, text), words) < text.n)
                return true;
        }
    }
    return false;
}

static void add_sentence(struct arena *a, const struct line *l, str text, bool is_all,
                         struct tellings *out)
{
    bool is_accepted = utterance_by_rules(a, text), has_use = l->is_needed || l->may_help;
    bool tells = is_accepted ? has_use : answers(a, l, text) || (l->is_needed && is_all);
    bool tells_nothing = !is_accepted && !has_use;
    if (text.n && (tells || tells_nothing))
        add(a, out, (struct telling){text, l->language, is_accepted, tells});
}

void telling_of_lines(struct arena *a, const struct json *person, struct tellings *out)
{
    struct line l = {.questions = json_get(person, "questions"),
                     .language = json_string(json_get(person, "language"))};
    for (const struct json *j = json_get(person, "lines")->first; j; j = j->next) {
        str own = utterance_own_words(a, json_string(json_get(j, "text")));
        bool is_all = sentences_in(own) == 1;
        struct sentence s;
        l.n = json_int_or(json_get(j, "n"), -1);
        l.is_needed = l.may_help = false;
        for (const struct json *q = l.questions->first; q; q = q->next) {
            l.is_needed |= has_number(json_get(q, "needs"), l.n);
            l.may_help |= has_number(json_get(q, "may"), l.n);
        }
        for (str rest = own; sentence_cut(&rest, &s);)
            add_sentence(a, &l, str_trim(s.text), is_all, out);
    }
}
