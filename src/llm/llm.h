/* llm.h - the face of the models: the one that is built in. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/*
 * rememberd/demo: what a model that only reads its memory would say. It says that it is a stand-in,
 * and quotes the remembered lines that fit the question best. The same question and lines always
 * give the same answer.
 */
str llm_demo_answer(struct arena *a, str question, const str *remembered, size_t n);
