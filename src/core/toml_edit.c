/* toml_edit.c - a file of TOML with one value changed, and all else as it was. */
#include "core/toml_edit.h"

#include "core/toml.h"

static size_t line_start(str text, size_t at)
{
    return str_behind_last(str_sub(text, 0, at), '\n');
}

/* A number may have been written otherwise than its source says, so its end is looked for. */
static void find_value(str text, const struct json *m, size_t *from, size_t *to)
{
    static const char ends[] = " \t\r\n#";
    str name = json_name(m);
    const char *source = m->source.p;
    if (source >= text.p && source < text.p + text.n) {
        *from = (size_t)(source - text.p);
        *to = *from + m->source.n;
        return;
    }
    *from = (size_t)(name.p - text.p) + name.n;
    *from += str_find(str_sub(text, *from, text.n), S("=")) + 1;
    while (text.p[*from] == ' ' || text.p[*from] == '\t')
        ++*from;
    for (*to = *from; *to < text.n && !strchr(ends, text.p[*to]);)
        ++*to;
}

/* Tables have no value of their own: their source is their name. */
static bool is_table(const struct json *m)
{
    return m->source.p == json_name(m).p;
}

/* Behind the last key that is in no table; else before the first header and the comment on it. */
static size_t place_for_new(str text, const struct json *root)
{
    static const str mark = S("\xEF\xBB\xBF"); /* of the byte order, which some editors write */
    size_t behind = 0, from, to;
    for (const struct json *m = root->first; m; m = m->next) {
        if (is_table(m))
            continue;
        find_value(text, m, &from, &to);
        behind = to + str_find(str_sub(text, to, text.n), S("\n"));
        behind += behind < text.n;
    }
    if (behind)
        return behind;
    if (!root->first)
        return text.n;
    size_t at = line_start(text, (size_t)(json_name(root->first).p - text.p));
    while (at) {
        size_t before = line_start(text, at - 1);
        if (text.p[before] != '#')
            break;
        at = before;
    }
    return at ? at : str_starts(text, mark) ? mark.n : 0;
}

enum status toml_set(struct ctx *ctx, str text, const char *key, str value, struct buf *out)
{
    struct json *root;
    TRY(toml_parse(ctx, text, &root));
    /* A name with an escape is not in the text, so it does not tell where its line is. */
    for (const struct json *one = root->first; one; one = one->next)
        if (!text_line(text, json_name(one).p))
            return fail_field(ctx, str_c(&ctx->arena, json_name(one)),
                              "is written with an escape; edit the file");
    const struct json *m = json_get(root, key);
    size_t from, to;
    if (m && is_table(m))
        return fail_field(ctx, key, "is a table; edit the file");
    if (m) {
        find_value(text, m, &from, &to);
        assert(from <= to && to <= text.n);
        buf_add(out, str_sub(text, 0, from));
        buf_add(out, value);
        buf_add(out, str_sub(text, to, text.n));
        return OK;
    }
    from = place_for_new(text, root);
    buf_add(out, str_sub(text, 0, from));
    if (from && text.p[from - 1] != '\n')
        buf_byte(out, '\n');
    buf_printf(out, "%s = " S_FMT "\n", key, S_ARG(value));
    buf_add(out, str_sub(text, from, text.n));
    return OK;
}
