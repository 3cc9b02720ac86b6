// reference_memories.test.js - the list of memories: every filter, every order, pages by cursor, totals and facets.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { serve } = require('./lib');

const ok = async (server, method, target, body, headers) => {
  const res = await server.ask(method, target, body, headers);
  assert.ok(res.status >= 200 && res.status < 300, `${method} ${target}: ${res.status} ${res.text}`);
  return res.text ? res.json() : null;
};
const contents = (page) => page.memories.map((one) => one.content);
const day = 86400000;

async function filled(t) {
  const server = await serve(t);
  const kinds = [
    { content: 'Ada likes green tea.', category: 'preference', importance: 0.8, tags: ['drink', 'tea'], session: 's1' },
    { content: 'Ada lives in Turin.', category: 'home', key: 'city', importance: 0.6 },
    { content: 'The team decided to use Go.', type: 'procedural', category: 'decision', importance: 0.9, tags: ['work'] },
    { content: 'A talk about the garden.', layer: 'episode', type: 'episodic', importance: 0.3, session: 's2' },
    { content: 'Ada is a gardener.', layer: 'identity', type: 'semantic', importance: 0.7 },
    { content: 'The voucher is valid a week.', expires: new Date(Date.now() + 7 * day).toISOString(), importance: 0.2 },
    { content: 'The pass is valid a year.', expires: new Date(Date.now() + 365 * day).toISOString(), importance: 0.4 },
  ];
  const made = [];
  for (const kind of kinds) made.push(await ok(server, 'POST', '/v1/memories', kind));
  made.push(await ok(server, 'POST', '/v1/memories', { content: 'Ada lives in Rome.', category: 'home', key: 'city', importance: 0.65 }));
  return { server, made, list: (query = '') => ok(server, 'GET', `/v1/memories${query}`) };
}

test('each filter selects what it names, and the total counts that', async (t) => {
  const { list, made } = await filled(t);
  const week = new Date(Date.now() + 30 * day).toISOString();
  const cases = [
    ['', 7], ['?layer=fact', 5], ['?layer=episode', 1], ['?type=procedural', 1], ['?type=factual&layer=fact', 4],
    ['?category=home', 1], ['?category=home&closed=true', 2], ['?only_closed=true', 1], ['?closed=true', 8],
    ['?origin=api', 7], ['?origin=user', 0], ['?session=s1', 1], ['?session=none', 0], ['?key=city', 1], ['?key=city&closed=true', 2],
    ['?tag=tea', 1], ['?tag=te', 0], ['?contains=ADA', 3], ['?importance_min=0.7', 3], ['?importance_max=0.3', 2],
    ['?importance_min=0.6&importance_max=0.7', 2], ['?expiring=30', 1], [`?expiring=${week}`, 1], ['?expiring=400', 2], ['?expiring=0', 0],
    [`?after=${made[0].created}`, 7], [`?before=${made[0].created}`, 0], ['?after=2020-01-01&before=2021-01-01', 0],
    ['?layer=fact&category=home&importance_min=0.7', 0], ['?category=nothing', 0],
  ];
  for (const [query, n] of cases) {
    const page = await list(query);
    assert.equal(page.total, n, `${query}: ${JSON.stringify(contents(page))}`);
    assert.equal(page.memories.length, n, query);
    assert.equal(page.next, null);
    const faceted = await list(`${query}${query ? '&' : '?'}facets=true&limit=1`);
    for (const [name, counts] of Object.entries(faceted.facets))
      assert.equal(Object.values(counts).reduce((a, b) => a + b, 0), n, `${query}: ${name}`);
  }
});

test('facets count each kind under the filter', async (t) => {
  const { list } = await filled(t);
  assert.deepEqual((await list('?facets=true')).facets, {
    layer: { fact: 5, episode: 1, identity: 1 }, type: { factual: 4, episodic: 1, procedural: 1, semantic: 1 },
    category: { '': 4, decision: 1, home: 1, preference: 1 }, origin: { api: 7 }, space: { default: 7 }, closed: { false: 7 } });
  assert.deepEqual((await list('?facets=true&closed=true')).facets.closed, { false: 7, true: 1 });
  assert.deepEqual((await list('?facets=true&contains=ada')).facets.layer, { fact: 2, identity: 1 });
  assert.equal((await list('')).facets, undefined);
});

test('an expired memory counts as closed before it is removed', async (t) => {
  const { server, list } = await filled(t);
  await ok(server, 'POST', '/v1/memories', { content: 'This was valid yesterday.', expires: new Date(Date.now() - day).toISOString() });
  assert.equal((await list()).total, 7);
  const all = await list('?closed=true&facets=true');
  assert.equal(all.total, 9);
  assert.deepEqual(all.facets.closed, { false: 7, true: 2 });
  assert.equal((await list('?only_closed=true')).total, 2);
});

test('every order goes both ways, and pages by cursor give each memory once, in that order', async (t) => {
  const { server, list, made } = await filled(t);
  await ok(server, 'POST', '/v1/memories/search', { query: 'Which tea does Ada like?' });
  for (const sort of ['created', 'updated', 'importance', 'last_used', 'uses']) {
    for (const order of ['asc', 'desc']) {
      const whole = await list(`?sort=${sort}&order=${order}`);
      const values = whole.memories.map((one) => (typeof one[sort] === 'string' ? Date.parse(one[sort]) : one[sort]));
      for (let i = 1; i < values.length; i++)
        assert.ok(order === 'asc' ? values[i - 1] <= values[i] : values[i - 1] >= values[i], `${sort} ${order}: ${values}`);
      const seen = [];
      let cursor = '';
      do {
        const page = await list(`?sort=${sort}&order=${order}&limit=3${cursor && `&cursor=${cursor}`}`);
        assert.equal(page.total, 7);
        seen.push(...page.memories.map((one) => one.id));
        cursor = page.next;
      } while (cursor);
      assert.deepEqual(seen, whole.memories.map((one) => one.id), `${sort} ${order}`);
    }
  }
  assert.deepEqual((await list('?limit=2&offset=5')).memories.map((one) => one.id), [made[2].id, made[0].id]);
});

test('a page is not moved by what is added before it', async (t) => {
  const { server, list } = await filled(t);
  const first = await list('?limit=3'), second = await list('?limit=3&offset=3');
  await ok(server, 'POST', '/v1/memories', { content: 'Something new.' });
  assert.deepEqual(contents(await list(`?limit=3&cursor=${first.next}`)), contents(second));
});

test('a cursor of another list, a damaged one and one beside an offset are refused', async (t) => {
  const { server, list } = await filled(t);
  const { next } = await list('?limit=3');
  const refused = async (query, field) => {
    const res = await server.ask('GET', `/v1/memories${query}`);
    assert.equal(res.status, 400, `${query}: ${res.text}`);
    assert.equal(res.json().field, field, res.text);
  };
  await refused(`?limit=3&cursor=${next}&layer=fact`, 'cursor');
  await refused(`?cursor=${next}&sort=uses`, 'cursor');
  await refused(`?cursor=${next}&space=other`, 'cursor');
  await refused(`?cursor=${next[0] === 'x' ? 'y' : 'x'}${next.slice(1)}`, 'cursor');
  await refused('?cursor=AAAA', 'cursor');
  await refused(`?cursor=${next}&offset=1`, 'offset');
  await refused('?layer=none', 'layer');
  await refused('?origin=none', 'origin');
  await refused('?sort=color', 'sort');
  await refused('?importance_min=2', 'importance_min');
  await refused('?expiring=soon', 'expiring');
  await refused('?after=yesterday', 'after');
  await refused('?lyer=fact', 'lyer');
  assert.equal((await list(`?limit=2&cursor=${next}`)).memories.length, 2, 'another limit is fine');
});

test('space=* is every space in reach, in one order', async (t) => {
  const { server, list } = await filled(t);
  const headers = { 'x-memory-space': 'work' };
  for (const content of ['The office is in Oslo.', 'The printer is on floor two.'])
    await ok(server, 'POST', '/v1/memories', { content }, headers);
  assert.equal((await list()).total, 7);
  assert.equal((await list('?space=work')).total, 2);
  const all = await list('?space=*&facets=true&limit=4');
  assert.equal(all.total, 9);
  assert.deepEqual(all.facets.space, { default: 7, work: 2 });
  assert.deepEqual(all.memories.slice(0, 3).map((one) => one.space), ['work', 'work', 'default']);
  const rest = await list(`?space=*&limit=100&cursor=${all.next}`);
  assert.equal(new Set([...all.memories, ...rest.memories].map((one) => one.id)).size, 9);
  for (const [method, target, body, more] of [['POST', '/v1/memories?space=*', { content: 'x' }], ['POST', '/v1/memories', { content: 'x', space: '*' }],
    ['GET', '/v1/memories?space=*', undefined, headers], ['GET', '/v1/memories', undefined, { 'x-memory-space': '*' }]]) {
    const res = await server.ask(method, target, body, more);
    assert.equal(res.status, 400, `${method} ${target}: ${res.text}`);
  }
});
