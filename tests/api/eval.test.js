// eval.test.js - rememberd eval on the command line: four formats, prompts, comparisons, the junk audit.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { run, tempFolder } = require('./lib');

const samples = path.join(__dirname, '../recall/samples');
const corpus = path.join(__dirname, '../recall/corpus.json');
const sample = (name) => path.join(samples, name);

async function report(...args) {
  const res = await run(['eval', ...args, '--json']);
  assert.equal(res.code, 0, res.stderr);
  return JSON.parse(res.stdout);
}

test('each published format is measured under its name', async () => {
  const beam = await report('beam', sample('beam.json'));
  assert.deepEqual([beam.conversations, beam.turns, beam.overall.n, beam.left_out], [2, 12, 5, 2]);
  assert.equal(beam.information_extraction['any@10'], 100);
  const folders = await report('beam', sample('beam'));
  assert.deepEqual(folders.overall, beam.overall);
  const turns = await report('longmemeval', sample('longmemeval.json'), '--k', '1');
  assert.deepEqual([turns.conversations, turns.overall.n, turns.left_out], [3, 2, 1]);
  const sessions = await report('longmemeval', sample('longmemeval.json'), '--level', 'session');
  assert.equal(sessions['multi-session']['all@5'], 100);
  const own = await report('jsonl', sample('own.jsonl'));
  assert.equal(own['two messages']['all@10'], 100);
});

test('what is measured never enters the database of the settings', async () => {
  const { code, stderr } = await run(['eval', 'beam', sample('beam.json')], { env: { REMEMBERD_STORE: 'postgres://127.0.0.1:1/nobody' } });
  assert.equal(code, 0, stderr);
});

test('eval measures at the ranks that its help names, and refuses others', async () => {
  const help = (await run(['eval', '--help'])).stdout.replace(/\s+/g, ' ');
  assert.match(help, /Ranks to measure at, up to 8 of 1 to 100/);
  const most = await report('locomo', corpus, '--k', '1,2,3,4,5,6,7,100');
  assert.ok(most.overall['any@100'] >= most.overall['any@7']);
  for (const k of ['0', '101', 'x', '1,2,3,4,5,6,7,8,9']) {
    const res = await run(['eval', 'locomo', corpus, '--k', k]);
    assert.equal(res.code, 2, k);
    assert.match(res.stderr, /--k takes at most 8 numbers from 1 to 100\n/);
  }
});

test('two settings are compared question by question', async () => {
  const folder = tempFolder(), before = path.join(folder, 'before.json'), after = path.join(folder, 'after.json');
  await report('locomo', corpus, '--per-question', before);
  await report('locomo', corpus, '--per-question', after, '--sessions', '1');
  const file = fs.readFileSync(before, 'utf8'), each = JSON.parse(file);
  assert.ok(each.questions.length > 20 && !file.includes('pottery course'));
  assert.deepEqual(Object.keys(each.questions[0]), ['id', 'kind', 'figures']);
  assert.ok(each.questions[0].figures.took_us > 0);
  const same = await report('compare', before, before);
  assert.equal(same.questions, each.questions.length);
  assert.equal(same.figures['frac@10'].change, 0);
  assert.equal(same.figures['frac@10'].p, 1);
  const fewer = await report('compare', before, after);
  assert.ok(fewer.only_first > 0 && fewer.questions > 0);
  const words = await run(['eval', 'compare', before, after]);
  assert.match(words.stdout, /95 % interval +better +worse +p\n/);
  assert.match(words.stdout, /frac@10 differs in \d+ questions/);
  await report('locomo', corpus, '--per-question', after, '--texts');
  assert.ok(JSON.parse(fs.readFileSync(after, 'utf8')).questions[0].question.endsWith('?'));
});

test('what enters prompts is measured, with its curve', async () => {
  const chats = await report('prompt', sample('beam.json'), '--curve');
  assert.equal(chats.led_as_chats, 2);
  assert.equal(chats.overall.any, 100);
  assert.equal(chats.curve.length, 16);
  assert.equal(chats.overall.renamed, undefined);
  const people = await report('prompt', corpus, '--sessions', '2');
  assert.equal(people.led_as_chats, 0);
  assert.ok(people.overall.kept > 80 && people.overall.renamed >= 0);
  const words = await run(['eval', 'prompt', sample('own.jsonl'), '--format', 'jsonl']);
  assert.match(words.stdout, /kept +any +frac +answer words +tokens +off-topic +renamed\n/);
});

test('facts are sampled, judged and counted', async () => {
  const folder = tempFolder(), list = path.join(folder, 'sample.jsonl'), talk = path.join(folder, 'talk.jsonl');
  const said = ['I love figs.', 'I prefer tea over coffee.', 'My dog is called Rex.', 'I live in Oslo.'];
  fs.writeFileSync(talk, said.map((content) => `${JSON.stringify({ session: 's', content })}\n`).join(''));
  const empty = await report('junk', talk, sample('own.jsonl'), '--sample', list);
  assert.equal(empty.sample.facts, 4);
  assert.equal(empty.sample.judged, 0);
  assert.equal(empty.sample.share, undefined);
  const facts = fs.readFileSync(list, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(facts.length, empty.sample.facts);
  assert.deepEqual(Object.keys(facts[0]), ['hash', 'judgement', 'kind', 'fact', 'sentence', 'conversation', 'message']);
  const hashes = facts.map((one) => one.hash);
  assert.deepEqual(hashes, [...hashes].sort());
  facts.forEach((one, i) => (one.judgement = i ? 'good' : 'junk'));
  fs.writeFileSync(list, facts.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const judged = await report('junk', talk, sample('own.jsonl'), '--judgements', list);
  assert.deepEqual([judged.sample.judged, judged.sample.junk], [facts.length, 1]);
  assert.ok(judged.sample.low < judged.sample.share && judged.sample.share < judged.sample.high);
});

test('what is wrong is said in one line', async () => {
  const folder = tempFolder(), bad = path.join(folder, 'bad.jsonl');
  fs.writeFileSync(bad, '{"session":"s","content":"x"}\n{"question":"q","evidence":["m"]}\n');
  const cases = [
    [2, ['nonsense', bad], /'nonsense' is not a benchmark; there is: locomo, longmemeval, beam, jsonl, and prompt, junk, compare/],
    [2, ['locomo', bad, bad], /eval locomo takes one file/],
    [2, ['compare', bad], /eval compare takes two files/],
    [2, ['junk', bad, '--dump', 'x'], /junk does not take --dump/],
    [2, ['beam', bad, '--curve'], /beam does not take --curve/],
    [2, ['prompt', bad, '--format', 'xml'], /--format: must be one of: locomo, longmemeval, beam, jsonl/],
    [1, ['jsonl', bad], /bad\.jsonl: line 2: evidence: no message of the conversation 1 has the id 'm'/],
    [1, ['beam', bad], /bad\.jsonl: row 1 must have conversation_id, chat \(a list\) and probing_questions/],
    [1, ['locomo', folder], /is a folder; locomo is read from a file/],
    [1, ['compare', bad, bad], /bad\.jsonl: /],
    [1, ['junk', sample('own.jsonl'), '--judgements', bad], /bad\.jsonl: line 1: hash must be 16 hex digits/],
    [1, ['locomo', corpus, '--per-question', path.join(folder, 'no', 'file')], /no\/file: No such file/],
  ];
  for (const [code, args, words] of cases) {
    const res = await run(['eval', ...args]);
    assert.equal(res.code, code, `${args.join(' ')}: ${res.stderr}`);
    assert.match(res.stderr, words);
    assert.equal(res.stderr.trimEnd().split('\n').length, 1, res.stderr);
    assert.equal(res.stdout, '');
  }
});
