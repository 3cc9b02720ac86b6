// page_language.test.js - texts of the server that the page shows have a German form: reasons, findings of the doctor, groups.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const { serve } = require('./lib');

const root = path.join(__dirname, '../..');

/** said() of the page, as a browser with this language has it. */
function saidIn(language) {
  const esbuild = require(path.join(root, 'studio/node_modules/esbuild'));
  const { outputFiles } = esbuild.buildSync({ entryPoints: [path.join(root, 'studio/src/i18n/said.ts')], bundle: true, write: false, format: 'iife', globalName: 'page' });
  const context = { localStorage: { getItem: () => language, setItem() {} }, navigator: { language }, document: { documentElement: {} } };
  return vm.runInNewContext(`${outputFiles[0].text}; page.said`, context);
}

test('what the server says about a recall, the doctor and groups of settings is said in German', async (t) => {
  const server = await serve(t), said = saidIn('de'), english = saidIn('en'), texts = new Set();
  for (const text of ['My sister is called Ada and she plays the cello.', 'I am allergic to nuts.', 'Always answer in metric units.', 'What is my sister called?'])
    await server.tell(text);
  for (const question of ['What does my sister play?', 'What should I cook tonight?', 'thanks', 'Do you remember my sister?', 'How does a knee work?', 'What did I say yesterday?', 'What do you know about me?']) {
    const { reason, lines } = (await server.ask('POST', '/v1/preview', { question })).json();
    texts.add(reason);
    for (const { why } of lines) if (why) texts.add(why);
  }
  for (const { what, detail, advice } of (await server.ask('GET', '/v1/doctor')).json().findings)
    for (const text of [what, detail, advice]) if (text && !/^(\/|libcurl)/.test(text)) texts.add(text);
  for (const { group } of (await server.ask('GET', '/v1/settings')).json().items) texts.add(group);
  assert.ok(texts.size > 25, `${texts.size} texts`);
  assert.deepEqual([...texts].filter((text) => said(text) === text && text !== 'tokens'), []);
  for (const text of texts) assert.equal(english(text), text);
  assert.equal(said('says dog; close in meaning (0.61)'), 'sagt dog; in der Bedeutung nah (0.61)');
  assert.equal(said('something new'), 'something new');
});

test('every reason in the source of recall has a German form', () => {
  const said = saidIn('de');
  const files = execFileSync('git', ['ls-files', 'src/engine/recall/*.c', 'src/engine/chat/turn.c'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const reasons = files.flatMap((file) => [...fs.readFileSync(path.join(root, file), 'utf8').matchAll(/(?:\b(?:why|reason) = (?:[^;"]*? \? )?S\(|leave_out\(&[^"]*?, )"([^"]+)"/g)].map(([, text]) => text));
  assert.ok(reasons.length > 12, `${reasons.length}`);
  assert.deepEqual(reasons.filter((text) => said(text) === text), []);
});
