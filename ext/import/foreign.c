/* foreign.c - sessions with messages, and memories, on their way from readers to the store. */
#include "ext/import/foreign.h"

#include "base/id.h"
#include "base/time_text.h"
#include "engine/extract/secrets.h"
#include "ext/import/importer.h"

/* Bytes, as the lines of our own export take them. */
enum { ID_MAX = 256, TITLE_MAX = 4096, CATEGORY_MAX = 128, CONTENT_MAX = 65536 };
enum { BATCH = 500, BATCH_BYTES = 2 << 20 };
enum { PROGRESS_STEP = 1 << 18 }; /* bytes between two calls */

static enum status check_size(struct foreign *f, const char *field, str text, size_t most)
{
    return text.n <= most
               ? OK
               : fail_field(f->ctx, field, "must have at most %zu bytes, has %zu", most, text.n);
}

enum status foreign_skip(struct foreign *f)
{
    f->run->im.report->skipped++;
    return OK;
}

str foreign_session_id(const struct foreign *f, str id)
{
    return str_printf(&f->ctx->arena, S_FMT "-" S_FMT, S_ARG(f->format), S_ARG(id));
}

void import_progress(struct import_run *run, int64_t done)
{
    int64_t now = run->done + done;
    if (!run->im.in->progress || (now - run->told < PROGRESS_STEP && now < run->all))
        return;
    run->told = now;
    run->im.in->progress(now, run->all);
}

/* --- sessions --- */

/* The session's texts are needed until its last bundle is written. */
static enum status open_session(struct import_run *run, const struct session *s)
{
    struct session kept = *s;
    if (str_eq(run->im.b.session.id, s->id))
        return OK;
    TRY(importer_write(&run->im));
    run->im.b.session = (struct session){.id = S("")};
    arena_reset(&run->session);
    kept.id = str_dup(&run->session, s->id);
    kept.title = secrets_kept(run->im.e, &run->session, str_dup(&run->session, s->title));
    kept.metadata =
        secrets_kept_json(run->im.e, &run->session, str_dup(&run->session, s->metadata));
    return importer_session(&run->im, &kept);
}

enum status foreign_session(struct foreign *f, const struct session *session,
                            const struct message *v, size_t n)
{
    struct import_run *run = f->run;
    assert(session->id.n && run->im.once);
    TRY(check_size(f, "id", session->id, ID_MAX));
    TRY(check_size(f, "title", session->title, TITLE_MAX));
    for (size_t i = 0; i < n; i++)
        TRY(check_size(f, "id", v[i].ref, ID_MAX));
    TRY(open_session(run, session));
    run->im.now = session->created ? session->created : f->modified;
    for (size_t i = 0; i < n; i++) {
        struct message m = message_copy(&run->im.work.arena, &v[i]);
        m.origin = ORIGIN_IMPORT;
        TRY(importer_message(&run->im, &m));
        run->im.now = v[i].created ? v[i].created : run->im.now;
    }
    return OK;
}

/* --- sessions that begin with the messages of others --- */

/* By its words, as a copy has another time and may have no id; as they are stored. */
static uint64_t said_hash(const struct foreign *f, str session, str role, str text)
{
    return hash64(STR_LIST(f->format, session, role, text));
}

/* Of a session that is in no file of this import. */
static enum status note_stored(struct foreign *f, str session, str as)
{
    enum { PIECE = 500 };
    struct import_run *run = f->run;
    str id = foreign_session_id(f, session);
    int64_t from = 0;
    for (size_t n = PIECE; n == PIECE;) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(f->ctx, 0);
        struct message *v;
        TRY(ctx_pass(f->ctx, &own,
                     store_session_messages(&own, run->im.e->store, run->im.in->pool, id, from,
                                            PIECE, &v, &n)));
        for (size_t i = 0; i < n; i++)
            seen_before(&run->said, said_hash(f, as, v[i].role, v[i].text));
        from = n ? doc_position(v[n - 1].doc) + 1 : from;
    }
    return OK;
}

enum status foreign_fork(struct foreign *f, str session, str parent)
{
    struct seen *said = &f->run->said;
    bool is_nearest = !f->state.parent.n;
    seen_before(said, hash64(STR_LIST(f->format, session)));
    if (parent.n && is_nearest)
        f->state.parent = str_dup(&f->run->ctx->arena, parent);
    if (!parent.n || seen_before(said, hash64(STR_LIST(f->format, parent))) ||
        (!is_nearest && !f->state.is_stored))
        return OK;
    f->state.is_stored = true; /* without what it has of its own parent */
    return note_stored(f, parent, f->state.parent);
}

bool foreign_is_copied(struct foreign *f, str session, const struct message *m)
{
    struct seen *said = &f->run->said;
    str text = secrets_kept(f->run->im.e, &f->ctx->arena, m->text), from = f->state.parent;
    int64_t before = seen_before(said, said_hash(f, session, m->role, text));
    bool is_copied = from.n && seen_times(said, said_hash(f, from, m->role, text)) > before;
    if (!is_copied)
        f->state.parent = S("");
    return is_copied;
}

bool foreign_has_elsewhere(struct foreign *f, str session, str ref)
{
    struct seen *said = &f->run->said;
    uint64_t any = hash64(STR_LIST(f->format, ref));
    uint64_t here = hash64(STR_LIST(f->format, ref, session));
    if (!ref.n || (seen_times(said, any) && !seen_times(said, here)))
        return ref.n > 0;
    seen_before(said, any);
    seen_before(said, here);
    return false;
}

/* --- memories --- */

/* The source's own members, and where the memory is from. */
static str metadata_of(struct foreign *f, const struct memory *m)
{
    struct arena *a = &f->ctx->arena;
    enum { ESCAPED = 6, NAMES = 256 };
    struct json_out w = json_in(a, ESCAPED * (m->metadata.n + m->id.n) + NAMES);
    struct json *own = NULL;
    json_open(&w, '{');
    if (m->metadata.n && soft(f->ctx, json_parse(f->ctx, m->metadata, &own)))
        for (const struct json *v = own->first; v; v = v->next)
            if (!str_is(json_name(v), "imported_from") && !str_is(json_name(v), "source_id"))
                json_member_raw(&w, str_c(a, json_name(v)), v->source);
    json_member_str(&w, "imported_from", f->format);
    if (m->id.n)
        json_member_str(&w, "source_id", m->id);
    json_close(&w, '}');
    assert(!w.b->full);
    return buf_str(w.b);
}

static enum status complete_memory(struct foreign *f, struct memory *m)
{
    struct arena *a = &f->ctx->arena;
    const struct import_run *run = f->run;
    bool has_time = m->created > 0;
    m->content = str_trim(m->content);
    TRY(check_size(f, "content", m->content, CONTENT_MAX));
    TRY(check_size(f, "category", m->category, CATEGORY_MAX));
    m->metadata = metadata_of(f, m);
    secrets_leave(run->im.e, a, m);
    TRY(check_size(f, "metadata", m->metadata, METADATA_MAX));
    /* The same record gives the same id, in every import. */
    m->id = id_is_uuid(m->id) ? str_lower(a, m->id)
            : m->id.n         ? ID_OF(a, f->format, S("id"), m->id)
                              : ID_OF(a, f->format, S("content"), m->content);
    m->origin = ORIGIN_IMPORT;
    m->updated = m->updated ? m->updated : has_time ? m->created : f->modified;
    m->created = has_time ? m->created : f->modified;
    m->updated = m->updated > m->created ? m->updated : m->created;
    m->last_used = m->updated;
    m->importance = m->salience = importance_by_rule(a, m);
    /* As a message that says so: what was forgotten before is left out. */
    struct message said = {.id = m->id, .role = S("user"), .text = m->content};
    said.created = m->created;
    if (!has_time)
        tombstones_date_back(&run->im.bars, a, &said);
    m->content = run->im.bars.n ? tombstones_left(&run->im.bars, a, &said) : m->content;
    return OK;
}

enum status import_flush_memories(struct import_run *run)
{
    struct bundle b = {.pool = run->im.in->pool,
                       .memories = run->memories,
                       .n_memories = run->n_memories,
                       .rule = PUT_IMPORT};
    bool is_written = run->n_memories && !run->im.in->dry_run;
    enum status s = is_written ? engine_check_quota(&run->batch, run->im.e, b.pool, run->more) : OK;
    if (s == OK && is_written)
        s = store_write(&run->batch, run->im.e->store, &b);
    s = importer_pass(&run->record, &run->batch, s);
    run->memories = NULL;
    run->n_memories = run->bytes = 0;
    run->more = (struct quota){0};
    arena_reset(&run->batch.arena);
    return s;
}

/* What a later update of the source says is written over what is there, unless somebody changed it
 * here since. */
enum status foreign_memory(struct foreign *f, const struct memory *given)
{
    struct import_run *run = f->run;
    struct import_report *r = run->im.report;
    struct memory m = *given, there = {0};
    bool is_erased;
    TRY(complete_memory(f, &m));
    if (!m.content.n)
        return foreign_skip(f);
    r->memories++;
    if (seen_before(&run->seen, hash64(&m.id, 1)))
        return OK;
    const struct erased_ask ask = {.memory = &m, .created = given->created};
    TRY(import_erased(f->ctx, run->im.e, run->im.in->pool, run->im.in, &ask, 1, &is_erased,
                      &r->erased));
    if (is_erased)
        return OK;
    enum status s = store_memory(f->ctx, run->im.e->store, run->im.in->pool, m.id, &there);
    bool is_new = s == NOT_FOUND;
    TRY(soft_or(f->ctx, s, NOT_FOUND));
    if (!is_new &&
        (there.valid_to || str_eq(there.content, m.content) || m.updated <= there.updated))
        return OK;
    memories_add(&run->batch.arena, &run->memories, &run->n_memories,
                 memory_copy(&run->batch.arena, &m));
    run->bytes += m.content.n + m.metadata.n;
    run->more.memories += is_new && !m.valid_to;
    run->more.bytes += quota_bytes(NULL, 0, &m, 1) - quota_bytes(NULL, 0, &there, 1);
    r->new_memories += is_new;
    r->updated += !is_new;
    return run->n_memories == BATCH || run->bytes > BATCH_BYTES ? import_flush_memories(run) : OK;
}

/* --- what several readers need --- */

enum status foreign_time(struct ctx *ctx, const struct json *v, const char *field, int64_t *out)
{
    static const double ms_from = 1e11; /* seconds until the year 5138 are less */
    *out = 0;
    if (!v || v->type == JSON_NULL || (v->type == JSON_STRING && !json_string(v).n))
        return OK;
    if (v->type == JSON_STRING && time_read(json_string(v), out))
        return OK;
    double n = json_num_or(v, -1);
    if (n < 0 || (n >= ms_from && n > (double)TIME_LATEST_MS))
        return fail_field(ctx, field, "must be a time: ISO 8601, or seconds since 1970");
    *out = (int64_t)(n < ms_from ? n * 1000 : n);
    return OK;
}

str foreign_text_of(struct arena *a, const struct json *content, const char *type,
                    bool (*skips)(str text))
{
    struct buf b = buf_make(a, SIZE_MAX);
    if (!content || content->type != JSON_ARRAY)
        return skips && skips(json_string(content)) ? S("") : json_string(content);
    for (const struct json *v = content->first; v; v = v->next) {
        str text = v->type == JSON_STRING ? json_string(v) : json_string(json_get(v, "text"));
        if (!text.n || (skips && skips(text)) || (type && !str_is(text_in(v, "type"), type)))
            continue;
        buf_add(&b, b.n ? S("\n\n") : S(""));
        buf_add(&b, text);
    }
    return buf_str(&b);
}
