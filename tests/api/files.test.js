// files.test.js - Claude's memory tool: word for word as Anthropic's own, and as memories at every other door.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { run, serve, tempFolder, until } = require('./lib.js');

const post = async (server, command, headers = {}) => {
  const res = await server.ask('POST', '/v1/memory_tool', command, headers);
  assert.equal(res.status, 200, res.text);
  return res.json();
};
const done = async (server, command, headers) => {
  const { content, is_error } = await post(server, command, headers);
  assert.equal(is_error, false, content);
  return content;
};
const refused = async (server, command, words) => {
  const { content, is_error } = await post(server, command);
  assert.equal(is_error, true, content);
  words instanceof RegExp ? assert.match(content, words) : assert.equal(content, words);
};
const view = (at, more) => ({ command: 'view', path: at, ...more });
const create = (at, file_text) => ({ command: 'create', path: at, file_text });
const replace = (at, old_str, new_str) => ({ command: 'str_replace', path: at, old_str, new_str });
const insert = (at, insert_line, insert_text) => ({ command: 'insert', path: at, insert_line, insert_text });
const rename = (old_path, new_path) => ({ command: 'rename', old_path, new_path });
const erase = (at) => ({ command: 'delete', path: at });

// --- beside Anthropic's own ---

const notes = '/memories/a/notes.md', empty = '/memories/empty.txt', long = 'Halcyon '.repeat(1250);
const commands = [view('/memories'), create(notes, '# Notes\n\nMy boat is called Halcyon.\n'), create(empty, ''), view('/memories'), view('/memories/a'), view(notes), view('/memories/a/../a/./notes.md'),
  view(notes, { view_range: [2, 3] }), view(notes, { view_range: [0, 100] }), view(notes, { view_range: [3, 2] }), view(notes, { view_range: [2, -1] }), view(empty), view('/memories/b'),
  replace(notes, 'Halcyon', 'Wren\nand Tern\nand Gull\nand Auk'), view(notes), replace(notes, 'n', 'x'), replace(notes, 'zzz', 'x'), replace(notes, 'Wren\nand', 'x'), replace('/memories/a', 'a', 'x'), replace('/memories/b', 'a', 'x'),
  replace(notes, 'Tern', 'Tern and $& Tern'), replace(notes, 'Tern and', ''), view(notes), replace(empty, '', 'now it says this'), view(empty),
  insert(notes, 0, 'top\n'), insert(notes, 6, 'end\n\n'), insert(notes, 99, 'x'), insert(notes, -1, 'x'), insert(notes, 10, 'last'), insert(empty, 1, 'end'), insert(empty, 0, ''), insert('/memories/a', 0, 'x'), insert('/memories/b', 0, 'x'), view(notes), view(empty),
  create('/memories/a', ''), create(notes, ''), create('/memories', ''), create('/memories/.hidden', 'h'), create('/memories/a/.h/x', 'h'), create('/memories/node_modules/x', 'h'), create('/memories/d/e/f/g.txt', 'x'.repeat(1536)),
  create('/memories/d.txt', 'x'.repeat(2048)), create('/memories/d-e', 'x'.repeat(1025)), create('/memories/B', long), create('/memories/C', 'x'.repeat(1280)), create('/memories/Ünï 🏕', 'Grüße'), view('/memories/Ünï 🏕'), view('/memories'), view('/memories/d'), view('/memories/.hidden'),
  rename('/memories/d', '/memories/a'), rename('/memories/zz', '/memories/q'), rename('/memories', '/memories/q'), rename('/memories/B', '/memories/d.txt'), rename('/memories/B', '/memories'), rename('/memories/B', '/memories/../x'),
  rename('/memories/d', '/memories/q/r'), rename('/memories/B', '/memories/q/B'), view('/memories/q'), view('/memories/q/r/e/f/g.txt'), view('/memories/d'),
  erase('/memories'), erase('/memories/zz'), erase('/memories/q'), view('/memories/q'), erase(notes), view(notes),
  view('/etc/passwd'), view('memories'), view(''), view('/memories/../etc'), view('/memories/a/../../x'), erase('/memories/..'), create('/memories/../x', 'x'), rename('/memories/../x', '/memories/y')];

// Folders of a disk have sizes of their own.
const plain = (text) => text.replace(/^[\d.]+[BKMG](?=\t.*\/$)/gm, 'SIZE').replace(/(node_modules:\n)[\d.]+[BKMG]/, '$1SIZE');

test('every command answers word for word as Anthropic\'s own tool, and leaves the same files', async (t) => {
  const { BetaLocalFilesystemMemoryTool } = await import('@anthropic-ai/sdk/tools/memory/node');
  const own = await BetaLocalFilesystemMemoryTool.init(tempFolder()), server = await serve(t);
  for (const command of commands) {
    const theirs = await own[command.command](command).then((content) => ({ content, is_error: false }), (error) => ({ content: error.message, is_error: true }));
    const ours = await post(server, command);
    assert.deepEqual({ ...ours, content: plain(ours.content) }, { ...theirs, content: plain(theirs.content) }, JSON.stringify(command).slice(0, 200));
  }
});

test('the SDK\'s tool runner works with it, and the model reads the results', async (t) => {
  const { betaMemoryTool } = await import('@anthropic-ai/sdk/helpers/beta/memory');
  const { Anthropic, claude, answer } = require('./messages_lib.js');
  const calls = [create('/memories/boat.md', 'Our boat is called Halcyon.'), view('/memories/boat.md'), view('/memories/nothing')];
  const up = await claude(t, (req, res, asked) => {
    const n = up.asked.length - 1; // each request has only what is new: the SDK goes on in a thread
    answer(res, asked, n < calls.length ? [{ type: 'tool_use', id: `toolu_${n}`, name: 'memory', input: calls[n] }] : 'Done.');
  });
  const server = await serve(t, { flags: ['--upstream', up.url] });
  const send = async (command) => {
    const { content, is_error } = await post(server, command);
    if (is_error) throw new Error(content);
    return content;
  };
  const handlers = Object.fromEntries(['view', 'create', 'str_replace', 'insert', 'delete', 'rename'].map((name) => [name, send]));
  const client = new Anthropic({ baseURL: server.url, apiKey: 'client-key', maxRetries: 0 });
  const last = await client.beta.messages.toolRunner({ model: 'scripted', max_tokens: 100, messages: [{ role: 'user', content: 'Note what our boat is called.' }], tools: [betaMemoryTool(handlers)] });
  assert.equal(last.content[0].text, 'Done.');
  const results = up.asked.flatMap((one) => one.json.messages).flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === 'tool_result').map((b) => [JSON.stringify(b.content), b.is_error ?? false]);
  assert.match(results[0][0], /File created successfully at: \/memories\/boat\.md/);
  assert.match(results[1][0], /Our boat is called Halcyon/);
  assert.match(results[2][0], /The path \/memories\/nothing does not exist/);
  assert.equal(results[2][1], true);
});

// --- what the other one has no words for ---

test('tricks with paths are refused, and nothing is made', async (t) => {
  const server = await serve(t);
  const escapes = (p) => `Path ${p} would escape /memories directory`;
  for (const p of ['/memories/%2e%2e/x', '/memories/%2E./x', '/memories/a%2fb', '/memories/..\\x', '/memories/a%5Cb', '/memories/../memories/a', '/memories/a/../..'])
    for (const command of [view(p), create(p, 'x'), rename('/memories/a', p)]) await refused(server, command, escapes(p));
  for (const p of ['/memoriesX', '/memoriesX/a', '/Memories/a', ' /memories/a', 'file:///memories/a']) await refused(server, create(p, 'x'), `Path must start with /memories, got: ${p}`);
  for (const p of ['/memories/a\nb', '/memories/\u0000', '/memories/a\tb', '/memories/\u007f']) await refused(server, create(p, 'x'), 'Path must not have control characters');
  await refused(server, create(`/memories/${'x'.repeat(503)}`, 'x'), 'Path must have at most 512 bytes');
  await done(server, create(`/memories/${'x'.repeat(502)}`, 'x'));
  await done(server, create('/memories/a/b', 'x'));
  await refused(server, create('/memories/a/b/c', 'x'), 'The path /memories/a/b is not a directory.');
  await refused(server, rename('/memories/a', '/memories/a/b/c'), 'Cannot rename /memories/a to a path inside itself');
  await refused(server, rename('/memories/a', `/memories/${'y'.repeat(502)}`), 'Path must have at most 512 bytes');
  await done(server, create('/memories//a/./c', 'x'));
  assert.equal((await server.ask('GET', '/v1/memories?layer=file')).json().total, 3);
});

test('what is no call of the tool is a 400 that names the member', async (t) => {
  const server = await serve(t);
  const bad = [[{}, 'command'], [{ command: 'open', path: '/memories' }, 'command'], [{ command: 'view' }, 'path'], [{ command: 'create', path: '/memories/a' }, 'file_text'], [{ command: 'create', path: '/memories/a', file_text: null }, 'file_text'],
    [{ command: 'str_replace', path: '/memories/a', old_str: 'x' }, 'new_str'], [{ command: 'insert', path: '/memories/a', insert_text: 'x' }, 'insert_line'], [{ command: 'insert', path: '/memories/a', insert_line: 1.5, insert_text: 'x' }, 'insert_line'],
    [{ command: 'rename', old_path: '/memories/a' }, 'new_path'], [{ command: 'view', path: 7 }, 'path'], [{ command: 'view', path: '/memories', recursive: true }, 'recursive']];
  for (const [body, field] of bad) {
    const res = await server.ask('POST', '/v1/memory_tool', body);
    assert.deepEqual([res.status, res.json().field], [400, field], JSON.stringify(body));
  }
  await done(server, create('/memories/a', 'x'));
  for (const view_range of [[1], ['1', '2'], 'all', { from: 1 }]) assert.equal((await server.ask('POST', '/v1/memory_tool', view('/memories/a', { view_range }))).json().field, 'view_range');
  await done(server, view('/memories/a', { view_range: null }));
});

test('files have a largest size and a largest number', async (t) => {
  const server = await serve(t), most = 65536;
  await done(server, create('/memories/full', 'x'.repeat(most)));
  const tooLong = (n) => `The file /memories/full would have ${n} bytes. Maximum is ${most}.`;
  await refused(server, create('/memories/more', 'x'.repeat(most + 1)), tooLong(most + 1).replace('full', 'more'));
  await refused(server, insert('/memories/full', 0, 'y'), tooLong(most + 2));
  await refused(server, replace('/memories/full', 'x', 'yy'), tooLong(most + 1));
  assert.equal((await done(server, view('/memories/full'))).length, "Here's the content of /memories/full with line numbers:\n     1\t".length + most);
  for (let i = 1; i < 1000; i += 50) await Promise.all([...Array(Math.min(50, 1000 - i)).keys()].map((k) => done(server, create(`/memories/n/${i + k}`, 'x'))));
  await refused(server, create('/memories/one', 'x'), 'There are 1000 files. Maximum is 1000.');
  assert.equal((await done(server, view('/memories'))).split('\n').length, 1003);
  await done(server, erase('/memories/n'));
  assert.equal((await server.ask('GET', '/v1/memories')).json().total, 1);
});

test('a folder whose files would have too long paths stays as a whole', async (t) => {
  const server = await serve(t), deep = '/memories/a/' + 'x'.repeat(480);
  await done(server, create('/memories/a/1', 'one'));
  await done(server, create(deep, 'deep'));
  await refused(server, rename('/memories/a', '/memories/' + 'b'.repeat(40)), 'Path must have at most 512 bytes');
  assert.match(await done(server, view('/memories/a/1')), /one/);
  await done(server, rename('/memories/a', '/memories/bb'));
  assert.match(await done(server, view(deep.replace('/a/', '/bb/'))), /deep/);
});

test('a text with a secret is refused, and says why; other texts are kept', async (t) => {
  const server = await serve(t), secret = 'My password is hunter2hunter2 and my key sk-abcdefghijklmnopqrstuvwxyz123456';
  await refused(server, create('/memories/a', secret), /^The text holds a password, key or number that may not be stored/);
  await done(server, create('/memories/a', 'The gate code is 4711.\n'));
  await refused(server, insert('/memories/a', 0, secret), /may not be stored/);
  await refused(server, replace('/memories/a', 'The gate code is 4711.', secret), /may not be stored/);
  assert.match(await done(server, view('/memories/a')), /4711/);
  assert.doesNotMatch((await server.ask('GET', '/v1/memories/export?all=true')).text, /hunter2/);
});

test('texts are kept byte for byte, through edits, a restart and an export', async (t) => {
  const data = tempFolder(), texts = ['', ' ', '\n', '\n\n  a\t\n\n', '(empty file)', '{"is_empty":true}', 'a\r\nb\r\n', 'Grüße 🏕\u2028x'];
  const first = await serve(t, { data });
  const lines = (text) => text.split('\n').map((line, i) => `${String(i + 1).padStart(6)}\t${line}`).join('\n');
  for (const [i, text] of texts.entries()) await done(first, create(`/memories/${i}`, text));
  await done(first, insert('/memories/0', 0, 'was empty'));
  await done(first, replace('/memories/0', 'was empty', ''));
  texts[0] = '\n';
  await done(first, create('/memories/blank', 'x'));
  await done(first, replace('/memories/blank', 'x', ''));
  texts.push('');
  const check = async (server, headers) => {
    for (const [i, text] of texts.entries()) {
      const name = i === texts.length - 1 ? 'blank' : i;
      assert.equal(await done(server, view(`/memories/${name}`), headers), `Here's the content of /memories/${name} with line numbers:\n${lines(text)}`);
    }
  };
  await check(first);
  const copy = await first.ask('GET', '/v1/memories/export?all=true');
  await first.stop();
  const second = await serve(t, { data });
  await check(second);
  const imported = await second.ask('POST', '/v1/memories/import?space=copy', copy.text, { 'content-type': 'application/x-ndjson' });
  assert.equal(imported.status, 200, imported.text);
  await check(second, { 'x-memory-space': 'copy' });
});

test('two at one time: one creates, and no edit is lost', async (t) => {
  const data = tempFolder(), servers = [await serve(t, { data }), await serve(t, { data })];
  const made = await Promise.all([...Array(12).keys()].map((i) => post(servers[i % 2], create('/memories/one', `by ${i}`))));
  assert.equal(made.filter((one) => !one.is_error).length, 1);
  for (const one of made.filter((m) => m.is_error)) assert.equal(one.content, 'File /memories/one already exists');
  const edits = await Promise.all([...Array(12).keys()].map((i) => post(servers[i % 2], insert('/memories/one', 1, `line ${i};`))));
  const text = await done(servers[0], view('/memories/one'));
  for (const [i, one] of edits.entries()) {
    assert.equal(text.includes(`line ${i};`), !one.is_error);
    if (one.is_error) assert.equal(one.content, 'The file /memories/one no longer exists (may have been deleted or renamed concurrently).');
  }
});

// --- a memory like any other ---

test('a file is found, given to chats, listed, changed and erased like every memory', async (t) => {
  const server = await serve(t), at = '/memories/boat.md';
  await done(server, create(at, 'Our boat is called Halcyon.\n'));
  const [m] = (await server.ask('GET', '/v1/memories')).json().memories;
  assert.deepEqual([m.layer, m.key, m.content, m.origin], ['file', at, 'Our boat is called Halcyon.\n', 'mcp']);
  const found = async () => /Halcyon/.test((await server.ask('POST', '/v1/memories/search', { query: 'What is our boat called?' })).text);
  const given = async () => /Halcyon/.test((await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'What is our boat called?' }] }, { 'x-memory-mode': 'readonly' })).text);
  assert.deepEqual([await found(), await given()], [true, true]);
  assert.equal((await server.ask('PATCH', `/v1/memories/${m.id}`, { content: 'Our boat is called Meridian.' })).status, 200);
  assert.match(await done(server, view(at)), /\tOur boat is called Meridian\.$/);
  assert.deepEqual([await found(), await given()], [false, false]);
  assert.equal((await server.ask('DELETE', `/v1/memories/${m.id}`)).status, 200);
  await refused(server, view(at), `The path ${at} does not exist. Please provide a valid path.`);
  await done(server, create(at, 'again'));
  assert.equal((await server.ask('DELETE', '/api/v1/memory?confirm=true')).status, 200);
  await refused(server, view(at), /does not exist/);
  await done(server, create(at, 'and again'));
  assert.equal((await run(['forget', '--everything', '--yes', '--data', server.data])).code, 0);
  await refused(server, view(at), /does not exist/);
});

test('what a model tidies away is not forgotten for its user', async (t) => {
  const server = await serve(t);
  await server.tell('Our boat is called Halcyon.');
  await done(server, create('/memories/boat.md', 'Our boat is called Halcyon.'));
  await done(server, erase('/memories/boat.md'));
  assert.match((await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'What is our boat called?' }] })).text, /Halcyon/);
});

test('files are left as they are by what tidies memories', async (t) => {
  const server = await serve(t), old = { 'x-memory-space': 'old' };
  const said = ['The invoices are written with LibreOffice and sent by post.', 'The invoices are written with LibreOffice and sent by post!'], names = ['one', 'two'];
  for (const [i, name] of names.entries()) await done(server, create(`/memories/${name}`, said[i]));
  const lines = (await server.ask('GET', '/v1/memories/export')).text.trim().split('\n').map((line) => JSON.parse(line));
  const aged = lines.map((one) => JSON.stringify({ ...one, ...(one.created && { created: '2024-01-02T03:04:05Z', updated: '2024-01-02T03:04:05Z', last_used: '2024-01-02T03:04:05Z' }) }));
  assert.equal((await server.ask('POST', '/v1/memories/import', `${aged.join('\n')}\n`, { 'content-type': 'application/x-ndjson', ...old })).status, 200);
  assert.deepEqual((await server.ask('GET', '/v1/memories', undefined, old)).json().memories.map((m) => m.created.slice(0, 4)), ['2024', '2024']);
  for (const kind of ['consolidate', 'compact', 'prune']) {
    const job = await server.ask('POST', '/v1/jobs', { kind }, kind === 'prune' ? {} : old);
    assert.equal(job.status, 202, `${kind}: ${job.text}`);
    await until(kind, async () => (await server.ask('GET', `/v1/jobs/${job.json().id}`)).json().state === 'done');
  }
  const merged = await server.ask('POST', '/v1/memory/deduplicate?app_id=old', { app_id: 'old' });
  assert.equal(merged.status, 200, merged.text);
  for (const [i, name] of names.entries()) assert.equal((await done(server, view(`/memories/${name}`), old)).split('\t')[1], said[i]);
});

test('a space and a person have files of their own', async (t) => {
  const server = await serve(t);
  const who = [{}, { 'x-memory-space': 'work' }, { 'x-memory-user': 'anna' }, { 'x-memory-user': 'anna', 'x-memory-space': 'work' }];
  for (const [i, headers] of who.entries()) await done(server, create('/memories/mine', `of ${i}`), headers);
  for (const [i, headers] of who.entries()) assert.match(await done(server, view('/memories/mine'), headers), new RegExp(`\tof ${i}$`));
  assert.match(await done(server, { ...view('/memories/mine'), space: 'work' }), /\tof 1$/);
  await done(server, erase('/memories/mine'), who[3]);
  for (const headers of who.slice(0, 3)) await done(server, view('/memories/mine'), headers);
  await run(['token', 'create', '--data', server.data]);
  assert.equal((await server.ask('POST', '/v1/memory_tool', view('/memories'))).status, 401);
});

// --- MCP ---

test('over MCP the tool is called memory, is listed on request, and its refusals are errors of the tool', async (t) => {
  const server = await serve(t);
  const rpc = async (method, params, at = '/mcp') => (await server.ask('POST', at, { jsonrpc: '2.0', id: 1, method, params }, { accept: 'application/json, text/event-stream' })).json().result;
  const call = (args) => rpc('tools/call', { name: 'memory', arguments: args });
  const listed = async (at) => (await rpc('tools/list', {}, at)).tools.map((tool) => tool.name);
  assert.ok(!(await listed('/mcp')).includes('memory'));
  assert.deepEqual(await listed('/mcp?tools=claude'), ['memory']);
  const made = await call(create('/memories/a', 'Halcyon'));
  assert.deepEqual([made.isError, made.content[0].text, made.structuredContent], [false, 'File created successfully at: /memories/a', { content: 'File created successfully at: /memories/a', is_error: false }]);
  const again = await call(create('/memories/a', 'Halcyon'));
  assert.deepEqual([again.isError, again.content[0].text, again.structuredContent], [true, 'File /memories/a already exists', undefined]);
  const none = await call({ command: 'create', path: '/memories/b' });
  assert.deepEqual([none.isError, none.content[0].text], [true, 'file_text: is required']);
  assert.match((await call({ ...view('/memories/a'), space: 'work' })).content[0].text, /does not exist/);
  assert.match(await done(server, view('/memories/a')), /Halcyon/);
  assert.equal(fs.existsSync(path.join(server.data, 'memories')), false, 'nothing is written beside the database');
});
