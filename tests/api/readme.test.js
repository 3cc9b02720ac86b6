// readme.test.js - runs the examples of README and docs as they stand (only the port is another) and looks for what they promise.
'use strict';
const { test, before, after } = require('node:test');
const assert = require('node:assert');
const { spawn, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { cleanEnv, serve } = require('./lib');

const root = path.resolve(__dirname, '../..');
const binary = path.resolve(root, process.env.REMEMBERD_BIN ?? 'build/rememberd');
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'rememberd-readme-'));
const env = { ...cleanEnv(), XDG_DATA_HOME: home, PATH: `${home}/bin:${process.env.PATH}` };
fs.mkdirSync(path.join(home, 'bin'));
fs.symlinkSync(binary, path.join(home, 'bin/rememberd'));

function markdownIn(folder) {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? markdownIn(`${folder}/${entry.name}`) : entry.name.endsWith('.md') ? [`${folder}/${entry.name}`] : []);
}
// Notes of research name what was there when they were written. README's examples come first, those of pages that create an access token last: from then on a request needs one.
const texts = ['README.md', ...markdownIn('docs').filter((page) => !page.startsWith('docs/research/')).sort()].map((page) => fs.readFileSync(path.join(root, page), 'utf8'));
const createsToken = (text) => /<!-- run[^>]*-->\s*```sh\n[^`]*token create/.test(text);
const pages = [...texts.filter((text) => !createsToken(text)), ...texts.filter(createsToken)];
let server, url;

/** The blocks marked <!-- run [expect=WORD] -->, in order. */
function examples() {
  const text = pages.join('\n');
  const blocks = [...text.matchAll(/<!-- run(?: expect=(\S+))? -->\s*```sh\n([\s\S]*?)```/g)];
  return blocks.map(([, expect, script]) => ({ expect, script }));
}

before(async () => {
  server = spawn(binary, ['serve', '--listen', '127.0.0.1:0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  url = await new Promise((resolve, reject) => {
    let out = '';
    server.stdout.on('data', (d) => {
      out += d;
      const m = out.match(/^listening on (http:\/\/\S+)/m);
      if (m) resolve(m[1]);
    });
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${out}`)));
  });
});

after(async () => {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  fs.rmSync(home, { recursive: true });
});

test('there are examples to run', () => assert.ok(examples().length >= 15));

for (const [i, { expect, script }] of examples().entries()) {
  test(`example ${i + 1}: ${script.split('\n')[0].slice(0, 60)}`, async () => {
    // A chat's answer is complete before the turn is durable, so the next example may have to ask again.
    const command = script.replaceAll('http://127.0.0.1:7077', url);
    const deadline = Date.now() + 10000;
    for (;;) {
      const out = execFileSync('bash', ['-ec', command], { env, cwd: home, encoding: 'utf8' });
      if (!expect || out.includes(expect)) return;
      if (Date.now() > deadline) assert.fail(`no "${expect}" in:\n${out}`);
    }
  });
}

/** The blocks marked <!-- mcp -->: a server each, as a client's configuration names it. */
function mcpServers() {
  const blocks = [...pages.join('\n').matchAll(/<!-- mcp -->\s*```json\n([^]*?)```/g)];
  return blocks.map(([, config]) => JSON.parse(config).mcpServers.rememberd);
}

/** One of the examples has made a token, so every later request needs one. */
const newToken = () => JSON.parse(execFileSync(binary, ['token', 'create', '--space', 'default', '--json'], { env, encoding: 'utf8' })).token;

test('there is an MCP configuration for either way', () => {
  assert.deepStrictEqual(mcpServers().map((one) => Boolean(one.command)), [true, false]);
});

for (const [i, config] of mcpServers().entries()) {
  test(`MCP configuration ${i + 1} reaches the memory that the examples filled`, async () => {
    const requestInit = { headers: { authorization: `Bearer ${newToken()}` } };
    const client = new Client({ name: 'readme', version: '1' });
    const transport = config.command
      ? new StdioClientTransport({ command: path.join(home, 'bin', config.command), args: config.args, env })
      : new StreamableHTTPClientTransport(new URL(config.url.replace('http://127.0.0.1:7077', url)), { requestInit });
    await client.connect(transport);
    const found = await client.callTool({ name: 'memory_search', arguments: { query: 'which coffee do I like?' } });
    await client.close();
    assert.match(found.content[0].text, /espresso/);
  });
}

test('every flag that README and docs name exists', () => {
  const commands = ['serve', 'mcp', 'add', 'forget', 'token', 'ingest', 'import', 'list', 'model', 'reindex', 'restore', 'rekey', 'eval', 'compact', 'review', 'user', 'connect', 'hook', 'doctor', 'audit', 'erasures', 'verify-erasure', 'verify', 'logs', 'chat', 'status', 'upgrade', 'migrate'];
  const known = commands.map((name) => execFileSync(binary, [name, '--help-all'], { env, encoding: 'utf8' })).join('');
  const ours = pages.join('\n').replace(/(apt-get|tools\/check-house|curl --unix-socket|podman) [^`]*/g, ''); // without the flags of another program
  const flags = new Set([...ours.matchAll(/`?--([a-z][a-z-]+)/g)].map((m) => m[1]));
  flags.delete('help');
  flags.delete('routes');
  for (const flag of flags) assert.match(known, new RegExp(`^  (?:-\\w, )?--${flag} `, 'm'), `--${flag}`);
});

test('the example of a settings file is one', () => {
  const [, text] = /<!-- config -->\s*```toml\n([^]*?)```/.exec(pages.join('\n'));
  const file = path.join(home, 'config.toml');
  fs.writeFileSync(file, text);
  const known = execFileSync(binary, ['serve', '--print-settings', '--config', file], { env, encoding: 'utf8' });
  assert.match(known, /^coverage = lean /m);
  assert.match(known, /^# models ollama\/\S+ go to http:\/\/127/m);
});

test('the operator who follows the quick start still has the memories from before, and may do everything', async (t) => {
  const page = fs.readFileSync(path.join(root, 'docs/quickstart/operator.md'), 'utf8').split('## 5')[0];
  const clean = fs.mkdtempSync(path.join(os.tmpdir(), 'rememberd-operator-')), own = { ...cleanEnv(path.join(clean, '.local/share/rememberd')), HOME: clean, PATH: env.PATH };
  t.after(() => fs.rmSync(clean, { recursive: true }));
  delete own.XDG_DATA_HOME;
  delete own.XDG_CONFIG_HOME;
  delete own.REMEMBERD_CONFIG;
  const sh = (script) => execFileSync('bash', ['-ec', script], { env: own, cwd: clean, encoding: 'utf8' });
  sh('rememberd add I like tea');
  const file = path.join(clean, '.config/rememberd/rememberd.toml');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, /<!-- config -->\s*```toml\n([^]*?)```/.exec(page)[1]);
  const lines = [...page.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block]) => block.split('\n'));
  const serves = (line) => /rememberd serve/.test(line);
  assert.equal(lines.filter(serves).length, 2);
  const out = sh(lines.filter((line) => !serves(line)).join('\n'));
  assert.match(out, new RegExp(`^ok: .*${file}`, 'm'));
  const started = await serve(t, { data: path.join(clean, '.local/share/rememberd'), env: { REMEMBERD_CONFIG: file } });
  const authorization = `Bearer ${/^rk_\S+/m.exec(out)[0]}`; // the first token
  assert.match((await started.ask('GET', '/v1/memories', undefined, { authorization })).text, /I like tea/);
  assert.equal((await started.ask('GET', '/v1/users', undefined, { authorization })).status, 200);
  assert.equal((await started.ask('GET', '/v1/memories')).status, 401);
});

test('the error that the reference shows is the one that the server gives', async () => {
  const page = fs.readFileSync(path.join(root, 'docs/reference/rest.md'), 'utf8');
  const { request_id: shownId, ...shown } = JSON.parse(/## Errors[^]*?```json\n([^]*?)```/.exec(page)[1]);
  const { request_id: id, ...given } = await (await fetch(`${url}/v1/memories?limit=0`, { headers: { authorization: `Bearer ${newToken()}` } })).json();
  assert.deepEqual(given, shown);
  assert.equal(id.length, shownId.length);
});
