// matrix.test.js - what one door writes as every other door shows it: the same memory under each product's names.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { serve, tempFolder, until } = require('./lib');
const { QUESTION, act, envelope, expected, look } = require('./views');

const FACT = 'My parrot is called Quito.', SAID = 'my parrot is called Quito';
const LATER = '2090-01-02T03:04:05.000Z';
const bare = { key: '', type: 'factual', layer: 'fact', category: '', session: '', tags: [], expires: null, origin: 'api', content: FACT };

/** [door, call, body, what it says of the memory in the words of /v1/memories]. What is not named is as in bare. */
const writers = [
  ['REST', 'POST /v1/memories', { content: FACT, key: 'parrot', type: 'semantic', category: 'preference', session: 's1', tags: ['birds'], metadata: { n: 1 }, importance: 0.8, expires: LATER },
    { key: 'parrot', type: 'semantic', category: 'preference', session: 's1', tags: ['birds'], metadata: { n: 1 }, importance: 0.8, expires: LATER }],
  ['REST, an episode', 'POST /v1/memories', { content: FACT, layer: 'episode', type: 'episodic' }, { layer: 'episode', type: 'episodic' }],
  ['MCP', 'memory_add', { content: FACT, key: 'parrot', type: 'procedural', tags: ['birds'], metadata: { n: 1 }, importance: 0.3, expires: LATER },
    { key: 'parrot', type: 'procedural', tags: ['birds'], metadata: { n: 1 }, importance: 0.3, expires: LATER, origin: 'mcp' }],
  ['OmniRoute', 'POST /api/memory', { content: FACT, key: 'parrot', type: 'episodic', sessionId: 's1', metadata: { n: 1 }, expiresAt: LATER },
    { key: 'parrot', type: 'episodic', session: 's1', metadata: { n: 1 }, expires: LATER }],
  ["OmniRoute's tool", 'omniroute_memory_add', { content: FACT, key: 'parrot', type: 'semantic', sessionId: 's1', metadata: { n: 1 } },
    { key: 'parrot', type: 'semantic', session: 's1', metadata: { n: 1 }, origin: 'mcp' }],
  ['the RAG backend', 'POST /api/v1/memory', { content: FACT, memory_type: 'entity', priority: 'critical', source: 'a form', metadata: { n: 1 } },
    { category: 'entity', importance: 0.95, metadata: { n: 1, source: 'a form' } }],
  ['Cortex', 'POST /v1/memory/save', { content: FACT, importance: 0.8, tags: ['birds'] }, { importance: 0.8, tags: ['birds'] }],
  ['mem0', 'POST /v3/memories/add/', { messages: [{ role: 'user', content: FACT }], run_id: 's1', infer: false, metadata: { n: 1 }, expiration_date: '2090-01-02' },
    { session: 's1', metadata: { n: 1 }, expires: '2090-01-03T00:00:00.000Z' }],
  ["mem0's own server", 'POST /memories', { messages: [{ role: 'assistant', content: FACT }], run_id: 's1', infer: false }, { session: 's1' }],
  ["Cortex's profile", 'PATCH /v1/users/me/profile', { facts: { parrot: 'Quito' } }, { content: 'parrot: Quito', layer: 'identity', category: 'profile', tags: ['profile'] }],
  ['the command line', `rememberd add "${FACT}" --key parrot --type semantic --category preference --importance 0.8`, undefined,
    { key: 'parrot', type: 'semantic', category: 'preference', importance: 0.8 }],
  ['a chat', 'POST /v1/chat/completions', { model: 'rememberd/demo', messages: [{ role: 'user', content: FACT }] }, { content: SAID, category: 'relationship', origin: 'user' }],
  ['a response', 'POST /v1/responses', { model: 'rememberd/demo', input: FACT }, { content: SAID, category: 'relationship', origin: 'user' }],
  ['a message', 'POST /v1/messages', { model: 'rememberd/demo', max_tokens: 100, messages: [{ role: 'user', content: FACT }] }, { content: SAID, category: 'relationship', origin: 'user' }],
  ['a hook', 'POST /v1/hooks', { hook_event_name: 'UserPromptSubmit', session_id: 's1', prompt: FACT }, { content: SAID, category: 'relationship', origin: 'user', session: 's1' }],
  ["a chat of Ollama's API", 'POST /api/chat', { model: 'rememberd/demo', messages: [{ role: 'user', content: FACT }] }, { content: SAID, category: 'relationship', origin: 'user' }],
  ['a file of conversations', 'rememberd ingest {file}', undefined, { content: SAID, category: 'relationship', origin: 'import', session: 's1' }],
];

const kindOf = (m) => (['fact', 'preference', 'context', 'procedure', 'entity', 'relationship'].includes(m.category) ? m.category
  : m.layer === 'episode' || m.layer === 'summary' || m.type === 'episodic' ? 'context' : m.type === 'procedural' ? 'procedure' : 'fact');
const priorityOf = ({ importance: i }) => (i >= 0.9 ? 'critical' : i >= 0.7 ? 'high' : i >= 0.4 ? 'medium' : 'low');

/** What a door calls it, from what /v1/memories/{id} shows. A list or search is looked through for the memory's id. */
const shapes = {
  own: (m) => m,
  found: (m) => ({ kind: 'memory', id: m.id, text: m.content, session: m.session, source: m.source, created: m.created, role: '' }),
  omniroute: (m) => ({ id: m.id, apiKeyId: 'default', sessionId: m.session, type: m.type, key: m.key, content: m.content, metadata: m.metadata ?? {},
    createdAt: m.created, updatedAt: m.updated, expiresAt: m.expires }),
  preview: (m) => ({ id: m.id, type: m.type, key: m.key, content: m.content }),
  rag: (m) => ({ id: m.id, content: m.content, memory_type: kindOf(m), priority: priorityOf(m), created_at: m.created, metadata: m.metadata ?? {},
    source: m.metadata?.source || m.source || null }),
  ragFound: (m) => ({ id: m.id, content: m.content, type: kindOf(m) }),
  cortex: (m) => ({ id: m.id, content: m.content, importance_score: m.importance, created_at: m.created, tags: m.tags.length ? m.tags : m.category ? [m.category] : [] }),
  mem0: (m) => ({ id: m.id, memory: m.content, user_id: null, agent_id: null, app_id: null, run_id: m.session || null, metadata: m.metadata,
    created_at: m.created, updated_at: m.updated, categories: [...new Set([m.category, ...m.tags])].filter(Boolean),
    expiration_date: m.expires && new Date(Date.parse(m.expires) - 1).toISOString().slice(0, 10) }),
  cortexFound: (m) => ({ id: m.id, content: m.content, created_at: m.created }),
};

/** [call, body, shape, for which memories]. What a chat is given is seen in views.js. */
const isFact = (m) => m.layer !== 'episode' && m.layer !== 'identity';
const readers = [
  ['GET /v1/memories', undefined, 'own'],
  ['POST /v1/memories/search', { query: QUESTION }, 'found'],
  ['memory_get', { id: '{id}' }, 'own'],
  ['memory_search', { query: QUESTION }, 'found'],
  ['search_memory', { scope: 'pinned', query: QUESTION }, 'found', isFact],
  ['search_memory', { scope: 'episodes', query: QUESTION }, 'found', (m) => m.layer === 'episode'],
  ['rememberd list --json', undefined, 'own'],
  [`rememberd search "${QUESTION}" --json`, undefined, 'found'],
  ['GET /api/memory', undefined, 'omniroute'],
  ['GET /api/memory/{id}', undefined, 'omniroute'],
  ['POST /api/memory/retrieve-preview', { query: QUESTION, limit: 20 }, 'preview'],
  ['omniroute_memory_search', { query: QUESTION }, 'omniroute'],
  ['GET /api/v1/memory', undefined, 'rag'],
  ['GET /api/v1/memory/export', undefined, 'rag'],
  ['POST /api/v1/memory/search', { query: QUESTION }, 'ragFound'],
  ['GET /api/v1/memory/{id}', undefined, 'rag'],
  ['GET /v1/memory/me', undefined, 'cortex'],
  ['GET /v1/memories/', undefined, 'mem0'],
  ['GET /v1/memories/{id}/', undefined, 'mem0'],
  ['POST /v2/memories/', {}, 'mem0'],
  ['POST /v3/memories/', {}, 'mem0'],
  ['POST /v2/memories/search/', { query: QUESTION }, 'mem0'],
  ['POST /v3/memories/search/', { query: QUESTION }, 'mem0'],
  ['GET /memories', undefined, 'mem0'],
  ['GET /memories/{id}', undefined, 'mem0'],
  ['POST /search', { query: QUESTION }, 'mem0'],
  ['GET /v1/memory/list', undefined, 'cortex'],
  ['POST /v1/memory/search', { query: QUESTION }, 'cortexFound'],
];

// What reading itself changes, and what depends on the time of reading.
const passing = ['uses', 'last_used'];

function objectWith(id, value) {
  if (!value || typeof value !== 'object') return null;
  if (value.id === id) return value;
  for (const one of Object.values(value)) {
    const found = objectWith(id, one);
    if (found) return found;
  }
  return null;
}

for (const [door, call, body, says] of writers)
  test(`written by ${door}: every door shows it under its own names`, async (t) => {
    const server = await serve(t, { flags: ['--encoder', 'off'] }), file = path.join(tempFolder(), 'talk.jsonl');
    fs.writeFileSync(file, `${JSON.stringify({ session: 's1', role: 'user', content: FACT })}\n`);
    const wrote = await act(server, call, body, { file });
    assert.ok(wrote.ok, wrote.text);
    const receipt = wrote.headers?.['x-rememberd-receipt'];
    if (receipt) await server.receipt(receipt); // written behind the answer, with the turn
    const { memories } = (await server.ask('GET', '/v1/memories')).json();
    assert.equal(memories.length, 1, JSON.stringify(memories));
    const [m] = memories;
    for (const [name, value] of Object.entries({ ...bare, ...says }))
      if (!(name === 'key' || name === 'session') || says[name] !== undefined) assert.deepEqual(m[name], value, name);
    for (const [read, sent, shape, when = () => true] of readers) {
      const res = await act(server, read, sent, { id: m.id });
      assert.ok(res.ok, `${read}: ${res.text}`);
      const shown = objectWith(m.id, res.json());
      assert.equal(Boolean(shown), when(m), `${read}: ${res.text}`);
      if (!shown) continue;
      for (const [name, value] of Object.entries(shapes[shape](m)))
        if (!passing.includes(name)) assert.deepEqual(shown[name], value, `${read}: ${name}`);
    }
  });

// --- conversations ---

const chat = { model: 'rememberd/demo', messages: [{ role: 'user', content: FACT }] };
/** [door, call, body, headers, whether a fact is found in it at once]; {session} is a session that was begun before. */
const talks = [
  ['a chat', 'POST /v1/chat/completions', chat, {}, true],
  ['a chat of an agent', 'POST /v1/chat/completions', chat, { 'x-osaurus-agent-id': 'default' }, true],
  ['a response', 'POST /v1/responses', { model: 'rememberd/demo', input: FACT }, {}, true],
  ['a message', 'POST /v1/messages', { ...chat, max_tokens: 100 }, {}, true],
  ['a hook', 'POST /v1/hooks', { hook_event_name: 'UserPromptSubmit', session_id: 's1', prompt: FACT }, {}, true],
  ["a chat of Ollama's API", 'POST /api/chat', chat, {}, true],
  ['a chat in a session', 'POST /v1/chat', { session_id: '{session}', message: FACT }, {}, true],
  ['a chat in an envelope', 'POST /a2a/conversation/chat', { envelope, action: 'chat', session_id: '{session}', message: FACT, user_id: 'local' }, {}, true],
  ['an ingest', 'POST /memory/ingest', { agent_id: 'default', conversation_id: 'c1', turns: [{ user: FACT, assistant: 'A fine name.' }] }, {}, false],
  ['messages for mem0', 'POST /v3/memories/add/', { run_id: 'c1', messages: [{ role: 'user', content: FACT }, { role: 'assistant', content: 'A fine name.' }] }, {}, true],
  ['a file', 'rememberd ingest {file}', undefined, {}, true],
  ['a file without facts', 'rememberd ingest {file} --no-extract', undefined, {}, false],
];

for (const [door, call, body, headers, isFound] of talks)
  test(`said over ${door}: every door finds it, and chats are given it`, async (t) => {
    const server = await serve(t), file = path.join(tempFolder(), 'talk.jsonl');
    fs.writeFileSync(file, `${JSON.stringify({ session: 's1', role: 'user', content: FACT })}\n`);
    const begun = (await server.ask('POST', '/v1/session', {})).json().session_id;
    const said = await act(server, call, body, { file, session: begun }, headers);
    assert.ok(said.ok, said.text);
    const message = await until('it is found', async () => (await server.ask('POST', '/v1/memories/search', { query: QUESTION })).json().results.find((one) => one.text === FACT));
    if (call === 'POST /v1/chat' || call.startsWith('POST /a2a')) assert.equal(message.session, begun);
    const { memories } = (await server.ask('GET', '/v1/memories')).json();
    assert.deepEqual(memories.map((one) => [one.content, one.source, one.session]), isFound ? [[SAID, message.id, message.session]] : []);
    const listed = (await server.ask('GET', '/v1/users/me/sessions')).json().sessions.find((one) => one.id === message.session);
    assert.equal(listed.title, FACT);
    assert.deepEqual(await look(server, { memory: memories[0]?.id, session: message.session }, { memory: SAID, message: FACT, any: /Quito/ }),
      expected({ memory: isFound, message: true, history: true, chat: true }));
  });
