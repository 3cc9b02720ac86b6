/* json.h - JSON read with the place of every value, and written with commas in the right places. */
#pragma once

#include "base/buf.h"
#include "base/ctx.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/*
 * A value of a parsed text. The values live in the ctx's arena and point into the source, which
 * must outlive them. source is the exact bytes of the value, so that a body can be passed on with
 * one part changed and every other byte as it came (numbers as written, unknown members, spacing).
 * A value is small, because a text of two bytes a value may have many.
 */
struct json {
    enum json_type type : 8;
    bool truth : 1;      /* of a JSON_BOOL */
    bool is_decoded : 1; /* of a JSON_STRING whose text is not its bytes between the quotes */
    uint32_t n;          /* members or elements */
    str source;          /* the value's own bytes in the source, with quotes and brackets */
    struct json *first;  /* of an array or object */
    struct json *next;   /* the next in the same array or object */
    const str *texts;    /* the key of a member, then what is_decoded; NULL: neither. Read them with
                            json_name and json_string */
};

enum {
    JSON_DEPTH_MAX = 128,
    JSON_VALUES_MAX = 1000000, /* of a text; of a long one, one for every JSON_BYTES_A_VALUE */
    JSON_BYTES_A_VALUE = 16
};

/* Strict RFC 8259: valid UTF-8, no trailing bytes, at most JSON_DEPTH_MAX deep. The failure
 * (BAD_INPUT; TOO_LARGE for too many values) names the byte. */
MUST_USE enum status json_parse(struct ctx *ctx, str text, struct json **out);

/* The same of a text that may be damaged: NULL for it, and for "". No failure is noted. */
const struct json *json_of_text(struct ctx *ctx, str text);
/* Of a member: its name, decoded. Else empty. */
str json_name(const struct json *member);
/* The member of that name (the last of several), or NULL; also NULL when object is NULL or not an
 * object. */
const struct json *json_get(const struct json *object, const char *name);
/* Walks names separated by dots: "usage.prompt_tokens"; a number picks an array's element. */
const struct json *json_at(const struct json *value, const char *path);

/* The string, decoded, or an empty one when value is NULL or no string. A lone surrogate and NUL
 * read as U+FFFD. */
str json_string(const struct json *value);
/* The number, or otherwise. */
int64_t json_int_or(const struct json *value, int64_t otherwise);
double json_num_or(const struct json *value, double otherwise);
bool json_is_true(const struct json *value);

/* Writes into buf and puts the commas. Objects: json_member_…, or json_key and one value. */
struct json_out {
    struct buf *b;
    bool comma; /* a value is before */
};

struct json_out json_to(struct buf *b);
/* The same into a buf of its own, in the arena. */
struct json_out json_in(struct arena *a, size_t max);
void json_open(struct json_out *w, char bracket);  /* '{' or '[' */
void json_close(struct json_out *w, char bracket); /* '}' or ']' */
void json_key(struct json_out *w, const char *name);
void json_str(struct json_out *w, str s); /* invalid UTF-8 becomes U+FFFD */
void json_int(struct json_out *w, int64_t v);
/* The shortest form that reads back the same; null when it is not finite. */
void json_num(struct json_out *w, double v);
void json_bool(struct json_out *w, bool v);
void json_null(struct json_out *w);
void json_raw(struct json_out *w, str json); /* a value already in JSON */
/* 2026-11-20T05:39:00.123Z, or null when ms is 0. */
void json_time(struct json_out *w, int64_t ms);

/* A member of an object: its name and value. json_member_open begins an object or array. */
void json_member_open(struct json_out *w, const char *name, char bracket);
void json_member_str(struct json_out *w, const char *name, str s);
void json_member_int(struct json_out *w, const char *name, int64_t v);
void json_member_num(struct json_out *w, const char *name, double v);
void json_member_bool(struct json_out *w, const char *name, bool v);
void json_member_raw(struct json_out *w, const char *name, str json);

/* The escaped content of a string without quotes, for splicing into an existing string. */
void json_escape(struct buf *b, str s);
