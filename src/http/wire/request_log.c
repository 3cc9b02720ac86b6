/* request_log.c - the line of the log about a request that has ended. */
#include "base/clock.h"
#include "base/log.h"
#include "http/wire/request.h"

/* Of a chat: " recall_us=… upstream_us=… keep_us=… first_byte_us=…", of the stages it had. */
static const char *chat_times(struct ctx *ctx, const struct request *in)
{
    const struct trace *t = in->trace;
    struct buf b = buf_make(&ctx->arena, 200);
    if (!t || !t->chat.operation)
        return "";
    for (int i = 0; i < STAGE_COUNT; i++)
        if (t->stages[i].ended_us)
            buf_printf(&b, " %s_us=%lld", stage_names[i],
                       (long long)(t->stages[i].ended_us - t->stages[i].began_us));
    if (t->first_us)
        buf_printf(&b, " first_byte_us=%lld", (long long)(t->first_us - in->began_us));
    return str_c(&ctx->arena, buf_str(&b));
}

/* A client's mistake is its own affair; our failures and overload are warnings. The query may hold
 * a user's words, so the log has the path alone. */
void request_log(struct ctx *ctx, const struct server_watch *watch, const struct request *in,
                 const struct ended *e)
{
    enum log_level level = e->is_our_failure     ? LOG_WARN
                           : watch->log_requests ? LOG_INFO
                                                 : LOG_DEBUG;
    if (!log_is_on(level))
        return;
    int64_t ended_us = in->trace && in->trace->ended_us ? in->trace->ended_us : clock_mono_us();
    str path = {e->target.p, str_find(e->target, S("?"))};
#define PAIRS "id=%s method=%.16s path=\"%.*s\" code=%d status=%s us=%lld bytes=%llu%s"
    log_event(level, "http.request", e->is_our_failure ? PAIRS " why=\"%.200s\"" : PAIRS "%.0s",
              ctx->id, in->method.p ? in->method.p : "-", (int)(path.n < 200 ? path.n : 200),
              path.p ? path.p : "-", e->code, status_name(e->how),
              (long long)(ended_us - in->began_us), (unsigned long long)e->sent,
              chat_times(ctx, in), ctx->why);
}
