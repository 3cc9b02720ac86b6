// failover.test.js - the machine of PostgreSQL is lost, and its replica takes over: servers find it by themselves.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { serve, until, upstream } = require('../api/lib');
const cluster = require('./cluster');

const NOTES = 20;
const psql = (socket, sql) => execFileSync('psql', ['-X', '-q', '-A', '-t', '-h', socket, '-U', 'test', '-d', 'postgres', '-c', sql], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
const tries = (what) => { try { return what(); } catch { return null; } };

// A replica that follows the cluster of with_postgres; what is acknowledged from here on is on both disks.
async function replica(t) {
  const folder = process.env.TEST_POSTGRES, start = path.join(folder, 'start-replica'), socket = path.join(folder, 'socket', 'replica');
  const data = path.join(folder, 'socket', 'data'); // a folder in which PostgreSQL's user may write
  const script = fs.readFileSync(path.join(folder, 'start'), 'utf8');
  const [, as, bin] = /^exec (.*?)"(\/[^"]*)\/postgres"/m.exec(script);
  execFileSync('bash', ['-c', `cd / && ${as}mkdir "${socket}" && ${as}"${bin}/pg_basebackup" -D "${data}" -R -X stream -c fast -U test -h "${folder}/socket"`], { stdio: ['ignore', 'ignore', 'pipe'] });
  fs.writeFileSync(start, script.replace(`${folder}/data`, data).replace(`=${folder}/socket`, `=${socket}`), { mode: 0o755 });
  const server = spawn(start, { detached: true, stdio: 'ignore' });
  t.after(() => tries(() => process.kill(server.pid, 'SIGINT')));
  await until('the replica follows', () => tries(() => cluster.query("SELECT state FROM pg_stat_replication")) === 'streaming', 30000);
  cluster.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  cluster.query('SELECT pg_reload_conf()');
  await until('both disks count', () => cluster.query('SELECT sync_state FROM pg_stat_replication') === 'sync', 30000);
  return socket;
}

test('a replica takes over: chats go on, and nothing that was acknowledged is missing', { skip: cluster.missing }, async (t) => {
  const model = await upstream(t), socket = await replica(t);
  process.env.TEST_STORE = `postgres://test@/postgres?host=${process.env.TEST_POSTGRES}/socket,${socket}&target_session_attrs=read-write`;
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const note = async (content) => assert.equal((await server.ask('POST', '/v1/memories', { content })).status, 201);
  const say = async (content) => { const res = await server.chat({ model: 'm', messages: [{ role: 'user', content }] }); assert.equal(res.status, 200, res.text); };
  const contents = async (word) => (await server.ask('GET', `/v1/memories?contains=${word}&limit=100`)).json().memories.map((m) => m.content);
  for (let i = 0; i < NOTES; i++) await note(`Box number ${i} is in the cellar.`);
  await cluster.kill();
  await say('My parrot is called Quito.'); // while neither takes writes
  await until('the probe tells', async () => (await server.ask('GET', '/ready')).status === 503, 30000);
  assert.equal((await server.ask('POST', '/v1/memories', { content: 'Lost.' })).status, 503); // a replica takes no writes
  assert.equal(psql(socket, 'SELECT pg_promote(true, 60)'), 't');
  await until('readiness', async () => (await server.ask('GET', '/ready')).status === 200, 30000);
  assert.equal((await contents('cellar')).length, NOTES);
  await until('what was said meanwhile is kept', async () => (await contents('Quito')).length > 0, 30000);
  await note('Box number 99 is in the attic.');
  assert.deepEqual(await contents('attic'), ['Box number 99 is in the attic.']);
  assert.deepEqual(await contents('Lost'), []);
});
