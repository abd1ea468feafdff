// errand tail and errand top: looking on.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, bin, until } from '../lib/errand.mjs';

const w = new World();
const tools = { tools: [{ name: 'job', description: 'Waits for a file.', inputSchema: { type: 'object' }, pollInterval: '100ms',
  run: { command: ['sh', '-c', `"${path.join(bin, 'errand')}" progress 1 2 'half way'; until [ -e "$1" ]; do sleep 0.05; done; exit "$2"`, 'sh', '{file}', '{code}'] } }] };
let broker;
let c;

before(async () => {
  await w.startRedis();
  broker = await w.startBroker();
  await w.startWorker({ tools, args: ['--slots', '2'] });
  c = await w.connect(broker, { tool: 'job' });
});
const running = [];
after(() => {
  for (const child of running) child.kill('SIGKILL');
  return w.stop();
});

// A command that runs: { out, ended }, ended resolving to its status.
function start(argv) {
  const child = spawn(argv[0], argv.slice(1), { env: { ...process.env, ERRAND_REDIS: w.redisUrl, ERRAND_URL: broker.url, TERM: 'xterm' }, stdio: 'pipe' });
  const p = { child, out: '', err: '' };
  running.push(child);
  child.stdout.on('data', (d) => { p.out += d; });
  child.stderr.on('data', (d) => { p.err += d; });
  p.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  return p;
}
const errand = path.join(bin, 'errand');
let files = 0;
async function job(code = '0') {
  const file = path.join(w.dir, `go-${files++}`);
  const { taskId } = await c.createTask('job', { file, code });
  return { taskId, go: () => fs.writeFileSync(file, '') };
}

test('tail shows each change once, and its status is what became of the task', async () => {
  const good = await job();
  const tail = start([errand, 'tail', good.taskId]);
  await until('it is seen at work', () => /working {2}half way/.test(tail.out));
  good.go();
  assert.equal(await tail.ended, 0);
  const shown = tail.out.trim().split('\n');
  assert.match(shown.at(-1), /^\d{4}-\d\d-\d\dT\S+Z {2}completed/);
  assert.equal(new Set(shown.map((l) => l.replace(/^\S+/, ''))).size, shown.length);

  const bad = await job('3');
  bad.go();
  const failed = start([errand, 'tail', '--json', bad.taskId]);
  assert.equal(await failed.ended, 1);
  assert.equal(JSON.parse(failed.out.trim().split('\n').at(-1)).status, 'failed');
});

test('tail leaves a task alone: cancelled is status 1, Ctrl-C 130, and the task goes on', async () => {
  const j = await job();
  const one = start([errand, 'tail', j.taskId]);
  const two = start([errand, 'tail', j.taskId]);
  await until('both see it', () => one.out && two.out);
  one.child.kill('SIGINT');
  assert.equal(await one.ended, 130);
  assert.equal((await c.getTask(j.taskId)).status, 'working');
  await c.result('tasks/cancel', { taskId: j.taskId });
  assert.equal(await two.ended, 1);
  assert.match(two.out, /cancelled/);
  const none = start([errand, 'tail', `00${'A'.repeat(22)}`]);
  assert.equal(await none.ended, 1);
  assert.match(none.err, /not found/i);
});

test('top tells what runs longest, what waits, which workers and which brokers there are', async () => {
  const jobs = [await job(), await job(), await job()];
  const seen = await until('two run and one waits', async () => {
    const p = start([errand, 'top', '--json']);
    assert.equal(await p.ended, 0, p.err);
    const t = JSON.parse(p.out);
    return t.running.length === 2 && t.ready === 1 && t.running.every((r) => r.message === 'half way') && t;
  });
  assert.deepEqual(seen.running.map((r) => r.taskId).sort(), jobs.slice(0, 2).map((j) => j.taskId).sort());
  assert.equal(seen.running[0].tool, 'job');
  assert.ok(seen.running[0].ageMs >= seen.running[1].ageMs);
  assert.equal(seen.tools.job.normal, 1);
  assert.equal(seen.workers.length, 1);
  assert.equal(seen.workers[0].info.slots, 2);
  assert.equal(seen.running[0].worker, seen.workers[0].id);
  assert.equal(seen.brokers.length, 1);
  assert.equal(seen.brokers[0].address, w.socket);
  const once = start([errand, 'top', '--once']);
  assert.equal(await once.ended, 0);
  assert.match(once.out, /^1 ready .* 2 running in 2 slots/);
  assert.doesNotMatch(once.out, /\x1b/);
  for (const j of jobs) j.go();
});

test('top at a terminal fills it, follows its size, lives through a Redis that goes away, and gives it back at q', async (t) => {
  if (!fs.existsSync('/usr/bin/script')) {
    t.skip('needs script, of util-linux');
    return;
  }
  const j = await job();
  const top = start(['/usr/bin/script', '-qfec', `stty rows 12 cols 60; "${errand}" top`, '/dev/null']);
  await until('it shows the job', () => top.out.includes(j.taskId));
  assert.ok(top.out.includes('\x1b[?1049h'));
  const frame = () => top.out.slice(top.out.lastIndexOf('\x1b[H')).replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').split('\r\n');
  await until('a whole frame', () => frame().length >= 11);
  for (const line of frame()) assert.ok(line.length <= 60, line);
  assert.ok(frame().length <= 12);
  await w.redis.kill();
  await until('it says so', () => /cannot be used/.test(frame().join()), 15000);
  await w.startRedis({ args: w.redisArgs });
  await until('it goes on', () => /running in/.test(frame().join()), 15000);
  j.go();
  top.child.stdin.write('q');
  assert.equal(await top.ended, 0);
  assert.ok(top.out.includes('\x1b[?1049l'));
});
