// roles.test.js - owner, operator, member: what each may do, who gives them, and that an owner remains.
'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
const { run, serve, upstream } = require('./lib.js');

const bearer = (token, more = {}) => ({ authorization: `Bearer ${token}`, ...more });

async function ready(t) {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-key', 'sk-server'] });
  const make = async (...args) => {
    const made = await run(['token', 'create', '--json', '--data', server.data, ...args]);
    assert.equal(made.code, 0, made.stderr);
    return JSON.parse(made.stdout);
  };
  const ask = (who, method, target, body, more) => server.ask(method, target, body, bearer(who.token, more));
  const give = (who, user, role) => ask(who, 'PUT', `/v1/users/${user}/role`, { role });
  return { server, make, ask, give };
}

async function town(t) {
  const place = await ready(t), { make, give } = place;
  const owner = await make('--admin'), operator = await make('--admin', '--user', 'olga'), member = await make('--admin', '--user', 'max');
  for (const [user, role] of [['olga', 'operator'], ['max', 'member']]) {
    const res = await give(owner, user, role);
    assert.deepEqual([res.status, res.json()], [200, { id: user, role, revoked: 0 }]);
  }
  return { ...place, owner, operator, member, ann: await make('--user', 'ann', '--space', 'home') };
}

// [method, path, body, headers]: what an owner, an operator, and a member get, each with an admin token.
const rights = [
  ['GET', '/v1/memories', undefined, {}, [200, 200, 200]],
  ['GET', '/v1/doctor', undefined, {}, [200, 200, 403]],
  ['PATCH', '/v1/settings', { budget_tokens: 900 }, {}, [200, 200, 403]],
  ['PUT', '/memory/config', { enabled: true }, {}, [200, 200, 403]],
  ['PUT', '/api/settings/memory', { enabled: true }, {}, [200, 200, 403]],
  ['GET', '/v1/users', undefined, {}, [200, 200, 403]],
  ['GET', '/v1/audit', undefined, {}, [200, 200, 403]],
  ['GET', '/v1/backups', undefined, {}, [200, 200, 403]],
  ['GET', '/v1/users/ann', undefined, {}, [200, 200, 403]],
  ['GET', '/v1/memories', undefined, { 'x-memory-look-as': 'ann' }, [200, 403, 403]],
  ['POST', '/v1/tokens', { user: 'ann' }, {}, [201, 403, 403]],
  ['POST', '/v1/tokens', { user: 'local', admin: true }, {}, [201, 403, 403]],
  ['POST', '/v1/users', { id: '5f0c3c2e-92b4-4f39-8a4e-0d3f2c1b7a10', email: 'zed@example.com' }, {}, [201, 403, 403]],
  ['GET', '/v1/files', undefined, {}, [200, 403, 403]],
  ['PUT', '/v1/users/ann/role', { role: 'operator' }, {}, [200, 403, 403]],
  ['DELETE', '/v1/users/ann?confirm=ann', undefined, {}, [200, 403, 403]],
];

test('an owner manages everything, an operator the server, a member its own memory', async (t) => {
  const { server, make, ask, owner, operator, member, ann } = await town(t);
  await ask(ann, 'POST', '/v1/memories', { content: 'The safe is behind the red door.' });
  const all = [owner, operator, member], texts = [];
  for (const [method, path, body, headers, expected] of rights) {
    const got = [];
    for (const [i, who] of [...all.entries()].reverse()) {
      const res = await ask(who, method, path, body, headers);
      got[i] = res.status;
      if (i) texts.push(res.text);
    }
    assert.deepEqual(got, expected, `${method} ${path} ${JSON.stringify(headers)}`);
  }
  assert.doesNotMatch(texts.join(''), /red door/);
  const refused = await ask(operator, 'DELETE', '/v1/users/ann?confirm=ann');
  assert.match(refused.json().detail, /needs an admin token of an owner; the role of this token's user is operator/);
  for (const [who, status] of [[member, 403], [operator, 202]]) assert.equal((await ask(who, 'POST', '/v1/jobs', { kind: 'prune' })).status, status);
  const me = (await ask(operator, 'GET', '/v1/me')).json();
  assert.deepEqual([me.role, me.is_admin], ['operator', true]);
  // A role is what admin tokens get: others of the same user, and people behind it, have none of it.
  const plain = await make('--user', 'olga'), speaks = await make('--user', 'olga', '--admin', '--acts-for', 'any');
  assert.equal((await ask(plain, 'GET', '/v1/doctor')).status, 403);
  assert.equal((await ask(speaks, 'GET', '/v1/doctor')).status, 200);
  assert.equal((await ask(speaks, 'GET', '/v1/doctor', undefined, { 'x-memory-user': 'eve' })).status, 403);
  assert.equal((await ask(speaks, 'GET', '/v1/me', undefined, { 'x-memory-user': 'eve' })).json().role, 'member');
  const limited = await make('--user', 'olga', '--admin', '--scopes', 'read');
  assert.match((await ask(limited, 'GET', '/v1/doctor')).text, /lacks the scope 'manage'/);
  const listed = (await ask(operator, 'GET', '/v1/tokens')).json().items;
  assert.ok(listed.length >= 3 && listed.every((one) => one.user === 'olga'));
});

test('the last owner is neither demoted nor erased, however many try at once', async (t) => {
  const { ask, give, owner, operator } = await town(t);
  const last = await give(owner, 'local', 'member');
  assert.equal(last.status, 403);
  assert.equal(last.json().field, 'role');
  assert.match(last.json().detail, /^role: 'local' is the last owner; make somebody else an owner first$/);
  assert.equal((await give(owner, 'olga', 'owner')).status, 200);
  const both = await Promise.all([give(owner, 'local', 'operator'), give(operator, 'olga', 'operator')]);
  assert.deepEqual(both.map((res) => res.status).sort(), [200, 403]);
  const left = both[0].status === 200 ? operator : owner;
  for (const user of ['olga', 'local']) assert.equal((await give(left, user, 'owner')).status, 200);
  assert.equal((await give(operator, 'local', 'member')).status, 200);
  assert.equal((await ask(owner, 'GET', '/v1/users')).status, 403, 'an admin token of local, who is a member now');
  const erased = await ask(operator, 'DELETE', '/v1/users/olga?confirm=olga&people=true');
  assert.equal(erased.status, 403, erased.text);
  assert.match(erased.json().detail, /last owner/);
});

test('who is an owner no longer loses the tokens of others that it made, and keeps its own', async (t) => {
  const { ask, give, owner, operator, ann } = await town(t);
  await give(owner, 'olga', 'owner');
  const mint = async (who, body) => (await ask(who, 'POST', '/v1/tokens', body)).json();
  const own = await mint(operator, { admin: true }), spy = await mint(own, { user: 'ann', space: 'home' }), crown = await mint(operator, { user: 'local', admin: true });
  const works = async (who) => (await ask(who, 'GET', '/v1/me')).status;
  for (const one of [own, spy, crown]) assert.equal(await works(one), 200);
  assert.deepEqual((await give(owner, 'olga', 'operator')).json(), { id: 'olga', role: 'operator', revoked: 2 });
  assert.deepEqual([await works(own), await works(operator), await works(ann), await works(spy), await works(crown)], [200, 200, 200, 401, 401]);
  assert.equal((await ask(own, 'GET', '/v1/doctor')).status, 200);
  assert.equal((await ask(own, 'GET', '/v1/users/ann')).status, 200);
  assert.equal((await give(own, 'olga', 'owner')).status, 403);
  await give(owner, 'olga', 'owner');
  const late = await mint(own, { user: 'ann', space: 'home' });
  assert.equal((await ask(owner, 'DELETE', '/v1/users/olga?confirm=olga')).status, 200);
  assert.deepEqual([await works(late), await works(ann)], [401, 200], 'also when it is erased');
});

test('a role is of somebody who is there, has a name from the list, ends with its user, and is in the audit log', async (t) => {
  const { server, make, ask, give, owner, operator } = await town(t);
  assert.equal((await give(owner, 'nobody', 'operator')).status, 404);
  const wrong = await give(owner, 'olga', 'king');
  assert.deepEqual([wrong.status, wrong.json().field], [400, 'role']);
  const roles = (await ask(operator, 'GET', '/v1/users')).json().items.map((one) => [one.id, one.role]);
  assert.deepEqual(roles, [['ann', 'member'], ['local', 'owner'], ['max', 'member'], ['olga', 'operator']]);
  const cli = (...args) => run(['user', ...args, '--data', server.data]);
  assert.match((await cli('role', 'max', 'operator')).stdout, /^max is operator now/);
  assert.match((await cli('list')).stdout, /^max .* operator /m);
  assert.match((await cli('role', 'max', 'king')).stderr, /role: must be member, operator or owner/);
  assert.match((await cli('role', 'nobody', 'owner')).stderr, /there is no user 'nobody'/);
  assert.match((await cli('role', 'local', 'member')).stderr, /last owner/);
  assert.equal((await ask(owner, 'DELETE', '/v1/users/max?confirm=max')).status, 200);
  const again = await make('--user', 'max', '--admin');
  assert.equal((await ask(again, 'GET', '/v1/me')).json().role, 'member');
  const shown = (await run(['audit', 'show', '--data', server.data])).stdout;
  assert.match(shown, /role\.changed.*olga.*to=operator/);
  assert.equal((await run(['audit', 'verify', '--data', server.data])).code, 0);
});
