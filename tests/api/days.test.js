// days.test.js - what people say on ordinary days: medicine, jobs, two claims in one message, said again after forgetting, names.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { serve } = require('./lib');

// With the encoder a space of so few lines gets more of them: docs/decisions/008.
const byKeywords = { flags: ['--encoder', 'off'] };

/** What a chat in a new conversation is given. */
async function given(server, question) {
  const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: question }] }, { 'X-Memory-Mode': 'readonly' });
  return (await server.receipt(res.headers['x-rememberd-receipt'])).block;
}

test('of two claims in one message the later line comes after both', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex and I live in Lisbon.');
  await server.tell('I live in Ghent.');
  await server.tell('Choir has moved to Wednesdays.');
  await server.tell('I drink my tea without sugar.');
  const home = await given(server, 'Where do I live?');
  assert.match(home, /Lisbon[^]*: I live in Ghent/);
  assert.doesNotMatch(home, /Choir/);
  assert.match(await given(server, 'What is my dog called?'), /Rex/);
  assert.match(await given(server, 'Which day is choir?'), /Wednesdays/);
});

for (const [thing, said] of [['meeting', 'The meeting has moved to the blue room.'], ['stand-up', 'Our stand-up has moved to Zoom.']])
  test(`what has moved is not where one lives: ${thing}`, async (t) => {
    const server = await serve(t);
    await server.tell(said);
    await server.tell('I live in Ghent.');
    assert.doesNotMatch(await given(server, 'Where do I live?'), new RegExp(thing));
    assert.match(await given(server, `Where is the ${thing}?`), new RegExp(thing));
  });

for (const [said, questions] of [
  ['I take 50 mg of sertraline every morning.', ['Which medicine do I take?', 'What medication am I on?', 'What pills do I take?']],
  ['My doctor put me on metformin.', ['Which medicine do I take?', 'Do I take any tablets?', 'What are my prescriptions?', 'What was I prescribed?']],
  ["I'm in HR at a paper mill.", ['What do I do for a living?', "What's my job?", 'Where do I work?']],
  ['I drive a lorry for a bakery.', ['What do I do for a living?', "What's my job?", 'Where do I work?']],
  ['I run a small pottery studio.', ['What do I do for a living?', "What's my job?", 'Where do I work?']]])
  test(`told in other words: ${said}`, async (t) => {
    const server = await serve(t, byKeywords);
    await server.tell('My brother plays the oboe.');
    await server.tell(said);
    for (const question of questions)
      assert.ok((await given(server, question)).includes(said), question);
    assert.ok(!(await given(server, 'What does my brother play?')).includes(said));
  });

test('a new job told in other words, and a teacher who is somebody else', async (t) => {
  const server = await serve(t, byKeywords);
  await server.tell('I work as a physio at Southmead hospital and get asked this daily: how long should one rest a sprained ankle?');
  await server.tell("I've been learning ukulele since January with a teacher called Bronwen, every Thursday evening. Any easy songs?");
  await server.tell('My sister Megan moved to Cardiff last month, what is the quickest train from Bristol?');
  assert.doesNotMatch(await given(server, 'Where do I work?'), /outdated|ukulele/);
  await server.tell('I handed in my notice at Southmead today! Starting at a private clinic called MoveWell in September. Draft a goodbye mail.');
  for (const question of ['Where do I work?', "What's my job?"]) {
    const block = await given(server, question);
    assert.match(block, /physio[^]*MoveWell/, question);
    assert.doesNotMatch(block, /ukulele|Megan/, question);
  }
});

test('what is said of others is not given for somebody who is named', async (t) => {
  const server = await serve(t);
  await server.tell('Kinga plays the cello in a string quartet on Thursdays.');
  await server.tell("Dara's birthday is 2 November, what present for 30 euros? He is crazy about board games.");
  await server.tell('My sister Megan moved to Cardiff last month, what is the quickest train from Bristol?');
  await server.tell('My mother hates lilies, what flowers should I get her?');
  await server.settled();
  assert.match(await given(server, "When is Dara's birthday?"), /2 November/);
  const scored = async (question) => {
    const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: question }] }, { 'X-Memory-Mode': 'readonly' });
    const { lines } = await server.receipt(res.headers['x-rememberd-receipt']);
    return Math.max(...lines.filter((one) => /Dara|birthday/.test(one.why)).map((one) => one.score));
  };
  assert.ok(await scored("When is Kinga's birthday?") < 0.5 * await scored('When is the birthday?'));
});

test('what was forgotten and is said anew without a session is remembered anew, and history sent again is not', async (t) => {
  const server = await serve(t);
  const said = 'My tortoise is called Bruno.', question = 'What is my tortoise called?';
  const forget = async () => {
    const { memories } = (await server.ask('GET', '/v1/memories?contains=Bruno')).json();
    assert.equal(memories.length, 1);
    assert.equal((await server.ask('DELETE', `/v1/memories/${memories[0].id}`)).status, 200);
    assert.doesNotMatch(await given(server, question), /Bruno/);
  };
  await server.tell(said);
  for (let round = 0; round < 3; round++) {
    assert.match(await given(server, question), /Bruno/, `round ${round}`);
    await forget();
    const answered = [{ role: 'user', content: said }, { role: 'assistant', content: 'A fine name.' }, { role: 'user', content: `And the weather in Peru, ${round}?` }];
    const res = await server.chat({ model: 'rememberd/demo', messages: answered });
    await server.receipt(res.headers['x-rememberd-receipt']);
    assert.doesNotMatch(await given(server, question), /Bruno/, `history, round ${round}`);
    await server.tell(said);
  }
  await server.tell(said);
  assert.equal((await server.ask('GET', '/v1/memories?contains=Bruno')).json().memories.length, 1);
});

test('what was forgotten and is said anew at once is remembered', async (t) => {
  const server = await serve(t);
  for (let round = 0; round < 3; round++) {
    await server.tell('My tortoise is called Bruno.');
    assert.match(await given(server, 'What is my tortoise called?'), /Bruno/);
    const { memories } = (await server.ask('GET', '/v1/memories?contains=Bruno')).json();
    assert.equal(memories.length, 1);
    await server.ask('DELETE', `/v1/memories/${memories[0].id}`);
    assert.doesNotMatch(await given(server, 'What is my tortoise called?'), /Bruno/);
  }
});

test('the profile shows the latest explicit statement, whether it came by a chat or by an edit', async (t) => {
  const server = await serve(t);
  const edit = (facts) => server.ask('PATCH', '/v1/users/me/profile', { facts });
  const facts = async () => (await server.ask('GET', '/v1/users/me/profile')).json().facts;
  await edit({ name: 'Bob', city: 'Oslo', street: '3 Mill Lane' });
  await server.tell('My name is Carla.');
  assert.deepEqual(await facts(), { name: 'Carla', city: 'Oslo', street: '3 Mill Lane' });
  await server.tell('Please call me Cleo. And I live in Bergen now.');
  assert.deepEqual(await facts(), { name: 'Cleo', city: 'Bergen', street: '3 Mill Lane' });
  await edit({ name: 'Dolores' });
  assert.deepEqual(await facts(), { name: 'Dolores', city: 'Bergen', street: '3 Mill Lane' });
  await server.tell("I'm called Edda.");
  assert.equal((await facts()).name, 'Edda');
  const { memories } = (await server.ask('GET', '/v1/memories?contains=Bergen')).json();
  for (const one of memories) await server.ask('DELETE', `/v1/memories/${one.id}`);
  assert.equal((await facts()).city, 'Oslo');
});

test('the profile knows what the last answer has taught as soon as the answer is there', async (t) => {
  const server = await serve(t);
  const edit = (facts) => server.ask('PATCH', '/v1/users/me/profile', { facts });
  const name = async () => (await server.ask('GET', '/v1/users/me/profile')).json().facts.name;
  await edit({ name: 'Bob' });
  for (const said of ['Ada', 'Berta', 'Carla', 'Dora', 'Edda', 'Frida', 'Greta', 'Hanna', 'Ida', 'Jana', 'Karin', 'Lena', 'Mona', 'Nora']) {
    await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: `My name is ${said}.` }] });
    assert.equal(await name(), said);
    await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: `Please call me ${said}y.` }] });
    await edit({ name: `${said} the elder` });
    assert.equal(await name(), `${said} the elder`);
  }
});

test('of one home there is one current memory', async (t) => {
  const server = await serve(t);
  await server.tell('I live in Oslo.');
  await server.tell("I've just moved to Bergen.");
  const homes = async () => (await server.ask('GET', '/v1/memories')).json().memories.map((one) => one.content);
  assert.deepEqual(await homes(), ['moved to Bergen']);
  await server.tell('I live in Narvik.');
  assert.deepEqual(await homes(), ['lives in Narvik']);
});
