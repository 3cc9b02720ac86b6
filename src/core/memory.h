/* memory.h - the words of the product as structs: pool, session, message, memory, receipt. */
#pragma once

#include "base/fields.h"

/* Whose memories: every row belongs to exactly one pool, and every statement is bound to one. */
struct pool_ref {
    str user;  /* the tenant; LOCAL_USER exists without set-up */
    str space; /* a pool inside the user; DEFAULT_SPACE unless said */
};

#define LOCAL_USER "local"
#define DEFAULT_SPACE "default"
/* In the query of a GET: every space in reach. No space has this name. */
#define SPACE_ALL "*"

/* Where a text came from. Set by the server, never by the text. Stored as a number, so a new one is
 * added at the end. */
enum origin {
    ORIGIN_USER,
    ORIGIN_ASSISTANT,
    ORIGIN_TOOL,
    ORIGIN_IMPORT,
    ORIGIN_API,
    ORIGIN_DISTILLED,
    ORIGIN_MCP, /* a model called a tool */
    ORIGIN_COUNT
};
/* LAYER_FILE: a file that a model keeps for itself (engine/files.h). Stored as numbers, too. */
enum layer { LAYER_FACT, LAYER_EPISODE, LAYER_IDENTITY, LAYER_SUMMARY, LAYER_FILE, LAYER_COUNT };
enum memory_type { TYPE_FACTUAL, TYPE_EPISODIC, TYPE_PROCEDURAL, TYPE_SEMANTIC, TYPE_COUNT };

/* NULL-ended lists of the names, in the order of the enums. */
extern const char *const origin_names[];
extern const char *const layer_names[];
extern const char *const type_names[];

/*
 * What a memory is about, as the RAG backend sorts it: a view of layer, category and type. The
 * priority is a view of importance: critical from 0.9 on, high from 0.7, medium from 0.4, low.
 */
enum memory_kind {
    KIND_FACT,
    KIND_PREFERENCE,
    KIND_CONTEXT,
    KIND_PROCEDURE,
    KIND_ENTITY,
    KIND_RELATIONSHIP,
    KIND_COUNT
};
enum priority { PRIORITY_CRITICAL, PRIORITY_HIGH, PRIORITY_MEDIUM, PRIORITY_LOW, PRIORITY_COUNT };
extern const char *const kind_names[];
extern const char *const priority_names[];

/*
 * The number of an indexed document, unique in a store. Messages of one session have consecutive
 * numbers, so a neighbour is doc + 1 and a session is a range; memories have a bit of their own.
 */
typedef int64_t doc_id;

/* Most words of a query that are searched at once. */
enum { QUERY_WORDS_MAX = 16 };
enum { DOC_TURN_BITS = 20 };
#define DOC_MEMORY ((doc_id)1 << 62)

static inline doc_id doc_of_message(int64_t session_no, int64_t position)
{
    return session_no << DOC_TURN_BITS | position;
}
static inline bool doc_is_memory(doc_id d)
{
    return (d & DOC_MEMORY) != 0;
}
static inline int64_t doc_session(doc_id d)
{
    return d >> DOC_TURN_BITS;
}
static inline int64_t doc_position(doc_id d)
{
    return d & (((doc_id)1 << DOC_TURN_BITS) - 1);
}
/* In n things of that size, sorted by the doc_id that each begins with: the place of the first one
 * that is not below. */
size_t doc_place(const void *v, size_t n, size_t size, doc_id least);

/* One turn of a session, kept verbatim. */
struct message {
    str id; /* UUID; follows from session and content where it comes from a chat, so a retry adds
               nothing */
    doc_id doc;  /* set by the store */
    str session; /* id of its session */
    str role;    /* user, assistant, tool, or system */
    str speaker; /* a name where one is known, else "": the role is used instead */
    str text;
    str ref; /* the id that the source of an import gave it ("D1:3"), else "" */
    enum origin origin;
    int64_t created; /* unix ms: when it was said */
    uint64_t chain;  /* hash of the conversation up to and including it; 0: none */
    uint64_t tail;   /* hash of it and the message before; 0: none */
    bool is_echo;    /* said with memory beside it or to what the user told: not all is new */
    str says;        /* of an echo: what is new in it; only this is searched */
    struct text_annotations *notes; /* in a view of the store; or NULL */
};

/* Bytes of what belongs to a memory beside its content. */
enum { METADATA_MAX = 65536 };

/* One thing remembered. */
struct memory {
    str id;      /* UUID */
    doc_id doc;  /* set by the store */
    str space;   /* of its pool; set by the store */
    str session; /* where it was learnt, or "" */
    enum layer layer;
    enum memory_type type;
    str category; /* preference, decision, pattern, entity, relationship, or free */
    str key;      /* the same key is the same thing, said again; "" for none */
    str content;
    str metadata; /* a JSON object as text, or "" */
    struct strs tags;
    double importance; /* 0 to 1, fixed at write */
    double salience;   /* 0 to 1 at the time of last_used; decay is computed at read */
    int64_t uses;
    int64_t last_used; /* unix ms */
    enum origin origin;
    str source; /* id of the message it came from, or "" */
    int64_t created, updated;
    int64_t expires;    /* unix ms; 0: never */
    int64_t valid_from; /* when it began to be true; 0: unknown */
    int64_t valid_to;   /* when it stopped being true; 0: it still is */
    str superseded_by;  /* id of the memory that closed it, or "" */
};

/* One candidate of a recall, as the receipt keeps it. */
struct receipt_line {
    str kind;     /* "message" or "memory" */
    str id;       /* of the message or memory */
    str source;   /* of a memory: the message it came from, or "" */
    double score; /* what it was ranked by */
    int64_t tokens;
    bool injected;
    str why; /* its features in words, or why it was left out */
};

/* The record of one recall. */
struct receipt {
    str id;
    str session;
    int64_t created;
    str question;   /* what was searched */
    str decision;   /* what the gate said: "none", "memory", … */
    str reason;     /* why, in words */
    str block;      /* the text that was injected, byte for byte, or "" */
    uint64_t chain; /* of the user message it belongs to; 0: none */
    int64_t tokens; /* of the block */
    int64_t took_us;
    struct receipt_line *lines;
    size_t n;
    struct strs told; /* what the block tells: ids of memories, and marks of passages */
    int64_t no;       /* of its row; set by the store */
    str space;        /* of its pool, in a list */
};

/* A block of memory that stands behind an earlier message of a running conversation. */
struct replay {
    uint64_t chain;   /* of the message */
    str block;        /* "": none */
    struct strs told; /* as of its receipt */
};

enum memory_kind kind_of(const struct memory *m);
enum priority priority_of(double importance);
/* The least importance of a priority. */
extern const double priority_least[PRIORITY_COUNT];

/* Whether somebody stored it on purpose, instead of it being found in what was said: over an API or
 * by a tool. */
bool memory_is_stored(const struct memory *m);
/* Whether it was distilled without enough of the user's words for it: never shown as certain. */
bool memory_is_unconfirmed(const struct memory *m);

/* Copies that live in the arena. */
struct message message_copy(struct arena *a, const struct message *m);
struct memory memory_copy(struct arena *a, const struct memory *m);

/* Adds one behind the *n of a list, which moves when *n is a power of two; its place there. */
struct memory *memories_add(struct arena *a, struct memory **v, size_t *n, struct memory m);
