// Engine: jobs, settings, Qdrant, the log.
'use strict';
const { assert, test, serve, open, until, lived } = require('./lib.js');

test('jobs run with progress, settings act, the doctor looks', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/engine');
  await page.getByRole('button', { name: 'Consolidate', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: 'Consolidate' }).getByText('done').waitFor();
  await page.getByRole('button', { name: 'Reindex', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: 'Reindex' }).first().waitFor();
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('spinbutton', { name: 'budget_tokens' }).fill('123');
  await page.getByRole('spinbutton', { name: 'budget_tokens' }).press('Enter');
  await page.getByRole('button', { name: 'Take back' }).first().waitFor();
  const now = (await server.ask('GET', '/v1/settings')).json().items.find((s) => s.name === 'budget_tokens');
  assert.equal(now.value, 123);
  await page.getByRole('button', { name: 'Take back' }).first().click();
  await page.getByRole('button', { name: 'Doctor' }).click();
  await page.getByText('database').first().waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Memory is paused.').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Memory is on.').waitFor();
});
