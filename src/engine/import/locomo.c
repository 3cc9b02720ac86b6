/* locomo.c - LoCoMo's JSON: conversations with dated sessions, and questions with their evidence.
 */
#include "engine/import/locomo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/time_text.h"

enum { SESSIONS_MAX = 10000 };

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Regular files only; an empty one is S(""). */
enum status map_file(struct ctx *ctx, str path, struct mapped *out)
{
    CLEANUP(close_fd) int fd = open(str_c(&ctx->arena, path), O_RDONLY | O_CLOEXEC);
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

/* --- turns --- */

/* Pictures are not stored, so the caption stands in for the picture of a turn. */
static str text_of(struct arena *a, const struct json *turn)
{
    str text = json_string(json_get(turn, "text"));
    str caption = json_string(json_get(turn, "blip_caption"));
    return caption.n ? str_printf(a, S_FMT " [image: " S_FMT "]", S_ARG(text), S_ARG(caption))
                     : text;
}

static void read_session(struct ctx *ctx, const struct locomo *c, const struct json *turns,
                         int64_t when, struct locomo_session *out)
{
    out->messages = NEW_N(&ctx->arena, struct message, turns->n + 1);
    for (const struct json *t = turns->first; t; t = t->next) {
        struct message *m = &out->messages[out->n++];
        m->session = out->id;
        m->speaker = json_string(json_get(t, "speaker"));
        m->role = str_eq(m->speaker, c->speakers[0]) ? S("user") : S("assistant");
        if (str_is(m->speaker, "user") || str_is(m->speaker, "assistant"))
            m->speaker = S(""); /* a role, as in a chat with a model: nobody's name */
        m->text = text_of(&ctx->arena, t);
        m->ref = json_string(json_get(t, "dia_id"));
        m->origin = ORIGIN_IMPORT;
        m->created = when;
    }
}

/* ISO 8601, or "1:56 pm on 8 May, 2023", which is written as ISO 8601: one reader then checks the
 * calendar for both. */
static bool read_date(str s, int64_t *out)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    int h, m, day, year, month = 0;
    char half, name[4] = "", text[64], iso[32];
    if (time_read(s, out))
        return true;
    s = str_trim(s);
    if (s.n >= sizeof text)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    if (sscanf(text, "%2d:%2d %c%*1[mM] on %2d %3[A-Za-z]%*[a-z,] %4d", &h, &m, &half, &day, name,
               &year) != 6)
        return false;
    for (int i = 0; i < 12; i++)
        if (str_eq_nocase((str){months + i * 3, 3}, str_of(name)))
            month = i + 1;
    bool pm = half == 'p' || half == 'P';
    if (h < 1 || h > 12 || (!pm && half != 'a' && half != 'A'))
        return false;
    int n = snprintf(iso, sizeof iso, "%04d-%02d-%02dT%02d:%02d", year, month, day,
                     h % 12 + (pm ? 12 : 0), m);
    return time_read((str){iso, (size_t)n}, out);
}

/* session_1, session_2, … with session_1_date_time, …; some have a date and no turns. */
static enum status read_sessions(struct ctx *ctx, const struct json *conversation,
                                 struct locomo *out)
{
    out->sessions = NEW_N(&ctx->arena, struct locomo_session, conversation->n + 1);
    for (int64_t no = 1, missing = 0; missing < 100 && no < SESSIONS_MAX; no++) {
        str name = str_printf(&ctx->arena, "session_%lld", (long long)no);
        const struct json *turns = json_get(conversation, str_c(&ctx->arena, name));
        str date = str_printf(&ctx->arena, S_FMT "_date_time", S_ARG(name));
        int64_t when = 0;
        missing = turns ? 0 : missing + 1;
        if (!turns || turns->type != JSON_ARRAY || !turns->n)
            continue;
        if (!read_date(json_string(json_get(conversation, str_c(&ctx->arena, date))), &when))
            return fail(ctx, BAD_INPUT, S_FMT ": " S_FMT " is not a date", S_ARG(out->id),
                        S_ARG(date));
        struct locomo_session *s = &out->sessions[out->n_sessions++];
        s->id = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(out->id), S_ARG(name));
        read_session(ctx, out, turns, when, s);
        out->until = when > out->until ? when : out->until;
    }
    return OK;
}

/* --- questions --- */

/* Evidence that names no turn of the file cannot be found by anybody. */
static bool has_turn(const struct locomo *c, str ref)
{
    for (size_t s = 0; s < c->n_sessions; s++)
        for (size_t i = 0; i < c->sessions[s].n; i++)
            if (str_eq(c->sessions[s].messages[i].ref, ref))
                return true;
    return false;
}

static void add_evidence(const struct locomo *c, struct locomo_question *q, str ref)
{
    for (size_t i = 0; i < q->evidence.n; i++)
        if (str_eq(q->evidence.v[i], ref))
            return;
    if (has_turn(c, ref))
        q->evidence.v[q->evidence.n++] = ref;
}

/* A few entries hold several refs ("D8:6; D9:17"). */
static void read_evidence(struct ctx *ctx, const struct locomo *c, const struct json *refs,
                          struct locomo_question *q)
{
    size_t most = 0;
    for (const struct json *r = refs ? refs->first : NULL; r; r = r->next)
        most += json_string(r).n / 2 + 1;
    q->evidence.v = NEW_N(&ctx->arena, str, most + 1);
    for (const struct json *r = refs ? refs->first : NULL; r; r = r->next)
        for (str rest = json_string(r); rest.n;) {
            str ref = str_cut(&rest, ' ');
            add_evidence(c, q, str_ends(ref, S(";")) ? str_sub(ref, 0, ref.n - 1) : ref);
        }
}

/* Some answers are years, written as JSON numbers. */
static str answer_of(const struct json *answer)
{
    bool is_number = answer && answer->type == JSON_NUMBER;
    return is_number ? answer->source : json_string(answer);
}

static void read_questions(struct ctx *ctx, const struct json *qa, struct locomo *out)
{
    out->questions = NEW_N(&ctx->arena, struct locomo_question, (qa ? qa->n : 0) + 1);
    for (const struct json *j = qa ? qa->first : NULL; j; j = j->next) {
        struct locomo_question q = {.text = json_string(json_get(j, "question")),
                                    .answer = answer_of(json_get(j, "answer")),
                                    .category = json_int_or(json_get(j, "category"), 0)};
        read_evidence(ctx, out, json_get(j, "evidence"), &q);
        if (q.evidence.n)
            out->questions[out->n_questions++] = q;
        else
            out->left_out++;
    }
}

/* Questions without evidence are left out and counted (left_out). */
enum status locomo_read(struct ctx *ctx, str text, struct locomo **out, size_t *n)
{
    struct json *all;
    TRY(json_parse(ctx, text, &all));
    if (all->type != JSON_ARRAY)
        return fail(ctx, BAD_INPUT, "must be LoCoMo's array of conversations");
    struct locomo *v = NEW_N(&ctx->arena, struct locomo, all->n + 1);
    size_t count = 0;
    for (const struct json *j = all->first; j; j = j->next) {
        const struct json *conversation = json_get(j, "conversation");
        struct locomo *c = &v[count++];
        c->id = json_string(json_get(j, "sample_id"));
        if (!conversation || !c->id.n)
            return fail(ctx, BAD_INPUT, "element %zu has no conversation or no sample_id", count);
        c->speakers[0] = json_string(json_get(conversation, "speaker_a"));
        c->speakers[1] = json_string(json_get(conversation, "speaker_b"));
        TRY(read_sessions(ctx, conversation, c));
        read_questions(ctx, json_get(j, "qa"), c);
    }
    *out = v;
    *n = count;
    return OK;
}

/*
 * Keeps the first sessions and the questions that they answer: small pools for fitting the weights.
 */
void locomo_cut(struct locomo *c, size_t sessions)
{
    size_t kept = 0;
    if (sessions >= c->n_sessions)
        return;
    c->n_sessions = sessions;
    c->until = 0;
    for (size_t i = 0; i < sessions; i++)
        if (c->sessions[i].messages[0].created > c->until)
            c->until = c->sessions[i].messages[0].created;
    for (size_t i = 0; i < c->n_questions; i++) {
        bool answered = true;
        for (size_t k = 0; k < c->questions[i].evidence.n; k++)
            answered &= has_turn(c, c->questions[i].evidence.v[k]);
        if (answered)
            c->questions[kept++] = c->questions[i];
    }
    c->left_out += c->n_questions - kept;
    c->n_questions = kept;
}
