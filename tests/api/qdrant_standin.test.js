// qdrant_standin.test.js - the stand-in for Qdrant is one: Qdrant's own client works with it, and it refuses what the real one refuses.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { QdrantClient } = require('@qdrant/js-client-rest');
const { QdrantStandIn } = require('./qdrant_standin.js');

const A = '0b6ab4ea-8d0c-4a37-9b4e-00000000000a', B = '0b6ab4ea-8d0c-4a37-9b4e-00000000000b';

async function standIn(t, options) {
  const server = await new QdrantStandIn(options).start();
  t.after(() => server.stop());
  return server;
}

const clientOf = (server, more = {}) => new QdrantClient({ url: server.url, ...more });

async function raw(server, method, path, body, headers = {}) {
  const res = await fetch(server.url + path, { method, headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body) });
  const text = await res.text();
  return { code: res.status, text, json: () => JSON.parse(text) };
}

// What the client throws says the code and the server's words.
const refuses = (promise, code, words) => assert.rejects(promise, (error) => {
  const said = error.data?.status?.error ?? error.data ?? error.message;
  assert.equal(error.status ?? Number(/\d{3}/.exec(error.message)), code, error.message);
  assert.match(String(said), words);
  return true;
});

async function filled(t, vectors = { size: 3, distance: 'Cosine' }) {
  const server = await standIn(t);
  const client = clientOf(server);
  await client.createCollection('mem', { vectors });
  const of = (v) => (vectors.size ? v : { text: v });
  await client.upsert('mem', { wait: true, points: [
    { id: A, vector: of([3, 0, 4]), payload: { user: 'ada', n: 1, tags: ['x', 'y'], deep: { key: 'k' }, gone: null } },
    { id: B, vector: of([0, 2, 0]), payload: { user: 'ada', n: 2.5 } },
    { id: 7, vector: of([1, 0, 0]), payload: { user: 'bob', n: 3, is: true } },
  ] });
  return { server, client };
}

test('collections: made, listed, described, deleted', async (t) => {
  const server = await standIn(t), client = clientOf(server);
  assert.equal((await client.versionInfo()).version, '1.18.0');
  assert.equal(await client.createCollection('mem', { vectors: { size: 3, distance: 'Cosine' },
    quantization_config: { scalar: { type: 'int8', quantile: 0.99, always_ram: true } } }), true);
  assert.deepEqual((await client.getCollections()).collections, [{ name: 'mem' }]);
  assert.deepEqual(await client.collectionExists('mem'), { exists: true });
  assert.deepEqual(await client.collectionExists('none'), { exists: false });
  const info = await client.getCollection('mem');
  assert.equal(info.status, 'green');
  assert.deepEqual(info.config.params.vectors, { size: 3, distance: 'Cosine' });
  assert.deepEqual(info.config.quantization_config, { scalar: { type: 'int8', quantile: 0.99, always_ram: true } });
  await refuses(client.createCollection('mem', { vectors: { size: 3, distance: 'Cosine' } }), 409, /already exists/);
  assert.equal((await client.createPayloadIndex('mem', { field_name: 'user', field_schema: 'keyword', wait: true })).status, 'completed');
  assert.equal((await client.getCollection('mem')).payload_schema.user.data_type, 'keyword');
  assert.equal(await client.deleteCollection('mem'), true);
  await refuses(client.getCollection('mem'), 404, /Collection `mem` doesn't exist!/);
});

test('points: put, read, counted, scrolled, deleted', async (t) => {
  const { client } = await filled(t);
  const [a] = await client.retrieve('mem', { ids: [A.toUpperCase()], with_vector: true });
  assert.equal(a.id, A);
  assert.ok([0.6, 0, 0.8].every((x, i) => Math.abs(x - a.vector[i]) < 1e-6), String(a.vector));
  assert.deepEqual(a.payload.tags, ['x', 'y']);
  assert.deepEqual((await client.retrieve('mem', { ids: [A, 99], with_payload: ['n'] })), [{ id: A, payload: { n: 1 } }]);
  assert.deepEqual(await client.count('mem'), { count: 3 });
  const first = await client.scroll('mem', { limit: 2, with_payload: false });
  assert.deepEqual(first, { points: [{ id: 7 }, { id: A }], next_page_offset: B });
  assert.deepEqual((await client.scroll('mem', { offset: first.next_page_offset, with_payload: false })).points, [{ id: B }]);
  assert.equal((await client.upsert('mem', { points: [{ id: A, vector: [1, 0, 0], payload: { user: 'eve' } }], wait: true })).status, 'completed');
  assert.deepEqual((await client.retrieve('mem', { ids: [A] }))[0].payload, { user: 'eve' });
  await client.upsert('mem', { batch: { ids: [8, 9], vectors: [[1, 1, 1], [1, 2, 3]], payloads: [{}, { n: 9 }] } });
  assert.deepEqual(await client.count('mem'), { count: 5 });
  await client.delete('mem', { points: [A, 8, 12345], wait: true });
  await client.delete('mem', { filter: { must: [{ key: 'user', match: { value: 'bob' } }] }, wait: true });
  assert.deepEqual((await client.scroll('mem', {})).points.map((p) => p.id), [9, B]);
});

test('filters: must, should, must_not, values and ranges', async (t) => {
  const { client } = await filled(t);
  const ids = async (filter) => (await client.scroll('mem', { filter })).points.map((p) => p.id);
  assert.deepEqual(await ids({ must: [{ key: 'user', match: { value: 'ada' } }, { key: 'n', range: { gt: 1, lte: 2.5 } }] }), [B]);
  assert.deepEqual(await ids({ should: [{ key: 'n', range: { lt: 2 } }, { key: 'is', match: { value: true } }] }), [7, A]);
  assert.deepEqual(await ids({ must: { key: 'user', match: { any: ['ada', 'x'] } }, should: [{ key: 'n', range: { gte: 3 } }] }), []);
  assert.deepEqual(await ids({ must_not: [{ key: 'n', range: { lte: 2.5 } }] }), [7]);
  assert.deepEqual(await ids({ must: [{ key: 'tags', match: { value: 'y' } }] }), [A]);
  assert.deepEqual(await ids({ must: [{ key: 'deep.key', match: { value: 'k' } }] }), [A]);
  assert.deepEqual(await ids({ must: [{ key: 'user', match: { except: ['ada'] } }] }), [7]);
  assert.deepEqual(await ids({ must: [{ is_null: { key: 'gone' } }] }), [A]);
  assert.deepEqual(await ids({ must: [{ is_empty: { key: 'is' } }] }), [A, B]);
  assert.deepEqual(await ids({ must: [{ has_id: [A, 7] }, { must_not: [{ key: 'user', match: { value: 'bob' } }] }] }), [A]);
  // A range holds no null and no missing value, so neither is "before now".
  assert.deepEqual(await ids({ must_not: [{ key: 'gone', range: { lte: 1e12 } }] }), [7, A, B]);
  assert.deepEqual(await client.count('mem', { filter: { must: [{ key: 'user', match: { value: 'ada' } }] }, exact: true }), { count: 2 });
});

test('search and query agree, with and without a name', async (t) => {
  for (const vectors of [{ size: 3, distance: 'Cosine' }, { text: { size: 3, distance: 'Cosine' } }]) {
    const { client } = await filled(t, vectors);
    const isNamed = !vectors.size;
    const filter = { must: [{ key: 'user', match: { value: 'ada' } }] };
    const hits = await client.search('mem', { vector: isNamed ? { name: 'text', vector: [6, 0, 8] } : [6, 0, 8], filter, limit: 5, with_payload: true });
    assert.deepEqual(hits.map((h) => h.id), [A, B]);
    assert.ok(Math.abs(hits[0].score - 1) < 1e-6 && hits[1].score === 0);
    assert.equal(hits[0].payload.n, 1);
    const { points } = await client.query('mem', { query: [6, 0, 8], ...(isNamed ? { using: 'text' } : {}), filter, limit: 5, with_payload: true,
      params: { quantization: { rescore: true } } });
    assert.deepEqual(points, hits);
    const near = await client.query('mem', { query: A, ...(isNamed ? { using: 'text' } : {}), limit: 1, score_threshold: 0.5 });
    assert.equal(near.points.length, 1);
    const other = isNamed ? client.search('mem', { vector: [1, 2, 3] }) : client.query('mem', { query: [1, 2, 3], using: 'other' });
    await refuses(other, 400, /Not existing vector name/);
  }
});

test('what the real server refuses is refused', async (t) => {
  const { server, client } = await filled(t);
  await refuses(client.upsert('mem', { points: [{ id: A, vector: [1, 2] }] }), 400, /expected dim: 3, got 2/);
  await refuses(client.search('mem', { vector: [1, 2, 3, 4] }), 400, /expected dim: 3, got 4/);
  await refuses(client.upsert('mem', { points: [{ id: 'mem-1', vector: [1, 2, 3] }] }), 400, /not a valid point ID/);
  await refuses(client.upsert('mem', { points: [{ id: -1, vector: [1, 2, 3] }] }), 400, /not a valid point ID/);
  await refuses(client.search('mem', { vector: [1, 2, 3], limit: 0 }), 422, /must be 1 or larger/);
  await refuses(client.search('none', { vector: [1] }), 404, /Collection `none` doesn't exist!/);
  await refuses(client.scroll('mem', { filter: { must: [{ key: 'n', match: { value: 1.5 } }] } }), 400, /integer/);
  await refuses(client.createCollection('m2', { vectors: { size: 0, distance: 'Cosine' } }), 422, /1 or larger/);
  await refuses(client.createCollection('m2', { vectors: { size: 2, distance: 'cosine' } }), 400, /one of Cosine/);
  const cases = [
    ['PUT', '/collections/mem/points', { points: [{ id: 1, vector: [1, 2, 3], more: 1 }] }, 400, /unknown field `more`/],
    ['PUT', '/collections/mem/points', { points: [{ id: 1 }] }, 400, /missing field `vector`/],
    ['POST', '/collections/mem/points/search', { vector: [1, 2, 3] }, 400, /missing field `limit`/],
    ['POST', '/collections/mem/points/count', { filter: { must: [{ key: 'n', range: { lt: '3' } }] } }, 400, /expected a number/],
    ['POST', '/collections/mem/points/count', { filter: { all: [] } }, 400, /unknown field `all`/],
    ['POST', '/collections/mem/points/delete', { ids: [1] }, 400, /did not match any variant/],
    ['POST', '/collections/mem/points/count', '{"exact": tru', 400, /Format error in JSON body/],
    ['PUT', '/collections/mem/points?wait=yes', { points: [] }, 400, /query parameters/],
    ['PUT', '/collections/a%3Ab', { vectors: { size: 1, distance: 'Dot' } }, 422, /cannot contain ":"/],
  ];
  for (const [method, path, body, code, words] of cases) {
    const got = await raw(server, method, path, body);
    assert.equal(got.code, code, `${path} ${got.text}`);
    assert.match(got.json().status.error, words);
    assert.equal(typeof got.json().time, 'number');
    assert.ok(!('result' in got.json()));
  }
  assert.equal((await raw(server, 'POST', '/collections/mem/points/guess', {})).code, 404);
  assert.equal((await raw(server, 'POST', '/collections/mem/points/count', '{}', { 'content-type': 'text/plain' })).code, 400);
  assert.deepEqual((await raw(server, 'PUT', '/collections/mem/points', { points: [] })).json().result.status, 'acknowledged');
});

test('a key is asked for, and one may only read', async (t) => {
  const server = await standIn(t, { apiKey: 'right', readOnlyKey: 'reader' });
  assert.equal((await raw(server, 'GET', '/readyz')).code, 200);
  assert.deepEqual(await raw(server, 'GET', '/collections').then(({ code, text }) => [code, text]),
    [401, 'Must provide an API key or an Authorization bearer token']);
  assert.deepEqual(await raw(server, 'GET', '/collections', undefined, { 'api-key': 'wrong' }).then(({ code, text }) => [code, text]),
    [401, 'Invalid API key or JWT']);
  const client = clientOf(server, { apiKey: 'right' });
  await client.createCollection('mem', { vectors: { size: 1, distance: 'Dot' } });
  const reader = clientOf(server, { apiKey: 'reader' });
  assert.deepEqual(await reader.count('mem'), { count: 0 });
  await refuses(reader.upsert('mem', { points: [{ id: 1, vector: [1] }] }), 403, /Forbidden/);
});

test('in strict mode a filter needs an index', async (t) => {
  const server = await standIn(t, { isStrict: true }), client = clientOf(server);
  await client.createCollection('mem', { vectors: { size: 1, distance: 'Dot' } });
  const filter = { must: [{ key: 'user', match: { value: 'ada' } }] };
  await refuses(client.count('mem', { filter }), 400, /Index required but not found for "user"/);
  await client.createPayloadIndex('mem', { field_name: 'user', field_schema: 'keyword', wait: true });
  assert.deepEqual(await client.count('mem', { filter }), { count: 0 });
});
