// Workers that die, stop and come back, and jobs that kill them: family B6, and B1 for brokers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import { World, alive, below, busy, lines, ofTask, ran, sleep, until } from '../lib/errand.mjs';

process.env.ERRAND_PARTITIONS = '4'; // each caller's tasks are in one of four hash slots
const w = new World();
const LEASE = 4000; // so long that a machine that stalls for a second or two loses none
let a;
let b;
let c;
let workers = [];

// A job writes one line to {file} when it starts, "attempt pid", and one when it ends: after some
// seconds, or when its attempt is let go.
const job = 'echo "start $ERRAND_ATTEMPT $$ $PPID" >>"$1"; if [ "$2" = told ]; then while [ ! -e "$1.go$ERRAND_ATTEMPT" ]; do sleep 0.05; done; else sleep "$2"; fi; echo "end $ERRAND_ATTEMPT" >>"$1"; echo "ran $ERRAND_ATTEMPT"';
// Ends the worker above: the parent of a job is its keeper, and the worker is the keeper's parent.
// Not so once {file}.cured is there.
const poison = '[ -e "$1.cured" ] && { echo "cured in $ERRAND_ATTEMPT"; exit 0; }; echo "start $ERRAND_ATTEMPT" >>"$1"; while read -r key value; do [ "$key" = PPid: ] && kill -9 "$value"; done <"/proc/$PPID/status"; sleep 60';
const tools = {
  tools: [
    { name: 'job', description: 'Runs for a while.', inputSchema: { type: 'object' }, attempts: 5, run: { command: ['sh', '-c', job, 'sh', '{file}', '{seconds}'] } },
    { name: 'poison', description: 'Kills its worker.', inputSchema: { type: 'object' }, attempts: 3, run: { command: ['sh', '-c', poison, 'sh', '{file}'] } },
  ],
};

before(async () => {
  await w.startRedis();
  [a, b] = await Promise.all([w.startBroker({ args: ['--rate', '0'] }), w.startBroker({ args: ['--rate', '0'] })]);
});
after(() => w.stop());
afterEach(async () => {
  await Promise.all(workers.map((x) => x.kill()));
  workers = [];
});

async function worker(options = {}) {
  const one = await w.startWorker({ tools, args: ['--lease', `${LEASE}ms`, '--slots', '2'], ...options });
  workers.push(one);
  c ??= await w.connect(a, { tool: 'job' });
  return one;
}

let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const letGo = (f, attempt = 1) => fs.writeFileSync(`${f}.go${attempt}`, '');
const starts = (f) => lines(f).filter((l) => l.startsWith('start'));
const ends = (f) => lines(f).filter((l) => l.startsWith('end'));
const terminal = (t) => ['completed', 'failed', 'cancelled'].includes(t.status) && t;
const ended = (taskId, ms = 30000) => until(`end of ${taskId}`, async () => terminal(await c.getTask(taskId)), ms);

test('B6 a: with two workers and a job longer than the lease it runs once', async () => {
  await worker();
  await worker();
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: String(LEASE / 1000 + 1.5) });
  const r = await c.at(b).result('tasks/result', { taskId });
  assert.equal(r.content[0].text.trim(), 'ran 1');
  assert.deepEqual(lines(f).map((l) => l.split(' ')[0]), ['start', 'end']);
});

test('B6 b: the job of a killed worker starts elsewhere within its lease and a second, as attempt 2', async () => {
  const first = await worker();
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: 'told' });
  const waiting = c.at(b).result('tasks/result', { taskId });
  await until('the first start', () => starts(f).length === 1);
  const [, , pid, keeper] = starts(f)[0].split(' ').map(Number);
  assert.ok(alive(pid) && alive(keeper));
  const second = await worker();
  const killed = Date.now();
  await first.kill();
  await until('the first execution is gone', () => !alive(pid) && !alive(keeper), 1000);
  while (starts(f).length < 2) {
    assert.equal((await c.getTask(taskId)).status, 'working');
    assert.ok(ran(killed) < busy(LEASE + 1000), 're-claimed in time');
    await sleep(20);
  }
  letGo(f, 2);
  const r = await waiting;
  assert.equal(r.content[0].text.trim(), 'ran 2');
  assert.deepEqual(starts(f).map((l) => l.split(' ')[1]), ['1', '2']);
  assert.deepEqual(ends(f), ['end 2']);
  assert.equal((await c.getTask(taskId)).status, 'completed');
  assert.equal(second.status, undefined);
});

test('B6 d: a stopped worker\'s late result is fenced off, and its execution ends', async () => {
  const first = await worker();
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: 'told' });
  await until('the first start', () => starts(f).length === 1);
  const [, , pid] = starts(f)[0].split(' ').map(Number);
  const second = await worker();
  first.signal('SIGSTOP');
  await until('the second start', () => starts(f).length === 2, LEASE + 2000);
  // The first execution goes on: its shell is not stopped. Its result waits for the stopped worker.
  letGo(f, 1);
  await until('the first execution ends by itself', () => ends(f).includes('end 1'));
  assert.equal((await c.getTask(taskId)).status, 'working');
  first.signal('SIGCONT');
  await until('the first has done with it', () => below(first.pid).length === 0);
  assert.equal((await c.getTask(taskId)).status, 'working');
  letGo(f, 2);
  const t = await ended(taskId);
  assert.equal(t.status, 'completed');
  const r = await c.at(b).result('tasks/result', { taskId });
  assert.equal(r.content[0].text.trim(), 'ran 2');
  await until('nothing of the job is left', () => !alive(pid) && ofTask(taskId).length === 0);
  assert.equal(starts(f).length, 2);
  assert.equal(first.status, undefined);
  assert.equal(second.status, undefined);
});

test('B6 d: a worker that wakes up while its job runs elsewhere stops its own execution', async () => {
  const first = await worker();
  const f = file();
  const { taskId } = await c.createTask('job', { file: f, seconds: 'told' });
  await until('the first start', () => starts(f).length === 1);
  const [, , pid] = starts(f)[0].split(' ').map(Number);
  await worker();
  first.signal('SIGSTOP');
  await until('the second start', () => starts(f).length === 2, LEASE + 2000);
  assert.ok(alive(pid));
  first.signal('SIGCONT');
  await until('the first execution was stopped', () => !alive(pid), 2000);
  await until('its keeper too', () => below(first.pid).length === 0);
  letGo(f, 2);
  assert.equal((await c.result('tasks/result', { taskId })).content[0].text.trim(), 'ran 2');
  assert.deepEqual(ends(f), ['end 2']);
});

test('B6 c: a job that kills its worker each time fails once its attempts are used up, and can be requeued', async () => {
  const f = file();
  await worker();
  assert.deepEqual(JSON.parse((await w.cli('dead', 'list', '--json')).out), []);
  const { taskId } = await c.createTask('poison', { file: f });
  let n = 0;
  // A supervisor would start a new worker each time.
  const t = await until('the poison task ends', async () => {
    if (workers.at(-1).status !== undefined) {
      n++;
      await worker();
    }
    return terminal(await c.getTask(taskId));
  }, 60000);
  assert.equal(t.status, 'failed');
  assert.match(t.statusMessage, /worker.*(lost|died)/i);
  assert.deepEqual(starts(f), ['start 1', 'start 2', 'start 3']);
  assert.equal(n, 3);
  const r = await c.at(b).request('tasks/result', { taskId });
  assert.equal(r.error.code, -32603);
  assert.match(r.error.message, /worker was lost/);
  await sleep(300);
  assert.equal(starts(f).length, 3, 'it never runs a fourth time');

  const listed = await w.cli('dead', 'list', '--json');
  assert.equal(listed.status, 0, listed.err);
  const [letter, ...others] = JSON.parse(listed.out);
  assert.deepEqual(others, []);
  assert.deepEqual([letter.task, letter.tool, letter.attempts, letter.canBeRequeued], [taskId, 'poison', 3, true]);
  assert.match(letter.why, /worker was lost/);
  fs.writeFileSync(`${f}.cured`, '');
  const requeued = await w.cli('dead', 'requeue', letter.entry);
  assert.equal(requeued.status, 0, requeued.err);
  const again = /is task (\S+) now/.exec(requeued.out)[1];
  assert.notEqual(again, taskId);
  assert.equal((await c.at(b).result('tasks/result', { taskId: again })).content[0].text.trim(), 'cured in 1');
  assert.equal((await c.getTask(taskId)).status, 'failed', 'what has ended stays as it is');
  assert.deepEqual(JSON.parse((await w.cli('dead', 'list', '--json')).out), []);
  const none = await w.cli('dead', 'requeue', letter.entry);
  assert.equal(none.status, 1);
  assert.match(none.err, /no such entry/);
});

test('B6: workers that die in turns, many jobs: each ends once, none is lost', async () => {
  await worker({ args: ['--lease', `${LEASE}ms`, '--slots', '4'] });
  await worker({ args: ['--lease', `${LEASE}ms`, '--slots', '4'] });
  const f = file();
  const ids = [];
  for (let i = 0; i < 30; i++) ids.push((await c.createTask('job', { file: f, seconds: '0.2' })).taskId);
  const waits = ids.map((taskId) => c.at(b).result('tasks/result', { taskId }));
  for (let i = 0; i < 3; i++) {
    await sleep(400);
    await workers[i].kill();
    await worker({ args: ['--lease', `${LEASE}ms`, '--slots', '4'] });
  }
  const results = await Promise.all(waits);
  assert.ok(results.every((r) => /^ran [1-5]/.test(r.content[0].text)));
  for (const taskId of ids) assert.equal((await c.getTask(taskId)).status, 'completed');
  // Each killed worker held at most 4 jobs.
  assert.ok(starts(f).length <= 30 + 3 * 4, `${starts(f).length} starts`);
  assert.equal(await w.db.call('ZCARD', 'errand:{0}:ls'), 0);
});

test('B1: a broker killed while a result is awaited at the other takes nothing along', async () => {
  await worker();
  const dying = await w.startBroker({ args: ['--rate', '0'] });
  const mine = await w.connect(dying, { tool: 'job' });
  const f = file();
  const { taskId } = await mine.createTask('job', { file: f, seconds: 'told' });
  const here = mine.result('tasks/result', { taskId }).then(() => 'answered', () => 'cut');
  const there = mine.at(b).result('tasks/result', { taskId });
  await until('it runs', () => starts(f).length === 1);
  await dying.kill();
  assert.equal(await here, 'cut');
  assert.equal((await mine.at(b).getTask(taskId)).status, 'working');
  letGo(f);
  assert.equal((await there).content[0].text.trim(), 'ran 1');
  assert.equal((await mine.at(a).result('tasks/result', { taskId })).content[0].text.trim(), 'ran 1');
  assert.equal(starts(f).length, 1);
});

test('B1: both brokers killed and started again in the middle of a job: it still ends once', async () => {
  await worker();
  const args = ['--rate', '0'];
  let pair = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  const mine = await w.connect(pair[0], { tool: 'job' });
  const f = file();
  const { taskId } = await mine.createTask('job', { file: f, seconds: 'told' });
  await until('it runs', () => starts(f).length === 1);
  await Promise.all(pair.map((x) => x.kill()));
  pair = await Promise.all(pair.map((x) => w.startBroker({ args, port: x.port })));
  // The session lives on: it is in Redis.
  const waits = [mine.result('tasks/result', { taskId }), mine.at(pair[1]).result('tasks/result', { taskId })];
  letGo(f);
  const results = await Promise.all(waits);
  for (const r of results) assert.equal(r.content[0].text.trim(), 'ran 1');
  assert.deepEqual(lines(f).map((l) => l.split(' ')[0]), ['start', 'end']);
  // And a client that opens a new one finds the task too.
  const again = await w.connect(pair[1], { tool: 'job' });
  assert.equal((await again.getTask(taskId)).status, 'completed');
});

test('B1: a task created at a broker that dies at once is there or was never answered', async () => {
  await worker();
  const dying = await w.startBroker({ args: ['--rate', '0'] });
  const mine = await w.connect(dying, { tool: 'job' });
  const answered = [];
  // One after the other at each of forty hands, so that it dies in the middle however late.
  await Promise.all(Array.from({ length: 40 }, async () => {
    for (;;) {
      try {
        answered.push((await mine.createTask('job', { file: '/dev/null', seconds: '0' })).taskId);
      } catch {
        return; // never answered
      }
      if (answered.length === 20) dying.signal('SIGKILL');
    }
  }));
  await dying.ended;
  assert.ok(answered.length >= 20);
  for (const taskId of answered) {
    assert.equal((await mine.at(b).result('tasks/result', { taskId })).isError, false);
  }
});
