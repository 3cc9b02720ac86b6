/* tokenizer.c - any text under a small vocabulary, and any bytes as the vocabulary itself. */
#include <assert.h>

#include "embed/common/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct tokenizer *small;

static const char file[] =
    "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
    "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"
    "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\","
    "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
    "\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"a\":1,\"##a\":2,\"##ab\":3,"
    "\"e\":4,\"\\u4e2d\":5,\",\":6,\"##\\u00e6\":7,\"##\":8}}}";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    struct ctx ctx = {0};
    enum status s = tokenizer_read(&ctx, (str){file, sizeof file - 1}, &small);
    assert(s == OK);
    ctx_free(&ctx);
    return 0;
}

static void check(const struct tokenizer *t, str text)
{
    uint32_t ids[300], known[300], few[7];
    size_t n = tokenizer_ids(t, text, true, ids, 300), i = 0;
    size_t m = tokenizer_ids(t, text, false, known, 300);
    size_t k = tokenizer_ids(t, text, true, few, 7);
    assert(n <= 300 && m <= 300 && k <= 7 && k <= n);
    assert(memcmp(ids, few, (k < 7 ? k : 0) * sizeof *ids) == 0);
    uint32_t unknown = TOKEN_NONE; /* what `known` leaves out is always the same id */
    for (size_t j = 0; j < n && n < 300; j++) {
        assert(ids[j] <= tokenizer_greatest(t));
        if (i < m && known[i] == ids[j]) {
            i++;
            continue;
        }
        assert(unknown == TOKEN_NONE || unknown == ids[j]);
        unknown = ids[j];
    }
    assert(i == m || n == 300);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctx ctx = {0};
    struct tokenizer *t;
    str text = str_dup(&ctx.arena, (str){(const char *)data, size});
    check(small, text);
    if (size && data[0] == '{' && tokenizer_read(&ctx, text, &t) == OK) {
        check(t, text);
        tokenizer_free(t);
    }
    ctx_free(&ctx);
    return 0;
}
