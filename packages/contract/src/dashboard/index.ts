/** The requests and responses of the dashboard API, one file per noun. It is not a public API. */

import type { AudiencesApi } from './audiences.ts';
import type { DataApi } from './data.ts';
import type { EmailsApi } from './emails.ts';
import type { DomainsApi } from './domains.ts';
import type { DraftsApi } from './drafts.ts';
import type { EventsApi } from './events.ts';
import type { FeedApi } from './feed.ts';
import type { HomeApi } from './home.ts';
import type { ImportsApi } from './imports.ts';
import type { InsightsApi } from './insights.ts';
import type { KeysApi } from './keys.ts';
import type { ListenApi } from './listen.ts';
import type { OrganizationsApi } from './organizations.ts';
import type { PeopleApi } from './people.ts';
import type { ProjectsApi } from './projects.ts';
import type { RequestsApi } from './requests.ts';
import type { RulesApi } from './rules.ts';
import type { SandboxApi } from './sandbox.ts';
import type { ScheduleApi } from './schedule.ts';
import type { SequencesApi } from './sequences.ts';
import type { SettingsApi } from './settings.ts';
import type { SuppressionsApi } from './suppressions.ts';
import type { SystemApi } from './system.ts';
import type { TeamApi } from './team.ts';
import type { TemplatesApi } from './templates.ts';
import type { TokensApi } from './tokens.ts';
import type { WebhooksApi } from './webhooks.ts';

export * from './access.ts';
export * from './envelope.ts';
export * from './suppressions.ts';
export * from './system.ts';
export * from './tokens.ts';
export type * from './audiences.ts';
export type * from './data.ts';
export type * from './emails.ts';
export type * from './domains.ts';
export type * from './drafts.ts';
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
export type * from './requests.ts';
export type * from './rules.ts';
export type * from './sandbox.ts';
export type * from './schedule.ts';
export type * from './sequences.ts';
export type * from './settings.ts';
export type * from './team.ts';
export type * from './templates.ts';
export type * from './webhooks.ts';

export type DashboardApi = AudiencesApi &
  DataApi &
  EmailsApi &
  DomainsApi &
  DraftsApi &
  EventsApi &
  FeedApi &
  HomeApi &
  ImportsApi &
  InsightsApi &
  KeysApi &
  ListenApi &
  OrganizationsApi &
  PeopleApi &
  ProjectsApi &
  RequestsApi &
  RulesApi &
  SandboxApi &
  ScheduleApi &
  SequencesApi &
  SettingsApi &
  SuppressionsApi &
  SystemApi &
  TeamApi &
  TemplatesApi &
  TokensApi &
  WebhooksApi;

/** `METHOD /path` below `/api/dashboard`; names after a colon are parameters. */
export type RouteKey = keyof DashboardApi;

/** The request and the response of one route: `{ query?, body?, response }`. */
export type RouteShape = { query?: object; body?: object; response: unknown };

type Get<K extends RouteKey, Part extends string> = DashboardApi[K] extends { [P in Part]: infer Shape }
  ? Shape
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
