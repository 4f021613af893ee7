// A server of the TypeScript SDK's first generation, on stdio or HTTP with sessions, for the client of this project: see
// testdata/interop/servers.
//
//   node server.mjs stdio | http
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });
let ended = 0;
const taskStore = new InMemoryTaskStore();
const withTasks = { taskStore, taskMessageQueue: new InMemoryTaskMessageQueue(), capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } };

function newServer() {
  const server = new McpServer({ name: 'typescript', version: '1' }, withTasks);
  const add = (name, run) => server.registerTool(name, { inputSchema: { text: z.string() } }, run);
  add('echo', ({ text: said }) => text(said));
  add('fail', () => { throw new Error('no'); });
  add('hang', (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => { ended++; reject(new Error('given up')); })));
  add('ended', () => text(String(ended)));
  add('count', async (_, extra) => {
    for (let progress = 1; progress <= 3; progress++) {
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: extra._meta.progressToken, progress, total: 3 } });
    }
    return text('3');
  });
  add('ask', async (_, extra) => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const answer = await server.server.elicitInput({ message: 'Who are you?', requestedSchema }, { relatedRequestId: extra.requestId });
    return text(answer.content.name);
  });
  const addTask = (name, run) => server.experimental.tasks.registerToolTask(name, { inputSchema: { text: z.string() }, execution: { taskSupport: 'required' } }, {
    createTask: async (args, extra) => {
      const task = await extra.taskStore.createTask({ ttl: 60_000, pollInterval: 50 });
      run(args, result => extra.taskStore.storeTaskResult(task.taskId, 'completed', result));
      return { task };
    },
    getTask: (_, extra) => extra.taskStore.getTask(extra.taskId),
    getTaskResult: (_, extra) => extra.taskStore.getTaskResult(extra.taskId),
  });
  addTask('slow', ({ text: said }, done) => setTimeout(() => done(text(said)), 100));
  addTask('stuck', () => {});
  return server;
}

// serveHTTP serves on a free loopback port, each session by a server of its own, and says on standard output where.
function serveHTTP() {
  const sessions = new Map();
  const listener = createServer(async (req, res) => {
    let transport = sessions.get(req.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport) });
      await newServer().connect(transport);
    }
    await transport.handleRequest(req, res);
  });
  listener.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
}

if (process.argv[2] === 'http') serveHTTP();
else await newServer().connect(new StdioServerTransport());
