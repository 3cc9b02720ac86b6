/* traces.c - output of a failing program within a message. */
#include "engine/text/traces.h"

#include "base/buf.h"
#include "engine/text/bytes.h"

/* Lines of a trace at least. */
enum { LEAST = 2 };

/*
 * A pasted stack trace would fill the question with names of files and classes that find other
 * traces. Only two lines or more that look like a trace are one; then these go, with the code that
 * they quote, and what the user asked about them stays.
 */

/* "main.c:41", "load.py\", line 17", "(Main.java:12)". */
static bool names_place(str line)
{
    for (size_t i = 1; i + 1 < line.n; i++)
        if (line.p[i] == ':' && is_digit(line.p[i + 1]) && !is_digit(line.p[i - 1]) &&
            line.p[i - 1] != ' ')
            return true;
    return text_holds(line, "\", line ") || text_holds(line, ", in <");
}

/* "IndexError: …", "java.lang.NullPointerException", "error[E0382]", "panic: …". */
static bool names_failure(str line)
{
    static const char *const begins[] = {"Traceback", "Caused by",  "Exception in", "panic:",
                                         "fatal:",    "goroutine ", "Segmentation", "error[",
                                         "error:",    "Error:",     "Uncaught ",    NULL};
    if (text_starts_with_any(line, begins))
        return true;
    str word = str_sub(line, 0, str_find(line, S(" ")));
    word = str_ends(word, S(":")) ? str_sub(word, 0, word.n - 1) : word;
    bool is_class = str_ends(word, S("Error")) || str_ends(word, S("Exception")) ||
                    str_ends(word, S("Warning"));
    return is_class && word.n > strlen("Exception") - 4 && word.p[0] != 'E';
}

static bool is_trace(str line)
{
    line = str_trim(line);
    bool is_frame = str_starts(line, S("at ")) && (text_holds(line, "(") || names_place(line));
    return line.n && (names_failure(line) || names_place(line) || is_frame);
}

/* A line of code that a trace quotes: indented, or with brackets and no blank before them. */
static bool is_quoted(str line)
{
    return str_starts(line, S("    ")) || str_starts(line, S("\t")) ||
           str_starts(str_trim(line), S("^")) || str_starts(str_trim(line), S("~"));
}

str text_without_traces(struct arena *a, str text)
{
    size_t traces = 0;
    for (str rest = text, line; rest.n;) {
        line = str_cut(&rest, '\n');
        traces += is_trace(line);
    }
    if (traces < LEAST)
        return text;
    struct buf b = buf_make(a, text.n + 1);
    bool is_in = false;
    for (str rest = text, line; rest.n;) {
        line = str_cut(&rest, '\n');
        is_in = is_trace(line) || (is_in && is_quoted(line));
        if (is_in)
            continue;
        buf_add(&b, line);
        buf_byte(&b, '\n');
    }
    return str_trim(buf_str(&b));
}
