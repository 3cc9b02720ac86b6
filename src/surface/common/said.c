/* said.c - the messages of a chat's request as text. */
#include "surface/common/said.h"

#include "core/tokens.h"

bool json_says(const struct json *v, const char *path, const char *text)
{
    return str_is(json_string(json_at(v, path)), text);
}

/* OpenAI's APIs wrap what describes a function, Anthropic's does not. */
bool offers_tool(const struct json *root, const char *name)
{
    const struct json *tools = json_get(root, "tools");
    for (const struct json *t = tools && tools->n ? tools->first : NULL; t; t = t->next)
        if (json_says(t, "name", name) || json_says(t, "function.name", name) ||
            json_says(t, "custom.name", name))
            return true;
    return false;
}

bool role_is_system(str role)
{
    return str_is(role, "system") || str_is(role, "developer");
}

/* A tool's result or a file may bring text in a user's message, which is not the user's words. */
static bool is_text_part(const struct json *part)
{
    static const char *const kinds[] = {"text", "input_text", "output_text", NULL};
    str kind = json_string(json_get(part, "type"));
    return !kind.n || name_index(kinds, kind, -1) >= 0;
}

str text_of_content(struct arena *a, const struct json *content)
{
    if (!content || content->type != JSON_ARRAY)
        return json_string(content);
    struct buf b = buf_make(a, content->source.n);
    bool is_first = true;
    for (const struct json *part = content->first; part; part = part->next) {
        const struct json *text = json_get(part, "text");
        if (!text || text->type != JSON_STRING || !is_text_part(part))
            continue;
        buf_add(&b, is_first ? S("") : S("\n"));
        buf_add(&b, json_string(text));
        is_first = false;
    }
    return buf_str(&b);
}

bool said_read(struct ctx *ctx, const struct json *messages, struct said **out, size_t *n)
{
    if (!messages || messages->type != JSON_ARRAY || !messages->n)
        return false;
    struct said *said = NEW_N(&ctx->arena, struct said, messages->n);
    *n = 0;
    for (const struct json *m = messages->first; m; m = m->next) {
        said[*n].role = json_string(json_get(m, "role"));
        said[*n].text = text_of_content(&ctx->arena, json_get(m, "content"));
        said[*n].name = json_string(json_get(m, "name"));
        if (!said[(*n)++].role.n)
            return false;
    }
    *out = said;
    return true;
}

str said_question(const struct said *said, size_t n)
{
    while (n-- > 0)
        if (str_is(said[n].role, "user"))
            return said[n].text;
    return S("");
}

int64_t said_tokens(const struct said *said, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tokens_of(said[i].text);
    return sum;
}
