/* fields.c - reading, checking, writing and describing structs by their tables. */
#include "base/fields.h"

#include <math.h>

#include "base/time_text.h"

const char *const on_off_names[] = {"on", "off", NULL};

/*
 * One table says everything about a struct: how a request fills it, what is refused, what --help
 * and the schema say, and how an answer shows it. So a limit cannot be documented and not checked.
 * Reading begins with the defaults of all rows: a handler may read every member, whatever was sent.
 * null counts as absent, since many clients write members that they do not set as null.
 */

static void *member_at(const struct field *f, void *out)
{
    return (char *)out + f->at;
}

/* A row that is like another takes type, limits and help from it: one setting has several names in
 * the dialects of several products, and its range must not differ between them. */
struct field field_whole(const struct field *row)
{
    struct field whole = *row;
    if (!row->like)
        return whole;
    assert(row->type == row->like->type);
    whole = *row->like;
    whole.name = row->name;
    whole.at = row->at;
    whole.help = row->help ? row->help : whole.help;
    whole.otherwise = row->otherwise != 0 ? row->otherwise : whole.otherwise;
    whole.group = row->group;
    whole.unit = row->unit;
    whole.clamps = row->clamps;
    return whole;
}

/* --- enums and switches: the index of a name --- */

static size_t count_names(const struct field *f)
{
    size_t n = 0;
    while (f->one_of[n])
        n++;
    return n;
}

static void put_choice(const struct field *f, size_t index, void *at)
{
    assert(index <= count_names(f));
    if (f->type == FIELD_SWITCH)
        *(bool *)at = index == 0;
    else
        *(unsigned *)at = (unsigned)index;
}

static size_t choice_at(const struct field *f, const void *at)
{
    return f->type == FIELD_SWITCH ? !*(const bool *)at : *(const unsigned *)at;
}

static str choice_name(const struct field *f, const void *at)
{
    size_t index = choice_at(f, at);
    return index < count_names(f) ? str_of(f->one_of[index]) : S("");
}

str field_choice(const struct field *row, const void *in)
{
    struct field f = field_whole(row);
    assert(f.type == FIELD_ENUM || f.type == FIELD_SWITCH);
    return choice_name(&f, (const char *)in + f.at);
}

/* A default that is not in the row's own list is a mistake in the table, not in any input. */
static void default_choice(const struct field *f, void *at)
{
    int index = (int)f->otherwise;
    if (f->otherwise_str)
        index = name_index(f->one_of, str_of(f->otherwise_str), -1);
    assert(index >= 0);
    put_choice(f, (size_t)index, at);
}

/* --- reading --- */

void fields_defaults(const struct field *table, void *out)
{
    for (const struct field *row = table; row->name; row++) {
        struct field whole = field_whole(row), *f = &whole;
        void *at = member_at(f, out);
        switch (f->type) {
        case FIELD_STR:
        case FIELD_RAW:
            *(str *)at = str_of(f->otherwise_str && f->type == FIELD_STR ? f->otherwise_str : "");
            break;
        case FIELD_ENUM:
        case FIELD_SWITCH:
            default_choice(f, at);
            break;
        case FIELD_INT:
        case FIELD_TIME:
            *(int64_t *)at = (int64_t)f->otherwise;
            break;
        case FIELD_NUM:
            *(double *)at = f->otherwise;
            break;
        case FIELD_BOOL:
            *(bool *)at = f->otherwise != 0;
            break;
        case FIELD_JSON:
            *(const struct json **)at = NULL;
            break;
        case FIELD_STRS:
            *(struct strs *)at = (struct strs){0};
            break;
        case FIELD_OBJECT:
            fields_defaults(f->inside, at);
            break;
        }
    }
}

enum status name_one_of(struct ctx *ctx, const char *field, const char *const *names, str s)
{
    str list = {0};
    if (name_index(names, s, -1) >= 0)
        return OK;
    for (; *names; names++)
        list = str_printf(&ctx->arena, "%s%s%s", list.n ? list.p : "", list.n ? ", " : "", *names);
    return fail_field(ctx, field, "must be one of: %s", list.p);
}

enum status name_check(struct ctx *ctx, const char *field, str name)
{
    return SOME(i, name.n, control_bytes(name, i))
               ? fail_field(ctx, field, "must not hold a control character")
               : OK;
}

static enum status check_text(struct ctx *ctx, const struct field *f, str s)
{
    if (f->one_of)
        return name_one_of(ctx, f->name, f->one_of, s);
    if ((double)s.n < f->min)
        return f->min == 1 ? fail_field(ctx, f->name, "must not be empty")
                           : fail_field(ctx, f->name, "must have at least %.0f bytes", f->min);
    if (f->max > 0 && (double)s.n > f->max)
        return fail_field(ctx, f->name, "must have at most %.0f bytes, has %zu", f->max, s.n);
    return f->is_name ? name_check(ctx, f->name, s) : OK;
}

static double clamped_number(const struct field *f, double v)
{
    return v < f->min ? f->min : v > f->max ? f->max : v;
}

/* A row with min and max both 0 has no limits: a table entry that names none is not "only 0". */
static enum status check_number(struct ctx *ctx, const struct field *f, double *v)
{
    if ((f->min == 0 && f->max == 0) || (*v >= f->min && *v <= f->max))
        return OK;
    if (!f->clamps)
        return fail_field(ctx, f->name, "must be from %.15g to %.15g", f->min, f->max);
    *v = clamped_number(f, *v);
    return OK;
}

/* At most 2^53, because JavaScript clients read numbers as doubles, which cannot tell larger ones
 * from their neighbours. 1e3 and 1000.0 are whole numbers, too. */
static enum status read_whole_number(struct ctx *ctx, const struct field *f, const struct json *v,
                                     int64_t *out)
{
    double d;
    int64_t i;
    if (v->type != JSON_NUMBER || !str_num(v->source, &d) || d != floor(d) ||
        fabs(d) > 9007199254740992.0)
        return fail_field(ctx, f->name, "must be a whole number");
    double kept = d;
    TRY(check_number(ctx, f, &kept));
    *out = kept == d && str_int(v->source, &i) ? i : (int64_t)kept;
    return OK;
}

bool strs_have(const struct strs *list, str one)
{
    return SOME(i, list->n, str_eq(list->v[i], one));
}

static enum status read_strs(struct ctx *ctx, const struct field *f, const struct json *v,
                             struct strs *out)
{
    bool is_list = v->type == JSON_ARRAY;
    *out = (struct strs){NEW_N(&ctx->arena, str, v->n), 0};
    for (const struct json *item = v->first; is_list && item; item = item->next) {
        is_list = item->type == JSON_STRING;
        out->v[out->n++] = json_string(item);
    }
    return is_list ? OK : fail_field(ctx, f->name, "must be an array of strings");
}

/* Checks one value against its row and stores it at the member's address. */
static enum status read_one(struct ctx *ctx, const struct field *f, const struct json *v,
                            bool strict, void *at)
{
    double d = 0;
    switch (f->type) {
    case FIELD_STR:
    case FIELD_ENUM:
    case FIELD_SWITCH:
        if (v->type != JSON_STRING)
            return fail_field(ctx, f->name, "must be a string");
        TRY(check_text(ctx, f, json_string(v)));
        if (f->type == FIELD_STR)
            *(str *)at = json_string(v);
        else
            put_choice(f, (size_t)name_index(f->one_of, json_string(v), -1), at);
        return OK;
    case FIELD_INT:
        return read_whole_number(ctx, f, v, at);
    case FIELD_NUM:
        if (v->type != JSON_NUMBER || !str_num(v->source, &d))
            return fail_field(ctx, f->name, "must be a number");
        TRY(check_number(ctx, f, &d));
        *(double *)at = d;
        return OK;
    case FIELD_BOOL:
        if (v->type != JSON_BOOL)
            return fail_field(ctx, f->name, "must be true or false");
        *(bool *)at = v->truth;
        return OK;
    case FIELD_TIME:
        if (v->type != JSON_STRING || !time_read(json_string(v), (int64_t *)at))
            return fail_field(ctx, f->name, "must be an ISO 8601 date or time");
        return OK;
    case FIELD_JSON:
        *(const struct json **)at = v;
        return OK;
    case FIELD_STRS:
        return read_strs(ctx, f, v, at);
    case FIELD_RAW:
    case FIELD_OBJECT:
        if (v->type != JSON_OBJECT)
            return fail_field(ctx, f->name, "must be an object");
        if (f->type == FIELD_OBJECT)
            return fields_read(ctx, f->inside, v, strict, at);
        *(str *)at = v->source;
        return OK;
    }
    return OK;
}

const struct field *field_named(const struct field *table, str name)
{
    for (const struct field *f = table; f->name; f++)
        if (str_is(name, f->name))
            return f;
    return NULL;
}

/* Unknown members are refused before any value is read, so that a misspelt name is reported and not
 * the "is required" that it causes. */
enum status fields_read(struct ctx *ctx, const struct field *table, const struct json *object,
                        bool strict, void *out)
{
    if (!object || object->type != JSON_OBJECT)
        return fail(ctx, BAD_INPUT, "a JSON object is expected");
    for (const struct json *m = strict ? object->first : NULL; m; m = m->next)
        if (!field_named(table, json_name(m)))
            return fail_field(ctx, str_c(&ctx->arena, json_name(m)), "is not a known field");
    fields_defaults(table, out);
    for (const struct field *row = table; row->name; row++) {
        struct field f = field_whole(row);
        const struct json *v = json_get(object, f.name);
        if (v && v->type != JSON_NULL)
            TRY(read_one(ctx, &f, v, strict, member_at(&f, out)));
        else if (f.required)
            return fail_missing(ctx, f.name);
    }
    return OK;
}

/* The object has been read by the table before, strictly: every member has its row. */
void fields_translate(struct json_out *w, const struct field *table, const struct json *object)
{
    json_open(w, '{');
    for (const struct json *m = object->first; m; m = m->next) {
        const struct field *row = field_named(table, json_name(m));
        assert(row && row->like);
        struct field f = field_whole(row);
        json_key(w, row->like->name);
        if (f.clamps && m->type == JSON_NUMBER && (f.min != 0 || f.max != 0))
            json_num(w, clamped_number(&f, json_num_or(m, f.min)));
        else
            json_raw(w, m->source);
    }
    json_close(w, '}');
}

/* As people and programs write them: Python says True. */
static const char *const yes[] = {"true", "1", "yes", "on", NULL};
static const char *const no[] = {"false", "0", "no", "off", NULL};

bool truth_read(str text, bool *out)
{
    *out = str_is_one_of(text, yes);
    return *out || str_is_one_of(text, no);
}

/* Builds the JSON value that the text stands for. A truth that cannot be read is handed on as a
 * string: read_one then words the error. */
enum status fields_set(struct ctx *ctx, const struct field *table, str name, str text, void *out)
{
    const struct field *row = field_named(table, name);
    const str texts[] = {S(""), text};
    struct json *parsed,
        v = {.type = JSON_STRING, .source = text, .is_decoded = true, .texts = texts};
    struct strs list = {0};
    size_t cap = 0;
    bool truth;
    if (!row)
        return fail_field(ctx, str_c(&ctx->arena, name), "is not a known field");
    struct field whole = field_whole(row), *f = &whole;
    switch (f->type) {
    case FIELD_INT:
    case FIELD_NUM:
        v.type = JSON_NUMBER;
        break;
    case FIELD_BOOL:
        v.type = truth_read(text, &truth) ? JSON_BOOL : JSON_STRING;
        v.truth = truth;
        break;
    case FIELD_STRS:
        while (text.n)
            ARENA_ADD(&ctx->arena, list.v, list.n, cap) = str_trim(str_cut(&text, ','));
        *(struct strs *)member_at(f, out) = list;
        return OK;
    case FIELD_JSON:
    case FIELD_RAW:
    case FIELD_OBJECT:
        TRY(json_parse(ctx, text, &parsed));
        v = *parsed;
        break;
    default:
        break;
    }
    return read_one(ctx, f, &v, true, member_at(f, out));
}

static void write_one(struct json_out *w, const struct field *f, const void *at)
{
    const struct json *json;
    const struct strs *strs;
    str text;
    switch (f->type) {
    case FIELD_STR:
        json_str(w, f->secret && ((const str *)at)->n ? S("***") : *(const str *)at);
        break;
    case FIELD_INT:
        json_int(w, *(const int64_t *)at);
        break;
    case FIELD_NUM:
        json_num(w, *(const double *)at);
        break;
    case FIELD_BOOL:
        json_bool(w, *(const bool *)at);
        break;
    case FIELD_ENUM:
    case FIELD_SWITCH:
        json_str(w, choice_name(f, at));
        break;
    case FIELD_TIME:
        json_time(w, *(const int64_t *)at);
        break;
    case FIELD_JSON:
        json = *(const struct json *const *)at;
        json_raw(w, json ? json->source : S("null"));
        break;
    case FIELD_RAW:
        text = *(const str *)at;
        json_raw(w, text.n ? text : str_of(f->otherwise_str ? f->otherwise_str : "null"));
        break;
    case FIELD_STRS:
        strs = at;
        json_open(w, '[');
        for (size_t i = 0; i < strs->n; i++)
            json_str(w, strs->v[i]);
        json_close(w, ']');
        break;
    case FIELD_OBJECT:
        fields_write(w, f->inside, at);
        break;
    }
}

/* What a row's EMPTY_ rule is about. A number may be 0, so that "none" is NAN; a bool or an object
 * always has a value. */
static bool is_empty(const struct field *f, const void *at)
{
    switch (f->type) {
    case FIELD_STR:
    case FIELD_RAW:
        return !((const str *)at)->n;
    case FIELD_INT:
    case FIELD_TIME:
        return !*(const int64_t *)at;
    case FIELD_NUM:
        return !isfinite(*(const double *)at);
    case FIELD_JSON:
        return !*(const struct json *const *)at;
    case FIELD_STRS:
        return !((const struct strs *)at)->n;
    case FIELD_ENUM:
        return choice_at(f, at) >= count_names(f);
    default:
        return false;
    }
}

void field_write(struct json_out *w, const struct field *row, const void *in)
{
    struct field f = field_whole(row);
    write_one(w, &f, (const char *)in + f.at);
}

/* In the order of the table, so that answers can be compared byte by byte. */
void fields_write(struct json_out *w, const struct field *table, const void *in)
{
    json_open(w, '{');
    for (const struct field *row = table; row->name; row++) {
        struct field whole = field_whole(row), *f = &whole;
        const char *at = (const char *)in + f->at;
        bool is_special = f->empty != EMPTY_STANDS && is_empty(f, at);
        if (is_special && f->empty == EMPTY_OUT)
            continue;
        json_key(w, f->name);
        if (is_special)
            json_null(w);
        else
            write_one(w, f, at);
    }
    json_close(w, '}');
}
