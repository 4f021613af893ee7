// Starts the server under test and ends it, each by the id of its process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';

// serve starts the server on a free loopback port and returns when it accepts connections.
export async function serve(command, ...flags) {
  const port = await freePort();
  const child = spawn(command[0], [...command.slice(1), '-http', `127.0.0.1:${port}`, ...flags], { stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  await listening(port, child);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    // stop asks it to end and returns the exit status, or the signal that ended it.
    async stop() {
      child.kill('SIGINT');
      const [code, signal] = await ended;
      process.removeListener('exit', kill);
      return code ?? signal;
    },
  };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function listening(port, child, limit = 15_000) {
  const end = Date.now() + limit;
  while (child.exitCode === null && Date.now() < end) {
    if (await accepts(port)) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  throw new Error(`the server does not listen on port ${port} (exit status ${child.exitCode})`);
}

function accepts(port) {
  return new Promise(resolve => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => { socket.destroy(); resolve(true); });
    socket.once('error', () => resolve(false));
  });
}
