// The other pages: try, receipts, conversations, timeline.
'use strict';
const http = require('node:http');
const { assert, test, serve, open, lived } = require('./lib.js');

test('Try shows what the model was given, and what would be different', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/try');
  await page.locator('[data-say="try"]').fill('What tea do I like?');
  await page.locator('[data-say="try"]').press('Enter');
  const why = page.getByRole('region', { name: 'Why this answer' });
  await why.getByText('green tea').first().waitFor();
  await why.getByRole('button', { name: 'What if' }).click();
  const given = page.getByRole('region', { name: 'A chat would receive' });
  await given.getByText('green tea').first().waitFor();
  const before = (await server.ask('GET', '/v1/receipts')).json().total;
  await given.getByRole('button', { name: 'Try without it' }).first().click();
  await page.getByRole('button', { name: /1 left out by you/ }).waitFor();
  await page.getByLabel('Why not this one?').fill('Contoso');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByRole('status').filter({ hasText: /best twenty|not enough|left out/ }).waitFor();
  assert.equal((await server.ask('GET', '/v1/receipts')).json().total, before, 'a simulation writes nothing');
  await page.goto(`${server.url}/studio/try`);
  await page.getByRole('combobox', { name: 'Memory in this chat' }).selectOption('off');
  await page.locator('[data-say="try"]').fill('My cat is called Momo.');
  await page.locator('[data-say="try"]').press('Enter');
  await page.locator('.said.assistant').last().waitFor();
  await why.getByText('The last answer had no memory').waitFor();
  await page.waitForTimeout(300);
  assert.ok(!/Momo/.test((await server.ask('GET', '/v1/memories')).text), 'a temporary chat is not kept');
});

test('receipts come as they are written', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/receipts');
  await page.getByText('What is my dog called?').first().waitFor();
  await server.tell('Where do I live these days?');
  await page.getByText('Where do I live these days?').waitFor();
  await page.getByText('6 receipts').waitFor();
  await page.getByRole('button', { name: 'Without memory' }).click();
  await page.getByText('What is my dog called?').waitFor({ state: 'detached' });
  const shown = await page.getByRole('row').count() - 1;
  await page.getByRole('status').filter({ hasText: `${shown} of 6 receipts` }).waitFor();
  await page.getByRole('button', { name: 'Failed' }).click();
  await page.getByText('No receipt fits this filter').waitFor();
  await page.getByRole('button', { name: 'With memory' }).click();
  await page.getByText('What is my dog called?').click();
  await page.getByRole('dialog', { name: 'Receipt' }).getByText('What the model received').waitFor();
});

test('a conversation is found by what was said in it, and opens there', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/sessions'), search = page.getByRole('searchbox', { name: 'Search conversations' });
  const first = page.getByRole('main').getByRole('listitem').first();
  await first.waitFor();
  await search.fill('Do I work at Contoso?');
  await first.getByText('I now work at Contoso.').waitFor();
  await search.fill('Was I ever at Northwind?');
  await first.getByText('I work at Northwind.').click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('I work at Northwind.').waitFor();
  assert.match(page.url(), /id=monday.*at=[0-9a-f-]{36}/);
});

test('a conversation is read, renamed and forgotten', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/sessions?id=monday');
  const talk = page.getByRole('region', { name: 'Conversation' });
  await talk.getByText('3 learnt').waitFor();
  await talk.getByRole('button', { name: /^Learnt/ }).click();
  await talk.getByText('lives in Lisbon').waitFor();
  await talk.getByRole('textbox', { name: 'Title' }).fill('About me');
  await talk.getByRole('textbox', { name: 'Title' }).press('Enter');
  await page.getByRole('listitem').getByText('About me').waitFor();
  await talk.getByRole('button', { name: 'Forget' }).click();
  await page.getByRole('button', { name: 'Forget it and what was learnt' }).click();
  await page.getByText('The conversation is forgotten').waitFor();
  assert.ok(!/Lisbon/.test((await server.ask('GET', '/v1/memories')).text));
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('listitem').getByText('About me').waitFor();
});

test('plots have data, and lanes show what followed what', async (t) => {
  const server = await lived(t), page = await open(t, server, '/studio/timeline');
  await page.getByRole('heading', { name: 'Memories added, by type' }).waitFor();
  const drawn = () => page.locator('.plot canvas').evaluateAll((all) => all.map((c) => {
    const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
    return data.some((v, i) => i % 4 === 3 && v > 0);
  }));
  await page.locator('.plot canvas').first().waitFor();
  assert.ok((await drawn()).length >= 4 && (await drawn()).every(Boolean));
  await page.locator('.lane', { hasText: 'Contoso' }).getByText('Northwind').waitFor({ state: 'attached' });
  await page.getByText('As a table').first().click();
});

test('Try: the answer of a temporary chat does not show the receipt of another; on a phone Why is scrolled to', async (t) => {
  const server = await serve(t);
  await server.tell('I prefer green tea.');
  const page = await open(t, server, '/studio/try', { viewport: { width: 390, height: 844 } }), say = page.locator('[data-say="try"]');
  const why = page.getByRole('region', { name: 'Why this answer' });
  for (let n = 1; n < 4; n++) {
    await say.fill('What tea do I prefer?');
    await say.press('Enter');
    await page.getByRole('button', { name: 'Why?' }).nth(n - 1).waitFor();
  }
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole('button', { name: 'Why?' }).first().click();
  const box = await why.boundingBox();
  assert.ok(box.y < 700, `the panel is in sight: at ${box.y}`);
  await page.getByRole('combobox', { name: 'Memory in this chat' }).selectOption('off');
  await say.fill('What tea do I prefer?');
  await say.press('Enter');
  await why.getByText('The last answer had no memory').waitFor();
  assert.equal(await why.locator('pre.block').count(), 0);
});

test('a model server that does not answer is said; its 401 signs nobody out', async (t) => {
  const server = await serve(t, { flags: ['--upstream', 'http://127.0.0.1:9/v1'] });
  const page = await open(t, server, '/studio/try');
  page.expected.push(/status of (401|502)/);
  for (const at of ['/studio/try', '/']) {
    await page.goto(server.url + at);
    await page.getByRole('alert').filter({ hasText: 'The model server does not answer' }).waitFor();
  }
  const refuses = http.createServer((_req, res) => res.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no key","type":"auth"}}'));
  await new Promise((done) => refuses.listen(0, '127.0.0.1', done));
  t.after(() => refuses.close());
  const locked = await serve(t, { flags: ['--upstream', `http://127.0.0.1:${refuses.address().port}/v1`] });
  const other = await open(t, locked, '/studio/try');
  other.expected.push(/status of 401/);
  await other.getByRole('alert').filter({ hasText: 'no key' }).waitFor();
  assert.equal(await other.getByRole('heading', { name: 'Sign in' }).count(), 0);
});

test('the line above counts the chats that were given something', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex.', { 'x-session-id': 'one' });
  await server.tell('How high is the Eiffel Tower?', { 'x-session-id': 'two' });
  await server.tell('What is my dog called?', { 'x-session-id': 'three' });
  const page = await open(t, server);
  await page.locator('.top').getByText('inserted into 1 chat.').waitFor();
});

test('a message is forgotten in its conversation, with what was learnt from it, and put back', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex.', { 'x-session-id': 'monday' });
  await server.tell('The weather is fine.', { 'x-session-id': 'monday' });
  const page = await open(t, server, '/studio/sessions?id=monday'), said = page.locator('.said.user').filter({ hasText: 'My dog' });
  await said.getByRole('button', { name: /^Forget this message/ }).click();
  await page.getByText('Forgot “My dog is called Rex.”').waitFor();
  await said.waitFor({ state: 'detached' });
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await said.waitFor();
  const { memories } = (await server.ask('GET', '/v1/memories')).json();
  assert.equal(memories.length, 1);
  await server.ask('DELETE', `/v1/memories/${memories[0].id}`);
  await said.getByText('not used in chats').waitFor();
});

test('j, k and Enter go through receipts and conversations', async (t) => {
  const server = await serve(t);
  for (const day of ['monday', 'tuesday']) await server.tell(`My dog is called Rex on ${day}.`, { 'x-session-id': day });
  const page = await open(t, server, '/studio/receipts');
  await page.getByText('on tuesday').waitFor();
  for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key);
  const drawer = page.getByRole('dialog', { name: 'Receipt' });
  await drawer.waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  assert.match(await page.evaluate(() => document.activeElement.textContent), /on tuesday/);
  await page.goto(`${server.url}/studio/sessions`);
  await page.getByRole('listitem').getByText('on monday').waitFor();
  for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('region', { name: 'Conversation' }).getByText('on monday').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'Conversation' }).waitFor({ state: 'detached' });
});

test('each space has its chat; what is in another space is shown from there', async (t) => {
  const server = await serve(t);
  await server.tell('I drink green tea.', { 'x-session-id': 'monday' });
  await server.tell('I drink black tea.', { 'x-session-id': 'monday', 'x-memory-space': 'work' });
  const { items } = (await server.ask('GET', '/v1/receipts?space=work')).json();
  const page = await open(t, server, '/studio/try'), choice = page.getByRole('combobox', { name: 'Space' }), box = page.getByRole('textbox', { name: 'Message' });
  const say = async (text) => {
    await box.fill(text);
    await box.press('Enter');
    await page.locator('.said.assistant .under').last().waitFor();
  };
  await say('Which tea do I drink?');
  await box.fill('half of');
  await choice.selectOption('work');
  await page.getByText('A new chat').waitFor();
  assert.equal(await box.inputValue(), '');
  await say('Which tea, please?');
  await choice.selectOption('*');
  await page.getByText('A chat is of one space: this is default.').waitFor();
  await page.getByText('Which tea do I drink?').first().waitFor();
  assert.equal(await box.inputValue(), 'half of');
  await page.goto(`${server.url}/studio/receipts?id=${items[0].id}`);
  await page.getByRole('button', { name: 'Show the conversation' }).click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('I drink black tea.').waitFor();
  await choice.selectOption('');
  await page.getByRole('link', { name: 'Conversations' }).click();
  await page.locator('button.session').first().waitFor();
  await page.waitForTimeout(300);
  assert.deepEqual([...new Set((await page.locator('button.session').allInnerTexts()).filter((s) => /black|please/.test(s)))], [], 'of the own space only');
});

test('more than one page of conversations, messages and receipts; what comes meanwhile does not take them away', async (t) => {
  const server = await serve(t), lines = [];
  for (let i = 0; i < 230; i++) lines.push({ kind: 'session', id: `talk-${i}`, title: `Talk ${i}` }, { kind: 'message', session: `talk-${i}`, id: `word-${i}`, role: 'user', text: `Word ${i}.`, created: new Date(1.7e12 + i * 1e6).toISOString() });
  for (let i = 0; i < 450; i++) lines.push({ kind: 'message', session: 'talk-0', id: `line-${i}`, role: 'user', text: `Line ${i} of it.`, created: new Date(1.71e12 + i * 1e6).toISOString() });
  const res = await server.ask('POST', '/v1/memories/import', lines.map((l) => JSON.stringify(l)).join('\n'), { 'content-type': 'application/jsonl' });
  assert.equal(res.status, 200, res.text);
  const page = await open(t, server, '/studio/sessions'), rows = page.locator('[data-row]'), more = page.getByRole('button', { name: 'More', exact: true });
  await more.click();
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 200);
  await more.click();
  await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 230);
  await rows.first().click();
  const talk = page.getByRole('region', { name: 'Conversation' });
  await talk.getByText('Line 0 of it.').waitFor();
  await talk.getByRole('button', { name: 'More' }).click();
  await talk.getByText('Line 399 of it.').or(talk.getByText('Line 398 of it.')).first().waitFor();
  await talk.getByRole('button', { name: 'More' }).click();
  await talk.getByText('Line 449 of it.').waitFor();
});

test('the title of a conversation is edited like other fields, and half of it outlives a reload', async (t) => {
  const server = await serve(t);
  await server.tell('I drink green tea.', { 'x-session-id': 'monday' });
  const page = await open(t, server, '/studio/sessions?id=monday'), title = page.getByRole('textbox', { name: 'Title' }), path = '/v1/sessions/monday';
  await title.fill('About te');
  await page.reload();
  await page.waitForFunction(() => document.querySelector('input[aria-label="Title"]')?.value === 'About te');
  await title.focus();
  await server.ask('PATCH', path, { title: 'By another tab' });
  await page.getByText(/Changed elsewhere meanwhile to “By another tab”/).waitFor();
  await title.press('Escape');
  assert.equal(await title.inputValue(), 'By another tab');
  await title.fill('');
  await title.press('Enter');
  await page.getByText('A title needs a text.').waitFor();
  await title.fill('About tea');
  await title.press('Enter');
  await page.locator('button.session').getByText('About tea').waitFor();
});
