// sessions.test.js - one conversation is one session: what tells two apart, what they are called, and when things were said.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, upstream, answer } = require('./lib');

const user = (content) => ({ role: 'user', content }), assistant = (content) => ({ role: 'assistant', content });

async function ready(t) {
  let words = 'Hello!';
  const model = await upstream(t, (req, res, asked) => answer(res, asked, words));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  // Says the last of these, is answered so, and gives the session's id.
  const say = async (messages, reply, headers = {}) => {
    words = reply;
    const res = await server.chat({ model: 'any', messages }, headers);
    assert.equal(res.status, 200, res.text);
    await server.receipt(res.headers['x-rememberd-receipt'], headers);
    return res.headers['x-omniroute-session-id'];
  };
  const texts = async (id) => (await server.ask('GET', `/v1/session/${id}/history`)).json().messages.map((m) => m.content);
  return { server, say, texts };
}

test('two chats that begin alike are two conversations as soon as one has gone on', async (t) => {
  const { say, texts } = await ready(t);
  const first = await say([user('hi')], 'Hello!');
  assert.equal(await say([user('hi'), assistant('Hello!'), user('My roof leaks.')], 'Oh dear.'), first);
  const second = await say([user('hi')], 'Good evening!');
  assert.notEqual(second, first);
  assert.equal(await say([user('hi'), assistant('Good evening!'), user('My boat is painted.')], 'How nice.'), second);
  assert.equal(await say([user('hi'), assistant('Hello!'), user('My roof leaks.'), assistant('Oh dear.'), user('What now?')], 'A roofer.'), first, 'the first goes on as well');
  const third = await say([user('hi')], 'Hey.');
  assert.equal(new Set([first, second, third]).size, 3);
  assert.deepEqual(await texts(first), ['hi', 'Hello!', 'My roof leaks.', 'Oh dear.', 'What now?', 'A roofer.']);
  assert.deepEqual(await texts(second), ['hi', 'Good evening!', 'My boat is painted.', 'How nice.']);
  assert.deepEqual(await texts(third), ['hi', 'Hey.']);
});

test('a request that comes again, or asks for another answer, begins no conversation', async (t) => {
  const { say, texts } = await ready(t);
  const first = await say([user('hi')], 'Hello!');
  assert.equal(await say([user('hi')], 'Hello!'), first);
  assert.equal(await say([user('hi')], 'Good day!'), first, 'regenerated');
  const talk = [user('hi'), assistant('Good day!'), user('My roof leaks.')];
  for (const reply of ['Oh dear.', 'Oh no.']) assert.equal(await say(talk, reply), first);
  assert.deepEqual(await texts(first), ['hi', 'Hello!', 'Good day!', 'My roof leaks.', 'Oh dear.', 'Oh no.']);
});

test('a beginning whose answer is another one is another conversation', async (t) => {
  const { say, texts } = await ready(t);
  const first = await say([user('hi')], 'Hello!');
  await say([user('hi'), assistant('Hello!'), user('My roof leaks.')], 'Oh dear.');
  const other = await say([user('hi'), assistant('Said elsewhere.'), user('My boat is painted.')], 'How nice.');
  assert.notEqual(other, first);
  assert.ok(!(await texts(first)).includes('My boat is painted.'));
});

test('sessions that were brought in have titles, cut at characters', async (t) => {
  const { server } = await ready(t);
  const family = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}', long = `${'e\u0301'.repeat(79)}${family} and more`;
  const turns = (text) => [{ user: text, assistant: 'ok' }, { user: 'later', assistant: 'ok' }];
  const ingest = (conversation_id, text) => server.ask('POST', '/memory/ingest', { agent_id: 'a', conversation_id, turns: turns(text), skip_extraction: true });
  for (const [id, text] of [['one', '\n  The boiler is loud.\r\nIt hums.'], ['two', long]]) assert.equal((await ingest(id, text)).status, 200);
  const title = async (id) => (await server.ask('GET', `/v1/session/${id}`)).json().title;
  assert.equal(await title('one'), 'The boiler is loud.');
  assert.equal(await title('two'), `${'e\u0301'.repeat(79)}${family}`);
  const file = path.join(tempFolder(), 'chats.jsonl');
  fs.writeFileSync(file, [{ session: 'three', role: 'user', content: 'The cellar is wet.' }, { session: 'three', role: 'assistant', content: 'Since when?' }].map((l) => JSON.stringify(l)).join('\n'));
  const done = await run(['ingest', file, '--data', server.data]);
  assert.equal(done.code, 0, done.stderr);
  assert.equal(await title('three'), 'The cellar is wet.');
  // A title that shows an erased message goes.
  const { messages } = (await server.ask('GET', '/v1/session/two/history')).json();
  assert.equal((await server.ask('DELETE', `/v1/memories/${messages[0].id}`)).status, 200);
  assert.equal(await title('two'), 'later');
});

test('the times of a history never run backwards', async (t) => {
  const { server } = await ready(t);
  const turns = [{ user: 'one', assistant: 'two', date: '2026-03-01T10:00:00Z' }, { user: 'three', assistant: 'four', date: '2026-02-01T10:00:00Z' },
    { user: 'five', assistant: 'six', date: '2026-04-01T10:00:00Z' }];
  assert.equal((await server.ask('POST', '/memory/ingest', { agent_id: 'a', conversation_id: 'c', turns, skip_extraction: true })).status, 200);
  const { messages } = (await server.ask('GET', '/v1/session/c/history')).json();
  assert.deepEqual(messages.map((m) => m.content), ['one', 'two', 'three', 'four', 'five', 'six']);
  assert.deepEqual(messages.map((m) => m.created_at.slice(0, 7)), ['2026-03', '2026-03', '2026-03', '2026-03', '2026-04', '2026-04']);
});
