// site.mjs - the compose deployment of one test run: up, down, containers killed and started, and
// what can be seen of it from outside. All names are those of run.sh.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { freePort, root, until } from '../lib/errand.mjs';

const dir = process.env.ERRAND_TEST_DIR;
const project = process.env.COMPOSE_PROJECT_NAME;
const here = path.join(root, 'tests/deploy');
const files = [path.join(root, 'deploy/compose.yaml'), path.join(here, 'compose.test.yaml')];

export function run(program, args, { env = {}, ms = 120000 } = {}) {
  return new Promise((resolve, reject) => {
    execFile(program, args, { env: { ...process.env, ...env }, timeout: ms, maxBuffer: 1 << 26 }, (error, out, err) => {
      if (error) reject(new Error(`${program} ${args.join(' ')}: ${error.code ?? error.signal}\n${out}${err}`));
      else resolve(out);
    });
  });
}

// For the log of the run: what a test has seen beside that it passed.
export const note = (text) => fs.appendFileSync(path.join(dir, 'notes'), `${text}\n`);

export const docker = (...args) => run('docker', args);

// What the tools have left: { what: start or end, task, attempt, name }.
export function effects() {
  let text = '';
  try {
    text = fs.readFileSync(path.join(dir, 'effects/log'), 'utf8');
  } catch { /* nothing yet */ }
  return text.split('\n').filter(Boolean).map((line) => {
    const [what, task, attempt, name] = line.split(' ');
    return { what, task, attempt: Number(attempt), name };
  });
}

export class Site {
  constructor() {
    this.env = { ERRAND_TEST_TOOLS: path.join(here, 'tools') };
  }

  compose(args, more = []) {
    const words = [...files, ...more].flatMap((f) => ['-f', f]);
    return run('docker', ['compose', ...words, ...args], { env: this.env });
  }

  // Resolves to the milliseconds until everything was healthy.
  async up(...args) {
    await this.compose(['config', '--quiet']);
    this.env.ERRAND_PORT = String(await freePort());
    this.origin = `http://127.0.0.1:${this.env.ERRAND_PORT}`;
    this.url = `${this.origin}/mcp`;
    this.env.ERRAND_PUBLIC_URL = this.origin;
    const began = Date.now();
    await this.compose(['up', '-d', '--no-build', '--pull', 'never', '--wait', '--wait-timeout', '90', ...args]);
    const ms = Date.now() - began;
    await until('nginx answers', async () => (await fetch(`${this.origin}/readyz`).catch(() => ({}))).status === 200);
    this.key = (await this.cli('key', 'new', '--name', 'tests')).trim().split('\n').pop();
    this.env.ERRAND_KEY = this.key;
    return ms;
  }

  // One service again, with an override file of deploy/ on top.
  replace(service, override) {
    return this.compose(['up', '-d', '--no-build', '--pull', 'never', '--no-deps', '--wait', '--wait-timeout', '60', service],
      [path.join(root, 'deploy', override)]);
  }

  cli(...words) {
    return this.compose(['run', '--rm', '-T', '--no-deps', '--quiet-pull', 'cli', ...words]);
  }

  // Containers of a service, oldest name first.
  async containers(service) {
    const out = await docker('ps', '-a', '--filter', `label=com.docker.compose.project=${project}`,
      '--filter', `label=com.docker.compose.service=${service}`, '--filter', 'label=com.docker.compose.oneoff=False', '--format', '{{.Names}}');
    return out.trim().split('\n').filter(Boolean).sort();
  }

  async inspect(names) {
    return JSON.parse(await docker('inspect', ...[].concat(names)));
  }

  async healthy(name, ms = 90000) {
    await until(`${name} is healthy`, async () => {
      const [{ State: s }] = await this.inspect(name);
      return s.Running && (s.Health === undefined || s.Health.Status === 'healthy');
    }, ms, 300);
  }

  // redis-cli as the programs' user.
  async redis(...words) {
    const [name] = await this.containers('redis');
    const password = fs.readFileSync(path.join(process.env.ERRAND_SECRETS, 'redis-password'), 'utf8').trim();
    const out = await run('docker', ['exec', '-e', 'REDISCLI_AUTH', name, 'redis-cli', '--user', 'errand', ...words], { env: { REDISCLI_AUTH: password } });
    return out.split('\n').filter(Boolean);
  }

  // The sum of a metric over all brokers, asked inside their containers.
  async metric(name) {
    const ask = 'exec 3<>/dev/tcp/127.0.0.1/8080; printf "GET /metrics HTTP/1.1\\r\\nHost: broker\\r\\nConnection: close\\r\\n\\r\\n" >&3; cat <&3';
    const texts = await Promise.all((await this.containers('broker')).map((b) => docker('exec', b, 'bash', '-c', ask)));
    return texts.reduce((sum, t) => sum + Number(t.match(new RegExp(`^${name} (.*)$`, 'm'))[1]), 0);
  }

  // What runs in a worker's container besides its own program: lines of ps.
  async jobs(name) {
    const out = await docker('top', name, '-eo', 'pid,ppid,stat,comm');
    return out.trim().split('\n').slice(1).map((l) => l.trim()).filter((l) => !l.endsWith(' errand-worker') || / Z/.test(l));
  }

  async logs(service, lines = 60) {
    return this.compose(['logs', '--no-color', '--tail', String(lines), service]);
  }
}
