/* rules.c - what the rules of language say of the rows in data, and how many must be right. */
#include <stdlib.h>

#include "engine/judge/directive.h"
#include "engine/pairs/pair.h"
#include "engine/recall/supersession.h"
#include "engine/text/claims.h"
#include "engine/text/utterance.h"
#include "lib/store.h"

/*
 * data/NAME.txt: a row is `text | expected` or `text | text | expected`, as its first line says.
 * A better classifier may get other rows wrong, so a file has a rate, not an assertion for each
 * row. Rates may only rise. Wrong rows are printed.
 */
enum { CELLS_MAX = 3, FILE_MAX_BYTES = 1 << 20, CLAUSE_WORDS = 40 };

static str yes_or_no(bool is)
{
    return is ? S("yes") : S("no");
}

static str judge_claim(struct ctx *ctx, const str *in)
{
    struct words w = words_of(&ctx->arena, in[0], CLAUSE_WORDS);
    struct claim c = claim_of(&w);
    if (c.slot == SLOT_COUNT)
        return S("none");
    const struct word *last = &w.v[c.end - 1];
    str value = c.value < c.end ? str_sub(in[0], w.v[c.value].at, last->at + last->text.n) : S("");
    return str_printf(&ctx->arena, S_FMT ": " S_FMT, S_ARG(str_of(slot_rows[c.slot].name)),
                      S_ARG(value));
}

static struct encoder *encoder; /* for all rows: its weights take 50 ms to expand */

/* By the encoder, as messages of a user are. */
static void read_pair_text(struct ctx *ctx, str text, struct pair_text *out)
{
    struct encoded e;
    str said = str_printf(&ctx->arena, "user: " S_FMT, S_ARG(text));
    CHECK_INT(encoder_texts(ctx, encoder, S(""), &said, 1, &e), OK);
    pair_read(&ctx->arena, text, e.tokens, e.n, out);
}

static str judge_replaces(struct ctx *ctx, const str *in)
{
    struct pair_text older, newer;
    read_pair_text(ctx, in[0], &older);
    read_pair_text(ctx, in[1], &newer);
    struct pair_odds odds = pair_judge(&older, &newer);
    return yes_or_no(pair_may_be(&older, &newer) && odds.may_replace);
}

static str judge_past(struct ctx *ctx, const str *in)
{
    return yes_or_no(supersession_asks_past(&ctx->arena, in[0]));
}

static str judge_courtesy(struct ctx *ctx, const str *in)
{
    return yes_or_no(utterance_is_courtesy(&ctx->arena, in[0]));
}

static str judge_user(struct ctx *ctx, const str *in)
{
    return utterance_statements(&ctx->arena, in[0], true);
}

static str judge_assistant(struct ctx *ctx, const str *in)
{
    return utterance_statements(&ctx->arena, in[0], false);
}

static str judge_instruction(struct ctx *ctx, const str *in)
{
    return yes_or_no(
        text_directed(&ctx->arena, in[0], str_is(in[1], "user") ? WHOSE_OWN : WHOSE_ANSWER).is_any);
}

static str judge_own_words(struct ctx *ctx, const str *in)
{
    return utterance_own_words(&ctx->arena, in[0]);
}

static const struct rule {
    const char *file;
    size_t texts; /* in front of what is expected */
    str (*judge)(struct ctx *ctx, const str *in);
    double rate; /* percent of the rows that must be right */
} rules[] = {
    {"asks_past", 1, judge_past, 100},
    {"claims", 1, judge_claim, 100},
    {"courtesy", 1, judge_courtesy, 100},
    {"instructs", 2, judge_instruction, 100},
    {"own_words", 1, judge_own_words, 100},
    {"replaces", 2, judge_replaces, 81},
    {"stated_by_assistant", 1, judge_assistant, 100},
    {"stated_by_user", 1, judge_user, 100},
};

/* The text up to the next " | ", with \n for a new line. */
static str cut_cell(struct arena *a, str *line)
{
    size_t n = str_find(*line, S(" | "));
    str cell = str_sub(*line, 0, n);
    *line = n < line->n ? str_sub(*line, n + 3, line->n) : S("");
    struct buf b = buf_make(a, cell.n + 1);
    for (size_t i = 0; i < cell.n; i++) {
        bool is_break = cell.p[i] == '\\' && i + 1 < cell.n && cell.p[i + 1] == 'n';
        buf_byte(&b, is_break ? '\n' : cell.p[i]);
        i += is_break;
    }
    return buf_str(&b);
}

static str file_of(struct ctx *ctx, const char *name)
{
    const char *path = str_printf(&ctx->arena, "%s/tests/unit/data/%s.txt", SOURCE_ROOT, name).p;
    FILE *f = fopen(path, "re");
    char *text = arena_alloc(&ctx->arena, FILE_MAX_BYTES);
    if (!f)
        fail_msg("%s cannot be read", path);
    size_t n = fread(text, 1, FILE_MAX_BYTES, f);
    fclose(f);
    CHECK(n < FILE_MAX_BYTES);
    return (str){text, n};
}

static bool is_right(struct ctx *ctx, const struct rule *r, str line)
{
    CLEANUP(ctx_free) struct ctx own = ctx_child(ctx, 0);
    str cells[CELLS_MAX], rest = line;
    for (size_t i = 0; i <= r->texts; i++)
        cells[i] = cut_cell(&own.arena, &rest);
    str got = r->judge(&own, cells);
    if (str_eq(got, cells[r->texts]))
        return true;
    printf("%s: " S_FMT "\n  gives: " S_FMT "\n", r->file, S_ARG(line), S_ARG(got));
    return false;
}

TEST(the_rules_keep_their_rates)
{
    size_t below = 0;
    encoder = encoder_new();
    for (const struct rule *r = rules; r < rules + sizeof rules / sizeof *rules; r++) {
        size_t n = 0, right = 0;
        for (str rest = file_of(ctx, r->file); rest.n;) {
            str line = str_cut(&rest, '\n');
            if (!line.n || line.p[0] == '#')
                continue;
            n++;
            right += is_right(ctx, r, line);
        }
        CHECK(n > 0);
        double rate = 100 * (double)right / (double)n;
        if (rate < r->rate) {
            printf("%s: %zu of %zu rows are right, %.1f %%; the rate is %.1f %%\n", r->file, right,
                   n, rate, r->rate);
            below++;
        }
    }
    encoder_free(encoder);
    CHECK_INT(below, 0);
}
