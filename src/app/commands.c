/* commands.c - the table of commands. */
#include "app/commands.h"

#include <time.h>

#define POOL " user space json "

const struct command commands[] = {
    {"serve", "serve [--listen ADDR:PORT] [--data DIR] [--upstream URL] [SETTINGS]",
     "answer on HTTP: an OpenAI API with memory in front of your models", " print_settings json ",
     0, 0, NULL, command_serve, true},
    {"mcp", "mcp [--user NAME] [--space NAME]",
     "speak the Model Context Protocol on standard input and output", " user space ", 0, 0, NULL,
     command_mcp, false},
    {"add", "add TEXT…", "remember a text", POOL "key type category importance ", 1, 1000, NULL,
     command_add, false},
    {"search", "search QUESTION…", "find what helps to answer a question", POOL "limit explain ", 1,
     1000, NULL, command_search, false},
    {"list", "list", "show memories, newest first",
     POOL "limit offset type category session contains closed ", 0, 0, NULL, command_list, false},
    {"forget", "forget ID | --session ID | --everything [--all-spaces]",
     "erase a memory, a message, a conversation or everything",
     POOL "session everything all_spaces ", 0, 1, command_forget_check, command_forget, false},
    {"ingest", "ingest FILE",
     "read conversations: JSON lines {session, role, content, …}, or LoCoMo's JSON",
     POOL "no_extract ", 1, 1, NULL, command_ingest, false},
    {"import", "import omniroute FILE",
     "take over the memories of OmniRoute's database; each key's go into the space of its name,"
     " or all into --space",
     POOL, 2, 2, command_import_check, command_import, false},
    {"eval", "eval locomo FILE", "measure recall on LoCoMo's questions",
     " json level k pool sessions dump follow_ups ", 2, 2, command_eval_check, command_eval, false},
    {"token", "token create | token list | token revoke ID",
     "make, show and withdraw credentials; once there is one, every request needs one",
     POOL "name admin days ", 1, 2, command_token_check, command_token, false},
    {"model", "model list | model pull NAME [--from DIR] | model check NAME | model remove NAME",
     "show, fetch, check and remove the models that make vectors", " json from ", 1, 2,
     command_model_check, command_model, false},
    {"reindex", "reindex [--force]", "make the vectors that are missing, or all of them anew",
     " json force ", 0, 0, NULL, command_reindex, false},
    {"encrypt", "encrypt [--key-file FILE]",
     "encrypt the database; a key file that is missing is made; a key that is not named is made "
     "and kept in the system's keyring, or in a file beside the data",
     " json ", 0, 0, NULL, command_encrypt, false},
    {"decrypt", "decrypt [--key-file FILE]", "turn the database back into a plain one", " json ", 0,
     0, NULL, command_decrypt, false},
    {"rekey", "rekey [--key-file FILE --new-key-file FILE]",
     "encrypt the database with another key", " json new_key_file ", 0, 0, NULL, command_rekey,
     false},
    {"key", "key where | key show", "say where the key of the database is, or print it to keep it",
     " json ", 1, 1, command_key_check, command_key, false},
    {"backup", "backup FILE",
     "copy the database, also while a server runs; encrypted with its key when it is", " json ", 1,
     1, NULL, command_backup, false},
    {"restore", "restore FILE [--force]", "put a backup in the place of the database",
     " json force ", 1, 1, NULL, command_restore, false},
    {"consolidate", "consolidate [--dry-run] [--space NAME]",
     "merge, promote, evict and prune memories now; the server does it every day", POOL "dry_run ",
     0, 0, NULL, command_consolidate, false},
    {"doctor", "doctor", "check data, settings and upstreams, and say what to do", " json ", 0, 0,
     NULL, command_doctor, false},
    {0},
};

void print_line(str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        putchar(c < 0x20 || c == 0x7F ? ' ' : c);
    }
    putchar('\n');
}

void print_buf(const struct buf *b)
{
    fwrite(b->p, 1, b->n, stdout);
    putchar('\n');
}

str date_of(struct arena *a, int64_t ms)
{
    char text[40];
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    if (!ms || !gmtime_r(&seconds, &t))
        return S("-");
    size_t n = strftime(text, sizeof text, "%Y-%m-%d", &t);
    return str_dup(a, (str){text, n});
}
