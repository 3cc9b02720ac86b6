// vectors.test.js - the server's background makes vectors, settings act while it runs, and it ends promptly.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const test = require('node:test');
const { bin, cleanEnv, run, serve, tempFolder, until, upstream, within } = require('./lib');

// A server of embeddings: a text's vector counts its letters. hold keeps every answer back.
async function embedder(t, { hold = false, code = 200, msPerText = 0 } = {}) {
  const state = { hold, code, texts: [], size: 26 };
  const vector = (text) => Array.from({ length: state.size }, (_, i) => 1 + 9 * (text.toLowerCase().split(String.fromCharCode(97 + i)).length - 1));
  const server = await upstream(t, async (req, res, asked) => {
    if (req.url === '/v1/models') return res.end('{"object":"list","data":[]}'); // the doctor
    assert.equal(req.url, '/v1/embeddings');
    assert.equal(asked.json.model, 'letters');
    const texts = [asked.json.input].flat();
    state.texts.push(...texts);
    if (state.hold) return;
    if (msPerText) await new Promise((done) => setTimeout(done, msPerText * texts.length));
    res.writeHead(state.code, { 'content-type': 'application/json' });
    res.end(JSON.stringify(state.code === 200
      ? { data: texts.map((text, index) => ({ index, embedding: vector(text) })) } : { error: { message: 'out of letters' } }));
  });
  return Object.assign(state, { flags: ['--upstream', `near=${server.url}`, '--upstream', server.url],
    chosen: ['--embedding-source', 'remote', '--embedding-model', 'near/letters'] });
}

const choose = (server, change) => server.ask('PUT', '/api/settings/memory', change);
const status = async (server) => (await server.ask('GET', '/api/memory/engine-status')).json();
const demo = (server, text, headers) => server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: text }] }, headers);

async function vectors(server, n) {
  return until(`${n} vectors`, async () => {
    const tiers = await status(server);
    return tiers.vectorStore.rowCount >= n && tiers.vectorStore.needsReindex === 0 && tiers;
  });
}

test('what was told gets its vector by itself, from the moment a source is chosen', async (t) => {
  const near = await embedder(t);
  const server = await serve(t, { flags: [...near.flags, '--encoder', 'off'] });
  await server.tell('My dog is called Rex.');
  assert.equal((await status(server)).embedding.source, null);
  assert.deepEqual(near.texts, []);
  const chosen = await choose(server, { embeddingSource: 'remote', embeddingProviderModel: 'near/letters' });
  assert.equal(chosen.status, 200, chosen.text);
  const tiers = await vectors(server, 2);
  assert.deepEqual([tiers.embedding.source, tiers.embedding.model, tiers.embedding.dimensions], ['remote', 'letters', 26]);
  assert.equal(tiers.vectorStore.available, true);
  await server.tell('My cat is called Tom.');
  await until('the new text was asked for', () => near.texts.some((text) => text.includes('Tom')));
});

test('memory that is switched off while the server runs is off, and on again', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const ask = () => server.chat({ model: 'm', messages: [{ role: 'user', content: 'What is my dog called?' }] }, { 'x-memory-mode': 'readonly' });
  await server.chat({ model: 'm', messages: [{ role: 'user', content: 'My dog is called Rex.' }] });
  await until('it is known', async () => (await ask(), /Rex/.test(String(model.last().body))));
  for (const change of [{ enabled: false }, { enabled: true, maxTokens: 0 }]) {
    assert.equal((await choose(server, change)).status, 200);
    const res = await ask();
    assert.equal(res.headers['x-rememberd-receipt'], undefined);
    assert.doesNotMatch(String(model.last().body), /Rex/);
  }
  assert.equal((await choose(server, { maxTokens: 500 })).status, 200);
  assert.ok((await ask()).headers['x-rememberd-receipt']);
  assert.match(String(model.last().body), /Rex/);
});

test('a server that holds every answer back delays neither chats nor the end', async (t) => {
  const opened = async () => {
    const near = await embedder(t, { hold: true });
    return { near, server: await serve(t, { flags: [...near.flags, ...near.chosen] }) };
  };
  const asked = async ({ near, server }) => {
    await server.tell('My dog is called Rex.');
    await until('the source was asked', () => near.texts.length > 0);
    const res = await demo(server, 'What is my dog called?');
    assert.match(res.json().choices[0].message.content, /Rex/);
    return server;
  };
  await within(5000, asked, opened);
  await within(5000, async (server) => assert.equal((await server.stop()).code, 0), async () => asked(await opened()));
});

test('a search says which vectors took part, and a receipt why none did', async (t) => {
  const near = await embedder(t);
  const server = await serve(t, { flags: [...near.flags, '--encoder', 'off'] });
  const search = async () => (await server.ask('POST', '/v1/memories/search', { query: 'What is my dog called?' })).json();
  await server.tell('My dog is called Rex.');
  let found = await search();
  assert.deepEqual([found.vectors, found.without], [undefined, undefined]); // nobody has chosen any
  await choose(server, { embeddingSource: 'remote', embeddingProviderModel: 'near/letters' });
  await vectors(server, 2);
  found = await search();
  assert.deepEqual([found.vectors, found.without], ['remote:letters:26', undefined]);
  near.code = 500;
  const reply = await demo(server, 'What was my dog called again?');
  const id = reply.headers['x-rememberd-receipt'];
  const receipt = await until('the receipt', async () => {
    const res = await server.ask('GET', `/v1/receipts/${id}`);
    return res.status === 200 && res.json();
  });
  assert.match(receipt.reason, /; keyword search only: .*500/);
});

test('a failing source is named by status, doctor and reindex, and all is made when it is well', async (t) => {
  const near = await embedder(t, { code: 500 });
  const data = tempFolder(), at = ['--data', data, ...near.flags, ...near.chosen];
  const server = await serve(t, { data, flags: [...near.flags, ...near.chosen] });
  await server.tell('My dog is called Rex.');
  const tiers = await until('the failure is seen', async () => {
    const now = await status(server);
    return now.vectorStore.reason && now.embedding.reason && now;
  });
  assert.match(tiers.embedding.reason, /out of letters/);
  assert.match(tiers.vectorStore.reason, /the embedding source failed: circuit open/);
  assert.equal(tiers.vectorStore.rowCount, 0);
  const doctor = await run(['doctor', ...at]);
  assert.match(doctor.stdout, /bad +vectors: remote letters: request_failed.*search uses words only/);
  const failed = await run(['reindex', ...at]);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /out of letters/);
  near.code = 200;
  const made = await run(['reindex', '--json', ...at]);
  assert.equal(made.code, 0, made.stderr);
  const report = JSON.parse(made.stdout);
  assert.ok(report.vectors >= 2 && report.waiting === 0, made.stdout);
  const anew = await run(['reindex', '--force', ...at]);
  assert.match(anew.stdout, new RegExp(`^${report.vectors} vectors by remote letters\n$`));
});

test('a server that is too slow for a whole batch gets smaller ones', async (t) => {
  const near = await embedder(t, { msPerText: 30 });
  const server = await serve(t, { flags: [...near.flags, '--encoder', 'off', '--embedding-timeout-ms', '600'] });
  for (let i = 0; i < 40; i++) assert.equal((await server.ask('POST', '/v1/memories', { content: `Note ${i} is about tea.` })).status, 201);
  await choose(server, { embeddingSource: 'remote', embeddingProviderModel: 'near/letters' });
  assert.equal((await vectors(server, 40)).vectorStore.failed, 0);
});

test('a server that comes back with vectors of another length is used after a reindex by a command', async (t) => {
  const near = await embedder(t);
  const server = await serve(t, { flags: [...near.flags, ...near.chosen] });
  await server.tell('My dog is called Rex.');
  await vectors(server, 2);
  near.size = 20;
  const made = await run(['reindex', '--force', '--data', server.data, ...near.flags, ...near.chosen]);
  assert.equal(made.code, 0, made.stderr);
  await server.tell('My cat is called Tom.');
  await vectors(server, 4);
  const found = await until('its questions, too', async () => {
    const res = await server.ask('POST', '/v1/memories/search', { query: 'What is my cat called?' });
    return res.json().without === undefined && res.json();
  });
  assert.equal(found.vectors, 'remote:letters:20');
});

test('rememberd mcp makes vectors, too', async (t) => {
  const near = await embedder(t);
  const child = spawn(bin, ['mcp', '--data', tempFolder(), ...near.flags, ...near.chosen],
    { env: cleanEnv(), stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  const send = (id, method, params) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
  send(2, 'tools/call', { name: 'memory_add', arguments: { content: 'The dog is called Rex.' } });
  await until('it was kept', () => /"id":2/.test(out));
  await until('it was asked for', () => near.texts.some((text) => text.includes('Rex')));
  const ended = new Promise((done) => child.once('exit', (code) => done(code)));
  child.stdin.end();
  assert.equal(await ended, 0);
});

test("OmniRoute's variables are read, and ours win", async () => {
  const print = async (env, args = []) =>
    JSON.parse((await run(['serve', '--print-settings', '--json', ...args], { env })).stdout);
  const theirs = { DATA_DIR: '/theirs', MEMORY_VEC_QUANTIZATION: 'int8', MEMORY_RRF_K: '7', MEMORY_VEC_TOP_K: '9',
    VECTOR_STORE_DISABLE_VEC: 'true', QDRANT_HOST: 'q', QDRANT_PORT: '1234', QDRANT_COLLECTION: 'c', QDRANT_API_KEY: 'k' };
  const read = await print(theirs);
  for (const [name, value] of Object.entries({ data: '/theirs', vec_quantization: 'int8', rrf_k: 7, vec_top_k: 9, vectors: 'off',
    qdrant_host: 'q', qdrant_port: 1234, qdrant_collection: 'c', qdrant_api_key: '***' }))
    assert.equal(read[name], value, name);
  const ours = await print({ ...theirs, REMEMBERD_DATA: '/ours', REMEMBERD_VECTORS: 'on' }, ['--rrf-k', '8']);
  assert.deepEqual([ours.data, ours.vectors, ours.rrf_k], ['/ours', 'on', 8]);
  assert.equal((await print({ MEMORY_RRF_K: '0' })).rrf_k, 0, 'ranks alone, as its table has it');
  const without = await print({ VECTOR_STORE_DISABLE_VEC: 'false', DATA_DIR: '' });
  assert.deepEqual([without.data, without.vectors], ['', 'on']);
});
