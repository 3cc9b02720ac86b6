/* each.c - the figures of every question, in a file that eval compare reads. */
#include "ext/eval/each.h"

#include <errno.h>

/* A JSON object with a list of questions. Texts are left out unless they are asked for: many
 * benchmarks may not be passed on, and their figures may. */
enum { LINE_MAX_BYTES = 1 << 20 };

enum status each_open(struct ctx *ctx, const struct eval_in *in, const char *what, struct each *out)
{
    *out = (struct each){.has_texts = in->has_texts, .w = json_in(&ctx->arena, LINE_MAX_BYTES)};
    if (!in->per_question.n)
        return OK;
    out->path = in->per_question;
    out->file = fopen(str_c(&ctx->arena, in->per_question), "we");
    if (!out->file)
        return fail(ctx, STORAGE, S_FMT ": %s", S_ARG(in->per_question), strerror(errno));
    json_open(&out->w, '{');
    json_member_str(&out->w, "report", str_of(what));
    json_member_str(&out->w, "level", in->by_session ? S("session") : S("turn"));
    json_member_open(&out->w, "questions", '[');
    return OK;
}

static void write_out(struct each *each)
{
    if (each->file)
        fwrite(each->w.b->p, 1, each->w.b->n, each->file);
    buf_clear(each->w.b);
}

void each_begin(struct each *each, const struct exam *c, const struct exam_question *q)
{
    struct json_out *w = &each->w;
    char id[512];
    snprintf(id, sizeof id, S_FMT "/" S_FMT, S_ARG(c->id), S_ARG(q->id));
    write_out(each);
    json_open(w, '{');
    json_member_str(w, "id", str_of(id));
    json_member_str(w, "kind", q->kind);
    if (each->has_texts)
        json_member_str(w, "question", q->text);
    json_member_open(w, "figures", '{');
}

void each_num(struct each *each, const char *name, double v)
{
    json_member_num(&each->w, name, v);
}

void each_end(struct each *each)
{
    json_close(&each->w, '}');
    json_close(&each->w, '}');
    buf_byte(each->w.b, '\n');
}

enum status each_finish(struct ctx *ctx, struct each *each)
{
    if (!each->file)
        return OK;
    json_close(&each->w, ']');
    json_close(&each->w, '}');
    buf_byte(each->w.b, '\n');
    write_out(each);
    bool failed = ferror(each->file);
    failed |= fclose(each->file) != 0;
    each->file = NULL;
    return failed ? fail(ctx, STORAGE, S_FMT ": %s", S_ARG(each->path), strerror(errno)) : OK;
}

void each_close(struct each *each)
{
    if (each->file)
        fclose(each->file);
}
