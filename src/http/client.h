/* client.h - what the server and the client share of curl. */
#pragma once

#include <stdbool.h>

/* Makes curl ready, once per process. */
void client_setup(void);

/* True when the environment names a proxy for some upstream; else curl need not look each time. */
bool client_may_use_proxy(void);
