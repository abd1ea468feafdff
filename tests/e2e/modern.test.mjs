// The stateless dialect 2026-07-28 and its tasks extension: rows S, V, HX, B, C, X, Z.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, busy, lines, ofTask, sleep, until } from '../lib/errand.mjs';
import { Modern, TASKS } from '../lib/modern.mjs';
import { exchange } from '../lib/client.mjs';
import { Cutter } from '../lib/cutter.mjs';

const w = new World();
let a;
let b;

const tool = (name, command, more = {}) => ({ name, description: `${name}.`, inputSchema: { type: 'object' }, run: { command }, ...more });
const tools = {
  tools: [
    tool('greet', ['sh', '-c', 'echo "hello $1"', 'sh', '{name}'], { taskSupport: 'forbidden' }),
    tool('slow', ['sh', '-c', 'sleep "$1"; echo done', 'sh', '{seconds}'], { promoteAfter: '300ms', pollInterval: '500ms' }),
    tool('held', ['sh', '-c', 'while [ ! -e "$1" ]; do sleep 0.05; done; echo done', 'sh', '{file}'], { promoteAfter: '300ms', pollInterval: '500ms' }),
    tool('large', ['sh', '-c', 'while [ ! -e "$1" ]; do sleep 0.05; done; head -c 20000 /dev/zero | tr "\\0" x', 'sh', '{file}'], { promoteAfter: '100ms' }),
    tool('only', ['sh', '-c', 'sleep 1; echo done'], { taskSupport: 'required' }),
    tool('always', ['sh', '-c', 'while [ ! -e "$1" ]; do sleep 0.05; done', 'sh', '{file}'], { taskSupport: 'required' }),
    tool('fail', ['sh', '-c', 'echo oh no >&2; exit 1'], { taskSupport: 'required' }),
    tool('mark', ['sh', '-c', 'echo "$ERRAND_TASK_ID" >>"$1.began"; while [ ! -e "$1.go" ]; do sleep 0.05; done; echo x >>"$1"', 'sh', '{file}']),
    { ...tool('routed', ['cat']), inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, size: { type: 'integer', 'x-mcp-header': 'Size' } } } },
  ],
};

before(async () => {
  await w.startRedis();
  const args = ['--auth', 'key', '--rate', '0'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  await w.startWorker({ tools, args: ['--slots', '16'] });
  await w.connect(a, { key: await w.newKey('first'), tool: 'greet' });
  await w.connect(b, { key: await w.newKey('second'), tool: 'greet' });
});
after(() => w.stop());

let made = 0;
async function user(options = {}) {
  const c = new Modern(a.url, { tasks: true, key: await w.newKey(`modern${made++}`), ...options });
  w.clients.push(c);
  return c;
}
const file = () => `${w.dir}/file-${made++}`;
const letGo = (f) => fs.writeFileSync(f, '');
const plain = (options) => user({ tasks: false, ...options });
const server = 'io.modelcontextprotocol/serverInfo';
const ended = (c, taskId) => until('the end', async () => {
  const t = await c.get(taskId);
  return ['completed', 'failed', 'cancelled'].includes(t.status) && t;
});

test('B16 V-01 V-06 X-01 V-08 S-05: discover tells revisions, capabilities and the extension, and no legacy tasks', async () => {
  const c = await plain();
  const r = await c.result('server/discover');
  assert.equal(r.resultType, 'complete');
  assert.ok(r.supportedVersions.includes('2026-07-28'));
  assert.ok(r.supportedVersions.includes('2025-11-25'));
  assert.deepEqual(r.capabilities.extensions, { [TASKS]: {} });
  assert.equal(r.capabilities.tasks, undefined);
  assert.ok(Number.isInteger(r.ttlMs));
  assert.equal(r.cacheScope, 'public');
  assert.equal(r._meta[server].name, 'errand');
});

test('HX-01 S-06: no session is minted and none is needed', async () => {
  const c = await plain();
  const r = await c.request('tools/list', {}, { headers: { 'mcp-session-id': 'whatever' } });
  assert.equal(r.http.status, 200);
  assert.equal(r.http.headers['mcp-session-id'], undefined);
});

test('S-02: missing metadata is -32602 and HTTP 400, with the id', async () => {
  const c = await plain();
  const v = 'io.modelcontextprotocol/protocolVersion';
  const k = 'io.modelcontextprotocol/clientCapabilities';
  for (const params of [{}, { _meta: {} }, { _meta: { [k]: {} } }, { _meta: { [v]: '2026-07-28' } }, { _meta: { [v]: 5, [k]: {} } }, { _meta: { [v]: '2026-07-28', [k]: [] } }]) {
    const r = await c.request('tools/list', params, { bare: true, id: 'x' });
    assert.equal(r.http.status, 400, JSON.stringify(params));
    assert.equal(r.error.code, -32602);
    assert.equal(r.id, 'x');
  }
});

test('S-03: a request without clientInfo is served', async () => {
  const c = await plain();
  const r = await c.request('tools/list', { _meta: { ...c.meta(), 'io.modelcontextprotocol/clientInfo': undefined } }, { bare: true });
  assert.equal(r.http.status, 200);
});

test('V-02 V-03: an unknown revision is -32022 with what is supported and what was asked for', async () => {
  const c = await plain();
  const r = await c.request('tools/list', {}, { meta: { 'io.modelcontextprotocol/protocolVersion': 'v999.0.0' }, headers: { 'mcp-protocol-version': 'v999.0.0' } });
  assert.equal(r.http.status, 400);
  assert.equal(r.error.code, -32022);
  assert.equal(r.error.data.requested, 'v999.0.0');
  const { supportedVersions } = await c.result('server/discover');
  for (const v of r.error.data.supported) assert.ok(supportedVersions.includes(v));
});

test('HX-06: header and body must name one revision', async () => {
  const c = await plain();
  for (const h of [undefined, '2025-11-25', '2026-07-29']) {
    const r = await c.request('tools/list', {}, { headers: { 'mcp-protocol-version': h } });
    assert.equal(r.http.status, 400, h);
    assert.equal(r.error.code, -32020);
  }
});

test('B16 HX-07 HX-08 HX-09 X-22: Mcp-Method and Mcp-Name are checked by value, not by the case of their names', async () => {
  const c = await plain();
  const call = (headers) => c.request('tools/call', { name: 'greet', arguments: { name: 'x' } }, { headers });
  for (const h of [{ 'mcp-method': undefined }, { 'mcp-method': 'tools/list' }, { 'mcp-method': 'TOOLS/CALL' }, { 'mcp-name': undefined }, { 'mcp-name': 'slow' }, { 'mcp-name': 'GREET' }]) {
    const r = await call(h);
    assert.equal(r.http.status, 400, JSON.stringify(h));
    assert.equal(r.error.code, -32020, JSON.stringify(h));
  }
  assert.equal((await call({ 'mcp-name': '  greet  ' })).http.status, 200);
  assert.equal((await call({ 'mcp-name': `=?base64?${Buffer.from('greet').toString('base64')}?=` })).http.status, 200);
  for (const bad of ['=?base64?Z3JlZXQ?=', '=?base64?Z3Jl*XQ=?=']) assert.equal((await call({ 'mcp-name': bad })).error.code, -32020, bad);
});

test('HX-10: Mcp-Param headers repeat the arguments they are marked for', async () => {
  const c = await plain();
  const call = (args, headers) => c.request('tools/call', { name: 'routed', arguments: args }, { headers });
  assert.equal((await call({ region: 'eu', size: 42 }, { 'mcp-param-region': 'eu', 'mcp-param-size': '42.0' })).http.status, 200);
  assert.equal((await call({}, {})).http.status, 200);
  assert.equal((await call({ region: null }, {})).http.status, 200);
  for (const [args, headers] of [[{ region: 'eu' }, {}], [{ region: 'eu' }, { 'mcp-param-region': 'us' }], [{ region: 'eu' }, { 'mcp-param-region': '=?base64?***?=' }], [{ size: 42 }, { 'mcp-param-size': '43' }]]) {
    const r = await call(args, headers);
    assert.equal(r.http.status, 400);
    assert.equal(r.error.code, -32020);
  }
});

test('B16 V-04 V-05: methods of the handshake revisions are -32601 and HTTP 404', async () => {
  const c = await user();
  for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'tasks/list', 'tasks/result', 'unknown/method']) {
    const r = await c.request(method, {}, { id: 9 });
    assert.equal(r.http.status, 404, method);
    assert.equal(r.error.code, -32601, method);
    assert.equal(r.id, 9);
  }
});

test('C-01 C-02 C-03: tools/list is cacheable, alike at both brokers, without execution', async () => {
  const c = await plain();
  const one = await c.result('tools/list');
  const two = await c.at(b).result('tools/list');
  assert.deepEqual(one, two);
  assert.ok(Number.isInteger(one.ttlMs));
  assert.ok(['public', 'private'].includes(one.cacheScope));
  assert.ok(one.tools.every((t) => t.execution === undefined));
});

test('B16 X-24 S-08 X-27: params.task is ignored; a plain result is complete and names the server', async () => {
  const c = await user();
  const r = await c.request('tools/call', { name: 'greet', arguments: { name: 'you' }, task: {} });
  assert.equal(r.result.resultType, 'complete');
  assert.equal(r.result.content[0].text.trim(), 'hello you');
  assert.equal(r.result._meta[server].name, 'errand');
});

test('B18 X-02 X-03 X-06 X-08 X-13: a slow call becomes a task after promoteAfter, for those who declared it, and only them', async () => {
  const c = await user();
  const f = file();
  const t = await c.call('held', { file: f });
  assert.equal(t.resultType, 'task');
  assert.equal(t.status, 'working');
  assert.equal(t.pollIntervalMs, 500);
  assert.ok(Number.isInteger(t.ttlMs) && t.ttlMs > 0);
  for (const k of ['task', 'result', 'error', 'inputRequests', 'requestState', 'ttl', 'pollInterval']) assert.equal(t[k], undefined);
  letGo(f);
  const d = await ended(c.at(b), t.taskId);
  assert.equal(d.resultType, 'complete');
  assert.equal(d.result.content[0].text.trim(), 'done');
  const p = await plain();
  const r = await p.call('slow', { seconds: '1' });
  assert.equal(r.resultType, 'complete');
  assert.equal(r.content[0].text.trim(), 'done');
});

test('B16 X-04 X-07 Z-05: a tool that runs only as a task is -32021 without the extension, and a task at once with it', async () => {
  const p = await plain({ capabilities: { tasks: { requests: {} } } });
  const r = await p.request('tools/call', { name: 'only', arguments: {} });
  assert.equal(r.http.status, 400);
  assert.equal(r.error.code, -32021);
  assert.deepEqual(r.error.data.requiredCapabilities.extensions, { [TASKS]: {} });
  const c = await user();
  // What becomes a task only after a time would be late each time; a machine that stalls is not.
  const f = file();
  const took = [];
  let t;
  while (took.length < 4 && !(took.at(-1) < busy(500))) {
    const began = Date.now();
    t = await c.call('always', { file: f });
    took.push(Date.now() - began);
    assert.equal(t.resultType, 'task');
  }
  assert.ok(took.at(-1) < busy(500), `${took} ms`);
  assert.equal((await c.at(b).get(t.taskId)).taskId, t.taskId);
  letGo(f);
});

test('X-10 X-11 X-26 B9: isError is completed here, with the result inlined and no related-task', async () => {
  const c = await user();
  const t = await c.call('fail');
  const d = await ended(c, t.taskId);
  assert.equal(d.status, 'completed');
  assert.equal(d.result.isError, true);
  assert.equal(d.result.resultType, 'complete');
  assert.match(d.result.content[0].text, /oh no/);
  assert.equal(d.result._meta?.['io.modelcontextprotocol/related-task'], undefined);
});

test('X-20: undeclared get, update and cancel are -32021 before any look-up', async () => {
  const p = await plain();
  for (const [method, params] of [['tasks/get', {}], ['tasks/cancel', {}], ['tasks/update', { inputResponses: {} }]]) {
    const r = await p.request(method, { taskId: 'nope', ...params });
    assert.equal(r.error.code, -32021, method);
    assert.equal(r.http.status, 400);
  }
});

test('B8 X-16 X-23 O-05: unknown and foreign ids are -32602 with the same bytes', async () => {
  const c = await user();
  const d = await user();
  const t = await c.call('only');
  const unknown = t.taskId.slice(0, 2) + 'A'.repeat(22);
  for (const [method, params] of [['tasks/get', {}], ['tasks/cancel', {}], ['tasks/update', { inputResponses: {} }]]) {
    const foreign = await d.request(method, { taskId: t.taskId, ...params }, { id: 1 });
    const none = await d.request(method, { taskId: unknown, ...params }, { id: 1 });
    assert.equal(foreign.error.code, -32602);
    assert.equal(foreign.http.text, none.http.text);
  }
});

test('X-17: cancel is an empty acknowledgement, also of what has ended', async () => {
  const c = await user();
  const t = await c.call('slow', { seconds: '30' });
  for (let i = 0; i < 2; i++) {
    const r = await c.at(i ? a : b).result('tasks/cancel', { taskId: t.taskId });
    assert.equal(r.resultType, 'complete');
    assert.equal(r.taskId, undefined);
    assert.equal(r.status, undefined);
  }
  assert.equal((await c.get(t.taskId)).status, 'cancelled');
});

test('HX-05: a client that leaves a plain call cancels it; one that leaves a task does not', async () => {
  const c = await plain();
  const f = file();
  const cut = new AbortController();
  const call = c.call('mark', { file: f }, { signal: cut.signal }).catch((e) => e.name);
  await until('it waits', async () => (await w.metric(a, 'errand_waiters')) === 1);
  await until('it runs', () => lines(`${f}.began`).length === 1);
  cut.abort();
  assert.equal(await call, 'AbortError');
  await until('its job is gone', () => ofTask(lines(`${f}.began`)[0]).length === 0);
  letGo(`${f}.go`);
  await sleep(500);
  assert.equal(fs.existsSync(f), false);
  assert.equal(lines(`${f}.began`).length, 1);
});

test('HX-05: a client that leaves a call whose key found a task of its own leaves the task alone', async () => {
  const c = await user();
  const meta = { 'dev.errand/idempotency-key': 'shared' };
  const f = file();
  const t = await c.call('held', { file: f }, { meta });
  assert.equal(t.resultType, 'task');
  const cut = new AbortController();
  const call = (await plain({ key: c.key })).call('held', { file: f }, { meta, signal: cut.signal }).catch((e) => e.name);
  await until('it waits', async () => (await w.metric(a, 'errand_waiters')) === 1);
  await sleep(400);
  cut.abort();
  assert.equal(await call, 'AbortError');
  await until('it waits no longer', async () => (await w.metric(a, 'errand_waiters')) === 0);
  assert.equal((await c.get(t.taskId)).status, 'working');
  letGo(f);
  assert.equal((await ended(c, t.taskId)).status, 'completed');
});

test('Z-06 Z-09 Q2: a task is the same from both dialects for its principal', async () => {
  const key = await w.newKey('both');
  const m = await user({ key });
  const l = await w.connect(b, { key, tool: 'greet' });
  const t = await m.call('fail');
  await ended(m, t.taskId);
  assert.equal((await l.getTask(t.taskId)).status, 'failed');
  assert.equal((await l.result('tasks/result', { taskId: t.taskId })).isError, true);
  assert.ok((await l.result('tasks/list')).tasks.some((x) => x.taskId === t.taskId));
  const o = await l.createTask('slow', { seconds: '0' });
  const d = await ended(m, o.taskId);
  assert.equal(d.result.content[0].text.trim(), 'done');
  const p = await plain({ key });
  assert.equal((await p.get(o.taskId)).status, 'completed'); // Q3: made by a handshake session
  await assert.rejects(p.get(t.taskId), (e) => e.code === -32021);
});

test('B-01 B-02 B-03 B-04 X-19 B10: a subscription is acknowledged first, then tells its tasks, as tasks/get would', async () => {
  const c = await user();
  const stranger = await user();
  const f = file();
  const t = await c.call('held', { file: f });
  const foreign = await stranger.call('only');
  const s = await c.at(b).listen({ toolsListChanged: true, taskIds: [t.taskId, foreign.taskId, 'nope'] }, { id: 'sub' });
  assert.equal(s.messages[0].method, 'notifications/subscriptions/acknowledged');
  assert.deepEqual(s.messages[0].params.notifications, { toolsListChanged: true, taskIds: [t.taskId] });
  letGo(f);
  await until('completed is told', () => s.messages.some((m) => m.params?.status === 'completed'));
  const last = s.messages.at(-1);
  assert.equal(last.method, 'notifications/tasks');
  const { _meta, ...told } = last.params;
  assert.equal(_meta['io.modelcontextprotocol/subscriptionId'], 'sub');
  const { _meta: m2, resultType, ...got } = await c.get(t.taskId);
  assert.deepEqual(told, got);
  assert.ok(s.messages.every((m) => m.method.startsWith('notifications/')));
  s.close();
});

test('B-03 X-19: a task that ends while its subscription is being opened is told', async () => {
  const c = await user();
  const t = await c.call('slow', { seconds: '30' });
  const cutter = await new Cutter(`${w.dir}/cutter.sock`, w.socket).listen();
  const extra = await w.startBroker.call(Object.assign(Object.create(w), { redisUrl: cutter.url }), { args: ['--auth', 'key', '--rate', '0'] });
  await c.at(extra).result('server/discover'); // its key is known there
  cutter.watch();
  cutter.hold();
  const opening = c.at(extra).listen({ taskIds: [t.taskId, 'nope'] });
  await until('the task is looked up', () => cutter.seen.includes('get'));
  await c.at(b).result('tasks/cancel', { taskId: t.taskId });
  await until('its end is told to the broker', () => cutter.seen.includes('message:T'));
  cutter.answer();
  const s = await opening;
  await until('cancelled is told', () => s.messages.some((m) => m.params?.status === 'cancelled'));
  s.close();
  await extra.kill();
  cutter.close();
});

test('X-19: that a stranger asks for a task too keeps nothing from its owner', async () => {
  const c = await user();
  const stranger = await user();
  const f = file();
  const t = await c.call('large', { file: f });
  const s = await c.at(b).listen({ taskIds: [t.taskId] });
  const other = await stranger.at(b).listen({ taskIds: [t.taskId] });
  assert.equal(other.messages[0].params.notifications.taskIds, undefined);
  letGo(f);
  await until('completed is told', () => s.messages.some((m) => m.params?.status === 'completed'));
  assert.equal(s.messages.at(-1).params.result.content[0].text.length, 20000);
  assert.equal(other.messages.length, 1);
  s.close();
  other.close();
});

test('X-20 Q6: listening to tasks without the extension is -32021 as plain JSON', async () => {
  const p = await plain();
  const r = await p.request('subscriptions/listen', { notifications: { taskIds: [] } });
  assert.equal(r.http.status, 400);
  assert.equal(r.error.code, -32021);
});

test('B-05 B22: a broker that leaves ends its subscriptions with their result', async () => {
  const c = await user();
  const extra = await w.startBroker({ args: ['--auth', 'key', '--rate', '0', '--grace', '20s'] });
  const s = await c.at(extra).listen({ toolsListChanged: true }, { id: 5 });
  assert.equal(await extra.kill('SIGTERM'), 0);
  await until('its end is read', () => s.closed);
  assert.equal(s.messages.at(-1).id, 5);
  assert.equal(s.messages.at(-1).result.resultType, 'complete');
});

test('B16 V-07 Z-01 Z-04 Z-07: --dialects l makes a modern opening fall back, m serves nothing else', async () => {
  const l = await w.startBroker({ args: ['--auth', 'none', '--dialects', 'l'] });
  const m = await w.startBroker({ args: ['--auth', 'none', '--dialects', 'm'] });
  const c = new Modern(l.url);
  w.clients.push(c);
  const r = await c.request('server/discover');
  assert.ok(r.http.status >= 400 && ![-32020, -32021, -32022].includes(r.error.code));
  await w.connect(l, { tool: null });
  assert.equal((await c.at(m).request('server/discover')).result.supportedVersions.length, 1);
  for (const method of ['GET', 'DELETE']) assert.equal((await exchange(m.url, { method })).status, 405);
  const old = await w.connect(m, { raw: true });
  const i = await old.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } });
  assert.ok(i.error);
});
