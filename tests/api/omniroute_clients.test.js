// omniroute_clients.test.js - what OmniRoute's pages and its command line send, and what they read of the answers.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { serve } = require('./lib');

const json = { 'content-type': 'application/json' };

// As a page does it: fetch, and the body only when all is well.
async function page(t) {
  const server = await serve(t);
  const send = async (method, path, body) => {
    const res = await fetch(server.url + path, { method, ...(body === undefined ? {} : { headers: json, body: JSON.stringify(body) }) });
    return { ok: res.ok, status: res.status, data: await res.json().catch(() => null) };
  };
  const list = async (params) => (await send('GET', `/api/memory?${new URLSearchParams({ page: '1', limit: '20', ...params })}`)).data;
  return { server, send, list };
}

test('the page of memories: add, list, filter, edit, delete', async (t) => {
  const { send, list } = await page(t);
  for (let i = 0; i < 25; i++)
    assert.ok((await send('POST', '/api/memory', { type: i % 5 ? 'factual' : 'procedural', key: `key ${i}`, content: `Content ${i}` })).ok);
  const first = await list({});
  assert.deepEqual([first.data.length, first.total, first.totalPages, first.stats.total], [20, 25, 2, 25]);
  assert.ok(first.stats.tokensUsed > 0);
  assert.equal(first.stats.cacheStats.hits + first.stats.cacheStats.misses, 0, 'so the card of the hit rate is hidden');
  assert.equal((await list({ page: '2' })).data.length, 5);
  assert.equal((await list({ type: 'procedural' })).total, 5);
  assert.deepEqual((await list({ q: 'content 24' })).data.map((one) => one.key), ['key 24']);
  assert.deepEqual((await list({ type: 'episodic' })).data, []);

  const [shown] = first.data;
  const edit = (change) => send('PUT', `/api/memory/${shown.id}`, { type: shown.type, key: shown.key, content: shown.content,
    metadata: shown.metadata, ...change });
  assert.deepEqual(await edit({ content: 'Edited', metadata: { a: [1] } }), { ok: true, status: 200, data: { success: true } });
  const after = (await list({})).data[0];
  assert.deepEqual([after.id, after.content, after.metadata, after.createdAt], [shown.id, 'Edited', { a: [1] }, shown.createdAt]);
  const taken = await edit({ key: 'key 3' });
  assert.ok(!taken.ok && taken.data.error.message.length > 5, 'what the dialog shows');
  assert.ok((await send('DELETE', `/api/memory/${shown.id}`)).ok);
  assert.equal((await list({})).total, 24);
});

test('what the page exported is imported again', async (t) => {
  const { send, list } = await page(t);
  await send('POST', '/api/memory', { type: 'episodic', key: 'decision:postgres', content: 'Postgres', metadata: { category: 'decision' } });
  await send('POST', '/api/memory', { type: 'factual', key: 'preference:tea', content: 'Ada likes "tea".\nGreen.' });
  const file = JSON.parse(JSON.stringify((await list({})).data, null, 2));
  const other = await page(t);
  const entries = [...file, { key: 'old', content: 'of an old type', type: 'user', metadata: [1] }, { key: '', content: 'no key' }, null, { key: 'x' }];
  let imported = 0, skipped = 0;
  for (const one of entries) {
    const key = typeof one?.key === 'string' ? one.key.trim() : '', content = typeof one?.content === 'string' ? one.content : '';
    const type = ['factual', 'episodic', 'procedural', 'semantic'].includes(one?.type) ? one.type : 'factual';
    const metadata = one?.metadata && !Array.isArray(one.metadata) ? one.metadata : {};
    if (key && content && (await other.send('POST', '/api/memory', { type, key, content, metadata })).ok) imported++;
    else skipped++;
  }
  assert.deepEqual([imported, skipped], [3, 3]);
  const { data } = await other.list({});
  const plain = ({ type, key, content, metadata }) => ({ type, key, content, metadata });
  assert.deepEqual(data.slice(1).map(plain), file.map(plain).reverse());
  assert.deepEqual(plain(data[0]), { type: 'factual', key: 'old', content: 'of an old type', metadata: {} });
  assert.ok(data.every((one) => one.apiKeyId === 'default'), 'nothing is without an owner');
});

test('the page\'s health dot, its button to compact, and the playground', async (t) => {
  const { send, list } = await page(t);
  await send('POST', '/api/memory', { type: 'factual', key: 'dog', content: 'The dog is called Rex.' });
  for (let i = 0; i < 5; i++) assert.equal((await send('GET', '/api/memory/health')).data.working, true);
  const dry = await send('POST', '/api/memory/summarize', { dryRun: true, olderThanDays: 30 });
  assert.deepEqual(dry.data.candidates.map((one) => one.key), []);
  assert.ok((await send('POST', '/api/memory/summarize', { dryRun: false, olderThanDays: 30 })).ok);
  assert.equal((await list({})).total, 1, 'none of it left a trace');
  for (const strategy of ['exact', 'semantic', 'hybrid']) {
    const { data } = await send('POST', '/api/memory/retrieve-preview', { query: 'dog', strategy, maxTokens: 2000, limit: 20 });
    const [one] = data.memories;
    // The page writes these with toFixed.
    for (const name of ['score', 'tokens']) assert.equal(typeof one[name], 'number', name);
    for (const name of ['vecScore', 'ftsScore']) assert.ok(one[name] === null || typeof one[name] === 'number', name);
    assert.ok(['fts5', 'vector', 'hybrid-rrf', 'qdrant'].includes(one.tier));
    assert.ok(['exact', 'semantic', 'hybrid'].includes(data.resolution.strategyUsed));
    assert.ok(data.totalTokensUsed <= data.budgetMaxTokens);
  }
  const wrong = await send('POST', '/api/memory/retrieve-preview', { query: 'dog', strategy: 'hybrid', maxTokens: 20000, limit: 20 });
  assert.match(wrong.data.error.message, /maxTokens/);
});

test('the page of the engine: polling, sources, Qdrant and reranking', async (t) => {
  const { send } = await page(t);
  for (let i = 0; i < 3; i++) {
    const { data } = await send('GET', '/api/memory/engine-status');
    for (const part of ['embedding', 'vectorStore', 'rerank']) assert.equal(typeof data[part].reason, 'string', part);
  }
  const { providers } = (await send('GET', '/api/memory/embedding-providers')).data;
  assert.ok(providers.length > 0);
  const save = async (updates) => {
    assert.ok((await send('PUT', '/api/settings/memory', updates)).ok, JSON.stringify(updates));
    return (await send('GET', '/api/settings/memory')).data;
  };
  assert.equal((await save({ embeddingSource: 'transformers' })).embeddingSource, 'transformers');
  assert.equal((await save({ embeddingProviderModel: providers[0].models[0].id })).embeddingProviderModel, providers[0].models[0].id);
  assert.equal((await save({ embeddingProviderModel: null })).embeddingProviderModel, null, 'nothing chosen');
  assert.equal((await save({ staticEnabled: true })).staticEnabled, true);
  assert.equal((await save({ transformersEnabled: true })).transformersEnabled, true);
  assert.equal((await save({ rerankEnabled: true })).rerankEnabled, true);
  assert.equal((await save({ rerankProviderModel: null })).rerankProviderModel, null);
  // The settings page sends all it knows of.
  const all = (await send('GET', '/api/settings/memory')).data;
  assert.deepEqual(await save(all), all);

  const qdrant = (await send('GET', '/api/settings/qdrant')).data;
  const { models } = (await send('GET', '/api/settings/qdrant/embedding-models')).data;
  assert.ok(models.some((one) => one.value === qdrant.embeddingModel));
  const card = ({ enabled, host, port, collection, embeddingModel }) => ({ enabled, host, port, collection, embeddingModel });
  const saved = (await send('PUT', '/api/settings/qdrant', { ...card(qdrant), enabled: true, host: 'http://127.0.0.1', port: 1, apiKey: 'k' })).data;
  assert.deepEqual([saved.enabled, saved.hasApiKey, saved.apiKeyMasked], [true, true, '***']);
  assert.equal((await send('PUT', '/api/settings/qdrant', { ...card(saved), apiKey: '' })).data.hasApiKey, false);
  const health = await send('GET', '/api/settings/qdrant/health');
  assert.deepEqual([health.ok, health.data.ok, typeof health.data.error], [true, false, 'string']);
  assert.equal((await send('POST', '/api/settings/qdrant/search', { query: 'x', topK: 5 })).data.ok, false);
  assert.equal((await send('POST', '/api/settings/qdrant/cleanup')).data.ok, false);
  assert.equal((await send('POST', '/api/memory/reindex', { force: false })).data.pending >= 0, true);
});

test('the command line: what it asks for, and where it reads the answer', async (t) => {
  const { server, send } = await page(t);
  const cli = { 'x-omniroute-cli-token': 'a'.repeat(64) };
  const add = async (body) => (await send('POST', '/api/memory', body)).data;
  const made = await add({ content: 'Ada prefers Oslo over Rome.', type: 'factual' });
  assert.equal(made.success, true);
  assert.equal(typeof made.id, 'string', 'the column ID');
  await add({ content: 'Ada chose Postgres.', type: 'episodic', metadata: { by: 'cli' }, apiKey: 'key-a' });
  // search and list read "items".
  const items = async (query) => (await server.ask('GET', `/api/memory?${query}`, undefined, cli)).json().items;
  const found = await items('q=oslo&limit=20');
  assert.deepEqual([found.length, found[0].id, found[0].type, found[0].content], [1, made.id, 'factual', 'Ada prefers Oslo over Rome.']);
  assert.ok(Date.parse(found[0].createdAt) > 0);
  assert.deepEqual((await items('limit=100&apiKey=key-a')).map((one) => one.metadata), [{ by: 'cli' }]);
  assert.equal((await items('limit=100&type=episodic')).length, 1);
  assert.equal((await items('q=ada&limit=20&tokenBudget=1000')).length, 2);
  assert.equal((await items('q=ada&limit=20&tokenBudget=7')).length, 1, 'the page ends where the budget does');
  // Where it finds no token of its machine, its parameters tell it; to all others the list is sent once.
  const plain = async (query) => (await send('GET', `/api/memory?${query}`)).data;
  assert.equal((await plain('apiKey=key-a')).items.length, 1);
  assert.equal((await plain('tokenBudget=1000')).items.length, 2);
  assert.ok(!('items' in await plain('apiKeyId=key-a&q=ada')));
  assert.equal((await send('GET', `/api/memory/${made.id}`)).data.memory.content, 'Ada prefers Oslo over Rome.');
  assert.equal((await send('GET', '/api/memory/health')).data.working, true);
  assert.ok((await send('DELETE', `/api/memory/${made.id}`)).ok);
  assert.equal((await send('DELETE', `/api/memory/${made.id}`)).status, 404);

  // clear, with its ways to say which.
  await add({ content: 'one', type: 'factual' });
  await add({ content: 'two', type: 'procedural' });
  const clear = async (query) => (await send('DELETE', `/api/memory?${new URLSearchParams(query)}`)).data;
  assert.deepEqual(await clear({ olderThan: new Date(Date.now() - 30 * 86400000).toISOString() }), { success: true, deletedCount: 0 });
  assert.deepEqual(await clear({ type: 'procedural' }), { success: true, deletedCount: 1 });
  assert.deepEqual(await clear({ apiKey: 'key-a' }), { success: true, deletedCount: 1 });
  assert.deepEqual(await clear({}), { success: true, deletedCount: 1 });
  assert.equal((await send('GET', '/api/memory')).data.total, 0);
  assert.deepEqual((await server.ask('POST', '/v1/memories/search', { query: 'Oslo Postgres one two' })).json().results, []);
});
