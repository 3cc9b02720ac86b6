/* files.c - a check that the open files are still the ones at their paths. */
#include "store/sql/state/files.h"

#include <errno.h>

#include "base/log.h"
#include "store/sql/db/file.h"

/*
 * A file that is deleted or replaced while it is open goes on without a name: writes to it seem to
 * go well, and end with the process. SQLite does not notice. So the writer looks before and behind
 * each commit, and now and then when nothing is written. A look takes a few microseconds.
 *
 * The state never leaves FILES_LOST: after a file of another origin was in the place, nobody knows
 * what the log and its index belong to. A restart opens what is there then.
 */

static const char *const ends[STORE_FILES] = {"", "-wal", "-shm"};

void files_open(struct store_files *p, const char *path)
{
    p->path = path;
    atomic_store(&p->state, FILES_AWAY);
}

/* The paths are looked up once, as every commit looks twice. The database itself is looked for by
 * its own path: there a link that leads elsewhere now is noticed. */
void files_take(struct ctx *ctx, struct store_files *p)
{
    const char *whole = file_whole(&ctx->arena, p->path).p;
    assert(atomic_load(&p->state) == FILES_AWAY);
    for (size_t i = 0; i < STORE_FILES; i++) {
        snprintf(p->open[i], sizeof p->open[i], "%s%s", i ? whole : p->path, ends[i]);
        if (stat(p->open[i], &p->files[i]) != 0)
            p->files[i] = (struct stat){0};
    }
    atomic_store(&p->state, FILES_OPEN);
}

void files_leave(struct store_files *p)
{
    enum files_state state = FILES_OPEN;
    atomic_compare_exchange_strong(&p->state, &state, FILES_AWAY);
}

/* A disk that does not answer is another matter: then reads and writes fail. */
static bool is_gone(const struct store_files *p, size_t i)
{
    struct stat st;
    if (!p->files[i].st_ino)
        return false;
    if (stat(p->open[i], &st) != 0)
        return errno == ENOENT || errno == ENOTDIR;
    return st.st_ino != p->files[i].st_ino || st.st_dev != p->files[i].st_dev;
}

/* The log and its index are looked at as well: writes go to the log first. */
enum status files_check(struct ctx *ctx, struct store_files *p)
{
    enum files_state state = atomic_load(&p->state);
    size_t which = state == FILES_OPEN ? 0 : STORE_FILES;
    while (which < STORE_FILES && !is_gone(p, which))
        which++;
    if (which < STORE_FILES && atomic_compare_exchange_strong(&p->state, &state, FILES_LOST)) {
        log_event(LOG_ERROR, "store.lost",
                  "file=\"%s%s\" why=\"it was deleted or replaced while rememberd had it open: "
                  "nothing is written any more; put the right file there and restart rememberd\"",
                  p->path, ends[which]);
        state = FILES_LOST;
    }
    return state == FILES_LOST ? fail_as(ctx, STORAGE, STORAGE_AWAY,
                                         "the database '%s' was deleted or replaced while it was "
                                         "open; restart rememberd",
                                         p->path)
                               : OK;
}

bool files_has_log_index(const struct store_files *p)
{
    return !is_gone(p, STORE_FILES - 1);
}
