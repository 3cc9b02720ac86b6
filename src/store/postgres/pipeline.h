/* pipeline.h - statements that are sent one behind the other, and one wait for all answers. */
#pragma once

#include "store/postgres/libpq.h"

enum wait_end {
    WAIT_DONE,   /* the answer came, or the connection broke: the result says which */
    WAIT_LATE,   /* the time is over */
    WAIT_SILENT, /* nothing came, and the server does not answer others either */
};

struct wait_for {
    char *url;
    bool is_pooled;
};

enum { OWED_MAX = 256 };

/* A statement whose answer is to come. */
struct owed {
    PGresult **to;     /* gets it, or NULL when it failed; NULL: nobody reads it */
    bool *is_prepared; /* becomes false when it failed; or NULL */
    bool is_sync;      /* not a statement: its failure would stop those before it, not behind */
    bool may_fail;
};

struct pipeline {
    PGconn *handle;
    struct wait_for server;
    int64_t until_us;   /* no answer is waited for longer; 0: no limit */
    enum wait_end end;  /* not WAIT_DONE: an answer is owed for ever, the connection is of no use */
    bool is_on, is_cut; /* libpq's mode; something could not be sent */
    int64_t changes;    /* rows changed by statements whose answers nobody read */
    PGresult *failure;  /* the first of the last wait; or NULL */
    size_t n;
    struct owed v[OWED_MAX];
};

/* As PQconnectdbParams; warnings of the server go to the log. */
PGconn *pipeline_connect(const char *const *names, const char *const *values);

/* Before a statement is sent. */
void pipeline_begin(struct pipeline *p);
/* Behind it; is_sent is what libpq's function gave. */
void pipeline_sent(struct pipeline *p, int is_sent, struct owed owed);
/* Whoever was to get an answer does not want it any more. */
void pipeline_disown(struct pipeline *p, PGresult **to);
/* Sends off what was sent, for a server that is not waited for. Failures stop nothing behind. */
void pipeline_part(struct pipeline *p);
/* Waits for all answers. False: one failed, and those behind it were not run. */
bool pipeline_settle(struct pipeline *p);
/* The last result of a text of one or more statements, alone; NULL: it was not sent, or all is
 * lost. */
PGresult *pipeline_text(struct pipeline *p, const char *text);
void pipeline_end(struct pipeline *p);
/* Reads what has come, without waiting; false: nobody is there any more. */
bool wait_is_alive(PGconn *c);

/* How often this process has waited for an answer. */
int64_t pipeline_trips(void);
