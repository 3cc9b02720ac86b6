/* rows.c - the commands that people type at a terminal, and what a shell needs to know of them. */
#include "ext/shell/command.h"

const struct command shell_commands[] = {
    {"status", "status [--url URL]",
     "Ask the running server for its version, uptime, counts and state", "status", " url json ", 0,
     0, shell_url_check, command_status},
    {"chat", "chat [--model MODEL] [--url URL] [--space NAME] [QUESTION...]",
     "Chat at the terminal through the running server; /why shows which memory was inserted",
     "chat --model gpt-5-mini", " url space model ", 0, 1000, shell_url_check, command_chat, false,
     "the token's own space"},
    {"logs", "logs [--follow] [--limit N]",
     "Show the log of the server that runs as a systemd service, newest last", "logs --follow",
     " follow limit ", 0, 0, NULL, command_logs, .own_help = {{"limit", "Lines shown at first"}}},
    {"completion", "completion bash | completion zsh | completion fish",
     "Print the completion of commands and flags for a shell", "completion bash", " ", 1, 1,
     command_completion_check, command_completion},
    {"man", "man", "Print the manual page (roff)", "man", " ", 0, 0, NULL, command_man},
    {0},
};
