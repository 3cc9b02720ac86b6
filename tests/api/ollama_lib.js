// ollama_lib.js - a scripted model server that speaks Ollama's own API, and what its tests share.
'use strict';
const assert = require('node:assert/strict');
const { answer: answerOpenai, upstream } = require('./lib.js');

const OPENING = '<remembered>';
const head = { model: 'scripted:latest', created_at: '2026-11-20T10:00:00.123456789Z' };
const end = { done_reason: 'stop', done: true, total_duration: 5191566416, load_duration: 2154458, prompt_eval_count: 26, prompt_eval_duration: 383809000, eval_count: 298, eval_duration: 4799921000 };

// A text, or the members of a message: {content, thinking, tool_calls}.
const said = (what) => ({ role: 'assistant', content: '', ...(typeof what === 'string' ? { content: what } : what) });
const whole = (what) => JSON.stringify({ ...head, message: said(what), ...end });

// The lines of a stream: thoughts, the text in pieces, calls, and the last one.
function lines(what) {
  const { content, thinking, tool_calls } = said(what);
  const pieces = [...(thinking ? [{ content: '', thinking }] : []), ...(content.match(/[^]{1,7}/gu) ?? []).map((text) => ({ content: text })), ...(tool_calls ? [{ content: '', tool_calls }] : [])];
  return [...pieces.map((piece) => ({ ...head, message: said(piece), done: false })), { ...head, message: said(''), ...end }].map((line) => `${JSON.stringify(line)}\n`);
}

function answer(res, asked, what) {
  if (asked.json?.stream === false) {
    res.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    res.end(whole(what));
    return;
  }
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  for (const line of lines(what)) res.write(line);
  res.end();
}

// Refuses what the real one cannot read, as far as a block of memory could cause it.
function checkRequest({ json }) {
  assert.ok(Array.isArray(json.messages ?? []));
  for (const m of json.messages ?? []) {
    assert.ok(['system', 'user', 'assistant', 'tool'].includes(m.role), m.role);
    assert.equal(typeof (m.content ?? ''), 'string');
    for (const image of m.images ?? []) assert.match(image, /^[A-Za-z0-9+/]+=*$/);
    for (const call of m.tool_calls ?? []) assert.equal(typeof call.function.arguments, 'object');
  }
}

// Ollama speaks OpenAI's API beside its own.
const ollama = (t, handler = (req, res, asked) => answer(res, asked, 'fine')) =>
  upstream(t, async (req, res, asked) => {
    if (asked.url.startsWith('/v1/')) return answerOpenai(res, asked, 'fine');
    if (asked.url.startsWith('/api/chat') && asked.json) checkRequest(asked);
    return handler(req, res, asked);
  });

const flags = (up) => ['--upstream', up.url, '--upstream-dialect', 'ollama'];

const say = (server, body, headers = {}) => server.ask('POST', '/api/chat', { model: 'scripted', ...body }, headers);

// The message that a client puts together from an answer, as it sends it back.
function heard(text) {
  const all = text.trim().split('\n').map((line) => JSON.parse(line).message);
  const calls = all.flatMap((m) => m.tool_calls ?? []), thinking = all.map((m) => m.thinking ?? '').join('');
  return { role: 'assistant', content: all.map((m) => m.content).join(''), ...(thinking && { thinking }), ...(calls.length && { tool_calls: calls }) };
}

const blocks = (one) => one.body.toString().split(OPENING).length - 1;

module.exports = { OPENING, answer, blocks, flags, head, heard, lines, ollama, say, whole };
