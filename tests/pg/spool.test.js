// spool.test.js - PostgreSQL is killed under chats, and the node as well: what was said is kept, once each and in order.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { answer, serve, tempFolder, until, upstream } = require('../api/lib');
const cluster = require('./cluster');

const options = { skip: cluster.missing };
test.beforeEach(async () => cluster.missing || cluster.isUp() || cluster.start());

const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const schemaOf = (data) => path.basename(data).toLowerCase().replace(/[^a-z0-9]/g, '_');

// [text, session, place] of all that users said, in order.
const said = (data) => JSON.parse(cluster.query(`SELECT coalesce(json_agg(json_build_array(text, session, doc) ORDER BY doc), '[]')
  FROM (SELECT m.text, s.id AS session, m.doc FROM "${schemaOf(data)}".message m JOIN "${schemaOf(data)}".session s ON s.no = m.doc >> 20 WHERE m.role = 'user') AS v`));

// One conversation, whose client sends all of it each time, as most do.
async function talk(ask, name, turns, pauseMs) {
  const messages = [], told = [];
  for (let i = 0; i < turns; i++) {
    messages.push({ role: 'user', content: `${name} says number ${i}` });
    const res = await ask({ model: 'm', messages });
    assert.equal(res.status, 200, res.text);
    messages.push({ role: 'assistant', content: res.json().choices[0].message.content });
    told.push(messages[messages.length - 2].content);
    await rest(pauseMs);
  }
  return told;
}

function checkKept(data, told) {
  const all = said(data);
  for (const texts of told) {
    const mine = all.filter(([text]) => texts.includes(text));
    assert.deepEqual(mine.map(([text]) => text), texts); // once each, in order
    assert.equal(new Set(mine.map(([, session]) => session)).size, 1);
  }
}

const spoolOf = (data, no = 1) => path.join(data, `spool.${no}`);
const isKept = (data, n) => until('all is kept', () => said(data).length >= n, 60000);
const isEmpty = (data) => until('the spool is empty', () => fs.statSync(spoolOf(data)).size <= 21, 180000);

test('PostgreSQL is killed twice under chats: no chat fails, nothing is lost, nothing is kept twice', options, async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error'] });
  const turns = 60, clients = 6;
  const talks = Promise.all(Array.from({ length: clients }, (_, i) => talk((body) => server.chat(body), `client ${i}`, turns, 60)));
  for (let round = 0; round < 2; round++) {
    await rest(500);
    await cluster.kill();
    await rest(1000);
    await cluster.start();
  }
  const told = await talks;
  await isKept(server.data, turns * clients);
  await isEmpty(server.data);
  checkKept(server.data, told);
});

test('the node is killed as well: another one on the folder keeps what was said', options, async (t) => {
  const model = await upstream(t), data = tempFolder(), flags = ['--upstream', model.url, '--log-level', 'error'];
  const server = await serve(t, { flags, data });
  const first = await talk((body) => server.chat(body), 'before', 2, 0);
  await isKept(data, 2);
  await cluster.kill();
  await until('the probe tells', async () => (await server.ask('GET', '/ready')).status === 503, 30000);
  const told = [first, await talk((body) => server.chat(body), 'one', 5, 0), await talk((body) => server.chat(body), 'two', 5, 0)];
  await until('the turns are noted', () => fs.readFileSync(spoolOf(data), 'utf8').split('\n').length === 1 + 10 + 1);
  assert.equal(fs.statSync(spoolOf(data)).mode & 0o777, 0o600);
  await server.stop('SIGKILL');
  fs.appendFileSync(spoolOf(data), '007 {"at":1,"user":"local","cut off'); // as a crash leaves it
  fs.renameSync(spoolOf(data), spoolOf(data, 2)); // as the second of two servers on the folder has left it
  const again = await serve(t, { flags, data });
  assert.equal(fs.statSync(spoolOf(data, 2)).size, 21);
  await cluster.start();
  await isEmpty(data);
  checkKept(data, told);
  assert.equal(said(data).length, 12);
  assert.equal((await again.ask('GET', '/ready')).status, 200);
});

test('what was said while it was away is older than what is said after, and its receipt tells why', options, async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error'] });
  assert.equal((await server.chat({ model: 'm', messages: [{ role: 'user', content: 'My name is Anna.' }] })).status, 200);
  await isKept(server.data, 1);
  await cluster.kill();
  await until('the probe tells', async () => (await server.ask('GET', '/ready')).status === 503, 30000);
  const away = Date.now();
  const chat = await server.chat({ model: 'm', messages: [{ role: 'user', content: 'I live in Oslo.' }] });
  const after = Date.now();
  await cluster.start();
  await isEmpty(server.data);
  const receipt = await server.receipt(chat.headers['x-rememberd-receipt']);
  assert.equal(receipt.decision, 'failed');
  assert.match(receipt.reason, /cannot be reached/);
  const at = Date.parse(receipt.created);
  assert.ok(at >= away && at <= after, receipt.created);
  const asked = await server.chat({ model: 'm', messages: [{ role: 'user', content: 'Where do I live?' }] });
  assert.equal(asked.status, 200);
  assert.match(JSON.stringify(model.last().json), /Oslo/);
});

// What is erased must not come back from it.
test('while a spool is being stored, a space is not erased, and then for good', options, async (t) => {
  const data = tempFolder(), n = 2048, said = (i) => ({ at: Date.now(), user: 'local', space: 'default', said: [['user', `My boat has number ${i}.`, '', 0]], answer: 'Fine.' });
  fs.writeFileSync(spoolOf(data), `${'21'.padStart(20, '0')}\n${Array.from({ length: n }, (_, i) => `${String(i % 256).padStart(3, '0')} ${JSON.stringify(said(i))}\n`).join('')}`);
  const server = await serve(t, { data, flags: ['--recall-deadline-ms', '100'] });
  const erase = () => server.ask('DELETE', '/v1/spaces/default');
  await until('the first is stored', async () => (await server.ask('GET', '/v1/stats')).json().messages > 0);
  const early = await erase();
  assert.equal(early.status, 429, early.text);
  assert.match(early.text, /still being stored/);
  await isEmpty(data);
  assert.equal((await erase()).status, 200);
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0);
  assert.equal((await server.ask('GET', '/v1/stats')).json().messages, 0);
});

// Said while it was away; the conversation goes on after, and the client sends all of it unmasked.
test('a secret is in no spool, and its conversation is one session, kept once', options, async (t) => {
  const secret = 'sk-live-9aK3pQ7rT2vX8yB4cD6fG1hJ', card = 'Barnacle77!';
  const model = await upstream(t, (req, res, one) => answer(res, one, `I use ${secret} from now on.`));
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error'] });
  const messages = [];
  const say = async (content) => {
    messages.push({ role: 'user', content });
    const res = await server.chat({ model: 'm', messages });
    assert.equal(res.status, 200, res.text);
    messages.push({ role: 'assistant', content: res.json().choices[0].message.content });
  };
  await say('My boat is called Ottilie.');
  await isKept(server.data, 1);
  await cluster.kill();
  await until('the probe tells', async () => (await server.ask('GET', '/ready')).status === 503, 30000);
  await say(`My API key is ${secret}, and my password is ${card}`);
  await say('Which key do you use?');
  await until('the turns are noted', () => fs.readFileSync(spoolOf(server.data), 'utf8').split('\n').length === 1 + 2 + 1);
  const spool = fs.readFileSync(spoolOf(server.data), 'utf8');
  assert.match(spool, /My API key is /);
  for (const one of [secret, card]) assert.ok(!spool.includes(one), one);
  await cluster.start();
  await isEmpty(server.data);
  await say('And my cat is called Minka.');
  await isKept(server.data, 4);
  const all = said(server.data);
  assert.equal(all.length, 4, JSON.stringify(all));
  assert.equal(new Set(all.map(([, session]) => session)).size, 1);
  assert.ok(!JSON.stringify(all).includes(secret));
});

// Kept there as history, from which nothing is learnt; the spool that comes late says that it was a turn.
test('a turn in a spool is learnt from, once, when its conversation has gone on at another node', options, async (t) => {
  const model = await upstream(t), data = tempFolder(), flags = ['--upstream', model.url, '--log-level', 'error'];
  const first = await serve(t, { flags, data }), count = (sql) => cluster.query(`SELECT count(*) FROM "${schemaOf(data)}".${sql}`);
  await cluster.kill();
  await until('the probe tells', async () => (await first.ask('GET', '/ready')).status === 503, 30000);
  const messages = [{ role: 'user', content: 'My sister Ottilie lives in Porto.' }];
  const ask = async (server, content) => {
    if (content) messages.push({ role: 'user', content });
    const res = await server.chat({ model: 'm', messages });
    assert.equal(res.status, 200, res.text);
    messages.push({ role: 'assistant', content: res.json().choices[0].message.content });
  };
  await ask(first);
  await until('the turn is noted', () => fs.readFileSync(spoolOf(data), 'utf8').split('\n').length === 1 + 1 + 1);
  await first.stop('SIGKILL');
  await cluster.start();
  const second = await serve(t, { flags, data: tempFolder(), env: { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=${schemaOf(data)}` } });
  await ask(second, 'And my cat is called Minka.');
  await isKept(data, 2);
  const asks = async () => {
    assert.equal((await second.chat({ model: 'm', messages: [{ role: 'user', content: 'Where does my sister live?' }] }, { 'x-memory-mode': 'readonly' })).status, 200);
    return JSON.stringify(model.last().json).includes('Porto');
  };
  assert.equal(await asks(), false);
  assert.equal(count("signal"), '1');
  const line = fs.readFileSync(spoolOf(data));
  for (let round = 0; round < 2; round++) { // the second time as after a crash
    fs.writeFileSync(spoolOf(data), line);
    const again = await serve(t, { flags, data });
    await isEmpty(data);
    assert.equal(await asks(), true);
    await again.stop();
    assert.equal(said(data).length, 2);
    assert.equal(count('signal'), '2');
    assert.equal(count('session'), '1');
  }
});

// The client sends the end of its conversation alone, so nothing but its earlier turns says what is new in it.
test('a turn that is asked while earlier ones wait, and answered when these are kept, keeps none of them again', options, async (t) => {
  let release = Promise.resolve();
  const model = await upstream(t, async (req, res, asked) => {
    await release;
    answer(res, asked, 'fine');
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error', '--recall-deadline-ms', '20'] });
  const messages = [], told = [];
  const say = async (i) => {
    told.push(`I say number ${i}`);
    messages.push({ role: 'user', content: told.at(-1) });
    const res = await server.chat({ model: 'm', messages: messages.slice(-7) }, { 'x-session-id': 'talk' });
    assert.equal(res.status, 200, res.text);
    messages.push({ role: 'assistant', content: 'fine' });
  };
  await say(0);
  await cluster.kill();
  await until('the probe tells', async () => (await server.ask('GET', '/ready')).status === 503, 30000);
  await talk((body) => server.chat(body, { 'x-memory-user': 'somebody else' }), 'else', 60, 0); // takes a second to keep
  for (let i = 1; i < 9; i++) await say(i);
  await cluster.start();
  await until('it is back', async () => (await server.ask('GET', '/ready')).status === 200, 30000);
  release = isEmpty(server.data);
  await say(9);
  await isEmpty(server.data);
  await isKept(server.data, 1 + 60 + 9);
  checkKept(server.data, [told]);
});

// The other way to lose them: PostgreSQL answers, and takes nothing. A line that it refuses for good holds up no other for long.
test('a PostgreSQL that is full, can only be read, refuses to write or gives no right to loses no turn, and what it cannot hold is counted', options, async (t) => {
  const model = await upstream(t), told = [];
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'error'] });
  const dropped = async () => Number(/rememberd_turns_dropped_total (\d+)/.exec((await server.ask('GET', '/metrics')).text)[1]);
  const fails = (code) => [`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no room'' USING ERRCODE = ''${code}''; END'; CREATE TRIGGER refuse BEFORE INSERT ON "${schemaOf(server.data)}".message EXECUTE FUNCTION refuse()`, 'DROP FUNCTION refuse CASCADE'];
  const only = (value) => `ALTER SYSTEM SET default_transaction_read_only = ${value};`;
  const ways = [fails('53100'), fails('P0001'), [only('on'), `SET transaction_read_only = off; ${only('off')}`], fails('42501')];
  await talk((body) => server.chat(body), 'before', 1, 0);
  for (const [i, [breaks, mends]] of ways.entries()) {
    for (const sql of breaks.split('; CREATE').map((one, k) => (k ? `CREATE${one}` : one))) cluster.query(sql);
    cluster.query('SELECT pg_reload_conf()');
    if (i === 2) await until('it can only be read', () => cluster.query('SHOW default_transaction_read_only') === 'on');
    for (const named of [undefined, `s${i}`]) {
      told.push(await talk((body) => server.chat(body, named ? { 'x-session-id': named } : {}), `way ${i} ${named}`, 2, 0));
    }
    await rest(7000); // longer than it tries for what PostgreSQL will never hold
    assert.equal(fs.readFileSync(spoolOf(server.data), 'utf8').split('\n').length, 1 + 4 + 1);
    for (const sql of mends.split('; ')) cluster.query(sql);
    cluster.query('SELECT pg_reload_conf()');
    await isEmpty(server.data);
    checkKept(server.data, told);
    assert.equal(await dropped(), 0);
  }
  const [breaks, mends] = fails('XX002');
  for (const sql of breaks.split('; CREATE').map((one, k) => (k ? `CREATE${one}` : one))) cluster.query(sql);
  await talk((body) => server.chat(body), 'never', 1, 0);
  await isEmpty(server.data);
  assert.equal(await dropped(), 1);
  cluster.query(mends);
});
