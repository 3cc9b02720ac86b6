/* server.c - the parts of the server that its loops and its owner ask about. */
#include "http/server/loop.h"

void server_changed(struct server *s)
{
    if (atomic_load(&s->phase) == SERVING)
        return;
    HOLD(&s->lock);
    pthread_cond_broadcast(&s->changed);
}

bool server_is_full(const struct server *s)
{
    return atomic_load(&s->connections) >= s->settings.connections_max;
}

bool server_is_draining(const struct server *s)
{
    return atomic_load(&s->phase) != SERVING;
}

int server_port(const struct server *s)
{
    return s->listener.port;
}

str server_url(struct ctx *ctx, const struct server *s)
{
    str at = s->settings.listen;
    size_t colon = str_behind_last(at, ':');
    if (!s->listener.port)
        return at;
    str host = str_sub(at, 0, colon ? colon - 1 : 0);
    if (!host.n)
        host = S("0.0.0.0"); /* as it is listened on */
    return str_printf(&ctx->arena, "http://" S_FMT ":%d", S_ARG(host), s->listener.port);
}

/* The counters are read one after the other without a lock: the sums may be of slightly different
 * moments. */
void server_stats(const struct server *s, struct server_stats *out)
{
    *out = (struct server_stats){.connections = atomic_load(&s->connections),
                                 .active = atomic_load(&s->active),
                                 .queued = atomic_load(&s->queued)};
    for (size_t i = 0; i < s->n_loops; i++) {
        const struct counters *c = &s->loops[i].count;
        out->requests += c->requests;
        out->errors += c->errors;
        out->relays += c->relays;
        out->relays_cancelled += c->relays_cancelled;
        out->bytes_in += c->bytes_in;
        out->bytes_out += c->bytes_out;
        out->rejected_busy += c->rejected_busy;
        out->rejected_connections += c->rejected_connections;
        out->shed_connections += c->shed_connections;
    }
}
