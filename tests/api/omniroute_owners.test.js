// omniroute_owners.test.js - OmniRoute's endpoints with everyone else's keys and ids: nothing is read, changed or counted.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { run, serve, until } = require('./lib');

const bearer = (token) => ({ authorization: `Bearer ${token}` });

// Two users, each with a token of its own and an admin's; a secret in every space.
async function twoUsers(t) {
  const server = await serve(t);
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout);
  const users = {};
  for (const name of ['ada', 'bob']) {
    const plain = await make('--user', name, '--name', 'app'), admin = await make('--user', name, '--admin', '--space', 'desk');
    const ask = (method, path, body) => server.ask(method, path, body, bearer(admin.token));
    const add = async (body) => (await ask('POST', '/api/memory', body)).json().memory;
    const word = `${name}secret`;
    users[name] = { name, plain, admin, ask, word,
      memories: [await add({ content: `The ${word} is in the cellar.`, key: 'where', apiKeyId: plain.id, sessionId: `${name}-session` }),
        await add({ content: `The ${word} is 4711.`, key: 'code' })] };
  }
  return { server, make, ...users };
}

test('a key names a token of the caller by its id, or a space by its name', async (t) => {
  const { ada, make } = await twoUsers(t);
  const [where, code] = ada.memories;
  assert.deepEqual([where.apiKeyId, code.apiKeyId], [ada.plain.space, 'desk']);
  const total = async (query) => (await ada.ask('GET', `/api/memory${query}`)).json().total;
  assert.equal(await total(''), 2, 'without a key every space');
  for (const key of [ada.plain.id, ada.plain.space]) assert.equal(await total(`?apiKeyId=${key}`), 1, key);
  for (const key of [ada.admin.id, 'desk']) assert.equal(await total(`?apiKey=${key}`), 1, key);
  // What the dashboard adds without a key has an owner, and is recalled for it.
  const res = await ada.ask('POST', '/v1/memories/search', { query: 'What is the adasecret?' });
  assert.ok(res.json().results.some((one) => one.id === code.id));
  // A token of the same user that was given a space of its own.
  const more = await make('--user', 'ada', '--space', 'work');
  const added = (await ada.ask('POST', '/api/memory', { content: 'x', key: 'k', apiKeyId: more.id })).json().memory;
  assert.equal(added.apiKeyId, 'work');
  assert.equal(await total('?apiKeyId=work'), 1);
});

test('no endpoint reads, changes or counts what is another user\'s', async (t) => {
  const { server, ada, bob } = await twoUsers(t);
  const before = (await bob.ask('GET', '/api/memory')).text;
  // Another user's key is a name like any other: what there is under it is the caller's own.
  const keys = [bob.plain.id, bob.plain.space, bob.admin.id, bob.memories[0].id, 'nobody', 'local', 'bob'];
  const same = new Set();
  for (const key of keys) {
    const q = encodeURIComponent(key);
    const tries = [['GET', `/api/memory?apiKeyId=${q}`], ['GET', `/api/memory?apiKey=${q}`], ['DELETE', `/api/memory?apiKeyId=${q}`],
      ['POST', '/api/memory/retrieve-preview', { query: bob.word, apiKeyId: key }],
      ['POST', '/api/memory/summarize', { olderThanDays: 1, apiKeyId: key }], ['POST', '/api/memory/summarize', { dryRun: true, apiKeyId: key }]];
    const answers = [];
    for (const [method, path, body] of tries) {
      const res = await ada.ask(method, path, body);
      assert.equal(res.status, 200, `${method} ${path} ${JSON.stringify(body)}: ${res.text}`);
      answers.push(res.text.replaceAll(key, 'KEY').replace(/"latencyMs":[^,}]*|"took[^,}]*/g, ''));
    }
    same.add(answers.join('\n'));
  }
  assert.equal(same.size, 1, 'whether it is someone\'s key cannot be told');

  const missing = (await ada.ask('GET', '/api/memory/00000000-0000-4000-8000-000000000000')).json().error;
  for (const { id } of bob.memories) {
    for (const [method, body] of [['GET'], ['PUT', { content: 'planted' }], ['PUT', {}], ['DELETE']]) {
      const res = await ada.ask(method, `/api/memory/${id}`, body);
      assert.equal(res.status, 404, `${method} ${id}`);
      assert.deepEqual(res.json().error, missing);
    }
  }

  // Nothing of it in any answer, whatever is asked without naming a key.
  const lists = ['', '?q=bobsecret', `?sessionId=bob-session`, '?limit=200', '?type=factual', '?offset=0'];
  for (const query of lists) {
    const res = await ada.ask('GET', `/api/memory${query}`);
    assert.ok(!/bob/.test(res.text), query);
    const { total, stats } = res.json();
    assert.equal(total, /bob/.test(query) ? 0 : 2);
    assert.equal(stats.total, total);
    assert.equal(stats.tokensUsed, total ? 14 : 0);
    assert.deepEqual(stats.byType, total ? { factual: 2 } : {});
  }
  for (const [method, path, body] of [
    ['POST', '/api/memory/retrieve-preview', { query: 'the bobsecret in the cellar', limit: 100 }],
    ['POST', '/api/memory/retrieve-preview', { query: 'secret', strategy: 'exact' }],
    ['POST', '/api/memory/retrieve-preview', { query: 'secret cellar', strategy: 'semantic' }],
    ['POST', '/api/memory/summarize', { dryRun: true, olderThanDays: 1 }], ['POST', '/api/memory/summarize', { olderThanDays: 1 }],
    ['POST', '/api/settings/qdrant/search', { query: 'bobsecret' }], ['POST', '/api/settings/qdrant/cleanup'],
    ['POST', '/api/memory/reindex', {}], ['GET', '/api/memory/engine-status'], ['GET', '/api/memory/health']]) {
    const res = await ada.ask(method, path, body);
    assert.ok(!/bobsecret|4711.*bob/.test(res.text.replace(/"query".*/, '')), `${method} ${path}: ${res.text}`);
  }

  // Clearing without a key reaches the caller's own space, and no other of the user's.
  assert.deepEqual((await ada.ask('DELETE', '/api/memory')).json(), { success: true, deletedCount: 1 });
  assert.equal((await ada.ask('GET', '/api/memory')).json().total, 1);

  const after = (await bob.ask('GET', '/api/memory')).text;
  assert.equal(after, before, 'as it was');
  // A token that is no admin's has what it reaches, here as everywhere.
  const plain = (who, path) => server.ask('GET', path, undefined, bearer(who.plain.token));
  assert.deepEqual((await plain(bob, '/api/memory')).json().data.map((one) => one.key), ['where']);
  assert.equal((await plain(bob, `/api/memory/${bob.memories[0].id}`)).status, 200);
  assert.equal((await plain(bob, `/api/memory/${bob.memories[1].id}`)).status, 200, 'in the space desk, which has a name');
  for (const { id } of bob.memories) assert.equal((await plain(ada, `/api/memory/${id}`)).status, 404);
});

test('without tokens any key names a space of the local user, made by its first write', async (t) => {
  const server = await serve(t);
  const list = async (query = '') => (await server.ask('GET', `/api/memory${query}`)).json().data.map((one) => [one.apiKeyId, one.content]);
  assert.deepEqual(await list('?apiKeyId=key-a'), []);
  await server.ask('POST', '/api/memory', { content: 'of a', key: 'k', apiKeyId: 'key-a' });
  await server.ask('POST', '/api/memory', { content: 'of b', key: 'k', apiKeyId: 'key-b' });
  await server.ask('POST', '/api/memory', { content: 'of none', key: 'k' });
  assert.deepEqual(await list('?apiKeyId=key-a'), [['key-a', 'of a']]);
  assert.deepEqual(await list(), [['default', 'of none'], ['key-b', 'of b'], ['key-a', 'of a']]);
  assert.deepEqual((await server.ask('DELETE', '/api/memory?apiKeyId=key-b')).json(), { success: true, deletedCount: 1 });
  assert.deepEqual(await list(), [['default', 'of none'], ['key-a', 'of a']]);
  // The agent's header of another dialect moves nothing here.
  const res = await server.ask('POST', '/api/memory', { content: 'mine', key: 'm' }, { 'x-osaurus-agent-id': 'key-a' });
  assert.equal(res.json().memory.apiKeyId, 'default');

  // The first token changes who may ask, and not what a name means.
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--admin', '--data', server.data])).stdout);
  const ask = (path, body) => server.ask(body ? 'POST' : 'GET', path, body, bearer(token));
  await until('the token is noticed', async () => (await server.ask('GET', '/api/memory')).status === 401);
  assert.equal((await ask('/api/memory?apiKeyId=key-a')).json().total, 1);
  assert.equal((await ask('/api/memory?apiKeyId=key-c')).json().total, 0);
  assert.equal((await ask('/api/memory', { content: 'x', key: 'k', apiKeyId: 'key-c' })).json().memory.apiKeyId, 'key-c', 'as without tokens');
});
