// controls.test.js - the headers that say what memory may do.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { serve, until, upstream } = require('./lib');

const user = (content) => ({ model: 'any', messages: [{ role: 'user', content }] });
const question = 'What is my dog called?';

async function ready(t, flags = []) {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  return { model, server };
}

const search = async (server, query) => (await server.ask('POST', '/v1/memories/search', { query })).json().results;

// When nothing runs any more and a later write is durable, whatever was to be kept is kept.
async function settle(server) {
  await until('nothing runs', async () => /^rememberd_requests_active 1$/m.test((await server.ask('GET', '/metrics')).text));
  await server.tell('Good morning.');
}

for (const [name, values] of Object.entries({ 'x-omniroute-no-memory': ['true', '1', 'yes', 'TRUE', ' Yes '], 'x-memory-mode': ['off', 'OFF'] })) {
  test(`${name}: ${values.join(', ')} neither recalls nor keeps`, async (t) => {
    const { model, server } = await ready(t);
    await server.tell('My dog is called Rex.');
    for (const value of values) {
      const res = await server.chat(user(question), { [name]: value });
      assert.equal(res.status, 200);
      assert.equal(model.last().json.messages[0].content, question);
      assert.ok(!('x-rememberd-receipt' in res.headers));
    }
    await server.chat(user('My parrot is called Polly.'), { [name]: values[0] });
    await settle(server);
    assert.deepEqual((await search(server, 'parrot')).filter((one) => /Polly/.test(one.text)), []);
  });
}

test('x-omniroute-no-memory with any other value changes nothing', async (t) => {
  const { model, server } = await ready(t);
  await server.tell('My dog is called Rex.');
  for (const value of ['false', '0', 'no', '']) {
    await server.chat(user(question), { 'x-omniroute-no-memory': value });
    assert.match(model.last().json.messages[0].content, /Rex/);
  }
});

test('readonly recalls and keeps nothing', async (t) => {
  const { model, server } = await ready(t);
  await server.tell('My dog is called Rex.');
  await server.chat(user(question), { 'x-memory-mode': 'readonly' });
  assert.match(model.last().json.messages[0].content, /Rex/);
  await server.chat(user('My parrot is called Polly.'), { 'x-memory-mode': 'ReadOnly' });
  await settle(server);
  assert.deepEqual((await search(server, 'parrot')).filter((one) => /Polly/.test(one.text)), []);
  const res = await server.chat(user('My parrot is called Polly.'), { 'x-memory-mode': 'readonly' });
  await server.receipt(res.headers['x-rememberd-receipt']);
  for (const name of fs.readdirSync(server.data))
    assert.ok(!fs.readFileSync(path.join(server.data, name)).includes('Polly'), `${name} holds what was said`);
});

test('after keeps and recalls nothing', async (t) => {
  const { model, server } = await ready(t);
  await server.tell('My dog is called Rex.');
  await server.chat(user(question), { 'x-memory-mode': 'after' });
  assert.equal(model.last().json.messages[0].content, question);
  await server.chat(user('My parrot is called Polly.'), { 'x-memory-mode': 'after' });
  await settle(server);
  assert.ok((await search(server, 'parrot')).some((one) => /Polly/.test(one.text)));
});

test('an unknown mode is refused by name', async (t) => {
  const { model, server } = await ready(t);
  const res = await server.chat(user(question), { 'x-memory-mode': 'sometimes' });
  assert.equal(res.status, 400);
  const { error } = res.json();
  assert.equal(error.type, 'invalid_request_error');
  assert.match(error.param, /^x-memory-mode$/i);
  assert.match(error.message, /full, readonly, after, off/);
  assert.equal(model.asked.length, 0);
});

test('a refused page or host is told which setting allows it', async (t) => {
  const { server } = await ready(t);
  for (const headers of [{ origin: 'http://pages.example' }, { host: 'pages.example' }]) {
    const res = await server.ask('GET', '/v1/models', undefined, headers);
    assert.equal(res.status, 403);
    assert.match(res.json().error.message, /pages\.example.*hosts setting/);
  }
});

test('the setting memory off does the same for every request', async (t) => {
  const { model, server } = await ready(t, ['--memory', 'off']);
  const res = await server.chat(user('My dog is called Rex.'), { 'x-memory-mode': 'full' });
  assert.equal(res.status, 200);
  assert.ok(!('x-rememberd-receipt' in res.headers));
  await server.chat(user(question));
  assert.equal(model.last().json.messages[0].content, question);
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0);
});

for (const name of ['X-Session-Id', 'x-omniroute-session-id']) {
  test(`${name} names the conversation and comes back`, async (t) => {
    const { server } = await ready(t);
    const res = await server.chat(user('My dog is called Rex.'), { [name]: 'talk-1' });
    assert.equal(res.headers['x-omniroute-session-id'], 'talk-1');
    const receipt = await server.receipt(res.headers['x-rememberd-receipt']);
    assert.equal(receipt.session, 'talk-1');
    const [found] = (await search(server, 'dog')).filter((one) => one.kind === 'message');
    assert.equal(found.session, 'talk-1');
  });
}

test('without a name the same beginning is the same conversation', async (t) => {
  const { server } = await ready(t);
  const first = await server.chat(user('My dog is called Rex.'));
  await server.receipt(first.headers['x-rememberd-receipt']);
  const second = await server.chat({ model: 'any', messages: [{ role: 'user', content: 'My dog is called Rex.' },
    { role: 'assistant', content: 'fine' }, { role: 'user', content: 'And my cat is Tom.' }] });
  await server.receipt(second.headers['x-rememberd-receipt']);
  const other = await server.chat(user('My tea is green.'));
  const session = (res) => res.headers['x-omniroute-session-id'];
  assert.ok(session(first));
  assert.equal(session(second), session(first));
  assert.notEqual(session(other), session(first));
});

test('a session name over its limit is refused', async (t) => {
  const { server } = await ready(t);
  const res = await server.chat(user('hi'), { 'x-session-id': 'x'.repeat(300) });
  assert.equal(res.status, 400);
  assert.match(res.json().error.message, /256/);
});

test('no name of a user, space or session may hold a control character, and a parameter comes once', async (t) => {
  const { server } = await ready(t), add = { content: 'Plays the cello' };
  const c1 = Buffer.from('a\u0085b').toString('latin1'); // as a header has it
  const asks = {
    space: ['GET', '/v1/memories?space=a%01b'], 'x-memory-space': ['GET', '/v1/memories', , { 'x-memory-space': c1 }], name: ['DELETE', '/v1/spaces/a%0Ab'],
    'x-memory-user': ['GET', '/v1/memories', , { 'x-memory-user': c1 }], 'x-session-id': ['POST', '/v1/chat/completions', user('hi'), { 'x-session-id': c1 }],
    session: ['POST', '/v1/memories', { ...add, session: 'a\tb' }], user: ['POST', '/v1/tokens', { user: 'a\nb' }], spaces: ['POST', '/v1/tokens', { spaces: 'a,b\u007f' }],
    id: ['PUT', '/v1/users/a%0Ab/role', { role: 'member' }], sessionId: ['POST', '/api/memory', { ...add, key: 'k', type: 'factual', apiKeyId: '', sessionId: 'a\nb' }],
    agent_id: ['POST', '/v1/memories/', { messages: 'x', agent_id: '\nb' }], user_id: ['POST', '/v2/memories/search/', { query: 'cello', filters: { user_id: 'a\u009b' } }],
  };
  for (const [field, [method, path, body, headers]] of Object.entries(asks)) {
    const res = await server.ask(method, path, body, headers);
    assert.equal(res.status, 400, `${field}: ${res.text}`);
    assert.match(res.text, new RegExp(`${field}.*must not hold a control character`, 'i'));
  }
  assert.match((await server.ask('POST', '/v1/memories', { ...add, space: 'a\nb' })).text, /space.*control character/);
  assert.match((await server.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_add', arguments: { ...add, space: 'a\nb' } } })).text, /space: must not hold a control character/);
  for (const query of ['space=a&space=b', 'space=all&space=a', 'limit=1&limit=2']) {
    const res = await server.ask('GET', `/v1/memories?${query}`);
    assert.deepEqual([res.status, /comes twice/.test(res.text)], [400, true], res.text);
  }
  assert.equal((await server.ask('POST', '/v1/memories', { ...add, session: 'Müller’s 日記', space: 'ein Raum' })).status, 201);
});

test('a session name that no header can hold is the client\'s mistake, and nothing is kept', async (t) => {
  const { model, server } = await ready(t);
  const wrong = 'a\nb';
  const bodies = [['/v1/hooks', { hook_event_name: 'UserPromptSubmit', prompt: 'My dog is called Rex.', session_id: wrong }], ['/v1/chat/completions', { session_id: wrong }], ['/v1/messages', { max_tokens: 9, metadata: { session_id: wrong } }], ['/v1/responses', { input: 'My dog is called Rex.', conversation: { id: wrong } }]];
  for (const [path, more] of bodies) {
    const res = await server.ask('POST', path, { ...user('My dog is called Rex.'), ...more });
    assert.equal(res.status, 400, res.text);
    assert.match(res.text, /(session_id|conversation): must not hold a control character/);
  }
  assert.equal(model.asked.length, 0);
  assert.deepEqual(await search(server, 'dog'), []);
});

test('X-Osaurus-Agent-Id picks a space, and spaces do not see each other', async (t) => {
  const { model, server } = await ready(t);
  await server.tell('My dog is called Rex.', { 'x-osaurus-agent-id': 'one' });
  await server.chat(user(question), { 'x-osaurus-agent-id': 'two' });
  assert.equal(model.last().json.messages[0].content, question);
  await server.chat(user(question));
  assert.equal(model.last().json.messages[0].content, question);
  await server.chat(user(question), { 'x-osaurus-agent-id': 'one' });
  assert.match(model.last().json.messages[0].content, /Rex/);
});
