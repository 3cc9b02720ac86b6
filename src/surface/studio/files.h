/* files.h - the built page and the documentation as they lie in the binary. */
#pragma once

#include "base/str.h"

struct page_file {
    const char *path, *type, *etag; /* "/assets/studio.AB12CD34.js"; '"…"' */
    bool is_immutable;              /* its path names its content */
    str gzip, brotli;               /* brotli: or empty */
};

/* Written by tools/embed-page; ends with an all-zero row. */
extern const struct page_file page_files[];
