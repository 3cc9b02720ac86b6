/* settings.c - where settings come from and which one wins. */
#include "app/options.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <unistd.h>

#include "t.h"

static enum status load(struct ctx *ctx, struct settings *s, int n, ...)
{
    struct options o;
    char *argv[16];
    va_list args;
    va_start(args, n);
    for (int i = 0; i < n; i++)
        argv[i] = va_arg(args, char *);
    va_end(args);
    ctx_clear_failure(ctx);
    enum status status = options_read(ctx, n, argv, &o);
    *s = o.settings;
    return status;
}

TEST(flags_win_over_environment_over_defaults)
{
    struct settings s;
    setenv("REMEMBERD_BUDGET_TOKENS", "111", 1);
    setenv("REMEMBERD_RECALL_LIMIT", "5", 1);
    CHECK_OK(load(ctx, &s, 4, "serve", "--budget-tokens", "222", "--memory=off"));
    unsetenv("REMEMBERD_BUDGET_TOKENS");
    unsetenv("REMEMBERD_RECALL_LIMIT");
    CHECK_INT(s.budget_tokens, 222);
    CHECK_INT(s.recall_limit, 5);
    CHECK(!s.memory);
    CHECK_STR(s.listen, S("127.0.0.1:7077"));
}

TEST(upstreams_are_chosen_by_prefix)
{
    struct settings s;
    CHECK_OK(load(ctx, &s, 4, "--upstream", "http://a/v1/", "--upstream", "ollama=http://b:1/x=y"));
    str model = S("ollama/llama3.2:1b");
    CHECK_STR(settings_upstream(&s, &model)->url, S("http://b:1/x=y"));
    CHECK_STR(model, S("llama3.2:1b"));
    model = S("meta-llama/Llama-3");
    CHECK_STR(settings_upstream(&s, &model)->url, S("http://a/v1"));
    CHECK_STR(model, S("meta-llama/Llama-3"));
}

TEST(the_help_of_a_setting_names_its_values)
{
    for (const struct field *f = settings_table; f->name; f++)
        for (const char *const *one = f->one_of; one && *one; one++)
            CHECK(holds(str_of(f->help), *one));
}

/* --- the page of settings --- */

/* The item of a list in 100 columns; code is not broken. */
static void wrap_item(struct buf *b, str item)
{
    bool is_code = false;
    size_t line = b->n, space = 0;
    for (size_t i = 0; i < item.n; i++) {
        is_code ^= item.p[i] == '`';
        if (item.p[i] == ' ' && !is_code)
            space = b->n;
        buf_byte(b, item.p[i]);
        if (space > line && utf8_length(str_sub(buf_str(b), line, b->n)) > 100) {
            str rest = str_printf(b->arena, S_FMT, S_ARG(str_sub(buf_str(b), space + 1, b->n)));
            b->n = space;
            buf_printf(b, "\n  " S_FMT, S_ARG(rest));
            line = space + 1;
        }
    }
    buf_byte(b, '\n');
}

static void add_page_row(struct buf *page, const struct setting_row *row, const struct settings *s)
{
    const struct field *f = row->field ? row->field : row->live;
    struct buf item = buf_make(page->arena, 4096), *b = &item;
    buf_printf(b, "- `%s` (`", row->name);
    row_print(b, f, s);
    if (f->type == FIELD_BOOL)
        buf_add(b, *(const bool *)((const char *)s + f->at) ? S("true") : S("false"));
    if (b->p[b->n - 1] == '`') /* an empty default */
        b->n -= strlen(" (`");
    else
        buf_add(b, S("`)"));
    str help = str_of(f->help), values = S(": `on` or `off`"); /* the default says so */
    size_t at = f->type == FIELD_BOOL || f->type == FIELD_SWITCH ? str_find(help, values) : help.n;
    buf_add(b, S(": "));
    buf_add(b, str_sub(help, 0, at));
    buf_add(b, str_sub(help, at < help.n ? at + values.n : at, help.n));
    buf_printf(b, "%s%s", row->see ? ". " : "", row->see ? row->see : "");
    CHECK(!b->full);
    wrap_item(page, buf_str(b));
}

/* The list of a section, without settings for clients of one other product; --help-all has those.
 */
static void add_page_list(struct buf *b, int section, const char *title, const struct settings *s)
{
    buf_printf(b, "%s## %s\n\n", section ? "\n" : "", title);
    for (const struct setting_row *row = settings_rows; row->name; row++) {
        int own = (int)(row->field ? row->field : row->live)->group;
        if (!row->product && own == section)
            add_page_row(b, row, s);
    }
}

/* What tools/settings-page puts behind the head of the page, which is written by hand. */
static str page_tables(struct ctx *ctx)
{
    struct buf b = buf_make(&ctx->arena, 1 << 17);
    struct settings s;
    settings_defaults(&s);
    for (int section = 0; settings_sections[section].title; section++)
        add_page_list(&b, section, settings_sections[section].title, &s);
    return buf_str(&b);
}

TEST(the_page_of_settings_is_made_from_the_table)
{
    static char page[1 << 17];
    bool writes = getenv("SETTINGS_PAGE_WRITE") != NULL;
    FILE *f = fopen(SOURCE_ROOT "/docs/reference/settings.md", writes ? "r+e" : "re");
    CHECK(f);
    str text = {page, fread(page, 1, sizeof page, f)}, tables = page_tables(ctx);
    size_t head = str_find(text, str_printf(&ctx->arena, "## %s\n", settings_sections[0].title));
    if (writes) {
        CHECK(!fseek(f, (long)head, SEEK_SET) && !ftruncate(fileno(f), (off_t)head));
        CHECK_INT(fwrite(tables.p, 1, tables.n, f), tables.n);
    }
    fclose(f);
    if (!writes && !str_eq(str_sub(text, head, text.n), tables))
        fail_msg("docs/reference/settings.md is not what the table gives: run tools/settings-page");
}

TEST(the_old_name_of_a_value_is_read_and_noted)
{
    struct settings s;
    CHECK_OK(load(ctx, &s, 2, "--extraction", "seed"));
    CHECK_INT(s.extraction, EXTRACT_TABLE);
    CHECK_INT(s.notes.n, 1);
    CHECK_STR(s.notes.v[0], S("extraction 'seed' is called 'omniroute' now"));
    CHECK_OK(load(ctx, &s, 2, "--extraction", "omniroute"));
    CHECK_INT(s.notes.n, 0);
}

TEST(an_unknown_variable_is_noted_and_a_similar_setting_named)
{
    struct settings s;
    setenv("REMEMBERD_RECAL_LIMIT", "5", 1);
    CHECK_OK(load(ctx, &s, 0));
    unsetenv("REMEMBERD_RECAL_LIMIT");
    CHECK_INT(s.notes.n, 1);
    CHECK_STR(s.notes.v[0], S("the variable REMEMBERD_RECAL_LIMIT is not a known setting; "
                              "did you mean REMEMBERD_RECALL_LIMIT?"));
}

TEST(every_setting_has_a_group_and_prints_under_it)
{
    struct settings s = {0};
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    settings_defaults(&s);
    settings_print(&b, &s, false);
    for (const struct field *f = settings_table; f->name; f++) {
        str line = str_printf(&ctx->arena, "\n%s = ", f->name);
        CHECK(f->help && settings_sections[f->group].group);
        CHECK(str_find(buf_str(&b), line) < b.n);
    }
}

TEST(a_wrong_setting_is_named)
{
    struct settings s;
    CHECK_STATUS(load(ctx, &s, 2, "--nonsense", "1"), BAD_INPUT);
    CHECK_STR(str_of(ctx->why), S("unknown flag --nonsense"));
    CHECK_STATUS(load(ctx, &s, 1, "--recall-limit"), BAD_INPUT);
    CHECK_STR(str_of(ctx->why), S("--recall-limit needs a value"));
    CHECK_STATUS(load(ctx, &s, 2, "--recall-limit", "1000"), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("--recall-limit"));
    CHECK_STATUS(load(ctx, &s, 2, "--upstream", "ftp://x"), BAD_INPUT);
    CHECK_STATUS(load(ctx, &s, 2, "--upstream", "https://me:secret@x/v1"), BAD_INPUT);
    CHECK(str_find(str_of(ctx->why), S("secret")) == strlen(ctx->why));
    CHECK_OK(load(ctx, &s, 2, "--upstream", "https://x/v1/@here"));
    setenv("REMEMBERD_MEMORY", "maybe", 1);
    CHECK_STATUS(load(ctx, &s, 0), BAD_INPUT);
    unsetenv("REMEMBERD_MEMORY");
    CHECK_STR(str_of(ctx->field), S("REMEMBERD_MEMORY"));
}

static enum status load_file(struct ctx *ctx, struct settings *s, const char *text)
{
    char path[] = "/tmp/rememberd-settings-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    enum status status = load(ctx, s, 2, "--config", path);
    unlink(path);
    return status;
}

TEST(an_upstream_of_the_file_has_its_dialect)
{
    struct settings s;
    CHECK_OK(load_file(ctx, &s,
                       "{\"core_tokens_per_hour\": 5, \"upstreams\": [{\"url\": \"http://a\"},"
                       "{\"name\": \"b\", \"url\": \"http://b\", \"dialect\": \"anthropic\"}]}"));
    CHECK(s.n_upstreams == 2 && s.core_tokens_per_hour == 5 && s.core_max_tokens == 4000);
    CHECK_STR(s.upstreams[0].dialect, S(""));
    CHECK_STR(s.upstreams[1].dialect, S("anthropic"));
    CHECK_STATUS(load_file(ctx, &s,
                           "{\"upstreams\": [{\"url\": \"http://a\", \"dialect\": \"other\"}]}"),
                 BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("upstreams.dialect"));
}

TEST(a_switch_of_cortex_is_off_however_it_says_so)
{
    static const struct {
        const char *value;
        bool setting;
    } cases[] = {{"false", false}, {"False", false}, {"0", false}, {"True", true}, {"", true}};
    struct settings s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("MEMORY_DEDUP_LLM_CHECK_ENABLED", cases[i].value, 1);
        CHECK_OK(load(ctx, &s, 0));
        CHECK_INT(s.dedup_llm, cases[i].setting);
    }
    unsetenv("MEMORY_DEDUP_LLM_CHECK_ENABLED");
}

TEST(names_of_omniroute_are_known_and_ours_win)
{
    struct settings s;
    setenv("MEMORY_EMBEDDING_CACHE_MAX", "7", 1);
    setenv("MEMORY_EMBEDDING_CACHE_TTL_MS", "70", 1);
    setenv("HF_HUB_ENDPOINT", "https://mirror.example", 1);
    setenv("REMEMBERD_EMBEDDING_CACHE_TTL_MS", "80", 1);
    CHECK_OK(load(ctx, &s, 0));
    CHECK_INT(s.embedding_cache_max, 7);
    CHECK_INT(s.embedding_cache_ttl_ms, 80);
    CHECK_STR(s.model_url, S("https://mirror.example"));
    CHECK_STR(s.static_model, S("minishlab/potion-base-8M"));
    setenv("MEMORY_EMBEDDING_CACHE_MAX", "many", 1);
    CHECK_STATUS(load(ctx, &s, 0), BAD_INPUT);
    CHECK_STR(str_of(ctx->field), S("MEMORY_EMBEDDING_CACHE_MAX"));
    unsetenv("MEMORY_EMBEDDING_CACHE_MAX");
    unsetenv("MEMORY_EMBEDDING_CACHE_TTL_MS");
    unsetenv("HF_HUB_ENDPOINT");
    unsetenv("REMEMBERD_EMBEDDING_CACHE_TTL_MS");
}

TEST(a_file_is_toml_or_json_with_the_same_names)
{
    struct settings s;
    CHECK_OK(load_file(ctx, &s,
                       "# head\nport = 8080 # public\nbudget_tokens = 6_00\nmemory = false\n"
                       "hosts = [\"a\", \"b\"]\nupstream = [\"http://c/\", \"d=http://d\"]\n"
                       "[[upstreams]]\nname = 'e'\nurl = \"http://e\"\nkey = \"k\"\n"));
    CHECK_STR(s.listen, S("127.0.0.1:8080"));
    CHECK_INT(s.budget_tokens, 600);
    CHECK(!s.memory && s.from[SETTING_memory] == FROM_FILE && s.from[SETTING_listen] == FROM_FILE);
    CHECK_STR(s.hosts, S("a,b"));
    CHECK_INT(s.n_upstreams, 3);
    CHECK_STR(s.upstreams[0].url, S("http://c"));
    CHECK_STR(s.upstreams[2].key, S("k"));
    CHECK_OK(load_file(ctx, &s, "{\"memory\": true, \"data_dir\": \"/x\"}"));
    CHECK(s.memory);
    CHECK_STR(s.data, S("/x"));
    CHECK_OK(load_file(ctx, &s, ""));
}

TEST(a_failure_of_the_file_names_line_key_and_rule)
{
    static const struct {
        const char *text, *field, *why;
    } cases[] = {
        {"# x\n\nbudget_token = 1", "budget_token",
         "is not a known setting; did you mean budget_tokens? (line 3 of the file /tmp/"},
        {"{\n\"budget_tokens\": -1}", "budget_tokens",
         "must be from 0 to 16000 (line 2 of the file"},
        {"a = ", "", "not valid TOML: line 1: a value is expected (in the file /tmp/"},
        {"prot = 1", "prot", "did you mean port? (line 1"},
        {"\nport = 70000", "port", "must be from 0 to 65535 (line 2"},
        {"\nbudget_tokens = {}", "budget_tokens", "must be a text, a number or true or false"},
        {"hosts = [[1]]", "hosts", "must be a text"},
        {"[network]\nport = 1", "network", "is not a known setting"},
        {"[[upstreams]]\nname = \"a\"\nurl = \"http://a\"\ndialct = \"x\"", "dialct",
         "(line 4 of the file"},
        {"\n[[upstreams]]\nname = \"a\"", "url", "(line 2 of the file"},
        {"{\"upstreams\": {}}", "upstreams", "must be an array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings s;
        CHECK_STATUS(load_file(ctx, &s, cases[i].text), BAD_INPUT);
        if (!str_is(str_of(ctx->field), cases[i].field) || !holds(str_of(ctx->why), cases[i].why))
            fail_msg("%s: %s: %s", cases[i].text, ctx->field, ctx->why);
    }
}

TEST(an_address_may_be_given_in_parts)
{
    static const struct {
        const char *a, *b, *listen;
    } cases[] = {
        {"--listen=8080", NULL, "127.0.0.1:8080"},
        {"--listen=0.0.0.0", NULL, "0.0.0.0:7077"},
        {"--listen=localhost", NULL, "localhost:7077"},
        {"--listen=::1", NULL, "[::1]:7077"},
        {"--listen=[::1]", NULL, "[::1]:7077"},
        {"--listen=[::1]:0", NULL, "[::1]:0"},
        {"--listen=:80", NULL, ":80"},
        {"--listen=unix:/run/x", NULL, "unix:/run/x"},
        {"--host=0.0.0.0", NULL, "0.0.0.0:7077"},
        {"--port=80", "--host=::", "[::]:80"},
        {"--port=80", "--listen=0.0.0.0", "0.0.0.0:80"},
        {"--listen=unix:/run/x", "--port=80", "127.0.0.1:80"},
        {"--listen=a:b", NULL, NULL},
        {"--listen=1.2.3.4:", NULL, NULL},
        {"--listen=1.2.3.4:70000", NULL, NULL},
        {"--listen=unix:", NULL, NULL},
        {"--port=-1", NULL, NULL},
        {"--port=x", NULL, NULL},
        {"--host=1.2.3.4:80", NULL, NULL},
        {"--host=80", NULL, NULL},
        {"--host=", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings s;
        enum status is = load(ctx, &s, cases[i].b ? 2 : 1, cases[i].a, cases[i].b);
        if (!cases[i].listen)
            CHECK_STATUS(is, BAD_INPUT);
        else
            CHECK_STR(s.listen, str_of(cases[i].listen));
    }
}

TEST(a_later_place_wins_with_a_part_too)
{
    struct settings s;
    setenv("REMEMBERD_PORT", "81", 1);
    CHECK_OK(load(ctx, &s, 1, "--host=0.0.0.0"));
    CHECK_STR(s.listen, S("0.0.0.0:81"));
    CHECK_OK(load(ctx, &s, 1, "--listen=::1"));
    CHECK_STR(s.listen, S("[::1]:7077"));
    setenv("REMEMBERD_PORT", "tcp://10.0.0.1:80", 1);
    CHECK_OK(load(ctx, &s, 0));
    CHECK_STR(s.listen, S("127.0.0.1:7077"));
    CHECK_INT(s.notes.n, 0);
    unsetenv("REMEMBERD_PORT");
}
