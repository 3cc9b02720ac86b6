/* omniroute_schema.h - the tables of OmniRoute's database that hold memories. */
#pragma once

/* As its migrations leave them; the full-text index lacks its triggers, which do not matter here.
 */
#define OMNIROUTE_SCHEMA                                                                           \
    "CREATE TABLE memories("                                                                       \
    " id TEXT PRIMARY KEY, api_key_id TEXT NOT NULL, session_id TEXT,"                             \
    " type TEXT NOT NULL CHECK(type IN ('factual', 'episodic', 'procedural', 'semantic')),"        \
    " key TEXT, content TEXT NOT NULL, metadata TEXT,"                                             \
    " created_at TEXT NOT NULL DEFAULT (datetime('now')),"                                         \
    " updated_at TEXT NOT NULL DEFAULT (datetime('now')), expires_at TEXT, memory_id INTEGER,"     \
    " needs_reindex INTEGER NOT NULL DEFAULT 0);"                                                  \
    "CREATE INDEX idx_memories_api_key ON memories(api_key_id);"                                   \
    "CREATE INDEX idx_memories_session ON memories(session_id);"                                   \
    "CREATE INDEX idx_memories_type ON memories(type);"                                            \
    "CREATE INDEX idx_memories_expires ON memories(expires_at);"                                   \
    "CREATE UNIQUE INDEX idx_memories_memory_id ON memories(memory_id);"                           \
    "CREATE INDEX idx_memories_needs_reindex ON memories(needs_reindex) WHERE needs_reindex = 1;"  \
    "CREATE VIRTUAL TABLE memory_fts USING fts5(content, key, content='memories');"

#define OMNIROUTE_LEGACY_SCHEMA                                                                    \
    "CREATE TABLE memory("                                                                         \
    " id TEXT PRIMARY KEY, apiKeyId TEXT, sessionId TEXT, type TEXT, key TEXT, content TEXT,"      \
    " metadata TEXT, createdAt TEXT, updatedAt TEXT, expiresAt TEXT);"
