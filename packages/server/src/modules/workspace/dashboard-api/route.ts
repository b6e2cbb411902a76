import type {
  ResponseOf,
  BodyOf,
  ParamsOf,
  QueryOf,
  Raw,
  Role,
  RouteKey,
  TokenScope,
} from '@beckon/contract/dashboard';
import { DASHBOARD_API } from '@beckon/contract/dashboard/endpoints';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Feeds } from './feeds.ts';
import type { Access, SignedInMember } from '../members/team.ts';
import type { PersonalToken } from '../tokens/token.ts';
import type { Pepper } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { TransportRules } from '../../../platform/http/transport.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';

/** The input of a handler. The caller is signed in, and has the access in the project that the route requires. */
export type RouteRequest<K extends RouteKey> = {
  params: ParamsOf<K>;
  query: QueryOf<K>;
  body: BodyOf<K>;
  /** 0 if the path names no project. */
  projectId: number;
  role: Role;
  member: SignedInMember;
  /** The author of draft actions, suppressions and other changes: stable, and not an address. */
  actor: string;
  /** The personal token of the request; null for a session. */
  token: PersonalToken | null;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Resolves to whether the caller would still be admitted; for responses that take long. */
  isStillIn: () => Promise<boolean>;
  /** Adds to the audit entry of this change its subject, and the values before and after. */
  note: (what: AuditNote) => void;
};

export type AuditNote = {
  /** The only organization that it concerns, if the path names no project. */
  organizationId?: string;
  subject?: string;
  before?: unknown;
  after?: unknown;
  /** Something changed, though the request may end in a refusal. */
  hasChanged?: true;
};

/** The input of the handler of an open route: the member who is signed in, or null. */
export type OpenRouteRequest<K extends RouteKey> = Pick<
  RouteRequest<K>,
  'params' | 'query' | 'body' | 'request' | 'reply'
> & {
  member: SignedInMember | null;
  /** Writes the audit entry, in the commit of the change if there is one. Without this call there is no entry. */
  record: AuditRecorder;
};

/** `by`: the member that the request identified. */
export type AuditRecorder = (
  tx: Tx,
  what: AuditNote & { by: Pick<SignedInMember, 'id' | 'name'> },
) => Promise<void>;

type RouteSpec<K extends RouteKey, D = KitDeps> = {
  /** The least role that opens it in the path's project. `signed_in`: any session, for a path without a project. */
  needs: Role | 'signed_in';
  /** Adds a way to sign in to the account, so the member must have confirmed who they are in the last ten minutes. */
  needsConfirmation?: true;
  /**
   * Concerns the caller's own account: signing in, password, passkeys, sessions, tokens, profile. The local shell has none. Open routes are
   * of this kind unless they say false.
   */
  isAccount?: boolean;
  /** The scope that opens it to a personal token, where its least role does not decide that; `any`: every token does. */
  scope?: TokenScope | 'any';
  /** The body is the unchanged bytes of a file, `application/octet-stream`; the handler finds them in the request. */
  isRaw?: true;
  /** The largest body, in bytes. Default: 16 KiB on open routes, 1 MiB on all others. */
  bodyMaxBytes?: number;
  /** Its action in the audit log. Every route that changes something has one, and every route that exports data of users. */
  audit?: string;
  /** Uses POST because the query does not fit into a URL: it changes nothing and is not audited. */
  reads?: true;
  /** For an open route: programs use it, which have no page. A page that uses it must still be ours. */
  isForPrograms?: true;
  /**
   * The cost depends on the amount of stored data: the route counts, aggregates or exports rows without a fixed limit, or reads a snapshot.
   * Routes that search by typed input need no mark: `request-gate.ts` finds them by the names of their fields.
   */
  isHeavy?: true;
  /**
   * The unit that waits for a slot if the request is heavy: the whole request, or each statement of one that streams its response. `own`:
   * the route limits itself.
   */
  slot?: 'request' | 'statement' | 'own';
  handle: (deps: D, input: RouteRequest<K>) => Promise<ResponseOf<K>>;
};

type OpenSpec<K extends RouteKey, D> = Omit<RouteSpec<K>, 'needs' | 'scope' | 'handle'> & {
  handle: (deps: D, input: OpenRouteRequest<K>) => Promise<ResponseOf<K>>;
};

/** The schemas of the query and of the body, from the contract; unnamed fields are rejected. */
type RequestSchemas = { query?: TSchema; body?: TSchema };

/** A route without its handler: which callers may use it, and with what limits. */
export type RouteRules = { key: RouteKey; needs: Role | 'signed_in' | 'anyone' } & RequestSchemas &
  Omit<RouteSpec<never>, 'needs' | 'handle'>;

/** A route whose handler needs the dependencies `D`. */
export type DashboardRoute<D = KitDeps> = RouteRules & {
  handle: (deps: D, input: never) => Promise<unknown>;
};

/** The two ways to make a route whose handler needs the dependencies `D`. */
type RouteMakers<D> = {
  /** Makes a route that requires a session or a token, checked against the contract. */
  route: <K extends RouteKey>(key: K, spec: RouteSpec<K, D>) => DashboardRoute<D>;
  /** Makes a route that a caller without a session may use, such as sign-in. */
  openRoute: <K extends RouteKey>(key: K, spec: OpenSpec<K, D>) => DashboardRoute<D>;
};

/** Each file of routes names the dependencies that its handlers need, so no route can reach what its module may not use. */
export function routesFor<D extends KitDeps = KitDeps>(): RouteMakers<D> {
  return {
    route: (key, spec) => ({ key, ...schemasOf(key), ...spec }) as unknown as DashboardRoute<D>,
    openRoute: (key, spec) =>
      ({
        key,
        ...schemasOf(key),
        needs: 'anyone',
        isAccount: true,
        ...spec,
      }) as unknown as DashboardRoute<D>,
  };
}

function schemasOf(key: RouteKey): RequestSchemas {
  const { query, body }: RequestSchemas & { response: TSchema } = DASHBOARD_API[key];
  return { ...(query && { query }), ...(body && { body }) };
}

/** For a response that is not JSON: the handler has hijacked the reply, or sent it. */
export const SENT: Raw = { raw: true };

/** The dependencies of the kit that serves all routes; every route has them too. */
export type KitDeps = {
  db: Database;
  newId: NewId;
  log: Log;
  /** Identifies callers and their roles. */
  access: Access;
  /** All open feeds of the process, which end when their member may no longer read them. */
  feeds: Feeds;
  /** Checks personal tokens. */
  pepper: Pepper;
  transport: TransportRules;
};
