/* tombstones.c - Barred statements: where they are found, what stays, how long it lasts. */
#include "engine/recall/tombstones.h"

#include "base/clock.h"
#include "lib/engine.h"

static enum stating says(struct ctx *ctx, const char *memory, const char *sentence)
{
    struct statement s = statement_of(&ctx->arena, str_of(memory));
    struct statement telling = statement_of(&ctx->arena, str_of(sentence));
    return stating_of(&s, &telling);
}

TEST(a_sentence_states_what_a_memory_says_but_not_what_is_like_it)
{
    static const struct {
        const char *memory, *sentence;
        enum stating says;
    } rows[] = {
        {"keeps bees on the roof", "I keep bees on the roof.", STATES},
        {"works at Ferrum Steel in the tower", "I work at Ferrum.", STATES},
        {"my sister lives in New York", "My brother lives in New York.", MENTIONS},
        {"paid 340 euros for the tent", "I paid 120 euros for the bike.", STATES_NOTHING},
        {"favourite cheese is Comté", "My favourite cheese is Gouda.", STATES_NOTHING},
        {"On Tuesdays Ida goes to swimming lessons at the Aquadrom",
         "On Tuesdays Ben goes to swimming lessons at the Aquadrom", MENTIONS},
        {"Otto Brandt charges 90 euros", "Otto Brandt, the locksmith, charges 90 an hour.", STATES},
        {"Mein Schlosser Otto Brandt verlangt 90 Euro",
         "Otto Brandt, der Schlosser, verlangt 90 die Stunde.", STATES},
        {"Miete für März an Hausverwaltung Brandt überwiesen: 300 Euro",
         "Miete für April an Hausverwaltung Brandt überwiesen: 300 Euro", MENTIONS},
        {"Miete an Hausverwaltung Brandt für Köln überwiesen: 300 Euro",
         "Miete an Hausverwaltung Brandt für Köln überwiesen: 340 Euro", MENTIONS},
        {"Dienstags geht Ida im Aquadrom in den Schwimmkurs",
         "Dienstags geht Ben im Aquadrom in den Schwimmkurs.", MENTIONS},
        {"Dienstags geht Ida im Aquadrom in den Schwimmkurs",
         "Den Schwimmkurs im Aquadrom besucht Ida dienstags mit Freude.", STATES},
        {"Meine Schwester Lena arbeitet als Ärztin in Porto",
         "Lena, meine Schwester, arbeitet in Porto als Ärztin, trotz der Kosten.", STATES},
        {"prefers the aisle on planes", "I prefer the aisle on trains.", MENTIONS},
        {"keeps bees on the roof", "The weather was fine.", STATES_NOTHING},
        {"", "The weather was fine.", STATES_NOTHING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_INT(says(ctx, rows[i].memory, rows[i].sentence), rows[i].says);
}

static void talk(struct ctx *ctx, struct store *s, const char *session, const char *const *texts,
                 size_t n, int64_t created)
{
    struct message *v = NEW_N(&ctx->arena, struct message, n);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct message){.id = str_printf(&ctx->arena, "%s-%zu", session, i),
                                .session = str_of(session),
                                .role = i % 2 ? S("assistant") : S("user"),
                                .text = str_of(texts[i]),
                                .created = created};
    struct bundle b = {.pool = mine,
                       .session = {.id = str_of(session), .title = str_of(texts[0])},
                       .messages = v,
                       .n_messages = n};
    CHECK_OK(store_write(ctx, s, &b));
}

static str add_memory(struct ctx *ctx, struct engine *e, const char *content, const char *source)
{
    struct memory m = {.content = str_of(content), .source = str_of(source)};
    CHECK_OK(engine_add(ctx, e, mine, &m));
    return m.id;
}

/* All that a search finds, one line for each. */
static str found(struct ctx *ctx, struct engine *e, const char *question)
{
    struct recall_out out;
    struct recall_in in = {.pool = mine, .question = str_of(question), .budget_tokens = -1};
    struct buf b = buf_make(&ctx->arena, 1 << 20);
    CHECK_OK(engine_recall(ctx, e, &in, &out));
    for (size_t i = 0; i < out.n; i++)
        buf_printf(&b, S_FMT "\n", S_ARG(out.v[i].text));
    return buf_str(&b);
}

static bool has(str text, const char *word)
{
    return str_find(text, str_of(word)) < text.n;
}

static const char *const bees[] = {"I keep bees on the roof. My dentist is Doctor Molar.",
                                   "Bees on the roof, how lovely!", "They sting.", "They do."};
static const char *const again[] = {"Guess what. I keep bees on the roof!", "You told me."};

TEST(a_forgotten_statement_leaves_its_message_its_echo_and_other_messages)
{
    ENGINE(e, s, p);
    int64_t barred = 0, erased;
    talk(ctx, s, "one", bees, 4, clock_ms() - 5000);
    talk(ctx, s, "two", again, 2, clock_ms() - 4000);
    const struct forget what = {.pool = mine,
                                .id = add_memory(ctx, e, "keeps bees on the roof", "one-0"),
                                .barred = &barred};
    CHECK(has(found(ctx, e, "bees on the roof"), "bees"));
    CHECK_OK(engine_forget(ctx, e, &what, &erased));
    CHECK_INT(erased, 1);
    CHECK_INT(barred, 3);
    str left = found(ctx, e, "Who keeps bees on the roof, my dentist?");
    CHECK(!has(left, "bees") && !has(left, "Bees"));
    CHECK(has(left, "Doctor Molar"));
    struct session session;
    CHECK_OK(store_session(ctx, s, mine, S("one"), &session));
    CHECK(!has(session.title, "bees"));
    talk(ctx, s, "late", again, 2, clock_ms() - 3000);
    CHECK(!has(found(ctx, e, "bees on the roof"), "bees"));
    talk(ctx, s, "anew", again, 2, clock_ms() + 1000);
    CHECK(has(found(ctx, e, "bees on the roof"), "bees"));
}

TEST(an_expired_memory_takes_its_statement_along_before_and_after_it_is_pruned)
{
    ENGINE(e, s, p);
    int64_t removed, now = clock_ms();
    talk(ctx, s, "one", bees, 4, now - 5000);
    struct memory m = {.content = S("keeps bees on the roof"),
                       .source = S("one-0"),
                       .created = now - 5000,
                       .expires = now - 1000};
    CHECK_OK(engine_add(ctx, e, mine, &m));
    CHECK(!has(found(ctx, e, "bees on the roof"), "keep bees"));
    CHECK_OK(engine_prune(ctx, e, 0, clock_ms(), &removed));
    CHECK_INT(removed, 1);
    CHECK(!has(found(ctx, e, "bees on the roof"), "ees"));
    talk(ctx, s, "anew", again, 2, now - 500);
    CHECK(has(found(ctx, e, "bees on the roof"), "keep bees"));
}

TEST(the_begin_of_an_id_is_enough_where_it_begins_one)
{
    ENGINE(e, s, p);
    static const char *const ids[] = {"11111111-0000-4000-8000-000000000001",
                                      "22222222-0000-4000-8000-000000000001",
                                      "22222222-0000-4000-8000-000000000002", "memory-10"};
    static const char *const none[] = {"1111111", "11111111-", "33333333", "memory-1", ""};
    const struct pool_ref pools[] = {{mine.user, S("elsewhere")}, mine};
    struct message v[4] = {{.id = {0}}};
    str id = S("");
    for (size_t i = 0; i < 4; i++)
        v[i] = (struct message){.id = str_of(ids[i]),
                                .session = S("given"),
                                .role = S("user"),
                                .text = str_of(bees[0]),
                                .created = clock_ms()};
    struct bundle b = {.pool = mine, .session = {.id = S("given")}, .messages = v, .n_messages = 4};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_OK(engine_whole_id(ctx, e, pools, 2, S("11111111"), &id));
    CHECK_STR(id, str_of(ids[0]));
    CHECK_INT(engine_whole_id(ctx, e, pools, 1, S("11111111"), &id), NOT_FOUND);
    ctx_clear_failure(ctx);
    CHECK_INT(engine_whole_id(ctx, e, pools, 2, S("22222222"), &id), BAD_INPUT);
    CHECK(str_is(str_of(ctx->field), "id"));
    ctx_clear_failure(ctx);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK_INT(engine_whole_id(ctx, e, pools, 2, str_of(none[i]), &id), NOT_FOUND);
        ctx_clear_failure(ctx);
    }
}

TEST(clearing_all_memories_bars_what_was_said_and_nothing_that_is_said_then)
{
    ENGINE(e, s, p);
    int64_t erased;
    talk(ctx, s, "one", bees, 4, clock_ms() - 5000);
    (void)add_memory(ctx, e, "keeps bees on the roof", "one-0");
    CHECK_OK(engine_forget(ctx, e, &(struct forget){.pool = mine, .memories = true}, &erased));
    CHECK_STR(found(ctx, e, "Who is the dentist, and where are the bees?"), S(""));
    talk(ctx, s, "anew", again, 2, clock_ms() + 1000);
    CHECK(has(found(ctx, e, "bees on the roof"), "bees"));
}

/* --- one rule at every door --- */

static bool says_bees(const struct recall_out *out)
{
    bool says = false;
    for (size_t i = 0; i < out->n; i++)
        says |= has(out->v[i].is_memory ? out->v[i].memory.content : out->v[i].text, "bees");
    return says;
}

static bool searches_find_bees(struct ctx *ctx, struct engine *e)
{
    struct recall_out out;
    struct similar *v;
    size_t n;
    int64_t total;
    bool found = false;
    for (int i = 0; i < 6; i++) {
        struct recall_in in = {.pool = mine,
                               .scope = i % 2 ? SCOPE_USER : SCOPE_SPACE,
                               .question = i < 4 ? S("Who keeps bees on the roof?") : S(""),
                               .gate = i > 1 && i < 4,
                               .budget_tokens = -1};
        CHECK_OK(engine_search(ctx, e, &in, &out));
        found |= says_bees(&out);
    }
    const struct similar_in in = {.pool = mine, .query = S("keeps bees on the roof"), .limit = 100};
    CHECK_OK(engine_similar(ctx, e, &in, &v, &n, &total));
    for (size_t i = 0; i < n; i++)
        found |= has(v[i].memory.content, "bees");
    return found;
}

TEST(what_was_forgotten_is_in_no_search)
{
    ENGINE(e, s, p);
    int64_t erased;
    talk(ctx, s, "one", bees, 4, clock_ms() - 5000);
    struct memory other = {.content =
                               S("He keeps bees on the roof. He has a dentist, Doctor Molar."),
                           .layer = LAYER_EPISODE,
                           .created = clock_ms() - 4000,
                           .updated = clock_ms() - 4000};
    struct bundle b = {.pool = mine, .memories = &other, .n_memories = 1};
    CHECK_OK(store_write(ctx, s, &b));
    const struct forget what = {.pool = mine,
                                .id = add_memory(ctx, e, "keeps bees on the roof", "one-0")};
    CHECK(searches_find_bees(ctx, e));
    CHECK_OK(engine_forget(ctx, e, &what, &erased));
    CHECK(!searches_find_bees(ctx, e));
    CHECK(has(found(ctx, e, "Who is the dentist, Doctor Molar?"), "Molar"));
}

TEST(what_is_said_of_a_relative_is_not_said_of_the_user)
{
    static const struct {
        const char *statement, *sentence;
        bool is_another;
    } cases[] = {
        {"is allergic to nuts", "My brother is allergic to nuts.", true},
        {"is allergic to nuts", "My mother and I are allergic to nuts.", false},
        {"is allergic to nuts", "I'm allergic to nuts.", false},
        {"is allergic to nuts", "For years the doctor has said: allergic to nuts.", false},
        {"my mum is allergic to nuts", "My mother is allergic to nuts.", false},
        {"my mum is allergic to nuts", "My brother is allergic to nuts.", true},
        {"my sister lives in Leeds", "My sister Anna lives in Leeds.", false},
        {"lives in Leeds", "Unsere Tante wohnt in Leeds.", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct statement s = statement_of(&ctx->arena, str_of(cases[i].statement));
        if (is_of_another(&s, &ctx->arena, str_of(cases[i].sentence)) != cases[i].is_another)
            fail_msg("%s / %s", cases[i].statement, cases[i].sentence);
    }
}

/* As they were written before a sentence's hash was made of the text as a model reads it. */
TEST(a_tombstone_of_before_bars_a_sentence_by_its_own_letters)
{
    static const char *const said[] = {"I keep my bees in Köln-Süd."};
    ENGINE(e, s, p);
    const uint64_t hash = str_hash(S("ikeepmybeesinkölnsüd"));
    const struct bar bar = {.kind = BAR_SENTENCES, .at = clock_ms(), .terms = &hash, .n = 1};
    talk(ctx, s, "one", said, 1, clock_ms() - 5000);
    CHECK(has(found(ctx, e, "Where do I keep my bees?"), "bees"));
    CHECK_OK(store_bar(ctx, s, &(struct barring){.pool = mine, .bars = &bar, .n = 1}));
    CHECK(!has(found(ctx, e, "Where do I keep my bees?"), "bees"));
}

/* A recall asks for hundreds of sentences, and somebody may have forgotten thousands. */
TEST(a_sentence_is_compared_with_the_bars_alone_that_share_a_word)
{
    enum { BARS = 2000 };
    static const char *const said[] = {"Visitor 7 parks in lot 1007.", "Visitor 8 parks in lot 2.",
                                       "I keep my bees in Leeds."};
    struct bar *bars = NEW_N(&ctx->arena, struct bar, BARS);
    struct tombstones t;
    size_t looked = 0;
    ENGINE(e, s, p);
    talk(ctx, s, "one", said, 3, clock_ms() - 5000);
    for (size_t i = 0; i < BARS; i++) {
        struct statement one =
            statement_of(&ctx->arena, str_printf(&ctx->arena, "Parks in lot %zu", i));
        struct term_set terms = terms_with_room(&ctx->arena, 8);
        terms_add(&ctx->arena, &terms, one.particular.n);
        for (size_t k = 0; k < one.particular.n; k++)
            terms_add(&ctx->arena, &terms, one.particular.v[k]);
        for (size_t k = 0; k < one.terms.n; k++)
            terms_add(&ctx->arena, &terms, one.terms.v[k]);
        bars[i] = (struct bar){.at = clock_ms(), .terms = terms.v, .n = terms.n};
    }
    CHECK_OK(store_bar(ctx, s, &(struct barring){.pool = mine, .bars = bars, .n = BARS}));
    CHECK_OK(tombstones_load(ctx, e, mine, &t));
    struct statement asked = statement_of(&ctx->arena, str_of(said[0]));
    for (size_t i = 0; i < asked.terms.n; i++)
        for (const struct bar_key *k = t.chains[asked.terms.v[i] % TOMBSTONE_CHAINS]; k;
             k = k->next)
            looked += k->term == asked.terms.v[i];
    CHECK_INT(looked, 2); /* lots 7 and 1007 */
    const struct message m = {.id = S("one-0"), .text = str_of(said[0]), .created = 1};
    CHECK_INT(tombstones_left(&t, &ctx->arena, &m).n, 0);
}
