// What was erased stays erased when an older backup or export comes back, unless somebody says so.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { answer, bin, cleanEnv, serve, tempFolder, until, upstream } = require('./lib');

const run = (data, ...args) => execFileSync(bin, [...args, '--data', data], { env: cleanEnv(data), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const said = ['My dentist is called Millerberg', 'My sister Ottilie lives in Porto', 'My passport is in the blue drawer'];
const contents = async (server, more = '') =>
  (await server.ask('GET', `/v1/memories?limit=100${more}`)).json().memories.map((m) => m.content).sort();
const log = (data) => path.join(data, 'rememberd.erasures');

async function add(server, content, headers) {
  const res = await server.ask('POST', '/v1/memories', { content }, headers);
  assert.equal(res.status, 201, res.text);
  return res.json().id;
}

async function erase(server, id, headers) {
  const res = await server.ask('DELETE', `/v1/memories/${id}`, undefined, headers);
  assert.equal(res.status, 200, res.text);
  return res.json();
}

// Three memories, a backup and an export of them, and then two are erased. The server is stopped.
async function erasedSince(t) {
  const server = await serve(t);
  const { data } = server;
  const ids = [];
  for (const text of said) ids.push(await add(server, text));
  const backup = path.join(tempFolder(), 'old.db'), copy = path.join(tempFolder(), 'old.jsonl');
  run(data, 'backup', backup);
  fs.writeFileSync(copy, (await server.ask('GET', '/v1/memories/export?all=true')).text);
  for (const id of ids.slice(0, 2)) await erase(server, id);
  await server.stop();
  return { data, ids, backup, copy };
}

test('restoring an older backup erases again what was erased since, and says how many', async (t) => {
  const { data, backup } = await erasedSince(t);
  const out = JSON.parse(run(data, 'restore', backup, '--force', '--json'));
  assert.equal(out.erased_again, 2);
  const server = await serve(t, { data });
  assert.deepEqual(await contents(server), said.slice(2));
  const preview = await server.ask('POST', '/v1/preview', { question: 'who is my dentist, where does my sister live, and where is my passport?' });
  assert.match(preview.json().block, /drawer/);
  assert.doesNotMatch(preview.text, /Millerberg|Porto/);
  await server.stop();
  // A second time changes nothing, and a file that was put in the place by hand is no way round.
  run(data, 'restore', backup, '--force');
  fs.rmSync(path.join(data, 'rememberd.db'));
  fs.copyFileSync(backup, path.join(data, 'rememberd.db'));
  assert.throws(() => run(data, 'list')); // a history that lacks acknowledged writes
  run(data, 'doctor', '--accept-loss');
  assert.match(run(data, 'list'), /^\S+ .*drawer\n1 of 1/);
});

test('a backup that has the log keeps it elsewhere, and with --again everything comes back', async (t) => {
  const { data, backup, copy } = await erasedSince(t);
  const newer = path.join(tempFolder(), 'new.db'), other = tempFolder();
  run(data, 'backup', newer);
  run(other, 'restore', newer);
  assert.equal(JSON.parse(run(other, 'import', copy, '--json')).erased, 2);
  assert.match(run(other, 'list'), /1 of 1/);
  run(data, 'restore', backup, '--force', '--again');
  assert.match(run(data, 'list'), /3 of 3/);
  run(data, 'restore', backup, '--force');
  assert.match(run(data, 'list'), /3 of 3/, 'what was brought back on purpose stays');
});

test('importing an older export leaves out what was erased, under other ids as well', async (t) => {
  const { data, copy } = await erasedSince(t);
  const server = await serve(t, { data });
  const import_ = async (text, query = '') => (await server.ask('POST', `/v1/memories/import${query}`, text,
    { 'content-type': 'application/x-ndjson' })).json();
  const old = fs.readFileSync(copy, 'utf8');
  const renamed = old.split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter((line) => line.kind === 'memory')
    .map((line, i) => JSON.stringify({ ...line, id: `other-${i}`, content: `  ${line.content.toUpperCase()}. ` })).join('\n');
  assert.equal((await import_(old, '?dry_run=true')).erased, 2);
  assert.equal((await import_(old)).erased, 2);
  assert.equal((await import_(renamed)).erased, 2);
  assert.ok(!(await contents(server)).some((text) => /millerberg|porto/i.test(text)));
  const list = path.join(tempFolder(), 'list.txt');
  fs.writeFileSync(list, said.map((text) => `- ${text}\n`).join(''));
  await server.stop();
  assert.equal(JSON.parse(run(data, 'import', list, '--format', 'list', '--json')).erased, 2);
  assert.equal(JSON.parse(run(data, 'import', copy, '--again', '--json')).erased, 0);
  assert.match(run(data, 'list', '--json'), /Millerberg.*|Porto/);
  assert.equal(JSON.parse(run(data, 'import', copy, '--json')).erased, 0, 'it counts as erased no more');
});

test('stating it anew is not refused, and survives', async (t) => {
  const { data, copy, backup } = await erasedSince(t);
  let server = await serve(t, { data });
  await add(server, said[0]);
  await server.stop();
  const newer = path.join(tempFolder(), 'new.db');
  run(data, 'backup', newer);
  run(data, 'restore', newer, '--force');
  assert.match(run(data, 'list'), /Millerberg/);
  run(data, 'import', copy);
  assert.match(run(data, 'list'), /2 of 2/);
  run(data, 'restore', backup, '--force');
  server = await serve(t, { data });
  assert.deepEqual(await contents(server), said.slice(2));
});

test('conversations, spaces, users and what a chat was told to forget stay erased', async (t) => {
  const server = await serve(t);
  const { data } = server;
  await server.tell('My brother Quentin plays the bassoon.');
  const session = (await server.ask('GET', '/v1/sessions')).json().sessions[0].id;
  const space = { 'x-memory-space': 'work' };
  await add(server, 'The vault code is kept by Ludmilla', space);
  run(data, 'add', 'Zenobia owns a parrot', '--user', 'zoe');
  const backup = path.join(tempFolder(), 'old.db');
  run(data, 'backup', backup);
  assert.equal((await server.ask('DELETE', `/v1/sessions/${session}`)).status, 204);
  await server.stop();
  run(data, 'forget', '--everything', '--space', 'work', '--yes');
  run(data, 'user', 'forget', 'zoe', '--yes');
  const bytes = fs.statSync(log(data)).size;
  run(data, 'restore', backup, '--force');
  const again = await serve(t, { data });
  for (const headers of [{}, space])
    assert.doesNotMatch((await again.ask('GET', '/v1/memories/export?all=true', undefined, headers)).text, /"kind":"message"|Ludmilla/);
  assert.equal((await again.ask('GET', '/v1/sessions')).json().sessions.length, 0);
  await again.stop();
  assert.match(run(data, 'list', '--user', 'zoe'), /0 of 0/);
  assert.ok(bytes < 6000, `${bytes} bytes`);
});

test('what was distilled from a statement that was erased since does not come back with a backup', async (t) => {
  let server = await serve(t);
  const { data } = server, backup = path.join(tempFolder(), 'old.db'), copy = path.join(tempFolder(), 'old.jsonl');
  await server.tell('My parrot is called Quito. It is green.', { 'x-session-id': 'birds' });
  await server.tell('What colour is my parrot called Quito?', { 'x-session-id': 'asked' });
  for (const content of ['The user told of Quito, a green parrot.', 'They talked of boats.'])
    assert.equal((await server.ask('POST', '/v1/memories', { content, layer: 'episode', session: content.includes('Quito') ? 'birds' : 'boats' })).status, 201);
  const left = async () => ({ memories: await contents(server, '&closed=true'), receipts: (await server.ask('GET', '/v1/receipts')).json().items.map((one) => one.session),
    titles: (await server.ask('GET', '/v1/sessions')).json().sessions.map((one) => one.title).sort() });
  run(data, 'backup', backup);
  fs.writeFileSync(copy, (await server.ask('GET', '/v1/memories/export?all=true')).text);
  const fact = (await server.ask('GET', '/v1/memories?layer=fact&contains=Quito')).json().memories[0];
  await erase(server, fact.id);
  const erased = await left();
  assert.deepEqual([erased.memories, erased.receipts], [['They talked of boats.'], ['birds']]);
  run(data, 'import', copy);
  assert.deepEqual(await left(), erased);
  await server.stop();
  run(data, 'restore', backup, '--force');
  server = await serve(t, { data });
  assert.deepEqual(await left(), { ...erased, titles: [null, null] });
});

test('of a summary that was erased with one of its memories, the others stay', async (t) => {
  let server = await serve(t);
  const { data } = server, backup = path.join(tempFolder(), 'old.db'), copy = path.join(tempFolder(), 'old.jsonl'), created = new Date(Date.now() - 40 * 86400000).toISOString();
  const lines = ['I moved to Ghent in May. My flat is on the third floor.', 'My flat is on the third floor. It has a balcony.', 'I moved to Ghent in May.']
    .map((content, i) => ({ kind: 'memory', id: `a3f1c2d4-0000-4000-8000-00000000000${i}`, content, created, updated: created }));
  await server.ask('POST', '/v1/memories/import', lines.map((line) => JSON.stringify(line)).join('\n'), { 'content-type': 'application/x-ndjson' });
  assert.equal((await server.ask('POST', '/api/memory/summarize', {})).json().deletedCount, 3);
  run(data, 'backup', backup);
  fs.writeFileSync(copy, JSON.stringify(lines[0]));
  await erase(server, lines[0].id);
  assert.deepEqual(await contents(server), [lines[2].content, lines[1].content]);
  for (const returns of [false, true]) { // and so does the first one where it was imported again since
    if (returns) run(data, 'import', copy, '--again');
    const [open, all] = [await contents(server), await contents(server, '&closed=true')];
    assert.deepEqual([open.length, all], [2 + returns, open]);
    await server.stop();
    run(data, 'restore', backup, '--force');
    server = await serve(t, { data });
    assert.deepEqual([await contents(server), await contents(server, '&closed=true')], [open, all]);
  }
});

test('a session that waited to be distilled without an erased statement waits again in an older backup', async (t) => {
  const distilled = JSON.stringify({ episode: { summary: 'They talked of Quito.', topics: [], decisions: [], action_items: [], salience: 0.7 } });
  const model = await upstream(t, async (req, res, asked) => answer(res, asked, asked.json.model === 'core' ? distilled : 'I see.'));
  let server = await serve(t, { flags: ['--upstream', model.url, '--core-model', 'core'] });
  const { data } = server, backup = path.join(tempFolder(), 'old.db');
  const layer = async (name) => (await server.ask('GET', `/v1/memories?layer=${name}`)).json().memories;
  const waiting = async () => (await server.ask('GET', '/memory/status')).json().pending.sessions;
  await server.tell(`My parrot is called Quito. We moved the sofa to the attic, ${'and there is a lot to be said about it, '.repeat(3)}`);
  const [fact] = await layer('fact');
  await server.ask('POST', '/v1/jobs', { kind: 'distil' });
  await until('it is distilled', async () => (await layer('episode')).length === 1);
  await server.stop();
  run(data, 'backup', backup);
  for (const restores of [false, true]) { // without the core model it goes on waiting
    if (restores) run(data, 'restore', backup, '--force');
    server = await serve(t, { data });
    assert.equal(await waiting(), 0 + restores);
    if (!restores) await erase(server, fact.id);
    assert.deepEqual([await layer('episode'), await waiting()], [[], 1]);
    await server.stop();
  }
});

test('a title of what is suppressed in its own space does not come with an import', async (t) => {
  const server = await serve(t), work = { 'x-memory-space': 'work' };
  await server.tell('My parrot is called Quito.');
  await erase(server, (await server.ask('GET', '/v1/memories?layer=fact')).json().memories[0].id);
  const titles = { default: 'My parrot is called Quito. We moved the sofa to the attic.', work: 'My parrot is called Quito' };
  const lines = Object.entries(titles).flatMap(([space, title]) => [{ kind: 'session', id: `${space}-1`, space, title },
    { kind: 'message', id: `${space}-2`, space, session: `${space}-1`, role: 'user', text: title, origin: 'user' }].map((line) => ({ ...line, created: '2023-05-08T10:00:00.000Z' })));
  const res = await server.ask('POST', '/v1/memories/import', lines.map((line) => JSON.stringify(line)).join('\n'), { 'content-type': 'application/x-ndjson' });
  assert.equal(res.json().sessions, 2, res.text);
  const title = async (id, headers) => (await server.ask('GET', '/v1/sessions', undefined, headers)).json().sessions.find((one) => one.id === id).title;
  assert.deepEqual([await title('default-1'), await title('work-1', work)], [null, titles.work]);
});

test('what an undo brought back is not erased again', async (t) => {
  const server = await serve(t);
  const { data } = server;
  const id = await add(server, said[0]);
  const backup = path.join(tempFolder(), 'old.db');
  run(data, 'backup', backup);
  const res = await server.ask('DELETE', `/v1/memories/${id}?undo=true`);
  const undo = res.json().undo;
  assert.ok(undo, res.text);
  assert.equal((await server.ask('POST', `/v1/undo/${undo.id ?? undo}`)).status, 200);
  await server.stop();
  assert.equal(JSON.parse(run(data, 'restore', backup, '--force', '--json')).erased_again, 0);
  assert.match(run(data, 'list'), /1 of 1/);
});

test('what an erasure for good took from undo cannot be undone in an older backup', async (t) => {
  const server = await serve(t);
  const { data } = server, backup = path.join(tempFolder(), 'old.db');
  const [first, second] = [await add(server, said[0]), await add(server, said[1])];
  const { undo } = await erase(server, `${first}?undo=true`);
  run(data, 'backup', backup);
  await erase(server, second);
  await server.stop();
  run(data, 'restore', backup, '--force');
  const again = await serve(t, { data });
  assert.equal((await again.ask('POST', `/v1/undo/${undo}`)).status, 404);
  assert.deepEqual(await contents(again), []);
});

test('the log has no content, and of an encrypted database no key and no hash of words', async (t) => {
  const { data, backup } = await erasedSince(t);
  assert.doesNotMatch(fs.readFileSync(log(data), 'latin1'), /millerberg|ottilie|porto/i);
  assert.equal(fs.statSync(log(data)).mode & 0o777, 0o600);
  const key = () => JSON.parse(fs.readFileSync(log(data), 'utf8').split('\n')[0]).key;
  const plain = key(), env = { ...cleanEnv(), REMEMBERD_KEY: 'a'.repeat(64) };
  execFileSync(bin, ['encrypt', '--data', data], { env, stdio: 'ignore' });
  execFileSync(bin, ['list', '--data', data], { env, stdio: 'ignore' });
  assert.notEqual(key(), plain);
  assert.equal(JSON.parse(execFileSync(bin, ['restore', backup, '--force', '--json', '--data', data], { env, encoding: 'utf8' })).erased_again, 2);
});

test('a restore knows what was erased although the log of it was lost', async (t) => {
  for (const lose of [(file) => fs.rmSync(file), (file) => fs.truncateSync(file), (file) => fs.truncateSync(file, 100)]) {
    const { data, backup } = await erasedSince(t);
    lose(log(data));
    run(data, 'restore', backup, '--force');
    assert.match(run(data, 'list'), /drawer\n1 of 1/);
  }
});

test('a log behind a link is kept there, and while its place is away nothing is restored', async (t) => {
  const { data, backup } = await erasedSince(t), away = tempFolder(), there = path.join(away, 'erasures');
  fs.renameSync(log(data), there);
  fs.symlinkSync(there, log(data));
  run(data, 'restore', backup, '--force');
  assert.match(run(data, 'list'), /1 of 1/);
  assert.ok(fs.lstatSync(log(data)).isSymbolicLink());
  fs.rmSync(path.join(data, 'rememberd.db'));
  fs.renameSync(there, `${there}.gone`);
  assert.throws(() => execFileSync(bin, ['restore', backup, '--force', '--data', data], { env: cleanEnv(), encoding: 'utf8', stdio: 'pipe' }), /is a link to a file that is missing/);
  assert.deepEqual([fs.existsSync(there), fs.existsSync(path.join(data, 'rememberd.db'))], [false, false]);
  fs.renameSync(`${there}.gone`, there);
  run(data, 'restore', backup, '--force');
  assert.match(run(data, 'list'), /1 of 1/);
  fs.rmSync(there);
  assert.throws(() => run(data, 'doctor'), (e) => /bad +log of erasures: the log of erasures '.*' is a link/.test(e.stdout));
});

test('a restore replaces a database whose first bytes are gone, and says so', async (t) => {
  const { data, backup } = await erasedSince(t);
  for (const encrypts of [false, true]) {
    if (encrypts) for (const command of ['encrypt', 'list']) run(data, command);
    const fd = fs.openSync(path.join(data, 'rememberd.db'), 'r+');
    fs.writeSync(fd, Buffer.alloc(100), 0, 100, 0);
    fs.closeSync(fd);
    assert.throws(() => run(data, 'restore', backup));
    const { status, stderr } = spawnSync(bin, ['restore', backup, '--force', '--data', data], { env: cleanEnv(data), encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /restore\.unread .*is not a rememberd database/);
    assert.equal(fs.readFileSync(path.join(data, 'rememberd.db'), 'latin1').startsWith('SQLite'), !encrypts, 'it keeps its key');
    assert.match(run(data, 'list'), /1 of 1/);
  }
});

test('a damaged log is a reason to refuse a restore', async (t) => {
  const { data, backup } = await erasedSince(t);
  fs.appendFileSync(log(data), 'not a line\n');
  assert.throws(() => execFileSync(bin, ['restore', backup, '--force', '--data', data], { env: cleanEnv(), encoding: 'utf8', stdio: 'pipe' }),
    /damaged in line \d+/);
  assert.match(run(data, 'list'), /1 of 1/);
  assert.throws(() => run(data, 'doctor'), (e) => /bad +log of erasures: .* is damaged in line \d+\n +-> stop the server/.test(e.stdout));
});

test('restoring an older backup gives back neither tokens that were revoked since nor roles that were taken', async (t) => {
  let server = await serve(t);
  const { data } = server, backup = path.join(tempFolder(), 'old.db');
  const make = (...args) => JSON.parse(run(data, 'token', 'create', '--json', ...args));
  const by = (one) => ({ authorization: `Bearer ${one.token}` });
  const me = async (one) => (await server.ask('GET', '/v1/me', undefined, by(one))).json().role ?? 'none';
  const give = (user, role) => server.ask('PUT', `/v1/users/${user}/role`, { role }, by(owner));
  const owner = make('--admin'), stays = make('--user', 'ann'), lost = make('--user', 'ann');
  const parent = make('--admin', '--user', 'pia');
  const people = { olga: 'owner', paul: 'operator', ruth: 'operator', sam: 'owner' }, tokens = {};
  for (const [user, role] of Object.entries(people)) {
    tokens[user] = make('--admin', '--user', user);
    assert.equal((await give(user, role)).status, 200);
  }
  const child = (await server.ask('POST', '/v1/tokens', { user: 'ann' }, by(tokens.sam))).json();
  const made = (await server.ask('POST', '/v1/tokens', { name: 'made' }, by(parent))).json();
  assert.equal(await me(made), 'member');
  run(data, 'backup', backup);
  run(data, 'token', 'revoke', parent.id, '--user', 'pia'); // takes what it made with it
  run(data, 'token', 'revoke', lost.id, '--user', 'ann');
  await give('olga', 'operator'), await give('paul', 'member'), await give('ruth', 'member'), await give('ruth', 'operator');
  await give('sam', 'member'), await give('sam', 'owner'); // what it made is revoked all the same
  await server.stop();
  for (const again of [[], ['--again']]) {
    assert.equal(JSON.parse(run(data, 'restore', backup, '--force', '--json', ...again)).revoked_again, 6);
    server = await serve(t, { data });
    const now = await Promise.all([stays, lost, parent, made, child, tokens.olga, tokens.paul, tokens.ruth, tokens.sam].map(me));
    assert.deepEqual(now, ['member', 'none', 'none', 'none', 'none', 'operator', 'member', 'operator', 'owner']);
    await server.stop();
  }
});

for (const [what, erase] of Object.entries({ space: (server) => server.ask('DELETE', '/v1/spaces/default', undefined, { 'x-memory-user': 'anna' }),
  person: (server) => server.ask('DELETE', '/v1/users/local%2Fanna?confirm=local/anna') }))
  test(`a chat that the model answers while its ${what} is erased is not kept, and the next one is`, async (t) => {
    let go, waits = false;
    const gate = new Promise((done) => (go = done)), anna = { 'x-memory-user': 'anna' };
    const model = await upstream(t, async (req, res, asked) => { if (waits) await gate; answer(res, asked, 'Your parrot is called Quito.'); });
    const server = await serve(t, { flags: ['--upstream', model.url] });
    const say = async (content) => (await server.chat({ model: 'any', messages: [{ role: 'user', content }] }, anna)).headers['x-rememberd-receipt'];
    await server.receipt(await say('My parrot is called Quito.'), anna);
    waits = true;
    const pending = say('What is my parrot called?');
    await until('the model is asked', () => model.asked.length === 2);
    assert.match(JSON.stringify(model.last().json), /Quito/);
    assert.equal((await erase(server)).status, 200);
    go();
    const receipt = await pending;
    const listed = async () => (await server.ask('GET', '/v1/sessions', undefined, anna)).json().sessions;
    assert.deepEqual(await listed(), []);
    assert.equal((await server.ask('GET', `/v1/receipts/${receipt}`, undefined, anna)).status, 404);
    if (what === 'person') assert.deepEqual((await server.ask('GET', '/v1/users?owner=local')).json().items, []);
    await server.receipt(await say('Do you know my parrot?'), anna);
    assert.equal((await listed()).length, 1);
  });

test('what comes in while a user is erased does not bring the user back', async (t) => {
  const model = await upstream(t, async (req, res, asked) => setTimeout(() => answer(res, asked, 'Noted.'), 30 * Math.random()));
  const server = await serve(t, { flags: ['--upstream', model.url, '--token-rate-max', '0', '--wrong-credentials-max', '0'] });
  const as = (token) => ({ authorization: `Bearer ${token}` });
  const owner = as(JSON.parse(run(server.data, 'token', 'create', '--admin', '--json')).token);
  for (let i = 0; i < 8; i++) {
    const user = `anna${i}`, made = (await server.ask('POST', '/v1/tokens', { user, space: 'x' }, owner)).json();
    if (i < 4) await add(server, 'My boat is blue.', as(made.token)); // else the first answers are still being made
    const others = Array.from({ length: 12 }, (_, k) => (k % 2 && i < 4 ? server.ask('POST', '/v1/memories', { content: `I like tea ${k}.` }, as(made.token))
      : server.chat({ model: 'any', messages: [{ role: 'user', content: `I like rain ${k}.` }] }, as(made.token))));
    if (i % 2) await Promise.race(others);
    const gone = await server.ask('DELETE', `/v1/users/${user}?confirm=${user}`, undefined, owner);
    assert.equal(gone.status, 200, gone.text);
    await Promise.all(others);
    const still = await server.ask('GET', `/v1/users/${user}`, undefined, owner);
    assert.equal(still.status, 404, still.text);
  }
});
