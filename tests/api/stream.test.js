// stream.test.js - time: the first byte, leaving in the middle, ending the server while a stream runs.
'use strict';
const assert = require('node:assert/strict');
const { once } = require('node:events');
const http = require('node:http');
const test = require('node:test');
const { answer, chunk, serve, until, upstream } = require('./lib');

const body = (content) => ({ model: 'any', stream: true, messages: [{ role: 'user', content }] });

// Opens a stream and gives the response as it runs.
async function open(server, content) {
  const text = JSON.stringify(body(content));
  const req = http.request(`${server.url}/v1/chat/completions`, { method: 'POST', agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } });
  req.on('error', () => {});
  req.end(text);
  const [res] = await once(req, 'response');
  res.on('error', () => {});
  return { req, res };
}

test('a chunk is not held back until the next one comes', async (t) => {
  let confirmed;
  const model = await upstream(t, async (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < 5; i++) {
      const seen = new Promise((done) => (confirmed = done));
      res.write(chunk({ content: `part ${i}` }));
      await seen; // the next one is sent only when the client has this one
    }
    res.end('data: [DONE]\n\n');
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const stream = await server.client().chat.completions.create(body('Tell me a story.'));
  let n = 0;
  for await (const part of stream) {
    assert.equal(part.choices[0].delta.content, `part ${n++}`);
    confirmed();
  }
  assert.equal(n, 5);
});

test('the head of a slow answer is passed on before its body', async (t) => {
  let go;
  const model = await upstream(t, async (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    await new Promise((done) => (go = done));
    res.end('data: [DONE]\n\n');
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const { res } = await open(server, 'hello');
  assert.equal(res.statusCode, 200);
  go();
  res.resume();
  await once(res, 'end');
});

test('a client that leaves cancels the upstream; its words are kept, the broken answer is not', async (t) => {
  let cancelled;
  const gone = new Promise((done) => (cancelled = done));
  const model = await upstream(t, (req, res, asked) => {
    if (!asked.json.messages[0].content.includes('parrot')) return answer(res, asked, 'fine');
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'Your parrot zyzzyva is' }));
    res.on('close', cancelled); // and nothing more is ever sent
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const { req, res } = await open(server, 'My parrot is called Polly.');
  const receipt = res.headers['x-rememberd-receipt'];
  await once(res, 'data');
  req.destroy();
  await gone;
  await server.receipt(receipt);
  const search = async (query) => (await server.ask('POST', '/v1/memories/search', { query })).json().results;
  assert.ok((await search('parrot Polly')).some((one) => one.text === 'My parrot is called Polly.'));
  assert.deepEqual((await search('zyzzyva')).filter((one) => /zyzzyva/.test(one.text)), []);
});

test('an upstream that breaks off in the middle breaks off the client, too', async (t) => {
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'half' }), () => res.destroy());
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const stream = await server.client().chat.completions.create(body('hello'));
  await assert.rejects(async () => {
    for await (const part of stream) assert.equal(part.choices[0].delta.content, 'half');
  });
});

test('a stream that runs when the server is told to stop is finished first', async (t) => {
  let go, words = 0;
  const model = await upstream(t, async (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'one' }));
    await new Promise((done) => (go = done));
    res.write(chunk({ content: 'two' }));
    res.end('data: [DONE]\n\n');
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const stream = await server.client().chat.completions.create(body('My parrot is called Polly.'));
  const parts = stream[Symbol.asyncIterator]();
  await parts.next();
  server.child.kill('SIGTERM');
  await until('refusing connections', () => fetch(`${server.url}/ready`).then(() => false, () => true));
  go();
  for (let part = await parts.next(); !part.done; part = await parts.next()) words++;
  assert.equal(words, 1);
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  // The turn that ended during the shut-down is kept.
  const again = await serve(t, { data: server.data });
  const found = (await again.ask('POST', '/v1/memories/search', { query: 'parrot' })).json().results;
  assert.ok(found.some((one) => one.text === 'My parrot is called Polly.'));
});

test('a second signal cuts what still runs', async (t) => {
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'one' })); // and never ends
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--shutdown-ms', '60000'] });
  const { res } = await open(server, 'hello');
  await once(res, 'data');
  server.child.kill('SIGTERM');
  await until('refusing connections', () => fetch(`${server.url}/ready`).then(() => false, () => true));
  server.child.kill('SIGTERM');
  const { code } = await server.exited;
  assert.equal(code, 1);
});

test('the deadline of the shut-down cuts a stream that never ends', async (t) => {
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'one' }));
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--shutdown-ms', '200'] });
  const { res } = await open(server, 'hello');
  await once(res, 'data');
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('an upstream that says nothing is given up in time', async (t) => {
  const model = await upstream(t, () => {});
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-timeout-ms', '200'] });
  await assert.rejects(server.client().chat.completions.create(body('hello')), (error) => error.status === 504);
});
