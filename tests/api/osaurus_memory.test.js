// osaurus_memory.test.js - looking after Osaurus's memory: ten settings, status, sync, consolidation, log.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, tempFolder, until, upstream } = require('./lib');

const defaults = {
  enabled: true, embeddingBackend: 'mlx', embeddingModel: 'nomic-embed-text-v1.5', extractionMode: 'sessionEnd', relevanceGateMode: 'heuristic',
  memoryBudgetTokens: 800, summaryDebounceSeconds: 60, consolidationIntervalHours: 24, salienceFloor: 0.2, episodeRetentionDays: 365 };
const as = (agent) => ({ 'x-osaurus-agent-id': agent });
const ok = (res, status = 200) => {
  assert.equal(res.status, status, res.text);
  return res.json();
};
const asks = (server) => ({
  config: async () => ok(await server.ask('GET', '/memory/config')),
  change: async (body, status) => ok(await server.ask('PUT', '/memory/config', body), status),
  status: async (query = '') => ok(await server.ask('GET', `/memory/status${query}`)),
  log: async (query = '') => ok(await server.ask('GET', `/memory/log${query}`)).log,
  sync: async (body = {}) => ok(await server.ask('POST', '/memory/sync', body)),
  tidy: async (body = {}) => ok(await server.ask('POST', '/memory/consolidate', body)),
  ingest: async (agent_id, conversation_id, user, more = {}) =>
    ok(await server.ask('POST', '/memory/ingest', { agent_id, conversation_id, turns: [{ user, assistant: 'I see.' }], ...more })),
});
const long = 'I moved to Lisbon in spring, I share a flat with Beatrice, and we are looking for a piano that fits in.';

test('the ten settings have the defaults of the document', async (t) => {
  const { config } = asks(await serve(t));
  assert.deepEqual(await config(), defaults);
  assert.deepEqual(Object.keys(await config()), Object.keys(defaults));
});

test('what is named changes, the rest stays, and a restart keeps it', async (t) => {
  const data = tempFolder();
  const server = await serve(t, { data });
  const { change, config } = asks(server);
  const wish = { embeddingBackend: 'none', embeddingModel: 'other', extractionMode: 'manual', relevanceGateMode: 'off', memoryBudgetTokens: 100,
    summaryDebounceSeconds: 3600, consolidationIntervalHours: 168, salienceFloor: 0, episodeRetentionDays: 0 };
  const so = { ...defaults };
  for (const [name, value] of Object.entries(wish)) {
    so[name] = value;
    assert.deepEqual(await change({ [name]: value }), so);
  }
  assert.deepEqual(await change({}), so);
  await server.stop();
  const again = asks(await serve(t, { data }));
  assert.deepEqual(await again.config(), so);
  assert.deepEqual(await again.change(defaults), defaults);
  assert.deepEqual(await config().catch(() => 'gone'), 'gone');
});

test('a number outside its range is brought to its end, and the answer says so', async (t) => {
  const { change } = asks(await serve(t));
  const ends = { memoryBudgetTokens: [100, 4000], summaryDebounceSeconds: [10, 3600], consolidationIntervalHours: [1, 168],
    salienceFloor: [0, 1], episodeRetentionDays: [0, 3650] };
  for (const [name, [low, high]] of Object.entries(ends)) {
    for (const [value, so] of [[low - 1, low], [low, low], [high, high], [high + 1, high], [-1e9, low], [1e9, high]])
      assert.equal((await change({ [name]: value }))[name], so, `${name}: ${value}`);
  }
  assert.equal((await change({ salienceFloor: 1e300 })).salienceFloor, 1);
  assert.equal((await change({ salienceFloor: 0.35 })).salienceFloor, 0.35);
});

test('what is no value at all is refused whole and names the field', async (t) => {
  const { change, config } = asks(await serve(t));
  const bad = [['enabled', 'yes'], ['enabled', null], ['embeddingBackend', ''], ['embeddingBackend', 'None'], ['embeddingBackend', 5], ['embeddingModel', ''], ['embeddingModel', 'x'.repeat(201)],
    ['extractionMode', 'often'], ['extractionMode', null], ['relevanceGateMode', 'on'], ['relevanceGateMode', true], ['memoryBudgetTokens', '800'],
    ['memoryBudgetTokens', 800.5], ['memoryBudgetTokens', null], ['memoryBudgetTokens', 1e300], ['summaryDebounceSeconds', true], ['consolidationIntervalHours', []],
    ['salienceFloor', 'low'], ['episodeRetentionDays', {}], ['memoryBudget', 5], ['', 5], ['__proto', 5]];
  for (const [field, value] of bad) {
    const said = await change({ summaryDebounceSeconds: 30, [field]: value }, 400);
    assert.equal(said.error, 'invalid_request', `${field}: ${value}`);
    assert.equal(said.field, field || undefined, said.message);
    assert.match(said.message, /^Invalid request format\. /);
  }
  for (const body of ['[]', '7', 'x', '{"enabled":']) assert.equal((await change(body, 400)).error, 'invalid_request');
  assert.deepEqual(await config(), defaults);
});

test('the settings act at once', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const { change } = asks(server);
  const ask = async (content) => {
    const res = await server.chat({ model: 'any', messages: [{ role: 'user', content }] }, as('a'));
    assert.equal(res.status, 200, res.text);
    return model.last().json.messages.at(-1).content;
  };
  ok(await server.ask('POST', '/v1/memories', { content: 'They planted roses together.', layer: 'episode' }, as('a')), 201);
  for (let i = 0; i < 10; i++) ok(await server.ask('POST', '/v1/memories', { content: `User's garden has bed ${i}: ${'rose '.repeat(30)}` }, as('a')), 201);
  assert.equal(await ask('hello there'), 'hello there');
  await change({ relevanceGateMode: 'off' });
  assert.match(await ask('hello there'), /They planted roses/);
  await change({ relevanceGateMode: 'heuristic', memoryBudgetTokens: 100 });
  assert.ok((await ask('do you remember my garden?')).length < 900);
  await change({ memoryBudgetTokens: 4000 });
  assert.ok((await ask('do you remember my garden?')).length > 1500);
  await change({ enabled: false });
  assert.equal(await ask('do you remember my garden?'), 'do you remember my garden?');
  assert.equal(ok(await server.ask('GET', '/api/settings/memory')).enabled, false, 'one switch for all surfaces');
});

test('without a core model the status says what waits and why', async (t) => {
  const server = await serve(t);
  const { status, ingest, sync } = asks(server);
  const before = await status();
  assert.deepEqual(before.pending, { signals: 0, sessions: 0, dead: 0, oldest: null, error: null });
  assert.deepEqual(before.counts, { agents: 0, pinned: 0, episodes: 0, sessions: 0, turns: 0 });
  assert.equal(before.consolidation.at, null);
  assert.equal(before.search.words, true);
  const began = Date.now();
  await ingest('a', 's1', long);
  await ingest('a', 's2', long);
  await ingest('b', 's1', long);
  const all = await status(), one = await status('?agent_id=a');
  assert.deepEqual([all.core_model, all.distilling], [null, false]);
  assert.match(all.reason, /core[_ ]model/);
  assert.deepEqual([all.pending.signals, all.pending.sessions, one.pending.signals, one.pending.sessions], [3, 3, 2, 2]);
  assert.ok(Date.parse(all.pending.oldest) >= began - 1 && Date.parse(all.pending.oldest) <= Date.now());
  assert.deepEqual(one.counts, { agents: 1, pinned: 0, episodes: 0, sessions: 2, turns: 4 });
  assert.deepEqual((await status('?agent_id=nobody')).counts, { agents: 0, pinned: 0, episodes: 0, sessions: 0, turns: 0 });
  const said = await sync();
  assert.deepEqual([said.status, said.sessions, said.distilling], ['ok', 3, false]);
  assert.match(said.reason, /core[_ ]model/);
  assert.equal((await status()).pending.signals, 3, 'nothing is lost');
});

test('sync distils now what would wait, and the log tells it without a word of it', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, JSON.stringify({
    episode: { summary: 'Moving to Lisbon, and a piano.', topics: [], decisions: [], action_items: [], salience: 0.5 }, entities: [], pinned_candidates: [], identity_facts: [] })));
  const server = await serve(t, { flags: ['--upstream', model.url, '--core-model', 'tiny'] });
  const { change, status, sync, log } = asks(server);
  await change({ extractionMode: 'manual' });
  for (const agent of ['a', 'b'])
    await server.tell(`${long} It is for ${agent}.`, as(agent));
  assert.equal((await status()).pending.sessions, 2);
  assert.deepEqual(await sync({ agent_id: 'a' }), { status: 'ok', sessions: 1, distilling: true, reason: null });
  await until('the one', async () => (await status('?agent_id=a')).counts.episodes === 1);
  assert.deepEqual([(await status()).pending.sessions, (await status('?agent_id=b')).counts.episodes], [1, 0]);
  assert.equal((await sync()).sessions, 1);
  await until('the other', async () => (await status()).counts.episodes === 2);
  const rows = await log();
  assert.deepEqual(rows.map((row) => [row.agent_id, row.task_type, row.status, row.model]), [['b', 'distil', 'success', 'tiny'], ['a', 'distil', 'success', 'tiny']]);
  assert.deepEqual(Object.keys(rows[0]), ['agent_id', 'task_type', 'status', 'details', 'model', 'input_tokens', 'output_tokens', 'duration_ms', 'created_at']);
  assert.ok(rows.every((row) => row.input_tokens > 0 && row.output_tokens > 0 && Date.parse(row.created_at) > 0 && !/Lisbon/.test(JSON.stringify(row))));
  assert.equal((await log('?agent_id=a')).length, 1);
  assert.equal((await log('?limit=1')).length, 1);
  assert.deepEqual(await log('?task_type=gate'), []);
  const { processing } = await status();
  assert.deepEqual([processing.calls, processing.failures, processing.hour_tokens > 0], [2, 0, true]);
});

test('a consolidation shows first, changes then, and the status remembers it', async (t) => {
  const server = await serve(t);
  const { status, tidy, log } = asks(server);
  const put = async (agent, body) => ok(await server.ask('POST', '/v1/memories', body, as(agent)), 201);
  const talk = 'They compared tents, stoves and sleeping bags for the long walk through the northern hills in June.';
  await put('a', { content: talk, layer: 'episode', metadata: { decisions: ['take the light tent'] } });
  await put('a', { content: talk, layer: 'episode', metadata: { decisions: ['take two stoves'] } });
  await put('b', { content: talk, layer: 'episode' });
  const dry = await tidy({ agent_id: 'a', dry_run: true });
  assert.equal(dry.dry_run, true);
  assert.equal(dry.report.merged, 1);
  assert.deepEqual(dry.changes.map((one) => [one.what, one.text]), [['merge', talk]]);
  assert.equal((await status('?agent_id=a')).counts.episodes, 2, 'nothing changed');
  const real = await tidy({ agent_id: 'a' });
  assert.deepEqual([real.dry_run, real.report.merged, real.changes.length], [false, 1, 1]);
  assert.deepEqual([(await status('?agent_id=a')).counts.episodes, (await status('?agent_id=b')).counts.episodes], [1, 1]);
  assert.deepEqual((await tidy()).report.merged, 0);
  assert.equal((await status()).consolidation.merged, 0);
  assert.ok(Date.parse((await status()).consolidation.at) > 0);
  assert.ok((await log('?task_type=consolidate')).length >= 2);
});

test('what breaks a rule of theirs is a 400 that names it', async (t) => {
  const server = await serve(t);
  const cases = [['GET', '/memory/log?limit=0', 'limit'], ['GET', '/memory/log?limit=501', 'limit'], ['GET', '/memory/log?limit=x', 'limit'],
    ['GET', '/memory/log?what=x', 'what'], ['GET', `/memory/log?agent_id=${'x'.repeat(201)}`, 'agent_id'], ['GET', '/memory/status?agent=x', 'agent'],
    ['POST', '/memory/sync', 'agent_id', { agent_id: 5 }], ['POST', '/memory/sync', 'agent', { agent: 'x' }],
    ['POST', '/memory/consolidate', 'dry_run', { dry_run: 'yes' }], ['POST', '/memory/consolidate', 'dryRun', { dryRun: true }]];
  for (const [method, path, field, body] of cases) {
    const said = ok(await server.ask(method, path, body), 400);
    assert.deepEqual([said.error, said.field], ['invalid_request', field], path);
  }
});
