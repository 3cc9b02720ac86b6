// installed.test.js - the program alone, as a package installs it: no source tree, and data of another user.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { bin, tempFolder } = require('./lib.js');

const owner = 65534, stranger = 65533; // users that own nothing else

// A folder with the program, its settings and a place for data; anyone may enter it.
function installed(user) {
  const root = tempFolder(), program = path.join(root, 'rememberd'), config = path.join(root, 'config.json'), data = path.join(root, 'lib/data');
  fs.chmodSync(root, 0o755);
  fs.copyFileSync(bin, program);
  fs.chmodSync(program, 0o755);
  fs.mkdirSync(path.dirname(data));
  fs.writeFileSync(config, JSON.stringify({ data }), { mode: 0o644 });
  if (user !== undefined) fs.chownSync(path.dirname(data), user, user);
  const as = (uid, ...args) => spawnSync(program, args, { cwd: '/', encoding: 'utf8', env: { PATH: '/usr/bin:/bin', REMEMBERD_CONFIG: config }, ...(uid === undefined ? {} : { uid, gid: uid }) });
  return { as, data };
}

test('the doctor of an installed program looks at the data that its settings name', () => {
  const { as, data } = installed();
  assert.match(as(undefined, 'doctor').stdout, new RegExp(`^warn data folder: ${data}: No such file`));
  assert.equal(as(undefined, 'add', 'My dog is called Rex.').status, 0);
  const { status, stdout, stderr } = as(undefined, 'doctor');
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, new RegExp(`^ok +data folder: ${data}\n[^]*ok +database: 0 messages, 1 memories`));
});

test('the doctor names the user whose data it is', (t) => {
  if (process.getuid() !== 0) return t.skip('only root can run a program as another user');
  const { as, data } = installed(owner);
  assert.equal(as(owner, 'add', 'My dog is called Rex.').status, 0);
  assert.equal(as(owner, 'doctor').status, 0);
  const other = as(stranger, 'doctor');
  assert.equal(other.status, 1);
  assert.match(other.stdout, new RegExp(`^bad +data folder: ${data} belongs to the user ${owner}, and this is user ${stranger}\n +-> run this as that user: sudo -u '#${owner}' rememberd doctor\n`));
  assert.ok(!/bad +(database|audit|disk)/.test(other.stdout), other.stdout);
  // An administrator sees everything, and leaves no file that the server cannot write.
  assert.equal(as(0, 'doctor').status, 0);
  for (const name of fs.readdirSync(data)) assert.equal(fs.statSync(path.join(data, name)).uid, owner, name);
});

test('root acts as the owner of the data, so that the owner can go on', (t) => {
  if (process.getuid() !== 0) return t.skip('only root can run a program as another user');
  const { as, data } = installed(owner), copy = path.join(path.dirname(data), 'copy.db'), key = path.join(path.dirname(data), 'key');
  assert.equal(as(owner, 'add', 'My dog is called Rex.').status, 0);
  for (const args of [['add', 'I live in Lisbon.'], ['backup', copy], ['restore', copy, '--force'], ['encrypt', '--new-key-file', key]]) {
    const done = as(0, ...args);
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stderr, new RegExp(`^acting as uid ${owner}, who owns ${data}$`, 'm'));
  }
  for (const name of fs.readdirSync(data)) assert.equal(fs.statSync(path.join(data, name)).uid, owner, name);
  const list = as(owner, 'list', '--key-file', key);
  assert.match(list.stdout, /Rex[^]*Lisbon|Lisbon[^]*Rex/, list.stderr);
});
