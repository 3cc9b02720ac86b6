// tokens.test.js - credentials: required, revoked, kept from the upstream; and memory that stays with its owner.
'use strict';
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const test = require('node:test');
const { bin, cleanEnv, run, serve, tempFolder, until, withTokens: ready } = require('./lib');

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const question = 'What is my dog called?';
const user = (content) => ({ model: 'any', messages: [{ role: 'user', content }] });

test('without tokens the client\'s own key goes on to the upstream', async (t) => {
  const { model, server } = await ready(t);
  await server.client({ apiKey: 'sk-mine', organization: 'org-1', project: 'proj-1' }).chat.completions.create(user('hi'));
  const { headers } = model.last();
  assert.equal(headers.authorization, 'Bearer sk-mine');
  assert.equal(headers['openai-organization'], 'org-1');
  assert.equal(headers['openai-project'], 'proj-1');
  assert.match(headers['user-agent'], /OpenAI/);
  assert.ok(Object.keys(headers).some((name) => name.startsWith('x-stainless-')));
  await server.chat(user('hi'), { cookie: 'a=b', 'x-omniroute-cli-token': 'a-secret', 'x-custom': 'kept', te: 'trailers', 'x-hop': '1', connection: 'close, x-hop' });
  assert.equal(model.last().headers['x-custom'], 'kept');
  assert.ok(!('x-hop' in model.last().headers));
  assert.ok(!('authorization' in model.last().headers));
  assert.equal(model.last().headers.host, `127.0.0.1:${model.port}`);
});

test('X-Upstream-Authorization replaces the client\'s own key', async (t) => {
  const { model, server } = await ready(t, ['--upstream-key', 'sk-settings']);
  await server.chat(user('hi'), { ...bearer('sk-mine'), 'x-upstream-authorization': 'Bearer sk-other' });
  assert.equal(model.last().headers.authorization, 'Bearer sk-other');
  await server.chat(user('hi'));
  assert.equal(model.last().headers.authorization, 'Bearer sk-settings');
});

test('once there is a token every request needs one, and it stays here', async (t) => {
  const { model, server, make } = await ready(t, ['--upstream-key', 'sk-settings']);
  assert.equal((await server.chat(user('hi'))).status, 200);
  const { token, id } = await make('--name', 'laptop');
  assert.ok(token.length > 20);
  const refused = [{}, bearer('sk-mine'), { authorization: token }, { authorization: 'Basic abc' }, bearer(''), bearer(`${token}x`)];
  for (const headers of refused) {
    const n = model.asked.length;
    const res = await server.chat(user('hi'), headers);
    assert.equal(res.status, 401, JSON.stringify(headers));
    assert.equal(res.headers['www-authenticate'], 'Bearer');
    assert.equal(res.json().error.code, 'invalid_api_key');
    assert.equal(model.asked.length, n);
  }
  await assert.rejects(server.client().models.list(), (error) => error.status === 401);
  const sent = async (headers) => {
    assert.equal((await server.chat(user('hi'), headers)).status, 200);
    const one = model.last();
    assert.ok(!JSON.stringify(one.req.rawHeaders).includes(token), 'the token never leaves');
    assert.ok(!one.body.includes(token));
    return one.headers.authorization;
  };
  assert.equal(await sent(bearer(token)), 'Bearer sk-settings');
  assert.equal(await sent({ ...bearer(token), 'x-upstream-authorization': 'Bearer sk-other' }), 'Bearer sk-other');
  await server.client({ apiKey: token }).models.list().catch(() => {});
  assert.equal(model.last().headers.authorization, 'Bearer sk-settings');

  const listed = JSON.parse((await run(['token', 'list', '--json', '--data', server.data])).stdout);
  assert.equal(listed.length, 1);
  assert.equal(listed[0].name, 'laptop');
  assert.ok(!JSON.stringify(listed).includes(token));
  assert.equal((await run(['token', 'revoke', id, '--data', server.data])).code, 0);
  assert.equal((await server.chat(user('hi'), bearer(token))).status, 401, 'revoked');
  assert.equal((await server.chat(user('hi'))).status, 401, 'a withdrawn token does not open the door again');
  assert.notEqual((await run(['token', 'revoke', 'nonsense', '--data', server.data])).code, 0);
});

test('everyone\'s tokens are listed and withdrawn, or those of --user', async () => {
  const at = ['--data', tempFolder()];
  await run(['token', 'create', '--user', 'ada', ...at]);
  const made = (await run(['token', 'create', '--user', 'bob', '--name', 'desk', ...at])).stderr;
  assert.match(made, /user bob, space \S+, which no other token uses[^]*--space default/);
  const all = (await run(['token', 'list', ...at])).stdout;
  assert.match(all, /user ada [^]*2 tokens\n$/);
  assert.match((await run(['token', 'list', '--user', 'ada', ...at])).stdout, /^\S+ +\S+ +user ada .*\n1 token\n$/);
  const bob = /(\S+) .* user bob /.exec(all)[1];
  assert.equal((await run(['token', 'revoke', bob, '--user', 'ada', ...at])).code, 1);
  assert.equal((await run(['token', 'revoke', bob, ...at])).code, 0);
  assert.match((await run(['token', 'list', ...at])).stdout, /user bob .*revoked/);
});

test('a token that is bound to spaces reaches these alone, and so do those it makes', async (t) => {
  const { server, make } = await ready(t);
  const { token, space } = await make('--user', 'eva', '--spaces', 'work,home');
  assert.equal(space, 'work');
  const of = (name) => ({ ...bearer(token), 'x-memory-space': name });
  const code = async (headers) => (await server.ask('GET', '/v1/memories', undefined, headers)).status;
  assert.deepEqual([await code(bearer(token)), await code(of('home')), await code(of('default')), await code(of('project:x'))], [200, 200, 403, 403]);
  const all = bearer((await make('--user', 'eva', '--space', 'default')).token);
  await server.ask('POST', '/v1/memories', { content: 'The safe is behind the door.' }, all);
  await server.ask('POST', '/v1/memories', { content: 'The shed is behind the house.', space: 'home' }, all);
  const seen = (await server.ask('GET', '/v1/memories?space=*', undefined, bearer(token))).text;
  assert.ok(/shed/.test(seen) && !/safe/.test(seen), seen);
  assert.ok(!/default/.test((await server.ask('GET', '/v1/spaces', undefined, bearer(token))).text));
  const mint = (body, headers) => server.ask('POST', '/v1/tokens', body, { ...bearer(token), ...headers });
  const child = (await mint({})).json();
  assert.deepEqual([child.spaces, child.space], ['work,home', 'work']);
  assert.equal((await mint({ spaces: 'home' })).json().space, 'home');
  for (const body of [{ spaces: 'default' }, { spaces: 'home,default' }, { own_space: true }]) assert.equal((await mint(body)).status, 403, JSON.stringify(body));
  assert.equal((await server.ask('POST', '/v1/tokens', { admin: true, spaces: 'a' }, bearer((await make('--admin')).token))).status, 400);
});

test('the list says when a token was used, and from where', async (t) => {
  const { server, make } = await ready(t);
  const admin = await make('--admin'), other = await make();
  await server.ask('GET', '/v1/me', undefined, { ...bearer(other.token), 'x-forwarded-for': '10.1.1.1, 203.0.113.7' });
  const row = await until('it is noted', async () => (await server.ask('GET', '/v1/tokens', undefined, bearer(admin.token))).json().items.find((one) => one.id === other.id && one.last_used));
  assert.equal(row.last_address, '203.0.113.7');
  assert.match((await run(['token', 'list', '--data', server.data])).stdout, /used \S+ from 203\.0\.113\.7/);
});

test('health is open, metrics need an admin token', async (t) => {
  const { server, make } = await ready(t);
  assert.equal((await server.ask('GET', '/metrics')).status, 200);
  const plain = await make(), admin = await make('--admin');
  for (const path of ['/health', '/health/live', '/ready', '/openapi.json', '/'])
    assert.equal((await server.ask('GET', path)).status, 200, path);
  assert.equal((await server.ask('GET', '/metrics')).status, 401);
  assert.equal((await server.ask('GET', '/metrics', undefined, bearer(plain.token))).status, 403);
  assert.equal((await server.ask('GET', '/metrics', undefined, bearer(admin.token))).status, 200);
});

test('no memory crosses from one user or space to another', async (t) => {
  const { model, server, make } = await ready(t);
  const who = {
    ada: bearer((await make('--user', 'ada')).token),
    ada2: bearer((await make('--user', 'ada', '--space', 'work')).token),
    bob: bearer((await make('--user', 'bob')).token),
  };
  const res = await server.chat(user('My dog is called Rex.'), who.ada);
  const id = res.headers['x-rememberd-receipt'];
  await server.receipt(id, who.ada);
  const added = (await server.ask('POST', '/v1/memories', { content: 'Rex likes apples.' }, who.ada)).json();
  for (const [name, headers] of Object.entries(who)) {
    const own = name === 'ada';
    await server.chat(user(question), headers);
    assert.equal(/Rex/.test(model.last().json.messages[0].content), own, `${name} chats`);
    const found = (await server.ask('POST', '/v1/memories/search', { query: 'dog Rex apples' }, headers)).json().results;
    assert.equal(found.some((one) => /Rex/.test(one.text)), own, `${name} searches`);
    const list = (await server.ask('GET', '/v1/memories', undefined, headers)).json();
    assert.equal(list.memories.some((one) => /Rex/.test(one.content)), own, `${name} lists`);
    assert.equal((await server.ask('GET', `/v1/receipts/${id}`, undefined, headers)).status, own ? 200 : 404);
    assert.equal((await server.ask('GET', `/v1/memories/${added.id}`, undefined, headers)).status, own ? 200 : 404);
    if (!own) assert.equal((await server.ask('DELETE', `/v1/memories/${added.id}`, undefined, headers)).status, 404);
  }
  assert.equal((await server.ask('DELETE', `/v1/memories/${added.id}`, undefined, who.ada)).status, 200);
});

test('X-Osaurus-Agent-Id reaches no other token\'s own space, and each other one', async (t) => {
  const { model, server, make } = await ready(t);
  const [ada, desk, admin, bob] = [await make('--user', 'ada'), await make('--user', 'ada'), await make('--user', 'ada', '--admin'),
    await make('--user', 'bob')];
  const as = (token, space) => ({ ...bearer(token.token), 'x-osaurus-agent-id': space });
  await server.tell('My dog is called Rex.', as(ada, ada.space));
  const before = model.asked.length;
  const body = (name) => ({ ...user('do you remember my dog?'), model: name });
  for (const ask of [(h) => server.chat(body('any'), h), (h) => server.chat(body('rememberd/demo'), h), (h) => server.ask('GET', '/v1/memories', undefined, h),
    (h) => server.ask('POST', '/v1/memories', { content: 'x' }, h), (h) => server.ask('GET', '/v1/models', undefined, h)]) {
    const res = await ask(as(desk, ada.space));
    assert.equal(res.status, 403, res.text);
    const { detail, error } = res.json();
    assert.match(detail ?? error.message, /^X-Osaurus-Agent-Id: belongs to another token$/);
  }
  assert.equal(model.asked.length, before, 'the model was not asked');
  const knows = async (headers) => {
    assert.equal((await server.chat(body('any'), headers)).status, 200);
    const proxied = /Rex/.test(model.last().json.messages[0].content);
    assert.equal(/Rex/.test((await server.chat(body('rememberd/demo'), headers)).text), proxied);
    return proxied;
  };
  assert.deepEqual([await knows(as(ada, ada.space)), await knows(as(admin, ada.space)), await knows(as(bob, ada.space)), await knows(as(desk, 'free'))],
    [true, true, false, false]);
  await server.tell('My dog is called Rex.', as(ada, 'free'));
  assert.ok(await knows(as(desk, 'free')), 'a space of a name is the user\'s');
  await run(['token', 'revoke', ada.id, '--data', server.data]);
  assert.equal((await server.chat(body('any'), as(desk, ada.space))).status, 403, 'also after its token is gone');
});

test('an admin token is of the space default, where the memories from before are, unless it names another', async (t) => {
  const { server, make } = await ready(t);
  await server.tell('My dog is called Rex.');
  const { space, token } = await make('--admin');
  assert.equal(space, 'default');
  assert.match((await server.ask('GET', '/v1/memories', undefined, bearer(token))).text, /Rex/);
  assert.equal((await make('--admin', '--space', 'desk')).space, 'desk');
  assert.match((await make()).space, /^[0-9a-f-]{36}$/);
  const { stdout, stderr } = await run(['token', 'create', '--admin', '--data', server.data]);
  assert.match(stdout, /^rk_\S+\n$/, 'T=$(rememberd token create) has the token alone');
  assert.match(stderr, /shown only once/);
  assert.match(stderr, /Its memories are those of user local, space default\.\n$/);
});

test('a token that cannot be shown is not left valid', async () => {
  const data = tempFolder(), at = ['--data', data];
  for (const flags of ['', '--json']) {
    const shell = spawnSync('sh', ['-c', `exec "$0" token create --admin ${flags} --data "$1" >/dev/full`, bin, data], { encoding: 'utf8', env: cleanEnv(data) });
    assert.equal(shell.status, 1, shell.stderr);
    assert.match(shell.stderr, /^rememberd token: standard output could not be written[^\n]*\n$/);
  }
  // The reader of a pipe has gone before anything is written.
  const left = spawnSync('sh', ['-c', 'mkfifo "$1/pipe"; : <"$1/pipe" & exec 3>"$1/pipe"; wait; exec "$0" token create --admin --data "$1" >&3', bin, data], { encoding: 'utf8', env: cleanEnv(data) });
  assert.equal(left.status, 1, left.stderr);
  assert.match((await run(['token', 'list', ...at])).stdout, /(.*revoked.*\n){3}3 tokens/);
});

test('an address that others reach is refused until there is an admin token', async (t) => {
  const { server, make } = await ready(t);
  const open = () => run(['serve', '--listen', '0.0.0.0:0', '--data', server.data]);
  for (const [listen, why] of [[':0'], ['127.0.0.1.invalid:0', /cannot listen on '127\.0\.0\.1\.invalid:0'/], ['[::]:0']]) {
    const res = await run(['serve', '--listen', listen, '--data', server.data]);
    assert.equal(res.code, 1);
    assert.match(res.stderr, why ?? /rememberd token create --admin/, listen);
  }
  const refused = await open();
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /rememberd token create --admin/);
  await make('--user', 'ada');
  assert.equal((await open()).code, 1, 'a plain token is not enough');
  await make('--admin', '--user', 'ada');
  for (const listen of ['0.0.0.0:0', ':0', '[::]:0']) { // the second is no loopback address, and does not say so
    const started = await serve(t, { data: server.data, flags: ['--listen', listen] });
    assert.match(started.stdout, /^listening on http:\/\/(0\.0\.0\.0|\[::\]):/);
    await until('an address that answers', () => /try: curl http:\/\/127\.0\.0\.1:/.test(started.stdout));
    started.url = `http://127.0.0.1:${started.port}`;
    assert.equal((await started.ask('GET', '/v1/models')).status, 401);
  }
});
