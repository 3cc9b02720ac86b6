/* engine.h - the face of the engine: the verbs of memory. */
#pragma once

#include "core/live.h"
#include "core/settings.h"
#include "engine/people.h"
#include "engine/session_memory.h"
#include "store/store.h"

struct engine;

MUST_USE enum status engine_open(struct ctx *ctx, struct store *store,
                                 const struct settings *settings, struct engine **out);
void engine_close(struct engine *e);

/* --- recall --- */

enum { SIGNALS_MAX = 32 };

/* One thing found, with the reasons. */
struct recalled {
    bool is_memory;
    struct message message;      /* when it is none */
    struct memory memory;        /* when it is one */
    str text;                    /* what is shown of it: all, or the part that answers */
    str title;                   /* of a message's session, from engine_search_scope; or "" */
    double score;                /* 0 to 1: how likely it helps to answer */
    double signals[SIGNALS_MAX]; /* by signal_names */
    int64_t tokens;
    bool injected;
    str why; /* in words, for receipts and --explain */
};

/* NULL-ended names of the signals. */
extern const char *const signal_names[];

struct recall_in {
    struct pool_ref pool;
    str question;
    int64_t asked;      /* unix ms: the time the question is asked at, for "last week"; 0: now */
    const str *exclude; /* ids of messages that the reader has in front of it */
    size_t n_exclude;
    str session;  /* one that the reader has in front of it whole, with its episode; or "" */
    size_t limit; /* most results; 0: the setting */
    int64_t budget_tokens; /* 0: the setting; < 0: no budget */
    bool gate;             /* apply the relevance gate and the score threshold, as a chat does */
    bool turns_only;       /* no memories: for measuring */
    bool memories_only;    /* no messages */
    str type;              /* with memories_only: only of this type; "" for any */
    str layer;             /* with memories_only: only of this layer; "" for any */
    bool words_only;       /* no vectors */
    enum strategy strategy;
    int64_t after; /* only what was made since (unix ms); 0: any age */
};

struct recall_out {
    struct recalled *v; /* best first; with a gate also those below the threshold, not injected */
    size_t n;
    str decision, reason; /* what the gate said and why */
    int64_t tokens;       /* of what is injected */
    int64_t took_us;
    str vectors; /* what made the vectors that took part ("static:potion-base-8M:256"), or "" */
    str without; /* why none took part although a source is chosen; "" when all is well */
};

/* TIMED_OUT when ctx's deadline passed; nothing found is OK. */
MUST_USE enum status engine_recall(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                   struct recall_out *out);

/* The same with the gate, and the block that a chat would be given within the budget; "" when it
 * would be given none. */
MUST_USE enum status engine_context(struct ctx *ctx, struct engine *e, const struct recall_in *in,
                                    struct recall_out *out, str *block);

/* --- retrieval: memories by OmniRoute's rules --- */

/* Which memories: those of the space, of one session in it, or of every space of the user. */
enum scope { SCOPE_SPACE, SCOPE_SESSION, SCOPE_USER };

enum { RETRIEVE_BUDGET_MAX = 8000, RETRIEVE_LIMIT = 100 };

struct retrieve_in {
    struct pool_ref pool;
    enum scope scope;
    str session; /* of SCOPE_SESSION */
    str query;   /* "": the newest, whatever the strategy */
    enum strategy strategy;
    int64_t budget_tokens;  /* at most RETRIEVE_BUDGET_MAX count */
    size_t limit;           /* 0: RETRIEVE_LIMIT, of vectors the setting vec_top_k */
    str type;               /* "" for any; applied before the budget is spent */
    int64_t retention_days; /* 0: any age */
};

struct retrieved {
    struct memory memory;
    double score;
    int64_t tokens;
    const char *tier;    /* fts5, vector, hybrid-rrf, qdrant */
    double vector_score; /* cosine; NAN: the vectors had no part in it */
    double words_score;  /* NAN: the words had none */
};

struct retrieve_out {
    struct retrieved *v; /* best first, within the budget; the first one may exceed it alone */
    size_t n;
    int64_t tokens;
    const char *source; /* remote, static, transformers; NULL: no vectors */
    str model;
    const char *store;      /* sqlite-vec, qdrant, none */
    enum strategy strategy; /* that was used in the end */
    bool is_reranked;
    str fallback; /* why it is not what was asked for, in words; "" when it is */
};
/* What has expired, is superseded or older than the retention is never found, on any path. */
MUST_USE enum status engine_retrieve(struct ctx *ctx, struct engine *e,
                                     const struct retrieve_in *in, struct retrieve_out *out);

struct condense_in {
    struct pool_ref pool; /* space "": each space of the user by itself */
    int64_t older_than_days;
    bool dry_run;
};
struct condense_out {
    struct memory *candidates; /* oldest first */
    size_t n;
    int64_t tokens;        /* of the candidates */
    int64_t removed;       /* 0 when dry_run */
    int64_t left;          /* old as well, kept as they are: their summary had no room for them */
    struct strs summaries; /* ids, one for each space that had candidates */
    bool dry_run;
};
/* Puts one summary in the place of what is old: written by the setting core_model, else by rule.
 * Space by space, each all or nothing. Summaries, identity and what expires stay as they are. */
MUST_USE enum status engine_condense(struct ctx *ctx, struct engine *e,
                                     const struct condense_in *in, struct condense_out *out);

/* --- distillation: what sessions leave behind (Osaurus's layers) --- */

/* One exchange of a conversation that is brought in whole. */
struct ingest_turn {
    str user, assistant;
    int64_t date; /* unix ms; 0: the session's */
};
struct ingest_turns_in {
    struct pool_ref pool;
    str conversation;
    const struct ingest_turn *turns;
    size_t n;
    int64_t session_date; /* unix ms; 0: now */
    bool skip_extraction; /* keep the turns, distil nothing */
};
struct ingest_turns_out {
    int64_t turns;
    str distillation; /* distilled, no_signals, skipped:WHY, empty:WHY, pending:WHY, error:WHY; ""
                         when it was to be skipped */
    str episode_id;
};
/* Replaces the conversation by these turns, distils it now if a core model is there, and says what
 * came of it. The same again leaves one episode. */
MUST_USE enum status engine_ingest_turns(struct ctx *ctx, struct engine *e,
                                         const struct ingest_turns_in *in,
                                         struct ingest_turns_out *out);

/* Background: distils what is due, some sessions at once; like engine_embed_some. */
MUST_USE enum status engine_distil_some(struct ctx *ctx, struct engine *e, bool *more);
/* What waits is due now (pool.space "": in all of the user's); dead ones again. */
MUST_USE enum status engine_sync(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                 int64_t *sessions);

struct distil_status {
    str core_model; /* "" when there is none: signals wait */
    bool available;
    str reason; /* why nothing is distilled, or the last failure; "" when all is well */
    struct signal_stats signals;      /* its error is "" when the last question went well */
    struct work_sum day;              /* the last 24 hours */
    int64_t hour_tokens, hour_budget; /* spent in the running hour; most, 0: no limit */
};
MUST_USE enum status engine_distil_status(struct ctx *ctx, struct engine *e,
                                          const struct pool_ref *pool, struct distil_status *out);
/* What was done in the background, newest first; space "": in all of the user's; kind "": any. */
MUST_USE enum status engine_work_log(struct ctx *ctx, struct engine *e, const struct pool_ref *pool,
                                     str kind, size_t limit, struct work **out, size_t *n);

/*
 * Consolidation, pool by pool, each all or nothing. Nothing is lost silently: episodes that say the
 * same become one, which lists what each of them listed; facts that the conversations of the last
 * 60 days come back to weigh more, by 0.05 for each full three episodes, counted from the
 * importance they were kept with; what a model distilled and nobody has used for 30 days is closed
 * once it is worth less than the floor, and remains as history; episodes older than the retention
 * are erased. What someone added, said or imported is never closed, and messages are not touched. A
 * second pass at the same time changes nothing.
 */
struct consolidate_line {
    str what; /* merge, promote, evict, prune */
    str id, text, why;
};
struct consolidate_report {
    bool dry_run;
    int64_t looked_at, merged, promoted, evicted, pruned, began, took_ms;
    struct consolidate_line *lines; /* at most 200 */
    size_t n;
};
/* Of a pool (space "": each of the user's). The report is kept in the work log, without its lines.
 * TOO_BUSY when another one does not end within five seconds, or until the deadline. */
MUST_USE enum status engine_consolidate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        bool dry_run, struct consolidate_report *out);
/* The last report about anything of the user's; NOT_FOUND without a note. */
MUST_USE enum status engine_consolidated(struct ctx *ctx, struct engine *e, str user,
                                         struct consolidate_report *out);
/* Background: everyone's pools, when the time has come, which the store remembers. */
MUST_USE enum status engine_consolidate_some(struct ctx *ctx, struct engine *e, bool *more);

/* What importance is worth now: base · 0.5^(age since last use / half-life), never written back. */
double salience_now(const struct memory *m, int64_t now);

/* A space as an agent. */
struct agent {
    struct pool_info pool;
    int64_t pinned, episodes, signals; /* facts and episodes that are true; turns that wait */
    int64_t updated;                   /* when something came last, unix ms */
};
MUST_USE enum status engine_agents(struct ctx *ctx, struct engine *e, str user, struct agent **out,
                                   size_t *n);
/* NOT_FOUND when the space does not exist. */
MUST_USE enum status engine_agent(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                  struct agent *out);

/* --- the planner: at most one section, and identity --- */

enum plan_scope { PLAN_PINNED, PLAN_EPISODES, PLAN_TRANSCRIPT };
extern const char *const plan_scope_names[]; /* pinned, episodes, transcript */

struct plan_in {
    struct pool_ref pool;
    str question;
    int64_t budget_tokens; /* 100 to 4000 */
    const str *exclude;    /* ids of messages in front of the reader */
    size_t n_exclude;
    str session; /* one that the reader has in front of it whole, with its episode; or "" */
};
struct plan_out {
    str decision, reason; /* the section, and what fired */
    str block;            /* with its marks, or "" */
    struct recalled *v;   /* what it shows, in its order; each injected */
    size_t n;
    int64_t took_us;
};
/*
 * By the gate mode and the embedding backend of the live settings. Never fails because a model does
 * not answer: with the mode llm it is given half of what is left, at most 1.5 s, and then phrases
 * decide, as the reason says. What is shown is not counted as used: see engine_shown.
 */
MUST_USE enum status engine_plan(struct ctx *ctx, struct engine *e, const struct plan_in *in,
                                 struct plan_out *out);

/* Counts what a plan showed as used, its identity lines left out. Nobody waits, and it may fail. */
void engine_shown(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                  const struct plan_out *plan);

struct scope_in {
    struct pool_ref pool;
    enum plan_scope scope;
    str query;
    int64_t days; /* of transcript: how far back; 0: 365 */
    size_t limit;
    const str *exclude; /* these three as plan_in has them */
    size_t n_exclude;
    str session;
};
struct scope_out {
    struct recalled *v; /* best first */
    size_t n;
    bool is_cut; /* nothing was found, and not all of the transcript was looked through in time */
};
/* One layer: words and vectors, then variety; what cannot be made a query of words, or is found
 * nowhere, is looked for as it stands. */
MUST_USE enum status engine_search_scope(struct ctx *ctx, struct engine *e,
                                         const struct scope_in *in, struct scope_out *out);

/* --- settings that change while the server runs --- */

/* What acts now. It stays as it is for as long as the caller's request lives. */
const struct live *engine_live(struct engine *e);

/* Whether chats have memory now. Never waits, so an event loop may ask. */
bool engine_remembers(struct engine *e);

/* Changes the members that the object names; the whole change is checked first (strict: an unknown
 * member is BAD_INPUT). It acts at once and is kept. */
MUST_USE enum status engine_change_memory_settings(struct ctx *ctx, struct engine *e,
                                                   const struct json *object);
MUST_USE enum status engine_change_qdrant_settings(struct ctx *ctx, struct engine *e,
                                                   const struct json *object);
MUST_USE enum status engine_change_osaurus_settings(struct ctx *ctx, struct engine *e,
                                                    const struct json *object);

/* --- vectors, and how the tiers are --- */

struct engine_status {
    bool words_ok;
    struct {
        const char *source; /* remote, static, transformers; NULL: none */
        str model;
        int64_t dimensions; /* 0: not known yet */
        bool available;
        str reason; /* "" when all is well */
        uint64_t hits, misses;
        int64_t size;
    } embedding;
    struct {
        const char *backend; /* sqlite-vec, qdrant, none */
        bool available;
        int64_t rows, waiting, failed;
        str reason;
    } vectors;
    struct {
        bool enabled, probed, healthy;
        int64_t took_us, waiting; /* waiting: memories it does not know yet */
        str error;
        str note; /* what is otherwise than its settings say, and works; or "" */
    } qdrant;
    struct {
        bool enabled, available;
        str model, reason;
    } rerank;
};
/* Of one pool, or (space "") of all of the user's. probe: asks the Qdrant server and the reranker.
 */
MUST_USE enum status engine_status(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   bool probe, struct engine_status *out);

struct embedding_model {
    str name;           /* "provider/model" */
    int64_t dimensions; /* 0: not known */
};
struct embedding_provider {
    str name;
    bool has_key;
    struct embedding_model *models;
    size_t n;
};
MUST_USE enum status engine_embedding_providers(struct ctx *ctx, struct engine *e,
                                                struct embedding_provider **out, size_t *n);

/* Everything waits for a new vector (anew) or only what lacks one; *waiting counts it. The
 * background makes them. */
MUST_USE enum status engine_reindex(struct ctx *ctx, struct engine *e, bool anew, int64_t *waiting);

/* Background work, each to be called again and again from one thread of its own: does some and says
 * whether there is more. What fails is kept, tried again later and told by engine_status. */
MUST_USE enum status engine_embed_some(struct ctx *ctx, struct engine *e, bool *more);
MUST_USE enum status engine_mirror_some(struct ctx *ctx, struct engine *e, bool *more);

/* Qdrant by itself, for its own endpoints. */
struct engine_hit {
    str id, payload; /* payload as JSON */
    double score;
};
MUST_USE enum status engine_qdrant_health(struct ctx *ctx, struct engine *e, int64_t *took_us);
MUST_USE enum status engine_qdrant_search(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                          str query, size_t limit, struct engine_hit **out,
                                          size_t *n);
MUST_USE enum status engine_qdrant_cleanup(struct ctx *ctx, struct engine *e, str user,
                                           int64_t *deleted);

/* --- a chat turn --- */

/* A message of the request, in the client's words: text parts joined by newlines. */
struct said {
    str role, text, name;
};

enum memory_mode { MODE_FULL, MODE_READONLY, MODE_AFTER, MODE_OFF };
extern const char *const memory_mode_names[];

struct turn {
    /* in; said and the texts in it live until the turn has ended */
    struct pool_ref pool;
    str session; /* as the client named it, or "": derived from the conversation */
    const struct said *said;
    size_t n_said;
    enum memory_mode mode; /* readonly: recall, keep nothing; after: keep, recall nothing */
    str model; /* of the chat: for the log, and a large one's questions may be rewritten by a model
                */
    bool stand_in;   /* the built-in model answers: kept, but never found again */
    bool is_planned; /* Osaurus's way: engine_plan makes the block, which goes in front of the text
                      */
    const struct message *window; /* earlier messages of the session that the request does not hold
                                     and the model is shown: they help to understand the question,
                                     and are not recalled */
    size_t n_window;
    int64_t rewrite_ms; /* the chat can wait so long for a better question; 0: not at all */
    bool is_durable;    /* engine_end_turn returns when it is on the disk, and fails where it is not
                           kept */
    bool goes_on;   /* of a durable one: its session is there, and when it is forgotten while the
                       model answers, the turn goes with it */
    str answer_id;  /* the id that the answer gets; "": one that follows from what was said */
    bool has_tools; /* the answer may be a call, and then the same question comes again at once */
    /* out of engine_begin_turn */
    str receipt;           /* id; "" when mode is off */
    str block;             /* to be put beside the last user message, or "" */
    size_t block_at;       /* index in said of the message it belongs to */
    struct receipt record; /* what engine_end_turn writes; its session is the one that was found */
    struct strs ids;       /* of the messages in said and window, as the store has or will have them
                            */
    str whole;             /* the session when all of it stands in said and window, or "" */
    struct message *fresh; /* of said: what the store does not know yet, in order */
    size_t n_fresh;
    uint64_t chain; /* of everything said */
    uint64_t last;  /* hash of the last message alone, for the tail of the answer */
};

/*
 * Finds the session, recalls, renders the block. Of more than 10,000 messages only the last ones
 * count. Never fails a chat: whatever goes wrong or takes longer than the deadline leaves the block
 * empty and says so in the receipt. When a tool's answer follows, the block that was put beside the
 * same question is given again, byte for byte. Between the message's own text and the block stands
 * one blank line ("\n\n"): engine_strip_block knows it.
 */
void engine_begin_turn(struct ctx *ctx, struct engine *e, struct turn *t);

/*
 * Keeps the turn: new messages, facts from the user's words, the receipt, in one write that does
 * not wait for the disk. answer is the assistant's text, "" when there was none (tool calls, an
 * error).
 */
MUST_USE enum status engine_end_turn(struct ctx *ctx, struct engine *e, struct turn *t, str answer);

/* The text without any injected block in it (ours, OmniRoute's or Osaurus's) and the blank line
 * that parts ours from the text; every other byte as it was. */
str engine_strip_block(struct arena *a, str text);

/* A text as a line that a model is shown: on one line, visible, without the marks of any block, and
 * at most so many characters, with an ellipsis when more were there. */
str engine_line(struct arena *a, str text, size_t most);

/* --- extraction --- */

enum extract_rules { EXTRACT_OFF, EXTRACT_USER, EXTRACT_SEED };

/* Facts that a text states, by patterns (seed: OmniRoute's table exactly; user: its defects
 * mended, weighed by importance_by_rule, without what is below the setting importance_min). Times
 * are now. */
struct memory *engine_extract(struct ctx *ctx, struct engine *e, enum extract_rules rules, str text,
                              size_t *n);

/* --- memories --- */

/* Keeps one memory; content is required. Defaults: fact, factual, importance 0.5, origin api. Fills
 * *m as it was kept. */
MUST_USE enum status engine_add(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                struct memory *m);
/* The same, but what has the key already is changed in place, and metadata is merged: OmniRoute's
 * rule. */
MUST_USE enum status engine_replace(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                    struct memory *m);
/* Changes a memory in place, under the rules of engine_add. */
MUST_USE enum status engine_change(struct ctx *ctx, struct engine *e, const struct change *change,
                                   struct memory *out);
MUST_USE enum status engine_get(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                struct memory *out);
MUST_USE enum status engine_list(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                                 struct memory **out, size_t *n, int64_t *total);
/* A user's spaces, by name. */
MUST_USE enum status engine_spaces(struct ctx *ctx, struct engine *e, str user,
                                   struct pool_info **out, size_t *n);
MUST_USE enum status engine_totals(struct ctx *ctx, struct engine *e, const struct memory_filter *f,
                                   struct memory_totals *out);
MUST_USE enum status engine_forget(struct ctx *ctx, struct engine *e, const struct forget *what,
                                   int64_t *erased);
MUST_USE enum status engine_receipt(struct ctx *ctx, struct engine *e, struct pool_ref pool, str id,
                                    struct receipt *out);

/* These memories were looked at: one use more for each, now. Nobody waits; when too much waits to
 * be written, it is not counted. */
void engine_accessed(struct ctx *ctx, struct engine *e, struct pool_ref pool, const doc_id *docs,
                     size_t n);

/* --- memories that are alike --- */

/* How important what a user says is, by rule: 0.9 health and safety, 0.85 who one is, 0.75
 * summaries, 0.7 preferences, 0.65 decisions, else 0.5 (Cortex's levels); people and things of
 * one's own are as preferences. */
double importance_by_rule(struct arena *a, const struct memory *m);
/* What importance is worth after so many days: importance · e^(-per_day · days), never written
 * back. */
double importance_after(double importance, double per_day, int64_t days);

/* Relevance by the RAG backend's rule: (similarity + by priority) · 0.5^(days / 30) · use, at most
 * 1. */
double relevance_of(double similarity, enum priority priority, int64_t days, int64_t uses);

struct similar_in {
    struct pool_ref pool;
    str query;
    double least;  /* similarity, 0 to 1 */
    int64_t after; /* only what was made since (unix ms); 0: any age */
    size_t offset, limit;
};
struct similar {
    struct memory memory;
    double similarity;
};
/* Memories by similarity to a text, the greatest first: the cosine, or the weight of the text's
 * words that the memory holds, whichever is more. total counts all of at least that similarity, up
 * to 1000. */
MUST_USE enum status engine_similar(struct ctx *ctx, struct engine *e, const struct similar_in *in,
                                    struct similar **out, size_t *n, int64_t *total);

/* Memories that say the same as an older one. */
struct duplicates {
    struct memory first; /* the oldest */
    struct similar *v;   /* the others, by age; similarity is to the first */
    size_t n;
};
/* The groups of a pool, by age; by vectors where there are some, else by words. Those that differ
 * in a number, a name or a negation are not the same, however alike. */
MUST_USE enum status engine_duplicates(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                       struct duplicates **out, size_t *n);
/* Closes the others in favour of the first of each group, all or nothing; they remain as history.
 */
MUST_USE enum status engine_deduplicate(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                        int64_t *groups, int64_t *closed);

/* --- import --- */

struct ingest_report {
    int64_t sessions, messages, memories, skipped;
};

/*
 * Turns from a file: JSON lines {session, role, content, speaker?, created?, id?} or LoCoMo's JSON
 * array. extract: patterns run over the user's words as in a chat. progress may be NULL; it is
 * called now and then with bytes done and in all. A line that breaks a rule is BAD_INPUT and named
 * by its number; what stood before it is kept.
 */
MUST_USE enum status engine_ingest(struct ctx *ctx, struct engine *e, struct pool_ref pool,
                                   str path, bool extract,
                                   void (*progress)(int64_t done, int64_t all),
                                   struct ingest_report *out);

struct omniroute_report {
    int64_t memories, updated, owners, skipped;
};
/* OmniRoute's database file: each key's memories go into the space of its name, or (space not "")
 * all into one. Running it again changes nothing. */
MUST_USE enum status engine_import_omniroute(struct ctx *ctx, struct engine *e, str user, str space,
                                             str path, void (*progress)(int64_t done, int64_t all),
                                             struct omniroute_report *out);

/* --- the built-in model --- */

/* rememberd/demo: an honest offline stand-in that answers from what was recalled, and from what the
 * user said in the turn's window. */
str engine_demo_answer(struct ctx *ctx, str question, const struct turn *t);

/* --- measuring --- */

struct eval_in {
    str file; /* LoCoMo's JSON */
    bool by_session, one_pool;
    bool follow_ups; /* measures these alone: made of pairs of questions, with and without what a
                        chat does to understand them */
    const int64_t *k;
    size_t n_k;
    int64_t sessions; /* of each conversation, the first; 0: all. Shows how a small pool does */
    str dump;         /* a file for the signals of every candidate (for training), or "" */
};
/* Writes the report: text, or JSON. The engine's store must be empty. */
MUST_USE enum status engine_eval(struct ctx *ctx, struct engine *e, const struct eval_in *in,
                                 bool as_json, struct buf *out);

/* Recalls are counted by their time: bucket i holds those under recall_bucket_us[i], the last one
 * the rest. */
enum { RECALL_BUCKETS = 12 };
extern const int64_t recall_bucket_us[RECALL_BUCKETS - 1];

struct engine_stats {
    uint64_t recalls, recalled, injected_tokens, silent, timed_out, failed, turns, facts,
        dropped_turns, rerank_failed, distilled, distil_failed, core_tokens;
    uint64_t recall_us_sum;
    uint64_t recall_buckets[RECALL_BUCKETS];
    struct store_stats store;
};
MUST_USE enum status engine_stats(struct ctx *ctx, struct engine *e, struct engine_stats *out);
MUST_USE enum status engine_ping(struct ctx *ctx, struct engine *e);
