/* profile.c - a user's profile as memories: read, merged name by name, forgotten. */
#include "ext/profile/reading.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/extract/secrets.h"
#include "engine/recall/tombstone_writer.h"
#include "engine/text/claims.h"
#include "lang/profile_told_lists.h"

/*
 * A profile has no table of its own. Each of its facts is a memory in the layer identity with the
 * key profile.NAME, so that recall, forgetting, isolation, history and encryption are those of
 * memories. The content is what is searched and shown ("favorite color: green"), the metadata keeps
 * the value as JSON.
 */
#define CATEGORY "profile"
#define KEY "profile."
#define IMPORTANCE 0.85

enum { PAGE = 1000 };

/* --- a fact and its memory --- */

/* A text as it reads, anything else as its JSON. */
static str shown_value(const struct json *value)
{
    return value->type == JSON_STRING ? json_string(value) : value->source;
}

/* "favorite color: green": what is searched, and what a chat is shown. */
static str content_of(struct arena *a, str name, str value)
{
    return str_printf(a, S_FMT ": " S_FMT, S_ARG(profile_words(a, name)), S_ARG(value));
}

/* The value as JSON, so that a number comes back as a number. */
static FIELDS(profile_fact, (STR, name), (JSON, value));

static str metadata_of(struct arena *a, const struct profile_fact *f)
{
    struct json_out w = json_in(a, METADATA_MAX);
    fields_write(&w, profile_fact_fields, f);
    return buf_str(w.b);
}

static const struct json *text_value(struct ctx *ctx, str text)
{
    struct json_out w = json_in(&ctx->arena, text.n * 6 + 8);
    struct json *v = NEW(&ctx->arena, struct json);
    json_str(&w, text);
    soft(ctx, json_parse(ctx, buf_str(w.b), &v));
    return v;
}

/* The content decides: a client may have changed it by another API, and the metadata then holds the
 * old value. */
static bool fact_of(struct ctx *ctx, const struct memory *m, struct profile_fact *out)
{
    if (!str_starts(m->key, S(KEY)) || m->key.n == strlen(KEY))
        return false;
    out->name = str_sub(m->key, strlen(KEY), m->key.n);
    out->value = json_get(json_of_text(ctx, m->metadata), "value");
    if (out->value &&
        str_eq(m->content, content_of(&ctx->arena, out->name, shown_value(out->value))))
        return true;
    str head = content_of(&ctx->arena, out->name, S("")), text = m->content;
    if (str_starts(text, head))
        text = str_sub(text, head.n, text.n);
    out->value = text_value(ctx, text);
    return true;
}

/* --- reading --- */

/* What is kept of one name. */
struct kept_fact {
    struct profile_fact fact;
    const struct memory *memory;
    enum slot slot; /* that what is said in chats may fill, or SLOT_COUNT */
};
struct kept {
    struct kept_fact *v; /* by name */
    size_t n, cap;
};

ORDER(by_name, struct kept_fact, BY_TEXT(fact.name));

/* A street is more than the town that someone says. */
static enum slot slot_of_name(struct arena *a, str name)
{
    str words = profile_words(a, name);
    enum slot slot = slot_of_label(words);
    bool is_single = slot != SLOT_COUNT && slot_rows[slot].is_single && slot != SLOT_partner;
    return is_single && !str_is(words, "address") ? slot : SLOT_COUNT;
}

/* All memories of a profile; with_history: closed ones too. */
static enum status list_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                bool with_history, struct kept *out)
{
    struct memory_filter f = {.pool = pool,
                              .layer = S("identity"),
                              .category = S(CATEGORY),
                              .with_closed = with_history,
                              .limit = PAGE};
    struct memory *v;
    size_t n = PAGE;
    *out = (struct kept){0};
    for (; n == PAGE; f.offset += n) {
        TRY(store_list_memories(ctx, e->store, &f, &v, &n, NULL));
        for (size_t i = 0; i < n; i++) {
            struct kept_fact one = {.memory = &v[i]};
            if (!fact_of(ctx, &v[i], &one.fact))
                continue;
            one.slot = slot_of_name(&ctx->arena, one.fact.name);
            ARENA_ADD(&ctx->arena, out->v, out->n, out->cap) = one;
        }
    }
    SORT(out->v, out->n, by_name);
    return OK;
}

/* "Lives in Hamar now". */
static str without_now(str value)
{
    for (const char *const *end = value_ends; *end; end++)
        if (str_ends(value, str_of(*end)))
            return str_trim(str_sub(value, 0, value.n - strlen(*end)));
    return value;
}

/* What a memory of a chat says of each fact, or "". A name, a home, an employer, a job and a school
 * count, which one has once. */
static void read_told(struct ctx *ctx, const struct memory *m, const struct kept *of, str *says)
{
    struct reading r = {.ctx = ctx};
    memset(says, 0, of->n * sizeof *says);
    if (m->layer == LAYER_IDENTITY || m->layer == LAYER_FACT)
        read_fact_memory(&r, m);
    for (size_t i = r.n; i-- > 0;) {
        str name = r.v[i].name;
        bool is_calling =
            str_is(name, "nickname") && !SOME(x, of->n, str_eq_nocase(of->v[x].fact.name, name));
        enum slot slot = is_calling ? SLOT_name : slot_of_name(&ctx->arena, name);
        for (size_t k = 0; k < of->n && slot != SLOT_COUNT; k++)
            if (of->v[k].slot == slot)
                says[k] = without_now(r.v[i].value);
    }
}

/* What the user said in chats, the newest first, and no more than a profile can wait for. */
static enum status list_told(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                             enum memory_closed closed, struct memory_page *out)
{
    struct memory_page_in ask = {.select = SELECT_ALL, .limit = 5 * PAGE};
    ask.select.pools = &pool;
    ask.select.n_pools = 1;
    ask.select.origin = ORIGIN_USER;
    ask.select.closed = closed;
    return store_memory_page(ctx, e->store, &ask, out);
}

/* Current facts by name. What a chat of the last moments has said counts. */
enum status engine_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                           struct profile *out)
{
    struct kept kept;
    struct memory_page told = {0};
    engine_catch_up(ctx, e, pool);
    TRY(list_profile(ctx, e, pool, false, &kept));
    struct profile p = {.v = NEW_N(&ctx->arena, struct profile_fact, kept.n + 1), .n = kept.n};
    str *says = NEW_N(&ctx->arena, str, kept.n + 1);
    if (kept.n)
        TRY(list_told(ctx, e, pool, CLOSED_OUT, &told));
    for (size_t i = 0; i < kept.n; i++) {
        p.v[i] = kept.v[i].fact;
        p.updated = kept.v[i].memory->updated > p.updated ? kept.v[i].memory->updated : p.updated;
    }
    for (size_t t = told.n; t-- > 0;) {
        read_told(ctx, &told.v[t], &kept, says);
        for (size_t i = 0; i < kept.n; i++)
            if (says[i].n && told.v[t].created >= kept.v[i].memory->updated) {
                p.v[i].value = text_value(ctx, says[i]);
                p.updated = told.v[t].created > p.updated ? told.v[t].created : p.updated;
            }
    }
    *out = p;
    return OK;
}

/* --- changing --- */

struct changes {
    struct ctx *ctx;
    struct profile_fact *v; /* by name, each once; a value of null removes */
    size_t n;
    struct kept kept; /* what is there of all names, closed ones too */
    struct memory_page told;
    struct bundle b;
    str *erase;               /* of b */
    struct closing *closes;   /* of b */
    struct memory *forgotten; /* what they state is barred */
    size_t n_forgotten;
    size_t cap, cap_erase, cap_closes, cap_forgotten;
};

ORDER(by_member, typeof(const struct json *),
      str_cmp(json_name(*x), json_name(*y))
          ?: ((*x)->source.p > (*y)->source.p) - ((*x)->source.p < (*y)->source.p))

/* Of two members with one name the last counts, as JSON parsers do. */
static void gather_changes(struct changes *c, const struct json *facts)
{
    const struct json **all = NEW_N(&c->ctx->arena, const struct json *, facts->n + 1);
    size_t n = 0;
    for (const struct json *m = facts->first; m; m = m->next)
        all[n++] = m;
    qsort(all, n, sizeof *all, by_member);
    c->v = NEW_N(&c->ctx->arena, struct profile_fact, n + 1);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(json_name(all[i]), json_name(all[i + 1])))
            c->v[c->n++] = (struct profile_fact){json_name(all[i]), all[i]};
}

/* Counted in characters and not bytes; the message names the member as "facts.NAME". */
static enum status check_fact(struct ctx *ctx, const struct profile_fact *f)
{
    str full = str_printf(&ctx->arena, "facts." S_FMT, S_ARG(f->name));
    const char *field = str_c(&ctx->arena, utf8_cut(full, sizeof ctx->field - 1));
    size_t name = utf8_length(f->name), value = utf8_length(shown_value(f->value));
    if (name < 1 || name > PROFILE_NAME_MAX)
        return fail_field(ctx, field, "a name must have 1 to %d characters, has %zu",
                          PROFILE_NAME_MAX, name);
    if (str_trim(f->name).n < f->name.n ||
        SOME(i, f->name.n, (unsigned char)f->name.p[i] < ' ' || f->name.p[i] == 127))
        return fail_field(ctx, field,
                          "a name must not begin or end with a blank, nor hold control characters");
    if (value > PROFILE_VALUE_MAX)
        return fail_field(ctx, field, "must have at most %d characters, has %zu", PROFILE_VALUE_MAX,
                          value);
    return OK;
}

/* Noted here, barred before anything is erased (write_changes). */
static void bar_fact(struct changes *c, const struct memory *m, str content)
{
    struct memory one = *m;
    one.content = content;
    ARENA_ADD(&c->ctx->arena, c->forgotten, c->n_forgotten, c->cap_forgotten) = one;
}

static void erase_fact(struct changes *c, str id)
{
    ARENA_ADD(&c->ctx->arena, c->erase, c->b.n_erase, c->cap_erase) = id;
    c->b.erase = c->erase;
}

/* Erases it, with what it states barred: "dog name: Olivia" is said as "my dog is called Olivia",
 * without the word. */
static void forget_fact(struct changes *c, const struct memory *m)
{
    const str label = str_of(" name:");
    size_t at = str_find(m->content, label);
    bar_fact(c, m, m->content);
    if (at < m->content.n)
        bar_fact(c, m,
                 str_printf(&c->ctx->arena, S_FMT S_FMT, S_ARG(str_sub(m->content, 0, at)),
                            S_ARG(str_sub(m->content, at + label.n, m->content.n))));
    erase_fact(c, m->id);
}

/* PUT_SUPERSEDE closes the memory with the same key, so the old value stays as history. */
static void set_fact(struct changes *c, const struct profile_fact *f, enum origin origin,
                     int64_t now)
{
    struct arena *a = &c->ctx->arena;
    struct bundle *b = &c->b;
    assert(f->name.n && f->value->type != JSON_NULL);
    struct strs tags = {NEW(a, str), 1};
    tags.v[0] = S(CATEGORY);
    ARENA_ADD(a, b->memories, b->n_memories, c->cap) =
        (struct memory){.layer = LAYER_IDENTITY,
                        .type = TYPE_FACTUAL,
                        .category = S(CATEGORY),
                        .key = str_printf(a, KEY S_FMT, S_ARG(f->name)),
                        .content = content_of(a, f->name, shown_value(f->value)),
                        .metadata = metadata_of(a, f),
                        .tags = tags,
                        .importance = IMPORTANCE,
                        .salience = IMPORTANCE,
                        .origin = origin,
                        .created = now,
                        .updated = now,
                        .last_used = now,
                        .valid_from = now};
}

/* Whether a chat's memory goes with a removed fact, or is closed for another value of a caller. */
static bool is_left(struct changes *c, const struct memory *m, const struct kept_fact *of, str says)
{
    struct bundle *b = &c->b;
    for (size_t i = 0; i < b->n_memories; i++) {
        const struct memory *now = &b->memories[i];
        if (!str_eq(now->key, of->memory->key))
            continue;
        if (m->valid_to || now->origin != ORIGIN_API ||
            str_eq_nocase(now->content, content_of(&c->ctx->arena, of->fact.name, says)))
            return false;
        ARENA_ADD(&c->ctx->arena, c->closes, b->n_closes, c->cap_closes) =
            (struct closing){m->id, i};
        b->closes = c->closes;
        return true;
    }
    if (!SOME(i, b->n_erase, str_eq(b->erase[i], of->memory->id)))
        return false;
    forget_fact(c, m);
    return true;
}

/* What chats have said of a name since the profile has it is of its history. */
static enum status leave_told(struct changes *c, struct engine *e)
{
    TRY(list_told(c->ctx, e, c->b.pool, CLOSED_TOO, &c->told));
    str *says = NEW_N(&c->ctx->arena, str, c->kept.n + 1);
    for (size_t t = 0; t < c->told.n; t++) {
        read_told(c->ctx, &c->told.v[t], &c->kept, says);
        for (size_t k = 0; k < c->kept.n; k++)
            if (says[k].n && c->told.v[t].created >= c->kept.v[k].memory->created &&
                is_left(c, &c->told.v[t], &c->kept.v[k], says[k]))
                break;
    }
    return OK;
}

/* Neither closed nor expired. */
static bool is_true(const struct memory *m, int64_t now)
{
    return !m->valid_to && (!m->expires || m->expires > now);
}

/*
 * Removing a name erases its history too. A value of another JSON type with the same text (5 and
 * "5") would be the same memory for the store, so the old one is erased first. Returns the number
 * of current memories with this name.
 */
static size_t forget_kept(struct changes *c, const struct profile_fact *f, int64_t now)
{
    size_t live = 0;
    for (const struct kept_fact *at = c->kept.v; at < c->kept.v + c->kept.n; at++) {
        if (!str_eq(at->fact.name, f->name))
            continue;
        bool is_live = is_true(at->memory, now);
        bool is_other = is_live && f->value->type != at->fact.value->type &&
                        str_eq(shown_value(f->value), shown_value(at->fact.value));
        if (f->value->type == JSON_NULL)
            forget_fact(c, at->memory);
        else if (is_other)
            erase_fact(c, at->memory->id);
        live += is_live;
    }
    return live;
}

/* Removals come first: a request that removes one name and adds another must fit a full profile,
 * which drops facts that were read from a text and refuses those of a caller. */
static enum status merge_facts(struct changes *c, struct engine *e, enum origin origin)
{
    assert(c->b.pool.user.n && c->b.pool.space.n);
    engine_catch_up(c->ctx, e, c->b.pool); /* what was said before is older than this edit */
    int64_t now = clock_ms();
    TRY(list_profile(c->ctx, e, c->b.pool, true, &c->kept));
    size_t live = 0, removed = 0, added = 0;
    for (size_t i = 0; i < c->kept.n; i++)
        live += is_true(c->kept.v[i].memory, now);
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].value->type == JSON_NULL)
            removed += forget_kept(c, &c->v[i], now);
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].value->type == JSON_NULL)
            continue;
        bool is_new = !forget_kept(c, &c->v[i], now);
        if (is_new && origin == ORIGIN_DISTILLED && live - removed + added >= PROFILE_MAX)
            continue;
        added += is_new;
        set_fact(c, &c->v[i], origin, now);
    }
    if (added && live - removed + added > PROFILE_MAX)
        return fail_field(c->ctx, "facts", "would have %zu names; at most %d",
                          live - removed + added, PROFILE_MAX);
    return leave_told(c, e);
}

/* What was said of a value that a caller has changed is history. */
static enum status bar_changed(struct changes *c, struct engine *e)
{
    const struct bundle *b = &c->b;
    for (size_t i = 0; i < b->n_memories; i++)
        for (size_t k = 0; k < c->kept.n; k++) {
            const struct memory *m = &b->memories[i], *old = c->kept.v[k].memory;
            if (str_eq(old->key, m->key) && is_true(old, m->updated))
                TRY(bar_superseded(c->ctx, e, b->pool, old, m));
        }
    for (size_t i = 0; i < b->n_closes; i++)
        for (size_t t = 0; t < c->told.n; t++)
            if (str_eq(c->told.v[t].id, b->closes[i].id))
                TRY(bar_superseded(c->ctx, e, b->pool, &c->told.v[t],
                                   &b->memories[b->closes[i].by]));
    return OK;
}

/* What is forgotten is barred first, as engine_forget does it. */
static enum status write_changes(struct ctx *ctx, struct engine *e, struct changes *c)
{
    struct bundle *b = &c->b;
    const struct barring_in in = {.pool = b->pool,
                                  .reason = BAR_FORGOTTEN,
                                  .memories = c->forgotten,
                                  .n = c->n_forgotten};
    int64_t barred;
    if (!b->n_erase && !b->n_memories)
        return OK;
    for (size_t i = 0; i < b->n_memories; i++)
        secrets_leave(e, &ctx->arena, &b->memories[i]);
    if (in.n)
        TRY(bar_statements(ctx, e, &in, &barred));
    if (b->n_memories > b->n_erase)
        TRY(engine_check_quota(ctx, e, b->pool,
                               (struct quota){.memories = (int64_t)(b->n_memories - b->n_erase),
                                              .bytes = quota_bytes(NULL, 0, b->memories,
                                                                   b->n_memories)}));
    TRY(store_write(ctx, e->store, b));
    /* The cache of embeddings may hold what was erased. */
    if (b->n_erase)
        embed_forget(e->embed);
    return OK;
}

enum status engine_change_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  const struct json *facts, struct profile *out)
{
    struct changes c = {.ctx = ctx, .b = {.pool = pool, .rule = PUT_SUPERSEDE}};
    if (!facts || facts->type != JSON_OBJECT)
        return fail_field(ctx, "facts", "must be an object");
    gather_changes(&c, facts);
    for (size_t i = 0; i < c.n; i++)
        TRY(check_fact(ctx, &c.v[i]));
    TRY(merge_facts(&c, e, ORIGIN_API));
    TRY(write_changes(ctx, e, &c));
    TRY(bar_changed(&c, e));
    return engine_profile(ctx, e, pool, out);
}

/* For facts read from a text: checked already, and those without room are dropped. */
enum status profile_keep(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         const struct json *facts, const struct work *work)
{
    struct changes c = {.ctx = ctx, .b = {.pool = pool, .rule = PUT_SUPERSEDE, .work = work}};
    gather_changes(&c, facts);
    TRY(merge_facts(&c, e, ORIGIN_DISTILLED));
    if (!c.b.n_memories && work)
        return store_log_work(ctx, e->store, work);
    return write_changes(ctx, e, &c);
}

/* With history, and barred in what was said. */
enum status engine_forget_profile(struct ctx *ctx, struct engine *e, struct pool_ref pool)
{
    struct changes c = {.ctx = ctx, .b = {.pool = pool, .rule = PUT_SUPERSEDE}};
    engine_catch_up(ctx, e, pool); /* else the turn would be kept behind it */
    TRY(list_profile(ctx, e, pool, true, &c.kept));
    for (size_t i = 0; i < c.kept.n; i++)
        forget_fact(&c, c.kept.v[i].memory);
    TRY(leave_told(&c, e));
    return write_changes(ctx, e, &c);
}
