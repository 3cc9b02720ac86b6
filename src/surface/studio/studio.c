/* studio.c - Memory Studio: the web page, served from the binary. */
#include "surface/common/auth.h"
#include "surface/common/dialects.h"
#include "surface/common/error_body.h"
#include "surface/common/etag.h"
#include "surface/studio/files.h"

/*
 * The page holds no data, so anyone may have it; what it shows it asks the API for, as any client
 * does. Its files are named after their content and kept by browsers for good. The document itself
 * is asked for each time, and answered with 304 as long as it is the same.
 *
 * Each place of the page has a path of its own, which the browser resolves: all of them are the
 * same document, so that a reload and a link lead back to the place.
 */

/* Nothing from elsewhere, no code or style in the document, no frame around it. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "                   \
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

static const struct header always[] = {
    {S("Content-Security-Policy"), S(POLICY)},
    {S("X-Frame-Options"), S("DENY")},
    {S("Referrer-Policy"), S("no-referrer")},
    {S("Cross-Origin-Opener-Policy"), S("same-origin")},
    {S("Permissions-Policy"), S("camera=(), geolocation=(), microphone=()")},
    {S("Vary"), S("Accept-Encoding")},
};

static const struct page_file *file_of(str path)
{
    for (const struct page_file *f = page_files; f->path; f++)
        if (str_is(path, f->path))
            return f;
    return NULL;
}

/* Whether the list of Accept-Encoding has this one, with any weight but 0 (RFC 9110, 12.5.3). */
static bool accepts(const struct request *in, str coding)
{
    str list = request_header(in, "Accept-Encoding");
    while (list.n) {
        str one = str_cut(&list, ','), name = str_trim(str_cut(&one, ';'));
        str weight = str_trim(one);
        if (!str_eq_nocase(name, coding))
            continue;
        str_cut(&weight, '=');
        weight = str_trim(weight);
        for (size_t i = 0; i < weight.n; i++)
            if (weight.p[i] >= '1' && weight.p[i] <= '9')
                return true;
        return !weight.n;
    }
    return false;
}

static enum status give(struct ctx *ctx, const struct request *in, const struct page_file *f,
                        struct reply *out)
{
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        reply_header(out, str_c(&ctx->arena, always[i].name), always[i].value);
    reply_header(out, "Cache-Control",
                 f->is_immutable ? S("public, max-age=31536000, immutable") : S("no-cache"));
    out->type = str_of(f->type);
    if (etag_reply(in, str_printf(&ctx->arena, "W/%s", f->etag), out)) /* forms differ in bytes */
        return OK;
    struct page_bytes form = f->plain;
    if (f->brotli.n && accepts(in, S("br"))) {
        form = f->brotli;
        reply_header(out, "Content-Encoding", S("br"));
    } else if (f->gzip.n && accepts(in, S("gzip"))) {
        form = f->gzip;
        reply_header(out, "Content-Encoding", S("gzip"));
    }
    buf_add(&out->body, (str){form.p, form.n});
    return OK;
}

static enum status show_page(struct ctx *ctx, struct app *app, const struct request *in,
                             struct reply *out)
{
    (void)app;
    return give(ctx, in, file_of(S("/")), out);
}

static enum status show_asset(struct ctx *ctx, struct app *app, const struct request *in,
                              struct reply *out)
{
    const struct page_file *f = file_of(in->path);
    (void)app;
    return f ? give(ctx, in, f, out) : fail(ctx, NOT_FOUND, "the page has no such file");
}

static const struct route routes[] = {
    {ROUTE("GET", "/", show_page), .words.type = "text/html", .is_quick = true,
     .access = ACCESS_OPEN, .help = "the web page"},
    {ROUTE("GET", "/studio", show_page), .words.type = "text/html", .is_quick = true,
     .access = ACCESS_OPEN, .help = "the web page"},
    {ROUTE("GET", "/studio/{place}", show_page), .words.type = "text/html", .is_quick = true,
     .access = ACCESS_OPEN, .help = "the web page at one of its places"},
    {ROUTE("GET", "/assets/{name}", show_asset), .words.type = "*/*", .is_quick = true,
     .access = ACCESS_OPEN, .help = "a file of the web page"},
    {0},
};

const struct surface surface_studio = {"studio", routes, word_problem, auth_request,
                                       .errors = &problem_errors};
