/* longmemeval.c - LongMemEval's questions, each with a history of chats of its own. */
#include "base/json.h"
#include "ext/eval/readers.h"

/*
 * An array of {question_id, question_type, question, answer, question_date, haystack_session_ids,
 * haystack_dates, haystack_sessions, answer_session_ids}. A question is a conversation here, with
 * one question. The evidence by turn is the messages with has_answer, by session the sessions that
 * answer_session_ids names: both are as published, so a question can have one and lack the other.
 * A question whose id ends in _abs has no answer in its history: its evidence is what it must not
 * be mistaken for, and it is left out, as the authors do.
 */

static const char *const kinds[] = {"single-session-user",
                                    "single-session-assistant",
                                    "single-session-preference",
                                    "multi-session",
                                    "temporal-reasoning",
                                    "knowledge-update",
                                    NULL};

static bool has_string(const struct json *list, str one)
{
    for (const struct json *j = list ? list->first : NULL; j; j = j->next)
        if (str_eq(json_string(j), one))
            return true;
    return false;
}

/* The list under the name, of as many elements as there are sessions. */
static enum status list_of(struct ctx *ctx, const struct exam *c, const struct json *row,
                           const char *name, size_t n, const struct json **out)
{
    *out = json_get(row, name);
    if (!*out || (*out)->type != JSON_ARRAY || (*out)->n != n)
        return fail(ctx, BAD_INPUT, S_FMT ": %s must be a list of %zu, one for each session",
                    S_ARG(c->id), name, n);
    return OK;
}

/* The same id may stand twice in a history: then both sessions answer. */
static enum status add_session(struct ctx *ctx, struct exam *c, struct exam_question *q,
                               const struct json *turns, int64_t when, bool is_answer)
{
    struct exam_session *s = &c->sessions[c->n_sessions++];
    s->id = str_printf(&ctx->arena, S_FMT "/session_%zu", S_ARG(c->id), c->n_sessions);
    s->messages = NEW_N(&ctx->arena, struct message, turns->n + 1);
    for (const struct json *t = turns->first; t; t = t->next) {
        str role = json_string(json_get(t, "role"));
        if (!str_is(role, "user") && !str_is(role, "assistant"))
            return fail(ctx, BAD_INPUT, S_FMT ": role must be user or assistant, not '" S_FMT "'",
                        S_ARG(c->id), S_ARG(role));
        s->messages[s->n++] =
            (struct message){.session = s->id,
                             .role = role,
                             .text = json_string(json_get(t, "content")),
                             .ref = str_printf(&ctx->arena, "S%zu:%zu", c->n_sessions, s->n + 1),
                             .origin = ORIGIN_IMPORT,
                             .created = when};
        if (json_is_true(json_get(t, "has_answer")))
            ARENA_ADD(&ctx->arena, q->evidence.v, q->evidence.n, q->evidence_room) =
                s->messages[s->n - 1].ref;
    }
    if (is_answer)
        exam_add_session(&ctx->arena, q, s->id);
    return OK;
}

static enum status read_history(struct ctx *ctx, const struct json *row, struct exam *c,
                                struct exam_question *q)
{
    const struct json *all = json_get(row, "haystack_sessions"), *ids, *dates;
    const struct json *answers = json_get(row, "answer_session_ids");
    if (!all || all->type != JSON_ARRAY)
        return fail(ctx, BAD_INPUT, S_FMT ": haystack_sessions must be a list", S_ARG(c->id));
    TRY(list_of(ctx, c, row, "haystack_session_ids", all->n, &ids));
    TRY(list_of(ctx, c, row, "haystack_dates", all->n, &dates));
    c->sessions = NEW_N(&ctx->arena, struct exam_session, all->n + 1);
    const struct json *id = ids->first, *date = dates->first;
    for (const struct json *s = all->first; s; s = s->next, id = id->next, date = date->next) {
        int64_t when;
        if (!exam_date(json_string(date), &when))
            return fail(ctx, BAD_INPUT, S_FMT ": haystack_dates: '" S_FMT "' is not a date",
                        S_ARG(c->id), S_ARG(json_string(date)));
        if (!s->n)
            continue;
        TRY(add_session(ctx, c, q, s, when, has_string(answers, json_string(id))));
        c->until = when > c->until ? when : c->until;
    }
    return OK;
}

static enum status read_question(struct ctx *ctx, const struct json *row, size_t no, struct exam *c)
{
    static const str must[] = {S("question_id"), S("question_type"), S("question"),
                               S("question_date")};
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        if (!json_string(json_get(row, must[i].p)).n)
            return fail(ctx, BAD_INPUT, "element %zu: %s must be a text", no, must[i].p);
    const struct json *answer = json_get(row, "answer");
    str kind = json_string(json_get(row, "question_type"));
    struct exam_question q = {.id = S("1"),
                              .text = json_string(json_get(row, "question")),
                              .answer = answer && answer->type == JSON_NUMBER ? answer->source
                                                                              : json_string(answer),
                              .kind = kind,
                              .category = name_index(kinds, kind, 100)};
    *c = (struct exam){.id = json_string(json_get(row, "question_id"))};
    if (!exam_date(json_string(json_get(row, "question_date")), &q.asked))
        return fail(ctx, BAD_INPUT, S_FMT ": question_date is not a date", S_ARG(c->id));
    TRY(read_history(ctx, row, c, &q));
    if (str_ends(c->id, S("_abs")))
        q.evidence.n = q.sessions.n = 0;
    c->questions = NEW(&ctx->arena, struct exam_question);
    exam_keep_question(c, &q);
    return OK;
}

enum status longmemeval_read(struct ctx *ctx, str text, struct exams *out)
{
    struct json *all;
    TRY(json_parse(ctx, text, &all));
    if (all->type != JSON_ARRAY)
        return fail(ctx, BAD_INPUT, "must be LongMemEval's array of questions");
    *out = (struct exams){.v = NEW_N(&ctx->arena, struct exam, all->n + 1)};
    for (const struct json *row = all->first; row; row = row->next, out->n++)
        TRY(read_question(ctx, row, out->n + 1, &out->v[out->n]));
    return OK;
}
