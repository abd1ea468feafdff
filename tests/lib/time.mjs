// time.mjs - waiting, and bounds on elapsed time that hold on machines that are busy or stand still.
import fs from 'node:fs';
import os from 'node:os';

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

// What takes ms where programs run when they can takes longer where they wait for a CPU: by how many
// wait for each, on the average of the last minute or now, and ten times at most. A bound is for a
// machine that has time.
export function busy(ms) {
  let now = 0;
  try {
    now = Number(/ (\d+)\/\d+ /.exec(fs.readFileSync('/proc/loadavg', 'utf8'))[1]);
  } catch { /* the average will do */ }
  return ms * Math.min(10, Math.max(1, os.loadavg()[0] / os.cpus().length, now / os.cpus().length));
}

// Seconds for a job that has to outlast what a test does meanwhile, as text.
export const lasting = (seconds) => busy(seconds).toFixed(1);

// A machine may stand still, all of it, for a second or more: a tick that comes late tells of it.
const TICK = 20;
const LATE = 100;
const stalls = []; // { at, ms }
let ticked = Date.now();
function tick() {
  const at = Date.now();
  if (at - ticked > LATE) stalls.push({ at, ms: at - ticked - TICK });
  ticked = at;
}
setInterval(tick, TICK).unref();

// How many ms this machine ran since then (Date.now()): for upper bounds; lower ones want the clock.
export function ran(since) {
  tick();
  return stalls.reduce((ms, s) => (s.at > since ? ms - Math.min(s.ms, s.at - since) : ms), Date.now() - since);
}

// Asks until fact() answers something truthy; that is the result. Throws at the deadline, which is
// later on a machine that is busy or stood still.
export async function until(what, fact, ms = 10000, every = 20) {
  const began = Date.now();
  let patience = ms;
  for (;;) {
    const got = await fact();
    if (got) return got;
    patience = Math.max(patience, busy(ms));
    if (ran(began) > patience) throw new Error(`not within ${Math.round(patience)} ms: ${what}`);
    await sleep(every);
  }
}
