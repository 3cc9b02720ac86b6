/* command.h - the functions of the commands that people type at a terminal. */
#pragma once

#include "app/command.h"

command_function shell_url_check, command_status, command_logs, command_chat,
    command_completion_check, command_completion, command_man;
