// away.test.js - PostgreSQL is killed, restarted or hangs: chats go on at once, probes tell, and all is right after.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const http = require('node:http');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, until, upstream, withTokens } = require('../api/lib');
const cluster = require('./cluster');

const question = { model: 'm', messages: [{ role: 'user', content: 'What is my dog called?' }] };
const note = { content: 'My dog is called Rex.' };
const options = { skip: cluster.missing };

test.beforeEach(async () => cluster.missing || cluster.isUp() || cluster.start());



const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const isReady = (server) => until('readiness', async () => (await server.ask('GET', '/ready')).status === 200, 30000);
const isAway = (server) => until('the probe tells', async () => (await server.ask('GET', '/ready')).status === 503, 30000);

async function withMemory(server, model) {
  const chat = await server.chat(question);
  assert.equal(chat.status, 200, chat.text);
  assert.match(JSON.stringify(model.last().json), /Rex/);
}

async function withoutMemory(server, model) {
  const chat = await server.chat(question);
  assert.equal(chat.status, 200, chat.text);
  assert.deepEqual(model.last().json, question);
  for (const [method, at, body] of [['GET', '/v1/memories'], ['POST', '/v1/memories', note], ['POST', '/v1/memories/search', { query: 'dog' }]]) {
    const res = await server.ask(method, at, body);
    assert.equal(res.status, 503, `${method} ${at}: ${res.text}`);
    assert.match(res.headers['retry-after'] ?? '', /^\d+$/);
    assert.match(res.text, /cannot be reached/);
  }
}

// Not a time-out for each: while it is away, chats are as fast as without memory. The median counts, as the machine may be busy.
async function medianMs(server, headers, n = 21) {
  const took = [];
  for (let i = 0; i < n; i++) {
    const began = process.hrtime.bigint();
    assert.equal((await server.chat(question, headers)).status, 200);
    took.push(Number(process.hrtime.bigint() - began) / 1e6);
  }
  return took.sort((a, b) => a - b)[n >> 1];
}

test('killed and started again: chats go on without memory, and it recovers by itself', options, async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
  await withMemory(server, model);
  for (let round = 0; round < 2; round++) {
    await cluster.kill();
    const chat = await server.chat(question); // the first one finds the broken connection
    assert.equal(chat.status, 200, chat.text);
    await isAway(server);
    await withoutMemory(server, model);
    const said = ['user', 'assistant', 'user', 'assistant'].map((role, i) => ({ role, content: `message ${i} of round ${round}` }));
    assert.equal((await server.chat({ model: 'm', messages: [...said, ...question.messages] })).status, 200);
    const warned = [...server.stderr.matchAll(/turn\.place.*? id=(\S+)/g)].map((found) => found[1]);
    assert.ok(warned.length > 0);
    assert.ok(warned.length <= 2 * new Set(warned).size, 'once when it comes, once when it is kept');
    const away = await medianMs(server), off = await medianMs(server, { 'x-memory-mode': 'off' });
    console.log(`a chat, median: ${away.toFixed(2)} ms while PostgreSQL is away, ${off.toFixed(2)} ms with memory off`);
    assert.ok(away - off < 500, 'a chat waits for what is away'); // a time-out would take 2,000
    await cluster.start();
    await isReady(server);
    await withMemory(server, model);
  }
});

test('killed while an import writes: 503, as for other requests, and the same file can be sent again', options, async (t) => {
  const server = await serve(t, { flags: ['--log-level', 'error'] });
  const schema = path.basename(server.data).toLowerCase().replace(/[^a-z0-9]/g, '_');
  const send = () => server.ask('POST', '/v1/memories/import', JSON.stringify({ kind: 'memory', id: '7a5b0f5e-1111-4222-8333-944455556666', content: 'My dog is called Rex' }), { 'content-type': 'application/x-ndjson' });
  const waiting = `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '"${schema}".memory'::regclass`;
  const holder = spawn('psql', ['-qAtXc', `BEGIN; LOCK TABLE "${schema}".memory IN EXCLUSIVE MODE; SELECT pg_sleep(60)`, process.env.TEST_STORE], { stdio: 'ignore' });
  t.after(() => holder.kill());
  await until('the table is locked', () => cluster.query(`SELECT count(*) FROM pg_locks WHERE mode = 'ExclusiveLock' AND relation = '"${schema}".memory'::regclass`) === '1');
  const cut = send();
  await until('the import waits', () => cluster.query(waiting) !== '0');
  await cluster.kill();
  const res = await cut;
  assert.equal(res.status, 503, res.text);
  assert.match(res.headers['retry-after'], /^\d+$/);
  assert.match(res.json().detail, /^line 1: the database cannot be reached/);
  await cluster.start();
  await isReady(server);
  assert.equal((await send()).status, 200);
});

// Whether tokens are needed is in the database, so that nobody is let in before it was asked once.
test('away at start: it listens, says so, and has memory when PostgreSQL is there', options, async (t) => {
  const model = await upstream(t);
  await cluster.kill();
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error'] });
  await isAway(server);
  assert.equal((await server.chat(question)).status, 503);
  await cluster.start();
  await isReady(server);
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
  await withMemory(server, model);
});

test('tokens that were valid before go on, others do not', options, async (t) => {
  const { model, server, make } = await withTokens(t, ['--log-level', 'error']);
  const bearer = (token) => ({ authorization: `Bearer ${token.token}` });
  const [used, unused, revoked, key] = [await make(), await make(), await make(), await make('--space', 'default', '--acts-for', 'any')];
  assert.equal((await server.chat(question, bearer(used))).status, 200);
  assert.equal((await server.chat(question, { ...bearer(key), 'x-memory-user': 'anna' })).status, 200);
  assert.equal((await server.chat(question, bearer(revoked))).status, 200);
  assert.equal((await run(['token', 'revoke', revoked.id, '--data', server.data])).code, 0);
  assert.equal((await server.chat(question, bearer(revoked))).status, 401);
  await cluster.kill();
  await isAway(server);
  const asked = model.asked.length;
  for (const named of [{}, { 'x-memory-space': 'work' }, { 'x-osaurus-agent-id': 'helper' }, { 'x-session-id': 'talk' }]) {
    const chat = await server.chat(question, { ...bearer(used), ...named });
    assert.equal(chat.status, 200, `${JSON.stringify(named)}: ${chat.text}`);
  }
  for (const named of [{}, { 'x-memory-user': 'anna' }, { 'x-openwebui-user-id': 'bob' }]) {
    const chat = await server.chat(question, { ...bearer(key), ...named });
    assert.equal(chat.status, 200, `${JSON.stringify(named)}: ${chat.text}`);
  }
  assert.equal((await server.ask('GET', '/v1/memories', undefined, bearer(used))).status, 503);
  assert.equal((await server.chat(question, bearer(unused))).status, 503);
  assert.equal((await server.chat(question, bearer(revoked))).status, 503);
  assert.equal((await server.chat(question)).status, 401);
  assert.equal(model.asked.length, asked + 7);
  await cluster.start();
  await isReady(server);
  assert.equal((await server.chat(question, bearer(unused))).status, 200);
  assert.equal((await server.chat(question, bearer(revoked))).status, 401);
});

test('a token that was revoked, here or at another node, is not known any more while it is away', options, async (t) => {
  const { server, make } = await withTokens(t, ['--log-level', 'error']);
  const bearer = (token) => ({ authorization: `Bearer ${token.token}` });
  const [operator, here, kept] = [await make('--admin'), await make('--user', 'ann'), await make('--user', 'eve')], there = await make('--user', 'zed');
  for (const one of [here, kept, there]) assert.equal((await server.chat(question, bearer(one))).status, 200);
  assert.equal((await server.ask('DELETE', `/v1/tokens/${here.id}`, undefined, bearer(operator))).status, 204);
  let text = '';
  const req = http.get(`${server.url}/v1/events`, { agent: false, headers: bearer(there) }, (res) => res.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => (text = 'ended')));
  req.on('error', () => (text = 'ended'));
  t.after(() => req.destroy());
  await until('it follows', () => text.length > 0);
  assert.equal((await run(['token', 'revoke', there.id, '--data', server.data])).code, 0);
  await until('its stream ends', () => text === 'ended');
  await cluster.kill();
  await isAway(server);
  assert.deepEqual(await Promise.all([here, there, kept].map(async (one) => (await server.chat(question, bearer(one))).status)), [503, 503, 200]);
  await cluster.start();
  await isReady(server);
});

test('a node that begins knows the tokens that were shown to the others', options, async (t) => {
  const { model, server, make } = await withTokens(t, ['--log-level', 'error']);
  const bearer = (token) => ({ authorization: `Bearer ${token.token}` });
  const [used, unused, revoked] = [await make(), await make(), await make()];
  for (const token of [used, revoked]) assert.equal((await server.chat(question, bearer(token))).status, 200);
  const schema = path.basename(server.data).toLowerCase().replace(/[^a-z0-9]/g, '_');
  await until('their use is noted', () => cluster.query(`SELECT count(*) FROM "${schema}".token WHERE last_used > 0`) === '2');
  assert.equal((await run(['token', 'revoke', revoked.id, '--data', server.data])).code, 0);
  const env = { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=${schema}` };
  const other = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error'], env });
  await cluster.kill();
  await isAway(other);
  assert.equal((await other.chat(question, bearer(used))).status, 200);
  for (const token of [unused, revoked]) assert.equal((await other.chat(question, bearer(token))).status, 503);
  assert.equal((await other.chat(question)).status, 401);
  await cluster.start();
  await isReady(other);
});

test('a server that hangs holds no thread: the circuit opens, and closes when it goes on', options, async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url], env: { REMEMBERD_RECALL_DEADLINE_MS: '300' } });
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
  const goOn = cluster.freeze();
  try {
    await isAway(server);
    await withoutMemory(server, model);
  } finally {
    goOn();
  }
  await isReady(server);
  await until('memory within 300 ms', () => withMemory(server, model).then(() => true, () => false));
});

// From the first moment, when nothing but the silence tells: each chat looks up its user, its conversation and its memory.
test('a server that falls silent under chats holds none of them for long, with tokens and without, and no turn is lost', options, async (t) => {
  const flags = ['--log-level', 'error', '--recall-deadline-ms', '150'];
  const { model, server, make } = await withTokens(t, flags), open = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  const tokens = await Promise.all(Array.from({ length: 6 }, () => make()));
  const asks = [...tokens.map((token) => (i) => server.chat({ model: 'm', messages: [{ role: 'user', content: `${token.id} says ${i}` }] }, { authorization: `Bearer ${token.token}` })),
    ...tokens.map((token) => (i) => open.chat({ model: 'm', messages: [{ role: 'user', content: `${token.id} says ${i}` }] }, { 'x-memory-user': `person ${token.id}` }))];
  await rest(1000); // word of a new token makes the server forget what it knows of its user's
  for (const ask of asks) assert.equal((await ask(0)).status, 200);
  const goOn = cluster.freeze(), took = [];
  try {
    await Promise.all(asks.map(async (ask, k) => {
      for (let i = 1; i < 4; i++) {
        const began = Date.now(), res = await ask(i);
        took.push(Date.now() - began);
        assert.equal(res.status, 200, `${k}: ${res.text}`);
      }
    }));
  } finally {
    goOn();
  }
  console.log(`a chat took at most ${Math.max(...took)} ms while PostgreSQL was silent`);
  assert.ok(Math.max(...took) < 5000, took.join(' '));
  for (const one of [server, open]) {
    const schema = path.basename(one.data).toLowerCase().replace(/[^a-z0-9]/g, '_');
    await until('all is kept', () => cluster.query(`SELECT count(*) FROM "${schema}".message WHERE role = 'user'`) === String(6 * 4), 60000);
  }
});

test('connections that are cut one by one cost no request', options, async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
  for (let i = 0; i < 5; i++) {
    cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rememberd'");
    await isReady(server);
    await withMemory(server, model);
  }
});

test('a node has at most nine connections', options, async (t) => {
  const model = await upstream(t);
  const data = tempFolder();
  const server = await serve(t, { flags: ['--upstream', model.url], data });
  let most = 0;
  const asks = Array.from({ length: 60 }, () => server.chat(question));
  for (let i = 0; i < 10; i++) most = Math.max(most, Number(cluster.query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rememberd'")));
  for (const res of await Promise.all(asks)) assert.equal(res.status, 200);
  assert.ok(most <= 9, `${most} connections`);
});

test('what PostgreSQL warns of when it is logged in to is a line of the log', options, async (t) => {
  cluster.query("UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()");
  t.after(() => cluster.query('UPDATE pg_database SET datcollversion = NULL WHERE datname = current_database()'));
  const server = await serve(t);
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
  assert.match(server.stderr, /^\S+Z warn store\.warned code=01000 why="database \\"postgres\\" has /m);
  for (const line of server.stderr.trimEnd().split('\n')) assert.match(line, /^\d{4}-\d\d-\d\dT\S+Z (info|warn) /);
});
