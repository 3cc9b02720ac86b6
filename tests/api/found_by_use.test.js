// found_by_use.test.js - what people found who used the server for a day: each was wrong before.
'use strict';
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { once } = require('node:events');
const { test } = require('node:test');
const { answer, bin, cleanEnv, completion, serve, tempFolder, until, upstream, withTokens } = require('./lib');

const run = (data, ...args) => spawnSync(bin, [...args, '--data', data], { env: cleanEnv(data), encoding: 'utf8', timeout: 60000 });
const chat = (server, content, headers) =>
  server.ask('POST', '/v1/chat/completions', { model: 'rememberd/demo', messages: [{ role: 'user', content }] }, headers);

test('a filter without a value selects nothing by mistake', async (t) => {
  const server = await serve(t);
  for (const content of ['I own a kayak', 'Ada drinks tea']) await server.ask('POST', '/v1/memories', { content });
  for (const name of ['category', 'key', 'session', 'tag', 'contains', 'layer']) {
    const list = await server.ask('GET', `/v1/memories?${name}=`);
    assert.equal(list.status, 400, name);
    for (const value of ['', null]) {
      const bulk = await server.ask('POST', '/v1/memories/bulk', { filter: { [name]: value }, action: 'delete' });
      assert.equal(bulk.status, 400, bulk.text);
      assert.match(bulk.text, new RegExp(name));
    }
  }
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 2);
});

test('tags have a limit, and what is said again keeps what was said first', async (t) => {
  const server = await serve(t);
  const long = await server.ask('POST', '/v1/memories', { content: 'x y z', tags: ['g'.repeat(70000)] });
  assert.equal(long.status, 400);
  assert.match(long.text, /tags/);
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'I own a kayak', tags: ['x'], metadata: { a: 1 } })).json();
  const again = (await server.ask('POST', '/v1/memories', { content: 'I own a kayak', tags: ['y'], metadata: { b: 2 } })).json();
  assert.deepEqual([again.id, again.tags, again.metadata], [id, ['y'], { b: 2 }]);
  const many = await server.ask('POST', '/v1/memories/bulk', { ids: [id], action: 'change', change: { tags: ['g'.repeat(70000)] } });
  assert.match(many.text, /tags: must have/);
  const history = (await server.ask('GET', `/v1/memories/${id}/history`)).text;
  assert.match(history, /"x"/);
  assert.match(history, /"a":1/);
});

test('a title that was made of an erased message stays gone after a restore and an import', async (t) => {
  const server = await serve(t), { data } = server, backup = path.join(tempFolder(), 'old.db'), copy = path.join(tempFolder(), 'old.jsonl');
  await chat(server, 'My parrot is called Zanzibarquux.', { 'x-session-id': 'k' });
  const messages = (await server.ask('GET', '/v1/sessions/k/messages')).json().items;
  const hasFiles = !process.env.TEST_STORE; // PostgreSQL has backups of its own
  if (hasFiles) assert.equal(run(data, 'backup', backup).status, 0);
  fs.writeFileSync(copy, (await server.ask('GET', '/v1/memories/export?all=true')).text);
  for (const m of messages) assert.equal((await server.ask('DELETE', `/v1/memories/${m.id}`)).status, 200);
  await server.ask('POST', '/v1/memories/import', fs.readFileSync(copy, 'utf8'), { 'content-type': 'application/x-ndjson' });
  assert.doesNotMatch((await server.ask('GET', '/v1/sessions')).text, /Zanzibarquux/);
  await server.stop();
  if (!hasFiles) return;
  assert.equal(run(data, 'restore', backup, '--force').status, 0);
  const restored = await serve(t, { data });
  assert.doesNotMatch((await restored.ask('GET', '/v1/sessions')).text, /Zanzibarquux/);
});

test('an unknown user, nothing to search for, links in a folder', async (t) => {
  const server = await serve(t), { data } = server;
  await server.ask('POST', '/v1/memories', { content: 'I own a kayak' });
  await server.stop();
  const unknown = run(data, 'export', '--user', 'misspelt');
  assert.equal(unknown.status, 1);
  assert.match(unknown.stderr, /'misspelt' has nothing here/);
  assert.match(run(data, 'search', '').stderr, /must say what to search for/);
  const folder = tempFolder(), outside = path.join(tempFolder(), 'secret.md');
  fs.writeFileSync(outside, 'The vault code is on the shelf.\n');
  fs.writeFileSync(path.join(folder, 'note.md'), 'Ada drinks green tea.\n');
  fs.symlinkSync(outside, path.join(folder, 'link.md'));
  assert.equal(run(data, 'import', folder).status, 0);
  assert.match(run(data, 'list').stdout, /green tea/);
  assert.doesNotMatch(run(data, 'list').stdout, /vault code/);
});

test('two keys of one text are both kept when duplicates are closed', async (t) => {
  const server = await serve(t);
  for (const key of ['address:shipping', 'address:billing']) await server.ask('POST', '/v1/memories', { content: '12 Mill Lane, Leith', key });
  await server.ask('POST', '/v1/memory/deduplicate', {});
  const keys = (await server.ask('GET', '/v1/memories')).json().memories.map((m) => m.key).sort();
  assert.deepEqual(keys, ['address:billing', 'address:shipping']);
});

test('mem0 refuses messages without content, and a user that is a star', async (t) => {
  const server = await serve(t);
  assert.equal((await server.ask('DELETE', '/v1/memories/?user_id=*')).status, 400);
  for (const content of [undefined, 5]) {
    const res = await server.ask('POST', '/v1/memories/', { messages: [{ role: 'user', content }], user_id: 'ada', infer: false });
    assert.equal(res.status, 400, res.text);
  }
});

test('a stream that broke off is kept without its answer; one without [DONE] that finished is kept', async (t) => {
  const endings = { 'error mid-stream': 'data: {"error":{"message":"overloaded"}}\n\n', 'error as older vLLM has it': 'data: {"object":"error","message":"overloaded","code":400}\n\ndata: [DONE]\n\n', 'nothing more': '', finished: 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    'another choice finished': 'data: {"choices":[{"index":1,"delta":{"content":"Jam"},"finish_reason":"stop"}]}\n\n' };
  let ending = '';
  const up = http.createServer((req, res) => {
    req.resume().on('end', () => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(`data: {"choices":[{"index":0,"delta":{"content":"Marmalade galore"}}]}\n\n${ending}`);
    });
  }).listen(0, '127.0.0.1');
  await once(up, 'listening');
  t.after(() => up.close());
  const server = await serve(t, { flags: ['--upstream', `http://127.0.0.1:${up.address().port}/v1`] });
  for (const [name, end] of Object.entries(endings)) {
    ending = end;
    const session = name.replaceAll(' ', '-');
    await server.ask('POST', '/v1/chat/completions', { model: 'm', stream: true, messages: [{ role: 'user', content: `I like plums ${name}` }] }, { 'x-session-id': session });
    const kept = await until(`the turn is kept: ${name}`, async () => {
      const { text } = await server.ask('GET', `/v1/sessions/${session}/messages`);
      return /I like plums/.test(text) && text;
    });
    assert.equal(/Marmalade/.test(kept), name === 'finished', `${name}: ${kept}`);
  }
});

test('what is put right in the next message comes with the line that it follows', async (t) => {
  const server = await serve(t);
  for (const text of ['how long do I boil an egg?', 'my brother Callum is visiting from Perth next month', "we're having lasagne tonight"]) await chat(server, text);
  const first = { role: 'user', content: "mum's operation is on the 9th" };
  const answer = (await server.ask('POST', '/v1/chat/completions', { model: 'rememberd/demo', messages: [first] })).json().choices[0].message;
  await server.ask('POST', '/v1/chat/completions', { model: 'rememberd/demo', messages: [first, answer, { role: 'user', content: "hang on, it's the 19th" }] });
  const { block } = (await server.ask('POST', '/v1/preview', { question: "when is mum's operation?" })).json();
  assert.match(block, /the 9th[\s\S]*the 19th/);
});

test('a text that is given to be changed asks for nothing, and is not kept as its writer\'s', async (t) => {
  const server = await serve(t);
  const answer = async (said) => (await chat(server, said)).json().choices[0].message.content;
  await chat(server, 'I cannot come to work on Thursday, the car is at the garage.');
  const given = await answer('Turn this into a formal email: I live in Bath and cannot come to work on Thursday');
  assert.doesNotMatch(given, /Noted|garage/);
  assert.match(await answer('Quick update: I moved to Ghent in May'), /Noted/);
  const lived = await answer('Which town do I live in?');
  assert.match(lived, /Ghent/);
  assert.doesNotMatch(lived, /Bath/);
});

// An image of 5 MB, in base64.
const image = 'iVBORw0K'.repeat(650000);

test('an image within words is not kept, and hides none of them', async (t) => {
  const url = `data:image/png;base64,${image}`, call = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }];
  const up = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(completion(`Here: ![a](${url}) Ida will like the sunflowers.`)));
  });
  const server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] }), headers = { 'x-session-id': 'painting' };
  const talk = [{ role: 'user', content: `My sister Ida's flat: ![flat](${url}) she moved to Ghent.` }, { role: 'assistant', content: null, tool_calls: call },
    { role: 'tool', tool_call_id: 'c1', content: JSON.stringify({ data: image }) }];
  const ask = async (more) => {
    talk.push(...more);
    const res = await server.chat({ model: 'm', messages: talk }, headers);
    talk.push(res.json().choices[0].message);
    await server.receipt(res.headers['x-rememberd-receipt']);
    return res;
  };
  const said = 'Here: ![a](data:image/png;base64,iVBORw0K) Ida will like the sunflowers.';
  await ask([]);
  assert.ok(up.last().json.messages[0].content.includes(url), 'the model gets it');
  await ask([{ role: 'user', content: 'Thanks!' }]);
  const { messages } = await until('both turns', async () => {
    const got = (await server.ask('GET', '/v1/session/painting/history')).json();
    return got.messages.filter((m) => m.content === said).length === 2 && got;
  });
  assert.deepEqual(messages.filter((m) => m.role !== 'tool').map((m) => m.content),
    ["My sister Ida's flat: ![flat](data:image/png;base64,iVBORw0K) she moved to Ghent.", said, 'Thanks!', said]);
  assert.ok(JSON.stringify(messages).length < 2000);
  assert.match((await server.ask('POST', '/v1/preview', { question: 'Where does my sister Ida live now?' })).json().block, /she moved to Ghent/);
});

for (const stream of [false, true]) {
  test(`a user goes on from an answer with an image, with the server's key: ${stream ? 'streamed' : 'whole'}`, async (t) => {
    const { model, server, make } = await withTokens(t, ['--upstream-key', 'sk-server']);
    let made = 0;
    const event = (type, more) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
    model.server.removeAllListeners('request');
    model.server.on('request', (req, res) => req.resume().on('end', () => {
      const output = [{ type: 'image_generation_call', id: `ig_${++made}`, status: 'completed', result: image }, { type: 'message', id: `msg_${made}`, role: 'assistant', content: [{ type: 'output_text', text: `Painted ${made}.` }] }];
      const response = { id: `resp_${made}`, object: 'response', status: 'completed', output };
      res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      res.end(!stream ? JSON.stringify(response) : event('response.created', { response: { ...response, output: [], status: 'in_progress' } })
        + output.map((item) => event('response.output_item.done', { item })).join('') + event('response.completed', { response }));
    }));
    const headers = { authorization: `Bearer ${(await make('--user', 'ida')).token}`, 'x-session-id': 'barn' };
    const ask = async (body) => {
      const res = await server.ask('POST', '/v1/responses', { model: 'm', stream, ...body }, headers);
      assert.equal(res.status, 200, res.text.slice(0, 300));
    };
    await ask({ input: 'Paint my barn.' });
    await ask({ previous_response_id: 'resp_1', input: 'With snow.' });
    await ask({ input: [{ role: 'user', content: 'Make it look real.' }, { type: 'image_generation_call', id: 'ig_2' }] });
    const { messages } = (await server.ask('GET', '/v1/session/barn/history', undefined, headers)).json();
    assert.ok(messages.some((m) => m.content === 'Painted 1.'), JSON.stringify(messages));
  });
}

test('of a tool\'s result the first bytes are kept, and the conversation goes on behind it', async (t) => {
  const up = await upstream(t), server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] }), sessions = new Set();
  const talk = [{ role: 'user', content: 'Read the logs, my sister Ida asked.' }];
  for (let i = 0; i < 6; i++) {
    const res = await server.chat({ model: 'm', messages: talk.length > 7 ? talk.slice(-6) : talk, tools: [{ type: 'function', function: { name: 'look', parameters: {} } }] });
    sessions.add(res.headers['x-omniroute-session-id']);
    await server.receipt(res.headers['x-rememberd-receipt']);
    talk.push({ role: 'assistant', content: null, tool_calls: [{ id: `c${i}`, type: 'function', function: { name: 'look', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: `c${i}`, content: `line ${i} é\n`.repeat(4000) });
  }
  // Half of a secret is not known as one: it is masked before the cut, and what stands at the end of what was masked goes.
  const card = '4242424242424242', long = `sk-${'aB3dE6gH9kL2mN5p'.repeat(30)}`;
  for (const content of [`${'x '.repeat(243)} ${card} ${'ok '.repeat(300)}`, `key ${long} ${'words '.repeat(80)}${card} ${'ok '.repeat(300)}`])
    for (let cut = 0; cut < 24; cut++)
      await server.chat({ model: 'm', messages: [{ role: 'user', content: `Look at ${cut} of ${content.length}.` }, { role: 'assistant', content: null,
        tool_calls: [{ id: 'k', type: 'function', function: { name: 'look', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'k', content: `${'y'.repeat(cut)} ${content}` }] });
  await server.ask('GET', '/v1/memories?limit=1');
  const all = run(server.data, 'export').stdout, tools = all.trim().split('\n').map((line) => JSON.parse(line)).filter((one) => one.role === 'tool');
  assert.doesNotMatch(all, /4242424242|aB3dE6gH9kL2mN5p/);
  const kept = tools.filter((one) => one.text.startsWith('line'));
  assert.deepEqual([kept.length, tools.length], [5, 53]);
  assert.ok(kept.every((one) => one.text.length > 400 && Buffer.byteLength(one.text) <= 500), JSON.stringify(kept).slice(0, 900));
  assert.equal(sessions.size, 1, 'also where the beginning of the conversation was cut off');
});

test('what a model thinks within its answer is no part of it', async (t) => {
  const thoughts = ['<think>\nHerons winter in Tavira, I guess.\n</think>\n\n', 'Herons winter in Tavira, I guess.\n</think>\n\n'];
  let thought = '';
  const up = await upstream(t, (req, res, asked) => answer(res, asked, [thought.slice(0, 9), thought.slice(9), 'They like ', 'salt pans; `</think>` ends a thought.']));
  const server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] }), whole = 'They like salt pans; `</think>` ends a thought.';
  for (const stream of [false, true])
    for (thought of thoughts) {
      const asked = { role: 'user', content: `Where do herons winter? ${stream} ${thought.length}` };
      const first = await server.chat({ model: 'm', stream, messages: [asked] });
      assert.ok(stream || first.json().choices[0].message.content.startsWith(thought), 'the client gets all of it');
      const next = { role: 'user', content: 'Thanks, and storks?' };
      for (const back of [whole, thought + whole]) await server.chat({ model: 'm', messages: [asked, { role: 'assistant', content: back }, next] });
      await server.ask('GET', '/v1/memories?limit=1');
      const { messages } = (await server.ask('GET', `/v1/session/${first.headers['x-omniroute-session-id']}/history`)).json();
      assert.deepEqual(messages.map((m) => m.content), [asked.content, whole, next.content, whole]);
    }
});

test('the words of a spoken answer are kept, and not its sound', async (t) => {
  const up = await upstream(t, (req, res, asked) => {
    const say = (message) => ({ choices: [{ index: 0, message, delta: message, finish_reason: null }] });
    const words = ['The ferry ', 'leaves at nine.'].map((transcript) => say({ content: null, audio: { id: 'audio_1', data: image, transcript } }));
    if (!asked.json.stream) return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(say({ content: null, audio: { data: image, transcript: 'The ferry leaves at nine.' } })));
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    return res.end(`${words.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`);
  });
  const server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] });
  for (const stream of [false, true]) {
    const asked = { role: 'user', content: `When does the ferry leave? ${stream}` };
    const { headers } = await server.chat({ model: 'm', stream, modalities: ['text', 'audio'], messages: [asked] });
    const session = headers['x-omniroute-session-id'], heard = { role: 'assistant', audio: { id: 'audio_1' } };
    const next = await server.chat({ model: 'm', messages: [asked, heard, { role: 'user', content: 'Thanks, and the train?' }] });
    assert.equal(next.headers['x-omniroute-session-id'], session);
    await server.ask('GET', '/v1/memories?limit=1');
    const { messages } = (await server.ask('GET', `/v1/session/${session}/history`)).json();
    assert.deepEqual(messages.map((m) => m.content), [asked.content, 'The ferry leaves at nine.', 'Thanks, and the train?', 'The ferry leaves at nine.']);
  }
});
