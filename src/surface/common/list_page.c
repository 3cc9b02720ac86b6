/* list_page.c - the cursor of a list: a place as text, with a check that it is of this list. */
#include "surface/common/list_page.h"

#include <endian.h>
#include <math.h>
#include <sodium.h>

#include "base/id.h"
#include "base/seal.h"

/*
 * base64url of: a check of CHECK bytes, the value's eight, the row's eight, the name. The check is
 * a hash of all the rest and of the list that it is of, under CURSOR_KIND, which changes with the
 * format. It tells a mistake from a cursor and needs no secret: a place says only where to begin,
 * and every statement is bound to its pool.
 */
static const char CURSOR_KIND[] = "rememberd list 1";
enum { CHECK = 8, FIXED = CHECK + 16 };

/* Eight bytes from the machine's order into that of a cursor, or back. */
static void copy_number(void *to, const void *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof v);
    v = htole64(v);
    memcpy(to, &v, sizeof v);
}

static void check_of(str of, const uint8_t *place, size_t n, uint8_t out[static 16])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, (const uint8_t *)CURSOR_KIND, sizeof CURSOR_KIND, 16);
    crypto_generichash_update(&state, place, n);
    crypto_generichash_update(&state, (const uint8_t *)of.p, of.n);
    crypto_generichash_final(&state, out, 16);
}

str cursor_write(struct ctx *ctx, str of, const struct list_place *last)
{
    size_t n = FIXED + last->name.n;
    uint8_t *bytes = arena_alloc(&ctx->arena, n), check[16];
    copy_number(bytes + CHECK, &last->value);
    copy_number(bytes + CHECK + 8, &last->row);
    if (last->name.n)
        memcpy(bytes + FIXED, last->name.p, last->name.n);
    check_of(of, bytes + CHECK, n - CHECK, check);
    memcpy(bytes, check, CHECK);
    return base64url_of(&ctx->arena, bytes, n);
}

enum status cursor_read(struct ctx *ctx, str of, str cursor, struct list_place *out)
{
    uint8_t check[16];
    str text;
    if (!cursor.n)
        return OK;
    if (!base64url_read(&ctx->arena, cursor, &text) || text.n < FIXED)
        return fail_field(ctx, "cursor", "must be the next of a page of this list");
    const uint8_t *bytes = (const uint8_t *)text.p;
    check_of(of, bytes + CHECK, text.n - CHECK, check);
    struct list_place place = {.name = str_sub(text, FIXED, text.n)};
    copy_number(&place.value, bytes + CHECK);
    copy_number(&place.row, bytes + CHECK + 8);
    if (sodium_memcmp(bytes, check, CHECK) != 0 || !isfinite(place.value))
        return fail_field(ctx, "cursor",
                          "is of another list: the filters and the order must stay the same");
    *out = place;
    return OK;
}

enum status list_reply(struct ctx *ctx, const struct field *table, void *page, const void *items,
                       size_t n, size_t size, struct reply *out)
{
    const struct field *row = table;
    for (; row->type != FIELD_JSON || !row->inside; row++)
        assert(row->name);
    TRY(json_list(ctx, row->inside, items, n, size, (void *)((char *)page + row->at)));
    return reply_fields(out, table, page);
}
