// docs_pages.test.js - the documentation as the server shows it: every page, every link, a strict policy, no script.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { gunzipSync } = require('node:zlib');
const fs = require('node:fs');
const path = require('node:path');
const { serve, tempFolder, raw } = require('./lib');

const root = path.resolve(__dirname, '../..');
const markdown = execFileSync('git', ['ls-files', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'docs/*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
  .filter((page) => !page.startsWith('docs/research/') && fs.existsSync(path.join(root, page)));
const address = (page) => ({ 'README.md': '/docs/overview', 'CHANGELOG.md': '/docs/changelog', 'CONTRIBUTING.md': '/docs/contributing' }[page] ?? `/${page.replace(/(\/README)?\.md$/, '')}`);
const get = async (server, target, headers = {}) => {
  const { status, headers: got, body } = await raw(server, target, headers);
  return { status, headers: got, text: body.toString() };
};

test('every page of the repository is served, and every link in it leads to a page and a place', async (t) => {
  const server = await serve(t), texts = new Map(), queue = ['/docs'];
  for (const at of queue) {
    const { status, text } = await get(server, at);
    assert.equal(status, 200, at);
    texts.set(at, text);
    for (const [, to] of text.matchAll(/href="(\/docs[^"#]*)/g)) if (!queue.includes(to)) queue.push(to);
  }
  const pages = queue.filter((at) => !at.endsWith('.css'));
  assert.deepEqual(markdown.map(address).filter((at) => !pages.includes(at)), [], 'reached from the table of contents');
  assert.equal(pages.length, markdown.length);
  const dead = pages.flatMap((at) => [...texts.get(at).matchAll(/href="([^"#]*)(?:#([^"]*))?"/g)].filter(([, to, part]) => {
    if (/^https?:/.test(to) || to === '/' || !part) return !(to === '/' || /^https?:/.test(to) || texts.has(to || at));
    return !(texts.get(to || at) ?? '').includes(` id="${part}"`);
  }).map(([all]) => `${at}: ${all}`));
  assert.deepEqual(dead, []);
});

test('a page has its words, tables and code, and no mark of Markdown is left', async (t) => {
  const server = await serve(t);
  for (const page of markdown) {
    const { text } = await get(server, address(page)), body = /<main>([^]*)<\/main>/.exec(text)[1];
    const prose = body.replace(/<pre>[^]*?<\/pre>/g, '').replace(/<code>[^]*?<\/code>/g, '');
    const left = prose.match(/\*\*|`|\]\(|^#+ |\|---|<!--|^\|.*/m);
    assert.equal(left && `${page}: ${left[0]}`, null);
    const source = fs.readFileSync(path.join(root, page), 'utf8'), n = (of, mark) => (of.match(mark) ?? []).length;
    assert.deepEqual({ page, tables: n(body, /<table>/g), code: n(body, /<pre>/g), headings: n(body, /<h[1-6] /g) }, { page,
      tables: n(source, /^\|[-|]+$/gm), code: n(source, /^```/gm) / 2, headings: n(source.replace(/^```[^]*?^```/gm, ''), /^#+ /gm) });
  }
  const { text } = await get(server, '/docs/quickstart/rest');
  assert.match(text, /<pre><code>curl -s /);
  assert.match(text, /&lt;|&amp;|"/);
});

test('pages run nothing, are asked for once, and come in the form that the client reads', async (t) => {
  const server = await serve(t);
  const plain = await raw(server, '/docs/concepts'), packed = await raw(server, '/docs/concepts', { 'accept-encoding': 'gzip, br' });
  assert.equal(plain.headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(packed.body), plain.body);
  assert.equal(plain.headers['content-security-policy'], "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'");
  assert.doesNotMatch(plain.body.toString(), /<script|<style|style=|\son\w+=/i);
  const again = await raw(server, '/docs/concepts', { 'if-none-match': plain.headers.etag });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  const head = await raw(server, '/docs/concepts', {}, 'HEAD');
  assert.deepEqual([head.status, head.body.length, head.headers.etag], [200, 0, plain.headers.etag]);
  const [, sheet] = /href="([^"]+\.css)"/.exec(plain.body), style = await raw(server, sheet);
  assert.match(style.headers['content-type'], /^text\/css/);
  assert.match(style.headers['cache-control'], /immutable/);
  assert.match(style.body.toString(), /prefers-color-scheme: dark/);
});

test('pages need no token, other addresses lead to a page or say where the pages are', async (t) => {
  const server = await serve(t, { flags: ['--require-token', 'true'] });
  assert.equal((await get(server, '/v1/memories')).status, 401);
  const index = (await get(server, '/docs')).text;
  for (const at of ['/docs/', '/docs/README.md', '/docs?x=1']) assert.equal((await get(server, at)).text, index, at);
  assert.equal((await get(server, '/docs/reference/proxy.md')).text, (await get(server, '/docs/reference/proxy')).text);
  for (const at of ['/docs/nothing', '/docs/reference/nothing', '/docs/reference', '/docs/research/selection', '/docs/images/studio-try.png']) {
    const { status, text } = await get(server, at);
    assert.deepEqual([status, JSON.parse(text).code], [404, 'not_found'], at);
    assert.match(JSON.parse(text).detail, /^the documentation has no page \/docs\/.*; \/docs lists all pages$/);
  }
  const lost = await raw(server, '/docs/nothing', { accept: 'text/html,*/*;q=0.8' });
  assert.deepEqual([lost.status, lost.body.toString()], [404, index], 'a browser gets the list of pages');
  assert.equal((await raw(server, '/docs', {}, 'POST')).status, 405);
});

test('the pages take at most 220 KB of the program', () => {
  const folder = tempFolder(), list = path.join(folder, 'docs.json');
  execFileSync(path.join(root, 'tools/docs-pages'), [root, list, path.join(folder, 'docs.d')]);
  const sum = JSON.parse(fs.readFileSync(list)).reduce((n, { file }) => n + fs.statSync(path.join(folder, `${file}.gz`)).size, 0);
  assert.ok(sum < 220000, `${sum} bytes`);
  assert.match(fs.readFileSync(path.join(folder, 'docs.d'), 'utf8'), /docs\/concepts\.md/);
});
