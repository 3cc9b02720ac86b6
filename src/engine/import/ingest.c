/* ingest.c - turns from a file into a pool: JSON lines, or LoCoMo. */
#include "engine/import/ingest.h"

#include <assert.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/time_text.h"
#include "engine/extract/secrets.h"
#include "engine/recall/bars.h"
#include "engine/text/session_title.h"

/* Messages in one bundle; a longer session is written in parts. */
enum { BUNDLE_MAX = 2000, LINE_MAX_BYTES = 16 << 20, PROGRESS_EVERY = 1 << 20 };

/* The file is mapped and read line by line, or parsed as a whole where it is LoCoMo's array. Each
 * bundle is of one session; a line of another session ends it. */
struct line {
    str session, role, content, speaker, id;
    int64_t created;
};

static const char *const roles[] = {"user", "assistant", "tool", "system", NULL};

static const struct field line_table[] = {
    {STR(struct line, session), .required = true, .min = 1, .max = 500,
     .help = "the conversation it belongs to"},
    {STR(struct line, role), .one_of = roles, .otherwise_str = "user", .help = "who speaks"},
    {STR(struct line, content), .required = true, .help = "the text"},
    {STR(struct line, speaker), .max = 200, .help = "the speaker's name"},
    {TIME(struct line, created), .help = "when it was said; now, when absent"},
    {STR(struct line, id), .max = 500, .help = "its id at the source"},
    {0},
};

struct importer {
    struct ctx *ctx;
    struct ctx work; /* of the bundle that is being filled */
    struct engine *e;
    struct pool_ref pool;
    bool extract;
    struct message *messages; /* of the bundle, in work's arena */
    struct memory *memories;
    size_t n, n_memories, memories_cap;
    str session;
    int64_t now;
    struct bars bars; /* of the pool */
    struct ingest_report report;
};

/*
 * Messages are written in bundles that nobody waits for, and a full queue makes the import wait for
 * the disk: so it runs as fast as the store writes. work is reset with each bundle, so that a file
 * of any size needs the memory of one. Bars are read once: what was forgotten before the import is
 * not learnt again from it.
 */
static enum status begin_work(struct importer *im, struct ctx *ctx, struct engine *e,
                              struct pool_ref pool, bool extract)
{
    *im = (struct importer){.ctx = ctx,
                            .work = ctx_child(ctx, 0),
                            .e = e,
                            .pool = pool,
                            .extract = extract,
                            .session = S(""),
                            .now = clock_ms()};
    return bars_load(ctx, e, pool, &im->bars);
}

static void end_work(struct importer *im)
{
    ctx_free(&im->work);
}

/* Copies a failure from work to the caller's ctx, as work's is reset with each bundle. */
static enum status pass_failure(struct importer *im, enum status s)
{
    if (s == OK)
        return OK;
    if (im->work.field[0])
        (void)fail(im->ctx, s, "%s %s", im->work.field, im->work.why);
    else
        (void)fail(im->ctx, s, "%s", im->work.why);
    ctx_clear_failure(&im->work);
    return s;
}

/*
 * The same turn gives the same id, so that an import may be repeated. A turn without an id of its
 * own is distinguished from equal turns of its session by how many of them came before.
 */
static str id_for(struct importer *im, const struct message *m, int64_t created)
{
    int64_t same = 0;
    for (size_t i = 0; i < im->n && !m->ref.n; i++)
        same += str_eq(im->messages[i].text, m->text) && str_eq(im->messages[i].role, m->role);
    struct arena *a = &im->work.arena;
    str said = str_printf(a, "%lld %lld", (long long)created, (long long)same);
    const str by_ref[] = {im->pool.user, im->pool.space, m->session, m->ref};
    const str by_text[] = {im->pool.user, im->pool.space, m->session, m->role,
                           m->speaker,    m->text,        said};
    return m->ref.n ? id_of(a, by_ref, 4) : id_of(a, by_text, 7);
}

static void keep_memories(struct importer *im, const struct memory *found, size_t n)
{
    if (im->n_memories + n > im->memories_cap) {
        size_t cap = 2 * (im->n_memories + n) + 16;
        struct memory *more = NEW_N(&im->work.arena, struct memory, cap);
        if (im->n_memories)
            memcpy(more, im->memories, im->n_memories * sizeof *more);
        im->memories = more;
        im->memories_cap = cap;
    }
    if (n)
        memcpy(im->memories + im->n_memories, found, n * sizeof *found);
    im->n_memories += n;
}

/* Facts of an import are as old as their messages, so that they do not replace newer ones. */
static void extract_from(struct importer *im, const struct message *m)
{
    size_t n;
    str text = bars_left(&im->bars, &im->work.arena, m);
    struct memory *found = engine_extract(&im->work, im->e, EXTRACT_USER, text, &n);
    for (size_t i = 0; i < n; i++) {
        found[i].session = m->session;
        found[i].source = m->id;
        found[i].origin = ORIGIN_IMPORT;
        found[i].created = found[i].updated = found[i].last_used = m->created;
        found[i].valid_from = m->created;
    }
    keep_memories(im, found, n);
}

/* Of a session that has none yet: the store keeps the first. */
static str title_of(const struct importer *im)
{
    for (size_t i = 0; i < im->n; i++)
        if (str_is(im->messages[i].role, "user"))
            return session_title(im->messages[i].text);
    return S("");
}

static enum status write_bundle(struct importer *im)
{
    if (!im->n)
        return OK;
    assert(im->n <= BUNDLE_MAX && im->session.n);
    struct bundle b = {
        .pool = im->pool,
        .session = {.id = im->session, .title = title_of(im), .created = im->messages[0].created},
        .messages = im->messages,
        .n_messages = im->n,
        .memories = im->memories,
        .n_memories = im->n_memories,
        .rule = PUT_SUPERSEDE,
    };
    struct ctx *work = &im->work;
    enum status s = store_write_later(work, im->e->store, &b);
    if (soft_if(work, s, TOO_BUSY)) {
        TRY(pass_failure(im, store_flush(work, im->e->store)));
        s = store_write_later(work, im->e->store, &b);
    }
    TRY(pass_failure(im, s));
    im->report.messages += (int64_t)im->n;
    im->report.memories += (int64_t)im->n_memories;
    im->n = im->n_memories = im->memories_cap = 0;
    im->messages = NULL;
    im->memories = NULL;
    arena_reset(&work->arena);
    return ctx_has_time(im->ctx) ? OK : fail(im->ctx, TIMED_OUT, "the import took too long");
}

/* A message that is kept already has the time that it is kept with; one without a time that says
 * what was forgotten was said before that. */
static enum status date_known(struct importer *im, struct message *m, int64_t created)
{
    struct message kept;
    if (created || !im->bars.n)
        return OK;
    enum status s = store_message(&im->work, im->e->store, im->pool, m->id, &kept);
    if (s == OK)
        m->created = kept.created;
    if (!soft_if(&im->work, s, NOT_FOUND))
        TRY(pass_failure(im, s));
    bars_date_back(&im->bars, &im->work.arena, m);
    return OK;
}

/* m's texts live until the bundle is written. */
static enum status add_message(struct importer *im, const struct message *said)
{
    assert(im->n < BUNDLE_MAX && im->pool.user.n);
    if (!str_trim(said->text).n) {
        im->report.skipped++;
        return OK;
    }
    if (!im->messages)
        im->messages = NEW_N(&im->work.arena, struct message, BUNDLE_MAX);
    struct message *m = &im->messages[im->n];
    *m = *said;
    if (!im->e->settings->keep_secrets)
        m->text = secrets_masked(im->e->extractor, &im->work.arena, m->text);
    m->id = id_for(im, m, said->created);
    m->created = said->created ? said->created : im->now;
    TRY(date_known(im, m, said->created));
    im->n++;
    if (im->extract && str_is(m->role, "user"))
        extract_from(im, m);
    return im->n == BUNDLE_MAX ? write_bundle(im) : OK;
}

/* --- LoCoMo --- */

static enum status ingest_sessions(struct importer *im, const struct locomo *c)
{
    for (size_t s = 0; s < c->n_sessions; s++) {
        im->session = c->sessions[s].id;
        im->report.sessions++;
        for (size_t i = 0; i < c->sessions[s].n; i++)
            TRY(add_message(im, &c->sessions[s].messages[i]));
        TRY(write_bundle(im));
    }
    return OK;
}

enum status ingest_conversation(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                const struct locomo *c, bool extract, struct ingest_report *out)
{
    CLEANUP(end_work) struct importer im = {0};
    TRY(begin_work(&im, ctx, e, pool, extract));
    TRY(ingest_sessions(&im, c));
    out->sessions += im.report.sessions;
    out->messages += im.report.messages;
    out->memories += im.report.memories;
    out->skipped += im.report.skipped;
    return OK;
}

static enum status ingest_locomo(struct importer *im, str text)
{
    struct locomo *all;
    size_t n;
    TRY(locomo_read(im->ctx, text, &all, &n));
    for (size_t i = 0; i < n; i++)
        TRY(ingest_sessions(im, &all[i]));
    return OK;
}

/* --- JSON lines --- */

static enum status read_line(struct importer *im, str text, struct line *out)
{
    struct json *j;
    if (text.n > LINE_MAX_BYTES)
        return fail(&im->work, TOO_LARGE, "a line may have at most %d bytes", LINE_MAX_BYTES);
    TRY(json_parse(&im->work, text, &j));
    if (j->type != JSON_OBJECT)
        return fail(&im->work, BAD_INPUT, "must be a JSON object");
    return fields_read(&im->work, line_table, j, false, out);
}

/* A line with another session ends the bundle; the line is read again in the next one's memory. */
static enum status add_line(struct importer *im, str text)
{
    struct line line;
    TRY(pass_failure(im, read_line(im, text, &line)));
    if (im->n && !str_eq(im->session, line.session)) {
        TRY(write_bundle(im));
        TRY(pass_failure(im, read_line(im, text, &line)));
    }
    if (!im->n) {
        im->report.sessions += !str_eq(im->session, line.session);
        im->session = str_dup(&im->ctx->arena, line.session);
    }
    struct message m = {.session = im->session,
                        .role = line.role,
                        .speaker = line.speaker,
                        .text = line.content,
                        .ref = line.id,
                        .origin = ORIGIN_IMPORT,
                        .created = line.created};
    return add_message(im, &m);
}

/* The number of the line in front of the reason: a file may have millions. */
static enum status at_line(struct importer *im, int64_t no, enum status s)
{
    if (s == OK)
        return OK;
    char why[sizeof im->ctx->why];
    memcpy(why, im->ctx->why, sizeof why);
    ctx_clear_failure(im->ctx);
    return fail(im->ctx, s, "line %lld: %s", (long long)no, why);
}

/* A bad line ends the import; what was read before it is written, and the same file may be given
 * again. */
static enum status ingest_lines(struct importer *im, str text,
                                void (*progress)(int64_t done, int64_t all))
{
    int64_t no = 0, told = 0, all = (int64_t)text.n;
    for (str rest = text; rest.n;) {
        str line = str_trim(str_cut(&rest, '\n'));
        int64_t done = all - (int64_t)rest.n;
        no++;
        enum status s = line.n ? add_line(im, line) : OK;
        if (s != OK) {
            s = at_line(im, no, s);
            TRY(write_bundle(im));
            return s;
        }
        if (progress && (done - told >= PROGRESS_EVERY || !rest.n)) {
            progress(done, all);
            told = done;
        }
    }
    return write_bundle(im);
}

/* Both outcomes are looked at: a flush that fails has lost messages that the report counts. */
enum status engine_ingest(struct ctx *ctx, struct engine *e, struct pool_ref pool, str path,
                          bool extract, void (*progress)(int64_t done, int64_t all),
                          struct ingest_report *out)
{
    CLEANUP(unmap_file) struct mapped file = {S("")};
    CLEANUP(end_work) struct importer im = {0};
    TRY(begin_work(&im, ctx, e, pool, extract));
    TRY(map_file(ctx, path, &file));
    bool is_locomo = str_starts(str_trim(file.text), S("["));
    enum status s =
        is_locomo ? ingest_locomo(&im, file.text) : ingest_lines(&im, file.text, progress);
    enum status flushed = store_flush(ctx, e->store);
    TRY(s);
    TRY(flushed);
    *out = im.report;
    return OK;
}
