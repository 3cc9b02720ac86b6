/* row.h - the command eval, of the program that measures and of the one that starts it. */
#pragma once

#include "app/command.h"

/* Of rememberd-eval, and of rememberd. */
extern const struct command eval_commands[];
extern const struct command eval_launch_commands[];

/* "check" and "run" are functions of the row. */
#define EVAL_ROW(check, run)                                                                       \
    {                                                                                              \
        "eval",                                                                                    \
            "eval locomo|beam|longmemeval|jsonl FILE | eval prompt FILE | eval compare FILE FILE " \
            "| eval junk FILE...",                                                                 \
            "Measure recall with conversations and questions, measure what enters prompts, "       \
            "compare two measurements question by question, or audit extracted facts "             \
            "(docs/reference/eval.md)",                                                            \
            "eval locomo locomo10.json --k 5,10",                                                  \
            " json level k pool sessions dump follow_ups per_question texts curve format sample "  \
            "judgements ",                                                                         \
            2, 100, check, run, false, .own_help = {                                               \
                {"format", "With eval prompt and eval junk: locomo, beam, longmemeval or jsonl. "  \
                           "Without --format, rememberd looks at the file"}                        \
            }                                                                                      \
    }
