import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StripeAddress } from '../../src/modules/imports/stripe-api/open-stripe.ts';
import type { StripeWorld } from '../factories/stripe-objects.ts';

/** Stripe's API on loopback, as far as we read it: paged lists, newest first, keys with their permissions, and failures. */
export type StripeServer = {
  address: StripeAddress;
  /** Its data. A test may change it between two requests. */
  world: StripeWorld;
  /** Each key with the lists that it may not read. An unknown key is refused. */
  keys: Map<string, Set<string>>;
  /** The path and query of every request. */
  requests: URL[];
  headers: IncomingMessage['headers'][];
  /** Failures for the next requests, one after the other. `null`: a normal response. */
  failures: (StripeFailure | null)[];
  /** Called before each response. */
  beforeResponse: (url: URL) => void | Promise<void>;
  close(): Promise<void>;
};

export type StripeFailure =
  | { status: number; headers?: Record<string, string>; code?: string; type?: string }
  | 'reset'
  | 'silent';

export const STRIPE_KEY = 'rk_live_51ReadOnlyForTests';

const LISTS: Record<string, keyof StripeWorld> = {
  '/v1/products': 'products',
  '/v1/prices': 'prices',
  '/v1/customers': 'customers',
  '/v1/subscriptions': 'subscriptions',
  '/v1/invoices': 'invoices',
};
/** The number of lines that an invoice includes. The others are a list of their own. */
const LINES_SHOWN = 10;

export async function stripeServer(world: StripeWorld): Promise<StripeServer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stripe: StripeServer = {
    address: { host: '127.0.0.1', port, protocol: 'http' },
    world,
    keys: new Map([[STRIPE_KEY, new Set()]]),
    requests: [],
    headers: [],
    failures: [],
    beforeResponse: () => undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('request', (request, response) => void respond(stripe, request, response));
  return stripe;
}

async function respond(
  stripe: StripeServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://stripe');
  stripe.requests.push(url);
  stripe.headers.push(request.headers);
  await stripe.beforeResponse(url);
  const failure = stripe.failures.shift() ?? null;
  if (failure === 'silent') return;
  if (failure === 'reset') {
    response.destroy();
    return;
  }
  if (failure) return refuse(response, failure);
  const refused = refusalOf(stripe, request, url);
  if (refused) return refuse(response, refused);
  const page = pageOf(stripe.world, url);
  if ('status' in page) return refuse(response, page);
  send(response, { status: 200, body: page });
}

type Refused = Exclude<StripeFailure, string> & { message?: string; param?: string };

function refusalOf({ keys }: StripeServer, request: IncomingMessage, url: URL): Refused | null {
  const key = (request.headers.authorization ?? '').replace('Bearer ', '');
  const forbidden = keys.get(key);
  if (!forbidden) {
    return {
      status: 401,
      type: 'invalid_request_error',
      message: `Invalid API Key provided: ${key.slice(0, 12)}***`,
    };
  }
  const list = url.pathname.split('/')[2] ?? '';
  if (!forbidden.has(list)) return null;
  const message = `The provided key '${key.slice(0, 8)}***' does not have the required permissions for this endpoint on account 'acct_1'. Having the 'rak_${list.slice(0, -1)}_read' permission would allow this request to continue.`;
  return { status: 403, type: 'invalid_request_error', message };
}

function refuse(response: ServerResponse, refused: Refused): void {
  const { status, code, type, message, param } = refused;
  const error = {
    type: type ?? (status >= 500 ? 'api_error' : 'invalid_request_error'),
    message: message ?? 'Something went wrong.',
    ...(code ? { code } : {}),
    ...(param ? { param } : {}),
  };
  send(response, { status, body: { error }, headers: refused.headers ?? {} });
}

type Sent = { status: number; body: object; headers?: Record<string, string> };

function send(response: ServerResponse, { status, body, headers = {} }: Sent): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...headers });
  // Nearly all of the thousands of pages are invoices, which contain no prices.
  const isOfPrices = 'url' in body && body.url !== '/v1/invoices';
  response.end(isOfPrices ? JSON.stringify(body, withDecimals) : JSON.stringify(body));
}

/** Adds the decimal form of prices: a text that can include fractions of a cent, next to the number. */
function withDecimals(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('unit_amount_decimal' in value)) return value;
  const amount = 'unit_amount' in value ? value.unit_amount : null;
  return typeof amount === 'number' ? { ...value, unit_amount_decimal: String(amount) } : value;
}

type Listed = { object: 'list'; data: unknown[]; has_more: boolean; url: string };

function pageOf(world: StripeWorld, url: URL): Listed | Refused {
  const lines = /^\/v1\/invoices\/([^/]+)\/lines$/.exec(url.pathname);
  if (lines) {
    const invoice = world.invoices.find(({ id }) => id === lines[1]);
    return cut(invoice?.lines.data ?? [], url);
  }
  const list = LISTS[url.pathname];
  if (!list) return { status: 404, message: `Unrecognized request URL (GET: ${url.pathname}).` };
  if (list === 'subscriptions' && url.searchParams.get('status') !== 'all') {
    return { status: 400, message: 'Only status=all is answered here.' };
  }
  const createdMax = Number(url.searchParams.get('created[lte]') ?? Number.MAX_SAFE_INTEGER);
  const sorted = newestFirst(world[list]);
  const from = sorted.findIndex(({ created }) => created <= createdMax);
  const page = cut(from === -1 ? [] : from === 0 ? sorted : sorted.slice(from), url);
  return 'status' in page || list !== 'invoices' ? page : { ...page, data: page.data.map(withFewLines) };
}

type Dated = { id: string; created: number };
const sortedBefore = new WeakMap<object, Dated[]>();

/** Sorts a list once per length: a large account is read in thousands of pages. */
function newestFirst(objects: Dated[]): Dated[] {
  const cached = sortedBefore.get(objects);
  if (cached?.length === objects.length) return cached;
  const sorted = objects.toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
  sortedBefore.set(objects, sorted);
  return sorted;
}

function cut(objects: { id: string }[], url: URL): Listed | Refused {
  const limit = Number(url.searchParams.get('limit') ?? 10);
  if (!(limit >= 1 && limit <= 100))
    return { status: 400, message: `Invalid integer: ${limit}`, param: 'limit' };
  const after = url.searchParams.get('starting_after');
  const index = after === null ? -1 : objects.findIndex(({ id }) => id === after);
  if (after !== null && index === -1) {
    return {
      status: 400,
      code: 'resource_missing',
      param: 'starting_after',
      message: `No such object: '${after}'`,
    };
  }
  const data = objects.slice(index + 1, index + 1 + limit);
  return { object: 'list', data, has_more: index + 1 + limit < objects.length, url: url.pathname };
}

function withFewLines(invoice: unknown): unknown {
  const { lines, ...rest } = invoice as StripeWorld['invoices'][number];
  const firstLines = lines.data.slice(0, LINES_SHOWN);
  return { ...rest, lines: { ...lines, data: firstLines, has_more: firstLines.length < lines.data.length } };
}
