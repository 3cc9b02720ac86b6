// traces.test.js - W3C trace context through the server, and spans of chats at a collector.
'use strict';
const test = require('node:test');
const assert = require('node:assert/strict');
const { run, serve, tempFolder, until, upstream } = require('./lib.js');

const id = '4bf92f3577b34da6a3ce929d0e0e4736', parent = '00f067aa0ba902b7';
const valid = `00-${id}-${parent}-01`;
const ask = (text) => ({ model: 'scripted', messages: [{ role: 'user', content: text }] });

test('a valid trace goes on to the upstream, and an invalid one is ignored', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const passed = async (headers, path = '/v1/chat/completions', body = ask('Is the tea ready?')) => {
    const res = await server.ask('POST', path, body, headers);
    assert.equal(res.status, 200, res.text);
    return { parent: model.last().headers.traceparent, state: model.last().headers.tracestate };
  };
  const both = { traceparent: valid, tracestate: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7' };
  assert.equal((await passed({ traceparent: valid, 'face-up': 'a name that begins with hex digits' })).parent, valid);
  assert.deepEqual(await passed(both), { parent: valid, state: both.tracestate });
  assert.deepEqual(await passed({ ...both, 'x-memory-mode': 'off' }), { parent: valid, state: both.tracestate });
  assert.deepEqual(await passed(both, '/v1/embeddings', { model: 'scripted', input: 'tea' }), { parent: valid, state: both.tracestate });
  assert.deepEqual(await passed({}), { parent: undefined, state: undefined });
  // A later version may have more behind the flags; what is understood of it goes on.
  assert.equal((await passed({ traceparent: `01-${id}-${parent}-01-more` })).parent, valid);
  for (const broken of [valid.toUpperCase(), `ff-${id}-${parent}-01`, `00-${'0'.repeat(32)}-${parent}-01`, `00-${id}-${'0'.repeat(16)}-01`,
    `${valid}-more`, `01-${id}-${parent}-01more`, valid.slice(1), `00-${id}-${parent}-0x`, `00_${id}-${parent}-01`, 'x', `${valid}, ${valid}`])
    assert.deepEqual(await passed({ traceparent: broken, tracestate: 'congo=t61rcWkgMzE' }), { parent: undefined, state: undefined }, broken);
  assert.deepEqual(await passed({ tracestate: 'congo=t61rcWkgMzE' }), { parent: undefined, state: undefined });
  for (const state of ['Congo=1', 'congo', 'a=b=c', 'a@=1', '@a=1', Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(',')])
    assert.deepEqual(await passed({ traceparent: valid, tracestate: state }), { parent: valid, state: undefined }, state);
});

test('the request\'s id carries the id of its trace', async (t) => {
  const server = await serve(t, { flags: ['--log-level', 'debug'] });
  const plain = await server.ask('GET', '/health');
  assert.match(plain.headers['x-request-id'], /^[0-9a-f]{16}$/);
  const traced = await server.ask('GET', '/health', undefined, { traceparent: valid });
  assert.match(traced.headers['x-request-id'], new RegExp(`^${id}-[0-9a-f]{16}$`));
  await until('the log line', () => server.stderr.includes(`http.request id=${traced.headers['x-request-id']} `));
});

// --- a collector ---

const value = (v) => v.stringValue ?? Number(v.intValue);
const attributes = (list) => Object.fromEntries(list.map(({ key, value: v }) => [key, value(v)]));

// Every span that came, checked against the shape that OTLP gives it in JSON, with its attributes as an object.
async function collector(t, respond = (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{}')) {
  const spans = [];
  const server = await upstream(t, (req, res, asked) => {
    if (respond(res, asked) === false) return;
    assert.equal(`${req.method} ${req.url}`, 'POST /v1/traces');
    assert.equal(req.headers['content-type'], 'application/json');
    for (const { resource, scopeSpans } of asked.json.resourceSpans)
      for (const { scope, spans: list } of scopeSpans) {
        assert.equal(scope.name, 'rememberd');
        for (const span of list) {
          assert.match(span.traceId, /^[0-9a-f]{32}$/);
          assert.match(span.spanId, /^[0-9a-f]{16}$/);
          if ('parentSpanId' in span) assert.match(span.parentSpanId, /^[0-9a-f]{16}$/);
          for (const name of ['startTimeUnixNano', 'endTimeUnixNano']) assert.match(span[name], /^\d{19}$/);
          assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
          assert.ok(Math.abs(Number(span.startTimeUnixNano) / 1e6 - Date.now()) < 60000);
          assert.ok([1, 2, 3].includes(span.kind));
          for (const { value: v } of span.attributes) assert.match(JSON.stringify(v), /^\{"(stringValue":".+"|intValue":"\d+")\}$/);
          spans.push({ ...span, resource: attributes(resource.attributes), attributes: attributes(span.attributes) });
        }
      }
  });
  return { ...server, spans, of: (name, n = 1) => until(`${n} spans ${name}`, () => {
    const found = spans.filter((span) => span.name === name);
    return found.length >= n && found;
  }) };
}

const metric = async (server, name) => Number(new RegExp(`^${name} (.+)$`, 'm').exec((await server.ask('GET', '/metrics')).text)[1]);

test('a chat is a span with its stages, and no text of it is sent', async (t) => {
  const model = await upstream(t), collected = await collector(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--otlp-endpoint', collected.url, '--otlp-headers', 'x-key=a%20b, x-more=c', '--otlp-service', 'memory-1'] });
  const res = await server.chat(ask('My dog is called Rex.'), { traceparent: valid, tracestate: 'congo=t61' });
  const [chat] = await collected.of('chat scripted');
  const { traceparent, tracestate } = model.last().headers;
  assert.equal(chat.traceId, id);
  assert.equal(chat.parentSpanId, parent);
  assert.equal(chat.traceState, 'congo=t61');
  assert.equal(tracestate, 'congo=t61');
  assert.equal(res.headers['x-request-id'], `${id}-${chat.spanId}`);
  assert.equal(chat.kind, 2);
  assert.deepEqual(chat.status, {});
  assert.equal(chat.resource['service.name'], 'memory-1');
  const { 'gen_ai.conversation.id': session, 'rememberd.receipt.id': receipt, ...rest } = chat.attributes;
  assert.match(session, /^[0-9a-f-]{36}$/);
  assert.equal(receipt, res.headers['x-rememberd-receipt']);
  assert.deepEqual(rest, { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'scripted',
    'gen_ai.response.model': 'scripted', 'gen_ai.response.id': 'chatcmpl-1', 'gen_ai.usage.input_tokens': 1, 'gen_ai.usage.output_tokens': 1,
    'http.request.method': 'POST', 'http.route': '/v1/chat/completions', 'http.response.status_code': 200 });
  const children = collected.spans.filter((span) => span.parentSpanId === chat.spanId);
  assert.deepEqual(children.map((span) => [span.name, span.kind]), [['recall', 1], ['POST', 3], ['keep', 1]]);
  assert.equal(traceparent, `00-${id}-${children[1].spanId}-01`);
  assert.deepEqual(children[1].attributes, { 'http.request.method': 'POST', 'http.response.status_code': 200, 'server.address': '127.0.0.1', 'server.port': model.port });
  for (const { body, headers } of collected.asked) {
    assert.ok(!/Rex|dog|fine/.test(body), 'a text was sent');
    assert.equal(headers['x-key'], 'a b');
    assert.equal(headers['x-more'], 'c');
  }
});

test('a chat without a trace begins one; an unsampled trace is passed on and not sent', async (t) => {
  const model = await upstream(t), collected = await collector(t);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collected.url}/`, OTEL_SERVICE_NAME: 'from-env', OTEL_EXPORTER_OTLP_HEADERS: 'x-key=e' };
  const server = await serve(t, { flags: ['--upstream', model.url], env });
  const unsampled = `00-${id}-${parent}-00`;
  await server.chat(ask('one'), { traceparent: unsampled });
  assert.equal(model.last().headers.traceparent, unsampled);
  await server.chat({ ...ask('two'), stream: true }, { traceparent: 'broken' });
  const [chat] = await collected.of('chat scripted');
  assert.equal(chat.parentSpanId, undefined);
  assert.equal(chat.resource['service.name'], 'from-env');
  assert.equal(collected.asked[0].headers['x-key'], 'e');
  assert.match(model.last().headers.traceparent, new RegExp(`^00-${chat.traceId}-[0-9a-f]{16}-01$`));
  await server.chat({ ...ask('three'), model: 'rememberd/demo' });
  const [demo] = await collected.of('chat rememberd/demo');
  assert.equal(demo.attributes['gen_ai.provider.name'], 'rememberd');
  assert.ok(collected.spans.every((span) => span.traceId !== id));
});

test('tokens are read from the answers of each API, whole and streamed', async (t) => {
  const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const usage = { input_tokens: 5, cache_read_input_tokens: 6, output_tokens: 1 };
  const answers = {
    '/v1/messages': [event('message_start', { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage } }),
      event('message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }), event('message_stop', { type: 'message_stop' })],
    '/v1/responses': [event('response.completed', { type: 'response.completed', response: { id: 'resp_1', model: 'gpt', status: 'completed', output: [], usage: { input_tokens: 11, output_tokens: 9 } } })],
    '/v1/chat/completions': [`data: ${JSON.stringify({ id: 'c', model: 'gpt', choices: [], usage: { prompt_tokens: 11, completion_tokens: 9 } })}\n\n`, 'data: [DONE]\n\n'] };
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of answers[req.url]) res.write(part);
    res.end();
  });
  const collected = await collector(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--otlp-endpoint', collected.url] });
  for (const [path, body] of [['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'a' }] }], ['/v1/responses', { input: 'b' }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'c' }] }]])
    assert.equal((await server.ask('POST', path, { model: path, stream: true, ...body })).status, 200);
  for (const path of Object.keys(answers)) {
    const [chat] = await collected.of(`chat ${path}`);
    assert.equal(chat.attributes['gen_ai.usage.input_tokens'], 11, path);
    assert.equal(chat.attributes['gen_ai.usage.output_tokens'], 9, path);
  }
});

test('a failed chat is an error without the words of the failure', async (t) => {
  const model = await upstream(t, (req, res) => res.writeHead(500).end('the dog Rex is too large'));
  const collected = await collector(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--otlp-endpoint', collected.url, '--log-level', 'error'] });
  await server.chat(ask('My dog is called Rex.'));
  const [chat] = await collected.of('chat scripted');
  const call = collected.spans.find((span) => span.name === 'POST');
  for (const span of [chat, call]) assert.deepEqual([span.status, span.attributes['error.type']], [{ code: 2 }, '500']);
  assert.ok(!/Rex/.test(collected.last().body));
});

test('a collector that is away or slow loses spans, which are counted, and holds up no chat', async (t) => {
  const model = await upstream(t);
  const held = [];
  const collected = await collector(t, (res) => (held.push(res), false));
  const server = await serve(t, { flags: ['--upstream', model.url, '--otlp-endpoint', collected.url, '--log-level', 'error'] });
  for (let i = 0; i < 20; i++) assert.equal((await server.chat(ask(`question ${i}`))).status, 200);
  await until('a call of the collector', () => held.length);
  for (const res of held) res.writeHead(400).end();
  await until('dropped spans', async () => await metric(server, 'rememberd_otlp_spans_dropped_total') > 0);
  assert.equal(await metric(server, 'rememberd_otlp_spans_sent_total'), 0);
  await server.chat(ask('the last one')); // while its call is held, the server still ends in time
  await until('another call', () => held.length > 1);
});

test('spans that a collector rejects are told in the log, and its wish to wait is kept', async (t) => {
  const model = await upstream(t);
  let code = 200;
  const collected = await collector(t, (res) => res.writeHead(code, { 'retry-after': '60' }).end('{"partialSuccess":{"rejectedSpans":"99"}}'));
  const server = await serve(t, { flags: ['--upstream', model.url, '--otlp-endpoint', collected.url] });
  await server.chat(ask('one'));
  await until('the log line', () => / otlp\.failed url=".*" why="the collector answered 200 and rejected the spans"/.test(server.stderr));
  code = 503;
  await server.chat(ask('two'));
  await until('another call', () => collected.asked.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  assert.equal(collected.asked.length, 2, 'asked again before its time');
});

test('what cannot be a collector is refused at the start', async (t) => {
  for (const [flags, words] of [[['--otlp-endpoint', 'collector:4318'], /otlp_endpoint/], [['--otlp-endpoint', 'http://127.0.0.1:4318', '--otlp-headers', 'novalue'], /otlp_headers/]]) {
    const { code, stderr } = await run(['serve', '--listen', '127.0.0.1:0', '--data', tempFolder(), ...flags]);
    assert.equal(code, 1);
    assert.match(stderr, words);
  }
});
