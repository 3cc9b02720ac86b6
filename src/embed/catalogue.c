/* catalogue.c - the local models that are known, and those of them that are installed. */
#include <sys/stat.h>

#include "embed/embed.h"

/* The owner before the last slash is ignored: the default "Xenova/all-MiniLM-L6-v2" is a conversion
 * of the weights that this catalogue has from their authors. */
str model_bare_name(str name)
{
    return str_sub(name, str_behind_last(name, '/'), name.n);
}

const struct model_card *model_card(str name)
{
    name = model_bare_name(name);
    for (const struct model_card *c = model_cards; c->name; c++)
        if (str_is(name, c->name))
            return c;
    return NULL;
}

str model_folder(struct ctx *ctx, const struct settings *s, str data)
{
    return s->model_dir.n ? s->model_dir : str_printf(&ctx->arena, S_FMT "/models", S_ARG(data));
}

/* With a slash or a dot in front a name could lead out of the folder. */
enum status model_place(struct ctx *ctx, str folder, str name, str *out)
{
    if (!name.n || name.n > MODEL_NAME_MAX || name.p[0] == '.' || str_find(name, S("/")) < name.n)
        return fail(ctx, BAD_INPUT, "'" S_FMT "' is not a valid model name", S_ARG(name));
    *out = str_printf(&ctx->arena, S_FMT "/" S_FMT, S_ARG(folder), S_ARG(name));
    return OK;
}

const struct model_file *model_next_file(const struct model_card *card, const struct model_file *f)
{
    const struct model_file *end = card->files + MODEL_FILES_MAX, *next = f ? f + 1 : card->files;
    assert(!f || (f >= card->files && f < end));
    while (f && next < end && next->name && !strcmp(next->name, f->name))
        next++;
    return next < end && next->name ? next : NULL;
}

const struct model_file *model_form(const struct model_card *card, const char *name, int64_t size,
                                    const char *sha256)
{
    for (const struct model_file *f = card->files; f < card->files + MODEL_FILES_MAX; f++)
        if (f->name && !strcmp(f->name, name) && f->size == size &&
            (!sha256 || !strcmp(f->sha256, sha256)))
            return f;
    return NULL;
}

/* Sizes only: checksums of 90 MB on every status request would be slow. model check reads all
 * bytes. */
bool model_is_installed(struct ctx *ctx, str folder, const struct model_card *card)
{
    struct stat st;
    for (const struct model_file *f = NULL; (f = model_next_file(card, f));) {
        str path = str_printf(&ctx->arena, S_FMT "/%s/%s", S_ARG(folder), card->name, f->name);
        if (stat(path.p, &st) != 0 || !S_ISREG(st.st_mode) ||
            !model_form(card, f->name, (int64_t)st.st_size, NULL))
            return false;
    }
    return true;
}
