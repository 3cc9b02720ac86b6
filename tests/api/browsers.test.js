// browsers.test.js - web pages of other origins: which ones are served, and what their browsers are told.
'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { answer, run, serve, tempFolder, upstream } = require('./lib.js');

const page = 'https://app.example.org';
const user = (content) => ({ model: 'm', messages: [{ role: 'user', content }] });
const preflight = (server, path, origin, more = {}) =>
  server.ask('OPTIONS', path, undefined, { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type,x-memory-mode', ...more });
const cors = (res) => Object.keys(res.headers).filter((name) => name.startsWith('access-control-')).sort();

test('without the setting no page of another origin is served', async (t) => {
  const server = await serve(t);
  for (const origin of [page, 'http://localhost:3000', 'null']) {
    const got = await server.ask('GET', '/v1/models', undefined, { origin });
    assert.deepEqual([got.status, cors(got), got.headers.vary], [403, [], undefined]);
    assert.match(got.json().error.message, /origins setting/);
    const asked = await preflight(server, '/v1/models', origin);
    assert.deepEqual([asked.status, cors(asked)], [403, []]);
  }
  const own = await server.ask('GET', '/v1/models', undefined, { origin: server.url });
  assert.deepEqual([own.status, cors(own)], [200, []], 'its own pages need no permission');
});

const allowed = {
  'http://localhost:*': ['http://localhost:3000', 'http://localhost', 'HTTP://LocalHost:1'],
  'http://[::1]:*': ['http://[::1]:5173', 'http://[::1]'],
  'https://*.example.org': ['https://a.example.org', 'https://a.b.example.org', 'https://A.Example.ORG:443'],
  'https://one.example.com:8443': ['https://one.example.com:8443', 'https://ONE.example.com:8443'],
  'http://plain.example.com': ['http://plain.example.com', 'http://plain.example.com:80'],
  'app://*': ['app://obsidian.md', 'app://.'],
  'tauri://localhost': ['tauri://localhost'],
  'chrome-extension://*': ['chrome-extension://abcdefghijklmnop'],
};
const refused = [
  'null', 'http://localhost.evil.org', 'https://localhost:3000', 'http://localhost@evil.org', 'http://localhost:3000@evil.org', 'http://evil.org/localhost:1', 'http://localhost:0',
  'http://localhost:65536', 'http://localhost:03000', 'http://localhost:', 'http://localhost:*', 'http://localhost:3000/', 'http://localhost:3000/path', 'http://localhost 3000', 'http://localhost\\@evil.org',
  'http://[::1', 'http://[::2]:5173', 'http://[::1]evil.org', 'http://[::1]x5173', 'http://[::1]@evil.org', 'https://[::1]:5173',
  'https://example.org', 'https://evil-example.org', 'https://evilexample.org', 'https://.example.org', 'http://a.example.org', 'https://a.example.org:8443', 'https://a.example.org.evil.com',
  'https://user@a.example.org', 'https://evil.com?.example.org', 'https://evil.com#.example.org', 'https://evil.com/.example.org', 'https://*.example.org', 'https://evil.com%2e.example.org',
  'https://one.example.com', 'https://two.example.com:8443', 'https://plain.example.com', 'https://xn--e.com', 'tauri://evil', 'app', '://localhost', 'localhost', '*', 'http://',
];

test('origins by pattern: which pages are served, and which are not', async (t) => {
  const server = await serve(t, { flags: ['--origins', Object.keys(allowed).join(', ')] });
  for (const origin of Object.values(allowed).flat()) {
    const got = await server.ask('GET', '/v1/models', undefined, { origin });
    assert.deepEqual([got.status, got.headers['access-control-allow-origin'], got.headers.vary], [200, origin, 'Origin'], origin);
  }
  for (const origin of refused) {
    const got = await server.ask('GET', '/v1/models', undefined, { origin });
    assert.deepEqual([got.status, cors(got), got.headers.vary], [403, [], 'Origin'], origin);
    assert.deepEqual(cors(await preflight(server, '/v1/models', origin)), [], origin);
  }
  const none = await server.ask('GET', '/v1/models');
  assert.deepEqual([none.status, cors(none), none.headers.vary], [200, [], 'Origin'], 'caches learn that other pages get another answer');
});

test('a preflight is answered in full, before any token', async (t) => {
  const data = tempFolder(), server = await serve(t, { data, flags: ['--origins', page, '--require-token', 'on'] });
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/memories', '/mcp', '/api/memory', '/api/chat', '/api/v1/memory/search', '/memory/status', '/a2a/conversation/chat', '/v1/events', '/nothing/here']) {
    const got = await preflight(server, path, page, { 'access-control-request-private-network': 'true' });
    assert.equal(got.status, 204, path);
    assert.equal(got.text, '');
    assert.deepEqual(Object.fromEntries(cors(got).map((name) => [name.slice(15), got.headers[name]])), {
      'allow-origin': page, 'allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS', 'allow-headers': 'authorization,content-type,x-memory-mode', 'max-age': '7200',
      'allow-private-network': 'true', 'expose-headers': got.headers['access-control-expose-headers'] }, path);
    assert.equal(got.headers.vary, 'Origin');
  }
  const plain = await preflight(server, '/v1/memories', page);
  assert.equal(plain.headers['access-control-allow-private-network'], undefined, 'only when asked for');
  const denied = await server.ask('GET', '/v1/memories', undefined, { origin: page });
  assert.deepEqual([denied.status, denied.headers['access-control-allow-origin']], [401, page], 'the page can read the error, and permission replaces no token');
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--data', data])).stdout);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { origin: page, authorization: `Bearer ${token}` })).status, 200);
});

test('a host name that points here by a trick is refused with any origin', async (t) => {
  const server = await serve(t, { flags: ['--origins', page] });
  for (const ask of [() => server.ask('GET', '/v1/models', undefined, { origin: page, host: 'evil.example' }), () => preflight(server, '/v1/models', page, { host: 'evil.example' })])
    assert.equal((await ask()).status, 403);
});

test('every kind of answer names the origin once, and none allows credentials', async (t) => {
  const up = await upstream(t, (req, res, asked) => {
    for (const name of ['Origin', 'Credentials', 'Headers']) res.setHeader(`Access-Control-Allow-${name}`, 'true');
    res.setHeader('Access-Control-Expose-Headers', 'x-theirs');
    res.setHeader('Vary', 'Accept');
    if (asked.json?.messages[0].content === 'fail') return res.writeHead(429).end('{}');
    return answer(res, asked, 'fine');
  });
  const server = await serve(t, { flags: ['--upstream', up.url, '--upstream', 'down=http://127.0.0.1:1', '--origins', page] });
  const all = [
    [200, await server.chat(user('hi'), { origin: page })],
    [200, await server.chat({ ...user('hi'), stream: true }, { origin: page })],
    [429, await server.chat(user('fail'), { origin: page })],
    [502, await server.chat({ ...user('hi'), model: 'down/m' }, { origin: page })],
    [400, await server.ask('POST', '/v1/chat/completions', '{', { origin: page })],
    [404, await server.ask('GET', '/nothing', undefined, { origin: page })],
    [405, await server.ask('PATCH', '/v1/models', undefined, { origin: page })],
    [200, await server.ask('GET', '/v1/memories', undefined, { origin: page })],
    [204, await server.ask('OPTIONS', '/v1/memories', undefined, { origin: page })],
    [200, await server.ask('GET', '/v1/memories/export', undefined, { origin: page })],
  ];
  for (const [status, res] of all) {
    assert.equal(res.status, status, res.text);
    assert.deepEqual(cors(res), ['access-control-allow-origin', 'access-control-expose-headers'], res.text);
    assert.equal(res.headers['access-control-allow-origin'], page);
    assert.match(res.headers['access-control-expose-headers'], /^X-Rememberd-Receipt, .*\*$/);
    assert.match(res.headers.vary, /Origin/);
  }
  assert.ok(all[0][1].headers['x-rememberd-receipt']);
  for (const one of up.asked) assert.equal(one.headers.origin, undefined, 'the upstream does not know the page');
});

test('origins of any site need tokens, and a wrong one is refused at the start', async (t) => {
  const tries = (origins, ...more) => run(['serve', '--listen', '127.0.0.1:0', '--data', tempFolder(), '--origins', origins, ...more]);
  for (const wide of ['*', 'null', 'http://*', 'https://*:*', 'https://a.example, *']) {
    const { code, stderr } = await tries(wide);
    assert.notEqual(code, 0, wide);
    assert.match(stderr, /origins: '[^']+' fits pages of any site; it needs --require-token on/, wide);
  }
  for (const bad of ['localhost', 'http://', 'http://a/b', 'http://u@a', 'http://a:99999', 'http://*a.org', 'http://a.*.org', '://a', 'http://[::1', 'http://[::1]x80', 'http://[::1]x*'])
    assert.match((await tries(bad)).stderr, /origins: '.*' must be SCHEME:\/\/HOST/, bad);
  const server = await serve(t, { flags: ['--origins', '*', '--require-token', 'on'] });
  for (const origin of ['null', page]) assert.equal((await server.ask('GET', '/v1/memories', undefined, { origin })).headers['access-control-allow-origin'], origin);
  assert.match((await serve(t, { flags: ['--origins', page] })).stdout, /listening/);
});
