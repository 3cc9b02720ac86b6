// page.js - the web page in a browser, with 100,000 memories: bytes, first paint, frames while the list scrolls.
'use strict';
const { chromium } = require('playwright-core');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawn } = require('node:child_process');
const { once } = require('node:events');

const many = 100000, rounds = 15;
const program = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((p) => fs.existsSync(p));
const sorted = (v) => [...v].sort((a, b) => a - b);
const show = (what, v, unit) => console.log(`${what.padEnd(52)} p50 ${sorted(v)[v.length >> 1].toFixed(1)}  p99 ${sorted(v)[Math.floor(v.length * 0.99)].toFixed(1)} ${unit}`);

function lines(from, n) {
  const out = [];
  for (let i = from; i < from + n; i++)
    out.push(JSON.stringify({ kind: 'memory', id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, content: `Statement ${i} about number ${i % 97}`, category: ['home', 'work', 'food'][i % 3], created: new Date(1.7e12 + i * 1e5).toISOString(), updated: new Date(1.7e12 + i * 1e5).toISOString() }));
  return out.join('\n');
}

async function main() {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'rememberd-page-'));
  const child = spawn(path.join(process.argv[2] ?? 'build', 'rememberd'), ['serve', '--listen', '127.0.0.1:0', '--data', data], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [first] = await once(child.stdout.setEncoding('utf8'), 'data');
  const url = /http:\S+/.exec(first)[0];
  for (let i = 0; i < many; i += 5000) await fetch(`${url}/v1/memories/import`, { method: 'POST', body: lines(i, 5000) });
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  let bytes = 0;
  const paints = [], lists = [];
  for (let i = 0; i < rounds; i++) {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    if (!i) page.on('response', async (r) => { if (/\/$|assets/.test(new URL(r.url()).pathname)) bytes += Number((await r.request().sizes()).responseBodySize); });
    await page.goto(`${url}/`, { waitUntil: 'load' });
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length);
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
    const began = Date.now();
    await page.goto(`${url}/studio/memories`);
    await page.locator('.item .cut').first().waitFor();
    lists.push(Date.now() - began);
    await page.context().close();
  }
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(`${url}/studio/memories`);
  await page.locator('.item .cut').first().waitFor();
  const { frames, blank } = await page.evaluate(() => new Promise((done) => {
    const box = document.querySelector('[role="listbox"]'), took = [];
    let last = performance.now(), n = 0, blanks = 0;
    const step = (now) => {
      took.push(now - last);
      last = now;
      box.scrollTop += 120;
      blanks += document.querySelectorAll('.item').length < 10;
      if (++n < 600) requestAnimationFrame(step);
      else done({ frames: took.slice(5), blank: blanks });
    };
    requestAnimationFrame(step);
  }));
  console.log(`${many} memories`);
  console.log(`${'bytes of the page, as sent'.padEnd(52)} ${bytes}`);
  show('first paint, nothing cached', paints, 'ms');
  show('memories: until the first rows are there', lists, 'ms');
  show('memories: time of a frame while scrolling', frames, 'ms');
  console.log(`frames over 20 ms: ${frames.filter((f) => f > 20).length} of ${frames.length}; without rows: ${blank}`);
  await browser.close();
  child.kill();
  await once(child, 'exit');
  fs.rmSync(data, { recursive: true });
}
main();
