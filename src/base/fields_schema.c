/* fields_schema.c - a table as JSON Schema (2020-12). */
#include "base/fields.h"

/* The rows that check a body and write an answer describe both, so a schema cannot promise what the
 * code does not do. */

static bool is_text_row(const struct field *f)
{
    return f->type == FIELD_STR || f->type == FIELD_ENUM || f->type == FIELD_SWITCH;
}

/* A null in an enum must be among its values. */
static void describe_limits(struct json_out *w, const struct field *f)
{
    bool is_text = is_text_row(f);
    if (f->min != 0 || (f->max != 0 && !is_text))
        json_member_num(w, is_text ? "minLength" : "minimum", f->min);
    if (f->max != 0)
        json_member_num(w, is_text ? "maxLength" : "maximum", f->max);
    if (f->one_of) {
        json_member_open(w, "enum", '[');
        for (const char *const *name = f->one_of; *name; name++)
            json_str(w, str_of(*name));
        if (f->empty == EMPTY_NULL)
            json_null(w);
        json_close(w, ']');
    }
}

/* JSON Schema has no "nullable": a value that may be null lists two types. A time that is none and
 * an object that is empty are written as null. */
static bool may_be_null(const struct field *f, enum schema_use use)
{
    if (f->empty != EMPTY_STANDS)
        return f->empty == EMPTY_NULL;
    if (f->type == FIELD_TIME)
        return !f->required && use != SCHEMA_STRICT;
    return use != SCHEMA_STRICT && f->type == FIELD_RAW && !f->otherwise_str;
}

static void describe_type(struct json_out *w, const struct field *f, const char *type,
                          enum schema_use use)
{
    bool has_null = may_be_null(f, use);
    json_key(w, "type");
    if (has_null)
        json_open(w, '[');
    json_str(w, str_of(type));
    if (!has_null)
        return;
    json_str(w, S("null"));
    json_close(w, ']');
}

/* Types from FIELD_TIME on have no default that a schema could state; this relies on the order of
 * enum field_type. A default of 0 is left out, as it says no more than its absence, except for
 * booleans. */
static void describe_default(struct json_out *w, const struct field *f)
{
    bool is_text = is_text_row(f);
    bool has = is_text ? f->otherwise_str != NULL : f->otherwise != 0 || f->type == FIELD_BOOL;
    if (f->required || !has || f->type >= FIELD_TIME)
        return;
    json_key(w, "default");
    if (is_text)
        json_str(w, str_of(f->otherwise_str));
    else if (f->type == FIELD_BOOL)
        json_bool(w, f->otherwise != 0);
    else
        json_num(w, f->otherwise);
}

static void describe_table(struct json_out *w, const struct field *table, enum schema_use use,
                           const struct schema_names *names)
{
    str name = names ? names->name_of(names, table, use) : S("");
    if (!name.n) {
        fields_schema(w, table, use, names);
        return;
    }
    json_open(w, '{');
    json_member_str(w, "$ref", name);
    json_close(w, '}');
}

void field_schema(struct json_out *w, const struct field *row, enum schema_use use,
                  const struct schema_names *names)
{
    struct field whole = field_whole(row), *f = &whole;
    static const char *const types[] = {
        [FIELD_STR] = "string",   [FIELD_INT] = "integer", [FIELD_NUM] = "number",
        [FIELD_BOOL] = "boolean", [FIELD_ENUM] = "string", [FIELD_SWITCH] = "string",
        [FIELD_TIME] = "string",  [FIELD_RAW] = "object",  [FIELD_STRS] = "array",
    };
    if (f->type == FIELD_OBJECT) {
        describe_table(w, f->inside, use, names);
        return;
    }
    json_open(w, '{');
    if (types[f->type] || f->inside)
        describe_type(w, f, f->inside ? "array" : types[f->type], use);
    if (f->inside) {
        json_key(w, "items");
        describe_table(w, f->inside, use, names);
    }
    if (f->type == FIELD_TIME)
        json_member_str(w, "format", S("date-time"));
    if (f->type == FIELD_STRS)
        json_member_raw(w, "items", S("{\"type\":\"string\"}"));
    describe_limits(w, f);
    if (use != SCHEMA_OUTPUT)
        describe_default(w, f);
    if (f->help)
        json_member_str(w, "description", str_of(f->help));
    json_close(w, '}');
}

void fields_schema(struct json_out *w, const struct field *table, enum schema_use use,
                   const struct schema_names *names)
{
    json_open(w, '{');
    json_member_str(w, "type", S("object"));
    json_member_open(w, "properties", '{');
    for (const struct field *f = table; f->name; f++) {
        json_key(w, f->name);
        field_schema(w, f, use, names);
    }
    json_close(w, '}');
    json_member_open(w, "required", '[');
    for (const struct field *f = table; f->name; f++)
        if (use == SCHEMA_OUTPUT ? f->empty != EMPTY_OUT : f->required)
            json_str(w, str_of(f->name));
    json_close(w, ']');
    if (use == SCHEMA_STRICT)
        json_member_bool(w, "additionalProperties", false);
    json_close(w, '}');
}
