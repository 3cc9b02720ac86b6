// What the pages of the products did whose users come here: each duty, and where it is done now.
'use strict';
const { assert, test, serve, open } = require('./lib.js');

const button = (name) => (page) => page.getByRole('button', { name, exact: true }).first();
const text = (what) => (page) => page.getByText(what).first();
const box = (role, name) => (page) => page.getByRole(role, { name }).first();
const more = (name) => async (page) => {
  await page.getByRole('button', { name: 'More' }).click();
  return page.getByRole('button', { name });
};
const inDrawer = (role, name) => async (page) => {
  await page.getByText('my dog is called Rex').first().click();
  return page.getByRole('dialog', { name: 'Memory' }).getByRole(role, { name, exact: true }).first();
};
const memories = '/studio/memories', simulate = '/studio/try?tab=simulate&q=What+is+my+dog+called%3F', engine = '/studio/engine', settings = '/studio/engine?tab=settings';

const duties = [ // product, duty, place, what a person finds there
  ['OmniRoute', 'how it works', '/', text('Say something about yourself in the first chat.')],
  ['OmniRoute', 'list', memories, text('my dog is called Rex')],
  ['OmniRoute', 'live search', memories, box('searchbox', 'Search memories')],
  ['OmniRoute', 'type filter', `${memories}?type=episodic`, (page) => page.getByText('Nothing matches').first()],
  ['OmniRoute', 'add with key, content and type', memories, async (page) => {
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    for (const name of [/^Text/, /^Key/]) await page.getByRole('dialog').getByRole('textbox', { name }).waitFor();
    return page.getByRole('dialog').getByRole('combobox', { name: 'Type' });
  }],
  ['OmniRoute', 'edit in place', memories, inDrawer('textbox', 'Text')],
  ['OmniRoute', 'delete', memories, inDrawer('button', 'Forget')],
  ['OmniRoute', 'export', memories, more('Export this list')],
  ['OmniRoute', 'import', memories, more('Import')],
  ['OmniRoute', 'compact', memories, more('Compact')],
  ['OmniRoute', 'statistics', '/studio/timeline', text('tokens inserted into chats')],
  ['OmniRoute', 'simulate: query', simulate, box('searchbox', 'What would you ask?')],
  ['OmniRoute', 'simulate: exact, which is the newest', simulate, button('Newest')],
  ['OmniRoute', 'simulate: semantic', simulate, button('Semantic')],
  ['OmniRoute', 'simulate: hybrid', simulate, button('Hybrid')],
  ['OmniRoute', 'simulate: token budget', simulate, box('spinbutton', 'Budget in tokens')],
  ['OmniRoute', 'simulate: score, tier, tokens, by words, by meaning', simulate, async (page) => {
    for (const name of ['Score', 'Tier', 'By words', 'By meaning']) await page.getByRole('region', { name: 'Memories by strategy' }).getByRole('columnheader', { name }).waitFor();
    return page.getByRole('region', { name: 'Memories by strategy' }).getByRole('cell', { name: 'By words' }).first();
  }],
  ['OmniRoute', 'simulate: how it was resolved', simulate, text(/^Vectors: /)],
  ['OmniRoute', 'engine: keywords', engine, text('SQLite FTS5')],
  ['OmniRoute', 'engine: embedding', engine, text('Embedding')],
  ['OmniRoute', 'engine: vector store', engine, text(/^\d+ vectors/)],
  ['OmniRoute', 'engine: rerank', engine, text('Rerank')],
  ['OmniRoute', 'engine: reindex now', engine, button('Reindex…')],
  ['OmniRoute', 'embedding source', settings, box('combobox', 'embedding_source')],
  ['OmniRoute', 'static and transformers', settings, text('embedding_static')],
  ['OmniRoute', 'rerank: on, model', settings, box('textbox', 'rerank_model')],
  ['OmniRoute', 'Qdrant: settings', settings, box('textbox', 'qdrant_host')],
  ['OmniRoute', 'Qdrant: test', engine, async (page) => {
    await page.getByRole('region', { name: 'Qdrant' }).getByRole('button', { name: 'Test' }).click();
    return page.getByRole('region', { name: 'Qdrant' }).getByRole('status');
  }],
  ['OmniRoute', 'Qdrant: search', engine, box('searchbox', 'Search there')],
  ['OmniRoute', 'Qdrant: clean up', engine, (page) => page.getByRole('region', { name: 'Qdrant' }).getByRole('button', { name: 'Clean up…' })],
  ['RAG backend', 'list with types and importance', memories, (page) => page.getByTitle('Importance').first()],
  ['RAG backend', 'clear all, with a typed word', '/studio/access', async (page) => {
    await page.getByRole('region', { name: 'Spaces' }).getByRole('button', { name: 'Erase' }).click();
    return page.getByRole('dialog').getByLabel(/^Type/);
  }],
  ['RAG backend', 'numbers by type', '/studio/timeline', box('heading', 'Memories added, by type')],
  ['Osaurus', 'run consolidation now', engine, button('Consolidate')],
  ['Osaurus', 'identity', `${memories}?layer=identity`, text('Ada is the user.')],
  ['Osaurus', 'pinned facts', `${memories}?layer=fact&sort=importance`, text('my dog is called Rex')],
  ['Osaurus', 'episodes', '/studio/sessions?id=monday', button('Episodes 0')],
  ['Osaurus', 'processing log', '/studio/engine?tab=log', box('heading', 'Log')],
  ...['extraction_mode', 'summary_debounce_s', 'gate_mode', 'memory_budget', 'embedding_backend', 'consolidation_hours', 'salience_floor', 'episode_days', 'agent_embedding_model', 'memory']
    .map((name) => ['Osaurus', `knob ${name}`, settings, (page) => page.getByText(name, { exact: true }).first()]),
];

test('every duty of the pages before is done somewhere', async (t) => {
  const server = await serve(t);
  await server.tell('My dog is called Rex.', { 'x-session-id': 'monday' });
  await server.ask('POST', '/v1/memories', { content: 'Ada is the user.', layer: 'identity' });
  await server.ask('POST', '/v1/memories', { content: 'The dog is called a menace by the neighbours.' });
  const page = await open(t, server), missing = [];
  page.expected.push(/Failed to load resource/); // a Qdrant that is not there
  for (const [product, duty, place, find] of duties) {
    await page.goto(server.url + place);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const seen = await Promise.resolve(find(page)).then((found) => found.waitFor({ timeout: 4000 })).then(() => true, () => false);
    if (!seen) missing.push(`${product}: ${duty}`);
  }
  assert.deepEqual(missing, []);
});
