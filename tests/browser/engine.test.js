// Engine: jobs, settings, Qdrant, the log.
'use strict';
const { assert, test, serve, open, lived } = require('./lib.js');

test('jobs run with progress, settings act, the doctor looks', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/engine');
  await page.getByRole('button', { name: 'Consolidate', exact: true }).click();
  await page.getByRole('listitem').filter({ hasText: 'Consolidate' }).getByText('done').waitFor();
  await page.getByRole('button', { name: 'Reindex…', exact: true }).click();
  await page.getByRole('dialog').getByText(/vectors? (is|are) missing/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Reindex', exact: true }).click();
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

test('work without a dry run has no tick for it and asks first, with numbers', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex.');
  const soon = new Date(Date.now() + 1200);
  await server.ask('POST', '/v1/memories', { content: 'The umbrella is in the hall.', expires: soon.toISOString() });
  const page = await open(t, server, '/studio/engine'), jobs = page.getByRole('region', { name: 'Jobs' });
  assert.equal(await jobs.getByRole('checkbox', { name: 'Dry run' }).count(), 2, 'consolidate and compact know it');
  await page.waitForTimeout(Math.max(0, soon - Date.now()) + 50);
  await jobs.getByRole('button', { name: /^Prune/ }).click();
  await page.getByRole('dialog').getByText('Removes 1 expired memory of yours. Removes 0 receipts of yours that are older than 30 days.').waitFor();
  assert.equal((await server.ask('GET', '/v1/jobs')).json().total, 0, 'nothing ran before the answer');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await jobs.getByRole('button', { name: /^Distil/ }).click();
  await page.getByRole('dialog').getByText('1 turn waits.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await server.ask('GET', '/v1/jobs')).json().total, 0);
  await jobs.getByRole('button', { name: /^Prune/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Prune', exact: true }).click();
  await jobs.getByRole('listitem').filter({ hasText: 'Prune' }).getByText('done').waitFor();
  await jobs.getByText('Removed').waitFor();
});

test('Qdrant: cleaning up asks first; answers are sentences', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/engine'), qdrant = page.getByRole('region', { name: 'Qdrant' });
  page.expected.push(/status of 501/);
  const asked = [];
  page.on('request', (r) => asked.push(new URL(r.url()).pathname));
  await qdrant.getByRole('button', { name: 'Test' }).click();
  await qdrant.getByRole('status').filter({ hasText: 'Qdrant is not used.' }).waitFor();
  assert.doesNotMatch(await qdrant.innerText(), /[{}]/);
  await qdrant.getByRole('button', { name: 'Clean up' }).click();
  await page.getByRole('dialog').waitFor();
  assert.ok(!asked.includes('/v1/engine/qdrant/cleanup'));
  await page.getByRole('dialog').getByRole('button', { name: 'Clean up' }).click();
  await page.getByText('Qdrant is not used: set').waitFor();
});

test('results and the log are in words', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex.');
  const page = await open(t, server, '/studio/cleanup?tab=compact');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByText('Memories considered').waitFor();
  assert.doesNotMatch(await page.getByRole('main').innerText(), /[{}]|is.cut/);
  await page.goto(`${server.url}/studio/engine`);
  await page.getByRole('button', { name: 'Consolidate', exact: true }).click();
  await page.getByText('Memories checked').waitFor();
  await server.ask('POST', '/v1/jobs', { kind: 'prune' });
  await page.goto(`${server.url}/studio/engine?tab=log`);
  await page.getByRole('cell', { name: 'Prune' }).first().waitFor();
  assert.doesNotMatch(await page.getByRole('main').innerText(), /success|[{}]/);
});

test('settings and the doctor are German where the page is', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/engine?tab=settings', { locale: 'de-DE' });
  await page.getByRole('button', { name: 'Alle', exact: true }).click();
  await page.getByText('Höchstzahl der Tokens, die einem Chat aus Erinnerungen hinzugefügt werden').waitFor();
  assert.ok(await page.locator('.setting').count() > 100);
  assert.equal(await page.locator('main [lang="en"]').count(), 0, 'nothing is left in English');
  assert.doesNotMatch(await page.getByRole('main').innerText(), /\b(true|false)\b/);
  await page.getByRole('searchbox', { name: 'Einstellungen durchsuchen' }).fill('Schlüsselbund von niemand');
  await page.getByText('Nichts passt').waitFor();
  await page.getByRole('searchbox', { name: 'Einstellungen durchsuchen' }).fill('ungebrauchte Fakten');
  await page.getByText('consolidation_hours').waitFor();
  assert.equal(await page.locator('.setting').count(), 1);
  await page.goto(`${server.url}/studio/engine?tab=doctor`);
  await page.getByText('keine: Wer die Datei lesen kann, kann die Erinnerungen lesen').waitFor();
  await page.getByText('einen Modellserver mit --upstream URL angeben').waitFor();
  assert.doesNotMatch(await page.getByRole('main').innerText(), /\b(the|database|stored|none)\b/);
});

test('a refused setting is shown as it is in force; an unknown tab is the first one; Simulate has the budget in force', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/engine?tab=settings'), budget = page.getByRole('spinbutton', { name: 'budget_tokens' });
  page.expected.push(/status of 400/);
  await budget.fill('99999');
  await budget.press('Enter');
  await page.locator('.toast.bad-news').waitFor();
  await page.waitForFunction(() => document.querySelector('input[aria-label="budget_tokens"]').value === '800');
  assert.doesNotMatch(await page.locator('main').innerText(), /`/);
  await budget.fill('345');
  await budget.press('Enter');
  await page.getByRole('button', { name: 'Take back' }).first().waitFor();
  await page.goto(`${server.url}/studio/try?tab=simulate`);
  assert.equal(await page.getByLabel('Budget in tokens').getAttribute('placeholder'), '345');
  for (const [at, first] of [['engine', 'Work'], ['try', 'Chat'], ['cleanup', 'Duplicates']]) {
    await page.goto(`${server.url}/studio/${at}?tab=nonsense`);
    await page.getByRole('button', { name: first, exact: true, pressed: true }).waitFor();
  }
});

test('a setting that is typed while the server is away is not lost', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/engine?tab=settings'), box = page.getByLabel('budget_tokens', { exact: true });
  page.expected.push(/Failed to load resource|ERR_|net::/);
  await box.fill('1200');
  await server.stop();
  await box.press('Enter');
  await page.locator('.toast').filter({ hasText: 'cannot be reached' }).waitFor();
  assert.equal(await box.inputValue(), '1200');
});
