// node studio/build.mjs OUT: the page as files to embed, each compressed by gzip and brotli. studio/dist holds what it made.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const types = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.html': 'text/html; charset=utf-8' };

export async function bundle({ minify = true } = {}) {
  const { outputFiles } = await build({
    entryPoints: { studio: path.join(here, 'src/main.tsx') },
    bundle: true, minify, write: false, format: 'esm', target: 'es2022', outdir: '/', splitting: true, metafile: true,
    entryNames: 'assets/[name].[hash]', chunkNames: 'assets/[name].[hash]', assetNames: 'assets/[name].[hash]',
    jsx: 'automatic', jsxImportSource: 'preact', charset: 'utf8', legalComments: 'none', logLevel: 'warning',
    absWorkingDir: here,
  });
  const files = outputFiles.map((f) => ({ name: f.path.replace(/^\/+/, ''), bytes: Buffer.from(f.contents) }));
  const icon = fs.readFileSync(path.join(here, 'src/icon.svg'));
  files.push({ name: `assets/icon.${createHash('sha256').update(icon).digest('hex').slice(0, 8).toUpperCase()}.svg`, bytes: icon });
  const find = (start, end) => '/' + files.find((f) => f.name.startsWith(`assets/${start}.`) && f.name.endsWith(end)).name;
  const html = fs.readFileSync(path.join(here, 'src/index.html'), 'utf8')
    .replace('{{script}}', find('studio', '.js')).replace('{{style}}', find('studio', '.css')).replace('{{icon}}', find('icon', '.svg'));
  return [{ name: 'index.html', bytes: Buffer.from(html) }, ...files.sort((a, b) => (a.name < b.name ? -1 : 1))];
}

function write(out, files) {
  fs.rmSync(out, { recursive: true, force: true });
  const list = files.map(({ name, bytes }) => {
    const file = path.join(out, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const gz = gzipSync(bytes, { level: 9 });
    const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
    gz[9] = 3; // the system that made it, whatever it was
    fs.writeFileSync(`${file}.gz`, gz);
    fs.writeFileSync(`${file}.br`, br);
    return { path: name === 'index.html' ? '/' : `/${name}`, file: name, type: types[path.extname(name)], immutable: name !== 'index.html',
      bytes: bytes.length, gzip: gz.length, brotli: br.length };
  });
  fs.writeFileSync(path.join(out, 'files.json'), JSON.stringify(list, null, 1) + '\n');
  return list;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv[2];
  if (!out) {
    console.error('usage: node studio/build.mjs OUT');
    process.exit(2);
  }
  const list = write(path.resolve(out), await bundle());
  const sum = (key) => list.reduce((n, f) => n + f[key], 0);
  console.log(`${list.length} files, ${sum('bytes')} bytes, ${sum('gzip')} with gzip, ${sum('brotli')} with brotli`);
}
