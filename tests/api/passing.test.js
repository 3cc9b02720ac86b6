// passing.test.js - what is passed on to the model server, for whom and with whose key; and what is not.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, run, serve, upstream } = require('./lib');

const bearer = (key) => ({ authorization: `Bearer ${key}` });
const ownKey = (key) => ({ 'x-upstream-authorization': `Bearer ${key}` });

// Every token may use the server's key for these.
const open = [['POST', '/v1/chat/completions'], ['POST', '/v1/completions'], ['POST', '/v1/responses'], ['POST', '/v1/responses/input_tokens'],
  ['POST', '/v1/messages'], ['POST', '/v1/messages/count_tokens'], ['POST', '/v1/embeddings'], ['GET', '/v1/models'],
  ['GET', '/v1/models/gpt-5'], ['HEAD', '/v1/models'], ['POST', '/v1/audio/speech'], ['POST', '/v1/audio/transcriptions'], ['POST', '/v1/audio/translations'],
  ['POST', '/v1/images/generations'], ['POST', '/v1/images/edits'], ['POST', '/v1/images/variations'], ['POST', '/v1/moderations'],
  ['POST', '/api/chat'], ['POST', '/api/generate'], ['POST', '/api/embed'], ['POST', '/api/embeddings'], ['POST', '/api/show'], ['GET', '/api/tags'], ['GET', '/api/ps'], ['GET', '/api/version'], ['HEAD', '/api/version']];

// These reach what others stored with that key, or are unknown here.
const guarded = [['GET', '/v1/responses/resp_of_another'], ['DELETE', '/v1/responses/resp_of_another'], ['POST', '/v1/responses/resp_of_another/cancel'],
  ['GET', '/v1/responses/resp_of_another/input_items'], ['GET', '/v1/responses'], ['POST', '/v1/responses/compact'], ['GET', '/v1/files'], ['POST', '/v1/files'], ['DELETE', '/v1/files/file-1'],
  ['GET', '/v1/files/file-1/content'], ['HEAD', '/v1/files/file-1'], ['POST', '/v1/fine_tuning/jobs'], ['POST', '/v1/fine_tuning/jobs/ft-1/cancel'],
  ['GET', '/v1/batches'], ['POST', '/v1/batches'], ['GET', '/v1/assistants'], ['POST', '/v1/threads/t-1/runs'], ['DELETE', '/v1/vector_stores/vs-1/files/f-1'],
  ['GET', '/v1/containers'], ['GET', '/v1/conversations/c-1/items'], ['DELETE', '/v1/models/ft-model'], ['GET', '/v1/chat/completions'],
  ['GET', '/v1/chat/completions/chatcmpl-1'], ['DELETE', '/v1/chat/completions/chatcmpl-1'], ['GET', '/v1/chat/completions/chatcmpl-1/messages'],
  ['GET', '/v1/messages/batches'], ['POST', '/v1/messages/batches'], ['GET', '/v1/messages/batches/b-1/results'], ['GET', '/v1/embeddings'],
  ['POST', '/v1/embedings'], ['POST', '/v1/audio/speeches'], ['GET', '/v1/organization/users'], ['POST', '/v1/a/b/c/d'],
  // what the clients of OpenAI and Anthropic have with the most parts
  ['GET', '/v1/containers/c-1/files/f-1/content'], ['GET', '/v1/vector_stores/vs-1/files/f-1/content'], ['POST', '/v1/threads/t-1/runs/r-1/submit_tool_outputs'],
  ['GET', '/v1/threads/t-1/runs/r-1/steps/s-1'], ['GET', '/v1/evals/e-1/runs/r-1/output_items/o-1'], ['DELETE', '/v1/fine_tuning/checkpoints/ft-1/permissions/p-1'], ['GET', '/v1/skills/s-1/versions/v-1/content']];

// These belong to rememberd's own API, whoever asks.
const here = [['GET', '/v1/memories/a/b'], ['POST', '/v1/memories/serach'], ['POST', '/v1/receipts/a/b'], ['DELETE', '/v1/review'],
  ['GET', '/v1/sessions/a/b'], ['POST', '/v1/session/a/b/c'], ['POST', '/v1/users/me/keys'], ['GET', '/v1/memory'], ['GET', '/v1/memory/a/b/c'],
  ['POST', '/v1/spaces'], ['GET', '/v1/stats/today'], ['POST', '/v1/settings'], ['POST', '/v1/events'], ['DELETE', '/v1/doctor'], ['GET', '/v1/tokens/a/b'],
  ['POST', '/v1/preview/again'], ['GET', '/v1/episodes/a'], ['GET', '/v1/messages'], ['DELETE', '/v1/messages/m-1'], ['POST', '/v1/messages/m-1'], ['POST', '/v1/messages/count_token'], ['GET', '/v1/messages/m-1/memories'],
  ['POST', '/v1/chat/completion'], ['GET', '/v1/chat'], ['DELETE', '/v1/chat/a'],
  ['POST', '/api/pull'], ['POST', '/api/push'], ['POST', '/api/create'], ['POST', '/api/copy'], ['DELETE', '/api/delete'], ['POST', '/api/blobs/sha256:0'], ['GET', '/api/chat'], ['POST', '/api/memories']];

async function ready(t, flags = []) {
  const model = await upstream(t, (req, res, asked) => {
    if (asked.url.startsWith('/v1/chat/completions') && asked.method === 'POST') return answer(res, asked, 'fine');
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"object":"list","data":[]}');
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-key', 'sk-server', '--upstream-dialect', 'ollama', ...flags] });
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout).token;
  return { model, server, make };
}

// What came of each request: the key that the upstream saw, or the refusal.
async function fates({ model, server }, list, headers) {
  const out = {};
  for (const [method, path] of list) {
    const before = model.asked.length;
    const body = method === 'POST' ? { model: 'any', messages: [{ role: 'user', content: 'hi' }] } : undefined;
    const res = await server.ask(method, path, body, { 'x-memory-mode': 'off', ...headers });
    const seen = model.asked.slice(before);
    if (!seen.length) {
      out[`${method} ${path}`] = res.status;
      if (method !== 'HEAD' && res.status === 403) refusal(method, path, res);
      continue;
    }
    assert.equal(res.status, 200, `${method} ${path}: ${res.text}`);
    assert.deepEqual(seen.map((one) => `${one.method} ${one.url}`), [`${method} ${path}`]);
    const { authorization, 'x-api-key': key } = seen[0].headers;
    assert.ok(!key || path.startsWith('/v1/messages'), 'x-api-key is for requests of Anthropic\'s API');
    out[`${method} ${path}`] = authorization ?? (key ? `Bearer ${key}` : 'no key');
  }
  return out;
}

// The API's shape, and what to do.
function refusal(method, path, res) {
  const { error } = res.json();
  if (path.startsWith('/v1/messages')) assert.equal(error.type, 'permission_error'); // in Anthropic's shape
  else assert.deepEqual([error.type, error.code], ['invalid_request_error', 'insufficient_permissions']);
  assert.ok(error.message.includes(`${method} ${path}`), error.message);
  assert.match(error.message, /X-Upstream-Authorization: Bearer KEY.*admin token of an owner/);
}

const all = (list, fate) => Object.fromEntries(list.map(([method, path]) => [`${method} ${path}`, fate]));

async function expectFates(who, place, headers, forOpen, forGuarded) {
  assert.deepEqual(await fates(place, open, headers), all(open, forOpen), `${who}, open to all`);
  assert.deepEqual(await fates(place, guarded, headers), all(guarded, forGuarded), `${who}, guarded`);
  for (const [what, status] of Object.entries(await fates(place, here, headers)))
    assert.ok(status === 404 || status === 405, `${who}, ${what}: ${status}`);
  assert.equal((await place.server.ask('GET', '/v1/jobs/1/2', undefined, headers)).json().code, 'not_found', 'in the dialect of the own API');
  assert.equal((await place.server.ask('GET', '/v1/messages/1/2', undefined, headers)).json().error.type, 'not_found_error', 'in Anthropic\'s');
}

test('without tokens this machine is the operator, a person is not, and a key of the client\'s own goes first', async (t) => {
  const place = await ready(t);
  await expectFates('no token', place, {}, 'Bearer sk-server', 'Bearer sk-server');
  await expectFates('no token, own key', place, bearer('sk-mine'), 'Bearer sk-mine', 'Bearer sk-mine');
  await expectFates('no token, a person', place, { 'x-memory-user': 'anna' }, 'Bearer sk-server', 403);
  await expectFates('no token, a person with an own key', place, { 'x-memory-user': 'anna', ...ownKey('sk-anna') }, 'Bearer sk-anna', 'Bearer sk-anna');
});

test('with tokens the server\'s key is for the operator, except where it reaches nothing of others', async (t) => {
  const place = await ready(t);
  const [ada, admin, local, operator] = [await place.make('--user', 'ada'), await place.make('--user', 'ada', '--admin'), await place.make(), await place.make('--admin')];
  await expectFates('a user', place, bearer(ada), 'Bearer sk-server', 403);
  await expectFates('an admin of one user', place, bearer(admin), 'Bearer sk-server', 403);
  await expectFates('a token of local', place, bearer(local), 'Bearer sk-server', 403);
  await expectFates('the operator', place, bearer(operator), 'Bearer sk-server', 'Bearer sk-server');
  await expectFates('a user\'s own key', place, { ...bearer(ada), ...ownKey('sk-ada') }, 'Bearer sk-ada', 'Bearer sk-ada');
  const fronts = { ...bearer(await place.make('--admin', '--acts-for', 'any')), 'x-memory-user': 'anna' };
  await expectFates('the operator\'s token in a person\'s name', place, fronts, 'Bearer sk-server', 403);
  await expectFates('a token is not a key', place, { ...bearer(ada), ...ownKey(operator) }, 'Bearer sk-server', 403);
  const nobody = await fates(place, [...open, ...guarded], {});
  assert.deepEqual(new Set(Object.values(nobody)), new Set([401]));
});

test('a model server without a key is guarded alike', async (t) => {
  const place = await ready(t, ['--upstream-key', '']);
  const ada = await place.make('--user', 'ada'), operator = await place.make('--admin');
  const list = [['POST', '/v1/embeddings'], ['GET', '/v1/files']];
  assert.deepEqual(Object.values(await fates(place, list, bearer(ada))), ['no key', 403]);
  assert.deepEqual(Object.values(await fates(place, list, bearer(operator))), ['no key', 'no key']);
});

test('OpenAI\'s client gets a refusal that it understands', async (t) => {
  const { model, server, make } = await ready(t);
  const client = server.client({ apiKey: await make('--user', 'ada') });
  for (const ask of [() => client.files.list(), () => client.files.delete('file-1'), () => client.responses.retrieve('resp_of_another'),
    () => client.fineTuning.jobs.create({ model: 'gpt-4o-mini', training_file: 'file-1' })])
    await assert.rejects(ask, (error) => error.status === 403 && error.code === 'insufficient_permissions' && /your key of the model server/.test(error.message));
  assert.equal(model.asked.length, 0);
});

test('no header asks the model server for another method or path than those that passed', async (t) => {
  const { model, server } = await ready(t);
  const turned = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE', 'X-HTTP-Method': 'DELETE', 'X-Original-URL': '/v1/files', 'X-Rewrite-URL': '/v1/files' };
  assert.equal((await server.ask('POST', '/v1/embeddings', { model: 'any', input: 'x' }, { ...turned, 'x-kept': '1' })).status, 200);
  assert.deepEqual(Object.keys(turned).filter((name) => name.toLowerCase() in model.last().headers), []);
  assert.equal(model.last().headers['x-kept'], '1');
});

test('a token of ours in an address or a header is not shown to the model server', async (t) => {
  const { model, server, make } = await ready(t), token = await make();
  const shown = { authorization: `Bearer ${token}`, 'x-any': token };
  assert.equal((await server.ask('POST', `/v1/embeddings?a=1&key=${token}&b`, { model: 'any', input: 'x' }, shown)).status, 200);
  assert.deepEqual([model.last().url, model.last().headers['x-any']], ['/v1/embeddings?a=1&b', undefined]);
});

// --- answers ---

test('nothing of an answer speaks for our origin, and a page is saved, not opened', async (t) => {
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, [['Content-Type', 'text/html'], ['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['Access-Control-Allow-Origin', '*'],
      ['Access-Control-Allow-Credentials', 'true'], ['X-Kept', 'yes']].flat());
    res.end('<script>fetch("/v1/memories")</script>');
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  for (const [method, path] of [['GET', '/v1/files/file-1/content'], ['POST', '/v1/completions'], ['GET', '/v1/models'], ['POST', '/v1/chat/completions']]) {
    const { status, headers, text } = await server.ask(method, path, method === 'POST' ? { model: 'any', messages: [{ role: 'user', content: 'hi' }] } : undefined);
    assert.equal(status, 200);
    assert.match(text, /script/);
    assert.deepEqual(Object.keys(headers).filter((name) => /cookie|access-control/.test(name)), []);
    assert.deepEqual([headers['content-disposition'], headers['x-content-type-options'], headers['x-kept']], ['attachment', 'nosniff', 'yes'], path);
  }
});

// --- what is answered without memory ---

const hello = { model: 'any', messages: [{ role: 'user', content: 'hi' }] };

test('an answer without memory says why, and the log once for each kind', async (t) => {
  const { server } = await ready(t, ['--log-level', 'info']);
  const kinds = [['/v1/completions', 'endpoint'], ['/api/generate', 'endpoint'], ['/v1/chat/completions', 'encoding', { 'content-encoding': 'x-none' }],
    ['/v1/chat/completions', 'messages', {}, { model: 'any', messages: 'hi' }]];
  for (let round = 0; round < 3; round++)
    for (const [path, reason, headers, body] of kinds) {
      const res = await server.ask('POST', path, body ?? hello, headers);
      assert.equal(res.status, 200, res.text);
      assert.equal(res.headers['x-memory'], `off; reason=${reason}`, path);
      assert.ok(!('x-rememberd-receipt' in res.headers) || reason === 'messages');
    }
  const lines = server.stderr.split('\n').filter((line) => line.includes('chat.without_memory')).map((line) => /memory="off; reason=(\w+)" path=(\S+)/.exec(line).slice(1));
  assert.deepEqual(lines.sort(), kinds.map(([path, reason]) => [reason, reason === 'endpoint' ? path : 'any']).sort());
});

test('an answer with memory, or without by its request, says nothing of the kind', async (t) => {
  const { server } = await ready(t, ['--log-level', 'info']);
  for (const headers of [{}, { 'x-memory-mode': 'off' }, { 'x-omniroute-no-memory': 'true', 'content-encoding': 'x-none' }])
    assert.ok(!('x-memory' in (await server.chat(hello, headers)).headers), JSON.stringify(headers));
  for (const path of ['/v1/embeddings', '/v1/messages/count_tokens', '/v1/moderations'])
    assert.ok(!('x-memory' in (await server.ask('POST', path, hello)).headers), path);
  assert.doesNotMatch(server.stderr, /without_memory/);
});

test('memory that is off for everyone is named in each chat\'s answer', async (t) => {
  const { server } = await ready(t, ['--memory', 'off', '--log-level', 'info']);
  const session = (await server.ask('POST', '/v1/session', { app_id: 'a' })).json().session_id;
  const doors = [(headers) => server.chat(hello, headers), (headers) => server.chat({ ...hello, stream: true }, headers),
    (headers) => server.chat({ ...hello, model: 'rememberd/demo' }, headers),
    (headers) => server.chat(hello, { 'x-session-history': 'on', 'x-session-id': 's', ...headers }),
    (headers) => server.ask('POST', '/v1/messages', hello, headers),
    (headers) => server.ask('POST', '/api/chat', hello, headers),
    (headers) => server.ask('POST', '/v1/chat', { session_id: session, message: 'hi' }, headers)];
  for (const ask of doors) {
    const res = await ask({});
    assert.equal(res.status, 200, res.text);
    assert.equal(res.headers['x-memory'], 'off; reason=setting', ask);
    assert.ok(!('x-memory' in (await ask({ 'x-memory-mode': 'off' })).headers), ask);
  }
  assert.equal(server.stderr.split('chat.without_memory').length, 2);
});
