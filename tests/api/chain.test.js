// chain.test.js - many clients, one memory: what one learns the next is given, and what one erases is gone for all.
'use strict';
const assert = require('node:assert/strict');
const { execFile } = require('node:child_process');
const { test } = require('node:test');
const { promisify } = require('node:util');
const { Anthropic } = require('@anthropic-ai/sdk');
const { createAnthropic } = require('@ai-sdk/anthropic');
const { createOpenAI } = require('@ai-sdk/openai');
const { ChatOpenAI } = require('@langchain/openai');
const { MemoryClient } = require('mem0ai');
const { generateText } = require('ai');
const { OpenAI, serve, tempFolder } = require('./lib.js');

process.env.MEM0_TELEMETRY = 'false';
const model = 'rememberd/demo'; // quotes what it is given

// Each client says one sentence in a conversation of its own, and gives the answer as text.
const clients = {
  'openai, chat completions': (url) => async (content) => (await new OpenAI({ baseURL: `${url}/v1`, apiKey: 'x' }).chat.completions.create({ model, messages: [{ role: 'user', content }] })).choices[0].message.content,
  'openai, responses': (url) => async (input) => (await new OpenAI({ baseURL: `${url}/v1`, apiKey: 'x' }).responses.create({ model, input })).output_text,
  '@anthropic-ai/sdk': (url) => async (content) => (await new Anthropic({ baseURL: url, apiKey: 'x' }).messages.create({ model, max_tokens: 200, messages: [{ role: 'user', content }] })).content[0].text,
  'AI SDK, responses': (url) => async (prompt) => (await generateText({ model: createOpenAI({ baseURL: `${url}/v1`, apiKey: 'x' })(model), prompt })).text,
  'AI SDK, chat completions': (url) => async (prompt) => (await generateText({ model: createOpenAI({ baseURL: `${url}/v1`, apiKey: 'x' }).chat(model), prompt })).text,
  'AI SDK, Anthropic': (url) => async (prompt) => (await generateText({ model: createAnthropic({ baseURL: `${url}/v1`, apiKey: 'x' })(model), prompt })).text,
  'LangChain, chat completions': (url) => async (content) => (await new ChatOpenAI({ model, apiKey: 'x', configuration: { baseURL: `${url}/v1` } }).invoke(content)).text,
  'LangChain, responses': (url) => async (content) => (await new ChatOpenAI({ model, apiKey: 'x', useResponsesApi: true, configuration: { baseURL: `${url}/v1` } }).invoke(content)).text,
  'mem0ai': (url) => {
    const client = new MemoryClient({ host: url, apiKey: 'x' });
    return async (content) => (/\?$/.test(content) ? (await client.search(content, { filters: { run_id: '*' } })).results.map((r) => r.memory).join('; ')
      : JSON.stringify(await client.add([{ role: 'user', content }], { runId: 'kitchen' })));
  },
  'MCP': (url) => async (content) => {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    const res = await client.callTool(/\?$/.test(content) ? { name: 'memory_search', arguments: { query: content } } : { name: 'memory_add', arguments: { content } });
    await client.close();
    return res.content[0].text;
  },
};
if (process.env.REMEMBERD_CLAUDE_CODE)
  clients['Claude Code'] = (url) => {
    const home = tempFolder();
    return async (content) => (await promisify(execFile)('sh', ['-c', 'exec "$0" "$@" </dev/null', process.env.REMEMBERD_CLAUDE_CODE, '-p', content, '--model', model], { cwd: home, timeout: 60000,
      env: { PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-test', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } })).stdout;
  };
if (process.env.REMEMBERD_CODEX)
  clients.Codex = (url) => {
    const home = tempFolder(), settings = ['model_provider="memory"', `model="${model}"`, 'model_providers.memory.name="memory"', `model_providers.memory.base_url="${url}/v1"`, 'model_providers.memory.wire_api="responses"'];
    return async (content) => (await promisify(execFile)('sh', ['-c', 'exec "$0" "$@" </dev/null', process.env.REMEMBERD_CODEX, 'exec', '--skip-git-repo-check', ...settings.flatMap((one) => ['-c', one]), content],
      { cwd: home, timeout: 60000, env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home } })).stdout;
  };

const things = ['ferry', 'canary', 'tractor', 'village', 'bakery', 'museum', 'choir', 'cabin', 'orchard', 'kiosk', 'guitar', 'laptop'];
const names = ['Halcyon', 'Biscuit', 'Dorothea', 'Fenwick', 'Galore', 'Holbein', 'Karamel', 'Lumina', 'Morvane', 'Noriko', 'Pelham', 'Quillon'];

test('what one client learns the next is given, and what one erases is gone for all', async (t) => {
  const server = await serve(t, { flags: ['--user-from', 'none'] });
  const all = Object.entries(clients).map(([name, make]) => [name, make(server.url)]);
  for (const [i, [name, say]] of all.entries()) {
    await t.test(`${name} tells`, async () => { await say(`My ${things[i]} is called ${names[i]}.`); });
    const [reader, ask] = all[(i + 1) % all.length];
    await t.test(`${reader} is given what ${name} was told`, async () => assert.match(await ask(`What is my ${things[i]} called?`), new RegExp(names[i])));
  }
  // Each thing is erased at another door than the one that learnt it.
  for (const [i, [name]] of all.entries()) {
    const found = (await server.ask('POST', '/v1/memories/search', { query: `What is my ${things[i]} called?`, limit: 20 })).json().results.filter((r) => r.text.includes(names[i]));
    assert.ok(found.length, name);
    const doors = [(id) => server.ask('DELETE', `/v1/memories/${id}`), (id) => server.ask('DELETE', `/api/memory/${id}`),
      (id) => server.ask('DELETE', `/v1/memories/${id}/`, undefined, { authorization: 'Token x' }), (id) => server.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_forget', arguments: { id } } })];
    // The message first: what was learnt from it goes with it.
    for (const r of found.sort((a, b) => a.kind.localeCompare(b.kind)).reverse()) await (r.kind === 'message' ? doors[0] : doors[i % doors.length])(r.id);
  }
  for (const [i, [name]] of all.entries()) {
    const [reader, ask] = all[(i + 5) % all.length];
    await t.test(`${reader} is not given what was erased of ${name}`, async () => assert.doesNotMatch(await ask(`What is my ${things[i]} called?`), new RegExp(names[i])));
  }
});
