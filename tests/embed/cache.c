/* cache.c - a vector is kept until it is old or the least used of too many. */
#include "embed/cache.h"

#include <pthread.h>

#include "lib/clock.h"
#include "t.h"

static bool has(struct cache *c, const char *key)
{
    float v[2] = {0};
    return cache_get(c, str_of(key), v, 2) && v[0] == (float)key[0] && v[1] == 1;
}

static void put(struct cache *c, const char *key)
{
    const float v[2] = {(float)key[0], 1};
    cache_put(c, str_of(key), v, 2);
}

TEST(reading_keeps_an_entry_young)
{
    struct cache *c = cache_new(3, 1000);
    put(c, "a");
    put(c, "b");
    put(c, "c");
    CHECK(has(c, "a"));
    put(c, "d");
    CHECK(has(c, "a") && !has(c, "b") && has(c, "c") && has(c, "d"));
    struct cache_stats s = cache_stats(c);
    CHECK_INT(s.hits, 4);
    CHECK_INT(s.misses, 1);
    CHECK_INT(s.size, 3);
    cache_free(c);
}

TEST(an_entry_ends_at_its_age)
{
    struct cache *c = cache_new(3, 1000);
    fake_clock_set(5000);
    put(c, "a");
    fake_clock_set(5999);
    CHECK(has(c, "a"));
    fake_clock_set(6000);
    CHECK(!has(c, "a"));
    fake_clock_stop();
    CHECK_INT(cache_stats(c).size, 0);
    cache_free(c);
}

TEST(what_is_too_old_goes_when_another_comes)
{
    struct cache *c = cache_new(3, 1000);
    fake_clock_set(5000);
    put(c, "a");
    fake_clock_set(6000);
    put(c, "b");
    fake_clock_stop();
    CHECK_INT(cache_stats(c).size, 1);
    cache_free(c);
}

TEST(it_can_be_emptied)
{
    struct cache *c = cache_new(3, 1000);
    put(c, "a");
    put(c, "b");
    cache_clear(c);
    CHECK(!has(c, "a") && !has(c, "b"));
    CHECK_INT(cache_stats(c).size, 0);
    put(c, "a");
    CHECK(has(c, "a"));
    cache_free(c);
}

TEST(the_same_key_is_one_entry_and_another_length_is_none)
{
    struct cache *c = cache_new(2, 1000);
    float v[3];
    put(c, "a");
    put(c, "a");
    CHECK_INT(cache_stats(c).size, 1);
    CHECK(!cache_get(c, S("a"), v, 3));
    CHECK(has(c, "a"));
    cache_free(c);
}

TEST(none_are_kept_where_none_may_be)
{
    struct cache *c = cache_new(0, 1000);
    put(c, "a");
    CHECK(!has(c, "a"));
    cache_free(c);
}

static void *use(void *arg)
{
    char key[2] = "a";
    for (int i = 0; i < 2000; i++) {
        key[0] = (char)('a' + i % 26);
        if (!has(arg, key))
            put(arg, key);
    }
    return NULL;
}

TEST(many_threads_may_use_it)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct cache *c = cache_new(20, 100000);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, use, c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct cache_stats s = cache_stats(c);
    CHECK_INT(s.size, 20);
    CHECK_INT(s.hits + s.misses, THREADS * 2000);
    cache_free(c);
}
