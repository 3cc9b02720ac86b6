/* import.c - the commands that bring in what others have kept, with progress on a terminal. */
#include "ext/import/import.h"

#include <errno.h>
#include <sys/stat.h>

#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "app/progress.h"

/* One import runs in a process, so its progress may be static. */
static struct progress progress;

/* --- OmniRoute's database --- */

static void show_rows(int64_t done, int64_t all)
{
    progress_show(&progress, "omniroute", done, all, 1, "memories");
}

/* A new user has no token yet, and a chat without a token searches the default space only. */
static const char where[] =
    "The memories of each key are in the space with the name of the key. A chat uses them with a "
    "token of that space:\n"
    "  rememberd token create --space NAME\n"
    "For chats without a token, repeat the import with --space " DEFAULT_SPACE ".\n";

static bool is_omniroute(const struct options *o)
{
    return o->words.n == 3 && str_is(o->words.v[1], "omniroute");
}

static enum status import_omniroute(struct ctx *ctx, const struct options *o,
                                    struct instance *instance)
{
    struct omniroute_report r = {0};
    enum status s = engine_import_omniroute(ctx, instance->engine, pool_of(o).user,
                                            options_has(o, "space") ? o->space : S(""),
                                            o->words.v[2], o->again, show_rows, &r);
    progress_end(&progress);
    TRY(s);
    printf(o->json ? "{\"memories\":%lld,\"updated\":%lld,\"owners\":%lld,\"skipped\":%lld,"
                     "\"erased\":%lld}\n"
                   : "%lld memories, %lld updated, of %lld keys; %lld skipped\n",
           (long long)r.memories, (long long)r.updated, (long long)r.owners, (long long)r.skipped,
           (long long)r.erased);
    if (!o->json && r.erased)
        printf("%lld were erased here; --again brings them back\n", (long long)r.erased);
    if (!o->json && !options_has(o, "space") && r.owners)
        fputs(where, stdout);
    return OK;
}

/* --- files --- */

static void show_bytes(int64_t done, int64_t all)
{
    progress_show(&progress, "import", done, all, 1e6, "MB");
}

/* Without --space a line of our own export goes where it was. */
static enum status place_line(UNUSED void *own, struct ctx *ctx, str space, struct pool_ref *out)
{
    out->space = str_dup(&ctx->arena, space);
    return OK;
}

static FIELDS_OF(import_report, report, (STR, format), (INT, files), (INT, ignored), (INT, records),
                 (INT, sessions), (INT, new_sessions), (INT, messages), (INT, new_messages),
                 (INT, memories), (INT, new_memories), (INT, updated), (INT, bars), (INT, new_bars),
                 (INT, facts), (INT, erased), (INT, skipped), (INT, broken), (STRS, problems),
                 (BOOL, dry_run));

static void print_kind(const char *name, int64_t all, int64_t fresh, int64_t updated)
{
    if (!all)
        return;
    printf("%-14s %8lld, %lld new", name, (long long)all, (long long)fresh);
    if (updated)
        printf(", %lld updated", (long long)updated);
    putchar('\n');
}

static void print_count(const char *name, int64_t n, const char *what)
{
    if (n)
        printf("%-14s %8lld  %s\n", name, (long long)n, what);
}

static void print_report(const struct import_report *r)
{
    printf("format " S_FMT ", %lld records of %lld %s\n", S_ARG(r->format), (long long)r->records,
           (long long)r->files, r->files == 1 ? "file" : "files");
    print_kind("conversations", r->sessions, r->new_sessions, 0);
    print_kind("messages", r->messages, r->new_messages, 0);
    print_kind("memories", r->memories, r->new_memories, r->updated);
    print_kind("bars", r->bars, r->new_bars, 0);
    print_count("facts", r->facts, "found in new messages of the user");
    print_count("erased here", r->erased, "left out; --again brings them back");
    print_count("skipped", r->skipped, "left out on purpose");
    print_count("ignored", r->ignored, "files of no known format");
    print_count("broken", r->broken, "records; all others were read");
    fflush(stdout);
    for (size_t i = 0; i < r->problems.n; i++)
        fprintf(stderr, "  " S_FMT "\n", S_ARG(r->problems.v[i]));
    if (r->broken > (int64_t)r->problems.n)
        fprintf(stderr, "  and %lld more\n", (long long)(r->broken - (int64_t)r->problems.n));
    puts(r->dry_run ? "Nothing was written (--dry-run)."
                    : "What was stored before is not stored again.");
}

static enum status import_files(struct ctx *ctx, const struct options *o, struct instance *instance)
{
    struct import_report r;
    const struct import_in in = {.pool = pool_of(o),
                                 .format = o->format,
                                 .dry_run = o->dry_run,
                                 .extract = !o->no_extract,
                                 .again = o->again,
                                 .place = options_has(o, "space") ? NULL : place_line,
                                 .progress = show_bytes};
    enum status s = engine_import(ctx, instance->engine, &in, o->words.v[1], &r);
    progress_end(&progress);
    TRY(s);
    if (o->json)
        TRY(print_fields(ctx, report_fields, &r));
    else
        print_report(&r);
    str left_out = counted(&ctx->arena, r.failed, "file was", "files were");
    if (r.failed)
        return fail(ctx, BAD_INPUT, S_FMT " not imported; all others were read", S_ARG(left_out));
    /* The export of an empty space has no format. */
    bool has_any =
        r.sessions || r.messages || r.memories || r.bars || r.erased || r.skipped || !r.format.n;
    return has_any ? OK
                   : fail(ctx, BAD_INPUT, S_FMT ": nothing in it can be imported",
                          S_ARG(o->words.v[1]));
}

/* Before the store is opened, which makes a database where there is none. A pipe may never end. */
static enum status check_there(struct ctx *ctx, const struct options *o, bool may_be_folder)
{
    const char *path = str_c(&ctx->arena, o->words.v[o->words.n - 1]);
    struct stat st;
    if (stat(path, &st) < 0)
        return fail(ctx, NOT_FOUND, "%s: %s", path, strerror(errno));
    if (S_ISREG(st.st_mode) || (may_be_folder && S_ISDIR(st.st_mode)))
        return OK;
    return fail(ctx, BAD_INPUT, "%s: is not a file%s", path, may_be_folder ? " or a folder" : "");
}

static enum status check_import(struct ctx *ctx, const struct options *o)
{
    if (o->words.n == 3 && !is_omniroute(o))
        return fail(ctx, BAD_INPUT, "must be: import FILE, import FOLDER or import omniroute FILE");
    if (is_omniroute(o) && (o->dry_run || o->no_extract || o->format.n))
        return fail(ctx, BAD_INPUT, "import omniroute takes no --dry-run, --no-extract, --format");
    if (o->format.n && name_index(import_formats, o->format, -1) < 0)
        return fail_field(ctx, "--format", "is not a known format: " S_FMT "; see --help",
                          S_ARG(o->format));
    return OK;
}

static enum status import_any(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    TRY(check_there(ctx, o, !is_omniroute(o)));
    TRY(instance_open(ctx, o, o->dry_run ? TO_TRY : TO_ADD, &instance));
    return is_omniroute(o) ? import_omniroute(ctx, o, &instance) : import_files(ctx, o, &instance);
}

/* --- conversations: rememberd ingest --- */

static enum status ingest_file(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct import_report r;
    TRY(check_there(ctx, o, false));
    TRY(instance_open(ctx, o, TO_ADD, &instance));
    enum status s = engine_ingest(ctx, instance.engine, pool_of(o), o->words.v[1], !o->no_extract,
                                  show_bytes, &r);
    progress_end(&progress);
    TRY(s);
    printf(o->json ? "{\"sessions\":%lld,\"messages\":%lld,\"memories\":%lld,\"skipped\":%lld,"
                     "\"erased\":%lld}\n"
                   : "read %lld conversations, %lld messages, %lld memories; skipped %lld without "
                     "text\nWhat was stored before is not stored again.\n",
           (long long)r.sessions, (long long)r.messages, (long long)r.facts, (long long)r.skipped,
           (long long)r.erased);
    if (!o->json && r.erased)
        printf("%lld were erased here and are left out.\n", (long long)r.erased);
    return OK;
}

const struct command import_commands[] = {
    {"ingest", "ingest FILE",
     "Import conversations from JSON lines {session, role, content, ...} or from a LoCoMo file",
     "ingest chats.jsonl", POOL "no_extract ", 1, 1, NULL, ingest_file, false},
    {"import", "import FILE | import FOLDER | import omniroute FILE",
     "Import conversations and memories of other programs (ChatGPT, Claude, mem0, Markdown and "
     "more) or an export of rememberd",
     "import ~/Downloads/chatgpt-export --dry-run", POOL "format dry_run no_extract again ", 1, 2,
     check_import, import_any, false,
     "the space default; of an export the space of each line, of OmniRoute a space for each key",
     .own_help =
         {{"dry_run", "Only count what would be new"},
          {"format",
           "Format of the file: rememberd, chatgpt, claude, letta, openmemory, mem0, mcp-memory, "
           "claude-code, codex, turns, locomo, markdown or list. Without --format, rememberd looks "
           "at the file"}}},
    {0},
};
