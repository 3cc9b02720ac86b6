// mem0.test.js - mem0's own client against rememberd, with nothing but its host changed; and the API of mem0's own server.
'use strict';
process.env.MEM0_TELEMETRY = 'false';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { MemoryClient } = require('mem0ai');
const { answer, run, serve, until, upstream } = require('./lib');

const client = (server, apiKey = 'm0-anything') => new MemoryClient({ apiKey, host: server.url });
const makeToken = async (server, ...flags) =>
  JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...flags])).stdout).token;
const say = (text) => [{ role: 'user', content: text }];
const texts = ({ results }) => results.map((one) => one.memory);
const asIs = (more) => ({ infer: false, ...more });
const refused = (call, name, status, words) => assert.rejects(call, (error) => {
  assert.equal(error.name, name, error.message);
  assert.equal(error.errorCode, `HTTP_${status}`);
  assert.match(JSON.parse(error.message).detail, words);
  return true;
});

test('the client adds, finds, reads, changes and erases a memory', async (t) => {
  const server = await serve(t), mem0 = client(server);
  await mem0.ping();
  const added = await mem0.add(say('My parrot is called Quito.'), asIs({ userId: 'ann', metadata: { fooBar: 1, kind: 'pet' }, expirationDate: '2090-01-02' }));
  assert.equal(added.status, 'SUCCEEDED');
  assert.deepEqual(added.results.map((one) => [one.event, one.data.memory]), [['ADD', 'My parrot is called Quito.']]);
  const [{ id }] = added.results;

  const found = await mem0.search('What is my parrot called?', { filters: { user_id: 'ann' } });
  assert.deepEqual(texts(found), ['My parrot is called Quito.']);
  assert.ok(found.results[0].score > 0.1 && found.results[0].score <= 1);

  const got = await mem0.get(id);
  assert.deepEqual([got.id, got.memory, got.userId, got.agentId, got.appId, got.runId, got.metadata, got.expirationDate, got.categories],
    [id, 'My parrot is called Quito.', 'ann', null, null, null, { fooBar: 1, kind: 'pet' }, '2090-01-02', []]);
  assert.ok(Math.abs(new Date(got.createdAt) - Date.now()) < 60000);

  const changed = await mem0.update(id, { text: 'My parrot is called Lima.', metadata: { kind: 'bird' }, expirationDate: null });
  assert.deepEqual([changed.memory, changed.metadata, changed.expirationDate], ['My parrot is called Lima.', { kind: 'bird' }, null]);
  assert.equal((await mem0.update(id, { expirationDate: '9999-12-31' })).expirationDate, '9999-12-31', 'the last day there is');
  assert.match((await server.ask('GET', '/v1/memories', undefined, { 'x-memory-user': 'ann' })).text, /"expires":"9999-12-31/);
  assert.equal((await mem0.update(id, { expirationDate: null })).expirationDate, null);
  await mem0.update(id, { text: 'My parrot is called Cusco.' });
  assert.deepEqual((await mem0.history(id)).map((one) => [one.event, one.oldMemory, one.newMemory, one.memoryId, one.userId]), [
    ['ADD', null, 'My parrot is called Quito.', id, 'ann'],
    ['UPDATE', 'My parrot is called Quito.', 'My parrot is called Lima.', id, 'ann'],
    ['UPDATE', 'My parrot is called Lima.', 'My parrot is called Cusco.', id, 'ann']]);

  assert.deepEqual(await mem0.delete(id), { message: 'Memory deleted successfully!' });
  await refused(mem0.get(id), 'MemoryNotFoundError', 404, /no memory/);
  await refused(mem0.delete(id), 'MemoryNotFoundError', 404, /no memory/);
  await refused(mem0.history(id), 'MemoryNotFoundError', 404, /no memory/);
  await refused(mem0.update(id, { text: 'x' }), 'MemoryNotFoundError', 404, /no memory/);
});

test('with infer the messages are a conversation: facts are found in every turn, and every door has them', async (t) => {
  const server = await serve(t), mem0 = client(server);
  const talk = [...say('My parrot is called Quito.'), { role: 'assistant', content: 'A fine name.' },
    { role: 'user', content: [{ type: 'text', text: 'I live in Oslo.' }] }, { role: 'assistant', content: 'Cold!' }];
  const added = await mem0.add(talk, { userId: 'ann', runId: 'birds', metadata: { from: 'a form' } });
  assert.equal(added.status, 'SUCCEEDED');
  assert.match(added.message, /no core model/);
  assert.deepEqual(added.results.map((one) => one.memory).sort(), ['lives in Oslo', 'my parrot is called Quito'].sort());
  const { results } = await mem0.getAll({ filters: { user_id: 'ann' } });
  assert.deepEqual(results.map((one) => [one.runId, one.metadata]), [['birds', { from: 'a form' }], ['birds', { from: 'a form' }]]);

  const said = (await server.ask('GET', '/v1/session/birds/history', undefined, { 'x-memory-user': 'ann' })).json();
  assert.deepEqual(said.messages.map((one) => one.content), ['My parrot is called Quito.', 'A fine name.', 'I live in Oslo.', 'Cold!']);
  const chat = await server.chat({ model: 'rememberd/demo', user: 'ann', messages: say('What is my parrot called?') });
  assert.match(chat.text, /Quito/);
  const stranger = await server.chat({ model: 'rememberd/demo', user: 'bob', messages: say('What is my parrot called?') });
  assert.doesNotMatch(stranger.text, /Quito/);

  const nameless = await mem0.add([...say('I work for a bakery.'), { role: 'assistant', content: 'Nice.' }, ...say('Well, well.'), ...say('My sister is called Ada.')], { userId: 'cid' });
  assert.equal(nameless.results.length, 2, JSON.stringify(nameless));
  assert.equal(new Set((await mem0.getAll({ filters: { user_id: 'cid' } })).results.map((one) => one.runId)).size, 1, 'one conversation');

  assert.deepEqual((await mem0.add(say('My parrot is called Quito.'), { userId: 'ann' })).results, [], 'it is known');
  assert.equal((await mem0.getAll({ filters: { user_id: 'ann' } })).count, 2);
  const more = await mem0.add(say('My parrot is called Quito.'), asIs({ userId: 'ann' }));
  assert.equal(more.results.length, 1, 'without infer it is kept once more');
  const again = await mem0.add([...say('My parrot is called Quito.'), ...say('My parrot is called Quito.')], asIs({ userId: 'ann' }));
  assert.equal(new Set([...more.results, ...again.results].map((one) => one.id)).size, 3, 'as often as it is given');
});

test('with a core model the messages are distilled, too', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, JSON.stringify({
    episode: { summary: 'The user bought a boat.', topics: [], decisions: [], action_items: [], salience: 0.7 }, entities: [],
    pinned_candidates: [{ content: 'User bought a boat', salience: 0.8, tags: ['boats'] }], identity_facts: [] })));
  const server = await serve(t, { flags: ['--upstream', model.url, '--core-model', 'core'] }), mem0 = client(server);
  const added = await mem0.add(say(`I bought a boat. ${'It is a fine boat with sails and oars and a cabin. '.repeat(5)}`), { userId: 'ann', runId: 'sea' });
  assert.match(added.message, /the core model distils the messages/);
  await server.ask('POST', '/memory/sync', {}, { 'x-memory-user': 'ann' });
  const { results } = await until('it is distilled', async () => {
    const page = await mem0.getAll({ filters: { user_id: 'ann', run_id: 'sea' } });
    return page.results.some((one) => one.memory === 'The user bought a boat.') && page;
  });
  assert.deepEqual(results.find((one) => one.memory === 'User bought a boat').categories.includes('boats'), true);
});

test('two users never meet: not in a search, a list, a count, an erasure', async (t) => {
  const server = await serve(t), mem0 = client(server);
  for (const userId of ['ann', 'bob', 'ann/bob', 'Ann', 'a%62c']) {
    await mem0.add(say(`The word is ${userId} of the parrot.`), asIs({ userId }));
    await mem0.add(say(`My parrot ${userId} is called Quito.`), { userId });
  }
  await mem0.add(say('The word is nobody of the parrot.'), asIs({ agentId: 'helper' }));
  const all = {};
  for (const userId of ['ann', 'bob', 'ann/bob', 'Ann', 'a%62c']) {
    const listed = await mem0.getAll({ filters: { user_id: userId } });
    assert.ok(listed.count >= 1);
    all[userId] = listed.results.map((one) => one.id);
    for (const one of [...listed.results, ...(await mem0.search('parrot word', { filters: { user_id: userId }, threshold: 0 })).results]) {
      assert.equal(one.userId, userId);
      assert.ok(all[userId].includes(one.id), one.memory);
    }
  }
  assert.deepEqual(texts(await mem0.getAll({})), ['The word is nobody of the parrot.'], 'who names nobody has what belongs to nobody');
  assert.deepEqual(texts(await mem0.getAll({ filters: { agent_id: 'helper' } })), ['The word is nobody of the parrot.']);
  await mem0.deleteAll({ userId: 'ann' });
  assert.equal((await mem0.getAll({ filters: { user_id: 'ann' } })).count, 0);
  for (const userId of ['bob', 'ann/bob', 'Ann', 'a%62c'])
    assert.deepEqual((await mem0.getAll({ filters: { user_id: userId } })).results.map((one) => one.id), all[userId]);
  const both = await mem0.getAll({ filters: { OR: [{ user_id: 'bob' }, { user_id: 'Ann' }, { agent_id: 'helper' }] } });
  assert.equal(both.count, all.bob.length + all.Ann.length + 1, 'users that a filter names, each on its own');
  for (const filters of [{ user_id: '*' }, { user_id: { in: ['bob', '*'] } }, { OR: [{ user_id: '*' }] }, { NOT: { user_id: '*' } }]) {
    await refused(mem0.getAll({ filters }), 'ValidationError', 400, /user_id.*must name the user/);
    await refused(mem0.search('word', { filters }), 'ValidationError', 400, /user_id.*must name the user/);
  }
  assert.deepEqual(texts(await mem0.getAll({ filters: { NOT: { user_id: 'bob' } } })), ['The word is nobody of the parrot.'], 'who is not named is not read');
  assert.equal((await mem0.getAll({ filters: { user_id: 'bob', OR: [{ user_id: 'Ann' }, { created_at: { gt: '2020-01-01' } }] } })).count, all.bob.length);
  assert.deepEqual((await mem0.getAll({ filters: { AND: [{ user_id: 'bob' }, { user_id: 'Ann' }] } })).results, []);
});

test('a person whom a chat calls "*" takes nothing from the others', async (t) => {
  const server = await serve(t), mem0 = client(server);
  await server.tell('I live in Ghent.', { 'x-memory-user': '*' });
  const [{ id }] = (await mem0.add(say('My parrot is called Quito.'), asIs({ userId: 'ann' }))).results;
  assert.equal((await mem0.get(id)).memory, 'My parrot is called Quito.');
  assert.deepEqual((await mem0.users()).results.filter((one) => one.type === 'user').map((one) => one.name), ['*', 'ann']);
  await mem0.delete(id);
  await mem0.deleteUsers();
  assert.deepEqual((await mem0.users()).results, []);
});

test('a token decides which users it may name, by id as well', async (t) => {
  const server = await serve(t);
  const any = client(server, await makeToken(server, '--acts-for', 'any')), bob = client(server, await makeToken(server, '--acts-for', 'bob'));
  const plain = client(server, await makeToken(server)), own = client(server, await makeToken(server, '--user', 'local/ann', '--space', 'default'));
  const [{ id }] = (await any.add(say('The word is zanzibar.'), asIs({ userId: 'ann', agentId: 'x' }))).results;
  assert.equal((await any.get(id)).userId, 'ann');
  await refused(client(server).search('word', { filters: { user_id: 'ann' } }), 'AuthenticationError', 401, /token/);
  await refused(client(server, 'rk_wrong').get(id), 'AuthenticationError', 401, /token/);
  for (const other of [bob, plain]) {
    for (const call of [(m) => m.search('word', { filters: { user_id: 'ann' } }), (m) => m.getAll({ filters: { user_id: 'ann' } }),
      (m) => m.add(say('x'), { userId: 'ann' }), (m) => m.deleteAll({ userId: 'ann' }), (m) => m.getAll({ filters: { OR: [{ user_id: 'ann' }, { run_id: 'x' }] } })])
      await refused(call(other), 'AuthenticationError', 403, /user_id: this token may not speak for that person/);
    for (const call of [(m) => m.get(id), (m) => m.history(id), (m) => m.update(id, { text: 'x' }), (m) => m.delete(id),
      (m) => m.batchDelete([id]), (m) => m.batchUpdate([{ memoryId: id, text: 'x' }])])
      await refused(call(other), 'MemoryNotFoundError', 404, /no memory/);
    assert.deepEqual((await other.users()).results, []);
  }
  await assert.rejects(bob.deleteUsers({ userId: 'ann' }), /may not speak/);
  assert.equal((await bob.add(say('The word is quokka.'), asIs({ userId: 'bob' }))).results.length, 1);
  assert.deepEqual((await bob.users()).results.map((one) => one.name), ['bob']);
  await bob.deleteUsers({ agentId: 'x' });
  assert.equal((await any.get(id)).memory, 'The word is zanzibar.');

  // A person's own token names that person, or nobody.
  for (const filters of [{ user_id: 'ann' }, {}, { agent_id: 'x' }])
    assert.deepEqual((await own.getAll({ filters })).results.map((one) => [one.id, one.userId, one.agentId]), [[id, 'ann', 'x']]);
  assert.equal((await own.get(id)).userId, 'ann');
  await refused(own.getAll({ filters: { user_id: 'bob' } }), 'AuthenticationError', 403, /may not speak/);

  // A token without a space of its choice has one that no other token reaches.
  const closed = client(server, await makeToken(server, '--user', 'local/ann'));
  const [secret] = (await closed.add(say('The word is halcyon.'), asIs({ userId: 'ann', runId: 'secret' }))).results;
  assert.equal((await closed.get(secret.id)).memory, 'The word is halcyon.');
  for (const other of [own, any]) {
    await refused(other.get(secret.id), 'MemoryNotFoundError', 404, /no memory/);
    await other.deleteUsers({ runId: 'secret' });
    assert.ok(!(await other.users()).results.some((one) => one.name === 'secret' || (one.type === 'agent' && one.name !== 'x')), 'no trace of it');
    assert.equal((await other.getAll({ filters: { user_id: 'ann' } })).count, 1);
  }
  assert.equal((await closed.get(secret.id)).memory, 'The word is halcyon.');

  // A header that names a person is what counts.
  const token = any.apiKey, ask = (method, target, body, who) => server.ask(method, target, body, { authorization: `Token ${token}`, 'x-memory-user': who });
  assert.equal((await ask('GET', `/v1/memories/${id}/`, undefined, 'ann')).json().user_id, 'ann');
  assert.equal((await ask('GET', `/v1/memories/${id}/`, undefined, 'bob')).status, 404);
  assert.equal((await ask('DELETE', `/v1/memories/${id}/`, undefined, 'bob')).status, 404);
  assert.equal((await ask('POST', '/v3/memories/', { filters: { user_id: 'ann' } }, 'bob')).status, 403);
  assert.equal((await ask('POST', '/v3/memories/', { filters: { user_id: 'ann' } }, 'ann')).json().count, 1);
  assert.equal((await ask('POST', '/v3/memories/', {}, 'ann')).json().count, 1);
  assert.equal((await ask('POST', '/v3/memories/', {}, 'bob')).json().count, 0);
  assert.deepEqual((await ask('GET', '/v1/entities/', undefined, 'ann')).json().results.map((one) => [one.type, one.name, one.total_memories]), [['user', 'ann', 1], ['agent', 'x', 1]]);
});

test('an agent and an app are spaces, a run is a session; the four are parts of one address', async (t) => {
  const server = await serve(t), mem0 = client(server);
  const add = (text, ids) => mem0.add(say(text), asIs({ userId: 'ann', ...ids }));
  await add('one', {});
  await add('two', { agentId: 'a' });
  await add('three', { appId: 'a' });
  await add('four', { agentId: 'a', appId: 'b' });
  await add('five', { agentId: 'a/b' });
  await add('six', { runId: 'r' });
  await add('seven', { agentId: 'a', runId: 'r' });
  await add('eight', { agentId: 'default' });
  for (const agentId of [' a', 'a ', 'A', 'a%2Fb', '%61', 'ä']) {
    await mem0.add(say(`of ${agentId}`), asIs({ userId: 'bob', agentId }));
    assert.deepEqual((await mem0.getAll({ filters: { user_id: 'bob', agent_id: agentId } })).results.map((one) => [one.memory, one.agentId]), [[`of ${agentId}`.trim(), agentId]]);
  }
  const list = async (filters) => texts(await mem0.getAll({ filters: { user_id: 'ann', ...filters } })).reverse();
  assert.deepEqual(await list({}), ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']);
  assert.deepEqual(await list({ agent_id: 'a' }), ['two', 'four', 'seven']);
  assert.deepEqual(await list({ app_id: 'a' }), ['three']);
  assert.deepEqual(await list({ agent_id: 'a', app_id: 'b' }), ['four']);
  assert.deepEqual(await list({ agent_id: 'a/b' }), ['five']);
  assert.deepEqual(await list({ agent_id: 'default' }), ['eight']);
  assert.deepEqual(await list({ run_id: 'r' }), ['six', 'seven']);
  assert.deepEqual(await list({ agent_id: 'a', run_id: 'r' }), ['seven']);
  assert.deepEqual(await list({ agent_id: '*' }), ['two', 'four', 'five', 'seven', 'eight']);
  assert.deepEqual(await list({ NOT: [{ agent_id: '*' }, { app_id: '*' }] }), ['one', 'six']);
  assert.deepEqual(await list({ run_id: { ne: 'r' }, agent_id: { in: ['a'] } }), ['two', 'four']);
  const inSpace = (await server.ask('GET', '/v1/memories', undefined, { 'x-memory-user': 'ann', 'x-memory-space': 'a' })).json();
  assert.deepEqual(inSpace.memories.map((one) => [one.content, one.session]), [['seven', 'r'], ['two', '']]);
  const other = await server.ask('POST', '/v3/memories/', { filters: { user_id: 'ann', agent_id: 'a' } }, { 'x-memory-space': 'b' });
  assert.deepEqual(other.json().results, [], 'a header that names a space leaves nothing else');
  const clash = await server.ask('POST', '/v3/memories/add/', { messages: say('x'), user_id: 'ann', agent_id: 'a' }, { 'x-memory-space': 'b' });
  assert.equal(clash.status, 400);
  assert.match(clash.json().detail, /agent_id: names another space than X-Memory-Space/);

  await mem0.deleteAll({ userId: 'ann', runId: 'r' });
  assert.deepEqual(await list({}), ['one', 'two', 'three', 'four', 'five', 'eight']);
  await mem0.deleteAll({ userId: 'ann', agentId: 'a' });
  assert.deepEqual(await list({}), ['one', 'three', 'five', 'eight']);
});

test('entities are what holds something, and are erased with all of it', async (t) => {
  const server = await serve(t), mem0 = client(server);
  assert.deepEqual((await mem0.users()).results, []);
  await assert.rejects(mem0.deleteUsers(), /No entities to delete/);
  for (const userId of ['ann', 'bob']) {
    await mem0.add(say('My parrot is called Quito.'), { userId, agentId: 'guide', runId: 'r1' });
    await mem0.add(say('one'), asIs({ userId, appId: 'shop', runId: 'r2' }));
  }
  await mem0.add(say('two'), asIs({ agentId: 'guide' }));
  const page = await mem0.users();
  assert.deepEqual(page.results.map((one) => [one.type, one.name, one.totalMemories]), [['user', 'ann', 2], ['user', 'bob', 2],
    ['agent', 'guide', 3], ['app', 'shop', 2], ['run', 'r1', null], ['run', 'r2', null]]);
  assert.deepEqual([page.count, page.totalUsers, page.totalAgents, page.totalApps, page.totalRuns], [6, 2, 1, 1, 2]);
  const second = await mem0.users({ page: 2, pageSize: 4 });
  assert.deepEqual(second.results.map((one) => one.name), ['r1', 'r2']);
  assert.equal(second.next, null);
  assert.equal(second.previous, `${server.url}/v1/entities/?page=1&page_size=4`);

  await mem0.deleteUsers({ runId: 'r2' });
  assert.deepEqual((await mem0.users()).results.map((one) => one.name), ['ann', 'bob', 'guide', 'r1']);
  await mem0.deleteUsers({ userId: 'ann' });
  assert.deepEqual((await mem0.users()).results.map((one) => [one.name, one.totalMemories]), [['bob', 1], ['guide', 2], ['r1', null]]);
  assert.equal((await server.ask('GET', '/v1/session/r1/history', undefined, { 'x-memory-user': 'ann' })).status, 404);
  assert.equal((await mem0.deleteUser({ entity_id: 'bob', entity_type: 'user' })).message, 'Entity deleted successfully!');
  await mem0.deleteUsers();
  assert.deepEqual((await mem0.users()).results, []);
  const wrong = await server.ask('DELETE', '/v2/entities/planet/mars/');
  assert.deepEqual([wrong.status, wrong.json().detail], [400, 'type: must be one of: user, agent, app, run']);
});

// --- filters ---

const days = { '2026-01-01': 'January', '2026-02-01': 'February', '2026-03-01': 'March' };
const filterRows = [
  [{}, ['January', 'February', 'March']],
  [{ AND: [] }, ['January', 'February', 'March']],
  [{ OR: [] }, []],
  [{ AND: [{ user_id: 'ann' }] }, ['January', 'February', 'March']],
  [{ created_at: { gte: '2026-02-01' } }, ['February', 'March']],
  [{ created_at: { gt: '2026-02-01' } }, ['March']],
  [{ created_at: { lte: '2026-02-01' } }, ['January', 'February']],
  [{ created_at: { gte: '2026-01-15', lt: '2026-03-01' } }, ['February']],
  [{ created_at: '2026-02-01' }, ['February']],
  [{ created_at: { in: ['2026-01-01', '2026-03-01'] } }, ['January', 'March']],
  [{ timestamp: { ne: '2026-03-01' } }, ['January', 'February']],
  [{ timestamp: { gt: 1769904000 } }, ['March']], // 2026-02-01T00:00:00Z
  [{ expiration_date: '2090-02-28' }, ['February']],
  [{ expiration_date: { lt: '2090-02-28' } }, []],
  [{ expiration_date: { ne: '2090-02-28' } }, ['January', 'March']],
  [{ expiration_date: { gte: '1960-01-01' } }, ['February']], // those without an end are later than none
  [{ metadata: { n: 1 } }, ['January']],
  [{ metadata: { n: 1, month: 'no' } }, []],
  [{ metadata: { eq: { n: 1 } } }, ['January']],
  [{ metadata: { ne: { n: 1 } } }, ['February', 'March']],
  [{ metadata: { contains: { month: 'uar' } } }, ['January', 'February']],
  [{ metadata: { contains: { list: 'b' } } }, ['March']],
  [{ metadata: { list: ['a', 'b'] } }, ['March']],
  [{ metadata: { inner: { y: 2, x: 1 } } }, ['March']],
  [{ OR: [{ metadata: { n: 1 } }, { metadata: { n: 2 } }] }, ['January', 'February']],
  [{ NOT: { metadata: { n: 1 } } }, ['February', 'March']],
  [{ NOT: [{ metadata: { n: 1 } }, { metadata: { n: 2 } }] }, ['March']],
  [{ AND: [{ NOT: { metadata: { n: 1 } } }, { OR: [{ metadata: { n: 1 } }, { metadata: { n: 2 } }] }] }, ['February']],
  [{ categories: { in: ['winter', 'none'] } }, ['January', 'February']],
  [{ categories: { contains: 'spring' } }, ['March']],
  [{ categories: 'spring' }, ['March']],
  [{ NOT: { categories: { in: ['winter'] } } }, ['March']],
  [{ keywords: { contains: 'ruary' } }, ['February']],
  [{ keywords: { contains: 'RUARY' } }, []],
  [{ text: { icontains: 'RUARY' } }, ['February']],
  [{ text: 'JANUARY' }, ['January']],
  [{ run_id: { nin: ['r'] } }, ['January', 'February', 'March']],
  [{ user_id: { nin: ['ann'] } }, []],
  [{ run_id: '*' }, []],
  [{ memory_ids: [] }, []],
];
const wrongFilters = [
  [{ bogus: 1 }, /'bogus' is neither AND, OR, NOT nor one of user_id/],
  [{ AND: [{ OR: [{ bogus: 1 }] }] }, /'bogus' is neither/],
  [{ AND: { user_id: 'ann' } }, /'AND' must be a list/],
  [{ OR: ['x'] }, /each condition must be an object/],
  [{ created_at: { '>=': '2026-01-01' } }, /'created_at' does not take the operator '>='/],
  [{ created_at: { eq: '2026-01-01' } }, /'created_at' does not take the operator 'eq'/],
  [{ created_at: 'yesterday' }, /'created_at' must be a date or a time/],
  [{ user_id: { gt: 'a' } }, /'user_id' does not take the operator 'gt'/],
  [{ user_id: 7 }, /'user_id' must be a string/],
  [{ user_id: {} }, /'user_id' must be a string/],
  [{ run_id: { in: 'r' } }, /'in' of 'run_id' must be a list/],
  [{ metadata: 'x' }, /'metadata' must be an object/],
  [{ categories: { in: [1] } }, /'categories' must be a string/],
  [{ OR: Array.from({ length: 501 }, () => ({ run_id: 'r' })) }, /at most 500 conditions/],
];

async function months(server, mem0) {
  for (const [day, month] of Object.entries(days)) {
    const metadata = { January: { n: 1, month }, February: { n: 2, month }, March: { n: 3, month, list: ['a', 'b'], inner: { x: 1, y: 2 } } }[month];
    const [{ id }] = (await mem0.add(say(`The month ${month}`), asIs({ userId: 'ann', metadata, timestamp: Date.parse(day) / 1000,
      ...(month === 'February' && { expirationDate: '2090-02-28' }) }))).results;
    const tags = month === 'March' ? ['spring', 'mild'] : ['winter'];
    const patched = await server.ask('PATCH', `/v1/memories/${id}`, { tags }, { 'x-memory-user': 'ann' });
    assert.equal(patched.status, 200, patched.text);
  }
}
const monthsIn = (page) => texts(page).map((text) => text.slice(10)).sort((a, b) => Object.values(days).indexOf(a) - Object.values(days).indexOf(b));

test('filters: fields, operators, AND, OR, NOT, in lists and in searches', async (t) => {
  const server = await serve(t), mem0 = client(server);
  await months(server, mem0);
  for (const [filter, expected] of filterRows) {
    const filters = { user_id: 'ann', ...filter };
    const listed = await mem0.getAll({ filters });
    assert.deepEqual([monthsIn(listed), listed.count], [expected, expected.length], JSON.stringify(filter));
    const found = await mem0.search('month', { filters, threshold: 0 });
    assert.deepEqual(monthsIn(found), expected, `a search: ${JSON.stringify(filter)}`);
  }
  const [one] = (await mem0.getAll({ filters: { user_id: 'ann', metadata: { n: 2 } } })).results;
  for (const ids of [[one.id], { in: [one.id, 'x'] }])
    assert.deepEqual(monthsIn(await mem0.getAll({ filters: { user_id: 'ann', memory_ids: ids } })), ['February']);
  for (const [filter, words] of wrongFilters)
    for (const call of [(asked) => mem0.getAll(asked), (asked) => mem0.search('month', asked)])
      await refused(call({ filters: { user_id: 'ann', ...filter } }), 'ValidationError', 400, words);
  // Beside the filters.
  assert.deepEqual(monthsIn(await mem0.getAll({ filters: { user_id: 'ann' }, categories: ['spring'] })), ['March']);
  assert.deepEqual(monthsIn(await mem0.getAll({ filters: { user_id: 'ann' }, startDate: '2026-01-15', endDate: '2026-02-01' })), ['February']);
  assert.deepEqual(monthsIn(await mem0.getAll({ filters: { user_id: 'ann' }, keywords: 'MARCH' })), ['March']);
  await refused(mem0.getAll({ filters: { user_id: 'ann' }, startDate: 'soon' }), 'ValidationError', 400, /'created_at' must be a date or a time/);
  assert.deepEqual(monthsIn(await mem0.search('month', { filters: { user_id: 'ann' }, metadata: { n: 1 } })), ['January']);
  assert.deepEqual(monthsIn(await mem0.search('month', { filters: { user_id: 'ann' }, topK: 2 })).length, 2);
});

test('a filter names up to a hundred users, and more of them take no memory', async (t) => {
  const server = await serve(t), users = Array.from({ length: 10000 }, (_, i) => `user${i}`);
  const most = () => Number(/^VmHWM:\s+(\d+)/m.exec(require('node:fs').readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1]);
  const before = most(), list = (names) => server.ask('POST', '/v3/memories/', { filters: { user_id: { in: names } } });
  const refused = await list(users), found = await list(users.slice(0, 100));
  assert.deepEqual([refused.status, refused.json().detail], [400, 'filters: must name at most 100 users']);
  assert.deepEqual([found.status, found.json().count], [200, 0], found.text);
  assert.ok(most() - before < 200_000, `${most() - before} kB more`);
  const parts = await server.ask('POST', '/v3/memories/', { filters: { AND: Array.from({ length: 300_000 }, () => ({})) } });
  assert.equal(parts.status, 200, 'and at once, however many parts it has');
  const plenty = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`a${i}`, 1])), took = [];
  for (const [user_id, metadata] of [['ann', { a0: 1 }], ['bob', plenty]]) { // as soon, whatever else the memory has
    await server.ask('POST', '/memories', { user_id, infer: false, messages: say('The red bicycle is in the cellar.'), metadata });
    const many = (value) => server.ask('POST', '/search', { query: 'Where is the red bicycle?', filters: { user_id, a0: { in: [...Array(400_000).fill(2), value] } } });
    const began = Date.now();
    assert.deepEqual([(await many(3)).json().results.length, (await many(1)).json().results.length], [0, 1]);
    took.push(Date.now() - began);
  }
  assert.ok(took[1] < 4 * took[0] + 1000, `${took} ms`);
});

test('pages have a count and the addresses of their neighbours', async (t) => {
  const server = await serve(t), mem0 = client(server);
  for (let i = 0; i < 7; i++) await mem0.add(say(`number ${i}`), asIs({ userId: 'ann', metadata: { even: i % 2 === 0 } }));
  for (const [filters, all] of [[{ user_id: 'ann' }, [6, 5, 4, 3, 2, 1, 0]], [{ user_id: 'ann', metadata: { even: true } }, [6, 4, 2, 0]]]) {
    const seen = [];
    let page = await mem0.getAll({ filters, page: 1, pageSize: 3 });
    assert.equal(page.previous, null);
    for (;;) {
      assert.equal(page.count, all.length);
      seen.push(...texts(page).map((text) => Number(text.slice(7))));
      if (!page.next) break;
      assert.ok(page.next.startsWith(`${server.url}/v3/memories/?page=`));
      page = (await server.ask('POST', page.next.slice(server.url.length), { filters })).json();
    }
    assert.deepEqual(seen, all);
    assert.match(page.previous, /page=\d&page_size=3$/);
  }
  assert.equal((await mem0.getAll({ filters: { user_id: 'ann' } })).results.length, 7);
  await refused(mem0.getAll({ filters: { user_id: 'ann' }, page: 0 }), 'ValidationError', 400, /^page: must be from 1/);
});

test('batches change and erase many, or none', async (t) => {
  const server = await serve(t), mem0 = client(server);
  const ids = [];
  for (const userId of ['ann', 'bob', 'cid']) ids.push((await mem0.add(say(`I am ${userId}`), asIs({ userId }))).results[0].id);
  await refused(mem0.batchUpdate([{ memoryId: ids[0], text: 'changed' }, { memoryId: 'none', text: 'x' }]), 'MemoryNotFoundError', 404, /no memory 'none'/);
  await refused(mem0.batchDelete([ids[0], 'none']), 'MemoryNotFoundError', 404, /no memory 'none'/);
  for (const text of [undefined, ' '])
    await refused(mem0.batchUpdate([{ memoryId: ids[0], text: 'changed' }, { memoryId: ids[1], text }]), 'ValidationError', 400, /^memories: must each have a text or metadata/);
  await refused(mem0.batchDelete([]), 'ValidationError', 400, /^memories: must be a list of 1 to 1000/);
  assert.equal((await mem0.get(ids[0])).memory, 'I am ann');
  assert.deepEqual(await mem0.batchUpdate(ids.slice(0, 2).map((memoryId) => ({ memoryId, text: `now ${memoryId}` }))), { message: 'Successfully updated 2 memories' });
  assert.deepEqual([(await mem0.get(ids[0])).memory, (await mem0.get(ids[1])).memory], [`now ${ids[0]}`, `now ${ids[1]}`]);
  assert.deepEqual(await mem0.batchDelete(ids.slice(0, 2)), { message: 'Successfully deleted 2 memories' });
  await refused(mem0.get(ids[1]), 'MemoryNotFoundError', 404, /no memory/);
  assert.equal((await mem0.get(ids[2])).memory, 'I am cid');
});

test('a memory that has replaced others is erased alone, or with them', async (t) => {
  const server = await serve(t), mem0 = client(server), as = { 'x-memory-user': 'ann' };
  for (const deleteLinked of [false, true]) {
    const chain = [];
    for (const city of ['Oslo', 'Bergen', 'Bodø'])
      chain.push((await server.ask('POST', '/v1/memories', { content: `I live in ${city}`, key: `city ${deleteLinked}` }, as)).json().id);
    assert.equal((await mem0.get(chain[0])).memory, 'I live in Oslo');
    assert.deepEqual((await mem0.history(chain[0])).map((one) => [one.event, one.isDeleted]), [['ADD', true], ['DELETE', true]]);
    await mem0.delete(chain[2], deleteLinked ? { deleteLinked } : {});
    const left = await Promise.all(chain.map((id) => mem0.get(id).then(() => true, () => false)));
    assert.deepEqual(left, deleteLinked ? [false, false, false] : [true, true, false]);
  }
});

test('what has expired is listed only when asked for', async (t) => {
  const server = await serve(t), mem0 = client(server);
  await mem0.add(say('old milk'), asIs({ userId: 'ann', expirationDate: '2020-01-01' }));
  await mem0.add(say('new milk'), asIs({ userId: 'ann' }));
  assert.deepEqual(texts(await mem0.getAll({ filters: { user_id: 'ann' } })), ['new milk']);
  assert.deepEqual(texts(await mem0.search('milk', { filters: { user_id: 'ann' } })), ['new milk']);
  assert.deepEqual(texts(await mem0.getAll({ filters: { user_id: 'ann' }, showExpired: true })), ['new milk', 'old milk']);
  await refused(mem0.search('milk', { filters: { user_id: 'ann' }, showExpired: true }), 'ValidationError', 400, /^show_expired: is for lists/);
  await refused(mem0.add(say('x'), asIs({ userId: 'ann', expirationDate: 'soon' })), 'ValidationError', 400, /^expiration_date: must be a date/);
});

test('what cannot be done is refused in words, and never passed on to a model server', async (t) => {
  const up = await upstream(t), server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] }), mem0 = client(server);
  await refused(mem0.add(say('x'), {}), 'ValidationError', 400, /name at least one of user_id, agent_id, app_id and run_id/);
  await refused(mem0.deleteAll({}), 'ValidationError', 400, /name at least one of user_id/);
  await refused(mem0.add([{ content: 'x' }], { userId: 'ann' }), 'ValidationError', 400, /^messages: must be a text/);
  await refused(mem0.add(say('x'.repeat(65537)), { userId: 'ann' }), 'ValidationError', 400, /^messages: must have at most 65536 bytes/);
  await refused(mem0.search(' ', { filters: { user_id: 'ann' } }), 'ValidationError', 400, /^query: must not be blank/);
  await refused(mem0.update('x', { timestamp: 1 }), 'ValidationError', 400, /^timestamp: cannot be changed/);
  await refused(mem0.update((await mem0.add(say('x'), asIs({ userId: 'ann' }))).results[0].id, { text: ' ' }), 'ValidationError', 400, /^text: must not be blank/);
  await refused(mem0.feedback({ memoryId: 'x', feedback: 'POSITIVE' }), 'MemoryError', 501, /not served/);
  await refused(mem0.createMemoryExport({ schema: {}, filters: {} }), 'MemoryError', 501, /not served/);
  await refused(mem0.getMemoryExport({ memoryExportId: 'x' }), 'MemoryError', 501, /not served/);
  await assert.rejects(mem0.getProject({ fields: [] }), /organizationId and projectId must be set/);
  await assert.rejects(mem0.getProfile({ entityId: 'ann' }), { name: 'MemoryNotFoundError' });
  for (const target of ['/v1/events/', '/v1/event/x/']) assert.equal((await server.ask('GET', target)).status, 501);
  for (const method of ['PATCH', 'PUT']) assert.equal((await server.ask(method, '/v1/memories/', {})).status, 405);
  await server.ask('PUT', '/api/settings/memory', { enabled: false });
  await refused(mem0.add(say('x'), { userId: 'ann' }), 'AuthenticationError', 403, /memory is switched off/);
  assert.equal((await mem0.add(say('x'), asIs({ userId: 'ann' }))).results.length, 1);
  assert.deepEqual(up.asked.map((one) => one.url), []);
});

test('a user who has reached the limit is told', async (t) => {
  const server = await serve(t, { flags: ['--user-memories-max', '1'] }), mem0 = client(server);
  await mem0.add(say('one'), asIs({ userId: 'ann' }));
  for (const infer of [true, false])
    await refused(mem0.add(say('My parrot is called Quito.'), { userId: 'ann', infer }), 'AuthenticationError', 403, /1/);
  assert.equal((await mem0.add(say('My parrot is called Quito.'), { userId: 'bob' })).results.length, 1);
});

test("rememberd's own API stays as it is: no slash at the end, and no Token", async (t) => {
  const server = await serve(t), mem0 = client(server), token = await makeToken(server, '--space', 'default'), bearer = { authorization: `Bearer ${token}` };
  const added = await server.ask('POST', '/v1/memories', { content: 'The word is quokka.' }, bearer);
  assert.equal(added.status, 201);
  const { id } = added.json();
  assert.equal((await server.ask('GET', `/v1/memories/${id}`, undefined, bearer)).json().content, 'The word is quokka.');
  assert.equal((await server.ask('GET', `/v1/memories/${id}/`, undefined, bearer)).json().memory, 'The word is quokka.');
  assert.equal((await server.ask('GET', '/v1/memories', undefined, bearer)).json().memories.length, 1);
  assert.equal((await server.ask('GET', '/v1/memories/', undefined, bearer)).json().length, 1);
  assert.equal((await server.ask('POST', '/v1/memories/search', { query: 'quokka' }, bearer)).json().results[0].text, 'The word is quokka.');
  for (const target of ['/v1/memories', `/v1/memories/${id}`, `/v1/memories/${id}/history`]) {
    const res = await server.ask('GET', target, undefined, { authorization: `Token ${token}` });
    assert.deepEqual([res.status, res.headers['content-type']], [401, 'application/problem+json']);
  }
  const strict = await server.ask('POST', '/v1/memories', { messages: say('x'), user_id: 'ann' }, bearer);
  assert.deepEqual([strict.status, strict.headers['content-type']], [400, 'application/problem+json']);
  await refused(mem0.ping(), 'AuthenticationError', 401, /token/);
});

// --- the server that people host themselves ---

test('the self-hosted API: add, list, search, change, history, erase', async (t) => {
  const server = await serve(t), token = await makeToken(server, '--acts-for', 'any');
  const ask = async (method, target, body, key = { 'X-API-Key': token }) => {
    const res = await server.ask(method, target, body, key);
    return [res.status, res.json()];
  };
  assert.deepEqual((await ask('GET', '/memories', undefined, {}))[0], 401);
  assert.deepEqual((await ask('GET', '/memories', undefined, { 'X-API-Key': 'wrong' }))[0], 401);
  assert.deepEqual(await ask('POST', '/memories', { messages: say('x') }), [400, { detail: 'At least one identifier (user_id, agent_id, run_id) is required.' }]);
  const [, { results: [added] }] = await ask('POST', '/memories', { messages: say('My parrot is called Quito.'), user_id: 'ann', metadata: { kind: 'pet', size: 3 }, infer: false });
  assert.deepEqual([added.memory, added.event], ['My parrot is called Quito.', 'ADD']);
  assert.deepEqual((await ask('POST', '/memories', { messages: say('I live in Oslo.'), user_id: 'bob' }))[1].results.map((one) => one.memory), ['lives in Oslo']);
  const { id } = added;
  const texts = async (call) => (await call)[1].results.map((one) => one.memory);
  assert.deepEqual(await texts(ask('GET', '/memories?user_id=ann')), ['My parrot is called Quito.']);
  assert.deepEqual(await texts(ask('GET', '/memories?user_id=ann', undefined, { authorization: `Bearer ${token}` })), ['My parrot is called Quito.']);
  assert.deepEqual(await texts(ask('POST', '/search', { query: 'parrot', filters: { user_id: 'ann' } })), ['My parrot is called Quito.']);
  assert.deepEqual(await texts(ask('POST', '/search', { query: 'parrot', user_id: 'bob', threshold: 0 })), ['lives in Oslo']);
  for (const [filters, fits] of [[{ kind: 'pet' }, 1], [{ kind: { ne: 'pet' } }, 0], [{ size: { gte: 3 } }, 1], [{ size: { gt: 3 } }, 0], [{ kind: { in: ['pet', 'x'] } }, 1],
    [{ kind: { nin: ['pet'] } }, 0], [{ kind: { icontains: 'PE' } }, 1], [{ kind: '*' }, 1], [{ none: '*' }, 0], [{ none: null }, 1], [{ size: { lt: 'x' } }, 0]])
    assert.equal((await texts(ask('POST', '/search', { query: 'parrot', filters: { user_id: 'ann', ...filters } }))).length, fits, JSON.stringify(filters));
  assert.deepEqual((await ask('GET', `/memories/${id}`))[1].user_id, 'ann');
  assert.deepEqual(await ask('PUT', `/memories/${id}`, { text: 'My parrot is called Lima.' }), [200, { message: 'Memory updated successfully!' }]);
  assert.deepEqual((await ask('GET', `/memories/${id}/history`))[1].map((one) => [one.event, one.old_memory, one.new_memory, one.is_deleted]),
    [['ADD', null, 'My parrot is called Quito.', false], ['UPDATE', 'My parrot is called Quito.', 'My parrot is called Lima.', false]]);
  assert.equal((await ask('DELETE', `/memories/${id}`))[0], 200);
  assert.equal((await ask('GET', `/memories/${id}`))[0], 404);
  assert.deepEqual(await ask('DELETE', '/memories?user_id=bob'), [200, { message: 'All relevant memories deleted' }]);
  assert.deepEqual(await texts(ask('GET', '/memories?user_id=bob')), []);
  assert.equal((await ask('DELETE', '/memories'))[0], 400);
  assert.equal((await ask('GET', '/memories?user=bob'))[0], 400, 'an unknown parameter does not widen a list');
});

test('user_id names a person also where no other name does', async (t) => {
  const server = await serve(t, { flags: ['--user-from', 'none'] }), mem0 = client(server);
  await mem0.add(say('The word is zanzibar.'), asIs({ userId: 'ann' }));
  await mem0.add(say('The word is quokka.'), asIs({ userId: 'bob' }));
  assert.deepEqual(texts(await mem0.getAll({ filters: { user_id: 'ann' } })), ['The word is zanzibar.']);
});
