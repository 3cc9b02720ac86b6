/* store.h - a fresh store for a test, and the few things that every test writes and asks. */
#pragma once

#include "base/clock.h"
#include "base/id.h"
#include "store/store.h"
#include "t.h"

/* A new folder, removed at the end of the scope; the store is the file "store.db" in it. With a URL
 * in TEST_STORE (tests/lib/with_postgres) it is a schema of its own there. */
struct place {
    char folder[64];
    char path[256];
};
#define PLACE(p) CLEANUP(place_end) struct place p = place_begin()
struct place place_begin(void);
void place_end(struct place *p);

bool is_on_postgres(void);

/* The store of a place, open to the end of the scope. */
#define STORE(s, p)                                                                                \
    CLEANUP(store_closep) struct store *s = NULL;                                                  \
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of((p).path)}, &s))
void store_closep(struct store **s);

/* Pools: one, and two that must never see it. */
extern const struct pool_ref mine, other_space, other_user;

struct message said(const char *id, const char *role, const char *text, int64_t created);
struct memory fact(const char *id, const char *key, const char *content);

/* Writes one message into a session. */
enum status say(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *session,
                struct message *m);
/* Writes one memory. */
enum status keep(struct ctx *ctx, struct store *s, struct pool_ref pool, enum put_rule rule,
                 struct memory *m);
/* Closes memories in favour of one summary. */
enum status condense_to(struct ctx *ctx, struct store *s, struct pool_ref pool,
                        struct memory *summary, const str *ids, size_t n);
/* Writes a session whose turns "SESSION-m1", "SESSION-m2", … are the user's and the assistant's in
 * turn. texts is NULL-ended. */
void write_session(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *session,
                   const char *const *texts, int64_t created);

/* Another connection to the database of a place, for statements without results, or for the number
 * that one gives. */
struct beside;
struct beside *beside_open(struct ctx *ctx, const struct place *p);
void beside_do(struct ctx *ctx, struct beside *b, const char *sql);
int64_t beside_int(struct ctx *ctx, struct beside *b, const char *sql);
void beside_close(struct beside *b);
/* The same for one statement. */
void place_do(struct ctx *ctx, const struct place *p, const char *sql);
int64_t place_int(struct ctx *ctx, const struct place *p, const char *sql);

/* A whole file; p is NULL when it is not there. */
str bytes_of_file(struct ctx *ctx, const char *path);
/* Whether the bytes stand anywhere in the database's file or in its log of writes; on PostgreSQL,
 * in a row of any table. */
bool place_holds(struct ctx *ctx, const struct place *p, str bytes);

/* Eight threads write and search at once: each finds its own writes, and all are there after. */
void check_many_threads(struct ctx *ctx, struct store *s);

/* What a search for the words of a text finds. */
struct word_hits find(struct ctx *ctx, struct store *s, struct pool_ref pool, const char *text);
/* store_check finds nothing. */
void check_healthy(struct ctx *ctx, struct store *s);

/* A direction in n dimensions, made from a number. */
float *direction(struct ctx *ctx, uint64_t seed, size_t n);
