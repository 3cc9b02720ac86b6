/* inspect.h - the common part of the endpoints for looking: receipts in lists, and messages. */
#pragma once

#include "surface/common/auth.h"
#include "surface/common/list_page.h"

/* A receipt in a list that has score and why: those of the message or memory that it gave. */
extern const struct field use_item_fields[];
/* A page of receipts, each with these fields; in->pools is the caller's. The cursor is of the list
 * named by `of`. Fills everything of the page. */
MUST_USE enum status receipts_page(struct ctx *ctx, struct app *app, const struct field *fields,
                                   struct receipts_in *in, str of, str cursor,
                                   struct list_page *out);

/* A message with all that its owner may see. */
extern const struct field message_item_fields[];
MUST_USE enum status message_items(struct ctx *ctx, const struct message *v, size_t n, str space,
                                   const struct json **out);

/* Where a session is, by the id in the path. */
MUST_USE enum status session_at(struct ctx *ctx, struct app *app, const struct request *in,
                                struct session *out, struct pool_ref *pool);
