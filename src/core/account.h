/* account.h - who may ask: users and their tokens. */
#pragma once

#include "core/memory.h"

/* A credential. The text itself is never stored. */
struct token {
    str id;   /* UUID */
    str hash; /* SHA-256 hex of the token */
    str name;
    struct pool_ref pool;
    bool is_admin; /* may manage users, tokens and settings */
    bool is_open;  /* a user's own: others may go on without a token as before */
    str prefix;    /* the beginning of its text, for people to recognise it: "ctx_Ab3dEf" */
    int64_t created, expires, revoked; /* unix ms; 0: never */
    int64_t last_used;                 /* to a minute; 0: never */
};

/* Neither revoked nor expired. */
bool token_is_valid(const struct token *t, int64_t now);

/* A registered user. Names of pools and tokens need not be registered users. */
struct user {
    str id, email, first_name, last_name;
    str attributes;              /* a JSON object as text, or "" */
    str sealed_key, key_preview; /* of the model server: sealed, and as it may be shown; or "" */
    int64_t created, updated;
};
