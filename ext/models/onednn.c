/* onednn.c - finds oneDNN when a transformer is opened: 40 MB that nothing else needs. */
#include "ext/models/onednn.h"

#include <dlfcn.h>

/*
 * The library is opened by dlopen and not linked, so that the server starts on machines without it.
 * The three names are its versions 3 and 2 as Linux distributions call them; the two functions used
 * are the same in all. RTLD_LOCAL keeps its symbols away from everything else in the process.
 */

#ifdef STATIC_PROGRAM /* a library that comes with another libc would crash it */
const char *const onednn_names[] = {NULL};
#else
const char *const onednn_names[] = {"libdnnl.so.3.6", "libdnnl.so.3", "libdnnl.so.2", NULL};
#endif

enum status onednn_load(struct ctx *ctx, const char *const *names, struct onednn *out)
{
    void *library = NULL;
    /* The newest version is the one to report. */
    const char *first = *names ? NULL : "this program loads no library";
    for (; !library && *names; names++) {
        /* Its OpenMP may keep threads, whose code must not be unloaded. */
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!library && !first)
            first = str_printf(&ctx->arena, "%s", dlerror()).p;
    }
    if (!library)
        return fail(ctx, UNSUPPORTED,
                    "a transformer needs oneDNN (%s): install the package libdnnl3.6 (Debian 13) "
                    "or libdnnl2 (Debian 12), or use the static table",
                    first);
    *(void **)&out->sgemm = dlsym(library, "dnnl_sgemm");
    /* A symbol of the OpenMP library that oneDNN is linked with. */
    *(void **)&out->set_threads = dlsym(library, "omp_set_num_threads");
    if (!out->sgemm || !out->set_threads)
        return fail(ctx, UNSUPPORTED,
                    "the oneDNN library has no dnnl_sgemm or is built without OpenMP: install "
                    "the one of Debian");
    return OK;
}
