// What holds on every page: keys, addresses, what a phone shows.
'use strict';
const http = require('node:http');
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

test('in German: what is typed wrong, files, the built-in model and numbers', async (t) => {
  const server = await serve(t), page = await open(t, server, '/', { locale: 'de-DE' });
  page.expected.push(/status of 400/);
  const news = (text) => page.locator('.toast').filter({ hasText: text }).waitFor(), say = async (text) => {
    await page.locator('textarea:visible').last().fill(text);
    await page.keyboard.press('Enter');
  };
  await say('Mein Hund heißt Rex.');
  await page.getByText('Gemerkt, ich denke in späteren Gesprächen daran. Ich bin rememberd/demo').waitFor();
  await page.getByRole('button', { name: 'Zweiten Chat öffnen' }).click();
  await say('Wie heißt mein Hund?');
  await page.getByText('Dazu weiß ich: “Mein Hund heißt Rex').waitFor();
  await page.getByRole('button', { name: 'Warum?' }).nth(1).click();
  const receipt = page.getByRole('dialog');
  await receipt.getByText(/Wahrscheinlichkeit einer Antwort [01],\d/).waitFor();
  assert.equal(await receipt.getByText(/^[01]\.\d\d$/).count(), 0);
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'Ada trinkt Tee.' })).json();
  await page.goto(`${server.url}/studio/memories?id=${id}`);
  for (const [field, wrong, told] of [['Text', '', 'Text: darf nicht leer sein'], ['Kategorie', 'x'.repeat(200), 'Kategorie: darf höchstens 128 Bytes lang sein, und hat 200']]) {
    await page.getByRole('dialog').getByRole('textbox', { name: field, exact: true }).fill(wrong);
    await page.keyboard.press('Enter');
    await news(told);
  }
  await page.goto(`${server.url}/studio/engine?tab=settings`);
  await page.getByLabel('budget_tokens', { exact: true }).fill('-5');
  await page.keyboard.press('Enter');
  await news('budget_tokens: muss von 0 bis 16000 sein');
});

test('an import tells what it left out, and why a file is none', async (t) => {
  const server = await serve(t), page = await open(t, server, '/studio/memories', { locale: 'de-DE' }), box = page.getByRole('dialog');
  const said = { id: 'm', author: { role: 'user' }, create_time: 1.7e9, content: { content_type: 'text', parts: ['Mein Hund heißt Rex.'] } };
  page.expected.push(/status of 400/);
  await page.getByRole('main').getByRole('button', { name: 'Mehr' }).click();
  await page.getByRole('button', { name: 'Importieren' }).click();
  const give = (name, text) => page.getByLabel('Datei').setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
  await give('export.zip', 'PK\x03\x04');
  await box.getByRole('button', { name: 'Zählen' }).click();
  await page.getByText('Entpacke es, und wähle hier eine Datei daraus').waitFor();
  await give('conversations.json', JSON.stringify([{ conversation_id: 'a', create_time: 1.7e9, current_node: 'm', mapping: { m: { id: 'm', parent: null, children: [], message: said } } }, { mapping: 5 }]));
  await box.getByText('Nur zählen').click();
  await box.getByRole('button', { name: 'Importieren' }).click();
  await box.getByText('conversations.json, Datensatz 2: mapping: muss ein Objekt sein').waitFor();
  await box.getByText('Ausgelassen, da fehlerhaft').waitFor();
  await box.getByRole('button', { name: 'Schließen' }).last().click();
  await page.getByText('Mein Hund heißt Rex').first().waitFor();
});

test('an answer that breaks off, and a proxy that answers for the server, are told in words', async (t) => {
  const server = await serve(t), hop = { is: '' };
  const proxy = http.createServer((req, res) => {
    if (hop.is === 'down' && req.url.startsWith('/v1')) return void res.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
    const up = http.request(server.url + req.url, { method: req.method, headers: req.headers }, (from) => {
      res.writeHead(from.statusCode, from.headers);
      if (hop.is === 'cut' && req.url.includes('/chat/')) from.once('data', (part) => res.write(part.subarray(0, 40), () => setTimeout(() => res.destroy(), 100)));
      else from.pipe(res);
    });
    req.pipe(up.on('error', () => res.destroy()));
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  t.after(() => (proxy.closeAllConnections(), proxy.close()));
  const page = await open(t, { url: `http://127.0.0.1:${proxy.address().port}`, child: server.child }, '/studio/try', { locale: 'de-DE' }), box = page.locator('[data-say="try"]');
  page.expected.push(/status of 502|ERR_/);
  for (const [how, told] of [['cut', 'Die Antwort brach ab.'], ['down', 'ein Server vor rememberd antwortet mit dem Fehler 502.']]) {
    hop.is = how;
    await box.fill('Wie heißt mein Hund?');
    await box.press('Enter');
    await page.locator('.toast').filter({ hasText: told }).waitFor();
    assert.equal(await box.inputValue(), 'Wie heißt mein Hund?', how);
  }
});
