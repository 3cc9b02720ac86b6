/* gunzip.h - text out of a gzip file (RFC 1951, 1952), for files built into the program. */
#pragma once

#include "base/buf.h"

/* Appends what one gzip member without optional fields holds. False: cut, damaged or too large for
 * out; its check sum is not compared. */
MUST_USE bool gunzip(str packed, struct buf *out);
