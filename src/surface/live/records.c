/* records.c - /v1/audit and /v1/backups: what was done here, and the copies of the database. */
#include "base/audit.h"
#include "http/s3.h"
#include "surface/common/error_body.h"
#include "surface/common/list_page.h"

/*
 * Both are the server's and have no content, so operators see them. The audit log is read from its
 * first line, as each proves the next; a page is the last lines that fit. Backups are made and
 * checked by jobs.
 */

enum { KIND_MAX = 64, WHO_MAX = 1000, LINE_BYTES = 4096 };

/* --- the audit log --- */

SHAPE(audit_in, (STR, kind, .max = KIND_MAX, .help = "only this kind, as token.made"),
      (STR, by, .max = WHO_MAX, .help = "only what this actor did"),
      (STR, who, .max = WHO_MAX, .help = "only what was done to this user's memory or account"),
      (TIME, after, .help = "only at this time or later"),
      (TIME, before, .help = "only before this time"), LIST_CURSOR, LIST_LIMIT);

static FIELDS(audit_line, (INT, no, .help = "from 1, without gaps"), (TIME, at), (STR, kind),
              (STR, by, .help = "token:ID, user:NAME, a command line or server"),
              (STR, who, .help = "whose memory or account, or empty"),
              (STR, what, .help = "key=value, without texts"));

/* A list, and why it is not whole; page is first, as the rows of lists are relative to it. */
struct record_page {
    struct list_page page;
    str problem;
};
#define RECORD_PAGE(NAME, TABLE, HELP)                                                             \
    static const struct field NAME##_fields[] = {                                                  \
        FIELD_ROWS(list_page, LIST_ITEMS(TABLE, "newest first"), LIST_TOTAL, LIST_NEXT)            \
            FIELD_ROWS(record_page, (STR, problem, .empty = EMPTY_NULL, .help = HELP)){0}}
RECORD_PAGE(audit_page, audit_line_fields,
            "the first line that is not as it was written, or why there is no log; lines behind "
            "it are left out");

SHAPE(audit_proof, (BOOL, ok, .help = "every line is as it was written"),
      (INT, lines, .help = "up to the problem"), (STR, problem, .empty = EMPTY_NULL));

/* The last lines that fit, in a ring. */
struct audit_walk {
    const struct audit_in *in;
    int64_t end; /* a page has lines before this one; 0: all */
    int64_t seen, total;
    size_t n, room;
    struct kept {
        struct audit_line line;
        char text[LINE_BYTES];
    } * ring;
};

static bool line_fits(const struct audit_in *in, const struct audit_line *l)
{
    return (!in->kind.n || str_eq(in->kind, l->kind)) && (!in->by.n || str_eq(in->by, l->by)) &&
           (!in->who.n || str_eq(in->who, l->who)) && (!in->after || l->at >= in->after) &&
           (!in->before || l->at < in->before);
}

static void keep_line(struct kept *k, const struct audit_line *line)
{
    str *const texts[] = {&k->line.kind, &k->line.by, &k->line.who, &k->line.what};
    char *at = k->text;
    k->line = *line;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t left = (size_t)(k->text + LINE_BYTES - at);
        *texts[i] = str_sub(*texts[i], 0, texts[i]->n < left ? texts[i]->n : left);
        memcpy(at, texts[i]->p, texts[i]->n);
        texts[i]->p = at;
        at += texts[i]->n;
    }
}

static enum status see_line(UNUSED struct ctx *ctx, void *own, const struct audit_line *line)
{
    struct audit_walk *w = own;
    w->seen = line->no;
    if (!w->in || !line_fits(w->in, line))
        return OK;
    w->total++;
    if (!w->end || line->no < w->end)
        keep_line(&w->ring[w->n++ % w->room], line);
    return OK;
}

/* A log that is broken or gone is an answer, not a failure. */
static enum status walk_audit(struct ctx *ctx, struct app *app, struct audit_walk *w, str *problem)
{
    int64_t lines;
    enum status s = audit_read(ctx, str_c(&ctx->arena, app->doctor.folder), see_line, w, &lines);
    if (s == CONFLICT || s == NOT_FOUND)
        *problem = ctx_take_why(ctx);
    return s == CONFLICT || s == NOT_FOUND ? OK : s;
}

static HANDLER(audit_list)
{
    const struct audit_in *a = in->in;
    struct record_page shape = {0};
    struct list_place place = {0};
    str of = str_printf(&ctx->arena, "audit\n" S_FMT "\n" S_FMT "\n" S_FMT "\n%lld\n%lld",
                        S_ARG(a->kind), S_ARG(a->by), S_ARG(a->who), (long long)a->after,
                        (long long)a->before);
    TRY(cursor_read(ctx, of, a->cursor, &place));
    struct audit_walk w = {.in = a, .end = place.row, .room = (size_t)a->limit};
    w.ring = ROOM_N(&ctx->arena, struct kept, w.room);
    TRY(walk_audit(ctx, app, &w, &shape.problem));
    size_t n = w.n < w.room ? w.n : w.room;
    struct audit_line *items = NEW_N(&ctx->arena, struct audit_line, n + 1);
    for (size_t i = 0; i < n; i++)
        items[i] = w.ring[(w.n - 1 - i) % w.room].line;
    shape.page.total = w.total;
    if (w.n > n)
        shape.page.next = cursor_write(ctx, of, &(struct list_place){.row = items[n - 1].no});
    return list_reply(ctx, audit_page_fields, &shape.page, items, n, sizeof *items, out);
}

static HANDLER(audit_verify)
{
    struct audit_walk w = {0};
    struct audit_proof shape = {0};
    TRY(walk_audit(ctx, app, &w, &shape.problem));
    shape.ok = !shape.problem.n;
    shape.lines = w.seen;
    return reply_fields(out, audit_proof_fields, &shape);
}

/* --- backups --- */

static FIELDS(backup_file, (STR, name, .help = "what a job verify_backup takes"),
              (TIME, at, .help = "when it was made"), (INT, bytes),
              (AS_BOOL, is_remote, "remote", .help = "in backup_s3, not in backup_dir"));

RECORD_PAGE(backup_page, backup_file_fields, "why those of backup_s3 are missing");

/* At most backup_keep in each place, and those that jobs have made since: one page. */
static HANDLER(backup_list)
{
    struct record_page shape = {0};
    struct backup_file *v;
    size_t n;
    TRY(backups_made(ctx, app->settings, &v, &n, &shape.problem));
    shape.page.total = (int64_t)n;
    return list_reply(ctx, backup_page_fields, &shape.page, v, n, sizeof *v, out);
}

static const struct route routes[] = {
    {ROUTE("GET", "/v1/audit", audit_list), TAKES(audit_in), .access = ACCESS_OPERATOR,
     ANSWERS(audit_page), .help = "what was done, when and by whom, without texts"},
    {ROUTE("GET", "/v1/audit/verify", audit_verify), .access = ACCESS_OPERATOR,
     ANSWERS(audit_proof), .help = "whether every line of the audit log is as it was written"},
    {ROUTE("GET", "/v1/backups", backup_list), .access = ACCESS_OPERATOR, ANSWERS(backup_page),
     .help = "backups that this server made; jobs make and verify them"},
    {0},
};

const struct surface surface_records = STRICT_SURFACE("records", routes);
