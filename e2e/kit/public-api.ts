import type { Installation } from './installation.ts';

/** A customer's server: sends a body with its API key and returns the status. */
export type CustomerServer = (path: 'users' | 'events' | 'events/batch', body: object) => Promise<number>;

export function serverWith(secret: string, { url }: Pick<Installation, 'url'>): CustomerServer {
  return async (path, body) => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  };
}
