/* stored.c - stored responses to go on from at the model's server: only the user's own. */
#include "surface/responses/stored.h"

#include "surface/proxy/held.h"
#include "surface/responses/items.h"

static enum status check_conversation(struct ctx *ctx, struct app *app, str user,
                                      const struct json *v)
{
    if (v && v->type == JSON_OBJECT) {
        TRY(held_check_once(ctx, v, "id"));
        v = json_get(v, "id");
    }
    return held_check(ctx, app, user, HELD_CONVERSATION, "conversation", "Conversation with id", v);
}

/* Items that hold all that they say, in the member that says it. Of all others the model's server
 * may look up the id: a reference, thoughts and images that are not in the item, kinds that are not
 * known here. */
static bool is_whole(const struct json *item)
{
    static const struct {
        const char *type, *member;
    } wholes[] = {
        {"message", "content"},
        {"function_call", "arguments"},
        {"custom_tool_call", "input"},
        {"local_shell_call", "action"},
        {"web_search_call", "type"},
        {"tool_search_call", "type"},
        {"compaction", "encrypted_content"},
        {"reasoning", "encrypted_content"},
        {"image_generation_call", "result"},
    };
    str type = item_type(item);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        const struct json *v = json_get(item, wholes[i].member);
        if (str_is(type, wholes[i].type))
            return v && (v->first || json_string(v).n);
    }
    return str_ends(type, S("_output"));
}

static enum status check_item(struct ctx *ctx, struct app *app, str user, const struct json *item)
{
    static const char *const members[] = {"type",    "id",     "role",
                                          "content", "result", "arguments",
                                          "input",   "action", "encrypted_content",
                                          NULL};
    if (item->type != JSON_OBJECT)
        return OK;
    for (const char *const *m = members; *m; m++)
        TRY(held_check_once(ctx, item, *m));
    return is_whole(item) ? OK
                          : held_check(ctx, app, user, HELD_ITEM, "input", "Item with id",
                                       json_get(item, "id"));
}

/* --- files and what holds them --- */

/* One id, or a list of ids. */
static enum status check_kept(struct ctx *ctx, struct app *app, str user, const char *name,
                              const struct json *v)
{
    if (v->type == JSON_STRING)
        return held_check(ctx, app, user, HELD_ITEM, name,
                          "File, container, store or prompt with id", v);
    for (const struct json *one = v->type == JSON_ARRAY ? v->first : NULL; one; one = one->next)
        TRY(check_kept(ctx, app, user, name, one));
    return OK;
}

/* Wherever they may be: in tools and in parts of messages. What is not an id under these names, as
 * in the schema of a tool, is looked through like all else; clients write what they like in the
 * metadata. */
static enum status check_names(struct ctx *ctx, struct app *app, str user, const struct json *in)
{
    static const char *const names[] = {"file_id",          "file_ids",  "vector_store_id",
                                        "vector_store_ids", "container", "container_id",
                                        "skill_id",         "prompt_id"};
    for (const struct json *m = in->first; m; m = m->next) {
        if (in->type == JSON_OBJECT && held_is_named(m, "metadata"))
            continue;
        for (size_t i = 0; in->type == JSON_OBJECT && i < sizeof names / sizeof *names; i++)
            if (held_is_named(m, names[i]))
                TRY(check_kept(ctx, app, user, names[i], m));
        TRY(check_names(ctx, app, user, m));
    }
    return OK;
}

/* By its id, as the conversation. */
static enum status check_prompt(struct ctx *ctx, struct app *app, str user, const struct json *root)
{
    const struct json *prompt = json_get(root, "prompt");
    TRY(held_check_once(ctx, root, "prompt"));
    for (const struct json *m = prompt ? prompt->first : NULL; m; m = m->next)
        if (prompt->type == JSON_OBJECT && held_is_named(m, "id"))
            TRY(check_kept(ctx, app, user, "prompt", m));
    return OK;
}

enum status stored_check(struct ctx *ctx, struct app *app, str user, const struct json *root)
{
    const struct json *input = json_get(root, "input");
    if (root->type != JSON_OBJECT)
        return OK;
    TRY(held_check_once(ctx, root, "previous_response_id"));
    TRY(held_check_once(ctx, root, "input"));
    TRY(held_check_once(ctx, root, "conversation"));
    TRY(held_check(ctx, app, user, HELD_RESPONSE, "previous_response_id",
                   "Previous response with id", json_get(root, "previous_response_id")));
    TRY(check_conversation(ctx, app, user, json_get(root, "conversation")));
    TRY(check_prompt(ctx, app, user, root));
    TRY(check_names(ctx, app, user, root));
    if (!input || input->type != JSON_ARRAY)
        return OK;
    for (const struct json *item = input->first; item; item = item->next)
        TRY(check_item(ctx, app, user, item));
    return OK;
}
