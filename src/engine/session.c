/* session.c - where a conversation stands in the store: which session, and what is new in it. */
#include "engine/engine_int.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"

/*
 * A client sends the whole conversation with every request, or only its end, or only the new
 * message with a session's name. Each message has a chain, the hash of all that was said up to it,
 * so that the last known one is found by a few look-ups. Where a client has cut off the beginning,
 * the hash of two messages in a row (the tail) finds the place. Nothing known is a new session,
 * named by its first message: whoever begins the same way again goes on in the same session, even
 * when the first turn is still waiting to be written.
 */

enum { NEAR_END = 3, OVERLAP_MAX = 16, HEARD_MAX = 10000 };

/* What was said, without system messages, empty texts and injected blocks. */
struct heard {
    str role, text, name;
    uint64_t own, chain, tail; /* own: of this message alone */
    str id;                    /* in the store; "" when it is not known */
};

struct place {
    struct ctx *ctx;
    struct engine *e;
    struct turn *t;
    struct heard *v;
    size_t n;
    uint64_t seed;
    size_t known; /* so many from the front are in the store */
    str session;
    bool is_part; /* the session may hold more than what was said here */
};

/* --- hashes --- */

static uint64_t hash_of(uint64_t seed, str role, str text)
{
    const str parts[] = {{(const char *)&seed, sizeof seed}, role, str_trim(text)};
    return hash64(parts, 3);
}

static uint64_t linked(uint64_t before, uint64_t own)
{
    const uint64_t both[] = {before, own};
    const str part = {(const char *)both, sizeof both};
    return hash64(&part, 1);
}

static uint64_t seed_of(const struct turn *t)
{
    const str parts[] = {t->pool.user, t->pool.space, t->session};
    return hash64(parts, 3);
}

/* The chains of the messages from `from` on, behind one that has this chain. */
static void link_from(struct place *p, size_t from, uint64_t chain)
{
    for (size_t i = from; i < p->n; i++)
        p->v[i].chain = chain = linked(chain, p->v[i].own);
}

static str message_id(struct arena *a, str session, uint64_t chain)
{
    const str parts[] = {session, {(const char *)&chain, sizeof chain}};
    return id_of(a, parts, 2);
}

/* --- looking --- */

static str role_of(str role)
{
    if (str_is(role, "function"))
        return S("tool");
    return str_is(role, "user") || str_is(role, "assistant") || str_is(role, "tool") ? role : S("");
}

/* Of a very long conversation the end: the rest is as cut off, or one request would hold up all
 * that others want written. */
static void hear(struct place *p)
{
    const struct turn *t = p->t;
    size_t from = t->n_said > HEARD_MAX ? t->n_said - HEARD_MAX : 0;
    p->v = NEW_N(&p->ctx->arena, struct heard, t->n_said - from + 1);
    for (size_t i = from; i < t->n_said; i++) {
        str role = role_of(t->said[i].role);
        str text = engine_strip_block(&p->ctx->arena, t->said[i].text);
        if (!role.n || !str_trim(text).n)
            continue;
        uint64_t own = hash_of(p->seed, role, text);
        p->v[p->n] =
            (struct heard){.role = role, .text = text, .name = t->said[i].name, .own = own};
        p->v[p->n].tail = p->n ? linked(p->v[p->n - 1].own, own) : 0;
        p->n++;
    }
    link_from(p, 0, p->seed);
}

/* Whether the store has it; a failing store has nothing. */
static bool look(struct place *p, uint64_t chain, uint64_t tail, struct message *out)
{
    enum status s = store_find_chain(p->ctx, p->e->store, p->t->pool, chain, tail, out);
    if (s != OK && s != NOT_FOUND)
        log_event(LOG_WARN, "turn.place", "id=%s status=%s why=\"%s\"", p->ctx->id, status_name(s),
                  p->ctx->why);
    ctx_clear_failure(p->ctx);
    return s == OK;
}

static bool look_at(struct place *p, size_t i)
{
    struct message m;
    if (!look(p, p->v[i].chain, 0, &m))
        return false;
    p->known = i + 1;
    p->session = m.session;
    return true;
}

/* The last message whose chain is known: near the end as a rule, else halving what lies before. */
static bool by_chain(struct place *p)
{
    size_t last = p->n;
    for (size_t i = 0; i < NEAR_END && last > 0; i++)
        if (look_at(p, --last))
            return true;
    if (last == 0 || !look_at(p, 0))
        return false;
    for (size_t low = 1, high = last; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (look_at(p, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return true;
}

/* What the session holds before the known message stands before it in the request, too. */
static void name_earlier(struct place *p, const struct message *found, size_t at)
{
    int64_t from = doc_position(found->doc) - (int64_t)at;
    struct message *v;
    size_t n;
    size_t skip = from < 0 ? (size_t)-from : 0;
    if (store_session_messages(p->ctx, p->e->store, p->t->pool, found->session, from < 0 ? 0 : from,
                               at + 1 - skip, &v, &n) == OK)
        for (size_t i = 0; i < n && skip + i <= at; i++)
            p->v[skip + i].id = v[i].id;
    ctx_clear_failure(p->ctx);
}

/* A conversation whose beginning was cut off. */
static bool by_tail(struct place *p)
{
    struct message m;
    for (size_t back = 1; back <= NEAR_END && back < p->n; back++) {
        size_t i = p->n - back;
        if (!look(p, p->v[i].chain, p->v[i].tail, &m))
            continue;
        p->known = i + 1;
        p->session = m.session;
        p->v[i].chain = m.chain;
        p->is_part = doc_position(m.doc) > (int64_t)i;
        link_from(p, i + 1, m.chain);
        name_earlier(p, &m, i);
        return true;
    }
    return false;
}

/* Whether the session's last k messages are the request's first. */
static bool is_overlap(const struct place *p, const struct message *v, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (!str_eq(v[i].role, p->v[i].role) ||
            !str_eq(str_trim(v[i].text), str_trim(p->v[i].text)))
            return false;
    return true;
}

/* The first k messages of the request are these of the store. */
static void take_known(struct place *p, const struct message *v, size_t k)
{
    uint64_t chain = v[k - 1].chain ? v[k - 1].chain : p->seed;
    for (size_t i = 0; i < k; i++) {
        p->v[i].id = v[i].id;
        p->v[i].chain = v[i].chain;
    }
    p->known = k;
    link_from(p, k, chain);
}

/*
 * A named session whose client sends new messages only: they follow its last one. What has no
 * answer yet and comes again is the same request, tried again; what was answered is said anew. Only
 * where the request may be the whole conversation, the first message alone is a better answer asked
 * for. What waits to be written is waited for, or the same words twice would be one message.
 */
static void after_last(struct place *p)
{
    struct message *v, m;
    size_t n = 0, most = p->n < OVERLAP_MAX ? p->n : OVERLAP_MAX;
    bool is_shown = p->t->n_window && doc_position(p->t->window[0].doc) == 0;
    (void)!store_settle(p->ctx, p->e->store);
    if (store_session_messages(p->ctx, p->e->store, p->t->pool, p->session, -(int64_t)most, most,
                               &v, &n) != OK)
        n = 0;
    ctx_clear_failure(p->ctx);
    for (size_t k = n; k > 0 && !p->known; k--)
        if (is_overlap(p, v + n - k, k))
            take_known(p, v + n - k, k);
    if (n)
        p->is_part = !is_shown && doc_position(v[n - 1].doc) + 1 > (int64_t)p->known;
    if (!n || p->known)
        return;
    const struct message *last = &v[n - 1];
    if (!p->t->n_window && doc_position(last->doc) == 1 && look(p, p->v[0].chain, 0, &m)) {
        take_known(p, &m, 1);
        p->is_part = false;
        return;
    }
    link_from(p, 0, last->chain ? last->chain : p->seed);
    p->v[0].tail = linked(hash_of(p->seed, last->role, last->text), p->v[0].own);
}

static bool has_history(const struct place *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (!str_is(p->v[i].role, "user"))
            return true;
    return false;
}

static void find(struct place *p)
{
    p->session = p->t->session;
    if (!p->n) {
        p->session = p->session.n ? p->session : id_random(&p->ctx->arena);
        return;
    }
    if (p->session.n && (p->t->n_window || !has_history(p)))
        after_last(p);
    else if (!by_chain(p) && !by_tail(p)) {
        p->is_part = p->session.n > 0;
        if (!p->session.n)
            p->session = message_id(&p->ctx->arena, S("session"), p->v[0].chain);
    }
}

/* --- what is new --- */

static enum origin origin_of(str role)
{
    return str_is(role, "user")   ? ORIGIN_USER
           : str_is(role, "tool") ? ORIGIN_TOOL
                                  : ORIGIN_ASSISTANT;
}

static struct message message_of(const struct place *p, const struct heard *h, int64_t now)
{
    return (struct message){.id = h->id,
                            .session = p->session,
                            .role = h->role,
                            .speaker = h->name,
                            .text = h->text,
                            .origin = origin_of(h->role),
                            .created = now,
                            .chain = h->chain,
                            .tail = h->tail};
}

void turn_place(struct ctx *ctx, struct engine *e, struct turn *t)
{
    struct place p = {.ctx = ctx, .e = e, .t = t, .seed = seed_of(t)};
    int64_t now = clock_ms();
    hear(&p);
    find(&p);
    t->record.session = p.session;
    t->fresh = NEW_N(&ctx->arena, struct message, p.n + 1);
    t->whole = p.is_part ? S("") : p.session;
    t->ids = (struct strs){NEW_N(&ctx->arena, str, p.n + t->n_window + 1), p.n};
    t->chain = t->last = 0;
    for (size_t i = 0; i < p.n; i++) {
        if (!p.v[i].id.n)
            p.v[i].id = message_id(&ctx->arena, p.session, p.v[i].chain);
        t->ids.v[i] = p.v[i].id;
        if (i >= p.known)
            t->fresh[t->n_fresh++] = message_of(&p, &p.v[i], now);
        if (str_is(p.v[i].role, "user"))
            t->record.chain = p.v[i].chain;
        t->chain = p.v[i].chain;
        t->last = p.v[i].own;
    }
    for (size_t i = 0; i < t->n_window; i++)
        t->ids.v[t->ids.n++] = t->window[i].id;
}

struct message turn_answer(struct arena *a, const struct turn *t, str answer)
{
    uint64_t own = hash_of(seed_of(t), S("assistant"), answer), chain = linked(t->chain, own);
    bool is_echo = t->stand_in || t->block.n;
    str id = t->answer_id.n ? t->answer_id : message_id(a, t->record.session, chain);
    return (struct message){.id = id,
                            .session = t->record.session,
                            .role = S("assistant"),
                            .text = answer,
                            .origin = ORIGIN_ASSISTANT,
                            .created = clock_ms(),
                            .chain = chain,
                            .tail = t->last ? linked(t->last, own) : 0,
                            .is_echo = is_echo,
                            .says =
                                is_echo && !t->stand_in ? echo_says(a, answer, t->block) : S("")};
}
