// cli.test.js - the command line: what it prints, what it keeps, and how it ends.
'use strict';
const assert = require('node:assert/strict');
const { execFile, execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { bin, run, serve, tempFolder, until, upstream } = require('./lib');

async function ok(args, options) {
  const res = await run(args, options);
  assert.equal(res.code, 0, `${args.join(' ')}: ${res.stderr}`);
  return res.stdout;
}

test('what is added is found, listed and forgotten, also while the server runs', async (t) => {
  const server = await serve(t);
  const at = ['--data', server.data];
  const added = JSON.parse(await ok(['add', 'I prefer espresso', 'after lunch', '--category', 'preference', '--json', ...at]));
  assert.equal(added.content, 'I prefer espresso after lunch');
  assert.match(await ok(['search', 'what coffee do I prefer after lunch?', ...at]), /espresso after lunch/);
  const found = JSON.parse(await ok(['search', 'espresso', '--json', '--explain', '--limit', '3', ...at]));
  assert.equal(found.results[0].id, added.id);
  assert.ok(found.results[0].why);
  assert.match(await ok(['list', ...at]), new RegExp(`${added.id}.*espresso[^]*1 of 1`));
  assert.equal(JSON.parse(await ok(['list', '--json', ...at])).total, 1);
  assert.equal(JSON.parse(await ok(['list', '--json', '--user', 'ada', ...at])).total, 0);
  assert.equal(JSON.parse(await ok(['list', '--json', '--space', 'work', ...at])).total, 0);
  assert.equal((await server.ask('GET', `/v1/memories/${added.id}`)).status, 200, 'the server sees it at once');
  await server.tell('My dog is called Rex.');
  assert.match(await ok(['search', 'dog', ...at]), /Rex/);
  assert.match(await ok(['forget', added.id, ...at]), /^erased 1 memory or message\n$/);
  assert.equal((await server.ask('GET', `/v1/memories/${added.id}`)).status, 404);
  assert.equal((await run(['forget', added.id, ...at])).code, 1);
  await ok(['forget', '--everything', '--yes', ...at]);
  assert.doesNotMatch(await ok(['search', 'dog', ...at]), /Rex/);
});

test('what cannot be printed fails, and never ends in the database', async (t) => {
  const data = tempFolder(), file = path.join(data, 'rememberd.db'), head = () => fs.readFileSync(file, 'latin1').slice(0, 15);
  await ok(['add', 'I like tea', '--data', data]);
  const begin = head();
  const at = (words, how) => spawn('sh', ['-c', `exec "$0" "$@" --data '${data}' ${how}`, bin, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const how of ['>&-', '<&- >&-', '>/dev/full'])
    for (const words of [['export'], ['list'], ['doctor'], ['--help'], ['completion', 'bash'], ['serve', '--print-settings']]) {
      const child = at(words, how);
      let stderr = '';
      child.stderr.on('data', (part) => (stderr += part));
      assert.deepEqual(await once(child, 'close'), [1, null], `${words} ${how}`);
      assert.match(stderr, /standard output could not be written|cannot write: /);
      assert.equal(head(), begin);
    }
  for (const how of ['<&- >&- 2>&-', '>/dev/full']) {
    const socket = path.join(data, 'socket'), child = at(['serve', '--listen', `unix:${socket}`], how);
    await until('the server', () => fs.existsSync(socket));
    child.kill();
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.equal(head(), begin);
    fs.rmSync(socket, { force: true });
  }
  assert.match(await ok(['list', '--data', data]), /1 of 1/);
});

test('a command that Ctrl-C ends leaves no temporary files', async () => {
  const home = tempFolder(), data = path.join(home, 'data'), list = path.join(home, 'list.txt'), TMPDIR = tempFolder();
  const lines = Array.from({ length: 8000 }, (_, i) => `- The ferry of harbour ${i} is called ${i % 977}\n`);
  fs.writeFileSync(list, lines.join(''));
  await ok(['import', list, '--format', 'list', '--no-extract', '--data', data]);
  const locomo = path.join(__dirname, '../recall/corpus.json'), none = path.join(home, 'none'), has = (file) => fs.statSync(file, { throwIfNoEntry: false })?.size > 0;
  const scratch = () => fs.readdirSync(TMPDIR).some((name) => has(path.join(TMPDIR, name, 'rememberd.db')));
  const backup = path.join(home, 'b.db'), copy = path.join(home, 'e.jsonl');
  for (const [words, begun] of [[['import', list, '--format', 'list', '--dry-run', '--data', none], scratch], [['eval', 'locomo', locomo, '--data', none], scratch],
    [['backup', backup, '--data', data], () => has(`${backup}.new`)], [['export', copy, '--data', data], () => has(`${copy}.part`)]]) {
    const child = spawn(bin, words, { env: { ...process.env, TMPDIR, HOME: home }, stdio: 'ignore' }), end = once(child, 'close');
    while (child.exitCode === null && !begun()) await new Promise(setImmediate);
    child.kill('SIGINT');
    await end;
    assert.deepEqual([fs.readdirSync(TMPDIR), fs.readdirSync(home).filter((name) => /\.(new|part)/.test(name))], [[], []], words[0]);
  }
});

test('a folder without a database is refused by every command that adds nothing, and nothing is left there', async () => {
  const commands = [['list'], ['search', 'dog'], ['export'], ['forget', '--everything', '--yes'], ['review'], ['review', 'allow', 'x'], ['user', 'list'],
    ['user', 'forget', 'anna', '--yes'], ['token', 'list'], ['token', 'revoke', 'x'], ['consolidate'], ['consolidate', '--dry-run'], ['compact'],
    ['reopen', 'x'], ['reopen', 'x', '--dry-run'], ['reindex']];
  for (const args of commands) {
    const data = path.join(tempFolder(), 'mistyped');
    const res = await run([...args, '--data', data]);
    assert.equal(res.code, 1, `${args.join(' ')}: ${res.stdout}`);
    assert.equal(res.stdout, '');
    assert.equal(res.stderr, `rememberd ${args[0]}: there is no database in '${data}'; name its folder with --data DIR, or create it with rememberd add\n`);
    assert.equal(fs.existsSync(data), false, `${args.join(' ')} made the folder`);
  }
  for (const args of [['import', '/nowhere'], ['import', 'omniroute', '/nowhere'], ['ingest', '/nowhere']]) {
    const data = path.join(tempFolder(), 'mistyped'), res = await run([...args, '--data', data]);
    assert.deepEqual([res.code, res.stdout, res.stderr, fs.existsSync(data)], [1, '', `rememberd ${args[0]}: /nowhere: No such file or directory\n`, false]);
  }
  for (const args of [['add', 'I like tea'], ['token', 'create']]) {
    const data = path.join(tempFolder(), 'new');
    await ok([...args, '--data', data]);
    assert.match(await ok(['list', '--data', data]), args[0] === 'add' ? /I like tea/ : /^0 of 0$/m);
  }
});

test('no command makes a space or a token of the name that means all spaces', async () => {
  const data = path.join(tempFolder(), 'new');
  for (const [flag, ...args] of [['--space', 'add', 'I like tea', '--space', '*'], ['--space', 'token', 'create', '--space=*'], ['--spaces', 'token', 'create', '--spaces', 'red, *']]) {
    const res = await run([...args, '--data', data]);
    assert.deepEqual([res.code, res.stdout, fs.existsSync(data)], [2, '', false]);
    assert.match(res.stderr, new RegExp(`^rememberd: ${flag}: must `));
  }
});

test('no command takes a name with control characters, which the API would refuse', async () => {
  const data = tempFolder(), at = ['--data', data];
  for (const args of [['add', 'x', '--space', 'a\u0001b'], ['add', 'x', '--user', 'a\u001b[31mb'], ['token', 'create', '--user', 'a\u0007'], ['token', 'create', '--acts-for', 'ann,b\u009b'], ['token', 'create', '--spaces', 'a,b\n']]) {
    const res = await run([...args, ...at]);
    assert.equal(res.code, 2, args.join(' '));
    assert.match(res.stderr, /^rememberd[ a-z]*: --(space|user|acts-for|spaces): must not hold a control character\n$/);
  }
  await ok(['add', 'x', '--space', 'Grüße 🏳️‍🌈', ...at]);
});

test('list --closed says of each line whether it is closed, since when and by what', async (t) => {
  const server = await serve(t), at = ['--data', server.data];
  const old = JSON.parse(await ok(['add', 'I live in Lisbon', '--key', 'home', '--json', ...at]));
  const now = JSON.parse(await ok(['add', 'I live in Porto', '--key', 'home', '--json', ...at]));
  const soon = new Date(Date.now() + 300).toISOString();
  assert.equal((await server.ask('POST', '/v1/memories', { content: 'The guest stays here', expires: soon })).status, 201);
  const text = await until('the guest is gone', async () => {
    const list = await ok(['list', '--closed', ...at]);
    return /expired/.test(list) && list;
  });
  const day = '\\d{4}-\\d\\d-\\d\\d';
  assert.match(text, new RegExp(`^${old.id}  ${day}  \\[superseded ${day} by ${now.id}\\] I live in Lisbon$`, 'm'));
  assert.match(text, new RegExp(`^${now.id}  ${day}  I live in Porto$`, 'm'));
  assert.match(text, new RegExp(`  ${day}  \\[expired ${day}\\] The guest stays here$`, 'm'));
  assert.match(text, /^3 of 3$/m);
  assert.doesNotMatch(await ok(['list', ...at]), /Lisbon|guest|\[/);
});

test('a search shows the part of a long text that was found, and a small score as one', async () => {
  const at = ['--data', tempFolder()];
  const filler = 'The minutes go on about the budget and the rooms of the house. '.repeat(30);
  await ok(['add', `${filler} The spare key is under the blue pot. ${filler}`, ...at]);
  await ok(['add', 'The fence was painted in May.', ...at]);
  const shown = await ok(['search', 'Where is the spare key of the fence?', ...at]);
  assert.match(shown, /^[<0]\.?\d+ .*memory: ….*spare key is under the blue pot.*…$/m);
  const { results } = JSON.parse(await ok(['search', 'Where is the spare key of the fence?', '--json', ...at]));
  assert.equal(shown.match(/^<\.01 /gm)?.length ?? 0, results.filter((one) => one.score < 0.005).length);
  assert.equal(shown.match(/^(<\.01|0\.\d\d) /gm).length, results.length, 'nothing is left out');
});

test('control characters of a text do not reach the terminal', async () => {
  const at = ['--data', tempFolder()];
  await ok(['add', 'tea \u001b[31mred\u0007 leaf', ...at]);
  for (const args of [['list'], ['search', 'tea']]) assert.match(await ok([...args, ...at]), /tea  \[31mred  leaf/);
  await ok(['token', 'create', '--name', 'one\u001b[31m\ntwo', ...at]);
  assert.match(await ok(['token', 'list', ...at]), /^[^\n\u001b]*one \[31m two\n1 token\n$/);
  const file = path.join(tempFolder(), 'copy.jsonl'); // a member that somebody else has named
  fs.writeFileSync(file, '{"kind":"memory","id":"","\\u001b]0;tea\\u0007":1}\n');
  assert.match((await run(['import', file, '--format', 'rememberd', ...at])).stderr, /^rememberd import:  \]0;tea : is not a known field/);
});

test('conversations are read from a file, twice without harm', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'turns.jsonl');
  const turns = [
    { session: 'a', role: 'user', content: 'My dog is called Rex.', created: '2026-01-02T10:00:00Z' },
    { session: 'a', role: 'assistant', content: 'What a nice name.' },
    { session: 'b', role: 'user', content: 'I live in Lisbon.' }];
  fs.writeFileSync(file, turns.map((turn) => JSON.stringify(turn)).join('\n'));
  const report = JSON.parse(await ok(['ingest', file, '--json', ...at]));
  assert.equal(report.sessions, 2);
  assert.equal(report.messages, 3);
  const found = async () => JSON.parse(await ok(['search', 'dog Lisbon', '--json', ...at])).results.map((one) => one.id).sort();
  const once = await found();
  assert.ok(once.length >= 2);
  assert.match(await ok(['ingest', file, ...at]), /^read 2 conversations, 3 messages.*\n.*stored before is not stored again/);
  assert.deepEqual(await found(), once);
  assert.match(await ok(['search', 'dog', ...at]), /2026-01-02.*Rex/);
  fs.writeFileSync(file, '{"session":"c","role":"user","content":"x"}\n{"session":\n');
  const broken = await run(['ingest', file, ...at]);
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /line 2/);
  assert.equal((await run(['ingest', `${file}.missing`, ...at])).code, 1);
});

test('the importance of an added memory is by rule unless it is given', async () => {
  const at = ['--json', '--data', tempFolder()], importance = async (...args) => JSON.parse(await ok(['add', ...args, ...at])).importance;
  assert.equal(await importance('I am allergic to peanuts'), 0.9);
  assert.equal(await importance('I am allergic to cats', '--importance', '0.2'), 0.2);
});

test('REMEMBERD_CONFIG lets all commands use one file', async () => {
  const folder = tempFolder(), file = path.join(folder, 'settings.json'), env = { REMEMBERD_CONFIG: file };
  fs.writeFileSync(file, JSON.stringify({ data: path.join(folder, 'here') }));
  await ok(['add', 'I take the 8:15 train'], { env });
  assert.match(await ok(['list'], { env }), /8:15/);
  assert.ok(fs.existsSync(path.join(folder, 'here', 'rememberd.db')));
});

test('models are listed, and a wrong one is refused in words', async () => {
  const at = ['--data', tempFolder()], empty = tempFolder();
  assert.match(await ok(['model', 'list', ...at]), /potion-base-8M +static +not installed[^]*all-MiniLM-L6-v2/);
  const list = JSON.parse(await ok(['model', 'list', '--json', ...at]));
  assert.deepEqual(list.map((one) => [one.source, one.installed]), [['static', false], ['transformers', false]]);
  const missing = await run(['model', 'check', 'potion-base-8M', ...at]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /not installed/);
  assert.equal((await run(['model', 'remove', 'potion-base-8M', ...at])).code, 1);
  assert.equal((await run(['model', 'pull', 'potion-base-8M', '--from', empty, ...at])).code, 1);
  fs.writeFileSync(path.join(empty, 'config.json'), '{}');
  const wrong = await run(['model', 'pull', 'minishlab/potion-base-8M', '--from', empty, ...at]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /not the expected file/);
  for (const args of [['pull', 'no-such-model'], ['pull'], ['list', 'x'], ['dance']])
    assert.equal((await run(['model', ...args, ...at])).code, 2);
});

test('an export has its name once it is whole, and an earlier part is kept', async () => {
  const at = ['--data', tempFolder()], folder = tempFolder(), file = path.join(folder, 'copy.jsonl'), names = [];
  await ok(['add', 'I like tea', ...at]);
  const watcher = fs.watch(folder, (event, name) => names.push(name));
  await ok(['export', file, ...at]);
  await until('the file is seen', () => names.includes('copy.jsonl'));
  watcher.close();
  assert.equal(names[0], 'copy.jsonl.part');
  assert.deepEqual(fs.readdirSync(folder), ['copy.jsonl']);
  fs.renameSync(file, `${file}.part`); // as a command that was killed leaves it
  for (const name of ['copy.jsonl.part', 'copy.jsonl']) {
    const { code, stderr } = await run(['export', file, ...at]);
    assert.deepEqual([code, stderr], [1, `rememberd export: ${path.join(folder, name)}: File exists\n`]);
    if (name.endsWith('part')) fs.renameSync(`${file}.part`, file);
  }
});

// As the catalogue has it, so that the next file is asked for.
const modelConfig = '{"model_type": "model2vec", "architectures": ["StaticModel"],"tokenizer_name": "baai/bge-base-en-v1.5", "apply_pca": 256, "apply_zipf": true, "hidden_dim": 256, "seq_length": 1000000, "normalize": true}';

test('two commands do not change the models at once, and a full disk is named', async (t) => {
  const data = tempFolder(), at = ['--data', data], held = [];
  const hub = await upstream(t, (req, res) => (req.url.endsWith('/config.json') ? res.end(modelConfig) : held.push(res)));
  const pull = ['model', 'pull', 'potion-base-8M', '--model-url', hub.url, ...at];
  const first = run(pull);
  await until('the second file is asked for', () => held.length);
  for (const args of [pull, ['model', 'remove', 'potion-base-8M', ...at]]) {
    const { code, stderr } = await run(args);
    assert.equal(code, 1);
    assert.match(stderr, /another command is changing the models in .*models/);
  }
  held[0].end('x'.repeat(1000));
  assert.match((await first).stderr, /tokenizer\.json is not the expected file/);
  const full = spawn('sh', ['-c', 'ulimit -f 100; exec "$0" "$@"', bin, ...pull], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  full.stderr.on('data', (bytes) => (said += bytes));
  await until('another call', () => held.length === 2);
  held[1].end('x'.repeat(600000));
  await once(full, 'close');
  assert.match(said, /\.potion-base-8M\.new\/tokenizer\.json: File too large\n$/);
  assert.deepEqual(fs.readdirSync(path.join(data, 'models')), []);
});

test('a consolidation shows what it would do, does it, and then rests', async (t) => {
  const data = tempFolder(), at = ['--data', data], talk = 'Anna and Ben planned the boat trip from Oslo to Bergen in June';
  for (const [text, space] of [[talk, 'default'], [`${talk} together`, 'default'], ['Anna sails', 'default'], ['Anna hums', 'work'], ['Anna rows', 'default']])
    await ok(['add', text, '--space', space, ...at]);
  // What a model distils, long ago: Node has no SQLite of its own here, Python has one.
  execFileSync('python3', ['-c', `import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("UPDATE memory SET layer = 1, metadata = json_object('decisions', json_array('leave on day ' || no)) WHERE content LIKE '%Bergen%'")
c.execute("UPDATE memory SET origin = 5, salience = 0.1, last_used = 1, updated = 1 WHERE content IN ('Anna sails', 'Anna hums')")
c.commit()`, path.join(data, 'rememberd.db')]);
  const counts = async (...args) => {
    const { report } = JSON.parse(await ok(['consolidate', '--json', ...args, ...at]));
    return [report.dry_run, report.looked_at, report.merged, report.promoted, report.evicted, report.pruned];
  };
  assert.match(await ok(['consolidate', '--dry-run', ...at]),
    /merge +[0-9a-f-]{36} +Anna and Ben[^]*says the same as [0-9a-f-]{36}\n[^]*evict[^]*Anna sails[^]*worth 0\.000[^]*would be: 1 merged, 0 promoted, 2 evicted, 0 pruned, of 5/);
  assert.deepEqual(await counts('--dry-run'), [true, 5, 1, 0, 2, 0], 'nothing has changed');
  assert.deepEqual(await counts('--space', 'work'), [false, 1, 0, 0, 1, 0]);
  assert.deepEqual(await counts('--user', 'ben'), [false, 0, 0, 0, 0, 0]);
  const server = await serve(t, { data });
  const { changes } = JSON.parse(await ok(['consolidate', '--json', ...at]));
  assert.deepEqual(changes.map((one) => one.what), ['merge', 'evict']);
  assert.equal((await server.ask('GET', `/v1/memories/${changes[1].id}`)).json.valid_to === null, false);
  assert.deepEqual(await counts(), [false, 2, 0, 0, 0, 0]);
  assert.match(await ok(['list', ...at]), /2 of 2/);
  assert.match(await ok(['list', '--closed', ...at]), /Anna sails[^]*4 of 4/);
  assert.equal((await run(['consolidate', 'now', ...at])).code, 2);
});

test('the doctor says what is wrong and what to do', async (t) => {
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"object":"list","data":[{"id":"m"}]}');
  });
  const data = tempFolder();
  await ok(['add', 'x', '--data', data]);
  const well = await ok(['doctor', '--data', data, '--upstream', model.url]);
  assert.match(well, /ok +data folder/);
  assert.match(well, /ok +database/);
  assert.match(well, /ok +upstream.*1 models/);
  assert.match(await ok(['doctor', '--data', data, '--upstream', model.url, '--core-model', 'm']), /ok +core model: m at/);
  const nowhere = await run(['doctor', '--data', data, '--upstream', `other=${model.url}`, '--core-model', 'm']);
  assert.match(nowhere.stdout, /bad +core model: no upstream/);
  model.server.closeAllConnections();
  model.server.close();
  const ill = await run(['doctor', '--json', '--data', data, '--upstream', model.url]);
  assert.equal(ill.code, 1);
  const report = JSON.parse(ill.stdout);
  assert.equal(report.ok, false);
  const bad = report.findings.find((one) => one.level === 'bad');
  assert.equal(bad.what, 'upstream');
  assert.ok(bad.advice.length > 5);
  const file = path.join(data, 'rememberd.db'), bytes = fs.readFileSync(file);
  bytes.writeUInt32BE(99, 60); // its schema: no reason to give up what a newer program wrote
  fs.writeFileSync(file, bytes);
  const newer = await run(['doctor', '--data', data]);
  assert.match(newer.stdout, /bad +database: .* newer rememberd \(schema 99.*\n +-> remove this cause; restore a backup only if the file is damaged/);
  fs.writeFileSync(file, 'this is no database, this is a text of some length');
  const broken = await run(['doctor', '--data', data]);
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /bad +database/);
});

test('recall is measured by turn or session, in a pool each or in one', async () => {
  const corpus = path.join(__dirname, '../recall/corpus.json');
  const report = async (...flags) => JSON.parse(await ok(['eval', 'locomo', corpus, '--json', ...flags]));
  assert.equal((await report('--level', 'turn')).one_pool, false);
  assert.equal((await report('--level', 'session', '--pool', 'one')).one_pool, true);
  const follow = await report('--follow-ups');
  assert.ok(follow.overall.n > 0 && follow.overall.now['any@10'] >= follow.overall.raw['any@10']);
});

test('tables, version and help', async () => {
  assert.match(await ok(['--version']), /^rememberd \d+\.\d+\.\d+\n$/);
  for (const args of [['-v'], ['doctor', '-v'], ['list', '--version']]) assert.equal(await ok(args), await ok(['--version']));
  assert.match(await ok(['--routes']), /POST +\/v1\/chat\/completions +\S/);
  const schema = JSON.parse(await ok(['--schema']));
  assert.equal(schema.openapi, '3.1.0');
  const routes = (await ok(['--routes'])).trim().split('\n').map((line) => line.split(/ +/));
  const own = routes.filter(([, , ...help]) => !/^forwarded/.test(help.join(' ')));
  for (const [method, path] of own) assert.ok(schema.paths[path]?.[method.toLowerCase()]?.responses, `${method} ${path}`);
  assert.equal(own.length, Object.values(schema.paths).flatMap(Object.keys).length);
  assert.match(await ok(['--help']), /serve[^]*doctor/);
  assert.equal(await ok(['help']), await ok(['--help']));
  assert.equal(await ok(['-h']), await ok(['--help']));
  const settings = await ok(['serve', '--print-settings', '--budget-tokens', '123', '--upstream-key', 'sk-secret'],
    { env: { REMEMBERD_RECALL_LIMIT: '7' } });
  assert.match(settings, /^budget_tokens = 123 /m);
  assert.match(settings, /^recall_limit = 7 /m);
  assert.doesNotMatch(settings, /sk-secret/);
  assert.match(await ok(['serve', '--print-settings', '--upstream', 'http://a/v1', '--upstream', 'b=http://c']),
    /# all other models go to http:\/\/a\/v1\n# models b\/\.\.\. go to http:\/\/c\n/);
  const file = path.join(tempFolder(), 'settings.json');
  fs.writeFileSync(file, JSON.stringify({ upstreams: [{ name: 'b', url: 'http://c', key: 'sk-secret', dialect: 'anthropic', placement: 'system' }] }));
  assert.match(await ok(['serve', '--print-settings', '--config', file]),
    /# models b\/\.\.\. go to http:\/\/c, placement system, API anthropic\n/);
  const said = JSON.parse(await ok(['serve', '--print-settings', '--json', '--config', file]));
  assert.equal(said.listen, '127.0.0.1:7077');
  assert.deepEqual(said.upstreams, [{ name: 'b', url: 'http://c', key: '***', placement: 'system', dialect: 'anthropic', key_in: '' }]);
});

test('every command\'s help has one shape, in 100 columns', async () => {
  const names = (await ok(['--help'])).match(/\nRun\n([^]*?)\n\nOptions\n/)[1].match(/^ {2}[a-z][a-z-]*/gm).map((name) => name.trim());
  assert.ok(names.length >= 20 && names.includes('doctor'));
  assert.equal(new Set(names).size, names.length, 'no command is in two groups');
  for (const name of names) {
    const help = await ok([name, '--help']);
    assert.match(help, new RegExp(`^usage: rememberd ${name}[^]*\n\n[A-Z][^]*\\.\n\nOptions\n {2}--[^]*\n {2}-h, --help +Print this help\n` +
      `[^]*\nExample\n {2}rememberd ${name}.*\n\nExit status\n {2}${name === 'hook' ? '0, whatever happens' : '0 = done, 1 = failed, 2 = wrong usage'}\n$`));
    assert.equal(await ok([name, '-h']), help);
    assert.equal(await ok(['help', name]), help);
    for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
  }
  for (const line of (await ok(['--help'])).split('\n')) assert.ok(line.length <= 100, line);
  assert.match((await run(['help', 'serv'])).stderr, /did you mean 'serve'\?/);
  const without = async (name) => /Without\s+--space:\s+([^-]*\S)\s+-/.exec(await ok([name, '--help']))[1].replace(/\s+/g, ' ');
  for (const [name, words] of [['list', 'the space default'], ['mcp', 'the space default'], ['token', 'a new space; for an admin token the space default'],
    ['import', 'the space default; of an export the space of each line, of OmniRoute a space for each key'], ['export', 'all spaces of the user'], ['consolidate', 'all spaces of the user']]) assert.equal(await without(name), words);
});

test('--force says what it does in this command alone', async () => {
  const force = async (command) => /^ {2}--force +(.*(?:\n {34}.*)*)/m.exec(await ok([command, '--help']))[1];
  assert.match(await force('reindex'), /all vectors/);
  assert.match(await force('restore'), /Replace the database/);
  for (const command of ['reindex', 'restore']) assert.doesNotMatch(await force(command), /reindex|restore/);
});

test('the help says which tokens make every request need one', async () => {
  for (const args of [['--help'], ['token', '--help']])
    assert.match((await ok(args)).replace(/\s+/g, ' '), /once this command has created one, every request needs a token/);
});

test('the settings of serve are grouped, with units and defaults', async () => {
  const help = await ok(['serve', '--help-all']);
  const groups = ['Network', 'Memory', 'Models', 'Vectors', 'Storage', 'Access', 'Logs'];
  assert.deepEqual(help.match(/^[A-Z]\w+$/gm), ['Options', ...groups, 'Example']);
  assert.match(help, / {2}--budget-tokens TOKENS +Most [^]*?\(default\s+800\)\n/);
  assert.match(help, /\nNetwork\n {2}--listen ADDR:PORT [^]*\n {2}-p, --port N [^]*--body-max BYTES [^]*32 MiB[^]*\nMemory\n/);
  assert.match(help, /\nLogs\n[^]*--log-format text\|json +/);
  assert.doesNotMatch(help, /--upstream-key KEY[^-]*\(default/);
  const { properties } = { properties: JSON.parse(await ok(['serve', '--print-settings', '--json'])) };
  for (const name of Object.keys(properties).filter((one) => one !== 'upstreams'))
    assert.equal(help.split(`\n  --${name.replaceAll('_', '-')} `).length, 2, `${name} is listed once`);
  assert.match(await ok(['serve', '--print-settings']), /^# Network\nlisten = [^]*\n\n# Logs\nlog_level = /);
});

test('the help of serve is short, and names the way to all of it', async () => {
  const help = await ok(['serve', '--help']), flags = help.match(/^ {2}(-\w, )?--[a-z-]+/gm);
  assert.ok(flags.length <= 20, flags.join(' '));
  for (const flag of ['--listen', '--host', '-p, --port', '--upstream', '--data', '--config']) assert.ok(flags.includes(`  ${flag}`), flag);
  assert.match(help, /serve --help-all/);
  assert.deepEqual(help.match(/^[A-Z]\w+$/gm), ['Options', 'Example']);
});

test('the commands of --help stand in groups', async () => {
  const groups = ['Run', 'Memories', 'Import and export', 'Access', 'Security', 'Maintenance', 'Advanced'];
  assert.deepEqual((await ok(['--help'])).match(/^[A-Z][a-z ]+$/gm), [...groups, 'Options', 'Example', 'Exit status']);
});

test('a mistyped name is answered with the one that is meant', async (t) => {
  for (const [args, words] of [
    [['serch', 'x'], /unknown command 'serch'; did you mean 'search'\?/],
    [['serve', '--budget-token', '1'], /unknown flag --budget-token; did you mean --budget-tokens\?/],
    [['list', '--ofset', '1'], /unknown flag --ofset; did you mean --offset\?/],
    [['serve', '--upsteram=http://a'], /unknown flag --upsteram; did you mean --upstream\?/]])
    assert.match((await run(args)).stderr, words);
  for (const args of [['frobnicate'], ['serve', '--frobnicate', '1'], ['serve', '-x']])
    assert.doesNotMatch((await run(args)).stderr, /did you mean/);
  const config = path.join(tempFolder(), 'config.json');
  fs.writeFileSync(config, '{"recal_limit":1}');
  assert.match((await run(['serve', '--config', config])).stderr, /recal_limit: is not a known setting; did you mean recall_limit\?.*config\.json/);
  // Of a variable serve says the same; other commands, which run inside of other programs, warn and go on.
  const at = ['--data', tempFolder()], typed = { env: { REMEMBERD_BUGDET_TOKENS: '1', REMEMBERD_RECALL_LIMIT: '5' } };
  const refused = await run(['serve', ...at], typed);
  assert.equal(refused.code, 2);
  assert.equal(refused.stderr, 'rememberd serve: the variable REMEMBERD_BUGDET_TOKENS is not a known setting; did you mean REMEMBERD_BUDGET_TOKENS?\n');
  assert.match((await run(['serve', ...at], { env: { REMEMBERD_FROBNICATE: '1' } })).stderr, /REMEMBERD_FROBNICATE is not a known setting\n$/);
  const added = await run(['add', 'I like tea', ...at], typed);
  assert.equal(added.code, 0);
  assert.match(added.stderr, /^\S+ warn settings\.note note="the variable REMEMBERD_BUGDET_TOKENS is not a known setting; did you mean REMEMBERD_BUDGET_TOKENS\?"\n$/);
  await serve(t, { env: { // of clients, of ./dev build, and of Kubernetes beside a service of this name
    REMEMBERD_TOKEN: 'x', REMEMBERD_SQLITE: 'x', REMEMBERD_SERVICE_HOST: '10.0.0.1', REMEMBERD_PORT: 'tcp://10.0.0.1:80', REMEMBERD_PORT_80_TCP_ADDR: '10.0.0.1' } });
});

test('the extraction that was called seed is called omniroute', async () => {
  const old = await run(['serve', '--print-settings', '--extraction', 'seed']);
  assert.match(old.stdout, /^extraction = omniroute /m);
  assert.match(old.stderr, /extraction 'seed' is called 'omniroute' now/);
  assert.equal((await run(['serve', '--print-settings', '--extraction', 'omniroute'])).stderr, '');
});

test('a wrong usage is one clear line and status 2', async () => {
  const cases = [
    [['nonsense'], /unknown command 'nonsense'/],
    [['serve', '--nonsense', '1'], /unknown flag --nonsense/],
    [['serve', '-x'], /unknown flag -x/],
    [['serve', '--budget-tokens'], /--budget-tokens needs a value/],
    [['serve', '--budget-tokens', 'many'], /--budget-tokens: must be a whole number/],
    [['serve', '--listen', '127.0.0.1:x'], /--listen: must be an address, a port or both/],
    [['serve', '--listen', '127.0.0.1:70000'], /--listen: must be an address, a port or both/],
    [['serve', 'here'], /usage: rememberd serve/],
    [['add'], /usage: rememberd add/],
    [['list', '--explain'], /does not take --explain/], [['decrypt', '--new-key-file', 'x'], /does not take --new-key-file;/],
    [['search', 'x', '--limit', '0'], /--limit: must be from 1/],
    [['forget'], /--everything/],
    [['token', 'steal'], /token create/],
    [['nonsense'], /unknown command 'nonsense'; see rememberd --help$/m],
    [['add', ''], /TEXT: must say what to remember/],
    [['add', 'x', '--type', 'odd'], /--type must be one of/],
    [['config', 'set', 'nosuch', '1'], /nosuch: is not a known setting/],
    [['config', 'set', 'budget_tokens', 'many'], /budget_tokens: must be a whole number/],
    [['token', 'create', '--scopes', 'fly'], /scopes: must be of chat/],
    [['token', 'create', '--scopes', ''], /--scopes: must not be empty/],
    [['token', 'create', '--admin', '--spaces', ''], /--spaces: must not be empty/],
    [['token', 'create', '--admin', '--spaces', 'a,,b'], /--spaces: must be names of spaces/],
    [['status', '--url', 'bogus'], /--url: must start with http/],
    [['chat', '--url', 'bogus', 'hi'], /--url: must start with http/],
    [['migrate'], /needs --from URL and --to URL/],
    [['eval', 'squad', 'x.json'], /there is: locomo, longmemeval/],
    [['eval', 'locomo', 'x.json', '--pool', 'two'], /--pool: must be one of: each, one/],
  ];
  for (const [args, words] of cases) {
    const res = await run(args, { env: { REMEMBERD_DATA: tempFolder() } });
    assert.equal(res.code, 2, `${args.join(' ')}: ${res.stderr}`);
    assert.match(res.stderr, words);
    assert.equal(res.stderr.trimEnd().split('\n').length, 1, res.stderr);
    assert.equal(res.stdout, '');
  }
  assert.equal((await run([])).code, 2);
  const folder = tempFolder(), config = path.join(folder, 'config.json');
  for (const [text, words] of [['x', /not valid JSON.*config\.json/], ['{"nope":1}', /nope: is not a known setting.*config\.json/]]) {
    fs.writeFileSync(config, text);
    assert.match((await run(['serve', '--config', config])).stderr, words);
  }
  fs.writeFileSync(path.join(folder, 'file'), '');
  const res = await run(['add', 'x', '--data', path.join(folder, 'file', 'deeper')]);
  assert.equal(res.code, 1);
  assert.match(res.stderr, /cannot be created/);
});

// The lines that serve prints, when the last of them is there.
async function startLines(server) {
  await until('the line to try', () => /^try: .+\n/m.test(server.stdout));
  const [first, ...lines] = server.stdout.trimEnd().split('\n').filter((line) => !line.startsWith('shared: '));
  assert.equal(first, `listening on ${server.url}`, 'scripts read the first line');
  assert.deepEqual(lines.map((line) => line.split(':')[0]), ['data', 'upstreams', 'memory', 'access', 'try']);
  return Object.fromEntries(lines.map((line) => [line.split(':')[0], line.slice(line.indexOf(':') + 2)]));
}

// Without blocking, since the upstream may live in this process.
function execLine(line) {
  return new Promise((done, failed) => execFile('bash', ['-c', line], (error, stdout) => (error ? failed(error) : done(JSON.parse(stdout)))));
}

test('serve says where, what, for whom, and a line to try that works', async (t) => {
  const data = tempFolder();
  await ok(['add', 'I prefer espresso', '--data', data]);
  const server = await serve(t, { data }), lines = await startLines(server);
  assert.equal(lines.data, `${data}, 1 memory`);
  assert.equal(lines.upstreams, 'none; only the built-in model rememberd/demo answers');
  assert.equal(lines.memory, 'on');
  assert.equal(lines.access, 'anyone on this machine, without a token');
  assert.equal((await execLine(lines.try)).model, 'rememberd/demo');
  assert.equal(fs.statSync(path.join(server.data, 'rememberd.db')).mode & 0o077, 0, 'the database is its owner\'s alone');
});

test('the line to try works with a token, and with an upstream', async (t) => {
  const model = await upstream(t, (req, res) => {
    const isList = req.url.endsWith('/models');
    res.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' });
    res.end(isList ? JSON.stringify({ object: 'list', data: [{ id: `m ${req.headers.authorization}` }] }) : '{}');
  });
  const data = tempFolder(), flags = ['--upstream', model.url, '--upstream', `other=${model.url}`, '--memory', 'off'];
  const open = await startLines(await serve(t, { data, flags }));
  assert.equal(open.upstreams, `${model.url}, other=${model.url}`);
  assert.equal(open.memory, 'off');
  assert.match(open.try, /YOUR_API_KEY/);
  assert.equal((await execLine(open.try)).data[0].id, 'm Bearer YOUR_API_KEY');
  const { token } = JSON.parse(await ok(['token', 'create', '--json', '--data', data]));
  for (const more of [[...flags, '--upstream-key', 'sk-1'], []]) {
    const lines = await startLines(await serve(t, { data, flags: more }));
    assert.match(lines.access, /^with a token; 'rememberd token create' makes one$/);
    assert.match(lines.try, /Bearer YOUR_TOKEN/);
    const answer = await execLine(lines.try.replace('YOUR_TOKEN', token));
    assert.equal(answer.model ?? answer.data[0].id, more.length ? 'm Bearer sk-1' : 'rememberd/demo');
  }
});

test('a second server on one folder says so, beside which commands work, and a killed one leaves no trace', async (t) => {
  const first = await serve(t), shared = /^shared: another rememberd \(a server or a command\) has this database open, too; /m;
  const started = async (data) => {
    const server = await serve(t, { data });
    await until('the line to try', () => /^try: /m.test(server.stdout));
    return server;
  };
  await until('the line to try', () => /^try: /m.test(first.stdout));
  assert.doesNotMatch(first.stdout, shared);
  const second = await started(first.data);
  assert.match(second.stdout, shared);
  await ok(['add', 'I like tea', '--data', first.data]);
  for (const one of [first, second]) assert.equal((await one.ask('GET', '/v1/memories')).json().total, 1);
  await first.stop('SIGKILL');
  await second.stop('SIGKILL');
  const third = await started(first.data);
  assert.doesNotMatch(third.stdout, shared);
  assert.equal((await third.ask('GET', '/v1/memories')).json().total, 1);
});

// A terminal of its own, as script(1) makes one.
function atTerminal(args, answer) {
  return new Promise((done) => {
    const child = spawn('script', ['-qec', [bin, ...args].join(' '), '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part) => { text += part; if (/Type yes: $/.test(text)) child.stdin.end(`${answer}\n`); });
    child.on('close', (code) => done([code, text]));
  });
}

test('at a terminal, erasing everything asks first, and says what goes', async (t) => {
  const server = await serve(t), at = ['--data', server.data];
  await server.tell('My dog is called Rex.');
  for (const [text, ...more] of [['I row', '--space', 'work'], ['I paint', '--user', 'anna'], ['I sing', '--user', 'anna/b%2Fb'], ['I dance', '--user', 'anna/b%2Fb']])
    await ok(['add', text, ...more, ...at]);
  await server.stop();
  for (const [args, question, erased] of [
    [['forget', '--everything'], "the space 'default' of the user 'local', for good: 1 memory, and 2 messages in 1 conversation", 'erased 3 memories and messages'],
    [['forget', '--everything', '--all-spaces', '--user', 'anna'], "everything in 1 space of the user 'anna', for good: 1 memory, and 0 messages in 0 conversations", 'erased 1 memory or message'],
    [['user', 'forget', 'anna', '--people'], "the user 'anna' with its registration and access tokens and 1 person of its clients, for good: 2 memories, and 0 messages in 0 conversations", 'erased 2 memories and messages, and 1 person'],
    [['user', 'forget', 'local'], "the user 'local', for good: 1 memory, and 0 messages in 0 conversations", 'erased 1 memory or message']]) {
    const [code, said] = await atTerminal([...args, ...at], 'no');
    assert.equal(code, 1, said);
    assert.ok(said.includes(`This erases ${question}. Type yes: `), said);
    assert.match(said, /nothing was erased/);
    const [done, text] = await atTerminal([...args, ...at], 'yes');
    assert.equal(done, 0, text);
    assert.ok(text.includes(erased), text);
  }
  await ok(['add', 'I row', ...at]);
  const [code, text] = await atTerminal(['forget', '--everything', '--yes', ...at]);
  assert.deepEqual([code, text], [0, 'erased 1 memory or message\r\n']);
});

test('without a terminal everything is erased only with --yes', async () => {
  const at = ['--data', tempFolder()];
  await ok(['add', 'My dog is called Rex.', ...at]);
  for (const args of [['forget', '--everything'], ['forget', '--everything', '--all-spaces'], ['user', 'forget', 'local']]) {
    const res = await run([...args, ...at], { input: 'yes\n' });
    assert.equal(res.code, 2, args.join(' '));
    assert.match(res.stderr, /nothing was erased\. Add --yes/);
    assert.match(await ok(['list', ...at]), /Rex/);
  }
  await ok(['user', 'forget', 'local', '--yes', ...at]);
  assert.match(await ok(['list', ...at]), /^0 of 0$/m);
});

test('a space or user that is not there is named, with the spaces that are', async () => {
  const at = ['--yes', '--data', tempFolder()], forget = async (...args) => {
    const res = await run(['forget', '--everything', ...args, ...at]);
    assert.deepEqual([res.code, res.stdout], [1, ''], args.join(' '));
    return res.stderr;
  };
  for (const space of ['work', 'home']) await ok(['add', 'I row', '--space', space, ...at.slice(1)]);
  assert.equal(await forget('--space', 'nope'), "rememberd forget: the user 'local' has no space 'nope'; nothing was erased. Spaces of this user: home, work\n");
  for (const more of [[], ['--all-spaces']])
    assert.equal(await forget('--user', 'nobody', ...more), "rememberd forget: the user 'nobody' has no space; nothing was erased\n");
  assert.match(await ok(['list', '--space', 'work', ...at.slice(1)]), /I row/);
});
