// omniroute_settings.test.js - the settings of memory and of Qdrant over REST: every field, default, range and error; they act at once.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { embedder } = require('./embedder');
const { run, serve, until } = require('./lib');
const { QdrantStandIn } = require('./qdrant_standin.js');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const M = '/api/settings/memory', Q = '/api/settings/qdrant';
const defaults = { enabled: true, maxTokens: 2000, retentionDays: 30, strategy: 'hybrid', skillsEnabled: false, embeddingSource: 'auto',
  embeddingProviderModel: null, transformersEnabled: false, staticEnabled: false, rerankEnabled: false, rerankProviderModel: null,
  vectorStore: 'auto' };
const qdrantDefaults = { enabled: false, host: '', port: 6333, collection: 'omniroute_memory', embeddingModel: 'openai/text-embedding-3-small',
  quantization: 'none', hasApiKey: false, apiKeyMasked: null };

async function open(t, options) {
  const server = await serve(t, options);
  const ok = async (method, target, body) => {
    const res = await server.ask(method, target, body);
    assert.equal(res.status, 200, `${method} ${target}: ${res.text}`);
    return res.json();
  };
  return { server, data: server.data, ok };
}

async function isRefused(server, method, target, body, field) {
  const res = await server.ask(method, target, body);
  assert.equal(res.status, 400, `${target} ${JSON.stringify(body)}: ${res.text}`);
  const said = res.json();
  assert.equal(said.message, 'Invalid request');
  assert.deepEqual(said.details.map((one) => one.field), [field]);
  assert.deepEqual(said.error.details, said.details);
  assert.match(said.requestId, uuid);
}

test('memory has twelve settings; each is changed by itself and stays', async (t) => {
  const { server, data, ok } = await open(t);
  assert.deepEqual(await ok('GET', M), defaults);
  assert.deepEqual(Object.keys(await ok('GET', M)), Object.keys(defaults));
  const changes = [{ enabled: false }, { maxTokens: 0 }, { maxTokens: 16000 }, { retentionDays: 1 }, { retentionDays: 365 }, { strategy: 'recent' },
    { strategy: 'semantic' }, { skillsEnabled: true }, { embeddingSource: 'static' }, { embeddingSource: 'transformers' },
    { embeddingSource: 'remote' }, { embeddingProviderModel: 'openai/text-embedding-3-large' }, { transformersEnabled: true },
    { staticEnabled: true }, { rerankEnabled: true }, { rerankProviderModel: 'cohere/rerank-v3' }, { vectorStore: 'sqlite-vec' },
    { vectorStore: 'qdrant' }, { maxTokens: 5e2, retentionDays: 7, strategy: 'hybrid' }];
  let now = { ...defaults };
  for (const change of changes) {
    now = { ...now, ...change };
    assert.deepEqual(await ok('PUT', M, change), now);
    assert.deepEqual(await ok('GET', M), now, 'at once');
  }
  assert.deepEqual(await ok('PUT', M, {}), now);
  assert.equal((await server.stop()).code, 0);
  const again = await open(t, { data });
  assert.deepEqual(await again.ok('GET', M), now, 'after a restart');
  now = { ...now, embeddingProviderModel: null, rerankProviderModel: null };
  assert.deepEqual(await again.ok('PUT', M, { embeddingProviderModel: null, rerankProviderModel: null }), now);
});

test('what is out of range or unknown changes nothing', async (t) => {
  const { server, ok } = await open(t);
  const cases = [[{ maxTokens: -1 }, 'maxTokens'], [{ maxTokens: 16001 }, 'maxTokens'], [{ maxTokens: 1.5 }, 'maxTokens'],
    [{ maxTokens: '100' }, 'maxTokens'], [{ maxTokens: null }, 'maxTokens'], [{ enabled: null }, 'enabled'], [{ retentionDays: 0 }, 'retentionDays'], [{ retentionDays: 366 }, 'retentionDays'],
    [{ enabled: 'yes' }, 'enabled'], [{ enabled: 1 }, 'enabled'], [{ strategy: 'exact' }, 'strategy'], [{ embeddingSource: 'openai' }, 'embeddingSource'],
    [{ embeddingProviderModel: 7 }, 'embeddingProviderModel'], [{ vectorStore: 'pinecone' }, 'vectorStore'], [{ autoSummarize: true }, 'autoSummarize'],
    [{ maxTokens: 5, memoryEnabled: true }, 'memoryEnabled'], [{ maxTokens: 5, retentionDays: 900 }, 'retentionDays'], [[], '']];
  for (const [body, field] of cases) await isRefused(server, 'PUT', M, body, field);
  const res = await server.ask('PUT', M, '{"maxTokens":');
  assert.deepEqual([res.status, res.json().error.message], [400, 'Invalid JSON body']);
  assert.deepEqual(await ok('GET', M), defaults);
});

test('turned off, memory is neither given nor kept, until it is turned on again', async (t) => {
  const { server, ok } = await open(t);
  await server.tell('My dog is called Rex.');
  assert.equal((await ok('GET', '/api/memory?q=Rex')).total, 1);
  await ok('PUT', M, { enabled: false });
  const off = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'My cat is called Tom. What is my dog called?' }] });
  assert.equal(off.status, 200);
  assert.ok(!/Rex/.test(off.text));
  await ok('PUT', M, { enabled: true });
  const said = await server.tell('What is my dog called?');
  assert.match((await server.receipt(said.headers['x-rememberd-receipt'])).block, /Rex/);
  assert.equal((await ok('GET', '/api/memory?q=Tom')).total, 0, 'what was said meanwhile was not kept');
  await ok('PUT', M, { maxTokens: 0 });
  const none = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'What was my dog called again?' }] });
  assert.equal(none.status, 200);
  assert.ok(!/Rex/.test(none.text), 'no tokens, no memory');
});

test('the flag --memory off is where the setting starts', async (t) => {
  const { ok } = await open(t, { flags: ['--memory', 'off'] });
  assert.equal((await ok('GET', M)).enabled, false);
  assert.equal((await ok('PUT', M, { enabled: true })).enabled, true);
});

test('Qdrant\'s settings: defaults, changes, and a key that is never shown', async (t) => {
  const { server, data, ok } = await open(t);
  assert.deepEqual(await ok('GET', Q), qdrantDefaults);
  assert.deepEqual(Object.keys(await ok('GET', Q)), Object.keys(qdrantDefaults));
  let now = { ...qdrantDefaults };
  for (const change of [{ host: 'http://127.0.0.1' }, { port: 1 }, { port: 65535 }, { collection: 'my_memories' }, { embeddingModel: 'emb/tiny' },
    { quantization: 'int8' }, { quantization: 'binary' }, { quantization: 'none' }]) {
    now = { ...now, ...change };
    assert.deepEqual(await ok('PUT', Q, change), now);
  }
  for (const [apiKey, apiKeyMasked] of [['abcd', '***'], ['12345678901', '***'], ['123456789012', '***9012'], ['a-long-secret-key-wxyz', '***wxyz']]) {
    const shown = await ok('PUT', Q, { apiKey });
    assert.deepEqual(shown, { ...now, hasApiKey: true, apiKeyMasked });
    assert.ok(!JSON.stringify(shown).includes(apiKey));
  }
  assert.equal((await ok('PUT', Q, { collection: 'my_memories' })).hasApiKey, true, 'it stays when it is not named');
  await isRefused(server, 'PUT', Q, { port: 6334 }, 'apiKey');
  assert.equal((await ok('PUT', Q, { port: 6334, apiKey: 'a-long-secret-key-wxyz' })).port, 6334);
  assert.equal((await server.stop()).code, 0);
  const again = await open(t, { data });
  assert.equal((await again.ok('GET', Q)).apiKeyMasked, '***wxyz');
  assert.deepEqual(await again.ok('PUT', Q, { apiKey: '' }), { ...now, port: 6334 }, 'an empty one removes it');
  const cases = [[{ port: 0 }, 'port'], [{ port: 65536 }, 'port'], [{ port: '6333' }, 'port'], [{ port: null }, 'port'], [{ collection: '' }, 'collection'],
    [{ embeddingModel: '' }, 'embeddingModel'], [{ quantization: 'int4' }, 'quantization'], [{ enabled: 'true' }, 'enabled'], [{ host: 7 }, 'host'],
    [{ apiKey: 7 }, 'apiKey'], [{ hasApiKey: true }, 'hasApiKey'], [{ url: 'x' }, 'url']];
  for (const [body, field] of cases) await isRefused(again.server, 'PUT', Q, body, field);
  assert.equal((await again.ok('GET', Q)).port, 6334);
});

test('without Qdrant its tools say so', async (t) => {
  const { server, ok } = await open(t);
  const health = await ok('GET', `${Q}/health`);
  assert.deepEqual(health, { ok: false, latencyMs: 0, error: 'not_configured' });
  assert.deepEqual(await ok('POST', `${Q}/search`, { query: 'x' }), { ok: false, results: [], error: 'not_configured' });
  assert.deepEqual(await ok('POST', `${Q}/cleanup`), { ok: false, deletedCount: 0, retentionDays: 30, error: 'not_configured' });
  for (const [body, field] of [[{}, 'query'], [{ query: '' }, 'query'], [{ query: 'x', topK: 0 }, 'topK'], [{ query: 'x', topK: 51 }, 'topK'],
    [{ query: 'x', topK: '5' }, 'topK'], [{ query: 'x', limit: 5 }, 'limit']]) await isRefused(server, 'POST', `${Q}/search`, body, field);
  // A server that is not there.
  const gone = await new QdrantStandIn().start();
  await gone.stop();
  await ok('PUT', Q, { enabled: true, host: '127.0.0.1', port: gone.port });
  const dead = await ok('GET', `${Q}/health`);
  assert.equal(dead.ok, false);
  assert.ok(dead.error.length > 5);
  const { qdrant } = await ok('GET', '/api/memory/engine-status');
  assert.deepEqual([qdrant.enabled, qdrant.healthy], [true, false]);
  assert.ok(qdrant.error.length > 5);
});

test('models for embeddings, by name, the default always among them', async (t) => {
  const { ok } = await open(t);
  const { models } = await ok('GET', `${Q}/embedding-models`);
  const values = models.map((one) => one.value);
  assert.deepEqual(values, [...new Set(values)].sort());
  assert.ok(values.includes('openai/text-embedding-3-small'));
  for (const one of models) {
    assert.deepEqual(Object.keys(one), ['value', 'label']);
    assert.match(one.value, /^[^/]+\/.+/);
    assert.ok(one.label.includes(one.value));
  }
});

// A server with a source of vectors, and a Qdrant that follows it.
async function mirrored(t) {
  const source = await embedder(t), standIn = await new QdrantStandIn({ apiKey: 'the-key-of-qdrant' }).start();
  t.after(() => standIn.stop());
  const { server, ok } = await open(t, { flags: ['--upstream', `emb=${source.url}`] });
  const status = () => ok('GET', '/api/memory/engine-status');
  assert.deepEqual((await ok('PUT', Q, { enabled: true, host: standIn.url, embeddingModel: 'emb/tiny', apiKey: 'the-key-of-qdrant' })).hasApiKey, true);
  return { server, ok, status, standIn };
}

test('with Qdrant its tools work, on what is the caller\'s', async (t) => {
  const { server, ok, status, standIn } = await mirrored(t);
  const add = async (body) => (await ok('POST', '/api/memory', body)).memory;
  const dog = await add({ content: 'The dog is called Rex.', key: 'dog' });
  await add({ content: 'The car is red.', key: 'car', apiKeyId: 'key-a' });
  await add({ content: 'Tea is a drink.', key: 'tea', expiresAt: '2020-01-01' });
  await until('mirrored', async () => (await status()).qdrant.pending === 0);
  const { qdrant } = await status();
  assert.deepEqual([qdrant.enabled, qdrant.healthy, qdrant.error], [true, true, null]);
  assert.ok(qdrant.latencyMs > 0);
  const health = await ok('GET', `${Q}/health`);
  assert.deepEqual([Object.keys(health), health.ok], [['ok', 'latencyMs'], true]);
  assert.ok(health.latencyMs > 0);

  const found = await ok('POST', `${Q}/search`, { query: 'my pup' });
  assert.equal(found.ok, true);
  assert.equal(found.results[0].id, dog.id);
  assert.deepEqual(Object.keys(found.results[0]), ['id', 'score', 'payload']);
  assert.ok(found.results[0].score > 0.5);
  assert.equal(typeof found.results[0].payload, 'object');
  assert.equal((await ok('POST', `${Q}/search`, { query: 'automobile' })).results[0].payload.content, 'The car is red.', 'in every space');
  assert.equal((await ok('POST', `${Q}/search`, { query: 'my pup', topK: 1 })).results.length, 1);

  for (let i = 0; i < 30; i++) await add({ content: `The hound number ${i}.`, key: `h${i}`, apiKeyId: 'key-b' });
  await until('mirrored as well', async () => (await status()).qdrant.pending === 0);
  assert.ok((await ok('POST', `${Q}/search`, { query: 'my pup', topK: 50 })).results.length > 30, 'as many as are asked for');
  assert.equal((await ok('DELETE', '/api/memory?apiKeyId=key-b')).deletedCount, 30);
  await until('gone again', async () => (await status()).qdrant.pending === 0);

  // Another user's admin finds nothing of it, and cleans nothing of it up.
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--admin', '--user', 'bob', '--data', server.data])).stdout);
  const mine = JSON.parse((await run(['token', 'create', '--json', '--admin', '--data', server.data])).stdout).token;
  const as = async (one, method, path, body) => (await server.ask(method, path, body, { authorization: `Bearer ${one}` })).json();
  await until('a token is needed', async () => (await server.ask('GET', M)).status === 401);
  assert.deepEqual(await as(token, 'POST', `${Q}/search`, { query: 'my pup' }), { ok: true, results: [] });
  assert.deepEqual(await as(token, 'POST', `${Q}/cleanup`), { ok: true, deletedCount: 0, retentionDays: 30 });
  const held = () => [...standIn.collections.values()].reduce((sum, one) => sum + one.points.size, 0);
  assert.equal(held(), 3);
  assert.deepEqual(await as(mine, 'POST', `${Q}/cleanup`), { ok: true, deletedCount: 1, retentionDays: 30 });
  assert.equal(held(), 2);
  await as(mine, 'DELETE', `/api/memory/${dog.id}`);
  await until('gone there, too', () => held() === 1);
});
