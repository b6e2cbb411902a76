/**
 * The requests and responses of the dashboard API, one file per noun. It is not a public API. Only the types of the schemas are exported
 * here, so that importing it does not load TypeBox.
 */

import type { Static, TSchema } from 'typebox';
import type { DASHBOARD_API } from './endpoints.ts';

export * from './access.ts';
export * from './choices.ts';
export * from './list-orders.ts';
export * from './lists.ts';
export type * from './audiences.ts';
export type * from './backtest.ts';
export type * from './data.ts';
export type * from './domains.ts';
export type * from './drafts.ts';
export type * from './emails.ts';
export type * from './envelope.ts';
export type * from './events.ts';
export type * from './feed.ts';
export type * from './home.ts';
export type * from './imports.ts';
export type * from './insights.ts';
export type * from './keys.ts';
export type * from './listen.ts';
export type * from './organizations.ts';
export type * from './people.ts';
export type * from './projects.ts';
export type * from './relay-feedback.ts';
export type * from './relays.ts';
export type * from './reply-source.ts';
export type * from './requests.ts';
export type * from './rules.ts';
export type * from './sandbox.ts';
export type * from './schedule.ts';
export type * from './search.ts';
export type * from './flow.ts';
export type * from './settings.ts';
export type * from './suppressions.ts';
export type * from './system.ts';
export type * from './team.ts';
export type * from './templates.ts';
export type * from './tokens.ts';
export type * from './webhooks.ts';

type Endpoints = typeof DASHBOARD_API;

/** `METHOD /path` below `/api/dashboard`; names after a colon are parameters. */
export type RouteKey = keyof Endpoints;

type Get<K extends RouteKey, Part extends string> = Endpoints[K] extends {
  [P in Part]: infer Schema extends TSchema;
}
  ? Static<Schema>
  : undefined;
export type QueryOf<K extends RouteKey> = Get<K, 'query'>;
export type BodyOf<K extends RouteKey> = Get<K, 'body'>;
export type ResponseOf<K extends RouteKey> = Get<K, 'response'>;

type ParamNames<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamNames<More>
    : Rest
  : never;
export type ParamsOf<K extends string> = { [Name in ParamNames<K>]: string };
