/* foreign.h - the input and output of a reader of another program's file. */
#pragma once

#include "core/session.h"

struct import_format;
struct import_run;

enum { WAITING_MAX = 32 };

/* Where a reader is. Of one file; `state` is the reader's own between two records. */
struct foreign {
    struct ctx *ctx; /* of the record: its texts live until the next one */
    struct import_run *run;
    const struct import_format *row;
    str format;       /* "chatgpt" */
    str path;         /* of the file inside what is imported: "notes/tea.md" */
    str text;         /* the whole file */
    int64_t modified; /* the file, unix ms; where that is not known, now */
    struct {
        str session; /* of lines that do not name theirs; on the heap of the run */
        bool is_left_out;
        str parent;                    /* of a fork, while its lines are those of its parent */
        bool is_stored;                /* the parent is in no file of the import */
        const struct json *categories; /* of the file; NULL: not read yet */
        struct waiting {
            struct message m;
            bool is_given;
        } waiting[WAITING_MAX]; /* prompts in a queue */
        size_t n_waiting;
    } state;
};

/*
 * A reader first reads a whole record and then gives what is in it, so a broken record gives
 * nothing. Its failures are BAD_INPUT or TOO_LARGE with the field and the rule.
 */

/* A conversation, or more of it: messages with their texts, times and ids at the source. A message
 * without a time has that of the one before it, the first the session's. */
MUST_USE enum status foreign_session(struct foreign *f, const struct session *session,
                                     const struct message *v, size_t n);
/*
 * A memory. id is the one at the source: a UUID stays, another one gives a UUID that is the same in
 * each import, as does the content where there is no id. metadata is what the source has beside it,
 * a JSON object or "". Without times it is as old as the file, or new.
 */
MUST_USE enum status foreign_memory(struct foreign *f, const struct memory *m);
/* Counts one that is left out on purpose. */
enum status foreign_skip(struct foreign *f);
/* The session of a file begins, with the messages of its parent where that is not "": those are
 * what foreign_is_copied tells, until the first that is another. */
MUST_USE enum status foreign_fork(struct foreign *f, str session, str parent);
/* Also notes the message for forks of the session, so it is asked once for each. */
bool foreign_is_copied(struct foreign *f, str session, const struct message *m);
/* Whether this import had the message with that id in another session. */
bool foreign_has_elsewhere(struct foreign *f, str session, str ref);

/* --- what several readers need --- */

/* The text at a path of a value, as of json_at; "" for none. */
static inline str text_in(const struct json *v, const char *path)
{
    return json_string(json_at(v, path));
}

/* "chatgpt-ID": sessions of two programs never meet. */
str foreign_session_id(const struct foreign *f, str id);
/* A time as ISO 8601, or seconds or milliseconds since 1970; absent and null are 0. */
MUST_USE enum status foreign_time(struct ctx *ctx, const struct json *v, const char *field,
                                  int64_t *out);
/* The texts of an array of {type, text} with that type, a blank line between two; a string is one.
 * Those for which `skips` is true are left out. NULL: any type, no text. */
str foreign_text_of(struct arena *a, const struct json *content, const char *type,
                    bool (*skips)(str text));
/*
 * Each line or list item of a text as a memory of its own, like m: bullets, numbers and "[date]" in
 * front go, headings become tags. An item without a date has m's time.
 */
MUST_USE enum status foreign_lines(struct foreign *f, str text, const struct memory *m);
/* The sections of a Markdown text as memories: markdown.c. title goes in front of each; part of
 * where, which makes the ids. */
MUST_USE enum status foreign_sections(struct foreign *f, str where, str title, str text,
                                      const struct memory *like);

/* --- the readers, by the kind of record --- */

typedef enum status foreign_reader(struct foreign *f, const struct json *record);
typedef enum status foreign_text_reader(struct foreign *f, str text);
typedef enum status foreign_end(struct foreign *f);
foreign_reader chatgpt_conversation, claude_conversation, claude_memories, claude_project,
    claude_code_line, codex_line, letta_agent, turn_line, mem0_memory, openmemory_memory,
    graph_line;
foreign_text_reader markdown_note, list_lines;
foreign_end claude_code_end;
