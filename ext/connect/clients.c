/* clients.c - the table of programs that can be connected, and the words of their entries. */
#include "ext/connect/clients.h"

#include "ext/connect/connect.h"

/*
 * One row is a program, and below it one row for each entry: where the file is, where in it the
 * entry goes, and what it says. All programs call a server by the same few members under other
 * names, and all hooks have Claude Code's shape, so two writers make all JSON.
 */

enum { COMMAND_MAX = 8192 };

/* --- a server for tools --- */

static void write_headers(struct json_out *w, struct ctx *ctx, const struct target_server *to)
{
    if (!to->token.n && !to->space.n)
        return;
    json_member_open(w, "headers", '{');
    if (to->token.n)
        json_member_str(w, "Authorization",
                        str_printf(&ctx->arena, "Bearer " S_FMT, S_ARG(to->token)));
    if (to->space.n)
        json_member_str(w, "X-Memory-Space", to->space);
    json_close(w, '}');
}

static str tools_url(struct ctx *ctx, const struct target_server *to)
{
    return str_printf(&ctx->arena, S_FMT "/mcp", S_ARG(to->url));
}

static void write_remote(struct ctx *ctx, const struct client_entry *e,
                         const struct target_server *to, struct buf *out)
{
    struct json_out w = json_to(out);
    json_open(&w, '{');
    if (e->type)
        json_member_str(&w, "type", str_of(e->type));
    json_member_str(&w, e->url_name, tools_url(ctx, to));
    if (e->is_enabled)
        json_member_bool(&w, "enabled", true);
    write_headers(&w, ctx, to);
    json_close(&w, '}');
}

SHAPE(started, (STR, command), (STRS, args));

static void write_started(UNUSED struct ctx *ctx, UNUSED const struct client_entry *e,
                          const struct target_server *to, struct buf *out)
{
    struct json_out w = json_to(out);
    const str flags[] = {S("--data"), to->data, S("--space"), to->space};
    str args[5] = {S("mcp")};
    size_t n = 1;
    for (size_t i = 0; i < 4; i += 2)
        if (flags[i + 1].n) {
            args[n++] = flags[i];
            args[n++] = flags[i + 1];
        }
    fields_write(&w, started_fields, &(struct started){to->program, {args, n}});
}

static void add_toml(struct buf *out, const char *key, str value)
{
    buf_printf(out, "%s = \"", key);
    json_escape(out, value); /* the same escapes */
    buf_add(out, S("\"\n"));
}

/* The token stays in the environment: that is how this client wants it. */
static void write_table(struct ctx *ctx, UNUSED const struct client_entry *e,
                        const struct target_server *to, struct buf *out)
{
    add_toml(out, "url", tools_url(ctx, to));
    if (to->token.n)
        add_toml(out, "bearer_token_env_var", S(TOKEN_VARIABLE));
    if (to->space.n) {
        buf_add(out, S("http_headers = { \"X-Memory-Space\" = \""));
        json_escape(out, to->space);
        buf_add(out, S("\" }\n"));
    }
}

/* --- a hook --- */

str shell_word(struct arena *a, str word)
{
    struct buf b = buf_make(a, 4 * word.n + 2);
    bool is_plain =
        word.n > 0 &&
        EVERY(i, word.n,
              char_is_one_of(word.p[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789/._-:@%+=,"));
    if (is_plain)
        return word;
    buf_byte(&b, '\'');
    for (size_t i = 0; i < word.n; i++)
        buf_add(&b, word.p[i] == '\'' ? S("'\\''") : str_sub(word, i, i + 1));
    buf_byte(&b, '\'');
    return buf_str(&b);
}

static str hook_command(struct ctx *ctx, const struct target_server *to)
{
    struct arena *a = &ctx->arena;
    struct buf b = buf_make(a, COMMAND_MAX);
    buf_printf(&b, S_FMT " hook", S_ARG(shell_word(a, to->program)));
    if (to->is_far)
        buf_printf(&b, " --url " S_FMT, S_ARG(shell_word(a, to->url)));
    if (to->space.n)
        buf_printf(&b, " --space " S_FMT, S_ARG(shell_word(a, to->space)));
    return buf_str(&b);
}

static void write_hook(struct ctx *ctx, const struct client_entry *e,
                       const struct target_server *to, struct buf *out)
{
    buf_add(out, S("{\"hooks\":[{\"type\":\"command\",\"command\":\""));
    json_escape(out, hook_command(ctx, to));
    buf_printf(out, "\",\"timeout\":%lld}]}", (long long)e->timeout);
}

/* "/usr/bin/rememberd hook --url …"; shell_word writes a path with a space in quotes. A downloaded
 * program is called rememberd-VERSION-MACHINE, and this one may have any name. */
static bool runs_hook(str command, str own)
{
    static const str word = S(" hook");
    bool is_own = str_starts(command, own) && str_starts(str_sub(command, own.n, command.n), word);
    size_t at = is_own ? own.n : str_find(command, word);
    str program = str_sub(command, 0, at), rest = str_sub(command, at, command.n);
    size_t name = str_behind_last(program, '/');
    bool is_one_word = str_starts(program, S("'")) || str_find(program, S(" ")) == program.n;
    bool is_named = is_one_word && str_starts(str_sub(program, name, program.n), S("rememberd"));
    return (is_named || str_eq(program, own)) &&
           (rest.n == word.n || str_starts(rest, S(" hook ")));
}

/* Nothing but ours: what someone has put beside it stays. */
static bool is_own_hook(const struct json *element, str program)
{
    const struct json *hooks = json_get(element, "hooks");
    return hooks && hooks->type == JSON_ARRAY && hooks->n == 1 &&
           runs_hook(json_string(json_get(hooks->first, "command")), program);
}

/* --- the table --- */

#define SERVER(IN, URL) .place = {IN ".rememberd", NULL}, .write = write_remote, .url_name = URL
#define HOOK(VARIABLE, FOLDER, FILE, EVENT, TIMEOUT)                                               \
    {                                                                                              \
        VARIABLE, FOLDER, FILE, .place = {"hooks." EVENT, is_own_hook}, .write = write_hook,       \
                                .timeout = TIMEOUT                                                 \
    }
#define CONFIG_HOME "XDG_CONFIG_HOME"

const struct client clients[] = {
    {"claude-code", "Claude Code: tools and hooks",
     .entries = {{"CLAUDE_CONFIG_DIR", "", ".claude.json", SERVER("mcpServers", "url"),
                  .type = "http"},
                 HOOK("CLAUDE_CONFIG_DIR", ".claude", "settings.json", "UserPromptSubmit", 5),
                 HOOK("CLAUDE_CONFIG_DIR", ".claude", "settings.json", "Stop", 5),
                 HOOK("CLAUDE_CONFIG_DIR", ".claude", "settings.json", "PreCompact", 5)}},
    {"claude-desktop", "Claude Desktop: tools",
     .entries = {{CONFIG_HOME, ".config", "Claude/claude_desktop_config.json",
                  .place = {"mcpServers.rememberd", NULL}, .write = write_started}},
     .is_local = true,
     .after = "Claude Desktop starts rememberd itself: as the user local, without a token."},
    {"codex", "Codex: tools and hooks",
     .entries = {{"CODEX_HOME", ".codex", "config.toml", .table = "mcp_servers.rememberd",
                  .write = write_table},
                 HOOK("CODEX_HOME", ".codex", "hooks.json", "UserPromptSubmit", 5),
                 HOOK("CODEX_HOME", ".codex", "hooks.json", "Stop", 5),
                 HOOK("CODEX_HOME", ".codex", "hooks.json", "PreCompact", 5)},
     .after = "Codex runs new hooks once you trust them: type /hooks in Codex."},
    {"cursor", "Cursor: tools",
     .entries = {{NULL, ".cursor", "mcp.json", SERVER("mcpServers", "url")}}},
    {"gemini", "Gemini CLI: tools and hooks",
     .entries = {{NULL, ".gemini", "settings.json", SERVER("mcpServers", "url"), .type = "http"},
                 HOOK(NULL, ".gemini", "settings.json", "BeforeAgent", 5000), /* milliseconds */
                 HOOK(NULL, ".gemini", "settings.json", "AfterAgent", 5000),
                 HOOK(NULL, ".gemini", "settings.json", "PreCompress", 5000)}},
    {"opencode", "opencode: tools",
     .entries = {{CONFIG_HOME, ".config", "opencode/opencode.json", SERVER("mcp", "url"),
                  .type = "remote", .is_enabled = true}}},
    {"vscode", "VS Code: tools",
     .entries = {{CONFIG_HOME, ".config", "Code/User/mcp.json", SERVER("servers", "url"),
                  .type = "http"}}},
    {"windsurf", "Windsurf: tools",
     .entries = {{NULL, ".codeium/windsurf", "mcp_config.json",
                  SERVER("mcpServers", "serverUrl")}}},
    {"zed", "Zed: tools",
     .entries = {{CONFIG_HOME, ".config", "zed/settings.json", SERVER("context_servers", "url")}}},
    {0},
};

/* A variable names the folder itself, or for XDG_CONFIG_HOME what is .config without it. */
enum status entry_path(struct ctx *ctx, const struct client_entry *e, str *out)
{
    const char *named = e->variable ? getenv(e->variable) : NULL, *home = getenv("HOME");
    if (named && *named == '/') {
        *out = str_printf(&ctx->arena, "%s/%s", named, e->file);
        return OK;
    }
    if (!home || *home != '/')
        return fail(ctx, BAD_INPUT, "the variable HOME must name your home folder");
    *out = str_printf(&ctx->arena, "%s/%s%s%s", home, e->folder, *e->folder ? "/" : "", e->file);
    return OK;
}
