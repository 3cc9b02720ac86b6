// life.test.js - everyday scenarios and people over PostgreSQL: what is said at one node is found at once at the other.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const cluster = require('./cluster');

const options = { skip: cluster.missing, timeout: 600000 };
const life = path.join(__dirname, '../life');
const nodes = path.join(__dirname, 'nodes');

async function passes(program, args, env = {}) {
  const child = spawn(program, args, { cwd: life, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  const [code] = await once(child, 'close');
  console.log(said.split('\n').filter((line) => !line.startsWith('       ')).slice(-12).join('\n'));
  assert.equal(code, 0, said);
}

const floorsOf = (file) => [...fs.readFileSync(path.join(life, 'floors'), 'utf8').matchAll(new RegExp(`^${file} (\\S+)$`, 'gm'))].flatMap(([, floor]) => ['--floor', floor]);

test('the next question to another node right after the answer finds what was said', options, () =>
  passes('python3', ['life', nodes, 'life-dev.json', 'life-own.json', '--area', 'race', '--serve', '--recall-deadline-ms 10000', '--floor', 'all=100', '--floor', 'whole=100']));

test('people are given what they are given over SQLite', options, () =>
  passes('node', ['people', nodes, 'people.json', '--quiet', ...floorsOf('people')], { NODES: '1' }));
