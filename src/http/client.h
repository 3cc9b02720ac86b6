/* client.h - what the server and the client share of curl. */
#pragma once

/* Makes curl ready, once per process. */
void client_setup(void);
