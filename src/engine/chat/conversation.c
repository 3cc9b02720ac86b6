/* conversation.c - the place of a conversation in the store: its session, and what is new in it. */
#include "engine/chat/turn.h"

#include "base/id.h"
#include "base/log.h"
#include "base/utf8.h"
#include "engine/chat/novelty.h"
#include "engine/extract/secrets.h"
#include "engine/recall/tombstones.h"
#include "engine/state/spool.h"
#include "engine/text/sentences.h"
#include "engine/text/utterance.h"

/*
 * A client sends the whole conversation with every request, or only its end, or only the new
 * message with a session's name. Each message has a chain, the hash of all that was said up to it,
 * so that the last known one is found by a few look-ups. Where a client has cut off the beginning,
 * the hash of two messages in a row (the tail) finds the place. Nothing known is a new session,
 * named by its first message: a request that comes again goes on in that session, even when the
 * first turn is still waiting to be written. Once the user went on there after the first answer,
 * the same beginning without that answer is another conversation; so is one whose last message was
 * forgotten since it was said.
 *
 * Example: the store knows "Hi" / "Hello!" / "I live in Oslo" / "Noted." A client that sends these
 * four and a fifth is found by the chain of the fourth: one look-up for the new message, one for
 * the known one. A client that kept only "I live in Oslo" / "Noted." has other chains, but the tail
 * of these two is the same, so it continues that session with the stored chains. decisions/003 has
 * the choice and what was not chosen.
 *
 * NEAR_END: messages at the end that are tried one by one before halving; a normal request adds one
 * or two. OVERLAP_MAX: stored messages of a named session that may begin the request again.
 * LOOKED_AT: messages after the known one in which a later user message is looked for, and at the
 * end whose tails are tried, as the last ones may be erased. TOOL_MAX: bytes of a tool's result
 * that are kept, which is never found.
 */

enum { NEAR_END = 3, OVERLAP_MAX = 16, HEARD_MAX = 10000, LOOKED_AT = 16, TOOL_MAX = 500 };

/* A message, without the injected block; system messages and empty texts are left out. */
struct heard {
    str role, text, name;
    uint64_t own, chain, tail; /* own: of this message alone */
    size_t at;                 /* index in said */
    str id;                    /* in the store; "" when it is not known */
};

struct place {
    struct ctx *ctx;
    struct engine *e;
    struct turn *t;
    struct heard *v;
    size_t n;
    uint64_t seed;
    size_t known; /* how many from the front are in the store */
    size_t begin; /* where the turn begins that the request adds */
    str session;
    bool is_part; /* the session may hold more than what was said here */
    bool is_away; /* the store */
};

/* --- hashes --- */

/* Trimmed, as clients differ in the white space that they send back. The role counts: a user who
 * types the assistant's words has said something else. */
static uint64_t hash_of(uint64_t seed, str role, str text)
{
    return hash64(STR_LIST({(const char *)&seed, sizeof seed}, role, str_trim(text)));
}

static uint64_t chain_link(uint64_t before, uint64_t own)
{
    const uint64_t both[] = {before, own};
    return hash64(STR_LIST({(const char *)both, sizeof both}));
}

/* Every chain starts from who talks where, so the same words of two users, in two spaces or in two
 * named sessions never share a chain. */
static uint64_t seed_of(const struct turn *t)
{
    str named = t->in.is_found ? S("") : t->in.session; /* as of the whole conversation */
    return hash64(STR_LIST(t->in.pool.user, t->in.pool.space, named));
}

/* The chains of the messages from `from` on, behind one that has this chain. */
static void link_from(struct place *p, size_t from, uint64_t chain)
{
    for (size_t i = from; i < p->n; i++)
        p->v[i].chain = chain = chain_link(chain, p->v[i].own);
}

/* Derived and not random: a retry of a request writes the same ids, and so the same rows. */
static str message_id(struct arena *a, str session, uint64_t chain)
{
    return ID_OF(a, session, {(const char *)&chain, sizeof chain});
}

/* --- looking --- */

/* "" for system, developer and unknown roles: their text is left out, as it may change with every
 * request (the time of day, for example) and would break the chain. */
static str role_of(str role)
{
    if (str_is(role, "function"))
        return S("tool");
    return str_is(role, "user") || str_is(role, "assistant") || str_is(role, "tool") ? role : S("");
}

uint64_t turn_own(const struct turn *t, str role, str text)
{
    return hash_of(seed_of(t), role_of(role), text);
}

/* Masked before it is cut, and without the end of what was masked, as half of a secret is not known
 * as one. */
static str tool_head(const struct place *p, str text)
{
    enum { TAIL = 64, MASK = 8 };
    str head = turn_masked(p->e, p->t, &p->ctx->arena, utf8_cut(text, 2 * TOOL_MAX));
    size_t tail = text.n > 2 * TOOL_MAX ? TAIL : 0;
    size_t most = head.n > tail + MASK ? head.n - tail : MASK;
    return utf8_cut(head, most < TOOL_MAX ? most : TOOL_MAX);
}

/* Only the end of a very long conversation counts, or one request would hold up all writes. */
static void read_said(struct place *p)
{
    const struct turn *t = p->t;
    size_t from = t->in.n_said > HEARD_MAX ? t->in.n_said - HEARD_MAX : 0;
    p->v = NEW_N(&p->ctx->arena, struct heard, t->in.n_said - from + 1);
    for (size_t i = from; i < t->in.n_said; i++) {
        const struct said *said = &t->in.said[i];
        str role = role_of(said->role), text = engine_strip_block(&p->ctx->arena, said->text);
        if (!role.n || !str_trim(text).n)
            continue;
        uint64_t own = said->own ? said->own : hash_of(p->seed, role, text);
        uint64_t tail = p->n ? chain_link(p->v[p->n - 1].own, own) : 0;
        if (str_is(role, "tool") && text.n > TOOL_MAX)
            text = tool_head(p, text);
        p->v[p->n++] = (struct heard){
            .role = role, .text = text, .name = said->name, .own = own, .tail = tail, .at = i};
    }
    link_from(p, 0, p->seed);
}

/* A read that fails found nothing; that the store is away, or PostgreSQL too late, is said once. */
static bool has_found(struct place *p, enum status s)
{
    bool is_late = s == TIMED_OUT && p->e->work.spool;
    bool is_away = is_late || (s == STORAGE && p->ctx->detail == STORAGE_AWAY);
    if (s != OK && s != NOT_FOUND && !(is_away && p->t->is_blind))
        log_event(LOG_WARN, "turn.place", "id=%s status=%s why=\"%s\"", p->ctx->id, status_name(s),
                  p->ctx->why);
    p->is_away |= is_away;
    p->t->is_blind |= is_away;
    return soft(p->ctx, s);
}

/* A store that is away is asked once. */
static bool find_message(struct place *p, uint64_t chain, uint64_t tail, struct message *out)
{
    return !p->is_away &&
           has_found(p, store_find_chain(p->ctx, p->e->store, p->t->in.pool, chain, tail, out));
}

/* Chains include all that is before, so where this message is known, all earlier ones are, too.
 * That is what makes halving valid in by_chain. */
static bool find_known(struct place *p, size_t i)
{
    struct message m;
    assert(i < p->n);
    if (!find_message(p, p->v[i].chain, 0, &m))
        return false;
    p->known = i + 1;
    p->session = m.session;
    p->is_part = p->t->in.brings_all && doc_position(m.doc) > (int64_t)i;
    return true;
}

/* The last message whose chain is known: near the end as a rule, else halving what lies before. */
static bool by_chain(struct place *p)
{
    size_t last = p->n;
    for (size_t i = 0; i < NEAR_END && last > 0; i++)
        if (find_known(p, --last))
            return true;
    if (last == 0 || !find_known(p, 0))
        return false;
    for (size_t low = 1, high = last; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (find_known(p, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return true;
}

/* The messages before the known one are the same in the session, where places of erased ones are
 * empty, and in the request. */
static void name_earlier(struct place *p, const struct message *found, size_t at)
{
    assert(at < p->n && found->session.n);
    int64_t from = doc_position(found->doc) - (int64_t)at;
    struct message *v;
    size_t n;
    if (has_found(p, store_session_messages(p->ctx, p->e->store, p->t->in.pool, found->session,
                                            from < 0 ? 0 : from, at + 1, &v, &n)))
        for (size_t i = 0; i < n && doc_position(v[i].doc) - from <= (int64_t)at; i++)
            p->v[doc_position(v[i].doc) - from].id = v[i].id;
}

/* A conversation whose beginning was cut off. */
static bool by_tail(struct place *p)
{
    struct message m, before;
    for (size_t back = 1; back <= LOOKED_AT && back < p->n; back++) {
        size_t i = p->n - back;
        if (!find_message(p, p->v[i].chain, p->v[i].tail, &m))
            continue;
        if (back > NEAR_END && /* two messages alone may be of another talk */
            (!find_message(p, p->v[i - 1].chain, p->v[i - 1].tail, &before) ||
             !str_eq(before.session, m.session)))
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

/* Whether a message that is kept is this one of the request: its secrets may be masked. */
static bool is_kept_as(const struct place *p, const struct message *m, const struct heard *h)
{
    str kept = str_trim(m->text), heard = str_trim(h->text);
    return str_eq(m->role, h->role) &&
           (str_eq(kept, heard) ||
            str_eq(kept, secrets_masked(&p->ctx->arena, heard, &p->t->secrets)));
}

/* The first k messages of the request are these of the store. */
static void take_known(struct place *p, const struct message *v, size_t k)
{
    uint64_t chain = v[k - 1].chain ? v[k - 1].chain : p->seed;
    for (size_t i = 0; i < k; i++) {
        p->v[i].id = v[i].id;
        p->v[i].chain = v[i].chain;
    }
    assert(k > 0 && k <= p->n);
    p->known = k;
    link_from(p, k, chain);
}

/*
 * A named session whose client sends new messages only: they follow its last one. What has no
 * answer yet and comes again is the same request, tried again; after an answer the same words are a
 * new message. Only where the request may be the whole conversation, the first message alone asks
 * for a better answer. The caller has waited for queued writes: the same words twice are two.
 */
static void after_last(struct place *p)
{
    assert(p->n && p->session.n && !p->known);
    struct message *v, m;
    size_t n = 0, most = p->n < OVERLAP_MAX ? p->n : OVERLAP_MAX;
    bool is_shown = p->t->in.n_window && doc_position(p->t->in.window[0].doc) == 0;
    if (!has_found(p, store_session_messages(p->ctx, p->e->store, p->t->in.pool, p->session,
                                             -(int64_t)most, most, &v, &n)))
        n = 0;
    assert(n <= most);
    for (size_t k = n; k > 0 && !p->known; k--) /* the session's last k are the request's first */
        if (EVERY(i, k, is_kept_as(p, &v[n - k + i], &p->v[i])))
            take_known(p, v + n - k, k);
    if (n)
        p->is_part = !is_shown && doc_position(v[n - 1].doc) + 1 > (int64_t)p->known;
    if (!n || p->known)
        return;
    const struct turn_in *in = &p->t->in; /* notes of calls are in no whole conversation */
    const struct message *last =
        in->is_found && in->n_window ? &in->window[in->n_window - 1] : &v[n - 1];
    if (!in->n_window && !in->is_found && doc_position(last->doc) == 1 &&
        find_message(p, p->v[0].chain, 0, &m)) {
        take_known(p, &m, 1);
        p->is_part = false;
        return;
    }
    link_from(p, 0, last->chain ? last->chain : p->seed);
    p->v[0].tail = chain_link(hash_of(p->seed, last->role, last->text), p->v[0].own);
}

static bool are_users(const struct place *p, size_t n)
{
    return EVERY(i, n, str_is(p->v[i].role, "user"));
}

/* Whether in the session the user went on after the answer to the message that is known. */
static bool has_gone_on(struct place *p)
{
    struct message known, *v;
    size_t n = 0;
    bool is_answered = false;
    if (!find_message(p, p->v[p->known - 1].chain, 0, &known) ||
        !has_found(p, store_session_messages(p->ctx, p->e->store, p->t->in.pool, p->session,
                                             doc_position(known.doc) + 1, LOOKED_AT, &v, &n)))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (is_answered && str_is(v[i].role, "user"))
            return true;
        is_answered |= str_is(v[i].role, "assistant");
    }
    return false;
}

/* Whether what comes again was forgotten since it was said: a retry comes with nothing between. */
static bool was_forgotten(struct place *p)
{
    struct message known;
    struct tombstones tombstones;
    if (p->known < p->n || !find_message(p, p->v[p->n - 1].chain, 0, &known) ||
        !soft(p->ctx, tombstones_load(p->ctx, p->e, p->t->in.pool, &tombstones)))
        return false;
    known.is_echo = false; /* all of it counts */
    return tombstones_left(&tombstones, &p->ctx->arena, &known).n < str_trim(known.text).n;
}

/* Whether a late turn is there with its answer: the client went on at another server with it. */
static bool was_brought(struct place *p)
{
    struct message m;
    const struct late *late = p->t->in.late;
    if (!late || !str_trim(late->answer).n || p->known < p->n)
        return false;
    uint64_t own = late->own ? late->own : turn_own(p->t, S("assistant"), late->answer);
    return find_message(p, chain_link(p->v[p->n - 1].chain, own), 0, &m);
}

/* Another talk that began with the same words. Its name follows from that of the one before, so
 * that a request that is sent twice begins one. */
static void begin_anew(struct place *p)
{
    p->session = ID_OF(&p->ctx->arena, S("session after"), p->session);
    p->known = 0;
    p->is_part = false;
    for (size_t i = 0; i < p->n; i++)
        p->v[i].id = S("");
}

/* The order matters. A request with an answer or a tool's result in it brings its own past; one
 * with only the user's messages may be the next message of a session that the server keeps. While
 * nothing known was answered, the request only begins like the session. A named session without its
 * history in the request goes by the session's end (after_last), unless the client always sends all
 * there is: then a conversation may begin anew in a session. All others are looked up by hash, and
 * only what is known by neither chain nor tail gets a new session: a random name when nothing was
 * said, else one derived from the first message, which the second request finds, too. */
static void find_place(struct place *p)
{
    p->session = p->t->in.session;
    if (!p->n) {
        p->session = p->session.n ? p->session : id_random(&p->ctx->arena);
        return;
    }
    bool is_named = p->session.n > 0;
    if (is_named && !p->t->in.brings_all && (p->t->in.n_window || are_users(p, p->n)))
        after_last(p);
    else if (by_chain(p) || by_tail(p)) {
        bool is_brought = was_brought(p);
        if (p->t->in.late)
            p->t->in.late->is_brought = is_brought;
        if (!is_brought && !is_named && p->known && are_users(p, p->known) &&
            (has_gone_on(p) || was_forgotten(p)))
            begin_anew(p);
    } else {
        p->is_part = is_named;
        if (!is_named)
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

/* Where the turn begins that the request adds: at the user's messages in a row at its end, or
 * before the tools' answers to them. */
static size_t turn_begin(const struct place *p)
{
    size_t at = p->n;
    while (at > 0 && !str_is(p->v[at - 1].role, "user"))
        at--;
    while (at > 1 && str_is(p->v[at - 2].role, "user"))
        at--;
    return at ? at - 1 : 0;
}

/* Earlier messages that the store has never seen may be examples of a prompt, which are about
 * nobody, so that the newest turn alone teaches. They are kept as echoes without anything new. The
 * answer to a message that is known is the conversation's, whoever has changed it. */
static bool is_history(const struct place *p, size_t i)
{
    bool is_answer = p->known && i == p->known && str_is(p->v[i].role, "assistant");
    return !p->e->settings->learn_history && !is_answer && !str_is(p->v[i].role, "tool") &&
           i < p->begin;
}

static struct message message_of(const struct place *p, size_t i, int64_t now)
{
    assert(i >= p->known && i < p->n && p->v[i].id.n);
    const struct heard *h = &p->v[i];
    return (struct message){.id = h->id,
                            .session = p->session,
                            .role = h->role,
                            .speaker = h->name,
                            .text = h->text,
                            .origin = origin_of(h->role),
                            .created = now,
                            .chain = h->chain,
                            .tail = h->tail,
                            .is_echo = is_history(p, i),
                            .says = S("")};
}

/* Called once per turn, before recall, on the thread of the request; writes nothing. Look-ups cost
 * at most NEAR_END + 1 + log2(messages) for the chains and LOOKED_AT for the tails. The ids of all
 * messages of the request go to out.ids, so that recall does not give back what the model reads. */
bool turn_place(struct ctx *ctx, struct engine *e, struct turn *t)
{
    struct place p = {.ctx = ctx, .e = e, .t = t, .seed = seed_of(t)};
    int64_t now = turn_at(t);
    assert(!t->n_fresh && t->in.pool.user.n);
    t->is_blind = !t->in.late && spool_holds(e->work.spool, t->in.pool);
    read_said(&p);
    find_place(&p);
    p.begin = turn_begin(&p);
    if (t->in.late && t->in.late->is_brought && p.begin < p.known)
        p.known = p.begin; /* to be learnt from */
    assert(p.known <= p.n && p.session.n);
    t->record.session = p.session;
    t->fresh = NEW_N(&ctx->arena, struct message, p.n + 1);
    t->spoken = NEW_N(&ctx->arena, struct said_at, p.n + 1);
    t->out.whole = p.is_part ? S("") : p.session;
    t->out.ids = (struct strs){NEW_N(&ctx->arena, str, p.n + t->in.n_window + 1), p.n};
    t->chain = t->last = 0;
    for (size_t i = 0; i < p.n; i++) {
        if (!p.v[i].id.n)
            p.v[i].id = message_id(&ctx->arena, p.session, p.v[i].chain);
        t->out.ids.v[i] = p.v[i].id;
        if (i >= p.known)
            t->fresh[t->n_fresh++] = message_of(&p, i, now);
        if (str_is(p.v[i].role, "user")) {
            t->record.chain = p.v[i].chain;
            t->spoken[t->n_spoken++] = (struct said_at){p.v[i].chain, p.v[i].at};
        }
        t->chain = p.v[i].chain;
        t->last = p.v[i].own;
    }
    for (size_t i = 0; i < t->in.n_window; i++) {
        const struct message *m = &t->in.window[i];
        t->out.ids.v[t->out.ids.n++] = m->id;
        if (!p.n) { /* tools' results without a text: the answer follows what was said before */
            t->chain = m->chain;
            t->last = turn_own(t, m->role, m->text);
        }
    }
    return !p.is_away;
}

/* What the user told in the message that is answered, also as a masked answer repeats it; "" where
 * the message asks as well: its answer is no repetition. */
static str told_in(struct arena *a, const struct engine *e, const struct turn *t)
{
    str text = t->n_spoken ? t->in.said[t->spoken[t->n_spoken - 1].at].text : S("");
    str own = utterance_own_words(a, text), told = utterance_statements(a, own, true);
    struct sentence s;
    for (str rest = own; told.n < own.n && sentence_cut(&rest, &s);)
        if (utterance_statements(a, s.text, true).n < s.text.n && !utterance_is_courtesy(a, s.text))
            return S("");
    str masked = turn_masked(e, t, a, told);
    return masked.p == told.p ? told : str_printf(a, S_FMT "\n" S_FMT, S_ARG(told), S_ARG(masked));
}

/* An answer that the model gave with memory in front of it, or to what the user told, is an echo:
 * its text is kept, but only its novel sentences (says) can be found (novelty.c). A stand-in answer
 * has none, and neither has the note of calls, which only holds the answer's name. */
struct message turn_answer(struct arena *a, struct engine *e, const struct turn *t, str answer,
                           bool teaches)
{
    bool is_note = !str_trim(answer).n;
    str role = is_note ? S("tool") : S("assistant"), text = is_note ? t->calls : answer;
    uint64_t masked = t->in.late ? t->in.late->own : 0;
    uint64_t own = masked ? masked : turn_own(t, role, text), chain = chain_link(t->chain, own);
    str told = is_note || teaches ? S("") : told_in(a, e, t);
    bool is_echo = t->in.stand_in || t->out.block.n || t->in.beside.n || told.n || is_note;
    str id = t->in.answer_id.n ? t->in.answer_id : message_id(a, t->record.session, chain);
    str says = S("");
    assert(text.n);
    if (is_echo && !is_note && !t->in.stand_in) /* a secret without what names it is none */
        says = novel_sentences(a, turn_masked(e, t, a, answer), t->out.block, told);
    if (says.n && t->in.beside.n) /* memory from another space, beside the same question */
        says = novel_sentences(a, says, t->in.beside, told);
    return (struct message){.id = id,
                            .session = t->record.session,
                            .role = role,
                            .text = text,
                            .origin = origin_of(role),
                            .created = turn_at(t),
                            .chain = chain,
                            .tail = t->last ? chain_link(t->last, own) : 0,
                            .is_echo = is_echo,
                            .says = says};
}

/* --- secrets --- */

/* A secret is one wherever it appears again in its conversation: a model repeats what its user has
 * typed, and a user what a model has made up, without the words that give it away. Answers are long
 * and texts of tools longer, so only the latest of them are looked at. */
enum { FROM_USER = 32, FROM_OTHERS = 4 };

void turn_find_secrets(const struct engine *e, struct turn *t)
{
    size_t by_user = 0, by_others = 0;
    if (e->settings->keep_secrets)
        return;
    for (size_t i = t->in.n_said; i-- > 0 && by_user < FROM_USER;) {
        const struct said *said = &t->in.said[i];
        bool is_user = said_by_user(said);
        size_t *looked = is_user ? &by_user : &by_others;
        if (++*looked <= (is_user ? (size_t)FROM_USER : (size_t)FROM_OTHERS))
            secrets_add(t->arena, said->text, &t->secrets);
    }
}

str turn_masked(const struct engine *e, const struct turn *t, struct arena *a, str text)
{
    return e->settings->keep_secrets ? text : secrets_masked(a, text, &t->secrets);
}
