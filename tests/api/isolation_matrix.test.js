// isolation_matrix.test.js - all operations of openapi.json and all MCP tools, by all kinds of callers, with ids that are another's.
'use strict';
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const http = require('node:http');
const { test } = require('node:test');
const { run, serve, storeOf, until } = require('./lib.js');
const { answer, bearer, filled, forwarded, marks, ok, person, request, resolved, routes, state } = require('./isolation_lib.js');

/*
 * A leak is one of three: a marked word in an answer; owner's data that has changed; or an answer to an id of
 * the owner's that differs from the answer to an id that does not exist. MATRIX=all: each operation, caller and kind of id.
 * Without it each operation is tried by a plain person and by one more kind of caller in turn.
 * Over PostgreSQL there are two servers: what is made through the first is asked for through the second.
 */
const isAll = process.env.MATRIX === 'all';

const agent = new http.Agent({ keepAlive: true });

// Like Server.ask, on connections that stay open: a matrix has many requests.
function ask(server, method, target, body, headers) {
  if (target.startsWith('/v1/events')) return answer(server, method, target, body, headers);
  const bytes = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((done, fail) => {
    const req = http.request(server.url + target, { method, agent, headers: {
      ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }), ...headers } }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => done({ status: res.statusCode, headers: res.headers, text })).on('error', fail);
    });
    req.on('error', fail).end(bytes);
  });
}

// --- owners ---

/** What fill() does not write: the other dialects', a file, a hook's and what can be undone. */
async function fillMore(server, p) {
  const word = marks[p.name].red, said = [{ role: 'user', content: `My favourite song is ${word}` }];
  const keep = (kind, id) => (p.ids[kind] ??= []).push(id);
  await ok(server, p, 'POST', '/v3/memories/add/', { messages: said, run_id: `run-${p.name}`, infer: false });
  await ok(server, p, 'POST', '/api/memory', { content: `The garden is ${word}`, key: `garden-${p.name}`, type: 'factual', sessionId: `omni-${p.name}` });
  await ok(server, p, 'POST', '/memory/ingest', { agent_id: 'red', conversation_id: `talk-${p.name}`, turns: [{ user: `I sail to ${word}`, assistant: 'Fine.' }] });
  await ok(server, p, 'POST', '/v1/memory_tool', { command: 'create', path: '/memories/path.md', file_text: `The note says ${word}` });
  await ok(server, p, 'POST', '/v1/hooks', { hook_event_name: 'UserPromptSubmit', session_id: `hook-${p.name}`, prompt: `The boat is ${word}` });
  for (const id of [`run-${p.name}`, `omni-${p.name}`, `talk-${p.name}`, `hook-${p.name}`]) keep('session name', id);
  const gone = await ok(server, p, 'POST', '/v1/memories', { content: `It was ${word}` });
  const erased = await ok(server, p, 'POST', '/v1/memories/bulk', { action: 'delete', ids: [gone.id], undo: true });
  keep('undo', erased.undo?.id ?? erased.undo);
  keep('prefix', p.ids.memory[0].slice(0, 8));
  await server.ask('GET', '/v1/memories?limit=1', undefined, bearer(p));
  return p;
}

/** All that the owner has, as one file and as every list shows it. What its own bound token writes stays in that token's space.
 * Not the jobs that have ended: the server keeps the last hundred of all users. */
async function everything(server, p, bound) {
  const file = await server.ask('GET', '/v1/memories/export?all=true&space=*', undefined, bearer(p));
  assert.equal(file.status, 200, file.text);
  assert.ok(file.text.includes(marks[p.name].red) && file.text.includes(marks[p.name].blue));
  const lines = file.text.split('\n').filter((line) => !bound || !line.includes(`"space":"${bound}"`)).join('\n').replace(/"(uses|last_used)":[^,}]*/g, '');
  return bound ? lines : `${lines}\n${await state(server, p, ['/v1/jobs'])}`;
}

/** An owner of the same shape who does not exist. */
function nobodyLike(p) {
  const id = p.as ? `local/${'n'.repeat(p.name.length)}` : crypto.randomUUID(), name = 'n'.repeat(p.name.length);
  return { name, id, email: `${name}@example.com`,
    ids: Object.fromEntries(Object.entries(p.ids).map(([kind, list]) => [kind, list.map((one) => stranger(one, p.name))])) };
}

// The same length and form, so that an answer differs by what is known, not by what is asked.
const stranger = (id, name) => (/^\w+-[a-z]+$/.test(id) ? id.replace(name, 'n'.repeat(name.length))
  : id.replace(/[0-9a-f](?=[0-9a-f]*($|-))/g, () => crypto.randomInt(16).toString(16)));

// --- callers ---

/** Somebody without the owner's names of spaces: of two names that are asked for, neither exists. */
async function newcomer(server, name) {
  const made = await server.ask('POST', '/v1/users', { id: crypto.randomUUID(), email: `${name}@example.com`, token_name: 'first' });
  assert.equal(made.status, 201, made.text);
  return { name, token: made.json().access_token };
}

async function command(server, ...args) {
  const made = await run(['token', 'create', '--json', '--data', server.data, ...args]);
  assert.equal(made.code, 0, made.stderr);
  return JSON.parse(made.stdout).token;
}

/** [name, headers, what it may do that is no leak]. Commands are run beside the first server. */
async function callers(first, server, ann, bob) {
  const mint = async (who, body) => (await ok(server, who, 'POST', '/v1/tokens', body));
  const scoped = (scopes) => mint(bob, { scopes }).then((made) => made.token);
  const operator = await command(first, '--admin', '--name', 'operator');
  const parent = await mint(bob, {}), orphan = await mint({ token: parent.token }, {}), soon = await mint(bob, { expires: new Date(Date.now() + 1000).toISOString() });
  await ok(server, { token: operator }, 'DELETE', `/v1/tokens/${parent.id}`);
  await until('a token expires', async () => (await server.ask('GET', '/v1/me', undefined, bearer(soon))).status === 401);
  const again = await ok(server, bob, 'POST', '/v1/users/me/tokens', { name: 'again' });
  const runs = await command(first, '--admin', '--user', 'olga');
  await ok(server, { token: operator }, 'PUT', '/v1/users/olga/role', { role: 'operator' });
  const key = await command(first, '--space', 'default', '--acts-for', 'any');
  const signedIn = await server.ask('POST', '/v1/sign-in', { token: bob.token }, { origin: server.url });
  assert.equal(signedIn.status, 200, signedIn.text);
  const [cookie] = signedIn.headers['set-cookie'][0].split(';');
  const as = (token, more = {}) => ({ authorization: `Bearer ${token}`, ...more });
  return [
    ['plain person', as(bob.token)],
    ['no credential', {}, { is401: true }],
    ['wrong token', as('rk_wrong'), { is401: true }],
    ['revoked token', as(parent.token), { is401: true }],
    ['child of a revoked token', as(orphan.token), { is401: true }],
    ['expired token', as(soon.token), { is401: true }],
    ['owner of the server', as(operator), { isOperator: true }],
    ['operator by role', as(runs), { runsServer: true }],
    ['person of the command line, private space', as(await command(first, '--user', 'eve'))],
    ['person of the command line, named space', as(await command(first, '--user', 'fay', '--space', 'green'))],
    ...await Promise.all(['chat', 'read', 'write', 'export', 'manage'].map(async (scope) => [`scope ${scope}`, as(await scoped(scope))])),
    ['bound to a space', as((await mint(bob, { spaces: 'work' })).token)],
    ['registered (Cortex), second token', as(again.access_token)],
    ['Token of mem0', { authorization: `Token ${bob.token}` }],
    ['x-api-key of Anthropic', { 'x-api-key': bob.token }],
    ['agent of Osaurus', as(bob.token), { names: 'x-osaurus-agent-id' }],
    ['space in a header', as(bob.token), { names: 'x-memory-space' }],
    ['session of the page', { cookie, origin: server.url, 'sec-fetch-site': 'same-origin' }],
    ['key that speaks for people', as(key)],
    ['person behind a key', as(key, { 'x-memory-user': 'bob' })],
    ['person behind a key, Open WebUI', as(key, { 'x-openwebui-user-id': 'bob' })],
    ["the owner's own, bound to another space", as((await mint(ann, { spaces: 'elsewhere' })).token), { bound: 'elsewhere' }],
  ].map(([name, headers, may = {}]) => ({ name, headers, ...may }));
}

// Answered without a credential: the page, the state of the server, and registering and signing in themselves.
const isOpen = (route) => !route.operation.security?.length;

/** An owner manages users, tokens and settings, and an operator sees who is there and what was erased; who may speak for a person reaches mem0's ids (docs/decisions/024). */
function mayDo(caller, route, owner) {
  const { tags = [], security } = route.operation, scope = security?.[0]?.token?.[0];
  if (caller.name === 'session of the page' && route.path === '/v1/sign-in') return true;
  if (owner.as && caller.name.startsWith('key that speaks') && tags.includes('mem0')) return true;
  if (caller.runsServer && route.method === 'GET' && /^\/v1\/(users|erasures)(\/\{id\})?$/.test(route.path)) return true;
  return Boolean(caller.isOperator) && (scope === 'manage' || /^\/v1\/users|^\/v1\/tokens/.test(route.path));
}

// --- requests ---

const ids = /(^|_)(id|ids|user|session|conversation|agent|app|space|key)(_?id)?s?$|filter|Id$/i;
const people = /user|app|agent|space|key|filter/i;
const texts = /^(query|question|text|content|prompt|input)$/;

/** What of a body or a query is sent, beside what is required: all, what names something, and the same without people and spaces. */
const parts = [() => true, (name) => ids.test(name), (name) => (ids.test(name) && !people.test(name)) || texts.test(name)];

function* requests(route, owner, app, id) {
  const { target, body } = request(route, owner, app, id), [at, query] = target.split('?');
  const schema = resolved(route.operation.requestBody?.content?.['application/json']?.schema), required = schema?.required ?? [];
  const choice = Object.entries(schema?.properties ?? {}).find(([name, of]) => required.includes(name) && resolved(of).enum);
  for (const part of parts) {
    if (takesId(route) && part === parts[1]) continue;
    const asked = new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => part(name))).toString();
    const sent = schema ? Object.fromEntries(Object.entries(body).filter(([name]) => required.includes(name) || part(name))) : body;
    for (const chosen of choice ? resolved(choice[1]).enum : [undefined])
      yield { target: asked ? `${at}?${asked}` : at, body: choice ? { ...sent, [choice[0]]: chosen } : sent };
  }
}

/** MCP's tools as operations of their own. */
async function tools(server, who) {
  const listed = await ok(server, who, 'POST', '/mcp?tools=all', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  return listed.result.tools.map((tool) => ({ method: 'POST', path: `/mcp?tools=all#${tool.name}`, tool, operation: { tags: ['mcp'], security: [{ token: ['read'] }] } }));
}

function* toolRequests({ tool }, owner, app, id) {
  const all = filled(tool.inputSchema, owner, app), required = tool.inputSchema.required ?? [];
  if ('id' in all) all.id = id;
  const lean = Object.fromEntries(Object.entries(all).filter(([name]) => required.includes(name) || /id$|session/i.test(name)));
  for (const args of [all, lean])
    yield { target: '/mcp?tools=all', body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool.name, arguments: args } } };
}

const takesId = (route) => /\{/.test(route.path) || Boolean(route.tool?.inputSchema.properties?.id);
const requestsOf = (route, ...rest) => [...(route.tool ? toolRequests : requests)(route, ...rest)];

// --- leaks ---

// What each answer has of its own.
const own = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ][\d:.]+Z?|(?<="(request_?id|trace_id|trace)":")[^"]*/gi;
const escaped = (text) => text.replace(/[^\w]/g, '\\$&');

/** A refusal in full, without the ids that were asked for. What is done shows what the caller has by now, so of that the status. */
function plain(res, of, app) {
  if (res.status < 400) return String(res.status);
  if (res.status === 409 && /a job of the kind .* already/.test(res.text)) return '202'; // of the caller's own, while it has one
  const asked = [of.email, of.id, ...Object.values(of.ids).flat(), of.name, app].flatMap((id) => [id, encodeURIComponent(id)]);
  return `${res.status} ${res.text}`.replace(new RegExp(`\\b(${asked.map(escaped).join('|')})\\b`, 'g'), 'ID').replace(own, '*');
}

const apps = { owner: 'red', nobody: 'nil' };

async function tryOne(server, caller, route, owner, nobody, kind, tally) {
  const idOf = (p) => (kind ? p.ids[kind]?.[0] ?? p[kind] : p.id);
  const theirs = requestsOf(route, owner, apps.owner, idOf(owner)), none = requestsOf(route, nobody, apps.nobody, idOf(nobody));
  for (let i = 0; i < theirs.length; i++) {
    const send = async (one, of, app) => {
      const res = await ask(server, route.method, one.target.split('#')[0], one.body, { ...caller.headers, ...(caller.names && { [caller.names]: app }) });
      const what = `${caller.name}: ${route.method} ${one.target} ${JSON.stringify(one.body) ?? ''}: ${res.status} ${res.text}`;
      tally.requests++;
      tally.answers[Math.floor(res.status / 100)]++;
      if (res.status < 400) tally.done.add(route);
      for (const word of Object.values(marks[owner.name]))
        if ((res.text + JSON.stringify(res.headers)).includes(word)) tally.leaks.push(`shows ${word}: ${what}`);
      if (res.status >= 500 && res.status !== 501) tally.leaks.push(`fails: ${what}`);
      if (caller.is401 && !isOpen(route) && res.status !== 401) tally.leaks.push(`is let in: ${what}`);
      return { text: plain(res, of, app), what };
    };
    const before = await send(none[i], nobody, apps.nobody), at = await send(theirs[i], owner, apps.owner);
    if (at.text === before.text || caller.isOperator || caller.bound) continue;
    const behind = await send(none[i], nobody, apps.nobody);
    if (at.text !== behind.text) tally.leaks.push(`tells that it exists: ${at.what}\n    and of what does not: ${behind.what}`);
  }
}

async function attack(server, all, list, owner, kindsOf) {
  const nobody = nobodyLike(owner), tallies = [];
  const before = { '': await everything(server, owner), elsewhere: await everything(server, owner, 'elsewhere') };
  for (const caller of list) {
    const tally = { name: caller.name, requests: 0, operations: 0, answers: [0, 0, 0, 0, 0, 0], done: new Set(), leaks: [] };
    tallies.push(tally);
    for (const [at, route] of all.entries()) {
      const kinds = kindsOf(caller, at, takesId(route));
      if (!kinds.length || mayDo(caller, route, owner)) continue;
      tally.operations++;
      for (const kind of kinds) await tryOne(server, caller, route, owner, nobody, kind, tally);
    }
    const bound = caller.bound ?? '', after = await everything(server, owner, bound);
    if (after === before[bound]) continue;
    tally.leaks.push(`${caller.name} changed what ${owner.name} has`);
    before[bound] = after;
  }
  return tallies;
}

function report(owner, all, tallies) {
  const sum = (name) => tallies.reduce((n, one) => n + (one[name].length ?? one[name]), 0);
  console.log(`owner ${owner.name}: ${all.length} operations, ${tallies.length} callers, ${sum('requests')} requests, ${sum('leaks')} leaks`);
  for (const { name, operations, requests: n, answers, done, leaks } of tallies)
    console.log(`  ${name.padEnd(42)} ${String(operations).padStart(4)} operations ${String(n).padStart(6)} requests: ${answers[2] + answers[3]} done (${done.size} operations), ${answers[4]} refused, ${leaks.length} leaks`);
  const leaks = tallies.flatMap((one) => one.leaks);
  assert.equal(leaks.length, 0, leaks.slice(0, 20).map((one) => one.slice(0, 1200)).join('\n'));
}

test('no operation shows, changes or confirms what is another\'s, whoever calls', { timeout: isAll ? 3600000 : 600000 }, async (t) => {
  const flags = ['--wrong-credentials-max', '0', '--token-rate-max', '0', '--user-tokens-max', '0', '--user-spaces-max', '0'];
  const first = await serve(t, { flags });
  const ann = await fillMore(first, await person(first, 'ann')), bob = await newcomer(first, 'bob');
  const server = process.env.TEST_STORE ? await serve(t, { flags, env: storeOf(first.data) }) : first;
  const list = await callers(first, server, ann, bob);
  const all = [...routes((await server.ask('GET', '/openapi.json')).json()), ...await tools(server, bob)];
  const kinds = [...Object.keys(ann.ids).filter((kind) => kind !== 'user'), 'id', 'email'];
  const some = (caller, at, hasId) => (!hasId ? [''] : caller.is401 ? ['memory'] : kinds);
  const sample = (caller, at, hasId) => {
    const who = list.indexOf(caller);
    if (who !== 0 && 1 + at % (list.length - 1) !== who) return [];
    return hasId ? [kinds[at % kinds.length], 'memory'] : [''];
  };
  report(ann, all, await attack(server, all, list, ann, isAll ? some : sample));
});
