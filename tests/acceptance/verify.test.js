// verify.test.js - rememberd verify: its table, against this server, against its mem0 API, and against servers that leak or find nothing.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const test = require('node:test');
const { once } = require('node:events');
const { run, serve, tempFolder } = require('../api/lib');

const adapters = path.join(__dirname, '../../ext/verify');

async function tokenOf(data, user) {
  const made = await run(['token', 'create', '--user', user, '--json', '--data', data]);
  assert.equal(made.code, 0, made.stderr);
  return JSON.parse(made.stdout).token;
}

async function verify(url, { adapter, env } = {}) {
  const res = await run(['verify', url, ...(adapter ? [adapter] : []), '--json'], { env });
  const rows = res.stdout.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
  return { ...res, rows, of: (result) => rows.filter((one) => one.result === result).map((one) => one.test) };
}

test('this server passes what can be asked over an API', async (t) => {
  const server = await serve(t), env = { REMEMBERD_TOKEN: await tokenOf(server.data, 'ann'), REMEMBERD_OTHER_TOKEN: await tokenOf(server.data, 'ben') };
  const res = await verify(server.url, { env });
  assert.deepEqual(res.rows.filter((one) => one.result === 'FAIL'), []);
  assert.equal(res.code, 0, res.stderr);
  assert.equal(res.rows.length, 20);
  assert.equal(res.of('pass').length, 11);
  for (const one of res.rows.filter((row) => row.result === 'not run')) assert.match(one.why, /^needs /);
});

test('its mem0 API passes what mem0 can be asked', async (t) => {
  const server = await serve(t), res = await verify(server.url, { adapter: path.join(adapters, 'mem0.json') });
  assert.equal(res.code, 0, JSON.stringify(res.rows.filter((one) => one.result === 'FAIL')));
  assert.deepEqual(res.of('pass'), ['scope.cross_tenant_absent', 'deletion.absent_after_reindex_and_restart', 'correction.survives_reindex', 'retrieval.k_is_an_upper_bound']);
});

/** A memory server of a few lines: what it is given, it gives to everybody, or to nobody. */
async function toy(t, finds) {
  const texts = [];
  const server = http.createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    if (req.url === '/add') texts.push(JSON.parse(body).text);
    res.end(JSON.stringify(req.url === '/add' ? { id: String(texts.length) } : { found: finds ? texts : [] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const adapter = path.join(tempFolder(), 'toy.json'), call = (at, body) => ({ method: 'POST', path: at, body });
  fs.writeFileSync(adapter, JSON.stringify({ name: 'toy', k: 5, calls: { add: { ...call('/add', { text: '{text}' }), id: 'id' }, search: call('/search', { q: '{text}' }), prompt: call('/search', { q: '{text}' }), export: call('/all', {}) } }));
  return verify(`http://127.0.0.1:${server.address().port}`, { adapter });
}

test('a server that gives everything to everybody fails, and more records than k', async (t) => {
  const res = await toy(t, true);
  assert.equal(res.code, 1);
  assert.deepEqual(res.of('FAIL'), ['scope.cross_tenant_absent', 'retrieval.k_is_an_upper_bound']);
  assert.match(res.rows[0].why, /another's/);
});

test('a server that finds nothing fails, too', async (t) => {
  assert.ok((await toy(t, false)).of('FAIL').includes('scope.cross_tenant_absent'));
});

test('what is wrong is said: an adapter without calls, one that is no JSON, a server that is not there', async (t) => {
  const folder = tempFolder(), file = (name, text) => { fs.writeFileSync(path.join(folder, name), text); return path.join(folder, name); };
  for (const [adapter, says] of [[file('a.json', '{}'), /add and search/], [file('b.json', 'nothing'), /JSON|byte/], [file('c.json', '{"calls":{"add":{"path":"/x"}}}'), /calls\.add needs a method/], [path.join(folder, 'none.json'), /cannot open/]]) {
    const res = await run(['verify', 'http://127.0.0.1:1', adapter]);
    assert.equal(res.code, 1);
    assert.match(res.stderr, says);
  }
  const away = await verify('http://127.0.0.1:1');
  assert.equal(away.code, 1);
  assert.equal(away.of('pass').length, 0);
});
