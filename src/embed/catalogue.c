/* catalogue.c - the local models that are known, and those of them that are installed. */
#include <sys/stat.h>

#include "embed/embed.h"

/* The owner before the last slash is ignored: the default "Xenova/all-MiniLM-L6-v2" is a conversion
 * of the weights that this catalogue has from their authors. */
const struct model_card *model_card(str name)
{
    while (str_find(name, S("/")) < name.n)
        str_cut(&name, '/');
    for (const struct model_card *c = model_cards; c->name; c++)
        if (str_is(name, c->name))
            return c;
    return NULL;
}

str model_folder(struct ctx *ctx, const struct settings *s, str data)
{
    return s->model_dir.n ? s->model_dir : str_printf(&ctx->arena, S_FMT "/models", S_ARG(data));
}

/* Whether the card lists a form of the file with this size. */
static bool has_size(const struct model_card *card, const char *name, int64_t size)
{
    for (const struct model_file *f = card->files; f < card->files + MODEL_FILES_MAX; f++)
        if (f->name && !strcmp(f->name, name) && f->size == size)
            return true;
    return false;
}

/* Sizes only: checksums of 90 MB on every status request would be slow. model check reads all
 * bytes. */
bool model_is_installed(struct ctx *ctx, str folder, const struct model_card *card)
{
    struct stat st;
    for (const struct model_file *f = card->files; f < card->files + MODEL_FILES_MAX && f->name;
         f++) {
        str path = str_printf(&ctx->arena, S_FMT "/%s/%s", S_ARG(folder), card->name, f->name);
        if (stat(path.p, &st) != 0 || !S_ISREG(st.st_mode) ||
            !has_size(card, f->name, (int64_t)st.st_size))
            return false;
    }
    return true;
}
