/* import.c - the lines of an export into spaces: checked first, then written in batches. */
#include "surface/rest/import.h"

#include "surface/common/auth.h"
#include "surface/rest/transfer.h"

/*
 * Every line is read and checked before the first one is written, so a file with a mistake
 * changes nothing, and the failure names the line. Then lines of one kind and place are written
 * together, each batch all or nothing. Ids decide what is there already, so an import that was
 * cut is simply sent again.
 */
enum { BATCH = 200 };

struct line {
    enum line_kind kind;
    struct pool_ref pool;
    struct memory memory;
    struct session session;
    struct message_line message;
    struct transfer_bar bar;
};

struct import_out {
    int64_t lines, added[LINE_KINDS];
    bool dry_run;
};
const struct field import_out_fields[] = {
    {INT(struct import_out, lines), .help = "lines that were read"},
    {AS_INT(struct import_out, added[LINE_MEMORY], "memories"), .help = "memories that are new"},
    {AS_INT(struct import_out, added[LINE_SESSION], "sessions"), .help = "sessions that are new"},
    {AS_INT(struct import_out, added[LINE_MESSAGE], "messages"), .help = "messages that are new"},
    {AS_INT(struct import_out, added[LINE_BAR], "bars"),
     .help = "statements that recall may not give again, which are new"},
    {BOOL(struct import_out, dry_run), .help = "nothing was written; new ones were not counted"},
    {0},
};

const struct field import_in_fields[] = {
    {BOOL(struct import_out, dry_run), .help = "check the lines, and write nothing"},
    {0},
};

struct importing {
    struct ctx *ctx;
    struct app *app;
    const struct request *in;
    str seen_space; /* the last one that was found in reach */
    struct import_out *out;
};

/* A request that names a space puts everything there; else each line says where. */
static enum status find_place(struct importing *i, struct ctx *ctx, str space, struct pool_ref *out)
{
    *out = i->in->who.pool;
    if (i->in->who.space_from || !space.n)
        return OK;
    if (!str_eq(space, i->seen_space)) {
        TRY(auth_pool(ctx, i->app, &i->in->who, space, "space", out));
        i->seen_space = str_dup(&i->ctx->arena, space);
    }
    out->space = str_dup(&ctx->arena, space);
    return OK;
}

static enum status read_hash(struct ctx *ctx, str text, const char *field, uint64_t *out)
{
    uint64_t *v;
    size_t n;
    *out = 0;
    if (text.n && (!hashes_read(ctx, text, &v, &n) || n != 1))
        return fail_field(ctx, field, "must be 16 digits in hex");
    if (text.n)
        *out = *v;
    return OK;
}

static enum status read_bar(struct importing *i, struct ctx *ctx, const struct json *v,
                            struct line *out)
{
    struct bar_line b;
    uint64_t *terms;
    size_t n;
    TRY(fields_read(ctx, bar_line_fields, v, true, &b));
    TRY(read_hash(ctx, b.message, "message", &out->bar.message));
    if (!hashes_read(ctx, b.terms, &terms, &n))
        return fail_field(ctx, "terms", "must be numbers of 16 digits in hex");
    out->bar.kind = b.kind;
    out->bar.reason = b.reason;
    out->bar.at = b.at;
    out->bar.terms = terms;
    out->bar.n = n;
    return find_place(i, ctx, b.space, &out->pool);
}

static enum status read_message(struct importing *i, struct ctx *ctx, const struct json *v,
                                struct line *out)
{
    struct message_line *m = &out->message;
    TRY(fields_read(ctx, message_line_fields, v, true, m));
    TRY(read_hash(ctx, m->chain, "chain", &m->message.chain));
    TRY(read_hash(ctx, m->tail, "tail", &m->message.tail));
    return find_place(i, ctx, m->space, &out->pool);
}

/* The object without its kind, which no table has. */
static enum status read_kind(struct ctx *ctx, struct json *v, enum line_kind *kind)
{
    str name = json_string(json_get(v, "kind"));
    int at = name_index(line_kinds, name, -1);
    if (at < 0)
        return fail_field(ctx, "kind", "must be memory, session, message or bar");
    *kind = (enum line_kind)at;
    for (struct json **m = &v->first; *m; m = &(*m)->next) {
        if (str_is((*m)->key, "kind")) {
            *m = (*m)->next;
            v->n--;
            return OK;
        }
    }
    return OK;
}

static enum status read_line(struct importing *i, struct ctx *ctx, str text, struct line *out)
{
    struct json *v;
    *out = (struct line){0};
    TRY(json_parse(ctx, text, &v));
    if (v->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "a JSON object is expected");
    TRY(read_kind(ctx, v, &out->kind));
    switch (out->kind) {
    case LINE_MEMORY:
        TRY(fields_read(ctx, memory_line_fields, v, true, &out->memory));
        if (out->memory.metadata.n > METADATA_MAX)
            return fail_field(ctx, "metadata", "must have at most %d bytes", METADATA_MAX);
        return find_place(i, ctx, out->memory.space, &out->pool);
    case LINE_SESSION:
        TRY(fields_read(ctx, session_line_fields, v, true, &out->session));
        return find_place(i, ctx, out->session.space, &out->pool);
    case LINE_MESSAGE:
        return read_message(i, ctx, v, out);
    default:
        return read_bar(i, ctx, v, out);
    }
}

/* --- writing --- */

struct batch {
    struct line *v;
    size_t n;
};

static bool goes_with(const struct line *first, const struct line *next)
{
    bool is_place = str_eq(first->pool.space, next->pool.space);
    if (first->kind == LINE_SESSION || next->kind == LINE_SESSION)
        return is_place && first->kind == LINE_SESSION && next->kind == LINE_MESSAGE &&
               str_eq(first->session.id, next->message.message.session);
    return is_place && first->kind == next->kind &&
           (first->kind != LINE_MESSAGE ||
            str_eq(first->message.message.session, next->message.message.session));
}

static enum status write_session(struct importing *i, struct ctx *ctx, const struct batch *b)
{
    const struct line *first = &b->v[0];
    bool is_headed = first->kind == LINE_SESSION;
    struct session session = first->session, there;
    struct message *v = NEW_N(&ctx->arena, struct message, b->n);
    if (!is_headed)
        session = (struct session){.id = first->message.message.session};
    for (size_t k = is_headed; k < b->n; k++)
        v[k - is_headed] = b->v[k].message.message;
    enum status s = engine_session(ctx, i->app->engine, first->pool, session.id, &there);
    i->out->added[LINE_SESSION] += s == NOT_FOUND;
    if (!soft_if(ctx, s, NOT_FOUND))
        TRY(s);
    return engine_transfer_session(ctx, i->app->engine, first->pool, &session, v, b->n - is_headed,
                                   &i->out->added[LINE_MESSAGE]);
}

static enum status write_batch(struct importing *i, struct ctx *ctx, const struct batch *b)
{
    struct pool_ref pool = b->v[0].pool;
    if (b->v[0].kind == LINE_MEMORY) {
        struct memory *v = NEW_N(&ctx->arena, struct memory, b->n);
        for (size_t k = 0; k < b->n; k++)
            v[k] = b->v[k].memory;
        return engine_transfer_memories(ctx, i->app->engine, pool, v, b->n,
                                        &i->out->added[LINE_MEMORY]);
    }
    if (b->v[0].kind == LINE_BAR) {
        struct transfer_bar *v = NEW_N(&ctx->arena, struct transfer_bar, b->n);
        for (size_t k = 0; k < b->n; k++)
            v[k] = b->v[k].bar;
        return engine_transfer_put_bars(ctx, i->app->engine, pool, v, b->n,
                                        &i->out->added[LINE_BAR]);
    }
    return write_session(i, ctx, b);
}

static enum status name_line(struct importing *i, struct ctx *own, enum status s, int64_t line)
{
    if (own->field[0])
        return fail_field(i->ctx, own->field, "%s (line %lld)", own->why, (long long)line);
    return fail(i->ctx, s, "line %lld: %s", (long long)line, own->why);
}

/* One batch, with memory of its own: lines from the rest of the body on. */
static enum status next_batch(struct importing *i, str *rest, int64_t *line, bool writes)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(i->ctx, 0);
    struct batch b = {NEW_N(&own.arena, struct line, BATCH), 0};
    int64_t first = *line + 1;
    while (rest->n && b.n < BATCH) {
        str after = *rest, text = str_trim(str_cut(&after, '\n'));
        enum status s = text.n ? read_line(i, &own, text, &b.v[b.n]) : OK;
        if (s != OK)
            return name_line(i, &own, s, *line + 1);
        if (text.n && b.n && writes && !goes_with(&b.v[0], &b.v[b.n]))
            break;
        *rest = after;
        ++*line;
        b.n += text.n > 0;
    }
    if (!writes || !b.n)
        return OK;
    enum status s = write_batch(i, &own, &b);
    return s == OK ? OK : name_line(i, &own, s, first);
}

static enum status each_batch(struct importing *i, bool writes)
{
    str rest = i->in->body;
    int64_t line = 0;
    while (rest.n)
        TRY(next_batch(i, &rest, &line, writes));
    i->out->lines = line;
    return OK;
}

enum status memory_import(struct ctx *ctx, struct app *app, const struct request *in,
                          struct reply *out)
{
    struct import_out shape = {0};
    struct importing i = {.ctx = ctx, .app = app, .in = in, .out = &shape};
    str text = request_query(ctx, in, "dry_run");
    if (text.n && !truth_read(text, &shape.dry_run))
        return fail_field(ctx, "dry_run", "must be true or false");
    TRY(each_batch(&i, false));
    if (!shape.dry_run)
        TRY(each_batch(&i, true));
    reply_fields(out, import_out_fields, &shape);
    return OK;
}
