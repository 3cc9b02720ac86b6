// qdrant_standin.js - a stand-in for Qdrant's REST server that takes no more than the real one documents.
'use strict';
const { once } = require('node:events');
const http = require('node:http');

/*
 * What is checked follows Qdrant's published OpenAPI (1.18), the words and codes of refusals its source. It is stricter
 * in one way: a member that is unknown, or known to Qdrant and not built here, is a 400, so that nothing is taken
 * for granted that was never tried. It searches exactly.
 */

// --- refusals ---

class Refusal extends Error {
  constructor(code, text) { super(text); this.code = code; }
}
const malformed = (text) => new Refusal(400, `Format error in JSON body: ${text}`);
const invalid = (at, text) => new Refusal(422, `Validation error in JSON body: [${at}: ${text}]`);
const wrongInput = (text) => new Refusal(400, `Wrong input: ${text}`);

// --- shapes: each takes a value and its place, and throws ---

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const kind = (what, test) => (v, at) => { if (!test(v)) throw malformed(`${at}: expected ${what}, got ${JSON.stringify(v)?.slice(0, 40)}`); };
const bool = kind('a boolean', (v) => typeof v === 'boolean');
const text = kind('a string', (v) => typeof v === 'string');
const number = kind('a number', (v) => typeof v === 'number');
const uint = kind('an unsigned integer', (v) => Number.isSafeInteger(v) && v >= 0);
const anyObject = kind('an object', isObject);
const oneOf = (...names) => kind(`one of ${names.join(', ')}`, (v) => names.includes(v));
const list = (shape) => (v, at) => {
  if (!Array.isArray(v)) throw malformed(`${at}: expected a sequence`);
  v.forEach((one, i) => shape(one, `${at}[${i}]`));
};
const optional = (shape) => Object.assign((v, at) => { if (v !== null && v !== undefined) shape(v, at); }, { optional: true });
const atLeast = (least, shape) => (v, at) => {
  shape(v, at);
  if (v < least) throw invalid(at, `value ${v} invalid, must be ${least} or larger`);
};
const between = (low, high) => (v, at) => {
  number(v, at);
  if (v < low || v > high) throw invalid(at, `value ${v} invalid, must be from ${low} to ${high}`);
};
const object = (members) => (v, at) => {
  anyObject(v, at);
  for (const name of Object.keys(v)) if (!Object.hasOwn(members, name)) throw malformed(`${at}: unknown field \`${name}\``);
  for (const [name, shape] of Object.entries(members)) {
    if (v[name] === undefined && !shape.optional) throw malformed(`${at}: missing field \`${name}\``);
    shape(v[name], `${at}.${name}`);
  }
};
// The first shape whose test holds is the one that counts, so that a refusal names the real fault.
const choice = (...cases) => (v, at) => {
  const found = cases.find(([test]) => test(v));
  if (!found) throw malformed(`${at}: data did not match any variant`);
  found[1](v, at);
};
const has = (name) => (v) => isObject(v) && Object.hasOwn(v, name);

// --- ids and vectors ---

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const pointId = (v, at) => {
  if ((Number.isSafeInteger(v) && v >= 0) || (typeof v === 'string' && UUID.test(v))) return;
  throw malformed(`${at}: value ${v} is not a valid point ID, valid values are either an unsigned integer or a UUID`);
};
const canonical = (id) => typeof id === 'number' ? id
  : id.replaceAll('-', '').toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const vector = list(number);
const vectors = choice([Array.isArray, vector],
  [isObject, (v, at) => Object.entries(v).forEach(([name, one]) => vector(one, `${at}.${name}`))]);

// --- the bodies of requests ---

const quantization = choice(
  [has('scalar'), object({ scalar: object({ type: oneOf('int8'), quantile: optional(between(0.5, 1)), always_ram: optional(bool) }) })],
  [has('binary'), object({ binary: object({ always_ram: optional(bool) }) })]);
const vectorParams = object({ size: atLeast(1, uint), distance: oneOf('Cosine', 'Euclid', 'Dot', 'Manhattan'), on_disk: optional(bool) });
const collection = object({
  vectors: choice([has('size'), vectorParams], [has('distance'), vectorParams],
    [isObject, (v, at) => Object.entries(v).forEach(([name, one]) => vectorParams(one, `${at}.${name}`))]),
  quantization_config: optional(quantization), on_disk_payload: optional(bool),
});
const index = object({ field_name: text, field_schema: optional(oneOf('keyword', 'integer', 'float', 'bool', 'datetime', 'uuid')) });

const value = kind('a string, an integer or a boolean', (v) => ['string', 'boolean'].includes(typeof v) || Number.isSafeInteger(v));
const match = choice([has('value'), object({ value })], [has('any'), object({ any: list(value) })],
  [has('except'), object({ except: list(value) })]);
const range = object({ lt: optional(number), gt: optional(number), lte: optional(number), gte: optional(number) });
const condition = choice(
  [has('key'), object({ key: text, match: optional(match), range: optional(range) })],
  [has('is_empty'), object({ is_empty: object({ key: text }) })],
  [has('is_null'), object({ is_null: object({ key: text }) })],
  [has('has_id'), object({ has_id: list(pointId) })],
  [isObject, (v, at) => filter(v, at)]);
const conditions = optional(choice([Array.isArray, list(condition)], [isObject, condition]));
const filter = object({ must: conditions, should: conditions, must_not: conditions });

const withPayload = optional(choice([(v) => typeof v === 'boolean', bool], [Array.isArray, list(text)],
  [has('include'), object({ include: list(text) })], [has('exclude'), object({ exclude: list(text) })]));
const withVector = optional(choice([(v) => typeof v === 'boolean', bool], [Array.isArray, list(text)]));
const params = object({ exact: optional(bool), hnsw_ef: optional(atLeast(1, uint)), indexed_only: optional(bool),
  quantization: optional(object({ ignore: optional(bool), rescore: optional(bool), oversampling: optional(atLeast(1, number)) })) });
const found = { filter: optional(filter), params: optional(params), offset: optional(uint), with_payload: withPayload,
  with_vector: withVector, score_threshold: optional(number) };

const shapes = {
  collection, index,
  points: choice([has('points'), object({ points: list(object({ id: pointId, vector: vectors, payload: optional(anyObject) })) })],
    [has('batch'), object({ batch: object({ ids: list(pointId), vectors: list(vector), payloads: optional(list(optional(anyObject))) }) })]),
  retrieve: object({ ids: list(pointId), with_payload: withPayload, with_vector: withVector }),
  select: choice([has('points'), object({ points: list(pointId) })], [has('filter'), object({ filter })]),
  count: object({ filter: optional(filter), exact: optional(bool) }),
  scroll: object({ filter: optional(filter), limit: optional(atLeast(1, uint)), offset: optional(pointId), with_payload: withPayload, with_vector: withVector }),
  search: object({ ...found, vector: choice([Array.isArray, vector], [isObject, object({ name: text, vector })]), limit: atLeast(1, uint) }),
  query: object({ ...found, query: choice([Array.isArray, vector], [has('nearest'), object({ nearest: vector })], [() => true, pointId]),
    using: optional(text), limit: optional(atLeast(1, uint)) }),
};

// --- what a filter says of a payload ---

const valuesAt = (payload, key) => {
  const at = key.split('.').reduce((v, name) => (isObject(v) ? v[name] : undefined), payload);
  return Array.isArray(at) ? at : at === undefined ? [] : [at];
};
function holds(one, point) {
  if (one.has_id) return one.has_id.some((id) => canonical(id) === point.id);
  if (one.is_empty) return valuesAt(point.payload, one.is_empty.key).filter((v) => v !== null).length === 0;
  if (one.is_null) return valuesAt(point.payload, one.is_null.key).includes(null);
  if (one.key === undefined) return passes(one, point);
  const values = valuesAt(point.payload, one.key);
  const { match: m, range: r } = one;
  const matches = (v) => ('value' in m ? v === m.value : m.any ? m.any.includes(v) : !m.except.includes(v));
  const lies = (v) => typeof v === 'number' && !(r.lt != null && !(v < r.lt)) && !(r.gt != null && !(v > r.gt)) &&
    !(r.lte != null && !(v <= r.lte)) && !(r.gte != null && !(v >= r.gte));
  return (!m || values.some(matches)) && (!r || values.some(lies));
}
const many = (v) => (v == null ? [] : Array.isArray(v) ? v : [v]);
const passes = (f, point) => !f || (many(f.must).every((c) => holds(c, point)) && !many(f.must_not).some((c) => holds(c, point)) &&
  (many(f.should).length === 0 || many(f.should).some((c) => holds(c, point))));
const keysOf = (f) => [f?.must, f?.should, f?.must_not].flatMap(many).flatMap((c) => c.key ?? (c.has_id || c.is_empty || c.is_null ? [] : keysOf(c)));

// --- the server ---

class Collection {
  constructor(config) { Object.assign(this, { config, points: new Map(), indexes: {}, operations: 0 }); }

  params(name = '') {
    const v = this.config.vectors;
    const one = typeof v.size === 'number' ? (name === '' ? v : undefined) : Object.hasOwn(v, name) ? v[name] : undefined;
    if (!one) throw wrongInput(`Not existing vector name error: ${name}`);
    return one;
  }

  // As it is kept: in single precision, of length 1 when the distance is the cosine.
  kept(values, name) {
    const { size, distance } = this.params(name);
    if (values.length !== size) throw wrongInput(`Vector dimension error: expected dim: ${size}, got ${values.length}`);
    const v = Float32Array.from(values), length = Math.hypot(...v);
    return distance === 'Cosine' && length > 0 ? v.map((x) => x / length) : v;
  }

  put(id, given, payload) {
    const named = Array.isArray(given) ? { '': given } : given;
    const kept = Object.fromEntries(Object.entries(named).map(([name, v]) => [name, this.kept(v, name)]));
    return { id: canonical(id), vectors: kept, payload: payload ?? {}, version: this.operations };
  }

  selected(f, isStrict) {
    for (const key of isStrict ? keysOf(f) : [])
      if (!Object.hasOwn(this.indexes, key)) throw new Refusal(400, `Bad request: Index required but not found for "${key}". Help: create an index for this key or use a different filter.`);
    return [...this.points.values()].filter((point) => passes(f, point));
  }

  near(values, name, { filter: f, limit = 10, offset = 0, score_threshold: least }, isStrict) {
    const { distance } = this.params(name), v = this.kept(values, name);
    const dot = (w) => w.reduce((sum, x, i) => sum + x * v[i], 0);
    const far = (w, power) => w.reduce((sum, x, i) => sum + Math.abs(x - v[i]) ** power, 0) ** (1 / power);
    const isFar = distance === 'Euclid' || distance === 'Manhattan';
    return this.selected(f, isStrict).filter((point) => point.vectors[name ?? ''])
      .map((point) => ({ point, score: Math.fround(isFar ? far(point.vectors[name ?? ''], distance === 'Euclid' ? 2 : 1) : dot(point.vectors[name ?? ''])) }))
      .filter(({ score }) => least == null || (isFar ? score <= least : score >= least))
      .sort((a, b) => (isFar ? a.score - b.score : b.score - a.score)).slice(offset ?? 0, (offset ?? 0) + (limit ?? 10));
  }

  info() {
    return {
      status: 'green', optimizer_status: 'ok', points_count: this.points.size, indexed_vectors_count: 0, segments_count: 2,
      config: {
        params: { vectors: this.config.vectors, shard_number: 1, replication_factor: 1, write_consistency_factor: 1, on_disk_payload: true },
        hnsw_config: { m: 16, ef_construct: 100, full_scan_threshold: 10000, max_indexing_threads: 0, on_disk: false },
        optimizer_config: { deleted_threshold: 0.2, vacuum_min_vector_number: 1000, default_segment_number: 0, flush_interval_sec: 5 },
        quantization_config: this.config.quantization_config ?? null,
      },
      payload_schema: Object.fromEntries(Object.entries(this.indexes).map(([name, data_type]) => [name, { data_type, points: this.points.size }])),
    };
  }
}

const shownPayload = (payload, how) => {
  const keep = Array.isArray(how) ? how : how?.include;
  const test = keep ? (key) => keep.includes(key) : how?.exclude ? (key) => !how.exclude.includes(key) : () => true;
  return Object.fromEntries(Object.entries(payload).filter(([key]) => test(key)));
};
const shownVectors = (all, how) => {
  const plain = Object.fromEntries(Object.entries(all).map(([name, v]) => [name, Array.from(v)]));
  if (Object.hasOwn(plain, '')) return plain[''];
  return Array.isArray(how) ? Object.fromEntries(Object.entries(plain).filter(([name]) => how.includes(name))) : plain;
};
const shown = (point, body, payloadByDefault) => ({
  id: point.id,
  ...((body.with_payload ?? payloadByDefault) ? { payload: shownPayload(point.payload, body.with_payload) } : {}),
  ...(body.with_vector ? { vector: shownVectors(point.vectors, body.with_vector) } : {}),
});
const scored = (hits, body, payloadByDefault) => hits.map(({ point, score }) => ({ ...shown(point, body, payloadByDefault), version: point.version, score }));

// [method, path, shape of the body or null, handler(standIn, body, names, query)]; the collection is looked up by "c".
const routes = [
  ['GET', '/', null, () => ({ title: 'qdrant - vector search engine', version: '1.18.0' })],
  ['GET', '/readyz', null, () => 'all shards are ready'],
  ['GET', '/healthz', null, () => 'healthz check passed'],
  ['GET', '/livez', null, () => 'healthz check passed'],
  ['GET', '/collections', null, (s) => ({ collections: [...s.collections.keys()].map((name) => ({ name })) })],
  ['GET', '/collections/{new}/exists', null, (s, _, { new: name }) => ({ exists: s.collections.has(name) })],
  ['GET', '/collections/{c}', null, (s, _, { c }) => c.info()],
  ['PUT', '/collections/{new}', shapes.collection, (s, body, { new: name }) => {
    if (name.length > 255) throw new Refusal(422, 'Validation error in path parameters: [name: must be from 1 to 255 characters long]');
    if (/[<>:"/\\|?*\0\x1f]/.test(name)) throw new Refusal(422, `Validation error in path parameters: [name: collection name cannot contain "${name.match(/[<>:"/\\|?*\0\x1f]/)[0]}" char]`);
    if (s.collections.has(name)) throw new Refusal(409, `Wrong input: Collection \`${name}\` already exists!`);
    s.collections.set(name, new Collection(body));
    return true;
  }],
  ['DELETE', '/collections/{new}', null, (s, _, { new: name }) => s.collections.delete(name)],
  ['PUT', '/collections/{c}/index', shapes.index, (s, body, { c }) => {
    if (!body.field_schema) throw new Refusal(400, `Wrong input: Unable to infer type for the field '${body.field_name}'. Please specify \`field_type\``);
    c.indexes[body.field_name] = body.field_schema;
    return s.updated(c);
  }],
  ['PUT', '/collections/{c}/points', shapes.points, (s, body, { c }) => {
    const b = body.batch;
    if (b && (b.ids.length !== b.vectors.length || (b.payloads && b.payloads.length !== b.ids.length)))
      throw invalid('batch', `number of ids and vectors must be equal (${b.ids.length} != ${b.vectors.length})`);
    const given = body.points ?? b.ids.map((id, i) => ({ id, vector: b.vectors[i], payload: b.payloads?.[i] }));
    c.operations++;
    given.map((p) => c.put(p.id, p.vector, p.payload)).forEach((p) => c.points.set(p.id, p));
    return s.updated(c);
  }],
  ['POST', '/collections/{c}/points', shapes.retrieve, (s, body, { c }) =>
    body.ids.map((id) => c.points.get(canonical(id))).filter(Boolean).map((p) => shown(p, body, true))],
  ['GET', '/collections/{c}/points/{id}', null, (s, _, { c, id }) => {
    const key = /^\d+$/.test(id) ? Number(id) : id;
    if (typeof key === 'string' && !UUID.test(key)) throw wrongInput(`Can not recognize "${id}" as point id`);
    const point = c.points.get(canonical(key));
    if (!point) throw new Refusal(404, `Not found: Point with id ${id} does not exists!`);
    return shown(point, { with_vector: true }, true);
  }],
  ['POST', '/collections/{c}/points/delete', shapes.select, (s, body, { c }) => {
    const ids = body.points?.map(canonical) ?? c.selected(body.filter, s.isStrict).map((p) => p.id);
    ids.forEach((id) => c.points.delete(id));
    return s.updated(c);
  }],
  ['POST', '/collections/{c}/points/count', shapes.count, (s, body, { c }) => ({ count: c.selected(body.filter, s.isStrict).length })],
  ['POST', '/collections/{c}/points/scroll', shapes.scroll, (s, body, { c }) => {
    const order = (id) => (typeof id === 'number' ? [0, id] : [1, id]);
    const before = (a, b) => (a[0] !== b[0] ? a[0] < b[0] : a[1] < b[1]);
    const all = c.selected(body.filter, s.isStrict).sort((a, b) => (before(order(a.id), order(b.id)) ? -1 : 1))
      .filter((p) => body.offset == null || !before(order(p.id), order(canonical(body.offset))));
    const n = body.limit ?? 10;
    return { points: all.slice(0, n).map((p) => shown(p, body, true)), next_page_offset: all[n]?.id ?? null };
  }],
  ['POST', '/collections/{c}/points/search', shapes.search, (s, body, { c }) => {
    const [values, name] = Array.isArray(body.vector) ? [body.vector, undefined] : [body.vector.vector, body.vector.name];
    return scored(c.near(values, name, body, s.isStrict), body, false);
  }],
  ['POST', '/collections/{c}/points/query', shapes.query, (s, body, { c }) => {
    let values = body.query.nearest ?? body.query;
    if (!Array.isArray(values)) {
      const point = c.points.get(canonical(values));
      if (!point) throw new Refusal(404, `Not found: No point with id ${values} found`);
      values = Array.from(point.vectors[body.using ?? '']);
    }
    return { points: scored(c.near(values, body.using ?? undefined, body, s.isStrict), body, false) };
  }],
].map(([method, path, shape, run]) => ({ method, shape, run, isOpen: !path.startsWith('/collections'),
  names: [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]), pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`) }));

const READS = /\/points(\/(count|scroll|search|query))?$/;

class QdrantStandIn {
  // apiKey, readOnlyKey: as in its configuration. isStrict: filters need indexes. lacks: paths (their ends) of another version.
  constructor({ apiKey, readOnlyKey, isStrict = false, lacks = [] } = {}) {
    Object.assign(this, { apiKey, readOnlyKey, isStrict, lacks, collections: new Map(), asked: [], delayMs: 0, port: 0, waiting: new Set() });
  }

  get url() { return `http://127.0.0.1:${this.port}`; }

  updated(c) { return { operation_id: c.operations, status: this.isWaiting ? 'completed' : 'acknowledged' }; }

  // Again on the same port after a stop; what it holds stays.
  async start() {
    this.server = http.createServer((req, res) => this.serve(req, res));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = this.server.address().port;
    return this;
  }

  async stop() {
    if (!this.server?.listening) return;
    this.waiting.forEach(clearTimeout);
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  // 401 as plain text; a key that may only read is refused in the envelope.
  admit(req, path) {
    if (!this.apiKey || !path.startsWith('/collections')) return;
    const key = req.headers['api-key'] ?? req.headers.authorization?.replace(/^Bearer /, '');
    if (key === undefined) throw Object.assign(new Refusal(401, 'Must provide an API key or an Authorization bearer token'), { isPlain: true });
    const isRead = req.method === 'GET' || (req.method === 'POST' && READS.test(path));
    if (key === this.apiKey || (this.readOnlyKey && key === this.readOnlyKey && isRead)) return;
    if (this.readOnlyKey && key === this.readOnlyKey) throw new Refusal(403, 'Forbidden: Global write access is required');
    throw Object.assign(new Refusal(401, 'Invalid API key or JWT'), { isPlain: true });
  }

  body(req, route, bytes) {
    if (!route.shape) return undefined;
    if (!/^application\/json\b/.test(req.headers['content-type'] ?? '')) throw new Refusal(400, 'Content type error');
    if (bytes.length > 32 << 20) throw new Refusal(413, 'JSON payload has exceeded limit');
    let parsed;
    try { parsed = JSON.parse(bytes); } catch (error) { throw malformed(error.message); }
    route.shape(parsed, 'body');
    return parsed;
  }

  answer(req, bytes) {
    const url = new URL(req.url, this.url);
    const path = url.pathname;
    this.admit(req, path);
    const route = routes.find((r) => r.method === req.method && r.pattern.test(path) && !this.lacks.some((end) => path.endsWith(end)));
    if (!route) throw Object.assign(new Refusal(404, ''), { isPlain: true });
    for (const [name, v] of url.searchParams) {
      if (!['wait', 'ordering', 'timeout', 'consistency'].includes(name) || (name === 'wait' && !['true', 'false'].includes(v)))
        throw new Refusal(400, `Deserialize error in query parameters: ${name}=${v}`);
    }
    this.isWaiting = url.searchParams.get('wait') === 'true';
    const names = Object.fromEntries(route.names.map((name, i) => [name, decodeURIComponent(route.pattern.exec(path)[i + 1])]));
    const body = this.body(req, route, bytes);
    if ('c' in names && !this.collections.has(names.c)) throw new Refusal(404, `Not found: Collection \`${names.c}\` doesn't exist!`);
    if ('c' in names) names.c = this.collections.get(names.c);
    return [route, route.run(this, body, names)];
  }

  async serve(req, res) {
    const parts = [];
    for await (const part of req) parts.push(part);
    const bytes = Buffer.concat(parts).toString();
    this.asked.push({ method: req.method, url: req.url, body: bytes, key: req.headers['api-key'] });
    const delay = typeof this.delayMs === 'function' ? this.delayMs(req) : this.delayMs;
    if (delay) await new Promise((done) => this.waiting.add(setTimeout(done, delay)));
    const send = (code, type, content) => { res.writeHead(code, { 'content-type': type }); res.end(content); };
    const began = performance.now(), time = () => (performance.now() - began) / 1000;
    try {
      const scripted = this.script?.(req, bytes);
      if (scripted) throw new Refusal(scripted.code, scripted.text);
      const [route, result] = this.answer(req, bytes);
      if (typeof result === 'string') send(200, 'text/plain; charset=utf-8', result);
      else if (route.isOpen && req.url === '/') send(200, 'application/json', JSON.stringify(result));
      else send(200, 'application/json', JSON.stringify({ result, status: 'ok', time: time() }));
    } catch (error) {
      if (!(error instanceof Refusal)) { send(500, 'application/json', JSON.stringify({ status: { error: `Service internal error: ${error.stack}` }, time: time() })); return; }
      if (error.isPlain) send(error.code, 'text/plain; charset=utf-8', error.message);
      else send(error.code, 'application/json', JSON.stringify({ status: { error: error.message }, time: time() }));
    }
  }
}

module.exports = { QdrantStandIn };
