// metrics.test.js - names, formats and exemplars of /metrics, what is built on them, and lines of requests in the log.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { chunk, serve, until, upstream } = require('./lib.js');

const ask = (text) => ({ model: 'scripted', messages: [{ role: 'user', content: text }] });
const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const packaging = (name) => fs.readFileSync(path.join(__dirname, '../../packaging', name), 'utf8');

const labelsOf = (text) => Object.fromEntries([...(text ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, v]) => [name, v]));

// Families with their type, help and samples, strictly: what is not of the format fails.
function parsed(text) {
  const families = new Map();
  let family;
  for (const line of text.trimEnd().split('\n')) {
    const [, word, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word === 'HELP') {
      assert.ok(!families.has(name), `${name} comes twice`);
      families.set(name, (family = { name, help: rest, samples: [] }));
    } else if (word === 'TYPE') {
      assert.equal(name, family.name);
      family.type = rest;
    } else if (line !== '# EOF') {
      const sample = /^(\w+?)(\{(?:\w+="[^"]*",?)*\})? (\S+)(?: # (\{[^}]+\}) (\S+) (\S+))?$/.exec(line);
      assert.ok(sample, line);
      const [, name, labels, value, exemplar, took, at] = sample;
      assert.ok(name.startsWith(family.name) && Number.isFinite(Number(value)), line);
      family.samples.push({ name, labels: labelsOf(labels), value: Number(value), ...(exemplar && { exemplar: labelsOf(exemplar), took: Number(took), at: Number(at) }) });
    }
  }
  return families;
}

const open = { accept: 'application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5' };
async function chatted(t, flags = []) {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  assert.equal((await server.chat(ask('My dog is called Rex.'), { traceparent: `00-${trace}-00f067aa0ba902b7-01` })).status, 200);
  await until('the chat is counted', async () => /^rememberd_chat_seconds_count 1$/m.test((await server.ask('GET', '/metrics')).text));
  return server;
}

test('names are in base units, counters end in _total, and each has a help and a type', async (t) => {
  const server = await chatted(t);
  const families = parsed((await server.ask('GET', '/metrics')).text);
  assert.ok(families.size > 40);
  for (const { name, help, type, samples } of families.values()) {
    assert.match(name, /^(rememberd|process)_[a-z]+(_[a-z]+)*$/);
    assert.ok(help && samples.length, name);
    assert.equal(type === 'counter', name.endsWith('_total'), name);
    assert.ok(!/_(ms|us|milliseconds|kb|mb|percent)(_|$)/.test(name), name);
    if (type !== 'histogram') continue;
    assert.match(name, /_(seconds|bytes)$/);
    const series = new Map();
    for (const { name: n, labels: { le, ...rest }, value } of samples) {
      const key = JSON.stringify(rest), one = series.get(key) ?? { buckets: [] };
      if (n.endsWith('_bucket')) one.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
      else one[n.slice(name.length + 1)] = value;
      series.set(key, one);
    }
    for (const { buckets, count, sum } of series.values()) {
      assert.deepEqual(buckets, buckets.toSorted(([a, m], [b, n]) => a - b || m - n), name);
      assert.deepEqual(buckets.at(-1), [Infinity, count]);
      assert.ok(sum >= 0 && (count > 0) === (sum > 0), name);
    }
  }
  const start = families.get('process_start_time_seconds').samples[0].value;
  assert.ok(Math.abs(start - Date.now() / 1000) < 60);
  for (const name of ['process_resident_memory_bytes', 'process_open_fds', 'process_max_fds', 'process_cpu_seconds_total'])
    assert.ok(families.get(name).samples[0].value > 0, name);
  assert.match(families.get('rememberd_build_info').samples[0].labels.version, /^\d+\.\d+\.\d+$/);
});

test('the times of a chat are counted by stage', async (t) => {
  const model = await upstream(t, async (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(chunk({ content: 'fine' }));
    await new Promise((done) => setTimeout(done, 300));
    res.end('data: [DONE]\n\n');
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--log-level', 'info', '--log-requests', 'on'] });
  const began = performance.now();
  await server.chat({ ...ask('Is the tea ready?'), stream: true });
  const [line] = await until('the line of the chat', () => /http\.request .*path="\/v1\/chat\/completions".*/.exec(server.stderr));
  const took = (performance.now() - began) / 1000; // the server ends its clock when all is sent, which may be after it is read
  const time = (name) => Number(new RegExp(` ${name}=(\\d+)`).exec(line)[1]) / 1e6;
  const families = parsed((await server.ask('GET', '/metrics')).text);
  const sum = (name, stage) => families.get(name).samples.find((s) => s.name.endsWith('_sum') && s.labels.stage === stage).value;
  assert.ok(time('us') <= took && sum('rememberd_chat_seconds') <= took);
  assert.ok(time('upstream_us') >= 0.25, line);
  assert.ok(time('first_byte_us') < time('upstream_us'), line);
  assert.ok(time('recall_us') + time('upstream_us') <= time('us'), line);
  for (const [name, stage, field] of [['stage_seconds', 'recall', 'recall_us'], ['stage_seconds', 'upstream', 'upstream_us'], ['stage_seconds', 'keep', 'keep_us'],
    ['first_byte_seconds', undefined, 'first_byte_us'], ['seconds', undefined, 'us']])
    assert.ok(Math.abs(sum(`rememberd_chat_${name}`, stage) - time(field)) < 1e-6, `${field}: log and metrics agree`);
});

test('OpenMetrics is given to those who ask for it, with exemplars', async (t) => {
  const server = await chatted(t);
  const text = await server.ask('GET', '/metrics'), other = await server.ask('GET', '/metrics', undefined, open);
  assert.equal(text.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.ok(!text.text.includes('trace_id') && !text.text.includes('# EOF'));
  assert.equal(other.headers['content-type'], 'application/openmetrics-text; version=1.0.0; charset=utf-8');
  assert.ok(other.text.endsWith('\n# EOF\n'));
  const families = parsed(other.text);
  assert.deepEqual([...families.keys()], [...parsed(text.text).keys()].map((name) => name.replace(/_total$/, '')));
  for (const { name, type, samples } of families.values())
    for (const sample of samples) if (type === 'counter') assert.equal(sample.name, `${name}_total`);
  for (const name of ['rememberd_chat_seconds', 'rememberd_chat_first_byte_seconds', 'rememberd_chat_stage_seconds']) {
    const shown = families.get(name).samples.filter((s) => s.exemplar);
    assert.equal(shown.length, name.includes('stage') ? 3 : 1, name);
    for (const { labels, exemplar, took, at } of shown) {
      assert.deepEqual(exemplar, { trace_id: trace });
      assert.ok(labels.le === '+Inf' || took <= Number(labels.le));
      assert.ok(Math.abs(at - Date.now() / 1000) < 60);
    }
  }
});

// --- what is built on them ---

const words = new Set(['rate', 'increase', 'sum', 'max', 'min', 'avg', 'count', 'by', 'on', 'and', 'or', 'unless', 'absent', 'histogram_quantile', 'group_left', 'group_right',
  'label_values', 'without', 'ignoring', 'clamp_min', 'time']);
const ofPrometheus = { metrics: ['up'], labels: ['job', 'instance'] };

// The metrics of a query, each with the labels that it is asked by, and all labels that the query groups by.
function namesIn(query) {
  const grouped = [...query.matchAll(/\b(?:by|on|group_left|without)\s*\(([^)]*)\)/g)].flatMap(([, list]) => list.split(',').map((one) => one.trim()));
  const rest = query.replace(/\b(?:by|on|group_left|without)\s*\([^)]*\)/g, ' ').replace(/\[[^\]]*\]/g, ' ').replace(/,\s*(version|instance|job)\)$/, ')');
  const metrics = [...rest.matchAll(/\b([a-z_]\w*)\b(?!\s*=|[^{]*\})(\{[^}]*\})?/g)].filter(([, name]) => !words.has(name))
    .map(([, name, by]) => ({ name, by: [...(by ?? '').matchAll(/(\w+)\s*(=~?|!=|!~)\s*"([^"]*)"/g)].map(([, label, how, v]) => ({ label, how, value: v })) }));
  return { metrics, grouped };
}

test('every metric and label of the dashboard and the alert rules exists', async (t) => {
  const server = await chatted(t);
  const samples = [...parsed((await server.ask('GET', '/metrics')).text).values()].flatMap((family) => family.samples);
  const board = JSON.parse(packaging('grafana/rememberd.json')), alerts = packaging('prometheus/alerts.yml');
  const queries = [...board.panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => expr)), ...board.templating.list.map(({ query }) => query.query ?? ''),
    ...[...alerts.matchAll(/^ +expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)/gm)].map(([, block, one]) => block ?? one)].filter(Boolean);
  assert.ok(queries.length > 40 && queries.length - [...alerts.matchAll(/- alert:/g)].length > 30, `${queries.length} queries`);
  const asked = new Set();
  for (const query of queries) {
    const { metrics, grouped } = namesIn(query);
    assert.ok(metrics.length, query);
    const known = new Set(ofPrometheus.labels);
    for (const { name, by } of metrics) {
      asked.add(name);
      const own = samples.filter((sample) => sample.name === name);
      assert.ok(own.length || ofPrometheus.metrics.includes(name), `${name} in ${query}`);
      for (const { labels } of own) for (const label of Object.keys(labels)) known.add(label);
      for (const { label, how, value } of by) {
        assert.ok(known.has(label), `${label} of ${name} in ${query}`);
        if (how === '=' && !ofPrometheus.labels.includes(label)) assert.ok(own.some(({ labels }) => labels[label] === value), `${label}="${value}" of ${name}`);
      }
    }
    for (const label of grouped) assert.ok(known.has(label), `${label} in ${query}`);
  }
  assert.ok(asked.size > 40, `${asked.size} metrics are used`);
  for (const { targets = [], title, type } of board.panels) assert.ok(type === 'row' || (title && targets.length), 'each panel asks something');
});

test('a query of an unknown metric or label would be noticed', () => {
  assert.deepEqual(namesIn('rate(a_total{x="1"}[5m]) / sum by (job, y) (b_c)'),
    { metrics: [{ name: 'a_total', by: [{ label: 'x', how: '=', value: '1' }] }, { name: 'b_c', by: [] }], grouped: ['job', 'y'] });
});

// --- lines of requests ---

test('requests are logged when asked, as text and as JSON with numbers', async (t) => {
  const quiet = await serve(t, { flags: ['--log-level', 'info'] });
  await quiet.ask('GET', '/health?name=Rex');
  await quiet.stop();
  assert.ok(!quiet.stderr.includes('http.request'));
  const server = await chatted(t, ['--log-level', 'info', '--log-requests', 'on', '--log-format', 'json']);
  await server.ask('GET', '/health?name=Rex');
  const lines = await until('both lines', () => {
    const all = server.stderr.split('\n').filter((line) => line.includes('http.request')).map((line) => JSON.parse(line));
    const found = ['/v1/chat/completions', '/health'].map((where) => all.find((line) => line.path === where));
    return found.every(Boolean) && found;
  });
  const [chat, health] = lines;
  assert.match(chat.id, new RegExp(`^${trace}-[0-9a-f]{16}$`));
  assert.deepEqual(Object.keys(chat), ['time', 'level', 'event', 'id', 'method', 'path', 'code', 'status', 'us', 'bytes', 'recall_us', 'upstream_us', 'keep_us', 'first_byte_us']);
  for (const name of ['code', 'us', 'bytes', 'recall_us', 'upstream_us', 'keep_us']) assert.equal(typeof chat[name], 'number', name);
  assert.equal(health.code, 200);
  assert.ok(!('recall_us' in health));
  assert.ok(!server.stderr.includes('Rex'));
});
