// Everything that is remembered: seen, found, corrected, forgotten, and brought back.
'use strict';
const { assert, test, serve, until, open, seed } = require('./lib.js');
const fs = require('node:fs');

const rows = (page) => page.getByRole('listbox').getByRole('option');
const total = (page, n) => page.getByRole('status').filter({ hasText: new RegExp(`^${n} memor`) }).waitFor();

test('with 10,000 memories: scrolls, searches, filters, sorts; reload and back keep the place', async (t) => {
  const server = await serve(t);
  await seed(server, 10000);
  const page = await open(t, server, '/studio/memories');
  await total(page, '10,000');
  assert.ok((await rows(page).count()) < 60, 'only the rows in sight exist');
  await page.getByRole('listbox').evaluate((box) => (box.scrollTop = 5000 * 56));
  await page.getByText('Statement 4999 ').waitFor();
  await page.getByRole('searchbox').fill('Statement 777');
  await total(page, 11);
  assert.equal(await page.locator('mark').first().innerText(), 'Statement');
  await page.getByRole('searchbox').fill('');
  await total(page, '10,000');
  await page.getByRole('group', { name: 'Category' }).getByRole('button', { name: /^home/ }).click();
  await total(page, '1,667');
  assert.match(page.url(), /category=home/);
  await page.getByRole('combobox', { name: 'Sort' }).selectOption('importance');
  await page.reload();
  await total(page, '1,667');
  await page.getByRole('link', { name: 'Receipts' }).click();
  await page.getByRole('heading', { level: 1, name: 'Receipts' }).waitFor();
  await page.goBack();
  await total(page, '1,667');
});

test('is added, corrected in place, taken back, forgotten, and put back', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/memories');
  await page.getByText('Nothing is remembered yet').waitFor();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: /^Text/ }).fill('Ada drinks green tea.');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await rows(page).first().click();
  const drawer = page.getByRole('dialog', { name: 'Memory' }), content = drawer.getByRole('textbox', { name: 'Text' });
  await content.fill('never kept');
  await content.press('Escape');
  assert.equal(await content.inputValue(), 'Ada drinks green tea.');
  await content.fill('Ada drinks black tea.');
  await content.press('Enter');
  await page.getByRole('listbox').getByText('Ada drinks black tea.').waitFor();
  await drawer.getByRole('button', { name: 'History' }).click();
  await drawer.getByText('Text was: Ada drinks green tea.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('listbox').getByText('Ada drinks green tea.').waitFor();
  await drawer.getByRole('button', { name: 'Forget' }).click();
  await page.getByText('Nothing is remembered yet').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('listbox').getByText('Ada drinks green tea.').waitFor();
});

test('many are selected and forgotten at once, by keyboard as well', async (t) => {
  const server = await serve(t);
  await seed(server, 30);
  const page = await open(t, server, '/studio/memories');
  await total(page, 30);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('2 selected').waitFor();
  await page.getByRole('button', { name: 'Forget', exact: true }).click();
  await total(page, 28);
  await page.getByRole('button', { name: 'Undo' }).click();
  await total(page, 30);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Select all 30' }).click();
  await page.getByRole('button', { name: 'Forget', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forget 30 memories' }).click();
  await page.getByText('Nothing is remembered yet').waitFor();
});

test('is exported and imported', async (t) => {
  const server = await serve(t), other = await serve(t);
  await seed(server, 12);
  const page = await open(t, server, '/studio/memories');
  await page.getByRole('button', { name: 'More' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export everything' }).click()]);
  const file = await download.path();
  assert.equal(fs.readFileSync(file, 'utf8').trim().split('\n').filter((l) => l.includes('"kind":"memory"')).length, 12);
  const second = await open(t, other, '/studio/memories');
  await second.getByRole('button', { name: 'More' }).click();
  await second.getByRole('button', { name: 'Import' }).click();
  await second.getByLabel('File').setInputFiles({ name: 'copy.jsonl', mimeType: 'application/jsonl', buffer: fs.readFileSync(file) });
  await second.getByRole('button', { name: 'Count', exact: true }).click();
  await second.getByRole('dialog').getByText('12', { exact: true }).first().waitFor();
  await second.getByText('Only count').click();
  await second.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  await total(second, 12);
  // A note of another program: known by its name.
  await second.getByRole('button', { name: 'More' }).click();
  await second.getByRole('button', { name: 'Import' }).click();
  await second.getByLabel('File').setInputFiles({ name: 'Tea.md', mimeType: 'text/markdown', buffer: Buffer.from('# Tea\n\nThe best tea is Lapsang.\n') });
  await second.getByText('Only count').click();
  await second.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  await total(second, 13);
});

test('shows where a memory came from and which chats were given it; two tabs stay true', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex and I live in Lisbon.');
  await server.tell('What is my dog called?');
  const page = await open(t, server, '/studio/memories'), other = await open(t, server, '/studio/memories');
  await page.getByText('lives in Lisbon').click();
  const drawer = page.getByRole('dialog', { name: 'Memory' });
  await drawer.getByRole('button', { name: 'Source' }).click();
  await drawer.getByText('My dog is called Rex and I live in Lisbon.').waitFor();
  await drawer.getByRole('button', { name: 'Show the conversation' }).click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('My dog is called Rex').first().waitFor();
  await server.ask('POST', '/v1/memories', { content: 'Written by somebody else.' });
  await other.getByText('Written by somebody else.').waitFor();
  await until('the line above', async () => /Memory is on/.test(await other.locator('.top').innerText()));
});

// Whatever a text holds, it is shown and not run.
test('texts are never read as HTML', async (t) => {
  const server = await serve(t);
  const bad = ['<img src=x onerror=alert(1)>', '<script>alert(2)</script>', '"><svg onload=alert(3)>', "javascript:alert(4)", '{{constructor.constructor("alert(5)")()}}',
    '<iframe srcdoc="<script>alert(6)</script>">', '<a href="javascript:alert(7)">x</a>', '\u202e<b>x</b>', '<style>body{display:none}</style>', '`${alert(8)}`'];
  for (const text of bad) {
    await server.ask('POST', '/v1/memories', { content: `Note ${text}`, tags: [text], category: text.slice(0, 40), key: `key ${text}`.slice(0, 60) });
    await server.tell(`My favourite word is ${text}`, { 'x-session-id': `session ${text}`.replace(/[^ -~]/g, '').slice(0, 100) });
  }
  await server.tell('What is my favourite word?');
  const page = await open(t, server, '/studio/memories');
  await page.getByText('Note <script>alert(2)</script>').first().waitFor();
  await page.getByText('Note <img src=x').first().click();
  await page.getByRole('dialog', { name: 'Memory' }).waitFor();
  for (const at of ['/studio/receipts', '/studio/sessions', '/studio/timeline', '/studio/cleanup', '/studio/try?tab=simulate&q=%3Cimg%20src%3Dx%20onerror%3Dalert(9)%3E', '/studio/memories?category=%3Cscript%3Ealert(10)%3C%2Fscript%3E']) {
    await page.goto(server.url + at);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => document.querySelectorAll('img, script:not([src]), iframe, #app a[href^="javascript"]').length), 0, at);
  }
  await page.goto(`${server.url}/studio/receipts`);
  await page.getByText('What is my favourite word?').first().click();
  await page.getByRole('dialog', { name: 'Receipt' }).locator('pre.block').waitFor();
});

test('the tabs of a memory can be read on a phone and on a low screen', async (t) => {
  const server = await serve(t);
  await server.ask('POST', '/v1/memories', { content: 'Ada keeps bees.' });
  for (const [width, height] of [[390, 844], [1280, 700], [1366, 768]]) {
    const page = await open(t, server, '/studio/memories', { viewport: { width, height } });
    await rows(page).first().click();
    const tabs = await page.getByRole('dialog', { name: 'Memory' }).getByRole('group', { name: 'Memory' }).boundingBox();
    assert.ok(tabs.height >= 24, `${width} x ${height}: ${tabs.height} high`);
  }
});

test('selecting moves no row', async (t) => {
  const server = await serve(t);
  await seed(server, 10);
  for (const width of [1280, 390]) {
    const page = await open(t, server, '/studio/memories', { viewport: { width, height: 800 } });
    const before = await rows(page).nth(3).boundingBox();
    await rows(page).nth(0).locator('.pick').click();
    await page.getByText('1 selected').waitFor();
    assert.equal((await rows(page).nth(3).boundingBox()).y, before.y);
  }
});

test('Back closes what is open over the page', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex.');
  await server.tell('What is my dog called?', { 'x-session-id': 'later' });
  const page = await open(t, server, '/studio/memories');
  for (const [at, name, what] of [['/studio/memories', 'Memory', 'my dog is called Rex'], ['/studio/receipts', 'Receipt', 'What is my dog called?']]) {
    await page.goto(server.url + at);
    await page.getByText(what).first().click();
    await page.getByRole('dialog', { name }).waitFor();
    await page.reload();
    await page.getByRole('dialog', { name }).waitFor();
    await page.goBack();
    await page.getByRole('dialog', { name }).waitFor({ state: 'detached' });
    assert.equal(page.url(), server.url + at);
    await page.getByText(what).first().click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('dialog', { name }).waitFor({ state: 'detached' });
    assert.equal(page.url(), server.url + at);
  }
  await page.goto(`${server.url}/studio/sessions`);
  await page.getByRole('listitem').getByText('What is my dog called?').click();
  const talk = page.getByRole('region', { name: 'Conversation' });
  await talk.getByRole('button', { name: /lines? inserted/ }).click();
  await page.getByRole('dialog', { name: 'Receipt' }).waitFor();
  await page.goBack();
  await page.getByRole('dialog', { name: 'Receipt' }).waitFor({ state: 'detached' });
  await talk.waitFor();
  await page.goBack();
  await talk.waitFor({ state: 'detached' });
});

test('there is one Undo for a memory, of its last change, which says what it was', async (t) => {
  const server = await serve(t);
  await server.ask('POST', '/v1/memories', { content: 'Ada keeps bees.' });
  const page = await open(t, server, '/studio/memories');
  await rows(page).first().click();
  const drawer = page.getByRole('dialog', { name: 'Memory' });
  for (const [field, value] of [['Category', 'garden'], ['Tags', 'bees']]) {
    await drawer.getByRole('textbox', { name: field }).fill(value);
    await drawer.getByRole('textbox', { name: field }).press('Enter');
    await page.getByText(`Changed ${field} of “Ada keeps bees.”`).waitFor();
  }
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 1);
  await drawer.getByRole('button', { name: 'Forget' }).click();
  await page.getByText('Forgot “Ada keeps bees.”').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Put back').waitFor();
  await rows(page).first().getByText('Ada keeps bees.').waitFor();
  assert.equal((await server.ask('GET', '/v1/memories')).json().memories[0].category, 'garden');
});

test('a memory without a message is not asked for one; Enter saves a new one; no best match says so', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/memories');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: /^Text/ }).fill('Ada keeps bees.');
  await page.keyboard.press('Enter');
  await rows(page).first().click();
  await page.getByRole('dialog', { name: 'Memory' }).getByRole('button', { name: 'Source' }).click();
  await page.getByText('No message').waitFor(); // a 404 on the console fails the test
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Best match' }).click();
  await page.getByRole('searchbox').fill('zeppelin');
  await page.getByText('No memory fits.').waitFor();
});

test('best match offers no filter, order or export that it does not apply', async (t) => {
  const server = await serve(t);
  await server.ask('POST', '/v1/memories', { content: 'Ada keeps bees.' });
  await server.ask('POST', '/v1/memories', { content: 'Ada kept bees in June.', type: 'episodic' });
  const page = await open(t, server, '/studio/memories?q=bees&how=best&importance_min=0.9');
  await total(page, 2);
  assert.equal(await page.getByLabel(/^(Created|Importance|Sort|Descending)/).count(), 0);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('button', { name: 'Export everything' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Export this list' }).count(), 0);
  await page.keyboard.press('Escape');
  await page.getByRole('group', { name: 'Type' }).getByRole('button', { name: /^Episodic/ }).click();
  await total(page, 1);
  await page.getByRole('button', { name: 'Contains' }).click();
  await page.getByLabel('Created from').waitFor();
});

test('keys: Delete is of all that are selected, e edits, Escape is back at the row, and a drawer takes no key for the list', async (t) => {
  const server = await serve(t);
  await seed(server, 10);
  const page = await open(t, server, '/studio/memories'), list = page.getByRole('listbox'), keys = async (...all) => { for (const key of all) await page.keyboard.press(key); };
  await total(page, 10);
  await keys('j', 'x', 'j', 'x', 'j', 'Delete');
  await total(page, 8);
  await page.getByText('Forgot 2 memories').waitFor();
  await keys('e');
  const text = page.getByRole('dialog', { name: 'Memory' }).getByRole('textbox', { name: 'Text' });
  await text.waitFor();
  await page.waitForFunction(() => document.activeElement.matches('.drawer textarea'));
  await keys('Escape');
  await text.waitFor({ state: 'detached' });
  assert.ok(await list.evaluate((box) => document.activeElement === box));
  assert.equal(await list.getAttribute('aria-activedescendant'), 'row-2');
  await keys('Enter');
  await page.getByRole('dialog', { name: 'Memory' }).getByRole('button', { name: 'Close' }).focus();
  await keys('x', 'Delete', 'n');
  await page.waitForTimeout(300);
  assert.equal(await page.getByText('1 selected').count(), 0);
  await total(page, 8);
});

test('an Expires that has passed is refused in the form; texts have the direction of their script', async (t) => {
  const server = await serve(t);
  await server.ask('POST', '/v1/memories', { content: 'עדה שותה תה ירוק.' });
  const page = await open(t, server, '/studio/memories');
  assert.equal(await rows(page).first().getByText('עדה').evaluate((e) => getComputedStyle(e).direction), 'rtl');
  await rows(page).first().click();
  const drawer = page.getByRole('dialog', { name: 'Memory' }), expires = drawer.getByLabel('Expires', { exact: true });
  assert.equal(await drawer.getByRole('textbox', { name: 'Text' }).evaluate((e) => getComputedStyle(e).direction), 'rtl');
  for (const date of ['2020-01-31', new Date().toISOString().slice(0, 10)]) {
    await expires.fill(date);
    await expires.blur();
    await drawer.getByRole('alert').getByText('Choose a later one.').waitFor();
  }
  assert.equal((await server.ask('GET', '/v1/memories')).json().memories[0].expires, null);
  await expires.fill('2099-12-31');
  await expires.blur();
  await page.getByText(/^Changed Expires/).waitFor();
});

/** Tea in three spaces. */
async function threeSpaces(t) {
  const server = await serve(t);
  for (const [space, content] of [['default', 'Ada drinks green tea.'], ['work', 'Ben drinks black tea.'], ['home', 'Cleo drinks white tea.']])
    await server.ask('POST', `/v1/memories?space=${space}`, { content });
  return server;
}
const left = async (server) => (await server.ask('GET', '/v1/memories?space=*')).json().total;

test('under all spaces the best match is of each, and what is selected is forgotten where it is, and put back', async (t) => {
  const server = await threeSpaces(t), page = await open(t, server, '/studio/memories?q=tea&how=best');
  await total(page, 1);
  await page.getByRole('combobox', { name: 'Space' }).selectOption('*');
  await total(page, 3);
  await rows(page).getByText(/^work · /).waitFor();
  await page.getByRole('button', { name: 'Contains' }).click();
  for (const drinks of ['black', 'white']) await rows(page).filter({ hasText: drinks }).locator('.pick').click();
  await page.getByRole('button', { name: 'Forget', exact: true }).click();
  await page.getByText('Forgot 2 memories').waitFor();
  assert.equal(await left(server), 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await total(page, 3);
  await rows(page).first().locator('.pick').click();
  await page.getByRole('button', { name: 'Select all 3' }).click();
  await page.getByRole('button', { name: 'Forget', exact: true }).click();
  await page.getByRole('button', { name: 'Forget 3 memories' }).click();
  await page.getByText('Forgot 3 memories').waitFor();
  assert.equal(await left(server), 0);
});

test('what is selected is what the list has: not beyond its filter, not what somebody else has forgotten; all is more than a thousand', async (t) => {
  const server = await serve(t);
  await seed(server, 1300);
  const page = await open(t, server, '/studio/memories?category=home');
  await total(page, 217);
  await rows(page).first().locator('.pick').click();
  await page.getByRole('button', { name: 'Select all 217' }).click();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await total(page, '1,300');
  assert.equal(await page.getByText(/selected/).count(), 0);
  const { memories } = (await server.ask('GET', '/v1/memories?limit=2')).json();
  for (const i of [0, 1]) await rows(page).nth(i).locator('.pick').click();
  await server.ask('DELETE', `/v1/memories/${memories[0].id}`);
  await page.getByText('1 selected').waitFor();
  await page.getByRole('button', { name: 'Select all 1,299' }).click();
  let calls = 0; // the second is refused
  await page.route('**/v1/memories/bulk', (route) => (++calls === 2 ? route.fulfill({ status: 503, json: { detail: 'the disk is full' } }) : route.continue()));
  page.expected.push(/status of 503/);
  const forget = async (n) => {
    await page.getByRole('button', { name: 'Forget', exact: true }).click();
    await page.getByRole('button', { name: `Forget ${n} memories` }).click();
  };
  await forget('1,299');
  await page.getByText('Forgot 1,000 memories. The rest failed: the disk is full').waitFor();
  await total(page, 299);
  await rows(page).first().locator('.pick').click();
  await page.getByRole('button', { name: 'Select all 299' }).click();
  await forget(299);
  await page.getByText('Nothing is remembered yet').waitFor();
});

test('half-typed text is neither lost nor saved over what another tab has written', async (t) => {
  const server = await serve(t), { id } = (await server.ask('POST', '/v1/memories', { content: 'Ada drinks green tea.' })).json();
  const page = await open(t, server, `/studio/memories?id=${id}`), drawer = page.getByRole('dialog', { name: 'Memory' }), content = drawer.getByRole('textbox', { name: 'Text' });
  const now = async () => (await server.ask('GET', `/v1/memories/${id}`)).json().content;
  await content.fill('Ada drinks black');
  await page.reload();
  await drawer.waitFor();
  assert.equal(await content.inputValue(), 'Ada drinks black');
  await content.focus();
  await server.ask('PATCH', `/v1/memories/${id}`, { content: 'Ada drinks coffee.' });
  await drawer.getByText(/Changed elsewhere meanwhile to “Ada drinks coffee.”/).waitFor();
  assert.equal(await content.inputValue(), 'Ada drinks black');
  await drawer.getByRole('textbox', { name: 'Tags' }).focus();
  await page.waitForTimeout(200);
  assert.equal(await now(), 'Ada drinks coffee.');
  await content.press('Escape');
  assert.equal(await content.inputValue(), 'Ada drinks coffee.');
  await content.fill('Ada drinks mate.');
  await server.ask('PATCH', `/v1/memories/${id}`, { content: 'Ada drinks water.' });
  await drawer.getByText(/“Ada drinks water.”/).waitFor();
  await content.press('Enter');
  await until('yours', async () => (await now()) === 'Ada drinks mate.');
  assert.equal(await drawer.getByRole('alert').count(), 0);
  await content.press('Escape');
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Add a memory' });
  await dialog.getByRole('textbox', { name: /^Text/ }).fill('Ben');
  await dialog.getByRole('textbox', { name: 'Category' }).fill('people');
  await page.reload();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  assert.equal(await dialog.getByRole('textbox', { name: 'Category' }).inputValue(), 'people');
});

test('a day is one of the person: filters, expiry, yesterday', async (t) => {
  for (const [timezoneId, hours] of [['America/Los_Angeles', 7], ['Pacific/Kiritimati', -14]]) {
    const at = (day, hour) => new Date(Date.UTC(2026, 5, day, hour + hours)).toISOString(), lines = [];
    for (const [content, created] of [['late yesterday', at(14, 23)], ['early today', at(15, 0)], ['before yesterday', at(13, 23)]])
      lines.push({ kind: 'memory', id: `memory ${content}`, content, layer: 'fact', created, updated: created }, { kind: 'session', id: content, created }, { kind: 'message', id: `message ${content}`, session: content, role: 'user', text: content, created });
    const server = await serve(t), res = await server.ask('POST', '/v1/memories/import', lines.map((l) => JSON.stringify(l)).join('\n'), { 'content-type': 'application/jsonl' });
    assert.equal(res.status, 200, res.text);
    const page = await open(t, server, '/studio/memories', { timezoneId });
    await total(page, 3);
    await page.getByLabel('Created from').fill('2026-06-15');
    await total(page, 1);
    await rows(page).getByText('early today').click();
    const expires = page.getByRole('dialog', { name: 'Memory' }).getByLabel('Expires');
    await expires.fill('2099-12-31');
    await expires.press('Enter');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    const { memories } = (await server.ask('GET', '/v1/memories?contains=early')).json();
    assert.equal(await page.evaluate((e) => new Date(e).toLocaleString('sv'), memories[0].expires), '2099-12-31 00:00:00');
    assert.equal(await expires.inputValue(), '2099-12-31');
    await page.clock.setFixedTime(at(15, 9));
    await page.goto(`${server.url}/studio/sessions`);
    const said = page.locator('button.session');
    await said.nth(2).waitFor();
    assert.deepEqual((await said.allInnerTexts()).map((row) => row.split('\n').pop()), ['9 hours ago', '10 hours ago', '2 days ago']);
  }
});

test('Back and a link bring back the text that was searched', async (t) => {
  const server = await serve(t);
  await seed(server, 300);
  const page = await open(t, server, '/studio/memories?q=Statement+77');
  await total(page, 1);
  await page.getByRole('link', { name: 'Memories' }).click();
  await total(page, 300);
  assert.equal(await page.getByRole('searchbox').inputValue(), '');
  await page.goBack();
  await total(page, 1);
});

test('a server that is lost takes no field away from who types in it', async (t) => {
  const server = await serve(t), { id } = (await server.ask('POST', '/v1/memories', { content: 'Ada drinks tea.' })).json();
  const page = await open(t, server, `/studio/memories?id=${id}`), text = page.getByRole('dialog', { name: 'Memory' }).getByRole('textbox', { name: 'Text', exact: true });
  page.expected.push(/Failed to load resource|ERR_|net::/);
  await text.fill('Ada drinks coffee.');
  await server.stop();
  await text.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  await page.waitForTimeout(500);
  assert.equal(await text.inputValue(), 'Ada drinks coffee.');
});
