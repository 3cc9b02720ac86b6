// What holds on every page: keys, addresses, accessibility, width.
'use strict';
const { assert, test, serve, open, lived, places, violations, shots } = require('./lib.js');

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

test('no serious violation of accessibility on any page, in both themes', async (t) => {
  const server = await lived(t), found = [];
  for (const theme of ['light', 'dark']) for (const at of [...Object.values(places), '/studio/sessions?id=monday']) found.push(...await violations(server, at, theme));
  assert.deepEqual(found, []);
});

test('no page scrolls sideways; pictures of all of them', async (t) => {
  const server = await lived(t);
  for (const [name, at] of Object.entries({ ...places, conversation: '/studio/sessions?id=monday' })) await shots(server, name, at);
});
