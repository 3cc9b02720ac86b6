// rag.test.js - the RAG backend's memory of a user over HTTP: every endpoint, its errors, and whose memory it is.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, run, serve, until, upstream } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const types = ['fact', 'preference', 'context', 'procedure', 'entity', 'relationship'];
const priorities = ['critical', 'high', 'medium', 'low'];
const shown = ['id', 'content', 'memory_type', 'priority', 'created_at', 'last_accessed', 'access_count', 'source', 'entities', 'decay_score', 'metadata'];
const nobodys = '00000000-0000-4000-8000-000000000000';

const api = (server, headers = {}) => {
  const call = async (code, method, rest = '', body = undefined) => {
    const res = await server.ask(method, `/api/v1/memory${rest}`, body, headers);
    assert.equal(res.status, code, `${method} ${rest}: ${res.text}`);
    return res.json();
  };
  return {
    call,
    get: (rest) => call(200, 'GET', rest),
    add: async (content, more = {}) => (await call(201, 'POST', '', { content, ...more })).memory,
    search: (query, more = {}) => call(200, 'POST', '/search', { query, ...more }),
    contents: async (rest = '') => (await call(200, 'GET', rest)).memories.map((one) => one.content),
  };
};

test('a token that is bound to other spaces does not reach the space default', async (t) => {
  const server = await serve(t), at = ['--json', '--user', 'ada', '--data', server.data];
  const make = async (...more) => JSON.parse((await run(['token', 'create', ...more, ...at])).stdout).token;
  const as = async (...more) => api(server, { authorization: `Bearer ${await make(...more)}` });
  const whole = await as('--space', 'default'), bound = await as('--spaces', 'work,home'), both = await as('--spaces', 'work,default');
  await whole.add('The parrot is called Quito');
  assert.deepEqual(await bound.contents(), []);
  assert.equal((await bound.get('/export')).total_memories, 0);
  assert.doesNotMatch(JSON.stringify(await bound.search('parrot')), /Quito/);
  await bound.add('The desk is oak');
  await bound.call(200, 'DELETE', '?confirm=true');
  assert.deepEqual(await whole.contents(), ['The parrot is called Quito']);
  assert.deepEqual(await both.contents(), ['The parrot is called Quito']);
});

// FastAPI's two forms: a text, or a list that says where and what.
async function refused(server, code, detail, method, rest, body, headers = {}) {
  const res = await server.ask(method, `/api/v1/memory${rest}`, body, headers);
  const what = `${method} ${rest} ${JSON.stringify(body)}: ${res.text}`;
  assert.equal(res.status, code, what);
  assert.match(res.headers['content-type'], /^application\/json/);
  const said = res.json();
  assert.deepEqual(Object.keys(said), ['detail'], what);
  if (!Array.isArray(detail)) {
    assert.match(said.detail, detail, what);
    return;
  }
  assert.equal(said.detail.length, 1, what);
  assert.deepEqual(Object.keys(said.detail[0]), ['loc', 'msg', 'type'], what);
  assert.deepEqual(said.detail[0].loc, detail, what);
  assert.ok(said.detail[0].msg.length > 5 && said.detail[0].type.length > 3, what);
}

test('what is kept is listed, filtered, searched and counted', async (t) => {
  const server = await serve(t);
  const { get, add, search, contents } = api(server);
  assert.deepEqual(await get(), { memories: [], total: 0, page: 1, page_size: 50 });
  assert.deepEqual(await get('/stats'), {
    total_memories: 0,
    memories_by_type: Object.fromEntries(types.map((one) => [one, 0])),
    memories_by_priority: Object.fromEntries(priorities.map((one) => [one, 0])),
    avg_access_count: 0, oldest_memory: null, newest_memory: null });

  // The seed's examples, with its priorities.
  const examples = {
    fact: ['User works at ACME Corp', 'high'], preference: ['Prefers concise answers', 'medium'],
    context: ['Working on Q4 report', 'low'], procedure: ['Use pytest for testing', 'medium'],
    entity: ['John = team lead', 'medium'], relationship: ['Reports to Jane', 'low'] };
  for (const [memory_type, [content, priority]] of Object.entries(examples)) {
    const one = await add(content, { memory_type });
    assert.deepEqual(Object.keys(one), shown);
    assert.match(one.id, uuid);
    assert.match(one.created_at, time);
    assert.equal(one.last_accessed, one.created_at);
    assert.deepEqual([one.memory_type, one.priority, one.access_count, one.source, one.decay_score], [memory_type, priority, 0, null, 1]);
    assert.deepEqual([one.entities, one.metadata], [[], {}]);
    assert.deepEqual(await contents(`?memory_type=${memory_type}`), [content]);
  }
  const named = await add('The CODE word is Ähre', { priority: 'critical', source: 'a chat', metadata: { entities: ['Ähre', { name: 'Code' }, 7], n: 1 } });
  assert.deepEqual([named.memory_type, named.priority, named.source], ['fact', 'critical', 'a chat']);
  assert.deepEqual(named.entities, ['Ähre', 'Code']);
  assert.deepEqual(named.metadata, { entities: ['Ähre', { name: 'Code' }, 7], n: 1, source: 'a chat' });

  assert.deepEqual(await contents('?search=%C3%84HRE'), ['The CODE word is Ähre']);
  assert.deepEqual(await contents(`?search=${encodeURIComponent('Ä'.repeat(200))}`), []);
  assert.deepEqual(await contents('?priority=low'), ['Reports to Jane', 'Working on Q4 report']);
  assert.deepEqual(await contents('?priority=low&memory_type=context'), ['Working on Q4 report']);
  const page = await get('?page=2&page_size=3');
  assert.deepEqual([page.total, page.page, page.page_size], [7, 2, 3]);
  assert.deepEqual(page.memories.map((one) => one.content), ['Use pytest for testing', 'Working on Q4 report', 'Prefers concise answers']);
  assert.deepEqual(await contents('?page=4&page_size=3'), []);

  const found = await search('concise answers');
  assert.equal(found.total, 1);
  assert.deepEqual(found.memories, [{ id: found.memories[0].id, content: 'Prefers concise answers', type: 'preference', similarity: 1, relevance: 1, source: 'vector' }]);
  assert.deepEqual(await search('xylophone'), { memories: [], total: 0 });
  assert.equal((await search('the code word', { memory_type: 'entity' })).total, 0);
  assert.equal((await search('the code word', { memory_type: 'fact', top_k: 1, include_graph: false })).total, 1);

  const stats = await until('the use is counted', async () => {
    const got = await get('/stats');
    return got.avg_access_count > 0 && got;
  });
  assert.equal(stats.total_memories, 7);
  assert.deepEqual(stats.memories_by_type, { fact: 2, preference: 1, context: 1, procedure: 1, entity: 1, relationship: 1 });
  assert.deepEqual(stats.memories_by_priority, { critical: 1, high: 1, medium: 3, low: 2 });
  assert.equal(stats.newest_memory, named.created_at);
  assert.ok(stats.oldest_memory < stats.newest_memory);
});

test('reading one counts as access and listing does not; what is said again is merged', async (t) => {
  const server = await serve(t);
  const { call, get, add, contents } = api(server);
  const tea = await add('Likes tea', { memory_type: 'preference' });
  await add('Owns a dog');
  assert.deepEqual(await contents(), ['Owns a dog', 'Likes tea']);
  const read = await get(`/${tea.id}`);
  assert.equal(read.access_count, 1);
  assert.ok(read.last_accessed >= tea.last_accessed);
  await until('the access is kept', async () => (await contents())[0] === 'Likes tea');
  for (let i = 0; i < 3; i++) await contents();
  assert.equal((await get('?search=tea')).memories[0].access_count, 1);

  const again = await call(200, 'POST', '', { content: '  likes TEA ', priority: 'critical', source: 'twice', metadata: { a: 1 } });
  assert.deepEqual([again.status, again.memory_id], ['merged', tea.id]);
  assert.deepEqual([again.memory.content, again.memory.priority, again.memory.memory_type], ['Likes tea', 'critical', 'preference']);
  const third = await call(200, 'POST', '', { content: 'Likes tea', memory_type: 'fact', metadata: { b: 2 } });
  assert.deepEqual(third.memory.metadata, { b: 2, a: 1, source: 'twice' });
  assert.deepEqual([third.memory.priority, third.memory.memory_type], ['critical', 'fact']);
  assert.equal((await get()).total, 2);

  // In other words it is one access as well.
  const rum = await add('Bob likes dark rum');
  const other = await call(200, 'POST', '', { content: 'Bob really likes dark rum' });
  assert.deepEqual([other.memory_id, other.memory.access_count], [rum.id, 1]);

  const say = (content, more) => server.ask('POST', '/api/v1/memory', { content, ...more });
  const many = await Promise.all(Array.from({ length: 8 }, (_, i) => say('Said at once', { metadata: { [`from${i}`]: i } })));
  const kept = await get('?search=said%20at%20once');
  assert.equal(kept.total, 1);
  for (const one of many) assert.equal(one.json().memory_id, kept.memories[0].id, one.text);
  assert.equal(many.filter((one) => one.status === 201).length, 1);
  assert.equal(Object.keys(kept.memories[0].metadata).length, 8); // each was acknowledged
  for (let i = 0; i < 100; i++) {
    const old = (await say('Said and erased')).json().memory_id;
    const [said] = await Promise.all([say('Said and erased'), server.ask('DELETE', `/api/v1/memory/${old}`)]);
    assert.notDeepEqual([said.json().status, said.json().memory_id], ['added', old]);
  }
});

test('a memory is changed, deleted, and all are cleared, closed ones too', async (t) => {
  const server = await serve(t);
  const { call, get, add, search } = api(server);
  const tea = await add('Likes tea');
  for (const priority of priorities) {
    const changed = await call(200, 'PATCH', `/${tea.id}`, { priority });
    assert.deepEqual(Object.keys(changed), shown);
    assert.deepEqual([changed.priority, changed.content], [priority, 'Likes tea']);
  }
  const coffee = await call(200, 'PATCH', `/${tea.id}`, { content: ' Likes coffee ', priority: null });
  assert.deepEqual([coffee.content, coffee.priority, coffee.created_at], ['Likes coffee', 'low', tea.created_at]);
  assert.equal((await search('coffee')).memories[0].id, tea.id);
  assert.equal((await search('tea')).total, 0);
  assert.equal((await get()).total, 1);

  // What another dialect keeps is the same memory; a newer one under its key closes the older.
  const plain = async (content) => (await server.ask('POST', '/v1/memories', { content, key: 'home', category: 'entity', importance: 0.7 })).json();
  const old = await plain('Lives in Rome'), home = await plain('Lives in Oslo');
  const seen = await get(`/${home.id}`);
  assert.deepEqual([seen.memory_type, seen.priority], ['entity', 'high']);
  await refused(server, 404, /^Memory not found$/, 'GET', `/${old.id}`);
  await refused(server, 404, /^Memory not found$/, 'PATCH', `/${old.id}`, { content: 'x' });
  assert.deepEqual(await call(200, 'DELETE', `/${old.id}`), { deleted: true, memory_id: old.id });
  assert.deepEqual(await call(200, 'DELETE', `/${tea.id}`), { deleted: true, memory_id: tea.id });
  await refused(server, 404, /^Memory not found$/, 'DELETE', `/${tea.id}`);
  await refused(server, 404, /^Memory not found$/, 'GET', `/${tea.id}`);

  await plain('Lives in Bern');
  for (let i = 0; i < 120; i++) await add(`Fact number ${i}`);
  assert.equal((await get('/stats')).total_memories, 121);
  for (const rest of ['', '?confirm=false']) await refused(server, 400, /confirm=true/, 'DELETE', rest);
  assert.deepEqual(await call(200, 'DELETE', '?confirm=true'), { cleared: true, count: 122 });
  assert.deepEqual(await call(200, 'DELETE', '?confirm=true'), { cleared: true, count: 0 });
  await refused(server, 404, /^Memory not found$/, 'GET', `/${home.id}`);
  assert.equal((await get()).total, 0);
});

test('an export is a file with everything', async (t) => {
  const server = await serve(t);
  const { add } = api(server);
  for (let i = 0; i < 250; i++) await add(`Fact number ${i}`, { priority: priorities[i % 4] });
  const res = await server.ask('GET', '/api/v1/memory/export');
  assert.match(res.headers['content-disposition'], /^attachment; filename="memories_local_\d{8}\.json"$/);
  assert.match(res.headers['content-type'], /^application\/json/);
  const all = res.json();
  assert.deepEqual(Object.keys(all), ['exported_at', 'user_id', 'total_memories', 'memories']);
  assert.match(all.exported_at, time);
  assert.equal(res.headers['content-disposition'].slice(-14, -6), all.exported_at.slice(0, 10).replaceAll('-', ''));
  assert.deepEqual([all.user_id, all.total_memories, all.memories.length], ['local', 250, 250]);
  assert.deepEqual(all.memories.map((one) => one.content), Array.from({ length: 250 }, (_, i) => `Fact number ${i}`));
  assert.deepEqual(Object.keys(all.memories[0]).toSorted(), [...shown, 'user_id'].toSorted());
  assert.ok(all.memories.every((one) => one.user_id === 'local'));
});

test('what breaks a rule is refused in FastAPI\'s words', async (t) => {
  const server = await serve(t);
  const { add } = api(server);
  const { id } = await add('Likes tea');
  const query = {
    page: ['page=0', 'page=-1', 'page=x', 'page=1.5'], page_size: ['page_size=0', 'page_size=201', 'page_size='],
    memory_type: ['memory_type=odd', 'memory_type=Fact'], priority: ['priority=urgent'],
    search: [`search=${'a'.repeat(201)}`, `search=${encodeURIComponent('Ä'.repeat(201))}`] };
  for (const [field, all] of Object.entries(query))
    for (const one of all) await refused(server, 422, ['query', field], 'GET', `?${one}`);
  await refused(server, 422, ['query', 'confirm'], 'DELETE', '?confirm=maybe');

  const bodies = [
    ['content', {}], ['content', { content: null }], ['content', { content: 7 }], ['content', { content: '' }], ['content', { content: ' \n ' }],
    ['content', { content: 'x'.repeat(65537) }], ['memory_type', { content: 'x', memory_type: 'odd' }], ['priority', { content: 'x', priority: 'urgent' }],
    ['metadata', { content: 'x', metadata: [] }], ['source', { content: 'x', source: 'x'.repeat(501) }],
    ['metadata', { content: 'x', metadata: { a: 'x'.repeat(70000) } }]];
  for (const [field, body] of bodies) await refused(server, 422, ['body', field], 'POST', '', body);
  const questions = [['query', {}], ['query', { query: '' }], ['query', { query: ' ' }], ['top_k', { query: 'x', top_k: 0 }], ['top_k', { query: 'x', top_k: 101 }],
    ['min_similarity', { query: 'x', min_similarity: 2 }], ['memory_type', { query: 'x', memory_type: 'odd' }]];
  for (const [field, body] of questions) await refused(server, 422, ['body', field], 'POST', '/search', body);
  const changes = [['priority', { priority: 'urgent' }], ['priority', { priority: 1 }], ['content', { content: '' }], ['content', { content: ' ' }],
    ['content', {}], ['content', { content: null }]];
  for (const [field, body] of changes) await refused(server, 422, ['body', field], 'PATCH', `/${id}`, body);
  for (const [method, rest] of [['POST', ''], ['POST', '/search'], ['PATCH', `/${id}`]])
    for (const body of ['{', '[]', '"x"']) await refused(server, 422, ['body'], method, rest, body);
  for (const bad of [nobodys, 'x', 'a'.repeat(300)])
    for (const [method, body] of [['GET'], ['PATCH', { content: 'x' }], ['DELETE']]) await refused(server, 404, /^Memory not found$/, method, `/${bad}`, body);
  const put = await server.ask('PUT', '/api/v1/memory', { content: 'x' });
  assert.equal(put.status, 405);
  assert.equal(typeof put.json().detail, 'string');
  assert.equal((await server.ask('GET', '/api/v1/memory')).json().total, 1);
});

test('metadata that is far too long is refused at once', async (t) => {
  const { call, add } = api(await serve(t)), content = 'The red bicycle is in the cellar.', took = [];
  const many = (name, n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`${name}${i}`, 1]));
  await add(content, { metadata: many('a', 5000) });
  for (const text of ['What nobody said before.', content]) { // the second has metadata already, which is not compared with so much
    const began = Date.now(), { detail: [wrong] } = await call(422, 'POST', '', { content: text, metadata: many('b', 300_000) });
    took.push(Date.now() - began);
    assert.deepEqual(wrong.loc, ['body', 'metadata']);
  }
  assert.ok(took[1] < 4 * took[0] + 1000, `${took} ms`);
});

test('a conversation is no memory: its ids delete nothing here', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, 'I see.'));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const told = await server.tell('My name is Anna and I live in Ithaca.', { 'x-session-id': 'talk-1' });
  assert.equal(told.status, 200);
  const list = (await server.ask('GET', '/api/v1/memory')).json();
  assert.ok(list.total > 0);
  const { source } = (await server.ask('GET', `/v1/memories/${list.memories[0].id}`)).json();
  assert.match(source, uuid); // of the message
  for (const method of ['GET', 'DELETE']) await refused(server, 404, /^Memory not found$/, method, `/${source}`);
  await refused(server, 404, /^Memory not found$/, 'DELETE', '/talk-1');
  assert.equal((await server.ask('GET', '/api/v1/memory')).json().total, list.total);
});

test('memories are each user\'s own, and the same from every token of that user', async (t) => {
  const server = await serve(t);
  const token = async (...args) => {
    const made = await run(['token', 'create', '--json', '--data', server.data, ...args]);
    assert.equal(made.code, 0, made.stderr);
    return { authorization: `Bearer ${JSON.parse(made.stdout).token}` };
  };
  const anna = await token('--user', 'anna'), other = await token('--user', 'anna', '--space', 'work'), ben = await token('--user', 'ben'), admin = await token('--user', 'ben', '--admin');
  await until('tokens are asked for', async () => (await server.ask('GET', '/api/v1/memory')).status === 401);
  for (const [method, rest, body] of [['GET', ''], ['GET', '/stats'], ['GET', '/export'], ['GET', `/${nobodys}`], ['POST', '', { content: 'x' }],
    ['POST', '/search', { query: 'x' }], ['PATCH', `/${nobodys}`, { content: 'x' }], ['DELETE', `/${nobodys}`], ['DELETE', '?confirm=true']])
    await refused(server, 401, /token/, method, rest, body);

  const hers = api(server, anna), his = api(server, ben);
  const secret = await hers.add('The secret is Quetzal', { priority: 'critical' });
  assert.deepEqual(await api(server, other).contents(), ['The secret is Quetzal']);
  assert.deepEqual(await api(server, { ...anna, 'x-osaurus-agent-id': 'elsewhere' }).contents(), ['The secret is Quetzal']);
  for (const headers of [ben, admin]) {
    const theirs = api(server, headers);
    assert.deepEqual(await theirs.contents('?search=quetzal'), []);
    assert.equal((await theirs.search('secret Quetzal', { min_similarity: 0 })).total, 0);
    assert.equal((await theirs.get('/stats')).total_memories, 0);
    assert.equal((await theirs.get('/export')).total_memories, 0);
    for (const [method, body] of [['GET'], ['PATCH', { content: 'x' }], ['DELETE']]) {
      const [mine, none] = await Promise.all([secret.id, nobodys].map((id) => server.ask(method, `/api/v1/memory/${id}`, body, headers)));
      assert.equal(mine.status, 404);
      assert.equal(mine.text, none.text); // the same answer, whether it is someone's or nobody's
    }
    assert.deepEqual(await theirs.call(200, 'DELETE', '?confirm=true'), { cleared: true, count: 0 });
  }
  const same = await his.add('The secret is Quetzal');
  assert.notEqual(same.id, secret.id);
  assert.equal((await hers.get(`/${secret.id}`)).priority, 'critical');
  assert.match((await server.ask('GET', '/api/v1/memory/export', undefined, ben)).headers['content-disposition'], /memories_ben_/);
});
