// The handshake, sessions, and the envelope: rows L, H, U, J of the 2025-11-25 revision.
import assert from 'node:assert/strict';
import { before, after, test } from 'node:test';
import { World, busy, ran, until } from '../lib/errand.mjs';
import { exchange } from '../lib/client.mjs';

const w = new World();
let broker;
let other;

before(async () => {
  await w.startRedis();
  [broker, other] = await Promise.all([w.startBroker({ args: ['--rate', '0'] }), w.startBroker({ args: ['--rate', '0'] })]);
});
after(() => w.stop());

const connect = (options) => w.connect(broker, { tool: null, ...options });
const rpc = (method, params, id = 1) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };

test('L-03: each supported revision is echoed', async () => {
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26']) {
    const c = await connect({ version });
    assert.equal(c.server.protocolVersion, version);
  }
});

test('L-04 L-05 Z-08: any other revision is answered with the newest of ours, not with an error', async () => {
  for (const version of ['1.0.0', '2026-07-28', '']) {
    const c = await connect({ version });
    assert.equal(c.server.protocolVersion, '2025-11-25');
  }
});

test('T-01 L-02 L-09 U-13 W-01: the answer declares tools and tasks as objects', async () => {
  const c = await connect();
  assert.deepEqual(c.server.capabilities.tasks.requests, { tools: { call: {} } });
  assert.deepEqual(c.server.capabilities.tasks.cancel, {});
  assert.equal(c.server.capabilities.tools.listChanged, true);
  assert.equal(c.server.serverInfo.name, 'errand');
  assert.deepEqual(c.server.capabilities.logging, {});
});

test('T-96: without authentication tasks/list is neither declared nor served', async () => {
  const c = await connect();
  assert.equal(c.server.capabilities.tasks.list, undefined);
  const a = await c.request('tasks/list');
  assert.equal(a.error.code, -32601);
});

test('L-11: a session of an older revision has no tasks', async () => {
  const c = await connect({ version: '2025-06-18' });
  assert.equal(c.server.capabilities.tasks, undefined);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/list']) {
    const a = await c.request(method, { taskId: 'x' });
    assert.equal(a.error.code, -32601, method);
  }
});

test('initialize with more about a client than a session keeps is -32602, and makes none', async () => {
  const c = await connect({ raw: true });
  const about = (n) => ({ ...client, clientInfo: { ...client.clientInfo, title: 'x'.repeat(n) } });
  assert.ok((await c.request('initialize', about(60000))).result);
  const r = await Object.assign(c, { session: undefined }).request('initialize', about(70000));
  assert.equal(r.error.code, -32602);
  assert.match(r.error.message, /at most 64 KiB/);
  assert.equal(r.http.headers['mcp-session-id'], undefined);
});

test('initialize without its required members is -32602', async () => {
  for (const params of [undefined, {}, { ...client, protocolVersion: 5 }, { ...client, capabilities: undefined },
    { ...client, clientInfo: { name: 't' } }, { ...client, clientInfo: [] }]) {
    const c = await connect({ raw: true });
    const a = await c.request('initialize', params);
    assert.equal(a.error.code, -32602, JSON.stringify(params));
    assert.equal(a.http.headers['mcp-session-id'], undefined);
  }
});

test('H-26: session ids are visible ASCII, long and never alike', async () => {
  const ids = new Set();
  for (let i = 0; i < 50; i++) {
    const c = await connect();
    assert.match(c.session, /^[\x21-\x7e]{24}$/);
    ids.add(c.session);
  }
  assert.equal(ids.size, 50);
});

test('L-13: a session is served by every broker', async () => {
  const c = await connect();
  assert.deepEqual(await c.at(other).result('ping'), {});
  assert.deepEqual(await c.result('ping'), {});
});

test('L-01 H-27: a request before initialize, without a session, is HTTP 400', async () => {
  const c = await connect({ raw: true });
  const a = await c.request('tools/list');
  assert.equal(a.http.status, 400);
  assert.equal(a.error.code, -32600);
  assert.equal(a.id, 1);
});

test('H-28: an unknown session is 404 on every verb, at every broker', async () => {
  const c = await connect();
  for (const session of ['nope', 'A'.repeat(24), c.session.slice(0, 23), `${c.session}x`]) {
    for (const b of [broker, other]) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const r = await exchange(b.url, {
          method,
          headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'mcp-session-id': session },
          body: method === 'POST' ? rpc('ping') : undefined,
        });
        assert.equal(r.status, 404, `${method} ${session}`);
      }
    }
  }
});

test('H-28 H-29: after DELETE the session is 404 everywhere within a second', async () => {
  const c = await connect();
  await c.at(other).result('ping'); // the other broker remembers it now
  const d = await c.delete();
  assert.equal(d.status, 204);
  assert.equal((await c.request('ping')).http.status, 404);
  await until('the other broker knows', async () => (await c.at(other).request('ping')).http.status === 404, 1000);
  assert.equal((await c.delete()).status, 404);
});

test('H-32: a version header that is unknown, or not the one settled on, is 400', async () => {
  const c = await connect();
  for (const v of ['1999-01-01', '2025-06-18', 'x', '']) {
    const a = await c.request('ping', undefined, { headers: { 'mcp-protocol-version': v } });
    assert.equal(a.http.status, 400, v);
    assert.equal(a.id, c.nextId - 1);
  }
});

test('H-31: a session request without the version header works', async () => {
  const c = await connect();
  const a = await c.request('ping', undefined, { headers: { 'mcp-protocol-version': undefined } });
  assert.deepEqual(a.result, {});
});

test('H-33: header names are taken in any case', async () => {
  const c = await connect();
  const r = await exchange(broker.url, {
    headers: { 'content-type': 'application/json', accept: c.accept, 'MCP-SESSION-ID': c.session, 'mcp-PROTOCOL-version': '2025-11-25' },
    body: rpc('ping'),
  });
  assert.equal(r.status, 200);
});

test('H-03: a foreign Origin or Host is 403 on POST, GET and DELETE', async () => {
  const c = await connect();
  for (const bad of [{ origin: 'http://evil.example' }, { host: 'evil.example' }, { origin: 'null' }]) {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const r = await exchange(broker.url, { method, headers: { ...c.headers(), ...bad }, body: method === 'POST' ? rpc('ping') : undefined });
      assert.equal(r.status, 403, `${method} ${JSON.stringify(bad)}`);
    }
  }
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'https://localhost']) {
    assert.equal((await c.request('ping', undefined, { headers: { origin } })).http.status, 200, origin);
  }
});

test('H-03: the host of --public-url is served as Host, on any port, and no other by that', async () => {
  const b = await w.startBroker({ args: ['--public-url', 'https://Errand.example/base'] });
  const status = async (headers) => (await exchange(b.url, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }, body: rpc('initialize', client) })).status;
  for (const host of ['errand.example', 'errand.example:8443', new URL(b.url).host]) assert.equal(await status({ host }), 200, host);
  for (const host of ['errand.example.evil', 'errand', 'example', 'xerrand.example', 'evil.example', 'base']) assert.equal(await status({ host }), 403, host);
  assert.equal(await status({ host: 'errand.example', origin: 'https://evil.example' }), 403);
  const plain = await exchange(broker.url, { method: 'POST', headers: { host: 'errand.example' }, body: rpc('initialize', client) });
  assert.equal(plain.status, 403, 'without the option');
});

test('H-01: other methods are 405 and say which are taken', async () => {
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
    const r = await exchange(broker.url, { method });
    assert.equal(r.status, 405, method);
    assert.match(r.headers.allow, /POST/);
  }
});

test('H-07: batches are refused without an id', async () => {
  const c = await connect();
  for (const body of ['[]', `[${rpc('ping')}]`, `[${rpc('ping', undefined, 1)},${rpc('ping', undefined, 2)}]`]) {
    const r = await c.post(body);
    assert.equal(r.status, 400);
    assert.equal(r.messages[0].error.code, -32600);
    assert.ok(!('id' in r.messages[0]));
  }
});

test('H-08 J-07 U-04 U-06 T-80: notifications and responses are 202 with an empty body, whatever they say', async () => {
  const c = await connect();
  for (const m of [{ method: 'notifications/nothing' }, { method: 'notifications/cancelled', params: {} },
    { method: 'notifications/cancelled', params: { requestId: 99 } }, { method: 'tools/call', params: { name: 5 } },
    { method: 'notifications/tasks/status', params: { taskId: 'bogus' } },
    { id: 77, result: {} }, { id: 'x', error: { code: 1, message: 'm' } }]) {
    const r = await c.post(JSON.stringify({ jsonrpc: '2.0', ...m }));
    assert.equal(r.status, 202, JSON.stringify(m));
    assert.equal(r.text, '');
  }
});

test('H-09: a response without a session is 400', async () => {
  const c = await connect({ raw: true });
  assert.equal((await c.post(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }))).status, 400);
});

test('H-10 J-08: an unknown method is -32601 on HTTP 200', async () => {
  const c = await connect();
  for (const method of ['nothing/here', 'x'.repeat(5000), 'TOOLS/LIST', 'tools/list ', 'prompts/set', 'roots/list']) {
    const a = await c.request(method);
    assert.equal(a.http.status, 200);
    assert.equal(a.error.code, -32601, method.slice(0, 40));
  }
});

test('T-03 T-20: task metadata on other requests is ignored', async () => {
  const c = await connect();
  assert.deepEqual(await c.result('ping', { task: {} }), {});
  assert.ok(Array.isArray((await c.result('tools/list', { task: { ttl: 'x' } })).tools));
});

test('U-01 L-06 L-07 L-08: ping answers exactly {}, before initialized too', async () => {
  const c = await connect({ raw: true });
  const a = await c.request('initialize', client);
  c.session = a.http.headers['mcp-session-id'];
  assert.deepEqual(await c.result('ping'), {});
});

test('J-02 J-03 J-05: ids are echoed byte for byte; what is no id is refused', async () => {
  const c = await connect();
  for (const id of ['1', '"1"', '0', '-1', '""', '9007199254740993', '12345678901234567890', '"\\u00e9\\n"', '"é"']) {
    const r = await c.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    assert.ok(r.text.includes(`"id":${id},`) || r.text.includes(`"id":${id}}`), `${id}: ${r.text}`);
  }
  for (const id of ['null', '1.5', 'true', '{}', '[1]', '1e400']) {
    const r = await c.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    assert.equal(r.status, 400, id);
    assert.equal(r.messages[0].error.code, -32600, id);
    assert.ok(!('id' in r.messages[0]), id);
  }
});

test('U-14 U-15: logging/setLevel takes the eight levels and refuses others', async () => {
  const c = await connect();
  for (const level of ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']) {
    assert.deepEqual(await c.result('logging/setLevel', { level }), {});
  }
  for (const level of ['loud', 5, undefined]) assert.equal((await c.request('logging/setLevel', { level })).error.code, -32602);
});

test('J-01: jsonrpc must be "2.0"', async () => {
  const c = await connect();
  for (const v of ['"1.0"', '2.0', 'null', undefined]) {
    const r = await c.post(v ? `{"jsonrpc":${v},"id":1,"method":"ping"}` : '{"id":1,"method":"ping"}');
    assert.equal(r.messages[0].error.code, -32600);
    assert.equal(r.messages[0].id, 1);
  }
});

test('J-04 H-02: what is not JSON is -32700, HTTP 400, without an id', async () => {
  const c = await connect();
  for (const body of ['', '{', 'nul', '{"jsonrpc":"2.0","id":1,"method":"ping"}x', '\ufeff{}', '{"a":"\\ud800"}', '{"a":01}', '{"a":"\n"}',
    Buffer.from([0x22, 0xff, 0x22]), Buffer.from([0x22, 0xc0, 0xaf, 0x22])]) {
    const r = await c.post(body);
    assert.equal(r.status, 400, String(body));
    assert.equal(r.messages[0].error.code, -32700, String(body));
    assert.ok(!('id' in r.messages[0]));
  }
});

test('B16: where the stateless dialect is off, a client that opens with it can fall back to initialize', async () => {
  const c = await w.connect(await w.startBroker({ args: ['--dialects', 'l'] }), { raw: true });
  const r = await c.post(rpc('server/discover', {
    _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
  }), { headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' } });
  assert.ok(r.status >= 400 && r.status < 500);
  assert.ok(![-32020, -32021, -32022].includes(r.messages[0].error.code));
  await c.initialize();
  assert.equal(c.server.protocolVersion, '2025-11-25');
});

test('H-19 H-20: GET opens an event stream at once, with the headers that proxies need', async () => {
  const c = await connect();
  const began = Date.now();
  const s = await c.openStream();
  assert.equal(s.status, 200);
  assert.ok(ran(began) < busy(200));
  assert.match(s.headers['content-type'], /^text\/event-stream/);
  assert.equal(s.headers['x-accel-buffering'], 'no');
  assert.match(s.headers['cache-control'], /no-store/);
});

test('H-19: GET without a session is 400, without an Accept of event streams 406', async () => {
  const c = await connect();
  const bare = await exchange(broker.url, { method: 'GET', headers: { accept: 'text/event-stream' } });
  assert.equal(bare.status, 400);
  const wrong = await exchange(broker.url, { method: 'GET', headers: { ...c.headers(), accept: 'application/json' } });
  assert.equal(wrong.status, 406);
});

test('H-28: the streams of a session end with it', async () => {
  const c = await connect();
  const s = await c.at(other).openStream();
  await c.delete();
  await until('it has ended', () => s.closed, 1000);
});

test('a body over the limit is 413 and creates nothing', async () => {
  const c = await connect();
  const r = await c.post(rpc('ping', { pad: 'x'.repeat(1100000) })).catch((e) => e);
  assert.equal(r.status, 413);
  assert.deepEqual(await c.result('ping'), {});
});

test('J12 J14: deep and wide JSON is refused quickly and harms nobody', async () => {
  const c = await connect();
  const deep = await c.post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`);
  assert.equal(deep.messages[0].error.code, -32600);
  const wide = await c.post(`[${Array(60000).fill('1').join(',')}]`);
  assert.equal(wide.status, 400);
  assert.deepEqual(await c.result('ping'), {});
});

test('an endpoint that is not there says where MCP is', async () => {
  const r = await exchange(`${broker.origin}/nothing`, { method: 'GET' });
  assert.equal(r.status, 404);
  assert.match(r.body.toString(), /\/mcp/);
});
