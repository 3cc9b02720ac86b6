// stranger.js - whether the time of an answer tells that an id exists: another user's ids against ids of nobody, in turns.
'use strict';
const crypto = require('node:crypto');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');

const ROUNDS = Number(process.env.ROUNDS ?? 1500), SESSIONS = 2000;
const bin = path.resolve(process.argv[2], 'rememberd');
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'rememberd-bench-'));
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function ask(url, method, target, token, body) {
  return new Promise((resolve, reject) => {
    const from = process.hrtime.bigint();
    const text = body && JSON.stringify(body);
    const req = http.request(url + target, { method, agent, headers: {
      ...(token && { authorization: `Bearer ${token}` }), ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }) } });
    req.on('error', reject).on('response', (res) => {
      let got = '';
      res.setEncoding('utf8').on('data', (d) => (got += d)).on('end', () =>
        resolve({ status: res.statusCode, us: Number(process.hrtime.bigint() - from) / 1000, body: got && JSON.parse(got) }));
    });
    req.end(text);
  });
}

const quantile = (v, q) => v.sort((a, b) => a - b)[Math.floor(v.length * q)];

async function main(url) {
  const users = [];
  for (const name of ['ann', 'bob']) {
    const made = await ask(url, 'POST', '/v1/users', null, { id: crypto.randomUUID(), email: `${name}@example.com` });
    users.push({ token: made.body.access_token, sessions: [], memories: [] });
  }
  const [ann, bob] = users;
  for (let i = 0; i < SESSIONS; i++) {
    for (const user of users) user.sessions.push((await ask(url, 'POST', '/v1/session', user.token, { app_id: `app${i % 3}` })).body.session_id);
    if (i % 10 === 0) ann.memories.push((await ask(url, 'POST', '/v1/memory/save', ann.token, { content: `note ${i}` })).body.id);
  }
  const cases = [
    ['GET /v1/session/{id}', 'GET', (id) => `/v1/session/${id}`, ann.sessions],
    ['GET /v1/session/{id}/history', 'GET', (id) => `/v1/session/${id}/history`, ann.sessions],
    ['DELETE /v1/memory/{id}', 'DELETE', (id) => `/v1/memory/${id}`, ann.memories],
    ['GET /api/v1/memory/{id}', 'GET', (id) => `/api/v1/memory/${id}`, ann.memories],
  ];
  console.log(`${'endpoint, asked by another'.padEnd(34)}  someone's p50  nobody's p50  ratio   (us, ${ROUNDS} pairs)`);
  for (const [name, method, target, ids] of cases) {
    const theirs = [], none = [];
    for (let i = 0; i < ROUNDS; i++) {
      const pair = [[theirs, ids[i % ids.length]], [none, crypto.randomUUID()]];
      if (i % 2) pair.reverse();
      for (const [list, id] of pair) {
        const got = await ask(url, method, target(id), bob.token);
        if (got.status !== 404) throw new Error(`${name}: ${got.status}`);
        list.push(got.us);
      }
    }
    const a = quantile(theirs, 0.5), b = quantile(none, 0.5);
    console.log(`${name.padEnd(34)}  ${a.toFixed(0).padStart(13)}  ${b.toFixed(0).padStart(12)}  ${(a / b).toFixed(3).padStart(5)}`);
  }
}

const server = spawn(bin, ['serve', '--token-rate-max', '0', '--listen', '127.0.0.1:0', '--data', data, '--log-level', 'error'], { stdio: ['ignore', 'pipe', 'ignore'] });
server.stdout.once('data', (line) => main(/http:\S+/.exec(String(line))[0])
  .catch((error) => { console.error(error); process.exitCode = 1; })
  .finally(() => { agent.destroy(); server.kill(); server.once('exit', () => fs.rmSync(data, { recursive: true, force: true })); }));
