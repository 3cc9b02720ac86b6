// ollama.test.js - Ollama's own API: its chat with memory, byte by byte; what is passed on; what is refused.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { once } = require('node:events');
const { test } = require('node:test');
const zlib = require('node:zlib');
const { run, serve, tempFolder, until, upstream } = require('./lib.js');
const { OPENING, answer, blocks, flags, head, heard, lines, ollama, say, whole } = require('./ollama_lib.js');

const user = (content, more = {}) => ({ messages: [{ role: 'user', content, ...more }] });
const given = (up) => JSON.stringify(up.last().json.messages);
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function ready(t, { handler, more = [], ...options } = {}) {
  const up = await ollama(t, handler), server = await serve(t, { flags: [...flags(up), ...more], ...options });
  return { up, server };
}

const kept = async (server, res, headers) => {
  assert.equal(res.status, 200, res.text);
  await server.receipt(res.headers['x-rememberd-receipt'], headers);
};

const history = async (server, res) => (await server.ask('GET', `/v1/session/${res.headers['x-omniroute-session-id']}/history`)).json().messages.map((m) => m.content);

// The dialect's one shape: a sentence.
function refusal(res, status, words) {
  assert.equal(res.status, status, res.text);
  assert.deepEqual(Object.keys(res.json()), ['error']);
  assert.match(res.json().error, words);
}

// --- one memory with the other doors ---

test('what is said here is recalled in chat completions, and the other way round', async (t) => {
  const { up, server } = await ready(t);
  await kept(server, await say(server, user('My sister Ada lives in Oslo.')));
  await server.tell('My boat is called Halcyon.');
  assert.equal((await server.chat({ model: 'scripted', ...user('Where does my sister live?') })).status, 200);
  assert.equal(up.last().url, '/v1/chat/completions');
  assert.match(given(up), /Ada lives in Oslo/);
  const res = await say(server, user('What is my boat called?'));
  assert.equal(up.last().url, '/api/chat');
  assert.match(given(up), /Halcyon/);
  const receipt = await server.receipt(res.headers['x-rememberd-receipt']);
  assert.ok(receipt.block.startsWith(OPENING));
  assert.equal(up.last().json.messages[0].content, `What is my boat called?\n\n${receipt.block}`);
});

// --- what the client gets ---

// Bytes as they come, cut where it hurts: within a line, within a character.
async function inPieces(res, bytes, size) {
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  for (let i = 0; i < bytes.length; i += size) {
    res.write(bytes.subarray(i, i + size));
    await new Promise(setImmediate);
  }
  res.end();
}

test('a stream passes byte for byte, and is kept as it reads', async (t) => {
  const odd = `{ "model":"scripted:latest","message" : {"content":"Gr\\u00fc\\u00dfe, ","role":"assistant","thinking":"hm"},"done":false , "future":1.50}\r\n`;
  for (const size of [1, 7, 100000]) {
    const bytes = Buffer.from(odd + lines({ thinking: 'Where was it?', content: 'dein Zelt 🏕 ist in Fach 58.\nDer Schlüssel hängt daneben.' }).join(''));
    const { up, server } = await ready(t, { handler: (req, res) => inPieces(res, bytes, size) });
    const res = await say(server, user('Wo ist mein Zelt?'));
    assert.equal(res.text, bytes.toString());
    assert.equal(res.headers['content-type'], 'application/x-ndjson');
    await kept(server, res);
    assert.deepEqual(await history(server, res), ['Wo ist mein Zelt?', 'Grüße, dein Zelt 🏕 ist in Fach 58.\nDer Schlüssel hängt daneben.']);
    assert.ok(!('stream' in up.last().json), 'it is the default');
  }
});

test('a line goes on when it comes, not when the answer ends', async (t) => {
  let go;
  const { server } = await ready(t, { handler: async (req, res) => {
    const [first, ...rest] = lines('Slowly but surely.');
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(first);
    await new Promise((done) => (go = done));
    res.end(rest.join(''));
  } });
  const req = http.request(`${server.url}/api/chat`, { method: 'POST', agent: false, headers: { 'content-type': 'application/json' } });
  req.end(JSON.stringify({ model: 'scripted', ...user('hi') }));
  const [res] = await once(req, 'response'), [first] = await once(res, 'data');
  assert.equal(first.toString(), lines('Slowly but surely.')[0]);
  go();
  let rest = '';
  for await (const part of res) rest += part;
  assert.equal(rest, lines('Slowly but surely.').slice(1).join(''));
});

test('a whole answer passes byte for byte, and is kept', async (t) => {
  const { up, server } = await ready(t, { handler: (req, res, asked) => answer(res, asked, { thinking: 'hm', content: 'In locker 58.' }) });
  const res = await say(server, { ...user('Where is my tent?'), stream: false });
  assert.equal(res.text, whole({ thinking: 'hm', content: 'In locker 58.' }));
  assert.equal(res.headers['content-type'], 'application/json; charset=utf-8');
  await kept(server, res);
  assert.deepEqual(await history(server, res), ['Where is my tent?', 'In locker 58.']);
  assert.equal(up.last().json.stream, false);
});

for (const end of ['\n', '']) test(`text in the last line counts as well, which may lack its end (${end.length})`, async (t) => {
  const last = `${JSON.stringify({ ...head, message: { role: 'assistant', content: '58.' }, done: true, done_reason: 'stop' })}${end}`;
  const { server } = await ready(t, { handler: (req, res) => inPieces(res, Buffer.from(lines('In locker ').slice(0, -1).join('') + last), 9) });
  const res = await say(server, user('Where is my tent?'));
  await kept(server, res);
  assert.deepEqual(await history(server, res), ['Where is my tent?', 'In locker 58.']);
});

// --- what the upstream gets ---

test('nothing is changed but the place of the block', async (t) => {
  const { up, server } = await ready(t);
  await kept(server, await say(server, user('My favourite tea is Lapsang.')));
  const front = '{ "model":"scripted" ,"keep_alive" : 3e2, "options":{"num_ctx":8192,"temperature":0.70}, "future":{"a":1.50,"b":"\\u00e9\\/"}, "think":true,"messages": [ ';
  const ask = async (text) => {
    const res = await server.ask('POST', '/api/chat?x=1', text, { 'x-kept': 'yes' });
    assert.equal(res.status, 200, res.text);
    const got = up.last(), at = got.body.toString(), from = at.indexOf(`\\n\\n${OPENING}`);
    assert.equal(got.url, '/api/chat?x=1');
    assert.equal(got.headers['x-kept'], 'yes');
    assert.ok(from > 0, at);
    assert.match(at, /Lapsang/);
    return [at.slice(0, from), at.slice(at.indexOf('"', from))];
  };
  assert.deepEqual(await ask(`${front}{"role":"system","content":"Be brief."}, {"images":["${PNG}"], "role":"user", "content": "What is my \\u0066avourite tea?" } ] }`),
    [`${front}{"role":"system","content":"Be brief."}, {"images":["${PNG}"], "role":"user", "content": "What is my \\u0066avourite tea?`, '" } ] }']);
  const tool = '{"role":"user","content":"Look."},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"deep":{"done":true}}}}]},{"role":"tool","content":"a shelf","tool_name":"look"},{"role":"assistant","content":"Seen."},';
  assert.deepEqual(await ask(`${front}${tool}{"content":"And what is my favourite tea?","role":"user"}],"tools":[]}`),
    [`${front}${tool}{"content":"And what is my favourite tea?`, '","role":"user"}],"tools":[]}']);
});

for (const [placement, at, role] of [['before-user', 3, 'system'], ['system', 0, 'system'], ['first-user', 0, 'user']])
  test(`--placement ${placement}`, async (t) => {
    const { up, server } = await ready(t, { more: ['--placement', placement] });
    await server.tell('My dog is called Rex.');
    const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello.' }, { role: 'assistant', content: 'Hello.' }, { role: 'user', content: 'What is my dog called?', images: [PNG] }];
    const res = await say(server, { messages });
    const { block } = await server.receipt(res.headers['x-rememberd-receipt']);
    assert.match(block, /Rex/);
    assert.deepEqual(up.last().json.messages, [...messages.slice(0, at), { role, content: block }, ...messages.slice(at)]);
  });

test('an image without a text is passed on untouched', async (t) => {
  const { up, server } = await ready(t);
  await server.tell('My dog is called Rex.');
  for (const messages of [[{ role: 'user', images: [PNG] }], [{ role: 'user', content: '', images: [PNG] }]]) {
    assert.equal((await say(server, { messages })).status, 200);
    assert.deepEqual(up.last().json.messages, messages);
  }
});

// --- a prompt that only grows ---

const facts = ['My sister Ada lives in Oslo.', 'I drive a green Saab.', 'My dog is called Biscuit.', 'I am allergic to walnuts.', 'Our boat is called Halcyon.', 'My dentist is Dr. Lindqvist.', 'My favourite tea is Lapsang.',
  'The spare key is under the blue pot.', 'I play the cello on Tuesdays.', 'My bike is crimson.'];
const talk = ['Where does my sister live?', 'What car do I drive?', 'Thanks!', 'What is my dog called?', 'Tell me a joke.', 'What am I allergic to?', 'What is our boat called?', 'Who is my dentist?', 'My neighbour is called Olga.',
  'What is my favourite tea?', 'Where is the spare key?', 'When do I play the cello?', 'Where does my sister live again?', 'What colour is my bike?'];

function prompt(one) {
  const text = one.body.toString(), at = text.indexOf('"messages":[') + '"messages":['.length, all = JSON.stringify(one.json.messages);
  assert.equal(text.slice(at - 1, at - 1 + all.length), all, 'the test sends what JSON.stringify gives');
  return all.slice(1, -1);
}

function assertGrows(asked) {
  for (let i = 1; i < asked.length; i++) {
    const before = prompt(asked[i - 1]);
    assert.equal(prompt(asked[i]).slice(0, before.length), before, `request ${i} of ${asked.length} changes what went before`);
  }
}

// With tools every third question first looks something up.
const scripted = (req, res, asked) => {
  const { messages } = asked.json, n = messages.filter((m) => m.role === 'user').length;
  const looks = asked.json.tools && messages.at(-1).role === 'user' && n % 3 === 0;
  answer(res, asked, looks ? { tool_calls: [{ function: { name: 'look', arguments: { n } } }] } : { thinking: 'hm', content: `Answer ${n}.\n` });
};

const ways = { 'streamed': {}, 'whole answers': { stream: false }, 'with tools': { tools: true }, 'with images': { images: [PNG] }, 'an Open WebUI chat': { headers: { 'x-openwebui-chat-id': 'one' } } };
for (const [name, { stream, tools, images, headers = {} }] of Object.entries(ways))
  test(`a conversation of ${talk.length} turns only grows at its end: ${name}`, async (t) => {
    const { up, server } = await ready(t, { handler: scripted });
    for (const content of facts) await server.ask('POST', '/v1/memories', { content });
    const messages = [{ role: 'system', content: 'Be brief.' }];
    let rounds = 0;
    for (const content of talk) {
      messages.push({ role: 'user', content, ...(images && { images }) });
      for (;;) {
        const res = await say(server, { messages, ...(stream === false && { stream }), ...(tools && { tools: [{ type: 'function', function: { name: 'look', parameters: {} } }] }) }, headers);
        assert.equal(res.status, 200, res.text);
        messages.push(heard(res.text));
        if (!messages.at(-1).tool_calls) break;
        messages.push({ role: 'tool', tool_name: 'look', content: `looked ${++rounds}` });
      }
    }
    assertGrows(up.asked);
    assert.ok(blocks(up.last()) >= 7, `${blocks(up.last())} blocks are in the last request`);
    assert.equal(rounds, tools ? 4 : 0);
    assert.equal(up.asked.length, talk.length + rounds);
  });

test('200 turns only grow, and every block is there to the end', async (t) => {
  const long = require('./long_talk.js'), { up, server } = await ready(t, { handler: (req, res, asked) => answer(res, asked, `Answer ${asked.json.messages.length}.`) });
  for (const content of long.facts) await server.ask('POST', '/v1/memories', { content });
  const messages = [];
  for (const content of long.talk) {
    messages.push({ role: 'user', content });
    messages.push(heard((await say(server, { messages })).text));
  }
  assertGrows(up.asked);
  assert.equal(up.asked.length, 200);
  long.assertGiven(up.last().body.toString());
});

test('a message alone in a chat that is known begins it again, and keeps its block from then on', async (t) => {
  const { up, server } = await ready(t), chat = { 'x-openwebui-chat-id': 'one' };
  for (const content of facts) await server.ask('POST', '/v1/memories', { content });
  for (const first of ['Where does my sister live?', 'What car do I drive?', 'What is my dog called?']) {
    const messages = [{ role: 'user', content: first }], seen = up.asked.length;
    for (const next of ['Thanks!', 'Who is my dentist?', 'Thanks again!']) {
      messages.push(heard((await say(server, { messages }, chat)).text), { role: 'user', content: next });
    }
    await say(server, { messages }, chat);
    assertGrows(up.asked.slice(seen));
    assert.ok(blocks(up.last()) >= 2, up.last().body.toString());
  }
});

test('what is erased leaves the conversation that received it', async (t) => {
  const { up, server } = await ready(t);
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'The alarm code is 7391.' })).json();
  const first = user('What is the alarm code?');
  await say(server, first);
  const later = { messages: [...first.messages, { role: 'assistant', content: 'fine' }, { role: 'user', content: 'Thanks!' }] };
  await say(server, later);
  assert.match(given(up), /7391/);
  assert.equal((await server.ask('DELETE', `/v1/memories/${id}`)).status, 200);
  await say(server, later);
  assert.doesNotMatch(given(up), /7391/);
});

// --- whose memory, which conversation ---

test('Open WebUI\'s headers name the person and the chat; spaces and switches count', async (t) => {
  const { up, server } = await ready(t);
  const anna = { 'x-openwebui-user-id': 'anna', 'x-openwebui-chat-id': 'chat-1' };
  const res = await say(server, { ...user('My dog is called Biscuit.'), space: 'home' }, anna);
  assert.ok(!('space' in up.last().json), 'the upstream does not know the member');
  assert.equal(res.headers['x-omniroute-session-id'], 'chat-1');
  await kept(server, res, { 'x-memory-user': 'anna', 'x-memory-space': 'home' });
  const knows = async (headers) => {
    assert.equal((await say(server, user('What is my dog called?'), { 'x-memory-mode': 'readonly', ...headers })).status, 200);
    return /Biscuit/.test(given(up));
  };
  const home = { 'x-openwebui-user-id': 'anna', 'x-memory-space': 'home' };
  assert.equal(await knows(home), true);
  assert.equal(await knows({ 'x-openwebui-user-id': 'anna' }), false);
  assert.equal(await knows({ 'x-openwebui-user-id': 'bob', 'x-memory-space': 'home' }), false);
  assert.equal(await knows({ ...home, 'x-memory-mode': 'off' }), false);
  assert.equal(await knows({ ...home, 'x-memory-mode': 'after' }), false);
  assert.equal(await knows({ ...home, 'x-memory-scope': 'session', 'x-session-id': 'another' }), false);
  assert.equal(await knows({ ...home, 'x-openwebui-task': 'title_generation' }), false);
});

test('calls of the client\'s own get and teach nothing', async (t) => {
  const { up, server } = await ready(t);
  await server.tell('My sister Ada lives in Oslo.');
  const title = '### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Chat History:\n<chat_history>\nUSER: Where does my sister Ada live?\n</chat_history>';
  for (const [body, headers, call] of [[{ ...user(title), stream: false }, {}, 'title of Open WebUI'], [user('Where does my sister Ada live?'), { 'x-openwebui-task': 'tags_generation' }, 'tags of Open WebUI'],
    [{ ...user('Where does my sister Ada live?'), options: { num_predict: 1 } }, {}, 'probe of the client']]) {
    const res = await say(server, body, headers);
    assert.equal(res.headers['x-memory'], `off; reason=helper; call="${call}"`);
    assert.deepEqual(up.last().json, { model: 'scripted', ...body });
  }
  for (const num_predict of [-1, -2, 128]) {
    const res = await say(server, { ...user('Where does my sister Ada live?'), options: { num_predict } });
    assert.equal(res.headers['x-memory'], undefined, `num_predict ${num_predict} is a chat's`);
    assert.match(given(up), /Oslo/);
  }
});

// --- answers that do not end well ---

async function unkept(t, handler, check) {
  const { up, server } = await ready(t, { handler: (req, res, asked) => (asked.json.messages.at(-1).content === 'Again?' ? answer(res, asked, 'fine') : handler(req, res, asked)) });
  const first = user('Where is my tent?');
  await check(() => say(server, first, { 'x-session-id': 's' }), up);
  const res = await say(server, user('Again?'), { 'x-session-id': 't' });
  await kept(server, res);
  const all = (await server.ask('POST', '/v1/memories/search', { query: 'broken locker', limit: 50 })).text;
  assert.doesNotMatch(all, /broken locker/, 'no half of an answer is kept');
}

test('an error in the middle of a stream passes, and nothing of the answer is kept', async (t) => {
  const text = `${lines('It is in the broken locker 58.').slice(0, 3).join('')}{"error":"an error was encountered while running the model"}\n`;
  await unkept(t, (req, res) => inPieces(res, Buffer.from(text), 11), async (ask) => assert.equal((await ask()).text, text));
});

test('a stream without its last line is not kept', async (t) => {
  const text = lines('It is in the broken locker 58.').slice(0, -1).join('');
  await unkept(t, (req, res) => inPieces(res, Buffer.from(text), 11), async (ask) => assert.equal((await ask()).text, text));
});

test('a stream that breaks off breaks off for the client, and is not kept', async (t) => {
  await unkept(t, async (req, res) => {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write(lines('It is in the broken locker 58.').slice(0, 4).join(''));
    await new Promise((done) => setTimeout(done, 20));
    res.destroy();
  }, (ask) => assert.rejects(ask));
});

test('an error of the upstream passes byte for byte, and the turn is not kept', async (t) => {
  const text = '{"error":"model \\"nothing\\" not found, try pulling it first"}';
  const { server } = await ready(t, { handler: (req, res, asked) => {
    if (asked.json.model === 'scripted') return answer(res, asked, 'fine');
    res.writeHead(404, { 'content-type': 'application/json; charset=utf-8' });
    res.end(text);
  } });
  const res = await say(server, { ...user('My canoe is called Wren.'), model: 'nothing' });
  assert.deepEqual([res.status, res.text, res.headers['content-type']], [404, text, 'application/json; charset=utf-8']);
  await kept(server, await say(server, user('My kayak is called Tern.')));
  const found = (await server.ask('GET', '/v1/memories')).text;
  assert.match(found, /Tern/);
  assert.doesNotMatch(found, /Wren/);
});

test('an upstream that is away is a 502 in Ollama\'s shape, for every request', async (t) => {
  const server = await serve(t, { flags: ['--upstream', 'http://127.0.0.1:9', '--upstream-dialect', 'ollama'] });
  refusal(await say(server, user('hi')), 502, /127\.0\.0\.1/);
  refusal(await say(server, { ...user('hi'), stream: false }), 502, /127\.0\.0\.1/);
  for (const [method, at] of passed) refusal(await server.ask(method, at, method === 'POST' ? { model: 'm' } : undefined), 502, /127\.0\.0\.1/);
});

// --- errors of our own ---

test('errors have Ollama\'s shape and name the field', async (t) => {
  const { up, server } = await ready(t);
  for (const [name, value, rule] of [['X-Memory-Mode', 'maybe', /^X-Memory-Mode: must be one of/], ['X-Memory-Scope', 'all', /^X-Memory-Scope: must be one of/], ['X-Memory-Tools', 'on', /^X-Memory-Tools: must be off at this endpoint/],
    ['X-Session-History', 'on', /^X-Session-History: must be off at this endpoint/], ['X-Session-Id', 'x'.repeat(300), /^X-Session-Id: must have at most/]])
    refusal(await say(server, user('hi'), { [name]: value }), 400, rule);
  refusal(await server.ask('POST', '/api/chat', '{"model":'), 400, /JSON/);
  refusal(await server.ask('GET', '/api/chat'), 405, /./);
  refusal(await server.ask('POST', '/api/tags', {}), 405, /./);
  assert.equal(up.asked.length, 0);
  await run(['token', 'create', '--data', server.data]);
  refusal(await say(server, user('hi')), 401, /token/);
  refusal(await say(server, user('hi'), { authorization: 'Bearer wrong' }), 401, /token/);
  assert.equal(up.asked.length, 0);
});

test('a token is not passed on, and the upstream\'s key is', async (t) => {
  const { up, server } = await ready(t, { more: ['--upstream-key', 'sk-server'] });
  const { token } = JSON.parse((await run(['token', 'create', '--json', '--data', server.data])).stdout);
  for (const ask of [() => say(server, user('hi'), { authorization: `Bearer ${token}` }), () => server.ask('GET', '/api/tags', undefined, { authorization: `Bearer ${token}` })]) {
    assert.equal((await ask()).status, 200);
    assert.equal(up.last().headers.authorization, 'Bearer sk-server');
    assert.ok(!JSON.stringify(up.last().headers).includes(token));
  }
});

// --- which upstream ---

const passed = [['POST', '/api/generate'], ['POST', '/api/embed'], ['POST', '/api/embeddings'], ['POST', '/api/show'], ['GET', '/api/tags'], ['GET', '/api/ps'], ['GET', '/api/version']];

test('without an upstream of Ollama\'s API the answer says what to set', async (t) => {
  const other = await upstream(t), words = /--upstream-dialect ollama.*"dialect": "ollama"/;
  const config = path.join(tempFolder(), 'config.json');
  fs.writeFileSync(config, JSON.stringify({ upstreams: [{ url: other.url }, { name: 'claude', url: other.url, dialect: 'anthropic' }, { name: 'plain', url: other.url }] }));
  const server = await serve(t, { flags: ['--config', config] }), bare = await serve(t);
  for (const [method, at] of passed) {
    refusal(await server.ask(method, at, method === 'POST' ? { model: 'm' } : undefined), 501, words);
    refusal(await bare.ask(method, at, method === 'POST' ? { model: 'm' } : undefined), 501, words);
  }
  for (const headers of [{}, { 'x-memory-mode': 'off' }, { 'content-encoding': 'x-none' }])
    for (const model of ['m', 'plain/m', 'claude/m', 'library/m']) refusal(await say(server, { ...user('hi'), model }, headers), 501, words);
  refusal(await say(bare, { ...user('hi'), model: 'library/m' }), 501, words);
  assert.equal(other.asked.length, 0);
});

test('a model chooses its upstream by its prefix, else the first of Ollama\'s API; the base may end in /v1', async (t) => {
  const [plain, one, two] = [await upstream(t), await ollama(t), await ollama(t)];
  const config = path.join(tempFolder(), 'config.json');
  fs.writeFileSync(config, JSON.stringify({ upstreams: [{ url: plain.url }, { name: 'near', url: `${one.url}/v1`, dialect: 'ollama' }, { name: 'far', url: `${two.url}/gpu/v1/`, dialect: 'ollama', key: 'sk-far' }] }));
  const server = await serve(t, { flags: ['--config', config] });
  const asks = async (model, at = '/api/chat') => {
    const seen = [one.asked.length, two.asked.length], body = { ...user('hi'), model };
    const res = await server.ask('POST', at, body);
    assert.equal(res.status, 200, res.text);
    const up = one.asked.length > seen[0] ? one : two;
    assert.equal(up.asked.length, seen[up === one ? 0 : 1] + 1);
    return [up === one ? 'near' : 'far', up.last().url, up.last().json.model];
  };
  assert.deepEqual(await asks('llama3.2:1b'), ['near', '/api/chat', 'llama3.2:1b']);
  assert.deepEqual(await asks('hf.co/bartowski/Llama:Q4'), ['near', '/api/chat', 'hf.co/bartowski/Llama:Q4']);
  assert.deepEqual(await asks('near/llama3'), ['near', '/api/chat', 'llama3']);
  assert.deepEqual(await asks('far/llama3'), ['far', '/gpu/api/chat', 'llama3']);
  assert.deepEqual(await asks('far/nomic', '/api/embed'), ['far', '/gpu/api/embed', 'nomic']);
  assert.deepEqual(await asks('nomic', '/api/embed'), ['near', '/api/embed', 'nomic']);
  assert.equal(two.last().headers.authorization, 'Bearer sk-far');
  assert.equal((await server.chat({ model: 'near/llama3', ...user('hi') })).status, 200);
  assert.deepEqual([one.last().url, one.last().json.model], ['/v1/chat/completions', 'llama3'], 'Ollama speaks OpenAI\'s API as well');
  assert.equal((await server.chat({ model: 'gpt', ...user('hi') })).status, 200);
  assert.equal(plain.asked.length, 1);
  assert.equal((await server.ask('GET', '/api/tags')).status, 200);
  assert.equal(one.last().url, '/api/tags');
});

test('dialects are checked when settings are read', async () => {
  const config = path.join(tempFolder(), 'config.json');
  fs.writeFileSync(config, JSON.stringify({ upstreams: [{ url: 'http://127.0.0.1:1', dialect: 'olama' }] }));
  assert.match((await run(['serve', '--config', config])).stderr, /upstreams\.dialect: must be one of: openai, anthropic, ollama/);
  assert.match((await run(['serve', '--upstream-dialect', 'olama'])).stderr, /upstream-dialect: must be one of: openai, anthropic, ollama/);
  const { stdout } = await run(['serve', '--print-settings', '--upstream', 'http://127.0.0.1:11434', '--upstream-dialect', 'ollama']);
  assert.match(stdout, /^# all other models go to http:\/\/127\.0\.0\.1:11434, API ollama$/m);
});

// --- what is passed on ---

test('the other paths are passed on as they came, and answered as the upstream answers', async (t) => {
  const { up, server } = await ready(t, { handler: (req, res, asked) => {
    res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'x-from': 'ollama' });
    res.end(asked.method === 'HEAD' ? undefined : `{"at":"${asked.url}"}`);
  } });
  await server.tell('My dog is called Biscuit.');
  const text = '{ "model":"m", "prompt":"What is my dog called?","input":"What is my dog called?" }';
  for (const [method, at] of [...passed, ['HEAD', '/api/version'], ['HEAD', '/api/tags']]) {
    const res = await server.ask(method, at, method === 'POST' ? text : undefined);
    assert.deepEqual([res.status, res.headers['x-from'], res.text], [200, 'ollama', method === 'HEAD' ? '' : `{"at":"${at}"}`]);
    assert.deepEqual([up.last().method, up.last().url, up.last().body.toString()], [method, at, method === 'POST' ? text : '']);
    assert.equal(res.headers['x-memory'], at === '/api/generate' ? 'off; reason=endpoint' : undefined, at);
  }
});

test('models are not fetched, made or deleted through rememberd, and its own paths stay its own', async (t) => {
  const { up, server } = await ready(t);
  for (const [method, at] of [['POST', '/api/pull'], ['POST', '/api/push'], ['POST', '/api/create'], ['POST', '/api/copy'], ['DELETE', '/api/delete'], ['POST', '/api/blobs/sha256:0'], ['POST', '/api/chat/x'], ['POST', '/api/me']]) {
    const { status } = await server.ask(method, at, method === 'POST' ? { model: 'm' } : undefined);
    assert.ok(status === 404 || status === 405, `${method} ${at}: ${status}`);
  }
  assert.equal((await server.ask('POST', '/api/memory', { content: 'My dog is called Biscuit.', key: 'dog', type: 'factual' })).status, 200);
  for (const at of ['/api/memory', '/api/memory/health', '/api/settings/memory', '/api/v1/memory']) assert.equal((await server.ask('GET', at)).status, 200, at);
  assert.equal(up.asked.length, 0);
});

test('a request without messages loads the model, and a packed one cannot be read: both pass unchanged', async (t) => {
  const { up, server } = await ready(t);
  for (const text of ['{"model":"m", "messages":[]}', '{"model":"m","keep_alive":0}', '{"messages":[],"model":"m","stream":false}']) {
    const res = await server.ask('POST', '/api/chat', text);
    assert.deepEqual([res.status, res.headers['x-memory'], up.last().body.toString()], [200, 'off; reason=messages', text]);
  }
  const packed = zlib.gzipSync(JSON.stringify({ model: 'm', ...user('hi') }));
  const got = await server.ask('POST', '/api/chat', packed, { 'content-encoding': 'gzip', 'content-type': 'application/octet-stream' });
  assert.deepEqual([got.status, got.headers['x-memory']], [200, 'off; reason=encoding']);
  assert.ok(up.last().body.equals(packed));
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0);
});

// --- the built-in model ---

test('the built-in model answers in this shape, whole and streamed', async (t) => {
  const server = await serve(t, { flags: ['--encoder', 'off'] }); // its vectors come between the two and may change the order
  await server.tell('My boat is called Halcyon.');
  const one = await say(server, { ...user('What is my boat called?'), model: 'rememberd/demo', stream: false });
  assert.equal(one.status, 200, one.text);
  const { model, message, done, done_reason, created_at, ...rest } = one.json();
  assert.deepEqual([model, message.role, done, done_reason], ['rememberd/demo', 'assistant', true, 'stop']);
  assert.match(message.content, /Halcyon/);
  assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60000);
  for (const name of ['total_duration', 'load_duration', 'prompt_eval_count', 'prompt_eval_duration', 'eval_count', 'eval_duration']) assert.ok(Number.isInteger(rest[name]), name);
  const streamed = await say(server, { ...user('What is my boat called?'), model: 'rememberd/demo' });
  assert.equal(streamed.headers['content-type'], 'application/x-ndjson');
  const all = streamed.text.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(heard(streamed.text).content, message.content);
  assert.deepEqual(all.map((line) => line.done), [...all.slice(1).map(() => false), true]);
  await until('the turn is kept', async () => (await server.ask('GET', `/v1/receipts/${streamed.headers['x-rememberd-receipt']}`)).status === 200);
  const loaded = await say(server, { model: 'rememberd/demo', messages: [], stream: false });
  assert.deepEqual([loaded.json().message.content, loaded.json().done_reason], ['', 'load']);
  refusal(await say(server, { model: 'rememberd/demo', messages: 'hi' }), 400, /^messages: must be an array of messages/);
});
