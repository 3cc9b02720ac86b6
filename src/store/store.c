/* store.c - the face of the store: checks what comes in and hands it to the database. */
#include "store/store.h"

#include "store/sql/state/reader.h"
#include "store/vectors/row.h"
#include "store/with_postgres.h"

/*
 * ops.def lists each operation once, with its parameters and its check; it gives the functions of
 * the face below and the prototypes of those that do the work (sql_store.h). A check costs nothing
 * but comparisons and never asks the database, so a wrong input fails in the same words on each.
 */

/* Of PostgreSQL's URLs: libpq knows both. */
static const char *const postgres_schemes[] = {
#ifdef WITH_POSTGRES
    "postgres",
    "postgresql",
#endif
    NULL,
};

/* "scheme://…" names a database; a path without one is a file. */
enum status store_open(struct ctx *ctx, const struct store_settings *settings, struct store **out)
{
    if (!settings->path.n)
        return fail(ctx, BAD_INPUT, "the store needs a path");
    size_t at = str_find(settings->path, S("://"));
    str scheme = at < settings->path.n ? str_sub(settings->path, 0, at) : S("");
    bool is_postgres = name_index(postgres_schemes, scheme, -1) >= 0;
    if (scheme.n && !is_postgres)
        return fail(ctx, UNSUPPORTED, "this build has no store for '" S_FMT "://'", S_ARG(scheme));
    return sql_open(ctx, settings, is_postgres, out);
}

struct store_view store_view_begin(struct ctx *ctx, struct store *s)
{
    bool is_inner = ctx->view != NULL;
    if (!is_inner)
        reader_view_begin(ctx, s);
    return (struct store_view){ctx, s, is_inner};
}

void store_view_rest(struct ctx *ctx, struct store *s)
{
    (void)s;
    if (ctx->view)
        reader_view_rest(ctx);
}

void store_view_pause(struct ctx *ctx, struct store *s)
{
    if (!store_is_postgres(sql_of(s)))
        store_view_rest(ctx, s);
}

void store_view_end(struct store_view *v)
{
    if (!v->is_inner)
        reader_view_end(v->ctx);
}

/* --- what comes in --- */

static enum status check_pool(struct ctx *ctx, struct pool_ref pool)
{
    return pool.user.n && pool.space.n ? OK
                                       : fail(ctx, BAD_INPUT, "a pool needs a user and a space");
}

/* Every space of a user has no name. */
static enum status check_reach(struct ctx *ctx, struct pool_ref pool)
{
    return pool.user.n || !pool.space.n ? OK : fail(ctx, BAD_INPUT, "a space needs a user");
}

static enum status check_bundle(struct ctx *ctx, const struct bundle *b)
{
    TRY(check_pool(ctx, b->pool));
    if (b->n_messages && !b->session.id.n)
        return fail(ctx, BAD_INPUT, "messages need a session");
    if ((b->n_distilled || b->replaces) && !b->session.id.n)
        return fail(ctx, BAD_INPUT, "signals and what is replaced need a session");
    for (size_t i = 0; i < b->n_memories; i++)
        if (!b->memories[i].content.n)
            return fail_field(ctx, "content", "must not be empty");
    return OK;
}

/* These need an answer, so store_write must be used. */
static enum status check_later(struct ctx *ctx, const struct bundle *b)
{
    assert(!b->replaces && !b->work && !b->n_erase && !b->n_closes);
    return check_bundle(ctx, b);
}

static enum status check_type(struct ctx *ctx, str type)
{
    if (type.n && name_index(type_names, type, -1) < 0)
        return fail_field(ctx, "type", "must be factual, episodic, procedural or semantic");
    return OK;
}

static enum status check_filter(struct ctx *ctx, const struct memory_filter *f)
{
    if (f->layer.n && name_index(layer_names, f->layer, -1) < 0)
        return fail_field(ctx, "layer", "must be fact, episode, identity or summary");
    if (f->kind.n && name_index(kind_names, f->kind, -1) < 0)
        return fail_field(ctx, "kind",
                          "must be fact, preference, context, procedure, entity or relationship");
    if (f->priority.n && name_index(priority_names, f->priority, -1) < 0)
        return fail_field(ctx, "priority", "must be critical, high, medium or low");
    return check_type(ctx, f->type);
}

/* A selection of no pool finds nothing; one of every pool cannot be asked for. */
static enum status check_select(struct ctx *ctx, const struct memory_select *f)
{
    for (size_t i = 0; i < f->n_pools; i++)
        TRY(check_pool(ctx, f->pools[i]));
    return OK;
}

/* Exactly one of the five kinds must be asked for: an empty filter
 * is an error and not "everything". */
static enum status check_forget(struct ctx *ctx, const struct forget *what)
{
    int asked = (what->id.n > 0) + (what->session.n > 0) + what->everything + what->memories +
                (what->n_ids > 0);
    if (asked != 1 || (what->all_spaces && !what->everything))
        return fail(ctx, BAD_INPUT, "say one of an id, ids, a session, the memories or everything");
    if ((what->type.n || what->before) && !what->memories)
        return fail(ctx, BAD_INPUT, "only memories are forgotten by type or age");
    if (what->keeps_memories && !what->session.n)
        return fail(ctx, BAD_INPUT, "memories are kept where a session is forgotten");
    TRY(check_type(ctx, what->type));
    if (!what->pool.user.n || (!what->pool.space.n && !what->all_spaces))
        return fail(ctx, BAD_INPUT, "a pool needs a user and a space");
    return OK;
}

static enum status check_change(struct ctx *ctx, const struct change *change)
{
    TRY(check_pool(ctx, change->pool));
    if ((change->what & CHANGE_CONTENT) && !change->to.content.n)
        return fail_field(ctx, "content", "must not be empty");
    return OK;
}

static enum status check_condense(struct ctx *ctx, struct pool_ref pool, const struct condensing *v,
                                  size_t n)
{
    TRY(check_pool(ctx, pool));
    if (!n || n > CONDENSED_MAX)
        return fail(ctx, BAD_INPUT, "1 to %d summaries are written at once", CONDENSED_MAX);
    for (size_t i = 0; i < n; i++) {
        if (!v[i].n)
            return fail(ctx, BAD_INPUT, "say which memories to condense");
        if (!v[i].summary.content.n)
            return fail_field(ctx, "content", "must not be empty");
    }
    return OK;
}

static enum status check_setting(struct ctx *ctx, str name)
{
    return name.n ? OK : fail(ctx, BAD_INPUT, "a setting needs a name");
}

static enum status check_words(struct ctx *ctx, size_t n)
{
    if (n > QUERY_WORDS_MAX)
        return fail(ctx, BAD_INPUT, "at most %d words are searched at once", QUERY_WORDS_MAX);
    return OK;
}

static enum status check_set(struct ctx *ctx, const struct vector_set *set)
{
    if (set->signature.n && (!set->dimensions || set->dimensions > VECTOR_DIMENSIONS_MAX))
        return fail(ctx, BAD_INPUT, "vectors have 1 to %d dimensions", VECTOR_DIMENSIONS_MAX);
    return OK;
}

static enum status check_session(struct ctx *ctx, struct pool_ref pool,
                                 const struct session *session)
{
    TRY(check_pool(ctx, pool));
    return session->id.n ? OK : fail(ctx, BAD_INPUT, "a session needs an id");
}

static enum status check_token(struct ctx *ctx, const struct token *t)
{
    TRY(check_pool(ctx, t->pool));
    return t->id.n && t->hash.n ? OK : fail(ctx, BAD_INPUT, "a token needs an id and a hash");
}

/* Both checks guard the boundary between users: a token under another user's name would open that
 * user's memories. */
static enum status check_user(struct ctx *ctx, const struct user *u, const struct token *token)
{
    if (!u->id.n)
        return fail(ctx, BAD_INPUT, "a user needs an id");
    if (token)
        TRY(check_token(ctx, token));
    if (token && !str_eq(token->pool.user, u->id))
        return fail(ctx, BAD_INPUT, "the token is another user's");
    return OK;
}

/* Whether the store is a file; what others are left to do with a tool of their own. */
static enum status check_file(struct ctx *ctx, struct store *s, const char *name,
                              const char *instead)
{
    if (store_is_postgres(sql_of(s)))
        return fail(ctx, UNSUPPORTED, "the store in PostgreSQL has no '%s' yet: %s", name, instead);
    return OK;
}

/* --- the functions of the face --- */

#define OP(name, params, args, check)                                                              \
    enum status store_##name(struct ctx *ctx, struct store *s OP_MORE params)                      \
    {                                                                                              \
        TRY(check);                                                                                \
        return sql_##name(ctx, s OP_MORE args);                                                    \
    }
#include "store/ops.def"
#undef OP
