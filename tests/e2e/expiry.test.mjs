// What a passing TTL does, and that nothing is left in Redis: families B4, B3 c, B23, B27.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, busy, lines, ofTask, ran, sleep, until } from '../lib/errand.mjs';

const w = new World();
let a;
let b;
let worker;
let c;

// A job ends after some seconds, or when it is let go.
const job = 'echo "start $ERRAND_ATTEMPT" >>"$1"; if [ "$2" = told ]; then while [ ! -e "$1.go" ]; do sleep 0.05; done; else sleep "$2"; fi; echo "end $ERRAND_ATTEMPT" >>"$1"; echo done';
const base = { description: 'Runs for a while.', inputSchema: { type: 'object' } };
const run = { command: ['sh', '-c', job, 'sh', '{file}', '{seconds}'] };
const tools = {
  tools: [
    { ...base, name: 'job', run },
    { ...base, name: 'short_lived', ttl: '5s', run },
    { ...base, name: 'deaf', grace: '30s', run: { command: ['sh', '-c', `trap '' TERM; ${job}`, 'sh', '{file}', '{seconds}'] } },
    { ...base, name: 'never', taskSupport: 'forbidden', run },
  ],
};

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--max-ttl', '1h', '--default-ttl', '10m', '--max-running', '4', '--max-active', '5000'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  worker = await w.startWorker({ tools, args: ['--lease', '30s', '--slots', '4'] });
  c = await w.connect(a, { tool: 'job' });
});
after(() => w.stop());

let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const taskKey = (taskId) => `errand:{0}:t:${taskId}`;
// Every key that names the task, and every collection that holds its id; but for the records of
// event streams, which are their clients' and live for minutes by themselves.
async function traces(taskId) {
  const found = [];
  for (const key of await w.keys()) {
    if (/:s[mx]:/.test(key)) {
      const left = await w.db.call('PTTL', key);
      assert.ok(left !== -1 && left <= 600000, `${key} lives for ${left} ms`);
      continue;
    }
    if (key.includes(taskId)) found.push(key);
    const type = await w.db.call('TYPE', key);
    const all = type === 'zset' ? await w.db.call('ZRANGE', key, 0, -1)
      : type === 'list' ? await w.db.call('LRANGE', key, 0, -1)
        : type === 'hash' ? await w.db.call('HGETALL', key)
          : type === 'string' ? [await w.db.call('GET', key)] : [];
    if (all.some((x) => String(x).includes(taskId))) found.push(`${key} (${type})`);
  }
  return found;
}
const clean = (taskId, ms) => until(`no trace of ${taskId}`, async () => (await traces(taskId)).length === 0, ms);

test('B4 B3 c T-43 T-50 T-88: a TTL shorter than the job: stopped, waiters told, no key left, and none comes later', async () => {
  const f = file();
  const created = await c.createTask('job', { file: f, seconds: '60' }, { ttl: 5000 });
  const { taskId } = created;
  const expires = Date.parse(created.createdAt) + created.ttl;
  const waits = [a, b, b].map((x) => c.at(x).request('tasks/result', { taskId }));
  await until('it runs', () => lines(f).length === 1);
  assert.equal((await c.getTask(taskId)).status, 'working');
  for (const r of await Promise.all(waits)) {
    assert.equal(r.error.code, -32602);
    assert.match(r.error.message, /expired/);
    assert.ok(ran(expires) < busy(1500), `told ${ran(expires)} ms after`);
  }
  assert.ok(Date.now() >= expires - 50);
  await until('the process is gone', () => ofTask(taskId).length === 0, Math.max(0, expires + 2000 - Date.now()));
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
    for (const x of [a, b]) assert.equal((await c.at(x).request(method, { taskId })).error.code, -32602);
  }
  await clean(taskId, 2000);
  await sleep(1000);
  assert.deepEqual(await traces(taskId), []);
  assert.deepEqual(lines(f), ['start 1']);
});

test('B4: a job that ends only after its TTL makes no key', async () => {
  const f = file();
  const { taskId } = await c.createTask('deaf', { file: f, seconds: 'told' }, { ttl: 4000 });
  await until('it runs', () => lines(f).length === 1);
  await until('its time has passed', async () => (await c.request('tasks/get', { taskId })).error?.code === -32602);
  assert.equal(lines(f).length, 1);
  fs.writeFileSync(`${f}.go`, '');
  await until('it ends after its time', () => lines(f).length === 2);
  await until('nobody has it', () => ofTask(taskId).length === 0);
  await sleep(300);
  assert.deepEqual(await traces(taskId), []);
  assert.equal((await c.request('tasks/get', { taskId })).error.code, -32602);
});

test('B4: a task that nobody ran expires too, queued or parked, and its waiters are told', async () => {
  const gate = file();
  const running = [];
  for (let i = 0; i < 4; i++) running.push((await c.createTask('job', { file: gate, seconds: '60' })).taskId);
  await until('all slots are taken', () => lines(gate).length === 4);
  const parked = await Promise.all(Array.from({ length: 10 }, () => c.createTask('job', { file: file(), seconds: '0' }, { ttl: 1200 })));
  const waits = parked.map((t, i) => c.at(i % 2 ? a : b).request('tasks/result', { taskId: t.taskId }));
  for (const r of await Promise.all(waits)) assert.equal(r.error.code, -32602);
  for (const t of parked) await clean(t.taskId, 2000);
  // The window is free again: what comes next runs.
  for (const taskId of running) await c.result('tasks/cancel', { taskId });
  const r = await c.callTool('job', { file: file(), seconds: '0' });
  assert.equal(r.isError, false);
});

test('B4 W-15: a plain call that outlives its tool\'s TTL is stopped and answered with an error', async () => {
  const f = file();
  const r = await c.request('tools/call', { name: 'short_lived', arguments: { file: f, seconds: '20' } });
  assert.equal(r.error.code, -32603);
  assert.match(r.error.message, /time to live/);
  assert.ok(r.http.ms < busy(7000));
  await sleep(300);
  assert.deepEqual(lines(f), ['start 1']);
});

test('B4: the ttl in every answer is the granted one, and Redis holds the same within a second', async () => {
  const f = file();
  for (const [wanted, granted] of [[60000, 60000], [20000, 20000], [1e12, 3600000], [undefined, 600000]]) {
    const created = await c.createTask('job', { file: f, seconds: '0.2' }, { ttl: wanted });
    const expires = Date.parse(created.createdAt) + granted;
    const look = async () => {
      const t = await c.at(b).getTask(created.taskId);
      assert.equal(t.ttl, granted);
      assert.equal(t.createdAt, created.createdAt);
      const asked = Date.now();
      const left = await w.db.call('PTTL', taskKey(created.taskId));
      // It was so at some time between the question and the answer.
      assert.ok(asked + left - expires < 1000 && Date.now() + left - expires > -1000, `${asked + left - expires} ms`);
      return t.status === 'completed';
    };
    assert.equal(created.ttl, granted);
    await until('it is done', look);
    assert.equal(await look(), true);
  }
});

test('B4 T-44: a finished task is found until its TTL has passed, and not after', async () => {
  const created = await c.createTask('job', { file: file(), seconds: '0' }, { ttl: 4000 });
  const { taskId } = created;
  await c.result('tasks/result', { taskId });
  const expires = Date.parse(created.createdAt) + created.ttl;
  for (let left = true; left; await sleep(50)) {
    const r = await c.request('tasks/get', { taskId });
    if (r.result) assert.equal(r.result.status, 'completed');
    else assert.ok(Date.now() >= expires - 20, `${expires - Date.now()} ms before its time`);
    left = r.result && Date.now() < expires - 100;
  }
  await sleep(Math.max(0, expires + 20 - Date.now()));
  assert.equal((await c.request('tasks/get', { taskId })).error.code, -32602);
  await clean(taskId, 2000);
});

test('B4: a TTL passes while the worker is dead: nothing runs afterwards', async () => {
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: '60' }, { ttl: 5000 });
  await until('it runs', () => lines(f).length === 1);
  await worker.kill();
  const r = await c.request('tasks/result', { taskId });
  assert.equal(r.error.code, -32602);
  worker = await w.startWorker({ tools, args: ['--lease', '30s', '--slots', '4'] });
  await clean(taskId, 3000);
  await sleep(500);
  assert.deepEqual(lines(f), ['start 1']);
});

test('B27: bad calls of every kind make no key and queue nothing', async () => {
  const raw = (body) => c.post(typeof body === 'string' ? body : JSON.stringify(body));
  const call = (params) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  await c.result('tools/list');
  const before = (await w.keys()).sort();
  const bad = [
    [call({ name: 'nope', task: {} }), -32602], [call({ name: 'never', task: {} }), -32601], [call({ name: 'job', arguments: 5, task: {} }), -32602],
    ...[-1, 0, 1e30, '5', false, 1.5, {}].map((ttl) => [call({ name: 'job', arguments: {}, task: { ttl } }), -32602]),
    [call(undefined), -32602], [call([]), -32600], [{ jsonrpc: '2.0', id: 1, method: 'tasks/none' }, -32601], [[call({ name: 'job' })], -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"job"', -32700], ['{"id":1,"method":"tools/call","params":{"name":"job","task":{}}}', -32600],
    [call({ name: 'job', task: {}, _meta: { 'dev.errand/idempotency-key': '' } }), -32602],
  ];
  for (const [body, code] of bad) {
    const r = await raw(body);
    assert.equal(r.messages[0]?.error?.code, code, `${JSON.stringify(body)}: ${r.text}`);
  }
  const appeared = (await w.keys()).filter((k) => !before.includes(k));
  assert.deepEqual(appeared, []);
});

test('B23 T-100: after 2,000 tasks with a short TTL every key is back to the baseline', async () => {
  const baseline = new Set(await w.keys());
  const memory = async () => Number(/used_memory:(\d+)/.exec(await w.db.call('INFO', 'memory'))[1]);
  const memoryBefore = await memory();
  const ids = [];
  const create = async (i) => {
    const t = await c.at(i % 2 ? a : b).createTask('job', { file: '/dev/null', seconds: i % 500 === 0 ? '5' : '0', pad: 'x'.repeat(1000) }, { ttl: 3000, meta: i % 10 === 0 ? { 'dev.errand/idempotency-key': `k${i}` } : undefined });
    ids.push(t.taskId);
  };
  for (let i = 0; i < 2000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => create(i + j)));
  for (let i = 0; i < 40; i++) await c.request('tasks/cancel', { taskId: ids[1900 + i] });
  await until('all of them are gone', async () => (await w.keys('errand:{0}:t:*')).every((k) => baseline.has(k)), 30000, 100);
  const extra = () => w.keys().then((keys) => keys.filter((k) => !baseline.has(k)));
  await until('the key space is as before', async () => {
    const without = [];
    for (const k of await extra()) if (await w.db.call('PTTL', k) < 0) without.push(k);
    return without.length === 0;
  }, 10000, 100).catch(async () => assert.fail(`keys without a TTL: ${await extra()}`));
  await until('the index is', async () => (await w.db.call('ZCARD', 'errand:{0}:ix')) <= 20);
  await until('nothing is leased', async () => (await w.db.call('ZCARD', 'errand:{0}:ls')) === 0);
  await until('no owner has anything unfinished', async () => (await w.keys('errand:{0}:oa:*')).length === 0);
  let grown;
  await until('so is the memory', async () => (grown = await memory() - memoryBefore) < 1 << 20).catch(() => assert.fail(`${grown} bytes more`));
  // The queues still hold ids of what expired before anybody took it; the next claims drop them.
  assert.equal((await c.callTool('job', { file: '/dev/null', seconds: '0' })).isError, false);
});
