// views.js - every door through which something remembered can be seen, and a call of any door written as a line.
'use strict';
const assert = require('node:assert/strict');
const { run } = require('./lib');

const QUESTION = 'What is my parrot called?';
const envelope = { message_id: 'm', sender_agent_key: 'k', timestamp: '2026-11-20T10:00:00Z' };

// {NAME} in a call or its body is what the thing is called in this test.
const filled = (text, names) => text.replace(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole);

/**
 * A call as a table writes it: "METHOD /path", "rememberd COMMAND …" or the name of an MCP tool. The answer has ok and text;
 * quoted words of a command are one word.
 */
async function act(server, call, body, names = {}, headers = {}) {
  const line = filled(call, names), sent = body && JSON.parse(filled(JSON.stringify(body), names));
  if (line.startsWith('rememberd ')) {
    const words = [...line.slice(10).matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
    const unasked = words.includes('--everything') ? ['--yes'] : []; // nobody is at a terminal
    const { code, stdout, stderr } = await run([...words, ...unasked, '--data', server.data]);
    return { ok: code === 0, text: stdout + stderr, json: () => JSON.parse(stdout) };
  }
  if (!line.includes(' ')) {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: line, arguments: sent ?? {} } };
    const res = await server.ask('POST', '/mcp', message, { accept: 'application/json, text/event-stream', ...headers });
    const { result, error } = res.json();
    assert.ok(result, error?.message);
    return { ok: !result.isError, text: result.content[0].text, json: () => result.structuredContent };
  }
  const [method, target] = line.split(' ');
  const res = await server.ask(method, target, sent, headers);
  return { ...res, ok: res.status < 300 };
}

const chat = { model: 'rememberd/demo', messages: [{ role: 'user', content: QUESTION }] };

/**
 * [what it shows, call, body, headers or the path of a number]. The built-in model repeats what it is given, and nothing of these
 * chats is kept. What it shows, and when:
 */
const kinds = {
  memory: (is) => [is.memory && 'memory'],
  fact: (is) => [is.memory && !is.identity && 'memory'], // a memory that is no line of the profile
  message: (is) => [is.message && 'message'],
  both: (is) => [is.memory && 'memory', is.message && 'message'],
  history: (is) => [is.history && 'message'], // the messages of the conversation
  title: (is) => [(is.message || is.title) && 'it'], // of the conversation
  receipt: (is) => [is.receipt && 'it'], // of a chat that was given it before
  preview: (is) => [is.memory && !is.message && 'memory'], // the memories of a chat, which is given the message where both say the same
  chat: (is) => [is.chat && 'it'],
  number: (is) => [is.memory ? 1 : 0], // how many there are
  facts: (is) => [is.memory && !is.identity ? 1 : 0],
};
const views = [
  ['memory', 'GET /v1/memories'],
  ['memory', 'GET /v1/memories/{memory}'],
  ['both', 'POST /v1/memories/search', { query: QUESTION }],
  ['memory', 'GET /api/memory'],
  ['memory', 'GET /api/memory/{memory}'],
  ['preview', 'POST /api/memory/retrieve-preview', { query: QUESTION }],
  ['memory', 'GET /api/v1/memory'],
  ['memory', 'GET /api/v1/memory/{memory}'],
  ['memory', 'POST /api/v1/memory/search', { query: QUESTION }],
  ['memory', 'GET /api/v1/memory/export'],
  ['memory', 'GET /v1/memory/me'],
  ['memory', 'GET /v1/memory/list'],
  ['memory', 'POST /v1/memory/search', { query: QUESTION }],
  ['memory', 'GET /v1/memories/'],
  ['memory', 'GET /v1/memories/{memory}/'],
  ['memory', 'GET /v1/memories/{memory}/history/'],
  ['memory', 'POST /v3/memories/', {}],
  ['memory', 'POST /v3/memories/search/', { query: QUESTION }],
  ['memory', 'GET /memories'],
  ['memory', 'GET /memories/{memory}'],
  ['memory', 'POST /search', { query: QUESTION }],
  ['both', 'memory_search', { query: QUESTION }],
  ['memory', 'memory_get', { id: '{memory}' }],
  ['fact', 'search_memory', { scope: 'pinned', query: QUESTION }],
  ['message', 'search_memory', { scope: 'transcript', query: QUESTION }],
  ['memory', 'omniroute_memory_search', { query: QUESTION }],
  ['memory', 'rememberd list'],
  ['both', `rememberd search "${QUESTION}"`],
  ['number', 'GET /api/memory', undefined, 'stats.total'],
  ['number', 'GET /api/v1/memory/stats', undefined, 'total_memories'],
  ['facts', 'GET /agents/default', undefined, 'memory_entry_count'],
  ['facts', 'GET /memory/status', undefined, 'counts.pinned'],
  ['history', 'GET /v1/session/{session}/history'],
  ['title', 'GET /v1/users/me/sessions'],
  ['receipt', 'GET /v1/receipts/{receipt}'],
  ['chat', 'memory_context', { question: QUESTION }],
  ['chat', 'GET /v1/session/{other}/context?query=What+is+my+parrot+called%3F'],
  ['chat', 'POST /v1/chat/completions', chat],
  ['chat', 'POST /v1/chat/completions', chat, { 'x-osaurus-agent-id': 'default' }],
  ['chat', 'POST /v1/responses', { model: 'rememberd/demo', input: QUESTION }],
  ['chat', 'POST /v1/messages', { ...chat, max_tokens: 100 }],
  ['chat', 'POST /api/chat', { ...chat, stream: false }],
  ['chat', 'POST /v1/chat', { session_id: '{other}', message: QUESTION }],
  ['chat', 'POST /a2a/conversation/chat', { envelope, action: 'chat', session_id: '{other}', message: QUESTION, user_id: 'local' }],
];

const at = (value, dotted) => dotted.split('.').reduce((one, name) => one?.[name], value);
const nameOf = ([, call, body, more]) => [call, body?.scope, typeof more === 'string' ? more : more && 'as an agent'].filter(Boolean).join(' ');

/** What each view shows of the given words, by the view's name. words: { memory, message, any }. */
async function look(server, names, words) {
  const other = (await server.ask('POST', '/v1/session', {})).json().session_id, seen = {};
  for (const view of views) {
    const [shows, call, body, more] = view;
    const { text, json } = await act(server, call, body, { ...names, other }, { 'x-memory-mode': 'readonly', ...(typeof more === 'object' && more) });
    const can = kinds[shows]({ memory: true, message: true, history: true, chat: true, receipt: true }).concat(shows === 'preview' ? ['memory'] : []);
    const is = { memory: text.includes(words.memory), message: text.includes(words.message), it: words.any.test(text) };
    seen[nameOf(view)] = typeof more === 'string' ? String(at(json(), more)) : ['memory', 'message', 'it'].filter((one) => can.includes(one) && is[one]).join(' and ');
  }
  return seen;
}

/** The same, as it has to be. is: which of memory, message, history, chat and receipt are there. */
const expected = (is) => Object.fromEntries(views.map((view) => [nameOf(view), kinds[view[0]](is).filter((one) => one !== undefined && one !== false && one !== null).join(' and ')]));

module.exports = { QUESTION, act, envelope, expected, look, views };
