// responses.test.js - OpenAI's Responses API with memory: what goes up, what is learnt, and its clients from npm.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { execFile } = require('node:child_process');
const { promisify } = require('node:util');
const { generateText, streamText } = require('ai');
const { createOpenAI } = require('@ai-sdk/openai');
const { ChatOpenAI } = require('@langchain/openai');
const { HumanMessage } = require('@langchain/core/messages');
const { run, serve, tempFolder, upstream } = require('./lib.js');
const long = require('./long_talk.js');

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

// What is kept of a conversation. A receipt may be there before its turn; a later turn without a block is not, and is written after it.
const historyOf = async (server, session, headers) => (await server.ask('GET', `/v1/session/${session}/history?limit=200`, undefined, headers)).json().messages;
async function kept(server, res, headers = {}) {
  assert.match(res.headers['x-rememberd-receipt'], /^[0-9a-f-]{36}$/);
  await server.tell('Thanks!', { ...headers, 'x-session-id': 'later' });
  return (await historyOf(server, res.headers['x-omniroute-session-id'], headers) ?? []).map((m) => [m.role, m.content]);
}

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
  const looks = asked.json.tools && last.role === 'user' && (asked.json.previous_response_id || asked.json.conversation ? made % 3 === 0 : n % 3 === 0);
  answer(res, asked, () => (looks ? [{ type: 'reasoning', id: `rs_${made}`, summary: [] }, callItem()].slice(asked.json.stream ? 1 : 0) : [messageItem(`Answer ${made}.`)]));
};

const outputOf = (res) => (res.headers['content-type'].includes('event-stream')
  ? JSON.parse(/event: response.completed\ndata: (.*)\n/.exec(res.text)[1]).response : res.json());
const results = (output) => output.filter((item) => item.type === 'function_call').map(({ call_id }) => ({ type: 'function_call_output', call_id, output: `looked for ${call_id}` }));

// A client that sends the whole conversation each time; first is the form of its first request.
async function converse(server, { stream = false, tools = false, text = false, refer = false, headers = {}, more = {}, questions = talk } = {}) {
  const input = [{ role: 'developer', content: 'Be brief.' }];
  if (text) input.pop();
  for (const question of questions) {
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

test(`a conversation of ${long.talk.length} turns only grows at its end`, async (t) => {
  const { up, server } = await ready(t, scripted);
  for (const fact of long.facts) await add(server, fact);
  await converse(server, { tools: true, stream: true, questions: long.talk });
  assertGrows(up.asked, false);
  long.assertGiven(up.last().body.toString());
});

for (const [name, { stream, tools, conversation }] of Object.entries({ 'whole': {}, 'streamed': { stream: true }, 'with tools': { tools: true }, 'with tools, streamed': { tools: true, stream: true },
  'in a conversation with an id': { conversation: true }, 'in a conversation, with tools': { conversation: true, tools: true } })) {
  test(`where the server keeps the ${talk.length} turns, each thing is given once and nothing is put back: ${name}`, async (t) => {
    const { up, server } = await ready(t, scripted);
    for (const fact of facts) await add(server, fact);
    let previous, session, last;
    for (const question of talk) {
      let input = question;
      for (;;) {
        const held = conversation ? { conversation: { id: 'conv_1' } } : previous ? { previous_response_id: previous } : {};
        const res = await said(server, { input, stream, ...held, ...(tools && { tools: [{ type: 'function', name: 'look', parameters: {} }] }) });
        const { id, output } = outputOf(res);
        last = res;
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
    const all = await kept(server, last);
    assert.deepEqual(all.filter(([role]) => role === 'user').map(([, text]) => text), talk);
    assert.equal(all.filter(([role]) => role === 'assistant').length, talk.length, 'each with its answer');
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

test('with the server\'s key only a response that its user has made here is gone on from, with any mode', async (t) => {
  const { up, server } = await ready(t, scripted);
  const names = [{ 'x-memory-user': 'ada' }, { 'x-memory-user': 'bob' }];
  for (const mode of ['full', 'readonly', 'after', 'off'])
    for (const stream of [false, true]) {
      const [ada, bob] = names.map((one) => ({ ...one, 'x-memory-mode': mode }));
      const { id } = outputOf(await said(server, { input: 'What is our boat called?', stream }, ada));
      const mine = { input: 'Hello there', stream, previous_response_id: id };
      await said(server, mine, ada);
      assert.equal(up.last().json.previous_response_id, id, 'passed on as it is');
      await said(server, mine, { ...names[0], 'x-memory-space': 'work' });
      const n = up.asked.length;
      for (const other of [bob, names[1], { ...bob, 'x-memory-space': 'work' }])
        for (const previous_response_id of [id, 'resp_unknown']) {
          const res = await ask(server, { ...mine, previous_response_id }, other);
          assert.deepEqual([res.status, res.json().error.code, res.json().error.param], [400, 'previous_response_not_found', 'previous_response_id'], mode);
          assert.ok(res.json().error.message.startsWith(`Previous response with id '${previous_response_id}' not found`), 'the same for an id that nobody has');
        }
      assert.equal(up.asked.length, n, 'the model server was not asked');
      await said(server, mine, { ...bob, 'x-upstream-authorization': 'Bearer bob-has-a-key' });
    }
});

test('a body that names a person counts, and so do its other names for what is stored', async (t) => {
  const { up, server } = await ready(t, scripted);
  const { id, output: [item] } = outputOf(await said(server, { user: 'ada', input: 'What is our boat called?' }));
  const refused = async (body, param, status) => {
    for (const mode of ['full', 'off']) {
      const n = up.asked.length, res = await server.ask('POST', PATH, typeof body === 'string' ? body : { model: 'scripted', user: 'bob', input: 'hi', ...body }, { 'x-memory-mode': mode });
      assert.deepEqual([res.status, res.json().error.param, up.asked.length], [status, param, n], res.text);
    }
  };
  await refused({ previous_response_id: id }, 'previous_response_id', 400);
  await refused(`{"model":"scripted","user":"bob","input":"hi","previous_response_id":"${id}","previous_response_id":null}`, 'previous_response_id', 400);
  await refused(`{"model":"scripted","user":"bob","input":"hi","previous_response_\\u0069d":"${id}"}`, 'previous_response_id', 400);
  await refused({ previous_response_id: [id] }, 'previous_response_id', 400);
  await said(server, { user: 'ada', input: 'hi', conversation: 'conv_1' });
  await refused({ conversation: 'conv_1' }, 'conversation', 404);
  await refused({ conversation: { id: 'conv_1' } }, 'conversation', 404);
  await said(server, { user: 'ada', input: 'hi again', conversation: { id: 'conv_1' } });
  for (const given of [{ type: 'item_reference', id: item.id }, { id: item.id }, { type: 'reasoning', id: item.id, summary: [] }, { type: 'image_generation_call', id: item.id }]) {
    await refused({ input: [given, userItem('hi')] }, 'input', 404);
    await said(server, { user: 'ada', input: [given, userItem('hi')] });
  }
  await refused(`{"model":"scripted","user":"bob","input":[{"type":"item_reference","type":"message","id":"${item.id}"}]}`, 'type', 400);
  for (const type of ['compaction', 'message', 'function_call']) {
    await refused({ input: [{ type, id: item.id }, userItem('hi')] }, 'input', 404);
    await said(server, { user: 'ada', input: [{ type, id: item.id }, userItem('hi')] });
  }
  // Servers that read names without regard to case would take these for the names above.
  for (const name of ['Previous_Response_ID', 'PREVIOUS_RESPONSE_ID', 'previou\u017F_re\u017Fpon\u017Fe_id']) await refused({ [name]: id }, 'previous_response_id', 400);
  await refused({ Conversation: 'conv_1' }, 'conversation', 400);
  await refused({ conversation: { ID: 'conv_1' } }, 'id', 400);
  await refused({ Input: [{ type: 'item_reference', id: item.id }] }, 'input', 400);
  await refused({ input: [{ type: 'message', Type: 'item_reference', ID: item.id, content: 'hi' }] }, 'type', 400);
  await said(server, { user: 'bob', input: [{ type: 'reasoning', id: 'rs_of_another_server', summary: [], encrypted_content: 'x' }, { ...userItem('hi'), id: 'msg_of_the_client' }] });
});

test('files, containers, stores and prompts that the model server keeps are named only by who has made them here, and by operators', async (t) => {
  const ran = { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', status: 'completed', code: '1', outputs: null };
  const { up, server } = await ready(t, (req, res, asked) => answer(res, asked, () => (asked.json.stream ? [messageItem('Done.')] : [ran, messageItem('Done.')])));
  const python = (container) => ({ tools: [{ type: 'code_interpreter', container }] });
  const file = (part) => ({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }, part] }] });
  const refused = async (body, param) => {
    for (const mode of ['full', 'off']) {
      const n = up.asked.length, res = await ask(server, { user: 'bob', input: 'hi', ...body }, { 'x-memory-mode': mode });
      assert.deepEqual([res.status, res.json().error.param, up.asked.length], [404, param, n], res.text);
    }
  };
  await said(server, { user: 'ada', input: 'hi', ...python({ type: 'auto' }) });
  await said(server, { user: 'ada', input: 'hi', ...python('cntr_1') });
  await refused(python('cntr_1'), 'container');
  await refused(python('cntr_unknown'), 'container');
  await refused({ tools: [{ type: 'code_interpreter', Container: 'cntr_1' }] }, 'container');
  await refused(python({ type: 'auto', file_ids: ['file_1'] }), 'file_ids');
  await refused({ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, 'vector_store_ids');
  await refused({ prompt: { id: 'pmpt_1' } }, 'prompt');
  await refused(file({ type: 'input_file', file_id: 'file_1' }), 'file_id');
  await refused({ input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'file_1' } }] }, 'file_id');
  const look = { type: 'function', name: 'look', parameters: { type: 'object', properties: { file_id: { type: 'string' }, container: { type: 'string' } } } };
  await said(server, { user: 'bob', ...file({ type: 'input_file', file_data: 'x' }), metadata: { file_id: 'mine' }, tools: [look] });
  await said(server, { ...file({ type: 'input_file', file_id: 'file_1' }), prompt: { id: 'pmpt_1' } });
});

test('a client with a token cannot hide in a packed body what it goes on from, and an operator is free', async (t) => {
  const { up, server } = await ready(t, scripted);
  const { token } = (await server.ask('POST', '/v1/tokens', { name: 'plain' })).json();
  const headers = { authorization: `Bearer ${token}`, 'content-encoding': 'x-none' };
  const packed = await ask(server, { input: 'hi', previous_response_id: 'resp_1' }, headers);
  assert.deepEqual([packed.status, packed.json().error.param, up.asked.length], [400, 'Content-Encoding', 0]);
  assert.equal((await ask(server, { input: 'hi', previous_response_id: 'resp_1' }, { authorization: `Bearer ${token}` })).json().error.code, 'previous_response_not_found');
  const operator = { authorization: `Bearer ${JSON.parse((await run(['token', 'create', '--json', '--admin', '--data', server.data])).stdout).token}` };
  await said(server, { input: 'hi', previous_response_id: 'resp_1' }, operator);
  assert.equal((await ask(server, { input: 'hi' }, { ...operator, 'content-encoding': 'x-none' })).status, 200);
  assert.equal((await ask(server, { input: 'hi', previous_response_id: 'resp_1' }, { ...operator, 'x-memory-user': 'ada' })).status, 403, 'this token speaks for nobody');
});

test('whose a response is outlives the server', async (t) => {
  const up = await upstream(t, scripted), data = tempFolder(), flags = ['--upstream', up.url];
  const first = await serve(t, { data, flags }), ada = { 'x-memory-user': 'ada', 'x-memory-mode': 'off' };
  const { id } = outputOf(await said(first, { input: 'hi' }, ada));
  await first.stop();
  const again = await serve(t, { data, flags });
  await said(again, { input: 'hi', previous_response_id: id }, ada);
});

// --- what is learnt ---

test('the user\'s words and the answer are kept, whole or streamed, and other doors are given them', async (t) => {
  const { up, server } = await ready(t, words('Your dentist lives in Elm Street, next to the bakery.'));
  for (const stream of [false, true]) {
    const res = await said(server, { input: `My dentist is Dr. ${stream ? 'Lindqvist' : 'Moreau'}.`, stream, instructions: 'Be brief.' });
    assert.deepEqual(await kept(server, res), [['user', `My dentist is Dr. ${stream ? 'Lindqvist' : 'Moreau'}.`], ['assistant', 'Your dentist lives in Elm Street, next to the bakery.']]);
  }
  await server.chat({ model: 'scripted', messages: [{ role: 'user', content: 'Who is my dentist?' }] }).catch(() => {});
  assert.match(up.last().body.toString(), /Lindqvist/, 'a chat completion is given it');
  const found = await server.ask('POST', '/v1/memories/search', { query: 'dentist' });
  assert.match(found.text, /Lindqvist/);
  await server.tell('My sister Ada lives in Oslo.');
  await said(server, { input: 'Where does my sister live?' });
  assert.match(blocksOf(up.last())[0], /Ada lives in Oslo/, 'and is given what a chat completion learnt');
});

test('of a long answer that ends early the text is kept, of one that breaks off the user\'s words', async (t) => {
  let end = 'response.incomplete';
  const { server } = await ready(t, (req, res, asked) => {
    made++;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = eventsOf(asked, [messageItem('A long story.')], end);
    if (end) res.end(text);
    else res.write(text.slice(0, -20), () => res.destroy());
  });
  assert.deepEqual(await kept(server, await said(server, { input: 'Tell me a story.', stream: true })), [['user', 'Tell me a story.'], ['assistant', 'A long story.']]);
  end = null;
  const receipt = await new Promise((done, failed) => {
    const req = require('node:http').request(server.url + PATH, { method: 'POST', headers: { 'content-type': 'application/json' } }, (res) => {
      res.on('data', () => {}).on('error', () => {}).on('close', () => done(res));
    });
    req.on('error', failed).end(JSON.stringify({ model: 'scripted', input: 'Another one.', stream: true }));
  });
  assert.deepEqual(await kept(server, receipt), [['user', 'Another one.']]);
});

test('of a stream that stops before its end the user\'s words are kept; an end that is too long to be read is one', async (t) => {
  const end = (type, data) => `${type ? `event: ${type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
  const endings = [['', false], [end('response.failed', { type: 'response.failed', response: { status: 'failed' } }), false], [end('', { type: 'response.done', response: { status: 'completed' } }), true],
    [end('response.completed', { type: 'response.completed', response: { status: 'completed', instructions: 'x'.repeat(300000) } }), true],
    ['', false, end('response.created', { type: 'response.created', response: { status: 'in_progress', instructions: 'x'.repeat(300000) } })], [null, ['tool', '(failed)']]];
  let ending, before;
  const { server } = await ready(t, (req, res, asked) => {
    made++;
    res.writeHead(200, { 'content-type': ending === null ? 'application/json' : 'text/event-stream' });
    if (ending === null) res.end(JSON.stringify({ ...responseOf(asked, [messageItem('Marmalade galore.')], 'failed'), error: { code: 'server_error', message: 'too much' } }));
    else res.end(before + eventsOf(asked, [messageItem('Marmalade galore.')], null) + ending);
  });
  for (const [i, [text, is_kept, first = '']] of endings.entries()) {
    [ending, before] = [text, first];
    const said_now = ['user', `I like plums ${i}`];
    assert.deepEqual(await kept(server, await said(server, { input: said_now[1], stream: true })), is_kept ? [said_now, is_kept === true ? ['assistant', 'Marmalade galore.'] : is_kept] : [said_now]);
  }
});

test('of servers that leave out events the answer is kept: pieces and the end, or the end alone', async (t) => {
  const event = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const pieces = ['Marma', 'lade ', 'galore.'].map((delta) => event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta })).join('');
  const end = (how, output) => event(`response.${how}`, { response: { id: 'resp_1', object: 'response', status: how, ...(output && { output }) } });
  const done = event('response.output_item.done', { output_index: 0, item: messageItem('Marmalade galore.') });
  const created = end('created').replace('"status":"created"', '"status":"in_progress","output":[]');
  const streams = [[pieces + end('completed')], [pieces + end('completed', [])], [pieces + end('completed', [messageItem('Marmalade galore.')])], [pieces + end('incomplete')],
    [end('completed', [messageItem('Marmalade galore.')])], [pieces + done + end('completed')], [`${pieces}${end('completed')}data: [DONE]\n\n`], [(pieces + end('completed')).replace(/event: .*\n/g, '')],
    [pieces + end('failed'), false], [pieces, false], [pieces + event('error', { code: 'server_error', message: 'too much' }), false]];
  let sent;
  const { server } = await ready(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(sent);
  });
  for (const [i, [text, is_kept = true]] of streams.entries()) {
    sent = created + text;
    const said_now = ['user', `I like plums ${i}`], res = await said(server, { input: said_now[1], stream: true });
    assert.equal(res.text, sent);
    assert.deepEqual(await kept(server, res), is_kept ? [said_now, ['assistant', 'Marmalade galore.']] : [said_now], `${i}: ${text}`);
  }
});

test('a stream reaches the client byte for byte', async (t) => {
  let sent;
  const { server } = await ready(t, (req, res, asked) => {
    made++;
    sent = `: hello\n\nevent: response.new_kind\ndata: {"type":"response.new_kind"}\n\n${eventsOf(asked, [messageItem('Ä piece 😀.')])}`;
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' });
    res.end(sent);
  });
  assert.equal((await said(server, { input: 'Hello there', stream: true })).text, sent);
});

test('what is forgotten leaves the conversation that it was given in', async (t) => {
  const { up, server } = await ready(t);
  const boat = await add(server, 'Our boat is called Halcyon.');
  const input = [{ role: 'user', content: 'What is our boat called?' }];
  await said(server, { input });
  assert.match(blocksOf(up.last())[0], /Halcyon/);
  input.push({ role: 'assistant', content: [{ type: 'output_text', text: 'Fine.' }] }, { role: 'user', content: 'Tell me a joke.' });
  await said(server, { input });
  assert.equal(blocksOf(up.last()).length, 1);
  assert.equal((await server.ask('DELETE', `/v1/memories/${boat}`)).status, 200);
  await said(server, { input });
  assert.deepEqual(blocksOf(up.last()), []);
});

test('an item that the client has read from the server and sends back is not there twice', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'Our boat is called Halcyon.');
  await said(server, { input: [{ role: 'user', content: 'What is our boat called?' }] });
  const stored = up.last().json.input;
  await said(server, { input: [...stored, messageItem('Fine.'), { role: 'user', content: 'Thanks!' }] });
  assert.equal(blocksOf(up.last()).length, 1);
});

// --- switches, people, spaces ---

test('memory is off, readonly or after as the request says, and a packed body passes', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'Our boat is called Halcyon.');
  const body = { model: 'scripted', input: 'What is our boat called?' };
  const off = await said(server, body, { 'x-memory-mode': 'off' });
  assert.deepEqual([up.last().json, off.headers['x-rememberd-receipt'], off.headers['x-memory']], [body, undefined, undefined]);
  await kept(server, await said(server, body, { 'x-memory-mode': 'after' }));
  assert.equal(blocksOf(up.last()).length, 0);
  const readonly = await said(server, { ...body, input: 'And what is our boat called again?' }, { 'x-memory-mode': 'readonly' });
  assert.equal(blocksOf(up.last()).length, 1);
  assert.deepEqual(await kept(server, readonly), [], 'nothing is kept');
  const packed = await server.ask('POST', PATH, body, { 'content-encoding': 'x-none' });
  assert.equal(packed.headers['x-memory'], 'off; reason=encoding');
  const wrong = await server.ask('POST', PATH, { model: 'scripted', input: [17] });
  assert.equal(wrong.headers['x-memory'], 'off; reason=messages');
  assert.deepEqual(up.last().json.input, [17], 'the model server words the error');
});

test('people and spaces have memories of their own, and the space is not passed on', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'Our boat is called Halcyon.', { 'x-memory-user': 'ada' });
  await add(server, 'Our boat is called Albatross.', { 'x-memory-space': 'work' });
  const input = 'What is our boat called?';
  for (const body of [{ user: 'ada' }, { safety_identifier: 'ada' }, { metadata: { user_id: 'ada' } }]) {
    await said(server, { input, ...body });
    assert.match(blocksOf(up.last())[0], /Halcyon/);
    assert.doesNotMatch(blocksOf(up.last())[0], /Albatross/);
  }
  await said(server, { input, space: 'work' });
  assert.match(blocksOf(up.last())[0], /Albatross/);
  assert.ok(!('space' in up.last().json));
  await said(server, { input });
  assert.deepEqual(blocksOf(up.last()), []);
});

test('recall can be kept to the conversation', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'Our boat is called Halcyon.');
  await said(server, { input: 'What is our boat called?' }, { 'x-memory-scope': 'session' });
  assert.deepEqual(blocksOf(up.last()), []);
});

test('errors of rememberd itself have OpenAI\'s shape', async (t) => {
  const { server } = await ready(t);
  const cases = [[{ 'x-memory-mode': 'sometimes' }, {}, 'X-Memory-Mode'], [{ 'x-session-history': 'on' }, {}, 'X-Session-History'], [{ 'x-memory-tools': 'on' }, {}, 'X-Memory-Tools'],
    [{}, { conversation: 'c'.repeat(257) }, 'conversation'], [{ 'x-session-id': 's'.repeat(257) }, {}, 'X-Session-Id']];
  for (const [headers, body, param] of cases) {
    const res = await ask(server, { input: 'hi', ...body }, headers);
    assert.equal(res.status, 400, res.text);
    assert.deepEqual([res.json().error.type, res.json().error.param], ['invalid_request_error', param]);
  }
  const alone = await serve(t);
  const missing = await alone.ask('POST', PATH, { model: 'rememberd/demo' });
  assert.deepEqual([missing.status, missing.json().error.param], [400, 'input']);
});

test('a WebSocket is refused with 426', async (t) => {
  const { server, up } = await ready(t);
  const res = await server.ask('GET', PATH, undefined, { upgrade: 'websocket', connection: 'Upgrade', 'openai-beta': 'responses_websockets=2026-02-06' });
  assert.equal(res.status, 426);
  assert.match(res.json().error.message, /POST \/v1\/responses/);
  assert.equal(up.asked.length, 0);
});

// --- programs' own questions ---

const codex = (kind = 'turn', more = {}) => ({ originator: 'codex_exec', 'thread-id': 'T1', 'session-id': 'T1', 'x-codex-turn-metadata': JSON.stringify({ request_kind: kind, thread_id: 'T1', ...more }) });
const userItem = (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

test('a program\'s own question in a conversation sees what stood there, gets nothing new and teaches nothing', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'My sister Ada lives in Oslo.');
  const input = [userItem('Where does my sister live?')], question = 'Where does my sister live?';
  const first = await said(server, { input, store: false }, codex());
  const before = await kept(server, first);
  const [given] = blocksOf(up.last());
  const history = [...input, messageItem('Fine.')], summary = userItem('You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary of my dog called Biscuit.');
  const asides = [[{ input: [...history, summary] }, codex('compaction')], [{ input: [...history, summary] }, { 'thread-id': 'T1' }], [{ input: [...history, { type: 'compaction_trigger' }] }, { 'thread-id': 'T1' }],
    [{ input: [...history, userItem('My dog is called Biscuit.')] }, codex('prewarm')], [{ input: history }, { 'thread-id': 'T1', 'x-openai-subagent': 'compact' }]];
  for (const [body, headers] of asides) {
    const res = await said(server, { ...body, store: false }, headers);
    assert.deepEqual(blocksOf(up.last()), [given], JSON.stringify(headers));
    assert.equal(textOf(up.last().json.input[1]), given, 'at the same place');
    assert.deepEqual(await kept(server, res), before, JSON.stringify(headers));
  }
  const task = await said(server, { input: `### Task:\nSuggest a title for: ${question}` }, { 'x-openwebui-task': 'title_generation' });
  assert.deepEqual(blocksOf(up.last()), []);
  assert.deepEqual(await kept(server, task), []);
  for (const blank of ['', '{{TASK}}']) {
    await said(server, { input: question }, { 'x-openwebui-task': blank });
    assert.equal(blocksOf(up.last()).length, 1, `a front end that names no task: "${blank}"`);
  }
  const title = await said(server, { input: 'Generate a title for this conversation:\nUser: Where does my sister live?' });
  assert.deepEqual([blocksOf(up.last()), await kept(server, title)], [[], []], 'by its form, without a header');
  assert.doesNotMatch((await server.ask('POST', '/v1/memories/search', { query: 'Biscuit' })).text, /Biscuit\./);
});

test('a sub-agent is given memories and teaches none', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'My sister Ada lives in Oslo.');
  for (const headers of [{ 'x-openai-subagent': 'review' }, { 'x-codex-parent-thread-id': 'T0' }, codex('turn', { parent_thread_id: 'T0' })]) {
    const res = await said(server, { input: [userItem('Where does my sister live?')] }, { ...headers, 'thread-id': 'T2' });
    assert.equal(blocksOf(up.last()).length, 1);
    assert.deepEqual(await kept(server, res), []);
  }
});

test('what Codex says in the user\'s name is not the user\'s', async (t) => {
  const { up, server } = await ready(t);
  await add(server, 'My sister Ada lives in Oslo.');
  const notes = ['# AGENTS.md instructions for /p\n\nMy boss is called Quentin.', '<environment_context>My boss is called Quentin.</environment_context>', '<user_instructions>x</user_instructions>'].map(userItem);
  const input = [...notes, userItem('Where does my sister live?'), userItem('<turn_aborted>x</turn_aborted>')];
  const first = await said(server, { input, store: false }, codex());
  assert.equal(up.last().json.input.findIndex(isBlock), 4, 'behind the user\'s own words');
  assert.deepEqual(await kept(server, first), [['user', 'Where does my sister live?'], ['assistant', 'Fine.']]);
  const after = [...notes, userItem('Where does my sister live?'), userItem('Another language model started to solve this problem. Quentin.'), userItem('My dog is called Biscuit.')];
  const all = await kept(server, await said(server, { input: after, store: false }, codex()));
  assert.deepEqual(all.filter(([role]) => role === 'user').map(([, text]) => text), ['Where does my sister live?', 'My dog is called Biscuit.']);
  const found = (await server.ask('GET', '/v1/memories')).json().memories.map((m) => m.content).join();
  assert.match(found, /Biscuit/);
  assert.doesNotMatch(found, /Quentin/);
});

// Made-up requests of known clients with what is expected of each: a file with one JSON object a line.
const vectors = path.join(process.env.REMEMBERD_SPEC ?? path.join(__dirname, '../../../shared/spec'), 'clients-vectors.jsonl');
test('requests as known clients send them', { skip: !fs.existsSync(vectors) && `no ${path.basename(vectors)}: set REMEMBERD_SPEC to its folder` }, async (t) => {
  const question = 'Where does my sister live?';
  const list = fs.readFileSync(vectors, 'utf8').trim().split('\n').map((line) => JSON.parse(line)).filter((v) => v.request.path === PATH);
  assert.ok(list.length >= 5);
  for (const { name, request, expect } of list)
    await t.test(name, async (t) => {
      const { up, server } = await ready(t);
      await add(server, 'My sister Ada lives in Oslo.');
      const send = ({ method = 'POST', path, headers, body }) => server.ask(method, path, body ?? undefined, headers);
      if (expect.status) return assert.equal((await send(request)).status, expect.status);
      const spoken = expect.user_text ?? 'I like green tea'; // a courtesy is given nothing, so something is asked in its place
      request.body = JSON.parse(JSON.stringify(request.body).replaceAll(JSON.stringify(spoken), JSON.stringify(question)));
      const before = expect.inject === 'replay only' ? await kept(server, await said(server, { input: [userItem(question)] }, codex())) : [];
      const res = await send(request);
      assert.equal(res.status, 200, res.text);
      const sent = inputOf(up.last()), at = sent.findIndex(isBlock);
      assert.equal(sent.filter(isBlock).length, 1);
      assert.equal(textOf(sent[at - 1]), question);
      assert.deepEqual([sent[at].role, sent[at - 1].role], ['developer', 'user']);
      const now = await kept(server, res);
      if (expect.learn) assert.ok(now.some(([role, text]) => role === 'user' && text === question));
      else assert.deepEqual(now, before);
      if (expect.conversation) assert.equal(res.headers['x-omniroute-session-id'], expect.conversation);
    });
});

// --- clients from npm ---

test('the openai client: the built-in model answers, whole, streamed, and going on from a response', async (t) => {
  const server = await serve(t), client = server.client();
  const first = await client.responses.create({ model: 'rememberd/demo', input: 'My sister Ada lives in Oslo.' });
  assert.match(first.id, /^resp_[0-9a-f]{32}$/);
  assert.match(first.output_text, /Noted/);
  const later = await client.responses.create({ model: 'rememberd/demo', input: 'Where does my sister live?' });
  assert.match(later.output_text, /Oslo/);
  assert.ok(later.usage.input_tokens > 0 && later.usage.total_tokens === later.usage.input_tokens + later.usage.output_tokens);
  const stream = client.responses.stream({ model: 'rememberd/demo', input: 'Where does my sister live?' });
  let text = '', sequence = 0;
  for await (const event of stream) {
    assert.equal(event.sequence_number, sequence++);
    if (event.type === 'response.output_text.delta') text += event.delta;
  }
  const whole = await stream.finalResponse();
  assert.match(text, /Oslo/);
  assert.equal(whole.output_text, text);
  const on = await client.responses.create({ model: 'rememberd/demo', input: 'Where does Ada live, did I say?', previous_response_id: first.id });
  assert.deepEqual([on.previous_response_id, /Oslo/.test(on.output_text)], [first.id, true]);
});

test('the openai client: a chain of responses through a model server', async (t) => {
  const { up, server } = await ready(t, scripted), client = server.client();
  await add(server, 'My sister Ada lives in Oslo.');
  const first = await client.responses.create({ model: 'scripted', input: 'Where does my sister live?' });
  assert.equal(first.id, `resp_${made}`);
  assert.equal(blocksOf(up.last()).length, 1);
  const second = await client.responses.stream({ model: 'scripted', input: 'Where does my sister live?', previous_response_id: first.id }).finalResponse();
  assert.equal(blocksOf(up.last()).length, 0);
  assert.match(second.output_text, /^Answer/);
});

for (const store of [true, false])
  test(`the AI SDK, ${store ? 'with' : 'without'} stored responses: its conversations only grow`, async (t) => {
    const { up, server } = await ready(t, scripted);
    for (const fact of facts) await add(server, fact);
    const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'client-key' })('gpt-5');
    const messages = [];
    for (const [i, content] of talk.slice(0, 8).entries()) {
      messages.push({ role: 'user', content });
      const asked = { model, system: 'Be brief.', messages, providerOptions: { openai: { store } }, maxRetries: 0 };
      if (i % 2) {
        const res = streamText({ ...asked, onError: ({ error }) => { throw error; } });
        assert.match(await res.text, /^Answer/);
        messages.push(...(await res.response).messages);
      } else {
        const res = await generateText(asked);
        assert.match(res.text, /^Answer/);
        messages.push(...res.response.messages);
      }
    }
    assertGrows(up.asked);
    assert.ok(blocksOf(up.last()).length >= 4);
  });

test('LangChain with the Responses API: its conversations only grow', async (t) => {
  const { up, server } = await ready(t, scripted);
  for (const fact of facts) await add(server, fact);
  const model = new ChatOpenAI({ model: 'gpt-5', apiKey: 'client-key', useResponsesApi: true, maxRetries: 0, configuration: { baseURL: `${server.url}/v1` } });
  const messages = [];
  for (const [i, content] of talk.slice(0, 8).entries()) {
    messages.push(new HumanMessage(content));
    let answered;
    if (i % 2) for await (const piece of await model.stream(messages)) answered = answered ? answered.concat(piece) : piece;
    else answered = await model.invoke(messages);
    assert.match(answered.text, /^Answer/);
    messages.push(answered);
  }
  assertGrows(up.asked);
  assert.ok(blocksOf(up.last()).length >= 4);
});

// The program is too large to be installed with the tests: name it to have it tried.
const codexBin = process.env.REMEMBERD_CODEX;
test('Codex: a conversation that is taken up again only grows', { skip: codexBin ? false : 'REMEMBERD_CODEX names no codex' }, async (t) => {
  const { up, server } = await ready(t, words('Answer.')), home = tempFolder(), folder = tempFolder();
  await add(server, 'My sister Ada lives in Oslo.');
  const settings = ['model_provider="memory"', 'model="scripted"', 'model_providers.memory.name="memory"', `model_providers.memory.base_url="${server.url}/v1"`, 'model_providers.memory.wire_api="responses"'];
  const codexRun = (...args) => promisify(execFile)(codexBin, ['exec', '--skip-git-repo-check', ...settings.flatMap((one) => ['-c', one]), ...args],
    { cwd: folder, env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home }, timeout: 60000 });
  const running = codexRun('Where does my sister live?');
  running.child.stdin.end();
  assert.match((await running).stdout, /Answer/);
  const again = codexRun('resume', '--last', 'My dog is called Biscuit.');
  again.child.stdin.end();
  assert.match((await again).stdout, /Answer/);
  assert.equal(up.asked.length, 2);
  assertGrows(up.asked, true);
  assert.equal(blocksOf(up.last()).length, 1);
  const found = (await server.ask('GET', '/v1/memories')).json().memories.map((m) => m.content).join();
  assert.match(found, /Biscuit/);
});
