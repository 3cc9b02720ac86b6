/* markdown.c - our own export as Markdown: read by people, and back by an import. */
#include "base/time_text.h"
#include "engine/text.h"
#include "engine/text/bytes.h"
#include "ext/import/copy/lines.h"

/*
 * A record is a comment with everything but the text, a line for people, a blank line, and the text
 * byte for byte. A line of a text that looks like such a comment gets a backslash, which Markdown
 * does not show, and one that has some gets one more.
 */

static bool is_marked(str line)
{
    while (str_starts(line, S("\\")))
        line = str_sub(line, 1, line.n);
    return str_starts(line, S(COPY_MARK));
}

static void add_text(struct buf *out, str text)
{
    while (text.n) {
        size_t next = next_line(text, 0);
        if (is_marked(text))
            buf_byte(out, '\\');
        buf_add(out, str_sub(text, 0, next));
        text = str_sub(text, next, text.n);
    }
}

/* Replaces one text by another one of the same meaning in JSON, so that the comment does not end
 * inside a string. */
static void add_replaced(struct buf *out, str s, str from, str to)
{
    for (;;) {
        size_t at = str_find(s, from);
        buf_add(out, str_sub(s, 0, at));
        if (at == s.n)
            return;
        buf_add(out, to);
        s = str_sub(s, at + from.n, s.n);
    }
}

#define ARROW S("-->")
#define ARROW_IN_JSON S("--\\u003e")

static void add_label(struct buf *out, struct ctx *ctx, enum line_kind kind, const void *v)
{
    enum { TITLE_MAX = 200 };
    static const char when[] = ", %04Y-%m-%d %H:%M";
    const struct memory *memory = v;
    const struct session *session = v;
    const struct message_line *message = v;
    str day;
    switch (kind) {
    case LINE_MEMORY:
        day = time_write(&ctx->arena, memory->created, when);
        buf_printf(out, "### %s" S_FMT "%s\n\n", layer_names[memory->layer], S_ARG(day),
                   memory->valid_to ? " (archived)" : "");
        break;
    case LINE_SESSION:
        buf_printf(out, "## " S_FMT "\n\n",
                   S_ARG(engine_line(&ctx->arena, session->title, TITLE_MAX)));
        break;
    case LINE_MESSAGE:
        day = time_write(&ctx->arena, message->message.created, when);
        buf_printf(out, "**" S_FMT "**" S_FMT "\n\n",
                   S_ARG(engine_line(&ctx->arena, message->message.role, TITLE_MAX)), S_ARG(day));
        break;
    default:
        buf_add(out, S("*what may not be recalled again*\n\n"));
    }
}

void copy_write_markdown(struct buf *out, struct ctx *ctx, enum line_kind kind, const void *v)
{
    struct memory memory;
    struct message_line message;
    str text = S("");
    if (kind == LINE_MEMORY) {
        memory = *(const struct memory *)v;
        text = memory.content;
        memory.content = S("");
        v = &memory;
    } else if (kind == LINE_MESSAGE) {
        message = *(const struct message_line *)v;
        text = message.message.text;
        message.message.text = S("");
        v = &message;
    }
    struct buf line = buf_make(&ctx->arena, out->max);
    copy_write_line(&line, ctx, kind, v);
    buf_add(out, S(COPY_MARK));
    add_replaced(out, str_trim(buf_str(&line)), ARROW, ARROW_IN_JSON);
    buf_add(out, S(" -->\n"));
    add_label(out, ctx, kind, v);
    if (kind == LINE_MEMORY || kind == LINE_MESSAGE) {
        add_text(out, text);
        buf_add(out, S("\n\n"));
    }
}

/* The text up to the next comment, without the two line ends behind it. */
static str take_text(struct arena *a, str *rest, int64_t *line)
{
    struct buf b = buf_make(a, SIZE_MAX);
    while (rest->n && !str_starts(*rest, S(COPY_MARK))) {
        size_t next = next_line(*rest, 0);
        str text = str_sub(*rest, 0, next);
        if (str_starts(text, S("\\")) && is_marked(text))
            text = str_sub(text, 1, text.n);
        buf_add(&b, text);
        *rest = str_sub(*rest, next, rest->n);
        ++*line;
    }
    str all = buf_str(&b);
    for (int i = 0; i < 2 && str_ends(all, S("\n")); i++)
        all = str_sub(all, 0, all.n - 1);
    return all;
}

bool copy_next_markdown(struct arena *a, str *rest, int64_t *line, struct copy_record *out)
{
    while (rest->n && !str_starts(*rest, S(COPY_MARK))) {
        (void)str_cut(rest, '\n');
        ++*line;
    }
    if (!rest->n)
        return false;
    str comment = str_cut(rest, '\n');
    *out = (struct copy_record){.has_text = true, .line = ++*line};
    comment = str_trim(str_sub(comment, strlen(COPY_MARK), comment.n));
    if (str_ends(comment, S("-->")))
        comment = str_trim(str_sub(comment, 0, comment.n - 3));
    struct buf b = buf_make(a, SIZE_MAX);
    add_replaced(&b, comment, ARROW_IN_JSON, ARROW);
    out->json = buf_str(&b);
    /* The label is for people, and so is the blank line below it. */
    for (int i = 0; i < 2 && rest->n && !str_starts(*rest, S(COPY_MARK)); i++) {
        (void)str_cut(rest, '\n');
        ++*line;
    }
    out->text = take_text(a, rest, line);
    return true;
}
