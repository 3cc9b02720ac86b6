// plugin.test.js - the plug-in for Claude Code: its files fit the server, and Claude Code itself takes them and works with them.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { test } = require('node:test');
const { bin, cleanEnv, serve, tempFolder, until } = require('./lib.js');
const { answer } = require('./messages_lib.js');

const root = path.resolve(__dirname, '../..'), plugin = path.join(root, 'plugins/claude-code');
const json = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

// Its package has over 200 MB, so it is no dependency: npm install @anthropic-ai/claude-code somewhere, and name the program.
const program = process.env.REMEMBERD_CLAUDE_CODE;
const skip = !program && 'set REMEMBERD_CLAUDE_CODE to the program';

test('the plug-in is listed, has the version of the server, and calls what the server serves', () => {
  const market = json(path.join(root, '.claude-plugin/marketplace.json')), about = json(path.join(plugin, '.claude-plugin/plugin.json'));
  assert.ok(market.name && market.owner.name);
  assert.deepEqual(market.plugins.map((p) => [p.name, path.resolve(root, p.source)]), [[about.name, plugin]]);
  assert.equal(about.version, /version: '([^']+)'/.exec(fs.readFileSync(path.join(root, 'meson.build'), 'utf8'))[1]);
  assert.ok(about.description && about.author.name && about.license);
  const routes = execFileSync(bin, ['--routes'], { env: cleanEnv(), encoding: 'utf8' });
  const listen = /listen = (\S+)/.exec(execFileSync(bin, ['serve', '--print-settings'], { env: cleanEnv(), encoding: 'utf8' }))[1];
  const { hooks } = json(path.join(plugin, 'hooks/hooks.json')), { rememberd } = json(path.join(plugin, '.mcp.json')).mcpServers;
  assert.deepEqual(Object.keys(hooks), ['UserPromptSubmit', 'Stop', 'PreCompact']);
  for (const [matcher, ...more] of Object.values(hooks)) {
    assert.equal(more.length, 0);
    const [hook, ...others] = matcher.hooks;
    assert.equal(others.length, 0);
    assert.deepEqual(hook, { type: 'http', url: `http://${listen}/v1/hooks`, timeout: 5, headers: { Authorization: 'Bearer $REMEMBERD_TOKEN' }, allowedEnvVars: ['REMEMBERD_TOKEN'] });
  }
  assert.deepEqual(rememberd, { type: 'http', url: `http://${listen}/mcp`, headers: { Authorization: 'Bearer ${REMEMBERD_TOKEN:-}' } });
  for (const route of [/^POST +\/v1\/hooks /m, /^POST +\/mcp /m]) assert.match(routes, route);
});

test('a header without a token, as Claude Code sends it when the variable is not set, is none', async (t) => {
  const server = await serve(t), headers = { authorization: 'Bearer ' };
  const event = { hook_event_name: 'UserPromptSubmit', session_id: 's', cwd: '/a', prompt: 'Hello.' };
  assert.equal((await server.ask('POST', '/v1/hooks', event, headers)).status, 200);
  assert.equal((await server.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers)).status, 200);
});

test('Claude Code accepts the plug-in and the marketplace', { skip, timeout: 60000 }, () => {
  const env = { ...cleanEnv(), HOME: tempFolder() };
  for (const folder of [plugin, root]) assert.match(execFileSync(program, ['plugin', 'validate', folder], { env, encoding: 'utf8' }), /Validation passed/);
});

// What Claude Code asks its model, which answers the same to all.
async function model(t) {
  const asked = [];
  const server = http.createServer(async (req, res) => {
    const parts = [];
    for await (const part of req) parts.push(part);
    const json = /^\/v1\/messages(\?|$)/.test(req.url) ? JSON.parse(Buffer.concat(parts)) : null;
    if (json) asked.push(json);
    if (json) return answer(res, { json }, 'Noted by the model.');
    res.writeHead(404, { 'content-type': 'application/json' });
    return res.end('{"type":"error","error":{"type":"not_found_error","message":"no"}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { asked, url: `http://127.0.0.1:${server.address().port}` };
}

// A project, a server, and Claude Code with that model.
async function stage(t) {
  const up = await model(t);
  const server = await serve(t), home = tempFolder(), work = fs.realpathSync(tempFolder());
  const env = { PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: up.url, ANTHROPIC_API_KEY: 'sk-test', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const ask = async (...args) => {
    const child = spawn(program, ['-p', ...args, '--model', 'claude-opus-4-8'], { cwd: work, stdio: ['ignore', 'pipe', 'inherit'], env });
    child.stdout.resume();
    assert.equal((await once(child, 'close'))[0], 0, args[0]);
  };
  const given = () => JSON.stringify(up.asked.filter((one) => one.tools?.length).at(-1).messages);
  const space = () => until('the space', async () => (await server.ask('GET', '/v1/spaces')).json().items.map((s) => s.space).find((s) => s.startsWith(`project:${path.basename(work)}-`)));
  const history = async (session) => (await server.ask('GET', `/v1/session/${session}/history?space=${encodeURIComponent(await space())}`)).json().messages?.map((m) => [m.role, m.content]);
  return { server, ask, given, history, home, env };
}

const ids = ['11111111-2222-4333-8444-555555555555', '11111111-2222-4333-8444-666666666666'];

async function converse({ ask, given, history, server }) {
  assert.equal((await server.ask('POST', '/v1/memories', { content: 'The user prefers tabs over spaces in Makefiles.' })).status, 201);
  await ask('Our staging database is called heron.', '--session-id', ids[0]);
  await until('the answer', async () => (await history(ids[0]))?.length === 2);
  assert.deepEqual(await history(ids[0]), [['user', 'Our staging database is called heron.'], ['assistant', 'Noted by the model.']]);
  await ask('What is our staging database called, and do I prefer tabs or spaces in Makefiles?', '--session-id', ids[1]);
  assert.match(given(), /UserPromptSubmit hook additional context: From work on this project \(space project:[^"]*heron[^"]*From all conversations of the user:[^"]*tabs over spaces/);
  await ask('/compact', '--resume', ids[1]);
  assert.deepEqual((await history(ids[1])).map(([role]) => role), ['user', 'assistant'], 'a command of the program is not the user\'s');
  await until('the compaction', async () => /compacted_at/.test((await server.ask('GET', `/v1/session/${ids[1]}`)).text));
}

test('Claude Code with the plug-in: memories reach the model, turns are kept', { skip, timeout: 120000 }, async (t) => {
  const s = await stage(t), copy = path.join(s.home, 'plugin');
  fs.cpSync(plugin, copy, { recursive: true });
  for (const file of ['hooks/hooks.json', '.mcp.json']) fs.writeFileSync(path.join(copy, file), fs.readFileSync(path.join(copy, file), 'utf8').replaceAll('127.0.0.1:7077', `127.0.0.1:${s.server.port}`));
  const { ask } = s;
  await converse({ ...s, ask: (...args) => ask(...args, '--plugin-dir', copy) });
});

test('Claude Code after rememberd connect: the same', { skip, timeout: 120000 }, async (t) => {
  const s = await stage(t);
  execFileSync(bin, ['connect', 'claude-code', '--yes', '--url', s.server.url], { env: { ...cleanEnv(), ...s.env } });
  await converse(s);
  assert.match(execFileSync(program, ['mcp', 'list'], { env: s.env, encoding: 'utf8' }), /rememberd: http\S+ \(HTTP\) - .*Connected/);
});
