// hooks.test.js - what coding agents report by hooks: prompts get memories, answers are kept, projects stay apart.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { run, serve, until } = require('./lib.js');

const alpha = '/home/ana/src/alpha', beta = '/home/ana/src/beta';

// A session of Claude Code in a folder. Members of the events are as Claude Code 2.1 sends them.
function agent(server, cwd, session = 's-1', headers = {}) {
  const event = (hook_event_name, more = {}) => ({ session_id: session, transcript_path: `/home/ana/.claude/projects/x/${session}.jsonl`, cwd,
    prompt_id: 'p', permission_mode: 'default', hook_event_name, ...more });
  const send = async (...args) => {
    const res = await server.ask('POST', '/v1/hooks', event(...args), headers);
    assert.equal(res.status, 200, res.text);
    return res.json();
  };
  const says = async (prompt, more) => {
    const out = await send('UserPromptSubmit', { prompt, ...more });
    if (!out.hookSpecificOutput) return assert.deepEqual(out, {}), '';
    assert.deepEqual(Object.keys(out.hookSpecificOutput), ['hookEventName', 'additionalContext']);
    assert.equal(out.hookSpecificOutput.hookEventName, 'UserPromptSubmit');
    return out.hookSpecificOutput.additionalContext;
  };
  const stops = async (last_assistant_message, more) => assert.deepEqual(await send('Stop', { stop_hook_active: false, last_assistant_message, effort: { level: 'high' }, background_tasks: [], session_crons: [], ...more }), {});
  const compacts = async () => assert.deepEqual(await send('PreCompact', { trigger: 'auto', custom_instructions: null }), {});
  return { event, send, says, stops, compacts };
}

const get = async (server, path, headers) => {
  const res = await server.ask('GET', path, undefined, headers);
  assert.equal(res.status, 200, `${path}: ${res.text}`);
  return res.json();
};
const spaces = async (server, headers) => (await get(server, '/v1/spaces', headers)).items.map((s) => s.space);
// Writes of turns are queued; a space is not there before the first one.
const project = (server, name) => until(`a space of ${name}`, async () => (await spaces(server)).find((s) => s.startsWith(`project:${name}-`)));
const history = async (server, session, space = 'default') => {
  const path = `/v1/session/${session}/history?limit=100&space=${encodeURIComponent(space)}`;
  await until(path, async () => (await server.ask('GET', path)).status === 200);
  return (await get(server, path)).messages.map((m) => [m.role, m.content]);
};
const remember = async (server, content, headers = {}) => assert.equal((await server.ask('POST', '/v1/memories', { content }, headers)).status, 201);

test('a prompt gets memories of the project and of the user; the turn is kept in the project', async (t) => {
  const server = await serve(t);
  await remember(server, 'The user prefers tabs over spaces in Makefiles.');
  const first = agent(server, alpha, 'first');
  assert.equal(await first.says('Our staging database is called heron, remember that.'), '');
  await first.stops('I will remember that.');
  const space = await project(server, 'alpha');
  assert.match(space, /^project:alpha-[0-9a-f]{8}$/);
  assert.deepEqual(await history(server, 'first', space), [['user', 'Our staging database is called heron, remember that.'], ['assistant', 'I will remember that.']]);

  const second = agent(server, alpha, 'second');
  const both = await second.says('What is our staging database called, and do I prefer tabs or spaces in Makefiles?');
  assert.match(both, /^From work on this project \(space project:alpha-[0-9a-f]{8}\):\n<remembered>\n[^]*heron[^]*<\/remembered>\n\nFrom all conversations of the user:\n<remembered>\n[^]*tabs over spaces[^]*<\/remembered>$/);
  // The agent's tools reach the conversation by the name of the space, which a search that finds nothing names as well.
  const search = async (args) => (await server.ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_search', arguments: args } })).json().result.structuredContent;
  assert.match((await search({ query: 'staging database heron', space })).results[0].text, /heron/);
  assert.deepEqual((await search({ query: 'zeppelin', space: 'empty' })).other_spaces.sort(), ['default', space]);
  assert.ok(!('other_spaces' in await search({ query: 'tabs over spaces' })));
  const other = await agent(server, beta, 'third').says('What is our staging database called, and do I prefer tabs or spaces in Makefiles?');
  assert.doesNotMatch(other, /heron/);
  assert.match(other, /^From all conversations of the user:\n<remembered>[^]*tabs over spaces/);
  assert.ok(!(await get(server, '/v1/sessions?space=default')).sessions.some((s) => s.id === 'first'), 'the conversation is not in the user\'s own space');
});

test('nothing is given twice in a conversation, and again after a compaction', async (t) => {
  const server = await serve(t);
  await remember(server, 'The user has a boat called Halcyon.');
  const old = agent(server, alpha, 'old');
  await old.says('The release branch of this project is called kestrel.');
  await old.stops('Noted.');
  const now = agent(server, alpha, 'now'), question = 'What is my boat called, and what is the release branch of this project called?';
  const first = await now.says(question);
  assert.match(first, /Halcyon/);
  assert.match(first, /kestrel/);
  await now.stops('Halcyon and kestrel.');
  await now.says('My bicycle is called Rocinante.');
  await now.stops('A fine name.');
  const again = await now.says(`${question} Say it again.`);
  assert.doesNotMatch(again, /Halcyon|kestrel/);
  await now.stops('Halcyon and kestrel, again.');
  assert.doesNotMatch(await now.says('What is my bicycle called?'), /Rocinante/, 'it is in front of the model');
  await now.stops('Rocinante.');
  await now.compacts();
  const later = await now.says(`${question} Once more.`);
  for (const word of [/Halcyon/, /kestrel/]) assert.match(later, word, 'the model has only a summary of it');
  await now.stops('Halcyon and kestrel, once more.');
  assert.match(later + await now.says('What is my bicycle called?'), /Rocinante/, 'and of this');
  await now.stops('Rocinante, as before.');
  assert.equal((await history(server, 'now', await project(server, 'alpha'))).length, 12);
});

test('a session stays in its project when its folder changes, and a project is its root', async (t) => {
  const server = await serve(t);
  await agent(server, alpha, 's').says('The build machine is called Wagtail.');
  await project(server, 'alpha');
  await agent(server, `${alpha}/src/deep`, 's').stops('Noted.');
  await agent(server, beta, 's').says('And the test machine is called Dunlin.');
  assert.deepEqual((await spaces(server)).filter((s) => s.startsWith('project:')).length, 1);
  assert.deepEqual((await history(server, 's', await project(server, 'alpha'))).map(([role]) => role), ['user', 'assistant', 'user']);
  // rememberd hook names the root; a slash at the end is none of the name.
  assert.match(await agent(server, `${alpha}/deeper`, 'other').says('What is the build machine called?', { project: `${alpha}/` }), /Wagtail/);
  // Two folders of one name are two projects, and odd characters do not reach a header.
  await agent(server, '/tmp/other/alpha', 'third').says('The build machine is called Plover.');
  await agent(server, 'C:\\work\\my app\\', 'fourth').says('The build machine is called Curlew.');
  await project(server, 'my-app');
  const names = (await spaces(server)).filter((s) => s.startsWith('project:'));
  assert.equal(names.length, 3, names.join());
  assert.equal(names.filter((s) => s.startsWith('project:alpha-')).length, 2);
  assert.equal(names.filter((s) => /^project:my-app-[0-9a-f]{8}$/.test(s)).length, 1);
});

test('without a folder, or with a space of the request, there is one space', async (t) => {
  const server = await serve(t);
  const named = agent(server, alpha, 'named', { 'x-memory-space': 'team' });
  await named.says('The style guide lives in docs/style.md.');
  await named.stops('Noted.');
  assert.deepEqual(await history(server, 'named', 'team'), [['user', 'The style guide lives in docs/style.md.'], ['assistant', 'Noted.']]);
  assert.match(await agent(server, beta, 'next', { 'x-memory-space': 'team' }).says('Where does the style guide live?'), /^<remembered>[^]*docs\/style\.md/);
  await agent(server, undefined, 'nowhere').says('The style guide lives on the moon.');
  assert.deepEqual(await history(server, 'nowhere'), [['user', 'The style guide lives on the moon.']]);
  assert.ok(!(await spaces(server)).some((s) => s.startsWith('project:')));
});

test('answers: twice the same, several to one prompt, and without a prompt', async (t) => {
  const server = await serve(t);
  const a = agent(server, alpha, 's');
  await a.stops('Nobody has asked.');
  await a.says('Please rename the module to Avocet.');
  await a.stops('Done: it is called Avocet now.');
  await a.stops('Done: it is called Avocet now.');
  await a.stops('The tests pass, too.', { stop_hook_active: true });
  await a.stops(undefined);
  await a.stops(null);
  await a.says('Now rename it to Bittern, with the key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD.');
  await a.stops('It is called Bittern.');
  await a.stops('And nothing else changed.');
  const kept = await history(server, 's', await project(server, 'alpha'));
  assert.deepEqual(kept.map(([role]) => role), ['user', 'assistant', 'assistant', 'user', 'assistant', 'assistant'], JSON.stringify(kept));
  assert.doesNotMatch(JSON.stringify(kept), /sk-proj-abc/);
  // A prompt that was sent again because the answer got lost is one message.
  await a.says('And to Crake.');
  await a.says('And to Crake.');
  assert.equal((await history(server, 's', await project(server, 'alpha'))).length, 7);
});

test('an answer that repeats what was given is kept and not found again', async (t) => {
  const server = await serve(t);
  await remember(server, 'The user has a boat called Halcyon.');
  const a = agent(server, alpha, 's');
  assert.match(await a.says('What is my boat called?'), /Halcyon/);
  await a.stops('The user has a boat called Halcyon. The anchor weighs forty kilograms.');
  const space = encodeURIComponent(await project(server, 'alpha'));
  const search = async (query) => (await server.ask('POST', `/v1/memories/search?space=${space}`, { query })).json().results;
  const texts = JSON.stringify(await until('the answer', async () => { const v = await search('How heavy is the anchor?'); return JSON.stringify(v).includes('anchor') && v; }));
  assert.match(texts, /forty kilograms/);
  assert.doesNotMatch(JSON.stringify((await search('Halcyon')).filter((r) => /boat called Halcyon/.test(JSON.stringify(r)))), /assistant/);
});

test('what nobody typed, other events and other clients', async (t) => {
  const server = await serve(t);
  const a = agent(server, alpha, 's');
  assert.equal(await a.says('<task-notification>\n<task-id>b1</task-id> The build machine is called Wagtail.</task-notification>'), '');
  assert.equal(await a.says('  '), '');
  assert.equal(await a.says(undefined), '');
  for (const name of ['SessionStart', 'SessionEnd', 'SubagentStop', 'PostToolUse', 'Whatever']) assert.deepEqual(await a.send(name, { last_assistant_message: 'x' }), {});
  assert.ok(!(await spaces(server)).some((s) => s.startsWith('project:')), 'nothing was kept');
  // Gemini CLI: other names of the same moments.
  const asked = await a.send('BeforeAgent', { prompt: 'The build machine is called Wagtail.', timestamp: '2026-11-20T10:00:00Z' });
  assert.deepEqual(asked, {});
  assert.deepEqual(await a.send('AfterAgent', { prompt: 'The build machine is called Wagtail.', prompt_response: 'Noted.' }), {});
  assert.deepEqual(await a.send('PreCompress', { trigger: 'auto' }), {});
  const recalled = await a.send('BeforeAgent', { prompt: 'What is the build machine called?' });
  assert.equal(recalled.hookSpecificOutput.hookEventName, 'BeforeAgent');
  assert.match(recalled.hookSpecificOutput.additionalContext, /Wagtail/);
  await a.send('AfterAgent', { prompt_response: 'It is Wagtail.' });
  // It shows its model the context of a prompt with this prompt alone.
  assert.match((await a.send('BeforeAgent', { prompt: 'And what is the build machine called again?' })).hookSpecificOutput?.additionalContext ?? '', /Wagtail/);
});

test('the page about hooks has each event with what it does', async (t) => {
  const page = fs.readFileSync(path.join(__dirname, '../../docs/reference/hooks.md'), 'utf8');
  const rows = [...page.matchAll(/^\| [^|`]+ \| `(\w+)` \| `(\w+)` \| (recalls|keeps|what waits)/gm)];
  assert.equal(rows.length, 3);
  const server = await serve(t);
  for (const column of [1, 2]) {
    const [recall, keep, flush] = rows.map((row) => row[column]), a = agent(server, alpha, `s-${column}`);
    await a.send(recall, { prompt: `The build machine number ${column} is called Wagtail.` });
    await a.send(keep, { last_assistant_message: 'Noted.', prompt_response: 'Noted.' });
    assert.equal((await history(server, `s-${column}`, await project(server, 'alpha'))).length, 2);
    await a.send(flush);
    assert.match((await server.ask('GET', `/v1/session/s-${column}`)).json().metadata.compacted_at, /^20\d\d-/);
  }
});

test('memory is switched off for a request, and for all', async (t) => {
  const server = await serve(t);
  await agent(server, alpha, 'old').says('The build machine is called Wagtail.');
  const question = 'What is the build machine called?';
  const ask = (session, mode) => agent(server, alpha, session, { 'x-memory-mode': mode });
  assert.equal(await ask('off', 'off').says(question), '');
  assert.equal(await ask('after', 'after').says(question), '');
  assert.match(await ask('readonly', 'readonly').says(question), /Wagtail/);
  await ask('readonly', 'readonly').stops('Wagtail.');
  await ask('readonly', 'readonly').compacts();
  const space = await project(server, 'alpha');
  const ids = (await get(server, `/v1/sessions?space=${encodeURIComponent(space)}`)).sessions.map((s) => s.id).sort();
  assert.deepEqual(ids, ['after', 'old']);
  assert.equal((await server.ask('POST', '/v1/hooks', agent(server, alpha).event('Stop'), { 'x-memory-mode': 'maybe' })).status, 400);
  assert.equal((await server.ask('PUT', '/memory/config', { enabled: false })).status, 200);
  const res = await server.ask('POST', '/v1/hooks', agent(server, alpha, 'disabled').event('UserPromptSubmit', { prompt: question }));
  assert.deepEqual([res.status, res.json(), res.headers['x-memory']], [200, {}, 'off; reason=setting']);
});

test('each space has its receipt, and forgetting reaches both', async (t) => {
  const server = await serve(t);
  await remember(server, 'The user has a boat called Halcyon.');
  await agent(server, alpha, 'old').says('The release branch of this project is called kestrel.');
  const question = 'What is my boat called, and what is the release branch of this project called?';
  const res = await server.ask('POST', '/v1/hooks', agent(server, alpha, 'now').event('UserPromptSubmit', { prompt: question }));
  const space = encodeURIComponent(await project(server, 'alpha'));
  const one = await server.receipt(res.headers['x-rememberd-receipt']);
  assert.match(JSON.stringify(one), /kestrel/);
  assert.doesNotMatch(JSON.stringify(one), /Halcyon/);
  const own = await until('the receipt of the own space', async () => (await get(server, '/v1/receipts?space=default')).items.find((r) => r.tokens > 0));
  assert.match(JSON.stringify(await get(server, `/v1/receipts/${own.id}`)), /Halcyon/);
  assert.ok((await get(server, `/v1/receipts?space=${space}`)).items.some((r) => r.id === one.id));
  for (const m of (await get(server, '/v1/memories')).memories) assert.equal((await server.ask('DELETE', `/v1/memories/${m.id}`)).status < 300, true);
  assert.doesNotMatch(await agent(server, alpha, 'later').says(question), /Halcyon/);
});

test('an agent shows 10,000 characters of a hook: both blocks stay below', async (t) => {
  const server = await serve(t, { flags: ['--budget-tokens', '8000', '--recall-limit', '20', '--encoder', 'off', '--coverage', 'full'] });
  const words = ['cable', 'bracket', 'hinge', 'flange', 'pressure', 'torque', 'voltage', 'rotor', 'stator', 'gasket', 'valve', 'piston'];
  const text = (i) => Array.from({ length: 70 }, (_, k) => words[(i * 7 + k * 5 + ((i * k) % 11)) % 12] + ((i * 31 + k * 17) % 97)).join(' ');
  for (let i = 0; i < 60; i++) await remember(server, `The ${i % 5 ? 'Plover' : 'Wagtail'} machine, note ${i}: ${text(i)}`);
  for (let i = 0; i < 60; i++) await agent(server, alpha, `s-${i}`).says(`The ${i % 5 ? 'Plover' : 'Wagtail'} machine, test ${i}: ${text(i + 100)}`);
  const context = await agent(server, alpha, 'now').says('What do you remember about my Wagtail machine?');
  for (const part of ['From work on this project (space project:', 'From all conversations of the user:']) assert.ok(context.includes(part), context);
  assert.ok(context.length > 5000 && context.length < 10000, String(context.length));
});

test('a token of the project\'s own space gives each memory once', async (t) => {
  const server = await serve(t);
  await agent(server, alpha, 'old').says('The build machine is called Wagtail.');
  const space = await project(server, 'alpha');
  const { token } = JSON.parse((await run(['token', 'create', '--data', server.data, '--json', '--space', space])).stdout);
  const context = await agent(server, alpha, 'now', { authorization: `Bearer ${token}` }).says('What is the build machine called?');
  assert.match(context, /^<remembered>[^]*Wagtail/);
  assert.equal(context.match(/<remembered>/g).length, 1);
});

test('users and people: their own, and nobody else\'s', async (t) => {
  const server = await serve(t);
  const says = (as, session, prompt) => agent(server, alpha, session, { 'x-memory-user': as }).says(prompt);
  await says('anna', 'a', 'The build machine is called Wagtail.');
  assert.equal(await says('bob', 'b', 'What is the build machine called?'), '');
  assert.match(await says('anna', 'c', 'What is the build machine called?'), /Wagtail/);
  const token = async (...flags) => (await run(['token', 'create', '--data', server.data, '--json', ...flags])).stdout;
  const plain = JSON.parse(await token('--user', 'carl')).token;
  const bearer = { authorization: `Bearer ${plain}` };
  assert.equal(await agent(server, alpha, 'a', bearer).says('What is the build machine called?'), '');
  assert.equal((await server.ask('POST', '/v1/hooks', agent(server, alpha).event('Stop'))).status, 401);
  assert.equal((await server.ask('POST', '/v1/hooks', agent(server, alpha).event('Stop'), { ...bearer, 'x-memory-user': 'anna' })).status, 403);
});

// The space of a token that was made without --space is its own; so are those of its children.
test('a token of a private space, and one that is bound to spaces, stay in them', async (t) => {
  const server = await serve(t);
  const make = async (...flags) => JSON.parse((await run(['token', 'create', '--data', server.data, '--json', ...flags])).stdout);
  const own = await make(), bound = await make('--spaces', 'work,home'), shared = await make('--space', 'default');
  const bearer = (token) => ({ authorization: `Bearer ${token}` });
  const child = (await server.ask('POST', '/v1/tokens', {}, bearer(own.token))).json();
  assert.equal(child.space, own.space);
  const spaces = async () => (await server.ask('GET', '/v1/spaces', undefined, bearer(shared.token))).text;
  for (const { token } of [own, child, bound]) {
    await agent(server, alpha, `a${token}`, bearer(token)).says('The build machine is called Wagtail.');
    assert.match(await agent(server, beta, `b${token}`, bearer(token)).says('What is the build machine called?'), /Wagtail/, 'folders share its space');
    assert.ok(!/project:/.test(await spaces()));
  }
  await agent(server, alpha, 'c', bearer(shared.token)).says('The test machine is called Dunnock.');
  assert.match(await spaces(), /project:/);
  assert.doesNotMatch(await agent(server, alpha, 'd', bearer(own.token)).says('What is the test machine called?'), /Dunnock/);
});

test('what is wrong with a request is said, with the field', async (t) => {
  const server = await serve(t);
  const event = agent(server, alpha).event('UserPromptSubmit', { prompt: 'x' });
  const wrong = [['session_id', undefined], ['session_id', ''], ['session_id', 'x'.repeat(257)], ['hook_event_name', undefined], ['prompt', 7], ['cwd', 'x'.repeat(4097)], ['project', {}]];
  for (const [field, value] of wrong) {
    const res = await server.ask('POST', '/v1/hooks', { ...event, [field]: value });
    assert.equal(res.status, 400, `${field}: ${res.text}`);
    assert.equal(res.headers['content-type'], 'application/problem+json');
    assert.equal(res.json().field, field);
  }
  assert.equal((await server.ask('POST', '/v1/hooks', '{"hook')).status, 400);
  assert.equal((await server.ask('GET', '/v1/hooks')).status, 405);
});
