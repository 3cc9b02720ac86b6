// embedder.js - a server of embeddings with a direction for each meaning, and of an order for reranking.
'use strict';
const { upstream } = require('./lib');

// "pup" is near "dog" without a word in common.
const meanings = [/\b(dog|pup|puppy|hound)\b/i, /\b(car|automobile|vehicle)\b/i, /\b(tea|beverage|drink)\b/i];
const vectorOf = (text) => [...meanings.map((one) => (one.test(text) ? 1 : 0)), 0.2, text.length / 1000];

const paths = {
  '/v1/embeddings': ({ input }) => ({ object: 'list', model: 'tiny',
    data: [input].flat().map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })) }),
  // The last by the alphabet is the best.
  '/v1/rerank': ({ documents }) => ({ results: documents.map((text, index) => ({ text, index })).sort((a, b) => (a.text < b.text ? 1 : -1))
    .map(({ index }, place) => ({ index, relevance_score: 1 / (place + 1) })) }),
};

// after: of a question's body, the milliseconds that its answer takes.
const embedder = (t, { after = () => 0 } = {}) => upstream(t, (req, res, asked) => {
  const answer = paths[asked.url](asked.json);
  setTimeout(() => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(answer));
  }, after(asked.json));
});

module.exports = { embedder };
