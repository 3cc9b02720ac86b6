/* sessions.c - how fast a user's sessions are listed, searched by title and got; prints figures. */
#include <sodium.h>

#include "bench.h"
#include "lib/store.h"
#include "store/store.h"

/* Titles are as first questions are: a few openings, then words by Zipf's law. */
enum { VOCABULARY = 8000, ROUNDS = 300, PAGE = 20 };

static const char *const openings[] = {"How do I", "What is", "Help me with", "Why does", "Please"};
static str vocabulary[VOCABULARY];
static double weight[VOCABULARY];

static void make_vocabulary(struct arena *a)
{
    for (size_t i = 0; i < VOCABULARY; i++)
        vocabulary[i] = word_of_syllables(a, i);
    zipf_make(weight, VOCABULARY, 3);
}

static str some_word(void)
{
    return vocabulary[zipf_word(weight, VOCABULARY, next_random())];
}

static str some_title(struct arena *a)
{
    struct buf b = buf_make(a, 400);
    buf_printf(&b, "%s", openings[next_random() % 5]);
    for (size_t i = 2 + next_random() % 6; i; i--)
        buf_byte(&b, ' '), buf_add(&b, some_word());
    return buf_str(&b);
}

/* Each with one message, said at any time of a year. */
static void fill(struct store *s, const char *user, size_t sessions, size_t spaces)
{
    int64_t start = clock_mono_us();
    for (size_t i = 0; i < sessions; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct message m = {.id = id_random(&ctx.arena),
                            .role = S("user"),
                            .text = S("hello"),
                            .created = 1700000000000 + (int64_t)(next_random() % 31536000000)};
        struct bundle b = {.pool = {str_of(user), str_printf(&ctx.arena, "space%zu", i % spaces)},
                           .session = {.id = str_printf(&ctx.arena, "session-%zu", i),
                                       .title = some_title(&ctx.arena)},
                           .messages = &m,
                           .n_messages = 1};
        write_queued(&ctx, s, &b);
    }
    struct ctx ctx = {0};
    must(&ctx, store_flush(&ctx, s));
    printf("%-52s %8.0f sessions/s\n", "new sessions of one message, queued",
           (double)sessions / ((double)(clock_mono_us() - start) / 1e6));
}

/* What is measured; "" asks for another word each time. */
struct question {
    const char *what, *contains;
    size_t offset;
    bool is_list;
};

static void ask(struct store *s, const char *user, const struct question *question)
{
    static double ms[ROUNDS];
    int64_t total = 0, all = 0;
    for (int i = -20; i < ROUNDS; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct session *v;
        size_t n;
        struct session_filter f = {.pool = {str_of(user), S("")},
                                   .contains = str_of(question->contains),
                                   .offset = question->offset,
                                   .limit = PAGE};
        if (!question->is_list && !f.contains.n)
            f.contains = vocabulary[1000 + next_random() % (VOCABULARY - 1000)];
        int64_t start = clock_mono_us();
        must(&ctx, store_sessions(&ctx, s, &f, &v, &n, &total));
        if (i < 0)
            continue;
        ms[i] = (double)(clock_mono_us() - start) / 1000;
        all += total;
    }
    sort_ms(ms, ROUNDS);
    printf("%-52s %8.3f ms p50 %8.3f ms p99 %8lld in all\n", question->what, ms[ROUNDS / 2],
           ms[ROUNDS * 99 / 100], (long long)(all / ROUNDS));
}

static void get(struct store *s, const char *user, size_t sessions)
{
    static double ms[ROUNDS];
    for (int i = -20; i < ROUNDS; i++) {
        CLEANUP(ctx_free) struct ctx ctx = {0};
        struct session found;
        str id = str_printf(&ctx.arena, "session-%zu", (size_t)next_random() % sessions);
        int64_t start = clock_mono_us();
        must(&ctx, store_session(&ctx, s, (struct pool_ref){str_of(user), S("")}, id, &found));
        if (i >= 0)
            ms[i] = (double)(clock_mono_us() - start) / 1000;
    }
    sort_ms(ms, ROUNDS);
    printf("%-52s %8.3f ms p50 %8.3f ms p99\n", "get by id, in any space", ms[ROUNDS / 2],
           ms[ROUNDS * 99 / 100]);
}

static void bench_user(struct store *s, const char *user, size_t sessions, size_t spaces)
{
    static const struct question questions[] = {
        {"list, the first page", "", 0, true},
        {"list, page 500", "", 10000, true},
        {"list, half way through", "", 50000, true},
        {"search, a word of few titles", "", 0, false},
        {"search, a word of every fifth title", "how do i", 0, false},
        {"search, a word of most titles", "e", 0, false},
        {"search, a word of no title", "zzz", 0, false},
        {"search, a word of every fifth, page 100", "how do i", 2000, false},
    };
    printf("\n%zu sessions of one user in %zu space%s\n", sessions, spaces, spaces > 1 ? "s" : "");
    fill(s, user, sessions, spaces);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        ask(s, user, &questions[i]);
    get(s, user, sessions);
}

static void bench_file(struct ctx *ctx, size_t sessions, const uint8_t *key)
{
    PLACE(p);
    CLEANUP(store_closep) struct store *s = NULL;
    struct store_settings settings = {.path = str_of(p.path), .key = key};
    must(ctx, store_open(ctx, &settings, &s));
    if (key)
        printf("\nencrypted\n");
    bench_user(s, "anna", sessions, 5);
    if (!key)
        bench_user(s, "ben", sessions, 1);
}

int main(int argc, char **argv)
{
    static const uint8_t key[STORE_KEY_BYTES] = {7, 7, 7};
    CLEANUP(ctx_free) struct ctx ctx = {0};
    size_t sessions = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    if (sodium_init() < 0)
        return 2;
    make_vocabulary(&ctx.arena);
    bench_file(&ctx, sessions, NULL);
    bench_file(&ctx, sessions, key);
    return 0;
}
