/* items.c - the input of a response as a conversation: who said what, and where. */
#include "surface/responses/items.h"

#include "surface/common/said.h"

/*
 * The input is a list of items, of which messages are one kind; clients leave out the type of a
 * message, and a text alone is one message of the user. Each item becomes one said message: tools'
 * results are a tool's words, and all else that is no message is the model's doing, without a text.
 * Reasoning, calls and references to earlier items are among these.
 *
 * A block of memory is an item of its own, directly behind the user's: items that belong together,
 * such as a call and its result, have no message of the user between them.
 */

/* What Codex sends in the user's name. Of these the summary is the model's, and stands for all that
 * was said before it. */
static const struct {
    const char *opening, *role;
} wrappers[] = {
    {"# AGENTS.md instructions for", "developer"},
    {"<environment_context>", "developer"},
    {"<user_instructions>", "developer"},
    {"<permissions instructions>", "developer"},
    {"<turn_aborted>", "developer"},
    {"<skill>", "developer"},
    {"Another language model started to solve this problem", "assistant"},
};

static str role_of_words(str role, str text, bool is_codex)
{
    text = str_trim(text);
    for (size_t i = 0; is_codex && i < sizeof wrappers / sizeof *wrappers; i++)
        if (str_is(role, "user") && str_starts(text, str_of(wrappers[i].opening)))
            return str_of(wrappers[i].role);
    return role;
}

str item_type(const struct json *item)
{
    str type = json_string(json_get(item, "type"));
    return type.n ? type : json_get(item, "role") ? S("message") : S("item_reference");
}

/* What an item says. */
static void add_item(struct arena *a, const struct json *item, bool is_codex, struct talk *out)
{
    str type = item_type(item);
    if (str_is(type, "message")) {
        str text = text_of_content(a, json_get(item, "content"));
        str role = role_of_words(json_string(json_get(item, "role")), text, is_codex);
        talk_add(out, role, text, item);
    } else if (str_ends(type, S("_output"))) {
        talk_add(out, S("tool"), text_of_content(a, json_get(item, "output")), item);
    } else {
        talk_add(out, S("assistant"), S(""), item);
    }
}

bool items_read(struct arena *a, const struct json *root, bool is_codex, struct talk *out)
{
    const struct json *input = json_get(root, "input");
    str instructions = json_string(json_get(root, "instructions"));
    bool is_text = input && input->type == JSON_STRING;
    if (!is_text && (!input || input->type != JSON_ARRAY || !input->n))
        return false;
    size_t most = is_text ? 2 : input->n + 1;
    *out = (struct talk){NEW_N(a, struct said, most), NEW_N(a, const struct json *, most), 0};
    if (instructions.n)
        talk_add(out, S("system"), instructions, NULL);
    if (is_text) {
        talk_add(out, S("user"), json_string(input), input);
        return true;
    }
    for (const struct json *item = input->first; item; item = item->next) {
        if (item->type != JSON_OBJECT)
            return false;
        add_item(a, item, is_codex, out);
    }
    assert(out->n <= most);
    return true;
}

/* --- where a block goes --- */

/* A text becomes the one item that it means. Some clients read the stored items and send them
 * back. */
void items_put(struct splice *s, const struct json *place, const char *role, str block)
{
    struct arena *a = s->arena;
    assert(place && block.n);
    str item =
        JSON_FORM(a, "{'type':'message','role':'%','content':[{'type':'input_text','text':%}]}",
                  str_of(role), quote_json(a, block));
    if (place->type == JSON_STRING)
        splice_at(s, place->source.p, place->source.n,
                  JSON_FORM(a, "[{'type':'message','role':'user','content':%},%]", place->source,
                            item));
    else if (!place->next || place->next->type != JSON_OBJECT ||
             !str_eq(text_of_content(a, json_get(place->next, "content")), block))
        splice_at(s, place->source.p + place->source.n, 0, str_printf(a, "," S_FMT, S_ARG(item)));
}
