// omniroute_tiers.test.js - each tier is switched off in turn: retrieval still answers, and says what happened.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { embedder } = require('./embedder');
const { serve, until, upstream } = require('./lib');
const { QdrantStandIn } = require('./qdrant_standin');

const texts = { dog: 'The dog is called Rex.', car: 'The car is red.', tea: 'Ada drinks green tea.' };
const tiers = (found) => [...new Set(found.memories.map((one) => one.tier))];

// A server with vectors of its own and, when asked, Qdrant beside them; everything is where it belongs.
async function open(t, { qdrant = true, memory = {}, flags = [] } = {}) {
  const source = await embedder(t);
  const server = await serve(t, { flags: ['--upstream', `emb=${source.url}`, ...flags] });
  const ok = async (method, target, body) => {
    const res = await server.ask(method, target, body);
    assert.equal(res.status, 200, `${method} ${target}: ${res.text}`);
    return res.json();
  };
  const status = () => ok('GET', '/api/memory/engine-status');
  const standIn = qdrant ? await new QdrantStandIn().start() : null;
  if (standIn) {
    t.after(() => standIn.stop());
    await ok('PUT', '/api/settings/qdrant', { enabled: true, host: standIn.url, embeddingModel: 'emb/tiny' });
  }
  await ok('PUT', '/api/settings/memory', { embeddingSource: 'remote', embeddingProviderModel: 'emb/tiny', ...memory });
  const one = { ok, server, source, standIn, status,
    add: async (body) => (await ok('POST', '/api/memory', body)).memory,
    preview: (body) => ok('POST', '/api/memory/retrieve-preview', body),
    settled: () => until('settled', async () => {
      const { vectorStore, qdrant: q } = await status();
      return vectorStore.available && vectorStore.needsReindex === 0 && (!standIn || q.pending === 0);
    }) };
  for (const [key, content] of Object.entries(texts)) await one.add({ key, content });
  await one.settled();
  return one;
}

test('Qdrant gives the vectors where it is used, alone and beside the words', async (t) => {
  const { preview, add, settled, ok } = await open(t);
  let found = await preview({ query: 'my pup', strategy: 'semantic' });
  assert.deepEqual(tiers(found), ['qdrant']);
  assert.equal(found.memories[0].key, 'dog');
  assert.ok(found.memories[0].vecScore > 0.5 && found.memories[0].ftsScore === null);
  assert.equal(found.memories[0].score, found.memories[0].vecScore);
  assert.deepEqual(found.resolution, { embeddingSource: 'remote', embeddingModel: 'tiny', vectorStore: 'qdrant',
    strategyUsed: 'semantic', rerankApplied: false, fallbackReason: null });
  found = await preview({ query: 'my red pup', strategy: 'hybrid' });
  assert.deepEqual(tiers(found), ['qdrant']);
  const car = found.memories.find((one) => one.key === 'car');
  assert.ok(car.ftsScore > 0 && car.score > 1 / 62, JSON.stringify(car));
  // What may not be found is not, however near Qdrant says it is.
  await add({ key: 'gone', content: 'A pup, a pup!', expiresAt: '2020-01-01' });
  await add({ key: 'foreign', content: 'A puppy elsewhere.', apiKeyId: 'key-a' });
  await settled();
  const keys = async (body) => (await preview({ query: 'my pup', strategy: 'semantic', ...body })).memories.map((one) => one.key);
  assert.deepEqual((await keys({ apiKeyId: 'key-a' })), ['foreign']);
  assert.ok(!(await keys({})).includes('gone') && (await keys({})).includes('foreign'));
  // The setting says where vectors are searched.
  await ok('PUT', '/api/settings/memory', { vectorStore: 'sqlite-vec' });
  found = await preview({ query: 'my pup', strategy: 'semantic' });
  assert.deepEqual([tiers(found), found.resolution.vectorStore], [['vector'], 'sqlite-vec']);
});

test('Qdrant down, the own vectors answer; without a source the words; each step is named', async (t) => {
  const { preview, standIn, source, ok } = await open(t, { memory: { vectorStore: 'qdrant' } });
  assert.deepEqual(tiers(await preview({ query: 'a pup', strategy: 'semantic' })), ['qdrant']);
  await standIn.stop();
  let found = await preview({ query: 'a pup', strategy: 'semantic' });
  assert.deepEqual(tiers(found), ['vector']);
  assert.equal(found.memories[0].key, 'dog');
  assert.match(found.resolution.fallbackReason, /^Qdrant: /);
  assert.equal(found.resolution.vectorStore, 'sqlite-vec');
  // Left to itself it is not asked again at once, and that is said as well.
  await ok('PUT', '/api/settings/memory', { vectorStore: 'auto' });
  found = await preview({ query: 'a pup', strategy: 'semantic' });
  assert.deepEqual(tiers(found), ['vector']);
  assert.match(found.resolution.fallbackReason, /^Qdrant: ./);
  await ok('PUT', '/api/settings/memory', { vectorStore: 'qdrant' });
  source.server.close();
  source.server.closeAllConnections();
  found = await preview({ query: 'which dog', strategy: 'semantic' });
  assert.deepEqual(tiers(found), ['fts5']);
  assert.equal(found.memories[0].key, 'dog');
  assert.match(found.resolution.fallbackReason, /^Qdrant: .*; vectors: /);
  assert.deepEqual([found.resolution.strategyUsed, found.resolution.vectorStore], ['hybrid', 'none']);
  await ok('PUT', '/api/settings/memory', { strategy: 'recent' });
  assert.equal((await preview({ query: 'dog', strategy: 'exact' })).resolution.fallbackReason, null);
});

test('chosen and not set up, Qdrant is named as the reason', async (t) => {
  const { preview } = await open(t, { qdrant: false, memory: { vectorStore: 'qdrant' } });
  const found = await preview({ query: 'a pup', strategy: 'hybrid' });
  assert.deepEqual(tiers(found), ['hybrid-rrf']);
  assert.match(found.resolution.fallbackReason, /^Qdrant: /);
});

test('a question that comes while the first vectors are being made is answered by them', async (t) => {
  const source = await embedder(t, { after: ({ input }) => (String(input) === 'a pup' ? 0 : 200) });
  const server = await serve(t, { flags: ['--upstream', `emb=${source.url}`] });
  await server.ask('POST', '/api/memory', { key: 'dog', content: texts.dog });
  await server.ask('PUT', '/api/settings/memory', { embeddingSource: 'remote', embeddingProviderModel: 'emb/tiny' });
  // The worker and four questions ask the source at once what its vectors are like.
  const asked = [1, 2, 3, 4].map(() => server.ask('POST', '/api/memory/retrieve-preview', { query: 'a pup', strategy: 'semantic' }));
  for (const found of (await Promise.all(asked)).map((res) => res.json()))
    assert.deepEqual([tiers(found), found.resolution.fallbackReason], [['vector'], null]);
});

test('what the model puts in order comes in its order', async (t) => {
  const { preview, ok, source } = await open(t, { qdrant: false,
    memory: { rerankEnabled: true, rerankProviderModel: 'emb/order' } });
  const query = 'the red car, the dog and green tea';
  const found = await preview({ query });
  assert.deepEqual(found.memories.map((one) => one.key), ['dog', 'car', 'tea']);
  assert.deepEqual([found.resolution.rerankApplied, found.memories[0].score, found.resolution.fallbackReason], [true, 1, null]);
  assert.equal((await ok('GET', '/api/memory/engine-status')).rerank.available, true);
  const asked = source.asked.findLast((one) => one.url === '/v1/rerank');
  assert.ok(asked, 'the reranker was asked');
  await ok('PUT', '/api/settings/memory', { rerankProviderModel: 'nobody/order' });
  const without = await preview({ query });
  assert.equal(without.resolution.rerankApplied, false);
  assert.match(without.resolution.fallbackReason, /rerank: no upstream/);
  const { rerank } = await ok('GET', '/api/memory/engine-status');
  assert.deepEqual([rerank.available, rerank.provider, rerank.model], [false, 'nobody', 'order']);
  assert.match(rerank.reason, /no upstream/);
});

// What a chat was given for a question.
async function given(server, question) {
  const res = await server.chat({ model: 'any', messages: [{ role: 'user', content: question }] });
  assert.equal(res.status, 200, res.text);
  const { block, reason } = await server.receipt(res.headers['x-rememberd-receipt']);
  return { block, reason };
}

test('a chat is given what Qdrant finds, and without Qdrant what the others find', async (t) => {
  const model = await upstream(t);
  const { server, standIn, ok, settled } = await open(t, { flags: ['--upstream', model.url, '--gate-threshold', '0.02'] });
  await ok('PUT', '/api/settings/memory', { embeddingSource: 'static', vectorStore: 'qdrant' });
  await settled();
  const pup = await given(server, 'Where did I leave my pup?');
  assert.match(pup.block, /The dog is called Rex/, pup.reason);
  await standIn.stop();
  const { block, reason } = await given(server, 'Which colour does the car have?');
  assert.match(block, /The car is red/);
  assert.match(reason, /Qdrant: /);
});

test('the reranking model orders what a chat is given, and without it the order stays', async (t) => {
  const model = await upstream(t);
  const { add, ok, server, source } = await open(t, { qdrant: false, flags: ['--upstream', model.url] });
  const zoe = await add({ key: 'other', content: 'Zoe says the car is red or blue.' });
  await ok('PUT', '/api/settings/memory', { rerankEnabled: true, rerankProviderModel: 'emb/rank/one' });
  const lines = async () => {
    const res = await server.chat({ model: 'any', messages: [{ role: 'user', content: 'Is the car red?' }] });
    return (await server.receipt(res.headers['x-rememberd-receipt'])).lines.filter((one) => one.kind === 'memory');
  };
  assert.equal((await lines())[0].id, zoe.id);
  assert.equal(source.asked.filter((one) => one.url === '/v1/rerank').length, 1);
  await ok('PUT', '/api/settings/memory', { rerankProviderModel: 'nobody/rank' });
  const { block, reason } = await given(server, 'Is the car red, please?');
  assert.match(block, /The car is red/);
  assert.match(reason, /rerank: no upstream has the name/);
});
