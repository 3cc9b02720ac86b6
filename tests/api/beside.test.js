// beside.test.js - commands run beside a server and beside each other, on one data folder: none fails because of another.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { run, serve, tempFolder } = require('./lib');

const LANES = 3, ROUNDS = 2;
const commands = (copy) => [['add', 'I like tea.'], ['backup', copy(1)], ['list'], ['forget', '--everything', '--yes'], ['search', 'tea'], ['backup', copy(2)], ['export'],
  ['add', 'I like coffee.', '--space', 'other'], ['backup', copy(3)], ['consolidate'], ['token', 'list'], ['review'], ['backup', copy(4)], ['erasures'],
  ['forget', '--everything', '--yes', '--space', 'other'], ['reindex'], ['doctor']];
const onPostgres = Boolean(process.env.TEST_STORE), left = (args) => onPostgres && args[0] === 'backup'; // of PostgreSQL there are others
// What another lane has erased is not there, and an erasure waits ten seconds for those who read: these are answers, and no failures.
const answers = /^\s*rememberd (forget: (there is nothing to forget|the user 'local' has no space.*nothing was erased.*|it is erased, but a long read of the database.*))\s*$/;

async function isSound(data) {
  const looked = await run(['doctor', '--deep', '--data', data]);
  assert.equal(looked.code, 0, looked.stdout);
}

async function lane(data, no, failures) {
  const folder = tempFolder();
  for (let round = 0; round < ROUNDS; round++) {
    const list = commands((k) => path.join(folder, `${round}-${k}.db`));
    for (let i = 0; i < list.length; i++) {
      const args = list[(i + 6 * no) % list.length];
      if (left(args)) continue;
      const res = await run([...args, '--data', data]);
      if (res.code !== 0 && !answers.test(res.stderr)) failures.push(`${args.join(' ')}: ${res.code ?? res.signal} ${res.stderr}`);
    }
  }
  if (onPostgres) return;
  // A backup is a database: it is looked at where commands expect one.
  fs.renameSync(path.join(folder, '1-4.db'), path.join(folder, 'rememberd.db'));
  await isSound(folder);
}

for (const beside of ['a server that chats', 'nothing else']) {
  test(`commands beside each other and beside ${beside}`, async (t) => {
    const server = await serve(t), failures = [];
    let isOver = false;
    const chat = async () => {
      for (let i = 0; !isOver; i++) {
        const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: `My parrot number ${i} is called Quito.` }] });
        if (res.status !== 200) failures.push(`chat: ${res.status} ${res.text}`);
      }
    };
    if (beside === 'nothing else') await server.stop();
    const chats = beside === 'nothing else' ? undefined : chat();
    await Promise.all(Array.from({ length: LANES }, (_, no) => lane(server.data, no, failures)));
    isOver = true;
    await chats;
    assert.deepEqual(failures, []);
    await isSound(server.data); // no vector, count or word is left of what was erased
  });
}
