// Spans sent to a collector (--otlp): family B28.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { World, busy, ran, until } from '../lib/errand.mjs';

const w = new World();
const spans = []; // with .service, as they came
let hangs = false;
let bad = 0; // requests that are not as OTLP/HTTP wants them
const held = [];
const collector = http.createServer((req, res) => {
  let body = '';
  req.on('data', (d) => { body += d; });
  req.on('end', () => {
    if (req.url !== '/v1/traces' || req.method !== 'POST' || req.headers['content-type'] !== 'application/json') bad++;
    if (hangs) {
      held.push(res);
      return;
    }
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      const service = attributes(resource)['service.name'];
      for (const s of scopeSpans) for (const span of s.spans) spans.push({ ...span, service });
    }
    res.end('{}');
  });
});
const attributes = (x) => Object.fromEntries(x.attributes.map((a) => [a.key, a.value.stringValue]));

let broker;
let worker;
let c;
const traceId = 'c3'.repeat(16);
const parent = '00f067aa0ba902b7';
const traced = (flags, id = traceId) => ({ traceparent: `00-${id}-${parent}-${flags}` });

before(async () => {
  await new Promise((r) => collector.listen(0, '127.0.0.1', r));
  const args = ['--otlp', `http://127.0.0.1:${collector.address().port}`];
  await w.startRedis();
  broker = await w.startBroker({ args: [...args, '--rate', '0'] });
  const tools = ['env', 'bad'].map((name) => ({ name, description: 'Runs.', inputSchema: { type: 'object' }, run: { command: ['sh', '-c', name === 'env' ? 'echo "$TRACEPARENT"' : 'exit 3'] } }));
  worker = await w.startWorker({ tools: { tools }, args });
  c = await w.connect(broker, { tool: 'env' });
});
after(async () => {
  for (const res of held) res.destroy();
  collector.closeAllConnections();
  collector.close();
  await w.stop();
});

const of = (id) => spans.filter((s) => s.traceId === id);
const named = (id, name) => of(id).find((s) => s.name === name);

test('B28: request, queue and execution are spans of the client\'s trace, each below the request', async () => {
  const { task } = await c.result('tools/call', { name: 'env', arguments: {}, task: {}, _meta: traced('01') });
  const r = await c.result('tasks/result', { taskId: task.taskId });
  await until('three spans', () => of(traceId).length === 3);
  const request = named(traceId, 'tools/call');
  assert.equal(request.parentSpanId, parent);
  assert.equal(request.service, 'errand-broker');
  assert.equal(request.kind, 2);
  for (const name of ['queue env', 'execute env']) {
    const s = named(traceId, name);
    assert.equal(s.parentSpanId, request.spanId);
    assert.equal(s.service, 'errand-worker');
    assert.equal(attributes(s)['errand.task'], task.taskId);
    assert.ok(BigInt(s.startTimeUnixNano) <= BigInt(s.endTimeUnixNano));
    assert.equal(s.status, undefined);
  }
  assert.equal(r.content[0].text.trim(), `00-${traceId}-${named(traceId, 'execute env').spanId}-01`);
  assert.equal(new Set(of(traceId).map((s) => s.spanId)).size, 3);
  assert.equal(bad, 0);
});

test('what fails is marked; what the client does not sample is not sent; what has no trace gets one', async () => {
  const failing = 'd4'.repeat(16);
  const quiet = 'e5'.repeat(16);
  await c.result('tools/call', { name: 'env', arguments: {}, _meta: traced('00', quiet) });
  await c.result('tools/call', { name: 'bad', arguments: {}, _meta: traced('01', failing) });
  await until('it comes', () => named(failing, 'execute bad'));
  assert.equal(named(failing, 'execute bad').status.code, 2);
  assert.equal(attributes(named(failing, 'execute bad'))['errand.outcome'], 'error');
  const own = (await c.callTool('env', {})).content[0].text.trim().split('-');
  assert.equal(own[3], '01');
  await until('its spans come', () => of(own[1]).length === 3);
  assert.equal(of(quiet).length, 0);
});

test('a collector that hangs or is gone holds up nothing: spans are dropped and counted', async () => {
  hangs = true;
  const c2 = await w.connect(broker, { tool: null, headers: traced('01') });
  await until('more came than may wait', async () => {
    await Promise.all(Array.from({ length: 200 }, () => c2.request('ping')));
    return (await w.metric(broker, 'errand_spans_total{fate="dropped"}')) > 0;
  }, 60000);
  const began = Date.now();
  await c.callTool('env', {});
  assert.ok(ran(began) < busy(3000));
  await until('the loss is counted', async () => {
    for (const res of held.splice(0)) res.destroy();
    return (await w.metric(broker, 'errand_spans_total{fate="failed"}')) > 0;
  });
  hangs = false;
  for (const res of held.splice(0)) res.end('{}');
});

test('what waits is sent when a program ends in good order', async () => {
  const mark = 'a7'.repeat(16);
  await until('spans of both are taken again', async () => {
    await c.result('tools/call', { name: 'env', arguments: {}, _meta: traced('01', mark) });
    return new Set(of(mark).map((s) => s.service)).size === 2;
  }, 30000, 200);
  const last = 'f6'.repeat(16);
  await c.result('tools/call', { name: 'env', arguments: {}, _meta: traced('01', last) });
  assert.equal(await worker.kill('SIGTERM'), 0);
  assert.equal(await broker.kill('SIGTERM'), 0);
  await until('all are there', () => of(last).length === 3, 3000);
});
