// chat_cost.js - what a chat costs a server and its PostgreSQL: processor time, log, disk, transactions, connections.
// ./dev bench chat_cost; docs/research/scale.md multiplies it.
'use strict';
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');

const USERS = Number(process.env.USERS ?? 50), TURNS = 20, ROUNDS = 3;
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const url = process.env.TEST_STORE;
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
const things = ['bicycle', 'garden', 'sister', 'kitchen', 'holiday', 'guitar', 'budget', 'doctor', 'train', 'recipe'];
const query = (sql) => execFileSync('psql', ['-X', '-q', '-A', '-t', '-c', sql, url], { encoding: 'utf8' }).trim();

function ask(base, method, target, space, body) {
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const req = http.request(base + target, { method, agent, headers: { 'x-memory-space': space,
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }) } });
    req.on('error', reject).on('response', (res) => {
      let got = '';
      res.setEncoding('utf8').on('data', (d) => (got += d)).on('end', () =>
        (res.statusCode < 300 ? resolve(got) : reject(new Error(`${method} ${target}: ${res.statusCode} ${got}`))));
    });
    req.end(text);
  });
}

// A conversation of which the client sends the whole each time; every second message is a question about an earlier one.
async function talk(base, user, round) {
  const messages = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const thing = things[(user + turn) % things.length];
    messages.push({ role: 'user', content: turn % 2 ? `What did I say about my ${things[(user + turn - 1) % things.length]}?` :
      `My ${thing} number ${round * TURNS + turn} needs attention on the ${1 + (user % 28)}th, and ${things[(user * 3 + turn) % 10]} has to wait until I know more about it.` });
    const got = await ask(base, 'POST', '/v1/chat/completions', `space-${user}`, { model: 'rememberd/demo', messages, stream: false });
    messages.push({ role: 'assistant', content: JSON.parse(got).choices[0].message.content });
  }
}

async function everyone(base, round) {
  const users = Array.from({ length: USERS }, (_, i) => i);
  await Promise.all(Array.from({ length: 8 }, async () => { while (users.length) await talk(base, users.pop(), round); }));
}

const cpu = (pid) => {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(stat[11]) + Number(stat[12])) / TICKS * 1000;
};
// The backends are still there at the end, as the server keeps its connections.
const postgresCpu = () => execFileSync('ps', ['-o', 'pid=', '--ppid', process.env.TEST_POSTGRES_PID], { encoding: 'utf8' })
  .split('\n').filter(Boolean).reduce((sum, pid) => { try { return sum + cpu(pid.trim()); } catch { return sum; } }, 0);

const look = (pid) => {
  const [wal, size, commits, connections] = query(`SELECT pg_current_wal_lsn() - '0/0', pg_database_size(current_database()),
    (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),
    (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rememberd')`).split('|').map(Number);
  return { server: cpu(pid), postgres: postgresCpu(), wal, size, commits, connections };
};

// Kilobytes of each table and its indexes for a chat, of all chats.
const tables = (schema) => query(`SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = '${schema}'::regnamespace ORDER BY 2 DESC LIMIT 8`)
  .split('\n').map((row) => row.split('|')).map(([name, bytes]) => `${name} ${(bytes / 1024 / (USERS * TURNS * (ROUNDS + 1))).toFixed(1)}`).join(', ');

async function measure(encoder) {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'rememberd-bench-'));
  const store = `${url}&schema=bench_${encoder}`;
  const server = spawn(path.resolve(process.argv[2], 'rememberd'), ['serve', '--listen', '127.0.0.1:0', '--data', data, '--store', store, '--encoder', encoder, '--log-level', 'error'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const base = await new Promise((resolve) => server.stdout.on('data', (d) => { const at = /http:\/\/127\.0\.0\.1:\d+/.exec(d); if (at) resolve(at[0]); }));
    await everyone(base, 0); // what is made once
    await new Promise((done) => setTimeout(done, 3000));
    query('CHECKPOINT');
    const before = look(server.pid);
    for (let round = 1; round <= ROUNDS; round++) await everyone(base, round);
    await new Promise((done) => setTimeout(done, 3000)); // vectors and statistics follow
    query('CHECKPOINT');
    const after = look(server.pid), chats = USERS * TURNS * ROUNDS, each = (name) => (after[name] - before[name]) / chats;
    console.log(`encoder ${encoder}: ${chats} chats. Each: server ${each('server').toFixed(2)} ms, PostgreSQL ${each('postgres').toFixed(2)} ms, ` +
      `log ${(each('wal') / 1024).toFixed(1)} KB, disk ${(each('size') / 1024).toFixed(1)} KB, ${each('commits').toFixed(2)} transactions; ${after.connections} connections`);
    console.log(`  KB of it: ${tables(`bench_${encoder}`)}`);
  } finally {
    server.kill();
    await new Promise((done) => server.on('exit', done));
    fs.rmSync(data, { recursive: true });
  }
}

(async () => { for (const encoder of ['off', 'on']) await measure(encoder); })();
