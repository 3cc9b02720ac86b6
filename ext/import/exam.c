/* exam.c - a conversation with dated sessions, and questions with the messages that answer them. */
#include "ext/import/exam.h"

#include <time.h>

#include "base/time_text.h"

/* Whatever was read is written as ISO 8601: one reader then checks the calendar for all forms. */
bool exam_date(str s, int64_t *out)
{
    /* The last one is a day alone, which a text with a blank is not. */
    static const char *const forms[] = {"%I:%M %p on %d %B, %Y", "%B-%d-%Y", "%Y/%m/%d (%a) %H:%M",
                                        "%Y/%m/%d"};
    enum { FORMS = sizeof forms / sizeof *forms };
    char text[64], iso[64];
    s = str_trim(s);
    if (time_read(s, out))
        return true;
    if (!s.n || s.n >= sizeof text)
        return false;
    snprintf(text, sizeof text, S_FMT, S_ARG(s));
    for (size_t i = 0; i < (strchr(text, ' ') ? FORMS - 1 : FORMS); i++) {
        struct tm d = {0};
        if (!strptime(text, forms[i], &d))
            continue;
        int n = snprintf(iso, sizeof iso, "%04d-%02d-%02dT%02d:%02d", d.tm_year + 1900,
                         d.tm_mon + 1, d.tm_mday, d.tm_hour, d.tm_min);
        return time_read((str){iso, (size_t)n}, out);
    }
    return false;
}

void exam_add_session(struct arena *a, struct exam_question *q, str session)
{
    assert(session.n);
    if (!strs_have(&q->sessions, session))
        ARENA_ADD(a, q->sessions.v, q->sessions.n, q->sessions_room) = session;
}

/* Evidence that names no message of the file cannot be found by anybody. */
void exam_add_evidence(struct arena *a, const struct exam *c, struct exam_question *q, str ref)
{
    for (size_t s = 0; s < c->n_sessions; s++)
        for (size_t i = 0; i < c->sessions[s].n; i++) {
            if (!str_eq(c->sessions[s].messages[i].ref, ref))
                continue;
            if (!strs_have(&q->evidence, ref))
                ARENA_ADD(a, q->evidence.v, q->evidence.n, q->evidence_room) = str_dup(a, ref);
            exam_add_session(a, q, c->sessions[s].id);
            return;
        }
}

void exam_keep_question(struct exam *c, const struct exam_question *q)
{
    if (q->evidence.n || q->sessions.n)
        c->questions[c->n_questions++] = *q;
    else
        c->left_out++;
}

static bool has_session(const struct exam *c, str id)
{
    return SOME(s, c->n_sessions, str_eq(c->sessions[s].id, id));
}

void exam_cut(struct exam *c, size_t sessions)
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
        const struct strs *by = &c->questions[i].sessions;
        if (EVERY(k, by->n, has_session(c, by->v[k])))
            c->questions[kept++] = c->questions[i];
    }
    c->left_out += c->n_questions - kept;
    c->n_questions = kept;
}
