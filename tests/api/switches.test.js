// switches.test.js - every door to a chat with every switch of memory: one meaning for each.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, until, upstream } = require('./lib');
const { answer: answerOllama } = require('./ollama_lib');

const envelope = { message_id: 'm', sender_agent_key: 'k', timestamp: '2026-11-20T10:00:00Z' };
let names = 0;

const completion = (more = {}, own = {}) => ({
  own,
  say: (server, text, headers) => server.ask('POST', '/v1/chat/completions', { model: 'any', ...more, messages: [{ role: 'user', content: text }] }, { ...own, ...headers }),
});
const response = (more = {}) => ({
  say: (server, text, headers) => server.ask('POST', '/v1/responses', { model: 'any', ...more, input: text }, headers),
});
const message = (more = {}) => ({
  say: (server, text, headers) => server.ask('POST', '/v1/messages', { model: 'any', max_tokens: 100, ...more, messages: [{ role: 'user', content: text }] }, { 'anthropic-version': '2023-06-01', ...headers }),
});
const ollama = (more = {}) => ({
  say: (server, text, headers) => server.ask('POST', '/api/chat', { model: 'any', ...more, messages: [{ role: 'user', content: text }] }, headers),
});
const session = async (server) => (await server.ask('POST', '/v1/session', {})).json().session_id;

// A door says one text in a conversation of its own, or in the one that is given.
const doors = {
  'a completion': completion(),
  'a streamed completion': completion({ stream: true }),
  "an agent's completion": completion({}, { 'x-osaurus-agent-id': 'butler' }),
  'a response': response(),
  'a streamed response': response({ stream: true }),
  "a response's stored conversation": { say: (server, text, headers) => response({ conversation: `conv-${++names}` }).say(server, text, headers) },
  'a message': message(),
  'a streamed message': message({ stream: true }),
  "a chat of Ollama's API": ollama({ stream: false }),
  "a streamed chat of Ollama's API": ollama(),
  'a completion with history': { ...completion(), keeps: true,
    say: (server, text, headers, id = `named-${++names}`) => completion().say(server, text, { 'x-session-id': id, 'x-session-history': 'on', ...headers }) },
  'Cortex': { keeps: true, say: async (server, text, headers, id) =>
    server.ask('POST', '/v1/chat', { session_id: id ?? await session(server), message: text }, headers) },
  'Cortex, streamed': { keeps: true, say: async (server, text, headers, id) =>
    server.ask('POST', '/v1/chat', { session_id: id ?? await session(server), message: text, config: { stream: true } }, headers) },
  'agents in envelopes': { keeps: true, say: async (server, text, headers, id) =>
    server.ask('POST', '/a2a/conversation/chat', { envelope, action: 'chat', session_id: id ?? await session(server), message: text, user_id: 'local' }, headers) },
};

const switches = {
  none: { headers: {}, recalls: true, keeps: true },
  full: { headers: { 'x-memory-mode': 'FULL' }, recalls: true, keeps: true },
  readonly: { headers: { 'x-memory-mode': 'readonly' }, recalls: true, keeps: false },
  after: { headers: { 'x-memory-mode': 'after' }, recalls: false, keeps: true },
  off: { headers: { 'x-memory-mode': 'off' }, recalls: false, keeps: false },
  'no memory': { headers: { 'x-omniroute-no-memory': 'true' }, recalls: false, keeps: false },
  'no memory wins': { headers: { 'x-omniroute-no-memory': '1', 'x-memory-mode': 'full' }, recalls: false, keeps: false },
  'no memory: false': { headers: { 'x-omniroute-no-memory': 'false' }, recalls: true, keeps: true },
  'enabled: false': { headers: {}, enabled: false, recalls: false, keeps: false },
};

for (const [name, door] of Object.entries(doors)) {
  test(`every switch means the same: ${name}`, async (t) => {
    const model = await upstream(t, (req, res, asked) => (asked.url.startsWith('/api/') ? answerOllama : answer)(res, asked, 'fine'));
    const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-dialect', 'ollama'] });
    const say = async (text, headers, id) => {
      const res = await door.say(server, text, headers, id);
      assert.equal(res.status, 200, res.text);
      return { res, given: JSON.stringify(model.last().json) };
    };
    const set = async (enabled) => assert.equal((await server.ask('PUT', '/memory/config', { enabled })).status, 200);
    // A completion is kept behind its answer, so what was said last is looked for until it is there.
    const kept = async (marker, want) => {
      const look = async () => new RegExp(`(Philippa|number )${marker === "Philippa" ? "" : marker}`).test((await server.ask('POST', '/v1/memories/search', { query: `box ${marker}`, limit: 50 }, door.own)).text);
      if (want) return until(`${marker} is kept`, look);
      const last = await door.say(server, `My uncle has the box number end${marker}.`, {});
      assert.equal(last.status, 200);
      await until('a later turn is kept', async () => /end/.test((await server.ask('POST', '/v1/memories/search', { query: `box end${marker}`, limit: 50 }, door.own)).text));
      return look();
    };
    await say('My aunt Philippa collects harmonicas.', {});
    await kept('Philippa', true);
    let i = 0;
    for (const [how, one] of Object.entries(switches)) {
      const marker = `zq${'abcdefghijk'[i++]}x`;
      if (one.enabled === false) await set(false);
      const { given } = await say('What does my aunt Philippa collect?', one.headers);
      assert.equal(/harmonicas/.test(given), one.recalls, `${how}: recalls ${given}`);
      await say(`My uncle has the box number ${marker}.`, one.headers);
      if (one.enabled === false) await set(true);
      assert.equal(!!(await kept(marker, one.keeps)), one.keeps, `${how}: keeps`);
    }
    const before = model.asked.length;
    const bad = await door.say(server, 'x', { 'x-memory-mode': 'sometimes' });
    assert.equal(bad.status, 400, bad.text);
    assert.match(bad.text, /X-Memory-Mode: must be one of: full, readonly, after, off/);
    assert.equal(model.asked.length, before);
  });

  if (!door.keeps) continue;
  test(`a session that the server keeps goes on while memory is off, and is never learnt from: ${name}`, async (t) => {
    const model = await upstream(t);
    const server = await serve(t, { flags: ['--upstream', model.url] });
    const given = () => JSON.stringify(model.last().json);
    const set = async (enabled) => assert.equal((await server.ask('PUT', '/memory/config', { enabled })).status, 200);
    const id = await session(server);
    await set(false);
    assert.equal((await door.say(server, 'I keep the harmonicas in the blue chest.', {}, id)).status, 200);
    assert.equal((await door.say(server, 'Where did I say they are?', {}, id)).status, 200);
    assert.match(given(), /blue chest/, 'the conversation itself is shown');
    assert.equal((await server.ask('GET', `/v1/session/${id}/history`)).json().messages.length, 4);
    await set(true);
    await door.say(server, 'Where do I keep the harmonicas?', {});
    assert.doesNotMatch(given(), /blue chest/, 'said while memory was off');
    assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0);
    // One request without memory neither shows the session nor is kept in it.
    const { messages } = (await server.ask('GET', `/v1/session/${id}/history`)).json();
    for (const headers of [{ 'x-memory-mode': 'off' }, { 'x-omniroute-no-memory': 'true' }]) {
      assert.equal((await door.say(server, 'Between us: the lock is broken.', headers, id)).status, 200);
      assert.doesNotMatch(given(), /blue chest/);
    }
    assert.equal((await door.say(server, 'And this?', { 'x-memory-mode': 'readonly' }, id)).status, 200);
    assert.match(given(), /blue chest/);
    assert.deepEqual((await server.ask('GET', `/v1/session/${id}/history`)).json().messages, messages);
  });
}

test('what is written explicitly is kept while memory is off, at every door but the one that learns', async (t) => {
  const server = await serve(t, { flags: ['--memory', 'off'] });
  const writes = [['/v1/memories', { content: 'one' }], ['/api/memory', { content: 'two' }], ['/api/v1/memory', { content: 'three' }], ['/v1/memory/save', { content: 'four' }],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_add', arguments: { content: 'five' } } }]];
  for (const [path, body] of writes) {
    const res = await server.ask('POST', path, body);
    assert.ok(res.status < 300 && !/isError":true/.test(res.text), `${path}: ${res.text}`);
  }
  const { memories } = (await server.ask('GET', '/v1/memories')).json();
  assert.deepEqual(memories.map((m) => m.content).sort(), ['five', 'four', 'one', 'three', 'two']);
  const ingest = await server.ask('POST', '/memory/ingest', { agent_id: 'a', conversation_id: 'c', turns: [{ user: 'x', assistant: 'y' }] });
  assert.equal(ingest.status, 503, ingest.text);
  assert.equal(ingest.json().error, 'memory_disabled');
});
