/* chatgpt.c - conversations of a ChatGPT export: trees of messages; one branch is shown. */
#include "ext/import/foreign.h"

/*
 * A conversation is a map of nodes that name their parents. Edited and repeated turns are other
 * branches; the one that ends in current_node is what the user sees, so that one is imported. The
 * program's own notes about the user (custom instructions, saved memories of older exports) are
 * messages, too, and become memories.
 */
SHAPE(chat, (STR, id), (STR, conversation_id), (STR, title, .max = 4096), (STR, current_node),
      (JSON, mapping, .required = true), (JSON, create_time), (BOOL, is_do_not_remember));

ORDER(by_key, typeof(const struct json *), str_cmp(json_name(*x), json_name(*y)))

/* The nodes by name, as a long conversation has thousands. */
static const struct json **sorted_nodes(struct arena *a, const struct json *mapping)
{
    const struct json **v = NEW_N(a, const struct json *, mapping->n + 1);
    size_t n = 0;
    for (const struct json *node = mapping->first; node; node = node->next)
        v[n++] = node;
    SORT(v, n, by_key);
    return v;
}

static const struct json *node_named(const struct json **sorted, size_t n, str name)
{
    const struct json key = {.texts = &name}, *at = &key;
    const struct json **found = n ? bsearch(&at, sorted, n, sizeof *sorted, by_key) : NULL;
    return found ? *found : NULL;
}

/* The shown branch, first message first. Without current_node the last node ends it. */
static const struct json **shown_branch(struct arena *a, const struct chat *c, size_t *n)
{
    size_t all = c->mapping->n;
    const struct json **sorted = sorted_nodes(a, c->mapping);
    const struct json **out = NEW_N(a, const struct json *, all + 1), *node = NULL;
    if (c->current_node.n)
        node = node_named(sorted, all, c->current_node);
    for (const struct json *v = c->mapping->first; v && !c->current_node.n; v = v->next)
        node = v;
    size_t from = all;
    for (; node && from > 0; node = node_named(sorted, all, json_string(json_get(node, "parent"))))
        out[--from] = node;
    *n = all - from;
    return out + from;
}

/* --- one message --- */

/* What the program has noted of the user. */
static enum status give_notes(struct foreign *f, const struct json *content, int64_t at)
{
    static const struct {
        const char *type, *member, *category;
    } notes[] = {
        {"user_editable_context", "user_profile", ""},
        {"user_editable_context", "user_instructions", "preference"},
        {"model_editable_context", "model_set_context", ""},
    };
    str type = json_string(json_get(content, "content_type"));
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (!str_is(type, notes[i].type))
            continue;
        const struct memory like = {.category = str_of(notes[i].category), .created = at};
        TRY(foreign_lines(f, json_string(json_get(content, notes[i].member)), &like));
    }
    return OK;
}

/* Spoken or written by one of the two, and shown to the user. */
static bool is_said(const struct json *message)
{
    static const char *const types[] = {"text", "multimodal_text", NULL};
    str role = json_string(json_at(message, "author.role"));
    str recipient = json_string(json_get(message, "recipient"));
    return (str_is(role, "user") || str_is(role, "assistant")) &&
           (!recipient.n || str_is(recipient, "all")) &&
           !json_is_true(json_at(message, "metadata.is_visually_hidden_from_conversation")) &&
           str_is_one_of(json_string(json_at(message, "content.content_type")), types);
}

static enum status read_message(struct foreign *f, const struct json *message, str node,
                                struct message *out)
{
    str id = json_string(json_get(message, "id"));
    const struct json *parts = json_at(message, "content.parts");
    *out = (struct message){.role = json_string(json_at(message, "author.role")),
                            .ref = id.n ? id : node,
                            .text = parts ? foreign_text_of(&f->ctx->arena, parts, NULL, NULL)
                                          : json_string(json_at(message, "content.text"))};
    return foreign_time(f->ctx, json_get(message, "create_time"), "create_time", &out->created);
}

enum status chatgpt_conversation(struct foreign *f, const struct json *record)
{
    struct arena *a = &f->ctx->arena;
    struct chat c;
    struct session s = {0};
    size_t n, said = 0;
    TRY(fields_read(f->ctx, chat_fields, record, false, &c));
    TRY(foreign_time(f->ctx, c.create_time, "create_time", &s.created));
    if (c.mapping->type != JSON_OBJECT)
        return fail_field(f->ctx, "mapping", "must be an object");
    if (!c.id.n && !c.conversation_id.n)
        return fail_missing(f->ctx, "conversation_id");
    if (c.is_do_not_remember)
        return foreign_skip(f);
    const struct json **branch = shown_branch(a, &c, &n);
    struct message *v = NEW_N(a, struct message, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct json *message = json_get(branch[i], "message");
        if (is_said(message))
            TRY(read_message(f, message, json_name(branch[i]), &v[said++]));
    }
    for (size_t i = 0; i < n; i++)
        TRY(give_notes(f, json_at(branch[i], "message.content"), s.created));
    s.id = foreign_session_id(f, c.conversation_id.n ? c.conversation_id : c.id);
    s.title = c.title;
    return said ? foreign_session(f, &s, v, said) : OK;
}
