// postgres.test.js - the store in PostgreSQL from outside: its schema, its plans, an older dump, and moving there and back.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { bin, cleanEnv, run, serve, tempFolder, until } = require('./lib');

const url = process.env.TEST_STORE; // tests/lib/with_postgres
const only = { skip: !url && 'needs PostgreSQL' };
const schemaOf = (data) => path.basename(data).toLowerCase().replace(/[^a-z0-9]/g, '_');
const psql = (data, sql) => execFileSync('psql', [url, '-qAtXv', 'ON_ERROR_STOP=1'],
  { input: `SET search_path TO "${schemaOf(data)}";\n${sql}`, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] }).trim();
const storeAt = (schema) => `${url}&schema=${schema}`;

async function add(server, content, headers) {
  const res = await server.ask('POST', '/v1/memories', { content }, headers);
  assert.equal(res.status, 201, res.text);
  return res.json().id;
}

const contents = async (server) => (await server.ask('GET', '/v1/memories?limit=100')).json().memories.map((m) => m.content).sort();

// --- the schema ---

test('each table and the columns that need it have a comment', only, async (t) => {
  const { data } = await serve(t);
  assert.equal(psql(data, `SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
    AND relkind = 'r' AND obj_description(oid, 'pg_class') IS NULL`), '');
  assert.ok(Number(psql(data, `SELECT count(*) FROM pg_description WHERE objsubid > 0 AND objoid IN
    (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)`)) >= 20);
});

test('an older schema is brought up while servers run; a newer one is refused in words', only, async (t) => {
  const old = await serve(t), { data } = old;
  await add(old, 'I take my coffee black');
  // As version 1 was: without the folding of single letters.
  psql(data, `UPDATE fact SET value = '1' WHERE name = 'schema'; DELETE FROM fact WHERE name = 'serves'; DROP TABLE tally_note CASCADE; DROP FUNCTION tally_add_up;
    ALTER TABLE pool DROP COLUMN fresh;
    CREATE INDEX memory_used ON memory(pool, last_used, no); CREATE INDEX memory_uses ON memory(pool, uses, no);
    CREATE OR REPLACE FUNCTION holds(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT strpos(lower($1), $2) > 0'`);
  const two = await Promise.all([serve(t, { data }), serve(t, { data })]);
  assert.deepEqual(psql(data, "SELECT name, value FROM fact WHERE name IN ('schema', 'serves') ORDER BY 1").split('\n'), ['schema|4', 'serves|4']);
  await add(old, 'My sister lives in İSTANBUL');
  for (const one of [old, ...two]) {
    assert.equal((await contents(one)).length, 2);
    assert.equal((await one.ask('GET', '/v1/memories?contains=istanbul')).json().memories.length, 1);
  }
  // A newer version that this one may serve, and one that it may not.
  psql(data, "UPDATE fact SET value = '99' WHERE name = 'schema'");
  await (await serve(t, { data })).stop();
  psql(data, "UPDATE fact SET value = '5' WHERE name = 'serves'");
  const refused = await run(['list', '--data', data]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /was written by a newer rememberd \(version 99, this one knows 4\); use the newer one/);
  psql(data, "UPDATE fact SET value = '1' WHERE name = 'serves'");
});

test('a command that only reads or changes makes no schema, as it makes no folder', only, async () => {
  const schema = `empty_${process.pid}`, data = tempFolder(), env = { REMEMBERD_STORE: storeAt(schema) };
  const made = () => psql(data, `SELECT count(*) FROM pg_namespace WHERE nspname = '${schema}'`);
  const file = path.join(tempFolder(), 'memories.jsonl');
  fs.writeFileSync(file, JSON.stringify({ kind: 'memory', id: crypto.randomUUID(), content: 'I like tea' }) + '\n');
  for (const words of [['list'], ['search', 'tea'], ['export'], ['forget', '--everything', '--yes'], ['token', 'list'], ['user', 'list'], ['reindex'], ['consolidate'],
    ['migrate', '--from', storeAt(schema), '--to', `sqlite:${tempFolder()}/new`]]) {
    const refused = await run([...words, ...(words[0] === 'migrate' ? [] : ['--data', data])], { env });
    assert.match(refused.stderr, new RegExp(`nothing of rememberd in the schema '${schema}' of PostgreSQL; name another as schema=NAME`), words.join(' '));
    const folder = await run([...words, '--data', path.join(tempFolder(), 'none')], { env: { REMEMBERD_STORE: '' } });
    if (words[0] !== 'migrate') assert.equal(refused.code, folder.code, words.join(' '));
  }
  const dry = await run(['import', file, '--dry-run', '--data', data], { env });
  assert.equal(dry.code, 0, dry.stderr);
  assert.equal(made(), '0');
  assert.equal((await run(['add', 'I like tea', '--data', data], { env })).code, 0);
  assert.equal(made(), '1');
});

test('what encrypts a file is refused, and says what to encrypt', only, async () => {
  const data = tempFolder();
  for (const words of [['encrypt'], ['decrypt'], ['rekey']]) {
    const refused = await run([...words, '--data', data]);
    assert.equal(refused.code, 1, words[0]);
    assert.match(refused.stderr, /rememberd does not encrypt it; encrypt the disk that PostgreSQL is on, and its dumps/);
  }
  for (const [flags, env] of [[['--key-file', path.join(data, 'key')], {}], [[], { REMEMBERD_KEY: '0'.repeat(64) }]]) {
    const refused = await run(['add', 'I like tea', ...flags, '--data', data], { env });
    assert.match(refused.stderr, /REMEMBERD_KEY, key_file and key_command encrypt a file.*encrypt the disk that PostgreSQL is on/);
  }
});

test('a transaction that changes many memories changes their counters once', only, async (t) => {
  const server = await serve(t), { data } = server;
  const lines = Array.from({ length: 60 }, (_, i) => JSON.stringify({ kind: 'memory', id: crypto.randomUUID(), content: `Shelf ${i} holds jar ${i * 7}` })).join('\n');
  assert.equal((await server.ask('POST', '/v1/memories/import', lines, { 'content-type': 'application/x-ndjson' })).status, 200);
  const changes = `SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables WHERE relid = '%s'::regclass;`;
  const out = psql(data, `BEGIN;
    DO $$DECLARE r record; BEGIN FOR r IN SELECT pool, no FROM memory LIMIT 50 LOOP
      DELETE FROM memory WHERE (pool, no) = (r.pool, r.no); END LOOP; END$$;
    SET CONSTRAINTS ALL IMMEDIATE;
    ${['memory_tally', 'memory_day', 'pool'].map((table) => changes.replace('%s', table)).join('\n')}
    SELECT sum(n) FROM memory_tally; SELECT sum(n) FROM memory_day; SELECT count(*) FROM tally_note;
    SELECT bytes = (SELECT sum(octet_length(content || metadata || tags)) FROM memory) FROM pool; ROLLBACK;`).split('\n');
  for (const n of out.slice(0, 3)) assert.ok(Number(n) >= 1 && Number(n) <= 2, out.join(' '));
  assert.deepEqual(out.slice(3), ['10', '10', '0', 't']);
});

// --- plans ---

// What auto_explain logs: the text of a statement and the lines of its plan.
const plansIn = (log) => log.split(/^(?!\t)/m).filter((entry) => /duration: .* plan:/.test(entry));

// What is read for all pools at a time: by jobs that run beside chats, and which pools a transaction has counted for.
const queues = new Set(['waiting', 'vector_todo', 'mirror']), own = /SELECT pool, bool_or\(n <> 0\) FROM tally_note|SELECT 1 FROM undo WHERE until|SELECT \(SELECT count\(\*\) FROM vector\)/;

// Scans of a table with pools that no condition on the pool leads.
function strayScans(plan, pooled) {
  if (own.test(plan)) return [];
  const lines = plan.split('\n'), stray = [];
  lines.forEach((line, i) => {
    const [, kind, , table] = /(Seq Scan|Index(?: Only)? Scan|Tid Scan)(?: Backward)?(?: using (\S+))? on (\w+)/.exec(line) ?? [];
    if (!kind || !pooled.has(table) || queues.has(table)) return;
    const cond = /Index Cond: (.*)/.exec(lines[i + 1] ?? '')?.[1] ?? '';
    if (!/\bpool = /.test(cond)) stray.push(`${line.trim()} ${cond}`);
  });
  return stray;
}

test('each statement of a chat touches one pool', only, async (t) => {
  const log = process.env.TEST_POSTGRES_LOG, user = 'chat_plans';
  const root = (sql) => execFileSync('psql', [url, '-qAtXc', sql], { encoding: 'utf8' });
  root(`CREATE ROLE ${user} SUPERUSER LOGIN`);
  for (const setting of ["session_preload_libraries = 'auto_explain'", 'auto_explain.log_min_duration = 0', 'auto_explain.log_nested_statements = on',
    'enable_seqscan = off', 'enable_bitmapscan = off']) root(`ALTER ROLE ${user} SET ${setting}`);
  const data = tempFolder(), env = { REMEMBERD_STORE: storeAt(schemaOf(data)).replace('//test@', `//${user}@`) };
  const server = await serve(t, { data, env }), anna = { 'x-memory-user': 'anna' };
  for (const text of ['I take my coffee black', 'My sister Ottilie lives in Porto']) await server.tell(text, anna);
  const begin = fs.statSync(log).size;
  const messages = [{ role: 'user', content: 'Where does my sister live?' }];
  for (let i = 0; i < 3; i++) {
    const res = await server.chat({ model: 'rememberd/demo', messages }, anna);
    assert.equal(res.status, 200);
    messages.push(res.json().choices[0].message, { role: 'user', content: 'And how do I take my coffee?' });
    await server.receipt(res.headers['x-rememberd-receipt'], anna);
  }
  await server.stop();
  const pooled = new Set(psql(data, `SELECT table_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'pool'`).split('\n'));
  const plans = plansIn(fs.readFileSync(log, 'utf8').slice(begin));
  assert.ok(plans.filter((plan) => /on message/.test(plan)).length > 5, `only ${plans.length} plans`);
  assert.deepEqual([...new Set(plans.flatMap((plan) => strayScans(plan, pooled).map((scan) => `${scan} in ${plan.slice(0, 400)}`)))], []);
  // Nor is each session compared with each message.
  const checks = fs.statSync(log).size;
  await run(['doctor', '--data', data], { env });
  const rules = plansIn(fs.readFileSync(log, 'utf8').slice(checks)).filter((plan) => /SELECT 'session /.test(plan));
  assert.equal(rules.length, 3);
  assert.deepEqual(rules.filter((plan) => /(Join Filter|Index Cond): .*doc >= \(\w+\.\w+ << 20\)/.test(plan)), []);
});

test('a schema that was empty is searched by the right index once it is filled, in the same connections', only, async (t) => {
  const server = await serve(t, { flags: ['--encoder', 'off'] }), { data } = server;
  const lines = Array.from({ length: 3000 }, (_, i) => JSON.stringify({ kind: 'memory', id: crypto.randomUUID(), content: `Shelf ${i} holds jar ${i * 7}` })).join('\n');
  assert.equal((await server.ask('POST', '/v1/memories/import', lines, { 'content-type': 'application/x-ndjson' })).status, 200);
  await server.stop(); // what its connections read is counted by then
  const [scans, rows] = psql(data, "SELECT idx_scan, idx_tup_fetch FROM pg_stat_user_tables WHERE relid = 'memory'::regclass").split('|').map(Number);
  assert.ok(scans >= 3000 && rows < 400 * scans, `${rows} rows by ${scans} scans`);
});

test('what one person has erased is read for nobody else, nor all of it for what comes in', only, async (t) => {
  const data = tempFolder(), first = await serve(t, { data });
  const fill = async (server, n) => assert.equal((await server.ask('POST', '/v1/memories/import', Array.from({ length: n }, (_, i) =>
    JSON.stringify({ kind: 'memory', id: crypto.randomUUID(), content: `Shelf ${i} holds jar ${i * 7}` })).join('\n'), { 'content-type': 'application/x-ndjson' })).status, 200);
  await fill(first, 500);
  assert.equal((await first.ask('POST', '/v1/memories/bulk', { filter: { contains: 'Shelf' }, action: 'delete' })).json().changed, 500);
  psql(data, 'ANALYZE');
  await first.stop();
  const count = () => psql(data, `SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relid = 'erasure_hash'::regclass;
    SELECT seq_tup_read FROM pg_stat_user_tables WHERE relid = 'bar'::regclass`).split('\n').map(Number);
  const before = count(), server = await serve(t, { data });
  await fill(server, 100);
  for (let i = 0; i < 10; i++) await server.tell(`My boat ${i} is blue.`, { 'x-memory-user': 'anna' });
  await server.stop();
  const [hashes, bars] = count().map((n, i) => n - before[i]);
  assert.ok(hashes < 5000 && bars < 500, `${hashes} hashes, ${bars} bars`);
});

// --- an older dump ---

test("mem0's calls by id do not ask for each person, of whom there may be thousands", only, async (t) => {
  const data = tempFolder(), count = () => Number(psql(data, "SELECT idx_scan FROM pg_stat_user_tables WHERE relid = 'pool'::regclass"));
  const first = await serve(t, { data });
  for (let i = 0; i < 100; i++) await add(first, 'Rex is a dog.', { 'x-memory-user': `p${i}` });
  const id = await add(first, 'Rex is a dog.', { 'x-memory-user': 'zed' });
  await first.stop(); // its look-ups are counted by then
  const before = count(), server = await serve(t, { data });
  for (let i = 0; i < 20; i++) assert.equal((await server.ask('GET', `/v1/memories/${id}/`)).json().user_id, 'zed');
  await server.stop();
  assert.ok(count() - before < 500, `${count() - before} look-ups`);
});

test('a dump from before an erasure is erased from again, also by a second server, and what was erased since is known to both', only, async (t) => {
  const server = await serve(t), { data } = server, second = tempFolder();
  const ids = [];
  for (const text of ['My dentist is called Millerberg', 'My sister lives in Porto', 'My passport is blue']) ids.push(await add(server, text));
  const dump = execFileSync('pg_dump', ['-n', `"${schemaOf(data)}"`, url.replace(/&.*/, (rest) => rest)], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const other = await serve(t, { data: second, env: { REMEMBERD_STORE: storeAt(schemaOf(data)) } });
  for (const [i, one] of [server, other].entries()) assert.equal((await one.ask('DELETE', `/v1/memories/${ids[i]}`)).status, 200);
  await server.stop();
  await other.stop();
  // The second server erased last, and has both in its folder; the first learns of it when it begins.
  await (await serve(t, { data })).stop();
  const logOf = (folder) => fs.readFileSync(path.join(folder, 'rememberd.erasures'), 'utf8');
  assert.equal(logOf(data), logOf(second));
  assert.equal(logOf(data).match(/"what":"id"/g).length, 2);
  for (const folder of [second, data]) {
    psql(data, `DROP SCHEMA "${schemaOf(data)}" CASCADE`);
    execFileSync('psql', [url, '-qX'], { input: dump, stdio: ['pipe', 'ignore', 'pipe'] });
    const again = await serve(t, { data: folder, env: { REMEMBERD_STORE: storeAt(schemaOf(data)) } });
    assert.deepEqual(await contents(again), ['My passport is blue']);
    await again.stop();
  }
});

test('a large erasure that a killed server had begun is finished by the next one, and one of a living server is left to it', only, async (t) => {
  const server = await serve(t), { data } = server;
  for (const text of ['My dentist is called Millerberg', 'My sister lives in Porto']) await add(server, text);
  const row = (mark) => `INSERT INTO fact(name, value) VALUES('forget:${mark}:x', '${JSON.stringify({ user: 'local', space: 'default', session: '', type: '',
    before: 0, keeps_memories: false, everything: false, all_spaces: false, memories: true, is_upkeep: false, rewrites: false, call: 'c', left: 2 })}')`;
  const living = psql(data, "SELECT classid::bigint << 32 | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 LIMIT 1");
  psql(data, row(living));
  await (await serve(t, { data })).stop();
  assert.equal((await contents(server)).length, 2);
  psql(data, `DELETE FROM fact WHERE name LIKE 'forget:%'; ${row(12345)}`);
  await (await serve(t, { data })).stop();
  assert.equal((await contents(server)).length, 0);
  assert.equal(psql(data, "SELECT count(*) FROM fact WHERE name LIKE 'forget:%'"), '0');
});

// --- moving ---

async function filled(t, users) {
  const data = tempFolder();
  const server = await serve(t, { data, env: { REMEMBERD_STORE: '' } });
  for (let i = 0; i < users; i++) {
    const person = { 'x-memory-user': `user ${i}` };
    const lines = Array.from({ length: 4 }, (_, k) => JSON.stringify({ kind: 'memory', id: `00000000-0000-4000-8000-${String(i * 10 + k).padStart(12, '0')}`,
      content: `Shelf ${k} of user ${i} holds ${'jar '.repeat(k + 1)} é`, tags: ['shelf'], created: new Date(1700000000000 + i).toISOString() })).join('\n');
    const res = await server.ask('POST', '/v1/memories/import', lines, { 'content-type': 'application/x-ndjson', ...person });
    assert.equal(res.status, 200, res.text);
    if (i % 20 === 0) await server.tell(`My sister Ottilie ${i} lives in Porto`, person);
  }
  await server.ask('PUT', '/api/settings/memory', { maxTokens: 777 });
  await server.stop();
  await run(['token', 'create', '--name', 'laptop', '--user', 'user 3', '--data', data], { env: { REMEMBERD_STORE: '' } });
  return data;
}

const exported = async (data, env, users) => {
  const out = [];
  for (let i = 0; i < users; i += 20)
    out.push((await run(['export', '--user', `local/user ${i}`, '--data', data], { env })).stdout);
  return out.join('');
};

test('everything moves to PostgreSQL and back: exports are equal, a killed copy goes on', only, async (t) => {
  const users = Number(process.env.MIGRATE_USERS ?? 200), from = await filled(t, users), back = tempFolder();
  const there = storeAt(`moved_${process.pid}`), file = { REMEMBERD_STORE: '' };
  const before = await exported(from, file, users);
  assert.ok(before.length > users * 50 && /Ottilie/.test(before), before.slice(0, 300), before.slice(0, 600));
  const args = ['migrate', '--from', `sqlite:${from}`, '--to', there, '--json'];
  // A schema whose table of memories takes no more than 600 rows as long as the lock is held: the copy is killed within that table.
  await (await serve(t, { env: { REMEMBERD_STORE: there } })).stop();
  const schema = `moved_${process.pid}`, root = (sql) => execFileSync('psql', [url, '-qAtXc', `SET search_path TO ${schema}; ${sql}`], { encoding: 'utf8' }).trim();
  root(`CREATE FUNCTION hold(bigint) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF $1 = 600 THEN PERFORM pg_advisory_xact_lock(77); END IF; RETURN true; END$$;
    ALTER TABLE memory ADD CONSTRAINT hold CHECK (hold(no))`);
  const holder = spawn('psql', [url, '-qXc', 'SELECT pg_advisory_lock(77), pg_sleep(600)'], { stdio: 'ignore' });
  const waits = "SELECT count(*) FROM pg_locks WHERE objid = 77 AND locktype = 'advisory' AND ";
  await until('the lock is held', () => root(`${waits} granted`) === '1');
  const killed = spawn(bin, args, { env: cleanEnv(), stdio: 'ignore' });
  await until('half of the memories are there', () => root(`${waits} NOT granted`) === '1');
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  root(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE objid = 77 AND locktype = 'advisory'`);
  await until('both are gone', () => root(`SELECT count(*) FROM pg_locks WHERE objid = 77 AND locktype = 'advisory'`) === '0');
  holder.kill();
  root('ALTER TABLE memory DROP CONSTRAINT hold');
  const kept = Number(root('SELECT count(*) FROM memory'));
  assert.ok(kept > 0 && kept < users * 4, String(kept));
  const early = await run(['list', '--data', tempFolder()], { env: { REMEMBERD_STORE: there } });
  assert.match(early.stderr, /is not finished: run the same command again/);
  const moved = await run(args);
  assert.equal(moved.code, 0, moved.stderr);
  const { rows, users: counted, resumed } = JSON.parse(moved.stdout);
  assert.ok(counted >= users && resumed > kept && resumed < rows, moved.stdout);
  assert.equal(await exported(tempFolder(), { REMEMBERD_STORE: there }, users), before);
  assert.equal(root('SELECT count(*) FROM pg_trigger WHERE tgrelid::regclass::text IN (SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace) AND tgenabled <> \'O\''), '0');
  const again = await run(args);
  assert.match(again.stderr, /the target is not empty/);
  const home = await run(['migrate', '--from', there, '--to', `sqlite:${back}`]);
  assert.equal(home.code, 0, home.stderr);
  assert.match(home.stdout, new RegExp(`copied and compared: ${rows} rows of ${counted} users`));
  assert.equal(await exported(back, file, users), before);
  assert.equal((await run(['token', 'list', '--data', back, '--json'], { env: file })).stdout,
    (await run(['token', 'list', '--data', from, '--json'], { env: file })).stdout);
});

test('what migrate refuses: other places, a folder without a database', only, async () => {
  const nowhere = await run(['migrate', '--from', 'mysql://x', '--to', `sqlite:${tempFolder()}`]);
  assert.match(nowhere.stderr, /--from must be sqlite:FOLDER or postgres:/);
  const empty = tempFolder();
  assert.match((await run(['migrate', '--from', `sqlite:${empty}`, '--to', storeAt('never')])).stderr, /--from: there is no database in/);
});
