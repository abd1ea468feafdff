// The official conformance suite, both revisions, against one process set behind a round robin of
// two brokers: tools are commands, all else is a wrapped server's (fixture/server.mjs). What is not
// served stands in expected-failures.json, and nothing else may fail.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { balance } from '../lib/balancer.mjs';
import { World, bin, root, until } from '../lib/errand.mjs';

const modules = path.join(root, 'build/node/node_modules');
const node = path.join(modules, 'node/bin/node'); // the suite needs Node 22
const suite = path.join(modules, '@modelcontextprotocol/conformance/dist/index.js');
const here = path.join(root, 'tests/interop');
const expected = JSON.parse(fs.readFileSync(path.join(here, 'expected-failures.json'), 'utf8'));

const w = new World();
let lb;

before(async () => {
  await w.startRedis();
  const args = ['--rate', '0', '--page-size', '100', '--log-level', 'warn'];
  const brokers = [await w.startBroker({ args }), await w.startBroker({ args })];
  await w.startWorker({ program: path.join(bin, 'errand-conformance'), names: ['greet'], args: ['--slots', '8'] });
  const mcpServers = { fixture: { command: node, args: [path.join(here, 'fixture/server.mjs')], startTimeout: '60s' } };
  await w.startWorker({ tools: { mcpServers }, args: ['--slots', '8'] });
  for (const b of brokers) {
    const c = await w.connect(b, { tool: 'greet' });
    await until('the wrapped server is there', async () => (await c.result('prompts/list')).prompts.length > 0, 60000);
  }
  lb = await balance(brokers);
});
after(async () => {
  lb?.close();
  await w.stop();
});

function run(...words) {
  return new Promise((resolve) => {
    const child = spawn(node, [suite, 'server', '--url', lb.url, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    child.stdout.on('data', (d) => { out += d; });
    child.stderr.on('data', (d) => { out += d; });
    child.once('close', (status) => resolve({ status, out }));
  });
}

// The lines "✓ name: n passed, m failed" of a run.
function verdicts(out) {
  const all = new Map();
  for (const m of out.matchAll(/^[✓✗] ([a-z0-9-]+): (\d+) passed, (\d+) failed/gm)) all.set(m[1], Number(m[3]));
  return all;
}

for (const revision of ['2025-11-25', '2026-07-28']) {
  test(`--requirements ${revision}`, { timeout: 240000 }, async () => {
    const { out } = await run('--requirements', revision);
    const all = verdicts(out);
    assert.ok(all.size >= 30, out.slice(-3000));
    const failed = [...all].filter(([, n]) => n > 0).map(([name]) => name);
    const surprises = failed.filter((name) => !expected[revision].includes(name));
    assert.deepEqual(surprises, [], out.slice(-6000));
    assert.deepEqual(expected[revision].filter((name) => !failed.includes(name)), [], 'these pass now: take them off the list');
  });
}

for (const scenario of ['server-sse-polling', 'server-session-lifecycle', 'json-schema-2020-12',
  'http-header-validation', 'http-custom-header-server-validation', 'tasks-lifecycle', 'tasks-capability-negotiation',
  'tasks-wire-fields', 'tasks-request-state-removal', 'tasks-mrtr-input', 'tasks-request-headers', 'tasks-dispatch-and-envelope',
  'tasks-required-task-error', 'tasks-mrtr-composition', 'tasks-status-notifications']) {
  test(scenario, { timeout: 90000 }, async () => {
    const { status, out } = await run('--scenario', scenario);
    assert.equal(status, 0, out.slice(-5000));
  });
}
