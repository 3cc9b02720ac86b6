/* osaurus.c - how a failure reads on Osaurus's endpoints. */
#include "ext/dialects/osaurus/osaurus.h"

#include <stdio.h>

#include "t.h"

TEST(each_failure_has_its_code_and_word)
{
    static const struct {
        enum status s;
        const char *path, *user, *why, *error;
        int code;          /* 0: the status's own */
        const char *field; /* NULL: none */
    } cases[] = {
        {BAD_INPUT, "/memory/ingest", "ada", "no JSON", "invalid_request", 0},
        {FORBIDDEN, "/memory/ingest", "ada", "Memory is off", "memory_disabled", 503, "memory"},
        {FORBIDDEN, "/memory/ingest", "ada", "another's", "forbidden", 0},
        {STORAGE, "/memory/ingest", "ada", "the disk is full", "memory_ingest_failed", 0},
        {STORAGE, "/memory/ingest", "", "no tokens", "memory_database_unavailable", 503},
        {STORAGE, "/memory/sync", "ada", "the disk is full", "memory_failed", 0},
        {TOO_BUSY, "/memory/ingest", "ada", "held", "memory_database_unavailable", 503},
        {TOO_BUSY, "/memory/ingest", "", "the queue is full", "busy", 0},
        {TOO_BUSY, "/memory/consolidate", "ada", "another one runs", "busy", 0},
        {TOO_LARGE, "/memory/ingest", "", "the body", "request_too_large", 0},
        {NO_AUTH, "/agents", "", "a token", "unauthorized", 0},
        {NOT_FOUND, "/agents/x", "ada", "no agent", "agent_not_found", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CLEANUP(ctx_free) struct ctx own = {0};
        struct request in = {.path = str_of(cases[i].path)};
        struct reply out = {.body = buf_make(&own.arena, 4096)};
        struct json *said;
        in.who.pool.user = str_of(cases[i].user);
        fail(&own, cases[i].s, "%s", cases[i].why);
        if (cases[i].field)
            snprintf(own.field, sizeof own.field, "%s", cases[i].field);
        word_osaurus_error(&own, cases[i].s, &in, &out);
        CHECK_INT(out.code, cases[i].code);
        CHECK_OK(json_parse(&own, buf_str(&out.body), &said));
        CHECK_STR(json_string(json_get(said, "error")), str_of(cases[i].error));
        CHECK(json_string(json_get(said, "message")).n > 0);
    }
}
