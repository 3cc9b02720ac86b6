// docs.test.js - keeps README and docs readable: width, sentence length, headings, words, links; and true: settings, routes, headers, commands.
'use strict';
const { test } = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { bin, cleanEnv, inlined } = require('./lib');
const { expected: commands } = require('../../tools/commands-page');
const { expected: endpoints } = require('../../tools/endpoints-page');
const { figures, marks } = require('../../tools/figures');

const root = path.resolve(__dirname, '../..');
const read = (page) => fs.readFileSync(path.join(root, page), 'utf8');
const run = (...args) => execFileSync(bin, args, { env: cleanEnv(), encoding: 'utf8' });

const WIDTH = 100, WORDS = 25, SCREEN = 45; // columns a line, words a sentence, lines between two headings

function pagesIn(folder) {
  return fs.readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const page = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return pagesIn(page);
    return page.endsWith('.md') ? [page] : [];
  });
}
const all = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pagesIn('docs')];
// Notes of research are records of their time; their links are checked, their prose is not.
const pages = all.filter((page) => !page.startsWith('docs/research/'));

/** The lines of a page, each with its number and whether it is prose: not code and not a comment. */
function linesOf(page) {
  let code = false;
  return read(page).split('\n').map((text, i) => {
    const fence = text.trimStart().startsWith('```');
    const prose = !code && !fence && !text.startsWith('<!--');
    if (fence) code = !code;
    return { text, at: `${page}:${i + 1}`, prose, table: prose && text.startsWith('|') };
  });
}

/** Paragraphs, list items, headings and table cells, each as one string without marks. */
function* blocksOf(page) {
  let block = null;
  for (const { text, at, prose, table } of [...linesOf(page), { text: '', at: page, prose: true }]) {
    const starts = !prose || table || !text.trim() || /^(#|\s*[-*] |\s*\d+\. )/.test(text);
    if (block && starts) { yield block; block = null; }
    if (!prose || !text.trim()) continue;
    if (table) for (const cell of text.split(/(?<!\\)\|/)) yield { at, text: cell };
    else if (block) block.text += ` ${text.trim()}`;
    else block = { at, text: text.replace(/^(#+|\s*[-*]|\s*\d+\.) /, '') };
  }
}

/** Sentences of a block: code in backticks is one word, a link is its text. */
function sentences(text) {
  const plain = text.replace(/<!--.*?-->/g, '').replace(/`[^`]*`/g, 'CODE').replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '');
  return plain.split(/(?<=[.!?])["”)]?\s+(?=[A-Z"“(])/);
}

test('no line is wider than the page', () => {
  const wide = pages.flatMap((page) => linesOf(page).filter(({ text, table }) => !table && [...text].length > WIDTH).map(({ at }) => at));
  assert.deepEqual(wide, []);
});

test('no sentence is too long', () => {
  const long = [];
  for (const page of pages)
    for (const { at, text } of blocksOf(page))
      for (const one of sentences(text)) {
        const n = one.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
        if (n > WORDS) long.push(`${at}: ${n} words: ${one}`);
      }
  assert.deepEqual(long, []);
});

test('there is a heading on every screen', () => {
  const far = [];
  for (const page of pages) {
    let last = 0;
    linesOf(page).forEach(({ text, prose }, i) => {
      if (prose && /^#/.test(text)) last = i;
      if (i - last === SCREEN) far.push(`${page}:${i + 1}`);
    });
  }
  assert.deepEqual(far, []);
});

// Names of documents that a reader does not have, and words that english.md (CONTRIBUTING.md) replaces.
const unwanted = /\b(the seed|the reference|the document|its document|told|left alone|goes with it|stands|so many|anew|by itself|has had its time|brought|thousand millions?)\b/i;
test('words that a reader would stumble over are not used', () => {
  const found = [];
  for (const page of pages)
    for (const { at, text } of blocksOf(page)) {
      const m = unwanted.exec(text.replace(/`[^`]*`/g, ''));
      if (m && page !== 'CONTRIBUTING.md') found.push(`${at}: ${m[0]}`);
    }
  assert.deepEqual(found, []);
});

test('a figure is the same wherever it is quoted, and README states no other', () => {
  const all = marks();
  assert.deepEqual(all.filter(({ stated, value }) => stated !== value), [], 'tools/figures writes them');
  for (const { id, page, what, command, date, commit } of figures.values()) {
    assert.ok(all.some((one) => one.id === id && one.page === page), `${id} is quoted on ${page}`);
    assert.ok(what && command && /^\d{4}-\d\d-\d\d$/.test(date) && /^[0-9a-f]{8}$/.test(commit), id);
  }
  assert.ok(all.filter(({ page }) => page === 'README.md').length > 2, 'README quotes figures');
  const unmarked = read('README.md').replace(/[\d.]+<!-- figure:\S+ -->\s*(%|ms)/g, '').match(/[\d.,]+\s*(%|ms\b|times\b)/g);
  assert.deepEqual(unmarked, null, 'each measured figure of README has a mark');
});

// Words of this project alone, and what everybody says: in docs, in help, on the page, and in what the program says.
const privately = {
  'doors?': 'API', 'words alone': 'keyword search', barred: 'suppressed', 'held back': 'quarantined', 'own keys?': 'client\'s upstream key', foreign: 'of others, off-topic',
  'calls? of the client\'s own': 'background request', 'worth its room': 'useful', '(is|are|be|was|were|been|chats?) given': 'receives, is inserted', 'strangers?': 'new user',
  'daily life': '', '(is|are|what was) looking|looking at': 'viewing, inspecting', 'tombstones?': 'suppression', 'passed on': 'forwarded', 'people behind': 'people of a client',
  '(is|are|stays?|remains?|be|were) closed': 'archived, superseded', 'closed (memor|ones|facts?|duplicates?)\\w*': 'archived', 'parts that|in parts of|all parts': 'components, steps', 'you told': '',
};
const isPrivate = new RegExp(`\\b(${Object.keys(privately).join('|')})\\b`, 'i');
// Connections and brackets are closed, foreign keys are SQL's.
const field = /door and safe codes|(connections?|that is idle for longest|bracket|registration|idle ones?) (is|are) closed|not given up/gi;
const privateIn = (text) => isPrivate.exec(text.replace(field, ''))?.[0];

test('user pages have no word that only this project understands', () => {
  const found = [];
  for (const page of pages.filter((one) => !/^(CONTRIBUTING|docs\/decisions\/)/.test(one)))
    for (const { at, text } of blocksOf(page)) {
      const word = privateIn(text.replace(/`[^`]*`/g, '').replace(/\]\([^)]*\)/g, ']'));
      if (word) found.push(`${at}: ${word}`);
    }
  assert.deepEqual(found, []);
});

test('help has no word that only this project understands', () => {
  const commands = [...run('--help').split('\nOptions\n')[0].matchAll(/^ {2}([a-z][a-z-]+)( |$)/gm)].map(([, name]) => name);
  assert.ok(commands.length > 30);
  const texts = [run('--help'), run('--routes'), run('serve', '--help-all'), ...commands.map((name) => run('help', name))];
  const sentences = Object.values(JSON.parse(run('--schema')).paths).flatMap((methods) => JSON.stringify(methods).match(/"(description|summary)":"[^"]*"/g));
  assert.ok(sentences.length > 500);
  const found = [...texts.flatMap((text) => text.split(/\n(?= {0,4}\S)/)), ...sentences].filter((text) => privateIn(text.replace(/\s+/g, ' ')));
  assert.deepEqual(found, []);
});

test('the page has no word that only this project understands', () => {
  const texts = [...read('studio/src/i18n/en.ts').matchAll(/^ {2}'[^']*': '((?:[^'\\]|\\.)*)',$/gm)].map(([, text]) => text);
  assert.ok(texts.length > 500, `${texts.length}`);
  assert.deepEqual(texts.filter(privateIn), []);
});

// Sentences of the program's source; those for models, of SQL and of includes are not for people.
test('what the program says has no word that only this project understands', () => {
  const files = execFileSync('git', ['ls-files', 'src/*.c', 'src/*.def', 'ext/*.c', 'ext/*.def'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
    .filter((file) => !/sql|schema|prompt|profile\/read|equivalence_model|data\/lang|_weights|weight_sets|ext\/verify|read\/check/.test(file));
  let n = 0;
  const found = files.flatMap((file) => {
    const source = read(file).replace(/\/\*[^]*?\*\//g, '').replace(/^#include.*$/gm, '').replace(/"\s*\n\s*"/g, '');
    return [...source.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, text]) => text).filter((text) => (text.match(/ /g) ?? []).length > 1).flatMap((text) => {
      n++;
      const word = privateIn(text);
      return word ? [`${file}: ${word}: ${text}`] : [];
    });
  });
  assert.ok(n > 2500, `sentences: ${n}`);
  assert.deepEqual(found, []);
});

// Words as wc counts them. What a user has to read; decisions, research and the pages for contributors are not counted.
const README_WORDS = 650, USER_WORDS = 35000;
test('README fits on a screen or two, and the pages for users together can be read', () => {
  const words = (page) => read(page).split(/\s+/).filter(Boolean).length;
  const forUsers = ['README.md', ...pagesIn('docs')].filter((page) => !/^docs\/(decisions|research|contributing)\//.test(page));
  const sum = forUsers.reduce((n, page) => n + words(page), 0);
  assert.ok(words('README.md') <= README_WORDS, `README.md: ${words('README.md')} words`);
  assert.ok(sum <= USER_WORDS, `${forUsers.length} pages: ${sum} words`);
});

test('the tests that the page of security names exist', () => {
  const named = [...read('docs/security.md').matchAll(/`(tests\/[\w/.]+)`/g)].map(([, name]) => name);
  assert.ok(named.length > 10);
  assert.deepEqual(named.filter((name) => !fs.existsSync(path.join(root, name))), []);
});

test('a decision has a date, a status, half a page, tests that exist, and a row in the list', () => {
  const index = read('docs/decisions/README.md'), decisions = all.filter((page) => /^docs\/decisions\/\d/.test(page));
  assert.ok(decisions.length > 25);
  const numbers = decisions.map((page) => path.basename(page).slice(0, 3));
  assert.deepEqual(numbers, [...new Set(numbers)].sort(), 'one number each');
  assert.ok(numbers.length <= 28, `about 25: merge what says the same (${numbers.length})`);
  const wrong = decisions.flatMap((page) => {
    const text = read(page), name = path.basename(page), tests = [...text.matchAll(/`(tests\/[\w/.]+)`/g)].map(([, test]) => test);
    return [
      [text.startsWith(`# ${name.slice(0, 3)}: `), 'its title has its number'],
      [/^Date: \d{4}-\d\d-\d\d · Status: (accepted|in progress|superseded by \d{3})$/m.test(text), 'date and status'],
      [text.split(/\s+/).length <= 450, '450 words'],
      [tests.length > 0 && tests.every((test) => fs.existsSync(path.join(root, test))), 'tests that exist'],
      [index.includes(`](${name})`), 'a row in the list'],
    ].filter(([holds]) => !holds).map(([, rule]) => `${page}: ${rule}`);
  });
  assert.deepEqual(wrong, []);
});

test('the source and the pages name decisions by numbers of today', () => {
  const numbers = all.filter((page) => /^docs\/decisions\/\d/.test(page)).map((page) => path.basename(page).slice(0, 3));
  const files = execFileSync('git', ['grep', '-lIE', '[dD]ecisions?[/ ][0-9]{3}', '--', ':!docs/research'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const named = files.flatMap((file) => [...read(file).matchAll(/decisions?(?:\/| \[?)(\d{3})(?:-[a-z-]+\.md|(?:(?:, | and )\d{3}\b)*)/gi)].flatMap(([text]) =>
    text.match(/\b\d{3}/g).map((number) => ({ file, number }))));
  assert.ok(named.length > 30, `decisions are named: ${named.length}`);
  assert.deepEqual(named.filter(({ number }) => !numbers.includes(number)), []);
});

/** Headings as link targets, as GitHub makes them. */
const anchors = (page) => new Set(linesOf(page).filter(({ prose, text }) => prose && /^#+ /.test(text)).map(({ text }) =>
  text.replace(/^#+ /, '').toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')));

const linksOf = (page) => linesOf(page).filter(({ prose }) => prose).flatMap(({ text, at }) =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => ({ to, at }))).filter(({ to }) => !/^[a-z]+:/.test(to));

test('every link leads somewhere', () => {
  const dead = [];
  for (const page of all)
    for (const { to, at } of linksOf(page)) {
      const [file, anchor] = to.split('#');
      const target = file ? path.join(path.dirname(page), file) : page;
      if (!fs.existsSync(path.join(root, target))) dead.push(`${at}: ${to}`);
      else if (anchor && !anchors(target).has(anchor)) dead.push(`${at}: ${to}`);
    }
  assert.deepEqual(dead, []);
});

test('every page is reached from the table of contents', () => {
  const seen = new Set(['docs/README.md']);
  for (const page of seen)
    for (const { to } of linksOf(page)) {
      const target = path.join(path.dirname(page), to.split('#')[0] || path.basename(page));
      if (target.endsWith('.md')) seen.add(target);
    }
  assert.deepEqual(all.filter((page) => page.startsWith('docs/') && !seen.has(page)), []);
});

/** What serve --print-settings shows, as lists of name, value and help. */
const settings = () => [...run('serve', '--print-settings').matchAll(/^([a-z_0-9]+) =(.*?) {2}# (.*)$/gm)]
  .map(([, name, value, help]) => ({ name, value: value.trim(), help }));

test('a number in front of a flag in brackets is its default', () => {
  const values = new Map(settings().map(({ name, value }) => [name, value]));
  const units = { s: ['_ms', 1000], seconds: ['_ms', 1000] };
  const wrong = [], promised = /(?<![\w.-])(\d[\d,]*(?:\.\d+)?)(?: ([^\s(]+))?(?: [a-z]+){0,4} \(`--([a-z-]+)`\)/g;
  let n = 0;
  for (const page of pages.filter((page) => page !== 'CHANGELOG.md'))
    for (const { at, text } of blocksOf(page))
      for (const [found, number, unit, flag] of text.matchAll(promised)) {
        const name = flag.replaceAll('-', '_'), [suffix, times] = units[unit] ?? ['', 1];
        const said = Number(number.replaceAll(',', '')) * (name.endsWith(suffix) ? times : 1);
        n++;
        if (Number(values.get(name)) !== said) wrong.push(`${at}: ${found}`);
      }
  assert.ok(n > 5, `defaults are named: ${n}`);
  assert.deepEqual(wrong, []);
});

test('every default that a row of a table says beside a flag is the default', () => {
  const values = new Map(settings().map(({ name, value }) => [name, value]));
  const wrong = [];
  for (const page of pages)
    for (const { text, at, table } of linesOf(page)) {
      const m = table && /^\| `[a-z]+`(?: \(default\))? \| `--([a-z-]+)` \| `([^`]*)` \|$/.exec(text);
      if (m && values.get(m[1].replaceAll('-', '_')) !== m[2]) wrong.push(at);
    }
  assert.deepEqual(wrong, []);
});

test('the variables of other products that are read are those that their pages list', () => {
  const known = [...read('src/core/settings.def').matchAll(/\.variable = "([A-Z_]+)"/g)].map(([, name]) => name).sort();
  const named = ['omniroute', 'cortex', 'observability', 'backup'].flatMap((page) => {
    const [, part] = /\n## Variables\n([^]*?)(?=\n## |$)/.exec(read(`docs/reference/${page}.md`));
    return [...part.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name);
  });
  assert.ok(known.length > 20, 'the variables are read');
  assert.deepEqual(named.sort(), known);
});

/** Everything in backticks and code blocks of all pages. */
const code = () => pages.map((page) => [...read(page).matchAll(/```[^]*?```|`[^`\n]+`/g)].map(([text]) => text).join('\n')).join('\n');

test('every route that a page names is served', () => {
  const routes = run('--routes').split('\n').filter(Boolean).map((line) => {
    const [method, route] = line.split(/\s+/);
    return { method, pattern: new RegExp(`^${route.replace(/\{[^}]*\}/g, '[^/]+')}$`) };
  });
  const named = [...code().matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^\s`?…]*)(?:\?[^`]*)?`/g)];
  assert.ok(named.length > 40, `routes are named: ${named.length}`);
  const unknown = named.filter(([, method, route]) => !routes.some((r) => r.method === method && r.pattern.test(route)));
  assert.deepEqual(unknown.map(([text]) => text), []);
});

test('the page of endpoints is made from the API', () => {
  assert.equal(read('docs/reference/endpoints.md'), endpoints(), 'run tools/endpoints-page');
  assert.ok(endpoints().split('\n- `').length > 60);
});

test('the page of commands is made from the help', () => {
  assert.equal(read('docs/reference/commands.md'), commands(), 'run tools/commands-page');
  assert.ok(commands().split('\n- `').length > 30);
});

test('the table of what is forwarded for every client is that of the routes', () => {
  const listed = (part) => [...part.matchAll(/`((?:GET|POST|DELETE) [^`]*)`/g)].map(([, route]) => route).sort();
  const [, section] = read('docs/reference/proxy.md').split('\n## What is forwarded\n');
  const rows = section.split('\n## ')[0].split('\n').filter((line) => line.startsWith('|'));
  const routes = run('--routes').split('\n').map((line) => /^(\w+) +(\S+) +(.*)$/.exec(line)).filter(Boolean);
  const withHelp = (help) => routes.filter((route) => help.test(route[3])).map(([, method, route]) => `${method} ${route}`).sort();
  const open = listed(rows.filter((row) => row.includes('| for every client |')).join());
  assert.deepEqual(open, [...withHelp(/^forwarded( without memory)?$/), 'GET /v1/models', 'GET /v1/models/{id}', 'POST /api/chat', 'POST /v1/chat/completions', 'POST /v1/messages', 'POST /v1/messages/count_tokens', 'POST /v1/responses'].sort());
  assert.deepEqual(listed(rows.filter((row) => / no \|$/.test(row)).join()), withHelp(/^forwarded without memory$/));
  assert.ok(withHelp(/^forwarded with the client's upstream key/).every((route) => /\/v1((\/\{[a-f]\}){1,6}|\/messages\/batches)$/.test(route)));
});

test('the reasons of X-Memory that the page lists are those of the program', () => {
  const said = new Set([...read('src/surface/common/without_memory.c').matchAll(/"(off; reason=\w+)"/g)].map(([, value]) => value));
  const named = [...read('docs/reference/proxy.md').matchAll(/^\| `(off; reason=\w+)` \|/gm)].map(([, value]) => value);
  assert.ok(said.size > 2);
  assert.deepEqual(named.sort(), [...said].sort());
});

const schema = () => inlined(JSON.parse(run('--schema'))).paths;
/** The names in the first column of the table under a line of a page. */
const column = (page, under) => read(page).split(`${under}\n`)[1].split(/\n\n(?=[^|])/)[0].split('\n')
  .filter((line) => line.startsWith('| `')).flatMap((line) => [...line.split('|')[1].matchAll(/`([a-z_]+)`/g)].map(([, name]) => name)).sort();

test('the members of receipts and memories that pages list are those of the API', () => {
  const api = schema(), { properties } = api['/v1/receipts/{id}'].get.responses[200].content['application/json'].schema;
  assert.deepEqual(column('docs/reference/receipts.md', '## Reading one'), Object.keys(properties).sort());
  const candidate = Object.keys(properties.lines.items.properties).sort();
  assert.deepEqual(column('docs/reference/receipts.md', 'Members of a candidate:'), candidate);
  const taken = api['/v1/memories'].post.requestBody.content['application/json'].schema.properties;
  assert.deepEqual(column('docs/reference/rest.md', '## Members of a memory'), Object.keys(taken).sort());
});

test('the names that the page on APIs gives for one thing are those of each API', () => {
  const doors = { 'REST, MCP': /^\/v1\/(memories|receipts|review|preview)/, OmniRoute: /^\/api\/(memory|settings)/, 'RAG backend': /^\/api\/v1\/memory/, Osaurus: /^\/(memory|agents)/,
    Cortex: /^\/v1\/(memory|sessions?|users|chat)(\/|$)/, mem0: /^\/(v[123]\/(memories|entities|batch)\/(|.*\/)$|memories|search)/ };
  const api = schema(), tools = [...read('docs/reference/mcp.md').matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name);
  const [head, , ...rows] = read('docs/which-api.md').split('## One thing, six names\n')[1].split('\n').filter((line) => line.startsWith('| '))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim())).filter((cells) => cells.length === 7);
  assert.deepEqual(head.slice(1), Object.keys(doors));
  const wrong = [];
  let n = 0;
  for (const [thing, ...cells] of rows)
    cells.forEach((cell, i) => {
      const door = Object.values(doors)[i], routes = JSON.stringify(Object.fromEntries(Object.entries(api).filter(([at]) => door.test(at))));
      assert.ok(routes.length > 1000, head[i + 1]);
      for (const [, call] of cell.matchAll(/`[A-Z]+ (\/[^`?]*)[^`]*`/g)) { n++; if (!door.test(call)) wrong.push(`${thing}: ${call}`); }
      for (const [, name] of cell.matchAll(/`([A-Za-z_]+)`/g)) { n++; if (!routes.includes(`"${name}"`) && !tools.includes(name)) wrong.push(`${thing}: ${head[i + 1]}: ${name}`); }
    });
  assert.ok(n > 50, `names: ${n}`);
  assert.deepEqual(wrong, []);
});

test('the members that the pages of events, jobs, settings, users and tokens list are those of the API', () => {
  const api = schema(), shape = (path, method) => api[path][method].responses[200].content['application/json'].schema.properties;
  const dotted = (page, under) => read(page).split(`${under}\n`)[1].split(/\n\n(?=[^|])/)[0].split('\n')
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name)).sort();
  const events = [...read('src/core/event.h').matchAll(/X\(\w+, "([a-z.]+)"\)/g)].map(([, name]) => name).filter((name) => name !== 'access');
  assert.deepEqual(dotted('docs/reference/live.md', 'data: {"id":"7d0c3c3e-…","space":"default","at":"2026-11-20T08:15:02.412Z"}\n```\n'), [...events, 'ready'].sort());
  assert.deepEqual(column('docs/reference/live.md', 'Members of a job:\n'), Object.keys(shape('/v1/jobs/{id}', 'get')).sort());
  assert.deepEqual(column('docs/reference/live.md', 'Members of a setting:\n'), Object.keys(shape('/v1/settings', 'get').items.items.properties).sort());
  assert.deepEqual(column('docs/reference/admin.md', 'Members of a user:\n'), Object.keys(shape('/v1/users/{id}', 'get')).sort());
  const given = api['/v1/tokens'].post.requestBody.content['application/json'].schema.properties;
  assert.deepEqual(column('docs/reference/admin.md', '"expires": "2027-12-31"}\'\n```\n'), Object.keys(given).sort());
  const kinds = api['/v1/jobs'].post.requestBody.content['application/json'].schema.properties.kind.enum;
  assert.deepEqual(column('docs/reference/live.md', '\'{"kind": "consolidate", "dry_run": true}\'\n```\n'), [...kinds].sort());
});

test('the limits of lists that pages name are those of the API', () => {
  const api = schema(), limits = (...where) => {
    const one = where.reduce((at, name) => at[name], api);
    const { default: usual, maximum } = Array.isArray(one) ? one.find(({ name }) => name === 'limit').schema : one;
    return [usual, maximum].map(String);
  };
  const named = (page, words) => words.exec(read(page).replace(/\s+/g, ' ')).slice(1);
  const body = ['requestBody', 'content', 'application/json', 'schema', 'properties', 'limit'];
  assert.deepEqual(named('docs/reference/rest.md', /`limit` is (\d+) by default and at most (\d+)/), limits('/v1/memories', 'get', 'parameters'));
  assert.deepEqual(named('docs/reference/rest.md', /`limit` \(default (\d+), at most (\d+)\)/), limits('/v1/memories/search', 'post', ...body));
  assert.deepEqual(named('docs/reference/osaurus.md', /`limit` rows \(default (\d+), at most (\d+)\)/), limits('/memory/log', 'get', 'parameters'));
});

test('every request header that a page names is read by the program', () => {
  const source = execFileSync('grep', ['-rhoiE', '[",]x-[a-z-]+', 'src', 'ext'], { cwd: root, encoding: 'utf8' }).toLowerCase();
  const known = new Set(source.split('\n').map((line) => line.slice(1)));
  const named = new Set([...code().matchAll(/\bX-[A-Z][A-Za-z-]+/gi)].map(([name]) => name.toLowerCase()));
  assert.deepEqual([...named].filter((name) => !known.has(name)), []);
});

test('every metric that a page names is counted', () => {
  const source = execFileSync('grep', ['-rhowE', '(rememberd_)?[a-z_]+(_total|_seconds)', 'src', 'ext'], { cwd: root, encoding: 'utf8' });
  const known = new Set(source.split('\n').map((line) => line.replace(/^rememberd_/, '')));
  const named = [...code().matchAll(/`rememberd_([a-z_]+)`/g)].map(([, name]) => name);
  assert.ok(named.length > 5, `metrics are named: ${named}`);
  assert.deepEqual(named.filter((name) => !known.has(name)), []);
});

test('every command that a page names exists', () => {
  const known = new Set([...run('--help').matchAll(/^ {2,4}([a-z]+) /gm)].map(([, name]) => name));
  const named = new Set([...code().matchAll(/(?:^|[`/\s])rememberd ([a-z]+)(?=[\s`])/gm)].map(([, name]) => name));
  assert.ok(named.size > 10, `commands are named: ${[...named]}`);
  assert.deepEqual([...named].filter((name) => !known.has(name)), []);
});

test('every tool that the MCP page names is offered, and no other', () => {
  const input = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n';
  const folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'rememberd-docs-'));
  const offered = (tools) => {
    const out = execFileSync(bin, ['mcp', '--tools', tools, '--data', folder], { env: cleanEnv(), input, encoding: 'utf8' });
    return JSON.parse(out.split('\n')[0]).result.tools.map((tool) => tool.name).sort();
  };
  const page = read('docs/reference/mcp.md');
  const named = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name).sort();
  assert.deepEqual(named, offered('all'));
  assert.deepEqual(column('docs/reference/mcp.md', 'kept under 6 KB.\n'), offered('default'));
  for (const [, name, group] of page.matchAll(/^\| `([a-z_]+)` \| `([a-z]+)` \|/gm)) assert.ok(offered(group).includes(name), `${group}: ${name}`);
  fs.rmSync(folder, { recursive: true });
});

test('every source file and room that the page of internals names exists', () => {
  const files = execFileSync('find', ['src', 'ext'], { cwd: root, encoding: 'utf8' }).split('\n');
  const named = [...read('docs/contributing/internals.md').matchAll(/`([a-z_]+(?:\/[a-z_]+)*(?:\/|\.)?(?:[a-z_]+\.(?:c|h|def)))`|`((?:engine|surface|store|ext)\/[a-z_]+)`/g)];
  assert.ok(named.length > 40, `files are named: ${named.length}`);
  const gone = named.map(([, file, room]) => file ?? room).filter((name) => !files.some((one) => `/${one}`.endsWith(`/${name}`)));
  assert.deepEqual(gone, []);
});
