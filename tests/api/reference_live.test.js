// reference_live.test.js - /v1/events, /v1/jobs, /v1/settings and /v1/doctor: rememberd's own API while it runs.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const { test } = require('node:test');
const { run, serve, until, within } = require('./lib.js');

const auth = (token) => (token ? { authorization: `Bearer ${token}` } : {});

async function made(server, target, body, headers) {
  const res = await server.ask('POST', target, body, headers);
  assert.ok(res.status >= 200 && res.status < 300, `${target}: ${res.status} ${res.text}`);
  return res.json();
}

async function token(server, ...flags) {
  const { code, stdout, stderr } = await run(['token', 'create', '--data', server.data, ...flags]);
  assert.equal(code, 0, stderr);
  return /((rk|ctx)_\S+)/.exec(stdout)[1];
}

// A stream of events as a client reads it: what came so far, and whether it has ended.
class Stream {
  constructor(server, headers = {}, target = '/v1/events') {
    this.events = [];
    this.comments = 0;
    this.text = '';
    this.ended = new Promise((done) => (this.end = done));
    this.open = new Promise((resolve, reject) => {
      this.req = http.request(server.url + target, { agent: false, headers }, (res) => {
        this.res = res;
        res.setEncoding('utf8').on('data', (text) => this.read(text)).on('end', () => this.end('end')).on('error', () => this.end('error'));
        resolve(this);
      });
      this.req.on('error', reject).end();
    });
  }

  read(text) {
    this.text += text;
    for (let at; (at = this.text.indexOf('\n\n')) >= 0; this.text = this.text.slice(at + 2)) {
      const event = {};
      for (const line of this.text.slice(0, at).split('\n')) {
        const [, name, value] = /^([a-z]*): ?(.*)$/.exec(line) ?? [, '', ''];
        if (name) event[name] = name === 'data' ? JSON.parse(value) : value;
      }
      if (event.event) this.events.push(event);
      else this.comments++;
    }
  }

  names() { return this.events.map((e) => e.event); }
  find(name, test = () => true) { return this.events.find((e) => e.event === name && test(e)); }
  until(name, test) { return until(name, () => this.find(name, test)); }
  close() { this.req.destroy(); }
}

async function listen(t, server, headers, target) {
  const s = await new Stream(server, headers, target).open;
  t.after(() => s.close());
  assert.equal(s.res.statusCode, 200, s.text);
  await s.until('ready');
  return s;
}

// A source of vectors that answers everyone but the text that waits.
async function silentEmbedder(t) {
  const open = new Set();
  const up = http.createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    const texts = [].concat(JSON.parse(body || '{}').input ?? []);
    if (texts.some((text) => /Waits/.test(text))) return open.add(res);
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ object: 'list', model: 'x', data: texts.map((_, index) => ({ object: 'embedding', index, embedding: [1, 0, 0, 0] })) }));
  });
  const close = () => { for (const res of open) res.destroy(); up.close(); };
  await new Promise((done) => up.listen(0, '127.0.0.1', done));
  t.after(close);
  return { url: `http://127.0.0.1:${up.address().port}`, close };
}

test('a stream tells what is added, changed, closed and erased, with ids and without texts', async (t) => {
  const server = await serve(t);
  const s = await listen(t, server);
  assert.equal(s.res.headers['content-type'], 'text/event-stream');
  assert.equal(s.res.headers['cache-control'], 'no-store');
  const m = await made(server, '/v1/memories', { content: 'Likes plums', key: 'fruit' });
  const added = await s.until('memory.added', (e) => e.data.id === m.id);
  assert.equal(added.data.space, 'default');
  assert.ok(Math.abs(Date.parse(added.data.at) - Date.now()) < 60000);
  const next = await made(server, '/v1/memories', { content: 'Likes pears', key: 'fruit' });
  await s.until('memory.closed', (e) => e.data.id === m.id);
  await s.until('memory.added', (e) => e.data.id === next.id);
  await server.ask('DELETE', `/v1/memories/${next.id}`);
  await s.until('memory.erased', (e) => e.data.id === next.id);
  await server.tell('My favourite colour is teal.');
  const turn = await s.until('turn.kept');
  await s.until('receipt.written');
  assert.equal(s.events.filter((e) => e.event === 'turn.kept').length, 1, 'one turn is one event');
  assert.ok(s.find('session.added', (e) => e.data.id === turn.data.id));
  assert.ok(!/teal|plum|pear/.test(JSON.stringify(s.events)), JSON.stringify(s.events));
  const ids = s.events.map((e) => Number(e.id.split('-')[1]));
  assert.deepEqual(ids, [...ids].sort((a, b) => a - b), 'ids grow');
});

test('two servers on one database hear of each other', async (t) => {
  const server = await serve(t), second = await serve(t, { data: server.data });
  const s = await listen(t, server), other = await listen(t, second);
  await made(second, '/v1/memories', { content: 'Written by the second' });
  await s.until(process.env.TEST_STORE ? 'memory.added' : 'reset');
  await other.until('memory.added');
  assert.ok(process.env.TEST_STORE || !s.find('memory.added'));
});

test('the answer to a request comes no earlier than its event can be had', async (t) => {
  const server = await serve(t);
  const first = await listen(t, server);
  for (let i = 0; i < 20; i++) {
    const m = await made(server, '/v1/memories', { content: `Note number ${i} of many` });
    const s = await listen(t, server, { 'last-event-id': first.events[0].id });
    await s.until('memory.added', (e) => e.data.id === m.id);
    assert.ok(!s.find('reset'));
    s.close();
  }
});

test('a client comes again with its last id, and hears what it missed, or a reset', async (t) => {
  const server = await serve(t);
  const s = await listen(t, server);
  const a = await made(server, '/v1/memories', { content: 'Has a cat' });
  const seen = await s.until('memory.added', (e) => e.data.id === a.id);
  s.close();
  const b = await made(server, '/v1/memories', { content: 'Has a dog' });
  const again = await listen(t, server, { 'last-event-id': seen.id });
  await again.until('memory.added', (e) => e.data.id === b.id);
  assert.ok(!again.find('memory.added', (e) => e.data.id === a.id), 'what it had does not come twice');
  const asked = await listen(t, server, {}, `/v1/events?last_event_id=${seen.id}`);
  await asked.until('memory.added', (e) => e.data.id === b.id);
  for (const strange of ['00000000-1', 'nonsense', `${seen.id}9999`]) {
    const lost = await listen(t, server, { 'last-event-id': strange });
    await lost.until('reset');
    lost.close();
  }
});

test('more than the ring holds, and more than one write lists, is a reset', async (t) => {
  const server = await serve(t);
  const s = await listen(t, server, {}, '/v1/events?space=big');
  const other = await listen(t, server, {}, '/v1/events?space=small');
  await made(server, '/v1/memories', { content: 'Is in the big space' }, { 'x-memory-space': 'big' });
  await s.until('memory.added');
  for (let i = 0; i < 300; i++) await made(server, '/v1/memories', { content: `Number ${i} is kept` }, { 'x-memory-space': 'big' });
  await until('all', () => s.events.filter((e) => e.event === 'memory.added').length === 301);
  const last = s.events.at(-1).id;
  assert.equal((await server.ask('DELETE', '/v1/spaces/big')).status, 200);
  await s.until('reset');
  assert.ok(s.events.length < 301 + 300, 'not an event for each row');
  assert.ok(!other.find('memory.added'));
  const lost = await listen(t, server, { 'last-event-id': last });
  await lost.until('reset');
});

test('what another process writes is a reset, and comes by itself', async (t) => {
  const server = await serve(t);
  const s = await listen(t, server);
  const { code, stderr } = await run(['add', '--data', server.data, 'Plays the cello']);
  assert.equal(code, 0, stderr);
  await s.until(process.env.TEST_STORE ? 'memory.added' : 'reset'); // PostgreSQL tells others by name
  const before = s.names().filter((n) => n === 'reset').length;
  const m = await made(server, '/v1/memories', { content: 'Our own write' });
  await s.until('memory.added');
  await server.ask('DELETE', `/v1/memories/${m.id}`); // empties the log
  await server.tell('My favourite town is Ghent.');
  await new Promise((done) => setTimeout(done, 2500));
  assert.equal(s.names().filter((n) => n === 'reset').length, before, 'our own writes are no reset');
});

test('a stream never tells of another user, a person or a space out of reach', async (t) => {
  const server = await serve(t);
  const ann = await token(server, '--user', 'ann', '--space', 'red'), bob = await token(server, '--user', 'bob');
  const own = await token(server, '--user', 'ann'); // has a space of its own
  const admin = await token(server, '--user', 'ann', '--admin');
  const front = await token(server, '--user', 'front', '--acts-for', 'any'), bound = await token(server, '--user', 'ann', '--spaces', 'blue,green');
  assert.equal((await server.ask('GET', '/v1/events')).status, 401);
  const streams = {};
  for (const [name, headers] of Object.entries({ ann: auth(ann), bob: auth(bob), own: auth(own), bound: auth(bound), admin: auth(admin), front: auth(front),
    eve: { ...auth(front), 'x-memory-user': 'eve' }, zoe: { ...auth(front), 'x-memory-user': 'zoe' } }))
    streams[name] = await listen(t, server, headers);
  const ids = {};
  for (const [name, headers] of Object.entries({ ann: auth(ann), bob: auth(bob), own: auth(own), bound: auth(bound), free: { ...auth(ann), 'x-memory-space': 'yellow' }, front: auth(front),
    eve: { ...auth(front), 'x-memory-user': 'eve' }, zoe: { ...auth(front), 'x-memory-user': 'zoe' } }))
    ids[name] = (await made(server, '/v1/memories', { content: `A note of ${name}` }, headers)).id;
  await server.ask('DELETE', `/v1/memories/${ids.zoe}`, undefined, { ...auth(front), 'x-memory-user': 'zoe' });
  const hears = { ann: ['ann', 'bound', 'free'], bob: ['bob'], own: ['ann', 'own', 'bound', 'free'], bound: ['bound'], admin: ['ann', 'own', 'bound', 'free'], front: ['front'], eve: ['eve'], zoe: ['zoe'] };
  for (const [name, heard] of Object.entries(hears))
    for (const of of heard) await streams[name].until('memory.added', (e) => e.data.id === ids[of]);
  await streams.zoe.until('memory.erased');
  for (const [name, s] of Object.entries(streams))
    for (const e of s.events)
      for (const [of, id] of Object.entries(ids))
        assert.ok(hears[name].includes(of) || !JSON.stringify(e).includes(id), `${name} heard of ${of}: ${JSON.stringify(e)}`);
});

test('a stream ends with its token, whoever revokes it, and with the first token that closes the server', async (t) => {
  const server = await serve(t);
  const open = await listen(t, server);
  const admin = await token(server, '--admin');
  assert.equal(await open.ended, 'end');
  const bob = await token(server, '--user', 'bob');
  const s = await listen(t, server, auth(bob)), other = await listen(t, server, auth(admin));
  const list = await run(['token', 'list', '--data', server.data, '--json']);
  const id = JSON.parse(list.stdout).tokens?.find((x) => x.user === 'bob')?.id ?? JSON.parse(list.stdout).find((x) => x.user === 'bob').id;
  assert.equal((await run(['token', 'revoke', '--data', server.data, id])).code, 0);
  assert.equal(await s.ended, 'end');
  assert.equal((await server.ask('GET', '/v1/events', undefined, auth(bob))).status, 401);
  other.close();
});

test('a stream ends when its user or person is erased, and when its token expires, however it was shown', async (t) => {
  const server = await serve(t), ended = [];
  const admin = auth(await token(server, '--admin')), ann = auth(await token(server, '--user', 'ann'));
  const eve = { ...auth(await token(server, '--user', 'front', '--acts-for', 'any')), 'x-memory-user': 'eve' };
  const endsLater = async (name, headers) => void (await listen(t, server, headers)).ended.then(() => ended.push(name));
  for (const headers of [eve, ann]) await made(server, '/v1/memories', { content: 'A note' }, headers);
  for (const [name, headers] of [['eve', eve], ['ann', ann]]) await endsLater(name, headers);
  await until('both', async () => (await server.ask('GET', '/v1/users', undefined, admin)).json().items.length > 2);
  for (const { id } of (await server.ask('GET', '/v1/users', undefined, admin)).json().items.filter((u) => /eve|ann/.test(u.id)))
    assert.equal((await server.ask('DELETE', `/v1/users/${encodeURIComponent(id)}?confirm=${encodeURIComponent(id)}`, undefined, admin)).status, 200);
  await until('streams of those that were erased end', () => ended.length === 2, 5000);
  const short = (await made(server, '/v1/tokens', { expires: new Date(Date.now() + 2000).toISOString() }, admin)).token;
  const cookie = (await server.ask('POST', '/v1/sign-in', { token: short })).headers['set-cookie'][0].split(';')[0];
  for (const [name, headers] of [['bearer', auth(short)], ['cookie', { cookie, 'sec-fetch-site': 'same-origin' }]]) await endsLater(name, headers);
  await until('streams of an expired token end', () => ended.length === 4, 5000).catch((e) => assert.fail(`${e.message}: ${ended}`));
});

test("an operator's stream ends when another process takes the role", async (t) => {
  const server = await serve(t), own = await token(server, '--user', 'ann');
  const role = async (name) => assert.equal((await run(['user', 'role', 'ann', name, '--data', server.data])).code, 0);
  await role('operator');
  const s = await listen(t, server, auth(own));
  await role('member');
  assert.equal(await Promise.race([s.ended, s.until('reset').then(() => new Promise((done) => setTimeout(done, 500, 'goes on')))]), 'end');
});

test('streams are few for each user, hold no worker, and end with the server', async (t) => {
  const opened = async () => {
    const server = await serve(t, { flags: ['--workers', '1'] }), streams = [];
    for (let i = 0; i < 8; i++) streams.push(await listen(t, server));
    return { server, streams };
  };
  const { server, streams } = await opened();
  const more = await server.ask('GET', '/v1/events');
  assert.equal(more.status, 429, more.text);
  assert.match(more.json().detail, /streams/);
  assert.equal((await server.ask('GET', '/v1/memories')).status, 200, 'the one worker is free');
  streams.pop().close();
  await until('a place', async () => {
    const s = await new Stream(server).open;
    s.close();
    return s.res.statusCode === 200;
  });
  await within(5000, async (late) => { // a stop does not wait for streams
    assert.equal((await late.server.stop()).code, 0);
    for (const s of late.streams) assert.equal(await s.ended, 'end', 'ended cleanly');
  }, opened);
});

test('a client that reads nothing is not waited for, and keeps nobody back', async (t) => {
  const server = await serve(t);
  const slow = await listen(t, server);
  slow.res.pause();
  const quick = await listen(t, server);
  for (let i = 0; i < 400; i++) await made(server, '/v1/memories', { content: `Fact ${i}: something to tell` });
  await until('all', () => quick.events.filter((e) => e.event === 'memory.added').length === 400);
  slow.res.resume();
  await until('the rest', () => slow.events.filter((e) => e.event === 'memory.added').length === 400);
});

test('a silent stream is kept alive by a comment', async (t) => {
  const server = await serve(t);
  const s = await listen(t, server);
  await until('a comment', () => s.comments > 0, 20000);
});

test('a query that is not known is refused by name', async (t) => {
  const server = await serve(t);
  const res = await server.ask('GET', '/v1/events?sapce=x');
  assert.equal(res.status, 400);
  assert.equal(res.json().field, 'sapce');
});

// --- jobs ---

const ended = (server, id, headers) => until(`job ${id}`, async () => {
  const res = await server.ask('GET', `/v1/jobs/${id}`, undefined, headers);
  assert.equal(res.status, 200, res.text);
  return ['done', 'failed', 'cancelled'].includes(res.json().state) && res.json();
});

test('a job is begun, tells of itself in events and in the list, and leaves its result', async (t) => {
  const server = await serve(t);
  const s = await listen(t, server);
  for (let i = 0; i < 3; i++) await made(server, '/v1/memories', { content: `Something old, number ${i}` });
  const res = await server.ask('POST', '/v1/jobs', { kind: 'consolidate', dry_run: true });
  assert.equal(res.status, 202, res.text);
  const job = res.json();
  assert.equal(res.headers.location, `/v1/jobs/${job.id}`);
  assert.equal(job.kind, 'consolidate');
  assert.equal(job.dry_run, true);
  const done = await ended(server, job.id);
  assert.equal(done.state, 'done', done.error);
  assert.equal(done.result.report.looked_at, 3);
  assert.equal(done.done, done.total);
  assert.ok(Date.parse(done.started) <= Date.parse(done.ended) && done.took_ms >= 0);
  await s.until('job.changed', (e) => e.data.id === job.id);
  const compact = await ended(server, (await made(server, '/v1/jobs', { kind: 'compact', dry_run: true, older_than_days: 1 })).id);
  assert.equal(compact.state, 'done', compact.error);
  assert.equal(compact.result.replaced, 0);
  const prune = await ended(server, (await made(server, '/v1/jobs', { kind: 'prune' })).id);
  assert.deepEqual(prune.result, { removed: 0 });
  assert.equal(prune.server, true);
  const list = (await server.ask('GET', '/v1/jobs')).json();
  assert.deepEqual(list.items.map((j) => j.kind), ['prune', 'compact', 'consolidate']);
  assert.equal(list.total, 3);
  assert.equal(list.next, null);
  const { log } = (await server.ask('GET', '/memory/log')).json();
  assert.ok(log.some((row) => row.task_type === 'prune' && row.status === 'success'), JSON.stringify(log));
});

test('a job that cannot be is refused by field, and one that fails says why', async (t) => {
  const server = await serve(t, { flags: ['--encoder', 'off'] });
  for (const [body, field] of [[{}, 'kind'], [{ kind: 'sing' }, 'kind'], [{ kind: 'prune', dry_run: true }, 'dry_run'], [{ kind: 'prune', all: true }, 'all'],
    [{ kind: 'compact', older_than_days: 0 }, 'older_than_days'], [{ kind: 'compact', age: 1 }, 'age'],
    [{ kind: 'consolidate', older_than_days: 30 }, 'older_than_days']]) {
    const res = await server.ask('POST', '/v1/jobs', body);
    assert.equal(res.status, 400, res.text);
    assert.equal(res.json().field, field);
  }
  assert.equal((await server.ask('GET', '/v1/jobs/none')).status, 404);
  const job = await ended(server, (await made(server, '/v1/jobs', { kind: 'reindex' })).id);
  assert.equal(job.state, 'failed');
  assert.match(job.error, /embedding source/);
});

test('one job of a kind runs for a space at a time, and is cancelled', async (t) => {
  const silent = await silentEmbedder(t);
  const server = await serve(t, { flags: ['--upstream', `mute=${silent.url}`, '--embedding-source', 'remote', '--embedding-model', 'mute/x', '--embedding-timeout-ms', '60000'] });
  await made(server, '/v1/memories', { content: 'Waits for a vector' });
  const job = await made(server, '/v1/jobs', { kind: 'reindex', all: true });
  const again = await server.ask('POST', '/v1/jobs', { kind: 'reindex' });
  assert.equal(again.status, 409, again.text);
  assert.ok(again.json().detail.includes(job.id), again.text);
  assert.equal((await server.ask('POST', '/api/memory/reindex', {})).status, 200, 'the endpoint of a product is as before');
  const running = await until('running', async () => {
    const j = (await server.ask('GET', `/v1/jobs/${job.id}`)).json();
    return j.state === 'running' && j.total === 1 && j;
  });
  assert.equal(running.done, 0);
  assert.equal((await server.ask('DELETE', `/v1/jobs/${job.id}`)).status, 202);
  const end = await ended(server, job.id);
  assert.equal(end.state, 'cancelled');
  assert.equal(end.result.waiting, 1);
  assert.equal((await server.ask('DELETE', `/v1/jobs/${job.id}`)).status, 409);
  silent.close();
});

test('jobs are seen by those they are about', async (t) => {
  const server = await serve(t);
  const local = await token(server, '--admin'), ann = await token(server, '--user', 'ann'), bob = await token(server, '--user', 'bob', '--admin');
  const own = await made(server, '/v1/jobs', { kind: 'consolidate' }, auth(ann));
  const s = await listen(t, server, auth(bob));
  await ended(server, own.id, auth(ann));
  for (const other of [bob, local]) {
    assert.equal((await server.ask('GET', `/v1/jobs/${own.id}`, undefined, auth(other))).status, 404);
    assert.equal((await server.ask('DELETE', `/v1/jobs/${own.id}`, undefined, auth(other))).status, 404);
    assert.equal((await server.ask('GET', '/v1/jobs', undefined, auth(other))).json().total, 0);
  }
  for (const who of [ann, bob]) assert.equal((await server.ask('POST', '/v1/jobs', { kind: 'prune' }, auth(who))).status, 403);
  const prune = await made(server, '/v1/jobs', { kind: 'prune' }, auth(local));
  await ended(server, prune.id, auth(local));
  assert.equal((await server.ask('GET', `/v1/jobs/${prune.id}`, undefined, auth(ann))).status, 404);
  await made(server, '/v1/memories', { content: 'The last thing' }, auth(bob));
  await s.until('memory.added');
  assert.ok(!s.find('job.changed'), 'nobody hears of the jobs of others');
});

// --- settings ---

const byName = (res) => Object.fromEntries(res.json().items.map((s) => [s.name, s]));

test('the log has what was done in the background, of the spaces in reach, and the parts are for admins', async (t) => {
  const server = await serve(t);
  for (const space of ['one', 'two']) {
    await made(server, '/v1/memories', { content: `The kettle of ${space} is blue.` }, { 'x-memory-space': space });
    const job = await made(server, '/v1/jobs', { kind: 'consolidate' }, { 'x-memory-space': space });
    await until('the job ends', async () => (await server.ask('GET', `/v1/jobs/${job.id}`)).json().state === 'done');
  }
  const log = async (query = '', headers = {}) => (await server.ask('GET', `/v1/log${query}`, undefined, headers)).json();
  const all = await log('?kind=consolidate');
  assert.deepEqual(all.items.map((w) => w.space), ['two', 'one']);
  assert.deepEqual([all.total, all.next], [2, null]);
  assert.deepEqual(Object.keys(all.items[0]), ['space', 'kind', 'status', 'details', 'model', 'tokens_in', 'tokens_out', 'took_ms', 'created']);
  assert.ok(!JSON.stringify(all).includes('kettle'));
  assert.equal((await log('?kind=consolidate&limit=1')).items.length, 1);
  assert.deepEqual((await log('?kind=distil')).items, []);
  assert.equal((await server.ask('GET', '/v1/log?limit=501')).json().field, 'limit');
  const admin = auth(await token(server, '--admin')), one = auth(await token(server, '--space', 'one'));
  assert.deepEqual((await log('?kind=consolidate', one)).items.map((w) => w.space), ['one']);
  assert.deepEqual((await log('?kind=consolidate', { ...admin, 'x-memory-space': 'two' })).items.map((w) => w.space), ['two']);
  for (const [method, target] of [['GET', '/v1/engine'], ['POST', '/v1/engine/qdrant/search'], ['POST', '/v1/engine/qdrant/cleanup']])
    assert.equal((await server.ask(method, target, method === 'POST' ? { query: 'x' } : undefined, one)).status, 403, target);
  assert.ok((await server.ask('GET', '/v1/engine', undefined, admin)).json().words.available);
});

test('settings are listed with where they come from, and none is left out', async (t) => {
  const fs = require('node:fs'), path = require('node:path'), { tempFolder } = require('./lib.js');
  const file = path.join(tempFolder(), 'settings.json');
  fs.writeFileSync(file, JSON.stringify({ recall_limit: 7, receipt_days: 9 }));
  const server = await serve(t, { flags: ['--config', file, '--receipt-days', '12', '--upstream', 'http://127.0.0.1:9/v1', '--upstream-key', 'very-secret-key'], env: { REMEMBERD_QDRANT_API_KEY: 'other-secret', REMEMBERD_TOOL_ROUNDS: '3' } });
  const res = await server.ask('GET', '/v1/settings');
  const all = byName(res);
  assert.ok(!/very-secret|other-secret/.test(res.text));
  const printed = JSON.parse((await run(['serve', '--print-settings', '--json'])).stdout);
  for (const name of Object.keys(printed)) assert.ok(all[name] || name === 'upstream' || name === 'upstreams', name);
  assert.equal(res.json().total, res.json().items.length);
  const is = (name, value, source) => assert.deepEqual([all[name].value, all[name].source], [value, source], name);
  is('recall_limit', 7, 'file');
  is('receipt_days', 12, 'option');
  is('tool_rounds', 3, 'environment');
  is('qdrant_api_key', '***', 'environment');
  is('upstream_key', '***', 'option');
  is('gate_threshold', 0.05, 'default');
  is('memory', true, 'default');
  is('retention_days', null, 'default');
  assert.match(all.retention_days.help, /^If set, /); // its default does not act
  assert.equal(all.tool_rounds.default, 4);
  assert.deepEqual([all.tool_rounds.min, all.tool_rounds.max, all.tool_rounds.type, all.tool_rounds.acts], [1, 20, 'integer', 'at start']);
  assert.match(all.tool_rounds.cost, /request/);
  assert.deepEqual(all.gate_mode.choices, ['off', 'heuristic', 'llm']);
  assert.equal(all.gate_mode.acts, 'at once');
  assert.equal(all.listen.min, 1);
  assert.equal(all.qdrant_api_key.secret, true);
  for (const s of Object.values(all)) assert.ok(s.help && s.type && s.group, s.name);
  assert.deepEqual(res.json().upstreams, [{ name: '', url: 'http://127.0.0.1:9/v1', placement: null, dialect: null, has_key: true }]);
});

test('settings that act at once are changed all or none, and null takes a change back', async (t) => {
  const server = await serve(t, { flags: ['--budget-tokens', '500', '--embedding-model', 'a/b'] });
  const s = await listen(t, server);
  const change = (body, headers) => server.ask('PATCH', '/v1/settings', body, headers);
  const res = await change({ budget_tokens: 300, memory: false, gate_mode: 'off', qdrant_api_key: 'a-secret' });
  assert.equal(res.status, 200, res.text);
  assert.deepEqual(res.json().items.map((x) => [x.name, x.value, x.configured, x.source]),
    [['memory', false, true, 'changed'], ['budget_tokens', 300, 500, 'changed'], ['gate_mode', 'off', 'heuristic', 'changed'], ['qdrant_api_key', '***', '', 'changed']]);
  await s.until('settings.changed');
  const off = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'My dog is called Rex.' }] });
  assert.equal(off.headers['x-rememberd-receipt'], undefined, 'memory is off at once');
  for (const [body, field] of [[{ budget_tokens: 1, memory: 'maybe' }, 'memory'], [{ budget_tokens: 99999 }, 'budget_tokens'], [{ budget_tokens: 1, listen: ':1' }, 'listen'],
    [{ bugdet_tokens: 1 }, 'bugdet_tokens'], [{ max_tokens: 1 }, 'max_tokens']]) {
    const bad = await change(body);
    assert.equal(bad.status, 400, bad.text);
    assert.equal(bad.json().field, field, bad.text);
  }
  assert.match((await change({ bugdet_tokens: 1 })).json().detail, /did you mean budget_tokens/);
  for (const body of [{}, [], 'x']) assert.equal((await change(body)).status, 400);
  assert.equal(byName(await server.ask('GET', '/v1/settings')).budget_tokens.value, 300, 'a refused change changes nothing');
  assert.equal((await change({ embedding_model: 'c/d' })).json().items[0].value, 'c/d');
  await change({ budget_tokens: null, memory: null, qdrant_api_key: null, gate_mode: null, embedding_model: null });
  const all = byName(await server.ask('GET', '/v1/settings'));
  assert.deepEqual(['budget_tokens', 'memory', 'qdrant_api_key', 'gate_mode'].map((n) => [all[n].value, all[n].source]), [[500, 'option'], [true, 'default'], ['', 'default'], ['heuristic', 'default']]);
  assert.deepEqual([all.embedding_model.value, all.embedding_model.source], ['a/b', 'option'], 'null is not "none"');
  await server.tell('My dog is called Rex.');
});

test('settings are read by admins and changed by operators', async (t) => {
  const server = await serve(t);
  const local = await token(server, '--admin'), bob = await token(server, '--user', 'bob', '--admin'), ann = await token(server, '--user', 'ann');
  const tries = async (who) => [(await server.ask('GET', '/v1/settings', undefined, auth(who))).status, (await server.ask('PATCH', '/v1/settings', { memory: true }, auth(who))).status];
  assert.deepEqual(await tries(local), [200, 200]);
  assert.deepEqual(await tries(bob), [200, 403]);
  assert.deepEqual(await tries(ann), [403, 403]);
  assert.deepEqual(await tries(), [401, 401]);
});

// --- doctor ---

test('the doctor says over the API what the command says', async (t) => {
  const server = await serve(t, { flags: ['--upstream', 'http://127.0.0.1:9/v1', '--core-model', 'm', '--encoder', 'off'] });
  await made(server, '/v1/memories', { content: 'Is healthy' });
  const res = await server.ask('GET', '/v1/doctor');
  assert.equal(res.status, 200, res.text);
  const command = await run(['doctor', '--json', '--data', server.data, '--upstream', 'http://127.0.0.1:9/v1', '--core-model', 'm', '--encoder', 'off']);
  const bare = ({ ok, findings }) => ({ ok, findings: findings.map((f) => ({ ...f, detail: f.detail.replace(/\d+\.\d MB/, '') })) });
  assert.deepEqual(bare(res.json()), bare(JSON.parse(command.stdout)));
  const of = Object.fromEntries(res.json().findings.map((f) => [f.what, f]));
  assert.equal(res.json().ok, false);
  assert.equal(of.upstream.level, 'bad');
  assert.match(of.upstream.advice, /check that the upstream is running/);
  assert.match(of.database.detail, /1 memories/);
  assert.equal(of['core model'].level, 'ok');
  const bob = await token(server, '--user', 'bob', '--admin');
  assert.equal((await server.ask('GET', '/v1/doctor', undefined, auth(bob))).status, 403);
});
