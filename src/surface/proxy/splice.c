/* splice.c - the memory block and the model's name, put into a body byte by byte. */
#include "surface/proxy/splice.h"

/*
 * Bodies are changed by cutting and inserting bytes, never by writing the JSON again. What the
 * client sent stays byte for byte the same, members and number formats that we do not know
 * included. That matters for more than politeness: model servers cache prompts by their prefix, and
 * one changed byte near the front would make every later token be computed, and paid for, again.
 */

/* Places come nearly in order, so an insertion sort is enough. Of two splices at one place the
 * first stays first. */
void splice_at(struct splice *s, const char *at, size_t drop, str put)
{
    const struct cut cut = {at, drop, put};
    size_t i = s->n;
    assert(at >= s->body.p && (size_t)(at - s->body.p) + drop <= s->body.n);
    ARENA_ADD(s->arena, s->cuts, s->n, s->cap) = cut;
    for (; i > 0 && s->cuts[i - 1].at > at; i--)
        s->cuts[i] = s->cuts[i - 1];
    s->cuts[i] = cut;
}

str splice_done(const struct splice *s)
{
    size_t n = s->body.n;
    const char *from = s->body.p, *end = s->body.p + s->body.n;
    if (!s->n)
        return s->body;
    for (size_t i = 0; i < s->n; i++)
        n += s->cuts[i].put.n - s->cuts[i].drop;
    char *p = arena_alloc(s->arena, n + 1), *o = p;
    for (const struct cut *c = s->cuts; c < s->cuts + s->n; c++) {
        assert(c->at >= from); /* no splice begins inside the bytes that another one drops */
        o = mempcpy(o, from, (size_t)(c->at - from));
        o = mempcpy(o, c->put.p, c->put.n);
        from = c->at + c->drop;
    }
    o = mempcpy(o, from, (size_t)(end - from));
    assert(o == p + n);
    return (str){p, n};
}

/* A name without escapes loses only the bytes of its prefix. */
void splice_model(struct splice *s, const struct json *model, str shorter)
{
    str inside = str_sub(model->source, 1, model->source.n - 1);
    assert(model->type == JSON_STRING && str_ends(json_string(model), shorter));
    if (inside.n == json_string(model).n)
        splice_at(s, inside.p, inside.n - shorter.n, S(""));
    else
        splice_at(s, model->source.p, model->source.n, quote_json(s->arena, shorter));
}

/* --- placements --- */

/* Clients mark what is to be cached at any depth (Anthropic's cache_control), so all of the body is
 * searched. */
static bool has_key(const struct json *v, const char *name)
{
    for (const struct json *m = v->first; m; m = m->next)
        if ((v->type == JSON_OBJECT && str_is(json_name(m), name)) || has_key(m, name))
            return true;
    return false;
}

static const struct json *last_of(const struct json *array)
{
    const struct json *last = array->first;
    while (last && last->next)
        last = last->next;
    return last;
}

/* After the last byte of the user's text, or in front of the first one. */
static void beside_text(struct splice *s, const struct json *content, bool is_front, str text)
{
    struct buf b = buf_make(s->arena, text.n * 6 + 16);
    str gap = json_string(content).n ? S("\n\n") : S("");
    const char *at = content->source.p + (is_front ? 1 : content->source.n - 1);
    json_escape(&b, is_front ? text : gap);
    json_escape(&b, is_front ? gap : text);
    splice_at(s, at, 0, buf_str(&b));
}

/* A part of a message that is this quoted text. */
static str text_part(struct arena *a, str quoted)
{
    return JSON_FORM(a, "{'type':'text','text':%}", quoted);
}

/* The same as a part of its own. */
static void beside_parts(struct splice *s, const struct json *content, bool is_front, str text)
{
    const struct json *last = last_of(content);
    str part = text_part(s->arena, quote_json(s->arena, text));
    if (is_front || !last)
        splice_at(s, content->source.p + 1, 0,
                  str_printf(s->arena, S_FMT "%s", S_ARG(part), last ? "," : ""));
    else
        splice_at(s, last->source.p + last->source.n, 0,
                  str_printf(s->arena, "," S_FMT, S_ARG(part)));
}

bool splice_beside(struct splice *s, const struct json *message, bool is_front, str text)
{
    const struct json *content = json_get(message, "content");
    if (content && content->type == JSON_STRING)
        beside_text(s, content, is_front, text);
    else if (content && content->type == JSON_ARRAY)
        beside_parts(s, content, is_front, text);
    else
        return false;
    return true;
}

/* Empty text would be an empty part, which Anthropic's API refuses. */
bool splice_part(struct splice *s, const struct json *message, str text)
{
    const struct json *content = json_get(message, "content");
    struct arena *a = s->arena;
    if (!content || content->type != JSON_STRING)
        return splice_beside(s, message, false, text);
    str part = text_part(a, quote_json(a, text));
    str own = json_string(content).n ? text_part(a, content->source) : S("");
    splice_at(s, content->source.p, content->source.n,
              str_printf(a, "[" S_FMT "%s" S_FMT "]", S_ARG(own), own.n ? "," : "", S_ARG(part)));
    return true;
}

/* A placement beside the user's text falls back to a message of its own when the content is neither
 * text nor parts, such as null. The comma comes behind the message: at is an element of the array,
 * so the list is never empty. */
void splice_block(struct splice *s, const struct json *root, const struct json *messages,
                  const struct json *at, const struct block *block)
{
    bool is_user = block->no_system || block->where == PLACE_FIRST_USER;
    bool is_first = block->where == PLACE_SYSTEM || block->where == PLACE_FIRST_USER;
    if (placement_is_beside(block->where) &&
        splice_beside(s, at, block->where == PLACE_USER_PREFIX, block->text))
        return;
    if (is_first && !has_key(root, "cache_control"))
        at = messages->first;
    splice_at(s, at->source.p, 0,
              JSON_FORM(s->arena, "{'role':'%','content':%},", is_user ? S("user") : S("system"),
                        quote_json(s->arena, block->text)));
}

/* A name is compared in lower case and whole: o1 does not mean o1-pro. */
bool rejects_system(struct arena *a, str name)
{
    static const char *const names[] = {"o1",     "o1-mini", "o1-preview", "glm", "glmt",
                                        "glm-cn", "zai",     "qianfan",    NULL};
    return name_index(names, str_lower(a, str_trim(name)), -1) >= 0;
}
