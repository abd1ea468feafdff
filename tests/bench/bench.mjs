// bench.mjs - what errand does in a second, how long it lets one wait, and what it takes, beside
// its peers in the same run. See run.sh.
//
// Every measurement has processes and a Redis of its own. Rounds go through all of them in turn, so
// that what disturbs the machine disturbs all alike; tables show medians over the rounds, and ratios
// are medians of the ratios within a round.
import os from 'node:os';
import { figures } from './figures.mjs';
import { Stage } from './stage.mjs';
import { table, costs } from './table.mjs';

function options(words) {
  const o = { rounds: 3, seconds: 4, warmup: 1, idleSeconds: 15, waiters: 10000, peers: true, only: '' };
  for (let i = 0; i < words.length; i++) {
    if (words[i] === '--quick') Object.assign(o, { rounds: 1, seconds: 1.5, warmup: 0.5, idleSeconds: 4 });
    else if (words[i] === '--rounds') o.rounds = Number(words[++i]);
    else if (words[i] === '--only') o.only = words[++i];
    else if (words[i] === '--no-peers') o.peers = false;
    else {
      console.error('usage: run.sh [--quick] [--rounds N] [--only WORD]');
      process.exit(2);
    }
  }
  return o;
}

const o = options(process.argv.slice(2));
const wanted = figures.filter((f) => f.name.includes(o.only) && (o.peers || !f.peer));
const got = new Map(wanted.map((f) => [f.name, []]));

for (let round = 0; round < o.rounds; round++) {
  for (const f of wanted) {
    if (f.once && round > 0) continue;
    process.stderr.write(`round ${round + 1} of ${o.rounds}: ${f.name}\n`);
    const stage = new Stage(o);
    try {
      got.get(f.name).push(await f.measure(stage, o));
    } finally {
      await stage.stop();
    }
  }
}

const [cpu] = os.cpus();
console.log(`${os.cpus().length} cores of ${cpu.model}, Linux ${os.release()}, load ${os.loadavg()[0].toFixed(1)}; `
  + `${o.rounds} round${o.rounds === 1 ? '' : 's'} of ${o.seconds} s\n`);
table(got);
costs(got);
