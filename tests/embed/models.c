/* models.c - a model is in the folder whole and checked, or not at all. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "ext/models/download.h"
#include "lib/embedder.h"
#include "lib/tiny_models.h"

/* A card for files of ours; the last one is right in two forms. */
static struct model_card card_for(struct ctx *ctx, str from)
{
    struct model_card c = {.name = "tiny", .repo = "us/tiny", .revision = "1"};
    static const char *const names[] = {"config.json", "tokenizer.json", "model.safetensors"};
    for (int i = 0; i < 3; i++) {
        str bytes = file_bytes(ctx, from, names[i]);
        c.files[i] =
            (struct model_file){names[i], str_c(&ctx->arena, sha256_hex(&ctx->arena, bytes)),
                                (int64_t)bytes.n};
    }
    c.files[3] = c.files[2];
    c.files[2].size += 100;
    return c;
}

struct watch {
    struct model_progress progress;
    int64_t last, total;
    int calls;
};

static void say(struct model_progress *p, const char *file, int64_t done, int64_t total)
{
    struct watch *w = (struct watch *)p;
    CHECK(file && done > w->last && done <= total);
    w->last = done;
    w->total = total;
    w->calls++;
}

static str model_at(struct ctx *ctx, str folder)
{
    return str_printf(&ctx->arena, S_FMT "/tiny", S_ARG(folder));
}

TEST(a_model_is_installed_checked_and_removed)
{
    str from = folder_new(ctx),
        to = str_printf(&ctx->arena, S_FMT "/deep/er", S_ARG(folder_new(ctx)));
    tiny_static(ctx, from);
    struct model_card card = card_for(ctx, from);
    struct watch w = {.progress = {say}};
    CHECK(!model_is_installed(ctx, to, &card));
    CHECK_STATUS(model_check(ctx, to, &card), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_OK(model_install(ctx, to, &card, from, &w.progress));
    CHECK(w.calls >= 3);
    CHECK(model_is_installed(ctx, to, &card));
    CHECK_OK(model_check(ctx, to, &card));
    CHECK_INT(folder_count(to), 1);
    CHECK_OK(model_install(ctx, to, &card, from, NULL));
    CHECK_INT(folder_count(to), 1);
    CHECK_OK(model_remove(ctx, to, &card));
    CHECK_INT(folder_count(to), 0);
    CHECK_STATUS(model_remove(ctx, to, &card), NOT_FOUND);
}

TEST(a_wrong_file_leaves_what_was_there)
{
    str from = folder_new(ctx), to = folder_new(ctx);
    tiny_static(ctx, from);
    struct model_card card = card_for(ctx, from);
    CHECK_OK(model_install(ctx, to, &card, from, NULL));
    file_write(ctx, from, "tokenizer.json", S("{}"));
    CHECK_STATUS(model_install(ctx, to, &card, from, NULL), BAD_INPUT);
    CHECK(holds(str_of(ctx->why), "not the expected file"));
    ctx_clear_failure(ctx);
    CHECK_OK(model_check(ctx, to, &card));
    CHECK_INT(folder_count(to), 1);
    CHECK_INT(unlink(str_printf(&ctx->arena, S_FMT "/config.json", S_ARG(from)).p), 0);
    CHECK_STATUS(model_install(ctx, to, &card, from, NULL), NOT_FOUND);
    CHECK_INT(folder_count(to), 1);
}

TEST(a_check_sees_a_byte_that_changed)
{
    str from = folder_new(ctx), to = folder_new(ctx);
    tiny_static(ctx, from);
    struct model_card card = card_for(ctx, from);
    CHECK_OK(model_install(ctx, to, &card, from, NULL));
    str bytes = file_bytes(ctx, model_at(ctx, to), "tokenizer.json");
    ((char *)bytes.p)[10] ^= 1;
    file_write(ctx, model_at(ctx, to), "tokenizer.json", bytes);
    CHECK(model_is_installed(ctx, to, &card));
    CHECK_STATUS(model_check(ctx, to, &card), STORAGE);
    CHECK(holds(str_of(ctx->why), "SHA-256"));
    ctx_clear_failure(ctx);
    bytes.n--;
    file_write(ctx, model_at(ctx, to), "tokenizer.json", bytes);
    CHECK(!model_is_installed(ctx, to, &card));
    CHECK_STATUS(model_check(ctx, to, &card), STORAGE);
}

TEST(what_an_interrupted_install_left_is_swept_away)
{
    str from = folder_new(ctx), to = folder_new(ctx);
    tiny_static(ctx, from);
    struct model_card card = card_for(ctx, from);
    str left = str_printf(&ctx->arena, S_FMT "/.tiny.new", S_ARG(to));
    CHECK_INT(mkdir(left.p, 0755), 0);
    file_write(ctx, left, "config.json", S("half"));
    CHECK_OK(model_install(ctx, to, &card, from, NULL));
    CHECK_INT(folder_count(to), 1);
    CHECK_OK(model_check(ctx, to, &card));
}

TEST(a_model_is_pulled_and_a_lying_server_is_not_believed)
{
    struct app app = {.folder = folder_new(ctx)};
    str to = folder_new(ctx);
    tiny_static(ctx, app.folder);
    struct model_card card = card_for(ctx, app.folder);
    struct server *server = embedder_open(ctx, &app);
    str base = str_printf(&ctx->arena, S_FMT "/", S_ARG(server_url(ctx, server)));
    struct watch w = {.progress = {say}};
    app.damages = true;
    CHECK_STATUS(model_pull(ctx, to, &card, base, NULL), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "not the expected file"));
    CHECK_INT(folder_count(to), 0);
    ctx_clear_failure(ctx);
    app.damages = false;
    CHECK_OK(model_pull(ctx, to, &card, base, &w.progress));
    CHECK_OK(model_check(ctx, to, &card));
    CHECK(w.calls >= 3);
    file_write(ctx, app.folder, "config.json", file_bytes(ctx, app.folder, "model.safetensors"));
    CHECK_STATUS(model_pull(ctx, to, &card, base, NULL), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "larger than"));
    ctx_clear_failure(ctx);
    CHECK_INT(unlink(str_printf(&ctx->arena, S_FMT "/config.json", S_ARG(app.folder)).p), 0);
    CHECK_STATUS(model_pull(ctx, to, &card, base, NULL), UPSTREAM);
    CHECK(holds(str_of(ctx->why), "404"));
    CHECK_INT(folder_count(to), 1);
    ctx_clear_failure(ctx);
    CHECK_STATUS(model_pull(ctx, to, &card, S("ftp://x"), NULL), BAD_INPUT);
    fake_server_close(server);
}

TEST(a_card_is_found_with_or_without_its_owner)
{
    CHECK_STR(str_of(model_card(S("minishlab/potion-base-8M"))->name), S("potion-base-8M"));
    CHECK_STR(str_of(model_card(S("all-MiniLM-L6-v2"))->name), S("all-MiniLM-L6-v2"));
    CHECK(model_card(S("potion")) == NULL && model_card(S("")) == NULL);
}

TEST_NEEDS(the_real_models_are_what_their_cards_say, missing_models)
{
    str from = str_of(shared_file(ctx, "models")), to = folder_new(ctx);
    for (const struct model_card *c = model_cards; c->name; c++) {
        CHECK(model_is_installed(ctx, from, c));
        CHECK_OK(model_check(ctx, from, c));
    }
    CHECK_OK(model_install(ctx, to, model_card(S("potion-base-8M")),
                           model_path(ctx, "potion-base-8M"), NULL));
    CHECK_OK(model_check(ctx, to, model_card(S("potion-base-8M"))));
}
