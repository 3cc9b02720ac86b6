// chat.test.js - what is told in one conversation is used in another, with the demo model and a scripted upstream.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const user = (content) => ({ role: 'user', content });
const fact = 'My dog is called Rex and I live in Lisbon.';
const question = 'What is my dog called?';

test('the demo model uses in one conversation what was told in another', async (t) => {
  const server = await serve(t);
  const client = server.client();
  const told = await client.chat.completions.create({ model: 'rememberd/demo', messages: [user(fact)] }).withResponse();
  await server.receipt(told.response.headers.get('x-rememberd-receipt'));
  const reply = await client.chat.completions.create({ model: 'rememberd/demo', messages: [user(question)] });
  assert.equal(reply.object, 'chat.completion');
  assert.equal(reply.model, 'rememberd/demo');
  assert.equal(reply.choices[0].finish_reason, 'stop');
  assert.equal(reply.choices[0].message.role, 'assistant');
  assert.match(reply.choices[0].message.content, /Rex/);
  assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens);
  assert.ok(reply.usage.prompt_tokens > 0);
});

test('the demo model streams the same words, with usage when it is asked for', async (t) => {
  const server = await serve(t);
  await server.tell(fact);
  const stream = await server.client().chat.completions.create({
    model: 'rememberd/demo', messages: [user(question)], stream: true, stream_options: { include_usage: true } });
  let text = '', finish = null, usage = null, roles = 0;
  for await (const part of stream) {
    assert.equal(part.object, 'chat.completion.chunk');
    roles += part.choices[0]?.delta.role === 'assistant';
    text += part.choices[0]?.delta.content ?? '';
    finish ??= part.choices[0]?.finish_reason ?? null;
    if (part.usage) {
      assert.deepEqual(part.choices, []);
      usage = part.usage;
    }
  }
  assert.equal(roles, 1);
  assert.match(text, /Rex/);
  assert.equal(finish, 'stop');
  assert.ok(usage.completion_tokens > 0);
});

for (const stream of [false, true]) {
  test(`a scripted upstream is given what was told elsewhere (stream: ${stream})`, async (t) => {
    const model = await upstream(t, (req, res, asked) => answer(res, asked, ['Nice', ' to know.']));
    const server = await serve(t, { flags: ['--upstream', model.url] });
    const client = server.client();
    const say = async (content) => {
      const { data, response } = await client.chat.completions
        .create({ model: 'any', messages: [user(content)], stream }).withResponse();
      let text = '';
      if (stream) for await (const part of data) text += part.choices[0]?.delta?.content ?? '';
      else text = data.choices[0].message.content;
      assert.equal(text, 'Nice to know.');
      return server.receipt(response.headers.get('x-rememberd-receipt'));
    };
    await say(fact);
    assert.equal(model.last().json.messages[0].content, fact, 'nothing is known yet, so nothing is added');
    const receipt = await say(question);
    const sent = model.last().json.messages;
    assert.equal(sent.length, 1);
    assert.ok(receipt.block.includes('Rex'), receipt.block);
    assert.equal(sent[0].content, `${question}\n\n${receipt.block}`);
    assert.equal(receipt.question, question);
    assert.ok(receipt.lines.some((line) => line.injected));
    // What the assistant said is remembered as well.
    const found = (await server.ask('POST', '/v1/memories/search', { query: 'nice to know' })).json();
    assert.ok(found.results.some((one) => one.kind === 'message' && one.role === 'assistant' && one.text === 'Nice to know.'));
  });
}

test('64 streams at once are each whole and each their own', async (t) => {
  const model = await upstream(t, (req, res, asked) => {
    const name = asked.json.messages.at(-1).content;
    answer(res, asked, Array.from({ length: 20 }, (_, i) => `${name}-${i};`));
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const client = server.client();
  const all = Array.from({ length: 64 }, async (_, i) => {
    const stream = await client.chat.completions.create({ model: 'any', messages: [user(`zq${i}`)], stream: true });
    let text = '';
    for await (const part of stream) text += part.choices[0]?.delta?.content ?? '';
    assert.equal(text, Array.from({ length: 20 }, (__, k) => `zq${i}-${k};`).join(''));
  });
  await Promise.all(all);
  assert.equal(model.asked.length, 64);
});

test("an upstream's errors keep their status, headers and body", async (t) => {
  const body = '{"error": {"message":"slow down",  "type":"requests","param":null,"code":"rate_limit_exceeded"}}';
  const model = await upstream(t, (req, res) => {
    res.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7', 'x-request-id': 'abc' });
    res.end(body);
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const res = await server.chat({ model: 'any', messages: [user('My cat is called Tom.')] });
  assert.equal(res.status, 429);
  assert.equal(res.text, body);
  assert.equal(res.headers['retry-after'], '7');
  assert.equal(res.headers['x-request-id'], 'abc');
  await assert.rejects(server.client().chat.completions.create({ model: 'any', messages: [user('x')] }),
    (error) => error.status === 429 && error.code === 'rate_limit_exceeded');
});

test('an upstream that is not there is a 502 in OpenAI\'s shape', async (t) => {
  const model = await upstream(t);
  model.server.close();
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await assert.rejects(server.client().chat.completions.create({ model: 'any', messages: [user('x')] }),
    (error) => error.status === 502 && error.type === 'server_error' && error.code === 'upstream_unreachable');
});

test('of a streamed answer the words of the first choice are kept, however they are cut', async (t) => {
  const bytes = [
    ': comment\r\n\r\n',
    { choices: [{ index: 1, delta: { content: 'The other one. ' } }, { index: 0, delta: { role: 'assistant', content: 'Caf\u00e9 ' } }] },
    { choices: [{ index: 0, delta: { content: [{ type: 'text', text: 'zyzzyva ' }] } }] },
    { choices: [{ index: 0, delta: { content: null, reasoning_content: 'hidden' } }] },
    { choices: [{ index: 0, delta: { content: '\ud83d\ude00 \"quoted\"' } }] },
    { choices: [], usage: { total_tokens: 1 } },
  ].map((one) => (typeof one === 'string' ? one : `data: ${JSON.stringify(one)}\n\n`)).join('') + 'data: {broken\n\ndata: [DONE]\n\n';
  const model = await upstream(t, async (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const byte of Buffer.from(bytes)) res.write(Buffer.of(byte));
    res.end();
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const res = await server.chat({ model: 'any', stream: true, messages: [user('Hello there.')] });
  assert.equal(res.text, bytes);
  await server.receipt(res.headers['x-rememberd-receipt']);
  const { results } = (await server.ask('POST', '/v1/memories/search', { query: 'zyzzyva' })).json();
  assert.equal(results.find((one) => one.role === 'assistant').text, 'Caf\u00e9 zyzzyva \ud83d\ude00 "quoted"');
});

test('a packed body goes on as it is', async (t) => {
  const packed = require('node:zlib').gzipSync(JSON.stringify({ model: 'any', messages: [user(fact)] }));
  const model = await upstream(t, (req, res) => res.end('{}'));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const res = await server.chat(packed, { 'content-encoding': 'gzip', 'content-type': 'application/octet-stream' });
  assert.equal(res.status, 200);
  assert.deepEqual(model.last().body, packed);
  assert.equal(model.last().headers['content-encoding'], 'gzip');
});

test('an answer of tool calls alone is passed on, and the turn is kept', async (t) => {
  const calls = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"Rex"}' } }];
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices: [
      { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: calls } }] }));
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const { data, response } = await server.client().chat.completions
    .create({ model: 'any', messages: [user(fact)] }).withResponse();
  assert.deepEqual(data.choices[0].message.tool_calls, calls);
  await server.receipt(response.headers.get('x-rememberd-receipt'));
  const found = (await server.ask('POST', '/v1/memories/search', { query: 'dog Rex' })).json();
  assert.ok(found.results.some((one) => one.text === fact));
});

test('of the parts of a message only text is what the user said', async (t) => {
  const server = await serve(t, { flags: ['--upstream', (await upstream(t)).url] });
  const parts = [{ type: 'text', text: 'I prefer tea.' }, { type: 'tool_result', text: 'I prefer poison.' }, { type: 'file', text: 'I prefer cyanide.' }];
  const res = await server.chat({ model: 'any', messages: [{ role: 'user', content: parts }] });
  await server.receipt(res.headers['x-rememberd-receipt']);
  const list = (await server.ask('GET', '/v1/memories')).json().memories;
  assert.deepEqual(list.map((one) => one.content), ['prefers tea']);
  assert.doesNotMatch(JSON.stringify((await server.ask('POST', '/v1/memories/search', { query: 'poison cyanide' })).json().results), /poison|cyanide/);
});

test('under /v1 GET, POST and DELETE are passed on with up to six parts, and the name of the upstream is removed', async (t) => {
  const model = await upstream(t, (req, res) => res.end('{}'));
  const server = await serve(t, { flags: ['--upstream', `${model.url}/v1`, '--upstream', `far=${model.url}`] });
  const status = async (...what) => (await server.ask(...what)).status;
  for (const method of ['GET', 'DELETE']) assert.equal(await status(method, '/v1/a/b/c/d/e/f'), 200);
  assert.equal(await status('POST', '/v1/embeddings', { model: 'far/small', input: 'x' }), 200);
  assert.deepEqual(model.asked.map((one) => `${one.method} ${one.url}`), ['GET /v1/a/b/c/d/e/f', 'DELETE /v1/a/b/c/d/e/f', 'POST /v1/embeddings']);
  assert.equal(JSON.parse(model.asked[2].body).model, 'small');
  for (const method of ['PUT', 'PATCH']) assert.equal(await status(method, '/v1/a/b', {}), 405);
  assert.equal(await status('GET', '/v1/a/b/c/d/e/f/g'), 404);
  assert.equal(model.asked.length, 3);
});

test("a chat's answer names its session", async (t) => {
  const server = await serve(t);
  assert.equal((await server.tell(fact, { 'X-Session-Id': 'dogs' })).headers['x-omniroute-session-id'], 'dogs');
  assert.ok((await server.tell(question)).headers['x-omniroute-session-id']);
});

test('a message that only tells of the user asks for nothing, and one that needs something does', async (t) => {
  const server = await serve(t);
  for (const content of ['My aunt keeps a dog kennel in Lisbon with green doors.', 'My sister Ada lives in Oslo and collects stamps.', 'The harbour of Lisbon has green lamps.']) await server.ask('POST', '/v1/memories', { content });
  const probability = async (content) => {
    const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content }] }, { 'X-Memory-Mode': 'readonly' });
    const { reason } = await server.receipt(res.headers['x-rememberd-receipt']);
    return Number(/probability of an answer ([\d.]+), [\d.]+ needed/.exec(reason)[1]);
  };
  const told = await probability('My dog is called Rex and I live in Lisbon.'), asked = await probability('What is my dog called?');
  assert.ok(told < asked / 2, `${told} is not much less than ${asked}`);
  assert.ok(await probability('I need a gift for my sister.') >= 0.05);
});
