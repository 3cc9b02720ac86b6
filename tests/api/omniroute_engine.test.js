// omniroute_engine.test.js - preview, status, providers and reindex: every field, default, limit and error.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { embedder } = require('./embedder');
const { serve, until } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

async function open(t, options) {
  const server = await serve(t, options);
  const ok = async (method, target, body) => {
    const res = await server.ask(method, target, body);
    assert.equal(res.status, 200, `${method} ${target}: ${res.text}`);
    return res.json();
  };
  return { server, data: server.data, ok, add: async (body) => (await ok('POST', '/api/memory', body)).memory,
    preview: (body) => ok('POST', '/api/memory/retrieve-preview', body), status: () => ok('GET', '/api/memory/engine-status') };
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

// A server whose vectors come from such a source, all of them made.
async function withVectors(t, texts) {
  const source = await embedder(t);
  const one = await open(t, { flags: ['--upstream', `emb=${source.url}`] });
  await one.ok('PUT', '/api/settings/memory', { embeddingSource: 'remote', embeddingProviderModel: 'emb/tiny' });
  for (const [key, content] of Object.entries(texts)) await one.add({ key, content });
  await until('vectors', async () => (await one.status()).vectorStore.rowCount === Object.keys(texts).length);
  return { ...one, source };
}

const pets = { dog: 'The dog is called Rex.', car: 'The car is red.', tea: 'Ada drinks green tea.' };

test('the preview with words alone: its shape, its defaults and why there is no more', async (t) => {
  const { preview, add } = await open(t, { flags: ['--encoder', 'off'] });
  const dog = await add({ key: 'dog', content: pets.dog });
  await add({ key: 'car', content: pets.car, type: 'episodic' });
  const found = await preview({ query: 'What is the dog called?' });
  assert.deepEqual(Object.keys(found), ['memories', 'resolution', 'totalTokensUsed', 'budgetMaxTokens']);
  assert.equal(found.budgetMaxTokens, 2000);
  assert.equal(found.totalTokensUsed, Math.ceil(pets.dog.length / 4));
  const [best] = found.memories;
  assert.deepEqual(Object.keys(best), ['id', 'type', 'key', 'content', 'score', 'tokens', 'tier', 'vecScore', 'ftsScore']);
  assert.deepEqual({ ...best, score: 0, ftsScore: 0 }, { id: dog.id, type: 'factual', key: 'dog', content: pets.dog, score: 0,
    tokens: Math.ceil(pets.dog.length / 4), tier: 'fts5', vecScore: null, ftsScore: 0 });
  assert.ok(best.score > 0 && best.ftsScore > 0);
  const { resolution } = found;
  assert.deepEqual({ ...resolution, fallbackReason: '' }, { embeddingSource: null, embeddingModel: null, vectorStore: 'none',
    strategyUsed: 'hybrid', rerankApplied: false, fallbackReason: '' });
  assert.match(resolution.fallbackReason, /vectors: /);
  // Punctuation, quotes and operators are part of the question, never of the search's language.
  for (const query of ['dog?', 'dog\'s', '"dog" - *', 'dog AND', '(dog', 'dog:'])
    assert.equal((await preview({ query })).memories[0]?.id, dog.id, query);
});

test('exact gives the newest that have the words; expired ones are never found', async (t) => {
  const { preview, add, ok } = await open(t);
  for (let i = 0; i < 30; i++) await add({ key: `k${i}`, content: `The dog walked ${i} miles.` });
  await add({ key: 'gone', content: 'The dog is gone.', expiresAt: '2020-01-01' });
  const found = await preview({ query: 'dog', strategy: 'exact' });
  assert.equal(found.resolution.strategyUsed, 'exact');
  assert.equal(found.resolution.fallbackReason, null);
  assert.equal(found.memories.length, 20, 'limit is 20');
  assert.ok(found.memories.every((one) => one.tier === 'fts5' && one.key !== 'gone'));
  for (const strategy of ['exact', 'semantic', 'hybrid']) {
    assert.equal((await preview({ query: 'dog', strategy, limit: 100 })).memories.length, 30, strategy);
    assert.equal((await preview({ query: 'dog', strategy, limit: 3 })).memories.length, 3, strategy);
    const little = await preview({ query: 'dog walked', strategy, maxTokens: 13 });
    assert.deepEqual([little.memories.length, little.budgetMaxTokens, little.totalTokensUsed <= 13], [2, 13, true], strategy);
    assert.equal((await preview({ query: 'dog walked', strategy, maxTokens: 1 })).memories.length, 1, 'the first one always');
  }
  assert.equal((await ok('GET', '/api/memory')).total, 31, 'nothing was changed');
});

test('the preview is of one key, or of all', async (t) => {
  const { preview, add } = await open(t);
  const a = await add({ key: 'k', content: 'The dog is Rex.', apiKeyId: 'key-a' }), b = await add({ key: 'k', content: 'The dog is Bello.' });
  const ids = async (body) => (await preview({ query: 'dog', ...body })).memories.map((one) => one.id).sort();
  assert.deepEqual(await ids({ apiKeyId: 'key-a' }), [a.id]);
  assert.deepEqual(await ids({ apiKeyId: 'nobody' }), []);
  assert.deepEqual(await ids({}), [a.id, b.id].sort());
});

test('with vectors each tier shows its score', async (t) => {
  const { preview } = await withVectors(t, pets);
  const semantic = await preview({ query: 'my pup', strategy: 'semantic' });
  assert.equal(semantic.memories[0].key, 'dog', 'without a word in common');
  assert.equal(semantic.memories[0].tier, 'vector');
  assert.ok(semantic.memories[0].vecScore > 0.9 && semantic.memories[0].vecScore <= 1.001);
  assert.equal(semantic.memories[0].ftsScore, null);
  assert.deepEqual(semantic.resolution, { embeddingSource: 'remote', embeddingModel: semantic.resolution.embeddingModel,
    vectorStore: 'sqlite-vec', strategyUsed: 'semantic', rerankApplied: false, fallbackReason: null });
  assert.match(semantic.resolution.embeddingModel, /tiny/);
  const hybrid = await preview({ query: 'the hound and the red car' });
  assert.equal(hybrid.resolution.strategyUsed, 'hybrid');
  assert.ok(hybrid.memories.every((one) => one.tier === 'hybrid-rrf'));
  const car = hybrid.memories.find((one) => one.key === 'car');
  assert.ok(car.vecScore > 0 && car.ftsScore > 0);
  assert.equal(hybrid.memories.find((one) => one.key === 'dog').ftsScore, null);
});

test('when the source fails the words answer, and the reason is told', async (t) => {
  const { preview, source, status } = await withVectors(t, pets);
  source.server.close();
  source.server.closeAllConnections();
  const found = await preview({ query: 'Which dog, and is it called Rex?' });
  assert.equal(found.memories[0].key, 'dog');
  assert.equal(found.memories[0].tier, 'fts5');
  assert.ok(found.resolution.fallbackReason.length > 10);
  assert.equal((await status()).keyword.available, true);
});

test('a preview is refused what breaks its rules', async (t) => {
  const { server } = await open(t);
  const at = '/api/memory/retrieve-preview';
  for (const [body, field] of [[{}, 'query'], [{ query: '' }, 'query'], [{ query: 7 }, 'query'], [{ query: 'x', strategy: 'recent' }, 'strategy'],
    [{ query: 'x', maxTokens: 0 }, 'maxTokens'], [{ query: 'x', maxTokens: 16001 }, 'maxTokens'], [{ query: 'x', maxTokens: 1.5 }, 'maxTokens'],
    [{ query: 'x', maxTokens: '9' }, 'maxTokens'], [{ query: 'x', limit: 0 }, 'limit'], [{ query: 'x', limit: 101 }, 'limit'],
    [{ query: 'x', apiKeyId: 7 }, 'apiKeyId'], [{ query: 'x', type: 'factual' }, 'type']]) await isRefused(server, 'POST', at, body, field);
  assert.equal((await server.ask('POST', at, { query: 'x', maxTokens: 16000, limit: 100, strategy: 'semantic' })).json().budgetMaxTokens, 16000);
  assert.equal((await server.ask('POST', at, '{')).json().error.message, 'Invalid JSON body');
});

test('the status has every member, and says the truth without and with vectors', async (t) => {
  const bare = await (await open(t, { flags: ['--encoder', 'off'] })).status();
  assert.deepEqual(Object.keys(bare), ['keyword', 'embedding', 'vectorStore', 'qdrant', 'rerank']);
  assert.deepEqual(bare.keyword, { available: true, backend: 'FTS5' });
  assert.deepEqual({ ...bare.embedding, reason: '' }, { source: null, model: null, dimensions: null, available: false, reason: '',
    cacheStats: { hits: 0, misses: 0, size: 0 } });
  assert.match(bare.embedding.reason, /no remote model is set/);
  assert.deepEqual({ ...bare.vectorStore, reason: '' }, { backend: 'none', available: false, rowCount: 0, needsReindex: 0, failed: 0, reason: '' });
  assert.ok(bare.vectorStore.reason.length > 5);
  assert.deepEqual(bare.qdrant, { enabled: false, healthy: null, latencyMs: null, error: null, pending: 0, note: '' });
  assert.deepEqual(bare.rerank, { enabled: false, provider: null, model: null, available: false, reason: bare.rerank.reason });
  assert.equal(typeof bare.rerank.reason, 'string');

  const { ok, status, preview, source } = await withVectors(t, pets);
  await preview({ query: 'pup', strategy: 'semantic' });
  await preview({ query: 'pup', strategy: 'semantic' });
  const full = await status();
  assert.deepEqual([full.embedding.source, full.embedding.dimensions, full.embedding.available], ['remote', 5, true]);
  assert.match(full.embedding.model, /tiny/);
  const { hits, misses, size } = full.embedding.cacheStats;
  assert.ok(hits >= 1 && misses >= 1 && size >= 1, JSON.stringify(full.embedding.cacheStats));
  assert.deepEqual({ ...full.vectorStore, reason: '' }, { backend: 'sqlite-vec', available: true, rowCount: 3, needsReindex: 0, failed: 0, reason: '' });
  const { stats } = await ok('GET', '/api/memory');
  assert.deepEqual(stats.cacheStats, { hits, misses });
  assert.equal(stats.hitRate, hits / (hits + misses));

  await ok('PUT', '/api/settings/memory', { rerankEnabled: true, rerankProviderModel: 'emb/rank/one' });
  assert.deepEqual((await status()).rerank, { enabled: true, provider: 'emb', model: 'rank/one', available: true, reason: '' });
  for (let i = 0; i < 3; i++) await status();
  assert.equal(source.asked.filter((one) => one.url === '/v1/rerank').length, 1, 'a status that is polled costs no call each time');
  const ranked = await preview({ query: 'the hound and the red car and the tea' });
  assert.equal(ranked.resolution.rerankApplied, true);
  assert.deepEqual(ranked.memories.map((one) => one.content), ranked.memories.map((one) => one.content).sort().reverse(), 'as the server puts them');
});

test('reindex says what is pending, and the status follows it down', async (t) => {
  const { server, ok, status, source } = await withVectors(t, pets);
  assert.deepEqual(await ok('POST', '/api/memory/reindex', {}), { started: true, pending: 0 });
  assert.deepEqual(await ok('POST', '/api/memory/reindex'), { started: true, pending: 0 }, 'a body is not needed');
  const before = source.asked.length;
  const forced = await ok('POST', '/api/memory/reindex', { force: true });
  assert.equal(forced.started, true);
  assert.ok(forced.pending >= 0 && forced.pending <= 3);
  await until('made anew', async () => {
    const { vectorStore } = await status();
    return vectorStore.needsReindex === 0 && vectorStore.rowCount === 3;
  });
  assert.ok(source.asked.length >= before);
  for (const [body, field] of [[{ force: 'yes' }, 'force'], [{ limit: 5 }, 'limit'], [[], '']])
    await isRefused(server, 'POST', '/api/memory/reindex', body, field);
  assert.equal((await server.ask('POST', '/api/memory/reindex', '{')).status, 400);
  const bare = await open(t);
  assert.deepEqual(await bare.ok('POST', '/api/memory/reindex', { force: true }), { started: true, pending: 0 }, 'also without a source');
});

test('providers are listed with their models, and whether they can be asked', async (t) => {
  const { ok } = await open(t, { flags: ['--upstream', 'openai=https://api.openai.com/v1'], env: { OPENAI_API_KEY: 'x' } });
  const { providers } = await ok('GET', '/api/memory/embedding-providers');
  const names = providers.map((one) => one.provider);
  for (const name of ['openai', 'static', 'transformers']) assert.ok(names.includes(name), name);
  for (const one of providers) {
    assert.deepEqual(Object.keys(one), ['provider', 'hasKey', 'models']);
    assert.equal(typeof one.hasKey, 'boolean');
    for (const model of one.models) {
      assert.deepEqual(Object.keys(model), ['id', 'name', 'dimensions']);
      assert.equal(model.id, `${one.provider}/${model.name}`);
      assert.ok(model.dimensions === null || model.dimensions > 0);
    }
  }
  const small = providers.find((one) => one.provider === 'openai').models.find((one) => one.id === 'openai/text-embedding-3-small');
  assert.equal(small.dimensions, 1536);
  const local = await embedder(t);
  const near = await open(t, { flags: ['--upstream', `near=${local.url}`] });
  const own = (await near.ok('GET', '/api/memory/embedding-providers')).providers.find((one) => one.provider === 'near');
  assert.equal(own.hasKey, true, 'a server of this machine needs none');
});
