/* request_log.h - the line of the log about a request that has ended. */
#pragma once

#include "http/http.h"

/* How it ended. */
struct ended {
    str target; /* without host and part */
    int code;
    enum status how;
    uint64_t sent;       /* bytes of the body */
    bool is_our_failure; /* else at most the client's own affair */
};

void request_log(struct ctx *ctx, const struct server_watch *watch, const struct request *in,
                 const struct ended *e);
