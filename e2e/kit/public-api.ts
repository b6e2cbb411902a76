import type { Installation } from './installation.ts';

/** A customer's server: it tells what it is told to, with its key. Gives the status that it got. */
export type CustomerServer = (path: 'users' | 'events' | 'events/batch', body: object) => Promise<number>;

export function serverWith(secret: string, { url }: Pick<Installation, 'url'>): CustomerServer {
  return async (path, body) => {
    const answer = await fetch(`${url}/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
}
