/* account.h - users and their tokens. */
#pragma once

#include "core/memory.h"

/* What a person is on this server, and what its admin tokens may do beyond its own memory. */
enum right {
    RUNS_SERVER = 1,   /* settings, jobs, findings and the list of users */
    MANAGES_PEOPLE = 2 /* others: their roles, tokens, memory and erasure */
};
#define ROLES(X)                                                                                   \
    X(ROLE_MEMBER, "member", 0)                                                                    \
    X(ROLE_OPERATOR, "operator", RUNS_SERVER)                                                      \
    X(ROLE_OWNER, "owner", RUNS_SERVER | MANAGES_PEOPLE)
#define ROLE_ENUM(id, name, rights) id,
enum role { ROLES(ROLE_ENUM) ROLE_COUNT };
#undef ROLE_ENUM
extern const char *const role_names[]; /* by enum role, NULL at the end */
bool role_has(enum role role, enum right right);

/* A credential. The text itself is never stored. */
struct token {
    str id;   /* UUID */
    str hash; /* SHA-256 hex of the token */
    str name;
    struct pool_ref pool;
    bool is_admin; /* reaches all spaces of its user, and has the rights of the user's role */
    bool is_open;  /* a user's own: others may go on without a token as before */
    str acts_for;  /* people it may speak for: "" none, ACTS_FOR_ANY, or names between commas */
    str scopes;    /* what it may do: "" all, or names between commas, as token_scope_names */
    str spaces;    /* those that it is bound to, between commas; "": it is not */
    str parent;    /* id of the token that made it, whose end is its own; "" for none */
    str prefix;    /* the beginning of its text, for people to recognise it: "ctx_Ab3dEf" */
    int64_t created, expires, revoked; /* unix ms; 0: never */
    int64_t last_used;                 /* to a minute; 0: never */
    str last_address;                  /* from where; "": this machine, or never */
    enum role role;                    /* read: what its user is now; never written with a token */
};

/* What an operation of the API needs. A set of them is 0 for all. */
enum token_scope {
    MAY_CHAT = 1,   /* chats with memory, and what is passed on to a model server */
    MAY_READ = 2,   /* memories, conversations, receipts */
    MAY_WRITE = 4,  /* adds, changes and erases them */
    MAY_EXPORT = 8, /* takes all of them at once */
    MAY_MANAGE = 16 /* tokens, users, settings */
};
extern const char *const token_scope_names[];
/* BAD_INPUT names the field scopes; "" is 0. */
MUST_USE enum status token_scopes_read(struct ctx *ctx, str list, unsigned *out);
const char *token_scope_name(enum token_scope s);
/* A set as such a list: "" for 0. */
str token_scopes_list(struct arena *a, unsigned scopes);
/* Whether a list between commas has a name. */
bool names_have(str list, str name);

#define ACTS_FOR_ANY "any"
enum { PERSON_MAX = 256 };

/* Neither revoked nor expired. */
bool token_is_valid(const struct token *t, int64_t now);

/*
 * The user that a person behind the owner's credential is: OWNER/PERSON. In PERSON '/', '%',
 * control bytes, "." and ".." are escaped. So two persons, and persons of two owners, are never one
 * user.
 */
str person_user(struct arena *a, str owner, str person);
/* The other way round: the person that a user of the owner is; "" when it is none. */
str person_name(struct arena *a, str owner, str user);
/* Whether a token of the owner that speaks for nobody else may be given that name all the same:
 * the owner's own, or the part behind the last '/' of an owner that is a person. */
bool person_is_owner(struct arena *a, str owner, str person);
/* Whether a list of people, as in struct token, has a person. */
bool acts_for(str list, str person);
/* BAD_INPUT names the field acts_for: an empty name, or ACTS_FOR_ANY among others. */
MUST_USE enum status acts_for_check(struct ctx *ctx, str list);

/* A registered user. Names of pools and tokens need not be registered users. */
struct user {
    str id, email, first_name, last_name;
    str attributes;              /* a JSON object as text, or "" */
    str sealed_key, key_preview; /* of the model server: sealed, and as it may be shown; or "" */
    int64_t created, updated;
};

/* Whoever has something here: a registered user, or the name of spaces or tokens, which a person
 * behind a key (OWNER/PERSON) is as well. */
struct account {
    str id, email, first_name, last_name; /* "" where nobody has registered */
    bool is_registered;
    enum role role;
    int64_t spaces, sessions, messages, memories, bytes;
    int64_t tokens;          /* neither revoked nor expired */
    int64_t created, active; /* unix ms; active: when something was said, kept or asked last */
};
struct account_filter {
    str id;       /* this one alone; or "" */
    str owner;    /* only the people of this one; or "" */
    str contains; /* in id, address or name, case folded; "" for any */
    str after;    /* behind this id, which is where a page begins */
    size_t limit;
};
