// strict.test.js - what a web page of another site cannot do, what browsers are told of answers, and bodies that are not read.
'use strict';
const assert = require('node:assert/strict');
const net = require('node:net');
const { test } = require('node:test');
const zlib = require('node:zlib');
const { serve } = require('./lib.js');

test('a page of another site can only link to the web page, though it sends no Origin', async (t) => {
  const server = await serve(t);
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'The cat is called Momo.' })).json();
  for (const site of ['cross-site', 'same-site'])
    for (const [method, path, body] of [['GET', '/v1/memories'], ['GET', '/v1/export'], ['POST', '/v1/memories', { content: 'Planted.' }], ['DELETE', `/v1/memories/${id}`], ['GET', '/health'], ['GET', '/']])
      assert.equal((await server.ask(method, path, body, { 'sec-fetch-site': site })).status, 403, `${site} ${method} ${path}`);
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  for (const [path, status] of [['/', 200], ['/studio/memories', 200], ['/v1/memories', 403], ['/v1/export', 403]])
    assert.equal((await server.ask('GET', path, undefined, link)).status, status, path);
  assert.equal((await server.ask('GET', '/', undefined, { ...link, 'sec-fetch-dest': 'iframe' })).status, 403);
  for (const site of ['same-origin', 'none'])
    assert.equal((await server.ask('GET', `/v1/memories/${id}`, undefined, { 'sec-fetch-site': site })).status, 200, site);
});

test('no answer is kept, guessed or loaded by other pages, unless it is meant for them', async (t) => {
  const page = 'https://app.example.org', server = await serve(t, { flags: ['--origins', page] });
  const told = (res) => ['x-content-type-options', 'cross-origin-resource-policy', 'cache-control'].map((name) => res.headers[name]);
  for (const path of ['/v1/memories', '/v1/export', '/health', '/none', '/metrics', '/v1/models'])
    assert.deepEqual(told(await server.ask('GET', path)), ['nosniff', 'same-origin', 'no-store'], path);
  assert.deepEqual(told(await server.ask('GET', '/')), ['nosniff', 'same-origin', 'no-cache']);
  const shared = await server.ask('GET', '/v1/memories', undefined, { origin: page, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' });
  assert.equal(shared.status, 200);
  assert.equal(shared.headers['access-control-allow-origin'], page);
  assert.deepEqual(told(shared), ['nosniff', 'cross-origin', 'no-store']);
});

test('a change without a body, and a packed body, are refused', async (t) => {
  const server = await serve(t);
  for (const [method, path] of [['PUT', '/api/settings/memory'], ['PATCH', '/v1/settings']]) {
    const res = await server.ask(method, path, '');
    assert.equal(res.status, 400, path);
    assert.match(res.text, /no body/);
  }
  const packed = zlib.gzipSync(JSON.stringify({ content: 'The cat is called Momo.' }));
  for (const body of [packed, JSON.stringify({ content: 'The cat is called Momo.' })]) {
    const res = await server.ask('POST', '/v1/memories', body, { 'content-encoding': 'gzip', 'content-type': 'application/json' });
    assert.equal(res.status, 415);
    assert.match(res.text, /Content-Encoding/);
  }
});

test('a request whose length is broken is refused in the words of the API that it asks', async (t) => {
  const server = await serve(t);
  const told = (place, header) => new Promise((done, fail) => {
    let text = '';
    const socket = net.connect(new URL(server.url).port, '127.0.0.1', () => socket.end(`POST ${place} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`));
    socket.on('data', (part) => (text += part)).on('error', fail).on('close', () => done(JSON.parse(text.split('\r\n\r\n')[1])));
  });
  for (const header of ['Content-Length: many', 'Content-Length: 5\r\nContent-Length: 6', 'Transfer-Encoding: gzip']) {
    assert.equal((await told('/v1/messages?beta=true', header)).error.type, 'invalid_request_error');
    assert.equal(typeof (await told('/v1/messages', header)).request_id, 'string', 'Anthropic');
    assert.equal(typeof (await told('/api/chat', header)).error, 'string', 'Ollama');
    assert.equal((await told('/v1/memories', header)).status, 400);
    assert.equal((await told('/v1/chat/completions', header)).error.param, null);
  }
  for (const bytes of [60e3, 66e3, 80e3, 200e3]) {
    const said = await told(`/v1/messages?${'a'.repeat(bytes)}`, 'Content-Length: many');
    assert.equal(said.error.type, bytes < 65e3 ? 'invalid_request_error' : 'request_too_large', `a target of ${bytes} bytes`);
  }
  assert.equal((await server.ask('GET', '/health')).status, 200);
});

test('a dry run or a limit in the query of a POST is refused, not passed over', async (t) => {
  const server = await serve(t);
  for (const [path, field, body] of [['/memory/consolidate', 'dry_run'], ['/memory/sync', 'agent_id'], ['/api/memory/summarize', 'dryRun'],
    ['/v1/memories/search', 'limit', { query: 'tea' }], ['/v1/memories', 'key', { content: 'Likes tea.' }]]) {
    const res = await server.ask('POST', `${path}?${field}=true`, body);
    assert.equal(res.status, 400, `${path}: ${res.text}`);
    assert.match(res.text, new RegExp(`${field}.*belongs in the body`), path);
  }
  for (const target of ['DELETE /v1/spaces/default', 'DELETE /v1/memories/x', 'DELETE /v1/tokens/x', 'DELETE /v1/sign-in', 'DELETE /v1/jobs/x', 'DELETE /v1/session/x',
    'DELETE /v1/memory/x', 'DELETE /v1/users/me/tokens/x', 'DELETE /v1/users/me/profile', 'DELETE /api/v1/memory', 'DELETE /api/v1/memory/x', 'DELETE /api/memory/x',
    'DELETE /v1/entities/user/x/', 'DELETE /v1/batch/', 'POST /v1/memories/import', 'POST /v1/memory/deduplicate', 'PATCH /v1/users/me/profile', 'POST /v1/users/me/profile/extract']) {
    for (const body of [undefined, {}]) {
      const [method, path] = target.split(' '), res = await server.ask(method, `${path}?dryrun=true`, body);
      assert.ok(res.status === 400 || res.status === 422, `${target}: ${res.status} ${res.text}`);
      assert.match(res.text, /dryrun/, target);
    }
  }
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'Likes salt.' }, { 'x-memory-space': 'salt' })).json();
  for (const target of ['DELETE /v1/spaces/salt', `POST /v1/undo/${id}`, 'POST /v1/engine/qdrant/cleanup', `DELETE /v1/jobs/${id}`]) {
    const res = await server.ask(...target.split(' '), { dry_run: true });
    assert.deepEqual([res.status, res.json().field], [400, 'dry_run'], `${target} with a body: ${res.text}`);
    assert.equal((await server.ask('POST', `/v1/undo/${id}`, { space: 'salt' })).status, 404);
  }
  for (const [method, path] of [['DELETE', '/v1/spaces/salt'], ['POST', '/v1/memories/import'], ['POST', '/v1/memories/search'], ['GET', `/v1/memories/${id}`],
    ['PATCH', `/v1/memories/${id}`], ['GET', '/v1/jobs'], ['DELETE', `/v1/memories/${id}`]]) {
    const res = await server.ask(method, `${path}?dryrun=true`, ['POST', 'PATCH'].includes(method) ? { content: 'x' } : undefined);
    assert.deepEqual([res.status, res.json().field], [400, 'dryrun'], `${method} ${path}: ${res.text}`);
  }
  assert.equal((await server.ask('GET', `/v1/memories/${id}?space=salt`)).status, 200);
  assert.equal((await server.ask('GET', '/health?dryrun=true')).status, 200);
  assert.equal((await server.ask('POST', '/v1/memories?space=work', { content: 'Likes tea.' })).json().space, 'work');
  assert.equal((await server.ask('POST', '/v1/memory/consolidate?dry_run=true')).json().dry_run, true);
});

test('/openapi.json is made once, and not sent to who has it', async (t) => {
  const server = await serve(t), first = await server.ask('GET', '/openapi.json');
  assert.deepEqual([first.status, first.headers['cache-control'], first.headers['content-type']], [200, 'no-cache', 'application/json']);
  assert.equal(first.json().openapi, '3.1.0');
  for (const tag of [first.headers.etag, `W/${first.headers.etag}`, `"x", ${first.headers.etag}`, '*']) {
    const again = await server.ask('GET', '/openapi.json', undefined, { 'if-none-match': tag });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', first.headers.etag], tag);
  }
  assert.equal((await server.ask('GET', '/openapi.json', undefined, { 'if-none-match': '"other"' })).text, first.text);
});
