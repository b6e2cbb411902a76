import { DASHBOARD_ROUTES } from '../../packages/server/src/main/dashboard-routes.ts';
import { dataOf, type Victim } from './victim.ts';

export type DashboardRoute = (typeof DASHBOARD_ROUTES)[number];

/** The routes of the dashboard, from the server's own list. */
export const dashboardRoutes: readonly DashboardRoute[] = DASHBOARD_ROUTES;

/** Routes whose responses do not end. */
export const ENDLESS = new Set(['GET /projects/:project/feed', 'GET /projects/:project/listen']);

type Document = { paths: Record<string, Record<string, unknown>> };
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete', 'head', 'options']);

/** Returns the routes of the public API from its OpenAPI document. */
export async function publicRoutes(victim: Victim): Promise<{ method: string; path: string }[]> {
  const { json } = await victim.send('GET /openapi.json');
  return Object.entries((json as Document).paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((name) => METHODS.has(name))
      .map((name) => ({ method: name.toUpperCase(), path })),
  );
}

/** Paths of the public API that only a session can read. */
export const RESERVED = ['drafts', 'audiences', 'sequences', 'rules', 'keys', 'imports'].map(
  (name) => `/api/v1/${name}`,
);

/** Pages that are open without an API key and without a session. */
export const OPEN_PAGES = [
  '/livez',
  '/readyz',
  '/version',
  '/openapi.json',
  '/guide/',
  '/guide/api.html',
  '/sign-in',
  '/',
];

/** Returns a body that the public endpoint at this path accepts. */
export function bodyFor(path: string, user: string): object {
  const event = { external_user_id: user, name: 'attacked' };
  const person = { external_user_id: user, email: `${user}@example.com` };
  if (path.endsWith('/users')) return person;
  if (path.endsWith('/users/bulk')) return { users: [person] };
  return path.endsWith('/events') ? event : { events: [event] };
}

type Shape = {
  required?: string[];
  properties?: Record<string, Shape>;
  type?: string;
  const?: unknown;
  anyOf?: Shape[];
  enum?: unknown[];
  items?: Shape;
  minItems?: number;
};

const SIMPLE: Record<string, unknown> = { boolean: true, integer: 1, number: 1 };

/** Returns the smallest value that a schema accepts, as far as its shape shows. */
export function smallestValue(schema: unknown, text: string): unknown {
  const { type = '', anyOf = [], enum: values = [], ...shape } = (schema ?? {}) as Shape;
  const fixedValue = shape.const ?? values[0];
  if (fixedValue !== undefined) return fixedValue;
  if (anyOf.length > 0) return smallestValue(anyOf[0], text);
  if (type === 'array') return smallestList(shape, text);
  return type === 'object' ? smallestObject(shape, text) : (SIMPLE[type] ?? text);
}

function smallestList({ minItems = 0, items }: Shape, text: string): unknown[] {
  return minItems > 0 ? [smallestValue(items, text)] : [];
}

function smallestObject({ required = [], properties = {} }: Shape, text: string): object {
  return Object.fromEntries(required.map((name) => [name, smallestValue(properties[name], text)]));
}

/** Raises every rate limit so far that it never applies, because limits are not the target here. */
export async function liftLimits(victim: Victim): Promise<void> {
  await victim.database((db) => db.query('UPDATE rate_limit SET rate = 1e6, burst = 1e7, tokens = 1e7'));
}

/** Creates a personal access token of the owner with every scope. */
export async function newToken(victim: Victim): Promise<string> {
  const scopes = ['read', 'review', 'import'];
  const plain = { headers: { 'content-type': 'application/json' } };
  const post = async <T>(path: string, body: object): Promise<T> =>
    (await dataOf(victim.send(`POST /api/dashboard${path}`, { ...plain, body: JSON.stringify(body) }))) as T;
  const device = await post<{ user_code: string; device_code: string }>('/device', {
    label: 'attack',
    scopes,
  });
  await dataOf(victim.owner(`POST /device/${device.user_code}/approve`, {}));
  return (await post<{ token: string }>('/device/token', { device_code: device.device_code })).token;
}
