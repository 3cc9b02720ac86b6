// Every page in both themes, wide and as a phone; SHOTS=FOLDER keeps the pictures.
'use strict';
const { assert, test, serve, open, lived, places, shots } = require('./lib.js');

test('no page scrolls sideways; pictures of all of them', async (t) => {
  const server = await lived(t);
  for (const [name, at] of Object.entries({ ...places, conversation: '/studio/sessions?id=monday' })) await shots(server, name, at);
});

test('a long name of a space does not stretch the line above, and on a phone a receipt is whole', async (t) => {
  const server = await serve(t), long = 'a-space-whose-name-somebody-has-made-as-long-as-a-sentence-about-it';
  await server.tell('My dog is called Rex.');
  await server.tell('What is my dog called?', { 'x-session-id': 'later' });
  await server.ask('POST', `/v1/memories?space=${long}`, { content: 'Ada keeps bees.' });
  for (const width of [1280, 390]) {
    const page = await open(t, server, '/studio/receipts', { viewport: { width, height: 844 } });
    assert.ok((await page.locator('.top select').boundingBox()).width <= 200);
    await page.getByText('What is my dog called?').click();
    const eye = await page.getByRole('dialog', { name: 'Receipt' }).getByRole('button', { name: 'Show', exact: true }).first().boundingBox();
    assert.ok(eye.x + eye.width <= width, `${width}: ${eye.x} + ${eye.width}`);
  }
});

test('on a phone, in German: the menu of memories and what is asked before all are forgotten are in sight', async (t) => {
  const server = await serve(t);
  for (const content of ['Ada keeps bees.', 'Bob bakes bread.']) await server.ask('POST', '/v1/memories', { content });
  const page = await open(t, server, '/studio/memories', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  const isInSight = async (what) => {
    const { x, width } = await what.boundingBox();
    assert.ok(x >= 0 && x + width <= 390 && await what.evaluate((e) => e.scrollWidth <= e.clientWidth + 1), `${await what.innerText()}: ${x} + ${width}`);
  };
  await page.getByRole('main').getByRole('button', { name: 'Mehr' }).click();
  for (const name of ['Importieren', 'Alles exportieren']) await isInSight(page.getByRole('button', { name }));
  await page.keyboard.press('Escape');
  await page.getByText('Ada keeps bees.').waitFor();
  for (const key of ['j', 'x']) await page.keyboard.press(key);
  await isInSight(page.getByText('1 ausgewählt'));
  await page.getByRole('button', { name: 'Alle 2' }).click();
  await page.getByRole('region').getByRole('button', { name: 'Vergessen' }).click();
  await isInSight(page.getByRole('dialog').locator('p'));
});
