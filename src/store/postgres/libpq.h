/* libpq.h - the functions of PostgreSQL's client library that are used, found when it is loaded. */
#pragma once

#include "base/ctx.h"

/*
 * Building needs no header of PostgreSQL: these are the declarations of its documentation
 * (postgresql.org/docs/15/libpq.html), whose ABI has been stable since libpq.so.5. The kinds of
 * values are numbers of pg_type.dat, which are part of the protocol.
 */
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned int Oid;

struct pq_option; /* as PQconninfoParse gives them */

/* As PQnotifies gives them. */
struct pq_notify {
    char *channel;
    int pid;
    char *text;
    struct pq_notify *next;
};

enum { CONNECTION_OK = 0, CONNECTION_BAD = 1 };
enum { PQPING_NO_RESPONSE = 2 };
enum { PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2, PGRES_PIPELINE_SYNC = 10 };
enum { PQTRANS_IDLE = 0 };
enum { PG_DIAG_SQLSTATE = 'C', PG_DIAG_MESSAGE_PRIMARY = 'M', PG_DIAG_SEVERITY = 'V' };
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_FLOAT8 = 701,
    OID_BYTEAS = 1001,
    OID_TEXTS = 1009,
    OID_INT8S = 1016,
    OID_FLOAT8S = 1022,
    OID_NUMERIC = 1700
};

#define LIBPQ_FUNCTIONS(F)                                                                         \
    F(PGconn *, connectStartParams, (const char *const *, const char *const *, int))               \
    F(void, reset, (PGconn *))                                                                     \
    F(int, status, (const PGconn *))                                                               \
    F(char *, errorMessage, (const PGconn *))                                                      \
    F(int, transactionStatus, (const PGconn *))                                                    \
    F(int, serverVersion, (const PGconn *))                                                        \
    F(void, finish, (PGconn *))                                                                    \
    F(void *, setNoticeReceiver, (PGconn *, void (*)(void *, const PGresult *), void *))           \
    F(int, pingParams, (const char *const *, const char *const *, int))                            \
    F(int, setnonblocking, (PGconn *, int))                                                        \
    F(int, socket, (const PGconn *))                                                               \
    F(int, flush, (PGconn *))                                                                      \
    F(int, isBusy, (PGconn *))                                                                     \
    F(int, consumeInput, (PGconn *))                                                               \
    F(struct pq_notify *, notifies, (PGconn *))                                                    \
    F(int, backendPID, (const PGconn *))                                                           \
    F(PGresult *, getResult, (PGconn *))                                                           \
    F(int, enterPipelineMode, (PGconn *))                                                          \
    F(int, exitPipelineMode, (PGconn *))                                                           \
    F(int, pipelineSync, (PGconn *))                                                               \
    F(int, sendQuery, (PGconn *, const char *))                                                    \
    F(int, sendPrepare, (PGconn *, const char *, const char *, int, const Oid *))                  \
    F(int, sendQueryPrepared,                                                                      \
      (PGconn *, const char *, int, const char *const *, const int *, const int *, int))           \
    F(int, sendQueryParams,                                                                        \
      (PGconn *, const char *, int, const Oid *, const char *const *, const int *, const int *,    \
       int))                                                                                       \
    F(int, resultStatus, (const PGresult *))                                                       \
    F(char *, resultErrorField, (const PGresult *, int))                                           \
    F(void, clear, (PGresult *))                                                                   \
    F(int, ntuples, (const PGresult *))                                                            \
    F(Oid, ftype, (const PGresult *, int))                                                         \
    F(char *, getvalue, (const PGresult *, int, int))                                              \
    F(int, getlength, (const PGresult *, int, int))                                                \
    F(int, getisnull, (const PGresult *, int, int))                                                \
    F(char *, cmdTuples, (PGresult *))                                                             \
    F(char *, cmdStatus, (PGresult *))                                                             \
    F(struct pq_option *, conninfoParse, (const char *, char **))                                  \
    F(void, conninfoFree, (struct pq_option *))                                                    \
    F(void, freemem, (void *))

struct libpq {
#define F(TYPE, NAME, PARAMS) TYPE(*NAME) PARAMS;
    LIBPQ_FUNCTIONS(F)
#undef F
};
extern struct libpq libpq;

/* Loads it once per process. UNSUPPORTED: it is not there, and which package has it. */
MUST_USE enum status libpq_open(struct ctx *ctx);
