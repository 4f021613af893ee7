// Drives tasks with @modelcontextprotocol/ext-tasks, on a client of either revision.
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { isJSONRPCErrorResponse, isJSONRPCResponse } from '@modelcontextprotocol/client';
import { close, connect, stateless } from './client.mjs';

const extension = 'io.modelcontextprotocol/tasks';

// openTasks returns a client with tasks on top. answers maps messages of questions to contents, as in connect.
export async function openTasks(target, revision, { answers = {}, identity } = {}) {
  const capabilities = { elicitation: {}, ...(revision === stateless && { extensions: { [extension]: {} } }) };
  const session = await connect(target, revision, { answers: null, capabilities, identity });
  session.failures = [];
  const framing = revision === stateless && {
    rawDispatch: rawDispatch(session),
    v2RequestFraming: { protocolVersion: revision, clientInfo: { name: 'interop', version: '1.0.0' }, clientCapabilities: capabilities },
  };
  session.begin = () => {
    session.tasks = createTaskSessionFromClient(session.client, {
      endpointId: 'interop',
      onError: error => session.failures.push(String(error)),
      onInputRequest: (request, context) => answer(session, answers, request, context),
      ...framing,
    });
  };
  session.begin();
  return session;
}

function answer(session, answers, request, context) {
  session.questions.push({ ...request, ...context });
  session.wake?.();
  const content = answers[request.params.message];
  return content ? { action: 'accept', content } : { action: 'decline' };
}

// closeTasks ends the client, and with it what it waits for.
export async function closeTasks(session) {
  await session.tasks.close();
  await close(session);
}

// rawDispatch sends requests below the client, which has no words for tasks, and takes their answers out before it sees them.
function rawDispatch(session) {
  const { transport } = session;
  const waiting = new Map();
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = isJSONRPCResponse(message) && waiting.get(message.id);
    if (!settle) return deliver(message, extra);
    session.received.push(message);
    settle(isJSONRPCErrorResponse(message) ? { kind: 'error', error: message.error } : { kind: 'result', result: message.result });
  };
  let last = 0;
  return (request, { signal, context } = {}) => new Promise((resolve, reject) => {
    const id = `task:${++last}`;
    const done = settle => value => {
      waiting.delete(id);
      settle(value);
    };
    waiting.set(id, done(resolve));
    signal?.addEventListener('abort', () => done(reject)(signal.reason), { once: true });
    session.raw({ jsonrpc: '2.0', id, ...request }, { headers: context?.headers, requestSignal: signal }).catch(done(reject));
  });
}
