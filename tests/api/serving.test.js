// serving.test.js - a unix socket, and a reverse proxy in front: the real curl and the real nginx.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const test = require('node:test');
const { Server, answer, bin, cleanEnv, run, serve, tempFolder, until, upstream } = require('./lib');
const { nginx } = require('./nginx');

async function program(name, args) {
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '', stderr = '';
  child.stdout.on('data', (text) => (stdout += text));
  child.stderr.on('data', (text) => (stderr += text));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

const json = async (...args) => JSON.parse((await program('curl', ['-sS', '--max-time', '10', ...args])).stdout);

// --- a unix socket ---

async function serveAt(t, file, flags = [], data = tempFolder()) {
  const child = spawn(bin, ['serve', '--listen', `unix:${file}`, '--data', data, '--log-level', 'warn', ...flags],
    { env: cleanEnv(data), stdio: ['ignore', 'pipe', 'pipe'] });
  const server = new Server(child, data);
  t.after(() => server.stop('SIGKILL'));
  await Promise.race([until('listening', () => server.stdout.includes('try: ')), server.exited.then(() => { throw new Error(server.stderr); })]);
  return server;
}

test('a unix socket is listened on: for this user, counted as this machine, removed at the end', async (t) => {
  const file = path.join(tempFolder(), 'memory.sock');
  const server = await serveAt(t, file);
  assert.match(server.stdout, new RegExp(`^listening on unix:${file}\n`));
  assert.match(server.stdout, new RegExp(`try: curl --unix-socket ${file} http://localhost/v1/chat/completions`));
  assert.equal((fs.statSync(file).mode & 0o777).toString(8), '600');
  const made = await json('--unix-socket', file, 'http://localhost/v1/memories', '--json', '{"content":"The spare key is at Rosalind\'s."}');
  assert.match(made.content, /Rosalind/);
  const big = path.join(tempFolder(), 'big.json'); // more than the socket's buffers hold at one time
  fs.writeFileSync(big, JSON.stringify({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'x'.repeat(3 << 20) }] }));
  assert.ok((await json('--unix-socket', file, 'http://localhost/v1/chat/completions', '--json', `@${big}`)).choices[0].message.content);
  const abroad = await json('--unix-socket', file, 'http://localhost/v1/memories', '-H', 'X-Forwarded-For: 203.0.113.9');
  assert.match(abroad.detail, /a token is needed/);
  await run(['token', 'create', '--data', server.data]);
  assert.match((await json('--unix-socket', file, 'http://localhost/v1/memories')).detail, /token/);
  assert.equal((await server.stop()).code, 0);
  assert.ok(!fs.existsSync(file), 'the file is gone');
});

test('a port in use is refused before anything is made, and a socket may lie in the data folder', async (t) => {
  const first = await serve(t), data = path.join(tempFolder(), 'new');
  const second = await run(['serve', '--listen', `127.0.0.1:${first.port}`, '--data', data]);
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(`^rememberd serve: 127\\.0\\.0\\.1:${first.port} is in use by another program$`, 'm'));
  assert.equal(fs.existsSync(data), false, 'nothing is left');
  const inside = path.join(data, 'memory.sock');
  const third = await serveAt(t, inside, [], data);
  assert.equal((await json('--unix-socket', inside, 'http://localhost/v1/memories')).total, 0);
  assert.equal((await third.stop()).code, 0);
});

test('a socket file is replaced only if nobody listens there', async (t) => {
  const folder = tempFolder(), file = path.join(folder, 'memory.sock');
  const first = await serveAt(t, file, ['--socket-mode', '660']);
  assert.equal((fs.statSync(file).mode & 0o777).toString(8), '660');
  const second = await run(['serve', '--listen', `unix:${file}`, '--data', tempFolder()]);
  assert.deepEqual([second.code, /in use by another program/.test(second.stderr)], [1, true], second.stderr);
  assert.equal((await json('--unix-socket', file, 'http://localhost/v1/memories')).total, 0, 'the first one goes on');
  await first.stop('SIGKILL');
  assert.ok(fs.existsSync(file), 'it was killed and left its file');
  const third = await serveAt(t, file);
  assert.equal((await json('--unix-socket', file, 'http://localhost/v1/memories')).total, 0);
  fs.renameSync(file, `${file}.old`);
  const other = net.createServer().listen(file);
  await once(other, 'listening');
  assert.equal((await third.stop()).code, 0);
  assert.ok(fs.existsSync(file), 'a socket of another program stays');
  other.close();
  const text = path.join(folder, 'text');
  fs.writeFileSync(text, 'mine');
  for (const [at, words] of [[text, /exists and is not a socket/], [`/${'x'.repeat(120)}`, /1 to 107 bytes/], [path.join(folder, 'no/where'), /No such file/]]) {
    const refused = await run(['serve', '--listen', `unix:${at}`, '--data', tempFolder()]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, words);
  }
  assert.equal(fs.readFileSync(text, 'utf8'), 'mine');
});

// --- who is on this machine ---

// One request as raw bytes; the code of the answer.
async function codeOf(port, head) {
  const socket = net.connect(port, '127.0.0.1');
  socket.end(head.replaceAll('\n', '\r\n') + '\r\n\r\n');
  let text = '';
  for await (const part of socket) text += part;
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)[1]);
}

test('what may come through a proxy is not counted as local', async (t) => {
  const server = await serve(t, { flags: ['--hosts', 'memory.example.org'] });
  const heads = [
    [200, 'GET /v1/memories HTTP/1.1\nHost: localhost'],
    [200, 'GET /v1/memories HTTP/1.1\nHost: 127.0.0.1:7077'],
    [401, 'GET /v1/memories HTTP/1.0\nHost: 127.0.0.1:7077\nConnection: close'],
    [401, 'GET /v1/memories HTTP/1.0'],
    [401, 'GET /v1/memories HTTP/1.1\nHost: memory.example.org'],
    [401, 'GET /v1/memories HTTP/1.1\nHost: localhost\nX-Forwarded-For: 203.0.113.9'],
    [401, 'GET /v1/memories HTTP/1.1\nHost: localhost\nVia: 1.1 proxy'],
    [403, 'GET /v1/memories HTTP/1.1\nHost: evil.example.org'],
    [200, 'GET /health HTTP/1.0'],
  ];
  for (const [code, head] of heads) assert.equal(await codeOf(server.port, `${head}\nX-End: 1`), code, head);
});

test('with --require-token on every request needs a token, also the first', async (t) => {
  const server = await serve(t, { flags: ['--require-token', 'on'] });
  assert.equal((await server.ask('GET', '/v1/memories')).status, 401);
  assert.equal((await server.ask('POST', '/v1/users', { id: '770e8400-e29b-41d4-a716-446655440000', email: 'a@example.com' })).status, 403);
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--data', server.data])).stdout);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { authorization: `Bearer ${token}` })).status, 200);
  assert.match(server.stdout, /access: with a token/);
});

// --- nginx ---

/** A server of nginx with these lines beside and in its location. */
async function proxied(t, top, location) {
  return (await nginx(t, (port) => `${top} server { listen 127.0.0.1:${port}; location / { ${location} } }`)).url;
}

// The lines of a block of docs/serving.md, without its outer braces.
function documented(what) {
  const text = fs.readFileSync(path.join(__dirname, '../../docs/serving.md'), 'utf8');
  const found = [...text.matchAll(/```nginx\n([\s\S]*?)```/g)].map((one) => one[1]).find((one) => one.includes(what));
  assert.ok(found, `docs/serving.md has no block with ${what}`);
  return found;
}

test('nginx\'s own defaults reach nothing without a token', async (t) => {
  const server = await serve(t);
  assert.equal((await server.ask('GET', '/v1/memories')).status, 200, 'this machine needs none');
  const front = await proxied(t, '', `proxy_pass http://127.0.0.1:${server.port};`);
  const res = await fetch(`${front}/v1/memories`);
  assert.equal(res.status, 401, await res.text());
  const file = path.join(tempFolder(), 's');
  await serveAt(t, file);
  const behind = await proxied(t, '', `proxy_pass http://unix:${file};`);
  assert.equal((await fetch(`${behind}/v1/memories`)).status, 401);
});

/** A model server whose stream ends when go() of what comes back is called. */
async function slowModel(t) {
  const end = {};
  const model = await upstream(t, async (req, res, asked) => {
    if (!asked.json?.stream) return answer(res, asked, 'fine');
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: {"choices":[{"index":0,"delta":{"content":"first"},"finish_reason":null}]}\n\n');
    await new Promise((done) => (end.go = done)); // until the client has the first word
    res.end('data: [DONE]\n\n');
  });
  return Object.assign(end, { url: model.url });
}

/** A streamed chat by curl: its first word must come before the answer is whole. */
async function streamsThrough(front, headers, model) {
  const child = spawn('curl', ['-sSN', '--max-time', '20', `${front}/v1/chat/completions`, ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    '-d', JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] })]);
  let streamed = '';
  child.stdout.on('data', (text) => (streamed += text));
  await until('the first word came before the answer was whole', () => streamed.includes('first'));
  model.go();
  await once(child, 'close');
  assert.match(streamed, /\[DONE\]/);
}

test('nginx with its own defaults does not hold a streamed chat back', async (t) => {
  const model = await slowModel(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--data', server.data])).stdout);
  const front = await proxied(t, '', `proxy_pass http://127.0.0.1:${server.port};`);
  await streamsThrough(front, { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, model);
});

test('nginx as docs/serving.md sets it up: token, address, stream, long bodies', async (t) => {
  const model = await slowModel(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--hosts', 'memory.example.org'] });
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--data', server.data])).stdout);
  await until('a token is needed', async () => (await server.ask('GET', '/v1/memories')).status === 401);
  const lines = documented('proxy_buffering').replace(/server 127\.0\.0\.1:7077/, `server 127.0.0.1:${server.port}`);
  const [, top] = /(upstream rememberd \{[\s\S]*?\n\})/.exec(lines), [, location] = /location \/ \{([\s\S]*?)\n {4}\}/.exec(lines);
  const front = await proxied(t, top, location);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', host: 'memory.example.org' };
  const ask = (target, body) => program('curl', ['-sS', '--max-time', '20', '-w', '\n%{http_code}', `${front}${target}`,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]), ...(body ? ['-d', `@${body}`] : [])]);
  assert.match((await ask('/v1/memories')).stdout, /\n200$/);
  assert.equal((await fetch(`${front}/v1/memories`)).status, 401, 'without the token');
  const big = path.join(tempFolder(), 'big.json');
  fs.writeFileSync(big, JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'y'.repeat(5 << 20) }] }));
  const long = await ask('/v1/chat/completions', big);
  assert.match(long.stdout, /\n200$/, long.stdout.slice(0, 300));
  await streamsThrough(front, headers, model);
});