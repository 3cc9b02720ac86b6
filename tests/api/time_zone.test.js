// time_zone.test.js - days are those of the machine's time zone: what was said in an evening is of that day, also where UTC has the next.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder } = require('./lib');

// Eight hours behind UTC, and eleven before it; without the zones' files, which small systems lack.
const zones = [['WEST8', '2026-03-21T04:30:00Z', 'Friday, 20 March'], ['EAST-11', '2026-03-19T15:30:00Z', 'Friday, 20 March']];

for (const [TZ, created, day] of zones)
  test(`an evening or a morning under TZ=${TZ}`, async (t) => {
    const data = tempFolder(), env = { TZ }, file = path.join(data, 'turns.jsonl');
    fs.writeFileSync(file, [
      { session: 'a', role: 'user', content: 'I planted the quince tree behind the shed.', created },
      { session: 'b', role: 'user', content: 'I painted the shed in dark green.', created: '2026-03-23T12:00:00Z' },
    ].map((line) => JSON.stringify(line)).join('\n'));
    assert.equal((await run(['ingest', file, '--data', data], { env })).code, 0);
    const server = await serve(t, { data, env, flags: ['--encoder', 'off'] });

    const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: `What did I do on ${day} 2026?` }] }, { 'X-Memory-Mode': 'readonly' });
    const { block } = await server.receipt(res.headers['x-rememberd-receipt']);
    assert.match(block.split('\n- ')[1], /^2026-03-20.*quince/, block);

    // A date alone is a day there, and comes back as the same one.
    const lease = (await server.ask('POST', '/v1/memories', { content: 'The lease of the garden ends.', valid_from: '2026-06-01' })).json();
    assert.equal(lease.valid_from, TZ === 'WEST8' ? '2026-06-01T08:00:00.000Z' : '2026-05-31T13:00:00.000Z');
    const added = (await server.ask('POST', '/v1/memories/', { messages: [{ role: 'user', content: 'The pass is valid.' }], user_id: 'ann', infer: false, expiration_date: '2090-02-28' })).json();
    const shown = (await server.ask('GET', `/v1/memories/${(added.results ?? added)[0].id}/`)).json();
    assert.equal(shown.expiration_date, '2090-02-28');
  });
