/* openapi_names.h - names of operations and schemas in /openapi.json. */
#pragma once

#include "surface/surface.h"

/* A table that is described once, under components. */
struct api_schema {
    const struct field *table;
    enum schema_use use;
    bool has_space; /* with a row for the member that the surface reads from every body */
    str name;
};

struct api_names {
    struct schema_names refs; /* first, so that a pointer to it is one to this */
    struct arena *arena;
    struct api_schema *v;
    size_t n, cap;
};

/* Every table of every route, and the tables inside them, each with a name of its own. */
struct api_names api_names_of(struct arena *a, const struct surface *const *list);

/* The reference to a schema that api_names_of found; refs is that of the names. */
str api_schema_ref(const struct schema_names *refs, const struct field *table, enum schema_use use);

/* The operation's name: the handler's, behind the product's; unique in the document. */
str api_operation_name(struct arena *a, const struct surface *const *list, const struct surface *s,
                       const struct route *r);

/* A method that sends a body. */
bool route_has_body(const struct route *r);
enum schema_use route_body_use(const struct surface *s, const struct route *r);
