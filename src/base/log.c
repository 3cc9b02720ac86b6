/* log.c - writing one line per event, whole, with one write. */
#include "base/log.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/time_text.h"

/*
 * Each event is written with one write to stderr. On a pipe, a write of at most PIPE_BUF bytes
 * (4096 on Linux) is not mixed with the lines of other threads or processes. Text is cut so that
 * its JSON has no more: an invalid byte or a pair without a value takes three times its bytes. No
 * lock is held and nothing is buffered, so the last line before a crash is not lost.
 */
enum { LOG_TEXT_MAX = 1024, LINE_MAX_BYTES = 3 * LOG_TEXT_MAX + 512, FORMAT_MAX = 512 };
enum { QUOTE = 1 }; /* of fmt, until the line is written: no value has this byte */

/* Set once at start, before there are other threads; read without a lock. */
static enum log_level least = LOG_INFO;
static bool json_lines;
static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_setup(enum log_level level, bool as_json)
{
    least = level;
    json_lines = as_json;
}

bool log_is_on(enum log_level level)
{
    return level <= least;
}

/* Short enough to be exact in JSON, and not an id of digits that begins with 0. */
static bool is_number(str s)
{
    bool is_long = s.n > 15 || (s.n > 1 && s.p[0] == '0');
    return s.n && !is_long && EVERY(i, s.n, s.p[i] >= '0' && s.p[i] <= '9');
}

/* fmt with another byte for its quotes. */
static void format_with(char quote, const char *fmt, va_list args, char out[LOG_TEXT_MAX])
{
    char own[FORMAT_MAX];
    assert(strlen(fmt) < sizeof own);
    for (size_t i = 0; i <= strlen(fmt); i++)
        own[i] = fmt[i] == '"' ? quote : fmt[i];
    vsnprintf(out, LOG_TEXT_MAX, own, args);
}

/* Text of clients may reach a value: a newline in it could forge a line, a quote a member, and
 * another control character drive a terminal. other is the same text with another byte for the
 * quotes of fmt, which are where both differ. */
static void clean_text(char text[LOG_TEXT_MAX], const char *other)
{
    str all = str_of(text);
    for (size_t i = 0; i < all.n; i++)
        if (text[i] == other[i])
            memset(text + i, ' ', control_bytes(all, i));
}

/* key=value pairs into members; a value in quotes may hold spaces. */
static void write_pairs(struct json_out *w, str pairs)
{
    char key[64];
    while ((pairs = str_trim(pairs)).n) {
        str name = str_cut(&pairs, '=');
        bool is_quoted = pairs.n && pairs.p[0] == QUOTE;
        pairs = str_sub(pairs, is_quoted, pairs.n);
        str value = str_cut(&pairs, is_quoted ? QUOTE : ' ');
        snprintf(key, sizeof key, S_FMT, S_ARG(name));
        (!is_quoted && is_number(value) ? json_member_raw : json_member_str)(w, key, value);
    }
}

/* The same as text. */
static void write_plain(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_byte(b, '\\');
        buf_byte(b, *text == QUOTE ? '"' : *text);
    }
}

void log_event(enum log_level level, const char *event, const char *fmt, ...)
{
    char text[LOG_TEXT_MAX], other[LOG_TEXT_MAX], when[TIME_ISO_ROOM];
    if (!log_is_on(level))
        return;
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    format_with(QUOTE, fmt, args, text);
    format_with(QUOTE + 1, fmt, again, other);
    va_end(again);
    va_end(args);
    clean_text(text, other);
    time_iso(clock_ms(), when);
    CLEANUP(arena_free) struct arena arena = {0};
    struct buf b = buf_make(&arena, LINE_MAX_BYTES);
    if (json_lines) {
        struct json_out w = json_to(&b);
        json_open(&w, '{');
        json_member_str(&w, "time", str_of(when));
        json_member_str(&w, "level", str_of(level_names[level]));
        json_member_str(&w, "event", str_of(event));
        write_pairs(&w, str_of(text));
        json_close(&w, '}');
    } else {
        buf_printf(&b, "%s %s %s%s", when, level_names[level], event, *text ? " " : "");
        write_plain(&b, text);
    }
    buf_byte(&b, '\n');
    (void)!write(STDERR_FILENO, b.p, b.n); /* there is nowhere to report a failure */
}
