/* rows.c - the commands that people type at a terminal, and what a shell needs to know of them. */
#include "ext/shell/command.h"

const struct command shell_commands[] = {
    {"status", "status [--url URL]",
     "Ask the running server for its version, uptime, counts and state", "status", " url json ", 0,
     0, NULL, command_status},
    {"chat", "chat [--model MODEL] [--url URL] [--space NAME] [QUESTION...]",
     "Chat at the terminal through the running server; /why shows what memory the last answer got",
     "chat --model gpt-5-mini", " url space model ", 0, 1000, NULL, command_chat, false,
     "the token's own space"},
    {"completion", "completion bash | completion zsh | completion fish",
     "Print what a shell needs to complete commands and flags", "completion bash", " ", 1, 1,
     command_completion_check, command_completion},
    {"man", "man", "Print the manual page, in roff", "man", " ", 0, 0, NULL, command_man},
    {0},
};
