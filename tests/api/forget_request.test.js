// forget_request.test.js - "please forget that …" in a chat: the model learns that nothing was forgotten and what does it, and the request is not remembered.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const NUTS = "I'm allergic to peanuts.", REQUEST = `Please forget that ${NUTS}`, ASKED = 'What am I allergic to?';
const user = (content) => ({ role: 'user', content });

/** What a chat in a new conversation is given. */
async function given(server, question) {
  const res = await server.chat({ model: 'rememberd/demo', messages: [user(question)] }, { 'X-Memory-Mode': 'readonly' });
  return (await server.receipt(res.headers['x-rememberd-receipt'])).block;
}

const memories = async (server) => (await server.ask('GET', '/v1/memories')).json().memories;

for (const stream of [false, true])
  test(`a model learns that nothing was forgotten, and what does it${stream ? ', streamed' : ''}`, async (t) => {
    const model = await upstream(t, (req, res, asked) => answer(res, asked, 'I cannot do that here.'));
    const server = await serve(t, { flags: ['--upstream', model.url, '--encoder', 'off'] }); // whose vectors may put what was noted first
    await server.tell(NUTS);
    const res = await server.chat({ model: 'scripted', stream, messages: [user(REQUEST)] });
    const { block } = await server.receipt(res.headers['x-rememberd-receipt']);
    assert.ok(JSON.stringify(model.last().json.messages).includes('so nothing was forgotten'));
    const lines = block.split('\n').filter((line) => line.startsWith('- '));
    assert.match(lines.at(-1), /^- Asked to forget something\. .*Memory Studio.*rememberd forget ID.*memory_forget\.$/);
    const [, id] = /\[([0-9a-f-]{8})\]: I'm allergic/.exec(block);
    assert.ok((await memories(server)).some((one) => one.source.startsWith(id)), block);
    assert.match(block, /<\/remembered>$/);
  });

test('the request is kept in its conversation, teaches nothing and is not found', async (t) => {
  const server = await serve(t);
  await server.tell('Please forget that I am afraid of dogs.', { 'X-Session-Id': 'talk' });
  assert.deepEqual(await memories(server), []);
  assert.equal(await given(server, 'Which animals am I afraid of?'), '');
  const { results } = (await server.ask('POST', '/v1/memories/search', { query: 'afraid of dogs' })).json();
  assert.deepEqual(results, []);
  const { items } = (await server.ask('GET', '/v1/sessions/talk/messages')).json();
  assert.ok(items.some((one) => one.text === 'Please forget that I am afraid of dogs.'));
});

test('what shall not be kept teaches nothing and is not found', async (t) => {
  const server = await serve(t);
  for (const text of ["Don't remember this: my boss Karen is getting divorced.", 'Merk dir das bitte nicht: meine Chefin Karen lässt sich scheiden.']) {
    assert.match((await server.tell(text)).json().choices[0].message.content, /^Asked to forget something/);
    assert.deepEqual(await memories(server), []);
    assert.equal(await given(server, 'Is my boss Karen getting divorced?'), '');
  }
  for (const text of ['Off the record: my son is called Natan.', 'Please delete this from your memory. I live in Leeds.', 'Das bitte nicht speichern, aber ich bin schwanger.'])
    await server.tell(text);
  assert.deepEqual(await memories(server), [], 'nor by what rules read in it');
  await server.tell("Don't forget that my boss Karen plays tennis.");
  assert.match(await given(server, 'What does my boss Karen play?'), /tennis/);
});

test('what shall be kept is', async (t) => {
  const server = await serve(t);
  for (const text of ['Please store this: my sister is a nurse.', 'Be sure to remember this: I take my coffee black.', 'Bitte nicht vergessen: Oma hat am dritten Mai Geburtstag.']) {
    await server.tell(text);
    const { results } = (await server.ask('POST', '/v1/memories/search', { query: text })).json();
    assert.ok(results.some((one) => JSON.stringify(one).includes(text)), text);
  }
});

test('it is noticed where no script is Latin, too, and not where something shall not be forgotten', async (t) => {
  const server = await serve(t);
  const noticed = async (text) => /^Asked to forget something/.test((await server.tell(text)).json().choices[0].message.content);
  for (const [please, never] of [
    ['请忘掉我住在上海。', '别忘了我住在上海。'],
    ['私が大阪に住んでいることは忘れてください。', '私が大阪に住んでいることを忘れないでください。'],
    ['내가 부산에 산다는 건 잊어줘.', '내가 부산에 산다는 건 잊지 마.'],
    ['कृपया भूल जाओ कि मैं दिल्ली में रहता हूँ।', 'मत भूलना कि मैं दिल्ली में रहता हूँ।'],
    ['انسَ أنني أسكن في القاهرة.', 'لا تنسَ أنني أسكن في القاهرة.'],
    ['ช่วยลืมที่อยู่ของฉันไปเลยนะ', 'อย่าลืมที่อยู่ของฉันนะ'],
  ]) assert.deepEqual([await noticed(please), await noticed(never)], [true, false], please);
});

test('the fact stays until it is deleted', async (t) => {
  const server = await serve(t);
  await server.tell(NUTS);
  const res = await server.tell(REQUEST);
  assert.match(res.json().choices[0].message.content, /^Asked to forget something\. A message in a chat does not do that/);
  assert.match(await given(server, ASKED), /peanuts/);
  const [one] = await memories(server);
  assert.equal((await server.ask('DELETE', `/v1/memories/${one.source}`)).status, 200);
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
});

test('what says more than the request is kept', async (t) => {
  const server = await serve(t);
  await server.tell('My sister Anna lives in Leeds.');
  await server.tell('Forget that my sister Anna lives in Leeds, my sister Anna has moved to Aberdeen.');
  assert.match(await given(server, 'Where does my sister Anna live?'), /Aberdeen/);
});

test('a fact beside the request is kept, and the request is no standing instruction', async (t) => {
  const server = await serve(t);
  for (const text of ['Forget what I said about Leeds, I live in Aberdeen.', "Pretend you don't know I'm diabetic just for today, and give me a proper trifle recipe, if you would."])
    await server.tell(text);
  assert.deepEqual((await memories(server)).map((one) => one.content), ['lives in Aberdeen']);
  assert.match(await given(server, 'Where do I live?'), /Aberdeen/);
});

test('where nothing is asked for, nothing is said of it', async (t) => {
  const server = await serve(t);
  for (const text of ['Forget it.', 'Forget about the pasta, what about rice?', 'Delete the second paragraph.', "Don't let me forget that Anna comes on Friday."])
    assert.doesNotMatch(await given(server, text), /sked to forget/, text);
});

test("an answer that says it again is not found, nor what a tool says, and once the fact is deleted neither is left", async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, 'Done, I have forgotten that you are allergic to peanuts.'));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell(NUTS);
  const say = async (...messages) => server.receipt((await server.chat({ model: 'scripted', messages })).headers['x-rememberd-receipt']);
  const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '{}' } }];
  await say(user(REQUEST));
  await say(user('Please forget that I am allergic to peanuts, and tell me a joke.')); // says more, so it is kept itself
  await say(user('Forget what I told you about my health.'), { role: 'assistant', content: null, tool_calls },
    { role: 'tool', tool_call_id: 'call_1', content: 'The user is allergic to peanuts.' });
  assert.doesNotMatch(await given(server, ASKED), /Done|The user is/);
  const { results } = (await server.ask('POST', '/v1/memories/search', { query: 'allergic to peanuts' })).json();
  assert.deepEqual(results.filter((one) => one.role === 'assistant' || one.role === 'tool'), []);
  const [{ source }] = await memories(server);
  assert.equal((await server.ask('DELETE', `/v1/memories/${source}`)).status, 200);
  assert.doesNotMatch(await given(server, ASKED), /Done|I'm allergic/);
  const { sessions } = (await server.ask('GET', '/v1/sessions')).json();
  const said = await Promise.all(sessions.map((one) => server.ask('GET', `/v1/sessions/${one.id}/messages`)));
  assert.equal(said.filter((one) => /Done, I have forgotten/.test(one.text)).length, 3, 'each is in its conversation');
});
