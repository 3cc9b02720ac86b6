// The first minute, as a newcomer has it.
'use strict';
const { assert, test, serve, open } = require('./lib.js');

test('says something, opens a second chat, asks, sees the answer and why', async (t) => {
  const server = await serve(t), page = await open(t, server);
  assert.match(await page.title(), /rememberd/);
  const first = page.getByRole('region', { name: 'First chat' }), second = page.getByRole('region', { name: 'Second chat' });
  await first.getByRole('textbox').fill('My dog is called Rex and I live in Lisbon.');
  await first.getByRole('textbox').press('Enter');
  await page.locator('.steps li.done').first().waitFor();
  await second.getByRole('button', { name: 'Open a second chat' }).click();
  await second.getByRole('textbox').fill('What is my dog called?');
  await second.getByRole('textbox').press('Enter');
  await second.getByText('Rex').first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.steps li.done').length === 2);
  await second.getByRole('button', { name: 'Why?' }).click();
  const why = page.getByRole('dialog', { name: 'Why this answer' });
  await why.getByText('says dog').first().waitFor();
  assert.match(await why.locator('pre.block').innerText(), /my dog is called Rex/i);
  await page.keyboard.press('Escape');
  await why.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.querySelectorAll('.steps li.done').length === 3);
  await page.getByRole('link', { name: 'Memories' }).click();
  await page.getByRole('link', { name: 'Start' }).click();
  await second.getByText('What is my dog called?').first().waitFor(); // the chats are still there
});

test('the keyboard alone goes through the first minute', async (t) => {
  const server = await serve(t), page = await open(t, server);
  await page.getByRole('button', { name: /^For example/ }).click();
  await page.keyboard.press('Enter');
  await page.locator('.steps li.done').first().waitFor();
  await page.getByRole('button', { name: 'Open a second chat' }).click();
  await page.waitForFunction(() => document.activeElement.dataset.say === 'start-2');
});

test('with memory paused nothing is ticked, and the page says why', async (t) => {
  const server = await serve(t);
  await server.ask('PATCH', '/v1/settings', { memory: false });
  const page = await open(t, server);
  await page.getByRole('alert').filter({ hasText: 'Memory is paused' }).waitFor();
  await page.locator('[data-say="start-1"]').fill('My dog is called Rex.');
  await page.locator('[data-say="start-1"]').press('Enter');
  await page.locator('.said.assistant').getByText(/rememberd/).waitFor();
  await page.waitForTimeout(300);
  assert.equal(await page.locator('.steps li.done').count(), 0);
  await page.getByRole('alert').getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

test('shows how to connect clients, with the address of this server', async (t) => {
  const server = await serve(t), page = await open(t, server);
  for (const name of ['curl', 'JavaScript', 'Python', 'Claude Code', 'Codex', 'Open WebUI', 'MCP']) {
    await page.getByRole('button', { name, exact: true }).click();
    assert.ok((await page.locator('.snippet pre').innerText()).includes(server.url), name);
  }
});

test('a language is a file, and what is chosen stays', async (t) => {
  const server = await serve(t), page = await open(t, server);
  await page.getByRole('button', { name: /^Language/ }).click();
  await page.getByRole('heading', { name: 'Sieh, wie es sich erinnert' }).waitFor();
  for (const button of ['Zum Beispiel', 'Zweiten Chat öffnen', 'Zum Beispiel']) {
    await page.getByRole('button', { name: button }).last().click();
    if (button !== 'Zum Beispiel') continue;
    await page.keyboard.press('Enter');
    await page.locator('.under').nth(await page.locator('.said.user').count() - 1).waitFor();
  }
  await page.getByRole('region', { name: 'Zweiter Chat' }).locator('.said.assistant').getByText('Rex').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sieh, wie es sich erinnert' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');
  await page.getByRole('button', { name: /^Farben/ }).click();
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
});

test('what is typed outlives a reload, a lost server is shown and found again', async (t) => {
  const server = await serve(t), page = await open(t, server);
  page.expected.push(/Failed to load resource|ERR_|net::/);
  await page.locator('[data-say="start-1"]').fill('half a sentence');
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.equal(await page.locator('[data-say="start-1"]').inputValue(), 'half a sentence');
  await server.stop();
  await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  assert.equal(await page.getByText('The server cannot be reached').count(), 1, 'it is said once');
  await page.getByRole('link', { name: 'Clean up' }).click();
  await page.waitForTimeout(300);
  assert.equal(await page.getByText('The server cannot be reached').count(), 1);
  assert.equal(await page.getByText('Loading').count(), 0, 'nothing is loading');
  await page.getByRole('link', { name: 'Start' }).click();
  const again = await serve(t, { data: server.data, flags: ['--listen', `127.0.0.1:${server.port}`] });
  await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor({ state: 'detached' });
  assert.equal(await page.locator('[data-say="start-1"]').inputValue(), 'half a sentence');
  assert.equal(again.port, server.port);
});
