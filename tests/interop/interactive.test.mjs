// The SDK's own example client for interactive tasks, run as it is: elicitation and sampling
// inside tasks, behind a round robin. And SDK clients that host tasks themselves.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { World, bin, root } from '../lib/errand.mjs';
import { balance } from '../lib/balancer.mjs';

const base = path.join(root, 'build/node/node_modules/@modelcontextprotocol/sdk/dist/esm');
const sdk = (name) => import(pathToFileURL(path.join(base, name)));
const { Client } = await sdk('client/index.js');
const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
const { CallToolResultSchema, CreateMessageRequestSchema, CreateTaskResultSchema, ElicitRequestSchema } = await sdk('types.js');
const { InMemoryTaskStore, InMemoryTaskMessageQueue } = await sdk('experimental/tasks/stores/in-memory.js');

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

test('the example client of the SDK completes, with the questions its own server asks', { timeout: 60000 }, async () => {
  const child = spawn(process.execPath, [path.join(base, 'examples/client/simpleTaskInteractiveClient.js'), '--url', lb.url], { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  const read = (d) => {
    out += d;
    if (/\(y\/n\): $/.test(out)) child.stdin.write('y\n');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const status = await new Promise((r) => child.once('close', r));
  assert.equal(status, 0, out);
  assert.match(out, /Result: Deleted important\.txt/);
  assert.match(out, /Cherry blossoms fall/);
  assert.match(out, /Demo complete/);
  // Each may be asked twice: what the client has on its GET stream and has not answered yet when it
  // opens tasks/result is taken back and asked there.
  const asked = new Set(out.match(/Server (asks|requests).*/g));
  assert.deepEqual([...asked], ["Server asks: Are you sure you want to delete 'important.txt'?",
    'Server requests LLM completion for: Write a haiku about autumn leaves'], out);
});

// What a client that hosts tasks declares.
const hosting = { elicitation: { form: {} }, sampling: {}, tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } } };

async function host(t, { taskMessageQueue } = {}) {
  const taskStore = new InMemoryTaskStore();
  const client = new Client({ name: 'host', version: '1' }, { capabilities: hosting, taskStore, taskMessageQueue });
  const seen = [];
  client.setRequestHandler(CreateMessageRequestSchema, async (request, extra) => {
    seen.push(request.params);
    const result = { model: 'm', role: 'assistant', content: { type: 'text', text: 'from a hosted task' } };
    if (!request.params.task || !extra.taskStore) return result;
    const task = await extra.taskStore.createTask({ ttl: 60000, pollInterval: 200 });
    setTimeout(() => extra.taskStore.storeTaskResult(task.taskId, 'completed', result).catch(() => {}), 700);
    return { task };
  });
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { confirm: true } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(lb.url)));
  t.after(() => client.close());
  return { client, seen };
}

test('T-05 T-106: a client that hosts tasks is asked with one, polled, and its result reaches the job', { timeout: 60000 }, async (t) => {
  const { client, seen } = await host(t);
  const r = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'p' } });
  assert.match(r.content[0].text, /from a hosted task/);
  assert.equal(seen.length, 1);
  assert.ok(seen[0].task, 'it was asked with a task');
});

test('A12: a hosting client whose SDK cannot find our task answers with an error, and the job does not hang', { timeout: 60000 }, async (t) => {
  const { client } = await host(t, { taskMessageQueue: new InMemoryTaskMessageQueue() });
  const created = await client.request({ method: 'tools/call', params: { name: 'confirm_delete', arguments: { filename: 'x' }, task: {} } }, CreateTaskResultSchema);
  const r = await client.experimental.tasks.getTaskResult(created.task.taskId, CallToolResultSchema).catch((e) => ({ isError: true, content: [{ text: e.message }] }));
  assert.ok(r.content[0].text.length > 0);
});
