// A server of the TypeScript SDK's second generation, on stdio or HTTP, for the client of this project: see testdata/interop/servers.
//
//   node server-v2.mjs stdio | http
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });
let ended = 0;

function newServer() {
  const server = new McpServer({ name: 'typescript-v2', version: '1' }, { capabilities: { tools: {} } });
  const add = (name, run) => server.registerTool(name, { inputSchema: z.object({ text: z.string() }) }, run);
  add('echo', ({ text: said }) => text(said));
  add('fail', () => { throw new Error('no'); });
  add('hang', (_, { mcpReq }) => new Promise((_, reject) => mcpReq.signal.addEventListener('abort', () => { ended++; reject(new Error('given up')); })));
  add('ended', () => text(String(ended)));
  add('count', async (_, { mcpReq }) => {
    for (let progress = 1; progress <= 3; progress++) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta.progressToken, progress, total: 3 } });
    }
    return text('3');
  });
  add('ask', (_, { mcpReq }) => {
    const who = acceptedContent(mcpReq.inputResponses, 'name');
    if (who) return text(who.name);
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) } });
  });
  return server;
}

// serveHTTP serves on a free loopback port and says on standard output where.
function serveHTTP() {
  const handler = createMcpHandler(newServer);
  const listener = createServer(async (req, res) => {
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    const body = ['GET', 'HEAD'].includes(req.method) ? undefined : Readable.toWeb(req);
    const request = new Request(`http://${req.headers.host}${req.url}`, { method: req.method, headers: req.headers, body, duplex: 'half', signal: gone.signal });
    const response = await handler.fetch(request);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) Readable.fromWeb(response.body).on('error', () => res.destroy()).pipe(res);
    else res.end();
  });
  listener.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
}

if (process.argv[2] === 'http') serveHTTP();
else serveStdio(newServer);
