// The answer of a claim is lost on its way from Redis. The worker takes back what it may have
// claimed: a job with one attempt still runs, and once, long before its lease would have lapsed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Cutter } from '../lib/cutter.mjs';
import { World, lines, until } from '../lib/errand.mjs';

const w = new World();
const tools = { tools: [{ name: 'once', description: 'Runs once.', inputSchema: { type: 'object' }, attempts: 1,
  run: { command: ['sh', '-c', 'echo "$ERRAND_ATTEMPT" >>"$1"; while [ -e "$1.wait" ]; do sleep 0.05; done; echo ran', 'sh', '{file}'] } }] };
let c;
let cutter;
let worker;

before(async () => {
  await w.startRedis();
  cutter = await new Cutter(path.join(w.dir, 'worker.sock'), w.socket, () => {}).listen();
  const via = Object.create(w);
  via.redisUrl = cutter.url;
  worker = await via.startWorker({ tools, args: ['--slots', '1', '--lease', '5m'] });
  c = await w.connect(await w.startBroker({ args: ['--rate', '0'] }), { tool: 'once' });
});
after(() => {
  cutter.close();
  return w.stop();
});

const returned = () => worker.log.split('event=CLAIM_RETURNED').length - 1;

async function endsOnce(file, taskId) {
  const r = await c.result('tasks/result', { taskId });
  assert.equal(r.content[0].text.trim(), 'ran');
  assert.deepEqual(lines(file), ['1']);
  assert.equal(await w.db.call('HGET', `errand:{0}:t:${taskId}`, 'tr'), null, 'no attempt was charged');
}

test('P2: jobs whose claim is not answered run, once', async () => {
  for (let i = 0; i < 20 && returned() < 2; i++) {
    const file = path.join(w.dir, `claim${i}`);
    const cut = cutter.cutAt('claim', 1, 'unanswered');
    const { taskId } = await c.createTask('once', { file });
    await until('the claim is cut', () => cut.fired);
    await endsOnce(file, taskId);
  }
  assert.ok(returned() >= 2, worker.log);
});

test('P2: the job that a finish claimed, too; and the outcome that it brought is stored', async () => {
  const files = ['first', 'second'].map((name) => path.join(w.dir, name));
  fs.writeFileSync(`${files[0]}.wait`, '');
  const first = await c.createTask('once', { file: files[0] });
  await until('the first runs', () => lines(files[0]).length === 1);
  const second = await c.createTask('once', { file: files[1] });
  const before = returned();
  const cut = cutter.cutAt('finish', 1, 'unanswered');
  fs.rmSync(`${files[0]}.wait`);
  await endsOnce(files[0], first.taskId);
  await endsOnce(files[1], second.taskId);
  assert.ok(cut.fired);
  await until('it is logged', () => returned() > before);
  assert.equal(returned(), before + 1);
});
