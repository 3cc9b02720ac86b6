/* index.c - a message's own words, and who said it and when. */
#include "core/index.h"

#include <time.h>

enum { INDEX_WORDS_MAX = 20000 };

/* "8 May 2023" in the words that a question would use. */
static str date_words(struct arena *a, int64_t ms)
{
    char text[40];
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    if (!ms || !gmtime_r(&seconds, &t))
        return S("");
    size_t n = strftime(text, sizeof text, "%d %B %Y", &t);
    return str_dup(a,
                   str_trim((str){text[0] == '0' ? text + 1 : text, text[0] == '0' ? n - 1 : n}));
}

struct index_text index_of_message(struct arena *a, const struct message *m)
{
    str date = date_words(a, m->created);
    str label = str_printf(a, S_FMT " " S_FMT, S_ARG(m->speaker), S_ARG(date));
    str text = m->is_echo ? m->says : m->text;
    return (struct index_text){words_of(a, text, INDEX_WORDS_MAX), words_of(a, label, 32)};
}

struct index_text index_of_memory(struct arena *a, const struct memory *m)
{
    str date = date_words(a, m->created);
    str label = str_printf(a, S_FMT " " S_FMT, S_ARG(m->key), S_ARG(date));
    return (struct index_text){words_of(a, m->content, INDEX_WORDS_MAX), words_of(a, label, 64)};
}
