// placement.test.js - where the block goes, per setting and per upstream.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { serve, tempFolder, upstream } = require('./lib');

const system = { role: 'system', content: 'Be brief.' };
const earlier = [{ role: 'user', content: 'Hello there.' }, { role: 'assistant', content: 'Hello.' }];
const asked = { role: 'user', content: 'What is my dog called?' };
const cached = { role: 'system', content: [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } }] };

// What stands in front of, and behind, the place where the block is expected; a role makes it a message of its own.
const cases = [
  { placement: 'user-suffix', model: 'gpt', messages: [system, ...earlier, asked] },
  { placement: 'before-user', model: 'gpt', messages: [system, ...earlier, asked], at: 3, role: 'system' },
  { placement: 'before-user', model: 'o1-mini', messages: [system, asked], at: 1, role: 'user' },
  { placement: 'system', model: 'gpt', messages: [system, ...earlier, asked], at: 0, role: 'system' },
  { placement: 'system', model: 'gpt', messages: [cached, ...earlier, asked], at: 3, role: 'system' },
  ...['o1', 'o1-mini', 'o1-preview', 'glm', 'glmt', 'glm-cn', 'zai', 'qianfan', 'GLM'].map((model) =>
    ({ placement: 'system', model, messages: [asked], at: 0, role: 'user' })),
  { placement: 'system', model: 'zai/glm-4.6', messages: [asked], at: 0, role: 'user' },
  { placement: 'system', model: 'o1-pro', messages: [asked], at: 0, role: 'system' },
  { placement: 'first-user', model: 'gpt', messages: [system, ...earlier, asked], at: 0, role: 'user' },
  { placement: 'first-user', model: 'gpt', messages: [cached, ...earlier, asked], at: 3, role: 'user' },
];

async function see(server, model, body) {
  const res = await server.chat(body);
  assert.equal(res.status, 200, res.text);
  const { block } = await server.receipt(res.headers['x-rememberd-receipt']);
  assert.ok(block.includes('Rex'), 'something was injected');
  return { block, sent: model.last().json };
}

function expected({ messages, at, role }, block) {
  if (role) return [...messages.slice(0, at), { role, content: block }, ...messages.slice(at)];
  return [...messages.slice(0, -1), { ...asked, content: `${asked.content}\n\n${block}` }];
}

for (const placement of ['user-suffix', 'before-user', 'system', 'first-user']) {
  test(`placement ${placement}`, async (t) => {
    const model = await upstream(t);
    const server = await serve(t, { flags: ['--upstream', model.url, '--placement', placement] });
    await server.tell('My dog is called Rex.');
    for (const one of cases.filter((c) => c.placement === placement)) {
      const { block, sent } = await see(server, model, { model: one.model, messages: one.messages });
      assert.deepEqual(sent.messages, expected(one, block), `${one.model} ${one.at}`);
    }
  });
}

test('an upstream may have a placement of its own, and its name may reject the system role', async (t) => {
  const model = await upstream(t);
  const config = path.join(tempFolder(), 'config.json');
  fs.writeFileSync(config, JSON.stringify({ placement: 'user-suffix', upstreams: [
    { url: model.url }, { name: 'front', url: model.url, placement: 'system' }, { name: 'zai', url: model.url, placement: 'system' }] }));
  const server = await serve(t, { flags: ['--config', config] });
  await server.tell('My dog is called Rex.');
  const cases = { gpt: {}, 'front/gpt': { at: 0, role: 'system' }, 'zai/gpt': { at: 0, role: 'user' } };
  for (const [name, place] of Object.entries(cases)) {
    const { block, sent } = await see(server, model, { model: name, messages: [asked] });
    assert.equal(sent.model, 'gpt');
    assert.deepEqual(sent.messages, expected({ messages: [asked], ...place }, block), name);
  }
});

test('a last user message without text gets the block as a message before it', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell('My dog is called Rex.');
  const empty = { role: 'user', content: [] };
  const res = await server.chat({ model: 'any', messages: [empty] });
  assert.equal(res.status, 200);
  assert.deepEqual(model.last().json.messages, [empty], 'nothing is asked, so nothing is added');
});
