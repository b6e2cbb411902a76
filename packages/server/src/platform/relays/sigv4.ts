import { createHmac } from 'node:crypto';
import { sha256 } from '../crypto/hash.ts';

export type AwsCredentials = { accessKeyId: string; secretAccessKey: string };
export type AwsRequest = {
  method: 'GET' | 'POST';
  url: string;
  /** Signed as they are, besides `host` and `x-amz-date`. Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  service: string;
  region: string;
};

/**
 * Returns the headers of a request with Signature Version 4 of Amazon Web Services:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
 */
export function signedHeaders(
  { method, url, headers, body, service, region }: AwsRequest,
  { accessKeyId, secretAccessKey }: AwsCredentials,
  now: number,
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(url);
  const time = new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const all: Record<string, string> = { ...headers, host, 'x-amz-date': time };
  const names = Object.keys(all).toSorted();
  const signedNames = names.join(';');
  const query = [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&');
  const canonical = [
    method,
    // Every service but S3 encodes the segments of the path twice.
    pathname.split('/').map(encode).join('/'),
    query,
    ...names.map((name) => `${name}:${(all[name] ?? '').trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedNames,
    sha256(body),
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString('hex');
  return {
    ...headers,
    'x-amz-date': time,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`,
  };
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Encodes all characters but the unreserved ones of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
