// race.test.js - a question that follows an answer at once finds what was said before the answer.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const rooms = ['attic', 'cellar', 'pantry', 'porch', 'garage', 'hallway', 'study', 'laundry', 'balcony', 'workshop',
  'library', 'nursery', 'kitchen', 'conservatory', 'greenhouse', 'stable', 'barn', 'boathouse', 'chapel', 'tower'];
const things = ['violin', 'lantern', 'compass', 'kettle', 'tripod', 'saddle', 'anvil', 'globe', 'sextant', 'loom',
  'piano', 'sledge', 'kayak', 'tent', 'easel', 'telescope', 'typewriter', 'unicycle', 'barometer', 'harp'];

// Calls back with the last byte, before the connection is done with the answer.
const chat = (server, content, stream) => new Promise((done, fail) => {
  const body = JSON.stringify({ model: 'any', stream, messages: [{ role: 'user', content }] });
  const req = http.request(`${server.url}/v1/chat/completions`, { method: 'POST', agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } });
  req.once('error', fail);
  req.once('response', (res) => {
    let text = '';
    res.setEncoding('utf8').on('data', (part) => {
      text += part;
      if (stream ? text.includes('[DONE]') : Buffer.byteLength(text) === Number(res.headers['content-length'])) done(text);
    });
    res.once('error', fail).once('end', () => done(text));
  });
  req.end(body);
});

for (const stream of [false, true]) {
  test(`the next question finds the turn before (stream: ${stream})`, async (t) => {
    const model = await upstream(t, (req, res, asked) => answer(res, asked, ['All', ' right.']));
    const server = await serve(t, { flags: ['--upstream', model.url] });
    const missed = [];
    for (let i = 0; i < things.length; i++) {
      await chat(server, `I have put the ${things[i]} into the ${rooms[i]}.`, stream);
      await chat(server, `Where did I put the ${things[i]}?`, stream);
      if (!model.asked.at(-1).body.toString().includes(rooms[i])) missed.push(things[i]);
    }
    assert.deepEqual(missed, []);
  });
}

test('a fact that was taken from the turn is found with the next request', async (t) => {
  const model = await upstream(t, (req, res, asked) => answer(res, asked, ['Noted.']));
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await chat(server, 'I am allergic to hazelnuts.', true);
  const found = await server.ask('GET', '/v1/memories');
  assert.equal(found.status, 200, found.text);
  assert.match(found.text, /hazelnuts/);
});
