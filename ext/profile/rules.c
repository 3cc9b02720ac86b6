/* rules.c - a user's facts without a model: from JSON, from "name: value" pairs, from sentences. */
#include "ext/profile/reading.h"

#include "base/utf8.h"
#include "engine/text/bytes.h"
#include "lang/profile_rules_lists.h"

/*
 * Three readers, each of which hands (path, value) to reading_add:
 *   read_data        JSON: {"address": {"city": "Rome"}} gives address, city = Rome
 *   read_pairs       "Name: Ana", "city=Rome country=Italy", one or more in a line
 *   read_statements  sentences about oneself, by the patterns of extraction
 * They only find; what a fact may be called and hold is decided in fact_names.c.
 */

enum { TEXT_MAX = 65536, PATH_MAX_ = JSON_DEPTH_MAX + 2 };

/* --- data --- */

/* No object, and no list that holds one: it gets its name before nested members do. */
static bool is_flat(const struct json *v)
{
    const struct json *item = v->type == JSON_ARRAY ? v->first : NULL;
    while (item && item->type != JSON_ARRAY && item->type != JSON_OBJECT)
        item = item->next;
    return v->type != JSON_OBJECT && !item;
}

/* Direct members of an object come before nested ones, so that they get the shorter names. */
static void walk_value(struct reading *r, str *path, size_t depth, const struct json *v)
{
    if (v->type == JSON_STRING || v->type == JSON_NUMBER || v->type == JSON_BOOL)
        reading_add(r, path, depth, v->type == JSON_STRING ? json_string(v) : v->source);
    if (v->type == JSON_ARRAY)
        for (const struct json *item = v->first; item; item = item->next)
            walk_value(r, path, depth, item);
    if (v->type != JSON_OBJECT || depth == PATH_MAX_)
        return;
    for (int deeper = 0; deeper < 2; deeper++)
        for (const struct json *m = v->first; m; m = m->next)
            if (is_flat(m) != (deeper == 1)) {
                assert(depth < PATH_MAX_);
                path[depth] = json_name(m);
                walk_value(r, path, depth + 1, m);
            }
}

void read_data(struct reading *r, const struct json *data)
{
    str *path = NEW_N(&r->ctx->arena, str, PATH_MAX_);
    r->source++;
    if (data)
        walk_value(r, path, 0, data);
}

/* --- pairs --- */

static bool is_word_char(char c)
{
    return in_word(c) || char_is_one_of(c, "_-.");
}

/* Up to four plain words. */
static bool is_name(str s)
{
    size_t words = 0, letters = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool begins = s.p[i] != ' ' && (i == 0 || s.p[i - 1] == ' ');
        if (s.p[i] != ' ' && !is_word_char(s.p[i]))
            return false;
        words += begins;
        letters += is_word_char(s.p[i]) && !char_is_one_of(s.p[i], "0123456789_-.");
    }
    return letters && words <= 4 && s.n <= 4 * PROFILE_NAME_MAX && !str_is_one_of(s, no_fact_names);
}

/* The names of a pair: "address.city" are two. */
static void add_pair(struct reading *r, str name, str value)
{
    str path[8], rest = name;
    size_t depth = 0;
    value = str_trim(strip_marks(str_trim(value), "*`"));
    if (value.n > 1 && char_is_one_of(value.p[0], "\"'") && value.p[value.n - 1] == value.p[0])
        value = str_sub(value, 1, value.n - 1);
    while (rest.n && depth < 8) {
        path[depth] = str_cut(&rest, '.');
        depth += path[depth].n > 0;
    }
    if (value.n)
        reading_add(r, path, depth, value);
}

/* The pair that is being read; what follows it without a name of its own belongs to it. */
struct pair {
    str name, value;
};

/* Where the word begins that ends before at. */
static size_t word_before(str s, size_t at, size_t *end)
{
    while (at && char_is_one_of(s.p[at - 1], " \t\"'`*"))
        at--;
    *end = at;
    while (at && is_word_char(s.p[at - 1]))
        at--;
    return at;
}

static void end_pair(struct reading *r, struct pair *p)
{
    if (p->name.n)
        add_pair(r, p->name, p->value);
    *p = (struct pair){0};
}

/* "a=1 b=2": each name is the word before its sign. */
static void take_signs(struct reading *r, str s, struct pair *p)
{
    for (size_t at = str_find(s, S("=")); at < s.n; at = str_find(s, S("="))) {
        size_t end, from = word_before(s, at, &end);
        str name = str_sub(s, from, end);
        if (p->name.n)
            p->value = str_sub(s, 0, from);
        end_pair(r, p);
        at += 1 + (at + 1 < s.n && char_is_one_of(s.p[at + 1], ">="));
        s = str_sub(s, at, s.n);
        p->name = is_name(name) ? name : S("");
        p->value = s;
    }
}

/* "Name: John"; of several names in a row the last one. */
static bool take_colon(struct reading *r, str s, struct pair *p)
{
    bool is_one = false;
    for (size_t at = str_find(s, S(":")); at < s.n; at = str_find(s, S(":"))) {
        if (at + 1 < s.n && char_is_one_of(s.p[at + 1], "/0123456789\\"))
            break;
        str name = strip_marks(str_trim(str_sub(s, 0, at)), " \"'`*");
        if (!is_one)
            end_pair(r, p);
        is_one = true;
        s = str_sub(s, at + 1, s.n);
        *p = (struct pair){is_name(name) ? name : S(""), s};
    }
    return is_one;
}

/* Where the next part of a line ends: a mark that is not inside a word or a number. */
static size_t part_end(str s)
{
    size_t at = 0;
    while (at < s.n && !char_is_one_of(s.p[at], ";&|\t") &&
           !(s.p[at] == ',' && (at + 1 == s.n || !char_is_one_of(s.p[at + 1], "0123456789"))))
        at++;
    return at;
}

static void take_line(struct reading *r, str line)
{
    struct pair p = {0};
    line = strip_marks(str_trim(line), "-*+>#{}[] \t");
    while (line.n) {
        size_t end = part_end(line);
        str part = str_sub(line, 0, end);
        line = str_sub(line, end + (end < line.n), line.n);
        if (str_find(part, S("=")) < part.n) {
            end_pair(r, &p);
            take_signs(r, part, &p);
        } else if (!take_colon(r, part, &p) && p.name.n) {
            /* "city: Paris, France" goes on behind the comma. */
            p.value = (str){p.value.p, (size_t)(part.p + part.n - p.value.p)};
        }
    }
    end_pair(r, &p);
}

void read_pairs(struct reading *r, str text)
{
    r->source++;
    text = utf8_cut(text, TEXT_MAX);
    while (text.n)
        take_line(r, str_cut(&text, '\n'));
}

/* --- what one says --- */

/* What the words of a statement are about. */
static const struct statement {
    const char *says, *name;
} statements[] = {
#define SAYS(says, name) {says, #name},
#include "lang/profile_rules.def"
    {0}};

static void add_fact(struct reading *r, const char *name, str value)
{
    reading_add(r, (str[]){str_of(name)}, 1, value);
}

/* "Madrid, Spain" are a city and a country; what one name is nobody can tell by rule. */
static void add_location(struct reading *r, str place)
{
    str rest = place, city = str_trim(str_cut(&rest, ',')), country = str_trim(rest);
    if (str_is_one_of(place, countries)) {
        add_fact(r, "country", place);
    } else if (city.n && str_is_one_of(country, countries)) {
        add_fact(r, "city", city);
        add_fact(r, "country", country);
    } else {
        add_fact(r, "location", place);
    }
}

/* "a nurse" is kept as "nurse". */
static str without_article(str s)
{
    bool is_cut = text_cut_front(&s, S("a ")) || text_cut_front(&s, S("an ")) ||
                  text_cut_front(&s, S("the "));
    return is_cut ? str_trim(s) : s;
}

/* "nurse at the Charité", and "Google as an engineer" the other way round. */
static void add_job(struct reading *r, str what, bool is_job)
{
    str at = is_job ? S(" at ") : S(" as ");
    size_t end = str_find(what, at);
    if (is_job && end == what.n) {
        at = S(" for ");
        end = str_find(what, at);
    }
    str first = str_sub(what, 0, end);
    str second = end < what.n ? str_sub(what, end + at.n, what.n) : S("");
    add_fact(r, is_job ? "job" : "employer", without_article(first));
    add_fact(r, is_job ? "employer" : "job", without_article(second));
}

/* "my favourite colour is blue", "my wife's name is Eva": the thing names the fact. */
static bool add_own(struct reading *r, str says)
{
    struct arena *a = &r->ctx->arena;
    str rest = says;
    if (!text_cut_front(&rest, S("my ")) && !text_cut_front(&rest, S("our ")))
        return false;
    for (size_t i = 0; own_verbs[i]; i++) {
        size_t at = str_find(rest, str_of(own_verbs[i]));
        if (at == rest.n)
            continue;
        str thing = str_sub(rest, 0, at), value = str_sub(rest, at + strlen(own_verbs[i]), rest.n);
        if (i < 3)
            thing = str_printf(a, S_FMT " name", S_ARG(thing));
        if (str_ends(thing, S("'s name")))
            thing = str_printf(a, S_FMT " name", S_ARG(str_sub(thing, 0, thing.n - 7)));
        reading_add(r, &thing, 1, value);
        return true;
    }
    return true;
}

/* "has a dog called Olivia". */
static bool add_called(struct reading *r, str says)
{
    struct arena *a = &r->ctx->arena;
    if (!text_cut_front(&says, S("has a ")) && !text_cut_front(&says, S("has an ")))
        return false;
    size_t at = str_find(says, S(" called "));
    if (at == says.n)
        return false;
    str thing = str_printf(a, S_FMT " name", S_ARG(str_sub(says, 0, at)));
    reading_add(r, &thing, 1, str_sub(says, at + strlen(" called "), says.n));
    return true;
}

/* "is 34 years old", "is a nurse", "is vegetarian": the key tells which. */
static bool add_being(struct reading *r, const struct memory *m)
{
    str what = m->content;
    if (!text_cut_front(&what, S("is ")))
        return false;
    if (str_is(m->key, "entity:age"))
        add_fact(r, "age", str_cut(&what, ' '));
    else if (str_is(m->key, "entity:job"))
        add_job(r, without_article(what), true);
    else if (str_is(m->key, "health:diet_food"))
        add_fact(r, "diet", what);
    else
        return false;
    return true;
}

/* The first form that fits: "my …", "has a … called", "is …", then the table of verbs. */
static void add_statement(struct reading *r, const struct memory *m)
{
    const struct statement *s = statements;
    str what = m->content;
    if (add_own(r, what) || add_called(r, what) || add_being(r, m))
        return;
    while (s->says && !text_cut_front(&what, str_of(s->says)))
        s++;
    if (!s->says)
        return;
    if (!strcmp(s->name, "location"))
        add_location(r, what);
    else if (!strcmp(s->name, "job") || !strcmp(s->name, "employer"))
        add_job(r, what, !strcmp(s->name, "job"));
    else if (!strcmp(s->name, "born")) /* "in 1990", or "in Rome" */
        add_fact(r, str_has_digit(what) ? "birthDate" : "birthPlace", what);
    else
        add_fact(r, s->name, what);
}

void read_fact_memory(struct reading *r, const struct memory *m)
{
    r->source++;
    add_statement(r, m);
}

/* Whether what stands before at, in its sentence, speaks of the user alone: "I'm a developer". */
static bool is_about_me(str text, size_t at)
{
    enum { NEAR = 80 };
    size_t from = at;
    while (from && !char_is_one_of(text.p[from - 1], ".!?;\n") && at - from < NEAR)
        from--;
    str before = str_trim(str_sub(text, from, at));
    if (!text_cut_front(&before, S("I'm ")) && !text_cut_front(&before, S("I am ")) &&
        !text_cut_front(&before, S("I\xE2\x80\x99m ")))
        return false;
    return !text_holds(before, " my ") && !text_holds(before, " that ") &&
           !text_holds(before, " who ") && !text_holds(before, ",");
}

/* How people put two statements into one, and what the patterns of extraction know instead. */
static const struct {
    const char *said, *plain;
    bool needs_me;
} ways[] = {
#define PLAIN(said, plain, needs_me) {said, plain, needs_me},
#include "lang/profile_rules.def"
};

/* "I'm a developer living in Rome" becomes "…, I live in Rome", which extraction knows. */
static str in_plain_words(struct arena *a, str text)
{
    struct buf b = buf_make(a, 2 * text.n + 64);
    for (size_t at = 0; at < text.n;) {
        str rest = str_sub(text, at, text.n);
        size_t took = 0;
        bool may_be = rest.p[0] == ' ' || rest.p[0] == 'I';
        for (size_t i = 0; may_be && !took && i < sizeof ways / sizeof *ways; i++) {
            if (!str_starts(rest, str_of(ways[i].said)) ||
                (ways[i].needs_me && !is_about_me(text, at)))
                continue;
            buf_add(&b, str_of(ways[i].plain));
            took = strlen(ways[i].said);
        }
        if (!took)
            buf_byte(&b, text.p[at]);
        at += took ? took : 1;
    }
    return buf_str(&b);
}

/* --- "my e-mail address is" --- */

/* What one says of himself in a form, and seldom in a chat, so that extraction does not know it. */
static void read_own(struct reading *r, str text)
{
    for (size_t at = 0; at < text.n; at++) {
        str rest = str_sub(text, at, text.n);
        bool begins = at == 0 || char_is_one_of(text.p[at - 1], " \n\t(,.;");
        if (!begins || !text_cut_front(&rest, S("my ")))
            continue;
        for (const char *const *thing = own_things; *thing; thing++) {
            str value = rest;
            if (!text_cut_front(&value, str_of(*thing)) ||
                (!text_cut_front(&value, S(" is ")) && !text_cut_front(&value, S(" are "))))
                continue;
            size_t end = 0;
            while (end < value.n && !char_is_one_of(value.p[end], ",;!?\n") &&
                   !(value.p[end] == '.' && (end + 1 == value.n || value.p[end + 1] <= ' ')))
                end++;
            value = str_sub(value, 0, end);
            value = str_sub(value, 0, str_find(value, S(" and ")));
            add_fact(r, *thing, value);
        }
    }
}

/* Extraction writes in the third person ("lives in Rome"), which the table above reads. */
void read_statements(struct reading *r, struct engine *e, str text)
{
    size_t n;
    r->source++;
    if (!text.n)
        return;
    text = in_plain_words(&r->ctx->arena, utf8_cut(text, TEXT_MAX));
    struct memory *v = engine_extract(r->ctx, e, EXTRACT_USER, NULL, text, &n);
    for (size_t i = 0; i < n; i++)
        add_statement(r, &v[i]);
    read_own(r, text);
}
