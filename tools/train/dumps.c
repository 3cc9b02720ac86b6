/* dumps.c - the list of dumps that a fit reads, and the rows of each. */
#include "dumps.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const weight_set_names[] = {
#define WEIGHT_SET(name, help) #name,
#include "engine/gate/weight_sets.def"
#undef WEIGHT_SET
};
const char *const weight_set_helps[] = {
#define WEIGHT_SET(name, help) help,
#include "engine/gate/weight_sets.def"
#undef WEIGHT_SET
};

void stop(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

str file_read(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f || fseek(f, 0, SEEK_END))
        stop("%s: cannot be read", path);
    size_t n = (size_t)ftell(f);
    char *bytes = NEW_N(a, char, n + 1);
    rewind(f);
    n = fread(bytes, 1, n, f);
    fclose(f);
    return (str){bytes, n};
}

void write_text(FILE *out, str s)
{
    fputc('"', out);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            fputc('\\', out);
        fputc(s.p[i], out);
    }
    fputc('"', out);
}

static int set_of(const char *name)
{
    for (int i = 0; i < WEIGHT_SETS; i++)
        if (!strcmp(weight_set_names[i], name))
            return i;
    stop("%s: no such set of weights", name);
}

static int kind_of(const struct dumps *d, const char *kind)
{
    int next = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (!strcmp(d->v[i].kind, kind))
            return d->v[i].kind_no;
        next = d->v[i].kind_no >= next ? d->v[i].kind_no + 1 : next;
    }
    return next;
}

void dumps_read(struct dumps *out, const char *path)
{
    char line[2048], set[64];
    FILE *f = fopen(path, "r");
    if (!f)
        stop("%s: cannot be read", path);
    memset(out, 0, sizeof *out);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        struct dump *d = &out->v[out->n];
        if (line[0] == '#' && out->n_notes < NOTES_MAX)
            snprintf(out->notes[out->n_notes++], sizeof *out->notes, "%.250s", line + 2);
        else if (out->n == DUMPS_MAX ||
                 sscanf(line, "%63s %23s %7s %d %lf %1023s", set, d->kind, d->size,
                        &d->conversations, &d->weight, d->path) != 6)
            stop("%s: not a line of SET KIND SIZE PIECES WEIGHT PATH: %s", path, line);
        else {
            d->set = set_of(set);
            d->kind_no = kind_of(out, d->kind);
            out->n++;
        }
    }
    fclose(f);
}

static bool dumps_have(const struct dumps *d, int set)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].set == set)
            return true;
    return false;
}

/* A dump of another version of the program has other columns. */
static size_t check_columns(const char *path, char *line, const char *fixed,
                            const char *const *signals)
{
    size_t columns = 1, n = strlen(fixed);
    if (strncmp(line, fixed, n))
        stop("%s: does not begin with the columns %s", path, fixed);
    for (const char *c = fixed; *c; c++)
        columns += *c == '\t';
    char *save, *name = strtok_r(line + n, "\t\n", &save);
    for (; *signals; signals++, columns++, name = strtok_r(NULL, "\t\n", &save))
        if (!name || strcmp(name, *signals))
            stop("%s: has the column %s instead of %s", path, name ? name : "(none)", *signals);
    if (name)
        stop("%s: has the column %s, which this program does not know", path, name);
    return columns;
}

struct rows rows_read(const char *path, const char *fixed, const char *const *signals)
{
    static char line[1 << 14];
    struct rows r = {0};
    size_t cap = 0;
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f))
        stop("%s: cannot be read", path);
    r.columns = check_columns(path, line, fixed, signals);
    while (fgets(line, sizeof line, f)) {
        if (r.n == cap)
            r.v = realloc(r.v, (cap = cap ? 2 * cap : 4096) * r.columns * sizeof *r.v);
        if (!r.v)
            stop("out of memory");
        char *at = line;
        for (size_t i = 0; i < r.columns; i++)
            r.v[r.n * r.columns + i] = strtod(at, &at);
        r.n++;
    }
    fclose(f);
    return r;
}

struct rows gate_rows_read(const struct dump *d)
{
    static const char *const names[] = {
#define GATE_SIGNAL(name, sets, help, ...) #name,
#include "engine/gate/gate_weights.def"
#undef GATE_SIGNAL
        NULL};
    char path[sizeof d->path + sizeof ".gate"];
    snprintf(path, sizeof path, "%s.gate", d->path);
    return rows_read(path, "conversation\tquestion\tpool\trenamed\tdecided", names);
}

int conversation_no(const struct dump *d, double number)
{
    int of = d->conversations ? (int)number % d->conversations : (int)number;
    if (of >= KIND_SHIFT)
        stop("%s: more than %d conversations", d->path, KIND_SHIFT);
    return d->kind_no * KIND_SHIFT + of;
}

void report_begin(struct report *r)
{
    r->out = open_memstream(&r->text, &r->n);
    if (!r->out)
        stop("out of memory");
}

bool report_has_dumps(const struct report *r, const struct dumps *d, int set)
{
    if (dumps_have(d, set))
        return true;
    fprintf(r->out, " *  %s: as it was\n", weight_set_names[set]);
    return false;
}

void report_end(struct report *r)
{
    fclose(r->out);
    fputs(r->text, stderr);
}

void notes_write(FILE *out, const struct dumps *d)
{
    for (size_t i = 0; i < d->n_notes; i++)
        fprintf(out, " * %s\n", d->notes[i]);
}
