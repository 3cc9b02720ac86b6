/* filter.c - mem0's grammar of filters: read into a tree, and asked of one memory at a time. */
#include "ext/dialects/mem0/filter.h"

#include "base/clock.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "surface/common/memory_json.h"

/*
 * An object is its members joined by AND. A member is AND, OR or NOT with a list of objects, or a
 * field with a value or with one object of operators: {"created_at": {"gte": DAY, "lt": DAY}}. Each
 * operator becomes one test; what a field takes, and what its values look like, is a table.
 */

enum { TESTS_MAX = 500, USERS_MAX = 100 };

enum test_op { EQ, NE, IN, NIN, GT, GTE, LT, LTE, CONTAINS, ICONTAINS };
static const char *const op_names[] = {"eq", "ne",  "in",       "nin",       "gt", "gte",
                                       "lt", "lte", "contains", "icontains", NULL};
#define OP(NAME) (1U << (NAME))
#define RANGE (OP(GT) | OP(GTE) | OP(LT) | OP(LTE))

/* How a field's value is compared. */
enum field_kind { KIND_NAME, KIND_LABELS, KIND_TIME, KIND_PAIRS, KIND_TEXT, KIND_MEMBER };

static const struct filtered {
    const char *name;
    enum field_kind kind;
    unsigned ops;
    enum test_op bare; /* what a value without an operator means */
} filtered[] = {
    {"user_id", KIND_NAME, OP(EQ) | OP(NE) | OP(IN) | OP(NIN), EQ},
    {"agent_id", KIND_NAME, OP(EQ) | OP(NE) | OP(IN) | OP(NIN), EQ},
    {"app_id", KIND_NAME, OP(EQ) | OP(NE) | OP(IN) | OP(NIN), EQ},
    {"run_id", KIND_NAME, OP(EQ) | OP(NE) | OP(IN) | OP(NIN), EQ},
    {"memory_ids", KIND_NAME, OP(EQ) | OP(IN), EQ},
    {"categories", KIND_LABELS, OP(IN) | OP(CONTAINS), CONTAINS},
    {"created_at", KIND_TIME, RANGE | OP(NE) | OP(IN), EQ},
    {"timestamp", KIND_TIME, RANGE | OP(NE) | OP(IN), EQ},
    {"updated_at", KIND_TIME, RANGE | OP(NE) | OP(IN), EQ},
    {"expiration_date", KIND_TIME, RANGE | OP(NE) | OP(IN), EQ},
    {"metadata", KIND_PAIRS, OP(EQ) | OP(NE) | OP(CONTAINS), EQ},
    {"keywords", KIND_TEXT, OP(CONTAINS) | OP(ICONTAINS), ICONTAINS},
    {"text", KIND_TEXT, OP(CONTAINS) | OP(ICONTAINS), ICONTAINS},
};
/* Of FILTER_OPEN: a member of the metadata. */
static const struct filtered open_member = {"metadata", KIND_MEMBER,
                                            RANGE | OP(EQ) | OP(NE) | OP(IN) | OP(NIN) |
                                                OP(CONTAINS) | OP(ICONTAINS),
                                            EQ};

enum node_kind { NODE_AND, NODE_OR, NODE_NOT, NODE_TEST };
static const char *const node_names[] = {"AND", "OR", "NOT", NULL};

struct mem0_filter {
    enum node_kind kind;
    struct mem0_filter *first, *last, *next; /* the parts of AND, OR and NOT; the one beside it */
    const struct filtered *field;
    str member; /* of KIND_MEMBER: its name */
    enum test_op op;
    const struct json *values; /* as a list; of an operator that takes no list one */
};

/* --- reading --- */

struct filter_reader {
    struct ctx *ctx;
    enum mem0_grammar grammar;
    size_t n;
};

#define REFUSE(r, ...) fail_field((r)->ctx, "filters", __VA_ARGS__)

static const char *c_text(struct filter_reader *r, str s)
{
    return str_c(&r->ctx->arena, utf8_cut(s, 60));
}

static void add_node(struct mem0_filter *parent, struct mem0_filter *node)
{
    *(parent->last ? &parent->last->next : &parent->first) = node;
    parent->last = node;
}

/* A date alone is the whole day; a number is seconds since 1970, as in mem0's timestamp. */
static bool read_moment(const struct json *v, int64_t *from, int64_t *until)
{
    enum { DATE = 10 };
    double seconds;
    if (v->type == JSON_NUMBER && str_num(v->source, &seconds) && seconds > -1e11 && seconds < 1e11)
        *from = (int64_t)(seconds * 1000);
    else if (v->type != JSON_STRING || !time_read(json_string(v), from))
        return false;
    *until = *from + (v->type == JSON_STRING && json_string(v).n == DATE ? DAY_MS : 1);
    return true;
}

static bool value_fits(const struct filtered *field, enum test_op op, const struct json *v)
{
    int64_t from, until;
    bool is_scalar = v->type == JSON_STRING || v->type == JSON_NUMBER || v->type == JSON_BOOL;
    if (field->kind == KIND_PAIRS)
        return v->type == JSON_OBJECT;
    if (field->kind == KIND_MEMBER)
        return is_scalar || (op <= NE && v->type == JSON_NULL);
    return field->kind == KIND_TIME ? read_moment(v, &from, &until) : v->type == JSON_STRING;
}

static enum status add_test(struct filter_reader *r, struct mem0_filter *parent,
                            struct mem0_filter test)
{
    static const char *const rules[] = {
        [KIND_NAME] = "a string",         [KIND_LABELS] = "a string",
        [KIND_TIME] = "a date or a time", [KIND_PAIRS] = "an object",
        [KIND_TEXT] = "a string",         [KIND_MEMBER] = "a string, a number or a truth value"};
    bool is_list = test.op == IN || test.op == NIN;
    const struct json *v = test.values;
    const char *name = c_text(r, test.member), *op = op_names[test.op];
    if (++r->n > TESTS_MAX)
        return REFUSE(r, "must have at most %d conditions", TESTS_MAX);
    if (!(test.field->ops >> test.op & 1) && test.op != test.field->bare)
        return REFUSE(r, "'%s' does not take the operator '%s'", name, op);
    if (is_list && v->type != JSON_ARRAY)
        return REFUSE(r, "'%s' of '%s' must be a list", op, name);
    struct json *alone = DUP_N(&r->ctx->arena, v, 1, 1);
    alone->next = NULL;
    test.values = is_list ? v->first : alone;
    for (const struct json *one = test.values; one; one = one->next)
        if (!value_fits(test.field, test.op, one))
            return REFUSE(r, "'%s' must be %s", name, rules[test.field->kind]);
    struct mem0_filter *node = NEW(&r->ctx->arena, struct mem0_filter);
    *node = test;
    node->kind = NODE_TEST;
    add_node(parent, node);
    return OK;
}

/* Whether an object is one of operators. The pairs of metadata may be called like operators: there
 * only a single one counts, whose value is an object itself. */
static bool has_operators(const struct filtered *field, const struct json *v)
{
    if (v->type != JSON_OBJECT || !v->n)
        return false;
    return field->kind != KIND_PAIRS ||
           (v->n == 1 && name_index(op_names, json_name(v->first), -1) >= 0 &&
            v->first->type == JSON_OBJECT);
}

static enum status read_field(struct filter_reader *r, const struct json *m,
                              struct mem0_filter *parent)
{
    struct mem0_filter test = {.member = json_name(m), .values = m};
    for (size_t i = 0; i < sizeof filtered / sizeof *filtered && !test.field; i++)
        if (str_is(json_name(m), filtered[i].name))
            test.field = &filtered[i];
    if (!test.field && r->grammar == FILTER_OPEN)
        test.field = &open_member;
    if (!test.field)
        return REFUSE(r,
                      "'%s' is neither AND, OR, NOT nor one of user_id, agent_id, app_id, run_id, "
                      "memory_ids, categories, created_at, timestamp, updated_at, "
                      "expiration_date, metadata, keywords, text",
                      c_text(r, json_name(m)));
    if (!has_operators(test.field, m)) {
        test.op = m->type == JSON_ARRAY && test.field->ops & OP(IN) ? IN : test.field->bare;
        return add_test(r, parent, test);
    }
    for (const struct json *op = m->first; op; op = op->next) {
        int index = name_index(op_names, json_name(op), -1);
        if (index < 0 || (index == EQ && test.field->kind == KIND_TIME))
            return REFUSE(r, "'%s' does not take the operator '%s'", c_text(r, json_name(m)),
                          c_text(r, json_name(op)));
        test.op = (enum test_op)index;
        test.values = op;
        TRY(add_test(r, parent, test));
    }
    return OK;
}

static enum status read_object(struct filter_reader *r, const struct json *object,
                               struct mem0_filter *parent);

/* The depth is that of the JSON, which its parser limits. */
static enum status read_parts(struct filter_reader *r, enum node_kind kind, const struct json *v,
                              struct mem0_filter *parent)
{
    bool is_list = v->type == JSON_ARRAY;
    struct mem0_filter *node = NEW(&r->ctx->arena, struct mem0_filter);
    if (!is_list && kind != NODE_NOT)
        return REFUSE(r, "'%s' must be a list", node_names[kind]);
    node->kind = kind;
    add_node(parent, node);
    for (const struct json *one = is_list ? v->first : v; one; one = is_list ? one->next : NULL) {
        struct mem0_filter *part = NEW(&r->ctx->arena, struct mem0_filter);
        add_node(node, part);
        TRY(read_object(r, one, part));
    }
    return OK;
}

static enum status read_object(struct filter_reader *r, const struct json *object,
                               struct mem0_filter *parent)
{
    if (object->type != JSON_OBJECT)
        return REFUSE(r, "each condition must be an object");
    for (const struct json *m = object->first; m; m = m->next) {
        int kind = name_index(node_names, json_name(m), -1);
        TRY(kind >= 0 ? read_parts(r, (enum node_kind)kind, m, parent) : read_field(r, m, parent));
    }
    return OK;
}

enum status mem0_filter_read(struct ctx *ctx, const struct json *filters, enum mem0_grammar grammar,
                             const struct mem0_filter **out)
{
    struct filter_reader r = {ctx, grammar, 0};
    struct mem0_filter *all = NEW(&ctx->arena, struct mem0_filter);
    *out = all;
    return filters && filters->type != JSON_NULL ? read_object(&r, filters, all) : OK;
}

/* --- asking --- */

struct asked {
    struct ctx *ctx;
    const struct memory *m;
    struct mem0_ids ids;
    const struct json *metadata; /* NULL: none */
    const struct json *member;   /* of it, that a test of KIND_MEMBER names; or NULL */
};

static bool is_same_json(const struct json *a, const struct json *b)
{
    double x, y;
    if (!a || !b)
        return !a && b->type == JSON_NULL;
    if (a->type != b->type || a->n != b->n)
        return false;
    if (a->type == JSON_STRING)
        return str_eq(json_string(a), json_string(b));
    if (a->type == JSON_NUMBER)
        return str_num(a->source, &x) && str_num(b->source, &y) && x == y;
    if (a->type == JSON_BOOL)
        return a->truth == b->truth;
    for (const struct json *v = a->first, *w = b->first; v && w; v = v->next, w = w->next) {
        const struct json *other = a->type == JSON_OBJECT ? NULL : w;
        for (const struct json *o = b->first; o && a->type == JSON_OBJECT && !other; o = o->next)
            other = str_eq(json_name(o), json_name(v)) ? o : NULL;
        if (!other || !is_same_json(v, other))
            return false;
    }
    return true;
}

static bool holds_text(struct arena *a, str whole, str part, bool any_case)
{
    if (any_case) {
        whole = utf8_lower(a, whole);
        part = utf8_lower(a, part);
    }
    return !part.n || str_find(whole, part) < whole.n;
}

/* A memory without the time is later and earlier than none. */
static bool fits_time(enum test_op op, int64_t is, const struct json *v)
{
    int64_t from = 0, until = 0;
    if (!is || !read_moment(v, &from, &until)) /* it was read before */
        return false;
    return op == GT    ? is >= until
           : op == GTE ? is >= from
           : op == LT  ? is < from
           : op == LTE ? is < until
                       : is >= from && is < until;
}

/* A part of a text, or an element of a list. */
static bool holds_json(const struct asked *q, const struct json *whole, const struct json *part,
                       bool any_case)
{
    bool is_in = false;
    if (whole->type == JSON_STRING && part->type == JSON_STRING)
        return holds_text(&q->ctx->arena, json_string(whole), json_string(part), any_case);
    for (const struct json *one = whole->type == JSON_ARRAY ? whole->first : NULL; one;
         one = one->next)
        is_in |= is_same_json(one, part);
    return is_in;
}

static bool fits_pairs(const struct asked *q, enum test_op op, const struct json *v)
{
    bool fits = true;
    for (const struct json *pair = v->first; pair && fits; pair = pair->next) {
        const struct json *is = json_get(q->metadata, str_c(&q->ctx->arena, json_name(pair)));
        fits = is_same_json(is, pair) || (op == CONTAINS && is && holds_json(q, is, pair, false));
    }
    return fits;
}

/* Numbers as numbers, everything else as text. */
static int compare_json(const struct json *a, const struct json *b)
{
    double x, y;
    if (a->type == JSON_NUMBER && b->type == JSON_NUMBER && str_num(a->source, &x) &&
        str_num(b->source, &y))
        return (x > y) - (x < y);
    return str_cmp(a->type == JSON_STRING ? json_string(a) : a->source,
                   b->type == JSON_STRING ? json_string(b) : b->source);
}

static bool fits_member(const struct asked *q, enum test_op op, const struct json *v)
{
    const struct json *is = q->member;
    bool is_there = is && is->type != JSON_NULL;
    bool any = v->type == JSON_STRING && str_is(json_string(v), "*");
    switch (op) {
    case EQ:
        return any ? is_there : is_same_json(is, v);
    case IN:
        return is && is_same_json(is, v);
    case CONTAINS:
    case ICONTAINS:
        return is && holds_json(q, is, v, op == ICONTAINS);
    default:
        if (!is_there || is->type != v->type)
            return false;
        int order = compare_json(is, v);
        return op == GT ? order > 0 : op == GTE ? order >= 0 : op == LT ? order < 0 : order <= 0;
    }
}

static int64_t time_of(const struct memory *m, const struct filtered *field)
{
    if (str_is(str_of(field->name), "updated_at"))
        return m->updated;
    /* It is shown as the last day on which the memory counts. */
    if (str_is(str_of(field->name), "expiration_date"))
        return m->expires ? m->expires - 1 : 0;
    return m->created;
}

/* Whether one value fits; op is IN where it is one of a list. */
static bool fits_value(const struct asked *q, const struct mem0_filter *t, enum test_op op,
                       const struct json *v)
{
    const struct memory *m = q->m;
    str text = json_string(v), name;
    switch (t->field->kind) {
    case KIND_NAME: /* of an entity, or memory_ids; "*" is any value but none */
        name = t->field < filtered + ENTITY_COUNT ? q->ids.of[t->field - filtered] : m->id;
        return str_is(text, "*") ? name.n > 0 : str_eq(name, text);
    case KIND_LABELS:
        return (m->category.n && str_eq(m->category, text)) || strs_have(&m->tags, text);
    case KIND_TIME:
        return fits_time(op, time_of(m, t->field), v);
    case KIND_PAIRS:
        return fits_pairs(q, op, v);
    case KIND_TEXT:
        return holds_text(&q->ctx->arena, m->content, text, op == ICONTAINS);
    case KIND_MEMBER:
        return fits_member(q, op, v);
    }
    return false;
}

/* A list may have many values, and the metadata many members: the one is looked up once. */
static bool fits_test(struct asked q, const struct mem0_filter *t)
{
    bool is_in = false, is_not = t->op == NE || t->op == NIN;
    enum test_op op = t->op == NE ? EQ : t->op == NIN ? IN : t->op;
    if (t->field->kind == KIND_MEMBER)
        q.member = json_get(q.metadata, str_c(&q.ctx->arena, t->member));
    for (const struct json *one = t->values; one && !is_in; one = one->next)
        is_in = fits_value(&q, t, op, one);
    return is_in != is_not;
}

/* NOT of several is none of them; OR of none is nothing. */
static bool fits_node(const struct asked *q, const struct mem0_filter *f)
{
    if (f->kind == NODE_TEST)
        return fits_test(*q, f);
    for (const struct mem0_filter *part = f->first; part; part = part->next)
        if (fits_node(q, part) != (f->kind == NODE_AND))
            return f->kind == NODE_OR;
    return f->kind != NODE_OR;
}

bool mem0_filter_fits(struct ctx *ctx, const struct mem0_filter *f, const struct mem0_who *who,
                      const struct memory *m)
{
    const struct asked q = {ctx, m, mem0_ids_of(ctx, who, m->space, m->session),
                            json_of_text(ctx, m->metadata)};
    return fits_node(&q, f);
}

/* --- what it names --- */

static bool is_id(const struct mem0_filter *t, enum mem0_entity which)
{
    return t->kind == NODE_TEST && t->field == &filtered[which];
}

static bool names_user(const struct mem0_filter *t)
{
    return is_id(t, ENTITY_USER) && (t->op == EQ || t->op == IN);
}

/* Each once, and not below NOT, which names nobody whose memories are asked for. */
static enum status gather_names(struct ctx *ctx, const struct mem0_filter *f, struct strs *out)
{
    for (const struct json *v = names_user(f) ? f->values : NULL; v; v = v->next) {
        if (strs_have(out, json_string(v)))
            continue;
        if (out->n == USERS_MAX)
            return fail_field(ctx, "filters", "must name at most %d users", USERS_MAX);
        out->v[out->n++] = json_string(v);
    }
    for (const struct mem0_filter *part = f->first; part && f->kind != NODE_NOT; part = part->next)
        TRY(gather_names(ctx, part, out));
    return OK;
}

/* Whether memories of the user can fit, whatever they say; NULL: of one who is not named. */
static bool can_fit(const struct mem0_filter *f, const str *user)
{
    bool is_in = !names_user(f);
    for (const struct json *v = is_in ? NULL : f->values; v && user; v = v->next)
        is_in |= str_eq(json_string(v), *user);
    for (const struct mem0_filter *part = f->first; part && f->kind != NODE_NOT; part = part->next)
        if (can_fit(part, user) != (f->kind == NODE_AND))
            return f->kind == NODE_OR;
    return f->kind == NODE_OR ? false : is_in;
}

static bool asks_any_user(const struct mem0_filter *f)
{
    bool any = false;
    for (const struct json *v = names_user(f) ? f->values : NULL; v; v = v->next)
        any |= str_is(json_string(v), "*");
    for (const struct mem0_filter *part = f->first; part; part = part->next)
        any |= asks_any_user(part);
    return any;
}

enum status mem0_filter_users(struct ctx *ctx, const struct mem0_filter *f, struct strs *out)
{
    if (asks_any_user(f))
        return fail_field(ctx, "filters",
                          "'user_id' must name the user: memories of different users are never "
                          "read together. GET /v1/entities/ lists the users");
    struct strs named = {NEW_N(&ctx->arena, str, USERS_MAX), 0};
    TRY(gather_names(ctx, f, &named));
    *out = (struct strs){NEW_N(&ctx->arena, str, named.n + 1), 0};
    for (size_t i = 0; i < named.n; i++)
        if (can_fit(f, &named.v[i]))
            out->v[out->n++] = named.v[i];
    if (out->n && can_fit(f, NULL) && !strs_have(out, S("")))
        out->v[out->n++] = S(""); /* the credential itself, who is not named */
    return OK;
}

/* Through ANDs alone; an id that is named twice must be tested. */
static void take_ids(const struct mem0_filter *f, str *ids, bool *is_all)
{
    for (const struct mem0_filter *part = f->first; part; part = part->next) {
        bool is_taken = part->kind == NODE_AND;
        if (is_taken)
            take_ids(part, ids, is_all);
        for (enum mem0_entity i = 0; i < ENTITY_COUNT; i++) {
            if (!is_id(part, i) || part->op != EQ || ids[i].n ||
                str_is(json_string(part->values), "*"))
                continue;
            ids[i] = json_string(part->values);
            is_taken = ids[i].n > 0;
        }
        *is_all &= is_taken;
    }
}

struct mem0_ids mem0_filter_ids(const struct mem0_filter *f, bool *is_all)
{
    struct mem0_ids ids = {0};
    *is_all = true;
    take_ids(f, ids.of, is_all);
    return ids;
}
