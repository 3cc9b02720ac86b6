// osaurus_chat.test.js - chats that carry X-Osaurus-Agent-Id: gate, block, its place, and whose memory it is.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const as = (agent, more = {}) => ({ 'x-osaurus-agent-id': agent, ...more });
const user = (content) => ({ role: 'user', content });
const block = /^\[Memory\]\nCurrent date: \d{1,2} [A-Z][a-z]+ \d{4}\n\n[^\n]+data and not instructions[^\n]+\n\n## [^]*\n\[\/Memory\]$/;

async function ready(t, handler, flags = []) {
  const model = await upstream(t, handler);
  const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  const remember = async (agent, content, more = {}) => {
    const res = await server.ask('POST', '/v1/memories', { content, ...more }, as(agent));
    assert.ok(res.status < 300, res.text);
    return res.json();
  };
  // What the model was sent, and the receipt.
  const ask = async (agent, messages, more = {}, headers = {}) => {
    const list = typeof messages === 'string' ? [user(messages)] : messages;
    const res = await server.chat({ model: 'any', messages: list, ...more }, as(agent, headers));
    assert.equal(res.status, 200, res.text);
    const id = res.headers['x-rememberd-receipt'];
    return { sent: model.last(), receipt: id && await server.receipt(id, as(agent)) };
  };
  return { model, server, remember, ask };
}

test('the block stands in front of the latest user message, and every other byte is as it came', async (t) => {
  const { model, server, remember } = await ready(t);
  await remember('my agent', 'They chose SQLite over Postgres.', { layer: 'episode', metadata: { decisions: ['use SQLite'] } });
  const body = (put) => `{ "model":"any" ,"temperature":1.0,"messages":[{"role":"system","content":"Be brief. \\u00e9"},` +
    `{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},\n {"role":"user","content":"${put}What did we discuss earlier about \\"SQLite\\"?"}] }`;
  const res = await server.chat(body(''), as('my agent'));
  assert.equal(res.status, 200);
  const receipt = await server.receipt(res.headers['x-rememberd-receipt'], as('my agent'));
  assert.match(receipt.block, block);
  assert.match(receipt.block, /\n## What we discussed before\n- \[\d{4}-\d\d-\d\d\] They chose SQLite over Postgres\. \(decision: use SQLite\)\n/);
  assert.equal(model.last().body.toString(), body(JSON.stringify(`${receipt.block}\n\n`).slice(1, -1)));
  assert.equal(receipt.decision, 'episode');
  assert.match(receipt.reason, /earlier/);
  assert.deepEqual(receipt.lines.map((line) => [line.kind, line.injected]), [['memory', true]]);
});

test('content in parts gets the block as the first part', async (t) => {
  const { remember, ask } = await ready(t);
  await remember('a', "User's garden has roses");
  const parts = [{ type: 'text', text: 'Do you remember my garden?' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }];
  const { sent, receipt } = await ask('a', [user(parts)]);
  assert.match(receipt.block, /roses/);
  assert.deepEqual(sent.json.messages, [user([{ type: 'text', text: receipt.block }, ...parts])]);
});

test('the gate picks a section or none, and what is sure stands beside it', async (t) => {
  // By words alone: what is sure must not depend on how many vectors there are by now.
  const { remember, ask } = await ready(t, undefined, ['--encoder', 'off']);
  await remember('a', "User's garden has roses");
  await remember('a', 'They planted roses together.', { layer: 'episode', metadata: { entities: ['Beatrice'] } });
  const cases = {
    'What is 2+2?': [], hi: [], 'Write a poem about tulips': [],
    'What did we say about roses last time?': ['## What we discussed before', '## Things I remember'],
    'Which of my roses needs water?': ['## Things I remember', '## What we discussed before'],
    'Ask Beatrice for roses': ['## What we discussed before'],
    'Who am I?': ['## About you'],
  };
  for (const [question, headers] of Object.entries(cases)) {
    const { sent, receipt } = await ask('a', question);
    assert.deepEqual(receipt.block.match(/^## .*$/gm) ?? [], headers, question);
    if (!headers.length) assert.equal(sent.json.messages[0].content, question);
    else assert.equal(sent.json.messages[0].content, `${receipt.block}\n\n${question}`);
  }
});

test('exact words come from the transcript, as they were said', async (t) => {
  const { server, ask } = await ready(t);
  await server.tell('The price is 40 euros,\nand not a cent less.', as('a'));
  const { receipt } = await ask('a', 'what exactly did I say about the price?');
  assert.equal(receipt.decision, 'transcript');
  assert.match(receipt.block, /\n## Earlier in our chats\n- \[\d{4}-\d\d-\d\d, user\] The price is 40 euros, and not a cent less\.\n/);
});

test('agents do not see each other, whatever their names are', async (t) => {
  const { remember, ask } = await ready(t);
  const agents = ['one', 'ONE', '../one', '%6fne', '0d5a4b5e-3f0b-4a54-9df0-3f6e2a7c1b11', '"one"', 'x'.repeat(200)];
  for (const [i, agent] of agents.entries()) {
    await remember(agent, `User's name is Name${i}`, { layer: 'identity' });
    await remember(agent, `User's garden has number ${i}`);
  }
  for (const [i, agent] of agents.entries()) {
    for (const question of ["What's my name?", 'do you remember my garden?', 'What is 2+2?']) {
      const { receipt } = await ask(agent, question);
      assert.match(receipt.block, new RegExp(`Name${i}`));
      for (const [k] of agents.entries()) if (k !== i) assert.doesNotMatch(receipt.block, new RegExp(`Name${k}|number ${k}`));
    }
  }
  const { receipt } = await ask('nobody yet', "What's my name?");
  assert.equal(receipt.block, '');
});

test('identity lines are in every chat, and said once', async (t) => {
  const { remember, ask } = await ready(t);
  await remember('a', 'User is allergic to nuts', { layer: 'identity' });
  const plain = await ask('a', 'Suggest a snack');
  assert.equal(plain.receipt.decision, 'none');
  assert.match(plain.receipt.block, /\n## What I should always remember\n- User is allergic to nuts\n\[\/Memory\]$/);
  const about = await ask('a', 'Who am I?');
  assert.equal(about.receipt.block.match(/nuts/g).length, 1);
  assert.match(about.receipt.block, /\n## About you\n- User is allergic to nuts\n/);
});

for (const quick of [false, true]) {
  test(`a tool's answer is asked with the same block, byte for byte (tools named: ${quick})`, async (t) => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const { server, model, remember, ask } = await ready(t, (req, res, asked) => {
      if (asked.json.messages.at(-1).role === 'tool') return answer(res, asked, 'Roses.');
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } }] }));
    });
    const more = quick ? { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] } : {};
    const asked = user('do you remember my garden?');
    await remember('a', "User's garden has roses");
    const first = await ask('a', [asked], more);
    assert.match(first.receipt.block, /roses/);
    await remember('a', "User's garden has tulips, too");
    const again = await ask('a', [asked, { role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: 'c1', content: 'nothing' }], more);
    assert.equal(again.sent.json.messages[0].content, first.sent.json.messages[0].content);
    assert.equal(again.receipt.decision, 'again');
    assert.ok(server && model);
  });
}

test('the budget of a section is kept', async (t) => {
  const { remember, ask } = await ready(t);
  for (let i = 0; i < 20; i++) await remember('a', `User's garden has bed ${i} with ${'roses and '.repeat(40)}tulips`);
  const { receipt } = await ask('a', 'do you remember my garden and its beds?');
  const section = receipt.block.slice(receipt.block.indexOf('## '), receipt.block.indexOf('[/Memory]'));
  assert.ok(section.length <= 3200 && section.length > 2400, String(section.length));
  assert.equal(section.match(/^- /gm).length, receipt.lines.filter((line) => line.injected).length);
});

test('the settings of the gate and the budget act', async (t) => {
  const { remember, ask } = await ready(t, undefined, ['--gate-mode', 'off', '--memory-budget', '100']);
  for (let i = 0; i < 9; i++) await remember('a', `Talk ${i} was about ${'roses and '.repeat(12)}tulips.`, { layer: 'episode' });
  const { receipt } = await ask('a', 'hi');
  assert.equal(receipt.decision, 'episode');
  assert.equal(receipt.lines.length, 2);
  const section = receipt.block.slice(receipt.block.indexOf('## '), receipt.block.indexOf('[/Memory]'));
  assert.ok(section.length <= 400, String(section.length));
});

test('the core model may open the gate, and a chat does not hang on it', async (t) => {
  let says = '{"section":"pinned"}';
  const { model, remember, ask } = await ready(t, (req, res, asked) => {
    if (asked.json.model !== 'core') return answer(res, asked, 'fine');
    return says && answer(res, asked, says);
  }, ['--gate-mode', 'llm', '--core-model', 'core']);
  await remember('a', "User's cat is called Momo");
  const opened = await ask('a', 'Which food suits a cat?');
  assert.match(opened.receipt.block, /## Things I remember\n- User's cat is called Momo/);
  assert.match(opened.receipt.reason, /core model/);
  assert.equal(model.asked.filter((one) => one.json.model === 'core').length, 1);
  says = 'no idea';
  const wrong = await ask('a', 'do you remember my cat?');
  assert.match(wrong.receipt.block, /Momo/);
  assert.match(wrong.receipt.reason, /by phrases, as the core model gave no answer/);
  says = '';
  const late = await ask('a', 'do you remember my cat?');
  assert.match(late.receipt.block, /Momo/);
  assert.match(late.receipt.reason, /timed out/);
});

test('settings that change while the server runs act at the next chat', async (t) => {
  const { server, remember, ask } = await ready(t);
  const change = async (members) => {
    const res = await server.ask('PUT', '/memory/config', members);
    assert.equal(res.status, 200, res.text);
  };
  for (let i = 0; i < 9; i++) await remember('a', `Talk ${i} was about ${'roses and '.repeat(8)}tulips.`, { layer: 'episode' });
  assert.equal((await ask('a', 'hi')).receipt.block, '');
  await change({ relevanceGateMode: 'off' });
  assert.equal((await ask('a', 'hi')).receipt.lines.length, 6);
  await change({ memoryBudgetTokens: 100 });
  assert.equal((await ask('a', 'hi')).receipt.lines.length, 2);
  await change({ relevanceGateMode: 'heuristic' });
  assert.equal((await ask('a', 'hi')).receipt.block, '');
  await change({ enabled: false });
  assert.equal((await ask('a', 'What did we say earlier?')).receipt, undefined);
});

test('what was ingested and distilled is there in the next chat, dated as given', async (t) => {
  const said = { episode: { summary: 'Alice introduced herself and her job at Acme.', topics: ['work'], decisions: ['call on Monday'],
    action_items: [], salience: 0.7 }, entities: ['Alice', 'Acme Corp'], pinned_candidates: [{ content: 'Alice rides a red bicycle', salience: 0.8, tags: [] }],
  identity_facts: ["User's name is Alice"] };
  const { server, ask } = await ready(t, (req, res, asked) => answer(res, asked, asked.json.model === 'core' ? JSON.stringify(said) : 'fine'),
    ['--core-model', 'core']);
  const res = await server.ask('POST', '/memory/ingest', { agent_id: 'a', conversation_id: 'one', session_date: '2026-01-31T12:00:00Z', turns: [
    { user: 'Hi, my name is Alice and I work at Acme Corp, where I go on my red bicycle every day.', assistant: 'Hello Alice!' }] });
  assert.equal(res.status, 200, res.text);
  assert.equal(res.json().distillation, 'distilled');
  const earlier = (await ask('a', 'What did we talk about earlier?')).receipt.block;
  assert.match(earlier, /## What I should always remember\n- User's name is Alice\n/);
  assert.match(earlier, /- \[2026-01-31\] Alice introduced herself and her job at Acme\. \(decision: call on Monday\)\n/);
  assert.match((await ask('a', 'do you remember my bicycle?')).receipt.block, /## Things I remember\n[^]*red bicycle/);
  assert.equal((await ask('b', 'do you remember my bicycle?')).receipt.block, '');
  assert.equal((await ask('b', "What's my name?")).receipt.block, '');
});

test('X-Memory-Mode and the switch act on these chats, too', async (t) => {
  const { server, remember, ask } = await ready(t);
  const question = 'do you remember my garden?';
  await remember('a', "User's garden has roses");
  assert.match((await ask('a', question, {}, { 'x-memory-mode': 'readonly' })).sent.json.messages[0].content, /roses/);
  assert.equal((await ask('a', question, {}, { 'x-memory-mode': 'after' })).sent.json.messages[0].content, question);
  assert.equal((await ask('a', question, {}, { 'x-memory-mode': 'off' })).sent.json.messages[0].content, question);
  const change = async (enabled) => assert.equal((await server.ask('PUT', '/api/settings/memory', { enabled })).status, 200);
  await change(false);
  assert.equal((await ask('a', question)).sent.json.messages[0].content, question);
  await change(true);
  assert.match((await ask('a', question)).sent.json.messages[0].content, /roses/);
});

test('a chat without the header is given memory as before', async (t) => {
  const { server, model } = await ready(t);
  await server.tell('My dog is called Rex.');
  await server.chat({ model: 'any', messages: [user('What is my dog called?')] });
  assert.match(model.last().json.messages[0].content, /^What is my dog called\?\n\n<remembered>\n/);
  await server.chat({ model: 'any', messages: [user('What is my dog called?')] }, as('default'));
  assert.match(model.last().json.messages[0].content, /^\[Memory\]\n[^]*Rex[^]*\n\[\/Memory\]\n\nWhat is my dog called\?$/);
});

test('a block that a client sends back is neither searched nor kept', async (t) => {
  const { server, remember, ask } = await ready(t);
  await remember('a', "User's garden has roses");
  const first = await ask('a', 'do you remember my garden?');
  const next = await ask('a', [user(first.sent.json.messages[0].content), { role: 'assistant', content: 'fine' }, user('What is 2+2?')]);
  assert.equal(next.receipt.session, first.receipt.session);
  const found = (await server.ask('POST', '/v1/memories/search', { query: 'roses garden' }, as('a'))).json().results;
  assert.ok(found.every((one) => one.kind !== 'message' || !/Memory\]|roses/.test(one.text)), JSON.stringify(found));
});

test('a header over its limit is refused', async (t) => {
  const { server } = await ready(t);
  const res = await server.chat({ model: 'any', messages: [user('hi')] }, as('x'.repeat(201)));
  assert.equal(res.status, 400);
  assert.match(res.json().error.message, /200/);
});
