import http, { type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';

export type LocalReply = { status: number; body: unknown };

export type LocalRequestOptions = { body?: unknown; headers?: Record<string, string> };

/** Sends one request over a local socket: `requestOverSocket(path, 'GET /livez')`. */
export function requestOverSocket(
  socketPath: string,
  what: string,
  { body, headers = {} }: LocalRequestOptions = {},
): Promise<LocalReply> {
  const [method = 'GET', path = '/'] = what.split(' ');
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const request = http.request({ socketPath, method, path, agent: false, headers: { ...type, ...headers } });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      json(response).then((read) => resolve({ status, body: read }), reject);
    });
  });
}
