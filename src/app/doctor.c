/* doctor.c - the command doctor: looks at the data without a server, and prints what was found. */
#include "surface/doctor.h"
#include "app/command.h"
#include "app/instance.h"
#include "app/key/key.h"
#include "app/print.h"

/* A missing key file is not created: a new key would hide that the old one is lost. One that others
 * can read is not used, as the server does not use it. */
static void take_seal(struct ctx *ctx, struct instance *instance, struct doctor_in *in)
{
    unsigned mode = 0;
    bool has_file = surface_has_seal(ctx, instance->folder, &mode);
    if (!instance->settings.encryption_key.n && (!has_file || (mode & 077)))
        return;
    if (instance_take_seal(ctx, instance) != OK)
        in->seal_why = ctx_take_why(ctx);
}

/* Each step needs the one before, so the first failure is the last finding about the database. */
static void open_instance(struct ctx *ctx, const struct options *o, struct instance *instance,
                          struct doctor_in *in)
{
    if (instance_find(ctx, &o->settings, instance) != OK) {
        in->folder_why = ctx_take_why(ctx);
        return;
    }
    in->folder = instance->folder;
    in->is_there = o->settings.store.n || !instance_is_new(ctx, instance);
    if (!in->is_there)
        return;
    enum status s = instance_open(ctx, o, TO_ADD, instance);
    if (s != OK) {
        in->lacks_key = ctx->failed == FORBIDDEN;
        in->store_why = ctx_take_why(ctx);
        return;
    }
    in->engine = instance->engine;
    in->key_from = instance->key_from;
    in->key_is_beside = str_is(instance->key_from, key_stores[KEY_STORE_FILE].name);
    take_seal(ctx, instance, in);
}

/* One line per finding; a script reads --json instead. */
static void print_findings(struct ctx *ctx, const struct options *o, bool is_well,
                           const struct finding *v, size_t n)
{
    struct buf b = buf_make(&ctx->arena, PRINT_MAX);
    if (o->json) {
        surface_findings_json(&b, is_well, v, n);
        print_buf(&b);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        printf("%-5s" S_FMT ": ", v[i].level.p, S_ARG(v[i].what));
        print_line(v[i].detail);
        if (v[i].advice.n)
            printf("     -> " S_FMT "\n", S_ARG(v[i].advice));
    }
}

/* What is left behind an accepted loss may be a mixture of old and new pages, so all of it is read.
 * Exit status 1 when any finding is bad, for scripts and service managers. */
enum status command_doctor(struct ctx *ctx, const struct options *o)
{
    CLEANUP(instance_close) struct instance instance = {0};
    struct doctor_in in = {.settings = &o->settings, .is_deep = o->deep || o->accept_loss};
    struct finding *v;
    size_t n, bad = 0;
    open_instance(ctx, o, &instance, &in);
    bool is_well = surface_doctor(ctx, &in, &v, &n);
    for (size_t i = 0; i < n; i++)
        bad += str_is(v[i].level, "bad");
    print_findings(ctx, o, is_well, v, n);
    return bad ? fail(ctx, STORAGE, "%zu %s found", bad, bad == 1 ? "problem" : "problems") : OK;
}
