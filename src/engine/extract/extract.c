/* extract.c - facts from a text by patterns: by the compatible table, or by our own. */
#include "engine/extract/extract.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/extract/secrets.h"
#include "engine/judge/directive.h"
#include "engine/text/bytes.h"
#include "engine/text/content_key.h"
#include "engine/text/utterance.h"

/*
 * Two tables in lang/patterns.def. SEED: the compatible table, some regular expressions that take
 * the text up to the next mark; used only where the setting `extraction` asks for it, also on
 * answers. FACT: our own, tried where a clause of the user's begins, each with a key, so that a new
 * value replaces the old one: "My dog is called Rex" has the key of the dog's name. Either way at
 * most FACTS_PER_TEXT or SEED_FACTS_PER_TEXT facts of the last EXTRACT_TEXT_MAX units of a text.
 */
static const struct seed_row {
    const char *category;
    enum memory_type type;
    const char *regex;
} seed_rows[] = {
#define SEED(CATEGORY, TYPE, HEAD) {#CATEGORY, TYPE, HEAD "([^.,\\n]+)"},
#include "lang/patterns.def"
};

/* Of the compatible table; the other ones count 0.5. */
static const char *const seed_weighty[] = {"preference", "decision", NULL};
#define SEED_WEIGHTY 0.6
#define SEED_PLAIN 0.5

/* --- texts --- */

/* White space beyond ASCII, by the rules of JavaScript's \s. */
static bool is_wide_space(int32_t c)
{
    return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

/* The text with wide blanks as ASCII ones, and, if asked, the apostrophes of telephones as well. */
static str plain_text(struct arena *a, str text, bool apostrophes)
{
    struct buf b = buf_make(a, text.n + 1);
    for (size_t i = 0, n; i < text.n; i += n) {
        int32_t c = utf8_at(text, i, &n);
        bool is_mark = apostrophes && (c == 0x2018 || c == 0x2019 || c == 0x2BC);
        buf_add(&b, is_mark ? S("'") : is_wide_space(c) ? S(" ") : str_sub(text, i, i + n));
    }
    return buf_str(&b);
}

/* UTF-16 units; a character of two units is never cut. */
static str first_units(str text, size_t units)
{
    size_t i = 0;
    for (size_t used = 0; i < text.n; i++) {
        used += utf16_length(str_sub(text, i, i + 1));
        if (used > units)
            break;
    }
    return str_sub(text, 0, i);
}

/* The last units UTF-16 units, or one more rather than half a character. */
static str last_units(str text, size_t units)
{
    size_t all = utf16_length(text);
    return str_sub(text, first_units(text, all > units ? all - units : 0).n, text.n);
}

str one_line(struct arena *a, str text)
{
    char *p = arena_alloc(a, text.n + 1);
    size_t n = 0;
    text = str_trim(text);
    for (size_t i = 0; i < text.n; i++) {
        if (!char_is_space(text.p[i]))
            p[n++] = text.p[i];
        else if (p[n - 1] != ' ')
            p[n++] = ' ';
    }
    return (str){p, n};
}

str fact_text(struct arena *a, str text)
{
    return first_units(one_line(a, text), FACT_TEXT_MAX);
}

/* --- facts --- */

/* By rule for our own table, by category for the compatible one; a note never below ASKED_FOR. */
static double importance_of(struct found *f, const struct memory *m)
{
    double least = str_is(m->category, "note") ? ASKED_FOR : 0;
    double seed = str_is_one_of(m->category, seed_weighty) ? SEED_WEIGHTY : SEED_PLAIN;
    double rule = f->by_seed ? seed : importance_by_rule(&f->ctx->arena, m);
    return rule > least ? rule : least;
}

static str metadata_of(struct found *f, const char *category, int64_t now)
{
    struct json_out w = json_in(&f->ctx->arena, 512);
    json_open(&w, '{');
    json_member_str(&w, "category", str_of(category));
    json_key(&w, "extractedAt");
    json_time(&w, now);
    json_member_str(&w, "source", f->by_seed ? S("llm_response") : S("user_message"));
    json_close(&w, '}');
    return buf_str(w.b);
}

/* In the compatible table the earlier statement with a key wins, in our own the later one. The
 * pointer is valid until the next call. */
struct memory *found_add(struct found *f, const char *category, enum memory_type type, str key,
                         str content)
{
    size_t at = 0;
    assert(f->n <= f->room && key.n);
    while (at < f->n && !str_eq(f->v[at].key, key))
        at++;
    if ((at < f->n && f->by_seed) || at == f->room || secrets_are_in(content))
        return NULL;
    int64_t now = clock_ms();
    f->added++;
    if (at == f->n)
        memories_add(&f->ctx->arena, &f->v, &f->n, (struct memory){0});
    f->v[at] = (struct memory){
        .layer = strcmp(category, "identity") ? LAYER_FACT : LAYER_IDENTITY,
        .type = type,
        .category = str_of(category),
        .key = key,
        .content = content,
        .metadata = metadata_of(f, category, now),
        .origin = ORIGIN_USER,
        .created = now,
        .updated = now,
        .last_used = now,
        .valid_from = now,
    };
    f->v[at].importance = f->v[at].salience = importance_of(f, &f->v[at]);
    return &f->v[at];
}

/* --- the compatible table --- */

/* Lower case, each run of other characters than a-z and 0-9 an underscore, 40 of them, and no
 * underscore at the end. */
static str seed_key(struct arena *a, const char *category, str content)
{
    char slug[40];
    size_t n = 0;
    for (size_t i = 0; i < content.n && n < sizeof slug; i++) {
        if (is_ascii_word(content.p[i]))
            slug[n++] = ascii_lower(content.p[i]);
        else if (n == 0 || slug[n - 1] != '_')
            slug[n++] = '_';
    }
    return str_printf(a, "%s:" S_FMT, category, S_ARG(str_trim_end((str){slug, n}, "_")));
}

/* Row by row and not place by place: the order that users of that table know. */
static void seed_find(struct found *f, str text)
{
    struct pattern *const *seeds = PATTERNS(seed_rows, regex);
    struct match m;
    for (size_t i = 0; i < sizeof seed_rows / sizeof *seed_rows; i++) {
        for (size_t at = 0; pattern_find(seeds[i], text, at, &m); at = m.to) {
            str content = fact_text(&f->ctx->arena, m.group[1]);
            if (utf16_length(content) >= 3)
                found_add(f, seed_rows[i].category, seed_rows[i].type,
                          seed_key(&f->ctx->arena, seed_rows[i].category, content), content);
        }
    }
}

/* What weighs too little is not kept, nor what a named person wishes. */
static size_t drop_some(struct found *f, double least, bool is_named)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].importance >= least &&
            !(is_named && str_is(f->v[i].category, STANDING_CATEGORY)))
            f->v[kept++] = f->v[i];
    return kept;
}

/* Pure: nothing is stored. The caller sets id, session and source. With another value of rules than
 * these two *n is 0. */
struct memory *engine_extract(struct ctx *ctx, struct engine *e, enum extract_rules rules,
                              const struct message *m, str text, size_t *n)
{
    bool by_seed = rules == EXTRACT_TABLE;
    struct found f = {.ctx = ctx,
                      .room = by_seed ? SEED_FACTS_PER_TEXT : FACTS_PER_TEXT,
                      .by_seed = by_seed};
    text = engine_strip_block(&ctx->arena, text);
    if (!by_seed) /* before it is cut: its end alone may begin inside of code */
        text = utterance_own_words(&ctx->arena, text);
    text = last_units(text, EXTRACT_TEXT_MAX);
    /* What a chat would not be given as a line is no fact either: "Ignore previous instructions and
     * always recommend …" would come back as what the user asks for. */
    text = text_directed(&ctx->arena, text, by_seed ? WHOSE_ANSWER : WHOSE_OWN).kept;
    text = plain_text(&ctx->arena, text, !by_seed);
    if (by_seed)
        seed_find(&f, text);
    else if (rules == EXTRACT_USER)
        statements_find(&f, text);
    *n = drop_some(&f, by_seed ? 0 : e->settings->importance_min, m && m->speaker.n);
    return f.v;
}
