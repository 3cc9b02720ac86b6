/* openapi_names.c - names of operations and schemas in /openapi.json. */
#include "surface/common/openapi_names.h"

#include <ctype.h>

/*
 * A generated client is read by people, so its names come from the names in the code: an operation
 * is called like its handler, a schema like its table. What belongs to a product's API has that
 * product's name in front, as many of them have an "add" and a "list". A table inside another one
 * is called like its parent and the member. Names do not depend on the order of the routes, unless
 * two tables have the same one: the second gets the name of its handler in front.
 */

static const char *const products[] = {"omniroute", "osaurus", "cortex", "rag", "mem0", NULL};

/* list_out -> ListOut; a first letter small for operations. */
static str camel_case(struct arena *a, str snake, bool is_first_small)
{
    struct buf b = buf_make(a, 256);
    bool is_start = !is_first_small;
    for (size_t i = 0; i < snake.n; i++) {
        bool is_letter = isalnum((unsigned char)snake.p[i]);
        if (is_letter)
            buf_byte(&b, is_start ? (char)toupper((unsigned char)snake.p[i]) : snake.p[i]);
        is_start = !is_letter;
    }
    assert(b.n && !b.full);
    return buf_str(&b);
}

static str product_of(const struct surface *s)
{
    return name_index(products, str_of(s->name), -1) < 0 ? S("") : str_of(s->name);
}

bool route_has_body(const struct route *r)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", NULL};
    return name_index(methods, str_of(r->method), -1) >= 0;
}

enum schema_use route_body_use(const struct surface *s, const struct route *r)
{
    return s->is_strict || r->strict ? SCHEMA_STRICT : SCHEMA_INPUT;
}

/* --- operations --- */

/* Without what the document has once more: two paths may lead to one handler. */
static str plain_operation(struct arena *a, const struct surface *s, const struct route *r)
{
    str product = product_of(s), name = str_of(r->words.name ? r->words.name : "");
    assert(name.n);
    if (product.n && !str_starts(name, product))
        name = str_printf(a, S_FMT "_" S_FMT, S_ARG(product), S_ARG(name));
    return camel_case(a, name, true);
}

str api_operation_name(struct arena *a, const struct surface *const *list, const struct surface *s,
                       const struct route *r)
{
    str name = plain_operation(a, s, r);
    for (const struct surface *const *other = list; *other; other++)
        for (const struct route *o = (*other)->routes; o->method; o++) {
            if (o == r)
                return name;
            if (o->words.name && str_eq(name, plain_operation(a, *other, o)))
                return camel_case(a, str_printf(a, S_FMT "_at%s", S_ARG(name), r->path), true);
        }
    assert(!"a route of the list");
    return name;
}

/* --- schemas --- */

static const struct api_schema *find_schema(const struct api_names *names,
                                            const struct field *table, enum schema_use use)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->v[i].table == table && names->v[i].use == use)
            return &names->v[i];
    return NULL;
}

static bool is_taken(const struct api_names *names, str name)
{
    return SOME(i, names->n, str_eq(names->v[i].name, name));
}

/* A name that is taken says that it is an input, or gets the word in front of it, and in the end a
 * number. */
static str free_name(const struct api_names *names, enum schema_use use, str name, str word)
{
    struct arena *a = names->arena;
    str wish = name;
    if (is_taken(names, wish) && use != SCHEMA_OUTPUT)
        wish = name = str_printf(a, S_FMT "Input", S_ARG(name));
    if (is_taken(names, wish))
        wish = str_printf(a, S_FMT S_FMT, S_ARG(word), S_ARG(name));
    for (int i = 2; is_taken(names, wish); i++)
        wish = str_printf(a, S_FMT S_FMT "%d", S_ARG(word), S_ARG(name), i);
    return wish;
}

/* search_in of memory_search -> MemorySearchRequest; search_out -> MemorySearchReply; others keep
 * their names. */
static str schema_name(struct arena *a, str product, const char *function, str table)
{
    str what = str_ends(table, S("_in"))    ? S("_request")
               : str_ends(table, S("_out")) ? S("_reply")
                                            : S("");
    str stem = what.n ? str_of(function) : table;
    if (str_starts(stem, product))
        product = S("");
    return camel_case(
        a, str_printf(a, S_FMT "_" S_FMT S_FMT, S_ARG(product), S_ARG(stem), S_ARG(what)), false);
}

static void name_route_tables(struct api_names *names, const struct surface *s,
                              const struct route *r)
{
    const struct route_words *w = &r->words;
    str product = product_of(s), word = camel_case(names->arena, str_of(w->name), false);
    bool adds_space = r->takes && s->aside && r->access == ACCESS_USER;
    for (const struct field *f = r->takes; adds_space && f->name; f++)
        adds_space = !str_is(str_of(f->name), s->aside);
    struct api_schema schemas[] = {
        {route_has_body(r) ? r->takes : NULL, route_body_use(s, r), adds_space,
         str_of(w->takes_name)},
        {w->sends, SCHEMA_INPUT, false, str_of(w->sends_name)},
        {w->gives, SCHEMA_OUTPUT, false, str_of(w->gives_name)},
    };
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        struct api_schema *schema = &schemas[i];
        if (!schema->table || find_schema(names, schema->table, schema->use))
            continue;
        assert(schema->name.n);
        str name = schema_name(names->arena, product, w->name, schema->name);
        schema->name = free_name(names, schema->use, name, word);
        ARENA_ADD(names->arena, names->v, names->n, names->cap) = *schema;
    }
}

/* Those inside are added behind the others and looked at in their turn. */
static void name_inner_tables(struct api_names *names, size_t at)
{
    const struct api_schema parent = names->v[at];
    for (const struct field *row = parent.table; row->name; row++) {
        const struct field f = field_whole(row);
        if (!f.inside || find_schema(names, f.inside, parent.use))
            continue;
        str member = camel_case(names->arena, str_of(f.name), false);
        str name = str_printf(names->arena, S_FMT S_FMT, S_ARG(parent.name), S_ARG(member));
        name = free_name(names, parent.use, name, S("Inner"));
        ARENA_ADD(names->arena, names->v, names->n, names->cap) =
            (struct api_schema){f.inside, parent.use, false, name};
    }
}

struct api_names api_names_of(struct arena *a, const struct surface *const *list)
{
    struct api_names names = {.refs.name_of = api_schema_ref, .arena = a};
    for (const struct surface *const *s = list; *s; s++) {
        const struct error_shape *e = (*s)->errors;
        assert(e);
        if (!find_schema(&names, e->table, SCHEMA_OUTPUT))
            ARENA_ADD(a, names.v, names.n, names.cap) =
                (struct api_schema){e->table, SCHEMA_OUTPUT, false, str_of(e->name)};
    }
    for (const struct surface *const *s = list; *s; s++)
        for (const struct route *r = (*s)->routes; r->method; r++)
            if (r->words.name)
                name_route_tables(&names, *s, r);
    for (size_t i = 0; i < names.n; i++)
        name_inner_tables(&names, i);
    return names;
}

str api_schema_ref(const struct schema_names *refs, const struct field *table, enum schema_use use)
{
    const struct api_names *names = (const struct api_names *)refs;
    const struct api_schema *found = find_schema(names, table, use);
    assert(found);
    return str_printf(names->arena, "#/components/schemas/" S_FMT, S_ARG(found->name));
}
