/* announce.h - lines that serve prints when it is ready: the address, then five for people. */
#pragma once

#include "app/instance.h"

/* On standard output. The first line, "listening on URL", is written before anything is looked up:
 * scripts wait for it. */
void announce(struct ctx *ctx, struct instance *instance, str url);
