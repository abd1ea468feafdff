// Real MCP servers as workers: server-everything and server-filesystem, unmodified, side by side behind
// errand; and server-everything over HTTP. The client is the official SDK's.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { World, below, freePort, root, until } from '../lib/errand.mjs';

const require = createRequire(path.join(root, 'build/node/noop.js'));
const base = path.dirname(require.resolve('@modelcontextprotocol/sdk/package.json'));
const sdk = (name) => import(pathToFileURL(path.join(base.replace(/dist.*$/, ''), 'dist/esm', name)));
const bin = (name) => path.join(root, `build/node/node_modules/@modelcontextprotocol/${name}/dist/index.js`);

const { Client } = await sdk('client/index.js');
const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
const types = await sdk('types.js');
const { CallToolResultSchema, ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema } = types;

const w = new World();
let broker;
let worker;
let overHttp; // server-everything's own process
let folder;
const node = process.execPath;

before(async () => {
  await w.startRedis();
  broker = await w.startBroker({ args: ['--rate', '0', '--page-size', '200'] });
  folder = fs.mkdtempSync(path.join(w.dir, 'files-'));
  fs.writeFileSync(path.join(folder, 'a.txt'), 'what is in it\n');
  const port = await freePort();
  overHttp = spawn(node, [bin('server-everything'), 'streamableHttp'], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
  worker = await w.startWorker({
    tools: {
      mcpServers: {
        everything: { command: node, args: [bin('server-everything')], prefix: 'every_' },
        files: { command: node, args: [bin('server-filesystem'), folder] },
        web: { url: `http://127.0.0.1:${port}/mcp`, prefix: 'web_' },
      },
    },
    args: ['--slots', '16'],
  });
  for (const tool of ['every_echo', 'list_directory', 'web_echo']) await w.connect(broker, { tool });
});
after(async () => {
  overHttp?.kill('SIGKILL');
  await w.stop();
});

async function client(t, capabilities = {}) {
  const c = new Client({ name: 'interop', version: '1' }, { capabilities });
  const transport = new StreamableHTTPClientTransport(new URL(broker.url));
  await c.connect(transport);
  t.after(async () => {
    await transport.terminateSession();
    await c.close();
  });
  return c;
}
const text = (r) => r.content[0].text;

// What the server answers when it is asked directly, on its standard output: raw.
async function directly(...requests) {
  const child = spawn(node, [bin('server-everything')], { stdio: ['pipe', 'pipe', 'ignore'] });
  const put = (m) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`);
  let out = '';
  child.stdout.on('data', (d) => { out += d; });
  const answered = (id) => until(`answer ${id}`, () => out.split('\n').find((l) => l.includes(`"id":${id}}`)), 20000);
  put({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } });
  await answered(0);
  put({ method: 'notifications/initialized' });
  const all = [];
  for (const [i, r] of requests.entries()) {
    put({ id: i + 1, ...r });
    const line = await answered(i + 1);
    all.push(/^\{"result":(.*),"jsonrpc":"2.0","id":\d+\}$/.exec(line)[1]);
  }
  child.kill('SIGKILL');
  return all;
}

test('the tools of all are listed, with what they say of themselves', async (t) => {
  const c = await client(t);
  const { tools } = await c.listTools();
  const names = tools.map((x) => x.name);
  for (const n of ['every_echo', 'every_get-sum', 'every_trigger-long-running-operation', 'every_trigger-elicitation-request', 'every_trigger-sampling-request', 'read_text_file', 'write_file', 'web_echo']) assert.ok(names.includes(n), n);
  const long = tools.find((x) => x.name === 'every_trigger-long-running-operation');
  assert.equal(long.title, 'Trigger Long Running Operation Tool');
  assert.equal(long.annotations.idempotentHint, true);
  assert.ok(long.inputSchema.properties.duration);
  assert.equal(text(await c.callTool({ name: 'every_get-sum', arguments: { a: 2, b: 3 } })), 'The sum of 2 and 3 is 5.');
  const listed = await c.callTool({ name: 'list_directory', arguments: { path: folder } });
  assert.match(text(listed), /a\.txt/);
  assert.match(text(await c.callTool({ name: 'read_text_file', arguments: { path: path.join(folder, 'a.txt') } })), /what is in it/);
});

for (const prefix of ['every_', 'web_']) {
  test(`${prefix} a long running operation is a task with progress`, async (t) => {
    const c = await client(t);
    const seen = [];
    const progress = [];
    for await (const m of c.experimental.tasks.callToolStream({ name: `${prefix}trigger-long-running-operation`, arguments: { duration: 1.5, steps: 3 } }, CallToolResultSchema, { task: { ttl: 60000 }, onprogress: (p) => progress.push(p.progress) })) {
      seen.push(m);
    }
    assert.equal(seen[0].type, 'taskCreated');
    assert.match(text(seen.at(-1).result), /Long running operation completed/);
    assert.ok(progress.length > 0 && progress.at(-1) === 3, String(progress));
  });

  test(`${prefix} elicitation, sampling and roots are answered by the client`, async (t) => {
    const c = await client(t, { elicitation: { form: {} }, sampling: {}, roots: {} });
    let form;
    c.setRequestHandler(ElicitRequestSchema, (r) => {
      form = r.params;
      return { action: 'accept', content: { name: 'Ada Lovelace', check: true } };
    });
    c.setRequestHandler(CreateMessageRequestSchema, () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'what the model says' } }));
    c.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///somewhere', name: 'a root' }] }));
    const elicited = await c.callTool({ name: `${prefix}trigger-elicitation-request`, arguments: {} });
    assert.equal(form.message, 'Please provide inputs for the following fields:');
    assert.match(JSON.stringify(elicited.content), /Ada Lovelace/);
    const sampled = await c.callTool({ name: `${prefix}trigger-sampling-request`, arguments: { prompt: 'say', maxTokens: 10 } });
    assert.match(JSON.stringify(sampled.content), /what the model says/);
  });

  test(`${prefix} 100 calls in parallel each get their own answer`, async (t) => {
    const c = await client(t);
    const all = await Promise.all([...Array(100)].map((_, i) => c.callTool({ name: `${prefix}echo`, arguments: { message: `n${i}` } })));
    assert.deepEqual(all.map(text), [...Array(100)].map((_, i) => `Echo: n${i}`));
  });
}

test('resources and prompts read through errand are what the server says directly, byte for byte', async () => {
  const c = await w.connect(broker, { tool: null });
  const list = await until('resources are listed', async () => {
    const { resources } = await c.result('resources/list');
    return resources.length > 0 && resources;
  });
  const { uri } = list.find((r) => r.uri.includes('.md')) ?? list[0];
  const asked = [
    { method: 'resources/read', params: { uri } },
    { method: 'prompts/get', params: { name: 'simple-prompt' } },
    { method: 'prompts/get', params: { name: 'args-prompt', arguments: { city: 'Bern' } } },
  ];
  const expected = await directly(...asked);
  for (const [i, r] of asked.entries()) {
    const params = r.params.name ? { ...r.params, name: `every_${r.params.name}` } : r.params;
    const answer = await c.request(r.method, params);
    assert.ok(answer.http.text.includes(expected[i]), `${r.method}\n${answer.http.text.slice(0, 500)}\n${expected[i].slice(0, 500)}`);
  }
});

test('the child killed in the middle of a call: the idempotent call is done again', async (t) => {
  const c = await client(t);
  const pid = () => below(worker.pid).find((p) => p.argv.some((a) => a.includes('server-everything')) && p.argv[0] === node)?.pid;
  const before = pid();
  let progress = 0;
  const call = c.callTool({ name: 'every_trigger-long-running-operation', arguments: { duration: 2, steps: 4 } }, undefined, { timeout: 60000, onprogress: () => { progress += 1; } });
  await until('it is under way', () => progress > 0);
  process.kill(before, 'SIGKILL');
  assert.match(text(await call), /completed/);
  assert.notEqual(pid(), before);
});
