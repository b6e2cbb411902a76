import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text as bufferText } from 'node:stream/consumers';
import type { HttpRelayKind } from '../../../src/platform/relays/adapter.ts';
import { brevoProvider } from './brevo.ts';
import { mailgunProvider } from './mailgun.ts';
import { postalProvider } from './postal.ts';
import { postmarkProvider } from './postmark.ts';
import type { FakeAnswer, FakeEmail, FakeEvent, FakeProvider, FakeRequest } from './provider.ts';
import { resendProvider } from './resend.ts';
import { sendgridProvider } from './sendgrid.ts';
import { sesProvider } from './ses.ts';

/**
 * The fate of the next submission. `cut`: the connection ends before the request was read. `cut_after`: it ends after the email was
 * accepted. `hang`: no answer, and `hang_after`: none after the email was accepted. `huge`: the email is accepted with an answer of a megabyte.
 */
export type FakeMode =
  | 'accept'
  | 'refuse_email'
  | 'refuse_account'
  | 'rate_limit'
  | 'server_error'
  | 'cut'
  | 'cut_after'
  | 'hang'
  | 'hang_after'
  | 'huge';

export type FakeRelay = {
  provider: FakeProvider;
  url: string;
  /** The settings of a relay that uses this server. */
  settings: Record<string, string>;
  /** The emails that were accepted, each once. */
  emails: FakeEmail[];
  /** Requests to submit an email, repeated ones included. */
  submissions: number;
  /** One for each of the next submissions. Without one, an email is accepted. */
  modes: FakeMode[];
  /** Chooses the fate of a submission that has none among `modes`. */
  decide: ((email: Omit<FakeEmail, 'id'>) => FakeMode) | null;
  /** Returns true for an email whose key the provider has forgotten, because its window has passed. */
  forgets: (email: Omit<FakeEmail, 'id'>) => boolean;
  /** The events that the provider lists. */
  events: FakeEvent[];
  /** The time that each answer takes. */
  latencyMs: number;
  close(): Promise<void>;
};

const PROVIDERS: Record<HttpRelayKind, () => FakeProvider> = {
  postmark: postmarkProvider,
  resend: resendProvider,
  ses: sesProvider,
  mailgun: mailgunProvider,
  sendgrid: sendgridProvider,
  brevo: brevoProvider,
  postal: postalProvider,
};

export async function startFakeRelay(kind: HttpRelayKind): Promise<FakeRelay> {
  const server = createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = PROVIDERS[kind]();
  const relay: FakeRelay = {
    provider,
    url,
    settings: { ...provider.settings, [provider.urlField]: url },
    emails: [],
    submissions: 0,
    modes: [],
    decide: null,
    forgets: () => false,
    events: [],
    latencyMs: 0,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  server.on(
    'request',
    (request, response) => void handle(relay, request, response).catch(() => response.destroy()),
  );
  return relay;
}

async function handle(relay: FakeRelay, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', relay.url);
  const head = {
    method: request.method ?? '',
    path: pathname,
    query: searchParams,
    headers: request.headers,
  };
  const isSubmission = relay.provider.isSubmission({ ...head, body: Buffer.alloc(0) });
  const planned = isSubmission ? relay.modes.shift() : 'accept';
  if (isSubmission) relay.submissions += 1;
  if (planned === 'cut') {
    response.destroy();
    return;
  }
  const body = Buffer.from(await bufferText(request.setEncoding('latin1')), 'latin1');
  const read: FakeRequest = { ...head, body };
  const mode = planned ?? decided(relay, read);
  const answer = isSubmission ? submission(relay, read, mode) : other(relay, read);
  await respond(response, { mode, answer, latencyMs: relay.latencyMs });
}

function decided({ provider, decide }: FakeRelay, request: FakeRequest): FakeMode {
  return decide?.(provider.read(request)) ?? 'accept';
}

async function respond(
  response: ServerResponse,
  { mode, answer, latencyMs }: { mode: FakeMode; answer: FakeAnswer; latencyMs: number },
): Promise<void> {
  if (mode === 'hang' || mode === 'hang_after') return;
  if (mode === 'cut' || mode === 'cut_after') {
    response.destroy();
    return;
  }
  if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
  send(response, mode === 'huge' ? enlarged(answer) : answer);
}

function submission(relay: FakeRelay, request: FakeRequest, mode: FakeMode): FakeAnswer {
  const { provider, emails } = relay;
  if (!provider.isAuthorized(request)) return provider.unauthorized;
  if (mode === 'refuse_email') return provider.refusals.email;
  if (mode === 'refuse_account') return provider.refusals.account;
  if (mode === 'rate_limit') return provider.refusals.rate;
  if (mode === 'server_error') return provider.refusals.server;
  const email = { ...provider.read(request), id: provider.newId() };
  const first = emails.find(({ key }) => key !== null && key === email.key && !relay.forgets(email));
  if (first && provider.repeated) return provider.repeated(first);
  if (mode !== 'hang' && mode !== 'cut') emails.push(email);
  return provider.accepted(email);
}

function other({ provider, events, url }: FakeRelay, request: FakeRequest): FakeAnswer {
  if (!provider.isAuthorized(request)) return provider.unauthorized;
  return provider.respond(request, { events, url }) ?? { status: 404, body: { message: 'Not found' } };
}

function enlarged({ status, headers = {}, body }: FakeAnswer): FakeAnswer {
  const padding = 'x'.repeat(1_048_576);
  return {
    status,
    headers,
    body: typeof body === 'string' ? body + padding : { ...(body as object), padding },
  };
}

function send(response: ServerResponse, { status, headers = {}, body }: FakeAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}
