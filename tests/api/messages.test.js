// messages.test.js - Anthropic's Messages API with memory: with its own clients, and byte by byte.
'use strict';
const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { test } = require('node:test');
const { createAnthropic } = require('@ai-sdk/anthropic');
const { generateText, streamText } = require('ai');
const { run, serve } = require('./lib.js');
const long = require('./long_talk.js');
const { Anthropic, OPENING, answer, assertGrows, blocks, claude, event, message, say, sdk } = require('./messages_lib.js');

const user = (content) => ({ messages: [{ role: 'user', content }] });
const bearer = (token) => ({ authorization: `Bearer ${token}` });
const given = (up) => JSON.stringify(up.last().json.messages);

async function ready(t, { handler, flags = [], ...options } = {}) {
  const up = await claude(t, handler), server = await serve(t, { flags: ['--upstream', up.url, ...flags], ...options });
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout);
  return { up, server, make };
}

const kept = async (server, res, headers) => {
  assert.equal(res.status, 200, res.text);
  await server.receipt(res.headers['x-rememberd-receipt'], headers);
};

// --- one memory with the other doors ---

test('what is said here is recalled in chat completions, and the other way round', async (t) => {
  const { up, server } = await ready(t);
  const client = sdk(server);
  const told = await client.messages.create({ model: 'scripted', max_tokens: 100, ...user('My sister Ada lives in Oslo.') });
  assert.equal(told.content[0].text, 'fine');
  await server.tell('My boat is called Halcyon.');
  await server.ask('POST', '/v1/chat/completions', { model: 'scripted', ...user('Where does my sister live?') });
  assert.match(given(up), /Ada lives in Oslo/);
  await client.messages.create({ model: 'scripted', max_tokens: 100, ...user('What is my boat called?') });
  assert.match(given(up), /Halcyon/);
  assert.ok(!('system' in up.last().json));
});

test('a streamed answer is read by the SDK as it comes, and is kept', async (t) => {
  const { up, server } = await ready(t, { handler: (req, res, asked) => answer(res, asked, [
    { type: 'thinking', thinking: 'hm', signature: 'sig' }, { type: 'text', text: 'Your tent is in locker 58.' }, { type: 'text', text: 'The key hangs beside it.' }]) });
  const stream = sdk(server).messages.stream({ model: 'scripted', max_tokens: 100, ...user('Where did you put my tent?') });
  const whole = await stream.finalMessage();
  assert.deepEqual(whole.content.map((block) => block.type), ['thinking', 'text', 'text']);
  assert.equal(whole.content[1].text, 'Your tent is in locker 58.');
  const sent = [{ role: 'user', content: 'Where did you put my tent?' }, { role: 'assistant', content: whole.content }, { role: 'user', content: 'Thanks, and my skis?' }];
  const next = await say(server, { messages: sent });
  await kept(server, next);
  const history = await server.ask('GET', `/v1/session/${next.headers['x-omniroute-session-id']}/history`);
  const texts = history.json().messages.map((m) => m.content);
  assert.deepEqual(texts.slice(0, 3), [sent[0].content, 'Your tent is in locker 58.\nThe key hangs beside it.', sent[2].content], 'the answer that comes back is the one that is kept');
  assert.equal(up.asked.length, 2);
});

test('the AI SDK, whole and streamed', async (t) => {
  const { up, server } = await ready(t);
  await kept(server, await say(server, user('I am allergic to walnuts.')));
  const provider = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'client-key' });
  const whole = await generateText({ model: provider('scripted'), prompt: 'What am I allergic to?', maxRetries: 0 });
  assert.equal(whole.text, 'fine');
  assert.match(given(up), /walnuts/);
  assert.equal(up.last().headers['x-api-key'], 'client-key');
  const streamed = streamText({ model: provider('scripted'), prompt: 'What am I allergic to? Tell me.', maxRetries: 0 });
  let text = '';
  for await (const piece of streamed.textStream) text += piece;
  assert.equal(text, 'fine');
  assert.match(given(up), /walnuts/);
});

test('what is erased is gone, also from conversations that were given it', async (t) => {
  const { up, server } = await ready(t);
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'The alarm code is 7391.' })).json();
  const first = user('What is the alarm code?');
  await say(server, first);
  assert.match(given(up), /7391/);
  const later = { messages: [...first.messages, { role: 'assistant', content: 'fine' }, { role: 'user', content: 'Thanks!' }] };
  await say(server, later);
  assert.match(given(up), /7391/);
  assert.equal((await server.ask('DELETE', `/v1/memories/${id}`)).status, 200);
  await say(server, later);
  assert.doesNotMatch(given(up), /7391/);
});

test('spaces, people and switches', async (t) => {
  const { up, server } = await ready(t);
  await kept(server, await say(server, { ...user('My dog is called Biscuit.'), space: 'home' }));
  assert.ok(!('space' in up.last().json), 'the upstream does not know the member');
  const asks = async (headers, more = {}) => {
    const res = await say(server, { ...user('What is my dog called?'), ...more }, { 'x-memory-mode': 'readonly', ...headers });
    assert.equal(res.status, 200, res.text);
    return /Biscuit/.test(given(up));
  };
  assert.equal(await asks({}), false);
  assert.equal(await asks({ 'x-memory-space': 'home' }), true);
  assert.equal(await asks({ 'x-memory-space': 'home', 'x-memory-mode': 'off' }), false);
  assert.equal(await asks({ 'x-memory-space': 'home', 'x-omniroute-no-memory': 'true' }), false);
  assert.equal(await asks({ 'x-memory-space': 'home', 'x-memory-mode': 'after' }), false);
  assert.equal(await asks({ 'x-memory-space': 'home', 'x-memory-scope': 'session', 'x-session-id': 'another' }), false);
  assert.equal(await asks({ 'x-memory-space': 'home' }, { metadata: { user_id: 'anna' } }), false);
  for (const [name, value] of [['X-Memory-Mode', 'maybe'], ['X-Memory-Scope', 'all'], ['X-Memory-Tools', 'on'], ['X-Session-History', 'on']]) {
    const res = await say(server, user('hi'), { [name]: value });
    assert.equal(res.status, 400, name);
    assert.equal(res.json().error.type, 'invalid_request_error');
    assert.match(res.json().error.message, new RegExp(`^${name}: must be`));
  }
});

test('Claude Code\'s metadata.user_id names the person and the conversation, in both forms', async (t) => {
  const { server } = await ready(t), id = '08813db6-215d-4b78-8a0f-31726baf82f8', device = 'ab'.repeat(32);
  const forms = [[JSON.stringify({ device_id: device, account_uuid: '', session_id: id }), device], [JSON.stringify({ device_id: device, account_uuid: 'acc', session_id: id }), 'acc'],
    [`user_${device}_account_acc_session_${id}`, 'acc']];
  for (const [user_id, person] of forms) {
    const res = await say(server, { ...user('My dog is called Biscuit.'), metadata: { user_id } });
    await kept(server, res, { 'x-memory-user': person });
    assert.equal(res.headers['x-omniroute-session-id'], id);
  }
});

// --- what the upstream gets ---

test('nothing is changed but the place of the block', async (t) => {
  const { up, server } = await ready(t);
  await kept(server, await say(server, user('My favourite tea is Lapsang.')));
  const head = '{ "model":"scripted" ,"max_tokens" : 1e2, "future":{"a":1.50,"b":"\\u00e9\\/"}, "cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages": [ ';
  const ask = async (text) => {
    const res = await server.ask('POST', '/v1/messages?beta=true', text, { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'b-1,a-2 , c' });
    assert.equal(res.status, 200, res.text);
    const got = up.last();
    assert.equal(got.url, '/v1/messages?beta=true');
    assert.equal(got.headers['anthropic-version'], '2026-10-21');
    assert.equal(got.headers['anthropic-beta'], 'b-1,a-2 , c');
    const at = got.body.toString(), from = at.indexOf(`{"type":"text","text":"${OPENING}`);
    assert.ok(from > 0, at);
    assert.match(at, /Lapsang/);
    return [at.slice(0, from), at.slice(at.indexOf('"}', from) + 2)];
  };
  const marked = '{"type":"text","text":"What is my favourite tea?","cache_control":{"type":"ephemeral"}}';
  assert.deepEqual(await ask(`${head}{"role":"user", "content": [ ${marked} ] } ] }`), [`${head}{"role":"user", "content": [ ${marked},`, ' ] } ] }']);
  assert.deepEqual(await ask(`${head}{"content" : "What is my \\u0066avourite tea again?","role":"user"} ]}`),
    [`${head}{"content" : [{"type":"text","text":"What is my \\u0066avourite tea again?"},`, '],"role":"user"} ]}']);
  const result = '{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}';
  const before = '{"role":"user","content":"Look."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{}}]},';
  assert.deepEqual(await ask(`${head}${before}{"role":"user","content":[${result},{"type":"text","text":"And what is my favourite tea?"}]}]}`),
    [`${head}${before}{"role":"user","content":[${result},{"type":"text","text":"And what is my favourite tea?"},`, ']}]}']);
  assert.deepEqual(await ask(`${head}{"role":"user","content":"Which tea is my favourite tea?"},{"role":"system","content":"Skills: none."}]}`),
    [`${head}{"role":"user","content":"Which tea is my favourite tea?"},{"role":"system","content":[{"type":"text","text":"Skills: none."},`, ']}]}']);
});

test('a model chooses its upstream by its prefix, else by the dialect', async (t) => {
  const [one, two] = [await claude(t), await claude(t)];
  const config = path.join(require('./lib.js').tempFolder(), 'config.json');
  fs.writeFileSync(config, JSON.stringify({ upstreams: [{ url: one.url, key: 'key-1' }, { name: 'claude', url: two.url, key: 'key-2', dialect: 'anthropic' },
    { name: 'third', url: two.url, key: 'key-3', key_in: 'authorization' },
    { name: 'fourth', url: two.url, key: 'key-4', key_in: 'x-api-key' }] }));
  const server = await serve(t, { flags: ['--config', config] });
  const asks = async (model, headers) => {
    const seen = [one.asked.length, two.asked.length];
    assert.equal((await say(server, { model, ...user('hi') }, headers)).status, 200);
    const up = one.asked.length > seen[0] ? one : two;
    const { authorization, 'x-api-key': key } = up.last().headers;
    return [up === one ? 'one' : 'two', up.last().json.model, key, authorization];
  };
  assert.deepEqual(await asks('claude/claude-opus-4-8'), ['two', 'claude-opus-4-8', 'key-2', undefined]);
  assert.deepEqual(await asks('claude-opus-4-8'), ['two', 'claude-opus-4-8', 'key-2', undefined]);
  assert.deepEqual(await asks('third/m'), ['two', 'm', undefined, 'Bearer key-3']);
  assert.deepEqual(await asks('m', bearer('mine')), ['two', 'm', undefined, 'Bearer mine']);
  assert.deepEqual(await asks('m', { 'x-api-key': 'mine' }), ['two', 'm', 'mine', undefined]);
  assert.deepEqual(await asks('m', { 'x-upstream-authorization': 'Bearer mine' }), ['two', 'm', undefined, 'Bearer mine']);
  await server.chat({ model: 'm', ...user('hi') });
  assert.equal(one.last().headers.authorization, 'Bearer key-1', 'chat completions keep to the default upstream');
  await server.ask('GET', '/v1/doctor');
  assert.deepEqual(two.asked.filter((x) => x.url === '/v1/models').map(({ headers }) => [headers['x-api-key'], headers.authorization]),
    [['key-2', undefined], [undefined, 'Bearer key-3'], ['key-4', undefined]], 'the server asks with the key where clients do');
  for (const bad of [{ key_in: 'cookie' }, { dialect: 'klingon' }]) {
    fs.writeFileSync(config, JSON.stringify({ upstreams: [{ url: one.url, ...bad }] }));
    assert.match((await run(['serve', '--config', config])).stderr, new RegExp(`upstreams.${Object.keys(bad)[0]}: must be one of`));
  }
});

test('an access token is known in either header, and never reaches the upstream', async (t) => {
  const { up, server, make } = await ready(t, { flags: ['--upstream-key', 'sk-settings'] });
  const { token } = await make('--name', 'laptop');
  const shown = async (headers, status = 200) => {
    const n = up.asked.length, res = await say(server, user('hi'), headers);
    assert.equal(res.status, status, res.text);
    if (status !== 200) {
      assert.equal(up.asked.length, n);
      return res.json().error.type;
    }
    assert.ok(!JSON.stringify(up.last().headers).includes(token));
    const { authorization, 'x-api-key': key } = up.last().headers;
    return [key, authorization];
  };
  assert.equal(await shown({}, 401), 'authentication_error');
  assert.equal(await shown({ 'x-api-key': 'sk-mine' }, 401), 'authentication_error');
  assert.equal(await shown({ 'x-api-key': `${token}x` }, 401), 'authentication_error');
  assert.deepEqual(await shown({ 'x-api-key': token }), ['sk-settings', undefined]);
  assert.deepEqual(await shown(bearer(token)), ['sk-settings', undefined]);
  assert.deepEqual(await shown({ 'x-api-key': token, ...bearer('sk-mine') }), [undefined, 'Bearer sk-mine']);
  assert.deepEqual(await shown({ 'x-api-key': 'sk-mine', ...bearer(token) }), ['sk-mine', undefined]);
  assert.deepEqual(await shown({ 'x-api-key': token, ...bearer(token) }), ['sk-settings', undefined]);
  await sdk(server, { apiKey: token }).messages.create({ model: 'm', max_tokens: 9, ...user('hi') });
  assert.ok(!JSON.stringify(up.last().headers).includes(token));
  assert.equal((await server.ask('GET', '/v1/memories', undefined, { 'x-api-key': token })).status, 200, 'at every door');
});

// --- conversations only grow ---

const facts = ['My sister Ada lives in Oslo.', 'I drive a green Saab.', 'My dog is called Biscuit.', 'I am allergic to walnuts.', 'Our boat is called Halcyon.',
  'My dentist is Dr. Lindqvist.', 'I work at Northwind as a gardener.', 'My favourite tea is Lapsang.', 'The spare key is under the blue pot.', 'I play the cello on Tuesdays.',
  'My landlord is called Mr. Ferris.', 'I paid 340 euros for the tent.', 'My brother Tom studies in Ghent.', 'I wear size 43 shoes.', 'My bike is crimson.'];
const talk = ['Where does my sister live?', 'What car do I drive?', 'Thanks!', 'What is my dog called?', 'Tell me a joke.', 'What am I allergic to?', 'What is our boat called?',
  'Who is my dentist?', 'My neighbour is called Olga.', 'Where do I work?', 'What is my favourite tea?', 'Where is the spare key?', 'When do I play the cello?',
  'Where does my sister live again?', 'Who is my landlord?', 'How much did I pay for the tent?', 'Where does Tom study?', 'What size are my shoes?', 'What colour is my bike?', 'And the car?'];

// Every third question with tools first looks something up, with or without a word about it.
const scripted = (req, res, asked) => {
  const { messages, tools } = asked.json, last = messages.findLast((m) => m.role === 'user'), n = messages.filter((m) => m.role === 'assistant').length;
  const isResult = Array.isArray(last.content) && last.content.some((block) => block.type === 'tool_result');
  if (tools && !isResult && n % 3 === 0)
    return answer(res, asked, [...(n % 2 ? [{ type: 'text', text: `Let me look, ${n}.` }] : []), { type: 'tool_use', id: `toolu_${n}`, name: 'look', input: { at: n } }]);
  return answer(res, asked, [{ type: 'thinking', thinking: 'hm', signature: `sig ${n}` }, { type: 'text', text: `Answer ${n}.` }, ...(n % 4 === 1 ? [{ type: 'text', text: 'And more.' }] : [])]);
};

const session = { 'x-claude-code-session-id': '08813db6-215d-4b78-8a0f-31726baf82f8' };
const ephemeral = { type: 'ephemeral' };
const reminder = { type: 'text', text: '<system-reminder>\n# claudeMd\nBe nice.\n</system-reminder>\n\n' };
const ways = {
  'strings': { said: (text) => text },
  'blocks': { said: (text) => [{ type: 'text', text }] },
  'streamed': { said: (text) => text, stream: true },
  'tools, streamed': { said: (text) => [{ type: 'text', text }], stream: true, tools: true },
  'an automatic cache mark': { said: (text) => text, more: { cache_control: ephemeral } },
  // The newest text is a marked block, older ones are strings; notes of the program stand before and behind the first.
  'as Claude Code sends it': { stream: true, tools: true, headers: session, note: true,
    said: (text, isFirst) => [...(isFirst ? [reminder] : []), { type: 'text', text, cache_control: ephemeral }],
    again: (content) => (typeof content === 'string' ? content : content.length === 1 && content[0].type === 'text' ? content[0].text : content.map(({ cache_control, ...block }) => block)) },
};

async function converse(server, texts, { said, again = (content) => content, stream = false, tools = false, headers = {}, more = {}, note = false }, messages = []) {
  const client = sdk(server, { defaultHeaders: headers });
  for (const text of texts) {
    messages.push({ role: 'user', content: said(text, !messages.length) });
    if (note && messages.length === 1) messages.push({ role: 'system', content: 'Available agent types: none.' });
    for (;;) {
      const body = { model: 'scripted', max_tokens: 100, messages, ...more, ...(tools && { tools: [{ name: 'look', input_schema: { type: 'object' } }] }) };
      const got = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
      for (const m of messages) if (m.role === 'user') m.content = again(m.content);
      messages.push({ role: 'assistant', content: got.content });
      const call = got.content.find((block) => block.type === 'tool_use');
      if (!call) break;
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'looked', ...(note && { cache_control: ephemeral }) }] });
    }
  }
  return messages;
}

for (const [name, way] of Object.entries(ways)) {
  test(`a conversation of ${talk.length} turns only grows at its end: ${name}`, async (t) => {
    const { up, server } = await ready(t, { handler: scripted });
    for (const fact of facts) await server.ask('POST', '/v1/memories', { content: fact });
    await converse(server, talk, way);
    assert.ok(up.asked.length >= talk.length);
    assertGrows(up.asked);
    assert.ok(blocks(up.last()) >= 8, `${blocks(up.last())} blocks stand in the last request`);
  });
}

test(`a conversation of ${long.talk.length} turns only grows at its end`, async (t) => {
  const { up, server } = await ready(t, { handler: scripted });
  for (const content of long.facts) await server.ask('POST', '/v1/memories', { content });
  await converse(server, long.talk, ways['as Claude Code sends it']);
  assert.ok(up.asked.length > long.talk.length);
  assertGrows(up.asked);
  long.assertGiven(up.last().body.toString());
});

test('after a summary the conversation begins anew in its session, and grows from there', async (t) => {
  const { up, server } = await ready(t, { handler: scripted }), way = ways['as Claude Code sends it'];
  for (const fact of facts) await server.ask('POST', '/v1/memories', { content: fact });
  const before = await converse(server, ['The blue crate went to Rotterdam with the milk van.', ...talk.slice(0, 5)], { ...way, tools: false });
  const asking = up.asked.length, had = blocks(up.last());
  assert.ok(had >= 2);
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];
  const res = await say(server, { tools, messages: [...before, { role: 'user', content: 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nMy aunt is called Zelda.\nYour task is to create a detailed summary of the conversation so far.' }] }, session);
  await kept(server, res);
  assert.equal(blocks(up.last()), had, 'the blocks that stand there stay, and none is added');
  assertGrows(up.asked.slice(asking - 1));
  const seen = up.asked.length;
  const summary = [{ role: 'user', content: [{ type: 'text', text: 'This session is being continued from a previous conversation that ran out of context. We spoke of Oslo.' }] }];
  await converse(server, [...talk.slice(5), 'Where did the blue crate go?'], { ...way, tools: false, note: false }, summary);
  assertGrows(up.asked.slice(seen));
  assert.ok(blocks(up.last()) >= 6);
  assert.match(given(up), /Rotterdam/, 'what the summary replaced is recalled');
  const about = await server.ask('POST', '/v1/memories/search', { query: 'aunt Zelda' });
  assert.doesNotMatch(about.text, /Zelda/, 'nobody said the order');
});

// --- said while an agent works ---

const tools = [{ name: 'Bash', input_schema: { type: 'object' } }];
const sent = (words) => `The user sent a new message while you were working:\n${words}\n\nIMPORTANT: After your current task, address the message above.`;
const meanwhile = {
  'a block behind the result, as Claude Code has it': (words) => [[{ type: 'text', text: reminder.text }, { type: 'text', text: `<system-reminder>\n${sent(words)}\n</system-reminder>` }], []],
  'a message of the program, as newer ones have it': (words) => [[], [{ role: 'system', content: `${sent(words)}\n\n<total_tokens>9 tokens left</total_tokens>` }]],
  'a block with another ending': (words) => [[{ type: 'text', text: `<system-reminder>\nThe user sent the following message:\n${words}\n\nPlease address this message.\n</system-reminder>` }], []],
};
for (const [name, places] of Object.entries(meanwhile)) {
  test(`what a person types while an agent works is asked and kept: ${name}`, async (t) => {
    const { up, server } = await ready(t), words = 'Where does my sister Ada live?\n\nMy flatmate Jorge is allergic to hazelnuts.';
    await server.ask('POST', '/v1/memories', { content: 'My sister Ada lives in Oslo.' });
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }] }, result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'looked' };
    const [blocksBehind, messages] = places(words);
    const res = await say(server, { tools, messages: [...user('Paint the fence.').messages, call, { role: 'user', content: [result, ...blocksBehind] }, ...messages] });
    assert.equal(res.status, 200, res.text);
    assert.match(given(up), /Ada lives in Oslo/);
    await server.receipt(res.headers['x-rememberd-receipt']);
    const { messages: kept } = (await server.ask('GET', `/v1/session/${res.headers['x-omniroute-session-id']}/history`)).json();
    assert.deepEqual(kept.filter((m) => m.role === 'user').map((m) => m.content), ['Paint the fence.', words]);
  });
}

// --- requests of programs ---

const asides = {
  'a form without tools': { body: { output_config: { format: { type: 'json_schema', schema: {} } } } },
  'warming the cache': { body: { max_tokens: 0 } },
  'a test of the key': { body: { max_tokens: 1 } },
  'a task of Open WebUI': { headers: { 'x-openwebui-task': 'tags_generation' } },
  'a title': { body: { system: [{ type: 'text', text: 'ID' }, { type: 'text', text: 'Generate a concise, sentence-case title (3-7 words)' }] } },
  'a forced tool of its own': { body: { tools, tool_choice: { type: 'tool', name: 'explain_command' } } },
  'a judge of a hook': { body: { system: 'You are evaluating a hook condition in Claude Code. Answer.' } },
  'a summary': { body: { tools }, text: 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\nWhere does my sister Ada live?' },
  'a suggestion': { body: { tools }, text: '[SUGGESTION MODE: Suggest what the user might naturally type next. Where does my sister Ada live?]' },
  'a recap': { body: { tools }, text: 'The user stepped away and is coming back. Recap in under 40 words where my sister Ada lives.' },
  'a page': { text: 'Web page content:\n---\nWhere does my sister Ada live?' },
  'a note alone': { body: { tools }, text: '<system-reminder>Where does my sister Ada live?</system-reminder>' },
};
for (const [name, { body, headers, text = 'Where does my sister Ada live?' }] of Object.entries(asides)) {
  test(`a program's own request is neither answered with memories nor kept: ${name}`, async (t) => {
    const { up, server } = await ready(t);
    await server.ask('POST', '/v1/memories', { content: 'My sister Ada lives in Oslo.' });
    const res = await say(server, { ...user(text), ...body }, { 'x-session-id': 'aside', ...headers });
    assert.equal(res.status, 200, res.text);
    assert.equal(blocks(up.last()), 0);
    assert.deepEqual(up.last().json.messages, user(text).messages);
    if (res.headers['x-rememberd-receipt']) await server.receipt(res.headers['x-rememberd-receipt']);
    assert.doesNotMatch((await server.ask('POST', '/v1/memories/search', { query: 'Where does my sister Ada live?' })).text, /Where does/);
    const plain = await say(server, { ...user('Where does my sister Ada live?'), tools }, { 'x-session-id': 'chat' });
    assert.equal(plain.status, 200);
    assert.equal(blocks(up.last()), 1, 'the same question of the user is');
  });
}

test('a program\'s own request in a conversation that is not known here changes nothing in it', async (t) => {
  const { up, server } = await ready(t);
  await server.ask('POST', '/v1/memories', { content: 'My sister Ada lives in Oslo.' });
  const messages = [{ role: 'user', content: 'Where does my sister Ada live?' }, { role: 'assistant', content: 'Ask her.' }, { role: 'user', content: asides['a suggestion'].text }];
  await kept(server, await say(server, { messages, tools }));
  assert.deepEqual(up.last().json.messages, messages);
  await kept(server, await say(server, { messages: [...messages.slice(0, 2), { role: 'user', content: 'Where does my sister Ada live, again?' }], tools }));
  assert.equal(blocks(up.last()), 1, 'the user\'s own request gets its block');
});

test('an agent of Claude Code reads, and teaches nothing', async (t) => {
  const { up, server } = await ready(t);
  await server.ask('POST', '/v1/memories', { content: 'My sister Ada lives in Oslo.' });
  const agent = { ...session, 'x-claude-code-agent-id': 'af6e5a77d9a91f854' };
  const ask = { tools, ...user('Find out where my sister Ada lives, and what the word quixotry means.') };
  await kept(server, await say(server, ask, agent));
  assert.equal(blocks(up.last()), 1);
  ask.messages.push({ role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] });
  await server.ask('POST', '/v1/memories', { content: 'My sister Ada lives beside the harbour.' });
  await kept(server, await say(server, ask, agent));
  assertGrows(up.asked.slice(-2));
  assert.doesNotMatch((await server.ask('POST', '/v1/memories/search', { query: 'quixotry' })).text, /quixotry/);
});

// --- streams, errors, and the rest of the API ---

test('bytes of a stream come at once and unchanged', async (t) => {
  const sent = [event({ type: 'message_start', message: message([]) }), event({ type: 'ping' }), ': a comment\n\n', event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })];
  let go;
  const { server } = await ready(t, { handler: async (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of sent) {
      const seen = new Promise((done) => (go = done));
      res.write(piece);
      await seen; // goes on only when the client has it
    }
    res.end(event({ type: 'message_stop' }));
  } });
  const req = http.request(`${server.url}/v1/messages`, { method: 'POST', headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' } });
  req.end(JSON.stringify({ model: 'm', max_tokens: 100, stream: true, ...user('hi') }));
  const [res] = await once(req, 'response');
  let got = '';
  for await (const piece of res) {
    got += piece;
    if (sent.includes(String(piece))) go();
  }
  assert.equal(got, sent.join('') + event({ type: 'message_stop' }));
});

test('of a stream that stops before its end the user\'s words are kept, and of one that finished the answer, too', async (t) => {
  const begun = [{ type: 'message_start', message: message([]) }, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Marmalade' } }];
  const reason = { type: 'message_delta', delta: { stop_reason: 'end_turn' } }, failed = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const endings = [[], [failed], [failed, { type: 'message_stop' }], [reason], [{ type: 'message_stop' }]];
  let ending;
  const { server } = await ready(t, { handler: (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end([...begun, ...ending].map(event).join(''));
  } });
  for (const i of endings.keys()) {
    ending = endings[i];
    await kept(server, await say(server, { stream: true, ...user(`I like plums ${i}`) }, { 'x-session-id': `end-${i}` }));
    const { text } = await server.ask('GET', `/v1/sessions/end-${i}/messages`);
    assert.deepEqual([/plums/.test(text), /Marmalade/.test(text)], [true, i > 2], `${i}: ${text}`);
  }
});

test('errors are in the shape that Anthropic\'s clients read; those of the upstream are its own', async (t) => {
  const refusal = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' };
  const { server } = await ready(t, { handler: (req, res) => {
    res.writeHead(529, { 'content-type': 'application/json', 'request-id': 'req_1', 'retry-after': '3' });
    res.end(JSON.stringify(refusal));
  } });
  const got = await say(server, user('hi'));
  assert.deepEqual([got.status, got.json(), got.headers['request-id'], got.headers['retry-after']], [529, refusal, 'req_1', '3']);
  await assert.rejects(sdk(server).messages.create({ model: 'm', max_tokens: 9, ...user('hi') }), (error) => error.status === 529 && error.type === 'overloaded_error' && error.requestID === 'req_1');
  const broken = await server.ask('POST', '/v1/messages', '{"model":', { 'anthropic-version': '2023-06-01' });
  const { type, error, request_id: id } = broken.json();
  assert.deepEqual([broken.status, type, error.type], [400, 'error', 'invalid_request_error']);
  assert.equal(broken.headers['request-id'], id);
  assert.equal((await server.ask('GET', '/v1/messages')).json().error.type, 'invalid_request_error');
  const alone = await serve(t, { flags: ['--upstream', 'down=http://127.0.0.1:1'] });
  await assert.rejects(sdk(alone).messages.create({ model: 'm', max_tokens: 9, ...user('hi') }), (error) => error instanceof Anthropic.NotFoundError && error.type === 'not_found_error' && /--upstream/.test(error.message));
  await assert.rejects(sdk(alone).messages.create({ model: 'down/m', max_tokens: 9, ...user('hi') }), (error) => error.status === 502 && error.type === 'api_error');
  await assert.rejects(sdk(alone).models.retrieve('x'), (error) => error.type === 'not_found_error');
});

test('an answer without memory says why', async (t) => {
  const { server } = await ready(t);
  for (const [body, headers, why] of [[user('hi'), {}, undefined], [user('hi'), { 'x-memory-mode': 'off' }, undefined],
    [user('hi'), { 'content-encoding': 'x-none' }, 'off; reason=encoding'], [{ messages: [{ content: 'hi' }] }, {}, 'off; reason=messages']])
    assert.equal((await say(server, body, headers)).headers['x-memory'], why);
});

test('without an upstream the built-in model answers this API as well', async (t) => {
  const server = await serve(t), client = sdk(server);
  const ask = (content, more) => client.messages.create({ model: 'rememberd/demo', max_tokens: 100, ...user(content), ...more });
  const told = await ask('My dog is called Biscuit.');
  assert.deepEqual([told.type, told.role, told.stop_reason], ['message', 'assistant', 'end_turn']);
  assert.ok(told.usage.input_tokens > 0 && told.usage.output_tokens > 0);
  const asked = await ask('What is my dog called?');
  assert.match(asked.content[0].text, /Biscuit/);
  const streamed = await client.messages.stream({ model: 'rememberd/demo', max_tokens: 100, ...user('What is my dog called, please?') }).finalMessage();
  assert.match(streamed.content[0].text, /Biscuit/);
  assert.equal(streamed.stop_reason, 'end_turn');
  assert.ok((await client.messages.countTokens({ model: 'rememberd/demo', ...user('Twelve characters') })).input_tokens >= 4);
  const models = await client.models.list();
  assert.deepEqual(models.data.map((one) => one.id), ['rememberd/demo']);
  assert.equal((await server.client().models.list()).data[0].object, 'model');
  assert.equal((await client.models.retrieve('rememberd/demo')).type, 'model');
  assert.equal((await say(server, { model: 'rememberd/demo', messages: 'hi' })).status, 400);
});

test('counting tokens, batches and models are passed on; HEAD / is answered here', async (t) => {
  const { up, server, make } = await ready(t, { flags: ['--upstream-key', 'sk-settings'], handler: (req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"input_tokens":7}');
  } });
  await server.ask('POST', '/v1/memories', { content: 'My dog is called Biscuit.' });
  const body = JSON.stringify({ model: 'm', ...user('What is my dog called?') });
  for (const [method, at, text] of [['POST', '/v1/messages/count_tokens?beta=true', body], ['POST', '/v1/messages/batches', '{"requests":[]}'], ['GET', '/v1/messages/batches/b_1'], ['GET', '/v1/models?limit=1000']]) {
    const res = await server.ask(method, at, text, { 'anthropic-version': '2023-06-01' });
    assert.equal(res.status, 200, `${at}: ${res.text}`);
    assert.equal(up.last().url, at);
    assert.equal(up.last().body.toString(), text ?? '');
    assert.equal(up.last().headers['x-api-key'], 'sk-settings');
    assert.ok(!('authorization' in up.last().headers));
  }
  const seen = up.asked.length;
  await make('--name', 'one');
  const head = await server.ask('HEAD', '/', undefined, { 'user-agent': 'Bun/1.4.0' });
  assert.equal(head.status, 200);
  assert.equal(up.asked.length, seen);
});
