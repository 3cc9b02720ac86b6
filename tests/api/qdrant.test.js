// qdrant.test.js - Qdrant as the second tier: what the store knows is there, its own client agrees, and its failures cost nothing.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { QdrantClient } = require('@qdrant/js-client-rest');
const { serve, until, upstream, within } = require('./lib');
const { QdrantStandIn } = require('./qdrant_standin.js');

// --- a maker of vectors: words are counted in 32 places, so that texts with the same words are near ---

const SIZE = 32;
function vectorOf(text) {
  const v = new Array(SIZE).fill(0);
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? []) {
    let h = 7;
    for (const c of word) h = (h * 31 + c.charCodeAt(0)) >>> 0;
    v[h % SIZE] += 1;
  }
  return v;
}
let notes = 0;
const unit = (v) => v.map((x) => x / Math.hypot(...v));

// It refuses what is unreadable, and keeps the first answer for what is sluggish back until it is released.
async function embeddings(t) {
  const held = { release: null };
  const server = await upstream(t, (req, res, asked) => {
    assert.equal(req.url, '/v1/embeddings');
    assert.equal(asked.json.model, 'words');
    const texts = [asked.json.input].flat();
    if (texts.some((text) => text.includes('unreadable'))) return res.writeHead(400).end('{"error": {"message": "what is that?"}}');
    const data = texts.map((input, index) => ({ object: 'embedding', index, embedding: vectorOf(input) }));
    const send = () => res.writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ object: 'list', data, model: 'words', usage: { prompt_tokens: 1, total_tokens: 1 } }));
    if (held.release || !texts.some((text) => text.includes('\n\nsluggish'))) return send();
    held.release = send;
  });
  return Object.assign(server, { held });
}

// --- both together ---

async function setting(t, { options, on = true, more = {}, start = [] } = {}) {
  const maker = await embeddings(t);
  const qdrant = await new QdrantStandIn(options).start();
  t.after(() => qdrant.stop());
  const flags = ['--upstream', `maker=${maker.url}`, '--embedding-source', 'remote', '--embedding-model', 'maker/words', ...start];
  const server = await serve(t, { flags });
  const ok = async (method, path, body) => {
    const res = await server.ask(method, path, body);
    assert.equal(res.status, 200, `${method} ${path}: ${res.text}`);
    return res.json();
  };
  const s = { server, flags, qdrant, ok, held: maker.held,
    client: new QdrantClient({ url: qdrant.url, checkCompatibility: false, ...(options?.apiKey ? { apiKey: options.apiKey } : {}) }),
    add: async (body) => (await ok('POST', '/api/memory', { key: `note ${notes++}`, ...body })).memory,
    change: (settings) => ok('PUT', '/api/settings/qdrant', settings),
    status: async () => (await ok('GET', '/api/memory/engine-status')).qdrant,
    preview: (query, rest = {}) => ok('POST', '/api/memory/retrieve-preview', { query, strategy: 'semantic', ...rest }),
    points: async () => {
      const { points } = await s.client.scroll('mem', { limit: 1000, with_vector: true });
      return new Map(points.map((p) => [p.payload.memoryId, p]));
    },
    inStep: () => until('Qdrant in step', async () => { const now = await s.status(); return now.pending === 0 && now.healthy && now; }, 20000) };
  if (on) await s.change({ enabled: true, host: '127.0.0.1', port: qdrant.port, collection: 'mem', embeddingModel: 'maker/words', ...more });
  return s;
}

const textOf = (memory) => (memory.key ? `${memory.key}\n\n${memory.content}` : memory.content);
const close = (a, b) => assert.ok(a.length === b.length && a.every((x, i) => Math.abs(x - b[i]) < 1e-5), `${a} is not ${b}`);

function agrees(point, memory) {
  assert.equal(point.id, memory.id);
  assert.deepEqual(point.payload, { kind: 'omniroute_memory', memoryId: memory.id, userId: 'local', apiKeyId: memory.apiKeyId,
    sessionId: memory.sessionId, type: memory.type, key: memory.key, content: memory.content, metadata: memory.metadata,
    createdAtUnix: Math.floor(Date.parse(memory.createdAt) / 1000),
    expiresAtUnix: memory.expiresAt ? Math.floor(Date.parse(memory.expiresAt) / 1000) : null });
  close(point.vector, unit(vectorOf(textOf(memory))));
}

test('what is kept, changed, deleted and cleared is so there, and its own client agrees', async (t) => {
  const s = await setting(t);
  const made = [
    await s.add({ key: 'pet', content: 'Rex is a "dog"\nwith ünïcode 🐕', type: 'semantic', sessionId: 's1', apiKeyId: 'key-a', metadata: { a: [1, { b: null }] } }),
    await s.add({ key: 'drink', content: 'tea without milk', expiresAt: '2090-01-02T03:04:05.678Z' }),
    await s.add({ key: 'city', content: 'lives in Oslo', apiKeyId: 'key-b', type: 'procedural' }),
  ];
  await s.inStep();
  let points = await s.points();
  assert.equal(points.size, 3);
  for (const memory of made) agrees(points.get(memory.id), memory);
  const info = await s.client.getCollection('mem');
  assert.deepEqual(info.config.params.vectors, { size: SIZE, distance: 'Cosine' });
  assert.deepEqual(Object.keys(info.payload_schema).sort(), ['apiKeyId', 'createdAtUnix', 'expiresAtUnix', 'kind', 'sessionId', 'userId']);

  await s.ok('PUT', `/api/memory/${made[0].id}`, { content: 'Rex is a cat', metadata: { changed: true } });
  await s.ok('DELETE', `/api/memory/${made[1].id}`);
  await s.add({ key: 'city', content: 'lives in Rome', apiKeyId: 'key-b', type: 'procedural' });
  await s.inStep();
  points = await s.points();
  assert.deepEqual([...points.keys()].sort(), [made[0].id, made[2].id].sort());
  for (const id of points.keys()) agrees(points.get(id), (await s.ok('GET', `/api/memory/${id}`)).memory);
  assert.equal(points.get(made[2].id).payload.content, 'lives in Rome');

  await s.ok('DELETE', '/api/memory?apiKeyId=key-a');
  await s.inStep();
  assert.deepEqual(await s.client.count('mem', { exact: true }), { count: 1 });
});

test('a collection with named vectors, quantised, in strict mode', async (t) => {
  const s = await setting(t, { on: false, options: { isStrict: true, apiKey: 'key' } });
  await s.client.createCollection('mem', { vectors: { text: { size: SIZE, distance: 'Cosine' } } });
  for (const name of ['kind', 'userId', 'apiKeyId', 'sessionId']) await s.client.createPayloadIndex('mem', { field_name: name, field_schema: 'keyword' });
  for (const name of ['createdAtUnix', 'expiresAtUnix']) await s.client.createPayloadIndex('mem', { field_name: name, field_schema: 'integer' });
  await s.change({ enabled: true, host: s.qdrant.url, collection: 'mem', embeddingModel: 'maker/words', apiKey: 'key', quantization: 'binary' });
  const memory = await s.add({ content: 'green tea' });
  await s.inStep();
  const [point] = (await s.points()).values();
  agrees({ ...point, vector: point.vector.text }, memory);
  const { results } = await s.ok('POST', '/api/settings/qdrant/search', { query: 'green tea' });
  assert.equal(results[0].id, memory.id);
  const query = s.qdrant.asked.findLast((one) => one.url.endsWith('/points/query'));
  assert.deepEqual([JSON.parse(query.body).using, JSON.parse(query.body).params], ['text', { quantization: { rescore: true } }]);
  assert.deepEqual(await s.ok('POST', '/api/settings/qdrant/cleanup'), { ok: true, deletedCount: 0, retentionDays: 30 });

  // And one that rememberd makes there.
  await s.change({ collection: 'other', quantization: 'int8' });
  await s.inStep();
  assert.deepEqual((await s.client.getCollection('other')).config.quantization_config, { scalar: { type: 'int8', quantile: 0.99, always_ram: true } });
  assert.equal((await s.ok('POST', '/api/settings/qdrant/search', { query: 'green tea' })).results[0].id, memory.id);
  assert.ok(s.qdrant.asked.every((one) => one.key === 'key' || one.key === undefined));
});

test('a server before 1.10 is searched, too', async (t) => {
  const s = await setting(t, { options: { lacks: ['/points/query'] } });
  const memory = await s.add({ content: 'green tea' });
  await s.inStep();
  const { ok, results } = await s.ok('POST', '/api/settings/qdrant/search', { query: 'tea', topK: 3 });
  assert.deepEqual([ok, results.map((one) => one.id), results[0].payload.content], [true, [memory.id], 'green tea']);
});

test('retrieval asks it, bound to the owner, without what has expired', async (t) => {
  const s = await setting(t);
  await s.ok('PUT', '/api/settings/memory', { vectorStore: 'qdrant' });
  const near = await s.add({ content: 'the tea is green', apiKeyId: 'key-b' });
  const mine = await s.add({ content: 'coffee and tea', apiKeyId: 'key-a' });
  // What was just added is found: a search brings it there first.
  const a = await s.preview('the tea is green', { apiKeyId: 'key-a' });
  assert.deepEqual(a.memories.map((m) => [m.id, m.tier]), [[mine.id, 'qdrant']]);
  assert.deepEqual([a.resolution.vectorStore, a.resolution.embeddingSource, a.resolution.embeddingModel], ['qdrant', 'remote', 'words']);
  close([a.memories[0].vecScore], [unit(vectorOf('the tea is green')).reduce((sum, x, i) => sum + x * unit(vectorOf(textOf(mine)))[i], 0)]);
  assert.deepEqual((await s.preview('the tea is green')).memories.map((m) => m.id), [near.id, mine.id]);
  // Points that the store does not know, or knows better, are never shown.
  await s.inStep();
  const strange = { kind: 'omniroute_memory', userId: 'local', apiKeyId: 'key-a', memoryId: '0b6ab4ea-8d0c-4a37-9b4e-000000000001', content: 'the tea is green' };
  const other = { ...strange, userId: 'mallory', memoryId: mine.id };
  await s.client.upsert('mem', { wait: true, points: [{ id: 1, vector: vectorOf('the tea is green'), payload: strange }, { id: 2, vector: vectorOf('the tea is green'), payload: other }] });
  assert.deepEqual((await s.preview('the tea is green', { apiKeyId: 'key-a' })).memories.map((m) => m.id), [mine.id]);
  const soon = await s.add({ content: 'the tea is green today', apiKeyId: 'key-a', expiresAt: new Date(Date.now() + 1500).toISOString() });
  assert.ok((await s.preview('the tea is green', { apiKeyId: 'key-a' })).memories.some((m) => m.id === soon.id));
  await until('it expires', async () => !(await s.preview('the tea is green', { apiKeyId: 'key-a' })).memories.some((m) => m.id === soon.id));
  const status = await s.ok('GET', '/api/memory/engine-status');
  assert.equal(status.vectorStore.backend, 'qdrant');
});

test('its search, health and cleanup by themselves', async (t) => {
  const s = await setting(t, { on: false });
  const off = await s.ok('GET', '/api/settings/qdrant/health');
  assert.deepEqual([off.ok, off.latencyMs, off.error], [false, 0, 'not_configured']);
  assert.deepEqual((await s.ok('POST', '/api/settings/qdrant/search', { query: 'x' })).results, []);
  assert.equal(s.qdrant.asked.length, 0);
  await s.change({ enabled: true, host: '127.0.0.1', port: s.qdrant.port, collection: 'mem', embeddingModel: 'maker/words' });
  const well = await s.ok('GET', '/api/settings/qdrant/health');
  assert.ok(well.ok && well.latencyMs >= 0 && well.error === undefined);
  for (let i = 0; i < 30; i++) await s.add({ content: `tea number ${i}` });
  await s.inStep();
  // No hidden cap of twenty.
  assert.equal((await s.ok('POST', '/api/settings/qdrant/search', { query: 'tea', topK: 25 })).results.length, 25);

  const now = Math.floor(Date.now() / 1000), day = 86400;
  const old = { kind: 'omniroute_memory', userId: 'local', apiKeyId: 'default', memoryId: 'm', createdAtUnix: now - 31 * day, expiresAtUnix: null };
  await s.client.upsert('mem', { wait: true, points: [
    { id: 1, vector: vectorOf('a'), payload: old },
    { id: 2, vector: vectorOf('a'), payload: { ...old, createdAtUnix: now, expiresAtUnix: now - 10 } },
    { id: 3, vector: vectorOf('a'), payload: { ...old, createdAtUnix: now - 29 * day, expiresAtUnix: now + day } },
    { id: 4, vector: vectorOf('a'), payload: { ...old, userId: 'someone' } },
    { id: 5, vector: vectorOf('a'), payload: { ...old, kind: 'other' } }] });
  assert.deepEqual(await s.ok('POST', '/api/settings/qdrant/cleanup'), { ok: true, deletedCount: 2, retentionDays: 30 });
  assert.deepEqual((await s.client.scroll('mem', { limit: 5, with_payload: false })).points.slice(0, 3).map((p) => p.id), [3, 4, 5]);
  await s.ok('PUT', '/api/settings/memory', { retentionDays: 28 });
  assert.equal((await s.ok('POST', '/api/settings/qdrant/cleanup')).deletedCount, 1);
});

test('the same over rememberd\'s own API, whose failures are problems', async (t) => {
  const s = await setting(t, { on: false });
  for (const path of ['/v1/engine/qdrant/search', '/v1/engine/qdrant/cleanup']) {
    const off = await s.server.ask('POST', path, path.endsWith('search') ? { query: 'x' } : undefined);
    assert.equal(off.status, 501);
    assert.match(off.json().detail, /set qdrant_enabled and qdrant_host first/);
  }
  assert.deepEqual((await s.ok('GET', '/v1/engine')).qdrant, { enabled: false, available: false, latency_ms: null, waiting: 0, error: '', note: '' });
  await s.change({ enabled: true, host: '127.0.0.1', port: s.qdrant.port, collection: 'mem', embeddingModel: 'maker/words' });
  const memory = await s.add({ content: 'green tea' });
  await s.inStep();
  const { results } = await s.ok('POST', '/v1/engine/qdrant/search', { query: 'green tea', limit: 3 });
  assert.deepEqual(results.map((r) => [r.id, r.payload.content]), [[memory.id, 'green tea']]);
  const old = { kind: 'omniroute_memory', userId: 'local', apiKeyId: 'default', memoryId: 'm', createdAtUnix: 1e9, expiresAtUnix: null };
  await s.client.upsert('mem', { wait: true, points: [{ id: 1, vector: vectorOf('a'), payload: old }] });
  assert.deepEqual(await s.ok('POST', '/v1/engine/qdrant/cleanup'), { erased: 1, retention_days: 30 });
  // Qdrant may have the vector a moment before the store has it.
  const parts = await until('the vector is stored', async () => { const now = await s.ok('GET', '/v1/engine'); return now.vectors.rows > 0 && now; });
  assert.deepEqual([parts.words.available, parts.embedding.source, parts.embedding.model, parts.vectors.store, parts.vectors.rows], [true, 'remote', 'words', 'sqlite-vec', 1]);
  assert.ok(parts.qdrant.enabled && parts.qdrant.available && parts.qdrant.latency_ms > 0);
  await s.qdrant.stop();
  const gone = await s.server.ask('POST', '/v1/engine/qdrant/search', { query: 'green tea' });
  assert.ok(gone.status >= 502, gone.text);
  assert.match((await s.ok('GET', '/v1/engine')).qdrant.error, /^Qdrant: no answer/);
});

test('a search by a named strategy says how it was found', async (t) => {
  const s = await setting(t, { on: false });
  for (const content of ['green tea in the morning', 'the dog sleeps', 'a walk at noon']) await s.add({ content });
  await until('vectors', async () => (await s.ok('GET', '/v1/engine')).vectors.rows === 3);
  const by = async (strategy, more) => s.ok('POST', '/v1/memories/search', { query: 'green tea', kind: 'memory', strategy, explain: true, ...more });
  const hybrid = await by('hybrid'), semantic = await by('semantic'), recent = await by('recent', { limit: 2 });
  assert.deepEqual([hybrid, semantic, recent].map((r) => r.steps.strategy), ['hybrid', 'semantic', 'recent']);
  assert.ok(hybrid.results[0].signals.share > 0 && semantic.results[0].signals.dense > 0);
  assert.deepEqual(recent.results.map((r) => r.text), ['a walk at noon', 'the dog sleeps']);
  assert.deepEqual([hybrid.steps.store, hybrid.steps.reranked], ['sqlite-vec', false]);
  const plain = await s.ok('POST', '/v1/memories/search', { query: 'green tea' });
  assert.equal(plain.steps, undefined);
  const wrong = await s.server.ask('POST', '/v1/memories/search', { query: 'x', strategy: 'exact' });
  assert.deepEqual([wrong.status, wrong.json().field], [400, 'strategy']);
});

test('down at the start, and down later: nothing is lost, and it catches up', async (t) => {
  const s = await setting(t);
  await s.qdrant.stop();
  const first = await s.add({ content: 'said while it was down' });
  const down = await until('the failure is told', async () => { const now = await s.status(); return now.error && now; });
  assert.deepEqual([down.enabled, down.healthy, down.pending], [true, false, 1]);
  assert.match(down.error, /^Qdrant: no answer/);
  assert.deepEqual((await s.preview('while it was down')).memories.map((m) => [m.id, m.tier]), [[first.id, 'vector']]);
  await s.qdrant.start();
  await s.inStep();
  assert.deepEqual([...(await s.points()).keys()], [first.id]);

  await s.qdrant.stop();
  const second = await s.add({ content: 'said while it was down again' });
  await s.ok('DELETE', `/api/memory/${first.id}`);
  await until('the failure is told', async () => (await s.status()).error);
  await s.qdrant.start();
  await s.inStep();
  assert.deepEqual([...(await s.points()).keys()], [second.id]);

  // And down while rememberd starts: what it is to do and why it could not yet are known still.
  await s.qdrant.stop();
  const third = await s.add({ content: 'said before the end' });
  await until('the failure is told', async () => (await s.status()).error);
  await s.server.stop();
  const again = await serve(t, { data: s.server.data, flags: s.flags });
  const ask = (method, path, body) => again.ask(method, path, body).then((res) => res.json());
  const fourth = await ask('POST', '/api/memory', { key: 'k', content: 'said after the start' });
  const { qdrant } = await ask('GET', '/api/memory/engine-status');
  assert.deepEqual([qdrant.healthy, qdrant.pending], [false, 2]);
  assert.match(qdrant.error, /^Qdrant: no answer/);
  await s.qdrant.start();
  await until('all are there', async () => (await ask('GET', '/api/memory/engine-status')).qdrant.pending === 0, 20000);
  assert.deepEqual([...(await s.points()).keys()].sort(), [second.id, third.id, fourth.id].sort());
});

test('a slow one costs one search two seconds, and the next ones nothing', async (t) => {
  const s = await setting(t);
  const memory = await s.add({ content: 'green tea' });
  await s.inStep();
  await s.ok('PUT', '/api/settings/memory', { vectorStore: 'qdrant' });
  const answers = async () => {
    s.qdrant.delayMs = 0;
    await s.inStep();
    s.qdrant.delayMs = 5000;
  };
  await within(3500, async () => {
    const slow = await s.preview('green tea');
    assert.deepEqual(slow.memories.map((m) => [m.id, m.tier]), [[memory.id, 'vector']]);
    assert.match(slow.resolution.fallbackReason, /Qdrant: no answer in time/);
  }, answers);
  await within(1500, async () => {
    const next = await s.preview('green tea');
    assert.match(next.resolution.fallbackReason, /circuit open, not retried for/);
    assert.deepEqual(next.memories.map((m) => m.id), [memory.id]);
  });
});

test('qdrant_timeout_ms is how long a write may take', async (t) => {
  const s = await setting(t, { start: ['--qdrant-timeout-ms', '9000'] });
  s.qdrant.delayMs = (req) => (/\/points\?/.test(req.url) && req.method === 'PUT' ? 6000 : 0);
  const memory = await s.add({ content: 'green tea' });
  const now = await s.inStep();
  assert.equal(now.lastError ?? null, null);
  assert.deepEqual([...(await s.points()).keys()], [memory.id]);
  assert.equal(s.qdrant.asked.filter(({ method, url }) => method === 'PUT' && /\/points\?/.test(url)).length, 1);
});

test('a collection that someone deletes is made anew', async (t) => {
  const s = await setting(t);
  const made = [];
  for (let i = 0; i < 5; i++) made.push((await s.add({ content: `tea number ${i}` })).id);
  await s.inStep();
  await s.client.deleteCollection('mem');
  made.push((await s.add({ content: 'tea number 6' })).id);
  await until('all are there again', async () => (await s.points().catch(() => new Map())).size === 6);
  assert.deepEqual([...(await s.points()).keys()].sort(), made.sort());
  await s.inStep();
  // Also when nothing is written, by the first search.
  await s.client.deleteCollection('mem');
  assert.equal((await s.preview('tea number 3')).memories.length, 6);
  await until('all are there again', async () => (await s.points().catch(() => new Map())).size === 6);
  // Also when the first write fails and the collection is there already.
  await s.inStep();
  await s.client.deleteCollection('mem');
  let fails = 1;
  s.qdrant.script = (req) => (req.method === 'PUT' && /points/.test(req.url) && fails-- > 0 ? { code: 500, text: 'no room' } : null);
  made.push((await s.add({ content: 'tea number 7' })).id);
  await until('all are there again', async () => (await s.points().catch(() => new Map())).size === 7);
  // And whatever else was done to it, by a reindex.
  await s.inStep();
  await s.client.delete('mem', { wait: true, points: made.slice(0, 3) });
  await s.ok('POST', '/api/memory/reindex', { force: true });
  await until('all are there again', async () => (await s.points()).size === 7);
});

test('a text that the model refuses holds up nobody', async (t) => {
  const s = await setting(t);
  await s.add({ content: 'an unreadable page' });
  const tea = await s.add({ content: 'green tea' });
  await until('only the other waits', async () => (await s.status()).pending === 1);
  assert.deepEqual([...(await s.points()).keys()], [tea.id]);
});

test('what one server erases, another does not bring back that has read it before', async (t) => {
  const s = await setting(t);
  await serve(t, { flags: s.flags, data: s.server.data });
  await s.add({ content: 'green tea' });
  await s.inStep();
  const memory = await s.add({ content: 'sluggish tea' });
  await until('one of them asks for its vector', () => s.held.release);
  await s.ok('DELETE', `/api/memory/${memory.id}`);
  await s.inStep(); // by the other one
  const puts = () => s.qdrant.asked.filter((one) => one.method === 'PUT' && one.body.includes('sluggish')).length;
  const before = puts();
  s.held.release();
  await until('it was put', () => puts() > before);
  await until('it is gone', async () => !(await s.points()).has(memory.id));
});

test('a collection of another size is told, and the queue stays', async (t) => {
  const s = await setting(t, { on: false });
  await s.client.createCollection('mem', { vectors: { size: 3, distance: 'Cosine' } });
  await s.change({ enabled: true, host: '127.0.0.1', port: s.qdrant.port, collection: 'mem', embeddingModel: 'maker/words' });
  const memory = await s.add({ content: 'green tea' });
  const wrong = await until('the failure is told', async () => { const now = await s.status(); return now.error && now; });
  assert.deepEqual([wrong.healthy, wrong.pending], [false, 1]);
  assert.match(wrong.error, /holds vectors of 3 numbers and the embedding model makes 32/);
  assert.deepEqual((await s.preview('green tea')).memories.map((m) => [m.id, m.tier]), [[memory.id, 'vector']]);
  await s.change({ collection: 'right' });
  await s.inStep();
  assert.deepEqual(await s.client.count('right'), { count: 1 });
});

test('a wrong key is told, is never shown, and the right one acts at once', async (t) => {
  const s = await setting(t, { options: { apiKey: 'the-right-key' }, more: { apiKey: 'a-wrong-secret' } });
  await s.add({ content: 'green tea' });
  const wrong = await until('the failure is told', async () => { const now = await s.status(); return now.error && now; });
  assert.deepEqual([wrong.healthy, wrong.error], [false, 'Qdrant answers 401: Invalid API key or JWT']);
  const health = await s.ok('GET', '/api/settings/qdrant/health');
  assert.deepEqual([health.ok, health.error], [false, 'Qdrant answers 401: Invalid API key or JWT']);
  const shown = [await s.ok('GET', '/api/settings/qdrant'), await s.ok('POST', '/api/settings/qdrant/search', { query: 'x' }), wrong, health];
  assert.ok(!JSON.stringify(shown).includes('a-wrong-secret') && !s.server.stderr.includes('a-wrong-secret'));
  await s.change({ apiKey: 'the-right-key' });
  await s.inStep();
  assert.deepEqual(await s.client.count('mem'), { count: 1 });
});

test('enabling brings 500 memories there, disabling stops, enabling again catches up', async (t) => {
  const s = await setting(t, { on: false });
  const made = [];
  for (let i = 0; i < 500; i += 20)
    made.push(...await Promise.all(Array.from({ length: 20 }, (_, k) => s.add({ content: `memory number ${i + k}`, apiKeyId: `key-${i % 3}` }))));
  await s.change({ enabled: true, host: '127.0.0.1', port: s.qdrant.port, collection: 'mem', embeddingModel: 'maker/words' });
  await s.inStep();
  const points = await s.points();
  assert.equal(points.size, 500);
  for (const memory of made) agrees(points.get(memory.id), memory);
  await s.change({ enabled: false });
  const later = await s.add({ content: 'said while it was off' });
  const gone = made[0].id;
  await s.ok('DELETE', `/api/memory/${gone}`);
  const asked = s.qdrant.asked.length;
  await s.ok('GET', '/api/memory/engine-status');
  assert.equal(s.qdrant.asked.length, asked);
  await s.change({ enabled: true });
  await s.inStep();
  const again = await s.points();
  assert.ok(again.has(later.id));
  assert.ok(!again.has(gone), 'what was deleted while it was off is deleted there');
  assert.equal(again.size, 500);
});
