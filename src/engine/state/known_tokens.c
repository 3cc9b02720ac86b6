/* known_tokens.c - tokens that were valid a moment ago, for chats while the store is away. */
#include "engine/state/known_tokens.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/workers.h"
#include "engine/state/state.h"

/* A chat must not fail because memory is away, and its token is in the same database. So a token
 * that was valid within KNOWN_MS before the database went away stays valid for as long as that
 * lasts, or until it expires. It opens nothing but the model server: everything else is in the
 * database. One of another hash may take its slot; then the client has to wait. */
enum { SLOTS = 1024, KNOWN_MS = 600000 };

struct known_tokens {
    pthread_mutex_t lock;
    int64_t away_since; /* unix ms; 0: it is not away */
    struct known {
        struct arena texts;
        struct token token; /* its hash is empty: none */
        int64_t at;         /* when it was valid */
    } slots[SLOTS];
};

void known_tokens_open(struct engine *e)
{
    e->accounts.known = heap_alloc(sizeof *e->accounts.known);
    pthread_mutex_init(&e->accounts.known->lock, NULL);
}

void known_tokens_close(struct engine *e)
{
    struct known_tokens *all = e->accounts.known;
    for (size_t i = 0; i < SLOTS; i++)
        arena_free(&all->slots[i].texts);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

static struct known *slot_of(struct known_tokens *all, str hash)
{
    return &all->slots[hash64(&hash, 1) % SLOTS];
}

static struct token copy_of(struct arena *a, const struct token *t)
{
    struct token out = *t;
    STRS_DUP(a, &out.id, &out.hash, &out.name, &out.pool.user, &out.pool.space, &out.acts_for,
             &out.scopes, &out.spaces, &out.parent, &out.prefix, &out.last_address);
    return out;
}

static void clear_slot(struct known *k)
{
    arena_reset(&k->texts);
    k->token = (struct token){0};
}

void known_tokens_note(struct engine *e, str hash, const struct token *t)
{
    struct known_tokens *all = e->accounts.known;
    struct known *k = slot_of(all, hash);
    HOLD(&all->lock);
    all->away_since = 0;
    if (t || str_eq(k->token.hash, hash))
        clear_slot(k);
    if (t) {
        k->token = copy_of(&k->texts, t);
        k->token.hash = str_dup(&k->texts, hash);
        k->at = clock_ms();
    }
}

void known_tokens_forget(struct engine *e, str user)
{
    struct known_tokens *all = e->accounts.known;
    HOLD(&all->lock);
    for (size_t i = 0; i < SLOTS; i++)
        if (str_eq(all->slots[i].token.pool.user, user))
            clear_slot(&all->slots[i]);
}

enum status engine_know_tokens(struct ctx *ctx, struct engine *e)
{
    struct token *v;
    size_t n;
    TRY(store_used_tokens(ctx, e->store, clock_ms() - KNOWN_MS, SLOTS, &v, &n));
    while (n--) {
        if (!token_is_valid(&v[n], clock_ms()))
            continue;
        known_tokens_note(e, v[n].hash, &v[n]);
        if (!v[n].is_open)
            atomic_store(&e->accounts.needs_token, true);
    }
    return OK;
}

bool known_tokens_find(struct ctx *ctx, struct engine *e, str hash, struct token *out)
{
    struct known_tokens *all = e->accounts.known;
    struct known *k = slot_of(all, hash);
    int64_t now = clock_ms();
    HOLD(&all->lock);
    if (!all->away_since)
        all->away_since = now;
    bool is_known = str_eq(k->token.hash, hash) && k->at >= all->away_since - KNOWN_MS &&
                    (!k->token.expires || k->token.expires > now);
    if (is_known)
        *out = copy_of(&ctx->arena, &k->token);
    return is_known;
}
