// limits.test.js - how often, how much at one time, and how much in all: by connection, address, token and user.
'use strict';
const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const net = require('node:net');
const os = require('node:os');
const test = require('node:test');
const { Server, answer, bin, cleanEnv, run, serve, tempFolder, until, upstream } = require('./lib');

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const from = (address) => ({ 'x-forwarded-for': address });

async function tokenOf(data, ...more) {
  return JSON.parse((await run(['token', 'create', '--json', '--data', data, ...more])).stdout).token;
}

// The codes of so many requests at once, counted.
async function codes(n, ask) {
  const all = await Promise.all([...Array(n).keys()].map(ask)), counted = {};
  for (const res of all) counted[res.status] = (counted[res.status] ?? 0) + 1;
  return { counted, refused: all.find((res) => res.status === 429) };
}

test('requests per second are limited by token, in the words of each surface; this machine without one is not', async (t) => {
  const data = tempFolder();
  const open = await serve(t, { data, flags: ['--token-rate-max', '2', '--address-rate-max', '2', '--connection-rate-max', '2'] });
  assert.deepEqual((await codes(60, () => open.ask('GET', '/v1/memories'))).counted, { 200: 60 }, 'local, without a token');
  const token = await tokenOf(data, '--admin'), other = await tokenOf(data);
  const { counted, refused } = await codes(40, () => open.ask('GET', '/v1/memories', undefined, bearer(token)));
  assert.ok(counted[200] >= 10 && counted[200] <= 14 && counted[429] === 40 - counted[200], JSON.stringify(counted)); // five seconds of two
  assert.equal(refused.headers['retry-after'], '1');
  assert.match(refused.json().detail, /more than 2 requests per second with this token/);
  const omni = await open.ask('GET', '/api/memory', undefined, bearer(token));
  assert.equal(omni.status, 429);
  assert.deepEqual([typeof omni.json().requestId, /with this token/.test(omni.text)], ['string', true], omni.text); // OmniRoute's shape
  assert.equal((await open.ask('GET', '/v1/memories', undefined, bearer(other))).status, 200, 'another token is not slowed down');
  assert.ok(!open.stderr.includes('429'), 'and the log is not flooded');
  await until('it is made up for', async () => (await open.ask('GET', '/v1/memories', undefined, bearer(token))).status === 200, 3000);
});

test('requests per second are limited by address, which a proxy names', async (t) => {
  const server = await serve(t, { flags: ['--address-rate-max', '2'] });
  const { counted, refused } = await codes(30, (i) => server.ask('GET', '/v1/memories', undefined, from(`made.up.${i}, 203.0.113.9`)));
  assert.ok(counted[401] >= 10 && counted[401] <= 14 && counted[429] === 30 - counted[401], JSON.stringify(counted));
  assert.match(refused.json().detail, /more than 2 requests per second from this address/);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, from('203.0.113.10'))).status, 401);
  assert.equal((await server.ask('GET', '/v1/memories')).status, 200);
});

// The lines of the log about wrong credentials; nothing of the credentials is in it.
const noted = (server) => server.stderr.split('\n').filter((line) => line.includes('access.wrong_credential'));

test('wrong tokens are slowed and logged, on this machine too; right ones pass at once', async (t) => {
  const data = tempFolder();
  const token = await tokenOf(data);
  const server = await serve(t, { data, flags: ['--wrong-credentials-max', '3'] });
  const { counted, refused } = await codes(100, (i) => server.ask('GET', '/v1/memories', undefined, bearer(`rk_wrong${i}`)));
  assert.ok(counted[401] >= 3 && counted[401] <= 5 && counted[429] === 100 - counted[401], JSON.stringify(counted));
  assert.equal(refused.headers['retry-after'], '21');
  assert.match(refused.json().detail, /more than 3 wrong credentials per minute/);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, bearer(token))).status, 200);
  assert.equal((await server.ask('GET', '/v1/memories')).status, 401, 'a token that is missing is not a wrong one');
  const omni = await server.ask('GET', '/api/memory', undefined, { 'x-api-key': 'ctx_wrong' });
  assert.deepEqual([omni.status, typeof omni.json().requestId], [429, 'string'], omni.text);
  const signIn = (secret) => server.ask('POST', '/v1/sign-in', { token: secret });
  assert.equal((await signIn('rk_wrong')).status, 429);
  assert.equal((await signIn(token)).status, 429, 'the check is refused, or guessing would go on');
  assert.equal(noted(server).length, 1, server.stderr);
  await server.stop();
  const lines = noted(server);
  assert.equal(lines.length, 2, server.stderr);
  assert.match(lines[0], /address=local count=1$/);
  assert.match(lines[1], /address=local count=100$/);
  assert.ok(!/rk_|ctx_/.test(server.stderr));
});

test('wrong tokens are slowed by address and by account, however many addresses a proxy here names', async (t) => {
  const data = tempFolder();
  const made = JSON.parse((await run(['token', 'create', '--json', '--data', data, '--user', 'bob'])).stdout);
  const server = await serve(t, { data, flags: ['--wrong-credentials-max', '3'] });
  const ask = (address, secret) => server.ask('GET', '/v1/memories', undefined, { ...bearer(secret), ...from(address) });
  assert.equal((await run(['token', 'revoke', made.id, '--data', data])).code, 0);
  const account = await codes(20, (i) => ask(`198.51.100.${i}`, made.token));
  assert.ok(account.counted[401] >= 3 && account.counted[401] <= 4, JSON.stringify(account.counted));
  const one = await codes(20, (i) => ask(`2001:db8::${i.toString(16)}`, 'rk_wrong'));
  assert.ok(one.counted[401] >= 3 && one.counted[401] <= 4, 'a /64 is one address');
  const many = await codes(200, (i) => ask(i % 2 ? `203.0.113.${i}` : `10.0.0.${i}:4${i}`, 'rk_wrong'));
  assert.ok(many.counted[401] <= 48 && many.counted[401] >= 10, JSON.stringify(many.counted));
  await until('it is logged', () => noted(server).length >= 100);
  assert.ok(noted(server).some((line) => /address=198\.51\.100\.\d+ count=1 account="bob"$/.test(line)), noted(server)[0]);
  assert.ok(noted(server).some((line) => /address=2001:db8::\/64 count=1$/.test(line)));
});

test('requests at one time are limited, and count until their last byte', async (t) => {
  const waiting = [];
  const model = await upstream(t, (req, res, asked) => new Promise((done) => waiting.push(() => { answer(res, asked, 'fine'); done(); })));
  const server = await serve(t, { flags: ['--upstream', model.url, '--token-requests-max', '3'] });
  const token = await tokenOf(server.data);
  await until('a token is needed', async () => (await server.ask('GET', '/v1/models')).status === 401);
  const chats = [...Array(3)].map(() => server.chat({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }, bearer(token)));
  await until('three are asked', () => waiting.length === 3);
  const more = await server.ask('GET', '/v1/memories', undefined, bearer(token));
  assert.equal(more.status, 429);
  assert.match(more.text, /more than 3 requests at one time with this token/);
  for (const go of waiting) go();
  for (const chat of await Promise.all(chats)) assert.equal(chat.status, 200);
  await until('there is room again', async () => (await server.ask('GET', '/v1/memories', undefined, bearer(token))).status === 200);
});

test('made-up addresses do not push out what was counted for others', async (t) => {
  const data = tempFolder();
  await tokenOf(data);
  const server = await serve(t, { data, flags: ['--wrong-credentials-max', '3'] });
  const ask = (headers) => server.ask('GET', '/v1/memories', undefined, { ...bearer('rk_wrong'), ...headers });
  assert.equal((await codes(20, () => ask({}))).refused.status, 429);
  for (let i = 0; i < 60; i++) await codes(100, (k) => ask(from(`203.${i}.${k}.9`)));
  assert.equal((await ask({})).status, 429);
});

// An address of this machine that is not loopback stands for another machine.
const abroad = Object.values(os.networkInterfaces()).flat().find((one) => one.family === 'IPv4' && !one.internal)?.address;

test('connections of one address, and requests on one of them, are limited', { skip: abroad ? false : 'this machine has loopback addresses only' }, async (t) => {
  const data = tempFolder();
  await tokenOf(data, '--admin');
  const server = await serve(t, { data, flags: ['--listen', `${abroad}:0`, '--hosts', abroad, '--address-connections-max', '3', '--connection-rate-max', '2'] });
  const connect = async () => { const s = net.connect(server.port, abroad); await once(s, 'connect'); return s; };
  const sockets = [await connect(), await connect(), await connect()];
  let first = '', fourth = '';
  sockets[0].on('data', (bytes) => { first += bytes; });
  sockets[0].write(`GET /health HTTP/1.1\r\nHost: ${abroad}\r\n\r\n`.repeat(20));
  await until('twenty answers', () => (first.match(/HTTP\/1\.1 /g) ?? []).length === 20);
  const slow = (first.match(/HTTP\/1\.1 429/g) ?? []).length;
  assert.ok(slow >= 8 && slow <= 10, first);
  assert.match(first, /more than 2 requests per second on this connection/);
  const more = await connect();
  more.on('data', (bytes) => { fourth += bytes; });
  await until('it is refused', () => /^HTTP\/1\.1 429 /.test(fourth));
  assert.match(fourth, /more than 3 connections at one time from this address/);
  more.destroy();
  sockets[1].destroy();
  await until('there is room again', async () => {
    const again = await connect();
    again.write(`GET /health HTTP/1.1\r\nHost: ${abroad}\r\n\r\n`);
    const [bytes] = await once(again, 'data');
    again.destroy();
    return /^HTTP\/1\.1 200/.test(bytes);
  });
  for (const socket of sockets) socket.destroy();
});

// --- how much one user may store ---

test('where few files may be open, idle connections leave some for the database and the upstream', async (t) => {
  const model = await upstream(t), data = tempFolder();
  const child = spawn('sh', ['-c', 'ulimit -n 128; exec "$0" "$@"', bin, 'serve', '--listen', '127.0.0.1:0', '--data', data, '--upstream', model.url,
    '--log-level', 'warn'], { env: cleanEnv(data), stdio: ['ignore', 'pipe', 'pipe'] });
  const server = await new Server(child, data).ready();
  t.after(() => server.stop());
  await until('the warning', () => /warn http\.few_files limit=128 connections=16\n/.test(server.stderr));
  const idle = Array.from({ length: 200 }, () => net.connect(server.port, '127.0.0.1').on('error', () => {}));
  t.after(() => idle.forEach((one) => one.destroy()));
  await Promise.all(idle.map((one) => once(one, 'connect')));
  // As they all come at once, the next client may be refused, too.
  await until('the crowd is taken in', () => server.ask('GET', '/ready').then((res) => res.status === 200, () => false));
  const chat = (i) => server.chat({ model: 'm', messages: [{ role: 'user', content: `My dog number ${i} is called Rex.` }] });
  assert.deepEqual((await codes(8, chat)).counted, { 200: 8 });
  assert.deepEqual((await codes(8, () => server.ask('POST', '/v1/memories/search', { query: 'dog' }))).counted, { 200: 8 });
  assert.doesNotMatch(server.stderr, /Too many open files/);
});

test('a user over its limit cannot write more; chats go on without learning', async (t) => {
  const server = await serve(t, { flags: ['--user-memories-max', '3'] });
  const keep = (content, headers) => server.ask('POST', '/v1/memories', { content }, headers);
  for (const content of ['The red bicycle is in the cellar.', 'Rosalind has the spare key.', 'The rent is due on Mondays.']) assert.equal((await keep(content)).status, 201, content);
  const over = await keep('The heating engineer is called Piotr.');
  assert.equal(over.status, 403, over.text);
  assert.match(over.json().detail, /has 3 memories, and the limit is 3 \(setting user_memories_max\)/);
  assert.equal((await server.ask('POST', '/v1/memory/save', { content: 'More of it.' })).status, 403);
  assert.equal((await keep('My bicycle is blue.', { 'x-memory-user': 'anna' })).status, 201, 'of another user');
  const lines = [1, 2, 3, 4].map((n) => JSON.stringify({ kind: 'memory', id: `0000000${n}-0000-4000-8000-000000000000`, content: `Drawer ${n} is empty.` })).join('\n');
  assert.match((await server.ask('POST', '/v1/memories/import', lines, { 'x-memory-user': 'ben', 'content-type': 'application/jsonl' })).json().detail,
    /has 0 memories, and the limit is 3 \(setting user_memories_max\): no room for 4 more/);
  const say = (content) => server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content }] });
  for (const text of ['My dentist is Dr Amari.', 'My sister lives in Gent.']) {
    const chat = await say(text);
    assert.equal(chat.status, 200, chat.text);
    const receipt = await server.receipt(chat.headers['x-rememberd-receipt']);
    assert.match(receipt.reason, /not kept: this user has 3 memories/);
  }
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 3);
  assert.match((await server.ask('POST', '/v1/memories/search', { query: 'Who has the spare key?' })).text, /Rosalind/, 'what is there is found');
  assert.doesNotMatch((await server.ask('POST', '/v1/memories/search', { query: 'Who is my dentist?' })).text, /Amari/);
  await until('the log says so', () => server.stderr.includes('quota.reached'));
  assert.equal(server.stderr.match(/quota\.reached/g).length, 1, 'once');
  const [one] = (await server.ask('GET', '/v1/memories')).json().memories;
  assert.equal((await server.ask('DELETE', `/v1/memories/${one.id}`)).status, 200);
  assert.equal((await keep('The heating engineer is called Piotr.')).status, 201, 'after a deletion');
});

test('stored messages have a limit, too', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--user-messages-max', '4'] });
  const say = (content) => server.chat({ model: 'm', messages: [{ role: 'user', content }] });
  for (const n of [1, 2, 3, 4]) assert.equal((await say(`Message ${n} is about the number ${n}.`)).status, 200);
  await until('the limit is reached', () => server.stderr.includes('user_messages_max'));
  const ingest = await server.ask('POST', '/memory/ingest', { agent_id: 'a', conversation_id: 'c', turns: [{ user: 'One.', assistant: 'Two.' }] });
  assert.equal(ingest.status, 403, ingest.text);
  assert.match(ingest.text, /has 4 messages, and the limit is 4 \(setting user_messages_max\)/);
});

// [method, path, body]: what stores a text, in the words of each dialect.
const writes = (text) => [
  ['POST', '/v1/memories', { content: text }],
  ['POST', '/api/memory', { content: text, key: 'k', type: 'factual' }],
  ['POST', '/api/v1/memory', { content: text }],
  ['POST', '/v1/memory/save', { content: text }],
  ['POST', '/memory/ingest', { agent_id: 'a', conversation_id: 'c', turns: [{ user: text, assistant: 'Fine.' }] }],
  ['POST', '/v3/memories/add/', { messages: [{ role: 'user', content: text }], app_id: 'a', infer: false }],
  ['POST', '/v3/memories/add/', { messages: [{ role: 'user', content: text }], app_id: 'a' }],
  ['POST', '/v1/memory_tool', { command: 'create', path: '/memories/a.md', file_text: text }],
  ['POST', '/v1/memories/import', { kind: 'memory', id: 'f3c0c3c2-92b4-4f39-8a4e-0d3f2c1b7a10', content: text }],
  ['POST', '/v1/session', { app_id: 'x', metadata: { note: text } }],
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_add', arguments: { content: text } } }],
];

test('the bytes of a user\'s texts have a limit, in every dialect, also for changes', async (t) => {
  const server = await serve(t, { flags: ['--user-bytes-max', '400'] });
  const made = await run(['token', 'create', '--json', '--user', 'bob', '--space', 'default', '--data', server.data]);
  assert.equal(made.code, 0, made.stderr);
  const headers = { authorization: `Bearer ${JSON.parse(made.stdout).token}` }, ask = (method, path, body) => server.ask(method, path, body, headers);
  const full = /has \d+ bytes, and the limit is 400 \(setting user_bytes_max\)/;
  assert.equal((await ask('GET', '/v1/me')).json().bytes_max, 400);
  const first = await ask('POST', '/v1/memories', { content: 'The red bicycle is in the cellar.' });
  assert.equal(first.status, 201, first.text);
  for (const [method, path, body] of writes(`The spare key is with Rosalind. ${'It is a long story. '.repeat(20)}`)) {
    const res = await ask(method, path, body);
    assert.ok(res.status === 403 || path === '/mcp' || path === '/v1/memory_tool', `${path}: ${res.status} ${res.text}`);
    assert.match(res.text, full, path);
  }
  const { id } = first.json(), change = (content) => ask('PATCH', `/v1/memories/${id}`, { content });
  assert.match((await change('The red bicycle is in the cellar. '.repeat(12))).text, full);
  const tags = await ask('PATCH', `/v1/memories/${id}`, { tags: [...'abcdefgh'].map((c) => c.repeat(60)) });
  assert.match(tags.text, full);
  assert.match((await ask('POST', '/v1/memories/bulk', { action: 'change', ids: [id], change: { tags: [...'abcdefgh'].map((c) => c.repeat(60)) } })).text, full);
  assert.equal((await change('The red bicycle is in the cellar. '.repeat(10))).status, 200);
  const say = await ask('POST', '/v1/chat/completions', { model: 'rememberd/demo', messages: [{ role: 'user', content: 'My dentist is called Dr Amari, and the practice is in the Mill Lane.' }] });
  assert.equal(say.status, 200);
  assert.match((await server.receipt(say.headers['x-rememberd-receipt'], headers)).reason, /not kept: this user has \d+ bytes/);
  assert.equal((await change('The bicycle.')).status, 200, 'shorter is always possible');
  assert.equal((await ask('POST', '/v1/memories', { content: 'Rosalind has the spare key.' })).status, 201);
  assert.equal((await ask('DELETE', `/v1/memories/${id}`)).status, 200);
  const { stdout } = await run(['doctor', '--deep', '--json', '--data', server.data]);
  assert.doesNotMatch(stdout, /says \d+ bytes/);
});

test('an import counts what its memories have more than those that they update', async (t) => {
  const server = await serve(t, { flags: ['--user-bytes-max', '600'] });
  const memory = (id, text, day) => ({ id, memory: text, created_at: `2026-01-0${day}`, updated_at: `2026-01-0${day}` });
  const put = async (...list) => { const res = await server.ask('POST', '/v1/memories/import', list); return [res.status, res.text]; };
  const long = (word) => `The ${word} is in the cellar. `.repeat(8), rest = memory('b', 'Rosalind has the spare key.', 2);
  assert.equal((await put(memory('a', long('bicycle'), 1)))[0], 200);
  const [status, text] = await put(memory('a', long('bicycles'), 2), rest);
  assert.equal(status, 200, `an update that is hardly longer has room: ${text}`);
  const [refused, why] = await put(memory('a', long('bicycle').repeat(4), 3));
  assert.equal(refused, 403, why);
  assert.match(why, /has \d+ bytes, and the limit is 600 \(setting user_bytes_max\)/);
  const lines = [['1', `${long('ladder')}${'It is long. '.repeat(8)}`], ['2', 'The rent is due on Mondays.']].map(([id, content]) => `${JSON.stringify({ session: 's', id, content })}\n`);
  const said = (...v) => server.ask('POST', '/v1/memories/import?extract=false', v.join(''), { 'x-memory-user': 'anna' });
  assert.deepEqual((await said(lines[0])).json().messages, 1);
  const grown = await said(...lines);
  assert.equal(grown.json().messages, 1, `a conversation that has grown by a line: ${grown.text}`);
});

test('the values of a JSON body are limited, in the words of each surface', async (t) => {
  const server = await serve(t), many = 1_000_001;
  const ask = (path, head) => server.ask('POST', path, `${head}${'0,'.repeat(many - 1)}0]}`);
  const rule = /the JSON has more than 1000000 values/;
  const chat = await ask('/v1/chat/completions', '{"model":"m","messages":[');
  assert.deepEqual([chat.status, chat.json().error.code], [413, 'request_too_large'], chat.text);
  assert.match(chat.json().error.message, rule);
  const messages = await ask('/v1/messages', '{"model":"m","max_tokens":9,"messages":[');
  assert.deepEqual([messages.status, messages.json().error.type], [413, 'request_too_large'], messages.text);
  assert.match(messages.json().error.message, rule);
  const kept = await ask('/v1/memories', '{"content":"My bicycle is blue.","tags":[');
  assert.deepEqual([kept.status, kept.json().code], [413, 'too_large'], kept.text);
  assert.match(kept.json().detail, rule);
});

test('a large body of few values is no problem', async (t) => {
  const server = await serve(t);
  const floats = Array.from({ length: 300_000 }, (_, i) => i / 7);
  const chat = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'word '.repeat(200_000) }, { role: 'user', content: 'hi' }], extra: floats });
  assert.equal(chat.status, 200, chat.text);
});

test('a server that the system gives too little memory says so', () => {
  const script = `ulimit -v $1; exec ${JSON.stringify(bin)} serve --listen 127.0.0.1:0 --data ${JSON.stringify(tempFolder())}`;
  const ended = [50000, 60000, 70000, 80000, 90000, 100000, 120000].map((limit) => spawnSync('sh', ['-c', script, 'sh', String(limit)], { env: cleanEnv(), encoding: 'utf8', timeout: 1500 }));
  const aborted = ended.filter((one) => one.signal === 'SIGABRT');
  assert.ok(aborted.length > 1, JSON.stringify(ended));
  for (const { stderr } of aborted) assert.match(stderr, /^rememberd: (cannot start a thread|out of memory)/m);
});
