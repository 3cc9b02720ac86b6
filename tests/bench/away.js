// away.js - what a chat costs while PostgreSQL is away, beside the same chat with memory off: ROUNDS=2000 tests/lib/with_postgres tools/node-test tests/bench/away.js
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const { test } = require('node:test');
const { serve, until, upstream } = require('../api/lib');
const cluster = require('../pg/cluster');

const ROUNDS = Number(process.env.ROUNDS ?? 1000), WARM = 50;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

// Milliseconds until the whole answer is there, on a connection that stays open.
function chat(server, i, headers) {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `My ${i}th question: what is my dog called?` }] });
  const began = process.hrtime.bigint();
  return new Promise((done, fail) => {
    http.request(`${server.url}/v1/chat/completions`, { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers } }, (res) => {
      assert.equal(res.statusCode, 200);
      res.resume().on('end', () => done(Number(process.hrtime.bigint() - began) / 1e6)).on('error', fail);
    }).on('error', fail).end(body);
  });
}

const at = (v, part) => [...v].sort((a, b) => a - b)[Math.floor(v.length * part)].toFixed(2);
const line = (name, v) => console.log(`${name.padEnd(28)} p50 ${at(v, 0.5)} p90 ${at(v, 0.9)} p99 ${at(v, 0.99)} max ${at(v, 0.9999)} ms`);

// The two take turns, so that a slow spell of the machine hits both.
async function measure(server, name) {
  const off = [], on = [];
  for (let i = -WARM; i < ROUNDS; i++) {
    const pair = [await chat(server, i, { 'x-memory-mode': 'off' }), await chat(server, i, {})];
    if (i >= 0) [off, on].forEach((v, k) => v.push(pair[k]));
  }
  line(`${name}, memory off`, off);
  line(`${name}, memory on`, on);
  return [off, on];
}

test('a chat while PostgreSQL is away', { skip: cluster.missing, timeout: 600000 }, async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error'] });
  await measure(server, 'PostgreSQL is there');
  await cluster.kill();
  await until('it is away', async () => (await server.ask('GET', '/ready')).status === 503, 30000);
  const [off, on] = await measure(server, 'PostgreSQL is away');
  console.log(`added by memory that is away: p50 ${(at(on, 0.5) - at(off, 0.5)).toFixed(2)} ms`);
  await cluster.start();
  agent.destroy();
});
