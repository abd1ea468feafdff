// The official v2 client: it finds the dialect by itself, calls tools, and answers the questions
// of a running job in the rounds of the stateless dialect. Then the steps of a client that keeps
// tasks itself: discover, declare on every request, poll as told, answer by tasks/update.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { World, bin, root, sleep } from '../lib/errand.mjs';
import { balance } from '../lib/balancer.mjs';
import { Modern, TASKS } from '../lib/modern.mjs';

const modules = path.join(root, 'build/node/node_modules');
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(path.join(modules, '@modelcontextprotocol/client/dist/index.mjs')));

const w = new World();
let lb;

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--page-size', '100'];
  const brokers = [await w.startBroker({ args }), await w.startBroker({ args })];
  await w.startWorker({ program: path.join(bin, 'errand-conformance'), names: ['greet'], args: ['--slots', '8'] });
  for (const b of brokers) await w.connect(b, { tool: 'greet' });
  lb = await balance(brokers);
});
after(async () => {
  lb?.close();
  await w.stop();
});

async function connect(t, mode, capabilities = {}) {
  const c = new Client({ name: 'interop', version: '1' }, { capabilities, versionNegotiation: { mode } });
  await c.connect(new StreamableHTTPClientTransport(new URL(lb.url)));
  t.after(() => c.close());
  return c;
}

for (const mode of ['auto', 'legacy']) {
  test(`${mode}: negotiates, lists and calls`, async (t) => {
    const c = await connect(t, mode);
    const { tools } = await c.listTools();
    assert.ok(tools.some((x) => x.name === 'greet'));
    const r = await c.callTool({ name: 'greet', arguments: { name: 'two' } });
    assert.equal(r.content[0].text, 'Hello, two!');
    const failed = await c.callTool({ name: 'test_error_handling', arguments: {} });
    assert.equal(failed.isError, true);
  });

  test(`${mode}: the questions of a running job reach its handlers, and the answers the job`, async (t) => {
    const c = await connect(t, mode, { elicitation: { form: {} } });
    let asked = 0;
    c.setRequestHandler('elicitation/create', async () => {
      asked++;
      return { action: 'accept', content: asked === 1 ? { name: 'Ada' } : { color: 'green' } };
    });
    const r = await c.callTool({ name: 'test_input_required_result_multi_round', arguments: {} });
    assert.equal(r.content[0].text, 'Ada likes green');
    assert.equal(asked, 2);
  });
}

test('auto settles on the stateless dialect', async (t) => {
  const c = await connect(t, 'auto');
  assert.equal(c.getNegotiatedProtocolVersion?.() ?? '2026-07-28', '2026-07-28');
});

test('a client that keeps tasks itself: discover, declare, poll as told, answer by tasks/update', async (t) => {
  const c = new Modern(lb.url, { tasks: true, capabilities: { elicitation: {} } });
  t.after(() => c.close());
  assert.deepEqual((await c.result('server/discover')).capabilities.extensions, { [TASKS]: {} });
  const task = await c.call('confirm_delete', { filename: 'a.txt' });
  assert.equal(task.resultType, 'task');
  let now = task;
  for (let i = 0; i < 50 && now.status !== 'input_required'; i++) {
    await sleep(task.pollIntervalMs);
    now = await c.get(task.taskId);
  }
  const [[key, question]] = Object.entries(now.inputRequests);
  assert.equal(question.method, 'elicitation/create');
  await c.result('tasks/update', { taskId: task.taskId, inputResponses: { nothing: {}, [key]: { action: 'accept', content: { confirm: true } } } });
  await c.result('tasks/update', { taskId: task.taskId, inputResponses: { [key]: { action: 'decline' } } }); // late: ignored
  for (let i = 0; i < 50 && now.status !== 'completed'; i++) {
    await sleep(task.pollIntervalMs);
    now = await c.get(task.taskId);
    assert.ok(!Object.keys(now.inputRequests ?? {}).includes(key));
  }
  assert.equal(now.result.content[0].text, 'Deleted a.txt');
});
