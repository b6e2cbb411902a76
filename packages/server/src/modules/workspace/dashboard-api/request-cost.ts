import type { TSchema } from 'typebox';
import type { RouteRules } from './route.ts';

/**
 * `heavy`: its cost in the database depends on typed input or on the amount of stored data. `images`: it fetches images from servers that
 * customers named. Each kind has its own queue, so that none waits for another.
 */
export type Cost = 'light' | 'heavy' | 'images';

/** Query parameters that name one thing, turn pages, or format an answer. Any other parameter makes its route heavy. */
const LIGHT_PARAMETERS: ReadonlySet<string> = new Set([
  'cursor',
  'offset',
  'limit',
  'last_event_id',
  'view',
  'screen',
  'scheme',
  'images',
  'copy',
  'format',
  'preview_id',
  'token',
  'email',
  'user',
  'draft',
  'at',
]);
/** Fields of a body by which the database is searched. The others are written, or name one thing. */
const HEAVY_FIELDS: ReadonlySet<string> = new Set(['filter', 'definition', 'document']);

/** Returns the parameters and fields of this route that make it heavy. */
export function heavyFields({ query, body }: Pick<RouteRules, 'query' | 'body'>): string[] {
  return [
    ...namesOf(query).filter((name) => !LIGHT_PARAMETERS.has(name)),
    ...namesOf(body).filter((name) => HEAVY_FIELDS.has(name)),
  ];
}

export type Typed = { query: unknown; body: unknown };

/** Decides by the route's shape, so that no route has to be listed. */
export function costOf(one: RouteRules): (typed: Typed) => Cost {
  const fields = heavyFields(one);
  return ({ query, body }) => {
    if (one.isHeavy || fields.some((name) => isGiven(query, name) || isGiven(body, name))) return 'heavy';
    return valueOf(query, 'images') === 'show' ? 'images' : 'light';
  };
}

function namesOf(schema: TSchema | undefined): string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
}

function isGiven(typed: unknown, name: string): boolean {
  const value = valueOf(typed, name);
  return value !== undefined && value !== '';
}

function valueOf(typed: unknown, name: string): unknown {
  return typeof typed === 'object' && typed !== null ? (typed as Record<string, unknown>)[name] : undefined;
}
