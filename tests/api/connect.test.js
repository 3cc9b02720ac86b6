// connect.test.js - rememberd connect: one entry in the settings of another program, and every other byte as it was. rememberd hook.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const { once } = require('node:events');
const path = require('node:path');
const { test } = require('node:test');
const { bin, cleanEnv, run, serve, tempFolder, until, within } = require('./lib.js');

const url = 'http://127.0.0.1:7077';
const hook = (timeout, more = '') => ({ hooks: [{ type: 'command', command: `${fs.realpathSync(bin)} hook${more}`, timeout }] });
const hooks = (timeout, ...events) => Object.fromEntries(events.map((event) => [event, [hook(timeout)]]));
const claude = ['UserPromptSubmit', 'Stop', 'PreCompact'];

// What each program's files are once they were made: by the program's own documentation.
const made = {
  'claude-code': { '.claude.json': { mcpServers: { rememberd: { type: 'http', url: `${url}/mcp` } } }, '.claude/settings.json': { hooks: hooks(5, ...claude) } },
  'claude-desktop': { '.config/Claude/claude_desktop_config.json': { mcpServers: { rememberd: { command: fs.realpathSync(bin), args: ['mcp'] } } } },
  codex: { '.codex/config.toml': `[mcp_servers.rememberd]\nurl = "${url}/mcp"\n`, '.codex/hooks.json': { hooks: hooks(5, ...claude) } },
  cursor: { '.cursor/mcp.json': { mcpServers: { rememberd: { url: `${url}/mcp` } } } },
  gemini: { '.gemini/settings.json': { mcpServers: { rememberd: { type: 'http', url: `${url}/mcp` } }, hooks: hooks(5000, 'BeforeAgent', 'AfterAgent', 'PreCompress') } },
  opencode: { '.config/opencode/opencode.json': { mcp: { rememberd: { type: 'remote', url: `${url}/mcp`, enabled: true } } } },
  vscode: { '.config/Code/User/mcp.json': { servers: { rememberd: { type: 'http', url: `${url}/mcp` } } } },
  windsurf: { '.codeium/windsurf/mcp_config.json': { mcpServers: { rememberd: { serverUrl: `${url}/mcp` } } } },
  zed: { '.config/zed/settings.json': { context_servers: { rememberd: { url: `${url}/mcp` } } } },
};

test('the page about connect has every program with its files', () => {
  const page = fs.readFileSync(path.join(__dirname, '../../docs/reference/hooks.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (`\.[^|]*`) \| (.*) \|$/gm)].map(([, name, files, what]) => [name, files.match(/[^`, ]+/g).sort(), /hooks/.test(what)]);
  assert.deepEqual(rows.sort(), Object.entries(made).map(([name, files]) => [name, Object.keys(files).sort(), /"hooks":/.test(JSON.stringify(files))]).sort());
});

// A home folder of its own, and the command in it. files: what is in it before.
function home(files = {}) {
  const folder = fs.realpathSync(tempFolder());
  const at = (name) => path.join(folder, name);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(at(name)), { recursive: true });
    fs.writeFileSync(at(name), text);
  }
  const env = { HOME: folder, XDG_CONFIG_HOME: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '' };
  const connect = (args, more = {}) => run(['connect', ...args], { ...more, env: { ...env, ...more.env } });
  const ok = async (...args) => {
    const res = await connect([...args, '--yes']);
    assert.equal(res.code, 0, res.stderr);
    return res.stdout;
  };
  const refused = async (...args) => {
    const res = await connect([...args, '--yes']);
    assert.equal(res.code, 1, res.stdout);
    return res.stderr;
  };
  return { folder, at, env, connect, ok, refused, text: (name) => fs.readFileSync(at(name), 'utf8') };
}

// JSON with comments and trailing commas, by a way of its own.
function jsonc(text) {
  const plain = text.replace(/^\uFEFF/, '').replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (s) => (s[0] === '"' ? s : ' '));
  return JSON.parse(plain.replace(/"(?:\\.|[^"\\])*"|,(\s*[}\]])/g, (s, end) => end ?? s));
}

const allFiles = (folder) => fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).map((f) => f.name);

test('each program: its files are made, found again and taken out', async () => {
  const listed = (await home().connect([])).stdout.split('\n').map((line) => line.split(/ +/)[0]).filter(Boolean);
  assert.deepEqual(listed.sort(), Object.keys(made).sort());
  for (const [name, files] of Object.entries(made)) {
    const h = home();
    assert.match(await h.ok(name), /\(new file\)\n\+ [^]*\nWritten\.\n/);
    for (const [file, content] of Object.entries(files)) {
      assert.deepEqual(file.endsWith('.toml') ? h.text(file) : JSON.parse(h.text(file)), content, file);
      assert.ok(h.text(file).endsWith('\n'));
      assert.equal(fs.statSync(h.at(file)).mode & 0o777, 0o600);
    }
    const rows = (await h.connect([])).stdout.split('\n');
    assert.deepEqual(rows.filter((row) => /connected/.test(row)).map((row) => row.split(/ +/)[0]), [name]);
    assert.match(await h.ok(name), /^It is connected so already\.\n$/);
    assert.match(await h.ok(name, '--remove'), /Taken out\.\n$/);
    assert.deepEqual(allFiles(h.folder), [], name);
    assert.match(await h.ok(name, '--remove'), /^There is no entry to take out\.\n$/);
  }
});

// Files as people have them. What is there, also comments, stays; taking out gives the bytes from before.
const written = [
  '{}', '{ }\n', '{\n}\n', '', '\n',
  '{"theme":"dark"}', '{"theme": "dark", "mcpServers": {"other": {"url": "http://x"}}}\n',
  '{\n  "theme": "dark"\n}\n',
  '{\n\t"theme": "dark",\n\t"list": [\n\t\t1,\n\t\t2\n\t]\n}',
  '{\n    // my own\n    "mcpServers": {\n        "other": { "url": "http://x" }, // keep "this"\n        /* "rememberd": {} */\n    },\n    "theme": "a // b", /* } */\n}\n// end\n',
  '\uFEFF{\r\n  "theme": "dark", // }\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
  '/* first */ {\n  "mcpServers": {\n    "z": {\n      "url": "http://x/\\"//\\"" // last\n    }\n    // behind\n  }\n}\n',
  '{\n  "mcpServers": {\n    // nothing yet\n  },\n  "deep": {"a": [[[{"b": "}"}]]], "\\u00e9": "\\ud83d\\ude00"}\n}\n',
  '{"a":1,\n "b":2}', '[\n'.repeat(0) + '{\n  "a": 1,}',
];

test('every other byte stays, comments too, and taking out gives the bytes from before', async () => {
  for (const before of written)
    for (const name of ['cursor', 'gemini']) {
      const [file] = Object.keys(made[name]), h = home({ [file]: before });
      await h.ok(name);
      const between = h.text(file), was = jsonc(before.trim() ? before : '{}'), is = jsonc(between);
      const entry = made[name][file];
      assert.deepEqual(is, { ...was, ...entry, mcpServers: { ...was.mcpServers, ...entry.mcpServers } }, between);
      // Nothing that was there is gone: all bytes in their order.
      let at = 0;
      for (const byte of before.trim()) at = between.indexOf(byte, at) + 1 || assert.fail(`${before}\nbecame\n${between}`);
      await h.ok(name, '--remove');
      if (!before.trim() || before.replace(/\s/g, '') === '{}') assert.ok(!fs.existsSync(h.at(file)) || h.text(file) === before);
      else assert.equal(h.text(file), before);
    }
});

// Numbers that follow one another without a pattern, the same in each run.
function random(seed) {
  return (n) => ((seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 8) % n;
}

test('files of all forms: put in and taken out again', async () => {
  const servers = (die, depth) => {
    const space = () => ['', ' ', '\n', '\n  ', '\t', ' // c }\n', '/* , */', '\r\n'][die(8)];
    const value = (d) => {
      const kind = die(d > 3 ? 3 : 5), n = die(4), open = kind === 3 ? '{}' : '[]';
      if (kind < 3) return ['1.50', '"a\\"},//"', 'null'][kind];
      const parts = Array.from({ length: n }, (_, i) => `${space()}${kind === 3 ? `"k${i}"${space()}:${space()}` : ''}${value(d + 1)}${space()}`);
      return `${open[0]}${parts.join(',')}${n && die(3) === 0 ? ',' : ''}${space()}${open[1]}`;
    };
    const members = Array.from({ length: 1 + die(3) }, (_, i) => `${space()}"m${i}"${space()}:${space()}${value(depth)}${space()}`);
    if (die(2)) members.splice(die(members.length + 1), 0, `${space()}"mcpServers":${space()}{${space()}"other"${space()}:${space()}${value(2)}${space()}${die(2) ? ',' : ''}${space()}}${space()}`);
    return `${space()}{${members.join(',')}${die(2) ? ',' : ''}${space()}}${space()}`;
  };
  for (let seed = 1; seed <= 150; seed++) {
    const before = servers(random(seed * 7919), 1), h = home({ '.cursor/mcp.json': before });
    const was = jsonc(before);
    await h.ok('cursor');
    assert.deepEqual(jsonc(h.text('.cursor/mcp.json')), { ...was, mcpServers: { ...was.mcpServers, ...made.cursor['.cursor/mcp.json'].mcpServers } }, before);
    await h.ok('cursor', '--remove');
    assert.equal(h.text('.cursor/mcp.json'), before, `seed ${seed}`);
  }
});

test('a file that cannot be read stops everything', async () => {
  const broken = [['{', /not valid JSON/], ['{"a": 1', /not valid JSON/], ['[]', /must be an object/], ['{"mcpServers": []}', /mcpServers must be an object/], ['{"mcpServers": null}', /must be an object/],
    ['{"a": 1} x', /not valid JSON/], ['{"a" 1}', /not valid JSON/], ['{"a": 1} /* open', /not valid JSON/], ['{"a": "\u0000"}', /is not text/], ['{"a": 1,,}', /not valid JSON/], ['{ ,// x\n}', /not valid JSON/], ['{"a": [,]}', /not valid JSON/]];
  for (const [text, why] of broken) {
    const h = home({ '.cursor/mcp.json': text });
    for (const more of [[], ['--remove']]) {
      const said = await h.refused('cursor', ...more);
      assert.match(said, why, text);
      assert.ok(said.startsWith(`rememberd connect: ${h.at('.cursor/mcp.json')}: `) && said.endsWith('; nothing was changed\n'), said);
      assert.equal(h.text('.cursor/mcp.json'), text);
    }
  }
  // The second file is broken: the first stays as it is.
  for (const settings of ['{"hooks": {"Stop": {}}}', '{"hooks": 7}', '{']) {
    const h = home({ '.claude.json': '{"a": 1}', '.claude/settings.json': settings });
    assert.match(await h.refused('claude-code'), /settings\.json: /);
    assert.equal(h.text('.claude.json'), '{"a": 1}');
    assert.equal(h.text('.claude/settings.json'), settings);
  }
  const folder = home({ '.cursor/mcp.json/x': '' });
  assert.match(await folder.refused('cursor'), /mcp\.json: is not a file; nothing was changed/);
});

test('a file that cannot be written stops everything', () => {
  const h = home({ '.claude.json': '{"a": 1}', '.claude/settings.json': '{}' }), program = h.at('rememberd');
  fs.copyFileSync(bin, program);
  const nobody = process.getuid() ? {} : { uid: 65534, gid: 65534 }; // root writes everywhere
  for (const name of ['.', '.claude.json', '.claude', '.claude/settings.json', 'rememberd'])
    if (nobody.uid) fs.chownSync(h.at(name), nobody.uid, nobody.gid);
  fs.chmodSync(h.at('.claude'), 0o555); // as where settings are links into a store
  const { status, stderr } = spawnSync(program, ['connect', 'claude-code', '--yes'], { env: { ...cleanEnv(), ...h.env }, ...nobody, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [1, `rememberd connect: ${h.at('.claude/settings.json')}: cannot be written: Permission denied; nothing was changed\n`]);
  assert.equal(h.text('.claude.json'), '{"a": 1}');
  fs.chmodSync(h.at('.claude'), 0o755);
});

test('it shows, asks, and writes only on a yes', async () => {
  const h = home({ '.cursor/mcp.json': '{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4,\n  "e": 5\n}\n' });
  for (const input of ['', 'n\n', '\n', 'no y\n']) {
    const res = await h.connect(['cursor'], { input });
    assert.equal(res.code, 1);
    assert.match(res.stderr, /nothing was changed/);
    assert.match(res.stdout, /mcp\.json\n {2}\.\.\.\n {4}"b": 2,\n {4}"c": 3,\n {4}"d": 4,\n- {3}"e": 5\n\+ {3}"e": 5,\n\+ {3}"mcpServers": \{\n[^]*\nWrite this\? \[y\/N\] /);
    assert.equal(jsonc(h.text('.cursor/mcp.json')).mcpServers, undefined);
  }
  assert.equal((await h.connect(['cursor'], { input: 'y\n' })).code, 0);
  assert.ok(jsonc(h.text('.cursor/mcp.json')).mcpServers.rememberd);
  assert.match((await h.connect(['cursor', '--remove'], { input: 'n\n' })).stdout, /Take this out\? \[y\/N\]/);
  assert.ok(jsonc(h.text('.cursor/mcp.json')).mcpServers.rememberd);
});

test('another server, a space and a token', async () => {
  const h = home({ '.cursor/mcp.json': '{\n  "mcpServers": {\n    "rememberd": {\n      "url": "http://old/mcp"\n    },\n    "b": {}\n  }\n}\n' });
  const token = 'rk_0123456789abcdefghijklmnopqrstuvwxyz';
  const res = await h.connect(['cursor', '--yes', '--url', 'https://memory.example.com/', '--space', 'my "team"'], { env: { REMEMBERD_TOKEN: token } });
  assert.equal(res.code, 0, res.stderr);
  assert.doesNotMatch(res.stdout + res.stderr, /rk_0/);
  assert.match(res.stdout, /Bearer \*\*\*/);
  assert.deepEqual(jsonc(h.text('.cursor/mcp.json')).mcpServers, { rememberd: { url: 'https://memory.example.com/mcp', headers: { Authorization: `Bearer ${token}`, 'X-Memory-Space': 'my "team"' } }, b: {} });
  assert.deepEqual(Object.keys(jsonc(h.text('.cursor/mcp.json')).mcpServers), ['rememberd', 'b']);
  const more = ['--yes', '--url', 'https://memory.example.com', '--space', "it's"];
  assert.equal((await h.connect(['codex', ...more], { env: { REMEMBERD_TOKEN: token } })).code, 0);
  assert.equal(h.text('.codex/config.toml'), '[mcp_servers.rememberd]\nurl = "https://memory.example.com/mcp"\nbearer_token_env_var = "REMEMBERD_TOKEN"\nhttp_headers = { "X-Memory-Space" = "it\'s" }\n');
  assert.deepEqual(JSON.parse(h.text('.codex/hooks.json')).hooks.Stop, [hook(5, " --url https://memory.example.com --space 'it'\\''s'")]);
  // A hook that lacks the token fails without a word in the agent.
  for (const name of ['claude-code', 'codex', 'gemini']) assert.match((await home().connect([name, '--yes'], { env: { REMEMBERD_TOKEN: token } })).stdout, /Written\.\nSet REMEMBERD_TOKEN where it starts, too: its hooks read/);
  assert.doesNotMatch(res.stdout, /Set REMEMBERD_TOKEN/);
  await h.ok('codex', '--space', 'b');
  assert.deepEqual(JSON.parse(h.text('.codex/hooks.json')).hooks.Stop, [hook(5, ' --space b')]);
  await h.ok('claude-desktop', '--space', 'b');
  assert.deepEqual(JSON.parse(h.text('.config/Claude/claude_desktop_config.json')).mcpServers.rememberd.args, ['mcp', '--space', 'b']);
  // Else the program would begin a memory of its own beside that of the server.
  fs.mkdirSync(h.at('kept'));
  const started = await h.connect(['claude-desktop', '--yes', '--data', path.relative('', h.at('kept')), '--space', 'b']);
  assert.match(started.stdout, /Written\.\nClaude Desktop starts rememberd itself: as the user local, without a token\.\n/);
  assert.deepEqual(JSON.parse(h.text('.config/Claude/claude_desktop_config.json')).mcpServers.rememberd.args, ['mcp', '--data', h.at('kept'), '--space', 'b']);
  for (const [args, why] of [[['claude-desktop', '--url', url], /takes no --url/], [['nothing'], /no program 'nothing' is known/], [['cursr'], /did you mean 'cursor'\?/], [['--remove'], /needs the name/]]) {
    const bad = await h.connect(args);
    assert.equal(bad.code, 2);
    assert.match(bad.stderr, why);
  }
  for (const bad of ['ftp://x', 'x', 'http://u:p@x', 'http://x?a']) assert.match(await h.refused('cursor', '--url', bad), /--url/);
  assert.match((await h.connect(['cursor', '--yes', '--listen', 'unix:/tmp/x'])).stderr, /name a URL with --url/);
  assert.match(await h.ok('cursor', '--remove', '--listen', 'unix:/tmp/x'), /Taken out/);
  for (const all of [':7079', '*:7079', '0.0.0.0:7079', '[::]:7079']) {
    await h.ok('cursor', '--listen', all);
    assert.equal(jsonc(h.text('.cursor/mcp.json')).mcpServers.rememberd.url, 'http://127.0.0.1:7079/mcp', all);
  }
  for (const [given, want] of [['http://mcp', 'http://mcp/mcp'], ['http://v1/mcp/v1/', 'http://v1/mcp']]) {
    await h.ok('cursor', '--url', given);
    assert.equal(jsonc(h.text('.cursor/mcp.json')).mcpServers.rememberd.url, want);
  }
});

test('what someone has put into the entry stays when it is connected again', async () => {
  const env = { REMEMBERD_TOKEN: 'rk_one' }, far = { type: 'http', url: 'https://m.example/mcp' };
  const h = home({ '.gemini/settings.json': '{\n  "mcpServers": {\n    "rememberd": {\n      "httpUrl": "http://old/mcp",\n      "trust": true, // I do\n      "headers": { "X-Team": "a", "Authorization": "Bearer old" },\n      "includeTools": ["memory_search"]\n    }\n  }\n}\n' });
  const entry = () => jsonc(h.text('.gemini/settings.json')).mcpServers.rememberd;
  const others = { trust: true, includeTools: ['memory_search'] };
  assert.equal((await h.connect(['gemini', '--yes', '--url', 'https://m.example/v1/'], { env })).code, 0);
  assert.deepEqual(entry(), { ...others, ...far, headers: { 'X-Team': 'a', Authorization: 'Bearer rk_one' } });
  assert.match(h.text('.gemini/settings.json'), /"trust": true, \/\/ I do\n/);
  await h.ok('gemini', '--url', 'https://m.example/mcp');
  assert.deepEqual(entry(), { ...others, ...far, headers: { 'X-Team': 'a' } });
  assert.match(await h.ok('gemini', '--url', 'https://m.example'), /^It is connected so already\.\n$/);
  // A client that started the program calls the server from now on.
  const started = home({ '.cursor/mcp.json': '{"mcpServers": {"rememberd": {"command": "rememberd", "args": ["mcp"], "disabled": true}}}' });
  await started.ok('cursor');
  assert.deepEqual(jsonc(started.text('.cursor/mcp.json')).mcpServers.rememberd, { disabled: true, url: `${url}/mcp` });
  for (const [name, file, key, is, entry] of [
    ['cursor', '.cursor/mcp.json', 'mcpServers', {}, { url: 'http://old/mcp', headers: { authorization: 'Bearer old', 'x-memory-space': 'old', AUTHORIZATION: 'Bearer older' } }],
    ['cursor', '.cursor/mcp.json', 'mcpServers', { headers: null }, { url: 'http://old/mcp', headers: null }],
    ['opencode', '.config/opencode/opencode.json', 'mcp', { type: 'remote' }, { type: 'local', command: ['rememberd', 'mcp'], environment: { A: 'b' } }],
  ]) {
    const old = home({ [file]: JSON.stringify({ [key]: { rememberd: entry } }) });
    await old.ok(name);
    const { url: to, enabled, headers, ...rest } = jsonc(old.text(file))[key].rememberd;
    assert.equal(to, `${url}/mcp`);
    assert.deepEqual({ ...rest, ...(headers === null ? { headers } : {}) }, is);
    assert.deepEqual(headers ?? {}, {});
  }
  // Codex writes what its user allowed behind the entry.
  const before = 'a = 1\n\n[mcp_servers.rememberd]\nurl = "http://old/mcp"\nbearer_token_env_var = "X"\n# slow disk\nstartup_timeout_sec = 20\n\n[mcp_servers.rememberd.env]\nA = "b"\n\n[mcp_servers.rememberd.tools.memory_search]\napproval_mode = "approve"\n\n[z]\n';
  const codex = home({ '.codex/config.toml': before });
  await codex.ok('codex');
  assert.equal(codex.text('.codex/config.toml'), `a = 1\n\n[mcp_servers.rememberd]\nurl = "${url}/mcp"\n# slow disk\nstartup_timeout_sec = 20\n\n\n[mcp_servers.rememberd.tools.memory_search]\napproval_mode = "approve"\n\n[z]\n`);
  assert.match(await codex.ok('codex'), /^It is connected so already\.\n$/);
  await codex.ok('codex', '--remove');
  assert.equal(codex.text('.codex/config.toml'), 'a = 1\n\n[z]\n');
  const twice = home({ '.codex/config.toml': '[mcp_servers.rememberd]\nurl = "x"\nenv_vars = ["A"]\nenv_http_headers = { Authorization = "OLD" }\n[mcp_servers.rememberd]\n' });
  await twice.ok('codex');
  assert.equal(twice.text('.codex/config.toml'), `[mcp_servers.rememberd]\nurl = "${url}/mcp"\n`);
  const late = home({ '.codex/config.toml': '[mcp_servers.rememberd.tools.x]\nb = 1\n[mcp_servers.rememberd]\nenabled = true\nurl = "x"' });
  await late.ok('codex');
  assert.equal(late.text('.codex/config.toml'), `[mcp_servers.rememberd.tools.x]\nb = 1\n[mcp_servers.rememberd]\nurl = "${url}/mcp"\nenabled = true`);
});

test('no token is shown: that of an earlier entry, of one that goes, of another server', async () => {
  const other = { url: 'http://x', headers: { Authorization: 'Bearer other-secret' } };
  const h = home({ '.cursor/mcp.json': `${JSON.stringify({ mcpServers: { other } }, null, 2)}\n` });
  const said = [];
  for (const [token, ...more] of [['rk_first'], ['rk_second'], ['', '--remove']]) {
    const { code, stdout } = await h.connect(['cursor', '--yes', ...more], { env: { REMEMBERD_TOKEN: token } });
    assert.equal(code, 0);
    said.push(stdout);
  }
  for (const text of said) assert.ok(/Bearer \*\*\*"/.test(text) && !/rk_|secret/.test(text), text);
  assert.deepEqual(JSON.parse(h.text('.cursor/mcp.json')).mcpServers, { other });
});

test('a link to a file that is not there yet stays a link', async () => {
  const h = home({ 'dotfiles/x': '' });
  fs.mkdirSync(h.at('.cursor'));
  fs.symlinkSync('../dotfiles/mcp.json', h.at('.cursor/between.json'));
  fs.symlinkSync('between.json', h.at('.cursor/mcp.json'));
  await h.ok('cursor');
  for (const name of ['mcp.json', 'between.json']) assert.ok(fs.lstatSync(h.at(`.cursor/${name}`)).isSymbolicLink(), name);
  assert.ok(JSON.parse(h.text('dotfiles/mcp.json')).mcpServers.rememberd);
  await h.ok('cursor', '--remove');
  await h.ok('cursor');
  assert.ok(fs.lstatSync(h.at('.cursor/mcp.json')).isSymbolicLink());
  // Nor does a named pipe hold it up.
  execFileSync('mkfifo', [h.at('pipe')]);
  fs.unlinkSync(h.at('.cursor/between.json'));
  fs.symlinkSync('../pipe', h.at('.cursor/between.json'));
  assert.match(await h.refused('cursor'), /is not a file; nothing was changed/);
});

test('hooks of the user stay beside ours', async () => {
  const own = { matcher: '*', hooks: [{ type: 'command', command: 'notify-send "rememberd hooks are here"' }] };
  const mixed = { hooks: [{ type: 'command', command: '/x/rememberd hook' }, { type: 'command', command: 'date' }] };
  const before = `${JSON.stringify({ model: 'opus', hooks: { Stop: [own, mixed], PostToolUse: [own] } }, null, 4)}\n`;
  const h = home({ '.claude/settings.json': before });
  await h.ok('claude-code');
  assert.deepEqual(JSON.parse(h.text('.claude/settings.json')).hooks, { Stop: [own, mixed, hook(5)], PostToolUse: [own], UserPromptSubmit: [hook(5)], PreCompact: [hook(5)] });
  // Ours of an earlier version, in any place and under the name of a download, is replaced.
  for (const earlier of ['/old/bin/rememberd', '/home/me/rememberd-0.1.0-linux-amd64']) {
    fs.writeFileSync(h.at('.claude/settings.json'), h.text('.claude/settings.json').replaceAll(fs.realpathSync(bin), earlier));
    await h.ok('claude-code');
    assert.deepEqual(JSON.parse(h.text('.claude/settings.json')).hooks.Stop, [own, mixed, hook(5)]);
  }
  await h.ok('claude-code', '--remove');
  assert.equal(h.text('.claude/settings.json'), before);
});

test('hooks of a program of another name are found again', async () => {
  const h = home(), renamed = h.at("it's mine/mem"), made = { hooks: [{ type: 'command', command: 'lint hook' }] };
  const connect = (...args) => execFileSync(renamed, ['connect', 'claude-code', '--yes', ...args], { env: { ...cleanEnv(), ...h.env }, stdio: 'ignore' });
  fs.mkdirSync(path.dirname(renamed));
  fs.copyFileSync(bin, renamed);
  fs.mkdirSync(h.at('.claude'));
  fs.writeFileSync(h.at('.claude/settings.json'), JSON.stringify({ hooks: { Stop: [made] } }));
  for (const args of [[], [], ['--space', 'work']]) connect(...args);
  const { hooks: { Stop: stop, PreCompact: compact } } = JSON.parse(h.text('.claude/settings.json'));
  assert.deepEqual([stop.length, compact.length, stop[0]], [2, 1, made]);
  connect('--remove');
  assert.deepEqual(JSON.parse(h.text('.claude/settings.json')), { hooks: { Stop: [made] } });
});

test('links and permissions stay, and other folders are found by their variables', async () => {
  const h = home({ 'dotfiles/mcp.json': '{"a": 1}' });
  fs.mkdirSync(h.at('.cursor'));
  fs.symlinkSync('../dotfiles/mcp.json', h.at('.cursor/mcp.json'));
  fs.chmodSync(h.at('dotfiles/mcp.json'), 0o640);
  const owner = process.getuid() || 1234; // root writes into another's file
  fs.chownSync(h.at('dotfiles/mcp.json'), owner, process.getgid());
  await h.ok('cursor');
  assert.equal(fs.statSync(h.at('dotfiles/mcp.json')).uid, owner);
  assert.ok(fs.lstatSync(h.at('.cursor/mcp.json')).isSymbolicLink());
  assert.ok(JSON.parse(h.text('dotfiles/mcp.json')).mcpServers.rememberd);
  assert.equal(fs.statSync(h.at('dotfiles/mcp.json')).mode & 0o777, 0o640);
  assert.deepEqual(fs.readdirSync(h.at('dotfiles')), ['mcp.json'], 'nothing is left beside it');
  assert.equal((await h.connect(['cursor', '--yes'], { env: { REMEMBERD_TOKEN: 'rmb_secret' } })).code, 0);
  assert.match(h.text('dotfiles/mcp.json'), /Bearer rmb_secret/);
  assert.equal(fs.statSync(h.at('dotfiles/mcp.json')).mode & 0o777, 0o600, 'a token is its owner\'s');
  const env = { CODEX_HOME: h.at('cx'), CLAUDE_CONFIG_DIR: h.at('cl'), XDG_CONFIG_HOME: h.at('cfg') };
  for (const name of ['codex', 'claude-code', 'zed']) assert.equal((await h.connect([name, '--yes'], { env })).code, 0);
  for (const file of ['cx/config.toml', 'cx/hooks.json', 'cl/.claude.json', 'cl/settings.json', 'cfg/zed/settings.json']) assert.ok(fs.existsSync(h.at(file)), file);
  assert.match((await h.connect(['cursor', '--yes'], { env: { HOME: '' } })).stderr, /HOME must name your home folder/);
  fs.chmodSync(h.at('.codeium') && h.folder, 0o700);
});

test('TOML: one table, wherever tables may be', async () => {
  const table = `[mcp_servers.rememberd]\nurl = "${url}/mcp"\n`;
  const plain = ['model = "gpt-5"\n', 'model = "gpt-5"', '# only a comment\n', '\n\n', '[a]\nb = 1\n\n\n',
    'text = """\n[mcp_servers.rememberd]\nurl = "x"\n"""\nraw = \'\'\'\n[[ \' " \'\'\'\nlist = [\n  "[x]", # ]\n  { a = 1 },\n]\n["odd name"."x.y"]\n"a=b" = \'c\' # = [\n',
    '[mcp_servers.other]\ncommand = "x"\nargs = ["a", "[b]"]\n[mcp_servers.other.env]\nA = "1"\n', 'a = "\\"]"\r\n[b]\r\nc = 2024-01-01\r\n'];
  for (const before of plain) {
    const h = home({ '.codex/config.toml': before });
    await h.ok('codex');
    const is = h.text('.codex/config.toml');
    assert.ok(is.startsWith(before) && is.trimEnd().endsWith(table.trimEnd()), is);
    await h.ok('codex', '--url', 'http://other:1');
    assert.ok(h.text('.codex/config.toml').startsWith(before) && h.text('.codex/config.toml').includes('url = "http://other:1/mcp"'));
    await h.ok('codex', '--remove');
    assert.equal(h.text('.codex/config.toml'), before);
  }
  // Between other tables, with a table of its own in it.
  const h = home({ '.codex/config.toml': 'a = 1\n\n[ mcp_servers . "rememberd" ] # mine\nurl = "http://old"\n[mcp_servers.rememberd.http_headers]\nA = "b"\n\n# of z\n[z]\nb = 2\n' });
  await h.ok('codex');
  assert.equal(h.text('.codex/config.toml'), `a = 1\n\n${table}\n# of z\n[z]\nb = 2\n`);
  await h.ok('codex', '--remove');
  assert.equal(h.text('.codex/config.toml'), 'a = 1\n\n# of z\n[z]\nb = 2\n');
  const broken = [['mcp_servers = { x = { url = "y" } }\n', /line 1: this key makes the table/], ['a = 1\nmcp_servers.rememberd.url = "y"\n', /line 2: this key makes/], ['[mcp_servers]\nrememberd = { url = "y" }\n', /line 2/],
    ['a = "x\n', /line 1: a text has no end/], ['a = [1,\n', /a bracket is not closed/], ['[a\nb = 1\n', /line 1: a table's name has no end/], ['just words\n', /line 1: is neither/], ['a =\n', /line 1: a key has no value/], ['a = 1]\n', /a bracket too many/],
    ['[a] b\n', /line 1: something stands behind/], ['[mcp_servers.rememberd]\n[b]\n[mcp_servers.rememberd.env]\n', /line 3: the table is written in two places/], ['a = """x\n', /line 1: a text has no end/]];
  for (const [text, why] of broken) {
    const bad = home({ '.codex/config.toml': text });
    assert.match(await bad.refused('codex'), why, text);
    assert.equal(bad.text('.codex/config.toml'), text);
    assert.ok(!fs.existsSync(bad.at('.codex/hooks.json')));
  }
});

// --- rememberd hook ---

const event = (cwd, more) => ({ session_id: 's', cwd, hook_event_name: 'UserPromptSubmit', prompt: 'What is the build machine called?', ...more });
const git = (...args) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', ...args], { stdio: 'pipe' });

test('rememberd hook passes the event on, with the project\'s root', async (t) => {
  const server = await serve(t), h = home();
  const send = async (cwd, more, flags = [], env = {}) => {
    const res = await run(['hook', '--url', server.url, ...flags], { input: JSON.stringify(event(cwd, more)), env: { ...h.env, ...env } });
    assert.deepEqual([res.code, res.stderr], [0, '']);
    return JSON.parse(res.stdout);
  };
  const spaces = async () => (await server.ask('GET', '/v1/spaces')).json().items.map((s) => s.space).filter((s) => s.startsWith('project:'));
  const main = h.at('src/wren'), tree = h.at('src/wren-fix'), module = path.join(main, 'lib/finch');
  fs.mkdirSync(path.join(main, 'a/b'), { recursive: true });
  git('init', '-q', main);
  git('-C', main, 'commit', '-q', '--allow-empty', '-m', 'x');
  git('-C', main, 'worktree', 'add', '-q', tree);
  git('init', '-q', h.at('src/finch'));
  git('-C', h.at('src/finch'), 'commit', '-q', '--allow-empty', '-m', 'x');
  git('-C', main, 'submodule', 'add', '-q', h.at('src/finch'), 'lib/finch');
  fs.mkdirSync(path.join(module, 'deep'));
  assert.deepEqual(await send(path.join(main, 'a/b'), { prompt: 'The build machine is called Wagtail.' }), {});
  await until('the space', async () => (await spaces()).length === 1);
  for (const [session, cwd] of [['t1', main], ['t2', path.join(main, 'a')], ['t3', tree]])
    assert.match((await send(cwd, { session_id: session })).hookSpecificOutput.additionalContext, /Wagtail/, cwd);
  assert.deepEqual(await send(path.join(module, 'deep'), { session_id: 't4' }), {}, 'a submodule is a project of its own');
  await until('its space', async () => (await spaces()).length === 2);
  assert.deepEqual((await spaces()).map((s) => s.replace(/-[0-9a-f]{8}$/, '')).sort(), ['project:finch', 'project:wren']);
  // A repository of the home folder is no project of the folders in it.
  git('init', '-q', h.folder);
  await send(h.at('src'), { session_id: 't5', prompt: 'Hello there, machine.' });
  await until('the space of the folder', async () => (await spaces()).some((s) => s.startsWith('project:src-')));
  await send(h.at('src'), { session_id: 't6', prompt: 'The style guide is in docs.' }, ['--space', 'team']);
  await until('the named space', async () => (await server.ask('GET', '/v1/session/t6/history?space=team')).status === 200);
  const token = JSON.parse((await run(['token', 'create', '--data', server.data, '--json'])).stdout).token;
  const without = await run(['hook', '--url', server.url], { input: JSON.stringify(event(main)), env: h.env });
  assert.deepEqual([without.code, without.stdout], [0, '']);
  assert.match(without.stderr, /^rememberd hook: the server answered 401: .*token/);
  await send(main, { session_id: 't7' }, [], { REMEMBERD_TOKEN: token });
});

test('rememberd hook never holds an agent up: its exit status is 0 whatever happens', async (t) => {
  const silent = http.createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => { silent.closeAllConnections(); silent.close(); });
  const good = JSON.stringify(event('/x')), away = ['hook', '--url', 'http://127.0.0.1:9'];
  const cases = [[away, good, /no answer/], [away, '', /not valid JSON/], [away, '[]', /must be a JSON object/], [away, '{"hook', /not valid JSON/], [['hook', '--bogus'], good, /unknown flag --bogus/], [['hook', 'word'], good, /usage: rememberd hook/],
    [['hook', '--url', 'ftp://x'], good, /--url/], [['hook', '--listen', 'unix:/tmp/none'], good, /unix socket/], [['hook', '--config', '/does/not/exist'], good, /exist/]];
  for (const [args, input, why] of cases) {
    const res = await run(args, { input });
    assert.deepEqual([res.code, res.stdout], [0, ''], args.join(' '));
    assert.match(res.stderr, why);
    assert.equal(res.stderr.trim().split('\n').length, 1, res.stderr);
  }
  await within(5000, async () => { // that an agent gives a hook
    const late = await run(['hook', '--url', `http://127.0.0.1:${silent.address().port}`], { input: good });
    assert.deepEqual([late.code, late.stdout], [0, '']);
  });
  assert.match((await run(['hook', '--help'])).stdout, /Exit status\n {2}0, whatever happens/);
});
