// Connects with @modelcontextprotocol/client, which speaks both eras.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { newSession, recordReceived, recordSent, recordingFetch } from './harness.mjs';

export const stateless = '2026-07-28';
export const handshake = '2025-11-25';

// What a client says to speak one revision: it finds the newer one by itself and has to be told to stay with the older one.
const modes = { [stateless]: 'auto', [handshake]: 'legacy' };

const everything = { elicitation: { form: {} }, sampling: {}, roots: {} };

// connect returns a connected client with everything that crossed the wire. target is a command, which is started, or an address.
// answers maps the message of a question to the content that accepts it; without an entry it is declined. answers = null leaves
// questions to whoever else drives the client. identity is who it is to the server, over HTTP.
export async function connect(target, revision, { answers = {}, capabilities = everything, identity } = {}) {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities, versionNegotiation: { mode: modes[revision] } });
  const session = newSession(client);
  session.transport = typeof target === 'string'
    ? new StreamableHTTPClientTransport(new URL(target), { fetch: recordingFetch(session), requestInit: { headers: identity && { Authorization: `Bearer ${identity}` } } })
    : new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'inherit' });
  if (answers) answerQuestions(session, answers);
  recordSent(session);
  await client.connect(session.transport);
  recordReceived(session);
  return session;
}

// close ends the session first where there is one, as a client that leaves should.
export async function close(session) {
  await session.transport.terminateSession?.();
  await session.client.close();
}

function answerQuestions(session, answers) {
  const note = request => {
    session.questions.push(request);
    session.wake?.();
  };
  session.client.setRequestHandler('elicitation/create', async (request, context) => {
    note(request);
    const answer = answers[request.params.message];
    if (typeof answer === 'function') return answer(request, context);
    return answer ? { action: 'accept', content: answer } : { action: 'decline' };
  });
  session.client.setRequestHandler('sampling/createMessage', async request => {
    note(request);
    return { role: 'assistant', model: 'interop', content: { type: 'text', text: 'Paris' } };
  });
  session.client.setRequestHandler('roots/list', async request => {
    note(request);
    return { roots: [{ uri: 'file:///interop' }] };
  });
}
