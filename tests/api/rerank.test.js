// rerank.test.js - the reranking model of this machine as its users meet it: settings, chats, receipts, searches, doctor, list.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder, until } = require('./lib');

const folders = ['/usr/lib', '/usr/local/lib', ...fs.readdirSync('/usr/lib').filter((name) => name.endsWith('-linux-gnu')).map((name) => `/usr/lib/${name}`)];
const hasOneDnn = folders.some((folder) => fs.existsSync(folder) && fs.readdirSync(folder).some((name) => /^libdnnl\.so\.[23]/.test(name)));
const needs = { skip: hasOneDnn ? false : 'oneDNN is not installed' };

// A cross-encoder of one layer with weights from a fixed sequence: config.json, vocab.txt and model.safetensors.
function writeModel(folder, hidden = 16, wide = 24) {
  const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', ...'the a red blue car dog tea is my ? . which'.split(' ')];
  const layer = 'bert.encoder.layer.0.', parts = { weight: {}, header: {} };
  const shapes = { 'bert.embeddings.word_embeddings.weight': [words.length, hidden], 'bert.embeddings.position_embeddings.weight': [64, hidden],
    'bert.embeddings.token_type_embeddings.weight': [2, hidden], 'classifier.weight': [1, hidden], 'classifier.bias': [1] };
  const dense = (name, rows, columns) => Object.assign(shapes, { [`${name}.weight`]: [rows, columns], [`${name}.bias`]: [rows] });
  const norm = (name) => Object.assign(shapes, { [`${name}.weight`]: [hidden], [`${name}.bias`]: [hidden] });
  for (const name of ['attention.self.query', 'attention.self.key', 'attention.self.value', 'attention.output.dense']) dense(layer + name, hidden, hidden);
  dense(`${layer}intermediate.dense`, wide, hidden);
  dense(`${layer}output.dense`, hidden, wide);
  dense('bert.pooler.dense', hidden, hidden);
  for (const name of ['bert.embeddings', `${layer}attention.output`, `${layer}output`]) norm(`${name}.LayerNorm`);
  const floats = [];
  let state = 7;
  for (const [name, shape] of Object.entries(shapes)) {
    const from = floats.length * 4;
    for (let i = shape.reduce((a, b) => a * b); i > 0; i--) floats.push(((state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31 - 0.5) * 2);
    parts.header[name] = { dtype: 'F32', shape, data_offsets: [from, floats.length * 4] };
  }
  const header = Buffer.from(JSON.stringify(parts.header)), size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'model.safetensors'), Buffer.concat([size, header, Buffer.from(Float32Array.from(floats).buffer)]));
  fs.writeFileSync(path.join(folder, 'vocab.txt'), words.join('\n') + '\n');
  fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ architectures: ['BertForSequenceClassification'], model_type: 'bert', hidden_act: 'gelu',
    hidden_size: hidden, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: wide, max_position_embeddings: 64 }));
}

async function open(t, models, data = tempFolder()) {
  const server = await serve(t, { data, flags: ['--model-dir', models] });
  const ok = async (method, target, body) => {
    const res = await server.ask(method, target, body);
    assert.ok(res.status < 300, `${method} ${target}: ${res.text}`);
    return res.json();
  };
  const chat = async (content) => {
    const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content }] });
    return server.receipt(res.headers['x-rememberd-receipt']);
  };
  return { server, ok, chat, rerank: async () => (await ok('GET', '/v1/engine')).rerank };
}

const question = 'Which car is red?';
const doctorOf = async (ok) => (await ok('GET', '/v1/doctor')).findings.find((one) => one.what === 'reranking');

test('a local model is chosen, loaded without a chat, and named where it reranked', needs, async (t) => {
  const models = tempFolder(), data = tempFolder();
  writeModel(path.join(models, 'tiny'));
  const { server, ok, chat, rerank } = await open(t, models, data);
  for (const content of ['The car is red.', 'The dog likes my red car.', 'Is the tea red or blue?']) await ok('POST', '/v1/memories', { content });
  assert.doesNotMatch((await chat(question)).reason, /rerank/);
  assert.equal(await doctorOf(ok), undefined, 'nothing is chosen');
  const changed = await ok('PUT', '/api/settings/memory', { rerankEnabled: true, rerankProviderModel: 'local/tiny' });
  assert.equal(changed.rerankProviderModel, 'local/tiny');
  await until('the model is loaded', async () => (await rerank()).available);
  assert.deepEqual(await rerank(), { enabled: true, available: true, model: 'local/tiny', reason: '' });
  assert.match((await chat(question)).reason, /; \d+ lines reranked by local\/tiny$/);
  const { steps } = await ok('POST', '/v1/memories/search', { query: question, explain: true });
  assert.deepEqual([steps.reranked, steps.reranker], [true, 'local/tiny']);
  const preview = await ok('POST', '/api/memory/retrieve-preview', { query: question });
  assert.equal(preview.resolution.rerankApplied, true);
  const scores = preview.memories.map((one) => one.score);
  assert.deepEqual(scores, [...scores].sort((a, b) => b - a), 'by the scores of the model');
  const tier = (await ok('GET', '/api/memory/engine-status')).rerank;
  assert.deepEqual([tier.provider, tier.model, tier.available], ['local', 'tiny', true]);
  assert.deepEqual(await doctorOf(ok), { level: 'ok', what: 'reranking', detail: 'local/tiny', advice: '' });
  const at = ['--model-dir', models, '--data', data];
  assert.match((await run(['model', 'list', ...at])).stdout, /tiny +reranker +in use/);
  const listed = JSON.parse((await run(['model', 'list', '--json', ...at])).stdout).find((one) => one.name === 'tiny');
  assert.deepEqual([listed.source, listed.installed, listed.in_use], ['reranker', true, true]);
  assert.match((await run(['model', 'check', 'tiny', ...at])).stdout, /^tiny: it loads/);
  // After a start the first chats do not load it either.
  await server.stop();
  const again = await open(t, models, data);
  await until('the model is loaded again', async () => (await again.rerank()).available);
});

test('a chosen model that is missing or broken leaves the order, and is reported', needs, async (t) => {
  const models = tempFolder(), data = tempFolder();
  const { ok, chat, rerank } = await open(t, models, data);
  await ok('POST', '/v1/memories', { content: 'The car is red.' });
  await ok('PUT', '/api/settings/memory', { rerankEnabled: true, rerankProviderModel: 'local/tiny' });
  await until('the load has failed', async () => /config\.json: No such file/.test((await rerank()).reason));
  const { reason, block } = await chat(question);
  assert.match(reason, /rerank: .*tiny\/config\.json: No such file/);
  assert.match(block, /The car is red/);
  const finding = await doctorOf(ok);
  assert.equal(finding.level, 'bad');
  assert.match(finding.detail, /^local\/tiny: .*No such file.*stays in recall's order/);
  const command = await run(['doctor', '--data', data, '--model-dir', models]);
  assert.equal(command.code, 1);
  assert.match(command.stdout, /reranking.*local\/tiny/);
  const unknown = await run(['model', 'check', 'tiny', '--data', data, '--model-dir', models]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /unknown model 'tiny'/);
  // Once the files are there it is loaded within the next tries, without a restart.
  writeModel(path.join(models, 'tiny'));
  fs.truncateSync(path.join(models, 'tiny', 'model.safetensors'), 3000);
  const broken = await run(['model', 'check', 'tiny', '--data', data, '--model-dir', models]);
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /outside the file|ends inside its header/);
  writeModel(path.join(models, 'tiny'));
  await ok('PUT', '/api/settings/memory', { rerankEnabled: true });
  await until('the model is loaded', async () => (await rerank()).available);
  assert.match((await chat(question)).reason, /reranked by local\/tiny/);
});
