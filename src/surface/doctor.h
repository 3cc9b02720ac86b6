/* doctor.h - a part of the surfaces' face: what is wrong with a server or data, and what to do. */
#pragma once

#include "engine/engine.h"

/* What is looked at. */
struct doctor_in {
    const struct settings *settings;
    struct engine *engine;  /* NULL: the database is not open */
    str folder, folder_why; /* of the data; why it cannot be found, or "" */
    bool is_there;          /* the database exists */
    str store_why;          /* why it is not open though it is there, or "" */
    bool lacks_key;         /* that was for the want of the right key */
    str key_from;           /* where the key of an encrypted database is, in words; or "" */
    bool key_is_beside;     /* in a file beside the data */
    bool is_deep;           /* compare all of the database's indexes with its tables */
    str seal_why;           /* why the key of users' API keys cannot be read, or "" */
};

struct finding {
    str level, what, detail, advice; /* level: ok, warn, bad; advice: "" when there is none */
};
extern const struct field finding_fields[];
enum { FINDINGS_MAX = 64 };

/*
 * Every check runs even after a failure, so that one run shows all problems. Nothing is repaired;
 * calls go to the upstreams, to the source of vectors and to the storage of backups alone, and wait
 * for five seconds at most. False when any finding is bad.
 */
bool surface_doctor(struct ctx *ctx, const struct doctor_in *in, struct finding **out, size_t *n);
/* {"ok", "findings": […]}, the same for the command line. */
void surface_findings_json(struct buf *b, bool is_well, const struct finding *v, size_t n);
/* Whether seal.key in the folder is there, and whether other users of the machine can read it. */
bool surface_has_seal(struct ctx *ctx, str folder, unsigned *mode);
