// disk.test.js - a disk that is full at start or later, and a database that is deleted: chats go on, probes tell.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { freeDisk, onFullDisk, run, serve, tempFolder, until, upstream } = require('./lib');

const database = (data) => path.join(data, 'rememberd.db');
const question = { model: 'm', messages: [{ role: 'user', content: 'What is my dog called?' }] };
const note = { content: 'My dog is called Rex.' };

const probes = (server) => Promise.all(['/ready', '/health', '/health/live'].map((at) => server.ask('GET', at)));

async function ready(server) {
  const [short, long, live] = await probes(server);
  assert.deepEqual([long.status, live.status], [short.status, short.status]);
  return { status: short.status, message: short.json().message, store: long.json().store };
}

// The disk is failing: probes say why, chats are answered, memory is not.
async function withoutMemory(server, model, why) {
  const got = await ready(server);
  assert.equal(got.status, 503);
  assert.match(got.message, why);
  assert.match(got.store, why);
  const before = model.asked.length, chat = await server.chat(question);
  assert.equal(chat.status, 200, chat.text);
  assert.deepEqual(model.asked[before].json, question);
  const added = await server.ask('POST', '/v1/memories', note);
  assert.equal(added.status, 503, added.text);
  assert.match(added.json().detail, why);
  assert.ok(added.json().detail.split('is not open').length <= 2, added.text); // said once
}

// The one that opens the database again takes the processor time of its door, which answers 429 for half a second.
const isReady = (server) => until('readiness', async () => (await probes(server)).every((got) => got.status === 200));

const doors = [ // method, path, body, and what the dialect calls it
  ['POST', '/v1/memories', note, (body) => body.code, 'storage_unavailable'],
  ['GET', '/v1/memories', undefined, (body) => body.code, 'storage_unavailable'],
  ['POST', '/api/memory', { ...note, key: 'dog' }, (body) => body.error.type, 'server_error'],
  ['GET', '/api/memory', undefined, (body) => body.error.type, 'server_error'],
  ['POST', '/memory/ingest', { agent_id: 'a', conversation_id: 'c', turns: [{ user: 'I like tea.', assistant: 'Noted.' }] }, (body) => body.error, 'memory_database_unavailable'],
  ['POST', '/v1/session', { app_id: 'travel' }, (body) => body.error.code, 'SERVICE_UNAVAILABLE'],
];

test('a disk that is full at start: chats go on without memory, and it recovers by itself', async (t) => {
  const model = await upstream(t);
  const server = await onFullDisk(t, 0, ['--upstream', model.url], path.join(tempFolder(), 'not', 'there'));
  await withoutMemory(server, model, /the database is not open: /);
  for (const [method, at, body, of, expected] of doors) {
    const res = await server.ask(method, at, body);
    assert.deepEqual([res.status, of(res.json())], [503, expected], `${method} ${at}: ${res.text}`);
  }
  freeDisk(server);
  await isReady(server);
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
  await until('the key for model keys', () => fs.existsSync(path.join(server.data, 'seal.key')));
  const chat = await server.chat(question);
  assert.equal(chat.status, 200);
  assert.match(JSON.stringify(model.last().json), /Rex/);
});

test('a disk that is full at start, with tokens in the database: they are asked for, and memory is read', async (t) => {
  const model = await upstream(t), data = tempFolder();
  const made = await run(['token', 'create', '--data', data]);
  assert.equal(made.code, 0, made.stderr);
  const token = /\brmb_\w+|\S{30,}/.exec(made.stdout)[0];
  const headers = { authorization: `Bearer ${token}` };
  const added = await run(['add', note.content, '--data', data]);
  assert.equal(added.code, 0, added.stderr);
  const server = await onFullDisk(t, 0, ['--upstream', model.url], data);
  assert.equal((await server.ask('GET', '/ready')).status, 503);
  assert.equal((await server.chat(question)).status, 401);
  assert.equal((await server.chat(question, headers)).status, 200);
  assert.match((await server.ask('GET', '/v1/memories', undefined, headers)).text, /\[\]|Rex/);
  assert.equal((await server.ask('POST', '/v1/memories', note, headers)).status, 503);
  freeDisk(server);
  await isReady(server);
  assert.equal((await server.ask('POST', '/v1/memories', note, headers)).status, 201);
});

test('a disk that fills up and has space again: ready by itself, and no signal ends the server', async (t) => {
  const model = await upstream(t);
  const server = await onFullDisk(t, 100000, ['--upstream', model.url]);
  await isReady(server);
  freeDisk(server, 4);
  const added = await server.ask('POST', '/v1/memories', note);
  assert.equal(added.status, 500, added.text);
  assert.match((await ready(server)).message, /the last write failed: /);
  assert.equal((await server.chat(question)).status, 200);
  freeDisk(server);
  await isReady(server);
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
});

// A file system of its own, where this machine lets the test mount one.
const mount = (...words) => execFileSync('mount', words, { stdio: 'pipe' });
const canMount = (() => {
  try {
    const at = tempFolder();
    mount('-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', at);
    execFileSync('umount', [at]);
    return true;
  } catch {
    return false;
  }
})();
const mounts = { skip: canMount ? false : 'file systems cannot be mounted here' };

function newDisk(t, size) {
  const data = tempFolder();
  mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', data);
  t.after(() => execFileSync('umount', ['-l', data]));
  return data;
}

test('a disk that is read-only at start: chats go on without memory, and it recovers by itself', mounts, async (t) => {
  const data = newDisk(t, '64m'), model = await upstream(t);
  mount('-o', 'remount,ro', data);
  const server = await serve(t, { data, flags: ['--upstream', model.url] });
  await withoutMemory(server, model, /the database is not open: /);
  mount('-o', 'remount,rw', data);
  await isReady(server);
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
  await server.stop();
});

async function ok(...args) {
  const res = await run(args);
  assert.equal(res.code, 0, `${args.join(' ')}: ${res.stderr}`);
  return res.stdout;
}

test('commands that read do so on a read-only disk, and the others say why they cannot write', mounts, async (t) => {
  const disk = newDisk(t, '64m'), data = path.join(disk, 'data'), at = ['--data', data];
  await ok('add', note.content, ...at);
  mount('-o', 'remount,ro', disk);
  for (const args of [['list'], ['search', 'dog'], ['export']]) assert.match(await ok(...args, ...at), /Rex/, args[0]);
  for (const args of [['user', 'list'], ['token', 'list'], ['review'], ['consolidate', '--dry-run'], ['compact', '--dry-run']]) await ok(...args, ...at);
  const copy = path.join(tempFolder(), 'rememberd.db');
  await ok('backup', copy, ...at);
  assert.match(await ok('list', '--data', path.dirname(copy)), /Rex/);
  for (const args of [['add', 'I like tea.'], ['forget', '--everything', '--yes'], ['consolidate']]) {
    const res = await run([...args, ...at]);
    assert.equal(res.code, 1);
    assert.match(res.stderr, /Read-only file system/);
  }
  assert.deepEqual(fs.readdirSync(data), ['rememberd.db', 'rememberd.db-commits']);
});

function fill(disk) {
  const file = fs.openSync(path.join(disk, 'fill'), 'w');
  try {
    for (;;) fs.writeSync(file, Buffer.alloc(1024));
  } catch (error) {
    assert.equal(error.code, 'ENOSPC');
  } finally {
    fs.closeSync(file);
  }
}

test('doctor ends with a failure while nothing can be written, also where the database opens', mounts, async (t) => {
  const disk = newDisk(t, '3m'), server = await serve(t, { data: path.join(disk, 'data') });
  const doctor = () => run(['doctor', '--data', server.data]);
  assert.equal((await doctor()).code, 0);
  fill(disk);
  const full = await doctor();
  assert.equal(full.code, 1, full.stdout);
  assert.match(full.stdout, /^bad +disk: nothing can be written: No space left on device$/m);
  assert.match(full.stdout, /^ok +database/m);
  assert.equal((await server.ask('GET', '/v1/doctor')).json().ok, false);
  fs.rmSync(path.join(disk, 'fill'));
  assert.equal((await doctor()).code, 0);
  await server.stop();
});

test('a disk too full for the file beside the log is called full', mounts, async (t) => {
  const disk = newDisk(t, '4m'), at = ['--data', path.join(disk, 'data')];
  await ok('add', note.content, ...at);
  fill(disk);
  for (const args of [['add', 'I like tea.'], ['encrypt', '--new-key-file', path.join(tempFolder(), 'key')], ['forget', '--everything', '--yes']]) {
    const res = await run([...args, ...at]);
    assert.deepEqual([res.code, /: the database's disk is full\n$|the disk has 0\.0 MB free/.test(res.stderr)], [1, true], res.stderr);
  }
  fs.rmSync(path.join(disk, 'fill'));
  assert.match(await ok('list', ...at), /Rex/);
});

test('a full disk: writes are a 507, and erasing goes on', mounts, async (t) => {
  const disk = newDisk(t, '64m'), server = await serve(t, { data: path.join(disk, 'data') });
  const add = (content) => server.ask('POST', '/v1/memories', { content }), ids = [];
  for (let i = 0; i < 12; i++) ids.push((await add(`My dog number ${i} is called Rex${i}, and Rex${i} likes the garden.`)).json().id);
  await server.chat({ ...question, model: 'rememberd/demo' });
  fill(disk);
  await until('a write that fails', async () => (await add(`It has ${'a long story '.repeat(400)}`)).status !== 201);
  for (const [method, at, body, of, expected] of [
    ['POST', '/v1/memories', note, (json) => [json.status, json.code], [507, 'storage_full']],
    ['POST', '/api/memory', { ...note, key: 'dog' }, (json) => json.error.type, 'server_error'],
  ]) {
    const res = await server.ask(method, at, { ...body, content: 'long '.repeat(2000) });
    assert.deepEqual([res.status, of(res.json())], [507, expected], res.text);
    assert.match(res.text, /disk is full/);
  }
  for (const id of ids.slice(0, 8)) assert.equal((await server.ask('DELETE', `/v1/memories/${id}`)).status, 200);
  const left = (await server.ask('GET', '/v1/memories?limit=50')).text;
  for (let i = 0; i < 12; i++) assert.equal(left.includes(`Rex${i} likes`), i >= 8, `${i}: ${left}`);
  fs.rmSync(path.join(disk, 'fill'));
  await isReady(server);
  assert.equal((await add(note.content)).status, 201);
  await server.stop();
});

// One statement to the built-in model at each door: method, path, body of a text.
const statements = [
  ['/v1/chat/completions', (text) => ({ model: 'rememberd/demo', messages: [{ role: 'user', content: text }] })],
  ['/v1/messages', (text) => ({ model: 'rememberd/demo', max_tokens: 9, messages: [{ role: 'user', content: text }] })],
  ['/v1/responses', (text) => ({ model: 'rememberd/demo', input: text })],
  ['/api/chat', (text) => ({ model: 'rememberd/demo', stream: false, messages: [{ role: 'user', content: text }] })],
];

test('the built-in model does not say that it noted what could not be kept', async (t) => {
  const server = await onFullDisk(t, 100000);
  const tell = async (text) => Promise.all(statements.map(async ([at, body]) => {
    const res = await server.ask('POST', at, body(text));
    assert.equal(res.status, 200, res.text);
    return res.text;
  }));
  for (const said of await tell('My dog is called Rex.')) assert.match(said, /Noted, I will have it in mind/);
  freeDisk(server, 4);
  for (const said of await tell('My cat is called Tom.')) {
    assert.match(said, /I could not keep this: the database failed: [^"]*\. I am rememberd\/demo/);
    assert.doesNotMatch(said, /Noted/);
  }
  assert.match((await server.chat({ ...question, model: 'rememberd/demo' })).text, /Rex/);
  freeDisk(server);
  await isReady(server);
  for (const said of await tell('My cat is called Tom.')) assert.match(said, /Noted/);
});

test('the built-in model says that a database which could not be opened, or a limit, keeps nothing', async (t) => {
  const told = { model: 'rememberd/demo', messages: [{ role: 'user', content: 'My dog is called Rex.' }] };
  const away = await onFullDisk(t, 0, [], path.join(tempFolder(), 'not', 'there'));
  assert.match((await away.chat(told)).text, /I could not keep this: the database is not open: /);
  const small = await serve(t, { flags: ['--user-messages-max', '1'] });
  assert.match((await small.chat(told)).text, /I could not keep this: this user has 0 messages, and the limit is 1 /);
});

test('doctor of a server tells of a write that failed', async (t) => {
  const server = await onFullDisk(t, 100000);
  const doctor = async () => (await server.ask('GET', '/v1/doctor')).json();
  assert.equal((await doctor()).ok, true);
  freeDisk(server, 4);
  assert.equal((await server.ask('POST', '/v1/memories', note)).status, 500);
  const { ok: isWell, findings } = await doctor();
  assert.equal(isWell, false);
  const bad = findings.filter((one) => one.level === 'bad').map((one) => `${one.what}: ${one.detail}`).join('\n');
  assert.match(bad, /^disk: nothing can be written: File too large$/m);
  assert.match(bad, /^database: the last write failed: /m);
  freeDisk(server);
  await until('doctor is content', async () => (await doctor()).ok);
});

for (const [what, change] of [
  ['deleted', (data) => fs.rmSync(database(data))],
  ['replaced', (data) => { fs.copyFileSync(database(data), `${database(data)}.other`); fs.renameSync(`${database(data)}.other`, database(data)); }],
  ['robbed of its log', (data) => fs.rmSync(`${database(data)}-wal`)],
])
  test(`a database that is ${what} while the server runs takes no write, and chats go on`, async (t) => {
    const model = await upstream(t);
    const server = await serve(t, { flags: ['--upstream', model.url] });
    assert.equal((await server.ask('POST', '/v1/memories', note)).status, 201);
    change(server.data);
    await withoutMemory(server, model, /was deleted or replaced while it was open; restart rememberd/);
    assert.match(server.stderr, /error store\.lost /);
    await server.stop();
    if (what !== 'robbed of its log') {
      await assert.rejects(serve(t, { data: server.data }), /is missing or empty|lacks the last \d+ commits?/);
      await run(['doctor', '--accept-loss', '--data', server.data]);
    }
    const again = await serve(t, { data: server.data });
    assert.equal((await ready(again)).status, 200);
    const kept = (await again.ask('GET', '/v1/memories')).text;
    assert.equal(/Rex/.test(kept), what === 'robbed of its log', kept);
  });
