/* rows.c - the commands that bring in what others have kept, and write it out. */
#include "ext/import/command/command.h"

const struct command import_commands[] = {
    {"ingest", "ingest FILE",
     "Import conversations from JSON lines {session, role, content, ...} or from a LoCoMo file",
     "ingest chats.jsonl", POOL "no_extract ", 1, 1, NULL, command_ingest, false},
    {"import", "import FILE | import FOLDER | import omniroute FILE",
     "Import conversations and memories of other programs (ChatGPT, Claude, mem0, Markdown and "
     "more) or an export of rememberd",
     "import ~/Downloads/chatgpt-export --dry-run", POOL "format dry_run no_extract again ", 1, 2,
     command_import_check, command_import, false,
     "the space default; of an export the space of each line, of OmniRoute a space for each key",
     .own_help =
         {{"dry_run", "Only count what would be new"},
          {"format",
           "Format of the file: rememberd, chatgpt, claude, letta, openmemory, mem0, mcp-memory, "
           "claude-code, codex, turns, locomo, markdown or list. Without --format, rememberd looks "
           "at "
           "the file"}}},
    {"export", "export [FILE]",
     "Export everything of a user, which import reads again, to a new file or to standard output",
     "export copy.md --format markdown", " user space format ", 0, 1, command_export_check,
     command_export, false, "all spaces of the user",
     .own_help = {{"format", "jsonl (the default) or markdown"}}},
    {0},
};
