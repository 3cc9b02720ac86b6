/* log.c - writing one line per event, whole, with one write. */
#include "base/log.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/time_text.h"

/*
 * Each event is made in a buffer on the stack and written with one write to stderr. On a pipe, a
 * write of at most PIPE_BUF bytes (4096 on Linux) is not mixed with the lines of other threads or
 * processes. Text is cut so that its JSON has no more: an invalid byte or a pair without a value
 * takes three times its bytes. No lock is held and nothing is buffered, so the last line before a
 * crash is not lost.
 */
enum { LOG_TEXT_MAX = 1024, LINE_MAX_BYTES = 3 * LOG_TEXT_MAX + 512 };

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

/* key=value pairs into members; a value in quotes may hold spaces. */
static void write_pairs(struct json_out *w, str pairs)
{
    char key[64];
    while ((pairs = str_trim(pairs)).n) {
        str name = str_cut(&pairs, '=');
        bool is_quoted = pairs.n && pairs.p[0] == '"';
        pairs = str_sub(pairs, is_quoted, pairs.n);
        str value = str_cut(&pairs, is_quoted ? '"' : ' ');
        snprintf(key, sizeof key, S_FMT, S_ARG(name));
        (!is_quoted && is_number(value) ? json_member_raw : json_member_str)(w, key, value);
    }
}

/* fmt gives key=value pairs. Any thread may call; a failed write is dropped, as there is nowhere to
 * report it. */
void log_event(enum log_level level, const char *event, const char *fmt, ...)
{
    char text[LOG_TEXT_MAX], when[TIME_ISO_ROOM], line[LINE_MAX_BYTES];
    if (!log_is_on(level))
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    /* Text of clients may reach a message: without this, a newline in it could forge a log line. */
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    time_iso(clock_ms(), when);
    struct arena arena = {0};
    if (json_lines) {
        struct buf b = buf_make(&arena, sizeof line - 2);
        struct json_out w = json_to(&b);
        json_open(&w, '{');
        json_member_str(&w, "time", str_of(when));
        json_member_str(&w, "level", str_of(level_names[level]));
        json_member_str(&w, "event", str_of(event));
        write_pairs(&w, str_of(text));
        json_close(&w, '}');
        snprintf(line, sizeof line, S_FMT "\n", S_ARG(buf_str(&b)));
    } else {
        snprintf(line, sizeof line, "%s %s %s%s%s\n", when, level_names[level], event,
                 *text ? " " : "", text);
    }
    arena_free(&arena);
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        return; /* nowhere left to say it */
}
