// What operators look at, held to what the programs tell and the manual explains.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../lib/errand.mjs';

const read = (file) => fs.readFileSync(path.join(root, file), 'utf8');
const rules = read('deploy/prometheus/alerts.yml');
const board = JSON.parse(read('deploy/grafana/dashboards/errand.json'));
const metrics = new Set([...read('docs/metrics.md').matchAll(/^\| `(\w+)` \| (\w+)/gm)].flatMap(([, name, kind]) => (kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])));
const events = new Set([...read('docs/events.md').matchAll(/^\| `(\w+)` \|/gm)].map((m) => m[1]));
const expressions = [...[...rules.matchAll(/^ +expr: (.*)$/gm)].map((m) => m[1]), ...board.panels.flatMap((p) => p.targets ?? []).map((t) => t.expr)];

test('alerts and panels ask for metrics and events that exist', () => {
  assert.ok(expressions.length > 30);
  for (const e of expressions) {
    const used = e.match(/\b(errand|process)_\w+/g) ?? [];
    assert.ok(used.length > 0 || e.includes('up{job="errand-broker"}'), e);
    for (const name of used) assert.ok(metrics.has(name), `${name} in ${e}`);
    for (const [, names] of e.matchAll(/event=~?"([^"]+)"/g)) for (const n of names.split('|')) assert.ok(events.has(n), `${n} in ${e}`);
  }
});

test('the manual says of every alert what it means', () => {
  const manual = read('docs/operating.md');
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map((m) => m[1]);
  assert.ok(names.length > 10);
  for (const n of names) assert.ok(manual.includes(`| \`${n}\` |`), n);
});
