// --durability wait:1 with a real replica: a handle is returned when the replica has the task too.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, busy, freePort, lines, ran, until } from '../lib/errand.mjs';
import { Redis } from '../lib/resp.mjs';

const w = new World();
const tools = { tools: [
  { name: 'job', description: 'Runs.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'echo ran >>"$1"; echo ran', 'sh', '{file}'] } },
  { name: 'never', description: 'Is for a worker that is gone.', inputSchema: { type: 'object' }, run: { command: ['true'] } }] };
let replica;
let copy; // a connection to it
let broker;
let c;

before(async () => {
  const port = await freePort();
  await w.startRedis({ args: ['--port', String(port), '--bind', '127.0.0.1', '--repl-diskless-sync-delay', '0'] });
  const dir = path.join(w.dir, 'replica');
  const socket = path.join(dir, 'redis.sock');
  fs.mkdirSync(dir);
  replica = w.run('replica', [w.server, '--port', '0', '--unixsocket', socket, '--dir', dir, '--save', '', '--replicaof', `127.0.0.1 ${port}`]);
  await until('the replica follows', async () => /master_link_status:up/.test(await new Redis(socket).call('INFO', 'replication').catch(() => '')), 10000, 100);
  copy = new Redis(socket);
  broker = await w.startBroker({ args: ['--durability', 'wait:1', '--rate', '0', '--max-running', '0', '--tool-grace', '10m'] });
  const worker = await w.startWorker({ tools });
  c = await w.connect(broker, { tool: 'never' });
  await worker.kill('SIGTERM');
  await w.startWorker({ tools: { tools: tools.tools.slice(0, 1) } });
});
after(() => {
  copy?.close();
  return w.stop();
});

const create = (name, args = {}, more = {}) => c.request('tools/call', { name, arguments: args, task: {}, ...more });
const stateOf = (db, id) => db.call('HGET', `errand:{0}:t:${id}`, 's');

test('wait:1: when the handle is there, the replica has the task; many creations share their waits', async () => {
  const { taskId } = await c.createTask('never', {});
  assert.equal(await stateOf(copy, taskId), 'w');
  const began = Date.now();
  const all = await Promise.all(Array.from({ length: 100 }, () => create('never')));
  for (const r of all) assert.equal(await stateOf(copy, r.result.task.taskId), 'w');
  assert.ok(ran(began) < busy(10000), `${ran(began)} ms`);
});

test('wait:1: a replica that hangs: 503 in time, and the task is cancelled; with an idempotency key it stays for the next try', async (t) => {
  replica.signal('SIGSTOP');
  t.after(() => replica.signal('SIGCONT'));
  const before = new Set(await w.keys('*:t:*'));
  const began = Date.now();
  const r = await create('never');
  assert.ok(ran(began) < busy(4000), `${ran(began)} ms`);
  assert.equal(r.error?.code, -32603);
  assert.equal(r.http.status, 503);
  assert.match(r.error.message, /did not reach enough replicas/);
  const [key] = (await w.keys('*:t:*')).filter((k) => !before.has(k));
  await until('it is cancelled', async () => (await w.db.call('HGET', key, 's')) === 'x');

  const file = path.join(w.dir, 'effects');
  const _meta = { 'dev.errand/idempotency-key': 'once' };
  const first = await create('job', { file }, { _meta });
  assert.equal(first.http.status, 503);
  assert.equal((await c.callTool('job', { file: '/dev/null' })).content[0].text.trim(), 'ran', 'a plain call returns no handle and waits for nobody');
  replica.signal('SIGCONT');
  const again = await until('the replica is heard again', async () => (await create('job', { file }, { _meta })).result, 15000, 100);
  assert.equal((await c.result('tasks/result', { taskId: again.task.taskId })).content[0].text.trim(), 'ran');
  assert.deepEqual(lines(file), ['ran']);
});

test('wait:1: without a replica creations fail, all else works', async () => {
  await replica.kill();
  const r = await create('never');
  assert.equal(r.http.status, 503);
  assert.equal((await c.callTool('job', { file: '/dev/null' })).content[0].text.trim(), 'ran');
  assert.equal((await fetch(`${broker.origin}/readyz`)).status, 200);
});
