import type { Clock } from '../platform/time/clock.ts';
import type { FailpointHook } from '../platform/failpoints.ts';
import type { Log } from '../platform/log.ts';
import type { RestoreGuard, MailSettings } from '../modules/sending/index.ts';
import type { SendServices, Transport, TeamTransport } from '../modules/delivery/index.ts';
import type { AppState } from '../platform/http/static/app.ts';
import type { GuideState } from '../platform/http/static/mount-guide.ts';
import type { EmbeddedData } from '../modules/operations/metrics/machine.ts';
import type { EdgeConfig } from './http/edge.ts';
import type { Release } from '../modules/workspace/index.ts';
import type { LookUp, Resolver } from '../platform/dns/resolver.ts';
import type { Outbound, OutboundBounds } from '../platform/outbound/outbound.ts';
import type { ConnectionSource } from '../platform/db/connections.ts';
import type { DraftModel } from '../modules/templates/index.ts';
import type { StripeAddress } from '../modules/imports/index.ts';
import type { RelayKinds } from '../platform/relays/kinds.ts';
import type { Secrets } from './secrets.ts';

export type ListenOptions = EdgeConfig & {
  host: string;
  port: number;
  publicUrl: string;
  trustProxy: readonly string[];
  redirectPort: number | null;
  metricsPort: number | null;
};

export type ServerOptions = Pick<Secrets, 'pepper' | 'encrypter' | 'hasher' | 'tokenKeys'> & {
  /** A database that is migrated, durable, and opened with its own secret: see `prepare.ts`. */
  connection: ConnectionSource;
  /** Connects directly to the database, never through a pooler. */
  adminConnection: ConnectionSource;
  namedStatements: boolean;
  clock: Clock;
  log: Log;
  release: Release;
  roles: ReadonlySet<'api' | 'worker' | 'mail-in'>;
  listen: ListenOptions;
  /** Client name → the least version that gets no request to update. */
  minimumVersions: ReadonlyMap<string, string>;
  projectsMax: number;
  /** The path of the local shell's socket. Null or absent: no socket. */
  localShell?: string | null;
  /** Keys that sign sessions of members; the current one first. */
  teamSecrets: readonly [string, ...string[]];
  resolver: Resolver;
  /** Raw DNS lookups, for the verification of inbound mail. */
  lookUp: LookUp;
  /** Connects to hosts that customers named; opened once per process. */
  openOutbound(bounds?: OutboundBounds): Outbound;
  /** Null or absent: this process receives no mail. */
  mailIn?: { host: string; port: number; isExplicit: boolean } | null;
  mail: MailSettings;
  sendServices: SendServices;
  /** Null: emails go to the test inbox. */
  smtpUrl: string | null;
  /** The kinds of relays that projects may set up. */
  relayKinds: RelayKinds;
  /** The sender of emails to members. */
  mailFrom: string | null;
  /** The rules for endpoints, and the User-Agent of webhooks. */
  webhooks: { allowPrivate: boolean; agent: string };
  /** The built page of the dashboard. Absent, it counts as not built yet. */
  dashboard?: () => AppState;
  /** The built guide, in the same way. */
  guide?: () => GuideState;
  /** The model for AI drafting, if the installation has one. */
  model?: DraftModel | null;
  /** Null or absent: the database is external. */
  embedded?: EmbeddedData | null;
  /** The confirmation that a restored database requires before it sends emails; `auto` if absent. */
  restoreGuard?: RestoreGuard;
  /** Returns the counts of all processes instead of its own, if this process is one of several. */
  countedByAll?: () => Promise<string>;
  /** For tests that end a process at a failpoint. */
  failpoint?: FailpointHook;
  /** Replaces the address of Stripe in tests. */
  stripeAddress?: StripeAddress;
  /** Replaces the transport of emails in tests. */
  transport?: Transport;
  teamTransport?: TeamTransport;
};

/** A server in this process, or several supervised processes. */
export type ServerHandle = {
  /** Null if no requests are answered. */
  httpPort: number | null;
  /** Called when the certificate files have changed. */
  reload(): void;
  stop(): Promise<void>;
};
