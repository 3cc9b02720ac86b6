/* blocks.c - what a chat is given for each question of LoCoMo's files, to be compared between two
 * builds: bench_blocks [--encoder | --models DIR] FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sodium.h>

#include "base/clock.h"
#include "bench.h"
#include "engine/engine.h"
#include "ext/import/ingest.h"
#include "store/store.h"

/* Of a chat every so manyth short message of the user is asked as a question, too. */
enum { EVERY = 5, ASKED_MAX = 300 };

struct bench {
    struct ctx ctx;
    struct settings settings;
    struct store *store;
    struct engine *engine;
    char folder[32];
};

/* How texts get vectors: not at all, by the static table in this folder, or by the encoder. */
struct source {
    bool is_encoder;
    const char *models;
};

static void open_bench(struct bench *b, const char *models)
{
    snprintf(b->folder, sizeof b->folder, "/tmp/blocks-XXXXXX");
    if (!mkdtemp(b->folder))
        exit(1);
    must(&b->ctx, settings_load(&b->ctx, NULL, 0, &b->settings));
    if (models) {
        b->settings.embedding_source = EMBED_STATIC;
        b->settings.embedding_static = true;
        b->settings.model_dir = str_of(models);
    }
    static int n_stores;
    const char *url = getenv("TEST_STORE"); /* tests/lib/with_postgres: a schema for each */
    struct store_settings where = {
        .path = url ? str_printf(&b->ctx.arena, "%s&schema=blocks_%d", url, n_stores++)
                    : str_printf(&b->ctx.arena, "%s/blocks.db", b->folder)};
    must(&b->ctx, store_open(&b->ctx, &where, &b->store));
    must(&b->ctx, engine_open(&b->ctx, b->store, &b->settings, &b->engine));
}

static void close_bench(struct bench *b)
{
    engine_close(b->engine);
    store_close(b->store);
    str path = str_printf(&b->ctx.arena, "%s/blocks.db", b->folder);
    unlink(str_c(&b->ctx.arena, path));
    rmdir(b->folder);
    ctx_free(&b->ctx);
}

/* A conversation of two people becomes the first one's chat with an assistant. */
static void make_chat(struct exam *c)
{
    for (size_t i = 0; i < c->n_sessions; i++)
        for (size_t k = 0; k < c->sessions[i].n; k++) {
            struct message *m = &c->sessions[i].messages[k];
            bool is_first = str_eq(m->speaker, c->speakers[0]) || str_is(m->speaker, "user");
            m->role = is_first ? S("user") : S("assistant");
            m->speaker = S("");
        }
}

static void print_found(const struct recalled *r)
{
    printf("%s %.17g %lld " S_FMT " | " S_FMT "\n", r->state == LINE_INJECTED ? "given" : "found",
           r->score, (long long)r->tokens, S_ARG(r->why), S_ARG(r->text));
}

static void ask(struct bench *b, struct pool_ref pool, str question, int64_t asked)
{
    struct ctx ctx = {0};
    struct recall_out out;
    str block;
    const struct recall_in in = {.pool = pool, .question = question, .asked = asked};
    must(&ctx, engine_context(&ctx, b->engine, &in, &out, &block));
    printf("== " S_FMT "\n" S_FMT ": " S_FMT ", %lld tokens\n" S_FMT "\n", S_ARG(question),
           S_ARG(out.decision), S_ARG(out.reason), (long long)out.tokens, S_ARG(block));
    for (size_t i = 0; i < out.n; i++)
        print_found(&out.v[i]);
    ctx_free(&ctx);
}

static void ask_all(struct bench *b, struct pool_ref pool, const struct exam *c, bool is_chat)
{
    size_t n = 0;
    int64_t asked = c->until + DAY_MS;
    for (size_t i = 0; i < c->n_questions; i++)
        ask(b, pool, c->questions[i].text, asked);
    for (size_t i = 0; i < c->n_sessions && is_chat; i++)
        for (size_t k = 0; k < c->sessions[i].n; k++) {
            const struct message *m = &c->sessions[i].messages[k];
            if (str_is(m->role, "user") && m->text.n <= ASKED_MAX && n++ % EVERY == 0)
                ask(b, pool, m->text, asked);
        }
}

static void play(const char *file, bool is_chat, struct source source)
{
    struct ctx all = {0};
    struct mapped text;
    struct exams exams;
    must(&all, map_file(&all, str_of(file), &text));
    must(&all, locomo_read(&all, text.text, &exams));
    /* A store for each: of several, what the encoder reads together depends on random ids. */
    for (size_t i = 0; i < exams.n; i++) {
        struct bench b = {.folder = ""};
        open_bench(&b, source.models);
        struct pool_ref pool = {S("local"), str_printf(&b.ctx.arena, "space %zu", i)};
        struct import_report report;
        if (is_chat)
            make_chat(&exams.v[i]);
        must(&b.ctx, ingest_conversation(&b.ctx, b.engine, pool, &exams.v[i], true, &report));
        must(&b.ctx, store_flush(&b.ctx, b.store));
        for (bool more = source.is_encoder || source.models; more;)
            must(&b.ctx, engine_embed_some(&b.ctx, b.engine, &more));
        printf("=== %s %zu, %s\n", file, i, is_chat ? "a chat" : "people");
        ask_all(&b, pool, &exams.v[i], is_chat);
        close_bench(&b);
    }
    unmap_file(&text);
    ctx_free(&all);
}

int main(int argc, char **argv)
{
    struct source source = {.is_encoder = argc > 1 && !strcmp(argv[1], "--encoder"),
                            .models = argc > 2 && !strcmp(argv[1], "--models") ? argv[2] : NULL};
    if (sodium_init() < 0)
        return 2;
    for (int i = source.models ? 3 : source.is_encoder ? 2 : 1; i < argc; i++) {
        play(argv[i], false, source);
        play(argv[i], true, source);
    }
    return 0;
}
