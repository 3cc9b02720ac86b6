// compose.js PROGRAM - the compose files: what they name exists, and the program takes its options and variables.
'use strict';
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const yaml = require('js-yaml'); // of @redocly/openapi-core

const program = path.resolve(process.argv[2]);
const folder = path.join(__dirname, '../../packaging/compose');
const other = /^(TZ|PGPASSWORD|OPENAI_API_(BASE_URL|KEY)|ENABLE_OLLAMA_API|POSTGRES_(USER|DB|PASSWORD))$/; // of the C library, of libpq and of the other images
const filled = (text) => String(text).replace(/\$\{\w+:-([^}]*)\}/g, '$1').replace(/\$\{(\w+):\?[^}]+\}/g, (whole, name) => (name === 'UPSTREAM' ? 'http://127.0.0.1:9' : name));

// rememberd reads its command and its variables as it would when it is started.
function settingsOf(name, service) {
  const variables = Object.fromEntries(Object.entries(service.environment ?? {}).map(([key, value]) => [key, filled(value)]));
  const [serve, ...flags] = service.command.map(filled);
  const got = spawnSync(program, [serve, '--print-settings', ...flags], { encoding: 'utf8',
    env: { PATH: process.env.PATH, REMEMBERD_CONFIG: '', ...variables } });
  assert.equal(got.status, 0, `${name}: ${got.stderr}`);
  return Object.fromEntries([...got.stdout.matchAll(/^(\w+) = (\S*)/gm)].map(([, key, value]) => [key, value]));
}

function checkService(name, service, all) {
  assert.ok(service.image, name);
  for (const key of Object.keys(service.environment ?? {})) assert.match(key, new RegExp(`^REMEMBERD_|${other.source}`), name);
  for (const on of Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {})) assert.ok(all.services[on], `${name} needs ${on}`);
  for (const volume of service.volumes ?? []) {
    const [from] = volume.split(':');
    assert.ok(from.startsWith('.') ? fs.existsSync(path.join(folder, from)) : from in all.volumes, `${name}: ${from}`);
  }
}

const seconds = (text) => Number(/^(\d+)s$/.exec(text)[1]);

function checkNodes({ services }) {
  const conf = fs.readFileSync(path.join(folder, 'nginx.conf'), 'utf8');
  const nodes = Object.keys(services).filter((name) => services[name].command?.[0] === 'serve');
  assert.deepEqual([...new Set([...conf.matchAll(/server (\w+):7077 /g)].map(([, name]) => name))], nodes);
  assert.equal(new Set(nodes.flatMap((name) => services[name].volumes)).size, nodes.length, 'each has a folder of its own');
  for (const name of nodes) {
    const s = settingsOf(name, services[name]);
    assert.match(s.listen, /^0\.0\.0\.0:7077$/);
    assert.ok(1000 * seconds(/keepalive_timeout (\d+s);/.exec(conf)[1]) < s.drain_ms);
    assert.ok(1000 * seconds(services[name].stop_grace_period) > Number(s.drain_ms) + Number(s.shutdown_ms));
    assert.match(services[name].build.dockerfile_inline, / libpq5 /);
  }
  assert.match(services.nginx.ports[0], new RegExp(`:${/listen (\d+);/.exec(conf)[1]}$`));
}

const files = fs.readdirSync(folder).filter((name) => name.endsWith('.yaml'));
assert.ok(files.length >= 2);
for (const file of files) {
  const all = yaml.load(fs.readFileSync(path.join(folder, file), 'utf8'));
  for (const [name, service] of Object.entries(all.services)) {
    checkService(`${file}: ${name}`, service, all);
    if (service.command?.[0] === 'serve') settingsOf(`${file}: ${name}`, service);
  }
  if (all.services.nginx) checkNodes(all);
}
