/* read.c - the records of our own export into spaces: checked first, written in batches. */
#include "base/id.h"
#include "core/session_title.h"
#include "engine/extract/secrets.h"
#include "ext/import/copy/lines.h"
#include "ext/import/importer.h"

/*
 * Every record is read and checked before the first one is written, so a file with a mistake
 * changes nothing, and the failure names the line. Then records of one kind and place are written
 * together, each batch all or nothing. Ids decide what is there already, so an import that was cut
 * is simply made again.
 *
 * A copy is not a new statement: nothing is estimated, distilled, barred or merged, as engine_add
 * and a chat do. What was derived (vectors, titles, counts) is made again from the rows.
 */
enum { BATCH = 200 };

struct line {
    enum line_kind kind;
    struct pool_ref pool;
    struct memory memory;
    struct session session;
    struct message_line message;
    struct bar_line bar;
};

enum copy_step { COPY_CHECKS, COPY_COUNTS, COPY_WRITES };

struct copying {
    struct import_run *run;
    copy_reader *next;
    int64_t added[LINE_KINDS], all[LINE_KINDS], updated; /* updated: memories */
    enum copy_step step;
};

static enum status read_hash(struct ctx *ctx, str text, const char *field, uint64_t *out)
{
    uint64_t *v;
    size_t n;
    if (!hashes_read(ctx, text, &v, &n) || n > 1)
        return fail_field(ctx, field, "must be 16 digits in hex");
    *out = n ? *v : 0;
    return OK;
}

/* The hashes of a message and of a bar, which are text in their lines. */
static enum status read_hashes(struct ctx *ctx, struct line *out)
{
    struct message_line *m = &out->message;
    struct bar_line *b = &out->bar;
    uint64_t *terms;
    TRY(read_hash(ctx, m->chain, "chain", &m->message.chain));
    TRY(read_hash(ctx, m->tail, "tail", &m->message.tail));
    TRY(read_hash(ctx, b->message, "message", &b->bar.message));
    if (!hashes_read(ctx, b->terms, &terms, &b->bar.n))
        return fail_field(ctx, "terms", "must be numbers of 16 digits in hex");
    b->bar.terms = terms;
    return OK;
}

/* The object without its kind, which no table has. */
static enum status read_kind(struct ctx *ctx, struct json *v, enum line_kind *kind)
{
    str name = json_string(json_get(v, "kind"));
    int at = name_index(line_kinds, name, -1);
    if (at < 0)
        return fail_field(ctx, "kind", "must be memory, session, message or bar");
    *kind = (enum line_kind)at;
    struct json **m = &v->first;
    while (!str_is(json_name(*m), "kind"))
        m = &(*m)->next;
    *m = (*m)->next;
    v->n--;
    return OK;
}

/* In Markdown the text stands below the object. */
static void put_text(struct ctx *ctx, struct json *v, enum line_kind kind,
                     const struct copy_record *record)
{
    static const char *const names[LINE_KINDS] = {
        [LINE_MEMORY] = "content", [LINE_MESSAGE] = "text"};
    if (!record->has_text || !names[kind])
        return;
    struct json *member = NEW(&ctx->arena, struct json), **tail = &v->first;
    str *texts = NEW_N(&ctx->arena, str, 2);
    texts[0] = str_of(names[kind]);
    texts[1] = record->text;
    *member = (struct json){.type = JSON_STRING, .is_decoded = true, .texts = texts};
    while (*tail)
        tail = &(*tail)->next;
    *tail = member; /* the last one of a name counts */
    v->n++;
}

static enum status read_line(struct copying *c, struct ctx *ctx, const struct copy_record *record,
                             struct line *out)
{
    struct json *v;
    const struct import_in *in = c->run->im.in;
    *out = (struct line){.pool = in->pool};
    TRY(json_parse(ctx, record->json, &v));
    if (v->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "a JSON object is expected");
    TRY(read_kind(ctx, v, &out->kind));
    put_text(ctx, v, out->kind, record);
    const struct {
        void *at;
        const str *space;
    } of[LINE_KINDS] = {[LINE_MEMORY] = {&out->memory, &out->memory.space},
                        [LINE_SESSION] = {&out->session, &out->session.space},
                        [LINE_MESSAGE] = {&out->message, &out->message.space},
                        [LINE_BAR] = {&out->bar, &out->bar.space}};
    TRY(fields_read(ctx, line_tables[out->kind], v, true, of[out->kind].at));
    /* What a line of this kind has not is zero, and passes. */
    if (out->memory.metadata.n > METADATA_MAX)
        return fail_field(ctx, "metadata", "must have at most %d bytes", METADATA_MAX);
    TRY(read_hashes(ctx, out));
    str space = *of[out->kind].space;
    return in->place && space.n ? in->place(in->own, ctx, space, &out->pool) : OK;
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

/* A memory that is there by its id stays, unless this one was changed later. */
static enum status write_memories(struct copying *c, struct ctx *ctx, const struct batch *b)
{
    struct engine *e = c->run->im.e;
    struct memory *v = NEW_N(&ctx->arena, struct memory, b->n);
    struct bundle all;
    for (size_t i = 0; i < b->n; i++) {
        v[i] = b->v[i].memory;
        if (v[i].layer != LAYER_FILE) /* kept byte for byte (engine/files.c) */
            secrets_leave(e, &ctx->arena, &v[i]);
    }
    TRY(import_memories(ctx, e, b->v[0].pool, v, b->n, &all));
    c->added[LINE_MEMORY] += (int64_t)all.added;
    c->updated += (int64_t)all.replaced;
    return OK;
}

/* A message that is there has its document already. */
static enum status count_new(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                             const struct message *v, size_t n, struct quota *out)
{
    struct message there;
    for (size_t i = 0; i < n; i++) {
        enum status s = store_message(ctx, e->store, pool, v[i].id, &there);
        TRY(soft_or(ctx, s, NOT_FOUND));
        out->messages += s == NOT_FOUND;
        out->bytes += s == NOT_FOUND ? quota_bytes(&v[i], 1, NULL, 0) : 0;
    }
    return OK;
}

/* As in a chat: a secret is one wherever it appears again in its conversation. */
static void leave_secrets(struct ctx *ctx, const struct engine *e, struct bundle *b)
{
    struct arena *a = &ctx->arena;
    struct strs found = {0};
    if (e->settings->keep_secrets)
        return;
    b->session.title = secrets_kept(e, a, b->session.title);
    b->session.metadata = secrets_kept_json(e, a, b->session.metadata);
    for (size_t i = 0; i < b->n_messages; i++)
        secrets_add(a, b->messages[i].text, &found);
    for (size_t i = 0; i < b->n_messages; i++) {
        b->messages[i].text = secrets_masked(a, b->messages[i].text, &found);
        b->messages[i].says = secrets_masked(a, b->messages[i].says, &found);
    }
}

/* Makes the session when it is missing, and adds the messages that it lacks to its end. */
static enum status write_session(struct copying *c, struct ctx *ctx, const struct batch *b)
{
    struct engine *e = c->run->im.e;
    const struct line *first = &b->v[0];
    bool is_headed = first->kind == LINE_SESSION;
    size_t n = b->n - is_headed;
    struct message *v = NEW_N(&ctx->arena, struct message, b->n);
    struct bundle all = {.pool = first->pool,
                         .session = first->session,
                         .messages = v,
                         .n_messages = n};
    struct quota more = {0};
    struct session there;
    all.session.id = is_headed ? first->session.id : first->message.message.session;
    for (size_t i = 0; i < n; i++)
        v[i] = b->v[i + is_headed].message.message;
    assert(all.session.id.n);
    leave_secrets(ctx, e, &all);
    TRY(count_new(ctx, e, all.pool, v, n, &more));
    enum status s = store_session(ctx, e->store, all.pool, all.session.id, &there);
    TRY(soft_or(ctx, s, NOT_FOUND));
    more.bytes += s == NOT_FOUND ? (int64_t)(all.session.title.n + all.session.metadata.n) : 0;
    TRY(engine_check_quota(ctx, e, all.pool, more));
    c->added[LINE_SESSION] += s == NOT_FOUND;
    c->added[LINE_MESSAGE] += more.messages;
    return store_write(ctx, e->store, &all);
}

static bool is_same(const struct bar *a, const struct bar *b)
{
    return a->kind == b->kind && a->reason == b->reason && a->at == b->at &&
           a->message == b->message && a->n == b->n &&
           (!a->n || memcmp(a->terms, b->terms, a->n * sizeof *a->terms) == 0);
}

/* Those that are missing; a dry run only counts them. */
static enum status write_bars(struct copying *c, struct ctx *ctx, const struct batch *b)
{
    struct store *store = c->run->im.e->store;
    struct bar *missing = NEW_N(&ctx->arena, struct bar, b->n);
    struct barring barring = {.pool = b->v[0].pool, .bars = missing};
    struct bundle makes_pool = {.pool = barring.pool};
    struct bars_read old;
    TRY(store_bars(ctx, store, barring.pool, 0, &old));
    for (size_t i = 0; i < b->n; i++) {
        const struct bar *bar = &b->v[i].bar.bar;
        if (!SOME(k, old.n, is_same(bar, &old.bars[k])))
            missing[barring.n++] = *bar;
    }
    if (barring.n && c->step == COPY_WRITES) {
        TRY(store_write(ctx, store, &makes_pool));
        TRY(store_bar(ctx, store, &barring));
    }
    c->added[LINE_BAR] += (int64_t)barring.n;
    return OK;
}

/* A dry run: what is not there by its id, or there in an earlier state, once each. */
static enum status count_line(struct copying *c, struct ctx *ctx, const struct line *l)
{
    struct store *store = c->run->im.e->store;
    struct memory memory;
    struct session session;
    struct message message;
    const str ids[LINE_KINDS] = {[LINE_MEMORY] = l->memory.id,
                                 [LINE_SESSION] = l->session.id,
                                 [LINE_MESSAGE] = l->message.message.id};
    str id = ids[l->kind];
    enum status s = l->kind == LINE_MEMORY    ? store_memory(ctx, store, l->pool, id, &memory)
                    : l->kind == LINE_SESSION ? store_session(ctx, store, l->pool, id, &session)
                                              : store_message(ctx, store, l->pool, id, &message);
    uint64_t hash = hash64(STR_LIST(l->pool.space, str_of(line_kinds[l->kind]), id));
    bool is_later =
        l->kind == LINE_MEMORY && s == OK && !memory.valid_to && l->memory.updated > memory.updated;
    if ((s == NOT_FOUND || is_later) && !seen_before(&c->run->seen, hash))
        ++*(is_later ? &c->updated : &c->added[l->kind]);
    return soft_if(ctx, s, NOT_FOUND) ? OK : s;
}

static enum status name_line(struct copying *c, struct ctx *own, enum status s, int64_t line)
{
    if (own->field[0])
        return fail_field(c->run->ctx, own->field, "%s (line %lld)", own->why, (long long)line);
    return fail_as(c->run->ctx, s, own->detail, "line %lld: %s", (long long)line, own->why);
}

static struct erased_ask ask_of(const struct line *l)
{
    const struct message *m = &l->message.message;
    if (l->kind == LINE_MEMORY)
        return (struct erased_ask){.memory = &l->memory, .created = l->memory.created};
    if (l->kind == LINE_SESSION)
        return (struct erased_ask){.session = &l->session, .created = l->session.created};
    return (struct erased_ask){.message = m, .created = m->created};
}

/* What was erased here is left out of the batch, and a title that was made of it; so is one of what
 * is suppressed in its space. */
static enum status leave_erased(struct copying *c, struct ctx *ctx, struct batch *b)
{
    struct erased_ask *v = NEW_N(&ctx->arena, struct erased_ask, b->n);
    bool *is_erased = NEW_N(&ctx->arena, bool, b->n);
    struct tombstones bars;
    size_t kept = 0;
    if (b->v[0].kind == LINE_BAR)
        return OK;
    TRY(tombstones_load(ctx, c->run->im.e, b->v[0].pool, &bars));
    for (size_t i = 0; i < b->n; i++)
        v[i] = ask_of(&b->v[i]);
    TRY(import_erased(ctx, c->run->im.e, b->v[0].pool, c->run->im.in, v, b->n, is_erased,
                      &c->run->im.report->erased));
    for (size_t i = 0; i < b->n; i++) {
        struct message m = b->v[i].message.message;
        m.is_echo = false; /* a title is of all that was said */
        if (b->v[0].kind == LINE_SESSION && b->v[i].kind == LINE_MESSAGE &&
            is_title_of(b->v[0].session.title, m.text) &&
            (is_erased[i] ||
             !is_title_of(b->v[0].session.title, tombstones_left(&bars, &ctx->arena, &m))))
            b->v[0].session.title = S("");
        if (!is_erased[i])
            b->v[kept++] = b->v[i];
    }
    b->n = kept;
    return OK;
}

/* All or nothing. A second time it changes nothing. */
static enum status take_batch(struct copying *c, struct ctx *ctx, struct batch *b)
{
    enum line_kind kind = b->v[0].kind;
    TRY(leave_erased(c, ctx, b));
    if (b->n && kind == LINE_BAR)
        return write_bars(c, ctx, b);
    if (b->n && c->step == COPY_WRITES)
        return kind == LINE_MEMORY ? write_memories(c, ctx, b) : write_session(c, ctx, b);
    for (size_t i = 0; i < b->n; i++)
        TRY(count_line(c, ctx, &b->v[i]));
    return OK;
}

/* One batch, with memory of its own: records from *rest on. */
static enum status next_batch(struct copying *c, str *rest, int64_t *line)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(c->run->ctx, 0);
    struct batch b = {NEW_N(&own.arena, struct line, BATCH), 0};
    struct copy_record record;
    int64_t first = 0, at = *line;
    str after = *rest;
    while (b.n < BATCH && c->next(&own.arena, &after, &at, &record)) {
        enum status s = read_line(c, &own, &record, &b.v[b.n]);
        if (s != OK)
            return name_line(c, &own, s, record.line);
        if (b.n && c->step != COPY_CHECKS && !goes_with(&b.v[0], &b.v[b.n]))
            break;
        first = first ? first : record.line;
        *rest = after;
        *line = at;
        c->all[b.v[b.n++].kind]++;
    }
    if (!b.n)
        *rest = after;
    if (!b.n || c->step == COPY_CHECKS)
        return OK;
    enum status s = take_batch(c, &own, &b);
    return s == OK ? OK : name_line(c, &own, s, first);
}

static enum status each_batch(struct copying *c, struct foreign *f, str text, enum copy_step step)
{
    int64_t line = 0;
    c->step = step;
    memset(c->all, 0, sizeof c->all);
    for (str rest = text; rest.n;) {
        TRY(next_batch(c, &rest, &line));
        if (step != COPY_CHECKS)
            import_progress(c->run, rest.p - f->text.p);
    }
    return OK;
}

static enum status read_copy(struct foreign *f, str text, copy_reader *next)
{
    struct copying c = {.run = f->run, .next = next};
    struct import_report *r = f->run->im.report;
    TRY(each_batch(&c, f, text, COPY_CHECKS));
    TRY(each_batch(&c, f, text, f->run->im.in->dry_run ? COPY_COUNTS : COPY_WRITES));
    for (int kind = 0; kind < LINE_KINDS; kind++)
        r->records += c.all[kind];
    r->memories += c.all[LINE_MEMORY];
    r->new_memories += c.added[LINE_MEMORY];
    r->updated += c.updated;
    r->sessions += c.all[LINE_SESSION];
    r->new_sessions += c.added[LINE_SESSION];
    r->messages += c.all[LINE_MESSAGE];
    r->new_messages += c.added[LINE_MESSAGE];
    r->bars += c.all[LINE_BAR];
    r->new_bars += c.added[LINE_BAR];
    return OK;
}

enum status copy_lines_read(struct foreign *f, str text)
{
    return read_copy(f, text, copy_next_line);
}

enum status copy_markdown_read(struct foreign *f, str text)
{
    return read_copy(f, text, copy_next_markdown);
}
