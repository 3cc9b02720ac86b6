// health.test.js - what probes read: of a server that is well, and whose model is away (a full disk: cortex_chat.test.js).
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, until, upstream } = require('./lib');

const checks = ['store', 'postgres', 'redis', 'llm', 'llm_config'];

async function live(server, status, code = 200) {
  const res = await server.ask('GET', '/health/live');
  assert.equal(res.status, code, res.text);
  const got = res.json();
  assert.deepEqual(Object.keys(got), ['status', 'checks', 'timestamp']);
  assert.deepEqual(Object.keys(got.checks), checks);
  assert.equal(got.status, status);
  assert.ok(Math.abs(Date.parse(got.timestamp) - Date.now()) < 60000);
  for (const name of checks) {
    assert.deepEqual(Object.keys(got.checks[name]), ['status', 'latency_ms']);
    assert.ok(got.checks[name].latency_ms >= 0 && got.checks[name].latency_ms < 10000);
  }
  for (const name of ['postgres', 'redis']) assert.deepEqual(got.checks[name], got.checks.store);
  assert.deepEqual(got.checks.llm, got.checks.llm_config);
  return got.checks;
}

// Over PostgreSQL there is no file that could be removed.
test('probes name no folder of this machine', { skip: Boolean(process.env.TEST_STORE) }, async (t) => {
  const server = await serve(t);
  fs.rmSync(path.join(server.data, 'rememberd.db'));
  const [health, ready] = await Promise.all(['/health', '/ready'].map((at) => server.ask('GET', at)));
  assert.equal(health.json().store, "the database 'rememberd.db' was deleted or replaced while it was open; restart rememberd");
  assert.equal(ready.json().message, `Service is not ready: ${health.json().store}`);
});

test('the built-in model is always well', async (t) => {
  const server = await serve(t);
  const found = await live(server, 'healthy');
  assert.deepEqual([found.store.status, found.llm.status], ['healthy', 'healthy']);
  assert.ok(found.store.latency_ms > 0);
  const ready = await server.ask('GET', '/ready');
  assert.deepEqual([ready.status, ready.json()], [200, { ready: true, message: 'Service is ready' }]);
  assert.equal((await server.ask('GET', '/health')).json().status, 'ok');
});

test('a model server that answers anything is well, and is not asked by every probe', async (t) => {
  const model = await upstream(t, (req, res) => { res.writeHead(401); res.end(); });
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-key', 'sk-1'] });
  const first = await live(server, 'healthy');
  assert.equal(first.llm.status, 'healthy');
  assert.ok(first.llm.latency_ms > 0);
  await Promise.all(Array.from({ length: 20 }, () => live(server, 'healthy')));
  assert.deepEqual(model.asked.map((one) => [one.method, one.url, one.headers.authorization]), [['GET', '/v1/models', 'Bearer sk-1']]);
});

test('without a model server it is degraded, and works', async (t) => {
  const server = await serve(t, { flags: ['--upstream', 'http://127.0.0.1:9'] });
  const found = await live(server, 'degraded');
  assert.deepEqual([found.store.status, found.llm.status], ['healthy', 'degraded']);
  assert.equal((await server.ask('GET', '/ready')).status, 200);
});

test('a server without a transformer does not load oneDNN and OpenMP', async (t) => {
  const server = await serve(t, { flags: ['--core-dumps', 'on'] }); // lets us look at its memory
  const maps = fs.readFileSync(`/proc/${server.child.pid}/maps`, 'utf8');
  assert.match(maps, /libuv/);
  assert.doesNotMatch(maps, /libdnnl|libgomp/);
});

const question = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

test('libcurl is loaded when a model server is set, not for the built-in model', async (t) => {
  const loaded = (server) => /libcurl/.test(fs.readFileSync(`/proc/${server.child.pid}/maps`, 'utf8'));
  const alone = await serve(t, { flags: ['--core-dumps', 'on'] });
  assert.equal((await alone.chat({ ...question, model: 'rememberd/demo' })).status, 200);
  assert.equal(loaded(alone), false);
  const model = await upstream(t);
  const calling = await serve(t, { flags: ['--upstream', model.url, '--core-dumps', 'on'] });
  await until('libcurl', () => loaded(calling)); // before the first chat
  for (const mode of ['off', 'full'])
    assert.equal((await calling.chat(question, { 'X-Memory-Mode': mode })).status, 200);
});

test('without libcurl the server remembers, and names the package where it would call another server', async (t) => {
  const libraries = tempFolder();
  fs.writeFileSync(`${libraries}/libcurl.so.4`, ''); // found first, and no library
  const env = { LD_LIBRARY_PATH: libraries };
  const flags = ['--upstream', 'http://127.0.0.1:9'];
  const server = await serve(t, { flags, env });
  for (const mode of ['off', 'full']) {
    const chat = await server.chat(question, { 'X-Memory-Mode': mode });
    assert.equal(chat.status, 501, chat.text);
    assert.match(chat.json().error.message, /needs libcurl .*: install the package libcurl4/);
  }
  assert.equal((await server.ask('POST', '/v1/memories', { content: 'My dog is called Rex.' })).status, 201);
  assert.match(server.stderr, /http\.no_libcurl/);
  const found = await run(['doctor', '--data', tempFolder(), ...flags], { env });
  assert.match(found.stdout, /bad +libcurl: .*install the package libcurl4/);
  assert.match((await run(['doctor', '--data', tempFolder()], { env })).stdout, /warn +libcurl: /);
  assert.match((await run(['doctor', '--data', tempFolder()])).stdout, /ok +libcurl: libcurl\/\d/);
});
