/* lines.c - a test of one's own: JSON lines with messages, and with questions about them. */
#include "ext/eval/readers.h"
#include "ext/import/ingest.h"
#include "ext/import/items.h"

/*
 * Two kinds of lines, in any order. A message: {"session", "id", "role", "content", "speaker",
 * "created"}, as `rememberd ingest` takes them. A question: {"question", "evidence": [ids of
 * messages], "kind", "answer", "asked"}. With "conversation" a file can hold several: each gets a
 * space of its own, and its questions are asked of the others, where nothing fits. The mistakes of
 * a file that somebody writes by hand are errors here, with the number of the line.
 */
enum { LINE_BYTES_MAX = 16 << 20 };

struct line {
    bool is_question;
    str conversation;
    struct message m; /* of a question only ref, its id */
    str question, answer, kind;
    struct strs evidence;
    int64_t asked, no;
};

static const char *const roles[] = {"user", "assistant", NULL};

static FIELDS_OF(line, message, (STR, conversation, .otherwise_str = "1", .min = 1, .max = 200),
                 (AS_STR, m.session, "session", .required = true, .min = 1, .max = 200),
                 (AS_STR, m.ref, "id", .max = 200),
                 (AS_STR, m.role, "role", .one_of = roles, .otherwise_str = "user"),
                 (AS_STR, m.text, "content", .required = true, .min = 1),
                 (AS_STR, m.speaker, "speaker", .max = 200), (AS_TIME, m.created, "created"));

static FIELDS_OF(line, question, (STR, conversation, .otherwise_str = "1", .min = 1, .max = 200),
                 (STR, question, .required = true, .min = 1), (STRS, evidence, .required = true),
                 (AS_STR, m.ref, "id", .max = 200),
                 (STR, kind, .otherwise_str = "question", .min = 1, .max = 60), (STR, answer),
                 (TIME, asked));

struct reader {
    struct ctx *ctx;
    struct line *v;
    size_t n;
};

/* --- lines --- */

static enum status read_line(struct ctx *ctx, str text, struct line *out)
{
    struct json *j;
    if (text.n > LINE_BYTES_MAX)
        return fail(ctx, TOO_LARGE, "may have at most %d bytes", LINE_BYTES_MAX);
    TRY(json_parse(ctx, text, &j));
    if (j->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "must be a JSON object");
    bool is_question = json_get(j, "question") != NULL;
    TRY(fields_read(ctx, is_question ? question_fields : message_fields, j, true, out));
    out->is_question = is_question;
    return OK;
}

static enum status read_lines(struct reader *r, str text)
{
    size_t room = 0;
    int64_t no = 0;
    for (str rest = text, line; take_line(&rest, &no, &line);) {
        struct line *l = &ARENA_ADD(&r->ctx->arena, r->v, r->n, room);
        *l = (struct line){0};
        enum status s = read_line(r->ctx, line, l);
        if (s != OK)
            return fail_at_line(r->ctx, no, s);
        l->no = no;
    }
    return OK;
}

/* --- conversations --- */

static struct exam *exam_of(struct reader *r, struct exams *all, str id)
{
    for (size_t i = 0; i < all->n; i++)
        if (str_eq(all->v[i].id, id))
            return &all->v[i];
    struct exam *c = &all->v[all->n++];
    size_t messages = 0, questions = 0;
    for (size_t i = 0; i < r->n; i++)
        if (str_eq(r->v[i].conversation, id)) {
            messages += !r->v[i].is_question;
            questions += r->v[i].is_question;
        }
    *c = (struct exam){.id = id,
                       .sessions = NEW_N(&r->ctx->arena, struct exam_session, messages + 1),
                       .questions = NEW_N(&r->ctx->arena, struct exam_question, questions + 1)};
    return c;
}

static struct exam_session *session_of(struct reader *r, struct exam *c, const struct line *l)
{
    size_t n = 0;
    str id = str_printf(&r->ctx->arena, S_FMT "/" S_FMT, S_ARG(c->id), S_ARG(l->m.session));
    for (size_t i = 0; i < c->n_sessions; i++)
        if (str_eq(c->sessions[i].id, id))
            return &c->sessions[i];
    for (size_t i = 0; i < r->n; i++)
        n += !r->v[i].is_question && str_eq(r->v[i].conversation, l->conversation) &&
             str_eq(r->v[i].m.session, l->m.session);
    struct exam_session *s = &c->sessions[c->n_sessions++];
    *s = (struct exam_session){.id = id, .messages = NEW_N(&r->ctx->arena, struct message, n)};
    return s;
}

static void add_message(struct reader *r, struct exams *all, const struct line *l)
{
    struct exam *c = exam_of(r, all, l->conversation);
    struct exam_session *s = session_of(r, c, l);
    struct message *m = &s->messages[s->n++];
    *m = l->m;
    m->session = s->id;
    m->origin = ORIGIN_IMPORT;
    for (size_t i = 0; i < 2 && m->speaker.n; i++) {
        if (!c->speakers[i].n)
            c->speakers[i] = m->speaker;
        if (str_eq(c->speakers[i], m->speaker))
            break;
    }
    c->until = m->created > c->until ? m->created : c->until;
}

/* Kinds are reported in the order in which they appear. */
static enum status add_question(struct reader *r, struct exams *all, const struct line *l)
{
    struct exam *c = exam_of(r, all, l->conversation);
    size_t no = c->n_questions + c->left_out + 1;
    struct exam_question q = {
        .id = l->m.ref.n ? l->m.ref : str_printf(&r->ctx->arena, "%zu", no),
        .text = l->question,
        .answer = l->answer,
        .kind = l->kind,
        .category = 1,
        .asked = l->asked,
    };
    for (size_t i = 0; i < l->evidence.n; i++) {
        exam_add_evidence(&r->ctx->arena, c, &q, l->evidence.v[i]);
        if (!strs_have(&q.evidence, l->evidence.v[i]))
            return fail(r->ctx, BAD_INPUT,
                        "line %lld: evidence: no message of the conversation " S_FMT
                        " has the id '" S_FMT "'",
                        (long long)l->no, S_ARG(c->id), S_ARG(l->evidence.v[i]));
    }
    exam_keep_question(c, &q);
    return OK;
}

static enum status check_ids(struct reader *r)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < i && r->v[i].m.ref.n; k++)
            if (r->v[i].is_question == r->v[k].is_question &&
                str_eq(r->v[i].m.ref, r->v[k].m.ref) &&
                str_eq(r->v[i].conversation, r->v[k].conversation))
                return fail(r->ctx, BAD_INPUT, "line %lld: id: line %lld has the same",
                            (long long)r->v[i].no, (long long)r->v[k].no);
    return OK;
}

enum status exam_lines_read(struct ctx *ctx, str text, struct exams *out)
{
    struct reader r = {.ctx = ctx};
    TRY(read_lines(&r, text));
    TRY(check_ids(&r));
    *out = (struct exams){.v = NEW_N(&ctx->arena, struct exam, r.n + 1)};
    for (size_t i = 0; i < r.n; i++)
        if (!r.v[i].is_question)
            add_message(&r, out, &r.v[i]);
    for (size_t i = 0; i < r.n; i++)
        if (r.v[i].is_question)
            TRY(add_question(&r, out, &r.v[i]));
    return OK;
}
