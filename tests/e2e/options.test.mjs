// Options of a broker that change what clients see, each at a broker that has it and beside one that
// has not; and what a broker says of two workers that do not agree.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exchange } from '../lib/client.mjs';
import { World, sleep, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';

const w = new World();
let plain;
let other;

const tool = (name, command, more = {}) => ({ name, description: 'A tool.', inputSchema: { type: 'object' }, run: { command }, ...more });
const tools = { tools: [
  tool('greet', ['echo', 'hello']),
  tool('fail', ['sh', '-c', 'echo broken pipe dream >&2; exit 3']),
  tool('own', ['echo', 'own'], { pollInterval: '700ms', ttl: '20m' }),
] };

before(async () => {
  await w.startRedis();
  const args = ['--iserror-status', 'completed', '--poll-interval', '250ms', '--default-ttl', '10m', '--max-ttl', '15m',
    '--origins', 'https://app.example,other.example', '--hosts', 'mcp.example,loopback', '--tool-grace', '1s'];
  [plain, other] = await Promise.all([w.startBroker(), w.startBroker({ args }), w.startWorker({ tools, args: ['--slots', '4'] })]);
});
after(() => w.stop());

const ended = (c, taskId) => until(`end of ${taskId}`, async () => {
  const t = await c.getTask(taskId);
  return t.status !== 'working' && t;
});

test('B9 T-53: --iserror-status completed: clients that drop what failed see it completed, and the payload stays', async () => {
  const c = await w.connect(plain, { tool: 'fail' });
  const { taskId } = await c.createTask('fail');
  const there = c.at(other);
  assert.equal((await ended(c, taskId)).status, 'failed');
  assert.equal((await there.getTask(taskId)).status, 'completed');
  const results = await Promise.all([c, there].map((at) => at.result('tasks/result', { taskId })));
  for (const r of results) {
    assert.equal(r.isError, true);
    assert.match(r.content[0].text, /broken pipe dream/);
  }
  const stream = await there.openStream();
  const second = await there.createTask('fail');
  await until('its end is told', () => stream.messages.some((m) => m.params?.taskId === second.taskId && m.params.status !== 'working'));
  assert.deepEqual([...new Set(stream.messages.filter((m) => m.params?.taskId === second.taskId).map((m) => m.params.status))].filter((s) => s !== 'working'), ['completed']);
  stream.close();
});

test('X-11 B9: the stateless dialect has no use for --iserror-status', async () => {
  const c = await w.connect(plain, { tool: 'fail' });
  const { taskId } = await c.createTask('fail');
  await ended(c, taskId);
  for (const at of [plain, other]) {
    const t = await new Modern(at.url, { tasks: true }).request('tasks/get', { taskId });
    assert.deepEqual([t.result.status, t.result.result.isError], ['completed', true]);
  }
});

test('T-45: --poll-interval is for tools that name none', async () => {
  const c = await w.connect(plain, { tool: 'own' });
  assert.equal((await c.createTask('greet')).pollInterval, 1000);
  assert.equal((await c.at(other).createTask('greet')).pollInterval, 250);
  for (const at of [plain, other]) assert.equal((await c.at(at).createTask('own')).pollInterval, 700);
});

test('T-41 T-99: a ttl is the client\'s, else the tool\'s, else --default-ttl, and never above --max-ttl', async () => {
  const c = await w.connect(plain, { tool: 'own' });
  const minutes = async (at, name, ttl) => (await c.at(at).createTask(name, {}, { ttl })).ttl / 60000;
  assert.deepEqual([await minutes(plain, 'greet'), await minutes(other, 'greet')], [60, 10]);
  assert.deepEqual([await minutes(plain, 'own'), await minutes(other, 'own')], [20, 15]);
  assert.deepEqual([await minutes(plain, 'own', 300000), await minutes(other, 'own', 300000)], [5, 5]);
  assert.deepEqual([await minutes(plain, 'own', null), await minutes(other, 'own', null)], [24 * 60, 15]);
});

test('H-03: --origins and --hosts say who is served, and nobody else is', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } });
  const status = async (at, headers) => (await exchange(at.url, { headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }, body })).status;
  const rows = [
    [{ origin: 'https://app.example' }, 403, 200],
    [{ origin: 'http://app.example' }, 403, 403], // a whole origin is that one
    [{ origin: 'https://app.example:8443' }, 403, 403],
    [{ origin: 'http://other.example:3000' }, 403, 200], // a host is that host
    [{ origin: 'https://app.example.evil.example' }, 403, 403],
    [{ origin: 'http://localhost:3000' }, 200, 403], // what is given stands in place of the default
    [{ host: 'mcp.example' }, 403, 200],
    [{ host: 'mcp.example:8443' }, 403, 200],
    [{ host: 'xmcp.example' }, 403, 403],
    [{ host: 'localhost:1' }, 200, 200],
  ];
  for (const [headers, here, there] of rows) {
    assert.deepEqual([await status(plain, headers), await status(other, headers)], [here, there], JSON.stringify(headers));
  }
});

test('what is not there is 404 or said to be missing, and never taken for something else', async () => {
  const ask = async (path, method = 'GET') => {
    const r = await fetch(`${plain.origin}${path}`, { method });
    assert.equal(r.headers.get('content-type'), 'application/json', path);
    return [r.status, (await r.json()).error];
  };
  // Clients look there after a 401: 404 says that there is no authorization server to go to.
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    const [status, why] = await ask(path);
    assert.equal(status, 404, path);
    assert.match(why, /JWT, which is not there yet.* keys made with errand key new$/);
  }
  const [status, error] = await ask('/.well-known/oauth-authorization-server');
  assert.deepEqual([status, typeof error.message], [404, 'string']);
  for (const method of ['GET', 'POST']) {
    const [is, why] = await ask('/console', method);
    assert.equal(is, 501);
    assert.match(why, /^the operator's page is not there yet/);
  }
});

test('W-11: a tool of a live worker is listed all the time, however short --tool-grace is', async () => {
  const c = await w.connect(other, { tool: 'greet' });
  const began = Date.now();
  // Longer than from one announcement to the next.
  while (Date.now() - began < 3500) {
    assert.ok((await c.result('tools/list')).tools.some((t) => t.name === 'greet'), `after ${Date.now() - began} ms`);
    await sleep(100);
  }
});

test('W-11: a tool whose worker is gone stays listed for --tool-grace, then it is not, and clients are told', async () => {
  const worker = await w.startWorker({ tools: { tools: [tool('passing', ['true'])] }, args: ['--lease', '2s'] });
  const c = await w.connect(other, { tool: 'passing' });
  const stream = await c.openStream();
  const changes = () => stream.messages.filter((m) => m.method === 'notifications/tools/list_changed').length;
  const lists = async (at) => (await c.at(at).result('tools/list')).tools.some((t) => t.name === 'passing');
  const before = changes();
  await worker.kill('SIGKILL');
  assert.equal(await lists(other), true);
  // It counts as alive for 15 s after what it said last.
  await until('it is gone', async () => !(await lists(other)), 60000, 200);
  await until('it was told', () => changes() > before);
  assert.equal(await lists(plain), true, 'where the grace is a minute');
  assert.equal((await c.request('tools/call', { name: 'passing', arguments: {} })).error.code, -32602);
  stream.close();
});

test('of two workers that define one tool differently the newest is listed, and both say so', async () => {
  const define = (description) => ({ tools: [{ ...tool('disputed', ['true']), description }] });
  const first = await w.startWorker({ tools: define('the first') });
  const c = await w.connect(plain, { tool: 'disputed' });
  const described = async () => (await c.result('tools/list')).tools.find((t) => t.name === 'disputed').description;
  assert.equal(await described(), 'the first');
  const second = await w.startWorker({ tools: define('the second') });
  await until('the newest is listed', async () => (await described()) === 'the second');
  const says = (p) => p.log.includes('event=TOOL_CONFLICT') && p.log.includes('tool=disputed');
  await until('both have said so', () => says(first) && says(second), 15000);
  assert.equal(await described(), 'the second', 'and it stays');
});
