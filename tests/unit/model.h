/* model.h - a scripted model: answers, orders, and every way in which it can fail. */
#pragma once

#include <stdatomic.h>

#include "core/settings.h"
#include "http/http.h"
#include "t.h"

enum model_mode {
    ANSWERS,
    ANSWERS_IN_PARTS,
    THINKS_ALOUD,
    IS_CUT,       /* ran into max_tokens */
    WANTS_NEWER,  /* knows the limit as max_completion_tokens only */
    SAYS_NOTHING, /* no text; no results */
    REFUSES_KEY,
    BREAKS,
    STALLS,
    SPEAKS_NO_JSON,
    NAMES_ONE, /* of the documents only the last */
    NAMES_ODD  /* numbers that no document has, one twice, scores that are none */
};

/* One answer of a script. */
struct scripted {
    int code;                /* 0: 200 */
    const char *text;        /* what the model says */
    const char *body;        /* of the whole answer, in place of that */
    const char *retry_after; /* seconds, or a date */
    bool counts_nothing;     /* no usage */
};
enum { ASKED_MAX = 16 };

/* It is strict: another key, model or shape than OpenAI's, Anthropic's and Cohere's is answered
 * 400. Documents are put in the order of their length, the longest first. */
struct app {
    _Atomic enum model_mode mode;
    atomic_int calls;
    atomic_bool let_go;            /* ends STALLS */
    const struct scripted *script; /* NULL-ended by neither code, text nor body: from there on
                                      everything is refused with 418; NULL: mode says it all */
    atomic_int said;               /* how much of the script */
    bool as_json[ASKED_MAX];       /* whether JSON was demanded in each of the calls */
    str answer;                    /* what it says; "" for "said" */
    char user[1 << 16];            /* the last user message it was sent */
    void (*meanwhile)(void *own);  /* what happens while it answers, or NULL */
    void *own;
};

struct model {
    struct app app;
    struct server *server;
    struct upstream up; /* "fake", with a key */
};

struct model *model_open(struct ctx *ctx);
void model_close(struct model *m);
