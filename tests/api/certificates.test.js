// Erasing leaves a certificate: signed, checked without a server, and without content.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { bin, cleanEnv, serve, tempFolder } = require('./lib');

const options = { env: cleanEnv(), encoding: 'utf8', stdio: 'pipe' };
const run = (data, ...args) => execFileSync(bin, [...args, '--data', data], { ...options, env: cleanEnv(data) });
const verify = (file, ...args) => execFileSync(bin, ['verify-erasure', file, ...args], { ...options, cwd: '/' });
const refused = (words, file, ...args) => assert.throws(() => verify(file, ...args), (e) => e.status === 1 && words.test(e.stderr));
const dentist = 'My dentist is called Millerberg';

async function json(server, method, target, body, headers) {
  const res = await server.ask(method, target, body, headers);
  assert.ok(res.status < 300, `${method} ${target}: ${res.status} ${res.text}`);
  return res.json();
}

const add = async (server, content, headers) => (await json(server, 'POST', '/v1/memories', { content }, headers)).id;
const certificate = (server, id, headers) => json(server, 'GET', `/v1/erasures/${id}`, undefined, headers);

function kept(value) {
  const file = path.join(tempFolder(), 'certificate.json');
  fs.writeFileSync(file, JSON.stringify(value, null, 2));
  return file;
}

// As somebody else would, who has nothing of ours: over the compact JSON of all but the last two members.
function isSigned({ signature, hash_key, ...signed }) {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(signed.public_key, 'hex')]);
  const key = crypto.createPublicKey({ key: der, format: 'der', type: 'spki' });
  return crypto.verify(null, Buffer.from(JSON.stringify(signed)), key, Buffer.from(signature, 'hex'));
}

test('an erasure leaves a certificate that is checked without the server', async (t) => {
  const server = await serve(t);
  const { data } = server;
  const before = Date.now();
  const { erased, erasure } = await json(server, 'DELETE', `/v1/memories/${await add(server, dentist)}`);
  const c = await certificate(server, erasure);
  assert.equal(erased, 1);
  assert.deepEqual([c.id, c.what, c.memories, c.messages, c.state], [erasure, 'id', 1, 0, 'erased']);
  assert.ok(Date.parse(c.at) >= before - 1000 && Date.parse(c.at) <= Date.now());
  assert.doesNotMatch(JSON.stringify(c), /Millerberg|dentist/i);
  assert.ok(isSigned(c));
  assert.equal(fs.statSync(path.join(data, 'erasure.key')).mode & 0o777, 0o600);
  await server.stop();
  const file = kept(c);
  assert.match(verify(file, '--key', c.public_key, '--text', '  my DENTIST is  called Millerberg. '), /signature is right[^]*as given[^]*text is covered/);
  assert.equal(JSON.parse(verify(file, '--json')).id, erasure);
  refused(/not among/, file, '--text', 'My dentist is called Obermann');
  refused(/not among [^]* of this --user and --space/, file, '--text', dentist, '--user', 'zoe');
  refused(/another key/, file, '--key', 'ab'.repeat(32));
  // A certificate may be passed on without the key that tests texts.
  const { hash_key, ...bare } = c;
  assert.match(verify(kept(bare)), /signature is right/);
  refused(/no hash_key/, kept(bare), '--text', dentist);
  // The command line makes the same one, and the audit log names it and the key.
  const { signed_at, signature, ...same } = JSON.parse(run(data, 'erasures', erasure));
  assert.deepEqual(same, Object.fromEntries(Object.entries(c).filter(([name]) => !/^sign/.test(name))));
  const lines = run(data, 'audit', 'show', '--json').trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(lines.some((line) => line.kind === 'erased' && line.what.includes(`erasure=${erasure}`)));
  assert.deepEqual(lines.filter((line) => line.kind === 'erasure_key.made').map((line) => line.what), [`public_key=${c.public_key}`]);
});

test('not a member of it can be changed, added or left out', async (t) => {
  const server = await serve(t);
  const c = await certificate(server, (await json(server, 'DELETE', `/v1/memories/${await add(server, dentist)}`)).erasure);
  for (const [name, value] of Object.entries({ id: crypto.randomUUID(), at: '2020-01-01T00:00:00.000Z', what: 'space', memories: 2, messages: 1, state: 'undoable',
    signed_at: '2020-01-01T00:00:00.000Z', hashes: c.hashes.slice(1), public_key: 'ab'.repeat(32), signature: 'ab'.repeat(64), certificate: 'other' })) {
    refused(/signature does not fit/, kept({ ...c, [name]: value }));
    const { [name]: gone, ...rest } = c;
    refused(/signature|required/, kept(rest));
  }
  refused(/note/, kept({ ...c, note: 'and everything else' }));
});

test('a lost key makes another one, and old certificates still verify', async (t) => {
  const server = await serve(t);
  const { erasure } = await json(server, 'DELETE', `/v1/memories/${await add(server, dentist)}`);
  const old = await certificate(server, erasure);
  fs.rmSync(path.join(server.data, 'erasure.key'));
  const now = await certificate(server, erasure);
  assert.notEqual(now.public_key, old.public_key);
  verify(kept(old), '--key', old.public_key);
  verify(kept(now), '--key', now.public_key);
  const known = run(server.data, 'audit', 'show', '--json');
  assert.ok(known.includes(old.public_key) && known.includes(now.public_key));
});

test('counts are those of the answer, for a session, a filter, a large space and a user', async (t) => {
  const server = await serve(t);
  await server.tell('My brother Quentin plays the bassoon.');
  const session = (await json(server, 'GET', '/v1/sessions')).sessions[0].id;
  const space = { 'x-memory-space': 'large' };
  const lines = Array.from({ length: 150 }, (_, i) => JSON.stringify({ kind: 'memory', id: crypto.randomUUID(), content: `Shelf ${i} holds jar ${i * 7}` })).join('\n');
  assert.equal((await server.ask('POST', '/v1/memories/import', lines, { 'content-type': 'application/x-ndjson', ...space })).status, 200);
  const check = async ({ erased, changed, erasure }, what, text, ...where) => {
    const c = await certificate(server, erasure);
    assert.equal(c.what, what);
    assert.equal(c.memories + c.messages, erased ?? changed, JSON.stringify(c).slice(0, 300));
    assert.match(verify(kept(c), '--text', text, ...where), /text is covered/);
    return c;
  };
  await check(await json(server, 'DELETE', `/v1/memories/${session}`), 'id', 'My brother Quentin plays the bassoon.');
  const ids = [await add(server, dentist), await add(server, 'My sister Ottilie lives in Porto')];
  await check(await json(server, 'POST', '/v1/memories/bulk', { ids, action: 'delete' }), 'id', dentist);
  const c = await check(await json(server, 'DELETE', '/v1/spaces/large'), 'space', 'whatever was there', '--space', 'large');
  assert.deepEqual([c.memories, c.hashes.length], [150, 1]);
  await server.stop();
  run(server.data, 'add', 'Zenobia owns a parrot', '--user', 'zoe');
  const { erased, erasure } = JSON.parse(run(server.data, 'user', 'forget', 'zoe', '--yes', '--json'));
  assert.equal(erased, 1);
  assert.match(verify(kept(JSON.parse(run(server.data, 'erasures', erasure, '--user', 'zoe'))), '--text', 'x', '--user', 'zoe'), /\(user\)/);
  assert.match(run(server.data, 'erasures', '--limit', '2'), /\n2 of 5\n$/);
});

test('what can be undone, and what came back, is not called erased', async (t) => {
  const server = await serve(t);
  const { erasure, undo } = await json(server, 'DELETE', `/v1/memories/${await add(server, dentist)}?undo=true`);
  assert.equal((await certificate(server, erasure)).state, 'undoable');
  await json(server, 'POST', `/v1/undo/${undo}`);
  assert.equal((await certificate(server, erasure)).state, 'brought_back');
});

test('the list is paged, newest first', async (t) => {
  const server = await serve(t);
  const made = [];
  for (let i = 0; i < 5; i++) made.unshift((await json(server, 'DELETE', `/v1/memories/${await add(server, `Shelf ${i} holds jar ${i * 7}`)}`)).erasure);
  const seen = [];
  for (let next = ''; next !== null;) {
    const page = await json(server, 'GET', `/v1/erasures?limit=2${next && `&cursor=${next}`}`);
    assert.equal(page.total, 5);
    seen.push(...page.items.map((item) => item.id));
    next = page.next;
  }
  assert.deepEqual(seen, made);
});

test('a caller sees the erasures of its own spaces, an operator all, and neither the key of another user', async (t) => {
  const server = await serve(t);
  const person = async (name) => {
    const made = await json(server, 'POST', '/v1/users', { id: crypto.randomUUID(), email: `${name}@example.com`, first_name: name, token_name: 'first' });
    return { authorization: `Bearer ${made.access_token}` };
  };
  const ann = await person('ann'), bob = await person('bob');
  const { erasure } = await json(server, 'DELETE', `/v1/memories/${await add(server, dentist, ann)}`, undefined, ann);
  assert.equal((await json(server, 'GET', '/v1/erasures', undefined, ann)).items[0].id, erasure);
  assert.ok((await certificate(server, erasure, ann)).hash_key);
  assert.equal((await json(server, 'GET', '/v1/erasures', undefined, bob)).total, 0);
  assert.equal((await server.ask('GET', `/v1/erasures/${erasure}`, undefined, bob)).status, 404);
  // Another space of the same user is found by id, and listed where the request names it.
  const work = { ...ann, 'x-memory-space': 'work' };
  const other = (await json(server, 'DELETE', `/v1/memories/${await add(server, dentist, work)}`, undefined, work)).erasure;
  await certificate(server, other, ann);
  assert.equal((await json(server, 'GET', '/v1/erasures', undefined, ann)).total, 1);
  assert.equal((await json(server, 'GET', '/v1/erasures', undefined, work)).items[0].id, other);
  // On this machine, without a token, everyone is the operator.
  assert.equal((await json(server, 'GET', '/v1/erasures')).total, 2);
  const seen = await certificate(server, erasure);
  assert.ok(isSigned(seen) && !('hash_key' in seen));
  const same = (await json(server, 'GET', `/v1/erasures/${other}`, undefined, ann)).hash_key;
  assert.equal(same, (await certificate(server, erasure, ann)).hash_key);
});

test('certificates outlive the database that they are of', async (t) => {
  const server = await serve(t);
  const { data } = server;
  const id = await add(server, dentist), backup = path.join(tempFolder(), 'old.db');
  run(data, 'backup', backup);
  const { erasure } = await json(server, 'DELETE', `/v1/memories/${id}`);
  const c = await certificate(server, erasure);
  await server.stop();
  run(data, 'restore', backup, '--force');
  const { at, memories, hashes, hash_key } = JSON.parse(run(data, 'erasures', erasure));
  assert.deepEqual({ at, memories, hashes, hash_key }, { at: c.at, memories: c.memories, hashes: c.hashes, hash_key: c.hash_key });
});
