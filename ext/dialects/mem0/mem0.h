/* mem0.h - the common part of mem0's API: the owner, place and look of its memories. */
#pragma once

#include "surface/common/error_body.h"

/* The four names of mem0's entities, in the order of mem0_entities. */
enum mem0_entity { ENTITY_USER, ENTITY_AGENT, ENTITY_APP, ENTITY_RUN, ENTITY_COUNT };
extern const char *const mem0_entities[]; /* user, agent, app, run */

/* As a request names them, or as a memory has them; "" is none. */
#define MEM0_IDS                                                                                   \
    (STR, user_id, .max = 256, .is_name = true, .help = "the person"),                             \
        (STR, agent_id, .max = 256, .is_name = true, .help = "the agent: a space of its own"),     \
        (STR, app_id, .max = 256, .is_name = true, .help = "the app: a space of its own"),         \
        (STR, run_id, .max = 256, .is_name = true, .help = "the conversation")
struct mem0_ids {
    union {
        struct {
            SHAPE_EACH(SHAPE_MEMBER, mem0_ids, MEM0_IDS)
        };
        str of[ENTITY_COUNT]; /* the same by enum mem0_entity */
    };
};
extern const struct field mem0_ids_fields[];
/* The rows of a table whose struct begins with ids. */
#define MEM0_ID_ROWS FIELD_ROWS(mem0_ids, MEM0_IDS)

/* One user of mem0's: a person behind the credential, or (user_id "") the credential itself. */
struct mem0_who {
    struct identity id;
    str user_id;
};

/* --- scope.c --- */

/* Token as Bearer, in the same header. */
enum status mem0_admit(struct ctx *ctx, struct app *app, enum route_access needs,
                       struct request *in);
MUST_USE enum status mem0_who(struct ctx *ctx, const struct request *in, str user_id,
                              struct mem0_who *out);
/* Everyone whom the credential may speak for, itself first; one alone when a header names it. With
 * the id of a memory those who do not have it may be left out. */
MUST_USE enum status mem0_everyone(struct ctx *ctx, struct app *app, const struct request *in,
                                   str memory, struct mem0_who **out, size_t *n);
/* Where the memories of these ids are written. */
MUST_USE enum status mem0_pool(struct ctx *ctx, struct app *app, const struct mem0_who *who,
                               const struct mem0_ids *ids, struct pool_ref *out);
/* Where they may be: the pools in reach whose agent and app are these; "" is any. */
MUST_USE enum status mem0_pools(struct ctx *ctx, struct app *app, const struct mem0_who *who,
                                const struct mem0_ids *ids, struct pools *out);
/* The ids of what a space of who holds. */
struct mem0_ids mem0_ids_of(struct ctx *ctx, const struct mem0_who *who, str space, str session);
/* BAD_INPUT when none is named. */
MUST_USE enum status mem0_needs_ids(struct ctx *ctx, const struct mem0_ids *ids);

/* A memory that the caller reaches, and whose it is. */
struct mem0_found {
    struct mem0_who who;
    struct memory memory;
    struct pool_ref pool;
};
/* NOT_FOUND is the same for one that is not there and one out of reach. */
MUST_USE enum status mem0_find(struct ctx *ctx, struct app *app, const struct request *in, str id,
                               struct mem0_found *out);

/* --- shape.c --- */

struct mem0_memory {
    struct memory of;
    str hash, expiration_date;
    struct mem0_ids ids;
    struct strs categories;
    double score; /* NAN: it was not searched */
};
extern const struct field mem0_memory_fields[];
struct mem0_memory mem0_shape(struct ctx *ctx, const struct mem0_who *who, const struct memory *m);
/* YYYY-MM-DD: up to the end of that day. "" is never. */
MUST_USE enum status mem0_expires(struct ctx *ctx, str date, int64_t *out);

enum status mem0_show(struct ctx *ctx, const struct mem0_found *found, struct reply *out);

struct mem0_said {
    str message;
};
extern const struct field mem0_said_fields[];
enum status mem0_say(struct reply *out, str message);

void word_mem0_error(struct ctx *ctx, enum status s, const struct request *in, struct reply *out);
extern const struct error_shape mem0_errors;
#define MEM0_SURFACE(ROUTES)                                                                       \
    {                                                                                              \
        "mem0", ROUTES, word_mem0_error, mem0_admit, SURFACE_SETTLES, .errors = &mem0_errors       \
    }

/* --- the calls, each by its two sets of paths --- */

struct mem0_add_in {
    struct mem0_ids ids;
    const struct json *messages;
    bool infer;
    str metadata, expiration_date;
    double timestamp;
};
extern const struct field mem0_add_in_fields[];
MUST_USE enum status mem0_add(struct ctx *ctx, struct app *app, const struct request *in,
                              const struct mem0_add_in *add, const struct json **results,
                              str *message);
extern const struct field mem0_added_fields[];

/* Users, agents, apps and runs are listed, and erased with all they hold. */
extern const struct field mem0_entity_page_fields[];
handler mem0_entity_list, mem0_erase_all, mem0_erase_entity;

handler mem0_get, mem0_history, mem0_erase;
struct mem0_erase_in {
    bool delete_linked;
};
extern const struct field mem0_erase_in_fields[];
extern const struct field mem0_history_fields[];

struct mem0_change_in {
    str text, metadata, expiration_date;
    const struct json *timestamp;
};
extern const struct field mem0_change_in_fields[];
/* json is what c was read from: null is told from absent there. *out is the memory as it is now. */
MUST_USE enum status mem0_change(struct ctx *ctx, struct app *app, const struct request *in, str id,
                                 const struct mem0_change_in *c, const struct json *json,
                                 struct mem0_found *out);
