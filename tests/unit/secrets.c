/* secrets.c - what is masked in a text that goes to a model, and what is not. */
#include "engine/extract/secrets.h"
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
        {"Order 1234 5678 9012 3456 arrived", NULL},
        {"My phone is 0151 23456789 and I was born in 1984", NULL},
        {"The key of the boat house hangs behind the life jackets", NULL},
        {"The PIN hint for the family safe is the year of the flood", NULL},
        {"token budget: 800, and the api is REST", NULL},
    };
    struct extractor *x = extractor_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str text = str_of(cases[i].text);
        CHECK_STR(secrets_masked(x, &ctx->arena, text),
                  cases[i].masked ? str_of(cases[i].masked) : text);
        CHECK_INT(secrets_are_in(x, text), cases[i].masked != NULL);
    }
    extractor_free(x);
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
        "my pin is x",
        "cvv 123",
        "bearer abcdefgh",
        "KEY=abcdef",
        "TOKEN: abcdef",
        "123-45-6789",
        "a://b:c@",
    };
    struct extractor *x = extractor_new();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(secrets_are_in(x, str_of(texts[i])));
    extractor_free(x);
}

TEST(a_secret_is_known_again_without_its_name)
{
    struct extractor *x = extractor_new();
    struct strs values = {0};
    struct arena *a = &ctx->arena;
    secrets_add(x, a, S("My password is Gr4ntchester-Vole, CVC 737."), &values);
    secrets_add(x, a, S("The password is Gr4ntchester-Vole; it is [secret]"), &values);
    CHECK_INT(values.n, 1); /* 737 is too short to be known again */
    CHECK_STR(secrets_masked_with(x, a, S("Use Gr4ntchester-Vole, then Gr4ntchester-Vole."),
                                  &values),
              S("Use [secret], then [secret]."));
    CHECK_STR(secrets_masked_with(x, a, S("737 voles"), &values), S("737 voles"));
    str once = secrets_masked(x, a, S("password: Gr4ntchester-Vole"));
    CHECK_STR(secrets_masked(x, a, once), once);
    extractor_free(x);
}
