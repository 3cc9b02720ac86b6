/* files.c - Claude's memory tool: over REST for programs that run it, and over MCP. */
#include "surface/files/files.h"

#include "surface/common/error_body.h"
#include "surface/files/tree.h"

/*
 * The words of results and errors are those of Anthropic's own implementation of the tool, because
 * models know them. What a model can mend is a result with is_error; a request that is no call of
 * the tool fails.
 */

/* --- shapes --- */

static const char *const command_names[] = {"view",   "create", "str_replace", "insert",
                                            "delete", "rename", NULL};

/* As Claude calls the tool; which members a command needs depends on the command. Texts of files
 * have their own limit, which a model can keep to when it is told. */
SHAPE(file_command_in,
      (STR, command, .required = true, .one_of = command_names, .help = "what to do"),
      (STR, path, .help = "a file or folder under " FILES_ROOT),
      (JSON, view_range, .help = "view: first and last line, [1, -1] for all"),
      (STR, file_text, .help = "create: the text"),
      (STR, old_str, .help = "str_replace: what one line has"),
      (STR, new_str, .help = "str_replace: what it gets instead"),
      (INT, insert_line, .help = "insert: the line behind which the text goes; 0: the beginning"),
      (STR, insert_text, .help = "insert: the text"),
      (STR, old_path, .help = "rename: what is renamed"),
      (STR, new_path, .help = "rename: its new path"),
      (STR, space, .max = 200, .help = "name of one of your spaces"));

SHAPE(file_command_out, (STR, content, .required = true, .help = "what the model reads"),
      (BOOL, is_error, .required = true, .help = "nothing was done, and content says why"));

enum { LINES_MAX = 999999, BESIDE = 2 }; /* BESIDE: lines around a change that are shown */

struct running {
    struct ctx *ctx;
    struct engine *e;
    struct pool_ref pool;
    const struct file_command_in *in;
    struct tree tree;
    str path, to; /* of path or old_path, and of new_path, without tricks */
    struct file_command_out *out;
};

static enum status say_text(struct running *c, str text)
{
    c->out->content = text;
    return OK;
}

static enum status refuse_call(struct running *c, str why)
{
    c->out->is_error = true;
    return say_text(c, why);
}

/* The same in the words of a format. */
#define say_words(C, ...) say_text((C), str_printf(&(C)->ctx->arena, __VA_ARGS__))
#define refuse_words(C, ...) refuse_call((C), str_printf(&(C)->ctx->arena, __VA_ARGS__))

static enum status refuse_missing(struct running *c)
{
    return refuse_words(c, "The path " S_FMT " does not exist. Please provide a valid path.",
                        S_ARG(c->in->path));
}

/* What the engine answered to a write of a file that was there a moment ago. */
static enum status end_write(struct running *c, enum status s, str path)
{
    if (s != CONFLICT && s != NOT_FOUND)
        return s;
    ctx_clear_failure(c->ctx);
    return refuse_words(c,
                        "The file " S_FMT
                        " no longer exists (may have been deleted or renamed concurrently).",
                        S_ARG(path));
}

/* Whether a text that takes the place of another is too long, or brings a secret: a mask in it
 * would break the model's next edit, so the model is asked to leave the secret out. */
static bool is_refused(struct running *c, str was, str text)
{
    if (text.n > FILE_TEXT_MAX)
        refuse_words(c, "The file " S_FMT " would have %zu bytes. Maximum is %d.",
                     S_ARG(c->in->path), text.n, FILE_TEXT_MAX);
    else if (engine_file_is_secret(c->e, text) && !engine_file_is_secret(c->e, was))
        refuse_call(c, S("The text holds a password, key or number that may not be stored. "
                         "Leave it out."));
    return c->out->is_error;
}

/* From 1; -1 is the end. */
static enum status read_range(struct running *c, int64_t lines, int64_t *from, int64_t *to)
{
    const struct json *range = c->in->view_range;
    *from = 1;
    *to = lines;
    if (!range || range->type == JSON_NULL)
        return OK;
    if (range->type != JSON_ARRAY || range->n != 2 || range->first->type != JSON_NUMBER ||
        range->first->next->type != JSON_NUMBER)
        return fail_field(c->ctx, "view_range", "must be a list of two line numbers");
    *from = json_int_or(range->first, 1);
    int64_t last = json_int_or(range->first->next, lines);
    *to = last == -1 ? lines : last;
    return OK;
}

/* Whether it is for a person to look at first; no command but delete and rename is run on it. */
static bool is_held_back(struct running *c, const struct file *file)
{
    if (engine_file_is_held(c->ctx, c->e, c->pool, file))
        refuse_words(c, "The file " S_FMT " is quarantined until somebody reviews it.",
                     S_ARG(c->in->path));
    return c->out->is_error;
}

static enum status view_file(struct running *c, const struct file *file)
{
    int64_t from, to, lines = lines_in(file->text);
    struct arena *a = &c->ctx->arena;
    if (is_held_back(c, file))
        return OK;
    TRY(read_range(c, lines, &from, &to));
    if (lines > LINES_MAX)
        return refuse_words(c,
                            "File " S_FMT " has too many lines (%lld). Maximum is 999,999 lines.",
                            S_ARG(c->in->path), (long long)lines);
    return say_words(c, "Here's the content of " S_FMT " with line numbers:\n" S_FMT,
                     S_ARG(c->in->path), S_ARG(numbered_lines(a, file->text, from, to)));
}

static enum status run_view(struct running *c)
{
    const struct file *file = tree_file(&c->tree, c->path);
    if (file)
        return view_file(c, file);
    if (!tree_has_folder(&c->tree, c->path))
        return refuse_missing(c);
    return say_text(c, tree_list(&c->ctx->arena, &c->tree, c->path));
}

/* A file cannot be a folder as well. */
static bool is_blocked(struct running *c, str path)
{
    const struct file *file = tree_blocks(&c->tree, path);
    if (file)
        refuse_words(c, "The path " S_FMT " is not a directory.", S_ARG(file->path));
    return file != NULL;
}

static enum status run_create(struct running *c)
{
    const struct file file = {.path = c->path, .text = c->in->file_text};
    if (tree_file(&c->tree, c->path) || tree_has_folder(&c->tree, c->path))
        return refuse_words(c, "File " S_FMT " already exists", S_ARG(c->in->path));
    if (is_blocked(c, c->path) || is_refused(c, S(""), file.text))
        return OK;
    if (c->tree.n >= FILES_MAX)
        return refuse_words(c, "There are %zu files. Maximum is %d.", c->tree.n, FILES_MAX);
    enum status s = engine_file_add(c->ctx, c->e, c->pool, &file);
    if (soft_if(c->ctx, s, CONFLICT))
        return refuse_words(c, "File " S_FMT " already exists", S_ARG(c->in->path));
    TRY(s);
    return say_words(c, "File created successfully at: " S_FMT, S_ARG(c->in->path));
}

/* The file to edit, or NULL with the refusal. */
static const struct file *find_edited(struct running *c)
{
    const struct file *file = tree_file(&c->tree, c->path);
    if (!file && tree_has_folder(&c->tree, c->path))
        refuse_words(c, "The path " S_FMT " is not a file.", S_ARG(c->in->path));
    else if (!file)
        refuse_missing(c);
    return file && is_held_back(c, file) ? NULL : file;
}

static enum status write_file(struct running *c, const struct file *file, str text, str said)
{
    if (is_refused(c, file->text, text))
        return OK;
    c->out->content = said;
    return end_write(c, engine_file_write(c->ctx, c->e, c->pool, file, text), c->in->path);
}

/* The lines that hold the text, as a list for the model; *first is the number of the first one. */
static size_t lines_with(struct arena *a, str text, str part, int64_t *first, str *list)
{
    struct buf b = buf_make(a, text.n * 8 + 64);
    int64_t lines = lines_in(text);
    size_t n = 0;
    for (int64_t i = 1; i <= lines; i++) {
        str line = str_cut(&text, '\n');
        if (part.n && str_find(line, part) == line.n)
            continue;
        buf_printf(&b, "%s%lld", n ? ", " : "", (long long)i);
        *first = n++ ? *first : i;
    }
    *list = buf_str(&b);
    return n;
}

static enum status run_replace(struct running *c)
{
    str old = c->in->old_str, new = c->in->new_str, list;
    struct arena *a = &c->ctx->arena;
    int64_t line = 0;
    const struct file *file = find_edited(c);
    if (!file)
        return OK;
    size_t n = lines_with(a, file->text, old, &line, &list);
    if (!n)
        return refuse_words(c,
                            "No replacement was performed, old_str `" S_FMT
                            "` did not appear verbatim in " S_FMT ".",
                            S_ARG(old), S_ARG(c->in->path));
    if (n > 1)
        return refuse_words(c,
                            "No replacement was performed. Multiple occurrences of old_str `" S_FMT
                            "` in lines: " S_FMT ". Please ensure it is unique",
                            S_ARG(old), S_ARG(list));
    size_t at = old.n ? str_find(file->text, old) : 0;
    str text = str_printf(a, S_FMT S_FMT S_FMT, S_ARG(str_sub(file->text, 0, at)), S_ARG(new),
                          S_ARG(str_sub(file->text, at + old.n, file->text.n)));
    str snippet = numbered_lines(a, text, line - BESIDE, line + BESIDE);
    return write_file(c, file, text,
                      str_printf(a,
                                 "The memory file has been edited. Here is the snippet showing the "
                                 "change (with line numbers):\n" S_FMT,
                                 S_ARG(snippet)));
}

/* The byte at which line number `line` (from 0) begins; behind the last one the end. */
static size_t line_start(str text, int64_t line)
{
    size_t at = 0;
    for (; line > 0 && at < text.n; at++)
        line -= text.p[at] == '\n';
    return at;
}

static enum status run_insert(struct running *c)
{
    struct arena *a = &c->ctx->arena;
    str put = c->in->insert_text;
    int64_t line = c->in->insert_line;
    const struct file *file = find_edited(c);
    if (!file)
        return OK;
    int64_t lines = lines_in(file->text);
    if (line < 0 || line > lines)
        return refuse_words(c,
                            "Invalid `insert_line` parameter: %lld. It should be "
                            "within the range of lines of the file: [0, %lld]",
                            (long long)line, (long long)lines);
    put.n -= str_ends(put, S("\n"));
    bool is_end = line == lines;
    size_t at = is_end ? file->text.n : line_start(file->text, line);
    str text = str_printf(a, S_FMT "%s" S_FMT "%s" S_FMT, S_ARG(str_sub(file->text, 0, at)),
                          is_end ? "\n" : "", S_ARG(put), is_end ? "" : "\n",
                          S_ARG(str_sub(file->text, at, file->text.n)));
    return write_file(c, file, text,
                      str_printf(a, "The file " S_FMT " has been edited.", S_ARG(c->in->path)));
}

/* The files that a path names: itself, or all below it. */
static size_t files_of(struct running *c, struct file **out)
{
    size_t n = 0;
    *out = NEW_N(&c->ctx->arena, struct file, c->tree.n + 1);
    for (size_t i = 0; i < c->tree.n; i++)
        if (str_eq(c->tree.v[i].path, c->path) || path_is_below(c->tree.v[i].path, c->path))
            (*out)[n++] = c->tree.v[i];
    return n;
}

static enum status run_delete(struct running *c)
{
    struct file *v;
    if (str_is(c->path, FILES_ROOT))
        return refuse_call(c, S("Cannot delete the " FILES_ROOT " directory itself"));
    size_t n = files_of(c, &v);
    if (!n)
        return refuse_words(c, "The path " S_FMT " does not exist", S_ARG(c->in->path));
    TRY(engine_files_erase(c->ctx, c->e, c->pool, v, n));
    return say_words(c, "Successfully deleted " S_FMT, S_ARG(c->in->path));
}

/* One file after the other: a path that someone takes meanwhile stops it. */
static enum status move_files(struct running *c, const struct file *v, size_t n)
{
    if (SOME(i, n, v[i].path.n - c->path.n + c->to.n > PATH_MAX_BYTES))
        return refuse_words(c, "Path must have at most %d bytes", PATH_MAX_BYTES);
    for (size_t i = 0; i < n; i++) {
        str path = str_printf(&c->ctx->arena, S_FMT S_FMT, S_ARG(c->to),
                              S_ARG(str_sub(v[i].path, c->path.n, v[i].path.n)));
        enum status s = engine_file_move(c->ctx, c->e, c->pool, &v[i], path);
        if (soft_if(c->ctx, s, CONFLICT))
            return refuse_words(c, "The destination " S_FMT " already exists", S_ARG(path));
        TRY(end_write(c, s, v[i].path));
        if (c->out->is_error)
            return OK;
    }
    return say_words(c, "Successfully renamed " S_FMT " to " S_FMT, S_ARG(c->in->old_path),
                     S_ARG(c->in->new_path));
}

static enum status run_rename(struct running *c)
{
    struct file *v;
    if (str_is(c->path, FILES_ROOT))
        return refuse_call(c, S("Cannot rename the " FILES_ROOT " directory itself"));
    size_t n = files_of(c, &v);
    if (!n)
        return refuse_words(c, "The path " S_FMT " does not exist", S_ARG(c->in->old_path));
    if (tree_file(&c->tree, c->to) || tree_has_folder(&c->tree, c->to))
        return refuse_words(c, "The destination " S_FMT " already exists", S_ARG(c->in->new_path));
    if (path_is_below(c->to, c->path))
        return refuse_words(c, "Cannot rename " S_FMT " to a path inside itself",
                            S_ARG(c->in->old_path));
    return is_blocked(c, c->to) ? OK : move_files(c, v, n);
}

/* --- the table --- */

static const struct command {
    enum status (*run)(struct running *c);
    const char *needs[4];
} commands[] = {
    {run_view, {"path"}},
    {run_create, {"path", "file_text"}},
    {run_replace, {"path", "old_str", "new_str"}},
    {run_insert, {"path", "insert_line", "insert_text"}},
    {run_delete, {"path"}},
    {run_rename, {"old_path", "new_path"}},
};

static enum status check_members(struct ctx *ctx, const struct json *given,
                                 const struct command *command)
{
    for (size_t i = 0; command->needs[i]; i++) {
        const struct json *v = json_get(given, command->needs[i]);
        if (!v || v->type == JSON_NULL)
            return fail_missing(ctx, command->needs[i]);
    }
    return OK;
}

/* given: the object that *in was read from, as an empty text differs from none. BAD_INPUT: the
 * command lacks a member. */
static enum status run_command(struct ctx *ctx, struct app *app, struct pool_ref pool,
                               const struct json *given, const struct file_command_in *in,
                               struct file_command_out *out)
{
    const struct command *command = &commands[name_index(command_names, in->command, 0)];
    bool is_rename = command->run == run_rename;
    struct running c = {.ctx = ctx, .e = app->engine, .pool = pool, .in = in, .out = out};
    str why;
    *out = (struct file_command_out){0};
    TRY(check_members(ctx, given, command));
    if (!path_read(&ctx->arena, is_rename ? in->old_path : in->path, &c.path, &why) ||
        (is_rename && !path_read(&ctx->arena, in->new_path, &c.to, &why)))
        return refuse_call(&c, why);
    TRY(tree_read(ctx, app->engine, pool, &c.tree));
    return command->run(&c);
}

/* --- its two doors --- */

/* POST /v1/memory_tool: the input of a call as the model gave it, so that a program has nothing to
 * translate. */
static HANDLER(memory_tool)
{
    struct file_command_out done;
    TRY(run_command(ctx, app, in->who.pool, in->json, in->in, &done));
    return reply_fields(out, file_command_out_fields, &done);
}

static enum status tool_files(struct tool_call *c)
{
    const struct file_command_in *in = c->in;
    struct file_command_out *out = c->out;
    TRY(auth_pool(c->ctx, c->app, c->who, in->space, "space", &c->pool));
    TRY(run_command(c->ctx, c->app, c->pool, c->arguments, in, out));
    c->text = out->content;
    c->is_refused = out->is_error;
    return OK;
}

const struct tool file_tools[] = {
    {"memory", "Claude's memory tool",
     "Files of your own under /memories, which stay from one conversation to the next. Commands: "
     "view, create, str_replace, insert, delete, rename. View /memories before you begin.",
     "claude", tool_files, TAKES(file_command_in), RESULT(file_command_out), .destroys = true},
    {0},
};

static const struct route routes[] = {
    {ROUTE("POST", "/v1/memory_tool", memory_tool), READS(file_command_in),
     ANSWERS(file_command_out), .help = "a command of Claude's memory tool"},
    {0},
};

const struct surface surface_files = STRICT_SURFACE("files", routes);
