// s3_storage.js - an S3-compatible storage: s3rver's objects behind a gate that checks each signature with aws4 and each body's SHA-256.
'use strict';
const crypto = require('node:crypto');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const aws4 = require('aws4');
const S3rver = require('s3rver');
const { tempFolder } = require('./lib.js');

// s3rver makes its tokens with DES, which OpenSSL 3 lacks. Triple DES with three times the same key is the same.
const { createCipheriv } = crypto;
crypto.createCipheriv = (name, key, ...more) =>
  name === 'des' ? createCipheriv('des-ede3-cbc', Buffer.concat([key, key, key]), ...more) : createCipheriv(name, key, ...more);

const bucket = 'memories', id = 'S3RVER', secret = 'a secret/of+the storage:1', region = 'eu-central-7';

// What AWS's rules make of the headers that were signed, under the right key.
function isSigned(req) {
  const auth = req.headers.authorization ?? '';
  const [, signed] = /SignedHeaders=([a-z0-9;-]+)/.exec(auth) ?? [];
  if (!signed || !['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.split(';').includes(name))) return false;
  const headers = Object.fromEntries(signed.split(';').map((name) => [name, req.headers[name]]));
  const again = aws4.sign({ service: 's3', region, method: req.method, path: req.url, headers }, { accessKeyId: id, secretAccessKey: secret });
  return again.headers.Authorization.replaceAll(' ', '') === auth.replaceAll(' ', '');
}

const sha = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');

function refuse(res, status, code) {
  res.writeHead(status, { 'content-type': 'application/xml' });
  res.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>as S3 says</Message></Error>`);
}

// storage.page is how many objects it lists at a time. storage.spoil(req, body) may return other bytes, or false to cut the connection while the body comes in.
async function storage(t) {
  const directory = tempFolder();
  const kept = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: bucket, configs: [] }] });
  const behind = await kept.run();
  const asked = [], own = { asked, bucket, id, secret, region, directory, page: 1000, spoil: (_, body) => body };
  const gate = http.createServer(async (req, res) => {
    const parts = [];
    try {
      for await (const part of req) {
        parts.push(part);
        if (own.spoil(req, part) === false) return req.socket.destroy();
      }
    } catch {
      return;
    }
    let body = Buffer.concat(parts);
    asked.push({ method: req.method, url: req.url, bytes: body.length });
    if (!isSigned(req)) return refuse(res, 403, 'SignatureDoesNotMatch');
    if (req.headers['x-amz-content-sha256'] !== sha(body)) return refuse(res, 400, 'XAmzContentSHA256Mismatch');
    body = own.spoil(req, body);
    const on = http.request({ host: '127.0.0.1', port: behind.port, method: req.method, path: req.url.replace('?list-type=2', `?list-type=2&max-keys=${own.page}`),
      headers: { ...req.headers, ...(req.method === 'PUT' ? { 'content-length': body.length } : {}) } });
    on.end(body);
    const [got] = await once(on, 'response');
    res.writeHead(got.statusCode, got.headers);
    got.pipe(res);
  });
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  t.after(async () => {
    gate.closeAllConnections();
    gate.close();
    await kept.close();
  });
  own.url = `http://127.0.0.1:${gate.address().port}`;
  own.flags = ['--backup-s3', `s3://${bucket}/home/me`, '--backup-s3-endpoint', own.url, '--backup-s3-region', region];
  own.env = { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret };
  // Objects as s3rver keeps them.
  const folder = path.join(directory, bucket, 'home', 'me'), end = '._S3rver_object';
  own.file = (name) => path.join(folder, name + end);
  own.names = () => (fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length)).sort() : []);
  own.put = (name, bytes) => {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(own.file(name), bytes);
    fs.writeFileSync(path.join(folder, `${name}._S3rver_metadata.json`), JSON.stringify({ 'content-type': 'binary/octet-stream', 'x-amz-meta-sha256': sha(bytes) }));
    fs.writeFileSync(path.join(folder, `${name}._S3rver_object.md5`), crypto.createHash('md5').update(bytes).digest('hex'));
  };
  return own;
}

module.exports = { storage };
