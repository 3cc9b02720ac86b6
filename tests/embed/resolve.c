/* resolve.c - each row of the table of sources, with the reason where there is none. */
#include "embed/embed.h"

#include "lib/tiny_models.h"

static struct settings settings(void)
{
    struct settings s = {0};
    settings_defaults(&s);
    return s;
}

static void add(struct settings *s, const char *name, const char *url, const char *key)
{
    s->upstreams[s->n_upstreams++] =
        (struct upstream){.name = str_of(name), .url = str_of(url), .key = str_of(key)};
}

static struct embed_plan plan(struct ctx *ctx, const struct settings *s, const char *source,
                              const char *model, bool table, bool transformers)
{
    enum embed_source which =
        (enum embed_source)name_index(embed_choice_names, str_of(source), EMBED_AUTO);
    struct embed_choice c = {which, str_of(model), table, transformers};
    return embed_resolve(ctx, s, &c);
}

TEST(remote_needs_a_model_and_an_upstream)
{
    struct settings s = settings();
    struct embed_plan p = plan(ctx, &s, "remote", "", true, true);
    CHECK_INT(p.source, EMBED_NONE);
    CHECK(str_starts(p.reason, S("no_key:")));
    p = plan(ctx, &s, "remote", "openai/text-embedding-3-small", true, true);
    CHECK(str_starts(p.reason, S("no_key:")) && p.source == EMBED_NONE);
    add(&s, "openai", "https://gateway.example/v1", "k");
    p = plan(ctx, &s, "remote", "openai/text-embedding-3-small", false, false);
    CHECK_INT(p.source, EMBED_REMOTE);
    CHECK_STR(p.up->name, S("openai"));
    CHECK_STR(p.model, S("text-embedding-3-small"));
    CHECK_INT(p.dimensions, 1536);
    p = plan(ctx, &s, "remote", "openai/other", false, false);
    CHECK_INT(p.source, EMBED_REMOTE);
    CHECK_INT(p.dimensions, 0);
}

TEST(a_nameless_upstream_is_known_by_its_host)
{
    struct settings s = settings();
    add(&s, "", "https://api.openai.com/v1", "k");
    struct embed_plan p = plan(ctx, &s, "auto", "openai/text-embedding-3-small", true, true);
    CHECK_INT(p.source, EMBED_REMOTE);
    CHECK(p.up == s.upstreams);
    CHECK_STR(p.model, S("text-embedding-3-small"));
    p = plan(ctx, &s, "remote", "baai/bge-m3", false, false);
    CHECK_INT(p.source, EMBED_REMOTE);
    CHECK_STR(p.model, S("baai/bge-m3"));
}

TEST(auto_takes_the_first_that_can_be_used)
{
    struct settings s = settings();
    CHECK_INT(plan(ctx, &s, "auto", "", true, true).source, EMBED_STATIC);
    CHECK_INT(plan(ctx, &s, "auto", "", false, true).source, EMBED_TRANSFORMERS);
    struct embed_plan p = plan(ctx, &s, "auto", "", false, false);
    CHECK_INT(p.source, EMBED_ENCODER);
    CHECK_STR(p.model, S("minilm-3"));
    CHECK_INT(p.dimensions, 128);
    CHECK_INT(plan(ctx, &s, "encoder", "", true, true).source, EMBED_ENCODER);
    s.encoder = false;
    p = plan(ctx, &s, "auto", "", false, false);
    CHECK_INT(p.source, EMBED_NONE);
    CHECK(holds(p.reason, "no_key:") && holds(p.reason, "static") &&
          holds(p.reason, "transformer") && holds(p.reason, "encoder is switched off"));
    CHECK_INT(plan(ctx, &s, "encoder", "", true, true).source, EMBED_NONE);
    add(&s, "openai", "https://api.openai.com/v1", "");
    CHECK_INT(plan(ctx, &s, "auto", "", true, true).source, EMBED_STATIC);
    CHECK_INT(plan(ctx, &s, "auto", "openai/x", true, true).source, EMBED_STATIC);
    add(&s, "groq", "https://api.groq.com/openai/v1", "k");
    CHECK_INT(plan(ctx, &s, "auto", "", true, true).source, EMBED_STATIC);
    /* A key for chats does not send memories anywhere. */
    add(&s, "mistral", "https://api.mistral.ai/v1", "k");
    CHECK_INT(plan(ctx, &s, "auto", "", true, true).source, EMBED_STATIC);
    CHECK_INT(plan(ctx, &s, "remote", "", true, true).source, EMBED_NONE);
    p = plan(ctx, &s, "auto", "mistral/mistral-embed", true, true);
    CHECK_INT(p.source, EMBED_REMOTE);
    CHECK_STR(p.model, S("mistral-embed"));
    CHECK_INT(p.dimensions, 1024);
    p = plan(ctx, &s, "auto", "groq/some", true, true);
    CHECK_STR(p.up->name, S("groq"));
}

TEST(a_server_on_this_machine_needs_no_key)
{
    struct settings s = settings();
    add(&s, "ollama", "http://127.0.0.1:11434", "");
    add(&s, "far", "http://192.0.2.7:1", "");
    s.encoder = false;
    struct embed_plan p = plan(ctx, &s, "auto", "ollama/nomic-embed-text", false, false);
    CHECK_INT(p.source, EMBED_REMOTE);
    CHECK_STR(p.model, S("nomic-embed-text"));
    CHECK_INT(plan(ctx, &s, "auto", "far/x", false, false).source, EMBED_NONE);
    CHECK_INT(plan(ctx, &s, "remote", "far/x", false, false).source, EMBED_REMOTE);
    struct embed_providers all = embed_providers(ctx, &s);
    CHECK_STR(all.v[0].name, S("openai"));
    CHECK(!all.v[0].has_key && all.v[0].n_models == 3);
    CHECK_STR(all.v[all.n - 1].name, S("ollama"));
    CHECK(all.v[all.n - 1].has_key);
}
