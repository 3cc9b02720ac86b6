/* toml.c - the reader of TOML: one pass, with the same values as the reader of JSON. */
#include "core/toml.h"

#include "base/utf8.h"
#include "core/toml_words.h"

/*
 * A file of settings is TOML for the people who write it and JSON for the code behind. The reader
 * makes the tree of json.h, so nothing behind it knows which one a file was. How a table came to be
 * decides what may still be added to it: TOML lets each table be defined once.
 */
enum origin {
    BY_VALUE,  /* a value, an array or an inline table: closed */
    BY_PATH,   /* a table that only the name of a table below it has named */
    BY_HEADER, /* [table] */
    BY_DOTS,   /* a table that a dotted key made, open until the next header */
    BY_LIST    /* [[table]]: an array of tables */
};

/* v is the first member, so that a list of values is one of nodes. */
struct node {
    struct json v;
    str texts[2]; /* as v.texts points to */
    struct node *last;
    enum origin origin;
    size_t section; /* of BY_DOTS: the number of the header that it stands under */
};

struct reader {
    struct toml_at at;
    struct node *root, *table;
    size_t section, values;
    int depth;
};

/* A dotted key. */
struct path {
    str part[TOML_DEPTH_MAX];
    size_t n;
};

static enum status fail_key(struct reader *r, str key, const char *what)
{
    return toml_fail(&r->at, str_printf(&r->at.ctx->arena, "%s: '" S_FMT "'", what, S_ARG(key)).p);
}

/* --- tables --- */

static enum status new_node(struct reader *r, struct node **out)
{
    if (++r->values > TOML_VALUES_MAX)
        return toml_fail(&r->at, "too many values");
    *out = NEW(&r->at.ctx->arena, struct node);
    (*out)->v.texts = (*out)->texts;
    return OK;
}

static void add_node(struct node *parent, struct node *child)
{
    if (parent->last)
        parent->last->v.next = &child->v;
    else
        parent->v.first = &child->v;
    parent->last = child;
    parent->v.n++;
}

static enum status add_member(struct reader *r, struct node *parent, str name, struct node **out)
{
    TRY(new_node(r, out));
    (*out)->texts[0] = name;
    add_node(parent, *out);
    return OK;
}

static enum status add_table(struct reader *r, struct node *parent, str name, enum origin origin,
                             struct node **out)
{
    TRY(add_member(r, parent, name, out));
    (*out)->v.type = origin == BY_LIST ? JSON_ARRAY : JSON_OBJECT;
    (*out)->v.source = name;
    (*out)->origin = origin;
    (*out)->section = r->section;
    return OK;
}

static struct node *member_of(const struct node *table, str name)
{
    for (struct json *m = table->v.first; m; m = m->next)
        if (str_eq(json_name(m), name))
            return (struct node *)m;
    return NULL;
}

static enum status read_path(struct reader *r, struct path *out)
{
    out->n = 0;
    do {
        if (out->n == TOML_DEPTH_MAX)
            return toml_fail(&r->at, "a key with too many dots");
        toml_skip_blanks(&r->at);
        TRY(toml_read_name(&r->at, &out->part[out->n++]));
        toml_skip_blanks(&r->at);
    } while (toml_take(&r->at, "."));
    return OK;
}

/* The table that a header's parts but the last lead to; those that are missing are made. */
static enum status walk_header(struct reader *r, const struct path *path, struct node **out)
{
    struct node *at = r->root;
    for (size_t i = 0; i + 1 < path->n; i++) {
        struct node *next = member_of(at, path->part[i]);
        if (!next)
            TRY(add_table(r, at, path->part[i], BY_PATH, &next));
        if (next->origin == BY_VALUE)
            return fail_key(r, path->part[i], "the key has a value already");
        at = next->origin == BY_LIST ? next->last : next;
    }
    *out = at;
    return OK;
}

/* [[name]]: one more table at the end of the list. */
static enum status open_element(struct reader *r, struct node *parent, str name)
{
    struct node *list = member_of(parent, name);
    if (!list)
        TRY(add_table(r, parent, name, BY_LIST, &list));
    if (list->origin != BY_LIST)
        return fail_key(r, name, "the key is defined already, and not as a list of tables");
    TRY(add_table(r, list, S(""), BY_HEADER, &r->table));
    r->table->v.source = name;
    return OK;
}

static enum status open_table(struct reader *r, struct node *parent, str name)
{
    struct node *table = member_of(parent, name);
    if (table && table->origin != BY_PATH)
        return fail_key(r, name, "the table is defined twice");
    if (!table)
        TRY(add_table(r, parent, name, BY_HEADER, &table));
    table->origin = BY_HEADER;
    r->table = table;
    return OK;
}

static enum status read_header(struct reader *r)
{
    struct path path;
    struct node *parent = NULL;
    bool is_list = toml_take(&r->at, "[[");
    if (!is_list)
        r->at.p++;
    TRY(read_path(r, &path));
    if (!toml_take(&r->at, is_list ? "]]" : "]"))
        return toml_fail(&r->at, is_list ? "']]' is expected" : "']' is expected");
    r->section++;
    TRY(walk_header(r, &path, &parent));
    str name = path.part[path.n - 1];
    TRY(is_list ? open_element(r, parent, name) : open_table(r, parent, name));
    return toml_end_line(&r->at);
}

static enum status read_value(struct reader *r, struct node *out);

/* KEY = VALUE. The tables of a dotted key are open to keys of the same section only. */
static enum status read_pair(struct reader *r, struct node *table)
{
    struct path path;
    struct node *at = table, *member = NULL;
    TRY(read_path(r, &path));
    for (size_t i = 0; i + 1 < path.n; i++) {
        struct node *next = member_of(at, path.part[i]);
        if (next && (next->origin != BY_DOTS || next->section != r->section))
            return fail_key(r, path.part[i], "the key is defined already, elsewhere");
        if (!next)
            TRY(add_table(r, at, path.part[i], BY_DOTS, &next));
        at = next;
    }
    str name = path.part[path.n - 1];
    if (member_of(at, name))
        return fail_key(r, name, "the key is defined twice");
    if (!toml_take(&r->at, "="))
        return toml_fail(&r->at, "'=' is expected behind a key");
    toml_skip_blanks(&r->at);
    TRY(add_member(r, at, name, &member));
    return read_value(r, member);
}

/* --- arrays and inline tables --- */

static enum status read_array(struct reader *r, struct node *out)
{
    out->v.type = JSON_ARRAY;
    r->at.p++;
    for (;;) {
        struct node *item = NULL;
        TRY(toml_skip_lines(&r->at));
        if (toml_take(&r->at, "]"))
            return OK;
        TRY(new_node(r, &item));
        TRY(read_value(r, item));
        add_node(out, item);
        TRY(toml_skip_lines(&r->at));
        if (!toml_take(&r->at, ",") && toml_look(&r->at, 0) != ']')
            return toml_fail(&r->at, "',' or ']' is expected");
    }
}

/* On one line, and without a comma behind the last pair. Its keys have a section of their own. */
static enum status read_inline(struct reader *r, struct node *out)
{
    size_t section = r->section;
    out->v.type = JSON_OBJECT;
    r->section = SIZE_MAX - r->values;
    r->at.p++;
    toml_skip_blanks(&r->at);
    bool is_open = !toml_take(&r->at, "}");
    while (is_open) {
        TRY(read_pair(r, out));
        toml_skip_blanks(&r->at);
        is_open = toml_take(&r->at, ",");
        if (!is_open && !toml_take(&r->at, "}"))
            return toml_fail(&r->at, "',' or '}' is expected");
    }
    r->section = section;
    return OK;
}

static enum status read_value(struct reader *r, struct node *out)
{
    const char *from = r->at.p;
    char c = toml_look(&r->at, 0);
    out->origin = BY_VALUE;
    if (++r->depth > TOML_DEPTH_MAX)
        return toml_fail(&r->at, "nested too deep");
    TRY(c == '['   ? read_array(r, out)
        : c == '{' ? read_inline(r, out)
                   : toml_read_word(&r->at, &out->v, &out->texts[1]));
    if (!out->v.source.n)
        out->v.source = (str){from, (size_t)(r->at.p - from)};
    r->depth--;
    return OK;
}

static enum status read_lines(struct reader *r)
{
    toml_take(&r->at, "\xEF\xBB\xBF");
    for (;;) {
        TRY(toml_skip_lines(&r->at));
        if (r->at.p == r->at.end)
            return OK;
        if (toml_look(&r->at, 0) == '[') {
            TRY(read_header(r));
            continue;
        }
        TRY(read_pair(r, r->table));
        TRY(toml_end_line(&r->at));
    }
}

enum status toml_parse(struct ctx *ctx, str text, struct json **out)
{
    struct node *root = NEW(&ctx->arena, struct node);
    if (!text.p)
        text = S("");
    struct reader r = {.at = {ctx, text.p, text.p, text.p + text.n}, .root = root, .table = root};
    root->v.type = JSON_OBJECT;
    root->v.source = text;
    if (!utf8_is_valid(text))
        return fail(ctx, BAD_INPUT, "not valid TOML: the text is not UTF-8");
    TRY(read_lines(&r));
    *out = &root->v;
    return OK;
}
