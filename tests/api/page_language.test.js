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

/** What the page has for the server's texts, as a browser with this language has it. */
function pageIn(language) {
  const esbuild = require(path.join(root, 'studio/node_modules/esbuild'));
  const contents = "export * from './said.ts'; export { said as rows } from './said.de.ts'; export { refused as rules } from './refused.de.ts'; export * from './doctor.de.ts'; export * from './settings.de.ts';";
  const { outputFiles } = esbuild.buildSync({ stdin: { contents, resolveDir: path.join(root, 'studio/src/i18n') }, bundle: true, write: false, format: 'iife', globalName: 'page' });
  const context = { localStorage: { getItem: () => language, setItem() {} }, navigator: { language }, document: { documentElement: {} } };
  return vm.runInNewContext(`${outputFiles[0].text}; page`, context);
}

const read = (file) => fs.readFileSync(path.join(root, file), 'utf8');
const listed = (...patterns) => execFileSync('git', ['ls-files', ...patterns], { cwd: root, encoding: 'utf8' }).trim().split('\n');

/** The texts in a C source, joined as the compiler joins them, with {} for what varies. */
function textsIn(text) {
  const source = text.replace(/\\$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*#.*$/gm, '').replace(/\bS_FMT\b/g, '"%s"').replace(/\bLOG_NAME\b/g, '"rememberd.audit"');
  return [...source.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*/g)].map(([all]) =>
    [...all.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, part]) => part).join('').replace(/%[-0-9.]*(?:z|ll?)?[a-z]/g, '{}').replace(/%%/g, '%').replace(/\\n$/, '').replace(/\\(.)/g, '$1'));
}

const textsOf = (file) => textsIn(read(file));

/** What the rules over the database's rows say: the first column of each statement. */
const rulesOf = (file) => textsOf(file).flatMap((text) => /^SELECT (.*?\|\|.*?) FROM /.exec(text)?.[1] ?? [])
  .map((column) => column.split(' || ').map((part) => /^'(.*)'$/.exec(part)?.[1] ?? '{}').join('').replace(/(\{\})+/g, '{}'));

test('what the server says about a recall, the doctor and groups of settings is said in German', async (t) => {
  const server = await serve(t), { said, found } = pageIn('de'), english = pageIn('en'), texts = new Set(), findings = new Set();
  for (const text of ['My sister is called Ada and she plays the cello.', 'I am allergic to nuts.', 'Always answer in metric units.', 'What is my sister called?'])
    await server.tell(text);
  for (const question of ['What does my sister play?', 'What should I cook tonight?', 'thanks', 'Do you remember my sister?', 'How does a knee work?', 'What did I say yesterday?', 'What do you know about me?']) {
    const { reason, lines } = (await server.ask('POST', '/v1/preview', { question })).json();
    texts.add(reason);
    for (const { why } of lines) if (why) texts.add(why);
  }
  for (const { what, detail, advice } of (await server.ask('GET', '/v1/doctor')).json().findings)
    for (const text of [what, detail, advice]) if (text && !/^(\/|libcurl)/.test(text)) findings.add(text);
  for (const { group } of (await server.ask('GET', '/v1/settings')).json().items) texts.add(group);
  assert.ok(texts.size > 15 && findings.size > 12, `${texts.size} texts, ${findings.size} findings`);
  assert.deepEqual([...texts].filter((text) => said(text) === text), []);
  assert.deepEqual([...findings].filter((text) => found(text) === text && text !== 'tokens'), []);
  for (const text of texts) assert.equal(english.said(text), text);
  for (const text of findings) assert.equal(english.found(text), text);
  assert.equal(said('says dog; close in meaning (0.61)'), 'sagt dog; in der Bedeutung nah (0,61)');
  assert.equal(said('something new'), 'something new');
});

test('every reason in the source of recall has a German form', () => {
  const { said } = pageIn('de'), files = listed('src/engine/recall/*.c', 'src/engine/chat/turn.c');
  const reasons = files.flatMap((file) => [...read(file).matchAll(/(?:\b(?:why|reason) = (?:[^;"]*? \? )?S\(|leave_out\(&[^"]*?, )"([^"]+)"/g)].map(([, text]) => text));
  assert.ok(reasons.length > 11, `${reasons.length}`);
  assert.deepEqual(reasons.filter((text) => said(text) === text), []);
});

test('every setting, and what it costs, is explained in German, with the names and numbers of the English text', async (t) => {
  const server = await serve(t), { settings, costs, explained } = pageIn('de'), english = pageIn('en');
  const items = (await server.ask('GET', '/v1/settings')).json().items, names = (list) => list.map((s) => s.name).sort();
  assert.ok(items.length > 100, `${items.length} settings`);
  assert.deepEqual(Object.keys(settings).sort(), names(items));
  assert.deepEqual(Object.keys(costs).sort(), names(items.filter((s) => s.cost)));
  for (const s of items) {
    const { help, cost, lang } = explained(s), text = `${help} ${cost}`.replace(/(\d),(\d)/g, '$1.$2');
    assert.equal(lang, undefined);
    const kept = [...(s.choices ?? []), ...`${s.help} ${s.cost ?? ''}`.match(/\d+(\.\d+)?|[\w.]*_\w+|https?:\/\/[^\s,]+|~?\/[a-z][\w./-]*/g) ?? []];
    assert.deepEqual(kept.map((word) => word.replace(/[.:]$/, '')).filter((word) => !text.includes(word)), [], s.name);
    assert.equal(english.explained(s).help, s.help);
  }
  assert.deepEqual({ ...explained({ name: 'later', help: 'What it does', cost: null }) }, { help: 'What it does', cost: null, lang: 'en' });
});

// Of these, whole sentences are what a check passes on; the rest are names and paths.
const passedOn = ['src/base/audit.c', 'src/base/key_file.c', 'src/embed/embed.c', 'src/embed/resolve.c', 'src/embed/remote.c', 'src/embed/reranker.c', 'src/engine/search_status.c', 'src/engine/rerank/ask_order.c', 'src/engine/vectors/embed_queue.c',
  'src/http/client.c', 'src/http/curl/libcurl.c', 'src/llm/core.c', 'src/store/sql/db/db.c', 'src/store/sql/index/titles.c', 'src/store/sql/index/words_check.c', 'src/store/sql/index/word_blocks_check.c'];
const isSentence = (text) => /[a-z]{2,} ([a-z0-9]|\{\})/.test(text) && !/[A-Z]{4,} |=|^\{\} \{\}|^Bearer|\?|^there is no audit log|^'\{\}' cannot be opened/.test(text);

// Their sentences are reasons of a receipt, what a job failed of, or why it changed a memory; the rest are orders to a model and rules of input.
const shown = ['recall/candidates', 'recall/outside_rankers', 'layers/section_choice', 'layers/context', 'distil/consolidate', 'distil/merge_episodes', 'distil/prune_transcript', 'jobs/registry', 'state/core_ask', 'state/quota']
  .map((name) => `src/engine/${name}.c`);
const isOrder = /^(must|You |## |which |\(not )|Memory\]|What follows|streams of events/;

test('reasons of plans, jobs and refusals have a German form, and so have the words for what the API names', () => {
  const { said } = pageIn('de'), en = read('studio/src/i18n/en.ts'), texts = shown.flatMap(textsOf).filter((text) => isSentence(text) && !isOrder.test(text)).map((text) => text.replace(/^[;, ]+|[ ]+$/g, '').replace(/\{\}/g, '7').replace(/^7[;,] /, ''));
  assert.ok(texts.length > 25, `${texts.length}`);
  assert.deepEqual(texts.filter((text) => [text, `${text} ("7")`, `7, ${text}`].every((whole) => said(whole) === whole)), []);
  const namesIn = (file, table) => [...new RegExp(`${table}\\[\\] = \\{([^}]*)\\}`).exec(read(file))[1].matchAll(/"(\w+)"/g)].map(([, name]) => name);
  for (const [group, file, table] of [['job', 'src/engine/jobs/registry.c', 'job_kinds'], ['state', 'src/engine/jobs/registry.c', 'job_states'], ['decision', 'src/core/days.c', 'day_decisions'], ['origin', 'src/core/memory.c', 'origin_names'], ['layer', 'src/core/memory.c', 'layer_names'], ['type', 'src/core/memory.c', 'type_names']])
    assert.deepEqual(namesIn(file, table).filter((name) => !en.includes(`'${group}.${name}'`)), [], group);
});

/** Of a row, the longest part that is one text of the source. */
const longest = (text) => text.split(/\{\}|\("|: |; | \(|, or |\. /).sort((a, b) => b.length - a.length)[0].trim();

test('every text that the doctor can print has a row, and every row a text', () => {
  const { rows, doctor, system, found } = pageIn('de'), all = [...system, ...rows, ...doctor], german = new Map(all);
  const isWord = (text) => /[a-z]/i.test(text.replace(/\{\}/g, '')), parts = (text) => text.split('; ').filter(isWord);
  const own = textsOf('src/surface/doctor/doctor.c').filter((text) => isWord(text) && !/^(ok|warn|bad|ok, warn or bad|what (was|to).*|data|findings|.*\/.*\.key|\/v1\/models|.*%H.*)$/.test(text));
  const texts = [...own, ...passedOn.flatMap(textsOf).filter(isSentence), ...rulesOf('src/store/sql/read/check_rules.def')];
  assert.ok(own.length > 60 && texts.length > 120, `${own.length} of ${texts.length}`);
  assert.deepEqual(texts.filter((text) => !german.has(text) && !parts(text).every((part) => german.has(part))), []);
  const source = [...listed('src/**/*.[ch]').flatMap(textsOf), ...rulesOf('src/store/sql/read/check_rules.def'), read('src/engine/recall.h')].join('\n');
  assert.deepEqual([...rows, ...doctor].map(([text]) => text).filter((text) => !source.includes(longest(text))), []);
  for (const [text, to] of all) {
    const filled = (s, from) => { let i = from; return s.replace(/\{\}/g, () => i++); };
    assert.equal((text.match(/\{\}/g) ?? []).length, (to.match(/\{\}/g) ?? []).length, text);
    assert.equal(found(filled(text, 0)), filled(to, 0), 'no row before it takes its texts');
  }
});

const asJsonl = { 'content-type': 'application/jsonl' };

/** What the forms of the page can do wrong: method, path, body, headers. */
function mistakes(id, version) {
  const one = `/v1/memories/${id}?undo=true`, long = 'x'.repeat(300);
  return [
    ...[{ content: '' }, { content: 'y'.repeat(70000) }, { key: 'k'.repeat(600) }, { category: long }, { importance: 2 }, { type: 'x' }, { expires: 'soon' }].map((body) => ['PATCH', one, body]),
    ['PATCH', one, { content: 'Ada drinks milk.' }, { 'if-match': version }], ['POST', '/v1/memories', { content: ' ' }],
    ...[{ name: long }, { space: long }, { scopes: 'x' }, { spaces: long }, { spaces: 'a', admin: true }, { expires: '2020-01-01T00:00:00Z' }].map((body) => ['POST', '/v1/tokens', body]),
    ['POST', '/v1/sign-in', { token: 'rk_wrong' }], ['POST', '/v1/sign-in', { token: 'x'.repeat(5000) }], ['PUT', '/v1/users/local/role', { role: 'member' }], ['DELETE', '/v1/spaces/none'], ['DELETE', '/v1/users/nobody?confirm=nobody'],
    ['PATCH', '/v1/sessions/none', { title: 'x' }], ['PATCH', '/v1/sessions/monday', { title: long }], ['POST', '/v1/undo/none'], ['DELETE', '/v1/memories/none?undo=true'], ['GET', '/v1/memories/none'], ['GET', '/v1/receipts/none'], ['GET', '/v1/messages/none?around=0'], ['GET', '/v1/sessions/none/messages'],
    ...['after=abc', 'importance_min=7', 'importance_min=x', 'sort=x', 'expiring=x'].map((query) => ['GET', `/v1/memories?${query}`]), ['GET', `/v1/sessions?contains=${'x'.repeat(900)}`],
    ...[{ budget: -1 }, { budget: 1.5 }, { as_of: '2099-01-01' }].map((body) => ['POST', '/v1/preview', { question: 'x', ...body }]),
    ['POST', '/v1/engine/qdrant/search', { query: 'x', limit: 5 }], ['DELETE', '/v1/jobs/none'], ['POST', '/v1/review/none', { decision: 'allow' }], ['POST', '/v1/chat/completions', { model: 'none', messages: [{ role: 'user', content: 'x' }] }],
    ...[{ budget_tokens: -1 }, { budget_tokens: 0.5 }, { qdrant_host: 'http://' }, { qdrant_host: 'a b' }, { qdrant_host: 'ftp://a' }, { qdrant_collection: '' }, { embedding_model: long }, { listen: '1' }, { budget_tokns: 1 }].map((body) => ['PATCH', '/v1/settings', body]),
    ...[['a.pdf', '%PDF'], ['a.zip', 'PK\x03\x04'], ['a.jsonl', '{"kind":"memory"}'], ['a.jsonl', '{"kind":"x"}'], ['a.jsonl', '{"kind":"memory","id":"a","content":"x","created":"y"}']].map(([name, text]) => ['POST', `/v1/memories/import?name=${name}`, text, asJsonl]),
  ];
}

test('what the forms of the page can do wrong is refused in German, under the names of the fields', async (t) => {
  const server = await serve(t), { refused } = pageIn('de'), english = pageIn('en'), seen = new Set(), left = [];
  const { id } = (await server.ask('POST', '/v1/memories', { content: 'Ada drinks tea.' })).json();
  await server.tell('Ada keeps bees.', { 'x-session-id': 'monday' });
  const { headers: { etag } } = await server.ask('GET', `/v1/memories/${id}`);
  await server.ask('PATCH', `/v1/memories/${id}`, { content: 'Ada drinks green tea.' });
  for (const [method, path, body, headers] of mistakes(id, etag)) {
    const res = await server.ask(method, path, body, headers), { detail, error, field } = res.json(), text = detail ?? error.message;
    assert.ok(res.status >= 400, `${method} ${path.slice(0, 60)} ${res.text.slice(0, 200)}`);
    const german = refused(text, field ?? error?.param), rule = field ? german.slice(german.indexOf(': ') + 2) : german;
    if (text.endsWith(rule) || /\b(must|has|have|the|not|with|is|at|of|most)\b/.test(german)) left.push(german);
    seen.add(text);
  }
  assert.deepEqual(left, []);
  assert.ok(seen.size > 45, `${seen.size}`);
  const file = 'conversations.json, record 2: mapping: must be an object';
  assert.equal(refused('content: must not be empty', 'content'), 'Text: darf nicht leer sein');
  assert.equal(english.refused('content: must not be empty', 'content'), 'Text: must not be empty');
  assert.equal(refused('budget_tokens: must be from 0 to 16000', 'budget_tokens'), 'budget_tokens: muss von 0 bis 16000 sein');
  assert.equal(refused("there is no space 'read'"), 'es gibt keinen Bereich „read“');
  assert.equal(refused(file), 'conversations.json, Datensatz 2: mapping: muss ein Objekt sein');
  assert.equal(english.refused(file), file);
  assert.equal(refused('title: must have at most 200 characters'), 'Titel: darf höchstens 200 Zeichen lang sein');
  assert.equal(refused('Rate limit reached at 3'), 'Rate limit reached at 3', 'what no row fits stays whole');
});

// A page can be refused by these, of which the others are rules of what only programs send.
const refusing = ['base/fields', 'core/url', 'engine/accounts/sessions', 'store/sql/write/change', 'surface/rest/tokens', 'surface/rest/users', 'surface/live/settings', 'surface/live/jobs', 'surface/live/parts'].map((name) => `src/${name}.c`);

test('every rule of input that a form can break has a row, and every row a text', () => {
  const { rules, refused } = pageIn('de'), source = listed('src/**/*.[ch]', 'ext/import/*.c', 'ext/import/copy/*.c').flatMap(textsOf).join('\n');
  const calls = refusing.flatMap((file) => read(file).match(/\bfail(_\w+)?\((?:[^";]|"(?:[^"\\]|\\.)*")*\);/g)), texts = calls.flatMap(textsIn).filter((text) => isSentence(text) && !text.startsWith(';'));
  assert.ok(texts.length > 35, `${texts.length}`);
  assert.deepEqual(texts.map((text) => text.replace(/(\{\}){2,}$/, '').replace(/\{\}/g, '7')).filter((text) => refused(text) === text), []);
  assert.deepEqual([...rules].map(([text]) => text).filter((text) => !/^Session not found$|has no upstream|to the end|, record/.test(text) && !source.includes(longest(text))), []);
  for (const [text, to] of rules) {
    const filled = (s) => s.replace(/\{\}/g, () => '7');
    assert.equal(refused(filled(text)), filled(to), 'no row before it takes its texts');
  }
});

test('a finding is German in its parts, too', () => {
  const { found } = pageIn('de');
  for (const [text, german] of [
    ['none, search uses words only (no_key: no remote model is set (setting embedding_model); the static table is not enabled; the encoder is switched off)',
      'keine, die Suche nutzt nur Wörter (kein Modell eines Modellservers ist gesetzt (Einstellung embedding_model); die statische Tabelle ist nicht erlaubt; der Encoder ist ausgeschaltet)'],
    ["http://127.0.0.1:1/v1: no answer: Couldn't connect to server", 'http://127.0.0.1:1/v1: keine Antwort: keine Verbindung zum Server'],
    ['remote a/b: request_failed: the embedding server answers 500: no room; search uses words only', 'remote a/b: Anfrage gescheitert: Der Server für Vektoren antwortet mit 500: no room; die Suche nutzt nur Wörter'],
    ["'/x/audit.key' cannot be opened: Permission denied", '„/x/audit.key“ lässt sich nicht öffnen: keine Berechtigung'],
    ['line 5 was removed, and all behind it', 'Zeile 5 und alle dahinter wurden entfernt'],
    ['local/m: the reranker timed out: circuit open, not retried for 5 s; 12 calls failed since the start; what is found stays in recall\'s order',
      'local/m: das Modell zum Neuordnen antwortete nicht rechtzeitig; neuer Versuch in 5 s; 12 Aufrufe sind seit dem Start gescheitert; Gefundenes bleibt in der Reihenfolge des Erinnerns'],
    ['pool 3 says 4 messages\nmemory 7 has no pool', 'Bereich 3 nennt 4 Nachrichten\nErinnerung 7 hat keinen Bereich'],
    ['AEGIS-256, the key is in the file /home/anna/memory.key', 'AEGIS-256, der Schlüssel kommt aus der Datei /home/anna/memory.key'],
  ]) assert.equal(found(text), german);
});
