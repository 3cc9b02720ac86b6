/* main.c - the program rememberd-eval: it measures recall. */
#include "ext/eval/row.h"

/* `rememberd eval …` starts this with its own words, and a person without the word eval. */
int main(int argc, char **argv)
{
    static const struct command *const tables[] = {eval_commands, NULL};
    setenv("TZ", "UTC", 1); /* the days of all machines */
    char **words = heap_alloc(((size_t)argc + 2) * sizeof *words), eval[] = "eval";
    size_t n = 0;
    words[n++] = argv[0];
    if (argc < 2 || strcmp(argv[1], "eval") != 0)
        words[n++] = eval;
    for (int i = 1; i < argc; i++)
        words[n++] = argv[i];
    int status = app_run((int)n, words, tables);
    free(words);
    return status;
}
