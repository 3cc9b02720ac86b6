/* tokenizer.c - BERT's rules one by one, and the references' numbers for every text. */
#include "embed/common/tokenizer.h"

#include "embed/encoder/format.h"
#include "lib/tiny_models.h"

static str lines_of(struct ctx *ctx, const char *const *tokens)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    for (size_t i = 0; tokens[i]; i++)
        buf_printf(&b, "%s\n", tokens[i]);
    return buf_str(&b);
}

/* The pieces of a text as their tokens, joined by spaces; both ways of reading a vocabulary must
 * agree. */
static str pieces(struct ctx *ctx, const char *const *tokens, str text)
{
    struct tokenizer *t, *other;
    uint32_t ids[64], others[64];
    struct buf b = buf_make(&ctx->arena, 4096);
    CHECK_OK(tokenizer_read(ctx, tokenizer_of(ctx, tokens), &t));
    CHECK_OK(tokenizer_of_lines(ctx, lines_of(ctx, tokens), &other));
    size_t n = tokenizer_ids(t, text, true, ids, 64);
    CHECK_INT(tokenizer_ids(other, text, true, others, 64), n);
    CHECK(n == 0 || !memcmp(ids, others, n * sizeof *ids));
    tokenizer_free(other);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", tokens[ids[i]]);
    tokenizer_free(t);
    return buf_str(&b);
}

static const char *const tokens[] = {"[PAD]",  "[UNK]", "[CLS]", "[SEP]",  "un",     "##aff",
                                     "##able", "##a",   "cafe",  "i",      "'",      "m",
                                     "[",      "]",     "sep",   "\u4e2d", "\u6587", "\u0561",
                                     "\u00e6", ",",     "$",     NULL};

TEST(text_is_split_as_bert_splits_it)
{
    static const char *const cases[][2] = {
        {"unaffable", "un ##aff ##able"},
        {"UNaffABLE", "un ##aff ##able"},
        {"una unaff", "un ##a un ##aff"},
        {"una\tun\r\nun", "un ##a un un"},
        {"unx", "[UNK]"},
        {"Caf\u00e9 cafe\u0301", "cafe cafe"},
        {"I'm,$", "i ' m , $"},
        {"[SEP]", "[ sep ]"},
        {"\u4e2d\u6587", "\u4e2d \u6587"},
        {"un\u4e2dun", "un \u4e2d un"},
        {"u\u200bn", "un"},
        {"u\u00adn\u3000i", "un i"},
        {"\u0531 \u00c6", "\u0561 \u00e6"},
        {"\xffun\xc3", "un"},
        {"", ""},
        {" \n\t ", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str got = pieces(ctx, tokens, str_of(cases[i][0]));
        if (!str_eq(got, str_of(cases[i][1])))
            fail_msg("'%s' is '" S_FMT "', not '%s'", cases[i][0], S_ARG(got), cases[i][1]);
    }
    CHECK_STR(pieces(ctx, tokens, (str){"u\0n", 3}), S("un"));
}

TEST(a_word_of_more_than_a_hundred_characters_is_unknown)
{
    static const char *const few[] = {"[UNK]", "x", "##x", NULL};
    struct tokenizer *t;
    char word[101];
    uint32_t ids[128];
    memset(word, 'x', sizeof word);
    CHECK_OK(tokenizer_read(ctx, tokenizer_of(ctx, few), &t));
    CHECK_INT(tokenizer_ids(t, (str){word, 100}, true, ids, 128), 100);
    CHECK_INT(tokenizer_ids(t, (str){word, 101}, true, ids, 128), 1);
    CHECK_INT(ids[0], 0);
    CHECK_INT(tokenizer_ids(t, (str){word, 101}, false, ids, 128), 0);
    CHECK_INT(tokenizer_ids(t, (str){word, 100}, true, ids, 7), 7);
    tokenizer_free(t);
}

TEST(another_kind_is_refused_by_name)
{
    static const char *const cases[][2] = {
        {"{\"normalizer\":{\"type\":\"NFKC\"}}", "'NFKC'"},
        {"{\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\"}"
         "}",
         "'ByteLevel'"},
        {"{\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":"
         "{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"BPE\"}}",
         "'BPE'"},
        {"{}", "''"},
    };
    struct tokenizer *t;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ctx_clear_failure(ctx);
        CHECK_STATUS(tokenizer_read(ctx, str_of(cases[i][0]), &t), UNSUPPORTED);
        CHECK(holds(str_of(ctx->why), cases[i][1]));
    }
    static const char *const none[] = {"x", NULL};
    ctx_clear_failure(ctx);
    CHECK_STATUS(tokenizer_read(ctx, tokenizer_of(ctx, none), &t), BAD_INPUT);
    ctx_clear_failure(ctx);
    CHECK_STATUS(tokenizer_of_lines(ctx, S("x\n"), &t), BAD_INPUT);
}

TEST(lines_are_numbered_in_their_order)
{
    struct tokenizer *t;
    CHECK_OK(tokenizer_of_lines(ctx, S("[UNK]\na\n\n##b\nc\n"), &t));
    CHECK_INT(tokenizer_id(t, S("a")), 1);
    CHECK_INT(tokenizer_id(t, S("c")), 4);
    CHECK_INT(tokenizer_greatest(t), 4);
    tokenizer_free(t);
}

/* skip: tokens at each end of a reference that are not of the text. */
static void compare_with(struct ctx *ctx, const struct tokenizer *t, const char *model, size_t skip)
{
    for (const struct json *c = reference(ctx, model)->first; c; c = c->next) {
        uint32_t ids[1024];
        const struct json *want = json_get(c, "ids"), *id = want->first;
        size_t n = tokenizer_ids(t, json_string(json_get(c, "text")), true, ids, 1024);
        CHECK_INT(n + 2 * skip, want->n);
        for (size_t i = 0; i < skip; i++)
            id = id->next;
        for (size_t i = 0; i < n; i++, id = id->next)
            CHECK_INT(ids[i], json_int_or(id, -1));
    }
}

static void compare(struct ctx *ctx, const char *model, size_t skip)
{
    struct tokenizer *t;
    str path = str_printf(&ctx->arena, S_FMT "/tokenizer.json", S_ARG(model_path(ctx, model)));
    CHECK_OK(tokenizer_open(ctx, path.p, &t));
    compare_with(ctx, t, model, skip);
    tokenizer_free(t);
}

TEST_NEEDS(the_numbers_are_the_references, missing_models)
{
    compare(ctx, "potion-base-8M", 0);
    compare(ctx, "all-MiniLM-L6-v2", 1);
}

TEST_NEEDS(the_numbers_of_the_built_in_vocabulary_are_the_references, missing_models)
{
    struct tokenizer *t;
    struct encoder_file f;
    CHECK_OK(encoder_file_read(ctx, encoder_builtin(), &f));
    str published = f.vocabulary; /* further pieces stand behind the published ones */
    for (size_t n = 0, i = 0; i < f.vocabulary.n && n < 30522; i++)
        if (f.vocabulary.p[i] == '\n' && ++n == 30522)
            published.n = i + 1;
    CHECK_OK(tokenizer_of_lines(ctx, published, &t));
    CHECK_INT(tokenizer_greatest(t), 30521);
    compare_with(ctx, t, "all-MiniLM-L6-v2", 1);
    tokenizer_free(t);
}
