// resp.mjs - just enough of a Redis client to look at and prepare data in tests.
import net from 'node:net';

export class Redis {
  constructor(path) {
    this.waiting = [];
    this.buffer = Buffer.alloc(0);
    this.socket = net.connect(path);
    this.socket.on('data', (d) => this.#feed(d));
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
      for (const w of this.waiting.splice(0)) w.reject(new Error('redis connection closed'));
    });
  }

  call(...args) {
    if (this.closed) return Promise.reject(new Error('redis connection closed'));
    const parts = args.map((a) => Buffer.from(String(a)));
    const head = [Buffer.from(`*${parts.length}\r\n`)];
    for (const p of parts) head.push(Buffer.from(`$${p.length}\r\n`), p, Buffer.from('\r\n'));
    this.socket.write(Buffer.concat(head));
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  // From now on this connection only watches: every command of anybody, as MONITOR writes it.
  async monitor() {
    const seen = { text: '' };
    await this.call('MONITOR');
    this.watched = seen;
    return seen;
  }

  close() {
    this.socket.destroy();
  }

  #feed(data) {
    if (this.watched) {
      this.watched.text += data.toString('latin1');
      return;
    }
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const got = parse(this.buffer, 0);
      if (!got) return;
      this.buffer = this.buffer.subarray(got.end);
      const w = this.waiting.shift();
      if (!w) continue;
      if (got.value instanceof Error) w.reject(got.value);
      else w.resolve(got.value);
    }
  }
}

function parse(b, at) {
  const eol = b.indexOf('\r\n', at);
  if (eol < 0) return null;
  const line = b.toString('latin1', at + 1, eol);
  const end = eol + 2;
  switch (b[at]) {
    case 0x2b: return { value: line, end };
    case 0x2d: return { value: new Error(line), end };
    case 0x3a: return { value: Number(line), end };
    case 0x24: {
      const n = Number(line);
      if (n < 0) return { value: null, end };
      if (b.length < end + n + 2) return null;
      return { value: b.toString('utf8', end, end + n), end: end + n + 2 };
    }
    default: {
      const n = Number(line);
      if (n < 0) return { value: null, end };
      const value = [];
      let pos = end;
      for (let i = 0; i < n; i++) {
        const one = parse(b, pos);
        if (!one) return null;
        value.push(one.value);
        pos = one.end;
      }
      return { value, end: pos };
    }
  }
}
