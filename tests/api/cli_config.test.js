// cli_config.test.js - where settings come from on the command line, and the commands around them.
'use strict';
const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { Server, bin, run, serve, tempFolder, until } = require('./lib');

// No file is named, and this folder is the user's own.
const own = (folder) => ({ REMEMBERD_CONFIG: undefined, XDG_CONFIG_HOME: folder, HOME: folder });

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  return file;
}

const settingsOf = async (args, env) => JSON.parse((await run(['serve', '--print-settings', '--json', ...args], { env })).stdout);

test('the first place that has a file is read', async () => {
  const folder = tempFolder(), home = tempFolder();
  const toml = path.join(folder, 'rememberd/rememberd.toml'), json = path.join(folder, 'rememberd/rememberd.json');
  const tokens = async (env, ...args) => (await settingsOf(args, env)).budget_tokens;
  assert.equal(await tokens(own(folder)), 800, 'without any file');
  write(json, '{"budget_tokens": 1}');
  assert.equal(await tokens(own(folder)), 1);
  write(toml, 'budget_tokens = 2 # two\n');
  assert.equal(await tokens(own(folder)), 2);
  assert.equal((await settingsOf([], own(folder))).config, toml);
  write(path.join(home, '.config/rememberd/rememberd.toml'), 'budget_tokens = 3');
  assert.equal(await tokens({ ...own(home), XDG_CONFIG_HOME: undefined }), 3);
  const named = write(path.join(folder, 'other'), 'budget_tokens = 4'), flag = write(path.join(folder, 'flag'), '{"budget_tokens": 5}');
  assert.equal(await tokens({ ...own(folder), REMEMBERD_CONFIG: named }), 4);
  for (const args of [['--config', flag], ['-c', flag]]) assert.equal(await tokens({ ...own(folder), REMEMBERD_CONFIG: named }, ...args), 5);
  assert.equal(await tokens({ ...own(folder), REMEMBERD_CONFIG: '' }), 800, 'an empty name is no file');
  assert.equal(await tokens(own(folder), '--config', ''), 800);
});

test('a server says which file it read, and listens where the file says', async (t) => {
  const file = write(path.join(tempFolder(), 'mine.toml'), 'budget_tokens = 7\n');
  const server = await serve(t, { flags: ['--config', file] });
  await until('the file named', () => server.stdout.includes(`\nsettings: ${file}\n`)); // after the address
  const { items } = (await server.ask('GET', '/v1/settings')).json();
  const budget = items.find((one) => one.name === 'budget_tokens');
  assert.deepEqual([budget.value, budget.source], [7, 'file']);
});

// Root can open every file, so there the command is run as nobody.
function runAsUser(args, env) {
  const drop = process.getuid() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const [program, ...rest] = [...drop, bin, ...args];
  const { status, stdout, stderr } = spawnSync(program, rest, { env: { ...process.env, ...env }, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

test('a file that cannot be opened stops serve, and other commands warn', () => {
  const folder = tempFolder(), file = write(path.join(folder, 'rememberd/rememberd.toml'), ''), data = path.join(folder, 'data');
  fs.mkdirSync(data);
  for (const one of [folder, data]) fs.chmodSync(one, 0o777);
  fs.chmodSync(file, 0);
  const refused = runAsUser(['serve', '--data', data], own(folder));
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(refused.stderr, /cannot be opened: Permission denied/);
  const warned = runAsUser(['add', 'I like tea', '--data', data], own(folder));
  assert.equal(warned.code, 0, warned.stderr);
  assert.match(warned.stderr, /settings\.note.*cannot be opened/);
});

test('an error of the file names the file, the line, the key and the rule', async () => {
  const file = write(path.join(tempFolder(), 'mine.toml'), '# head\nbudget_tokens = 5\nrecall_limit = 1000\n');
  for (const args of [['config', 'check'], ['serve'], ['list']]) {
    const res = await run([...args, '-c', file]);
    assert.equal(res.code, 2);
    assert.equal(res.stderr, `rememberd: recall_limit: must be from 1 to 100 (line 3 of the file ${file})\n`);
  }
});

test('a path that begins with ~ is refused, as only a shell knows what it is', async () => {
  const folder = tempFolder(), whole = /: ~ is not replaced: write the whole path/;
  for (const key of ['data', 'key_file', 'backup_dir', 'audit_to']) {
    const res = await run(['config', 'check', '-c', write(path.join(folder, `${key}.toml`), `${key} = "~/x"\n`)]);
    assert.equal(res.code, 2, res.stdout);
    assert.match(res.stderr, whole);
  }
  const added = await run(['add', 'I like tea', '--data=~/x']); // bash leaves this ~ as it is
  assert.equal(added.code, 2, added.stdout);
  assert.match(added.stderr, whole);
  assert.match((await run(['config', 'check', '-c', write(path.join(folder, 'c.toml'), 'key_command = "~/bin/key"\n')])).stdout, /^ok/);
  const others = await run(['add', 'I like tea', '--data', folder], { env: { DATA_DIR: '~/.omniroute', REMEMBERD_QDRANT_API_KEY: '~/s3cret' } });
  assert.equal(others.code, 0, others.stderr); // what another server's variable says does not count; a secret is no path
});

test('--host, --port and --data-dir are other names of --listen and --data', async (t) => {
  const listen = async (...args) => (await settingsOf(args)).listen;
  assert.equal(await listen('--port', '8080'), '127.0.0.1:8080');
  assert.equal(await listen('-p', '8080', '--host', '0.0.0.0'), '0.0.0.0:8080');
  assert.equal(await listen('--listen', '8080'), '127.0.0.1:8080');
  assert.equal(await listen('--listen=0.0.0.0'), '0.0.0.0:7077');
  assert.equal((await settingsOf(['--data-dir', '/x'])).data, '/x');
  const file = write(path.join(tempFolder(), 'mine.toml'), 'port = 9000\nhost = "::1"\n');
  assert.equal(await listen('-c', file), '[::1]:9000');
  assert.equal(await listen('-c', file, '--host', '127.0.0.1'), '127.0.0.1:9000');
  for (const args of [['--prot', '1'], ['-p'], ['--port', 'x'], ['--host', '1.2.3.4:5']]) assert.equal((await run(['serve', ...args])).code, 2, args.join(' '));
  assert.match((await run(['serve', '--hots', 'x'])).stderr, /did you mean --hosts?\?/);
  const server = await serve(t, { flags: ['-p', '0', '--host', 'localhost'] });
  assert.equal((await server.ask('GET', '/health')).status, 200);
});

test('config check finds what a server refuses at its start', async () => {
  const folder = tempFolder();
  for (const [line, words] of [['origins = "*"', /origins: '\*' fits pages of any site/], ['encryption_key = "x"', /encryption_key: must be 32 bytes/],
    ['key_file = "/nowhere/key"', /the key file '\/nowhere\/key' cannot be opened: No such file/],
    ['key_file = "/nowhere/key"\nkey_command = "echo"', /more than one key is configured/],
    ['store = "postgresql://127.0.0.1:1/x"\nkey_command = "echo"', /encrypt a file, and the setting store names/],
    ['audit_to = "syslog:localhost"', /'localhost' is not the IP address and port/], ['hosts = [1, 2]', /hosts: must be a text in quotes \(line 1/],
    ['upstream_key = 5', /upstream_key: must be a text in quotes \(line 1/]]) {
    const file = write(path.join(folder, 'mine.toml'), `${line}\n`);
    for (const args of [['config', 'check'], ['serve', '--listen', '127.0.0.1:0', '--data', path.join(folder, 'data')]]) {
      const res = await run([...args, '-c', file]);
      assert.notEqual(res.code, 0, `${args[0]}: ${line}`);
      assert.match(res.stderr, words);
    }
  }
});

test('config check says which file is right, or that there is none', async () => {
  const folder = tempFolder(), env = own(folder);
  assert.equal((await run(['config', 'check'], { env })).stdout, `ok: no file in ${folder}/rememberd or /etc/rememberd\n`);
  assert.equal((await run(['config', 'check'], { env: { XDG_CONFIG_HOME: '', HOME: '' } })).stdout, 'ok: no file in /etc/rememberd\n');
  const file = write(path.join(folder, 'rememberd/rememberd.toml'), 'port = 1\n');
  const good = await run(['config', 'check'], { env });
  assert.deepEqual([good.code, good.stdout], [0, `ok: ${file}\n`]);
  const variable = await run(['config', 'check'], { env: { ...env, REMEMBERD_PROT: '1' } });
  assert.equal(variable.code, 1);
  assert.match(variable.stderr, /REMEMBERD_PROT is not a known setting; did you mean REMEMBERD_PORT\?/);
  for (const args of [[], ['dance'], ['set'], ['set', 'port'], ['check', 'x']]) assert.equal((await run(['config', ...args], { env })).code, 2);
});

test('config show names the source of each setting, masks keys, and is a file that can be read', async () => {
  const folder = tempFolder();
  const file = write(path.join(folder, 'a.toml'), 'budget_tokens = 5\nupstream_key = "sk-secret"\n[[upstreams]]\nname = "b"\nurl = "http://b"\nkey = "sk-other"\n');
  const env = { REMEMBERD_RECALL_LIMIT: '9', QDRANT_HOST: 'q' };
  const { stdout } = await run(['config', 'show', '-c', file, '--memory', 'off'], { env });
  assert.match(stdout, /^budget_tokens = 5 +# file$/m);
  assert.match(stdout, /^recall_limit = 9 +# environment$/m);
  assert.match(stdout, /^qdrant_host = "q" +# environment$/m);
  assert.match(stdout, /^memory = "off" +# option$/m);
  assert.match(stdout, /^upstream_key = "\*\*\*" +# file$/m);
  assert.match(stdout, /^# defaults[^]*^gate_threshold = 0\.05$/m);
  assert.match(stdout, /\[\[upstreams\]\]\nname = "b"\nurl = "http:\/\/b"\nkey = "\*\*\*"\n$/);
  assert.doesNotMatch(stdout, /sk-/);
  const shown = JSON.parse((await run(['config', 'show', '--json', '-c', file], { env })).stdout);
  assert.equal(shown.file, file);
  assert.deepEqual(shown.settings.find((one) => one.name === 'budget_tokens'), { name: 'budget_tokens', value: 5, source: 'file' });
  assert.deepEqual(shown.upstreams.map(({ name, key }) => [name, key]), [['b', '***']]);
  const again = write(path.join(folder, 'b.toml'), stdout);
  assert.deepEqual(await settingsOf(['-c', again, '--config', again]), { ...await settingsOf(['-c', file, '--memory', 'off'], env), config: again });
});

test('config set changes one value, and keeps comments, mode and all other lines', async () => {
  const folder = tempFolder(), env = own(folder), file = path.join(folder, 'rememberd/rememberd.toml');
  const set = (...args) => run(['config', 'set', ...args], { env });
  assert.equal((await set('port', '8080')).stdout, `port is set in ${file}\n`);
  assert.equal(fs.readFileSync(file, 'utf8'), 'port = 8080\n');
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  write(file, '# mine\nport = 8080 # public\n\n# where models are\n[[upstreams]]\nname = "a"\nurl = "http://a"\n');
  fs.chmodSync(file, 0o640);
  for (const [key, value] of [['port', '8081'], ['memory', 'false'], ['upstream_key', 'a "b" \\c'], ['gate_threshold', '0.1']])
    assert.equal((await set(key, value)).code, 0, key);
  const text = '# mine\nport = 8081 # public\nmemory = "false"\nupstream_key = "a \\"b\\" \\\\c"\ngate_threshold = 0.1\n\n# where models are\n[[upstreams]]\nname = "a"\nurl = "http://a"\n';
  assert.equal(fs.readFileSync(file, 'utf8'), text);
  assert.equal(fs.statSync(file).mode & 0o777, 0o640);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['rememberd.toml'], 'nothing is left beside it');
  const said = await settingsOf([], env);
  assert.deepEqual([said.listen, said.memory, said.gate_threshold], ['127.0.0.1:8081', 'off', 0.1]);
  for (const [key, value, why] of [['prot', '1', /prot: is not a known setting; did you mean port\?/], ['port', '70000', /port: must be from 0 to 65535/],
    ['budget_tokens', 'many', /budget_tokens: must be a whole number/], ['upstreams', 'x', /upstreams: cannot be set so/], ['upstream', 'ftp://x', /upstream/]]) {
    const res = await set(key, value);
    assert.equal(res.code, 2, key);
    assert.match(res.stderr, why);
  }
  assert.equal(fs.readFileSync(file, 'utf8'), text, 'what is refused changes nothing');
});

test('config set refuses what would keep every command from reading the file', async () => {
  const folder = tempFolder(), env = { ...own(folder), AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
  const file = write(path.join(folder, 'rememberd/rememberd.toml'), '[[upstreams]]\nname = "a"\nurl = "http://a"\n');
  const set = (key, value, more = {}) => run(['config', 'set', key, value], { env: { ...env, ...more } });
  for (const [key, value, why] of [['backup_s3', 's3://bucket', /backup_s3: needs backup_s3_key_id and backup_s3_secret/], ['backup_dir', 's3://bucket', /backup_dir: must be a folder/],
    ['model_url', 'http://169.254.169.254/', /model_url/]]) {
    const res = await set(key, value);
    assert.equal(res.code, 1, key);
    assert.match(res.stderr, why);
    assert.ok(!fs.readFileSync(file, 'utf8').includes(key));
  }
  for (const [key, value] of [['backup_s3_key_id', 'id'], ['backup_s3_secret', 'secret'], ['backup_s3', 's3://bucket'], ['upstream', 'http://b']]) {
    const res = await set(key, value);
    assert.equal(res.code, 0, res.stderr);
  }
  assert.equal((await run(['config', 'check'], { env })).code, 0);
  write(file, '');
  assert.equal((await set('backup_s3', 's3://bucket', { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' })).code, 0, 'with the key in variables');
});

test('config set upstream is refused where the file has [[upstreams]]', async () => {
  const text = '[[upstreams]]\nurl = "http://127.0.0.1:1/v1"\nkey = "k"\n', file = write(path.join(tempFolder(), 'mine.toml'), text);
  const res = await run(['config', 'set', 'upstream', 'http://127.0.0.1:2/v1', '-c', file]);
  assert.equal(res.code, 1);
  assert.match(res.stderr, /upstreams: has two of the name ''; upstream counts, too \(line 2 of the file .*mine\.toml\)/);
  assert.equal(fs.readFileSync(file, 'utf8'), text);
});

test('a setting below [[upstreams]] is named as one, and config set puts it above', async () => {
  const text = '[[upstreams]]\nurl = "http://127.0.0.1:1/v1"\n', file = write(path.join(tempFolder(), 'mine.toml'), `${text}key_file = "/k"\n`);
  const res = await run(['config', 'check', '-c', file]);
  assert.equal(res.code, 2);
  assert.match(res.stderr, /key_file: is a setting and no member of an upstream: it goes above them \(line 3 of the file/);
  write(file, text);
  assert.equal((await run(['config', 'set', 'key_file', '/k', '-c', file])).code, 0);
  const after = fs.readFileSync(file, 'utf8');
  assert.ok(after.indexOf('key_file') >= 0 && after.indexOf('key_file') < after.indexOf('[[upstreams]]'), after);
});

test('config set follows a link, and edits no JSON', async () => {
  const folder = tempFolder(), real = write(path.join(folder, 'real.toml'), 'port = 1\n'), link = path.join(folder, 'link.toml');
  fs.symlinkSync(real, link);
  assert.equal((await run(['config', 'set', 'port', '2', '-c', link])).code, 0);
  assert.equal(fs.readFileSync(real, 'utf8'), 'port = 2\n');
  assert.ok(fs.lstatSync(link).isSymbolicLink());
  const json = write(path.join(folder, 'a.json'), '{"port": 1}');
  const res = await run(['config', 'set', 'port', '2', '-c', json]);
  assert.equal(res.code, 1);
  assert.match(res.stderr, /is JSON/);
  assert.match((await run(['config', 'set', 'port', '2'])).stderr, /names no file/);
});

test('version is a command, too', async () => {
  assert.equal((await run(['version'])).stdout, (await run(['--version'])).stdout);
  assert.match(JSON.parse((await run(['version', '--json'])).stdout).version, /^\d+\.\d+\.\d+$/);
});

// --- SIGHUP ---

// Without a terminal, as a service manager starts it.
async function serveDetached(t, file, { data = tempFolder(), env = {} } = {}) {
  const args = ['serve', '-p', '0', '-c', file, ...(data ? ['--data', data] : [])];
  const child = spawn(bin, args, { env: { ...process.env, REMEMBERD_CONFIG: '', ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const server = new Server(child, data);
  t.after(() => server.stop());
  return server.ready();
}

test('SIGHUP reads the settings again, and the log names what needs a restart', async (t) => {
  const file = write(path.join(tempFolder(), 'a.toml'), 'budget_tokens = 5\nlog_level = "info"\nrecall_limit = 3\n');
  const server = await serveDetached(t, file);
  const value = async (name) => {
    const one = (await server.ask('GET', '/v1/settings')).json().items.find((item) => item.name === name);
    return [one.value, one.configured, one.source];
  };
  const hangUp = async (text, line) => {
    const from = server.stderr.length;
    if (text !== null) fs.writeFileSync(file, text);
    server.child.kill('SIGHUP');
    return until(String(line), () => line.exec(server.stderr.slice(from)));
  };
  await hangUp(null, /settings\.reloaded file="[^"]*a\.toml" changed=\n/);
  assert.deepEqual(await value('budget_tokens'), [5, 5, 'file']);
  await hangUp('budget_tokens = 6\nrecall_limit = 4\nupstream = "http://127.0.0.1:1"\n',
    /settings\.reloaded .*changed=budget_tokens\n[^]*warn settings\.need_restart what=recall_limit,upstreams\n/);
  assert.deepEqual(await value('budget_tokens'), [6, 6, 'file']);
  assert.deepEqual((await value('recall_limit')).slice(0, 2), [3, 3], 'what needs a restart stays');
  await hangUp('budget_tokens = "many"', /error settings\.not_reloaded why="budget_tokens: must be a whole number \(line 1 of the file/);
  assert.deepEqual(await value('budget_tokens'), [6, 6, 'file']);
  assert.equal((await server.ask('PATCH', '/v1/settings', { budget_tokens: 7 })).status, 200);
  await hangUp('budget_tokens = 8\nmemory = false\n', /settings\.reloaded .*changed=memory,budget_tokens\n/);
  assert.deepEqual(await value('budget_tokens'), [7, 8, 'changed'], 'what the API has set wins');
  assert.deepEqual((await value('memory')).slice(0, 2), [false, false]);
  assert.equal((await server.stop()).code, 0);
});

test('what SIGHUP has read is kept once, and outlives further readings and changes by the API', async (t) => {
  const file = write(path.join(tempFolder(), 'a.toml'), 'qdrant_host = "first.example"\n');
  const server = await serveDetached(t, file);
  const reloads = () => server.stderr.match(/settings\.(not_)?reloaded/g)?.length ?? 0;
  const hangUp = async (times) => {
    for (const end = reloads() + times; reloads() < end; ) {
      const before = reloads();
      server.child.kill('SIGHUP');
      await until('it was read', () => reloads() > before);
    }
  };
  const host = async () => {
    const one = (await server.ask('GET', '/v1/settings')).json().items.find((item) => item.name === 'qdrant_host');
    return [one.value, one.configured, one.source];
  };
  const heapKib = () => Number(/RssAnon:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1]);
  fs.writeFileSync(file, 'qdrant_host = "second.example"\n');
  await hangUp(20);
  const before = heapKib();
  await hangUp(400); // each kept 23 KiB: 9,200
  const grown = heapKib() - before;
  assert.ok(grown < 2000, `${grown} KiB`);
  assert.deepEqual(await host(), ['second.example', 'second.example', 'file']);
  assert.equal((await server.ask('PATCH', '/v1/settings', { qdrant_host: 'third.example' })).status, 200);
  fs.writeFileSync(file, 'qdrant_host = 4\n');
  await hangUp(100);
  assert.deepEqual(await host(), ['third.example', 'second.example', 'changed']);
  assert.equal((await server.ask('PATCH', '/v1/settings', { qdrant_host: null })).status, 200);
  assert.deepEqual(await host(), ['second.example', 'second.example', 'file']);
  assert.equal((await server.stop()).code, 0);
});

test('a data folder that nothing names needs no restart', async (t) => {
  const file = write(path.join(tempFolder(), 'b.toml'), 'recall_limit = 3\n');
  const server = await serveDetached(t, file, { data: '', env: { XDG_DATA_HOME: tempFolder(), REMEMBERD_DATA: '' } });
  fs.writeFileSync(file, 'recall_limit = 4\n');
  server.child.kill('SIGHUP');
  assert.match(await until('the log', () => /need_restart what=.*\n/.exec(server.stderr)?.[0]), /what=recall_limit\n/);
});

test('a server that a terminal started ends when the terminal is closed', async () => {
  // A terminal of its own: SIGHUP comes when its other side is closed.
  const script = `import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b''
while b'listening on' not in seen:
    seen += os.read(fd, 4096)
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', script, bin, 'serve', '-p', '0', '--data', tempFolder()],
    { env: { ...process.env, REMEMBERD_CONFIG: '' }, encoding: 'utf8', timeout: 30000 });
  assert.equal(stdout, '0\n', stderr);
});
