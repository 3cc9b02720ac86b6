/* store_int.h - a backend of the store: a const table of functions. */
#pragma once

#include "store/store.h"

/* The parameters or arguments of an OP behind ctx and the store: "OP_MORE (a, b)" is ", a, b". */
#define OP_MORE(...) __VA_OPT__(, ) __VA_ARGS__

/* One backend. Each op keeps the promise of the store_… function of its name; the face has checked
 * the inputs. */
struct store_ops {
    const char *scheme; /* before "://" in the path; "" is the default */
    enum status (*open)(struct ctx *ctx, const struct store_settings *settings, struct store **out);
    void (*close)(struct store *s);
    uint64_t (*wait)(struct store *s, uint64_t seen, int64_t ms);
    void (*wake)(struct store *s);
    void (*view_begin)(struct ctx *ctx, struct store *s);
    void (*view_rest)(struct ctx *ctx);
    void (*view_pause)(struct ctx *ctx); /* or NULL */
    void (*view_end)(struct ctx *ctx);
#define OP(name, params, args, check)                                                              \
    enum status (*name)(struct ctx * ctx, struct store * s OP_MORE params);
#include "store/ops.def"
#undef OP
};

/* A backend's own struct begins with this. */
struct store {
    const struct store_ops *ops;
};

extern const struct store_ops sql_ops;
/* The same functions over PostgreSQL (store/sql/postgres.c). */
extern const struct store_ops postgres_ops;
