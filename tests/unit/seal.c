/* seal.c - secrets closed under a key: opened by it, for their owner, and unchanged, or not. */
#include <sodium.h>

#include "base/id.h"
#include "base/seal.h"
#include "t.h"

static const uint8_t key[SEAL_KEY_BYTES] = "0123456789abcdef0123456789ABCDE";
static const uint8_t other_key[SEAL_KEY_BYTES] = "0123456789abcdef0123456789ABCDF";

TEST(what_is_sealed_opens_again_whatever_its_length)
{
    struct arena *a = &ctx->arena;
    for (size_t n = 0; n < 200; n++) {
        str secret = str_sub(random_text(a, 200), 0, n), sealed = seal(a, key, S("ada"), secret),
            back = S("?");
        CHECK(unseal(a, key, S("ada"), sealed, &back));
        CHECK_STR(back, secret);
        CHECK(n < 8 || str_find(sealed, secret) == sealed.n);
    }
    str twice[] = {seal(a, key, S("ada"), S("sk-1")), seal(a, key, S("ada"), S("sk-1"))};
    CHECK(!str_eq(twice[0], twice[1]));
}

TEST(it_opens_under_its_own_key_and_for_its_own_owner_alone)
{
    struct arena *a = &ctx->arena;
    str sealed = seal(a, key, S("ada"), S("sk-ada")), back = S("?");
    CHECK(!unseal(a, other_key, S("ada"), sealed, &back));
    CHECK(!unseal(a, key, S("bob"), sealed, &back));
    CHECK(!unseal(a, key, S(""), sealed, &back));
    CHECK(!unseal(a, key, S("ada "), sealed, &back));
    CHECK_STR(back, S("?"));
    CHECK(unseal(a, key, S("ada"), sealed, &back));
}

/* Each bit of what the text stands for, and each character of it. */
TEST(no_byte_of_it_can_be_changed)
{
    struct arena *a = &ctx->arena;
    str sealed = seal(a, key, S("ada"), S("sk-of-ada")), back = S("?");
    unsigned char bytes[128];
    char text[256];
    size_t n = 0;
    CHECK_INT(sodium_base642bin(bytes, sizeof bytes, sealed.p, sealed.n, NULL, &n, NULL,
                                sodium_base64_VARIANT_URLSAFE_NO_PADDING),
              0);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        sodium_bin2base64(text, sizeof text, bytes, n, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
        CHECK(!unseal(a, key, S("ada"), str_of(text), &back));
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t i = 0; i < sealed.n; i++) {
        str changed = str_dup(a, sealed);
        ((char *)changed.p)[i] = changed.p[i] == '!' ? '?' : '!';
        CHECK(!unseal(a, key, S("ada"), changed, &back));
        CHECK(!unseal(a, key, S("ada"), str_sub(sealed, 0, i), &back));
    }
    CHECK(!unseal(a, key, S("ada"), (str){0}, &back));
    CHECK(unseal(a, key, S("ada"), sealed, &back));
}

TEST(a_key_is_read_as_base64url_or_hex)
{
    uint8_t got[SEAL_KEY_BYTES];
    static const char base64[] = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERQA";
    static const char hex[] = "303132333435363738396162636465663031323334353637383941424344"
                              "4500";
    str ways[] = {str_of(base64), S("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERQA=\n"), str_of(hex)};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        memset(got, 0, sizeof got);
        CHECK(seal_key_read(ways[i], got));
        CHECK(memcmp(got, key, sizeof key) == 0);
    }
    str wrong[] = {S(""),
                   S("secret"),
                   str_sub(str_of(base64), 0, 42),
                   S("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERQA+"),
                   S("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNER+A"),
                   S("g03132333435363738396162636465663031323334353637383941424344450x")};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!seal_key_read(wrong[i], got));
}
