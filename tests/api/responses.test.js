// responses.test.js - OpenAI's Responses API with memory: what goes up, what is learnt, and its clients from npm.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { generateText, streamText } = require('ai');
const { createOpenAI } = require('@ai-sdk/openai');
const { ChatOpenAI } = require('@langchain/openai');
const { HumanMessage } = require('@langchain/core/messages');
const { run, serve, until, upstream } = require('./lib.js');

const OPENING = '<remembered>';
const PATH = '/v1/responses';

// --- a scripted model server that speaks the Responses API ---

let made = 0;
const messageItem = (text) => ({ id: `msg_${made}`, type: 'message', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] });
const callItem = () => ({ id: `fc_${made}`, type: 'function_call', status: 'completed', call_id: `call_${made}`, name: 'look', arguments: '{"where":"here"}' });

function responseOf(asked, output, status = 'completed') {
  return { id: `resp_${made}`, object: 'response', created_at: 1, status, error: null, incomplete_details: null, instructions: null, model: asked.json.model, output,
    parallel_tool_calls: true, previous_response_id: asked.json.previous_response_id ?? null, temperature: 1, text: { format: { type: 'text' } }, tool_choice: 'auto', tools: [],
    top_p: 1, metadata: {}, usage: { input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 } };
}

// The events of a stream, as text. End: the last one, or none for a stream that breaks off.
function eventsOf(asked, items, end = 'response.completed') {
  const list = [['response.created', { response: responseOf(asked, [], 'in_progress') }], ['response.in_progress', { response: responseOf(asked, [], 'in_progress') }]];
  items.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index, content_index: 0 };
    list.push(['response.output_item.added', { output_index, item: { ...item, status: 'in_progress', ...(item.content ? { content: [] } : { arguments: '' }) } }]);
    if (item.content) {
      const [part] = item.content;
      list.push(['response.content_part.added', { ...at, part: { ...part, text: '' } }]);
      for (const delta of part.text.match(/\S+\s*/g)) list.push(['response.output_text.delta', { ...at, delta, logprobs: [] }]);
      list.push(['response.output_text.done', { ...at, text: part.text, logprobs: [] }], ['response.content_part.done', { ...at, part }]);
    } else list.push(['response.function_call_arguments.done', { item_id: item.id, output_index, arguments: item.arguments }]);
    list.push(['response.output_item.done', { output_index, item }]);
  });
  if (end) list.push([end, { response: responseOf(asked, items, end.split('.')[1]) }]);
  return list.map(([type, data], sequence_number) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`).join('');
}

function answer(res, asked, items, end) {
  made++;
  const output = items();
  res.writeHead(200, { 'content-type': asked.json.stream ? 'text/event-stream' : 'application/json' });
  res.end(asked.json.stream ? eventsOf(asked, output, end) : JSON.stringify(responseOf(asked, output)));
}

const words = (text) => (req, res, asked) => answer(res, asked, () => [messageItem(text)]);
const inputOf = (asked) => (typeof asked.json.input === 'string' ? [{ role: 'user', content: asked.json.input }] : asked.json.input);
const textOf = (item) => (typeof item.content === 'string' ? item.content : (item.content ?? []).map((part) => part.text).join('\n'));
const isBlock = (item) => textOf(item).startsWith(OPENING);
const blocksOf = (asked) => inputOf(asked).filter(isBlock).map(textOf);
const count = (text, piece) => text.split(piece).length - 1;

const ask = (server, body, headers) => server.ask('POST', PATH, { model: 'scripted', ...body }, headers);
async function said(server, body, headers) {
  const res = await ask(server, body, headers);
  assert.equal(res.status, 200, res.text);
  return res;
}
const add = async (server, content, headers = {}) => (await server.ask('POST', '/v1/memories', { content }, headers)).json().id;

async function ready(t, handler = words('Fine.'), flags = []) {
  const up = await upstream(t, handler);
  return { up, server: await serve(t, { flags: ['--upstream', up.url, ...flags] }) };
}

// --- where the block stands ---

test('a text gets one item behind it, and nothing else changes', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'My sister Ada lives in Oslo.');
  const body = '{ "model":"scripted",\n "input" : "Where does my sister \\u006cive?", "instructions":"Be brief.","temperature":1.0, "x_new":[1e2] }';
  await said(server, {}, {}).catch(() => {});
  const res = await server.ask('POST', PATH, body);
  assert.equal(res.status, 200, res.text);
  const seen = up.last().body.toString();
  const item = /,(\{"type":"message","role":"developer","content":\[\{"type":"input_text","text":"<remembered>.*?"\}\]\})\]/.exec(seen);
  assert.match(item[1], /Ada lives in Oslo/);
  assert.equal(seen, body.replace('"Where does my sister \\u006cive?"', () => `[{"type":"message","role":"user","content":"Where does my sister \\u006cive?"},${item[1]}]`));
  await said(server, { input: 'zzz qqq' });
  assert.equal(up.last().json.input, 'zzz qqq', 'without a block a text stays a text');
});

test('items get it behind the last message of the user, with or without a type', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'My sister Ada lives in Oslo.');
  const question = 'Where does my sister live?';
  const forms = [{ role: 'user', content: question }, { type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] }];
  for (const form of forms) {
    const input = [{ role: 'developer', content: 'Be brief.' }, form, { type: 'message', role: 'developer', content: 'A hook says hello.' }];
    await said(server, { input, store: false });
    const sent = up.last().json.input;
    assert.deepEqual([sent[0], sent[1], sent[3]], input);
    assert.equal(sent.length, 4);
    assert.match(textOf(sent[2]), /^<remembered>[^]*Ada lives in Oslo/);
    assert.deepEqual([sent[2].type, sent[2].role, sent[2].content[0].type], ['message', 'developer', 'input_text']);
  }
});

test('reasoning, calls and their results stay together, and a tool\'s round repeats the block', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'My sister Ada lives in Oslo.');
  const input = [{ role: 'user', content: 'Where does my sister live?' }], tools = [{ type: 'function', name: 'look', parameters: {} }];
  await said(server, { input, tools });
  const [given] = blocksOf(up.last());
  const rest = [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }, { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'Oslo is in Norway.' }];
  await add(server, 'My sister Ada has moved to Bergen.');
  await said(server, { input: [...input, ...rest], tools });
  const sent = up.last().json.input;
  assert.equal(textOf(sent[1]), given, 'the same bytes, whatever is known by now');
  assert.deepEqual(sent.slice(2), rest);
  assert.equal(blocksOf(up.last()).length, 1);
});

// --- conversations that only grow ---

const facts = ['My sister Ada lives in Oslo.', 'I drive a green Saab.', 'My dog is called Biscuit.', 'I am allergic to walnuts.', 'Our boat is called Halcyon.',
  'My dentist is Dr. Lindqvist.', 'I work at Northwind as a gardener.', 'My favourite tea is Lapsang.', 'The spare key is under the blue pot.', 'I play the cello on Tuesdays.',
  'My landlord is called Mr. Ferris.', 'I paid 340 euros for the tent.', 'My brother Tom studies in Ghent.', 'I wear size 43 shoes.', 'My bike is crimson.'];
const talk = ['Where does my sister live?', 'What car do I drive?', 'Thanks!', 'What is my dog called?', 'Tell me a joke.', 'What am I allergic to?', 'What is our boat called?',
  'Who is my dentist?', 'My neighbour is called Olga.', 'Where do I work?', 'What is my favourite tea?', 'Where is the spare key?', 'When do I play the cello?',
  'Where does my sister live again?', 'Who is my landlord?', 'How much did I pay for the tent?', 'Where does Tom study?', 'What size are my shoes?', 'What colour is my bike?', 'And the car?'];

// Answers in turn; with tools every third question first thinks and looks something up.
const scripted = (req, res, asked) => {
  const input = inputOf(asked), last = input.filter((item) => !isBlock(item)).pop(), n = input.filter((item) => item.role === 'user').length;
  const looks = asked.json.tools && last.role === 'user' && (asked.json.previous_response_id ? made % 3 === 0 : n % 3 === 0);
  answer(res, asked, () => (looks ? [{ type: 'reasoning', id: `rs_${made}`, summary: [] }, callItem()].slice(asked.json.stream ? 1 : 0) : [messageItem(`Answer ${made}.`)]));
};

const outputOf = (res) => (res.headers['content-type'].includes('event-stream')
  ? JSON.parse(/event: response.completed\ndata: (.*)\n/.exec(res.text)[1]).response : res.json());
const results = (output) => output.filter((item) => item.type === 'function_call').map(({ call_id }) => ({ type: 'function_call_output', call_id, output: `looked for ${call_id}` }));

// A client that sends the whole conversation each time; first is the form of its first request.
async function converse(server, { stream = false, tools = false, text = false, refer = false, headers = {}, more = {} } = {}) {
  const input = [{ role: 'developer', content: 'Be brief.' }];
  if (text) input.pop();
  for (const question of talk) {
    input.push({ role: 'user', content: question });
    for (;;) {
      const body = { input: text && input.length === 1 ? question : input, stream, ...more, ...(tools && { tools: [{ type: 'function', name: 'look', parameters: {} }] }) };
      const { output } = outputOf(await said(server, body, headers));
      input.push(...(refer ? output.map(({ id }) => ({ type: 'item_reference', id })) : output), ...results(output));
      if (!results(output).length) break;
    }
  }
}

// What the model reads: the first request may be a text, which later ones have as an item.
const prompt = (asked) => inputOf(asked).map((item) => JSON.stringify(item.role === 'user' ? ['user', textOf(item)] : item));

function assertGrows(asked, exactly) {
  for (let i = 1; i < asked.length; i++) {
    const [before, now] = [asked[i - 1], asked[i]].map(prompt);
    assert.deepEqual(now.slice(0, before.length), before, `request ${i} of ${asked.length} changes what went before`);
    if (!exactly) continue;
    const [a, b] = [asked[i - 1], asked[i]].map((one) => JSON.stringify(one.json.input).slice(0, -1));
    assert.ok(b.startsWith(a));
    assert.ok(asked[i].body.toString().includes(b), 'byte for byte');
  }
}

const ways = {
  'items': {},
  'a text first, items later': { text: true },
  'streamed': { stream: true },
  'with tools': { tools: true },
  'with tools, streamed': { tools: true, stream: true },
  'nothing stored, with a key of the cache': { more: { store: false, prompt_cache_key: '019a9f1c-7a1b-7c3e-9d57-0123456789ab' } },
  'with references to what is stored': { refer: true },
  'in a named conversation': { headers: { 'thread-id': 'T1' } },
};
for (const [name, options] of Object.entries(ways)) {
  test(`a conversation of ${talk.length} turns only grows at its end: ${name}`, async (t) => {
    const { up, server } = await ready(t, scripted);
    for (const fact of facts) await add(server, fact);
    await converse(server, options);
    assertGrows(up.asked, !options.text);
    const blocks = blocksOf(up.last());
    assert.ok(blocks.length >= 8, `${blocks.length} blocks stand in the last request`);
    assert.equal(count(blocks.join(), 'My dog is called Biscuit'), 1, 'given once');
  });
}

for (const [name, { stream, tools, conversation }] of Object.entries({ 'whole': {}, 'streamed': { stream: true }, 'with tools': { tools: true }, 'with tools, streamed': { tools: true, stream: true },
  'in a conversation with an id': { conversation: true }, 'in a conversation, with tools': { conversation: true, tools: true } })) {
  test(`where the server keeps the ${talk.length} turns, each thing is given once and nothing is put back: ${name}`, async (t) => {
    const { up, server } = await ready(t, scripted);
    for (const fact of facts) await add(server, fact);
    let previous, session;
    for (const question of talk) {
      let input = question;
      for (;;) {
        const held = conversation ? { conversation: { id: 'conv_1' } } : previous ? { previous_response_id: previous } : {};
        const res = await said(server, { input, stream, ...held, ...(tools && { tools: [{ type: 'function', name: 'look', parameters: {} }] }) });
        const { id, output } = outputOf(res);
        session ??= res.headers['x-omniroute-session-id'];
        assert.equal(res.headers['x-omniroute-session-id'], session, 'one conversation');
        previous = id;
        input = results(output);
        const blocks = blocksOf(up.last());
        assert.ok(blocks.length <= 1);
        if (up.last().json.input[0]?.type === 'function_call_output') assert.equal(blocks.length, 0, 'the server has the block of the question');
        if (!input.length) break;
      }
    }
    if (tools) assert.ok(up.asked.length > talk.length, 'tools were called');
    const given = up.asked.flatMap(blocksOf).join('\n');
    for (const fact of ['Ada lives in Oslo', 'called Biscuit', 'green Saab', 'called Halcyon']) assert.equal(count(given, fact), 1, fact);
    const history = (await server.ask('GET', `/v1/sessions/${session}`)).json();
    assert.ok(history.messages === undefined || history.messages.length >= talk.length, JSON.stringify(history).slice(0, 200));
  });
}

test('a branch of a stored conversation is given what the other branch got', async (t) => {
  const { up, server } = await ready(t, scripted);
  await add(server, 'Our boat is called Halcyon.');
  const first = (await said(server, { input: 'Tell me a joke.' })).json();
  for (let i = 0; i < 2; i++) {
    await said(server, { input: 'What is our boat called?', previous_response_id: first.id });
    assert.equal(blocksOf(up.last()).length, 1);
  }
});

test('a server without the earlier response words the error, and nothing of it is kept', async (t) => {
  const error = { error: { message: "Previous response with id 'resp_x' not found.", type: 'invalid_request_error', param: 'previous_response_id', code: 'previous_response_not_found' } };
  const { server } = await ready(t, (req, res) => {
    res.writeHead(400, { 'content-type': 'application/json' });
    res.end(JSON.stringify(error));
  });
  const res = await ask(server, { input: 'My boat is called Halcyon.', previous_response_id: 'resp_x' });
  assert.deepEqual([res.status, res.json()], [400, error]);
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0);
});

test('an id that another user\'s response has leads nowhere', async (t) => {
  const { up, server } = await ready(t, scripted);
  const first = (await said(server, { input: 'What is our boat called?' }, { 'x-memory-user': 'ada' })).json();
  const mine = await said(server, { input: 'Hello there', previous_response_id: first.id }, { 'x-memory-user': 'ada' });
  const other = await said(server, { input: 'Hello there', previous_response_id: first.id }, { 'x-memory-user': 'bob' });
  assert.notEqual(mine.headers['x-omniroute-session-id'], other.headers['x-omniroute-session-id']);
  assert.equal(up.last().json.previous_response_id, first.id, 'passed on as it is');
});
