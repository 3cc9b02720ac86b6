/* libpq.c - loads PostgreSQL's client library, once per process. */
#include "store/postgres/libpq.h"

#include <dlfcn.h>

#include "base/workers.h"

struct libpq libpq;

/* RTLD_NODELETE: the exit handlers of its TLS library must find their code. */
static enum status find_functions(struct ctx *ctx)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return fail(ctx, UNSUPPORTED,
                    "a store in PostgreSQL needs libpq (%s): install the package libpq5",
                    dlerror());
#define F(TYPE, NAME, PARAMS)                                                                      \
    if (!(*(void **)&libpq.NAME = dlsym(library, "PQ" #NAME)))                                     \
        return fail(ctx, UNSUPPORTED, "libpq is too old (%s): install a newer one", dlerror());
    LIBPQ_FUNCTIONS(F)
#undef F
    return OK;
}

enum status libpq_open(struct ctx *ctx)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_open;
    HOLD(&lock);
    enum status s = is_open ? OK : find_functions(ctx);
    is_open = s == OK;
    return s;
}
