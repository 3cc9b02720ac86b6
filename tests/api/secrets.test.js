// secrets.test.js - a secret is masked wherever it appears again in its conversation: history, receipts, blocks, exports.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { answer, run, serve, tempFolder, upstream } = require('./lib');

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

test('what the key of a memory names is masked, and so are lists and objects in metadata', async (t) => {
  const server = await serve(t);
  const add = async (path, memory) => { const res = await server.ask('POST', path, memory); assert.ok(res.status < 300, res.text); return res.json(); };
  const { id } = await add('/v1/memories', { key: 'wifi_password', content: 'Walrus71x is what we use', metadata: { passwords: ['Walrus72x'], login: { password: { old: 'Walrus73x' } }, sizes: [4711, { seats: 12 }] } });
  await add('/api/memory', { key: 'bank_pin', content: '9043', metadata: {} });
  assert.equal((await server.ask('PATCH', `/v1/memories/${id}`, { content: 'Walrus74x since May' })).json().content, '[secret] since May');
  await add('/v1/memories', { key: 'gate', content: '4711 opens it' });
  await add('/v1/memories', { content: '2024-05-11 password' });
  const all = await kept(server);
  assert.doesNotMatch(all, /Walrus7|9043/);
  for (const harmless of ['4711 opens it', '2024-05-11 password', '"sizes":[4711,{"seats":12}]']) assert.ok(all.includes(harmless), harmless);
});

test('with --keep-secrets on they stay in the history, and no block has them', async (t) => {
  const server = await serve(t, { flags: ['--keep-secrets', 'on'] });
  await say(server, user('My vpn password is Walrus77x for work.'));
  assert.match(await kept(server), /Walrus77x/);
  const { block } = (await server.ask('POST', '/v1/preview', { messages: [user('What is my vpn password for work?')] })).json();
  assert.match(block, /My vpn password is \[secret\] for work/);
  assert.doesNotMatch(block, /Walrus77x/);
});

test('the code of a door is recalled, and the PIN of a card is not', async (t) => {
  const server = await serve(t);
  await say(server, user('The gate code of the allotment is 4711, and my bank card has the PIN 9043.'));
  const { block } = (await server.ask('POST', '/v1/preview', { messages: [user('What is the gate code of the allotment?')] })).json();
  assert.match(block, /gate code of the allotment is 4711/);
  assert.match(await kept(server), /PIN \[secret\]/);
  assert.doesNotMatch(block + await kept(server), /9043/);
});

// Each kind of secret, as tests/secrets/secrets.txt marks them.
const kinds = fs.readFileSync(path.join(__dirname, '../secrets/secrets.txt'), 'utf8').split('\n')
  .filter((line) => line && !line.startsWith('# ')).map((line) => {
    const marked = line.replaceAll('·', '').replaceAll('\\n', '\n'), text = marked.replace(/[⟦⟧]/g, '');
    // A short one is looked for with what is in front of it, else behind: the digits of a score may be those of a code.
    const marks = [...marked.matchAll(/(.{0,9})⟦([^⟧]+)⟧(?=(.{0,9}))/gs)].map(([, before, secret, behind]) =>
      (secret.length >= 8 ? secret : before ? before + secret : secret + behind).replace(/[⟦⟧]/g, ''));
    return { text, marks };
  });

// Marks that stand in these bytes. A line break is written as an escape in JSON.
const found = (bytes) => kinds.flatMap((kind) => kind.marks).filter((mark) =>
  [mark, JSON.stringify(mark).slice(1, -1)].some((form) => bytes.includes(Buffer.from(form))));

const doors = {
  chat: async (server, { text }, i) => {
    const res = await server.chat({ model: 'm', messages: [user(`Note ${i}: ${text}`)] });
    assert.equal(res.status, 200, res.text);
  },
  'the memory API': async (server, { text }, i) => {
    const added = await server.ask('POST', '/v1/memories', { content: `Note ${i}: ${text}`, metadata: { note: text }, tags: [text] });
    assert.equal(added.status, 201, added.text);
    const { id } = added.json();
    const changed = await server.ask('PATCH', `/v1/memories/${id}`, { content: `Changed note ${i}: ${text}` });
    assert.equal(changed.status, 200, changed.text);
    return added.text + changed.text;
  },
  'OmniRoute and mem0': async (server, { text }, i) => {
    const omniroute = await server.ask('POST', '/api/memory', { content: `Note ${i}: ${text}`, key: `k${i}` });
    assert.ok(omniroute.status < 300, omniroute.text);
    const mem0 = await server.ask('POST', '/memories', { messages: [user(`Fact ${i}: ${text}`)], infer: false, user_id: 'ana' });
    assert.ok(mem0.status < 300, mem0.text);
    return omniroute.text + mem0.text;
  },
  import: async (server, { text }, i) => {
    const turns = [['user', `Note ${i}: ${text}`], ['assistant', `Noted: ${text}`]].map(([role, content]) => JSON.stringify({ session: `s${i}`, role, content })).join('\n');
    const res = await server.ask('POST', '/v1/memories/import?name=turns.jsonl', turns);
    assert.equal(res.status, 200, res.text);
    const list = await server.ask('POST', '/v1/memories/import?name=list.txt', `- Note ${i}: ${text.replaceAll('\n', ' ')}\n- Other ${i}\n`);
    assert.equal(list.status, 200, list.text);
    return res.text + list.text;
  },
  hooks: async (server, { text }, i) => {
    const event = (hook_event_name, more) => ({ session_id: `h${i}`, transcript_path: '/x/t.jsonl', cwd: '/home/ana/alpha', permission_mode: 'default', hook_event_name, ...more });
    for (const one of [event('UserPromptSubmit', { prompt: `Note ${i}: ${text}` }), event('Stop', { stop_hook_active: false, last_assistant_message: `Noted: ${text}` })]) {
      const res = await server.ask('POST', '/v1/hooks', one);
      assert.equal(res.status, 200, res.text);
    }
  },
};

for (const [name, say] of Object.entries(doors))
  test(`none of ${kinds.length} kinds of secrets stays anywhere: ${name}`, async (t) => {
    const up = await upstream(t, (req, res, asked) => answer(res, asked, `Noted: ${asked.json?.messages?.at(-1).content}`));
    const server = await serve(t, { flags: ['--upstream', `${up.url}/v1`] });
    const said = [];
    for (const [i, kind] of kinds.entries()) said.push(await say(server, kind, i));
    await server.chat({ model: 'm', messages: [user('What do you know of my passwords, keys, codes, cards and numbers?')] });
    for (const target of ['/v1/memories/export?all=true&space=*', '/v1/receipts?limit=100&space=*', '/v1/memories?limit=500', '/v1/sessions?limit=100', '/v1/review?space=*', '/v1/profile'])
      said.push((await server.ask('GET', target)).text);
    assert.deepEqual(found(Buffer.from(said.join('\n'))), [], 'answers, exports, receipts');
    // The request's own message goes on as it is.
    const asked = up.asked.filter((one) => one.json?.messages);
    if (name === 'chat') assert.equal(asked[0].json.messages.at(-1).content.endsWith(kinds[0].text), true);
    assert.deepEqual(found(Buffer.from(JSON.stringify(asked.map((one) => one.json.messages.slice(0, -1))))), [], 'what the model is given');
    await server.stop();
    assert.deepEqual(found(Buffer.from(server.stderr + server.stdout)), [], 'the log');
    const files = fs.readdirSync(server.data, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    assert.ok(files.length);
    for (const file of files)
      assert.deepEqual(found(fs.readFileSync(path.join(file.parentPath ?? file.path, file.name))), [], file.name);
  });
