/* verify.h - acceptance tests over an API, and the server as they see it. */
#pragma once

#include "app/command.h"

/* What a test does. Each is a call that the adapter describes; a server may lack some. */
enum verb {
    V_ADD,     /* a memory is written; its id is kept */
    V_TELL,    /* the user says it in a chat */
    V_FIND,    /* the id of what was learnt from it is kept */
    V_REPLAY,  /* a client sends it again as history */
    V_CORRECT, /* what was kept gets this text */
    V_FORGET,  /* what was kept is erased */
    V_SEARCH,
    V_PROMPT, /* what a model would be given */
    V_EXPORT, /* the answer is kept */
    V_IMPORT, /* what was exported */
    V_WIDEN,  /* each way to name another's scope */
    VERB_COUNT
};
extern const char *const verb_names[VERB_COUNT];
/* The file rememberd.json: the adapter of rememberd. */
extern const char own_adapter[], own_adapter_end[];

enum wanted {
    W_DONE,    /* the call goes well */
    W_HAS,     /* the answer has the mark, in the end */
    W_LACKS,   /* the answer has it no more, in the end */
    W_NEVER,   /* the answer lacks it at once */
    W_AT_MOST, /* of the marks at least one, and at most as many as the adapter names as k */
    W_FENCED   /* the mark is inside the fence that the adapter names, which closes once */
};

enum { MARKS = 2 };

/* %0 and %1 in a text are words that no other text has. The questions of searches hold none. */
struct step {
    enum verb verb;
    int who; /* 0 or 1 */
    enum wanted wanted;
    const char *text;
    int mark;  /* of MARKS */
    int times; /* how often it is done; 0: once */
};

enum { STEPS_MAX = 16 };

struct acceptance {
    const char *id;         /* as in docs/research/acceptance.md */
    const char *unmeasured; /* why it cannot be measured over an API; NULL: it has steps */
    bool needs_two;         /* people, each with a token */
    struct step steps[STEPS_MAX];
};
extern const struct acceptance acceptance_tests[]; /* ended by an all-zero row */

/* The server under test. */
struct target {
    str url;
    const struct json *adapter;
    str tokens[2], spaces[2];
    str marks[MARKS], id, exported;
};

/* The adapter of rememberd, or that of a file. BAD_INPUT names what is wrong with it. */
MUST_USE enum status adapter_read(struct ctx *ctx, str file, const struct json **out);
/* Whether the server has such a call. */
bool target_has(const struct target *t, enum verb verb);
/* Does one step's call; *text is what the adapter chooses of the answer. UPSTREAM when the server
 * does not answer, or with an error. */
MUST_USE enum status target_call(struct ctx *ctx, struct target *t, const struct step *step,
                                 str *text);
