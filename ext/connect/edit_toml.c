/* edit_toml.c - one table of a TOML file: put in, replaced, taken out. */
#include <ctype.h>

#include "core/toml.h"
#include "ext/connect/edit.h"

/*
 * The file is read line by line, as far as is needed to know where tables begin: a value may span
 * lines in brackets or in three quotes, and what looks like a header there is none. Tables may
 * stand in any order, so a new one goes to the end.
 */

/* A header, or a key with its value. Blank lines and comments are none. */
struct item {
    size_t from, to; /* bytes, with the end of its last line */
    bool is_header;
    str name; /* of the table, or of the key behind its table's, without quotes and spaces */
};

struct reader {
    struct ctx *ctx;
    str text, header; /* header: the table's name that `at` is below, or "" */
    size_t at;
};

static enum status refuse_line(struct reader *r, size_t at, const char *why)
{
    return fail(r->ctx, BAD_INPUT, "line %zu: %s", text_line(r->text, r->text.p + at), why);
}

static char char_at(const struct reader *r, size_t i)
{
    return i < r->text.n ? r->text.p[i] : '\n';
}

/* Behind the string that begins at i. */
static enum status skip_string(struct reader *r, size_t i, size_t *out)
{
    char quote = r->text.p[i];
    bool is_long = char_at(r, i + 1) == quote && char_at(r, i + 2) == quote;
    size_t n = is_long ? 3 : 1;
    for (size_t at = i + n; at < r->text.n; at++) {
        if (quote == '"' && r->text.p[at] == '\\') {
            at++;
            continue;
        }
        if (!is_long && r->text.p[at] == '\n')
            break;
        if (r->text.p[at] != quote ||
            (is_long && (char_at(r, at + 1) != quote || char_at(r, at + 2) != quote)))
            continue;
        *out = at + n;
        while (is_long && char_at(r, *out) == quote) /* one or two of its own before the end */
            ++*out;
        return OK;
    }
    return refuse_line(r, i, "a text has no end");
}

static size_t skip_line(const struct reader *r, size_t i)
{
    i += str_find(str_sub(r->text, i, r->text.n), S("\n"));
    return i < r->text.n ? i + 1 : i;
}

/* Up to one of the stops that is in no quotes, no brackets and no comment; a line's end is one. */
static enum status find_stop(struct reader *r, size_t i, char stop, size_t *out)
{
    int depth = 0;
    for (; i < r->text.n; i++) {
        char c = r->text.p[i];
        if (depth == 0 && (c == stop || c == '\n' || c == '#'))
            break;
        if (c == '"' || c == '\'') {
            TRY(skip_string(r, i, &i));
            i--;
        } else if (c == '#') {
            i = skip_line(r, i) - 1;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (c == ']' || c == '}') {
            if (--depth < 0)
                return refuse_line(r, i, "a bracket too many");
        }
    }
    if (depth)
        return refuse_line(r, i, "a bracket is not closed");
    *out = i;
    return OK;
}

static str plain_name(struct arena *a, str name)
{
    struct buf b = buf_make(a, name.n + 1);
    for (size_t i = 0; i < name.n; i++)
        if (!isspace((unsigned char)name.p[i]) && !char_is_one_of(name.p[i], "\"'"))
            buf_byte(&b, name.p[i]);
    return buf_str(&b);
}

static enum status read_header(struct reader *r, size_t at, struct item *out)
{
    size_t open = char_at(r, at + 1) == '[' ? 2 : 1, end = at + open;
    while (end < r->text.n && r->text.p[end] != ']' && r->text.p[end] != '\n') {
        if (char_is_one_of(r->text.p[end], "\"'"))
            TRY(skip_string(r, end, &end));
        else
            end++;
    }
    out->name = plain_name(&r->ctx->arena, str_sub(r->text, at + open, end));
    out->is_header = true;
    for (size_t i = 0; i < open; i++)
        if (char_at(r, end++) != ']')
            return refuse_line(r, at, "a table's name has no end");
    while (char_is_one_of(char_at(r, end), " \t\r"))
        end++;
    if (char_at(r, end) != '\n' && char_at(r, end) != '#')
        return refuse_line(r, at, "something stands behind a table's name");
    out->to = skip_line(r, end);
    return OK;
}

static enum status read_pair(struct reader *r, size_t at, struct item *out)
{
    size_t equals, end;
    TRY(find_stop(r, at, '=', &equals));
    if (char_at(r, equals) != '=')
        return refuse_line(r, at, "is neither a table nor a key with a value");
    TRY(find_stop(r, equals + 1, '\n', &end));
    if (!str_trim(str_sub(r->text, equals + 1, end)).n)
        return refuse_line(r, at, "a key has no value");
    out->name = plain_name(&r->ctx->arena, str_sub(r->text, at, equals));
    out->is_header = false;
    out->to = skip_line(r, end);
    return OK;
}

/* *more is false at the end. */
static enum status next_item(struct reader *r, struct item *out, bool *more)
{
    for (*more = true; r->at < r->text.n; r->at = skip_line(r, r->at)) {
        size_t at = r->at;
        while (char_is_one_of(char_at(r, at), " \t"))
            at++;
        if (char_is_one_of(char_at(r, at), "\r\n#"))
            continue;
        out->from = r->at;
        TRY(char_at(r, at) == '[' ? read_header(r, at, out) : read_pair(r, at, out));
        r->at = out->to;
        if (out->is_header)
            r->header = out->name;
        else if (r->header.n)
            out->name =
                str_printf(&r->ctx->arena, S_FMT "." S_FMT, S_ARG(r->header), S_ARG(out->name));
        return OK;
    }
    *more = false;
    return OK;
}

/* --- our table --- */

/* "a.b" in "a.b" and "a.b.c". */
static bool is_within(str name, const char *table)
{
    str of = str_of(table);
    return str_starts(name, of) && (name.n == of.n || name.p[of.n] == '.');
}

/* Where it is, with tables in it; from == to when it is not there. A table in it may come first. A
 * key outside of the table may make it, or what it is in: "a.b.url" or "a = {…}". */
static enum status find_table(struct ctx *ctx, str text, const char *table, size_t *from,
                              size_t *to)
{
    struct reader r = {.ctx = ctx, .text = text};
    struct item item = {0};
    bool more, is_over = false;
    *from = *to = text.n;
    for (;;) {
        TRY(next_item(&r, &item, &more));
        if (!more)
            return OK;
        bool is_in = is_within(r.header, table), is_there = *from < *to;
        if (!is_in && !item.is_header &&
            (is_within(item.name, table) ||
             is_within(str_of(table), str_c(&ctx->arena, item.name))))
            return refuse_line(&r, item.from, "this key makes the table; take it out first");
        if (is_in && is_over)
            return refuse_line(&r, item.from, "the table is written in two places");
        is_over |= is_there && !is_in;
        if (is_in && !is_there)
            *from = item.from;
        if (is_in)
            *to = item.to;
    }
}

/* The table with `lines` for its header and our keys, which say where the server is: what someone
 * has put beside them stays, such as a limit of time or what Codex notes of a tool. */
static enum status renew_table(struct ctx *ctx, str text, const char *table, str lines, str *out)
{
    static const char *const ours[] = {"url",
                                       "command",
                                       "args",
                                       "env",
                                       "cwd",
                                       "env_vars",
                                       "bearer_token",
                                       "bearer_token_env_var",
                                       "http_headers",
                                       "env_http_headers",
                                       NULL};
    struct arena *a = &ctx->arena;
    struct reader r = {.ctx = ctx, .text = text};
    struct buf b = buf_make(a, text.n + lines.n);
    struct item item = {0};
    size_t at = 0;
    bool has_header = false;
    for (bool more = true;;) {
        TRY(next_item(&r, &item, &more));
        buf_add(&b, str_sub(text, at, more ? item.from : text.n));
        if (!more)
            break;
        at = item.to;
        bool is_table = str_is(item.name, table);
        str key = is_table ? S("") : str_sub(item.name, strlen(table) + 1, item.name.n);
        bool is_ours = name_index(ours, str_cut(&key, '.'), -1) >= 0;
        if (is_table && !has_header)
            buf_add(&b, lines);
        else if (!is_table && !is_ours)
            buf_add(&b, str_sub(text, item.from, item.to));
        has_header |= is_table;
    }
    *out = has_header ? buf_str(&b) : edit_splice(a, lines, lines.n, lines.n, buf_str(&b));
    return OK;
}

enum status edit_toml_put(struct ctx *ctx, str text, const char *name, str body, str *out)
{
    struct arena *a = &ctx->arena;
    size_t from, to;
    TRY(find_table(ctx, text, name, &from, &to));
    str table = str_printf(a, "[%s]\n" S_FMT, name, S_ARG(body));
    TRY(renew_table(ctx, str_sub(text, from, to), name, table, &table));
    bool has_end = !text.n || text.p[(to ? to : 1) - 1] == '\n';
    assert(str_ends(body, S("\n")));
    if (!has_end && str_ends(table, S("\n")))
        table.n--;
    if (from == to && text.n)
        table = str_printf(a, "%s\n" S_FMT, has_end ? "" : "\n", S_ARG(table));
    *out = edit_splice(a, text, from, to, table);
    return OK;
}

/* With the blank line in front of it, and in a file whose last line has no end with the end of the
 * line before. */
enum status edit_toml_take(struct ctx *ctx, str text, const char *name, str *out)
{
    size_t from, to;
    *out = text;
    TRY(find_table(ctx, text, name, &from, &to));
    if (from == to)
        return OK;
    bool has_end = text.p[to - 1] == '\n';
    if (from > 1 && text.p[from - 1] == '\n' && text.p[from - 2] == '\n')
        from--;
    if (from && !has_end)
        from--;
    *out = edit_splice(&ctx->arena, text, from, to, S(""));
    return OK;
}
