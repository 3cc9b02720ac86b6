// backups_s3.test.js - backups in an S3-compatible storage: made, kept, put back; and what a storage can do wrong.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { run: cli, serve, tempFolder, until } = require('./lib.js');
const { storage } = require('./s3_storage.js');

const HOUR = 3600000, LONG = 60000;
const nameOf = (ms) => `rememberd-${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')}.db`;
const metric = async (server, name) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec((await server.ask('GET', '/metrics')).text)[1]);
const finding = async (server) => (await server.ask('GET', '/v1/doctor')).json().findings.find((one) => one.what === 'remote backups');
const sent = (server) => until('a backup in the storage', () => metric(server, 'rememberd_last_remote_backup_timestamp_seconds'), LONG);
const leftovers = (folder) => fs.readdirSync(folder).filter((name) => /send|fetched|\.new/.test(name));

// The key in no text that people or programs get.
function keepsSecret(s3, ...texts) {
  for (const text of texts) {
    assert.ok(!text.includes(s3.secret), 'the key is shown');
    assert.ok(!text.includes(encodeURIComponent(s3.secret)), 'the key is shown');
  }
}

test('a running server sends a backup, deletes the oldest, and the newest comes back', async (t) => {
  const s3 = await storage(t), data = tempFolder(), elsewhere = tempFolder(), now = Date.now();
  const old = [3, 2].map((days) => nameOf(now - days * 24 * HOUR)), others = ['notes.db', 'rememberd-20200101T000000Z-schema16.db'];
  for (const name of [...old, ...others]) s3.put(name, Buffer.from('an old one'));
  const server = await serve(t, { data, flags: [...s3.flags, '--backup-keep', '2', '--log-level', 'info'], env: s3.env });
  await server.ask('POST', '/v1/memories', { content: 'I play the cello on Tuesdays.' });
  const name = await until('a backup in the storage', () => s3.names().find((one) => one > old[1]), LONG);
  await until('the oldest is gone', () => !s3.names().includes(old[0]), LONG);
  assert.deepEqual(s3.names(), [...others, old[1], name].sort());
  assert.equal(nameOf(1000 * await metric(server, 'rememberd_last_remote_backup_timestamp_seconds')), name);
  assert.equal(s3.asked.filter(({ method }) => method === 'HEAD').length, 1, 'what was sent is looked at');
  assert.equal((await finding(server)).level, 'ok');
  assert.match((await finding(server)).detail, /^2 in s3:\/\/memories\/home\/me, the newest of /);
  assert.equal(await metric(server, 'rememberd_backup_failures_total'), 0, server.stderr);
  assert.match(server.stderr, new RegExp(`backup.made file="s3://memories/home/me/${name}"`));
  assert.deepEqual(leftovers(data), []);
  await server.stop();

  const env = s3.env, listed = JSON.parse((await cli(['restore', '--list', '--json', ...s3.flags], { env })).stdout);
  assert.deepEqual(listed.map(({ file }) => file), [name, old[1]].map((one) => `s3://memories/home/me/${one}`));
  assert.equal(listed[0].bytes, fs.statSync(s3.file(name)).size);
  const back = await cli(['restore', '--at', '2999-01-01', '--data', elsewhere, ...s3.flags], { env });
  assert.equal(back.code, 0, back.stderr);
  assert.match((await cli(['list', '--data', elsewhere])).stdout, /cello/);
  assert.deepEqual(leftovers(elsewhere), []);
  const shown = await cli(['config', 'show', ...s3.flags], { env });
  assert.match(shown.stdout, /backup_s3_secret = "\*\*\*"/);
  keepsSecret(s3, server.stderr, server.stdout, back.stderr, back.stdout, shown.stdout, JSON.stringify(listed));
});

test('a folder and a storage have backups of their own, and restore looks into both', async (t) => {
  const s3 = await storage(t), folder = tempFolder(), at = ['--backup-dir', folder, ...s3.flags], now = Date.now();
  const here = nameOf(now - 5 * HOUR), there = nameOf(now - 3 * HOUR);
  fs.writeFileSync(path.join(folder, here), 'here');
  s3.put(there, Buffer.from('there'));
  const list = async () => (await cli(['restore', '--list', '--json', ...at], { env: s3.env }));
  assert.deepEqual(JSON.parse((await list()).stdout).map(({ file }) => file), [`s3://memories/home/me/${there}`, path.join(folder, here)]);
  s3.spoil = () => false;
  s3.flags[3] = 'http://127.0.0.1:9';
  at.splice(2, at.length, ...s3.flags);
  const alone = await list();
  assert.deepEqual(JSON.parse(alone.stdout).map(({ file }) => file), [path.join(folder, here)], 'a storage that is away hides no file');
  assert.match(alone.stderr, /backup\.unlisted why="s3:\/\/memories\/home\/me: no answer/);
});

test('a storage that lists some at a time is asked for all', async (t) => {
  const s3 = await storage(t), start = Date.UTC(2020, 0, 1);
  s3.page = 50;
  for (let i = 0; i < 123; i++) s3.put(nameOf(start + i * HOUR), Buffer.from('x'));
  const { stdout, stderr } = await cli(['restore', '--list', '--json', ...s3.flags], { env: s3.env });
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout).map(({ file }) => path.basename(file)), s3.names().reverse());
  assert.equal(s3.asked.length, 3);
});

test('a storage that lists more at a time than S3 does is read whole', async (t) => {
  const s3 = await storage(t), names = Array.from({ length: 2500 }, (_, i) => nameOf(Date.UTC(2020, 0, 1) + i * HOUR));
  const lists = http.createServer((req, res) => {
    const after = new URL(req.url, 'http://s3').searchParams.get('start-after') ?? '';
    const rows = names.map((name) => `home/me/${name}`).filter((key) => key > after);
    res.end(`<ListBucketResult><IsTruncated>false</IsTruncated>${rows.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('')}</ListBucketResult>`);
  }).listen(0, '127.0.0.1');
  t.after(() => lists.close());
  await once(lists, 'listening');
  s3.flags[s3.flags.indexOf('--backup-s3-endpoint') + 1] = `http://127.0.0.1:${lists.address().port}`;
  const { stdout, stderr } = await cli(['restore', '--list', '--json', ...s3.flags], { env: s3.env });
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout).map(({ file }) => path.basename(file)), names.reverse());
});

test('an encrypted database is sent encrypted, a plain one plain', async (t) => {
  const plain = await storage(t), closed = await storage(t), key = { REMEMBERD_KEY: crypto.randomBytes(32).toString('hex') };
  const elsewhere = tempFolder(), magic = 'SQLite format 3';
  const first = await serve(t, { flags: plain.flags, env: plain.env });
  const data = tempFolder();
  const kept = await cli(['add', 'I play the cello.', '--data', data]);
  assert.equal(kept.code, 0, kept.stderr);
  assert.equal((await cli(['encrypt', '--data', data], { env: key })).code, 0);
  const second = await serve(t, { data, flags: closed.flags, env: { ...closed.env, ...key } });
  await Promise.all([sent(first), sent(second)]);
  const bytes = (s3) => fs.readFileSync(s3.file(s3.names()[0]));
  assert.ok(bytes(plain).includes(magic));
  assert.ok(!bytes(closed).includes(magic) && !bytes(closed).includes('cello'));
  const args = ['restore', '--at', '2999-01-01', '--data', elsewhere, ...closed.flags];
  const without = await cli(args, { env: closed.env });
  assert.equal(without.code, 1, without.stdout);
  const back = await cli(args, { env: { ...closed.env, ...key } });
  assert.equal(back.code, 0, back.stderr);
  assert.match((await cli(['list', '--data', elsewhere], { env: key })).stdout, /cello/);
});

test('a storage that refuses the key is told of, and the server goes on', async (t) => {
  const s3 = await storage(t), wrong = 'not the key of the storage';
  const server = await serve(t, { flags: s3.flags, env: { ...s3.env, AWS_SECRET_ACCESS_KEY: wrong } });
  const words = /s3:\/\/memories\/home\/me: the storage answers 403 SignatureDoesNotMatch/;
  await until('the failure is logged', () => /background\.failed job=backup_s3 why="/.test(server.stderr), LONG);
  assert.match(server.stderr, words);
  assert.ok(!server.stderr.includes(wrong));
  assert.ok(await metric(server, 'rememberd_backup_failures_total') > 0);
  assert.equal(await metric(server, 'rememberd_last_remote_backup_timestamp_seconds'), 0);
  const found = await finding(server);
  assert.equal(found.level, 'warn');
  assert.match(found.detail, words);
  await server.tell('I play the cello on Tuesdays.');
  assert.deepEqual(leftovers(server.data), []);
  const listed = await cli(['restore', '--list', ...s3.flags], { env: { ...s3.env, AWS_ACCESS_KEY_ID: 'nobody' } });
  assert.equal(listed.code, 1);
  assert.match(listed.stderr, words);
  assert.ok(s3.asked.every(({ method }) => method === 'GET'), 'nothing is sent to a storage that does not list');
});

test('a connection that is cut leaves nothing, and the backup is sent again', async (t) => {
  const s3 = await storage(t), old = nameOf(Date.now() - 48 * HOUR);
  s3.put(old, Buffer.from('an old one'));
  let cuts = 0;
  // Newer versions of libcurl send it once more by themselves when a kept connection breaks.
  s3.spoil = (req, body) => (req.method === 'PUT' && cuts < 2 ? (cuts++, false) : body);
  const server = await serve(t, { flags: [...s3.flags, '--backup-keep', '1'], env: s3.env });
  await until('the cut is logged', () => /background\.failed job=backup_s3 why="s3:\/\/memories\/home\/me: /.test(server.stderr), LONG);
  assert.deepEqual(s3.names(), [old], 'no older one is deleted behind a failure');
  assert.deepEqual(leftovers(server.data), []);
  await until('the next try', () => s3.names().length === 1 && s3.names()[0] !== old, LONG);
  assert.equal(cuts, 2);
  assert.doesNotMatch(server.stderr, /job=backup /, 'no backup goes to a folder that is not set');
});

test('a storage that keeps other bytes than were sent is found out', async (t) => {
  const s3 = await storage(t), old = nameOf(Date.now() - 48 * HOUR);
  s3.put(old, Buffer.from('an old one'));
  s3.spoil = (req, body) => (req.method === 'PUT' && !req.complete ? body : req.method === 'PUT' ? body.subarray(1) : body);
  const server = await serve(t, { flags: [...s3.flags, '--backup-keep', '1'], env: s3.env });
  await until('the failure is logged', () => /background\.failed job=backup_s3 why="[^"]*the storage has \d+ bytes of another object/.test(server.stderr), LONG);
  assert.ok(s3.names().includes(old));
});

test('an object that is damaged is not put back', async (t) => {
  const s3 = await storage(t), data = tempFolder();
  const server = await serve(t, { data, flags: s3.flags, env: s3.env });
  await sent(server);
  await server.tell('I play the cello on Tuesdays.');
  await server.stop();
  const file = s3.file(s3.names()[0]), bytes = fs.readFileSync(file);
  bytes[bytes.length >> 1] ^= 1;
  fs.writeFileSync(file, bytes);
  const back = await cli(['restore', '--at', '2999-01-01', '--force', '--data', data, ...s3.flags], { env: s3.env });
  assert.equal(back.code, 1, back.stdout);
  assert.match(back.stderr, /s3:\/\/memories\/home\/me\/rememberd-.*\.db is damaged: it differs from its SHA-256; use another backup/);
  assert.deepEqual(leftovers(data), []);
  assert.match((await cli(['search', 'cello', '--data', data])).stdout, /cello/, 'the database is as it was');
});

test('settings that cannot work are refused at the start', async () => {
  const key = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
  for (const [flags, env, why] of [
    [['--backup-s3', 'memories'], key, /backup_s3: must be s3:\/\/BUCKET/],
    [['--backup-s3', 's3:///home'], key, /backup_s3: must be s3:\/\/BUCKET/],
    [['--backup-s3', 's3://memories/a?b'], key, /backup_s3: must be s3:\/\/BUCKET/],
    [['--backup-s3', 's3://memories'], {}, /backup_s3: needs backup_s3_key_id and backup_s3_secret/],
    [['--backup-s3', 's3://memories', '--backup-s3-endpoint', 'example.org'], key, /backup_s3_endpoint: /],
    [['--backup-s3', 's3://memories', '--backup-s3-endpoint', 'http://169.254.169.254'], key, /backup_s3_endpoint: /],
    [['--backup-dir', 's3://memories'], key, /backup_dir: must be a folder; backup_s3 takes a bucket/]]) {
    const { code, stderr } = await cli(['config', 'check', ...flags], { env });
    assert.ok(code !== 0, flags.join(' '));
    assert.match(stderr, why);
  }
});
