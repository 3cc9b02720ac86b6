/* fields.h - one table is the shape: it reads, checks, writes and describes a struct. */
#pragma once

#include "base/json.h"
#include "base/shape.h"

enum field_type {
    FIELD_STR,    /* str */
    FIELD_INT,    /* int64_t */
    FIELD_NUM,    /* double */
    FIELD_BOOL,   /* bool */
    FIELD_ENUM,   /* an enum; in JSON its name in .one_of, which has the enum's order */
    FIELD_SWITCH, /* bool; "on" or "off" in JSON */
    FIELD_TIME,   /* int64_t unix ms; ISO 8601 in JSON, null and absent are 0 */
    FIELD_JSON,   /* const struct json *: any value, passed on as it came */
    FIELD_RAW,    /* str: an object as JSON text; empty is null, or otherwise_str */
    FIELD_STRS,   /* struct strs: an array of strings */
    FIELD_OBJECT  /* a struct inside, described by .inside */
};

struct strs {
    str *v;
    size_t n;
};
bool strs_have(const struct strs *list, str one);

/* How an empty value is written: as it is ("" or 0), as null, or not at all. Empty values are a
 * text without bytes, 0, a number that is not finite, an enum beyond its last name, and no JSON. */
enum field_empty { EMPTY_STANDS, EMPTY_NULL, EMPTY_OUT };

/*
 * One row. Text limits count bytes; a row with min and max both 0 has no limit. A row that is like
 * another has all rules of that row, and its help and default unless it has its own; name, place,
 * group, unit and clamps are its own.
 */
struct field {
    const char *name;
    enum field_type type;
    size_t at;
    bool required, secret;      /* secret: written as "***" */
    double min, max;            /* of a number, or of a text's length in bytes */
    double otherwise;           /* default of INT, NUM, BOOL, TIME; of ENUM without otherwise_str */
    const char *otherwise_str;  /* default of STR, ENUM, SWITCH; of RAW what "" is written as */
    const char *const *one_of;  /* NULL-ended list of allowed texts */
    const struct field *inside; /* of OBJECT; of JSON: it is an array of these */
    enum field_empty empty;
    int group;        /* of a row that help lists under a heading */
    const char *unit; /* what help shows for the value: MS, FILE; NULL: by the type */
    const char *help;
    const struct field *like; /* a row of the same type */
    bool clamps;              /* a number out of range is clamped, not refused */
    bool is_name;             /* a text under the rule of name_check */
};

extern const char *const on_off_names[];

/* BAD_INPUT with the field: the name of a user, space or session holds a control character. */
MUST_USE enum status name_check(struct ctx *ctx, const char *field, str name);
/* BAD_INPUT with the field ("": none) lists the names, of which s must be one. */
MUST_USE enum status name_one_of(struct ctx *ctx, const char *field, const char *const *names,
                                 str s);

/* Sets every default into *out, a struct the table describes. */
void fields_defaults(const struct field *table, void *out);

/*
 * Reads an object. Types, ranges, lists and required rows are checked; the failure is BAD_INPUT
 * with ctx->field set. strict refuses a member that no row names. Strings point into the JSON's
 * source or the ctx's arena. Absent and null members take the default. *out is whole on OK and must
 * not be used otherwise.
 */
MUST_USE enum status fields_read(struct ctx *ctx, const struct field *table,
                                 const struct json *object, bool strict, void *out);

/* Whether a text says yes ("true", "True", "1", "on") or no; false when it says neither. */
bool truth_read(str text, bool *out);
/* Sets one field from text (flags, environment, query strings), under the same rules. */
MUST_USE enum status fields_set(struct ctx *ctx, const struct field *table, str name, str text,
                                void *out);

/* The row of that name, or NULL. */
const struct field *field_named(const struct field *table, str name);
/* The row with everything it takes from the row it is like. Readers of a table that look at limits,
 * names or defaults need it. */
struct field field_whole(const struct field *row);
/* The name of the struct's value for a row of ENUM or SWITCH; "" when it has none. */
str field_choice(const struct field *row, const void *in);

/*
 * Writes the members that a checked object names, by the rows of its table, under the names of the
 * rows that those are like: from one dialect's names to the neutral ones. Numbers are clamped where
 * the row says so; null stays null.
 */
void fields_translate(struct json_out *w, const struct field *table, const struct json *object);

/* Writes the member of one row, as it is also when empty. */
void field_write(struct json_out *w, const struct field *row, const void *in);
/* Writes the struct as an object. */
void fields_write(struct json_out *w, const struct field *table, const void *in);

/* What a schema is for: a body whose unknown members are passed over or refused, or an answer. */
enum schema_use { SCHEMA_INPUT, SCHEMA_STRICT, SCHEMA_OUTPUT };

/* Says where a table inside another one is described: a reference, or "" when here. */
struct schema_names {
    str (*name_of)(const struct schema_names *names, const struct field *table,
                   enum schema_use use);
};

/* The JSON Schema (2020-12) of the table. An answer has every member that is not left out when
 * empty, and a time in it may be null, as fields_write says "none". names may be NULL. */
void fields_schema(struct json_out *w, const struct field *table, enum schema_use use,
                   const struct schema_names *names);
/* The schema of one row, for what is described member by member (query parameters). */
void field_schema(struct json_out *w, const struct field *f, enum schema_use use,
                  const struct schema_names *names);
