/* vectors.c - how fast the nearest vectors are found, beside sqlite-vec and a search for words. */
#include <math.h>

#include "bench.h"
#include "lib/store.h"
#include "sqlite_vec.h"
#include "store/store.h"

enum { DIMENSIONS = 256, NEAREST = 20, SESSION = 500, QUESTIONS = 200, GREAT = 1000000 };

static const str signature = {"bench:256", 9};

static void must_sql(sqlite3 *handle, int rc)
{
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
        return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(handle));
    exit(1);
}

/* --- vectors as texts have them: a common part, a topic, one inside it, and something of its own
 * --- */

static void add_direction(uint64_t seed, float weight, float *v)
{
    uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < DIMENSIONS; i++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        uint64_t r = x * 0x2545F4914F6CDD1Du;
        int32_t sum = (int32_t)(r & 0xFFFF) + (int32_t)(r >> 16 & 0xFFFF) +
                      (int32_t)(r >> 32 & 0xFFFF) + (int32_t)(r >> 48) - 131070;
        v[i] += weight * (float)sum;
    }
}

static void vector_of(uint64_t no, float *v)
{
    memset(v, 0, DIMENSIONS * sizeof *v);
    add_direction(1, 0.3F, v);
    add_direction(1000 + no % 199, 0.6F, v);
    add_direction(10000 + no % 19997, 0.5F, v);
    add_direction(1000000 + no, 0.6F, v);
    double sum = 0;
    for (size_t i = 0; i < DIMENSIONS; i++)
        sum += (double)v[i] * (double)v[i];
    for (size_t i = 0; i < DIMENSIONS; i++)
        v[i] = (float)((double)v[i] / sqrt(sum));
}

static void question_of(size_t no, float *v)
{
    vector_of(50000000 + no * 7919, v);
}

/* --- the store --- */

static doc_id *docs; /* ascending */

static void fill_documents(struct store *s, size_t n)
{
    for (size_t done = 0; done < n; done += SESSION) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct message m[SESSION];
        for (size_t i = 0; i < SESSION; i++)
            m[i] = (struct message){.text = str_printf(&own.arena, "text%zu", done + i),
                                    .role = S("user")};
        struct bundle b = {.pool = mine,
                           .session = {.id = str_printf(&own.arena, "s%zu", done)},
                           .messages = m,
                           .n_messages = SESSION};
        must(&own, store_write(&own, s, &b));
        for (size_t i = 0; i < SESSION; i++)
            docs[done + i] = m[i].doc;
    }
}

static size_t number_of(doc_id doc, size_t n)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (docs[mid] < doc)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void fill_vectors(struct ctx *ctx, struct store *s, size_t n, bool is_int8)
{
    struct vector_set set = {signature, DIMENSIONS, is_int8, 0};
    must(ctx, store_begin_vectors(ctx, s, &set, true));
    int64_t began = clock_mono_us(), waits = 0;
    for (size_t more = 1; more;) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct unembedded *v;
        must(&own, store_unembedded(&own, s, NULL, 2000, &v, &more));
        struct vector_put *put = NEW_N(&own.arena, struct vector_put, more + 1);
        float *room = NEW_N(&own.arena, float, DIMENSIONS *(more + 1));
        for (size_t i = 0; i < more; i++) {
            vector_of(number_of(v[i].doc, n), room + i * DIMENSIONS);
            put[i] = (struct vector_put){v[i].no, v[i].doc, room + i * DIMENSIONS, 0};
        }
        int64_t start = clock_mono_us();
        must(&own, store_put_vectors(&own, s, signature, put, more));
        waits += clock_mono_us() - start;
    }
    printf("  %-46s %8.0f vectors/s, of which %.0f%% were the store's\n",
           is_int8 ? "kept as int8" : "kept as float32",
           (double)n * 1e6 / (double)(clock_mono_us() - began),
           (double)waits * 100 / (double)(clock_mono_us() - began));
}

static struct vector_hits search(struct ctx *ctx, struct store *s, const float *q, size_t nearest,
                                 const doc_id *also, size_t n_also)
{
    struct vector_hits hits;
    struct vector_find f = {mine, signature, q, DIMENSIONS, nearest, true, true, also, n_also};
    must(ctx, store_search_vectors(ctx, s, &f, &hits));
    return hits;
}

/* --- the other: sqlite-vec and FTS5, each in a plain table --- */

struct other {
    sqlite3 *handle;
    sqlite3_stmt *bytes, *floats, *words; /* NULL: not measured */
};

/* Fifteen words, by a law like Zipf's. */
static str some_text(struct arena *a, uint64_t no, int words, const char *between)
{
    struct buf b = buf_make(a, 1000);
    uint64_t x = (no + 1) * 0x9E3779B97F4A7C15u;
    for (int i = 0; i < words; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        double u = (double)(x >> 11) / 9007199254740992.0;
        buf_printf(&b, "%sw%d", i ? between : "", (int)(30 * pow(1000, u)));
    }
    return buf_str(&b);
}

static sqlite3_stmt *prepare(sqlite3 *handle, const char *sql)
{
    sqlite3_stmt *stmt;
    must_sql(handle, sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL));
    return stmt;
}

static void run(sqlite3 *handle, const char *sql)
{
    must_sql(handle, sqlite3_exec(handle, sql, NULL, NULL, NULL));
}

static void add_vectors(sqlite3 *handle, const char *sql, size_t n, bool is_int8)
{
    sqlite3_stmt *add = prepare(handle, sql);
    for (size_t i = 0; i < n; i++) {
        float v[DIMENSIONS];
        int8_t codes[DIMENSIONS];
        vector_of(i, v);
        /* As its vec_quantize_int8(v, 'unit') does. */
        for (size_t k = 0; k < DIMENSIONS; k++)
            codes[k] = (int8_t)lrintf(v[k] * 127);
        sqlite3_bind_int64(add, 1, (int64_t)i + 1);
        sqlite3_bind_blob(add, 2, is_int8 ? (void *)codes : (void *)v,
                          is_int8 ? sizeof codes : sizeof v, SQLITE_TRANSIENT);
        must_sql(handle, sqlite3_step(add));
        sqlite3_reset(add);
    }
    sqlite3_finalize(add);
}

static void add_words(sqlite3 *handle, size_t n)
{
    sqlite3_stmt *add = prepare(handle, "INSERT INTO words(rowid, text) VALUES(?1, ?2)");
    for (size_t i = 0; i < n; i++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        str text = some_text(&own.arena, i, 15, " ");
        sqlite3_bind_int64(add, 1, (int64_t)i + 1);
        sqlite3_bind_text(add, 2, text.p, (int)text.n, SQLITE_STATIC);
        must_sql(handle, sqlite3_step(add));
        sqlite3_reset(add);
    }
    sqlite3_finalize(add);
}

static struct other fill_other(const struct place *p, size_t n)
{
    struct other o = {0};
    char path[120];
    const char *vec = getenv("SQLITE_VEC");
    snprintf(path, sizeof path, "%s/other.db", p->folder);
    must_sql(o.handle, sqlite3_open(path, &o.handle));
    run(o.handle, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
                  "CREATE VIRTUAL TABLE words USING fts5(text)");
    add_words(o.handle, n);
    o.words = prepare(o.handle, "SELECT rowid FROM words WHERE words MATCH ?1"
                                " ORDER BY rank LIMIT 20");
    if (vec && vec[0] && sqlite_vec_load(o.handle, vec)) {
        run(o.handle, "CREATE VIRTUAL TABLE bytes USING vec0(v int8[256] distance_metric=cosine)");
        add_vectors(o.handle, "INSERT INTO bytes(rowid, v) VALUES(?1, vec_int8(?2))", n, true);
        o.bytes = prepare(o.handle, "SELECT rowid FROM bytes WHERE v MATCH vec_int8(?1) AND k = 20"
                                    " ORDER BY distance");
        if (n < GREAT) {
            run(o.handle,
                "CREATE VIRTUAL TABLE floats USING vec0(v float[256] distance_metric=cosine)");
            add_vectors(o.handle, "INSERT INTO floats(rowid, v) VALUES(?1, ?2)", n, false);
            o.floats = prepare(o.handle, "SELECT rowid FROM floats WHERE v MATCH ?1 AND k = 20"
                                         " ORDER BY distance");
        }
    }
    run(o.handle, "COMMIT");
    return o;
}

static void end_other(struct other *o)
{
    sqlite3_finalize(o->bytes);
    sqlite3_finalize(o->floats);
    sqlite3_finalize(o->words);
    sqlite3_close(o->handle);
}

/* Fills numbers with what it gives; their count. */
static size_t ask(struct other *o, sqlite3_stmt *stmt, const void *p, size_t n, bool is_text,
                  size_t *numbers)
{
    size_t found = 0;
    if (is_text)
        sqlite3_bind_text(stmt, 1, p, (int)n, SQLITE_STATIC);
    else
        sqlite3_bind_blob(stmt, 1, p, (int)n, SQLITE_STATIC);
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && found < NEAREST)
        numbers[found++] = (size_t)sqlite3_column_int64(stmt, 0) - 1;
    must_sql(o->handle, rc);
    sqlite3_reset(stmt);
    return found;
}

/* --- measuring --- */

enum way { OURS, OURS_MORE, THEIR_BYTES, THEIR_FLOATS, WORDS, WAYS };

static const char *const way_names[] = {"nearest 20", "nearest 100, 100 others, all with windows",
                                        "sqlite-vec, int8, cosine, k = 20",
                                        "sqlite-vec, float32, cosine, k = 20",
                                        "plain FTS5, six words OR, best 20"};

struct figures {
    double ms[WAYS][QUESTIONS];
    size_t n[WAYS], found[WAYS], wanted[WAYS];
};

/* The cosine of the 20th nearest, for each question. */
static float *limits_of(struct ctx *ctx, size_t n, size_t questions)
{
    float *q = NEW_N(&ctx->arena, float, questions *DIMENSIONS), v[DIMENSIONS];
    float *best = NEW_N(&ctx->arena, float, questions *(NEAREST + 1));
    float *out = NEW_N(&ctx->arena, float, questions);
    for (size_t i = 0; i < questions; i++)
        question_of(i, q + i * DIMENSIONS);
    for (size_t i = 0; i < questions * (NEAREST + 1); i++)
        best[i] = -2;
    for (size_t no = 0; no < n; no++) {
        vector_of(no, v);
        for (size_t i = 0; i < questions; i++) {
            float sum = 0, *b = best + i * (NEAREST + 1);
            for (size_t k = 0; k < DIMENSIONS; k++)
                sum += v[k] * q[i * DIMENSIONS + k];
            size_t at = NEAREST;
            for (; at && b[at - 1] < sum; at--)
                b[at] = b[at - 1];
            b[at] = sum;
        }
    }
    for (size_t i = 0; i < questions; i++)
        out[i] = best[i * (NEAREST + 1) + NEAREST - 1];
    return out;
}

static void judge(struct figures *f, enum way way, const float *q, float limit,
                  const size_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float v[DIMENSIONS], sum = 0;
        vector_of(numbers[i], v);
        for (size_t k = 0; k < DIMENSIONS; k++)
            sum += v[k] * q[k];
        f->found[way] += sum >= limit - 1e-6F;
    }
    f->wanted[way] += NEAREST;
}

static void time_ours(struct figures *f, struct store *s, size_t n, const float *q, float limit,
                      size_t round)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    doc_id also[100];
    size_t numbers[NEAREST];
    double start = cpu_ms();
    struct vector_hits hits = search(&own, s, q, NEAREST, NULL, 0);
    f->ms[OURS][f->n[OURS]++] = cpu_ms() - start;
    for (size_t i = 0; i < hits.n; i++)
        numbers[i] = number_of(hits.v[i].doc, n);
    judge(f, OURS, q, limit, numbers, hits.n);
    for (size_t i = 0; i < 100; i++)
        also[i] = docs[(round * 7919 + i * 104729) % n];
    start = cpu_ms();
    search(&own, s, q, 100, also, 100);
    f->ms[OURS_MORE][f->n[OURS_MORE]++] = cpu_ms() - start;
}

static void time_theirs(struct figures *f, struct other *o, enum way way, const float *q,
                        float limit)
{
    int8_t codes[DIMENSIONS];
    size_t numbers[NEAREST], n;
    sqlite3_stmt *stmt = way == THEIR_BYTES ? o->bytes : o->floats;
    if (!stmt)
        return;
    for (size_t k = 0; k < DIMENSIONS; k++)
        codes[k] = (int8_t)lrintf(q[k] * 127);
    double start = cpu_ms();
    n = way == THEIR_BYTES ? ask(o, stmt, codes, sizeof codes, false, numbers)
                           : ask(o, stmt, q, sizeof(float) * DIMENSIONS, false, numbers);
    f->ms[way][f->n[way]++] = cpu_ms() - start;
    judge(f, way, q, limit, numbers, n);
}

static void time_words(struct figures *f, struct other *o, size_t round)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    size_t numbers[NEAREST];
    str text = some_text(&own.arena, 900000000 + round, 6, " OR ");
    double start = cpu_ms();
    ask(o, o->words, text.p, text.n, true, numbers);
    f->ms[WORDS][f->n[WORDS]++] = cpu_ms() - start;
}

static void print(struct figures *f)
{
    for (int way = 0; way < WAYS; way++) {
        size_t n = f->n[way];
        if (!n)
            continue;
        sort_ms(f->ms[way], n);
        printf("  %-46s %8.3f ms p50 %8.3f ms p99", way_names[way], f->ms[way][n / 2],
               f->ms[way][n * 99 / 100]);
        if (f->wanted[way])
            printf("   recall@20 %.4f", (double)f->found[way] / (double)f->wanted[way]);
        printf("\n");
    }
}

/* All ways in turn for each question, so that a busy machine is busy for all. */
static void measure(struct store *s, struct other *o, size_t n, size_t questions)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct figures *f = NEW(&own.arena, struct figures);
    float q[DIMENSIONS], *limits = limits_of(&own, n, questions);
    question_of(0, q);
    double start = cpu_ms();
    int64_t began = clock_mono_us();
    search(&own, s, q, NEAREST, NULL, 0);
    struct vector_stats stats;
    must(&own, store_vector_stats(&own, s, NULL, &stats));
    printf("  %-46s %8.1f ms CPU, %.1f ms; then %.1f MB, %.0f bytes a vector\n",
           "the first search reads the pool", cpu_ms() - start,
           (double)(clock_mono_us() - began) / 1e3, (double)stats.bytes / 1e6,
           (double)stats.bytes / (double)n);
    for (size_t round = 0; round < questions; round++) {
        question_of(round, q);
        time_ours(f, s, n, q, limits[round], round);
        if (!o)
            continue;
        time_theirs(f, o, THEIR_BYTES, q, limits[round]);
        time_theirs(f, o, THEIR_FLOATS, q, limits[round]);
        time_words(f, o, round);
    }
    print(f);
}

static void bench(size_t n)
{
    PLACE(p);
    CLEANUP(ctx_free) struct ctx ctx = {0};
    CLEANUP(store_closep) struct store *s = NULL;
    size_t questions = n < GREAT ? QUESTIONS : QUESTIONS / 4;
    printf("%zu vectors of %d dimensions in one pool; CPU of a search\n", n, DIMENSIONS);
    docs = heap_alloc(n * sizeof *docs);
    must(&ctx, store_open(&ctx, &(struct store_settings){.path = str_of(p.path)}, &s));
    fill_documents(s, n);
    fill_vectors(&ctx, s, n, true);
    struct other o = fill_other(&p, n);
    measure(s, &o, n, questions);
    end_other(&o);
    if (n < GREAT) {
        fill_vectors(&ctx, s, n, false);
        measure(s, NULL, n, questions);
    }
    free(docs);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1000, 10000, 100000, GREAT};
    for (int i = 1; i < argc; i++)
        bench((strtoul(argv[i], NULL, 10) + SESSION - 1) / SESSION * SESSION);
    for (size_t i = 0; argc == 1 && i < sizeof sizes / sizeof *sizes; i++)
        bench(sizes[i]);
    return 0;
}
