/* backup.c - a damaged backup, log of erasures or commit mark: refused with words, or restored. */
#include <assert.h>
#include <dirent.h>
#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "damage.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * An input says with three letters what is damaged, and how, in a folder with a store of ours and
 * a backup that is older than an erasure:
 *
 *     'P' plain, 'K' with a key
 *     'D' the backup, 'L' the log of erasures, 'C' the commit mark
 *     'B' edits: where (4 bytes, modulo the size), how many bytes (1), the bytes
 *     'T' as B, and the last one cuts the file there; else the rest is the whole file
 */
enum { BACKUP, ERASURES, MARK, DATABASE, FILES };
static const char *const names[FILES] = {"backup.db", "erasures.log", "to.db-commits", "to.db"};
static const char letters[] = "DLC";

/* In memory, as each input is synced. */
static char folder[] = "/dev/shm/fuzz-backup-XXXXXX";
static const uint8_t key[STORE_KEY_BYTES] = "a key of thirty-two bytes, truly";
static const struct pool_ref mine = {{"anna", 4}, {"default", 7}};
static struct file_bytes base[2][FILES];

static void empty_folder(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

static void remove_folder(void)
{
    empty_folder();
    rmdir(folder);
    for (size_t i = 0; i < FILES; i++) {
        free(base[0][i].v);
        free(base[1][i].v);
    }
}

static str path_of(struct arena *a, int file)
{
    return str_printf(a, "%s/%s", folder, names[file]);
}

static enum status open_ours(struct ctx *ctx, bool has_key, struct store **out)
{
    const struct store_settings settings = {.path = path_of(&ctx->arena, DATABASE),
                                            .key = has_key ? key : NULL,
                                            .erasures = path_of(&ctx->arena, ERASURES)};
    return store_open(ctx, &settings, out);
}

static enum status write_some(struct ctx *ctx, struct store *s, str id, const char *text)
{
    struct message m[] = {{.id = id_random(&ctx->arena), .role = S("user"), .text = str_of(text)}};
    struct memory f[] = {{.id = id,
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
    return store_write(ctx, s, &b);
}

static void make_base(bool has_key)
{
    struct ctx ctx = {0};
    struct store *s;
    int64_t erased;
    empty_folder();
    assert(open_ours(&ctx, has_key, &s) == OK);
    assert(write_some(&ctx, s, S("boat"), "My boat is called Ottilie.") == OK);
    assert(write_some(&ctx, s, S("nuts"), "I am allergic to walnuts.") == OK);
    assert(store_backup(&ctx, s, path_of(&ctx.arena, BACKUP)) == OK);
    assert(store_forget(&ctx, s, &(struct forget){.pool = mine, .id = S("boat")}, &erased) == OK);
    store_close(s);
    for (int i = 0; i < FILES; i++) {
        base[has_key][i] = get_file(path_of(&ctx.arena, i).p);
        assert(base[has_key][i].n);
    }
    ctx_free(&ctx);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    assert(sodium_init() >= 0 && mkdtemp(folder) && atexit(remove_folder) == 0);
    make_base(false);
    make_base(true);
    return 0;
}

static void damage(struct arena *a, int file, const struct file_bytes *f, const uint8_t *data,
                   size_t size)
{
    if (*data == 'B' || *data == 'T') {
        uint8_t *copy = arena_alloc(a, f->n);
        memcpy(copy, f->v, f->n);
        size_t n = edit(copy, f->n, data + 1, size - 1, *data == 'T');
        put_file(path_of(a, file).p, copy, n);
    } else {
        put_file(path_of(a, file).p, data + 1, size - 1);
    }
}

/* A store that has been opened is read and written; what is found in it is worth nothing. */
static bool opens(struct ctx *ctx, bool has_key)
{
    struct store *s;
    str findings;
    if (open_ours(ctx, has_key, &s) != OK) {
        assert(ctx->why[0]);
        return false;
    }
    (void)!store_check(ctx, s, &findings);
    (void)!write_some(ctx, s, S("cat"), "My cat is called Minka.");
    store_close(s);
    return true;
}

static enum status restore(struct ctx *ctx, bool has_key)
{
    struct store_restored restored = {0};
    const struct store_copy copy = {.from = path_of(&ctx->arena, BACKUP),
                                    .from_key = has_key ? key : NULL,
                                    .to = path_of(&ctx->arena, DATABASE),
                                    .to_key = has_key ? key : NULL,
                                    .replaces = true,
                                    .erasures = path_of(&ctx->arena, ERASURES),
                                    .restored = &restored};
    return store_copy(ctx, &copy);
}

/* A backup that is refused leaves the store as it was. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {.deadline_us = clock_mono_us() + 5000000};
    const char *letter = size > 2 ? memchr(letters, data[1], sizeof letters - 1) : NULL;
    if (!letter || (*data != 'P' && *data != 'K'))
        return 0;
    bool has_key = *data == 'K';
    int file = (int)(letter - letters);
    empty_folder();
    for (int i = 0; i < FILES; i++)
        put_file(path_of(&ctx.arena, i).p, base[has_key][i].v, base[has_key][i].n);
    damage(&ctx.arena, file, &base[has_key][file], data + 2, size - 2);
    enum status s = restore(&ctx, has_key);
    assert(s == OK || ctx.why[0]);
    ctx_clear_failure(&ctx);
    bool is_open = opens(&ctx, has_key);
    assert(is_open || file != BACKUP || s == OK);
    ctx_free(&ctx);
    return 0;
}
