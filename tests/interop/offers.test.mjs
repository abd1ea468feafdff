// What a server of other people offers beside tools, read through errand byte for byte as when read
// directly: @modelcontextprotocol/server-everything on standard input and output, wrapped with a
// prefix, at two brokers and in both dialects. Then both official clients, whose own schemas check
// what they take, with a server that asks while a prompt is made (fixture/server.mjs).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { balance } from '../lib/balancer.mjs';
import { messageIn } from '../lib/client.mjs';
import { World, root, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';

const modules = path.join(root, 'build/node/node_modules');
const everything = path.join(modules, '@modelcontextprotocol/server-everything/dist/index.js');
const load = (file) => import(pathToFileURL(path.join(modules, '@modelcontextprotocol', file)));
const one = { ...await load('sdk/dist/esm/client/index.js'), ...await load('sdk/dist/esm/client/streamableHttp.js') };
const types = await load('sdk/dist/esm/types.js');
const two = await load('client/dist/index.mjs');
const w = new World();
const brokers = [];
let direct;
let lb;

// The server itself, asked line by line: each answer is the bytes of its result, or of its error.
class Direct {
  constructor() {
    this.child = spawn(process.execPath, [everything, 'stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.waiting = new Map();
    this.id = 0;
    let rest = '';
    this.child.stdout.on('data', (d) => {
      rest += d;
      for (let at = rest.indexOf('\n'); at >= 0; at = rest.indexOf('\n')) {
        this.#line(rest.slice(0, at));
        rest = rest.slice(at + 1);
      }
    });
  }

  #line(line) {
    const { id } = JSON.parse(line);
    const outcome = /^\{"(?:result|error)":(.*),"jsonrpc":"2\.0","id":\d+\}$/.exec(line) ?? /^\{"jsonrpc":"2\.0","id":\d+,"(?:result|error)":(.*)\}$/.exec(line);
    if (outcome) this.waiting.get(id)?.(outcome[1]);
  }

  ask(method, params = {}) {
    const id = ++this.id;
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  async open() {
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'direct', version: '1' } });
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    return this;
  }
}

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--page-size', '100'];
  brokers.push(await w.startBroker({ args }), await w.startBroker({ args }));
  const mcpServers = {
    everything: { command: process.execPath, args: [everything, 'stdio'], prefix: 'every_', startTimeout: '60s' },
    fixture: { command: process.execPath, args: [path.join(root, 'tests/interop/fixture/server.mjs')], startTimeout: '60s' },
  };
  await w.startWorker({ tools: { mcpServers } });
  direct = await new Direct().open();
  for (const b of brokers) {
    const c = await w.connect(b, { tool: null });
    for (const prompt of ['every_simple-prompt', 'test_simple_prompt']) {
      await until(`${prompt} is there`, async () => (await c.result('prompts/list')).prompts.some((p) => p.name === prompt), 60000);
    }
  }
  lb = await balance(brokers);
});
after(async () => {
  lb?.close();
  direct?.child.kill();
  await w.stop();
});

let turn = 0;
const connect = () => w.connect(brokers[turn++ % 2], { tool: null });
const modern = () => {
  const c = new Modern(brokers[turn++ % 2].url);
  w.clients.push(c);
  return c;
};
// Some of its texts say when they were made.
const timeless = (bytes) => bytes.replace(/\d+:\d\d:\d\d ?(AM|PM)?/g, 'a time');
async function bytes(c, method, params) {
  const { http } = await c.request(method, params);
  const answer = /^\{"jsonrpc":"2\.0","id":\d+,"(?:result|error)":([^]*)\}$/.exec(messageIn(http.text));
  assert.ok(answer, `${method} ${JSON.stringify(params)}: ${http.status} ${http.text}`);
  return answer[1];
}
// Our dialect adds members; the server's own are all there as they were.
const hasMembers = (text, of) => {
  assert.ok(text.includes(timeless(of).slice(1, -1)), `${text}\n${of}`);
};

test('every resource that it lists is listed with its bytes, and reads the same', async () => {
  const l = await connect();
  const m = modern();
  const { resources } = JSON.parse(await direct.ask('resources/list'));
  assert.ok(resources.length > 3);
  const listed = await bytes(l, 'resources/list');
  for (const r of resources) {
    assert.ok(listed.includes(JSON.stringify(r)), r.uri);
    const own = await direct.ask('resources/read', { uri: r.uri });
    assert.equal(await bytes(l, 'resources/read', { uri: r.uri }), own);
    hasMembers(await bytes(m, 'resources/read', { uri: r.uri }), own);
  }
  assert.equal((await l.result('resources/list')).resources.filter((r) => r.uri.startsWith('demo:')).length, resources.length);
});

test('resources of its templates read the same, and so do its errors', async () => {
  const l = await connect();
  assert.equal((await l.result('resources/templates/list')).resourceTemplates.length - 1, // the fixture's
    JSON.parse(await direct.ask('resources/templates/list')).resourceTemplates.length);
  for (const uri of ['demo://resource/dynamic/text/1', 'demo://resource/dynamic/text/42', 'demo://resource/dynamic/blob/7', 'demo://resource/none', 'demo://resource/dynamic/text/x']) {
    const own = timeless(await direct.ask('resources/read', { uri }));
    const through = timeless(await bytes(l, 'resources/read', { uri }));
    if (uri.includes('blob')) assert.equal(through.length, own.length); // its base64 holds the time
    else assert.equal(through, own);
  }
});

test('every prompt is listed under its prefixed name, and gets the same', async () => {
  const l = await connect();
  const m = modern();
  const { prompts } = JSON.parse(await direct.ask('prompts/list'));
  const listed = (await l.result('prompts/list')).prompts.filter((p) => p.name.startsWith('every_'));
  assert.deepEqual(listed.map((p) => p.name), prompts.map((p) => `every_${p.name}`).sort());
  for (const p of prompts) assert.deepEqual(listed.find((x) => x.name === `every_${p.name}`), { ...p, name: `every_${p.name}` });
  for (const [name, args] of [['simple-prompt', undefined], ['args-prompt', { city: 'Z\u00fcrich "x"', state: 'ZH' }], ['completable-prompt', { department: 'Sales', name: 'Eve' }],
    ['resource-prompt', { resourceType: 'Text', resourceId: '3' }], ['args-prompt', {}]]) {
    const own = timeless(await direct.ask('prompts/get', { name, arguments: args }));
    assert.equal(timeless(await bytes(l, 'prompts/get', { name: `every_${name}`, arguments: args })), own);
    if (!own.includes('"code"')) hasMembers(timeless(await bytes(m, 'prompts/get', { name: `every_${name}`, arguments: args })), own);
  }
});

test('completion says the same', async () => {
  const l = await connect();
  const m = modern();
  const asked = (name) => [
    { ref: { type: 'ref/prompt', name }, argument: { name: 'department', value: '' } },
    { ref: { type: 'ref/prompt', name }, argument: { name: 'name', value: '' }, context: { arguments: { department: 'Engineering' } } },
  ];
  for (const i of [0, 1]) {
    const own = await direct.ask('completion/complete', asked('completable-prompt')[i]);
    assert.ok(JSON.parse(own).completion.values.length > 0, own);
    assert.equal(await bytes(l, 'completion/complete', asked('every_completable-prompt')[i]), own);
    hasMembers(await bytes(m, 'completion/complete', asked('every_completable-prompt')[i]), own);
  }
  const template = { ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' }, argument: { name: 'resourceId', value: '1' } };
  assert.equal(await bytes(l, 'completion/complete', template), await direct.ask('completion/complete', template));
});

test('a hundred reads at once are all answered with their own', { timeout: 120000 }, async () => {
  const l = await connect();
  await Promise.all(Array.from({ length: 100 }, async (_, i) => {
    const r = await l.at(brokers[i % 2]).result('resources/read', { uri: `demo://resource/dynamic/text/${i + 1}` });
    assert.match(r.contents[0].text, new RegExp(`^Resource ${i + 1}:`));
  }));
});

test('B-02: what it says of a resource reaches the session and the listener that subscribed', { timeout: 90000 }, async () => {
  const uri = 'demo://resource/dynamic/text/5';
  const c = await connect();
  const m = modern();
  const stream = await c.at(brokers[1]).openStream();
  const l = await m.listen({ resourceSubscriptions: [uri] });
  assert.deepEqual(l.messages[0].params.notifications, { resourceSubscriptions: [uri] });
  assert.deepEqual(await c.result('resources/subscribe', { uri }), {});
  await c.result('tools/call', { name: 'every_toggle-subscriber-updates', arguments: {} });
  const told = (messages) => messages.some((n) => n.method === 'notifications/resources/updated' && n.params.uri === uri);
  await until('the session is told', () => told(stream.messages), 60000);
  await until('the listener is told', () => told(l.messages), 60000);
  await c.result('tools/call', { name: 'every_toggle-subscriber-updates', arguments: {} });
});

const clients = {
  'the first client': async (capabilities) => {
    const c = new one.Client({ name: 'interop', version: '1' }, { capabilities });
    await c.connect(new one.StreamableHTTPClientTransport(new URL(lb.url)));
    return { c, onAsked: (fn) => c.setRequestHandler(types.ElicitRequestSchema, fn), on: (schema, fn) => c.setNotificationHandler(types[schema], fn) };
  },
  ...Object.fromEntries(['legacy', 'auto'].map((mode) => [`the second client, ${mode}`, async (capabilities) => {
    const c = new two.Client({ name: 'interop', version: '1' }, { capabilities, versionNegotiation: { mode } });
    await c.connect(new two.StreamableHTTPClientTransport(new URL(lb.url)));
    const methods = { ResourceUpdatedNotificationSchema: 'notifications/resources/updated', PromptListChangedNotificationSchema: 'notifications/prompts/list_changed' };
    return { c, mode, onAsked: (fn) => c.setRequestHandler('elicitation/create', fn), on: (schema, fn) => c.setNotificationHandler(methods[schema], fn) };
  }])),
};

for (const [name, make] of Object.entries(clients)) {
  test(`${name} reads, gets, completes, is asked and told`, { timeout: 60000 }, async (t) => {
    const { c, mode, onAsked, on } = await make({ elicitation: { form: {} } });
    t.after(() => c.close());
    assert.ok((await c.listResources()).resources.some((r) => r.uri === 'test://static-binary'));
    assert.ok((await c.listResourceTemplates()).resourceTemplates.some((r) => r.uriTemplate === 'test://template/{id}/data'));
    assert.equal((await c.readResource({ uri: 'test://static-text' })).contents[0].text, 'This is the content of the static text resource.');
    assert.match((await c.readResource({ uri: 'test://template/7/data' })).contents[0].text, /ID: 7/);
    await assert.rejects(c.readResource({ uri: 'test://nothing' }));
    assert.ok((await c.listPrompts()).prompts.some((p) => p.name === 'test_simple_prompt'));
    assert.match((await c.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } })).messages[0].content.text, /'a'.*'b'/);
    const { completion } = await c.complete({ ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'par' } });
    assert.deepEqual(completion.values, ['paris', 'park', 'party']);

    onAsked(async () => ({ action: 'accept', content: { context: 'tests' } }));
    assert.equal((await c.getPrompt({ name: 'test_input_required_result_prompt' })).messages[0].content.text, 'Use the context tests');

    const uri = 'test://watched-resource';
    const updated = new Promise((resolve) => { on('ResourceUpdatedNotificationSchema', (n) => resolve(n.params.uri)); });
    const changed = new Promise((resolve) => { on('PromptListChangedNotificationSchema', () => resolve(true)); });
    if (mode === 'auto') await c.listen({ promptsListChanged: true, resourceSubscriptions: [uri] });
    else await c.subscribeResource({ uri });
    const said = setInterval(() => c.callTool({ name: 'test_trigger_resource_update', arguments: {} }).catch(() => {}), 200);
    t.after(() => clearInterval(said));
    assert.equal(await updated, uri);
    clearInterval(said);
    await c.callTool({ name: 'test_trigger_prompt_change', arguments: {} });
    assert.equal(await changed, true);
  });
}
