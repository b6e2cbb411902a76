import type { RelayContext } from './adapter.ts';
import { apiUrl } from './fields.ts';
import { signedHeaders } from './sigv4.ts';

type Call = { service: 'ses' | 'sqs' | 'sns'; url: string; body?: Buffer; headers?: Record<string, string> };

/** Returns a signed request to a service of Amazon Web Services. */
export function call({ settings, now }: RelayContext, { service, url, body, headers = {} }: Call) {
  const method = body ? 'POST' : 'GET';
  const region = settings['region'] ?? '';
  const aws = { method, url, headers, body: body ?? Buffer.alloc(0), service, region } as const;
  const credentials = {
    accessKeyId: settings['access_key_id'] ?? '',
    secretAccessKey: settings['secret_access_key'] ?? '',
  };
  return { url, headers: signedHeaders(aws, credentials, now()), ...(body ? { body } : {}) };
}

export function sesUrl({ settings }: RelayContext, path: string): string {
  return `${apiUrl(settings, `https://email.${settings['region'] ?? ''}.amazonaws.com`)}/v2/email/${path}`;
}
