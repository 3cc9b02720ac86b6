// threads.test.js - conversations that the model server keeps, as Anthropic's client sends them.
'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { serve } = require('./lib.js');
const { OPENING, claude, event, events, message, say, sdk } = require('./messages_lib.js');

const lost = { type: 'not_found_error', message: 'gone', details: { error_code: 'thread_not_found' } };
const user = (content) => ({ messages: [{ role: 'user', content }] });

// Keeps threads; a model that calls the tool while it is asked to, at most three times.
async function ready(t) {
  const threads = new Map();
  const up = await claude(t, (req, res, asked) => {
    const { thread, messages, stream } = asked.json;
    const before = thread?.type === 'continue' ? threads.get(thread.previous_message_id) : [];
    if (!before) {
      res.writeHead(404, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ type: 'error', error: lost }));
      return;
    }
    asked.seen = [...before, ...messages];
    const results = asked.seen.filter((one) => JSON.stringify(one).includes('tool_result')).length;
    const calls = JSON.stringify(asked.seen.at(-1)).includes('tool') && results < 3;
    const content = calls ? [{ type: 'tool_use', id: `t${results}`, name: 'look', input: { at: 1 } }] : [{ type: 'text', text: `Answer ${asked.seen.length}.` }];
    const whole = message(content);
    threads.set(whole.id, [...asked.seen, { role: 'assistant', content }]);
    res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    const list = events(content);
    list[0].message.id = whole.id;
    res.end(stream ? list.map(event).join('') : JSON.stringify(whole));
  });
  const server = await serve(t, { flags: ['--upstream', up.url] });
  return { up, server, threads };
}

const blocksIn = (asked) => JSON.stringify(asked.seen).split(OPENING).length - 1;
const sessions = async (server) => (await server.ask('GET', '/v1/sessions')).json().sessions;

test('a thread is one conversation: each memory is given once, nothing of the thread itself, and answers are kept', async (t) => {
  const { up, server } = await ready(t);
  await server.tell('My sister Ada lives in Oslo.');
  const thread = sdk(server).beta.messages.thread({ model: 'scripted', max_tokens: 100 });
  await thread.send({ role: 'user', content: 'My dog is called Biscuit. Where does my sister live?' });
  assert.match(JSON.stringify(up.last().json.messages), /Ada lives in Oslo/);
  await thread.send({ role: 'user', content: 'What is my dog called?' });
  await thread.stream({ role: 'user', content: 'Where does my sister live, again?' }).finalMessage();
  await thread.stream({ role: 'user', content: 'And where does my sister Ada live?' }).finalMessage();
  assert.deepEqual([up.last().seen.length, up.last().json.messages.length, blocksIn(up.last())], [7, 1, 1]);
  const list = await sessions(server);
  assert.deepEqual(list.map((one) => one.message_count), [8, 2]);
  assert.equal(thread.messages.length, 8);
});

test('the client\'s tool runner: what is said before and after its calls is one conversation', async (t) => {
  const { up, server } = await ready(t);
  await server.tell('My sister Ada lives in Oslo.');
  const runner = sdk(server).beta.messages.toolRunner({ model: 'scripted', max_tokens: 100, ...user('Look with the tool where my sister lives.'),
    tools: [{ type: 'custom', name: 'look', description: 'looks', input_schema: { type: 'object', properties: {} }, parse: (x) => x, run: async () => 'Oslo' }] });
  const last = await runner.runUntilDone();
  assert.deepEqual([up.last().seen.length, blocksIn(up.last())], [7, 1]);
  assert.equal(last.content[0].text, 'Answer 7.');
  const body = { model: 'scripted', max_tokens: 9, messages: [], thread: { type: 'continue', previous_message_id: last.id } };
  assert.equal((await say(server, body)).json().content[0].text, 'Answer 8.', 'a pause is gone on from without a message');
  const [one, two, ...others] = await sessions(server);
  assert.deepEqual([others.length, two.title], [0, 'My sister Ada lives in Oslo.']);
  assert.match(one.title, /^Look with the tool/);
  assert.ok((await server.ask('GET', `/v1/sessions/${one.id}/messages`)).text.includes('Answer 8.'));
});

test('with the server\'s key only a thread that its user has made here is gone on from, with any mode', async (t) => {
  const { up, server } = await ready(t);
  for (const mode of ['full', 'readonly', 'after', 'off'])
    for (const stream of [false, true]) {
      const [ada, bob] = ['ada', 'bob'].map((name) => ({ 'x-memory-user': name, 'x-memory-mode': mode }));
      const first = await say(server, { ...user('What is our boat called?'), thread: { type: 'create' }, stream }, ada);
      const [id] = first.text.match(/msg_\d+/), thread = { type: 'continue', previous_message_id: id };
      const mine = { ...user('Hello there'), stream, thread };
      assert.equal((await say(server, mine, ada)).status, 200);
      assert.deepEqual(up.last().json.thread, thread, 'passed on as it is');
      const n = up.asked.length;
      for (const previous_message_id of [id, 'msg_unknown']) {
        const { status, text, json } = await say(server, { ...mine, thread: { ...thread, previous_message_id } }, bob);
        const { type, details } = json().error;
        assert.deepEqual([status, type, details], [404, 'not_found_error', lost.details], text);
      }
      const twice = JSON.stringify({ model: 'scripted', max_tokens: 9, ...mine });
      for (const body of [twice.replace('"thread":', '"thread":{"type":"create"},"thread":'), twice.replace('"thread":', '"Thread":')])
        assert.equal((await server.ask('POST', '/v1/messages', body, bob)).status, 400);
      assert.equal(up.asked.length, n, 'the model server was not asked');
      assert.equal((await say(server, mine, { ...bob, 'x-upstream-authorization': 'Bearer bob-has-a-key' })).status, 200);
    }
});

test('a client whose thread is refused sends the whole conversation, and it goes on', async (t) => {
  const { up, server } = await ready(t);
  const thread = sdk(server, { defaultHeaders: { 'x-api-key': null, authorization: null, 'x-memory-user': 'ada' } }).beta.messages.thread({ model: 'scripted', max_tokens: 100 });
  await thread.send({ role: 'user', content: 'Our boat is called Halcyon.' });
  await thread.send({ role: 'user', content: 'Thanks.' }, {}, { headers: { 'x-memory-user': 'bob' } });
  assert.deepEqual([up.asked.length, up.last().json.thread, up.last().json.messages.length], [2, { type: 'create' }, 3]);
});

test('a conversation that a client sends whole after its thread was lost is the same one', async (t) => {
  const { server, up, threads } = await ready(t);
  const thread = sdk(server).beta.messages.thread({ model: 'scripted', max_tokens: 100 });
  for (const content of ['Our boat is called Halcyon.', 'Our dog is called Biscuit.', 'Our hen is called Ada.']) await thread.send({ role: 'user', content });
  threads.clear();
  await thread.send({ role: 'user', content: 'Thanks.' });
  assert.deepEqual([up.last().json.thread, up.last().json.messages.length], [{ type: 'create' }, 7]);
  assert.deepEqual((await sessions(server)).map((one) => one.message_count), [8]);
});
