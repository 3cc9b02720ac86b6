// The audit log: who did what, without content, and no line of it can be changed, removed or added unseen.
'use strict';
const assert = require('node:assert/strict');
const { execFile, execFileSync, spawn } = require('node:child_process');
const dgram = require('node:dgram');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { promisify } = require('node:util');
const { bin, cleanEnv, serve, tempFolder } = require('./lib');

const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find((file) => fs.existsSync(file));
const run = (data, ...args) => execFileSync(bin, [...args, '--data', data], { env: cleanEnv(data), encoding: 'utf8', stdio: 'pipe' });
const file = (data) => path.join(data, 'rememberd.audit');
const shown = (data) => run(data, 'audit', 'show', '--json').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const refused = (data, words) => assert.throws(() => run(data, 'audit', 'verify'), (e) => e.status === 1 && words.test(e.stderr));

test('what was done is listed, without content and secrets, and verifies', async (t) => {
  const server = await serve(t);
  const { data } = server;
  const id = (await server.ask('POST', '/v1/memories', { content: 'My dentist is Millerberg' })).json().id;
  await server.ask('DELETE', `/v1/memories/${id}`);
  await server.ask('GET', '/v1/memories/export?all=true');
  run(data, 'backup', path.join(tempFolder(), 'b.db'));
  const secret = /(rk_\S+)/.exec(run(data, 'token', 'create', '--admin'))[1];
  const operator = { authorization: `Bearer ${secret}` };
  for (let i = 0; i < 50; i++) await server.ask('GET', '/v1/memories', undefined, { authorization: `Bearer rk_wrong${i}` });
  assert.equal((await server.ask('PATCH', '/v1/settings', { salience_floor: 0.3 }, operator)).status, 200);
  await server.stop();
  const lines = shown(data), kinds = lines.map((line) => line.kind);
  for (const kind of ['erased', 'exported', 'backup.made', 'token.made', 'setting.changed']) assert.ok(kinds.includes(kind), `${kind} in ${kinds}`);
  const failed = lines.filter((line) => line.kind === 'login.failed');
  assert.deepEqual(failed.map((line) => line.what), ['n=50'], 'counted, not a line each');
  const text = fs.readFileSync(file(data), 'utf8');
  assert.ok(!text.includes('Millerberg') && !text.includes(secret) && !text.includes('rk_wrong'));
  assert.equal(fs.statSync(path.join(data, 'audit.key')).mode & 0o777, 0o600);
  assert.match(run(data, 'audit', 'verify'), new RegExp(`^${lines.length} lines`));
});

test('a line that is changed, removed, added or cut off is named, and doctor says so', () => {
  const data = tempFolder();
  for (let i = 0; i < 5; i++) run(data, 'token', 'create', '--name', `t${i}`);
  const whole = fs.readFileSync(file(data), 'utf8'), lines = whole.split('\n').slice(0, 5);
  const tampered = (change, words) => {
    fs.writeFileSync(file(data), change([...lines]).map((line) => `${line}\n`).join(''));
    refused(data, words);
  };
  tampered((v) => v.with(2, v[2].replace('admin=0', 'admin=1')), /line 3 was changed/);
  tampered((v) => v.toSpliced(1, 1), /line 2 was removed/);
  tampered((v) => v.toSpliced(3, 0, v[2]), /line 4 was changed, or a line was added/);
  tampered((v) => v.slice(0, 4), /line 5 was removed/);
  tampered((v) => v.slice(2), /line 1 was removed/);
  assert.throws(() => run(data, 'doctor'), (e) => /bad +audit log: line 1 was removed/.test(e.stdout));
  fs.rmSync(file(data));
  refused(data, /line 1 was removed/);
  fs.writeFileSync(file(data), whole);
  assert.match(run(data, 'audit', 'verify'), /^5 lines/);
  // A line that a crash has cut is cut off by the next one.
  fs.appendFileSync(file(data), '{"no":6,"at"');
  run(data, 'token', 'create');
  assert.match(run(data, 'audit', 'verify'), /^6 lines/);
});

test('a log that is gone is missed, also when a new one has begun', () => {
  const data = tempFolder();
  for (let i = 0; i < 3; i++) run(data, 'token', 'create');
  fs.rmSync(file(data));
  fs.rmSync(`${file(data)}.end`);
  refused(data, /line 1 was removed: the log is missing/);
  run(data, 'token', 'create');
  refused(data, /line 1 was removed/);
  // A key of which no line could be written is no log.
  const fresh = tempFolder();
  fs.mkdirSync(file(fresh));
  run(fresh, 'token', 'create');
  fs.rmdirSync(file(fresh));
  refused(fresh, /nothing was noted yet/);
  run(fresh, 'token', 'create');
  assert.match(run(fresh, 'audit', 'verify'), /^1 line, all as written\n$/);
});

test('several processes write one chain, and every line goes elsewhere as well', async () => {
  const data = tempFolder(), copy = path.join(tempFolder(), 'copy');
  run(data, 'token', 'create');
  const ways = Array.from({ length: 6 }, () => promisify(execFile)(bin, ['token', 'create', '--data', data, '--audit-to', copy], { env: cleanEnv(data) }));
  await Promise.all(ways);
  assert.match(run(data, 'audit', 'verify'), /^7 lines/);
  assert.equal(fs.readFileSync(copy, 'utf8'), fs.readFileSync(file(data), 'utf8').split('\n').slice(1).join('\n'));
});

test('a log that cannot be written fails no chat, and is said', async (t) => {
  const data = tempFolder();
  fs.mkdirSync(file(data));
  const server = await serve(t, { data });
  const id = (await server.ask('POST', '/v1/memories', { content: 'My dentist is Millerberg' })).json().id;
  assert.equal((await server.ask('DELETE', `/v1/memories/${id}`)).status, 200);
  const findings = (await server.ask('GET', '/v1/doctor')).text;
  assert.match(findings, /audit log.*cannot be written/);
  await server.stop();
  assert.equal(server.stderr.match(/audit\.failing/g).length, 1);
});

test('a place elsewhere that takes no lines is named by doctor, and a wrong address by the start', async () => {
  const data = tempFolder(), nowhere = path.join(tempFolder(), 'gone', 'copy');
  run(data, 'add', 'x');
  const doctor = (...args) => JSON.parse(run(data, 'doctor', '--json', ...args)).findings.filter((one) => one.what === 'audit log');
  assert.match(doctor('--audit-to', nowhere)[0].detail, /cannot be written: .*gone\/copy/);
  assert.deepEqual(doctor('--audit-to', path.join(data, 'copy')), []);
  for (const args of [['serve', '--listen', '127.0.0.1:0'], ['config', 'check']])
    assert.throws(() => run(data, ...args, '--audit-to', 'syslog:localhost'), (e) => /not the IP address and port/.test(e.stderr));
});

test('every line says who did it: a token, a user without one, or the command line', async (t) => {
  const server = await serve(t);
  const { data } = server;
  const add = async (content, headers) => (await server.ask('POST', '/v1/memories', { content }, headers)).json().id;
  await server.ask('DELETE', `/v1/memories/${await add('My dentist is Millerberg')}`);
  const { id, secret } = (({ id, token }) => ({ id, secret: token }))(JSON.parse(run(data, 'token', 'create', '--admin', '--json')));
  const operator = { authorization: `Bearer ${secret}` };
  await server.ask('DELETE', `/v1/memories/${await add('My sister lives in Porto', operator)}`, undefined, operator);
  assert.equal((await server.ask('POST', '/v1/tokens', { user: 'ann' }, operator)).status, 201);
  await server.stop();
  assert.equal(run(data, 'token', 'revoke', id), 'revoked, with 1 that it made\n');
  assert.match(shown(data).at(-1).what, new RegExp(`^id=${id} made=1$`));
  assert.deepEqual(shown(data).map((line) => `${line.kind} ${line.by}`), ['erased user:local', `token.made command line, uid ${process.getuid()}`,
    `erased token:${id}`, `token.made token:${id}`, `token.revoked command line, uid ${process.getuid()}`]);
});

test('every line goes to a system log, over UDP and over a socket of this machine', async (t) => {
  const data = tempFolder();
  const udp = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await once(udp, 'listening');
  t.after(() => udp.close());
  const said = once(udp, 'message');
  await promisify(execFile)(bin, ['token', 'create', '--data', data, '--audit-to', `syslog:127.0.0.1:${udp.address().port}`], { env: cleanEnv(data) });
  const last = () => fs.readFileSync(file(data), 'utf8').trim().split('\n').at(-1);
  const [, time, line] = /^<85>1 (\S+Z) - rememberd \d+ audit - (\{.*\})$/.exec(String((await said)[0]));
  assert.equal(line, last());
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 600000);
  assert.match(run(data, 'audit', 'verify'), /^1 line, all as written\n$/);
  // One that nobody reads is noted and fails nothing.
  const { stderr } = await promisify(execFile)(bin, ['token', 'create', '--data', data, '--audit-to', `syslog:${path.join(data, 'nobody')}`], { env: cleanEnv(data) });
  assert.match(stderr, /audit\.failing.*nobody.*cannot be sent/);
  const wrong = await promisify(execFile)(bin, ['token', 'create', '--data', data, '--audit-to', 'syslog:localhost'], { env: cleanEnv(data) });
  assert.match(wrong.stderr, /not the IP address and port/);
  assert.match(run(data, 'audit', 'verify'), /^3 lines/);
});

test('a datagram socket of this machine gets the line that syslog() would send', { skip: !python && 'no python3, and Node has no datagram sockets of a path' }, async () => {
  const data = tempFolder(), socket = path.join(tempFolder(), 'log');
  const reader = spawn(python, ['-c', 'import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\ns.bind(sys.argv[1])\nprint("ready",flush=True)\nprint(s.recv(65536).decode())', socket]);
  let out = '';
  reader.stdout.on('data', (part) => (out += part));
  await once(reader.stdout, 'data');
  const end = once(reader, 'close');
  run(data, 'token', 'create', '--audit-to', `syslog:${socket}`);
  await end;
  assert.match(out, /^ready\n<85>rememberd\[\d+\]: \{"no":1,.*"mac":"[0-9a-f]{64}"\}\n$/);
});

test('a look at the memory of another user is found by that user', async (t) => {
  const server = await serve(t), { data } = server;
  const { id, token } = JSON.parse(run(data, 'token', 'create', '--admin', '--json'));
  run(data, 'token', 'create', '--user', 'anna');
  const operator = { authorization: `Bearer ${token}` };
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { ...operator, 'x-memory-look-as': 'anna' })).status, 200);
  const { items } = (await server.ask('GET', '/v1/audit?who=anna&kind=look_as', undefined, operator)).json();
  assert.deepEqual(items.map(({ by, who, what }) => [by, who, what]), [[`token:${id}`, 'anna', `operator=local token=${id} path=/v1/memories`]]);
});

test('operators read the audit log in pages and prove it over the API', async (t) => {
  const server = await serve(t, { flags: ['--require-token', 'on'] }), { data } = server;
  const token = (...args) => ({ authorization: `Bearer ${/(rk_\S+)/.exec(run(data, 'token', 'create', ...args))[1]}` });
  const operator = token('--admin'), plain = token('--user', 'ann'), reads = token('--admin', '--scopes', 'read');
  const get = async (target, who = operator) => server.ask('GET', target, undefined, who);
  for (const target of ['/v1/audit', '/v1/audit/verify', '/v1/backups']) for (const who of [plain, reads]) assert.equal((await get(target, who)).status, 403, target);
  const { items, total, next, problem } = (await get('/v1/audit')).json();
  assert.deepEqual([items, total, next, problem], [shown(data).reverse(), 3, null, null]);
  const seen = [];
  for (let cursor = ''; cursor !== null;) {
    const page = (await get(`/v1/audit?kind=token.made&limit=2${cursor && `&cursor=${cursor}`}`)).json();
    assert.equal(page.total, 3);
    seen.push(page.items.map((line) => line.no));
    cursor = page.next;
  }
  assert.deepEqual(seen, [[3, 2], [1]]);
  for (const [query, numbers] of [['who=ann', [2]], ['kind=erased', []], [`before=${items[0].at}&limit=1`, [2]], [`after=${items[0].at}`, [3]], [`by=${encodeURIComponent(items[0].by)}`, [3, 2, 1]]])
    assert.deepEqual((await get(`/v1/audit?${query}`)).json().items.map((line) => line.no), numbers, query);
  const bad = await get('/v1/audit?limit=0');
  assert.equal(bad.status, 400);
  assert.match(bad.text, /limit/);
  assert.deepEqual((await get('/v1/audit/verify')).json(), { ok: true, lines: 3, problem: null });
  const lines = fs.readFileSync(file(data), 'utf8').split('\n');
  fs.writeFileSync(file(data), lines.with(1, lines[1].replace('admin=0', 'admin=1')).join('\n'));
  const proof = (await get('/v1/audit/verify')).json(), broken = (await get('/v1/audit')).json();
  assert.deepEqual([proof.ok, proof.lines, broken.items.map((line) => line.no)], [false, 1, [1]]);
  for (const { problem: why } of [proof, broken]) assert.match(why, /line 2 was changed/);
});
