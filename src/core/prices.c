/* prices.c - the price of a model's answer, by the setting prices. */
#include "core/prices.h"

#include <ctype.h>

/* The setting is parsed again for each price: it is short, and so nothing has to be freed when
 * settings change. price_of skips parts that it cannot read. */

struct price {
    str name;
    double asked, answered;
};

/* The upper limits keep a typing error from becoming an absurd bill in every status. */
static bool read_price(str part, struct price *out)
{
    str rest = part, name = str_trim(str_cut(&rest, '='));
    str asked = str_trim(str_cut(&rest, '/'));
    *out = (struct price){.name = name};
    return name.n && str_num(asked, &out->asked) && str_num(str_trim(rest), &out->answered) &&
           out->asked >= 0 && out->answered >= 0 && out->asked <= 1e9 && out->answered <= 1e9;
}

/* Empty parts, as behind a last comma, are skipped; "" at the end. */
static str next_part(str *prices)
{
    str part = S("");
    while (prices->n && !part.n)
        part = str_trim(str_cut(prices, ','));
    return part;
}

enum status prices_check(struct ctx *ctx, str prices)
{
    struct price p;
    for (str part = next_part(&prices); part.n; part = next_part(&prices))
        if (!read_price(part, &p))
            return fail_field(ctx, "prices",
                              "'%.100s' is not MODEL=INPUT/OUTPUT, in dollars for a million "
                              "tokens",
                              str_c(&ctx->arena, part));
    return OK;
}

/* "-2024-08-06", "@20250219", ":70b", "-latest". */
static bool is_version(str rest)
{
    if (rest.n < 2 || !char_is_one_of(rest.p[0], "-@:"))
        return false;
    return isdigit((unsigned char)rest.p[1]) || str_is(str_sub(rest, 1, rest.n), "latest");
}

static bool name_fits(str name, str model)
{
    return str_starts(model, name) &&
           (name.n == model.n || is_version(str_sub(model, name.n, model.n)));
}

/* Prefixes of upstreams ("openai/gpt-4o") may stand in the price, the model, both or neither. */
static bool is_of(str name, str model)
{
    str bare_name = name, bare_model = model;
    str_cut(&bare_name, '/');
    str_cut(&bare_model, '/');
    return name_fits(name, model) || (bare_model.n && name_fits(name, bare_model)) ||
           (bare_name.n && name_fits(bare_name, model));
}

double price_of(str prices, str model, int64_t asked, int64_t answered)
{
    struct price p, best = {0};
    for (str part = next_part(&prices); part.n; part = next_part(&prices))
        if (read_price(part, &p) && p.name.n > best.name.n && is_of(p.name, model))
            best = p;
    return (best.asked * (double)asked + best.answered * (double)answered) / 1e6;
}
