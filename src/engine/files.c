/* files.c - files that a model keeps for itself: memories whose key is a path. */
#include "engine/files.h"

#include "base/clock.h"
#include "engine/extract/secrets.h"
#include "engine/memories.h"
#include "engine/recall/quarantine.h"
#include "engine/state/state.h"
#include "engine/text.h"

/* A file is a memory like any other, in a layer of its own: what tidies facts and episodes leaves
 * it alone. Its text is kept byte for byte, unlike what is added as a memory, whose ends are
 * trimmed. A memory always says something, so an empty file has a text that says so, and a mark in
 * its metadata that tells it from a file with that text. */
#define EMPTY_TEXT "(empty file)"
#define EMPTY_MARK "is_empty"

static bool is_empty_file(struct ctx *ctx, const struct memory *m)
{
    return str_is(m->content, EMPTY_TEXT) &&
           json_is_true(json_get(json_of_text(ctx, m->metadata), EMPTY_MARK));
}

enum status engine_files(struct ctx *ctx, struct engine *e, struct pool_ref pool, struct file **out,
                         size_t *n)
{
    const struct memory_filter f = {.pool = pool,
                                    .layer = str_of(layer_names[LAYER_FILE]),
                                    .limit = SIZE_MAX};
    struct memory *v;
    TRY(store_list_memories(ctx, e->store, &f, &v, n, NULL));
    *out = NEW_N(&ctx->arena, struct file, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = (struct file){.path = v[i].key,
                                  .text = is_empty_file(ctx, &v[i]) ? S("") : v[i].content,
                                  .id = v[i].id,
                                  .updated = v[i].updated};
    return OK;
}

static void set_text(struct memory *m, str text)
{
    m->content = text.n ? text : S(EMPTY_TEXT);
    m->metadata = text.n ? S("") : S("{\"" EMPTY_MARK "\":true}");
}

bool engine_file_is_secret(const struct engine *e, str text)
{
    return !e->settings->keep_secrets && secrets_are_in(text);
}

bool engine_file_is_held(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                         const struct file *file)
{
    const struct memory m = {.id = file->id, .updated = file->updated, .origin = ORIGIN_USER};
    const struct recalled r = {.is_memory = true, .memory = m, .text = file->text};
    return r.text.n && quarantine_line(ctx, e, pool, &r, true).is_held;
}

enum status engine_file_add(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                            const struct file *file)
{
    int64_t now = clock_ms();
    struct memory m = {.layer = LAYER_FILE,
                       .key = file->path,
                       .origin = ORIGIN_MCP,
                       .created = now,
                       .updated = now,
                       .last_used = now};
    assert(file->path.n && file->text.n <= FILE_TEXT_MAX);
    set_text(&m, file->text);
    m.importance = m.salience = importance_by_rule(&ctx->arena, &m);
    struct bundle b = {
        .pool = pool, .asked = ctx->asked, .memories = &m, .n_memories = 1, .rule = PUT_NEW};
    TRY(engine_check_quota(ctx, e, pool,
                           (struct quota){.memories = 1, .bytes = quota_bytes(NULL, 0, &m, 1)}));
    return store_write(ctx, e->store, &b);
}

/* Metadata that another client has added stays, unless the file is empty or was. */
enum status engine_file_write(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                              const struct file *file, str text)
{
    struct memory now;
    struct change c = {.pool = pool,
                       .id = file->id,
                       .what = CHANGE_CONTENT,
                       .if_updated = file->updated};
    assert(file->id.n && text.n <= FILE_TEXT_MAX);
    set_text(&c.to, text);
    if (!text.n || !file->text.n)
        c.what |= CHANGE_METADATA;
    TRY(engine_check_quota(ctx, e, pool,
                           (struct quota){.bytes = (int64_t)text.n - (int64_t)file->text.n}));
    return store_change(ctx, e->store, &c, &now);
}

enum status engine_file_move(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                             const struct file *file, str path)
{
    struct memory now;
    const struct change c = {.pool = pool, .id = file->id, .what = CHANGE_KEY, .to.key = path};
    assert(file->id.n && path.n);
    return store_change(ctx, e->store, &c, &now);
}

enum status engine_files_erase(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                               const struct file *v, size_t n)
{
    str *ids = NEW_N(&ctx->arena, str, n);
    for (size_t i = 0; i < n; i++)
        ids[i] = v[i].id;
    const struct forget what = {.pool = pool, .ids = ids, .n_ids = n, .keeps_statements = true};
    assert(n);
    return engine_forget(ctx, e, &what, NULL);
}
