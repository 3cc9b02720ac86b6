// pgbouncer.test.js - two nodes behind PgBouncer in transaction mode, with fewer connections to PostgreSQL than they open.
// tests/lib/with_postgres tests/lib/with_pgbouncer tools/node-test tests/pg/pgbouncer.test.js
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const http = require('node:http');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, until, upstream } = require('../api/lib');
const cluster = require('./cluster');

const direct = process.env.TEST_DIRECT_STORE; // tests/lib/with_pgbouncer
const only = { skip: !direct && 'run by tests/lib/with_pgbouncer' };
const psql = (url, sql) => execFileSync('psql', ['-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', sql, url], { encoding: 'utf8' }).trim();
const schemaOf = (data) => path.basename(data).toLowerCase().replace(/[^a-z0-9]/g, '_');

// Two nodes with one schema.
async function two(t, flags = []) {
  const first = await serve(t, { flags });
  const env = { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=${schemaOf(first.data)}` };
  return [first, await serve(t, { data: tempFolder(), flags, env })];
}

async function ok(server, method, at, body) {
  const res = await server.ask(method, at, body);
  assert.ok(res.status >= 200 && res.status < 300, `${method} ${at}: ${res.status} ${res.text}`);
  return res.text ? res.json() : null;
}

const contents = async (server) => (await ok(server, 'GET', '/v1/memories?limit=100')).memories.map((m) => m.content).sort();

test('chats at both nodes at once are kept once each, and found by the other node at once', only, async (t) => {
  const model = await upstream(t), nodes = await two(t, ['--upstream', model.url]);
  await Promise.all(Array.from({ length: 12 }, async (_, i) => {
    const messages = [];
    for (let turn = 0; turn < 4; turn++) {
      messages.push({ role: 'user', content: `Client ${i} keeps key ${turn} in drawer ${i * 10 + turn}.` });
      const res = await nodes[(i + turn) % 2].chat({ model: 'm', messages });
      assert.equal(res.status, 200, res.text);
      messages.push({ role: 'assistant', content: res.json().choices[0].message.content });
    }
  }));
  await ok(nodes[0], 'POST', '/v1/memories', { content: 'My dog is called Rex.' });
  assert.equal((await nodes[1].chat({ model: 'm', messages: [{ role: 'user', content: 'What is my dog called?' }] })).status, 200);
  assert.match(JSON.stringify(model.last().json), /Rex/);
  const kept = () => psql(direct, `SELECT count(*) || ' ' || count(DISTINCT text) FROM "${schemaOf(nodes[0].data)}".message WHERE text LIKE 'Client % keeps key%'`);
  await until('all turns are kept', () => kept() === '48 48');
});

test('what one node erases is gone at the other, also by an undo there', only, async (t) => {
  const nodes = await two(t), [first, second] = nodes;
  const ids = [];
  for (let i = 0; i < 80; i++) ids.push((await ok(nodes[i % 2], 'POST', '/v1/memories', { content: `Shelf ${i} holds jar ${i * 7}` })).id);
  const deleted = await ok(first, 'DELETE', `/v1/memories/${ids[0]}?undo=true`);
  assert.equal((await contents(second)).length, 79);
  await ok(second, 'POST', `/v1/undo/${deleted.undo}`);
  assert.equal((await contents(first)).length, 80);
  assert.equal((await run(['forget', '--everything', '--yes', '--data', first.data])).code, 0); // in pieces, between which others write
  for (const node of nodes) assert.deepEqual(await contents(node), []);
});

test('a large erasure is left to its server for some minutes, and then finished by the next one', only, async (t) => {
  const { data } = await serve(t).then(async (server) => (await ok(server, 'POST', '/v1/memories', { content: 'My sister lives in Porto' }), server));
  const row = (mark) => psql(direct, `INSERT INTO "${schemaOf(data)}".fact(name, value) VALUES('forget:${mark}:x', '${JSON.stringify({ user: 'local', space: 'default',
    session: '', type: '', before: 0, keeps_memories: false, everything: false, all_spaces: false, memories: true, is_upkeep: false, rewrites: false, call: 'c', left: 1 })}')`);
  row(-(Date.now() + 60000));
  assert.equal((await contents(await serve(t, { data }))).length, 1);
  row(-(Date.now() - 1000));
  assert.equal((await contents(await serve(t, { data }))).length, 0);
});

test('who follows one node hears within seconds of what is written at the other', only, async (t) => {
  const [first, second] = await two(t);
  let text = '';
  const req = http.get(`${first.url}/v1/events`, { agent: false }, (res) => res.setEncoding('utf8').on('data', (part) => (text += part)));
  req.on('error', () => {});
  t.after(() => req.destroy());
  await new Promise((answered) => req.on('response', answered)); // from here on it hears
  await ok(first, 'POST', '/v1/memories', { content: 'Written by the first' });
  await until('its own write by name', () => text.includes('event: memory.added'));
  text = '';
  await ok(second, 'POST', '/v1/memories', { content: 'Written by the second' });
  await until('a reset', () => text.includes('event: reset'));
});

test('a token that one node revokes is refused by the other', only, async (t) => {
  const nodes = await two(t);
  const [, token] = /(rk_\S+)/.exec((await run(['token', 'create', '--name', 'a', '--data', nodes[0].data])).stdout);
  const headers = { authorization: `Bearer ${token}` };
  for (const node of nodes) assert.equal((await node.ask('GET', '/v1/memories', undefined, headers)).status, 200);
  const id = psql(direct, `SELECT id FROM "${schemaOf(nodes[0].data)}".token`);
  assert.equal((await run(['token', 'revoke', id, '--data', nodes[0].data])).code, 0);
  for (const node of nodes) await until('it is refused', async () => (await node.ask('GET', '/v1/memories', undefined, headers)).status === 401);
});

test('PostgreSQL is killed behind it: chats go on, and all is kept after', only, async (t) => {
  const model = await upstream(t), [first, second] = await two(t, ['--upstream', model.url, '--log-level', 'error']);
  const say = async (node, content) => assert.equal((await node.chat({ model: 'm', messages: [{ role: 'user', content }] })).status, 200);
  await say(first, 'My boat is called Ottilie.');
  await cluster.kill();
  await say(first, 'My cat is called Minka.'); // PgBouncer itself would let it wait for ever
  await cluster.start();
  for (const node of [first, second]) await until('ready', async () => (await node.ask('GET', '/ready')).status === 200, 60000);
  const kept = () => psql(direct, `SELECT count(*) FROM "${schemaOf(first.data)}".message WHERE text LIKE 'My % is called %'`);
  await until('both are kept', () => kept() === '2', 60000);
});

test('nothing of ours stays in the connections that others use as well', only, async (t) => {
  const nodes = await two(t);
  for (const node of nodes) await ok(node, 'POST', '/v1/memories', { content: 'I like tea' });
  const of = 'SELECT concat_ws(chr(10), current_setting(\'search_path\'), current_setting(\'statement_timeout\'), current_setting(\'jit\'), (SELECT count(*) FROM pg_prepared_statements))';
  const fresh = psql(direct, of), seen = new Set();
  for (let i = 0; i < 8; i++) seen.add(psql(process.env.TEST_STORE, of));
  assert.deepEqual([...seen], [fresh]);
  const name = schemaOf(nodes[0].data);
  assert.equal(psql(direct, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), '0');
  assert.ok(Number(psql(direct, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rememberd'")) <= Number(process.env.POOL_SIZE ?? 4), name);
});
