// questions.test.js - standing instructions, follow-ups at doors that are no chat's, and what was replied.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { answer, serve, until, upstream } = require('./lib');

const day = 86400000;
const date = (days) => new Date(Date.now() - days * day).toISOString();
const ok = (res) => (assert.ok(res.status >= 200 && res.status < 300, res.text), res);
const ingest = async (server, conversation_id, user, days = 0, assistant = 'Noted.') =>
  ok(await server.ask('POST', '/memory/ingest', { agent_id: 'default', conversation_id, turns: [{ user, assistant, date: date(days) }] }));

/** The receipt of a chat in a new conversation. */
async function receipt(server, question) {
  const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: question }] }, { 'X-Memory-Mode': 'readonly' });
  return server.receipt(res.headers['x-rememberd-receipt']);
}

test('a standing instruction is given to every chat, first, with the reason; taken back it is not', async (t) => {
  const server = await serve(t);
  await server.tell('Never use emojis in your answers.');
  await server.tell('The skiff is moored behind the cannery.');
  const got = await receipt(server, 'Where is the skiff moored?');
  assert.match(got.block, /emojis[^]*cannery/);
  assert.match(got.lines.find((line) => line.injected && /standing instruction/.test(line.why)).why, /for every chat/);
  assert.match((await receipt(server, 'How do tides work?')).block, /never use emojis/);
  await server.tell('You can use emojis again.');
  assert.equal((await receipt(server, 'How do tides work?')).block, '');
});

test('in a script that the encoder does not read, a question for what was told needs less evidence', async (t) => {
  const server = await serve(t);
  await server.tell('Преподаю по понедельникам и средам в музыкальной школе.');
  await server.tell('Дочь занимается плаванием третий год.');
  const needed = async (question) =>
    Number(/, (\d\.\d+) needed/.exec((await ok(await server.ask('POST', '/v1/preview', { question }))).json().reason)[1]);
  const general = await needed('Чем отличается плавание от дайвинга и занимается ли им школа?');
  assert.ok(await needed('По каким дням я преподаю?') < general / 3);
});

test('what is known goes in as far as the budget of chats reaches, though no word of the question finds it', async (t) => {
  const server = await serve(t);
  for (let i = 0; i < 13; i++) await ok(await server.ask('POST', '/v1/memories', { content: `The user keeps ${i + 2} bees of the kind number ${i} in the garden behind house ${i}.` }));
  assert.equal((await receipt(server, 'Who am I?')).lines.filter((line) => line.injected).length, 13);
});

test('a search does not show standing instructions', async (t) => {
  const server = await serve(t);
  await server.tell('Always answer in German.');
  await server.tell('The skiff is moored behind the cannery.');
  const found = (await ok(await server.ask('POST', '/v1/memories/search', { query: 'Where is the skiff moored?' }))).json();
  assert.match(found.results[0].text, /cannery/);
  assert.ok(found.results.every((r) => !/German/.test(r.text)), JSON.stringify(found.results));
});

test('a standing instruction that was erased is given no more', async (t) => {
  const server = await serve(t);
  await server.tell('Always sign your letters with Fennimore.');
  const { lines } = await receipt(server, 'How do tides work?');
  ok(await server.ask('DELETE', `/v1/memories/${lines.find((line) => line.injected).id}`));
  assert.doesNotMatch((await receipt(server, 'How do tides work?')).block, /Fennimore/);
});

test('an instruction in an answer, in a quotation or for once is no standing instruction', async (t) => {
  const server = await serve(t);
  for (const text of ['> Always answer in Klingon.\n\nWhat is that?', 'Answer in Latin, please: what is a duck?', 'She said: "never use emojis"',
    'Write me a poem, always rhyming.'])
    await server.tell(text);
  await ingest(server, 'ducks', 'I keep eleven runner ducks.', 1, 'Always answer in rhymes.');
  assert.equal((await receipt(server, 'How do tides work?')).block, '');
});

test('a follow-up is completed where a search names its conversation', async (t) => {
  const server = await serve(t, { flags: ['--encoder', 'off'] });
  const headers = { 'X-Session-Id': 'talk' };
  await server.tell('My cousin Ottilie has a skiff, painted a deep vermilion.');
  for (const content of ['What do you know of Ottilie?', 'Tell me of her, Ottilie.'])
    await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content }] }, headers);
  const query = 'And what colour is hers?';
  const search = async (body) => (await ok(await server.ask('POST', '/v1/memories/search', { query, ...body }))).json().results;
  const rank = (results) => results.findIndex((r) => /vermilion/.test(r.text));
  const alone = rank(await search({})), within = rank(await search({ session: 'talk' }));
  assert.ok(within >= 0 && (alone < 0 || within <= alone), `${alone} ${within}`);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url)));
  t.after(() => client.close());
  const context = async (args) => (await client.callTool({ name: 'memory_context', arguments: { question: query, ...args } })).structuredContent.block;
  assert.doesNotMatch(await context({}), /vermilion/);
  assert.match(await context({ session: 'talk' }), /vermilion/);
  const found = (await client.callTool({ name: 'memory_search', arguments: { query, session: 'talk' } })).structuredContent.results;
  assert.ok(rank(found) >= 0);
});

test('a receipt says how much of what is probably needed its lines hold, and what was asked', async (t) => {
  const shares = {};
  for (const coverage of ['lean', 'full']) {
    const server = await serve(t, { flags: ['--coverage', coverage] });
    for (let i = 0; i < 12; i++) await server.tell(`My ${['sister', 'brother', 'aunt', 'uncle', 'niece', 'nephew', 'cousin', 'mother', 'father', 'son', 'daughter', 'friend'][i]} likes films about ${['the sea', 'horses', 'war', 'love'][i % 4]} and tea.`);
    await server.settled();
    const { reason } = (await server.ask('POST', '/v1/preview', { question: 'Which films does my family like?' })).json();
    const [, holds, asked] = /; covers (\d+) % of what is probably needed \((\d+) % asked\)/.exec(reason) ?? assert.fail(reason);
    shares[coverage] = { holds: Number(holds), asked: Number(asked) };
  }
  assert.ok(shares.lean.asked < shares.full.asked && shares.lean.holds < shares.full.holds, JSON.stringify(shares));
  const server = await serve(t);
  for (const text of ['My sister Ada lives in Oslo.', 'My brother Ben lives in Ghent.', 'My aunt Cleo lives in Turin.']) await server.tell(text);
  await server.settled();
  const reasonOf = async (question) => (await server.ask('POST', '/v1/preview', { question })).json().reason;
  assert.match(await reasonOf('Where do my sister, my brother and my aunt live, and what are their names?'), /% asked\); asks for several things, so more is told/);
  assert.doesNotMatch(await reasonOf('Where does my sister Ada live?'), /several/);
  const silent = (await (await serve(t)).ask('POST', '/v1/preview', { question: 'What is the capital of France?' })).json();
  assert.doesNotMatch(silent.reason, /covers/);
});

// A reply's answer may stand far from the words of the question, and is shown where what was replied is asked for.
test('what the model answered is given in full where it is asked for', async (t) => {
  const reply = 'To get the water stain on your ceiling covered, prepare the area in this order:\n\n1. Find the leak and let the plaster dry for a week.\n' +
    '2. Scrape off what is loose and sand the edge.\n3. Roll on one coat that blocks stains; I would take Zinsser Cover Stain, as it holds on old emulsion.\n' +
    '4. Leave it for two hours with a window open.\n5. Paint two coats of ceiling white over it.\n\nOne litre is enough for nine square metres.';
  const model = await upstream(t, (req, res, asked) => answer(res, asked, reply));
  const server = await serve(t, { flags: ['--upstream', model.url, '--recall-deadline-ms', '10000'] });
  await server.chat({ model: 'm', messages: [{ role: 'user', content: 'How do I cover a water stain on the ceiling?' }] });
  const given = async (question) => (await server.ask('POST', '/v1/preview', { question })).json().block;
  await until('it has vectors', async () => /Zinsser Cover Stain/.test(await given('What was the primer for the stain on the ceiling called that you told me about?')));
  assert.match(await given('What was the primer for the stain on the ceiling called that you told me about?'), /Find the leak[^]*nine square metres/);
});

// "What do I wear to Dario's wedding on 14 June?" tells when it is; the built-in model quotes it, too.
test('what a question tells in passing is given when it is asked for', async (t) => {
  const server = await serve(t);
  await server.tell('What should I wear to my cousin Dario\'s wedding in Split on 14 June?');
  await server.tell('As a nurse on night shifts, what should I eat before bed?');
  await server.tell('What is the capital of Croatia?');
  await server.settled();
  const said = async (question) => (await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: question }] })).json().choices[0].message.content;
  assert.match(await said('When is Dario\'s wedding?'), /14 June\?”$/);
  assert.match(await said('What is my job?'), /nurse/);
  assert.doesNotMatch((await receipt(server, 'Where is Dario\'s wedding?')).block, /capital/);
});
