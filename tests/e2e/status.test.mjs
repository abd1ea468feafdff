// What a running job says of itself is seen at every broker, and by nobody else: family B10.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, busy, ran, sleep, until } from '../lib/errand.mjs';

const w = new World();
let a;
let b;
let worker;

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  worker = await w.startWorker({ args: ['--slots', '8'] });
});
after(() => w.stop());

const connect = (broker, options) => w.connect(broker, { tool: 'sleep', ...options });
const statuses = (stream, taskId) => stream.messages.filter((m) => m.method === 'notifications/tasks/status' && m.params.taskId === taskId).map((m) => m.params);

test('B10: the status text of a running job is seen at the other broker within a second, and moves on', async () => {
  const c = await connect(a);
  const { taskId } = await c.createTask('sleep', { ms: 5000 });
  const began = Date.now();
  const first = await until('a status text', async () => {
    const t = await c.at(b).getTask(taskId);
    return t.statusMessage && t;
  });
  assert.ok(ran(began) < busy(1300));
  assert.equal(first.status, 'working');
  assert.match(first.statusMessage, /^slept \d+ of 5000 ms$/);
  const seen = new Set();
  let last = first;
  await until('the end', async () => {
    const t = await c.at(b).getTask(taskId);
    if (t.status === 'working') seen.add(t.statusMessage);
    if (t.statusMessage !== last.statusMessage) assert.ok(t.lastUpdatedAt >= last.lastUpdatedAt);
    // Nothing but a change moves it.
    if (t.lastUpdatedAt !== last.lastUpdatedAt) assert.notDeepEqual({ ...t, lastUpdatedAt: 0 }, { ...last, lastUpdatedAt: 0 });
    last = t;
    return t.status === 'completed';
  }, 20000);
  const amounts = [...seen].map((m) => Number(m.split(' ')[1]));
  assert.ok(amounts.length >= 2, `${[...seen]}`);
  assert.deepEqual(amounts, [...amounts].sort((x, y) => x - y));
  const done = await c.getTask(taskId);
  await sleep(300);
  assert.deepEqual(await c.at(b).getTask(taskId), done, 'what has ended does not change');
});

test('B10: status notifications reach the session\'s stream in order, none after the last', async () => {
  const c = await connect(a);
  const stream = await c.at(b).openStream();
  const stranger = await (await connect(b)).openStream();
  const { taskId } = await c.createTask('sleep', { ms: 4000 });
  await until('the end', () => statuses(stream, taskId).some((t) => t.status === 'completed'), 20000);
  await sleep(500);
  const all = statuses(stream, taskId);
  assert.equal(all.at(-1).status, 'completed');
  assert.equal(all.filter((t) => t.status === 'completed').length, 1);
  const amounts = all.filter((t) => t.status === 'working').map((t) => Number(t.statusMessage.split(' ')[1]));
  assert.ok(amounts.length >= 2, JSON.stringify(all));
  assert.deepEqual(amounts, [...amounts].sort((x, y) => x - y));
  const times = all.map((t) => t.lastUpdatedAt);
  assert.deepEqual(times, [...times].sort());
  assert.deepEqual(stranger.messages, []);
});

test('B10: after a cancel nothing more is told of a job that still runs', async () => {
  const c = await connect(a);
  const stream = await c.openStream();
  const { taskId } = await c.createTask('sleep', { ms: 60000 });
  await until('it says something', () => statuses(stream, taskId).length > 0);
  await c.result('tasks/cancel', { taskId });
  await until('the end is told', () => statuses(stream, taskId).some((t) => t.status === 'cancelled'), 1000);
  const t = await c.getTask(taskId);
  await sleep(700);
  assert.equal(statuses(stream, taskId).at(-1).status, 'cancelled');
  assert.deepEqual(await c.getTask(taskId), t);
});

test('B10 B1: the status text outlives the broker it was asked at, and is the new worker\'s after a crash', async () => {
  const c = await connect(a);
  const { taskId } = await c.createTask('sleep', { ms: 60000 });
  await until('a status text', async () => (await c.getTask(taskId)).statusMessage);
  await worker.kill();
  const port = b.port;
  await b.kill();
  b = await w.startBroker({ args: ['--rate', '0'], port });
  assert.match((await c.at(b).getTask(taskId)).statusMessage, /slept/);
  await c.result('tasks/cancel', { taskId });
});
