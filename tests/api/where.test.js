// where.test.js - one name for a space at every door, and one rule of which spaces a token reaches.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { run, serve, until, upstream } = require('./lib');

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const envelope = { message_id: 'm', sender_agent_key: 'k', timestamp: '2026-11-20T10:00:00Z' };
const rpc = (name, args) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });

// Every door that lists or finds memories of a space, with what it is called there.
const reads = {
  'REST list': ['GET', '/v1/memories'],
  'REST search': ['POST', '/v1/memories/search', { query: 'parrot name' }],
  'OmniRoute list': ['GET', '/api/memory', undefined, 'apiKeyId'],
  'OmniRoute preview': ['POST', '/api/memory/retrieve-preview', { query: 'parrot name' }, 'apiKeyId'],
  'RAG list': ['GET', '/api/v1/memory'],
  'Cortex list': ['GET', '/v1/memory/me', undefined, 'app_id'],
  'Cortex search': ['POST', '/v1/memory/search', { query: 'parrot name' }, 'app_id'],
  'MCP search': ['POST', '/mcp', rpc('memory_search', { query: 'parrot name' })],
  'MCP OmniRoute': ['POST', '/mcp', rpc('omniroute_memory_search', { query: 'parrot name' })],
  response: ['POST', '/v1/responses', { model: 'rememberd/demo', input: 'What is the name of my parrot?' }],
  message: ['POST', '/v1/messages', { model: 'rememberd/demo', max_tokens: 100, messages: [{ role: 'user', content: 'What is the name of my parrot?' }] }],
  ollama: ['POST', '/api/chat', { model: 'rememberd/demo', stream: false, messages: [{ role: 'user', content: 'What is the name of my parrot?' }] }],
  chat: ['POST', '/v1/chat/completions', { model: 'rememberd/demo', messages: [{ role: 'user', content: 'What is the name of my parrot?' }] }],
};

const named = {
  header: (one, space) => [one[0], one[1], one[2], { 'x-memory-space': space }],
  query: (one, space) => [one[0], `${one[1]}?space=${space}`, one[2], {}],
  body: (one, space) => (one[2] && !one[2].jsonrpc ? [one[0], one[1], { ...one[2], space }, {}] : null),
  own: (one, space) => (!one[3] ? null : one[2] ? [one[0], one[1], { ...one[2], [one[3]]: space }, {}] : [one[0], `${one[1]}?${one[3]}=${space}`, undefined, {}]),
};

const ask = (server, [method, path, body, headers], more = {}) => server.ask(method, path, body, { ...headers, ...more });

test('a space is named alike at every door', async (t) => {
  const server = await serve(t);
  for (const [space, name] of [['home', 'Kiwi'], ['work', 'Mango']])
    assert.equal((await server.ask('POST', '/v1/memories', { content: `My parrot has the name ${name}.`, space })).status, 201);
  for (const [door, one] of Object.entries(reads)) {
    for (const [how, of] of Object.entries(named)) {
      if (!of(one, 'home')) continue;
      const home = await ask(server, of(one, 'home')), work = await ask(server, of(one, 'work')), none = await ask(server, of(one, 'nowhere'));
      for (const res of [home, work, none]) assert.equal(res.status, 200, `${door} by ${how}: ${res.text}`);
      assert.deepEqual([/Kiwi/.test(home.text), /Mango/.test(home.text)], [true, false], `${door} by ${how}: ${home.text}`);
      assert.deepEqual([/Kiwi/.test(work.text), /Mango/.test(work.text)], [false, true], `${door} by ${how}: ${work.text}`);
      assert.doesNotMatch(none.text, /Kiwi|Mango/, `${door} by ${how}`);
    }
  }
});

test('two names that differ are refused, the same name twice is not', async (t) => {
  const server = await serve(t);
  const tries = [['GET', '/v1/memories?space=a', undefined, { 'x-memory-space': 'b' }], ['GET', '/v1/memories', undefined, { 'x-memory-space': 'b', 'x-osaurus-agent-id': 'a' }],
    ['POST', '/v1/memories', { content: 'x', space: 'a' }, { 'x-memory-space': 'b' }], ['GET', '/api/memory?apiKeyId=a', undefined, { 'x-memory-space': 'b' }],
    ['GET', '/v1/memory/me?app_id=a', undefined, { 'x-memory-space': 'b' }], ['GET', '/memory?agent_id=a', undefined, { 'x-memory-space': 'b' }],
    ['POST', '/v1/session', { app_id: 'a' }, { 'x-memory-space': 'b' }], ['POST', '/a2a/conversation/create', { envelope, user_id: 'local', app_id: 'a', space: 'b' }, {}],
    ['POST', '/v1/chat/completions', { model: 'rememberd/demo', space: 'a', messages: [{ role: 'user', content: 'x' }] }, { 'x-memory-space': 'b' }]];
  for (const one of tries.filter(([, path]) => !path.startsWith('/memory?'))) {
    const res = await ask(server, one);
    assert.equal(res.status === 422 ? 400 : res.status, 400, `${one[1]}: ${res.text}`);
    assert.match(res.text, /names another space than/, one[1]);
    const same = [one[0], one[1].replace('=a', '=b'), one[2] && JSON.parse(JSON.stringify(one[2]).replaceAll('"a"', '"b"')),
      Object.fromEntries(Object.entries(one[3]).map(([name]) => [name, 'b']))];
    assert.ok((await ask(server, same)).status < 300, one[1]);
  }
  for (const [headers, rule] of [[{ 'x-memory-space': 'x'.repeat(201) }, /X-Memory-Space: must have at most 200 bytes/]]) {
    const res = await server.ask('GET', '/v1/memories', undefined, headers);
    assert.equal(res.status, 400);
    assert.match(res.text, rule);
  }
  assert.match((await server.ask('POST', '/v1/memories', { content: 'x', space: 7 })).text, /space: must be a string/);
});

test('the name of a space stays here', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const messages = [{ role: 'user', content: 'hello' }];
  const res = await server.chat({ space: 'home', model: 'any', 'x"y': 1.5, messages, temperature: 1 }, { 'x-memory-space': 'home', 'x-memory-user': 'anna' });
  assert.equal(res.status, 200, res.text);
  await server.ask('POST', '/v1/chat/completions?space=home&a=1&&b=%20', { model: 'any', messages });
  assert.equal(model.last().url, '/v1/chat/completions?a=1&&b=%20', 'what is for us goes, the rest stays');
  await server.ask('POST', '/v1/embeddings?a=1&&b', { model: 'any', input: 'x' });
  assert.equal(model.last().url, '/v1/embeddings?a=1&&b');
  await server.chat({ space: 'home', model: 'any', 'x"y': 1.5, messages, temperature: 1 });
  assert.equal(model.last().body.toString(), '{"model":"any","x\\"y":1.5,"messages":[{"role":"user","content":"hello"}],"temperature":1}');
  for (const target of ['/v1/chat/completions', '/v1/messages']) {
    await server.ask('POST', target, { model: 'any', space: 'home', messages }, { 'x-memory-mode': 'off' });
    assert.equal(model.last().body.toString(), '{"model":"any","messages":[{"role":"user","content":"hello"}]}', `${target} without memory`);
  }
});

// The table: which of its user's spaces a credential reaches.
test('what a token reaches is the same at every door', async (t) => {
  const server = await serve(t);
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--user', 'ada', '--data', server.data, ...args])).stdout);
  const own = await make('--name', 'own'), other = await make('--name', 'other'), named_ = await make('--space', 'home'), admin = await make('--admin');
  for (const [token, name] of [[own, 'Kiwi'], [other, 'Mango'], [named_, 'Plum']])
    assert.equal((await server.ask('POST', '/v1/memories', { content: `My parrot has the name ${name}.` }, bearer(token.token))).status, 201);
  const table = [[own, own.space, /Kiwi/, 200], [own, 'home', /Plum/, 200], [own, other.space, null, 403], [own, 'new', null, 200],
    [named_, 'home', /Plum/, 200], [named_, own.space, null, 403], [named_, other.id, null, 403],
    [admin, own.space, /Kiwi/, 200], [admin, other.space, /Mango/, 200], [admin, 'home', /Plum/, 200]];
  for (const [door, one] of Object.entries(reads)) {
    for (const [how, of] of Object.entries(named)) {
      for (const [token, space, finds, status] of table) {
        if (!of(one, space)) continue;
        const res = await ask(server, of(one, space), bearer(token.token));
        assert.equal(res.status, status, `${door} by ${how}: ${res.text}`);
        assert.deepEqual(res.text.match(/Kiwi|Mango|Plum/g)?.every((word) => finds?.test(word)) ?? true, true, `${door} by ${how}: ${res.text}`);
        if (finds) assert.match(res.text, finds, `${door} by ${how}`);
        if (status === 403) assert.match(res.text, /belongs to another token/);
      }
    }
  }
});

test('a registered user\'s token works at every door, also under a name that is no space yet', async (t) => {
  const server = await serve(t, { flags: ['--registration', 'open'] });
  await run(['token', 'create', '--user', 'someone', '--data', server.data]);
  await until('a token is needed', async () => (await server.ask('GET', '/v1/memories')).status === 401);
  const id = '5f0c3c2e-92b4-4f39-8a4e-0d3f2c1b7a10';
  const { access_token } = (await server.ask('POST', '/v1/users', { id, email: 'a@example.com' })).json();
  const made = await server.ask('POST', '/api/memory', { content: 'My parrot has the name Kiwi.', key: 'parrot', apiKeyId: 'brand-new' }, bearer(access_token));
  assert.equal(made.status, 200, made.text);
  assert.equal(made.json().memory.apiKeyId, 'brand-new');
  for (const [door, one] of Object.entries(reads)) {
    const res = await ask(server, named.header(one, 'brand-new'), bearer(access_token));
    assert.equal(res.status, 200, `${door}: ${res.text}`);
    assert.match(res.text, /Kiwi/, door);
  }
});

test('memories, receipts and sessions are found by id in every space in reach, and nowhere else', async (t) => {
  const server = await serve(t);
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--user', 'ada', '--data', server.data, ...args])).stdout);
  const own = await make(), other = await make(), home = await make('--space', 'home');
  const add = async (token) => (await server.ask('POST', '/v1/memories', { content: 'My parrot has the name Kiwi.' }, bearer(token.token))).json().id;
  const chat = async (token, session) => {
    const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'My parrot has the name Kiwi.' }] }, { ...bearer(token.token), 'x-session-id': session });
    await server.receipt(res.headers['x-rememberd-receipt'], bearer(token.token));
    return res.headers['x-rememberd-receipt'];
  };
  const things = { own: [await add(own), await chat(own, 'talk-own')], home: [await add(home), await chat(home, 'talk-home')] };
  const status = async (token, path, headers = {}) => (await server.ask('GET', path, undefined, { ...bearer(token.token), ...headers })).status;
  for (const [where, [memory, receipt]] of Object.entries(things)) {
    const paths = [`/v1/memories/${memory}`, `/api/memory/${memory}`, `/api/v1/memory/${memory}`, `/v1/receipts/${receipt}`, `/v1/session/talk-${where}`, `/v1/session/talk-${where}/history`];
    for (const path of paths) {
      assert.equal(await status(own, path), 200, `own ${path}`);
      assert.equal(await status(other, path), where === 'home' ? 200 : 404, `other ${path}`);
      assert.equal(await status(own, path, { 'x-memory-space': 'elsewhere' }), 404, `not where it is not: ${path}`);
    }
    const got = await server.ask('POST', '/mcp', rpc('memory_get', { id: memory }), bearer(other.token));
    assert.equal(/Kiwi/.test(got.text), where === 'home', got.text);
  }
  for (const [method, path] of [['DELETE', `/v1/memories/${things.own[0]}`], ['DELETE', `/api/memory/${things.own[0]}`], ['DELETE', '/v1/session/talk-own']])
    assert.equal((await server.ask(method, path, undefined, bearer(other.token))).status, 404, path);
  // A name that a client gave its session is not enough to erase one elsewhere.
  assert.equal((await server.ask('DELETE', '/v1/memories/talk-home', undefined, bearer(own.token))).status, 404);
  assert.equal((await server.ask('DELETE', `/v1/memories/${things.home[0]}`, undefined, bearer(other.token))).status, 200);
});

test('one id in two spaces is two sessions, and none is shown for the other', async (t) => {
  const server = await serve(t);
  const id = (await server.ask('POST', '/v1/session', { app_id: 'shop' })).json().session_id;
  await server.ask('POST', '/v1/chat', { session_id: id, message: 'I would like blue curtains.' });
  const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'My neighbour snores.' }] }, { 'x-session-id': id });
  await server.receipt(res.headers['x-rememberd-receipt']);
  const ask = (method, path, body, headers) => server.ask(method, path, body, headers);
  const both = [['GET', `/v1/session/${id}`], ['GET', `/v1/session/${id}/history`], ['GET', `/v1/session/${id}/context?query=x`], ['PATCH', `/v1/session/${id}`, { title: 'x' }],
    ['POST', '/v1/chat', { session_id: id, message: 'And?' }], ['DELETE', `/v1/session/${id}`],
    ['POST', '/a2a/conversation/chat', { envelope, action: 'chat', session_id: id, message: 'And?', user_id: 'local' }]];
  for (const [method, path, body] of both) {
    const refused = await ask(method, path, body);
    assert.equal(refused.status, 409, `${method} ${path}: ${refused.text}`);
    assert.match(refused.text, /default, shop|shop, default/);
  }
  const shop = await ask('GET', `/v1/session/${id}/history?app_id=shop`), own = await ask('GET', `/v1/session/${id}/history`, undefined, { 'x-memory-space': 'default' });
  assert.ok(/curtains/.test(shop.text) && !/snores/.test(shop.text), shop.text);
  assert.ok(/snores/.test(own.text) && !/curtains/.test(own.text), own.text);
  assert.equal((await ask('POST', '/v1/chat', { session_id: id, message: 'And?', space: 'shop' })).status, 200);
  assert.equal((await ask('DELETE', `/v1/session/${id}?space=shop`)).status, 204);
  assert.equal((await ask('GET', `/v1/session/${id}?space=shop`)).status, 404);
  assert.match((await ask('GET', `/v1/session/${id}/history`)).text, /snores/, 'one is left');
});

test('a token is made for a space in reach, and reaches no farther', async (t) => {
  const server = await serve(t);
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--user', 'ada', '--data', server.data, ...args])).stdout);
  const own = await make(), other = await make('--acts-for', 'any');
  const more = async (token, body) => server.ask('POST', '/v1/users/me/tokens', body, bearer(token.token));
  const made = await more(own, { name: 'phone', space: 'home' });
  assert.equal(made.status, 201, made.text);
  await server.ask('POST', '/v1/memories', { content: 'My parrot has the name Kiwi.', space: 'home' }, bearer(own.token));
  assert.match((await server.ask('GET', '/v1/memories', undefined, bearer(made.json().access_token))).text, /Kiwi/);
  assert.equal((await more(own, { name: 'phone', space: other.space })).status, 403);
  const plain = (await more(other, { name: 'phone' })).json().access_token;
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { ...bearer(plain), 'x-memory-user': 'anna' })).status, 403, 'the right to speak for people is not passed on');
});

test('what concerns everyone is not switched by a user\'s token', async (t) => {
  const server = await serve(t, { flags: ['--registration', 'open'] });
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout);
  const plain = await make('--user', 'ada'), boss = await make('--admin', '--acts-for', 'any'), ada = await make('--user', 'ada', '--admin');
  const changes = [['PUT', '/memory/config', { enabled: true }], ['PUT', '/api/settings/memory', { enabled: true }], ['POST', '/api/memory/reindex', {}]];
  for (const [method, path, body] of changes) {
    const res = await server.ask(method, path, body, bearer(ada.token));
    assert.equal(res.status, 403, 'the admin of one user');
    assert.match(res.text, /concerns all users and needs an admin token of an operator or owner; the role of this token's user is member/);
    assert.equal((await server.ask(method, path, body, bearer(boss.token))).status, 200, path);
  }
  // Nor does the admin of one user become another.
  const id = '5f0c3c2e-92b4-4f39-8a4e-0d3f2c1b7a10', user = { id, email: 'a@example.com' };
  assert.equal((await server.ask('POST', '/v1/users', user)).status, 201);
  assert.equal((await server.ask('POST', '/v1/users', user, bearer(ada.token))).status, 409);
  assert.equal((await server.ask('POST', '/v1/users', user, bearer(boss.token))).status, 201);
  for (const [method, path, body] of [['PUT', '/memory/config', { enabled: false }], ['PUT', '/api/settings/memory', { enabled: false }], ['POST', '/api/memory/reindex', {}], ['GET', '/metrics']]) {
    assert.equal((await server.ask(method, path, body, bearer(plain.token))).status, 403, path);
    assert.equal((await server.ask(method, path, body, { ...bearer(boss.token), 'x-memory-user': 'ada' })).status, 403, path);
  }
});
