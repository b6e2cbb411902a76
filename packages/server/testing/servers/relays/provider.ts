import type { IncomingHttpHeaders } from 'node:http';

/**
 * A provider as its public documentation describes it, for tests of the adapters. It shares no code with
 * an adapter, so that an error in one is not repeated by the other.
 */
export type FakeRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
};

/** A string is sent as it is, anything else as JSON. */
export type FakeAnswer = { status: number; headers?: Record<string, string>; body: unknown };

/** An email as the provider read it from a request. */
export type FakeEmail = {
  id: string;
  to: string;
  /** The metadata that the provider returns with each event. */
  token: string;
  /** The idempotency key, if the provider has one. */
  key: string | null;
  /** The parts that must reach the recipient, in one text. */
  content: string;
  /** The custom headers of an email that came by SMTP, if the provider returns them. */
  headers?: FakeHeader[];
};

export type FakeHeader = { name: string; value: string };

export type FakeEvent = {
  id: string;
  kind: 'delivered' | 'bounced' | 'deferred' | 'complained' | 'opened';
  email: FakeEmail;
  /** The answer of the receiving server. */
  text: string;
  /** When it happened, in milliseconds. */
  at: number;
};

export type FakeHook = { headers: Record<string, string>; body: Buffer };

export type FakeProvider = {
  /** Valid settings, without the URL. */
  settings: Record<string, string>;
  urlField: 'api_url' | 'server_url';
  isSubmission(request: FakeRequest): boolean;
  isAuthorized(request: FakeRequest): boolean;
  unauthorized: FakeAnswer;
  read(request: FakeRequest): Omit<FakeEmail, 'id'>;
  /** Reads the metadata of an email that came by SMTP from its header. Null: the provider has no SMTP servers of a known host. */
  readSmtp: ((headers: FakeHeader[]) => Pick<FakeEmail, 'token' | 'headers'>) | null;
  /** The form of the ids of this provider. */
  newId(): string;
  accepted(email: FakeEmail): FakeAnswer;
  /** The answer to a repeated idempotency key. */
  repeated?(email: FakeEmail): FakeAnswer;
  /** `email`: about this email. `account`: about every email. `rate`: the limit of requests. `server`: an error without a meaning. */
  refusals: Record<'email' | 'account' | 'rate' | 'server', FakeAnswer>;
  /** A request to the webhook, signed at a time. */
  hook(event: FakeEvent, signedAt: number): FakeHook;
  /** Other requests: checks, lists of events, records of a domain. */
  respond(request: FakeRequest, state: { events: FakeEvent[]; url: string }): FakeAnswer | null;
};

/** The header of an email as it arrived, with unfolded lines. */
export function headersOf(raw: string): FakeHeader[] {
  const [head = ''] = raw.split(/\r?\n\r?\n/);
  return head
    .replaceAll(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .map((line) => ({ name: line.split(':')[0] ?? '', value: line.slice(line.indexOf(':') + 1).trim() }));
}

/** The value of a field that occurs once. */
export function headerOf(headers: FakeHeader[], name: string): string {
  const values = headers.filter((field) => field.name.toLowerCase() === name.toLowerCase());
  if (values.length !== 1) throw new Error(`${values.length} fields ${name}`);
  return values[0]?.value ?? '';
}

export function jsonOf({ body }: FakeRequest): Record<string, unknown> {
  return JSON.parse(body.toString('utf8')) as Record<string, unknown>;
}

/** The value of `name` in a list of `{Name, Value}` or `{name, value}`. */
export function named(list: unknown, name: string): string {
  const rows = (Array.isArray(list) ? list : []) as Record<string, string>[];
  const row = rows.find((entry) => (entry['Name'] ?? entry['name'])?.toLowerCase() === name.toLowerCase());
  return row?.['Value'] ?? row?.['value'] ?? '';
}
