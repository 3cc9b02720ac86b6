/* commands.c - the table of commands. */
#include "app/command.h"

/*
 * One row is a command: its words, its help, the flags it takes and its function. main.c checks
 * usage by the row and help.c prints it, so a new command is a row here, a prototype in command.h
 * and a file. flags are the names of rows in options_table, each between spaces so that no name is
 * found inside another one; settings are taken by every command and are not listed.
 */

/* Flags of a command that works in one space of one user. */
#define POOL " user space json "

const struct command commands[] = {
    {"serve", "serve [--listen ADDR:PORT] [--data DIR] [--upstream URL] [OPTIONS]",
     "Serve HTTP: an OpenAI-compatible API that adds memory to the chats with your models",
     "serve --upstream https://api.openai.com/v1", " print_settings json ", 0, 0, NULL,
     command_serve, true},
    {"mcp", "mcp [--user NAME] [--space NAME] [--tools LIST]",
     "Speak the Model Context Protocol on standard input and output", "mcp --space work",
     " user space tools ", 0, 0, command_mcp_check, command_mcp, false},
    {"add", "add TEXT...", "Add a memory", "add I take my coffee black --category preference",
     POOL "key type category importance ", 1, 1000, NULL, command_add, false},
    {"search", "search QUESTION...", "Search memories and messages",
     "search how do I take my coffee", POOL "limit explain ", 1, 1000, NULL, command_search, false},
    {"list", "list", "List memories, newest first", "list --limit 20 --contains coffee",
     POOL "limit offset type category session contains closed ", 0, 0, NULL, command_list, false},
    {"forget", "forget ID | --session ID | --everything [--all-spaces] [--yes]",
     "Erase a memory, a message, a conversation or everything", "forget --everything --space work",
     POOL "session everything all_spaces yes ", 0, 1, command_forget_check, command_forget, false},
    {"ingest", "ingest FILE",
     "Import conversations from JSON lines {session, role, content, ...} or from a LoCoMo file",
     "ingest chats.jsonl", POOL "no_extract ", 1, 1, NULL, command_ingest, false},
    {"import", "import FILE | import FOLDER | import omniroute FILE",
     "Import conversations and memories of other programs (ChatGPT, Claude, mem0, Markdown and "
     "more: docs/reference/import.md), or an export of rememberd",
     "import ~/Downloads/chatgpt-export --dry-run", POOL "format dry_run no_extract ", 1, 2,
     command_import_check, command_import, false,
     "the space default; of an export the space of each line, of OmniRoute a space for each key"},
    {"export", "export [FILE]",
     "Write everything that a user has as text that an import takes: to a new file, or without "
     "one to standard output",
     "export copy.md --format markdown", " user space format ", 0, 1, command_export_check,
     command_export, false, "all spaces of the user"},
    {"eval",
     "eval locomo|beam|longmemeval|jsonl FILE | eval prompt FILE | eval compare FILE FILE | eval "
     "junk FILE...",
     "Measure recall with conversations and questions, measure what enters prompts, compare two "
     "measurements question by question, or audit extracted facts (docs/reference/eval.md)",
     "eval locomo locomo10.json --k 5,10",
     " json level k pool sessions dump follow_ups per_question texts curve format sample "
     "judgements ",
     2, 100, command_eval_check, command_eval, false},
    {"token", "token create | token list | token revoke ID",
     "Create, list and revoke access tokens; once this command has created one, every request "
     "needs a token",
     "token create --admin --name laptop", POOL "name admin acts_for days ", 1, 2,
     command_token_check, command_token, false,
     "a new space; for an admin token the space default"},
    {"user", "user list | user forget ID [--people] [--yes]",
     "List users and the people behind their keys, and erase one with everything that it owns",
     "user forget anna", " json limit contains people yes ", 1, 2, command_user_check, command_user,
     false},
    {"model", "model list | model pull NAME [--from DIR] | model check NAME | model remove NAME",
     "List, download, check and remove the models of this machine", "model pull potion-base-8M",
     " json from ", 1, 2, command_model_check, command_model, false},
    {"reindex", "reindex [--force]", "Make missing vectors now, or all vectors again",
     "reindex --force", " json force ", 0, 0, NULL, command_reindex, false},
    {"encrypt", "encrypt [--key-file FILE | --new-key-file FILE]",
     "Encrypt the database with the key of a file, or with a new key that is kept in the system's "
     "keyring or beside the data",
     "encrypt --new-key-file /media/stick/memory.key", " json new_key_file ", 0, 0, NULL,
     command_encrypt, false},
    {"decrypt", "decrypt [--key-file FILE]", "Decrypt the database", "decrypt", " json ", 0, 0,
     NULL, command_decrypt, false},
    {"rekey", "rekey [--key-file FILE --new-key-file FILE]",
     "Encrypt the database with another key", "rekey", " json new_key_file ", 0, 0, NULL,
     command_rekey, false},
    {"key", "key where | key show", "Print where the key of the database is, or the key itself",
     "key show", " json ", 1, 1, command_key_check, command_key, false},
    {"backup", "backup FILE",
     "Copy the database to a file, also while a server runs; an encrypted database stays encrypted",
     "backup memory-backup.db", " json ", 1, 1, NULL, command_backup, false},
    {"restore", "restore FILE [--force]",
     "Put a backup in place of the database; stop the server first", "restore memory-backup.db",
     " json force ", 1, 1, NULL, command_restore, false},
    {"consolidate", "consolidate [--dry-run] [--space NAME]",
     "Merge similar episodes, promote facts that recur, close (evict) unused facts and erase "
     "(prune) old episodes; a server does so every day",
     "consolidate --dry-run", POOL "dry_run ", 0, 0, NULL, command_consolidate, false,
     "all spaces of the user"},
    {"compact", "compact [--older-than DAYS] [--dry-run] [--space NAME]",
     "Put short summaries in the place of old memories, where that saves tokens",
     "compact --older-than 90 --dry-run", POOL "older_than dry_run ", 0, 0, NULL, command_compact,
     false, "all spaces of the user"},
    {"reopen", "reopen ID [--dry-run]",
     "Open the memories again that a summary replaced, and close the summary; with --dry-run "
     "list them",
     "reopen ID --dry-run", POOL "dry_run ", 1, 1, NULL, command_reopen, false,
     "all spaces of the user"},
    {"review", "review [--allowed] | review allow ID | review forget ID | review hold ID",
     "List what is held back from chats because it instructs a model, and decide about it",
     "review allow ID", POOL "allowed ", 0, 2, command_review_check, command_review, false},
    {"connect", "connect [NAME [--remove] [--yes] [--url URL] [--space NAME]]",
     "Write the entry for this server into the settings of another program, after showing it, or "
     "take it out again; without a name list the programs",
     "connect claude-code", " url space remove yes ", 0, 1, command_connect_check, command_connect,
     false, "the token's own space for tools, and the project's for hooks"},
    {"hook", "hook [--url URL] [--space NAME]",
     "Pass the hook event of a coding agent from standard input to the server, and print its "
     "answer",
     "hook --url http://127.0.0.1:7077", " url space ", 0, 0, NULL, command_hook, false,
     "the space of the project, beside the user's own", true},
    {"doctor", "doctor", "Check data, settings and upstreams, and show what to do", "doctor",
     " json ", 0, 0, NULL, command_doctor, false},
    {0},
};
