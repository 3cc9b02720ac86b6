// crash.test.js - what was acknowledged is there after a restart, also after a kill; trouble with memory fails no chat.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, upstream } = require('./lib');

const user = (content) => ({ model: 'any', messages: [{ role: 'user', content }] });

test('a restart keeps memory', async (t) => {
  const first = await serve(t);
  await first.tell('My dog is called Rex.');
  const added = (await first.ask('POST', '/v1/memories', { content: 'Ada prefers green tea.' })).json();
  assert.deepEqual(await first.stop(), { code: 0, signal: null });
  const second = await serve(t, { data: first.data });
  assert.equal((await second.ask('GET', `/v1/memories/${added.id}`)).json().content, 'Ada prefers green tea.');
  const reply = (await second.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'What is my dog called?' }] })).json();
  assert.match(reply.choices[0].message.content, /Rex/);
});

for (const [what, damage, words] of [
  ['its log removed', (file) => fs.rmSync(`${file}-wal`), /lacks the last \d+ commits/],
  ['its log cut', (file) => fs.truncateSync(`${file}-wal`, fs.statSync(`${file}-wal`).size / 2), /lacks the last \d+ commits, all since /],
  ['the database removed', (file) => fs.rmSync(file), /is missing or empty/],
  ['the database emptied', (file) => fs.truncateSync(file, 0), /is missing or empty/],
])
  test(`a killed server with ${what} does not start before the loss is accepted`, async (t) => {
    const first = await serve(t), at = ['--data', first.data];
    for (let i = 0; i < 20; i++) assert.equal((await first.ask('POST', '/v1/memories', { content: `Zeta ${i} is a code.` })).status, 201);
    first.child.kill('SIGKILL');
    await first.exited;
    damage(path.join(first.data, 'rememberd.db'));
    await assert.rejects(serve(t, { data: first.data }), words);
    const found = await run(['doctor', ...at]);
    assert.equal(found.code, 1);
    assert.match(found.stdout, words);
    for (const command of [['add', 'more'], ['list'], ['encrypt']]) {
      const res = await run([...command, ...at]);
      assert.equal(res.code, 1, command[0]);
      assert.match(res.stderr, words, command[0]);
    }
    const accepted = await run(['doctor', '--accept-loss', ...at]);
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.match(accepted.stderr, /warn store\.loss_accepted /);
    assert.equal((await run(['doctor', ...at])).code, 0);
    const again = await serve(t, { data: first.data });
    assert.equal((await again.ask('POST', '/v1/memories', { content: 'Eta is a code.' })).status, 201);
  });

test('a key whose database is gone is not given a plain one in its place', async () => {
  const data = tempFolder(), at = ['--data', data];
  fs.writeFileSync(path.join(data, 'rememberd.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  for (const command of [['add', 'Zeta is a code.'], ['list'], ['doctor']]) {
    const res = await run([...command, ...at]);
    assert.equal(res.code, 1, command[0]);
    assert.match(res.stdout + res.stderr, /is missing, and its key is there/, command[0]);
  }
  assert.deepEqual(fs.readdirSync(data), ['rememberd.key']);
  assert.equal((await run(['encrypt', ...at])).code, 0);
  assert.equal((await run(['add', 'Zeta is a code.', ...at])).code, 0);
});

test('a restore that was killed in an empty folder leaves no empty memory to start with', async (t) => {
  const from = tempFolder(), copy = path.join(from, 'copy.db'), data = path.join(tempFolder(), 'data'), at = ['--data', data];
  await run(['add', 'Zeta is a code.', '--data', from]);
  await run(['backup', copy, '--data', from]);
  fs.mkdirSync(data, { mode: 0o700 }); // what such a restore leaves: it is too quick to be killed there for sure
  fs.writeFileSync(path.join(data, 'rememberd.db'), '', { mode: 0o600 });
  fs.writeFileSync(path.join(data, 'rememberd.db.new'), fs.readFileSync(copy).subarray(0, 8192), { mode: 0o600 });
  await assert.rejects(serve(t, { data }), /is missing or empty, and '.*rememberd\.db\.new' is left of it/);
  assert.equal((await run(['doctor', ...at])).code, 1);
  assert.match((await run(['add', 'Eta is a code.', ...at])).stderr, /restore a backup/);
  assert.equal((await run(['restore', copy, ...at])).code, 0);
  assert.match((await run(['list', ...at])).stdout, /Zeta is a code/);
});

test('a restore mends a damaged database', async () => {
  const data = tempFolder(), at = ['--data', data], file = path.join(data, 'rememberd.db'), copy = path.join(data, 'copy.db');
  await run(['add', 'Zeta is a code.', ...at]);
  await run(['backup', copy, ...at]);
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, Buffer.alloc(40 * 4096, 0x5a), 0, undefined, 3 * 4096);
  fs.closeSync(fd);
  assert.equal((await run(['list', ...at])).code, 1);
  const restored = await run(['restore', copy, '--force', ...at]);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match((await run(['list', ...at])).stdout, /Zeta/);
  assert.equal((await run(['doctor', '--deep', ...at])).code, 0);
});

test('a turn that is answered just before the end is kept', async (t) => {
  const first = await serve(t);
  const res = await first.chat({ ...user('My dog is called Rex.'), model: 'rememberd/demo' });
  assert.deepEqual(await first.stop(), { code: 0, signal: null });
  const second = await serve(t, { data: first.data });
  assert.equal((await second.ask('GET', `/v1/receipts/${res.headers['x-rememberd-receipt']}`)).status, 200);
});

test('kill -9 under load, in rounds: whatever was acknowledged is there', async (t) => {
  const model = await upstream(t);
  const receipts = new Map(), memories = new Set();
  let data;
  for (let round = 0; round < 4; round++) {
    const server = await serve(t, { data, flags: ['--upstream', model.url] });
    data = server.data;
    for (const [id, text] of receipts) {
      const got = await server.ask('GET', `/v1/receipts/${id}`);
      assert.equal(got.status, 200, `round ${round}: receipt of "${text}" is lost`);
      assert.equal(got.json().question, text);
    }
    for (const id of memories) assert.equal((await server.ask('GET', `/v1/memories/${id}`)).status, 200, `round ${round}: memory`);
    assert.equal((await server.ask('GET', '/health')).json().status, 'ok');
    let running = true, seen = 0;
    const work = async (name) => {
      for (let i = 0; running; i++) {
        const text = `Round ${round}: worker ${name} likes number ${i}.`;
        const res = await server.chat(user(text));
        if (i % 3 === 0) memories.add((await server.ask('POST', '/v1/memories', { content: text })).json().id);
        const id = res.headers['x-rememberd-receipt'];
        if ((await server.ask('GET', `/v1/receipts/${id}`)).status === 200) receipts.set(id, text), seen++;
        if (seen > 60) running = false;
      }
    };
    const all = Promise.allSettled(Array.from({ length: 8 }, (_, i) => work(i)));
    await Promise.race([all, server.exited]);
    server.child.kill('SIGKILL');
    assert.equal((await server.exited).signal, 'SIGKILL');
    running = false;
    await all;
    assert.ok(seen > 60, `round ${round}: only ${seen} receipts were acknowledged`);
  }
  const last = await serve(t, { data, flags: ['--upstream', model.url] });
  for (const id of receipts.keys()) assert.equal((await last.ask('GET', `/v1/receipts/${id}`)).status, 200);
});

test('a database that breaks under the server fails no chat', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  for (let i = 0; i < 50; i++) await server.ask('POST', '/v1/memories', { content: `The dog number ${i} is called Rex ${i}.` });
  for (const name of fs.readdirSync(server.data)) {
    if (name.endsWith('-shm')) continue;
    const file = path.join(server.data, name);
    fs.writeFileSync(file, Buffer.alloc(fs.statSync(file).size, 0x5a), { flag: 'r+' });
  }
  for (let i = 0; i < 20; i++) {
    const res = await server.chat(user(`What is dog number ${i} called?`));
    assert.equal(res.status, 200, res.text);
    assert.equal(res.json().choices[0].message.content, 'fine');
    assert.ok(model.last().json.messages[0].content.startsWith(`What is dog number ${i} called?`));
  }
  assert.match(server.stderr, /recall\.left_out/, 'the recall failed, and said so');
  await server.stop('SIGKILL');
});
