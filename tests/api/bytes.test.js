// bytes.test.js - of a request's body only the stated bytes change; everything else arrives as the client wrote it.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, serve, upstream } = require('./lib');

const fact = 'My dog is called Rex and I live in Lisbon.';
const question = 'What is my dog called?';

// Sends the raw body; gives what the upstream got, and the receipt.
async function send(server, model, body, headers) {
  const res = await server.chat(body, headers);
  assert.equal(res.status, 200, res.text);
  const id = res.headers['x-rememberd-receipt'];
  return { got: model.last().body.toString(), receipt: id ? await server.receipt(id, headers) : null };
}

// As it stands inside a JSON string.
const inside = (text) => JSON.stringify(text).slice(1, -1);

async function known(t, flags = [], handler = undefined) {
  const model = await upstream(t, handler);
  const server = await serve(t, { flags: ['--upstream', model.url, ...flags] });
  await server.tell(fact);
  return { model, server };
}

const odd = [
  ['numbers as they are spelt, unknown members, white space',
    `{ "temperature" : 1.0, "seed":12345678901234567890,"top_p":1E-1, "big": 1e400,\n\t"made_up": {"a":[ 1 , 2.50 ],"b":null},` +
    ` "model":"any","messages":[ {"role":"system","content":"Be  brief.\\u0021"} , {"role":"user", "content":"${question}@" } ] ,"n":1 }\n`],
  ['escapes and characters beyond ASCII',
    `{"model":"any","messages":[{"role":"user","content":"caf\\u00e9 \\/ \\ud83d\\ude00 😀 \\"hi\\" ${question}@"}],"stop":"\\u0041\\/"}`],
  ['tools, tool calls and their results',
    `{"model":"any","tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"x":{"type":"number","maximum":1.50}}},"strict":true}}],` +
    `"tool_choice":"auto","messages":[{"role":"user","content":"${question}@"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\\"x\\": 1.0}"}}]},` +
    `{"role":"tool","tool_call_id":"c1","content":"{\\"found\\":  [1, 2]}"}]}`],
  ['the last of two members of one name counts', `{"model":"any","messages":[],"messages":[{"role":"user","content":"x","content":"${question}@"}]}`],
];
for (const [what, template] of odd) {
  test(`unchanged but for the block: ${what}`, async (t) => {
    const { model, server } = await known(t);
    const { got, receipt } = await send(server, model, template.replace('@', ''));
    assert.ok(receipt.block.includes('Rex'), 'something was injected');
    assert.equal(got, template.replace('@', inside(`\n\n${receipt.block}`)));
  });
}

test('an image stays as it is, and the block is one more text part behind it', async (t) => {
  const { model, server } = await known(t);
  const image = `data:image/png;base64,${'iVBORw0KGgo='.repeat(20000)}`;
  const body = `{"model":"any","messages":[{"role":"user","content":[ {"type":"text","text":"${question}"},\n` +
    ` {"type":"image_url","image_url":{"url":"${image}","detail":"low"}} @]}]}`;
  const { got, receipt } = await send(server, model, body.replace('@', ''));
  assert.ok(receipt.block.includes('Rex'));
  assert.equal(got, body.replace(' @', `,${JSON.stringify({ type: 'text', text: receipt.block })} `));
});

for (const mode of ['memory on', 'memory off']) {
  test(`nothing relevant, nothing changed (${mode})`, async (t) => {
    const { model, server } = await known(t);
    const body = '{"messages" : [{"role":"user","content":"Multiply 417 by 923"}],"model":"any", "x":0.10}';
    const { got, receipt } = await send(server, model, body, mode === 'memory off' ? { 'x-memory-mode': 'off' } : {});
    assert.equal(got, body);
    assert.equal(receipt?.block ?? '', '');
  });
}

test('a body that is JSON but no chat is passed on as it is', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  for (const body of ['[1, 2]', '{"model":7}', '{"model":"m","messages":"hi"}', '{"model":"m","messages":[{"content":"no role"}]}',
    '{"model":"m","messages":[ ]}', '{"model":"m","messages":[1]}', '{"model":"m","messages":[{"role":"user"}]}']) {
    await server.chat(body);
    assert.equal(model.last().body.toString(), body);
  }
});

test('over ten turns everything before the last user message is what the client sent, byte for byte', async (t) => {
  const said = (i) => `Rex, as I said ${i} times.`;
  const { model, server } = await known(t, [], (req, res, asked) => answer(res, asked, said(Math.floor((asked.json.messages.length - 2) / 2))));
  const messages = [{ role: 'system', content: 'You are helpful.' }];
  let previous = '', block = '';
  for (let i = 0; i < 10; i++) {
    messages.push({ role: 'user', content: `${question} Ask number ${i}.` });
    const body = JSON.stringify({ model: 'any', messages });
    const { got, receipt } = await send(server, model, body, { 'x-session-id': 'ten' });
    if (i === 0) assert.ok(receipt.block, 'the first turn is given something');
    else assert.equal(receipt.block, '', 'and the others nothing that stands there already');
    if (i === 0) block = inside(`\n\n${receipt.block}`);
    assert.equal(got.replace(block, ''), body, 'without its block the body is the client\'s');
    assert.ok(got.indexOf(block) < got.indexOf('"assistant"') || i === 0, 'the block stays beside the first question');
    // What a provider cached for the turn before: all up to the end of its last message.
    assert.ok(got.startsWith(previous), `turn ${i} begins with the cached prefix`);
    previous = got.slice(0, got.lastIndexOf('}'));
    previous = previous.slice(0, previous.lastIndexOf(']'));
    messages.push({ role: 'assistant', content: said(i) });
  }
});

test('the answer to a tool call is asked with the block that its question had', async (t) => {
  const model = await upstream(t, (req, res, asked) => {
    if (asked.json.messages.at(-1).role === 'tool') return answer(res, asked, 'Rex it is.');
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }] } }] }));
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell(fact);
  const messages = [{ role: 'user', content: question }];
  const first = await send(server, model, JSON.stringify({ model: 'any', messages }));
  assert.ok(first.receipt.block);
  await server.tell('My dog Rex is seven years old.');
  messages.push({ role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'nothing' });
  const second = await send(server, model, JSON.stringify({ model: 'any', messages }));
  const sent = JSON.parse(second.got).messages;
  assert.equal(sent[0].content, `${question}\n\n${first.receipt.block}`);
  assert.ok(second.got.startsWith(first.got.slice(0, first.got.length - ']}'.length)), 'the prefix is the one that was sent');
});

test('the same when the tool is quicker than the disk', async (t) => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const model = await upstream(t, (req, res, asked) => {
    if (asked.json.messages.at(-1).role === 'tool') return answer(res, asked, 'Rex it is.');
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } }] }));
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  await server.tell(fact);
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  let injected = 0;
  for (let i = 0; i < 30; i++) {
    const messages = [{ role: 'user', content: `${question} This is try ${i}.` }];
    assert.equal((await server.chat({ model: 'any', messages, tools })).status, 200);
    const first = model.last().json.messages[0].content;
    messages.push({ role: 'assistant', content: null, tool_calls: [call] }, { role: 'tool', tool_call_id: 'c1', content: `found ${i}` });
    assert.equal((await server.chat({ model: 'any', messages, tools })).status, 200);
    assert.equal(model.last().json.messages[0].content, first);
    injected += first.includes('Rex');
  }
  assert.ok(injected > 0, 'something was injected');
});

test('a streamed answer arrives as the upstream wrote it', async (t) => {
  const bytes = ': hello\n\ndata: {"id":"1", "choices":[{"index":0,"delta":{"content":"a\\u00e9"}}]}\r\n\r\n' +
    'event: odd\ndata: {"x":  1.0}\n\ndata: [DONE]\n\n';
  const model = await upstream(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'r1' });
    res.end(bytes);
  });
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const res = await server.chat({ model: 'any', stream: true, messages: [{ role: 'user', content: fact }] });
  assert.equal(res.text, bytes);
  assert.equal(res.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(res.headers['x-request-id'], 'r1');
});
