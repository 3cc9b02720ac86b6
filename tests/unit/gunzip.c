/* gunzip.c - text out of gzip files, and damaged ones. */
#include "base/gunzip.h"
#include "t.h"

static const unsigned char fixed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
                                      0x03, 0xf3, 0xad, 0x54, 0x48, 0xc9, 0x4f, 0x57, 0xc8,
                                      0x2c, 0x56, 0x48, 0x4e, 0xcc, 0xc9, 0x49, 0x4d, 0x51,
                                      0x08, 0x4a, 0xad, 0xd0, 0x53, 0xf0, 0xc5, 0x22, 0xaa,
                                      0xa3, 0x90, 0x98, 0x97, 0xa2, 0x90, 0x5b, 0x09, 0x14,
                                      0x2a, 0x41, 0x92, 0x09, 0xc9, 0xcf, 0xd5, 0x03, 0x00,
                                      0xbb, 0x8e, 0x52, 0x00, 0x45, 0x00, 0x00, 0x00};
static const unsigned char stored[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x03,
                                       0x01, 0x05, 0x00, 0xfa, 0xff, 0x70, 0x6c, 0x61, 0x69, 0x6e,
                                       0xcf, 0x62, 0x20, 0x19, 0x05, 0x00, 0x00, 0x00};

static str bytes(const unsigned char *p, size_t n)
{
    return (str){(const char *)p, n};
}

TEST(blocks_with_the_fixed_code_and_stored_ones_are_read)
{
    struct buf out = buf_make(&ctx->arena, 1000);
    CHECK(gunzip(bytes(fixed, sizeof fixed), &out));
    CHECK_STR(buf_str(&out),
              S("My dog is called Rex. My dog is called Rex, and my cat is called Tom."));
    CHECK(gunzip(bytes(stored, sizeof stored), &out));
    CHECK(str_ends(buf_str(&out), S("Tom.plain")));
}

TEST(a_text_that_does_not_fit_is_an_error)
{
    struct buf out = buf_make(&ctx->arena, 20);
    CHECK(!gunzip(bytes(fixed, sizeof fixed), &out));
}

/* Cut anywhere, or with any byte changed: an end, and no byte outside the file is read. */
TEST(a_damaged_file_ends)
{
    for (size_t n = 0; n < sizeof fixed; n++) {
        struct buf out = buf_make(&ctx->arena, 1000);
        unsigned char *copy = memcpy(heap_alloc(n ? n : 1), fixed, n); /* its end is seen by ASan */
        CHECK(!gunzip(bytes(copy, n), &out));
        free(copy);
    }
    for (size_t at = 0; at < sizeof fixed; at++) {
        for (unsigned flip = 1; flip < 256; flip++) {
            struct buf out = buf_make(&ctx->arena, 1000);
            unsigned char copy[sizeof fixed];
            memcpy(copy, fixed, sizeof copy);
            copy[at] ^= (unsigned char)flip;
            if (gunzip(bytes(copy, sizeof copy), &out))
                CHECK(at >= 4);
            CHECK(out.n <= out.max);
        }
    }
}
