/* error_text.c - the reason in another server's error answer, in words that may be shown. */
#include "base/utf8.h"
#include "http/http.h"
#include "http/wire/mask.h"

/* Long enough that a word in common does not count, short enough that a part that is quoted is
 * found even when the rest was cut or reworded. */
enum { ENOUGH = 16 };

/* Where the message is in the errors of OpenAI and its imitators, of Qdrant, of Ollama, of FastAPI
 * and of others; the first one that holds text. */
static const char *const places[] = {"error.message", "status.error", "error",
                                     "message",       "detail",       NULL};

/* Some servers repeat the request in their error. Errors are logged, stored and shown by the status
 * endpoints, and the users' texts must not get there. Any ENOUGH bytes in common count. */
static bool repeats_text(str said, str text)
{
    size_t window = said.n < ENOUGH ? said.n : ENOUGH;
    text = str_trim(text);
    if (text.n && str_find(said, text) < said.n)
        return true;
    for (size_t from = 0; said.n && from + window <= said.n; from++)
        if (str_find(text, str_sub(said, from, from + window)) < text.n)
            return true;
    return false;
}

/* On one line: a line break would let another server write lines of its own into our log. */
str http_complaint(struct arena *a, str body, size_t most, str secret, const str *asked, size_t n)
{
    CLEANUP(ctx_free) struct ctx own = {0};
    struct mask mask = {.secret = secret};
    struct json *root;
    str said = S("");
    if (json_parse(&own, body, &root) == OK) {
        for (const char *const *place = places; *place && !said.n; place++)
            said = str_trim(json_string(json_at(root, *place)));
    } else if (str_find(body, S("<")) == body.n) {
        said = str_trim(body); /* plain text; an HTML page explains nothing */
    }
    said = utf8_cut(mask_pass(a, &mask, said, true), most);
    for (size_t i = 0; i < n; i++)
        if (repeats_text(said, asked[i]))
            return S("(in words that repeat what was asked)");
    char *words = (char *)str_dup(a, said).p;
    for (char *c = words; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    return str_of(words);
}
