/* once.h - values that are made of static data when they are first asked for, and kept. */
#pragma once

#include <stddef.h>

/*
 * What make gives for the n things of that size at key, which must be static: made at the first
 * call, it lives as long as the process. make may ask for others. Any thread may ask; a later call
 * takes no lock.
 */
typedef void *once_make(const void *key, size_t n, size_t size);
const void *once_of(const void *key, size_t n, size_t size, once_make *make);
