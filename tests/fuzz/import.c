/* import.c - any file: an import ends, counts what it read, and a text survives Markdown. */
#include <assert.h>
#include <dirent.h>
#include <unistd.h>

#include "engine/engine.h"
#include "ext/import/copy/lines.h"
#include "ext/import/import.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-import-XXXXXX";

/* With its few files, at the end. */
static void remove_folder(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(folder);
}

/* One for all inputs, as each import is a dry run. */
static struct engine *open_engine(void)
{
    static struct engine *engine;
    static struct settings settings;
    static struct ctx ctx;
    struct store *store;
    if (engine)
        return engine;
    assert(mkdtemp(folder) && atexit(remove_folder) == 0);
    const struct store_settings where = {.path = str_printf(&ctx.arena, "%s/memory.db", folder)};
    assert(settings_load(&ctx, NULL, 0, &settings) == OK);
    assert(store_open(&ctx, &where, &store) == OK);
    assert(engine_open(&ctx, store, &settings, &engine) == OK);
    return engine;
}

static void check_import(str text, str name)
{
    struct ctx ctx = {0};
    struct import_report r;
    const struct import_in in = {.pool = {S(LOCAL_USER), S(DEFAULT_SPACE)},
                                 .dry_run = true,
                                 .extract = true};
    enum status s = engine_import_text(&ctx, open_engine(), &in, name, text, &r);
    assert(s == OK || ((s == BAD_INPUT || s == TOO_LARGE) && (ctx.why[0] || ctx.is_missing)));
    assert(r.problems.n <= IMPORT_PROBLEMS_MAX && (int64_t)r.problems.n <= r.broken);
    assert(r.new_memories <= r.memories && r.new_messages <= r.messages &&
           r.new_sessions <= r.sessions);
    ctx_free(&ctx);
}

static void check_markdown(str text)
{
    struct ctx ctx = {0};
    struct buf b = buf_make(&ctx.arena, 1 << 24);
    const struct message_line line = {.message = {.text = text}};
    struct copy_record r;
    int64_t no = 0;
    copy_write_markdown(&b, &ctx, LINE_MESSAGE, &line);
    str rest = buf_str(&b);
    assert(copy_next_markdown(&ctx.arena, &rest, &no, &r) && str_eq(r.text, text) && !rest.n);
    ctx_free(&ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a.json", "notes/a.md", "a.txt"};
    str text = {(const char *)data, size};
    check_markdown(text);
    for (size_t i = 0; i < 3; i++)
        check_import(text, str_of(names[i]));
    return 0;
}
