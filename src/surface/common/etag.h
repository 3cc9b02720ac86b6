/* etag.h - answers that a client has already. */
#pragma once

#include "http/http.h"

/* Sets the ETag, with its quotes. True: the client has the answer, and out is a 304. tag must live
 * as long as the exchange. */
bool etag_reply(const struct request *in, str tag, struct reply *out);
