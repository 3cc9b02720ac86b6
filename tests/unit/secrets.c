/* secrets.c - what is masked in a text that goes to a model, and what is not. */
#include "engine/extract/secrets.h"

#include <time.h>

#include "base/buf.h"
#include "engine/extract/extract.h"
#include "engine/state/state.h"
#include "lib/store.h"

TEST(secrets_are_masked_and_what_stands_beside_them_is_not)
{
    static const struct {
        const char *text, *masked;
    } cases[] = {
        {"OPENAI_API_KEY=sk-proj-Zk83hfQw02mVt5LsYxR4bNc7\nREGION=eu-north",
         "OPENAI_API_KEY=[secret]\nREGION=eu-north"},
        {"the deploy user is kranich and the password for it is Tr0ub4dor&3x.",
         "the deploy user is kranich and the password for it is [secret]."},
        {"card number 4111 1111 1111 1111, CVC 737, and deliver to Seestrasse 4.",
         "card number [secret], CVC [secret], and deliver to Seestrasse 4."},
        {"Authorization: Bearer ghp_R7tYq2LmN8vXc4ZsKp1WdE5uHj9aBf0gQ3\n403",
         "Authorization: Bearer [secret]\n403"},
        {"My tax form: SSN 078-05-1120, filing jointly",
         "My tax form: SSN [secret], filing jointly"},
        {"IBAN DE89 3704 0044 0532 0130 00 please", "IBAN [secret] please"},
        {"my CPF is 529.982.247-25", "my CPF is [secret]"},
        {"AHV 756.9217.0769.85", "AHV [secret]"},
        {"postgres://app:hunter22@db/x", "postgres://app:[secret]@db/x"},
        {"Mein Passwort ist Sommer2024!", "Mein Passwort ist [secret]!"},
        {"My password is Sommer77 and the one for work is Zebra-42! Room B1204x is mine.",
         "My password is [secret] and the one for work is [secret]! Room B1204x is mine."},
        {"Mon mot de passe est Zebre42! et celui du boulot est Lion77x, sur db02.example.com",
         "Mon mot de passe est [secret]! et celui du boulot est [secret], sur db02.example.com"},
        {"仕事のパスワードはzebra42です、家のはlion77xです",
         "仕事のパスワードは[secret]です、家のは[secret]です"},
        {"netflix login is ana@x.org / Zebra-42!", "netflix login is [secret] / [secret]!"},
        {"My password's Zebra-42x", "My password's [secret]"},
        {"My password’s Zebra-42x", "My password’s [secret]"},
        {"รหัสผ่านคือ zebra42", "รหัสผ่านคือ [secret]"},
        {"The IMEI of my phone is 356938035643809", NULL},
        {"Order 1234 5678 9012 3456 arrived", NULL},
        {"My phone is 0151 23456789 and I was born in 1984", NULL},
        {"The key of the boat house hangs behind the life jackets", NULL},
        {"The PIN hint for the family safe is the year of the flood", NULL},
        {"token budget: 800, and the api is REST", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = str_of(cases[i].text);
        CHECK_STR(secrets_masked(&ctx->arena, text, NULL),
                  cases[i].masked ? str_of(cases[i].masked) : text);
        CHECK_INT(secrets_are_in(text), cases[i].masked != NULL);
    }
}

/* A pattern is tried only where the text shows what each match has (extract.h). */
TEST(the_shortest_secrets_are_found)
{
    static const char *const texts[] = {
        "sk-abcdefghijklmnop",
        "glpat-abcdefghijklmnop",
        "xoxb-1234567890",
        "hf_abcdefghijklmnopqrst",
        "eyJabcdefgh.abcdefgh.",
        "-----BEGIN PRIVATE KEY-----",
        "my pin is 123",
        "cvv 123",
        "bearer abcdefg1",
        "KEY=abcdef",
        "TOKEN: abcdef",
        "123-45-6789",
        "a://b:c@",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(secrets_are_in(str_of(texts[i])));
}

TEST(a_secret_is_known_again_without_its_name)
{
    struct strs values = {0};
    struct arena *a = &ctx->arena;
    secrets_add(a, S("My password is Gr4ntchester-Vole, CVC 737."), &values);
    secrets_add(a, S("The password is Gr4ntchester-Vole; it is [secret]"), &values);
    CHECK_INT(values.n, 2); /* whole, and its part with a digit; 737 is too short */
    CHECK_STR(secrets_masked(a, S("Use Gr4ntchester-Vole, then Gr4ntchester-Vole."), &values),
              S("Use [secret], then [secret]."));
    CHECK_STR(secrets_masked(a, S("737 voles"), &values), S("737 voles"));
    str once = secrets_masked(a, S("password: Gr4ntchester-Vole"), NULL);
    CHECK_STR(secrets_masked(a, once, NULL), once);
}

TEST(no_secret_of_many_stays)
{
    struct buf b = buf_make(&ctx->arena, 1 << 14);
    for (int i = 0; i < 400; i++)
        buf_printf(&b, "line %d: password: Walrus%dx\n", i, i + 1000);
    str masked = secrets_masked(&ctx->arena, buf_str(&b), NULL);
    CHECK_INT(str_find(masked, S("Walrus")), masked.n);
    CHECK(str_starts(masked, S("line 0: password: [secret]\nline 1: password: [secret]\n")));
}

/* --- tests/secrets: a text in each line --- */

#define OPENS "\u27E6"
#define CLOSES "\u27E7"
#define LEFT_OUT "\u00B7"

static str without(struct arena *a, str text, const char *what, const char *instead)
{
    struct buf b = buf_make(a, text.n + 1);
    while (text.n) {
        size_t n = str_find(text, str_of(what));
        buf_add(&b, str_sub(text, 0, n));
        buf_add(&b, n < text.n ? str_of(instead) : S(""));
        text = n < text.n ? str_sub(text, n + strlen(what), text.n) : S("");
    }
    return buf_str(&b);
}

static str lines_of(struct ctx *ctx, const char *name)
{
    FILE *f = fopen(name, "r");
    struct buf b = buf_make(&ctx->arena, 1 << 16);
    char line[4096];
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "# ", 2) != 0)
            buf_add(&b, str_of(line));
    fclose(f);
    return buf_str(&b);
}

/* Lines of the file that are not masked as marked, of those with a mark or of those without. */
static size_t lines_missed(struct ctx *ctx, const char *name, bool marked)
{
    struct arena *a = &ctx->arena;
    size_t missed = 0;
    for (str rest = lines_of(ctx, name); rest.n;) {
        str line = without(a, without(a, str_cut(&rest, '\n'), LEFT_OUT, ""), "\\n", "\n");
        struct buf b = buf_make(a, line.n + 64);
        for (str left = line; left.n;) {
            size_t from = str_find(left, S(OPENS)), to = str_find(left, S(CLOSES));
            buf_add(&b, str_sub(left, 0, from));
            buf_add(&b, from < left.n ? S("[secret]") : S(""));
            left = to < left.n ? str_sub(left, to + strlen(CLOSES), left.n) : S("");
        }
        str plain = without(a, without(a, line, OPENS, ""), CLOSES, "");
        str masked = secrets_masked(a, plain, NULL);
        if ((plain.n < line.n) != marked || str_eq(masked, buf_str(&b)))
            continue;
        print_message(S_FMT " -> " S_FMT "\n", S_ARG(line), S_ARG(masked));
        missed++;
    }
    return missed;
}

TEST(each_kind_of_secret_is_masked)
{
    CHECK_INT(lines_missed(ctx, SOURCE_ROOT "/tests/secrets/secrets.txt", true), 0);
}

/* Twenty of each. No rule was made by these lines, so some are missed. */
TEST(most_texts_that_are_set_aside_are_told_apart)
{
    CHECK(lines_missed(ctx, SOURCE_ROOT "/tests/secrets/aside.txt", true) <= 4);
    CHECK(lines_missed(ctx, SOURCE_ROOT "/tests/secrets/aside.txt", false) <= 1);
}

/* At most one in a hundred. */
TEST(what_looks_like_a_secret_is_not_masked)
{
    static const char *const files[] = {SOURCE_ROOT "/tests/secrets/harmless.txt",
                                        SOURCE_ROOT "/tests/secrets/harmless_blind.txt"};
    size_t lines = 0, masked = 0;
    for (size_t i = 0; i < 2; i++)
        for (str rest = lines_of(ctx, files[i]); rest.n; lines++) {
            str line = str_cut(&rest, '\n');
            bool is_masked = secrets_are_in(line);
            if (is_masked)
                print_message(S_FMT "\n", S_ARG(line));
            masked += is_masked;
        }
    CHECK(lines >= 300);
    CHECK(masked * 100 <= lines);
}

/* Each text stands alone, so that AddressSanitizer sees a byte that is read behind its end. */
TEST(no_end_of_a_text_is_passed)
{
    static const char *const texts[] = {"[secretymeesd1ta'\n", "password '",
                                        "password.",           "token ('",
                                        "my pin is '",         "api_key ."};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *alone = strndup(texts[i], strlen(texts[i]));
        CHECK(!secrets_are_in(str_of(alone)));
        free(alone);
    }
}

static int64_t cpu_us_of(struct arena *a, const char *piece, size_t n)
{
    struct timespec from, to;
    struct buf b = buf_make(a, n);
    while (b.n + strlen(piece) <= n)
        buf_add(&b, str_of(piece));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    secrets_are_in(buf_str(&b));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    return (to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000;
}

TEST(a_text_of_beginnings_costs_its_length_and_not_its_square)
{
    static const char *const pieces[] = {
        "key=",        "sk-",         "-----BEGIN PRIVATE KEY-----",
        "eyJ-",        "postgres://", "token: ",
        "ghp_-",       "x-api-key",   "pw:",
        "password___",
    };
    int64_t one = 0, four = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        cpu_us_of(&ctx->arena, pieces[i], 1000); /* compiles the patterns */
        one += cpu_us_of(&ctx->arena, pieces[i], 12000);
        four += cpu_us_of(&ctx->arena, pieces[i], 48000);
    }
    CHECK(four < 9 * one);
}

TEST(a_secret_is_masked_whole_however_long_it_is)
{
    struct arena *a = &ctx->arena;
    str digits = str_printf(a, "%0*d", 20000, 7), lines = S("");
    for (int i = 0; i < 400; i++)
        lines = str_printf(a, S_FMT "Proc-Type: %d\n", S_ARG(lines), i);
    str texts[] = {
        str_printf(a, "ghp_" S_FMT, S_ARG(digits)),
        str_printf(a, "sig=" S_FMT, S_ARG(digits)),
        str_printf(a, "eyJhbGciOiJI." S_FMT ".c2ln", S_ARG(str_sub(digits, 0, 6000))),
        str_printf(a, "-----BEGIN RSA PRIVATE KEY-----\n" S_FMT "-----END RSA PRIVATE KEY-----",
                   S_ARG(lines)),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        str masked = secrets_masked(a, str_printf(a, S_FMT " end", S_ARG(texts[i])), NULL);
        CHECK(masked.n <= strlen("sig=[secret] end"));
    }
    str last = str_printf(a, "It is K" S_FMT " is my password.", S_ARG(digits));
    CHECK_STR(secrets_masked(a, last, NULL), S("It is [secret] is my password."));
}
