// cortex_chat.test.js - Cortex's chat: the built-in model, a scripted one, whole and as events, and what goes wrong.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const test = require('node:test');
const { answer, chunk, completion, events, onFullDisk, said, serve, session, until, upstream, uuid } = require('./cortex_lib');

const keysOf = (object) => Object.keys(object);
const sum = (text) => Math.ceil(text.length / 4);

test('it works out of the box: the built-in model answers, whole and as events, and a killed server loses nothing', async (t) => {
  let server = await serve(t);
  let one = await session(server, { app_id: 'travel' });
  const first = await one.say('My dog is called Rex.\nHe is old.');
  assert.deepEqual(keysOf(first), ['message_id', 'content', 'usage', 'cost_usd', 'model']);
  assert.match(first.message_id, uuid);
  assert.equal(first.model, 'rememberd/demo');
  assert.equal(first.cost_usd, 0);
  assert.ok(first.usage.tokens_in > 0 && first.usage.tokens_out === sum(first.content));
  // What was answered is there at once, and after a kill.
  await server.stop('SIGKILL');
  server = await serve(t, { data: server.data });
  const about = (await server.ask('GET', `/v1/session/${one.id}`)).json();
  assert.deepEqual([about.app_id, about.title], ['travel', 'My dog is called Rex.']);
  const list = await (await server.ask('GET', `/v1/session/${one.id}/history`)).json().messages;
  assert.deepEqual(said(list), ['user: My dog is called Rex.\nHe is old.', `assistant: ${first.content}`]);
  assert.equal(list[1].id, first.message_id);
  // The next message has its context.
  const ask = async (message, config) => events((await server.ask('POST', '/v1/chat', { session_id: one.id, message, config })).text);
  const heard = await ask('What is my dog called?', { stream: true });
  const chunks = heard.filter(([name]) => name === 'message').map(([, data]) => data);
  assert.ok(chunks.length > 1);
  for (const data of chunks) assert.deepEqual(keysOf(data), ['chunk', 'id']);
  const text = chunks.map((data) => data.chunk).join('');
  assert.match(text, /Rex/);
  const [last, done] = heard.at(-1);
  assert.equal(last, 'done');
  assert.deepEqual(keysOf(done), ['status', 'usage', 'cost_usd', 'model']);
  assert.deepEqual([done.status, done.model, done.usage.tokens_out], ['completed', 'rememberd/demo', sum(text)]);
  const all = (await server.ask('GET', `/v1/session/${one.id}/history`)).json().messages;
  assert.deepEqual(said(all.slice(2)), ['user: What is my dog called?', `assistant: ${text}`]);
  assert.deepEqual(new Set(chunks.map((data) => data.id)), new Set([all[3].id]));
  // The same words again are said again.
  await ask('What is my dog called?', { stream: true });
  assert.equal((await server.ask('GET', `/v1/session/${one.id}/history`)).json().messages.length, 6);
  // Another conversation of the same app remembers, one of another app does not.
  const other = await session(server, { app_id: 'travel' });
  assert.match((await other.say('What is my dog called?')).content, /Rex/);
  const foreign = await session(server, { app_id: 'cooking' });
  assert.doesNotMatch((await foreign.say('What is my dog called?')).content, /Rex/);
});

test('what is wrong with a request is said in Cortex\'s words, and nothing is kept of it', async (t) => {
  const server = await serve(t, { flags: ['--context-tokens', '1024'] });
  const one = await session(server);
  const fails = async (body, status, code, field, message) => {
    const res = await server.ask('POST', '/v1/chat', body, { 'X-Trace-ID': 'trace-7' });
    assert.equal(res.status, status, res.text);
    const { error } = res.json();
    assert.equal(error.code, code);
    assert.equal(error.trace_id, 'trace-7');
    assert.equal(res.headers['x-trace-id'], 'trace-7');
    assert.equal(error.details.field, field);
    if (message) assert.match(error.message, message);
  };
  const say = (more) => ({ session_id: one.id, message: 'hi', ...more });
  await fails({ message: 'hi' }, 400, 'VALIDATION_ERROR', 'session_id');
  await fails({ session_id: one.id }, 400, 'VALIDATION_ERROR', 'message');
  await fails(say({ message: '' }), 400, 'VALIDATION_ERROR', 'message');
  await fails(say({ message: ' \n' }), 400, 'VALIDATION_ERROR', 'message', /must not be blank/);
  await fails(say({ message: 7 }), 400, 'VALIDATION_ERROR', 'message');
  await fails(say({ config: { model_preference: 'best' } }), 400, 'VALIDATION_ERROR', 'model_preference', /fast, balanced, powerful/);
  await fails(say({ config: { stream: 'yes' } }), 400, 'VALIDATION_ERROR', 'stream');
  await fails(say({ config: 'fast' }), 400, 'VALIDATION_ERROR', 'config');
  await fails('{', 400, 'VALIDATION_ERROR', undefined);
  await fails(say({ session_id: '550e8400-e29b-41d4-a716-446655440000' }), 404, 'SESSION_NOT_FOUND', undefined);
  await fails(say({ session_id: 'x', config: { stream: true } }), 404, 'SESSION_NOT_FOUND', undefined);
  await fails(say({ message: 'word '.repeat(400) }), 400, 'TOKEN_BUDGET_EXCEEDED', 'token_budget', /500 tokens.* left/);
  assert.equal((await server.ask('GET', '/v1/chat')).status, 405);
  assert.deepEqual(await one.history(), []);
  // null is as good as nothing, and what Cortex's clients send besides is taken.
  const fine = await one.say('hi', { stream: null, model_preference: null, switch_ai_api_key: null, embedding_model: 'mistral-embed' });
  assert.equal(fine.model, 'rememberd/demo');
  await one.say('hi', null);
});

test('a model that the operator has named is not answered by the built-in one', async (t) => {
  const server = await serve(t, { flags: ['--model-fast', 'gpt-4o', '--model-powerful', 'rememberd/demo'] });
  const one = await session(server);
  const res = await one.chat('hi', { model_preference: 'fast' });
  assert.equal(res.status, 502, res.text);
  for (const words of ["'gpt-4o'", '--upstream URL', 'rememberd/demo']) assert.ok(res.text.includes(words), res.text);
  assert.equal((await one.say('hi', { model_preference: 'powerful' })).model, 'rememberd/demo');
  assert.equal((await one.say('hi')).model, 'rememberd/demo', 'nobody has named a model');
});

test('a model elsewhere is given the conversation, what is remembered, and the right key', async (t) => {
  const model = await upstream(t, (req, res, asked) => {
    res.setHeader('x-up', 'theirs');
    res.setHeader('set-cookie', 'a=b');
    answer(res, asked, ['Nice', ' to', ' know.']);
  });
  const local = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream', `local=${local.url}`, '--upstream-key', 'server-key',
    '--model-fast', 'openai/gpt-4o-mini', '--model-balanced', 'gpt-4o', '--model-powerful', 'local/llama',
    '--prices', 'gpt-4o=2.5/10, local/llama=1/1'] });
  const one = await session(server);
  const first = await one.say('My dog is called Rex and I live in Lisbon.');
  assert.deepEqual([first.content, first.model, first.usage], ['Nice to know.', 'gpt-4o', { tokens_in: 1, tokens_out: 1 }]);
  assert.equal(first.cost_usd, 0.0000125);
  let sent = model.last();
  assert.equal(sent.url, '/v1/chat/completions');
  assert.equal(sent.headers.authorization, 'Bearer server-key');
  assert.deepEqual([sent.json.model, sent.json.stream, 'stream_options' in sent.json], ['gpt-4o', false, false]);
  assert.deepEqual(sent.json.messages.map((m) => m.role), ['system', 'user']);
  assert.equal(sent.json.messages[1].content, 'My dog is called Rex and I live in Lisbon.');

  // The next message: the window, then the words with what other conversations know beside them.
  const other = await session(server);
  await other.say('My sister is called Ada.');
  const heard = await one.chat('What is my sister called?', { stream: true, model_preference: 'fast' },
    { authorization: 'Bearer not-for-the-model', 'x-custom': 'not either', cookie: 'a=b' });
  assert.equal(heard.status, 200);
  assert.equal(heard.headers['content-type'], 'text/event-stream');
  assert.equal(heard.headers['x-up'], undefined);
  assert.equal(heard.headers['set-cookie'], undefined);
  const list = events(heard.text);
  assert.deepEqual(list.map(([name]) => name), ['message', 'message', 'message', 'done']);
  assert.equal(list.slice(0, -1).map(([, data]) => data.chunk).join(''), 'Nice to know.');
  assert.equal(list.at(-1)[1].model, 'gpt-4o-mini');
  assert.equal(list.at(-1)[1].cost_usd, 0);
  sent = model.last();
  assert.deepEqual([sent.json.model, sent.json.stream, sent.json.stream_options], ['gpt-4o-mini', true, { include_usage: true }]);
  assert.equal(sent.headers.authorization, 'Bearer server-key');
  assert.equal(sent.headers['x-custom'], undefined);
  assert.deepEqual(said(sent.json.messages.slice(1, 3)),
    ['user: My dog is called Rex and I live in Lisbon.', 'assistant: Nice to know.']);
  const words = sent.json.messages[3].content;
  assert.ok(words.startsWith('What is my sister called?\n\n<remembered>') && words.includes('Ada'), words);
  assert.equal(list.at(-1)[1].usage.tokens_out, sum('Nice to know.'), 'estimated where the server does not count');
  assert.equal(list.at(-1)[1].usage.tokens_in,
    sum(sent.json.messages[0].content) + sum(sent.json.messages[1].content) + sum('Nice to know.') + sum('What is my sister called?') +
    sum(words.slice(words.indexOf('<remembered>'))));
  const kept = await one.history();
  assert.deepEqual(said(kept.slice(2)), ['user: What is my sister called?', 'assistant: Nice to know.']);
  assert.equal(kept[3].id, list[0][1].id);

  // The caller's key wins over the stored one, that over the server's.
  assert.equal((await server.ask('PUT', '/v1/users/me/api-key', { api_key: 'sk-stored-key-of-the-user' })).status, 200);
  await one.say('And now?');
  assert.equal(model.last().headers.authorization, 'Bearer sk-stored-key-of-the-user');
  await one.say('And now?', { switch_ai_api_key: 'sk-request', model_preference: 'powerful' });
  assert.equal(local.last().headers.authorization, 'Bearer sk-request');
  assert.equal(local.last().json.model, 'llama');
  for (const switch_ai_api_key of ['a\nX-Evil: 1', 'a b', 'sk-ü', 'ctx_of-this-server']) {
    const bad = await one.chat('And now?', { switch_ai_api_key });
    const { code, details } = bad.json().error;
    assert.deepEqual([bad.status, code, details.field], [400, 'VALIDATION_ERROR', 'switch_ai_api_key']);
  }
});

// A server of a model that answers as each test says.
async function scripted(t, flags = []) {
  const script = { run: null, asked: [] };
  const model = await upstream(t, (req, res, asked) => {
    script.asked.push(asked.json);
    return script.run(res, asked);
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--upstream-key', 'sk-secret-key-of-the-server', ...flags] });
  return { script, model, server };
}

const sse = (res, ...parts) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const part of parts) res.write(part);
};
const stop = chunk({}, 'stop') + 'data: [DONE]\n\n';

test('what a model\'s server does wrong is an error of its service, whole or in the middle of the events', async (t) => {
  const { script, server } = await scripted(t);
  const secret = 'the safe is opened by 17-42-9 and nobody knows';
  const json = (code, body) => (res) => {
    res.writeHead(code, { 'content-type': 'application/json' });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const cases = [
    // name, what it does, what is said, whether words came before
    ['a refusal', json(401, { error: { message: 'bad key' } }), /answers 401: bad key/],
    ['a refusal that repeats', json(400, { error: { message: `I was asked ${secret} by sk-secret-key-of-the-server` } }), /answers 400: \(in words/],
    ['no JSON', json(200, 'oops'), /not a chat completion/],
    ['no text', json(200, completion('')), /no text/],
    ['no choices', json(200, { choices: [] }), /no text/],
    ['an error that promises success', json(200, { error: { message: 'too hot' } }), /too hot/],
    ['a broken line', (res) => res.destroy(), /did not answer/],
    ['half an answer', (res) => { res.writeHead(200, { 'content-length': 1000 }); res.write('{'); res.destroy(); }, /did not answer/],
    ['an event that is an error', (res) => { sse(res, 'data: {"error":{"message":"overloaded"}}\n\n'); res.end(); }, /broke off: overloaded/, true],
    ['an error in the middle', (res) => { sse(res, chunk({ content: 'Well' }), 'data: {"error":{"message":"overloaded"}}\n\n'); res.end(); }, /overloaded/, true, ['Well']],
    ['an end in the middle', (res) => { sse(res, chunk({ content: 'Well' })); res.end(); }, /ended in the middle/, true, ['Well']],
    ['a cut in the middle', (res) => { sse(res, chunk({ content: 'Well' })); setImmediate(() => res.destroy()); }, /did not answer to the end/, true, ['Well']],
  ];
  for (const [name, run, why, streamed, words = []] of cases) {
    script.run = run;
    for (const stream of streamed ? [true] : [false, true]) {
      const one = await session(server);
      const res = await one.chat(secret, { stream });
      const told = words.length ? events(res.text) : [['error', res.json()]];
      assert.equal(res.status, words.length ? 200 : 502, `${name}: ${res.text}`);
      assert.deepEqual(told.slice(0, -1).map(([, data]) => data.chunk), words, name);
      const [last, { error }] = told.at(-1);
      assert.equal(last, 'error');
      assert.equal(error.code, 'LLM_SERVICE_ERROR', name);
      assert.match(error.message, why, name);
      assert.equal(error.trace_id, res.headers['x-trace-id']);
      assert.ok(!res.text.includes('17-42') && !res.text.includes('sk-secret'), res.text);
      const kept = await one.history();
      assert.ok(kept.length <= 1 && kept.every((m) => m.role === 'user'), `${name}: ${JSON.stringify(kept)}`);
    }
  }
  // And it goes on as if nothing had been, where the question was kept or not.
  const one = await session(server);
  script.run = (res) => { sse(res, chunk({ content: 'Well' })); setImmediate(() => res.destroy()); };
  await one.chat('Do you hear me?', { stream: true });
  assert.equal((await one.history()).length, 1);
  script.run = (res, asked) => answer(res, asked, 'Now I do.');
  await one.say('Do you hear me?');
  assert.deepEqual(script.asked.at(-1).messages.map((m) => m.role), ['system', 'user']);
  assert.deepEqual(said(await one.history()), ['user: Do you hear me?', 'assistant: Now I do.']);
});

test('behind failed answers the model still hears user and assistant in turns', async (t) => {
  const { script, server } = await scripted(t);
  const one = await session(server);
  script.run = (res, asked) => answer(res, asked, 'Yes.');
  await one.say('one');
  script.run = (res) => { sse(res, chunk({ content: 'Well' })); setImmediate(() => res.destroy()); };
  for (const word of ['two', 'three']) {
    await one.chat(word, { stream: true });
    assert.equal((await one.history()).at(-1).content, word);
  }
  script.run = (res, asked) => answer(res, asked, 'Now I do.');
  await one.say('four');
  const roles = () => script.asked.at(-1).messages.map((m) => m.role);
  assert.deepEqual(roles(), ['system', 'user', 'assistant', 'user']);
  assert.ok(script.asked.at(-1).messages.at(-1).content.startsWith('two\n\nthree\n\nfour'));
  await one.say('five');
  assert.deepEqual(roles(), ['system', 'user', 'assistant', 'user', 'assistant', 'user']);
  assert.equal(script.asked.at(-1).messages[3].content, 'two\n\nthree\n\nfour');
  assert.deepEqual((await one.history()).map((m) => m.content), ['one', 'Yes.', 'two', 'three', 'four', 'Now I do.', 'five', 'Now I do.']);
});

test('a model that falls silent is given up, before its first word or behind it', async (t) => {
  const { script, server } = await scripted(t, ['--upstream-timeout-ms', '1500']);
  script.run = (res, asked) => asked.json.messages.at(-1).content === 'begin' && sse(res, chunk({ content: 'Well' }));
  await Promise.all([['begin', true], ['say nothing', true], ['say nothing', false]].map(async ([message, stream]) => {
    const one = await session(server);
    const res = await one.chat(message, { stream });
    const [name, { error }] = message === 'begin' ? events(res.text).at(-1) : ['error', res.json()];
    assert.deepEqual([name, error.code], ['error', 'LLM_SERVICE_ERROR']);
    assert.match(error.message, /silent/);
    await until('what is kept', async () => (await one.history()).length === (message === 'begin' ? 1 : 0));
  }));
});

test('servers that answer in their own manner are understood', async (t) => {
  const { script, server } = await scripted(t);
  const one = await session(server);
  const words = (list) => list.filter(([name]) => name === 'message').map(([, data]) => data.chunk).join('');
  // One that knows no stream.
  script.run = (res) => { res.writeHead(200, { 'content-type': 'application/json' }); res.end(JSON.stringify(completion('All at once.'))); };
  let heard = await one.say('Hello?', { stream: true });
  assert.deepEqual(heard.map(([name]) => name), ['message', 'done']);
  assert.equal(words(heard), 'All at once.');
  // One that refuses to count.
  script.run = (res, asked) => {
    if (!asked.json.stream_options) return answer(res, asked, 'Uncounted.');
    res.writeHead(400, { 'content-type': 'application/json' });
    res.end('{"error":{"message":"unknown field stream_options"}}');
  };
  heard = await one.say('Hello?', { stream: true });
  assert.equal(words(heard), 'Uncounted.');
  // One that counts, thinks in parts and in pieces of bytes, and says no [DONE].
  script.run = async (res) => {
    const bytes = Buffer.from(chunk({ role: 'assistant' }) + ': keep-alive\n\n' + chunk({ content: [{ type: 'text', text: 'Grüße ' }] }) +
      chunk({ content: '🦊\n"quoted"' }) + chunk({}, 'stop') +
      'data: {"choices":[],"usage":{"prompt_tokens":77,"completion_tokens":9}}\n\n');
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (let i = 0; i < bytes.length; i += 7) {
      res.write(bytes.subarray(i, i + 7));
      await new Promise((next) => setImmediate(next));
    }
    res.end();
  };
  heard = await one.say('Hello?', { stream: true });
  assert.equal(words(heard), 'Grüße 🦊\n"quoted"');
  assert.deepEqual(heard.at(-1)[1].usage, { tokens_in: 77, tokens_out: 9 });
  assert.equal((await one.history()).at(-1).content, 'Grüße 🦊\n"quoted"');
  assert.equal((await one.history()).length, 6);
});

test('the events come as the model speaks, and a client that leaves keeps what the user said', async (t) => {
  const { script, server } = await scripted(t);
  const one = await session(server);
  let up;
  script.run = (res) => sse(up = res, chunk({ content: 'Once upon' }));
  const begin = async () => {
    const req = http.request(`${server.url}/v1/chat`, { method: 'POST', headers: { 'content-type': 'application/json' } });
    req.end(JSON.stringify({ session_id: one.id, message: 'Tell me a story.', config: { stream: true } }));
    req.on('error', () => {});
    const res = await new Promise((got) => req.on('response', got));
    let text = '';
    res.setEncoding('utf8').on('data', (part) => (text += part)).on('error', () => {});
    await until('the first words', () => text.includes('Once upon'));
    return { req, res, text: () => text };
  };
  const left = await begin();
  left.req.destroy();
  await until('the upstream hears of it', () => up.destroyed || up.closed);
  await until('the question is kept', async () => (await one.history()).length === 1);
  // Asked again it is the same question; another conversation is not held up meanwhile.
  const again = await begin();
  assert.ok(!again.text().includes('event: done'));
  up.end(chunk({ content: ' a time.' }) + stop);
  await until('the end', () => again.text().includes('event: done'));
  assert.deepEqual(said(await one.history()), ['user: Tell me a story.', 'assistant: Once upon a time.']);
});

test('64 chats at once hold no worker while their model thinks', async (t) => {
  const waiting = [];
  const { script, server } = await scripted(t, ['--workers', '2']);
  script.run = (res, asked) => waiting.push([res, asked]);
  const chats = Array.from({ length: 64 }, async (_, i) => {
    const one = await session(server);
    const reply = await one.chat(`number ${i}`, { stream: i % 2 === 0 });
    assert.equal(reply.status, 200, reply.text);
    assert.ok(reply.text.includes(`answer ${i}.`), reply.text);
    return one;
  });
  await until('all of them asked', () => waiting.length === 64);
  assert.equal((await server.ask('GET', '/ready')).status, 200);
  for (const [res, asked] of waiting) answer(res, asked, `answer ${/number (\d+)/.exec(asked.json.messages.at(-1).content)[1]}.`);
  for (const one of await Promise.all(chats)) assert.equal((await one.history()).length, 2);
});

test('a small model is shown less of a long conversation than a large one, and where memory goes is the upstream\'s', async (t) => {
  const { script, server } = await scripted(t, ['--model-fast', 'llama3.2:1b', '--model-balanced', 'llama-3.3-70b', '--placement', 'system']);
  script.run = (res, asked) => answer(res, asked, `reply ${asked.json.messages.at(-1).content}`);
  const one = await session(server);
  for (let i = 0; i < 8; i++) await one.say(`message ${i}`);
  await one.say('last', { model_preference: 'fast' });
  assert.deepEqual(said(script.asked.at(-1).messages).slice(1), ['user: message 5', 'assistant: reply message 5', 'user: message 6',
    'assistant: reply message 6', 'user: message 7', 'assistant: reply message 7', 'user: last']);
  await one.say('What is my name?');
  assert.equal(script.asked.at(-1).messages.length, 20);
  const other = await session(server);
  await other.say('My name is Ada Lovelace.');
  await one.say('What is my name?');
  const messages = script.asked.at(-1).messages;
  assert.deepEqual(messages.slice(0, 2).map((m) => [m.role, m.content.startsWith('<remembered>')]), [['system', true], ['system', false]]);
  assert.equal(messages.at(-1).content, 'What is my name?');
});

test('the block is where the placement says', async (t) => {
  for (const [placement, model, at, role] of [['user-suffix', 'gpt', -1], ['before-user', 'gpt', -2, 'system'], ['before-user', 'o1', -2, 'user'],
    ['system', 'gpt', 0, 'system'], ['system', 'o1', 0, 'user'], ['first-user', 'gpt', 0, 'user']]) {
    const { script, server } = await scripted(t, ['--model-balanced', model, '--placement', placement]);
    script.run = (res, asked) => answer(res, asked, 'a "reply"');
    await (await session(server)).say('My name is Ada Lovelace.');
    const one = await session(server);
    await one.say('Hello there.');
    await one.say('What is my \u{1F600} name?\n"Say\\ it."');
    const messages = script.asked.at(-1).messages, system = model === 'o1' ? [] : ['system'], own = role ? [role] : [];
    const rest = ['user', 'assistant', 'user'];
    assert.deepEqual(messages.map((m) => m.role), at === 0 ? [...own, ...system, ...rest]
      : [...system, 'user', 'assistant', ...own, 'user'], `${placement} ${model}`);
    assert.match(messages.at(at).content, at === -1 ? /^What [^]+it\."\n\n<remembered>[^]+Ada Lovelace/ : /^<remembered>[^]+Ada Lovelace/);
    if (at !== -1) assert.equal(messages.at(-1).content, 'What is my \u{1F600} name?\n"Say\\ it."');
  }
});

test('sessions are their users\' own, for chat and context', async (t) => {
  const server = await serve(t);
  const made = await Promise.all(['1', '2'].map((n) => server.ask('POST', '/v1/users',
    { id: `550e8400-e29b-41d4-a716-44665544000${n}`, email: `u${n}@example.com` })));
  const [ada, bob] = made.map((res) => ({ authorization: `Bearer ${res.json().access_token}` }));
  const one = await session(server, { headers: ada });
  await one.say('My dog is called Rex.');
  for (const [method, target, body] of [['POST', '/v1/chat', { session_id: one.id, message: 'hi' }], ['GET', `/v1/session/${one.id}/context`]]) {
    const res = await server.ask(method, target, body, bob);
    assert.deepEqual([res.status, res.json().error.code], [404, 'SESSION_NOT_FOUND']);
    assert.equal((await server.ask(method, target, body, ada)).status, 200);
    assert.equal((await server.ask(method, target, body, { authorization: 'Bearer ctx_unknown' })).status, 401);
  }
});

test('the context of the next message is shown and nothing is written', async (t) => {
  const server = await serve(t, { flags: ['--encoder', 'off'] });
  const one = await session(server), other = await session(server);
  await other.say('My sister Ada is a pilot in Porto.');
  for (let i = 0; i < 4; i++) await one.say(`This is message number ${i} of a rather long conversation.`);
  const context = async (query) => {
    const res = await server.ask('GET', `/v1/session/${one.id}/context?${new URLSearchParams(query)}`);
    assert.equal(res.status, 200, res.text);
    return res.json();
  };
  const metrics = async () => /^rememberd_store_writes_total (.+)$/m.exec((await server.ask('GET', '/metrics')).text)[1];
  const before = await metrics();
  const full = await context({ query: 'What does my sister Ada do?' });
  assert.deepEqual(keysOf(full), ['session_id', 'model', 'system', 'memories', 'messages', 'block', 'token_count', 'budget', 'reasons']);
  assert.equal(full.session_id, one.id);
  assert.ok(full.memories.some((m) => /pilot/.test(m.content)), JSON.stringify(full.memories));
  for (const m of full.memories) assert.ok(m.id && m.score >= 0 && m.score <= 1 && m.why && full.block.includes(m.content));
  assert.equal(full.messages.length, 8);
  assert.equal(full.token_count, sum(full.system) + full.messages.reduce((n, m) => n + m.token_count, 0) + sum(full.block));
  assert.ok(full.token_count <= full.budget);
  assert.equal(full.reasons.length, 2);
  for (const budget of [60, 150, 250, 300]) {
    const small = await context({ query: 'What does my sister Ada do?', budget });
    assert.equal(small.budget, budget);
    assert.ok(small.token_count <= budget, `${small.token_count} of ${budget}`);
    assert.ok(small.messages.length < 8);
  }
  const followUp = await context({ query: 'And what about her?' });
  assert.match(followUp.reasons[1], /^query: searched as /);
  assert.equal(followUp.reasons.length, 3);
  const plain = await context({});
  assert.deepEqual([plain.memories, plain.block], [[], '']);
  assert.match(plain.reasons[1], /no query/);
  assert.equal(await metrics(), before);
  assert.equal((await server.ask('GET', `/v1/session/${one.id}/context?budget=x`)).status, 400);
  assert.equal((await server.ask('GET', `/v1/session/${one.id}/context?model_preference=x`)).status, 400);
});

test('an answer that cannot be kept is not acknowledged, by Cortex nor behind the proxy', async (t) => {
  const words = Array.from({ length: 50 }, (_, i) => Array.from({ length: 6000 }, (_, k) => `w${i * 6000 + k}`).join(' '));
  const model = await upstream(t, (req, res, asked) => answer(res, asked, asked.json?.messages.at(-1).content === 'long' ? words : 'short'));
  const server = await onFullDisk(t, 1024, ['--upstream', model.url, '--encoder', 'off']); // vectors are written behind: the last write may succeed
  const one = await session(server);
  await one.say('hi');
  const live = async () => (await server.ask('GET', '/health/live')).json().status;
  assert.equal(await live(), 'healthy');
  const whole = await one.chat('long');
  assert.deepEqual([whole.status, whole.json().error.code], [500, 'INTERNAL_ERROR'], whole.text.slice(0, 300));
  assert.equal(await live(), 'unhealthy');
  assert.match((await server.ask('GET', '/ready')).json().message, /^Service is not ready: the last write failed: /);
  const heard = events((await one.chat('long', { stream: true })).text);
  assert.equal(heard.length, 51);
  assert.deepEqual([heard[50][0], heard[50][1].error?.code], ['error', 'INTERNAL_ERROR']);
  for (const stream of [false, true])
    await assert.rejects(server.chat({ model: 'any', stream, messages: [{ role: 'user', content: 'long' }] },
      { 'X-Session-Id': 's', 'X-Session-History': 'on' }), /aborted|hang up|ECONNRESET/);
  assert.deepEqual(said(await one.history()), ['user: hi', 'assistant: short']);
  await one.say('short again');
  assert.equal(await live(), 'healthy');
});

test('an answer without end is broken off, whole or as events', async (t) => {
  const { script, server } = await scripted(t);
  const piece = chunk({ content: 'on and on '.repeat(6000) });
  for (const [type, stream] of [['application/json', false], ['text/event-stream', true]]) {
    const one = await session(server);
    let sent = 0;
    script.run = (res) => {
      res.writeHead(200, { 'content-type': type });
      const more = () => {
        for (; !res.destroyed && sent < 64 << 20; sent += piece.length)
          if (!res.write(piece)) return res.once('drain', more);
        return res.end();
      };
      more();
    };
    const res = await one.chat('How long is it?', { stream });
    const { error } = stream ? events(res.text).at(-1)[1] : res.json();
    assert.equal(res.status, stream ? 200 : 502);
    assert.deepEqual([error.code, /too long/.test(error.message)], ['LLM_SERVICE_ERROR', true], error.message);
    assert.ok(sent < 64 << 20, 'the model\'s server was still sending');
  }
});

test('what is deleted while the model answers does not come back with the answer', async (t) => {
  const { script, server } = await scripted(t);
  for (const target of [(id) => `/v1/session/${id}`, () => '/v1/memory/user/all?app_id=*']) {
    const one = await session(server);
    script.run = (res, asked) => answer(res, asked, 'fine');
    await one.say('My dog is called Rex.');
    let asked, ends;
    const [isAsked, end] = [new Promise((done) => (asked = done)), new Promise((done) => (ends = done))];
    script.run = async (res) => {
      sse(res, chunk({ content: 'Well' }));
      asked();
      await end;
      res.end(stop);
    };
    const answered = one.chat('I like pistachio ice cream.', { stream: true });
    await isAsked;
    assert.ok((await server.ask('DELETE', target(one.id))).status < 300);
    ends();
    assert.deepEqual(events((await answered).text).map(([name]) => name), ['message', 'done']);
    assert.equal((await server.ask('GET', `/v1/session/${one.id}`)).status, 404);
    assert.ok(!/pistachio/.test((await server.ask('GET', '/v1/memory/me')).text));
  }
});
