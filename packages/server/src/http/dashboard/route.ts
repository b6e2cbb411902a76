import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  AnswerOf,
  BodyOf,
  ParamsOf,
  QueryOf,
  Raw,
  Role,
  RouteKey,
  TokenScope,
} from '@beckon/contract/dashboard';
import type { TSchema } from 'typebox';
import type { Person } from '../../features/team/index.ts';
import type { HeldToken } from '../../features/tokens/index.ts';
import type { Tx } from '../../io/db/index.ts';
import type { BacktestPlaces } from './backtest-places.ts';
import type { DashboardDeps } from './deps.ts';
import type { Feeds } from './feeds.ts';

/** What a handler is told. Whoever is asked for is signed in, and has in the project what the route needs. */
export type Asked<K extends RouteKey> = {
  params: ParamsOf<K>;
  query: QueryOf<K>;
  body: BodyOf<K>;
  /** 0 where the path names no project. */
  projectId: number;
  role: Role;
  person: Person;
  /** As whom moves, suppressions and the rest are written: stable, and no address. */
  actor: string;
  /** The personal token by which they came in; null: they are signed in. */
  token: HeldToken | null;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Whether they would still come in: for what goes on for long. */
  isStillIn: () => Promise<boolean>;
  /** Adds to the audit entry of this change what it was about, and what it was before and after. */
  note: (what: Noted) => void;
};

export type Noted = {
  /** Which it concerns alone, where the path names no project. */
  organizationId?: string;
  subject?: string;
  before?: unknown;
  after?: unknown;
  /** Something was done, though it may end in a refusal. */
  isDone?: true;
};

/** What the handler of an open route is told: whoever is signed in, and null for who is not. */
export type OpenAsked<K extends RouteKey> = Pick<
  Asked<K>,
  'params' | 'query' | 'body' | 'request' | 'reply'
> & {
  person: Person | null;
  /** Writes the audit entry, in the commit of the change where there is one; without it nobody did anything. */
  record: Recording;
};

/** `by`: who it turned out to be. */
export type Recording = (tx: Tx, what: Noted & { by: Pick<Person, 'id' | 'name'> }) => Promise<void>;

/** What the routes are handed: all that is wired, and what they share among each other. */
export type RouteDeps = DashboardDeps & { feeds: Feeds; backtests: BacktestPlaces };

export type RouteSpec<K extends RouteKey> = {
  /** The least that opens it in the path's project; `signed_in`: any session, where the path names none. */
  needs: Role | 'signed_in';
  /** Adds a way into the account, so the member must have confirmed who they are in the last ten minutes. */
  needsConfirmation?: true;
  /**
   * Concerns the caller's own account: signing in, password, passkeys, sessions, tokens, profile. The local shell has none.
   * Open routes are of this kind unless they say false.
   */
  isAccount?: boolean;
  /** The scope that opens it to a personal token, where its least role does not decide that; `any`: every token does. */
  scope?: TokenScope | 'any';
  /** The shape of the query and of the body, in TypeBox; what is not named here is refused. */
  query?: TSchema;
  body?: TSchema;
  /** The body is a file's bytes as they are, `application/octet-stream`; the handler finds them in the request. */
  isRaw?: true;
  /** The largest body, in bytes. Default: 16 KiB on open routes, 1 MiB on all others. */
  bodyMaxBytes?: number;
  /** As what it stands in the audit log. Every route that changes something has one, and every one that hands out data of people. */
  audit?: string;
  /** Asked by POST because what is asked does not fit into an address: it changes nothing and is not audited. */
  reads?: true;
  /** Of an open route: programs ask it, which have no page. A page that asks has to be ours all the same. */
  isForPrograms?: true;
  /**
   * The cost depends on the amount of stored data: the route counts, aggregates or exports rows without a fixed limit, or reads a
   * snapshot. Routes that search by typed input need no mark: `request-cost.ts` knows them by the names of their fields.
   */
  isHeavy?: true;
  /**
   * What waits for a turn if the request is heavy: the whole request, or each statement of one that streams its response.
   * `own`: the route bounds itself.
   */
  turn?: 'request' | 'statement' | 'own';
  handle: (deps: RouteDeps, asked: Asked<K>) => Promise<AnswerOf<K>>;
};

type OpenSpec<K extends RouteKey> = Omit<RouteSpec<K>, 'needs' | 'scope' | 'handle'> & {
  handle: (deps: RouteDeps, asked: OpenAsked<K>) => Promise<AnswerOf<K>>;
};

export type DashboardRoute = { key: RouteKey; needs: Role | 'signed_in' | 'anyone' } & Omit<
  RouteSpec<never>,
  'needs' | 'handle'
> & {
    handle: (deps: RouteDeps, asked: never) => Promise<unknown>;
  };

/** One route, held to what the contract says of it. */
export function route<K extends RouteKey>(key: K, spec: RouteSpec<K>): DashboardRoute {
  return { key, ...spec } as unknown as DashboardRoute;
}

/** One that is open to who is not signed in: what leads to a session. */
export function openRoute<K extends RouteKey>(key: K, spec: OpenSpec<K>): DashboardRoute {
  return { key, needs: 'anyone', isAccount: true, ...spec } as unknown as DashboardRoute;
}

/** For an answer that is no JSON: the handler has hijacked the reply, or sent it. */
export const SENT: Raw = { raw: true };
