// Every page as axe sees it.
'use strict';
const { assert, test, lived, places, violations } = require('./lib.js');

test('no serious violation of accessibility on any page, in both themes', async (t) => {
  const server = await lived(t), found = [];
  for (const theme of ['light', 'dark']) for (const at of [...Object.values(places), '/studio/sessions?id=monday']) found.push(...await violations(server, at, theme));
  assert.deepEqual(found, []);
});
