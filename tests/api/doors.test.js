// doors.test.js - ten facts and ten questions, the same at every door; and one memory for what is said twice.
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
};

async function given(server, question, model, headers) {
  const res = await server.chat({ model: 'any', messages: [{ role: 'user', content: question }] }, headers);
  assert.equal(res.status, 200, res.text);
  return JSON.stringify(model.last().json.messages).replace(question, '');
}

// The questions whose answer a door does not give.
async function missed(ask) {
  const lost = [];
  for (const [, question, word] of facts)
    if (!(await ask(question)).includes(word)) lost.push(question);
  return lost;
}

for (const [door, ask] of Object.entries(find))
  test(`facts that were stored are found by natural questions: ${door}`, async (t) => {
    const model = await upstream(t);
    const server = await serve(t, { flags: ['--upstream', model.url] });
    for (const [content] of facts) await put['the own API'](server, content);
    const lost = await missed((question) => ask(server, question, model));
    assert.ok(facts.length - lost.length >= fewest, `${door} finds ${facts.length - lost.length}, not: ${lost.join(' | ')}`);
  });

test("facts that were stored are found by natural questions: an agent's chat", async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const as = { 'x-osaurus-agent-id': 'butler' };
  for (const [content] of facts) await put['the own API'](server, content, as);
  const lost = await missed((question) => given(server, question, model, as));
  assert.ok(facts.length - lost.length >= fewest, `finds ${facts.length - lost.length}, not: ${lost.join(' | ')}`);
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
