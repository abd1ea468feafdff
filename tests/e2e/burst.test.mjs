// A thousand tasks at once, with no worker there yet: family B18.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { World, busy, lines, ran, until } from '../lib/errand.mjs';

const w = new World();
const N = 1000;
let a;
let b;
let c;

const tools = { tools: [{ name: 'mark', description: 'Writes a line.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', 'echo "$2" >>"$1"; echo "$2"', 'sh', '{file}', '{n}'] } }] };

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--max-active', '2000'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  const first = await w.startWorker({ tools });
  c = await w.connect(a, { tool: 'mark' });
  await first.kill('SIGTERM');
});
after(() => w.stop());

test('B18: 1,000 creates at once are answered while no worker runs; then each runs exactly once', async () => {
  const file = `${w.dir}/marks`;
  const began = Date.now();
  const ids = await Promise.all(Array.from({ length: N }, async (_, i) => {
    const { taskId, status } = await c.at(i % 2 ? a : b).createTask('mark', { file, n: String(i) });
    assert.equal(status, 'working');
    return taskId;
  }));
  // A bound for a busy machine; what it takes on an idle one is measured elsewhere.
  assert.ok(ran(began) < busy(15000), `${Math.round(ran(began))} ms`);
  assert.equal(new Set(ids).size, N);
  assert.deepEqual(lines(file), []);
  const waits = ids.map((taskId, i) => c.at(i % 2 ? b : a).result('tasks/result', { taskId }));
  await until('all of them wait', async () => (await w.metric(a, 'errand_waiters')) + (await w.metric(b, 'errand_waiters')) === N, 30000);
  await Promise.all([w.startWorker({ tools, args: ['--slots', '8'] }), w.startWorker({ tools, args: ['--slots', '8'] })]);
  const results = await Promise.all(waits);
  results.forEach((r, i) => assert.equal(r.content[0].text, `${i}\n`));
  const marks = lines(file).map(Number).sort((x, y) => x - y);
  assert.deepEqual(marks, Array.from({ length: N }, (_, i) => i));
  assert.equal(await w.db.call('ZCARD', 'errand:{0}:ls'), 0);
});

// The figure of an idle machine is 100 ms at the 99th percentile, and the median shows that. On one
// that is busy with other things the slowest are late by what the machine stood still or its disk
// took, which the same number of pings and of writes to Redis tells; a create that waited for
// something of ours would be later by more, and in each of three rounds.
test('B18: one create after another, the 99th percentile of them is answered at once', async () => {
  const timed = async (step) => {
    const sent = performance.now();
    await step();
    return performance.now() - sent;
  };
  const round = async () => {
    const all = { create: [], ping: [], write: [] };
    for (let i = 0; i < 300; i++) {
      all.ping.push(await timed(() => c.result('ping')));
      all.write.push(await timed(() => w.db.call('SET', 'written', i)));
      all.create.push(await timed(() => c.createTask('mark', { file: '/dev/null', n: 'x' })));
    }
    const [create, ping, write] = Object.values(all).map((x) => x.sort((p, q) => p - q)).map((x) => ({ p50: x[150], p99: x[296] }));
    const fine = create.p50 < 100 + 5 * write.p50 && create.p99 < 100 + 10 * Math.max(ping.p99, write.p99);
    return { fine, seen: `creates ${JSON.stringify(create)}, pings ${JSON.stringify(ping)}, writes ${JSON.stringify(write)}` };
  };
  const rounds = [];
  while (rounds.length < 3 && !rounds.at(-1)?.fine) rounds.push(await round());
  assert.ok(rounds.at(-1).fine, rounds.map((r) => r.seen).join('\n'));
});
