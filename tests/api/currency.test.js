// currency.test.js - one fact has one current value, whichever door it came in by; follow-ups; traces.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

/** The receipt of a chat: turns of the user and the assistant by turns. */
async function chat(server, model, turns, headers) {
  const messages = turns.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content }));
  const res = await server.chat({ model, messages }, headers);
  return server.receipt(res.headers['x-rememberd-receipt']);
}
/** What a chat in a new conversation is given, with these turns in front of the question. */
const given = async (server, question, before = []) =>
  (await chat(server, 'rememberd/demo', [...before, question], { 'X-Memory-Mode': 'readonly' })).block;
/** A server whose model always says this. */
async function saying(t, text) {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, text));
  return serve(t, { flags: ['--upstream', model.url] });
}
const ok = (res) => assert.ok(res.status >= 200 && res.status < 300, res.text);
const profile = async (server, facts) => ok(await server.ask('PATCH', '/v1/users/me/profile', { facts }));
const keyed = async (server, content) => ok(await server.ask('POST', '/v1/memories', { key: 'workplace', content }));

test('a new value under a key silences what was said of the old one, and a question how it was still finds it', async (t) => {
  const server = await serve(t);
  await server.tell('I work at Halvorsen Timber.');
  await keyed(server, 'works at Halvorsen Timber');
  for (let i = 0; i < 201; i++) ok(await server.ask('POST', '/v1/memories', { content: `Desk ${i} of that workplace is grey` }));
  await keyed(server, 'works at Brekke Glass');
  const now = await given(server, 'Where do I work?');
  assert.match(now, /Brekke Glass/);
  assert.doesNotMatch(now, /Halvorsen/);
  assert.match(await given(server, 'Where did I work before?'), /Halvorsen/);
});

test('a closed value that no chat stated is given to no question', async (t) => {
  const server = await serve(t);
  await keyed(server, 'works at Halvorsen Timber');
  await keyed(server, 'works at Aune Paper');
  await profile(server, { city: 'Trondheim' });
  await profile(server, { city: 'Ljubljana' });
  for (const question of ['Where do I work?', 'Where did I work before?'])
    assert.doesNotMatch(await given(server, question), /Halvorsen/);
  for (const question of ['Where do I live?', 'Where did I live before?'])
    assert.doesNotMatch(await given(server, question), /Trondheim/);
});

test('said again after it was closed, it counts again', async (t) => {
  const server = await serve(t);
  await server.tell('I work at Halvorsen Timber.');
  await keyed(server, 'works at Halvorsen Timber');
  await keyed(server, 'works at Brekke Glass');
  await server.tell("Glass was not for me: I'm back, I work at Halvorsen Timber again.");
  assert.match(await given(server, 'Where do I work?'), /Halvorsen/);
});

test('a name in the profile and one in a chat: the later one is given', async (t) => {
  const server = await serve(t);
  await profile(server, { name: 'Bob' });
  await server.tell('My name is Carla.');
  const block = await given(server, 'What is my name?');
  assert.match(block, /Carla/);
  assert.doesNotMatch(block, /: name: Bob/);
  await profile(server, { name: 'Dolores' });
  const later = await given(server, 'What is my name?');
  assert.match(later, /Dolores/);
  assert.doesNotMatch(later, /Bob/);
});

test('a changed profile is given beside what was said of the old value', async (t) => {
  const server = await serve(t);
  await server.tell('I live in Trondheim.');
  await profile(server, { city: 'Trondheim' });
  await profile(server, { city: 'Ljubljana' });
  const block = await given(server, 'Where do I live?');
  assert.match(block, /Ljubljana/);
  assert.doesNotMatch(block, /city: Trondheim/);
});

test('a stack trace asks nothing of memory', async (t) => {
  const server = await serve(t);
  await server.tell('My nephew has a main server, its index of prices is broken.');
  const trace = 'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n    print(prices[index])\n' +
    'IndexError: list index out of range';
  assert.equal(await given(server, trace), '');
  const java = 'Exception in thread "main" java.lang.NullPointerException\n\tat com.acme.Server.index(Server.java:17)\n\tat com.acme.Main.main(Main.java:9)';
  assert.equal(await given(server, java), '');
  assert.match(await given(server, `${trace}\nWhose server had a broken index of prices?`), /nephew/);
});

for (const [said, before, question, wanted] of [
  ['Our hen Gertrud lays brown eggs.', ['What does our hen Hilde lay?', 'Hilde lays white eggs.'], 'And what about Gertrud?', /brown/],
  ['Our tram pass costs 61 euros.', ['When does our tram pass run out?', 'At the end of June.'], 'And how much is it?', /61/],
  ['Corvid is a band from Leeds already.', ['Which names do we have for the band?', 'Magpie and Corvid.'], "What's wrong with the second one?", /Leeds/],
  ['Die Chorprobe ist um 19 Uhr im Pfarrsaal.', ['Wo ist die Chorprobe?', 'Im Pfarrsaal.'], 'Und wann?', /19 Uhr/],
  ['La tombola a lieu le 4 juin au gymnase.', ['Où a lieu la tombola ?', 'Au gymnase.'], 'Et quand ?', /4 juin/]])
  test(`a follow-up is completed: ${question}`, async (t) => {
    const server = await serve(t);
    await server.tell(said);
    assert.match(await given(server, question, before), wanted);
  });

/** The rows of "When facts change" in docs/reference/forgetting.md; with a question, what is given and what is not. */
for (const [first, second, question, wanted, left] of [
  ['My sister works for an airline.', 'My sister works at a nursery now.', 'Where does my sister work?', [/nursery/], /: My sister works for an airline/],
  ['Choir is on Mondays.', 'Choir has moved to Wednesdays.', 'Which day is choir?', [/Wednesdays/], /: Choir is on Mondays/],
  ['My dog is called Rex and I live in Lisbon.', 'I live in Ghent.', 'Where do I live?', [/Lisbon[^]*: I live in Ghent/], null],
  ['I live in Ghent.', 'Choir has moved to Wednesdays.', 'Where do I live?', [/: I live in Ghent/], /Choir/],
  ['I drink my coffee with milk.', 'I drink my coffee black now.', 'How do I drink my coffee?', [/\(outdated\?\)[^\n]* with milk/, /black/], null],
  ['I live in Ghent.', 'I might move to Lille.', 'Where do I live?', [/: I live in Ghent/], null],
  ['I play chess on Fridays.', 'I also play chess on Sundays.', 'When do I play chess?', [/I play chess on Fridays/, /Sundays/], null]])
  test(`the new beats the old: ${second}`, async (t) => {
    const server = await serve(t);
    await server.tell(first);
    await server.tell(second);
    const block = await given(server, question);
    for (const one of wanted) assert.match(block, one);
    if (left) assert.doesNotMatch(block, left);
  });

const toolCall = (args) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_add', arguments: args } });
/** Whoever gives two memories keys of their own says that both are true. */
for (const [door, add] of Object.entries({ REST: (server, memory) => server.ask('POST', '/v1/memories', memory), MCP: (server, memory) => server.ask('POST', '/mcp', toolCall(memory)) }))
  test(`a memory under another key replaces nothing: ${door}`, async (t) => {
    const server = await serve(t);
    ok(await add(server, { key: 'choir of the parish', content: 'Choir is on Mondays.' }));
    ok(await add(server, { key: 'choir of the school', content: 'Choir has moved to Wednesdays.' }));
    const block = await given(server, 'Which day is choir?');
    for (const line of [/: Choir is on Mondays/, /: Choir has moved to Wednesdays/]) assert.match(block, line);
    assert.doesNotMatch(block, /outdated|replaced/);
  });

test('what an answer repeats of its message is not given beside it, what it adds is', async (t) => {
  const server = await saying(t, 'Got it: the dentist is on Friday at 9:15. Bring the X-rays from Leeds.');
  await chat(server, 'm', ['Hi! The dentist moved, it is on Friday at 9:15 now.']);
  await server.settled();
  const block = await given(server, 'When is the dentist on Friday, and what do I bring?');
  assert.match(block, /The dentist moved/);
  assert.match(block, /X-rays from Leeds/);
  assert.doesNotMatch(block, /Got it/);
});

test('a repeated secret is no line beside its message', async (t) => {
  const server = await saying(t, 'So the password is Walrus77x.');
  await chat(server, 'm', ['My vpn password is Walrus77x.']);
  await server.settled();
  const block = await given(server, 'What is my vpn password?');
  assert.match(block, /My vpn password is \[secret\]/);
  assert.doesNotMatch(block, /So the password|Walrus/);
});

test('an answer to a question that came behind a statement is given', async (t) => {
  const server = await saying(t, 'Your train to Bergen leaves at 9:40 on Friday.');
  await chat(server, 'm', ['My train to Bergen leaves from platform 4 on Friday. When does it leave?']);
  await server.settled();
  assert.match(await given(server, 'At what time does my train to Bergen leave on Friday?'), /9:40/);
});

test('a correction in the next message is not doubted for what else was said later', async (t) => {
  const server = await saying(t, 'Nice.');
  await chat(server, 'm', ['My yoga class is on Monday evenings.']);
  await chat(server, 'm', ['My yoga class is on Monday evenings.', 'Nice.', ' no wait, Tuesday']);
  await chat(server, 'm', ['Dinner with Sam on Friday 6th at the Blue Door, 7pm']);
  await server.settled();
  assert.match(await given(server, 'When is yoga, and when is dinner with Sam?'), /\(outdated\?\) My yoga class[^]*\]: *no wait, Tuesday[^]*Sam/);
});

test('a next message that puts nothing right is doubted for what replaced it', async (t) => {
  const server = await serve(t);
  await chat(server, 'rememberd/demo', ['I went hiking near Ulm on Saturday.']);
  await chat(server, 'rememberd/demo', ['I went hiking near Ulm on Saturday.', 'Nice.', 'My favourite tea is Assam.']);
  await chat(server, 'rememberd/demo', ['My favourite tea is Sencha now.']);
  await server.settled();
  const block = await given(server, 'Where did I go hiking on Saturday?');
  assert.match(block, /hiking near Ulm/);
  assert.match(block, /\(outdated\?\) My favourite tea is Assam/);
});
