// distil.test.js - conversations become episodes by a scripted core model, through HTTP alone.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, tempFolder, until, upstream } = require('./lib');

const long = 'and there is a lot to be said about it, more than I can put into one message of a few lines.';
const distilled = (summary, more = {}) => JSON.stringify({
  episode: { summary, topics: ['boats'], decisions: [], action_items: [], salience: 0.7 }, entities: ['Ithaca'],
  pinned_candidates: [], identity_facts: [], ...more });

// A model that follows a script where the core model is asked; chats are answered at once.
async function core(t, script, flags = []) {
  const questions = [];
  const model = await upstream(t, async (req, res, asked) => {
    if (asked.json.model !== 'core') return answer(res, asked, 'I see, a boat.');
    questions.push(asked.json.messages.at(-1).content);
    const next = script.shift() ?? { status: 500 };
    if (next.meanwhile) await next.meanwhile();
    if (typeof next === 'string') return answer(res, asked, next);
    if (next.text) return answer(res, asked, next.text);
    res.writeHead(next.status, { 'content-type': 'application/json', ...next.headers }).end('{"error":{"message":"not today"}}');
  });
  const data = tempFolder();
  const all = ['--upstream', model.url, '--core-model', 'core', '--core-timeout-ms', '3000', ...flags];
  const server = await serve(t, { data, flags: all });
  return { server, questions, data, model, again: () => serve(t, { data, flags: all }) };
}
const json = (res) => {
  assert.equal(res.status, 200, res.text);
  return res.json();
};
const say = async (server, session, text, agent = 'sailor') =>
  json(await server.chat({ model: 'tiny', messages: [{ role: 'user', content: text }] }, { 'x-session-id': session, 'x-osaurus-agent-id': agent }));
const ingest = async (server, conversation_id, user, more = {}) =>
  json(await server.ask('POST', '/memory/ingest', {
    agent_id: 'sailor', conversation_id, turns: [{ user, assistant: 'A fine boat.' }], ...more }));
const status = async (server) => json(await server.ask('GET', '/memory/status'));
const episodes = async (server) =>
  json(await server.ask('GET', '/v1/memories?type=episodic', undefined, { 'x-osaurus-agent-id': 'sailor' })).memories
    .filter((m) => m.layer === 'episode');
const summaries = async (server) => (await episodes(server)).map((m) => m.content);

test('a conversation is distilled in the background when another one begins', async (t) => {
  const { server, questions } = await core(t, [distilled('The user bought a boat.', {
    pinned_candidates: [{ content: 'User bought a boat', salience: 0.8, tags: ['boats'] }] })]);
  await say(server, 'one', `I bought a boat, ${long}`);
  await say(server, 'two', `Now something else, ${long}`);
  await until('the first is distilled', async () => (await summaries(server)).length === 1);
  assert.deepEqual(await summaries(server), ['The user bought a boat.']);
  assert.equal((await status(server)).pending.sessions, 1);
  assert.equal(questions.length, 1);
  assert.match(questions[0], /I bought a boat/);
  assert.doesNotMatch(questions[0], /something else/);
});

test('what is learnt is sorted: as the model has it, else by its words', async (t) => {
  const sorted = [[['User uses pytest for testing', 'procedure'], ['Dana leads the team of the user', ' Relationship '],
    ['User prefers short answers', undefined], ['User decided on Lisbon', 'plan']], [['User owns a boat', undefined]]];
  const said = ['I use pytest for testing. Dana leads the team. I prefer short answers. I decided on Lisbon', 'I own a boat'];
  const { server } = await core(t, sorted.map((facts, i) => distilled(`The user said: ${said[i]}`, {
    pinned_candidates: facts.map(([content, type]) => ({ content, salience: 0.6, type })) })));
  for (const [i, text] of said.entries())
    json(await server.ask('POST', '/memory/ingest', { agent_id: 'default', conversation_id: `c${i}`,
      turns: [{ user: `${text}. ${long}`, assistant: 'Noted.' }] }));
  const of = async (type) => json(await server.ask('GET', `/api/v1/memory?memory_type=${type}`)).memories.map((m) => m.content);
  assert.ok((await of('procedure')).includes('User uses pytest for testing'));
  assert.ok((await of('relationship')).includes('Dana leads the team of the user'));
  assert.ok((await of('preference')).includes('User prefers short answers'));
  assert.ok((await of('context')).includes('User decided on Lisbon'));
  assert.ok((await of('fact')).includes('User owns a boat'));
});

test('broken JSON, a busy server and a refusal', async (t) => {
  const { server, questions } = await core(t, [
    '{"episode": {"summary": [', distilled('Mended.'),
    { status: 429 }, distilled('Waited.'),
    'I cannot do that.', 'I cannot do that.']);
  assert.equal((await ingest(server, 'c1', `I bought a boat, ${long}`)).distillation, 'distilled');
  assert.equal(questions.length, 2);
  assert.equal((await ingest(server, 'c2', `I bought a car, ${long}`)).distillation, 'distilled');
  assert.equal(questions.length, 4);
  assert.match((await ingest(server, 'c3', `I bought a house, ${long}`)).distillation, /^error:answer: /);
  assert.deepEqual((await summaries(server)).sort(), ['Mended.', 'Waited.']);
  assert.equal((await status(server)).pending.signals, 1);
});

test('a server that is down costs one question, and nothing is lost', async (t) => {
  const { server, questions } = await core(t, [{ status: 401 }]);
  assert.match((await ingest(server, 'c1', `I bought a boat, ${long}`)).distillation, /^error:/);
  assert.equal((await ingest(server, 'c2', `I bought a car, ${long}`)).distillation, 'skipped:breaker_open');
  assert.equal(questions.length, 1);
  assert.equal((await status(server)).pending.signals, 2);
});

test('a job over all spaces ends when the conversations are distilled, and not before', async (t) => {
  let let_go;
  const held = new Promise((done) => (let_go = done));
  const { server } = await core(t, [{ meanwhile: () => held, text: distilled('The user bought a boat.') }, { status: 401 }]);
  const watch = async (id, states) => until(states.join(), async () => {
    const job = json(await server.ask('GET', `/v1/jobs/${id}`));
    return states.includes(job.state) && job;
  });
  const begin = async () => (await server.ask('POST', '/v1/jobs', { kind: 'distil' })).json();
  await say(server, 'one', `I bought a boat, ${long}`);
  const job = await begin();
  await until('it counts', async () => json(await server.ask('GET', `/v1/jobs/${job.id}`)).total === 1);
  assert.equal((await watch(job.id, ['running', 'done', 'failed'])).state, 'running');
  let_go();
  assert.deepEqual((await watch(job.id, ['done', 'failed'])).result, { sessions: 1, waiting: 0, reason: null });
  assert.deepEqual(await summaries(server), ['The user bought a boat.']);
  await say(server, 'two', `I bought a car, ${long}`);
  const failed = await watch((await begin()).id, ['done', 'failed']);
  assert.equal(failed.state, 'failed');
  assert.match(failed.error, /^conversations still wait: the core model refused the key/);
  assert.equal(failed.result.waiting, 1);
});

test('a job ends when the model has no usable answer for what still waits', async (t) => {
  const { server, questions } = await core(t, ['I cannot do that.', 'I cannot do that.']);
  await say(server, 'one', `I bought a boat, ${long}`);
  const { id } = (await server.ask('POST', '/v1/jobs', { kind: 'distil' })).json();
  await until('the model was asked', () => questions.length === 2);
  const job = await until('the job has ended', async () => {
    const now = json(await server.ask('GET', `/v1/jobs/${id}`));
    return now.ended && now;
  }, 10000);
  assert.equal(job.state, 'failed');
  assert.match(job.error, /^conversations still wait: answer: .*; retried within the hour$/);
  assert.equal(job.result.waiting, 1);
});

test('the same conversation again leaves one episode, dated as given', async (t) => {
  const { server } = await core(t, [distilled('Once.'), distilled('Twice.')]);
  for (const _ of [1, 2]) {
    const out = await ingest(server, 'c1', `I bought a boat, ${long}`, { session_date: '2023-05-08T10:00:00Z' });
    assert.equal(out.distillation, 'distilled');
    assert.match(out.episode_id, /^[0-9a-f-]{36}$/);
  }
  const [episode, ...others] = await episodes(server);
  assert.deepEqual([episode.content, others.length], ['Twice.', 0]);
  assert.match(JSON.stringify(episode), /2023-05-08T10:00:00/);
});

test('killed while the model answers, the turn waits and is there once', async (t) => {
  const script = [];
  const { server, again } = await core(t, script);
  script.push({ meanwhile: () => server.stop('SIGKILL'), text: distilled('Never kept.') });
  await say(server, 'one', `I bought a boat, ${long}`);
  await say(server, 'two', `Now something else, ${long}`);
  await server.exited;
  const next = await again();
  assert.equal((await status(next)).pending.signals, 2);
  assert.deepEqual(await summaries(next), []);
});

test('every turn of a long conversation is distilled before the answer', async (t) => {
  const sailed = distilled('The user sailed the boat from harbour to harbour.');
  const { server, questions } = await core(t, Array(5).fill(sailed));
  const turns = Array.from({ length: 300 }, (_, i) => ({ user: `Today I sailed my boat to harbour number ${i}.`, assistant: 'A fine harbour.' }));
  const out = json(await server.ask('POST', '/memory/ingest', { agent_id: 'sailor', conversation_id: 'log', turns }));
  assert.equal(out.distillation, 'distilled');
  assert.equal(questions.length, 5);
  for (let i = 0; i < 300; i++)
    assert.equal(questions.filter((q) => q.includes(`number ${i}.`)).length, 1, `turn ${i}`);
  assert.equal((await status(server)).pending.signals, 0);
});

test('what the user did not say is kept, and no chat shows it as certain', async (t) => {
  const { server, model } = await core(t, [distilled('The user bought a boat.', {
    pinned_candidates: [{ content: 'User keeps bees', salience: 0.9 }], identity_facts: ['User is a beekeeper'] })]);
  assert.equal((await ingest(server, 'one', `I bought a boat, ${long}`)).distillation, 'distilled');
  await say(server, 'two', 'What do you know about me and my bees?');
  const lines = model.asked.filter((one) => one.json.model !== 'core').at(-1).json.messages.at(-1).content
    .split('\n').filter((line) => /bee-?keep|keeps bees/.test(line));
  assert.ok(lines.length > 0);
  for (const line of lines) assert.match(line, /not confirmed/);
  const kept = json(await server.ask('GET', '/v1/memories', undefined, { 'x-osaurus-agent-id': 'sailor' })).memories;
  const bees = kept.find((m) => m.content === 'User keeps bees');
  assert.equal(bees.metadata.unconfirmed, true);
  assert.ok(bees.importance <= 0.3);
});

test('episodeRetentionDays prunes the transcript once someone has set it', async (t) => {
  const { server } = await core(t, [distilled('The user bought a boat.')]);
  await ingest(server, 'old', `I bought a boat, ${long}`, { session_date: '2020-03-05' });
  const turns = async () => (await status(server)).counts.turns;
  json(await server.ask('POST', '/memory/consolidate', {}));
  assert.equal(await turns(), 2);
  json(await server.ask('PUT', '/memory/config', { episodeRetentionDays: 365 }));
  assert.equal(json(await server.ask('POST', '/memory/consolidate', { dry_run: true })).report.pruned, 1);
  assert.equal(await turns(), 2);
  assert.equal(json(await server.ask('POST', '/memory/consolidate', {})).report.pruned, 1);
  assert.equal(await turns(), 0);
});

test('an erased message comes back with its episode, also when the rest was distilled meanwhile', async (t) => {
  const { server, questions } = await core(t, [distilled('A boat and a car.'), distilled('A car.'), distilled('A boat, then a car.')]);
  const turns = ['boat', 'car'].map((what) => ({ user: `I bought a ${what}, ${long}`, assistant: 'A fine one.' }));
  await ingest(server, 'c1', '', { turns });
  assert.deepEqual(await summaries(server), ['A boat and a car.']);
  const messages = json(await server.ask('GET', '/v1/sessions/c1/messages?space=sailor')).items;
  const gone = json(await server.ask('DELETE', `/v1/memories/${messages[0].id}?undo=true&space=sailor`));
  await until('the rest is distilled', async () => (await summaries(server))[0] === 'A car.');
  assert.deepEqual(json(await server.ask('POST', `/v1/undo/${gone.undo}?space=sailor`)), { restored: 2 });
  await until('and the whole', async () => (await summaries(server))[0] === 'A boat, then a car.');
  assert.match(questions.at(-1), /earlier_summary_of_this_conversation":"A boat and a car/);
  assert.deepEqual(json(await server.ask('GET', '/v1/sessions/c1/messages?space=sailor')).items, messages);
});

for (const script of [[], [distilled('A boat and a car.'), distilled('A car.')]])
  test(`what somebody wrote about a session stays when an erased message of it comes back, distilled ${script.length} times`, async (t) => {
    const { server } = await core(t, [...script]);
    await ingest(server, 'c1', '', { turns: ['boat', 'car'].map((what) => ({ user: `I bought a ${what}, ${long}`, assistant: 'A fine one.' })) });
    const [first] = json(await server.ask('GET', '/v1/sessions/c1/messages?space=sailor')).items;
    const gone = json(await server.ask('DELETE', `/v1/memories/${first.id}?undo=true&space=sailor`));
    await until('the rest is distilled', async () => !script.length || (await summaries(server))[0] === 'A car.');
    const written = await server.ask('POST', '/v1/memories?space=sailor', { layer: 'episode', session: 'c1', content: 'By hand.', type: 'episodic' });
    assert.equal(written.status, 201, written.text);
    assert.ok(json(await server.ask('POST', `/v1/undo/${gone.undo}?space=sailor`)).restored >= 1);
    assert.ok((await summaries(server)).includes('By hand.'), JSON.stringify(await summaries(server)));
  });

test('a question that took its words from an erased message shows them no more', async (t) => {
  const { server } = await core(t, []);
  const ask = async (session, ...said) => server.receipt((await server.chat({ model: 'x', messages: said.map((content, i) =>
    ({ role: i % 2 ? 'assistant' : 'user', content })) }, { 'x-session-id': session })).headers['x-rememberd-receipt']);
  await ask('c', 'My cat Zorblax sleeps a lot.');
  const [first] = json(await server.ask('GET', '/v1/sessions/c/messages')).items;
  const { id, question } = await ask('c', 'My cat Zorblax sleeps a lot.', 'I see, a boat.', 'How old is she?');
  assert.match(question, /Zorblax/);
  const plain = await ask('c', 'My cat Zorblax sleeps a lot.', 'I see, a boat.', 'How old is she?', 'I see, a boat.', 'I live in Lisbon.');
  json(await server.ask('DELETE', `/v1/memories/${first.id}`));
  assert.equal((await server.ask('GET', `/v1/receipts/${id}`)).status, 404);
  assert.equal((await server.ask('GET', `/v1/receipts/${plain.id}`)).status, 200);
});
