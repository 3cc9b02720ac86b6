// omniroute.test.js - OmniRoute's memories over REST: every field, default, limit and error of its endpoints.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { run, serve, inlined } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const members = ['id', 'apiKeyId', 'sessionId', 'type', 'key', 'content', 'metadata', 'createdAt', 'updatedAt', 'expiresAt'];

async function open(t, options) {
  const server = await serve(t, options);
  const ok = async (method, path, body) => {
    const res = await server.ask(method, path, body);
    assert.equal(res.status, 200, `${method} ${path}: ${res.text}`);
    return res.json();
  };
  return { server, ok, add: async (body) => (await ok('POST', '/api/memory', body)).memory };
}

// The documented shape, and the one that the real server gives for what breaks a rule of the body.
function isFailure(res, status, message, field) {
  assert.equal(res.status, status, res.text);
  const body = res.json();
  assert.match(body.requestId, uuid);
  assert.equal(body.error.type, status < 500 ? 'invalid_request' : 'server_error');
  if (message instanceof RegExp) assert.match(body.error.message, message);
  else assert.equal(body.error.message, message);
  if (field === undefined) {
    assert.deepEqual(Object.keys(body), ['error', 'requestId']);
    assert.deepEqual(body.error.details, []);
  } else {
    assert.equal(body.message, 'Invalid request');
    assert.deepEqual(body.details, body.error.details);
    assert.deepEqual(body.details.map((one) => one.field), [field]);
    assert.ok(body.details[0].message.length > 5);
  }
}

test('a memory is made with every field, and with the defaults', async (t) => {
  const { ok, add } = await open(t);
  const made = await ok('POST', '/api/memory', { content: 'Ada prefers TypeScript.', key: 'preference:typescript', type: 'semantic',
    sessionId: 's1', apiKeyId: 'key-a', metadata: { source: 'test', n: 1.50 }, expiresAt: '2090-01-02T03:04:05.678Z', unknown: 1 });
  assert.deepEqual(Object.keys(made), ['success', 'id', 'memory']);
  assert.equal(made.success, true);
  assert.match(made.id, uuid);
  const { memory } = made;
  assert.deepEqual(Object.keys(memory), members);
  assert.deepEqual({ ...memory, createdAt: 0, updatedAt: 0 }, { id: made.id, apiKeyId: 'key-a', sessionId: 's1', type: 'semantic',
    key: 'preference:typescript', content: 'Ada prefers TypeScript.', metadata: { source: 'test', n: 1.5 }, createdAt: 0, updatedAt: 0,
    expiresAt: '2090-01-02T03:04:05.678Z' });
  assert.match(memory.createdAt, iso);
  assert.equal(memory.createdAt, memory.updatedAt);
  assert.ok(Math.abs(Date.parse(memory.createdAt) - Date.now()) < 60000);
  assert.deepEqual((await ok('GET', `/api/memory/${made.id}`)), { memory });

  const plain = await add({ content: 'x', key: 'k' });
  assert.deepEqual([plain.apiKeyId, plain.sessionId, plain.type, plain.metadata, plain.expiresAt], ['default', '', 'factual', {}, null]);
});

test('expiry is a date, a time, milliseconds or null', async (t) => {
  const { server, ok, add } = await open(t);
  const expiry = async (expiresAt) => {
    const { id } = await add({ content: 'x', key: 'k', expiresAt });
    return (await ok('GET', `/api/memory/${id}`)).memory.expiresAt;
  };
  assert.equal(await expiry('2090-01-02'), '2090-01-02T00:00:00.000Z');
  assert.equal(await expiry('2090-01-02T03:04:05+02:00'), '2090-01-02T01:04:05.000Z');
  assert.equal(await expiry(Date.parse('2090-01-02T03:04:05.678Z')), '2090-01-02T03:04:05.678Z');
  assert.equal(await expiry(null), null);
  for (const expiresAt of ['soon', '', -1, 0, true, {}, 1e300])
    isFailure(await server.ask('POST', '/api/memory', { content: 'x', key: 'k', expiresAt }), 400, /^expiresAt: must be/, 'expiresAt');
});

test('the same key of the same owner is changed in place, its metadata merged', async (t) => {
  const { ok, add } = await open(t);
  const first = await add({ content: 'old', key: 'k', apiKeyId: 'a', metadata: { a: 1, b: 1 }, sessionId: 's1', type: 'episodic' });
  const other = await add({ content: 'other', key: 'k', apiKeyId: 'b' });
  const again = await add({ content: 'new', key: 'k', apiKeyId: 'a', metadata: { b: 2, c: 3 }, sessionId: 's2', type: 'procedural',
    expiresAt: '2090-01-01T00:00:00.000Z' });
  assert.notEqual(other.id, first.id);
  const { memory } = await ok('GET', `/api/memory/${first.id}`);
  assert.deepEqual(memory, again);
  assert.deepEqual({ ...memory, updatedAt: 0 }, { ...first, content: 'new', metadata: { a: 1, b: 2, c: 3 }, sessionId: 's2',
    type: 'procedural', expiresAt: '2090-01-01T00:00:00.000Z', updatedAt: 0 });
  assert.ok(memory.updatedAt >= first.updatedAt);
  assert.equal((await ok('GET', '/api/memory')).total, 2);
  assert.equal((await ok('GET', `/api/memory/${other.id}`)).memory.content, 'other');
});

test('without a key one is made from the content, and two contents never share it', async (t) => {
  const { ok, add } = await open(t);
  assert.equal((await add({ content: 'I prefer Python!' })).key, 'i_prefer_python');
  assert.equal((await add({ content: 'I prefer Python!' })).key, 'i_prefer_python');
  assert.equal((await ok('GET', '/api/memory')).total, 1);
  const start = 'x'.repeat(40);
  const keys = new Set();
  for (const content of ['寿司が好き', '犬が好き', `${start} one`, `${start} two`, '!!!', '???', 'café', 'cafe'])
    keys.add((await add({ content })).key);
  assert.equal(keys.size, 8);
  for (const key of keys) assert.match(key, /^[a-z0-9][a-z0-9_]*$/);

  // Contents that make one key are memories of their own, also when one of them was changed to something else.
  const langs = ['Writes C', 'Writes C++', 'Writes C#', 'Writes C++'];
  for (const content of langs) await add({ content });
  await ok('PUT', `/api/memory/${(await add({ content: 'Likes sailing' })).id}`, { content: 'Likes rowing' });
  await add({ content: 'Likes sailing' });
  const kept = async (q) => (await ok('GET', `/api/memory?q=${q}`)).data.map((one) => one.content).sort();
  assert.deepEqual(await kept('Writes'), ['Writes C', 'Writes C#', 'Writes C++']);
  assert.deepEqual(await kept('Likes'), ['Likes rowing', 'Likes sailing']);
});

test('what cannot be made is refused with the field', async (t) => {
  const { server, ok } = await open(t);
  const cases = [
    [{}, 'content'], [{ content: '', key: 'k' }, 'content'], [{ content: '  ', key: 'k' }, 'content'], [{ content: 7, key: 'k' }, 'content'],
    [{ content: 'x'.repeat(65537), key: 'k' }, 'content'], [{ content: 'x', key: '' }, 'key'], [{ content: 'x', key: 7 }, 'key'],
    [{ content: 'x', key: 'k'.repeat(513) }, 'key'], [{ content: 'x', key: 'k', type: 'FACTUAL' }, 'type'],
    [{ content: 'x', key: 'k', type: 'user' }, 'type'], [{ content: 'x', key: 'k', sessionId: 1 }, 'sessionId'],
    [{ content: 'x', key: 'k', sessionId: 's'.repeat(257) }, 'sessionId'], [{ content: 'x', key: 'k', metadata: [] }, 'metadata'],
    [{ content: 'x', key: 'k', metadata: 'm' }, 'metadata'], [{ content: 'x', key: 'k', apiKeyId: 7 }, 'apiKeyId'],
    [{ content: 'x', key: 'k', apiKeyId: 'a'.repeat(201) }, 'apiKeyId'], [[1], ''], ['"text"', ''],
  ];
  for (const [body, field] of cases)
    isFailure(await server.ask('POST', '/api/memory', body), 400, field ? new RegExp(`^${field}: `) : /object/, field);
  for (const body of ['{"content":', 'content=x', '{"content":"x"} x', '\u0001'])
    isFailure(await server.ask('POST', '/api/memory', body), 400, 'Invalid JSON body');
  isFailure(await server.ask('POST', '/api/memory'), 400, 'content: is required', 'content');
  assert.equal((await ok('GET', '/api/memory')).total, 0);
});

test('what is looked for in a list is found in any case, in any alphabet', async (t) => {
  const { ok, add } = await open(t);
  await add({ content: 'Straße nach ÄÖÜ, İSTANBUL, МОСКВА', key: 'Éa' });
  for (const q of ['äöü', 'ÄÖÜ', 'straße', 'istanbul', 'москва', 'éA'])
    assert.equal((await ok('GET', `/api/memory?q=${encodeURIComponent(q)}`)).total, 1, q);
  assert.equal((await ok('GET', `/api/memory?q=${encodeURIComponent('ä ö')}`)).total, 0);
});

test('metadata has a limit, also where it is merged, so that a list can always be shown', async (t) => {
  const { server, ok, add } = await open(t);
  const half = 'm'.repeat(40000), most = 65536 - '{"a":""}'.length;
  const { id } = await add({ content: 'x', key: 'k', metadata: { a: 'm'.repeat(most) } });
  const refused = async (method, path, body) => isFailure(await server.ask(method, path, body), 400, /^metadata: /, 'metadata');
  await refused('POST', '/api/memory', { content: 'x', key: 'k2', metadata: { a: 'm'.repeat(most + 1) } });
  await refused('PUT', `/api/memory/${id}`, { metadata: { a: 'm'.repeat(most + 1) } });
  await refused('POST', '/api/memory', { content: 'y', key: 'k', metadata: { b: 1 } });
  assert.equal((await ok('GET', `/api/memory/${id}`)).memory.content, 'x', 'nothing of it is done');
  await add({ content: 'y', key: 'k', metadata: { a: half } });
  await refused('POST', '/api/memory', { content: 'z', key: 'k', metadata: { b: half } });
  assert.equal((await ok('GET', '/api/memory')).data[0].metadata.a, half);
});

test('the list is filtered, paged and counted', async (t) => {
  const { server, ok, add } = await open(t);
  for (let i = 0; i < 3; i++) await add({ content: `fact ${i} of a`, key: `k${i}`, apiKeyId: 'key-a', sessionId: i ? 's1' : '' });
  await add({ content: 'Lisbon 100% rainy', key: 'City_Name', apiKeyId: 'key-b', type: 'episodic', sessionId: 's1' });
  await add({ content: 'expired long ago', key: 'gone', apiKeyId: 'key-b', expiresAt: '2020-01-01T00:00:00Z' });

  // The vector of the specification.
  const page = await ok('GET', '/api/memory?apiKeyId=key-a&limit=1&offset=1');
  assert.deepEqual([page.data.length, page.total, page.page, page.limit, page.totalPages], [1, 3, 2, 1, 3]);
  assert.equal(page.data[0].content, 'fact 1 of a');
  assert.deepEqual(Object.keys(page.data[0]), members);

  const all = await ok('GET', '/api/memory');
  assert.deepEqual(Object.keys(all), ['data', 'total', 'page', 'limit', 'totalPages', 'stats']);
  assert.deepEqual([all.total, all.page, all.limit, all.totalPages], [5, 1, 50, 1]);
  assert.deepEqual(all.data.map((one) => one.key), ['gone', 'City_Name', 'k2', 'k1', 'k0'], 'newest first, expired ones too');
  assert.deepEqual(Object.keys(all.stats), ['total', 'byType', 'tokensUsed', 'hitRate', 'cacheStats']);
  const tokens = (list) => list.reduce((sum, one) => sum + Math.ceil(one.content.length / 4), 0);
  assert.deepEqual([all.stats.total, all.stats.byType, all.stats.tokensUsed], [5, { factual: 4, episodic: 1 }, tokens(all.data)]);
  assert.ok(all.stats.hitRate >= 0 && all.stats.hitRate <= 1);
  assert.deepEqual(Object.keys(all.stats.cacheStats), ['hits', 'misses']);

  const keys = async (query) => {
    const list = await ok('GET', `/api/memory?${query}`);
    assert.equal(list.total, list.stats.total);
    assert.equal(list.stats.tokensUsed, tokens(list.data), 'of what is filtered');
    assert.equal(Object.values(list.stats.byType).reduce((a, b) => a + b, 0), list.total);
    return list.data.map((one) => one.key).join();
  };
  assert.equal(await keys('apiKeyId=key-b'), 'gone,City_Name');
  assert.equal(await keys('apiKey=key-b'), 'gone,City_Name');
  assert.equal(await keys('type=episodic'), 'City_Name');
  assert.equal(await keys('type=odd'), '');
  assert.equal(await keys('sessionId=s1'), 'City_Name,k2,k1');
  assert.equal(await keys('sessionId=s1&apiKeyId=key-a'), 'k2,k1');
  assert.equal(await keys('q=LISBON'), 'City_Name');
  assert.equal(await keys('q=city_n'), 'City_Name', 'in the key, too');
  assert.equal(await keys('q=100%25'), 'City_Name');
  assert.equal(await keys('q=%25'), 'City_Name', 'a percent sign is one');
  assert.equal(await keys('q=_'), 'City_Name', 'an underscore is one');
  assert.equal(await keys('apiKeyId=nobody'), '');
  assert.equal(await keys('unknown=1&q=fact+2'), 'k2');

  const where = async (query) => {
    const { data, page: at, totalPages } = await ok('GET', `/api/memory?limit=2&${query}`);
    return [data.map((one) => one.key).join(), at, totalPages];
  };
  assert.deepEqual(await where('page=1'), ['gone,City_Name', 1, 3]);
  assert.deepEqual(await where('page=3'), ['k0', 3, 3]);
  assert.deepEqual(await where('page=4'), ['', 4, 3]);
  assert.deepEqual(await where('page=3&offset=2'), ['k2,k1', 2, 3], 'an offset wins');
  assert.deepEqual(await where('offset=3'), ['k1,k0', 2, 3]);
  for (const none of ['-5', 'many', '0', 'NaN']) assert.deepEqual(await where(`page=2&offset=${none}`), ['gone,City_Name', 1, 3], none);
  assert.deepEqual(await where('offset=4x'), ['k0', 3, 3]);
  assert.deepEqual(await where('page=2&offset='), ['k2,k1', 2, 3], 'an empty one is none');
  assert.equal((await ok('GET', '/api/memory?limit=200')).limit, 200);
  for (const [query, field] of [['page=0', 'page'], ['page=-1', 'page'], ['page=x', 'page'], ['page=1.5', 'page'], ['limit=0', 'limit'],
    ['limit=201', 'limit'], ['limit=ten', 'limit'], ['limit=', 'limit'], ['tokenBudget=0', 'tokenBudget']])
    isFailure(await server.ask('GET', `/api/memory?${query}`), 400, new RegExp(`^${field}: must be`), field);
});

test('one memory is read, changed and deleted', async (t) => {
  const { server, ok, add } = await open(t);
  const made = await add({ content: 'The dog is Rex.', key: 'dog', apiKeyId: 'a', metadata: { a: 1 }, sessionId: 's',
    expiresAt: '2090-01-01T00:00:00.000Z' });
  const path = `/api/memory/${made.id}`;
  const put = async (body) => {
    assert.deepEqual(await ok('PUT', path, body), { success: true });
    return (await ok('GET', path)).memory;
  };
  let now = await put({ content: 'The dog is Bello.' });
  assert.deepEqual({ ...now, updatedAt: 0 }, { ...made, content: 'The dog is Bello.', updatedAt: 0 });
  assert.ok(now.updatedAt >= made.updatedAt);
  now = await put({ type: 'procedural', key: 'pet', metadata: { b: 2 } });
  assert.deepEqual([now.type, now.key, now.metadata, now.expiresAt], ['procedural', 'pet', { b: 2 }, made.expiresAt]);
  assert.equal((await put({ expiresAt: '2091-01-01' })).expiresAt, '2091-01-01T00:00:00.000Z');
  assert.equal((await put({ expiresAt: null })).expiresAt, null);
  assert.deepEqual((await put({ metadata: {} })).metadata, {});
  const before = (await ok('GET', path)).memory;
  while (Date.now() <= Date.parse(before.updatedAt)) await new Promise(setImmediate);
  const touched = await put({});
  assert.ok(touched.updatedAt > before.updatedAt, 'nothing named still counts as a change');
  assert.deepEqual({ ...touched, updatedAt: 0 }, { ...before, updatedAt: 0 });

  for (const [body, field] of [[{ key: '' }, 'key'], [{ content: '' }, 'content'], [{ content: ' ' }, 'content'], [{ type: 'odd' }, 'type'],
    [{ metadata: [] }, 'metadata'], [{ expiresAt: 'soon' }, 'expiresAt'], [{ sessionId: 's2' }, 'sessionId'], [{ apiKeyId: 'b' }, 'apiKeyId'],
    [{ id: 'x' }, 'id'], [[], '']])
    isFailure(await server.ask('PUT', path, body), 400, field ? new RegExp(`^${field}: `) : /object/, field);
  isFailure(await server.ask('PUT', path, '{'), 400, 'Invalid JSON body');
  await add({ content: 'another', key: 'taken', apiKeyId: 'a' });
  isFailure(await server.ask('PUT', path, { key: 'taken' }), 409, /has this key/);
  assert.deepEqual((await ok('GET', path)).memory, touched, 'what is refused changes nothing');

  assert.deepEqual(await ok('DELETE', path), { success: true });
  for (const [method, body] of [['GET'], ['PUT', { content: 'x' }], ['PUT', {}], ['DELETE']])
    isFailure(await server.ask(method, path, body), 404, 'Memory not found');
  for (const id of ['nothing', '%20', 'a%2Fb', '0'.repeat(300)]) {
    isFailure(await server.ask('GET', `/api/memory/${id}`), 404, 'Memory not found');
    isFailure(await server.ask('DELETE', `/api/memory/${id}`), 404, 'Memory not found');
  }
  isFailure(await server.ask('GET', `${path}/more`), 404, /there is nothing at/);
  const wrong = await server.ask('PATCH', path, {});
  isFailure(wrong, 405, /PATCH is not allowed/);
  assert.match(wrong.headers.allow, /GET, .*PUT, DELETE/);
});

test('a message or a conversation is no memory: its id deletes nothing here', async (t) => {
  const { server, ok } = await open(t);
  const said = await server.tell('My dog is called Rex.');
  const { session } = await server.receipt(said.headers['x-rememberd-receipt']);
  isFailure(await server.ask('DELETE', `/api/memory/${session}`), 404, 'Memory not found');
  const found = (await server.ask('POST', '/v1/memories/search', { query: 'What is my dog called?' })).json().results;
  const message = found.find((one) => one.kind === 'message');
  assert.ok(message);
  isFailure(await server.ask('DELETE', `/api/memory/${message.id}`), 404, 'Memory not found');
  const [fact] = (await ok('GET', '/api/memory?q=Rex')).data;
  assert.equal(fact.apiKeyId, 'default');
  assert.deepEqual(await ok('DELETE', `/api/memory/${fact.id}`), { success: true });
  assert.equal((await ok('GET', '/api/memory?q=Rex')).total, 0);
});

test('a whole space is cleared, or a part of it, however much it is', async (t) => {
  const { server, ok, add } = await open(t);
  for (let i = 0; i < 60; i++) await add({ content: `fact ${i}`, key: `k${i}`, apiKeyId: 'a', type: i % 2 ? 'factual' : 'episodic' });
  await add({ content: 'mine', key: 'k' });
  for (const query of ['olderThan=yesterday', 'type=odd', 'olderthan=2020-01-01', 'q=fact']) {
    const res = await server.ask('DELETE', `/api/memory?apiKeyId=a&${query}`);
    isFailure(res, 400, /: /, /^\w+/.exec(query)[0]);
  }
  isFailure(await server.ask('DELETE', '/api/memory?apiKeyId=a', {}), 400, /belongs in the body/, 'apiKeyId');
  isFailure(await server.ask('DELETE', '/api/memory?a=a', {}), 400, /is not a known field/, 'a');
  assert.equal((await ok('GET', '/api/memory')).total, 61);
  assert.deepEqual(await ok('DELETE', '/api/memory?apiKeyId=a&olderThan=2020-01-01T00:00:00.000Z'), { success: true, deletedCount: 0 });
  assert.deepEqual(await ok('DELETE', '/api/memory?apiKeyId=a&type=episodic'), { success: true, deletedCount: 30 });
  assert.deepEqual(await ok('DELETE', `/api/memory?apiKey=a&olderThan=2090-01-01`), { success: true, deletedCount: 30 });
  assert.equal((await ok('GET', '/api/memory')).total, 1);
  assert.deepEqual(await ok('DELETE', '/api/memory'), { success: true, deletedCount: 1 });
  assert.deepEqual(await ok('DELETE', '/api/memory'), { success: true, deletedCount: 0 });
});

test('what is added is found at once, in a chat of the same owner too', async (t) => {
  const { server, add } = await open(t);
  await add({ content: 'The user\'s dog is called Rex.', key: 'dog' });
  const [best] = (await server.ask('POST', '/v1/memories/search', { query: 'What\'s the "dog" called? - *' })).json().results;
  assert.equal(best.text, 'The user\'s dog is called Rex.');
  const said = await server.tell('What is my dog called?');
  assert.match((await server.receipt(said.headers['x-rememberd-receipt'])).block, /Rex/);
});

test('health is checked for real and writes nothing', async (t) => {
  const { server, ok, add } = await open(t, { flags: ['--encoder', 'off'] }); // else a vector is written in between
  await add({ content: 'x', key: 'k' });
  const writes = async () => /^rememberd_store_writes_total (\d+)$/m.exec((await server.ask('GET', '/metrics')).text)[1];
  const before = await writes();
  const health = await ok('GET', '/api/memory/health');
  assert.deepEqual(Object.keys(health), ['working', 'latencyMs']);
  assert.equal(health.working, true);
  assert.ok(health.latencyMs >= 0 && health.latencyMs < 10000);
  for (let i = 0; i < 3; i++) await ok('GET', '/api/memory/health');
  assert.equal(await writes(), before);
  assert.equal((await ok('GET', '/api/memory')).total, 1);
});

test('the server\'s settings need a token that may manage, in the documented words; memories any token', async (t) => {
  const { server } = await open(t);
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout);
  const plain = await make(), admin = await make('--admin');
  const bearer = (token) => ({ authorization: `Bearer ${token}` });
  const routes = [['GET', '/api/memory'], ['POST', '/api/memory'], ['DELETE', '/api/memory'], ['GET', '/api/memory/x'], ['PUT', '/api/memory/x'],
    ['DELETE', '/api/memory/x'], ['GET', '/api/memory/health'], ['POST', '/api/memory/retrieve-preview'], ['GET', '/api/memory/engine-status'],
    ['GET', '/api/memory/embedding-providers'], ['POST', '/api/memory/summarize'], ['POST', '/api/memory/reindex'],
    ['GET', '/api/settings/memory'], ['PUT', '/api/settings/memory'], ['GET', '/api/settings/qdrant'], ['PUT', '/api/settings/qdrant'],
    ['GET', '/api/settings/qdrant/health'], ['POST', '/api/settings/qdrant/search'], ['POST', '/api/settings/qdrant/cleanup'],
    ['GET', '/api/settings/qdrant/embedding-models']];
  for (const [method, path] of routes) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const as = (headers) => server.ask(method, path, body, headers);
    isFailure(await as({}), 401, 'Authentication required');
    isFailure(await as(bearer('rk_wrong')), 401, 'Invalid or expired access token');
    isFailure(await as({ authorization: admin.token }), 401, 'Invalid or expired access token');
    const mine = await as(bearer(plain.token));
    if (/^\/api\/settings|engine-status|embedding-providers|reindex/.test(path)) isFailure(mine, 403, /^API key lacks 'manage' scope\. \S/);
    else assert.ok(mine.status !== 401 && mine.status !== 403, `${method} ${path}: ${mine.status}`);
    assert.equal((await server.ask(method, `${path}?token=${admin.token}`, body)).status, 401, 'never from the URL');
    const status = (await as(bearer(admin.token))).status;
    assert.ok(status !== 401 && status !== 403, `${method} ${path}: ${status}`);
  }
  const api = inlined((await server.ask('GET', '/openapi.json')).json());
  for (const [method, path] of routes)
    assert.ok(api.paths[path.replace(/\/x$/, '/{id}')][method.toLowerCase()].summary, `${method} ${path}`);
  const body = api.paths['/api/memory/{id}'].put.requestBody.content['application/json'].schema;
  assert.deepEqual(Object.keys(body.properties), ['type', 'key', 'content', 'metadata', 'expiresAt', 'space']);
  assert.equal(body.additionalProperties, false);
});
