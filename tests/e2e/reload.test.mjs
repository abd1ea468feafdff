// Tools that are read again while a worker serves: SIGHUP.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { World, busy, lines, ran, sleep, until } from '../lib/errand.mjs';

const w = new World();
let a;
let worker;
let c;
let file;
let stream;

const tool = (name, more = {}) => ({ name, description: 'A tool.', inputSchema: { type: 'object' }, run: { command: ['echo', name] }, ...more });
const put = (...tools) => fs.writeFileSync(file, JSON.stringify({ tools }));
const count = (event, log = worker.log) => log.split(`event=${event} `).length - 1;

async function hangup(one = worker) {
  const before = count('TOOLS_READ', one.log);
  one.signal('SIGHUP');
  await until('they have been read', () => count('TOOLS_READ', one.log) > before, 5000);
}
const names = async (at = a) => (await c.at(at).result('tools/list')).tools.map((t) => t.name).sort();
const text = (r) => r.content[0].text.trim();
const listChanges = () => stream.messages.filter((m) => m.method === 'notifications/tools/list_changed').length;

before(async () => {
  await w.startRedis();
  file = `${w.dir}/tools.json`;
  put(tool('one'), tool('two'));
  // A tool without a worker would stay for long: what goes here goes because a worker says so.
  a = await w.startBroker({ args: ['--rate', '0', '--tool-grace', '1h'] });
  worker = await w.startWorker({ tools: file, args: ['--slots', '2'] });
  c = await w.connect(a, { tool: 'two' });
  stream = await c.openStream();
});
after(() => w.stop());

test('on SIGHUP new tools, changed tools and tools that are gone are announced at once', async () => {
  put(tool('one', { description: 'It has changed.', run: { command: ['echo', 'changed'] } }), tool('three'));
  await hangup();
  const began = Date.now();
  await until('the list has changed', async () => (await names()).join() === 'one,three', 2000);
  await until('the client was told', () => listChanges() > 0, 2000);
  assert.ok(ran(began) < busy(2000));
  const { tools } = await c.result('tools/list');
  assert.equal(tools.find((t) => t.name === 'one').description, 'It has changed.');
  assert.equal(text(await c.callTool('one')), 'changed');
  assert.equal(text(await c.callTool('three')), 'three');
  const r = await c.request('tools/call', { name: 'two', arguments: {} });
  assert.equal(r.error.code, -32602);
});

test('many tools at once are no different', async () => {
  const many = Array.from({ length: 40 }, (_, i) => tool(`many${i}`));
  put(tool('one'), ...many);
  await hangup();
  await until('all are listed', async () => (await names()).length === 41, 2000);
  const all = await Promise.all(many.map((t) => c.callTool(t.name)));
  assert.deepEqual(all.map(text), many.map((t) => t.name));
});

test('a running job keeps its definition: its grace, its timeout and what becomes of its output', async () => {
  const log = `${w.dir}/kept`;
  const script = 'echo start >>"$1"; while [ ! -e "$1.go" ]; do sleep 0.02; done; printf \'{"kept":true}\'';
  put(tool('one', { run: { command: ['sh', '-c', script, 'sh', '{log}'], output: 'json' } }));
  await hangup();
  const { taskId } = await c.createTask('one', { log });
  await until('it runs', () => lines(log).length === 1);
  put(tool('other'));
  await hangup();
  await until('one is gone', async () => (await names()).join() === 'other', 2000);
  put(tool('one', { timeout: '1ms' }), tool('other'));
  await hangup();
  await until('one is back', async () => (await names()).join() === 'one,other', 2000);
  assert.equal((await c.getTask(taskId)).status, 'working');
  fs.writeFileSync(`${log}.go`, '');
  assert.deepEqual((await c.result('tasks/result', { taskId })).structuredContent, { kept: true });
  assert.equal(lines(log).length, 1);
});

test('a file with a mistake changes nothing, and the log says what is wrong with it', async () => {
  put(tool('kept'));
  await hangup();
  await until('it is listed', async () => (await names()).join() === 'kept', 2000);
  const bad = [
    ['{"tools": [', /line 1, column/],
    [JSON.stringify({ tools: [] }), /there is no tool to serve/],
    [JSON.stringify({ tools: [tool('kept', { timeout: '5 parsecs' })] }), /tool \\"kept\\": \\"timeout\\".*5 parsecs/],
  ];
  for (const [body, why] of bad) {
    fs.writeFileSync(file, body);
    const before = count('TOOLS_KEPT');
    worker.signal('SIGHUP');
    await until('it is refused', () => count('TOOLS_KEPT') > before, 5000);
    const line = worker.log.trim().split('\n').findLast((l) => l.includes('event=TOOLS_KEPT '));
    assert.match(line, why);
    assert.ok(line.includes(file), line);
    assert.equal(text(await c.callTool('kept')), 'kept');
    assert.deepEqual(await names(), ['kept']);
  }
});

test('a tool that another worker serves on stays, and is that one\'s from then on', async () => {
  put(tool('both', { description: 'Of the first.' }));
  await hangup();
  const second = await w.startWorker({ tools: { tools: [tool('both', { description: 'Of the second.' })] } });
  const description = async () => (await c.result('tools/list')).tools.find((t) => t.name === 'both')?.description;
  await until('the newer one is listed', async () => (await description()) === 'Of the second.', 5000);
  put(tool('both', { description: 'Read again.' }));
  await hangup();
  await until('what was read last is listed', async () => (await description()) === 'Read again.', 5000);
  put(tool('solo'));
  await hangup();
  await until('the second one is listed', async () => (await description()) === 'Of the second.', 8000);
  assert.equal(text(await c.callTool('both')), 'both');
  assert.deepEqual(await names(), ['both', 'solo']);
  await second.kill('SIGTERM');
});

test('jobs that come while the tools are read again and again are all done, once each', async () => {
  const log = `${w.dir}/storm`;
  const run = { command: ['sh', '-c', 'echo "$ERRAND_TASK_ID" >>"$1"', 'sh', '{log}'] };
  put(tool('storm', { run }), tool('x0'));
  await hangup();
  await until('it is listed', async () => (await names()).includes('storm'), 2000);
  let over = false;
  const storm = (async () => {
    for (let i = 1; !over; i++) {
      put(tool('storm', { run }), tool(`x${i}`));
      await hangup();
      await sleep(5);
    }
  })();
  const tasks = await Promise.all(Array.from({ length: 60 }, () => c.createTask('storm', { log })));
  await Promise.all(tasks.map(({ taskId }) => c.result('tasks/result', { taskId })));
  over = true;
  await storm;
  assert.deepEqual(lines(log).sort(), tasks.map((t) => t.taskId).sort());
});
