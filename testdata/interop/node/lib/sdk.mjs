// Connects with @modelcontextprotocol/sdk, the client of the handshake revisions.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { newSession, recordReceived, recordSent, recordingFetch } from './harness.mjs';

// connect returns a connected client with everything that crossed the wire. target is a command, which is started, or an address.
// answers maps the message of a question to the content that accepts it; without an entry it is declined. http are options of the
// transport, through may change responses.
export async function connect(target, { answers = {}, capabilities = { elicitation: { form: {} } }, http = {}, through } = {}) {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities });
  const session = newSession(client);
  session.transport = transportTo(target, session, { fetch: recordingFetch(session, through), ...http });
  if (capabilities.elicitation) answerQuestions(session, answers);
  recordSent(session);
  await client.connect(session.transport);
  recordReceived(session);
  return session;
}

function transportTo(target, session, http) {
  if (typeof target === 'string') return new StreamableHTTPClientTransport(new URL(target), http);
  return new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'inherit' });
}

function answerQuestions(session, answers) {
  session.client.setRequestHandler(ElicitRequestSchema, async (request, extra) => {
    session.questions.push(request);
    session.wake?.();
    const answer = answers[request.params.message];
    if (typeof answer === 'function') return answer(request, extra);
    return answer ? { action: 'accept', content: answer } : { action: 'decline' };
  });
}
