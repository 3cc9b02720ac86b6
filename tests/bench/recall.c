/* recall.c - how long a recall takes over 10,000 and 100,000 messages and memories of one user, by
 * words, with vectors of the static table and with those of the encoder. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sodium.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "bench.h"
#include "engine/engine.h"
#include "store/store.h"

/* Every tenth thing is a memory, the others are turns of sessions of twenty. */
enum { VOCABULARY = 40000, SESSION = 20, QUESTIONS = 1000, WORDS_MAX = 30, ASKED_WORDS = 6 };

static const char *models = "../shared/models";
static const char *kept; /* a database that is used again, if it is given */
static const char *book; /* an English text, whose words are used instead of made-up ones */

struct bench {
    struct ctx ctx;
    struct store *store;
    struct engine *engine;
    struct settings settings;
    double share[VOCABULARY]; /* of all words, up to and with this one: Zipf's law, less the stop
                                 words */
    str *book;                /* words of the book */
    size_t n_book;
    uint64_t random;
};

static const struct pool_ref pool = {{"local", 5}, {"default", 7}};

static str sentence(struct bench *b, struct arena *a, size_t words)
{
    struct buf text = buf_make(a, 4096);
    size_t at = b->n_book ? draw_random(&b->random) % (b->n_book - words) : 0;
    for (size_t i = 0; i < words; i++) {
        if (b->n_book)
            buf_printf(&text, S_FMT " ", S_ARG(b->book[at + i]));
        else
            add_plain_word(&text, zipf_word(b->share, VOCABULARY, draw_random(&b->random)));
    }
    return str_trim(buf_str(&text));
}

/* What is asked for: of a book only words that say something, which stand near each other. */
static str asked_words(struct bench *b, struct arena *a, size_t words)
{
    enum { LETTERS = 5, APART = 100 };
    struct buf text = buf_make(a, 4096);
    if (!b->n_book)
        return sentence(b, a, words);
    for (size_t at = draw_random(&b->random) % (b->n_book - APART), end = at + APART;
         words && at < end; at++) {
        if (b->book[at].n < LETTERS)
            continue;
        buf_printf(&text, S_FMT " ", S_ARG(b->book[at]));
        words--;
    }
    return str_trim(buf_str(&text));
}

/* Words of letters alone, so that each is one word to everybody. */
static void read_book(struct bench *b)
{
    enum { BYTES = 8 << 20 };
    FILE *file = fopen(book, "r");
    if (!file) {
        perror(book);
        exit(1);
    }
    char *text = arena_alloc(&b->ctx.arena, BYTES);
    size_t n = fread(text, 1, BYTES, file);
    fclose(file);
    b->book = NEW_N(&b->ctx.arena, str, n / 2 + 1);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (isalpha((unsigned char)text[i]))
            continue;
        bool ends = isspace((unsigned char)text[i]) || strchr(".,;:", text[i]);
        if (i > from && ends)
            b->book[b->n_book++] = (str){text + from, i - from};
        from = i + 1;
    }
}

static void write_session(struct bench *b, struct pool_ref of, size_t no)
{
    struct ctx work = {0};
    struct message messages[SESSION] = {{.id = {0}}};
    struct memory memories[SESSION / 10] = {{.id = {0}}};
    str session = str_printf(&work.arena, "session %zu", no);
    for (size_t i = 0; i < SESSION; i++)
        messages[i] =
            (struct message){.id = id_random(&work.arena),
                             .session = session,
                             .role = i % 2 ? S("assistant") : S("user"),
                             .text = sentence(b, &work.arena, 8 + draw_random(&b->random) % 23),
                             .created = 1700000000000 + (int64_t)no * 3600000};
    for (size_t i = 0; i < SESSION / 10; i++)
        memories[i] = (struct memory){.session = session,
                                      .content = sentence(b, &work.arena, 6),
                                      .importance = 0.5,
                                      .origin = ORIGIN_USER,
                                      .created = 1700000000000 + (int64_t)no * 3600000};
    struct bundle bundle = {.pool = of,
                            .session = {.id = session},
                            .messages = messages,
                            .n_messages = SESSION - SESSION / 10,
                            .memories = memories,
                            .n_memories = SESSION / 10};
    write_queued(&work, b->store, &bundle);
    ctx_free(&work);
}

static void report(const char *what, int64_t *us)
{
    sort_us(us, QUESTIONS);
    printf("  %s p50 %lld us, p90 %lld us, p99 %lld us, worst %lld us\n", what,
           (long long)us[QUESTIONS / 2], (long long)us[QUESTIONS * 9 / 10],
           (long long)us[QUESTIONS * 99 / 100], (long long)us[QUESTIONS - 1]);
}

/* With vectors, or without those that are there. */
static void ask(struct bench *b, size_t things, bool vectors)
{
    static int64_t took[QUESTIONS], cpu[QUESTIONS];
    double found = 0;
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct ctx ctx = {0};
        str words = asked_words(b, &ctx.arena, 3 + draw_random(&b->random) % (ASKED_WORDS - 2));
        struct recall_in in = {.pool = pool,
                               .question =
                                   str_printf(&ctx.arena, "When did we " S_FMT "?", S_ARG(words)),
                               .gate = true,
                               .by.words_only = !vectors};
        struct recall_out out;
        int64_t began = cpu_us(CLOCK_THREAD_CPUTIME_ID);
        must(&ctx, engine_recall(&ctx, b->engine, &in, &out));
        if (vectors != (out.vectors.n > 0))
            exit(3);
        cpu[i] = cpu_us(CLOCK_THREAD_CPUTIME_ID) - began;
        took[i] = out.took_us;
        found += (double)out.n;
        ctx_free(&ctx);
    }
    printf("recall over %zu, %s, %.1f found:\n", things, vectors ? "with vectors" : "by words",
           found / QUESTIONS);
    report("time", took);
    report("cpu ", cpu);
}

/* --- as people ask --- */

/* Turns that tell something of their user, each with a word that no other has. */
static const char *const tells[] = {
    "I live in %s, the flat is near the station. I moved there with %s.",
    "My sister %s is allergic to peanuts, %s is not.",
    "I work as a nurse at %s now, %s is my manager.",
    "We adopted a dog, his name is %s. My cat %s does not like him.",
    "Do you think %s is worth a visit? What about %s?",
    "My car is a %s, I sold the %s last year.",
    "I play the cello with %s on Tuesdays, and %s sings.",
    "Actually the appointment with %s was moved to Friday, not to %s.",
};

/* Attributes, requests for advice, and things that were told. */
static const char *const everyday[] = {
    "Where do I live?",
    "What should I cook for dinner tonight?",
    "What is my job?",
    "Do I have any pets?",
    "Can you suggest a restaurant for my birthday?",
    "What instruments do I play?",
    "What is my sister allergic to?",
    "When is my appointment?",
    "What car do I drive?",
    "Plan a weekend trip for us",
};

enum { N_TELLS = sizeof tells / sizeof *tells, N_EVERYDAY = sizeof everyday / sizeof *everyday };

static str tell(struct bench *b, struct arena *a, size_t i)
{
    str words = sentence(b, a, 2), first = str_cut(&words, ' ');
    struct buf text = buf_make(a, 4096);
    for (const char *p = tells[i % N_TELLS]; *p; p++) {
        if (*p != '%') {
            buf_byte(&text, *p);
            continue;
        }
        buf_add(&text, first);
        first = words;
        p++;
    }
    return buf_str(&text);
}

static void write_tell(struct bench *b, size_t i)
{
    struct ctx work = {0};
    struct message m = {.id = id_random(&work.arena),
                        .session = str_printf(&work.arena, "session %zu", i),
                        .role = S("user"),
                        .text = tell(b, &work.arena, i),
                        .created = 1700000000000 + (int64_t)i * 3600000 + 60000};
    struct bundle bundle = {.pool = pool,
                            .session = {.id = m.session},
                            .messages = &m,
                            .n_messages = 1};
    must(&work, store_write_later(&work, b->store, &bundle));
    must(&work, store_flush(&work, b->store));
    ctx_free(&work);
}

/* Every tenth turn of a user is one of these: of so many sessions, spread over the time. */
static void write_everyday(struct bench *b, size_t sessions)
{
    for (size_t i = 0; i < sessions; i++)
        write_tell(b, i);
}

/* With `writes` such a turn is stored between two questions, as in a chat: the store then forgets
 * what the words index has answered for its words. */
static void ask_everyday(struct bench *b, size_t things, bool writes)
{
    static int64_t took[QUESTIONS], cpu[QUESTIONS];
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct ctx ctx = {0};
        struct recall_in in = {.pool = pool, .question = str_of(everyday[i % N_EVERYDAY])};
        struct recall_out out;
        str block;
        int64_t began = cpu_us(CLOCK_THREAD_CPUTIME_ID), start = clock_mono_us();
        must(&ctx, engine_context(&ctx, b->engine, &in, &out, &block));
        cpu[i] = cpu_us(CLOCK_THREAD_CPUTIME_ID) - began;
        took[i] = clock_mono_us() - start;
        ctx_free(&ctx);
        if (writes)
            write_tell(b, i % (things / SESSION));
    }
    printf("recall over %zu, as people ask%s:\n", things, writes ? ", with turns between" : "");
    report("time", took);
    report("cpu ", cpu);
}

/* Everything gets a vector, as the background would do it. */
static void embed_all(struct bench *b, size_t things)
{
    if (!book) {
        b->settings.embedding_source = EMBED_STATIC;
        b->settings.embedding_static = true;
        b->settings.model_dir = str_of(models);
    }
    int64_t began = clock_mono_us();
    engine_close(b->engine);
    must(&b->ctx, engine_open(&b->ctx, b->store, &b->settings, &b->engine));
    for (bool more = true; more;) {
        struct ctx work = {0};
        must(&work, engine_embed_some(&work, b->engine, &more));
        ctx_free(&work);
    }
    printf("embedded %zu: %.0f a second\n", things,
           (double)things * 1e6 / (double)(clock_mono_us() - began));
}

static void write_all(struct bench *b, size_t things)
{
    int64_t began = clock_mono_us();
    for (size_t i = 0; i < things / SESSION; i++)
        write_session(b, pool, i);
    must(&b->ctx, store_flush(&b->ctx, b->store));
    printf("wrote %zu: %.0f a second\n", things,
           (double)things * 1e6 / (double)(clock_mono_us() - began));
}

/* Ten times as much of a hundred other users, who use the same words. */
static void write_others(struct bench *b, size_t things)
{
    enum { OTHERS = 100 };
    for (size_t i = 0; i < 10 * things / SESSION; i++) {
        struct ctx own = {0};
        str user = str_printf(&own.arena, "user %zu", i % OTHERS);
        write_session(b, (struct pool_ref){user, pool.space}, i);
        ctx_free(&own);
    }
    must(&b->ctx, store_flush(&b->ctx, b->store));
}

static void run(size_t things)
{
    static struct bench b;
    memset(&b, 0, sizeof b);
    b.random = 88172645463325252u;
    char folder[] = "/tmp/recall-bench-XXXXXX";
    if (!mkdtemp(folder))
        exit(1);
    bool is_there = kept && access(kept, R_OK) == 0;
    zipf_make(b.share, VOCABULARY, 30);
    if (book)
        read_book(&b);
    must(&b.ctx, settings_load(&b.ctx, NULL, 0, &b.settings));
    str path = kept ? str_of(kept) : str_printf(&b.ctx.arena, "%s/bench.db", folder);
    struct store_settings where = {.path = path};
    must(&b.ctx, store_open(&b.ctx, &where, &b.store));
    must(&b.ctx, engine_open(&b.ctx, b.store, &b.settings, &b.engine));
    if (!is_there)
        write_all(&b, things);
    b.random = 0x9E3779B97F4A7C15u; /* the same questions of a database that was kept */
    ask(&b, things, false);
    if (!kept) {
        write_others(&b, things);
        printf("beside %zu of other users, ", 10 * things);
        ask(&b, things, false);
    }
    if (!is_there)
        write_everyday(&b, things / SESSION);
    ask_everyday(&b, things, false);
    ask_everyday(&b, things, true);
    if (book || access(models, R_OK) == 0) {
        embed_all(&b, things);
        ask(&b, things, true);
        ask(&b, things, false);
    } else {
        printf("skipped: %s is not there\n", models);
    }
    engine_close(b.engine);
    store_close(b.store);
    if (!kept)
        unlink(str_c(&b.ctx.arena, path));
    rmdir(folder);
    ctx_free(&b.ctx);
}

int main(int argc, char **argv)
{
    if (sodium_init() < 0)
        return 2;
    if (argc > 2)
        models = argv[2];
    if (argc > 3)
        kept = argv[3];
    if (argc > 4)
        book = argv[4];
    if (argc > 1) {
        run(strtoul(argv[1], NULL, 10));
        return 0;
    }
    run(10000);
    run(100000);
    return 0;
}
