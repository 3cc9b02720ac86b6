/* phrases.c - a list of phrases is read once, and finds what each phrase alone would find. */
#include "engine/text/phrases.h"
#include "base/once.h"
#include "engine/text/lexicon.h"
#include "engine/text/term_set.h"
#include "words/word_index.h"

#include "t.h"

static const char *const grammar[] = {
    "^ good morning", "my|our cat|dog",     "i ?really like tea", "when is * birthday", "on #",
    "in @month",      "every @weekday|day", "what do i do .",     "?very late",         NULL};

static int found(struct ctx *ctx, const char *text, int from, str *part)
{
    struct phrase_words w = phrase_words_of(&ctx->arena, phrase_fold(&ctx->arena, str_of(text)));
    return phrase_next(&w, grammar, sizeof *grammar, from, part);
}

TEST(each_sign_of_a_phrase_means_something)
{
    static const struct {
        const char *text;
        int at;
    } cases[] = {
        {"Good morning, all", 0},
        {"A good morning", -1},
        {"Our dog sleeps", 1},
        {"Our big dog", -1},
        {"I like tea", 2},
        {"I really like tea", 2},
        {"I like. Tea", -1},
        {"When is Ada's birthday?", 3},
        {"When is birthday", -1},
        {"When is. birthday", -1},
        {"on 2024-05-06", 4},
        {"on 2024-5-6", -1},
        {"in May", 5},
        {"in mayhem", -1},
        {"every day", 6},
        {"every Monday", -1}, /* @weekday beside another word is none */
        {"What do I do?", 7},
        {"what do i do", 7},
        {"What do I do here?", -1},
        {"late", 8},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (found(ctx, cases[i].text, 0, NULL) != cases[i].at)
            fail_msg("'%s': not phrase %d", cases[i].text, cases[i].at);
}

TEST(phrases_are_found_in_the_order_of_the_list_with_their_words)
{
    const char *text = "Very late, in June: my cat, our dog.";
    str part = S("");
    CHECK_INT(found(ctx, text, 0, &part), 1);
    CHECK_STR(part, S("my cat"));
    CHECK_INT(found(ctx, text, 2, &part), 5);
    CHECK_STR(part, S("in june"));
    CHECK_INT(found(ctx, text, 6, &part), 8);
    CHECK_STR(part, S("very late"));
    CHECK_INT(found(ctx, text, 9, NULL), -1);
}

/* --- next to the plain way: each phrase word by word, without what was read before --- */

static bool word_fits(str choice, str word)
{
    if (str_is(choice, "*"))
        return !str_is(word, ".");
    if (str_is(choice, "@month"))
        return lexicon_is(word, LEX_MONTH);
    while (choice.n)
        if (str_eq(str_cut(&choice, '|'), word))
            return true;
    return false;
}

static bool stands_at(const struct phrase_words *t, size_t at, str phrase)
{
    size_t i = at;
    while (phrase.n) {
        str choice = str_cut(&phrase, ' ');
        bool optional = str_starts(choice, S("?"));
        str word = i < t->n ? t->v[i].text : S(".");
        if (word_fits(optional ? str_sub(choice, 1, choice.n) : choice, word))
            i++;
        else if (!optional)
            return false;
    }
    return i > at;
}

static bool stands_plainly(const struct phrase_words *t, const char *phrase)
{
    for (size_t at = 0; at < t->n; at++)
        if (stands_at(t, at, str_of(phrase)))
            return true;
    return false;
}

static const char *const past[] = {
#define PAST(phrase) phrase,
#include "lang/past_questions.def"
    NULL};
static const char *const asks[] = {
#define ASKS(name, phrase) phrase,
#include "lang/attributes.def"
    NULL};

/* A text of words that stand in the phrases, in no order, so that many nearly stand there. */
static str make_text(struct arena *a, const char *const *list, size_t n, uint64_t *random)
{
    str text = S("");
    for (size_t i = 0; i < 12; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        str phrase = str_of(list[(*random >> 33) % n]);
        size_t words = 1 + (*random >> 20) % 4;
        for (size_t k = 0; k < words && phrase.n; k++) {
            str choice = str_cut(&phrase, ' ');
            str word = str_cut(&choice, '|');
            text = str_printf(a, S_FMT " " S_FMT, S_ARG(text), S_ARG(word));
        }
    }
    return text;
}

static void compare_lists(struct arena *a, const char *const *list)
{
    size_t n = 0, hits = 0;
    uint64_t random = 7;
    while (list[n])
        n++;
    for (size_t round = 0; round < 300; round++) {
        str text = make_text(a, list, n, &random);
        struct phrase_words w = phrase_words_of(a, phrase_fold(a, text));
        for (size_t i = 0; i < n; i++) {
            bool stands = stands_plainly(&w, list[i]);
            hits += stands;
            if (stands != (phrase_next(&w, list, sizeof *list, (int)i, NULL) == (int)i))
                fail_msg("'%s' in '%.*s'", list[i], (int)text.n, text.p);
        }
    }
    CHECK(hits > 100);
}

TEST(a_list_finds_what_each_phrase_alone_finds)
{
    compare_lists(&ctx->arena, past);
    compare_lists(&ctx->arena, asks);
}

/* --- what it stands on --- */

TEST(a_word_index_finds_its_words_and_no_other)
{
    enum { WORDS = 3000 };
    struct row {
        str word;
        int number;
    } *rows = NEW_N(&ctx->arena, struct row, WORDS);
    for (int i = 0; i < WORDS; i++)
        rows[i] = (struct row){str_printf(&ctx->arena, "word%d", i), i};
    struct word_index x = word_index_make(rows, WORDS, sizeof *rows);
    for (uint32_t i = 0; i < WORDS; i++) {
        CHECK_INT(word_index_find(&x, rows[i].word), i);
        CHECK_INT(word_index_find_lower(&x, str_printf(&ctx->arena, "WoRD%u", i)), i);
        CHECK_INT(word_index_find(&x, str_printf(&ctx->arena, "WORD%u", i)), NO_WORD);
        CHECK_INT(word_index_find(&x, str_printf(&ctx->arena, "word%u", i + WORDS)), NO_WORD);
    }
    CHECK_INT(word_index_find(&x, S("")), NO_WORD);
    free(x.v);
    free(x.marks);
}

static int times_made;

static void *make_number(const void *key, size_t n, size_t size)
{
    static int made[2];
    times_made++;
    made[0] = *(const int *)key + (int)(n * size);
    return made;
}

TEST(what_is_made_once_is_made_once)
{
    static const int key = 40;
    const int *first = once_of(&key, 2, 1, make_number);
    CHECK_INT(*first, 42);
    CHECK(once_of(&key, 2, 1, make_number) == first);
    CHECK_INT(times_made, 1);
}

static void *make_copy(const void *key, size_t n, size_t size)
{
    (void)n, (void)size;
    times_made++;
    return (void *)key;
}

TEST(as_many_are_made_once_as_are_asked_for)
{
    enum { MANY = 2000 };
    static const char keys[MANY];
    times_made = 0;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < MANY; i++)
            CHECK(once_of(&keys[i], 1, 1, make_copy) == &keys[i]);
    CHECK_INT(times_made, MANY);
}

TEST(terms_of_short_and_long_texts_are_sorted_alike)
{
    uint64_t random = 3;
    for (size_t n = 0; n < 120; n++) {
        struct term_set t = terms_with_room(&ctx->arena, n);
        for (size_t i = 0; i < n; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            terms_add(&ctx->arena, &t, (random >> 60) + (random << 62));
        }
        struct term_set all = t;
        all.v = arena_alloc(&ctx->arena, (n + 1) * sizeof *all.v);
        memcpy(all.v, t.v, n * sizeof *t.v);
        terms_sort(&t);
        for (size_t i = 1; i < t.n; i++)
            CHECK(t.v[i - 1] < t.v[i]);
        for (size_t i = 0; i < n; i++)
            CHECK(terms_have(&t, all.v[i]));
    }
}
