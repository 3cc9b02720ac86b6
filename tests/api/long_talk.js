// long_talk.js - a conversation of 200 turns for the tests of prompts that only grow: questions about 50 things, remarks, small talk.
'use strict';
const assert = require('node:assert/strict');

const things = ['cat', 'boat', 'canary', 'village', 'street', 'school', 'teacher', 'dentist', 'landlord', 'band', 'choir', 'bakery', 'novel', 'horse', 'tortoise', 'gym', 'colleague',
  'manager', 'cousin', 'aunt', 'uncle', 'grandmother', 'barber', 'doctor', 'vet', 'newspaper', 'bank', 'plumber', 'tailor', 'gardener', 'neighbour', 'ferry', 'cabin', 'orchard',
  'mountain', 'river', 'club', 'coach', 'podcast', 'game', 'laptop', 'car', 'bicycle', 'guitar', 'violin', 'sewing machine', 'tractor', 'kiosk', 'museum', 'pub'];
const starts = ['Bel', 'Dor', 'Fen', 'Gal', 'Hol', 'Kar', 'Lum', 'Mor', 'Nor', 'Pel'], ends = ['amine', 'eska', 'iven', 'obar', 'ulith'];
const nameOf = (i) => starts[i % 10] + ends[Math.floor(i / 10)];

const facts = things.map((thing, i) => `My ${thing} is called ${nameOf(i)}.`);
const small = ['Thanks!', 'Tell me a joke.', 'How do I boil an egg?', 'Write a haiku about rain.', 'And another one?'];

// Of the facts that were asked for, nearly all stand in the last request, each once. In how many blocks they came depends on the time that a search had.
function assertGiven(text) {
  const times = facts.map((fact) => text.split(fact).length - 1), given = times.filter((n) => n === 1).length;
  assert.ok(given >= 45 && Math.max(...times) === 1, `${given} of ${facts.length} facts stand once in the last request, one ${Math.max(...times)} times`);
}

// Each thing is asked for once at first and once again later; between them remarks that are new, and what needs no memory.
const talk = [];
for (let i = 0; talk.length < 200; i++) {
  const at = (i * 7) % things.length;
  talk.push(`What is my ${things[at]} called?`, i % 3 === 0 ? small[(i / 3) % small.length] : i % 3 === 1 ? `I bought ${i} pears today.` : `What did I say about my ${things[(at + 3) % things.length]}?`);
}
module.exports = { assertGiven, facts, talk: talk.slice(0, 200) };
