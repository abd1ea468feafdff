// Redis in moods that outage.test.mjs does not show: family B7. It loads, is restarted in good order,
// is kept busy by somebody's script, or its disk is full. Nothing else is ever started again.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { World, busy, lines, ran, until } from '../lib/errand.mjs';
import { Redis } from '../lib/resp.mjs';

const tools = { tools: [{ name: 'job', description: 'Runs for a while.', inputSchema: { type: 'object' }, attempts: 5, run: { command: ['sh', '-c', 'echo start >>"$1"; while [ ! -e "$1.go" ]; do sleep 0.05; done; echo end >>"$1"; echo ran', 'sh', '{file}'] } }] };

// An installation of its own, with what all of these tests ask of it.
class Place extends World {
  async open(redisArgs) {
    await this.startRedis({ args: redisArgs });
    const args = ['--rate', '0', '--max-running', '0'];
    [this.a, this.b] = await Promise.all([this.startBroker({ args }), this.startBroker({ args })]);
    this.worker = await this.startWorker({ tools, args: ['--lease', '60s', '--slots', '4'] });
    this.c = await this.connect(this.a, { tool: 'job' });
    this.files = 0;
    fs.writeFileSync(path.join(this.dir, 'none.go'), '');
  }

  ready = async (broker) => (await fetch(`${broker.origin}/readyz`)).status;
  recovered = () => Promise.all([this.a, this.b].map((x) => until('ready again', async () => (await this.ready(x)) === 200, 30000)));
  result = (broker, taskId) => this.c.at(broker).result('tasks/result', { taskId });

  // A job ends when it is let go.
  letGo = (job) => fs.writeFileSync(`${job.f}.go`, '');

  async start() {
    const f = path.join(this.dir, `effects-${this.files++}`);
    const { taskId } = await this.c.createTask('job', { file: f });
    return { taskId, f };
  }

  // It has ended, though Redis may not have been told yet.
  async endsMeanwhile(job) {
    this.letGo(job);
    await until('the job ends', () => lines(job.f).length === 2);
  }

  // A call while Redis cannot: an error that can be tried again, and soon.
  async refused(method, params, broker = this.a) {
    const began = Date.now();
    const r = await this.c.at(broker).request(method, params);
    assert.equal(r.error?.code, -32603, `${method}: ${JSON.stringify(r.result ?? r.error)}`);
    assert.equal(r.http.status, 503, method);
    assert.ok(ran(began) < busy(8000), `${method} took ${ran(began)} ms`);
  }

  creation = () => ['tools/call', { name: 'job', arguments: { file: `${this.dir}/none` }, task: {} }];

  // What ran and waited has ended once, what comes is served, and nothing had to be restarted.
  async fine(job, waits) {
    for (const r of await Promise.all(waits)) assert.equal(r.content[0].text.trim(), 'ran');
    assert.deepEqual(lines(job.f), ['start', 'end']);
    const next = await this.start();
    this.letGo(next);
    assert.equal((await this.result(this.b, next.taskId)).content[0].text.trim(), 'ran');
    for (const p of [this.a, this.b, this.worker]) assert.equal(p.status, undefined, p.log.slice(-2000));
  }

  async running() {
    const job = await this.start();
    await until('it runs', () => lines(job.f).length === 1);
    const waits = [this.a, this.b].map((x) => this.result(x, job.taskId));
    await this.waiters(this.a, 1, this.c);
    await this.waiters(this.b, 1, this.c);
    return { job, waits };
  }
}

const w = new Place();
before(() => w.open(['--enable-debug-command', 'yes', '--busy-reply-threshold', '100']));
after(() => w.stop());
beforeEach(() => w.recovered());

test('B7: SHUTDOWN and a new start: as if it had never been away', async () => {
  const { job, waits } = await w.running();
  await w.db.call('SHUTDOWN').catch(() => {});
  await w.redis.ended;
  for (const x of [w.a, w.b]) await until('readiness turns 503', async () => (await w.ready(x)) === 503, 10000);
  await w.refused(...w.creation());
  await w.startRedis({ args: w.redisArgs });
  await w.recovered();
  w.letGo(job);
  await w.fine(job, waits);
});

test('B7: a Redis that loads its data for seconds is waited for: not ready, refused, then all goes on', async () => {
  const { job, waits } = await w.running();
  for (let i = 0; i < 300; i++) await w.db.call('SET', `filler:${i}`, randomBytes(400).toString('hex'));
  await w.db.call('BGREWRITEAOF'); // a snapshot: while it reads one, Redis answers now and then
  await until('it is written', async () => /aof_rewrite_in_progress:0[^]*aof_rewrite_scheduled:0/.test(await w.db.call('INFO', 'persistence')));
  await w.redis.kill();
  const args = w.redisArgs;
  const back = w.startRedis({ args: [...args, '--key-load-delay', '100000', '--loading-process-events-interval-bytes', '1024'] }).catch(() => w.redisAnswers());
  await until('it loads', async () => {
    const db = new Redis(w.socket);
    const said = await db.call('PING').catch((e) => e.message);
    db.close();
    return /LOADING/.test(said);
  }, 20000, 10);
  assert.equal(await w.ready(w.a), 503);
  await w.refused('tasks/get', { taskId: job.taskId }, w.b);
  await w.refused(...w.creation());
  await w.endsMeanwhile(job);
  const db = new Redis(w.socket); // enough of that
  await db.call('CONFIG', 'SET', 'key-load-delay', '0');
  db.close();
  await back;
  w.redisArgs = args;
  await w.recovered();
  await w.fine(job, waits);
});

test('B7: a script of somebody else keeps Redis busy: -BUSY is no end of the world', async () => {
  const { job, waits } = await w.running();
  const other = new Redis(w.socket);
  const spinning = other.call('EVAL', 'while true do end', '0').catch((e) => e.message);
  await until('it is busy', async () => /BUSY/.test(await w.db.call('GET', 'x').catch((e) => e.message) ?? ''));
  await w.refused(...w.creation());
  await w.refused('tasks/get', { taskId: job.taskId }, w.b);
  assert.equal((await fetch(`${w.a.origin}/healthz`)).status, 200);
  await w.endsMeanwhile(job);
  await w.db.call('SCRIPT', 'KILL');
  assert.match(await spinning, /killed/i);
  other.close();
  await w.recovered();
  await w.fine(job, waits);
});

test('B7: the disk is full: creations are refused, nothing is lost, and it goes on when there is room', async (t) => {
  const full = new Place();
  const disk = path.join(full.dir, 'disk');
  fs.mkdirSync(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]).status === 0;
  t.after(async () => {
    for (const p of full.programs) await p.kill();
    if (mounted) spawnSync('umount', ['-l', disk]);
    await full.stop();
  });
  if (!mounted) {
    t.skip('needs root, and a kernel that lets it mount a small disk');
    return;
  }
  await full.open(['--dir', disk, '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0']);
  const { job, waits } = await full.running();
  const filler = path.join(disk, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096']);
  await until('Redis cannot write', async () => {
    const r = await full.c.request(...full.creation());
    if (r.error) assert.equal(r.http.status, 503);
    return r.error;
  }, 20000, 20);
  await full.refused(...full.creation(), full.b);
  assert.equal((await fetch(`${full.a.origin}/healthz`)).status, 200);
  await full.endsMeanwhile(job);
  fs.rmSync(filler);
  await until('creations are taken again', async () => (await full.c.request(...full.creation())).result, 20000, 100);
  await full.recovered();
  await full.fine(job, waits);
});
