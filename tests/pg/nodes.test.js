// nodes.test.js - three servers over one PostgreSQL behind nginx, under load; one of the four is killed in each round.
// ROUNDS=50 tests/lib/with_postgres tools/node-test tests/pg/nodes.test.js
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { Server, answer, run, serve, tempFolder, until, upstream } = require('../api/lib');
const { balancer, freePort, missing } = require('../api/nginx');
const cluster = require('./cluster');

const ROUNDS = Number(process.env.ROUNDS ?? 8), NODES = 3, CLIENTS = 9, TURNS = 5;
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const long = 'and there is a lot to be said about it, more than I can put into one message of a few lines.';

const distilled = (name) => JSON.stringify({
  episode: { summary: `The user talked: ${name}.`, topics: ['boats'], decisions: [], action_items: [], salience: 0.7 }, entities: [],
  pinned_candidates: [{ content: `User owns the boat of ${name}`, salience: 0.8, tags: ['boats'] }], identity_facts: [] });

// Asks nginx. What was under way in a node when that was killed breaks, and nothing else does; a chat is then sent again, as clients do.
class Front {
  constructor(proxy, token) { Object.assign(this, { proxy, url: proxy.url, headers: { authorization: `Bearer ${token}` }, chats: [], kills: [], refused: 0, broken: 0, cut: 0 }); }

  async ask(method, at, body, headers) {
    const began = Date.now();
    let failed;
    try {
      const res = await Server.prototype.ask.call(this, method, at, body, { ...this.headers, ...headers });
      if (res.status !== 502) return res;
      failed = res.text;
    } catch (error) {
      failed = String(error);
    }
    this.broken++;
    assert.ok(this.kills.some((kill) => kill.from <= Date.now() && kill.to >= began), `${method} ${at}: ${failed}\n${this.proxy.errors().slice(-3).join('\n')}`);
    return null; // nobody knows whether it was done
  }

  async chat(body, headers) {
    const began = process.hrtime.bigint();
    let res;
    while (!(res = await this.ask('POST', '/v1/chat/completions', body, headers))) this.cut++;
    assert.equal(res.status, 200, res.text); // chats never fail
    this.chats.push(Number(process.hrtime.bigint() - began) / 1e6);
    return res.json().choices[0].message.content;
  }
}

// What nginx noted: only what had not been sent to a node went to the next one, and there was always one.
function checkLog(proxy) {
  const again = proxy.log().map((line) => line.split('|')).filter(([, nodes]) => nodes.includes(','));
  for (const [request, nodes, codes, sent] of again)
    for (const bytes of sent.split(', ').slice(0, -1)) assert.equal(bytes, '0', `${request} was sent to two: ${nodes} ${codes} ${sent}`);
  assert.deepEqual(proxy.errors().filter((line) => /no live upstreams/.test(line)), []);
  return again.length;
}

// Talks of some turns each in a space of its own, and notes by the API between them.
async function client(no, front, state) {
  const headers = { 'x-memory-space': `space-${no}` };
  for (let talk = 0; !state.isOver || talk < 2; talk++) {
    const messages = [], name = `client ${no} talk ${talk}`;
    for (let i = 0; i < TURNS; i++) {
      const text = `${name} turn ${i} ${long}`;
      messages.push({ role: 'user', content: text });
      messages.push({ role: 'assistant', content: await front.chat({ model: 'm', messages }, headers) });
      state.said.push(text);
      const content = `${name} note ${i}`, note = await front.ask('POST', '/v1/memories', { content }, headers);
      if (note?.status === 201) state.acknowledged.push(content);
      else if (note) assert.equal(note.status, 503, note.text);
      if (note?.status === 503) front.refused++;
      await rest(10);
    }
  }
}

const median = (v, part = 0.5) => [...v].sort((a, b) => a - b)[Math.floor(v.length * part)]?.toFixed(1);

test('nodes and PostgreSQL are killed in turn: nothing acknowledged is lost, nothing is there twice, no chat fails', { skip: cluster.missing || missing }, async (t) => {
  const asked = [];
  const model = await upstream(t, (req, res, one) => {
    if (one.json.model !== 'core') return answer(res, one, 'I see, a boat.');
    const name = [...one.json.messages.at(-1).content.matchAll(/client \d+ talk \d+(?= turn)/g)].at(-1)?.[0]; // earlier ones are known already
    asked.push(name);
    return answer(res, one, distilled(name));
  });
  const env = { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=nodes`, REMEMBERD_RECALL_DEADLINE_MS: '150' };
  const flags = ['--upstream', model.url, '--core-model', 'core', '--core-timeout-ms', '3000', '--log-level', 'error'];
  const begin = (data, port) => serve(t, { data, flags: [...flags, '--listen', `127.0.0.1:${port}`], env });
  const nodes = [];
  for (let i = 0; i < NODES; i++) {
    const data = tempFolder(), port = await freePort();
    nodes.push({ data, port, server: await begin(data, port) });
  }
  const proxy = await balancer(t, nodes.map((node) => node.port));
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--data', nodes[0].data], { env })).stdout);
  const front = new Front(proxy, token), state = { said: [], acknowledged: [], isOver: false };
  const load = Promise.all(Array.from({ length: CLIENTS }, (_, no) => client(no, front, state)));
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
    const kill = { from: Date.now(), to: Infinity };
    front.kills.push(kill);
    await node.server.stop('SIGKILL');
    kill.to = Date.now();
    node.server = await begin(node.data, node.port);
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
  console.log(`${ROUNDS} rounds in ${seconds.toFixed(0)} s: ${front.chats.length} chats (median ${median(front.chats)} ms, 99 % ${median(front.chats, 0.99)} ms), ` +
    `${front.broken} requests broke in a node that was killed, ${front.cut} of them chats, ${checkLog(proxy)} went to the next node, ` +
    `${state.acknowledged.length} notes acknowledged, ${front.refused} refused with 503, ` +
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

test('the same text that is said to two nodes at once is one memory, which takes what both say of it', { skip: cluster.missing }, async (t) => {
  const env = { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=twins` };
  const nodes = [await serve(t, { data: tempFolder(), env }), await serve(t, { data: tempFolder(), env })];
  for (let i = 0; i < 20; i++) {
    const content = `The boat of harbour ${i} is moored at pier seven.`;
    const say = (node, at) => node.ask('POST', '/v1/memories', { content, ...(at ? { category: 'boats' } : { importance: 0.9 }) });
    for (const res of await Promise.all([...nodes, ...nodes].map(say))) assert.ok(res.status < 300, res.text);
  }
  const { memories, total } = (await nodes[0].ask('GET', '/v1/memories?limit=100')).json();
  assert.equal(total, 20);
  assert.deepEqual(memories.filter((one) => one.category !== 'boats' || one.importance !== 0.9), []);
});
