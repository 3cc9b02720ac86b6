/* model.h - a scripted model: answers, orders, and every way in which it can fail. */
#pragma once

#include "lib/server.h"

enum model_mode {
    ANSWERS,
    ANSWERS_IN_PARTS,
    THINKS_ALOUD,
    IS_CUT,       /* stops at max_tokens */
    WANTS_NEWER,  /* refuses max_tokens, takes max_completion_tokens */
    SAYS_NOTHING, /* no text; no results */
    REFUSES_KEY,
    BREAKS,
    STALLS,
    SPEAKS_NO_JSON,
    NAMES_ONE, /* ranks the last document only */
    NAMES_ODD  /* unknown indexes, one index twice, scores that are no numbers */
};

/* One answer of a script. */
struct scripted {
    int code;                /* 0: 200 */
    const char *text;        /* what the model says */
    const char *body;        /* the whole body, used when text is NULL */
    const char *retry_after; /* seconds, or a date */
    bool counts_nothing;     /* no usage */
};
enum { ASKED_MAX = 16 };

/*
 * POST /v1/chat/completions, /v1/messages and /v1/rerank. A call without the key "secret", for
 * another model than "tiny/chat" or "tiny/order", or in another shape than OpenAI's, Anthropic's
 * or Cohere's is answered 400. Documents are ranked by length, the longest first.
 */
struct app {
    _Atomic enum model_mode mode;
    atomic_int calls;
    atomic_bool let_go;            /* ends STALLS */
    const struct scripted *script; /* NULL: mode decides. A row without code, text and body ends
                                      the script: from there on calls are answered 418 */
    atomic_int said;               /* rows of the script that were sent */
    bool as_json[ASKED_MAX];       /* whether each call demanded JSON */
    str answer;                    /* the text of an answer; "" for "said" */
    char user[1 << 16];            /* the last user message received */
    pthread_mutex_t user_lock;     /* who reads it while a late call may still run holds this */
    void (*meanwhile)(void *own);  /* runs before an answer is sent, or NULL */
    void *own;
};

struct model {
    struct app app;
    struct server *server;
    struct upstream up; /* "fake", with a key */
};

struct model *model_open(struct ctx *ctx);
void model_close(struct model *m);
/* A model to the end of the scope. */
#define MODEL(m) CLEANUP(model_closep) struct model *m = model_open(ctx)
void model_closep(struct model **m);

/* The only upstream of these settings; and their core model too. */
void model_be_upstream(const struct model *m, struct settings *settings);
void model_be_core(const struct model *m, struct settings *settings);
