// Whatever ends a job, no process of it stays: family B5. And a client that leaves ends no job.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, below, busy, lines, ofTask, openFiles, processes, ran, sleep, until } from '../lib/errand.mjs';

const w = new World();
const GRACE = 300; // of the tools
let a;
let b;
let worker;
let c;

// A tree that does not want to end: it ignores TERM, part of it has left the group and the
// session, and part of that has no parent any more. {file} gets a line once all of it is there.
const tree = `trap '' TERM
sleep 1000 &
sleep 1000 &
(trap '' TERM; sleep 1000) &
setsid sh -c 'trap "" TERM; sleep 1000 & sleep 1000 & echo one >>"$1"; wait' sh "$1" &
(setsid sh -c 'trap "" TERM; setsid sleep 1000 & echo two >>"$1"; wait' sh "$1" & )
while [ "$(wc -l <"$1" 2>/dev/null || echo 0)" -lt 2 ]; do sleep 0.02; done
echo three >>"$1"
if [ "$2" = end ]; then exit 0; fi
wait`;
const run = { command: ['sh', '-c', tree, 'sh', '{file}', '{how}'] };
const base = { description: 'Grows a tree of processes.', inputSchema: { type: 'object' }, grace: `${GRACE}ms`, attempts: 3 };
const tools = {
  tools: [
    { ...base, name: 'tree', run },
    { ...base, name: 'hasty', run, timeout: '3s' },
    { ...base, name: 'obedient', grace: '60s', run: { command: ['sleep', '1000'] } },
    { ...base, name: 'brief', run: { command: ['sh', '-c', 'sleep 1; echo "ran $ERRAND_ATTEMPT"'] } },
    { ...base, name: 'told', run: { command: ['sh', '-c', 'while [ ! -e "$1" ]; do sleep 0.05; done; echo "ran $ERRAND_ATTEMPT"', 'sh', '{file}'] } },
  ],
};
const args = ['--lease', '10s', '--slots', '12', '--grace', '2s'];

before(async () => {
  await w.startRedis();
  [a, b] = await Promise.all([w.startBroker({ args: ['--rate', '0'] }), w.startBroker({ args: ['--rate', '0'] })]);
  worker = await w.startWorker({ tools, args });
  c = await w.connect(a, { tool: 'tree' });
});
after(() => w.stop());

let files = 0;
async function grow(tool = 'tree', { ttl, how = 'stay' } = {}) {
  const file = `${w.dir}/tree-${files++}`;
  const { taskId } = await c.createTask(tool, { file, how }, ttl ? { ttl } : {});
  await until('the tree stands', () => lines(file).length >= 3);
  return { taskId, file, born: Date.now() };
}

const gone = (taskId, ms) => until(`no process of ${taskId}`, () => ofTask(taskId).length === 0, ms);
// Nothing at all is left below a worker, not even a zombie or a keeper.
const bare = (one = worker) => until('nothing below the worker', () => below(one.pid).length === 0, 1000);

test('B5 T-67: cancel ends a tree that ignores TERM and has left its group, within grace and a second', async () => {
  const { taskId } = await grow();
  assert.ok(ofTask(taskId).length >= 8, `${ofTask(taskId).length} processes`);
  assert.ok(new Set(ofTask(taskId).map((p) => p.group)).size >= 4);
  await c.result('tasks/cancel', { taskId });
  await gone(taskId, GRACE + 1000);
  await bare();
});

test('B5: what obeys TERM is gone at once', async () => {
  const { taskId } = await c.createTask('obedient');
  await until('it runs', () => ofTask(taskId).length === 1);
  await c.at(b).result('tasks/cancel', { taskId });
  await gone(taskId, 10000);
  await bare();
});

test('B5: a timeout ends it the same way, and the task says so', async () => {
  const { taskId, born } = await grow('hasty');
  const r = await c.at(b).result('tasks/result', { taskId });
  assert.equal(r.isError, true);
  assert.match(r.content[0].text, /timeout of 3s/);
  assert.ok(ran(born) < busy(3000 + GRACE + 1000));
  await gone(taskId, 200);
  await bare();
  const t = await c.getTask(taskId);
  assert.equal(t.status, 'failed');
  assert.match(t.statusMessage, /timeout/);
});

test('B5 B4: a passing TTL ends it the same way', async () => {
  const { taskId } = await grow('tree', { ttl: 5000 });
  const r = await c.at(b).request('tasks/result', { taskId });
  assert.equal(r.error.code, -32602);
  await gone(taskId, GRACE + 1000);
  await bare();
});

test('B5: a job that ends leaves nothing behind either', async () => {
  const { taskId } = await grow('tree', { how: 'end' });
  const r = await c.result('tasks/result', { taskId });
  assert.equal(r.isError, false);
  await gone(taskId, 200);
  await bare();
});

test('B5 B22: SIGTERM of the worker ends it within the worker\'s grace, and the job goes on elsewhere', async () => {
  const { taskId } = await grow();
  worker.signal('SIGTERM');
  const began = Date.now();
  assert.equal(await worker.ended, 0);
  assert.ok(ran(began) < busy(2500));
  await gone(taskId, 100);
  assert.equal((await c.getTask(taskId)).status, 'working');
  worker = await w.startWorker({ tools, args });
  await until('it runs again', () => ofTask(taskId).length > 0);
  await c.result('tasks/cancel', { taskId });
  await gone(taskId, GRACE + 1000);
});

test('B5: kill -9 of the worker takes the tree along', async () => {
  const { taskId } = await grow();
  const all = ofTask(taskId).map((p) => p.pid);
  await worker.kill();
  await until('all of them are gone', () => !processes().some((p) => all.includes(p.pid) && p.state !== 'Z'), 1000);
  await c.result('tasks/cancel', { taskId });
  worker = await w.startWorker({ tools, args });
  assert.deepEqual(ofTask(taskId), []);
});

test('B5: kill -9 of the keeper of a job takes the tree along, and the job runs again', async () => {
  const { taskId } = await grow();
  const [keeper] = processes().filter((p) => p.ppid === worker.pid);
  const all = ofTask(taskId).map((p) => p.pid);
  process.kill(keeper.pid, 'SIGKILL');
  await until('all of them are gone', () => !processes().some((p) => all.includes(p.pid)), 1000);
  assert.equal((await c.getTask(taskId)).status, 'working');
  await c.result('tasks/cancel', { taskId });
  await gone(taskId, GRACE + 1000);
  await bare();
});

test('B5 B23: 50 jobs cancelled, 50 done, 10 timed out: no zombies, no files left open', async () => {
  await c.callTool('brief');
  await bare();
  const before = openFiles(worker.pid);
  for (let round = 0; round < 5; round++) {
    const trees = await Promise.all(Array.from({ length: 10 }, () => grow()));
    const quick = Array.from({ length: 2 }, () => c.callTool('brief'));
    await Promise.all(trees.map(({ taskId }, i) => c.at(i % 2 ? a : b).result('tasks/cancel', { taskId })));
    await Promise.all(trees.map(({ taskId }) => gone(taskId, GRACE + 4000))); // 100 processes at once
    assert.ok((await Promise.all(quick)).every((r) => r.content[0].text.trim() === 'ran 1'));
    await Promise.all(Array.from({ length: 2 }, async () => {
      const { taskId } = await grow('hasty');
      await c.result('tasks/result', { taskId });
      await gone(taskId, 200);
    }));
    await bare();
    assert.equal(openFiles(worker.pid), before);
  }
  assert.equal(worker.status, undefined);
});

test('B5: a client that goes away cancels nothing: not the task, not the waiter of another', async () => {
  const file = `${w.dir}/told`;
  const { taskId } = await c.createTask('told', { file });
  const other = await w.connect(a, { tool: 'tree' });
  const cut = new AbortController();
  const left = other.request('tasks/result', { taskId }, { signal: cut.signal }).catch((e) => e.name);
  const stays = c.at(b).result('tasks/result', { taskId });
  await w.waiters(a, 1, c);
  cut.abort();
  assert.equal(await left, 'AbortError');
  await other.delete();
  assert.equal((await c.getTask(taskId)).status, 'working');
  fs.writeFileSync(file, '');
  assert.equal((await stays).content[0].text.trim(), 'ran 1');
});

test('B5 H-17: a client that goes away in the middle of a plain call cancels nothing either', async () => {
  const file = `${w.dir}/plain`;
  const cut = new AbortController();
  const call = c.request('tools/call', { name: 'tree', arguments: { file, how: 'stay' } }, { signal: cut.signal }).catch((e) => e.name);
  await until('the tree stands', () => lines(file).length >= 3);
  cut.abort();
  assert.equal(await call, 'AbortError');
  await sleep(1500);
  const keepers = processes().filter((p) => p.ppid === worker.pid);
  assert.equal(keepers.length, 1, 'the job goes on');
  await worker.kill('SIGTERM');
  await until('nothing is left', () => !processes().some((p) => p.argv.includes(file)), 1000);
});
