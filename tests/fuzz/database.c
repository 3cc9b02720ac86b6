/* database.c - a damaged or foreign database: it is refused with words, or it is read and written.
 */
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "damage.h"
#include "engine/engine.h"
#include "store/sql/db/db.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * The first byte of an input says what is done to a copy of a small database of ours:
 *
 *     'S'  the rest is SQL, run by SQLite with all that it can do
 *     'B'  edits: where (4 bytes, modulo the size), how many bytes (1), the bytes
 *     'T'  as B, and the last one cuts the file there
 *     else the input is the whole file
 */
/* In memory, as each input is synced. */
static char folder[] = "/dev/shm/fuzz-database-XXXXXX";
static struct file_bytes base;

static const struct pool_ref mine = {{"anna", 4}, {"default", 7}};
static const char *const sides[] = {"", "-wal", "-shm", "-journal", "-commits"};

static str path_of(struct arena *a, const char *name, const char *side)
{
    return str_printf(a, "%s/%s%s", folder, name, side);
}

static void remove_copy(struct arena *a, const char *name)
{
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        unlink(path_of(a, name, sides[i]).p);
}

static void remove_folder(void)
{
    struct ctx ctx = {0};
    remove_copy(&ctx.arena, "copy.db");
    remove_copy(&ctx.arena, "base.db");
    rmdir(folder);
    ctx_free(&ctx);
    free(base.v);
}

static void write_some(struct ctx *ctx, struct store *s, const char *text)
{
    struct message m[] = {{.id = id_random(&ctx->arena), .role = S("user"), .text = str_of(text)}};
    struct memory f[] = {{.id = id_random(&ctx->arena),
                          .content = str_of(text),
                          .type = TYPE_FACTUAL,
                          .created = 1700000000000,
                          .updated = 1700000000000}};
    struct bundle b = {.pool = mine,
                       .session = {.id = S("s1")},
                       .messages = m,
                       .n_messages = 1,
                       .memories = f,
                       .n_memories = 1};
    (void)!store_write(ctx, s, &b);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    struct ctx ctx = {0};
    struct store *s;
    assert(mkdtemp(folder) && atexit(remove_folder) == 0);
    str path = path_of(&ctx.arena, "base.db", "");
    assert(store_open(&ctx, &(struct store_settings){.path = path}, &s) == OK);
    write_some(&ctx, s, "My boat is called Ottilie.");
    write_some(&ctx, s, "I am allergic to walnuts.");
    store_close(s);
    base = get_file(path.p);
    assert(base.n);
    ctx_free(&ctx);
    return 0;
}

/* What is found is worth nothing; that it ends is. */
static void read_all(struct ctx *ctx, struct store *s)
{
    const str stems[] = {S("boat"), S("walnut")};
    struct memory_page_in in = {.select = SELECT_ALL, .limit = 100, .counts = true};
    struct memory_page page;
    struct word_hits hits;
    struct store_stats stats;
    str findings;
    in.select.pools = &mine;
    in.select.n_pools = 1;
    (void)!store_stats(ctx, s, &stats);
    (void)!store_memory_page(ctx, s, &in, &page);
    (void)!store_search_words(ctx, s, mine, stems, 2, false, 100, &hits);
    (void)!store_check(ctx, s, &findings);
    write_some(ctx, s, "My cat is called Minka.");
    (void)!store_search_words(ctx, s, mine, stems, 2, false, 100, &hits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {.deadline_us = clock_mono_us() + 5000000};
    struct store *s;
    str path = path_of(&ctx.arena, "copy.db", "");
    remove_copy(&ctx.arena, "copy.db");
    bool is_edit = size && (*data == 'B' || *data == 'T'), is_sql = size && *data == 'S';
    if (is_edit || is_sql) {
        uint8_t *copy = arena_alloc(&ctx.arena, base.n);
        memcpy(copy, base.v, base.n);
        size_t n = is_edit ? edit(copy, base.n, data + 1, size - 1, *data == 'T') : base.n;
        put_file(path.p, copy, n);
        if (is_sql)
            run_sql(path.p, data + 1, size - 1);
    } else {
        put_file(path.p, data, size);
    }
    const struct store_settings settings = {.path = path, .accepts_loss = true};
    if (store_open(&ctx, &settings, &s) == OK) {
        read_all(&ctx, s);
        store_close(s);
    } else {
        assert(ctx.why[0]);
    }
    ctx_free(&ctx);
    return 0;
}
