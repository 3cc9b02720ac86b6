/* loop_thread.h - the life of an event loop, for who starts and stops the server. */
#pragma once

#include "http/server/loop.h"

void loop_open(struct loop *l, struct server *s);
void loop_start(struct loop *l);
void loop_close(struct loop *l);
