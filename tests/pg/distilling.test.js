// distilling.test.js - the node that distils is killed, or its claim ends, in the midst: somebody else goes on, and the effect is there once.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, until, upstream } = require('../api/lib');
const cluster = require('./cluster');

const long = 'and there is a lot to be said about it, more than I can put into one message of a few lines.';
const distilled = JSON.stringify({
  episode: { summary: 'The user bought a boat.', topics: ['boats'], decisions: [], action_items: [], salience: 0.7 }, entities: [],
  pinned_candidates: [{ content: 'User bought a boat', salience: 0.8, tags: ['boats'] }], identity_facts: [] });

// A node with a model of its own, so that one sees which node asks. The core model of the first that is asked is silent until it may go on.
async function node(t, schema, state) {
  const one = { asked: 0 };
  const model = await upstream(t, async (req, res, asked) => {
    if (asked.json.model !== 'core') return answer(res, asked, 'I see, a boat.');
    one.asked++;
    if (!state.first) {
      state.first = one;
      await new Promise((done) => (state.goOn = done));
    }
    return answer(res, asked, distilled);
  });
  one.server = await serve(t, { flags: ['--upstream', model.url, '--core-model', 'core', '--core-timeout-ms', '60000', '--log-level', 'error'],
    env: { REMEMBERD_STORE: `${process.env.TEST_STORE}&schema=${schema}` } });
  return one;
}

const say = async ({ server }, session, text) =>
  assert.equal((await server.chat({ model: 'tiny', messages: [{ role: 'user', content: text }] }, { 'x-session-id': session })).status, 200);

for (const isKilled of [true, false]) {
  test(`the node that distils ${isKilled ? 'is killed' : 'is late'}: distilled once to effect`, { skip: cluster.missing }, async (t) => {
    const schema = `distilling_${isKilled}`, state = {};
    const nodes = [await node(t, schema, state), await node(t, schema, state)];
    const count = (what) => Number(cluster.query(`SELECT count(*) FROM ${schema}.memory WHERE content = '${what}'`));
    await say(nodes[0], 'one', `I bought a boat, ${long}`);
    await say(nodes[0], 'two', `Now something else, ${long}`);
    await until('a node asks its model', () => state.goOn, 60000);
    const other = nodes.find((one) => one !== state.first);
    assert.equal(other.asked, 0, 'what is claimed is not taken');
    if (isKilled) await state.first.server.stop('SIGKILL');
    cluster.query(`UPDATE ${schema}.waiting SET lease_until = 0 WHERE lease_until > 0`); // as time would
    await until('somebody else distils', () => count('The user bought a boat.') === 1, 60000);
    assert.ok(isKilled ? other.asked >= 1 : other.asked + state.first.asked >= 2); // the late one has more than one worker
    state.goOn();
    if (!isKilled) assert.equal((await state.first.server.stop()).code, 0); // it ends when it is done with its answer
    assert.deepEqual([count('The user bought a boat.'), count('User bought a boat')], [1, 1]);
  });
}
