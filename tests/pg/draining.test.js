// draining.test.js - three servers behind nginx are restarted one after the other under load, and no request fails.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { Server, chunk, answer, run, serve, tempFolder, until, upstream } = require('../api/lib');
const { balancer, freePort, missing } = require('../api/nginx');
const cluster = require('./cluster');

const NODES = 3, CLIENTS = 6, PIECES = 8;
const rest = (ms) => new Promise((done) => setTimeout(done, ms));

// A model that writes slowly when it streams.
async function slowly(req, res, asked) {
  if (!asked.json.stream) return answer(res, asked, 'fine');
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let i = 0; i < PIECES; i++) {
    res.write(chunk({ content: `piece ${i} ` }));
    await rest(100);
  }
  res.end('data: [DONE]\n\n');
}

// Chats, streams and notes in turn; whatever is not answered well is a fault.
async function client(no, ask, state) {
  const headers = { 'x-memory-space': `space-${no}` };
  for (let i = 0; !state.isOver; i++) {
    const body = { model: 'm', stream: i % 3 === 1, messages: [{ role: 'user', content: `client ${no} says number ${i}` }] };
    const res = i % 3 === 2 ? await ask('POST', '/v1/memories', { content: `client ${no} note ${i}` }, headers) : await ask('POST', '/v1/chat/completions', body, headers);
    state.done++;
    if (res.status !== (i % 3 === 2 ? 201 : 200)) state.faults.push(`${res.status} ${res.text}`);
    if (body.stream) assert.match(res.text, new RegExp(`piece ${PIECES - 1} [^]*\\[DONE\\]`));
    await rest(10);
  }
}

// While the node serves on, it says that it is about to go.
async function restart(node, begin) {
  const { server } = node, ended = server.stop('SIGTERM');
  const ready = await until('it says that it drains', async () => {
    const res = await server.ask('GET', '/ready');
    return res.status === 503 && res;
  });
  assert.match(ready.json().message, /draining/);
  assert.equal(ready.headers.connection, 'close');
  const { code } = await ended;
  assert.equal(code, 0, server.stderr);
  node.server = await begin(node);
  await until('ready', async () => (await node.server.ask('GET', '/ready')).status === 200);
}

test('three nodes behind nginx are restarted one by one: no request fails, streams are finished', { skip: cluster.missing || missing }, async (t) => {
  const model = await upstream(t, slowly);
  const env = { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=draining` };
  const flags = ['--upstream', model.url, '--log-level', 'error', '--drain-ms', '5000', '--shutdown-ms', '60000'];
  const begin = ({ data, port }) => serve(t, { data, flags: [...flags, '--listen', `127.0.0.1:${port}`], env });
  const nodes = [];
  for (let i = 0; i < NODES; i++) nodes.push({ data: tempFolder(), port: await freePort() });
  for (const node of nodes) node.server = await begin(node);
  const proxy = await balancer(t, nodes.map((node) => node.port));
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--data', nodes[0].data], { env })).stdout);
  const ask = (method, at, body, headers) => Server.prototype.ask.call({ url: proxy.url }, method, at, body, { authorization: `Bearer ${token}`, ...headers });
  const state = { done: 0, faults: [], isOver: false };
  const load = Promise.all(Array.from({ length: CLIENTS }, (_, no) => client(no, ask, state)));
  load.catch(() => {});
  for (const node of nodes) {
    const before = state.done;
    await Promise.race([until('some more is asked', () => state.done > before + 20, 60000), load]);
    await Promise.race([restart(node, (one) => begin(one)), load]);
  }
  state.isOver = true;
  await load;
  const again = proxy.log().filter((line) => line.split('|')[1].includes(',')).length;
  console.log(`${state.done} requests during three restarts, ${state.faults.length} failed, ${again} went to the next node`);
  assert.deepEqual(state.faults, []);
});
