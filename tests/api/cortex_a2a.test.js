// cortex_a2a.test.js - agents talk in envelopes, for the user whose token they show.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, tempFolder, upstream, uuid } = require('./cortex_lib');

const type = 'application/vnd.traylinx.a2a+json; version=1';
const envelope = (n) => ({ message_id: `msg-source-${n}`, sender_agent_key: 'agent-client', timestamp: '2025-12-02T12:00:10Z' });

function isReply(got, n) {
  assert.deepEqual(Object.keys(got), ['message_id', 'sender_agent_key', 'timestamp', 'in_reply_to']);
  assert.match(got.message_id, uuid);
  assert.equal(got.sender_agent_key, 'traylinx-cortex');
  assert.ok(Math.abs(Date.parse(got.timestamp) - Date.now()) < 60000);
  assert.equal(got.in_reply_to, `msg-source-${n}`);
}

test('a conversation of an agent, in both types of content', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, `heard: ${asked.json.messages.at(-1).content}`));
  const server = await serve(t, { flags: ['--upstream', model.url, '--model-balanced', 'gpt-4o'] });
  for (const [sent, got] of [['application/json', 'application/json'], [type, type], ['application/vnd.traylinx.a2a+json', type]]) {
    const headers = { 'content-type': sent };
    const made = await server.ask('POST', '/a2a/conversation/create', { envelope: envelope(1), user_id: 'local', app_id: 'my-app' }, headers);
    assert.equal(made.status, 201, made.text);
    assert.equal(made.headers['content-type'], got);
    const { session_id, created_at, ...rest } = made.json();
    isReply(rest.envelope, 1);
    assert.deepEqual(Object.keys(rest), ['envelope']);
    assert.match(session_id, uuid);
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60000);
    assert.equal((await server.ask('GET', `/v1/session/${session_id}`)).json().app_id, 'my-app');

    const said = await server.ask('POST', '/a2a/conversation/chat',
      { envelope: envelope(2), action: 'chat', session_id, message: 'Hello', user_id: 'local' }, headers);
    assert.equal(said.status, 200, said.text);
    assert.equal(said.headers['content-type'], got);
    const reply = said.json();
    assert.deepEqual(Object.keys(reply), ['envelope', 'message_id', 'content', 'usage', 'cost_usd', 'model']);
    isReply(reply.envelope, 2);
    assert.deepEqual([reply.content, reply.model], ['heard: Hello', 'gpt-4o']);
    assert.equal((await server.ask('GET', `/v1/session/${session_id}/history`)).json().messages[1].id, reply.message_id);
  }
});

test('without a model server the built-in model answers an agent as well', async (t) => {
  const server = await serve(t);
  const { session_id } = (await server.ask('POST', '/a2a/conversation/create', { envelope: envelope(1), user_id: 'local' })).json();
  const said = await server.ask('POST', '/a2a/conversation/chat',
    { envelope: envelope(2), action: 'chat', session_id, message: 'Hello', user_id: 'local' }, { 'content-type': type });
  assert.equal(said.headers['content-type'], type);
  isReply(said.json().envelope, 2);
});

test('an agent may name its user\'s UUID in either case', async (t) => {
  const server = await serve(t);
  const id = '7B2A8400-E29B-41D4-A716-44665544000F';
  const made = await server.ask('POST', '/v1/users', { id, email: 'agent@example.com' });
  const headers = { authorization: `Bearer ${made.json().access_token}` };
  for (const user_id of [id, id.toLowerCase()])
    assert.equal((await server.ask('POST', '/a2a/conversation/create', { envelope: envelope(1), user_id }, headers)).status, 201);
});

test('what is wrong with an envelope, an action, a user or a session is said', async (t) => {
  const server = await serve(t);
  const { session_id } = (await server.ask('POST', '/a2a/conversation/create', { envelope: envelope(1), user_id: 'local' })).json();
  const chat = { envelope: envelope(2), action: 'chat', session_id, message: 'Hello', user_id: 'local' };
  const fails = async (target, body, status, code, field) => {
    const res = await server.ask('POST', target, body, { 'X-Trace-ID': 'trace-9' });
    const { error } = res.json();
    assert.deepEqual([res.status, error.code, error.details.field, error.trace_id], [status, code, field, 'trace-9'], res.text);
  };
  for (const name of ['message_id', 'sender_agent_key', 'timestamp']) {
    const { [name]: gone, ...rest } = envelope(3);
    await fails('/a2a/conversation/create', { envelope: rest, user_id: 'local' }, 400, 'VALIDATION_ERROR', name);
    await fails('/a2a/conversation/chat', { ...chat, envelope: { ...rest, [name]: '' } }, 400, 'VALIDATION_ERROR', name);
  }
  await fails('/a2a/conversation/create', { user_id: 'local' }, 400, 'VALIDATION_ERROR', 'envelope');
  await fails('/a2a/conversation/create', { envelope: envelope(3) }, 400, 'VALIDATION_ERROR', 'user_id');
  await fails('/a2a/conversation/create', { envelope: { ...envelope(3), timestamp: 'yesterday' }, user_id: 'local' }, 400, 'VALIDATION_ERROR', 'timestamp');
  await fails('/a2a/conversation/create', { envelope: envelope(3), user_id: 'user-123' }, 403, 'FORBIDDEN', undefined);
  await fails('/a2a/conversation/chat', { ...chat, action: 'search' }, 400, 'VALIDATION_ERROR', 'action');
  await fails('/a2a/conversation/chat', { ...chat, message: '  ' }, 400, 'VALIDATION_ERROR', 'message');
  await fails('/a2a/conversation/chat', { ...chat, session_id: 'nobody' }, 404, 'SESSION_NOT_FOUND', undefined);
  await fails('/a2a/conversation/chat', { ...chat, user_id: 'someone' }, 403, 'FORBIDDEN', undefined);
});

test('an agent acts for the user of its token and for no other', async (t) => {
  const server = await serve(t, { data: tempFolder(), flags: ['--registration', 'open'] });
  const ids = ['550e8400-e29b-41d4-a716-446655440001', '550e8400-e29b-41d4-a716-446655440002'];
  const [ada, bob] = await Promise.all(ids.map(async (id, i) => {
    const made = await server.ask('POST', '/v1/users', { id, email: `u${i}@example.com` });
    return { authorization: `Bearer ${made.json().access_token}` };
  }));
  const create = (user_id, headers) => server.ask('POST', '/a2a/conversation/create', { envelope: envelope(1), user_id }, headers);
  const made = await create(ids[0], ada);
  assert.equal(made.status, 201, made.text);
  assert.equal((await create(ids[0], bob)).status, 403);
  assert.equal((await create(ids[0], { authorization: 'Bearer ctx_nobody' })).status, 401);
  const chat = (user_id, headers) => server.ask('POST', '/a2a/conversation/chat',
    { envelope: envelope(2), action: 'chat', session_id: made.json().session_id, message: 'Hello', user_id }, headers);
  assert.equal((await chat(ids[0], ada)).status, 200);
  assert.equal((await chat(ids[0], bob)).status, 403);
  const foreign = await chat(ids[1], bob);
  assert.deepEqual([foreign.status, foreign.json().error.code], [404, 'SESSION_NOT_FOUND']);
});
