/* block.c - the text that carries memory into a chat. */
#include "engine/recall/block.h"

#include "base/clock.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "core/tokens.h"
#include "engine/recall/candidates.h"
#include "engine/text/block_strip.h"
#include "engine/text/lexicon.h"
#include "engine/text/utterance.h"

/*
 * The block is what the model reads: an opening that says that these are data, one line for each
 * result with its date, origin and a short id, and a closing, by which engine_strip_block finds it
 * again when a client sends it back. Lines are chosen by rank but written in the order of time, so
 * that the model sees what is newer, behind the standing instructions. A memory is left out where
 * the message that it came from is given whole. LINE_TEXT_MAX holds the longest reply and a mark.
 */

enum { BLOCK_MAX = 1 << 20, LINE_TEXT_MAX = 720, SPEAKER_MAX = 40, LINE_WORDS = 400 };

/* "2026-05-08 (3 days ago)", or "" for no time. */
static str when(struct arena *a, int64_t ms, int64_t now)
{
    static const struct {
        int64_t days;
        const char *unit;
    } units[] = {{365, "year"}, {30, "month"}, {7, "week"}, {1, "day"}};
    str date = ms > 0 ? time_write(a, ms, "%Y-%m-%d") : S("");
    int64_t days = time_local(now) / DAY_MS - time_local(ms) / DAY_MS;
    if (!date.n || days < 0)
        return date;
    if (days <= 1)
        return str_printf(a, S_FMT " (%s)", S_ARG(date), days ? "yesterday" : "today");
    size_t i = 0;
    while (days < units[i].days * 2 && units[i].days > 1)
        i++;
    return str_printf(a, S_FMT " (%lld %ss ago)", S_ARG(date), (long long)(days / units[i].days),
                      units[i].unit);
}

/* A name of a few words, of letters, digits and marks that names have: neither an instruction nor a
 * role that models obey. */
static bool is_name(struct arena *a, str s)
{
    enum { WORDS_MAX = 5 };
    size_t step, blanks = 0;
    if (utf8_length(s) > SPEAKER_MAX || str_eq_nocase(s, S("system")) ||
        str_eq_nocase(s, S("developer")))
        return false;
    for (size_t i = 0; i < s.n; i += step) {
        int32_t c = utf8_at(s, i, &step);
        blanks += c == ' ';
        if (!utf8_is_letter(c) && !utf8_is_digit(c) && !(c < 0x80 && strchr(" .,'-_()@+&", c)) &&
            c != 0x2019)
            return false;
    }
    return blanks < WORDS_MAX && !sentence_instructs(a, s, false);
}

/* Who said it, for a message; how it was learnt, for a memory; "" for what the user said, as most
 * lines are. */
static str said_by(struct arena *a, const struct recalled *r)
{
    static const char *const learnt[ORIGIN_COUNT] = {[ORIGIN_USER] = "",
                                                     [ORIGIN_ASSISTANT] =
                                                         "noted from the assistant",
                                                     [ORIGIN_TOOL] = "noted from a tool",
                                                     [ORIGIN_IMPORT] = "imported note",
                                                     [ORIGIN_API] = "note added by the application",
                                                     [ORIGIN_DISTILLED] = "summarised",
                                                     [ORIGIN_MCP] = "note added by an assistant"};
    if (r->is_memory && memory_is_unconfirmed(&r->memory))
        return S("summarised, not confirmed");
    if (r->is_memory)
        return str_of(learnt[r->memory.origin < ORIGIN_COUNT ? r->memory.origin : ORIGIN_API]);
    const struct message *m = &r->message;
    if (!m->speaker.n && str_is(m->role, "user"))
        return m->origin == ORIGIN_IMPORT ? S("imported") : S("");
    str who = m->speaker.n ? m->speaker : m->role;
    who = engine_line(a, who, who.n);
    return who.n && is_name(a, who) ? who : S("someone"); /* an import may have anything there */
}

static str text_of(const struct recalled *r)
{
    return r->text.n ? r->text : found_text(r);
}

/* "- 2026-05-08 (3 days ago), Anna [9f8e7d6c]: my dog is called Rex"; behind a line of the same day
 * without the day. */
static str line_of(struct arena *a, const struct recalled *r, int64_t now, bool tells_day)
{
    str id = r->is_memory ? r->memory.source.n ? r->memory.source : r->memory.id : r->message.id;
    str text = text_of(r);
    str date = tells_day ? when(a, recalled_created(r), now) : S(""), who = said_by(a, r);
    id = engine_line(a, utf8_cut(id, SHORT_ID), SHORT_ID);
    return str_printf(a, "- " S_FMT "%s" S_FMT "%s[" S_FMT "]: " S_FMT "\n", S_ARG(date),
                      date.n && who.n ? ", " : "", S_ARG(who), date.n || who.n ? " " : "",
                      S_ARG(id), S_ARG(engine_line(a, text, LINE_TEXT_MAX)));
}

struct line {
    str text;
    int64_t created;
    size_t rank;
    bool is_standing;
};

ORDER(by_time, struct line, DOWN(is_standing) ?: UP(created) ?: UP(rank));

/* The receipt then says why a line that was chosen is not in the block. */
static void leave_out(struct recalled *r, const char *why)
{
    r->state = LINE_QUOTABLE;
    r->why = str_of(why);
}

/* Whether the passage has all the words of the memory. */
static bool has_words(struct arena *a, str passage, str memory)
{
    struct words in = words_of(a, passage, LINE_WORDS), w = words_of(a, memory, LINE_WORDS);
    return w.n && EVERY(i, w.n, w.v[i].is_stop || words_have_stem(&in, w.v[i].stem));
}

/* A memory says nothing new beside the message that it came from, as far as that is shown. */
static bool is_told_by(struct arena *a, const struct recalled *memory, const struct recalled *r)
{
    if (r->state != LINE_INJECTED || !found_is_noted_from(memory, r))
        return false;
    bool is_whole = !r->part.is_cut && !r->part.is_passage && r->message.text.n <= LINE_TEXT_MAX;
    return is_whole || ((r->part.is_passage || r->part.is_cut) &&
                        has_words(a, utf8_cut(text_of(r), LINE_TEXT_MAX), memory->memory.content));
}

/* Whether the line at has nothing to tell beside those before it. */
static bool is_idle(struct arena *a, struct recalled *v, size_t at)
{
    if (!text_of(&v[at]).n)
        leave_out(&v[at], "it only repeats what was remembered");
    for (size_t i = 0; i < at; i++)
        if (is_told_by(a, &v[at], &v[i]))
            leave_out(&v[at], "the message it came from is there already");
    return v[at].state != LINE_INJECTED;
}

/* The memories that the message just taken tells as well leave again; gives their units back. */
static size_t drop_told(struct arena *a, struct recalled *v, struct line *lines, size_t *taken)
{
    assert(*taken);
    size_t kept = 0, units = 0;
    const struct recalled *message = &v[lines[*taken - 1].rank];
    for (size_t i = 0; i < *taken; i++) {
        if (is_told_by(a, &v[lines[i].rank], message)) {
            leave_out(&v[lines[i].rank], "the message it came from is there too");
            units += utf16_length(lines[i].text);
        } else {
            lines[kept++] = lines[i];
        }
    }
    *taken = kept;
    return units;
}

/* A line right behind another of its day does not tell the day again. */
static void tell_days_once(struct arena *a, struct recalled *v, struct line *lines, size_t n,
                           int64_t now)
{
    for (size_t i = 1; i < n; i++)
        if (time_local(lines[i].created) / DAY_MS == time_local(lines[i - 1].created) / DAY_MS) {
            struct recalled *r = &v[lines[i].rank];
            lines[i].text = line_of(a, r, now, false);
            r->tokens = tokens_of(lines[i].text);
        }
}

/* The budget is counted in UTF-16 units, four to a token, with the opening and closing inside. */
str block_render(struct arena *a, struct recalled *v, size_t n, int64_t budget_tokens, int64_t now)
{
    struct line *lines = NEW_N(a, struct line, n);
    size_t taken = 0, units = utf16_length(S(BLOCK_OPENING BLOCK_CLOSING));
    for (size_t i = 0; i < n; i++) {
        if (v[i].state != LINE_INJECTED || is_idle(a, v, i))
            continue;
        struct line line = {line_of(a, &v[i], now, true), recalled_created(&v[i]), i,
                            v[i].origin == LINE_STANDING};
        size_t more = utf16_length(line.text);
        v[i].tokens = tokens_of(line.text);
        if (budget_tokens >= 0 && units + more > (size_t)budget_tokens * 4) {
            leave_out(&v[i], "over the budget");
            continue;
        }
        units += more;
        lines[taken++] = line;
        units -= drop_told(a, v, lines, &taken);
    }
    if (!taken)
        return S("");
    qsort(lines, taken, sizeof *lines, by_time);
    tell_days_once(a, v, lines, taken, now);
    struct buf b = buf_make(a, BLOCK_MAX);
    buf_add(&b, S(BLOCK_OPENING));
    for (size_t i = 0; i < taken; i++)
        buf_add(&b, lines[i].text);
    buf_add(&b, S(BLOCK_CLOSING));
    return b.full ? S("") : buf_str(&b);
}
