/* model.c - the models of this machine: shown, fetched, checked, removed. */
#include <unistd.h>

#include "base/clock.h"
#include "embed/embed.h"

#include "app/commands.h"
#include "app/home.h"

/* --- what there is --- */

struct model_out {
    str name, source, licence, repo, help;
    int64_t dimensions, bytes;
    bool installed;
};
static const struct field model_out_fields[] = {
    {STR(struct model_out, name)},
    {STR(struct model_out, source)},
    {BOOL(struct model_out, installed)},
    {INT(struct model_out, dimensions)},
    {INT(struct model_out, bytes)},
    {STR(struct model_out, licence)},
    {STR(struct model_out, repo)},
    {STR(struct model_out, help)},
    {0},
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

static enum status list(struct ctx *ctx, const struct options *o, str folder)
{
    enum { PRINT_MAX = 1 << 16 };
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    struct json_out w = json_to(&b);
    if (o->json)
        json_open(&w, '[');
    for (const struct model_card *c = model_cards; c->name; c++) {
        struct model_out m = shape_of(ctx, folder, c);
        if (o->json)
            fields_write(&w, model_out_fields, &m);
        else
            buf_printf(&b, "%-18s %-13s %-14s %4lld MB  %-10s  %s\n", c->name,
                       embed_source_names[c->source], m.installed ? "installed" : "not installed",
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

struct bar {
    struct model_progress progress; /* first: the fetcher knows only it */
    int64_t shown_us;
};

/* "model.safetensors  [=========>          ]  45 %  13.6 of 30.9 MB" */
static void show(struct model_progress *p, const char *file, int64_t done, int64_t total)
{
    enum { WIDTH = 30, EVERY_US = 100000 };
    struct bar *bar = (struct bar *)p;
    int64_t now = clock_mono_us();
    int filled = (int)(total ? done * WIDTH / total : 0);
    if (!isatty(STDERR_FILENO) || (now - bar->shown_us < EVERY_US && done < total))
        return;
    bar->shown_us = now;
    fprintf(stderr, "\r%-18s [%.*s%*s] %3d %%  %.1f of %.1f MB", file, filled,
            "==============================", WIDTH - filled, "",
            (int)(total ? done * 100 / total : 0), (double)done / 1e6, (double)total / 1e6);
    fflush(stderr);
}

static enum status pull(struct ctx *ctx, const struct options *o, str folder,
                        const struct model_card *card)
{
    struct bar bar = {.progress = {show}};
    enum status s = o->from.n ? model_install(ctx, folder, card, o->from, &bar.progress)
                              : model_pull(ctx, folder, card, o->settings.model_url, &bar.progress);
    if (bar.shown_us)
        fputs("\r\033[K", stderr);
    return s;
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
    return OK;
}
