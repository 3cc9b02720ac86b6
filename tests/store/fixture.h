/* fixture.h - a fresh store for a test, and the few things that every test writes and asks. */
#pragma once

#include <ftw.h>
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/words.h"
#include "store/store.h"
#include "t.h"

/* A new folder for the test; the store is the file "store.db" in it. */
struct place {
    char folder[64];
    char path[96];
};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

__attribute__((unused)) static void place_end(struct place *p)
{
    nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((unused)) static struct place place_begin(void)
{
    struct place p = {.folder = "/tmp/rememberd-test-XXXXXX"};
    if (!mkdtemp(p.folder))
        abort();
    snprintf(p.path, sizeof p.path, "%s/store.db", p.folder);
    return p;
}

__attribute__((unused)) static void store_closep(struct store **s)
{
    store_close(*s);
}

#define PLACE(p) CLEANUP(place_end) struct place p = place_begin()
#define STORE(s, p)                                                                                \
    CLEANUP(store_closep) struct store *s = NULL;                                                  \
    CHECK_OK(store_open(ctx, &(struct store_settings){.path = str_of((p).path)}, &s))

__attribute__((unused)) static const struct pool_ref mine = {{"anna", 4}, {"default", 7}};
__attribute__((unused)) static const struct pool_ref other_space = {{"anna", 4}, {"work", 4}};
__attribute__((unused)) static const struct pool_ref other_user = {{"ben", 3}, {"default", 7}};

__attribute__((unused)) static struct message said(const char *id, const char *role,
                                                   const char *text, int64_t created)
{
    return (struct message){.id = str_of(id),
                            .role = str_of(role),
                            .text = str_of(text),
                            .created = created};
}

__attribute__((unused)) static struct memory fact(const char *id, const char *key,
                                                  const char *content)
{
    return (struct memory){.id = str_of(id),
                           .key = str_of(key),
                           .content = str_of(content),
                           .importance = 0.5,
                           .created = 1700000000000};
}

/* One message into a session. */
__attribute__((unused)) static enum status say(struct ctx *ctx, struct store *s,
                                               struct pool_ref pool, const char *session,
                                               struct message *m)
{
    struct bundle b = {.pool = pool,
                       .session = {.id = str_of(session)},
                       .messages = m,
                       .n_messages = 1};
    return store_write(ctx, s, &b);
}

__attribute__((unused)) static enum status keep(struct ctx *ctx, struct store *s,
                                                struct pool_ref pool, enum put_rule rule,
                                                struct memory *m)
{
    struct bundle b = {.pool = pool, .memories = m, .n_memories = 1, .rule = rule};
    return store_write(ctx, s, &b);
}

/* What a search for the words of a text finds. */
__attribute__((unused)) static struct word_hits find(struct ctx *ctx, struct store *s,
                                                     struct pool_ref pool, const char *text)
{
    struct word_hits hits = {0};
    struct words words = words_of(&ctx->arena, str_of(text), QUERY_WORDS_MAX);
    str stems[QUERY_WORDS_MAX];
    for (size_t i = 0; i < words.n; i++)
        stems[i] = words.v[i].stem;
    CHECK_OK(store_search_words(ctx, s, pool, stems, words.n, 1000, &hits));
    return hits;
}

/* A direction in n dimensions that follows from a number. */
__attribute__((unused)) static float *direction(struct ctx *ctx, uint64_t seed, size_t n)
{
    float *v = NEW_N(&ctx->arena, float, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double x = 0;
        for (int k = 0; k < 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            x += (double)(seed >> 40) / (1 << 24) - 0.5;
        }
        v[i] = (float)x;
        sum += x * x;
    }
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(v[i] / sqrt(sum));
    return v;
}

/* The store has nothing to complain about. */
__attribute__((unused)) static void check_healthy(struct ctx *ctx, struct store *s)
{
    str findings;
    CHECK_OK(store_check(ctx, s, &findings));
    CHECK_STR(findings, S(""));
}
