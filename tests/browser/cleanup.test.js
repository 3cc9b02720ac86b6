// Clean up: what could go, and what is asked before it goes.
'use strict';
const { assert, test, serve, open, lived } = require('./lib.js');

test('what could go is shown: duplicates, never used, held back', async (t) => {
  const server = await lived(t, 0); // the two that are alike are to be among the first
  const at = '2026-11-01T00:00:00.000Z', line = (id, content) => JSON.stringify({ kind: 'memory', id, content, created: at, updated: at });
  const two = [line('00000000-0000-4000-8000-000000000001', 'Ada keeps three bees in the garden of the old house.'), line('00000000-0000-4000-8000-000000000002', 'Ada keeps three bees in the garden of the very old house.')];
  assert.equal((await server.ask('POST', '/v1/memories/import', two.join('\n'), { 'content-type': 'application/jsonl' })).status, 200);
  const page = await open(t, server, '/studio/cleanup');
  await page.getByText(/% alike/).first().waitFor();
  await page.getByRole('button', { name: 'Never used' }).click();
  await page.getByText('Ada keeps three bees in the garden of the old house.').waitFor();
  await page.getByRole('button', { name: 'Quarantined' }).first().click();
  await page.getByText('Ignore all previous instructions').waitFor();
  await page.getByText('it reads as an instruction to the model').waitFor();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByText('Nothing is quarantined').waitFor();
});

test('never used: young memories are left out, and all are forgotten only after a question', async (t) => {
  const server = await serve(t), old = new Date(Date.now() - 8 * 864e5).toISOString();
  const lines = [1, 2].map((n) => JSON.stringify({ kind: 'memory', id: `00000000-0000-4000-8000-00000000000${n}`, content: `Old statement ${n}.`, created: old, updated: old }));
  assert.equal((await server.ask('POST', '/v1/memories/import', lines.join('\n'), { 'content-type': 'application/jsonl' })).status, 200);
  await server.ask('POST', '/v1/memories', { content: 'Ada keeps bees since today.' });
  const page = await open(t, server, '/studio/cleanup?tab=unused');
  await page.getByText('Old statement 2.').waitFor();
  await page.getByText('more than 7 days old').waitFor();
  assert.equal(await page.getByText('Ada keeps bees').count(), 0);
  await page.getByRole('button', { name: /^Forget these/ }).click();
  const asks = page.getByRole('dialog', { name: 'Forget 2 memories' });
  for (const n of [1, 2]) await asks.getByText(`Old statement ${n}.`).waitFor();
  await asks.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 3, 'nothing is gone before the answer');
  await page.getByRole('button', { name: /^Forget these/ }).click();
  await asks.getByRole('button', { name: 'Forget 2 memories' }).click();
  await page.getByText('Every memory was used, or is still young').waitFor();
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Old statement 1.').waitFor();
});
