// secrets.test.js - a secret is masked wherever it appears again in its conversation: history, receipts, blocks, exports.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder } = require('./lib');

const user = (content) => ({ role: 'user', content }), model = (content) => ({ role: 'assistant', content });

// A chat, and its receipt as kept.
async function say(server, ...messages) {
  const res = await server.chat({ model: 'rememberd/demo', messages });
  assert.equal(res.status, 200, res.text);
  return server.receipt(res.headers['x-rememberd-receipt']);
}

// All that the server keeps and shows without being asked for one memory.
async function kept(server) {
  const all = await server.ask('GET', '/v1/memories/export?all=true&space=*');
  const receipts = await server.ask('GET', '/v1/receipts?limit=100&space=*');
  return all.text + receipts.text;
}

const conversations = {
  'the user says it again': [user('My vpn password is Walrus77x for work.'), model('I see, Walrus77x it is.'), user('The vpn refuses Walrus77x since June.')],
  'the model has made it up': [user('Make up a password for my bank.'), model('Your password is: Walrus77x'), user('Walrus77x works at the bank in Lisbon.')],
  'one message says it twice': [user('My old code Walrus77x is on the note. The password is Walrus77x.')],
};

for (const [name, messages] of Object.entries(conversations))
  test(`a secret is masked in history and receipts: ${name}`, async (t) => {
    const server = await serve(t), receipt = await say(server, ...messages);
    assert.match(receipt.question, /\[secret\]/);
    assert.doesNotMatch(JSON.stringify(receipt), /Walrus77x/i);
    const all = await kept(server);
    assert.match(all, /\[secret\]/);
    assert.doesNotMatch(all, /Walrus77x/i);
    const preview = await server.ask('POST', '/v1/preview', { messages: [...messages, user('Is Walrus77x still right?')] });
    assert.doesNotMatch(preview.text, /Walrus77x/i);
  });

test('a secret of an ingested or imported conversation is masked where it is repeated', async (t) => {
  const server = await serve(t);
  const turns = [{ user: 'My mail password is Walrus77x.', assistant: 'Noted, Walrus77x.' }, { user: 'Again: Walrus77x', assistant: 'Yes.' }];
  const res = await server.ask('POST', '/memory/ingest', { agent_id: 'a', conversation_id: 'c', turns });
  assert.equal(res.status, 200, res.text);
  const file = path.join(tempFolder(), 'turns.jsonl');
  fs.writeFileSync(file, turns.flatMap((turn) => [['user', turn.user], ['assistant', turn.assistant]])
    .map(([role, content]) => JSON.stringify({ session: 's', role, content })).join('\n'));
  const read = await run(['ingest', file, '--data', server.data]);
  assert.equal(read.code, 0, read.stderr);
  const all = await kept(server);
  assert.equal(all.match(/"role":"user","speaker":"","text":"My mail password is \[secret\]/g)?.length, 2, all);
  assert.doesNotMatch(all, /Walrus77x/i);
});

test('with --keep-secrets on they stay in the history, and no block has them', async (t) => {
  const server = await serve(t, { flags: ['--keep-secrets', 'on'] });
  await say(server, user('My vpn password is Walrus77x for work.'));
  assert.match(await kept(server), /Walrus77x/);
  const { block } = (await server.ask('POST', '/v1/preview', { messages: [user('What is my vpn password for work?')] })).json();
  assert.match(block, /My vpn password is \[secret\] for work/);
  assert.doesNotMatch(block, /Walrus77x/);
});
