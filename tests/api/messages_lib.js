// messages_lib.js - a scripted model server that speaks Anthropic's Messages API, and what its tests share.
'use strict';
const assert = require('node:assert/strict');
const { upstream } = require('./lib.js');

const { Anthropic } = require('@anthropic-ai/sdk');

const OPENING = '<remembered>';
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const usage = { input_tokens: 1, output_tokens: 1 };

// A whole answer with these content blocks. Clients take answers with one id for one answer.
let answers = 0;
const message = (content, more = {}) => ({
  id: `msg_${++answers}`, type: 'message', role: 'assistant', model: 'scripted', content, stop_sequence: null,
  stop_reason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn', usage, ...more });

// The events of a stream that brings these blocks, a text in pieces.
function events(content) {
  const whole = message(content);
  const list = [{ type: 'message_start', message: { ...whole, content: [], stop_reason: null } }, { type: 'ping' }];
  content.forEach((block, index) => {
    const start = { text: { ...block, text: '' }, tool_use: { ...block, input: {} } }[block.type] ?? block;
    list.push({ type: 'content_block_start', index, content_block: start });
    if (block.type === 'text')
      for (const piece of block.text.match(/.{1,7}/gs)) list.push({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: piece } });
    if (block.type === 'tool_use') list.push({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } });
    list.push({ type: 'content_block_stop', index });
  });
  list.push({ type: 'message_delta', delta: { stop_reason: whole.stop_reason, stop_sequence: null }, usage }, { type: 'message_stop' });
  return list;
}

function answer(res, asked, content) {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  res.setHeader('request-id', 'req_upstream');
  if (!asked.json?.stream) {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(message(blocks)));
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const one of events(blocks)) res.write(event(one));
  res.end();
}

// Refuses what the real one refuses, as far as a block of memory could cause it.
function checkRequest(one) {
  if (!/^\/v1\/messages(\?|$)/.test(one.url)) return;
  let marks = 0;
  for (const m of one.json.messages) {
    if (typeof m.content === 'string') continue;
    let words = false;
    for (const block of m.content) {
      marks += 'cache_control' in block;
      if (block.type === 'tool_result') assert.ok(!words, 'results of tools come first');
      else words = true;
      if (block.type === 'text') assert.notEqual(block.text, '', 'an empty text block');
      if (block.text?.includes(OPENING)) assert.deepEqual(Object.keys(block), ['type', 'text'], 'a block of memory is a plain text block');
    }
  }
  assert.ok(marks <= 4);
  assert.ok(!JSON.stringify([one.json.system, one.json.tools] ?? '').includes(OPENING));
}

const claude = (t, handler = (req, res, asked) => answer(res, asked, 'fine')) =>
  upstream(t, async (req, res, asked) => {
    if (asked.json?.messages) checkRequest(asked);
    await handler(req, res, asked);
  });

const sdk = (server, options = {}) => new Anthropic({ baseURL: server.url, apiKey: 'client-key', maxRetries: 0, ...options });

const say = (server, body, headers = {}) =>
  server.ask('POST', '/v1/messages', { model: 'scripted', max_tokens: 100, ...body }, { 'anthropic-version': '2023-06-01', ...headers });

// A conversation as the API reads it: a string is one text block, and cache marks say nothing.
const plain = (messages) => messages.map(({ role, content }) => ({ role,
  content: (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map(({ cache_control, ...block }) => block) }));

// Each request of the conversation begins with all that the one before had.
function assertGrows(asked) {
  for (let i = 1; i < asked.length; i++) {
    const before = plain(asked[i - 1].json.messages), now = plain(asked[i].json.messages);
    assert.deepEqual(now.slice(0, before.length), before, `request ${i} of ${asked.length} changes what went before`);
  }
}

const blocks = (one) => one.body.toString().split(OPENING).length - 1;

module.exports = { Anthropic, OPENING, answer, assertGrows, blocks, claude, event, events, message, plain, say, sdk };
