// Every page in both themes, wide and as a phone; SHOTS=FOLDER keeps the pictures.
'use strict';
const { test, lived, places, shots } = require('./lib.js');

test('no page scrolls sideways; pictures of all of them', async (t) => {
  const server = await lived(t);
  for (const [name, at] of Object.entries({ ...places, conversation: '/studio/sessions?id=monday' })) await shots(server, name, at);
});
