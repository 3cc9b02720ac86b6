/* arabic.h - Arabic words without article, particles, endings and long vowels. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* Of a word as language_fold gives it. "والحقائب" and "حقيبة" have one stem. */
str arabic_stem(struct arena *a, str word);
