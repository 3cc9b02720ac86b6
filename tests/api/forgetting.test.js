// forgetting.test.js - what is forgotten stays forgotten: restarts, histories sent again, ingests; the table of all deletes is in deletes.test.js.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, until } = require('./lib');

const TEXT = 'My parrot is called Quito.', FACT = 'my parrot is called Quito';

/** One user message in the session "birds", with the fact that was extracted from it. */
async function remembered(server, headers = {}) {
  const res = await server.tell(TEXT, { 'X-Session-Id': 'birds', ...headers });
  const { memories } = (await server.ask('GET', '/v1/memories', undefined, headers)).json();
  assert.deepEqual(memories.map((one) => one.content), [FACT]);
  return { fact: memories[0].id, message: memories[0].source, session: memories[0].session, answer: res.json().choices[0].message.content };
}

/** What recall still finds: [memory, message]. */
async function found(server, headers = {}) {
  const { results } = (await server.ask('POST', '/v1/memories/search', { query: 'What is my parrot called?' }, headers)).json();
  return [results.some((one) => one.kind === 'memory' && one.text === FACT), results.some((one) => one.kind === 'message' && one.text === TEXT)];
}

const BOTH = [false, false]; // recall gives neither any more

test('what is said again in a new chat after its message was erased is found', async (t) => {
  const server = await serve(t);
  await server.tell(TEXT); // without a session: both chats begin alike, and so do the ids of their messages
  const [{ source }] = (await server.ask('GET', '/v1/memories')).json().memories;
  assert.equal((await server.ask('DELETE', `/v1/memories/${source}`)).status, 200);
  assert.deepEqual(await found(server), BOTH);
  await server.tell(TEXT);
  assert.deepEqual(await found(server), [true, true]);
  assert.match((await server.tell('What is my parrot called?')).json().choices[0].message.content, /Quito/);
});

test('the command line erases one space, and with --all-spaces every space of the user', async (t) => {
  const server = await serve(t);
  const at = ['--data', server.data], other = async () => (await run(['list', '--space', 'other', ...at])).stdout;
  await run(['add', 'another space', '--space', 'other', ...at]);
  for (const [args, left] of [[['--space', 'other'], /^0 of 0$/m], [[], /another space/], [['--all-spaces'], /^0 of 0$/m]]) {
    await run(['forget', '--everything', '--yes', ...at]);
    await remembered(server);
    await run(['add', 'another space', '--space', 'other', ...at]);
    const forgot = await run(['forget', '--everything', '--yes', ...args, ...at]);
    assert.equal(forgot.code, 0, forgot.stderr);
    assert.deepEqual(await found(server), args[0] === '--space' ? [true, true] : BOTH, args.join(' '));
    assert.match(await other(), left, args.join(' '));
  }
});

test("an agent's memory is erased by the header, by its space, and replaced by an ingest", async (t) => {
  const server = await serve(t);
  const agent = { 'X-Osaurus-Agent-Id': 'birdwatcher' };
  const id = await remembered(server, agent);
  assert.equal((await server.ask('DELETE', `/v1/memories/${id.message}`, undefined, { 'X-Osaurus-Agent-Id': 'another' })).status, 404);
  assert.equal((await server.ask('DELETE', `/v1/memories/${id.message}`, undefined, agent)).status, 200);
  assert.deepEqual(await found(server, agent), BOTH);
  const ingest = (turns) => server.ask('POST', '/memory/ingest', { agent_id: 'birdwatcher', conversation_id: 'c', turns });
  await ingest([{ user: TEXT, assistant: 'A fine name.' }]);
  assert.equal((await found(server, agent))[1], true);
  await ingest([]);
  assert.equal((await found(server, agent))[1], false);
  await ingest([{ user: TEXT, assistant: 'A fine name.' }]);
  assert.equal((await run(['forget', '--everything', '--yes', '--space', 'birdwatcher', '--data', server.data])).code, 0);
  assert.deepEqual((await server.ask('GET', '/agents')).json().agents, []);
});

test('the words of an erased session are in no file, and the receipt that showed them is gone', async (t) => {
  const server = await serve(t);
  const id = await remembered(server);
  const asked = await server.tell('What is my parrot called?', { 'X-Memory-Mode': 'readonly' }); // an answer that is kept would repeat the name
  const receipt = `/v1/receipts/${asked.headers['x-rememberd-receipt']}`;
  assert.match((await server.ask('GET', receipt)).json().block, /Quito/);
  assert.equal((await server.ask('DELETE', `/v1/memories/${id.session}`)).status, 200);
  assert.equal((await server.ask('GET', receipt)).status, 404);
  const bytes = () => Buffer.concat(fs.readdirSync(server.data).map((file) => fs.readFileSync(path.join(server.data, file))));
  await server.stop();
  assert.equal(bytes().includes('Quito'), false);
});

/** What the next chat is given. */
async function given(server, question = 'What is my parrot called?') {
  const res = await server.tell(question, { 'X-Memory-Mode': 'readonly' });
  return (await server.ask('GET', `/v1/receipts/${res.headers['x-rememberd-receipt']}`)).json().block;
}

const tool = (server, name, args) => server.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, { Accept: 'application/json, text/event-stream' });
const PAST = '2020-01-01T00:00:00Z';
/** Each door: what it does with the fact, and what a memory says from then on instead. */
const doors = [
  ['REST', (server, id) => server.ask('DELETE', `/v1/memories/${id.fact}`)],
  ['REST, by its message', (server, id) => server.ask('DELETE', `/v1/memories/${id.message}`)],
  ['Cortex', (server, id) => server.ask('DELETE', `/v1/memory/${id.fact}`)],
  ['OmniRoute', (server, id) => server.ask('DELETE', `/api/memory/${id.fact}`)],
  ['OmniRoute, by type', (server) => server.ask('DELETE', '/api/memory?type=factual')],
  ['OmniRoute, all', (server) => server.ask('DELETE', '/api/memory')],
  ['RAG', (server, id) => server.ask('DELETE', `/api/v1/memory/${id.fact}`)],
  ['RAG, all', (server) => server.ask('DELETE', '/api/v1/memory?confirm=true')],
  ['MCP', (server, id) => tool(server, 'memory_forget', { id: id.fact })],
  ['MCP, all', (server) => tool(server, 'omniroute_memory_clear', {})],
  ['the command line', (server, id) => run(['forget', id.fact, '--data', server.data])],
  ['a past expiry', (server, id) => server.ask('PUT', `/api/memory/${id.fact}`, { expiresAt: PAST })],
  ['a correction by OmniRoute', (server, id) => server.ask('PUT', `/api/memory/${id.fact}`, { content: 'my parrot is called Lima' }), 'Lima'],
  ['a correction by RAG', (server, id) => server.ask('PATCH', `/api/v1/memory/${id.fact}`, { content: 'my parrot is called Lima' }), 'Lima'],
  ['a correction by MCP', (server, id) => tool(server, 'memory_update', { id: id.fact, content: 'my parrot is called Lima' }), 'Lima'],
];

for (const [what, act, instead] of doors)
  test(`what is forgotten over ${what} is given to no chat, until it is said anew`, async (t) => {
    let server = await serve(t);
    const id = await remembered(server);
    const history = [{ role: 'user', content: TEXT }, { role: 'assistant', content: id.answer }];
    const send = (more) => server.chat({ model: 'rememberd/demo', messages: [...history, ...more] }, { 'X-Session-Id': 'elsewhere' });
    assert.match(await given(server), /Quito/);
    const res = await act(server, id);
    assert.ok(res.code === 0 || res.status === 200, JSON.stringify(res));
    const check = async (when) => {
      const block = await given(server);
      assert.doesNotMatch(block, /Quito/, when);
      if (instead)
        assert.match(block, new RegExp(instead), when);
    };
    await check('at once');
    if (!/, all|by its message/.test(what)) {
      const session = (await server.ask('GET', '/v1/users/me/sessions')).json().sessions[0];
      assert.doesNotMatch(session.title ?? '', /Quito/);
    }
    await server.stop();
    server = await serve(t, { data: server.data });
    await check('after a restart');
    if (!what.endsWith(', all')) { // what was cleared is known by its time alone
      const sent = await send([{ role: 'user', content: 'And the weather?' }]);
      await server.receipt(sent.headers['x-rememberd-receipt']);
      await check('after the history was sent again');
    }
    await server.tell('My parrot is called Quito, and that is final.', { 'X-Session-Id': 'anew' });
    await until('it counts again', async () => /Quito/.test(await given(server)));
  });

for (const [what, act] of [
  ['REST', (server, id) => server.ask('DELETE', `/v1/memories/${id}`)],
  ['MCP', (server, id) => tool(server, 'memory_forget', { id })],
  ['the command line', (server, id) => run(['forget', id, '--data', server.data])],
])
  test(`the short id of a line in a block is enough to forget it over ${what}`, async (t) => {
    const server = await serve(t);
    await server.tell('My parrot is called Quito.');
    const [, id] = (await given(server)).match(/\[([^\]]+)\]: My parrot is called Quito/);
    assert.equal(id.length, 8);
    assert.match(JSON.stringify(await act(server, id.slice(0, 7))), /has the id/, 'less is too little');
    assert.match(await given(server), /Quito/);
    const res = await act(server, id);
    assert.ok(res.code === 0 || (res.status === 200 && !res.json().result?.isError), JSON.stringify(res));
    assert.doesNotMatch(await given(server), /Quito/);
  });

test('only the sentence that states it is left out, and the message stays in its conversation', async (t) => {
  const server = await serve(t);
  await server.tell('Some news. I love liver dumplings. My tractor is a red Fendt.', { 'X-Session-Id': 'farm' });
  const listed = (await server.ask('GET', '/v1/memories?contains=dumplings')).json().memories;
  assert.equal(listed.length, 1);
  const gone = (await server.ask('DELETE', `/v1/memories/${listed[0].id}`)).json();
  assert.equal(gone.erased, 1);
  assert.ok(gone.barred >= 1);
  const said = async () => (await server.ask('GET', '/v1/sessions/farm/messages')).json().items[0];
  assert.deepEqual([(await said()).recalls, /dumplings/.test((await said()).text)], ['what is new', true]);
  const block = await given(server, 'Which tractor do I have?');
  assert.match(block, /Fendt/);
  assert.doesNotMatch(block, /dumplings/);
  assert.doesNotMatch(await given(server, 'Which dumplings do I love?'), /dumplings/);
  const session = (await server.ask('GET', '/v1/users/me/sessions')).json().sessions[0];
  assert.doesNotMatch(session.title ?? '', /dumplings/);
});

test('what is left of a message, and the memory that was made of it, are one line', async (t) => {
  const server = await serve(t);
  await server.tell('My boss is called Isadora. I drive a red Volvo.');
  const [{ id }] = (await server.ask('GET', '/v1/memories?contains=Isadora')).json().memories;
  assert.equal((await server.ask('DELETE', `/v1/memories/${id}`)).status, 200);
  await server.settled();
  for (const question of ['What is my boss called?', 'What is my plumber called?'])
    assert.equal((await given(server, question)).match(/Volvo/g).length, 1);
});

test('a message says that recall looks at nothing of it once its statement is forgotten', async (t) => {
  const server = await serve(t);
  const id = await remembered(server);
  const recalls = async () => (await server.ask('GET', `/v1/messages/${id.message}`)).json().message.recalls;
  assert.equal(await recalls(), 'all');
  const { undo } = (await server.ask('DELETE', `/v1/memories/${id.fact}?undo=true`)).json();
  assert.equal(await recalls(), 'nothing');
  assert.equal((await server.ask('POST', `/v1/undo/${undo}`)).status, 200);
  assert.equal(await recalls(), 'all');
});

test('a client that sends its history again does not bring an erased message back into recall', async (t) => {
  const server = await serve(t);
  const id = await remembered(server);
  await server.ask('DELETE', `/v1/memories/${id.message}`);
  assert.deepEqual(await found(server), BOTH);
  const messages = [{ role: 'user', content: TEXT }, { role: 'assistant', content: 'A fine name.' }, { role: 'user', content: 'And the weather in Peru?' }];
  assert.equal((await server.chat({ model: 'rememberd/demo', messages }, { 'X-Session-Id': 'birds' })).status, 200);
  const kept = async (query, text) => (await server.ask('POST', '/v1/memories/search', { query })).json().results.some((one) => one.text === text);
  await until('the new message is kept', () => kept('weather in Peru', 'And the weather in Peru?'));
  assert.deepEqual(await found(server), BOTH);
});

for (const [what, from, whole] of [['whole', 0, false], ['without its beginning', 2, false], ['after all of it was erased', 0, true]])
  test(`a history that comes again stores nothing of what was erased: ${what}`, async (t) => {
    const server = await serve(t), history = [], bird = (n) => ({ role: 'user', content: `I saw the bird called Xanthippe${n}.` });
    const go = async (n) => {
      const res = await server.chat({ model: 'rememberd/demo', messages: [...history, bird(n)].slice(from ? -from * 3 - 1 : 0) });
      await server.receipt(res.headers['x-rememberd-receipt']);
      history.push(bird(n), { role: 'assistant', content: res.json().choices[0].message.content });
      const { sessions } = (await server.ask('GET', '/v1/sessions')).json();
      assert.equal(sessions.length, 1);
      return [sessions[0], (await server.ask('GET', `/v1/sessions/${sessions[0].id}/messages`)).json().items];
    };
    for (let n = 0; n < 5; n++) await go(n);
    const [{ id }, said] = await go(5);
    assert.equal(said.length, 12);
    for (const erased of whole ? [id] : said.slice(-2).map((one) => one.id))
      assert.equal((await server.ask('DELETE', `/v1/memories/${erased}`)).status, 200);
    const left = (items) => items.filter((one) => one.role === 'user').map((one) => one.text);
    const [session, items] = await go(6);
    assert.deepEqual(left(items), whole ? [bird(6).content] : [0, 1, 2, 3, 4, 6].map((n) => bird(n).content));
    assert.doesNotMatch(session.title, whole ? /Xanthippe[0-5]/ : /Xanthippe5/);
    assert.deepEqual(left((await go(7))[1]).slice(-2), [6, 7].map((n) => bird(n).content));
    await server.stop();
    for (const file of fs.readdirSync(server.data))
      assert.equal(fs.readFileSync(path.join(server.data, file)).includes('Xanthippe5'), false, file);
  });

test('an erasure can be undone after its conversation went on', async (t) => {
  const server = await serve(t), history = [];
  const say = async (content) => {
    const res = await server.chat({ model: 'rememberd/demo', messages: [...history, { role: 'user', content }] });
    await server.receipt(res.headers['x-rememberd-receipt']);
    history.push({ role: 'user', content }, { role: 'assistant', content: res.json().choices[0].message.content });
    const [{ id }] = (await server.ask('GET', '/v1/sessions')).json().sessions;
    return (await server.ask('GET', `/v1/sessions/${id}/messages`)).json().items;
  };
  await say('Good morning.');
  const ids = (await say(TEXT)).slice(-2).map((one) => one.id);
  const undos = [];
  for (const id of ids)
    undos.unshift((await server.ask('DELETE', `/v1/memories/${id}?undo=true`)).json().undo);
  assert.equal((await say('And the weather in Peru?')).length, 4);
  for (const undo of undos)
    assert.equal((await server.ask('POST', `/v1/undo/${undo}`)).status, 200);
  assert.deepEqual((await say('And in Chile?')).filter((one) => one.role === 'user').map((one) => one.text), ['Good morning.', TEXT, 'And the weather in Peru?', 'And in Chile?']);
  assert.deepEqual(await found(server), [true, true]);
});

test('after all was erased, each message that a turn begins with is kept', async (t) => {
  const server = await serve(t), texts = ['I am allergic to hazelnuts.', 'I live in Porto.'];
  await server.tell('My boat is blue.');
  assert.equal((await server.ask('DELETE', '/v1/spaces/default')).status, 200);
  await server.chat({ model: 'rememberd/demo', messages: texts.map((content) => ({ role: 'user', content })) });
  const { sessions } = (await server.ask('GET', '/v1/sessions')).json();
  const { items } = (await server.ask('GET', `/v1/sessions/${sessions[0].id}/messages`)).json();
  assert.deepEqual(items.filter((one) => one.role === 'user').map((one) => one.text), texts);
});

test('a conversation that is ingested again brings nothing back that was forgotten', async (t) => {
  const server = await serve(t);
  const agent = { 'X-Osaurus-Agent-Id': 'keeper' };
  const ingest = () => server.ask('POST', '/memory/ingest', { agent_id: 'keeper', conversation_id: 'zoo', turns: [{ user: TEXT, assistant: 'A fine name.' }] });
  await ingest();
  const { results } = (await server.ask('POST', '/v1/memories/search', { query: 'What is my parrot called?' }, agent)).json();
  const message = results.find((one) => one.text === TEXT);
  assert.equal((await server.ask('DELETE', `/v1/memories/${message.id}`, undefined, agent)).status, 200);
  await ingest();
  assert.deepEqual(await found(server, agent), BOTH);
});

test('a statement that was erased is remembered when the user repeats it in another session', async (t) => {
  const server = await serve(t);
  const { fact } = await remembered(server);
  assert.equal((await server.ask('DELETE', `/v1/memories/${fact}`)).status, 200);
  assert.deepEqual(await found(server), BOTH);
  await server.tell(TEXT, { 'X-Session-Id': 'more birds' });
  assert.deepEqual(await found(server), [true, true]);
});

test('a statement that was erased is remembered when it begins a conversation again, once the first one went on', async (t) => {
  const server = await serve(t), user = (content) => ({ role: 'user', content });
  const first = await server.tell(TEXT), reply = first.json().choices[0].message;
  const more = await server.chat({ model: 'rememberd/demo', messages: [user(TEXT), reply, user('It likes apples and nuts.')] });
  await server.receipt(more.headers['x-rememberd-receipt']);
  const { memories } = (await server.ask('GET', '/v1/memories?contains=Quito')).json();
  assert.equal((await server.ask('DELETE', `/v1/memories/${memories[0].id}`)).status, 200);
  assert.deepEqual(await found(server), BOTH);
  await server.tell(TEXT);
  assert.deepEqual(await found(server), [true, true]);
});

test('an expired memory is listed with closed=true only', async (t) => {
  const server = await serve(t);
  const listed = async (query) => (await server.ask('GET', `/v1/memories${query}`)).json().memories.length;
  assert.ok((await server.ask('POST', '/v1/memories', { content: 'Parks in lot 7', expires: '2020-01-01' })).status < 300);
  assert.deepEqual([await listed(''), await listed('?closed=true')], [0, 1]);
});

test('an expired memory is hidden at once', async (t) => {
  const server = await serve(t);
  await server.ask('POST', '/v1/memories', { content: FACT, expires: '2020-01-01T00:00:00Z' });
  assert.deepEqual(await found(server), BOTH);
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0);
});

test("what a relative has in the same words stays, and what is said of both goes", async (t) => {
  const server = await serve(t);
  for (const text of ["I'm allergic to nuts.", 'My brother is allergic to nuts.', 'My mother and I are allergic to nuts.']) await server.tell(text);
  const { memories } = (await server.ask('GET', '/v1/memories')).json();
  const own = memories.find((one) => one.content === 'is allergic to nuts');
  assert.equal((await server.ask('DELETE', `/v1/memories/${own.id}`)).status, 200);
  const block = await given(server, 'Who is allergic to nuts?');
  assert.match(block, /My brother is allergic to nuts/);
  assert.doesNotMatch(block, /I'm allergic|mother/);
});

test('a sentence ends at a danda, so the next one of its message stays', async (t) => {
  const server = await serve(t);
  await server.tell('मुझे कुत्तों से डर लगता है। मेरी बहन तुरही बजाती है।');
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'मुझे कुत्तों से डर लगता है।' })).json();
  assert.equal((await server.ask('DELETE', `/v1/memories/${id}`)).status, 200);
  assert.doesNotMatch(await given(server, 'मुझे किससे डर लगता है?'), /कुत्तों/);
  assert.match(await given(server, 'मेरी बहन क्या बजाती है?'), /तुरही/);
});

test('the same of another person, month or sum stays', async (t) => {
  const server = await serve(t);
  const add = async (content) => (await server.ask('POST', '/v1/memories', { content })).json().id;
  const march = await add('Rent for March 2026 paid to Brandt: 300 euros');
  await add('Rent for April 2026 paid to Brandt: 340 euros');
  const ida = await add('On Tuesdays Ida goes to swimming lessons at the Aquadrom');
  await add('On Tuesdays Ben goes to swimming lessons at the Aquadrom');
  for (const id of [march, ida]) assert.equal((await server.ask('DELETE', `/v1/memories/${id}`)).status, 200);
  assert.match(await given(server, 'What rent did I pay to Brandt in April 2026?'), /340 euros/);
  assert.match(await given(server, 'When does Ben go to swimming lessons?'), /Ben goes/);
});
