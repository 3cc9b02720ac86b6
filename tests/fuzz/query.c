/* query.c - any question: the words query never breaks, and finds only its own pool's documents. */
#include <assert.h>
#include <sodium.h>
#include <unistd.h>

#include "base/id.h"
#include "store/store.h"
#include "words/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct store *store;
static const struct pool_ref mine = {{"fuzz", 4}, {"mine", 4}}, other = {{"fuzz", 4}, {"other", 5}};

static void put(struct ctx *ctx, struct pool_ref pool, str text)
{
    struct message m = {.id = id_random(&ctx->arena),
                        .role = S("user"),
                        .speaker = S("Ann"),
                        .text = text};
    struct bundle b = {.pool = pool, .session = {.id = S("s")}, .messages = &m, .n_messages = 1};
    enum status s = store_write(ctx, store, &b);
    assert(s == OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    static char folder[] = "/tmp/rememberd-fuzz-XXXXXX";
    struct ctx ctx = {0};
    if (sodium_init() < 0 || !mkdtemp(folder))
        abort();
    str path = str_printf(&ctx.arena, "%s/fuzz.db", folder);
    struct store_settings settings = {.path = path};
    enum status s = store_open(&ctx, &settings, &store);
    assert(s == OK);
    put(&ctx, mine, S("and or not near NEAR/3 \"quoted\" * ^ : - own label body 3.12 寿司"));
    put(&ctx, other, S("and or not near someone else's words 3.12 寿司"));
    ctx_free(&ctx);
    return 0;
}

/* The words of the input, and its raw pieces as if they were stems. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {0};
    struct word_hits hits;
    str text = str_dup(&ctx.arena, (str){(const char *)data, size}), rest = text;
    str stems[QUERY_WORDS_MAX];
    size_t n = 0;
    struct words w = words_of(&ctx.arena, text, QUERY_WORDS_MAX / 2);
    for (size_t i = 0; i < w.n && n < QUERY_WORDS_MAX / 2; i++)
        stems[n++] = w.v[i].stem;
    while (rest.n && n < QUERY_WORDS_MAX)
        stems[n++] = str_cut(&rest, '\n');
    enum status s = store_search_words(&ctx, store, mine, stems, n, false, 1000, &hits);
    if (s != OK)
        fprintf(stderr, "%s: %s\n", status_name(s), ctx.why);
    assert(s == OK);
    assert(hits.n <= 1 && hits.messages == 1);
    for (size_t i = 0; i < hits.n; i++) {
        struct message m;
        assert(store_messages(&ctx, store, mine, &hits.v[i].doc, 1, &m) == OK && m.id.n);
        assert(store_messages(&ctx, store, other, &hits.v[i].doc, 1, &m) == OK && !m.id.n);
    }
    ctx_free(&ctx);
    return 0;
}
