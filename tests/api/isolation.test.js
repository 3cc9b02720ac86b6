// isolation.test.js - every endpoint of the server, tried with another user's ids: nothing is read, changed or counted.
'use strict';
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { test } = require('node:test');
const { run, serve } = require('./lib.js');
const { answer, apps, bearer, forwarded, marks, ok, person, request, routes, state } = require('./isolation_lib.js');

// mem0's clients name a memory by its id alone: who may speak for its person reaches it (docs/decisions/024).
const isReachable = (who, route) => who.speaksForAll && route.operation.tags.includes('mem0') && /\{id\}|batch/.test(route.path);

async function attackEverything(t, server, ann, bob, outsiders = [bob]) {
  const all = routes((await server.ask('GET', '/openapi.json')).json());
  assert.ok(all.length > 60, `only ${all.length} endpoints are described`);
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/hooks', '/api/chat']) assert.ok(all.some((route) => route.path === path), path);
  const before = await state(server, ann);
  const ids = Object.values(ann.ids).flat();
  let tried = 0;
  for (const who of outsiders) {
    for (const route of all) {
      if (isReachable(who, route)) continue;
      const list = /\{/.test(route.path) ? ids : [ann.id];
      for (const id of list) {
        for (const app of [...apps, ann.id]) {
          const { target, body } = request(route, ann, app, id);
          const res = await answer(server, route.method, target, body, bearer(who));
          tried++;
          assert.ok(res.status < 500 || res.status === 501, `${route.method} ${target}: ${res.status} ${res.text}`);
          for (const word of Object.values(marks.ann))
            assert.ok(!res.text.includes(word), `${route.method} ${target} shows another's ${word}: ${res.text}`);
          if (!/\{/.test(route.path) && !/app_id|agent|space/.test(JSON.stringify(route.operation))) break;
        }
      }
    }
  }
  t.diagnostic(`${tried} requests to ${all.length} endpoints`);
  assert.equal(await state(server, ann), before, "the victim's own view has changed");
}

test('no endpoint shows, changes or counts what another user has, whichever ids it is given', async (t) => {
  const server = await serve(t);
  const ann = await person(server, 'ann'), bob = await person(server, 'bob');
  await attackEverything(t, server, ann, bob);
});

// The server's own settings would be changed by everyone who asks without a token: asked with one, people may not.
test('nor what another person behind the same key has', async (t) => {
  const server = await serve(t);
  const token = JSON.parse((await run(['token', 'create', '--json', '--admin', '--space', 'default', '--acts-for', 'any', '--data', server.data])).stdout).token;
  const other = JSON.parse((await run(['token', 'create', '--json', '--user', 'local/bob', '--data', server.data])).stdout).token;
  const owner = JSON.parse((await run(['token', 'create', '--json', '--space', 'default', '--acts-for', 'any', '--data', server.data])).stdout).token;
  const ann = await forwarded(server, 'ann', token), bob = await forwarded(server, 'bob', token, 'x-openwebui-user-id');
  await attackEverything(t, server, ann, bob, [bob, { token: owner, speaksForAll: true }, { token: owner, as: 'bob' }, { token: other }, { token: other, as: 'ann' }, { token, as: 'local/ann' }, { token, as: 'ann/red' }]);
});

test('nor what another person has whom a client without a token names', async (t) => {
  const server = await serve(t);
  const ann = await forwarded(server, 'ann'), bob = await forwarded(server, 'bob');
  await attackEverything(t, server, ann, bob);
});

test('nobody decides about what is held back for another', async (t) => {
  const server = await serve(t);
  const ann = await person(server, 'ann'), bob = await person(server, 'bob');
  const before = await state(server, ann);
  for (const id of Object.values(ann.ids).flat())
    for (const decision of ['allow', 'forget', 'hold'])
      assert.equal((await server.ask('POST', `/v1/review/${id}`, { decision }, bearer(bob))).status, 404);
  assert.equal(await state(server, ann), before);
});

test('what is not there and what is another\'s get one answer', async (t) => {
  const server = await serve(t);
  const ann = await person(server, 'ann'), bob = await person(server, 'bob');
  const all = routes((await server.ask('GET', '/openapi.json')).json()).filter((r) => /\{/.test(r.path));
  const plain = (res, id) => `${res.status} ${res.text}`.replaceAll(id, 'ID').replace(/[0-9a-f]{8}-[0-9a-f-]{27}|"(requestId|request_id|trace_id)":"[^"]*"/g, '');
  for (const route of all) {
    for (const id of Object.values(ann.ids).flat()) {
      const nobody = crypto.randomUUID();
      const theirs = request(route, ann, 'red', id), none = request(route, ann, 'red', nobody);
      const first = await answer(server, route.method, theirs.target, theirs.body, bearer(bob));
      const second = await answer(server, route.method, none.target, none.body, bearer(bob));
      assert.equal(plain(first, id), plain(second, nobody), `${route.method} ${route.path}`);
    }
  }
});

test('an app of a user is not seen from another app of the same user', async (t) => {
  const server = await serve(t);
  const ann = await person(server, 'ann');
  const all = routes((await server.ask('GET', '/openapi.json')).json())
    .filter((r) => r.method !== 'DELETE' && !/\{/.test(r.path) && /app_id|agent_id/.test(JSON.stringify(r.operation)));
  assert.ok(all.length >= 8, `only ${all.length} endpoints take an app`);
  for (const [app, other] of [['red', 'blue'], ['blue', 'red']]) {
    for (const route of all) {
      const { target, body } = request(route, ann, app, ann.id);
      const res = await server.ask(route.method, target, body, bearer(ann));
      assert.ok(!res.text.includes(marks.ann[other]), `${route.method} ${target} of ${app} shows ${other}: ${res.text}`);
    }
  }
});

test('without a token, with a wrong one and with a revoked one nothing is told', async (t) => {
  const server = await serve(t, { flags: ['--wrong-credentials-max', '0'] });
  const ann = await person(server, 'ann');
  const second = await ok(server, ann, 'POST', '/v1/users/me/tokens', { name: 'lost' });
  const lost = (await ok(server, ann, 'GET', '/v1/users/me/tokens')).tokens.find((x) => x.name === 'lost');
  await ok(server, ann, 'DELETE', `/v1/users/me/tokens/${lost.id}`);
  const all = routes((await server.ask('GET', '/openapi.json')).json());
  for (const headers of [{}, { authorization: 'Bearer ctx_wrong' }, { authorization: `Bearer ${second.access_token}` }]) {
    for (const route of all.filter((r) => r.operation.security?.length)) {
      const { target, body } = request(route, ann, 'red', ann.ids.session[0]);
      const res = await answer(server, route.method, target, body, headers);
      for (const word of Object.values(marks.ann))
        assert.ok(!res.text.includes(word), `${route.method} ${target} shows ${word} to a stranger: ${res.text}`);
      if (headers.authorization) assert.equal(res.status, 401, `${route.method} ${target}: ${res.status} ${res.text}`);
    }
  }
});
