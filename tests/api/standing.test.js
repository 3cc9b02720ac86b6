// standing.test.js - instructions that are for one topic: given where a chat is about it, in other words too, and nowhere else.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { serve } = require('./lib');

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
