/* exam.c - a conversation with dated sessions, and questions with the messages that answer them. */
#include "ext/import/exam.h"

#include "base/time_text.h"

/* --- dates --- */

struct date_parts {
    int year, month, day, hour, minute;
};

/* 1 to 12 by the first three letters of a name, or 0. */
static int month_of(const char *name)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (int i = 0; i < 12 && strlen(name) >= 3; i++)
        if (str_eq_nocase((str){months + i * 3, 3}, (str){name, 3}))
            return i + 1;
    return 0;
}

/* "1:56 pm on 8 May, 2023" */
static bool clock_first(const char *text, struct date_parts *d)
{
    char half, name[10] = "";
    if (sscanf(text, "%2d:%2d %c%*1[mM] on %2d %9[A-Za-z]%*1[,] %4d", &d->hour, &d->minute, &half,
               &d->day, name, &d->year) != 6)
        return false;
    bool pm = half == 'p' || half == 'P';
    if (d->hour < 1 || d->hour > 12 || (!pm && half != 'a' && half != 'A'))
        return false;
    d->hour = d->hour % 12 + (pm ? 12 : 0);
    d->month = month_of(name);
    return true;
}

/* "2023/04/10 (Mon) 23:07", or the day alone. */
static bool year_first(const char *text, struct date_parts *d)
{
    int n = sscanf(text, "%4d/%2d/%2d (%*3[A-Za-z]) %2d:%2d", &d->year, &d->month, &d->day,
                   &d->hour, &d->minute);
    return n == 5 || (n == 3 && !strchr(text, ' '));
}

/* "March-15-2024" */
static bool month_first(const char *text, struct date_parts *d)
{
    char name[10] = "";
    if (sscanf(text, "%9[A-Za-z]-%2d-%4d", name, &d->day, &d->year) != 3)
        return false;
    d->month = month_of(name);
    return true;
}

/* Whatever was read is written as ISO 8601: one reader then checks the calendar for all forms. */
bool exam_date(str s, int64_t *out)
{
    static bool (*const forms[])(const char *, struct date_parts *) = {clock_first, year_first,
                                                                       month_first};
    char text[64], iso[64];
    s = str_trim(s);
    if (time_read(s, out))
        return true;
    if (!s.n || s.n >= sizeof text)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct date_parts d = {0};
        if (!forms[i](text, &d))
            continue;
        int n = snprintf(iso, sizeof iso, "%04d-%02d-%02dT%02d:%02d", d.year, d.month, d.day,
                         d.hour, d.minute);
        return time_read((str){iso, (size_t)n}, out);
    }
    return false;
}

/* --- questions --- */

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

/* --- small pools --- */

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
