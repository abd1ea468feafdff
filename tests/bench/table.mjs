// table.mjs - what was measured, as tables for people and for docs/performance.md.

const median = (all) => {
  const v = [...all].sort((a, b) => a - b);
  return v.length % 2 ? v[(v.length - 1) / 2] : (v[v.length / 2 - 1] + v[v.length / 2]) / 2;
};

const perSecond = (x) => `${Math.round(x).toLocaleString('en')} /s`;
const ms = (us) => `${(us / 1000).toFixed(2)} ms`;
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const percent = (share) => `${(share * 100).toFixed(2)} %`;
const times = (x) => `${x.toFixed(1)} x`;

// Which figures are set against each other: [what, errand's, the peer's, the peer's name, goal, how].
const rates = [
  ['lifecycles', 'errand lifecycle', 'sdk lifecycle', 'TypeScript SDK', 10, times],
  ['', 'errand lifecycle', 'bullmq jobs', 'BullMQ, bare jobs', 2.5, times],
  ['', 'errand lifecycle', 'bullmq results', 'BullMQ, results delivered', null, times],
  ['lifecycles, everysec', 'errand lifecycle everysec', 'bullmq jobs everysec', 'BullMQ, bare jobs, everysec', 2.5, times],
  ['creates', 'errand create', 'sdk create', 'TypeScript SDK', null, times],
  ['tasks/get', 'errand get', 'bare get', 'bare evhttp', 0.45, percent],
  ['', 'errand get', 'sdk get', 'TypeScript SDK', null, times],
  ['plain calls', 'errand call', null, '', null, times],
];

function print(rows) {
  const width = rows[0].map((_, i) => Math.max(...rows.map((r) => r[i].length)));
  const line = (r) => `| ${r.map((c, i) => c.padEnd(width[i])).join(' | ')} |`;
  console.log(line(rows[0]));
  console.log(`|${width.map((w) => '-'.repeat(w + 2)).join('|')}|`);
  for (const r of rows.slice(1)) console.log(line(r));
  console.log();
}

function rateRow(got, [what, ours, theirs, peer, goal, how]) {
  const a = got.get(ours);
  const b = theirs === null ? undefined : got.get(theirs);
  if (!a?.length || (theirs !== null && !b?.length)) return null;
  const row = [what, perSecond(median(a.map((r) => r.rate)))];
  if (b === undefined) return [...row, '', '', '', ''];
  const ratio = median(a.map((r, i) => r.rate / b[i].rate));
  const reached = goal === null ? '' : `${how(goal)}${ratio >= goal ? '' : ' (not reached)'}`;
  return [...row, peer, perSecond(median(b.map((r) => r.rate))), how(ratio), reached];
}

const limit = (what, value, goal, show) => [what, show(value), `< ${show(goal)}${value < goal ? '' : ' (not reached)'}`];

function limits(got) {
  const rows = [];
  const paced = got.get('errand paced');
  if (paced?.length) {
    const of = (name, p) => median(paced.map((r) => r[name][p]));
    rows.push(limit('create sent -> job started, p50', of('started', 'p50'), 2000, ms));
    rows.push(limit('create sent -> job started, p99', of('started', 'p99'), 10000, ms));
    rows.push(limit('job ended -> waiter at another broker answered, p50', of('told', 'p50'), 2000, ms));
    rows.push(limit('job ended -> waiter at another broker answered, p99', of('told', 'p99'), 10000, ms));
  }
  const [through, direct] = ['errand wrapped', 'direct wrapped'].map((name) => got.get(name));
  if (through?.length && direct?.length) {
    const more = median(through.map((r, i) => r.call.p50 - direct[i].call.p50));
    rows.push(limit('a call of a wrapped stdio server, more than without errand, p50', more, 1000, ms));
  }
  const idle = got.get('errand idle')?.[0];
  for (const who of idle ? ['broker', 'worker'] : []) {
    rows.push(limit(`idle ${who}, memory`, idle[who].rss, 10e6, mb));
    rows.push(limit(`idle ${who}, CPU`, idle[who].share, 0.002, percent));
  }
  const waiters = got.get('errand waiters')?.[0];
  if (waiters) {
    rows.push(limit('10,000 blocked tasks/result, broker memory', waiters.rss, 150e6, mb));
    rows.push(limit('10,000 blocked tasks/result, broker CPU', waiters.share, 0.01, percent));
  }
  const memory = got.get('errand memory')?.[0];
  if (memory) rows.push(limit('Redis memory of a finished small task', memory.bytes, 1500, (b) => `${Math.round(b)} B`));
  return rows;
}

export function table(got) {
  const rows = rates.map((r) => rateRow(got, r)).filter(Boolean);
  if (rows.length) print([['256 in flight', 'errand', 'peer', 'its rate', 'ratio', 'to reach'], ...rows]);
  const more = limits(got);
  if (more.length) print([['what', 'measured', 'to reach'], ...more]);
}

// Microseconds of CPU for one operation: steadier than rates on a machine with company.
export function costs(got) {
  const roles = ['redis', 'broker', 'worker', 'server', 'load'];
  const rows = [];
  for (const [name, results] of got) {
    if (!results[0]?.us) continue;
    rows.push([name, ...roles.map((role) => (results[0].us[role] === undefined ? ''
      : median(results.map((r) => r.us[role])).toFixed(0)))]);
  }
  if (rows.length) print([['CPU, us for one', ...roles], ...rows]);
}
