// doors.test.js - facts and questions, the same at every door; the preview is a chat's recall; one memory for what is said twice.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { serve, upstream } = require('./lib');

const facts = [
  ['My neighbour Rosalind keeps the spare key of the flat.', 'Who has the spare key?', 'Rosalind'],
  ['I am allergic to penicillin.', 'Which allergies do I have?', 'penicillin'],
  ['The heating engineer is called Piotr Wenta.', "What is the heating engineer's name?", 'Piotr'],
  ['Our wedding was on the 14th of September 2011.', 'When was our wedding?', 'September'],
  ['I prefer window seats on trains.', 'Where do I like to sit on a train?', 'window'],
  ['The invoices are written with LibreOffice.', 'Which program do I use for invoices?', 'LibreOffice'],
  ['My daughter plays the oboe in the youth orchestra.', 'Which instrument does my daughter play?', 'oboe'],
  ['The summer house in Ystad has a green roof.', 'What colour is the roof of the summer house?', 'green'],
  ['We deploy the web shop on Thursdays.', 'On which day do we deploy?', 'Thursdays'],
  ['The vet for the rabbits is in Lindgren Street.', "Where is the rabbits' vet?", 'Lindgren'],
];
// Notes as people jot them down, asked for in other words.
const notes = [
  ['allergic to peanuts', 'Which allergies do I have?', 'peanuts'],
  ['works as a paralegal at Brightwater', 'What is my job?', 'paralegal'],
  ['Cat named Pixel', "What is my cat's name?", 'Pixel'],
  ['Lives in Antwerp since 2019', 'Where do I live?', 'Antwerp'],
  ['Birthday is on 3 November', 'When is my birthday?', 'November'],
  ['Boss is called Ingrid Sol', "What's the name of my manager?", 'Ingrid'],
  ['Drives a blue Skoda Octavia', 'What car do I drive?', 'Skoda'],
  ['shoe size 43', 'What size are my shoes?', '43'],
  ['Grew up in a village near Gent', 'Where did I grow up?', 'Gent'],
  ['Laptop is a ThinkPad X1', 'What laptop do I have?', 'ThinkPad'],
];
const fewest = 9;

const json = async (server, method, target, body, headers = {}) => {
  const res = await server.ask(method, target, body, headers);
  assert.ok(res.status < 300, `${method} ${target}: ${res.text}`);
  return res.json();
};

// A server that holds the facts, put in by one door; find gives the best answers to a question as one text each.
const put = {
  'the own API': (server, content, headers) => json(server, 'POST', '/v1/memories', { content }, headers),
  RAG: (server, content) => json(server, 'POST', '/api/v1/memory', { content }),
  Cortex: (server, content) => json(server, 'POST', '/v1/memory/save', { content }),
  OmniRoute: (server, content) => json(server, 'POST', '/api/memory', { content }),
  MCP: (server, content) => tool(server, 'memory_add', { content }),
};

async function tool(server, name, args) {
  const res = await json(server, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    { accept: 'application/json, text/event-stream' });
  assert.ok(res.result && !res.result.isError, JSON.stringify(res));
  return res.result.structuredContent;
}

const first = (found) => JSON.stringify(found.slice(0, 3));

const find = {
  'the own API': async (server, question) => first((await json(server, 'POST', '/v1/memories/search', { query: question })).results),
  'the preview': async (server, question) => first((await json(server, 'POST', '/api/memory/retrieve-preview', { query: question })).memories),
  MCP: async (server, question) => first((await tool(server, 'memory_search', { query: question })).results),
  'OmniRoute by MCP': async (server, question) => first((await tool(server, 'omniroute_memory_search', { query: question })).data.memories),
  Cortex: async (server, question) => first((await json(server, 'POST', '/v1/memory/search', { query: question })).results),
  RAG: async (server, question) => first((await json(server, 'POST', '/api/v1/memory/search', { query: question })).memories),
  'a chat': (server, question, model) => given(server, question, model, {}),
  'a response': async (server, question, model) => {
    await json(server, 'POST', '/v1/responses', { model: 'any', input: question });
    return JSON.stringify(model.last().json.input).replace(question, '');
  },
};

async function given(server, question, model, headers) {
  const res = await server.chat({ model: 'any', messages: [{ role: 'user', content: question }] }, headers);
  assert.equal(res.status, 200, res.text);
  return JSON.stringify(model.last().json.messages).replace(question, '');
}

// The questions whose answer a door does not give.
async function missed(list, ask) {
  const lost = [];
  for (const [, question, word] of list)
    if (!(await ask(question)).includes(word)) lost.push(question);
  return lost;
}

for (const [what, list] of Object.entries({ facts, notes })) {
  for (const [door, ask] of Object.entries(find))
    test(`${what} that were stored are found by natural questions: ${door}`, async (t) => {
      const model = await upstream(t);
      const server = await serve(t, { flags: ['--upstream', model.url] });
      for (const [content] of list) await put['the own API'](server, content);
      const lost = await missed(list, (question) => ask(server, question, model));
      assert.ok(list.length - lost.length >= fewest, `${door} finds ${list.length - lost.length}, not: ${lost.join(' | ')}`);
    });

  test(`${what} that were stored are found by natural questions: an agent's chat`, async (t) => {
    const model = await upstream(t);
    const server = await serve(t, { flags: ['--upstream', model.url] });
    const as = { 'x-osaurus-agent-id': 'butler' };
    for (const [content] of list) await put['the own API'](server, content, as);
    const lost = await missed(list, (question) => given(server, question, model, as));
    assert.ok(list.length - lost.length >= fewest, `finds ${list.length - lost.length}, not: ${lost.join(' | ')}`);
  });
}

// --- one retrieval ---

// What a chat is given of memories, by its receipt, and why; nothing of the chat is kept.
async function chatGiven(server, question, headers = {}) {
  const res = await server.chat({ model: 'any', messages: [{ role: 'user', content: question }] }, { 'x-memory-mode': 'readonly', ...headers });
  assert.equal(res.status, 200, res.text);
  const { lines, decision, reason } = await server.receipt(res.headers['x-rememberd-receipt']);
  const given = lines.filter((line) => line.injected);
  return { ids: given.filter((line) => line.kind === 'memory').map((line) => line.id), messages: given.filter((line) => line.kind === 'message').length,
    decision, reason, all: given.map((line) => line.id) };
}

const previewOf = (server, body) => json(server, 'POST', '/api/memory/retrieve-preview', body);

const asked = [...facts, ...notes].map(([, question]) => question).concat('What should I cook tonight?', 'What do you know about me?',
  'How high is the Matterhorn?', 'Explain recursion in Haskell', 'My knee hurts, which doctor should I see?', 'Where did I live before Antwerp?', 'dog', '*');

async function holdAll(t, flags = []) {
  const model = await upstream(t);
  // Vectors that are made between two requests would tell them apart.
  const server = await serve(t, { flags: ['--upstream', model.url, '--encoder', 'off', ...flags] });
  for (const [content] of [...facts, ...notes]) await put['the own API'](server, content);
  await put['the own API'](server, 'Lives in Ghent, near the castle');
  for (const content of ['We walked the dog to the lake. It was cold.', 'I bought a red kettle in Lille.', 'My knee hurts since the marathon.'])
    await server.chat({ model: 'any', messages: [{ role: 'user', content }] });
  return server;
}

for (const strategy of ['hybrid', 'semantic', 'recent'])
  test(`the preview shows what a chat is given, in its order and for its reasons: ${strategy}`, async (t) => {
    const server = await holdAll(t);
    await json(server, 'PUT', '/api/settings/memory', { strategy });
    let some = 0;
    for (const query of asked) {
      const chat = await chatGiven(server, query);
      for (const more of [{}, { apiKeyId: 'default' }]) {
        const shown = await previewOf(server, { query, explain: true, limit: 50, ...more });
        assert.deepEqual(shown.memories.slice(0, chat.ids.length).map((one) => one.id), chat.ids, `${query} ${chat.reason}`);
        if (!chat.ids.length) assert.deepEqual(shown.memories, [], query);
        const { decision, reason, messages } = chat;
        assert.deepEqual(shown.gate, { decision, reason, memories: chat.ids.length, messages }, query);
      }
      // Without a limit the same, within the chat's own budget; clients of OmniRoute see no new member.
      const plain = await previewOf(server, { query, ...(strategy === 'recent' ? { limit: 24 } : {}) });
      assert.deepEqual(plain.memories.map((one) => one.id), chat.ids, query);
      assert.equal(plain.gate, undefined);
      some += chat.ids.length > 0;
    }
    assert.ok(some > 15, `${some} questions were given something`);
  });

test('the preview has the scores of the receipt, and more by a greater limit alone', async (t) => {
  const server = await holdAll(t, ['--recall-limit', '2']);
  for (const name of ['Alpha lies at the north', 'Borealis lies at the south', 'Corona rests by the east', 'Delta sits near the west'])
    await json(server, 'POST', '/api/memory', { key: `boat ${name}`, content: `Boat ${name} pier` });
  const query = 'Which boat is at which pier?';
  const res = await server.chat({ model: 'any', messages: [{ role: 'user', content: query }] }, { 'x-memory-mode': 'readonly' });
  const scored = (list) => list.map((one) => [one.id, one.score.toFixed(6)]);
  const given = scored((await server.receipt(res.headers['x-rememberd-receipt'])).lines.filter((line) => line.injected));
  assert.equal(given.length, 2);
  assert.deepEqual(scored((await previewOf(server, { query })).memories), given);
  const more = (await previewOf(server, { query, limit: 20 })).memories;
  assert.equal(more.length, 4);
  assert.deepEqual(scored(more).slice(0, 2), given);
  assert.deepEqual(scored((await previewOf(server, { query, limit: 1 })).memories), given.slice(0, 1));
});

test('a search finds all that a chat is given, whatever its own limit puts first', async (t) => {
  const server = await holdAll(t);
  for (const question of ['Which of my questions is this?', 'Where do I live, where do I live?'])
    for (let i = 0; i < 8; i++) await server.chat({ model: 'any', messages: [{ role: 'user', content: `${question} ${i}` }] });
  for (const query of asked.filter((one) => one !== '*')) {
    const { all, ids } = await chatGiven(server, query);
    for (const search of [async () => (await tool(server, 'memory_search', { query, limit: 20 })).results,
      async () => (await json(server, 'POST', '/v1/memories/search', { query, limit: 20 })).results]) {
      const found = (await search()).map((one) => one.id);
      assert.deepEqual(all.filter((id) => !found.includes(id)), [], query);
    }
    const memories = (await tool(server, 'omniroute_memory_search', { query, limit: 20 })).data.memories.map((one) => one.id);
    assert.deepEqual(ids.filter((id) => !memories.includes(id)), [], query);
  }
});

test('a scope says where: one conversation, the space, all spaces of the user', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const say = (content, session, more = {}) => server.chat({ model: 'any', messages: [{ role: 'user', content }] }, { 'x-session-id': session, ...more });
  await say('The boat is called Aurora.', 'one');
  await say('The boat in the harbour is called Borealis.', 'two');
  await json(server, 'POST', '/api/memory', { content: 'The boat at the lake is called Corona.', apiKeyId: 'lake' });
  const found = async (args) => JSON.stringify((await tool(server, 'memory_search', { query: 'What is the boat called?', ...args })).results);
  const boats = (text) => ['Aurora', 'Borealis', 'Corona'].filter((name) => text.includes(name));
  assert.deepEqual(boats(await found({})), ['Aurora', 'Borealis']);
  assert.deepEqual(boats(await found({ scope: 'user' })), ['Aurora', 'Borealis', 'Corona']);
  const { sessions } = await json(server, 'GET', '/v1/sessions');
  const { id } = sessions.find((one) => one.title.includes('Borealis'));
  assert.deepEqual(boats(await found({ scope: 'session', session: id })), ['Borealis']);
  // A chat of the conversation that sends its last message alone.
  const inChat = async (headers) => {
    await say('So what is the boat called?', 'two', headers);
    return boats(JSON.stringify(model.last().json.messages));
  };
  assert.deepEqual(await inChat({}), ['Aurora', 'Borealis']);
  assert.deepEqual(await inChat({ 'x-memory-scope': 'session' }), ['Borealis']);
  for (const [headers, rule] of [[{ 'x-memory-scope': 'user' }, /X-Memory-Scope: must be one of: space, session/],
    [{ 'x-memory-scope': 'session', 'x-osaurus-agent-id': 'a' }, /X-Memory-Scope: must not be session/]])
    assert.match((await say('Hello boat?', 'two', headers)).text, rule);
  const res = await server.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call',
    params: { name: 'memory_search', arguments: { query: 'boat', scope: 'session' } } }, { accept: 'application/json, text/event-stream' });
  assert.match(res.text, /session: is required by this scope/);
});

test('a question about something else finds nothing by default', async (t) => {
  const server = await serve(t);
  for (const [content] of facts) await put['the own API'](server, content);
  for (const query of ['How high is the Matterhorn?', 'Explain recursion in Haskell', 'Which planet has the most moons?'])
    for (const door of ['Cortex', 'RAG']) assert.equal(await find[door](server, query), '[]', `${door}: ${query}`);
});

const id = (made) => made.id ?? made.memory_id ?? made.memory?.id;

for (const [door, add] of Object.entries(put))
  test(`what is stored twice is one memory, and weighs what the rules say: ${door}`, async (t) => {
    const server = await serve(t);
    const one = id(await add(server, 'Use pytest for testing'));
    for (const again of ['Use pytest for testing', 'Use pytest for testing.', 'I use pytest for testing'])
      assert.equal(id(await add(server, again)), one, again);
    const other = id(await add(server, 'Use Jest for testing'));
    assert.notEqual(other, one);
    await add(server, 'I am allergic to hazelnuts');
    const { memories } = await json(server, 'GET', '/v1/memories');
    assert.equal(memories.length, 3, JSON.stringify(memories));
    assert.equal(memories.find((m) => /hazelnuts/.test(m.content)).importance, 0.9);
  });
