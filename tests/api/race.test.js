// race.test.js - a question that follows an answer at once finds what was said before the answer.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const test = require('node:test');
const { answer, serve, until, upstream } = require('./lib');

const rooms = ['attic', 'cellar', 'pantry', 'porch', 'garage', 'hallway', 'study', 'laundry', 'balcony', 'workshop',
  'library', 'nursery', 'kitchen', 'conservatory', 'greenhouse', 'stable', 'barn', 'boathouse', 'chapel', 'tower'];
const things = ['violin', 'lantern', 'compass', 'kettle', 'tripod', 'saddle', 'anvil', 'globe', 'sextant', 'loom',
  'piano', 'sledge', 'kayak', 'tent', 'easel', 'telescope', 'typewriter', 'unicycle', 'barometer', 'harp'];

// Calls back with the last byte, before the connection is done with the answer.
const chat = (server, content, stream, { model = 'any', ...headers } = {}) => new Promise((done, fail) => {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content }] });
  const req = http.request(`${server.url}/v1/chat/completions`, { method: 'POST', agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers } });
  req.once('error', fail);
  req.once('response', (res) => {
    let text = '';
    res.setEncoding('utf8').on('data', (part) => {
      text += part;
      if (stream ? text.includes('[DONE]') : Buffer.byteLength(text) === Number(res.headers['content-length'])) done(text);
    });
    res.once('error', fail).once('end', () => done(text));
  });
  req.end(body);
});

for (const stream of [false, true]) {
  test(`the next question finds the turn before (stream: ${stream})`, async (t) => {
    const model = await upstream(t, (req, res, asked) => answer(res, asked, ['All', ' right.']));
    const server = await serve(t, { flags: ['--upstream', model.url] });
    const missed = [];
    for (let i = 0; i < things.length; i++) {
      await chat(server, `I have put the ${things[i]} into the ${rooms[i]}.`, stream);
      await chat(server, `Where did I put the ${things[i]}?`, stream);
      if (!model.asked.at(-1).body.toString().includes(rooms[i])) missed.push(things[i]);
    }
    assert.deepEqual(missed, []);
  });
}

test('a fact that was taken from the turn is found with the next request', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, ['Noted.']));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await chat(server, 'I am allergic to hazelnuts.', true);
  const found = await server.ask('GET', '/v1/memories');
  assert.equal(found.status, 200, found.text);
  assert.match(found.text, /hazelnuts/);
});

// --- what a client asks for as soon as it has its answer ---

const has = (list, id) => list.find((one) => one.id === id);
/**
 * [a call, whether its answer knows what the chat has said, its body, a GET whose answer is looked at instead]. Each round says "I
 * have moved to Bergen." in a session and a space of its own, whose memory before that is {old}: "lives in Oslo". {NAME} is a name
 * of the round.
 */
const asked = [
  ['GET /v1/memories/{old}', (one) => one.valid_to !== null],
  ['GET /v1/memories/{old}/history', (page) => page.items.some((one) => one.event === 'superseded')],
  ['PATCH /v1/memories/{old}', (one) => one.detail === 'the memory is archived', { importance: 0.4 }],
  ['POST /v1/memories', (one) => one.source !== '', { content: 'moved to Bergen', session: '{session}', space: '{space}' }],
  ['POST /v1/memories', (page) => page.memories.map((one) => one.content).join() === 'lives in Turku',
    { content: 'lives in Turku', key: 'entity:lives_in', space: '{space}' }, 'GET /v1/memories?space={space}'],
  ['PUT /api/memory/{old}', (page) => page.memories.map((one) => one.content).join() === 'moved to Bergen', { content: 'lives in Turku' },
    'GET /v1/memories?space={space}'],
  ['GET /v1/receipts?session={session}&space={space}', (page) => page.items.length === 1],
  ['GET /v1/sessions', (page, { session }) => has(page.sessions, session)?.message_count === 2],
  ['GET /v1/session/{session}', (one) => one.title === 'I have moved to Bergen.'],
  ['GET /v1/session/{session}/history', (page) => page.messages.length === 2],
  ['GET /v1/sessions/{session}/messages', (page) => page.items.length === 2],
  ['GET /v1/sessions/{session}/memories', (page) => page.total === 1],
  ['GET /v1/sessions/{session}/receipts', (page) => page.items.length === 1],
  ['PATCH /v1/session/{session}', (one) => one.title === 'Mine', { title: 'Mine' }],
  ['DELETE /v1/session/{session}', (one) => one.error.code === 'SESSION_NOT_FOUND', undefined, 'GET /v1/session/{session}'],
  ['GET /v1/spaces', (page, { space }) => page.items.find((one) => one.space === space).messages === 4],
  ['GET /v1/stats?space={space}', (one) => one.messages === 4 && one.memories.closed === 1],
  ['GET /v1/stats/series?metric=messages&space=*', (page, { i }) => page.items.at(-1).total === 4 * (i + 1)],
  ['GET /agents', (page, { space, at }) => has(page.agents, space).updated_at > at],
  ['GET /agents/{space}', (one, { at }) => one.updated_at > at],
  ['GET /memory/status?agent_id={space}', (one) => one.counts.turns === 4 && one.pending.signals === 2],
  ['POST /memory/sync', (one) => one.sessions === 2, { agent_id: '{space}' }],
  ['GET /v1/entities/', (page, { session }) => has(page.results, session)],
];
const filled = (text, names) => text.replace(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole);
for (const [call, knows, body, then] of asked) {
  test(`an answer is known to the next request: ${call}${body ? ` ${JSON.stringify(body)}` : ''}`, async (t) => {
    const server = await serve(t), model = 'rememberd/demo';
    for (let i = 0; i < 10; i++) {
      const space = `space-${i}`, session = `talk-${i}`;
      await chat(server, 'I live in Oslo.', false, { model, 'x-memory-space': space });
      const [old] = (await server.ask('GET', `/v1/memories?space=${space}`)).json().memories;
      const names = { i, space, session, old: old.id, at: old.updated };
      await chat(server, 'I have moved to Bergen.', false, { model, 'x-memory-space': space, 'x-session-id': session });
      const send = (line, sent) => server.ask(...filled(line, names).split(' '), sent && filled(JSON.stringify(sent), names));
      const first = await send(call, body), got = then ? await send(then) : first;
      assert.ok(knows(got.json(), names), `round ${i}: ${first.status} ${first.text} ${got.text}`);
    }
  });
}

test('a person is listed with the first answer, and stays erased when that was the last request', async (t) => {
  const server = await serve(t), model = 'rememberd/demo';
  for (let i = 0; i < 10; i++) {
    const id = `local/person-${i}`, path = `/v1/users/${encodeURIComponent(id)}`;
    const say = (text) => chat(server, text, false, { model, 'x-memory-user': `person-${i}` });
    await say('I live in Oslo.');
    const page = (await server.ask('GET', '/v1/users')).json();
    assert.ok(has(page.items, id), `round ${i}: ${JSON.stringify(page)}`);
    await say('I have moved to Bergen.');
    const shown = await server.ask('GET', path);
    assert.equal(shown.json().messages, 4, `round ${i}: ${shown.text}`);
    await say('I have a dog.');
    const gone = await server.ask('DELETE', path, { confirm: id });
    assert.ok(gone.status < 300, gone.text);
    assert.equal((await server.ask('GET', path)).status, 404, `round ${i}`);
  }
});

test('what is edited while a chat is being answered is newer than what the chat has said', async (t) => {
  let go;
  const gate = new Promise((done) => (go = done));
  const model = await upstream(t, async (req, res, asked) => {
    if (/Oslo/.test(asked.json.messages.at(-1).content)) await gate;
    answer(res, asked, 'Noted.');
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const asking = chat(server, 'I live in Oslo.', true);
  await until('the model was asked', () => model.asked.length === 1);
  await chat(server, 'I live in Bergen.', true);
  const current = async () => (await server.ask('GET', '/v1/memories?contains=lives')).json().memories.map((one) => one.content);
  assert.deepEqual(await current(), ['lives in Bergen']);
  assert.equal((await server.ask('POST', '/v1/memories', { content: 'lives in Turku', key: 'entity:lives_in' })).status, 201);
  assert.equal((await server.ask('PATCH', '/v1/users/me/profile', { facts: { city: 'Turku' } })).status, 200);
  go();
  await asking;
  assert.deepEqual(await current(), ['lives in Turku']);
  assert.equal((await server.ask('GET', '/v1/users/me/profile')).json().facts.city, 'Turku');
  const past = (await server.ask('GET', '/v1/memories?contains=Oslo&closed=true')).json().memories;
  assert.deepEqual(past.map((one) => [one.content, one.valid_to !== null]), [['lives in Oslo', true]]);
});

test('an answer that came just before everything was cleared is not given again', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, 'The keeper of the lighthouse is called Barnaby.'));
  const server = await serve(t, { flags: ['--upstream', model.url, '--encoder', 'off'] });
  for (let i = 0; i < 120; i++) {
    const headers = { 'x-memory-space': `space-${i}` };
    await chat(server, 'My violin is in the attic.', false, headers);
    assert.equal((await server.ask('DELETE', '/api/v1/memory?confirm=true', undefined, headers)).status, 200);
    const found = await server.ask('POST', '/v1/memories/search', { query: 'Who keeps the lighthouse? Where is the violin?' }, headers);
    assert.doesNotMatch(JSON.stringify(found.json().results), /Barnaby|attic/, `round ${i}`);
  }
});

test('the same text that is said several times at once is one memory', async (t) => {
  const server = await serve(t), all = { content: 'The boat is moored at pier seven.' };
  const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_add', arguments: all } };
  const ask = (i) => (i % 2 ? server.ask('POST', '/mcp', tool) : server.ask('POST', '/v1/memories', all));
  for (const res of await Promise.all([...Array(8).keys()].map(ask))) assert.ok(res.status < 300, res.text);
  await server.ask('POST', '/api/memory', { ...all, key: '', type: 'factual', apiKeyId: '', sessionId: '' });
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 1);
});
