// Drives a server over Streamable HTTP with the TypeScript SDK, revision 2025-11-25: sessions and streams.
//
//	node http-2025-11-25.mjs COMMAND [ARG...]
import { CallToolResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { assert, checks, rejects, until } from './lib/harness.mjs';
import { connect } from './lib/sdk.mjs';
import { serve } from './lib/serve.mjs';

const server = await serve(process.argv.slice(2));
const relatedTask = 'io.modelcontextprotocol/related-task';

const text = result => result.content.map(c => c.text).join('\n');

// Every check has a session of its own, which it ends.
const withSession = (options, body) => async () => {
  const session = await connect(server.url, options);
  try {
    await body(session);
    assert.deepEqual(session.errors, [], 'the client met messages that it could not place');
  } finally {
    await session.transport.terminateSession();
    await session.client.close();
  }
};

const stream = session => until(session, 'the stream of the session', s => s.http.find(e => e.method === 'GET' && e.status === 200));

// resumptions are the requests that take up a stream where it broke.
const resumptions = session => session.http.filter(e => e.method === 'GET' && e.headers['last-event-id']);

// dropping breaks the first stream in which the words arrive, right after them.
function dropping(words) {
  let dropped = false;
  return response => {
    if (dropped || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let broken = false;
    const body = new ReadableStream({
      // It is called when what was enqueued before has been taken.
      async pull(controller) {
        if (broken) {
          controller.error(new Error('the connection is gone'));
          return reader.cancel();
        }
        const { value, done } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value);
        broken = !dropped && decoder.decode(value, { stream: true }).includes(words);
        dropped ||= broken;
      },
      cancel: reason => reader.cancel(reason),
    });
    return new Response(body, response);
  };
}

await checks('interop, TypeScript SDK over HTTP', {
  'a session is opened, named on every request and ended': async () => {
    const session = await connect(server.url);
    const { client, transport } = session;
    const id = transport.sessionId;
    assert.match(id, /^[!-~]{20,}$/);
    assert.equal(text(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })), 'Hello, Ada!');
    await stream(session);
    const [initialize, ...rest] = session.http;
    assert.equal(initialize.headers['mcp-session-id'], undefined);
    assert.ok(rest.length >= 3);
    for (const exchange of rest) {
      assert.equal(exchange.headers['mcp-session-id'], id);
      assert.equal(exchange.headers['mcp-protocol-version'], '2025-11-25');
      assert.ok(exchange.status === 200 || exchange.status === 202, `${exchange.method} ${exchange.status}`);
    }
    await transport.terminateSession();
    assert.ok(session.http.at(-1).method === 'DELETE' && session.http.at(-1).status < 300);
    const late = await fetch(server.url, {
      method: 'POST', headers: rest[0].headers, body: JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'tools/list' }),
    });
    assert.equal(late.status, 404, 'what is left of an ended session');
    await client.close();
  },

  'tools are listed and called': withSession({}, async ({ client }) => {
    const { tools } = await client.listTools();
    assert.equal(tools.find(t => t.name === 'slow_compute').execution.taskSupport, 'optional');
    const result = await client.callTool({ name: 'test_multiple_content_types' });
    assert.deepEqual(result.content.map(c => c.type), ['text', 'image', 'resource']);
  }),

  'violations come back as a tool error that names each of them': withSession({}, async ({ client }) => {
    const result = await client.callTool({ name: 'slow_compute', arguments: { seconds: -1, label: 7 } });
    assert.equal(result.isError, true);
    assert.match(text(result), /\/seconds/);
    assert.match(text(result), /\/label/);
    await rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), -32602, /no_such_tool/);
  }),

  'a call that is cancelled in flight is never answered': withSession({}, async session => {
    const { client } = session;
    const abort = new AbortController();
    const call = client.callTool({ name: 'slow_compute', arguments: { seconds: 60 } }, undefined, { signal: abort.signal });
    const { id } = session.sent.at(-1);
    await client.ping();
    abort.abort('not needed any more');
    await assert.rejects(call, /not needed any more/);
    for (let i = 0; i < 10; i++) await client.ping();
    assert.deepEqual(session.received.filter(m => m.id === id), []);
  }),

  'a question in a call is answered on a request of its own': withSession({ answers: { 'Who is there?': { username: 'ada', email: 'ada@example.com' } } }, async session => {
    const result = await session.client.callTool({ name: 'test_elicitation', arguments: { message: 'Who is there?' } });
    assert.match(text(result), /accept.*ada/);
    assert.equal(session.questions.length, 1);
  }),

  'the stream of the session tells what belongs to no request': withSession({}, async session => {
    let changes = 0;
    session.client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changes++; session.wake?.(); });
    await stream(session);
    await session.client.callTool({ name: 'test_trigger_tool_change' });
    await until(session, 'the change', () => changes === 1);
  }),

  'an answer waits for the client when the server closes the stream': withSession({}, async session => {
    const result = await session.client.callTool({ name: 'test_reconnection' });
    assert.match(text(result), /delivered/);
    assert.equal(resumptions(session).length, 1);
  }),

  'a stream that breaks is taken up again without loss': async () => {
    const breaking = dropping('"progress":0');
    await withSession({ through: breaking }, async session => {
      const seen = [];
      const result = await session.client.callTool({ name: 'test_tool_with_progress' }, undefined, { onprogress: p => seen.push(p.progress) });
      assert.equal(text(result), 'done');
      assert.deepEqual(seen, [0, 50, 100], 'each once, in order');
      assert.equal(resumptions(session).length, 1);
      // The client tells of every broken stream.
      assert.equal(session.errors.length, 1);
      assert.match(session.errors.pop(), /SSE stream disconnected/);
    })();
  },

  'a client that comes back takes up its session and its task': async () => {
    const first = await connect(server.url);
    const tasks = first.client.experimental.tasks.callToolStream({ name: 'slow_compute', arguments: { seconds: 1, label: 'interop' } },
      CallToolResultSchema, { task: {} });
    const { task } = (await tasks.next()).value;
    await tasks.return();
    await first.client.close();
    await withSession({ http: { sessionId: first.transport.sessionId } }, async ({ client }) => {
      const result = await client.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
      assert.match(text(result), /interop: computed/);
      assert.deepEqual(result._meta[relatedTask], { taskId: task.taskId });
    })();
  },

  'a task asks through tasks/result': withSession({ answers: { 'Delete interop.txt?': { confirm: true } } }, async session => {
    const types = [];
    const tasks = session.client.experimental.tasks.callToolStream({ name: 'confirm_delete', arguments: { filename: 'interop.txt' } },
      CallToolResultSchema, { task: {} });
    let last;
    for await (last of tasks) types.push(last.type);
    assert.equal(types[0], 'taskCreated');
    assert.match(text(last.result), /deleted interop.txt/);
    assert.equal(session.questions.length, 1, 'asked once');
  }),

  'a task is cancelled for good': withSession({}, async ({ client }) => {
    const tasks = client.experimental.tasks.callToolStream({ name: 'slow_compute', arguments: { seconds: 60 } }, CallToolResultSchema, { task: {} });
    const { task } = (await tasks.next()).value;
    await tasks.return();
    assert.equal((await client.experimental.tasks.cancelTask(task.taskId)).status, 'cancelled');
    await rejects(client.experimental.tasks.cancelTask(task.taskId), -32602, /cancelled/);
  }),
}, { after: () => server.stop() });
