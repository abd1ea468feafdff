// The official TypeScript SDK client, unmodified, against two brokers. Its own schemas validate
// every answer it takes.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { World, root, sleep, until } from '../lib/errand.mjs';
import { checked, schemaIsHere } from '../lib/schema.mjs';

const require = createRequire(path.join(root, 'build/node/noop.js'));
const base = path.dirname(require.resolve('@modelcontextprotocol/sdk/package.json'));
const sdk = (name) => import(pathToFileURL(path.join(base.replace(/dist.*$/, ''), 'dist/esm', name)));

const { Client } = await sdk('client/index.js');
const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
const { CallToolResultSchema, CreateTaskResultSchema, TaskStatusNotificationSchema, ToolListChangedNotificationSchema } = await sdk('types.js');

const w = new World();
const brokers = [];
let key;

const tools = {
  tools: [
    { name: 'greet', description: 'Says hello.', inputSchema: { type: 'object', properties: { name: { type: 'string' } } }, run: { command: ['sh', '-c', 'echo "hello $1"', 'sh', '{name}'] } },
    { name: 'slow', description: 'Takes a while.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'sleep 1.2; echo done'] }, pollInterval: '200ms' },
    { name: 'long', description: 'Takes long.', inputSchema: { type: 'object' }, run: { command: ['sleep', '60'] }, pollInterval: '200ms' },
    { name: 'fail', description: 'Fails.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'echo oh no >&2; exit 1'] }, pollInterval: '100ms' },
  ],
};

before(async () => {
  await w.startRedis();
  const args = ['--auth', 'key', '--rate', '0'];
  brokers.push(await w.startBroker({ args }), await w.startBroker({ args }));
  await w.startWorker({ tools });
  key = await w.newKey('sdk');
  await w.connect(brokers[0], { key, tool: 'greet' });
  await w.connect(brokers[1], { key, tool: 'greet' });
});
after(() => w.stop());

// Each request goes to the next broker: nothing may depend on which one it meets.
let turn = 0;
const roundRobin = (url, init) => {
  const to = new URL(url);
  to.port = String(brokers[turn++ % brokers.length].port);
  return fetch(to, init);
};

async function client(t, capabilities = {}) {
  const c = new Client({ name: 'interop', version: '1' }, { capabilities });
  const transport = new StreamableHTTPClientTransport(new URL(brokers[0].url), {
    fetch: roundRobin,
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await c.connect(transport);
  t.after(async () => {
    await transport.terminateSession();
    await c.close();
  });
  return c;
}

test('the official schema is at hand and was used', () => {
  assert.equal(schemaIsHere, true);
  assert.ok(checked > 0);
});

test('the client negotiates, lists tools and calls one plainly', async (t) => {
  const c = await client(t);
  assert.equal(c.getServerVersion().name, 'errand');
  const { tools: listed } = await c.listTools();
  assert.deepEqual(listed.map((x) => x.name), ['fail', 'greet', 'long', 'slow']);
  const r = await c.callTool({ name: 'greet', arguments: { name: 'sdk' } });
  assert.equal(r.content[0].text.trim(), 'hello sdk');
  await c.ping();
});

test('its streaming call goes from taskCreated over taskStatus to the result', async (t) => {
  const c = await client(t);
  const seen = [];
  for await (const m of c.experimental.tasks.callToolStream({ name: 'slow', arguments: {} }, CallToolResultSchema, { task: { ttl: 60000 } })) {
    seen.push(m);
  }
  assert.equal(seen[0].type, 'taskCreated');
  assert.equal(seen[0].task.status, 'working');
  assert.ok(seen.some((m) => m.type === 'taskStatus'));
  assert.equal(seen.at(-1).type, 'result');
  assert.equal(seen.at(-1).result.content[0].text.trim(), 'done');
});

test('a failing tool ends its streaming call with an error, and the result is still to be had', async (t) => {
  const c = await client(t);
  const seen = [];
  for await (const m of c.experimental.tasks.callToolStream({ name: 'fail', arguments: {} }, CallToolResultSchema, { task: {} })) seen.push(m);
  assert.equal(seen.at(-1).type, 'error');
  const r = await c.experimental.tasks.getTaskResult(seen[0].task.taskId, CallToolResultSchema);
  assert.equal(r.isError, true);
  assert.match(r.content[0].text, /oh no/);
});

test('get, list, cancel and the blocking result', async (t) => {
  const c = await client(t);
  const created = await c.request({ method: 'tools/call', params: { name: 'long', arguments: {}, task: {} } }, CreateTaskResultSchema);
  const { taskId } = created.task;
  assert.equal((await c.experimental.tasks.getTask(taskId)).status, 'working');
  const ids = [];
  let cursor;
  do {
    const page = await c.experimental.tasks.listTasks(cursor);
    ids.push(...page.tasks.map((x) => x.taskId));
    cursor = page.nextCursor;
  } while (cursor);
  assert.ok(ids.includes(taskId));
  const waiting = c.experimental.tasks.getTaskResult(taskId, CallToolResultSchema).catch((e) => e);
  assert.equal((await c.experimental.tasks.cancelTask(taskId)).status, 'cancelled');
  const e = await waiting;
  assert.equal(e.code, -32603);
  await assert.rejects(c.experimental.tasks.cancelTask(taskId), (x) => x.code === -32602);
});

// The client opens its stream in the background after the handshake. Those of other tests have ended.
const streamIsOpen = () => until('its stream', async () => {
  const open = await Promise.all(brokers.map((b) => w.metric(b, 'errand_http_streams')));
  return open.reduce((sum, n) => sum + n, 0) === 1;
});

test('status notifications arrive on the stream that the client opens by itself', async (t) => {
  const c = await client(t);
  const told = [];
  c.setNotificationHandler(TaskStatusNotificationSchema, (n) => { told.push(n.params); });
  await streamIsOpen();
  const created = await c.request({ method: 'tools/call', params: { name: 'slow', arguments: {}, task: {} } }, CreateTaskResultSchema);
  await until('completed is told', () => told.some((p) => p.taskId === created.task.taskId && p.status === 'completed'));
});

test('list_changed is told when a worker brings a tool', async (t) => {
  const c = await client(t);
  let changed = 0;
  c.setNotificationHandler(ToolListChangedNotificationSchema, () => { changed++; });
  await streamIsOpen();
  await w.startWorker({ tools: { tools: [{ name: 'zz', description: 'New.', inputSchema: { type: 'object' }, run: { command: ['true'] } }] } });
  await until('list_changed', () => changed > 0);
  // The next request goes to the other broker, which may hear of it a moment later.
  await until('it is listed', async () => (await c.listTools()).tools.some((x) => x.name === 'zz'));
});

test('a call that lasts is answered on its stream', async (t) => {
  const c = await client(t);
  const r = await c.callTool({ name: 'slow', arguments: {} });
  assert.equal(r.content[0].text.trim(), 'done');
});
