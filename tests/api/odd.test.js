// odd.test.js - right, faulty and hostile requests in random order at every operation and tool, by people who keep their own memory.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const { test } = require('node:test');
const Ajv = require('ajv/dist/2020').default;
const addFormats = require('ajv-formats').default;
const { run, serve, tempFolder, upstream } = require('./lib.js');
const { Maker, bytesOf, requestOf } = require('./odd_requests.js');

/*
 * A seed repeats a run: REMEMBERD_ODD_SEED and REMEMBERD_ODD_REQUESTS say which and how many. What counts as a fault: no
 * answer in time, a 5xx that names no missing part, JSON that is none, an answer that openapi.json does not describe, an
 * answer with another person's words, and a change by a request that was refused.
 */
const seed = Number(process.env.REMEMBERD_ODD_SEED ?? 20261128), requests = Number(process.env.REMEMBERD_ODD_REQUESTS ?? 900);
const LATE = 10000; // ms

const agent = new http.Agent({ keepAlive: true });

// An answer with its whole text; of a stream of events that has no end, its head.
function ask(server, { method, target, body, headers }) {
  const isEndless = target.startsWith('/v1/events') && method === 'GET';
  return new Promise((done, fail) => {
    const length = body ? { 'content-type': 'application/json', 'content-length': body.length } : {};
    const req = http.request(server.url + target, { method, agent: isEndless ? undefined : agent, headers: { ...length, ...headers } }, (res) => {
      let text = '';
      const end = () => done({ status: res.statusCode, headers: res.headers, text: isEndless && res.statusCode === 200 ? '' : text });
      if (isEndless) setTimeout(() => req.destroy(), 20);
      res.setEncoding('utf8').on('data', (part) => (text += part)).on('close', end);
    });
    req.setTimeout(LATE, () => req.destroy(new Error(`no answer in ${LATE} ms`)));
    req.on('error', (error) => (isEndless ? done({ status: 0, headers: {}, text: '' }) : fail(error))).end(body);
  });
}

// --- who asks, and the ids that they have seen ---

class Person {
  constructor(name, mark, headers) {
    Object.assign(this, { name, mark, headers, ids: ['none'], kinds: {}, cursors: ['x'], turn: 0 });
  }

  keep(kind, id) {
    for (const list of [(this.kinds[kind] ??= []), this.ids]) {
      if (!list.includes(id)) list.push(id);
      if (list.length > 60) list.splice((this.turn = (this.turn + 7) % 50), 1); // old ones stay among the new
    }
  }

  /** Ids and cursors of an answer, by the member that has them; a plain "id" is of the kind of the list around it. */
  learn(value, kind, depth = 0) {
    if (depth > 6 || value === null || typeof value !== 'object') return;
    for (const [name, one] of Object.entries(value)) {
      const named = /^(memory|session|receipt|token|conversation|undo|erasure|source)(_id|Id)?$/.exec(name)?.[1];
      if (typeof one === 'string' && one && one.length < 80) {
        if (named) this.keep({ conversation: 'session', source: 'message' }[named] ?? named, one);
        else if (name === 'id') this.keep(kind, one);
        else if (name === 'next') this.cursors = [...this.cursors.slice(-20), one];
      }
      this.learn(one, /^(memories|results|sessions|messages|receipts|tokens|jobs|erasures)$/.test(name) ? name.replace(/ies$/, 'y').replace(/s$/, '') : kind, depth + 1);
    }
  }

  /** The same person, who also tries ids of another. */
  curious(other) {
    const kinds = [...new Set([...Object.keys(this.kinds), ...Object.keys(other.kinds)])];
    return Object.assign(Object.create(Person.prototype), this, { ids: [...this.ids, ...other.ids], cursors: [...this.cursors, ...other.cursors],
      kinds: Object.fromEntries(kinds.map((k) => [k, [...(this.kinds[k] ?? []).slice(-10), ...(other.kinds[k] ?? [])]])) });
  }
}

const kindOfRoute = (route) => /(session|receipt|token|job|erasure|message)s?\b/.exec(route)?.[1] ?? 'memory';

// --- what is asked ---

// Erasing a user or a token would end the run; settings are left to their own tests.
const isLeftOut = ({ method, route }) => method !== 'GET' && /^\/v1\/(users\/(me\/)?tokens|users\/\{|tokens\/)|settings|memory\/config|sign-in/.test(route);

async function operations(server, api, headers) {
  const listed = await ask(server, { method: 'POST', target: '/mcp?tools=all', headers, body: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}') });
  const tools = JSON.parse(listed.text).result.tools.map((tool) => ({ route: '/mcp?tools=all', method: 'POST', tool,
    operation: { responses: api.paths['/mcp'].post.responses, requestBody: { content: { 'application/json': { schema: tool.inputSchema } } } } }));
  const routes = Object.entries(api.paths).flatMap(([route, methods]) => Object.entries(methods).map(([method, operation]) => ({ route, method: method.toUpperCase(), operation })));
  return [...routes, ...tools].filter((op) => !isLeftOut(op));
}

function made(maker, op, who) {
  const one = requestOf(maker, op, who);
  if (op.tool) one.body = bytesOf({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: op.tool.name, arguments: one.json } });
  return { ...one, headers: { ...one.headers, ...who.headers } };
}

// --- what is wrong with an answer ---

function checker(api) {
  const ajv = addFormats(new Ajv({ strict: false }));
  ajv.addSchema({ $id: 'api', components: api.components });
  const compiled = new Map();
  return (schema, value) => {
    const key = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    if (!compiled.has(key)) compiled.set(key, ajv.compile(JSON.parse(key)));
    const check = compiled.get(key);
    return check(value) ? '' : ajv.errorsText(check.errors);
  };
}

const isRelayed = /^\/v1\/(models|chat\/completions|messages$|messages\/count_tokens|responses)/; // the answer is the model server's
const mayBeMissing = /is not served by|Qdrant is not used|backup_dir|no upstream with Ollama|memory_disabled|LLM_SERVICE_ERROR/;

function parsed(text, type) {
  const lines = type === 'application/x-ndjson' ? text.split('\n').filter(Boolean) : type === 'text/event-stream' ? text.split('\n').filter((l) => /^data: *[^ [D]/.test(l)).map((l) => l.slice(5)) : [text];
  return lines.map((line) => JSON.parse(line))[0];
}

function complaint(check, { operation, tool, route }, res) {
  const type = (res.headers['content-type'] ?? '').split(';')[0];
  if (res.status >= 500 && !mayBeMissing.test(res.text)) return `status ${res.status}`;
  if (res.status < 400 && !operation.responses[res.status]) return `status ${res.status} is not described`;
  if (!res.text) return '';
  const content = (operation.responses[res.status] ?? operation.responses.default).content?.[type] ?? operation.responses[res.status]?.content?.['*/*'];
  if (!content) return `${type} is not described for ${res.status}`;
  if (!/json|event-stream/.test(type)) return '';
  let body;
  try {
    body = parsed(res.text, type);
  } catch {
    return 'it is not JSON';
  }
  if (tool && body.result && !body.result.isError && tool.outputSchema) return check(tool.outputSchema, body.result.structuredContent);
  return type === 'text/event-stream' || content.schema.type === 'string' || (isRelayed.test(route) && res.status < 400) ? '' : check(content.schema, body);
}

/** All that a person has, without what reading it changes. */
async function holds(server, who) {
  const { status, text } = await ask(server, { method: 'GET', target: '/v1/memories/export?all=true&space=*', headers: who.headers });
  assert.equal(status, 200, text);
  return text.replace(/"(uses|last_used|exported)":[^,}]*/g, '');
}

test('odd requests in random order do no harm, and every answer is one that is described', { timeout: 600000 }, async (t) => {
  const data = tempFolder(), model = await upstream(t);
  const token = JSON.parse((await run(['token', 'create', '--json', '--data', data, '--admin'])).stdout).token;
  const server = await serve(t, { data, flags: ['--upstream', model.url, '--upstream', `messages=${model.url}`] });
  const root = new Person('root', 'wombatroot', { authorization: `Bearer ${token}` }), people = [root];
  for (const [name, mark] of [['ann', 'zanzibarann'], ['bob', 'quokkabob']]) {
    const res = await server.ask('POST', '/v1/users', { id: `${name === 'ann' ? 1 : 2}0000000-0000-4000-8000-000000000000`, email: `${name}@example.com`, first_name: name }, root.headers);
    assert.equal(res.status, 201, res.text);
    people.push(new Person(name, mark, { authorization: `Bearer ${res.json().access_token}` }));
  }
  const api = (await server.ask('GET', '/openapi.json')).json(), check = checker(api), maker = new Maker(api, seed);
  const all = await operations(server, api, root.headers), faults = new Map();
  for (let i = 0; i < requests; i++) {
    const op = maker.pick(all), who = maker.pick(people), other = people.find((p) => p !== who && p !== root);
    const sent = made(maker, op, maker.chance(0.2) ? who.curious(other) : who);
    const before = sent.method !== 'GET' && maker.chance(0.05) && (await holds(server, who));
    const res = await ask(server, sent);
    const note = (why) => faults.set(`${op.method} ${op.route} ${op.tool?.name ?? ''}: ${why}`, `${i}: ${who.name} ${sent.target} ${sent.body?.toString().slice(0, 300)} -> ${res.status} ${res.text.slice(0, 300)}`);
    const why = complaint(check, op, res);
    if (why) note(why);
    if (who !== root && res.text.includes(other.mark) && !`${sent.target}${sent.body}`.includes(other.mark)) note("another's words");
    if (before && res.status >= 400 && res.status < 500 && (await holds(server, who)) !== before) note('refused, and something has changed');
    if (/[/+]json/.test(res.headers['content-type'] ?? '') && !why && res.text) who.learn(JSON.parse(res.text), kindOfRoute(op.route));
    if (res.headers['x-rememberd-receipt']) who.keep('receipt', res.headers['x-rememberd-receipt']);
  }
  t.diagnostic(`${requests} requests to ${all.length} operations and tools, seed ${seed}`);
  assert.deepEqual([...faults].map(([what, example]) => `${what}\n    ${example}`), []);
  assert.equal((await server.ask('GET', '/health')).status, 200);
});
