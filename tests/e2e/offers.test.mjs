// What wrapped servers offer beside tools, in both dialects, at two brokers: lists, reads, prompts,
// completion, subscriptions. The worker is scripted (lib/offering.mjs): it may answer any bytes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { messageIn } from '../lib/client.mjs';
import { World, until } from '../lib/errand.mjs';
import { Modern } from '../lib/modern.mjs';
import { Offering } from '../lib/offering.mjs';

const w = new World();
let a;
let b;
let docs; // lists file: and has a template; prompts are prefixed
let zoo; // takes no subscriptions, completes nothing

const raw = (uri, more = '') => `{ "uri" : "${uri}","name":"${uri}", "size":1e2${more} }`;
const docsOffers = (extra = '') => `{"resources":[${raw('file:///b')},${raw('file:///a', ',"x":"\\u00e9"')}${extra}],` +
  '"resourceTemplates":[{"uriTemplate":"db://{table}/rows","name":"rows"},{"uriTemplate":"shared://{x}","name":"d"}],' +
  '"prompts":[{"name":"d_review","description":"r","arguments":[{"name":"code"}]},{"name":"d_ask"}]}';
const zooOffers = () => `{"resources":[${raw('zoo://lion')},${raw('file:///a', ',"of":"zoo"')}],"resourceTemplates":[{"uriTemplate":"shared://{y}","name":"z"}],"prompts":[{"name":"plain"}]}`;

// What the two answer; a test may put something else.
let answer;
const usual = (name) => (method, params) => `{ "from" : "${name}", "contents":[], "messages":[], "completion":{"values":[]}, "method":"${method}", "n":1e2, "params":${JSON.stringify(params)} }`;

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--page-size', '2', '--tool-grace', '1h'];
  [a, b] = await Promise.all([w.startBroker({ args }), w.startBroker({ args })]);
  docs = new Offering(w.db, 'docs', { prefix: 'd_', wid: 'docs0001', offers: docsOffers(),
    capabilities: { resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {} } });
  zoo = new Offering(w.db, 'zoo', { wid: 'zoo00001', offers: zooOffers(), capabilities: { resources: {}, prompts: {} } });
  await docs.announce();
  await zoo.announce();
  docs.serve((...of) => (answer ?? usual('docs'))(...of));
  zoo.serve((...of) => (answer ?? usual('zoo'))(...of));
  for (const broker of [a, b]) {
    const c = await w.connect(broker, { tool: null });
    await until('offers are listed', async () => (await c.result('prompts/list')).prompts.length > 0);
  }
});
after(async () => {
  docs?.stop();
  zoo?.stop();
  await w.stop();
});

const connect = (broker = a, options = {}) => w.connect(broker, { tool: null, ...options });
const modern = (broker = a, options = {}) => {
  const c = new Modern(broker.url, options);
  w.clients.push(c);
  return c;
};
async function pages(c, method, member) {
  const all = [];
  for (let cursor; ;) {
    const r = await c.result(method, cursor ? { cursor } : {});
    all.push(...r[member]);
    cursor = r.nextCursor;
    if (!cursor) return all;
    assert.equal(r[member].length, 2);
  }
}
async function withAnswer(fn, body) {
  answer = fn;
  try {
    await body();
  } finally {
    answer = undefined;
  }
}

test('L-09 V-01: prompts, resources and completion are declared, whatever workers are there', async () => {
  const c = await connect();
  assert.deepEqual(c.server.capabilities.resources, { subscribe: true, listChanged: true });
  assert.deepEqual(c.server.capabilities.prompts, { listChanged: true });
  assert.deepEqual(c.server.capabilities.completions, {});
  const m = (await modern().result('server/discover')).capabilities;
  assert.deepEqual([m.resources, m.prompts, m.completions], [c.server.capabilities.resources, { listChanged: true }, {}]);
});

test('C-02: lists are sorted, paged alike at both brokers, and name each address once', async () => {
  for (const make of [connect, modern]) {
    for (const broker of [a, b]) {
      const c = await make(broker);
      const resources = await pages(c, 'resources/list', 'resources');
      assert.deepEqual(resources.map((r) => r.uri), ['file:///a', 'file:///b', 'zoo://lion']);
      assert.equal(resources[0].of, undefined); // the first server by name lists it
      assert.deepEqual((await pages(c, 'prompts/list', 'prompts')).map((p) => p.name), ['d_ask', 'd_review', 'plain']);
      assert.deepEqual((await pages(c, 'resources/templates/list', 'resourceTemplates')).map((t) => t.uriTemplate), ['db://{table}/rows', 'shared://{x}', 'shared://{y}']);
      assert.deepEqual((await c.result('tools/list')).tools, []);
    }
  }
  const c = await connect();
  const { nextCursor } = await c.result('resources/list');
  await assert.rejects(c.result('prompts/list', { cursor: nextCursor }), { code: -32602 });
});

test('items are listed with the bytes of their server', async () => {
  const { http } = await (await connect()).request('resources/list');
  assert.ok(http.text.includes(raw('file:///a', ',"x":"\\u00e9"')), http.text);
  assert.ok((await modern().request('resources/list')).http.text.includes(raw('file:///b')));
});

test('C-01: every page of every list says how long it may be kept', async () => {
  const c = modern();
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
    const r = await c.result(method);
    assert.ok(Number.isInteger(r.ttlMs) && r.ttlMs >= 0 && r.cacheScope === 'public', method);
  }
  const r = await c.result('resources/read', { uri: 'zoo://lion' });
  assert.deepEqual([r.ttlMs, r.cacheScope, r.resultType], [0, 'private', 'complete']);
  await withAnswer(() => '{"contents":[],"ttlMs":7,"cacheScope":"public"}', async () => {
    const own = await c.request('resources/read', { uri: 'zoo://lion' });
    assert.deepEqual([own.result.ttlMs, own.result.cacheScope], [7, 'public']);
    assert.equal(own.http.text.match(/ttlMs/g).length, 1);
  });
});

test('a read is answered with exactly what the server gave', async () => {
  const c = await connect(b);
  const bytes = '{ "contents" : [ {"uri":"file:///a","text":"\\u00e9 \\/ 1.50"} ],"_meta":{"a":1e2} }';
  await withAnswer(() => bytes, async () => {
    const { http } = await c.request('resources/read', { uri: 'file:///a' });
    const message = messageIn(http.text);
    assert.equal(message, `{"jsonrpc":"2.0","id":${JSON.parse(message).id},"result":${bytes}}`);
  });
});

test('an address goes to who lists it, then to whose template it fits, then to who lists its scheme', async () => {
  const c = await connect();
  const at = async (uri) => (await c.result('resources/read', { uri })).from;
  assert.equal(await at('file:///a'), 'docs');
  assert.equal(await at('zoo://lion'), 'zoo');
  assert.equal(await at('db://users/rows'), 'docs');
  assert.equal(await at('shared://1'), 'docs'); // both claim it: the first by name
  assert.equal(await at('zoo://lion/mane'), 'zoo');
  assert.equal(await at('file:///never/listed'), 'docs');
});

test('a prompt loses its prefix on the way, and nothing else', async () => {
  const c = await connect();
  await withAnswer((method, params, job) => JSON.stringify({ messages: [], seen: job.params }), async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{ "arguments": {"code":"\\u00e9"},"name" : "d_review" }}';
    const { text } = await c.post(body);
    assert.equal(JSON.parse(messageIn(text)).result.seen, '{"method":"prompts/get","params":{ "arguments": {"code":"\\u00e9"},"name" : "review" }}');
    const other = await c.result('prompts/get', { name: 'plain' });
    assert.equal(other.seen, '{"method":"prompts/get","params":{"name":"plain"}}');
  });
});

test('completion: of prompts and of templates; a server without it completes nothing', async () => {
  const argument = { name: 'code', value: 'x' };
  for (const c of [await connect(), modern()]) {
    const prompt = await c.result('completion/complete', { ref: { type: 'ref/prompt', name: 'd_review' }, argument });
    assert.equal(prompt.params.ref.name, 'review');
    assert.equal(prompt.from, 'docs');
    const template = await c.result('completion/complete', { ref: { type: 'ref/resource', uri: 'db://{table}/rows' }, argument });
    assert.equal(template.from, 'docs');
    const none = await c.result('completion/complete', { ref: { type: 'ref/prompt', name: 'plain' }, argument });
    assert.deepEqual(none.completion, { values: [], total: 0, hasMore: false });
    for (const ref of [undefined, {}, { type: 'ref/prompt' }, { type: 'ref/prompt', name: 'none' }, { type: 'ref/resource', uri: 'no://x' }]) {
      await assert.rejects(c.result('completion/complete', { ref, argument }), { code: -32602 });
    }
  }
});

test('C-08: a resource that nobody has is -32002, in the stateless dialect -32602, and data names it', async () => {
  const l = await connect();
  const m = modern();
  const lost = await l.request('resources/read', { uri: 'no://"x"' });
  assert.deepEqual([lost.error.code, lost.error.data], [-32002, { uri: 'no://"x"' }]);
  const gone = await m.request('resources/read', { uri: 'no://x' });
  assert.deepEqual([gone.error.code, gone.error.data], [-32602, { uri: 'no://x' }]);
  const error = { code: -32002, message: 'not here', data: { uri: 'zoo://lion' } };
  await withAnswer(() => { throw { rpc: error }; }, async () => {
    assert.deepEqual((await l.request('resources/read', { uri: 'zoo://lion' })).error, error);
    assert.deepEqual((await m.request('resources/read', { uri: 'zoo://lion' })).error, { ...error, code: -32602 });
  });
  await withAnswer(() => { throw { rpc: { code: -32602, message: 'unknown' } }; }, async () => {
    assert.deepEqual((await m.request('resources/read', { uri: 'zoo://bear' })).error, { code: -32602, message: 'unknown', data: { uri: 'zoo://bear' } });
  });
  await withAnswer(() => { throw { rpc: { code: -32000, message: 'own', data: 1 } }; }, async () => {
    assert.deepEqual((await m.request('resources/read', { uri: 'zoo://bear' })).error, { code: -32000, message: 'own', data: 1 });
  });
  for (const params of [undefined, {}, { uri: 5 }, { uri: '' }]) await assert.rejects(l.result('resources/read', params), { code: -32602 });
  await assert.rejects(l.result('prompts/get', { name: 'review' }), { code: -32602 });
  await assert.rejects(l.result('prompts/get', { name: 5 }), { code: -32602 });
});

test('HX-07: Mcp-Name repeats the address of a read and the name of a prompt', async () => {
  const c = modern();
  for (const [method, params] of [['resources/read', { uri: 'zoo://lion' }], ['prompts/get', { name: 'plain' }]]) {
    for (const name of [undefined, 'other', 'zoo://LION']) {
      const r = await c.request(method, params, { headers: { 'mcp-name': name } });
      assert.deepEqual([r.http.status, r.error.code], [400, -32020], `${method} ${name}`);
    }
    assert.equal((await c.request(method, params)).http.status, 200);
  }
});

test('T-20: task metadata on a read is ignored', async () => {
  const c = await connect();
  assert.equal((await c.result('resources/read', { uri: 'zoo://lion', task: {} })).from, 'zoo');
  assert.deepEqual((await c.result('tools/list')).tools, []);
});

test('a read that lasts becomes a stream, with progress', async () => {
  const c = await connect();
  await withAnswer(async (method, params, job) => {
    await docs.report(job, 1, 2);
    await new Promise((r) => setTimeout(r, 1500));
    return '{"contents":[]}';
  }, async () => {
    const r = await c.request('resources/read', { uri: 'file:///a', _meta: { progressToken: 'p' } });
    assert.equal(r.http.headers['content-type'], 'text/event-stream');
    assert.deepEqual(r.http.messages[0].params, { progressToken: 'p', progress: 1, total: 2 });
    assert.deepEqual(r.result, { contents: [] });
  });
});

test('a job that is lost is done again, as often as the server allows', async () => {
  const c = await connect();
  await withAnswer((method, params, job) => {
    assert.equal(job.attempts, 3);
    if (job.attempt > 1) return '{"contents":[]}';
    docs.fn('0', 'release', ['ls', `t:${job.id}`], job.id, job.fence).then(() => w.db.call('HSET', `errand:{0}:t:${job.id}`, 'tr', 1));
    return undefined;
  }, async () => assert.deepEqual(await c.result('resources/read', { uri: 'file:///a' }), { contents: [] }));
});

const form = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const asking = async (method, params, job) => {
  const { result } = await docs.ask(job, 'user_context', 'elicitation/create', form);
  return JSON.stringify({ contents: [], messages: [], got: result.content.name });
};

test('a question of a read is asked on its stream', async () => {
  const c = await connect(a, { capabilities: { elicitation: {} } });
  await withAnswer(asking, async () => {
    const r = await c.request('prompts/get', { name: 'd_ask' }, {
      onMessage: (m) => m.method === 'elicitation/create' &&
        c.post(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: { action: 'accept', content: { name: 'Ada' } } })),
    });
    assert.equal(r.result.got, 'Ada');
  });
});

test('M-01 M-04: what a server answers asks by input_required; its requestState fits that request alone', async () => {
  const c = modern(a, { capabilities: { elicitation: {} } });
  const completion = (value) => ({ ref: { type: 'ref/prompt', name: 'd_review' }, argument: { name: 'code', value } });
  await withAnswer(asking, async () => {
    for (const [method, params, other] of [['prompts/get', { name: 'd_ask' }, { name: 'd_review' }], ['resources/read', { uri: 'file:///a' }, { uri: 'file:///b' }],
      ['completion/complete', completion('x'), completion('y')]]) {
      const first = await c.result(method, params);
      assert.equal(first.resultType, 'input_required');
      assert.equal(first.ttlMs, undefined);
      assert.deepEqual(first.inputRequests.user_context, { method: 'elicitation/create', params: form });
      const back = { requestState: first.requestState, inputResponses: { user_context: { action: 'accept', content: { name: 'Eve' } } } };
      await assert.rejects(c.result(method, { ...other, ...back }), { code: -32602 });
      await assert.rejects(c.result(method, { ...params, ...back, requestState: `${back.requestState}x` }), { code: -32602 });
      assert.equal((await c.at(b).result(method, { ...params, ...back })).got, 'Eve');
    }
  });
});

test('scopes: lists are for everybody, what makes a job needs tools:call', async () => {
  const broker = await w.startBroker({ args: ['--auth', 'key'] });
  const key = await w.newKey('reader', '--scopes', 'tasks:read');
  const c = await connect(broker, { key });
  await until('offers are listed', async () => (await c.result('prompts/list')).prompts.length > 0);
  for (const [method, params] of [['resources/read', { uri: 'zoo://lion' }], ['resources/subscribe', { uri: 'file:///a' }], ['prompts/get', { name: 'plain' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'plain' }, argument: { name: 'x', value: '' } }]]) {
    assert.equal((await c.request(method, params)).http.status, 403, method);
  }
  const m = modern(broker, { key });
  const l = await m.listen({ resourceSubscriptions: ['file:///a'], promptsListChanged: true });
  assert.deepEqual(l.messages[0].params.notifications, { promptsListChanged: true });
  await broker.kill('SIGTERM');
});

const updates = (stream) => stream.messages.filter((m) => m.method === 'notifications/resources/updated').map((m) => m.params.uri);

test('a session is told of what it subscribed to, at whichever broker its stream is, until it unsubscribes', async () => {
  const c = await connect(a);
  const bystander = await connect(a);
  const [stream, other] = await Promise.all([c.at(b).openStream(), bystander.openStream()]);
  assert.deepEqual(await c.result('resources/subscribe', { uri: 'file:///a' }), {});
  await until('the worker is to watch it', async () => (await docs.announce()).includes('file:///a'));
  await docs.updated('file:///b');
  await docs.updated('file:///a');
  await until('told', () => updates(stream).length > 0);
  assert.deepEqual(updates(stream), ['file:///a']);
  assert.ok(stream.events.every((e) => e.id || !e.data), 'a change can be asked for again');
  assert.deepEqual(await c.at(b).result('resources/unsubscribe', { uri: 'file:///a' }), {});
  assert.deepEqual(await c.result('resources/unsubscribe', { uri: 'file:///a' }), {}); // once more hurts nobody
  await docs.updated('file:///a');
  await c.result('resources/subscribe', { uri: 'file:///b' });
  await docs.updated('file:///b');
  await until('told again', () => updates(stream).length > 1);
  assert.deepEqual(updates(stream), ['file:///a', 'file:///b']);
  assert.deepEqual(updates(other), []);
  await c.delete();
  assert.deepEqual(await w.keys(`*wt:${c.session}`), []);
});

test('what cannot be subscribed to is refused', async () => {
  const c = await connect();
  const { error } = await c.request('resources/subscribe', { uri: 'no://x' });
  assert.deepEqual([error.code, error.data], [-32002, { uri: 'no://x' }]);
  await assert.rejects(c.result('resources/subscribe', { uri: 'zoo://lion' }), { code: -32602 });
  await assert.rejects(c.result('resources/subscribe', {}), { code: -32602 });
});

test('a subscription that its server has no room for is refused, and not kept', async () => {
  const c = await connect();
  await w.db.call('DEL', 'errand:{g}:wn:docs'); // what is watched already is no news
  await w.db.call('ZADD', 'errand:{g}:wn:docs', ...Array.from({ length: 1024 }, (_, i) => [String(Date.now() + 60000), `full://${i}`]).flat());
  try {
    assert.match((await c.request('resources/subscribe', { uri: 'file:///a' })).error.message, /too many/);
    await until('it is dropped', async () => (await w.keys(`*wt:${c.session}`)).length === 0);
  } finally {
    await w.db.call('DEL', 'errand:{g}:wn:docs');
  }
  assert.deepEqual(await c.result('resources/subscribe', { uri: 'file:///a' }), {});
  await c.delete();
});

test('what a session watches is wanted again when its stream comes back', async () => {
  const c = await connect();
  await c.result('resources/subscribe', { uri: 'file:///b' });
  await w.db.call('DEL', 'errand:{g}:wn:docs'); // three minutes without a broker that asks
  assert.deepEqual(await docs.announce(), []);
  await c.at(b).openStream();
  await until('wanted', async () => (await docs.announce()).includes('file:///b'));
});

test('B-01 B-02 B-03: a listener is told of the lists and resources that it asked for', async () => {
  const c = modern(b);
  const l = await c.listen({ promptsListChanged: true, resourceSubscriptions: ['file:///a', 'zoo://lion', 'no://x', 5] }, { id: 'sub' });
  assert.deepEqual(l.messages[0].params.notifications, { promptsListChanged: true, resourceSubscriptions: ['file:///a'] });
  await until('the worker is to watch it', async () => (await docs.announce()).includes('file:///a'));
  await docs.updated('file:///b');
  await docs.updated('file:///a/part');
  await until('told', () => l.messages.length > 1);
  assert.equal(l.messages[1].method, 'notifications/resources/updated');
  assert.deepEqual(l.messages[1].params, { uri: 'file:///a/part', _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' } });
  await assert.rejects(c.result('subscriptions/listen', { notifications: { resourceSubscriptions: {} } }), { code: -32602 });
});

test('list_changed: of prompts and of resources, to sessions and listeners', async () => {
  const c = await connect();
  const stream = await c.openStream();
  const m = modern(b);
  const l = await m.listen({ resourcesListChanged: true });
  await docs.announce(docsOffers(`,${raw('file:///new')}`));
  await until('the session is told', () => stream.messages.some((n) => n.method === 'notifications/resources/list_changed'));
  await until('the listener is told', () => l.messages.some((n) => n.method === 'notifications/resources/list_changed'));
  assert.ok((await pages(c, 'resources/list', 'resources')).some((r) => r.uri === 'file:///new'));
  assert.ok(!stream.messages.some((n) => n.method === 'notifications/prompts/list_changed'));
  await zoo.announce(zooOffers().replace('{"name":"plain"}', ''));
  await until('the session is told of prompts', () => stream.messages.some((n) => n.method === 'notifications/prompts/list_changed'));
  assert.equal(l.messages.length, 2);
  await docs.announce(docsOffers());
  await zoo.announce(zooOffers());
});

test('a read whose client leaves goes on in the handshake dialect and is cancelled in the stateless one', async () => {
  const state = (job) => w.db.call('HGET', `errand:{0}:t:${job.id}`, 's');
  for (const [c, ends] of [[await connect(), false], [modern(), true]]) {
    const taken = new Promise((resolve) => { answer = (method, params, job) => { resolve(job); return undefined; }; });
    const leave = new AbortController();
    const gone = c.request('resources/read', { uri: 'file:///a' }, { signal: leave.signal }).catch(() => {});
    const job = await taken;
    leave.abort();
    await gone;
    if (ends) await until('cancelled', async () => (await state(job)) === 'x');
    else assert.equal(await state(job), 'w');
    answer = undefined;
    await docs.finish(job, 'r', '{}');
  }
});
