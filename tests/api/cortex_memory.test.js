// cortex_memory.test.js - Cortex's long-term memory: searched, listed, saved, deleted, tidied, each in its own dialect.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const path = require('node:path');
const test = require('node:test');
const { answer, run, serve, tempFolder, until, upstream } = require('./lib');

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const day = 86400000;

const api = (server, headers = {}) => {
  const call = async (code, method, target, body) => {
    const res = await server.ask(method, target, body, headers);
    assert.equal(res.status, code, `${method} ${target}: ${res.text}`);
    return res.json();
  };
  return {
    call,
    ok: (...args) => call(200, ...args),
    save: (content, more = {}) => call(201, 'POST', '/v1/memory/save', { content, ...more }),
    search: (query, more = {}) => call(200, 'POST', '/v1/memory/search', { query, ...more }),
    me: (query = '') => call(200, 'GET', `/v1/memory/me${query}`),
  };
};

async function refused(server, code, name, method, target, body, headers = {}) {
  const res = await server.ask(method, target, body, { ...headers, 'x-trace-id': 'trace-7' });
  const what = `${method} ${target} ${JSON.stringify(body)}: ${res.text}`;
  assert.equal(res.status, code, what);
  const { error, ...others } = res.json();
  assert.deepEqual(Object.keys(others), [], what);
  assert.deepEqual(Object.keys(error), ['code', 'message', 'trace_id', 'details'], what);
  assert.equal(error.code, name, what);
  assert.equal(error.trace_id, 'trace-7');
  assert.equal(res.headers['x-trace-id'], 'trace-7');
  assert.ok(error.message.length > 5, what);
  return error;
}

test('what is saved is searched, listed and deleted', async (t) => {
  const server = await serve(t);
  const { ok, save, search, me } = api(server);
  const color = await save("User's favorite color is blue");
  assert.equal(color.success, true);
  assert.match(color.id, uuid);
  assert.equal(color.memory.importance_score, 0.7);
  await save('User is allergic to peanuts', { tags: ['medical', 'allergy'] });
  await save('User has a bicycle', { importance: 0.33, app_id: 'my-app' });

  const found = await search('What is my favorite color?');
  assert.deepEqual(Object.keys(found), ['results', 'total', 'limit', 'offset', 'memories']);
  assert.deepEqual(found.results.map((one) => one.content), ["User's favorite color is blue"]);
  assert.deepEqual(Object.keys(found.results[0]), ['id', 'content', 'similarity', 'created_at']);
  assert.match(found.results[0].created_at, time);
  assert.equal(found.results[0].similarity, 1);
  assert.deepEqual([found.total, found.limit, found.offset], [1, 15, 0]);
  assert.deepEqual(found.memories, found.results);
  assert.equal((await search('Which color has the oldest lighthouse of Iceland?')).total, 0);
  assert.equal((await search('Which color has the oldest lighthouse of Iceland?', { min_similarity: 0.1 })).total, 1);
  assert.equal((await search('anything', { min_similarity: 0 })).total, 2);
  assert.equal((await search('bicycle')).total, 0);
  assert.equal((await search('bicycle', { app_id: 'my-app', switch_ai_api_key: null })).total, 1);
  assert.equal((await search('bicycle', { app_id: 'my-app', switch_ai_api_key: 'sk-mine', offset: 1 })).results.length, 0);

  const mine = await me();
  assert.deepEqual(Object.keys(mine), ['memories', 'total', 'limit', 'offset']);
  assert.deepEqual(mine.memories.map((one) => one.content),
    ['User has a bicycle', 'User is allergic to peanuts', "User's favorite color is blue"]);
  assert.deepEqual(Object.keys(mine.memories[0]), ['id', 'content', 'importance_score', 'tags', 'created_at']);
  assert.deepEqual(mine.memories.map((one) => one.importance_score), [0.33, 0.9, 0.7]);
  assert.deepEqual(mine.memories[1].tags, ['medical', 'allergy']);
  assert.equal((await me('?app_id=my-app&limit=20&offset=0')).total, 1);
  assert.equal((await me('?app_id=nobody')).total, 0);
  const page = await me('?limit=1&offset=1');
  assert.deepEqual([page.memories[0].content, page.total, page.limit, page.offset], ['User is allergic to peanuts', 3, 1, 1]);
  assert.deepEqual(await ok('GET', '/v1/memory/list?limit=2'), await me('?limit=2'));

  assert.deepEqual(await ok('DELETE', `/v1/memory/${color.id}`), { success: true, message: 'Memory deleted successfully' });
  assert.equal((await search('What is my favorite color?')).total, 0);
  await refused(server, 404, 'MEMORY_NOT_FOUND', 'DELETE', `/v1/memory/${color.id}`);
  await refused(server, 404, 'MEMORY_NOT_FOUND', 'DELETE', '/v1/memory/nothing');
});

test('what is not well formed is refused in Cortex\'s words', async (t) => {
  const server = await serve(t);
  const search = '/v1/memory/search', save = '/v1/memory/save';
  const cases = [
    ['POST', search, {}], ['POST', search, { query: '' }], ['POST', search, { query: '  ' }], ['POST', search, { query: 7 }],
    ['POST', search, { query: 'x', limit: 0 }], ['POST', search, { query: 'x', limit: 51 }],
    ['POST', search, { query: 'x', limit: 'many' }], ['POST', search, { query: 'x', offset: -1 }],
    ['POST', search, { query: 'x', min_similarity: 1.1 }], ['POST', search, { query: 'x', min_similarity: -0.1 }],
    ['POST', search, { query: 'x', app_id: 'a'.repeat(201) }], ['POST', search, '{"query":'], ['POST', search, '[]'],
    ['POST', save, {}], ['POST', save, { content: ' ' }], ['POST', save, { content: 'x', importance: 2 }],
    ['POST', save, { content: 'x', tags: 'one' }], ['POST', save, { content: 'x', tags: [''] }],
    ['POST', save, { content: 'x', tags: Array(51).fill('t') }],
    ['GET', '/v1/memory/me?limit=0'], ['GET', '/v1/memory/me?limit=101'], ['GET', '/v1/memory/me?limit=x'],
    ['GET', '/v1/memory/me?offset=-1'], ['GET', '/v1/memory/duplicates?appid=x'], ['DELETE', '/v1/memory/user/all?appid=x'],
    ['DELETE', '/v1/memory/user/all?app_id=x', { app_id: 'y' }], ['POST', '/v1/memory/deduplicate?app_id=x', { app_id: 'y' }],
    ['POST', '/v1/memory/consolidate?app_id=x', { app_id: 'y' }], ['POST', '/v1/memory/save?app_id=x', { content: 'x', app_id: 'y' }], ['POST', `${search}?app_id=x`, { query: 'x', app_id: 'y' }], ['POST', '/v1/session?app_id=x', { app_id: 'y' }],
    ['POST', '/v1/memory/deduplicate?appid=x'],
    ['POST', '/v1/memory/deduplicate', { appid: 'x' }], ['POST', '/v1/memory/consolidate?dry_run=maybe'],
    ['POST', '/v1/memory/consolidate?appid=x'], ['POST', '/v1/memory/consolidate', { dry_run: 'maybe' }]];
  for (const one of cases) await refused(server, 400, 'VALIDATION_ERROR', ...one);
  assert.equal((await refused(server, 400, 'VALIDATION_ERROR', 'POST', search, { query: 'x', limit: 51 })).details.field, 'limit');
  await api(server).search('AND "NEAR( * ^ -', { min_similarity: 0.01 });
});

test('importance decays with the days, and what is too old is not found', async (t) => {
  const data = tempFolder(), file = path.join(tempFolder(), 'said.jsonl');
  const ages = [0, 1, 7, 14, 30, 90, 364, 366];
  const said = (days) => ({ session: `s${days}`, role: 'user', content: `Remember that the boat of age ${days} leaks.`,
    created: new Date(Date.now() - days * day - 1000).toISOString() });
  fs.writeFileSync(file, ages.map((days) => JSON.stringify(said(days))).join('\n'));
  const { code, stderr } = await run(['ingest', file, '--data', data]);
  assert.equal(code, 0, stderr);
  const server = await serve(t, { data, flags: ['--memory-decay', '0.05', '--memory-max-age-days', '365'] });
  const { memories } = await api(server).me();
  assert.equal(memories.length, ages.length);
  assert.deepEqual(memories.map((one) => one.importance_score), [0.8, 0.761, 0.5638, 0.3973, 0.1785, 0.0089, 0, 0]);
  const found = await api(server).search('boat leaks', { limit: 50 });
  assert.equal(found.total, ages.length - 1);
  assert.ok(found.results.every((one) => !/age 366/.test(one.content)));
});

test('all of an application is forgotten, transcript and all', async (t) => {
  const server = await serve(t);
  const { ok, save, me } = api(server);
  const agent = { 'x-osaurus-agent-id': 'my-app' };
  await server.tell('I am allergic to peanuts and my dog is called Rex.', agent);
  await server.tell('My boat is called Ithaca.');
  await save('User has a bicycle', { app_id: 'my-app' });
  const before = (await me('?app_id=my-app')).total;
  assert.ok(before >= 2);
  assert.deepEqual(await ok('DELETE', '/v1/memory/user/all?app_id=my-app'), { success: true, deleted_count: before });
  assert.deepEqual(await ok('DELETE', '/v1/memory/user/all?app_id=my-app'), { success: true, deleted_count: 0 });
  assert.equal((await me('?app_id=my-app')).total, 0);
  const left = await server.ask('POST', '/v1/memories/search', { query: 'peanuts dog Rex' }, agent);
  assert.deepEqual(left.json().results, []);
  assert.equal((await me()).total, 1);
  await save('User has a car', { app_id: 'other' });
  assert.deepEqual(await ok('DELETE', '/v1/memory/user/all?app_id=*'), { success: true, deleted_count: 2 });
  assert.equal((await me()).total, 0);
  assert.deepEqual((await server.ask('POST', '/v1/memories/search', { query: 'boat Ithaca' })).json().results, []);
});

test('two users with two applications each never meet', async (t) => {
  const server = await serve(t);
  const token = async (...args) => {
    const made = await run(['token', 'create', '--json', '--data', server.data, ...args]);
    assert.equal(made.code, 0, made.stderr);
    const { id, token: secret } = JSON.parse(made.stdout);
    return { id, headers: { authorization: `Bearer ${secret}` } };
  };
  const { headers: anna } = await token('--user', 'anna', '--space', 'default');
  const { headers: ben } = await token('--user', 'ben', '--space', 'default');
  const { headers: own, id: space } = await token('--user', 'anna');
  await until('tokens are asked for', async () => (await server.ask('GET', '/v1/memory/me')).status === 401);
  const made = {};
  for (const [name, headers] of [['anna', anna], ['ben', ben]])
    for (const app of ['one', 'two']) made[`${name}-${app}`] = (await api(server, headers).save(`the boat of ${name} in ${app}`, { app_id: app })).id;
  const secret = (await api(server, own).save('the private boat of anna')).id;
  for (const target of ['POST /v1/memory/search', 'GET /v1/memory/me', 'GET /v1/memory/duplicates', 'POST /v1/memory/deduplicate',
    'DELETE /v1/memory/user/all', 'POST /v1/memory/consolidate', 'POST /v1/memory/save', `DELETE /v1/memory/${made['anna-one']}`])
    await refused(server, 401, 'AUTHENTICATION_FAILED', ...target.split(' '), undefined, { authorization: 'Bearer ctx_wrong' });
  for (const app of ['one', 'two']) {
    const found = await api(server, ben).search('boat', { app_id: app });
    assert.deepEqual(found.results.map((one) => one.id), [made[`ben-${app}`]]);
    const answers = [];
    for (const id of [made[`anna-${app}`], '00000000-0000-4000-8000-000000000000'])
      answers.push((await refused(server, 404, 'MEMORY_NOT_FOUND', 'DELETE', `/v1/memory/${id}`, undefined, ben)).message);
    assert.equal(answers[0], answers[1]);
  }
  assert.equal((await api(server, ben).me()).total, 2);
  await refused(server, 403, 'FORBIDDEN', 'GET', `/v1/memory/me?app_id=${space}`, undefined, anna);
  await refused(server, 404, 'MEMORY_NOT_FOUND', 'DELETE', `/v1/memory/${secret}`, undefined, anna);
  assert.equal((await api(server, own).me()).total, 1);
  assert.deepEqual(await api(server, ben).ok('DELETE', '/v1/memory/user/all?app_id=*'), { success: true, deleted_count: 2 });
  assert.equal((await api(server, anna).search('boat', { app_id: 'one' })).total, 1);
  assert.deepEqual(await api(server, own).ok('DELETE', '/v1/memory/user/all?app_id=*'), { success: true, deleted_count: 1 });
  assert.equal((await api(server, anna).search('boat', { app_id: 'two' })).total, 1);
  await api(server, anna).ok('DELETE', `/v1/memory/${made['anna-two']}`);
  await api(server, own).save('another private boat of anna');
  await api(server, anna).save('the boat of anna in two, again', { app_id: 'two' });
  assert.equal((await api(server, anna).ok('POST', '/v1/memory/consolidate?app_id=*&dry_run=true')).looked_at, 2);
  assert.deepEqual(await api(server, anna).ok('DELETE', '/v1/memory/user/all?app_id=*'), { success: true, deleted_count: 2 });
  assert.equal((await api(server, own).me()).total, 1);
});

// As the seed has them, but for the host, the token and the id.
test('the seed\'s curl examples run as they stand', async (t) => {
  const server = await serve(t);
  const made = await run(['token', 'create', '--json', '--data', server.data, '--user', 'anna', '--space', 'default']);
  const { token } = JSON.parse(made.stdout);
  const { id } = await api(server, { authorization: `Bearer ${token}` }).save('User is allergic to peanuts', { app_id: 'my-app' });
  const curl = async (command) => {
    const words = command.replaceAll('https://api.traylinx.com', server.url).replaceAll('ctx_your_token_here', token)
      .replaceAll('550e8400-e29b-41d4-a716-446655440000', id);
    const child = spawn('sh', ['-c', `${words} -s`], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
    const [code] = await once(child, 'close');
    assert.equal(code, 0, words);
    return JSON.parse(said);
  };
  const listed = await curl('curl -X GET "https://api.traylinx.com/v1/memory/me?app_id=my-app&limit=20&offset=0" \\\n  -H "Authorization: Bearer ctx_your_token_here"');
  assert.deepEqual([listed.total, listed.limit], [1, 20]);
  assert.deepEqual(await curl('curl -X GET "https://api.traylinx.com/v1/memory/duplicates?app_id=my-app" \\\n  -H "Authorization: Bearer ctx_your_token_here"'),
    { groups: [], total_duplicates: 0 });
  assert.deepEqual(await curl('curl -X POST "https://api.traylinx.com/v1/memory/deduplicate?app_id=my-app" \\\n  -H "Authorization: Bearer ctx_your_token_here"'),
    { success: true, deleted_count: 0, groups_merged: 0 });
  assert.deepEqual(await curl('curl -X DELETE "https://api.traylinx.com/v1/memory/550e8400-e29b-41d4-a716-446655440000" \\\n  -H "Authorization: Bearer ctx_your_token_here"'),
    { success: true, message: 'Memory deleted successfully' });
  assert.deepEqual(await curl('curl -X DELETE "https://api.traylinx.com/v1/memory/user/all?app_id=my-app" \\\n  -H "Authorization: Bearer ctx_your_token_here"'),
    { success: true, deleted_count: 0 });
});

// --- what says the same ---

// A text of the table has a cosine to the first of its direction; what else there is has a direction of its own.
const names = { "User's name is Sebastian": 1, 'User signs as Sebastian': 0.9, 'User is referred to as Sebastian': 0.97,
  'User answers to Sebastian': 0.5 };
const colors = { "User's favorite color is blue": 1, "User's favorite color is green": 0.92 };
function vectorOf(text) {
  const v = Array(64).fill(0);
  const axis = [names, colors].findIndex((one) => text in one);
  if (axis < 0) v[32 + [...text].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) % 32, 7)] = 1;
  else {
    const table = [names, colors][axis];
    v[axis * 8] = table[text];
    v[axis * 8 + 1 + Object.keys(table).indexOf(text)] = Math.sqrt(1 - table[text] ** 2);
  }
  return v;
}

// A server of embeddings and of the core model, which says of two memories what the test says, and of sessions what is scripted.
async function brain(t, { flags = [], sessions = [] } = {}) {
  const state = { verdict: () => 'different', asked: [], sessions };
  const model = await upstream(t, (req, res, asked) => {
    if (req.url === '/v1/embeddings') {
      res.writeHead(200, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ data: [asked.json.input].flat().map((text, index) => ({ index, embedding: vectorOf(text) })) }));
    }
    if (asked.json.model !== 'core') return answer(res, asked, 'I see.');
    const [system, user] = [asked.json.messages[0].content, asked.json.messages.at(-1).content];
    if (!/compare memories/.test(system)) return answer(res, asked, state.sessions.shift());
    const pairs = user.trim().split('\n').map((line) => JSON.parse(line));
    state.asked.push(...pairs.map((pair) => `${pair.older} / ${pair.newer}`));
    return answer(res, asked, JSON.stringify({ verdicts: pairs.map((pair) => state.verdict(pair)) }));
  });
  const server = await serve(t, { flags: ['--upstream', `near=${model.url}`, '--upstream', model.url, '--core-model', 'core',
    '--embedding-source', 'remote', '--embedding-model', 'near/angles', ...flags] });
  return Object.assign(state, { server, ...api(server) });
}
const vectors = (b, n) => until(`${n} vectors`, async () => {
  const { search } = await b.ok('GET', '/memory/status');
  return search.vector_rows >= n && search.vectors_waiting === 0;
});

test('duplicates are shown and merged; between certain and certainly not the model decides', async (t) => {
  const b = await brain(t);
  const ids = {};
  for (const text of Object.keys(names)) ids[text] = (await b.save(text)).id;
  await b.save('User likes sailing');
  await vectors(b, 5);
  const [name, called, referred] = Object.keys(names);
  const group = async () => {
    b.asked.length = 0;
    const { groups, total_duplicates: total } = await b.ok('GET', '/v1/memory/duplicates');
    assert.equal(groups.length, 1);
    assert.equal(total, groups[0].duplicates.length);
    assert.deepEqual([groups[0].canonical_id, groups[0].canonical_content], [ids[name], name]);
    return groups[0].duplicates;
  };
  let found = await group();
  assert.deepEqual(found.map((one) => one.content), [referred]);
  assert.deepEqual(Object.keys(found[0]), ['id', 'content', 'created_at', 'similarity_to_canonical']);
  assert.ok(Math.abs(found[0].similarity_to_canonical - 0.97) < 0.005);
  assert.ok(b.asked.includes(`${name} / ${called}`) && !b.asked.includes(`${name} / ${referred}`));
  b.verdict = (pair) => (pair.newer === called ? 'equivalent' : 'different');
  found = await group();
  assert.deepEqual(found.map((one) => one.id), [ids[called], ids[referred]]);
  b.verdict = () => 'nonsense';
  assert.equal((await group()).length, 1);
  b.verdict = () => 'equivalent';
  assert.deepEqual(await b.ok('POST', '/v1/memory/deduplicate'), { success: true, deleted_count: 2, groups_merged: 1 });
  assert.deepEqual((await b.me()).memories.map((one) => one.content), ['User likes sailing', 'User answers to Sebastian', name]);
  const history = await b.ok('GET', '/v1/memories?closed=true');
  assert.deepEqual(history.memories.filter((one) => one.superseded_by === ids[name]).map((one) => one.content), [referred, called]);
  assert.deepEqual(await b.ok('POST', '/v1/memory/deduplicate', {}), { success: true, deleted_count: 0, groups_merged: 0 });
  assert.deepEqual(await b.ok('GET', '/v1/memory/duplicates'), { groups: [], total_duplicates: 0 });
});

test('what a session says again in other words is not kept twice', async (t) => {
  const b = await brain(t);
  const long = 'and there is a lot to be said about it, more than I can put into one message of a few lines.';
  let conversations = 0;
  const hear = async (content, salience) => {
    b.asked.length = 0;
    b.sessions.push(JSON.stringify({ episode: { summary: `Talk ${conversations} of this and that.`, salience: 0.5 },
      pinned_candidates: [{ content, tags: ['kept'], ...(salience === undefined ? {} : { salience }) }] }));
    const out = await b.ok('POST', '/memory/ingest', { agent_id: 'app', conversation_id: `c${conversations++}`,
      turns: [{ user: `${content}, I am Sebastian, ${long}`, assistant: 'I see.' }] });
    assert.equal(out.distillation, 'distilled');
  };
  const facts = async () => (await b.me('?app_id=app&limit=100')).memories.filter((one) => one.tags.includes('kept')).map((one) => one.content);
  const [name, called, referred, answers] = Object.keys(names);
  await hear(name);
  assert.deepEqual(await facts(), [name]);
  b.verdict = () => 'equivalent';
  await hear(called);
  assert.deepEqual([await facts(), b.asked], [[name], [`${name} / ${called}`]]);
  await hear(referred);
  assert.deepEqual([await facts(), b.asked], [[name], []]);
  await hear(answers);
  assert.deepEqual([await facts(), b.asked], [[answers, name], []]);
  b.verdict = () => 'different';
  await hear(called);
  assert.deepEqual([await facts(), b.asked], [[called, answers, name], [`${name} / ${called}`]]);
  const uses = (await b.ok('GET', '/v1/memories?limit=100')).memories;
  assert.equal(uses.length, 0); // of the default space

  const [blue, green] = Object.keys(colors);
  await hear(blue);
  await hear(green);
  assert.deepEqual([(await facts()).slice(0, 1), b.asked], [[green], []]);
  assert.ok(!(await facts()).includes(blue));

  await hear('User is allergic to peanuts', 0.2);
  await hear('User owns a bicycle', 0.2);
  await hear('User decided to learn Portuguese');
  const shown = Object.fromEntries((await b.me('?app_id=app&limit=100')).memories.map((one) => [one.content, one.importance_score]));
  assert.equal(shown['User is allergic to peanuts'], 0.9);
  assert.equal(shown['User decided to learn Portuguese'], 0.65);
  assert.equal(shown['User owns a bicycle'], 0.2);
  const { log } = await b.ok('GET', '/memory/log?task_type=dedup');
  assert.deepEqual(log.map((one) => one.status), ['success', 'success']);
});

test('what a chat says is not kept again beside what says the same', async (t) => {
  const server = await serve(t);
  const { save, me } = api(server);
  const { id } = await save('User likes green tea');
  await server.tell('I really love green tea.');
  await server.tell('I hate green tea with milk.');
  const { memories } = await me();
  assert.deepEqual(memories.map((one) => one.content), ['hates green tea with milk', 'User likes green tea']);
  const kept = (await server.ask('GET', `/v1/memories/${id}`)).json();
  assert.equal(kept.uses, 3); // two chats were given it, and one said it again
  await server.tell('I live in Bergen.');
  await save('User lives in Oslo');
  await server.tell('I live in Oslo.');
  assert.deepEqual((await me()).memories.map((one) => one.content).slice(0, 2), ['lives in Oslo', 'User lives in Oslo']);
});

test('consolidation is shown first and then done', async (t) => {
  const server = await serve(t);
  const { ok, save } = api(server);
  await save('User has a bicycle');
  const report = await ok('POST', '/v1/memory/consolidate?dry_run=True');
  assert.deepEqual(report, { success: true, merged: 0, decayed: 0, deleted: 0, promoted: 0, looked_at: 1, dry_run: true });
  assert.deepEqual(await ok('POST', '/v1/memory/consolidate', { app_id: '*' }), { ...report, dry_run: false });
  assert.equal((await ok('POST', '/v1/memory/consolidate?app_id=nobody')).looked_at, 0);
});
