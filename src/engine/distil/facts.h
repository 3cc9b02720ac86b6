/* facts.h - a fact of the model's answer. */
#pragma once

#include "engine/distil/keep.h"

/* Keeps one fact of the layer; or nothing, which k->kept counts. */
MUST_USE enum status keep_fact(struct keeper *k, const struct said_fact *said, enum layer layer);
