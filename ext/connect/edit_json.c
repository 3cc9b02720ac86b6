/* edit_json.c - one entry of a JSON file with comments: put in, replaced, taken out. */
#include "ext/connect/edit.h"

/*
 * The text is never written anew. A copy of the same length, in which comments are spaces, is
 * parsed, and the places of its values are places of the text. What is put in goes behind the last
 * member, so that taking it out again gives the bytes from before.
 */

enum { VALUE_MAX = 1 << 20 };

struct page {
    str text;          /* as it is in the file */
    const char *plain; /* without comments */
    const char *base;  /* what was parsed: without trailing commas, too */
    struct json *root;
    str unit; /* one step of indentation */
};

static bool is_space(char c)
{
    return char_is_one_of(c, " \t\r\n");
}

/* --- reading --- */

/* Behind the comment at i, or i. One without an end leaves its first bytes for the parser. */
static size_t comment_end(str s, size_t i)
{
    str rest = str_sub(s, i, s.n);
    if (str_starts(rest, S("//")))
        return i + str_find(rest, S("\n"));
    if (!str_starts(rest, S("/*")))
        return i;
    str inside = str_sub(rest, 2, rest.n);
    size_t end = str_find(inside, S("*/"));
    return end < inside.n ? i + 2 + end + 2 : i;
}

static size_t string_end(str s, size_t i)
{
    for (i++; i < s.n && s.p[i] != '"'; i++)
        i += s.p[i] == '\\';
    return i < s.n ? i + 1 : s.n;
}

static void blank_comments(str s, char *out)
{
    size_t mark = str_starts(s, S("\xEF\xBB\xBF")) ? 3 : 0;
    memcpy(out, s.p, s.n);
    memset(out, ' ', mark);
    for (size_t i = mark; i < s.n;) {
        size_t end = s.p[i] == '"' ? string_end(s, i) : comment_end(s, i);
        if (end > i && s.p[i] == '/')
            for (size_t k = i; k < end; k++)
                out[k] = out[k] == '\n' ? '\n' : ' ';
        i = end > i ? end : i + 1;
    }
}

/* A comma between a value and a closing bracket, which JSON itself has not. */
static void blank_commas(const char *plain, size_t n, char *out)
{
    size_t comma = n;
    char last = ',';
    memcpy(out, plain, n);
    for (size_t i = 0; i < n; i++) {
        char c = plain[i];
        if (is_space(c))
            continue;
        if (char_is_one_of(c, "}]") && comma < n)
            out[comma] = ' ';
        comma = c == ',' && !char_is_one_of(last, "{[,:") ? i : n;
        last = c;
        if (c == '"')
            i = string_end((str){plain, n}, i) - 1;
    }
}

/* The white space in front of the first thing that is on a line of its own; else two spaces. */
static str unit_of(str text)
{
    size_t at = str_find(text, S("\n")) + 1, end = at;
    while (end < text.n && (text.p[end] == ' ' || text.p[end] == '\t'))
        end++;
    return end > at && end < text.n && text.p[end] != '\n' ? str_sub(text, at, end) : S("  ");
}

static enum status page_read(struct ctx *ctx, str text, struct page *out)
{
    char *plain = arena_alloc(&ctx->arena, text.n + 1);
    char *strict = arena_alloc(&ctx->arena, text.n + 1);
    blank_comments(text, plain);
    blank_commas(plain, text.n, strict);
    *out = (struct page){.text = text, .plain = plain, .base = strict, .unit = unit_of(text)};
    TRY(json_parse(ctx, (str){strict, text.n}, &out->root));
    return out->root->type == JSON_OBJECT ? OK : fail(ctx, BAD_INPUT, "must be an object");
}

/* Places in what was parsed are those in the text. */
static size_t begin_of(const struct page *p, const struct json *v)
{
    return (size_t)(v->source.p - p->base);
}

static size_t end_of(const struct page *p, const struct json *v)
{
    return begin_of(p, v) + v->source.n;
}

/* Where the member begins, with its name. One with an escape was decoded to another place: ours has
 * none. */
static enum status member_begin(struct ctx *ctx, const struct page *p, const struct json *v,
                                size_t *out)
{
    str name = json_name(v);
    *out = name.n ? (size_t)(name.p - p->base) - 1 : begin_of(p, v);
    if (*out > begin_of(p, v))
        return fail(ctx, BAD_INPUT, S_FMT ": its name is written with escapes", S_ARG(name));
    return OK;
}

/* --- writing values --- */

static void add_indent(struct buf *b, str base, str unit, size_t depth)
{
    buf_add(b, base);
    while (depth--)
        buf_add(b, unit);
}

static void add_value(struct buf *b, const struct json *v, str base, str unit, size_t depth)
{
    bool is_object = v->type == JSON_OBJECT;
    if ((!is_object && v->type != JSON_ARRAY) || !v->n) {
        buf_add(b, v->source);
        return;
    }
    buf_add(b, is_object ? S("{\n") : S("[\n"));
    for (const struct json *m = v->first; m; m = m->next) {
        add_indent(b, base, unit, depth + 1);
        if (is_object) {
            buf_byte(b, '"');
            json_escape(b, json_name(m));
            buf_add(b, S("\": "));
        }
        add_value(b, m, base, unit, depth + 1);
        buf_add(b, m->next ? S(",\n") : S("\n"));
    }
    add_indent(b, base, unit, depth);
    buf_byte(b, is_object ? '}' : ']');
}

static str pretty(struct arena *a, const struct json *v, str base, str unit)
{
    struct buf b = buf_make(a, v->source.n * 64 + VALUE_MAX);
    add_value(&b, v, base, unit, 0);
    return buf_str(&b);
}

/* The white space that the line of this byte begins with. */
static str indent_at(const struct page *p, size_t at)
{
    size_t from = str_behind_last(str_sub(p->text, 0, at), '\n'), to;
    for (to = from; to < p->text.n && (p->text.p[to] == ' ' || p->text.p[to] == '\t'); to++)
        ;
    return str_sub(p->text, from, to);
}

str edit_splice(struct arena *a, str text, size_t from, size_t to, str with)
{
    struct buf b = buf_make(a, text.n + with.n + 1);
    assert(from <= to && to <= text.n);
    buf_add(&b, str_sub(text, 0, from));
    buf_add(&b, with);
    buf_add(&b, str_sub(text, to, text.n));
    return b.n ? buf_str(&b) : S("");
}

/* --- putting in --- */

/* The child before this one, or the last one before NULL. */
static const struct json *child_before(const struct json *in, const struct json *child)
{
    const struct json *before = NULL;
    for (const struct json *one = in->first; one != child; one = one->next)
        before = one;
    return before;
}

/* Behind the last byte before `at` that is no white space; comments count. */
static size_t words_end(str text, size_t at)
{
    while (at && is_space(text.p[at - 1]))
        at--;
    return at;
}

/* The comma behind the value, or `to` when there is none before. */
static size_t comma_after(const struct page *p, const struct json *v, size_t to)
{
    size_t at = end_of(p, v);
    while (at < to && is_space(p->plain[at]))
        at++;
    return at < to && p->plain[at] == ',' ? at : to;
}

/* Behind the last child. name is "" in an array. */
static str add_child(struct arena *a, const struct page *p, const struct json *in, str name,
                     const struct json *value)
{
    const struct json *last = child_before(in, NULL);
    size_t close = end_of(p, in) - 1, at = words_end(p->text, close);
    bool is_one_line = last && str_find(in->source, S("\n")) == in->source.n;
    size_t comma = last ? comma_after(p, last, close) : close;
    str outer = indent_at(p, begin_of(p, in)), text;
    str inner = last && !is_one_line ? indent_at(p, begin_of(p, last))
                                     : str_printf(a, S_FMT S_FMT, S_ARG(outer), S_ARG(p->unit));
    str head = name.n ? str_printf(a, "\"" S_FMT "\": ", S_ARG(name)) : S("");
    if (is_one_line)
        text = str_printf(a, " " S_FMT S_FMT, S_ARG(head), S_ARG(value->source));
    else
        text = str_printf(a, "\n" S_FMT S_FMT S_FMT, S_ARG(inner), S_ARG(head),
                          S_ARG(pretty(a, value, inner, p->unit)));
    if (comma < close)
        text = str_printf(a, S_FMT ",", S_ARG(text));
    if (!last)
        text = str_printf(a, S_FMT "\n" S_FMT, S_ARG(text), S_ARG(outer));
    text = edit_splice(a, p->text, at, last ? at : close, text);
    if (last && comma == close)
        text = edit_splice(a, text, end_of(p, last), end_of(p, last), S(","));
    return text;
}

/* A value that says the same stays as it is written. */
static str replace_value(struct arena *a, const struct page *p, const struct json *v,
                         const struct json *value)
{
    if (str_eq(pretty(a, v, S(""), S(" ")), pretty(a, value, S(""), S(" "))))
        return p->text;
    str base = indent_at(p, begin_of(p, v));
    return edit_splice(a, p->text, begin_of(p, v), end_of(p, v), pretty(a, value, base, p->unit));
}

/* "a.b" of "a.b.c"; "" of one name. */
static str path_around(str path)
{
    size_t last = str_behind_last(path, '.');
    return str_sub(path, 0, last ? last - 1 : 0);
}

/* {"b": {"c": value}} for what is missing of a path; an array around the value of an element. */
static str wrapped(struct arena *a, str missing, bool is_element, str value)
{
    if (is_element)
        value = str_printf(a, "[" S_FMT "]", S_ARG(value));
    for (; missing.n; missing = path_around(missing)) {
        str name = str_sub(missing, str_behind_last(missing, '.'), missing.n);
        value = str_printf(a, "{\"" S_FMT "\":" S_FMT "}", S_ARG(name), S_ARG(value));
    }
    return value;
}

static const struct json *own_element(const struct json *one, const struct place *at)
{
    while (one && !at->is_ours(one, at->program))
        one = one->next;
    return one;
}

/* As far as the path leads: *in is the last value that is there, *left the names behind it. With
 * nothing left, *in is the member or the array. */
static enum status walk_path(struct ctx *ctx, const struct page *p, const struct place *at,
                             const struct json **in, str *left)
{
    str name = S(""), rest = str_of(at->path);
    *in = p->root;
    for (*left = rest; left->n; *left = rest) {
        if ((*in)->type != JSON_OBJECT)
            return fail(ctx, BAD_INPUT, S_FMT " must be an object", S_ARG(name));
        name = str_cut(&rest, '.');
        const struct json *next = json_get(*in, str_c(&ctx->arena, name));
        if (!next)
            return OK;
        *in = next;
    }
    if (at->is_ours && (*in)->type != JSON_ARRAY)
        return fail(ctx, BAD_INPUT, S_FMT " must be an array", S_ARG(name));
    return OK;
}

/* Each member of v in the object at a path; what someone has put beside them stays. */
static enum status put_members(struct ctx *ctx, str text, const struct place *at,
                               const struct json *v, str *out)
{
    *out = text;
    for (const struct json *m = v->first; m; m = m->next) {
        str path = str_printf(&ctx->arena, "%s." S_FMT, at->path, S_ARG(json_name(m)));
        TRY(edit_json_put(ctx, *out, &(struct place){.path = path.p}, m->source, out));
    }
    return OK;
}

enum status edit_json_put(struct ctx *ctx, str text, const struct place *at, str value, str *out)
{
    struct arena *a = &ctx->arena;
    struct page p;
    struct json *v;
    const struct json *in;
    str left;
    if (!str_trim(text).n)
        text = S("{}\n");
    TRY(page_read(ctx, text, &p));
    TRY(walk_path(ctx, &p, at, &in, &left));
    str name = str_cut(&left, '.');
    if (name.n)
        value = wrapped(a, left, at->is_ours != NULL, value);
    TRY(json_parse(ctx, value, &v));
    if (!name.n && in->type == JSON_OBJECT && v->type == JSON_OBJECT)
        return put_members(ctx, text, at, v, out);
    const struct json *own = name.n || !at->is_ours ? in : own_element(in->first, at);
    bool is_new = name.n || !own;
    *out = is_new ? add_child(a, &p, in, name, v) : replace_value(a, &p, own, v);
    return OK;
}

/* --- taking out --- */

/* Where a last member is cut: what closes on its line must not end up in a comment before it. */
static size_t cut_begin(struct arena *a, str text, size_t member, str behind)
{
    size_t words = words_end(text, member);
    size_t line = words + str_find(str_sub(text, words, member), S("\n"));
    char *plain = arena_alloc(a, words + 1);
    blank_comments(edit_splice(a, text, words, text.n, S("}")), plain);
    bool is_apart = plain[words] == '}' || line >= member || str_find(behind, S("\n")) < behind.n;
    return is_apart ? words : line + 1;
}

static enum status drop_child(struct ctx *ctx, const struct page *p, const struct json *in,
                              const struct json *child, str *out)
{
    struct arena *a = &ctx->arena;
    const struct json *before = child_before(in, child);
    size_t from, close = end_of(p, in) - 1, comma = comma_after(p, child, close);
    size_t to = comma < close ? comma + 1 : end_of(p, child);
    TRY(member_begin(ctx, p, child, &from));
    if (child->next) { /* takes its place */
        while (is_space(p->text.p[to]))
            to++;
    } else {
        from = cut_begin(a, p->text, from, str_sub(p->text, to, close));
        if (from == begin_of(p, in) + 1 && !str_trim(str_sub(p->text, to, close)).n)
            to = close; /* it was alone */
    }
    *out = edit_splice(a, p->text, from, to, S(""));
    if (before && !child->next && comma == close) {
        size_t at = comma_after(p, before, from);
        if (at < from)
            *out = edit_splice(a, *out, at, at + 1, S(""));
    }
    return OK;
}

/* Outwards along the path, as long as the last step left something empty: an object or array in
 * which nobody has commented. */
static enum status drop_empty(struct ctx *ctx, str path, str *io)
{
    for (; path.n; path = path_around(path)) {
        struct page p;
        TRY(page_read(ctx, *io, &p));
        const struct json *in = json_at(p.root, str_c(&ctx->arena, path_around(path)));
        const struct json *v = json_at(p.root, str_c(&ctx->arena, path));
        if (!v || v->n || str_trim(str_sub(p.text, begin_of(&p, v) + 1, end_of(&p, v) - 1)).n)
            return OK;
        TRY(drop_child(ctx, &p, in, v, io));
    }
    return OK;
}

enum status edit_json_take(struct ctx *ctx, str text, const struct place *at, str *out)
{
    struct page p;
    const struct json *own;
    str around = str_of(at->path), left;
    *out = text;
    if (!str_trim(text).n)
        return OK;
    TRY(page_read(ctx, text, &p));
    TRY(walk_path(ctx, &p, at, &own, &left));
    if (left.n)
        return OK;
    if (!at->is_ours)
        around = path_around(around);
    const struct json *in = json_at(p.root, str_c(&ctx->arena, around));
    if (at->is_ours && !(own = own_element(in->first, at)))
        return OK;
    TRY(drop_child(ctx, &p, in, own, out));
    TRY(drop_empty(ctx, around, out));
    if (str_is(str_trim(*out), "{}"))
        *out = S("");
    bool is_twice = at->is_ours && own_element(own->next, at);
    return is_twice ? edit_json_take(ctx, *out, at, out) : OK;
}
