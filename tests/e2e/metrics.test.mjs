// What an operator sees: /metrics, the log, and traces (family B28, T-103, T-104).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, freePort, until } from '../lib/errand.mjs';

const w = new World();
let a;
let b;
let worker;
let port; // of the worker's metrics
let key;
let idle; // what the worker told before it had a job
let c;

const sh = (name, script, more = {}) => ({ name, description: 'Runs a line.', inputSchema: { type: 'object' }, taskSupport: 'optional', run: { command: ['sh', '-c', script] }, ...more });
const tools = [
  sh('env', 'echo "$TRACEPARENT"'),
  sh('slow', 'sleep 60'),
  sh('urgent', 'sleep 60', { priority: 'high' }),
];
const lost = sh('lost', 'kill -9 $(ps -o ppid= $(ps -o ppid= $$))', { attempts: 1 });

before(async () => {
  await w.startRedis();
  key = await w.newKey('alice');
  const args = ['--auth', 'key', '--log', 'json', '--rate', '0'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  port = await freePort();
  worker = await w.startWorker({ tools: { tools }, args: ['--metrics', `127.0.0.1:${port}`, '--slots', '2', '--log', 'json', '--lease', '5m'] });
  idle = await (await ask('/metrics')).text();
  c = await w.connect(a, { key, tool: 'env' });
});
after(() => w.stop());

// What has been logged so far; the last line may not be whole yet.
const logged = (p) => p.log.split('\n').slice(0, -1).filter((l) => l.startsWith('{')).map((l) => JSON.parse(l));
const line = (p, event, task) => until(`${event} of ${task}`, () => logged(p).find((l) => l.event === event && l.task === task));
const traceId = 'a1'.repeat(16);
const parent = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${parent}-01`;

test('B28: one trace from the client through both logs into the environment of the job, each with its own span', async () => {
  const viaMeta = await c.result('tools/call', { name: 'env', arguments: {}, task: {}, _meta: { traceparent } });
  const id = viaMeta.task.taskId;
  const r = await c.at(b).result('tasks/result', { taskId: id });
  const [, trace, span] = r.content[0].text.trim().split('-');
  assert.equal(trace, traceId);
  assert.notEqual(span, parent);
  assert.equal((await line(a, 'TASK_CREATED', id)).trace, traceId);
  assert.equal((await line(worker, 'JOB_ENDED', id)).trace, traceId);

  const c2 = await w.connect(a, { key, tool: 'env', headers: { traceparent: traceparent.replaceAll('a1', 'b2') } });
  const viaHeader = await c2.callTool('env', {});
  assert.equal(viaHeader.content[0].text.trim().split('-')[1], 'b2'.repeat(16));
});

test('B28: a call without a trace, or with a broken one, gets one of its own', async () => {
  for (const _meta of [{}, { traceparent: 'nonsense' }, { traceparent: `00-${'0'.repeat(32)}-${parent}-01` }]) {
    const r = await c.result('tools/call', { name: 'env', arguments: {}, _meta });
    assert.match(r.content[0].text.trim(), /^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  }
});

test('T-103: creation, end, retrieval and cancellation are logged with task, principal, request and trace; the key never', async () => {
  const { taskId } = await c.createTask('env', {});
  await c.at(b).result('tasks/result', { taskId });
  const created = await line(a, 'TASK_CREATED', taskId);
  assert.equal(created.principal, 'alice');
  assert.equal(created.tool, 'env');
  assert.match(created.trace, /^[0-9a-f]{32}$/);
  assert.match(String(created.request), /^\d+$/);
  const ended = await line(worker, 'JOB_ENDED', taskId);
  assert.equal(ended.principal, 'alice');
  assert.equal(ended.outcome, 'result');
  assert.equal(ended.trace, created.trace);
  assert.equal((await line(b, 'TASK_RETRIEVED', taskId)).principal, 'alice');
  const victim = await c.createTask('slow', {});
  await c.result('tasks/cancel', { taskId: victim.taskId });
  assert.equal((await line(a, 'TASK_CANCELLED', victim.taskId)).principal, 'alice');
  for (const p of [a, b, worker]) assert.equal(p.log.includes(key.slice(4)), false);
});

test('/metrics tells depth and age of the queue by class, what runs, and how long things took', async () => {
  const { db } = w;
  const running = [];
  for (let i = 0; i < 2; i++) running.push((await c.createTask('slow', {})).taskId);
  await until('both run', async () => (await w.metric(a, 'errand_tasks_running')) === 2, 10000, 200);
  const waiting = [];
  for (let i = 0; i < 3; i++) waiting.push((await c.createTask('slow', {})).taskId);
  waiting.push((await c.createTask('urgent', {})).taskId);
  const [[taskKey]] = [await db.call('KEYS', `*t:${waiting[0]}`)];
  await db.call('HINCRBY', taskKey, 'ct', '-30000');
  for (const broker of [a, b]) {
    const told = (name, is) => until(name, async () => is(await w.metric(broker, name)), 10000, 200);
    await told('errand_queue_ready{class="normal"}', (n) => n === 3);
    await told('errand_queue_ready{class="high"}', (n) => n === 1);
    await told('errand_queue_oldest_seconds{class="normal"}', (n) => n >= 30);
    assert.equal(await w.metric(broker, 'errand_queue_ready{class="low"}'), 0);
    assert.ok((await w.metric(broker, 'errand_queue_oldest_seconds{class="high"}')) < 30);
    await told('errand_workers', (n) => n === 1);
    await told('errand_queue_read_age_seconds', (n) => n <= 1);
  }
  for (const id of [...waiting, ...running]) await c.result('tasks/cancel', { taskId: id });
  assert.ok((await w.metric(a, 'errand_create_seconds_count')) >= 6);
  assert.ok((await w.metric(a, 'errand_redis_reply_seconds_count')) > 10);
  assert.ok((await w.metric(b, 'errand_wakeup_seconds_count')) >= 1);
  assert.ok((await w.metric(b, 'errand_wakeup_seconds_sum')) < 60);
  assert.ok((await w.metric(a, 'errand_tasks_ended_total{outcome="cancelled"}')) !== undefined);
});

test('two live workers that define one tool differently: the newest is listed, all log it, and a gauge says so as long as it lasts', async () => {
  const tool = (description) => ({ ...sh('twice', 'echo'), description });
  const conflicts = async (n) => { for (const x of [a, b]) await until(`${n} in conflict`, async () => (await w.metric(x, 'errand_tools_in_conflict')) === n, 10000, 100); };
  const args = ['--log', 'json'];
  const older = await w.startWorker({ tools: { tools: [tool('older')] }, args });
  await conflicts(0);
  const newer = await w.startWorker({ tools: { tools: [tool('newer')] }, args });
  await conflicts(1);
  const listed = async () => (await c.result('tools/list')).tools.find((t) => t.name === 'twice').description;
  assert.equal(await listed(), 'newer');
  for (const p of [a, b, older, newer]) await until('it is logged', () => logged(p).some((l) => l.event === 'TOOL_CONFLICT' && l.tool === 'twice'), 15000);
  newer.kill('SIGTERM');
  await newer.ended;
  await w.db.call('ZINCRBY', 'errand:{g}:seen', '-15000', ' twice'); // it is remembered for so long
  await conflicts(0);
  older.kill('SIGTERM');
  await older.ended;
});

const ask = (path) => fetch(`http://127.0.0.1:${port}${path}`);

test('a worker with --metrics tells how it is, and how soon it had its jobs', async () => {
  assert.deepEqual(await (await ask('/healthz')).json(), { status: 'ok' });
  assert.equal((await ask('/readyz')).status, 200);
  assert.equal((await ask('/else')).status, 404);
  const text = await (await ask('/metrics')).text();
  assert.match(text, /^errand_worker_slots 2$/m);
  assert.match(idle, /^errand_worker_slots_busy 0$/m);
  assert.match(text, /^errand_redis_up\{link="commands"\} 1$/m);
  assert.ok(Number(/^errand_worker_pickup_seconds_count (\d+)$/m.exec(text)[1]) >= 3);
  assert.doesNotMatch(text, /^errand_(queue_ready|dead_letters|workers)/m);
  assert.doesNotMatch(text, /alice/);
});

test('T-104: failed look-ups and refusals are counted by their reason', async () => {
  const before = (await w.metric(a, 'errand_task_lookups_failed_total')) ?? 0;
  await c.request('tasks/get', { taskId: `00${'A'.repeat(22)}` });
  assert.equal(await w.metric(a, 'errand_task_lookups_failed_total'), before + 1);
  assert.ok((await w.metric(a, 'errand_refused_total{reason="NOT_FOUND"}')) >= 1);
});

test('/metrics answers without Redis, with what it knew last and how old that is', async () => {
  await until('read once', async () => (await w.metric(a, 'errand_workers')) >= 1, 10000, 200);
  await w.redis.kill();
  await until('the link is known to be down', async () => (await w.metric(a, 'errand_redis_up{link="commands"}')) === 0);
  assert.ok((await w.metric(a, 'errand_workers')) >= 1);
  await until('the worker knows it too', async () => (await ask('/readyz')).status === 503);
  assert.equal((await ask('/healthz')).status, 200);
  await until('it ages', async () => (await w.metric(a, 'errand_queue_read_age_seconds')) >= 2, 10000, 200);
  assert.equal((await fetch(`${a.origin}/healthz`)).status, 200);
  await w.startRedis({ args: w.redisArgs });
  await until('it is fresh again', async () => (await w.metric(a, 'errand_queue_read_age_seconds')) <= 1, 20000, 200);
});

test('a worker lost with its job counts as a lapsed lease, and its last attempt as a dead letter', async () => {
  const doomed = await w.startWorker({ tools: { tools: [lost] }, args: ['--lease', '3s'] });
  await until('its tool is known', async () => (await c.result('tools/list')).tools.some((t) => t.name === 'lost'));
  await c.createTask('lost', {});
  assert.equal(await doomed.ended, 'SIGKILL');
  const told = (name) => until(name, async () => (await w.metric(b, name)) === 1, 20000, 300);
  await told('errand_leases_lapsed_total');
  await told('errand_dead_letters');
  await told('errand_tasks_ended_total{outcome="dead"}');
});
