/* stored.c - stored responses to go on from at the model's server: only the user's own. */
#include "surface/responses/stored.h"

#include "surface/common/auth.h"
#include "surface/responses/items.h"

/*
 * With the server's key all users are one account of the model's server, where an id is enough to
 * have the model read out what it names. So a client without a key of its own may only name what it
 * has made itself, as the engine has noted it. Others' ids and unknown ones get the same answer.
 * The body is not changed, so a member that is there twice is refused: the model's server might
 * read the other one.
 */

bool stored_is_guarded(const struct request *in, const struct identity *who)
{
    return !auth_has_own_key(in) && !auth_is_for_operator(who);
}

static enum status check_once(struct ctx *ctx, const struct json *object, const char *name)
{
    size_t n = 0;
    for (const struct json *m = object->first; m; m = m->next)
        n += str_is(json_name(m), name);
    return n < 2 ? OK : fail_field(ctx, name, "must be there once");
}

static enum status refuse_id(struct ctx *ctx, const char *field, const char *what, str id)
{
    ctx_clear_failure(ctx);
    fail(ctx, NOT_FOUND,
         "%s '" S_FMT "' not found: with the server's key a request goes on from what its own user "
         "has made here. Send the whole conversation, or your own key for the model server in "
         "X-Upstream-Authorization",
         what, S_ARG(id));
    snprintf(ctx->field, sizeof ctx->field, "%s", field);
    return NOT_FOUND;
}

static const struct {
    const char *field, *what;
} kinds[] = {
    [HELD_RESPONSE] = {"previous_response_id", "Previous response with id"},
    [HELD_ITEM] = {"input", "Item with id"},
    [HELD_CONVERSATION] = {"conversation", "Conversation with id"},
};

/* null is the same as an absent member. */
static enum status check_id(struct ctx *ctx, struct app *app, str user, enum held_kind kind,
                            const struct json *id)
{
    const char *field = kinds[kind].field;
    if (!id || id->type == JSON_NULL)
        return OK;
    if (id->type != JSON_STRING)
        return fail_field(ctx, field, "must be an id");
    enum status s = engine_may_follow(ctx, app->engine, user, kind, json_string(id));
    return s == NOT_FOUND ? refuse_id(ctx, field, kinds[kind].what, json_string(id)) : s;
}

static enum status check_conversation(struct ctx *ctx, struct app *app, str user,
                                      const struct json *v)
{
    if (v && v->type == JSON_OBJECT) {
        TRY(check_once(ctx, v, "id"));
        v = json_get(v, "id");
    }
    return check_id(ctx, app, user, HELD_CONVERSATION, v);
}

/* Items that hold all that they say. Of all others the model's server may look up the id: a
 * reference, thoughts and images that are not in the item, kinds that are not known here. */
static bool is_whole(const struct json *item)
{
    static const char *const types[] = {"message",          "function_call",
                                        "custom_tool_call", "local_shell_call",
                                        "web_search_call",  "tool_search_call",
                                        "compaction",       NULL};
    str type = item_type(item);
    if (str_is(type, "reasoning"))
        return json_string(json_get(item, "encrypted_content")).n > 0;
    if (str_is(type, "image_generation_call"))
        return json_string(json_get(item, "result")).n > 0;
    return name_index(types, type, -1) >= 0 || str_ends(type, S("_output"));
}

static enum status check_item(struct ctx *ctx, struct app *app, str user, const struct json *item)
{
    static const char *const members[] = {"type",   "id", "role", "encrypted_content",
                                          "result", NULL};
    if (item->type != JSON_OBJECT)
        return OK;
    for (const char *const *m = members; *m; m++)
        TRY(check_once(ctx, item, *m));
    return is_whole(item) ? OK : check_id(ctx, app, user, HELD_ITEM, json_get(item, "id"));
}

enum status stored_check(struct ctx *ctx, struct app *app, str user, const struct json *root)
{
    const struct json *input = json_get(root, "input");
    if (root->type != JSON_OBJECT)
        return OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        TRY(check_once(ctx, root, kinds[i].field));
    TRY(check_id(ctx, app, user, HELD_RESPONSE, json_get(root, "previous_response_id")));
    TRY(check_conversation(ctx, app, user, json_get(root, "conversation")));
    if (!input || input->type != JSON_ARRAY)
        return OK;
    for (const struct json *item = input->first; item; item = item->next)
        TRY(check_item(ctx, app, user, item));
    return OK;
}
