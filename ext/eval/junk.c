/* junk.c - a junk audit: a fixed sample of extracted facts, and the share that was judged junk. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/id.h"
#include "base/json.h"
#include "base/utf8.h"
#include "engine/text/sentences.h"
#include "ext/eval/eval.h"
#include "ext/import/items.h"
#include "words/words.h"

/*
 * Facts are extracted from what users say, by pattern, as without a core model. Each fact has a
 * hash of its kind and its words. The sample is the facts with the lowest hashes: it does not
 * depend on the order of the files, and a rule that rejects a fact brings only the next one into
 * the sample. So judgements last. They are kept by hash, since most texts that they are about may
 * not be passed on.
 */
enum {
    SAMPLE = 150,
    LINE_MAX_BYTES = 1 << 16,
    KINDS_MAX = 40,
    SENTENCE_WORDS = 400,
    SENTENCE_BYTES = 1000
};

enum judgement { UNJUDGED, GOOD, JUNK };
static const char *const judgements[] = {"", "good", "junk", NULL};

struct fact {
    str hash; /* 16 hex digits */
    str kind, content, message, conversation, ref;
    enum judgement judgement;
    str sentence; /* of the message, in a sample */
};
static FIELDS(fact, (STR, hash), (ENUM, judgement, .one_of = judgements), (STR, kind),
              (AS_STR, content, "fact"), (STR, sentence), (STR, conversation),
              (AS_STR, ref, "message"));

struct junk_count {
    str kind;
    int64_t facts, judged, junk;
    double share, low, high; /* in percent; NAN: not known; low and high: of the sum alone */
};
static FIELDS(junk_count, (NUM, low, .empty = EMPTY_OUT), (NUM, high, .empty = EMPTY_OUT),
              (INT, facts), (INT, judged), (INT, junk), (NUM, share, .empty = EMPTY_OUT));

struct audit {
    struct ctx *ctx;
    struct engine *e;
    struct fact *v;
    size_t n, room, messages, all; /* all: before the sample was drawn */
    struct junk_count kinds[KINDS_MAX], sum;
    size_t n_kinds;
};

/* --- extracting --- */

static void add_fact(struct audit *t, const struct exam *c, const struct message *m,
                     const struct memory *f)
{
    struct arena *a = &t->ctx->arena;
    struct fact *fact = &ARENA_ADD(a, t->v, t->n, t->room);
    *fact = (struct fact){.kind = str_dup(a, f->category),
                          .content = str_dup(a, f->content),
                          .message = m->text,
                          .conversation = c->id,
                          .ref = m->ref};
    fact->hash = str_printf(a, "%016" PRIx64, hash64(STR_LIST(fact->kind, fact->content)));
}

static void extract_exam(struct audit *t, const struct exam *c)
{
    for (size_t s = 0; s < c->n_sessions; s++)
        for (size_t i = 0; i < c->sessions[s].n; i++) {
            CLEANUP(ctx_free) struct ctx own = ctx_child(t->ctx, 0);
            const struct message *m = &c->sessions[s].messages[i];
            size_t n = 0;
            if (!str_is(m->role, "user"))
                continue;
            t->messages++;
            struct memory *v = engine_extract(&own, t->e, EXTRACT_USER, m, m->text, &n);
            for (size_t k = 0; k < n; k++)
                add_fact(t, c, m, &v[k]);
        }
}

ORDER(compare_facts, struct fact, BY_TEXT(hash));

/* A fact that was said twice is one. */
static void draw_sample(struct audit *t)
{
    size_t kept = 0;
    SORT(t->v, t->n, compare_facts);
    for (size_t i = 0; i < t->n; i++)
        if (!kept || !str_eq(t->v[kept - 1].hash, t->v[i].hash))
            t->v[kept++] = t->v[i];
    t->all = kept;
    t->n = kept < SAMPLE ? kept : SAMPLE;
}

/* --- writing the sample --- */

/* The sentence that shares most words with the fact. */
static str source_of(struct arena *a, const struct fact *f)
{
    struct words of = words_of(a, f->content, SENTENCE_WORDS);
    struct sentence s;
    str best = S("");
    size_t most = 0;
    for (str rest = f->message; sentence_cut(&rest, &s);) {
        struct words in = words_of(a, s.text, SENTENCE_WORDS);
        size_t shared = 0;
        for (size_t i = 0; i < of.n; i++)
            shared += SOME(k, in.n, str_eq(of.v[i].stem, in.v[k].stem));
        if (shared > most || !best.n) {
            most = shared;
            best = str_trim(s.text);
        }
    }
    return utf8_cut(best, SENTENCE_BYTES);
}

static enum status write_sample(struct audit *t, str path)
{
    FILE *file = fopen(str_c(&t->ctx->arena, path), "we");
    if (!file)
        return fail(t->ctx, STORAGE, S_FMT ": %s", S_ARG(path), strerror(errno));
    for (size_t i = 0; i < t->n; i++) {
        CLEANUP(ctx_free) struct ctx own = ctx_child(t->ctx, 0);
        struct fact f = t->v[i];
        struct json_out w = json_in(&own.arena, LINE_MAX_BYTES);
        f.sentence = source_of(&own.arena, &f);
        fields_write(&w, fact_fields, &f);
        buf_byte(w.b, '\n');
        fwrite(w.b->p, 1, w.b->n, file);
    }
    bool failed = ferror(file);
    failed |= fclose(file) != 0;
    return failed ? fail(t->ctx, STORAGE, S_FMT ": %s", S_ARG(path), strerror(errno)) : OK;
}

/* --- judgements --- */

/* A line of a sample, or hash and judgement with a tab between. */
static enum status judge_line(struct audit *t, str line)
{
    struct json *j;
    str is, id;
    if (*line.p == '{') {
        TRY(json_parse(t->ctx, line, &j));
        id = str_trim(json_string(json_get(j, "hash")));
        is = str_trim(json_string(json_get(j, "judgement")));
    } else {
        str rest = line;
        id = str_trim(str_cut(&rest, '\t'));
        is = str_trim(str_cut(&rest, '\t'));
    }
    if (id.n != 16 || !EVERY(i, id.n, char_is_one_of(id.p[i], "0123456789abcdef")))
        return fail(t->ctx, BAD_INPUT, "hash must be 16 hex digits, not '" S_FMT "'", S_ARG(id));
    if (!is.n && *line.p == '{') /* of a sample, and not judged yet */
        return OK;
    if (!str_is(is, "good") && !str_is(is, "junk"))
        return fail(t->ctx, BAD_INPUT, "judgement must be good or junk, not '" S_FMT "'",
                    S_ARG(is));
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(t->v[i].hash, id))
            t->v[i].judgement = str_is(is, "good") ? GOOD : JUNK;
    return OK;
}

static enum status read_judgements(struct audit *t, str path)
{
    CLEANUP(unmap_file) struct mapped file = {S("")};
    int64_t no = 0;
    TRY(map_file(t->ctx, path, &file));
    for (str rest = file.text, line; take_line(&rest, &no, &line);) {
        if (*line.p == '#' || judge_line(t, line) == OK)
            continue;
        enum status s = t->ctx->failed;
        str why = ctx_take_why(t->ctx);
        return fail(t->ctx, s, S_FMT ": line %lld: " S_FMT, S_ARG(path), (long long)no, S_ARG(why));
    }
    return OK;
}

/* Wilson's 95 % interval of the share of junk. */
static void find_interval(struct junk_count *c)
{
    const double z = 1.96;
    double n = (double)c->judged, p = n > 0 ? (double)c->junk / n : 0;
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    c->low = n > 0 ? 100 * fmax(0, middle - half) : 0;
    c->high = n > 0 ? 100 * fmin(1, middle + half) : 100;
}

static void count_kinds(struct audit *t)
{
    t->sum.share = NAN;
    for (size_t i = 0; i < t->n; i++) {
        size_t k = 0;
        while (k < t->n_kinds && !str_eq(t->kinds[k].kind, t->v[i].kind))
            k++;
        if (k == t->n_kinds && k + 1 < KINDS_MAX)
            t->kinds[t->n_kinds++] =
                (struct junk_count){t->v[i].kind, .share = NAN, .low = NAN, .high = NAN};
        struct junk_count *both[] = {&t->kinds[k < t->n_kinds ? k : t->n_kinds - 1], &t->sum};
        for (size_t b = 0; b < 2; b++) {
            both[b]->facts++;
            both[b]->judged += t->v[i].judgement != UNJUDGED;
            both[b]->junk += t->v[i].judgement == JUNK;
            if (both[b]->judged)
                both[b]->share = eval_percent((double)both[b]->junk, (double)both[b]->judged);
        }
    }
    find_interval(&t->sum);
}

/* --- the report --- */

static void write_text(struct buf *b, const struct audit *t)
{
    buf_printf(b, "%zu messages of users, %zu facts, %zu in the sample, %lld judged\n\n",
               t->messages, t->all, t->n, (long long)t->sum.judged);
    buf_printf(b, "%-16s %6s %6s %6s\n", "kind", "facts", "judged", "junk");
    for (size_t i = 0; i < t->n_kinds; i++) {
        const struct junk_count *c = &t->kinds[i];
        buf_printf(b, "%-16.*s %6lld %6lld %6lld\n", S_ARG(c->kind), (long long)c->facts,
                   (long long)c->judged, (long long)c->junk);
    }
    if (t->sum.judged)
        buf_printf(b, "\njunk: %.1f %% of those judged (95 %% interval %.1f to %.1f)\n",
                   t->sum.share, t->sum.low, t->sum.high);
    else
        buf_printf(b, "\nnothing is judged yet: write \"good\" or \"junk\" into the sample\n");
}

static void write_json(struct buf *b, const struct audit *t)
{
    struct json_out out = json_to(b), *w = &out;
    json_open(w, '{');
    json_member_int(w, "messages", (int64_t)t->messages);
    json_member_int(w, "facts", (int64_t)t->all);
    json_member_open(w, "kinds", '{');
    for (size_t i = 0; i < t->n_kinds; i++) {
        json_key(w, str_c(&t->ctx->arena, t->kinds[i].kind));
        fields_write(w, junk_count_fields, &t->kinds[i]);
    }
    json_close(w, '}');
    json_key(w, "sample");
    fields_write(w, junk_count_fields, &t->sum);
    json_close(w, '}');
    buf_byte(b, '\n');
}

enum status engine_eval_junk(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                             bool as_json, struct buf *out)
{
    struct audit t = {.ctx = ctx, .e = e};
    struct mapped *files = NEW_N(&ctx->arena, struct mapped, in->n_files + 1);
    enum status s = OK;
    for (size_t i = 0; i < in->n_files && s == OK; i++) {
        struct exams exams;
        s = eval_read(ctx, in->files[i], in->format, &files[i], &exams);
        for (size_t c = 0; s == OK && c < exams.n; c++)
            extract_exam(&t, &exams.v[c]);
    }
    if (s == OK) {
        draw_sample(&t);
        s = in->judgements.n ? read_judgements(&t, in->judgements) : OK;
    }
    if (s == OK && in->sample.n)
        s = write_sample(&t, in->sample);
    for (size_t i = 0; i < in->n_files; i++)
        unmap_file(&files[i]);
    TRY(s);
    count_kinds(&t);
    (as_json ? write_json : write_text)(out, &t);
    return OK;
}
