// reference_admin.test.js - /v1/users, /v1/spaces/{name} and /v1/tokens, and the command user.
'use strict';
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { test } = require('node:test');
const { run, serve } = require('./lib.js');

const auth = (token, more = {}) => ({ ...(token && { authorization: `Bearer ${token}` }), ...more });

async function ok(server, method, target, body, headers) {
  const res = await server.ask(method, target, body, headers);
  assert.ok(res.status >= 200 && res.status < 300, `${method} ${target}: ${res.status} ${res.text}`);
  return res.text ? res.json() : null;
}

async function refused(server, status, field, method, target, body, headers) {
  const res = await server.ask(method, target, body, headers);
  assert.equal(res.status, status, `${method} ${target}: ${res.status} ${res.text}`);
  assert.equal(res.headers['content-type'], 'application/problem+json');
  if (field) assert.equal(res.json().field, field, res.text);
  return res.json();
}

async function token(server, ...flags) {
  const { code, stdout, stderr } = await run(['token', 'create', '--data', server.data, ...flags]);
  assert.equal(code, 0, stderr);
  return /((rk|ctx)_\S+)/.exec(stdout)[1];
}

// A server with an operator, a registered user, a user with a token, and a front end with people.
async function town(t) {
  const server = await serve(t);
  const operator = await token(server, '--admin', '--space', 'default');
  const ann = await token(server, '--user', 'ann', '--space', 'home');
  const front = await token(server, '--user', 'front', '--acts-for', 'any', '--space', 'default');
  const id = crypto.randomUUID();
  const zed = (await ok(server, 'POST', '/v1/users', { id, email: 'Zed@example.com', first_name: 'Zed', last_name: 'Ångström', token_name: 'first' }, auth(operator))).access_token;
  const says = (content, headers) => ok(server, 'POST', '/v1/memories', { content }, headers);
  await says('Ann likes tea', auth(ann));
  await says('Ann works late', auth(ann, { 'x-memory-space': 'work' }));
  await says('Front likes order', auth(front));
  for (const person of ['eve', 'a/b']) await says(`${person} likes cake`, auth(front, { 'x-memory-user': person }));
  await says('Zed likes coffee', auth(zed));
  return { server, operator, ann, front, zed, id, says };
}

test('users and the people behind keys are listed by pages, searched, and shown one by one', async (t) => {
  const { server, operator, id } = await town(t);
  const all = await ok(server, 'GET', '/v1/users', undefined, auth(operator));
  const names = all.items.map((u) => u.id);
  assert.deepEqual(names, ['ann', 'front', 'front/a%2Fb', 'front/eve', 'local', id].sort());
  assert.equal(all.total, 6);
  assert.equal(all.next, null);
  const of = Object.fromEntries(all.items.map((u) => [u.id, u]));
  assert.deepEqual([of.ann.spaces, of.ann.memories, of.ann.tokens, of.ann.is_registered], [2, 2, 1, false]);
  assert.deepEqual([of[id].email, of[id].is_registered, of[id].last_name], ['Zed@example.com', true, 'Ångström']);
  assert.ok(Date.now() - Date.parse(of.ann.last_active) < 60000);
  const paged = [];
  for (let next = ''; next !== null;) {
    const page = await ok(server, 'GET', `/v1/users?limit=2${next && `&cursor=${next}`}`, undefined, auth(operator));
    assert.equal(page.total, 6);
    paged.push(...page.items.map((u) => u.id));
    next = page.next;
  }
  assert.deepEqual(paged, names);
  const found = async (query) => (await ok(server, 'GET', `/v1/users?${query}`, undefined, auth(operator))).items.map((u) => u.id);
  assert.deepEqual(await found('contains=zed@EX'), [id]);
  assert.deepEqual(await found(`contains=${encodeURIComponent('ÅNGSTRÖM')}`), [id]);
  assert.deepEqual(await found('contains=EVE'), ['front/eve']);
  for (const name of ['A/B', 'a%2Fb']) assert.deepEqual(await found(`contains=${encodeURIComponent(name)}`), ['front/a%2Fb'], name);
  assert.deepEqual(await found('owner=front'), ['front/a%2Fb', 'front/eve']);
  assert.deepEqual(await found('owner=fron'), []);
  assert.equal((await ok(server, 'GET', '/v1/users/front%2Feve', undefined, auth(operator))).memories, 1);
  await refused(server, 404, null, 'GET', '/v1/users/nobody', undefined, auth(operator));
  const page = await ok(server, 'GET', '/v1/users?limit=2', undefined, auth(operator));
  await refused(server, 400, 'cursor', 'GET', `/v1/users?contains=a&cursor=${page.next}`, undefined, auth(operator));
  await refused(server, 400, 'limit', 'GET', '/v1/users?limit=0', undefined, auth(operator));
  await refused(server, 400, 'name', 'GET', '/v1/users?name=a', undefined, auth(operator));
});

/** The answer of an erasure, without the id of its certificate. */
async function certified(answer) {
  const { erasure, ...rest } = await answer;
  assert.match(erasure, /^[0-9a-f-]{36}$/);
  return rest;
}

test('a user is erased with everything that it owns, when its id is said twice', async (t) => {
  const { server, operator, ann, front, zed, id } = await town(t);
  const erase = (name, query) => ['DELETE', `/v1/users/${encodeURIComponent(name)}?${query}`, undefined, auth(operator)];
  await refused(server, 400, 'confirm', ...erase('ann', ''));
  await refused(server, 400, 'confirm', ...erase('ann', 'confirm=anna'));
  await refused(server, 404, null, ...erase('nobody', 'confirm=nobody'));
  assert.equal((await ok(server, 'GET', '/v1/users/ann', undefined, auth(operator))).memories, 2, 'nothing is erased by a refusal');
  assert.deepEqual(await certified(ok(server, ...erase('ann', 'confirm=ann'))), { id: 'ann', erased: 2, people: 0 });
  await refused(server, 404, null, ...erase('ann', 'confirm=ann'));
  assert.equal((await server.ask('GET', '/v1/memories', undefined, auth(ann))).status, 401, 'its token has ended');
  const gone = await refused(server, 409, null, ...erase('front', 'confirm=front'));
  assert.match(gone.detail, /2 people.*people=true/);
  assert.deepEqual(await certified(ok(server, ...erase('front/eve', `confirm=${encodeURIComponent('front/eve')}`))), { id: 'front/eve', erased: 1, people: 0 });
  assert.deepEqual(await certified(ok(server, ...erase('front', 'confirm=front&people=true'))), { id: 'front', erased: 2, people: 1 });
  assert.equal((await server.ask('GET', '/v1/memories', undefined, auth(front))).status, 401);
  assert.deepEqual(await certified(ok(server, ...erase(id, `confirm=${id}`))), { id, erased: 1, people: 0 });
  assert.equal((await server.ask('GET', '/v1/memories', undefined, auth(zed))).status, 401);
  assert.deepEqual((await ok(server, 'GET', '/v1/users', undefined, auth(operator))).items.map((u) => u.id), ['local']);
  await ok(server, 'POST', '/v1/memories', { content: 'Of the operator' }, auth(operator));
  assert.equal((await ok(server, ...erase('local', 'confirm=local'))).erased, 1);
  assert.equal((await ok(server, 'GET', '/v1/memories', undefined, auth(operator))).total, 0, 'the operator still has its token');
  assert.equal((await server.ask('GET', '/v1/memories')).status, 401, 'tokens are still needed');
  const { items } = await ok(server, 'GET', '/v1/tokens?ended=true', undefined, auth(operator));
  assert.deepEqual(items.map((x) => x.user), ['local'], 'no token of someone erased is left in the list');
  const { stdout } = await run(['doctor', '--data', server.data]);
  assert.match(stdout, /ok\s+database/);
  // Nothing of an erased user is left in the file.
  const fs = require('node:fs'), path = require('node:path');
  await server.stop();
  for (const file of fs.readdirSync(server.data).filter((name) => /\.db/.test(name)))
    for (const word of ['likes tea', 'works late', 'likes cake', 'Zed@example.com'])
      assert.ok(!fs.readFileSync(path.join(server.data, file)).includes(word), `${word} is in ${file}`);
});

test('users are the affair of operators', async (t) => {
  const { server, ann, front } = await town(t);
  const bob = await token(server, '--user', 'bob', '--admin'), operator2 = await token(server, '--admin', '--acts-for', 'any');
  for (const who of [auth(ann), auth(front), auth(bob), auth(operator2, { 'x-memory-user': 'mia' })])
    for (const [method, target] of [['GET', '/v1/users'], ['GET', '/v1/users/ann'], ['DELETE', '/v1/users/ann?confirm=ann']])
      await refused(server, 403, null, method, target, undefined, who);
  await refused(server, 401, null, 'GET', '/v1/users');
  assert.equal((await ok(server, 'GET', '/v1/memories', undefined, auth(ann))).total, 1);
});

test('a space is erased by those who reach it', async (t) => {
  const { server, ann, front } = await town(t);
  const own = await token(server, '--user', 'ann');
  await ok(server, 'POST', '/v1/memories', { content: 'In a space of its own' }, auth(own));
  const space = (await ok(server, 'GET', '/v1/tokens', undefined, auth(own))).items.find((x) => x.space.length === 36).space;
  await refused(server, 403, null, 'DELETE', `/v1/spaces/${space}`, undefined, auth(ann));
  await refused(server, 404, null, 'DELETE', '/v1/spaces/work', undefined, auth(front));
  await refused(server, 400, 'name', 'DELETE', '/v1/spaces/work?space=home', undefined, auth(ann));
  assert.deepEqual(await certified(ok(server, 'DELETE', '/v1/spaces/work', undefined, auth(ann))), { space: 'work', erased: 1 });
  await refused(server, 404, null, 'DELETE', '/v1/spaces/work', undefined, auth(ann));
  assert.equal((await ok(server, 'GET', '/v1/memories', undefined, auth(ann))).total, 1);
});

test('tokens are made, listed and revoked, and none can do more than the one that made it', async (t) => {
  const { server, operator, ann, front, zed, id } = await town(t);
  const made = await server.ask('POST', '/v1/tokens', { user: 'mia', name: 'laptop', space: 'work', expires: '2099-01-01T00:00:00Z' }, auth(operator));
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers['cache-control'], 'no-store');
  const mia = made.json();
  assert.match(mia.token, /^rk_/);
  assert.deepEqual([mia.user, mia.space, mia.name, mia.admin, mia.state, mia.expires], ['mia', 'work', 'laptop', false, 'valid', '2099-01-01T00:00:00.000Z']);
  await ok(server, 'POST', '/v1/memories', { content: 'Mia is here' }, auth(mia.token));
  assert.equal((await ok(server, 'GET', '/v1/users/mia', undefined, auth(operator))).memories, 1);
  const all = await ok(server, 'GET', '/v1/tokens?limit=2', undefined, auth(operator));
  assert.equal(all.items.length, 2);
  const rest = await ok(server, 'GET', `/v1/tokens?limit=500&cursor=${all.next}`, undefined, auth(operator));
  assert.equal(rest.next, null);
  assert.equal(all.items.length + rest.items.length, all.total);
  assert.equal(new Set([...all.items, ...rest.items].map((x) => x.id)).size, all.total);
  assert.ok(!JSON.stringify([all, rest]).includes(mia.token), 'no secret in a list');
  for (const of of ['user=mia', 'contains=MIA', 'contains=LAPtop'])
    assert.deepEqual((await ok(server, 'GET', `/v1/tokens?${of}`, undefined, auth(operator))).items.map((x) => x.name), ['laptop'], of);

  const own = await ok(server, 'POST', '/v1/tokens', { name: 'phone' }, auth(ann));
  assert.match(own.token, /^ctx_/);
  assert.deepEqual([own.user, own.space], ['ann', 'home']);
  assert.deepEqual((await ok(server, 'GET', '/v1/tokens', undefined, auth(own.token))).items.map((x) => x.user), ['ann', 'ann']);
  for (const [body, status, field] of [[{ user: 'bob' }, 403], [{ user: 'ann/x' }, 403], [{ admin: true }, 403], [{ acts_for: 'any' }, 403],
    [{ expires: '2001-01-01T00:00:00Z' }, 400, 'expires'], [{ expires: 'soon' }, 400, 'expires'], [{ nam: 'x' }, 400, 'nam'], [{ own_space: true, space: 'work' }, 400, 'own_space']])
    await refused(server, status, field, 'POST', '/v1/tokens', body, auth(ann));
  const hidden = await ok(server, 'POST', '/v1/tokens', { own_space: true }, auth(ann));
  assert.equal(hidden.space, hidden.id);
  await refused(server, 403, null, 'POST', '/v1/tokens', { space: hidden.space }, auth(own.token));
  await refused(server, 400, 'acts_for', 'POST', '/v1/tokens', { user: 'x', acts_for: 'any,ann' }, auth(operator));

  const brief = await ok(server, 'POST', '/v1/tokens', { user: 'ann', expires: '2031-05-05T00:00:00Z' }, auth(operator));
  assert.equal((await ok(server, 'POST', '/v1/tokens', {}, auth(brief.token))).expires, '2031-05-05T00:00:00.000Z', 'a token does not outlive its maker');
  const eve = await ok(server, 'POST', '/v1/tokens', { name: 'own' }, auth(front, { 'x-memory-user': 'eve' }));
  assert.equal(eve.user, 'front/eve');
  assert.deepEqual((await ok(server, 'GET', '/v1/tokens', undefined, auth(eve.token))).items.map((x) => x.id), [eve.id]);

  for (const who of [ann, zed, eve.token]) await refused(server, 404, null, 'DELETE', `/v1/tokens/${mia.id}`, undefined, auth(who));
  assert.equal((await server.ask('DELETE', `/v1/tokens/${mia.id}`, undefined, auth(operator))).status, 204);
  assert.equal((await server.ask('GET', '/v1/memories', undefined, auth(mia.token))).status, 401);
  await refused(server, 404, null, 'DELETE', `/v1/tokens/${mia.id}`, undefined, auth(operator));
  assert.deepEqual((await ok(server, 'GET', '/v1/tokens?user=mia', undefined, auth(operator))).total, 0);
  assert.deepEqual((await ok(server, 'GET', '/v1/tokens?user=mia&ended=true', undefined, auth(operator))).items.map((x) => x.state), ['revoked']);
  assert.equal((await server.ask('DELETE', `/v1/tokens/${own.id}`, undefined, auth(ann))).status, 204);
  assert.ok(id);
});

test('the command user lists and erases', async (t) => {
  const { server } = await town(t);
  const user = (...args) => run(['user', ...args, '--data', server.data]);
  const list = JSON.parse((await user('list', '--json', '--limit', '500')).stdout);
  assert.equal(list.total, 6);
  assert.deepEqual(list.users.map((u) => u.id).filter((id) => id.startsWith('front')), ['front', 'front/a%2Fb', 'front/eve']);
  assert.match((await user('list', '--contains', 'ANN')).stdout, /^ann  2 memories, .*\n1 of 1\n$/);
  const people = await user('forget', 'front', '--yes');
  assert.notEqual(people.code, 0);
  assert.match(people.stderr, /2 people.*--people/);
  assert.match((await user('forget', 'front', '--people', '--yes')).stdout, /^erased 3 memories and messages, and 2 people\n$/);
  assert.notEqual((await user('forget', 'front', '--yes')).code, 0);
  for (const args of [[], ['forget'], ['list', 'x'], ['erase', 'ann'], ['list', '--people']]) assert.equal((await user(...args)).code, 2, args.join(' '));
  assert.equal(JSON.parse((await user('list', '--json')).stdout).total, 3);
});
