// long.test.js - one very long message is found by its ends and silences nothing.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

test('a message of 28 MB leaves recall and search as they were', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, ['I see.']));
  const server = await serve(t, { flags: ['--upstream', model.url, '--recall-deadline-ms', '2000'] });
  const say = async (content) => {
    const res = await server.chat({ model: 'any', messages: [{ role: 'user', content }] });
    assert.equal(res.status, 200, res.text.slice(0, 300));
    await server.ask('GET', '/v1/stats'); // waits until the message is kept, which may take longer than a recall would wait
    return model.asked.at(-1).body.toString();
  };
  await say('My parrot is called Admiral and lives with the lighthouse keeper.');
  const line = 'Long stories about the lighthouse keeper and the parrot of the harbour. ';
  await say(`${line.repeat(Math.floor(28e6 / line.length))}The colour of the harbour cellar was tangerine in those days.`);
  assert.match(await say('What is my parrot called?'), /Admiral/);
  for (const [query, wanted] of [['What is my parrot called?', /Admiral/], ['Was it tangerine, in the harbour cellar?', /tangerine/]]) {
    const found = await server.ask('POST', '/v1/memories/search', { query });
    assert.equal(found.status, 200, found.text.slice(0, 300));
    assert.match(found.text, wanted);
    assert.ok(found.text.length < 100000, `${found.text.length} bytes`);
  }
});
