// reference_changes.test.js - memories corrected, their history, deletions and corrections undone, many at once.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve } = require('./lib');

const ok = async (server, method, target, body, headers) => {
  const res = await server.ask(method, target, body, headers);
  assert.ok(res.status >= 200 && res.status < 300, `${method} ${target}: ${res.status} ${res.text}`);
  return res.text ? res.json() : null;
};
const refused = async (server, method, target, body, status, field, headers) => {
  const res = await server.ask(method, target, body, headers);
  assert.equal(res.status, status, `${method} ${target} ${JSON.stringify(body)}: ${res.text}`);
  assert.equal(res.json().field, field, res.text);
};
const add = (server, body) => ok(server, 'POST', '/v1/memories', typeof body === 'string' ? { content: body } : body);

test('PATCH changes what it names, and null takes a value away', async (t) => {
  const server = await serve(t);
  const m = await add(server, { content: 'Ada drinks green tea.', key: 'drink', category: 'preference', tags: ['a'], metadata: { x: 1 }, importance: 0.5,
    expires: '2099-01-01', session: 's1' });
  const one = `/v1/memories/${m.id}`;
  const changed = await ok(server, 'PATCH', one, { content: 'Ada drinks black tea.', importance: 0.9, tags: ['b', 'c'] });
  for (const name of Object.keys(m)) {
    const want = { content: 'Ada drinks black tea.', importance: 0.9, tags: ['b', 'c'] }[name] ?? m[name];
    if (name !== 'updated') assert.deepEqual(changed[name], want, name);
  }
  assert.ok(changed.updated > m.updated);
  const bare = await ok(server, 'PATCH', one, { key: null, category: null, tags: null, metadata: null, expires: null, session: null, type: 'semantic' });
  assert.deepEqual([bare.key, bare.category, bare.tags, bare.metadata, bare.expires, bare.session, bare.type], ['', '', [], null, null, '', 'semantic']);
  assert.equal((await ok(server, 'GET', '/v1/memories?session=s1')).total, 0);
  for (const [body, field] of [[{ content: null }, 'content'], [{ type: null }, 'type'], [{ importance: null }, 'importance'], [{ content: '' }, 'content'],
    [{ content: '  ' }, 'content'], [{ importance: 1.5 }, 'importance'], [{ type: 'odd' }, 'type'], [{ tags: 'x' }, 'tags'], [{ metadata: [1] }, 'metadata'],
    [{ expires: 'soon' }, 'expires'], [{ uses: 3 }, 'uses'], [{}, null]])
    await refused(server, 'PATCH', one, body, 400, field);
  await refused(server, 'PATCH', '/v1/memories/1b5f2c76-0000-4000-8000-000000000000', { importance: 1 }, 404, null);
  const other = await add(server, { content: 'Ada has a dog.', key: 'pet' });
  await refused(server, 'PATCH', one, { key: 'pet' }, 409, null);
  assert.equal((await ok(server, 'GET', `/v1/memories/${other.id}`)).content, 'Ada has a dog.');
});

test('If-Match lets only the one change a memory who has seen it last', async (t) => {
  const server = await serve(t);
  const m = await add(server, 'Ada drinks green tea.');
  const one = `/v1/memories/${m.id}`;
  const { etag } = (await server.ask('GET', one)).headers;
  const first = await server.ask('PATCH', one, { importance: 0.7 }, { 'if-match': etag });
  assert.equal(first.status, 200, first.text);
  await refused(server, 'PATCH', one, { importance: 0.8 }, 409, null, { 'if-match': etag });
  await ok(server, 'PATCH', one, { importance: 0.8 }, { 'if-match': first.headers.etag });
  await refused(server, 'PATCH', one, { importance: 0.8 }, 400, 'If-Match', { 'if-match': 'x' });
  await refused(server, 'DELETE', one, undefined, 409, null, { 'if-match': etag });
  await refused(server, 'DELETE', one, undefined, 400, 'If-Match', { 'if-match': 'x' });
  assert.equal((await ok(server, 'POST', '/v1/memories/search', { query: 'green tea' })).results.length, 1); // nothing is suppressed
  const now = (await server.ask('GET', one)).headers.etag;
  await refused(server, 'DELETE', `/v1/memories/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`, undefined, 404, null, { 'if-match': now });
  assert.equal((await ok(server, 'DELETE', one, undefined, { 'if-match': now })).erased, 1);
});

test('history tells what a memory said, oldest first, and why it changed', async (t) => {
  const server = await serve(t);
  const rome = await add(server, { content: 'Ada lives in Rome.', key: 'city' });
  await ok(server, 'PATCH', `/v1/memories/${rome.id}`, { content: 'Ada lives in Roma.', importance: 0.8 });
  await ok(server, 'PATCH', `/v1/memories/${rome.id}`, { content: 'Ada lives in Roma.' });
  const turin = await add(server, { content: 'Ada lives in Turin.', key: 'city' });
  for (const id of [rome.id, turin.id]) {
    const { items, total } = await ok(server, 'GET', `/v1/memories/${id}/history`);
    assert.equal(total, 4);
    assert.deepEqual(items.map((one) => [one.event, one.id]), [['created', rome.id], ['edited', rome.id],
      ...(items[2].event === 'created' ? [['created', turin.id], ['superseded', rome.id]] : [['superseded', rome.id], ['created', turin.id]])]);
    assert.equal(items[0].content, 'Ada lives in Rome.');
    assert.deepEqual(items[1].before, { content: 'Ada lives in Rome.', importance: rome.importance });
    assert.equal(items.find((one) => one.event === 'superseded').by, turin.id);
  }
  await ok(server, 'DELETE', `/v1/memories/${turin.id}`); // a value took its place, also when that is erased
  assert.equal((await ok(server, 'GET', `/v1/memories/${rome.id}/history`)).items.at(-1).event, 'superseded');
  const alone = await add(server, 'Ada has a cat.');
  assert.deepEqual((await ok(server, 'GET', `/v1/memories/${alone.id}/history`)).items.map((one) => one.event), ['created']);
  await refused(server, 'GET', '/v1/memories/1b5f2c76-0000-4000-8000-000000000000/history', undefined, 404, null);
});

test('a revision is never recalled or found, and at most 50 are kept', async (t) => {
  const server = await serve(t);
  const m = await add(server, 'Ada keeps her bicycle in Perugia.');
  for (let i = 0; i < 55; i++) await ok(server, 'PATCH', `/v1/memories/${m.id}`, { content: `Ada keeps her bicycle in shed ${i}.` });
  const { items } = await ok(server, 'GET', `/v1/memories/${m.id}/history`);
  assert.equal(items.length, 51);
  const { results } = await ok(server, 'POST', '/v1/memories/search', { query: 'Where does Ada keep her bicycle? In Perugia?' });
  assert.ok(results.every((one) => !/Perugia|shed 1\./.test(one.text)), JSON.stringify(results));
});

// All that a user has, as every API shows it.
async function state(server) {
  const all = {};
  await server.settled();
  for (const target of ['/v1/memories?closed=true&sort=created&limit=500&facets=true', '/v1/users/me/sessions?limit=100', '/memory/status'])
    all[target] = await ok(server, 'GET', target);
  delete all['/memory/status'].timestamp;
  return JSON.parse(JSON.stringify(all, (key, value) => (/^(pending|due|waiting|database_bytes)/.test(key) ? undefined : value)));
}

test('a deleted memory comes back exactly as it was', async (t) => {
  const server = await serve(t);
  await add(server, { content: 'Ada lives in Rome.', key: 'city' });
  const m = await add(server, { content: 'Ada lives in Turin.', key: 'city', tags: ['x'], metadata: { a: [1] }, importance: 0.77, expires: '2099-01-01' });
  await ok(server, 'PATCH', `/v1/memories/${m.id}`, { content: 'Ada lives in Torino.' });
  await ok(server, 'POST', '/v1/memories/search', { query: 'Where does Ada live?' });
  const before = await state(server);
  const gone = await ok(server, 'DELETE', `/v1/memories/${m.id}?undo=true`);
  assert.equal(gone.erased, 1);
  const left = Date.parse(gone.undo_until) - Date.now();
  assert.ok(left > 9 * 60000 && left <= 10 * 60000, gone.undo_until);
  assert.equal((await server.ask('GET', `/v1/memories/${m.id}`)).status, 404);
  assert.notDeepEqual(await state(server), before);
  assert.deepEqual(await ok(server, 'POST', `/v1/undo/${gone.undo}`), { restored: 1 });
  assert.deepEqual(await state(server), before);
  assert.equal((await ok(server, 'GET', `/v1/memories/${m.id}/history`)).items.filter((one) => one.event === 'edited').length, 1);
  assert.equal((await ok(server, 'POST', '/v1/memories/search', { query: 'Where does Ada live?' })).results[0].id, m.id);
  await refused(server, 'POST', `/v1/undo/${gone.undo}`, undefined, 404, null);
  assert.equal((await run(['doctor', '--data', server.data])).code, 0);
});

test('a deletion that asks for undo in its body can be undone', async (t) => {
  const server = await serve(t);
  const m = await add(server, 'Ada lives in Turin.');
  const gone = await ok(server, 'DELETE', `/v1/memories/${m.id}`, { undo: true });
  assert.deepEqual(await ok(server, 'POST', `/v1/undo/${gone.undo}`), { restored: 1 });
  await ok(server, 'GET', `/v1/memories/${m.id}`);
  assert.equal((await ok(server, 'DELETE', `/v1/memories/${m.id}`, { undo: false })).undo, undefined);
});

test('a conversation comes back with its messages, what was learnt from it and its receipts', async (t) => {
  const server = await serve(t);
  const headers = { 'x-session-id': 'talk' };
  await server.tell('My dog is called Rex.', headers);
  const asked = await server.tell('What is the name of my dog?', { 'x-session-id': 'other' });
  const receipt = await server.receipt(asked.headers['x-rememberd-receipt']);
  assert.match(receipt.block, /Rex/);
  const before = await state(server);
  const gone = await ok(server, 'DELETE', '/v1/memories/talk?undo=true');
  assert.ok(gone.erased >= 2, JSON.stringify(gone));
  assert.equal((await server.ask('GET', `/v1/receipts/${receipt.id}`)).status, 404);
  assert.equal((await ok(server, 'POST', '/v1/memories/search', { query: 'dog Rex' })).results.filter((one) => /Rex/.test(one.text)).length, 0);
  const { restored } = await ok(server, 'POST', `/v1/undo/${gone.undo}`);
  assert.equal(restored, gone.erased);
  assert.deepEqual(await state(server), before);
  assert.deepEqual(await server.receipt(receipt.id), receipt);
  assert.ok((await ok(server, 'POST', '/v1/memories/search', { query: 'dog Rex' })).results.some((one) => /Rex/.test(one.text)));
  await server.stop();
  const { code, stdout, stderr } = await run(['doctor', '--data', server.data]);
  assert.equal(code, 0, stdout + stderr);
});

test('what a deletion barred may be given again after undo', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Enzo.', { 'x-session-id': 'talk' });
  const [m] = (await ok(server, 'GET', '/v1/memories?contains=Enzo')).memories;
  assert.ok(m);
  const seen = async () => (await ok(server, 'POST', '/v1/memories/search', { query: 'What is my dog called?' })).results.map((one) => one.text);
  assert.ok((await seen()).some((text) => /Enzo/.test(text)));
  const gone = await ok(server, 'DELETE', `/v1/memories/${m.id}?undo=true`);
  assert.ok(gone.barred > 0);
  assert.ok((await seen()).every((text) => !/Enzo/.test(text)));
  await ok(server, 'POST', `/v1/undo/${gone.undo}`);
  assert.ok((await seen()).some((text) => /Enzo/.test(text)));
});

test('a correction is undone, and not after another one', async (t) => {
  const server = await serve(t);
  const m = await add(server, { content: 'Ada has a red car.', importance: 0.4 });
  const one = `/v1/memories/${m.id}`;
  const changed = await server.ask('PATCH', `${one}?undo=true`, { content: 'Ada has a blue car.', importance: 0.9 });
  const id = changed.headers['x-rememberd-undo'];
  assert.deepEqual(await ok(server, 'POST', `/v1/undo/${id}`), { restored: 1 });
  const { uses, last_used, ...back } = await ok(server, 'GET', one);
  for (const name of Object.keys(back)) assert.deepEqual(back[name], m[name], name);
  assert.ok((await ok(server, 'POST', '/v1/memories/search', { query: 'Which car does Ada have?' })).results.some((r) => /red/.test(r.text)));
  const again = await server.ask('PATCH', `${one}?undo=true`, { content: 'Ada has a green car.' });
  await ok(server, 'PATCH', one, { content: 'Ada has a white car.' });
  await refused(server, 'POST', `/v1/undo/${again.headers['x-rememberd-undo']}`, undefined, 409, null);
  assert.equal((await ok(server, 'GET', one)).content, 'Ada has a white car.');
});

test('undo is refused where its key or id is in use by now', async (t) => {
  const server = await serve(t);
  const m = await add(server, { content: 'Ada lives in Rome.', key: 'city' });
  const gone = await ok(server, 'DELETE', `/v1/memories/${m.id}?undo=true`);
  const now = await add(server, { content: 'Ada lives in Turin.', key: 'city' });
  await refused(server, 'POST', `/v1/undo/${gone.undo}`, undefined, 409, null);
  assert.deepEqual((await ok(server, 'GET', '/v1/memories?closed=true')).memories.map((one) => one.id), [now.id]);
});

const files = (folder) => fs.readdirSync(folder).flatMap((name) => {
  const file = path.join(folder, name);
  return fs.statSync(file).isDirectory() ? files(file) : [file];
});
const holds = (server, text) => files(server.data).filter((file) => fs.readFileSync(file).includes(text));

test('a deletion without undo leaves no byte, also not of what was erased with undo before', async (t) => {
  const server = await serve(t);
  const m = await add(server, 'The secret word is quokkamarmot.'), other = await add(server, 'The other word is zebrafinchling.');
  await ok(server, 'PATCH', `/v1/memories/${m.id}`, { content: 'The secret word is numbatpotoroo.' });
  await ok(server, 'DELETE', `/v1/memories/${other.id}?undo=true`);
  assert.ok(holds(server, 'zebrafinchling').length, 'it is kept for undo');
  assert.ok(holds(server, 'quokkamarmot').length, 'it is kept as a revision');
  await ok(server, 'DELETE', `/v1/memories/${m.id}`);
  for (const word of ['quokkamarmot', 'numbatpotoroo', 'zebrafinchling']) assert.deepEqual(holds(server, word), [], word);
});

test('nobody undoes for another, and a user that is erased takes it along', async (t) => {
  const server = await serve(t);
  const token = async (name) => JSON.parse((await run(['token', 'create', '--json', '--user', name, '--data', server.data])).stdout).token;
  const ann = { authorization: `Bearer ${await token('ann')}` }, bob = { authorization: `Bearer ${await token('bob')}` };
  const m = await ok(server, 'POST', '/v1/memories', { content: 'Ann likes pangolins.' }, ann);
  const gone = await ok(server, 'DELETE', `/v1/memories/${m.id}?undo=true`, undefined, ann);
  await refused(server, 'POST', `/v1/undo/${gone.undo}`, undefined, 404, null, bob);
  await ok(server, 'POST', `/v1/undo/${gone.undo}`, undefined, ann);
  await ok(server, 'DELETE', `/v1/memories/${m.id}?undo=true`, undefined, ann);
  assert.ok(holds(server, 'pangolins').length);
  await ok(server, 'DELETE', '/v1/memory/user/all?app_id=*', undefined, ann);
  assert.deepEqual(holds(server, 'pangolins'), []);
});

test('bulk erases or changes what is named, all at once, and says what it did', async (t) => {
  const server = await serve(t);
  const made = [];
  for (let i = 0; i < 6; i++) made.push(await add(server, { content: `Note number ${i} of the list.`, category: i % 2 ? 'odd' : 'even' }));
  const bulk = (body) => ok(server, 'POST', '/v1/memories/bulk', body);
  const total = async (query) => (await ok(server, 'GET', `/v1/memories${query}`)).total;
  assert.deepEqual(await bulk({ filter: { category: 'odd' }, action: 'delete', dry_run: true }), { selected: 3, changed: 0, barred: 0, remaining: 0, next: null });
  assert.equal(await total(''), 6);
  const changed = await bulk({ filter: { category: 'odd' }, action: 'change', change: { importance: 0.9, tags: ['t'], category: 'strange' }, undo: true });
  assert.equal(changed.changed, 3);
  assert.equal(await total('?category=strange&tag=t&importance_min=0.9'), 3);
  assert.equal((await ok(server, 'GET', `/v1/memories/${made[1].id}/history`)).items.length, 2);
  assert.deepEqual(await ok(server, 'POST', `/v1/undo/${changed.undo}`), { restored: 3 });
  assert.equal(await total('?category=odd'), 3);
  const before = await state(server);
  const gone = await bulk({ ids: [made[0].id, made[0].id, made[1].id, 'none'], action: 'delete', undo: true });
  assert.deepEqual([gone.selected, gone.changed], [2, 2]);
  assert.equal(await total(''), 4);
  assert.deepEqual(await ok(server, 'POST', `/v1/undo/${gone.undo}`), { restored: 2 });
  assert.deepEqual(await state(server), before);
  for (const [body, field] of [[{ action: 'delete' }, 'ids'], [{ action: 'delete', ids: ['a'], filter: {} }, 'ids'], [{ ids: ['a'] }, 'action'],
    [{ ids: ['a'], action: 'burn' }, 'action'], [{ ids: ['a'], action: 'change' }, 'change'], [{ ids: ['a'], action: 'delete', change: { type: 'semantic' } }, 'change'],
    [{ filter: { color: 'red' }, action: 'delete' }, 'color'], [{ ids: [made[2].id], action: 'change', change: { content: 'x' } }, 'change'],
    [{ ids: [made[2].id], action: 'change', change: { type: null } }, 'type'], [{ ids: Array(1001).fill('x'), action: 'delete' }, 'ids'],
    [{ filter: {}, action: 'delete', cursor: 'x' }, 'cursor']])
    await refused(server, 'POST', '/v1/memories/bulk', body, 400, field);
});

test('a filter of more than one call goes on by its cursor', async (t) => {
  const server = await serve(t);
  const data = Array.from({ length: 1030 }, (_, i) => `Thing ${i} ${i * 7919} is stored.`);
  for (let i = 0; i < data.length; i += 30) await Promise.all(data.slice(i, i + 30).map((content) => add(server, content)));
  const all = await ok(server, 'GET', '/v1/memories?limit=1');
  const change = { filter: {}, action: 'change', change: { importance: 1 } };
  const first = await ok(server, 'POST', '/v1/memories/bulk', change);
  assert.deepEqual([first.changed, first.remaining], [1000, all.total - 1000]);
  const second = await ok(server, 'POST', '/v1/memories/bulk', { ...change, cursor: first.next });
  assert.deepEqual([second.changed, second.remaining, second.next], [all.total - 1000, 0, null]);
  assert.equal((await ok(server, 'GET', '/v1/memories?importance_min=1')).total, all.total);
  const line = (n) => JSON.stringify({ kind: 'memory', id: crypto.randomUUID(), content: `Note ${n}`, category: 'old', created: '2026-01-01', updated: '2026-01-01' });
  await ok(server, 'POST', '/v1/memories/import', Array.from({ length: 2100 }, (_, n) => line(n)).join('\n'));
  const left = [], moved = { filter: { category: 'old' }, action: 'change', change: { category: 'new' } };
  for (let cursor = ''; cursor !== null;) {
    const { remaining, next } = await ok(server, 'POST', '/v1/memories/bulk', { ...moved, ...(cursor && { cursor }) });
    left.push(remaining);
    cursor = next;
  }
  assert.deepEqual(left, [1100, 100, 0], 'also of what the filter has no more');
});

test('a search is limited by kind, layer, type and score, and each of its signals is described', async (t) => {
  const server = await serve(t);
  await add(server, { content: 'Ada drinks green tea.', type: 'semantic' });
  await add(server, { content: 'Ada talked about tea.', layer: 'episode', type: 'episodic' });
  await server.tell('I drink black tea in Ghent.', { 'x-session-id': 'talk' });
  const search = async (more) => (await ok(server, 'POST', '/v1/memories/search', { query: 'Who drinks tea?', ...more })).results;
  const all = await search({});
  assert.deepEqual([...new Set(all.map((one) => one.kind))].sort(), ['memory', 'message']);
  assert.ok((await search({ kind: 'memory' })).every((one) => one.kind === 'memory'));
  const messages = await search({ kind: 'message' });
  assert.ok(messages.length && messages.every((one) => one.kind === 'message'));
  assert.deepEqual((await search({ layer: 'episode' })).map((one) => one.text), ['Ada talked about tea.']);
  assert.deepEqual((await search({ type: 'semantic' })).map((one) => one.text), ['Ada drinks green tea.']);
  const least = all[0].score;
  assert.deepEqual((await search({ min_score: least })).map((one) => one.id), all.filter((one) => one.score >= least).map((one) => one.id));
  assert.ok(all.length > (await search({ min_score: least })).length);
  for (const [body, field] of [[{ min_score: 2 }, 'min_score'], [{ kind: 'fact' }, 'kind'], [{ kind: 'message', layer: 'fact' }, 'kind'], [{ layer: 'x' }, 'layer'], [{ type: 'x' }, 'type']])
    await refused(server, 'POST', '/v1/memories/search', { query: 'tea', ...body }, 400, field);
  const [explained] = await search({ explain: true });
  const page = fs.readFileSync(path.join(__dirname, '../../docs/research/reference-notes.md'), 'utf8').split('## Signals of a search')[1].split('\n## ')[0];
  assert.deepEqual(Object.keys(explained.signals), [...page.matchAll(/^\| `(\w+)` \|/gm)].map((m) => m[1]));
});
