/* commands.c - the table of commands. */
#include "app/command.h"

/*
 * One row is a command: its words, its help, the flags it takes and its function. run.c checks
 * usage by the row and help.c prints it, so a new command is a row here, a prototype in command.h
 * and a file. Satellites have rows of their own (ext/commands.c). flags are the names of rows in
 * options_table, each between spaces so that no name is found inside another one; settings are
 * taken by every command and are not listed.
 */

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
     POOL "session everything all_spaces yes ", 0, 1, command_forget_check, command_forget, false,
     .own_help = {{"yes", "With --everything: do not ask. Needed where nobody is at a terminal"}}},
    {"token", "token create | token list | token revoke ID",
     "Create, list and revoke access tokens; once this command has created one, every request "
     "needs a token",
     "token create --admin --name laptop", POOL "name admin acts_for days ", 1, 2,
     command_token_check, command_token, false,
     "a new space; for an admin token the space default"},
    {"user", "user list | user forget ID [--people] [--yes]",
     "List users and the people behind their keys, and erase one with everything that it owns",
     "user forget anna", " json limit contains people yes ", 1, 2, command_user_check, command_user,
     false,
     .own_help = {{"yes", "With user forget: do not ask. Needed where nobody is at a terminal"}}},
    {"reindex", "reindex [--force]", "Make missing vectors now, or all vectors again",
     "reindex --force", " json force ", 0, 0, NULL, command_reindex, false,
     .own_help = {{"force", "Make all vectors again, also those that exist"}}},
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
     " json force ", 1, 1, NULL, command_restore, false,
     .own_help = {{"force", "Replace the database that exists"}}},
    {"consolidate", "consolidate [--dry-run] [--space NAME]",
     "Merge similar episodes, promote facts that recur, close (evict) unused facts and erase "
     "(prune) old episodes; a server does so every day",
     "consolidate --dry-run", POOL "dry_run ", 0, 0, NULL, command_consolidate, false,
     "all spaces of the user"},
    {"review", "review [--allowed] | review allow ID | review forget ID | review hold ID",
     "List what is held back from chats because it instructs a model, and decide about it",
     "review allow ID", POOL "allowed ", 0, 2, command_review_check, command_review, false},
    {"doctor", "doctor", "Check data, settings and upstreams, and show what to do", "doctor",
     " json ", 0, 0, NULL, command_doctor, false},
    {0},
};
