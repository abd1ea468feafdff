// Redis that dies, hangs, drops connections or refuses: family B7, and B3 d. Nothing else is ever
// started again.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { World, busy, lines, ofTask, ran, sleep, until } from '../lib/errand.mjs';

const w = new World();
let a;
let b;
let worker; // its lease outlasts what happens to Redis
let brief; // its lease does not
let c;

const job = 'echo "start $ERRAND_ATTEMPT" >>"$1"; if [ "$2" = told ]; then while [ ! -e "$1.go" ]; do sleep 0.05; done; else sleep "$2"; fi; echo "end $ERRAND_ATTEMPT" >>"$1"; echo "ran $ERRAND_ATTEMPT"';
const base = { name: 'job', description: 'Runs for a while.', inputSchema: { type: 'object' }, attempts: 5, run: { command: ['sh', '-c', job, 'sh', '{file}', '{seconds}'] } };

before(async () => {
  await w.startRedis({ args: ['--enable-protected-configs', 'yes'] });
  const args = ['--rate', '0', '--max-running', '0'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  worker = await w.startWorker({ tools: { tools: [base] }, args: ['--lease', '60s', '--slots', '6'] });
  brief = await w.startWorker({ tools: { tools: [{ ...base, name: 'brief' }] }, args: ['--lease', '4s', '--slots', '4'] });
  c = await w.connect(a, { tool: 'brief' });
});
after(() => w.stop());

let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const text = (r) => r.content[0].text.trim();
const ready = async (broker) => (await fetch(`${broker.origin}/readyz`)).status;
const result = (broker, taskId) => c.at(broker).result('tasks/result', { taskId });
const completed = (stream, taskId) => stream.messages.filter((m) => m.params?.taskId === taskId && m.params.status === 'completed').length;
const running = async (f) => until('the job runs', () => lines(f).length === 1);
const letGo = (f) => fs.writeFileSync(`${f}.go`, '');
const start = async (seconds) => {
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds });
  return { taskId, f };
};

// A call while Redis is away: an error that can be tried again, and soon.
async function refused(method, params, broker = a) {
  const began = Date.now();
  const r = await c.at(broker).request(method, params);
  assert.equal(r.error?.code, -32603, `${method}: ${JSON.stringify(r.result ?? r.error)}`);
  assert.equal(r.http.status, 503, method);
  assert.ok(ran(began) < busy(3000), `${method} took ${ran(began)} ms`);
}

function nothingRestarted() {
  for (const p of [a, b, worker, brief]) assert.equal(p.status, undefined, p.log.slice(-2000));
}

const recovered = () => Promise.all([a, b].map((x) => until('ready again', async () => (await ready(x)) === 200, 20000)));
beforeEach(recovered);

test('B7 B3 d T-87: Redis is killed and comes back with its append-only file: all that was accepted is there and goes on', async () => {
  const stream = await c.at(b).openStream();
  const done = await start('0');
  const doneResult = await result(a, done.taskId);
  const jobs = [];
  for (let i = 0; i < 6; i++) jobs.push(await start('told'));
  for (const j of jobs) await running(j.f);
  const queued = [];
  for (let i = 0; i < 10; i++) queued.push(await start('0'));
  const waits = jobs.flatMap((j) => [result(a, j.taskId), result(b, j.taskId)]);
  const queuedWaits = queued.map((q) => result(b, q.taskId));
  const plain = c.at(b).callTool('job', { file: '/dev/null', seconds: '0' });
  await w.waiters(a, 6, c);
  await w.waiters(b, 17, c);

  await w.redis.kill();
  for (const x of [a, b]) await until('readiness turns 503', async () => (await ready(x)) === 503);
  for (const broker of [a, b]) {
    await refused('tasks/get', { taskId: done.taskId }, broker);
    await refused('tasks/result', { taskId: jobs[0].taskId }, broker);
    await refused('tasks/cancel', { taskId: jobs[0].taskId }, broker);
    await refused('tools/call', { name: 'job', arguments: {}, task: {} }, broker);
    await refused('tools/call', { name: 'job', arguments: {} }, broker);
    assert.equal((await fetch(`${broker.origin}/healthz`)).status, 200);
  }
  for (const j of jobs) letGo(j.f);
  await until('the jobs end meanwhile', () => jobs.every((j) => lines(j.f).length === 2));
  await w.startRedis({ args: w.redisArgs });
  await recovered();

  assert.ok((await Promise.all(waits)).every((r) => text(r) === 'ran 1'));
  assert.ok((await Promise.all(queuedWaits)).every((r) => text(r) === 'ran 1'));
  assert.equal(text(await plain), 'ran 1');
  for (const j of [...jobs, ...queued]) {
    assert.deepEqual(lines(j.f), ['start 1', 'end 1']);
    assert.equal((await c.getTask(j.taskId)).status, 'completed');
  }
  assert.deepEqual(await result(a, done.taskId), doneResult);
  assert.equal((await c.getTask(done.taskId)).status, 'completed');

  assert.equal(stream.closed, false);
  const fresh = await start('1');
  const told = Date.now();
  assert.equal(text(await result(b, fresh.taskId)), 'ran 1');
  assert.ok(ran(told) < busy(3000));
  await until('the stream carries notifications again', () => completed(stream, fresh.taskId) === 1);
  const victim = await start('30');
  await running(victim.f);
  const waiting = c.at(b).request('tasks/result', { taskId: victim.taskId });
  assert.equal((await c.result('tasks/cancel', { taskId: victim.taskId })).status, 'cancelled');
  assert.match((await waiting).error.message, /cancelled/);
  nothingRestarted();
  stream.close();
});

test('B7: an outage longer than the lease: the job is stopped, runs again, and ends once', async () => {
  const f = file();
  const { taskId } = await c.createTask('brief', { file: f, seconds: 'told' });
  await running(f);
  const waiting = result(b, taskId);
  await w.waiters(b, 1, c);
  await w.redis.kill();
  await until('the first execution ends when its lease cannot be renewed', () => ofTask(taskId).length === 0);
  assert.deepEqual(lines(f), ['start 1']);
  await w.startRedis({ args: w.redisArgs });
  await recovered();
  await until('it runs again', () => lines(f).length === 2, 20000);
  letGo(f);
  const r = await waiting;
  assert.equal(lines(f).length, 3);
  assert.match(lines(f)[1], /^start [12]$/);
  assert.equal(text(r), lines(f)[2].replace('end', 'ran'));
  assert.equal((await c.getTask(taskId)).status, 'completed');
  nothingRestarted();
});

test('B7: killed in a storm of creates, Redis keeps each task whose handle was answered', async () => {
  const handles = [];
  let stop = false;
  const storm = Array.from({ length: 20 }, async () => {
    while (!stop) {
      const r = await c.request('tools/call', { name: 'brief', arguments: { file: '/dev/null', seconds: '0' }, task: {} });
      if (r.result) handles.push(r.result.task.taskId);
      else assert.equal(r.http.status, 503);
      await sleep(30);
    }
  });
  await until('some handles', () => handles.length > 100);
  await w.redis.kill();
  await w.startRedis({ args: w.redisArgs });
  const before = handles.length;
  await until('handles again', () => handles.length > before + 20);
  stop = true;
  await Promise.all(storm);
  await recovered();
  for (const taskId of handles) assert.equal(text(await result(b, taskId)).slice(0, 3), 'ran');
  nothingRestarted();
});

// Cuts all connections of a type, once there are some.
const kick = (type) => until('connections to cut', async () => (await w.db.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes')) >= 1);

for (const type of ['pubsub', 'normal']) {
  test(`B3 d B7: CLIENT KILL TYPE ${type} during waits: they are answered in time, streams too`, async () => {
    const stream = await c.at(b).openStream();
    const j = await start('told');
    await running(j.f);
    const waits = [a, b, b].map((x) => result(x, j.taskId));
    await w.waiters(a, 1, c);
    await w.waiters(b, 2, c);
    for (let i = 0; i < 3; i++) await kick(type);
    letGo(j.f);
    await until('the job ends', () => lines(j.f).length === 2);
    const ended = Date.now();
    for (const r of await Promise.all(waits)) assert.equal(text(r), 'ran 1');
    assert.ok(ran(ended) < busy(1000), `${ran(ended)} ms after the end`);
    await recovered();
    const next = await start('0.3');
    assert.equal(text(await result(a, next.taskId)), 'ran 1');
    await until('a notification', () => completed(stream, next.taskId) === 1);
    const victim = await start('30');
    await running(victim.f);
    const waiting = c.at(b).request('tasks/result', { taskId: victim.taskId });
    await w.waiters(b, 1, c);
    await kick(type);
    await until('cancel is taken', async () => {
      const r = await c.request('tasks/cancel', { taskId: victim.taskId });
      return r.result?.status === 'cancelled' || r.error?.code === -32602;
    });
    assert.match((await waiting).error.message, /cancelled/);
    // The worker may have missed the message, and asks when its own link is back.
    await until('the job is gone', () => ofTask(victim.taskId).length === 0);
    nothingRestarted();
    stream.close();
  });
}

test('B7: Redis stopped for 3 s: calls are refused or answered, none hangs; what ran ends once', async (t) => {
  const j = await start('told');
  await running(j.f);
  const waiting = result(b, j.taskId);
  await w.waiters(b, 1, c);
  w.redis.signal('SIGSTOP');
  t.after(() => w.redis.signal('SIGCONT'));
  const began = Date.now();
  const calls = Array.from({ length: 20 }, (_, i) => c.at(i % 2 ? a : b).request(i % 4 < 2 ? 'tasks/get' : 'tools/call',
    i % 4 < 2 ? { taskId: j.taskId } : { name: 'job', arguments: { file: '/dev/null', seconds: '0' }, task: {} }));
  const answers = await Promise.all(calls);
  assert.ok(ran(began) < busy(2900), `${ran(began)} ms`);
  for (const r of answers) {
    assert.equal(r.error?.code, -32603);
    assert.equal(r.http.status, 503);
  }
  assert.equal(await ready(a), 503);
  await sleep(Math.max(0, 3000 - (Date.now() - began)));
  letGo(j.f);
  w.redis.signal('SIGCONT');
  await recovered();
  assert.equal(text(await waiting), 'ran 1');
  assert.deepEqual(lines(j.f), ['start 1', 'end 1']);
  const next = await start('0');
  assert.equal(text(await result(b, next.taskId)), 'ran 1');
  nothingRestarted();
});

// Each makes Redis refuse writes, and takes that back.
const refusals = {
  OOM: [['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  NOREPLICAS: [['CONFIG', 'SET', 'min-replicas-to-write', '1'], ['CONFIG', 'SET', 'min-replicas-to-write', '0']],
  READONLY: [['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
};

for (const [word, [on, off]] of Object.entries(refusals)) {
  test(`B7: Redis answers -${word}: creates are refused with 503 and nothing is made, then all goes on`, async () => {
    const j = await start('told');
    await running(j.f);
    const waiting = result(b, j.taskId);
    await w.waiters(b, 1, c);
    await w.db.call(...on);
    try {
      await refused('tools/call', { name: 'job', arguments: { file: '/dev/null', seconds: '0' }, task: {} });
      await refused('tools/call', { name: 'job', arguments: { file: '/dev/null', seconds: '0' } }, b);
      letGo(j.f);
      await until('the job ends', () => lines(j.f).length === 2);
      await sleep(500);
      if (word === 'OOM') assert.equal(text(await waiting), 'ran 1', 'what ends may be written');
      for (const broker of [a, b]) assert.match(broker.log, new RegExp(`event=REDIS_REFUSES .*why="${word} `), 'the log has the words of Redis');
      assert.ok((await w.metric(a, `errand_refused_total{reason="${word === 'OOM' ? 'OUT_OF_SPACE' : 'UNAVAILABLE'}"}`)) >= 1);
    } finally {
      await w.db.call(...off);
    }
    assert.equal(text(await waiting), 'ran 1');
    assert.deepEqual(lines(j.f), ['start 1', 'end 1']);
    await recovered();
    const next = await start('0');
    assert.equal(text(await result(b, next.taskId)), 'ran 1');
    nothingRestarted();
  });
}

test('B7: Redis answers -MISCONF: the same', async () => {
  fs.mkdirSync(`${w.dir}/broken.rdb/x`, { recursive: true });
  await w.db.call('CONFIG', 'SET', 'dbfilename', 'broken.rdb');
  await w.db.call('CONFIG', 'SET', 'save', '3600 1');
  await w.db.call('BGSAVE');
  await until('the save fails', async () => /rdb_last_bgsave_status:err/.test(await w.db.call('INFO', 'persistence')));
  try {
    await refused('tools/call', { name: 'job', arguments: { file: '/dev/null', seconds: '0' }, task: {} });
  } finally {
    await w.db.call('CONFIG', 'SET', 'save', '');
  }
  const next = await start('0');
  assert.equal(text(await result(b, next.taskId)), 'ran 1');
  nothingRestarted();
});
