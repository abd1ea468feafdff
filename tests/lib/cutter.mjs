// cutter.mjs - stands between one program and Redis, tells what they exchange, and cuts one exchange.
//
// An exchange is a command and its answer, named by the function or command; on a subscription each
// message is one, named message:<its first letter>. A cut is { kind, nth, how }:
//
//     lost        the command never reaches Redis; the connection ends
//     unanswered  the command runs; its answer is lost with the connection
//     killed      the program is killed, and the command never reaches Redis
//     killed_late the command runs; the program is killed before it hears of it
//
// A message is lost or killed: the connection or the program ends, and nobody gets it.
import fs from 'node:fs';
import net from 'node:net';

const CRLF = 2;

// Where the RESP value at `at` ends, or -1 when it is not whole yet.
function endOf(b, at) {
  const eol = b.indexOf('\r\n', at);
  if (eol < 0) return -1;
  const type = b[at];
  if (type === 0x24) { // $
    const n = Number(b.toString('latin1', at + 1, eol));
    const end = n < 0 ? eol + CRLF : eol + CRLF + n + CRLF;
    return end <= b.length ? end : -1;
  }
  if (type !== 0x2a) return eol + CRLF; // not *
  let end = eol + CRLF;
  for (let n = Number(b.toString('latin1', at + 1, eol)); n > 0; n--) {
    end = endOf(b, end);
    if (end < 0) return -1;
  }
  return end;
}

// The first words of an array of bulk strings.
function words(b, count) {
  const out = [];
  let at = b.indexOf('\r\n') + CRLF;
  while (out.length < count && at < b.length) {
    const eol = b.indexOf('\r\n', at);
    const n = Number(b.toString('latin1', at + 1, eol));
    out.push(b.toString('latin1', eol + CRLF, Math.min(eol + CRLF + n, eol + CRLF + 64)));
    at = eol + CRLF + n + CRLF;
  }
  return out;
}

function kindOf(command) {
  const [name, arg] = words(command, 2);
  return /^fcall/i.test(name) ? arg.replace(/^errand_[^_]*_/, '') : name.toLowerCase();
}

// Splits what comes into whole RESP values.
class Frames {
  constructor(fn) {
    this.fn = fn;
    this.rest = Buffer.alloc(0);
  }

  feed(data) {
    this.rest = this.rest.length ? Buffer.concat([this.rest, data]) : data;
    for (;;) {
      const end = this.rest.length ? endOf(this.rest, 0) : -1;
      if (end < 0) return;
      const one = this.rest.subarray(0, end);
      this.rest = this.rest.subarray(end);
      this.fn(one);
    }
  }
}

export class Cutter {
  // path: the socket to listen on; redis: the real one; kill: ends the program.
  constructor(path, redis, kill) {
    this.path = path;
    this.redis = redis;
    this.kill = kill;
    this.seen = []; // kinds, since watch()
    this.subscriptions = new Set();
    this.server = net.createServer((program) => this.#serve(program));
  }

  async listen() {
    fs.rmSync(this.path, { force: true });
    await new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.path, resolve);
    });
    this.url = `unix://${this.path}`;
    return this;
  }

  watch() {
    this.seen = [];
    this.cut = null;
  }

  // Cuts the nth exchange of that kind from now on, once.
  cutAt(kind, nth, how) {
    this.watch();
    this.cut = { kind, nth, how, left: nth };
    return this.cut;
  }

  // From now on the program hears no message, until hear().
  deafen() {
    this.deaf = true;
    for (const end of this.subscriptions) end('lost');
  }

  hear() {
    this.deaf = false;
  }

  // From now on the program gets no answers, only messages, until answer().
  hold() {
    this.held = [];
  }

  answer() {
    for (const give of this.held.splice(0)) give();
    this.held = null;
  }

  close() {
    this.server.close();
  }

  // How this exchange is cut, if it is.
  #fate(kind) {
    this.seen.push(kind);
    const { cut } = this;
    if (!cut || cut.kind !== kind || --cut.left > 0) return null;
    this.cut = null;
    cut.fired = true;
    return cut.how;
  }

  #serve(program) {
    const store = net.connect(this.redis);
    const pending = []; // fates of the commands that Redis has not answered
    let over = false;
    let isSub = false;
    const end = (how) => {
      over = true;
      this.subscriptions.delete(end);
      if (how.startsWith('killed') || how === 'kill') this.kill();
      program.destroy();
      store.destroy();
    };
    const commands = new Frames((one) => {
      if (over) return;
      const kind = kindOf(one);
      const how = this.#fate(kind);
      if (kind === 'subscribe') {
        isSub = true;
        this.subscriptions.add(end);
        if (this.deaf) end('lost');
        if (over) return;
      }
      pending.push(how);
      if (how === 'lost' || how === 'killed') {
        over = true; // nothing that follows is sent either; what was asked before is still answered
        if (pending.length === 1) end(how);
        return;
      }
      store.write(one);
    });
    const answers = new Frames((one) => {
      if (isSub && one[0] === 0x2a) {
        const [what, , text] = words(one, 3);
        const how = what === 'message' ? this.#fate(`message:${text[0]}`) : null;
        if (how) end(how);
        else if (!program.destroyed) program.write(one);
        return;
      }
      const how = pending.shift();
      if (how === 'unanswered' || how === 'killed_late') {
        end(how);
        return;
      }
      if (this.held) this.held.push(() => program.write(one));
      else if (!program.destroyed) program.write(one);
      if (pending.length === 1 && (pending[0] === 'lost' || pending[0] === 'killed')) {
        const last = pending[0];
        if (last === 'killed') end(last);
        else program.end(() => end(last)); // what was answered before is read
      }
    });
    program.on('data', (d) => commands.feed(d));
    store.on('data', (d) => answers.feed(d));
    for (const [one, other] of [[program, store], [store, program]]) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.subscriptions.delete(end);
        other.destroy();
      });
    }
  }
}
