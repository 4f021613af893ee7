// A server of the TypeScript SDK on stdio, for the client of this project: see testdata/interop/servers.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'typescript', version: '1' });
const text = (text) => ({ content: [{ type: 'text', text }] });
let ended = 0;

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
add('ask', async () => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const answer = await server.server.elicitInput({ message: 'Who are you?', requestedSchema });
  return text(answer.content.name);
});

await server.connect(new StdioServerTransport());
