// models.test.js - which upstream a model chooses, and what passes through untouched.
'use strict';
const assert = require('node:assert/strict');
const net = require('node:net');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const messages = [{ role: 'user', content: 'hi' }];

// Says on every path what it was asked.
const echo = (name) => (req, res, asked) => {
  if (asked.url.includes('/chat/')) return answer(res, asked, name);
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ object: 'list', data: [{ id: `${name}-model`, object: 'model', embedding: [1], index: 0 }], from: name }));
};

test('the prefix of a model chooses the upstream and is cut off', async (t) => {
  const first = await upstream(t, echo('first')), second = await upstream(t, echo('second'));
  const server = await serve(t, { flags: ['--upstream', `${first.url}/v1`, '--upstream', `second=${second.url}/api/v1/`] });
  const ask = async (model) => (await server.client().chat.completions.create({ model, messages })).choices[0].message.content;
  assert.equal(await ask('gpt-5'), 'first');
  assert.equal(first.last().json.model, 'gpt-5');
  assert.equal(first.last().url, '/v1/chat/completions');
  assert.equal(await ask('second/gpt-5'), 'second');
  assert.equal(second.last().json.model, 'gpt-5');
  assert.equal(second.last().url, '/api/v1/chat/completions');
  assert.equal(await ask('second/meta/llama'), 'second');
  assert.equal(second.last().json.model, 'meta/llama');
  assert.equal(await ask('other/gpt-5'), 'first');
  assert.equal(first.last().json.model, 'other/gpt-5', 'a prefix that is no upstream belongs to the model');
  const raw = '{ "messages":[{"role":"user","content":"hi"}],"x":1.0, "model" : "sec\\u006fnd\\/gpt-5" }';
  await server.chat(raw);
  assert.equal(second.last().body.toString(), raw.replace('sec\\u006fnd\\/gpt-5', 'gpt-5'));
  await server.chat(raw, { 'x-memory-mode': 'off' });
  assert.equal(second.last().body.toString(), raw.replace('sec\\u006fnd\\/gpt-5', 'gpt-5'), 'without memory as well');
});

test('base URLs with and without a version', async (t) => {
  const model = await upstream(t, echo('m'));
  const flags = Object.entries({ a: '', b: '/', c: '/v1', d: '/v1/', e: '/api/paas/v4', f: '/v1beta/openai/', g: '/openai' })
    .flatMap(([name, path]) => ['--upstream', `${name}=${model.url}${path}`]);
  const server = await serve(t, { flags });
  const want = { a: '/v1', b: '/v1', c: '/v1', d: '/v1', e: '/api/paas/v4', f: '/v1beta/openai', g: '/openai/v1' };
  for (const [name, base] of Object.entries(want)) {
    await server.chat({ model: `${name}/m`, messages });
    assert.equal(model.last().url, `${base}/chat/completions`);
  }
});

test('a model that nobody serves is named, with the setting', async (t) => {
  const named = await upstream(t, echo('named'));
  const only = await serve(t, { flags: ['--upstream', `named=${named.url}`] }), none = await serve(t);
  for (const [server, model] of [[only, 'other/gpt-5'], [only, 'gpt-5'], [none, 'openai/gpt-5']]) {
    await assert.rejects(server.client().chat.completions.create({ model, messages }), (error) =>
      error.status === 404 && error.code === 'model_not_found' && error.param === 'model' &&
      error.message.includes(model) && error.message.includes('--upstream'));
  }
});

test('without an upstream only rememberd/demo answers: every other model is an error that says what to do, at each API', async (t) => {
  const server = await serve(t), model = 'gpt-4o', built = 'rememberd/demo';
  const codes = { '/v1/chat/completions': 404, '/v1/messages': 404, '/v1/messages/count_tokens': 404, '/v1/responses': 404, '/api/chat': 501 };
  const shown = { '/v1/messages': (body) => [body.type, body.error.type, body.error.message], '/api/chat': (body) => ['error', 'error', body.error] };
  for (const [at, code] of Object.entries(codes)) {
    for (const headers of [{}, { 'x-memory-mode': 'off' }]) {
      const res = await server.ask('POST', at, { model, messages, input: 'hi', max_tokens: 9 }, headers);
      assert.equal(res.status, code, `${at}: ${res.text}`);
      const [type, kind, said] = (shown[at.replace('/count_tokens', '')] ?? ((body) => ['error', body.error.code, body.error.message]))(res.json());
      assert.deepEqual([type, kind], ['error', { '/v1/messages': 'not_found_error', '/api/chat': 'error' }[at.replace('/count_tokens', '')] ?? 'model_not_found']);
      for (const words of [`'${model}'`, '--upstream URL', built]) assert.ok(said.includes(words), said);
    }
    assert.equal((await server.ask('POST', at, { model: built, messages, input: 'hi', max_tokens: 9 })).status, 200, at);
    const unnamed = await server.ask('POST', at, { messages, input: 'hi', max_tokens: 9 });
    assert.equal(unnamed.status, code, at);
    assert.match(unnamed.text, /--upstream URL.*rememberd\/demo/);
  }
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0, 'nothing of a refused chat is kept');
});

test('the built-in model answers by its name even with an upstream', async (t) => {
  const model = await upstream(t, echo('m'));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  for (const headers of [{}, { 'x-memory-mode': 'off' }])
    assert.equal((await server.chat({ model: 'rememberd/demo', messages }, headers)).json().model, 'rememberd/demo');
  assert.equal((await server.chat('{"model":"rememberd\\/demo","messages":[{"role":"user","content":"hi"}]}', { 'x-memory-mode': 'off' })).json().model, 'rememberd/demo');
  assert.equal(model.asked.length, 0);
});

test('models, embeddings and everything else of /v1 pass through', async (t) => {
  const first = await upstream(t, echo('first')), second = await upstream(t, echo('second'));
  const server = await serve(t, { flags: ['--upstream', first.url, '--upstream', `second=${second.url}`] });
  const client = server.client();
  assert.equal((await client.models.list()).data[0].id, 'first-model');
  assert.equal(first.last().url, '/v1/models');
  await client.models.retrieve('gpt-5');
  assert.equal(first.last().url, '/v1/models/gpt-5');
  await client.models.retrieve('second/gpt 5');
  assert.equal(second.last().url, '/v1/models/gpt%205');
  const embedded = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'], encoding_format: 'float' });
  assert.equal(embedded.data.length, 1);
  assert.deepEqual(first.last().json, { model: 'text-embedding-3-small', input: ['a', 'b'], encoding_format: 'float' });
  await client.embeddings.create({ model: 'second/e', input: 'a', encoding_format: 'float' });
  assert.equal(second.last().json.model, 'e');
  await client.completions.create({ model: 'x', prompt: 'p' });
  assert.equal(first.last().url, '/v1/completions');
  await client.responses.create({ model: 'second/x', input: 'p' }).catch(() => {});
  assert.equal(second.last().url, '/v1/responses');
  assert.equal(second.last().json.model, 'x');
  await client.files.list({ limit: 3 }).catch(() => {});
  assert.equal(first.last().url, '/v1/files?limit=3');
  await client.files.delete('file-1').catch(() => {});
  assert.equal(first.last().method, 'DELETE');
  for (const path of ['/v1/chat/completions?limit=1', '/v1/chat/completions/chatcmpl-1', '/v1/chat/completions/chatcmpl-1/messages']) {
    await server.ask('GET', path);
    assert.equal(first.last().url, path, 'only whole paths of ours stay here');
  }
  const asked = first.asked.length;
  for (const path of ['/v1/memories/search', '/v1/memories/a/b', '/v1/receipts/a/b'])
    assert.equal((await server.ask('POST', path, '{"a":"private"}')).status, path.endsWith('search') ? 400 : 404, path);
  assert.equal(first.asked.length, asked, 'a slip in a path of ours goes nowhere');
  const form = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n\x00\xff\r\n--b--\r\n', 'latin1');
  await server.ask('POST', '/v1/audio/transcriptions', form, { 'content-type': 'multipart/form-data; boundary=b' });
  assert.deepEqual(first.last().body, form);
  assert.equal(first.last().headers['content-type'], 'multipart/form-data; boundary=b');
});

test('without an upstream the models are the built-in one, and the rest says what is missing', async (t) => {
  const client = (await serve(t)).client();
  const list = await client.models.list();
  assert.deepEqual(list.data.map((one) => one.id), ['rememberd/demo']);
  assert.equal((await client.models.retrieve('rememberd/demo')).owned_by, 'rememberd');
  await assert.rejects(client.models.retrieve('gpt-5'), (error) => error.status === 404 && error.code === 'model_not_found');
  await assert.rejects(client.embeddings.create({ model: 'e', input: 'a' }), (error) =>
    error.status === 404 && error.message.includes('--upstream'));
});

test('no path climbs out of the upstream\'s base', async (t) => {
  const model = await upstream(t, echo('first'));
  const server = await serve(t, { flags: ['--upstream', `${model.url}/tenant/v1`, '--upstream-key', 'sk-settings'] });
  for (const path of ['/v1/../admin', '/v1/../../admin', '/v1/%2e%2e/%2E%2e/admin', '/v1/models/..', '/v1/models/x%2F..%2F..%2Fadmin', '/v1/files/./x']) {
    const socket = net.connect(server.port, '127.0.0.1').setEncoding('utf8');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const piece of socket) text += piece;
    assert.match(text, /^HTTP\/1\.1 400 /, path);
  }
  assert.equal(model.asked.length, 0);
});
