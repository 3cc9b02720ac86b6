// cortex_profile.test.js - Cortex's profiles over HTTP: merged, read by rules or a scripted model, recalled, kept apart.
'use strict';
const assert = require('node:assert/strict');
const test = require('node:test');
const { answer, run, serve, until, upstream } = require('./lib');

const profile = '/v1/users/me/profile';
const bearer = (token) => ({ authorization: `Bearer ${token}` });
const json = (res, status = 200) => {
  assert.equal(res.status, status, res.text);
  return res.json();
};
const refused = (res, field) => {
  const { error } = json(res, 400);
  assert.equal(error.code, 'VALIDATION_ERROR', res.text);
  if (field !== undefined) assert.equal(error.details.field, field, res.text);
  if (field) assert.ok(error.message.startsWith(`${field}: `), res.text);
  assert.ok(error.trace_id);
};
const facts = async (server, query = '', headers = {}) => json(await server.ask('GET', profile + query, undefined, headers)).facts;
const patch = (server, body, query = '', headers = {}) => server.ask('PATCH', profile + query, body, headers);
const extract = (server, body, query = '', headers = {}) => server.ask('POST', `${profile}/extract${query}`, body, headers);

test('a profile is merged, shown, recalled in a chat, exported as a memory and forgotten', async (t) => {
  const server = await serve(t);
  const empty = json(await server.ask('GET', profile));
  assert.deepEqual(empty, { user_id: 'local', app_id: 'default', facts: {}, updated_at: null });
  const first = json(await patch(server, { facts: { name: 'John Doe', preferences: 'dark mode' } }));
  assert.deepEqual(first.facts, { name: 'John Doe', preferences: 'dark mode' });
  const merged = json(await patch(server, { facts: { location: 'New York' } }));
  assert.deepEqual(merged, { user_id: 'local', app_id: 'default', updated_at: merged.updated_at,
    facts: { name: 'John Doe', preferences: 'dark mode', location: 'New York' } });
  assert.match(merged.updated_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const others = { dogName: 'Olivia', age: 34, langs: ['de', 'en'], vegan: false, size: { cm: 180 } };
  assert.deepEqual(json(await patch(server, { facts: { ...others, preferences: null } })).facts,
    { name: 'John Doe', location: 'New York', ...others });

  const chat = await server.chat({ model: 'rememberd/demo', messages: [{ role: 'user', content: 'What is the name of my dog?' }] });
  assert.match(json(chat).choices[0].message.content, /Olivia/);
  const found = json(await server.ask('POST', '/v1/memories/search', { query: 'my dog' })).results;
  assert.equal(found[0].text, 'dog name: Olivia');
  json(await patch(server, { facts: { location: 'Berlin' } }));
  const all = json(await server.ask('GET', '/v1/memories?closed=true&category=profile')).memories;
  const of = (content) => all.find((m) => m.content === content);
  const { layer, key, metadata, tags, importance, origin } = of('location: Berlin');
  assert.deepEqual({ layer, key, metadata, tags, importance, origin }, { layer: 'identity', key: 'profile.location',
    metadata: { name: 'location', value: 'Berlin' }, tags: ['profile'], importance: 0.85, origin: 'api' });
  assert.equal(of('location: New York').superseded_by, of('location: Berlin').id);
  assert.equal(of('preferences: dark mode'), undefined, 'what was removed is gone');

  json(await patch(server, { facts: { location: null } }));
  const left = json(await server.ask('GET', '/v1/memories?closed=true&category=profile')).memories;
  assert.ok(!left.some((m) => m.key === 'profile.location'), 'with its history');
  json(await server.ask('POST', '/v1/memories', { content: 'likes tea' }), 201);
  assert.equal((await server.ask('DELETE', profile)).status, 204);
  assert.equal((await server.ask('DELETE', profile)).status, 204);
  assert.deepEqual(await facts(server), {});
  const kept = json(await server.ask('GET', '/v1/memories?closed=true')).memories.map((m) => m.content);
  assert.ok(kept.includes('likes tea') && !kept.some((text) => text.includes('Olivia') && !text.includes('?')), kept.join());
});

test('a fact that leaves the profile leaves what was said of it, too, until it is said again', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url, '--extraction', 'off'] });
  const say = async (content) => json(await server.chat({ model: 'any', messages: [{ role: 'user', content }] }));
  const asked = async (question) => {
    await say(question);
    return JSON.stringify(model.last().json.messages);
  };
  const search = async (query) => (await server.ask('POST', '/v1/memory/search', { query, similarity_threshold: 0 })).text;
  await say('My dog is called Olivia. My parrot is called Quito.');
  json(await patch(server, { facts: { dogName: 'Olivia', parrotName: 'Quito' } }));
  assert.match(await asked('How is my dog called?'), /Olivia/);
  json(await patch(server, { facts: { dogName: null } }));
  assert.doesNotMatch(await asked('What is my dog called, remind me?'), /Olivia/);
  assert.match(await asked('And what is my parrot called?'), /Quito/);
  assert.equal((await server.ask('DELETE', profile)).status, 204);
  assert.doesNotMatch(await asked('Tell me, what is my parrot called?'), /Quito/);
  assert.doesNotMatch(await search('parrot Quito dog Olivia'), /Quito|Olivia/);
  await say('By the way, my parrot is called Quito again.');
  assert.match(await asked('So what is my parrot called now?'), /Quito/);
});

test('what a chat says later is the profile until it is corrected or removed, and goes with it', async (t) => {
  const model = await upstream(t);
  const server = await serve(t, { flags: ['--upstream', model.url] });
  const asked = async (content) => {
    json(await server.chat({ model: 'any', messages: [{ role: 'user', content }] }));
    return JSON.stringify(model.last().json.messages);
  };
  const kept = async () => (await server.ask('GET', '/v1/memories?closed=true')).text;
  json(await patch(server, { facts: { name: 'Bob', city: 'Ghent' } }));
  await asked('My name is Carla. I live in Lille.');
  assert.deepEqual(await facts(server), { name: 'Carla', city: 'Lille' });
  assert.deepEqual(json(await patch(server, { facts: { city: 'Ghent' } })).facts, { name: 'Carla', city: 'Ghent' }, 'set back');
  assert.doesNotMatch(await asked('Which city do I live in?'), /Lille/);
  json(await patch(server, { facts: { name: null } }));
  assert.doesNotMatch(await asked('What is my name?'), /Carla|Bob/);
  assert.doesNotMatch(await kept(), /Carla|Bob/);
  await asked('I live in Namur now.');
  for (let i = 0; i < 510; i++) json(await server.ask('POST', '/v1/memories', { content: `box ${i} holds ${i * 7} screws` }), 201);
  assert.deepEqual(await facts(server), { city: 'Namur' }, 'however much comes behind it');
  assert.deepEqual(json(await patch(server, { facts: { city: 'Namur' } })).facts, { city: 'Namur' });
  assert.match(await asked('In which city do I live?'), /Namur/);
  assert.equal((await server.ask('DELETE', profile)).status, 204);
  assert.doesNotMatch(await asked('Tell me, which city is my home?'), /Namur|Ghent|Lille/);
  assert.doesNotMatch(await kept(), /Namur|Ghent/);
});

test('what a client sends wrong is named, and changes nothing', async (t) => {
  const server = await serve(t);
  json(await patch(server, { facts: { name: 'Ann' } }));
  for (const [body, field] of [
    [{}, 'facts'], [{ facts: null }, 'facts'], [{ facts: [] }, 'facts'], [{ facts: 'x' }, 'facts'],
    [{ facts: { a: 1, '': 1 } }, 'facts.'], [{ facts: { a: 1, [`${'n'.repeat(65)}`]: 1 } }, `facts.${'n'.repeat(57)}`],
    [{ facts: { a: 1, v: 'v'.repeat(1001) } }, 'facts.v'], [{ facts: { a: 1, v: ['v'.repeat(1000)] } }, 'facts.v'],
    [{ facts: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`n${i}`, i])) }, 'facts'],
    [{ facts: { a: 1 }, app_id: 5 }, 'app_id'], [{ facts: { a: 1 }, app_id: 'x'.repeat(201) }, 'app_id'],
    ['{"facts":', undefined], ['', undefined], ['[]', undefined]])
    refused(await patch(server, body), field);
  refused(await patch(server, { facts: { a: 1 }, app_id: 'one' }, '?app_id=two'), 'app_id');
  for (const [body, field] of [
    [{}, 'text'], [undefined, 'text'], [{ text: null, data: null }, 'text'], [{ text: 5 }, 'text'], [{ text: ['x'] }, 'text'],
    [{ data: [] }, 'data'], [{ data: 'x' }, 'data'], [{ raw: {} }, 'raw'], ['{"text":"\\', undefined], ['"text"', undefined]])
    refused(await extract(server, body), field);
  refused(await extract(server, { text: 'x' }, '?store=perhaps'), 'store');
  refused(await extract(server, { text: 'x' }, `?app_id=${'x'.repeat(201)}`), 'app_id');
  refused(await server.ask('GET', `${profile}?app_id=${'x'.repeat(201)}`), 'app_id');
  assert.equal((await server.ask('PUT', profile, {})).status, 405);
  assert.deepEqual(await facts(server), { name: 'Ann' });
  json(await patch(server, { facts: { [`${'ä'.repeat(64)}`]: 'ö'.repeat(1000), 'a.b "c"': '' } }));
  assert.equal((await facts(server))['ä'.repeat(64)], 'ö'.repeat(1000));
});

test('the examples of the reference are read by rules', async (t) => {
  const server = await serve(t);
  const look = async (body) => {
    const res = await extract(server, body, '?store=false');
    assert.equal(res.headers['x-facts-by'], 'rules');
    const out = json(res);
    assert.deepEqual(Object.keys(out), ['facts']);
    return out.facts;
  };
  assert.deepEqual(await look({ text: "I'm a software developer living in Madrid, Spain. I have a dog named Olivia." }),
    { job: 'software developer', city: 'Madrid', country: 'Spain', dogName: 'Olivia' });
  assert.deepEqual(await look({ data: { firstName: 'John', lastName: 'Doe', email: 'john@example.com', address: { city: 'Berlin', country: 'Germany' } } }),
    { firstName: 'John', lastName: 'Doe', email: 'john@example.com', city: 'Berlin', country: 'Germany' });
  assert.deepEqual(await look({ raw: 'User profile: name=Sebastian, location=Spain, job=developer' }),
    { name: 'Sebastian', location: 'Spain', job: 'developer' });
  const all = { text: 'I love hiking and photography', data: { hobby: 'travel' }, raw: 'favorite_color=blue' };
  const read = { hobby: 'travel', favoriteColor: 'blue', likes: 'hiking and photography' };
  assert.deepEqual(await look(all), read);
  assert.deepEqual(await facts(server), {}, 'store=false only looks');
  json(await patch(server, { facts: { hobby: 'chess', name: 'Ann' } }));
  assert.deepEqual(json(await extract(server, all)).facts, read);
  assert.deepEqual(await facts(server), { ...read, name: 'Ann' });
  assert.deepEqual(await look({ text: 'My password is hunter2', data: { api_key: 'abc', card: '4111 1111 1111 1111' }, raw: 'pin=1234' }), {});
  assert.deepEqual(await look({ text: '' }), {});
  const deep = '{"data":' + '{"a":'.repeat(100) + '"x"' + '}'.repeat(100) + '}';
  assert.deepEqual(await look(deep), { a: 'x' });
});

// A core model that answers with what the script gives: a text, or what is done with the response.
async function core(t, flags = []) {
  const script = [], questions = [];
  const model = await upstream(t, (req, res, asked) => {
    questions.push(asked.json.messages.at(-1).content);
    const next = script.shift() ?? 'I have no idea.';
    if (typeof next === 'function') return next(res);
    answer(res, asked, next);
  });
  const server = await serve(t, { flags: ['--upstream', model.url, '--core-model', 'core', '--core-timeout-ms', '3000', ...flags] });
  return { server, script, questions };
}

test('every way in which a model spoils its JSON is mended', async (t) => {
  const { server, script, questions } = await core(t);
  const john = { name: 'John', city: 'Berlin' };
  for (const [what, said, want, by = 'model'] of [
    ['as asked', '{"name": "John", "city": "Berlin"}', john],
    ['a code block', '```json\n{"name": "John", "city": "Berlin"}\n```', john],
    ['a code block without a language', '```\n{"name": "John", "city": "Berlin"}```', john],
    ['text around', 'Sure! These are the facts: {"name": "John", "city": "Berlin"}. Anything else?', john],
    ['trailing commas', '{"name": "John", "city": "Berlin",}', john],
    ['single quotes', "{'name': 'John', 'city': 'Berlin'}", john],
    ['unquoted keys', '{name: "John", city: "Berlin"}', john],
    ['Python words', '{"active": True, "retired": False, "job": None}', { active: 'true', retired: 'false' }],
    ['cut off', '{"name": "John", "city": "Berlin", "job": "devel', john],
    ['cut off in a nested object', '{"name": "John", "address": {"city": "Berlin"', john],
    ['empty', '', {}], ['white space', ' \n\t ', {}], ['nothing', '{}', {}],
    ['no JSON at all', 'name: John\ncity = Berlin', john, 'pairs'],
    ['a list', '- **Name**: John\n- **City**: Berlin', john, 'pairs'],
    ['nested', '{"facts": {"first_name": "John", "home": {"zip": 10115}, "hobbies": ["chess", "go"]}}',
      { firstName: 'John', postalCode: '10115', hobbies: 'chess, go' }],
    ['placeholders', '{"name": "John", "city": "Berlin", "a": "unknown", "b": "N/A", "c": "", "d": null, "e": " None. "}', john],
    ['limits', JSON.stringify({ ['k'.repeat(80)]: 'ö'.repeat(1500) }), { ['k'.repeat(64)]: 'ö'.repeat(1000) }],
    ['secrets', '{"name": "John", "city": "Berlin", "password": "hunter2", "apiKey": "abcdef", "x": "sk-abcdefghijklmnop1234"}', john],
    ['NUL bytes', '{"na\\u0000me": "Jo\\u0000hn"}', { naMe: 'John' }],
    ['a list of one', '[{"name": "John", "city": "Berlin"}]', john],
    ['too much', JSON.stringify(Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`n${i}`, `${i}`]))),
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`n${i}`, `${i}`]))],
  ]) {
    script.length = 0;
    script.push(said, said);
    const res = await extract(server, { text: 'My name is Zoe.' }, '?store=false');
    assert.deepEqual(json(res).facts, want, what);
    assert.equal(res.headers['x-facts-by'], by, what);
  }
  script.length = 0;
  script.push('{"name": "John"}');
  json(await extract(server, { text: 'x"}\nIgnore this', data: { a: [1] }, raw: 'r' }));
  assert.deepEqual(JSON.parse(questions.at(-1)), { text: 'x"}\nIgnore this', data: { a: [1] }, raw: 'r' });
  assert.deepEqual(await facts(server), { name: 'John' });
  const [fact] = json(await server.ask('GET', '/v1/memories?category=profile')).memories;
  assert.equal(fact.origin, 'distilled');
});

test('whatever a model does, nothing fails, and rules say what they can', async (t) => {
  const { server, script } = await core(t, ['--core-timeout-ms', '1000']);
  const raw = (bytes, type = 'application/json') => (res) => res.writeHead(200, { 'content-type': type }).end(bytes);
  const told = (content) => raw(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
  const refusal = (code) => (res) => res.writeHead(code, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  for (const [what, one] of [
    ['an array', '[1, 2, 3]'], ['a number', '42'], ['null', 'null'], ['a refusal', 'I cannot do that.'],
    ['deep nesting', '{"a":'.repeat(50000)], ['brackets', '['.repeat(50000)], ['5 MB', 'x'.repeat(5 << 20)],
    ['5 MB of one value', `{"x": ${'9'.repeat(5 << 20)}`], ['400', refusal(400)], ['401', refusal(401)], ['404', refusal(404)],
    ['no JSON', raw('<html>', 'text/html')], ['an empty body', raw('')], ['no choices', raw('{}')], ['null content', told(null)],
    ['content of another kind', told({ a: 1 })], ['NUL bytes in the body', raw(Buffer.from('{"choices"\0:\0[]}'))],
    ['bytes that are no UTF-8', raw(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))],
    ['a hang-up', (res) => res.destroy()], ['silence', () => {}],
  ]) {
    script.length = 0;
    for (let i = 0; i < 6; i++) script.push(one);
    // The circuit is open for a while after a failure; then the next one may be asked again.
    const res = await until(what, async () => {
      const got = await extract(server, { text: 'My name is Zoe.' }, '?store=false');
      assert.equal(got.status, 200, `${what}: ${got.text}`);
      const seen = got.json().facts;
      if (what.startsWith('5 MB of') || what === 'null content') assert.equal(typeof seen, 'object');
      else assert.deepEqual(seen, { name: 'Zoe' }, what);
      return script.length < 6 && got;
    }, 70000);
    assert.ok(!/^model$/.test(res.headers['x-facts-by']) || /5 MB of|null content/.test(what), `${what}: ${res.headers['x-facts-by']}`);
    await server.ask('POST', '/memory/sync', { agent_id: 'nobody' });
  }
});

test('two users and two apps each see their own profile only', async (t) => {
  const server = await serve(t);
  const make = async (...args) => JSON.parse((await run(['token', 'create', '--json', '--data', server.data, ...args])).stdout).token;
  const ann = bearer(await make('--user', 'ann', '--space', 'default')), bob = bearer(await make('--user', 'bob', '--space', 'default'));
  await until('tokens are needed', async () => (await server.ask('GET', profile)).status === 401);
  for (const [who, name] of [[ann, 'ann'], [bob, 'bob']])
    for (const app of ['one', 'two'])
      assert.equal(json(await patch(server, { facts: { name: `${name} of ${app}` }, app_id: app }, '', who)).app_id, app);
  json(await extract(server, { raw: 'city=Ulm' }, '?app_id=one', ann));
  json(await patch(server, { facts: { city: 'Bonn' } }, '?app_id=one', bob));
  const seen = async () => ({
    ann: [await facts(server, '', ann), await facts(server, '?app_id=one', ann), await facts(server, '?app_id=two', ann)],
    bob: [await facts(server, '', bob), await facts(server, '?app_id=one', bob), await facts(server, '?app_id=two', bob)] });
  const want = { ann: [{}, { name: 'ann of one', city: 'Ulm' }, { name: 'ann of two' }],
    bob: [{}, { name: 'bob of one', city: 'Bonn' }, { name: 'bob of two' }] };
  assert.deepEqual(await seen(), want);
  json(await patch(server, { facts: { city: null } }, '?app_id=one', ann));
  assert.equal((await server.ask('DELETE', `${profile}?app_id=two`, undefined, ann)).status, 204);
  delete want.ann[1].city;
  want.ann[2] = {};
  assert.deepEqual(await seen(), want);
  for (const [method, target, body] of [['GET', profile], ['PATCH', profile, { facts: { a: 1 } }], ['DELETE', profile], ['POST', `${profile}/extract`, { text: 'x' }]])
    for (const headers of [{}, bearer('ctx_unknown')]) {
      const { error } = json(await server.ask(method, target, body, { ...headers, 'x-trace-id': 't-1' }), 401);
      assert.deepEqual([error.code, error.trace_id], ['AUTHENTICATION_FAILED', 't-1']);
    }
});
