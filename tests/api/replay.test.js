// replay.test.js - what was added to a message stays there: the prompt of a conversation only grows at its end.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { serve, upstream, answer, completion, until, tempFolder } = require('./lib.js');

const long = require('./long_talk.js');

const OPENING = '<remembered>';

// Facts of an earlier conversation, and a long talk that asks for them, in the order of a real one: questions, small talk, new facts.
const facts = ['My sister Ada lives in Oslo.', 'I drive a green Saab.', 'My dog is called Biscuit.', 'I am allergic to walnuts.', 'Our boat is called Halcyon.',
  'My dentist is Dr. Lindqvist.', 'I work at Northwind as a gardener.', 'My favourite tea is Lapsang.', 'The spare key is under the blue pot.', 'I play the cello on Tuesdays.',
  'My landlord is called Mr. Ferris.', 'I paid 340 euros for the tent.', 'My brother Tom studies in Ghent.', 'I wear size 43 shoes.', 'My bike is crimson.'];
const talk = ['Where does my sister live?', 'What car do I drive?', 'Thanks!', 'What is my dog called?', 'Tell me a joke.', 'What am I allergic to?', 'What is our boat called?',
  'Who is my dentist?', 'My neighbour is called Olga.', 'Where do I work?', 'What is my favourite tea?', 'Where is the spare key?', 'When do I play the cello?',
  'Where does my sister live again?', 'Who is my landlord?', 'How much did I pay for the tent?', 'Where does Tom study?', 'What size are my shoes?', 'What colour is my bike?', 'And the car?'];

async function learn(server, headers = {}) {
  for (const fact of facts) await server.ask('POST', '/v1/memories', { content: fact }, headers);
}

// The bytes of a request up to the end of its last message.
function prompt(one) {
  const text = one.body.toString(), at = text.indexOf('"messages":[') + '"messages":['.length;
  const whole = JSON.stringify(one.json.messages);
  assert.equal(text.slice(at - 1, at - 1 + whole.length), whole, 'the test sends what JSON.stringify gives');
  return whole.slice(1, -1);
}

// Each request of the conversation begins with all that the one before had.
function assertGrows(asked) {
  for (let i = 1; i < asked.length; i++) {
    const before = prompt(asked[i - 1]), now = prompt(asked[i]);
    assert.equal(now.slice(0, before.length), before, `request ${i} of ${asked.length} changes what went before`);
  }
}

const blocks = (one) => one.body.toString().split(OPENING).length - 1;

// A client that keeps the whole conversation and sends it each time; server(i) is asked for the i-th message.
async function converse(server, texts, { headers = {}, stream = false, parts = false, tools = false, read = null } = {}) {
  const messages = [{ role: 'system', content: 'Be brief.' }];
  const said = (text) => ({ role: 'user', content: parts ? [{ type: 'text', text }] : text });
  for (const [i, text] of texts.entries()) {
    messages.push(said(text));
    for (let rounds = 0; ; rounds++) {
      const s = await server(i);
      const res = await s.chat({ model: 'scripted', messages, stream, ...(tools && { tools: [{ type: 'function', function: { name: 'look', parameters: {} } }] }) }, headers);
      assert.equal(res.status, 200, res.text);
      if (read) await read(res.headers['x-rememberd-receipt']);
      const answered = stream ? { role: 'assistant', content: [...res.text.matchAll(/"content":"([^"]*)"/g)].map((m) => m[1]).join('') } : res.json().choices[0].message;
      messages.push(answered);
      if (!answered.tool_calls) break;
      messages.push({ role: 'tool', tool_call_id: answered.tool_calls[0].id, content: `looked ${rounds}` });
    }
  }
}

// Answers in turn; with tools every third question first looks something up.
const scripted = (req, res, asked) => {
  const { messages } = asked.json, last = messages[messages.length - 1], n = messages.filter((m) => m.role === 'user').length;
  if (asked.json.tools && last.role === 'user' && n % 3 === 0) {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(completion(null, { choices: [{ index: 0, finish_reason: 'tool_calls',
      message: { role: 'assistant', content: null, tool_calls: [{ id: `call_${n}`, type: 'function', function: { name: 'look', arguments: '{}' } }] } }] })));
  } else answer(res, asked, `Answer ${n}.`);
};

const ways = {
  'whole answers': {},
  'streamed': { stream: true },
  'texts in parts': { parts: true },
  'with a tool': { tools: true },
  'a named conversation': { headers: { 'x-session-id': 'one' } },
};
for (const [name, options] of Object.entries(ways)) {
  test(`a conversation of ${talk.length} turns only grows at its end: ${name}`, async (t) => {
    const up = await upstream(t, scripted), server = await serve(t, { flags: ['--upstream', up.url] });
    await learn(server);
    await converse(() => server, talk, options);
    assertGrows(up.asked);
    assert.ok(blocks(up.last()) >= 8, `${blocks(up.last())} blocks stand in the last request`);
  });
}

// With all of it: a tool, streams, parts, two instances, restarts.
test(`a conversation of ${long.talk.length} turns only grows at its end`, async (t) => {
  const up = await upstream(t, scripted), data = tempFolder(), flags = ['--upstream', up.url];
  const servers = [await serve(t, { flags, data }), await serve(t, { flags, data })];
  for (const content of long.facts) await servers[0].ask('POST', '/v1/memories', { content });
  await converse(async (i) => {
    if (i % 60 === 59) {
      await servers[0].stop();
      servers[0] = await serve(t, { flags, data });
    }
    return servers[i % 2];
  }, long.talk, { tools: true, parts: true, read: (id) => Promise.all(servers.map((s) => s.receipt(id))) });
  assert.ok(up.asked.length > long.talk.length);
  assertGrows(up.asked);
  long.assertGiven(up.last().body.toString());
});

test('through two instances in turn, and restarts in between', async (t) => {
  const up = await upstream(t, scripted), data = tempFolder(), flags = ['--upstream', up.url];
  const servers = [await serve(t, { flags, data }), await serve(t, { flags, data })];
  await learn(servers[0]);
  await converse(async (i) => {
    if (i === 7 || i === 14) {
      await servers[0].stop();
      servers[0] = await serve(t, { flags, data });
    }
    return servers[i % 2];
  }, talk, { read: (id) => Promise.all(servers.map((s) => s.receipt(id))) }); // a person reads for longer than a write takes
  assertGrows(up.asked);
  assert.ok(blocks(up.last()) >= 8);
});

test('what a conversation holds is not given in it again', async (t) => {
  const up = await upstream(t), server = await serve(t, { flags: ['--upstream', up.url] });
  await learn(server);
  await converse(() => server, ['Where does my sister live?', 'Tell me more about my sister Ada in Oslo.', 'Where does my sister live?']);
  const text = up.last().body.toString();
  assert.equal(text.split('My sister Ada lives in Oslo').length - 1, 1, text);
  assertGrows(up.asked);
  await converse(() => server, ['Where does my sister live?']);
  assert.match(up.last().body.toString(), /Ada lives in Oslo/, 'another conversation is given it');
});

test('what is forgotten or has expired leaves the conversation that it was given in', async (t) => {
  const up = await upstream(t), server = await serve(t, { flags: ['--upstream', up.url] });
  const add = async (content, more) => (await server.ask('POST', '/v1/memories', { content, ...more })).json().id;
  const boat = await add('Our boat is called Halcyon.');
  await add('The alarm code is 7391.', { expires: new Date(Date.now() + 2500).toISOString() });
  const messages = [];
  const say = async (content) => {
    messages.push({ role: 'user', content });
    messages.push((await server.chat({ model: 'scripted', messages })).json().choices[0].message);
    return up.last().body.toString();
  };
  assert.match(await say('What is our boat called?'), /Halcyon/);
  assert.match(await say('What is the alarm code?'), /7391/);
  assert.match(await say('Tell me a joke.'), /Halcyon[^]*7391/);
  assert.equal((await server.ask('DELETE', `/v1/memories/${boat}`)).status, 200);
  assert.doesNotMatch(await say('Another one.'), /Halcyon/);
  await until('it expires', async () => !/7391/.test(await say('And one more.')));
});

for (const [door, method, path] of [['REST', 'PATCH', '/v1/memories/'], ['OmniRoute', 'PUT', '/api/memory/'], ['the RAG backend', 'PATCH', '/api/v1/memory/']])
  test(`what is corrected over ${door} is given anew in the conversation that had it`, async (t) => {
    const up = await upstream(t), server = await serve(t, { flags: ['--upstream', up.url] });
    const { id } = (await server.ask('POST', '/v1/memories', { content: 'Our boat is called Halcyon.' })).json();
    const messages = [];
    const say = async (content) => {
      messages.push({ role: 'user', content });
      messages.push((await server.chat({ model: 'scripted', messages })).json().choices[0].message);
      return up.last().body.toString();
    };
    assert.match(await say('What is our boat called?'), /Halcyon/);
    assert.equal((await server.ask(method, path + id, { content: 'Our boat is called Meridian.' })).status, 200);
    const now = await say('What is our boat called now?');
    assert.match(now, /Meridian/);
    assert.doesNotMatch(now, /Halcyon/);
  });

test('a compacted conversation, and a block that the client sent back, get nothing twice', async (t) => {
  const up = await upstream(t), server = await serve(t, { flags: ['--upstream', up.url] });
  await learn(server);
  const messages = [{ role: 'user', content: 'Where does my sister live?' }];
  await server.chat({ model: 'scripted', messages });
  const given = up.last().json.messages[0];
  assert.match(given.content, /Ada lives in Oslo/);
  await server.chat({ model: 'scripted', messages: [given, { role: 'assistant', content: 'fine' }, { role: 'user', content: 'Thanks!' }] });
  assert.equal(blocks(up.last()), 1, 'the client itself sends it');
  await server.chat({ model: 'scripted', messages: [{ role: 'user', content: 'Summary: we spoke of the sister.' }, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Thanks!' }] });
  assert.equal(blocks(up.last()), 0);
});

test('a session that the server keeps, and Cortex\'s chat, only grow as well', async (t) => {
  const up = await upstream(t), server = await serve(t, { flags: ['--upstream', up.url] });
  await learn(server);
  const headers = { 'x-session-id': 'kept', 'x-session-history': 'on' };
  for (const text of talk.slice(0, 6)) await server.chat({ model: 'gpt-5', messages: [{ role: 'user', content: text }] }, headers);
  assertGrows(up.asked);
  assert.ok(blocks(up.last()) >= 3, up.last().body.toString());
  const seen = up.asked.length;
  const { session_id } = (await server.ask('POST', '/v1/session', {})).json();
  for (const text of talk.slice(0, 6)) assert.equal((await server.ask('POST', '/v1/chat', { session_id, message: text })).status, 200);
  assertGrows(up.asked.slice(seen));
  assert.ok(blocks(up.last()) >= 3, up.last().body.toString());
});

test('with memory off for a request, or with blocks at the front, nothing is put back', async (t) => {
  const up = await upstream(t), server = await serve(t, { flags: ['--upstream', up.url] });
  await learn(server);
  const messages = [{ role: 'user', content: 'Where does my sister live?' }];
  await server.chat({ model: 'scripted', messages });
  assert.equal(blocks(up.last()), 1);
  messages.push({ role: 'assistant', content: 'fine' }, { role: 'user', content: 'Thanks!' });
  await server.chat({ model: 'scripted', messages });
  assert.equal(blocks(up.last()), 1);
  await server.chat({ model: 'scripted', messages }, { 'x-memory-mode': 'off' });
  assert.equal(blocks(up.last()), 0);
  const front = await serve(t, { flags: ['--upstream', up.url, '--placement', 'system'] });
  await learn(front);
  await converse(() => front, talk.slice(0, 4));
  assert.ok(blocks(up.last()) <= 1);
});
