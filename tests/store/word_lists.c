/* word_lists.c - what the words index answered once is right after every write, also by others. */
#include "store/sql/index/posting_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/text_annotations.h"
#include "lib/store.h"

static size_t count_of(struct ctx *ctx, struct store *s, const char *word)
{
    return find(ctx, s, mine, word).n;
}

TEST(a_word_that_was_searched_is_found_when_it_is_said)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    CHECK_INT(count_of(ctx, s, "ithaca"), 0);
    CHECK_INT(count_of(ctx, s, "ithaca"), 0);
    struct message m = said("m1", "user", "Ithaca", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_INT(count_of(ctx, s, "ithaca"), 1);
    CHECK_INT(count_of(ctx, s, "ithaca"), 1);
    CHECK_INT(count_of(ctx, s, "troy"), 0);
    struct message other = said("m2", "user", "Troy", 1000);
    CHECK_OK(say(ctx, s, mine, "s1", &other));
    CHECK_INT(count_of(ctx, s, "ithaca"), 1);
    CHECK_INT(count_of(ctx, s, "troy"), 1);
    CHECK_INT(find(ctx, s, other_space, "ithaca").n, 0);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m1")}, &erased));
    CHECK_INT(count_of(ctx, s, "ithaca"), 0);
    CHECK_INT(count_of(ctx, s, "troy"), 1);
}

/* Lists of many documents are kept, too, and what is erased is in none of them. */
TEST(an_erased_message_is_in_no_long_list)
{
    enum { MANY = 900 };
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    struct message *v = NEW_N(&ctx->arena, struct message, MANY);
    for (int i = 0; i < MANY; i++)
        v[i] = said(str_printf(&ctx->arena, "m%d", i).p, "user", "Ithaca", 1000);
    struct bundle b = {.pool = mine, .session = {.id = S("s1")}, .messages = v, .n_messages = MANY};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_INT(count_of(ctx, s, "ithaca"), MANY);
    CHECK_INT(count_of(ctx, s, "ithaca"), MANY);
    CHECK_INT(find(ctx, s, other_space, "ithaca").n, 0);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m7")}, &erased));
    struct word_hits hits = find(ctx, s, mine, "ithaca");
    CHECK_INT(hits.n, MANY - 1);
    for (size_t i = 0; i < hits.n; i++)
        CHECK(hits.v[i].doc != v[7].doc);
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &erased));
    CHECK_INT(count_of(ctx, s, "ithaca"), 0);
}

TEST(a_changed_memory_is_found_by_its_new_words_alone)
{
    PLACE(p);
    STORE(s, p);
    struct memory m = fact("f1", "town", "Ithaca"), newer = fact("f2", "town", "Troy");
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &m));
    CHECK_INT(count_of(ctx, s, "ithaca"), 1);
    CHECK_INT(count_of(ctx, s, "troy"), 0);
    CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &newer));
    CHECK_INT(count_of(ctx, s, "ithaca"), 0);
    CHECK_INT(count_of(ctx, s, "troy"), 1);
}

static const char *const places[] = {"ithaca", "troy", "sparta", "argos", "delphi", "naxos"};
enum { PLACES = sizeof places / sizeof *places };

/* A store that was just opened asks the index; the other one answers from its lists. */
static void check_lists(struct ctx *ctx, const struct place *p, struct store *s)
{
    STORE(fresh, *p);
    for (int i = 0; i < PLACES; i++) {
        struct word_hits kept = find(ctx, s, mine, places[i]);
        struct word_hits asked = find(ctx, fresh, mine, places[i]);
        CHECK_INT(kept.n, asked.n);
        CHECK_INT(kept.found[0], asked.found[0]);
        for (size_t k = 0; k < kept.n; k++)
            CHECK(kept.v[k].doc == asked.v[k].doc && kept.v[k].counts[0] == asked.v[k].counts[0]);
    }
}

/* Some of the words, some of them often. */
static const char *some_words(struct ctx *ctx, uint64_t random)
{
    struct buf b = buf_make(&ctx->arena, 4096);
    for (int i = 0; i < PLACES; i++)
        for (uint64_t n = (random >> 4 * i) % 20; n % 3 == 0 && n > 0; n--)
            buf_printf(&b, "%s ", places[i]);
    return str_printf(&ctx->arena, S_FMT ".", S_ARG(buf_str(&b))).p;
}

TEST(lists_follow_whatever_is_written_changed_and_erased)
{
    enum { STEPS = 150, IDS = 12 };
    PLACE(p);
    STORE(s, p);
    uint64_t random = 88172645463325252u;
    int64_t erased;
    for (int step = 0; step < STEPS; step++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        int id = (int)(random >> 40) % IDS;
        const char *text = some_words(ctx, random >> 8);
        struct message m = said(str_printf(&ctx->arena, "m%d", step).p, "user", text, 1000);
        struct memory f = fact(str_printf(&ctx->arena, "f%d", step).p,
                               str_printf(&ctx->arena, "argos %d", id).p, text);
        struct forget what = {.pool = mine,
                              .id = str_printf(&ctx->arena, "%c%d", id % 2 ? 'm' : 'f', step - id)};
        if (random % 8 == 0)
            CHECK(store_forget(ctx, s, &what, &erased) != STORAGE);
        else if (random % 2)
            CHECK_OK(say(ctx, s, mine, "s1", &m));
        else
            CHECK_OK(keep(ctx, s, mine, PUT_SUPERSEDE, &f));
        check_lists(ctx, &p, s);
    }
}

/* --- messages that were read --- */

/* "" when it is not there. Twice: as it is read, and as it is kept. */
static str text_at(struct ctx *ctx, struct store *s, struct pool_ref pool, doc_id doc)
{
    struct message read, kept;
    CHECK_OK(store_messages(ctx, s, pool, &doc, 1, &read));
    CHECK_OK(store_messages(ctx, s, pool, &doc, 1, &kept));
    CHECK_STR(kept.id, read.id);
    CHECK_STR(kept.session, read.session);
    CHECK_STR(kept.role, read.role);
    CHECK_STR(kept.text, read.text);
    CHECK(kept.doc == read.doc && kept.created == read.created && kept.chain == read.chain);
    return kept.text;
}

TEST(a_message_that_was_read_is_gone_when_it_is_erased)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    struct message m[] = {said("m1", "user", "Ithaca is far", 1000),
                          said("m2", "user", "", 1000), /* the index has no word of it */
                          said("m3", "user", "Troy is near", 1000)};
    struct bundle b = {.pool = mine, .session = {.id = S("s1")}, .messages = m, .n_messages = 3};
    CHECK_OK(store_write(ctx, s, &b));
    CHECK_STR(text_at(ctx, s, mine, m[0].doc), S("Ithaca is far"));
    CHECK_STR(text_at(ctx, s, other_space, m[0].doc), S(""));
    struct message back[3];
    doc_id docs[] = {m[0].doc, m[1].doc, m[2].doc};
    CHECK_OK(store_messages(ctx, s, mine, docs, 3, back)); /* one is kept, two are read */
    for (int i = 0; i < 3; i++)
        CHECK_STR(back[i].id, m[i].id);
    for (int i = 0; i < 2; i++) {
        struct forget what = {.pool = mine, .id = m[i].id};
        CHECK_OK(store_forget(ctx, s, &what, &erased));
        CHECK_OK(store_messages(ctx, s, mine, docs, 3, back));
        CHECK_STR(back[i].id, S(""));
        CHECK_STR(back[2].text, S("Troy is near"));
    }
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .everything = true}, &erased));
    CHECK_STR(text_at(ctx, s, mine, m[2].doc), S(""));
}

static void lists_end(struct word_lists **lists)
{
    word_lists_free(*lists);
}
enum { LIMIT = 16 << 20 };
#define LISTS(lists) CLEANUP(lists_end) struct word_lists *lists = word_lists_new(LIMIT)

static const int64_t both[] = {1, 2}; /* numbers of a pool, as read.c has them */

static bool is_kept(struct ctx *ctx, struct word_lists *lists, uint64_t view, doc_id doc)
{
    struct message m;
    doc_id missing;
    size_t place;
    return !word_lists_messages(lists, view, &ctx->arena, both, &doc, 1, &m, &missing, &place);
}

static void keep_message(struct word_lists *lists, uint64_t view, doc_id doc, str text)
{
    struct message m = {.doc = doc, .id = S("m"), .text = text};
    word_lists_keep_message(lists, view, 1, &m);
}

/* An erasure through the store rewrites the index, and all is dropped then. A write does not, and
 * drops its own documents alone. */
TEST(kept_messages_are_of_one_view)
{
    struct word_lists *lists = word_lists_new(LIMIT);
    keep_message(lists, 10, 1, S("Ithaca"));
    keep_message(lists, 10, 2, S("Troy"));
    CHECK(is_kept(ctx, lists, 10, 1) && is_kept(ctx, lists, 10, 2));
    CHECK(!is_kept(ctx, lists, 11, 1));
    word_lists_begin(lists, 10);
    word_lists_drop_document(lists, 1);
    keep_message(lists, 10, 1, S("Ithaca")); /* by a reader of the old view */
    word_lists_seal(lists, 11);
    word_lists_end(lists, true);
    CHECK(!is_kept(ctx, lists, 11, 1) && is_kept(ctx, lists, 11, 2));
    CHECK(!is_kept(ctx, lists, 10, 2));
    keep_message(lists, 12, 1, S("Ithaca")); /* another process has written */
    CHECK(is_kept(ctx, lists, 12, 1) && !is_kept(ctx, lists, 12, 2));
    word_lists_free(lists);
}

TEST(kept_messages_have_a_limit)
{
    enum { MANY = 20000, LENGTH = 3000, MOST = 16 << 20 };
    struct word_lists *lists = word_lists_new(LIMIT);
    char text[2 * LENGTH];
    size_t kept = 0;
    memset(text, 'a', sizeof text);
    for (doc_id doc = 1; doc <= MANY; doc++)
        keep_message(lists, 10, doc, (str){text, LENGTH});
    for (doc_id doc = 1; doc <= MANY; doc++)
        kept += is_kept(ctx, lists, 10, doc);
    CHECK(kept > MOST / LENGTH / 2 && kept < MOST / LENGTH);
    keep_message(lists, 10, MANY + 1, (str){text, sizeof text}); /* too long */
    CHECK(!is_kept(ctx, lists, 10, MANY + 1));
    word_lists_free(lists);
}

/* --- what was noted of them --- */

/* What is kept of the message's text, or "". */
static str noted(struct ctx *ctx, struct word_lists *lists, uint64_t view, doc_id doc, str text)
{
    struct message m;
    doc_id missing;
    size_t place;
    if (word_lists_messages(lists, view, &ctx->arena, both, &doc, 1, &m, &missing, &place))
        return S("");
    const char *bytes = annotation_find(m.notes, NOTE_CLEAN, text);
    return bytes ? m.notes->v[NOTE_CLEAN].bytes : S("");
}

static void keep_note(struct word_lists *lists, uint64_t view, doc_id doc, str text, str bytes)
{
    struct text_annotations notes = {.pool = 1, .doc = doc, .view = view};
    annotation_add(&notes, NOTE_CLEAN, text, bytes);
    word_lists_keep_notes(lists, &notes);
}

TEST(notes_are_kept_with_their_message_and_dropped_with_it)
{
    LISTS(lists);
    keep_message(lists, 10, 1, S("Ithaca"));
    keep_message(lists, 10, 2, S("Troy"));
    keep_note(lists, 10, 1, S("Ithaca"), S("an island"));
    keep_note(lists, 10, 2, S("Troy"), S("a town"));
    CHECK_STR(noted(ctx, lists, 10, 1, S("Ithaca")), S("an island"));
    CHECK_STR(noted(ctx, lists, 10, 1, S("Ith")), S("")); /* of a part of it nothing is noted */
    CHECK_STR(noted(ctx, lists, 10, 2, S("Troy")), S("a town"));
    keep_note(lists, 9, 2, S("Troy"), S("of another view"));
    keep_note(lists, 10, 3, S("Argos"), S("of a message that is not kept"));
    CHECK_STR(noted(ctx, lists, 10, 2, S("Troy")), S("a town"));
    word_lists_begin(lists, 10);
    word_lists_drop_document(lists, 1);
    keep_note(lists, 10, 1, S("Ithaca"), S("by a reader of the old view"));
    word_lists_seal(lists, 11);
    word_lists_end(lists, true);
    keep_message(lists, 11, 1, S("Ithaca"));
    CHECK_STR(noted(ctx, lists, 11, 1, S("Ithaca")), S(""));
    CHECK_STR(noted(ctx, lists, 11, 2, S("Troy")), S("a town"));
}

TEST(notes_count_for_the_limit_of_messages)
{
    enum { MANY = 12000, LENGTH = 2000, MOST = 16 << 20 };
    LISTS(lists);
    static char bytes[5000];
    size_t kept = 0, with_note = 0;
    for (doc_id doc = 1; doc <= MANY; doc++) {
        keep_message(lists, 10, doc, S("Ithaca"));
        keep_note(lists, 10, doc, S("Ithaca"), (str){bytes, LENGTH});
    }
    for (doc_id doc = 1; doc <= MANY; doc++) {
        kept += is_kept(ctx, lists, 10, doc);
        with_note += noted(ctx, lists, 10, doc, S("Ithaca")).n == LENGTH;
    }
    CHECK(with_note > MOST / LENGTH / 2 && with_note < MOST / LENGTH);
    CHECK(kept - with_note < kept / 10);
    keep_message(lists, 10, MANY + 1, S("Troy"));
    keep_note(lists, 10, MANY + 1, S("Troy"), (str){bytes, sizeof bytes}); /* too much */
    CHECK_STR(noted(ctx, lists, 10, MANY + 1, S("Troy")), S(""));
}

/* --- one view for many reads --- */

TEST(reads_of_one_view_see_one_state_until_it_writes_or_rests)
{
    PLACE(p);
    STORE(s, p);
    struct ctx other = {0};
    struct message m[] = {said("m1", "user", "Ithaca", 1000), said("m2", "user", "Ithaca", 1000),
                          said("m3", "user", "Ithaca", 1000)};
    CHECK_OK(say(ctx, s, mine, "s1", &m[0]));
    {
        STORE_VIEW(view, ctx, s);
        CHECK_INT(count_of(ctx, s, "ithaca"), 1);
        CHECK_OK(say(&other, s, mine, "s1", &m[1])); /* by somebody else */
        CHECK_INT(count_of(ctx, s, "ithaca"), 1);
        CHECK_INT(count_of(&other, s, "ithaca"), 2);
        {
            STORE_VIEW(inner, ctx, s);
            CHECK_INT(count_of(ctx, s, "ithaca"), 1);
        }
        CHECK_INT(count_of(ctx, s, "ithaca"), 1);
        store_view_rest(ctx, s);
        CHECK_INT(count_of(ctx, s, "ithaca"), 2);
        CHECK_OK(say(ctx, s, mine, "s1", &m[2]));
        CHECK_INT(count_of(ctx, s, "ithaca"), 3);
    }
    CHECK_INT(count_of(ctx, s, "ithaca"), 3);
    ctx_free(&other);
}

/* What is noted in a view is given in the next one, and is gone with the text. */
TEST(a_note_outlives_its_view_and_not_its_message)
{
    PLACE(p);
    STORE(s, p);
    int64_t erased;
    struct message m = said("m1", "user", "Ithaca is far", 1000), read;
    CHECK_OK(say(ctx, s, mine, "s1", &m));
    CHECK_OK(store_messages(ctx, s, mine, &m.doc, 1, &read));
    CHECK(!read.notes); /* outside a view */
    for (int round = 0; round < 3; round++) {
        STORE_VIEW(view, ctx, s);
        CHECK_OK(store_messages(ctx, s, mine, &m.doc, 1, &read));
        CHECK(read.notes);
        CHECK((annotation_find(read.notes, NOTE_CLEAN, read.text) != NULL) == (round > 0));
        annotation_add(read.notes, NOTE_CLEAN, read.text, S("an island"));
    }
    CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = S("m1")}, &erased));
    STORE_VIEW(view, ctx, s);
    CHECK_OK(store_messages(ctx, s, mine, &m.doc, 1, &read));
    CHECK(!read.id.n && !read.notes);
}

/* --- another process --- */

/* A process of its own, since SQLite must not be opened on both sides of a fork. It does what it is
 * told: '+' writes a message, '-' erases it, and each is answered. */
struct neighbour {
    pid_t pid;
    int to, from;
};

static void serve_changes(const struct place *p, int from, int to)
{
    struct ctx own = {0}, *ctx = &own;
    struct store *s = NULL;
    char ask[2];
    int64_t n;
    while (read(from, ask, sizeof ask) == sizeof ask) {
        char id[] = {'m', ask[1], 0};
        struct message m = said(id, "user", "Ithaca", 1000);
        struct forget what = {.pool = mine, .id = str_of(id)};
        if (!s && store_open(ctx, &(struct store_settings){.path = str_of(p->path)}, &s) != OK)
            _exit(2);
        if ((ask[0] == '+' ? say(ctx, s, mine, "child", &m) : store_forget(ctx, s, &what, &n)) !=
            OK)
            _exit(3);
        if (write(to, "k", 1) != 1)
            _exit(4);
    }
    store_close(s);
    _exit(0);
}

static struct neighbour neighbour_begin(const struct place *p)
{
    int there[2], back[2];
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    struct neighbour out = {.pid = fork(), .to = there[1], .from = back[0]};
    if (!out.pid) {
        close(there[1]);
        serve_changes(p, there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
    return out;
}

static void change_elsewhere(const struct neighbour *n, const char *ask)
{
    char answer = 0;
    CHECK_INT(write(n->to, ask, 2), 2);
    CHECK_INT(read(n->from, &answer, 1), 1);
}

TEST(what_another_process_changes_is_seen)
{
    PLACE(p);
    struct neighbour other = neighbour_begin(&p);
    {
        STORE(s, p);
        CHECK_INT(count_of(ctx, s, "ithaca"), 0);
        change_elsewhere(&other, "+1");
        CHECK_INT(count_of(ctx, s, "ithaca"), 1);
        change_elsewhere(&other, "+2");
        struct message m = said("m3", "user", "Troy", 1000); /* our writer meets another's view */
        CHECK_OK(say(ctx, s, mine, "s1", &m));
        CHECK_INT(count_of(ctx, s, "ithaca"), 2);
        change_elsewhere(&other, "-1");
        CHECK_INT(count_of(ctx, s, "ithaca"), 1);
        doc_id last = find(ctx, s, mine, "ithaca").v[0].doc;
        CHECK_STR(text_at(ctx, s, mine, last), S("Ithaca"));
        change_elsewhere(&other, "-2");
        CHECK_STR(text_at(ctx, s, mine, last), S(""));
        CHECK_INT(count_of(ctx, s, "ithaca"), 0);
        CHECK_INT(count_of(ctx, s, "troy"), 1);
    }
    int status;
    close(other.to);
    CHECK_INT(waitpid(other.pid, &status, 0), other.pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(other.from);
}

/* --- threads --- */

struct searcher {
    struct store *s;
    _Atomic bool is_over;
};

static const char *const towns[] = {"ithaca", "troy", "sparta", "argos"};
enum { TOWNS = sizeof towns / sizeof *towns };

static void *search_on(void *arg)
{
    struct searcher *t = arg;
    while (!t->is_over) {
        struct ctx own = {0};
        for (int i = 0; i < TOWNS; i++)
            count_of(&own, t->s, towns[i]);
        ctx_free(&own);
    }
    return NULL;
}

/* Searches that began before a write must not bring back what it changed. */
TEST(searches_beside_writes_keep_nothing_old)
{
    enum { N = 300, SEARCHERS = 2 };
    PLACE(p);
    STORE(s, p);
    struct searcher t = {.s = s};
    pthread_t threads[SEARCHERS];
    size_t there[TOWNS] = {0};
    for (int i = 0; i < SEARCHERS; i++)
        CHECK(pthread_create(&threads[i], NULL, search_on, &t) == 0);
    for (int i = 0; i < N; i++) {
        int town = i * 7 % TOWNS;
        str id = str_printf(&ctx->arena, "m%d", i);
        struct message m = {.id = id, .text = str_of(towns[town])};
        CHECK_OK(say(ctx, s, mine, "s1", &m));
        there[town]++;
        if (i % 3 == 0) {
            int64_t n;
            CHECK_OK(store_forget(ctx, s, &(struct forget){.pool = mine, .id = id}, &n));
            there[town]--;
        }
        CHECK_INT(count_of(ctx, s, towns[town]), there[town]);
    }
    t.is_over = true;
    for (int i = 0; i < SEARCHERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < TOWNS; i++)
        CHECK_INT(count_of(ctx, s, towns[i]), there[i]);
}

/* --- the lists themselves --- */

static struct word_docs numbers(struct ctx *ctx, size_t n)
{
    struct posting *v = NEW_N(&ctx->arena, struct posting, n + 1);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct posting){.doc = (doc_id)i + 1, .counts = 1};
    return (struct word_docs){.v = v, .n = n};
}

static void keep_list(struct ctx *ctx, struct word_lists *lists, uint64_t view, const char *word,
                      size_t n)
{
    struct word_docs docs = numbers(ctx, n);
    word_lists_keep(lists, view, str_of(word), 0, &docs, 20000);
}

/* Documents from `least` on; -1: the index must be asked; -2: there are more than max. */
static int64_t kept(struct word_lists *lists, uint64_t view, const char *word, doc_id least,
                    size_t max)
{
    struct word_docs docs;
    if (!word_lists_find(lists, view, str_of(word), least, max, &docs))
        return -1;
    int64_t n = docs.is_over ? -2 : (int64_t)docs.n;
    CHECK(n <= 0 || docs.v[0].doc >= least);
    word_docs_end(&docs);
    return n;
}

TEST(a_list_answers_for_every_bound)
{
    LISTS(lists);
    keep_list(ctx, lists, 7, "few", 20);
    keep_list(ctx, lists, 7, "none", 0);
    keep_list(ctx, lists, 7, "many", 20001);
    struct word_docs over = {.is_over = true};
    word_lists_keep(lists, 7, S("over"), 0, &over, 60);
    CHECK_INT(kept(lists, 7, "few", 0, 20), 20);
    CHECK_INT(kept(lists, 7, "few", 0, 19), -2);
    CHECK_INT(kept(lists, 7, "few", 15, 19), 6);
    CHECK_INT(kept(lists, 7, "few", 21, 19), 0);
    CHECK_INT(kept(lists, 7, "none", 0, 1), 0);
    CHECK_INT(kept(lists, 7, "many", 0, 20000), -2);
    CHECK_INT(kept(lists, 7, "many", 0, 20001), -1);
    CHECK_INT(kept(lists, 7, "many", 1, 10), -1);
    CHECK_INT(kept(lists, 7, "over", 0, 60), -2);
    CHECK_INT(kept(lists, 7, "over", 0, 61), -1);
    CHECK_INT(kept(lists, 7, "unknown", 0, 61), -1);
}

enum way { ADDED, REMOVED };

/* One word of one document changes, and the next view begins. */
static void change(struct word_lists *lists, uint64_t view, doc_id doc, const char *word,
                   enum way way)
{
    word_lists_begin(lists, view);
    word_lists_change(lists, str_of(word), doc, IN_TEXT, way == REMOVED);
    word_lists_seal(lists, view + 1);
    word_lists_end(lists, true);
}

/* The list of memories alone answers where the whole one is too long, and goes with the word. */
TEST(a_list_of_memories_has_a_place_of_its_own)
{
    LISTS(lists);
    struct posting memory = {.doc = DOC_MEMORY | 5, .counts = 1};
    struct word_docs one = {.v = &memory, .n = 1}, none = {0}, over = {.is_over = true};
    word_lists_keep(lists, 7, S("said"), 0, &over, 60);
    CHECK_INT(kept(lists, 7, "said", DOC_MEMORY, 60), -1);
    word_lists_keep(lists, 7, S("said"), DOC_MEMORY, &one, 60);
    word_lists_keep(lists, 7, S("name"), DOC_MEMORY, &none, 60);
    CHECK_INT(kept(lists, 7, "said", DOC_MEMORY, 60), 1);
    CHECK_INT(kept(lists, 7, "said", 0, 60), -2);
    CHECK_INT(kept(lists, 7, "name", DOC_MEMORY, 60), 0);
    CHECK_INT(kept(lists, 7, "name", 0, 60), -1);
    change(lists, 7, DOC_MEMORY | 6, "said", ADDED);
    CHECK_INT(kept(lists, 8, "said", DOC_MEMORY, 60), 2);
    CHECK_INT(kept(lists, 8, "said", 0, 60), -2);
    CHECK_INT(kept(lists, 8, "name", DOC_MEMORY, 60), 0);
    change(lists, 8, 6, "said", ADDED); /* a message */
    CHECK_INT(kept(lists, 9, "said", DOC_MEMORY, 60), 2);
}

/* A recall that began before a write does not drop what is kept of the state behind it. */
TEST(a_reader_of_a_view_that_is_past_replaces_nothing)
{
    LISTS(lists);
    keep_list(ctx, lists, 7, "silent", 5);
    word_lists_begin(lists, 7);
    word_lists_seal(lists, 8);
    word_lists_end(lists, true);
    keep_list(ctx, lists, 7, "late", 3);
    CHECK_INT(kept(lists, 8, "silent", 0, 100), 5);
    CHECK_INT(kept(lists, 7, "late", 0, 100), -1);
    keep_list(ctx, lists, 9, "newer", 3); /* another process has written */
    CHECK_INT(kept(lists, 8, "silent", 0, 100), -1);
    CHECK_INT(kept(lists, 9, "newer", 0, 100), 3);
}

TEST(lists_are_of_one_view)
{
    LISTS(lists);
    keep_list(ctx, lists, 7, "few", 20);
    CHECK_INT(kept(lists, 8, "few", 0, 100), -1);
    keep_list(ctx, lists, 8, "other", 3);
    CHECK_INT(kept(lists, 7, "few", 0, 100), -1);
    CHECK_INT(kept(lists, 8, "few", 0, 100), -1);
    CHECK_INT(kept(lists, 8, "other", 0, 100), 3);
}

TEST(a_write_changes_the_lists_of_its_words_behind_its_commit)
{
    LISTS(lists);
    keep_list(ctx, lists, 7, "said", 20);
    keep_list(ctx, lists, 7, "silent", 5);
    keep_list(ctx, lists, 7, "never", 0);
    word_lists_begin(lists, 7);
    CHECK(word_lists_is_changing(lists));
    for (int i = 0; i < 20; i++)
        word_lists_change(lists, S("said"), 21, IN_TEXT, false);
    word_lists_change(lists, S("said"), 21, IN_LABEL, false);
    word_lists_change(lists, S("said"), 3, IN_TEXT, true);
    word_lists_change(lists, S("said"), 3, IN_TEXT, true);
    word_lists_change(lists, S("never"), 21, IN_TEXT, false);
    word_lists_change(lists, S("new"), 21, IN_TEXT, false);
    keep_list(ctx, lists, 7, "new", 20); /* by a reader of the old view */
    CHECK_INT(kept(lists, 7, "new", 0, 100), -1);
    CHECK_INT(kept(lists, 7, "said", 0, 100), 20);
    word_lists_seal(lists, 8);
    word_lists_end(lists, true);
    CHECK_INT(kept(lists, 7, "silent", 0, 100), -1);
    CHECK_INT(kept(lists, 8, "silent", 0, 100), 5);
    CHECK_INT(kept(lists, 8, "never", 0, 100), 1);
    CHECK_INT(kept(lists, 8, "new", 0, 100), -1);
    struct word_docs docs;
    CHECK(word_lists_find(lists, 8, S("said"), 0, 100, &docs));
    CHECK(docs.n == 20 && docs.v[2].doc == 4 && docs.v[19].doc == 21);
    CHECK_INT(docs.v[19].counts, 0x1F); /* at most 15 are counted */
    word_docs_end(&docs);
    for (doc_id doc = 0; doc <= 21; doc++)
        change(lists, 8 + (uint64_t)doc, doc, "said", REMOVED);
    CHECK_INT(kept(lists, 30, "said", 0, 100), 0);
    change(lists, 30, 7, "said", ADDED);
    CHECK_INT(kept(lists, 31, "said", 0, 100), 1);
}

/* A list that grows too long is known to be so; a removal may make it short again. */
TEST(a_list_that_grows_too_long_says_so)
{
    enum { MOST = 20000 };
    LISTS(lists);
    keep_list(ctx, lists, 7, "said", MOST);
    CHECK_INT(kept(lists, 7, "said", 0, MOST), MOST);
    change(lists, 7, MOST + 1, "said", ADDED);
    CHECK_INT(kept(lists, 8, "said", 0, MOST), -2);
    CHECK_INT(word_lists_bytes(lists), 0);
    change(lists, 8, MOST + 2, "said", ADDED);
    CHECK_INT(kept(lists, 9, "said", 0, MOST), -2);
    change(lists, 9, 1, "said", REMOVED);
    CHECK_INT(kept(lists, 10, "said", 0, MOST), -1);
}

/* Of a transaction that changes very much the rest is dropped. */
TEST(a_large_write_drops_what_it_cannot_change)
{
    enum { MANY = 25000 };
    LISTS(lists);
    keep_list(ctx, lists, 7, "first", 5);
    keep_list(ctx, lists, 7, "said", 5);
    keep_list(ctx, lists, 7, "silent", 5);
    word_lists_begin(lists, 7);
    word_lists_change(lists, S("first"), 6, IN_TEXT, false);
    for (doc_id doc = 6; doc < MANY; doc++)
        word_lists_change(lists, S("said"), doc, IN_TEXT, false);
    word_lists_seal(lists, 8);
    word_lists_end(lists, true);
    CHECK_INT(kept(lists, 8, "first", 0, MANY), 6);
    CHECK_INT(kept(lists, 8, "said", 0, MANY), -1);
    CHECK_INT(kept(lists, 8, "silent", 0, MANY), 5);
}

TEST(after_a_write_that_failed_nothing_is_kept)
{
    LISTS(lists);
    keep_list(ctx, lists, 7, "silent", 5);
    word_lists_begin(lists, 7);
    word_lists_seal(lists, 8);
    word_lists_end(lists, false);
    CHECK_INT(kept(lists, 7, "silent", 0, 100), -1);
    CHECK_INT(kept(lists, 8, "silent", 0, 100), -1);
    keep_list(ctx, lists, 7, "silent", 5);
    word_lists_begin(lists, 9); /* another process wrote meanwhile */
    word_lists_seal(lists, 10);
    word_lists_end(lists, true);
    CHECK_INT(kept(lists, 10, "silent", 0, 100), -1);
}

/* A search reads a list without the lock, also when a write or another list takes its place. */
TEST(a_list_stays_until_the_last_search_gives_it_back)
{
    LISTS(lists);
    struct word_docs one, two;
    keep_list(ctx, lists, 7, "said", 20);
    size_t bytes = word_lists_bytes(lists);
    CHECK(word_lists_find(lists, 7, S("said"), 0, 100, &one));
    CHECK(word_lists_find(lists, 7, S("said"), 11, 100, &two));
    change(lists, 7, 21, "said", ADDED);
    CHECK_INT(kept(lists, 8, "said", 0, 100), 21);
    CHECK(one.n == 20 && one.v[19].doc == 20 && two.n == 10 && two.v[0].doc == 11);
    for (doc_id doc = 1; doc <= 21; doc++)
        change(lists, 7 + (uint64_t)doc, doc, "said", REMOVED);
    CHECK(one.n == 20 && one.v[0].doc == 1 && one.v[19].doc == 20);
    word_docs_end(&one);
    CHECK_INT(word_lists_bytes(lists), bytes);
    word_docs_end(&two);
    word_docs_end(&two);
    CHECK_INT(word_lists_bytes(lists), 0);
}

TEST(lists_have_a_bounded_size)
{
    enum { WORDS = 40000, DOCS = 2000 };
    LISTS(lists);
    int64_t there = 0;
    struct word_docs docs = numbers(ctx, DOCS);
    for (int i = 0; i < WORDS / 10; i++)
        word_lists_keep(lists, 7, str_printf(&ctx->arena, "w%d", i), 0, &docs, 20000);
    CHECK(word_lists_bytes(lists) <= LIMIT && word_lists_bytes(lists) > LIMIT * 3 / 4);
    for (int i = 0; i < WORDS / 10; i++)
        there += kept(lists, 7, str_printf(&ctx->arena, "w%d", i).p, 0, 20000) == DOCS;
    CHECK(there > 0 && there * DOCS * (int64_t)sizeof *docs.v <= LIMIT);
    for (int i = 0; i < WORDS; i++)
        keep_list(ctx, lists, 7, str_printf(&ctx->arena, "n%d", i).p, 0);
    there = 0;
    for (int i = 0; i < WORDS; i++)
        there += kept(lists, 7, str_printf(&ctx->arena, "n%d", i).p, 0, 1) == 0;
    CHECK(there > 16000 && there <= 32768);
}

/* Many changes of one transaction, in any order, give what they give one by one; who has a list
 * goes on reading it as it was. */
TEST(a_list_becomes_what_the_changes_of_a_transaction_say)
{
    enum { ROUNDS = 300, DOCS = 60, MOST = 40 };
    LISTS(lists);
    uint8_t counts[DOCS] = {0}; /* 0: it is not there */
    uint64_t random = 88172645463325252u;
    keep_list(ctx, lists, 1, "said", 0);
    for (uint64_t view = 1; view < ROUNDS; view++) {
        uint8_t before[DOCS];
        struct word_docs docs;
        memcpy(before, counts, sizeof before);
        CHECK(word_lists_find(lists, view, S("said"), 0, DOCS, &docs));
        word_lists_begin(lists, view);
        for (uint64_t i = 0; i < view % MOST; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            doc_id doc = (doc_id)(random >> 33) % DOCS;
            bool is_removal = random >> 62 == 0;
            word_lists_change(lists, S("said"), doc, IN_TEXT, is_removal);
            counts[doc] = is_removal ? 0 : counts[doc] + (counts[doc] < 15);
        }
        word_lists_seal(lists, view + 1);
        word_lists_end(lists, true);
        size_t there = 0;
        for (doc_id doc = 0; doc < DOCS; doc++)
            if (before[doc] && there++ < docs.n)
                CHECK(docs.v[there - 1].doc == doc && docs.v[there - 1].counts == before[doc]);
        CHECK_INT(docs.n, there);
        word_docs_end(&docs);
    }
    word_lists_keep(lists, ROUNDS + 1, S("other"), 0, &(struct word_docs){0}, 1);
    CHECK_INT(word_lists_bytes(lists), 0);
}

/* One transaction erases a whole list of n documents; how long the processor has to do with it. */
static int64_t erase_ns(struct ctx *ctx, struct word_lists *lists, uint64_t view, size_t n)
{
    struct timespec begin, end;
    keep_list(ctx, lists, view, "said", n);
    word_lists_begin(lists, view);
    for (size_t i = 1; i <= n; i++)
        word_lists_change(lists, S("said"), (doc_id)i, IN_TEXT, true);
    word_lists_seal(lists, view + 1);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    word_lists_end(lists, true);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    CHECK_INT(kept(lists, view + 1, "said", 0, n), 0);
    return (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
}

/* Each erased document once moved all behind it, 3 GB together, with the lock held. */
TEST(the_time_of_a_transaction_grows_with_its_changes_and_not_their_square)
{
    enum { MANY = 19000, PART = 10, TRIES = 5 };
    LISTS(lists);
    int64_t few = INT64_MAX, many = INT64_MAX;
    for (uint64_t i = 1; i <= TRIES; i++) {
        int64_t one = erase_ns(ctx, lists, 10 * i, MANY / PART);
        int64_t all = erase_ns(ctx, lists, 10 * i + 5, MANY);
        few = one < few ? one : few;
        many = all < many ? all : many;
    }
    CHECK(many < 3 * PART * few);
}

struct reading_on {
    struct word_lists *lists;
    _Atomic uint64_t view;
    atomic_bool is_over;
};

/* Lists and messages are whole whenever they are there. */
static void *read_on(void *arg)
{
    struct reading_on *t = arg;
    while (!t->is_over) {
        struct ctx own = {0};
        struct word_docs docs = {0};
        struct message m;
        doc_id doc = 1, missing;
        size_t place;
        uint64_t view = t->view;
        if (word_lists_find(t->lists, view, S("said"), 0, 20000, &docs))
            for (size_t i = 1; i < docs.n; i++)
                CHECK(docs.v[i - 1].doc < docs.v[i].doc && docs.v[i].counts);
        word_docs_end(&docs);
        if (!word_lists_messages(t->lists, view, &own.arena, both, &doc, 1, &m, &missing, &place))
            CHECK_STR(m.text, S("Ithaca"));
        ctx_free(&own);
    }
    return NULL;
}

TEST(lists_are_read_while_they_change)
{
    enum { ROUNDS = 400, READERS = 2, DOCS = 300 };
    LISTS(lists);
    struct reading_on t = {.lists = lists, .view = 1};
    pthread_t threads[READERS];
    keep_list(ctx, lists, 1, "said", DOCS);
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, read_on, &t) == 0);
    for (uint64_t view = 1; view < ROUNDS; view++) {
        keep_message(lists, view, 1, S("Ithaca"));
        word_lists_begin(lists, view);
        word_lists_change(lists, S("said"), DOCS + (doc_id)view, IN_TEXT, false);
        if (view % 4 == 0)
            word_lists_change(lists, S("said"), (doc_id)view / 2, IN_TEXT, true);
        if (view % 8 == 0)
            word_lists_drop_document(lists, 1);
        word_lists_seal(lists, view + 1);
        word_lists_end(lists, view % 50 != 0); /* else nothing is kept */
        if (view % 50 == 0)
            keep_list(ctx, lists, view + 1, "said", DOCS);
        t.view = view + 1;
    }
    t.is_over = true;
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
}
