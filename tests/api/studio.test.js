// The page as files, signing in, and looking as another user.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const { raw, run, serve, tempFolder, until } = require('./lib.js');
const { brotliDecompressSync, gunzipSync } = require('node:zlib');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const page = async (server) => (await raw(server, '/')).body.toString();
const script = async (server) => /src="(\/assets\/[^"]+\.js)"/.exec(await page(server))[1];

test('every place of the page is the same document, with a strict policy', async (t) => {
  const server = await serve(t), first = await raw(server, '/');
  assert.equal(first.status, 200);
  assert.match(first.headers['content-type'], /^text\/html/);
  assert.match(first.headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'.*require-trusted-types-for 'script'/);
  assert.doesNotMatch(first.headers['content-security-policy'], /unsafe/);
  for (const [name, value] of [['x-content-type-options', 'nosniff'], ['x-frame-options', 'DENY'], ['referrer-policy', 'no-referrer'], ['cross-origin-resource-policy', 'same-origin'], ['cache-control', 'no-cache'], ['vary', 'Accept-Encoding']])
    assert.equal(first.headers[name], value, name);
  assert.doesNotMatch(first.body.toString(), /<script>|<style|style=|onclick/i);
  for (const place of ['/studio', '/studio/memories', '/studio/nonsense'])
    assert.equal((await raw(server, place)).body.toString(), first.body.toString(), place);
  assert.equal((await raw(server, '/', {}, 'HEAD')).status, 200);
  assert.equal((await raw(server, '/studio/a/b')).status, 404);
});

test('files come as the client can read them, and are asked for once', async (t) => {
  const server = await serve(t), at = await script(server);
  const plain = await raw(server, at), gz = await raw(server, at, { 'accept-encoding': 'br;q=0, gzip;q=0.5' }), br = await raw(server, at, { 'accept-encoding': 'gzip, br' });
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(gz.headers['content-encoding'], 'gzip');
  assert.equal(br.headers['content-encoding'], 'br');
  assert.deepEqual(gunzipSync(gz.body), plain.body);
  assert.deepEqual(brotliDecompressSync(br.body), plain.body);
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.match(plain.headers['content-type'], /^text\/javascript/);
  for (const tag of [plain.headers.etag, `"x", ${plain.headers.etag}`, '*', plain.headers.etag.replace('W/', '')]) {
    const again = await raw(server, at, { 'if-none-match': tag });
    assert.deepEqual([again.status, again.body.length], [304, 0], tag);
  }
  assert.equal((await raw(server, at, { 'if-none-match': '"other"' })).status, 200);
  assert.equal((await raw(server, '/assets/nothing.js')).status, 404);
  assert.equal((await raw(server, '/assets/..%2fetc%2fpasswd')).status, 400);
});

test('the whole page is at most 150 KB with gzip', async (t) => {
  const server = await serve(t), seen = new Set(['/']);
  let total = 0;
  for (const at of seen) {
    const got = await raw(server, at, { 'accept-encoding': 'gzip' });
    total += got.body.length;
    const text = (got.headers['content-encoding'] ? gunzipSync(got.body) : got.body).toString();
    for (const [, next] of text.matchAll(/["'(](\/assets\/[\w.-]+)["')]/g)) seen.add(next);
  }
  assert.ok(seen.size >= 4 && total <= 150000, `${seen.size} files, ${total} bytes`);
});

test('the page in the repository is what its sources give', () => {
  const kept = path.join(__dirname, '../../studio/dist'), fresh = path.join(tempFolder(), 'dist');
  execFileSync('node', [path.join(__dirname, '../../studio/build.mjs'), fresh]);
  // Compressed bytes depend on the version of Node.js; what they hold does not.
  const page = (folder) => JSON.parse(fs.readFileSync(path.join(folder, 'files.json'))).map(({ path: at, file, type, immutable }) => {
    const plain = gunzipSync(fs.readFileSync(path.join(folder, `${file}.gz`)));
    assert.deepEqual(brotliDecompressSync(fs.readFileSync(path.join(folder, `${file}.br`))), plain, file);
    return { at, file, type, immutable, plain: plain.toString('latin1') };
  });
  assert.deepEqual(page(kept), page(fresh), 'run ./dev page and commit studio/dist');
});

test('every file of the page is embedded in each form, and embedded again when it changes', () => {
  const folder = tempFolder(), out = path.join(folder, 'out.c'), depends = path.join(folder, 'out.d'), dist = path.join(__dirname, '../../studio/dist');
  execFileSync(path.join(__dirname, '../../tools/embed-page'), [out, depends, path.join(dist, 'files.json')]);
  for (const { file, path: at } of JSON.parse(fs.readFileSync(path.join(dist, 'files.json')))) {
    assert.ok(fs.readFileSync(out, 'utf8').includes(`{"${at}", `), at);
    for (const end of ['gz', 'br']) {
      assert.ok(fs.readFileSync(out, 'utf8').includes(`/${file}.${end}`), file);
      assert.ok(fs.readFileSync(depends, 'utf8').includes(`/${file}.${end}`), file);
    }
  }
});

// --- signing in ---

const own = { 'sec-fetch-site': 'same-origin' };
async function token(server, ...words) {
  const { stdout } = await run(['token', 'create', '--data', server.data, ...words]);
  return /(?:rk|ctx)_[\w-]+/.exec(stdout)[0];
}
async function signIn(server, secret) {
  const res = await server.ask('POST', '/v1/sign-in', { token: secret });
  assert.equal(res.status, 200, res.text);
  const set = res.headers['set-cookie'][0];
  assert.match(set, /^rememberd_session=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  return { cookie: set.split(';')[0], me: res.json() };
}
const me = (server, headers) => server.ask('GET', '/v1/me', undefined, headers);

test('a browser signs in with a token and has its rights, until it signs out', async (t) => {
  const server = await serve(t);
  assert.deepEqual((({ user, is_local, needs_token, signed_in_until }) => ({ user, is_local, needs_token, signed_in_until }))((await me(server)).json()),
    { user: 'local', is_local: true, needs_token: false, signed_in_until: null });
  const admin = await token(server, '--admin', '--space', 'default'), { cookie } = await signIn(server, admin);
  await until('tokens are needed', async () => (await me(server)).status === 401);
  const seen = (await me(server, { cookie, ...own })).json();
  assert.deepEqual([seen.user, seen.is_admin, seen.is_local, seen.needs_token], ['local', true, false, true]);
  assert.ok(Date.parse(seen.signed_in_until) > Date.now() + 11 * 3600e3);
  for (const target of ['/v1/memories', '/v1/settings', '/v1/stats', '/api/memory/engine-status', '/v1/sessions'])
    assert.equal((await server.ask('GET', target, undefined, { cookie, ...own })).status, 200, target);
  const chat = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'My dog is called Rex.' }] }, { cookie, ...own });
  assert.equal(chat.status, 200, chat.text);
  assert.equal((await server.ask('DELETE', '/v1/sign-in', undefined, { cookie, ...own })).status, 204);
  assert.equal((await me(server, { cookie, ...own })).status, 401);
});

test('a cookie counts only in requests of the own page', async (t) => {
  const server = await serve(t), { cookie } = await signIn(server, await token(server, '--admin'));
  const host = `127.0.0.1:${server.port}`;
  for (const [headers, status] of [
    [{ 'sec-fetch-site': 'same-origin' }, 200], [{ 'sec-fetch-site': 'same-site' }, 403], [{ 'sec-fetch-site': 'cross-site' }, 403], [{ 'sec-fetch-site': 'none' }, 401], [{}, 401],
    [{ origin: `http://${host}` }, 200], [{ origin: 'http://evil.example' }, 403], [{ origin: 'null' }, 403], [{ origin: `http://${host}`, 'sec-fetch-site': 'cross-site' }, 401],
  ])
    assert.equal((await me(server, { cookie, ...headers })).status, status, JSON.stringify(headers));
  const refused = await server.ask('POST', '/v1/memories', { content: 'Planted.' }, { cookie, 'sec-fetch-site': 'cross-site' });
  assert.equal(refused.status, 403);
  assert.match(refused.headers['content-type'], /problem\+json/);
});

test('a wrong token, a made-up cookie and a revoked token let nobody in', async (t) => {
  const server = await serve(t), secret = await token(server, '--admin'), { cookie } = await signIn(server, secret);
  const wrong = await server.ask('POST', '/v1/sign-in', { token: 'rk_wrong' });
  assert.deepEqual([wrong.status, wrong.json().code, wrong.headers['set-cookie']], [401, 'no_auth', undefined]);
  for (const bad of [{ token: '' }, {}, { token: 5 }, { token: secret, more: 1 }, { token: 'x'.repeat(300) }])
    assert.equal((await server.ask('POST', '/v1/sign-in', bad)).status, 400, JSON.stringify(bad));
  for (const made of ['rememberd_session=', 'rememberd_session=nonsense', `rememberd_session=${'a'.repeat(500)}`, 'rememberd_session', ';;;=;', `x=1; ${cookie}x`])
    assert.equal((await me(server, { cookie: made, ...own })).status, 401, made);
  assert.equal((await me(server, { cookie: `first=1; ${cookie}; last=2`, ...own })).status, 200);
  const { id } = (await server.ask('GET', '/v1/tokens', undefined, { cookie, ...own })).json().items[0];
  assert.equal((await server.ask('DELETE', `/v1/tokens/${id}`, undefined, { cookie, ...own })).status, 204);
  assert.equal((await me(server, { cookie, ...own })).status, 401);
});

test('a session outlives a restart, and every server of the database knows it', async (t) => {
  const server = await serve(t), { cookie } = await signIn(server, await token(server, '--admin'));
  const other = await serve(t, { data: server.data });
  assert.equal((await me(other, { cookie, ...own })).status, 200);
  await other.stop();
  await server.stop();
  const again = await serve(t, { data: server.data });
  assert.equal((await me(again, { cookie, ...own })).status, 200);
  assert.ok(!fs.readFileSync(path.join(server.data, 'rememberd.db')).includes(cookie.split('=')[1]), 'the secret is not in the database');
});

test('a token of one user sees that user; the cookie is Secure behind TLS', async (t) => {
  const server = await serve(t);
  await token(server, '--admin');
  const { me: seen, cookie } = await signIn(server, await token(server, '--user', 'anna'));
  assert.deepEqual([seen.user, seen.is_admin], ['anna', false]);
  assert.equal((await server.ask('GET', '/v1/users', undefined, { cookie, ...own })).status, 403);
  const tls = await server.ask('POST', '/v1/sign-in', { token: await token(server, '--user', 'anna') }, { 'x-forwarded-proto': 'https' });
  assert.match(tls.headers['set-cookie'][0], /; Secure$/);
});

// --- somebody else's memory ---

test('an operator looks at another user by a header that the log notes, and changes nothing', async (t) => {
  const server = await serve(t, { flags: ['--log-level', 'info'] });
  const admin = { authorization: `Bearer ${await token(server, '--admin')}` }, anna = { authorization: `Bearer ${await token(server, '--user', 'anna', '--space', 'default')}` };
  const kept = (await server.ask('POST', '/v1/memories', { content: 'Anna keeps bees.' }, anna)).json();
  const as = { ...admin, 'x-memory-look-as': 'anna' };
  assert.ok(!/bees/.test((await server.ask('GET', '/v1/memories', undefined, admin)).text));
  assert.match((await server.ask('GET', '/v1/memories', undefined, as)).text, /Anna keeps bees/);
  assert.match((await server.ask('POST', '/v1/memories/search', { query: 'bees' }, as)).text, /Anna keeps bees/);
  assert.equal((await server.ask('POST', '/v1/preview', { question: 'Who keeps bees?' }, as)).status, 200);
  assert.equal((await me(server, as)).json().user, 'anna');
  await until('the log', () => /access\.look_as .*operator="local" .*user="anna"/.test(server.stderr));
  for (const [method, target, body] of [['POST', '/v1/memories', { content: 'x' }], ['DELETE', `/v1/memories/${kept.id}`], ['PATCH', `/v1/memories/${kept.id}`, { content: 'x' }], ['POST', '/v1/jobs', { kind: 'distil' }],
    ['POST', '/v1/chat/completions', { model: 'rememberd/demo', messages: [{ role: 'user', content: 'hi' }] }], ['GET', '/v1/settings']])
    assert.equal((await server.ask(method, target, body, as)).status, 403, `${method} ${target}`);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { ...anna, 'x-memory-look-as': 'local' })).status, 403);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { ...admin, 'x-memory-look-as': 'nobody' })).status, 404);
});
