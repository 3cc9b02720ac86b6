/* client.h - what the server and the client share of curl. */
#pragma once

#include <curl/curl.h>

/* How this handle finds its way: through the environment's proxy, but not to this machine. */
void client_set_route(CURL *easy);
