// omniroute_compact.test.js - old memories put into one summary: dry run, for good, and every owner's by itself.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

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

test('old memories are put into one summary: dry run, then for good', async (t) => {
  const data = await longAgo({ default: ['My dog is called Rex.', 'I prefer TypeScript.', 'My car is called Herbie.'] });
  const { server, ok, add } = await open(t, { data });
  const old = (await ok('GET', '/api/memory')).data.reverse();
  assert.equal(old.length, 3);
  const contents = ['First of all. It is long. It has parts. And a fourth part that goes.', 'The second one.', 'The third one.'];
  for (const [i, content] of contents.entries()) await ok('PUT', `/api/memory/${old[i].id}`, { content });
  const fresh = await add({ key: 'new', content: 'Today.' });
  const at = '/api/memory/summarize';
  const tokens = contents.reduce((sum, one) => sum + Math.ceil(one.length / 4), 0);

  const dry = await ok('POST', at, { dryRun: true, olderThanDays: 30 });
  assert.deepEqual(Object.keys(dry), ['candidates', 'candidateCount', 'totalTokens', 'tokensSaved', 'deletedCount', 'summaryId', 'summaryIds', 'dryRun']);
  assert.deepEqual(dry.candidates.map((one) => one.id), old.map((one) => one.id), 'oldest first');
  assert.deepEqual(Object.keys(dry.candidates[0]), Object.keys(fresh));
  assert.deepEqual({ ...dry, candidates: 0 }, { candidates: 0, candidateCount: 3, totalTokens: tokens, tokensSaved: 0, deletedCount: 0, summaryId: null,
    summaryIds: [], dryRun: true });
  assert.equal((await ok('GET', '/api/memory')).total, 4, 'nothing was changed');
  assert.equal((await ok('POST', at, { dryRun: true, olderThanDays: 50 })).candidates.length, 0);

  // As the seed's curl does: no body at all.
  const done = await ok('POST', at);
  assert.deepEqual([done.candidates.length, done.totalTokens, done.deletedCount, done.dryRun], [3, tokens, 3, false]);
  assert.match(done.summaryId, uuid);
  assert.deepEqual(done.summaryIds, [done.summaryId]);
  const list = await ok('GET', '/api/memory');
  assert.deepEqual(list.data.map((one) => one.id).sort(), [fresh.id, done.summaryId].sort());
  const summary = (await ok('GET', `/api/memory/${done.summaryId}`)).memory;
  assert.deepEqual([summary.type, summary.apiKeyId], ['semantic', 'default']);
  for (const word of ['First of all', 'The second one', 'The third one']) assert.ok(summary.content.includes(word), summary.content);
  assert.ok(!summary.content.includes('fourth'), 'three sentences of each');
  assert.equal(done.tokensSaved, Math.max(0, tokens - Math.ceil(summary.content.length / 4)));

  const again = await ok('POST', at, {});
  assert.deepEqual([again.candidates, again.totalTokens, again.deletedCount, again.summaryId], [[], 0, 0, null]);
  for (const [body, field] of [[{ olderThanDays: 0 }, 'olderThanDays'], [{ olderThanDays: 366 }, 'olderThanDays'],
    [{ olderThanDays: '30' }, 'olderThanDays'], [{ dryRun: 'yes' }, 'dryRun'], [{ apiKeyId: 7 }, 'apiKeyId'], [{ all: true }, 'all']])
    await isRefused(server, 'POST', at, body, field);
});

test('compaction without a key keeps what is whose', async (t) => {
  const data = await longAgo({ 'key-a': ['My dog is called Rex.', 'I prefer TypeScript.'], 'key-b': ['My cat is called Tom.', 'I prefer Rust.'] });
  const { ok } = await open(t, { data });
  assert.equal((await ok('POST', '/api/memory/summarize', { dryRun: true, apiKeyId: 'key-a' })).candidates.length, 2);
  const done = await ok('POST', '/api/memory/summarize', {});
  assert.deepEqual([done.deletedCount, done.summaryIds.length], [4, 2]);
  for (const [apiKeyId, own, other] of [['key-a', 'Rex', 'Tom'], ['key-b', 'Tom', 'Rex']]) {
    const { data: left } = await ok('GET', `/api/memory?apiKeyId=${apiKeyId}`);
    assert.equal(left.length, 1);
    assert.ok(left[0].content.includes(own) && !left[0].content.includes(other), left[0].content);
  }
});
