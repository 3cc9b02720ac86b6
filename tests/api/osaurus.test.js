// osaurus.test.js - Osaurus's endpoints: conversations brought in whole, agents, and whose they are.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, run, serve, until, upstream, inlined } = require('./lib');

const turns = [
  { user: 'Hi, my name is Alice', assistant: 'Hello Alice!' },
  { user: 'I work at Acme Corp and I prefer green tea over coffee in the morning.', assistant: 'Got it.' },
];
const batch = { agent_id: 'my-agent', conversation_id: 'session-1', turns };
const bearer = (token) => ({ authorization: `Bearer ${token}` });

const episode = (summary, more = {}) => ({
  episode: { summary, topics: ['tea'], decisions: [], action_items: [], salience: 0.7 },
  entities: ['Acme Corp'], pinned_candidates: [{ content: 'User prefers green tea over coffee', salience: 0.8, tags: ['tea'] }],
  identity_facts: ["User's name is Alice"], ...more });

// A server whose core model says what `say` gives for each question.
async function withCore(t, say = () => episode('Alice told where she works and which tea she likes.')) {
  const model = await upstream(t, async (req, res, asked) => {
    const said = await say(asked, res);
    if (said !== undefined) answer(res, asked, typeof said === 'string' ? said : JSON.stringify(said));
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--core-model', 'tiny'] });
  return { model, server, ingest: (body, headers) => server.ask('POST', '/memory/ingest', body, headers) };
}

const as = (agent, more = {}) => ({ 'x-osaurus-agent-id': agent, ...more });
const layer = async (server, agent, name, headers = {}) =>
  (await server.ask('GET', '/v1/memories?limit=500', undefined, as(agent, headers))).json().memories.filter((one) => one.layer === name);

const ok = (res, status = 200) => {
  assert.equal(res.status, status, res.text);
  assert.match(res.headers['content-type'], /^application\/json/);
  return res.json();
};

test('the example of its document: without a core model the turns are kept and wait', async (t) => {
  const server = await serve(t);
  const said = ok(await server.ask('POST', '/memory/ingest', batch));
  assert.deepEqual(said, { status: 'ok', turns_ingested: 2, distillation: 'skipped:core_model_unset' });
  const { agents } = ok(await server.ask('GET', '/agents'));
  assert.deepEqual(agents.map((one) => [one.id, one.memory_entry_count]), [['my-agent', 0]]);
  const state = ok(await server.ask('GET', '/memory/status'));
  assert.deepEqual([state.pending.signals, state.pending.sessions, state.counts.turns, state.core_model], [2, 1, 4, null]);
  const found = ok(await server.ask('POST', '/v1/memories/search', { query: 'Where do I work?' }, as('my-agent')));
  assert.match(found.results[0].text, /Acme Corp/);
});

test('with one it is distilled before the answer, into an episode of the given day', async (t) => {
  const { server, model, ingest } = await withCore(t);
  const said = ok(await ingest({ ...batch, session_date: '2026-03-05' }));
  assert.deepEqual({ ...said, episode_id: '' }, { status: 'ok', turns_ingested: 2, distillation: 'distilled', episode_id: '' });
  assert.equal(model.asked.length, 1);
  const question = JSON.stringify(model.last().json.messages);
  assert.match(question, /2026-03-05/);
  assert.match(question, /Acme Corp/);
  const [made, ...more] = await layer(server, 'my-agent', 'episode');
  assert.deepEqual(more, []);
  assert.equal(made.id, said.episode_id);
  assert.equal(made.content, 'Alice told where she works and which tea she likes.');
  assert.equal(made.created, '2026-03-05T00:00:00.000Z');
  assert.deepEqual((await layer(server, 'my-agent', 'fact')).map((one) => one.content), ['User prefers green tea over coffee']);
  assert.deepEqual((await layer(server, 'my-agent', 'identity')).map((one) => one.content), ["User's name is Alice"]);
  const state = ok(await server.ask('GET', '/memory/status'));
  assert.deepEqual([state.pending.signals, state.counts.pinned, state.counts.episodes], [0, 1, 1]);
  assert.ok(state.processing.calls === 1 && state.processing.input_tokens > 0 && state.processing.failures === 0, JSON.stringify(state.processing));
});

test('again leaves one conversation and one episode, dated as given', async (t) => {
  const { server, ingest } = await withCore(t);
  const first = ok(await ingest({ ...batch, session_date: '2026-03-05T10:00:00Z' }));
  const again = ok(await ingest({ ...batch, session_date: '2026-04-06T10:00:00+02:00' }));
  assert.equal(again.distillation, 'distilled');
  assert.equal(again.episode_id, first.episode_id);
  const episodes = await layer(server, 'my-agent', 'episode');
  assert.deepEqual(episodes.map((one) => one.created), ['2026-04-06T08:00:00.000Z']);
  const { counts } = ok(await server.ask('GET', '/memory/status?agent_id=my-agent'));
  assert.deepEqual(counts, { agents: 1, pinned: 1, episodes: 1, sessions: 1, turns: 4 });
});

test('the same four times at once leaves one conversation and one episode', async (t) => {
  const { server, ingest } = await withCore(t);
  for (const res of await Promise.all([1, 2, 3, 4].map(() => ingest({ ...batch, session_date: '2026-03-05' })))) ok(res);
  await until('all is distilled', async () => {
    const { pending, counts } = ok(await server.ask('GET', '/memory/status'));
    return pending.signals === 0 && counts.turns === 4 && counts.episodes === 1 && counts.pinned === 1;
  });
  assert.deepEqual((await layer(server, 'my-agent', 'episode')).map((one) => one.created), ['2026-03-05T00:00:00.000Z']);
});

test('fewer turns take the place of more, and none the place of some', async (t) => {
  const { server, ingest } = await withCore(t);
  ok(await ingest(batch));
  assert.equal(ok(await ingest({ ...batch, turns: turns.slice(1) })).turns_ingested, 1);
  assert.equal(ok(await server.ask('GET', '/memory/status')).counts.turns, 2);
  assert.deepEqual(ok(await ingest({ ...batch, turns: [] })), { status: 'ok', turns_ingested: 0, distillation: 'no_signals' });
  const { counts } = ok(await server.ask('GET', '/memory/status'));
  assert.deepEqual([counts.turns, counts.episodes, counts.pinned], [0, 0, 0]);
});

test('a turn has its own day, else the session\'s, else now', async (t) => {
  const server = await serve(t);
  const began = Date.now();
  ok(await server.ask('POST', '/memory/ingest', { ...batch, session_date: '2026-03-05', turns: [
    { user: 'The zebra is first', assistant: 'a', date: '2026-01-02T03:04:05Z' }, { user: 'The walrus is second', assistant: 'b', date: null },
    { user: 'The yak is third', assistant: 'c', date: '2026-02-03' }] }));
  ok(await server.ask('POST', '/memory/ingest', { ...batch, conversation_id: 's2', turns: [{ user: 'The panda is now', assistant: '' }] }));
  const day = async (animal) => {
    const found = ok(await server.ask('POST', '/v1/memories/search', { query: animal }, as('my-agent')));
    return found.results.find((one) => one.text.includes(animal)).created;
  };
  ok(await server.ask('POST', '/memory/ingest', { ...batch, conversation_id: 's3', session_date: '1944-06-06', turns: [{ user: 'The lynx is in an old letter', assistant: '' }] }));
  assert.equal(await day('lynx'), '1944-06-06T00:00:00.000Z');
  assert.equal(await day('zebra'), '2026-01-02T03:04:05.000Z');
  assert.equal(await day('walrus'), '2026-03-05T00:00:00.000Z');
  assert.equal(await day('yak'), '2026-02-03T00:00:00.000Z');
  assert.ok(Date.parse(await day('panda')) >= began);
});

test('skip_extraction keeps the turns and asks nobody, then or later', async (t) => {
  const { server, model, ingest } = await withCore(t);
  assert.deepEqual(ok(await ingest({ ...batch, skip_extraction: true })), { status: 'ok', turns_ingested: 2 });
  const state = ok(await server.ask('GET', '/memory/status'));
  assert.deepEqual([state.pending.signals, state.counts.turns, state.counts.episodes], [0, 4, 0]);
  assert.equal(ok(await server.ask('POST', '/memory/sync', {})).sessions, 0);
  assert.equal(model.asked.length, 0);
  assert.equal(ok(await ingest({ ...batch, skip_extraction: false })).distillation, 'distilled');
});

test('what comes of it is told in its words', async (t) => {
  let said;
  const { model, ingest } = await withCore(t, (asked, res) => {
    if (said === 500) res.writeHead(500).end('{}');
    else return said;
  });
  assert.match(ok(await ingest({ ...batch, turns: [{ user: 'Hi', assistant: 'Hello' }] })).distillation, /^skipped:low_novelty:\d+chars$/);
  assert.equal(model.asked.length, 0);
  said = episode('');
  assert.equal(ok(await ingest(batch)).distillation, 'empty:empty_summary');
  said = 'I cannot help with that.';
  assert.match(ok(await ingest(batch)).distillation, /^error:/);
  said = 500;
  const failed = ok(await ingest(batch));
  assert.match(failed.distillation, /^error:/);
  assert.ok(!('episode_id' in failed));
  assert.equal(failed.turns_ingested, 2, 'the turns are kept all the same');
});

test('many at once leave room for chats: what the model is too busy for waits, and is distilled', async (t) => {
  const held = [];
  let open = false;
  const { server, model, ingest } = await withCore(t, async (asked) => {
    if (asked.json.model !== 'tiny') return 'fine';
    if (!open) await new Promise((done) => held.push(done));
    return episode('Alice told where she works.');
  });
  const all = Array.from({ length: 8 }, (_, i) => ingest({ ...batch, conversation_id: `s${i}` }));
  // Six are answered although the model says nothing, and so is a chat.
  const first = [];
  for (const one of all) one.then((res) => first.push(res.json().distillation));
  await until('the six', () => first.length === 6);
  assert.deepEqual([...new Set(first)], ['pending:busy']);
  assert.equal((await server.chat({ model: 'any', messages: [{ role: 'user', content: 'hi' }] })).status, 200);
  open = true;
  await until('all are asked for', () => { held.splice(0).forEach((done) => done()); return first.length === 8; });
  assert.deepEqual(first.slice(6), ['distilled', 'distilled']);
  await until('the others', async () => (await server.ask('GET', '/memory/status')).json().counts.episodes === 8);
  assert.equal(model.asked.filter((one) => one.json.model === 'tiny').length, 8, 'each is asked for once');
});

test('what breaks a rule is a 400 that names it, and nothing is kept', async (t) => {
  const server = await serve(t);
  const turn = turns[0], text = (n) => 'x'.repeat(n);
  const cases = [
    [{ ...batch, agent_id: undefined }, 'agent_id', /is required/], [{ ...batch, agent_id: null }, 'agent_id', /is required/],
    [{ ...batch, agent_id: 7 }, 'agent_id', /string/], [{ ...batch, agent_id: '' }, 'agent_id', /empty/],
    [{ ...batch, agent_id: ' \n' }, 'agent_id', /empty/], [{ ...batch, agent_id: text(201) }, 'agent_id', /200/],
    [{ ...batch, conversation_id: undefined }, 'conversation_id', /is required/], [{ ...batch, conversation_id: '' }, 'conversation_id', /empty/],
    [{ ...batch, conversation_id: text(256) }, 'conversation_id', /255/], [{ ...batch, conversation_id: 'a\nb' }, 'conversation_id', /control character/],
    [{ ...batch, turns: undefined }, 'turns', /is required/], [{ ...batch, turns: {} }, 'turns', /array/], [{ ...batch, turns: 'x' }, 'turns', /array/],
    [{ ...batch, turns: [turn, 'x'] }, 'turns[1]', /object/], [{ ...batch, turns: [{ assistant: 'x' }] }, 'turns[0].user', /is required/],
    [{ ...batch, turns: [turn, turn, { user: 'x' }] }, 'turns[2].assistant', /is required/],
    [{ ...batch, turns: [{ user: 1, assistant: 'x' }] }, 'turns[0].user', /string/],
    [{ ...batch, turns: [{ ...turn, date: 'yesterday' }] }, 'turns[0].date', /ISO 8601/], [{ ...batch, turns: [{ ...turn, date: 5 }] }, 'turns[0].date', /ISO 8601/],
    [{ ...batch, session_date: '2026-02-30' }, 'session_date', /ISO 8601/], [{ ...batch, session_date: '' }, 'session_date', /ISO 8601/],
    [{ ...batch, skip_extraction: 'yes' }, 'skip_extraction', /true or false/],
    ['{"agent_id":', undefined, /./], ['[]', undefined, /object/], ['', 'agent_id', /is required/],
  ];
  for (const [body, field, rule] of cases) {
    const said = ok(await server.ask('POST', '/memory/ingest', body), 400);
    assert.equal(said.error, 'invalid_request', JSON.stringify(body));
    assert.equal(said.field, field, JSON.stringify(body));
    assert.match(said.message, rule);
    assert.ok(said.message.startsWith(`Invalid request format. ${field ? `${field}: ` : ''}`), said.message);
  }
  assert.deepEqual(ok(await server.ask('GET', '/agents')), { agents: [] });
});

test('what stands at a limit, and what no rule names, is taken', async (t) => {
  const server = await serve(t);
  const body = { agent_id: 'x'.repeat(200), conversation_id: 'y'.repeat(255), session_date: null, skip_extraction: null, title: 'unknown',
    turns: [{ user: '', assistant: '' }, { user: '', assistant: 'only an answer' }, { ...turns[0], speaker: 'unknown' }] };
  assert.equal(ok(await server.ask('POST', '/memory/ingest', body)).turns_ingested, 3);
  assert.equal(ok(await server.ask('GET', '/memory/status')).counts.turns, 3);
  ok(await server.ask('POST', '/memory/ingest', { ...batch, agent_id: ' padded ' }));
  assert.deepEqual(ok(await server.ask('GET', '/agents')).agents.map((one) => one.id), ['padded', 'x'.repeat(200)]);
});

test('switched off, nothing is taken and the answer says how to switch it on', async (t) => {
  const server = await serve(t, { flags: ['--memory', 'off'] });
  for (const path of ['/memory/ingest', '/memory/sync', '/memory/consolidate']) {
    const said = ok(await server.ask('POST', path, path === '/memory/ingest' ? batch : {}), 503);
    assert.equal(said.error, 'memory_disabled', path);
    assert.match(said.message, /PUT \/memory\/config/);
  }
  assert.deepEqual(ok(await server.ask('GET', '/agents')).agents, []);
  assert.equal(ok(await server.ask('GET', '/memory/status')).enabled, false);
  ok(await server.ask('PUT', '/memory/config', { enabled: true }));
  assert.equal(ok(await server.ask('POST', '/memory/ingest', batch)).status, 'ok');
});

test('agents have exactly the members of the document', async (t) => {
  const server = await serve(t);
  const began = Date.now();
  for (const agent of ['b agent/1', 'a']) ok(await server.ask('POST', '/memory/ingest', { ...batch, agent_id: agent, skip_extraction: true }));
  for (const content of ['User likes tea', 'User has a dog']) await server.ask('POST', '/v1/memories', { content }, as('a'));
  await server.ask('POST', '/v1/memories', { content: 'They talked.', layer: 'episode' }, as('a'));
  const { agents, ...rest } = ok(await server.ask('GET', '/agents'));
  assert.deepEqual(rest, {});
  assert.deepEqual(agents.map((one) => [one.id, one.memory_entry_count]), [['a', 2], ['b agent/1', 0]]);
  for (const one of agents) {
    const { id, memory_entry_count, created_at, updated_at, ...more } = one;
    assert.deepEqual(more, { name: id, description: '', default_model: null, effective_model: null, supports_thinking: false, supports_vision: false, is_built_in: false });
    assert.ok(Date.parse(created_at) >= began && Date.parse(updated_at) >= Date.parse(created_at) && memory_entry_count >= 0);
    assert.deepEqual(ok(await server.ask('GET', `/agents/${encodeURIComponent(id)}`)), one);
  }
  for (const id of ['nobody', 'A', '%20', 'x'.repeat(300)]) {
    const said = ok(await server.ask('GET', `/agents/${id}`), 404);
    assert.deepEqual(said, { error: 'agent_not_found', message: 'There is no agent with this id.' });
  }
});

// Two users; of each a token with a space of its own, one for the space "shared", and an admin's.
async function twoUsers(t, flags = []) {
  const server = await serve(t, { flags });
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout);
  const users = {};
  for (const user of ['ada', 'bob']) {
    const plain = await make('--user', user), shared = await make('--user', user, '--space', 'shared'), admin = await make('--user', user, '--admin');
    const by = (token) => (method, path, body) => server.ask(method, path, body, bearer(token.token));
    users[user] = { plain, shared, admin, asPlain: by(plain), asShared: by(shared), asAdmin: by(admin) };
  }
  return { server, ...users };
}

test('each endpoint needs a token as soon as there are some, and settings an admin\'s', async (t) => {
  const { server, ada } = await twoUsers(t);
  const all = [['POST', '/memory/ingest', batch], ['GET', '/agents'], ['GET', '/agents/shared'], ['GET', '/memory/config'], ['PUT', '/memory/config', {}],
    ['GET', '/memory/status'], ['POST', '/memory/sync', {}], ['POST', '/memory/consolidate', {}], ['GET', '/memory/log']];
  for (const [method, path, body] of all) {
    for (const headers of [{}, bearer('wrong'), { 'x-osaurus-agent-id': 'shared' }]) {
      const said = ok(await server.ask(method, path, body, headers), 401);
      assert.equal(said.error, 'unauthorized', path);
    }
  }
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--admin', '--data', server.data])).stdout);
  for (const [method, body] of [['GET'], ['PUT', { enabled: false }]])
    assert.equal(ok(await ada.asPlain(method, '/memory/config', body), 403).error, 'forbidden');
  assert.equal((await ada.asAdmin('GET', '/memory/config')).status, 200);
  assert.equal(ok(await ada.asAdmin('PUT', '/memory/config', { enabled: false }), 403).error, 'forbidden', 'that would be for everyone');
  assert.equal((await server.ask('PUT', '/memory/config', {}, bearer(token))).status, 200);
  assert.equal((await ada.asPlain('GET', '/memory/status')).json().enabled, true);
});

test('no user and no other token sees what is not its own', async (t) => {
  const { ada, bob } = await twoUsers(t);
  const own = (token) => ({ ...batch, agent_id: token.space });
  for (const one of [ada, bob]) {
    ok(await one.asPlain('POST', '/memory/ingest', own(one.plain)));
    ok(await one.asShared('POST', '/memory/ingest', own(one.shared)));
  }
  // The same name of another user is another agent.
  ok(await ada.asPlain('POST', '/memory/ingest', { ...batch, agent_id: 'free', turns: [turns[0]] }));
  const ids = async (ask) => ok(await ask('GET', '/agents')).agents.map((one) => one.id).sort();
  assert.deepEqual(await ids(ada.asPlain), [ada.plain.space, 'free', 'shared'].sort());
  assert.deepEqual(await ids(ada.asShared), ['free', 'shared']);
  assert.deepEqual(await ids(ada.asAdmin), [ada.plain.space, 'free', 'shared'].sort());
  assert.deepEqual(await ids(bob.asAdmin), [bob.plain.space, 'shared'].sort());

  const missing = ok(await bob.asAdmin('GET', '/agents/nobody'), 404);
  for (const [ask, id] of [[bob.asAdmin, ada.plain.space], [bob.asAdmin, 'free'], [ada.asShared, ada.plain.space]])
    assert.deepEqual(ok(await ask('GET', `/agents/${id}`), 404), missing);

  // Another token's own space is neither written nor looked at; an admin of its user may.
  const theirs = ada.plain.space, q = `?agent_id=${theirs}`;
  const tries = [['POST', '/memory/ingest', own(ada.plain)], ['GET', `/memory/status${q}`], ['GET', `/memory/log${q}`],
    ['POST', '/memory/sync', { agent_id: theirs }], ['POST', '/memory/consolidate', { agent_id: theirs }]];
  for (const [method, path, body] of tries) {
    const said = ok(await ada.asShared(method, path, body), 403);
    assert.deepEqual(said, { error: 'forbidden', message: "agent_id: belongs to another token" }, path);
    assert.equal((await ada.asAdmin(method, path, body)).status, 200, path);
    assert.equal((await ada.asPlain(method, path, body)).status, 200, path);
  }
  // Bob may have a space of that name himself, and then it is not hers.
  ok(await bob.asPlain('POST', '/memory/ingest', { ...own(ada.plain), turns: [] }));
  const counts = async (ask, agent) => ok(await ask('GET', `/memory/status${agent ? `?agent_id=${agent}` : ''}`)).counts.turns;
  assert.equal(await counts(bob.asPlain, theirs), 0);
  assert.equal(await counts(ada.asPlain), 4);
  assert.equal(await counts(ada.asAdmin), 10);
  assert.equal(await counts(bob.asAdmin), 8);
  // What the whole server spent is an admin's to see.
  assert.equal(ok(await ada.asPlain('GET', '/memory/status')).processing, null);
  assert.equal(typeof ok(await ada.asAdmin('GET', '/memory/status')).processing.database_bytes, 'number');
});

test('everything is described, and an unknown method or path is refused', async (t) => {
  const server = await serve(t);
  const { paths } = inlined((await server.ask('GET', '/openapi.json')).json());
  const properties = (path, method) => Object.keys(paths[path][method].requestBody.content['application/json'].schema.properties);
  assert.deepEqual(properties('/memory/ingest', 'post'), ['agent_id', 'conversation_id', 'turns', 'session_date', 'skip_extraction', 'space']);
  assert.equal(properties('/memory/config', 'put').length, 10);
  assert.deepEqual(paths['/memory/log'].get.parameters.filter((one) => !one.$ref).map((one) => one.name), ['agent_id', 'task_type', 'limit']);
  const turn = paths['/memory/ingest'].post.requestBody.content['application/json'].schema.properties.turns.items;
  assert.deepEqual([Object.keys(turn.properties), turn.required], [['user', 'assistant', 'date'], ['user', 'assistant']]);
  for (const [path, methods] of Object.entries({ '/memory/ingest': ['post'], '/agents': ['get'], '/agents/{id}': ['get'], '/memory/config': ['get', 'put'],
    '/memory/status': ['get'], '/memory/sync': ['post'], '/memory/consolidate': ['post'], '/memory/log': ['get'] }))
    assert.deepEqual(Object.keys(paths[path]), methods);
  const said = await server.ask('GET', '/memory/ingest');
  assert.deepEqual([said.status, said.json().error], [405, 'unsupported']);
});
