// What holds on every page: keys, addresses, what a phone shows.
'use strict';
const { assert, test, serve, open, lived, places } = require('./lib.js');

test('every page by keyboard, with the shortcuts that it names', async (t) => {
  const server = await serve(t), page = await open(t, server);
  for (const [key, title] of [['m', 'Memories'], ['t', 'Try'], ['r', 'Receipts'], ['c', 'Conversations'], ['l', 'Timeline'], ['e', 'Engine'], ['u', 'Clean up'], ['a', 'Access'], ['s', 'See it remember']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', title);
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await page.getByRole('heading', { name: 'Memories' }).waitFor();
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
});

test('a dialog has the focus as soon as it is there, so that Escape closes it', async (t) => {
  const server = await serve(t), page = await open(t, server);
  const hadFocus = await page.evaluate(() => new Promise((done) => {
    new MutationObserver(() => {
      const box = document.querySelector('[role="dialog"]');
      if (box) done(box.contains(document.activeElement));
    }).observe(document.body, { childList: true, subtree: true });
    dispatchEvent(new KeyboardEvent('keydown', { key: '?' }));
  }));
  assert.ok(hadFocus);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor({ state: 'detached' });
});

test('every page is the same after a reload, and back leads back', async (t) => {
  const server = await lived(t), page = await open(t, server), titles = {};
  for (const [name, at] of Object.entries(places)) {
    await page.goto(server.url + at);
    titles[name] = await page.getByRole('heading', { level: 1 }).innerText();
    await page.reload();
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), titles[name], name);
    assert.equal(page.url(), server.url + at, name);
  }
  const links = ['Memories', 'Try', 'Receipts', 'Conversations', 'Timeline', 'Engine', 'Clean up', 'Access'];
  for (const link of links) await page.getByRole('link', { name: link }).click();
  for (const link of links.slice(0, -1).reverse()) {
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: link }).waitFor();
  }
});

test('an address without a page is said to be one', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/nonsense');
  await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
  await page.getByRole('main').getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { level: 1, name: 'See it remember' }).waitFor();
});

test('on a phone: every place has a name, and what matters is in sight', async (t) => {
  const server = await lived(t, 20, { flags: ['--encoder', 'off'] }), page = await open(t, server, '/', { viewport: { width: 390, height: 844 } });
  const isInSight = async (what, find) => {
    const box = await find.first().boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 390 && box.width > 12, `${what}: ${JSON.stringify(box)}`);
  };
  const nav = page.getByRole('navigation');
  for (const name of ['Start', 'Memories', 'Try', 'Receipts', 'More']) await isInSight(name, nav.getByText(name, { exact: true }));
  await nav.getByRole('button', { name: 'More' }).click();
  for (const name of ['Conversations', 'Timeline', 'Engine', 'Clean up', 'Access']) await isInSight(name, nav.getByRole('link', { name }));
  await nav.getByRole('link', { name: 'Access' }).click();
  await isInSight('Erase of a space', page.getByRole('region', { name: 'Spaces' }).getByRole('button', { name: 'Erase' }));
  await isInSight('Erase of a person', page.getByRole('region', { name: 'People' }).getByRole('button', { name: 'Erase' }));
  await page.goto(`${server.url}/studio/cleanup?tab=held`);
  await isInSight('Quarantined', page.getByRole('group', { name: 'Clean up' }).getByRole('button', { name: 'Quarantined' }));
  await server.ask('POST', '/v1/jobs', { kind: 'reindex' });
  await page.goto(`${server.url}/studio/engine?tab=log`);
  const reason = page.locator('td:visible', { hasText: 'no embedding source' }).first();
  await reason.waitFor();
  assert.ok((await reason.boundingBox()).width > 250, 'a reason can be read');
  await page.goto(`${server.url}/`);
  const line = await page.locator('.snippet pre').boundingBox(), copy = await page.getByRole('button', { name: 'Copy' }).boundingBox();
  assert.ok(copy.x >= line.x + line.width - 1, 'Copy covers no text');
});
