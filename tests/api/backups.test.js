// backups.test.js - backups that a server makes by itself: when, how many stay, which one comes back, and who is told of late ones.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { run: cli, serve, tempFolder, until } = require('./lib.js');

const HOUR = 3600000;
const nameOf = (ms) => `rememberd-${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')}.db`;
const madeIn = (folder) => (fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => /^rememberd-\d{8}T\d{6}Z\.db$/.test(name)).sort() : []);
const first = (folder) => until('a backup', () => madeIn(folder)[0], 30000);

test('a running server makes a backup, which comes back with --at', async (t) => {
  const data = tempFolder(), folder = path.join(tempFolder(), 'backups'), elsewhere = tempFolder(), at = ['--backup-dir', folder];
  const without = await serve(t); // begins earlier, so it has looked by then
  const server = await serve(t, { data, flags: at });
  await server.ask('POST', '/v1/memories', { content: 'I play the cello on Tuesdays.' });
  const name = await first(folder);
  assert.doesNotMatch(without.stderr, /job=backup/, 'no folder, no backup');
  assert.equal(fs.statSync(path.join(folder, name)).mode & 0o777, 0o600);
  const metrics = (await server.ask('GET', '/metrics')).text;
  const made = Number(/^rememberd_last_backup_timestamp_seconds (\d+)/m.exec(metrics)[1]);
  assert.equal(nameOf(made * 1000), name);
  const { findings } = (await server.ask('GET', '/v1/doctor')).json();
  const found = findings.find((one) => one.what === 'backups');
  assert.equal(found.level, 'ok', found.detail);
  assert.deepEqual(madeIn(folder), [name], 'one is enough for a day');
  await server.stop();

  const listed = JSON.parse((await cli(['restore', '--list', '--json', ...at])).stdout);
  assert.deepEqual(listed.map(({ file, bytes }) => [file, bytes]), [[path.join(folder, name), fs.statSync(path.join(folder, name)).size]]);
  const back = await cli(['restore', '--at', '2999-01-01', '--data', elsewhere, ...at]);
  assert.equal(back.code, 0, back.stderr);
  assert.match((await cli(['list', '--data', elsewhere])).stdout, /cello/);
});

test('old ones go when a newer one is there, and no other file', async (t) => {
  const folder = tempFolder(), now = Date.now();
  const old = [3, 2, 1].map((days) => nameOf(now - days * 24 * HOUR));
  const others = ['rememberd-20200101T000000Z-schema16.db', 'rememberd-notes.db', 'other-20200101T000000Z.db'];
  for (const name of [...old, ...others]) fs.writeFileSync(path.join(folder, name), 'an old one');
  await serve(t, { flags: ['--backup-dir', folder, '--backup-keep', '2'] });
  await until('the oldest are gone', () => madeIn(folder).length === 2, 30000);
  assert.equal(madeIn(folder)[0], old[2]);
  for (const name of others) assert.ok(fs.existsSync(path.join(folder, name)), name);
});

test('what a killed backup left goes with a later one', async (t) => {
  const folder = tempFolder(), now = Date.now();
  const left = [`${nameOf(now - 48 * HOUR)}.new`, `${nameOf(now - 48 * HOUR)}.new-journal`];
  const others = [`${nameOf(now - HOUR)}.new`, 'other-20200101T000000Z.db.new', 'rememberd-20200101T000000Z-schema16.db.new'];
  for (const name of [...left, ...others]) fs.writeFileSync(path.join(folder, name), 'a part');
  await serve(t, { flags: ['--backup-dir', folder] });
  await first(folder);
  assert.deepEqual(left.filter((name) => fs.existsSync(path.join(folder, name))), []);
  for (const name of others) assert.ok(fs.existsSync(path.join(folder, name)), name);
});

test('a backup that fails deletes nothing, and doctor says that it is late', async (t) => {
  const folder = path.join(tempFolder(), 'a file'), old = nameOf(Date.now() - 72 * HOUR);
  fs.writeFileSync(folder, '');
  const server = await serve(t, { flags: ['--backup-dir', folder] });
  await until('the failure is logged', () => /background\.failed job=backup why="/.test(server.stderr), 30000);
  const of = async () => (await server.ask('GET', '/v1/doctor')).json().findings.find((one) => one.what === 'backups');
  assert.equal((await of()).level, 'warn');
  fs.rmSync(folder);
  fs.mkdirSync(folder, { mode: 0o700 });
  fs.writeFileSync(path.join(folder, old), '');
  assert.match((await of()).detail, /^1 in .*, the newest of /);
});

test('what an upgrade copied is named, as no erasure and no encryption reaches it', async () => {
  const data = tempFolder(), at = ['--data', data], copy = path.join(data, 'rememberd-20200101T000000Z-schema16.db');
  await cli(['add', 'Zeta is a code.', ...at]);
  assert.doesNotMatch((await cli(['doctor', ...at])).stdout, /copies/);
  fs.copyFileSync(path.join(data, 'rememberd.db'), copy);
  assert.match((await cli(['encrypt', ...at])).stdout, /Earlier backups stay unencrypted, also rememberd-\*-schema\*\.db/);
  assert.match((await cli(['doctor', ...at])).stdout, /warn copies: .*\n +-> delete rememberd-\*-schema\*\.db/);
  fs.rmSync(copy);
  assert.doesNotMatch((await cli(['doctor', ...at])).stdout, /copies:/);
});

test('restore says what it lacks', async () => {
  const folder = tempFolder(), at = ['--backup-dir', folder];
  for (const [args, why] of [[[], /takes one of FILE, --at TIME and --list/], [['--list'], /backup_dir: is not set/],
    [['a.db', '--list', ...at], /takes one of/], [['--at', 'noon', ...at], /at: must be a time/],
    [['--at', '2020-01-01', ...at], /no backup in '.*' is from 2020-01-01 or before/]]) {
    const { code, stderr } = await cli(['restore', ...args]);
    assert.ok(code !== 0, args.join(' '));
    assert.match(stderr, why);
  }
  assert.match((await cli(['restore', '--list', ...at])).stdout, /^no backups in /);
});

test('a restore that fails leaves no folder behind, and one that was there', async () => {
  const data = tempFolder(), backup = path.join(tempFolder(), 'b.db'), elsewhere = path.join(tempFolder(), 'new');
  assert.equal((await cli(['add', 'I like tea', '--data', data])).code, 0);
  assert.equal((await cli(['backup', backup, '--data', data])).code, 0);
  const bytes = fs.readFileSync(backup), broken = `${backup}.broken`, foreign = `${backup}.txt`;
  fs.writeFileSync(broken, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]));
  fs.writeFileSync(foreign, 'a text');
  for (const file of [broken, foreign]) {
    assert.equal((await cli(['restore', file, '--data', elsewhere])).code, 1);
    assert.ok(!fs.existsSync(elsewhere), file);
  }
  fs.mkdirSync(elsewhere);
  assert.equal((await cli(['restore', foreign, '--data', elsewhere])).code, 1);
  assert.ok(fs.existsSync(elsewhere));
  assert.equal((await cli(['restore', backup, '--data', elsewhere])).code, 0);
});

test('backup_keep holds for backups that a job makes', async (t) => {
  const folder = path.join(tempFolder(), 'backups'), server = await serve(t, { flags: ['--backup-dir', folder, '--backup-keep', '2'] });
  await first(folder);
  for (const hours of [1, 2, 3]) fs.copyFileSync(path.join(folder, madeIn(folder).at(-1)), path.join(folder, nameOf(Date.now() - hours * HOUR)));
  fs.rmSync(path.join(folder, madeIn(folder).at(-1)));
  const { id } = (await server.ask('POST', '/v1/jobs', { kind: 'backup' })).json();
  const job = await until('the job', async () => (({ ended, ...job }) => ended && job)((await server.ask('GET', `/v1/jobs/${id}`)).json()));
  assert.equal(job.state, 'done', job.error);
  assert.deepEqual([madeIn(folder).length, madeIn(folder).at(-1)], [2, job.result.name]);
});

test('backups of a time to come, as after a wrong clock, take no place of a real one', async (t) => {
  const folder = tempFolder(), wrong = ['2099-01-01', '2099-01-02'].map((day) => nameOf(Date.parse(day)));
  for (const name of wrong) fs.writeFileSync(path.join(folder, name), 'x');
  const server = await serve(t, { flags: ['--backup-dir', folder, '--backup-keep', '1'] });
  await first(folder);
  const { id } = (await server.ask('POST', '/v1/jobs', { kind: 'backup' })).json();
  const job = await until('the job', async () => {
    const one = (await server.ask('GET', `/v1/jobs/${id}`)).json();
    return one.ended && one;
  });
  assert.equal(job.state, 'done', job.error);
  assert.deepEqual(madeIn(folder), [job.result.name, ...wrong]);
});

test('operators make, list and verify backups over the API', async (t) => {
  const folder = path.join(tempFolder(), 'backups'), server = await serve(t, { flags: ['--backup-dir', folder] });
  await first(folder);
  const old = path.join(folder, nameOf(Date.now() - HOUR));
  fs.renameSync(path.join(folder, madeIn(folder)[0]), old); // a second one has another name
  const begin = (body, headers) => server.ask('POST', '/v1/jobs', body, headers);
  const end = async (begun) => until('the job', async () => {
    const job = (await server.ask('GET', `/v1/jobs/${begun.json().id}`)).json();
    return job.ended && job;
  });
  const made = await end(await begin({ kind: 'backup' }));
  assert.equal(made.state, 'done', made.error);
  const { items, total, problem } = (await server.ask('GET', '/v1/backups')).json();
  assert.deepEqual([items[0].name, items[0].bytes, items[0].remote, items[1].name, total, problem],
    [made.result.name, made.result.bytes, false, path.basename(old), 2, null]);
  const verified = await end(await begin({ kind: 'verify_backup', name: made.result.name }));
  assert.deepEqual([verified.state, verified.result], ['done', made.result]);
  const bytes = fs.readFileSync(old);
  fs.writeFileSync(old, Buffer.concat([bytes.subarray(0, 8192), Buffer.alloc(bytes.length - 8192, 7)]));
  const damaged = await end(await begin({ kind: 'verify_backup', name: path.basename(old) }));
  assert.equal(damaged.state, 'failed');
  for (const [body, words] of [[{ kind: 'verify_backup', name: '../rememberd.db' }, /name/], [{ kind: 'verify_backup' }, /name/], [{ kind: 'prune', name: 'x' }, /name/]]) {
    const refused = await begin(body);
    assert.equal(refused.status, 400);
    assert.match(refused.text, words);
  }
  const without = await serve(t), none = await without.ask('POST', '/v1/jobs', { kind: 'backup' });
  assert.match(none.text, /backup_dir: is not set/);
  assert.deepEqual((await without.ask('GET', '/v1/backups')).json().items, []);
  // A token that may write memories may not begin the server's work.
  const key = /(rk_\S+)/.exec((await cli(['token', 'create', '--admin', '--scopes', 'write', '--data', server.data])).stdout)[1];
  const refused = await begin({ kind: 'backup' }, { authorization: `Bearer ${key}` });
  assert.match(refused.text, /lacks the scope 'manage'/);
});
