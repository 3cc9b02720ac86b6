// tls.test.js - an upstream behind TLS: its certificate is checked, streams come through as they do without.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const https = require('node:https');
const path = require('node:path');
const { serve, tempFolder } = require('./lib.js');

function certificate() {
  const folder = tempFolder(), key = path.join(folder, 'key.pem'), cert = path.join(folder, 'cert.pem');
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
    '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: fs.readFileSync(key), cert: fs.readFileSync(cert), file: cert };
}

async function upstream(t, { key, cert }) {
  const seen = [];
  const server = https.createServer({ key, cert }, async (req, res) => {
    const parts = [];
    for await (const part of req) parts.push(part);
    seen.push(JSON.parse(Buffer.concat(parts)));
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const word of ['one', ' two', ' three'])
      res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: word } }] })}\n\n`);
    res.end('data: [DONE]\n\n');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  return { url: `https://127.0.0.1:${server.address().port}/v1`, seen };
}

const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'count' }] };

test('a stream from an upstream whose certificate is known', async (t) => {
  const pair = certificate(), up = await upstream(t, pair);
  const server = await serve(t, { flags: ['--upstream', up.url], env: { SSL_CERT_FILE: pair.file } });
  const stream = await server.client().chat.completions.create(body);
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? '';
  assert.equal(text, 'one two three');
  assert.equal(up.seen.length, 1);
});

test('a certificate that nobody vouches for is refused, and the request does not get there', async (t) => {
  const up = await upstream(t, certificate());
  const server = await serve(t, { flags: ['--upstream', up.url] });
  const res = await server.chat(body);
  assert.equal(res.status, 502);
  assert.match(res.json().error.message, /certificate/i);
  assert.equal(up.seen.length, 0);
});
