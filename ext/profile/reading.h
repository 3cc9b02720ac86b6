/* reading.h - facts about a user: short names and texts, checked before anyone sees them. */
#pragma once

#include "engine/state/state.h"
#include "ext/profile/user_profile.h"

struct read_fact {
    str name, value;
    str path; /* where it stood, so that the elements of a list come together */
};

/* What was read so far: each name once, at most PROFILE_MAX. What came first stays. */
struct reading {
    struct ctx *ctx;
    struct read_fact *v;
    size_t n, cap;
    int source;    /* of the path: raised by each reader */
    size_t leaves; /* looked at */
};

/* --- fact_names.c: what may be a fact, and under which name --- */

/*
 * Adds a value that stood under these names, the outermost first. The last one names it, in
 * camelCase; with its parent's name in front where that is another being ("dog", "name") or the
 * name is taken ("work", "city"). Nothing, placeholders and secrets are left out; a day is written
 * as ISO 8601 has it where it can be only one.
 */
void reading_add(struct reading *r, const str *path, size_t depth, str value);

/* A name in camelCase of letters and digits, at most PROFILE_NAME_MAX characters; "" when nothing
 * is left of it. */
str profile_camel(struct arena *a, str name);
/* The other way: "dogName" as "dog name". Other names are unchanged. */
str profile_words(struct arena *a, str name);
/* A text on one line, visible, at most PROFILE_VALUE_MAX characters. */
str profile_text(struct arena *a, str text);
/* Without these marks at both ends. */
str strip_marks(str s, const char *marks);
/* A day as YYYY-MM-DD. The text itself when it is not a day, or could be two (3/4/1990). */
str profile_day(struct arena *a, str text);

/* --- rules.c: by rules --- */

/* An object's leaves, the outer ones first; of an array, each element. */
void read_data(struct reading *r, const struct json *data);
/* "name=value, other: value", in lines or behind one another. */
void read_pairs(struct reading *r, str text);
/* What someone says of himself: "my name is …", "I live in …". */
void read_statements(struct reading *r, struct engine *e, str text);

/* What extraction made of such a statement. */
void read_fact_memory(struct reading *r, const struct memory *m);

/* --- read.c --- */

/* As an object, in the order of reading. */
MUST_USE enum status reading_json(const struct reading *r, struct json **out);

/* What a model answered: an object, mended where it must be, or pairs. False when nothing of it
 * could be a fact; *how is as it was then. An answer that is blank says that there is nothing. */
bool profile_answer(struct ctx *own, struct reading *r, str text, str *how);

/* --- profile.c --- */

/* Merges what was read into the pool's profile, as far as there is room, in one write with the work
 * (or NULL). */
MUST_USE enum status profile_keep(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  const struct json *facts, const struct work *work);
