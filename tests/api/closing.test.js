// closing.test.js - doors that close: who may register, keys that go nowhere else, secrets that nobody else reads.
'use strict';
const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const test = require('node:test');
const { run, serve, tempFolder, until, upstream } = require('./lib');

const Q = '/api/settings/qdrant';
const bearer = (token) => ({ authorization: `Bearer ${token}` });
const newcomer = (n = 0) => ({ id: `770e8400-e29b-41d4-a716-44665544000${n}`, email: `new${n}@example.com` });

async function tokenOf(data, ...more) {
  const made = await run(['token', 'create', '--json', '--data', data, ...more]);
  assert.equal(made.code, 0, made.stderr);
  return JSON.parse(made.stdout).token;
}

test('registration auto is closed as soon as requests need a token', async (t) => {
  const server = await serve(t);
  const first = await server.ask('POST', '/v1/users', newcomer(0));
  assert.equal(first.status, 201, first.text);
  const admin = await tokenOf(server.data, '--admin');
  const late = await server.ask('POST', '/v1/users', newcomer(1));
  assert.equal(late.status, 403, late.text);
  assert.match(late.text, /registration is closed/);
  assert.equal((await server.ask('POST', '/v1/users', newcomer(1), bearer(admin))).status, 201);
  assert.equal((await server.ask('POST', '/v1/users', newcomer(0), bearer(first.json().access_token))).status, 201, 'of its own');
});

// --- the key of Qdrant ---

test('a stored key of Qdrant stays with the server that it was given for', async (t) => {
  const qdrant = [];
  const [one, other] = [await listener(t, qdrant), await listener(t, qdrant)];
  const server = await serve(t);
  const put = async (body, status = 200) => {
    const res = await server.ask('PUT', Q, body);
    assert.equal(res.status, status, `${JSON.stringify(body)}: ${res.text}`);
    return res.json();
  };
  await put({ enabled: true, host: '127.0.0.1', port: one, apiKey: 'the-key-of-one' });
  for (const moved of [{ port: other }, { host: 'localhost' }, { host: `http://127.0.0.1:${other}` }, { host: '' }]) {
    const said = await put(moved, 400);
    assert.deepEqual(said.details.map((d) => d.field), ['apiKey'], JSON.stringify(moved));
    assert.match(said.details[0].message, /needed again/);
  }
  assert.equal((await server.ask('GET', Q)).json().port, one, 'nothing has changed');
  await put({ port: one, collection: 'another' }); // the same server: the key stays
  await put({ port: other, apiKey: '' });
  await server.ask('GET', `${Q}/health`);
  assert.ok(qdrant.some((r) => r.port === other), 'the other one was asked');
  assert.ok(!qdrant.some((r) => r.port === other && r.key), 'and never with the key');
});

test('a key of Qdrant from a setting is for the host of the settings', async (t) => {
  const seen = [];
  const [one, other] = [await listener(t, seen), await listener(t, seen)];
  const data = tempFolder();
  const start = (port) => serve(t, { data, flags: ['--qdrant-host', '127.0.0.1', '--qdrant-port', String(port)], env: { REMEMBERD_QDRANT_API_KEY: 'key-of-the-setting' } });
  let server = await start(one);
  assert.equal((await server.ask('PUT', Q, { enabled: true })).status, 200);
  assert.equal((await server.ask('PUT', Q, { port: other })).status, 400);
  assert.equal((await server.ask('PUT', Q, { port: other, apiKey: '' })).json().hasApiKey, false);
  await server.stop();
  server = await start(one); // the stored port wins over the setting's, and the setting's key is not for it
  assert.equal((await server.ask('GET', Q)).json().hasApiKey, false);
  await server.ask('GET', `${Q}/health`);
  assert.ok(seen.some((r) => r.port === other) && !seen.some((r) => r.port === other && r.key), JSON.stringify(seen));
  assert.equal((await server.ask('PUT', Q, { port: one })).json().hasApiKey, true, 'back at the host of the settings');
  assert.equal((await server.ask('PUT', Q, { apiKey: 'stored-for-one' })).status, 200);
  await server.stop();
  server = await start(other); // the settings moved; the stored key stays where it was given
  const now = (await server.ask('GET', Q)).json();
  assert.deepEqual([now.port, now.hasApiKey], [one, true]);
});

async function listener(t, seen) {
  const server = await upstream(t, (req, res) => {
    seen.push({ port: server.port, key: req.headers['api-key'] });
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"result":{}}');
  });
  return server.port;
}

// --- secrets that others could read ---

test('no secret stays in the arguments of the process', async (t) => {
  const secrets = { '--upstream-key': 'sk-argument-one', '--qdrant-api-key': 'qd-argument-two', '--encryption-key': '0'.repeat(63) + '7' };
  const model = await upstream(t);
  for (const join of [(name, value) => [name, value], (name, value) => [`${name}=${value}`]]) {
    const flags = Object.entries(secrets).flatMap(([name, value]) => join(name, value));
    const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
    const line = fs.readFileSync(`/proc/${server.child.pid}/cmdline`, 'latin1');
    for (const [name, value] of Object.entries(secrets)) {
      assert.ok(line.includes(name), line);
      assert.ok(!line.includes(value) && !line.includes(value.slice(1)), `${name} is still there: ${line}`);
    }
    assert.equal((await server.ask('GET', '/v1/models')).status, 200);
    assert.equal(model.last().headers.authorization, 'Bearer sk-argument-one', 'and it is used');
  }
});

test('a key that an upstream repeats is in no log and in no answer', async (t) => {
  const key = 'sk-operator-0123456789abcdef';
  const said = `{"error":{"message":"Incorrect API key provided: ${key}. Get one."}}`;
  const model = await upstream(t, async (req, res) => {
    const whole = req.url.includes('models');
    res.writeHead(401, { 'content-type': 'application/json', 'x-seen': `Bearer ${key}`, ...(whole ? { 'content-length': said.length } : {}) });
    if (whole) return res.end(said);
    for (const part of [said.slice(0, 60), said.slice(60, 70), said.slice(70)]) { // the key comes in three pieces
      res.write(part);
      await new Promise((done) => setTimeout(done, 30));
    }
    res.end();
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-key', key, '--core-model', 'any', '--embedding-source', 'remote',
    '--embedding-model', 'any', '--log-level', 'debug'] });
  const answers = [await server.ask('GET', '/v1/models'), await server.chat({ model: 'm', messages: [{ role: 'user', content: 'My dog is called Rex.' }] }),
    await server.ask('POST', '/v1/embeddings', { model: 'm', input: 'x' }),
    await server.ask('POST', '/v1/chat', { messages: [{ role: 'user', content: 'My cat is called Tom.' }] })];
  for (const res of answers.slice(0, 3)) {
    assert.equal(res.status, 401);
    assert.equal(res.json().error.message, `Incorrect API key provided: ${'*'.repeat(key.length)}. Get one.`);
  }
  await server.ask('POST', '/v1/memories', { content: 'My neighbour is called Rosalind.' });
  await until('the model was asked in the background', () => server.stderr.includes('401') && model.asked.length > 4);
  const status = [await server.ask('GET', '/memory/status'), await server.ask('GET', '/api/memory/engine-status')];
  for (const res of [...answers, ...status]) assert.ok(!(JSON.stringify(res.headers) + res.text).includes(key), res.text);
  assert.ok(!server.stderr.includes(key), server.stderr);
  assert.equal((await server.ask('GET', '/v1/models', undefined, { 'x-upstream-authorization': `Bearer ${key}x` })).status, 401);
});

// --- addresses that are not called ---

test('link-local and metadata addresses are not called, whatever names them', async (t) => {
  for (const url of ['http://169.254.169.254/v1', 'http://[fe80::1]/v1', 'm=http://[fd00:ec2::254]', 'http://[::ffff:169.254.169.254]']) {
    const refused = await run(['serve', '--listen', '127.0.0.1:0', '--data', tempFolder(), '--upstream', url]);
    assert.deepEqual([refused.code, /link-local.*allow_addresses/.test(refused.stderr)], [2, true], url + refused.stderr);
  }
  // Written so that only the connection shows it: 2852039166 is 169.254.169.254.
  const server = await serve(t, { flags: ['--upstream', 'http://2852039166', '--embedding-source', 'remote', '--embedding-model', 'any'] });
  const chat = await server.chat({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  assert.equal(chat.status, 502, chat.text);
  assert.match(chat.text, /169\.254\.169\.254 is a link-local address/);
  for (const [host, words] of [['169.254.169.254', /link-local/], ['http://x/?y', /query/], ['u:p@x', /user or password/], ['x/..', /'\.\.'/], ['x:99999', /port/]]) {
    const res = await server.ask('PUT', Q, { enabled: true, host });
    assert.equal(res.status, 400, `${host}: ${res.text}`);
    assert.equal(res.json().details[0].field, 'host');
    assert.match(res.json().details[0].message, words);
  }
  assert.equal((await server.ask('PUT', Q, { enabled: true, host: '0xa9fea9fe' })).status, 200);
  const health = (await server.ask('GET', `${Q}/health`)).json();
  assert.equal(health.ok, false);
  assert.match(health.error, /169\.254\.169\.254 is a link-local address/);
});

test('an address that allow_addresses names is accepted', async () => {
  for (const [allowed, code] of [['169.254.0.77', 0], ['10.0.0.1, 169.254.0.77', 0], ['169.254.0.7', 2]]) {
    const shown = await run(['serve', '--print-settings', '--upstream', 'http://169.254.0.77:9', '--allow-addresses', allowed]);
    assert.equal(shown.code, code, shown.stderr);
  }
});

// --- credentials before the body ---

// Sends a head and parts of a body that never ends; gives what came back until the server closed.
async function begun(port, head, ...parts) {
  const socket = net.connect(port, '127.0.0.1');
  let text = '';
  const closed = new Promise((done) => socket.on('close', done).on('error', () => {}).on('data', (bytes) => { text += bytes; }));
  socket.write(head.replaceAll('\n', '\r\n') + '\r\n\r\n');
  for (const part of parts) socket.write(part);
  await until('an answer', () => /^HTTP\/1\.1 [2-5]/.test(text) || /100 Continue/.test(text));
  const answered = text;
  socket.end();
  await closed;
  return answered;
}

const head = (target, ...lines) => [`POST ${target} HTTP/1.1`, 'Host: localhost', ...lines].join('\n');
const chunk = (n) => `${n.toString(16)}\r\n${'x'.repeat(n)}\r\n`;

test('a request without a valid token is refused before its body is taken in', async (t) => {
  const server = await serve(t, { flags: ['--require-token', 'on'] });
  const token = await tokenOf(server.data), operator = await tokenOf(server.data, '--admin'), long = 'Content-Length: 20000000', auth = `Authorization: Bearer ${token}`;
  const cases = [
    [401, head('/v1/memories', long)],
    [401, head('/v1/chat/completions', long, 'Authorization: Bearer rk_wrong')],
    [401, head('/v1/memories', long, 'Expect: 100-continue')],
    [401, head('/mcp', 'Transfer-Encoding: chunked'), chunk(40000), chunk(40000)],
    [403, head('/memory/config', long, auth).replace('POST', 'PUT')],
    [404, head('/nothing/here', long)],
    [413, head('/v1/users', long)],
    [413, head('/health', long).replace('POST', 'GET')],
    [100, head('/v1/memories', long, 'Expect: 100-continue', auth)],
    [401, head('/v1/memories', long, `Authorization: Bearer ${operator}x`)],
  ];
  for (const [code, ...sent] of cases) assert.match(await begun(server.port, ...sent), new RegExp(`^HTTP/1\\.1 ${code} `), sent[0]);
  assert.match(await begun(server.port, head('/v1/memories', long)), /"detail":.*token/, 'in the words of the surface');
});

test('a long body of someone who may send it comes in whole, also behind and in front of other requests', async (t) => {
  const server = await serve(t, { flags: ['--require-token', 'on'] });
  const token = await tokenOf(server.data), lines = ['Host: localhost', `Authorization: Bearer ${token}`];
  const text = JSON.stringify({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'Tea is fine. '.repeat(400000) }] });
  const socket = net.connect(server.port, '127.0.0.1');
  let got = '';
  socket.on('data', (bytes) => { got += bytes; });
  const get = ['GET /v1/memories HTTP/1.1', ...lines, '', ''].join('\r\n');
  const post = ['POST /v1/chat/completions HTTP/1.1', ...lines, `Content-Length: ${text.length}`, '', text].join('\r\n');
  const chunked = ['POST /v1/chat/completions HTTP/1.1', ...lines, 'Transfer-Encoding: chunked', '', ''].join('\r\n') +
    (text.match(/[\s\S]{1,100000}/g)).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('') + '0\r\n\r\n';
  for (const request of [get, post, get, chunked, get]) socket.write(request);
  await until('five answers', () => (got.match(/HTTP\/1\.1 200/g) ?? []).length === 5, 20000);
  assert.ok(!/HTTP\/1\.1 [45]/.test(got));
  socket.write(post);
  socket.end(get.slice(0, 20)); // half closed behind a whole request: it is still answered
  await until('one more', () => (got.match(/HTTP\/1\.1 200/g) ?? []).length === 6, 20000);
  const half = net.connect(server.port, '127.0.0.1');
  half.end(post.slice(0, 300000)); // a body that ends early leaves nothing behind
  await once(half.resume(), 'close');
});
