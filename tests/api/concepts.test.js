// concepts.test.js - the worked examples of docs/concepts.md: what was said before, what is asked, and what is inserted.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { serve, until } = require('./lib');

const page = fs.readFileSync(path.join(__dirname, '../../docs/concepts.md'), 'utf8');

/** The numbered examples that have a table. One without "Said before" goes on with what was said in the example before it. */
function examples() {
  let said = [];
  return page.split(/\n### \d\. /).slice(1).map((part) => {
    const [title, ...rest] = part.split('\n## ')[0].split('\n'), before = /\nSaid before[^]*?\n\n/.exec(rest.join('\n'));
    if (before) said = [...before[0].matchAll(/\*([^*]+)\*/g)].map(([, text]) => text.replace(/\s+/g, ' '));
    const rows = rest.filter((line) => line.startsWith('| ')).slice(1).map((line) => line.slice(2, -2).split(' | '));
    return { title, said, rows };
  }).filter(({ rows }) => rows.length);
}

test('there are seven examples with a table', () => assert.equal(examples().length, 7));

for (const { title, said, rows } of examples())
  test(title, async (t) => {
    const server = await serve(t);
    for (const text of said) await server.tell(text);
    for (const [question, inserted] of rows) {
      // The encoder is loaded, and texts get their vectors, in the background.
      const receipt = await until(`an answer by meaning, too: ${question}`, async () => {
        const body = { model: 'rememberd/demo', messages: [{ role: 'user', content: question }] };
        const res = await server.ask('POST', '/v1/chat/completions', body, { 'x-memory-mode': 'readonly' });
        const got = await server.receipt(res.headers['x-rememberd-receipt']);
        return !/keyword search only/.test(got.reason) && got;
      }, 60000);
      if (inserted.startsWith('nothing')) assert.equal(receipt.block, '', question);
      else for (const line of inserted.split(' / ')) assert.ok(receipt.block.includes(line), `${question}: "${line}" is not in\n${receipt.block}`);
    }
  });
