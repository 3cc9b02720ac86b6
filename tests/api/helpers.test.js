// helpers.test.js - calls of the client's own: which ones get memories, and which ones teach.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { answer, serve, upstream } = require('./lib.js');
const { answer: answerMessage, blocks, plain } = require('./messages_lib.js');
const { answer: answerOllama } = require('./ollama_lib.js');

const QUESTION = '\nAnd where does my sister Ada live, quixotry?', EARLIER = '\nAnd what is my boat called?';
const BLOCK = /<remembered>/;

const lines = (file) => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const own = lines(path.join(__dirname, 'data/helper_calls.jsonl'));
const spec = path.join(process.env.REMEMBERD_SPEC ?? path.join(__dirname, '../../../shared/spec'), 'clients-vectors.jsonl');

// A sub-agent reads what the chat reads (decision 024); the captured list leaves it without.
const otherwise = { 'cc-subagent': { inject: true, learn: false } };

async function ready(t, flags = []) {
  const spoken = { '/v1/messages': answerMessage, '/api/chat': answerOllama };
  const up = await upstream(t, (req, res, asked) => (spoken[asked.url.split('?')[0]] ?? answer)(res, asked, 'fine'));
  return { up, server: await serve(t, { flags: ['--upstream', up.url, '--upstream-dialect', 'ollama', ...flags] }) };
}

const isUser = (m) => m.role === 'user' && (typeof m.content === 'string' || m.content.some((block) => block.type === 'text'));
// The text, with more behind it, in the form in which the client sends it.
const longer = (content, more) => typeof content === 'string' ? content + more
  : content.map((block, i) => (i === content.findLastIndex((b) => b.type === 'text') ? { ...block, text: block.text + more } : block));

// Each message of the user asks something that the memory knows, the last one for Ada.
function asking(body) {
  const said = body.messages.filter(isUser);
  const changed = (m) => (!said.includes(m) ? m : { ...m, content: longer(m.content, m === said.at(-1) ? QUESTION : EARLIER) });
  return { ...body, messages: body.messages.map(changed) };
}

// The request of the conversation's first turn, if the one at hand is a later one.
function earlierTurn(body) {
  const at = body.messages.findIndex((m) => m.role === 'assistant');
  return at < 1 ? null : { ...body, messages: body.messages.slice(0, at) };
}

async function check(t, { server, up }, v) {
  const who = { 'x-memory-user': `reader of ${v.name}` }, expect = { ...v.expect, ...otherwise[v.name] };
  const headers = { ...v.request.headers, ...(expect.user ? {} : who) };
  if (expect.user) who['x-memory-user'] = expect.user;
  for (const content of ['My sister Ada lives in Oslo.', 'My boat is called Halcyon.']) await server.ask('POST', '/v1/memories', { content }, who);
  const body = asking(v.request.body), before = earlierTurn(body), fresh = /^none/.test(expect.replay ?? '');
  const isOfHistory = before && !fresh;
  if (isOfHistory) {
    const first = await server.ask('POST', v.request.path, before, headers);
    await server.receipt(first.headers['x-rememberd-receipt'], who);
  }
  const earlier = isOfHistory ? blocks(up.last()) : 0, res = await server.ask('POST', v.request.path, body, headers);
  assert.equal(res.status, 200, res.text);
  const receipt = await server.receipt(res.headers['x-rememberd-receipt'], who);

  if (typeof expect.inject === 'string') assert.match(expect.inject, /^replay only/);
  if (isOfHistory) assert.equal(earlier, 1, 'the conversation has a block');
  const added = receipt.decision === 'again' ? 0 : blocks(up.last()) - earlier;
  assert.equal(added, expect.inject === true ? 1 : 0, `${receipt.decision}: ${receipt.reason}\n${up.last().body}`);
  checkPlace(body, up.last().json, expect, earlier);

  const learnt = (await server.ask('POST', '/v1/memories/search', { query: 'quixotry', limit: 20 }, who)).text;
  if (expect.learn === true) assert.match(learnt, /quixotry/);
  if (expect.learn === false) assert.doesNotMatch(learnt, /quixotry/);
  if (expect.user_text) assert.equal(receipt.question.replace(QUESTION, ''), expect.user_text);
  if (expect.conversation) assert.equal(res.headers['x-omniroute-session-id'], expect.conversation);
  const isCall = expect.inject !== true || expect.learn !== true;
  if (isCall && typeof expect.learn === 'boolean') checkShown(res, receipt, expect);
  else assert.equal(res.headers['x-memory'], undefined);
}

// The user can see what the request was taken for.
function checkShown(res, receipt, expect) {
  const shown = /^(off|readonly); reason=helper; call="([^"]+)"$/.exec(res.headers['x-memory']);
  assert.ok(shown, res.headers['x-memory']);
  assert.equal(shown[1], expect.inject === true ? 'readonly' : 'off');
  assert.match(receipt.reason, new RegExp(`helper call: ${shown[2].replace(/[()]/g, '.')}$`));
  if (expect.call) assert.equal(shown[2], expect.call);
  if (expect.inject === false) assert.equal(receipt.decision, 'off');
}

// Without the blocks, the upstream got what the client sent.
const without = (messages) => plain(messages).map((m) => ({ ...m, content: m.content.flatMap((block) => {
  const at = block.text?.search(/(\n\n)?<remembered>/) ?? -1;
  return at === 0 ? [] : [at > 0 ? { ...block, text: block.text.slice(0, at) } : block];
}) }));

function checkPlace(body, got, expect, earlier) {
  const { messages, ...rest } = got, { messages: sent, ...more } = body;
  assert.deepEqual(rest, more, 'nothing but the messages is touched');
  assert.deepEqual(without(messages), plain(sent));
  if (expect.inject !== true) return;
  const holders = messages.filter((m) => BLOCK.test(JSON.stringify(m.content))), last = holders.at(-1);
  assert.equal(holders.length, earlier + 1);
  const isBehind = (expect.place ?? '').startsWith('append to last system message');
  assert.equal(messages.indexOf(last), isBehind ? messages.length - 1 : messages.findLastIndex((m) => m.role === 'user'));
  assert.equal(last.role, isBehind ? 'system' : 'user');
  const end = Array.isArray(last.content) ? last.content.at(-1) : { type: 'text', text: last.content };
  assert.match(end.text, BLOCK);
  assert.ok(!('cache_control' in end));
}

const isOurs = (v) => /^\/(v1\/(chat\/completions|messages)|api\/chat)(\?|$)/.test(v.request.path) && v.request.body?.messages?.length > 0;

for (const v of own) test(`a call as its client makes it: ${v.name}`, async (t) => check(t, await ready(t), v));

test('captured requests of clients', { skip: !fs.existsSync(spec) && `no ${path.basename(spec)}: set REMEMBERD_SPEC to its folder` }, async (t) => {
  const shared = await ready(t), all = lines(spec).filter(isOurs);
  assert.ok(all.length >= 35, `${all.length} requests`);
  for (const v of all) await t.test(v.name, (t) => check(t, shared, v));
});

test('captured requests without a chat', { skip: !fs.existsSync(spec) && `no ${path.basename(spec)}: set REMEMBERD_SPEC to its folder` }, async (t) => {
  const { up, server } = await ready(t), named = (name) => lines(spec).find((v) => v.name === name);
  // responses.test.js runs those of its API; so none of the file is left out.
  assert.deepEqual(lines(spec).filter((v) => !isOurs(v) && v.request.path !== '/v1/responses').map((v) => v.name).sort(), ['cc-count', 'cc-head', 'cc-userid-old', 'ollama-load']);
  const count = named('cc-count'), head = named('cc-head'), old = named('cc-userid-old');
  const counted = await server.ask('POST', count.request.path, count.request.body, count.request.headers);
  assert.deepEqual([counted.status, counted.headers['x-rememberd-receipt']], [200, undefined]);
  assert.deepEqual(up.last().json, count.request.body);
  const load = named('ollama-load'), loaded = await server.ask('POST', load.request.path, load.request.body, load.request.headers);
  assert.deepEqual([loaded.status, loaded.headers['x-rememberd-receipt'], loaded.headers['x-memory']], [200, undefined, 'off; reason=messages']);
  assert.deepEqual(up.last().json, load.request.body);
  assert.ok((await server.ask('HEAD', '/', undefined, head.request.headers)).status < 500);
  const said = await server.ask('POST', old.request.path, { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'I like tea.' }], ...old.request.body });
  assert.equal(said.headers['x-omniroute-session-id'], old.expect.conversation);
  await server.receipt(said.headers['x-rememberd-receipt'], { 'x-memory-user': old.expect.account });
});

test('of what an agent wraps around a prompt only the typed words are the user\'s, and the model gets all', async (t) => {
  const { up, server } = await ready(t);
  const file = 'My name is Quentin and I hate olives.', typed = (name) => `My boat is called ${name}. What is in the file of the harbour?`;
  const env = `<environment_details>\n# VSCode Open Tabs\n${file}\n</environment_details>`;
  const ide = (name) => `# Context from my IDE setup:\n\n## Active selection of the file:\n${file}\n\n## My request for Codex:\n${typed(name)}\n`;
  const parts = (...texts) => texts.map((text) => ({ type: 'text', text }));
  const chats = { Cline: parts(`<task>\n${typed('Cline')}\n</task>`, env), Roo: parts(`<user_message>\n${typed('Roo')}\n</user_message>`, env), Plain: `${typed('Plain')}\n\n${env}`,
    Cursor: `<attached_files>\n${file}\n</attached_files>\n<user_query>\n${typed('Cursor')}\n</user_query>`, Ide: ide('Ide') };
  const sent = [...Object.entries(chats).map(([name, content]) => [name, '/v1/chat/completions', { messages: [{ role: 'user', content }] }]),
    ['Claude', '/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: parts(`<task>\n${typed('Claude')}\n</task>`, env) }] }],
    ['Ollama', '/api/chat', { stream: false, messages: [{ role: 'user', content: `<task>\n${typed('Ollama')}\n</task>\n${env}` }] }],
    ['Codex', '/v1/responses', { input: [{ role: 'user', content: [{ type: 'input_text', text: ide('Codex') }] }] }]];
  for (const [name, at, body] of sent) {
    const who = { 'x-memory-user': name }, res = await server.ask('POST', at, { model: 'm', ...body }, who);
    assert.equal(res.status, 200, res.text);
    assert.equal((await server.receipt(res.headers['x-rememberd-receipt'], who)).question, typed(name), name);
    assert.ok(up.last().body.includes(file), `${name}: the model gets all`);
    const found = (await server.ask('POST', '/v1/memories/search', { query: 'Quentin olives boat called', limit: 20 }, who)).text;
    assert.ok(found.includes(name) && !/Quentin|olives/.test(found), found);
  }
  // Cline's tools answer in the user's place: the turn goes on with the block of its question.
  const who = { 'x-memory-user': 'tools' }, first = { role: 'user', content: chats.Cline };
  await server.ask('POST', '/v1/memories', { content: 'My boat is called Halcyon.' }, who);
  const ask = async (...messages) => server.receipt((await server.chat({ model: 'm', messages }, who)).headers['x-rememberd-receipt'], who);
  assert.ok((await ask(first)).block.length > 0);
  const result = { role: 'user', content: parts("[read_file for 'a.c'] Result:", file, env) };
  assert.equal((await ask(first, { role: 'assistant', content: 'fine' }, result)).decision, 'again');
  assert.doesNotMatch((await server.ask('POST', '/v1/memories/search', { query: 'Quentin olives', limit: 20 }, who)).text, /Quentin/);
  const hook = await server.ask('POST', '/v1/hooks', { hook_event_name: 'UserPromptSubmit', session_id: 's', prompt: ide('Hook') }, { 'x-memory-user': 'hook' });
  assert.equal((await server.receipt(hook.headers['x-rememberd-receipt'], { 'x-memory-user': 'hook' })).question, typed('Hook'));
});

const title = { messages: [{ role: 'user', content: 'Where does my sister Ada live?' }] }, task = { 'x-openwebui-task': 'title_generation' };

test('a preview says what a request would be taken for', async (t) => {
  const { server } = await ready(t);
  await server.ask('POST', '/v1/memories', { content: 'My sister Ada lives in Oslo.' });
  const seen = async (messages, headers) => (await server.ask('POST', '/v1/preview', { messages }, headers)).json();
  const { decision, reason, block } = await seen(title.messages, task);
  assert.deepEqual([decision, reason, block], ['off', 'helper call: title of Open WebUI', '']);
  assert.equal((await seen([{ role: 'system', content: 'You are a title generator.' }, ...title.messages])).reason, 'helper call: title of opencode');
  assert.match((await seen(title.messages)).block, /Oslo/);
  const agent = await seen(title.messages, { 'x-openai-subagent': 'review' });
  assert.match(agent.block, /Oslo/);
  assert.match(agent.reason, /; helper call: sub-agent of Codex$/);
});

test('switches and sessions of calls of the client\'s own', async (t) => {
  const { up, server } = await ready(t);
  const shown = async (headers, body = title) => (await server.chat({ model: 'm', ...body }, headers)).headers['x-memory'];
  assert.equal(await shown({ ...task, 'x-memory-mode': 'off' }), undefined, 'the request itself switched memory off');
  assert.equal(await shown({ ...task, 'x-memory-mode': 'after' }), 'off; reason=helper; call="title of Open WebUI"');
  assert.equal(await shown({ 'x-openai-subagent': 'a', 'x-memory-mode': 'after' }), 'off; reason=helper; call="sub-agent of Codex"');
  const kept = { 'x-session-id': 'kept', 'x-session-history': 'on' };
  await server.chat({ model: 'm', messages: [{ role: 'user', content: 'My canoe is red.' }] }, kept);
  await shown({ ...task, ...kept });
  assert.deepEqual(up.last().json.messages, title.messages, 'what the call is about is in the call');
  await server.chat({ model: 'm', messages: [{ role: 'user', content: 'And yours?' }] }, kept);
  assert.deepEqual(up.last().json.messages.filter((m) => m.role === 'user').map((m) => m.content.split('\n')[0]), ['My canoe is red.', 'And yours?'], 'nor is it in the session');
  const built = await server.chat({ model: 'rememberd/demo', ...title }, task);
  assert.equal(built.status, 200, built.text);
});

test('the metric counts calls that got no memory', async (t) => {
  const { server } = await ready(t);
  const count = async () => Number(/helper_prompts_total (\d+)/.exec((await server.ask('GET', '/metrics')).text)[1]);
  await server.chat({ model: 'm', ...title }, task);
  await server.chat({ model: 'm', ...title }, { 'x-openai-subagent': 'review' });
  assert.equal(await count(), 1);
});

test('the documented table has the calls that are tested, and no other', () => {
  const page = fs.readFileSync(path.join(__dirname, '../../docs/research/reference-notes.md'), 'utf8').split('## Background requests')[1].split('\n## ')[0];
  const documented = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].filter(([, client]) => client !== 'client')
    .map(([, client, call]) => `${call} of ${client}`);
  const tested = own.map((v) => v.expect.call).filter((call) => call?.includes(' of '));
  assert.deepEqual([...new Set(tested), 'chat of Open WebUI'].sort(), documented.sort());
});
