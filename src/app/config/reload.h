/* reload.h - settings that are read again while the server runs. */
#pragma once

#include "app/instance.h"

/* What fails is logged: the server goes on as before. The settings live in the ctx. */
void reload_settings(struct ctx *ctx, const struct options *o, struct instance *instance);
