/* points.c - memories as points: where each one is, putting and deleting them. */
#include "store/qdrant/points.h"

#include "base/id.h"
#include "store/qdrant/collection.h"
#include "store/qdrant/rest.h"

/*
 * Putting and deleting are idempotent: a call that timed out may be sent again. Each call first
 * asks which of the possible points exist and whose they are, then writes; the queue of the store
 * (sync_queue.c) keeps memories that have to be tried again.
 */

/* --- where a memory is --- */

/* A point has its memory's UUID. After an import two owners may have the same UUID; then the second
 * one's point gets an id made of owner and memory. Points that other programs keep in the
 * collection are never touched. */
struct place {
    str plain, derived; /* the possible ids; plain is "" when the memory's id is no UUID */
    str id;             /* the one to use */
    bool is_there;
};

static void begin_body(struct json_out *w, const char *ids)
{
    json_open(w, '{');
    json_member_open(w, ids, '[');
}

static str locate_question(struct arena *a, const struct place *places, size_t n)
{
    struct json_out w = json_in(a, QDRANT_BODY_MAX);
    begin_body(&w, "ids");
    for (size_t i = 0; i < n; i++) {
        if (places[i].plain.n)
            json_str(&w, places[i].plain);
        json_str(&w, places[i].derived);
    }
    json_close(&w, ']');
    json_member_raw(&w, "with_payload", S("[\"userId\",\"apiKeyId\"]"));
    json_member_bool(&w, "with_vector", false);
    json_close(&w, '}');
    return buf_str(w.b);
}

static const struct json *point_of(const struct json *points, str id)
{
    for (const struct json *p = points ? points->first : NULL; id.n && p; p = p->next)
        if (str_eq_nocase(json_string(json_get(p, "id")), id))
            return p;
    return NULL;
}

bool qdrant_is_of(const struct json *point, struct pool_ref pool)
{
    const struct json *payload = json_get(point, "payload");
    return str_eq(json_string(json_get(payload, "userId")), pool.user) &&
           (!pool.space.n || str_eq(json_string(json_get(payload, "apiKeyId")), pool.space));
}

/* Another owner's memory earlier in the same call has taken the id. */
static bool is_claimed(const struct qdrant_ref *refs, const struct place *places, size_t i)
{
    return SOME(j, i,
                str_eq_nocase(places[j].id, places[i].plain) &&
                    !(str_eq(refs[j].pool.user, refs[i].pool.user) &&
                      str_eq(refs[j].pool.space, refs[i].pool.space)));
}

/* Keeps the place of a point that exists; a new one gets the plain id if nobody has it. */
static void settle_points(const struct qdrant_ref *refs, struct place *places, size_t i,
                          const struct json *points)
{
    struct place *p = &places[i];
    const struct json *at_plain = point_of(points, p->plain);
    assert(p->derived.n);
    bool is_apart = point_of(points, p->derived) != NULL;
    bool is_ours = at_plain && qdrant_is_of(at_plain, refs[i].pool);
    bool is_free = p->plain.n && !at_plain && !is_claimed(refs, places, i);
    p->is_there = is_apart || is_ours;
    p->id = !is_apart && (is_ours || is_free) ? p->plain : p->derived;
}

/* 404 is a missing collection: then no point exists. */
static enum status locate_points(struct ctx *ctx, const struct qdrant_settings *q,
                                 const struct qdrant_ref *refs, size_t n, struct place **out)
{
    struct place *places = NEW_N(&ctx->arena, struct place, n + 1);
    struct qdrant_answer answer;
    for (size_t i = 0; i < n; i++) {
        places[i].derived =
            ID_OF(&ctx->arena, S("qdrant"), refs[i].pool.user, refs[i].pool.space, refs[i].id);
        places[i].plain = id_is_uuid(refs[i].id) ? refs[i].id : S("");
    }
    TRY(qdrant_ask(ctx, q, "POST", "/points", locate_question(&ctx->arena, places, n), &answer));
    if (answer.code != 200 && answer.code != 404)
        return qdrant_refused(ctx, &answer);
    for (size_t i = 0; i < n; i++)
        settle_points(refs, places, i, answer.code == 200 ? answer.result : NULL);
    *out = places;
    return OK;
}

/* --- putting --- */

void qdrant_vector(struct json_out *w, const float *v, size_t dimensions)
{
    char text[32];
    json_open(w, '[');
    for (size_t i = 0; i < dimensions; i++) {
        /* Nine digits restore every float exactly. */
        int n = snprintf(text, sizeof text, "%.9g", (double)v[i]);
        json_raw(w, (str){text, (size_t)n});
    }
    json_close(w, ']');
}

/* The fields of these collections hold unix seconds, and filters compare integers; null is
 * "never". */
static void write_seconds(struct json_out *w, const char *name, int64_t ms)
{
    json_key(w, name);
    if (ms)
        json_int(w, ms / 1000);
    else
        json_null(w);
}

/* The member names that such collections already have, plus the user and the memory's own type. */
static void write_payload(struct json_out *w, const struct qdrant_point *p)
{
    const struct memory *m = p->memory;
    json_member_open(w, "payload", '{');
    json_member_str(w, "kind", S(QDRANT_KIND));
    json_member_str(w, "memoryId", m->id);
    json_member_str(w, "userId", p->pool.user);
    json_member_str(w, "apiKeyId", p->pool.space);
    json_member_str(w, "sessionId", m->session);
    json_member_str(w, "type", str_of(type_names[m->type]));
    json_member_str(w, "key", m->key);
    json_member_str(w, "content", m->content);
    json_member_raw(w, "metadata", m->metadata.n ? m->metadata : S("{}"));
    write_seconds(w, "createdAtUnix", m->created);
    write_seconds(w, "expiresAtUnix", m->expires);
    json_close(w, '}');
}

static void write_point(struct json_out *w, const struct qdrant_collection *c, str id,
                        const struct qdrant_point *p)
{
    json_open(w, '{');
    json_member_str(w, "id", id);
    json_key(w, "vector");
    if (c->is_named) {
        json_open(w, '{');
        json_key(w, str_c(w->b->arena, c->vector));
    }
    qdrant_vector(w, p->v, p->dimensions);
    if (c->is_named)
        json_close(w, '}');
    write_payload(w, p);
    json_close(w, '}');
}

/* 400, 413 and 422 are about the points: the caller may send them one by one. */
static enum status put_all(struct ctx *ctx, const struct qdrant_settings *q,
                           const struct qdrant_collection *c, const struct place *places,
                           const struct qdrant_point *points, size_t n)
{
    struct qdrant_answer answer;
    struct json_out w = json_in(&ctx->arena, QDRANT_BODY_MAX);
    begin_body(&w, "points");
    for (size_t i = 0; i < n; i++)
        write_point(&w, c, places[i].id, &points[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    if (w.b->full)
        return fail(ctx, BAD_INPUT, "Qdrant: the memories are too large for one request");
    TRY(qdrant_ask(ctx, q, "PUT", "/points?wait=true", buf_str(w.b), &answer));
    if (answer.code >= 200 && answer.code <= 299)
        return OK;
    bool is_of_points = answer.code == 400 || answer.code == 413 || answer.code == 422;
    qdrant_refused(ctx, &answer);
    return is_of_points ? BAD_INPUT : UPSTREAM;
}

enum status qdrant_put(struct ctx *ctx, const struct qdrant_settings *q,
                       const struct qdrant_point *points, size_t n, bool may_make)
{
    struct qdrant_collection c;
    struct place *places;
    struct qdrant_ref *refs = NEW_N(&ctx->arena, struct qdrant_ref, n);
    assert(n);
    for (size_t i = 0; i < n; i++)
        refs[i] = (struct qdrant_ref){points[i].pool, points[i].memory->id};
    TRY(qdrant_ensure(ctx, q, points[0].dimensions, may_make, &c));
    for (size_t i = 1; i < n; i++)
        TRY(qdrant_fits(ctx, q, &c, points[i].dimensions));
    TRY(locate_points(ctx, q, refs, n, &places));
    return put_all(ctx, q, &c, places, points, n);
}

/* --- deleting --- */

enum status qdrant_delete(struct ctx *ctx, const struct qdrant_settings *q,
                          const struct qdrant_ref *refs, size_t n)
{
    struct place *places;
    const struct json *result;
    if (!q->url.n)
        return fail(ctx, UNSUPPORTED, "not_configured");
    if (!n)
        return OK;
    TRY(locate_points(ctx, q, refs, n, &places));
    struct json_out w = json_in(&ctx->arena, QDRANT_BODY_MAX);
    begin_body(&w, "points");
    for (size_t i = 0; i < n; i++)
        if (places[i].is_there)
            json_str(&w, places[i].id);
    json_close(&w, ']');
    json_close(&w, '}');
    return SOME(i, n, places[i].is_there)
               ? qdrant_want(ctx, q, "POST", "/points/delete?wait=true", buf_str(w.b), &result)
               : OK;
}
