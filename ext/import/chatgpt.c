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

static const struct json *node_named(const struct json **sorted, size_t n, str name)
{
    const struct json key = {.texts = &name}, *at = &key;
    const struct json **found = n ? bsearch(&at, sorted, n, sizeof *sorted, by_key) : NULL;
    return found ? *found : NULL;
}

/* The shown branch, first message first. Without current_node the last node ends it. Nodes are
 * sorted by name, as a long conversation has thousands. */
static const struct json **shown_branch(struct arena *a, const struct chat *c, size_t *n)
{
    size_t all = c->mapping->n, from = all, i = 0;
    const struct json **sorted = NEW_N(a, const struct json *, all + 1), *node = NULL;
    const struct json **out = NEW_N(a, const struct json *, all + 1);
    for (const struct json *v = c->mapping->first; v; v = v->next)
        sorted[i++] = node = v;
    SORT(sorted, all, by_key);
    if (c->current_node.n)
        node = node_named(sorted, all, c->current_node);
    for (; node && from > 0; node = node_named(sorted, all, text_in(node, "parent")))
        out[--from] = node;
    *n = all - from;
    return out + from;
}

/* What the program has noted of the user. */
static enum status give_notes(struct foreign *f, const struct json *content, int64_t at)
{
    const struct memory note = {.created = at};
    const struct memory wish = {.category = S("preference"), .created = at};
    str type = text_in(content, "content_type");
    if (str_is(type, "user_editable_context")) {
        TRY(foreign_lines(f, text_in(content, "user_profile"), &note));
        return foreign_lines(f, text_in(content, "user_instructions"), &wish);
    }
    bool is_model = str_is(type, "model_editable_context");
    return is_model ? foreign_lines(f, text_in(content, "model_set_context"), &note) : OK;
}

/* Spoken or written by one of the two, and shown to the user. */
static bool is_said(const struct json *message)
{
    static const char *const types[] = {"text", "multimodal_text", NULL};
    str role = text_in(message, "author.role");
    str recipient = text_in(message, "recipient");
    return (str_is(role, "user") || str_is(role, "assistant")) &&
           (!recipient.n || str_is(recipient, "all")) &&
           !json_is_true(json_at(message, "metadata.is_visually_hidden_from_conversation")) &&
           str_is_one_of(text_in(message, "content.content_type"), types);
}

static enum status read_message(struct foreign *f, const struct json *message, str node,
                                struct message *out)
{
    str id = text_in(message, "id");
    const struct json *parts = json_at(message, "content.parts");
    *out = (struct message){.role = text_in(message, "author.role"), .ref = id.n ? id : node};
    out->text = parts ? foreign_text_of(&f->ctx->arena, parts, NULL, NULL)
                      : text_in(message, "content.text");
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
