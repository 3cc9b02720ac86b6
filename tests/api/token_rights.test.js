// token_rights.test.js - what a token may do at every dialect, what goes with it, and the quotas of its user.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { run, withTokens: ready } = require('./lib');

const bearer = (token) => ({ authorization: `Bearer ${token}` });

test('a token that is revoked takes the tokens it made with it', async (t) => {
  const { server, make } = await ready(t);
  const admin = await make('--admin'), bob = await make('--user', 'bob', '--days', '2');
  const mint = async (headers, target = '/v1/tokens') => {
    const res = await server.ask('POST', target, {}, headers);
    assert.equal(res.status, 201, res.text);
    return res.json();
  };
  const child = await mint(bearer(bob.token)), grandchild = await mint({ 'x-api-key': child.token });
  const registered = (await mint(bearer(grandchild.token), '/v1/users/me/tokens')).access_token;
  assert.equal(child.parent, bob.id);
  assert.equal(grandchild.expires, child.expires, 'whichever header shows the token');
  const works = async (token) => (await server.ask('GET', '/v1/me', undefined, bearer(token))).status;
  for (const token of [child.token, grandchild.token, registered]) assert.equal(await works(token), 200);
  const listed = (await server.ask('GET', '/v1/tokens?user=bob', undefined, bearer(admin.token))).json().items;
  assert.deepEqual(listed.map((one) => one.parent), [grandchild.id, child.id, bob.id, '']);
  assert.match((await run(['token', 'list', '--data', server.data])).stdout, new RegExp(`made by ${bob.id}`));
  assert.equal((await server.ask('DELETE', `/v1/tokens/${bob.id}`, undefined, bearer(admin.token))).status, 204);
  for (const token of [bob.token, child.token, grandchild.token, registered]) assert.equal(await works(token), 401);
  assert.equal(await works(admin.token), 200);
});

test('a token may only what its scopes say, and so may those it makes', async (t) => {
  const { server, make } = await ready(t);
  const admin = await make('--admin');
  const api = (await server.ask('GET', '/openapi.json')).json(), needs = {};
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, { security }] of Object.entries(item)) {
      const [one] = security;
      if (one) assert.match(`${path} ${one.token}`, / (chat|read|write|export|manage)$/);
      needs[`${method.toUpperCase()} ${path}`] = one?.token[0];
    }
  }
  const some = { 'POST /v1/chat/completions': 'chat', 'POST /v1/hooks': 'chat', 'POST /v1/responses': 'chat', 'POST /v1/messages': 'chat', 'POST /api/chat': 'chat', 'GET /v1/models': 'chat', 'POST /v1/chat': 'chat',
    'GET /v1/memories': 'read', 'POST /v1/memories/search': 'read', 'POST /v1/preview': 'read', 'POST /mcp': 'read', 'POST /search': 'read', 'POST /v2/memories/': 'read', 'POST /v3/memories/': 'read', 'POST /v2/memories/search/': 'read', 'POST /v3/memories/search/': 'read', 'POST /v1/memories': 'write', 'DELETE /v1/spaces/{name}': 'write',
    'POST /v1/memories/import': 'write', 'GET /v1/memories/export': 'export', 'GET /api/v1/memory/export': 'export', 'POST /v1/tokens': 'manage', 'GET /v1/tokens': 'manage', 'PATCH /v1/settings': 'manage',
    'GET /metrics': 'manage', 'PUT /v1/users/me/api-key': 'manage', 'POST /v1/sign-in': undefined };
  for (const [operation, scope] of Object.entries(some)) assert.equal(needs[operation], scope, operation);
  const tokens = {};
  for (const scope of ['chat', 'read', 'write', 'export', 'manage']) tokens[scope] = (await make('--admin', '--scopes', scope)).token;
  let tried = 0;
  for (const [operation, scope] of Object.entries(needs)) {
    const [method, path] = operation.split(' ');
    if (!scope || path.startsWith('/v1/events')) continue;
    for (const [has, token] of Object.entries(tokens)) {
      if (has === scope) continue;
      const res = await server.ask(method, path.replace(/\{[^}]*\}/g, 'x'), method === 'GET' ? undefined : {}, bearer(token));
      assert.equal(res.status, 403, `${operation} with ${has}: ${res.status} ${res.text}`);
      assert.match(res.text, new RegExp(`lacks the scope '${scope}'`), operation);
      tried++;
    }
  }
  assert.ok(tried > 400, `${tried}`);
  const mcp = (token, name, args) => server.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, bearer(token));
  assert.match((await mcp(tokens.read, 'memory_add', { content: 'x' })).text, /lacks the scope 'write'/);
  assert.ok(!/lacks/.test((await mcp(tokens.read, 'memory_search', { query: 'x' })).text));
  const two = (await make('--user', 'eva', '--scopes', 'manage,read')).token;
  const mint = (body, token = two) => server.ask('POST', '/v1/tokens', body, bearer(token));
  assert.equal((await mint({})).json().scopes, 'read,manage');
  assert.equal((await server.ask('GET', '/v1/me', undefined, bearer(two))).json().scopes, 'read,manage');
  assert.equal((await mint({ scopes: 'read' })).json().scopes, 'read');
  assert.deepEqual([(await mint({ scopes: 'write' })).status, (await mint({ scopes: 'writ' })).status], [403, 400]);
  for (const member of ['scopes', 'spaces'])
    for (const none of ['', ' ', ',', []]) {
      const res = await mint({ [member]: none }, admin.token);
      assert.deepEqual([res.status, res.json().field], [400, member], `${member}: ${JSON.stringify(none)} ${res.text}`);
    }
  assert.equal((await mint({}, tokens.read)).status, 403);
  assert.equal((await mint({ scopes: 'chat' }, admin.token)).json().scopes, 'chat');
  assert.equal((await run(['token', 'create', '--scopes', 'all', '--data', server.data])).code, 2);
});

test('a token that may read and not write is given memory in chats, and keeps nothing of them', async (t) => {
  const { server, make } = await ready(t), all = bearer((await make('--admin')).token);
  const kept = async () => (await server.ask('GET', '/v1/memories?limit=100', undefined, all)).json().memories.map((one) => one.content).sort();
  const said = [];
  for (const [scopes, keeps] of [['chat', true], ['chat,read,write', true], ['chat,read', false]]) {
    const headers = bearer((await make('--space', 'default', '--scopes', scopes)).token), n = said.length;
    const ask = (content, mode) => server.chat({ model: 'm', messages: [{ role: 'user', content }] }, { ...headers, 'x-memory-mode': mode });
    const texts = [`my cat is called Rolo${n}`, `my dog is called Biscuit${n}`];
    const [res] = [await ask(texts[0], 'full'), await ask(texts[1], 'after')];
    if (keeps) said.push(...texts);
    assert.deepEqual(await kept(), said.sort(), scopes);
    if (n) assert.match(JSON.stringify(await server.receipt(res.headers['x-rememberd-receipt'], all)), /Rolo0/);
  }
});

test('users other than local have quotas from the start, which /v1/me shows', async (t) => {
  const { server, make } = await ready(t, ['--user-tokens-max', '3', '--user-spaces-max', '2']);
  const { token } = await make('--user', 'bob'), ask = (method, target, body) => server.ask(method, target, body, bearer(token));
  const me = (await ask('GET', '/v1/me')).json();
  assert.deepEqual([me.memories_max, me.messages_max, me.bytes_max, me.spaces_max, me.tokens_max], [100000, 1000000, 1000000000, 2, 3]);
  const local = (await server.ask('GET', '/v1/me', undefined, bearer((await make()).token))).json();
  assert.deepEqual([local.memories_max, local.messages_max, local.bytes_max], [0, 0, 0]);
  const made = [await ask('POST', '/v1/tokens', {}), await ask('POST', '/v1/tokens', {}), await ask('POST', '/v1/tokens', {}), await ask('POST', '/v1/users/me/tokens', {})];
  assert.deepEqual(made.map((res) => res.status), [201, 201, 403, 403]);
  assert.match(made[2].json().detail, /has 3 tokens, and the limit is 3 \(setting user_tokens_max\)/);
  assert.equal((await ask('DELETE', `/v1/tokens/${made[0].json().id}`)).status, 204);
  assert.equal((await ask('POST', '/v1/tokens', {})).status, 201);
  const put = (space) => ask('POST', '/v1/memories', { content: `The key of ${space} is under the mat.`, space });
  assert.deepEqual([(await put('a')).status, (await put('b')).status, (await put('c')).status, (await put('a')).status], [201, 201, 403, 201]);
  assert.equal((await ask('POST', '/v1/session', { app_id: 'd' })).status, 403);
});
