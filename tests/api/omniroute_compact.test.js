// omniroute_compact.test.js - old memories compacted where that saves tokens: dry run, for good, each owner's apart, and back again.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const tokens = (text) => Math.ceil(text.length / 4);
const sum = (list) => list.reduce((all, one) => all + tokens(one), 0);

async function open(t, options) {
  const server = await serve(t, options);
  const ok = async (method, target, body) => {
    const res = await server.ask(method, target, body);
    assert.equal(res.status, 200, `${method} ${target}: ${res.text}`);
    return res.json();
  };
  return { server, data: server.data, ok, add: async (body) => (await ok('POST', '/api/memory', body)).memory };
}

async function isRefused(server, method, target, body, field) {
  const res = await server.ask(method, target, body);
  assert.equal(res.status, 400, `${target} ${JSON.stringify(body)}: ${res.text}`);
  const said = res.json();
  assert.equal(said.message, 'Invalid request');
  assert.deepEqual(said.details.map((one) => one.field), [field]);
  assert.deepEqual(said.error.details, said.details);
  assert.match(said.requestId, uuid);
}

// A data folder with facts that were said 40 days ago, in one space after the other.
async function longAgo(spaces) {
  const data = tempFolder(), file = path.join(tempFolder(), 'said.jsonl');
  for (const [space, words] of Object.entries(spaces)) {
    fs.writeFileSync(file, words.map((content, i) => JSON.stringify({ session: `${space}-${i}`, role: 'user', content,
      created: new Date(Date.now() - 40 * 86400000 + i * 1000).toISOString() })).join('\n'));
    const { code, stderr } = await run(['ingest', file, '--data', data, '--space', space]);
    assert.equal(code, 0, stderr);
  }
  return data;
}

// The old memories with these contents in their place, oldest first.
async function withContents(ok, contents, key = '') {
  const old = (await ok('GET', `/api/memory?limit=100${key && `&apiKeyId=${key}`}`)).data.reverse();
  assert.equal(old.length, contents.length, JSON.stringify(old));
  for (const [i, content] of contents.entries()) await ok('PUT', `/api/memory/${old[i].id}`, { content });
  return old;
}

const three = ['My dog is called Rex.', 'My cat is called Tom.', 'My horse is called Herbie.'];
const repeated = ['I moved to Ghent in May. My flat is on the third floor.', 'My flat is on the third floor. It has a balcony.',
  'I moved to Ghent in May.'];
const kept = ['I moved to Ghent in May. My flat is on the third floor.', 'It has a balcony.'];
const at = '/api/memory/summarize';

test('what is said twice is put into one summary: dry run, for good, and back', async (t) => {
  const { server, ok, add } = await open(t, { data: await longAgo({ default: three }) });
  const old = await withContents(ok, repeated);
  const fresh = await add({ key: 'new', content: 'I moved to Ghent in May.' });

  const dry = await ok('POST', at, { dryRun: true, olderThanDays: 30 });
  assert.deepEqual(Object.keys(dry), ['candidates', 'candidateCount', 'totalTokens', 'summaryTokens', 'tokensSaved', 'deletedCount', 'summaryId',
    'summaryIds', 'summaryCount', 'consideredCount', 'skipped', 'askedModelCount', 'fallbackReason', 'complete', 'dryRun']);
  assert.deepEqual(dry.candidates.map((one) => one.id), old.map((one) => one.id), 'oldest first');
  assert.deepEqual(Object.keys(dry.candidates[0]), Object.keys(fresh));
  const report = { candidates: 0, candidateCount: 3, totalTokens: sum(repeated), summaryTokens: tokens(kept.join('\n')),
    tokensSaved: sum(repeated) - tokens(kept.join('\n')), summaryCount: 1, consideredCount: 3, skipped: [], askedModelCount: 0, fallbackReason: null,
    complete: true };
  assert.deepEqual({ ...dry, candidates: 0 }, { ...report, deletedCount: 0, summaryId: null, summaryIds: [], dryRun: true });
  assert.equal((await ok('GET', '/api/memory')).total, 4, 'nothing was changed');
  assert.equal((await ok('POST', at, { dryRun: true, olderThanDays: 50 })).candidates.length, 0);

  // No body at all is the default.
  const done = await ok('POST', at);
  assert.match(done.summaryId, uuid);
  assert.deepEqual({ ...done, candidates: 0 }, { ...report, deletedCount: 3, summaryId: done.summaryId, summaryIds: [done.summaryId], dryRun: false });
  const list = await ok('GET', '/api/memory');
  assert.deepEqual(list.data.map((one) => one.id).sort(), [fresh.id, done.summaryId].sort());
  const summary = (await ok('GET', `/api/memory/${done.summaryId}`)).memory;
  assert.deepEqual([summary.type, summary.apiKeyId, summary.content], ['semantic', 'default', kept.join('\n')]);

  const again = await ok('POST', at, {});
  assert.deepEqual([again.candidates, again.totalTokens, again.deletedCount, again.summaryId], [[], 0, 0, null]);
  for (const [body, field] of [[{ olderThanDays: 0 }, 'olderThanDays'], [{ olderThanDays: 366 }, 'olderThanDays'],
    [{ olderThanDays: '30' }, 'olderThanDays'], [{ dryRun: 'yes' }, 'dryRun'], [{ apiKeyId: 7 }, 'apiKeyId'], [{ all: true }, 'all']])
    await isRefused(server, 'POST', at, body, field);

  const back = `/api/memory/${done.summaryId}`;
  const replaced = await ok('GET', `${back}/replaced`);
  assert.deepEqual([replaced.total, replaced.data.map((one) => one.id)], [3, old.map((one) => one.id)]);
  const copy = (await server.ask('GET', '/v1/memories/export?all=true')).text;
  assert.deepEqual(await ok('POST', `${back}/reopen`), { success: true, reopenedCount: 3 });
  const log = path.join(server.data, 'rememberd.db-wal');
  assert.ok(!fs.existsSync(log) || !fs.readFileSync(log).includes(done.summaryId));
  const opened = (await ok('GET', '/api/memory')).data;
  assert.deepEqual(opened.map((one) => one.content).sort(), [...repeated, fresh.content].sort());
  // The summary has the words of each, and would keep them when one is erased.
  const lines = async (text, query = '') => (await server.ask('POST', `/v1/memories/import${query}`, text, { 'content-type': 'application/x-ndjson' })).json();
  assert.equal((await lines(copy)).erased, 1, 'nor does it come back with an older export');
  assert.equal((await server.ask('POST', `${back}/reopen`)).status, 404);
  assert.doesNotMatch((await server.ask('GET', '/v1/memories/export')).text, new RegExp(done.summaryId));
  assert.equal((await server.ask('GET', `/api/memory/${old[0].id}/replaced`)).status, 400);
  assert.equal((await server.ask('GET', '/api/memory/7a0c1a52-0000-4000-8000-000000000000/replaced')).status, 404);
});

test('facts that do not repeat each other stay, and the reply says so', async (t) => {
  const { ok } = await open(t, { data: await longAgo({ default: three }) });
  for (const dryRun of [true, false]) {
    const done = await ok('POST', at, { dryRun });
    assert.deepEqual([done.candidateCount, done.deletedCount, done.tokensSaved, done.summaryId], [0, 0, 0, null]);
    assert.deepEqual([done.consideredCount, done.skipped], [3, [{ reason: 'unsaved', count: 3 }]]);
  }
  assert.equal((await ok('GET', '/api/memory')).total, 3);
});

test('compaction without a key keeps what is whose', async (t) => {
  const { ok } = await open(t, { data: await longAgo({ 'key-a': three.slice(1), 'key-b': three.slice(1) }) });
  const of = (name) => [`My dog ${name} sleeps in the hall near the door.`, `My dog ${name} sleeps in the hall.`];
  await withContents(ok, of('Rex'), 'key-a');
  await withContents(ok, of('Tom'), 'key-b');
  assert.equal((await ok('POST', at, { dryRun: true, apiKeyId: 'key-a' })).candidates.length, 2);
  const done = await ok('POST', at, {});
  assert.deepEqual([done.deletedCount, done.summaryIds.length], [4, 2]);
  for (const [apiKeyId, name] of [['key-a', 'Rex'], ['key-b', 'Tom']])
    assert.deepEqual((await ok('GET', `/api/memory?apiKeyId=${apiKeyId}`)).data.map((one) => one.content), [of(name)[0]]);
});

test('the command line compacts and opens again', async (t) => {
  const { server, ok, data } = await open(t, { data: await longAgo({ default: three }) });
  await withContents(ok, repeated);
  await server.stop();
  const cli = async (...args) => {
    const { code, stdout, stderr } = await run([...args, '--data', data, '--json']);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const dry = await cli('compact', '--dry-run');
  const done = await cli('compact', '--older-than', '30');
  assert.deepEqual([dry.candidateCount, dry.tokensSaved], [done.deletedCount, done.tokensSaved]);
  assert.ok(done.tokensSaved > 0);
  assert.equal((await cli('reopen', done.summaryId, '--dry-run')).memories.length, 3);
  assert.deepEqual(await cli('reopen', done.summaryId), { reopened: 3 });
  assert.equal((await cli('list')).total, 3);
});
