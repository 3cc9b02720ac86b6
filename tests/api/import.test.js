// import.test.js - OmniRoute's database by the command line: into spaces, twice without harm, and its older table.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, tempFolder } = require('./lib');

const schema = `
CREATE TABLE memories (id TEXT PRIMARY KEY, api_key_id TEXT NOT NULL, session_id TEXT,
  type TEXT NOT NULL CHECK(type IN ('factual', 'episodic', 'procedural', 'semantic')), key TEXT, content TEXT NOT NULL, metadata TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')), expires_at TEXT,
  memory_id INTEGER, needs_reindex INTEGER NOT NULL DEFAULT 0);
CREATE INDEX idx_memories_api_key ON memories(api_key_id);
CREATE UNIQUE INDEX idx_memories_memory_id ON memories(memory_id);
CREATE INDEX idx_memories_needs_reindex ON memories(needs_reindex) WHERE needs_reindex = 1;`;
const legacy = `
CREATE TABLE memory (id TEXT PRIMARY KEY, apiKeyId TEXT, sessionId TEXT, type TEXT, key TEXT, content TEXT, metadata TEXT,
  createdAt TEXT, updatedAt TEXT, expiresAt TEXT);`;
const first = 'a3f1c2d4-0000-4000-8000-000000000001', second = 'a3f1c2d4-0000-4000-8000-000000000002';

// Node has no SQLite of its own here; Python, which the build needs anyway, has one.
function database(sql) {
  const file = path.join(tempFolder(), 'storage.sqlite');
  execFileSync('python3', ['-c', 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.stdin.read()); c.close()', file], { input: sql });
  return file;
}

async function ok(args) {
  const res = await run(args);
  assert.equal(res.code, 0, `${args.join(' ')}: ${res.stderr}`);
  return res.stdout;
}

const json = async (args) => JSON.parse(await ok([...args, '--json']));

test('the memories of each key go into a space of its name, twice without harm', async () => {
  const at = ['--data', tempFolder()];
  const file = database(`${schema}
    INSERT INTO memories(id, api_key_id, session_id, type, key, content, metadata, created_at, updated_at) VALUES
    ('${first}', 'key-1', 's1', 'factual', 'preference:tea', 'green tea', '{"category":"preference","source":"llm_response"}',
      '2025-03-01T10:00:00.123Z', '2025-03-01T10:00:00.123Z'),
    ('${second}', '', NULL, 'episodic', NULL, 'chose Postgres', NULL, '2025-03-02 10:00:00', '2025-03-02 10:00:00');`);
  const bytes = fs.readFileSync(file);
  assert.deepEqual(await json(['import', 'omniroute', file, '--user', 'ada', ...at]), { memories: 2, updated: 0, owners: 2, skipped: 0, erased: 0 });
  const list = async (space) => (await json(['list', '--user', 'ada', '--space', space, ...at])).memories;
  const [tea] = await list('key-1');
  assert.equal(tea.id, first);
  assert.equal(tea.content, 'green tea');
  assert.equal(tea.key, 'preference:tea');
  assert.equal(tea.category, 'preference');
  assert.equal(tea.created, '2025-03-01T10:00:00.123Z');
  const [orphan] = await list('default');
  assert.equal(orphan.id, second);
  const before = [await list('key-1'), await list('default')];
  assert.match(await ok(['import', 'omniroute', file, '--user', 'ada', ...at]), /^0 memories, 0 updated, of 2 keys; 0 skipped\nThe memories of each key are in the space with the name of the key[^]*--space NAME/);
  assert.deepEqual([await list('key-1'), await list('default')], before);
  assert.deepEqual(fs.readFileSync(file), bytes, 'the file is as it was');
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['storage.sqlite'], 'nothing stands beside it');
  assert.match(await ok(['import', 'omniroute', file, '--user', 'ada', '--space', 'all', ...at]), /skipped\n$/);
  assert.equal((await list('all')).length, 2);
});

test('the older table is read as well', async () => {
  const at = ['--data', tempFolder()];
  const file = database(`${legacy} INSERT INTO memory(id, apiKeyId, sessionId, type, key, content, metadata, createdAt, updatedAt) VALUES
    ('${first}', 'key-1', 's1', 'dream', 'k', 'from long ago', 'no JSON', '2024-03-01T10:00:00.000Z', '2024-03-01T10:00:00.000Z'),
    ('${second}', 'key-1', 's1', 'factual', 'k2', '', '{}', '2024-03-01T10:00:00.000Z', '2024-03-01T10:00:00.000Z');`);
  assert.deepEqual(await json(['import', 'omniroute', file, ...at]), { memories: 1, updated: 0, owners: 1, skipped: 1, erased: 0 });
  assert.match(await ok(['search', 'long ago', '--space', 'key-1', ...at]), /from long ago/);
});

test('what is no database of OmniRoute is refused by its name', async () => {
  const at = ['--data', tempFolder()], text = path.join(tempFolder(), 'notes.txt');
  fs.writeFileSync(text, 'not a database, but long enough to be looked at. '.repeat(100));
  for (const file of [text, database('CREATE TABLE other(a);'), `${text}.missing`]) {
    const res = await run(['import', 'omniroute', file, ...at]);
    assert.equal(res.code, 1);
    assert.ok(res.stderr.includes(file), res.stderr);
  }
  assert.equal((await run(['import', 'mem0', text, ...at])).code, 2);
});
