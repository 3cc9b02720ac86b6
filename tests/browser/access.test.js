// Access: tokens, people, signing in.
'use strict';
const { assert, test, serve, open, lived } = require('./lib.js');

test('tokens: made, shown once, signed in with, signed out, revoked', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/access');
  page.expected.push(/status of 401/);
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('laptop');
  await page.getByRole('dialog').getByText('Admin token').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make a token' }).click();
  const token = (await page.getByRole('dialog').locator('pre').innerText()).trim();
  assert.match(token, /^rk_/);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Token').fill('rk_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('cell', { name: /laptop/ }).waitFor();
  const cookie = (await page.context().cookies()).find((c) => c.name === 'rememberd_session');
  assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict');
  await page.goto(`${server.url}/studio/memories`);
  await page.getByText('lives in Lisbon').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});
