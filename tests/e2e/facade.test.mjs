// --facade: plain tools for clients that declare no tasks (B29).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, sleep, until } from '../lib/errand.mjs';

const w = new World();
let a;

const tool = (name, command, more = {}) => ({ name, description: `${name}.`, inputSchema: { type: 'object' }, run: { command }, ...more });

before(async () => {
  await w.startRedis();
  a = await w.startBroker({ args: ['--auth', 'key', '--rate', '0', '--facade', '--tool-grace', '1s'] });
  await w.startWorker({ tools: { tools: [tool('only', ['sh', '-c', 'sleep 3; echo done'], { taskSupport: 'required' }), tool('fail', ['sh', '-c', 'echo no >&2; exit 1'], { taskSupport: 'required' }), tool('long', ['sleep', '60'], { taskSupport: 'required' })] } });
});
after(() => w.stop());

let made = 0;
const user = async (options = {}) => w.connect(a, { key: await w.newKey(`f${made++}`), tool: 'only', ...options });
const handle = (r) => JSON.parse(r.content[0].text);

test('B29: only clients that declare no tasks see the three tools', async () => {
  const c = await user();
  const names = (await c.result('tools/list')).tools.map((t) => t.name);
  assert.deepEqual(names.slice(-3), ['task_cancel', 'task_status', 'task_wait']);
  const host = await user({ capabilities: { tasks: {} } });
  assert.ok(!(await host.result('tools/list')).tools.some((t) => t.name.startsWith('task_')));
  assert.equal((await host.request('tools/call', { name: 'task_status', arguments: { taskId: 'x' } })).error.code, -32602);
  const old = await user({ version: '2025-06-18' });
  assert.ok((await old.result('tools/list')).tools.some((t) => t.name === 'task_wait'));
});

test('B29 W-03: a worker\'s tool of the same name is listed and called only where there is no facade', async () => {
  const extra = await w.startWorker({ tools: { tools: [tool('task_cancel', ['echo', 'mine']), tool('task_wait', ['echo', 'mine'])] } });
  const host = await user({ capabilities: { tasks: {} }, tool: 'task_wait' });
  assert.equal((await host.callTool('task_wait', { taskId: 'x' })).content[0].text, 'mine\n');
  const c = await user();
  const names = (await c.result('tools/list')).tools.map((t) => t.name).filter((n) => n.startsWith('task_'));
  assert.deepEqual(names, ['task_cancel', 'task_status', 'task_wait']);
  assert.equal((await c.callTool('task_wait', { taskId: 'x' })).isError, true);
  await extra.kill('SIGTERM');
  await until('its tools are gone', async () => !(await host.result('tools/list')).tools.some((t) => t.name === 'task_wait'));
});

test('B29: a tool that runs only as a task answers with its handle as text, and task_wait with its result', async () => {
  const c = await user();
  const t = handle(await c.callTool('only'));
  assert.equal(t.status, 'working');
  assert.equal(handle(await c.callTool('task_status', { taskId: t.taskId })).taskId, t.taskId);
  const early = handle(await c.callTool('task_wait', { taskId: t.taskId, timeoutMs: 100 }));
  assert.equal(early.status, 'working');
  const r = await c.callTool('task_wait', { taskId: t.taskId });
  assert.equal(r.content[0].text.trim(), 'done');
  assert.equal((await c.callTool('task_wait', { taskId: t.taskId })).content[0].text.trim(), 'done');
});

test('B29: a failed task is an error result', async () => {
  const c = await user();
  const t = handle(await c.callTool('fail'));
  const r = await c.callTool('task_wait', { taskId: t.taskId });
  assert.equal(r.isError, true);
});

test('B29: task_cancel stops it, and says so when there is nothing to stop', async () => {
  const c = await user();
  const t = handle(await c.callTool('long'));
  const wait = c.callTool('task_wait', { taskId: t.taskId });
  await sleep(300);
  assert.equal(handle(await c.callTool('task_cancel', { taskId: t.taskId })).status, 'cancelled');
  assert.equal((await wait).isError, true);
  assert.equal((await c.callTool('task_cancel', { taskId: t.taskId })).isError, true);
});

test('B29: another principal\'s task, an unknown and a malformed one look alike; timeouts are bounded', async () => {
  const c = await user();
  const d = await user();
  const t = handle(await c.callTool('long'));
  const texts = [];
  for (const taskId of [t.taskId, t.taskId.slice(0, 2) + 'A'.repeat(22)]) {
    const r = await d.callTool('task_status', { taskId });
    assert.equal(r.isError, true);
    texts.push(r.content[0].text);
  }
  assert.equal(texts[0], texts[1]);
  for (const args of [{}, { taskId: 5 }, { taskId: 'x' }]) assert.equal((await d.callTool('task_status', args)).isError, true);
  for (const timeoutMs of [-1, 60001, 'x', 1.5]) assert.equal((await c.callTool('task_wait', { taskId: t.taskId, timeoutMs })).isError, true);
  await c.callTool('task_cancel', { taskId: t.taskId });
});

test('a client that leaves while it waits harms nobody', async () => {
  const c = await user();
  const t = handle(await c.callTool('only'));
  const cut = new AbortController();
  const gone = c.callTool('task_wait', { taskId: t.taskId }, { signal: cut.signal }).catch((e) => e.name);
  await sleep(50);
  cut.abort();
  await gone;
  assert.equal((await c.callTool('task_wait', { taskId: t.taskId })).content[0].text.trim(), 'done');
});
