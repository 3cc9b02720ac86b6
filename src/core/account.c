/* account.c - the validity of a token, and the people it speaks for. */
#include "core/account.h"

bool token_is_valid(const struct token *t, int64_t now)
{
    return !t->revoked && (!t->expires || t->expires > now);
}

/* Percent-encoding of the few bytes that would make OWNER/PERSON ambiguous; all others, also UTF-8,
 * stay as they are so that names remain readable. Each byte becomes at most three. */
static str escaped_name(struct arena *a, str person)
{
    struct buf b = buf_make(a, person.n * 3 + 1);
    bool climbs = str_is(person, ".") || str_is(person, ".."); /* no path may name these */
    for (size_t i = 0; i < person.n; i++) {
        unsigned char c = (unsigned char)person.p[i];
        if (c < 0x20 || c == 0x7f || c == '/' || c == '%' || climbs)
            buf_printf(&b, "%%%02X", c);
        else
            buf_byte(&b, (char)c);
    }
    return buf_str(&b);
}

/* Everything below sees a user like any other: only the name tells whose person it is, so no table
 * needs to know about owners. */
str person_user(struct arena *a, str owner, str person)
{
    assert(owner.n && person.n);
    return str_printf(a, S_FMT "/" S_FMT, S_ARG(owner), S_ARG(escaped_name(a, person)));
}

/* Escaping leaves no '/' in a name, so a user with one is a person behind a person's own key. */
str person_name(struct arena *a, str owner, str user)
{
    if (user.n <= owner.n + 1 || !str_starts(user, owner) || user.p[owner.n] != '/')
        return S("");
    str rest = str_sub(user, owner.n + 1, user.n);
    struct buf b = buf_make(a, rest.n);
    for (size_t i = 0; i < rest.n; i++) {
        bool is_escape = rest.p[i] == '%' && i + 2 < rest.n;
        int high = is_escape ? hex_digit(rest.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(rest.p[i + 2]) : -1;
        buf_byte(&b, low >= 0 ? (char)(high << 4 | low) : rest.p[i]);
        i += low >= 0 ? 2 : 0;
    }
    str name = buf_str(&b);
    return str_eq(person_user(a, owner, name), user) ? name : S("");
}

bool person_is_owner(struct arena *a, str owner, str person)
{
    str last = str_sub(owner, str_behind_last(owner, '/'), owner.n);
    return str_eq(person, owner) || (last.n < owner.n && str_eq(escaped_name(a, person), last));
}

#define ROLE_NAME(id, name, rights) [id] = name,
const char *const role_names[ROLE_COUNT + 1] = {ROLES(ROLE_NAME)};
#undef ROLE_NAME

bool role_has(enum role role, enum right right)
{
#define ROLE_RIGHTS(id, name, rights) [id] = rights,
    static const unsigned rights_of[ROLE_COUNT] = {ROLES(ROLE_RIGHTS)};
#undef ROLE_RIGHTS
    assert(role < ROLE_COUNT);
    return (rights_of[role] & right) != 0;
}

const char *const token_scope_names[] = {"chat", "read", "write", "export", "manage", NULL};

const char *token_scope_name(enum token_scope s)
{
    return token_scope_names[__builtin_ctz(s)];
}

str token_scopes_list(struct arena *a, unsigned scopes)
{
    struct buf b = buf_make(a, 100);
    for (int i = 0; token_scope_names[i]; i++)
        if (scopes & 1U << i)
            buf_printf(&b, "%s%s", b.n ? "," : "", token_scope_names[i]);
    return buf_str(&b);
}

enum status token_scopes_read(struct ctx *ctx, str list, unsigned *out)
{
    *out = 0;
    while (list.n) {
        int one = name_index(token_scope_names, str_trim(str_cut(&list, ',')), -1);
        if (one < 0)
            return fail_field(
                ctx, "scopes",
                "must be of chat, read, write, export and manage, separated by commas");
        *out |= 1U << one;
    }
    return OK;
}

/* An empty list allows nobody, and an empty name is never in a list: a request without a person
 * must not match a stray comma. */
bool names_have(str list, str name)
{
    while (list.n)
        if (str_eq(str_trim(str_cut(&list, ',')), name))
            return name.n > 0;
    return false;
}

bool acts_for(str list, str person)
{
    return str_is(list, ACTS_FOR_ANY) || names_have(list, person);
}

enum status acts_for_check(struct ctx *ctx, str list)
{
    if (str_is(list, ACTS_FOR_ANY))
        return OK;
    while (list.n) {
        str name = str_trim(str_cut(&list, ','));
        if (!name.n || name.n > PERSON_MAX || str_is(name, ACTS_FOR_ANY))
            return fail_field(ctx, "acts_for",
                              "must be " ACTS_FOR_ANY
                              ", or names of at most %d bytes, separated by commas",
                              PERSON_MAX);
    }
    return OK;
}
