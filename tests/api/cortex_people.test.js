// cortex_people.test.js - Cortex's users, tokens and sessions over HTTP: the reference's own requests, who may what, what stays apart.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, until, upstream } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const bearer = (token) => ({ authorization: `Bearer ${token}` });
const nobody = '00000000-0000-4000-8000-000000000000';

// The reference's example, as it stands.
const john = {
  id: '550e8400-e29b-41d4-a716-446655440000', email: 'user@example.com', first_name: 'John', last_name: 'Doe',
  switch_ai_api_key: 'sk-your-api-key', custom_attributes: { company: 'Acme Inc' }, token_name: 'My Laptop',
};
const jane = { id: '660e8400-e29b-41d4-a716-446655440001', email: 'jane@example.com' };

// asks(server, token)(method, path, body) → {status, headers, text, json}
const asks = (server, token) => (method, target, body) => server.ask(method, target, body, token ? bearer(token) : {});

async function registered(server, who, token) {
  const res = await asks(server, token)('POST', '/v1/users', who);
  assert.equal(res.status, 201, res.text);
  const made = res.json();
  assert.deepEqual(Object.keys(made), ['access_token', 'token_type']);
  assert.equal(made.token_type, 'Bearer');
  assert.match(made.access_token, /^ctx_[\w-]{43}$/);
  return made.access_token;
}

async function token(server, ...args) {
  const made = await run(['token', 'create', '--json', '--data', server.data, ...args]);
  assert.equal(made.code, 0, made.stderr);
  return JSON.parse(made.stdout).token;
}

function refused(res, status, code, field) {
  assert.equal(res.status, status, res.text);
  const { error } = res.json();
  assert.deepEqual(Object.keys(error), ['code', 'message', 'trace_id', 'details']);
  assert.equal(error.code, code);
  assert.equal(error.trace_id, res.headers['x-trace-id']);
  assert.equal(error.details.field, field);
  return error;
}

test('who registers has a token, a name and a masked model key', async (t) => {
  const server = await serve(t);
  const first = await registered(server, john), ask = asks(server, first);
  const me = await ask('GET', '/v1/users/me');
  assert.equal(me.status, 200);
  const { created_at: created, ...rest } = me.json();
  assert.match(created, time);
  assert.deepEqual(rest, { id: john.id, email: john.email, first_name: 'John', last_name: 'Doe', is_active: true, has_api_key: true, api_key_preview: 'sk-...-key' });

  const key = { api_key: 'sk-new-api-key' };
  assert.deepEqual((await ask('PUT', '/v1/users/me/api-key', key)).json(), { message: 'API key updated successfully', has_api_key: true, api_key_preview: 'sk-...-key' });
  for (const api_key of [null, '']) {
    assert.equal((await ask('PUT', '/v1/users/me/api-key', key)).json().has_api_key, true);
    assert.deepEqual((await ask('PUT', '/v1/users/me/api-key', { api_key })).json(), { message: 'API key cleared successfully', has_api_key: false, api_key_preview: null });
    assert.equal((await ask('GET', '/v1/users/me')).json().has_api_key, false);
  }
  refused(await ask('PUT', '/v1/users/me/api-key', {}), 400, 'VALIDATION_ERROR', 'api_key');
  refused(await ask('PUT', '/v1/users/me/api-key', { api_key: 5 }), 400, 'VALIDATION_ERROR', 'api_key');
  refused(await ask('PUT', '/v1/users/me/api-key', { api_key: 'sk\r\nX: y' }), 400, 'VALIDATION_ERROR', 'api_key');
  refused(await ask('PUT', '/v1/users/me/api-key', { api_key: first }), 400, 'VALIDATION_ERROR', 'api_key');

  const bad = { id: 'x', email: 'no address', first_name: 'x'.repeat(201), custom_attributes: [1], token_name: 5, switch_ai_api_key: 'a b' };
  for (const [field, value] of Object.entries(bad))
    refused(await asks(server)('POST', '/v1/users', { ...jane, [field]: value }), 400, 'VALIDATION_ERROR', field);
  for (const field of ['id', 'email'])
    refused(await asks(server)('POST', '/v1/users', { ...jane, [field]: undefined }), 400, 'VALIDATION_ERROR', field);
  refused(await asks(server)('POST', '/v1/users', '{"id":'), 400, 'VALIDATION_ERROR', undefined);
  for (const [method, target] of [['DELETE', '/v1/users/me'], ['POST', '/v1/session/x'], ['PATCH', '/v1/users/me/tokens']])
    refused(await server.ask(method, target), 405, 'NOT_SUPPORTED', undefined);
  assert.equal((await server.ask('GET', '/v1/users/me/nothing')).status, 404);
  const trace = await server.ask('GET', '/v1/users/me', undefined, { ...bearer('ctx_none'), 'x-trace-id': nobody });
  assert.equal(refused(trace, 401, 'AUTHENTICATION_FAILED').trace_id, nobody);
});

test('who is there is changed with proof alone, and nobody learns who is there', async (t) => {
  const server = await serve(t, { flags: ['--registration', 'open'] }), open = asks(server);
  const own = await registered(server, john), other = await registered(server, jane);
  const before = (await asks(server, own)('GET', '/v1/users/me')).text;
  const same = [john, { ...john, id: john.id.toUpperCase() }, { ...john, email: 'else@example.com' }, { id: nobody, email: john.email }, { id: nobody, email: 'USER@EXAMPLE.com' }];
  const answers = new Set();
  for (const who of same)
    for (const ask of [open, asks(server, other)])
      answers.add(refused(await ask('POST', '/v1/users', who), 409, 'CONFLICT').message);
  assert.equal(answers.size, 1, 'the same words for each');
  refused(await asks(server, 'ctx_none')('POST', '/v1/users', { id: nobody, email: 'new@example.com' }), 401, 'AUTHENTICATION_FAILED');
  assert.equal((await asks(server, own)('GET', '/v1/users/me')).text, before, 'nothing was changed');
  assert.equal((await asks(server, own)('GET', '/v1/users/me/tokens')).json().tokens.length, 1, 'and no token made');

  const race = await Promise.all([...Array(8).keys()].map((n) => open('POST', '/v1/users', { id: nobody.replace('4000', `400${n % 2}`), email: `race${n % 4}@example.com` })));
  assert.equal(race.filter((res) => res.status === 201).length, 2, 'of several at once each id and address has one');
  for (const res of race) if (res.status !== 201) refused(res, 409, 'CONFLICT');

  // One's own token is proof: what is said anew changes, the rest stays, and there is a new token.
  const second = await registered(server, { ...john, email: 'new@example.com', first_name: undefined, last_name: 'Roe', switch_ai_api_key: null, token_name: undefined }, own);
  const { first_name, last_name, email, has_api_key } = (await asks(server, second)('GET', '/v1/users/me')).json();
  assert.deepEqual([first_name, last_name, email, has_api_key], ['John', 'Roe', 'new@example.com', true]);
  assert.deepEqual((await asks(server, second)('GET', '/v1/users/me/tokens')).json().tokens.map((one) => one.name).sort(), ['Initial Token', 'My Laptop']);
  refused(await asks(server, own)('POST', '/v1/users', { ...john, email: jane.email }), 409, 'CONFLICT');
  await registered(server, { id: nobody.replace('4000', '4002'), email: john.email }, other); // the address is free again, and anyone may register

  // Whoever has memories or a token here is someone, registered or not.
  const tenant = '770e8400-e29b-41d4-a716-446655440002';
  const theirs = await token(server, '--user', tenant);
  refused(await open('POST', '/v1/users', { id: tenant, email: 'tenant@example.com' }), 409, 'CONFLICT');
  await registered(server, { id: tenant, email: 'tenant@example.com' }, theirs);
  // An admin's is proof for all.
  await registered(server, { ...john, email: 'new@example.com', last_name: 'Admins' }, await token(server, '--admin'));
  assert.equal((await asks(server, own)('GET', '/v1/users/me')).json().last_name, 'Admins');
});

test('tokens are made, listed by how they begin, and revoked', async (t) => {
  const server = await serve(t);
  const first = await registered(server, john), other = await registered(server, jane), ask = asks(server, first);
  const made = await ask('POST', '/v1/users/me/tokens', { name: 'Chrome on MacBook' });
  assert.equal(made.status, 201);
  const second = made.json().access_token;
  assert.match(second, /^ctx_/);
  assert.equal((await ask('POST', '/v1/users/me/tokens', {})).status, 201);
  refused(await ask('POST', '/v1/users/me/tokens', { name: 'x'.repeat(201) }), 400, 'VALIDATION_ERROR', 'name');
  const list = async (by) => (await asks(server, by)('GET', '/v1/users/me/tokens')).json().tokens;
  const rows = await list(first);
  assert.deepEqual(rows.map((one) => one.name).sort(), ['API Token', 'Chrome on MacBook', 'My Laptop']);
  const chrome = rows.find((one) => one.name === 'Chrome on MacBook');
  assert.deepEqual(Object.keys(chrome), ['id', 'name', 'token_prefix', 'last_used_at', 'created_at']);
  assert.match(chrome.id, uuid);
  assert.match(chrome.created_at, time);
  assert.equal(chrome.last_used_at, null);
  assert.equal(chrome.token_prefix, `${second.slice(0, 10)}...`);
  assert.ok(!JSON.stringify(rows).includes(second.slice(0, 12)));
  assert.equal((await asks(server, second)('GET', '/v1/users/me')).status, 200);
  await until('it was used', async () => time.test((await list(first)).find((one) => one.id === chrome.id).last_used_at));

  const missing = (res) => {
    refused(res, 404, 'TOKEN_NOT_FOUND');
    assert.equal(res.json().detail, 'Token not found');
    return res.json().error.message;
  };
  const words = new Set();
  for (const [by, id] of [[other, chrome.id], [first, nobody], [first, 'none']])
    words.add(missing(await asks(server, by)('DELETE', `/v1/users/me/tokens/${id}`)));
  assert.equal((await asks(server, second)('GET', '/v1/users/me')).status, 200);
  const gone = await ask('DELETE', `/v1/users/me/tokens/${chrome.id}`);
  assert.deepEqual([gone.status, gone.text], [204, '']);
  refused(await asks(server, second)('GET', '/v1/users/me'), 401, 'AUTHENTICATION_FAILED');
  words.add(missing(await ask('DELETE', `/v1/users/me/tokens/${chrome.id}`)));
  assert.equal(words.size, 1);
  assert.ok(!(await list(first)).some((one) => one.id === chrome.id), 'only active ones');

  // They close no server: without one, everything is as before. The local user has no need to register.
  const local = await server.ask('GET', '/v1/users/me');
  assert.deepEqual(local.json(), { id: 'local', email: null, first_name: null, last_name: null, is_active: true, created_at: null, has_api_key: false, api_key_preview: null });
  assert.equal((await server.ask('PUT', '/v1/users/me/api-key', { api_key: 'sk-local-0123456789' })).json().api_key_preview, 'sk-...456789');
  assert.equal((await server.ask('GET', '/v1/users/me')).json().has_api_key, true);
  assert.equal((await server.ask('GET', '/metrics')).status, 200);
  refused(await server.ask('GET', '/v1/users/me', undefined, bearer('ctx_none')), 401, 'AUTHENTICATION_FAILED');
  assert.equal((await server.ask('GET', '/metrics', undefined, bearer(first))).status, 403);

  // A plain token of the machine's owner sees nothing of an admin's, nor of those with a space of their own.
  const plain = await token(server, '--name', 'plain'), admin = await token(server, '--admin', '--name', 'admin');
  assert.deepEqual((await list(plain)).map((one) => one.name), ['plain']);
  const all = await list(admin);
  assert.deepEqual(all.map((one) => one.name).sort(), ['admin', 'plain']);
  missing(await asks(server, plain)('DELETE', `/v1/users/me/tokens/${all.find((one) => one.name === 'admin').id}`));
  refused(await server.ask('GET', '/v1/users/me'), 401, 'AUTHENTICATION_FAILED');
  const cli = await run(['token', 'list', '--json', '--data', server.data]);
  const mine = JSON.parse(cli.stdout).find((one) => one.name === 'My Laptop');
  assert.equal(mine.prefix, first.slice(0, 10));
  assert.match(mine.last_used, time);
  assert.match((await run(['token', 'list', '--data', server.data])).stdout, new RegExp(`${first.slice(0, 10)}….* used .*My Laptop`));
});

test('who may register is a setting', async (t) => {
  const data = tempFolder();
  const newcomer = (n) => ({ id: `880e8400-e29b-41d4-a716-44665544000${n}`, email: `n${n}@example.com` });
  const start = async (...flags) => {
    const server = await serve(t, { data, flags });
    server.url = `http://127.0.0.1:${server.port}`;
    return server;
  };
  const anywhere = ['--listen', '0.0.0.0:0'];
  let server = await start();
  const own = await registered(server, newcomer(0)); // auto, and only this machine is listened to
  const passedOn = await server.ask('POST', '/v1/users', newcomer(1), { 'x-forwarded-for': '10.0.0.1' });
  refused(passedOn, 403, 'FORBIDDEN');
  const admin = await token(server, '--admin');
  refused(await asks(server)('POST', '/v1/users', newcomer(1)), 403, 'FORBIDDEN'); // now requests need a token
  await server.stop();
  for (const flags of [anywhere, ['--registration', 'off']]) {
    server = await start(...flags);
    assert.match(refused(await asks(server)('POST', '/v1/users', newcomer(1)), 403, 'FORBIDDEN').message, /registration/);
    refused(await asks(server, own)('POST', '/v1/users', newcomer(1)), 403, 'FORBIDDEN');
    await registered(server, newcomer(0), own);
    await registered(server, newcomer(flags.length + 4), admin).catch((error) => { throw error; });
    await server.stop();
  }
  server = await start(...anywhere, '--registration', 'open');
  await registered(server, newcomer(1));
});

test('sessions are made, changed, listed, read and forgotten', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const own = await registered(server, john), ask = asks(server, own);
  const other = await registered(server, jane);

  const made = await ask('POST', '/v1/session', { app_id: 'my-app', metadata: { source: 'web', language: 'en' } });
  assert.equal(made.status, 201);
  const { session_id: id, created_at: created } = made.json();
  assert.match(id, uuid);
  assert.match(created, time);
  const got = await ask('GET', `/v1/session/${id}`);
  assert.deepEqual(got.json(), { id, user_id: john.id, app_id: 'my-app', title: null, created_at: created, updated_at: created, metadata: { source: 'web', language: 'en' } });
  assert.equal((await ask('GET', `/v1/sessions/${id}`)).text, got.text);

  const patched = await ask('PATCH', `/v1/session/${id}`, { title: 'New Title', metadata: { new_field: 'value' } });
  assert.equal(patched.status, 200);
  assert.equal(patched.json().title, 'New Title');
  assert.deepEqual(patched.json().metadata, { source: 'web', language: 'en', new_field: 'value' });
  assert.deepEqual((await ask('PATCH', `/v1/session/${id}`, { metadata: { language: null, new_field: { a: 1 } } })).json().metadata, { source: 'web', new_field: { a: 1 } });
  assert.equal((await ask('PATCH', `/v1/session/${id}`, {})).json().title, 'New Title');
  assert.equal((await ask('PATCH', `/v1/session/${id}`, { title: 'é'.repeat(200) })).json().title, 'é'.repeat(200));
  refused(await ask('PATCH', `/v1/session/${id}`, { title: 'x'.repeat(201) }), 400, 'VALIDATION_ERROR', 'title');
  refused(await ask('PATCH', `/v1/session/${id}`, { title: 5 }), 400, 'VALIDATION_ERROR', 'title');
  for (const metadata of [[1], 'x', { a: 'x'.repeat(65536) }]) {
    refused(await ask('PATCH', `/v1/session/${id}`, { metadata }), 400, 'VALIDATION_ERROR', 'metadata');
    refused(await ask('POST', '/v1/session', { metadata }), 400, 'VALIDATION_ERROR', 'metadata');
  }
  refused(await ask('POST', '/v1/session', { app_id: 'x'.repeat(201) }), 400, 'VALIDATION_ERROR', 'app_id');
  const many = await Promise.all([...Array(8).keys()].map((n) => ask('PATCH', `/v1/session/${id}`, { metadata: { [`n${n}`]: n } })));
  for (const res of many) assert.equal(res.status, 200, res.text);
  assert.equal(Object.keys((await ask('GET', `/v1/session/${id}`)).json().metadata).length, 10, 'none of them is lost');

  // What the proxy is told is a session, too: of the user's pool, with what was said in it.
  const said = await server.chat({ model: 'any', messages: [{ role: 'user', content: 'My dog is called Rex.' }] }, { ...bearer(own), 'x-session-id': 'walk/1' });
  assert.equal(said.status, 200);
  await server.receipt(said.headers['x-rememberd-receipt'], bearer(own));
  const history = await until('the answer is kept', async () => {
    const res = (await ask('GET', '/v1/session/walk%2F1/history')).json();
    return res.messages?.length === 2 && res;
  });
  assert.equal(history.session_id, 'walk/1');
  assert.deepEqual(history.messages.map((one) => one.role), ['user', 'assistant']);
  const [first] = history.messages;
  assert.deepEqual(Object.keys(first), ['id', 'role', 'content', 'token_count', 'created_at']);
  assert.match(first.id, uuid);
  assert.equal(first.content, 'My dog is called Rex.');
  assert.equal(first.token_count, 6);
  assert.match(first.created_at, time);
  assert.equal((await ask('GET', '/v1/session/walk%2F1')).json().app_id, 'default');

  const third = (await ask('POST', '/v1/session', {})).json().session_id;
  const list = async (query = '') => (await ask('GET', `/v1/users/me/sessions${query}`)).json();
  const all = await list();
  assert.deepEqual([all.total, all.limit, all.offset], [3, 20, 0]);
  assert.deepEqual(all.sessions.map((one) => one.id), [third, 'walk/1', id], 'last spoken in first');
  assert.deepEqual(Object.keys(all.sessions[0]), ['id', 'title', 'app_id', 'created_at', 'updated_at', 'message_count']);
  assert.deepEqual(all.sessions.map((one) => one.message_count), [0, 2, 0]);
  assert.deepEqual(await list('?limit=1&offset=2'), { sessions: [all.sessions[2]], total: 3, limit: 1, offset: 2, next: null });
  assert.equal((await ask('GET', '/v1/sessions')).text, (await ask('GET', '/v1/users/me/sessions')).text);
  await ask('PATCH', `/v1/session/${id}`, { title: 'Trip to Tokyo' });
  assert.deepEqual((await list('?search=tokyo')).sessions.map((one) => one.title), ['Trip to Tokyo']);
  assert.deepEqual((await list('?app_id=default')).sessions.map((one) => one.id), [third, 'walk/1']);
  for (const query of ['?limit=0', '?limit=101', '?limit=x', '?offset=-1', `?search=${'x'.repeat(201)}`])
    refused(await ask('GET', `/v1/users/me/sessions${query}`), 400, 'VALIDATION_ERROR', query.slice(1).split('=')[0]);

  // Another's session, and one that nobody has, are the same thing.
  const probes = [['GET', ''], ['PATCH', ''], ['DELETE', ''], ['GET', '/history']];
  for (const [method, tail] of probes) {
    const body = method === 'PATCH' ? { title: 'Mine', metadata: { a: 1 } } : undefined;
    const words = [];
    for (const which of [id, 'walk%2F1', third, nobody])
      words.push(refused(await asks(server, other)(method, `/v1/session/${which}${tail}`, body), 404, 'SESSION_NOT_FOUND').message);
    assert.equal(new Set(words).size, 1);
  }
  refused(await asks(server, other)('GET', `/v1/sessions/${id}`), 404, 'SESSION_NOT_FOUND');
  refused(await server.ask('GET', `/v1/session/${id}`), 404, 'SESSION_NOT_FOUND');
  assert.deepEqual((await asks(server, other)('GET', '/v1/users/me/sessions')).json(), { sessions: [], total: 0, limit: 20, offset: 0, next: null });
  assert.equal((await ask('GET', `/v1/session/${id}`)).json().title, 'Trip to Tokyo');

  // A token with a space of its own finds what has a name, lists its own, and hides that from the others; they lose nothing else by it.
  const alone = asks(server, await token(server, '--user', john.id));
  const secret = (await alone('POST', '/v1/session', {})).json();
  assert.ok(secret.session_id, JSON.stringify(secret));
  assert.equal((await alone('GET', `/v1/session/${id}`)).status, 200);
  refused(await ask('GET', `/v1/session/${secret.session_id}`), 404, 'SESSION_NOT_FOUND');
  assert.equal((await ask('GET', `/v1/session/${id}`)).status, 200);
  assert.deepEqual((await alone('GET', '/v1/sessions')).json().sessions.map((one) => one.id), [secret.session_id]);
  assert.deepEqual((await list('?app_id=my-app')).sessions.map((one) => one.id), [id]);

  // Deleted is what was said; what was learnt stays.
  const learnt = (await ask('GET', '/v1/memories')).json();
  assert.ok(learnt.memories.some((one) => /Rex/.test(one.content)), JSON.stringify(learnt));
  for (const which of ['walk%2F1', id]) {
    const gone = await ask('DELETE', `/v1/session/${which}`);
    assert.deepEqual([gone.status, gone.text], [204, '']);
    refused(await ask('DELETE', `/v1/session/${which}`), 404, 'SESSION_NOT_FOUND');
    refused(await ask('GET', `/v1/session/${which}/history`), 404, 'SESSION_NOT_FOUND');
  }
  assert.deepEqual((await list()).sessions.map((one) => one.id), [third]);
  assert.ok((await ask('GET', '/v1/memories')).json().memories.some((one) => /Rex/.test(one.content)));
});

test('a user\'s token stays here and finds the user\'s own memory through the proxy', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-key', 'sk-settings'] });
  const own = await registered(server, john);
  const chat = (content, headers) => server.chat({ model: 'any', messages: [{ role: 'user', content }] }, headers);
  const said = await chat('My dog is called Rex.', bearer(own));
  assert.equal(said.status, 200);
  await server.receipt(said.headers['x-rememberd-receipt'], bearer(own));
  await chat('What is my dog called?', bearer(own));
  assert.match(model.last().json.messages[0].content, /Rex/);
  await chat('What is my dog called?', {});
  assert.ok(!/Rex/.test(model.last().json.messages[0].content), 'it is nobody else\'s');
  const ways = [bearer(own), { ...bearer(own), 'x-memory-mode': 'off' }, { ...bearer(own), 'x-api-key': own }, { ...bearer(own), 'x-upstream-authorization': `Bearer ${own}` }, { ...bearer(own), 'x-custom': `token="${own}"` }];
  for (const headers of ways) {
    assert.equal((await chat('hi', headers)).status, 200);
    assert.ok(!JSON.stringify(model.last().req.rawHeaders).includes(own), JSON.stringify(headers));
    assert.equal(model.last().headers.authorization, 'Bearer sk-settings');
  }
  const asked = model.asked.length;
  for (const authorization of [own, `Basic ${own}`, `bearer\t${own}x`, 'Bearer ctx_none', 'Bearer rk_none'])
    for (const mode of ['full', 'off'])
      assert.equal((await chat('hi', { authorization, 'x-memory-mode': mode })).status, 401, authorization);
  assert.equal(model.asked.length, asked);
  assert.equal((await chat('hi', { authorization: 'Bearer sk-mine' })).status, 200, 'others\' keys go on as before');
  assert.equal(model.last().headers.authorization, 'Bearer sk-mine');
});

test('the key of the seal is a setting, or a file for its owner only', async (t) => {
  const data = tempFolder(), file = path.join(data, 'seal.key');
  const start = (more = {}) => serve(t, { data, ...more });
  const start_fails = async (args, env = {}) => {
    const res = await run(['serve', '--listen', '127.0.0.1:0', '--data', data, ...args], { env });
    assert.equal(res.code, 1, res.stderr);
    return res.stderr;
  };
  let server = await start();
  const own = await registered(server, john);
  await server.stop();
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  const kept = fs.readFileSync(file, 'utf8');
  assert.match(kept, /^[0-9a-f]{64}\n$/);
  for (const name of fs.readdirSync(data))
    assert.ok(!fs.readFileSync(path.join(data, name)).includes('sk-your-api-key'), `${name} does not hold the model key`);
  const doctor = async () => (await run(['doctor', '--data', data])).stdout;
  const well = await doctor();
  assert.match(well, /^ok +API keys of users: encrypted with seal\.key in the data folder\n +-> backups of the database do not contain seal\.key/m);
  assert.match(well, /^ok +tokens: 1, created by users for themselves; other requests from this machine act as the user local$/m);
  fs.chmodSync(file, 0o640);
  assert.match(await doctor(), /^bad +API keys of users: seal\.key is accessible to other users \(mode 640\)/m);
  assert.match(await start_fails([]), /seal\.key' is accessible to other users \(mode 640\): run chmod 600 on it/);
  fs.chmodSync(file, 0o600);
  fs.writeFileSync(file, 'nonsense');
  assert.match(await start_fails([]), /seal\.key' must hold 32 bytes or 64 hex digits/);
  fs.rmSync(file);
  assert.match(await doctor(), /^bad +API keys of users: 1 cannot be decrypted: seal\.key is missing$/m);
  assert.ok(!fs.existsSync(file), 'who looks makes none');
  server = await start();
  assert.match(server.stderr, /seal\.lost_keys users=1 /);
  await server.stop();
  assert.match(await doctor(), /^bad +API keys of users: 1 cannot be decrypted: encrypted with another key$/m);
  fs.writeFileSync(file, kept);
  assert.match(await start_fails(['--encryption-key', 'nonsense']), /encryption_key: must be 32 bytes as base64url, or 64 hex digits/);
  assert.match(await start_fails([], { ENCRYPTION_KEY: 'nonsense' }), /encryption_key/);
  const other = tempFolder(), fernet = `${Buffer.alloc(32, 7).toString('base64url')}=`;
  server = await serve(t, { data: other, env: { ENCRYPTION_KEY: fernet } });
  await registered(server, jane);
  assert.equal((await server.ask('PUT', '/v1/users/me/api-key', { api_key: 'sk-0123456789' })).status, 200);
  assert.ok(!fs.existsSync(path.join(other, 'seal.key')), 'none is made where one is said');
  server = await start();
  assert.equal((await asks(server, own)('GET', '/v1/users/me')).json().has_api_key, true);
  assert.equal(fs.readFileSync(file, 'utf8'), kept);
});
