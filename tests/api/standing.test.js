// standing.test.js - instructions that are for one topic: given where a chat is about it, in other words too, and nowhere else.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { serve } = require('./lib');
const { topics, others: elsewhere } = require('../life/topics.json'); // written by somebody who had not seen our rules; no choice was made by it

const orders = [
  ['Always give me metric units when I ask about recipes.', ['How do I make banana bread?', "What's a quick dinner with chickpeas?"]],
  ['Always add the Latin name when I ask about plants.', ['When do I prune roses?', 'Why are the leaves of my monstera yellow?']],
  ['For exercise, always include warm-ups.', ['Give me a leg workout.', 'What stretches help my back?']],
  ['Wenn ich nach Zügen frage, nenne bitte immer das Gleis.', ['Welcher Zug fährt nach Bern?']],
  ['Quand je demande une recette, donne toujours les calories.', ['Une recette de crêpes, stp ?']],
];
const others = ['What is the capital of Peru?', 'Who won the World Cup in 2018?', 'Rewrite this sentence more politely.', 'How do black holes form?'];

test('an instruction for one topic is given where a question is of that topic', async (t) => {
  const server = await serve(t);
  for (const [order] of orders) await server.tell(order);
  await server.settled();
  const given = async (question) => {
    const res = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: question }] }, { 'X-Memory-Mode': 'readonly' });
    return (await server.receipt(res.headers['x-rememberd-receipt'])).block;
  };
  const words = { metric: /metric/, Latin: /Latin/, 'warm-ups': /warm-ups/, Gleis: /Gleis/, calories: /calories/ };
  for (const [order, questions] of orders)
    for (const question of questions)
      assert.match(await given(question), Object.entries(words).find(([word]) => order.includes(word))[1], question);
  for (const question of others) assert.equal(await given(question), '', question);
});

// Eight topics for each person, as many as are compared: the order for a question, and the other seven.
test('an instruction for one topic is given with seven of ten of its questions, and with few others', async (t) => {
  const server = await serve(t);
  let found = 0, of = 0, wrong = 0, beside = 0;
  for (let person = 0; person < 3; person++) {
    const mine = topics.slice(8 * person, 8 * person + 8);
    const as = { 'X-Memory-Space': `person-${person}` };
    const order = ({ topic }) => `Always end with a proverb when I ask about ${topic}.`;
    for (const each of mine) await server.tell(order(each), as);
    await server.settled(as);
    const kept = (await server.ask('GET', '/v1/memories?limit=50', undefined, as)).json().memories;
    for (const question of [...mine.flatMap(({ asks }) => asks), ...elsewhere.slice(0, 20)]) {
      const body = { model: 'rememberd/demo', messages: [{ role: 'user', content: question }] };
      const res = await server.chat(body, { 'X-Memory-Mode': 'readonly', ...as });
      const { block, lines } = await server.receipt(res.headers['x-rememberd-receipt'], as);
      const as_order = lines.filter((line) => line.injected && /standing instruction/.test(line.why)).map(({ id }) => kept.find((m) => m.id === id).content);
      for (const { topic, asks } of mine) {
        if (asks.includes(question)) found += block.includes(`about ${topic}`), of++;
        else wrong += as_order.some((text) => text.includes(`about ${topic}`)), beside++;
      }
    }
  }
  t.diagnostic(`given with ${found} of ${of} of their questions, and ${wrong} of ${beside} others`);
  assert.ok(found >= 0.7 * of, `${found} of ${of}`);
  assert.ok(wrong <= 0.05 * beside, `${wrong} of ${beside}`);
});
