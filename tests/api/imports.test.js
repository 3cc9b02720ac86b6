// imports.test.js - other programs' files: recognised, read, found by recall, once only, and broken records named; our own export as Markdown.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { bin, cleanEnv, run, serve, tempFolder, until } = require('./lib');

const samples = path.join(__dirname, 'data/imports');
const sample = (name) => path.join(samples, name);

async function ok(args) {
  const res = await run(args);
  assert.equal(res.code, 0, `${args.join(' ')}: ${res.stderr}`);
  return res;
}
const json = async (args) => JSON.parse((await ok([...args, '--json'])).stdout);
const listed = async (at, ...more) => (await json(['list', '--limit', '500', '--closed', ...more, ...at])).memories;
const searched = async (at, words) => (await json(['search', words, ...at])).results;

// A file or folder: what it is, what is new in it, which questions find what, and which records are broken.
const table = [
  { file: 'chatgpt', format: 'chatgpt', counts: { files: 2, ignored: 1, records: 5, sessions: 3, new_sessions: 2, messages: 5, new_messages: 3, memories: 4, new_memories: 4, facts: 1, skipped: 1, broken: 1 },
    finds: [['Which tea is my favorite?', /Darjeeling first flush/], ['What is Ada allergic to?', /^Ada is allergic to walnuts\.$/], ['What does Ada work as?', /bridge engineer in Porto/]],
    problems: [/^conversations-000\.json, record 2: create_time: must be a time/] },
  { file: 'claude', format: 'claude', counts: { files: 3, records: 4, sessions: 1, new_sessions: 1, messages: 2, new_messages: 2, memories: 5, new_memories: 5, facts: 0, skipped: 0, broken: 1 },
    finds: [['Where is my boat?', /Kittiwake in Horta/], ['What does Ada play?', /^Ada plays the cello on Sundays\.$/], ['Where is the scaffold from?', /^Arrábida \/ plan\.md \/ Scaffold: The scaffold is rented from Gondomar\.$/]],
    problems: [/^conversations\.json, record 2: sender: must be human or assistant$/] },
  { file: 'mem0.json', format: 'mem0', counts: { records: 3, memories: 2, new_memories: 2, broken: 1 },
    finds: [['What does Ada ride?', /^Ada rides a blue Brompton to work$/]], problems: [/^mem0\.json, record 2: memory: must not be empty$/] },
  { file: 'openmemory.json', format: 'openmemory', counts: { records: 4, memories: 2, new_memories: 2, skipped: 1, broken: 1 },
    finds: [['Which pet does Ada have?', /^Ada has a tortoise named Zeno$/]], problems: [/^openmemory\.json, record 4: state: must be one of: active/] },
  { file: 'letta', format: 'letta', counts: { files: 2, sessions: 2, new_sessions: 2, messages: 3, new_messages: 3, memories: 3, new_memories: 3, skipped: 1, broken: 0 },
    finds: [['What does Ada collect?', /^Ada collects fountain pens\.$/], ['Who taught me to bake rye bread?', /grandmother/], ['What does Ada speak at home?', /Galician/]], problems: [] },
  { file: 'memory.jsonl', format: 'mcp-memory', counts: { records: 4, memories: 3, new_memories: 3, broken: 1 },
    finds: [['Where was Ada born?', /^Ada: was born in Braga$/], ['Where does Ada work?', /^Ada works at Acme$/]], problems: [/^memory\.jsonl, line 4: to: is required$/] },
  { file: 'claude-code', format: 'several', counts: { files: 3, ignored: 1, sessions: 1, new_sessions: 1, messages: 2, new_messages: 2, memories: 1, new_memories: 1, broken: 2 },
    finds: [['What do I deploy with?', /Nomad/], ['On which day does Ada deploy?', /Tuesdays only, from the release runbook/]],
    problems: [/^session\.jsonl, line 8: timestamp: must be a time/, /^session\.jsonl, line 9: not valid JSON/] },
  { file: 'rollout.jsonl', format: 'codex', counts: { records: 9, sessions: 1, new_sessions: 1, messages: 2, new_messages: 2, broken: 1 },
    finds: [['What is the staging database called?', /heron/]], problems: [/^rollout\.jsonl, line 9: payload: must be an object$/] },
  { file: 'notes', format: 'markdown', counts: { files: 2, ignored: 1, memories: 4, new_memories: 4, broken: 1 },
    finds: [['Where do we stay in Lisbon?', /^Lisbon: We stay at the blue house in Alfama\.$/], ['When is tram 28 empty?', /^Lisbon \/ Food: Tram 28/]], problems: [/^latin\.md: is not UTF-8 text$/] },
  { file: 'list.txt', format: 'list', counts: { records: 1, memories: 3, new_memories: 3, broken: 0 },
    finds: [['What does Ada sing?', /^Ada sings alto in the choir$/]], problems: [] },
  { file: 'turns.jsonl', format: 'turns', counts: { records: 4, sessions: 2, new_sessions: 2, messages: 3, new_messages: 3, broken: 1 },
    finds: [['Where is the lighthouse?', /Nazaré/]], problems: [/^turns\.jsonl, line 3: role: must be one of/] },
];

const part = (report, names) => Object.fromEntries(names.map((name) => [name, report[name]]));

for (const { file, format, counts, finds, problems } of table) {
  test(`${file} is recognised, read, found, and read again without harm`, async () => {
    const at = ['--data', tempFolder()], command = ['import', sample(file), ...at];
    const names = Object.keys(counts);
    const dry = await json([...command, '--dry-run']);
    assert.deepEqual([dry.format, dry.dry_run, part(dry, names)], [format, true, counts]);
    await ok(['add', 'Ada rows', '--user', 'bo', ...at]); // from here on there is a database
    assert.deepEqual(part(await json([...command, '--dry-run']), names), counts);
    assert.deepEqual(await listed(at), [], 'a dry run writes nothing');
    assert.equal((await ok(['export', ...at])).stdout, '', 'a dry run writes nothing');
    const first = await json(command);
    assert.deepEqual(part(first, names), counts);
    assert.equal(first.problems.length, problems.length, first.problems.join('\n'));
    problems.forEach((problem, i) => assert.match(first.problems[i], problem));
    for (const [question, answer] of finds) {
      const found = await searched(at, question);
      assert.ok(found.some(({ text }) => answer.test(text)), `${question}: ${JSON.stringify(found.map(({ text }) => text))}`);
    }
    const before = (await ok(['export', ...at])).stdout;
    const again = await json(command);
    assert.deepEqual([again.new_sessions, again.new_messages, again.new_memories, again.updated, again.facts, again.broken], [0, 0, 0, 0, 0, counts.broken]);
    assert.equal((await ok(['export', ...at])).stdout, before, 'a second time changes nothing');
    const { stdout, stderr } = await ok(command);
    assert.match(stdout, new RegExp(`^format ${format}, `));
    for (const problem of first.problems) assert.ok(stderr.includes(problem), stderr);
    assert.ok(!stderr.includes('%'), 'no progress bar without a terminal');
  });
}

const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

test('messages keep their time, role, title and id, and only the branch that was shown is read', async () => {
  const at = ['--data', tempFolder()];
  await ok(['import', sample('chatgpt'), ...at, '--no-extract']);
  const all = lines((await ok(['export', ...at])).stdout);
  const session = all.find(({ kind, id }) => kind === 'session' && id === 'chatgpt-c-tea');
  assert.equal(session.title, 'Tea for the office');
  assert.equal(session.created, '2026-09-21T14:13:20.500Z');
  const said = all.filter((line) => line.kind === 'message' && line.session === session.id).map(({ role, text, created, ref, origin }) => ({ role, text, created, ref, origin }));
  assert.deepEqual(said, [
    { role: 'user', text: 'My favorite tea is Darjeeling first flush.', created: '2026-09-21T14:13:21.250Z', ref: 'u1', origin: 'import' },
    { role: 'assistant', text: 'Noted: Darjeeling it is.', created: '2026-09-21T14:13:21.250Z', ref: 'a2', origin: 'import' },
  ]);
  assert.ok(!JSON.stringify(all).match(/oolong|zanzibar|tool output|helpful assistant/));
  assert.ok(all.every(({ kind, id }) => kind !== 'session' || id !== 'chatgpt-c-private'));
});

test('memories keep their id, times, tags, metadata and state', async () => {
  const at = ['--data', tempFolder()];
  await ok(['import', sample('mem0.json'), ...at]);
  await ok(['import', sample('openmemory.json'), ...at]);
  const all = await listed(at);
  const bike = all.find(({ id }) => id === '71111111-1111-4111-8111-111111111111');
  assert.deepEqual([bike.created, bike.updated, bike.tags, bike.origin], ['2026-05-01T17:00:00.000Z', '2026-05-02T17:00:00.000Z', ['transport'], 'import']);
  assert.deepEqual(bike.metadata, { mood: 'good', user_id: 'ada', run_id: 'r1', imported_from: 'mem0', source_id: bike.id });
  const [canary, tortoise] = ['canary', 'tortoise'].map((word) => all.find(({ content }) => content.includes(word)));
  assert.equal(canary.valid_to, '2026-04-02T10:00:00.000Z');
  assert.deepEqual([tortoise.valid_to, tortoise.tags], [null, ['pets']]);
  assert.ok(!(await searched(at, 'canary')).some(({ text }) => /canary/.test(text)), 'what was archived is not recalled');
});

test('openmemory: categories that stand behind all memories are read once', async () => {
  const folder = tempFolder(), at = ['--data', path.join(folder, 'data')], categories = [{ id: 'c1', name: 'houses' }], took = [];
  const memories = Array.from({ length: 8000 }, (_, i) => ({ id: `m${i}`, content: `The bicycle ${i} is in the cellar of the house ${i}.`, state: 'active', category_ids: ['c1'] }));
  for (const body of [{ categories, memories }, { memories, categories }]) {
    const file = path.join(folder, 'all.json'), began = Date.now();
    fs.writeFileSync(file, JSON.stringify(body));
    assert.equal((await json(['import', file, '--dry-run', ...at])).new_memories, 8000);
    took.push(Date.now() - began);
  }
  assert.ok(took[1] < 4 * took[0] + 1000, `${took} ms`);
});

test('mem0: what its client for JavaScript lists has the same times, expiry and users', async () => {
  const listing = { results: [{ id: 'm-1', memory: 'Ada rows', user_id: 'ada', run_id: 'r1', metadata: { mood: 'good' }, categories: ['sport'],
    created_at: '2026-05-01T10:00:00Z', updated_at: '2026-05-02T10:00:00Z', expiration_date: '2126-12-31' }] };
  const camel = (name) => name.replace(/_([a-z])/g, (all, letter) => letter.toUpperCase());
  const both = [listing, { results: listing.results.map((one) => Object.fromEntries(Object.entries(one).map(([name, value]) => [camel(name), value]))) }];
  const found = await Promise.all(both.map(async (body) => {
    const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'memories.json');
    fs.writeFileSync(file, JSON.stringify(body));
    await ok(['import', file, ...at]);
    return listed(at);
  }));
  assert.equal(found[0][0].updated, '2026-05-02T10:00:00.000Z');
  assert.deepEqual(found[1], found[0]);
});

test('an edited note changes its memory; one that somebody changed here stays', async () => {
  const at = ['--data', tempFolder()], folder = tempFolder(), file = path.join(folder, 'Boat.md');
  const write = (text, when) => { fs.writeFileSync(file, text); fs.utimesSync(file, when, when); };
  write('# Berth\n\nBerth 12.\n', 1.7e9);
  assert.equal((await json(['import', folder, ...at])).new_memories, 1);
  write('# Berth\n\nBerth 14.\n', 1.71e9);
  const { new_memories, updated } = await json(['import', folder, ...at]);
  assert.deepEqual([new_memories, updated], [0, 1]);
  assert.deepEqual((await listed(at)).map(({ content }) => content), ['Boat / Berth: Berth 14.']);
  write('# Berth\n\nBerth 11.\n', 1.69e9);
  assert.equal((await json(['import', folder, ...at])).updated, 0, 'an older file changes nothing');
  assert.deepEqual((await listed(at)).map(({ content }) => content), ['Boat / Berth: Berth 14.']);
});

test('what was forgotten does not come back with the same file', async () => {
  const at = ['--data', tempFolder()];
  await ok(['import', sample('mem0.json'), ...at]);
  await ok(['forget', '71111111-1111-4111-8111-111111111111', ...at]);
  const again = await json(['import', sample('mem0.json'), ...at]);
  assert.deepEqual([again.new_memories, again.skipped], [0, 1]);
  assert.equal((await listed(at)).length, 1);
});

test('a secret is masked, and a limit of the user holds', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'list.txt');
  fs.writeFileSync(file, 'The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH\nAda rows\nAda skis\n');
  const full = await run(['import', file, ...at, '--user-memories-max', '2']);
  assert.equal(full.code, 1);
  assert.match(full.stderr, /user_memories_max/);
  await ok(['import', file, ...at]);
  const all = await listed(at);
  assert.equal(all.length, 3);
  assert.ok(all.some(({ content }) => content === 'The key is [secret]'), JSON.stringify(all));
});

test('a file that was cut off is read up to there, and the whole file later adds the rest', async () => {
  const at = ['--data', tempFolder()], folder = tempFolder(), file = path.join(folder, 'conversations.json');
  const chats = Array.from({ length: 50 }, (_, i) => ({ uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, name: `Chat ${i}`, created_at: '2026-09-01T10:00:00Z',
    chat_messages: [{ uuid: `10000000-0000-4000-8000-${String(i).padStart(12, '0')}`, text: `Note number ${i} of the log.`, sender: 'human', created_at: '2026-09-01T10:00:01Z' }] }));
  const text = JSON.stringify(chats);
  fs.writeFileSync(file, text.slice(0, text.length / 2));
  const half = await json(['import', file, ...at]);
  assert.equal(half.broken, 1);
  assert.match(half.problems[0], /^conversations\.json, record \d+: not valid JSON: a value is missing, or does not end at byte \d+$/);
  assert.ok(half.new_messages > 10 && half.new_messages < 40);
  fs.writeFileSync(file, text);
  const whole = await json(['import', file, ...at]);
  assert.deepEqual([whole.messages, whole.new_messages, whole.broken], [50, 50 - half.new_messages, 0]);
});

test('a dry run without a database makes none, and leaves nothing elsewhere', async () => {
  const folder = tempFolder(), data = path.join(folder, 'data'), temp = path.join(folder, 'temp');
  fs.mkdirSync(temp);
  const key = path.join(folder, 'key');
  fs.writeFileSync(key, 'a'.repeat(64), { mode: 0o600 });
  for (const more of [[], ['--key-file', key]]) {
    const res = await run(['import', sample('list.txt'), '--dry-run', '--data', data, ...more], { env: { TMPDIR: temp } });
    assert.match(res.stdout, /^memories +3, 3 new$/m, res.stderr);
    assert.deepEqual(fs.readdirSync(folder).sort(), ['key', 'temp']);
    assert.deepEqual(fs.readdirSync(temp), []);
  }
  const refused = await run(['import', path.join(folder, 'nothing'), '--dry-run', '--data', data], { env: { TMPDIR: temp } });
  assert.equal(refused.code, 1);
  assert.deepEqual([fs.existsSync(data), fs.readdirSync(temp)], [false, []]);
});

test('text beside exported conversations, and any .txt of a folder, is read only when asked for', async () => {
  const at = ['--data', tempFolder()], folder = tempFolder();
  fs.copyFileSync(sample('chatgpt/conversations-001.json'), path.join(folder, 'conversations.json'));
  fs.writeFileSync(path.join(folder, 'file-1-upload.md'), '# Log\n\nAn uploaded page about basalt.\n');
  fs.writeFileSync(path.join(folder, 'Zettel.txt'), 'An uploaded line about granite\n');
  const { format, files, ignored, memories } = await json(['import', folder, ...at, '--dry-run']);
  assert.deepEqual([format, files, ignored, memories], ['chatgpt', 1, 2, 0]);
  for (const name of ['markdown', 'list']) assert.deepEqual(await json(['import', folder, ...at, '--format', name]).then((r) => [r.format, r.files, r.new_memories]), [name, 1, 1]);
  fs.rmSync(path.join(folder, 'conversations.json'));
  assert.deepEqual(await json(['import', folder, ...at, '--dry-run']).then((r) => [r.format, r.files, r.ignored]), ['markdown', 1, 1]);
});

test('what an export could not take back is broken', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'x.jsonl'), long = 'x'.repeat(257);
  const turn = (more) => JSON.stringify({ session: 's', content: 'Ada sails', ...more });
  fs.writeFileSync(file, [turn({ session: long }), turn({ id: long }), turn({ session: 'x'.repeat(256), id: 'x'.repeat(256) })].join('\n'));
  const { problems, new_messages } = await json(['import', file, ...at]);
  assert.deepEqual([problems, new_messages], [[1, 2].map((no) => `x.jsonl, line ${no}: id: must have at most 256 bytes, has 257`), 1]);
  const copy = path.join(tempFolder(), 'copy.jsonl');
  await ok(['export', copy, ...at]);
  assert.equal((await json(['import', copy, '--data', tempFolder()])).new_messages, 1);
});

test('the name of a file does not command the terminal', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'a\x1b[31m\nb.json');
  fs.writeFileSync(file, '[{"memory":"Ada sails"},{"memory":""}]');
  const { stderr } = await ok(['import', file, ...at]);
  assert.match(stderr, /^ {2}a ?\[31m b\.json, record 2: memory: must not be empty\n$/);
});

test('a message without id and time is the same one in a later copy of the file, and for ingest', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'turns.jsonl');
  fs.writeFileSync(file, '{"session":"s","content":"Ada sails"}\n{"session":"s","content":"Ada sails"}\n{"session":"s","content":"Ada rows"}\n');
  fs.utimesSync(file, 1.7e9, 1.7e9);
  assert.equal((await json(['import', file, ...at])).new_messages, 3);
  const copy = (await ok(['export', ...at])).stdout;
  assert.deepEqual(lines(copy).filter(({ kind }) => kind === 'message').map(({ created }) => created), Array(3).fill('2023-11-14T22:13:20.000Z'), 'they are as old as the file');
  fs.utimesSync(file, 1.71e9, 1.71e9);
  assert.equal((await json(['import', file, ...at])).new_messages, 0);
  await ok(['ingest', file, ...at]);
  assert.equal((await ok(['export', ...at])).stdout, copy);
});

test('what a file holds twice is counted and stored once, also in a dry run', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'list.txt');
  fs.writeFileSync(file, 'Ada rows\nAda skis\nAda rows\n');
  for (const more of [['--dry-run'], []]) {
    const { memories, new_memories } = await json(['import', file, ...at, ...more]);
    assert.deepEqual([memories, new_memories], [3, 2]);
  }
  assert.equal((await listed(at)).length, 2);
});

test('a transcript of a sub-agent is not what the user said', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'rollout.jsonl');
  const text = fs.readFileSync(sample('rollout.jsonl'), 'utf8');
  for (const mark of ['"thread_source": "subagent"', '"parent_thread_id": "x"', '"source": {"subagent": "review"}']) {
    fs.writeFileSync(file, text.replace('"source": "exec"', mark));
    assert.equal((await json(['import', file, ...at, '--dry-run'])).messages, 0, mark);
  }
});

const transcript = (lines) => {
  const file = path.join(tempFolder(), 'session.jsonl');
  fs.writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  return file;
};
const texts = async (file) => {
  const at = ['--data', tempFolder()];
  await ok(['import', file, '--no-extract', ...at]);
  return lines((await ok(['export', ...at])).stdout).filter(({ kind }) => kind === 'message').map(({ role, text }) => [role, text]);
};
const part_of = (text, type = 'text') => ({ type, text });
const code = (uuid, type, content, more = {}) => ({ type, uuid: `u${uuid}`, sessionId: 's', timestamp: `2026-10-01T10:00:0${uuid}Z`, message: { role: type, content, ...more } });

test('an agent\'s notes beside a prompt do not hide the prompt', async () => {
  const opened = '<ide_opened_file>The user opened the file /src/a.c in the IDE.</ide_opened_file>';
  assert.deepEqual(await texts(transcript([
    code(1, 'user', [part_of(opened), part_of('We deploy with Nomad.'), { type: 'image', source: {} }]),
    code(2, 'assistant', [part_of('<ul> is a list.')]), code(3, 'user', [part_of(opened)]),
  ])), [['user', 'We deploy with Nomad.'], ['assistant', '<ul> is a list.']]);
  assert.deepEqual(await texts(transcript([code(1, 'user', 'Deploy it.'), code(2, 'assistant', [part_of('Done.')], { model: 'claude-opus-4-6' }),
    code(3, 'assistant', [part_of('API Error: 529 overloaded')], { model: '<synthetic>' })])), [['user', 'Deploy it.'], ['assistant', 'Done.']]);
  const said = (...content) => ({ timestamp: '2026-10-01T10:00:00Z', type: 'response_item', payload: { type: 'message', role: 'user', content } });
  assert.deepEqual(await texts(transcript([
    said(part_of('# AGENTS.md instructions for /src', 'input_text'), part_of('<environment_context>', 'input_text')),
    said(part_of('<image name=[Image #1]>', 'input_text'), { type: 'input_image', image_url: 'data:' }, part_of('</image>', 'input_text'), part_of('This is our tower.', 'input_text')),
    said(part_of('# Context from my IDE setup:\n\n## Open tabs:\n- a.c\n\n## My request for Codex:\nWhere is the crane?\n', 'input_text')),
  ])), [['user', 'This is our tower.'], ['user', 'Where is the crane?']]);
});

test('a fork of a Codex session keeps what is its own, and the messages of its parents are kept once', async () => {
  const folder = tempFolder();
  const meta = (id, more = {}) => ['session_meta', { id, source: 'cli', ...more }];
  const said = (text, role = 'user') => ['response_item', { type: 'message', role, content: [part_of(text, role === 'user' ? 'input_text' : 'output_text')] }];
  const own = [said('We deploy with Nomad.'), said('Done.', 'assistant'), said('Go on.'), said('Done.', 'assistant')];
  const forked = [...own.slice(0, 2), said('Go to Lisbon.'), said('Done.', 'assistant'), said('Go on.')];
  const files = { p: [meta('p'), ...own, said('Go home.')], q: [meta('q', { forked_from_id: 'p' }), meta('p'), ...forked],
    r: [meta('r', { forked_from_id: 'q' }), meta('q', { forked_from_id: 'p' }), meta('p'), ...forked, said('Go to Faro.')] };
  const write = (id) => fs.writeFileSync(path.join(folder, `rollout-${id}.jsonl`), files[id].map(([type, payload], i) => // a copy has the time of the fork
    JSON.stringify({ timestamp: `2026-10-0${{ p: 1, q: 2, r: 3 }[id]}T10:00:${String(i).padStart(2, '0')}Z`, type, payload })).join('\n'));
  const kept = [['p', 'We deploy with Nomad.'], ['p', 'Done.'], ['p', 'Go on.'], ['p', 'Done.'], ['p', 'Go home.'], ['q', 'Go to Lisbon.'], ['q', 'Done.'], ['q', 'Go on.'], ['r', 'Go to Faro.']];
  const messages = async (at) => lines((await ok(['export', ...at])).stdout).filter(({ kind }) => kind === 'message').map(({ session, text }) => [session.slice(-1), text]);
  for (const id of 'pqr') write(id);
  const all = ['--data', tempFolder()], each = ['--data', tempFolder()];
  assert.equal((await json(['import', folder, '--dry-run', ...all])).new_messages, kept.length);
  for (const news of [kept.length, 0]) assert.equal((await json(['import', folder, ...all])).new_messages, news);
  for (const id of 'pqrq') await ok(['import', path.join(folder, `rollout-${id}.jsonl`), ...each]);
  for (const at of [all, each]) assert.deepEqual((await messages(at)).sort(), kept.sort());
  files.q.splice(4);
  write('q');
  assert.equal((await json(['import', path.join(folder, 'rollout-q.jsonl'), ...each])).skipped, 2, 'nothing of its own is no mistake');
  files.q.push(...forked.slice(2));
  write('q');
  const alone = ['--data', tempFolder()];
  await ok(['import', path.join(folder, 'rollout-q.jsonl'), ...alone]);
  assert.equal((await messages(alone)).length, 5, 'a fork whose parent is gone has all of it');
});

test('Claude Code: prompts that waited are kept once, and so are all branches', async () => {
  const queue = (operation, content, more = {}) => ({ type: 'queue-operation', operation, content, sessionId: 's', timestamp: '2026-10-01T10:00:02Z', ...more });
  const taken = (uuid, prompt, more = {}) => ({ type: 'attachment', uuid, sessionId: 's', timestamp: '2026-10-01T10:00:03Z', attachment: { type: 'queued_command', prompt, commandMode: 'prompt', ...more } });
  const words = async (...v) => (await texts(transcript([code(1, 'user', 'Deploy it.'), ...v]))).slice(1).map(([role, text]) => (assert.equal(role, 'user'), text));
  const note = '<task-notification>done</task-notification>';
  assert.deepEqual(await words(taken('a', 'I live in Oulu.'), taken('b', [part_of('My boat is red.'), { type: 'image' }]), taken('c', note, { commandMode: 'task-notification' }),
    taken('d', 'From a peer.', { origin: { kind: 'peer' } })), ['I live in Oulu.', 'My boat is red.']);
  assert.deepEqual(await words(queue('enqueue', 'I live in Oulu.'), queue('enqueue', note), queue('enqueue', '/compact')), ['I live in Oulu.'], 'nothing was heard of it again');
  assert.deepEqual(await words(queue('enqueue', 'One.'), queue('dequeue'), code(4, 'user', 'One.')), ['One.'], 'its turn began');
  for (const order of [[1, 2], [2, 1]]) { // the running turn took it
    const lines = [queue('enqueue', 'One.'), queue('remove', 'One.', { reason: 'absorbed_mid_turn' }), taken('a', 'One.')];
    assert.deepEqual(await words(lines[0], ...order.map((i) => lines[i]), code(5, 'user', 'One.')), ['One.', 'One.'], 'the second was typed');
  }
  assert.deepEqual(await words(queue('enqueue', 'One.'), queue('remove', 'One.')), ['One.'], 'as older versions write it');
  assert.equal((await texts(transcript([code(1, 'user', 'Deploy it.'), queue('enqueue', 'One.'), queue('remove', 'One.'), code(3, 'assistant', 'Done.'), code(4, 'user', 'One.')]))).length, 4);
  assert.deepEqual(await words(queue('enqueue', note), queue('enqueue', '/compact'), queue('enqueue', 'One.'), queue('dequeue'), queue('dequeue'), queue('remove', 'One.')), ['One.'], 'a note came first');
  assert.deepEqual(await words(queue('enqueue', '[Pasted text #1]'), queue('dequeue'), code(4, 'user', 'My long text.')), ['My long text.']);
  assert.deepEqual(await words(queue('enqueue', 'One.'), queue('popAll'), code(4, 'user', 'Two.')), ['Two.'], 'it was edited');
  const many = Array.from({ length: 80 }, (_, i) => `Number ${i}.`);
  assert.deepEqual(await words(...many.map((text) => queue('enqueue', text))), many);
  const branch = { parentUuid: 'u1' };
  assert.deepEqual(await words({ ...code(2, 'user', 'Two.'), ...branch }, { ...code(3, 'user', 'Three.'), ...branch }), ['Two.', 'Three.'], 'an edited prompt is another branch');
  // A session that goes on in another file, with its lines copied: an older version, and one that says from where.
  const folder = tempFolder(), at = ['--data', tempFolder()];
  const own = [code(1, 'user', 'We deploy with Nomad.'), code(2, 'user', 'Go on.')];
  const copies = (id, more) => [...own.map((line) => ({ ...line, sessionId: id, ...more(line) })), { ...code(3, 'user', `Of ${id}.`), uuid: id, sessionId: id }];
  const files = { a: copies('a', ({ uuid }) => ({ forkedFrom: { sessionId: 's', messageUuid: uuid } })), s: own, t: copies('t', () => ({})) };
  for (const [id, v] of Object.entries(files)) fs.writeFileSync(path.join(folder, `${id}.jsonl`), v.map((line) => JSON.stringify(line)).join('\n'));
  for (const more of [['--dry-run'], []]) assert.equal((await json(['import', folder, ...more, ...at])).new_messages, 4);
  assert.deepEqual(lines((await ok(['export', ...at])).stdout).filter(({ kind }) => kind === 'message').map(({ session, text }) => [session.slice(-1), text]).sort(),
    [['a', 'Of a.'], ['s', 'Go on.'], ['s', 'We deploy with Nomad.'], ['t', 'Of t.']]);
});

test('a conversation that was erased does not come back with its file, and does not count as new', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'turns.jsonl');
  fs.writeFileSync(file, '{"session":"s","id":"m1","content":"Ada sails","created":"2026-01-01T00:00:00Z"}\n');
  const counts = async (...more) => part(await json(['import', file, ...at, ...more]), ['sessions', 'new_sessions', 'new_messages', 'erased']);
  assert.deepEqual(await counts(), { sessions: 1, new_sessions: 1, new_messages: 1, erased: 0 });
  await ok(['forget', '--session', 's', ...at]);
  for (const more of [['--dry-run'], [], []]) assert.deepEqual(await counts(...more), { sessions: 1, new_sessions: 0, new_messages: 0, erased: 1 });
  assert.deepEqual(await counts('--again'), { sessions: 1, new_sessions: 1, new_messages: 1, erased: 0 });
});

// A conversation of a few messages in each record.
function manyChats(file, n) {
  const chat = (i) => ({ uuid: `c${i}`, name: `Chat ${i}`, created_at: '2026-09-01T10:00:00Z', chat_messages: Array.from({ length: 4 }, (_, k) => (
    { uuid: `c${i}-${k}`, text: `Message ${k} of chat ${i || 'lighthouse'} is about ${'sailing and tea '.repeat(5)}.`, sender: k % 2 ? 'assistant' : 'human', created_at: `2026-09-01T10:00:0${k}Z` })) });
  fs.writeFileSync(file, JSON.stringify(Array.from({ length: n }, (_, i) => chat(i))));
}

test('an import that was killed is run again, and everything is there once', async (t) => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'conversations.json'), all = 20000;
  manyChats(file, all);
  const child = spawn(bin, ['import', file, ...at, '--no-extract'], { env: cleanEnv(), stdio: 'ignore' });
  const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal)));
  t.after(() => child.kill('SIGKILL'));
  const size = () => fs.readdirSync(at[1]).reduce((sum, name) => sum + (fs.statSync(path.join(at[1], name), { throwIfNoEntry: false })?.size ?? 0), 0);
  // It stands still while a busy machine looks what is stored, and goes on where it was stopped with a lock of the file.
  for (let seen = false, written = 0; !seen; ) {
    await until('more of it is written', () => size() > written + 1e6, 60000);
    child.kill('SIGSTOP');
    written = size();
    const look = await run(['search', 'lighthouse', ...at, '--json']);
    seen = look.code === 0 && look.stdout.includes('chat lighthouse');
    if (!seen) child.kill('SIGCONT');
  }
  child.kill('SIGKILL');
  assert.equal(await ended, 'SIGKILL', 'it was killed before it had ended');
  const rest = await json(['import', file, ...at, '--no-extract']);
  assert.ok(rest.new_messages > 0 && rest.new_messages < 4 * all, `${rest.new_messages} were missing`);
  const copy = lines((await ok(['export', ...at])).stdout);
  const ids = (kind) => copy.filter((line) => line.kind === kind).map(({ id }) => id);
  assert.deepEqual([ids('session').length, new Set(ids('message')).size, ids('message').length], [all, 4 * all, 4 * all]);
});

test('a bar is drawn on a terminal, and nowhere else', async () => {
  const file = path.join(tempFolder(), 'conversations.json');
  manyChats(file, 1000);
  const line = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';
  const seen = execFileSync('python3', ['-c', line, bin, 'import', file, '--data', tempFolder()], { env: cleanEnv(), encoding: 'utf8' });
  assert.match(seen, /import +\[=* *\] +\d+ %  \d+\.\d of \d+\.\d MB/);
  const res = await ok(['import', file, '--data', tempFolder()]);
  assert.equal(res.stderr, '');
});

test('what is no known file is refused in words, with what to do', async () => {
  const at = ['--data', tempFolder()], folder = tempFolder();
  const cases = [['a.zip', 'PK\x03\x04rest', /a\.zip: is a zip archive: unpack it/], ['b.gz', Buffer.from([0x1f, 0x8b, 8, 0]), /b\.gz: is compressed: unpack it first/],
    ['c.db', 'SQLite format 3\0', /c\.db: is a database: .*import omniroute FILE/], ['d.json', '{"x":1}', /d\.json: is a file of no known format; --format NAME/]];
  for (const [name, text, words] of cases) {
    fs.writeFileSync(path.join(folder, name), text);
    const res = await run(['import', path.join(folder, name), ...at]);
    assert.equal(res.code, 1);
    assert.match(res.stderr, words);
  }
  const whole = await run(['import', folder, ...at]);
  assert.equal(whole.code, 1);
  assert.match(whole.stderr, /no file in it is of a known format/);
  const other = await run(['import', sample('mem0.json'), '--format', 'claude', ...at]);
  assert.match(other.stderr, /mem0\.json: is not a file of the format claude/);
  assert.equal((await run(['import', sample('mem0.json'), '--format', 'nothing', ...at])).code, 2);
  assert.equal((await run(['import', 'omniroute', 'x', '--dry-run', ...at])).code, 2);
  const forced = await json(['import', sample('list.txt'), '--format', 'markdown', ...at]);
  assert.deepEqual([forced.format, forced.new_memories], ['markdown', 1]);
});

test('an export or import of nothing says so and ends with 1; an empty export is an import of nothing', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'x.jsonl');
  await ok(['add', 'Ada rows', '--space', 'boats', ...at]);
  const refused = async (args, words) => {
    const { code, stdout, stderr } = await run([...args, ...at]);
    assert.deepEqual([code, words.test(stderr)], [1, true], stderr);
    return stdout;
  };
  assert.equal(await refused(['export', '--space', 'boat'], /no space 'boat'/), '');
  for (const more of [[], ['--space', 'default']]) await ok(['export', ...more, ...at]);
  fs.writeFileSync(file, '');
  for (const more of [[], ['--format', 'rememberd']]) await ok(['import', file, ...more, ...at]);
  await refused(['import', file, '--format', 'mem0'], /x\.jsonl: is not a file of the format mem0/);
  for (const text of ['[{"memory":""}]', '{"agents":[],"blocks":[]}', '[{"uuid":"c","chat_messages":[]}]']) {
    fs.writeFileSync(file, text);
    assert.match(await refused(['import', file], /x\.jsonl: nothing in it can be imported/), /^format /);
  }
  execFileSync('mkfifo', [`${file}.pipe`]);
  for (const command of [['import'], ['ingest'], ['import', 'omniroute']]) await refused([...command, `${file}.pipe`], /pipe: is not a file/);
});

test('of several exports in a folder a bad one is named, and the others are read', async () => {
  const at = ['--data', tempFolder()], folder = tempFolder();
  const line = (id, more) => `{"kind":"memory","id":"${id}","content":"Ada ${id}","updated":"2026-01-0${id}T00:00:00Z"${more}}\n`;
  fs.writeFileSync(path.join(folder, '1.jsonl'), line(1, ''));
  fs.writeFileSync(path.join(folder, '2.jsonl'), line(2, '') + line(3, ',"layer":"x"'));
  fs.writeFileSync(path.join(folder, '3.jsonl'), line(4, ''));
  for (const more of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await run(['import', folder, '--json', ...more, ...at]);
    const { new_memories, broken, problems } = JSON.parse(stdout);
    assert.deepEqual([code, new_memories, broken, problems.length], [1, 2, 1, 1]);
    assert.match(problems[0], /^2\.jsonl: layer: .*line 2/);
    assert.match(stderr, /1 file was not imported; all others were read/);
  }
  assert.equal((await listed(at)).length, 2);
  fs.writeFileSync(path.join(folder, '2.jsonl'), line(1, '').replace('01-01', '01-05').replace('Ada 1', 'Ada rows'));
  for (const more of [['--dry-run'], []]) assert.equal((await json(['import', folder, ...more, ...at])).updated, 1);
  assert.ok((await listed(at)).some(({ content }) => content === 'Ada rows'));
});

test('what stands behind code in notes and lists is read as if there were no code', async () => {
  const at = ['--data', tempFolder()], folder = tempFolder(), file = path.join(folder, 'Code.md');
  const code = ['~~~sh\n# no heading\n~~~', '- ```\n  # no heading\n  ```', '````md\n```\n# no heading\n```\n````', '```open', 'Use ```make``` here.'];
  fs.writeFileSync(file, code.map((text, i) => `# Part ${i}\n\n${text}\n`).join('') + '# End\n\nAda rows.\n');
  const { new_memories } = await json(['import', file, ...at]);
  const all = (await listed(at)).map(({ content }) => content.slice(0, 16)).sort();
  assert.deepEqual([new_memories, all], [6, ['Code / End: Ada ', ...code.map((text, i) => `Code / Part ${i}: ${text[0]}`)]]);
  fs.writeFileSync(path.join(folder, 'list.txt'), '~~~\n- Ada skis\n~~~\n- ```\n- Ada sails\n- ```\n');
  assert.equal((await json(['import', path.join(folder, 'list.txt'), ...at])).new_memories, 2);
});

test('a NUL in Markdown is U+FFFD as in JSON, and invalid UTF-8 is refused in an export, too', async () => {
  const at = ['--data', tempFolder()], file = path.join(tempFolder(), 'Boat.md');
  fs.writeFileSync(file, '# Berth\n\nAda sails\0 and rows.\n');
  await ok(['import', file, ...at]);
  assert.deepEqual((await listed(at)).map(({ content }) => content), ['Boat / Berth: Ada sails\uFFFD and rows.']);
  fs.writeFileSync(file, Buffer.concat([Buffer.from('<!-- rememberd {"kind":"memory","id":"a"} -->\n\n\nAda s'), Buffer.from([0xc3])]));
  const { code, stderr } = await run(['import', file, ...at]);
  assert.deepEqual([code, /is not UTF-8 text/.test(stderr)], [1, true], stderr);
});

test('the API reads the same files, one at a time', async (t) => {
  const server = await serve(t);
  const post = (name, query = '') => server.ask('POST', `/v1/memories/import?name=${encodeURIComponent(path.basename(name))}${query}`, fs.readFileSync(sample(name)));
  const files = [['chatgpt/conversations-000.json', 'chatgpt', 2, 4, 1], ['claude/memories.json', 'claude', 0, 3, 0], ['mem0.json', 'mem0', 0, 2, 1], ['openmemory.json', 'openmemory', 0, 2, 1],
    ['letta/new.af', 'letta', 1, 2, 0], ['memory.jsonl', 'mcp-memory', 0, 3, 1], ['claude-code/session.jsonl', 'claude-code', 1, 0, 2], ['rollout.jsonl', 'codex', 1, 0, 1],
    ['notes/Lisbon.md', 'markdown', 0, 4, 0], ['list.txt', 'list', 0, 3, 0], ['turns.jsonl', 'turns', 2, 0, 1]];
  for (const [name, format, sessions, memories, broken] of files) {
    const dry = (await post(name, '&dry_run=true')).json();
    assert.deepEqual([dry.format, dry.sessions, dry.memories, dry.broken, dry.dry_run], [format, sessions, memories, broken, true], name);
    const res = await post(name);
    assert.equal(res.status, 200, res.text);
    const done = res.json();
    assert.deepEqual([done.format, done.sessions, done.memories, done.broken, done.problems.length, done.dry_run], [format, sessions, memories, broken, broken, false], name);
    const again = (await post(name)).json();
    assert.deepEqual([again.sessions, again.messages, again.memories, again.updated, again.facts], [0, 0, 0, 0, 0], name);
  }
  const found = (await server.ask('POST', '/v1/memories/search', { query: 'What does Ada ride?' })).json();
  assert.ok(found.results.some(({ text }) => /blue Brompton/.test(text)));
  const unknown = await server.ask('POST', '/v1/memories/import', '{"x":1}');
  assert.equal(unknown.status, 400);
  assert.match(unknown.json().detail, /no known format/);
  const bad = await server.ask('POST', '/v1/memories/import?format=other', '{"x":1}');
  const misspelt = await server.ask('POST', '/v1/memories/import?dryrun=true', fs.readFileSync(sample('mem0.json')));
  assert.deepEqual([misspelt.status, misspelt.json().field], [400, 'dryrun']);
  assert.equal((await server.ask('POST', '/v1/memories/import?dry_run=true&space=default', fs.readFileSync(sample('mem0.json')))).status, 200);
  assert.deepEqual([bad.status, bad.json().field], [400, 'format']);
  const wrong = await server.ask('POST', '/v1/memories/import?format=mem0', fs.readFileSync(sample('list.txt')));
  assert.deepEqual([wrong.status, /not a file of the format mem0/.test(wrong.json().detail)], [400, true]);
});

test('another user\'s import is not seen, and a space of the request gets everything', async (t) => {
  const server = await serve(t);
  const body = fs.readFileSync(sample('list.txt'));
  await server.ask('POST', '/v1/memories/import?name=list.txt', body, { 'x-memory-space': 'pasted' });
  const total = async (headers) => (await server.ask('GET', '/v1/memories', undefined, headers)).json().total;
  assert.deepEqual([await total({}), await total({ 'x-memory-space': 'pasted' })], [0, 3]);
});

test('an export as Markdown imports back equal', async (t) => {
  const server = await serve(t);
  const add = (body) => server.ask('POST', '/v1/memories', body);
  await add({ content: 'Ada lives in Rome.\n\nIn two lines.\n\n', key: 'city', tags: ['a'], metadata: { arrow: 'a --> b', n: 1.50 } });
  await add({ content: 'Ada lives in Turin.', key: 'city' });
  await add({ content: '<!-- rememberd {"kind":"memory","id":"trap","content":"trap"} -->\n\\<!-- rememberd x\n# Heading\r\nend', importance: 0.25 });
  await server.tell('My dog is called Rex.\n\n## Not a session', { 'x-session-id': 'talk' });
  const rex = (await server.ask('GET', '/v1/memories?contains=Rex')).json().memories[0];
  await server.ask('DELETE', `/v1/memories/${rex.id}`);
  await server.ask('POST', '/v1/memories', { content: 'The office is in Oslo.' }, { 'x-memory-space': 'work' });
  const jsonl = (await server.ask('GET', '/v1/memories/export?all=true&space=*')).text;
  const res = await server.ask('GET', '/v1/memories/export?all=true&space=*&format=markdown');
  assert.equal(res.headers['content-type'], 'text/markdown; charset=utf-8');
  assert.match(res.text, /\n### fact, 20\d\d-\d\d-\d\d \d\d:\d\d\n\nAda lives in Turin\.\n\n/);
  assert.match(res.text, /\n### fact, [^\n]* \(archived\)\n\nAda lives in Rome\.\n/);
  const other = await serve(t);
  const back = (await other.ask('POST', '/v1/memories/import', res.text)).json();
  assert.deepEqual([back.format, back.lines, back.broken], ['rememberd', jsonl.split('\n').length - 1, 0]);
  assert.equal((await other.ask('GET', '/v1/memories/export?all=true&space=*')).text, jsonl);
  const titled = (await other.ask('POST', '/v1/memories/import?name=copy.md', `# My memories\n\n${res.text}`)).json();
  assert.deepEqual([titled.format, titled.memories], ['rememberd', 0], 'a title in front is no note');
  const again = (await other.ask('POST', '/v1/memories/import', res.text)).json();
  assert.deepEqual([again.memories, again.sessions, again.messages, again.bars], [0, 0, 0, 0]);
  const broken = await other.ask('POST', '/v1/memories/import', `${res.text}<!-- rememberd {"kind":"memory"} -->\n\n\nNo id.\n`);
  assert.deepEqual([broken.status, broken.json().field], [400, 'id']);
  assert.match(broken.json().detail, new RegExp(`line ${res.text.split('\n').length}\\b`));
});

test('the command line exports everything of a user, and imports it back', async () => {
  const from = ['--data', tempFolder()], to = ['--data', tempFolder()], folder = tempFolder();
  for (const file of ['chatgpt', 'notes', 'mem0.json']) await ok(['import', sample(file), ...from, '--space', path.parse(file).name]);
  const text = (await ok(['export', ...from])).stdout;
  assert.deepEqual([...new Set(lines(text).map(({ space }) => space))].sort(), ['chatgpt', 'mem0', 'notes']);
  assert.equal((await ok(['export', '-', '--space', 'mem0', ...from])).stdout.split('\n').length, 3);
  const copy = path.join(folder, 'copy.md');
  await ok(['export', copy, '--format', 'markdown', ...from]);
  assert.equal(fs.statSync(copy).mode & 0o777, 0o600);
  const twice = await run(['export', copy, ...from]);
  assert.match(twice.stderr, /File exists/);
  const dry = await json(['import', copy, '--dry-run', ...to]);
  const done = await json(['import', copy, ...to]);
  assert.deepEqual({ ...dry, dry_run: false }, done);
  assert.deepEqual([done.format, done.new_memories, done.new_sessions], ['rememberd', done.memories, 2]);
  assert.equal((await ok(['export', ...to])).stdout, text);
  const one = await json(['import', copy, '--space', 'all', ...to]);
  assert.equal(one.new_memories, done.memories, 'a named space gets everything');
  assert.equal((await run(['export', '--format', 'html', ...from])).code, 2);
});

test('the page of formats, the help and the API name the same formats', async () => {
  const page = fs.readFileSync(path.join(__dirname, '../../docs/reference/import.md'), 'utf8').split('## Formats')[1].split('\n## ')[0];
  const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` \|.*\|$/gm)];
  const named = rows.map(([, name]) => name).sort();
  for (const [row, name] of rows) assert.match(row, /`rememberd import [^`]+`/, `${name} has a command`);
  const schema = JSON.parse((await ok(['--schema'])).stdout);
  const { parameters } = schema.paths['/v1/memories/import'].post;
  assert.deepEqual([...parameters.find(({ name }) => name === 'format').schema.enum].sort(), named);
  const help = (await ok(['import', '--help'])).stdout.replace(/\s+/g, ' ');
  const listed = /Format of the file: (.*?)\. Without/.exec(help)[1].split(/, | or /).sort();
  assert.deepEqual(listed, named);
});
