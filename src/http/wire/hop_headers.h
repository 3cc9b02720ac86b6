/* hop_headers.h - headers that a relay passes on from end to end, and types that browsers run. */
#pragma once

#include "http/http.h"

enum way { TO_UPSTREAM, TO_CLIENT };

/* False for a header that ends here: it concerns one connection, or speaks for one origin. */
bool header_goes_on(str name, enum way way);

/* Whether one of the Connection headers names it: then it ends here, too. */
bool header_is_of_connection(const struct header *headers, size_t n, str name);

/* Whether a browser that opens an answer of this Content-Type may run scripts in it. */
bool type_runs_scripts(str type);
