// node studio/serve.mjs [--to http://127.0.0.1:7077] [--port 7078]: the page from its sources in front of a running
// rememberd, for work on the page. Each request of the page builds it anew.
import http from 'node:http';
import path from 'node:path';
import { bundle } from './build.mjs';

const option = (name, otherwise) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : otherwise);
const to = new URL(option('--to', 'http://127.0.0.1:7077'));
const port = Number(option('--port', '7078'));
const types = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.html': 'text/html; charset=utf-8' };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self';"
  + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
let files = [];

const isPage = (url) => url === '/' || url.startsWith('/studio/') || url.startsWith('/?');

const server = http.createServer(async (req, res) => {
  try {
    if (req.method === 'GET' && (isPage(req.url) || req.url.startsWith('/assets/'))) {
      if (isPage(req.url)) files = await bundle({ minify: false });
      const name = isPage(req.url) ? 'index.html' : req.url.slice(1);
      const file = files.find((f) => f.name === name);
      res.writeHead(file ? 200 : 404, { 'content-type': types[path.extname(name)] ?? 'text/plain', 'content-security-policy': policy });
      return res.end(file?.bytes);
    }
    const headers = { ...req.headers, host: to.host };
    if (headers.origin) headers.origin = to.origin;
    const up = http.request(new URL(req.url, to), { method: req.method, headers }, (got) => {
      res.writeHead(got.statusCode, got.headers);
      got.pipe(res);
    });
    up.on('error', () => res.destroy());
    res.on('close', () => up.destroy());
    req.pipe(up);
  } catch (e) {
    res.writeHead(500);
    res.end(String(e));
  }
});
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port} in front of ${to.origin}`));
