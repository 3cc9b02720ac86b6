// history.test.js - a client of the proxy sends its new message only, and the session's earlier ones are put before it.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const test = require('node:test');
const { answer, chunk, said, serve, until, upstream } = require('./cortex_lib');

const user = (content) => ({ role: 'user', content });
const on = (session, more = {}) => ({ headers: { 'X-Session-Id': session, 'X-Session-History': 'on', ...more } });

// Says one message with the real client, whole or streamed; the words of the answer.
async function say(client, messages, options, stream, more = {}) {
  const reply = await client.chat.completions.create({ model: 'any', messages, stream, ...more }, options);
  if (!stream) return reply.choices[0].message.content;
  let text = '';
  for await (const part of reply) text += part.choices[0]?.delta?.content ?? '';
  return text;
}

const numbered = (asked) => `answer to ${asked.json.messages.at(-1).content.split('\n')[0]}`;

for (const stream of [false, true]) {
  test(`the model has the conversation, also after a kill (stream: ${stream})`, async (t) => {
    const model = await upstream(t, (req, res, asked) => answer(res, asked, numbered(asked)));
    const flags = ['--upstream', model.url, '--encoder', 'off'];
    let server = await serve(t, { flags });
    assert.equal(await say(server.client(), [user('one')], on('talk'), stream), 'answer to one');
    assert.deepEqual(said(model.last().json.messages), ['user: one']);
    assert.ok(!('x-session-history' in model.last().headers));
    // Nothing that was answered is lost, and the next message follows it at once.
    await server.stop('SIGKILL');
    server = await serve(t, { flags, data: server.data });
    assert.equal(await say(server.client(), [user('two')], on('talk'), stream), 'answer to two');
    assert.deepEqual(said(model.last().json.messages), ['user: one', 'assistant: answer to one', 'user: two']);
    const client = server.client();
    for (const word of ['three', 'three']) await say(client, [user(word)], on('talk'), stream);
    assert.deepEqual(said(model.last().json.messages), ['user: one', 'assistant: answer to one', 'user: two', 'assistant: answer to two',
      'user: three', 'assistant: answer to three', 'user: three']);
    // Behind the system's words, before the rest of several new messages.
    await say(client, [{ role: 'developer', content: 'Be brief.' }, user('four'), user('five')], on('talk'), stream);
    const last = said(model.last().json.messages);
    assert.deepEqual([last[0], last[1], ...last.slice(-3)], ['developer: Be brief.', 'user: one', 'assistant: answer to three', 'user: four', 'user: five']);
    // Who sends the conversation itself gets nothing added, nor does who does not ask, or another session.
    await say(client, [user('a'), { role: 'assistant', content: 'b' }, user('c')], on('talk'), stream);
    assert.deepEqual(said(model.last().json.messages), ['user: a', 'assistant: b', 'user: c']);
    for (const options of [{ headers: { 'X-Session-Id': 'talk' } }, { headers: { 'X-Session-Id': 'talk', 'X-Session-History': 'off' } }, on('else')]) {
      await say(client, [user('six')], options, stream);
      assert.deepEqual(said(model.last().json.messages), ['user: six']);
    }
  });
}

test('the rest of the body stays as it is, byte for byte', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, 'fine "quoted"\n'));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const ask = (body) => server.chat(body, { 'X-Session-Id': 's', 'X-Session-History': 'on' });
  assert.equal((await ask('{"messages":[{"role":"user","content":"one \\u00fc"}]}')).status, 200);
  const body = '{ "temperature": 1.0e0, "messages" : [ {"role":"system","content":"S"} , {"content":"t\\u0077o","role":"user"} ], "x":[] }';
  assert.equal((await ask(body)).status, 200);
  assert.equal(model.last().body.toString(), body.replace(' {"content"',
    ' {"role":"user","content":"one ü"},{"role":"assistant","content":"fine \\"quoted\\"\\n"},{"content"'));
});

test('memory of other conversations stands where it is put, and none of this one twice', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, 'Fine.'));
  for (const placement of ['user-suffix', 'before-user', 'system', 'first-user']) {
    const server = await serve(t, { flags: ['--upstream', model.url, '--placement', placement] });
    const client = server.client();
    await server.tell('My sister Ada is a pilot.');
    await say(client, [user('I am planning a trip.')], on('trip'), false);
    await say(client, [user('What does my sister Ada do?')], on('trip'), false);
    const shape = model.last().json.messages.map((m) => (m.content.startsWith('<remembered>') ? `block as ${m.role}`
      : m.content.includes('<remembered>') ? `${m.role} with block` : m.role));
    assert.deepEqual(shape, {
      'user-suffix': ['user', 'assistant', 'user with block'], 'before-user': ['user', 'assistant', 'block as system', 'user'],
      system: ['block as system', 'user', 'assistant', 'user'], 'first-user': ['block as user', 'user', 'assistant', 'user'] }[placement]);
    assert.ok(!JSON.stringify(model.last().json.messages).replace('I am planning a trip.', '').includes('planning'), placement);
  }
});

test('the built-in model answers from it', async (t) => {
  const server = await serve(t);
  const client = server.client();
  await client.chat.completions.create({ model: 'rememberd/demo', messages: [user('The parcel is behind the blue door.')] }, on('p'));
  const reply = await client.chat.completions.create({ model: 'rememberd/demo', messages: [user('Where is the parcel?')] }, on('p'));
  assert.match(reply.choices[0].message.content, /blue door/);
});

test('what is wrong with the header is said in OpenAI\'s words', async (t) => {
  const server = await serve(t);
  for (const [headers, why] of [[{ 'X-Session-History': 'maybe', 'X-Session-Id': 's' }, /must be one of: on, off/],
    [{ 'X-Session-History': 'on' }, /needs X-Session-Id/]]) {
    const res = await server.chat({ messages: [user('hi')] }, headers);
    assert.equal(res.status, 400);
    assert.match(res.json().error.message, why);
    assert.deepEqual([res.json().error.type, res.json().error.param], ['invalid_request_error', 'X-Session-History']);
  }
  const older = await server.chat({ model: 'rememberd/demo', messages: [user('hi')] }, { 'X-Session-History': 'ON', 'X-OmniRoute-Session-Id': 's' });
  assert.equal(older.status, 200);
});

test('with memory off or read only there is none of it, or it is not kept', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, numbered(asked)));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const client = server.client();
  await say(client, [user('one')], on('m'), false);
  await say(client, [user('two')], on('m', { 'X-Memory-Mode': 'off' }), false);
  assert.deepEqual(said(model.last().json.messages), ['user: two']);
  await say(client, [user('three')], on('m', { 'X-Memory-Mode': 'readonly' }), true);
  assert.deepEqual(said(model.last().json.messages), ['user: one', 'assistant: answer to one', 'user: three']);
  await say(client, [user('four')], on('m', { 'X-Memory-Mode': 'after' }), true);
  assert.deepEqual(said(model.last().json.messages), ['user: one', 'assistant: answer to one', 'user: four']);
});

test('it goes together with the tool that searches memory', async (t) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'search_memory', arguments: '{"scope":"pinned","query":"sister"}' } };
  const model = await upstream(t, (req, res, asked) => {
    const last = asked.json.messages.at(-1);
    if (last.role === 'tool' || !/^Who is/.test(last.content)) return answer(res, asked, 'Done.');
    if (!asked.json.stream) {
      res.writeHead(200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }] }));
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    return res.end(chunk({ role: 'assistant', tool_calls: [{ index: 0, ...call }] }) + chunk({}, 'tool_calls') + 'data: [DONE]\n\n');
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--encoder', 'off'] });
  const client = server.client();
  for (const stream of [false, true]) {
    const options = on(`s${stream}`, { 'X-Memory-Tools': 'on' });
    await say(client, [user('one')], options, stream);
    assert.equal(await say(client, [user('Who is my sister?')], options, stream), 'Done.');
    assert.deepEqual(model.last().json.messages.map((m) => m.role), ['user', 'assistant', 'user', 'assistant', 'tool']);
    await say(client, [user('three')], options, stream);
    const shown = said(model.last().json.messages);
    assert.deepEqual(shown.slice(2, 4), ['user: Who is my sister?', 'assistant: Done.']);
    assert.ok(shown.length === 5 && shown[4].startsWith('user: three'), shown[4]);
  }
});

test('the end of a stream waits until the turn is kept, however the bytes come', async (t) => {
  let up;
  const model = await upstream(t, (req, res, asked) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    up = res;
    res.write(chunk({ content: asked.json.messages.at(-1).content }));
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const whole = chunk({}, 'stop') + 'data: [DONE]\n\n';
  for (const size of [1, 5, 1000]) {
    const req = http.request(`${server.url}/v1/chat/completions`,
      { method: 'POST', headers: { 'content-type': 'application/json', 'x-session-id': `s${size}`, 'x-session-history': 'on' } });
    req.end(JSON.stringify({ model: 'any', stream: true, messages: [user(`words ${size}`)] }));
    const res = await new Promise((got) => req.on('response', got));
    let text = '', kept = null;
    res.setEncoding('utf8').on('data', (part) => {
      text += part;
      if (text.includes('[DONE]') && text.endsWith('\n\n')) kept ??= server.ask('GET', `/v1/session/s${size}/history`);
    });
    await until('the first words', () => text.includes('words'));
    for (let i = 0; i < whole.length; i += size) {
      up.write(whole.slice(i, i + size));
      await new Promise((next) => setImmediate(next));
    }
    up.end();
    await until('the end', () => kept);
    assert.equal((await kept).json().messages.length, 2);
    assert.ok(text.endsWith('data: [DONE]\n\n'), text);
  }
});

test('behind a failed answer the proxy joins the messages of one role', async (t) => {
  let fails = false;
  const model = await upstream(t, (req, res, asked) => {
    if (!fails) return answer(res, asked, 'Yes.');
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'Well' }));
    setImmediate(() => res.destroy());
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const client = server.client();
  const heard = () => model.last().json.messages.map((m) => `${m.role}: ${typeof m.content === 'string' ? m.content : JSON.stringify(m.content)}`);
  await say(client, [user('one')], on('talk'), true);
  fails = true;
  await assert.rejects(say(client, [user('two')], on('talk'), true));
  fails = false;
  await until('the question kept', async () => {
    await say(client, [user('three')], { headers: { ...on('talk').headers, 'X-Memory-Mode': 'readonly' } }, true);
    return heard().join().includes('two');
  });
  assert.deepEqual(heard(), ['user: one', 'assistant: Yes.', 'user: two\n\nthree']);
  await say(client, [user([{ type: 'text', text: 'four' }])], on('talk'), true);
  assert.deepEqual(heard().slice(0, 2), ['user: one', 'assistant: Yes.']);
  assert.match(heard()[2], /^user: \[\{"type":"text","text":"two"\},\{"type":"text","text":"four"/);
  assert.equal(heard().length, 3);
  await say(client, [user('five')], on('talk'), true);
  assert.deepEqual(heard(), ['user: one', 'assistant: Yes.', 'user: two\n\nfour', 'assistant: Yes.', 'user: five']);
});
