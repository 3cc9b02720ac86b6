// nodes.test.js - three servers over one PostgreSQL under load; one of the four is killed in each round.
// ROUNDS=50 tests/lib/with_postgres tools/node-test tests/pg/nodes.test.js
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, tempFolder, until, upstream } = require('../api/lib');
const cluster = require('./cluster');

const ROUNDS = Number(process.env.ROUNDS ?? 8), NODES = 3, CLIENTS = 9, TURNS = 5;
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const long = 'and there is a lot to be said about it, more than I can put into one message of a few lines.';

const distilled = (name) => JSON.stringify({
  episode: { summary: `The user talked: ${name}.`, topics: ['boats'], decisions: [], action_items: [], salience: 0.7 }, entities: [],
  pinned_candidates: [{ content: `User owns the boat of ${name}`, salience: 0.8, tags: ['boats'] }], identity_facts: [] });

// Asks one node after the other, as a load balancer does that goes on to the next when a connection breaks.
class Balancer {
  constructor(nodes) { Object.assign(this, { nodes, next: 0, chats: [], refused: 0, broken: 0 }); }

  async ask(method, at, body, headers) {
    for (let i = 0; i < 200; i++) {
      const node = this.nodes[this.next++ % NODES];
      if (node.isDown) { await rest(5); continue; }
      try {
        return await node.server.ask(method, at, body, headers);
      } catch {
        this.broken++;
        if (method !== 'GET' && !at.includes('chat')) return null; // nobody knows whether it was done
      }
    }
    throw new Error('no node answers');
  }

  async chat(body, headers) {
    const began = process.hrtime.bigint();
    const res = await this.ask('POST', '/v1/chat/completions', body, headers);
    assert.equal(res.status, 200, res.text); // chats never fail
    this.chats.push(Number(process.hrtime.bigint() - began) / 1e6);
    return res.json().choices[0].message.content;
  }
}

// Talks of some turns each in a space of its own, and notes by the API between them.
async function client(no, balancer, state) {
  const headers = { 'x-memory-space': `space-${no}` };
  for (let talk = 0; !state.isOver || talk < 2; talk++) {
    const messages = [], name = `client ${no} talk ${talk}`;
    for (let i = 0; i < TURNS; i++) {
      const text = `${name} turn ${i} ${long}`;
      messages.push({ role: 'user', content: text });
      messages.push({ role: 'assistant', content: await balancer.chat({ model: 'm', messages }, headers) });
      state.said.push(text);
      const content = `${name} note ${i}`, note = await balancer.ask('POST', '/v1/memories', { content }, headers);
      if (note?.status === 201) state.acknowledged.push(content);
      else if (note) assert.equal(note.status, 503, note.text);
      if (note?.status === 503) balancer.refused++;
      await rest(10);
    }
  }
}

const median = (v, part = 0.5) => [...v].sort((a, b) => a - b)[Math.floor(v.length * part)]?.toFixed(1);

test('nodes and PostgreSQL are killed in turn: nothing acknowledged is lost, nothing is there twice, no chat fails', { skip: cluster.missing }, async (t) => {
  const asked = [];
  const model = await upstream(t, (req, res, one) => {
    if (one.json.model !== 'core') return answer(res, one, 'I see, a boat.');
    const name = [...one.json.messages.at(-1).content.matchAll(/client \d+ talk \d+(?= turn)/g)].at(-1)?.[0]; // earlier ones are known already
    asked.push(name);
    return answer(res, one, distilled(name));
  });
  const env = { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=nodes`, REMEMBERD_RECALL_DEADLINE_MS: '150' };
  const flags = ['--upstream', model.url, '--core-model', 'core', '--core-timeout-ms', '3000', '--log-level', 'error'];
  const begin = async (data) => ({ data, server: await serve(t, { data, flags, env }) });
  const nodes = [];
  for (let i = 0; i < NODES; i++) nodes.push(await begin(tempFolder()));
  const balancer = new Balancer(nodes), state = { said: [], acknowledged: [], isOver: false };
  const load = Promise.all(Array.from({ length: CLIENTS }, (_, no) => client(no, balancer, state)));
  load.catch(() => {});
  const began = Date.now();
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.race([rest(400 + round % 5 * 60), load]);
    if (round % (NODES + 1) === NODES) {
      await cluster.kill();
      await rest(400);
      await cluster.start();
      continue;
    }
    const node = nodes[round % (NODES + 1)];
    node.isDown = true;
    await node.server.stop('SIGKILL');
    node.server = (await begin(node.data)).server;
    node.isDown = false;
  }
  state.isOver = true;
  await load;
  const seconds = (Date.now() - began) / 1000;
  for (const { server } of nodes) await until('ready', async () => (await server.ask('GET', '/ready')).status === 200, 60000);
  const count = (sql) => Number(cluster.query(`SELECT count(*) FROM nodes.${sql}`));
  await until('all is kept', () => count(`message WHERE role = 'user'`) >= state.said.length, 20000).catch(() => {});
  for (let before = -1; before !== asked.length;) { before = asked.length; await rest(2500); } // until nothing is distilled any more

  const kept = JSON.parse(cluster.query(`SELECT coalesce(json_agg(text ORDER BY doc), '[]') FROM nodes.message WHERE role = 'user'`));
  const times = new Map();
  for (const text of kept) times.set(text, (times.get(text) ?? 0) + 1);
  const twice = [...times].filter(([, n]) => n > 1), lost = state.said.filter((text) => !times.has(text));
  console.log(`${ROUNDS} rounds in ${seconds.toFixed(0)} s: ${balancer.chats.length} chats (median ${median(balancer.chats)} ms, 99 % ${median(balancer.chats, 0.99)} ms), ` +
    `${balancer.broken} connections broke, ${state.acknowledged.length} notes acknowledged, ${balancer.refused} refused with 503, ` +
    `${asked.length} sessions distilled; said ${state.said.length}, lost ${lost.length}, twice ${twice.length}`);
  assert.deepEqual(twice, []);
  // A chat's turn is queued when its answer has gone out, so a node that is killed in that moment may take it along, unless the
  // client's next question brings it again: so nothing is lost before what is kept of a talk.
  const turnOf = (text) => [text.split(' turn ')[0], Number(/ turn (\d+)/.exec(text)[1])];
  const last = new Map();
  for (const [name, turn] of kept.map(turnOf)) last.set(name, Math.max(turn, last.get(name) ?? -1));
  assert.deepEqual(lost.filter((text) => turnOf(text)[1] < (last.get(turnOf(text)[0]) ?? -1)), []);
  assert.ok(lost.length <= ROUNDS, `${lost.length} turns lost`);
  const notes = cluster.query(`SELECT content || '|' || count(*) FROM nodes.memory WHERE content LIKE '%note%' GROUP BY content`).split('\n');
  const found = new Map(notes.map((line) => line.split('|')));
  assert.deepEqual(state.acknowledged.filter((content) => found.get(content) !== '1'), []); // none lost, none twice
  assert.deepEqual([...found].filter(([, n]) => n !== '1'), []);
  assert.equal(cluster.query(`SELECT count(*) FROM (SELECT content FROM nodes.memory WHERE content LIKE 'User owns the boat%' OR content LIKE 'The user talked:%'
    GROUP BY pool, content HAVING count(*) > 1) AS v`), '0', 'distilled twice');
  assert.ok(asked.length > 0);
  for (const { server } of nodes) assert.equal((await server.ask('GET', '/ready')).status, 200);
});
