/* beam.c - BEAM's chats of a user with an assistant, with probing questions. */
#include <dirent.h>
#include <unistd.h>

#include "base/json.h"
#include "ext/eval/readers.h"
#include "ext/import/items.h"

/*
 * Published in two forms. As rows {conversation_id, chat, probing_questions}, in which the
 * questions are a text (a literal of Python, or JSON): a JSON array of rows, or a row a line. And
 * as folders, each with chat.json and probing_questions/probing_questions.json. A chat is a list of
 * batches, and each of them is a session; long chats have plans, which are objects with lists of
 * batches. A batch holds messages {role, id, content, time_anchor} in lists of any depth.
 */
enum { CHATS_MAX = 10000, UNKNOWN_KIND = 100 };

static const char *const kinds[] = {"abstention",
                                    "contradiction_resolution",
                                    "event_ordering",
                                    "information_extraction",
                                    "instruction_following",
                                    "knowledge_update",
                                    "multi_session_reasoning",
                                    "preference_following",
                                    "summarization",
                                    "temporal_reasoning",
                                    NULL};

struct reader {
    struct ctx *ctx;
    struct exam *c;
    int64_t when;
};

/* --- messages --- */

static bool is_message(const struct json *j)
{
    return json_get(j, "role") && json_get(j, "content");
}

static size_t count_messages(const struct json *j)
{
    size_t n = 0;
    if (is_message(j))
        return 1;
    for (const struct json *k = j->first; k; k = k->next)
        n += count_messages(k);
    return n;
}

/* A user's text ends in the generator's mark " ->-> 3,12", which nobody has said. */
static str content_of(const struct json *message)
{
    str text = str_trim(json_string(json_get(message, "content")));
    size_t at = str_find(text, S("->->"));
    bool is_mark = at < text.n &&
                   EVERY(i, text.n - at - 4, char_is_one_of(text.p[at + 4 + i], " 0123456789,"));
    return is_mark ? str_trim(str_sub(text, 0, at)) : text;
}

/* The anchor of a batch stands beside its messages, or in the first of them. */
static enum status add_messages(struct reader *r, struct exam_session *s, const struct json *j)
{
    struct arena *a = &r->ctx->arena;
    str anchor = json_string(json_get(j, "time_anchor"));
    if (anchor.n && !exam_date(anchor, &r->when))
        return fail(r->ctx, BAD_INPUT,
                    "conversation " S_FMT ": time_anchor '" S_FMT "' is not a date",
                    S_ARG(r->c->id), S_ARG(anchor));
    if (!is_message(j)) {
        for (const struct json *k = j->first; k; k = k->next)
            TRY(add_messages(r, s, k));
        return OK;
    }
    str role = json_string(json_get(j, "role"));
    const struct json *id = json_get(j, "id");
    if (!str_is(role, "user") && !str_is(role, "assistant"))
        return fail(r->ctx, BAD_INPUT,
                    "conversation " S_FMT ": role must be user or assistant, not '" S_FMT "'",
                    S_ARG(r->c->id), S_ARG(role));
    s->messages[s->n++] = (struct message){
        .session = s->id,
        .role = role,
        .text = content_of(j),
        .ref = id ? str_printf(a, "B%zu:" S_FMT, r->c->n_sessions + 1, S_ARG(id->source)) : S(""),
        .origin = ORIGIN_IMPORT,
        .created = r->when};
    return OK;
}

static enum status add_session(struct reader *r, const struct json *batch)
{
    struct exam *c = r->c;
    size_t n = count_messages(batch);
    if (!n)
        return OK;
    struct exam_session *s = &c->sessions[c->n_sessions];
    s->id = str_printf(&r->ctx->arena, S_FMT "/batch_%zu", S_ARG(c->id), c->n_sessions + 1);
    s->messages = NEW_N(&r->ctx->arena, struct message, n);
    TRY(add_messages(r, s, batch));
    /* The anchor is often that of a later message: the whole batch was said then. */
    for (size_t i = 0; i < s->n; i++)
        s->messages[i].created = r->when;
    c->until = r->when > c->until ? r->when : c->until;
    c->n_sessions++;
    return OK;
}

/* A plan is an object without turns of its own. */
static bool is_plan(const struct json *j)
{
    return j->type == JSON_OBJECT && !is_message(j) && !json_get(j, "turns");
}

static enum status add_batches(struct reader *r, const struct json *list)
{
    if (list->first && is_message(list->first))
        return add_session(r, list);
    for (const struct json *j = list->first; j; j = j->next) {
        for (const struct json *k = is_plan(j) ? j->first : NULL; k; k = k->next)
            if (k->type == JSON_ARRAY)
                TRY(add_batches(r, k));
        if (!is_plan(j))
            TRY(add_session(r, j));
    }
    return OK;
}

/* --- questions --- */

/* Ids are of messages; one that several messages have names none of them. */
static void add_id(struct reader *r, struct exam_question *q, str id)
{
    str ref = S("");
    for (size_t s = 0; s < r->c->n_sessions; s++)
        for (size_t i = 0; i < r->c->sessions[s].n; i++) {
            str one = r->c->sessions[s].messages[i].ref, rest = one;
            str_cut(&rest, ':');
            if (!one.n || !str_eq(rest, id))
                continue;
            if (ref.n)
                return;
            ref = one;
        }
    if (ref.n)
        exam_add_evidence(&r->ctx->arena, r->c, q, ref);
}

/* A list of ids, or lists under the names of what each shows. */
static void add_ids(struct reader *r, struct exam_question *q, const struct json *j)
{
    if (j->type == JSON_NUMBER)
        add_id(r, q, j->source);
    if (j->type == JSON_STRING)
        add_id(r, q, json_string(j));
    for (const struct json *k = j->first; k; k = k->next)
        add_ids(r, q, k);
}

static enum status add_question(struct reader *r, const struct json *j, const struct json *list,
                                int64_t no)
{
    struct arena *a = &r->ctx->arena;
    const struct json *ids = json_get(j, "source_chat_ids");
    int kind = name_index(kinds, json_name(list), UNKNOWN_KIND);
    struct exam_question q = {.id = str_printf(a, S_FMT "-%lld", S_ARG(json_name(list)),
                                               (long long)no),
                              .text = json_string(json_get(j, "question")),
                              .answer = json_string(json_get(j, "answer")),
                              .kind = json_name(list),
                              .category = kind};
    if (!q.text.n)
        return fail(r->ctx, BAD_INPUT, "conversation " S_FMT ": " S_FMT ": has no text question",
                    S_ARG(r->c->id), S_ARG(q.id));
    if (ids)
        add_ids(r, &q, ids);
    exam_keep_question(r->c, &q);
    return OK;
}

static enum status add_questions(struct reader *r, const struct json *by_kind)
{
    size_t n = 0;
    if (by_kind->type != JSON_OBJECT)
        return fail(r->ctx, BAD_INPUT,
                    "conversation " S_FMT ": probing_questions must have a list for each kind",
                    S_ARG(r->c->id));
    for (const struct json *list = by_kind->first; list; list = list->next)
        n += list->n;
    r->c->questions = NEW_N(&r->ctx->arena, struct exam_question, n + 1);
    for (const struct json *list = by_kind->first; list; list = list->next) {
        int64_t no = 0;
        for (const struct json *j = list->first; j; j = j->next)
            TRY(add_question(r, j, list, ++no));
    }
    return OK;
}

/* --- conversations --- */

static enum status read_chat(struct ctx *ctx, str id, const struct json *chat,
                             const struct json *questions, struct exams *out)
{
    struct exam *c = &out->v[out->n++];
    struct reader r = {.ctx = ctx, .c = c};
    size_t most = count_messages(chat) + 1;
    *c = (struct exam){.id = id, .sessions = NEW_N(&ctx->arena, struct exam_session, most)};
    TRY(add_batches(&r, chat));
    return add_questions(&r, questions);
}

static enum status questions_of(struct ctx *ctx, str id, const struct json *j,
                                const struct json **out)
{
    struct json *parsed;
    str text = json_string(j);
    *out = j;
    if (j->type != JSON_STRING)
        return OK;
    if (!soft(ctx, json_parse(ctx, text, &parsed)) &&
        !(soft(ctx, python_as_json(ctx, text, &text)) && soft(ctx, json_parse(ctx, text, &parsed))))
        return fail(ctx, BAD_INPUT,
                    "conversation " S_FMT ": probing_questions is neither JSON nor a Python "
                    "literal",
                    S_ARG(id));
    *out = parsed;
    return OK;
}

static enum status read_row(struct ctx *ctx, const struct json *row, struct exams *out)
{
    const struct json *id = json_get(row, "conversation_id"), *chat = json_get(row, "chat"),
                      *questions = json_get(row, "probing_questions");
    const struct json *inner = json_get(row, "row");
    if (inner)
        return read_row(ctx, inner, out);
    if (!chat || chat->type != JSON_ARRAY || !questions)
        return fail(ctx, BAD_INPUT,
                    "row %zu must have conversation_id, chat (a list) and probing_questions",
                    out->n + 1);
    str name = json_string(id);
    if (!name.n)
        name = id ? id->source : str_printf(&ctx->arena, "%zu", out->n + 1);
    TRY(questions_of(ctx, name, questions, &questions));
    return read_chat(ctx, name, chat, questions, out);
}

enum status beam_read(struct ctx *ctx, str text, struct exams *out)
{
    struct json *all;
    *out = (struct exams){.v = NEW_N(&ctx->arena, struct exam, CHATS_MAX)};
    if (str_starts(str_trim(text), S("["))) {
        TRY(json_parse(ctx, text, &all));
        for (const struct json *row = all->first; row && out->n < CHATS_MAX; row = row->next)
            TRY(read_row(ctx, row, out));
        return OK;
    }
    int64_t no = 0;
    for (str rest = text, line; out->n < CHATS_MAX && take_line(&rest, &no, &line);) {
        TRY(json_parse(ctx, line, &all));
        TRY(read_row(ctx, all, out));
    }
    return OK;
}

/* --- folders --- */

static enum status parse_file(struct ctx *ctx, str path, struct json **out)
{
    CLEANUP(unmap_file) struct mapped file = {S("")};
    TRY(map_file(ctx, path, &file));
    if (json_parse(ctx, str_dup(&ctx->arena, file.text), out) == OK)
        return OK;
    str why = ctx_take_why(ctx);
    return fail(ctx, BAD_INPUT, S_FMT ": " S_FMT, S_ARG(path), S_ARG(why));
}

static str chat_file(struct arena *a, str folder)
{
    return str_printf(a, S_FMT "/chat.json", S_ARG(folder));
}

static enum status read_folder(struct ctx *ctx, str folder, str id, struct exams *out)
{
    struct json *chat, *questions;
    TRY(parse_file(ctx, chat_file(&ctx->arena, folder), &chat));
    TRY(parse_file(ctx,
                   str_printf(&ctx->arena, S_FMT "/probing_questions/probing_questions.json",
                              S_ARG(folder)),
                   &questions));
    return read_chat(ctx, id, chat, questions, out);
}

/* By number: 2 before 10. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    size_t n = strlen((*a)->d_name), m = strlen((*b)->d_name);
    return n != m ? (n > m) - (n < m) : strcmp((*a)->d_name, (*b)->d_name);
}

enum status beam_read_folder(struct ctx *ctx, str path, struct exams *out)
{
    struct arena *a = &ctx->arena;
    struct dirent **names;
    enum status s = OK;
    *out = (struct exams){.v = NEW_N(a, struct exam, CHATS_MAX)};
    if (access(chat_file(a, path).p, F_OK) == 0)
        return read_folder(ctx, path, S("1"), out);
    int n = scandir(str_c(a, path), &names, NULL, compare_names);
    for (int i = 0; i < n; i++) {
        str id = str_dup(a, str_of(names[i]->d_name));
        str folder = str_printf(a, S_FMT "/" S_FMT, S_ARG(path), S_ARG(id));
        if (s == OK && out->n < CHATS_MAX && !str_starts(id, S(".")) &&
            access(chat_file(a, folder).p, F_OK) == 0)
            s = read_folder(ctx, folder, id, out);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    TRY(s);
    return out->n ? OK
                  : fail(ctx, NOT_FOUND, S_FMT ": holds no folder with a chat.json", S_ARG(path));
}
