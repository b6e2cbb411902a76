import type { NewId } from '../../base/ids.ts';
import type { TokenKeys } from '../../base/letter-token.ts';
import type { Log } from '../../base/log.ts';
import type { Sealer } from '../../base/seal.ts';
import type { MailSettings } from '../../features/domains/index.ts';
import type { Pepper } from '../../features/keys/index.ts';
import type { SuppressionHasher } from '../../features/suppressions/index.ts';
import type { Access, Team } from '../../features/team/index.ts';
import type { Models } from '../../flows/models.ts';
import type { Mailroom } from '../../flows/send-drafts/index.ts';
import type { Database } from '../../io/db/index.ts';
import type { Resolver } from '../../io/dns/index.ts';
import type { Relay } from '../../io/mail/index.ts';
import type { Outbound } from '../../io/outbound/index.ts';
import type { Release } from '../health.ts';
import type { TransportRules } from '../transport.ts';
import type { Feeds } from './feeds.ts';

/** The dependencies of the dashboard's routes, set once at start. */
export type DashboardDeps = {
  db: Database;
  newId: NewId;
  log: Log;
  access: Access;
  /** The members, with sign-up and sign-in. */
  team: Team;
  /** Wakes the processor after a member queued a record. */
  wake: () => void;
  pepper: Pepper;
  sealer: Sealer;
  /** Hashes the suppressed addresses of erased users. */
  hasher: SuppressionHasher;
  tokenKeys: TokenKeys;
  mailroom: Mailroom;
  /** Definitions, read once and again when they change. */
  models: Models;
  mail: MailSettings;
  resolver: Resolver;
  /** The relay for test emails. */
  wayOut: () => Promise<Pick<Relay, 'hand'>>;
  /** Connects to hosts that customers named; the caller that opens it closes it. */
  openOutbound: () => Outbound;
  webhooks: { allowPrivate: boolean; agent: string };
  transport: TransportRules;
  release: Release;
  installation: Installation;
  /** The maximum number of projects of an organization. */
  projectsMax: number;
  /** Client name, in lower case → the least version that the operator requires. */
  minimumVersions: ReadonlyMap<string, string>;
  /** The open feeds; without it, the routes keep their own. */
  feeds?: Feeds;
};

/** The environment of this installation, as far as members see it in the dashboard. */
export type Installation = {
  publicUrl: string;
  /** Null: emails go to the test inbox. Otherwise the relay, without its password. */
  relay: string | null;
  mailFrom: string | null;
  /** True if a model can write emails, for projects with AI drafting. */
  hasModel: boolean;
};
