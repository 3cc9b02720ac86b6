/* markdown.c - Markdown notes: one memory a section, named by the note and the heading. */
#include "base/id.h"
#include "base/time_text.h"
#include "engine/text/utterance.h"
#include "ext/import/folder.h"
#include "ext/import/foreign.h"
#include "ext/import/seen.h"

/*
 * The id of a memory is the note's path and the heading, so a note that was edited and is imported
 * again changes its memories and doubles none. A section over PART_MAX bytes is cut between
 * paragraphs, as a chat has room for little. A line "- [category] text" is a memory of its own, as
 * tools that keep notes for models write it.
 */
enum { PART_MAX = 1200, TAGS_MAX = 32 };

struct note {
    struct foreign *f;
    str where, title, heading; /* where: what ids are made of */
    struct memory like;
    struct buf text; /* of the section so far */
    int64_t part;    /* of the section; 0: the first */
    int64_t same;    /* headings of this text before it */
};

/* --- what is in front of a note --- */

static str unquoted(str s)
{
    s = str_trim(s);
    bool is_quoted = s.n > 1 && s.p[0] == s.p[s.n - 1] && char_is_one_of(s.p[0], "\"'");
    return is_quoted ? str_sub(s, 1, s.n - 1) : s;
}

static void add_tag(struct note *n, str tag)
{
    tag = unquoted(tag);
    if (str_starts(tag, S("#")))
        tag = str_sub(tag, 1, tag.n);
    if (tag.n && n->like.tags.n < TAGS_MAX && !strs_have(&n->like.tags, tag))
        n->like.tags.v[n->like.tags.n++] = tag;
}

/* "[a, b]", "a, b" or one name. */
static void add_tags(struct note *n, str list)
{
    list = str_trim(list);
    if (str_starts(list, S("[")) && str_ends(list, S("]")))
        list = str_sub(list, 1, list.n - 1);
    while (list.n)
        add_tag(n, str_cut(&list, ','));
}

/* One line of the front matter. A list goes on in the lines below its name. */
static void read_member(struct note *n, str line, str *list)
{
    str value = line, key = str_cut(&value, ':');
    bool is_item = str_starts(str_trim(line), S("- "));
    if (is_item && str_is(*list, "tags"))
        add_tag(n, str_sub(str_trim(line), 2, str_trim(line).n));
    if (is_item)
        return;
    *list = str_trim(key);
    value = unquoted(value);
    if (str_is(*list, "tags") || str_is(*list, "type"))
        add_tags(n, value);
    else if ((str_is(*list, "title") || str_is(*list, "description")) && value.n)
        n->title = value;
    else if (str_is(*list, "date") || str_is(*list, "created"))
        (void)time_read(value, &n->like.created);
    else if (str_is(*list, "updated") || str_is(*list, "modified"))
        (void)time_read(value, &n->like.updated);
}

/* The text behind the front matter. */
static str read_front(struct note *n, str text)
{
    str rest = text, list = S("");
    if (!str_is(str_trim(str_cut(&rest, '\n')), "---"))
        return text;
    struct memory before = n->like;
    while (rest.n) {
        str line = str_cut(&rest, '\n');
        if (str_is(str_trim(line), "---"))
            return rest;
        read_member(n, line, &list);
    }
    n->like = before; /* a rule, and no front matter */
    return text;
}

/* --- sections --- */

/* "[[Target|text]]" is text. */
static str without_links(struct arena *a, str s)
{
    struct buf b = buf_make(a, s.n + 1);
    for (;;) {
        size_t at = str_find(s, S("[["));
        str rest = str_sub(s, at, s.n);
        size_t end = str_find(rest, S("]]"));
        if (end == rest.n) {
            buf_add(&b, s);
            return buf_str(&b);
        }
        str link = str_sub(rest, 2, end), shown = link, target = str_cut(&shown, '|');
        buf_add(&b, str_sub(s, 0, at));
        buf_add(&b, shown.n ? shown : target);
        s = str_sub(rest, end + 2, rest.n);
    }
}

static enum status give_text(struct note *n, str id, str text, str category)
{
    struct arena *a = &n->f->ctx->arena;
    struct memory m = n->like;
    bool has_heading = n->heading.n && !str_eq(n->heading, n->title);
    if (!str_trim(text).n)
        return OK;
    m.id = id;
    m.category = category.n ? category : m.category;
    m.content = without_links(a, str_printf(a, S_FMT "%s" S_FMT ": " S_FMT, S_ARG(n->title),
                                            has_heading ? " / " : "",
                                            S_ARG(has_heading ? n->heading : S("")),
                                            S_ARG(str_trim(text))));
    return foreign_memory(n->f, &m);
}

static enum status end_part(struct note *n)
{
    struct arena *a = &n->f->ctx->arena;
    str text = str_trim(buf_str(&n->text));
    str id = str_printf(a, S_FMT "#" S_FMT, S_ARG(n->where), S_ARG(n->heading));
    if (n->same)
        id = str_printf(a, S_FMT "#%lld", S_ARG(id), (long long)n->same + 1);
    if (n->part)
        id = str_printf(a, S_FMT "/%lld", S_ARG(id), (long long)n->part + 1);
    n->part += text.n > 0;
    TRY(give_text(n, id, text, S("")));
    n->text = buf_make(a, SIZE_MAX);
    return OK;
}

/* "- [category] text": not a box to tick, and not a link. */
static bool is_observation(str line, str *category, str *text)
{
    size_t end = str_find(line, S("] "));
    if (!str_starts(line, S("- [")) || end == line.n || end < 5)
        return false;
    *category = str_sub(line, 3, end);
    *text = str_trim(str_sub(line, end + 2, line.n));
    return text->n > 0 && str_find(*category, S(" ")) == category->n &&
           !str_starts(*category, S("["));
}

static enum status add_line(struct note *n, str line)
{
    str category, text, trimmed = str_trim(line);
    if (str_ends(n->where, S("MEMORY.md")) && str_starts(trimmed, S("- [")) &&
        str_find(trimmed, S(".md)")) < trimmed.n)
        return OK; /* a line of an index, whose note is imported itself */
    if (is_observation(trimmed, &category, &text)) {
        str id = str_printf(&n->f->ctx->arena, S_FMT "#" S_FMT "#" S_FMT, S_ARG(n->where),
                            S_ARG(n->heading), S_ARG(trimmed));
        return give_text(n, id, text, category);
    }
    if (!trimmed.n && n->text.n > PART_MAX)
        TRY(end_part(n));
    for (str rest = line; rest.n;) {
        str word = str_cut(&rest, ' ');
        if (word.n > 1 && word.p[0] == '#' && word.p[1] != '#' && word.p[1] > ' ')
            add_tag(n, word);
    }
    buf_add(&n->text, line);
    buf_byte(&n->text, '\n');
    return OK;
}

static str heading_in(str line)
{
    str rest = line;
    while (str_starts(rest, S("#")))
        rest = str_sub(rest, 1, rest.n);
    bool is_heading = rest.n < line.n && line.n - rest.n <= 6 && str_starts(rest, S(" "));
    return is_heading ? str_trim(rest) : S("");
}

enum status foreign_sections(struct foreign *f, str where, str title, str text,
                             const struct memory *like)
{
    CLEANUP(seen_free) struct seen headings = {0};
    struct note n = {f, where, title, .like = *like};
    n.like.tags = (struct strs){NEW_N(&f->ctx->arena, str, TAGS_MAX), 0};
    n.text = buf_make(&f->ctx->arena, SIZE_MAX);
    str rest = read_front(&n, text);
    size_t front_tags = n.like.tags.n; /* of the whole note; a section adds its own */
    size_t endless = 0;
    for (const char *code = rest.p; rest.n;) {
        size_t fence = 0, to = 0;
        while (fence < rest.n && char_is_one_of(rest.p[fence], " \t>-*+0123456789.)"))
            fence++;
        if (rest.p >= code && fence < rest.n && char_is_one_of(rest.p[fence], "`~"))
            to = text_behind_fence(rest, fence, &endless);
        bool is_code = rest.p < code;
        code = to ? rest.p + to : code;
        str line = str_cut(&rest, '\n'), heading = is_code ? S("") : heading_in(line);
        TRY(heading.n ? end_part(&n) : add_line(&n, line));
        if (!heading.n)
            continue;
        n.heading = heading;
        n.part = 0;
        n.same = seen_before(&headings, hash64(&heading, 1));
        n.like.tags.n = front_tags;
    }
    return end_part(&n);
}

enum status markdown_note(struct foreign *f, str text)
{
    str name = path_name(f->path);
    size_t dot = str_behind_last(name, '.');
    if (dot > 1)
        name = str_sub(name, 0, dot - 1);
    return foreign_sections(f, f->path, name, text, &(struct memory){0});
}
