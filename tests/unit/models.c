/* models.c - how large models are by their names, and how their window is shared out. */
#include "engine/history.h"

#include "t.h"

static void check_size(const char *name, double billions, const char *tier)
{
    double is = model_billions(str_of(name));
    if (is < billions - 1e-9 || is > billions + 1e-9)
        fail_msg("%s has %g, not %g", name, is, billions);
    CHECK_STR(str_of(tier_names[tier_of_model(str_of(name))]), str_of(tier));
}

TEST(a_models_name_tells_its_size)
{
    check_size("", 3, "small");
    check_size("llama3.2:1b", 1, "tiny");
    check_size("llama3.2:3b", 3, "small");
    check_size("qwen2.5:0.5b", 0.5, "tiny");
    check_size("gemma2:9b", 9, "medium");
    check_size("codellama:34b", 34, "large");
    check_size("qwen2.5:14b", 14, "medium");
    check_size("meta-llama/Llama-3.3-70B-Instruct", 70, "large");
    check_size("mixtral-8x7b", 7, "small");
    check_size("mixtral:8x22b", 22, "medium");
    check_size("gpt-4o", 200, "large");
    check_size("gpt-4o-mini", 8, "small");
    check_size("gpt-4.1", 200, "large");
    check_size("claude-3-5-sonnet-20241022", 70, "large");
    check_size("deepseek-r1:8b", 8, "small");
    check_size("deepseek-r1", 671, "large");
    check_size("gemini-2.0-flash", 20, "medium");
    check_size("phi3:medium", 14, "medium");
    check_size("gpt-oss-120b", 120, "large");
    check_size("qwen3-30b-a3b", 30, "medium");
    check_size("llama3.1:latest", 8, "small");
    check_size("phi3:mini", 3.8, "small");
}

TEST(names_are_read_with_their_folders_tags_and_capitals)
{
    check_size("models/7b-chat", 7, "small");
    check_size("models/13b", 13, "medium");
    check_size("QWEN2.5-72B", 72, "large");
    check_size("groq/llama-3.3-70b-versatile", 70, "large");
    check_size("deepseek-r1-distill-llama-70b", 70, "large");
    check_size("deepseek-r1-distill-qwen", 671, "large");
    check_size("gemini-1.5-flash-8b", 8, "small");
    check_size("llama3:latest", 8, "small");
    check_size("llama3.2:latest", 3, "small");
    check_size("mistral:latest", 7, "small");
    check_size("something-new", 3, "small");
    check_size("a-3.b", 3, "small");
    check_size("-b", 3, "small");
    check_size("-", 3, "small");
    check_size("9xb", 3, "small");
    char name[4000];
    memset(name, '9', sizeof name);
    name[sizeof name - 1] = 0;
    check_size(name, 3, "small");
}

/* What the RAG backend calls small, for want of a row or for the "mini" in "gemini". */
TEST(new_models_are_known_by_their_family)
{
    check_size("gpt-5", 200, "large");
    check_size("gpt-5.1-codex", 200, "large");
    check_size("openai/gpt-5-mini-2025-08-07", 8, "small");
    check_size("gpt-5.1-codex-mini", 8, "small");
    check_size("gpt-5-nano", 3, "small");
    check_size("gpt-4.1-mini", 8, "small");
    check_size("gpt-4.1-nano-2025-04-14", 3, "small");
    check_size("o4-mini", 8, "small");
    check_size("claude-opus-4", 200, "large");
    check_size("claude-opus-4-1-20250805", 200, "large");
    check_size("anthropic.claude-sonnet-4-5-20250929-v1:0", 70, "large");
    check_size("claude-haiku-4-5", 20, "medium");
    check_size("claude-3-7-sonnet-latest", 70, "large");
    check_size("gemini-2.5-flash", 20, "medium");
    check_size("gemini-2.5-flash-lite", 8, "small");
    check_size("gemini-2.5-pro", 200, "large");
    check_size("google/gemini-3-pro-preview", 200, "large");
    check_size("gemini-exp-1206", 200, "large");
}

static void check_shares(struct shares is, int64_t system, int64_t history, int64_t chunks,
                         int64_t generation)
{
    CHECK_INT(is.system, system);
    CHECK_INT(is.history, history);
    CHECK_INT(is.chunks, chunks);
    CHECK_INT(is.generation, generation);
}

TEST(a_window_is_shared_out_by_tier)
{
    check_shares(shares_of(TIER_TINY, 4096, 0), 409, 409, 2457, 819);
    check_shares(shares_of(TIER_SMALL, 8192, 0), 819, 1228, 4505, 1638);
    check_shares(shares_of(tier_of_model(S("llama3.1:8b")), 8192, 1200), 1200, 847, 4505, 1638);
    check_shares(shares_of(tier_of_model(S("qwen2.5:14b")), 32768, 0), 3276, 4915, 19660, 4915);
    check_shares(shares_of(tier_of_model(S("llama3.2:1b")), 1024, 0), 200, 102, 614, 256);
    check_shares(shares_of(TIER_LARGE, 128000, 0), 12800, 19200, 76800, 19200);
    struct shares s = shares_of(TIER_LARGE, 128000, 0);
    CHECK_INT(s.total, 128000);
    CHECK_INT(s.tier, TIER_LARGE);
}

/* Whatever the system text takes: the sum grows over the window only where the floors need it. */
TEST(shares_stay_within_the_window)
{
    static const int64_t windows[] = {1400, 4096, 8192, 32768, 1000000};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (int tier = TIER_TINY; tier < TIER_COUNT; tier++)
            for (int64_t system = 0; system <= windows[w]; system += windows[w] / 64) {
                struct shares s = shares_of((enum model_tier)tier, windows[w], system);
                int64_t sum = s.system + s.history + s.chunks + s.generation;
                bool must = system + 100 + 200 + 256 > windows[w];
                if (!must && sum > windows[w] + 200) /* chunks may be under their floor */
                    fail_msg("%lld with %lld: %lld", (long long)windows[w], (long long)system,
                             (long long)sum);
                CHECK(s.system >= system && s.history >= 100 && s.chunks >= 200);
                CHECK(s.generation >= 256);
            }
}

TEST(shares_of_nonsense_are_floors)
{
    check_shares(shares_of(TIER_SMALL, 0, 0), 200, 100, 200, 256);
    check_shares(shares_of(TIER_SMALL, -5, -5), 200, 100, 200, 256);
    struct shares s = shares_of(TIER_LARGE, INT64_MAX, INT64_MAX);
    CHECK(s.total > 0 && s.history >= 100 && s.chunks >= 200 && s.generation >= 256);
}
