/* studio.c - Memory Studio and the documentation: web pages, served from the binary. */
#include "base/gunzip.h"
#include "surface/common/error_body.h"
#include "surface/common/etag.h"
#include "surface/studio/files.h"

/*
 * The page holds no data, so anyone may have it; what it shows it asks the API for, as any client
 * does. The documentation is the same for everybody. Files whose names come from their content are
 * kept by browsers for good. A document is asked for each time, and answered with 304 as long as it
 * is the same.
 *
 * Each place of the page has a path of its own, which the browser resolves: all of them are the
 * same document, so that a reload and a link lead back to the place.
 */

/* Nothing from elsewhere, no code or style in the document, no frame around it. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "                   \
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/* A page to read runs nothing at all. */
#define DOCS_POLICY                                                                                \
    "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; "                  \
    "frame-ancestors 'none'"

static const struct header always[] = {
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
        return !weight.n || SOME(i, weight.n, weight.p[i] >= '1' && weight.p[i] <= '9');
    }
    return false;
}

static enum status give(struct ctx *ctx, const struct request *in, const struct page_file *f,
                        str policy, struct reply *out)
{
    reply_header(out, "Content-Security-Policy", policy);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        reply_header(out, str_c(&ctx->arena, always[i].name), always[i].value);
    reply_header(out, "Cache-Control",
                 f->is_immutable ? S("public, max-age=31536000, immutable") : S("no-cache"));
    out->type = str_of(f->type);
    if (etag_reply(in, str_printf(&ctx->arena, "W/%s", f->etag), out)) /* forms differ in bytes */
        return OK;
    if (f->brotli.n && accepts(in, S("br"))) {
        reply_header(out, "Content-Encoding", S("br"));
        buf_add(&out->body, f->brotli);
    } else if (accepts(in, S("gzip"))) {
        reply_header(out, "Content-Encoding", S("gzip"));
        buf_add(&out->body, f->gzip);
    } else if (!gunzip(f->gzip, &out->body)) {
        return fail(ctx, STORAGE, "%s: the program's copy is damaged; install it again", f->path);
    }
    return OK;
}

static HANDLER(show_page)
{
    return give(ctx, in, file_of(S("/")), S(POLICY), out);
}

static HANDLER(show_asset)
{
    const struct page_file *f = file_of(in->path);
    return f ? give(ctx, in, f, S(POLICY), out) : fail(ctx, NOT_FOUND, "the page has no such file");
}

/* Also under the names that the pages have in the repository, which messages print. A browser gets
 * the list of pages for an unknown one. */
static HANDLER(show_docs)
{
    static const str left_out[] = {S(".md"), S("/README"), S("/")};
    str path = in->path;
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (str_ends(path, left_out[i]))
            path.n -= left_out[i].n;
    const struct page_file *f = file_of(path);
    str accept = request_header(in, "Accept");
    if (!f && str_find(accept, S("text/html")) < accept.n) {
        out->code = 404;
        return give(ctx, in, file_of(S("/docs")), S(DOCS_POLICY), out);
    }
    if (!f)
        return fail(ctx, NOT_FOUND,
                    "the documentation has no page " S_FMT "; /docs lists all pages", S_ARG(path));
    return give(ctx, in, f, S(DOCS_POLICY), out);
}

#define FILE_ROUTE(PATH, RUN, TYPE, HELP)                                                          \
    {                                                                                              \
        ROUTE("GET", PATH, RUN), .words.type = TYPE, .is_quick = true, .access = ACCESS_OPEN,      \
                                 .help = HELP                                                      \
    }
static const struct route routes[] = {
    FILE_ROUTE("/", show_page, "text/html", "the web page"),
    FILE_ROUTE("/studio", show_page, "text/html", "the web page"),
    FILE_ROUTE("/studio/{place}", show_page, "text/html", "the web page at one of its places"),
    FILE_ROUTE("/assets/{name}", show_asset, "*/*", "a file of the web page"),
    FILE_ROUTE("/docs", show_docs, "text/html", "the documentation"),
    FILE_ROUTE("/docs/", show_docs, "text/html", "the documentation"),
    FILE_ROUTE("/docs/{page}", show_docs, "text/html", "a page of the documentation"),
    FILE_ROUTE("/docs/{folder}/{page}", show_docs, "text/html",
               "a page of the documentation in a folder"),
    {0},
};

const struct surface surface_studio = {"studio", routes, word_problem, auth_request,
                                       .errors = &problem_errors};
