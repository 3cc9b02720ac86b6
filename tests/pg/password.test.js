// password.test.js - the password of the database: from PGPASSWORD, a password file, a service file or the URL, and shown nowhere.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, until } = require('../api/lib');
const cluster = require('./cluster');

const secret = 'Sesame-Open-7';
const plain = () => `${process.env.TEST_STORE.replace('test@', 'guarded@')}&schema=guarded`;

test.before(async () => {
  if (cluster.missing) return;
  const hba = path.join(process.env.TEST_POSTGRES, 'data', 'pg_hba.conf');
  cluster.query(`CREATE ROLE guarded LOGIN PASSWORD '${secret}'; GRANT CREATE ON DATABASE postgres TO guarded`);
  fs.writeFileSync(hba, `local all guarded scram-sha-256\n${fs.readFileSync(hba, 'utf8')}`);
  cluster.query('SELECT pg_reload_conf()');
});

// All that a server shows: its lines, its title, what its API and its doctor say.
async function shown(server) {
  const parts = [server.stdout, server.stderr, fs.readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8')];
  for (const at of ['/ready', '/health', '/metrics', '/v1/settings', '/v1/doctor', '/v1/stats', '/v1/engine', '/v1/memories'])
    parts.push((await server.ask('GET', at)).text);
  return parts.join('\n');
}

async function works(t, options) {
  const server = await serve(t, options);
  const added = await server.ask('POST', '/v1/memories', { content: 'I like tea' });
  assert.equal(added.status, 201, added.text);
  assert.ok(!(await shown(server)).includes(secret));
  return server;
}

test('a password is taken from where libpq looks for it', { skip: cluster.missing }, async (t) => {
  const folder = tempFolder(), pass = path.join(folder, 'pass'), services = path.join(folder, 'services');
  fs.writeFileSync(pass, `*:*:*:guarded:${secret}\n`, { mode: 0o600 });
  const host = new URLSearchParams(process.env.TEST_STORE.split('?')[1]).get('host');
  fs.writeFileSync(services, `[mine]\nhost=${host}\nuser=guarded\npassword=${secret}\ndbname=postgres\n`);
  await works(t, { env: { REMEMBERD_STORE: plain(), PGPASSWORD: secret } });
  await works(t, { env: { REMEMBERD_STORE: plain(), PGPASSFILE: pass } });
  await works(t, { env: { REMEMBERD_STORE: 'postgres://?service=mine&schema=guarded', PGSERVICEFILE: services } });
});

test('a password in the URL is shown nowhere, right or wrong', { skip: cluster.missing }, async (t) => {
  const url = plain().replace('guarded@', `guarded:${secret}@`);
  const server = await works(t, { flags: ['--store', url], env: { REMEMBERD_STORE: '' } });
  assert.match(fs.readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8'), /--store\0\*/);
  for (const bad of [url.replace(secret, `${secret}8`), url.replace('guarded:', 'nobody:'), url.replace('postgres?', 'nowhere?')]) {
    const wrong = await serve(t, { flags: ['--store', bad], env: { REMEMBERD_STORE: '' } });
    await until('it says why', () => /cannot be reached/.test(wrong.stderr));
    assert.ok(!(await shown(wrong)).includes(secret));
    const doctor = await run(['doctor', '--store', bad, '--data', wrong.data], { env: { REMEMBERD_STORE: '' } });
    assert.notEqual(doctor.code, 0);
    assert.ok(!(doctor.stdout + doctor.stderr).includes(secret));
    const list = await run(['list', '--store', bad, '--data', wrong.data], { env: { REMEMBERD_STORE: '' } });
    assert.ok(list.code !== 0 && !(list.stdout + list.stderr).includes(secret), list.stdout);
  }
});
