/* http.h - the face of http: serving requests, relaying upstream answers, calling other servers. */
#pragma once

#include "base/fields.h"
#include "core/memory.h"
#include "http/call.h"
#include "http/dialect.h"
#include "http/relay.h"
#include "http/stream.h"
#include "http/trace.h"

/* --- a request and its reply --- */

enum { ROUTE_PARAMS_MAX = 6, REPLY_HEADERS_MAX = 16 };

/* Who asks, as the surface's admit found out, and its settle where the body says more. */
struct identity {
    struct pool_ref pool;   /* whose memory the request uses, and which space */
    struct pool_ref own;    /* the credential's user, whose person pool.user may be, and space */
    str acts_for;           /* the people it may speak for, as in struct token */
    bool is_person;         /* pool.user is a person of own.user */
    const char *space_from; /* what in the request named the space; NULL: it is the own one */
    bool is_admin;          /* may reach every space of its user, and has the rights of role */
    enum role role;         /* of own.user */
    bool is_everywhere;     /* the request asks for all spaces in reach at once */
    str token;              /* its id, by which requests are counted; "" without a token */
    int64_t expires;        /* the token's; 0: never */
    unsigned scopes;        /* what the token may do, as enum token_scope; 0: all */
    str spaces;             /* those that the token is bound to, as in struct token */
    str credential;         /* the Authorization value that may be passed on upstream, or "" */
};

/* FORBIDDEN names the scope that the caller's token lacks. */
MUST_USE enum status identity_may(struct ctx *ctx, const struct identity *who,
                                  enum token_scope needs);

/* What auth says of a credential that it did not accept. */
struct attempt {
    bool is_wrong; /* not only missing */
    str account;   /* the user whose token it was, or "" */
    int retry_s;   /* set where a limit refuses it */
};

/* Lives as long as the exchange, relay included. */
struct request {
    str method, path, query; /* path is percent-decoded; query is raw, without '?' */
    const struct header *headers;
    size_t n_headers;
    str body;
    const void *in; /* the struct of route.takes, read and checked; NULL when it takes nothing */
    const struct json *json;      /* the parsed body when route.takes or route.wants_json is set */
    const struct json *aside;     /* what the body says for surface.aside; json is without it */
    str params[ROUTE_PARAMS_MAX]; /* the {…} parts of the path in order, decoded */
    struct identity who;
    bool is_loopback;  /* the peer is this machine, and shows no sign of a proxy */
    str address;       /* the client's, as address.h writes it, with a NUL; "": this machine */
    bool is_forwarded; /* a proxy on this machine says so */
    struct attempt *attempt; /* for the limits; or NULL */
    int64_t began_us;        /* clock_mono_us when the first byte came */
    struct trace *trace;     /* NULL until the head is there */
};

/* The value of a header (name in any case) or ""; of two with one name the first. */
str request_header(const struct request *r, const char *name);
/* A query parameter, percent-decoded into the arena, or "". */
str request_query(struct ctx *ctx, const struct request *r, const char *name);
/* The same; BAD_INPUT when the parameter comes twice. */
MUST_USE enum status request_query_once(struct ctx *ctx, const struct request *r, const char *name,
                                        str *out);
/* Those that a table names, of a request whose body its route reads (ASKS). */
MUST_USE enum status request_query_read(struct ctx *ctx, const struct request *r,
                                        const struct field *table, void *out);

/* False for a broken escape, NUL, or invalid UTF-8. */
bool percent_decode(struct arena *a, str s, bool plus_is_space, str *out);
/* A part of a path or of a query: all but letters, digits and -._~ as %XX. */
str percent_encode(struct arena *a, str s);

struct reply {
    int code; /* 0 means 200 */
    struct header headers[REPLY_HEADERS_MAX];
    size_t n_headers;
    str type;            /* Content-Type; "" means application/json, or a relay's own */
    struct buf body;     /* made in the ctx's arena with the server's reply limit */
    struct relay *relay; /* set: the answer is an upstream's, and body is not used. With a type the
                            head is this reply's, whatever the upstream's says */
    struct stream *stream; /* set: the answer is made in pieces, and body is not used */
};

/* Both strings must live as long as the exchange (the ctx's arena does). More than
 * REPLY_HEADERS_MAX is a bug. */
void reply_header(struct reply *r, const char *name, str value);
/* Writes a struct by its table into the body. Always OK, for a handler that ends with it. */
enum status reply_fields(struct reply *r, const struct field *table, const void *in);

/* The value of that header in the answer. */
str request_trace(const struct ctx *ctx, const struct request *r, const char *header);

/* The HTTP code of a status: the one table. */
int http_code(enum status s);
/* The words of a code, as in "404 Not Found". */
const char *http_reason(int code);

/* --- the server --- */

struct server;

/* 0 is no limit. Those of addresses and connections are for other machines, and for clients of a
 * proxy here that names them in X-Forwarded-For. */
struct server_limits {
    int64_t address_connections;                       /* of one address at one time */
    int64_t address_requests, token_requests;          /* in flight */
    int64_t connection_rate, address_rate, token_rate; /* requests per second */
    int64_t wrong_credentials; /* per minute of one address or account, this machine's too */
};

/* What is reported of requests. */
struct server_watch {
    bool traces;       /* requests without a trace begin one, and sampled ones are recorded */
    bool log_requests; /* each request is logged, not only our failures */
    /* Each chat, when the client has its answer and the turn is kept; or NULL. Must not block. */
    void (*chat_ended)(struct app *app, const struct request *in, const struct reply *out,
                       enum status how);
};

struct server_settings {
    str listen;           /* "127.0.0.1:7077", "[::1]:0", "unix:/path"; port 0 picks a free one */
    unsigned socket_mode; /* of the file of a unix socket */
    size_t body_max, header_max, reply_max;
    size_t bodies_max;      /* bytes of all bodies at once, more are answered 429; 0: 32 largest */
    size_t connections_max; /* the longest idle one makes room for a new one; when none is idle,
                               a new one is answered 503 and closed */
    size_t queue_max;       /* requests waiting for a worker; more are answered 429 */
    size_t workers, loops;  /* 0: one per core */
    int64_t idle_ms, request_ms, upstream_ms; /* keep-alive, reading a request, upstream silence */
    const char *const *hosts;   /* NULL-ended: Host names served besides loopback's; NULL: none */
    bool any_host;              /* every Host name is served */
    const char *const *origins; /* NULL-ended: patterns of foreign pages that are served, as
                                   origin_check reads them; NULL: none */
    str exposed;                /* headers of answers that these pages may read, with commas */
    struct server_limits limits;
    bool has_upstream; /* libcurl is loaded at once, so that the first relay need not wait */
    struct server_watch watch;
};

/* SCHEME://HOST[:PORT], "null" or "*": BAD_INPUT says what is wrong. *is_wide: a page of any site
 * fits. */
MUST_USE enum status origin_check(struct ctx *ctx, str pattern, bool *is_wide);

/* BAD_INPUT: it is no address and port, or nobody knows its name. */
MUST_USE enum status listen_check(struct ctx *ctx, str at);
/* Only binds, which is all that may fail: clients that connect wait until the server starts. What
 * the settings point at must live as long as the server. */
MUST_USE enum status server_listen(struct ctx *ctx, const struct server_settings *settings,
                                   struct server **out);
/* Starts the loops, after which handlers run. surfaces is NULL-ended; the first one words errors
 * that belong to no route. */
void server_start(struct server *s, const struct surface *const *surfaces, struct app *app);
int server_port(const struct server *s);
/* The address as a URL: "http://127.0.0.1:7077", in the arena; of a unix socket as it is. */
str server_url(struct ctx *ctx, const struct server *s);
/* Serves on for ms, but each answer ends its connection: balancers leave meanwhile. Then comes
 * server_stop. */
void server_drain(struct server *s, int64_t ms);
bool server_is_draining(const struct server *s);
/* Stops accepting, finishes what runs until deadline_ms from now, then cuts. Returns how many
 * exchanges were cut. */
size_t server_stop(struct server *s, int64_t deadline_ms);
void server_close(struct server *s);

/* Counters for /metrics and /health, summed over loops. */
struct server_stats {
    uint64_t requests, errors, relays, relays_cancelled, bytes_in, bytes_out, rejected_busy,
        rejected_connections, shed_connections;
    uint64_t connections, active, queued;
};
void server_stats(const struct server *s, struct server_stats *out);
