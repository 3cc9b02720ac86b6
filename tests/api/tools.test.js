// tools.test.js - search_memory as a tool that the proxy offers and answers itself, streamed and whole, by OpenAI's client.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const test = require('node:test');
const { answer, chunk, completion, serve, until, upstream } = require('./lib');

const user = (content) => ({ role: 'user', content });
const on = { 'X-Memory-Tools': 'on' };
const fact = 'My dog is called Rex and I live in Lisbon.';
const tell = 'Tell me of my pet.';
const search = (args = { scope: 'transcript', query: 'dog' }, id = 'c1') => ({ id, type: 'function',
  function: { name: 'search_memory', arguments: typeof args === 'string' ? args : JSON.stringify(args) } });
const look = (id = 'c9') => ({ id, type: 'function', function: { name: 'look', arguments: '{"x":1}' } });
const lookTool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { x: { type: 'number' } } } } };

// One answer of the model: {text, calls, finish, usage}, as a stream in small pieces or whole.
function say(res, asked, { text = null, calls = [], finish, usage, id = 'chatcmpl-1' }) {
  const reason = finish ?? (calls.length ? 'tool_calls' : 'stop');
  if (!asked.json.stream) {
    const message = { role: 'assistant', content: text, ...(calls.length ? { tool_calls: calls } : {}) };
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ ...completion(text), id, choices: [{ index: 0, message, finish_reason: reason }], ...(usage ? { usage } : {}) }));
    return;
  }
  const send = (delta, end = null, more = {}) => res.write(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk',
    created: 1, model: 'scripted', choices: [{ index: 0, delta, finish_reason: end }], ...more })}\n\n`);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  if (text === null && calls.length) {
    const { function: f, ...first } = calls[0];
    send({ role: 'assistant', content: null, tool_calls: [{ index: 0, ...first, function: { name: f.name, arguments: '' } }] });
  } else {
    send({ role: 'assistant', content: '' });
  }
  for (const word of text?.match(/\S+\s*/g) ?? []) send({ content: word });
  calls.forEach((call, index) => {
    const { function: f, ...first } = call;
    if (index || text !== null) send({ tool_calls: [{ index, ...first, function: { name: f.name, arguments: '' } }] });
    for (const part of f.arguments.match(/.{1,7}/g) ?? []) send({ tool_calls: [{ index, function: { arguments: part } }] });
  });
  send({}, reason);
  if (usage && asked.json.stream_options?.include_usage)
    res.write(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [], usage })}\n\n`);
  res.end('data: [DONE]\n\n');
}

// A model that gives these answers one after the other, and the last one for ever.
async function scripted(t, answers, { flags = [], told = [fact] } = {}) {
  let n = 0;
  const model = await upstream(t, (req, res, asked) => {
    const one = answers[Math.min(n++, answers.length - 1)];
    return typeof one === 'function' ? one(req, res, asked) : say(res, asked, one);
  });
  const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  for (const text of told) await server.tell(text);
  return { model, server };
}

// What a client sees of an answer: text, calls, reason, usage, and the receipt's id.
async function ask(server, body, { stream, headers = on, client = server.client() }) {
  const { data, response } = await client.chat.completions.create({ model: 'any', messages: [user(tell)], ...body,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}) }, { headers }).withResponse();
  const receipt = response.headers.get('x-rememberd-receipt');
  if (!stream) {
    const { message, finish_reason } = data.choices[0];
    return { text: message.content, calls: message.tool_calls ?? [], finish: finish_reason, usage: data.usage, receipt, ids: new Set([data.id]), roles: 1 };
  }
  const seen = { text: '', calls: [], finish: null, usage: null, receipt, ids: new Set(), roles: 0, ends: 0 };
  for await (const part of data) {
    seen.ids.add(part.id);
    const choice = part.choices[0];
    seen.roles += choice?.delta.role === 'assistant';
    seen.text += choice?.delta.content ?? '';
    for (const call of choice?.delta.tool_calls ?? []) {
      const mine = (seen.calls[call.index] ??= { id: call.id, type: call.type, function: { name: call.function.name, arguments: '' } });
      mine.function.arguments += call.function.arguments ?? '';
    }
    if (choice?.finish_reason) seen.ends++;
    seen.finish = choice?.finish_reason ?? seen.finish;
    seen.usage = part.usage ?? seen.usage;
  }
  assert.equal(seen.ends, 1);
  return seen;
}

const usage = (prompt, made, cached = 0) => ({ prompt_tokens: prompt, completion_tokens: made, total_tokens: prompt + made,
  prompt_tokens_details: { cached_tokens: cached } });

for (const stream of [false, true]) {
  const named = (what, fn) => test(`${what} (stream: ${stream})`, fn);

  named('a model that searches is answered here, and the client sees one answer', async (t) => {
    const { model, server } = await scripted(t, [
      { calls: [search()], usage: usage(10, 5, 1), id: 'first' }, { text: 'Your dog Rex.', usage: usage(30, 7, 4), id: 'second' }]);
    const seen = await ask(server, { temperature: 0.5 }, { stream });
    assert.equal(seen.text, 'Your dog Rex.');
    assert.deepEqual(seen.calls, []);
    assert.equal(seen.finish, 'stop');
    assert.equal(seen.roles, 1);
    assert.equal(seen.ids.size, 1);
    assert.deepEqual(seen.usage, usage(40, 12, 5));
    assert.equal(model.asked.length, 2);
    const [first, second] = model.asked.map((one) => one.json);
    assert.equal(first.tools.length, 1);
    assert.equal(first.tools[0].function.name, 'search_memory');
    assert.deepEqual(first.tools[0].function.parameters.required, ['scope', 'query']);
    assert.deepEqual(Object.keys(first.tools[0].function.parameters.properties), ['scope', 'query', 'days', 'top_k']);
    assert.equal(first.tools[0].function.parameters.additionalProperties, false);
    assert.ok(!('tool_choice' in first) && !('tool_choice' in second));
    const { messages, ...rest } = second, { messages: before, ...same } = first;
    assert.deepEqual(rest, same, 'only the conversation has grown');
    assert.deepEqual(messages.slice(0, before.length), before);
    const [said, result] = messages.slice(before.length);
    assert.equal(messages.length, before.length + 2);
    assert.deepEqual(said.tool_calls, [search()]);
    assert.equal(said.role, 'assistant');
    assert.equal(result.role, 'tool');
    assert.equal(result.tool_call_id, 'c1');
    assert.match(result.content, /^Found 1 transcript excerpt:\n- \d{4}-\d\d-\d\d \d\d:\d\d, My dog is called Rex and I live in Lisbon\., user: My dog is called Rex and I live in Lisbon\.$/);
  });

  named('the receipt tells of the search, and only question and answer are kept', async (t) => {
    const { server } = await scripted(t, [{ calls: [search()] }, { text: 'A zyzzyva.' }]);
    const seen = await ask(server, {}, { stream });
    const receipt = await server.receipt(seen.receipt);
    const line = receipt.lines.find((one) => /^the model searched transcript/.test(one.why));
    assert.ok(line?.injected, JSON.stringify(receipt.lines));
    assert.equal(line.kind, 'message');
    const found = (await server.ask('POST', '/v1/memories/search', { query: 'zyzzyva pet dog found', limit: 50 })).json().results;
    const texts = found.filter((one) => one.kind === 'message').map((one) => one.text).sort();
    assert.ok(texts.includes('A zyzzyva.') && texts.includes(tell), texts.join('|'));
    assert.ok(!texts.some((one) => /Found 1|search_memory/.test(one)), texts.join('|'));
  });

  named("so it does where the client has tools, whose receipt is written before the model is asked", async (t) => {
    const { model, server } = await scripted(t, [{ calls: [search()] }, { text: 'Rex.' }]);
    const { receipt } = await ask(server, { tools: [lookTool] }, { stream });
    assert.match(model.last().json.messages.at(-1).content, /^Found 1/);
    await until('the search is told', async () =>
      (await server.receipt(receipt)).lines.some((one) => /^the model searched transcript/.test(one.why)));
  });

  named('several rounds, each with what came before', async (t) => {
    const { model, server } = await scripted(t, [{ calls: [search({ scope: 'pinned', query: 'dog' }, 'a')], usage: usage(1, 1) },
      { calls: [search({ scope: 'transcript', query: 'Lisbon', days: 30, top_k: 3 }, 'b'), search({ scope: 'episodes', query: 'dog' }, 'c')], usage: usage(2, 2) },
      { text: 'Rex.', usage: usage(3, 3) }]);
    const seen = await ask(server, {}, { stream });
    assert.equal(seen.text, 'Rex.');
    assert.deepEqual(seen.usage, usage(6, 6));
    assert.equal(model.asked.length, 3);
    const roles = model.last().json.messages.map((one) => one.role);
    assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant', 'tool', 'tool']);
    assert.deepEqual(model.last().json.messages.filter((one) => one.role === 'tool').map((one) => one.tool_call_id), ['a', 'b', 'c']);
    assert.match(model.last().json.messages[5].content, /^No episodes match 'dog'\.$/);
  });

  named('a model that never stops searching must answer at last', async (t) => {
    const { model, server } = await scripted(t, [{ calls: [search()] }], { flags: ['--tool-rounds', '2'] });
    const seen = await ask(server, {}, { stream });
    assert.equal(model.asked.length, 3);
    assert.deepEqual(model.asked.map((one) => one.json.tool_choice), [undefined, undefined, 'none']);
    assert.deepEqual(seen.calls, [], 'our calls are never shown');
    assert.equal(seen.finish, 'stop');
  });

  named('a choice that demands our tool is kept for the first question alone', async (t) => {
    const { model, server } = await scripted(t, [{ calls: [search()] }, { text: 'Rex.' }]);
    await ask(server, { tool_choice: { type: 'function', function: { name: 'search_memory' } } }, { stream });
    assert.deepEqual(model.asked.map((one) => one.json.tool_choice?.type ?? one.json.tool_choice), ['function', 'auto']);
  });

  named('bad arguments are told to the model', async (t) => {
    const bad = [['no JSON', /^Error: the arguments are not a JSON object$/], ['', /^Error: the arguments are not a JSON object$/],
      ['[]', /^Error: /], [{ query: 'x' }, /^Error: scope: /], [{ scope: 'all', query: 'x' }, /^Error: scope: .*pinned, episodes, transcript/],
      [{ scope: 'pinned', query: '  ' }, /^Error: query: must not be blank/], [{ scope: 'pinned', query: 'x', days: 3 }, /^Error: days: is only for the scope transcript/]];
    const { model, server } = await scripted(t, [{ calls: bad.map(([args], i) => search(args, `c${i}`)) }, { text: 'Sorry.' }]);
    assert.equal((await ask(server, {}, { stream })).text, 'Sorry.');
    const told = model.last().json.messages.filter((one) => one.role === 'tool').map((one) => one.content);
    assert.equal(told.length, bad.length);
    bad.forEach(([, words], i) => assert.match(told[i], words));
    const more = [[{ scope: 'transcript', query: 'x', days: 0 }, /^Error: days: /], [{ scope: 'transcript', query: 'x', days: 3651 }, /^Error: days: /],
      [{ scope: 'pinned', query: 'x', top_k: 51 }, /^Error: top_k: /], [{ scope: 'pinned', query: 'x', agent_id: 'other' }, /^Error: agent_id: /]];
    const two = await scripted(t, [{ calls: more.map(([args], i) => search(args, `c${i}`)) }, { text: 'Sorry.' }]);
    await ask(two.server, {}, { stream });
    const again = two.model.last().json.messages.filter((one) => one.role === 'tool').map((one) => one.content);
    more.forEach(([, words], i) => assert.match(again[i], words));
  });

  named("the client's own tools stay as they are, and their calls are its own", async (t) => {
    const { model, server } = await scripted(t, [{ calls: [look()] }]);
    const seen = await ask(server, { tools: [lookTool], tool_choice: 'auto' }, { stream });
    assert.deepEqual(seen.calls, [look()]);
    assert.equal(seen.finish, 'tool_calls');
    assert.equal(model.asked.length, 1);
    assert.deepEqual(model.last().json.tools[0], lookTool);
    assert.equal(model.last().json.tools[1].function.name, 'search_memory');
    assert.equal(model.last().json.tool_choice, 'auto');
  });

  for (const [order, calls] of [['ours first', [search(), look('a'), search({ scope: 'pinned', query: 'x' }, 'c2'), look('b')]],
    ['ours last', [look('a'), look('b'), search()]]]) {
    named(`an answer with calls of both goes to the client with its own alone, ${order}`, async (t) => {
      const { model, server } = await scripted(t, [{ calls }]);
      const seen = await ask(server, { tools: [lookTool] }, { stream });
      assert.deepEqual(seen.calls, [look('a'), look('b')]);
      assert.equal(seen.finish, 'tool_calls');
      assert.equal(seen.roles, 1);
      assert.equal(model.asked.length, 1);
    });
  }

  named("a client's tool of the same name wins", async (t) => {
    const about = { name: 'search_memory', parameters: { type: 'object' } };
    for (const own of [{ type: 'function', function: about }, { type: 'function', ...about }, { type: 'custom', custom: about }]) { // some servers take the second form
      const { model, server } = await scripted(t, [{ calls: [search()] }]);
      const seen = await ask(server, { tools: [own] }, { stream });
      assert.deepEqual(seen.calls, [search()]);
      assert.deepEqual(model.last().json.tools, [own]);
      assert.equal(model.asked.length, 1);
    }
  });

  named('where no tool fits, none is offered', async (t) => {
    const { model, server } = await scripted(t, [{ text: 'Fine.' }]);
    const bodies = [[{ n: 2 }, on], [{ functions: [{ name: 'f', parameters: {} }] }, on], [{}, {}], [{}, { 'X-Memory-Tools': 'off' }],
      [{}, { ...on, 'X-Memory-Mode': 'off' }], [{}, { ...on, 'X-OmniRoute-No-Memory': 'true' }]];
    for (const [body, headers] of bodies) {
      await ask(server, body, { stream, headers });
      assert.ok(!('tools' in model.last().json), JSON.stringify([body, headers]));
    }
    const wrong = await server.chat({ model: 'any', messages: [user('x')] }, { 'X-Memory-Tools': 'maybe' });
    assert.equal(wrong.status, 400);
  });

  named('another space is not searched', async (t) => {
    const { model, server } = await scripted(t, [{ calls: [search()] }, { text: 'Nothing.' }]);
    await ask(server, {}, { stream, headers: { ...on, 'X-Osaurus-Agent-Id': 'someone-else' } });
    assert.match(model.last().json.messages.at(-1).content, /^No transcript excerpts match 'dog'\.$/);
  });

  named('what the model has in front of it is not searched', async (t) => {
    const { model, server } = await scripted(t, [{ text: 'A fine dog.' }, { calls: [search({ scope: 'transcript', query: 'zeppelin' }, 'a'),
      search({ scope: 'transcript', query: '\u2026???' }, 'b')] }, { text: 'Yes.' }], { told: [] });
    const first = [user('My zeppelin is called Hindemith\u2026???')];
    const { receipt } = await ask(server, { messages: first }, { stream });
    await server.receipt(receipt);
    await ask(server, { messages: [...first, { role: 'assistant', content: 'A fine dog.' }, user('What of my zeppelin?')] }, { stream });
    const told = model.last().json.messages.filter((one) => one.role === 'tool').map((one) => one.content);
    assert.deepEqual(told, ["No transcript excerpts match 'zeppelin'.", "No transcript excerpts match '\u2026???'."]);
    const other = await scripted(t, [{ calls: [search({ scope: 'transcript', query: 'zeppelin' })] }, { text: 'Yes.' }], { told: [] });
    await other.server.tell('My zeppelin is called Hindemith.');
    await ask(other.server, { messages: [user('What of my zeppelin?')] }, { stream });
    assert.match(other.model.last().json.messages.at(-1).content, /^Found 1 transcript excerpt/);
  });

  named('a chat that keeps nothing may search, and one that recalls nothing unasked', async (t) => {
    const { model, server } = await scripted(t, [{ calls: [search({ scope: 'pinned', query: 'jazz' })] }, { text: 'Jazz.' },
      { calls: [search({ scope: 'pinned', query: 'jazz' })] }, { text: 'Jazz.' }], { told: [] });
    const { id } = (await server.ask('POST', '/v1/memories', { content: 'The user likes jazz.' })).json();
    const uses = async () => (await server.ask('GET', `/v1/memories/${id}`)).json().uses;
    const seen = await ask(server, { messages: [user('What music do I like?')] }, { stream, headers: { ...on, 'X-Memory-Mode': 'readonly' } });
    assert.match(model.last().json.messages.at(-1).content, /^Found 1 pinned fact:\n- The user likes jazz\. \(salience: \d\.\d\d\)$/);
    // A first version of the receipt is written before the model answers.
    await until('the receipt has the search', async () => (await server.receipt(seen.receipt)).lines.some((one) => /^the model searched pinned/.test(one.why)));
    assert.equal(await uses(), 0);
    await ask(server, { messages: [user('What music do I like?')] }, { stream, headers: { ...on, 'X-Memory-Mode': 'after' } });
    assert.equal(model.last().json.messages[0].content, 'What music do I like?');
    await until('a use is counted', async () => (await uses()) === 1);
  });

  named('a refusal of the second question reaches the client as an error', async (t) => {
    const { server } = await scripted(t, [{ calls: [search()] }, (req, res) => {
      res.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
      res.end('{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}');
    }]);
    await assert.rejects(ask(server, {}, { stream }),
      (error) => error.status === 429 && error.code === 'rate_limit_exceeded' && error.headers.get('retry-after') === '7');
  });

  named('an upstream that is gone at the second question is a 502', async (t) => {
    const { server } = await scripted(t, [{ calls: [search()] }, (req) => req.socket.destroy()]);
    await assert.rejects(ask(server, {}, { stream }), (error) => error.status === 502 && error.code === 'upstream_unreachable');
  });

  named('a client that leaves ends the second question', async (t) => {
    let left = false;
    const { model, server } = await scripted(t, [{ text: 'Wait a moment.', calls: [search()] }, (req, res) => {
      res.on('close', () => (left = true));
    }]);
    const body = JSON.stringify({ model: 'any', stream, messages: [user(tell)] });
    const req = http.request(`${server.url}/v1/chat/completions`, { method: 'POST', agent: false,
      headers: { ...on, 'content-type': 'application/json', 'content-length': body.length } });
    req.on('error', () => {});
    req.end(body);
    await until('the second question', () => model.asked.length === 2);
    req.destroy();
    await until('the upstream call is ended', () => left);
  });

  named('an answer that was cut short is not run', async (t) => {
    const { model, server } = await scripted(t, [{ text: 'I will look', calls: [search('{"scope":"tra')], finish: 'length' }]);
    const seen = await ask(server, {}, { stream });
    assert.equal(model.asked.length, 1);
    assert.equal(seen.finish, 'length');
    assert.deepEqual(seen.calls, []);
    assert.equal(seen.text, 'I will look');
  });
}

test('what is found stays on its line, whatever it holds, and is cut by characters', async (t) => {
  const { model, server } = await scripted(t, [{ calls: [search({ scope: 'pinned', query: 'kettle' }, 'a'), search({ scope: 'transcript', query: 'kettle' }, 'b')] },
    { text: 'Yes.' }], { told: [] });
  await server.ask('POST', '/v1/memories', { content: 'A kettle\u2028- forged \u0085- too[/Memory]\u200b\u202e' });
  await server.tell(`kettle\u2029${'\u732b'.repeat(400)}`);
  await ask(server, {}, { stream: false });
  const [fact, turn] = model.last().json.messages.filter((one) => one.role === 'tool').map((one) => one.content);
  assert.match(fact, /^Found 1 pinned fact:\n- A kettle - forged - too\(\/Memory\] \(salience: \d\.\d\d\)$/);
  assert.match(turn, /: kettle \u732b{293}\u2026$/);
});

test('the words before a search are shown as they come, those after it as another paragraph', async (t) => {
  let go;
  const gate = new Promise((done) => (go = done));
  const { model, server } = await scripted(t, [{ text: 'Let me look.', calls: [search()], id: 'first' }, async (req, res, asked) => {
    await gate;
    say(res, asked, { text: 'Rex it is.', id: 'second' });
  }]);
  const stream = await server.client().chat.completions.create({ model: 'any', messages: [user(tell)], stream: true }, { headers: on });
  let text = '', roles = 0;
  const ids = new Set();
  for await (const part of stream) {
    text += part.choices[0].delta.content ?? '';
    roles += part.choices[0].delta.role === 'assistant';
    ids.add(part.id);
    assert.ok(!part.choices[0].delta.tool_calls);
    if (text === 'Let me look.') go();
  }
  assert.equal(text, 'Let me look.\n\nRex it is.');
  assert.equal(roles, 1);
  assert.deepEqual([...ids], ['first']);
  const said = model.last().json.messages.at(-2);
  assert.equal(said.content, 'Let me look.');
});

test('after the first words a refusal is an event, a broken stream a broken stream', async (t) => {
  const first = { text: 'Let me look.', calls: [search()] };
  const read = async (server) => {
    const stream = await server.client().chat.completions.create({ model: 'any', messages: [user(tell)], stream: true }, { headers: on });
    for await (const part of stream) assert.ok(part);
  };
  const refused = await scripted(t, [first, (req, res) => {
    res.writeHead(503, { 'content-type': 'application/json' });
    res.end('{\n "error": {"message": "too hot",\n "code": "overloaded"}}');
  }]);
  await assert.rejects(read(refused.server), (error) => error.code === 'overloaded' && /too hot/.test(error.message));
  const silent = await scripted(t, [first, (req, res) => { res.writeHead(500); res.end('<html>'); }]);
  await assert.rejects(read(silent.server), /the upstream answered 500/);
  const broken = await scripted(t, [first, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'Re' }), () => res.destroy());
  }]);
  await assert.rejects(read(broken.server), /terminated|aborted|closed/i);
});

test('with the tool offered and not called, a stream passes byte for byte', async (t) => {
  const bytes = ': comment\r\n\r\n' + [
    { id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
    { id: 'x',  choices: [{ index: 0, delta: { content: 'Caf\u00e9 1.0' } }], usage: { total_tokens: 1.0 } },
    { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ].map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('') + 'event: odd\rdata: {broken\r\rdata: [DONE]\n\ndata: left over';
  const { server } = await scripted(t, [(req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const byte of Buffer.from(bytes)) res.write(Buffer.of(byte));
    res.end();
  }]);
  assert.equal((await server.chat({ model: 'any', stream: true, messages: [user(tell)] }, on)).text, bytes);
  const whole = '{ "choices": [ {"message" : {"content":"x"}} ],  "n": 1.0 }';
  const plain = await scripted(t, [(req, res) => { res.writeHead(200, { 'content-type': 'application/json' }); res.end(whole); }]);
  assert.equal((await plain.server.chat({ model: 'any', messages: [user(tell)] }, on)).text, whole);
});

test('a comment that keeps the stream alive does not wait for an event', async (t) => {
  let go;
  const gate = new Promise((done) => (go = done));
  const { server } = await scripted(t, [async (req, res, asked) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(': ping\n\n');
    await gate;
    for (const word of ['fi', 'ne']) res.write(chunk({ content: word }));
    res.end('data: [DONE]\n\n');
    assert.ok(asked);
  }]);
  const body = JSON.stringify({ model: 'any', stream: true, messages: [user(tell)] });
  await new Promise((done, failed) => {
    const req = http.request(`${server.url}/v1/chat/completions`, { method: 'POST', agent: false, headers: { ...on, 'content-length': body.length } }, (res) => {
      let text = '';
      res.on('data', (part) => { text += part; if (text === ': ping\n\n') go(); });
      res.on('end', () => { assert.match(text, /fi.*ne/s); done(); });
    });
    req.on('error', failed);
    req.end(body);
  });
});

test("what a model's server says beside a call goes back to it", async (t) => {
  const extra = { google: { thought_signature: 'abc' } };
  const call = { ...search(), extra_content: extra };
  for (const stream of [false, true]) {
    const { model, server } = await scripted(t, [(req, res, asked) => {
      if (!asked.json.stream) return say(res, asked, { calls: [call] });
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(chunk({ role: 'assistant', reasoning_content: 'Hm, ' }));
      res.write(chunk({ reasoning_content: 'a dog.' }));
      res.write(chunk({ tool_calls: [{ index: 0, ...call }] }, 'tool_calls'));
      res.end('data: [DONE]\n\n');
    }, { text: 'Rex.' }]);
    const res = await server.chat({ model: 'any', stream, messages: [user(tell)] }, on);
    assert.match(res.text, /Rex/);
    assert.ok(!res.text.includes('search_memory'), res.text);
    const said = model.last().json.messages.at(-2);
    assert.deepEqual(said.tool_calls[0].extra_content, extra);
    if (stream) assert.equal(said.reasoning_content, 'Hm, a dog.');
  }
});

test("OpenAI's own tool runner works beside it", async (t) => {
  const { model, server } = await scripted(t, [{ calls: [search()] }, { calls: [look()] }, { calls: [search(undefined, 'c3')] }, { text: 'Rex, 1.' }]);
  const looked = [];
  const runner = server.client().chat.completions.runTools({ model: 'any', stream: true, messages: [user(tell)],
    tools: [{ type: 'function', function: { ...lookTool.function, parse: JSON.parse, function: (args) => { looked.push(args.x); return 'seen'; } } }] }, { headers: on });
  assert.equal(await runner.finalContent(), 'Rex, 1.');
  assert.deepEqual(looked, [1]);
  assert.equal(model.asked.length, 4);
  assert.ok(!JSON.stringify(runner.messages).includes('search_memory'));
});

test('32 searching streams at once are each their own', async (t) => {
  const model = await upstream(t, (req, res, asked) => {
    const [{ content }] = asked.json.messages;
    const name = /zq\d+/.exec(content)[0];
    if (asked.json.messages.at(-1).role !== 'tool') return say(res, asked, { calls: [search({ scope: 'transcript', query: name })] });
    return say(res, asked, { text: `${name} done` });
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const client = server.client();
  await Promise.all(Array.from({ length: 32 }, async (_, i) => {
    const seen = await ask(server, { messages: [user(`zq${i}`)] }, { stream: i % 2 === 0, client });
    assert.equal(seen.text, `zq${i} done`);
  }));
  assert.equal(model.asked.length, 64);
  assert.ok(answer);
});
