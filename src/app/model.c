/* model.c - the models of this machine: shown, fetched, checked, removed. */
#include <unistd.h>

#include "embed/embed.h"

#include "app/bar.h"
#include "app/commands.h"
#include "app/home.h"

/* --- what there is --- */

struct model_out {
    str name, source, licence, repo, help;
    int64_t dimensions, bytes;
    bool installed, in_use;
};
static const struct field model_out_fields[] = {
    {STR(struct model_out, name)},       {STR(struct model_out, source)},
    {BOOL(struct model_out, installed)}, {BOOL(struct model_out, in_use)},
    {INT(struct model_out, dimensions)}, {INT(struct model_out, bytes)},
    {STR(struct model_out, licence)},    {STR(struct model_out, repo)},
    {STR(struct model_out, help)},       {0},
};

/* Of the form that is fetched. */
static int64_t bytes_of(const struct model_card *card)
{
    int64_t sum = 0;
    for (size_t i = 0; i < MODEL_FILES_MAX && card->files[i].name; i++)
        if (!i || strcmp(card->files[i].name, card->files[i - 1].name) != 0)
            sum += card->files[i].size;
    return sum;
}

static struct model_out shape_of(struct ctx *ctx, str folder, const struct model_card *card)
{
    return (struct model_out){.name = str_of(card->name),
                              .source = str_of(embed_source_names[card->source]),
                              .licence = str_of(card->licence),
                              .repo = str_of(card->repo),
                              .help = str_of(card->help),
                              .dimensions = card->dimensions,
                              .bytes = bytes_of(card),
                              .installed = model_is_installed(ctx, folder, card)};
}

/* The name of the model that makes vectors now, or "": of a store that there is, by what was set in
 * it. */
static str in_use(struct ctx *ctx, const struct options *o)
{
    CLEANUP(home_close) struct home home = {0};
    struct embed_choice choice = embed_choice_of(&o->settings);
    struct pool_ref everywhere = {.user = o->user};
    struct engine_status status;
    struct ctx own = {0};
    str model = embed_resolve(ctx, &o->settings, &choice).model;
    if (home_find(&own, &o->settings, &home) == OK &&
        access(str_c(&own.arena, home.file), F_OK) == 0 && home_open(&own, o, &home) == OK &&
        engine_status(&own, home.engine, everywhere, false, &status) == OK)
        model = str_dup(&ctx->arena, status.embedding.model);
    ctx_free(&own);
    return model;
}

static enum status list(struct ctx *ctx, const struct options *o, str folder)
{
    enum { PRINT_MAX = 1 << 16 };
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    struct json_out w = json_to(&b);
    str used = in_use(ctx, o);
    if (o->json)
        json_open(&w, '[');
    for (const struct model_card *c = model_cards; c->name; c++) {
        struct model_out m = shape_of(ctx, folder, c);
        m.in_use = str_is(used, c->name);
        if (o->json)
            fields_write(&w, model_out_fields, &m);
        else
            buf_printf(&b, "%-18s %-13s %-14s %4lld MB  %-10s  %s\n", c->name,
                       embed_source_names[c->source],
                       !m.installed ? "not installed"
                       : m.in_use   ? "in use"
                                    : "installed",
                       (long long)(m.bytes + 500000) / 1000000, c->licence, c->help);
    }
    if (o->json)
        json_close(&w, ']');
    else
        buf_printf(&b, "in " S_FMT, S_ARG(folder));
    print_buf(&b);
    return OK;
}

/* --- fetching --- */

struct fetching {
    struct model_progress progress; /* first: the fetcher knows only it */
    struct bar bar;
};

static void show(struct model_progress *p, const char *file, int64_t done, int64_t total)
{
    bar_show(&((struct fetching *)p)->bar, file, done, total, 1e6, "MB");
}

static enum status pull(struct ctx *ctx, const struct options *o, str folder,
                        const struct model_card *card)
{
    struct fetching f = {.progress = {show}};
    enum status s = o->from.n ? model_install(ctx, folder, card, o->from, &f.progress)
                              : model_pull(ctx, folder, card, o->settings.model_url, &f.progress);
    bar_end(&f.bar);
    return s;
}

/* A model that is there is not used before someone says so: it changes what chats are given. */
static void say_how_to_use(struct ctx *ctx, const struct options *o, const struct model_card *card)
{
    bool is_static = card->source == EMBED_STATIC;
    const char *source = embed_source_names[card->source];
    const struct model_card *usual =
        model_card(is_static ? o->settings.static_model : o->settings.transformers_model);
    if (str_is(in_use(ctx, o), card->name)) {
        puts("it is in use");
        return;
    }
    printf("to use it: rememberd serve --embedding-%s on", source);
    if (usual != card)
        printf(" --%s-model %s", source, card->name);
    printf("\n%s: curl -X PUT http://" S_FMT "/api/settings/memory "
           "-H 'Content-Type: application/json' -d '{\"%sEnabled\":true}'\n",
           usual == card ? "or, while the server runs" : "and, if another source was chosen since",
           S_ARG(o->settings.listen), source);
}

/* --- the command --- */

static const struct verb {
    const char *name, *past;
    bool takes_name;
} verbs[] = {
    {"list", "", false},
    {"pull", "installed", true},
    {"check", "every size and checksum is right", true},
    {"remove", "removed", true},
};

static const struct verb *verb_of(const struct options *o)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (str_is(o->words.v[1], verbs[i].name) && (o->words.n == 3) == verbs[i].takes_name)
            return &verbs[i];
    return NULL;
}

enum status command_model_check(struct ctx *ctx, const struct options *o)
{
    if (!verb_of(o))
        return fail(ctx, BAD_INPUT,
                    "say one of: model list, model pull NAME, model check NAME, model remove NAME");
    if (o->words.n == 3 && !model_card(o->words.v[2]))
        return fail(ctx, BAD_INPUT, "there is no model '" S_FMT "': model list shows what there is",
                    S_ARG(o->words.v[2]));
    return OK;
}

enum status command_model(struct ctx *ctx, const struct options *o)
{
    const struct verb *verb = verb_of(o);
    struct home home;
    TRY(home_find(ctx, &o->settings, &home));
    str folder = model_folder(ctx, &o->settings, home.folder);
    if (!verb->takes_name)
        return list(ctx, o, folder);
    const struct model_card *card = model_card(o->words.v[2]);
    if (str_is(o->words.v[1], "pull"))
        TRY(pull(ctx, o, folder, card));
    else if (str_is(o->words.v[1], "check"))
        TRY(model_check(ctx, folder, card));
    else
        TRY(model_remove(ctx, folder, card));
    printf(o->json ? "{\"model\":\"%s\",\"%s\":true}\n" : "%s: %s\n", card->name,
           o->json ? verb->name : verb->past);
    if (str_is(o->words.v[1], "pull") && !o->json)
        say_how_to_use(ctx, o, card);
    return OK;
}
