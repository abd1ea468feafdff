// Programs of two versions on one Redis, as while they are replaced one after the other: each brings
// its own function library, under a name of its own, and all work on the same tasks. The other
// version is the same program with another digest in all its names.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { World, bin, lines, until } from '../lib/errand.mjs';

const w = new World();
const args = ['--rate', '0'];
const tools = { tools: [{ name: 'job', inputSchema: { type: 'object' }, description: 'Runs for a while.', run: { command: ['sh', '-c', 'echo start >>"$1"; sleep "$2"; echo ran', 'sh', '{file}', '{seconds}'] } }] };
const text = (r) => r.content[0].text.trim();
const libraries = async () => (await w.db.call('FUNCTION', 'LIST', 'LIBRARYNAME', 'errand_*')).map((l) => l[1]).sort();

let now; // the digest of the programs under test
const past = '00000000';

// A copy of a program in which every "errand_<digest>" and the digest itself is another's.
function other(program) {
  const bytes = fs.readFileSync(path.join(bin, program));
  now = /#!lua name=errand_([0-9a-f]{8})\n/.exec(bytes.toString('latin1'))[1];
  for (let at = bytes.indexOf(now); at >= 0; at = bytes.indexOf(now, at)) bytes.write(past, at, 'latin1');
  const file = path.join(w.dir, `${program}-before`);
  fs.writeFileSync(file, bytes, { mode: 0o755 });
  return file;
}

let oldBroker;
let newBroker;
let oldWorker;

before(async () => {
  await w.startRedis();
  oldBroker = await w.startBroker({ program: other('errand-broker'), args });
  oldWorker = await w.startWorker({ program: other('errand-worker'), tools, args: ['--grace', '1s'] });
  newBroker = await w.startBroker({ args });
});
after(() => w.stop());

test('B22: both libraries are there, each program calls its own', async () => {
  assert.notEqual(now, past);
  assert.deepEqual(await libraries(), [`errand_${past}`, `errand_${now}`].sort());
});

test('B22: a task made through a new broker is run by an old worker, and told at both brokers', async () => {
  const c = await w.connect(newBroker, { tool: 'job' });
  const { taskId } = await c.createTask('job', { file: `${w.dir}/a`, seconds: '0.5' });
  const both = await Promise.all([c, c.at(oldBroker)].map((x) => x.result('tasks/result', { taskId })));
  assert.deepEqual(both.map(text), ['ran', 'ran']);
  assert.deepEqual(lines(`${w.dir}/a`), ['start']);
});

test('B22: the other way round, and what an old worker hands back a new one runs', async () => {
  const c = await w.connect(oldBroker, { tool: 'job' });
  const { taskId } = await c.createTask('job', { file: `${w.dir}/b`, seconds: '6' });
  await until('it runs', () => lines(`${w.dir}/b`).length === 1);
  await w.startWorker({ tools });
  const waits = c.request('tasks/result', { taskId });
  await w.waiters(oldBroker, 1, c);
  oldWorker.signal('SIGTERM');
  assert.equal(text((await waits).result), 'ran');
  assert.deepEqual(lines(`${w.dir}/b`), ['start', 'start']);
});

test('B22: the old library can be deleted once nobody calls it; who does brings it again', async () => {
  const c = await w.connect(newBroker, { tool: 'job' });
  assert.equal(await w.db.call('FUNCTION', 'DELETE', `errand_${past}`), 'OK');
  const { taskId } = await c.createTask('job', { file: `${w.dir}/c`, seconds: '0' });
  assert.equal(text(await c.result('tasks/result', { taskId })), 'ran');
  assert.equal((await c.at(oldBroker).getTask(taskId)).status, 'completed');
  assert.equal((await libraries()).length, 2);
});
