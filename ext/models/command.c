/* command.c - lists, downloads, checks and removes the models of this machine. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "app/command.h"
#include "app/instance.h"
#include "app/print.h"
#include "app/progress.h"
#include "base/files.h"
#include "ext/models/download.h"
#include "ext/models/kinds.h"

/*
 * Local embedding models are files in a folder, known by a catalogue with sizes and checksums
 * (model_cards in embed). pull fetches a model and checks it, check reads the files again, remove
 * deletes them. Which model is used is a setting that none of these changes; list says which one it
 * is now. A reranking model has no row in the catalogue: its user puts the files into the folder,
 * where list and check find it.
 */

/* --- what there is --- */

SHAPE(model_out, (STR, name), (STR, source), (BOOL, installed), (BOOL, in_use), (INT, dimensions),
      (INT, bytes), (STR, licence), (STR, repo), (STR, help));

/* The models that are used now, or "". */
struct used {
    str embedding; /* what makes vectors */
    str reranking; /* as the setting names it: "local/NAME" */
};

/* Settings that were changed at run time are in the database, so an existing one is asked. */
static struct used in_use(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct embed_choice choice = embed_choice_of(&o->settings);
    struct pool_ref everywhere = {.user = o->user};
    struct engine_status status;
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    struct used used = {embed_resolve(ctx, &o->settings, &choice).model, S("")};
    if (instance_open(&own, o, TO_READ, &instance) == OK &&
        engine_status(&own, instance.engine, everywhere, false, &status) == OK) {
        used.embedding = str_dup(&ctx->arena, status.embedding.model);
        if (status.rerank.enabled)
            used.reranking = str_dup(&ctx->arena, status.rerank.model);
    }
    return used;
}

/* The catalogue, not the folder: a model that can be downloaded is listed too. */
static size_t add_catalogue(struct ctx *ctx, str folder, const struct used *used,
                            struct model_out *out)
{
    size_t n = 0;
    for (const struct model_card *c = model_cards; c->name; c++) {
        int64_t bytes = 0;
        for (const struct model_file *f = NULL; (f = model_next_file(c, f));)
            bytes += f->size;
        out[n++] = (struct model_out){.name = str_of(c->name),
                                      .source = str_of(embed_source_names[c->source]),
                                      .licence = str_of(c->licence),
                                      .repo = str_of(c->repo),
                                      .help = str_of(c->help),
                                      .dimensions = c->dimensions,
                                      .bytes = bytes,
                                      .installed = model_is_installed(ctx, folder, c),
                                      .in_use = str_is(used->embedding, c->name)};
    }
    return n;
}

/* Those without weights are not installed. */
static void add_rerankers(struct ctx *ctx, str folder, const struct used *used, const str *names,
                          size_t n, struct model_out *out)
{
    for (size_t i = 0; i < n; i++) {
        struct stat st = {0};
        str setting = str_printf(&ctx->arena, "local/" S_FMT, S_ARG(names[i]));
        str file = str_printf(&ctx->arena, S_FMT "/" S_FMT "/model.safetensors", S_ARG(folder),
                              S_ARG(names[i]));
        stat(file.p, &st);
        out[i] = (struct model_out){.name = names[i],
                                    .source = S("reranker"),
                                    .help = S("puts what recall found in order; not checked"),
                                    .bytes = (int64_t)st.st_size};
        out[i].installed = out[i].bytes > 0;
        out[i].in_use = out[i].installed && str_eq(used->reranking, setting);
    }
}

static void print_model(struct buf *b, const struct model_out *m)
{
    const char *state = !m->installed ? "not installed" : m->in_use ? "in use" : "installed";
    buf_printf(b, "%-18.*s %-13.*s %-14s %4lld MB  %-10.*s  " S_FMT "\n", S_ARG(m->name),
               S_ARG(m->source), state, (long long)(m->bytes + 500000) / 1000000, S_ARG(m->licence),
               S_ARG(m->help));
}

static enum status list_models(struct ctx *ctx, const struct options *o, str folder)
{
    enum { CATALOGUE_MAX = 16 };
    struct json_out w = json_in(&ctx->arena, PRINT_MAX);
    struct used used = in_use(ctx, o);
    str *names;
    size_t n, found;
    reranker_list(ctx, folder, &names, &found);
    struct model_out *all = NEW_N(&ctx->arena, struct model_out, CATALOGUE_MAX + found);
    n = add_catalogue(ctx, folder, &used, all);
    assert(n <= CATALOGUE_MAX);
    add_rerankers(ctx, folder, &used, names, found, all + n);
    if (o->json)
        json_open(&w, '[');
    for (size_t i = 0; i < n + found; i++) {
        if (o->json)
            fields_write(&w, model_out_fields, &all[i]);
        else
            print_model(w.b, &all[i]);
    }
    if (o->json)
        json_close(&w, ']');
    else
        buf_printf(w.b, "folder: " S_FMT, S_ARG(folder));
    return print_buf(w.b);
}

/* --- fetching --- */

struct fetching {
    struct model_progress progress; /* first member: the download passes only this */
    struct progress shown;
};

static void show_progress(struct model_progress *p, const char *file, int64_t done, int64_t total)
{
    progress_show(&((struct fetching *)p)->shown, file, done, total, 1e6, "MB");
}

/* --from serves machines without internet access; both ways check the same checksums. */
static enum status pull_model(struct ctx *ctx, const struct options *o, str folder,
                              const struct model_card *card)
{
    struct fetching f = {.progress = {show_progress}};
    enum status s = o->from.n ? model_install(ctx, folder, card, o->from, &f.progress)
                              : model_pull(ctx, folder, card, o->settings.model_url, &f.progress);
    progress_end(&f.shown);
    return s;
}

/* Installing a model does not enable it, since another model changes what chats are given. */
static void say_how_to_use(struct ctx *ctx, const struct options *o, const struct model_card *card)
{
    bool is_static = card->source == EMBED_STATIC;
    const char *source = embed_source_names[card->source];
    const struct model_card *usual =
        model_card(is_static ? o->settings.static_model : o->settings.transformers_model);
    if (str_is(in_use(ctx, o).embedding, card->name)) {
        puts("the model is in use");
        return;
    }
    printf("to use the model: rememberd serve --embedding-%s on", source);
    if (usual != card)
        printf(" --%s-model %s", source, card->name);
    printf("\n%s: curl -X PUT " S_FMT "/api/settings/memory "
           "-H 'Content-Type: application/json' -d '{\"%sEnabled\":true}'\n",
           usual == card ? "or, while the server runs"
                         : "and, if another source was chosen at run time",
           S_ARG(curl_target(&ctx->arena, o->settings.listen)), source);
}

/* --- the command --- */

/* past is what text output says when it is done; JSON has the verb itself. */
static const struct verb {
    const char *name, *past;
    bool takes_name;
} verbs[] = {
    {"list", "", false},
    {"pull", "installed", true},
    {"check", "all sizes and checksums are right", true},
    {"remove", "removed", true},
};

static const struct verb *verb_of(const struct options *o)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (str_is(o->words.v[1], verbs[i].name) && (o->words.n == 3) == verbs[i].takes_name)
            return &verbs[i];
    return NULL;
}

static enum status fail_unknown(struct ctx *ctx, str name)
{
    return fail(ctx, BAD_INPUT,
                "unknown model '" S_FMT "'; 'rememberd model list' shows the models", S_ARG(name));
}

/* A model beside the catalogue may be a reranking model, which only its folder tells. */
static enum status check_words(struct ctx *ctx, const struct options *o)
{
    if (!verb_of(o))
        return fail(
            ctx, BAD_INPUT,
            "must be one of: model list, model pull NAME, model check NAME, model remove NAME");
    if (o->words.n == 3 && !str_is(o->words.v[1], "check") && !model_card(o->words.v[2]))
        return fail_unknown(ctx, o->words.v[2]);
    return OK;
}

/* By loading it, as nobody has published checksums for what its user chose. */
static enum status check_reranker(struct ctx *ctx, const struct options *o, str folder)
{
    str name = o->words.v[2],
        at = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(name));
    if (!local_cross_encoder.is_in(ctx, at))
        return fail_unknown(ctx, name);
    TRY(reranker_check(ctx, folder, name));
    printf(o->json ? "{\"model\":\"" S_FMT "\",\"check\":true}\n"
                   : S_FMT ": it loads; there is no checksum to compare\n",
           S_ARG(name));
    return OK;
}

/* Until this program ends, as two would remove each other's unfinished files. */
static enum status lock_models(struct ctx *ctx, str folder)
{
    str inside = str_printf(&ctx->arena, S_FMT "/", S_ARG(folder));
    folders_make(&ctx->arena, inside); /* a failure shows at the first file */
    int fd = open(inside.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(ctx, TOO_BUSY, "another command is changing the models in " S_FMT,
                    S_ARG(folder));
    return OK;
}

static enum status run_verb(struct ctx *ctx, const struct options *o)
{
    const struct verb *verb = verb_of(o);
    assert(verb); /* check_words has refused other words */
    struct instance instance;
    TRY(instance_find(ctx, &o->settings, &instance));
    str folder = model_folder(ctx, &o->settings, instance.folder);
    if (!verb->takes_name)
        return list_models(ctx, o, folder);
    const struct model_card *card = model_card(o->words.v[2]);
    if (!card)
        return check_reranker(ctx, o, folder);
    bool is_pull = str_is(o->words.v[1], "pull"), is_check = str_is(o->words.v[1], "check");
    if (!is_check)
        TRY(lock_models(ctx, folder));
    TRY(is_pull    ? pull_model(ctx, o, folder, card)
        : is_check ? model_check(ctx, folder, card)
                   : model_remove(ctx, folder, card));
    printf(o->json ? "{\"model\":\"%s\",\"%s\":true}\n" : "%s: %s\n", card->name,
           o->json ? verb->name : verb->past);
    if (is_pull && !o->json)
        say_how_to_use(ctx, o, card);
    return OK;
}

const struct command model_commands[] = {
    {"model", "model list | model pull NAME [--from DIR] | model check NAME | model remove NAME",
     "List, download, check and remove the models of this machine", "model pull potion-base-8M",
     " json from ", 1, 2, check_words, run_verb, false},
    {0},
};
