/* merged_answer.c - chunks and answers with a few bytes changed, so that several read as one. */
#include "surface/proxy/merged_answer.h"

#include "surface/proxy/splice.h"

/*
 * Changes are splices: a chunk or answer keeps every byte that must not change, members that only
 * its model server knows included. Later answers take id and time of the first, their usage is the
 * sum of all, and their role and our calls are left out.
 */
enum { USAGE_MAX = 64 << 10 };

struct merged_answer merged_answer_new(struct ctx *ctx)
{
    return (struct merged_answer){.ctx = ctx, .usage = buf_make(&ctx->arena, USAGE_MAX)};
}

/* --- usage --- */

/* Some servers send "usage": null with each chunk and the numbers in the last one. */
static const struct json *usage_of(const struct json *answer)
{
    const struct json *usage = json_get(answer, "usage");
    return usage && usage->type == JSON_OBJECT ? usage : NULL;
}

void merged_answer_note_usage(struct merged_answer *v, const struct json *answer)
{
    const struct json *usage = usage_of(answer);
    if (!usage)
        return;
    buf_clear(&v->usage);
    buf_add(&v->usage, usage->source);
}

/* The text is copied: the parsed numbers point into it, and the buffer is used again for the next
 * answer. */
void merged_answer_next(struct merged_answer *v)
{
    struct json *usage;
    str text = str_dup(&v->ctx->arena, buf_str(&v->usage));
    if (text.n && soft(v->ctx, json_parse(v->ctx, text, &usage)))
        ARENA_ADD(&v->ctx->arena, v->spent, v->n_spent, v->cap) = usage;
    buf_clear(&v->usage);
    v->is_later = true;
    v->has_text |= v->shows_text;
    v->shows_text = false;
}

/* Counts stay whole numbers; a cost may be a fraction. */
static bool is_whole(const struct json *v)
{
    int64_t n;
    return !v || v->type != JSON_NUMBER || str_int(v->source, &n);
}

static void write_number(struct json_out *w, const struct json *v, const struct json *const *spent,
                         size_t n)
{
    assert(v->type == JSON_NUMBER);
    int64_t sum = json_int_or(v, 0);
    double real = json_num_or(v, 0);
    bool is_int = is_whole(v);
    for (size_t i = 0; i < n; i++) {
        sum += json_int_or(spent[i], 0);
        real += json_num_or(spent[i], 0);
        is_int &= is_whole(spent[i]);
    }
    if (is_int)
        json_int(w, sum);
    else
        json_num(w, real);
}

/* Each number plus the numbers at the same place in the earlier answers. Members are not known by
 * name: model servers add their own. */
static void write_sum(struct arena *a, struct json_out *w, const struct json *v,
                      const struct json *const *spent, size_t n)
{
    if (v->type == JSON_NUMBER)
        write_number(w, v, spent, n);
    else if (v->type != JSON_OBJECT)
        json_raw(w, v->source);
    if (v->type != JSON_OBJECT)
        return;
    const struct json **inside = NEW_N(a, const struct json *, n);
    json_open(w, '{');
    for (const struct json *m = v->first; m; m = m->next) {
        const char *name = str_c(a, json_name(m));
        for (size_t i = 0; i < n; i++)
            inside[i] = json_get(spent[i], name);
        json_key(w, name);
        write_sum(a, w, m, inside, n);
    }
    json_close(w, '}');
}

static void replace_value(struct splice *s, const struct json *v, str put)
{
    if (v)
        splice_at(s, v->source.p, v->source.n, put);
}

/* The client pays for all rounds, so it is shown the sum. When the sum does not fit, the last
 * answer's own numbers stay. */
static void sum_usage(struct merged_answer *v, struct arena *a, struct splice *s,
                      const struct json *answer)
{
    const struct json *usage = usage_of(answer);
    if (!usage || !v->n_spent)
        return;
    struct json_out w = json_in(a, USAGE_MAX);
    write_sum(a, &w, usage, v->spent, v->n_spent);
    if (!w.b->full)
        replace_value(s, usage, buf_str(w.b));
}

/* --- calls and the end --- */

/* The calls in a delta or message without ours; "" when nothing has to change. */
static str client_calls(struct arena *a, const struct json *list, const struct tool_calls *calls)
{
    bool is_list = calls->ours && list && list->type == JSON_ARRAY && list->n;
    return is_list ? tool_calls_of_client(a, calls, list) : S("");
}

/* When all calls were ours, the client sees none, and would wait for a tool with "tool_calls". */
static void mend_end(struct splice *s, const struct json *finish, const struct tool_calls *calls)
{
    if (tool_calls_are_ours(calls) && str_is(json_string(finish), "tool_calls"))
        replace_value(s, finish, S("\"stop\""));
}

/* --- chunks --- */

/* Whether a delta has anything for the client besides the role. */
static bool tells_more(const struct json *delta, bool has_calls)
{
    for (const struct json *m = delta ? delta->first : NULL; m; m = m->next) {
        bool is_empty = m->type == JSON_NULL || (m->type == JSON_STRING && !json_string(m).n) ||
                        ((m->type == JSON_ARRAY || m->type == JSON_OBJECT) && !m->n);
        bool is_left_out = str_is(json_name(m), "tool_calls") && !has_calls;
        if (!is_empty && !is_left_out && !str_is(json_name(m), "role"))
            return true;
    }
    return false;
}

/* When the chunk with the role was hidden, the next one that is shown carries the role. */
static void name_role(struct merged_answer *v, struct splice *s, const struct json *delta)
{
    if (!delta || delta->type != JSON_OBJECT || v->has_role)
        return;
    if (v->owes_role && !json_get(delta, "role"))
        splice_at(s, delta->source.p + 1, 0,
                  delta->n ? S("\"role\":\"assistant\",") : S("\"role\":\"assistant\""));
    v->has_role = v->owes_role || json_get(delta, "role");
}

/* A blank line between the text before a search and the text after it. */
static void part_text(struct merged_answer *v, struct splice *s, const struct json *content)
{
    if (!json_string(content).n)
        return;
    if (v->has_text && !v->shows_text)
        splice_at(s, content->source.p + 1, 0, S("\\n\\n"));
    v->shows_text = true;
}

/* Clients put chunks together by id: the chunks of a later answer take the id of the first one. */
static void name_alike(struct merged_answer *v, struct splice *s, const struct json *chunk)
{
    const struct json *id = json_get(chunk, "id"), *created = json_get(chunk, "created");
    if (v->id.n && v->is_later) {
        replace_value(s, id, v->id);
        if (v->created.n)
            replace_value(s, created, v->created);
    }
    if (v->id.n || !id)
        return;
    v->id = str_dup(&v->ctx->arena, id->source);
    v->created = str_dup(&v->ctx->arena, created ? created->source : S(""));
}

/* A chunk is left out when nothing but the role or our calls was in it. The one that ends the shown
 * answer always goes out, since clients wait for its finish_reason. */
str merged_answer_chunk(struct merged_answer *v, struct arena *a, str text,
                        const struct json *chunk, const struct tool_calls *calls, bool is_hidden)
{
    struct splice s = {.arena = a, .body = text};
    const struct json *choice = json_at(chunk, "choices.0"), *delta = json_get(choice, "delta");
    const struct json *finish = json_get(choice, "finish_reason");
    const struct json *list = json_get(delta, "tool_calls");
    str left = client_calls(a, list, calls);
    bool has_lost_calls = str_is(left, "[]"), names_role = json_get(delta, "role");
    bool may_go = is_hidden || has_lost_calls || (v->has_role && v->is_later && names_role);
    bool ends = !is_hidden && json_string(finish).n;
    if (choice && may_go && !ends && !tells_more(delta, !has_lost_calls)) {
        v->owes_role |= names_role;
        return S("");
    }
    if (left.n)
        replace_value(&s, list, left);
    if (is_hidden)
        replace_value(&s, finish, S("null"));
    else
        mend_end(&s, finish, calls);
    name_role(v, &s, delta);
    part_text(v, &s, json_get(delta, "content"));
    name_alike(v, &s, chunk);
    sum_usage(v, a, &s, chunk);
    return splice_done(&s);
}

/* id and created stay those of the last answer: a client of a whole answer has seen no other. */
str merged_answer_whole(struct merged_answer *v, struct arena *a, str text,
                        const struct json *answer, const struct tool_calls *calls)
{
    struct splice s = {.arena = a, .body = text};
    const struct json *choice = json_at(answer, "choices.0");
    const struct json *list = json_at(choice, "message.tool_calls");
    str left = client_calls(a, list, calls);
    if (left.n)
        replace_value(&s, list, left);
    mend_end(&s, json_get(choice, "finish_reason"), calls);
    sum_usage(v, a, &s, answer);
    return splice_done(&s);
}
