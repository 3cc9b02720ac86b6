/* secrets.c - finding and masking what must not be given again: keys, passwords, card numbers. */
#include "engine/extract/secrets.h"

#include "base/buf.h"
#include "engine/extract/extract.h"
#include "engine/extract/secret_values.h"
#include "engine/text/bytes.h"
#include "engine/text/content_key.h"

/*
 * Two ways to find a secret: by what gives it away (secrets.def, secret_names in data/lang, and
 * numbers whose check digits fit), and values that were found before in the same conversation,
 * since an answer repeats a password without the word "password".
 *
 * At most SPANS_MAX secrets are found in one text, and VALUES_MAX values are remembered; shorter
 * ones than VALUE_MIN would mask ordinary words.
 */

/* Values of one conversation that are looked for again, and the bytes of the shortest. */
enum { VALUES_MAX = 64, VALUE_MIN = 6 };

#define MASK "[secret]"

/* --- numbers of persons and accounts, by their form and their check digits --- */

/*
 * Check digits are asked for where many other numbers have the form: of cards and IBAN. Others have
 * signs between their digits, or a birthday among them, or must stand beside their name.
 */

/* ISO/IEC 7812. */
static bool fits_luhn(str v)
{
    int sum = 0, digits = 0;
    for (size_t i = v.n; i-- > 0;) {
        if (!is_digit(v.p[i]))
            continue;
        int d = (v.p[i] - '0') * (digits++ % 2 ? 2 : 1);
        sum += d > 9 ? d - 9 : d;
    }
    return sum % 10 == 0;
}

/* The rest modulo 97 of a number, with one more character behind it: a letter is two digits. */
static int rest_with(int rest, char c)
{
    return is_digit(c) ? (rest * 10 + c - '0') % 97 : (rest * 100 + c - 'A' + 10) % 97;
}

/* ISO 13616, mod 97-10: the country and the check digits count behind all others. Of the beginnings
 * that fit the longest counts, since words in capitals may follow. */
static size_t iban_length(str v)
{
    enum { HEAD = 4 };
    size_t fits = 0;
    int rest = 0;
    for (size_t i = HEAD; i < v.n; i++) {
        if (!is_ascii_word(v.p[i]))
            continue;
        int whole = rest = rest_with(rest, v.p[i]);
        for (size_t k = 0; k < HEAD; k++)
            whole = rest_with(whole, v.p[k]);
        if (whole == 1 && (i + 1 == v.n || !is_ascii_word(v.p[i + 1])))
            fits = i + 1;
    }
    return fits;
}

/* All forms have so many digits at once, most words and numbers have not. */
static bool may_be_number(str text, size_t at)
{
    enum { NEAR = 12, DIGITS = 4 };
    size_t digits = 0;
    for (size_t i = at; i < text.n && i < at + NEAR; i++)
        digits += is_digit(text.p[i]);
    return digits >= DIGITS;
}

/* The end of a number that needs no name and begins at `at`, which is the start of a word; 0: there
 * is none. */
static size_t number_end(const struct secret_table *t, str text, size_t at)
{
    struct match m;
    bool begins = is_digit(text.p[at]) || is_upper(text.p[at]);
    if (!begins || !may_be_number(text, at) || !pattern_find(secret_numbers(t), text, at, &m))
        return 0;
    if (m.group[1].p)
        return fits_luhn(m.group[1]) ? m.to : 0;
    size_t n = m.group[2].p ? iban_length(m.group[2]) : m.to - at;
    return n ? at + n : 0;
}

/* --- all secrets of a text --- */

static size_t named_add(const struct secret_table *t, str text, size_t at, struct spans *out)
{
    struct secret_name name;
    size_t end = at;
    for (uint32_t state = 0; secret_name_at(t, text, at, &state, &name);) {
        size_t before = out->n, to = secret_values_add(text, &name, out);
        end = out->n > before && to > end ? to : end;
    }
    return end;
}

/* All that gives a secret away, in one pass. */
static void find_secrets(str text, struct spans *out)
{
    const struct secret_table *t = secret_table();
    for (size_t i = 0, end; (i = secret_next(t, text, i)) < text.n;) {
        end = number_end(t, text, i);
        span_add(out, i, end);
        end = end ? end : named_add(t, text, i, out);
        i = end > i ? end : i + 1;
    }
}

ORDER(by_place, struct span, UP(from));

static void find_value(str text, str value, struct spans *out)
{
    for (size_t at = 0; at + value.n <= text.n; at += value.n) {
        at += str_find(str_sub(text, at, text.n), value);
        if (at < text.n)
            span_add(out, at, at + value.n);
    }
}

/* What the text itself gives away is looked for in all of it. */
static void find_again(str text, struct spans *out)
{
    for (size_t i = 0, own = out->n; i < own; i++) {
        str value = str_sub(text, out->v[i].from, out->v[i].to);
        bool is_known = SOME(k, i, str_eq(value, str_sub(text, out->v[k].from, out->v[k].to)));
        if (value.n >= VALUE_MIN && !is_known && !str_eq(value, S(MASK)))
            find_value(text, value, out);
    }
}

/* Values may be NULL. */
static struct spans spans_of(str text, const struct strs *values)
{
    struct spans s;
    s.n = 0; /* all of it would be 4 KB of zeros for each text */
    find_secrets(text, &s);
    find_again(text, &s);
    for (size_t i = 0; values && i < values->n; i++)
        find_value(text, values->v[i], &s);
    qsort(s.v, s.n, sizeof *s.v, by_place);
    return s;
}

bool secrets_are_in(str text)
{
    return spans_of(text, NULL).n > 0;
}

static void value_add(struct strs *out, str value)
{
    bool is_none = str_eq(value, S(MASK)) || value.n < VALUE_MIN || out->n == VALUES_MAX;
    if (!is_none && !strs_have(out, value))
        out->v[out->n++] = value;
}

/* What quotes words of a text, as the reason of a receipt does, has a part of the secret: of
 * "key-0f1e2d3c" the "0f1e2d3c". Parts without a digit may be words. */
static void parts_add(struct strs *out, str value)
{
    for (size_t i = 0, end; i < value.n; i = end + 1) {
        for (end = i; end < value.n && is_ascii_word(value.p[end]);)
            end++;
        str part = str_sub(value, i, end);
        if (str_has_digit(part))
            value_add(out, part);
    }
}

/* Whole values go first, so that parts of one do not take the room of another. */
void secrets_add(struct arena *a, str text, struct strs *out)
{
    struct spans s = spans_of(text, NULL);
    if (!out->v)
        out->v = NEW_N(a, str, VALUES_MAX);
    for (size_t i = 0; i < s.n; i++)
        value_add(out, str_sub(text, s.v[i].from, s.v[i].to));
    for (size_t i = 0; i < s.n; i++)
        parts_add(out, str_sub(text, s.v[i].from, s.v[i].to));
}

str secrets_masked(struct arena *a, str text, const struct strs *values)
{
    struct spans s = spans_of(text, values);
    if (!s.n)
        return text;
    struct buf b = buf_make(a, text.n + s.n * sizeof MASK);
    size_t at = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.v[i].from >= at) {
            buf_add(&b, str_sub(text, at, s.v[i].from));
            buf_add(&b, S(MASK));
        }
        at = s.v[i].to > at ? s.v[i].to : at;
    }
    buf_add(&b, str_sub(text, at, text.n));
    return buf_str(&b);
}

/* --- what callers write --- */

str secrets_kept(const struct engine *e, struct arena *a, str text)
{
    return e->settings->keep_secrets ? text : secrets_masked(a, text, NULL);
}

/* A value under its name: {"pin": 9043} gives a secret away, 9043 does not. */
static str masked_under(struct arena *a, str name, str text)
{
    str head = str_printf(a, S_FMT ": ", S_ARG(name));
    str named = str_printf(a, S_FMT S_FMT, S_ARG(head), S_ARG(text));
    str masked = name.n ? secrets_masked(a, named, NULL) : named;
    bool is_found = masked.p != named.p && str_starts(masked, head);
    return is_found ? str_sub(masked, head.n, masked.n) : text;
}

/* A list has its values under its own name, an object under both. A number's mask is a string. */
static void write_masked(struct arena *a, str above, const struct json *value, struct json_out *w)
{
    bool is_object = value->type == JSON_OBJECT;
    str name = str_trim(str_printf(a, S_FMT " " S_FMT, S_ARG(above), S_ARG(json_name(value))));
    if (is_object || value->type == JSON_ARRAY) {
        json_open(w, is_object ? '{' : '[');
        for (const struct json *one = value->first; one; one = one->next) {
            if (is_object)
                json_key(w, str_c(a, json_name(one)));
            write_masked(a, name, one, w);
        }
        json_close(w, is_object ? '}' : ']');
        return;
    }
    str text = value->type == JSON_STRING ? json_string(value) : value->source;
    str masked = secrets_masked(a, text, NULL);
    if (masked_under(a, name, masked).p != masked.p)
        masked = S(MASK);
    if (value->type == JSON_STRING || masked.p != text.p)
        json_str(w, masked);
    else
        json_raw(w, value->source);
}

/* A text that is no JSON says nothing that may be kept. */
str secrets_kept_json(const struct engine *e, struct arena *a, str json)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct json *tree;
    if (!json.n || e->settings->keep_secrets)
        return json;
    if (!soft(&own, json_parse(&own, json, &tree)))
        return S("");
    struct json_out w = json_in(a, json.n + 64);
    write_masked(a, S(""), tree, &w);
    str masked = buf_str(w.b);
    return str_find(masked, S(MASK)) < masked.n ? masked : json;
}

void secrets_leave(const struct engine *e, struct arena *a, struct memory *m)
{
    bool is_made_key = str_eq(m->key, content_key(a, str_trim(m->content)));
    m->content = secrets_kept(e, a, m->content);
    if (!e->settings->keep_secrets && !is_made_key)
        m->content = masked_under(a, m->key, m->content);
    m->metadata = secrets_kept_json(e, a, m->metadata);
    m->tags.v = DUP_N(a, m->tags.v, m->tags.n, m->tags.n);
    for (size_t i = 0; i < m->tags.n; i++)
        m->tags.v[i] = secrets_kept(e, a, m->tags.v[i]);
}
