/* audit.c - the audit log over several files: one chain, who acted, and what is missing is named.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/audit.h"
#include "base/files.h"
#include "t.h"

enum { FILE_BYTES = 600, LINES = 12 };

struct log {
    char folder[64];
    str files[LINES]; /* names, oldest first; the last one is the newest */
    size_t n;
    char actors[LINES][40];
    size_t seen;
};

static enum status see_line(struct ctx *ctx, void *own, const struct audit_line *line)
{
    struct log *log = own;
    CHECK(log->seen < LINES);
    (void)ctx;
    snprintf(log->actors[log->seen++], sizeof *log->actors, S_FMT, S_ARG(line->by));
    return OK;
}

static const char *path_in(struct ctx *ctx, const struct log *log, str name)
{
    return str_printf(&ctx->arena, "%s/" S_FMT, log->folder, S_ARG(name)).p;
}

/* As many lines as fill some files, by three actors in turn. */
static void write_log(struct ctx *ctx, struct log *log)
{
    static const char *const actors[] = {"token:t1", "user:ada", ""};
    *log = (struct log){.folder = "/tmp/audit.XXXXXX"};
    CHECK(mkdtemp(log->folder) != NULL);
    audit_setup(&(struct audit_place){.folder = log->folder,
                                      .file_max = FILE_BYTES,
                                      .by = "command line, uid 7"});
    for (int i = 0; i < LINES; i++) {
        snprintf(ctx->actor, sizeof ctx->actor, "%s", actors[i % 3]);
        audit_note(ctx, "erased", S("bob"), "rows=%d", i);
        str name = i + 1 < LINES ? str_printf(&ctx->arena, "rememberd.audit.%012d", i + 1)
                                 : S("rememberd.audit");
        log->files[i] = name;
    }
    audit_end();
    for (size_t i = 0; i < LINES; i++)
        if (access(path_in(ctx, log, log->files[i]), F_OK) == 0)
            log->files[log->n++] = log->files[i];
    CHECK(log->n >= 3);
}

static enum status read_log(struct ctx *ctx, struct log *log)
{
    int64_t lines = 0;
    log->seen = 0;
    enum status s = audit_read(ctx, log->folder, see_line, log, &lines);
    CHECK(s != OK || lines == LINES);
    return s;
}

static void put_file(const char *path, str text)
{
    FILE *f = fopen(path, "we");
    CHECK(f && fwrite(text.p, 1, text.n, f) == text.n && fclose(f) == 0);
}

/* With another text in place of a file's, or without the file when it is empty. */
static void check_noticed(struct ctx *ctx, struct log *log, size_t file, str text)
{
    const char *path = path_in(ctx, log, log->files[file]);
    str whole;
    CHECK_OK(file_read(ctx, path, 1 << 20, &whole));
    if (text.n)
        put_file(path, text);
    else
        CHECK(unlink(path) == 0);
    CHECK_STATUS(read_log(ctx, log), CONFLICT);
    CHECK(holds(str_of(ctx->why), "was removed"));
    ctx_clear_failure(ctx);
    put_file(path, whole);
    CHECK_OK(read_log(ctx, log));
}

static str lines_of(struct ctx *ctx, const struct log *log, size_t file)
{
    str text;
    CHECK_OK(file_read(ctx, path_in(ctx, log, log->files[file]), 1 << 20, &text));
    return text;
}

static void remove_log(struct ctx *ctx, struct log *log)
{
    for (size_t i = 0; i < log->n; i++)
        unlink(path_in(ctx, log, log->files[i]));
    unlink(path_in(ctx, log, S("rememberd.audit.end")));
    unlink(path_in(ctx, log, S("audit.key")));
    CHECK(rmdir(log->folder) == 0);
}

TEST(the_chain_goes_on_over_files_and_says_who_acted)
{
    struct log log;
    write_log(ctx, &log);
    CHECK_OK(read_log(ctx, &log));
    CHECK_INT(log.seen, LINES);
    CHECK_STR(str_of(log.actors[0]), S("token:t1"));
    CHECK_STR(str_of(log.actors[1]), S("user:ada"));
    CHECK_STR(str_of(log.actors[2]), S("command line, uid 7"));
    remove_log(ctx, &log);
}

TEST(any_file_that_is_removed_is_noticed)
{
    struct log log;
    write_log(ctx, &log);
    for (size_t i = 0; i < log.n; i++)
        check_noticed(ctx, &log, i, S(""));
    remove_log(ctx, &log);
}

/* The first line of a file that follows another one, and the last lines of each. */
TEST(lines_at_the_ends_of_files_that_are_removed_are_noticed)
{
    struct log log;
    write_log(ctx, &log);
    for (size_t i = 0; i < log.n; i++) {
        str text = lines_of(ctx, &log, i), rest = text;
        str first = str_cut(&rest, '\n');
        if (rest.n)
            check_noticed(ctx, &log, i, rest);
        if (rest.n)
            check_noticed(ctx, &log, i, str_sub(text, 0, first.n + 1));
    }
    remove_log(ctx, &log);
}

static void setup_place(struct log *log, const char *to)
{
    *log = (struct log){.folder = "/tmp/audit.XXXXXX"};
    CHECK(mkdtemp(log->folder) != NULL);
    audit_setup(&(struct audit_place){.folder = log->folder, .to = to, .by = "server"});
}

TEST(names_of_control_characters_are_cut_and_break_no_line)
{
    struct log log;
    int64_t lines;
    char name[2000];
    memset(name, 1, sizeof name - 1);
    name[sizeof name - 1] = 0;
    setup_place(&log, "");
    memset(ctx->actor, 2, sizeof ctx->actor - 1);
    audit_note(ctx, "erased", str_of(name), "name=%s", name);
    audit_note(ctx, "erased", S("bob"), "rows=1");
    audit_end();
    CHECK_OK(audit_read(ctx, log.folder, NULL, NULL, &lines));
    CHECK_INT(lines, 2);
}

TEST(lines_go_to_a_pipe_as_well)
{
    struct log log;
    char got[1000] = "", why[200];
    char pipe[] = "/tmp/audit_pipe.XXXXXX";
    CHECK(mkdtemp(pipe) != NULL);
    const char *path = str_printf(&ctx->arena, "%s/to", pipe).p;
    CHECK_INT(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    setup_place(&log, path);
    audit_note(ctx, "erased", S("bob"), "rows=1");
    audit_why(ctx, why, sizeof why);
    CHECK_STR(str_of(why), S(""));
    CHECK(read(fd, got, sizeof got - 1) > 0 && holds(str_of(got), "\"who\":\"bob\""));
    close(fd);
    audit_end();
}

/* The end of the log cannot be written, as on a disk that takes only what fits into the last block
 * of the log; then half a line is left of one that did not fit. */
TEST(a_full_disk_leaves_a_log_that_goes_on)
{
    struct log log;
    int64_t lines;
    setup_place(&log, "");
    log.n = 1;
    log.files[0] = S("rememberd.audit");
    const char *part = path_in(ctx, &log, S("rememberd.audit.part"));
    audit_note(ctx, "erased", S("bob"), "rows=1");
    CHECK_INT(mkdir(part, 0700), 0);
    for (int i = 0; i < 4; i++)
        audit_note(ctx, "erased", S("bob"), "rows=2");
    CHECK_INT(rmdir(part), 0);
    CHECK_OK(audit_read(ctx, log.folder, NULL, NULL, &lines));
    audit_note(ctx, "erased", S("bob"), "rows=3");
    str text = lines_of(ctx, &log, 0);
    put_file(path_in(ctx, &log, log.files[0]),
             str_printf(&ctx->arena, S_FMT "{\"no\":4,\"at\"", S_ARG(text)));
    CHECK_OK(audit_read(ctx, log.folder, NULL, NULL, &lines));
    CHECK_INT(lines, 3);
    audit_note(ctx, "erased", S("bob"), "rows=4");
    CHECK_OK(audit_read(ctx, log.folder, NULL, NULL, &lines));
    CHECK_INT(lines, 4);
    audit_end();
    remove_log(ctx, &log);
}
