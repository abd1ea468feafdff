// balancer.mjs - a round-robin HTTP proxy: each request goes to the next broker.
import http from 'node:http';

export function balance(brokers) {
  let turn = 0;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1000 });
  const server = http.createServer((req, res) => {
    const { port } = brokers[turn++ % brokers.length];
    const up = http.request({ host: '127.0.0.1', port, method: req.method, path: req.url, headers: req.headers, agent }, (r) => {
      res.writeHead(r.statusCode, r.headers);
      res.flushHeaders();
      r.pipe(res);
      r.on('error', () => res.destroy());
    });
    up.on('error', () => res.destroy());
    res.on('close', () => up.destroy());
    req.pipe(up);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({
      port: server.address().port,
      url: `http://127.0.0.1:${server.address().port}/mcp`,
      close: () => {
        server.closeAllConnections();
        server.close();
        agent.destroy();
      },
    }));
  });
}
