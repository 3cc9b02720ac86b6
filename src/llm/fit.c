/* fit.c - converts the JSON object of a model to the types of a field table. */
#include <math.h>

#include "lang/fit_lists.h"
#include "llm/inside.h"

/*
 * Reading has two steps. First the object is rewritten, member by member of the table, with each
 * value in the JSON type that its row wants (write_…). Then the ordinary reader of tables checks
 * types, ranges and required rows. So all tolerance is in this file, and a value that no rule
 * understands fails in the same words as a client's would.
 */

/* Four times the longest answer (ANSWER_MAX). */
enum { FITTED_MAX = 32 << 20 };

static void write_object(struct json_out *w, const struct field *table, const struct json *object);

/* Words with which models fill a member that has no value. */
static bool is_nothing(const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        return true;
    return v->type == JSON_STRING && str_is_one_of(str_trim(json_string(v)), no_values);
}

/* Models wrap a single value in a list now and then. */
static const struct json *unwrap_single(const struct json *v)
{
    return v && v->type == JSON_ARRAY && v->n == 1 ? v->first : v;
}

/* A number or truth value becomes text, and a value of a list gets the spelling of the list. */
static void write_text(struct json_out *w, const struct field *f, const struct json *v)
{
    bool is_other = v->type == JSON_NUMBER || v->type == JSON_BOOL;
    str text = is_other ? v->source : json_string(v);
    for (const char *const *name = f->one_of; name && *name; name++)
        if (str_eq_nocase(str_trim(text), str_of(*name)))
            text = str_of(*name);
    if (is_other || v->type == JSON_STRING)
        json_str(w, text);
    else
        json_raw(w, v->source);
}

/* --- shares: numbers from 0 to 1 --- */

/* The words with which models answer instead of a number. */
static bool share_in_words(str text, double *out)
{
    static const struct {
        const char *word;
        double share;
    } words[] = {
#define SHARE(word, share) {word, share},
#include "lang/fit.def"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq_nocase(text, str_of(words[i].word))) {
            *out = words[i].share;
            return true;
        }
    return false;
}

/* With a decimal comma, too. */
static bool number_of(str text, double *out)
{
    char digits[32];
    text = str_trim(text);
    if (text.n > sizeof digits)
        return false;
    for (size_t i = 0; i < text.n; i++)
        digits[i] = (char)(text.p[i] == ',' ? '.' : text.p[i]);
    return str_num((str){digits, text.n}, out) && isfinite(*out);
}

/* "80 %", "8/10", "0,8" and 80 are 0.8. A whole number of 2 to 10 is out of ten, a greater one a
 * percentage. False: nothing tells the share. Between 1 and 2 there is no way to tell 1.5 of 10
 * from an overstated share; such a number is taken as a share and clamped to 1. */
static bool share_of(const struct json *v, double *out)
{
    str rest = str_trim(v->type == JSON_STRING ? json_string(v) : v->source);
    double whole = 1;
    if (v->type != JSON_STRING && v->type != JSON_NUMBER)
        return false;
    if (share_in_words(rest, out))
        return true;
    str part = str_trim(str_cut(&rest, '/'));
    bool is_percent = str_ends(part, S("%"));
    part = is_percent ? str_sub(part, 0, part.n - 1) : part;
    if (!number_of(part, out) || (rest.n && !number_of(rest, &whole)))
        return false;
    if (is_percent || (!rest.n && *out > 10))
        whole = 100;
    else if (!rest.n && *out >= 2)
        whole = 10;
    *out = whole > 0 ? fmin(fmax(*out / whole, 0), 1) : 0;
    return true;
}

/* A value that is no number is passed on: reading it by the table then fails with a clear
 * message. */
static void write_number(struct json_out *w, const struct field *f, const struct json *v)
{
    double d;
    str text = v->type == JSON_STRING ? str_trim(json_string(v)) : v->source;
    bool is_number = v->type == JSON_NUMBER || v->type == JSON_STRING;
    if (!is_number || !str_num(text, &d) || !isfinite(d)) {
        json_raw(w, v->source);
        return;
    }
    if (f->min != 0 || f->max != 0)
        d = fmin(fmax(d, f->min), f->max);
    json_num(w, f->type == FIELD_INT ? round(d) : d);
}

static void write_truth(struct json_out *w, const struct json *v)
{
    bool truth;
    if (truth_read(v->type == JSON_STRING ? str_trim(json_string(v)) : v->source, &truth))
        json_bool(w, truth);
    else
        json_raw(w, v->source);
}

/* Members of other types are dropped; a single text becomes a list of one. */
static void write_texts(struct json_out *w, const struct json *v)
{
    if (v->type != JSON_ARRAY && v->type != JSON_STRING) {
        json_raw(w, v->source);
        return;
    }
    json_open(w, '[');
    if (v->type == JSON_STRING)
        json_str(w, json_string(v));
    for (const struct json *item = v->first; item; item = item->next)
        if (item->type == JSON_STRING)
            json_str(w, json_string(item));
    json_close(w, ']');
}

/* A text instead of an object becomes the object's first text member. */
static void write_inside(struct json_out *w, const struct field *table, const struct json *v)
{
    const struct field *f = table;
    while (f->name && f->type != FIELD_STR)
        f++;
    if (v->type == JSON_OBJECT) {
        write_object(w, table, v);
    } else if (v->type == JSON_STRING && f->name) {
        json_open(w, '{');
        json_member_str(w, f->name, json_string(v));
        json_close(w, '}');
    } else {
        json_raw(w, v->source);
    }
}

static void write_list(struct json_out *w, const struct field *table, const struct json *v)
{
    json_open(w, '[');
    const struct json *item = v->type == JSON_ARRAY ? v->first : v;
    for (; item; item = v->type == JSON_ARRAY ? item->next : NULL)
        if (item->type == JSON_OBJECT || (item->type == JSON_STRING && !is_nothing(item)))
            write_inside(w, table, item);
    json_close(w, ']');
}

static void write_member(struct json_out *w, const struct field *f, const struct json *v)
{
    switch (f->type) {
    case FIELD_STR:
    case FIELD_ENUM:
    case FIELD_SWITCH:
        write_text(w, f, unwrap_single(v));
        break;
    case FIELD_INT:
    case FIELD_NUM:
        write_number(w, f, unwrap_single(v));
        break;
    case FIELD_BOOL:
        write_truth(w, unwrap_single(v));
        break;
    case FIELD_STRS:
        write_texts(w, v);
        break;
    case FIELD_OBJECT:
        write_inside(w, f->inside, unwrap_single(v));
        break;
    case FIELD_JSON:
        if (f->inside)
            write_list(w, f->inside, v);
        else
            json_raw(w, v->source);
        break;
    case FIELD_TIME:
    case FIELD_RAW:
        json_raw(w, v->source);
        break;
    }
}

/* A share that cannot be read counts as absent: no fact is lost for what it is said to weigh. */
static void write_share(struct json_out *w, const struct field *f, const struct json *v)
{
    double share;
    if (!share_of(unwrap_single(v), &share))
        return;
    json_member_num(w, f->name, share);
}

/* Only members of the table are written, so nothing a model invents gets further. */
static void write_object(struct json_out *w, const struct field *table, const struct json *object)
{
    json_open(w, '{');
    for (const struct field *f = table; f->name; f++) {
        const struct json *v = json_get(object, f->name);
        bool is_free =
            f->type == FIELD_STR || f->type == FIELD_ENUM || (f->type == FIELD_JSON && !f->inside);
        if (!v || v->type == JSON_NULL || (!is_free && is_nothing(v)))
            continue;
        if (f->type == FIELD_NUM && f->min == 0 && f->max == 1) {
            write_share(w, f, v);
            continue;
        }
        json_key(w, f->name);
        write_member(w, f, v);
    }
    json_close(w, '}');
}

/* Row by row, so that one bad member can be dropped where the table does not require it. */
enum status llm_read(struct ctx *ctx, const struct field *table, const struct json *object,
                     bool leniently, void *out)
{
    for (const struct field *f = table; f->name; f++) {
        const struct field row[2] = {*f};
        const struct json *v = json_get(object, f->name);
        enum status s = f->type == FIELD_OBJECT && v && v->type == JSON_OBJECT
                            ? llm_read(ctx, f->inside, v, leniently, (char *)out + f->at)
                            : fields_read(ctx, row, object, false, out);
        if (s != OK && (f->required || !leniently))
            return s;
        if (!soft(ctx, s))
            fields_defaults(row, out);
    }
    return OK;
}

/* Converts by writing new JSON, so that the one reader of tables keeps all its checks. Nested lists
 * of FIELD_JSON with .inside are rewritten but not read: their rows are checked one by one by the
 * caller, who can drop a bad one. */
enum status llm_fit(struct ctx *ctx, const struct field *table, const struct json *object,
                    bool leniently, void *out)
{
    struct json_out w = json_in(&ctx->arena, FITTED_MAX);
    struct json *fitted;
    assert(object->type == JSON_OBJECT);
    write_object(&w, table, object);
    TRY(json_parse(ctx, buf_str(w.b), &fitted));
    return llm_read(ctx, table, fitted, leniently, out);
}
