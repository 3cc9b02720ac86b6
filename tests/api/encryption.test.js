// encryption.test.js - a database that is encrypted: its key named, kept or missing, and the commands that change it.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { bin, cleanEnv, run, serve, tempFolder, until } = require('./lib');

const keyA = crypto.randomBytes(32).toString('hex'), keyB = crypto.randomBytes(32).toString('hex');

async function ok(args, options) {
  const res = await run(args, options);
  assert.equal(res.code, 0, `${args.join(' ')}: ${res.stderr}`);
  return res.stdout;
}

async function refused(args, why, options) {
  const res = await run(args, options);
  assert.equal(res.code, 1, `${args.join(' ')}: ${res.stdout}`);
  assert.match(res.stderr, why);
  return res.stderr;
}

function keyFile(content, mode = 0o600) {
  const file = path.join(tempFolder(), 'key');
  fs.writeFileSync(file, content, { mode });
  fs.chmodSync(file, mode);
  return file;
}

// A secret-tool that keeps its secrets in a folder and writes down how it was called; or one that has no keyring to talk to,
// so that a developer's own is left alone.
function keyring(works = true) {
  const folder = tempFolder(), tool = path.join(folder, 'secret-tool'), kept = path.join(folder, 'kept');
  fs.mkdirSync(kept);
  fs.writeFileSync(tool, works ? `#!/bin/bash
echo "$*" >> '${folder}/calls'
verb=$1; shift
[[ $1 == --label=* ]] && shift
name='${kept}'/$(echo "$*" | tr '/ ' '__')
case $verb in
  store) cat > "$name" ;;
  lookup) cat "$name" 2>/dev/null ;;
  clear) rm -f "$name" ;;
esac
` : '#!/bin/sh\necho "Cannot autolaunch D-Bus without X11" >&2\nexit 1\n', { mode: 0o755 });
  return { env: { PATH: `${folder}:${process.env.PATH}` }, folder, kept: () => fs.readdirSync(kept).sort(),
    secrets: () => fs.readdirSync(kept).map((name) => fs.readFileSync(path.join(kept, name), 'utf8')),
    calls: () => fs.readFileSync(path.join(folder, 'calls'), 'utf8') };
}

const none = keyring(false);

// What lies in a data folder, besides the audit log of the commands.
const files = (folder) => fs.readdirSync(folder).filter((name) => !/^(rememberd\.audit|audit\.key)/.test(name)).sort();

// Whether a text stands in any file of a folder.
const holds = (folder, text) => fs.readdirSync(folder, { withFileTypes: true }).some((entry) => entry.isFile() &&
  fs.readFileSync(path.join(folder, entry.name)).includes(text));

test('a key that nobody named is kept in the keyring, and found again', async () => {
  const data = tempFolder(), at = ['--data', data], ring = keyring(), options = { env: ring.env };
  await ok(['add', 'My favourite tea is lapsang souchong', ...at], options);
  assert.ok(holds(data, 'lapsang'));
  assert.match(await ok(['encrypt', ...at], options), /^encrypted: .*the key is in the system's keyring\n$/s);
  assert.ok(!holds(data, 'lapsang'));
  assert.deepEqual(files(data), ['rememberd.db', 'rememberd.db-commits'], 'no key lies beside the data');
  assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/);
  assert.match(await ok(['doctor', ...at], options), /^ok +encryption: AEGIS-256, the key is in the system's keyring$/m);
  const first = (await ok(['key', 'show', ...at], options)).trim();
  assert.deepEqual(ring.secrets(), [first]);
  await ok(['rekey', ...at], options);
  const second = (await ok(['key', 'show', ...at], options)).trim();
  assert.notEqual(first, second);
  assert.deepEqual(ring.secrets().sort(), [first, second].sort(), 'the one before is kept for older backups');
  assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/);
  for (const key of [first, second]) assert.ok(!ring.calls().includes(key), 'a key is no argument');
  await ok(['decrypt', ...at], options);
  assert.ok(holds(data, 'lapsang'));
  assert.match(await ok(['search', 'favourite tea', ...at], { env: none.env }), /lapsang/);
});

test('without a keyring the key is in a file for its owner only', async () => {
  const data = tempFolder(), at = ['--data', data], options = { env: none.env }, file = path.join(data, 'rememberd.key');
  await ok(['add', 'x', ...at], options);
  assert.match(await ok(['encrypt', ...at], options), /protects copies and backups of the database, but not the folder/);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.match(await ok(['key', 'where', ...at], options), /^the file rememberd\.key beside the data\n$/);
  await ok(['add', 'My favourite tea is lapsang souchong', ...at], options);
  assert.ok(!holds(data, 'lapsang'));
  const doctor = await ok(['doctor', ...at], options);
  assert.match(doctor, /encryption: AEGIS-256, the key is in the file rememberd\.key beside the data\n +-> a key beside the data protects copies of the database/);
  fs.chmodSync(file, 0o640);
  await refused(['search', 'tea', ...at], /rememberd\.key' is accessible to other users \(mode 640\): run chmod 600 on it/, options);
  fs.chmodSync(file, 0o600);
  fs.renameSync(file, `${file}.away`);
  await refused(['search', 'tea', ...at], /is encrypted, and no key was found: use --key-file/, options);
  const lost = JSON.parse((await run(['doctor', '--json', ...at], options)).stdout);
  assert.match(lost.findings.find((one) => one.what === 'database').advice, /a lost key cannot be recovered/);
  fs.renameSync(`${file}.away`, file);
  assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/);
  await ok(['decrypt', ...at], options);
  const kept = fs.readFileSync(file);
  fs.chmodSync(file, 0o644);
  await refused(['encrypt', ...at], /rememberd\.key' is accessible to other users/, options);
  assert.deepEqual(fs.readFileSync(file), kept, 'the key of earlier backups is not replaced');
  fs.rmSync(path.join(data, 'rememberd.db'));
  await refused(['add', 'y', ...at], /is missing, and its key is there/, options);
});

test('a change of a kept key that is killed leaves a key that opens', async () => {
  const data = tempFolder(), at = ['--data', data], options = { env: none.env };
  await ok(['add', 'My favourite tea is lapsang souchong', ...at], options);
  await ok(['encrypt', ...at], options);
  for (let i = 0; i < 24; i++) {
    const child = spawn(bin, ['rekey', ...at], { env: { ...cleanEnv(), ...none.env }, stdio: 'ignore' });
    setTimeout(() => child.kill('SIGKILL'), 2 + i * 4);
    await once(child, 'exit');
    assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/, `killed after ${2 + i * 4} ms`);
  }
  await ok(['rekey', ...at], options);
  assert.deepEqual(files(data), ['rememberd.db', 'rememberd.db-commits', 'rememberd.key', 'rememberd.key.previous']);
  assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/);
});

test('of changes of the key at once one is made, and no key is lost', async () => {
  const data = tempFolder(), at = ['--data', data], options = { env: none.env };
  await ok(['add', 'My favourite tea is lapsang souchong', ...at], options);
  for (const command of ['encrypt', 'rekey', 'rekey', 'rekey']) {
    const ends = await Promise.all([1, 2, 3, 4].map(() => run([command, ...at], options)));
    assert.ok(ends.some((end) => end.code === 0));
    for (const end of ends) if (end.code) assert.match(end.stderr, /another process|is already encrypted; 'rememberd rekey'/);
    assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/);
  }
});

test('while one process changes the key, no other command that changes it begins', async (t) => {
  const data = tempFolder(), at = ['--data', data], options = { env: none.env };
  await ok(['add', 'My favourite tea is lapsang souchong', ...at], options);
  await ok(['encrypt', ...at], options);
  const other = spawn('flock', [data, 'sh', '-c', 'echo held && cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => other.kill());
  await once(other.stdout, 'data');
  for (const command of ['encrypt', 'rekey', 'decrypt']) await refused([command, ...at], /another process is changing the key/, options);
  other.stdin.end();
  await once(other, 'close');
  await ok(['decrypt', ...at], options);
  assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/);
});

test('a key is named by a file, a variable or a command, and by one of them', async () => {
  const data = tempFolder(), at = ['--data', data];
  const file = keyFile(`${keyA}\n`), raw = keyFile(Buffer.from(keyA, 'hex'));
  await ok(['add', 'x', ...at], { env: none.env });
  await ok(['encrypt', '--key-file', file, ...at], { env: none.env });
  await ok(['add', 'My favourite tea is lapsang souchong', '--key-file', raw, ...at]);
  for (const [flags, env] of [
    [['--key-file', file], {}], [['--key-file', raw], {}], [[], { REMEMBERD_KEY_FILE: file }], [[], { REMEMBERD_KEY: keyA }],
    [['--key-command', `cat ${file}`], {}], [[], { REMEMBERD_KEY: keyA.toUpperCase() }],
  ]) assert.match(await ok(['search', 'favourite tea', ...flags, ...at], { env }), /lapsang/);
  await refused(['search', 'tea', ...at], /more than one key is configured/, { env: { REMEMBERD_KEY: keyA, REMEMBERD_KEY_FILE: file } });
  await refused(['search', 'tea', ...at], /the key is not the key of the database/, { env: { REMEMBERD_KEY: keyB } });
  await refused(['search', 'tea', ...at], /REMEMBERD_KEY must be 64 hex digits/, { env: { REMEMBERD_KEY: `${keyA}0` } });
  await refused(['search', 'tea', '--key-command', 'echo no', ...at], /must print 32 bytes or 64 hex digits/);
  await refused(['search', 'tea', '--key-command', 'exit 3', ...at], /key command failed/);
  await refused(['search', 'tea', '--key-file', keyFile('short'), ...at], /must hold 32 bytes or 64 hex digits/);
  await refused(['search', 'tea', '--key-file', keyFile(keyA, 0o644), ...at], /is accessible to other users \(mode 644\)/);
  await refused(['search', 'tea', '--key-file', '/nowhere/key', ...at], /cannot be opened/);
  const again = keyFile(fs.readFileSync(raw));
  await refused(['rekey', '--key-file', file, '--new-key-file', again, ...at], /the new key equals the current key/, { env: none.env });
  const link = path.join(tempFolder(), 'link'), gone = path.join(tempFolder(), 'a disk that is not there');
  fs.symlinkSync(gone, link);
  await refused(['rekey', '--key-file', file, '--new-key-file', link, ...at], /cannot be opened: No such file/, { env: none.env });
  assert.ok(fs.lstatSync(link).isSymbolicLink() && !fs.existsSync(gone), 'no key is made in its place');
  assert.equal((await run(['serve', '--key', keyA, ...at])).code, 2, 'a key is no flag');
});

test('the log of erasures changes its key with the database; a damaged first page is named beside a wrong key', async () => {
  const data = tempFolder(), at = ['--data', data], env = { REMEMBERD_KEY: keyA };
  const { id } = JSON.parse(await ok(['add', 'My boat is called Halvorsen.', '--json', ...at], { env: none.env }));
  await ok(['forget', id, ...at], { env: none.env });
  const log = () => fs.readFileSync(path.join(data, 'rememberd.erasures'), 'utf8').split('\n')[0];
  const plain = log();
  await ok(['encrypt', ...at], { env });
  const sealed = log();
  assert.notEqual(sealed, plain);
  assert.ok(JSON.parse(sealed).key.length > 2 * JSON.parse(plain).key.length, sealed);
  await ok(['rekey', ...at], { env: { ...env, REMEMBERD_NEW_KEY: keyB } });
  assert.notEqual(log(), sealed);
  const file = fs.openSync(path.join(data, 'rememberd.db'), 'r+');
  fs.writeSync(file, 'damaged', 1000);
  fs.closeSync(file);
  await refused(['search', 'boat', ...at], /not the key of the database .*, or the first page of the file is damaged: with the right key, restore a backup/, { env: { REMEMBERD_KEY: keyB } });
});

test('a key file is made only where a new one is asked for', async () => {
  const folder = tempFolder(), typo = path.join(folder, 'typo'), made = path.join(folder, 'made'), at = ['--data', tempFolder()];
  await ok(['add', 'My favourite tea is lapsang souchong', ...at]);
  for (const [args, env] of [[['--key-file', typo], {}], [[], { REMEMBERD_KEY_FILE: typo }]])
    await refused(['encrypt', ...args, ...at], /the key file '.*typo' cannot be opened: No such file or directory; --new-key-file FILE makes/, { env: { ...none.env, ...env } });
  for (const [args, env] of [[['--key-file', typo], {}], [['--key-command', 'echo'], {}], [[], { REMEMBERD_KEY: keyA }]])
    await refused(['encrypt', '--new-key-file', made, ...args, ...at], /use --new-key-file without/, { env: { ...none.env, ...env } });
  assert.deepEqual(fs.readdirSync(folder), []);
  assert.match(await ok(['list', ...at]), /lapsang/, 'it is as it was');
  await ok(['encrypt', '--new-key-file', made, ...at], { env: { ...none.env, REMEMBERD_KEY_FILE: made } });
  assert.deepEqual(fs.readdirSync(folder), ['made']);
  assert.equal(fs.statSync(made).mode & 0o777, 0o600);
  assert.match(await ok(['list', '--key-file', made, ...at]), /lapsang/);
  const given = keyFile(keyA), there = ['--data', tempFolder()];
  await ok(['add', 'x', ...there], { env: none.env });
  await ok(['encrypt', '--new-key-file', given, ...there], { env: none.env });
  await ok(['list', ...there], { env: { REMEMBERD_KEY: keyA } });
});

test('every command that opens the store takes the key, and refuses without it', async () => {
  const data = tempFolder(), at = ['--data', data, '--listen', '127.0.0.1:0'], file = keyFile(keyA);
  const turns = path.join(tempFolder(), 'turns.jsonl');
  fs.writeFileSync(turns, JSON.stringify({ session: 'a', role: 'user', content: 'I live in Lisbon.' }));
  await ok(['add', 'x', ...at], { env: none.env });
  await ok(['encrypt', '--key-file', file, ...at], { env: none.env });
  const commands = [['add', 'x'], ['search', 'x'], ['list'], ['forget', '--everything', '--yes'], ['ingest', turns], ['token', 'list'], ['serve'], ['mcp'],
    ['reindex'], ['backup', path.join(tempFolder(), 'b')], ['rekey'], ['decrypt'], ['key', 'where']];
  for (const command of commands) {
    const { env } = none;
    await refused([...command, ...at], /is encrypted, and no key was found/, { env });
    await refused([...command, ...at], /is not the key of the (store|database)|a current key needs a new key/, { env: { ...env, REMEMBERD_KEY: keyB } });
  }
  for (const command of [['add', 'x'], ['search', 'x'], ['list'], ['forget', '--everything', '--yes'], ['ingest', turns], ['token', 'list'], ['mcp'], ['doctor']])
    await ok([...command, ...at], { env: { REMEMBERD_KEY: keyA } });
});

test('a plain store refuses a key and says how to encrypt', async () => {
  const at = ['--data', tempFolder()];
  await ok(['add', 'x', ...at]);
  await refused(['search', 'x', '--key-file', keyFile(keyA), ...at], /is not encrypted, but a key is set; rememberd encrypt encrypts it/);
  await refused(['decrypt', ...at], /is not encrypted/);
  await refused(['rekey', ...at], /is not encrypted/);
  await refused(['key', 'show', ...at], /is not encrypted/);
  await refused(['decrypt', '--data', tempFolder()], /no database at/);
});

test('encrypt makes no database, and what it refuses leaves no key', async (t) => {
  const data = path.join(tempFolder(), 'typo'), made = path.join(tempFolder(), 'new.key'), ring = keyring();
  await refused(['encrypt', '--data', data], /no database at/, { env: none.env });
  assert.ok(!fs.existsSync(data));
  const server = await serve(t), at = ['--data', server.data];
  await server.tell('My favourite tea is lapsang souchong.');
  const before = files(server.data);
  for (const [args, env] of [[['--new-key-file', made], none.env], [[], none.env], [[], ring.env]])
    await refused(['encrypt', ...args, ...at], /another process has the database/, { env });
  assert.deepEqual([fs.existsSync(made), ring.kept(), files(server.data)], [false, [], before]);
});

test('a new store with a key is encrypted from its first byte', async (t) => {
  const server = await serve(t, { env: { REMEMBERD_KEY: keyA } });
  await server.tell('My favourite tea is lapsang souchong.');
  assert.ok(fs.existsSync(path.join(server.data, 'rememberd.db-wal')));
  assert.ok(!holds(server.data, 'lapsang'));
  const later = await server.tell('What tea do I like?');
  assert.match(later.text, /lapsang/);
});

test('a key is not seen where others look', async (t) => {
  const server = await serve(t, { env: { REMEMBERD_KEY: keyA, REMEMBERD_NEW_KEY: keyB }, flags: ['--log-level', 'debug', '--core-dumps', 'on'] });
  await server.tell('My favourite tea is lapsang souchong.');
  const proc = `/proc/${server.child.pid}`;
  for (const key of [keyA, keyB]) {
    assert.ok(!fs.readFileSync(`${proc}/environ`).includes(key));
    assert.ok(!fs.readFileSync(`${proc}/cmdline`).includes(key));
    assert.ok(!server.stderr.includes(key) && !server.stdout.includes(key));
    for (const target of ['/metrics', '/health', '/api/settings', '/openapi.json'])
      assert.ok(!(await server.ask('GET', target)).text.includes(key));
    for (const format of [[], ['--json']])
      assert.ok(!(await ok(['serve', '--print-settings', ...format], { env: { REMEMBERD_KEY: key } })).includes(key));
  }
  const secret = 'pass show rememberd/deep';
  for (const format of [[], ['--json']])
    assert.ok(!(await ok(['serve', '--print-settings', '--key-command', secret, ...format])).includes(secret));
});

test('what a server has open is not converted; what is being used is backed up', async (t) => {
  const data = tempFolder(), at = ['--data', data], file = keyFile(keyA), backup = path.join(tempFolder(), 'memory.backup');
  const server = await serve(t, { data });
  await server.tell('My favourite tea is lapsang souchong.');
  await refused(['encrypt', '--key-file', file, ...at], /another process has the database .* open; stop it first/, { env: none.env });
  await refused(['restore', file, '--force', ...at], /not a rememberd database/, { env: none.env });
  const made = JSON.parse(await ok(['backup', backup, '--json', ...at]));
  assert.deepEqual([made.file, made.encrypted, made.bytes], [backup, false, fs.statSync(backup).size]);
  await refused(['restore', backup, '--force', ...at], /another process has the database/);
  assert.ok((await server.tell('What tea do I like?')).text.includes('lapsang'), 'the server went on');
  await server.stop();
  const encrypted = JSON.parse(await ok(['encrypt', '--key-file', file, '--json', ...at]));
  assert.equal(encrypted.encrypted, true);
  assert.ok(!holds(data, 'lapsang'));
  const again = await serve(t, { data, env: { REMEMBERD_KEY_FILE: file } });
  assert.match((await again.tell('What is my favourite tea?')).text, /lapsang/);
});

test('a backup is encrypted as its store is, and comes back under the key of the place', async () => {
  const data = tempFolder(), at = ['--data', data], fileA = keyFile(keyA), fileB = keyFile(keyB), folder = tempFolder();
  const backup = path.join(folder, 'memory.backup');
  await ok(['add', 'My favourite tea is lapsang souchong', ...at], { env: none.env });
  await ok(['encrypt', '--key-file', fileA, ...at], { env: none.env });
  assert.match(await ok(['backup', backup, '--key-file', fileA, ...at]), /, encrypted\n$/);
  assert.ok(!holds(folder, 'lapsang'));
  await refused(['backup', backup, '--key-file', fileA, ...at], /exists already/);
  await ok(['add', 'I moved to Lisbon', '--key-file', fileA, ...at]);
  await refused(['restore', `${backup}.gone`, '--key-file', fileA, ...at], /no database at '.*\.gone'/);
  await refused(['restore', backup, '--key-file', fileA, ...at], /there is a database .* already; --force/);
  await ok(['restore', backup, '--force', '--key-file', fileA, ...at]);
  const listed = await ok(['list', '--key-file', fileA, ...at]);
  assert.ok(listed.includes('lapsang') && !listed.includes('Lisbon'));
  await ok(['rekey', '--key-file', fileA, '--new-key-file', fileB, ...at]);
  for (const key of [fileA, fileB])
    await refused(['restore', backup, '--force', '--key-file', key, ...at], /has another key than the database.* restore it into an empty folder with the backup's key/);
  assert.match(await ok(['list', '--key-file', fileB, ...at]), /lapsang/);
  const elsewhere = ['--data', tempFolder()];
  await ok(['restore', backup, '--key-file', fileA, ...elsewhere]);
  assert.match(await ok(['list', '--key-file', fileA, ...elsewhere]), /lapsang/);
  await refused(['rekey', '--key-file', fileA, ...elsewhere], /a current key needs a new key/, { env: none.env });
  const made = path.join(tempFolder(), 'made');
  await ok(['rekey', '--key-file', fileA, '--new-key-file', made, ...elsewhere]);
  assert.equal(fs.statSync(made).mode & 0o777, 0o600);
  assert.match(await ok(['list', '--key-file', made, ...elsewhere]), /lapsang/);
});

const inPath = (program) => process.env.PATH.split(':').some((folder) => fs.existsSync(path.join(folder, program)));
const missing = ['secret-tool', 'dbus-run-session', 'gnome-keyring-daemon'].filter((program) => !inPath(program));

// A session bus with an unlocked keyring of its own, which ends with the test; null where neither can be started.
async function session(t) {
  const home = tempFolder();
  const env = { ...cleanEnv(), HOME: home, XDG_RUNTIME_DIR: home, XDG_DATA_HOME: path.join(home, 'data') };
  const child = spawn('dbus-run-session', ['--', 'sh', '-c',
    'printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && echo "bus $DBUS_SESSION_BUS_ADDRESS" && cat'],
  { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  t.after(() => { child.stdin.end(); return ended; });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
  const bus = () => /^bus (.+)\n/m.exec(said)?.[1];
  await Promise.race([until('a session bus', bus), ended]);
  return bus() ? { ...env, DBUS_SESSION_BUS_ADDRESS: bus() } : null;
}

test('a real Secret Service keeps the key', { skip: missing.length ? `${missing.join(', ')} not installed` : false }, async (t) => {
  const env = await session(t), data = tempFolder(), at = ['--data', data], options = { env };
  if (!env) return t.skip('no session bus and keyring can be started here');
  await ok(['add', 'My favourite tea is lapsang souchong', ...at], options);
  assert.match(await ok(['encrypt', ...at], options), /the key is in the system's keyring\n$/);
  assert.deepEqual(fs.readdirSync(data), ['rememberd.db', 'rememberd.db-commits'], 'no key lies beside the data');
  const first = await ok(['key', 'show', ...at], options);
  await ok(['rekey', ...at], options);
  assert.notEqual(await ok(['key', 'show', ...at], options), first);
  assert.match(await ok(['search', 'favourite tea', ...at], options), /lapsang/);
  const server = await serve(t, { data, env });
  assert.match((await server.tell('Which tea is my favourite?')).text, /lapsang/);
  await server.stop();
  const elsewhere = { env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' } };
  await refused(['search', 'tea', ...at], /is encrypted, and no key was found/, elsewhere);
  await ok(['decrypt', ...at], options);
  assert.match(await ok(['search', 'favourite tea', ...at], elsewhere), /lapsang/);
});
