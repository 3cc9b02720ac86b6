// soak.js - memory, descriptors and bytes on the disk of a server under full load, while what it holds stays the same.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');

const MINUTES = Number(process.env.MINUTES ?? 30), CLIENTS = 8, CONVERSATIONS = 10, TURNS = 4, EVERY_MS = 2000;
const bin = path.resolve(process.argv[2], 'rememberd');
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'rememberd-bench-'));
const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });
const things = ['bicycle', 'garden', 'sister', 'kitchen', 'holiday', 'guitar', 'budget', 'doctor', 'train', 'recipe'];

function ask(url, method, target, space, body) {
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const req = http.request(url + target, { method, agent, headers: { 'x-memory-space': space,
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }) } });
    req.on('error', reject).on('response', (res) => {
      let got = '';
      res.setEncoding('utf8').on('data', (d) => (got += d)).on('end', () =>
        (res.statusCode < 300 ? resolve(got) : reject(new Error(`${method} ${target}: ${res.statusCode} ${got}`))));
    });
    req.end(text);
  });
}

// One conversation: what a client sends each time is the whole of it.
async function talk(url, space, no) {
  const messages = [{ role: 'system', content: `You help with task ${no}.` }];
  for (let turn = 0; turn < TURNS; turn++) {
    const thing = things[(no + turn) % things.length];
    messages.push({ role: 'user', content: turn % 2 ? `What did I say about my ${thing}?` :
      `My ${thing} number ${no * TURNS + turn} needs attention on the ${1 + (no % 28)}th, remember that.` });
    const got = await ask(url, 'POST', '/v1/chat/completions', space, { model: 'rememberd/demo', messages, stream: false });
    messages.push({ role: 'assistant', content: JSON.parse(got).choices[0].message.content });
  }
}

// A client fills its space and erases it, again and again.
async function live(url, name, state) {
  for (let no = 0; Date.now() < state.end; ) {
    for (let i = 0; i < CONVERSATIONS && Date.now() < state.end; i++, state.chats += TURNS) await talk(url, name, no++);
    await ask(url, 'GET', '/v1/memories?limit=20', name);
    const { erased } = JSON.parse(await ask(url, 'DELETE', `/v1/spaces/${name}`, name));
    if (!erased && Date.now() < state.end) throw new Error(`nothing was erased in ${name}, so the data grows`);
  }
}

function look(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  // A file may be renamed meanwhile.
  const disk = fs.readdirSync(data).reduce((n, file) => n + (fs.statSync(path.join(data, file), { throwIfNoEntry: false })?.size ?? 0), 0);
  return { rss: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024, fds: fs.readdirSync(`/proc/${pid}/fd`).length, disk: disk / (1 << 20) };
}

const median = (v) => [...v].sort((a, b) => a - b)[v.length >> 1];

function showMoment(seen, at) {
  const { rss, fds, disk } = seen[Math.min(seen.length - 1, Math.round(at * (seen.length - 1)))];
  console.log(`after ${(at * MINUTES).toFixed(0).padStart(3)} minutes: ${rss.toFixed(1)} MiB, ${fds} descriptors, ${disk.toFixed(1)} MiB on the disk`);
}

// The first tenth of the time warms up; then the first third is compared with the last one.
function report(seen, chats) {
  for (let i = 0; i <= 3; i++) showMoment(seen, i / 3);
  const rest = seen.slice(Math.ceil(seen.length / 10)), third = Math.floor(rest.length / 3);
  console.log(`${CLIENTS} clients, ${MINUTES} minutes, ${chats} chats with memory\n${''.padEnd(22)}first third  last third   most`);
  for (const [key, name] of [['rss', 'resident memory, MiB'], ['fds', 'descriptors'], ['disk', 'on the disk, MiB']]) {
    const values = rest.map((one) => one[key]);
    const row = [median(values.slice(0, third)), median(values.slice(-third)), Math.max(...values)];
    console.log(name.padEnd(22) + row.map((v) => v.toFixed(1).padStart(11)).join(' '));
  }
}

async function main(url, pid) {
  const state = { end: Date.now() + MINUTES * 60000, chats: 0 }, seen = [];
  const watch = setInterval(() => seen.push(look(pid)), EVERY_MS);
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => live(url, `soak-${i}`, state)));
  clearInterval(watch);
  report(seen, state.chats);
}

const server = spawn(bin, ['serve', '--listen', '127.0.0.1:0', '--data', data, '--log-level', 'warn'],
  { env: { ...process.env, REMEMBERD_CONFIG: '' }, stdio: ['ignore', 'pipe', 'inherit'] });
let out = '';
server.stdout.setEncoding('utf8').on('data', (text) => {
  const had = out;
  out += text;
  const line = /^listening on (http:\S+)\n/;
  if (line.test(had) || !line.test(out)) return;
  main(line.exec(out)[1], server.pid).catch((error) => { console.error(error); process.exitCode = 1; }).finally(() => server.kill());
});
server.on('exit', () => { fs.rmSync(data, { recursive: true, force: true }); agent.destroy(); });
