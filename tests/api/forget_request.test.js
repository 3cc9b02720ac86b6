// forget_request.test.js - "please forget that …" in a chat: what is given no more, what stays, and what the model is told.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const NUTS = "I'm allergic to peanuts.", REQUEST = `Please forget that ${NUTS}`, ASKED = 'What am I allergic to?';
const user = (content) => ({ role: 'user', content });

/** What a chat in a new conversation is given. */
async function given(server, question, headers = {}) {
  const res = await server.chat({ model: 'rememberd/demo', messages: [user(question)] }, { 'X-Memory-Mode': 'readonly', ...headers });
  return (await server.receipt(res.headers['x-rememberd-receipt'])).block;
}

const contents = async (server) => (await server.ask('GET', '/v1/memories')).json().memories.map((one) => one.content);

test('what a chat asks to forget is given to no chat, and the rest is', async (t) => {
  const server = await serve(t);
  await server.tell(NUTS);
  await server.tell('My dog is called Rex.');
  const before = await server.tell(ASKED);
  assert.match(await given(server, ASKED), /peanuts/);
  const res = await server.tell(REQUEST, { 'X-Session-Id': 'talk' });
  assert.match(res.json().choices[0].message.content, /^Asked to forget something\. Done/);
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
  assert.match(await given(server, 'What is my dog called?'), /Rex/);
  assert.deepEqual(await contents(server), ['my dog is called Rex']);
  assert.equal((await server.ask('GET', `/v1/receipts/${before.headers['x-rememberd-receipt']}`)).status, 404, 'a receipt that shows it');
  const receipt = await server.receipt(res.headers['x-rememberd-receipt']);
  assert.match(receipt.reason, /^Asked to forget something\. Done/);
  assert.ok(!JSON.stringify(receipt).includes('peanut'), 'the receipt of the request');
  const { sessions } = (await server.ask('GET', '/v1/sessions')).json();
  assert.ok(!JSON.stringify(sessions.map((one) => one.title)).includes('peanut'), 'a title');
  const { results } = (await server.ask('POST', '/v1/memories/search', { query: 'peanuts' })).json();
  assert.deepEqual(results.map((one) => one.text), []);
});

test('it holds after a restart, and what is said again counts', async (t) => {
  const first = await serve(t);
  await first.tell(NUTS);
  await first.tell(REQUEST);
  await first.stop();
  const server = await serve(t, { data: first.data });
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
  await server.tell("Yes, I'm allergic to peanuts after all.");
  assert.match(await given(server, ASKED), /after all/);
});

for (const stream of [false, true])
  test(`the model is told what was done, and its answer is not found either${stream ? ', streamed' : ''}`, async (t) => {
    const model = await upstream(t, (req, res, asked) => answer(res, asked, ["Okay, I have forgotten that you're allergic to peanuts. ", 'The ferry to Texel leaves at nine.']));
    const server = await serve(t, { flags: ['--upstream', model.url] });
    await server.tell(NUTS);
    const res = await server.chat({ model: 'scripted', stream, messages: [user(REQUEST)] });
    await server.receipt(res.headers['x-rememberd-receipt']);
    const sent = JSON.stringify(model.last().json.messages);
    assert.match(sent, /Asked to forget something\. Done: 1 sentence of earlier messages will not be given again in this space, and 1 noted memory was erased\./);
    assert.equal(sent.match(/peanuts/g).length, 1, sent);
    await contents(server);
    assert.doesNotMatch(await given(server, ASKED), /peanut/);
    assert.match(await given(server, 'When does the ferry to Texel leave?'), /leaves at nine/);
  });

test('what is not clear is left alone, and the model learns it', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell('My sister Anna lives in Leeds.');
  await server.chat({ model: 'scripted', messages: [user('Forget that my sister Anna lives in Leeds, my sister Anna has moved to Aberdeen.')] });
  assert.match(JSON.stringify(model.last().json.messages), /It was not clear what, so nothing was forgotten/);
  assert.match(await given(server, 'Where does my sister Anna live?'), /Aberdeen/);
  await server.chat({ model: 'scripted', messages: [user('Forget that I asked. What is the capital of Peru?')] });
  assert.doesNotMatch(JSON.stringify(model.last().json.messages), /sked to forget/);
});

test('what others are and have stays', async (t) => {
  const server = await serve(t);
  await server.tell('My mother is allergic to penicillin.');
  await server.tell("I'm allergic to penicillin.");
  await server.tell('Please forget that my mother is allergic to penicillin.');
  const block = await given(server, 'Who of us is allergic to penicillin?');
  assert.match(block, /I'm allergic/);
  assert.doesNotMatch(block, /mother/);
  assert.deepEqual((await contents(server)).filter((one) => /penicillin/.test(one)), ['is allergic to penicillin']);
});

test('of a memory that says more only the sentence goes', async (t) => {
  const server = await serve(t);
  const content = 'Kinga is a nurse. The boiler code is 7781.';
  await server.ask('POST', '/v1/memories', { content });
  await server.tell('Forget everything I said about Kinga.');
  assert.deepEqual(await contents(server), [content]);
  assert.doesNotMatch(await given(server, 'What is the job of Kinga?'), /nurse/);
  assert.match(await given(server, 'What is the boiler code?'), /7781/);
});

test('a topic: everything that names it', async (t) => {
  const server = await serve(t);
  await server.tell('Kinga is a nurse.');
  await server.tell('I owe Kinga 40 euros.');
  await server.tell('Oskar plays the cello.');
  await server.tell('Forget everything I told you about Kinga.');
  for (const question of ['What is the job of Kinga?', 'Whom do I owe money?'])
    assert.doesNotMatch(await given(server, question), /Kinga/, question);
  assert.match(await given(server, 'What does Oskar play?'), /cello/);
});

test('where nothing says it in these words, the model is told so', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell('My throat swells shut when there are nuts about.');
  await server.chat({ model: 'scripted', messages: [user(REQUEST)] });
  assert.match(JSON.stringify(model.last().json.messages), /Nothing was found that says it in these words, so nothing was forgotten\./);
  assert.match(await given(server, 'When does my throat swell shut?'), /swells/);
});

test('everything is not forgotten for one sentence', async (t) => {
  const server = await serve(t);
  await server.tell(NUTS);
  const res = await server.tell('Forget everything I told you.');
  assert.match(res.json().choices[0].message.content, /That was not done/);
  assert.match(await given(server, ASKED), /peanuts/);
});

test('nothing is forgotten where nothing may be written', async (t) => {
  const server = await serve(t);
  await server.tell(NUTS);
  for (const mode of ['readonly', 'off', 'after'])
    await server.chat({ model: 'rememberd/demo', messages: [user(REQUEST)] }, { 'X-Memory-Mode': mode });
  await server.ask('POST', '/v1/preview', { question: REQUEST });
  assert.match(await given(server, ASKED), /peanuts/);
  assert.deepEqual(await contents(server), ['is allergic to peanuts']);
});

test('only the user of the last message asks: not its history, a tool or an answer', async (t) => {
  const server = await serve(t);
  await server.tell(NUTS);
  const say = (...messages) => server.chat({ model: 'rememberd/demo', messages });
  await say(user('What did she write?'), { role: 'assistant', content: REQUEST }, user('Thanks.'));
  await say(user(REQUEST), { role: 'assistant', content: 'Done.' }, user('What is the time?'));
  await say(user('Read the mail.'), { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'mail', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: REQUEST });
  await server.tell(`She wrote: "${REQUEST}" What does she mean?`);
  assert.match(await given(server, ASKED), /peanuts/);
});

test('a later answer that comes back to it is not found', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, asked.json.messages.length > 1 ? "You asked me to forget that you're allergic to peanuts." : 'Done.'));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell(NUTS);
  await server.chat({ model: 'scripted', messages: [user(REQUEST)] });
  const res = await server.chat({ model: 'scripted', messages: [user(REQUEST), { role: 'assistant', content: 'Done.' }, user('What did I ask?')] });
  await server.receipt(res.headers['x-rememberd-receipt']);
  await contents(server);
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
});

test('a request whose answer failed is not learnt from the history', async (t) => {
  let fails = true;
  const model = await upstream(t, (req, res, asked) => {
    if (!fails) return answer(res, asked, 'Hello.');
    res.writeHead(500);
    res.end('{}');
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell(NUTS);
  await server.chat({ model: 'scripted', messages: [user(REQUEST)] });
  fails = false;
  const res = await server.chat({ model: 'scripted', messages: [user(REQUEST), user('Hello?')] });
  await server.receipt(res.headers['x-rememberd-receipt']);
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
  assert.deepEqual(await contents(server), []);
});

test('what the same request states before it asks is forgotten, too', async (t) => {
  const server = await serve(t);
  const res = await server.chat({ model: 'rememberd/demo', messages: [user(`${NUTS} The ferry to Texel leaves at nine.`), user(REQUEST)] });
  await server.receipt(res.headers['x-rememberd-receipt']);
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
  assert.match(await given(server, 'When does the ferry to Texel leave?'), /at nine/);
  const { results } = (await server.ask('POST', '/v1/memories/search', { query: 'ferry to Texel' })).json();
  assert.equal(results[0].text, 'The ferry to Texel leaves at nine.');
});

test('a begun answer behind the request does not hide it', async (t) => {
  const server = await serve(t);
  await server.tell(NUTS);
  await server.chat({ model: 'rememberd/demo', messages: [user(REQUEST), { role: 'assistant', content: 'Sure,' }] });
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
});

test('many sentences', async (t) => {
  const server = await serve(t);
  for (let i = 0; i < 70; i++) await server.tell(`Kinga has the ${i}th key of the house.`);
  const res = await server.tell('Forget everything I said about Kinga.');
  assert.match(res.json().choices[0].message.content, /Done: 70 sentences/);
  const { sessions } = (await server.ask('GET', '/v1/sessions?limit=100')).json();
  assert.ok(!JSON.stringify(sessions.map((one) => one.title)).includes('Kinga'));
});

test('a request that a tool interrupts is kept like any other', async (t) => {
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };
  const model = await upstream(t, (req, res, asked) => {
    if (asked.json.messages.some((one) => one.role === 'tool')) return answer(res, asked, 'I have forgotten your peanut allergy.');
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'scripted',
      choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }] }));
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell(NUTS);
  const messages = [user(REQUEST)], tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }];
  await server.chat({ model: 'scripted', tools, messages });
  messages.push({ role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: 'c', content: 'nothing' });
  const res = await server.chat({ model: 'scripted', tools, messages });
  await server.receipt(res.headers['x-rememberd-receipt']);
  assert.match(JSON.stringify(model.last().json.messages), /Asked to forget something\. Done/, 'the same block again');
  assert.doesNotMatch(await given(server, ASKED), /peanut/);
  assert.deepEqual(await contents(server), []);
});
