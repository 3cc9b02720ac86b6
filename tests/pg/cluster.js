// cluster.js - the PostgreSQL of tests/lib/with_postgres: killed, stopped for a while, started again.
'use strict';
const { spawn, spawnSync, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { until } = require('../api/lib');

const folder = process.env.TEST_POSTGRES;
const missing = folder ? false : 'run by tests/lib/with_postgres';

const pid = () => Number(fs.readFileSync(path.join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);

const query = (sql) => execFileSync('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', sql, process.env.TEST_STORE], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

function isUp() {
  try {
    return query('SELECT 1') === '1';
  } catch {
    return false;
  }
}

const children = (of) => spawnSync('ps', ['-o', 'pid=', '--ppid', String(of)], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean).map(Number);

function isDead(pid) {
  try {
    return /\nState:\s+Z/.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

// As a machine that loses power: SIGKILL of the server and of all that it has started. It stops first: a child that it
// starts meanwhile would outlive it, and its memory would keep the next server from starting. So would its number in
// postmaster.pid, as long as its parent has not waited for it; the children have another parent by then, which may not.
async function kill() {
  const main = pid();
  process.kill(main, 'SIGSTOP');
  const all = [main, ...children(main)];
  for (const one of all) try { process.kill(one, 'SIGKILL'); } catch {}
  await until('PostgreSQL is gone', () => all.every((one) => (one === main ? !fs.existsSync(`/proc/${one}`) : isDead(one))));
}

async function start() {
  const server = spawn(path.join(folder, 'start'), { detached: true, stdio: 'ignore' });
  server.unref();
  await until('PostgreSQL is back', () => {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended, see ${process.env.TEST_POSTGRES_LOG}:\n${fs.readFileSync(process.env.TEST_POSTGRES_LOG, 'utf8').slice(-500)}`);
    return isUp();
  }, 60000);
}

// Alive, and answers nobody.
function freeze() {
  const main = pid(), all = [main, ...children(main)];
  for (const one of all) process.kill(one, 'SIGSTOP');
  return () => { for (const one of all) try { process.kill(one, 'SIGCONT'); } catch {} };
}

module.exports = { missing, query, kill, start, freeze, isUp, pid };
