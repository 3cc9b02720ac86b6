/* route.c - from a path to the row that serves it. */
#include "http/wire/route.h"

#include <ctype.h>

#include "base/utf8.h"

/*
 * The router is one list of all rows of all surfaces, with their paths cut into segments when the
 * server opens. A request is compared with every row, which is quick: most differ in the number of
 * segments or in the first one. The list is constant while the server runs, so all threads read it
 * without a lock.
 *
 * Segments are compared as they came and decoded afterwards: an encoded slash belongs to a name and
 * does not part it.
 */

enum token_scope route_scope(const struct surface *s, const struct route *r)
{
    if (r->scope || r->access == ACCESS_OPEN)
        return r->scope;
    if (r->access != ACCESS_USER)
        return MAY_MANAGE;
    if (s->scope)
        return s->scope;
    return strcmp(r->method, "GET") == 0 ? MAY_READ : MAY_WRITE;
}

/* RFC 3986, section 2.1. What is refused could be another name further down. Plus means a space in
 * a query only, as HTML forms write it. */
bool percent_decode(struct arena *a, str s, bool plus_is_space, str *out)
{
    if (!memchr(s.p, '%', s.n) && !(plus_is_space && memchr(s.p, '+', s.n))) {
        *out = s;
        return utf8_is_valid(s);
    }
    char *p = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '+' && plus_is_space)
            c = ' ';
        if (c == '%') {
            int high = i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1;
            int low = i + 2 < s.n ? hex_digit(s.p[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            if (!c)
                return false;
            i += 2;
        }
        p[n++] = c;
    }
    *out = (str){p, n};
    return utf8_is_valid(*out);
}

str percent_encode(struct arena *a, str s)
{
    struct buf b = buf_make(a, s.n * 3 + 1);
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x80 && (isalnum(c) || char_is_one_of((char)c, "-._~")))
            buf_byte(&b, (char)c);
        else
            buf_printf(&b, "%%%02X", c);
    }
    return buf_str(&b);
}

/* Splits "/a/b" into a and b; "/" has none. Too many give SEGMENTS_MAX + 1, which no row has. */
static size_t split_path(str path, str *segments)
{
    size_t n = 0;
    if (path.n && path.p[0] == '/')
        path = str_sub(path, 1, path.n);
    if (!path.n)
        return 0;
    for (;;) {
        size_t end = str_find(path, S("/"));
        if (n == SEGMENTS_MAX)
            return SEGMENTS_MAX + 1;
        segments[n++] = str_sub(path, 0, end);
        if (end == path.n)
            return n;
        path = str_sub(path, end + 1, path.n);
    }
}

static bool is_param(str segment)
{
    return segment.n && segment.p[0] == '{';
}

struct router router_new(const struct surface *const *surfaces)
{
    struct router r = {0};
    size_t n = 0;
    for (const struct surface *const *s = surfaces; *s; s++)
        for (const struct route *route = (*s)->routes; route->method; route++)
            n++;
    r.rows = heap_alloc(n * sizeof *r.rows);
    for (const struct surface *const *s = surfaces; *s; s++) {
        for (const struct route *route = (*s)->routes; route->method; route++) {
            struct route_row *row = &r.rows[r.n++];
            *row = (struct route_row){.surface = *s, .route = route};
            row->n = split_path(str_of(route->path), row->segments);
            assert(row->n <= SEGMENTS_MAX);
        }
    }
    return r;
}

void router_free(struct router *r)
{
    free(r->rows);
    *r = (struct router){0};
}

/* A parameter takes any segment but an empty one: "/a//b" has no id. */
static bool matches_row(const struct route_row *row, const str *segments, size_t n)
{
    return row->n == n && EVERY(i, n,
                                is_param(row->segments[i]) ? segments[i].n > 0
                                                           : str_eq(row->segments[i], segments[i]));
}

/* Whose dialect words a 404: the surface with the most leading segments in common, or NULL. */
static const struct surface *most_alike(const struct router *r, const str *segments, size_t n)
{
    const struct surface *best = NULL;
    size_t most = 0;
    for (const struct route_row *row = r->rows; row < r->rows + r->n; row++) {
        size_t i = 0;
        while (i < n && i < row->n && str_eq(row->segments[i], segments[i]))
            i++;
        if (i > most) {
            most = i;
            best = row->surface;
        }
    }
    return best;
}

/* Literal segments win over {…}, from the left. */
static bool is_better(const struct route_row *a, const struct route_row *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (is_param(a->segments[i]) != is_param(b->segments[i]))
            return !is_param(a->segments[i]);
    return false;
}

/* GET serves HEAD as well. */
static void allow_method(struct match *m, const char *method)
{
    size_t n = strlen(m->allow);
    if (strstr(m->allow, method))
        return;
    snprintf(m->allow + n, sizeof m->allow - n, "%s%s", n ? ", " : "", method);
    if (strcmp(method, "GET") == 0)
        allow_method(m, "HEAD");
}

static void take_params(const struct route_row *row, const str *decoded, struct match *out)
{
    size_t n = 0;
    for (size_t i = 0; i < row->n && n < ROUTE_PARAMS_MAX; i++)
        if (is_param(row->segments[i]))
            out->params[n++] = decoded[i];
}

/* "." or ".." as a segment, or between encoded slashes inside one: an upstream that decodes the
 * path could leave the folder that it serves. */
static bool climbs_up(str segment)
{
    while (segment.n) {
        str part = str_cut(&segment, '/');
        if (str_is(part, ".") || str_is(part, ".."))
            return true;
    }
    return false;
}

/* OK with no route in *out is not an error yet: allow says whether the path exists with other
 * methods (405, or an answer to OPTIONS), and surface who words the failure. */
enum status router_find(struct ctx *ctx, const struct router *r, str method, str raw,
                        struct match *out)
{
    str segments[SEGMENTS_MAX], decoded[SEGMENTS_MAX];
    size_t n = split_path(raw, segments);
    struct route_row *best = NULL, *of_path = NULL;
    bool is_head = str_is(method, "HEAD");
    *out = (struct match){0};
    for (struct route_row *row = r->rows; row < r->rows + r->n; row++) {
        if (!matches_row(row, segments, n))
            continue;
        if (!of_path || is_better(row, of_path))
            of_path = row;
        bool fits = str_is(method, row->route->method) ||
                    (is_head && strcmp(row->route->method, "GET") == 0);
        if (fits && (!best || is_better(row, best)))
            best = row;
    }
    out->surface = of_path ? of_path->surface : most_alike(r, segments, n);
    for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
        if (!percent_decode(&ctx->arena, segments[i], false, &decoded[i]))
            return fail(ctx, BAD_INPUT, PATH_RULE);
        if (climbs_up(decoded[i]))
            return fail(ctx, BAD_INPUT, "the path must not hold . or ..");
    }
    if (!of_path) /* 404 */
        return OK;
    /* The proxy takes nearly any path of /v1. A path that another surface serves with other methods
     * must be a 405 of that surface, not a request to the upstream. */
    if (best && best->surface != of_path->surface && is_better(of_path, best))
        best = NULL;
    if (!best) { /* 405, or OPTIONS */
        /* Two surfaces may share a path; the proxy's is any path, and less literal. */
        for (const struct route_row *row = r->rows; row < r->rows + r->n; row++)
            if (matches_row(row, segments, n) &&
                (row->surface == of_path->surface || !is_better(of_path, row)))
                allow_method(out, row->route->method);
        return OK;
    }
    out->surface = best->surface;
    out->route = best->route;
    out->allowance = best->route->access == ACCESS_OPEN ? &best->allowance : NULL;
    take_params(best, decoded, out);
    return OK;
}
