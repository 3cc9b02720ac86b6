// memories.test.js - memories over REST, errors as problems, and what the server says about itself.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const test = require('node:test');
const { inlined, run, serve } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test('a memory is added, read, listed, searched and erased', async (t) => {
  const server = await serve(t);
  const sent = { content: 'Ada prefers green tea.', key: 'tea', type: 'semantic', category: 'preference', importance: 0.9,
    tags: ['drinks'], metadata: { n: 1.50 }, session: 's1' };
  const added = await server.ask('POST', '/v1/memories', sent);
  assert.equal(added.status, 201, added.text);
  const memory = added.json();
  assert.match(memory.id, uuid);
  for (const [name, value] of Object.entries(sent)) assert.deepEqual(memory[name], value, name);
  assert.equal(memory.origin, 'api');
  assert.ok(Math.abs(Date.parse(memory.created) - Date.now()) < 60000);
  const { uses, last_used, ...same } = (await server.ask('GET', `/v1/memories/${memory.id}`)).json();
  for (const name of Object.keys(same)) assert.deepEqual(same[name], memory[name], name);

  await server.ask('POST', '/v1/memories', { content: 'The server room is in Oslo.' });
  const list = (query) => server.ask('GET', `/v1/memories${query}`).then((res) => res.json());
  assert.equal((await list('')).total, 2);
  assert.deepEqual((await list('?limit=1')).memories.length, 1);
  assert.equal((await list('?limit=1&offset=1')).memories[0].id, memory.id);
  assert.deepEqual((await list('?category=preference')).memories.map((one) => one.id), [memory.id]);
  assert.deepEqual((await list('?contains=OSLO')).memories.map((one) => one.content), ['The server room is in Oslo.']);
  assert.equal((await list('?session=s1&type=semantic')).total, 1);

  const search = (body) => server.ask('POST', '/v1/memories/search', body).then((res) => res.json());
  const [best] = (await search({ query: 'Which tea does Ada like?', explain: true })).results;
  assert.equal(best.id, memory.id);
  assert.equal(best.kind, 'memory');
  assert.ok(best.score > 0 && best.score <= 1);
  assert.ok(best.why.length > 0);
  assert.ok(Object.keys(best.signals).length > 3);
  assert.equal((await search({ query: 'Which tea does Ada like?' })).results[0].signals, null);
  assert.ok((await search({ query: 'tea server', limit: 1 })).results.length <= 1);

  const gone = await server.ask('DELETE', `/v1/memories/${memory.id}`);
  const { erasure, ...counts } = gone.json();
  assert.deepEqual(counts, { erased: 1, barred: 0 });
  assert.match(erasure, /^[0-9a-f-]{36}$/);
  assert.equal((await server.ask('GET', `/v1/memories/${memory.id}`)).status, 404);
  assert.equal((await server.ask('DELETE', `/v1/memories/${memory.id}`)).status, 404);
  assert.ok((await search({ query: 'Which tea does Ada like?' })).results.every((one) => one.id !== memory.id));
});

test('scores fall with the order, in the API and on the command line, and none reads 0.00', async (t) => {
  const server = await serve(t);
  for (const text of ['My favourite coffee is a double espresso.', 'I live in Lisbon, near the harbour.', 'I lived in Rome until 2019, and I miss the coffee there.',
    'My dog is called Rex and my cat is called Mia.', 'What should I cook tonight for my dog?', 'My sister Ada plays the cello in Lisbon.',
    'I am allergic to peanuts.', 'Which coffee do you like?', 'My flight to Oslo leaves on Monday.', 'I prefer a window seat on a flight.'])
    await server.tell(text);
  await server.ask('POST', '/v1/memories', { content: 'Parks in lot 7' });
  await server.settled();
  let n = 0;
  for (const query of ['Where do I live?', 'Which coffee do I like?', 'What is my dog called?', 'Which seat should I book?', 'Where does my sister live?',
    'What should I cook tonight?', 'When does my flight leave?', 'coffee Lisbon dog', 'zebra']) {
    const falls = (scores, where) => assert.deepEqual(scores, [...scores].sort((a, b) => b - a), `${where}: ${query}`);
    const { results } = (await server.ask('POST', '/v1/memories/search', { query, limit: 50 })).json();
    falls(results.map((one) => one.score), 'API');
    n += results.length;
    const { stdout } = await run(['search', query, '--data', server.data, '--limit', '50']);
    const shown = [...stdout.matchAll(/^(\d\.\d\d)  /gm)].map(([, score]) => Number(score));
    falls(shown, 'CLI');
    assert.ok(shown.every((score) => score > 0), stdout);
    const said = JSON.parse((await run(['search', query, '--data', server.data, '--limit', '50', '--json'])).stdout).results;
    assert.deepEqual(said.map((one) => [one.id, one.score]), results.map((one) => [one.id, one.score]), `the command finds what the API finds: ${query}`);
  }
  assert.ok(n > 30, `${n} results`);
});

test('the same key closes what was said before', async (t) => {
  const server = await serve(t);
  const add = (content) => server.ask('POST', '/v1/memories', { content, key: 'city' }).then((res) => res.json());
  const old = await add('I live in Rome.'), now = await add('I live in Lisbon.');
  const open = (await server.ask('GET', '/v1/memories')).json();
  assert.deepEqual(open.memories.map((one) => one.id), [now.id]);
  const all = (await server.ask('GET', '/v1/memories?closed=true')).json();
  assert.equal(all.total, 2);
  assert.equal(all.memories.find((one) => one.id === old.id).superseded_by, now.id);
});

// Every endpoint of ours has these members (RFC 9457); what is passed on to a model keeps OpenAI's.
function checkProblem(res, status, field, code) {
  assert.equal(res.status, status, res.text);
  assert.equal(res.headers['content-type'], 'application/problem+json');
  const problem = res.json();
  assert.deepEqual(Object.keys(problem), ['type', 'title', 'status', 'detail', 'field', 'code', 'request_id']);
  assert.equal(problem.type, 'about:blank');
  assert.equal(problem.title, http.STATUS_CODES[status]?.replace('Payload Too Large', 'Content Too Large'));
  assert.equal(problem.status, status);
  assert.ok(problem.detail.length > 5);
  assert.equal(problem.field, field, res.text);
  assert.equal(problem.code, code, res.text);
  assert.equal(problem.request_id, res.headers['x-request-id']);
}

test('bad input is refused as a problem that names the field', async (t) => {
  const server = await serve(t);
  const cases = [
    ['POST', '/v1/memories', '{"content":""}', 400, 'content'],
    ['POST', '/v1/memories', '{}', 400, 'content'],
    ['POST', '/v1/memories', '{"content":"x","importance":2}', 400, 'importance'],
    ['POST', '/v1/memories', '{"content":"x","type":"odd"}', 400, 'type'],
    ['POST', '/v1/memories', '{"content":"x","metadata":[1]}', 400, 'metadata'],
    ['POST', '/v1/memories', '{"content":"x","contnt":"y"}', 400, 'contnt'],
    ['POST', '/v1/memories', 'content=x', 400, null],
    ['POST', '/v1/memories/search', '{"query":"x","limit":0}', 400, 'limit'],
    ['GET', '/v1/memories?limit=many', undefined, 400, 'limit'],
    ['GET', '/v1/review?state=gone', undefined, 400, 'state'],
    ['GET', '/v1/memories?tag=%00', undefined, 400, 'tag'],
    ['GET', '/v1/memories?%ff=1', undefined, 400, null],
    ['GET', '/v1/memories/%00', undefined, 400, null],
    ['GET', '/v1/memories?after=0000-01-01T00:00:00%2B00:01', undefined, 400, 'after'],
    ['GET', '/v1/memories/nothing', undefined, 404, null],
    ['GET', '/v1/receipts/nothing', undefined, 404, null],
    ['DELETE', '/v1/memories', undefined, 405, null],
    ['POST', '/health', '{}', 405, null],
  ];
  const codes = { 400: 'bad_input', 404: 'not_found', 405: 'unsupported' };
  for (const [method, path, body, status, field] of cases)
    checkProblem(await server.ask(method, path, body), status, field, codes[status]);
  const big = await serve(t, { flags: ['--body-max', '2000'] });
  checkProblem(await big.ask('POST', '/v1/memories', { content: 'x'.repeat(5000) }), 413, null, 'too_large');
});

test('a path that cannot be decoded is refused in the words of the API that it is of', async (t) => {
  const server = await serve(t);
  for (const [path, type, members] of [['/v1/jobs/%00', 'application/problem+json', ['type', 'title', 'status', 'detail', 'field', 'code', 'request_id']], ['/v1/memories/%00/', 'application/json', ['detail']],
    ['/api/memory/%ff', 'application/json', ['error', 'message', 'details', 'requestId']], ['/v1/session/%zz', 'application/json', ['error']], ['/agents/%00', 'application/json', ['error', 'message']]]) {
    const res = await server.ask('GET', path);
    assert.deepEqual([res.status, res.headers['content-type'], Object.keys(res.json())], [400, type, members], path);
    assert.match(res.text, /the path must be percent-encoded UTF-8 without NUL/, path);
  }
});

test('times from the year 0 on are shown as they are written', async (t) => {
  const server = await serve(t);
  for (const valid_from of ['0000-01-01T00:00:00.000Z', '0999-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'])
    assert.equal((await server.ask('POST', '/v1/memories', { content: `It began in ${valid_from}.`, valid_from })).json().valid_from, valid_from);
});

test('a chat is refused in OpenAI\'s shape, naming the field', async (t) => {
  const server = await serve(t);
  const cases = [
    ['POST', '/v1/chat/completions', '{"model":', 400, null],
    ['POST', '/v1/chat/completions', '', 400, null],
    ['POST', '/v1/chat/completions', '{"model":"rememberd/demo"}', 400, 'messages'],
    ['POST', '/v1/chat/completions', '{"model":"rememberd/demo","messages":[]}', 400, 'messages'],
    ['GET', '/nowhere', undefined, 404, null],
  ];
  for (const [method, path, body, status, param] of cases) {
    const res = await server.ask(method, path, body);
    assert.equal(res.status, status, `${method} ${path} ${body}: ${res.text}`);
    const { error } = res.json();
    assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
    assert.ok(error.message.length > 5);
    assert.equal(error.type, 'invalid_request_error');
    assert.equal(error.param, param, `${path} ${body}`);
  }
  const big = await serve(t, { flags: ['--body-max', '2000'] });
  const res = await big.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'x'.repeat(5000) }] });
  assert.equal(res.status, 413);
  assert.equal(res.json().error.code, 'request_too_large');
});

test('health, readiness, metrics, the API\'s description and the page', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex.');
  const health = (await server.ask('GET', '/health')).json();
  assert.equal(health.status, 'ok');
  assert.equal(health.store, 'ok');
  assert.match(health.version, /^\d+\.\d+\.\d+$/);
  assert.ok(health.uptime_s >= 0);
  assert.equal((await server.ask('GET', '/health/live')).json().status, 'healthy');
  assert.deepEqual((await server.ask('GET', '/ready')).json(), { ready: true, message: 'Service is ready' });

  const metrics = await server.ask('GET', '/metrics');
  assert.match(metrics.headers['content-type'], /^text\/plain; version=0\.0\.4/);
  for (const line of metrics.text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) (rememberd|process)_\w+ .+|(rememberd|process)_\w+(\{(\w+="[^"]+",?)+\})? [0-9.e+-]+)$/);
  const value = (name) => Number(new RegExp(`^rememberd_${name} (.+)$`, 'm').exec(metrics.text)[1]);
  assert.ok(value('requests_total') >= 3);
  assert.ok(value('turns_total') >= 1);
  assert.ok(value('store_messages') >= 1);
  assert.equal(value('recall_seconds_count'), value('recalls_total'));

  const api = inlined((await server.ask('GET', '/openapi.json')).json());
  assert.equal(api.openapi, '3.1.0');
  for (const path of ['/v1/chat/completions', '/v1/models', '/v1/memories', '/v1/memories/search', '/v1/memories/{id}',
    '/v1/receipts/{id}', '/health', '/health/live', '/ready', '/metrics', '/openapi.json'])
    assert.ok(api.paths[path], path);
  const { post, get } = api.paths['/v1/memories'];
  const schema = post.requestBody.content['application/json'].schema;
  assert.deepEqual(schema.required, ['content']);
  assert.equal(schema.additionalProperties, false);
  assert.deepEqual(schema.properties.type.enum, ['factual', 'episodic', 'procedural', 'semantic']);
  assert.ok(get.parameters.some((one) => one.name === 'limit' && one.in === 'query' && one.schema.default === 50));
  assert.ok(api.paths['/v1/memories/{id}'].get.parameters.some((one) => one.name === 'id' && one.in === 'path' && one.required));

  // The query of a request with a body, where Cortex's reference has it there.
  const asks = (path) => api.paths[path].post.parameters.filter((one) => !one.$ref).map((one) => `${one.in} ${one.name}`);
  assert.deepEqual(asks('/v1/users/me/profile/extract'), ['query app_id', 'query store']);
  assert.deepEqual(asks('/v1/memory/consolidate'), ['query app_id', 'query dry_run']);

  // Who and where may be said at every endpoint that asks for a credential.
  for (const [target, item] of Object.entries(api.paths))
    for (const [method, one] of Object.entries(item))
      assert.deepEqual(one.parameters.filter((p) => p.$ref).map((p) => api.components.parameters[p.$ref.split('/').pop()].name),
        one.security.length ? ['X-Memory-User', 'X-Memory-Space', 'space'] : [], `${method} ${target}`);

  const page = await server.ask('GET', '/');
  assert.match(page.headers['content-type'], /^text\/html/);
  assert.match(page.text, /<title>rememberd<\/title>/); // the rest: studio.test.js
});
