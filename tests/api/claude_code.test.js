// claude_code.test.js - Claude Code itself, against a scripted model server: a conversation with tools, an agent and a summary.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { serve, tempFolder } = require('./lib.js');
const { answer, assertGrows, blocks, claude } = require('./messages_lib.js');

// Its package has over 300 MB, so it is no dependency: npm install @anthropic-ai/claude-code somewhere, and name the program.
const program = process.env.REMEMBERD_CLAUDE_CODE;
const session = '11111111-2222-4333-8444-555555555555';

const textOf = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content).filter((block) => block.type === 'text').map((block) => block.text).join('\n');

function scripted(req, res, asked) {
  if (!asked.json?.messages || /count_tokens/.test(asked.url)) {
    res.writeHead(404, { 'content-type': 'application/json' });
    return res.end('{"type":"error","error":{"type":"not_found_error","message":"no"}}');
  }
  const last = asked.json.messages.findLast((m) => m.role === 'user'), text = textOf(last.content);
  const isResult = Array.isArray(last.content) && last.content.some((block) => block.type === 'tool_result');
  const call = (name, input) => answer(res, asked, [{ type: 'text', text: 'I look.' }, { type: 'tool_use', id: `toolu_${asked.json.messages.length}`, name, input }]);
  if (!isResult && /read the file (\S+)/.test(text)) return call('Read', { file_path: /read the file (\S+)/.exec(text)[1] });
  if (!isResult && /use an agent/.test(text)) return call('Agent', { description: 'look', prompt: 'Find out where my sister lives', subagent_type: 'general-purpose', run_in_background: false });
  if (/detailed summary/.test(text)) return answer(res, asked, '<analysis>a</analysis>\n<summary>We spoke of the sister and of the boat.</summary>');
  return answer(res, asked, `Noted, ${asked.json.messages.length}.`);
}

test('Claude Code: its conversation only grows, across tools, an agent and a summary', { skip: !program && 'set REMEMBERD_CLAUDE_CODE to the program', timeout: 300000 }, async (t) => {
  const up = await claude(t, scripted), home = tempFolder(), work = tempFolder();
  const server = await serve(t, { flags: ['--upstream', up.url, '--user-from', 'none'] });
  fs.writeFileSync(path.join(work, 'a.txt'), 'The boat is called Halcyon.\n');
  for (const content of ['My sister Ada lives in Oslo.', 'My bike is crimson.']) await server.ask('POST', '/v1/memories', { content });
  const ask = async (...args) => {
    const child = spawn(program, ['-p', ...args, '--model', 'claude-opus-4-8'], { cwd: work, stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-test', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } });
    child.stdout.resume();
    const [code] = await once(child, 'close');
    assert.equal(code, 0, args[0]);
  };
  await ask('Where does my sister live?', '--session-id', session);
  for (const text of [`Please read the file ${path.join(work, 'a.txt')}`, 'Now use an agent for it', 'My neighbour is called Olga.', '/compact', 'What colour is my bike?', 'And where does my sister live?'])
    await ask(text, '--resume', session);
  const chats = up.asked.filter((one) => one.json?.messages && !/count_tokens/.test(one.url));
  const isAgent = (one) => 'x-claude-code-agent-id' in one.headers;
  const main = chats.filter((one) => !isAgent(one)), summary = main.findIndex((one) => /CRITICAL: Respond/.test(textOf(one.json.messages.findLast((m) => m.role === 'user').content)));
  assert.ok(summary > 4 && main.length > summary + 2, `${main.length} requests, the summary is number ${summary}`);
  assertGrows(main.slice(0, summary));
  // The order to summarize leaves the last answer out and goes into the user's last message: all before that is as it was.
  const before = { json: { messages: main[summary - 1].json.messages.slice(0, -1) } };
  assertGrows([before, main[summary]]);
  assertGrows(main.slice(summary + 1));
  assertGrows(chats.filter(isAgent));
  assert.match(JSON.stringify(main[0].json.messages), /Ada lives in Oslo/);
  assert.ok(blocks(main[summary]) <= blocks(main[summary - 1]), 'the order to summarize gets nothing new');
  assert.match(JSON.stringify(main.at(-1).json.messages), /Ada lives in Oslo/);
  const kept = (await server.ask('GET', `/v1/session/${session}/history`)).json().messages.filter((m) => m.role === 'user').map((m) => m.content);
  assert.ok(kept.includes('My neighbour is called Olga.'));
  assert.ok(!kept.some((text) => /system-reminder|CRITICAL|being continued|Find out where/.test(text)), JSON.stringify(kept));
});
