// pasted.test.js - what an assistant said about a pasted text is no fact about the user, and is found by its words.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const advert = '"We are Bellweather Rail and we look for a night dispatcher in Tromsø. The salary is 61,000 a year, the boss is called Agnar, and every ' +
  'dispatcher gets a company flat by the harbour."';
const cases = [
  { paste: `What do you think of this?\n\n${advert}`, says: 'The salary of 61,000 is fair for a night dispatcher in Tromsø, and a flat by the harbour comes with it.',
    unasked: ['What is my salary?', 'Where is my flat?'], asked: ['What salary does a night dispatcher in Tromsø get?', 'What did the text that I pasted say about the night dispatcher in Tromsø?'], word: '61,000' },
  { paste: 'Summarise:\n\n```\nname: Odile Brandt\nbirthday: 4 March\ncat: Pixel, a Siamese of nine years\nallergies: none that are known\n```',
    says: 'The birthday is 4 March, and the cat is Pixel, a Siamese.', unasked: ['What is my cat called?', 'When is my birthday?'],
    asked: ['Which Siamese cat is called Pixel?'], word: 'Pixel' },
];

for (const [i, one] of cases.entries())
  test(`an answer about a pasted text is not the user's (${i + 1})`, async (t) => {
    const model = await upstream(t, (req, res, asked) => answer(res, asked, asked.json.messages[0].content === one.paste ? one.says : 'I do not know.'));
    const server = await serve(t, { flags: ['--upstream', model.url] });
    const ask = async (content) => {
      const res = await server.chat({ model: 'any', messages: [{ role: 'user', content }] });
      return (await server.receipt(res.headers['x-rememberd-receipt'])).block ?? '';
    };
    await ask(one.paste);
    for (const question of one.unasked) assert.ok(!(await ask(question)).includes(one.word), question);
    for (const question of one.asked) assert.ok((await ask(question)).includes(one.word), question);
    const found = (await server.ask('POST', '/v1/memories/search', { query: one.word })).json();
    assert.ok(JSON.stringify(found.results).includes(one.word), 'a search finds it');
  });

test('an answer to what the user wrote stays', async (t) => {
  const says = 'A pulse of 48 at rest is normal for a rower of your age.';
  const model = await upstream(t, (req, res, asked) => answer(res, asked, says));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const ask = async (content) => {
    const res = await server.chat({ model: 'any', messages: [{ role: 'user', content }] });
    return (await server.receipt(res.headers['x-rememberd-receipt'])).block ?? '';
  };
  await ask('I am a rower and my watch showed a low pulse at rest this morning, is that normal?');
  assert.match(await ask('Is my pulse at rest normal for a rower?'), /48/);
});
