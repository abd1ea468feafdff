// Limits of a caller, counted by all brokers together: family B20.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, lines, sleep, until } from '../lib/errand.mjs';

const w = new World();
const RATE = 5;
let rated; // two brokers with --rate
let bounded; // two with --max-active and --max-running

const run = 'echo start >>"$1"; sleep "$2"; echo end >>"$1"; echo done';
// Writes to one file with others of its kind, and ends when it is let go.
const held = 'echo "start $2" >>"$1"; while [ ! -e "$1.go$2" ]; do sleep 0.05; done; echo "end $2" >>"$1"';
const sh = (name, ...words) => ({ name, description: 'Runs for a while.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', ...words] } });
const tools = { tools: [sh('job', run, 'sh', '{file}', '{seconds}'), sh('held', held, 'sh', '{file}', '{n}')] };

before(async () => {
  await w.startRedis();
  const pair = (args) => Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  rated = await pair(['--auth', 'key', '--rate', `${RATE}/s`]);
  bounded = await pair(['--auth', 'key', '--rate', '0', '--max-active', '10', '--max-running', '3']);
  await w.startWorker({ tools, args: ['--slots', '20'] });
});
after(() => w.stop());

let names = 0;
async function user(broker, name = `user${names++}`) {
  const c = await w.connect(broker, { key: await w.newKey(name), tool: 'job' });
  if (rated.includes(broker)) await sleep(1000 / RATE); // its initialize has counted
  return c;
}
let files = 0;
const file = () => `${w.dir}/effects-${files++}`;
const quick = { name: 'job', arguments: { file: '/dev/null', seconds: '0' } };

// Answers of calls made at once at both brokers, and how many the rate allows in that time.
async function burst(c, pair, n, call) {
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: n }, (_, i) => call(c.at(pair[i % 2]), i)));
  return { answers, atMost: RATE + Math.floor(((performance.now() - began) * RATE) / 1000) };
}

function refusedByRate(r) {
  assert.equal(r.http.status, 429);
  assert.equal(r.error.code, 1001);
  assert.match(r.error.message, /too many requests/);
  const after = Number(r.http.headers['retry-after']);
  assert.ok(Number.isInteger(after) && after >= 1, `Retry-After: ${r.http.headers['retry-after']}`);
  assert.ok(r.error.data.retryAfterMs > 0 && r.error.data.retryAfterMs <= after * 1000);
}

const createTask = (c) => c.request('tools/call', { ...quick, task: {} });

test('B20 T-97 W-17: of 20 creates at once at two brokers exactly the rate\'s number is taken, the rest is 429', async () => {
  const c = await user(rated[0]);
  const { answers, atMost } = await burst(c, rated, 20, createTask);
  const taken = answers.filter((r) => r.result);
  assert.ok(taken.length >= RATE && taken.length <= atMost, `${taken.length} of ${RATE}..${atMost}`);
  for (const r of answers.filter((x) => !x.result)) refusedByRate(r);
  await sleep(1000); // as after any Retry-After
  const { tasks } = await c.result('tasks/list');
  assert.deepEqual(new Set(tasks.map((t) => t.taskId)), new Set(taken.map((r) => r.result.task.taskId)));
});

test('B20: who waits as long as told is served', async () => {
  const c = await user(rated[0]);
  // As many as it takes: a machine that stalls gives a burst more time, and what it takes more of.
  const refused = await until('some are refused', async () => {
    const some = (await burst(c, rated, 20, createTask)).answers.filter((r) => !r.result);
    return some.length > 0 && some;
  });
  await sleep(Math.max(...refused.map((r) => r.error.data.retryAfterMs)) + 20);
  assert.ok((await createTask(c)).result);
});

test('B20: one caller\'s burst is not another\'s trouble', async () => {
  const c = await user(rated[0]);
  const d = await user(rated[1]);
  const loud = burst(c, rated, 40, createTask);
  const quiet = burst(d, rated, RATE, createTask);
  assert.ok((await loud).answers.some((r) => r.error));
  assert.ok((await quiet).answers.every((r) => r.result));
});

test('B20: a new key of the same name is the same caller', async () => {
  const c = await user(rated[0]);
  const name = `user${names - 1}`;
  await w.cli('key', 'revoke', '--name', name);
  const d = await w.connect(rated[1], { key: await w.newKey(name), tool: 'job' });
  const { answers, atMost } = await burst(d, rated, 20, createTask);
  const taken = answers.filter((r) => r.result).length;
  assert.ok(taken <= atMost);
  assert.equal(c.url, rated[0].url);
});

test('B20 B19: reads of tasks count too, and being refused changes nothing', async () => {
  const c = await user(rated[0]);
  const { taskId } = (await createTask(c)).result.task;
  await sleep(1000);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
    const { answers, atMost } = await burst(c, rated, 20, (x) => x.request(method, { taskId }));
    const taken = answers.filter((r) => r.http.status === 200).length;
    assert.ok(taken >= RATE && taken <= atMost, `${method}: ${taken} of ${RATE}..${atMost}`);
    answers.filter((r) => r.http.status !== 200).forEach(refusedByRate);
    await sleep(1000);
  }
  assert.equal((await c.getTask(taskId)).status, 'completed');
});

test('B20: new sessions count, and over the rate initialize is 429', async () => {
  const c = await user(rated[0]);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const fresh = (x) => Object.assign(x, { session: undefined });
  const { answers, atMost } = await burst(c, rated, 20, (x) => fresh(x).request('initialize', params));
  const taken = answers.filter((r) => r.result);
  assert.ok(taken.length >= RATE && taken.length <= atMost, `${taken.length} of ${RATE}..${atMost}`);
  for (const r of answers.filter((x) => !x.result)) {
    refusedByRate(r);
    assert.equal(r.http.headers['mcp-session-id'], undefined);
  }
});

test('B20: what is no task operation is not counted', async () => {
  const c = await user(rated[0]);
  await Promise.all(Array.from({ length: 50 }, () => c.result('ping')));
  await Promise.all(Array.from({ length: 20 }, () => c.result('tools/list')));
  assert.ok((await createTask(c)).result);
});

test('B20 T-98: with --max-active further tasks are refused until one ends; plain calls count, finished ones do not', async () => {
  const c = await user(bounded[0]);
  const d = await user(bounded[1]);
  const f = file();
  const slow = { name: 'job', arguments: { file: f, seconds: '60' }, task: {} };
  const answers = await Promise.all(Array.from({ length: 25 }, (_, i) => c.at(bounded[i % 2]).request('tools/call', slow)));
  const taken = answers.filter((r) => r.result);
  assert.equal(taken.length, 10);
  for (const r of answers.filter((x) => x.error)) {
    assert.equal(r.error.code, 1002);
    assert.match(r.error.message, /too many unfinished tasks/);
    assert.ok(Number(r.http.headers['retry-after']) >= 1, `Retry-After: ${r.http.headers['retry-after']}`);
    assert.ok(r.error.data.retryAfterMs >= 1);
  }
  assert.equal((await c.request('tools/call', quick)).error.code, 1002);
  assert.ok((await d.request('tools/call', quick)).result, 'another caller is not concerned');
  await c.result('tasks/cancel', { taskId: taken[0].result.task.taskId });
  assert.ok((await createTask(c.at(bounded[1]))).result);
  assert.equal((await createTask(c)).error?.code, 1002);
  for (const r of taken.slice(1)) await c.result('tasks/cancel', { taskId: r.result.task.taskId });
  assert.ok((await createTask(c)).result);
});

test('B20: with --max-running the rest is parked: never more run at once, and all run in the end, in order', async () => {
  const c = await user(bounded[0]);
  const f = file();
  const ids = [];
  const most = 3;
  for (let i = 0; i < 10; i++) ids.push((await c.at(bounded[i % 2]).createTask('held', { file: f, n: i })).taskId);
  const of = (what) => lines(f).filter((l) => l.startsWith(what)).map((l) => Number(l.split(' ')[1])).sort((x, y) => x - y);
  // Each that ends makes room for the next in order, and for that one only.
  for (let i = 0; i < 10; i++) {
    const first = Array.from({ length: Math.min(i + most, 10) }, (_, n) => n);
    await until(`${first.length} have started`, () => of('start').length >= first.length);
    await sleep(i === 0 ? 300 : 50);
    assert.deepEqual(of('start'), first);
    fs.writeFileSync(`${f}.go${i}`, '');
    await until('it has ended', () => of('end').length === i + 1);
  }
  for (const taskId of ids) assert.equal((await c.result('tasks/result', { taskId })).isError, false);
  assert.deepEqual(of('start'), of('end'));
});

test('B20: a parked task is working, can be cancelled and then never runs; others are not held up', async () => {
  const c = await user(bounded[0]);
  const d = await user(bounded[1]);
  const f = file();
  const running = [];
  for (let i = 0; i < 3; i++) running.push((await c.createTask('job', { file: f, seconds: '60' })).taskId);
  await until('three run', () => lines(f).length === 3);
  const g = file();
  const parked = await c.createTask('job', { file: g, seconds: '0' });
  const next = await c.createTask('job', { file: g, seconds: '0' });
  assert.equal((await c.getTask(parked.taskId)).status, 'working');
  assert.ok((await d.request('tools/call', quick)).result);
  assert.equal((await c.result('tasks/cancel', { taskId: parked.taskId })).status, 'cancelled');
  await sleep(300);
  assert.deepEqual(lines(g), []);
  await c.result('tasks/cancel', { taskId: running[0] });
  await c.result('tasks/result', { taskId: next.taskId });
  assert.deepEqual(lines(g), ['start', 'end']);
  for (const taskId of running.slice(1)) await c.result('tasks/cancel', { taskId });
});
