// dump.test.js - what pg_dump writes: all that is kept, nothing that was erased, and no secret.
// SENTENCES=1000 tests/lib/with_postgres tools/node-test tests/pg/dump.test.js
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const path = require('node:path');
const test = require('node:test');
const { answer, run, serve, until, upstream } = require('../api/lib');
const cluster = require('./cluster');

const SENTENCES = Number(process.env.SENTENCES ?? 60);
const schemaOf = (data) => path.basename(data).toLowerCase().replace(/[^a-z0-9]/g, '_');
const word = () => [...randomBytes(12)].map((b) => String.fromCharCode(97 + b % 26)).join('');
const hex = (text) => Buffer.from(text).toString('hex');

async function ok(server, method, at, body) {
  const res = await server.ask(method, at, body);
  assert.ok(res.status >= 200 && res.status < 300, `${method} ${at}: ${res.status} ${res.text}`);
  return res.text ? res.json() : null;
}

async function say(server, content) {
  const res = await server.chat({ model: 'm', messages: [{ role: 'user', content }] });
  assert.equal(res.status, 200, res.text);
  return (await server.receipt(res.headers['x-rememberd-receipt'])).session;
}

// As text, and within what is written as bytes; without its ending, as the words index has it.
const holds = (dump, text) => dump.includes(text) || dump.includes(hex(text));
const stem = (mark) => mark.slice(0, 9);

test('a dump has what is kept, not what was erased, and no secret', { skip: cluster.missing }, async (t) => {
  const key = 'sk-live-9aK3pQ7rT2vX8yB4cD6fG1hJ', password = 'Barnacle77!', upstreamKey = `up-${word()}`;
  const model = await upstream(t, (req, res, one) => answer(res, one, 'I see.'));
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-key', upstreamKey] });
  const all = [];
  for (let i = 0; i < SENTENCES; i++) {
    const one = { mark: word(), name: `N${word()}`, erased: i % 4 >= 2 };
    const text = `My neighbour ${one.name} keeps a ${one.mark} in the cellar.`;
    if (i % 2) one.session = await say(server, text);
    else one.memory = (await ok(server, 'POST', '/v1/memories', { content: text })).id;
    all.push(one);
  }
  for (const one of all.slice(0, 16)) await say(server, `What does ${one.name} keep in the cellar?`); // receipts that show them
  const shown = all.slice(0, 16).filter((one) => model.asked.some((asked) => JSON.stringify(asked.json).includes(one.mark) && /What does/.test(JSON.stringify(asked.json.messages.at(-1)))));
  assert.ok(shown.some((one) => one.erased) && shown.some((one) => !one.erased), 'nothing was recalled');
  await say(server, `My API key is ${key}, and my password is ${password}`);
  await ok(server, 'POST', '/v1/memories', { content: `The API key of the boat is ${key}` });
  const dump = () => execFileSync('pg_dump', ['-n', `"${schemaOf(server.data)}"`, process.env.TEST_STORE], { encoding: 'latin1', maxBuffer: 1 << 30 });
  await until('all is kept', () => holds(dump(), stem(all.at(-1).mark)));
  const before = dump();
  assert.deepEqual(all.filter((one) => !before.includes(one.mark)), []);
  for (const one of all.filter((each) => each.erased))
    await ok(server, 'DELETE', one.session ? `/v1/sessions/${one.session}` : `/v1/memories/${one.memory}`);
  const [, token] = /(rk_\S+)/.exec((await run(['token', 'create', '--name', 'a', '--data', server.data])).stdout);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { authorization: `Bearer ${token}` })).status, 200);
  const after = dump();
  const left = all.filter((one) => one.erased && holds(after, stem(one.mark)));
  assert.deepEqual(left.map((one) => after.split('\n').filter((line) => holds(line, stem(one.mark))).map((line) => line.slice(0, 300))), []);
  assert.deepEqual(all.filter((one) => !one.erased && !after.includes(one.mark)), []);
  for (const secret of [key, password, upstreamKey, token, token.slice('rk_'.length)]) assert.ok(!holds(after, secret), secret);
  console.log(`${all.length} sentences, ${all.filter((one) => one.erased).length} erased; the dump has ${after.length} bytes`);
});
