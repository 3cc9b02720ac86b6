// osaurus_trouble.test.js - bringing in a conversation while the database cannot be written: what is said, and that it mends.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const path = require('node:path');
const test = require('node:test');
const { onFullDisk, serve, until } = require('./lib');

const batch = (conversation, words = 'I work at Acme Corp and I prefer green tea over coffee.') =>
  ({ agent_id: 'a', conversation_id: conversation, turns: [{ user: words, assistant: 'Got it.' }] });
const turns = async (server) => (await server.ask('GET', '/memory/status')).json().counts.turns;

test('when the disk is full it is memory_ingest_failed, and what was kept before stays', async (t) => {
  const server = await onFullDisk(t, 2048);
  assert.equal((await server.ask('POST', '/memory/ingest', batch('first'))).status, 200);
  const long = batch('long', 'x'.repeat(4 << 20));
  for (let i = 0; i < 2; i++) {
    const res = await server.ask('POST', '/memory/ingest', long);
    assert.deepEqual([res.status, res.json().error], [500, 'memory_ingest_failed'], res.text);
    assert.equal(await turns(server), 2, 'none of it is kept');
  }
  const chat = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'Where do I work?' }] }, { 'x-osaurus-agent-id': 'a' });
  assert.equal(chat.status, 200, 'chats go on');
});

test('while another process holds it for ten seconds it is memory_database_unavailable, and goes on afterwards', async (t) => {
  const server = await serve(t);
  assert.equal((await server.ask('POST', '/memory/ingest', batch('first'))).status, 200);
  const holder = spawn('python3', ['-c', 'import sqlite3, sys\nc = sqlite3.connect(sys.argv[1], isolation_level=None)\n' +
    'c.execute("BEGIN IMMEDIATE")\nprint("held", flush=True)\nsys.stdin.read()', path.join(server.data, 'rememberd.db')], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  holder.stdout.on('data', (text) => (said += text));
  const ended = once(holder, 'exit');
  t.after(() => { holder.stdin.end(); return ended; });
  await until('the lock', () => said.includes('held'));
  const res = await server.ask('POST', '/memory/ingest', batch('second'));
  assert.deepEqual([res.status, res.json().error, res.headers['retry-after']], [503, 'memory_database_unavailable', '1'], res.text);
  assert.equal(await turns(server), 2);
  holder.stdin.end();
  await ended;
  assert.equal((await server.ask('POST', '/memory/ingest', batch('second'))).status, 200);
  assert.equal(await turns(server), 4);
});
