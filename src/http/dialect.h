/* dialect.h - a part of the face of http: what is served where, and how it is described. */
#pragma once

#include "base/fields.h"
#include "base/status.h"
#include "core/account.h"

struct app; /* what handlers work with; defined by surface */
struct ctx;
struct request;
struct reply;

/* The head of a handler; it may leave a parameter unused. */
#define HANDLER(NAME)                                                                              \
    enum status NAME(UNUSED struct ctx *ctx, UNUSED struct app *app,                               \
                     UNUSED const struct request *in, UNUSED struct reply *out)
typedef HANDLER(handler);

/* ACCESS_ADMIN: an admin of a user; ACCESS_OPERATOR: who RUNS_SERVER; ACCESS_OWNER: who
 * MANAGES_PEOPLE. */
enum route_access { ACCESS_USER, ACCESS_OPEN, ACCESS_ADMIN, ACCESS_OPERATOR, ACCESS_OWNER };

/* What /openapi.json says of a route beside its path and what it takes. */
struct route_words {
    const char *name;            /* of the handler; the operation is named after it */
    const char *takes_name;      /* of the table of the body */
    const struct field *asks;    /* the query of a request with a body */
    const struct field *headers; /* headers that it reads, beside those of every request */
    const struct field *sends;   /* a body that the handler reads itself */
    const char *sends_name;
    const char *sends_type;    /* of a body that is not JSON */
    const struct field *gives; /* the answer's table */
    const char *gives_name;
    bool is_list;              /* the answer is an array of these */
    const char *type;          /* of an answer that is not JSON */
    const char *stream;        /* type of the same answer in pieces */
    const struct field *shows; /* headers of the answer */
    int code, code_too;        /* of an answer; 0: 200, and no other */
};

struct route {
    const char *method, *path; /* "/api/memory/{id}"; literal segments win over {…} */
    handler *run;
    const struct field *takes; /* the body's table, or the query's for GET and DELETE */
    size_t takes_size;         /* sizeof the struct that takes describes */
    bool strict;               /* an unknown member is refused */
    bool wants_json;           /* parse the body without a table */
    bool is_quick;             /* runs on the loop, not a worker: never blocks, gives no relay */
    /* Whether this request may be passed on from the loop. Asked before admit; until libcurl is
     * loaded all run on a worker. NULL: is_quick decides. */
    bool (*quick_if)(const struct app *app, const struct request *in);
    enum route_access access;
    enum token_scope scope; /* that a token needs; 0: route_scope says which */
    bool checks_secret;     /* not run for whom too many were wrong */
    size_t body_max;        /* 0: the server's */
    const char *help;
    struct route_words words;
};

/* The beginning of a row, and its tables by their names without _fields. READS names the body, too.
 * _AS: the struct has another name than the table. */
#define ROUTE(METHOD, PATH, RUN)                                                                   \
    .method = METHOD, .path = PATH, .run = RUN, .words.name = #RUN /* then more of .words */
#define TAKES_AS(T, S) .takes = T##_fields, .takes_size = sizeof(struct S)
#define TAKES(S) TAKES_AS(S, S)
#define READS_AS(T, S) TAKES_AS(T, S), .words.takes_name = #T
#define READS(S) READS_AS(S, S)
#define ANSWERS(T) .words.gives = T##_fields, .words.gives_name = #T
#define ASKS(T) .words.asks = T##_fields
#define HEADERS(T) .words.headers = T##_fields
#define SHOWS(T) .words.shows = T##_fields
/* A row of HEADERS and SHOWS: no struct has it. */
#define HEADER_ROW(NAME, TYPE, ...)                                                                \
    {                                                                                              \
        .name = NAME, .type = FIELD_##TYPE, ##__VA_ARGS__                                          \
    }
#define SENDS(T) .words.sends = T##_fields, .words.sends_name = #T

struct surface {
    const char *name;
    const struct route *routes; /* ends with an all-zero row */
    /* Words a failure in the surface's dialect: the body, from ctx->why and ctx->field, and a code
     * where http_code's will not do. A code that http gave itself (405, 408, 431, 503) stays. */
    void (*word_error)(struct ctx *ctx, enum status s, const struct request *in, struct reply *out);
    /* Turns the credential into in->who, or fails; runs where the handler runs. */
    enum status (*admit)(struct ctx *ctx, struct app *app, enum route_access needs,
                         struct request *in);
    /* A header that every answer has as the request had it, or with the request's id; or NULL. */
    const char *trace;
    /* Completes in->who from what the body says, once it is read; or NULL. */
    enum status (*settle)(struct ctx *ctx, struct app *app, struct request *in);
    /* A parameter of every query, and a member of every body, that admit and settle read: a strict
     * route lets it pass. Or NULL. */
    const char *aside;
    const struct error_shape *errors; /* for /openapi.json */
    enum token_scope scope;           /* of its routes that name none; or 0 */
    bool is_strict;                   /* all of its routes are strict */
};

/* What a token needs for a route: what its row says, else what its access or its surface does, else
 * reading for GET and writing for all else. So no route is without one but those open to all, with
 * 0. */
enum token_scope route_scope(const struct surface *s, const struct route *r);

/* The body that word_error writes. */
struct error_shape {
    const char *name, *type; /* of the schema, and the media type */
    const struct field *table;
};
