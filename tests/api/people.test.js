// people.test.js - people behind one key: each has a memory of its own, whatever names them; and who may speak for them.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { run, serve, tempFolder, until, upstream } = require('./lib');

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const said = (text, more = {}) => ({ model: 'any', messages: [{ role: 'user', content: text }], ...more });
const secret = 'The code of my bicycle lock is 9417.', question = 'What is the code of my bicycle lock?';

const jwt = (claims) => ['{"alg":"HS256"}', JSON.stringify(claims), 'signature'].map((part) => Buffer.from(part).toString('base64url')).join('.');
const claude = (account, session, device = 'd'.repeat(64)) => JSON.stringify({ device_id: device, account_uuid: account, session_id: session });
const oldClaude = (account, session, hash = 'a'.repeat(64)) => `user_${hash}_account_${account}_session_${session}`;

// How a client may name a person: what a name becomes in the headers and in the body.
const ways = {
  'X-Memory-User': (name) => ({ headers: { 'x-memory-user': name } }),
  user: (name) => ({ body: { user: name } }),
  safety_identifier: (name) => ({ body: { safety_identifier: name } }),
  'metadata.user_id': (name) => ({ body: { metadata: { user_id: name } } }),
  'Claude Code': (name) => ({ body: { metadata: { user_id: claude(name, 's') } } }),
  'Claude Code without an account': (name) => ({ body: { metadata: { user_id: claude('', 's', name) } } }),
  'Claude Code until mid-2026': (name) => ({ body: { metadata: { user_id: oldClaude(name, 's') } } }),
  'litellm_metadata.user': (name) => ({ body: { litellm_metadata: { user: name } } }),
  'X-OpenWebUI-User-Id': (name) => ({ headers: { 'x-openwebui-user-id': name } }),
  'X-OpenWebUI-User-Email': (name) => ({ headers: { 'x-openwebui-user-email': `${name}@example.com` } }),
  'X-OpenWebUI-User-Jwt': (name) => ({ headers: { 'x-openwebui-user-jwt': jwt({ sub: name, email: 'one@example.com' }) } }),
  'X-User-Id': (name) => ({ headers: { 'X-User-ID': name } }),
  'X-LiteLLM-End-User-Id': (name) => ({ headers: { 'x-litellm-end-user-id': name } }),
};

async function ready(t, flags = []) {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout);
  const say = async (text, { headers, body } = {}, more = {}) => {
    const res = await server.chat(said(text, body), { ...headers, ...more });
    assert.equal(res.status, 200, res.text);
    return res;
  };
  // Whether the model was given the secret for the question.
  const knows = async (who, more) => {
    await say(question, who, more);
    return /9417/.test(JSON.stringify(model.last().json.messages));
  };
  const tell = async (who, more = {}) => {
    const res = await say(secret, who, more);
    await server.receipt(res.headers['x-rememberd-receipt'], { ...(who?.headers ?? {}), ...more, ...name(who) });
  };
  return { model, server, make, say, knows, tell };
}

// The same person for an endpoint that reads no chat.
const name = (who) => {
  const body = who?.body ?? {};
  const id = body.metadata?.user_id;
  const parsed = id?.startsWith('{') ? JSON.parse(id) : null;
  const old = /_account_(.*)_session_/.exec(id ?? '');
  const person = body.user ?? body.safety_identifier ?? body.litellm_metadata?.user ?? (parsed ? parsed.account_uuid || parsed.device_id : old ? old[1] : id);
  return person === undefined ? {} : { 'x-memory-user': String(person) };
};

for (const [way, as] of Object.entries(ways)) {
  test(`two people named by ${way} share nothing, without any configuration`, async (t) => {
    const { knows, tell } = await ready(t);
    await tell(as('anna'));
    assert.deepEqual([await knows(as('bob')), await knows(as('Anna')), await knows({}), await knows(as('anna'))], [false, false, false, true]);
  });
}

test('what the key\'s own user said reaches no person either', async (t) => {
  const { knows, tell } = await ready(t);
  await tell({});
  assert.equal(await knows({}), true);
  for (const one of ['anna', 'local', 'default', 'local/', '.']) assert.equal(await knows(ways.user(one)), false, one);
});

test('a person called .. can be erased', async (t) => {
  const { server, knows, tell } = await ready(t);
  await tell(ways.user('..'));
  const [{ id }] = (await server.ask('GET', '/v1/users')).json().items.filter((one) => one.id !== 'local');
  const res = await server.ask('DELETE', `/v1/users/${encodeURIComponent(id)}`, { confirm: id });
  assert.equal(res.status, 200, res.text);
  assert.equal(await knows(ways.user('..')), false);
});

test('names that look alike are different people', async (t) => {
  const { knows, tell } = await ready(t);
  const alike = ['a', ' a', 'a ', 'A', 'a/b', 'a%2Fb', 'a%2fb', 'a/', '/a', '%', 'ä', 'a\u0308', 'local/a', 'local%2Fa', '0', 'any', 'none', '*'];
  for (const [i, one] of alike.entries()) {
    await tell(i ? {} : { body: { user: one } });
    if (i) break;
  }
  for (const one of alike.slice(1)) assert.equal(await knows({ body: { user: one } }), false, JSON.stringify(one));
  assert.equal(await knows({ body: { user: 'a' } }), true);
  assert.equal(await knows({ body: { safety_identifier: 'a' } }), true, 'one name is one person, whatever member names it');
});

test('Claude Code\'s session names the conversation, not the person', async (t) => {
  const { server, say, knows } = await ready(t);
  const [ann, eve] = ['11111111-0000-4000-8000-000000000001', '11111111-0000-4000-8000-000000000002'];
  const first = await say(secret, { body: { metadata: { user_id: claude(ann, 'one') } } });
  assert.equal(first.headers['x-omniroute-session-id'], 'one');
  await until('it is kept', async () => (await server.ask('GET', '/v1/session/one/history', undefined, { 'x-memory-user': ann })).status === 200);
  assert.equal(await knows({ body: { metadata: { user_id: claude(ann, 'two') } } }), true);
  assert.equal(await knows({ body: { metadata: { user_id: oldClaude(ann, 'three') } } }), true, 'the older form has the same account');
  assert.equal(await knows({ body: { metadata: { user_id: claude(eve, 'one') } } }), false);
});

test('what only looks like Claude Code\'s form is a name as it is', async (t) => {
  const { knows, tell } = await ready(t);
  const odd = ['user_account_session_', 'user_x_account_session_y', 'user__account__session_', 'user_x_account_', 'user_', '{', '{}', '{"device_id":""}', '{"session_id":"a"}',
    '{"session_id":"b"}', 'user_x_account_y', '_account_a_session_b', '[1]'];
  await tell(ways['metadata.user_id'](odd[0]));
  for (const one of odd.slice(1)) assert.equal(await knows(ways['metadata.user_id'](one)), false, one);
  assert.equal(await knows(ways['metadata.user_id'](odd[0])), true);
});

test('the first source that names someone counts', async (t) => {
  const { model, knows, tell } = await ready(t);
  await tell(ways.user('anna'));
  const both = (header, body) => ({ headers: header, body });
  assert.equal(await knows(both({ 'x-memory-user': 'anna' }, { user: 'bob' })), true);
  assert.equal(await knows(both({ 'x-memory-user': 'bob' }, { user: 'anna' })), false);
  assert.equal(await knows(both({ 'x-openwebui-user-id': 'bob' }, { user: 'anna' })), true);
  assert.equal(await knows(both({ 'x-memory-user': '' }, { user: 'anna' })), true, 'an empty header names nobody');
  assert.equal(await knows(both({ 'x-openwebui-user-id': 'anna' }, { user: '' })), true);
  assert.equal(await knows({ body: { user: 'bob', safety_identifier: 'anna' } }), false);
  assert.deepEqual([model.last().json.user, model.last().json.safety_identifier], ['bob', 'anna'], 'both are passed on');
});

test('--user-from chooses the sources', async (t) => {
  const off = await ready(t, ['--user-from', 'none']);
  await off.tell({ body: {} });
  assert.equal(await off.knows(ways.user('bob')), true, 'switched off: one memory');
  const one = await ready(t, ['--user-from', 'X-Team-Member, user']);
  await one.tell({ headers: { 'x-team-member': 'anna' } });
  assert.deepEqual([await one.knows({ headers: { 'x-team-member': 'bob' } }), await one.knows(ways.user('anna')), await one.knows(ways['X-User-Id']('anna'))],
    [false, true, false]);
  for (const list of ['', 'user,', 'usr', 'metadata', 'none,user']) {
    const res = await run(['serve', '--user-from', list, '--data', tempFolder(), '--listen', '127.0.0.1:0']);
    assert.notEqual(res.code, 0, list);
    assert.match(res.stderr, /user[-_]from/, list);
  }
});

test('a name that cannot be used is refused, and nobody lands in the shared memory', async (t) => {
  const { model, server, tell } = await ready(t);
  await tell({});
  const before = model.asked.length;
  const bad = [[{ user: { name: 'anna' } }, /^user: must be a string/], [{ user: true }, /^user: /], [{ user: ['anna'] }, /^user: /],
    [{ user: 'x'.repeat(257) }, /^user: must have at most 256 bytes/], [{ user: 'a\ud800' }, /^user: must be valid UTF-8/], [{ metadata: { user_id: {} } }, /^metadata\.user_id: /]];
  for (const [body, message] of bad) {
    const res = await server.chat(JSON.stringify(said(question, body)).replace('�', '\\ud800'));
    assert.equal(res.status, 400, res.text);
    assert.match(res.json().error.message, message);
  }
  for (const value of ['no jwt', 'a.b.c', jwt({ email: 'x' })]) {
    const res = await server.chat(said(question), { 'x-openwebui-user-jwt': value });
    assert.equal(res.status, 400, res.text);
    assert.match(res.json().error.message, /^X-OpenWebUI-User-Jwt: must be a JWT/);
  }
  const twice = await server.chat(said(question), { 'x-memory-user': ['anna', 'bob'] });
  assert.equal(twice.status, 400, twice.text);
  assert.match(twice.json().error.message, /^X-Memory-User: comes twice/);
  assert.equal(model.asked.length, before, 'the model was not asked');
  // A number is a name.
  assert.equal((await server.chat(said(question, { user: 12 }))).status, 200);
  assert.ok(!/9417/.test(JSON.stringify(model.last().json)));
});

test('a token speaks for people only if it may', async (t) => {
  const { model, server, make, knows, tell } = await ready(t);
  const plain = await make('--user', 'ann', '--space', 'default'), any = await make('--user', 'shop', '--acts-for', 'any', '--space', 'default'),
    list = await make('--user', 'shop', '--acts-for', 'anna, bob', '--space', 'default'), admin = await make('--user', 'shop', '--admin', '--space', 'default');
  assert.deepEqual([plain.acts_for, any.acts_for], ['', 'any']);
  await tell(ways.user('anna'), bearer(any.token));
  const before = model.asked.length;
  for (const token of [plain, admin]) {
    for (const [way, as] of Object.entries(ways)) {
      const { headers, body } = as('anna');
      const res = await server.chat(said(question, body), { ...headers, ...bearer(token.token) });
      assert.equal(res.status, 403, `${way}: ${res.text}`);
      assert.match(res.json().error.message, /this token may not speak for that person.*--acts-for/);
    }
    for (const [method, path, body] of [['GET', '/v1/memories'], ['POST', '/mcp', {}], ['GET', '/api/memory'], ['GET', '/v1/users/me'], ['GET', '/agents'], ['GET', '/api/v1/memory']])
      assert.equal((await server.ask(method, path, body, { ...bearer(token.token), 'x-memory-user': 'anna' })).status, 403, path);
  }
  assert.equal(model.asked.length, before, 'the model was not asked');
  assert.equal(await knows(ways.user('anna'), bearer(list.token)), true, 'the same people for every token of their owner that may');
  assert.equal(await knows(ways.user('bob'), bearer(list.token)), false);
  assert.equal((await server.chat(said(question, { user: 'carl' }), bearer(list.token))).status, 403);
  assert.equal(await knows({}, bearer(any.token)), false, 'the token itself is nobody of them');
  // Its own name, said by habit, changes nothing.
  await tell({}, bearer(plain.token));
  for (const own of ['ann']) assert.equal(await knows({ body: { user: own } }, bearer(plain.token)), true);
  // A switched-off memory needs no name.
  assert.equal((await server.chat(said(question, { user: 'anna' }), { ...bearer(plain.token), 'x-memory-mode': 'off' })).status, 200);
  for (const wrong of ['any,anna', 'a,,b', 'x'.repeat(300)]) {
    const res = await run(['token', 'create', '--acts-for', wrong, '--data', server.data]);
    assert.notEqual(res.code, 0);
    assert.match(res.stderr, /acts[-_]for/);
  }
  assert.match((await run(['token', 'list', '--data', server.data])).stdout, /acts for anna, bob/);
});

test('a person never meets a user of the same name', async (t) => {
  const { make, knows, tell } = await ready(t);
  const anna = await make('--user', 'anna', '--space', 'default'), shop = await make('--user', 'shop', '--acts-for', 'any', '--space', 'default'),
    other = await make('--user', 'other', '--acts-for', 'any', '--space', 'default');
  await tell({}, bearer(anna.token));
  assert.equal(await knows({}, bearer(anna.token)), true);
  for (const one of ['anna', '../anna', 'anna/default', 'shop', 'shop/anna'])
    for (const token of [shop, other]) assert.equal(await knows(ways.user(one), bearer(token.token)), false, one);
  await tell(ways.user('shop'), bearer(shop.token));
  assert.equal(await knows({}, bearer(shop.token)), false, 'a person called like the owner is not the owner');
  assert.equal(await knows(ways.user('shop'), bearer(other.token)), false, 'another owner\'s person of that name is another');
});

test('a person has everything of its own at every door, and nothing of the server', async (t) => {
  const { server, make } = await ready(t);
  const admin = await make('--user', 'shop', '--admin', '--acts-for', 'any', '--space', 'default');
  const as = (person) => ({ ...bearer(admin.token), ...(person ? { 'x-memory-user': person } : {}) });
  const ask = (person, method, path, body) => server.ask(method, path, body, as(person));
  await ask('anna', 'POST', '/v1/memories', { content: 'The lock code is 9417.' });
  await ask('anna', 'POST', '/api/v1/memory', { content: 'The lock code is 9417, really.', memory_type: 'fact' });
  await ask('anna', 'POST', '/memory/ingest', { agent_id: 'helper', conversation_id: 'c1', turns: [{ user: 'The lock code is 9417.', assistant: 'ok' }], skip_extraction: true });
  const { session_id } = (await ask('anna', 'POST', '/v1/session', {})).json();
  const looks = ['/v1/memories', '/api/memory', '/api/v1/memory', '/v1/memory/me', '/v1/users/me/sessions', '/agents', '/v1/session/c1/history'];
  for (const path of looks) {
    assert.ok(/9417|c1|helper/.test((await ask('anna', 'GET', path)).text), path);
    for (const person of ['bob', null]) assert.ok(!/9417|"c1"|helper/.test((await ask(person, 'GET', path)).text), `${person} ${path}`);
  }
  assert.equal((await ask('anna', 'GET', `/v1/session/${session_id}`)).status, 200);
  assert.equal((await ask('bob', 'GET', `/v1/session/${session_id}`)).status, 404);
  const mcp = (person) => ask(person, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_search', arguments: { query: 'lock code' } } });
  assert.match((await mcp('anna')).text, /9417/);
  assert.doesNotMatch((await mcp('bob')).text, /9417/);
  // Its tokens are its own: it neither sees nor revokes those of the front end.
  const mine = (await ask('anna', 'POST', '/v1/users/me/tokens', { name: 'mine' })).json().access_token;
  assert.match((await server.ask('GET', '/v1/memories', undefined, bearer(mine))).text, /9417/);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { ...bearer(mine), 'x-memory-user': 'bob' })).status, 403);
  const listed = (await ask('anna', 'GET', '/v1/users/me/tokens')).json().tokens;
  assert.deepEqual(listed.map((one) => one.name), ['mine']);
  assert.equal((await ask('anna', 'DELETE', `/v1/users/me/tokens/${admin.id}`)).status, 404);
  assert.equal((await ask('bob', 'DELETE', `/v1/users/me/tokens/${listed[0].id}`)).status, 404);
  // Forgetting everything of one person touches no other.
  await ask('bob', 'POST', '/v1/memories', { content: 'Bob was here.' });
  await ask('anna', 'DELETE', '/v1/memory/user/all?app_id=*');
  assert.doesNotMatch((await ask('anna', 'GET', '/v1/memories')).text, /9417/);
  assert.match((await ask('bob', 'GET', '/v1/memories')).text, /Bob was here/);
  // No settings in a person's name, though the token is an admin's.
  for (const [method, path, body] of [['GET', '/metrics'], ['PUT', '/memory/config', { enabled: false }], ['PUT', '/api/settings/memory', { enabled: false }]]) {
    const res = await ask('anna', method, path, body);
    assert.equal(res.status, 403, `${path} ${res.text}`);
    assert.match(res.text, /not done in a person's name/);
  }
});

test('Cortex\'s chat and the agents\' door know people as well', async (t) => {
  const { model, server } = await ready(t);
  const anna = { 'x-memory-user': 'anna' };
  const begin = async (headers) => (await server.ask('POST', '/v1/session', {}, headers)).json().session_id;
  const one = await begin(anna);
  const res = await server.ask('POST', '/v1/chat', { session_id: one, message: secret }, anna);
  assert.equal(res.status, 200, res.text);
  const again = await begin(anna), bob = await begin({ 'x-memory-user': 'bob' });
  await server.ask('POST', '/v1/chat', { session_id: again, message: question, user: 'anna' });
  assert.match(JSON.stringify(model.last().json), /9417/);
  await server.ask('POST', '/v1/chat', { session_id: bob, message: question, user: 'bob' });
  assert.doesNotMatch(JSON.stringify(model.last().json), /9417/);
  assert.equal((await server.ask('POST', '/v1/chat', { session_id: one, message: question, user: 'bob' })).status, 404);
  const envelope = { message_id: 'm', sender_agent_key: 'k', timestamp: '2026-11-20T10:00:00Z' };
  const a2a = (user_id, headers) => server.ask('POST', '/a2a/conversation/create', { envelope, user_id }, headers);
  assert.equal((await a2a('anna', anna)).status, 201);
  assert.equal((await a2a('local', anna)).status, 403);
  assert.equal((await a2a('anna', {})).status, 403);
});

test('the front end\'s chat id is the session', async (t) => {
  const { server, say } = await ready(t);
  const chat = { headers: { 'x-openwebui-user-id': 'u1', 'x-openwebui-chat-id': 'chat-7' } };
  const first = await say('hi', chat);
  assert.equal(first.headers['x-omniroute-session-id'], 'chat-7');
  await say('hi', { headers: { 'x-openwebui-user-id': 'u1', 'x-openwebui-chat-id': 'chat-8' } });
  const ids = async () => (await server.ask('GET', '/v1/users/me/sessions', undefined, { 'x-memory-user': 'u1' })).json().sessions.map((s) => s.id).sort();
  await until('both are kept', async () => (await ids()).length === 2);
  assert.deepEqual(await ids(), ['chat-7', 'chat-8']);
  for (const header of ['x-chat-id', 'x-conversation-id', 'x-claude-code-session-id', 'x-litellm-session-id', 'x-session-affinity'])
    assert.equal((await say('hello', { headers: { [header]: 'abc' } })).headers['x-omniroute-session-id'], 'abc', header);
  assert.equal((await say('hello', { headers: { 'x-session-id': 'mine', 'x-openwebui-chat-id': 'theirs' } })).headers['x-omniroute-session-id'], 'mine');
});

test('the command line reaches a person by OWNER/PERSON', async (t) => {
  const { server, tell } = await ready(t);
  await tell(ways.user('anna'));
  const list = (await run(['search', '--user', 'local/anna', '--data', server.data, 'bicycle lock'])).stdout;
  assert.match(list, /9417/);
});
