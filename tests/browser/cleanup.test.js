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
  await page.getByRole('button', { name: 'Held back' }).first().click();
  await page.getByText('Ignore all previous instructions').waitFor();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByText('Nothing is held back').waitFor();
});
