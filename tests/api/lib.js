// lib.js - starts the real binary and scripted upstreams; every test file stands on it.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { OpenAI } = require('openai');

const bin = path.resolve(process.env.REMEMBERD_BIN ?? path.join(__dirname, '../../build/rememberd'));

// With a URL in TEST_STORE (tests/lib/with_postgres) each data folder has a schema there.
const storeOf = (data) => (process.env.TEST_STORE && data
  ? { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=${path.basename(data).toLowerCase().replace(/[^a-z0-9]/g, '_')}` } : {});

// The environment without any setting of ours, and in UTC, so that a developer's own does not leak in.
const cleanEnv = (data) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('REMEMBERD_'))), REMEMBERD_CONFIG: '', TZ: 'UTC', ...storeOf(data) });

// Folders and processes go with this process at the latest.
const folders = [], children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});

function tempFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rememberd-api-'));
  folders.push(folder);
  return folder;
}

// Polls until the function gives something true: for what becomes visible later, as a durable write.
async function until(what, fn, ms = 30000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await fn();
    if (value) return value;
    if (Date.now() > end) throw new Error(`gave up waiting: ${what}`);
    await new Promise((done) => setTimeout(done, 5));
  }
}

// Something ends within ms, in one of three tries: a busy machine may be late, and a server that waits for too long always is.
async function within(ms, what, before = async () => undefined) {
  const took = [];
  while (took.length < 3) {
    const given = await before(), began = Date.now();
    await what(given);
    took.push(Date.now() - began);
    if (took.at(-1) < ms) return;
  }
  throw new Error(`took ${took.join(', ')} ms, not ${ms}`);
}

// The API's description with each named schema in the places where it is used.
function inlined(api, node = api) {
  if (Array.isArray(node)) return node.map((one) => inlined(api, one));
  if (node === null || typeof node !== 'object') return node;
  if (node.$ref?.startsWith('#/components/schemas/')) return inlined(api, api.components.schemas[node.$ref.split('/').pop()]);
  return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, inlined(api, one)]));
}

// --- the server ---

class Server {
  constructor(child, data) {
    Object.assign(this, { child, data, stderr: '', stdout: '' });
    children.add(child);
    child.once('exit', () => children.delete(child));
    this.exited = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
    child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text));
    child.stdout.setEncoding('utf8').on('data', (text) => (this.stdout += text));
  }

  async ready() {
    const line = () => /^listening on (http:\S+)\n/.exec(this.stdout);
    const gone = this.exited.then(({ code, signal }) => {
      if (!line()) throw new Error(`rememberd ended (${code ?? signal}) before it listened:\n${this.stderr}`);
    });
    await Promise.race([until('listening', line), gone]);
    this.url = line()[1];
    this.port = Number(new URL(this.url).port);
    return this;
  }

  client(options = {}) {
    return new OpenAI({ baseURL: `${this.url}/v1`, apiKey: 'client-key', maxRetries: 0, ...options });
  }

  // A request as raw bytes; the answer with its head and whole body.
  async ask(method, target, body, headers = {}) {
    const bytes = body === undefined || Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
    const req = http.request(this.url + target, { method, agent: false, headers: {
      ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
      ...headers } });
    req.end(bytes);
    const [res] = await once(req, 'response');
    const parts = [];
    for await (const part of res) parts.push(part);
    const text = Buffer.concat(parts).toString();
    return { status: res.statusCode, headers: res.headers, text, json: () => JSON.parse(text) };
  }

  chat(body, headers) {
    return this.ask('POST', '/v1/chat/completions', body, headers);
  }

  // Says something in a conversation of its own and waits until it is kept. The receipt of a chat that
  // was given something is kept before the model answers; a list of memories waits for the rest.
  async tell(text, headers = {}) {
    const res = await this.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: text }] }, headers);
    assert.equal(res.status, 200, res.text);
    await this.receipt(res.headers['x-rememberd-receipt'], headers);
    await this.ask('GET', '/v1/memories?limit=1', undefined, headers);
    return res;
  }

  // Until every text has its vector: what is found by meaning is the same from then on. Before the first vector nothing waits.
  settled(headers = {}) {
    return until('every text has its vector', async () => {
      const { vectors } = (await this.ask('GET', '/v1/engine', undefined, headers)).json();
      return vectors.available && vectors.waiting === 0;
    }, 30000);
  }

  // The receipt, as soon as it is durable.
  async receipt(id, headers = {}) {
    assert.match(id ?? '', /^[0-9a-f-]{36}$/);
    const res = await until(`receipt ${id}`, async () => {
      const got = await this.ask('GET', `/v1/receipts/${id}`, undefined, headers);
      assert.ok(got.status === 200 || got.status === 404, got.text);
      return got.status === 200 && got;
    });
    return res.json();
  }

  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    return this.exited;
  }
}

// Starts `rememberd serve` on a free port; it is stopped when the test ends, and must then end well.
// A busy machine must not make a recall late: a test about lateness says --recall-deadline-ms itself.
const patient = { REMEMBERD_RECALL_DEADLINE_MS: '10000' };

async function serve(t, { flags = [], data = tempFolder(), env = {} } = {}) {
  const child = spawn(bin, ['serve', '--listen', '127.0.0.1:0', '--data', data, '--log-level', 'warn', ...flags],
    { env: { ...cleanEnv(data), ...patient, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const server = new Server(child, data);
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const { code, signal } = await server.stop();
      assert.equal(code, 0, `ended with ${code ?? signal}:\n${server.stderr}`);
    }
  });
  return server.ready();
}

// A server whose files cannot grow over so many KiB, as on a full disk. freeDisk lets them grow.
async function onFullDisk(t, kib, flags = [], data = tempFolder()) {
  const child = spawn('sh', ['-c', `ulimit -S -f ${2 * kib}; exec "$0" "$@"`, bin, 'serve', '--listen', '127.0.0.1:0', '--data', data,
    '--log-level', 'error', ...flags], { env: cleanEnv(), stdio: ['ignore', 'pipe', 'pipe'] });
  const server = new Server(child, data);
  t.after(() => server.stop('SIGKILL'));
  return server.ready();
}

function freeDisk(server, kib) {
  const limit = kib === undefined ? 'unlimited' : String(1024 * kib);
  execFileSync('prlimit', [`--fsize=${limit}:`, '--pid', String(server.child.pid)]);
}

// Runs a command to its end, over the store of the data folder that it names.
async function run(args, { input, env = {} } = {}) {
  const data = args.includes('--data') ? args[args.indexOf('--data') + 1] : env.REMEMBERD_DATA;
  const child = spawn(bin, args, { env: { ...cleanEnv(data), ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '', stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout, stderr };
}

// --- a scripted upstream ---

const completion = (text, more = {}) => ({
  id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'scripted',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }, ...more });

const chunk = (delta, finish = null) => `data: ${JSON.stringify({
  id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted',
  choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

// Answers as a model does: the given words, whole or streamed as the request wishes.
function answer(res, asked, words) {
  const list = Array.isArray(words) ? words : [words];
  if (!asked.json?.stream) {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(completion(list.join(''))));
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(chunk({ role: 'assistant', content: '' }));
  for (const word of list) res.write(chunk({ content: word }));
  res.write(chunk({}, 'stop'));
  res.end('data: [DONE]\n\n');
}

// An HTTP server whose handler gets what was asked, checked: a JSON body, a right length, no header of rememberd's.
async function upstream(t, handler = (req, res, asked) => answer(res, asked, 'fine')) {
  const asked = [], faults = [];
  const server = http.createServer(async (req, res) => {
    const parts = [];
    try {
      for await (const part of req) parts.push(part);
    } catch {
      return;
    }
    const one = { method: req.method, url: req.url, headers: req.headers, body: Buffer.concat(parts), req, res };
    try {
      check(one);
      asked.push(one);
      await handler(req, res, one);
    } catch (error) {
      faults.push(error);
      if (!res.headersSent) res.writeHead(599);
      res.end(String(error.stack));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
    if (faults.length) throw faults[0];
  });
  const { port } = server.address();
  return { server, asked, url: `http://127.0.0.1:${port}`, port, last: () => asked[asked.length - 1] };
}

// A server that passes chats on to a model, and a command line that makes tokens for it: make(...flags) gives {id, token, …}.
async function withTokens(t, flags = []) {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  const make = async (...args) => {
    const made = await run(['token', 'create', '--json', '--data', server.data, ...args]);
    assert.equal(made.code, 0, made.stderr);
    return JSON.parse(made.stdout);
  };
  return { model, server, make };
}

const ourHeaders = ['x-upstream-authorization', 'x-memory-mode', 'x-memory-tools', 'x-session-id', 'x-session-history', 'x-osaurus-agent-id', 'x-memory-user', 'x-memory-space', 'cookie',
  'x-omniroute-no-memory', 'x-omniroute-session-id', 'x-omniroute-cli-token', 'accept-encoding', 'keep-alive', 'te', 'upgrade'];

function check(one) {
  for (const name of ourHeaders) assert.ok(!(name in one.headers), `${name} reached the upstream`);
  if ('content-length' in one.headers) assert.equal(Number(one.headers['content-length']), one.body.length);
  if (one.method === 'POST' && /json/.test(one.headers['content-type'] ?? '')) one.json = JSON.parse(one.body);
}

/** The answer of a server with its bytes as they came. */
function raw(server, target, headers = {}, method = 'GET') {
  return new Promise((done, fail) => {
    const req = http.request(server.url + target, { method, agent: false, headers }, (res) => {
      const parts = [];
      res.on('data', (d) => parts.push(d)).on('end', () => done({ status: res.statusCode, headers: res.headers, body: Buffer.concat(parts) }));
    });
    req.on('error', fail).end();
  });
}

module.exports = { inlined, OpenAI, Server, answer, bin, chunk, cleanEnv, completion, freeDisk, onFullDisk, raw, run, serve, storeOf, tempFolder, until, upstream, within, withTokens };
