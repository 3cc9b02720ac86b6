// shell.test.js - the commands that people type at a terminal: chat, status, search, completion and man.
'use strict';
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const test = require('node:test');
const { answer, bin, cleanEnv, run, serve, tempFolder, until, upstream, withTokens } = require('./lib');

// The command at a terminal of its own, with these lines typed; what the terminal showed.
function atTerminal(args, lines = [], env = {}) {
  const script = `import os, pty, sys
lines = sys.argv[1].split('\\n') if sys.argv[1] else []
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen = b''
while True:
    if lines and seen.rstrip(b' \\x1b[0m').endswith(b'>'):
        os.write(fd, lines.pop(0).encode() + b'\\n')
        seen += b'|'
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    seen += got
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script, lines.join('\n'), bin, ...args],
    { env: { ...cleanEnv(args[args.indexOf('--data') + 1]), TERM: 'xterm', PAGER: '', ...env }, encoding: 'utf8', timeout: 30000 });
  return { code: status, stdout, stderr };
}

test('a chat streams answers, remembers, and shows why', async (t) => {
  const server = await serve(t), at = ['--url', server.url];
  const res = await run(['chat', ...at], { input: 'My dog is called Rex.\n\n/new\nWhat is my dog called?\n/why\n/help\n/quit\nnever asked\n' });
  assert.equal(res.code, 0, res.stderr);
  const [first, second, ...why] = res.stdout.split('\n');
  assert.match(first, /^Noted/);
  assert.match(second, /Rex/, 'another conversation knows it');
  assert.match(why[0], /^memory was added: \d+ tokens in [\d.]+ ms, receipt [0-9a-f-]{36}$/);
  assert.match(why.join('\n'), /<remembered>[^]*Rex[^]*<\/remembered>[^]*\+ \d\.\d\d {2}says dog/);
  assert.match(why.join('\n'), /\/model NAME/);
  assert.doesNotMatch(res.stdout, /\u001b/, 'no colours in a pipe');
  assert.match((await run(['chat', 'What', 'is', 'my', 'dog', 'called?', ...at])).stdout, /Rex/);
});

test('/why lists no line that has no reason', async (t) => {
  const server = await serve(t), at = ['--url', server.url];
  for (const told of ['My hat is blue.', 'I own boat number 1.', 'I own boat number 2.']) await run(['chat', told, ...at]);
  await until('all have vectors', async () => / 0 waiting/.test((await run(['status', ...at])).stdout));
  const { stdout } = await run(['chat', ...at], { input: 'What colour is my hat?\n/why\n' });
  assert.match(stdout, /^ {2}\+ \d\.\d\d {2}says hat/m);
  assert.doesNotMatch(stdout, /^ {2}- \d\.\d\d *$/m);
});

test('a chat sends the whole conversation to the chosen model, and prints no control characters', async (t) => {
  const up = await upstream(t, (req, res, asked) => answer(res, asked, ['one ', '\u001b[31mtwo', '\u009b31m\nthree']));
  const server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] });
  const res = await run(['chat', '--model', 'm-1', '--url', server.url], { input: 'first\n/model m-2\nsecond\n', env: { OPENAI_API_KEY: 'sk-mine' } });
  assert.equal(res.code, 0, res.stderr);
  assert.equal(res.stdout, 'one  [31mtwo 31m\nthree\n'.repeat(2));
  const [a, b] = up.asked.map((one) => one.json);
  assert.deepEqual([a.model, b.model, a.stream], ['m-1', 'm-2', true]);
  assert.deepEqual(b.messages.map(({ role }) => role), ['user', 'assistant', 'user']);
  assert.equal(b.messages[1].content, 'one \u001b[31mtwo\u009b31m\nthree');
  assert.equal(up.asked[0].headers.authorization, 'Bearer sk-mine');
});

test('what goes wrong in a chat is said; a script ends, a person goes on', async (t) => {
  const up = await upstream(t, (req, res) => { res.writeHead(400, { 'content-type': 'application/json' }); res.end('{"error":{"message":"no such model"}}'); });
  const server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] }), at = ['chat', '--model', 'x', '--url', server.url];
  const failed = await run(at, { input: 'hello\nhello\n' });
  assert.equal(failed.code, 1);
  assert.equal(failed.stderr, 'rememberd chat: the server answered 400: no such model\n');
  assert.equal(up.asked.length, 1);
  const early = await run(at, { input: '/why\n' });
  assert.match(early.stderr, /there is no answer yet/);
  const typed = atTerminal(at, ['/why', '/quit']);
  assert.equal(typed.code, 0, typed.stdout);
  assert.match(typed.stdout, /there is no answer yet/);
  const nobody = await run(['chat', '--url', 'http://127.0.0.1:1', 'hello']);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /no server answers at http:\/\/127\.0\.0\.1:1; start it with rememberd serve/);
});

test('/why says what keeps it from the receipt', async (t) => {
  const fake = http.createServer((req, res) => {
    if (req.method === 'POST') { answer(res, { json: { stream: true } }, 'fine'); return; }
    res.writeHead(500, { 'content-type': 'application/json' });
    res.end('{"error":{"message":"the disk failed"}}');
  }).listen(0, '127.0.0.1');
  t.after(() => fake.close());
  await once(fake, 'listening');
  const at = `http://127.0.0.1:${fake.address().port}`;
  const { code, stderr } = await run(['chat', '--model', 'x', '--url', at], { input: 'hello\n/why\n' });
  assert.deepEqual([code, stderr], [1, 'rememberd chat: the server answered 500: the disk failed\n']);
});

test('an answer that fails after some words is no answer', async (t) => {
  let end;
  const up = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: {"choices":[{"index":0,"delta":{"content":"The first"}}]}\n\n');
    end(res);
  });
  const server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] }), at = ['chat', '--model', 'x', '--url', server.url];
  end = (res) => res.end('data: {"error":{"message":"the model ran out of memory"}}\n\n');
  const failed = await run(at, { input: 'hello\nhello\n' });
  assert.deepEqual([failed.code, failed.stdout, failed.stderr], [1, 'The first\n', 'rememberd chat: the answer broke off: the model ran out of memory\n']);
  end = (res) => setTimeout(() => res.destroy(), 100);
  const cut = await run(at, { input: 'hello\n' });
  assert.deepEqual([cut.code, cut.stdout], [1, 'The first\n']);
  assert.match(cut.stderr, /^rememberd chat: the answer broke off: /);
});

test('colours are for terminals, and NO_COLOR switches them off', async (t) => {
  const server = await serve(t), at = ['--data', server.data];
  await run(['add', 'I like tea', ...at]);
  const args = ['search', 'tea', ...at];
  assert.match(atTerminal(args).stdout, /\u001b\[32m\d\.\d\d\u001b\[0m/);
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) assert.doesNotMatch(atTerminal(args, [], env).stdout, /\u001b/);
  assert.match(atTerminal(args, [], { NO_COLOR: '' }).stdout, /\u001b/, 'an empty NO_COLOR says nothing');
  assert.doesNotMatch((await run(args)).stdout, /\u001b/);
});

test('long output at a terminal goes through the pager; JSON, pipes and an empty PAGER do without', async () => {
  const at = ['--data', tempFolder()], paged = { PAGER: "sed 's/^/page: /'" };
  for (const text of ['I like tea', 'I like coffee']) await run(['add', text, ...at]);
  for (const args of [['list', ...at], ['search', 'like', ...at], ['--help'], ['help', 'serve'], ['serve', '--help-all']]) {
    const { code, stdout } = atTerminal(args, [], paged);
    assert.deepEqual([code, stdout.trim().split('\r\n').filter((line) => !line.startsWith('page: '))], [0, []], args.join(' '));
  }
  assert.match(atTerminal(['search', 'like', ...at], [], paged).stdout, /\u001b\[32m/, 'colours are kept');
  assert.equal(atTerminal(['list', ...at], [], { PAGER: 'true' }).code, 0, 'a pager that was left early');
  for (const [args, env] of [[['list', '--json', ...at], paged], [['list', ...at], { PAGER: '' }]]) {
    const { code, stdout } = atTerminal(args, [], env);
    assert.equal(code, 0);
    assert.ok(stdout.includes('coffee') && !stdout.includes('page:'), stdout);
  }
  assert.doesNotMatch((await run(['list', ...at], { env: paged })).stdout, /page:/);
  const without = tempFolder();
  fs.symlinkSync('/usr/bin/python3', path.join(without, 'python3'));
  assert.match(atTerminal(['list', ...at], [], { PAGER: undefined, PATH: without }).stdout, /coffee/, 'without less');
});

test('logs shows the journal of the service, and says where else the log may be', async () => {
  const folder = tempFolder(), fake = path.join(folder, 'journalctl');
  fs.writeFileSync(fake, '#!/bin/sh\necho "$*"\n', { mode: 0o755 });
  const asked = async (...args) => (await run(['logs', ...args], { env: { PATH: `${folder}:/usr/bin:/bin` } })).stdout;
  assert.equal(await asked(), '--unit=rememberd --output=cat --lines 10\n');
  assert.equal(await asked('-f', '-n', '50'), '--unit=rememberd --output=cat --lines 50 --follow\n');
  const { code, stderr } = await run(['logs'], { env: { PATH: tempFolder() } });
  assert.equal(code, 1);
  assert.match(stderr, /^rememberd logs: journalctl cannot be started \(.*\)\. Without systemd, the log is where standard error of 'rememberd serve' goes; .*docker logs/);
});

test('search prints the results in the order of the scores that it prints', async (t) => {
  const server = await serve(t);
  for (const text of ['My dog is called Rex.', 'I live in Lisbon.', 'I walk my dog in the park of Lisbon.', 'What is my dog called?', 'The dog sleeps.'])
    await server.tell(text);
  for (const question of ['What is my dog called?', 'Where do I live?', 'dog Lisbon']) {
    const { stdout } = await run(['search', question, '--data', server.data]);
    const scores = (stdout.match(/^\d\.\d\d/gm) ?? []).map(Number);
    assert.ok(scores.length > 1 && scores.every((score) => score > 0), stdout);
    assert.deepEqual(scores, [...scores].sort((a, b) => b - a), stdout);
  }
});

test('status tells version, uptime, counts and state', async (t) => {
  const server = await serve(t), at = ['status', '--url', server.url];
  await run(['add', 'I like tea', '--data', server.data]);
  const { code, stdout } = await run(at);
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`^rememberd \\d+\\.\\d+\\.\\d+ at ${server.url}: ok\nuptime +\\d+ s\ndatabase +ok\nmemories +1 active, 0 archived\nmessages +0 messages in 0 conversations\n`));
  const said = JSON.parse((await run([...at, '--json'])).stdout);
  assert.deepEqual([said.url, said.health.status, said.stats.memories.open, said.engine.words.available], [server.url, 'ok', 1, true]);
  const nobody = await run(['status', '-p', '1']);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /no server answers at http:\/\/127\.0\.0\.1:1/);
});

test('status without a token tells the state, and says what the counts need', async (t) => {
  const { server, make } = await withTokens(t), { token } = await make('--admin');
  const without = await run(['status', '--url', server.url]);
  assert.equal(without.code, 0, without.stderr);
  assert.match(without.stdout, /: ok\n[^]*counts +need the access token, in the variable REMEMBERD_TOKEN\n$/);
  assert.match((await run(['status', '--url', server.url], { env: { REMEMBERD_TOKEN: token } })).stdout, /^memories/m);
});

test('completion for bash can be loaded, and completes commands, words, flags and values', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) assert.equal((await run(['completion', shell])).code, 0);
  assert.equal((await run(['completion', 'csh'])).code, 2);
  const file = path.join(tempFolder(), 'completion.bash');
  fs.writeFileSync(file, (await run(['completion', 'bash'])).stdout);
  assert.equal(spawnSync('bash', ['-n', file]).status, 0);
  const complete = (...words) => spawnSync('bash', ['-c', 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rememberd; echo "${COMPREPLY[*]}"', file, 'rememberd', ...words],
    { encoding: 'utf8' }).stdout.trim().split(' ');
  assert.deepEqual(complete('sear'), ['search']);
  assert.deepEqual(complete('config', ''), ['check', 'show', 'set']);
  assert.deepEqual(complete('serve', '--memory', ''), ['on', 'off']);
  assert.ok(complete('serve', '--').includes('--budget-tokens') && complete('serve', '--').includes('--port'));
  assert.deepEqual(complete('search', '--lim'), ['--limit']);
  assert.deepEqual(complete('search', '--importa'), [''], 'a flag of another command');
  const folder = path.join(tempFolder(), 'two words');
  fs.mkdirSync(folder);
  assert.deepEqual(complete('serve', '--data', folder.slice(0, -3)), [''], 'bash completes paths itself, as one word');
});

test('the completion of every shell knows every command', async () => {
  const names = (await run(['--help'])).stdout.match(/\nRun\n([^]*?)\n\nOptions\n/)[1].match(/^ {2}[a-z][a-z-]*/gm).map((name) => name.trim());
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await run(['completion', shell]);
    for (const name of names) assert.match(stdout, new RegExp(`['" ]${name}[':) ]`), `${shell}: ${name}`);
  }
  for (const [shell, args] of [['zsh', ['-n']], ['fish', ['-n']]]) {
    if (spawnSync(shell, ['--version']).error) continue; // not installed here
    const file = path.join(tempFolder(), 'script');
    fs.writeFileSync(file, (await run(['completion', shell])).stdout);
    assert.equal(spawnSync(shell, [...args, file]).status, 0, shell);
  }
});

test('the manual page names every command and setting, and groff finds no fault', async (t) => {
  const { stdout } = await run(['man']), plain = stdout.replaceAll('\\-', '-');
  for (const part of ['.SS "rememberd serve"', '.SS "rememberd chat"', '\\fB--budget-tokens\\fR \\fITOKENS\\fR', '.SH FILES']) assert.ok(plain.includes(part), part);
  const groff = spawnSync('groff', ['-ww', '-man', '-Tutf8'], { input: stdout, encoding: 'utf8' });
  if (groff.error) return t.skip('groff is not installed');
  assert.deepEqual([groff.status, groff.stderr], [0, '']);
  assert.match(groff.stdout.replace(/.\u0008/g, ''), /NAME\n +rememberd - memory server/);
});
