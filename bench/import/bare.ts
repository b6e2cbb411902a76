import { Agent, request as ask } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';

const AT_ONCE = 3;
/** A full queue is asked again so soon that it never runs dry. */
const AGAIN_MS = 50;

/** Requests whose bodies were written before the clock started, one behind the other on a few connections, and nothing else. */
export async function sendBare(port: number, secret: string, bodies: readonly string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < bodies.length) {
      const body = bodies[next] ?? '';
      next += 1;
      while ((await post({ agent, port, secret, body })) === 429)
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  agent.destroy();
}

type Post = { agent: Agent; port: number; secret: string; body: string };

async function post({ agent, port, secret, body }: Post): Promise<number> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const asked = ask({ agent, port, path: '/api/v1/users/bulk', method: 'POST', headers });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  const { statusCode = 0 } = answer;
  if (statusCode !== 200 && statusCode !== 429) throw new Error(`the server answered ${statusCode}`);
  return statusCode;
}
