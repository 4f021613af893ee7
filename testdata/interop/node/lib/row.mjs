// One row of the table of foreign clients: name, transport, revision, and how each step went.
import { within } from './harness.mjs';

export const steps = ['connect', 'list', 'call', 'error', 'progress', 'cancel', 'question'];

// row prints it, and tells whether a step failed. open connects; can holds the other steps by name: they throw, return '-' for what the client
// does not have, or nothing.
export async function row(name, transport, open, can, limit = 30_000) {
  const cells = [];
  let session, failed = false;
  for (const step of steps) {
    try {
      if (step === 'connect') session = await within(limit, open());
      cells.push((step === 'connect' ? undefined : await within(limit, can[step](session))) ?? 'ok');
    } catch (error) {
      failed = true;
      cells.push('FAIL');
      console.error(`${name}, ${transport}: ${step}: ${error.stack ?? error}`);
      if (!session) break;
    }
  }
  await session?.close();
  console.log(['row', name, transport, session?.revision ?? '?', ...cells].join('\t'));
  return failed;
}
