// cortex_lib.js - sessions and events of Cortex's chat, for the files that test it.
'use strict';
const assert = require('node:assert/strict');
const { OpenAI, answer, chunk, completion, onFullDisk, serve, tempFolder, until, upstream } = require('./lib');

// A session of the given app; says throws unless the message is answered.
async function session(server, { app_id, headers = {} } = {}) {
  const made = await server.ask('POST', '/v1/session', { app_id }, headers);
  assert.equal(made.status, 201, made.text);
  const id = made.json().session_id;
  const chat = (message, config, more = {}) =>
    server.ask('POST', '/v1/chat', { session_id: id, message, config }, { ...headers, ...more });
  return { id, chat,
    async say(message, config) {
      const res = await chat(message, config);
      assert.equal(res.status, 200, res.text);
      return config?.stream ? events(res.text) : res.json();
    },
    async history() {
      const res = await server.ask('GET', `/v1/session/${id}/history`, undefined, headers);
      assert.equal(res.status, 200, res.text);
      return res.json().messages;
    } };
}

// The events of a stream, each [name, data].
function events(text) {
  assert.ok(text === '' || text.endsWith('\n\n'), 'the last event is whole');
  return text.split('\n\n').slice(0, -1).map((event) => {
    const [name, data, ...more] = event.split('\n');
    assert.equal(more.length, 0, event);
    assert.match(name, /^event: (message|done|error)$/);
    assert.match(data, /^data: \{/);
    return [name.slice(7), JSON.parse(data.slice(6))];
  });
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const said = (messages) => messages.map((one) => `${one.role}: ${one.content}`);

module.exports = { OpenAI, answer, chunk, completion, events, onFullDisk, said, serve, session, tempFolder, until, upstream, uuid };
