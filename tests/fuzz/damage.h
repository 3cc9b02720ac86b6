/* damage.h - what fuzz targets do to a file: bytes changed, pages swapped, cut, SQL run on it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_bytes {
    uint8_t *v; /* of malloc; NULL: there is no file */
    size_t n;
};

struct file_bytes get_file(const char *path);
void put_file(const char *path, const uint8_t *v, size_t n);

/*
 * Edits, each of them: where (4 bytes, modulo the size), how many bytes (1), the bytes. What is
 * left of the file: with cuts it ends behind the last edit.
 */
size_t edit(uint8_t *v, size_t n, const uint8_t *data, size_t size, bool cuts);

/* Swaps pages of 512 bytes, the smallest of SQLite: each pair is two numbers of 2 bytes, modulo the
 * pages. */
void swap_pages(uint8_t *v, size_t n, const uint8_t *data, size_t size);

/* Runs the text by SQLite with all that it can do inside this file, for a limited time. */
void run_sql(const char *path, const uint8_t *data, size_t size);
