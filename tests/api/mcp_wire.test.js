// mcp_wire.test.js - MCP as bytes: revisions, headers, exact errors, sessions that are none, and a clean standard output.
'use strict';
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const test = require('node:test');
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { bin, cleanEnv, run, serve, tempFolder } = require('./lib');

const modern = '2026-07-28', meta = 'io.modelcontextprotocol/';
const supported = [modern, '2025-11-25', '2025-06-18'];
const request = (method, params, id = 1) => ({ jsonrpc: '2.0', id, method, ...(params && { params }) });

// A request as the newest revision wants it; what is given as undefined is left out.
const withMeta = (params = {}, more = {}) => ({ ...params, _meta: { [`${meta}protocolVersion`]: modern,
  [`${meta}clientInfo`]: { name: 'test', version: '1' }, [`${meta}clientCapabilities`]: {}, ...more } });
const heads = (method, name, more = {}) => Object.fromEntries(Object.entries({ 'mcp-protocol-version': modern,
  'mcp-method': method, 'mcp-name': name, ...more }).filter(([, value]) => value !== undefined));

const post = (server, message, headers = {}) => server.ask('POST', '/mcp', message,
  { accept: 'application/json, text/event-stream', ...headers });
const send = (server, method, params, headers = {}) => post(server, request(method, withMeta(params)), heads(method, params?.name, headers));

function failed(res, status, code, words = /./) {
  assert.equal(res.status, status, res.text);
  assert.match(res.headers['content-type'], /^application\/json/);
  const { jsonrpc, error, ...rest } = res.json();
  assert.equal(jsonrpc, '2.0');
  assert.equal(error.code, code, res.text);
  assert.match(error.message, words);
  assert.ok(!('result' in rest));
  return { error, id: rest.id };
}

// --- until 2025-11-25 ---

test('initialize agrees on a revision', async (t) => {
  const server = await serve(t);
  const hello = (protocolVersion) => post(server, request('initialize',
    { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } }));
  for (const [asked, given] of [['2025-11-25', '2025-11-25'], ['2025-06-18', '2025-06-18'], ['2024-11-05', '2025-11-25'],
    ['2099-01-01', '2025-11-25'], [modern, '2025-11-25']]) {
    const res = await hello(asked);
    assert.equal(res.status, 200, res.text);
    assert.ok(!('mcp-session-id' in res.headers));
    const { result } = res.json();
    assert.equal(result.protocolVersion, given);
    assert.deepEqual(result.capabilities, { tools: {} });
    assert.equal(result.serverInfo.name, 'rememberd');
    assert.ok(!('resultType' in result));
  }
  failed(await hello(undefined), 200, -32602, /^protocolVersion: is required/);
});

test('after initialize the header names the revision, and nothing else is asked of a request', async (t) => {
  const server = await serve(t);
  for (const version of ['2025-11-25', '2025-06-18', undefined]) {
    const headers = version ? { 'mcp-protocol-version': version, 'mcp-session-id': 'made-up' } : {};
    const accepted = await post(server, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    assert.deepEqual([accepted.status, accepted.text], [202, '']);
    assert.deepEqual((await post(server, request('ping'), headers)).json(), { jsonrpc: '2.0', id: 1, result: {} });
    const listed = (await post(server, request('tools/list', {}), headers)).json().result;
    assert.equal(listed.tools.length, 5);
    assert.deepEqual(Object.keys(listed), ['tools']);
    const { result } = (await post(server, request('tools/call', { name: 'memory_search', arguments: { query: 'x' } }), headers)).json();
    assert.deepEqual(Object.keys(result), ['content', 'structuredContent', 'isError']);
    assert.equal(result.isError, false);
    failed(await post(server, request('server/tell', {}), headers), 200, -32601, /server\/tell/);
    failed(await post(server, request('resources/list'), headers), 200, -32601);
  }
  for (const version of ['2024-11-05', '1900-01-01', 'x']) {
    const { error } = failed(await post(server, request('ping'), { 'mcp-protocol-version': version }), 400, -32022);
    assert.deepEqual(error.data, { supported, requested: version });
  }
});

test('there are no sessions and no stream to open: GET and DELETE are not allowed', async (t) => {
  const server = await serve(t);
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const res = await server.ask(method, '/mcp', undefined, { accept: 'text/event-stream', 'mcp-session-id': 'x' });
    failed(res, 405, -32600, /not allowed/);
    assert.equal(res.headers.allow, 'POST, OPTIONS');
  }
});

// --- JSON-RPC ---

test('what is no request is refused with the exact code', async (t) => {
  const server = await serve(t);
  const cases = [
    ['{"jsonrpc":', 400, -32700], ['', 400, -32700], ['\xff\xfe', 400, -32700], ['{} {}', 400, -32700],
    ['[]', 400, -32600, undefined, /batch/], [[request('ping')], 400, -32600, undefined, /batch/],
    ['1', 400, -32600], ['null', 400, -32600], ['"ping"', 400, -32600],
    [{}, 400, -32600], [{ jsonrpc: '2.0' }, 400, -32600], [{ jsonrpc: '2.0', id: 5 }, 400, -32600, 5, /^method: /],
    [{ id: 5, method: 'ping' }, 400, -32600, 5, /^jsonrpc: /], [{ jsonrpc: '1.0', id: 'a', method: 'ping' }, 400, -32600, 'a'],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600, undefined, /^id: /],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, 400, -32600, undefined, /^id: /],
    [{ jsonrpc: '2.0', id: [1], method: 'ping' }, 400, -32600, undefined, /^id: /],
    [{ jsonrpc: '2.0', id: true, method: 'ping' }, 400, -32600, undefined, /^id: /],
    [{ jsonrpc: '2.0', id: 1, method: 7 }, 400, -32600, 1, /^method: /],
    [{ jsonrpc: '2.0', id: 1, method: '' }, 400, -32600, 1, /^method: /],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [1] }, 200, -32602, 1, /^params: must be an object$/],
    [{ jsonrpc: '2.0', id: 1, result: {} }, 400, -32600, 1],
    [request('nothing'), 200, -32601, 1, /nothing/],
    [request('tools/call'), 200, -32602, 1, /^name: is required/],
    [request('tools/call', { name: 7 }), 200, -32602, 1, /^name: /],
    [request('tools/call', { name: 'no_such_tool' }), 200, -32602, 1, /no tool 'no_such_tool'/],
    [request('tools/call', { name: `x${'é'.repeat(60)}` }), 200, -32602, 1, /no tool 'xé{49}'$/], [request(`x${'é'.repeat(60)}`), 200, -32601, 1, /no method 'xé{49}'$/],
    [request('tools/call', { name: 'memory_get', arguments: [1] }), 200, -32602, 1, /^arguments: must be an object$/],
    [request('tools/list', { cursor: 'x' }), 200, -32602, 1, /^cursor: /],
  ];
  for (const [message, status, code, id, words] of cases) {
    const body = typeof message === 'string' ? Buffer.from(message, 'latin1') : message;
    const found = failed(await post(server, body), status, code, words);
    assert.deepEqual(found.id, id, JSON.stringify(message));
  }
  const { error } = failed(await post(server, request('tools/call', { name: 7 })), 200, -32602);
  assert.deepEqual(error.data, { field: 'name', rule: 'is required and must be a string' });
});

test('null is as good as nothing', async (t) => {
  const server = await serve(t);
  const listed = (await post(server, request('tools/list'))).json().result.tools.length;
  for (const params of [null, { cursor: null }])
    assert.equal((await post(server, { jsonrpc: '2.0', id: 1, method: 'tools/list', params })).json().result.tools.length, listed);
  const { result } = (await post(server, request('tools/call', { name: 'memory_get', arguments: null }))).json();
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /^id: /);
});

test('a byte order mark before the message, or the first line of stdio, is no part of it', async (t) => {
  const marked = `\uFEFF${JSON.stringify(request('ping'))}\n`, pong = { jsonrpc: '2.0', id: 1, result: {} };
  const { code, lines } = await new Pipe(t, tempFolder()).end(marked);
  assert.equal(code, 0);
  assert.deepEqual(lines, [pong]);
  assert.deepEqual((await post(await serve(t), marked)).json(), pong);
});

test('ids come back as they were sent', async (t) => {
  const server = await serve(t);
  for (const id of ['0', '-7', '9007199254740993', '"a"', '""', '"q\\u00e9\\n\\""']) {
    const res = await post(server, `{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    assert.equal(res.text, `{"jsonrpc":"2.0","id":${id},"result":{}}`);
  }
});

test('foreign pages and hosts are refused before a message is read', async (t) => {
  const server = await serve(t);
  failed(await post(server, request('ping'), { origin: 'http://evil.example' }), 403, -32600);
  failed(await post(server, request('ping'), { host: 'evil.example' }), 403, -32600);
  assert.equal((await post(server, request('ping'), { origin: server.url })).status, 200);
});

test('a message that is too long is refused before it is read', async (t) => {
  const server = await serve(t, { flags: ['--body-max', '2000'] });
  failed(await post(server, request('tools/call', { name: 'memory_add', arguments: { content: 'x'.repeat(3000) } })), 413, -32600);
});

// --- 2026-07-28 ---

test('2026-07-28: every request stands for itself', async (t) => {
  const server = await serve(t);
  const serverInfo = { name: 'rememberd', title: 'rememberd' };
  const whole = (res) => {
    assert.equal(res.status, 200, res.text);
    const { result } = res.json();
    assert.equal(result.resultType, 'complete');
    const { version, ...rest } = result._meta[`${meta}serverInfo`];
    assert.match(version, /^\d/);
    assert.deepEqual(rest, serverInfo);
    return result;
  };
  const found = whole(await send(server, 'server/discover'));
  assert.deepEqual(found.supportedVersions, supported);
  assert.deepEqual(found.capabilities, { tools: {} });
  assert.ok(found.instructions.length > 50);
  assert.ok(found.ttlMs > 0 && found.cacheScope === 'public');

  const listed = whole(await send(server, 'tools/list', {}));
  assert.ok(listed.ttlMs > 0 && listed.cacheScope === 'public');
  assert.deepEqual((await post(server, request('tools/list', {}))).json().result.tools, listed.tools);

  const add = { name: 'memory_add', arguments: { content: 'Ada prefers green tea.' } };
  const added = whole(await send(server, 'tools/call', add));
  assert.equal(added.structuredContent.content, 'Ada prefers green tea.');
  assert.ok(!('ttlMs' in added) && !('cacheScope' in added));
  const encoded = `=?base64?${Buffer.from('memory_search').toString('base64')}?=`;
  const search = { name: 'memory_search', arguments: { query: 'Which tea?' } };
  const seen = whole(await send(server, 'tools/call', search, { 'mcp-name': encoded }));
  assert.equal(seen.structuredContent.results.length, 1);
  const wrong = whole(await send(server, 'tools/call', { name: 'memory_get', arguments: { id: 'x' } }));
  assert.equal(wrong.isError, true);

  const note = await post(server, { jsonrpc: '2.0', method: 'notifications/cancelled', params: withMeta({ requestId: 1 }) }, heads('notifications/cancelled'));
  assert.deepEqual([note.status, note.text], [202, '']);
});

// A client puts the list into every prompt of its model.
test('the list of tools is short in every revision', async (t) => {
  const server = await serve(t);
  for (const res of [await post(server, request('tools/list', {})), await send(server, 'tools/list', {})]) {
    assert.equal(res.json().result.tools.length, 5);
    assert.ok(Buffer.byteLength(res.text) < 6 * 1024, `${Buffer.byteLength(res.text)} bytes`);
  }
});

test('tools in the address: listed by it, and a wrong name is refused in every revision', async (t) => {
  const server = await serve(t);
  const at = (query, message, headers = {}) => server.ask('POST', `/mcp?${query}`, message, { accept: 'application/json, text/event-stream', ...headers });
  const listed = (res) => res.json().result.tools.map((one) => one.name);
  const list = request('tools/list', withMeta()), modernHeads = heads('tools/list');
  assert.deepEqual(listed(await at('tools=memory_get%2Csearch_memory', list, modernHeads)), ['memory_get', 'search_memory']);
  assert.equal(listed(await at('tools=', request('tools/list'))).length, 5);
  for (const [message, headers] of [[list, modernHeads], [request('tools/list')], [request('ping')]]) {
    const { error, id } = failed(await at('tools=memory_gte', message, headers), 400, -32602, /^tools: unknown tool 'memory_gte'; choose from all, /);
    assert.deepEqual([error.data.field, id], ['tools', 1]);
  }
  assert.equal((await at('tools=memory_gte', { jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
});

test('2026-07-28: what is no method of it is not found', async (t) => {
  const server = await serve(t);
  for (const method of ['ping', 'initialize', 'resources/list', 'prompts/get', 'logging/setLevel', 'subscriptions/listen', 'x'])
    failed(await send(server, method), 404, -32601, new RegExp(method));
});

test('2026-07-28: headers must be there and say what the body says', async (t) => {
  const server = await serve(t);
  const call = (headers, method = 'tools/call', params = withMeta({ name: 'memory_get', arguments: { id: 'x' } })) =>
    post(server, request(method, params), headers);
  const cases = [
    [heads('tools/call', 'memory_get', { 'mcp-protocol-version': undefined }), /MCP-Protocol-Version is required/],
    [heads('tools/call', 'memory_get', { 'mcp-protocol-version': '2025-11-25' }), /'2025-11-25', the body says '2026-07-28'/],
    [heads(undefined, 'memory_get'), /Mcp-Method is required/],
    [heads('tools/list', 'memory_get'), /Mcp-Method is 'tools\/list', the body says 'tools\/call'/],
    [heads('Tools/Call', 'memory_get'), /Mcp-Method/],
    [heads('tools/call'), /Mcp-Name is required/],
    [heads('tools/call', 'memory_forget'), /Mcp-Name is 'memory_forget', the body says 'memory_get'/],
    [heads('tools/call', '=?base64?bWVtb3J5X2ZvcmdldA==?='), /Mcp-Name is 'memory_forget'/],
    [heads('tools/call', '=?base64?!!!?='), /Mcp-Name/],
  ];
  for (const [headers, words] of cases) assert.equal(failed(await call(headers), 400, -32020, words).id, 1);
  failed(await call(heads('server/discover', undefined, { 'mcp-protocol-version': undefined }), 'server/discover', {}), 400, -32020);
});

test('2026-07-28: _meta says revision and capabilities', async (t) => {
  const server = await serve(t);
  const list = (params, headers = heads('tools/list')) => post(server, request('tools/list', params), headers);
  for (const [params, words] of [
    [undefined, /protocolVersion: is required/],
    [{}, /protocolVersion: is required/],
    [{ _meta: 'x' }, /protocolVersion: is required/],
    [withMeta({}, { [`${meta}protocolVersion`]: 7 }), /protocolVersion: is required and must be a string/],
    [withMeta({}, { [`${meta}clientCapabilities`]: undefined }), /clientCapabilities: is required and must be an object/],
    [withMeta({}, { [`${meta}clientCapabilities`]: [] }), /clientCapabilities: is required and must be an object/],
    [withMeta({}, { [`${meta}clientInfo`]: 'me' }), /clientInfo: must be an object/],
  ]) failed(await list(params), 400, -32602, words);
  assert.equal((await list(withMeta({}, { [`${meta}clientInfo`]: undefined }))).status, 200);
  for (const version of ['1900-01-01', '2026-07-29', '']) {
    const { error } = failed(await list(withMeta({}, { [`${meta}protocolVersion`]: version }),
      heads('tools/list', undefined, { 'mcp-protocol-version': version || 'x' })), 400, version ? -32022 : -32020);
    if (version) assert.deepEqual(error.data, { supported, requested: version });
  }
  // A revision with a hello may be named the new way, too; it is then served as that.
  const older = await list(withMeta({}, { [`${meta}protocolVersion`]: '2025-11-25' }), { 'mcp-protocol-version': '2025-11-25' });
  assert.equal(older.status, 200);
  assert.ok(!('resultType' in older.json().result));
});

// --- standard input ---

class Pipe {
  constructor(t, data, flags = []) {
    this.child = spawn(bin, ['mcp', '--data', data, ...flags], { env: cleanEnv(data), stdio: ['pipe', 'pipe', 'pipe'] });
    this.stdout = this.stderr = '';
    this.child.stdout.setEncoding('utf8').on('data', (text) => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text));
    t.after(() => this.child.kill('SIGKILL'));
  }

  async end(input) {
    this.child.stdin.end(input);
    const [code] = await once(this.child, 'close');
    return { code, stderr: this.stderr, stdout: this.stdout,
      lines: this.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line)) };
  }
}

test('stdio: a line for each request and nothing else', async (t) => {
  const messages = [
    request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }, 'hello'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } },
    { jsonrpc: '2.0', id: 9, result: {} },
    { jsonrpc: '2.0', id: 9, error: { code: 1, message: 'x' } },
    request('tools/call', { name: 'memory_add', arguments: { content: 'one\ntwo\r\nthree', metadata: { a: 1 } } }, 2),
    request('server/discover', withMeta(), 3),
    request('tools/list', withMeta(), 4),
    request('ping', withMeta(), 5),
    request('tools/list', withMeta({}, { [`${meta}protocolVersion`]: '1900-01-01' }), 6),
    request('server/discover', {}, 7),
    [request('ping')],
  ].map((one) => JSON.stringify(one));
  const text = `${messages.join('\r\n')}\n\n   \nnonsense\n{"jsonrpc":"2.0","id":8,"method":"ping"}`;
  const { code, lines, stdout, stderr } = await new Pipe(t, tempFolder(), ['--log-level', 'debug']).end(text);
  assert.equal(code, 0, stderr);
  assert.ok(stdout.endsWith('\n'));
  assert.deepEqual(lines.map((one) => one.id), ['hello', 2, 3, 4, 5, 6, 7, undefined, undefined, 8]);
  assert.deepEqual(lines.map((one) => one.error?.code), [undefined, undefined, undefined, undefined, -32601, -32022, -32602, -32600, -32700, undefined]);
  assert.equal(lines[1].result.structuredContent.content, 'one\ntwo\r\nthree');
  assert.equal(lines[2].result.resultType, 'complete');
  assert.equal(lines[3].result.ttlMs > 0, true);
});

test('stdio: metadata that was written over many lines comes back on one', async (t) => {
  const server = await serve(t);
  const res = await server.ask('POST', '/v1/memories', '{"content":"x",\n"metadata":{\n\r "a":\n"b\\nc"}}');
  const { lines } = await new Pipe(t, server.data).end(`${JSON.stringify(request('tools/call', { name: 'memory_get', arguments: { id: res.json().id } }))}\n`);
  assert.equal(lines.length, 1);
  assert.deepEqual(lines[0].result.structuredContent.metadata, { a: 'b\nc' });
});

test('stdio: a line that is too long is refused, and the next is read', async (t) => {
  const long = JSON.stringify(request('tools/call', { name: 'memory_search', arguments: { query: 'x'.repeat(300000) } }));
  const { code, lines } = await new Pipe(t, tempFolder(), ['--body-max', '100000']).end(`${long}\n${JSON.stringify(request('ping'))}\n`);
  assert.equal(code, 0);
  assert.deepEqual(lines.map((one) => one.error?.code ?? one.id), [-32700, 1]);
});

test('stdio: answers come while the input stays open, and a closed output ends the server', async (t) => {
  const pipe = new Pipe(t, tempFolder());
  const half = JSON.stringify(request('ping'));
  pipe.child.stdin.write(half.slice(0, 10));
  pipe.child.stdin.write(`${half.slice(10)}\n`);
  await once(pipe.child.stdout, 'data');
  assert.equal(pipe.stdout, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
  pipe.child.stdout.destroy();
  const closed = once(pipe.child, 'close');
  pipe.child.stdin.on('error', () => {});
  pipe.child.stdin.write(`${half}\n`);
  pipe.child.stdin.write(`${half}\n`);
  const [code] = await closed;
  assert.equal(code, 1, pipe.stderr);
  assert.match(pipe.stderr, /writing to the client failed/);
});

test('a client that tries OAuth after a 401 shows what to send', async (t) => {
  const server = await serve(t), redirect = 'http://127.0.0.1/back', none = () => undefined;
  await server.ask('POST', '/v1/tokens', { name: 'first' });
  const authProvider = { redirectUrl: redirect, clientMetadata: { redirect_uris: [redirect] }, clientInformation: none, saveClientInformation: none, tokens: none, saveTokens: none,
    redirectToAuthorization: none, saveCodeVerifier: none, codeVerifier: none };
  await assert.rejects(new Client({ name: 'test', version: '1' }).connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider })),
    /^ServerError: there is no OAuth here: send 'Authorization: Bearer TOKEN'/);
});

test('stdio: a wrong usage or a broken store is said on standard error', async () => {
  const wrong = await run(['mcp', '--limit', '3']);
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
  const none = await run(['mcp', '--data', '/dev/null/x']);
  assert.deepEqual([none.code, none.stdout], [1, '']);
  assert.match(none.stderr, /^rememberd mcp: /);
  assert.match((await run(['mcp', '--help'])).stdout, /--space/);
});
