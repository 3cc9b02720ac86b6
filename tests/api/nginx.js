// nginx.js - the real nginx in front of servers, with a configuration that users are shown.
'use strict';
const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const { tempFolder, until } = require('./lib');

const missing = spawnSync('nginx', ['-v']).error ? 'nginx is not installed (package nginx-light)' : false;

const canListen = (port) => new Promise((done) => {
  const probe = net.createServer().once('error', () => done(false)).listen(port, '127.0.0.1', () => probe.close(() => done(true)));
});

// Below those that the system gives away: so a server that is started again finds its own free.
async function freePort() {
  for (;;) {
    const port = 20000 + Math.floor(Math.random() * 12000);
    if (await canListen(port)) return port;
  }
}

const isOpen = (port) => new Promise((done) => {
  const socket = net.connect(port, '127.0.0.1', () => { socket.destroy(); done(true); }).on('error', () => done(false));
});

/** blocks(port): what stands in the block http, with a server on that port. What nginx noted of requests is in log(). */
async function nginx(t, blocks) {
  const folder = tempFolder(), port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  fs.writeFileSync(`${folder}/nginx.conf`, `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events {} http { ${paths}
      log_format nodes '$request_method $uri $status|$upstream_addr|$upstream_status|$upstream_bytes_sent';
      access_log ${folder}/access.log nodes;
      ${blocks(port)} }`);
  const child = spawn('nginx', ['-p', folder, '-c', `${folder}/nginx.conf`], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  const gone = once(child, 'exit');
  t.after(async () => { child.kill('SIGTERM'); await gone; });
  await until('nginx', async () => { assert.equal(child.exitCode, null, said); return isOpen(port); });
  const lines = (name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n').filter(Boolean);
  return { url: `http://127.0.0.1:${port}`, log: () => lines('access.log'), errors: () => lines('error.log') };
}

/** Behind the configuration of packaging/compose, whose nodes listen on these ports. */
function balancer(t, ports) {
  const conf = fs.readFileSync(path.join(__dirname, '../../packaging/compose/nginx.conf'), 'utf8');
  const nodes = ports.reduce((text, port, i) => text.replaceAll(`server node${i + 1}:7077 `, `server 127.0.0.1:${port} `), conf);
  assert.doesNotMatch(nodes, /server node/);
  return nginx(t, (port) => nodes.replace('listen 80;', `listen 127.0.0.1:${port};`));
}

module.exports = { balancer, freePort, missing, nginx };
