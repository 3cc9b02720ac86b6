/* locomo.c - LoCoMo's JSON: conversations with dated sessions, and questions with evidence. */
#include "ext/import/exam.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/files.h"

enum { SESSIONS_MAX = 10000 };

/* Regular files only; an empty one is S(""). */
enum status map_file(struct ctx *ctx, str path, struct mapped *out)
{
    CLEANUP(fd_close) int fd = open(str_c(&ctx->arena, path), O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail(ctx, NOT_FOUND, S_FMT ": %s", S_ARG(path), strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(ctx, BAD_INPUT, S_FMT ": is not a file", S_ARG(path));
    *out = (struct mapped){S("")};
    if (!st.st_size)
        return OK;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return fail(ctx, STORAGE, S_FMT ": %s", S_ARG(path), strerror(errno));
    *out = (struct mapped){{p, (size_t)st.st_size}};
    return OK;
}

void unmap_file(struct mapped *m)
{
    if (m->text.n)
        munmap((void *)(uintptr_t)m->text.p, m->text.n);
    m->text = S("");
}

/* As in a chat with a model: nobody's name. */
static bool is_role(str speaker)
{
    return str_is(speaker, "user") || str_is(speaker, "assistant");
}

/* Pictures are not stored, so the caption stands in for the picture of a turn. */
static void read_session(struct ctx *ctx, const struct exam *c, const struct json *turns,
                         int64_t when, struct exam_session *out)
{
    out->messages = NEW_N(&ctx->arena, struct message, turns->n + 1);
    for (const struct json *t = turns->first; t; t = t->next) {
        str caption = json_string(json_get(t, "blip_caption"));
        struct message *m = &out->messages[out->n++];
        m->session = out->id;
        m->speaker = json_string(json_get(t, "speaker"));
        m->role = str_eq(m->speaker, c->speakers[0]) ? S("user") : S("assistant");
        if (is_role(m->speaker))
            m->speaker = S("");
        m->text = json_string(json_get(t, "text"));
        if (caption.n)
            m->text = str_printf(&ctx->arena, S_FMT " [image: " S_FMT "]", S_ARG(m->text),
                                 S_ARG(caption));
        m->ref = json_string(json_get(t, "dia_id"));
        m->origin = ORIGIN_IMPORT;
        m->created = when;
    }
}

/* session_1, session_2, … with session_1_date_time, …; some have a date and no turns. */
static enum status read_sessions(struct ctx *ctx, const struct json *conversation, struct exam *out)
{
    out->sessions = NEW_N(&ctx->arena, struct exam_session, conversation->n + 1);
    for (int64_t no = 1, missing = 0; missing < 100 && no < SESSIONS_MAX; no++) {
        str name = str_printf(&ctx->arena, "session_%lld", (long long)no);
        const struct json *turns = json_get(conversation, str_c(&ctx->arena, name));
        str date = str_printf(&ctx->arena, S_FMT "_date_time", S_ARG(name));
        int64_t when = 0;
        missing = turns ? 0 : missing + 1;
        if (!turns || turns->type != JSON_ARRAY || !turns->n)
            continue;
        if (!exam_date(json_string(json_get(conversation, str_c(&ctx->arena, date))), &when))
            return fail(ctx, BAD_INPUT, S_FMT ": " S_FMT " is not a date", S_ARG(out->id),
                        S_ARG(date));
        struct exam_session *s = &out->sessions[out->n_sessions++];
        s->id = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(out->id), S_ARG(name));
        read_session(ctx, out, turns, when, s);
        out->until = when > out->until ? when : out->until;
    }
    return OK;
}

/* A few entries hold several refs ("D8:6; D9:17"). */
static void read_evidence(struct ctx *ctx, const struct exam *c, const struct json *refs,
                          struct exam_question *q)
{
    for (const struct json *r = refs ? refs->first : NULL; r; r = r->next)
        for (str rest = json_string(r); rest.n;) {
            str ref = str_trim_end(str_cut(&rest, ' '), ";");
            exam_add_evidence(&ctx->arena, c, q, ref);
        }
}

static void read_questions(struct ctx *ctx, const struct json *qa, struct exam *out)
{
    static const char *const kinds[] = {"other",       "multi-hop",  "temporal",
                                        "open-domain", "single-hop", "adversarial"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    int64_t no = 0;
    out->questions = NEW_N(&ctx->arena, struct exam_question, (qa ? qa->n : 0) + 1);
    for (const struct json *j = qa ? qa->first : NULL; j; j = j->next) {
        int64_t category = json_int_or(json_get(j, "category"), 0);
        bool is_known = category > 0 && category < KINDS;
        const struct json *answer = json_get(j, "answer");
        bool is_year = answer && answer->type == JSON_NUMBER;
        struct exam_question q = {.id = str_printf(&ctx->arena, "%lld", (long long)++no),
                                  .text = json_string(json_get(j, "question")),
                                  .answer = is_year ? answer->source : json_string(answer),
                                  .kind = str_of(kinds[is_known ? category : 0]),
                                  .category = category};
        read_evidence(ctx, out, json_get(j, "evidence"), &q);
        exam_keep_question(out, &q);
    }
}

/* Questions without evidence are left out and counted (left_out). */
enum status locomo_read(struct ctx *ctx, str text, struct exams *out)
{
    struct json *all;
    TRY(json_parse(ctx, text, &all));
    if (all->type != JSON_ARRAY)
        return fail(ctx, BAD_INPUT, "must be LoCoMo's array of conversations");
    *out = (struct exams){.v = NEW_N(&ctx->arena, struct exam, all->n + 1)};
    for (const struct json *j = all->first; j; j = j->next) {
        const struct json *conversation = json_get(j, "conversation");
        struct exam *c = &out->v[out->n++];
        c->id = json_string(json_get(j, "sample_id"));
        if (!conversation || !c->id.n)
            return fail(ctx, BAD_INPUT, "element %zu has no conversation or no sample_id", out->n);
        c->speakers[0] = json_string(json_get(conversation, "speaker_a"));
        c->speakers[1] = json_string(json_get(conversation, "speaker_b"));
        TRY(read_sessions(ctx, conversation, c));
        for (size_t i = 0; i < 2; i++)
            if (is_role(c->speakers[i]))
                c->speakers[i] = S("");
        read_questions(ctx, json_get(j, "qa"), c);
    }
    return OK;
}
