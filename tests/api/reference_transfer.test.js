// reference_transfer.test.js - an export is what an import takes: a copy that is equal, in pieces, checked line by line.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { run, serve } = require('./lib');

const ok = async (server, method, target, body, headers) => {
  const res = await server.ask(method, target, body, headers);
  assert.ok(res.status >= 200 && res.status < 300, `${method} ${target}: ${res.status} ${res.text}`);
  return res.text ? res.json() : null;
};
const exported = async (server, query = '?all=true', headers) => {
  const res = await server.ask('GET', `/v1/memories/export${query}`, undefined, headers);
  assert.equal(res.status, 200, res.text);
  assert.equal(res.headers['content-type'], 'application/x-ndjson');
  return res.text;
};
const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
const imported = (server, text, query = '', headers) => ok(server, 'POST', `/v1/memories/import${query}`, text, headers);

async function filled(t) {
  const server = await serve(t);
  const add = (body, headers) => ok(server, 'POST', '/v1/memories', body, headers);
  const rome = await add({ content: 'Ada lives in Rome — "Città eterna".', key: 'city', tags: ['a', 'b'], metadata: { n: 1.50, deep: { x: [1, null] } }, importance: 0.123456789 });
  await ok(server, 'PATCH', `/v1/memories/${rome.id}`, { importance: 1 / 3 });
  await add({ content: 'Ada lives in Turin.', key: 'city', expires: '2099-01-01T10:00:00.123Z', valid_from: '2020-05-05' });
  await add({ content: 'Ada sails.', layer: 'identity', type: 'semantic' });
  await server.tell('My dog is called Rex.', { 'x-session-id': 'talk' });
  await server.tell('I live in Lisbon.', { 'x-session-id': 'talk' });
  await server.tell('What is my dog called?', { 'x-session-id': 'other' });
  const [dog] = (await ok(server, 'GET', '/v1/memories?contains=Rex')).memories;
  await ok(server, 'DELETE', `/v1/memories/${dog.id}`);
  await ok(server, 'POST', '/v1/memories/search', { query: 'Where does Ada live?' });
  await add({ content: 'The office is in Oslo.' }, { 'x-memory-space': 'work' });
  return server;
}

test('a user exported and imported into an empty store gives an equal export', async (t) => {
  const from = await filled(t), to = await serve(t);
  const text = await exported(from, '?all=true&space=*');
  const kinds = lines(text).map((line) => line.kind);
  for (const kind of ['memory', 'session', 'message', 'bar']) assert.ok(kinds.includes(kind), kind);
  assert.ok(lines(text).some((line) => line.kind === 'memory' && line.valid_to), 'closed memories are in it');
  const count = (kind) => kinds.filter((one) => one === kind).length;
  const dry = await imported(to, text, '?dry_run=true');
  assert.equal(await exported(to, '?all=true&space=*'), '');
  const done = { format: 'rememberd', lines: kinds.length, memories: count('memory'), sessions: count('session'), messages: count('message'), bars: count('bar'),
    updated: 0, facts: 0, erased: 0, skipped: 0, broken: 0, problems: [], dry_run: false };
  assert.deepEqual(dry, { ...done, dry_run: true });
  assert.deepEqual(await imported(to, text), done);
  assert.equal(await exported(to, '?all=true&space=*'), text);
  assert.deepEqual(await imported(to, text), { ...done, memories: 0, sessions: 0, messages: 0, bars: 0 });
  assert.equal(await exported(to, '?all=true&space=*'), text, 'a second time changes nothing');
  const both = await Promise.all([from, to].map((server) => ok(server, 'POST', '/v1/memories/search', { query: 'Where does Ada live?' })));
  assert.deepEqual(...both.map(({ results }) => results.map((one) => one.text).sort()));
  const dog = await ok(to, 'POST', '/v1/memories/search', { query: 'What is my dog called?' });
  assert.ok(dog.results.every((one) => !/Rex/.test(one.text)), 'what was forgotten stays forgotten');
  await to.stop();
  const { code, stdout, stderr } = await run(['doctor', '--data', to.data]);
  assert.equal(code, 0, stdout + stderr);
});

test('without all, only the memories that a list with the filter has, as lines', async (t) => {
  const server = await filled(t);
  const all = await ok(server, 'GET', '/v1/memories?order=asc');
  assert.deepEqual(lines(await exported(server, '')).map((line) => line.id), all.memories.map((one) => one.id));
  assert.deepEqual(lines(await exported(server, '?key=city')).map((line) => line.content), ['Ada lives in Turin.']);
  assert.equal(lines(await exported(server, '?key=city&closed=true')).length, 2);
  assert.deepEqual(lines(await exported(server, '?space=work')).map((line) => [line.kind, line.space]), [['memory', 'work']]);
  for (const [query, field] of [['?all=true&layer=fact', 'all'], ['?layer=x', 'layer'], ['?what=1', 'what']]) {
    const res = await server.ask('GET', `/v1/memories/export${query}`);
    assert.equal(res.status, 400, res.text);
    assert.equal(res.json().field, field);
  }
});

test('a request that names a space puts all lines there', async (t) => {
  const from = await filled(t), to = await serve(t);
  const text = await exported(from, '?space=*');
  const done = await imported(to, text, '', { 'x-memory-space': 'archive' });
  assert.equal(done.memories, lines(text).length);
  assert.deepEqual([...new Set(lines(await exported(to, '?space=*')).map((line) => line.space))], ['archive']);
});

test('an id that is a name is erased in its space alone, and the answer names the space', async (t) => {
  const server = await serve(t);
  const line = { kind: 'memory', id: 'mem-77', content: 'Ada likes plums.', created: '2026-01-01', updated: '2026-01-01' };
  await imported(server, JSON.stringify({ ...line, space: 'work' }));
  assert.equal((await ok(server, 'GET', '/v1/memories/mem-77')).space, 'work');
  const res = await server.ask('DELETE', '/v1/memories/mem-77');
  assert.equal(res.status, 409, res.text);
  assert.match(res.json().detail, /in the space 'work'/);
  assert.equal((await ok(server, 'DELETE', '/v1/memories/mem-77?space=work')).erased, 1);
  assert.equal((await server.ask('DELETE', '/v1/memories/mem-77')).status, 404);
});

test('a line that is wrong is named by its number, and nothing is written', async (t) => {
  const server = await serve(t);
  const good = '{"kind":"memory","id":"a1","content":"Ada sails."}\n';
  const cases = [
    ['{"kind":"memory","id":"b"}', 'content', 2], ['{"kind":"memory","content":"x"}', 'id', 2], ['{"kind":"odd"}', 'kind', 2], ['{"id":"x"}', 'kind', 2],
    ['not json', null, 2], ['[1]', null, 2], ['\n\n{"kind":"memory","id":"b","content":"x","color":"red"}', 'color', 4],
    ['{"kind":"memory","id":"b","content":"x","importance":2}', 'importance', 2], ['{"kind":"memory","id":"b","content":"x","created":"soon"}', 'created', 2],
    ['{"kind":"message","id":"b","role":"user"}', 'session', 2], ['{"kind":"message","id":"b","session":"s","role":"user","chain":"xyz"}', 'chain', 2],
    ['{"kind":"bar","at":"2020-01-01","terms":"12"}', 'terms', 2], ['{"kind":"memory","id":"b","content":"x","space":"*"}', 'space', 2],
  ];
  for (const [line, field, number] of cases) {
    const res = await server.ask('POST', '/v1/memories/import', `${good}${line}\n${good}`);
    assert.equal(res.status, 400, `${line}: ${res.text}`);
    assert.equal(res.json().field, field, `${line}: ${res.text}`);
    assert.match(res.json().detail, new RegExp(`\\bline ${number}\\b`));
  }
  assert.equal((await ok(server, 'GET', '/v1/memories')).total, 0);
  assert.equal((await imported(server, good)).memories, 1);
});

test('a line of a space out of reach is refused, and nothing is shown of it', async (t) => {
  const server = await serve(t);
  const token = async (...more) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...more])).stdout);
  const own = await token(), other = await token();
  const as = (one) => ({ authorization: `Bearer ${one.token}` });
  await ok(server, 'POST', '/v1/memories', { content: 'A secret of the other.' }, as(other));
  const space = (await ok(server, 'GET', '/v1/memories', undefined, as(other))).memories[0].space;
  const res = await server.ask('POST', '/v1/memories/import', JSON.stringify({ kind: 'memory', id: 'x', content: 'y', space }), as(own));
  assert.equal(res.status, 403, res.text);
  assert.equal(await exported(server, '?all=true&space=*', as(own)), '');
});

test('an export of many is made in pieces, and the server does not grow with it', async (t) => {
  const server = await serve(t);
  const text = Array.from({ length: 20000 }, (_, i) => JSON.stringify({ kind: 'memory', id: `m${i}`, content: `Thing ${i}: ${'word '.repeat(100)}`,
    created: new Date(1.6e12 + i).toISOString(), updated: new Date(1.6e12 + i).toISOString() })).join('\n');
  for (let at = 0; at < text.length;) { // as a client cuts a large file: at a line
    const end = text.indexOf('\n', at + 4e6);
    await imported(server, text.slice(at, end < 0 ? text.length : end));
    at = end < 0 ? text.length : end + 1;
  }
  const memory = () => Number(/^VmRSS:\s+(\d+)/m.exec(require('node:fs').readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1]);
  await exported(server, '?contains=Thing 1:');
  const before = memory();
  const all = await exported(server);
  assert.equal(lines(all).length, 20000);
  assert.ok(all.length > 10e6);
  assert.ok(memory() - before < 20000, `it grew by ${memory() - before} KiB for ${all.length >> 10} KiB`);
});
