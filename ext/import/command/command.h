/* command.h - the functions of the commands. */
#pragma once

#include "app/command.h"

command_function command_ingest, command_import_check, command_import, command_export_check,
    command_export;
